from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.content import Cell, rows_of
from tests.report.example import example_document
from tests.typed import compose

if TYPE_CHECKING:
    from goldassay.core.sections import Section, Table


def sections() -> dict[str, Section]:
    return {section.key: section for section in compose(example_document(30)).sections}


def table(section: Section, caption: str) -> Table:
    return next(each for each in section.tables if each.caption.startswith(caption))


def rows(section: Section, caption: str) -> tuple[tuple[Cell, ...], ...]:
    return rows_of(table(section, caption))


def test_sections_in_reading_order() -> None:
    assert list(sections()) == ["artifacts", "leakage", "instability", "shift", "facts", "inputs"]


def test_every_row_fills_its_table() -> None:
    for section in sections().values():
        for each in section.tables:
            assert {len(row) for row in rows_of(each)} == {len(each.columns)}, each.caption


def test_every_column_names_a_field_of_its_rows() -> None:
    for section in sections().values():
        for each in section.tables:
            fields = {key for row in each.rows for key in row}
            assert {column.key for column in each.columns} <= fields, each.caption
            assert len({column.key for column in each.columns}) == len(each.columns)


def test_tables_of_a_section_have_names_of_their_own() -> None:
    for section in sections().values():
        names = [each.name for each in section.tables]
        assert len(set(names)) == len(names)


def test_accuracies_are_points() -> None:
    found = rows(sections()["leakage"], "What each part")
    assert [cell.text for cell in found[2]] == [
        "hypothesis_only", "5", "58.7", "0.31", "34.3", "24.4", "97.8\N{NO-BREAK SPACE}%", "57.7",
    ]  # fmt: skip
    assert found[2][2].aside == "[57.7, 59.6]"
    assert found[2][2].sort == 0.5868
    assert found[0][6].text == "—"


def test_variances_are_squared_points() -> None:
    found = rows(sections()["instability"], "Where the variance")
    assert [cell.text for cell in found[2]][1:] == ["2.2925", "0.0105", "2.2820", "218", "137"]


def test_patterns_unfold_their_examples() -> None:
    row = rows(sections()["artifacts"], "Strongest")[0]
    assert row[0].code
    first, second = row[0].unfolds
    assert first.pieces == (
        ("in", True), (" ", False), ("this", True), (" ", False), ("picture", True), (" is what they said .", False),
    )  # fmt: skip
    assert first.aside == "entailment"
    assert second.text == "A man & a <b>woman</b> are outside ."
    assert second.aside == "neutral, against the pattern"


def test_settings_are_flat() -> None:
    found = rows(sections()["inputs"], "Settings")
    assert ("leakage.thresholds.unsound", "0.15") in {(row[0].text, row[1].text) for row in found}


def test_several_fingerprints_are_listed() -> None:
    document = example_document(5)
    document["inputs"][0]["sha256"] = ["aa", "bb"]
    section = next(each for each in compose(document).sections if each.key == "inputs")
    assert rows(section, "Inputs")[0][-1].text == "aa, bb"
