"""The report on leakage as an outline, a page and Markdown; and of a damaged document."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from goldassay.questions.report_frame import compose_report
from goldassay.report.cells import rows_of
from goldassay.report.charts import draw_pictures
from tests.questions.leakage.example import HOSTILE, example_leakage_report


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return example_leakage_report().to_dict()


def test_sections_and_tables(document: dict[str, Any]) -> None:
    sections = {section.key: section for section in compose_report(document).sections}
    assert list(sections) == ["leakage", "clusters", "inputs"]
    captions = [table.caption for section in sections.values() for table in section.tables]
    for words in ("What each part", "How many bits", "Does a model of a part", "same words", "several splits", "PECO",
                  "every divergence", "other numbers of clusters"):  # fmt: skip
        assert any(words in caption for caption in captions), words
    for section in sections.values():
        for each in section.tables:
            assert {len(row) for row in rows_of(each)} == {len(each.columns)}, each.caption


def test_further_splits_are_of_what_the_first_was_of_or_said_to_be_of_probes(document: dict[str, Any]) -> None:
    captions = {}
    for source in ("probes", "training"):
        of_source = {**document, "leakage": {**document["leakage"], "source": source}}
        tables = [table.caption for section in compose_report(of_source).sections for table in section.tables]
        (captions[source],) = [caption for caption in tables if "luck of splitting" in caption]
    assert captions["probes"].startswith("Other splits")
    assert captions["training"].startswith("Quick probes on several splits")


def test_cards_have_all_that_is_known(document: dict[str, Any]) -> None:
    card = next(section for section in compose_report(document).sections if section.key == "clusters").cards[0]
    names = [name for name, _ in card.facts]
    for words in ("divergence", "easy by its patterns", "mean confidence", "paired model right",
                  "share of the score's variance over seeds"):  # fmt: skip
        assert words in names
    assert sum(bar.share for bar in card.bars) == pytest.approx(1)
    assert card.words
    assert card.examples


def test_a_share_of_variance_below_0_is_explained(document: dict[str, Any]) -> None:
    said = {}
    for share in (0.25, -0.032):
        changed = copy.deepcopy(document)
        changed["leakage"]["clusters"][0]["variance_share"] = share
        card = next(section for section in compose_report(changed).sections if section.key == "clusters").cards[0]
        said[share] = dict(card.facts)["share of the score's variance over seeds"]
    assert said[0.25].replace("\u00a0", " ") == "25.0 %"
    assert said[-0.032].replace("\u00a0", " ") == "−3.2 %, moving against it"
    assert "below 0 where models" in compose_report(document).to_html()


def test_how_many_clusters_are_biased_and_how_many_examples_are_in_them(document: dict[str, Any]) -> None:
    section = next(section for section in compose_report(document).sections if section.key == "clusters")
    table = next(each for each in section.tables if "PECO" in each.caption)
    at = [column.title for column in table.columns].index("biased clusters")
    cell = rows_of(table)[0][at]
    assert cell.aside.endswith("% of examples")


@pytest.mark.parametrize(("n_constant", "said"), [(0, ""), (1, "of which 1 names one label only"), (2, "")])
def test_runs_that_decided_nothing_are_counted(document: dict[str, Any], n_constant: int, said: str) -> None:
    changed = copy.deepcopy(document)
    changed["leakage"]["conditions"][0]["n_constant"] = n_constant
    tables = next(section for section in compose_report(changed).sections if section.key == "leakage").tables
    table = next(each for each in tables if each.name == "conditions")
    assert rows_of(table)[0][1].aside == said


def test_texts_stay_texts(document: dict[str, Any]) -> None:
    page = compose_report(document).to_html()
    assert HOSTILE not in page
    assert "contradiction &amp; &lt;b&gt;" in page
    assert "\\u003cscript\\u003e" in page
    assert HOSTILE not in compose_report(document).to_markdown()
    assert HOSTILE not in "".join(
        picture.standalone for picture in draw_pictures(compose_report(document).charts).values()
    )


def test_the_summary_says_what_was_found(document: dict[str, Any]) -> None:
    summary = compose_report(document).summary()
    assert "that sees only the hypothesis is right in" in summary
    # The evidence says how many are right, and the sentences do not say it again.
    assert "The hypothesis alone gives" in summary
    assert "From the hypothesis alone" not in summary
    assert len(summary.splitlines()) <= 15


@pytest.mark.parametrize("name", ["x", "labels", "clusters", "outlines", "divergences", "texts"])
@pytest.mark.parametrize("value", [None, "no base64!", "QUJD", [], 7])
def test_a_damaged_map_is_left_out_or_borne(document: dict[str, Any], name: str, value: Any) -> None:
    damaged = copy.deepcopy(document)
    damaged["leakage"]["map"][name] = value
    compose_report(damaged).to_html()


def test_the_same_document_gives_the_same_page(document: dict[str, Any]) -> None:
    assert compose_report(json.loads(json.dumps(document))).to_html() == compose_report(document).to_html()


def test_what_goes_into_papers(document: dict[str, Any]) -> None:
    from goldassay.report.paper import paper_files

    report = compose_report(document)
    files = paper_files(report.paper_charts, "svg", report.paper_tables)
    assert any("sentence-map-hypothesis" in name for name in files)
    assert b"\\toprule" in files["paper/conditions.tex"]
    assert paper_files(report.paper_charts, "svg", report.paper_tables) == files


def test_rows_to_rewrite_have_a_section_and_no_verdict() -> None:
    falls = [
        {"rows": kind, "share": 0.1, "n_dropped": 9, "n_left": 81, "majority": 0.4, "improvement": 0.1 * at,
         "improvement_low": 0.05 * at, "improvement_high": 0.2 * at}
        for at, kind in enumerate(("suggested", "random"))
    ]  # fmt: skip
    suggestion = {
        "condition": "hypothesis_only", "n_rows": 90, "n_seeds": 2, "falls": falls,
        "before": {"majority": 0.4, "improvement": 0.3, "improvement_low": 0.2, "improvement_high": 0.4},
        "rows": [{"rank": 1, "hypothesis": HOSTILE, "label": "x", "bits": 1.5, "patterns": "a | b", "example_id": "7"}],
        "labels": [{"label": "x", "share": 0.4, "share_of_first": 0.9}],
    }  # fmt: skip
    document = {"questions": ["leakage"], "leakage": {"sentences": ["Said."], "suggestion": suggestion}}
    assert [section.key for section in compose_report(document).sections] == ["suggestion", "inputs"]
    page = compose_report(document).to_html()
    assert "Rows to rewrite first" in page
    assert 'class="card ' not in page
    assert HOSTILE not in page
    assert "leakage_falls" in draw_pictures(compose_report(document).charts)
