from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.markdown import MAX_LINES, plain
from goldassay.report.report import render_notebook
from tests.report.example import example_document
from tests.typed import compose

if TYPE_CHECKING:
    from goldassay.report.report import Report


def test_summary_names_each_verdict_with_its_number(report: Report) -> None:
    lines = report.summary().splitlines()
    assert lines[0] == "Audit of pairs & <i>friends</i>"
    assert lines[1] == "  18,000 train, 9,824 test"
    verdicts = [line.split()[:2] for line in lines[2:] if not line.startswith((" ", "Add "))]
    assert verdicts == [
        ["Artifacts", "UNSOUND"],
        ["Leakage", "UNSOUND"],
        ["Instability", "CAUTION"],
        ["Shift", "NOT"],
    ]
    assert all(card.evidence in report.summary() for card in report.cards if card.judged)


def test_what_sound_cannot_see_stands_under_it_at_every_door() -> None:
    document = example_document(5)
    unseen, changed = "Not looked for: numbers that are compared.", "Measured with min_count = 3."
    document["verdicts"]["artifacts"].update(verdict="sound", not_seen=unseen, limits=changed)
    found = compose(document)
    evidence = found.cards[0].evidence
    assert f"{evidence}\n{13 * ' '}{unseen}\n{13 * ' '}{changed}\n" in found.summary()
    assert f"{plain(evidence)} {plain(unseen)} {plain(changed)} |" in found.to_markdown()
    for door in (found.to_html(), render_notebook(found)):
        for line in (unseen, changed):
            assert door.count(f">{line}<") == 1


def test_limits_of_detection_are_the_shares_that_the_sentence_has() -> None:
    """Also where the card shows points above a baseline."""
    document = example_document(5)
    headline = {"label": "accuracy", "value": 0.02, "low": 0.0, "high": 0.04, "unit": "points"}
    document["verdicts"]["artifacts"].update(
        verdict="sound", at_most=0.07, headline={**headline, "score": 0.52, "baseline": 0.5}
    )
    document["verdicts"]["instability"].update(verdict="sound", at_most=0.005, headline=headline)
    limits = compose(document).limits.replace("\N{NO-BREAK SPACE}", " ")
    assert limits == "Artifacts 7.0 %; Instability 0.5 points"


def test_flaws_are_counted_before_the_verdicts(report: Report) -> None:
    """Shift is not measurable, the three others name a flaw."""
    assert report.overall == "3 flaws, 1 not measurable"
    assert report.overall in report.summary()
    assert report.overall in report.to_markdown()
    assert report.overall in report.to_html()
    document = example_document(5)
    words = ("sound", "unresolved", "caution", "sound")
    for word, verdict in zip(words, document["verdicts"].values(), strict=False):
        verdict.update(verdict=word)
    assert compose(document).overall == "1 flaw, 1 unresolved, 2 sound"


def test_at_most_fifteen_lines() -> None:
    document = example_document(5)
    for verdict in document["verdicts"].values():
        verdict.update(verdict="unsound", evidence="a\nb\r\nc", next_step="d\n\ne")
    assert len(compose(document).summary().splitlines()) <= MAX_LINES


def test_nothing_can_drive_the_terminal() -> None:
    document = example_document(5)
    document["title"] = "a\x1b]0;b\x07\u202ec"
    assert compose(document).summary().splitlines()[0] == r"a\x1b]0;b\x07\u202ec"
