"""Which dev set should choose the checkpoint: the standard one, or a part of the analysis set itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.errors import InputError
from goldassay.instability import select_checkpoints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs import Runs

# One split's luck moves the means about as much as the choice does; the paper does not say how many it took.
N_SPLITS = 20


def measure_selection(sets: Sequence[Runs], reference: str | None, seed: int) -> list[dict[str, Any]]:
    """Model selection on the reference and on 80 % of each other dataset, scored on the remaining 20 %.

    Args:
        sets: Runs (R, [T,] N); those without checkpoints, or of a single run, are passed over.
        reference: The standard dev set; None measures nothing.
        seed: Of the splits.

    Returns:
        A row for each set of runs that shares seeds and checkpoints with its model's runs on the reference; for the
        others one with the reason.
    """
    if reference is None:
        return []
    standards = {_kin(runs): runs for runs in sets if runs.dataset == reference}
    others = [runs for runs in sets if runs.dataset != reference and runs.scores.ndim == 3 and runs.n_runs > 1]
    return [_row(runs, standards.get(_kin(runs)), seed) for runs in others if runs.n_checkpoints > 1]


def _kin(runs: Runs) -> tuple[str, str, str]:
    return runs.model, runs.condition, runs.train_set


def _row(runs: Runs, standard: Runs | None, seed: int) -> dict[str, Any]:
    row: dict[str, Any] = {"model": runs.model, "dataset": runs.dataset, "condition": runs.condition}
    if standard is None:
        return {**row, "reason": "this model has no runs on the reference"}
    if standard.scores.ndim != 3 or not _same_steps(runs, standard):
        return {**row, "reason": "its runs on the reference have other seeds or checkpoints"}
    column = next(iter(runs.groups), None)
    try:
        found = select_checkpoints(
            standard.scores,
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


def _same_steps(runs: Runs, standard: Runs) -> bool:
    if runs.checkpoints is None or standard.checkpoints is None:
        return False
    return runs.seeds.tolist() == standard.seeds.tolist() and runs.checkpoints.tolist() == standard.checkpoints.tolist()
