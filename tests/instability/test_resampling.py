from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.instability import decompose_variance, resample_scores
from goldassay.questions.instability.measures.intervals import _draw_examples, _draw_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]


def scores(n_runs: int = 6, n_examples: int = 40, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 0.1, (n_runs, 1))
    return (rng.random((n_runs, n_examples)) < np.clip(0.6 + level, 0, 1)).astype(float)


def test_drawn_runs_equal_the_measure_on_them() -> None:
    values = scores()
    mean, total, independent = _draw_runs(values, 20, np.random.default_rng(3))
    counts = np.random.default_rng(3).multinomial(6, np.full(6, 1 / 6), 20)
    for draw, count in enumerate(counts):
        drawn = np.repeat(values, count, axis=0)
        plain = decompose_variance(drawn)
        assert mean[draw] == pytest.approx(drawn.mean())
        assert total[draw] == pytest.approx(plain.total * 6 / 5, abs=1e-12)
        assert independent[draw] == pytest.approx(plain.independent * 6 / 5, abs=1e-12)


def test_drawn_examples_leave_out_pairs_of_one_example_with_itself() -> None:
    values = scores(n_examples=9)
    mean, total, independent = _draw_examples(values, 20, np.random.default_rng(3))
    picked = np.random.default_rng(3).integers(0, 9, (20, 9))
    for draw, rows in enumerate(picked):
        drawn = values[:, rows]
        matrix = np.cov(drawn.T)
        other = rows[:, None] != rows[None]
        assert mean[draw] == pytest.approx(drawn.mean())
        assert independent[draw] == pytest.approx(np.trace(matrix) / 81)
        assert total[draw] == pytest.approx((np.trace(matrix) + (matrix * other).sum()) / 81)


@pytest.mark.parametrize("over", ["runs", "examples"])
def test_draws_are_centered_on_the_measure(over: str) -> None:
    values = scores(12, 200)
    draw = {"runs": _draw_runs, "examples": _draw_examples}[over]
    _, total, independent = draw(values, 4000, np.random.default_rng(0))
    plain = decompose_variance(values)
    assert total.mean() == pytest.approx(plain.total, rel=0.05)
    assert independent.mean() == pytest.approx(plain.independent, rel=0.05)


def test_intervals_of_the_published_runs(bert_scores: Scores) -> None:
    values = bert_scores("hans")
    plain = decompose_variance(values)
    for over in ("runs", "examples"):
        found = resample_scores(values, over, n_draws=200)
        assert found.mean.low < values.mean() < found.mean.high
        assert found.design_effect.low < plain.design_effect < found.design_effect.high
        assert found.effective_size.low < plain.effective_size < found.effective_size.high
    assert found.to_frame()["figure"].to_list()[0] == "mean"


def test_fixed_by_its_seed_and_said_of_few_runs() -> None:
    one, same, other = (resample_scores(scores(5), "examples", seed=seed, n_draws=50).to_dict() for seed in (1, 1, 2))
    assert one == same != other
    assert "5 runs" in one["caveats"][0]
    assert not resample_scores(scores(6)).caveats
    assert "covers less" in resample_scores(scores(6), method="bootstrap").caveats[0]


def test_over_runs_the_mean_and_the_deviation_have_the_intervals_of_normal_theory() -> None:
    values = scores()
    means = values.mean(axis=1)
    found = resample_scores(values, level=0.9)
    assert (found.mean.low, found.mean.high) == pytest.approx(stats.t.interval(0.9, 5, means.mean(), stats.sem(means)))
    low, high = stats.chi2.ppf([0.95, 0.05], 5)
    assert found.total.low == pytest.approx(means.var(ddof=1) * 5 / low)
    assert found.sd.high == pytest.approx(means.std(ddof=1) * np.sqrt(5 / high))
    assert set(found.to_frame()["method"]) == {"Student t", "chi-square", "jackknife", "chi-square and jackknife"}


def test_two_runs_leave_the_independent_part_open() -> None:
    found = resample_scores(scores(2))
    assert np.isnan(found.independent.low)
    assert found.skipped
    assert found.total.low / found.design_effect.low == pytest.approx(found.total.high / found.design_effect.high)


def test_clusters_of_one_example_are_examples() -> None:
    values = scores(n_examples=12)
    plain = resample_scores(values, "examples", n_draws=40)
    clustered = resample_scores(values, "examples", clusters=[f"{i:02}" for i in range(12)], n_draws=40)
    for name in ("mean", "sd", "independent", "design_effect"):
        one, other = getattr(plain, name), getattr(clustered, name)
        assert (one.low, one.high) == pytest.approx((other.low, other.high)), name
    assert clustered.n_clusters == 12
    assert "12 clusters" in clustered.caveats[0]


def test_drawn_clusters_equal_the_measure_on_them() -> None:
    values = scores(n_examples=8)
    codes = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    mean, total, independent = _draw_examples(values, 30, np.random.default_rng(3), codes)
    picked = np.random.default_rng(3).integers(0, 3, (30, 3))
    for draw, clusters in enumerate(picked):
        rows = np.concatenate([np.flatnonzero(codes == code) for code in clusters])
        place = np.repeat(np.arange(3), [(codes == code).sum() for code in clusters])
        matrix = np.cov(values[:, rows].T)
        # Two copies of a cluster are two draws of one thing: their covariance is left out.
        kept = (codes[rows][:, None] != codes[rows][None]) | (place[:, None] == place[None])
        assert mean[draw] == pytest.approx(values[:, rows].mean())
        assert independent[draw] == pytest.approx(np.trace(matrix) / len(rows) ** 2)
        assert total[draw] == pytest.approx((matrix * kept).sum() / len(rows) ** 2)


def test_nothing_varies() -> None:
    assert resample_scores(np.ones((3, 4))).sd.high == 0
    found = resample_scores(np.ones((3, 4)), method="bootstrap", n_draws=10)
    assert (found.sd.low, found.sd.high) == (0, 0)
    assert np.isnan(found.design_effect.low)
    assert sum(found.skipped.values()) == 10


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        resample_scores([[1, 0]])
    with pytest.raises(InputError, match="no resampling"):
        resample_scores(scores(), "models")
    with pytest.raises(InputError, match="no method"):
        resample_scores(scores(), method="other")
    with pytest.raises(InputError, match="one cluster"):
        resample_scores(scores(), "examples", clusters=["x"] * 40)
    with pytest.raises(InputError, match="level"):
        resample_scores(scores(), level=1.0)
