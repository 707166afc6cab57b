import numpy as np
import pytest
from scipy.stats import norm, t

from goldassay.artifacts import assign_difficulty, giveaway, mine_patterns
from goldassay.core.errors import InputError
from goldassay.questions.artifacts.measures.difficulty import giveaway_by_counts
from goldassay.stats.intervals import wilson_interval
from tests.artifacts.conftest import LABELS, SENTENCES


def both(sentences, labels, patterns):
    """Give away the same examples that the constants are learnt on."""
    assigned = assign_difficulty(sentences, labels, patterns)
    return assigned, giveaway(assigned, labels, assigned, labels)


def test_hand_example(hand):
    # Patterns name e four times; three of these are e, one is c. Of the three left open too few are c to leave m.
    assigned, given = both(SENTENCES, LABELS, hand().select(0.7))
    m = "e" if assigned.label_names.index("e") < assigned.label_names.index("c") else "c"
    guess = ["e" if single else m for single in assigned.label_sets.any(axis=1)]
    x = np.array([(g == y) - float(m == y) for g, y in zip(guess, LABELS, strict=True)])
    assert given.giveaway.value == pytest.approx(x.mean())
    assert given.giveaway.high - given.giveaway.value == pytest.approx(1.959964 * x.std(ddof=1) / 7**0.5)
    assert given.precision.value == 0.75
    assert (given.precision.low, given.precision.high) == (wilson_interval(3, 4).low, wilson_interval(3, 4).high)
    assert (given.coverage, given.n_examples, given.n_decided) == (pytest.approx(4 / 7), 7, 4)


@pytest.mark.parametrize("names", [("x", "y"), ("y", "x")])
def test_what_a_label_is_called_changes_nothing(names):
    carrier, other = names
    sentences = ["it ends in nobody"] * 50 + ["it ends"] * 50 + ["it ends"] * 100
    labels = [carrier] * 100 + [other] * 100
    patterns = mine_patterns(sentences, labels, min_count=8, tokenizer="whitespace").select(0.7)
    _, given = both(sentences, labels, patterns)
    assert given.giveaway.value == pytest.approx(0.25)
    assert given.precision.value == 1


def test_a_few_patterns_do_not_trade_one_constant_for_another(hand):
    sentences = [*SENTENCES, *["Cats sleep ."] * 600]
    labels = [*LABELS, *["e", "n", "c"] * 200]
    _, given = both(sentences, labels, hand().select(0.7))
    assert given.giveaway.high - given.giveaway.low < 0.02
    assert abs(given.giveaway.value) < 0.01


def test_constants_are_learnt_from_the_training_part(hand):
    patterns = hand().select(0.7)
    assigned = assign_difficulty(SENTENCES, LABELS, patterns)
    train_labels = ["n"] * 6
    train = assign_difficulty(["Cats sleep ."] * 6, train_labels, patterns)
    given = giveaway(assigned, LABELS, train, train_labels)
    guess = ["e" if single else "n" for single in assigned.label_sets.any(axis=1)]
    right = np.mean([g == y for g, y in zip(guess, LABELS, strict=True)])
    assert given.giveaway.value == pytest.approx(right - np.mean([y == "n" for y in LABELS]))


@pytest.mark.parametrize("n", [2, 70, 2000])
def test_patterns_that_are_nowhere_give_nothing_away_as_far_as_the_examples_can_tell(hand, n):
    labels = ["e", "c"] * (n // 2)
    _, given = both(["x", "y"] * (n // 2), labels, hand().select(0.7))
    assert (given.giveaway.value, given.giveaway.low, given.coverage) == (0, 0, 0)
    # As many examples of which none is decided would be seen once in twenty times if so many could be.
    assert (1 - given.giveaway.high) ** n == pytest.approx(0.05)
    assert np.isnan(given.precision.value)
    assert given.to_dict()["precision"]["value"] is None


def test_conflicting_examples_are_not_decided(hand):
    assigned, given = both(SENTENCES, LABELS, hand(2).select(0.0))
    assert assigned.summary["conflicting"] > 0
    assert given.n_decided == (assigned.label_sets.sum(axis=1) == 1).sum()


def test_labels_that_do_not_fit(hand):
    assigned = assign_difficulty(SENTENCES, LABELS, hand().select(0.7))
    with pytest.raises(InputError, match="7 examples were classed, 2 labels given"):
        giveaway(assigned, ["e", "c"], assigned, LABELS)
    nothing = assign_difficulty([], [], hand().select(0.7))
    with pytest.raises(InputError, match="no example to guess"):
        giveaway(nothing, [], assigned, LABELS)


def test_ten_copies_of_each_example_leave_the_interval_of_one(hand):
    patterns = hand().select(0.7)
    sentences, labels = list(SENTENCES) * 6, list(LABELS) * 6
    train = assign_difficulty(SENTENCES, LABELS, patterns)
    counts = [np.bincount([train.label_names.index(y) for y in LABELS], minlength=len(train.label_names))] * 2
    once = giveaway_by_counts(assign_difficulty(sentences, labels, patterns), labels, *counts)
    copied = assign_difficulty(sentences * 10, labels * 10, patterns)
    clusters = np.tile(np.arange(len(sentences)), 10)
    together = giveaway_by_counts(copied, labels * 10, *counts, clusters)
    assert together.giveaway.value == pytest.approx(once.giveaway.value)
    # Student's t over the 42 clusters in the place of the normal quantile is all that differs.
    scale = t.ppf(0.975, len(sentences) - 1) / norm.ppf(0.975)
    widths = [each.giveaway.high - each.giveaway.low for each in (together, once)]
    assert widths[0] == pytest.approx(scale * widths[1])
    assert giveaway_by_counts(copied, labels * 10, *counts).giveaway.high < together.giveaway.high
