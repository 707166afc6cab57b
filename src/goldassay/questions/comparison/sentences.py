"""What a comparison found, in plain sentences and as a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, count, percent, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.intervals import Interval
    from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons


def conclude(pair: ModelComparison, corrected: bool = True) -> str:
    """Which of two models is better, by the interval of their difference, and by how much.

    Args:
        pair: The two.
        corrected: Whether they are told apart after the correction for several pairs, too.
    """
    one, other, difference, low, high = _ahead(pair)
    size = f"by {points(difference, 2)} points {bounds(low, high, 2)} on {pair.comparison.n_examples:,} examples of"
    if not told_apart(pair):
        return f"{pair.a} and {pair.b} cannot be told apart: {one} is ahead {size} {pair.dataset}"
    if not corrected:
        return f"Before the correction {one} is ahead of {other} {size} {pair.dataset}; it leaves nothing of that"
    return f"{one} is better than {other} {size} {pair.dataset}"


def say_runs(pair: ModelComparison) -> str:
    """How often a run of one model scores higher than a run of the other, as far as its interval goes; "" for one run.

    The share is of these examples, the conclusion of others too: the share may be 1 where nothing can be concluded.
    """
    result = pair.comparison
    if math.isnan(result.var_runs):
        return ""
    ahead, share, low, high = pair.a, result.probability_better, *_ends(result.probability_interval)
    if share < 0.5:
        ahead, share, low, high = pair.b, 1 - share, 1 - high, 1 - low
    shown = f"in {percent(share, 0)} of the pairs {bounds(low, high, 0)}"
    if not low > 0.5:
        return f"Which of two single runs scores higher is open even on these examples: that of {ahead} does {shown}."
    said = f"On these examples a single run of {ahead} scores higher than one of the other {shown}"
    return f"{said}." if told_apart(pair) else f"{said}; on other examples it may be otherwise."


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def say_comparison(found: ModelComparisons) -> list[str]:
    """Sentences on two models or on more, the most important first."""
    return _say_pair(found.pairs[0]) if len(found.pairs) == 1 else _say_many(found)


def judge_comparison(found: ModelComparisons) -> dict[str, Any]:
    """The verdict: whether the best of the models is better than the others beyond the noise."""
    if len(found.pairs) == 1:
        pair, apart = found.pairs[0], told_apart(found.pairs[0])
        evidence = f"{conclude(pair)}."
        limit = "the interval of the difference leaves out zero"
    else:
        pair, apart = found.pairs[0], len(found.groups[0]) == 1
        best = found.groups[0]
        corrected = found.adjusted_p[0] <= found.alpha
        evidence = (
            f"{best[0]} is better than all others. {conclude(pair, corrected)}."
            if apart
            else f"{listed(best)} cannot be told apart at the top. {conclude(pair, corrected)}."
        )
        limit = f"the best model stands alone after Holm's correction at {found.alpha:g}"
    one, other, difference, low, high = _ahead(pair)
    return {
        "verdict": "told apart" if apart else "not told apart",
        "evidence": evidence,
        "headline": {
            "label": f"{one} minus {other}",
            "value": difference,
            "low": low,
            "high": high,
            "unit": "difference",
        },
        "next_step": "" if apart else _advice(pair),
        "rule": f"Told apart if {limit}; {over(pair)} are the noise.",
    }


def over(pair: ModelComparison) -> str:
    """What the interval takes as drawn at random."""
    what = "examples" if pair.comparison.n_clusters is None else f"{pair.clusters} clusters"
    return what if math.isnan(pair.comparison.var_runs) else f"runs and {what}"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def told_apart(pair: ModelComparison) -> bool:
    """Whether the interval of the difference leaves out zero."""
    interval = pair.comparison.interval
    return interval.low > 0 or interval.high < 0


def _ahead(pair: ModelComparison) -> tuple[str, str, float, float, float]:
    """The two with the higher mean score first, and their difference with its bounds."""
    result = pair.comparison
    low, high = result.interval.low, result.interval.high
    if result.difference < 0:
        return pair.b, pair.a, -result.difference, -high, -low
    return pair.a, pair.b, result.difference, low, high


def _say_pair(pair: ModelComparison) -> list[str]:
    result = pair.comparison
    sentences = [f"{conclude(pair)} ({result.interval.level:.0%} interval over {over(pair)})."]
    sentences += [said for said in (say_runs(pair),) if said]
    if not math.isnan(result.share_runs):
        cause = "more seeds" if result.share_runs > 0.5 else "more examples"
        sentences.append(
            f"{percent(result.share_runs, 0)} of the noise comes from the runs, the rest from the examples: {cause} "
            "would help most."
        )
    sentences.append(_power(pair))
    return sentences


def _power(pair: ModelComparison) -> str:
    """What could have been seen, and what this difference would take."""
    result, plan = pair.comparison, pair.plan
    runs = min(result.n_runs_a, result.n_runs_b)
    of = f"{runs} runs of each" if runs > 1 else "one run of each"
    sentence = (
        f"With {of} and {result.n_examples:,} examples, a true difference of {points(plan.detectable_difference, 2)} "
        "points is found four times out of five"
    )
    if plan.seeds_needed is None:
        return f"{sentence}."
    span = ""
    if plan.seeds_needed_low != plan.seeds_needed_high:
        span = f" ({count(plan.seeds_needed_low)} to {count(plan.seeds_needed_high)}, for the SD is uncertain)"
    return (
        f"{sentence}; as far as the runs are the noise, one of {points(abs(result.difference), 2)} points takes "
        f"{count(plan.seeds_needed)} runs of each{span}."
    )


def _say_many(found: ModelComparisons) -> list[str]:
    apart = sum(p <= found.alpha for p in found.adjusted_p)
    sentences = [
        f"Of {len(found.pairs)} pairs of models {apart} can be told apart on {found.models[0].n_examples:,} examples "
        f"of {found.models[0].dataset} (Holm's correction, {found.alpha:.0%})."
    ]
    sentences += [f"{listed(group)} cannot be told apart." for group in found.groups if len(group) > 1]
    best = found.groups[0]
    if len(best) == 1:
        sentences.append(f"{best[0]} is better than every other.")
    seen = [pair.plan.detectable_difference for pair in found.pairs]
    sentences.append(
        f"With these runs and examples, true differences of {points(min(seen), 2)} to {points(max(seen), 2)} points, "
        "by the pair, are found four times out of five (before the correction)."
    )
    return sentences


def _advice(pair: ModelComparison) -> str:
    """What would settle it."""
    share = pair.comparison.share_runs
    if math.isnan(share):
        return "Give more runs of each model, or a larger test set; do not report one as better."
    if share > 0.5:
        return "Train more seeds of each model: most of the noise is theirs. Do not report one as better."
    return "A larger test set would help more than more seeds. Do not report one as better."
