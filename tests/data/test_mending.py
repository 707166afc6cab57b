"""Datasets written anew: what changes is what was decided, and nothing else."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.decisions import Decision, Placed, append_decision, place_decisions
from goldassay.data.kinds import DATA_KINDS, read_items
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.kinds.recognition import recognize
from goldassay.data.mending import mend_dataset
from goldassay.data.reading import read_dataset, read_table
from goldassay.data.row_keys import ITEM_COLUMNS, content_columns, copies_of, item_frame, keys_of
from tests.stated import Fact, in_order, says

if TYPE_CHECKING:
    from pathlib import Path

# Labels as numbers, a row without a gold label, and a column that nothing reads.
ROWS = [
    {"uid": f"u{i}", "sentence1": f"premise {i}", "sentence2": f"hypothesis {i}", "gold_label": label, "extra": [i]}
    for i, label in enumerate(["entailment", "neutral", "-", "contradiction", "neutral", "entailment"])
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return file


def decide(data: Path, row: str, word: str, **more: Any) -> Path:
    """Append a decision about the row of an id, as the page does."""
    dataset = read_dataset(data)
    ids = dataset.examples["example_id"].to_list()
    keys = keys_of(dataset.examples, content_columns(dataset))
    key = keys[ids.index(row)]
    copies = copies_of([name for name, own in zip(ids, keys, strict=True) if own == key])
    file = data.with_name("set.decisions.jsonl")
    append_decision(file, Decision(key, row, word, copies=copies, **more))
    return file


def after(data: Path, decisions: Path | None = None) -> list[dict[str, Any]]:
    """The rows of the mended file."""
    return [json.loads(line) for line in mend_dataset(data, decisions).content.splitlines()]


def test_every_decision_is_carried_out_and_logged(data: Path, tmp_path: Path) -> None:
    decide(data, "u0", "drop", note="a copy")
    decide(data, "u1", "relabel", label="entailment")
    decide(data, "u3", "rewrite", texts={"hypothesis": "new"})
    decide(data, "u4", "rewrite")
    decide(data, "u5", "keep")
    mended = mend_dataset(data)
    assert mended.counts == {"keep": 1, "rewrite": 1, "relabel": 1, "drop": 1}
    assert [*mended.left.items()] == [(says("to be rewritten", "without a new text"), 1)]
    # Lines that nothing was decided about are the same bytes.
    assert mended.content.splitlines()[1] == data.read_bytes().splitlines()[2]
    place, log = mended.save(tmp_path / "out")
    wanted = [dict(row) for row in ROWS[1:]]
    wanted[0]["gold_label"] = "entailment"
    wanted[2]["sentence2"] = "new"
    assert [json.loads(line) for line in place.read_text("utf-8").splitlines()] == wanted
    assert [json.loads(line) for line in log.read_text("utf-8").splitlines()] == [
        {"line": 1, "id": "u0", "decision": "drop", "note": "a copy"},
        {"line": 2, "id": "u1", "decision": "relabel", "column": "gold_label", "before": "neutral",
         "after": "entailment", "note": ""},
        {"line": 4, "id": "u3", "decision": "rewrite", "column": "sentence2", "before": "hypothesis 3", "after": "new",
         "note": ""},
        {"line": 5, "id": "u4", "decision": "rewrite", "left": "row is marked to be rewritten, without a new text",
         "note": ""},
    ]  # fmt: skip


def test_a_label_is_written_as_the_file_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "set.csv"
    pl.DataFrame(
        {"premise": list("abcdef"), "hypothesis": list("ghijkl"), "label": ["e", "n", "c", "e", "n", "c"]}
    ).write_csv(file)
    dataset = read_dataset(file)
    assert set(dataset.label_names) == {"entailment", "neutral", "contradiction"}
    key = keys_of(dataset.examples, content_columns(dataset))[0]
    append_decision(file.with_name("set.decisions.jsonl"), Decision(key, "0", "relabel", "contradiction"))
    (place, _) = mend_dataset(file).save(tmp_path / "out")
    assert place.name == "set.csv"
    assert pl.read_csv(place)["label"].to_list() == ["c", "n", "c", "e", "n", "c"]


@settings(deadline=None, max_examples=25)
@given(order=st.permutations(range(6)), dropped=st.sets(st.sampled_from(["u0", "u1", "u3", "u4", "u5"]), min_size=1))
def test_a_reordered_file_loses_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], dropped: set[str]
) -> None:
    base = tmp_path_factory.mktemp("order")
    first, second = base / "set.jsonl", base / "again.jsonl"
    first.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    second.write_text("".join(json.dumps({**ROWS[i], "uid": f"other {i}"}) + "\n" for i in order), "utf-8")
    for row in sorted(dropped):
        decisions = decide(first, row, "drop")
    kept = [ROWS[i]["sentence1"] for i in order if ROWS[i]["uid"] not in dropped]
    assert [row["sentence1"] for row in after(second, decisions)] == kept


def test_of_equal_rows_as_many_go_as_were_dropped(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    rows = [{"text": "same", "label": "a"}] * 3 + [{"text": "other", "label": "b"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    decide(file, "1", "drop")
    assert [row["text"] for row in after(file)] == ["same", "same", "other"]
    decide(file, "2", "drop")
    assert [row["text"] for row in after(file)] == ["same", "other"]


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


SAME = [{"text": "same", "label": "a", "source": name} for name in "pqr"]
OTHER = [{"text": f"other {i}", "label": "b", "source": "s"} for i in range(3)]
ALIKE = says("several equal rows", "no id", "again in view")


def test_equal_rows_whose_ids_changed_do_not_take_each_others_decisions(tmp_path: Path) -> None:
    """Without ids positions are ids: after a row is added in front, position 1 is another one of three equal rows."""
    file = tmp_path / "set.jsonl"
    _write(file, [OTHER[0], *SAME, *OTHER[1:]])
    decide(file, "2", "drop")
    decide(file, "4", "relabel", label="a")
    assert [row["source"] for row in after(file)] == ["s", "p", "r", "s", "s"]
    _write(file, [OTHER[2], OTHER[0], *SAME, OTHER[1]])
    mended = mend_dataset(file)
    assert mended.counts == {"relabel": 1}
    assert [*mended.left.items()] == [(ALIKE, 1)]
    assert mended.n_decided == 2
    assert mended.lines()[1] == says("- 1 decision", "several equal rows", "no id", "again in view")
    # The log has the ids of the file that was mended.
    (change,) = mended.changes
    assert (change["line"], change["id"]) == (6, "5")


@pytest.mark.parametrize("has_ids", [False, True])
def test_a_second_mend_does_not_drop_the_copy_that_was_kept(tmp_path: Path, has_ids: bool) -> None:
    file = tmp_path / "set.jsonl"
    rows = [{**row, **({"id": f"u{at}"} if has_ids else {})} for at, row in enumerate([*SAME[:2], *OTHER[:2]])]
    _write(file, rows)
    decide(file, "u0" if has_ids else "0", "drop")
    (place, _) = mend_dataset(file).save(tmp_path / "out")
    assert [row["source"] for row in map(json.loads, place.read_text("utf-8").splitlines())] == ["q", "s", "s"]
    again = mend_dataset(place, file.with_name("set.decisions.jsonl"))
    assert (again.counts, [*again.left.items()]) == ({}, [(ALIKE, 1)])
    assert again.content == place.read_bytes()


def test_ids_tell_equal_rows_apart_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    rows = [{**row, "id": f"u{at}"} for at, row in enumerate([*SAME, *OTHER])]
    _write(file, rows)
    decide(file, "u1", "drop")
    decide(file, "u2", "note", note="which?")
    _write(file, [row for row in rows[::-1] if row["id"] != "u0"])
    mended = mend_dataset(file)
    assert [row["id"] for row in map(json.loads, mended.content.splitlines())] == ["u5", "u4", "u3", "u2"]
    assert [(each["id"], each["decision"]) for each in mended.changes] == [("u2", "note"), ("u1", "drop")]


@settings(deadline=None, max_examples=40)
@given(
    before=st.lists(st.sampled_from("xyz"), min_size=2, max_size=7),
    after_=st.lists(st.sampled_from("xyz"), min_size=2, max_size=7),
    data=st.data(),
)
def test_positions_never_choose_among_equal_rows_unless_the_same_rows_are_there(
    before: list[str], after_: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(before) - 1))

    def placed(contents: list[str], decision: Decision) -> Placed:
        rows = {key: [i for i, own in enumerate(contents) if own == key] for key in set(contents)}
        return place_decisions([decision], rows, str, are_positions=True)

    was = [i for i, own in enumerate(before) if own == before[at]]
    now = [i for i, own in enumerate(after_) if own == before[at]]
    found = placed(after_, Decision(before[at], str(at), "drop", copies=copies_of(list(map(str, was)))))
    if not now:
        wanted = (set(), 1, 0)
    elif was == now:
        wanted = ({at}, 0, 0)
    elif len(was) == len(now) == 1:
        wanted = (set(now), 0, 0)
    else:
        wanted = (set(), 0, 1)
    assert (set(found.by_row), len(found.gone), len(found.alike)) == wanted


def test_every_decision_and_note_is_counted_once(data: Path) -> None:
    decide(data, "u0", "drop")
    decide(data, "u1", "note", note="hm")
    decide(data, "u3", "keep")
    decide(data, "u4", "drop")
    decide(data, "u4", "undecided")
    rows = [dict(row) for row in ROWS]
    rows[3]["sentence1"] = "changed since"
    _write(data, rows)
    mended = mend_dataset(data)
    assert (mended.n_decided, mended.n_noted) == (2, 1)
    assert mended.counts == {"drop": 1}
    assert sorted(mended.left.items()) == [
        (says("no row", "changed or are gone"), 1),
        (says("only a note", "nothing changes"), 1),
    ]
    assert mended.to_dict()["decided"] == 2
    assert [each["decision"] for each in mended.changes] == ["drop", "note"]


def test_what_no_longer_fits_is_counted(data: Path) -> None:
    decide(data, "u0", "drop")
    decide(data, "u1", "drop")
    rows = [dict(row) for row in ROWS]
    rows[0]["sentence1"] = "changed since"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    mended = mend_dataset(data)
    assert [*mended.left.items()] == [(says("no row", "changed or are gone"), 1)]
    assert mended.lines()[1] == says("- 1 decision", "no row", "changed or is gone")
    assert mended.n_after == 5
    assert mended.lines()[0] == "6 rows before, 5 after; carried out: 1 drop"


@pytest.mark.parametrize(
    ("word", "more", "said"),
    [
        ("relabel", {"label": "entailed"}, ("no row of set.jsonl", "labels")),
        ("rewrite", {"texts": {"premise": ""}}, ("line 1:", "'premise'", "empty text")),
        ("rewrite", {"texts": {"text": "x"}}, "'text', which is no text of set.jsonl"),
    ],
)
def test_an_unknown_label_or_text_is_refused(data: Path, word: str, more: dict[str, Any], said: Fact) -> None:
    decide(data, "u0", word, **more)
    with pytest.raises(InputError, match=in_order(said)):
        mend_dataset(data)


def test_decisions_of_another_dataset_are_refused(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    append_decision(file, Decision("0" * 32, "u0", "drop"))
    with pytest.raises(InputError, match="its decision fits no row of"):
        mend_dataset(data, file)


def test_nothing_decided_leaves_the_rows(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("")
    mended = mend_dataset(data, file)
    assert mended.content == data.read_bytes()
    assert mended.changes == ()
    assert mended.lines()[0].endswith("nothing")


def test_items_are_dropped_and_relabelled(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    rows = [{"question": f"q{i}", "choices": [f"{i} a", f"{i} b", f"{i} c"], "answer": "ABC"[i % 3]} for i in range(6)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    items = read_choices(read_table(file), "set")
    assert items is not None
    frame = item_frame(items)
    keys, ids = keys_of(frame, ITEM_COLUMNS), frame["example_id"].to_list()
    decisions = tmp_path / "set.decisions.jsonl"
    append_decision(decisions, Decision(keys[0], ids[0], "drop"))
    append_decision(decisions, Decision(keys[1], ids[1], "relabel", "C"))
    mended = mend_dataset(file)
    assert [row["answer"] for row in after(file)] == ["C", "C", "A", "B", "C"]
    assert mended.counts == {"relabel": 1, "drop": 1}
    append_decision(decisions, Decision(keys[2], ids[2], "relabel", "D"))
    with pytest.raises(InputError, match=in_order("none of its choices", "A, B, C")):
        mend_dataset(file)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_format_keeps_its_cells(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"set.{ending}"
    texts = ['he said "no"', "a, b", "plain", "007", "ü; x", "1e5"]
    table = pl.DataFrame({"text": texts, "label": list("aabbab"), "more": ["", "x", "", "1.50", '"', "y"]})
    if ending == "parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file, separator="\t" if ending == "tsv" else ",")
    dataset = read_dataset(file)
    keys = keys_of(dataset.examples, content_columns(dataset))
    append_decision(tmp_path / "set.decisions.jsonl", Decision(keys[2], "2", "drop"))
    (place, _) = mend_dataset(file).save(tmp_path / "out")
    assert place.suffix == f".{ending}"
    kept = read_table(place).frame
    before = read_table(file).frame
    assert kept.equals(before[[0, 1, 3, 4, 5]], null_equal=True)


def test_notes_second_rewrites_and_undo_keep_what_was_decided(data: Path) -> None:
    decide(data, "u1", "relabel", label="entailment")
    decide(data, "u1", "note", note="read it")
    decide(data, "u3", "rewrite", texts={"hypothesis": "new"})
    decide(data, "u3", "rewrite", texts={"premise": "newer"})
    decide(data, "u4", "relabel", label="entailment")
    decide(data, "u4", "drop")
    decide(data, "u4", "undecided")
    decide(data, "u5", "keep")
    decide(data, "u5", "note", note="right")
    mended = mend_dataset(data)
    assert mended.counts == {"keep": 1, "rewrite": 1, "relabel": 2}
    wanted = [dict(row) for row in ROWS]
    wanted[1]["gold_label"] = wanted[4]["gold_label"] = "entailment"
    wanted[3] |= {"sentence1": "newer", "sentence2": "new"}
    assert after(data) == wanted
    notes = [(each["id"], each["decision"], each["note"]) for each in mended.changes if each["note"]]
    assert notes == [("u1", "relabel", "read it"), ("u5", "keep", "right")]


def test_what_changes_nothing_is_counted_apart(data: Path) -> None:
    decide(data, "u0", "relabel", label="entailment", note="sure")
    decide(data, "u1", "rewrite", texts={"premise": "premise 1"})
    mended = mend_dataset(data)
    assert (mended.content, mended.counts) == (data.read_bytes(), {})
    assert mended.lines() == [
        "6 rows before, 6 after; carried out: nothing",
        says("- 1 row", "relabelled", "nothing changes", "line 1"),
        says("- 1 row", "rewritten", "nothing changes", "line 2"),
    ]
    assert mended.changes == (
        {"line": 1, "id": "u0", "decision": "relabel", "label": "entailment",
         "left": says("relabelled", "nothing changes"), "note": "sure"},
        {"line": 2, "id": "u1", "decision": "rewrite", "texts": {"premise": "premise 1"},
         "left": says("rewritten", "nothing changes"), "note": ""},
    )  # fmt: skip


@pytest.mark.parametrize("nested", [False, True])
def test_the_question_and_passage_of_items_are_rewritten(tmp_path: Path, nested: bool) -> None:
    file = tmp_path / "set.jsonl"
    rows: list[dict[str, Any]] = []
    for i in range(4):
        choices = [f"{i} a", f"{i} b", f"{i} c"]
        asked = {"stem": f"q{i}", "choices": [{"label": "ABC"[j], "text": each} for j, each in enumerate(choices)]}
        plain = {"passage": f"p{i}", "question": f"q{i}", "choices": choices}
        rows.append({**({"question": asked} if nested else plain), "answer": "ABC"[i % 3]})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    items = read_choices(read_table(file), "set")
    assert items is not None
    frame = item_frame(items)
    keys, ids = keys_of(frame, ITEM_COLUMNS), frame["example_id"].to_list()
    decisions = tmp_path / "set.decisions.jsonl"
    append_decision(decisions, Decision(keys[0], ids[0], "rewrite", texts={"question": "Which?"}))
    append_decision(decisions, Decision(keys[1], ids[1], "rewrite"))
    append_decision(decisions, Decision(keys[2], ids[2], "relabel", "C"))
    marked = [(says("to be rewritten", "without a new text"), 1), (says("relabelled", "nothing changes"), 1)]
    if nested:
        mended = mend_dataset(file)
        by_hand = (says("rewritten by hand", "column of its own"), 1)
        assert (mended.counts, [*mended.left.items()]) == ({}, [by_hand, *marked])
        assert after(file) == rows
        return
    append_decision(decisions, Decision(keys[0], ids[0], "rewrite", texts={"passage": "Of it."}))
    mended = mend_dataset(file)
    assert (mended.counts, [*mended.left.items()]) == ({"rewrite": 1}, marked)
    assert after(file) == [{**rows[0], "question": "Which?", "passage": "Of it."}, *rows[1:]]
    append_decision(decisions, Decision(keys[3], ids[3], "rewrite", texts={"choices": "x"}))
    with pytest.raises(InputError, match="line 5: the line rewrites 'choices' of an item"):
        mend_dataset(file)


_TEXTS = (["one", "two", "one"], ["red", "green", "blue"], ["up", "down", "left"])


def _shaped(shape: str) -> list[dict[str, Any]]:
    """Items in one of the published forms of choices; the right one of item i is the i-th."""
    rows = []
    for at, texts in enumerate(_TEXTS):
        letters = {"text": texts, "label": [*"ABC"]}
        rows.append(
            {
                "lists": {"question": f"q{at}", "choices": texts, "answer": at},
                "texts": {"question": f"q{at}", "choices": texts, "answer": texts[at]},
                "columns": {"question": f"q{at}", "A": texts[0], "B": texts[1], "C": texts[2], "answer": "ABC"[at]},
                "objects": {"question": f"q{at}", "choices": letters, "answerKey": "ABC"[at]},
                "letters": {"question": f"q{at}", "options": dict(zip("ABC", texts, strict=True)), "answer": "ABC"[at]},
                "keys": {"question": f"q{at}", "target_scores": {each: int(i == at) for i, each in enumerate(texts)}},
            }[shape]
        )
    return rows if shape not in ("texts", "keys") else rows[1:]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("shape", ["lists", "texts", "columns", "objects", "letters"])
def test_choices_are_rewritten_where_they_are(tmp_path: Path, shape: str, ending: str) -> None:
    rows, file = _shaped(shape), tmp_path / f"set.{ending}"
    frame = pl.DataFrame(rows)
    {"jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](file)
    # Of two equal choices the one that is meant; of the right one its answer, too.
    new = ("third", {"choice C": "third"}) if len(rows) == 3 else ("lime", {"choice B": "lime"})
    decide_items(file, {0: {"decision": "rewrite", "texts": new[1]},
                        1: {"decision": "rewrite", "texts": {"choice A": "over", "choice C": "right"}}})  # fmt: skip
    before = read_choices(read_table(file), "set")
    mended = mend_dataset(file)
    assert (mended.counts, mended.left) == ({"rewrite": 2}, {})
    after = read_choices(read_table(mended.save(tmp_path / "out")[0]), "set")
    assert before is not None
    assert after is not None
    shown = [list(each) for each in _TEXTS[-len(rows) :]]
    shown[0]["ABC".index(next(iter(new[1]))[-1])] = new[0]
    shown[1] = ["over", shown[1][1], "right"]
    assert item_frame(after)["choices"].to_list() == shown
    assert after.first_right.tolist() == before.first_right.tolist()
    assert after.n_right.tolist() == before.n_right.tolist()


def test_a_choice_that_is_a_key_is_rewritten_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    _write(file, _shaped("keys"))
    decide_items(file, {0: {"decision": "rewrite", "texts": {"choice A": "new"}}})
    mended = mend_dataset(file)
    assert mended.counts == {}
    assert mended.lines()[1:] == [says("- 1 item", "rewritten by hand", "column of its own", "line 1")]


def test_a_response_is_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    _write(file, [{"prompt": f"q{i}", "chosen": f"good {i}", "rejected": f"bad {i}"} for i in range(3)])
    shown = item_frame(items_of(file))["choices"][1].to_list()
    letter = "AB"[shown.index("bad 1")]
    decide_items(file, {1: {"decision": "rewrite", "texts": {f"choice {letter}": "worse"}}})
    mended = mend_dataset(file)
    assert (mended.counts, mended.left) == ({"rewrite": 1}, {})
    assert [row["rejected"] for row in after(file)] == ["bad 0", "worse", "bad 2"]


def test_an_item_of_a_table_takes_no_empty_choice(tmp_path: Path) -> None:
    file = tmp_path / "set.csv"
    file.write_text("question,A,B,C,answer\nq0,a,b,c,C\nq1,d,e,,A\nq2,f,g,h,B\n", "utf-8")
    items = read_choices(read_table(file), "set")
    assert items is not None
    frame = item_frame(items)
    key, row = keys_of(frame, ITEM_COLUMNS)[1], frame["example_id"][1]
    append_decision(tmp_path / "set.decisions.jsonl", Decision(key, row, "relabel", "C"))
    with pytest.raises(InputError, match=in_order("line 1:", "none of its choices", "A, B")):
        mend_dataset(file)


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("line_break", [b"\n", b"\r\n"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_marks_line_breaks_and_compression_stay(tmp_path: Path, kind: str, line_break: bytes, ending: str) -> None:
    """What is not decided about keeps its bytes, and a spreadsheet reads the file as before."""
    rows = [[f"u{i}", f"text number {i}", ("yes", "no")[i % 2]] for i in range(6)]
    names = ["id", "text", "label"]

    def bytes_of(kept: list[list[str]]) -> bytes:
        if kind == "jsonl":
            lines = [json.dumps(dict(zip(names, row, strict=True))) for row in kept]
        else:
            lines = [{"csv": ",", "tsv": "\t"}[kind].join(row) for row in [names, *kept]]
        return b"\xef\xbb\xbf" + b"".join(line.encode() + line_break for line in lines)

    put = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[ending]
    data = tmp_path / f"set.{kind}{ending}"
    data.write_bytes(put(bytes_of(rows)))
    decide(data, "u2", "drop")
    decide(data, "u4", "relabel", label="no")
    mended = mend_dataset(data)
    assert mended.name == data.name
    rows[4][2] = "no"
    wanted = bytes_of([row for row in rows if row[0] != "u2"])
    read = {"": bytes, ".gz": gzip.decompress, ".zst": zstandard.ZstdDecompressor().decompress}[ending]
    assert read(mended.content) == wanted
    mended.save(tmp_path / "out")
    assert len(read_dataset(tmp_path / "out" / mended.name)) == 5


def items_of(file: Path) -> ChoiceItems:
    """The items of a file, by the kind that is recognized."""
    table = read_table(file)
    return read_items(recognize(table, {}, DATA_KINDS).best(), table, "set", {})


def decide_items(file: Path, decided: dict[int, dict[str, Any]]) -> None:
    """Decide about items by their place, as the page does."""
    items = items_of(file)
    frame = item_frame(items)
    keys, ids = keys_of(frame, ITEM_COLUMNS), frame["example_id"].to_list()
    for at, each in decided.items():
        append_decision(file.with_name("set.decisions.jsonl"), Decision(keys[at], ids[at], **each))


def right_texts(file: Path) -> list[str]:
    """The right option of each item, as it is read from the file."""
    items = items_of(file)
    return items.texts.filter(pl.Series(items.right)).to_list()


PREFERRED = [
    {"prompt": f" Ask {i}? ", "chosen": f"good {i}", "rejected": f"bad {i}", "chosen_model": f"m{i}",
     "rejected_model": f"n{i}", "score_chosen": 9, "score_rejected": i}
    for i in range(5)
]  # fmt: skip


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_preferences_are_dropped_turned_round_and_their_prompts_rewritten(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"set.{ending}"
    frame = pl.DataFrame(PREFERRED)
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[ending](file)
    decide_items(file, {0: {"decision": "drop"}, 1: {"decision": "relabel", "label": "A"},
                        2: {"decision": "relabel", "label": "B"},
                        3: {"decision": "rewrite", "texts": {"question": "Why?"}}})  # fmt: skip
    mended = mend_dataset(file)
    assert (mended.counts, mended.left) == ({"rewrite": 1, "relabel": 2, "drop": 1}, {})
    place, _ = mended.save(tmp_path / "out")
    assert right_texts(place) == ["bad 1", "bad 2", "good 3", "good 4"]
    one = read_table(place).frame.with_columns(pl.col("^score.*$").cast(pl.Int64)).row(0, named=True)
    # What is known of a response stays with it.
    assert one == {"prompt": " Ask 1? ", "chosen": "bad 1", "rejected": "good 1", "chosen_model": "n1",
                   "rejected_model": "m1", "score_chosen": 1, "score_rejected": 9}  # fmt: skip
    assert read_table(place).frame["prompt"].to_list() == [" Ask 1? ", " Ask 2? ", " Why? ", " Ask 4? "]


def test_what_of_preferences_is_left_to_people_is_said_row_by_row(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    asked = "\n\nHuman: Hi {0}\n\nAssistant:"
    _write(file, [{"chosen": f"{asked.format(i)} good", "rejected": f"{asked.format(i)} bad"} for i in range(3)])
    decide_items(file, {1: {"decision": "rewrite", "texts": {"question": "Human: Hello"}},
                        2: {"decision": "relabel", "label": "A"}})  # fmt: skip
    mended = mend_dataset(file)
    assert mended.counts == {"relabel": 1}
    assert mended.lines()[1:] == [says("- 1 item", "rewritten by hand", "column of its own", "line 2")]
    assert [(each["line"], each.get("left")) for each in mended.changes] == [
        (2, says("rewritten by hand", "column of its own")), (3, None), (3, None),
    ]  # fmt: skip


def test_a_winner_is_written_as_the_file_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    rows = [{"prompt": f"ask {i}", "response_A": f"one {i}", "response_B": f"other {i}", "label": "A>B" if i % 2 else
             "B>A"} for i in range(4)]  # fmt: skip
    _write(file, rows)
    decide_items(file, {0: {"decision": "relabel", "label": "A"}, 1: {"decision": "relabel", "label": "B"},
                        2: {"decision": "relabel", "label": "B"}})  # fmt: skip
    assert [row["label"] for row in after(file)] == ["A>B", "B>A", "B>A", "A>B"]


@pytest.mark.parametrize("raters", [0, 1, 2])
def test_several_responses_or_raters_are_left_to_people(tmp_path: Path, raters: int) -> None:
    file = tmp_path / "set.jsonl"
    if raters == 1:
        _write(file, [{"prompt": f"ask {i}", "chosen": f"good {i}", "rejected": [f"bad {i}", f"worse {i}"]}
                      for i in range(3)])  # fmt: skip
        why = "they have more than two responses"
    elif raters == 0:
        _write(file, [{"prompt": f"ask {i}", "response_a": f"one {i}", "response_b": f"other {i}", "winner_model_a": 1,
                       "winner_model_b": 0, "winner_tie": 0} for i in range(3)])  # fmt: skip
        why = "several columns say which response is preferred"
    else:
        _write(file, [{"instruction": f"ask {i}", "response1": f"one {i}", "response2": f"other {i}", "annotator1": 1,
                       "annotator2": 1 + i // 3} for i in range(3)])  # fmt: skip
        why = "several columns say which response is preferred"
    items = items_of(file)
    own = "AB"[int(items.first_right[1])] if raters == 1 else "A"
    decide_items(file, {1: {"decision": "relabel", "label": "B" if own == "A" else "A"}})
    mended = mend_dataset(file)
    assert mended.content == file.read_bytes()
    assert mended.lines()[1] == f"- 1 item is to be relabelled by hand: {why} (line 2)"


def test_an_answer_is_written_by_the_labels_of_its_row(tmp_path: Path) -> None:
    """ARC names choices A to D in most rows, and 1 to 4 in some; elsewhere the answer is the choice's text."""
    file = tmp_path / "set.jsonl"
    names = ["ABCD", "ABCD", "1234", "ABCD"]
    rows = [{"id": f"r{i}", "question": {"stem": f"ask {i}", "choices": [
        {"text": f"{i} {place}", "label": name} for place, name in enumerate(own)]}, "answerKey": own[0]}
        for i, own in enumerate([*names, *names])]  # fmt: skip
    rows[4]["answerKey"], rows[6]["answerKey"] = "B", "2"
    _write(file, rows)
    decide_items(file, {1: {"decision": "relabel", "label": "B"}, 2: {"decision": "relabel", "label": "B"},
                        3: {"decision": "relabel", "label": "D"}})  # fmt: skip
    assert [row["answerKey"] for row in after(file)] == ["A", "B", "2", "D", "B", "A", "2", "A"]
    _write(file, [{"question": f"ask {i}", "choices": [f"{i} a", f"{i} b"], "answer": f"{i} a"} for i in range(4)])
    decide_items(file, {1: {"decision": "relabel", "label": "B"}})
    assert [row["answer"] for row in after(file)] == ["0 a", "1 b", "2 a", "3 a"]


def test_no_message_names_a_column_that_the_file_lacks(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    _write(file, [{"foo": 1, "bar": 2}])
    append_decision(tmp_path / "set.decisions.jsonl", Decision("0" * 32, "0", "drop"))
    with pytest.raises(InputError, match="no column is known to hold text among 'foo', 'bar'"):
        mend_dataset(file)
    _write(file, [{"item": i, "judge": "j", "order": "ab", "winner": "a"} for i in range(3)])
    with pytest.raises(InputError, match=in_order("judgments", "no texts to mend")):
        mend_dataset(file)
