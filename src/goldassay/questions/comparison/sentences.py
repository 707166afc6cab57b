"""What a comparison found, in plain sentences and as a verdict."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import bounds, count, percent, points
from goldassay.core.results import Headline, Verdict
from goldassay.questions.answered.degenerate import describe_degenerate
from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons, leaves_out_zero
from goldassay.questions.comparison.settling import describe_rules
from goldassay.questions.instability.measures.suites import BEYOND, EQUIVALENT, WITHIN, Equivalence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.answered.result import Degenerate
    from goldassay.questions.comparison.suites import SuiteComparison, SuitePair
    from goldassay.questions.instability.measures.suites import TotalComparison
    from goldassay.stats.intervals import Interval


# Of runs that draw nothing at random.
GREEDY = "Both models answer greedily: more runs would repeat these, and only more examples narrow the interval."
MORE_RUNS = "Give at least 5 runs of each model: one run is not enough to say which model is better."


def conclude(pair: ModelComparison, corrected: bool = True) -> str:
    """Which of two models is better, by the interval of their difference, and by how much.

    Where a model has one run, the sentence is about these runs and never about the models. Where the lead depends on
    the rule for answers without a score, it says so, and none is better.

    Args:
        pair: The two.
        corrected: Whether they differ after the correction for several pairs, too.
    """
    by_rule = describe_rules(pair.rules, pair.a, pair.b, pair.comparison.difference)
    return _conclude(pair, corrected or pair.depends) + by_rule + describe_flaws(pair.degenerate)


def describe_flaws(found: Sequence[Degenerate]) -> str:
    """A clause on models whose output cannot depend on what was asked."""
    return "".join(f"; {describe_degenerate(each).removesuffix('.')}" for each in found)


def _conclude(pair: ModelComparison, corrected: bool) -> str:
    one, other, difference, low, high = _ahead(pair)
    by = f"by {points(difference, 2)} points {bounds(low, high, 2)}"
    weighted = f", weighted by {pair.weighted_by}" if pair.weighted_by else ""
    size = f"{by} on {pair.comparison.n_examples:,} examples of {pair.dataset}{weighted}"
    if pair.comparison.n_higher_a == pair.comparison.n_higher_b == 0:
        said = "" if pair.comparison.of_models else "The runs of "
        return (
            f"{said}{pair.a} and {pair.b} do not differ significantly: they score the same, one by one, on "
            f"{pair.comparison.n_examples:,} examples of {pair.dataset}"
        )
    if not pair.comparison.of_models:
        return _conclude_runs(pair, one, other, by + weighted, size, corrected)
    if not differ(pair):
        return f"{pair.a} and {pair.b} {_undecided(pair)}: {one} is ahead {size}"
    if not corrected:
        return f"Before the correction {one} is ahead of {other} {size}; it leaves nothing of that"
    return f"{one} {'scores higher' if pair.degenerate else 'is better'} than {other} {size}"


def _undecided(pair: ModelComparison) -> str:
    return "cannot be ranked" if pair.depends else "do not differ significantly"


def _conclude_runs(pair: ModelComparison, one: str, other: str, by: str, size: str, corrected: bool) -> str:
    """The same where a model has one run: of these runs, never of the models."""
    found = pair.comparison
    runs = f"The runs of {pair.a} and {pair.b}"
    if not differ(pair):
        return f"{runs} {_undecided(pair)}: {one} is ahead {size}"
    if not corrected:
        return f"Before the correction the run of {one} is ahead {size}; it leaves nothing of that"
    ahead, behind = found.n_higher_a, found.n_higher_b
    if one == pair.b:
        ahead, behind = behind, ahead
    return (
        f"{runs} differ {by}: {one} scores higher on {ahead:,} and {other} on {behind:,} of {found.n_examples:,} "
        f"examples of {pair.dataset}. Which model is better stays open, since one run does not show how far another "
        "would score from it"
    )


def describe_run_noise(pair: ModelComparison) -> str:
    """How often a run of one model scores higher than a run of the other, as far as its interval goes.

    "" for one run, or where the order of rows alone tells attempts apart.
    The share is of these examples, the conclusion of others too: the share may be 1 where nothing can be concluded.
    """
    result = pair.comparison
    if pair.dealt or not result.of_models:
        return ""
    ahead, share, low, high = pair.a, result.probability_better, *_ends(result.probability_interval)
    if share < 0.5:
        ahead, share, low, high = pair.b, 1 - share, 1 - high, 1 - low
    shown = f"in {percent(share, 0)} of the pairs {bounds(low, high, 0)}"
    if not low > 0.5:
        return f"Which of two single runs scores higher is open even on these examples: that of {ahead} does {shown}."
    said = f"On these examples a single run of {ahead} scores higher than one of the other {shown}"
    return f"{said}." if distinguishable(pair) else f"{said}; on other examples it may be otherwise."


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def describe_comparison(found: ModelComparisons) -> list[str]:
    """Sentences on two models or on more, the most important first."""
    return _describe_pair(found.pairs[0]) if len(found.pairs) == 1 else _describe_many(found)


def judge_comparison(found: ModelComparisons) -> Verdict:
    """The verdict: whether the best of the models is better than the others beyond the noise."""
    pair, best = found.pairs[0], found.groups[0]
    if len(found.pairs) == 1:
        apart = distinguishable(pair) and not pair.degenerate
        evidence = f"{conclude(pair)}."
        limit = "the interval of the difference leaves out zero"
    else:
        alone = len(best) == 1
        flawed = {each for pair in found.pairs for each in pair.degenerate}
        apart = alone and found.of_models and not flawed
        which = conclude(pair, found.adjusted_p[0] <= found.alpha)
        if found.of_models:
            top = (
                f"{best[0]} {'scores higher' if flawed else 'is better'} than all others"
                if alone
                else f"{listed(best)} cannot be ranked at the top"
            )
        elif alone:
            top = f"The run of {best[0]} is ahead of all others"
        else:
            top = f"The runs of {listed(best)} cannot be ranked at the top"
        evidence = f"{top}. {which}."
        evidence += "".join(f" {describe_degenerate(each)}" for each in sorted(flawed - {*pair.degenerate}, key=str))
        limit = f"the best model differs significantly from all others after Holm's correction at {found.alpha:g}"
    if not found.of_models:
        limit = f"there are several runs of each and {limit}"
    one, other, difference, low, high = _ahead(pair)
    return Verdict(
        "distinguishable" if apart else "not distinguishable",
        evidence,
        Headline(f"{one} minus {other}", difference, low, high, "difference"),
        "" if apart else settle(pair),
        f"Significant if {limit}; {over(pair)} are the noise.",
    )


def over(pair: ModelComparison) -> str:
    """What the interval takes as drawn at random."""
    what = "examples" if pair.comparison.n_clusters is None else f"{pair.clusters} clusters"
    return f"{_run(pair)}s and {what}" if pair.comparison.of_models else what


def _run(pair: ModelComparison) -> str:
    """What a run of the two is called: samples that the order of rows alone tells apart are no runs."""
    return "attempt" if pair.dealt else "run"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def differ(pair: ModelComparison) -> bool:
    """Whether the interval of the difference leaves out zero, whatever the rule for answers without a score."""
    return leaves_out_zero(pair.comparison.interval) and not pair.depends


def distinguishable(pair: ModelComparison) -> bool:
    """Whether one model is better: the interval leaves out zero, and allows for the noise of runs."""
    return pair.comparison.of_models and differ(pair)


def _ahead(pair: ModelComparison) -> tuple[str, str, float, float, float]:
    """The two with the higher mean score first, and their difference with its bounds."""
    result = pair.comparison
    low, high = result.interval.low, result.interval.high
    if result.difference < 0:
        return pair.b, pair.a, -result.difference, -high, -low
    return pair.a, pair.b, result.difference, low, high


def _describe_pair(pair: ModelComparison) -> list[str]:
    result = pair.comparison
    sentences = [f"{conclude(pair)} ({result.interval.level:.0%} interval over {over(pair)})."]
    if not result.of_models:
        sentences = [f"{conclude(pair)}."]
    sentences += [said for said in (describe_run_noise(pair),) if said]
    if not math.isnan(result.share_runs):
        runs = f"{_run(pair)}s"
        cause = "more examples" if result.share_runs <= 0.5 else f"more {runs if pair.dealt else 'seeds'}"
        sentences.append(
            f"{percent(result.share_runs, 0)} of the noise comes from the {runs}: {cause} would help most."
        )
    sentences.append(_power(pair))
    if pair.equivalence is not None:
        sentences.insert(1, describe_equivalence(pair.a, pair.b, pair.equivalence, result.of_models))
    if not distinguishable(pair):
        sentences.append(settle(pair))
    return sentences


def describe_equivalence(a: str, b: str, found: Equivalence, of_models: bool) -> str:
    """Whether two models, or of models with one run these runs, score the same as far as it matters."""
    return f"{a} and {b}: {describe_margin(found, of_models)}."


def describe_margin(found: Equivalence, of_models: bool) -> str:
    """What is known of two models, or of two runs, and the margin, in the same words at every door."""
    margin = f"{points(found.margin, 2)} points"
    they = "they" if of_models else "these runs"
    why = ", since the two cannot be ranked" if found.outside else ""
    said = {
        EQUIVALENT: f"equivalent, as {they} score within {margin}",
        WITHIN: f"{they} differ, but score within {margin}",
        BEYOND: f"{they} differ by more than {margin}",
    }.get(found.word, f"whether {they} score within {margin} is open{why}")
    return (
        f"{said} (two one-sided tests, p {_p_of(found.p_value)}; {found.interval.level:.0%} interval "
        f"{bounds(found.interval.low, found.interval.high, 2)})"
    )


def _p_of(value: float) -> str:
    return "< .0001" if value < 1e-4 else f"= {value:.4f}".replace("0.", ".", 1)


def _power(pair: ModelComparison) -> str:
    """What could have been found."""
    result = pair.comparison
    runs = min(result.n_runs_a, result.n_runs_b)
    of = f"{runs} {_run(pair)}s of each" if runs > 1 else "one run of each"
    between = "" if result.of_models else " between these runs"
    return (
        f"With {of} and {result.n_examples:,} examples, a true difference of "
        f"{points(pair.plan.detectable_difference, 2)} points{between} is found four times out of five."
    )


def settle(pair: ModelComparison) -> str:
    """How many runs or examples would settle which model is better."""
    result, plan = pair.comparison, pair.plan
    if not result.of_models and result.difference != 0 and plan.examples_needed is None:
        return GREEDY if pair.greedy else MORE_RUNS
    if result.difference == 0:
        shown = points(plan.detectable_difference, 2)
        return f"The scores are equal: more runs or examples can show only a true difference below {shown} points."
    difference = f"A true difference of {points(abs(result.difference), 2)} points"
    found = "is found four times out of five with"
    examples = "examples" if result.n_clusters is None else f"examples in as many more {pair.clusters} clusters"
    if not result.of_models:
        more = GREEDY if pair.greedy else MORE_RUNS
        return f"{difference} between such runs {found} {count(plan.examples_needed)} {examples}. {more}"
    ways, runs = [], f"{_run(pair)}s"
    if plan.seeds_needed is not None:
        low, high = plan.seeds_needed_low, plan.seeds_needed_high
        span = ""
        if low != high:
            ends = [count(end) if end is not None else "no number" for end in (low, high)]
            span = f" ({ends[0]} to {ends[1]}, for the SD is uncertain)"
        ways.append(f"{count(plan.seeds_needed)} {runs} of each{span} on these examples")
    if plan.examples_needed is not None:
        ways.append(f"these {runs} on {count(plan.examples_needed)} {examples}")
    if ways:
        only = "" if plan.seeds_needed is not None else f"; on these examples no number of {runs} will do"
        only = only if plan.examples_needed is not None else f"; with these {runs} no number of examples will do"
        return f"{difference} {found} {', or with '.join(ways)}{only}."
    if plan.joint_runs is not None and plan.joint_examples is not None:
        return (
            f"{difference} {found} {count(plan.joint_runs)} {runs} of each on {count(plan.joint_examples)} "
            f"{examples}; neither more {runs} nor more examples alone will do."
        )
    return f"{difference} is too small to be found with any number of {runs} and examples that could be had."


def settle_top(found: ModelComparisons) -> str:
    """How many runs or examples would settle which of several models is best; "" where that is settled."""
    best = set(found.groups[0])
    if len(best) == 1 and found.of_models:
        return ""
    pair = next((each for each in found.pairs if {each.a, each.b} <= best), found.pairs[0])
    return f"Of {pair.a} and {pair.b}: {settle(pair)}"


def _describe_many(found: ModelComparisons) -> list[str]:
    apart = sum(p <= found.alpha for p in found.adjusted_p)
    what, can = ("models", "differ significantly") if found.of_models else ("runs", "differ")
    sentences = [
        f"Of {len(found.pairs)} pairs of {what} {apart} {can} on {found.models[0].n_examples:,} examples of "
        f"{found.models[0].dataset} (Holm's correction, {found.alpha:.0%})."
    ]
    if not found.of_models:
        alone = [name for name, runs in zip(found.names, found.models, strict=True) if runs.n_runs == 1]
        which = "each model" if len(alone) == len(found.names) else listed(alone)
        sentences.append(f"There is one run of {which}. {settle_top(found)}")
    subject = "" if found.of_models else "The runs of "
    sentences += [f"{subject}{listed(group)} cannot be ranked." for group in found.groups if len(group) > 1]
    best = found.groups[0]
    if len(best) == 1 and found.of_models:
        sentences.append(f"{best[0]} is better than every other.")
    if len(best) > 1 and found.of_models:
        sentences.append(settle_top(found))
    seen = [pair.plan.detectable_difference for pair in found.pairs]
    sentences.append(
        f"With these runs and examples, true differences of {points(min(seen), 2)} to {points(max(seen), 2)} points, "
        "by the pair, are found four times out of five (before the correction)."
    )
    return sentences


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
