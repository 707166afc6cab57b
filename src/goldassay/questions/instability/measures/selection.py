"""Which dev set should choose the checkpoint: the standard one, or a part of the analysis set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores
from goldassay.stats.intervals import Interval, few_runs_caveat, mean_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class CheckpointSelection(Result):
    """Scores on the held-out part of an analysis set, by what chose the checkpoint.

    Arrays (S, R) hold a value for each split and run. Means and deviations over runs are averaged over splits.

    Attributes:
        standard_mean: Checkpoint chosen on the standard dev set.
        standard_sd: Standard deviation over runs.
        analysis_mean: Checkpoint chosen on the dev part of the analysis set.
        analysis_sd: Standard deviation over runs.
        gain: analysis_mean - standard_mean: what choosing on the analysis set itself is worth.
        standard_interval: 95 % interval of standard_mean over runs (Student t), as are the next two.
        analysis_interval: Of analysis_mean.
        gain_interval: Of gain, run by run.
        standard_scores: (S, R).
        analysis_scores: (S, R).
        standard_choices: Position of the checkpoint, (S, R).
        analysis_choices: (S, R).
        standard_dev_scores: Score on the dev part of the analysis set of the checkpoint the standard set chose, (S, R).
        analysis_dev_scores: The same for the checkpoint chosen there, (S, R); never lower.
        n_splits: S.
        n_runs: R.
        n_checkpoints: T.
        n_examples: N of the analysis set.
        n_dev: Examples in its dev part.
        ddof: Of the deviations.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    standard_mean: float
    standard_sd: float
    analysis_mean: float
    analysis_sd: float
    gain: float
    standard_interval: Interval
    analysis_interval: Interval
    gain_interval: Interval
    standard_scores: NDArray[np.float64]
    analysis_scores: NDArray[np.float64]
    standard_choices: NDArray[np.int64]
    analysis_choices: NDArray[np.int64]
    standard_dev_scores: NDArray[np.float64]
    analysis_dev_scores: NDArray[np.float64]
    n_splits: int
    n_runs: int
    n_checkpoints: int
    n_examples: int
    n_dev: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a rule: chosen_on, mean, sd."""
        return pl.DataFrame(
            {
                "chosen_on": ["standard dev set", "dev part of the analysis set"],
                "mean": [self.standard_mean, self.analysis_mean],
                "sd": [self.standard_sd, self.analysis_sd],
            }
        )


def select_checkpoints(
    standard: ArrayLike,
    analysis: ArrayLike,
    gold: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    dev_share: float = 0.8,
    n_splits: int = 1,
    seed: int = 0,
) -> CheckpointSelection:
    """Split the analysis set, choose each run's checkpoint in two ways, and score both on the held-out part.

    The split takes `dev_share` of each group, or of each gold label, or of all, at random. Of checkpoints with equal
    scores the earliest is chosen.

    Args:
        standard: Scores on the standard dev set, (R, T) or (R, T, N_standard).
        analysis: Scores on the analysis set, (R, T, N).
        gold: (N,) labels to stratify the split by, where no groups are given.
        groups: (N,) group names to stratify by.
        dev_share: Share of the dev part, in (0, 1).
        n_splits: How many splits to average over.
        seed: Of the splits.

    Raises:
        InputError: There are fewer than 2 runs, shapes do not fit, scores are not finite, or a part would be empty.

    Source: Zhou, Nie, Tan and Bansal 2020, Table 6; how to split and to break ties is not stated there.
    """
    values = as_scores(analysis, ndim=3, min_runs=2)
    n_runs, n_checkpoints, n_examples = values.shape
    array = np.asarray(standard)
    reference = as_scores(array, ndim=3).mean(axis=2) if array.ndim == 3 else as_scores(array)
    if reference.shape != (n_runs, n_checkpoints):
        raise InputError(
            f"the standard set has {reference.shape} runs and checkpoints, the analysis set {(n_runs, n_checkpoints)}",
            mend="give the same runs and checkpoints for both",
        )
    if not 0 < dev_share < 1 or n_splits < 1:
        raise InputError(
            f"dev_share is {dev_share}, n_splits {n_splits}", mend="give a share in (0, 1), 1 split or more"
        )
    strata = groups if groups is not None else gold
    codes = np.zeros(n_examples, dtype=np.int64) if strata is None else _codes(strata, n_examples)
    chosen_standard = reference.argmax(axis=1)
    rng = np.random.default_rng(seed)
    runs = np.arange(n_runs)
    parts: dict[str, list[NDArray[np.float64]]] = {
        "standard": [],
        "analysis": [],
        "standard_dev": [],
        "analysis_dev": [],
    }
    choices: list[NDArray[np.int64]] = []
    for _ in range(n_splits):
        dev = _draw(codes, dev_share, rng)
        on_dev, on_test = values[:, :, dev].mean(axis=2), values[:, :, ~dev].mean(axis=2)
        chosen = on_dev.argmax(axis=1)
        choices.append(chosen)
        parts["standard"].append(on_test[runs, chosen_standard])
        parts["analysis"].append(on_test[runs, chosen])
        parts["standard_dev"].append(on_dev[runs, chosen_standard])
        parts["analysis_dev"].append(on_dev[runs, chosen])
    stacked = {name: np.stack(rows) for name, rows in parts.items()}
    by_run = {name: stacked[name].mean(axis=0) for name in ("standard", "analysis")}
    return CheckpointSelection(
        standard_mean=float(stacked["standard"].mean()),
        standard_sd=float(stacked["standard"].std(axis=1, ddof=1).mean()),
        analysis_mean=float(stacked["analysis"].mean()),
        analysis_sd=float(stacked["analysis"].std(axis=1, ddof=1).mean()),
        gain=float(by_run["analysis"].mean() - by_run["standard"].mean()),
        standard_interval=mean_interval(by_run["standard"]),
        analysis_interval=mean_interval(by_run["analysis"]),
        gain_interval=mean_interval(by_run["analysis"] - by_run["standard"]),
        standard_scores=stacked["standard"],
        analysis_scores=stacked["analysis"],
        standard_choices=np.tile(chosen_standard, (n_splits, 1)),
        analysis_choices=np.stack(choices),
        standard_dev_scores=stacked["standard_dev"],
        analysis_dev_scores=stacked["analysis_dev"],
        n_splits=n_splits,
        n_runs=n_runs,
        n_checkpoints=n_checkpoints,
        n_examples=n_examples,
        n_dev=int(dev.sum()),
        caveats=few_runs_caveat(n_runs) + _alike(by_run["analysis"] - by_run["standard"]),
    )


def _alike(gains: NDArray[np.float64]) -> tuple[str, ...]:
    """Gains of mostly 0 are far from normal, and few of them hide the others."""
    alike = int((gains == 0).sum())
    if 2 * alike < gains.size:
        return ()
    return (
        f"In {alike} of {gains.size} runs nothing is gained by either rule over the other: the gain's interval is too "
        "narrow.",
    )


def _codes(strata: ArrayLike, n_examples: int) -> NDArray[np.int64]:
    names = np.asarray(strata)
    if names.shape != (n_examples,):
        raise InputError(
            f"what to stratify by has shape {names.shape}", mend=f"give one for each of {n_examples} examples"
        )
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _draw(codes: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A mask of the dev part: the share of each stratum, rounded so that the whole has it too."""
    dev = np.zeros(len(codes), dtype=bool)
    taken = wanted = 0.0
    for code in range(int(codes.max()) + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        wanted += share * len(members)
        size = min(len(members), round(wanted - taken))
        dev[members[:size]] = True
        taken += size
    if dev.all() or not dev.any():
        raise InputError(
            f"a share of {share} of {len(codes)} examples leaves one part empty", mend="give more examples"
        )
    return dev
