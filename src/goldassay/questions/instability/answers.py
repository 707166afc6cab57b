"""What each run answers on each test example, and how sure it is: columns for the table of all examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.answers_on_test import right_probabilities, runs_on_part, runs_on_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.row_details.checkpoints import Curves
    from goldassay.runs import Runs

# More runs of an example than these are no strip that anybody reads, and a table that nobody opens.
MOST_RUNS = 100
SCHEMA = pl.Schema(
    {
        "run": pl.String(),
        "model": pl.String(),
        "seed": pl.String(),
        "n_answered": pl.Int64(),
        "answers_all": pl.Boolean(),
    }
)


@dataclass(frozen=True)
class RunAnswers:
    """What runs answer.

    Attributes:
        columns: For the table of examples, in its order; none where there are no runs.
        runs: A row a run, in the order of the lists of `columns`, those that answer every example first; None where
            there are none.
    """

    columns: dict[str, pl.Series] = field(default_factory=dict)
    runs: pl.DataFrame | None = None


def answers_of_runs(evidence: Evidence, curves: Curves | None = None) -> RunAnswers:
    """Columns of the runs of the whole input on the test part, in the order of its examples, and what runs these are.

    Of runs that answer every example: `runs_scores` and `runs_answers` (lists, a value a run), `runs_right` (mean
    score), `runs` (all right, differ, all wrong), and where runs have logits `confidence` and `variability`: mean and
    standard deviation of the right label's probability, over checkpoints where there are several, else over runs
    (Swayamdipta et al. 2020); and where there are several, `runs_over_checkpoints`, a list of means over runs. Of runs
    that lack some examples `partial_scores` and `partial_answers`, lists with null where a run has no answer. Lists are
    of the first `MOST_RUNS` runs.

    Args:
        evidence: The runs.
        curves: The same runs at several checkpoints.
    """
    n = len(evidence.test)
    found: dict[str, pl.Series] = {}
    likely, whole = [], []
    for runs in runs_on_test(evidence):
        whole.append(runs.final())
        if (right := right_probabilities(runs)) is not None:
            likely.append(right)
    if whole:
        together = np.concatenate([each.scores for each in whole]).astype(np.float32)
        mean = together.mean(axis=0)
        kinds = np.where(mean == 1, "all right", np.where(mean == 0, "all wrong", "differ"))
        found["runs"] = pl.Series(kinds.tolist(), dtype=pl.String)
        found["runs_right"] = pl.Series(mean.astype(np.float64))
        found["runs_scores"] = _lists(together[:MOST_RUNS], pl.Float32)
        found["runs_answers"] = _lists(np.concatenate(list(map(_named, whole)))[:MOST_RUNS], pl.String)
        if curves is not None:
            found["runs_over_checkpoints"] = _lists(curves.values.astype(np.float32), pl.Float32)
        if curves is not None and curves.spread is not None:
            found["confidence"] = pl.Series(curves.values.mean(axis=0))
            found["variability"] = pl.Series(curves.spread)
        elif likely:
            right = np.concatenate(likely)
            found["confidence"] = pl.Series(right.mean(axis=0))
            found["variability"] = pl.Series(right.std(axis=0))
    part = [(rows, runs.final()) for rows, runs in runs_on_part(evidence)]
    if part:
        scores = np.concatenate([_spread(runs.scores.astype(np.float32), rows, n) for rows, runs in part])
        answers = np.concatenate([_spread(_named(runs), rows, n) for rows, runs in part])
        found["partial_scores"] = _lists(scores[:MOST_RUNS], pl.Float32)
        found["partial_answers"] = _lists(answers[:MOST_RUNS], pl.String)
    sets = [*((n, runs) for runs in whole), *((rows.size, runs) for rows, runs in part)]
    return RunAnswers(found, _describe(sets, n) if sets else None)


def _spread(values: NDArray[Any], rows: NDArray[np.int64], n: int) -> NDArray[Any]:
    """(R, M) values of some rows as (R, n) values of all, None where a row has none."""
    found = np.full((values.shape[0], n), None, dtype=object)
    found[:, rows] = values
    return found


def _lists(values: NDArray[Any], kind: type[pl.DataType]) -> pl.Series:
    """(R, N) values as a list a column."""
    return pl.Series(values.T.tolist(), dtype=pl.List(kind))


def _describe(sets: Iterable[tuple[int, Runs]], n: int) -> pl.DataFrame:
    """A row a run, under a name that no other one has."""
    rows = [
        (_name(runs.model, str(seed)) if runs.n_runs > 1 else runs.model, runs.dataset, runs.model, str(seed), answered)
        for answered, runs in sets
        for seed in runs.seeds.tolist()
    ]
    # Two files may hold runs of one model on these examples, each with a name for them.
    several = Counter(name for name, *_ in rows)
    names = [f"{name} on {dataset}" if several[name] > 1 else name for name, dataset, *_ in rows]
    for at, name in enumerate(names):
        n_before = 1
        while names[at] in names[:at]:
            n_before += 1
            names[at] = f"{name} ({n_before})"
    return pl.DataFrame(
        [(name, model, seed, answered, answered == n) for name, (_, _, model, seed, answered) in zip(names, rows,
         strict=True)],
        schema=SCHEMA, orient="row",
    )  # fmt: skip


def _name(model: str, seed: str) -> str:
    # A run without a number goes by the name of its file.
    return f"{model} seed {seed}" if seed.isdecimal() else f"{model} {seed}"


def _named(runs: Runs) -> NDArray[Any]:
    """(R, N) names of the labels that were predicted; None where a run has scores alone."""
    if runs.predictions is None:
        return np.full(runs.scores.shape, None, dtype=object)
    return np.array([*runs.label_names, None], dtype=object)[runs.predictions]
