from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.sections import outline
from tests.report.example import example_document

if TYPE_CHECKING:
    from goldassay.report.outline import Section, Table


def sections() -> dict[str, Section]:
    return {section.key: section for section in outline(example_document(30))}


def table(section: Section, caption: str) -> Table:
    return next(each for each in section.tables if each.caption.startswith(caption))


def test_sections_in_reading_order() -> None:
    assert list(sections()) == ["facts", "artifacts", "leakage", "instability", "shift", "inputs"]


def test_every_row_fills_its_table() -> None:
    for section in sections().values():
        for each in section.tables:
            assert {len(row) for row in each.rows} == {len(each.columns)}, each.caption


def test_accuracies_are_points() -> None:
    rows = table(sections()["leakage"], "What each part").rows
    assert [cell.text for cell in rows[2]] == [
        "hypothesis_only", "5", "58.7", "0.31", "34.3", "24.4", "97.8\N{NO-BREAK SPACE}%",
    ]  # fmt: skip
    assert rows[2][2].aside == "[57.7, 59.6]"
    assert rows[2][2].sort == 0.5868
    assert rows[0][6].text == "—"


def test_variances_are_squared_points() -> None:
    rows = table(sections()["instability"], "Where the variance").rows
    assert [cell.text for cell in rows[2]][1:] == ["2.2925", "0.0105", "2.2820", "218", "137"]


def test_patterns_unfold_their_examples() -> None:
    row = table(sections()["artifacts"], "Strongest").rows[0]
    assert row[0].code
    first, second = row[0].unfolds
    assert first.pieces == (
        ("in", True), (" ", False), ("this", True), (" ", False), ("picture", True), (" is what they said .", False),
    )  # fmt: skip
    assert first.aside == "entailment"
    assert second.text == "A man & a <b>woman</b> are outside ."
    assert second.aside == "neutral, against the pattern"


def test_settings_are_flat() -> None:
    rows = table(sections()["inputs"], "Settings").rows
    assert ("leakage.thresholds.unsound", "0.15") in {(row[0].text, row[1].text) for row in rows}


def test_several_fingerprints_are_listed() -> None:
    document = example_document(5)
    document["inputs"][0]["sha256"] = ["aa", "bb"]
    section = next(each for each in outline(document) if each.key == "inputs")
    assert table(section, "Inputs").rows[0][-1].text == "aa, bb"
