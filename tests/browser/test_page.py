"""The report's page in a real browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.report.example import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser

COLUMN = """
const table = [...document.querySelectorAll('#artifacts table')].find(t => t.tHead.textContent.includes('lift'));
return [...table.tBodies[0].rows].map(row => row.cells[arguments[0]].textContent.trim());
"""
HEADING = """
const table = [...document.querySelectorAll('#artifacts table')].find(t => t.tHead.textContent.includes('lift'));
return table.tHead.rows[0].cells[arguments[0]];
"""
TIP = "const tip = document.getElementById('tip'); return tip.hidden ? null : tip.textContent;"


def test_opens_without_a_word_or_a_request(opened: Callable[..., Browser], saved_report: Path) -> None:
    browser = opened()
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [saved_report.as_uri()]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scripts", [True, False])
def test_page_never_scrolls_sideways(opened: Callable[..., Browser], width: int, scripts: bool) -> None:
    browser = opened(width=width, scripts=scripts)
    for state in (False, True):
        browser.run("for (const fold of document.querySelectorAll('details')) fold.open = arguments[0];", state)
        assert browser.run("return document.documentElement.scrollWidth;") == width


def test_pictures_fit_the_width(opened: Callable[..., Browser]) -> None:
    script = """
    return [...document.querySelectorAll('svg.figure')].filter(svg => svg.checkVisibility())
        .map(svg => [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()])
        .filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([text]) => text)).flat();
    """
    for width in (400, 1280):
        browser = opened(width=width)
        assert browser.run(script) == []
        assert (
            browser.run("return [...document.querySelectorAll('svg.figure')].filter(s => s.checkVisibility()).length")
            == 11
        )


def test_summary_fits_one_screen(opened: Callable[..., Browser]) -> None:
    browser = opened(width=1280, height=800)
    assert browser.run("return document.querySelector('#summary').getBoundingClientRect().bottom;") <= 800
    assert browser.run("return document.querySelectorAll('.card').length;") == 4


def test_issues_and_rows_to_look_at_first_follow_the_cards(opened: Callable[..., Browser]) -> None:
    browser = opened()
    order = browser.run("return [...document.querySelectorAll('main > section')].map(e => e.id);")
    assert order[:4] == ["summary", "issues", "first-rows", "details"]
    assert order[-2:] == ["facts", "inputs"]
    rows = browser.run("return [...document.querySelectorAll('#first-rows tbody tr')].map(e => e.innerText);")
    assert len(rows) == 5
    assert all(HOSTILE in row and "Its hypothesis has the pattern" in row for row in rows)


def test_evidence_is_there_once(opened: Callable[..., Browser], saved_report: Path) -> None:
    text = opened().run("return document.body.textContent;")
    verdicts = json.loads((saved_report.parent / "report.json").read_text("utf-8"))["verdicts"]
    assert {name: text.count(verdict["evidence"]) for name, verdict in verdicts.items()} == dict.fromkeys(verdicts, 1)


def test_a_question_opens_with_its_picture(opened: Callable[..., Browser]) -> None:
    """Above the first picture of a section stand its heading and question, and with it at most three sentences."""
    browser = opened()
    script = """
    return Object.fromEntries([...document.querySelectorAll('main > section')].filter(s => s.querySelector('figure'))
        .map(s => [s.id, [[...s.children].findIndex(e => e.matches('figure')),
                          s.querySelectorAll(':scope > .findings > li').length]]));
    """
    found = browser.run(script)
    assert {"artifacts", "leakage", "instability"} <= set(found)
    assert {place for place, _ in found.values()} == {2}
    assert all(0 <= sentences <= 3 for _, sentences in found.values())


@pytest.mark.parametrize("dark", [False, True])
def test_tables_scroll_inside_their_frame_on_a_phone(opened: Callable[..., Browser], dark: bool) -> None:
    """What is wider than the screen can be scrolled to within its frame, and no text is cut off."""
    browser = opened(width=400, dark=dark)
    browser.run("for (const fold of document.querySelectorAll('details')) fold.open = true;")
    script = """
    const seen = [...document.querySelectorAll('.scroll')].filter(e => e.checkVisibility());
    return [seen.filter(e => e.scrollWidth > e.clientWidth).length,
            seen.filter(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== 'auto').length,
            seen.filter(e => e.getBoundingClientRect().right > innerWidth).length,
            [...document.querySelectorAll('td, th, li, p, h1, h2, h3, summary')].filter(e => e.checkVisibility()
                && !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 0.5).length,
            [...document.querySelectorAll('td, th')].filter(e => e.checkVisibility()
                && e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)];
    """
    wide, stuck, outside, cut, squeezed = browser.run(script)
    assert wide > 0
    assert (stuck, outside, cut, squeezed) == (0, 0, 0, [])


def test_a_click_sorts_by_number(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.unfold()
    heading = browser.run(HEADING, 2)
    button = heading.find_element("tag name", "button")
    button.click()
    values = [int(value.replace(",", "")) for value in browser.run(COLUMN, 2)]
    assert values == sorted(values, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    button.click()
    values = [int(value.replace(",", "")) for value in browser.run(COLUMN, 2)]
    assert values == sorted(values)
    assert heading.get_attribute("aria-sort") == "ascending"
    assert browser.run(HEADING, 0).get_attribute("aria-sort") == "none"


def test_the_keyboard_sorts_by_text(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.unfold()
    browser.run("arguments[0].querySelector('button').focus();", browser.run(HEADING, 1))
    browser.driver.switch_to.active_element.send_keys("\ue007")
    values = browser.run(COLUMN, 1)
    assert values == sorted(values)
    assert len(set(values)) == 3


def test_undefined_values_stay_last(opened: Callable[..., Browser]) -> None:
    browser = opened()
    script = """
    const table = document.querySelector('#leakage table');
    const headings = [...table.tHead.rows[0].cells];
    const column = headings.findIndex(cell => cell.textContent.includes('share recovered'));
    table.tHead.rows[0].cells[column].querySelector('button').click();
    return [...table.tBodies[0].rows].map(row => row.cells[column].textContent.trim());
    """
    descending, ascending = browser.run(script), browser.run(script)
    assert descending[-1] == ascending[-1] == "—"
    assert descending[:2] == ascending[:2][::-1]


def hover(browser: Browser, element: object, dx: float = 0, dy: float = 0) -> None:
    browser.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});", element)
    box = browser.run(
        "const b = arguments[0].getBoundingClientRect(); return [b.x + b.width/2, b.y + b.height/2];", element
    )
    # Leave first, so that this is always a movement; the page answers a scroll by hiding what it shows.
    for x, y in ((2, 2), (box[0] + dx, box[1] + dy)):
        browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));")


def test_hover_shows_the_value(opened: Callable[..., Browser]) -> None:
    browser = opened()
    mark = browser.run("return document.querySelector('#leakage_conditions .wide .mark');")
    hover(browser, mark)
    assert browser.run(TIP) == "paired: 60.0 [59.0, 61.0] points"
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert browser.run(TIP) is None


def test_hover_names_a_pattern_of_the_cloud(opened: Callable[..., Browser]) -> None:
    browser = opened()
    svg = browser.run("return document.querySelector('#artifacts_scatter .wide svg');")
    hover(browser, svg, dx=-150, dy=60)
    assert " # thing" in browser.run(TIP)
    assert " examples" in browser.run(TIP)
    assert browser.run("return document.querySelectorAll('.spot').length;") == 1


def test_the_keyboard_steps_through_a_picture(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.run("document.querySelector('#leakage_conditions .wide svg').focus();")
    seen = []
    for key in ("\ue014", "\ue014", "\ue012"):
        browser.driver.switch_to.active_element.send_keys(key)
        seen.append(browser.run(TIP).split(":")[0])
    assert seen == ["paired", "premise_only", "paired"]
    browser.driver.switch_to.active_element.send_keys("\ue00c")
    assert browser.run(TIP) is None


def test_the_keyboard_reaches_everything_that_acts(opened: Callable[..., Browser]) -> None:
    browser = opened(width=400)
    script = """
    const able = e => e.tabIndex >= 0;
    return [
        [...document.querySelectorAll('th button, summary, a[href]')].every(able),
        [...document.querySelectorAll('.scroll')].filter(b => b.scrollWidth > b.clientWidth).every(able),
        [...document.querySelectorAll('.scroll')].filter(b => b.scrollWidth > b.clientWidth).length > 0,
    ];
    """
    assert browser.run(script) == [True, True, True]


def test_focus_can_be_seen(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.driver.find_element("tag name", "body").send_keys("\ue004\ue004")
    style = browser.run("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth];")
    assert style == ["solid", "3px"]


def test_everything_is_there_without_scripts(opened: Callable[..., Browser]) -> None:
    browser = opened(scripts=False)
    text = browser.driver.find_element("tag name", "body").text
    for part in ("unsound", "caution", "not measurable", "24.4 points", "Strongest patterns", "hypothesis_only"):
        assert part in text
    assert len(browser.driver.find_elements("css selector", "table")) >= 10
    assert len(browser.driver.find_elements("css selector", ".wide svg.figure title")) > 50
    assert not browser.driver.find_elements("css selector", "th button")
    fold = browser.driver.find_element("css selector", "#leakage .how")
    browser.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});", fold)
    fold.find_element("tag name", "summary").click()
    assert "share recovered = accuracy(single)" in fold.text


def test_texts_of_the_data_stay_texts(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.unfold()
    assert HOSTILE in browser.driver.find_element("css selector", "#artifacts table").text
    assert browser.run("return document.scripts.length;") == 2
    assert browser.run("return document.querySelectorAll('h1 i, h1 b').length;") == 0
    assert 'contra"diction & <b>' in browser.driver.find_element("css selector", ".dataset").text


def test_dark_and_light_differ(opened: Callable[..., Browser]) -> None:
    script = """
    const color = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
    return [color('body', 'backgroundColor'), color('body', 'color'), color('svg.figure .f0', 'fill'),
            color('.card .verdict', 'color')];
    """
    light, dark = opened().run(script), opened(dark=True).run(script)
    assert light[0] == "rgb(250, 249, 246)"
    assert all(a != b for a, b in zip(light, dark, strict=True))


def test_prints_on_white_with_explanations(opened: Callable[..., Browser]) -> None:
    browser = opened(dark=True)
    browser.run("dispatchEvent(new Event('beforeprint'));")
    assert not browser.run("return document.querySelectorAll('.folded:not([open])').length;")
    assert browser.run("return [...document.querySelectorAll('.how')].every(fold => fold.open);")
    browser.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert (
        browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();") == "#1c2126"
    )
    assert browser.command("Page.printToPDF")["data"].startswith("JVBER")


def test_why_a_row_comes_first_is_seen_on_a_phone(opened: Callable[..., Browser]) -> None:
    """The rows to look at first stand one under the other: nothing of them has to be scrolled to."""
    script = """
    const frame = document.querySelector('#first-rows .scroll');
    return [frame.scrollWidth <= frame.clientWidth,
            [...frame.querySelectorAll('tbody td')].every(e => e.getBoundingClientRect().right <= innerWidth)];
    """
    assert opened(width=400).run(script) == [True, True]
