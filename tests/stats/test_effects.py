"""Effects: their values by definition, their intervals against direct resampling, and what no reader may claim."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from statsmodels.stats.proportion import proportion_confint

from goldassay.core.errors import InputError
from goldassay.stats import bootstrap
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    INFORMATION,
    LEAST_ROWS,
    Effect,
    Effects,
    Limits,
    ReaderPredictions,
    _Spread,
    measure_effects,
)
from tests.stated import says

LIMITS = {ACCURACY: Limits(0.03, 0.12), BALANCED: Limits(0.03, 0.12), INFORMATION: Limits(0.01, 0.05)}


def measured(*readings: ReaderPredictions, gold: Any, n_classes: int, n_draws: int = 200, **options: Any) -> Effects:
    return measure_effects(readings, np.asarray(gold), n_classes, LIMITS, n_draws=n_draws, **options)


def by_measure(effects: Effects, place: int = 0) -> dict[str, Effect]:
    readers = list(dict.fromkeys((each.part, each.reader) for each in effects.effects))
    return {each.measure: each for each in effects.effects if (each.part, each.reader) == readers[place]}


def world(
    seed: int, n: int, shares: list[float], skill: float, of_a_cluster: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gold, what a reader says that finds a word in a share of the rows of all labels but the first, and clusters."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) // of_a_cluster
    gold = rng.choice(len(shares), n, p=shares)
    told = rng.random(clusters.max() + 1)[clusters] < skill if of_a_cluster > 1 else rng.random(n) < skill
    return gold, np.where(told, gold, 0), clusters


def test_values_follow_the_definitions() -> None:
    gold, named, _ = world(0, 2000, [0.5, 0.3, 0.2], 0.4)
    rng = np.random.default_rng(1)
    logs = np.log(rng.uniform(0.05, 0.9, gold.size))
    found = by_measure(
        measured(
            ReaderPredictions("hypothesis", "r", named[np.newaxis], None, logs[np.newaxis]),
            gold=gold, n_classes=3, train_counts=np.array([500, 300, 200]),
        )
    )  # fmt: skip
    shares = np.bincount(gold) / gold.size
    assert found[ACCURACY].value == pytest.approx(((named == gold).mean() - shares[0]) / (1 - shares[0]))
    assert found[BALANCED].value == pytest.approx((balanced_accuracy_score(gold, named) - 1 / 3) / (2 / 3))
    p = ((np.array([500, 300, 200]) + 0.5) / 1001.5)[gold]
    bits = np.log2(0.99 * np.exp(logs) + 0.01 * p) - np.log2(p)
    assert found[INFORMATION].value == pytest.approx(bits.mean() / -np.log2(p).mean())


def test_the_baseline_is_the_share_of_the_most_frequent_label_as_in_the_headline() -> None:
    gold = np.repeat([0, 1, 2], [340, 330, 100])
    effects = measured(ReaderPredictions("a", "r", gold[np.newaxis]), gold=gold, n_classes=3)
    assert effects.contenders == (0, 1)
    named = np.where(np.arange(gold.size) % 4, gold, 0)
    found = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3))[ACCURACY]
    b = 340 / 770
    assert found.value == pytest.approx(((named == gold).mean() - b) / (1 - b))
    assert found.value * (1 - found.baseline) == pytest.approx(found.score - found.baseline)
    assert found.gain.high / (1 - b) == pytest.approx(found.high)


@given(seed=st.integers(0, 50), skill=st.floats(0, 0.9), times=st.integers(2, 5))
@settings(max_examples=20, deadline=None)
def test_repeats_in_clusters_tell_nothing_more(seed: int, skill: float, times: int) -> None:
    gold, named, _ = world(seed, 400, [0.4, 0.3, 0.3], skill)
    single = measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3)
    repeated = measured(
        ReaderPredictions("a", "r", np.repeat(named, times)[np.newaxis]),
        gold=np.repeat(gold, times), n_classes=3, clusters=np.repeat(np.arange(gold.size), times),
    )  # fmt: skip
    assert repeated.effective_clusters == pytest.approx(gold.size)
    accuracy, again = by_measure(single)[ACCURACY], by_measure(repeated)[ACCURACY]
    assert (again.value, again.low, again.high) == pytest.approx(
        (accuracy.value, accuracy.low, accuracy.high), nan_ok=True
    )


@given(seed=st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_names_of_labels_do_not_matter(seed: int) -> None:
    gold, named, _ = world(seed, 600, [0.5, 0.3, 0.2], 0.3)
    order = np.random.default_rng(seed).permutation(3)
    one = measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3)
    other = measured(ReaderPredictions("a", "r", order[named][np.newaxis]), gold=order[gold], n_classes=3)
    for first, second in zip(one.effects, other.effects, strict=True):
        assert (second.value, second.low, second.high) == pytest.approx((first.value, first.low, first.high))


@given(seed=st.integers(0, 10_000), n=st.integers(30, 400), skill=st.floats(0, 0.5))
@settings(max_examples=30, deadline=None)
def test_values_lie_between_their_ends(seed: int, n: int, skill: float) -> None:
    gold, named, _ = world(seed, n, [0.35, 0.33, 0.32], skill)
    for effect in measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3).effects:
        if effect.measurable:
            assert effect.low <= effect.value <= effect.high


@pytest.mark.parametrize("n_others", [2, 3, 5])
def test_a_nearly_constant_reader_hides_no_other(n_others: int) -> None:
    """Its draws made the largest |t| twenty, and no lower end reached a limit."""
    gold, named, _ = world(3, 2000, [0.34, 0.33, 0.33], 0.3)
    constant = np.zeros(2000, dtype=int)
    constant[np.random.default_rng(0).choice(2000, n_others, replace=False)] = 1
    one, other = (
        ReaderPredictions("a", "r", named[np.newaxis]),
        ReaderPredictions("a", "constant", constant[np.newaxis]),
    )
    alone, together = (measured(*each, gold=gold, n_classes=3, n_draws=2000) for each in ((one,), (one, other)))
    assert together.quantile < 4
    first, again = by_measure(alone)[BALANCED], by_measure(together)[BALANCED]
    assert again.low == pytest.approx(first.low, abs=0.02)
    assert by_measure(together, 1)[BALANCED].low < 0


@pytest.mark.parametrize("n_others", [1, 2, 3, 10])
def test_a_reader_that_is_constant_but_for_a_few_rows_has_an_upper_end(n_others: int) -> None:
    """Many draws hold none of these rows; the end was 1, and a set without a flaw not measurable."""
    gold = np.arange(5000) % 3
    named = np.zeros(5000, dtype=int)
    named[np.random.default_rng(0).choice(5000, n_others, replace=False)] = 1
    balanced = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3))[BALANCED]
    assert balanced.measurable
    assert abs(balanced.value) < 0.01
    assert -0.05 < balanced.low <= balanced.value <= balanced.high < 0.05
    assert -0.05 < balanced.ordinary_low <= balanced.value


def test_lower_ends_hold_together_and_upper_ends_alone() -> None:
    gold, named, _ = world(6, 1500, [0.4, 0.3, 0.3], 0.2)
    rng = np.random.default_rng(7)
    others = [np.where(rng.random(gold.size) < 0.2, gold, rng.integers(0, 3, gold.size)) for _ in range(8)]
    readings = [ReaderPredictions("a", f"reader {at}", each[np.newaxis]) for at, each in enumerate([named, *others])]
    alone, together = (measured(*each, gold=gold, n_classes=3, n_draws=1000) for each in (readings[:1], readings))
    assert together.quantile > alone.quantile > 1.9
    first, again = by_measure(alone)[BALANCED], by_measure(together)[BALANCED]
    assert again.low < first.low
    assert again.low < again.ordinary_low
    assert again.high == pytest.approx(first.high, abs=0.002)


def test_effects_that_seldom_vary_leave_no_lower_end_uncorrected() -> None:
    """Draws that lack the few items in which a rule hits have nearly no standard error: their t is the largest."""
    rng = np.random.default_rng(0)
    n, chance = 66, np.full(66, 0.5)
    usual = [np.where(rng.random(n) < 0.5, 1.0, 0.0) for _ in range(12)]
    rare = [np.full(n, 0.5) for _ in range(8)]
    for each in rare:
        each[rng.choice(n, 10, replace=False)] = (*[1.0] * 9, 0.0)
    readings = [
        ReaderPredictions("a", f"rule {at}", None, correct=hits[np.newaxis], chance=chance)
        for at, hits in enumerate([*usual, *rare])
    ]
    found = measured(*readings, gold=np.zeros(n, int), n_classes=2, n_draws=2000, by_kind=True)
    # Of 20 effects a normal quantile of the largest |t| is 3.0; of one it is 1.96.
    assert 2.6 < found.quantile < 4.0
    for each in found.effects[:12]:
        assert each.low < each.ordinary_low - 0.5 * each.standard_error


def test_a_reader_that_nearly_always_names_one_label_has_its_value_in_its_interval() -> None:
    """The largest of nearly equal shares exceeds their mean, which is no gain; it was 5 % of 277 rows."""
    gold = np.repeat([0, 1], [146, 131])
    named = np.where(np.arange(gold.size) == 3, 1, 0)
    found = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=2))[ACCURACY]
    assert found.value == pytest.approx(-1 / 131)
    assert found.low < found.value < found.high < 0.05


@pytest.mark.parametrize("n_unlike", [6, 10])
def test_an_end_is_never_lifted_to_a_value(n_unlike: int) -> None:
    """Nor is a value cut to its end: of a reader of one label but for a few rows, and of one that guesses."""
    gold = np.repeat([0, 1], [146, 131])
    named = np.where(np.arange(gold.size) < n_unlike, 1, 0)
    for each in (named, np.random.default_rng(n_unlike).integers(0, 2, gold.size)):
        found = by_measure(measured(ReaderPredictions("a", "r", each[np.newaxis]), gold=gold, n_classes=2))[ACCURACY]
        assert found.value == pytest.approx(((each == gold).mean() - 146 / 277) / (131 / 277))
        assert found.low < found.value < found.high


def rules_of_keys(seed: int, kept: np.ndarray | slice = slice(None)) -> tuple[list[ReaderPredictions], np.ndarray]:
    """22 rules on 651 items whose key stands at the last of four places in 41.5 %; six of them pick in 5 to 9 items."""
    rng = np.random.default_rng(seed)
    gold = rng.permutation(np.repeat(np.arange(4), (109, 122, 150, 270)))
    n = gold.size
    everywhere = [("place", gold == place) for place in range(4)]
    everywhere += [("usual", rng.integers(0, 4, n) == gold) for _ in range(12)]
    found = [(name, hits.astype(float), np.ones(n, bool)) for name, hits in everywhere]
    for n_items in (5, 6, 7, 8, 9, 9):
        applies = np.isin(np.arange(n), rng.choice(n, n_items, replace=False))
        found.append(("sparse", np.where(applies, rng.integers(0, 4, n) == gold, 0.25), applies))
    readings = [
        ReaderPredictions(
            "choices", name, None, correct=hits[np.newaxis, kept], chance=np.full(hits[kept].size, 0.25),
            applies=applies[kept],
        )
        for name, hits, applies in found
    ]  # fmt: skip
    return readings, gold[kept]


def test_rules_that_pick_in_few_items_enter_neither_the_maximum_nor_a_verdict() -> None:
    readings, gold = rules_of_keys(0)
    found = measured(*readings, gold=gold, n_classes=4, n_draws=2000)
    # Four places and 12 rules that pick everywhere; with the others the quantile was 3.5 to 7.
    assert found.quantile == pytest.approx(2.87, abs=0.1)
    assert found.effects[3].value == pytest.approx(0.22, abs=0.001)
    assert found.effects[3].low == pytest.approx(0.146, abs=0.004)
    assert all(each.reason == "it picks in fewer than 10 items" for each in found.effects[16:])
    assert all(each.measurable for each in found.effects[:16])


def test_neither_seeds_nor_a_few_rows_move_a_lower_end_by_a_tenth_of_its_interval() -> None:
    readings, gold = rules_of_keys(0)
    first = measured(*readings, gold=gold, n_classes=4, n_draws=2000, by_kind=True).effects[:16]
    moved = []
    for seed in range(20):
        kept = np.sort(np.random.default_rng(seed).choice(gold.size, gold.size - 7, replace=False))
        fewer, their_gold = rules_of_keys(0, kept)
        again = measured(*readings, gold=gold, n_classes=4, n_draws=2000, by_kind=True, seed=seed)
        without = measured(*fewer, gold=their_gold, n_classes=4, n_draws=2000, by_kind=True)
        for other in (again, without):
            moved += [abs(b.low - a.low) / (a.high - a.low) for a, b in zip(first, other.effects[:16], strict=True)]
    assert max(moved) < 0.1


def alike(n_clusters: int, n_unlike: int, shares: tuple[float, float] = (0.5, 0.5)) -> Effect:
    """A rule that is right in one of two items of every template, but in both of `n_unlike`."""
    hits = np.tile([1.0, 0.0], n_clusters)
    hits[: 2 * n_unlike] = 1
    reading = ReaderPredictions("choices", "r", None, correct=hits[np.newaxis], chance=np.tile(shares, n_clusters))
    clusters = np.repeat(np.arange(n_clusters), 2)
    (found,) = measured(reading, gold=np.zeros(hits.size, int), n_classes=2, clusters=clusters, n_draws=2000).effects
    return found


@pytest.mark.parametrize(("n_clusters", "share"), [(25, 0.137), (1000, 0.00368)])
def test_what_is_the_same_in_every_cluster_may_differ_in_some(n_clusters: int, share: float) -> None:
    """Of 25 equal templates 13.7 % may differ, by all that is possible; the interval was [-100 %, 100 %]."""
    found = alike(n_clusters, 0)
    assert (found.low, found.ordinary_low, found.high) == pytest.approx((-share, -share, share), rel=2e-3)
    # With a chance of a third half of the items right are a skill of .25, which can fall by .75 and rise by .75.
    third = alike(n_clusters, 0, (1 / 3, 1 / 3))
    assert (third.value, third.low, third.high) == pytest.approx(
        (0.25, 0.25 - 0.75 * share, 0.25 + 0.75 * share), rel=2e-3
    )


@pytest.mark.parametrize("n_unlike", [1, 2, 3, 4])
def test_few_clusters_that_differ_are_counted_exactly(n_unlike: int) -> None:
    found = alike(25, n_unlike)
    _, most = proportion_confint(n_unlike, 25, alpha=0.05, method="beta")
    assert found.value - found.low >= most * (1 + found.value) - 1e-12
    assert found.high - found.value >= most * (1 - found.value) - 1e-12
    if n_unlike == 1:
        assert most == pytest.approx(0.204, abs=0.001)
        # A normal end would be 11.8 below.
        assert found.low == pytest.approx(0.04 - 0.204 * 1.04, abs=0.001)


def test_lower_ends_of_several_effects_that_hardly_vary_hold_together() -> None:
    n = 40
    hits = [np.where(np.arange(n) < unlike, 0.0, 1.0)[np.newaxis] for unlike in (1, 2, 20)]
    readings = [
        ReaderPredictions("a", f"r{at}", None, correct=each, chance=np.full(n, 0.5)) for at, each in enumerate(hits)
    ]
    found = measured(*readings, gold=np.zeros(n, int), n_classes=2, n_draws=2000).effects
    for each, unlike in zip(found[:2], (1, 2), strict=True):
        alone, both = (proportion_confint(unlike, n, alpha=alpha, method="beta")[1] for alpha in (0.05, 0.025))
        assert each.low == pytest.approx(each.value - both * (1 + each.value))
        assert each.ordinary_low <= each.value - alone * (1 + each.value) + 1e-12
        assert each.low <= each.ordinary_low


@given(seed=st.integers(0, 50), n_unlike=st.integers(0, 6), size=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_clusters_that_differ_are_those_without_the_commonest_value(seed: int, n_unlike: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(40), rng.integers(1, size + 1, 40))
    above = np.ones(codes.size)
    for cluster in rng.choice(40, n_unlike, replace=False):
        above[np.flatnonzero(codes == cluster)[0]] = 0
    sums = [above[codes == cluster].mean() for cluster in range(40)]
    n_common = Counter(sums).most_common(1)[0][1]
    assert _Spread.of(above, np.ones(codes.size), codes, (1.0, 1.0)).n_unlike == 40 - n_common


def test_a_premise_with_each_label_once_tells_a_reader_of_it_nothing() -> None:
    """As in KLUE-NLI: whatever such a reader names, the balanced skill is 0 in every cluster, and surely small."""
    n = 1000
    gold = np.tile(np.arange(3), n)
    named = np.repeat(np.arange(n) % 3, 3)
    found = by_measure(
        measured(
            ReaderPredictions("premise", "r", named[np.newaxis]),
            gold=gold,
            n_classes=3,
            clusters=np.repeat(np.arange(n), 3),
        )
    )
    for measure in (ACCURACY, BALANCED):
        assert found[measure].value == pytest.approx(0, abs=1e-12)
        assert -0.01 < found[measure].low <= found[measure].high < 0.01


def test_rare_labels_are_one_class_or_left_out_by_name() -> None:
    rng = np.random.default_rng(8)
    gold = np.repeat(np.arange(5), [400, 300, 30, 30, 10])
    named = np.where(rng.random(gold.size) < 0.6, gold, 0)
    found = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=5))[BALANCED]
    merged = np.minimum(gold, 2), np.minimum(named, 2)
    assert found.value == pytest.approx((balanced_accuracy_score(*merged) - 1 / 3) / (2 / 3))
    gold = np.repeat(np.arange(3), [400, 300, LEAST_ROWS - 1])
    effects = measured(ReaderPredictions("a", "r", gold[np.newaxis]), gold=gold, n_classes=3)
    assert effects.skipped == (says("49 test rows of label 2", "left out", 50),)
    named = measured(
        ReaderPredictions("a", "r", gold[np.newaxis]), gold=gold, n_classes=3, label_names=("yes", "no", "maybe")
    )
    assert named.skipped == (says("49 test rows of label maybe", "left out", 50),)
    assert by_measure(effects)[BALANCED].value == pytest.approx(1)


def constants(gold: np.ndarray) -> dict[str, ReaderPredictions]:
    """Readers that give every row one answer, in each of the ways in which what they say can be known."""
    one = np.zeros((1, gold.size), int)
    chance = np.full(gold.size, 0.5)
    return {
        "label": ReaderPredictions("a", "r", one),
        "label that no row has": ReaderPredictions("a", "r", one + 2),
        "a label in each run": ReaderPredictions("a", "r", np.vstack([one, one + 1])),
        "right answers alone": ReaderPredictions("a", "r", None, correct=(gold == 1)[np.newaxis].astype(float)),
        "place": ReaderPredictions("a", "r", one + 1, of_places=True),
        "no choice": ReaderPredictions("a", "r", None, correct=chance[np.newaxis], chance=chance),
    }


@pytest.mark.parametrize("kind", list(constants(np.arange(2))))
def test_a_reader_that_gives_every_row_one_answer_gains_nothing(kind: str) -> None:
    gold = np.repeat([0, 1], [45, 55])
    found = measured(constants(gold)[kind], gold=gold, n_classes=3).effects
    assert found
    for each in found:
        if each.measure == BALANCED and each.reason.startswith("fewer"):
            continue
        assert (each.value, each.is_constant, each.measurable) == (0, True, False)
        assert math.isnan(each.low)
        assert math.isnan(each.high)


def test_a_constant_reader_moves_no_other() -> None:
    gold, named, _ = world(3, 800, [0.34, 0.33, 0.33], 0.3)
    reading = ReaderPredictions("a", "r", named[np.newaxis])
    alone = measured(reading, gold=gold, n_classes=3)
    beside = measured(reading, constants(gold)["label"], gold=gold, n_classes=3)
    assert beside.effects[:2] == alone.effects
    assert beside.quantile == alone.quantile


@given(seed=st.integers(0, 30), skill=st.floats(0, 0.9))
@settings(max_examples=20, deadline=None)
def test_no_effect_is_said_to_be_surely_below_0(seed: int, skill: float) -> None:
    gold, named, _ = world(seed, 300, [0.5, 0.5], skill)
    for each in measured(ReaderPredictions("a", "r", 1 - named[np.newaxis]), gold=gold, n_classes=2).effects:
        if each.measurable:
            assert each.upper == pytest.approx(max(each.high, 1.959964 * each.standard_error))


def test_what_has_no_interval_says_why() -> None:
    logs = np.full((1, 60), -0.5)
    same = measured(
        ReaderPredictions("a", "r", np.zeros((1, 60), int), None, logs),
        gold=np.zeros(60, int), n_classes=2, train_counts=np.array([30, 30]),
    )  # fmt: skip
    assert not any(each.measurable for each in same.effects)
    assert {each.reason for each in same.effects} == {
        "all test rows have the same label",
        "fewer than two labels have 50 test rows",
    }
    gold = np.tile([0, 1], 60)
    broken = np.full((1, 120), np.nan)
    found = measured(ReaderPredictions("a", "r", gold[np.newaxis], None, broken), gold=gold, n_classes=2)
    assert by_measure(found)[INFORMATION].reason == "some probabilities are not numbers"
    together = measured(
        ReaderPredictions("a", "r", gold[np.newaxis]), gold=gold, n_classes=2, clusters=np.zeros(120, int)
    )
    assert not any(each.measurable for each in together.effects)


def test_few_clusters_widen_intervals_as_student_says() -> None:
    gold, named, clusters = world(9, 600, [0.5, 0.5], 0.5, 60)
    few = measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=2, clusters=clusters)
    assert few.effective_clusters == pytest.approx(10)
    assert few.quantile >= 2.262


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to judge"):
        measure_effects([], np.array([0, 1]), 2, LIMITS)
    with pytest.raises(InputError, match="different numbers of examples"):
        measured(ReaderPredictions("a", "r", np.zeros((1, 3), int)), gold=[0, 1], n_classes=2)


def test_correctness_alone_is_enough_for_both_skills() -> None:
    gold, named, _ = world(10, 900, [0.4, 0.3, 0.3], 0.4)
    by_name = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=3))
    correct = (named == gold).astype(float)[np.newaxis]
    by_score = by_measure(measured(ReaderPredictions("a", "r", None, correct=correct), gold=gold, n_classes=3))
    for measure in (ACCURACY, BALANCED):
        assert by_score[measure].to_dict() == by_name[measure].to_dict()


def test_runs_that_average_out_are_not_taken_for_no_spread() -> None:
    rng = np.random.default_rng(12)
    gold = np.repeat([0, 1, 2], [500, 400, 300])
    runs = np.stack([np.where(rng.random(gold.size) < 0.6, gold, rng.integers(0, 3, gold.size)) for _ in range(9)])
    # A few large clusters, in which rows are no more alike than elsewhere: few effective ones, and nothing to widen.
    clusters = np.where(rng.random(gold.size) < 0.5, rng.integers(0, 6, gold.size), 6 + np.arange(gold.size))
    effects = measured(ReaderPredictions("a", "r", runs), gold=gold, n_classes=3, clusters=clusters)
    assert effects.effective_clusters < 60
    found = by_measure(effects)[BALANCED]
    assert found.high - found.value < 6 * found.standard_error


@pytest.mark.parametrize("of_a_cluster", [1, 3])
def test_drawing_kinds_of_clusters_is_drawing_clusters(monkeypatch: pytest.MonkeyPatch, of_a_cluster: int) -> None:
    """A word that is found or not leaves few kinds; with each cluster a kind of its own, all stays but the draws."""
    gold, named, clusters = world(5, 600, [0.6, 0.3, 0.1], 0.3, of_a_cluster)
    reading = ReaderPredictions("hypothesis", "r", named[np.newaxis])
    drawn: list[int] = []
    whole = bootstrap.draw_clusters

    def draw(*given: Any, **options: Any) -> Any:
        for rows, counts in whole(*given, **options):
            drawn.append(counts.shape[1])
            yield rows, counts

    monkeypatch.setattr(bootstrap, "draw_clusters", draw)
    few = measured(reading, gold=gold, n_classes=3, clusters=clusters, n_draws=20_000, by_kind=True)
    each = measured(reading, gold=gold, n_classes=3, clusters=clusters, n_draws=20_000)
    assert drawn[0] < 60
    assert drawn[-1] == 600 // of_a_cluster
    for a, b in zip(few.effects, each.effects, strict=True):
        assert a.value == pytest.approx(b.value, nan_ok=True)
        if a.measurable:
            assert a.standard_error == pytest.approx(b.standard_error)
            # Two ends of 20,000 draws each differ by chance by about a fiftieth of a standard error.
            assert (a.low, a.high, a.ordinary_low) == pytest.approx(
                (b.low, b.high, b.ordinary_low), abs=0.08 * a.standard_error
            )


def test_more_clusters_than_are_drawn_are_merged_at_random() -> None:
    gold, named, _ = world(11, 30_000, [0.5, 0.5], 0.1)
    found = by_measure(measured(ReaderPredictions("a", "r", named[np.newaxis]), gold=gold, n_classes=2, n_draws=100))[
        BALANCED
    ]
    rows = np.bincount(gold)
    recall = np.array([(named == gold)[gold == k].mean() for k in (0, 1)])
    assert found.standard_error == pytest.approx(2 * math.sqrt((recall * (1 - recall) / rows).sum() / 4), rel=0.03)


@pytest.mark.parametrize(("shares", "of_a_cluster"), [([0.5, 0.5], 1), ([0.9, 0.1], 1), ([0.4, 0.3, 0.3], 20)])
def test_at_the_limit_neither_word_is_said_too_often(shares: list[float], of_a_cluster: int) -> None:
    n_sound = n_unsound = 0
    for seed in range(100):
        gold, named, clusters = world(seed, 1500, shares, 0.12, of_a_cluster)
        found = measured(
            ReaderPredictions("a", "r", named[np.newaxis]),
            gold=gold,
            n_classes=len(shares),
            clusters=clusters,
            n_draws=200,
        )
        n_unsound += any(each.low >= each.unsound for each in found.effects)
        n_sound += all(each.high < each.unsound for each in found.effects)
    # With 2.5 % of each, 8 or more of 100 come about in 4 of 1,000 tests.
    assert n_sound < 8
    assert n_unsound < 8
