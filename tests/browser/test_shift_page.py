"""The pages on shift in a real browser: nothing runs, nothing is asked for, nothing sticks out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.shift_example import shift_reports

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser

OUTSIDE = """
return [...document.querySelectorAll('svg.figure')].filter(svg => svg.checkVisibility())
    .map(svg => [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()])
    .filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([text]) => text)).flat();
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shift")
    return [
        report.save(folder / f"report{number}").resolve()
        for number, report in enumerate(shift_reports(folder / "runs"))
    ]


def test_pages_stand_alone_and_fit(browser: Browser, pages: list[Path]) -> None:
    for page, figures in zip(pages, (4, 2), strict=True):
        for width in (400, 1280):
            for dark in (False, True):
                browser.open(page, width=width, dark=dark)
                assert browser.console() == []
                assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]
                browser.run("for (const fold of document.querySelectorAll('details')) fold.open = true;")
                assert browser.run("return document.documentElement.scrollWidth;") == width
                assert browser.run(OUTSIDE) == []
                shown = "return [...document.querySelectorAll('svg.figure')].filter(s => s.checkVisibility()).length"
                assert browser.run(shown) == figures


def test_marks_say_what_they_are(browser: Browser, pages: list[Path]) -> None:
    # With scripts the tips replace the titles.
    browser.open(pages[1], scripts=False)
    titles = "return [...document.querySelectorAll('#shift_false_alarms .wide .mark title')].map(t => t.textContent)"
    said = browser.run(titles)
    assert len(said) == 2
    assert all("a-rather-long-name-of-another-set" in title and "%" in title for title in said)
