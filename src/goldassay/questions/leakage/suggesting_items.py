"""The items to rewrite first, what to change in them, and what rules and readers find afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.core.progress import silent
from goldassay.core.results import Result
from goldassay.questions.leakage.choices import LEAST_APART
from goldassay.questions.leakage.item_changes import changed_copy, what_to_change
from goldassay.questions.leakage.item_readers import choice_hits, read_parts
from goldassay.questions.leakage.item_rules import effects_by_rule, toward_right
from goldassay.questions.leakage.measures.choice_rules import Picks, RuleEffect, chance_of
from goldassay.questions.leakage.posed_items import Posed
from goldassay.questions.leakage.suggesting import SHARES
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.data.kinds import ChoiceItems

# A rule with a larger adjusted p gives nothing away that chance would not.
SIGNIFICANT = 0.05
N_RANKINGS = 2


@dataclass(frozen=True)
class ItemSuggestion(Result):
    """Items ranked by how much their options, choices or responses, give away; see `suggest_items`.

    Attributes:
        table: One row an item, the first to rewrite first: rank, row (of the file), example_id, question, choices,
            answer, bits (the most that one rule or the reader tells of the answer), rules (that pick it) and change.
        falls: One row a share and kind of items dropped ("suggested", or "random"): n_dropped, n_left, majority (what
            guessing gives), accuracy of the reader, improvement over guessing with bounds, and the rule that gains
            most of what guessing leaves: rule, rule_effect.
        before: The same of all items.
        mends: One row a rule that hits beyond chance: rule, effect, n_to_change (items by which it exceeds chance), and
            after (its effect in the changed copy, in which words that make a text longer change other rules, too).
        changed: What was changed in the copy, and what the reader then gains.
        n_seeds: Refits of each.
        seed: Of folds, readers, random items and changes.
    """

    table: pl.DataFrame
    falls: pl.DataFrame
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
        falls=pl.DataFrame(rows),
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
