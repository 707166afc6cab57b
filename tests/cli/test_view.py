"""`view` and `mend` on the command line: what they refuse, and what they export."""

from __future__ import annotations

import json
import re
import shutil
import socket
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.data.decisions import Decision, append_decision
from goldassay.data.mending import mend_dataset
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import copies_of, row_key
from goldassay.questions.report_frame import frame_findings
from goldassay.report.report import Report
from goldassay.view.opening import open_workbench
from tests.cli.run_files import refused
from tests.stated import states
from tests.view.made import HOSTILE, save_both

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["refused"]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    return save_both(tmp_path)


def test_an_export_is_one_file_without_scripts(made: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    state = "f.label=neutral&sort=-confidence&q=outside"
    assert run(["view", str(made[1]), "--export", str(page), "--state", state, "-q"]) == 0
    text = page.read_text("utf-8")
    table = pl.read_parquet(made[1] / "tables" / "examples.parquet")
    held = pl.concat_str("premise", "hypothesis", separator=" ").str.contains(r"(?i)\boutside\b")
    wanted = table.filter(held, pl.col("label") == "neutral").sort("confidence", descending=True, nulls_last=True)
    assert re.findall(r"<bdi>(row-\d+)</bdi>", text) == wanted["example_id"].to_list()
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text
    assert run(["view", str(made[1]), "--export", str(page), "-q"]) == 0
    assert HOSTILE not in page.read_text("utf-8")


Refused = "Callable[..., str]"


def _spoil_mixed(report: Path, _: Path) -> None:
    (report / "tables" / "examples.parquet").write_bytes(b"PAR1 of another report PAR1")


def _spoil_no_rows(report: Path, _: Path) -> None:
    (report / "report.json").unlink()


def _spoil_line(_: Path, dataset: Path) -> None:
    dataset.with_name("made.decisions.jsonl").write_text('{"key": 3}\n{}\n')


OTHER = json.dumps({"key": "0" * 32, "id": "row-1", "decision": "drop"}) + "\n"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_spoil_mixed, "examples.parquet"),
        (_spoil_no_rows, "report.json"),
        (_spoil_line, "line 1: the line has no text as 'key'"),
    ],
)
def test_what_is_wrong_is_one_line(
    made: tuple[Path, Path], refused: Callable[..., str], spoil: Callable[[Path, Path], None], said: str
) -> None:
    dataset, report = made
    spoil(report, dataset)
    assert said in refused("view", str(report), "--export", str(report.parent / "x.html"))


def test_named_decisions_of_another_dataset_are_refused(
    made: tuple[Path, Path], tmp_path: Path, refused: Callable[..., str]
) -> None:
    (tmp_path / "other.jsonl").write_text(OTHER)
    said = refused("view", str(made[1]), "--decisions", str(tmp_path / "other.jsonl"))
    assert states(said, "decision", "no row of this report", "another dataset")


def test_own_decisions_whose_rows_are_mended_are_counted(made: tuple[Path, Path], tmp_path: Path) -> None:
    made[0].with_name("made.decisions.jsonl").write_text(OTHER)
    assert run(["view", str(made[1]), "--export", str(tmp_path / "page.html"), "-q"]) == 0
    said = ("made.decisions.jsonl", "no row of this report")
    assert states((tmp_path / "page.html").read_text("utf-8"), said)


def test_an_unfinished_last_line_is_said_and_kept(made: tuple[Path, Path], tmp_path: Path) -> None:
    file = made[0].with_name("made.decisions.jsonl")
    file.write_text(OTHER + '{"key": "half')
    assert run(["view", str(made[1]), "--export", str(tmp_path / "page.html"), "-q"]) == 0
    assert states((tmp_path / "page.html").read_text("utf-8"), "last line", "made.decisions.jsonl", "unfinished")
    assert file.read_text() == OTHER + '{"key": "half'


def test_a_folder_that_is_no_report_is_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert states(refused("view", str(tmp_path)), f"{tmp_path}:", "no report.json")
    assert states(refused("view", str(tmp_path / "no")), f"{tmp_path}/no:", "no such report", "report.json")


def test_an_export_refuses_the_pages_that_the_server_refuses(
    made: tuple[Path, Path], tmp_path: Path, refused: Callable[..., str]
) -> None:
    page = tmp_path / "page.html"
    said = refused("view", str(made[1]), "--export", str(page), "--state", "page=-1")
    assert "the page '-1' is no number from 1 on" in said
    assert not page.exists()
    assert run(["view", str(made[1]), "--export", str(page), "--state", "page=99", "-q"]) == 0


def test_mend_names_the_line_of_a_decision_and_what_to_do(
    made: tuple[Path, Path], tmp_path: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, file = made[0], made[0].with_name("made.decisions.jsonl")
    first = read_dataset(dataset).examples.row(0, named=True)
    key = row_key({name: first[name] for name in ("premise", "hypothesis", "label")})
    line = {"key": key, "id": first["example_id"], "decision": "relabel", "label": "natural"}
    file.write_text(OTHER + json.dumps(line) + "\n")
    said = refused("mend", str(dataset), "-o", str(tmp_path / "out"))
    assert states(said, f"{file}, line 2:", "'natural'", "no row of made.jsonl")
    assert states(said, "correct or remove", "entailment, neutral, contradiction")
    file.write_text(json.dumps({**line, "label": "neutral"}) + '\n{"key": "half')
    assert run(["mend", str(dataset), "-o", str(tmp_path / "out")]) == 0
    assert states(capsys.readouterr().out, "- 1 unfinished last line", "made.decisions.jsonl", "left out")


def test_a_report_on_judgments_has_no_texts_to_show(tmp_path: Path, refused: Callable[..., str]) -> None:
    findings = {"dataset": {"name": "made"}, "inputs": [], "settings": {}, "judgments": {"n": 3}}
    table = pl.DataFrame({"judge": ["a"]})
    Report(frame_findings("Judges", findings, Steps(quiet=True)).document, {"judges": table}).save(tmp_path / "judged")
    assert "no texts to look through" in refused("view", str(tmp_path / "judged"))


def test_a_port_in_use_is_named(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port: {port} is in use; give another" in refused("view", str(made[1]), "--port", str(port))


def test_a_state_without_an_export_is_refused(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    assert "--state is given without --export" in refused("view", str(made[1]), "--state", "q=x")


def test_decisions_inside_the_report_are_refused(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    inside = made[1] / "mine.jsonl"
    inside.write_text("")
    assert "lost with it" in refused("view", str(made[1]), "--decisions", str(inside))


def test_a_dataset_that_changed_is_said_on_the_page(made: tuple[Path, Path], tmp_path: Path) -> None:
    dataset, report = made
    dataset.write_text(dataset.read_text("utf-8") + "\n", "utf-8")
    page = tmp_path / "page.html"
    assert run(["view", str(report), "--export", str(page), "-q"]) == 0
    assert "made.jsonl changed since the audit" in page.read_text("utf-8")


def _rows_of(dataset: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in dataset.read_text("utf-8").splitlines()]


def _write_rows(place: Path, found: list[dict[str, str]]) -> None:
    place.write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")


@pytest.mark.parametrize("n_own", [0, 11])
def test_another_dataset_is_refused(
    made: tuple[Path, Path], tmp_path: Path, refused: Callable[..., str], n_own: int
) -> None:
    dataset, report = made
    other = tmp_path / "other.jsonl"
    found = [{**row, "premise": f"Not {row['premise']}"} if at >= n_own else row for at, row in
             enumerate(_rows_of(dataset))]  # fmt: skip
    _write_rows(other, found)
    page = tmp_path / "page.html"
    said = refused("view", str(report), "--test", str(other), "--export", str(page))
    assert states(said, f"{other}: has {n_own} of the 230 rows", "another dataset")
    assert not page.exists()
    # Where the dataset was, the report is still shown, and nothing can be decided.
    _write_rows(dataset, found)
    assert run(["view", str(report), "--export", str(page), "-q"]) == 0
    there = page.read_text("utf-8")
    assert states(there, "made.jsonl", f"has {n_own} of the 230 rows", "another dataset")
    assert open_workbench(report).decisions is None


def test_a_file_that_is_no_dataset_is_refused(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    dataset, report = made
    (dataset.parent / "x.jsonl").write_bytes(b"\x00\x01")
    assert "x.jsonl" in refused("view", str(report), "--test", str(dataset.parent / "x.jsonl"), "--export", "p.html")
    dataset.write_bytes(b"\x00\x01")
    bench = open_workbench(report)
    assert states(bench.notes[0], "made.jsonl", "cannot be read", "(")
    assert bench.decisions is None


def test_a_changed_file_is_read_with_the_columns_of_the_audit(tmp_path: Path) -> None:
    """Names tell nothing of these columns, and an id takes two of them."""
    place, report = tmp_path / "set.csv", tmp_path / "report"
    table = pl.DataFrame(
        {"part": ["a", "b"] * 40, "no": [i // 2 for i in range(80)], "one": [f"text {i} word" for i in range(80)],
         "what": ["x", "y"] * 40}
    )  # fmt: skip
    table.write_csv(place)
    columns = ["--columns", "id=part+no,text=one,label=what"]
    assert run(["audit", str(place), *columns, "-o", str(report), "-q"]) == 0
    # Of one file a part is evaluated.
    shown = pl.read_parquet(report / "tables" / "examples.parquet")
    gone = shown["text"][:3].to_list()
    table.filter(~pl.col("one").is_in(gone)).write_csv(place)
    (note, *_) = open_workbench(report).notes
    n = shown.height
    assert states(note, f"has {n - 3} of the {n} rows", 3, "changed or are gone")


@pytest.mark.parametrize("how", ["changed", "subset", "reordered", "more"])
def test_a_dataset_that_changed_in_part_opens_with_how_many_rows_did(made: tuple[Path, Path], how: str) -> None:
    dataset, report = made
    found = _rows_of(dataset)
    if how == "changed":
        found[3]["hypothesis"] = found[5]["label"] = "contradiction"
        said = "it has 228 of the 230 rows of this report, and 2 changed or are gone."
    elif how == "subset":
        found, said = found[:9], "it has 9 of the 230 rows of this report, and 221 changed or are gone."
    else:
        said = "but has all rows of this report."
        found = found[::-1] if how == "reordered" else [*found, {**found[0], "example_id": "new", "premise": "New."}]
    place = dataset.with_name("again.jsonl")
    _write_rows(place, found)
    bench = open_workbench(report, str(place))
    between = ":" if how in ("changed", "subset") else ","
    assert f"again.jsonl is not as it was audited{between} {said}" in bench.notes[0]
    assert bench.decisions == place.with_name("again.decisions.jsonl")


def test_equal_rows_of_a_file_that_was_split_are_mended(tmp_path: Path) -> None:
    """Of one file a part is evaluated: what view writes about equal rows must be what mend finds in the whole file."""
    place, report, rng = tmp_path / "set.csv", tmp_path / "report", np.random.default_rng(0)
    texts = [f"text {at} word" for at in rng.integers(0, 60, 240)]
    table = pl.DataFrame({"text": texts, "label": ["x" if int(each.split()[1]) % 2 else "y" for each in texts]})
    table.write_csv(place)
    assert run(["audit", str(place), "-o", str(report), "-q"]) == 0
    bench = open_workbench(report)
    assert bench.decisions is not None
    several = {row: same for row in range(bench.table.n_rows)
               if len(same := bench.table.same_as(bench.table.rows(np.array([row]))[0])) > 1}  # fmt: skip
    assert len(several) > 10
    dropped = []
    for row, same in list(several.items())[::3]:
        found = bench.table.rows(np.array([row]))[0]
        dropped.append(int(found["example_id"]))
        decision = Decision(bench.table.key(found), found["example_id"], "drop", copies=copies_of(same))
        append_decision(bench.decisions, decision)
    mended = mend_dataset(place)
    assert (mended.counts, mended.left) == ({"drop": len(dropped)}, {})
    assert list(mended.dropped) == sorted(dropped)
    assert len(open_workbench(report).table.decided) == len(dropped)


def test_a_report_that_was_moved_without_its_data_is_shown(made: tuple[Path, Path], tmp_path: Path) -> None:
    moved = shutil.move(made[1], tmp_path / "far" / "away" / "report")
    page = tmp_path / "page.html"
    assert run(["view", str(moved), "--export", str(page), "-q"]) == 0
    assert "name it with --test FILE" in page.read_text("utf-8")


def test_a_report_on_runs_shows_their_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, runs = tmp_path / "test.csv", tmp_path / "runs.csv"
    pl.DataFrame({"id": ["a", "b"], "text": ["one thing", "two things"], "label": ["x", "y"]}).write_csv(data)
    pl.DataFrame(
        {
            "seed": [0, 0, 1, 1],
            "example_id": ["a", "b"] * 2,
            "label": ["x", "y"] * 2,
            "prediction": ["x", "y", "y", "y"],
        }
    ).write_csv(runs)
    report, page = tmp_path / "report", tmp_path / "page.html"
    assert run(["instability", str(runs), "--test", str(data), "-o", str(report), "-q"]) == 0
    assert run(["view", str(report), "--export", str(page), "--state", "q=things", "-q"]) == 0
    assert "two things" in page.read_text("utf-8")


def test_mend_writes_the_set_and_its_log(
    made: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    bench = open_workbench(made[1])
    row = bench.table.rows(pl.Series([5]).to_numpy())[0]
    assert bench.decisions is not None
    append_decision(bench.decisions, Decision(bench.table.key(row), "row-5", "drop"))
    out = tmp_path / "mended"
    assert run(["mend", str(made[0]), "-o", str(out), "--json", str(tmp_path / "m.json")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "230 rows before, 229 after; carried out: 1 drop"
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["rows_after"] == 229
    assert len((out / "made.jsonl").read_text("utf-8").splitlines()) == 229
    # What was mended fits the same decisions no more, and says so.
    assert run(["mend", str(out / "made.jsonl"), "--decisions", str(bench.decisions), "-o", str(out)]) == 2


@pytest.mark.parametrize("target", ["made.jsonl", "made.decisions.jsonl", "report/report.json", "report/page.html"])
def test_an_export_replaces_nothing_that_was_read(
    made: tuple[Path, Path], tmp_path: Path, refused: Callable[..., str], target: str
) -> None:
    dataset, report = made
    dataset.with_name("made.decisions.jsonl").write_text("")
    place = report / target.removeprefix("report/") if "/" in target else dataset.with_name(target)
    before = place.read_bytes() if place.exists() else None
    said = refused("view", str(report), "--export", str(place))
    assert states(said, place.name, "within the report" if "/" in target else "was read", "--export")
    assert (place.read_bytes() if place.exists() else None) == before
    assert run(["view", str(report), "--export", str(tmp_path / "page.html"), "-q"]) == 0


def test_decisions_are_never_within_a_report(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    said = refused("view", str(made[1]), "--decisions", str(made[1] / "new.jsonl"), "--export", "page.html")
    assert states(said, "inside a report", "lost", "dataset")


def test_mending_replaces_nothing_that_was_read(made: tuple[Path, Path], refused: Callable[..., str]) -> None:
    dataset, _ = made
    row = read_dataset(dataset).examples.row(0, named=True)
    key = row_key({name: row[name] for name in ("premise", "hypothesis", "label")})
    file = dataset.with_name("made.decisions.jsonl")
    file.write_text(json.dumps({"key": key, "id": row["example_id"], "decision": "drop"}) + "\n")
    before = dataset.read_bytes()
    said = refused("mend", str(dataset), "-o", str(dataset.parent))
    assert states(said, f"{dataset.name}:", "was read", "-o")
    assert dataset.read_bytes() == before
    assert not (dataset.parent / "changes.jsonl").exists()
    with pytest.raises(InputError, match="is a file that was read"):
        mend_dataset(dataset).save(dataset.parent)
    said = refused("mend", str(dataset), "-o", str(dataset.parent / "out"), "--json", str(file))
    assert states(said, f"{file.name}:", "was read", "--json")
    assert not (dataset.parent / "out").exists()


def test_an_export_says_that_it_has_all_pages(
    made: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    for state, said in (("page=3", "--state: page=3 is left out: the file has all pages"), ("", "")):
        assert run(["view", str(made[1]), "--export", str(page), "--state", state, "-q"]) == 0
        told = capsys.readouterr().err
        assert said in told
        assert bool(said) == ("is left out" in told)
        assert len(re.findall(r"<bdi>row-\d+</bdi>", page.read_text("utf-8"))) == 230


def test_texts_inside_of_objects_are_named_with_dots(tmp_path: Path, refused: Callable[..., str]) -> None:
    file = tmp_path / "nested.jsonl"
    file.write_text('{"data": {"text": "a"}, "label": "x"}\n{"data": {"text": "b"}, "label": "y"}\n', "utf-8")
    inside = "fields of objects are named with dots: data.text"
    assert inside in refused("audit", str(file), "-o", str(tmp_path / "out"))
    missing = refused("audit", str(file), "--columns", "text=data.body", "-o", str(tmp_path / "out"))
    assert "no row has the field 'body'; its fields are text" in missing
    file.write_text('{"foo": 1, "label": "x"}\n{"foo": 2, "label": "y"}\n', "utf-8")
    assert "fields of objects" not in refused("audit", str(file), "-o", str(tmp_path / "out"))
