"""What several figures say together, and how that is said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from goldassay.lab.papers.pooling import Figure, hold_together, judge_each, p_of, pool_claim
from goldassay.lab.papers.recipe import Conclusion
from goldassay.stats.significance import pool_estimates
from tests.stated import says, states

if TYPE_CHECKING:
    from goldassay.lab.papers.pooling import Scale

Z = float(stats.norm.ppf(0.975))


def test_ratios_are_pooled_as_logarithms():
    figures: list[Figure] = [(2.0, 2.0 / 1.5, 2.0 * 1.5), (4.0, 4.0 / 1.2, 4.0 * 1.2), (3.0, 2.0, 4.5)]
    found = pool_claim(figures, {"sets": "abc"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    wanted = pool_estimates(np.log([2, 4, 3]), np.log([1.5, 1.2, 1.5]) / Z)
    ends = tuple(math.exp(each) for each in (wanted.value, wanted.low, wanted.high))
    assert (found.value, found.low, found.high) == pytest.approx(ends)
    assert (found.standing(1.0), found.standing(100.0)) == ("held", "did not hold")
    assert found.sentence.startswith("Pooled over 3 sets in 3 sets, between which ")


def test_the_longer_side_gives_the_error():
    found = pool_claim([(9.0, 0.9, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.9, 90.0))
    # Where the lower side has no end, the upper one gives it.
    found = pool_claim([(9.0, -1.0, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((4.5, 18.0))
    assert pool_claim([(-1.0, -2.0, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log") is None


def test_correlations_are_pooled_by_fisher():
    found = pool_claim([(0.5, 0.2, 0.7)] * 3, {"sets": "abc"}, what="sets", unit="correlation", scale="fisher")
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert -1 < found.low < 0.5 < found.high < 1


def test_what_has_no_interval_is_left_out_and_counted():
    figures: list[Figure] = [
        (0.1, 0.05, 0.15),
        (0.2, None, 0.3),
        (None, None, None),
        (0.12, 0.07, 0.17),
        (0.1, 0.1, 0.1),
    ]
    found = pool_claim(figures, {"sets": "abcde"}, what="parts", unit="difference")
    assert found is not None
    assert found.pooled.n_estimates == 2
    assert states(found.sentence, "2 parts", "3 without an interval", "2 sets")
    assert pool_claim(figures[1:3], {"sets": "ab"}, what="parts", unit="difference") is None


def test_one_family_says_nothing_of_others():
    found = pool_claim([(0.1, 0.05, 0.15)] * 3, {"sets": "aaa"}, what="parts", unit="difference")
    assert found is not None
    assert found.sentence == says("Pooled over 3 parts", "not independent", "not known")
    assert (found.low, found.high) == pytest.approx((0.05, 0.15))


def test_a_half_does_not_flip_a_conclusion():
    """Ten of twenty surely above and twelve of twenty say the same where the figures do."""
    for n_sure in (10, 12):
        figures: list[Figure] = [(0.05, 0.001 if i < n_sure else -0.001, 0.1) for i in range(20)]
        found = pool_claim(figures, {"sets": range(20)}, what="pairs", unit="difference")
        assert found is not None
        assert found.standing() == "held"


@pytest.mark.parametrize(
    ("unit", "figures", "ends"),
    [
        ("difference", [(0.4, 0.3, 0.5), (0.9, 0.8, 1.0)], (-1.0, 1.0)),
        ("share", [(0.1, 0.05, 0.15), (0.8, 0.7, 0.9)], (0.0, 1.0)),
        ("points", [(0.1, 0.05, 0.15), (0.8, 0.7, 0.9)], (0.0, 1.0)),
    ],
)
def test_intervals_are_cut_to_what_is_possible(unit: str, figures: list[Figure], ends: tuple[float, float]):
    """Two families give intervals that name accuracies more than 100 points apart."""
    uncut = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit, limits=(9.0,), within=(-math.inf, math.inf))
    found = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit, limits=(9.0,))
    assert uncut is not None
    assert found is not None
    assert uncut.low < ends[0]
    assert uncut.high > ends[1]
    assert (found.low, found.high) == ends
    assert found.value == uncut.value
    assert "103" not in found.sentence
    wide = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit, limits=(9.0,), within=(-2.0, 2.0))
    assert wide is not None
    assert (wide.low, wide.high) == (max(uncut.low, -2.0), min(uncut.high, 2.0))


@pytest.mark.parametrize("degrees", [0, 1, 4, 30])
@pytest.mark.parametrize("value", [-1.7, -0.2, 0.4, 2.5])
def test_p_is_that_of_the_distribution_that_gave_the_interval(degrees: int, value: float):
    of = stats.t(degrees) if degrees else stats.norm
    error, than = 0.6, 0.3
    reach = of.ppf(0.975) * error
    wanted = 2 * of.sf(abs(value - than) / error)
    assert p_of(value, value - reach, value + reach, than, degrees) == pytest.approx(wanted)


def test_p_goes_by_the_side_of_the_interval_that_decides():
    assert p_of(1.0, 0.0, 9.0) == pytest.approx(0.05)
    assert p_of(-1.0, -9.0, 0.0) == pytest.approx(0.05)
    assert (p_of(1.0, 1.0, 1.0), p_of(0.0, 0.0, 0.0)) == (0.0, 1.0)


@pytest.mark.parametrize(("scale", "limits"), [("plain", (0.0, 0.2)), ("log", (1.0, 0.5)), ("fisher", (0.0, 0.3))])
def test_the_p_of_a_claim_is_below_5_percent_where_its_interval_leaves_the_limit_out(
    scale: Scale, limits: tuple[float, float]
):
    for shift in np.linspace(0.05, 0.6, 12):
        figures: list[Figure] = [(shift + at, shift + at - 0.15, shift + at + 0.15) for at in (0.0, 0.05, 0.1)]
        found = pool_claim(figures, {"sets": "abc"}, what="sets", unit="x", scale=scale, within=(-9, 9))
        assert found is not None
        for limit in limits:
            assert (found.p(limit) < 0.05) == (found.low > limit or found.high < limit)


def _concluded(*p_values: float | None) -> list[str]:
    given = [
        Conclusion(str(at), "It is so.", "", "held" if p is None or p < 0.05 else "not shown", "Since.", p=p)
        for at, p in enumerate(p_values)
    ]
    found = hold_together(given)
    for before, after in zip(given, found, strict=True):
        assert (after.evidence != before.evidence) == (after.standing != before.standing)
    return [each.standing for each in found]


def test_what_one_of_many_conclusions_shows_by_chance_is_taken_back():
    assert _concluded(0.03) == ["held"]
    assert _concluded(0.03, 0.5) == ["not shown", "not shown"]
    assert _concluded(0.02, 0.5) == ["held", "not shown"]
    # The more hold, the less the others are asked for.
    assert _concluded(0.001, 0.001, 0.03) == ["held"] * 3
    # What is judged together with others already does not count.
    assert _concluded(0.03, None, None) == ["held"] * 3
    assert _concluded(None) == ["held"]


def test_pages_with_nothing_to_find_say_something_in_5_percent_of_cases():
    rng = np.random.default_rng(0)
    said = sum(any(each == "held" for each in _concluded(*rng.random(9))) for _ in range(2000))
    # Without the correction it is 37 %.
    assert 0.035 < said / 2000 < 0.065


def figure(value: float, error: float = 0.1) -> Figure:
    return value, value - Z * error, value + Z * error


@pytest.mark.parametrize(
    ("values", "some", "every"),
    [
        ((0.5, 0.0, 0.0), "held", "not shown"),
        ((0.5, 0.4, 0.3), "held", "held"),
        ((-0.5, -0.4, -0.3), "did not hold", "did not hold"),
        ((0.5, -0.5, 0.0), "held", "did not hold"),
        ((0.21, 0.0, 0.0), "not shown", "not shown"),
        ((0.21, 0.3, 0.3), "held", "held"),
        ((-0.01, -0.02, -0.5), "not shown", "did not hold"),
    ],
)
def test_some_and_all_are_judged_as_they_are_said(values: tuple[float, ...], some: str, every: str):
    figures = [figure(value) for value in values]
    found = {name: judge_each(figures, name) for name in ("some", "all")}
    assert {name: each.standing for name, each in found.items() if each} == {"some": some, "all": every}
    for each in found.values():
        assert each is not None
        assert each.n == 3
        value, low, high = each.figure
        assert (low < 0 < high) is (each.standing == "not shown")
        assert value == pytest.approx(values[each.at])


def test_of_many_figures_that_are_nothing_one_is_said_to_be_something_as_often_as_is_allowed():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((1000, 12)) * 0.1
    said = {
        name: sum(
            found.standing == wanted
            for row in draws
            if (found := judge_each([figure(v) for v in row], name)) is not None
        )
        for name, wanted in (("some", "held"), ("all", "did not hold"))
    }
    # One-sided, so that half of .05; within three errors of a count.
    assert all(8 <= n <= 42 for n in said.values()), said


def test_degrees_of_freedom_widen_and_ratios_have_their_scale():
    figures: list[Figure] = [(2.0, 1.1, 3.6), (1.0, 0.5, 2.0)]
    few = judge_each(figures, "some", than=1.0, scale="log", degrees=[8, 8])
    many = judge_each(figures, "some", than=1.0, scale="log")
    assert few is not None
    assert many is not None
    assert few.p > many.p
    assert few.figure[1] < many.figure[1]
    assert judge_each([(2.0, 0.0, 4.0)], "some", than=1.0, scale="log").p == 1.0  # type: ignore[union-attr]
    assert judge_each([(1.0, None, 2.0), (1.0, 1.0, 1.0)], "some") is None


def test_two_families_that_say_nothing_have_no_numbers():
    wide: list[Figure] = [(2.0, 1.5, 2.7), (9.0, 7.0, 11.6)]
    found = pool_claim(wide, {"sets": "ab"}, what="pairs", unit="ratio", scale="log")
    assert found is not None
    assert (math.isnan(found.low), math.isnan(found.high), found.standing(1.0), found.p(1.0)) == (
        True, True, "not shown", 1.0,
    )  # fmt: skip
    assert "two sets say nothing about others" in found.sentence
    three = pool_claim([*wide, (4.0, 3.0, 5.3)], {"sets": "abc"}, what="pairs", unit="ratio", scale="log")
    assert three is not None
    assert math.isfinite(three.low)
    # Two that agree on which side of the limit they lie say so.
    same = pool_claim([(9.0, 8.9, 9.1)] * 2, {"sets": "ab"}, what="pairs", unit="ratio", scale="log")
    assert same is not None
    assert same.standing(1.0) == "held"
