"""A comparison as a study of its own and as a report: which model is better, the noise in it, what would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.progress import Steps
from goldassay.core.results import Result, frame_of_records
from goldassay.core.sections import Finding
from goldassay.questions.comparison.alignment import cluster_names
from goldassay.questions.comparison.comparing import ModelComparison, ModelComparisons, align_sides, compare_sides
from goldassay.questions.comparison.result import ComparisonResult, ModelScore, PairRow, SuiteScore, TotalRow
from goldassay.questions.comparison.sentences import (
    describe_comparison,
    describe_suite,
    differ,
    judge_comparison,
    judge_suite,
    over,
)
from goldassay.questions.comparison.sides import MOST_ROWS, Sides, Suite, differing_rows, differing_rows_of, read_suite
from goldassay.questions.comparison.suites import SuiteComparison, SuitePair, compare_suite
from goldassay.questions.cutoff.question import Dated, cutoff_tables, measure_cutoff
from goldassay.questions.discount.question import discount_runs, discount_tables
from goldassay.questions.discount.reading import reported_bits
from goldassay.questions.evidence import Evidence
from goldassay.questions.example_clusters import AUTO, NONE
from goldassay.questions.inputs import describe_inputs, run_paths
from goldassay.questions.instability.measures.comparison import PairedDifference
from goldassay.questions.instability.paper import score_table
from goldassay.questions.instability.result import InstabilityResult, RunScores
from goldassay.questions.instability.spread import measure_spread, with_reading
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import beside_data
from goldassay.questions.run_choice import RunChoice
from goldassay.runs.configurations import asked_apart

if TYPE_CHECKING:
    from goldassay.core.results import Verdict
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.discount.reading import ShortcutBits
    from goldassay.questions.instability.measures.suites import Equivalence
    from goldassay.report.report import Report


def study_comparison(
    runs: Sequence[Any],
    choice: RunChoice,
    *,
    models: Sequence[str],
    named: tuple[str | None, str | None],
    clusters: str | None,
    matched: bool,
    method: Literal["normal", "bootstrap"],
    equivalent_within: float | None,
    settings: Settings,
    quiet: bool,
    discount: str | None = None,
    discount_part: str | None = None,
) -> tuple[Report, ModelComparisons | SuiteComparison]:
    """Read the models and compare them, as `compare_models` does.

    Args:
        runs: As for `compare_models`.
        choice: Which runs to take, and how to read them.
        models: Names of the models to compare, or none.
        named: Which model of the first runs, and which of the second.
        clusters: As for `compare_models`.
        matched: Likewise.
        method: Likewise.
        equivalent_within: Likewise.
        settings: Hold the seed.
        quiet: Show no progress.
        discount: As for `compare_models`.
        discount_part: Likewise.

    Raises:
        InputError: As `compare_models`.
    """
    told = reported_bits(discount, discount_part)
    with run_paths(_one_by_one(runs), named=False) as paths:
        evidence = Evidence(runs=paths, choice=choice, settings=settings, steps=Steps(quiet))
        suite = read_suite(evidence, models, named)
        margin = None if equivalent_within is None else equivalent_within / 100
        if len(suite.sides) == 1:
            return report_comparison(
                evidence, suite.sides[0], suite.notes, clusters=clusters, matched=matched, method=method, margin=margin,
                told=told,
            )  # fmt: skip
        if told is not None:
            raise InputError(
                f"there are runs on {len(suite.sides)} datasets, and a report to discount by is of one",
                mend=f"choose that one with {option('dataset')}",
            )
        return report_suite(evidence, suite, clusters=clusters, matched=matched, method=method, margin=margin)


def _one_by_one(runs: Sequence[Any]) -> Any:
    """Each source by itself; a list that was given as one of them stands for its items."""
    if not runs:
        raise InputError("no runs were given", mend="give those of two models")
    alone = runs[0] if len(runs) == 1 else None
    return alone if isinstance(alone, (list, tuple, Mapping)) else list(runs)


@dataclass(frozen=True)
class ComparisonFindings:
    """What a comparison found: its verdict, parts of the document, full tables, the rows on which models differ."""

    title: str
    verdict: Verdict
    parts: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    rows: pl.DataFrame
    result: ComparisonResult
    spread: InstabilityResult
    further: Mapping[str, Result] = field(default_factory=dict)

    def all_findings(self) -> list[Finding]:
        """What is behind the sections of a report on the comparison alone."""
        own = Finding("comparison", None, rows=self.rows, result=self.result)
        spread = Finding("instability", None, result=self.spread)
        return [own, spread, *(Finding(name, None, result=each) for name, each in self.further.items())]


def report_comparison(
    evidence: Evidence,
    sides: Sides,
    notes: Sequence[str] = (),
    *,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    told: ShortcutBits | None = None,
    margin: float | None = None,
) -> tuple[Report, ModelComparisons]:
    """Compare models that have been read on one dataset, and write up what was found.

    Args:
        evidence: What the models were read from; holds the dataset that was predicted, if it was given.
        sides: The models.
        notes: What was left out when they were read, in sentences.
        clusters: Take examples together by this group of the runs or column of the dataset.
        matched: Runs of the same seed belong together.
        method: Of the intervals.
        told: By the readers of an audit's report, whose shortcut is discounted, too.
        margin: The largest difference that does not matter, in the unit of the scores.

    Raises:
        InputError: The examples, their right labels or the matched seeds differ, or there is no such group.
    """
    found, compared = find_comparison(
        evidence, sides, notes, clusters=clusters, matched=matched, method=method, told=told, margin=margin
    )
    document = frame_findings(
        found.title, found.parts, evidence.steps, evidence.settings, verdicts={"comparison": found.verdict}
    )
    return compose_report(document, found.tables, findings=found.all_findings()), compared


def find_comparison(
    evidence: Evidence,
    sides: Sides,
    notes: Sequence[str] = (),
    *,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    told: ShortcutBits | None = None,
    margin: float | None = None,
) -> tuple[ComparisonFindings, ModelComparisons]:
    """Compare models: what a report on them alone and an audit of their runs have in common.

    The arguments are those of `report_comparison`.

    Raises:
        InputError: As there.
    """
    settings, steps, choice = evidence.settings, evidence.steps, evidence.choice
    gold = choice.gold_of(sides.models[0].dataset)
    texts = None if gold is None else evidence.gold_texts(gold)
    with steps.step("comparing the models"):
        compared = compare_sides(
            sides.models,
            names=sides.names,
            clusters=clusters,
            texts=texts,
            matched=matched,
            method=method,
            missing=choice.rule,
            by_position=choice.align == "position",
            margin=margin,
            seed=settings.seed,
            sources=sides.of_each or [sides.found] * len(sides.models),
        )
    results = tuple(
        with_reading(measure_spread(runs), runs, sides.found, model=name, name=name)
        for name, runs in zip(compared.names, compared.models, strict=True)
    )
    spread = InstabilityResult(results)
    discounted = None
    if told is not None:
        with steps.step("discounting"):
            named = list(zip(compared.names, compared.models, strict=True))
            discounted = discount_runs(told, named, settings.seed)
    parted = measure_cutoff([_dated(compared, clusters, texts)], choice)
    further = {name: each for name, each in (("discount", discounted), ("cutoff", parted)) if each is not None}
    alone = len(compared.pairs) == 1
    pairs = tuple(
        flat_pair(pair, p, differ(pair) if alone else p <= compared.alpha)
        for pair, p in zip(compared.pairs, compared.adjusted_p, strict=True)
    )
    said, asked = describe_comparison(compared), asked_apart(runs.configuration for runs in compared.models)
    result = ComparisonResult(
        dataset=compared.models[0].dataset,
        n_examples=compared.models[0].n_examples,
        over=over(compared.pairs[0]),
        sentences=(*said[:1], *asked, *said[1:]),
        notes=(
            *notes,
            *(each for each in compared.notes if each not in asked),
            *dict.fromkeys(said for pair in compared.pairs for said in pair.comparison.caveats),
        ),
        pairs=pairs,
        groups=compared.groups,
        alpha=compared.alpha,
        scores=tuple(map(_score, results)),
    )
    findings = {
        "questions": ["comparison", *further],
        "inputs": describe_inputs(evidence.run_paths, sides.found, choice),
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
    title = (
        f"Comparison of {' and '.join(compared.names) if len(compared.names) == 2 else f'{len(compared.names)} models'}"
    )
    tables = {
        "models": score_table(results),
        "comparisons": frame_of_records(pairs),
        **discount_tables(discounted),
        **cutoff_tables(parted),
    }
    rows = beside_data(differing_rows(compared), {} if texts is None else {compared.models[0].dataset: texts})
    title = f"{title} on {compared.models[0].dataset}"
    return ComparisonFindings(
        title, judge_comparison(compared), findings, tables, rows, result, spread, further
    ), compared


def _dated(compared: ModelComparisons, clusters: str | None, texts: Dataset | None) -> Dated:
    """The models with the dates of their examples, and the clusters of the comparison."""
    named = dict(zip(compared.names, compared.models, strict=True))
    by = clusters or (NONE if texts is None else AUTO)
    return Dated.of(named, cluster_names(compared.models, by, texts))


def _score(row: RunScores) -> ModelScore:
    """The score of a model, of the spread of its runs."""
    return ModelScore(
        name=row.name,
        n_runs=row.n_runs,
        mean=row.mean,
        sd=row.sd,
        sd_low=row.sd_low,
        sd_high=row.sd_high,
        min=row.min,
        max=row.max,
    )


def flat_pair(pair: ModelComparison, adjusted_p: float, differs: bool) -> PairRow:
    """A pair as one flat row."""
    found, plan = pair.comparison, pair.plan
    return PairRow(
        **{each.name: getattr(found, each.name) for each in fields(PairedDifference)},
        **vars(plan),
        a=pair.a,
        b=pair.b,
        dataset=pair.dataset,
        sd_a=pair.sd_a,
        sd_b=pair.sd_b,
        clusters=pair.clusters,
        low=found.interval.low,
        high=found.interval.high,
        level=found.interval.level,
        interval_method=found.interval.method,
        probability_low=found.probability_interval.low,
        probability_high=found.probability_interval.high,
        adjusted_p=adjusted_p,
        differ=differs,
        distinguishable=differs and found.of_models,
        **flat_equivalence(pair.equivalence),
    )


class Within(TypedDict, total=False):
    """Whether a difference lies within a margin, as fields of its row; none where no margin was given."""

    margin: float
    equivalence: str
    equivalence_p: float
    equivalence_low: float
    equivalence_high: float


def flat_equivalence(found: Equivalence | None) -> Within:
    """Whether a difference lies within a margin, as fields of its row."""
    if found is None:
        return {}
    return {
        "margin": found.margin,
        "equivalence": found.word,
        "equivalence_p": found.p_value,
        "equivalence_low": found.interval.low,
        "equivalence_high": found.interval.high,
    }


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
                sources=sides.of_each or [sides.found] * len(sides.models),
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
