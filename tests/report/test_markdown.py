from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from goldassay.core.errors import one_line
from goldassay.report.markdown import code, plain
from tests.report.example import HOSTILE, example_document
from tests.stated import states
from tests.typed import compose

if TYPE_CHECKING:
    from goldassay.report.report import Report


def parse(source: str) -> list[Any]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(source)


def inline(source: str) -> list[Any]:
    return [child for token in parse(source) for child in token.children or ()]


@pytest.fixture(scope="module")
def source(report: Report) -> str:
    return report.to_markdown()


def test_every_line_of_bars_is_part_of_a_table(source: str) -> None:
    tokens = parse(source)
    rows = [token for token in tokens if token.type == "tr_open"]
    lines = [line for line in source.splitlines() if line.startswith("|")]
    tables = [token for token in tokens if token.type == "table_open"]
    assert tables
    # Each table has one line of dashes that is not a row.
    assert len(lines) == len(rows) + len(tables)


def test_rows_have_as_many_cells_as_the_head(source: str) -> None:
    widths: list[list[int]] = []
    for token in parse(source):
        if token.type == "table_open":
            widths.append([])
        elif token.type == "tr_open":
            widths[-1].append(0)
        elif token.type in ("td_open", "th_open"):
            widths[-1][-1] += 1
    assert all(len(set(table)) == 1 for table in widths)


def folds(block: str) -> str:
    """What is left of a block that folds a table, without its caption and without its end; else the block."""
    if block == "</details>\n":
        return "<details><summary>"
    return re.sub(r"^(<details><summary>)[^<>]*</summary>\n$", r"\1", block)


def test_no_html_gets_through(source: str) -> None:
    assert {folds(token.content) for token in parse(source) if token.type == "html_block"} == {"<details><summary>"}
    assert not [token for token in inline(source) if token.type in ("html_inline", "image", "link_open")]


def test_a_card_adds_its_badge_and_no_other_markup(report: Report) -> None:
    card = report.to_card()
    assert card.endswith(report.to_markdown().split("\n\n", 1)[1])
    assert {folds(token.content) for token in parse(card) if token.type == "html_block"} == {"<details><summary>"}
    found = [token for token in inline(card) if token.type in ("html_inline", "image", "link_open")]
    assert [token.attrGet("src") for token in found] == ["badge.svg"]


def test_texts_of_the_data_are_code(source: str) -> None:
    codes = {token.content for token in inline(source) if token.type == "code_inline"}
    assert HOSTILE in codes
    assert "No `one` | cats" in codes


def test_verdicts_come_first(source: str) -> None:
    assert source.index("**unsound**") < source.index("## Facts")
    assert "✅" in compose(example_document(5) | {"verdicts": {"shift": {"verdict": "sound"}}}).to_markdown()


def test_long_tables_are_cut_and_say_so(source: str) -> None:
    cut = [line for line in source.splitlines() if line.startswith("| `in this picture`")]
    assert cut
    assert "is # alone at home" not in source
    assert states(source, "more rows", "`tables/patterns.csv`")


@given(st.text(max_size=30))
def test_any_text_survives_as_code(value: str) -> None:
    line = one_line(value)
    tokens = parse("| a |\n| --- |\n| " + code(value) + " |\n")
    cells = [token.children for token in tokens if token.type == "inline"][1:]
    assert len(cells) == 1
    if line:
        assert [(child.type, child.content) for child in cells[0]] == [("code_inline", line)]


@given(st.text(alphabet="ab <>&*_`|[]()!\\#~@{}\n", max_size=30))
def test_any_text_survives_as_words(value: str) -> None:
    tokens = parse("| a |\n| --- |\n| x" + plain(value) + " |\n")
    cells = [token.children for token in tokens if token.type == "inline"][1:]
    assert len(cells) == 1
    assert {child.type for child in cells[0]} <= {"text", "text_special"}
    assert "".join(child.content for child in cells[0]) == ("x" + " ".join(value.split())).strip()
