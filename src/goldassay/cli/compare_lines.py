"""What `goldassay compare` prints: two models, several, and several datasets."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import points, signed_points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons
    from goldassay.questions.comparison.suites import SuiteComparison
    from goldassay.questions.instability.measures.comparison import Comparison
    from goldassay.questions.instability.measures.suites import TotalComparison

# Of more models a line for each difference is more than anybody reads, of three models one for each of more datasets.
MOST_MODELS, _MOST_DATASETS, _MOST_NOTES = 12, 8, 8


def lines_of(compared: ModelComparisons | SuiteComparison) -> list[str]:
    """The comparison for people, in points."""
    from goldassay.questions.comparison.suites import SuiteComparison

    if isinstance(compared, SuiteComparison):
        return _suite(compared)
    return _lines(compared.pairs[0]) if len(compared.names) == 2 else _overview(compared)


def result_of(compared: ModelComparisons | SuiteComparison) -> dict[str, Any]:
    """The comparison as plain data; of two models on one dataset that of the pair."""
    from goldassay.questions.comparison.suites import SuiteComparison

    if isinstance(compared, SuiteComparison) or len(compared.names) > 2:
        return compared.to_dict()
    return compared.pairs[0].to_dict()


def _overview(found: ModelComparisons) -> list[str]:
    """Several models for people, in points: how they score, and which cannot be told apart."""
    from goldassay.questions.comparison.sentences import listed, over, say_margin

    rows = zip(found.names, found.means, found.sds, (runs.n_runs for runs in found.models), strict=True)
    lines = [f"{len(found.names)} models on {found.models[0].n_examples:,} examples of {found.models[0].dataset}"]
    differ = [(pair.a, pair.b) for pair, p in zip(found.pairs, found.adjusted_p, strict=True) if p <= found.alpha]
    shown = {name: _side(mean, spread, n_runs) for name, mean, spread, n_runs in sorted(rows, key=lambda row: -row[1])}
    lines += _ranked(shown, differ, found.of_models)
    which = "" if found.of_models else "runs that "
    noise = f"noise of {over(found.pairs[0])}, Holm's correction at {found.alpha:g}"
    lines += ["", f"{which}cannot be told apart ({noise}):"]
    lines += [f"  {listed(group)}" for group in found.groups if len(group) > 1] or ["  none: each differs from each"]
    if len(found.names) > MOST_MODELS:
        lines += ["", f"differences: {len(differ):,} of {len(found.pairs):,}; all of them with --json FILE or -o DIR"]
        return [*lines, *_settled(found)]
    lines += ["", "differences:"]
    wide = max(len(f"{pair.a} - {pair.b}") for pair in found.pairs)
    for pair, p in zip(found.pairs, found.adjusted_p, strict=True):
        low, high = pair.comparison.interval.low, pair.comparison.interval.high
        lines.append(
            f"  {f'{pair.a} - {pair.b}':<{wide}}  {signed_points(pair.comparison.difference)} "
            f"[{signed_points(low)}, {signed_points(high)}]  {_p(p)}"
        )
        if pair.equivalence is not None:
            lines += [f"  {'':<{wide}}  {say_margin(pair.equivalence, pair.comparison.of_models)}"]
    return [*lines, *_settled(found)]


def _settled(found: ModelComparisons) -> list[str]:
    """What would settle which model is best, and the notes."""
    from goldassay.questions.comparison.sentences import settle_top

    settled = settle_top(found)
    notes = dict.fromkeys((*found.notes, *(said for pair in found.pairs for said in pair.comparison.caveats)))
    return [*(["", f"settle it  {settled}"] if settled else []), *(f"note  {note}" for note in notes)]


def _ranked(shown: Mapping[str, str], differ: Sequence[tuple[str, str]], of_models: bool) -> list[str]:
    """A line a model, the best first: what is shown of it, and between which ranks it surely lies."""
    width, n = max(map(len, shown)), len(shown)
    better, worse = Counter(b for _, b in differ), Counter(a for a, _ in differ)
    ahead = "better than" if of_models else "run ahead of"
    return [
        f"  {name:<{width}}  {said}; {ahead} {worse[name]}; {_places(1 + better[name], n - worse[name])}"
        for name, said in shown.items()
    ]


def _places(low: int, high: int) -> str:
    return f"place {low}" if low == high else f"place {low} to {high}"


def _suite(found: SuiteComparison) -> list[str]:
    """Models on several datasets for people, in points."""
    from goldassay.questions.comparison.sentences import listed, say_margin
    from goldassay.questions.comparison.suite_sentences import conclude_suite, other_disagreements

    differ = [(pair.a, pair.b) for pair in found.pairs if pair.adjusted_p <= found.alpha]
    # Of two models as they were given, the one that is ahead may be the second.
    differ = [(a, b) if found.means[a][0] >= found.means[b][0] else (b, a) for a, b in differ]
    best_first = sorted(found.means.items(), key=lambda item: -item[1][0])
    shown = {
        name: f"{points(macro, 2)} points over datasets, {points(micro, 2)} over examples"
        for name, (macro, micro) in best_first
    }
    lines = [
        f"{len(found.names)} models on {len(found.datasets)} datasets, {found.n_examples:,} examples",
        *_ranked(shown, differ, found.of_models),
        f"{conclude_suite(found.pairs[0], found.alpha)}.",
        *other_disagreements(found),
    ]
    if len(found.names) > 2:
        lines += [f"cannot be told apart: {listed(group)}" for group in found.groups if len(group) > 1]
    for pair in found.pairs:
        lines += ["", f"{pair.a} - {pair.b}"]
        wide = max(len(each.dataset) for each in pair.on)
        wide = max(wide, len("mean of the examples"))
        rows = (
            ("mean of the datasets", pair.macro, pair.adjusted_p),
            ("mean of the examples", pair.micro, pair.micro_adjusted_p),
        )
        lines += [f"  {name:<{wide}}  {_difference(total)}  {_p(p)}" for name, total, p in rows]
        if pair.equivalence is not None:
            lines.append(f"  {'equivalence':<{wide}}  {say_margin(pair.equivalence, pair.macro.of_models)}")
        if len(found.names) == 2 or len(found.datasets) <= _MOST_DATASETS:
            for each, p in zip(pair.on, pair.dataset_p, strict=True):
                n = each.comparison.n_examples
                lines.append(f"  {each.dataset:<{wide}}  {_difference(each.comparison)}  {_p(p)}, {n:,} examples")
    over = "runs and examples" if found.of_models else "examples"
    corrected = f"p of datasets after Holm's correction over {len(found.datasets)} datasets"
    if len(found.pairs) > 1:
        corrected = f"p after Holm's correction, of means over {len(found.pairs)} pairs, of datasets over " + (
            f"{len(found.datasets)} datasets"
        )
    lines += ["", f"note  Noise of {over}; {corrected}; intervals of 95 %."]
    lines += [f"note  {note}" for note in found.notes[:_MOST_NOTES]]
    more = len(found.notes) - _MOST_NOTES
    return [*lines, f"note  {more} more are in the report: -o DIR"] if more > 0 else lines


def _difference(found: Comparison | TotalComparison) -> str:
    low, high = found.interval.low, found.interval.high
    return f"{signed_points(found.difference):>6} [{signed_points(low)}, {signed_points(high)}]"


def _lines(found: ModelComparison) -> list[str]:
    """The comparison for people, in points."""
    from goldassay.questions.comparison.sentences import conclude, say_margin, settle, told_apart

    result = found.comparison
    low, high = result.interval.low, result.interval.high
    over = result.interval.method.partition("over ")[2]
    if result.n_clusters is not None:
        over = over.replace("examples", "clusters")
    lines = [
        f"A  {found.a}: {_side(result.mean_a, found.sd_a, result.n_runs_a)}",
        f"B  {found.b}: {_side(result.mean_b, found.sd_b, result.n_runs_b)}",
        f"{conclude(found)}.",
        "",
        f"difference A - B   {signed_points(result.difference)} points [{signed_points(low)}, {signed_points(high)}] "
        f"({result.interval.level:.0%} interval over {over}, {result.interval.method.partition(',')[0]})",
        f"noise              {_noise(found)}",
        f"p-values           {_p(result.p_value)} over {over}; "
        f"{_p(result.p_examples)} over {_units(found)} alone ({result.test})",
    ]
    if max(result.n_runs_a, result.n_runs_b) > 1:
        lines.append(f"P(A > B)           {_chance(found)}")
    lines.append(f"could be shown     {points(found.plan.detectable_difference, 2)} points, four times out of five")
    if found.equivalence is not None:
        lines.append(f"equivalence        {say_margin(found.equivalence, result.of_models)}")
    if result.of_models:
        lines.append(f"seeds              {_seeds(found)}")
    if not told_apart(found):
        lines.append(f"settle it          {settle(found)}")
    lines += [f"note               {note}" for note in (*found.notes, *result.caveats)]
    return lines


def _chance(found: ModelComparison) -> str:
    """That a run of A scores higher than one of B, with what its interval leaves open."""
    from goldassay.questions.comparison.sentences import told_apart

    result = found.comparison
    low, high = result.probability_interval.low, result.probability_interval.high
    shown = f"{result.probability_better:.0%} [{low:.0%}, {high:.0%}] of the pairs of a run of each, on these examples"
    if not (low > 0.5 or high < 0.5):
        return f"{shown}: open"
    return shown if told_apart(found) else f"{shown} alone"


def _side(mean: float, sd: float, runs: int) -> str:
    spread = "" if math.isnan(sd) else f", SD {100 * sd:.2f}"
    return f"{100 * mean:.2f} points{spread}, {runs} run{'s' if runs > 1 else ''}"


def _units(found: ModelComparison) -> str:
    result = found.comparison
    return "examples" if result.n_clusters is None else f"{result.n_clusters:,} clusters ({found.clusters})"


def _noise(found: ModelComparison) -> str:
    result = found.comparison
    whole = f"SD {_root(result.var_total)} points in all"
    if not result.of_models:
        return f"{whole}: {_units(found)} {_root(result.var_examples)}, runs unknown"
    parts = (
        f"{_units(found)} {_root(result.example_variance)}, runs {_root(result.var_total - result.example_variance)}"
    )
    share = "" if math.isnan(result.share_runs) else f" ({result.share_runs:.0%} of the variance is the runs')"
    return f"{whole}: {parts}{share}"


def _root(variance: float) -> str:
    return f"{100 * math.sqrt(variance):.2f}"


def _seeds(found: ModelComparison) -> str:
    plan, runs = found.plan, min(found.comparison.n_runs_a, found.comparison.n_runs_b)
    shown = f"{runs} of each can show {100 * plan.smallest_difference:.2f} points on these examples (power 80 %)"
    if plan.seeds_needed is None:
        return shown
    span = f"{_count(plan.seeds_needed_low)} to {_count(plan.seeds_needed_high)}"
    return f"{shown}; on others too, a difference of this size takes {plan.seeds_needed:,} of each ({span})"


def _count(value: int | None) -> str:
    return "no number" if value is None else f"{value:,}"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.4f}"
