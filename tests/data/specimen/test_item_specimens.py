"""Specimens of items: what the certificate lists is in the file, counted by other means; clean ones tell nothing."""

from __future__ import annotations

import json
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.specimen import choice_specimen, preference_specimen
from goldassay.data.specimen.item_kinds import ITEM_KINDS, make_item_specimen, write_item_specimen
from goldassay.data.specimen.item_specimen import OPENINGS, ItemSpecimen, draw_tails, lengthen, worded
from goldassay.data.table import Table
from goldassay.readers.choice_rules import measure_rules
from goldassay.readers.preference_rules import measure_preference_rules

if TYPE_CHECKING:
    from pathlib import Path

READ = {"choices": read_choices, "preferences": read_preferences}
MEASURE: dict[str, Any] = {"choices": measure_rules, "preferences": measure_preference_rules}


def items_of(specimen: ItemSpecimen) -> ChoiceItems:
    found = READ[specimen.name](Table(specimen.table, ""), "specimen")
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ITEM_KINDS)
@pytest.mark.parametrize("clean", [False, True], ids=["flawed", "clean"])
def test_the_same_seed_writes_the_same_bytes(tmp_path: Path, kind: str, clean: bool) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        paths = write_item_specimen(tmp_path / name, kind, 1000, seed, clean=clean)
        assert [path.name for path in paths] == [f"{kind}.jsonl", "certificate.json"]
    a, b, c = ((tmp_path / name / f"{kind}.jsonl").read_bytes() for name in "abc")
    assert a == b != c
    certificate = json.loads((tmp_path / "a" / "certificate.json").read_text("utf-8"))
    assert (certificate["kind"], certificate["size"], certificate["clean"]) == (kind, 1000, clean)


@pytest.mark.parametrize("kind", ["choices", "preferences"])
@pytest.mark.parametrize("clean", [False, True], ids=["flawed", "clean"])
def test_certified_effects_are_those_of_the_rules(kind: str, clean: bool) -> None:
    specimen = make_item_specimen(kind, 1500, 1, clean=clean)
    found = {each.rule: each for each in MEASURE[kind](items_of(specimen))[0]}
    assert specimen.certificate["rules"]
    for row in specimen.certificate["rules"]:
        assert found[row["rule"]].effect == pytest.approx(row["effect"], abs=1e-12), row
        assert found[row["rule"]].n_items == row["n_items"]
        assert row["effect"] == pytest.approx(row["planted"], abs=0.06)


@pytest.mark.parametrize("kind", ["choices", "preferences"])
def test_planted_openings_are_where_the_certificate_says(kind: str) -> None:
    specimen = make_item_specimen(kind, 1500, 2)
    items = items_of(specimen)
    for entry in specimen.certificate["patterns"]:
        held = items.texts.str.starts_with(f"{entry['pattern']},").to_numpy()
        assert held.sum() == entry["support"]
        assert items.right[held].mean() == entry["probability_realized"]
        assert abs(items.right[held].sum() - entry["probability"] * held.sum()) <= 0.5
        assert len(entry["pattern"]) == len(OPENINGS[0])


def test_all_openings_are_of_one_length() -> None:
    words = {*OPENINGS, *(each.opening for each in (*choice_specimen.PHRASES, *preference_specimen.PHRASES))}
    assert {len(word) for word in words} == {7}
    assert len(preference_specimen.REFUSAL) == len(preference_specimen.NO_REFUSAL)
    assert len(preference_specimen.REFUSAL.split()) == len(preference_specimen.NO_REFUSAL.split())


def test_damaged_items_are_those_certified_and_no_others() -> None:
    specimen = make_item_specimen("choices", 1500, 0)
    problems = {row["id"]: row for row in specimen.certificate["problems"]}
    rows = {row["id"]: row for row in specimen.table.iter_rows(named=True)}
    assert len({row["problem"] for row in problems.values()}) == 5
    for name, row in rows.items():
        choices, answer = row["choices"], row["answer"]
        seen = problems.get(name, {}).get("problem", "")
        assert (answer > 3) == (seen == choice_specimen.UNKNOWN_ANSWER)
        assert ("" in choices) == (seen == choice_specimen.EMPTY)
        assert (len(set(choices)) < 4) == (seen in (choice_specimen.DUPLICATE, choice_specimen.RIGHT_TWICE))
        if seen == choice_specimen.OTHER_ANSWER:
            original = rows[problems[name]["of"]]
            assert (original["question"], original["choices"]) == (row["question"], choices)
            assert original["answer"] != answer
    assert specimen.table["question"].n_unique() == specimen.table.height - sum(
        row["problem"] == choice_specimen.OTHER_ANSWER for row in problems.values()
    )


@pytest.mark.parametrize("kind", ["choices", "preferences"])
def test_no_rule_gains_on_a_clean_specimen(kind: str) -> None:
    found = MEASURE[kind](items_of(make_item_specimen(kind, 20_000, 5, clean=True)))[0]
    tested = [each for each in found if each.n_items]
    assert len(tested) >= 4
    assert min(each.p_adjusted for each in tested) > 0.01


def test_the_right_choice_is_told() -> None:
    """The question tells the kind of the right choice's value."""
    from goldassay.data.specimen import lexicon

    kind_of = {
        value: kind
        for scale in vars(lexicon).values()
        if isinstance(scale, lexicon.Scale)
        for kind, values in scale.kinds.items()
        for value in values
    }
    values = sorted(kind_of, key=len, reverse=True)
    for row in make_item_specimen("choices", 300, 0, clean=True).table.iter_rows(named=True):
        right = f"{row['choices'][row['answer']][:-1]} ".replace(",", " ")
        assert any(f" {kind_of[value]}" in row["question"] for value in values if f" {value} " in right), row


def test_judgments_are_as_certified() -> None:
    specimen = make_item_specimen("judgments", 1000, 0)
    table = specimen.table.with_columns(a=pl.col("winner") == pl.col("model_a"))
    for judge in specimen.certificate["judges"]:
        own = table.filter(pl.col("judge") == judge["judge"])
        both = own.pivot("order", index=["item", "human"], values="a")
        one, other = both["original"].to_numpy().astype(float), both["swapped"].to_numpy().astype(float)
        assert np.mean(one - other) == pytest.approx(judge["position_realized"], abs=1e-12)
        assert np.mean(one != other) == pytest.approx(judge["changed"], abs=1e-12)
        people = (both["human"] == "model_a").to_numpy()
        assert np.mean([one == people, other == people]) == pytest.approx(judge["accuracy"], abs=1e-12)
        assert judge["position"] == pytest.approx(judge["position_realized"], abs=0.06)


@pytest.mark.parametrize("kind", ITEM_KINDS)
def test_sizes_are_checked(kind: str) -> None:
    with pytest.raises(InputError, match="at least 1,000"):
        make_item_specimen(kind, 999)
    with pytest.raises(InputError, match="at least 200"):
        make_item_specimen(kind, 199, clean=True)
    with pytest.raises(InputError, match="at most"):
        make_item_specimen(kind, 2_000_000)
    with pytest.raises(InputError, match="negative"):
        make_item_specimen(kind, 1000, -1)


def test_a_lengthened_option_is_the_longest_in_characters_and_in_words() -> None:
    rng = Random(0)
    # Of more words, and of more characters.
    claims = ("a b c d e f g h", "incomprehensibilities notwithstanding", "of middle length")
    for place, drawn in product(range(3), (False, True)):
        tails = [draw_tails(rng) if drawn else [] for _ in claims]
        lengthen(rng, claims, tails, place)
        texts = [worded("Clearly", claim, own) for claim, own in zip(claims, tails, strict=True)]
        others = [text for at, text in enumerate(texts) if at != place]
        assert all(len(texts[place]) > len(other) for other in others)
        assert all(len(texts[place].split()) > len(other.split()) for other in others)
