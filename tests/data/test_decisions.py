"""Files of decisions: what is read back, and what a torn or strange line does."""

from __future__ import annotations

import json
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError, OutputError
from goldassay.data.dataset import Dataset
from goldassay.data.decisions import WORDS, Decision, append_decision, decisions_beside, read_decisions
from goldassay.data.row_keys import are_positions, content_columns, keys_of, row_key

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
decisions = st.sampled_from(WORDS).flatmap(
    lambda word: st.builds(
        Decision, key=texts, id=texts, decision=st.just(word), note=texts,
        label=st.text(min_size=1, max_size=5) if word == "relabel" else st.just(""),
        texts=st.dictionaries(texts, texts.filter(str.strip), max_size=2) if word == "rewrite" else st.just({}),
    )
)  # fmt: skip
ONE = Decision("k", "1", "drop", note="why\nso")


@given(decisions)
def test_a_line_gives_its_decision_back(decision: Decision) -> None:
    line = decision.to_line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert Decision.parse(json.loads(line)) == decision


def test_the_last_decision_on_a_row_counts(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    for decision in (ONE, Decision("k", "2", "keep"), Decision("k", "1", "undecided")):
        append_decision(file, decision)
    assert {key: each.decision for key, each in read_decisions(file).by_row.items()} == {
        ("k", "1", ""): "undecided",
        ("k", "2", ""): "keep",
    }


@pytest.mark.parametrize("cut", range(1, len(ONE.to_line())))
def test_a_torn_last_line_is_left_out_and_kept(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "d.jsonl"
    append_decision(file, Decision("k", "0", "keep"))
    with file.open("ab") as stream:
        stream.write(ONE.to_line()[:cut])
    whole = cut == len(ONE.to_line()) - 1
    read = read_decisions(file)
    assert (len(read.by_row), bool(read.torn)) == ((2, False) if whole else (1, True))
    append_decision(file, Decision("k", "3", "keep"))
    assert [id_ for _, id_, _ in read_decisions(file).by_row] == (["0", "1", "3"] if whole else ["0", "3"])
    if not whole:
        assert (tmp_path / "d.jsonl.torn").read_bytes() == ONE.to_line()[:cut] + b"\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is no object"),
        ("[" * 100_000, "the line is not JSON: nested too deeply"),
        ('{"key": "k", "id": "1"}', "no text as 'decision'"),
        ('{"key": "k", "id": 1, "decision": "keep"}', "no text as 'id'"),
        ('{"key": "k", "id": "1", "decision": "burn"}', "none of keep, rewrite"),
        ('{"key": "k", "id": "1", "decision": "relabel"}', "without a label"),
        ('{"key": "k", "id": "1", "decision": "note", "note": 3}', "no texts"),
        ('{"key": "k", "id": "1", "decision": "note", "copies": 2}', "no texts"),
        (r'{"key": "k", "id": "1", "decision": "note", "note": "\ud800"}', "half of a surrogate pair"),
        (r'{"key": "k", "id": "1", "decision": "rewrite", "texts": {"a": "\udc00"}}', "half of a surrogate pair"),
    ],
)
def test_a_strange_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(ONE.to_line() + line.encode() + b"\n" + ONE.to_line())
    with pytest.raises(InputError, match=said) as raised:
        read_decisions(file)
    assert raised.value.row == 2


def test_a_missing_file_is_refused_unless_nothing_is_decided_yet(tmp_path: Path) -> None:
    assert read_decisions(tmp_path / "none", missing=True).by_row == {}
    with pytest.raises(InputError, match="no such file of decisions"):
        read_decisions(tmp_path / "none")


@pytest.mark.timeout(10)
def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError, match="no regular file"):
            read_decisions(place, missing=True)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    append_decision(tmp_path / "new" / "d.jsonl", ONE)
    with pytest.raises(OutputError, match="--decisions"):
        append_decision(tmp_path / "new" / "d.jsonl" / "d.jsonl", ONE)


def test_decisions_that_a_full_disk_refuses_are_not_found_later(tmp_path: Path) -> None:
    """All of those that are made together, or none."""
    file, many = tmp_path / "d.jsonl", [Decision("k", str(number), "drop") for number in range(50)]
    append_decision(file, ONE)
    limits, size = resource.getrlimit(resource.RLIMIT_FSIZE), file.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10 * len(many[0].to_line()) + 5, limits[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written"):
            append_decision(file, *many)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.stat().st_size == size
    append_decision(file, *many)
    assert read_decisions(file).n_lines == 51


def test_decisions_lie_beside_their_dataset(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl.gz").touch()
    assert decisions_beside(tmp_path / "test.jsonl.gz").name == "test.decisions.jsonl"


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [(["0", "1"], True), (["7", "3"], True), (["test/0", "train/0"], True), (["u0", "1"], False),
     (["a-1", "a-2"], False), (["", "1"], False), ([None, "1"], False)],
)  # fmt: skip
def test_numbers_count_rows_and_names_do_not(ids: list[str | None], wanted: bool) -> None:
    assert are_positions(pl.Series(ids, dtype=pl.String)) is wanted


def test_a_key_is_of_content_alone() -> None:
    frame = pl.DataFrame({"id": ["a", "b", "c"], "text": ["x", "x", "y"], "label": ["p", "p", "p"]})
    one = Dataset.from_frame(frame)
    turned = Dataset.from_frame(frame.with_columns(id=pl.Series(["7", "8", "9"]), note=pl.lit("z")).reverse())
    keys = keys_of(one.examples, content_columns(one))
    assert keys[0] == keys[1] != keys[2]
    assert keys_of(turned.examples, content_columns(turned)) == keys[::-1]
    assert row_key({"choices": ["a", "b"]}) == row_key({"choices": ["b", "a"]}) != row_key({"choices": ["a"]})
    # A text is not the list of it, and no separator makes two texts one.
    assert row_key({"a": "x", "b": "yz"}) != row_key({"a": "xy", "b": "z"})


def stands(*lines: Decision) -> Decision:
    found = None
    for each in lines:
        found = each.after(found)
    assert found is not None
    return found


def line(word: str, **more: Any) -> Decision:
    return Decision("k", "1", word, **more)


def test_a_note_leaves_the_decision_and_undo_returns_to_the_one_before(tmp_path: Path) -> None:
    lines = [line("relabel", label="b"), line("note", note="why"), line("drop"), line("undecided"), line("undecided")]
    wanted = [("relabel", "b", ""), ("relabel", "b", "why"), ("drop", "", "why"), ("relabel", "b", "why"),
              ("relabel", "b", "")]  # fmt: skip
    for n, (word, label, note) in enumerate(wanted, start=1):
        found = stands(*lines[:n])
        assert (found.decision, found.label, found.note) == (word, label, note)
        append_decision(tmp_path / "d.jsonl", lines[n - 1])
        (stored,) = read_decisions(tmp_path / "d.jsonl").by_row.values()
        assert stored == found
    # The line that relabels, which a message would name.
    assert stored.line == 1
    assert stands(*lines, line("undecided")) == stands(line("undecided")) == line("undecided")
    assert stands(line("note", note="a"), line("undecided")) == line("undecided")
    assert stands(line("note", note="a"), line("note")) == line("undecided")


def test_rewrites_add_up_until_something_else_is_decided() -> None:
    first, second = line("rewrite", texts={"a": "1", "b": "1"}), line("rewrite", texts={"b": "2", "c": "2"})
    noted = line("note", note="n")
    assert stands(first, noted, second) == line("rewrite", texts={"a": "1", "b": "2", "c": "2"}, note="n")
    assert stands(first, noted, second, line("undecided")) == line("rewrite", texts=first.texts, note="n")
    assert stands(first, line("rewrite")).texts == first.texts
    assert stands(first, line("drop"), second).texts == second.texts


@given(st.lists(decisions, max_size=8), decisions)
def test_undo_takes_exactly_the_last_line_back(lines: list[Decision], last: Decision) -> None:
    mine = [replace(each, key="k", id="1") for each in lines]
    before = stands(line("undecided"), *mine)
    if last.decision != "undecided":
        assert stands(line("undecided"), *mine, replace(last, key="k", id="1"), line("undecided")) == before
