"""A study's page in a browser: its many cards hold what they say at every width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goldassay.lab.papers.page import render_page
from tests.lab.papers.test_page import study_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser

# As wide as headlines come: a loss of correlation, and a ratio.
FIGURES: list[dict[str, Any]] = [
    {"value": -1.0686, "low": -1.5302, "high": -0.5371, "unit": "difference"},
    {"value": -3.9999, "low": -4.0, "high": -1.3333, "unit": "difference"},
    {"value": 12_345.6, "low": 1.02, "high": 99_999.0, "unit": "ratio"},
    {"value": 0.123, "low": 0.1, "high": 0.2, "unit": "share"},
    {"value": 0.123, "low": 0.1, "high": 0.2, "unit": "points"},
    {"value": -0.999, "low": -0.9999, "high": 0.999, "unit": "correlation"},
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    conclusions = [
        {"name": "Fewer alarms", "statement": "It is so.", "place": "Table 1", "standing": "did not hold",
         "evidence": "Since it is.", **figure}
        for figure in FIGURES
    ]  # fmt: skip
    document = {"title": "A study", "paper": "Somebody 2020", "scale": "smoke", "conclusions": conclusions}
    path = tmp_path_factory.mktemp("study") / "study.html"
    path.write_text(render_page(study_of(document), document, {}), "utf-8")
    return path


@pytest.mark.parametrize(("width", "columns"), [(400, 1), (700, 2), (1060, 2), (1110, 3), (1280, 3)])
def test_cards_hold_what_they_say(browser: Browser, page: Path, width: int, columns: int) -> None:
    browser.open(page, width=width)
    outside = """
    return [...document.querySelectorAll('.card')].flatMap(card => {
        const right = card.getBoundingClientRect().right;
        return [...card.querySelectorAll('*')].filter(e => e.checkVisibility())
            .filter(e => e.getBoundingClientRect().right > right).map(e => e.textContent);
    });
    """
    assert browser.run(outside) == []
    left = "return [...document.querySelectorAll('.card')].map(e => Math.round(e.getBoundingClientRect().left));"
    assert len(set(browser.run(left))) == columns
