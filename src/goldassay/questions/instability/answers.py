"""What each run answers on each test example, and how sure it is: columns for the table of all examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.answers_on_test import right_probabilities, runs_on_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.row_details.checkpoints import Curves
    from goldassay.runs import Runs

# More runs of an example than these are no strip that anybody reads, and a table that nobody opens.
MOST_RUNS = 100


def answers_of_runs(evidence: Evidence, curves: Curves | None = None) -> dict[str, pl.Series]:
    """Columns of the runs of the whole input on the test part, in the order of its examples.

    `runs_scores` and `runs_answers` (lists, a value a run), `runs_right` (mean score), `runs` (all right, differ, all
    wrong), and where runs have logits `confidence` and `variability`: mean and standard deviation of the right label's
    probability, over checkpoints where there are several, else over runs (Swayamdipta et al. 2020); and where there are
    several, `runs_over_checkpoints`, a list of means over runs. None where no run answers every example.

    Args:
        evidence: The runs.
        curves: The same runs at several checkpoints.
    """
    scores, answers, likely = [], [], []
    for runs in runs_on_test(evidence):
        final = runs.final()
        scores.append(final.scores)
        answers.append(_named(final))
        if (right := right_probabilities(runs)) is not None:
            likely.append(right)
    if not scores:
        return {}
    together = np.concatenate(scores)[:MOST_RUNS].astype(np.float32)
    named = np.concatenate(answers)[:MOST_RUNS]
    mean = together.mean(axis=0)
    kinds = np.where(mean == 1, "all right", np.where(mean == 0, "all wrong", "differ"))
    found = {
        "runs": pl.Series(kinds.tolist(), dtype=pl.String),
        "runs_right": pl.Series(mean.astype(np.float64)),
        "runs_scores": pl.Series(together.T.tolist(), dtype=pl.List(pl.Float32)),
        "runs_answers": pl.Series(named.T.tolist(), dtype=pl.List(pl.String)),
    }
    if curves is not None:
        means = curves.values.T.astype(np.float32).tolist()
        found["runs_over_checkpoints"] = pl.Series(means, dtype=pl.List(pl.Float32))
    if curves is not None and curves.spread is not None:
        found["confidence"] = pl.Series(curves.values.mean(axis=0))
        found["variability"] = pl.Series(curves.spread)
    elif likely:
        right = np.concatenate(likely)
        found["confidence"] = pl.Series(right.mean(axis=0))
        found["variability"] = pl.Series(right.std(axis=0))
    return found


def _named(runs: Runs) -> NDArray[Any]:
    """(R, N) names of the labels that were predicted; None where a run has scores alone."""
    if runs.predictions is None:
        return np.full(runs.scores.shape, None, dtype=object)
    return np.array([*runs.label_names, None], dtype=object)[runs.predictions]
