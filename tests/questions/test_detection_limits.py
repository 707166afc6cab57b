"""What readers of known powers would have found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.questions.detection_limits import PlantedRows, find_limits, largest_limits
from goldassay.questions.effect_sentences import skill_limits
from goldassay.stats.detection import DOSES, FIFTY_WORDS, LARGE_DOSES, SMALL_DOSES, KindLimit
from goldassay.stats.effects import ReaderPredictions, measure_effects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.stats.detection import Planting, Shape
    from goldassay.stats.effects import Effects


pytestmark = pytest.mark.usefixtures("pairs_planted")


def world(
    power: Mapping[str, float], n: int = 3000, shares: tuple[float, ...] = (0.4, 0.3, 0.3)
) -> tuple[PlantedRows, Effects, list[tuple[Shape, float]]]:
    """Readers that guess, and in a copy find a share of the planted rows of each shape; and what they were asked."""
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.searchsorted(np.cumsum(shares), (np.arange(n) + 0.5) / n))
    guesses = rng.integers(0, len(shares), (3, n))
    readers: dict[Shape, str] = {"word": "words", "form": "form", "together": "pairs"}
    here = {
        shape: ReaderPredictions("text", name, guesses[at : at + 1])
        for at, (shape, name) in enumerate(readers.items())
        if shape in power
    }
    asked = []

    def read_copy(planting: Planting, shape: Shape, _: int) -> ReaderPredictions:
        own = planting.words[:, 1] >= 0 if shape == "together" else planting.forms > 0
        if shape == "word":
            own = (planting.cells >= 0) & (planting.words[:, 1] < 0) & (planting.forms == 0)
        asked.append((shape, float((planting.cells >= 0).mean())))
        found = own & (np.random.default_rng(1).random(n) < power[shape])
        before = here[shape].predictions
        assert before is not None
        return replace(here[shape], predictions=np.where(found, codes, before))

    rows = PlantedRows(codes, len(shares), np.zeros(n, np.int64), np.arange(n), here, read_copy, None, n)
    effects = measure_effects(list(here.values()), codes, len(shares), skill_limits(0.03, 0.12), n_draws=200)
    return rows, effects, asked


def limits_of(rows: PlantedRows, effects: Effects, *_: object) -> dict[str, KindLimit]:
    return {each.kind: each for each in find_limits(rows, effects.effects, 0)}


def test_each_kind_is_excluded_by_the_reader_that_sees_it() -> None:
    rows, effects, asked = world({"word": 1.0, "form": 0.0})
    found = limits_of(rows, effects)
    value = max(each.value for each in effects.effects if each.measure == "balanced skill")
    error = next(each.standard_error for each in effects.effects if each.measure == "balanced skill")
    for kind in ("one word", "ten words", "fifty words"):
        assert found[kind].recovered == (1,) * 4
        assert found[kind].limit == pytest.approx(max(value, 0) + 2.24 * error, rel=0.1)
    assert found["form"].limit == 1
    assert found["form"].recovered == (0,) * 4
    # Nobody reads two words together here.
    assert [each.limit for each in found.values() if not each.counts] == [1, 1]
    # Words of three kinds at four shares, and form at one; at the last one alone.
    assert {round(share, 2) for shape, share in asked if shape == "word"} == {0.74, 0.76, 0.79}
    assert [round(share, 2) for shape, share in asked if shape == "form"][:4] == [0.74, 0.76, 0.79, 0.11]
    # It was not found, and so planted in larger shares.
    assert [round(share, 2) for shape, share in asked if shape == "form"][4:] == list(LARGE_DOSES)


@pytest.mark.parametrize("power", [0.3, 0.6, 0.9])
def test_what_is_recovered_is_the_power_of_the_reader(power: float) -> None:
    rows, effects, _ = world({"word": power, "form": power}, n=6000)
    for each in find_limits(rows, effects.effects, 0):
        if each.counts:
            assert each.recovered == pytest.approx((power,) * 5, abs=0.2)
            assert each.doses == SMALL_DOSES + DOSES


def test_two_words_together_are_alone_and_read_only_as_far_as_needed() -> None:
    rows, effects, asked = world({"word": 0.0, "together": 0.0})
    find_limits(rows, effects.effects, 0)
    assert [round(share, 2) for shape, share in asked if shape == "together"] == [DOSES[-1]] * 2
    rows, effects, asked = world({"word": 1.0, "together": 1.0})
    found = limits_of(rows, effects)
    assert {round(share, 2) for shape, share in asked if shape == "together"} == {*DOSES[1:], DOSES[0]}
    assert found["two words together (3 and 3)"].limit == pytest.approx(found["one word"].limit, abs=0.02)
    assert not found["two words together (3 and 3)"].counts


def test_few_rows_are_planted_in_larger_shares() -> None:
    assert {
        each.doses for each in find_limits(*world({"word": 1.0}, n=400)[:1], world({"word": 1.0}, n=400)[1].effects, 0)
    } == {DOSES}
    rows, effects, asked = world({"word": 1.0}, n=200)
    assert {each.doses for each in find_limits(rows, effects.effects, 0)} == {LARGE_DOSES}
    assert max(share for _, share in asked) <= 1


def test_many_words_are_not_shown_on_few_rows() -> None:
    counted = [limits_of(*world({"word": 1.0}, n=n)) for n in (999, 1002)]
    assert [each["fifty words"].counts for each in counted] == [False, True]
    assert all(each["ten words"].counts for each in counted)


def test_of_some_kinds_only_these_are_planted_and_some_do_not_count() -> None:
    rows, effects, asked = world({"word": 1.0, "form": 1.0, "together": 1.0})
    found = find_limits(replace(rows, uncounted=(FIFTY_WORDS,)), effects.effects, 0, ("word",))
    assert {each.kind: each.counts for each in found} == {"one word": True, "ten words": True, "fifty words": False}
    assert {shape for shape, _ in asked} == {"word"}


def test_a_word_of_the_rarest_label_adds_a_share_of_the_recalls() -> None:
    rows, effects, _ = world({"word": 1.0}, n=6000, shares=(0.92, 0.08))
    found = limits_of(rows, effects)
    rarest = found["one word of the rarest label"]
    assert set(rarest.recovered) == {1}
    assert rarest.limit == pytest.approx(2 * found["one word"].limit, rel=0.2)
    assert "one word of the rarest label" not in limits_of(*world({"word": 1.0}))


def test_a_larger_effect_here_excludes_less() -> None:
    rows, effects, _ = world({"word": 1.0})
    worse = replace(effects, effects=tuple(replace(each, value=0.2) for each in effects.effects))
    gap = limits_of(rows, worse)["one word"].limit - limits_of(rows, effects)["one word"].limit
    assert gap == pytest.approx(0.2, abs=0.02)


def test_choices_are_measured_over_chance_alone() -> None:
    n, rng = 1000, np.random.default_rng(0)
    chance = np.full(n, 0.25)
    here = ReaderPredictions(
        "choices", "words", None, correct=(rng.random(n) < 0.25)[np.newaxis].astype(float), chance=chance
    )

    def read_copy(planting: Planting, shape: Shape, _: int) -> ReaderPredictions:
        assert here.correct is not None
        return replace(here, correct=np.where(planting.cells >= 0, 1.0, here.correct))

    codes: NDArray[np.int64] = np.zeros(n, np.int64)
    rows = PlantedRows(codes, 1, codes, np.arange(n), {"word": here}, read_copy, None, n)
    effects = measure_effects([here], codes, 4, skill_limits(0.03, 0.12), n_draws=200)
    found = limits_of(rows, effects)
    (effect,) = effects.effects
    assert found["ten words"].limit == pytest.approx(
        max(effect.value + 1.96 * effect.standard_error, DOSES[0]), rel=0.05
    )


def test_larger_shares_are_planted_where_small_ones_are_not_found() -> None:
    """A reader that finds cues only where these are in 18 % of the rows or more."""
    rows, effects, _ = world({"word": 1.0})
    before = rows.here["word"]

    def read_copy(planting: Planting, _: Shape, __: int) -> ReaderPredictions:
        many = np.bincount(planting.cells[planting.cells >= 0], minlength=99) >= 0.17 * rows.codes.size
        found = (planting.cells >= 0) & many[planting.cells]
        assert before.predictions is not None
        return replace(before, predictions=np.where(found, rows.codes, before.predictions))

    found = limits_of(replace(rows, read_copy=read_copy), effects)
    assert found["ten words"].doses == LARGE_DOSES
    assert found["ten words"].recovered == (0, 1, 1)
    assert found["ten words"].limit == pytest.approx(LARGE_DOSES[1])


def test_each_kind_has_its_own_curve() -> None:
    """A reader that finds words alone of which a label has one."""
    rows, effects, _ = world({"word": 1.0})
    before = rows.here["word"].predictions
    assert before is not None

    def read_copy(planting: Planting, _: Shape, __: int) -> ReaderPredictions:
        n_words = [
            np.unique(planting.words[planting.cells == cell, 0]).size for cell in range(planting.cells.max() + 1)
        ]
        found = (planting.cells >= 0) & (np.array([*n_words, 99])[planting.cells] <= 3)
        return replace(rows.here["word"], predictions=np.where(found, rows.codes, before))

    found = limits_of(replace(rows, read_copy=read_copy), effects)
    assert found["one word"].recovered == (1,) * len(found["one word"].doses)
    assert {share for kind in ("ten words", "fifty words") for share in found[kind].recovered} == {0}


def test_readers_of_places_have_one_measure() -> None:
    rows, _, _ = world({"word": 1.0})
    here = {shape: replace(each, of_places=True) for shape, each in rows.here.items()}
    own = measure_effects(list(here.values()), rows.codes, 3, skill_limits(0.03, 0.12), n_draws=200)

    def read_copy(planting: Planting, shape: Shape, seed: int) -> ReaderPredictions:
        return replace(rows.read_copy(planting, shape, seed), of_places=True)

    found = limits_of(replace(rows, here=here, read_copy=read_copy), own)
    (effect,) = own.effects
    wanted = max(max(effect.value, 0) + 1.96 * effect.standard_error, found["one word"].doses[0])
    assert found["one word"].limit == pytest.approx(wanted, rel=0.15)


def test_the_worst_part_counts_for_each_kind() -> None:
    def limits(*found: float) -> tuple[KindLimit, ...]:
        return tuple(KindLimit(f"kind {at}", limit, True, (1.0,), (0.1,)) for at, limit in enumerate(found))

    assert [each.limit for each in largest_limits([limits(0.1, 0.5), limits(0.2, 0.3)])] == [0.2, 0.5]
