"""The page on leakage in a real browser: the map answers, nothing overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.questions.leakage.example import example_leakage_report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser

POINT = """
const svg = document.querySelector('#leakage_map .wide svg');
svg.scrollIntoView({block: 'center'});
const land = JSON.parse(document.getElementById('leakage_map-data').textContent);
const bytes = Uint8Array.from(atob(land.x), c => c.charCodeAt(0));
const [x, y] = ['x', 'y'].map(n => new Uint16Array(Uint8Array.from(atob(land[n]), c => c.charCodeAt(0)).buffer)[0]);
const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
const side = Number(svg.dataset.side), top = Number(svg.dataset.top);
const place = {clientX: box.left + x / 4095 * side * scale, clientY: box.top + (top + (1 - y / 4095) * side) * scale};
svg.dispatchEvent(new PointerEvent('pointermove', {...place, bubbles: true}));
return document.getElementById('tip').textContent;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_leakage_report().save(tmp_path_factory.mktemp("leakage"))


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_fits_and_says_nothing(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    browser.run("for (const fold of document.querySelectorAll('details')) fold.open = true;")
    assert browser.run("return document.documentElement.scrollWidth;") == width
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]


def test_points_tell_their_sentence(browser: Browser, page: Path) -> None:
    browser.open(page)
    told = browser.run(POINT)
    assert told.startswith("Somebody ")
    assert "divergence" in told


def test_the_map_is_colored_anew_and_filtered(browser: Browser, page: Path) -> None:
    browser.open(page)
    image = "return document.querySelector('#leakage_map .wide image').getAttribute('href');"
    seen = {browser.run(image)}
    for choice in (1, 2):
        browser.run("document.querySelectorAll('#leakage_map .wide input[type=radio]')[arguments[0]].click();", choice)
        seen.add(browser.run(image))
    assert len(seen) == 3
    outlines = "return document.querySelectorAll('#leakage_map .wide .outline:not([display])').length;"
    before = browser.run(outlines)
    browser.run(
        "const s = document.querySelector('#leakage_map .wide input[type=range]');"
        "s.value = s.max; s.dispatchEvent(new Event('input'));"
    )
    assert before > browser.run(outlines)


def test_the_map_stays_without_a_script(browser: Browser, page: Path) -> None:
    browser.open(page, scripts=False)
    assert browser.run("return document.querySelector('#leakage_map .wide image').getAttribute('href').length;") > 500
