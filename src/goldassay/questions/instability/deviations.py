"""The spread on each dataset against that on a reference dataset."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.questions.instability.measures.scores import summarize_scores
from goldassay.questions.instability.measures.variance import normalized_deviation, normalized_deviation_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.run_sets import RunSet
    from goldassay.runs import Runs

NOTE = (
    "The normalized deviation allows for the sizes of the datasets as if examples were independent of each other. The "
    "design effect shows how far they are from it, and is the better comparison."
)


def check_reference(sets: Sequence[RunSet], reference: str | None) -> None:
    """Refuse a reference of which there are no runs.

    Raises:
        InputError: There are none; the line names the datasets.
    """
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    if reference is not None and reference not in datasets:
        raise InputError(f"there are no runs on the reference {reference!r}", mend=f"there are {', '.join(datasets)}")


def measure_deviation(runs: Runs, against: Runs | None) -> dict[str, Any]:
    """Normalized deviation of a model's runs on a dataset from its runs on the reference, by both conventions.

    Args:
        runs: (R, N), at their last checkpoint.
        against: (R, N0), likewise; None where there are none.
    """
    row: dict[str, Any] = {"model": runs.model, "dataset": runs.dataset, "condition": runs.condition}
    empty = {"recommended": None, "paper": None}
    if against is None:
        return {**row, **empty, "reason": "this model has no runs on the reference"}
    if min(runs.n_runs, against.n_runs) < 2:
        return {**row, **empty, "reason": "one run has no spread"}
    values: dict[str, Any] = {}
    reasons: list[str] = []
    # The published figures rest on deviations with ddof 0; the ratio itself would not depend on it.
    conventions: tuple[tuple[Literal["recommended", "paper"], int], ...] = (("recommended", 1), ("paper", 0))
    for convention, ddof in conventions:
        sd, reference_sd = (summarize_scores(each.scores, ddof=ddof).sd for each in (runs, against))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UndefinedMeasureWarning)
            values[convention] = normalized_deviation(
                sd,
                runs.n_examples,
                reference_sd,
                against.n_examples,
                convention,
            )
        reasons += [str(each.message) for each in caught]
    if runs is against:
        return {**row, **values, "low": None, "high": None, "reason": "; ".join(dict.fromkeys(reasons)) or None}
    matched = runs.seeds.tolist() == against.seeds.tolist()
    interval = normalized_deviation_interval(runs.scores, against.scores, matched=matched)
    values |= {"low": interval.low, "high": interval.high}
    return {**row, **values, "reason": "; ".join(dict.fromkeys(reasons)) or None}
