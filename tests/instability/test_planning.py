from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.instability import plan_seeds, seeds_needed, smallest_difference


@pytest.mark.parametrize(("sd", "difference", "n"), [(0.24, 0.5, 4), (1.51, 1, 36), (0.24, 0.2, 23), (0.01, 1, 2)])
def test_known_numbers(sd: float, difference: float, n: int) -> None:
    assert seeds_needed(sd, difference) == n
    assert seeds_needed(sd, -difference) == n


def test_power_is_what_was_asked_for() -> None:
    n = seeds_needed(1.0, 0.9, power=0.8)
    rng = np.random.default_rng(0)
    means = rng.normal(0, 1, (20_000, n)).mean(1) - rng.normal(0.9, 1, (20_000, n)).mean(1)
    assert (np.abs(means) > 1.959964 * np.sqrt(2 / n)).mean() == pytest.approx(0.8, abs=0.03)


@given(st.floats(0.01, 5), st.integers(2, 200), st.floats(0.5, 0.99))
def test_the_smallest_difference_is_the_inverse(sd: float, n: int, power: float) -> None:
    difference = smallest_difference(sd, n, power)
    assert seeds_needed(sd, difference * (1 + 1e-9), power) <= n
    assert seeds_needed(sd, difference * (1 - 1e-9), power) >= n


def test_a_plan_covers_the_uncertainty_of_the_deviation() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (10, 200))
    plan = plan_seeds(scores, 0.02)
    assert plan.n_seeds_low <= plan.n_seeds <= plan.n_seeds_high
    assert plan.n_seeds_high > 2 * plan.n_seeds_low
    assert plan.smallest_difference == pytest.approx(smallest_difference(plan.sd, 10))
    assert plan.smallest_difference_low < plan.smallest_difference < plan.smallest_difference_high
    # With as many seeds as the upper end asks for, the upper end of what 10 runs show shrinks to the difference.
    assert plan.smallest_difference_high * np.sqrt(10 / plan.n_seeds_high) <= 0.02
    assert not plan.caveats
    assert "5 runs" in plan_seeds(scores[:5], 0.02).caveats[0]


@pytest.mark.parametrize(
    "arguments", [(0.1, 0.0), (-0.1, 0.1), (0.1, 0.1, 1.0), (0.1, 0.1, 0.8, 0.0), (float("nan"), 0.1)]
)
def test_bad_input(arguments: tuple[float, ...]) -> None:
    with pytest.raises(InputError):
        seeds_needed(*arguments)


def test_no_run_shows_nothing() -> None:
    with pytest.raises(InputError, match="0 runs"):
        smallest_difference(0.1, 0)
