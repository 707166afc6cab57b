"""What each run answers on each test example, and how sure it is: columns for the table of all examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs import Runs

# More runs of an example than these are no strip that anybody reads, and a table that nobody opens.
MOST_RUNS = 100


def answers_of_runs(evidence: Evidence) -> dict[str, pl.Series]:
    """Columns of the runs of the whole input on the test part, in the order of its examples.

    `runs_scores` and `runs_answers` (lists, a value a run), `runs_right` (mean score), `runs` (all right, differ, all
    wrong), and where runs have logits `confidence` and `variability`: mean and standard deviation of the right label's
    probability, over checkpoints where there are several, else over runs (Swayamdipta et al. 2020). None where no run
    answers every example.
    """
    ids = evidence.test.examples["example_id"].cast(pl.String).to_list()
    scores, answers, likely = [], [], []
    for each in evidence.run_sets:
        if not each.is_comparable or each.dataset != evidence.test.name:
            continue
        loaded = _in_order(each, ids)
        if loaded is None:
            continue
        final = loaded.final()
        scores.append(final.scores)
        answers.append(_named(final))
        likely += list(_right_probabilities(loaded))
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
    if likely:
        right = np.concatenate(likely)
        found["confidence"] = pl.Series(right.mean(axis=0))
        found["variability"] = pl.Series(right.std(axis=0))
    return found


def _in_order(runs_set: RunSet, ids: list[str]) -> Runs | None:
    runs = runs_set.load()
    place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
    at = [place[name] for name in ids if name in place]
    return runs.take(at) if len(at) == len(ids) else None


def _named(runs: Runs) -> np.ndarray:
    """(R, N) names of the labels that were predicted; None where a run has scores alone."""
    if runs.predictions is None:
        return np.full(runs.scores.shape, None, dtype=object)
    return np.array(runs.label_names, dtype=object)[runs.predictions]


def _right_probabilities(runs: Runs) -> Iterator[np.ndarray]:
    """(R x T, N) probabilities of the right label."""
    if runs.logits is None or runs.gold is None:
        return
    shifted = runs.logits.astype(np.float64) - runs.logits.max(axis=-1, keepdims=True)
    odds = np.exp(shifted)
    right = np.take_along_axis(odds / odds.sum(axis=-1, keepdims=True), _spread(runs.gold, odds.ndim), axis=-1)
    yield right.reshape(-1, runs.gold.size)


def _spread(gold: np.ndarray, n_axes: int) -> np.ndarray:
    return gold.reshape((1,) * (n_axes - 2) + (gold.size, 1))
