"""The workbench in a real browser: many rows, keys, decisions, two tabs, the back button, a phone, dark."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from benchmarks.view import make_report
from goldassay.data.decisions import read_decisions
from goldassay.view.opening import open_workbench
from tests.view.made import items, save_both, save_report, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goldassay.view.opening import Workbench
    from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=[20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("large")
    make_report(base / "report", request.param)
    return base


@pytest.fixture
def bench(folder: Path, tmp_path: Path) -> Workbench:
    return open_workbench(folder / "report", decisions=tmp_path / "made.decisions.jsonl")


@pytest.fixture
def page(bench: Workbench, browser: Browser) -> Iterator[Callable[..., Browser]]:
    with served(bench) as address:

        def opened(path: str = "", **settings: Any) -> Browser:
            show(browser, address + path, **settings)
            return browser

        yield opened
        browser.driver.get("about:blank")


def show(browser: Browser, address: str, width: int = 1280, height: int = 800, dark: bool = False) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.command("Emulation.setEmulatedMedia", media="", features=[scheme])
    browser.command("Emulation.setScriptExecutionDisabled", value=False)
    browser.driver.get("about:blank")
    browser.driver.get_log("browser")
    browser.driver.get_log("performance")
    browser.driver.get(address)


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(browser.driver).send_keys(key).perform()


def until(browser: Browser, script: str, wanted: Any) -> None:
    """Wait for a script's value, five seconds at most."""
    end = time.monotonic() + 5
    while (found := browser.run(script)) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    assert found == wanted


COUNT = "return document.querySelector('.count strong').textContent;"
# Without the name of the row.
STATUS = "return document.getElementById('status').textContent.replace(/ \\([^)]*\\)/, '');"


def test_opens_without_a_word_and_asks_nobody_else(page: Callable[..., Browser], bench: Workbench) -> None:
    browser = page()
    assert browser.console() == []
    asked = [url for url in browser.requests() if not url.startswith(("data:", "about:"))]
    own = browser.run("return location.origin;")
    assert asked
    assert all(url.startswith(own) for url in asked)
    assert browser.run(COUNT) == f"{bench.table.n_rows:,}"


def test_filters_sort_and_back(page: Callable[..., Browser], bench: Workbench) -> None:
    browser = page()
    browser.driver.find_element("link text", "confidence").click()
    assert "sort=-confidence" in browser.driver.current_url
    shown = [float(cell) for cell in browser.run(
        "return [...document.querySelectorAll('td[data-label=confidence]')].map(e => e.textContent);")]  # fmt: skip
    assert shown == sorted(shown, reverse=True)
    browser.run("document.querySelector('a[href*=\"f.label=neutral\"]').click();")
    until(browser, "return location.search.includes('f.label=neutral');", True)
    labels = browser.run(
        "return [...new Set([...document.querySelectorAll('td[data-label=label] > bdi')].map(e => e.textContent))];"
    )
    assert labels == ["neutral"]
    n = browser.run(COUNT)
    browser.driver.back()
    until(browser, COUNT, f"{bench.table.n_rows:,}")
    browser.driver.forward()
    until(browser, COUNT, n)
    assert browser.console() == []


def test_single_runs_are_filtered_by_keys(page: Callable[..., Browser], bench: Workbench) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = page()
    n = bench.table.n_rows
    for name, kind in (("model 3", "wrong"), ("model 11", "right")):
        link = browser.driver.find_element("css selector", f"a[aria-label^='{name} {kind}: ']")
        wanted = link.text
        browser.run("arguments[0].focus();", link)
        press(browser, Keys.ENTER)
        until(browser, COUNT, wanted)
    assert 0 < int(wanted.replace(",", "")) < n
    chosen = browser.run("return [...document.querySelectorAll('.runs a[aria-current]')].map(e => e.ariaLabel);")
    assert [each.split(":")[0] for each in chosen] == ["model 3 wrong", "model 11 right"]
    dots = browser.run("""return [...document.querySelectorAll('#rows tbody tr[data-row] .dots')].map(
        e => [3, 11].map(at => e.children[at].className + ' ' + e.children[at].title.split(':')[0]));""")
    assert {tuple(each) for each in dots} == {("miss model 3", "hit model 11")}
    browser.run("[...document.querySelectorAll('.ranges a')].at(-1).click();")
    until(browser, COUNT, f"{n:,}")
    assert browser.console() == []


def test_a_search_by_keys_and_the_last_page(page: Callable[..., Browser], bench: Workbench) -> None:
    from selenium.webdriver.common.keys import Keys

    word = str(bench.table.load()["hypothesis"][0]).split()[0]
    browser = page()
    press(browser, "/", word, Keys.ENTER)
    until(browser, "return location.search.includes('q=');", True)
    texts = browser.run("return [...document.querySelectorAll('#rows tbody tr')].map(e => e.textContent);")
    assert all(word in text for text in texts)
    browser.run("location.search = '';")
    until(browser, COUNT, f"{bench.table.n_rows:,}")
    browser.run("document.querySelector('a[rel=last]').click();")
    until(browser, "return [...document.querySelectorAll('.open')].pop().textContent;", f"row-{bench.table.n_rows - 1}")
    assert browser.console() == []


def test_decisions_by_keys_survive_a_reload(page: Callable[..., Browser], bench: Workbench) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = page("?f.label=entailment")
    press(browser, "j", "d")
    until(browser, STATUS, "Saved: drop")
    press(browser, "j", "l", "2")
    until(browser, STATUS, "Saved: relabel")
    press(browser, "j", "y")
    until(browser, STATUS, "Saved: keep")
    press(browser, "j", "n", "look <b>again</b>")
    browser.driver.find_element("css selector", "#write button[value=save]").click()
    until(browser, STATUS, "Saved: note")
    press(browser, "j", "w")
    field = browser.driver.find_element("id", "write-hypothesis")
    field.clear()
    field.send_keys("Another text.")
    browser.driver.find_element("css selector", "#write button[value=save]").click()
    until(browser, STATUS, "Saved: rewrite")
    press(browser, "k", "u", Keys.ESCAPE)
    until(browser, STATUS, "Saved: undecided")
    assert bench.decisions is not None
    stored = read_decisions(bench.decisions).by_row
    assert [each.decision for each in stored.values()] == ["drop", "relabel", "keep", "undecided", "rewrite"]
    assert [each.label for each in stored.values()][1] == "neutral"
    assert list(stored.values())[4].texts == {"hypothesis": "Another text."}
    script = "return [...document.querySelectorAll('#rows tbody tr')].slice(0, 5).map(e => e.dataset.decision);"
    wanted = ["drop", "relabel", "keep", "", "rewrite"]
    assert browser.run(script) == wanted
    assert browser.run("return document.getElementById('decided-count').textContent;") == "4"
    browser.driver.refresh()
    assert browser.run(script) == wanted
    assert browser.run("return document.getElementById('decided-count').textContent;") == "4"
    assert browser.console() == []


SAVE = "#write button[value=save]"
STATE = "return document.querySelector('#rows tbody tr .state').textContent;"


def test_notes_rewrites_and_undo_by_keys_go_on_from_what_was_decided(page: Callable[..., Browser]) -> None:
    browser = page("?f.label=entailment")
    press(browser, "j", "l", "2")
    until(browser, STATUS, "Saved: relabel")
    press(browser, "n", "sure")
    browser.driver.find_element("css selector", SAVE).click()
    until(browser, STATUS, "Saved: note")
    assert browser.run(STATE) == "relabel → neutralsure"
    press(browser, "d")
    until(browser, STATE, "dropsure")
    press(browser, "u")
    until(browser, STATE, "relabel → neutralsure")
    assert browser.run(STATUS) == "Saved: undecided; the row is back at relabel"
    press(browser, "w")
    browser.run("document.getElementById('write-hypothesis').value = 'One.';")
    browser.driver.find_element("css selector", SAVE).click()
    until(browser, STATE, "rewritenew hypothesis: One.sure")
    for reload in (False, True):
        if reload:
            # The row is still the one that was left.
            browser.driver.refresh()
        press(browser, "w")
        assert browser.run("return document.getElementById('write-hypothesis').value;") == "One."
        browser.driver.find_element("css selector", "#write button[value='']").click()
    press(browser, "w")
    browser.run("document.getElementById('write-premise').value = 'Two.'; "
                "document.getElementById('write-note').value = '';")  # fmt: skip
    browser.driver.find_element("css selector", SAVE).click()
    until(browser, STATE, "rewritenew hypothesis: One.new premise: Two.")
    assert browser.console() == []


def test_an_item_is_offered_the_labels_of_its_choices(browser: Browser, tmp_path: Path) -> None:
    table = items()
    table = table.with_columns(choices=pl.Series([["one", "two", ""], table["choices"][1].to_list()]))
    with served(open_workbench(save_report(tmp_path / "items", table), decisions=tmp_path / "d.jsonl")) as address:
        seen = (
            "return [...document.querySelectorAll('#relabel .options button')].filter(e => e.checkVisibility()).length;"
        )
        for path, n in (("row/0", 2), ("row/1", 3)):
            show(browser, address + path)
            press(browser, "l")
            assert browser.run(seen) == n
        show(browser, address + path)
        press(browser, "w")
        assert browser.run("return [...document.querySelectorAll('#write-texts label')].map(e => e.textContent);") == [
            "passage", "question", "choice A", "choice B", "choice C",
        ]  # fmt: skip
        browser.run("document.getElementById('write-choice B').value = 'another';")
        browser.driver.find_element("css selector", SAVE).click()
        until(browser, STATUS, "Saved: rewrite")
        assert browser.console() == []
    (stored,) = read_decisions(tmp_path / "d.jsonl").by_row.values()
    assert dict(stored.texts) == {"choice B": "another"}


def test_all_rows_of_a_filter_are_decided_after_a_confirmation(page: Callable[..., Browser]) -> None:
    opened = page("?f.difficulty=easy&f.label=neutral")
    n = opened.run("return document.querySelector('[data-all=drop]').dataset.n;")
    noted = "return document.querySelector('#decided-count').textContent.replace(/\\D/g, '');"
    before = opened.run(noted)
    for choice, decided in (("", before), ("yes", str(int(before) + int(n)))):
        opened.driver.find_element("css selector", "[data-all=drop]").click()
        assert opened.run("return document.getElementById('all').open;")
        opened.driver.find_element("css selector", f"#all button[value='{choice}']").click()
        until(opened, noted, decided)
    opened.driver.find_element("id", "undo-all").click()
    until(opened, noted, before)
    until(opened, "return document.getElementById('undo-all');", None)
    assert opened.console() == []


def test_the_profile_is_the_first_tab(page: Callable[..., Browser]) -> None:
    opened = page("profile")
    assert opened.run("return document.querySelector('.tabs a').getAttribute('aria-current');") == "page"
    assert opened.run("return document.documentElement.scrollWidth <= innerWidth;")
    opened.driver.find_element("css selector", "th[scope=row] a").click()
    until(opened, "return document.querySelectorAll('.facet a.on').length;", 1)
    assert opened.console() == []


def test_two_tabs_see_each_other(page: Callable[..., Browser], browser: Browser) -> None:
    browser = page()
    first, address = browser.driver.current_window_handle, browser.driver.current_url
    browser.driver.switch_to.new_window("tab")
    try:
        browser.driver.get(address)
        press(browser, "j", "d")
        until(browser, STATUS, "Saved: drop")
    finally:
        browser.driver.close()
        browser.driver.switch_to.window(first)
    press(browser, "j", "j", "y")
    until(browser, STATUS, "Saved: keep")
    browser.driver.refresh()
    script = "return [...document.querySelectorAll('#rows tbody tr')].slice(0, 2).map(e => e.dataset.decision);"
    assert browser.run(script) == ["drop", "keep"]


def test_what_is_not_saved_is_not_shown(page: Callable[..., Browser], bench: Workbench) -> None:
    browser = page()
    assert bench.decisions is not None
    bench.decisions.mkdir()
    press(browser, "j", "d")
    until(browser, "return document.getElementById('status').className;", "failed")
    assert "Not saved" in browser.run(STATUS)
    assert browser.run("return document.querySelector('#rows tbody tr').dataset.decision;") == ""


def test_a_row_in_full_and_back(page: Callable[..., Browser]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = page("?f.difficulty=hard")
    press(browser, "j", "j", Keys.ENTER)
    until(browser, "return document.querySelector('table.one') !== null;", True)
    first = browser.run("return document.querySelector('h1').textContent;")
    press(browser, "j")
    until(browser, f"return document.querySelector('h1').textContent !== {json.dumps(first)};", True)
    press(browser, "k")
    until(browser, "return document.querySelector('h1').textContent;", first)
    browser.driver.find_element("css selector", "button[data-do=drop]").click()
    until(browser, STATUS, "Saved: drop")
    assert first in browser.run("return document.getElementById('status').textContent;")
    for back in (lambda: press(browser, Keys.ESCAPE), browser.driver.back):
        back()
        until(browser, "return location.search;", "?f.difficulty=hard")
        assert browser.run("return document.querySelectorAll('tr[data-decision=drop]').length;") == 1
        # The next key decides about the row that was left, or goes on from it.
        focused = "return document.activeElement.querySelector('a.open')?.textContent;"
        until(browser, focused, first)
        press(browser, "j", "k")
        until(browser, focused, first)
        press(browser, Keys.ENTER)
        until(browser, "return document.querySelector('table.one') !== null;", True)
    assert browser.console() == []


def test_the_map_selects_by_click_and_by_drawing(page: Callable[..., Browser], bench: Workbench) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    browser = page()
    browser.run(
        "document.querySelector('#map a').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));"
    )
    until(browser, "return location.search.includes('n.confidence=');", True)
    assert int(browser.run(COUNT).replace(",", "")) < bench.table.n_rows / 100
    browser.driver.back()
    until(browser, COUNT, f"{bench.table.n_rows:,}")
    chart = browser.driver.find_element("id", "map")
    ActionChains(browser.driver).move_to_element_with_offset(chart, -40, -40).click_and_hold().move_by_offset(
        60, 60
    ).release().perform()
    until(browser, "return location.search.includes('n.variability=');", True)
    assert bench.table.n_rows / 20 < int(browser.run(COUNT).replace(",", "")) < bench.table.n_rows / 3


@pytest.mark.parametrize(("path", "dark"), [("", False), ("row/3", True)])
def test_a_phone_shows_everything(page: Callable[..., Browser], dark: bool, path: str) -> None:
    browser = page(path, width=400, dark=dark)
    assert browser.run("return document.documentElement.scrollWidth;") == 400
    cut = browser.run("""
        return [...document.querySelectorAll('td, p, h1, h2, button, input, dd')].filter(e => e.checkVisibility()
            && e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.textContent);""")
    assert cut == []


def test_a_phone_decides_in_the_list(page: Callable[..., Browser], bench: Workbench) -> None:
    browser = page(width=390, height=844)
    labels = bench.table.load()["label"].to_list()
    other = next(name for name in bench.label_names if name != labels[3])
    first = "return [...document.querySelectorAll('#rows tbody tr')].slice(0, 5).map(e => e.dataset.decision);"
    tap = "[...document.querySelectorAll('#rows tbody tr')][{}].querySelector('button[data-do={}]').click();"
    for at, word in ((0, "drop"), (1, "keep"), (2, "rewrite"), (3, "relabel"), (4, "note")):
        browser.run(tap.format(at, word))
        if word == "relabel":
            browser.run(f"document.querySelector('#relabel button[value={other}]').click();")
        elif word in ("rewrite", "note"):
            browser.run("document.getElementById('write-note').value = 'hm';")
            browser.run("document.querySelector('#write button[value=save]').click();")
        words = ("drop", "keep", "rewrite", "relabel", "note")
        until(browser, first, [*words[: at + 1], *[""] * (4 - at)])
    count = "return document.querySelector('.about').textContent.split(' · ')[1].split(' in ')[0];"
    assert browser.run(count) == "4 decided, 1 only noted"
    browser.run(tap.format(0, "undecided"))
    until(browser, count, "3 decided, 1 only noted")
    assert bench.decisions is not None
    stored = read_decisions(bench.decisions).by_row.values()
    assert [each.decision for each in stored] == ["undecided", "keep", "rewrite", "relabel", "note"]
    # Large enough for a finger, and within the screen.
    sizes = browser.run("""return [...document.querySelectorAll('.tools button')].map(e => e.getBoundingClientRect())
        .map(e => [e.height >= 40, e.width >= 40, e.left >= 0, e.right <= 390]);""")
    assert {tuple(each) for each in sizes} == {(True,) * 4}
    assert browser.console() == []
    # With room for keys there is none of it.
    assert page(width=1280).run("return document.querySelector('.tools').checkVisibility();") is False


def test_a_server_that_was_ended_is_said(bench: Workbench, browser: Browser) -> None:
    with served(bench) as address:
        show(browser, address)
    press(browser, "j", "d")
    said = "Not saved: goldassay view does not answer. Start it again, and open the address that it prints."
    until(browser, STATUS, said)
    assert browser.run("return document.querySelector('#rows tbody tr').dataset.decision;") == ""


CONTRAST = """
const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
return [...document.querySelectorAll('a, p, td, th, h1, h2, span, bdi, button, label')]
    .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .map(e => { const [a, b] = [luminance(getComputedStyle(e).color), luminance(behind(e))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 80)]; })
    .filter(([ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("dark", [False, True])
def test_texts_are_readable_in_light_and_dark(page: Callable[..., Browser], dark: bool) -> None:
    assert page("?f.difficulty=easy", dark=dark).run(CONTRAST) == []


def test_everything_has_a_name_for_screen_readers(page: Callable[..., Browser]) -> None:
    for path in ("", "row/3"):
        browser = page(path)
        tree = browser.command("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "link", "textbox", "searchbox", "checkbox", "table", "dialog", "region", "form")
        nameless = [
            node for node in tree
            if node.get("role", {}).get("value") in roles and not node.get("ignored")
            and not node.get("name", {}).get("value") and node["role"]["value"] not in ("table", "form")
        ]  # fmt: skip
        assert nameless == []
        assert browser.run("return document.querySelectorAll('h1').length;") == 1
        assert browser.run("return document.documentElement.lang;") == "en"


def test_a_rewrite_leaves_what_was_not_touched(browser: Browser, tmp_path: Path) -> None:
    """Direction marks, white space and line ends are shown otherwise than they are stored."""
    texts = ["\u200fعربي\u200e", "  both ends\t", "two\r\nlines", "\ufeffmark \\u200f 'as' <b>\"text\"</b>"]
    table = pl.DataFrame(
        {"example_id": ["a", "b", "c", "d"], "premise": "One.", "hypothesis": texts, "label": "neutral"}
    )
    decisions = tmp_path / "d.jsonl"
    with served(open_workbench(save_report(tmp_path / "texts", table), decisions=decisions)) as address:
        show(browser, address)
        for at in range(len(texts)):
            press(browser, "j", "w")
            browser.run("const field = document.getElementById('write-hypothesis'); field.value += '!';")
            browser.driver.find_element("css selector", SAVE).click()
            until(browser, STATUS, "Saved: rewrite")
            until(browser, "return document.querySelectorAll('[data-decision=rewrite]').length;", at + 1)
            press(browser, "w")
            assert browser.run("return document.getElementById('write-hypothesis').value;").endswith("!")
            browser.driver.find_element("css selector", "#write button[value='']").click()
        assert browser.console() == []
    stored = read_decisions(decisions).by_row
    assert [each.texts["hypothesis"] for each in stored.values()] == [f"{text}!" for text in texts]


def test_hostile_texts_and_items_stay_texts(browser: Browser, tmp_path: Path) -> None:
    for report in (save_both(tmp_path)[1], save_report(tmp_path / "items", items())):
        with served(open_workbench(report, decisions=tmp_path / "d.jsonl")) as address:
            for path in ("", "row/0", "row/1"):
                show(browser, address + path)
                assert "owned" not in browser.driver.title
                assert (
                    browser.run("return document.querySelectorAll('td script, td img, dd script, dd img').length;") == 0
                )
                assert browser.console() == []
