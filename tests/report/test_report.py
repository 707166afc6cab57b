from __future__ import annotations

import copy
import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import OutputError
from goldassay.core.files import sha256_of
from goldassay.core.sections import Section
from goldassay.questions.report_frame import compose_report
from goldassay.report.report import flattened
from tests.report.example import example_document, example_report
from tests.typed import framed_of

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report

SMALL = example_document(n_scatter=60)


def composed(document: dict[str, Any], tables: dict[str, pl.DataFrame] | None = None) -> Report:
    """The report of a document without answers."""
    return compose_report(framed_of(document), tables or {})


def every_form(report: Report) -> list[str]:
    return [
        report.to_json(),
        report.to_html(),
        report.to_markdown(),
        report.to_card(),
        report.to_badge(),
        report.summary(),
        report._repr_html_(),
        repr(report),
        *report.drawings().values(),
    ]


def paths_of(node: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every node of a document; of long lists only to the first few."""
    found = [prefix] if prefix else []
    if isinstance(node, dict):
        for key, child in node.items():
            found += paths_of(child, (*prefix, key))
    elif isinstance(node, list):
        for i, child in enumerate(node[:2]):
            found += paths_of(child, (*prefix, i))
    return found


def replaced(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    node: Any = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


def test_every_form_is_the_same_each_time() -> None:
    assert every_form(example_report(300)) == every_form(example_report(300))


def test_json_holds_the_document_and_nothing_json_lacks() -> None:
    report = composed(
        {"title": "t", "artifacts": {"coverage": float("nan"), "n": np.int64(3)}, "schema": "goldassay.report"}
    )
    text = report.to_json()
    assert text.endswith("}\n")
    assert json.loads(text) == {"schema": "goldassay.report", "title": "t", "artifacts": {"coverage": None, "n": 3}}
    assert list(json.loads(text)) == ["schema", "title", "artifacts"]


def test_json_floats_come_back_exactly() -> None:
    values = [0.1, 1 / 3, 1e-300, 123456789.123456789]
    assert json.loads(composed({"own": values}).to_json())["own"] == values


def test_json_keeps_keys_it_does_not_know() -> None:
    assert list(json.loads(composed({"own": 1, "title": "t"}).to_json())) == ["title", "own"]


def test_verdicts(report: Report) -> None:
    assert {key: verdict["verdict"] for key, verdict in report.verdicts.items()} == {
        "artifacts": "unsound",
        "leakage": "unsound",
        "instability": "caution",
        "shift": "not measurable",
        "overlap": "not asked",
    }
    assert composed({}).verdicts == {}


# Verdicts and what was read are typed, and are there.
WAYS = st.sampled_from(
    [path for path in paths_of(SMALL) if path[0] not in ("dataset", "inputs", "environment", "verdicts")]
)
VALUES = st.sampled_from([None, float("nan"), {}, [], {"applies": False}, 0])


@settings(max_examples=40)
@given(path=WAYS, value=VALUES)
def test_whatever_is_missing_no_form_fails(path: tuple[Any, ...], value: Any) -> None:
    every_form(composed(replaced(SMALL, path, value)))


@pytest.mark.slow
@settings(max_examples=600)
@given(path=WAYS, value=VALUES)
def test_whatever_is_missing_no_form_fails_however_many_are_tried(path: tuple[Any, ...], value: Any) -> None:
    every_form(composed(replaced(SMALL, path, value)))


@pytest.mark.parametrize("document", [{}, {"title": None}, {"verdicts": {}, "facts": {}, "inputs": []}])
def test_next_to_nothing_is_still_a_report(document: dict[str, Any]) -> None:
    every_form(composed(document))


def test_a_section_with_nothing_to_show_says_why() -> None:
    parts = Section("parts", "Parts", "Which parts are there?", reason="A single text has no parts")
    report = dataclasses.replace(composed(SMALL), sections=(parts,))
    assert "Not defined: A single text has no parts." in report.to_html()
    assert "Not defined: A single text has no parts." in report.to_markdown()


def test_texts_that_no_encoding_takes() -> None:
    document = dict(SMALL, title="lone \ud800 surrogate, \x00 and \x1b[31m")
    for text in every_form(composed(document)):
        text.encode("utf-8", "replace")
    assert "\x1b" not in composed(document).summary()


def test_save_writes_everything(report: Report, tmp_path: Any) -> None:
    page = report.save(tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    tables = {f"tables/{name}.{kind}" for name in report.tables for kind in ("csv", "parquet")}
    assert written == {"report.html", "report.json", "timing.json", "report.md", "badge.svg", *tables} | {
        f"figures/{name}.svg" for name in report.drawings()
    }
    stored = {name: json.loads((tmp_path / "out" / f"{name}.json").read_text("utf-8")) for name in ("report", "timing")}
    assert {**report.to_dict(), "digests": stored["report"]["digests"]} == {
        **stored["report"], "timing": stored["timing"],
    }  # fmt: skip
    assert stored["report"]["digests"] == {
        name: sha256_of(tmp_path / "out" / name) for name in sorted(written - {"report.json", "timing.json"})
    }
    for name, table in report.tables.items():
        assert pl.read_parquet(tmp_path / "out" / "tables" / f"{name}.parquet").equals(table)


def test_save_twice_gives_the_same_bytes(tmp_path: Any) -> None:
    for name in ("a", "b"):
        example_report(200).save(tmp_path / name)
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes(), path


def test_save_takes_away_what_an_earlier_report_left(report: Report, tmp_path: Any) -> None:
    report.save(tmp_path)
    assert list((tmp_path / "tables").iterdir())
    (tmp_path / "tables" / "mine.csv").write_text("a\n1\n")
    (tmp_path / "figures" / "mine.svg").write_text("<svg/>")
    composed({"title": "another", "goldassay_version": "0"}, {"other": pl.DataFrame({"a": [1]})}).save(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.parent != tmp_path}
    assert not (tmp_path / "badge.svg").exists()
    assert left == {"tables/other.csv", "tables/other.parquet", "tables/mine.csv", "figures/mine.svg"}


def test_save_takes_nothing_where_no_report_was(report: Report, tmp_path: Any) -> None:
    report.save(tmp_path)
    (tmp_path / "report.json").write_text('{"of": "somebody else"}')
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    composed({"title": "another"}).save(tmp_path)
    assert before <= set(tmp_path.rglob("*"))


class _Unwritable(pl.DataFrame):
    def write_parquet(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError(28, "No space left on device")


def test_save_is_all_or_nothing(tmp_path: Any) -> None:
    example_report(60).save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    broken = composed(dict(SMALL, title="another"), {"patterns": _Unwritable({"a": [1]})})
    with pytest.raises(OutputError, match="No space left on device"):
        broken.save(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_csv_holds_lists_as_text() -> None:
    table = pl.DataFrame({"tokens": [["a", "b"], [], None], "gaps": [[2], [0, 1], None], "deep": [[[1]], [[2]], None]})
    flat = flattened(table)
    assert flat["tokens"].to_list() == ["a|b", "", None]
    assert flat["gaps"].to_list() == ["2", "0|1", None]
    assert json.loads(flat["deep"][0]) == [[1]]
    flat.write_csv()


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_holds_nothing_that_a_spreadsheet_executes(begin: str, tmp_path: Path) -> None:
    text = f"{begin}HYPERLINK(1)"
    table = pl.DataFrame({"text": [text, "plain", f" {text}", None], "tokens": [[text], ["a", text], [], None]})
    flat = flattened(table)
    assert flat["text"].to_list() == [f"'{text}", "plain", f" {text}", None]
    assert flat["tokens"].to_list() == [f"'{text}", f"a|{text}", "", None]
    assert flattened(pl.DataFrame({text: [1]})).columns == [f"'{text}"]
    category = pl.DataFrame({"label": pl.Series([text], dtype=pl.Categorical)})
    assert flattened(category)["label"].to_list() == [f"'{text}"]
    composed(SMALL, {"rows": table}).save(tmp_path)
    assert pl.read_csv(tmp_path / "tables" / "rows.csv")["text"][0] == f"'{text}"
    assert pl.read_parquet(tmp_path / "tables" / "rows.parquet").equals(table)


def test_csv_holds_numbers_as_they_are() -> None:
    table = pl.DataFrame({"whole": [-4], "decimal": [-4.6], "gaps": [[-1, 2]]})
    assert flattened(table).write_csv() == "whole,decimal,gaps\n-4,-4.6,-1|2\n"
