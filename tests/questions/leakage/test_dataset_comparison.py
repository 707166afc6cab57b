"""Datasets side by side, against the documents they come from."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from goldassay.questions.leakage.datasets import compare_datasets, correlations, parts_of
from goldassay.questions.leakage.result import ComparedDatasets, DatasetPart
from goldassay.report.charts import draw_pictures
from goldassay.report.paper.drawing import draw_figures
from goldassay.stats.intervals import correlation_interval
from tests.questions.leakage.example import example_leakage_report, example_result
from tests.typed import compose, filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.report.report import Report


def test_parts_hold_what_each_report_says() -> None:
    premise, hypothesis = parts_of("toy", example_leakage_report())
    assert (premise.part, hypothesis.part) == ("premise", "hypothesis")
    found = example_result()
    own = {row.condition: row for row in found.conditions}
    assert hypothesis.accuracy == own["hypothesis_only"].accuracy
    assert hypothesis.paired == own["paired"].accuracy
    assert hypothesis.peco == next(row.score for row in found.peco if row.role == "hypothesis")
    assert hypothesis.relevance == found.relevance[0].agreement_recommended
    assert premise.relevance is None


def made_parts(n: int, **more: Callable[[int], str]) -> list[DatasetPart]:
    rng = np.random.default_rng(0)
    names = ("paired", "accuracy", "agreement", "recovered", "relevance", "peco", "improvement")
    rows = [dict(zip(names, rng.random(7).tolist(), strict=True)) for _ in range(n)]
    return [filled(DatasetPart, {**row, **{name: of(at) for name, of in more.items()}}) for at, row in enumerate(rows)]


def plain(parts: list[DatasetPart]) -> list[dict[str, Any]]:
    return [part.to_dict() for part in parts]


def test_correlations_are_pearsons() -> None:
    parts = made_parts(8, family=lambda at: f"f{at // 2}")
    parts[0] = replace(parts[0], relevance=None)
    for found in correlations(plain(parts)):
        kept = [part for part in parts if part.measured(found.x) is not None]
        pairs = [[part.measured(name) for part in kept] for name in (found.x, found.y)]
        assert found.r == pytest.approx(stats.pearsonr(*pairs).statistic)
        assert (found.n, found.n_families) == (len(kept), 4)
        bounds = correlation_interval(*pairs, clusters=[part.family for part in kept])[1:]
        assert (found.low, found.high) == pytest.approx(bounds)
    assert correlations(plain(parts[:2])) == ()


def report_with(inputs: list[dict[str, Any]], **changes: Any) -> Report:
    """The report of the example with other inputs, and with changes of each condition."""
    report, found = example_leakage_report(), example_result()
    document = {**report.to_dict(), "inputs": inputs, "settings": {"seed": 0}}
    conditions = tuple(
        replace(row, **{name: change(getattr(row, name)) for name, change in changes.items()})
        for row in found.conditions
    )
    return compose({**document, "leakage": replace(found, conditions=conditions)})


def test_sets_of_one_training_file_are_one_family() -> None:
    reports = [report_with([{"role": "train", "sha256": [digest * 32]}]) for digest in ("ab", "cd", "ab")]
    families = [{part.family for part in parts_of(f"set {at}", each)} for at, each in enumerate(reports)]
    assert families[0] == families[2] != families[1]
    assert {part.family for part in parts_of("alone", report_with([]))} == {"alone"}


def test_the_page_ranks_datasets() -> None:
    reports = {
        name: report_with(
            [],
            improvement=lambda value, at=at: value * (at + 1) / 3,
            accuracy=lambda value, at=at: value * (1 - 0.1 * at),
        )
        for at, name in enumerate(("low", "middle", "high"))
    }
    report = compare_datasets(reports)
    assert "Most is given away by the hypothesis of high" in report.summary()
    assert report.tables["datasets"].height == 6
    page = report.to_html()
    assert "Datasets side by side" in page
    assert "leakage_datasets" in page
    assert "leakage-datasets" in [table.name for table in report.paper_tables]
    # Of each of the paper's tables one, with the cells of all under the names given here.
    laid = {table.name: table.cells for table in report.printed_tables}
    alone = {table.name: table.cells for table in reports["high"].printed_tables}
    assert laid.keys() == alone.keys()
    single = [cell["ours"] for cell in laid["saxon2023_table3"] if cell["dataset"] == "high"]
    assert single == [cell["ours"] for cell in alone["saxon2023_table3"]] != []
    assert {cell["dataset"] for cell in laid["saxon2023_table3"]} == set(reports)
    assert "paired-accuracy" in "".join(draw_figures(report.paper_charts, "svg"))


def compared(parts: list[DatasetPart]) -> Report:
    found = filled(ComparedDatasets, {"datasets": tuple(parts), "correlations": correlations(plain(parts))})
    return compose({"questions": ["leakage"], "leakage": found})


@pytest.mark.slow
def test_every_pair_that_is_correlated_is_drawn_for_a_paper_and_for_the_page() -> None:
    parts = made_parts(
        12,
        family=lambda at: f"f{at // 2}",
        dataset=lambda at: f"set $_{at // 2} & co",
        part=lambda at: ("premise", "hypothesis")[at % 2],
    )
    parts[:3] = [replace(part, relevance=None) for part in parts[:3]]
    report = compared(parts)
    drawn = draw_figures(report.paper_charts, "svg")
    assert list(drawn) == [
        "datasets-paired-accuracy", "datasets-agreement-recovered", "datasets-relevance-accuracy",
        "datasets-peco-recovered", "datasets-peco-improvement",
    ]  # fmt: skip
    assert draw_figures(compared(parts).paper_charts, "svg") == drawn
    root = ET.fromstring(draw_pictures(report.charts)["leakage_datasets"].standalone)
    titles = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}title")]
    # A mark a row that has both measures.
    assert len(titles) == 4 * 12 + 9
    for found in correlations(plain(parts)):
        assert f"r = {found.r:.2f} [{found.low:.2f}".replace("-", "−") in "".join(root.itertext())


def test_without_enough_datasets_nothing_is_drawn() -> None:
    assert draw_figures(compared([]).paper_charts, "svg") == {}
