"""The charts of an audit: drawn in the right places, as texts and not as markup, and plain data."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import xml.etree.ElementTree as ET

import pytest

from goldassay.core.charts import Cloud
from goldassay.questions.artifacts.result import PatternsResult
from goldassay.report.charts import NARROW, WIDE, Picture, draw_chart, draw_pictures
from goldassay.report.charts.svg import code_width, text_width
from tests.gate.test_check import result
from tests.report.example import HOSTILE, LABELS, example_document
from tests.typed import compose, filled

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pictures() -> dict[str, Picture]:
    return draw_pictures(compose(example_document(400)).charts)


def titles(picture: Picture) -> list[str]:
    return [title.text or "" for title in ET.fromstring(picture.standalone).iter(f"{SVG}title")]


def test_all_are_drawn(pictures: dict[str, Picture]) -> None:
    assert len(pictures) == 11


def test_files_stand_alone(pictures: dict[str, Picture]) -> None:
    for name, picture in pictures.items():
        root = ET.fromstring(picture.standalone)
        assert "var(" not in picture.standalone, name
        assert root.find(f"{SVG}style") is not None
        addresses = set(re.findall(r"https?://[^\"]*", picture.standalone))
        assert addresses == {"http://www.w3.org/2000/svg"}
        assert root.find(f"{SVG}rect").get("fill") == "#ffffff"


def test_nothing_lies_outside(pictures: dict[str, Picture]) -> None:
    for name, picture in pictures.items():
        for source, width in ((picture.wide, WIDE), (picture.narrow, NARROW)):
            root = ET.fromstring(source)
            assert float(root.get("width")) == width
            height = float(root.get("height"))
            for element in root.iter():
                if element.tag in ("text", "rect"):
                    assert -1 <= float(element.get("x", 0)) <= width + 1, (name, element.attrib)
                    assert -1 <= float(element.get("y", 0)) <= height + 1, (name, element.attrib)


def test_hostile_texts_are_texts(pictures: dict[str, Picture]) -> None:
    for picture in pictures.values():
        assert HOSTILE not in picture.standalone + picture.wide + picture.narrow
    assert any(title.startswith(HOSTILE) for title in titles(pictures["artifacts_strongest"]))


def test_titles_carry_the_values(pictures: dict[str, Picture]) -> None:
    assert "hypothesis_only: 58.7 [57.7, 59.6] points" in titles(pictures["leakage_conditions"])
    assert f"train, {LABELS[0]}: 33.4\N{NO-BREAK SPACE}%  (6,012)" in titles(pictures["facts_labels"])
    assert any("independent: 0.102 points" in title for title in titles(pictures["instability_decomposition"]))
    assert len(titles(pictures["instability_runs"])) == 30


def test_a_cloud_is_one_path_a_label(pictures: dict[str, Picture]) -> None:
    root = ET.fromstring(pictures["artifacts_scatter"].wide)
    assert len([path for path in root.iter("path") if "cloud" in path.get("class", "")]) == 3


@pytest.mark.parametrize("width", [360, 700])
def test_names_of_marks_cover_neither_each_other_nor_marks_nor_the_threshold(width: int) -> None:
    document = example_document(900)
    found = document["artifacts"]
    strongest = {
        label: tuple(
            dataclasses.replace(row, support=int(300 * 1.3**j) + 20 * i, probability=0.72 + 0.05 * (j % 5))
            for j, row in enumerate(rows)
        )
        for i, (label, rows) in enumerate(found.strongest.items())
    }
    document["artifacts"] = dataclasses.replace(found, strongest=strongest)
    canvas = draw_chart(compose(document).charts["artifacts_scatter"], width)
    root = ET.fromstring(canvas.inline())
    texts = [text for text in root.iter("text") if "code" in text.get("class", "") or "strong" in text.get("class", "")]
    boxes = []
    for text in texts:
        x, y, content = float(text.get("x", "")), float(text.get("y", "")), text.text or ""
        at_end = text.get("text-anchor") == "end"
        long = text_width(content) if at_end else code_width(content)
        boxes.append((x - long if at_end else x, y - 11, x if at_end else x + long, y + 1))
    assert len(boxes) > 1
    marks = [path for path in root.iter("path") if "halo" in path.get("class", "")]
    for path in marks:
        found = re.match(r"M(-?[\d.]+)[ ,](-?[\d.]+)", path.get("d", ""))
        assert found
        boxes.append((float(found[1]) - 1, float(found[2]) - 1, float(found[1]) + 1, float(found[2]) + 1))
    named = len(texts)
    for i, a in enumerate(boxes[:named]):
        for b in boxes[i + 1 :]:
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def test_a_picture_of_nothing_is_not_drawn() -> None:
    document = example_document(5)
    found = document["artifacts"]
    curve = tuple(dataclasses.replace(row, coverage=0.0, precision=None) for row in found.coverage_curve)
    document["artifacts"] = dataclasses.replace(found, coverage_curve=curve)
    leakage = document["leakage"]
    full = (row if row.subset == "full" else dataclasses.replace(row, accuracy=math.nan) for row in leakage.difficulty)
    document["leakage"] = dataclasses.replace(leakage, difficulty=tuple(full))
    drawn = draw_pictures(compose(document).charts)
    assert not {"artifacts_coverage", "leakage_difficulty"} & drawn.keys()
    assert "leakage_conditions" in drawn


def test_many_labels_and_tiny_values_draw() -> None:
    document = example_document(50)
    labels = [f"label {i}" for i in range(40)]
    document["dataset"]["label_names"] = labels
    document["facts"]["label_counts"] = {"train": dict.fromkeys(labels, 1)}
    found = document["artifacts"]
    scatter = tuple(dataclasses.replace(row, label=labels[i % 40], support=18) for i, row in enumerate(found.scatter))
    document["artifacts"] = dataclasses.replace(found, scatter=scatter)
    draw_pictures(compose(document).charts)


def test_a_label_that_no_training_example_has_draws() -> None:
    document = example_document(50)
    found = document["artifacts"]
    document["artifacts"] = dataclasses.replace(found, prior={**found.prior, LABELS[1]: 0.0})
    draw_pictures(compose(document).charts)


@pytest.mark.parametrize("accuracies", [[0.5], [0.5, 0.5], [0.0, 1.0]])
def test_runs_without_spread_draw(accuracies: list[float]) -> None:
    plain = result("m", len(accuracies), 1.0, 0.0)
    row = {**plain, "accuracies": accuracies, "mean": 0.5, "total": 0.0, "independent": 0.0, "covariance": 0.0}
    assert draw_pictures(compose({"instability": {"results": [row]}}).charts).keys() == {
        "instability_runs",
        "instability_decomposition",
    }


def test_a_few_labels_are_named_and_the_others_counted() -> None:
    labels = [f"label{i}" for i in range(150)]
    point = {"pattern": "x", "support": 30, "probability": 0.95, "label": "label149"}
    document = {
        "dataset": {"label_names": labels},
        "artifacts": filled(
            PatternsResult,
            {
                "prior": dict.fromkeys(labels, 1 / 150),
                "settings": {"q": 0.01, "threshold": 0.7},
                "n_mined": 100,
                "n_significant": 1,
                "scatter": [point],
                "strongest": {"label149": [{key: point[key] for key in ("pattern", "support", "probability")}]},
            },
        ),
    }
    charts = compose(document).charts
    cloud = charts["artifacts_scatter"]
    assert isinstance(cloud, Cloud)
    assert cloud.series[0].name == "label149"
    assert cloud.points[0][2] == 0
    for width in (WIDE, NARROW):
        picture = draw_chart(cloud, width).standalone()
        assert "label149" in picture
        assert "label140" not in picture
        assert "and 138 labels more" in picture
        assert "label149" in draw_chart(charts["artifacts_strongest"], width).standalone()


def test_charts_are_plain_data() -> None:
    document = example_document(30)
    report = compose(document)
    charts = {**report.charts, **report.paper_charts}
    assert charts.keys() > {"facts_labels", "scores"}
    for name, chart in charts.items():
        assert chart.name == name
        plain = dataclasses.asdict(chart)
        assert json.loads(json.dumps(plain, allow_nan=False))["name"] == name
