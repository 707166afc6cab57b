"""What a comparison over several datasets found, in plain sentences and as a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import bounds, count, points
from goldassay.core.verdicts import Headline, Verdict
from goldassay.questions.comparison.rules import describe_rules
from goldassay.questions.comparison.sentences import MORE_RUNS, describe_equivalence, describe_flaws, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.answered.result import Degenerate
    from goldassay.questions.comparison.suites import SuiteComparison, SuitePair
    from goldassay.questions.instability.measures.suites import TotalComparison

# Of more pairs the tables tell.
_MOST_PAIRS = 3


def describe_suite(found: SuiteComparison) -> list[str]:
    """Sentences on the models over all datasets, the most important first."""
    sentences = [f"{_top(found)}."] if len(found.pairs) > 1 else []
    for pair in found.pairs[:1]:
        sentences.append(f"{conclude_suite(pair, found.alpha)}.")
        sentences += other_disagreements(found)
        sentences.append(_over_examples(pair))
        sentences.append(_by_dataset(pair, found.alpha))
        if pair.equivalence is not None:
            sentences.append(describe_equivalence(pair.a, pair.b, pair.equivalence, pair.macro.of_models))
    if found.pairs[0].macro.joint:
        sentences.append("Each run answered all datasets, so that what is luck of a run counts once for all of them.")
    if not found.of_models:
        sentences.append(MORE_RUNS)
    sentences.append("The intervals are about these datasets, not about others.")
    return sentences


def conclude_suite(pair: SuitePair, alpha: float) -> str:
    """Which of two models is better over all datasets, and by how much, and whether the examples say otherwise."""
    total = pair.macro
    one, other = (pair.a, pair.b) if total.difference >= 0 else (pair.b, pair.a)
    size = f"by {_size(total)} over the mean of {total.n_datasets} datasets"
    but = f", but {_lead_over_examples(pair)}" if pair.disagree(alpha) else ""
    but += describe_rules(pair.rules, pair.a, pair.b, total.difference)
    flaws = _over_datasets([each for found in pair.on for each in found.degenerate])
    but += describe_flaws(flaws)
    apart = pair.adjusted_p <= alpha
    undecided = "cannot be ranked" if pair.depends else "do not differ significantly"
    if not total.of_models:
        runs = f"The runs of {pair.a} and {pair.b}"
        if not apart:
            return f"{runs} {undecided}: {one} is ahead {size}{but}"
        return (
            f"{runs} differ: {one} is ahead {size}{but}. Which model is better stays open, since one run does not show "
            "how far another would score from it"
        )
    if not apart:
        return f"{pair.a} and {pair.b} {undecided}: {one} is ahead {size}{but}"
    return f"{one} {'scores higher' if flaws else 'is better'} than {other} {size}{but}"


def _over_datasets(found: Sequence[Degenerate]) -> list[Degenerate]:
    """What is the same of a system on several datasets, told once of all its outputs."""
    merged: dict[tuple[str, ...], Degenerate] = {}
    for each in found:
        key = each.system, each.kind, each.other, each.text
        known = merged.get(key, replace(each, n=0))
        n = known.n + each.n
        merged[key] = replace(each, n=n, share=(known.share * known.n + each.share * each.n) / n)
    return [*merged.values()]


def other_disagreements(found: SuiteComparison) -> list[str]:
    """Of which pairs but the first the examples surely say otherwise than the datasets, a sentence each."""
    pairs = [pair for pair in found.pairs[1:] if pair.disagree(found.alpha)]
    said = []
    for pair in pairs[:_MOST_PAIRS]:
        one, other = (pair.a, pair.b) if pair.macro.difference >= 0 else (pair.b, pair.a)
        said.append(f"{one} is ahead of {other} over the mean of the datasets, but {_lead_over_examples(pair)}.")
    more = len(pairs) - _MOST_PAIRS
    return [*said, f"So it is with {more} more pairs."] if more > 0 else said


def _lead_over_examples(pair: SuitePair) -> str:
    one = pair.a if pair.micro.difference >= 0 else pair.b
    is_better = f"{one} is better" if pair.micro.of_models else f"the run of {one} is ahead"
    return f"{is_better} over the examples, by {_size(pair.micro)}"


def _size(total: TotalComparison) -> str:
    """The size of a difference with its interval."""
    low, high = total.interval.low, total.interval.high
    if total.difference < 0:
        low, high = -high, -low
    return f"{points(abs(total.difference), 2)} points {bounds(low, high, 2)}"


def judge_suite(found: SuiteComparison) -> Verdict:
    """The verdict: whether the best of the models is better than the others over the mean of the datasets."""
    pair, best = found.pairs[0], found.groups[0]
    apart = found.of_models and len(best) == 1 and not any(each.degenerate for each in pair.on)
    evidence = f"{conclude_suite(pair, found.alpha)}."
    if len(found.pairs) > 1:
        evidence = " ".join((f"{_top(found)}.", evidence, *other_disagreements(found)))
    sign = 1 if pair.macro.difference >= 0 else -1
    ends = sorted((sign * pair.macro.interval.low, sign * pair.macro.interval.high))
    one, other = (pair.a, pair.b) if sign > 0 else (pair.b, pair.a)
    limit = "the best model differs significantly from all others in the mean of the datasets"
    if len(found.pairs) > 1:
        limit += f" after Holm's correction at {found.alpha:g}"
    if not found.of_models:
        limit = f"there are several runs of each and {limit}"
    return Verdict(
        "distinguishable" if apart else "not distinguishable",
        evidence,
        Headline(
            f"{one} minus {other}, mean of {pair.macro.n_datasets} datasets",
            sign * pair.macro.difference,
            ends[0],
            ends[1],
            "difference",
        ),
        "" if apart else MORE_RUNS if not found.of_models else "Give more runs of each, or more examples.",
        f"Significant if {limit}; {'runs and examples' if found.of_models else 'examples'} are the noise.",
    )


def _top(found: SuiteComparison) -> str:
    best = found.groups[0]
    if len(best) > 1:
        what = listed(best) if found.of_models else f"The runs of {listed(best)}"
        return f"{what} cannot be ranked at the top"
    return f"{best[0]} is better than all others" if found.of_models else f"The run of {best[0]} is ahead of all others"


def _over_examples(pair: SuitePair) -> str:
    total = pair.micro
    low, high = total.interval.low, total.interval.high
    return (
        f"Over all {count(total.n_examples)} examples, where large datasets count for more, {pair.a} minus {pair.b} is "
        f"{points(total.difference, 2)} points {bounds(low, high, 2)}."
    )


def _by_dataset(pair: SuitePair, alpha: float) -> str:
    ahead = [found.comparison.difference > 0 for found in pair.on]
    surely = [p <= alpha for p in pair.dataset_p]
    for_a = sum(up and sure for up, sure in zip(ahead, surely, strict=True))
    for_b = sum(sure for sure in surely) - for_a
    if not any(surely):
        return (
            f"On none of the {len(surely)} datasets do the two differ significantly (Holm's correction, {alpha:.0%})."
        )
    return (
        f"Of the {len(surely)} datasets by themselves {pair.a} is ahead beyond the noise on {for_a} and {pair.b} on "
        f"{for_b} (Holm's correction, {alpha:.0%})."
    )
