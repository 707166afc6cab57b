"""The report on shift: its pictures, tables and other forms."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from goldassay.report.paper import paper_files
from tests.report.shift_example import HOSTILE, shift_reports

if TYPE_CHECKING:
    from goldassay.report import Report


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Report]:
    return shift_reports(tmp_path_factory.mktemp("shift"))


def test_every_picture_is_drawn_and_well_formed(reports: tuple[Report, Report]) -> None:
    drawn = [set(report.figures()) for report in reports]
    assert drawn == [
        {"shift_slopes", "shift_sizes", "shift_reliability", "shift_coverage"},
        {"shift_false_alarms", "shift_confidence"},
    ]
    for report in reports:
        for svg in report.figures().values():
            root = ElementTree.fromstring(svg)
            assert root.attrib["role"] == "img"
            assert "NaN" not in svg
            assert "<script" not in svg


def test_names_are_shown_and_never_run(reports: tuple[Report, Report]) -> None:
    for report in reports:
        page = report.to_html()
        assert HOSTILE not in page
        assert "&lt;script&gt;alert(1)" in page


def test_the_terminal_says_the_verdict_and_the_largest_findings(reports: tuple[Report, Report]) -> None:
    for report in reports:
        lines = report.summary().splitlines()
        assert lines[1].startswith("Shift")
        assert len(lines) <= 15
    assert "a gap of" in reports[0].summary()
    assert "false alarms" in reports[1].summary()


def test_nothing_measured_is_nothing_shown(reports: tuple[Report, Report]) -> None:
    from dataclasses import replace

    bare = {**reports[0].to_dict(), "shift": {"kind": "generalization", "generalization": []}}
    empty = replace(reports[0], document=bare, tables={})
    assert empty.figures() == {}
    assert "Shift" in empty.to_html()


def test_tables_for_papers(reports: tuple[Report, Report]) -> None:
    files = [paper_files(report.to_dict(), None, latex=True) for report in reports]
    assert [set(each) for each in files] == [{"paper/generalization.tex"}, {"paper/detection.tex"}]
    for each in files:
        for content in each.values():
            text = content.decode()
            assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
            head, *body = [line for line in text.splitlines() if line.endswith(r"\\")]
            assert {line.count(" & ") for line in body} == {head.count(" & ")}
