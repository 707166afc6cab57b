"""An audit says each figure once: the evidence of a verdict, and with the picture only what it does not say."""

from __future__ import annotations

import re

import pytest

import goldassay
from goldassay.core.settings import parse_settings
from goldassay.report.html import arranged
from goldassay.runs.specimen import write_specimen

# Ends of an interval, as sentences give them.
_ENDS = re.compile(r"[+−]?[\d.]+ to [+−]?[\d.]+|\[[^\]]*\]")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> goldassay.Report:
    place = tmp_path_factory.mktemp("specimen")
    write_specimen(place, size=2000, seed=0, test_size=500)
    return goldassay.audit(
        place / "train.jsonl",
        place / "test.jsonl",
        runs=place / "runs",
        elsewhere={"far": place / "elsewhere.jsonl"},
        settings=parse_settings({"leakage": {"seeds": 2}}),
    )


@pytest.mark.parametrize("question", ["leakage", "instability", "shift"])
def test_what_the_evidence_says_is_not_said_again(report: goldassay.Report, question: str) -> None:
    section = next(each for each in report.sections if each.key == question)
    said = arranged(section, report.cards, ()).findings
    ends = set(_ENDS.findall(report.verdicts[question]["evidence"]))
    assert said
    assert ends
    assert not ends & {found for text in said for found in _ENDS.findall(text)}


def test_the_cards_say_what_their_intervals_are(report: goldassay.Report) -> None:
    said = report.intervals
    assert said == "In brackets: 95 % intervals."
    for shown in (report.to_html(), report.to_markdown(), report._repr_html_()):
        assert shown.count(said) == 1
