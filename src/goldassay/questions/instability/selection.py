"""Which dev set should choose the checkpoint: the standard one, or a part of the analysis set itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.questions.instability.measures.selection import select_checkpoints

if TYPE_CHECKING:
    from goldassay.questions.instability.means import RunMeans
    from goldassay.runs import Runs

# One split's luck moves the means about as much as the choice does; the paper does not say how many it took.
N_SPLITS = 20


def measure_selection(runs: Runs, standard: RunMeans | None, seed: int) -> dict[str, Any] | None:
    """Model selection on the reference and on 80 % of another dataset, scored on the remaining 20 %.

    Args:
        runs: (R, [T,] N).
        standard: The same model's means on the reference, the standard dev set; None where there are none.
        seed: Of the splits.

    Returns:
        A row of what was found, or with the reason where runs and reference do not share seeds and checkpoints. None
        for runs without checkpoints, or a single one.
    """
    if runs.scores.ndim != 3 or runs.n_runs < 2 or runs.n_checkpoints < 2:
        return None
    row: dict[str, Any] = {"model": runs.model, "dataset": runs.dataset, "condition": runs.condition}
    if standard is None:
        return {**row, "reason": "this model has no runs on the reference"}
    if not standard.is_of(runs):
        return {**row, "reason": "its runs on the reference have other seeds or checkpoints"}
    column = next(iter(runs.groups), None)
    try:
        found = select_checkpoints(
            standard.values,
            runs.scores,
            runs.gold,
            None if column is None else runs.groups[column],
            n_splits=N_SPLITS,
            seed=seed,
        )
    except InputError as error:
        return {**row, "reason": error.problem}
    return {
        **row,
        "standard_mean": found.standard_mean,
        "standard_sd": found.standard_sd,
        "analysis_mean": found.analysis_mean,
        "analysis_sd": found.analysis_sd,
        "gain": found.gain,
        "gain_low": found.gain_interval.low,
        "gain_high": found.gain_interval.high,
        "n_splits": found.n_splits,
        "n_dev": found.n_dev,
        "n_test": found.n_examples - found.n_dev,
        "split_by": column or ("label" if runs.gold is not None else None),
        "reason": None,
    }
