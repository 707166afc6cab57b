"""Rules that pick a response without training: the longer, the one with more markdown, the one that refuses.

Each rule is a number of a response, and picks the response that has more of it, or the one that has less; where both
have as much it abstains. Both directions are rules, so that tests are two-sided. Effects and tests are those of
`choice_rules`, with two choices of which one is right.

Source: Singhal, Goyal, Xu and Durrett 2024 ("A long way to go", length of responses); Lambert et al. 2024
(RewardBench, refusals); Sharma et al. 2024 (agreeing with the user); Zheng et al. 2023 (position). The phrases of
refusals and apologies are written after the openings that Arditi et al. 2024 list for refusals.

Rules without training, as each kind of items has them, and those that hit beyond chance in either direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.data.kinds.kind import PREFERENCES
from goldassay.readers.choice_rules import (
    ABSOLUTE,
    HEDGE,
    Picks,
    chance_of,
    measure_picks,
    measure_rules,
    most_of,
    picks_of,
    word_shares,
)
from goldassay.readers.rule_effects import LikeLength, RuleEffect, SubsetEffect
from goldassay.stats.clusters import dense_codes
from goldassay.stats.significance import t_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.data.kinds.choices import ChoiceItems

# Of lengths: pairs whose logarithms differ by less are of like length.
LIKE_LENGTH = 0.1

REFUSES = (
    r"(?i)\bI(?:['’]m| am) (?:really |very |so )?(?:sorry,? (?:but )?(?:I )?(?:can(?:no|['’])t|can not|won['’]t|"
    r"(?:am|['’]m) (?:not able|unable))|unable to|not able to|not (?:comfortable|going to|programmed|willing))"
    r"|\bI (?:can(?:no|['’])t|can not|won['’]t|will not|must decline|refuse to|do not|don['’]t) (?:really )?(?:help|"
    r"assist|provide|do that|do this|answer|comply|fulfill|engage|support|condone|recommend|think I should|"
    r"feel comfortable|want to (?:help|do|answer|talk)|create|generate|write|give|share|discuss|offer|participate)"
    r"|\bas an? (?:AI|artificial|large language|language model)|\bI(?:['’]d| would) (?:rather|prefer) not\b"
    r"|\b(?:not|never) appropriate\b|\bagainst my (?:programming|guidelines|policy)"
)
APOLOGIZES = r"(?i)\b(?:sorry|apologi[sz]e|apologies|regret(?:fully)?|forgive me|my mistake)\b"
AGREES = (
    r"(?i)\b(?:you(?:['’]re| are) (?:absolutely |totally |completely |quite |so )?(?:right|correct)"
    r"|I (?:totally |completely |fully )?agree|(?:good|great|excellent) (?:point|question|idea)"
    r"|that(?:['’]s| is) (?:true|right|correct|a (?:good|great) (?:point|question|idea)))\b"
    r"|\A\s*(?:absolutely|of course|exactly|certainly|yes)\b"
)
_MARKDOWN = (
    r"(?m)^\s{0,3}#{1,6}\s",
    r"(?m)^\s*(?:[-*+•]|\d{1,3}[.)])\s+\S",
    r"\*\*[^*\n]+\*\*|__[^_\n]+__",
    r"```|`[^`\n]+`",
)


@dataclass(frozen=True)
class _Trait:
    """What a rule goes by: the rule of more of it, that of less, and how much each response has, (M,)."""

    more: str
    less: str
    values: NDArray[np.float64]


def traits(items: ChoiceItems) -> list[_Trait]:
    """What the rules go by, of every response."""
    texts = items.texts

    def counted(*patterns: str) -> NDArray[np.float64]:
        found = [texts.str.count_matches(pattern).to_numpy().astype(np.float64) for pattern in patterns]
        return np.asarray(np.sum(found, axis=0))

    def holds(pattern: str) -> NDArray[np.float64]:
        return texts.str.contains(pattern).to_numpy().astype(np.float64)

    shared, rare = word_shares(items)
    found = [
        _Trait("longer", "shorter", texts.str.len_chars().to_numpy().astype(np.float64)),
        _Trait("more words", "fewer words", counted(r"\S+")),
        _Trait("more markdown", "less markdown", counted(*_MARKDOWN)),
        _Trait("more question marks", "fewer question marks", counted(r"[?？]")),
        _Trait("refuses", "does not refuse", holds(REFUSES)),
        _Trait("apologizes", "does not apologize", holds(APOLOGIZES)),
        _Trait("agrees with the user", "does not agree with the user", holds(AGREES)),
        _Trait("more of its words in the prompt", "fewer of its words in the prompt", shared),
        _Trait("more specific", "less specific", rare),
        _Trait("absolute word", "no absolute word", holds(ABSOLUTE)),
        _Trait("hedge", "no hedge", holds(HEDGE)),
    ]
    if items.padded is not None:
        found.append(_Trait("white space at an end", "no white space at an end", items.padded.astype(np.float64)))
    if items.ordered:
        found.append(_Trait("first", "second", -items.places.astype(np.float64)))
    return found


def measure_preference_rules(
    items: ChoiceItems, clusters: NDArray[np.integer] | None = None, seed: int = 0
) -> tuple[list[RuleEffect], list[Picks]]:
    """Effect, z and two-sided p of every rule in the direction of more; and what each picks, in both directions.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, such as those of one prompt, (N,).
        seed: Of the draws.
    """
    most = most_of(items)
    more, less = [], []
    for each in traits(items):
        more.append(picks_of(each.more, most(each.values), items))
        less.append(picks_of(each.less, most(-each.values), items))
    return measure_picks(more, items, clusters, seed), [*more, *less]


def of_like_length(items: ChoiceItems) -> NDArray[np.bool_]:
    """Items whose longest and shortest response differ by less than `LIKE_LENGTH` in the logarithm, (N,)."""
    lengths = np.log(np.maximum(items.texts.str.len_chars().to_numpy().astype(np.float64), 0.5))
    starts = items.offsets[:-1]
    return np.asarray(np.maximum.reduceat(lengths, starts) - np.minimum.reduceat(lengths, starts) < LIKE_LENGTH)


def measure_like_length(
    items: ChoiceItems, hits: Sequence[tuple[str, NDArray[np.float64], NDArray[np.bool_]]]
) -> list[LikeLength]:
    """What rules and readers get right among pairs of like length: what is left of them where length tells nothing.

    Args:
        items: N of them.
        hits: (name, what it hits of each item, where it picks), each (N,).
    """
    like = of_like_length(items)
    rows = []
    for name, hit, applies in hits:
        own = applies & like
        rows.append(
            LikeLength(
                name,
                int(own.sum()),
                float(hit[own].mean()) if own.any() else math.nan,
                int(applies.sum()),
                float(hit[applies].mean()) if applies.any() else math.nan,
            )
        )
    return rows


def measure_by_subset(
    items: ChoiceItems,
    hits: Sequence[tuple[str, NDArray[np.float64], NDArray[np.bool_]]],
    clusters: NDArray[np.integer] | None = None,
) -> list[SubsetEffect]:
    """What rules and readers gain on each subset; nothing where the items have no subsets.

    z is the summed excess over its standard error by clusters, sum of squares of the clusters' sums.

    Args:
        items: N of them, with subjects.
        hits: See `measure_like_length`.
        clusters: Codes of items that do not vary independently, (N,).
    """
    from goldassay.stats.significance import benjamini_hochberg

    if items.subjects is None:
        return []
    codes = dense_codes(clusters, len(items))
    p = chance_of(items)
    names: list[str] = items.subjects.unique().sort().to_list()
    of: pl.Series = items.subjects
    rows = []
    for name in names:
        own = (of == name).to_numpy()
        for reader, hit, _ in hits:
            excess = (hit - p)[own]
            total = float((np.bincount(codes[own], excess) ** 2).sum())
            z = float(excess.sum()) / math.sqrt(total) if total > 0 else math.nan

            effect = float(excess.sum() / (1 - p)[own].sum())
            pair = t_p_value(z, 1.0, math.inf)
            rows.append((name, reader, int(own.sum()), float(hit[own].mean()), effect, z, pair))
    adjusted = benjamini_hochberg([row[-1] for row in rows])
    return [SubsetEffect(*row, float(last)) for row, last in zip(rows, adjusted, strict=True)]


def measure_item_rules(
    items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int
) -> tuple[list[RuleEffect], list[Picks]]:
    """Effect of every rule, and what each picks; of preferences also what the opposite of each rule picks, after all.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    measure = measure_preference_rules if items.kind is PREFERENCES else measure_rules
    return measure(items, clusters, seed)


def toward_right(items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int) -> list[tuple[RuleEffect, Picks]]:
    """Every rule that picks anywhere and what it picks; of preferences in the direction in which it gains more.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    effects, picks = measure_item_rules(items, clusters, seed)
    found = list(zip(effects, picks, strict=False))
    if opposite := picks[len(effects) :]:
        turned = zip(measure_picks(opposite, items, clusters, seed), opposite, strict=True)
        found = [max(both, key=lambda each: each[0].effect) for both in zip(found, turned, strict=True)]
    return [each for each in found if each[0].n_items]


def effects_by_rule(items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int) -> dict[str, float]:
    """The effect of every rule, of preferences in both directions.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    _, picks = measure_item_rules(items, clusters, seed)
    return {each.rule: each.effect for each in measure_picks(picks, items, clusters, seed)}
