from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import correlate_datasets, correlate_final_scores

if TYPE_CHECKING:
    from pathlib import Path


def test_hand_example() -> None:
    found = correlate_datasets({"a": [[0.5, 0.6, 0.7, 0.65]], "b": [[0.1, 0.3, 0.2, 0.4]]})
    assert found.names == ("a", "b")
    assert found.values == pytest.approx(np.array([[1, 0.4], [0.4, 1]]))
    assert found.n_runs_used.tolist() == [[1, 1], [1, 1]]
    assert found.to_frame().rows() == [("a", "b", pytest.approx(0.4), -1.0, 1.0, 1)]


def test_interval_of_the_mean_over_runs_is_students() -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(6, 30))
    one, other = common + rng.normal(size=(6, 30)), common + rng.normal(size=(6, 30))
    found = correlate_datasets({"a": one, "b": other})
    per_run = [stats.spearmanr(x, y).statistic for x, y in zip(one, other, strict=True)]
    expected = stats.t.interval(0.95, 5, np.mean(per_run), stats.sem(per_run))
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx(expected)
    assert found.low[0, 0] == found.high[0, 0] == 1
    assert "5 runs" in correlate_datasets({"a": one[:5], "b": other[:5]}).caveats[0]


def test_interval_of_a_rank_correlation_over_runs() -> None:
    one, other = np.arange(12.0), np.array([2, 1, 0, 4, 3, 6, 5, 8, 7, 10, 11, 9.0])
    found = correlate_final_scores({"a": one, "b": other, "c": one})
    r = stats.spearmanr(one, other).statistic
    half = stats.norm.ppf(0.975) * math.sqrt((1 + r**2 / 2) / 9)
    assert found.low[0, 1] == pytest.approx(math.tanh(math.atanh(r) - half))
    assert found.high[0, 1] == pytest.approx(math.tanh(math.atanh(r) + half))
    assert found.low[0, 2] < 1 == found.high[0, 2]
    few = correlate_final_scores({"a": one[:3], "b": other[:3]})
    assert (few.low[0, 1], few.high[0, 1]) == (-1, 1)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.just(3), st.integers(1, 4), st.integers(2, 7)),
        elements=st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.9]),
    )
)
@pytest.mark.filterwarnings("ignore::goldassay.core.errors.UndefinedMeasureWarning")
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_is_the_mean_over_runs_of_scipys(scores: np.ndarray) -> None:
    found = correlate_datasets(dict(zip("abc", scores, strict=True)))
    for i in range(3):
        for j in range(3):
            per_run = [stats.spearmanr(x, y).statistic for x, y in zip(scores[i], scores[j], strict=True)]
            defined = [value for value in per_run if not np.isnan(value)]
            assert found.n_runs_used[i, j] == len(defined)
            if defined:
                assert found.values[i, j] == pytest.approx(np.mean(defined), abs=1e-12)
            else:
                assert np.isnan(found.values[i, j])


def test_monotone_transforms_change_nothing() -> None:
    scores = np.random.default_rng(0).random((2, 3, 9))
    plain = correlate_datasets({"a": scores[0], "b": scores[1]}).values
    assert correlate_datasets({"a": np.exp(scores[0]), "b": scores[1] ** 3}).values == pytest.approx(plain)


def test_runs_are_not_pooled() -> None:
    # Within each run the two go against each other; over all runs they go together, by level.
    level = np.array([[0.0], [10.0], [20.0]])
    up = np.array([1.0, 2.0, 3.0]) + level
    down = np.array([3.0, 2.0, 1.0]) + level
    assert correlate_datasets({"a": up, "b": down}).values[0, 1] == pytest.approx(-1)
    assert stats.spearmanr(up.ravel(), down.ravel()).statistic > 0.5


def test_constant_runs_are_left_out_and_counted() -> None:
    a = [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5]]
    b = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]
    found = correlate_datasets({"a": a, "b": b})
    assert found.values[0, 1] == pytest.approx(1)
    assert found.n_runs_used.tolist() == [[1, 1], [1, 2]]
    with pytest.warns(UndefinedMeasureWarning, match="never changes"):
        found = correlate_datasets({"a": a[1:], "b": b[1:]})
    assert np.isnan(found.values[0]).all()
    assert found.values[1, 1] == 1
    assert sum(found.skipped.values()) == 2


def test_final_scores_of_a_hundred_runs(data_dir: Path) -> None:
    path = data_dir / "predictions/berts_of_a_feather/accuracies_by_run.csv"
    frame = pl.read_csv(path, infer_schema=False).filter(pl.col("Run").str.starts_with("Run "))
    scores = {name: frame[name].cast(pl.Float64).to_numpy() for name in ("MNLI dev acc.", "Overall accuracy")}
    found = correlate_final_scores(scores)
    assert found.values[0, 1] == pytest.approx(0.36263, abs=5e-6)
    assert found.n_runs_used[0, 1] == 100


@pytest.mark.parametrize("scores", [{}, {"a": [[0.1, 0.2]], "b": [[0.1, 0.2, 0.3]]}, {"a": [[np.nan, 1]]}])
def test_bad_input(scores: dict[str, list[list[float]]]) -> None:
    with pytest.raises(InputError):
        correlate_datasets(scores)
