"""A comparison as a study of its own: from the runs of several models to a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from goldassay.core.errors import InputError, option
from goldassay.core.progress import Steps
from goldassay.questions.comparison.report import report_comparison, report_suite
from goldassay.questions.comparison.sides import read_suite
from goldassay.questions.discount.reading import reported_bits
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import run_paths
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from goldassay.core.settings import Settings
    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.questions.comparison.suites import SuiteComparison
    from goldassay.report.report import Report

__all__ = ["study_comparison"]


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
