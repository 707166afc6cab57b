"""Runs of the whole input on the test part, a row a test example, at the end and from checkpoint to checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs.runs import Runs

# Checkpoints that a curve has, spread evenly from the first to the last, and runs that are read at each of them: what
# bounds the time and the memory of an audit whose runs were saved often.
MOST_CHECKPOINTS, MOST_RUNS = 8, 5
PROBABILITY, SCORE = "probability of the label", "score"


def runs_on_test(test: Dataset, sets: Sequence[RunSet]) -> Iterator[Runs]:
    """Of some sets of runs of the whole input each that answers every test example, in the order of these.

    Where they name the labels of the test part in another order, their codes are made those of the test part; where
    they name others, they keep their scores alone.
    """
    ids = test.examples["example_id"].cast(pl.String).to_list()
    for each in sets:
        if not each.is_comparable:
            continue
        runs = each.load()
        place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
        rows = [place[name] for name in ids if name in place]
        if len(rows) == len(ids):
            yield _with_labels(runs.take(rows), test.label_names)


def runs_on_most(test: Dataset, sets: Sequence[RunSet], least: float) -> tuple[NDArray[np.int64], Iterable[Runs]]:
    """The rows of the test part that are answered, ascending, and the sets of runs of the whole input on these.

    All rows where some set answers all. Else sets may lack rows, such as those that were rewritten since: taken are the
    rows that most sets answer, at least a share `least` of all, and the sets that answer just these, so that every
    score is of the same rows.
    """
    every = np.arange(len(test))
    if any(each.is_comparable for each in sets):
        return every, runs_on_test(test, sets)
    alike: dict[bytes, tuple[NDArray[np.int64], list[Runs]]] = {}
    for rows, own in runs_on_part(test, sets):
        if rows.size >= least * every.size:
            alike.setdefault(rows.tobytes(), (rows, []))[1].append(own)
    return max(alike.values(), key=lambda found: (len(found[1]), found[0].size), default=(every, []))


def runs_on_part(test: Dataset, sets: Sequence[RunSet]) -> Iterator[tuple[NDArray[np.int64], Runs]]:
    """Each set of runs of the whole input that lacks some test rows: those that it answers, and the runs on these."""
    ids = test.examples["example_id"].cast(pl.String).to_list()
    for each in sets:
        if not each.is_whole_input or each.is_complete:
            continue
        runs = each.load()
        place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
        rows = np.array([row for row, name in enumerate(ids) if name in place], dtype=np.int64)
        if rows.size:
            yield rows, _with_labels(runs.take([place[ids[row]] for row in rows.tolist()]), test.label_names)


def right_probabilities(runs: Runs) -> NDArray[np.float64] | None:
    """(R x T, N) probabilities of the right label; None without logits or labels."""
    if runs.logits is None or runs.gold is None:
        return None
    odds = np.exp(runs.logits.astype(np.float64) - runs.logits.max(axis=-1, keepdims=True))
    own = runs.gold.reshape((1,) * (odds.ndim - 2) + (runs.gold.size, 1))
    right = np.take_along_axis(odds / odds.sum(axis=-1, keepdims=True), own, axis=-1)
    return np.asarray(right.reshape(-1, runs.gold.size))


def _with_labels(runs: Runs, names: tuple[str, ...]) -> Runs:
    if runs.label_names == names:
        return runs
    if set(runs.label_names) != set(names):
        return replace(runs, predictions=None, logits=None)
    order = np.array([runs.label_names.index(name) for name in names])
    codes = np.argsort(order)
    return replace(
        runs,
        predictions=None if runs.predictions is None else codes[runs.predictions],
        gold=None if runs.gold is None else codes[runs.gold],
        logits=None if runs.logits is None else runs.logits[..., order],
        label_names=names,
    )


@dataclass(frozen=True)
class Curves:
    """Means over runs at checkpoints in common.

    Attributes:
        checkpoints: T names, in order.
        values: (T, N) means over runs of the right label's probability, or of the score.
        measure: Which of the two.
        spread: (N,) standard deviation of the probabilities over checkpoints and runs; None of scores.
        n_runs: How many runs.
        model: Whose they are.
    """

    checkpoints: tuple[str, ...]
    values: NDArray[np.float64]
    measure: str
    spread: NDArray[np.float64] | None
    n_runs: int
    model: str

    def to_frame(self) -> pl.DataFrame:
        """A row a checkpoint: what the lists of the table of examples are of."""
        return pl.DataFrame(
            {
                "checkpoint": pl.Series(list(self.checkpoints), dtype=pl.String),
                "model": [self.model] * len(self.checkpoints),
                "n_runs": [self.n_runs] * len(self.checkpoints),
                "measure": [self.measure] * len(self.checkpoints),
                "mean": self.values.mean(axis=1),
            }
        )


def curves_of_runs(test: Dataset, sets: Sequence[RunSet]) -> Curves | None:
    """Those of the first set of runs of the whole input with several checkpoints; None where there is none.

    One checkpoint is read after the other, so that no more is in memory than the audit has anyway.
    """
    for each in sets:
        if not each.is_comparable or len(steps := each.checkpoints_in_common()) < 2:
            continue
        places = np.unique(np.linspace(0, len(steps) - 1, MOST_CHECKPOINTS).round().astype(int))
        chosen = [steps[at] for at in places.tolist()]
        try:
            found = list(_read(test, each, chosen))
        except InputError:
            # What cannot be read at an earlier checkpoint was not asked for: the score is that of the last.
            continue
        if len(found) == len(chosen):
            return _joined(found, [str(step) for step in chosen], each.model)
    return None


def _read(
    test: Dataset, runs: RunSet, steps: list[int | str]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
    """(R, N) scores and probabilities of the right label at each of some checkpoints."""
    for step in steps:
        for loaded in runs_on_test(test, [runs.at(step, MOST_RUNS)]):
            yield loaded.final().scores, right_probabilities(loaded.final())


def _joined(
    found: list[tuple[NDArray[np.float64], NDArray[np.float64] | None]], steps: list[str], model: str
) -> Curves:
    likely = [each for _, each in found if each is not None]
    n_runs = found[0][0].shape[0]
    if len(likely) < len(found):
        return Curves(tuple(steps), np.stack([each.mean(axis=0) for each, _ in found]), SCORE, None, n_runs, model)
    values = np.stack([each.mean(axis=0) for each in likely])
    squares = np.stack([(each**2).mean(axis=0) for each in likely])
    spread = np.sqrt(np.maximum(squares.mean(axis=0) - values.mean(axis=0) ** 2, 0.0))
    return Curves(tuple(steps), values, PROBABILITY, spread, n_runs, model)
