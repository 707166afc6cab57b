from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.instability import decompose_by_group, decompose_variance, resample_groups, resample_scores

GROUPS = np.repeat(["a", "b", "c"], [30, 20, 10])


def scores(n_runs: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 0.2, (n_runs, 3)).repeat([30, 20, 10], axis=1)
    return (rng.random((n_runs, 60)) < np.clip(0.6 + level, 0, 1)).astype(float)


def test_over_runs_each_group_has_the_intervals_of_its_own_scores() -> None:
    values = scores()
    found = resample_groups(values, GROUPS)
    alone = resample_scores(values[:, GROUPS == "b"])
    assert (found.means[1].low, found.means[1].high) == pytest.approx((alone.mean.low, alone.mean.high))
    assert (found.sds[1].low, found.sds[1].high) == pytest.approx((alone.sd.low, alone.sd.high))
    line = stats.linregress(values.mean(axis=1), values[:, GROUPS == "b"].sum(axis=1) / 60)
    half = stats.t.ppf(0.975, 4) * line.stderr
    share = found.shares_of_variance[1]
    assert (share.low, share.high) == pytest.approx((line.slope - half, line.slope + half))


@pytest.mark.parametrize("over", ["runs", "examples"])
def test_intervals_hold_what_was_measured(over: str) -> None:
    values = scores(8, seed=4)
    plain, found = decompose_by_group(values, GROUPS), resample_groups(values, GROUPS, over)
    for name in ("means", "sds", "shares_of_variance"):
        for value, interval in zip(getattr(plain, name), getattr(found, name), strict=True):
            assert value in interval
    assert plain.within in found.within
    assert plain.between in found.between
    assert found.to_frame().columns == [
        "group", "mean_low", "mean_high", "sd_low", "sd_high", "share_low", "share_high"
    ]  # fmt: skip


def test_drawn_examples_leave_out_pairs_of_one_example_with_itself() -> None:
    """Draws are centered on the measure, as an example drawn twice would otherwise raise its group's share."""
    values = scores(12, seed=1)
    plain = decompose_by_group(values, GROUPS)
    found = resample_groups(values, GROUPS, "examples", level=0.01, n_draws=4000)
    medians = [(each.low + each.high) / 2 for each in found.shares_of_variance]
    assert medians == pytest.approx(plain.shares_of_variance, abs=0.05)
    assert (found.within.low + found.within.high) / 2 == pytest.approx(plain.within, abs=0.1 * plain.total)


def test_one_group_is_the_whole() -> None:
    values = scores()
    found = resample_groups(values, ["all"] * 60)
    assert (found.shares_of_variance[0].low, found.shares_of_variance[0].high) == pytest.approx((1, 1))
    whole = resample_scores(values)
    assert (found.within.low, found.within.high) == pytest.approx((whole.covariance.low, whole.covariance.high))
    assert decompose_variance(values).covariance in found.within


def test_few_runs_say_so() -> None:
    two = resample_groups(scores(2), GROUPS)
    assert "2 runs" in two.caveats[0]
    assert math.isnan(two.shares_of_variance[0].low)
    assert sum(two.skipped.values()) == 3
    assert not resample_groups(scores(), GROUPS).caveats


def test_nothing_varies() -> None:
    found = resample_groups(np.ones((4, 60)), GROUPS, "examples", n_draws=5)
    assert math.isnan(found.shares_of_variance[0].low)
    assert sum(found.skipped.values()) == 5


def test_fixed_by_its_seed() -> None:
    one, same, other = (
        resample_groups(scores(), GROUPS, "examples", seed=seed, n_draws=20).to_dict() for seed in (1, 1, 2)
    )
    assert one == same != other


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        resample_groups(scores(1), GROUPS)
    with pytest.raises(InputError, match="no resampling"):
        resample_groups(scores(), GROUPS, "models")
    with pytest.raises(InputError, match="level"):
        resample_groups(scores(), GROUPS, n_draws=0)
    with pytest.raises(InputError, match="one for each"):
        resample_groups(scores(), GROUPS[:3])
