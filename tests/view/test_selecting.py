"""Selections against a plain loop over the rows."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.decisions import Decision
from goldassay.view import selecting
from goldassay.view.rows import RowTable
from goldassay.view.selecting import PAGE_SIZE, SQUARES, Selector, State
from tests.view.made import LABELS, WORDS, items, rows, save_report

if TYPE_CHECKING:
    from pathlib import Path

TABLE = rows()
PLAIN = TABLE.to_dicts()


@pytest.fixture(scope="module")
def selector(tmp_path_factory: pytest.TempPathFactory) -> Selector:
    folder = save_report(tmp_path_factory.mktemp("rows"), TABLE)
    return Selector(RowTable.open(folder / "tables" / "examples.parquet", ("premise", "hypothesis")))


def kind(value: float) -> str:
    return "always right" if value == 1 else "never right" if value == 0 else "sometimes right"


def holds(row: dict[str, Any], word: str) -> bool:
    begin, end = (r"\b" if re.match(r"\w", word) else ""), (r"\b" if re.search(r"\w$", word) else "")
    return any(
        re.search(f"{begin}{re.escape(word)}{end}", row[name], re.IGNORECASE) for name in ("premise", "hypothesis")
    )


def fits(row: dict[str, Any], state: State) -> bool:
    for name, values in state.chosen:
        own = kind(row["right_hypothesis_only"]) if name == "hypothesis_only" else row[name] or "(none)"
        if own not in values:
            return False
    for name, (low, high) in state.ranges:
        if row[name] is None or not np.float32(low) <= np.float32(row[name]) <= np.float32(high):
            return False
    return all(holds(row, word) for word in state.words.split())


states = st.builds(
    State,
    words=st.lists(st.sampled_from([*WORDS, "Man", "bod", "NOBODY", "."]), max_size=2).map(" ".join),
    chosen=st.fixed_dictionaries(
        {},
        optional={
            "label": st.sets(st.sampled_from(LABELS), min_size=1),
            "group_genre": st.sets(st.sampled_from(["genre 1", "(none)"]), min_size=1),
            "hypothesis_only": st.sets(st.sampled_from(["always right", "never right"]), min_size=1),
        },
    ).map(lambda drawn: tuple((name, tuple(sorted(values))) for name, values in sorted(drawn.items()))),
    ranges=st.sampled_from(
        [(), (("confidence", (0.2, 0.7)),), (("confidence", (0.0, 1.0)), ("variability", (0.1, 0.4)))]
    ),
    sort=st.sampled_from(["", "confidence", "label", "premise"]),
    descending=st.booleans(),
)


@settings(deadline=None, max_examples=60)
@given(state=states)
def test_a_selection_is_what_a_loop_selects(selector: Selector, state: State) -> None:
    found = selector.select(state)
    wanted = [at for at, row in enumerate(PLAIN) if fits(row, state)]
    assert sorted(found.rows.tolist()) == wanted
    for name, column in (("label", "label"), ("group_genre", "group_genre")):
        others = State(state.words, False, tuple(each for each in state.chosen if each[0] != name), state.ranges)
        counted: dict[str, int] = {}
        for row in PLAIN:
            if fits(row, others):
                value = row[column] or "(none)"
                counted[value] = counted.get(value, 0) + 1
        assert {value: n for value, n in found.counts[name].items() if n} == counted
    if state.sort:
        values = [PLAIN[at][state.sort] for at in found.rows.tolist()]
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=state.descending)
        # What has no value comes last, whichever way.
        assert values[: len(known)] == known


@pytest.mark.parametrize("pattern", [r"^Nobody", r"\bman\b.*outside", "[äöü]", r"(?i)ZEBRA'S"])
def test_regular_expressions(selector: Selector, pattern: str) -> None:
    wanted = [
        at
        for at, row in enumerate(PLAIN)
        if re.search(pattern, row["premise"]) or re.search(pattern, row["hypothesis"])
    ]
    assert selector.select(State(words=pattern, is_regex=True)).rows.tolist() == wanted


def test_a_broken_expression_says_why(selector: Selector) -> None:
    with pytest.raises(InputError, match=r"'\(' is no regular expression: unclosed group"):
        selector.select(State(words="(", is_regex=True))


def test_an_expression_that_takes_too_long_is_refused(selector: Selector, monkeypatch: pytest.MonkeyPatch) -> None:
    # One row that takes a minute: nothing between two rows could end it.
    long = pl.DataFrame({"premise": ["b" * 4_000_000]})
    monkeypatch.setattr(RowTable, "load", lambda _: long.with_columns(hypothesis=pl.lit("")))
    monkeypatch.setattr(selecting, "REGEX_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(InputError, match=r"takes more than 0.5 seconds; shorten it"):
        Selector(selector.table).select(State(words=r"(\w+\s*){100}$x", is_regex=True))
    assert time.monotonic() - start < 30


def test_a_search_in_a_process_of_its_own_is_the_same(selector: Selector, monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(words="(?i)nob.dy|m[ae]n$", is_regex=True)
    found = selector.select(state).rows.tolist()
    monkeypatch.setattr(selecting, "_FEW_BYTES", 0)
    apart = Selector(selector.table)
    assert 0 < len(found) < len(PLAIN)
    assert apart.select(state).rows.tolist() == found
    with pytest.raises(InputError, match="no regular expression: unclosed group"):
        apart.select(State(words="(", is_regex=True))


def test_all_pages_together_are_the_selection(selector: Selector) -> None:
    first = selector.select(State())
    assert first.n_pages == -(-len(PLAIN) // PAGE_SIZE)
    shown = [at for page in range(1, first.n_pages + 1) for at in selector.select(State(page=page)).shown.tolist()]
    assert shown == list(range(len(PLAIN)))
    # A page that is no longer there is the last one.
    assert selector.select(State(page=99)).page == first.n_pages


def test_rows_are_those_of_the_file_before_and_after_texts_are_read(tmp_path: Path) -> None:
    folder = save_report(tmp_path, TABLE)
    table = RowTable.open(folder / "tables" / "examples.parquet", ("premise", "hypothesis"))
    early = table.rows(np.arange(5))
    table.load()
    late = table.rows(np.arange(5))
    for one, other, row in zip(early, late, PLAIN, strict=False):
        assert set(one) == set(other) == set(row)
        assert table.key(one) == table.key(other)
        assert one["premise"] == other["premise"] == row["premise"]
        assert (
            other["confidence"] is None
            if row["confidence"] is None
            else abs(other["confidence"] - row["confidence"]) < 1e-6
        )  # type: ignore[operator]


def test_items_with_choices_are_searched_in_their_choices(tmp_path: Path) -> None:
    folder = save_report(tmp_path, items())
    selector = Selector(RowTable.open(folder / "tables" / "examples.parquet"))
    assert selector.table.texts == ("passage", "question", "choices")
    assert selector.select(State(words="four")).rows.tolist() == [1]
    assert selector.select(State(words="Which")).rows.tolist() == [0]


def test_decisions_find_their_rows_in_another_order(tmp_path: Path) -> None:
    folder = save_report(tmp_path / "one", TABLE)
    table = RowTable.open(folder / "tables" / "examples.parquet", ("premise", "hypothesis"))
    decisions = [
        Decision(table.key(row), str(row["example_id"]), "drop") for row in table.rows(np.array([3, 100, 229]))
    ]
    turned = TABLE.reverse().with_columns(example_id="new-" + TABLE["example_id"])
    other = RowTable.open(
        save_report(tmp_path / "other", turned) / "tables" / "examples.parquet", ("premise", "hypothesis")
    )
    gone = Decision("0" * 32, "row-1", "keep")
    assert other.place([*decisions, gone]).gone == [gone]
    found = {str(other.rows(np.array([at]))[0]["premise"]) for at in other.decided}
    assert found == {PLAIN[at]["premise"] for at in (3, 100, 229)}


def test_squares_of_the_map_are_those_of_a_histogram(selector: Selector) -> None:
    numbers = selector.table.numbers
    x, y = (numbers[name].astype(float) for name in ("variability", "confidence"))
    known = ~(np.isnan(x) | np.isnan(y))
    # Off the edges, where the last digit decides.
    near = np.minimum(np.abs(x * 40 - np.round(x * 40)), np.abs(y * 20 - np.round(y * 20))) < 1e-5
    wanted = np.histogram2d(x[known & ~near], y[known & ~near], bins=SQUARES, range=((0, 0.5), (0, 1)))[0]
    assert selector.squares is not None
    found = np.bincount(selector.squares[~near], minlength=SQUARES**2 + 1)
    assert found[:-1].reshape(SQUARES, SQUARES).tolist() == wanted.tolist()
    assert found[-1] == (~known & ~near).sum() > 0


def test_rows_are_sorted_by_their_decisions_and_numbers_by_their_size(tmp_path: Path) -> None:
    counted = TABLE.with_columns(example_id=pl.int_range(TABLE.height).cast(pl.String))
    table = RowTable.open(save_report(tmp_path / "made", counted) / "tables" / "examples.parquet", ("premise",))
    selector = Selector(table)
    drop, keep = (Decision(table.key(row), str(row["example_id"]), word) for row, word in
                  zip(table.rows(np.array([5, 20])), ("drop", "keep"), strict=True))  # fmt: skip
    table.place([drop, keep])
    words = [None if at not in table.decided else table.decided[at].decision
             for at in selector.select(State(sort="decision", descending=True)).rows.tolist()]  # fmt: skip
    assert {*words[:2]} == {"drop", "keep"}
    assert words[2:] == [None] * (len(words) - 2)
    every = [selector.select(State(sort="example_id", page=page)) for page in range(1, 4)]
    assert [at for each in every for at in each.rows.tolist()][:150] == list(range(150))
