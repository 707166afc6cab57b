"""Figures found in a document by their place."""

from __future__ import annotations

import math

from goldassay.places import Place, figures_at, why_lacking

DOCUMENT = {
    "leakage": {
        "conditions": [
            {"condition": "paired", "improvement": 0.4, "improvement_low": 0.3, "improvement_high": 0.5},
            {"condition": "premise_only", "improvement": None, "reason": "no run"},
            {"condition": "hypothesis_only", "improvement": 0.1},
            "no object",
            {"condition": "text_only"},
        ]
    },
    "artifacts": {"giveaway": {"value": 0.2, "low": 0.1, "high": 0.3}, "coverage_of": "test", "applies": True},
    "instability": {"source": "probe", "note": "No runs. A probe stood in.", "results": [{"n_runs": 5}]},
    "shift": {"reason": "One dataset."},
    "facts": {"applies": False, "n_test": 3},
}


def test_rows_and_objects() -> None:
    rows = figures_at(DOCUMENT, Place("leakage.conditions[]", "improvement", ("condition",), {"condition": "*_only"}))
    assert [figure.of for figure in rows] == [("premise_only",), ("hypothesis_only",)]
    assert not rows[0].is_defined
    assert rows[0].reason == "no run"
    assert rows[1].value == 0.1
    assert math.isnan(rows[1].low)
    (gain,) = figures_at(DOCUMENT, Place("artifacts.giveaway", "value"))
    assert (gain.value, gain.low, gain.high) == (0.2, 0.1, 0.3)


def test_what_is_not_there_has_no_figures() -> None:
    for at in ("nothing", "artifacts.nothing[]", "artifacts.giveaway[]", "leakage.conditions", "facts"):
        assert figures_at(DOCUMENT, Place(at, "n_test")) == ()


def test_sources_and_reasons() -> None:
    probed = Place("instability.results[]", "n_runs", source=("instability.source", ("runs",)))
    assert figures_at(DOCUMENT, probed) == ()
    assert why_lacking(DOCUMENT, probed) == "No runs"
    assert why_lacking(DOCUMENT, Place("shift.detection[]", "auroc")) == "One dataset"
    assert why_lacking({}, probed) == ""
    either = Place("artifacts.giveaway", "value", source=("artifacts.coverage_of", ("test", "")))
    assert len(figures_at(DOCUMENT, either)) == 1
    assert figures_at({"artifacts": {"giveaway": {"value": 1.0}}}, either)[0].value == 1.0
    other = Place("artifacts.giveaway", "value", source=("artifacts.coverage_of", ("train",)))
    assert figures_at(DOCUMENT, other) == ()


def test_what_does_not_count_is_passed_over_and_said() -> None:
    parts = Place("leakage.conditions[]", "improvement", ("condition",), but=("condition", "paired"))
    assert [figure.of for figure in figures_at(DOCUMENT, parts)] == [("premise_only",), ("hypothesis_only",)]
    assert why_lacking(DOCUMENT, parts) == ""
    # A dotted key is one of the document.
    tested = Place("leakage.conditions[]", "improvement", but=("artifacts.coverage_of", "test"))
    assert figures_at(DOCUMENT, tested) == ()
    assert why_lacking(DOCUMENT, tested) == "what it has is of test, which does not count"


def test_bounds_of_other_names() -> None:
    (gain,) = figures_at(DOCUMENT, Place("artifacts.giveaway", "value", ends=("high", "value")))
    assert (gain.low, gain.high) == (0.3, 0.2)
