from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.lab.training.job import SOURCES, Seeds
from goldassay.lab.training.loop import shuffled_batches, sorted_batches
from goldassay.lab.training.optimizers import SCHEDULES, Moment, factor, is_spent

costs = st.lists(st.integers(0, 40), min_size=1, max_size=400).map(lambda values: np.array(values, np.int64))


@given(costs, st.integers(1, 17), st.sampled_from([1, 3, 50]), st.integers(0, 5))
def test_every_row_stands_in_one_batch(costs, size, pool, seed):
    for batches in (shuffled_batches(costs, size, pool, np.random.default_rng(seed)), sorted_batches(costs, size)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(costs.size))
        assert len(batches) == -(-costs.size // size)
        assert max(batch.size for batch in batches) <= size


def test_rows_of_similar_length_stand_together_in_another_order_each_time():
    costs = np.random.default_rng(0).integers(1, 50, 4000)
    batches = shuffled_batches(costs, 16, 50, np.random.default_rng(1))
    padding = sum(int((costs[batch].max() - costs[batch]).sum()) for batch in batches)
    assert padding < 0.1 * costs.sum()
    other = shuffled_batches(costs, 16, 50, np.random.default_rng(2))
    assert {tuple(sorted(batch)) for batch in batches} != {tuple(sorted(batch)) for batch in other}
    again = shuffled_batches(costs, 16, 50, np.random.default_rng(1))
    assert all(np.array_equal(one, two) for one, two in zip(batches, again, strict=True))


def test_without_a_pool_lengths_are_as_mixed_as_in_a_shuffle():
    costs = np.random.default_rng(0).integers(1, 50, 4000)
    batches = shuffled_batches(costs, 16, 1, np.random.default_rng(1))
    spread = np.mean([costs[batch].std() for batch in batches])
    assert spread == pytest.approx(costs.std(ddof=1), rel=0.05)


def test_each_source_draws_by_itself():
    seeds = Seeds.varying(7)
    numbers = [seeds.number(source, step) for source in SOURCES for step in range(3)]
    assert len(set(numbers)) == 12
    assert Seeds.varying(7, ("order",)).number("dropout", 1) == Seeds.varying(8, ("order",)).number("dropout", 1)
    assert Seeds.varying(7, ("order",)).number("order", 1) == seeds.number("order", 1)


def test_schedules_rise_fall_and_end():
    for schedule in SCHEDULES:
        rates = [factor(schedule, 0.1, Moment(step, 100, step // 25)) for step in range(100)]
        assert all(0 < rate <= 1 for rate in rates)
        assert rates[:10] == sorted(rates[:10])
        assert rates[0] < 0.2
    assert factor("linear", 0.0, Moment(50, 100, 0)) == 0.5
    assert abs(factor("cosine", 0.0, Moment(50, 100, 0)) - 0.5) < 1e-12
    dropped = factor("dev_drops", 0.0, Moment(0, 1, 3, (0.5, 0.4, 0.6)))
    assert abs(dropped - 0.99**3 / 5) < 1e-12
    assert is_spent("dev_drops", 9e-6)
    assert not is_spent("linear", 0.0)
