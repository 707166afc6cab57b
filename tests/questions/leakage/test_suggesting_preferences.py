"""Preferences to rewrite: rules in the direction in which they gain, how many pairs to change, and a changed copy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.specimen.item_kinds import make_item_specimen
from goldassay.data.table import Table
from goldassay.questions.leakage.item_suggestions import changed_copy, suggest_items
from goldassay.readers.preference_rules import effects_by_rule, toward_right
from tests.questions.test_preferences import made
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.kinds.choices import ChoiceItems


def items_of(frame: pl.DataFrame) -> ChoiceItems:
    found = read_preferences(Table(frame, ""), "pairs")
    assert found is not None
    return found


def turned(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.rename({"chosen": "rejected", "rejected": "chosen"}).select(frame.columns)


def longer_share(items: ChoiceItems) -> float:
    """2 (share of pairs with the longer one preferred, equal ones half) - 1, counted pair by pair."""
    hits = 0.0
    for begin, end in zip(items.offsets[:-1].tolist(), items.offsets[1:].tolist(), strict=True):
        lengths = [len(text) for text in items.texts[begin:end].to_list()]
        right = lengths[items.right[begin:end].tolist().index(True)]
        wrong = lengths[items.right[begin:end].tolist().index(False)]
        hits += 1.0 if right > wrong else 0.5 if right == wrong else 0.0
    return 2 * hits / len(items) - 1


@pytest.mark.parametrize("shorter", [False, True], ids=["longer", "shorter"])
def test_a_ruler_is_at_chance_once_so_many_pairs_are_changed(shorter: bool) -> None:
    frame = made(400, 0, ruler=0.5)
    items = items_of(turned(frame) if shorter else frame)
    found = suggest_items(items, shares=(0.1,), n_seeds=2)
    mends = {row["rule"]: row for row in found.mends.iter_rows(named=True)}
    row = mends["shorter" if shorter else "longer"]
    share = longer_share(items)
    assert row["effect"] == pytest.approx(-share if shorter else share)
    assert row["n_to_change"] == math.ceil(abs(share) * len(items) / 2 - 1e-9)
    # The rule that needs most is at chance; what mends it may change the other a little beyond.
    assert not any(math.isnan(each["after"]) for each in mends.values())
    of_length = ("longer", "shorter", "more words", "fewer words")
    worst = max((mends[rule] for rule in of_length if rule in mends), key=lambda each: each["effect"])
    assert abs(worst["after"]) < 0.01
    assert abs(row["after"]) < 0.06
    assert found.changed["n_lengthened"] == worst["n_to_change"]
    assert found.changed["improvement"] < 0.6 * found.before["improvement"]


def test_the_copy_swaps_lengths_in_the_first_pairs() -> None:
    items = items_of(made(300, 1, ruler=0.5))
    own = [each for each in toward_right(items, None, 0) if each[0].rule in ("longer", "more words")]
    order = np.random.default_rng(0).permutation(len(items))
    copy, changed = changed_copy(items, own, order, np.random.default_rng(0))
    touched = np.unique(items.item_of[(items.texts != copy.texts).to_numpy()])
    assert touched.size == changed["n_lengthened"] > 0
    assert (copy.right == items.right).all()
    wanted = [at for at in order.tolist() if own[0][1].hits[at] == 1 and own[0][1].applies[at]]
    assert set(touched.tolist()) <= set(wanted[: 2 * changed["n_lengthened"]])
    for item in touched.tolist():
        places = range(*items.offsets[[item, item + 1]].tolist())
        (right,) = (place for place in places if items.right[place])
        (wrong,) = (place for place in places if not items.right[place])
        assert items.texts[right].startswith(copy.texts[right])
        assert copy.texts[wrong].startswith(items.texts[wrong])
        # Lengths are swapped, to a word.
        assert 0 <= len(copy.texts[wrong]) - len(items.texts[right]) < 12
        assert 0 <= len(items.texts[wrong]) - len(copy.texts[right]) < 12
    # The changed file says the same of itself.
    assert effects_by_rule(copy, None, 0)["longer"] == pytest.approx(longer_share(copy))
    assert abs(longer_share(copy)) < 0.03 < longer_share(items)


def test_each_rule_is_taken_in_the_direction_in_which_it_gains() -> None:
    items = items_of(made(300, 2, ruler=0.4))
    by_rule = effects_by_rule(items, None, 0)
    for effect, picks in toward_right(items, None, 0):
        assert effect.effect >= -1e-12
        assert effect.effect == pytest.approx(by_rule[effect.rule])
        assert picks.rule == effect.rule
        assert effect.hits == pytest.approx(picks.hits[picks.applies].mean())


def test_of_three_responses_the_opposite_of_a_rule_is_measured_and_not_assumed() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"prompt": f"question {at}", "chosen": "w " * (2 + int(rng.integers(3))),
         "rejected": ["w " * (20 + int(rng.integers(9))), "w " * (7 + int(rng.integers(9)))]}
        for at in range(60)
    ]  # fmt: skip
    (shorter,) = [
        effect for effect, _ in toward_right(items_of(pl.DataFrame(rows)), None, 0) if effect.rule == "shorter"
    ]
    assert shorter.effect == pytest.approx(1)
    assert effects_by_rule(items_of(pl.DataFrame(rows)), None, 0)["longer"] == pytest.approx(-0.5)


def test_what_is_planted_is_named_and_advised(tmp_path: Path) -> None:
    specimen = make_item_specimen("preferences", 1000, 0)
    specimen.table.write_ndjson(tmp_path / "pairs.jsonl")
    report = goldassay.suggest_rewrites(tmp_path / "pairs.jsonl", shares=(0.3,))
    mends = {row["rule"]: row for row in report.tables["mends"].iter_rows(named=True)}
    certified = {row["rule"]: row["effect"] for row in specimen.certificate["rules"]}
    assert mends["longer"]["effect"] == pytest.approx(certified["longer"])
    assert mends["more markdown"]["effect"] == pytest.approx(certified["more markdown"])
    assert mends["does not refuse"]["effect"] == pytest.approx(-certified["refuses"])
    rows = {row["example_id"]: row for row in report.tables["rows"].iter_rows(named=True)}
    refusing = specimen.table.filter(pl.col("rejected").str.starts_with("I cannot"))["id"].to_list()
    assert all("compare with another response that answers" in rows[name]["change"] for name in refusing)
    report.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "given away most by their responses" in page
    assert "swap their lengths" in page
    after_dropping = {row["rows"]: row for row in report.tables["after_dropping"].iter_rows(named=True)}
    assert after_dropping["suggested"]["improvement"] < after_dropping["random"]["improvement"]


def test_without_a_flaw_there_is_nothing_to_change() -> None:
    found = suggest_items(items_of(made(400, 3)), shares=(0.1,), n_seeds=2)
    assert found.mends.height == 0
    assert found.changed["n_lengthened"] == 0


def test_what_is_not_for_preferences_is_refused() -> None:
    frame = made(60, 4)
    with pytest.raises(InputError, match="test: preferences are measured on themselves"):
        goldassay.suggest_rewrites(frame, frame)
    with pytest.raises(InputError, match=in_order("responses alone", "response_only")):
        goldassay.suggest_rewrites(frame, condition="choices_only")
