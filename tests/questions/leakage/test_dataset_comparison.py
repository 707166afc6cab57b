"""Datasets side by side, against the documents they come from."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy import stats

from goldassay.questions.charts import charts_of, paper_charts_of
from goldassay.questions.leakage.dataset_comparison import compare_datasets, correlations, rows_of
from goldassay.questions.report_frame import compose_report
from goldassay.report.charts import draw_pictures
from goldassay.report.paper.drawing import draw_figures
from goldassay.stats.intervals import correlation_interval
from tests.questions.leakage.example import example_leakage_report


def test_rows_hold_what_each_report_says() -> None:
    document = example_leakage_report().to_dict()
    premise, hypothesis = rows_of("toy", document)
    assert (premise["part"], hypothesis["part"]) == ("premise", "hypothesis")
    found = document["leakage"]
    own = {row["condition"]: row for row in found["conditions"]}
    assert hypothesis["accuracy"] == own["hypothesis_only"]["accuracy"]
    assert hypothesis["paired"] == own["paired"]["accuracy"]
    assert hypothesis["peco"] == next(row["score"] for row in found["peco"] if row["role"] == "hypothesis")
    assert hypothesis["relevance"] == found["relevance"][0]["agreement_recommended"]
    assert premise["relevance"] is None


def test_correlations_are_pearsons() -> None:
    rng = np.random.default_rng(0)
    names = ("paired", "accuracy", "agreement", "recovered", "relevance", "peco", "improvement")
    rows = [{**dict(zip(names, rng.random(7), strict=True)), "family": f"f{at // 2}"} for at in range(8)]
    rows[0]["relevance"] = None
    for found in correlations(rows):
        kept = [row for row in rows if row[found["x"]] is not None]
        expected = stats.pearsonr([row[found["x"]] for row in kept], [row[found["y"]] for row in kept])
        assert found["r"] == pytest.approx(expected.statistic)
        assert (found["n"], found["n_families"]) == (len(kept), 4)
        bounds = correlation_interval(
            [row[found["x"]] for row in kept], [row[found["y"]] for row in kept], clusters=[r["family"] for r in kept]
        )[1:]
        assert (found["low"], found["high"]) == pytest.approx(bounds)
    assert correlations(rows[:2]) == []


def test_sets_of_one_training_file_are_one_family() -> None:
    document = example_leakage_report().to_dict()
    of_file = [{**document, "inputs": [{"role": "train", "sha256": [digest * 32]}]} for digest in ("ab", "cd", "ab")]
    families = [{row["family"] for row in rows_of(f"set {at}", each)} for at, each in enumerate(of_file)]
    assert families[0] == families[2] != families[1]
    assert {row["family"] for row in rows_of("alone", {**document, "inputs": []})} == {"alone"}


def test_the_page_ranks_datasets() -> None:
    reports = {}
    for at, name in enumerate(("low", "middle", "high")):
        document = copy.deepcopy(example_leakage_report().to_dict())
        document["inputs"] = []
        document["settings"] = {"seed": 0}
        for row in document["leakage"]["conditions"]:
            row["improvement"] *= (at + 1) / 3
            row["accuracy"] *= 1 - 0.1 * at
        reports[name] = compose_report(document)
    report = compare_datasets(reports)
    assert "Most is given away by the hypothesis of high" in report.summary()
    assert report.tables["datasets"].height == 6
    page = report.to_html()
    assert "Datasets side by side" in page
    assert "leakage_datasets" in page
    assert "leakage-datasets" in [table.name for table in report.paper_tables]
    assert "paired-accuracy" in "".join(draw_figures(report.paper_charts, "svg"))


@pytest.mark.slow
def test_every_pair_that_is_correlated_is_drawn_for_a_paper_and_for_the_page() -> None:
    rng = np.random.default_rng(0)
    names = ("paired", "accuracy", "agreement", "recovered", "relevance", "peco", "improvement")
    rows = [
        {
            **dict(zip(names, rng.random(7), strict=True)),
            "family": f"f{at}",
            "dataset": f"set $_{at} & co",
            "part": part,
        }
        for at in range(6)
        for part in ("premise", "hypothesis")
    ]
    for row in rows[:3]:
        row["relevance"] = None
    document = {"leakage": {"datasets": rows, "correlations": correlations(rows)}}
    drawn = draw_figures(paper_charts_of(document), "svg")
    assert list(drawn) == [
        "datasets-paired-accuracy", "datasets-agreement-recovered", "datasets-relevance-accuracy",
        "datasets-peco-recovered", "datasets-peco-improvement",
    ]  # fmt: skip
    assert draw_figures(paper_charts_of(document), "svg") == drawn
    root = ET.fromstring(draw_pictures(charts_of(document))["leakage_datasets"].standalone)
    titles = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}title")]
    # A mark a row that has both measures.
    assert len(titles) == 4 * 12 + 9
    for found in document["leakage"]["correlations"]:
        assert f"r = {found['r']:.2f} [{found['low']:.2f}".replace("-", "−") in "".join(root.itertext())


def test_without_enough_datasets_nothing_is_drawn() -> None:
    assert draw_figures(paper_charts_of({"leakage": {"datasets": [], "correlations": []}}), "svg") == {}
