"""The ledger of behavior names what differs."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tests.agreement.ledger.compare import ABSENT, compare, renamed, report
from tests.agreement.ledger.entries import CALLS, command_lines
from tests.agreement.ledger.record import error_record, file_record, plain, report_record, table_record

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT: dict[str, Any] = {
    "verdicts": {"leakage": {"verdict": "caution", "evidence": "Three points are gained."}},
    "figures": [
        {"id": "leakage.gain", "of": {"part": "premise"}, "value": 0.1 + 0.2, "low": -0.0, "high": None, "n": 9,
         "reason": ""},
        {"id": "leakage.gain", "of": {"part": "premise"}, "value": 1.0, "low": None, "high": None, "n": 9,
         "reason": "few"},
    ],
    "leakage": {"rows": [{"share": 0.5, "name": "a b"}, {"share": 0.25, "name": "c"}], "none": []},
    "digest": "sha256:0",
}  # fmt: skip


def ledger(entries: dict[str, Any], commands: tuple[str, ...] = ("audit",)) -> dict[str, Any]:
    return {"commands": list(commands), "entries": entries}


def differing(old: Any, new: Any) -> list[tuple[str, str, str]]:
    found = compare(ledger({"a/run": old}), ledger({"a/run": new}))
    return [(each.kind, each.entry, each.place) for each in found]


def test_a_report_is_kept_without_its_sentences() -> None:
    assert report_record(DOCUMENT) == {
        "verdicts": {"leakage": {"verdict": "caution"}},
        "figures": {
            "leakage.gain (part=premise)": {"value": "0.3", "low": "0.0", "high": None, "n": 9, "reason": ""},
            "leakage.gain (part=premise)'": {"value": "1.0", "low": None, "high": None, "n": 9, "reason": "few"},
        },
        "keys": {
            "verdicts.leakage.verdict": [], "verdicts.leakage.evidence": [], "leakage.rows[].share": ["0.5", "0.25"],
            "leakage.rows[].name": [], "leakage.none": [], "digest": [],
            **{f"figures[].{key}": [] for key in ("high", "id", "low", "n", "of.part", "reason", "value")},
        },
    }  # fmt: skip


def test_a_changed_sign_and_a_renamed_key_are_named() -> None:
    changed = json.loads(json.dumps(DOCUMENT))
    changed["figures"][0]["value"] *= -1
    changed["leakage"]["lines"] = changed["leakage"].pop("rows")
    assert differing(report_record(DOCUMENT), report_record(changed)) == [
        ("changed", "a/run", "figures / leakage.gain (part=premise) / value"),
        ("added", "a/run", "keys / leakage.lines[].name"),
        ("added", "a/run", "keys / leakage.lines[].share"),
        ("removed", "a/run", "keys / leakage.rows[].name"),
        ("removed", "a/run", "keys / leakage.rows[].share"),
    ]


def test_a_renamed_key_is_no_difference_where_it_is_told() -> None:
    frame = pl.DataFrame({"share": [0.5, 0.25], "b": [1, 2]})
    old = {"keys": report_record(DOCUMENT)["keys"], "table": table_record(frame)}
    text = json.dumps(DOCUMENT).replace('"share"', '"part"')
    new = {"keys": report_record(json.loads(text))["keys"], "table": table_record(frame.rename({"share": "part"}))}
    assert differing(old, new)
    assert not differing(json.loads(renamed(json.dumps(old), ["share=part"])), new)
    assert renamed('{"share_of": "n.share"}', ["share=part"]) == '{"share_of": "n.part"}'


def test_a_table_is_the_same_in_any_order_and_not_with_other_values() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0.1, None, 0.3], "c": [["x"], [], ["y"]]})
    assert not differing(table_record(frame), table_record(frame.reverse()))
    assert differing(table_record(frame), table_record(frame.select("c", "a", "b"))) == [
        ("changed", "a/run", "columns")
    ]
    other = frame.with_columns(b=pl.Series([0.1, None, 0.31]))
    assert differing(table_record(frame), table_record(other)) == [("changed", "a/run", "values / b")]
    # The same values in other rows.
    mixed = frame.with_columns(a=frame["a"].reverse())
    assert differing(table_record(frame), table_record(mixed)) == [("changed", "a/run", "rows")]


def test_of_an_error_only_what_it_names_counts(tmp_path: Path) -> None:
    said = f"Note.\ngoldassay: {tmp_path}/in/a.csv, line 1,024: no column 'x'; name it with --columns label=NAME\n"
    one = error_record(said, below=tmp_path)
    assert one | {"line": ""} == {
        "files": ["in/a.csv"], "rows": ["1,024"], "quoted": ["x"], "options": ["--columns"], "line": ""
    }  # fmt: skip
    assert str(tmp_path) not in one["line"]
    other = error_record(
        "goldassay: in/a.csv has no column 'x' in line 1,024; write --columns label=NAME", below=tmp_path
    )
    assert not differing({"exit": 2, "error": one}, {"exit": 2, "error": other})
    moved = error_record(said.replace("1,024", "1,025"), below=tmp_path)
    assert differing({"exit": 2, "error": one}, {"exit": 2, "error": moved}) == [("changed", "a/run", "error / rows")]


def test_a_command_that_only_one_source_has_is_one_difference() -> None:
    old = ledger({"a/look": {ABSENT: "command look"}, "a/gone": {"exit": 0}, "a/same": {"exit": 0}})
    new = ledger({"a/look": {"exit": 0}, "a/gone": {ABSENT: "command gone"}, "a/same": {"exit": 0}}, ("audit", "look"))
    assert [(each.kind, each.entry, each.place) for each in compare(old, new)] == [
        ("added", "command look", "command"), ("removed", "a/gone", "missing command gone"),
        ("added", "a/look", "new command look"),
    ]  # fmt: skip
    assert not compare(old, old)


def test_differences_are_grouped_and_counted() -> None:
    found = compare(ledger({"a/run": {"x": 1, "y": 2, "z": 3}}), ledger({"a/run": {"x": -1, "y": 0, "w": 3}}))
    assert list(report(found, most=1)) == [
        "removed: 1 in 1 runs", "  a/run", "    z: 3", "added: 1 in 1 runs", "  a/run", "    w: 3",
        "changed: 2 in 1 runs", "  a/run", "    x: 1 -> -1", "    and 1 more", "4 differences",
    ]  # fmt: skip


def test_files_and_results_are_described(tmp_path: Path) -> None:
    (tmp_path / "timing.json").write_text('{"seconds": {"reading": 0.5}}')
    assert file_record(tmp_path / "timing.json") == {"keys": {"seconds": []}}
    (tmp_path / "page.html").write_text("<table><tr><td></tr><tr></tr></table>")
    assert file_record(tmp_path / "page.html")["tr"] == 2
    pl.DataFrame({"a": [1]}).write_csv(tmp_path / "a.csv")
    assert file_record(tmp_path / "a.csv")["columns"] == ["a"]
    assert plain({"x": (np.float64(0.5), True, None)}) == {"x": ["0.5", True, None]}
    assert plain(np.arange(3)) != plain(np.arange(3)[::-1])


def test_there_are_enough_inputs() -> None:
    lines = command_lines()
    assert sum(map(len, lines.values())) >= 60
    assert len(CALLS) >= 20
    for scenario, own in lines.items():
        written = [word for words in own.values() for flag, word in pairwise(words) if flag == "-o"]
        assert len({*written}) == len(written), scenario
