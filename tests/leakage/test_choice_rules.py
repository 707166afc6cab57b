"""Rules against plain Python, their chance against enumeration, and what they say of random answers."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare, norm

from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.table import Table
from goldassay.readers.choice_rules import chance_of, measure_positions, measure_rules, pick_all
from goldassay.stats.effects import Limits, ReaderPredictions, measure_effects


def items_of(rows: list[tuple[str, list[str], list[int]]], passages: list[str] | None = None) -> ChoiceItems:
    frame = {
        "question": [row[0] for row in rows],
        "choices": [row[1] for row in rows],
        "answer": [["ABCDEF"[at] for at in row[2]] for row in rows],
        **({} if passages is None else {"passage": passages}),
    }
    found = read_choices(Table(pl.DataFrame(frame), ""), "items")
    assert found is not None
    return found


def random_items(n: int, seed: int, n_choices: int = 4) -> ChoiceItems:
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(300)])
    return items_of(
        [
            (
                " ".join(rng.choice(words, 6)),
                [" ".join(rng.choice(words, int(rng.integers(1, 6)))) for _ in range(n_choices)],
                [int(rng.integers(n_choices))],
            )
            for _ in range(n)
        ]
    )


def grams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(max(len(text) - 2, 1))}


def jaccard(one: set[str], two: set[str]) -> float:
    return len(one & two) / len(one | two)


def plain(items: ChoiceItems, rule: str) -> list[set[int]]:
    """What a rule picks from each item, by a loop."""
    found = []
    for i in range(len(items)):
        texts = [text.lower() for text in items.texts[slice(*items.offsets[[i, i + 1]].tolist())]]
        context = set(re.findall(r"\w+", f"{items.questions[i]} {items.passages[i]}".lower()))
        if rule in ("longest", "shortest"):
            values = [float(len(text)) for text in texts]
        elif rule in ("most words", "fewest words"):
            values = [float(len(text.split())) for text in texts]
        elif rule in ("most words shared", "fewest words shared"):
            values = []
            for text in texts:
                own = set(re.findall(r"\w+", text))
                values.append(len(own & context) / len(own) if own else 0.0)
        else:
            sets = [grams(text) for text in texts]
            values = [
                round(float(np.mean([jaccard(own, other) for k, other in enumerate(sets) if k != at])), 12)
                for at, own in enumerate(sets)
            ]
        best = (
            min(values) if rule in ("shortest", "fewest words", "fewest words shared", "odd one out") else max(values)
        )
        found.append({at for at, value in enumerate(values) if value == best})
    return found


TEXT = st.lists(st.sampled_from(["a", "bb", "The", "end", "of", "it"]), min_size=1, max_size=4).map(" ".join)
ROW = st.tuples(TEXT, st.lists(TEXT, min_size=2, max_size=5), st.integers(0, 1).map(lambda at: [at]))
RULES = (
    "longest", "shortest", "most words", "fewest words", "most words shared", "fewest words shared", "odd one out",
    "most like the others",
)  # fmt: skip


@given(st.lists(ROW, min_size=1, max_size=6))
def test_rules_pick_what_a_loop_picks(rows) -> None:
    items = items_of(rows)
    picks = {each.rule: each for each in pick_all(items)}
    for rule in RULES:
        wanted = plain(items, rule)
        for i, own in enumerate(wanted):
            size = int(items.sizes[i])
            applies = 0 < len(own) < size
            assert picks[rule].applies[i] == applies, rule
            right = set(np.flatnonzero(items.right[slice(*items.offsets[[i, i + 1]].tolist())]).tolist())
            assert picks[rule].hits[i] == pytest.approx(len(own & right) / len(own) if applies else len(right) / size)


def test_rules_by_words_numbers_and_form() -> None:
    items = items_of(
        [
            ("An animal is an", ["apple", "pear", "owl"], [2]),
            ("How many?", ["3 men", "1,000 men", "20"], [2]),
            ("Which?", ["it may be", "it is always so", "all of the above"], [0]),
            ("Two?", ["1 or 2", "3", "4"], [0]),
        ],
        ["", "", "they said it is always so, and left", ""],
    )
    wanted = {
        "fits the grammar": [{0, 2}, set(), set(), set()],
        "smallest number": [set(), {0}, set(), set()],
        "middle number": [set(), {2}, set(), set()],
        "largest number": [set(), {1}, set(), set()],
        "hedge": [set(), set(), {0}, set()],
        "absolute word": [set(), set(), {1, 2}, set()],
        "of the above": [set(), set(), {2}, set()],
        "copied from the passage": [set(), set(), {1}, set()],
        "position 2": [{1}] * 4,
    }
    found = {each.rule: each for each in pick_all(items)}
    for rule, picked in wanted.items():
        assert found[rule].sizes.tolist() == [len(each) for each in picked], rule
        right = [2, 2, 0, 0]
        hits = [(at in own) / len(own) if own else 1 / 3 for own, at in zip(picked, right, strict=True)]
        assert found[rule].hits.tolist() == pytest.approx(hits), rule


def test_grammar_is_read_before_a_blank() -> None:
    items = items_of(
        [
            ("She saw an ____ near the table.", ["apple", "pear", "owl"], [0]),
            ("The _ are what she saw, and it was an", ["apples", "pear"], [0]),
            ("Where there_was none, it is a", ["apple", "pear"], [1]),
            ("The dogs _ were hers", ["apples", "pear"], [0]),
        ]
    )
    found = next(each for each in pick_all(items) if each.rule == "fits the grammar")
    assert found.sizes.tolist() == [2, 0, 1, 0]
    assert found.hits.tolist() == pytest.approx([1 / 2, 1 / 2, 1.0, 1 / 2])


def test_figures_follow_their_formulas() -> None:
    items = random_items(400, 0)
    effects, picks = measure_rules(items)
    assert chance_of(items).tolist() == [0.25] * 400
    for effect, pick in zip(effects, picks, strict=True):
        if not effect.n_items:
            assert np.isnan(effect.p)
            continue
        excess = pick.hits - 0.25
        assert effect.effect == pytest.approx(excess.sum() / (400 * 0.75))
        variance = sum(1 / (t * 4) - 1 / 16 for t in pick.sizes[pick.applies].tolist())
        assert effect.z == pytest.approx(excess.sum() / np.sqrt(variance))
        assert effect.p == pytest.approx(norm.sf(effect.z))
        assert effect.p_adjusted >= effect.p
    place = next(each for each in effects if each.rule == "position 1")
    assert place.hits == pytest.approx(items.right[items.places == 0].mean())


def test_the_variance_is_that_of_all_sets_of_right_choices() -> None:
    """p (1 - p) (C - t) / ((C - 1) t) by enumeration, of one and of several right choices."""
    for size, n_right, t in itertools.product(range(2, 6), range(1, 5), range(1, 5)):
        if n_right >= size or t >= size:
            continue
        hits = [len(set(gold) & set(range(t))) / t for gold in itertools.combinations(range(size), n_right)]
        p = n_right / size
        assert np.mean(hits) == pytest.approx(p)
        assert np.var(hits) == pytest.approx(p * (1 - p) * (size - t) / ((size - 1) * t))


def test_p_of_few_items_is_that_of_drawing_answers() -> None:
    items = random_items(120, 1)
    for effect in measure_rules(items)[0]:
        if effect.rule.startswith("position"):
            exact = binomtest(round(effect.hits * 120), 120, 0.25, alternative="greater").pvalue
            assert effect.p == pytest.approx(exact, abs=0.006)


def test_clusters_make_p_larger_where_items_of_one_go_together() -> None:
    rng = np.random.default_rng(0)
    places = np.repeat(rng.integers(0, 4, 40), 20)
    rows = [(f"q{i}", [f"c{i}{at}" for at in "abcd"], [int(place)]) for i, place in enumerate(places)]
    items = items_of(rows)
    alone = {each.rule: each for each in measure_rules(items)[0]}
    joined = {each.rule: each for each in measure_rules(items, np.repeat(np.arange(40), 20))[0]}
    assert max(abs(alone[f"position {at}"].z) for at in range(1, 5)) > 2
    for rule in ("position 1", "position 2", "position 3", "position 4"):
        assert abs(joined[rule].z) <= 0.4 * abs(alone[rule].z)
        assert joined[rule].effect == alone[rule].effect


def test_random_answers_are_seldom_significant() -> None:
    """Holm over all rules: at most 5 % of sets have some p below .05; of 20 sets at most 4 (99.7 % if it were 5 %)."""
    found = sum(
        min(each.p_adjusted for each in measure_rules(random_items(320, seed))[0] if each.n_items) < 0.05
        for seed in range(20)
    )
    assert found <= 4


def test_skill_over_chance_is_that_of_the_rule_and_bounded_by_where_it_applies() -> None:
    items = random_items(500, 2)
    effects, picks = measure_rules(items)
    chance = chance_of(items)
    readings = [
        ReaderPredictions("choices", each.rule, None, correct=each.hits[None], chance=chance, applies=each.applies)
        for each in picks
        if each.applies.any()
    ]
    skill = Limits(0.03, 0.12)
    limits = {"accuracy skill": skill, "balanced skill": skill, "information share": skill}
    found = measure_effects(readings, np.zeros(500, np.int64), 4, limits)
    by_rule = {each.rule: each for each in effects}
    assert len(found.effects) == len(readings)
    for effect, reading in zip(found.effects, readings, strict=True):
        assert effect.measure == "accuracy skill"
        assert effect.value == pytest.approx(by_rule[effect.reader].effect)
        assert effect.measurable == (by_rule[effect.reader].n_items >= 10)
        if not effect.measurable:
            continue
        assert effect.low <= effect.value <= effect.high
        assert reading.applies is not None
        assert effect.high <= reading.applies.mean() + 1e-12
        assert effect.low >= -reading.applies.mean() / 3 - 1e-12


@pytest.mark.parametrize("skill", [0.0, 0.12])
def test_the_interval_over_chance_covers(skill: float) -> None:
    """Upper ends lie above the truth in 97.5 % of sets: in 94 of 100 or more (99 % if so)."""
    rng = np.random.default_rng(0)
    limits = Limits(0.03, 0.12)
    above = 0
    for _ in range(100):
        right = np.where(rng.random(400) < skill, 1.0, (rng.random(400) < 0.25).astype(float))
        reading = ReaderPredictions("choices", "r", None, correct=right[None], chance=np.full(400, 0.25))
        found = measure_effects(
            [reading], np.zeros(400, np.int64), 2,
            {"accuracy skill": limits, "balanced skill": limits, "information share": limits}, n_draws=300,
        )  # fmt: skip
        above += found.effects[0].high >= skill
    assert above >= 94


def keyed(keys: np.ndarray, n_choices: int = 5) -> ChoiceItems:
    """Items whose right choices stand at these places."""
    return items_of([(f"q{at}", [f"c{k}" for k in range(n_choices)], [int(key)]) for at, key in enumerate(keys)])


def test_places_are_tested_together_as_pearson_does() -> None:
    """AQuA's keys stand at its five places 132, 124, 89, 103 and 60 times."""
    counts = (132, 124, 89, 103, 60)
    found = measure_positions(keyed(np.repeat(np.arange(5), counts)))
    assert found is not None
    expected = chisquare(counts)
    assert (found.chi_square, found.p, found.df) == pytest.approx((expected.statistic, expected.pvalue, 4))
    assert found.p == pytest.approx(1.4e-6, rel=0.01)
    assert (found.position, found.share, found.n_items) == (1, pytest.approx(132 / 508), 508)
    assert found.skill == pytest.approx((132 / 508 - 0.2) / 0.8)
    assert found.to_move == pytest.approx((132 + 124 + 103 - 3 * 101.6) / 508)


def test_items_of_several_sizes_and_right_choices_differ_from_chance_as_drawn_ones_do() -> None:
    """Against right choices drawn anew in every item, 4,000 times."""
    rng = np.random.default_rng(0)
    shapes = [(int(rng.integers(2, 6)), int(rng.integers(1, 3))) for _ in range(60)]

    def drawn(draw: np.random.Generator) -> ChoiceItems:
        return items_of(
            [
                ("q", [f"c{k}" for k in range(size)], sorted(draw.choice(size, min(right, size - 1), replace=False)))
                for size, right in shapes
            ]
        )

    kept = [measure_positions(drawn(np.random.default_rng(seed))) for seed in range(300)]
    p = np.array([each.p for each in kept if each is not None])
    assert p.size == 300
    for level in (0.05, 0.2, 0.5):
        assert (p < level).mean() == pytest.approx(level, abs=3.5 * np.sqrt(level * (1 - level) / 300))


@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_items_of_a_passage_are_not_counted_as_independent(alike: float) -> None:
    """Where passages have all keys at one place, the test is that of passages; else as many items more tell more."""
    rng = np.random.default_rng(1)
    of_passage = rng.integers(0, 4, 60)
    keys = np.where(rng.random(600) < alike, np.repeat(of_passage, 10), rng.integers(0, 4, 600))
    items, clusters = keyed(keys, 4), np.repeat(np.arange(60), 10)
    plain, clustered = measure_positions(items), measure_positions(items, clusters)
    passages = measure_positions(keyed(of_passage, 4))
    assert plain is not None
    assert clustered is not None
    assert passages is not None
    if alike:
        assert plain.p < 1e-4 < clustered.p
        assert clustered.p == pytest.approx(passages.p, abs=0.1)
    else:
        assert clustered.p == pytest.approx(plain.p, abs=0.25)


def test_the_test_of_places_keeps_its_level() -> None:
    """At 5 % of 400 sets of 150 items, in passages of 5 whose keys are alike by .2."""
    found, items = 0, keyed(np.zeros(150, np.int64), 4)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        own, shared = rng.integers(0, 4, 150), np.repeat(rng.integers(0, 4, 30), 5)
        keys = np.where(rng.random(150) < 0.45, shared, own)
        drawn = replace(items, right=items.places == keys[items.item_of])
        each = measure_positions(drawn, np.repeat(np.arange(30), 5))
        assert each is not None
        found += each.p < 0.05
    # Above 32 of 400 is rarer than one of 200 at a true level of 5 %.
    assert found <= 32


def test_places_that_every_passage_has_as_often_are_even() -> None:
    found = measure_positions(keyed(np.tile(np.arange(4), 30), 4), np.repeat(np.arange(30), 4))
    assert found is not None
    assert (found.chi_square, found.p, found.to_move) == (pytest.approx(0, abs=1e-9), 1, pytest.approx(0, abs=1e-9))
