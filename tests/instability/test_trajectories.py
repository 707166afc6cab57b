from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.instability import trajectories


def test_mean_band_and_one_run() -> None:
    scores = np.array([[0.5, 0.6, 0.9], [0.7, 0.6, 0.5]])
    found = trajectories(scores, checkpoints=[500, 1000, 1500], run=1)
    frame = found.to_frame()
    assert frame.columns == ["t", "mean", "low", "high", "run"]
    assert frame["t"].to_list() == [500, 1000, 1500]
    assert frame["mean"].to_list() == pytest.approx([0.6, 0.6, 0.7])
    sd = scores.std(axis=0, ddof=1)
    assert frame["low"].to_list() == pytest.approx(scores.mean(axis=0) - sd)
    assert frame["high"].to_list() == pytest.approx(scores.mean(axis=0) + sd)
    assert frame["run"].to_list() == pytest.approx([0.7, 0.6, 0.5])
    assert found.largest_changes == pytest.approx([0.3, -0.1])
    assert found.largest_change_at.tolist() == [2, 1]


def test_examples_are_averaged() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (3, 4, 5))
    assert trajectories(scores).mean == pytest.approx(scores.mean(axis=(0, 2)))


def test_one_run_has_no_band() -> None:
    found = trajectories([[0.1, 0.2]])
    assert found.sd is None
    assert found.to_frame()["low"].to_list() == [None, None]


def test_one_checkpoint_has_no_change() -> None:
    found = trajectories([[0.1], [0.3]])
    assert np.isnan(found.largest_changes).all()
    assert found.skipped


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no run 2"):
        trajectories([[0.1], [0.3]], run=2)
    with pytest.raises(InputError, match="checkpoints"):
        trajectories([[0.1], [0.3]], checkpoints=[1, 2])


def test_the_mean_has_its_own_interval() -> None:
    scores = np.random.default_rng(0).random((5, 3))
    found = trajectories(scores)
    low, high = stats.t.interval(0.95, 4, scores.mean(axis=0), stats.sem(scores))
    assert found.mean_low == pytest.approx(low)
    assert found.mean_high == pytest.approx(high)
    assert "5 runs" in found.caveats[0]
    assert trajectories([[0.1, 0.2]]).mean_low is None
