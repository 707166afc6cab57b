"""A comparison as a study of its own: from the runs of several models to a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.comparison.report import report_comparison
from goldassay.questions.comparison.sides import read_suite
from goldassay.questions.comparison.suite_report import report_suite
from goldassay.questions.discount.reading import told_by
from goldassay.questions.evidence import Evidence
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import run_paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.questions.comparison.suites import SuiteComparison
    from goldassay.questions.run_choice import RunFormat
    from goldassay.report.report import Report

__all__ = ["compare_models", "study_comparison"]


@takes("compare")
def compare_models(
    *runs: Any,
    model: str | Sequence[str] | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    clusters: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    equivalent_within: float | None = None,
    dataset: str | None = None,
    discount: str | None = None,
    discount_part: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    **reading: Unpack[RunFormat],
) -> Report:
    """Say which of several models is better on the same examples, seeds and examples allowed for: `goldassay compare`.

    Where the runs are on several datasets, the models are compared on each and over all that every model answered.

    Args:
        runs: The runs of each model, or all of them in one: paths, `Runs`, or tables with a row a prediction.
        model: The models to compare, out of all runs, at least two; with * or ? all that match, as runs of one. By
            default all.
        model_a: Which model of the first runs.
        model_b: Which model of the second.
        clusters: Examples that share this do not count as independent: a group of the runs, or a column of `gold`.
        matched: Runs with the same seed belong together.
        method: How the interval is made.
        equivalent_within: The largest difference that does not matter, in points: two one-sided tests say whether the
            models score within it.
        dataset: Runs on this dataset only.
        discount: The report of an audit of the same rows: also scores without what its readers of a part tell.
        discount_part: Which part, such as "premise"; by default the one whose readers tell most.
        seed: Of all draws; by default that of the settings.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.
        reading: How runs are read: `gold`, `columns`, `labels`, `label_names`, `align`, `checkpoint`, `split`,
            `condition`, `train_set`, `format`, `grades`,
            `pool_configurations`, as for `read_runs`; `gold` may be a path,
            `Dataset` or frame.

    Returns:
        The report. Its tables are `models` and `comparisons`, a row for each two models and dataset, and of several
        datasets `totals`, a row for each two models.

    Raises:
        InputError: The runs cannot be read, there are fewer than two models, no dataset was answered by all, or the
            examples, their right labels or the matched seeds differ.
    """
    named = (model,) if isinstance(model, str) else tuple(model or ())
    report, _ = study_comparison(
        runs,
        replace(RunChoice.of(**reading), dataset=dataset),
        models=named,
        named=(model_a, model_b),
        clusters=clusters,
        matched=matched,
        method=method,
        equivalent_within=equivalent_within,
        settings=with_seed(settings or Settings(), seed),
        quiet=quiet,
        discount=discount,
        discount_part=discount_part,
    )
    return report


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
    """Read the models and compare them: what the command and `compare_models` have in common.

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
    told = told_by(discount, discount_part)
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
                mend=f"choose that one with {option('dataset', 'NAME')}",
            )
        return report_suite(evidence, suite, clusters=clusters, matched=matched, method=method, margin=margin)


def _one_by_one(runs: Sequence[Any]) -> Any:
    """Each source by itself; a list that was given as one of them stands for its items."""
    if not runs:
        raise InputError("no runs were given", mend="give those of two models")
    alone = runs[0] if len(runs) == 1 else None
    return alone if isinstance(alone, (list, tuple, Mapping)) else list(runs)
