"""A comparison over several datasets as a report: on each of them, and over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from goldassay.core.results import frame_of_records
from goldassay.questions.comparison.comparing import align_sides
from goldassay.questions.comparison.report import ComparisonFindings, flat_equivalence, flat_pair
from goldassay.questions.comparison.result import ComparisonResult, SuiteScore, TotalRow
from goldassay.questions.comparison.sides import MOST_ROWS, Suite, differing_rows_of
from goldassay.questions.comparison.suite_sentences import describe_suite, judge_suite
from goldassay.questions.comparison.suites import SuiteComparison, SuitePair, compare_suite
from goldassay.questions.cutoff.question import Dated, cutoff_tables, measure_cutoff
from goldassay.questions.instability.result import InstabilityResult
from goldassay.questions.instability.spread import measure_spread, with_reading
from goldassay.questions.instability.tables import score_table
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import beside_data
from goldassay.questions.run_inputs import describe_inputs
from goldassay.runs.configurations import asked_apart

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.report.report import Report

__all__ = ["find_suite", "report_suite"]


def report_suite(
    evidence: Evidence,
    suite: Suite,
    *,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    margin: float | None = None,
) -> tuple[Report, SuiteComparison]:
    """Compare models that have been read on several datasets, and write up what was found.

    Args:
        evidence: What the models were read from; holds the datasets that were predicted, if they were given.
        suite: The models on each dataset.
        clusters: Take examples together by this group of the runs or column of the dataset.
        matched: Runs of the same seed belong together.
        method: Of the intervals.
        margin: The largest difference over all datasets that does not matter, in the unit of the scores.

    Raises:
        InputError: The examples, their right labels or the matched seeds differ, there is no such group, there are too
            many models, or they have other names on another dataset.
    """
    found, compared = find_suite(evidence, suite, clusters=clusters, matched=matched, method=method, margin=margin)
    document = frame_findings(
        found.title, found.parts, evidence.steps, evidence.settings, verdicts={"comparison": found.verdict}
    )
    return compose_report(document, found.tables, findings=found.all_findings()), compared


def find_suite(
    evidence: Evidence,
    suite: Suite,
    *,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    margin: float | None = None,
) -> tuple[ComparisonFindings, SuiteComparison]:
    """Compare models on several datasets; the arguments are those of `report_suite`.

    Raises:
        InputError: As there.
    """
    settings, steps, choice = evidence.settings, evidence.steps, evidence.choice
    found, texts = [slices for sides in suite.sides for slices in sides.found], {}
    with steps.step("comparing the models"):
        datasets = []
        for sides in suite.sides:
            gold = choice.gold_of(sides.models[0].dataset)
            known: Dataset | None = None if gold is None else evidence.gold_texts(gold)
            aligned = align_sides(
                sides.models,
                names=sides.names,
                clusters=clusters,
                texts=known,
                matched=matched,
                missing=choice.rule,
                by_position=choice.align == "position",
                sources=sides.found,
            )
            if known is not None:
                texts[aligned.sets[0].dataset] = known
            datasets.append(aligned)
        compared = compare_suite(
            datasets, matched=matched, method=method, margin=margin, seed=settings.seed, notes=suite.notes
        )
    results = tuple(
        with_reading(measure_spread(runs), runs, sides.found, model=name, name=name)
        for each, sides in zip(datasets, suite.sides, strict=True)
        for name, runs in zip(each.names, each.sets, strict=True)
    )
    spread = InstabilityResult(results)
    pairs = tuple(
        flat_pair(each, p, p <= compared.alpha)
        for pair in compared.pairs
        for each, p in zip(pair.on, pair.dataset_p, strict=True)
    )
    totals = tuple(_total(pair, compared.alpha) for pair in compared.pairs)
    names, said = compared.names, describe_suite(compared)
    asked = list(
        dict.fromkeys(each for sides in datasets for each in asked_apart(runs.configuration for runs in sides.sets))
    )
    result = ComparisonResult(
        dataset=f"{len(datasets)} datasets",
        datasets=tuple(each.sets[0].dataset for each in datasets),
        n_examples=compared.n_examples,
        sentences=(*said[:1], *asked, *said[1:]),
        notes=tuple(each for each in compared.notes if each not in asked),
        models=tuple(SuiteScore(name, macro, micro) for name, (macro, micro) in compared.means.items()),
        totals=totals,
        pairs=pairs,
        groups=compared.groups,
        alpha=compared.alpha,
        scores=(),
    )
    dated = [Dated.of(dict(zip(each.names, each.sets, strict=True)), each.together) for each in datasets]
    parted = measure_cutoff(dated, choice)
    further = {} if parted is None else {"cutoff": parted}
    findings = {
        "questions": ["comparison", *further],
        "inputs": describe_inputs(evidence.run_paths, found, choice),
        "instability": spread,
        "comparison": result,
        **further,
        "settings": {
            "seed": settings.seed,
            "clusters": clusters,
            "matched": matched,
            "method": method,
            "equivalent_within": margin,
            "reading": choice.describe(),
        },
    }
    title = f"Comparison of {' and '.join(names) if len(names) == 2 else f'{len(names)} models'}"
    tables = {
        "models": score_table(results),
        "comparisons": frame_of_records(pairs),
        "totals": frame_of_records(totals),
        **cutoff_tables(parted),
    }
    most = max(1, MOST_ROWS // max(1, len(pairs)))
    rows = pl.concat(
        [
            differing_rows_of(dict(zip(each.names, each.sets, strict=True)), [(pair.a, pair.b)], most)
            for pair in compared.pairs
            for each in datasets
        ]
    )
    title = f"{title} on {len(datasets)} datasets"
    return ComparisonFindings(
        title, judge_suite(compared), findings, tables, beside_data(rows, texts), result, spread, further
    ), compared


def _total(pair: SuitePair, alpha: float) -> TotalRow:
    """The two over all datasets, as one flat row."""
    differs, macro, micro = pair.adjusted_p <= alpha, pair.macro, pair.micro
    return TotalRow(
        a=pair.a,
        b=pair.b,
        macro_difference=macro.difference,
        macro_low=macro.interval.low,
        macro_high=macro.interval.high,
        macro_p=macro.p_value,
        macro_a=macro.mean_a,
        macro_b=macro.mean_b,
        micro_difference=micro.difference,
        micro_low=micro.interval.low,
        micro_high=micro.interval.high,
        micro_p=micro.p_value,
        micro_a=micro.mean_a,
        micro_b=micro.mean_b,
        n_datasets=macro.n_datasets,
        n_examples=macro.n_examples,
        joint=macro.joint,
        adjusted_p=pair.adjusted_p,
        micro_adjusted_p=pair.micro_adjusted_p,
        disagree=pair.disagree(alpha),
        differ=differs,
        distinguishable=differs and macro.of_models,
        **flat_equivalence(pair.equivalence),
    )
