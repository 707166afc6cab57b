from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.errors import InputError
from goldassay.instability import decompose_variance, resample_scores
from goldassay.instability.resampling import _draw_examples, _draw_runs

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
    assert found.to_frame()["figure"].to_list()[0] == "mean"


def test_fixed_by_its_seed_and_said_of_few_runs() -> None:
    one, same, other = (resample_scores(scores(), seed=seed, n_draws=50).to_dict() for seed in (1, 1, 2))
    assert one == same != other
    assert "6 runs" in one["caveats"][0]


def test_nothing_varies() -> None:
    found = resample_scores(np.ones((3, 4)), n_draws=10)
    assert (found.sd.low, found.sd.high) == (0, 0)
    assert np.isnan(found.design_effect.low)
    assert sum(found.skipped.values()) == 10


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        resample_scores([[1, 0]])
    with pytest.raises(InputError, match="no resampling"):
        resample_scores(scores(), "models")
    with pytest.raises(InputError, match="level"):
        resample_scores(scores(), level=1.0)
