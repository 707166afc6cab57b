"""The items to rewrite first, what to change in them, and what rules and readers find afterwards."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.document import About
from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count
from goldassay.core.progress import Progress, Steps, silent
from goldassay.core.results import Result
from goldassay.core.sections import Finding
from goldassay.data.kinds.kind import CHOICES, PREFERENCES, ItemKind
from goldassay.questions.leakage.choices import LEAST_APART
from goldassay.questions.leakage.item_loading import Posed, item_clusters
from goldassay.questions.leakage.probes import choice_hits, read_parts
from goldassay.questions.leakage.result import (
    ChangedItems,
    ItemFall,
    ItemRefit,
    RuleToMend,
    SuggestedItem,
    SuggestedItems,
    SuggestedRewrites,
)
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.readers.choice_rules import Picks, chance_of
from goldassay.readers.preference_rules import effects_by_rule, toward_right
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.readers.rule_effects import RuleEffect
    from goldassay.report.report import Report

# Items on the page; the table beside it has all.
MOST_ROWS = 60
# Of the rows or items that are dropped.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
# A rule with a larger adjusted p gives nothing away that chance would not.
SIGNIFICANT = 0.05
N_RANKINGS = 2
# Rules that a longer text changes: of the wrong option where the right one is the longest, else of the right one.
_LONGEST, _SHORTEST = ("longest", "most words", "longer", "more words"), ("shorter", "fewer words")
_POSITIONS = ("first", "second")
# With the space after it, so that line breaks are kept.
_WORD = re.compile(r"\s*\S+\s*")
_MENDS = {
    CHOICES.name: {
        "longest": "lengthen {wrong} ({n_wrong} characters) beyond {n_right}",
        "most words": "give {wrong} more words than the right choice",
        "shortest": "shorten {wrong} ({n_wrong} characters) below {n_right}",
        "fewest words": "give {wrong} fewer words than the right choice",
        "absolute word": "use an absolute word in a wrong choice, or none in the right one",
        "hedge": "hedge a wrong choice, too, or not the right one",
        "of the above": "let “of the above” be wrong here, or leave it out",
        "odd one out": "word a wrong choice as unlike the others as the right one",
        "most like the others": "word a wrong choice as much like the others",
        "most words shared": "use words of the question in a wrong choice",
        "fewest words shared": "use words of the question in the right choice",
        "copied from the passage": "copy a wrong choice from the passage, too",
        "fits the grammar": "let a wrong choice fit the end of the question",
    },
    PREFERENCES.name: {
        "longer": "lengthen the rejected response ({n_wrong} characters) beyond {n_right}, or shorten the other",
        "shorter": "lengthen the preferred response ({n_right} characters) beyond {n_wrong}, or shorten the other",
        "more words": "give the rejected response more words than the preferred one",
        "fewer words": "give the preferred response more words than the rejected one",
        "more markdown": "mark up the rejected response as much, or the preferred one less",
        "less markdown": "mark up the preferred response as much, or the rejected one less",
        "more question marks": "let the rejected response ask as much, or the preferred one less",
        "fewer question marks": "let the preferred response ask as much, or the rejected one less",
        "refuses": "compare with another response that refuses, or with two that answer",
        "does not refuse": "compare with another response that answers, or with two that refuse",
        "apologizes": "let the rejected response apologize, too, or neither",
        "does not apologize": "let the preferred response apologize, too, or neither",
        "agrees with the user": "let the rejected response agree with the user, too, or neither",
        "does not agree with the user": "let the preferred response agree with the user, too, or neither",
        "more of its words in the prompt": "use words of the prompt in the rejected response",
        "fewer of its words in the prompt": "use words of the prompt in the preferred response",
        "more specific": "use rarer words in the rejected response, or more usual ones in the preferred one",
        "less specific": "use rarer words in the preferred response, or more usual ones in the rejected one",
        "absolute word": "use an absolute word in the rejected response, too, or none",
        "no absolute word": "use an absolute word in the preferred response, too, or none",
        "hedge": "hedge the rejected response, too, or neither",
        "no hedge": "hedge the preferred response, too, or neither",
    },
}


def suggest_item_rewrites(
    posed: Posed, condition: str | None, shares: Sequence[float], settings: Settings, steps: Steps
) -> Report:
    """Rank items by how much their options give away, as `suggest_rewrites` ranks rows.

    Raises:
        InputError: A test set was given, another condition was asked for, or the items are too few.
    """
    kind = posed.test.kind
    if posed.train is not None:
        raise InputError(
            f"{option('test')}: {kind.items} are measured on themselves, in folds",
            mend="leave it out, and give the items that are to be rewritten",
        )
    if condition not in (None, kind.alone):
        raise InputError(
            f"{option('condition')} {condition}: items are ranked by their {kind.options} alone",
            mend=f"leave it out, or write {kind.alone}",
        )
    items = posed.test
    clusters = item_clusters(items, settings.data.clusters)
    with steps.step("measuring without items") as progress:
        found = suggest_items(items, clusters.codes_if_any, shares=shares, seed=settings.seed, progress=progress)
    result = SuggestedRewrites(
        SuggestedItems(
            source="suggestion",
            of_items=True,
            kind=kind.name,
            condition=kind.alone,
            n_rows=len(items),
            before=ItemRefit(**found.before),
            after_dropping=tuple(ItemFall(**row) for row in found.after_dropping.to_dicts()),
            mends=tuple(RuleToMend(**row) for row in found.mends.to_dicts()),
            changed=ChangedItems(**found.changed),
            n_seeds=found.n_seeds,
            rows=tuple(
                SuggestedItem(**row) for row in found.table.head(MOST_ROWS).select(pl.exclude("row")).to_dicts()
            ),
        )
    )
    findings = {
        "questions": ["leakage"],
        "dataset": About(name=items.name, kind=kind.name, most_choices=int(items.sizes.max()), n_test=len(items)),
        "inputs": list(posed.inputs),
        "leakage": result,
        "settings": {"seed": settings.seed, "condition": kind.alone, "shares": list(shares)},
    }
    title = f"Items of {items.name} to rewrite first"
    tables = {"rows": found.table, "after_dropping": found.after_dropping, "mends": found.mends}
    framed = frame_findings(title, findings, steps, settings)
    return compose_report(framed, tables, findings=[Finding("leakage", None, result=result)])


@dataclass(frozen=True)
class ItemSuggestion(Result):
    """Items ranked by how much their options, choices or responses, give away; see `suggest_items`.

    Attributes:
        table: One row an item, the first to rewrite first: rank, row (of the file), example_id, question, choices,
            answer, bits (the most that one rule or the reader tells of the answer), rules (that pick it) and change.
        after_dropping: One row a share and kind of items dropped ("suggested", or "random"): n_dropped, n_left,
            majority (what guessing gives), accuracy of the reader, improvement over guessing with bounds, and the rule
            that gains most of what guessing leaves: rule, rule_effect.
        before: The same of all items.
        mends: One row a rule that hits beyond chance: rule, effect, n_to_change (items by which it exceeds chance), and
            after (its effect in the changed copy, in which words that make a text longer change other rules, too).
        changed: What was changed in the copy, and what the reader then gains.
        n_seeds: Refits of each.
        seed: Of folds, readers, random items and changes.
    """

    table: pl.DataFrame
    after_dropping: pl.DataFrame
    before: dict[str, Any]
    mends: pl.DataFrame
    changed: dict[str, Any]
    n_seeds: int
    seed: int


def suggest_items(
    items: ChoiceItems,
    clusters: NDArray[np.int64] | None = None,
    *,
    shares: Sequence[float] = SHARES,
    n_seeds: int = 3,
    seed: int = 0,
    progress: Progress = silent,
) -> ItemSuggestion:
    """Rank items by how much their options alone give away, and measure what mending them does.

    A rule without training that hits beyond chance tells log2(hits / chance) bits of an item whose right option it
    picks alone; the reader, a quick probe of the options trained on other items, tells log2(p / chance). The most that
    one of them tells ranks the item. Of preferences each rule is taken in the direction in which it gains. Without the
    first items, and without as many at random, rules and reader are measured anew, the reader in new folds.

    A rule that exceeds chance by k hits is at chance once k of the items that it gets right are changed. Those of
    length are changed in a copy: in the first k items a wrong choice, the nearest in length, gets words of other items'
    choices, right and wrong, until it is the longest; of preferences the two responses swap their lengths, the shorter
    one by such words and the longer one by a cut. Where a position is right too often, all positions are drawn anew.
    Rules and reader are then measured on the copy.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        shares: Of the items dropped.
        n_seeds: Refits of each, from which the interval comes (Student's t).
        seed: Of everything drawn.
        progress: Told after each measurement.

    Raises:
        InputError: A share is out of range, or there are too few items.

    Source: Le Bras et al. 2020, "Adversarial filters of dataset biases", for measuring anew without what is easily
    predicted; Balepur, Ravichander and Rudinger 2024 for choices without their question.
    """
    check_whole("seed", seed, 0)
    check_whole("n_seeds", n_seeds, 1)
    if not shares or not all(is_number(share) and 0 < share < 0.9 for share in shares):
        raise InputError(f"the shares of items to drop are {list(shares)}", mend="give values between 0 and 0.9")
    work = _Work(items, np.arange(len(items)) if clusters is None else clusters, n_seeds, seed)
    if np.unique(work.groups).size * (1 - max(shares)) < LEAST_APART:
        raise InputError(
            f"without {max(shares):.0%} of the {count(len(items))} items fewer than {LEAST_APART} passages or "
            "questions are left",
            file=items.source,
            mend="drop smaller shares, or give more items",
        )
    found = [
        (effect, picks)
        for effect, picks in toward_right(items, clusters, seed)
        if effect.p_adjusted < SIGNIFICANT and effect.effect > 0
    ]
    bits, named = _bits(items, found, work.probabilities())
    order = np.argsort(-bits, kind="stable")
    n_steps = 2 * len(shares) + 2
    before = work.measure(np.arange(len(items)))
    progress(1, n_steps)
    rows: list[dict[str, Any]] = []
    rng = np.random.default_rng(seed)
    for share in shares:
        n_dropped = round(share * len(items))
        for kind, dropped in (("suggested", order[:n_dropped]), ("random", rng.permutation(len(items))[:n_dropped])):
            left = np.setdiff1d(np.arange(len(items)), dropped)
            measured = work.measure(left)
            rows.append({"rows": kind, "share": share, "n_dropped": n_dropped, "n_left": left.size, **measured})
            progress(1 + len(rows), n_steps)
    copy, changed = changed_copy(items, found, order, rng)
    after = effects_by_rule(copy, clusters, seed)
    changed |= replace(work, items=copy).measure(np.arange(len(items)))
    progress(n_steps, n_steps)
    chance = chance_of(items)
    mends = [
        {
            "rule": each.rule,
            "effect": each.effect,
            "n_to_change": math.ceil(each.effect * float((1 - chance).sum()) - 1e-9),
            "after": after[each.rule],
        }
        for each in sorted((effect for effect, _ in found), key=lambda each: -each.effect)
    ]
    schema = {"rule": pl.String, "effect": pl.Float64, "n_to_change": pl.Int64, "after": pl.Float64}
    return ItemSuggestion(
        table=_table(items, order, bits, named),
        after_dropping=pl.DataFrame(rows),
        before=before,
        mends=pl.DataFrame(mends, schema=pl.Schema(schema)),
        changed=changed,
        n_seeds=n_seeds,
        seed=seed,
    )


@dataclass(frozen=True)
class _Work:
    """Items, the clusters they form (N,), and how often each measurement is repeated."""

    items: ChoiceItems
    groups: NDArray[np.int64]
    n_seeds: int
    seed: int

    def probabilities(self) -> NDArray[np.float64]:
        """The right choice's probability by its choices alone, the mean of two foldings, (N,)."""
        seeds = [self.seed + 1000 * (number + 1) for number in range(N_RANKINGS)]
        logits = self._read(np.arange(len(self.items)), seeds)
        gold, rows = self.items.first_right, np.arange(len(self.items))
        shifted = [each - each.max(axis=1, keepdims=True) for each in logits]
        return np.mean([np.exp(each[rows, gold]) / np.exp(each).sum(axis=1) for each in shifted], axis=0)

    def measure(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """What the reader of the choices gains among some items, and the rule that gains most."""
        items = self.items.take(rows)
        logits = self._read(rows, range(self.seed, self.seed + self.n_seeds))
        accuracies = choice_hits(logits, items).mean(axis=1).tolist()
        guessed = float(chance_of(items).mean())
        bounds = mean_interval(accuracies) if len(accuracies) > 1 else None
        accuracy = float(np.mean(accuracies))
        best = max((effect for effect, _ in toward_right(items, self.groups[rows], self.seed)), key=_effect_of)
        return {
            "majority": guessed,
            "accuracy": accuracy,
            "improvement": accuracy - guessed,
            "improvement_low": math.nan if bounds is None else bounds.low - guessed,
            "improvement_high": math.nan if bounds is None else bounds.high - guessed,
            "rule": best.rule,
            "rule_effect": best.effect,
        }

    def _read(self, rows: NDArray[np.int64], seeds: Sequence[int]) -> list[NDArray[np.float64]]:
        items = self.items.take(rows)
        most = int(items.sizes.max())
        alone = items.kind.alone
        return read_parts(Posed(None, items, ()), self.groups[rows], seeds, most, silent, (alone,))[alone]


def _effect_of(rule: RuleEffect) -> float:
    return rule.effect


def _bits(
    items: ChoiceItems, found: Sequence[tuple[RuleEffect, Picks]], probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[list[str]]]:
    """The most bits that one rule or the reader tells of each item, (N,); and the rules that pick its right choice."""
    bits = np.log2(probabilities / chance_of(items))
    named: list[list[str]] = [[] for _ in range(len(items))]
    for effect, picks in found:
        alone = picks.applies & (picks.hits == 1) & (picks.sizes == items.n_right)
        bits = np.where(alone, np.maximum(bits, math.log2(effect.hits / effect.chance)), bits)
        for at in np.flatnonzero(alone).tolist():
            named[at].append(effect.rule)
    return bits, named


def _table(
    items: ChoiceItems, order: NDArray[np.int64], bits: NDArray[np.float64], named: list[list[str]]
) -> pl.DataFrame:
    rows = []
    for rank, at in enumerate(order.tolist(), 1):
        begin, end = items.offsets[at : at + 2].tolist()
        choices, right = items.texts[begin:end].to_list(), items.right[begin:end].tolist()
        rows.append(
            {
                "rank": rank,
                "row": int(items.rows[at]),
                "example_id": items.ids[at],
                "question": items.questions[at],
                "choices": "\n".join(f"– {text}" for text in choices),
                "answer": " / ".join(text for text, is_right in zip(choices, right, strict=True) if is_right),
                "bits": float(bits[at]),
                "rules": ", ".join(named[at]),
                "change": "; ".join(what_to_change(rule, choices, right, items.kind) for rule in named[at])
                or (
                    f"reword the {items.kind.options}: their words name the {items.kind.right} one"
                    if bits[at] > 0
                    else ""
                ),
            }
        )
    return pl.DataFrame(rows)


def what_to_change(rule: str, options: Sequence[str], right: Sequence[bool], kind: ItemKind) -> str:
    """What is to be changed in an item of which a rule picks the right option.

    Args:
        rule: Its name.
        options: Texts of the item.
        right: Which of them are right.
        kind: Of the item.
    """
    if _is_position(rule):
        return f"draw the {kind.right} {kind.option}'s position anew"
    if rule not in _MENDS[kind.name]:
        return f"reword the {kind.options}: the {rule} is {kind.right}"
    wrong = [text for text, is_right in zip(options, right, strict=True) if not is_right]
    own = max((text for text, is_right in zip(options, right, strict=True) if is_right), key=len)
    nearest = max(wrong, key=len) if rule in _LONGEST else min(wrong, key=len)
    return _MENDS[kind.name][rule].format(wrong=f"“{_cut(nearest)}”", n_wrong=len(nearest), n_right=len(own))


def _is_position(rule: str) -> bool:
    return rule.startswith("position ") or rule in _POSITIONS


def changed_copy(
    items: ChoiceItems,
    found: Sequence[tuple[RuleEffect, Picks]],
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[ChoiceItems, dict[str, Any]]:
    """A copy in which length and position tell no more than chance, and how many items were changed.

    A wrong choice becomes the longest of its item; two responses swap their lengths.

    Args:
        items: N of them.
        found: Rules that hit beyond chance, and what they pick.
        order: Items by number, those to change first, (N,).
        rng: Draws the words that make a text longer, and positions.
    """
    by_length = [(effect, picks) for effect, picks in found if effect.rule in (*_LONGEST, *_SHORTEST)]
    texts, lengthened = items.texts.to_list(), set[int]()
    pool = [word for text in texts for word in text.split()]
    if by_length and pool:
        # Of several rules the one that needs most items; the same items mend the others.
        worst, picks = max(by_length, key=lambda each: each[0].effect)
        right_alone = picks.applies & (picks.hits == 1)
        at_chance = math.ceil(worst.effect * float((1 - chance_of(items)).sum()) - 1e-9)
        lengthened = set([at for at in order.tolist() if right_alone[at]][:at_chance])
        grown_is_right = worst.rule in _SHORTEST
        for at in lengthened:
            begin, end = items.offsets[at : at + 2].tolist()
            grown, other = (
                max((at for at in range(begin, end) if items.right[at] == wanted), key=lambda at: len(texts[at]))
                for wanted in (grown_is_right, not grown_is_right)
            )
            if items.kind is PREFERENCES:
                # Else lengths that no response had before would tell.
                texts[grown], texts[other] = _swapped(texts[grown], texts[other], pool, rng)
            else:
                own = texts[begin:end]
                beyond = max(map(len, own)) + 1, max(len(text.split()) for text in own) + 1
                texts[grown] = _lengthened(texts[grown], *beyond, pool, rng)
    drawn = any(_is_position(effect.rule) for effect, _ in found)
    # What is written has no white space around its texts.
    copy = replace(items, texts=pl.Series("choice", texts), padded=None)
    if drawn:
        moved = np.lexsort((rng.random(items.right.size), items.item_of))
        copy = replace(copy, texts=copy.texts[moved], right=items.right[moved])
    return copy, {"n_lengthened": len(lengthened), "positions_drawn": drawn}


def _swapped(short: str, long: str, pool: Sequence[str], rng: np.random.Generator) -> tuple[str, str]:
    """A text with words added until it is as long as another, and that one cut to the length of the first."""
    n_words = len(short.split())
    kept = _WORD.findall(long)[: max(n_words, 1)]
    while len(kept) > 1 and len("".join(kept).rstrip()) > len(short) < len(long):
        kept.pop()
    return _lengthened(short, len(long), len(long.split()), pool, rng), "".join(kept).rstrip()


def _lengthened(text: str, n_characters: int, n_words: int, pool: Sequence[str], rng: np.random.Generator) -> str:
    """A text with words added until it has so many characters and so many words."""
    characters, words, added = len(text), len(text.split()), [text]
    while characters < n_characters or words < n_words:
        added.append(pool[int(rng.integers(len(pool)))])
        characters += 1 + len(added[-1])
        words += 1
    return " ".join(added)


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
