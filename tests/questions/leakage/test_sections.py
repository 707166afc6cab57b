"""The report on leakage as an outline, a page and Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.core.figures import figures_of
from goldassay.questions.leakage.result import SuggestedRewrites, SuggestedRows
from goldassay.report.charts import draw_pictures
from goldassay.report.content import rows_of
from tests.questions.leakage.example import HOSTILE, example_leakage_report, example_result
from tests.typed import compose, filled

if TYPE_CHECKING:
    from goldassay.core.sections import Section
    from goldassay.report.report import Report


@pytest.fixture(scope="module")
def report() -> Report:
    return example_leakage_report()


def changed(**fields: Any) -> Report:
    """The report with other fields of its result."""
    return compose({**example_leakage_report().to_dict(), "leakage": replace(example_result(), **fields)})


def section_of(report: Report, key: str) -> Section:
    return next(section for section in report.sections if section.key == key)


def test_sections_and_tables(report: Report) -> None:
    sections = {section.key: section for section in report.sections}
    assert list(sections) == ["leakage", "clusters", "inputs"]
    captions = [table.caption for section in sections.values() for table in section.tables]
    for words in ("What each part", "How many bits", "Does a model of a part", "same words", "several splits", "PECO",
                  "every divergence", "other numbers of clusters"):  # fmt: skip
        assert any(words in caption for caption in captions), words
    for section in sections.values():
        for each in section.tables:
            assert {len(row) for row in rows_of(each)} == {len(each.columns)}, each.caption


def test_further_splits_are_of_what_the_first_was_of_or_said_to_be_of_probes() -> None:
    captions = {}
    for source in ("probes", "training"):
        tables = [table.caption for section in changed(source=source).sections for table in section.tables]
        (captions[source],) = [caption for caption in tables if "luck of splitting" in caption]
    assert captions["probes"].startswith("Other splits")
    assert captions["training"].startswith("Quick probes on several splits")


def test_cards_have_all_that_is_known(report: Report) -> None:
    card = section_of(report, "clusters").cards[0]
    names = [name for name, _ in card.facts]
    for words in ("divergence", "easy by its patterns", "mean confidence", "paired model right",
                  "share of the score's variance over seeds"):  # fmt: skip
        assert words in names
    assert sum(bar.share for bar in card.bars) == pytest.approx(1)
    assert card.words
    assert card.examples


def test_a_share_of_variance_below_0_is_explained(report: Report) -> None:
    said = {}
    for share in (0.25, -0.032):
        first = replace(example_result().clusters[0], variance_share=share)
        card = section_of(changed(clusters=(first,)), "clusters").cards[0]
        said[share] = dict(card.facts)["share of the score's variance over seeds"]
    assert said[0.25].replace("\u00a0", " ") == "25.0 %"
    assert said[-0.032].replace("\u00a0", " ") == "−3.2 %, moving against it"
    assert "below 0 where models" in report.to_html()


def test_how_many_clusters_are_biased_and_how_many_examples_are_in_them(report: Report) -> None:
    table = next(each for each in section_of(report, "clusters").tables if "PECO" in each.caption)
    at = [column.title for column in table.columns].index("biased clusters")
    cell = rows_of(table)[0][at]
    assert cell.aside.endswith("% of examples")


@pytest.mark.parametrize(("n_constant", "said"), [(0, ""), (1, "of which 1 names one label only"), (2, "")])
def test_runs_that_decided_nothing_are_counted(n_constant: int, said: str) -> None:
    first, *others = example_result().conditions
    report = changed(conditions=(replace(first, n_constant=n_constant), *others))
    table = next(each for each in section_of(report, "leakage").tables if each.name == "conditions")
    assert rows_of(table)[0][1].aside == said


def test_texts_stay_texts(report: Report) -> None:
    page = report.to_html()
    assert HOSTILE not in page
    assert "contradiction &amp; &lt;b&gt;" in page
    assert "\\u003cscript\\u003e" in page
    assert HOSTILE not in report.to_markdown()
    assert HOSTILE not in "".join(picture.standalone for picture in draw_pictures(report.charts).values())


def test_the_summary_says_what_was_found(report: Report) -> None:
    summary = report.summary()
    # The headline says how many are right, and the sentences do not say it again.
    assert "The hypothesis alone gives" in summary
    assert "From the hypothesis alone" not in summary
    assert len(summary.splitlines()) <= 15


def test_the_same_result_gives_the_same_page() -> None:
    assert changed().to_html() == changed().to_html()


def test_what_a_part_gives_names_the_reader() -> None:
    for source, reader in (("probes", "the quick probe"), ("runs", example_result().model)):
        sentences = section_of(changed(source=source), "leakage").sentences
        (judged,) = [each for each in sentences if "alone (" in each]
        assert f"alone ({reader}) reads " in judged
        others = [each for each in sentences if each.startswith("From the ") and "alone" in each]
        assert others
        assert all(f"alone {reader} gets " in each for each in others)


def test_what_goes_into_papers(report: Report) -> None:
    from goldassay.report.paper import paper_files

    files = paper_files(report.paper_charts, "svg", report.paper_tables)
    assert any("sentence-map-hypothesis" in name for name in files)
    assert b"\\toprule" in files["paper/conditions.tex"]
    assert paper_files(report.paper_charts, "svg", report.paper_tables) == files


def test_rows_to_rewrite_have_a_section_and_no_verdict() -> None:
    after_dropping = [
        {"rows": kind, "share": 0.1, "n_dropped": 9, "n_left": 81, "majority": 0.4, "improvement": 0.1 * at,
         "improvement_low": 0.05 * at, "improvement_high": 0.2 * at}
        for at, kind in enumerate(("suggested", "random"))
    ]  # fmt: skip
    row = {
        "rank": 1, "texts": {"hypothesis": HOSTILE}, "label": "x", "bits": 1.5, "patterns": "a | b", "example_id": "7",
    }  # fmt: skip
    suggestion = {
        "condition": "hypothesis_only", "n_rows": 90, "n_seeds": 2, "after_dropping": after_dropping,
        "before": {"majority": 0.4, "improvement": 0.3, "improvement_low": 0.2, "improvement_high": 0.4},
        "rows": [row],
        "labels": [{"label": "x", "share": 0.4, "share_of_first": 0.9}],
    }  # fmt: skip
    result = SuggestedRewrites(filled(SuggestedRows, suggestion))
    report = compose({"questions": ["leakage"], "leakage": result})
    assert [section.key for section in report.sections] == ["suggestion", "inputs"]
    page = report.to_html()
    assert "Rows to rewrite first" in page
    assert 'class="card ' not in page
    assert HOSTILE not in page
    assert "leakage_falls" in draw_pictures(report.charts)
    (figure,) = figures_of(result)
    assert (figure.id, figure.value, figure.n) == ("leakage.improvement_all_rows", 0.3, 90)


def test_bits_that_round_to_nothing_are_not_said() -> None:
    """The sentence on a part holds its share of the label's bits, unless two decimals show none of it."""
    few = tuple(replace(each, information=0.004) for each in example_result().information)
    for information, shown in ((example_result().information, True), (few, False)):
        (said,) = (
            each
            for each in section_of(changed(information=information), "leakage").sentences
            if each.startswith("A model of the hypothesis alone (net)")
        )
        assert said.endswith("0.70 of the label's 1.58 bits.") == shown
        assert ("bits" in said) == shown
