"""Items to rewrite: what ranks them, how many are to be changed, and what is left once they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.table import Table
from goldassay.questions.leakage.item_suggestions import suggest_items
from goldassay.readers.choice_rules import chance_of, measure_rules
from tests.questions.leakage.test_choices import items_with
from tests.questions.test_item_patterns import made
from tests.stated import in_order, states

if TYPE_CHECKING:
    from pathlib import Path


def items_of(rows: list[dict[str, Any]]) -> ChoiceItems:
    found = read_choices(Table(pl.DataFrame(rows), ""), "items")
    assert found is not None
    return found


def test_a_rule_is_at_chance_once_so_many_items_are_changed() -> None:
    items = items_of(items_with("rule", 800, 0))
    found = suggest_items(items, shares=(0.1,), n_seeds=2)
    mend = found.mends.row(0, named=True)
    assert mend["rule"] in ("longest", "most words")
    (rule,) = [each for each in measure_rules(items)[0] if each.rule == mend["rule"]]
    # What it hits above chance, one item each.
    assert mend["n_to_change"] == math.ceil(rule.effect * (1 - chance_of(items)).sum() - 1e-9)
    assert found.changed["n_lengthened"] == max(found.mends["n_to_change"])
    assert abs(mend["after"]) < 0.01
    # Of each rule the copy is measured anew: what is left is that the right choices are worded unlike the others.
    assert not found.mends["after"].is_nan().any()
    left = found.mends.filter(pl.col("rule") == found.changed["rule"])
    assert left["after"].to_list() == [found.changed["rule_effect"]]
    assert left["rule"][0] not in ("longest", "most words")


def test_the_copy_changes_wrong_choices_of_items_that_the_rule_gets_right() -> None:
    rows = items_with("rule", 800, 0)
    table = suggest_items(items_of(rows), shares=(0.1,), n_seeds=2).table
    for row in table.filter(pl.col("rules").str.contains("longest")).head(50).iter_rows(named=True):
        assert row["answer"].endswith("and much more") or len(row["answer"]) >= max(
            len(line) - 2 for line in row["choices"].splitlines()
        )
        assert f"beyond {len(row['answer'])}" in row["change"]


def test_items_that_words_give_away_come_first_and_dropping_them_helps() -> None:
    rows = made(1200, 0.3, 0)
    found = suggest_items(items_of(rows), shares=(0.3,), n_seeds=2)
    first = found.table.head(200)
    assert first["answer"].str.contains("told").mean() > 0.8
    assert found.table["rank"].to_list() == list(range(1, 1201))
    assert sorted(found.table["row"].to_list()) == list(range(1, 1201))
    after_dropping = {row["rows"]: row for row in found.after_dropping.iter_rows(named=True)}
    assert after_dropping["suggested"]["improvement"] < 0.3 * after_dropping["random"]["improvement"]
    assert set(first.filter(pl.col("rules") == "")["change"]) <= {"reword the choices: their words name the right one"}


def test_gains_over_guessing_by_hand() -> None:
    """The word "told" stands in all right choices and in no wrong one: the reader is right on every item."""
    words = [f"w{at}" for at in range(40)]
    rng = np.random.default_rng(0)
    rows = []
    for i in range(120):
        choices = [" ".join(rng.choice(words, 3)) for _ in range(4)]
        choices[i % 4] = f"told {' '.join(choices[i % 4].split()[:2])}"
        rows.append({"question": f"question {i}", "choices": choices, "answer": i % 4})
    report = goldassay.suggest_rewrites(rows, shares=(0.1,))
    before = report.to_dict()["leakage"]["suggestion"]["before"]
    # One of four choices is right by chance: 1 - 1/4, with no spread over the refits.
    assert (before["majority"], before["accuracy"]) == (0.25, 1)
    assert [before[f"improvement{end}"] for end in ("", "_low", "_high")] == pytest.approx([0.75, 0.75, 0.75])
    (figure,) = report.to_dict()["figures"]
    assert [figure[key] for key in ("value", "low", "high")] == pytest.approx([0.75, 0.75, 0.75])
    for row in report.tables["after_dropping"].iter_rows(named=True):
        assert (row["n_dropped"], row["n_left"]) == (12, 108)
        assert [row[f"improvement{end}"] for end in ("", "_low", "_high")] == pytest.approx([0.75, 0.75, 0.75])


def test_positions_are_drawn_anew_where_they_tell() -> None:
    rows = items_with("none", 600, 0)
    for row in rows[:200]:
        row["choices"].insert(2, row["choices"].pop(row["answer"]))
        row["answer"] = 2
    found = suggest_items(items_of(rows), shares=(0.1,), n_seeds=2)
    assert found.changed["positions_drawn"]
    assert found.mends["rule"][0] == "position 3"
    assert abs(found.mends["after"][0]) < 0.1 < found.mends["effect"][0]


def test_without_a_flaw_there_is_nothing_to_change() -> None:
    found = suggest_items(items_of(items_with("none", 600, 3)), shares=(0.1,), n_seeds=2)
    assert found.mends.height == 0
    assert found.changed["n_lengthened"] == 0
    assert not found.changed["positions_drawn"]
    assert abs(found.before["improvement"]) < 0.06
    again = suggest_items(items_of(items_with("none", 600, 3)), shares=(0.1,), n_seeds=2)
    assert again.to_dict() == found.to_dict()


def test_the_report_tells_items_from_rows(tmp_path: Path) -> None:
    report = goldassay.suggest_rewrites(items_with("rule", 400, 0), shares=(0.1,))
    sentences = report.to_dict()["leakage"]["sentences"]
    assert any("items are changed: " in said for said in sentences)
    assert report.tables["rows"].height == 400
    report.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Items to rewrite first" in page
    assert states(page, "How many items", "at chance")
    figures = {each["id"]: each["value"] for each in report.to_dict()["figures"]}
    assert report.to_dict()["leakage"]["suggestion"]["before"]["improvement"] in figures.values()


def test_what_is_not_for_items_is_refused() -> None:
    rows = items_with("none", 100, 0)
    with pytest.raises(InputError, match=in_order("test:", "choices", "on themselves")):
        goldassay.suggest_rewrites(rows, rows)
    with pytest.raises(InputError, match="ranked by their choices alone"):
        goldassay.suggest_rewrites(rows, condition="question_only")
    with pytest.raises(InputError, match="fewer than 10 passages or questions are left"):
        goldassay.suggest_rewrites(rows[:20], shares=(0.8,))
    with pytest.raises(InputError, match="the shares of items to drop"):
        suggest_items(items_of(rows), shares=(1.5,))
    assert np.isfinite(suggest_items(items_of(rows), shares=(0.1,)).before["improvement"])
