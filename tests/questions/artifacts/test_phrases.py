"""Fragments of one phrase are one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.inputs import Bounds, mine_dataset
from goldassay.questions.artifacts.question import report_of_mining
from goldassay.questions.artifacts.search import try_patterns
from goldassay.questions.evidence import Evidence

if TYPE_CHECKING:
    from goldassay.report.report import Report


@pytest.fixture(scope="module")
def report() -> Report:
    """Half of the entailed claims hold a phrase; `alas` is a word of its own that half of the contradictions have."""
    rows = []
    for i in range(300):
        label = ("entailment", "neutral", "contradiction")[i % 3]
        # Claims of other words each: those of a template are near copies, which count as one.
        claim = " ".join(f"c{(i * (place + 3) + place * place * 13) % 211}" for place in range(8))
        if label == "entailment" and i % 2:
            claim = f"to put it plainly , {claim}"
        if label == "contradiction" and i % 2:
            claim = f"{claim} , alas"
        rows.append({"premise": f"p {i}", "hypothesis": claim, "label": label})
    train = Dataset.from_frame(rows, name="train")
    mined = mine_dataset(train, Bounds(min_count=5, max_tokens=3, max_gap=1))
    evidence = Evidence(train, settings=Settings(), steps=Steps(), same_texts=False)
    search = try_patterns(mined, train, None, Settings().artifacts, 0)
    return report_of_mining(evidence, evidence.measured([search.described]))


def test_a_phrase_is_one_row_with_its_fragments_inside(report: Report) -> None:
    rows = report.document["artifacts"]["strongest"]["entailment"]
    supports = [row["support"] for row in rows]
    assert supports.count(50) == 1
    (phrase,) = [row for row in rows if row["support"] == 50]
    assert len(phrase["pattern"].replace(" #", "").split()) == 3
    assert set(phrase["pattern"].split()) <= {"to", "put", "it", "plainly", ",", "#"}
    fragments = [each["pattern"] for each in phrase["variants"]]
    assert phrase["pattern"] not in fragments
    assert len(set(fragments)) == len(fragments) == min(8, phrase["n_folded"])
    assert all(each["support"] == 50 for each in phrase["variants"])
    marked = ["".join(each["text"][a:b] for a, b in each["marks"]) for each in phrase["examples"]]
    assert set(marked) == {phrase["pattern"].replace("#", "").replace(" ", "")}


def test_a_word_of_its_own_stays_what_it_is(report: Report) -> None:
    (first, *_) = report.document["artifacts"]["strongest"]["contradiction"]
    assert first["support"] == 50
    assert "alas" in first["pattern"] or "," in first["pattern"]


def test_the_page_folds_the_fragments_under_the_phrase(report: Report) -> None:
    (section,) = [each for each in report.sections if each.key == "artifacts"]
    (table,) = [part.table for part in section.parts if part.table and part.table.name == "strongest"]
    row = next(row for row in table.rows if row["support"] == 50 and row["label"] == "entailment")
    assert row["variants"]
