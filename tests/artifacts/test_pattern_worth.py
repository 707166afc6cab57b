import numpy as np
import pytest

from goldassay.artifacts import assign_difficulty, giveaway
from goldassay.errors import InputError
from goldassay.intervals import wilson_interval
from tests.artifacts.conftest import LABELS, SENTENCES


def test_hand_example(hand):
    # Patterns name e four times; three of these are e, one is c. Of the equally frequent e and c the first counts.
    assigned = assign_difficulty(SENTENCES, LABELS, hand().select(0.7))
    given = giveaway(assigned, LABELS)
    majority_right = 3 if assigned.label_names.index("e") < assigned.label_names.index("c") else 1
    assert given.giveaway.value == pytest.approx((3 - majority_right) / 7)
    assert given.precision.value == 0.75
    assert (given.precision.low, given.precision.high) == (wilson_interval(3, 4).low, wilson_interval(3, 4).high)
    assert (given.coverage, given.n_examples, given.n_decided) == (pytest.approx(4 / 7), 7, 4)


def test_gain_is_that_of_a_guesser_who_falls_back_on_the_majority(hand):
    labels = ["c" if label == "n" else label for label in LABELS]
    labels = [*labels, "c", "c"]
    sentences = [*SENTENCES, "Cats sleep .", "Cats run ."]
    assigned = assign_difficulty(sentences, labels, hand().select(0.7))
    guess = np.where(
        assigned.label_sets.sum(axis=1) == 1, np.array(assigned.label_names)[assigned.label_sets.argmax(axis=1)], "c"
    )
    x = (guess == np.array(labels)).astype(float) - (np.array(labels) == "c")
    given = giveaway(assigned, labels)
    assert given.giveaway.value == pytest.approx((guess == np.array(labels)).mean() - 6 / 9)
    assert given.giveaway.high - given.giveaway.value == pytest.approx(1.959964 * x.std(ddof=1) / 9**0.5)


def test_patterns_that_are_nowhere_give_nothing_away(hand):
    given = giveaway(assign_difficulty(["x", "y"], ["e", "c"], hand().select(0.7)), ["e", "c"])
    assert (given.giveaway.value, given.giveaway.low, given.giveaway.high, given.coverage) == (0, 0, 0, 0)
    assert np.isnan(given.precision.value)
    assert given.to_dict()["precision"]["value"] is None


def test_conflicting_examples_are_not_decided(hand):
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
