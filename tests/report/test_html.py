from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.report.html import subject_line
from tests.report.example import HOSTILE, example_document
from tests.typed import compose

if TYPE_CHECKING:
    from goldassay.report.report import Report

VOID = {"meta", "link", "br", "img", "hr", "input", "path", "rect", "circle"}


class Page(HTMLParser):
    """Collects what a browser would build: elements, attributes, and text outside of script and style."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.texts.append(data)


@pytest.fixture(scope="module")
def parsed(page: str) -> Page:
    return Page(page)


def test_every_element_is_closed(parsed: Page) -> None:
    assert parsed.unbalanced == []
    assert parsed.open == []


def test_three_thousand_points_stay_below_the_limit(page: str) -> None:
    assert len(page.encode()) < 1_500_000


def test_no_address_anywhere(page: str) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import", page)


def test_every_link_leads_into_the_page_or_beside_it(parsed: Page, report: Report, tmp_path: Any) -> None:
    report.save(tmp_path)
    ids = {attributes["id"] for _, attributes in parsed.elements if "id" in attributes}
    targets = {a.get("href") or "" for tag, a in parsed.elements if tag == "a"}
    assert targets
    for target in targets:
        assert target[1:] in ids if target.startswith("#") else (tmp_path / target).is_file(), target
    assert not [a for _, a in parsed.elements if "src" in a]


def test_ids_are_given_once(parsed: Page) -> None:
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_texts_of_the_data_are_text(parsed: Page, page: str) -> None:
    assert any(HOSTILE in text for text in parsed.texts)
    assert HOSTILE not in page
    assert [a.get("type") for tag, a in parsed.elements if tag == "script"] == ["application/json", None]
    assert "<i>friends" not in page
    assert "<b>woman" not in page


def test_no_inline_style_or_handler(parsed: Page) -> None:
    for _, attributes in parsed.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_policy_allows_its_own_style_and_script_only(parsed: Page) -> None:
    policy = next(a["content"] or "" for _, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, text in (("style", parsed.raw["style"][0]), ("script", parsed.raw["script"][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_points_are_those_of_the_document(parsed: Page, report: Report) -> None:
    points = json.loads(parsed.raw["script"][0])
    scatter = report.to_dict()["artifacts"]["scatter"]
    assert len(points["points"]) == len(scatter)
    support, probability, series, pattern = points["points"][1]
    first = scatter[1]
    assert (support, pattern, points["labels"][series]) == (first["support"], first["pattern"], first["label"])
    assert probability == pytest.approx(first["probability"], abs=1e-4)
    assert HOSTILE in {row[3] for row in points["points"]}


def test_every_heading_and_verdict_is_there(parsed: Page) -> None:
    text = " ".join(parsed.texts)
    for title in ("Facts", "Artifacts", "Leakage", "Instability", "Shift", "What was read", "How this is computed"):
        assert title in text
    for source in ("Liu, Zheng", "Saxon, Wang", "Zhou, Nie", "Hendrycks, Liu", "Gardner", "Benjamini", "Wilson 1927"):
        assert source in text


def test_links_only_to_tables_that_are_there() -> None:
    page = compose(example_document(60), {}).to_html()
    assert "tables/" not in page


def test_cards_show_points_and_intervals() -> None:
    shown = {card.key: card for card in compose(example_document(10)).cards}
    assert (shown["leakage"].value, shown["leakage"].interval) == ("24.4 points", "[23.5, 25.3]")
    assert shown["artifacts"].value == "31.1\N{NO-BREAK SPACE}%"
    assert shown["instability"].value == "218 ×"
    assert shown["shift"].value == ""
    assert {card.icon for card in shown.values()} == {"stop", "alert", "none"}


def test_dataset_line() -> None:
    assert subject_line(compose(example_document(10)).subject)[:3] == [
        "18,000 training examples",
        "9,824 test examples",
        "premise + hypothesis",
    ]
    assert subject_line(compose({}).subject) == []
