"""A study's page and Markdown, from a made-up document."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest

from goldassay.lab.papers.page import charts, render_markdown, render_page, render_summary
from goldassay.lab.papers.recipe import Comparison, Conclusion, SetUsed, Shown, Study
from goldassay.report.charts import draw_pictures

EVIL = "<script>alert(1)</script>"


def cell(model: str, dataset: str, ours: float | None, printed: float | None, **more: Any) -> dict[str, Any]:
    empty = {"low": None, "high": None, "sd": None, "printed_sd": None, "n_runs": 3, "doubted": False}
    return {"model": model, "dataset": dataset, "ours": ours, "printed": printed, **empty, **more}


@pytest.fixture
def document() -> dict[str, Any]:
    return {
        "title": "A study",
        "paper": "Somebody 2020",
        "scale": "desk",
        "scale_note": "Smaller than printed.",
        "goldassay_version": "1",
        "notes": [f"A note {EVIL}"],
        "absent": {"HANS": "needs hans.txt, from its authors"},
        "n_trainings": 1,
        "inputs": [{"name": EVIL, "n_examples": 10, "files": ["a.tsv"], "sha256": ["0" * 64]}],
        "conclusions": [
            {"name": "Large", "statement": "It is large.", "place": "Table 1", "standing": "held",
             "evidence": "It was.", "value": 0.1, "low": 0.05, "high": 0.15, "unit": "points"},
            {"name": "Small", "statement": "It is small.", "place": "Table 2", "standing": "not measured",
             "evidence": "No runs.", "value": None, "low": None, "high": None, "unit": "points"},
        ],
        "comparisons": [
            {"name": "t1", "title": "Table 1", "rows": ["model"], "columns": ["dataset"], "digits": 1, "note": "so",
             "drawn": "printed",
             "cells": [
                 cell("a", "x", 61.04, 62.31, sd=1.5), cell("a", "y", 50.0, 40.0, doubted=True),
                 cell(EVIL, "x", None, 30.0), cell(EVIL, "y", 20.0, None),
                 cell("c", "x", 10.0, 12.0, low=8.0, high=13.0), cell("c", "y", 11.0, 12.0),
             ]},
        ],
        "shown": [{"title": "Figure 1", "report": "gone", "figure": "no_such"}],
    }  # fmt: skip


def study_of(document: dict[str, Any]) -> Study:
    """A document that was written by hand, typed."""
    whole = {"study": "made", "not_run": (), "models": (), "networks": (), "notes": (), "absent": {}, "inputs": [],
             "unprinted": (), "comparisons": [], "shown": [], "scale_note": "", "n_trainings": 0,
             "made_up": False}  # fmt: skip
    own = whole | {key: value for key, value in document.items() if key != "goldassay_version"}
    comparisons = [
        {**each, "rows": tuple(each["rows"]), "columns": tuple(each["columns"]),
         "cells": pl.DataFrame(each["cells"], infer_schema_length=None)}
        for each in own["comparisons"]
    ]  # fmt: skip
    typed = {
        "conclusions": tuple(Conclusion(**each) for each in own["conclusions"]),
        "comparisons": tuple(Comparison(**each) for each in comparisons),
        "shown": tuple(Shown(**each) for each in own["shown"]),
        "inputs": tuple(SetUsed(**each) for each in own["inputs"]),
        "notes": tuple(own["notes"]),
    }
    return Study(**{**own, **typed})


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag

    def handle_data(self, data: str) -> None:
        (self.scripts if self._inside == "script" else self.text).append(data)


def test_the_page_shows_both_sides_and_runs_no_text(document: dict[str, Any]):
    page = Tags()
    page.feed(render_page(study_of(document), document, charts(study_of(document), {}), (), ("t1",)))
    shown = " ".join(" ".join(page.text).split())
    for part in (
        "61.0 ± 1.5",
        "62.3",
        "10.0 [8.0, 13.0]",
        "held",
        "not measured",
        "HANS: needs hans.txt, from its authors.",
        EVIL,
    ):
        assert part in shown, part
    assert "40.0\N{NO-BREAK SPACE}‡" in " ".join(page.text)
    assert not any("alert(1)" in script for script in page.scripts)


def test_evidence_is_told_once_and_notes_stand_with_their_tables(document: dict[str, Any]):
    page = render_page(study_of(document), document, charts(study_of(document), {}), (), ("t1",))
    assert page.count("It was.") == 1
    assert page.index("<h3>Table 1</h3>") < page.index("<bdi>So</bdi>") < page.index("61.0 ± 1.5")
    text = render_markdown(study_of(document))
    assert text.count("It was.") == 1
    assert "**Table 1**\n\nSo\n\n| model |" in text


def test_cells_with_both_figures_are_drawn(document: dict[str, Any]):
    pictures = draw_pictures(charts(study_of(document), {}))
    assert list(pictures) == ["printed_t1"]
    marks = pictures["printed_t1"].wide.count("<title>")
    both = [c for c in document["comparisons"][0]["cells"] if None not in (c["ours"], c["printed"])]
    assert marks == len(both) == 4


def test_too_few_cells_are_no_picture(document: dict[str, Any]):
    document["comparisons"][0]["cells"] = document["comparisons"][0]["cells"][:2]
    assert draw_pictures(charts(study_of(document), {})) == {}


def test_a_ratio_without_an_interval_is_drawn_without(document: dict[str, Any]):
    ratios = {("a", "b"): (2.5, 2.0, 3.0), ("b", "a"): (5.5, None, None)}
    cells = [cell(*pair, ours, None, low=low, high=high) for pair, (ours, low, high) in ratios.items()]
    document["comparisons"] = [{**document["comparisons"][0], "drawn": "matrix", "digits": 2, "cells": cells}]
    drawn = draw_pictures(charts(study_of(document), {}))["matrix_t1"].wide
    assert "<title>a, b: 2.50 [2.00, 3.00]</title>" in drawn
    assert "<title>b, a: 5.50</title>" in drawn


def test_markdown_and_summary_say_the_same(document: dict[str, Any]):
    text = render_markdown(study_of(document))
    assert "| Large |" in text
    assert "<script>" not in text
    assert text.count("## Conclusions") == 1
    lines = render_summary(study_of(document)).splitlines()
    assert lines[0] == "A study, desk"
    assert lines[1].split() == ["held", "Large:", "10.0", "points", "[5.0,", "15.0].", "It", "was."]
    assert lines[2].split() == ["not", "measured", "Small:", "No", "runs."]
    assert "not run without HANS: needs hans.txt" in lines[-1]


@pytest.mark.parametrize("made_up", [False, True])
def test_made_up_data_are_named_before_anything_that_is_concluded(document: dict[str, Any], made_up: bool):
    """On the page, in Markdown and in the terminal alike."""
    study = study_of({**document, "made_up": made_up})
    page = Tags()
    page.feed(render_page(study, document, {}, (), ()))
    shown = " ".join(page.text), render_markdown(study), render_summary(study)
    for text, concluded in zip(shown, ("It is large", "| Large |", "Large: 10.0 points"), strict=True):
        assert concluded in text
        assert ("Made-up data: " in text.partition(concluded)[0]) is made_up


def test_markdown_tells_ours_from_what_is_printed(document: dict[str, Any]):
    text = render_markdown(study_of(document))
    assert "; in parentheses beside it what is printed." in text
    (ours_and_printed,) = [line for line in text.splitlines() if line.startswith("| a |")]
    assert ours_and_printed == "| a | 61.0 ± 1.5 (62.3) | 50.0 (40.0 ‡) |"
    # The row of which one cell is printed alone, and the other ours alone.
    (apart,) = [line for line in text.splitlines() if "alert" in line and "30.0" in line]
    assert apart.endswith("| (30.0) | 20.0 |")
