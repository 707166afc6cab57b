"""The page of a diff in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.questions.gating import diff_reports
from tests.gate.test_diff import audit, examples_of, pattern, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    tables = examples_of(1, 0.6, 0.5), examples_of(2, 0.5, 0.4)
    long = "a # rather # long # pattern # of # many # tokens"
    before = write(
        audit(tables[0], a=[pattern(long), pattern("<img src=x onerror=alert(1)>")]), folder / "a", tables[0]
    )
    after = write(audit(tables[1], "sound", "2"), folder / "b", tables[1])
    return diff_reports(before, after).save(folder / "out")


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("dark", [True, False])
def test_it_fits_and_is_silent(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]
    assert browser.run("return document.documentElement.scrollWidth;") == width
    outside = """
    return [...document.querySelectorAll('.card *, svg.figure text')].filter(e => e.checkVisibility())
        .filter(e => { const b = e.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth; })
        .map(e => e.textContent);
    """
    assert browser.run(outside) == []
    within = """
    return [...document.querySelectorAll('.card')].filter(card => card.scrollWidth > card.clientWidth).length;
    """
    assert browser.run(within) == 0


def test_what_it_says(browser: Browser, page: Path) -> None:
    browser.open(page)
    verdicts = browser.run("return [...document.querySelectorAll('.card .verdict')].map(e => e.textContent.trim());")
    assert verdicts == ["unsound → sound", "caution"]
    headings = browser.run("return [...document.querySelectorAll('main h2, main h3')].map(e => e.textContent);")
    assert {"Changes", "Patterns", "What was compared", "All measures", "Gone", "New"} <= set(headings)
    links = browser.run("return [...document.querySelectorAll('a[href]')].map(e => e.getAttribute('href'));")
    for link in links:
        if not link.startswith("#"):
            assert (page.parent / link).exists(), link
