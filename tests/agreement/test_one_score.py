"""The mean score of runs on a test set has one interval, whichever question shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.leakage import single_sentence_report
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.subsets import classify
from goldassay.shift import generalization_gap
from goldassay.stats.bootstrap import score_interval
from goldassay.stats.clusters import cluster_codes
from goldassay.stats.subsets import accuracy_by_subset

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = 80


def scores_of(n_runs: int, *, graded: bool) -> NDArray[np.float64]:
    rng = np.random.default_rng(n_runs)
    found = np.clip(rng.normal(0.7, 0.05, (n_runs, 1)) + rng.normal(0, 0.3, N), 0, 1)
    return found if graded else (found > rng.random((n_runs, N))).astype(np.float64)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("n_runs", [1, 2, 5])
def test_every_measure_gives_it_the_same_interval(n_runs: int, graded: bool, clustered: bool, seed: int) -> None:
    scores = scores_of(n_runs, graded=graded)
    clusters = np.array([f"premise {i % 27}" for i in range(N)]) if clustered else None
    expected = score_interval(scores, cluster_codes(clusters, N), seed=seed)
    bounds = (expected.low, expected.high)
    assert 0 <= bounds[0] < scores.mean() < bounds[1] <= 1
    other = scores_of(3, graded=False)[:, ::-1]
    gold = np.arange(N) % 3

    parts = single_sentence_report({"premise_only": other, "paired": scores}, gold, clusters=clusters, seed=seed)
    assert (parts["paired"].accuracy_low, parts["paired"].accuracy_high) == pytest.approx(bounds, rel=1e-12)

    named = {} if clusters is None else {"own": clusters, "far": clusters}
    sets = {"far": 1 - scores, "own": scores}
    gaps = generalization_gap(sets, "far", clusters=named, metric="f1" if graded else "accuracy", seed=seed)
    assert (gaps["own"].low, gaps["own"].high) == pytest.approx(bounds, rel=1e-12)

    easy = np.arange(N) < 30
    masks = {"full": np.ones(N, bool), "easy": easy, "hard": ~easy}
    subsets = accuracy_by_subset(scores, masks, clusters=clusters, seed=seed)
    assert (subsets["full"].low, subsets["full"].high) == pytest.approx(bounds, rel=1e-12)


def test_classifiers_of_artifacts_have_the_interval_of_the_leakage() -> None:
    """The n-grams of `artifacts classify` are the quick probe of `leakage measure`: one accuracy, one interval."""
    words = [f"word{number}" for number in range(40)]
    rng = np.random.default_rng(0)

    def part(n: int, name: str) -> goldassay.Dataset:
        # 27 premises: clusters whose codes sort otherwise as numbers than as texts.
        rows = [
            {
                "premise": f"one of {number % 27} premises",
                "hypothesis": " ".join([*rng.choice(words, 4), "not" if number % 2 and number % 5 else "so"]),
                "label": "ab"[number % 2],
            }
            for number in range(n)
        ]
        return goldassay.Dataset.from_frame(rows, name=name)

    train, test = part(300, "train"), part(135, "test")
    seed = 3
    found = classify(train, test, Bounds(min_count=5, clusters="premise"), range(seed, seed + 2), seed=seed).table
    (row,) = found.filter(pl.col("classifier") == "n-grams").to_dicts()
    report = goldassay.measure_leakage(train, test, seeds=2, seed=seed, clusters="premise", plane=False, n_clusters=4)
    conditions = {each["condition"]: each for each in report.to_dict()["leakage"]["conditions"]}
    alone = conditions["hypothesis_only"]
    assert row["accuracy"] == alone["accuracy"]
    assert (row["low"], row["high"]) == (alone["accuracy_low"], alone["accuracy_high"])
