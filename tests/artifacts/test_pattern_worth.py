import numpy as np
import pytest

from goldassay.artifacts import assign_difficulty, giveaway
from goldassay.errors import InputError
from goldassay.intervals import wilson_interval
from tests.artifacts.conftest import LABELS, SENTENCES


def test_hand_example(hand):
    given = giveaway(assign_difficulty(SENTENCES, LABELS, hand().select(0.7)), LABELS)
    x = np.array([4 / 7, 4 / 7, 4 / 7, -3 / 7, 0, 0, 0])
    assert given.giveaway.value == pytest.approx(x.mean())
    assert given.giveaway.high - given.giveaway.value == pytest.approx(1.959964 * x.std(ddof=1) / 7**0.5)
    assert given.precision.value == 0.75
    assert (given.precision.low, given.precision.high) == (wilson_interval(3, 4).low, wilson_interval(3, 4).high)
    assert (given.coverage, given.n_examples, given.n_decided) == (pytest.approx(4 / 7), 7, 4)


def test_shares_may_be_given(hand):
    assigned = assign_difficulty(SENTENCES, LABELS, hand().select(0.7))
    by_name = giveaway(assigned, LABELS, {"e": 0.2, "n": 0.4, "c": 0.4})
    assert by_name.giveaway.value == pytest.approx((3 * 0.8 - 0.2) / 7)
    assert giveaway(assigned, LABELS, [0.4, 0.2, 0.4]) == by_name
    with pytest.raises(InputError, match="2 shares for 3 labels"):
        giveaway(assigned, LABELS, [0.5, 0.5])


def test_patterns_that_are_nowhere_give_nothing_away(hand):
    given = giveaway(assign_difficulty(["x", "y"], ["e", "c"], hand().select(0.7)), ["e", "c"])
    assert (given.giveaway.value, given.giveaway.low, given.giveaway.high, given.coverage) == (0, 0, 0, 0)
    assert np.isnan(given.precision.value)
    assert given.to_dict()["precision"]["value"] is None


def test_conflicting_examples_count_as_guessed_by_the_shares(hand):
    assigned = assign_difficulty(SENTENCES, LABELS, hand(2).select(0.0))
    assert assigned.summary["conflicting"] > 0
    single = assigned.label_sets.sum(axis=1) == 1
    assert giveaway(assigned, LABELS).n_decided == single.sum()


def test_labels_that_do_not_fit(hand):
    assigned = assign_difficulty(SENTENCES, LABELS, hand().select(0.7))
    with pytest.raises(InputError, match="7 examples were classed, 2 labels given"):
        giveaway(assigned, ["e", "c"])
    with pytest.raises(InputError, match="no example to guess"):
        giveaway(assign_difficulty([], [], hand().select(0.7)), [])
