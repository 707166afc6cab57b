"""The report on shift: its pictures, tables and other forms."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from goldassay.core.sections import Around
from goldassay.questions.shift.charts import charts
from goldassay.questions.shift.result import GeneralizationResult, ShiftResult
from goldassay.report.charts import draw_pictures
from goldassay.report.paper import paper_files
from tests.cli.shift.toys import answers, texts
from tests.report.shift_example import HOSTILE, shift_reports
from tests.typed import compose, filled

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.charts import Picture
    from goldassay.report.report import Report


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Report]:
    return shift_reports(tmp_path_factory.mktemp("shift"))


def test_every_picture_is_drawn_and_well_formed(reports: tuple[Report, Report]) -> None:
    drawn = [set(report.drawings()) for report in reports]
    assert drawn == [
        {"shift_slopes", "shift_sizes", "shift_reliability", "shift_coverage"},
        {"shift_false_alarms", "shift_confidence"},
    ]
    for report in reports:
        for svg in report.drawings().values():
            root = ElementTree.fromstring(svg)
            assert root.attrib["role"] == "img"
            assert "NaN" not in svg
            assert "<script" not in svg


def test_names_are_shown_and_never_run(reports: tuple[Report, Report]) -> None:
    for report in reports:
        page = report.to_html()
        assert HOSTILE not in page
        assert "&lt;script&gt;alert(1)" in page


def test_a_card_asks_what_was_measured(reports: tuple[Report, Report]) -> None:
    questions = ("Does the score hold on another distribution?", "Does the model know when it has left its own")
    for report, asked, other in zip(reports, questions, reversed(questions), strict=True):
        page = report.to_html()
        assert page.count(asked) == 2
        assert other not in page


def test_the_terminal_says_the_verdict_and_the_largest_findings(reports: tuple[Report, Report]) -> None:
    for report in reports:
        lines = report.summary().splitlines()
        assert lines[1].startswith("Shift")
        assert len(lines) <= 15
    assert "a gap of" in reports[0].summary()
    assert "false alarms" in reports[1].summary()


def test_a_model_has_one_color_whatever_it_was_trained_on(tmp_path: Path) -> None:
    import polars as pl

    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.shift.question import report_generalization

    gold = {}
    for name in ("tea", "coffee"):
        frames = [
            answers(name, 60, model=model).with_columns(pl.lit(f"{trained}_train").alias("train_set"))
            for model in ("small", "large")
            for trained in ("tea", "coffee")
        ]
        pl.concat(frames).write_parquet(tmp_path / f"{name}.parquet")
        gold[name] = str(texts(tmp_path / f"{name}.jsonl", frames[0], f"a cup of {name}"))
    report = report_generalization(
        [str(path) for path in sorted(tmp_path.glob("*.parquet"))],
        sizes={f"{model}@{trained}_train": n for model, n in (("small", 1e3), ("large", 1e6)) for trained in gold},
        choice=RunChoice(gold=gold, label_names=("negative", "positive")),
        n_draws=20,
    )
    trained = {(row["model"], row["train"]) for row in report.to_dict()["shift"]["generalization"]}
    assert len(trained) == 4
    for figure in ("shift_slopes", "shift_sizes"):
        root = ElementTree.fromstring(report.drawings()[figure])
        written = [element.text for element in root.iter() if element.tag.endswith("text")]
        assert {"small", "large", "tea → coffee", "coffee → tea"} <= set(written)
        assert not any("@" in (text or "") for text in written)
        assert figure == "shift_slopes" or {"1k", "10k", "100k", "1M"} <= set(written)
        titles = [element.text or "" for element in root.iter() if element.tag.endswith("title")]
        assert any("small@tea_train" in title for title in titles)
    # Two sets lie equally far apart either way round.
    assert len(report.to_dict()["shift"]["domains"]) == 1


def test_nothing_measured_is_nothing_shown(reports: tuple[Report, Report]) -> None:
    empty = compose({**reports[0].to_dict(), "shift": filled(GeneralizationResult, {"kind": "generalization"})})
    assert empty.drawings() == {}
    assert "Shift" in empty.to_html()


def test_tables_for_papers(reports: tuple[Report, Report]) -> None:
    files = [paper_files({}, None, report.paper_tables) for report in reports]
    assert [set(each) for each in files] == [{"paper/generalization.tex"}, {"paper/detection.tex"}]
    for each in files:
        for content in each.values():
            text = content.decode()
            assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
            head, *body = [line for line in text.splitlines() if line.endswith(r"\\")]
            assert {line.count(" & ") for line in body} == {head.count(" & ")}


@pytest.mark.parametrize(
    ("picture", "key", "most", "what"),
    [
        ("shift_slopes", "generalization", 12, "pairs"),
        ("shift_sizes", "generalization", 12, "pairs"),
        ("shift_reliability", "calibration", 12, "models"),
        ("shift_coverage", "risk_coverage", 12, "models"),
        ("shift_false_alarms", "detection", 60, "bars"),
        ("shift_confidence", "histograms", 30, "panels"),
    ],
)
def test_what_is_left_out_is_said_where_it_is(
    reports: tuple[Report, Report], picture: str, key: str, most: int, what: str
) -> None:
    found = next(each for report in reports if hasattr(each := report.answers["shift"], key))
    assert isinstance(found, ShiftResult)
    rows = list(getattr(found, key))
    named = "model" if what == "models" else "test" if key == "generalization" else "dataset"
    own, others = ([row for row in rows if getattr(row, "own", False) is side] for side in (True, False))
    kept = others if what == "pairs" else others[:1]
    more = [replace(row, **{named: f"{getattr(row, named)} {i}"}) for i in range(most) for row in kept]
    homes = own if what == "pairs" else []

    def drawn_of(shown: list[Any]) -> Picture:
        return draw_pictures(charts(replace(found, **{key: tuple(shown)}), Around({})))[picture]

    assert "The first" not in drawn_of(homes + more).caption
    drawn = drawn_of(rows + more)
    assert re.search(rf" The first {most} of \d+ {what} are drawn\.$", drawn.caption)
    for svg in (drawn.wide, drawn.narrow, drawn.standalone):
        assert f"The first {most} of" in svg
