"""Ranks against loops, over planted worlds, and where systems are the same."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import studentized_range, ttest_rel

from goldassay.board import Items, first_in_halves, lead_of, pooled_spread, rank, rivals_of
from goldassay.core.errors import InputError
from goldassay.instability import compare
from goldassay.kernels.differences import largest_differences
from goldassay.questions.board.measures import _errors, noise_of_runs


def answers(n_systems: int, n_items: int, seed: int, skill: float = 0.5) -> np.ndarray:
    """Systems of one skill that find the same items hard."""
    rng = np.random.default_rng(seed)
    need = rng.random(n_items) * 2 * (1 - skill)
    return (rng.random((n_systems, n_items)) > need).astype(float)


def test_errors_of_differences_are_those_of_a_paired_test() -> None:
    values = answers(5, 80, 0)
    found = _errors(values, None)
    for j, k in combinations(range(5), 2):
        t = ttest_rel(values[j], values[k]).statistic
        assert math.sqrt(found[j, k]) == pytest.approx(abs(values[j].mean() - values[k].mean()) / abs(t), rel=1e-5)


def test_errors_over_clusters_are_those_of_their_sums() -> None:
    values = np.repeat(answers(4, 30, 1), 3, axis=1)
    codes = np.repeat(np.arange(30), 3)
    found = _errors(values, codes)
    for j, k in combinations(range(4), 2):
        differences = values[j] - values[k]
        sums = [differences[codes == g].sum() - 3 * differences.mean() for g in range(30)]
        assert found[j, k] == pytest.approx(30 / 29 * sum(each**2 for each in sums) / 90**2, rel=1e-5)
    # Threefold copies tell nothing more.
    assert found == pytest.approx(_errors(values[:, ::3], None), rel=1e-5)


def test_the_largest_difference_is_that_of_a_loop() -> None:
    rng = np.random.default_rng(2)
    shifts, inverse = rng.standard_normal((7, 6)), rng.random((6, 6)).astype(np.float32)
    wanted = [max(abs(row[j] - row[k]) * inverse[j, k] for j in range(6) for k in range(j)) for row in shifts]
    assert largest_differences(shifts, inverse) == pytest.approx(np.array(wanted), rel=1e-5)


def test_ranks_follow_from_what_is_sure() -> None:
    values = np.stack([answers(1, 400, at, skill)[0] for at, skill in enumerate((0.9, 0.88, 0.6, 0.3, 0.28))])
    found = rank(values, seed=1)
    errors = np.sqrt(_errors(values, None))
    for j in range(5):
        better = sum(found.means[k] - found.means[j] > found.critical * errors[j, k] for k in range(5) if k != j)
        worse = sum(found.means[j] - found.means[k] > found.critical * errors[j, k] for k in range(5) if k != j)
        assert (found.low[j], found.high[j]) == (1 + better, 5 - worse)
    assert found.tiers.tolist() == [1, 1, 2, 3, 3]
    assert found.places.tolist() == [1 + int((found.means > mean).sum()) for mean in found.means]


@settings(max_examples=30, deadline=None)
@given(arrays(float, st.tuples(st.integers(2, 6), st.integers(5, 25)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_intervals_hold_the_place_and_do_not_depend_on_the_order(values: np.ndarray) -> None:
    found = rank(values, n_draws=100)
    assert (found.low <= found.places).all()
    assert (found.places <= found.high).all()
    other = rank(values[::-1], n_draws=100)
    assert other.low[::-1].tolist() == found.low.tolist()
    assert other.high[::-1].tolist() == found.high.tolist()


def test_systems_that_score_alike_share_their_place() -> None:
    values = answers(4, 300, 3)
    values[2] = values[0]
    values[3] = 0
    found = rank(values)
    assert found.places[0] == found.places[2]
    assert (found.low[0], found.high[0]) == (found.low[2], found.high[2])
    assert found.tiers[0] == found.tiers[2]
    assert (found.low[3], found.high[3]) == (4, 4)
    same = rank(np.stack([values[0]] * 3))
    assert same.low.tolist() == [1, 1, 1]
    assert same.high.tolist() == [3, 3, 3]


def test_clusters_widen_ranks() -> None:
    base = np.stack([answers(1, 100, at, skill)[0] for at, skill in enumerate((0.8, 0.55, 0.5))])
    values, codes = np.repeat(base, 20, axis=1), np.repeat(np.arange(100), 20)
    assert rank(values).high[0] == 1
    alone = rank(base, seed=3)
    joined = rank(values, codes, seed=3)
    assert joined.critical == pytest.approx(alone.critical, rel=0.05)
    assert joined.high.tolist() == alone.high.tolist()


def test_runs_that_differ_widen_ranks() -> None:
    rng = np.random.default_rng(4)
    one = (rng.random((3, 500)) < np.array([0.9, 0.7, 0.5])[:, None]).astype(float)
    other = (rng.random((3, 500)) < np.array([0.65, 0.6, 0.55])[:, None]).astype(float)
    assert rank([one[:1], other[1:2]]).high[0] == 1
    assert rank([one, other]).high.tolist() == [2, 2]
    steady = [np.repeat(one[:1], 3, axis=0), np.repeat(other[1:2], 3, axis=0)]
    assert rank(steady).high.tolist() == [1, 2]


def test_the_lead_and_the_items_that_decide_it() -> None:
    one, other = answers(2, 60, 5)
    one[:8], other[:8] = 1, 0
    found = lead_of(one, other)
    alone = compare(one[np.newaxis], other[np.newaxis]).interval
    assert (found.low, found.high) == (alone.low, alone.high)
    assert (found.n_for, found.n_against) == (int((one > other).sum()), int((one < other).sum()))
    assert found.effective_items == pytest.approx((one != other).sum())
    kept = np.setdiff1d(np.arange(60), found.decisive)
    assert one[kept].sum() < other[kept].sum()
    assert one[np.union1d(kept, found.decisive[:1])].sum() >= other[np.union1d(kept, found.decisive[:1])].sum()
    assert found.n_decisive == found.n_for - found.n_against + 1
    assert lead_of(one, one).n_decisive == 0


def test_halves_are_counted_as_a_loop_counts_them() -> None:
    values = np.zeros((2, 4))
    values[0, :3], values[1, 3] = 1, 1
    # Of the six halves three hold item 3; there both are right once, and share the first place.
    assert first_in_halves(values, n_halves=4000) == pytest.approx(0.75, abs=0.02)
    assert first_in_halves(np.stack([np.ones(10), np.zeros(10)])) == 1.0
    assert first_in_halves(np.ones((2, 10))) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "n_items"), [(2, 150), (8, 300)])
def test_equal_systems_have_no_sure_first_place(n_systems: int, n_items: int) -> None:
    separate = 0
    for draw in range(200):
        found = rank(answers(n_systems, n_items, draw), n_draws=400, seed=draw)
        separate += int(found.high[found.means.argmax()] == 1)
    # 5 % are allowed; 18 or more of 200 are seen in 1 of 100 such tests.
    assert separate < 18


def test_the_critical_value_is_that_of_the_studentized_range() -> None:
    """Of independent systems with equal errors the largest of all differences is a range."""
    rng = np.random.default_rng(8)
    values = (rng.random((10, 4000)) < 0.5).astype(float)
    wanted = studentized_range.ppf(0.95, 10, np.inf) / math.sqrt(2)
    assert rank(values, n_draws=4000).critical == pytest.approx(wanted, rel=0.03)


def test_all_statements_hold_at_once() -> None:
    """Of ten equal systems none is surely better than another in most boards, though there are 45 pairs."""
    wrong = 0
    for draw in range(60):
        found = rank(answers(10, 300, draw), n_draws=300, seed=draw)
        wrong += int((found.low > 1).any())
    # 5 % are allowed; 9 or more of 60 are seen in 1 of 300 such tests. By pairs alone it would be about half.
    assert wrong < 9


@pytest.mark.slow
def test_a_lead_is_found_with_the_power_of_its_size() -> None:
    """Of two systems, one sure lead in five is missed where the true lead is critical value + .84 errors."""
    n, gap = 600, 0.08
    found = []
    for draw in range(200):
        rng = np.random.default_rng([7, draw])
        need = rng.random(n)
        values = np.stack([rng.random(n) < need * 0.8 + gap / 2 + 0.1, rng.random(n) < need * 0.8 - gap / 2 + 0.1])
        ranked = rank(values.astype(float), n_draws=400, seed=draw)
        errors = math.sqrt(_errors(values.astype(float), None)[0, 1])
        found.append((ranked.high[0] == 1, gap / errors - ranked.critical))
    power = float(np.mean([sure for sure, _ in found]))
    from scipy.stats import norm

    assert power == pytest.approx(norm.cdf(np.mean([over for _, over in found])), abs=0.1)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([[1.0, 0.0]], "a board of one system"),
        ([[1.0, 0.0], [1.0]], "different numbers of items"),
        ([[1.0], [0.0]], "one item has no spread"),
        ([[1.0, 2.0], [0.0, 1.0]], "lie outside"),
        ([[1.0, math.nan], [0.0, 1.0]], "missing"),
    ],
)
def test_what_is_no_board_is_refused(scores: list[list[float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rank(scores)


@pytest.mark.parametrize("n_items", [2, 5, 8])
def test_a_few_items_make_no_place_sure_that_equal_systems_would_have(n_items: int) -> None:
    """That one of two equal systems solves all items, and the other none, happens to 2 of 2 ** n boards."""
    values = np.stack([np.ones(n_items), np.zeros(n_items)])
    by_chance = 2 / 2**n_items
    assert bool(rank(values).high[0] == 1) == (by_chance <= 0.05)


@pytest.mark.parametrize(("n_systems", "n_items"), [(2, 5), (2, 8), (5, 3), (5, 8)])
def test_equal_systems_on_few_items_are_seldom_parted(n_systems: int, n_items: int) -> None:
    rng = np.random.default_rng(5)
    wrong = 0
    for draw in range(200):
        found = rank((rng.random((n_systems, n_items)) < 0.5).astype(float), n_draws=200, seed=draw)
        wrong += int((found.low > 1).any())
    # 5 % are allowed; 18 or more of 200 are seen in 1 of 100 such tests. Without the allowance it was 10 to 21 %.
    assert wrong < 18


def test_equal_systems_in_few_clusters_are_seldom_parted() -> None:
    rng = np.random.default_rng(6)
    wrong = 0
    codes = np.repeat(np.arange(10), 20)
    for draw in range(200):
        chance = np.clip(0.5 + rng.normal(0, 0.5, (5, 10)), 0, 1)[:, codes]
        found = rank((rng.random(chance.shape) < chance).astype(float), codes, n_draws=200, seed=draw)
        wrong += int((found.low > 1).any())
    assert wrong < 18


def test_one_run_beside_several_is_taken_to_vary_as_they_do() -> None:
    """The one run may be a lucky one: on 2,000 items nothing else would say so."""
    rng = np.random.default_rng(7)
    wrong = 0
    for draw in range(100):
        need = 0.1 + 0.8 * rng.random(2000)
        scores = [
            (rng.random((n, 2000)) < np.clip(need + rng.normal(0, 0.05, (n, 1)), 0, 1)).astype(float) for n in (1, 5)
        ]
        wrong += int(rank(scores, n_draws=200, seed=draw).high.min() == 1)
    # 5 % are allowed; 11 or more of 100 are seen in 1 of 100 such tests. With no allowance it was 29 %.
    assert wrong < 11
    others = scores[1]
    spread = pooled_spread(scores)
    assert spread.variance == pytest.approx(others.mean(axis=1).var(ddof=1))
    assert spread.freedom == 4
    # Alone the one run has no spread; on a board it is no proof of the first place, unless it is far ahead.
    ahead = (rng.random((1, 2000)) < others.mean() + 1.5 * math.sqrt(spread.variance)).astype(float)
    assert lead_of(ahead, others).low > 0
    assert rivals_of(0, [ahead, others]).tolist() == [False, True]
    assert not rivals_of(0, [np.ones((1, 2000)), others]).any()


def test_the_noise_of_a_mean_over_runs_is_that_of_one_run_over_their_number() -> None:
    means = np.array([0.5, 0.7, 0.4, 0.4, 0.6, 0.6, 0.9])
    of_system = [np.arange(2), np.arange(2, 6), np.array([6])]
    noise, spread = noise_of_runs(means, of_system)
    # Squares around the means of the systems: .1² + .1² = .02 of 2 runs, 4 x .1² = .04 of 4 runs.
    pooled = (0.02 + 0.04) / (1 + 3)
    assert noise.tolist() == pytest.approx([0.02 / 1 / 2, 0.04 / 3 / 4, pooled])
    assert spread == (pytest.approx(pooled), 4)
    assert pooled_spread([means[own, np.newaxis].repeat(2, axis=1) for own in of_system]) == spread


@pytest.mark.parametrize("n", [2, 4, 6, 7, 100])
def test_few_items_make_no_system_first_that_chance_would(n: int) -> None:
    """All items fall to one of two equal systems in 2 of 2 ** n boards."""
    scores = np.stack([np.ones(n), np.zeros(n)])
    assert rivals_of(0, scores)[1] == (n < 7) == (rank(scores).high[0] == 2)
    # Scores between 0 and 1 that differ by the same on every item have no error, and show nothing.
    assert rivals_of(0, scores / 2)[1]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(2, 5), st.integers(1, 3), st.integers(0, 2**16))
def test_the_first_has_no_rival_where_each_pair_says_so(n: int, n_systems: int, n_runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    skills = rng.random((n_systems, 1, 1))
    scores = list((rng.random((n_systems, n_runs, n)) < skills).astype(float))
    found = rank(scores, n_draws=100, seed=seed)
    first = int(found.means.argmax())
    rival = rivals_of(first, scores)
    for at, own in enumerate(scores):
        alone = compare(scores[first], own, n_draws=0)
        assert rival[at] == (at != first and not (alone.interval.low > 0 and (alone.counts or alone.var_total > 0)))
    # What holds for all pairs at once holds for each.
    if found.high[first] == 1:
        assert not rival.any()


def test_the_first_of_many_is_held_against_each_and_not_against_all_pairs() -> None:
    """Two tied at the top: 5 % of boards may call one first, however many others there are."""
    rng = np.random.default_rng(11)
    n_items, wrong, at_once = 400, {3: 0, 30: 0}, 0
    for n_systems in wrong:
        skill = np.concatenate([[0.7, 0.7], np.linspace(0.55, 0.2, n_systems - 2)])[:, np.newaxis]
        for draw in range(300):
            need = rng.random(n_items)
            values = (rng.random((n_systems, n_items)) < np.clip(skill + 0.6 * (need - 0.5), 0, 1)).astype(float)
            first = int(values.mean(axis=1).argmax())
            sure = not rivals_of(first, values).any()
            wrong[n_systems] += sure
            if sure and n_systems == 30 and at_once == 0:
                at_once = int(rank(values, n_draws=100, seed=draw).high[first])
    # 5 % are allowed; 25 or more of 300 are seen in 1 of 100 such tests. Fewer than 4 would be a test of less.
    assert all(4 <= found < 25 for found in wrong.values())
    assert at_once > 1


def test_what_holds_one_way_alone_is_not_sure() -> None:
    """A system that answers easy items alone is first on these, and far behind with empty cells as wrong."""
    easy = np.stack([answers(1, 200, at, skill)[0] for at, skill in enumerate((0.98, 0.6))])
    every = np.hstack([easy, np.stack([np.zeros(300), answers(1, 300, 3, 0.6)[0]])])
    assert rank(easy).high[0] == 1
    assert not rivals_of(0, easy).any()
    assert rivals_of(0, easy, also=Items(every))[1]
    found = rank(easy, also=Items(every))
    assert (found.low.tolist(), found.high.tolist()) == ([1, 1], [2, 2])
    assert rank(easy, also=Items(easy)).high.tolist() == rank(easy).high.tolist()
    with pytest.raises(InputError, match="other systems"):
        rank(easy, also=Items(every[:1].repeat(3, axis=0)))


def test_the_critical_value_is_that_of_paired_draws() -> None:
    """Of systems that mostly solve the same items; drawn apart, their differences would move three times as far."""
    rng = np.random.default_rng(9)
    values = np.tile(rng.random(300) < 0.6, (4, 1))
    values = np.where(rng.random(values.shape) < 0.05, ~values, values).astype(float)
    means, largest = values.mean(axis=1), []
    errors = [values[j] - values[k] for j, k in combinations(range(4), 2)]
    scale = [each.std(ddof=1) / math.sqrt(300) for each in errors]
    for _ in range(2000):
        drawn = values[:, rng.integers(0, 300, 300)].mean(axis=1) - means
        moved = [drawn[j] - drawn[k] for j, k in combinations(range(4), 2)]
        largest.append(max(abs(own) / error for own, error in zip(moved, scale, strict=True)))
    wanted = float(np.quantile(largest, 0.95))
    assert rank(values).critical == pytest.approx(wanted, rel=0.06)
