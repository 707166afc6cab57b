from __future__ import annotations

from typing import TYPE_CHECKING

from tests.report.example import HOSTILE

if TYPE_CHECKING:
    from goldassay.report.report import Report


def test_cards_are_escaped_and_self_contained(report: Report) -> None:
    shown = report._repr_html_()
    assert HOSTILE not in shown
    assert "&lt;script&gt;" in shown
    for forbidden in ("<script", "<style", "http", "src="):
        assert forbidden not in shown
    assert len(shown) < 10_000
    for word in ("Artifacts", "unsound", "Instability", "caution", "not measurable", "24.4 points"):
        assert word in shown
