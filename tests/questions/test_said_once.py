"""An audit says each figure once: the evidence of a verdict, and with the picture only what it does not say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import goldassay
from goldassay.core.settings import parse_settings
from goldassay.report.html import arranged
from goldassay.runs.specimen import write_specimen
from tests.stated import states

if TYPE_CHECKING:
    from pathlib import Path

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
    evidence, *others = arranged(section, report.cards, ()).findings
    assert evidence.startswith(report.verdicts[question]["evidence"])
    assert others
    plain = [text.replace("+", "") for text in (evidence, *others)]
    ends = set(_ENDS.findall(plain[0]))
    assert ends
    assert not ends & {found for text in plain[1:] for found in _ENDS.findall(text)}
    assert " ".join(plain).count("as much information as") <= 1


def test_the_cards_say_what_their_intervals_are(report: goldassay.Report) -> None:
    said = report.intervals
    assert states(said, "95 % intervals", ..., "Artifacts and Leakage", "lower end")
    for shown in (report.to_html(), report.to_markdown(), report._repr_html_()):
        assert shown.count(said) == 1


def test_intervals_of_one_figure_are_no_joint_ones(report: goldassay.Report, tmp_path: Path) -> None:
    write_specimen(tmp_path, size=2000, seed=0, test_size=500)
    alone = goldassay.measure_instability(tmp_path / "runs", dataset="test")
    assert alone.intervals == "In brackets: 95 % intervals."
    # Of one other set the loss is not the worst of several.
    assert "Shift" not in report.intervals
