"""What a row's own page says beside its columns, from tables of an audit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import escape

from goldassay.view.details import Word, pieces
from goldassay.view.opening import open_workbench
from tests.stated import states
from tests.view.made import HOSTILE, ask, items, rows, save_report, served

if TYPE_CHECKING:
    from pathlib import Path

WORD = Word("neutral", "word: neutral", is_strong=False)


def test_pieces_are_the_text_and_mark_what_a_loop_marks() -> None:
    reached: Counter[tuple[bool, bool]] = Counter()

    @given(
        st.text(min_size=1, max_size=30),
        st.lists(st.tuples(st.integers(0, 35), st.integers(0, 35)), max_size=6),
        st.lists(st.integers(0, 34), max_size=4, unique=True),
    )
    @example("a marked text", [(0, 3), (2, 8), (40, 50), (9, 9)], [1, 11])
    def check(text: str, spans: list[tuple[int, int]], begins: list[int]) -> None:
        words = [(at, at + 1, WORD) for at in begins if at < len(text)]
        found = pieces(text, spans, words)
        assert "".join(part for part, *_ in found) == text
        told = [(marked, word is not None) for part, marked, word in found for _ in part]
        assert told == [
            (any(low <= at < high for low, high in spans), any(low <= at < high for low, high, _ in words))
            for at in range(len(text))
        ]
        reached.update(told)

    check()
    # Marked, with a word, with both, and plain.
    assert set(reached) == {(True, False), (False, True), (True, True), (False, False)}


def add_tables(folder: Path, first: dict[str, object]) -> None:
    """The tables of an audit that say more of the first row."""
    tables = {
        "words": {"role": ["hypothesis"], "word": ["nobody"], "label": [str(first["label"])], "support": [40],
                  "probability": [0.9], "lift": [2.5], "q_value": [1e-9]},
        "readers": {"example_id": ["row-0"], "the whole input: quick probe": ["neutral"],
                    "hypothesis: quick probe": [str(first["label"])], "hypothesis: form by lift": [None]},
        "near_copies": {"example_id": ["row-0", "row-0"], "part": ["evaluation part", "training part"],
                        "kind": ["near copy", "same texts"], "copy_id": ["row-1", "t7"],
                        "label": [str(first["label"]), "strange"], "text": [None, HOSTILE]},
        "checkpoints": {"checkpoint": ["10", "20", "30"], "model": ["m"] * 3, "n_runs": [2] * 3,
                        "measure": ["probability of the label"] * 3, "mean": [0.5] * 3},
    }  # fmt: skip
    for name, columns in tables.items():
        schema = {key: pl.String for key, values in columns.items() if values == [None]}
        pl.DataFrame(columns, schema_overrides=schema).write_parquet(folder / "tables" / f"{name}.parquet")


def test_a_row_has_words_readers_copies_and_checkpoints(tmp_path: Path) -> None:
    table = rows().with_columns(
        hypothesis=pl.Series(["Nobody is outside."] + ["A dog."] * 229),
        runs_over_checkpoints=pl.Series([[0.25, 0.5, 1.0]] * 230, dtype=pl.List(pl.Float32)),
    )
    folder = save_report(tmp_path / "report", table)
    first = table.row(0, named=True)
    add_tables(folder, first)
    with served(open_workbench(folder)) as address:
        page, row = ask(address)[1], ask(address, "row/0")[1]
    said = f"nobody: {first['label']} in 90\N{NO-BREAK SPACE}% of 40 texts"
    shaded = f'<span class="word own strong" title="{said}">Nobody</span>'
    assert shaded in page
    assert shaded in row
    assert re.search(r'<th scope="row">quick probe</th><td><bdi>neutral</bdi>', row)
    assert "form by lift" not in row
    assert "another label" in row
    assert escape(table["premise"][1]) in row
    assert HOSTILE not in row
    assert "&lt;script&gt;document.title" in row
    assert 'points="0.0,22.5 50.0,15.0 100.0,0.0 "' in row
    assert "0.25 at 10, 0.50 at 20, 1.00 at 30" in row


def test_a_report_without_these_tables_is_shown_all_the_same(tmp_path: Path) -> None:
    with served(open_workbench(save_report(tmp_path / "report", rows()))) as address:
        status, row, _ = ask(address, "row/0")
    assert status == 200
    assert "What readers" not in row
    assert "Copies of it" not in row


def test_words_shade_choices_by_whether_they_are_right(tmp_path: Path) -> None:
    folder = save_report(tmp_path / "report", items())
    pl.DataFrame(
        {"role": ["choices"] * 2, "word": ["two", "three"], "label": ["right", "wrong"], "support": [20, 20],
         "probability": [0.9, 0.9], "lift": [1.3, 1.3], "q_value": [0.0, 0.0]}
    ).write_parquet(folder / "tables" / "words.parquet")  # fmt: skip
    with served(open_workbench(folder)) as address:
        page = ask(address)[1]
    assert states(page, '<span class="word own"', "two: right in 90\N{NO-BREAK SPACE}% of 20 texts", ">two</span>")
    # It is the right choice, and its word leans to wrong ones.
    assert states(page, '<span class="word"', "three: wrong in 90\N{NO-BREAK SPACE}% of 20 texts", ">three</span>")


def test_passages_that_no_item_has_are_no_column(tmp_path: Path) -> None:
    bare = items().with_columns(passage=pl.lit(""))
    assert open_workbench(save_report(tmp_path / "bare", bare)).table.texts == ("question", "choices")
    assert open_workbench(save_report(tmp_path / "report", items())).table.texts == ("passage", "question", "choices")


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("words", {"role": [1], "word": ["a"], "label": ["b"], "support": [1], "probability": [0.5], "lift": [1.0]}),
        ("readers", {"example_id": ["row-0"], "hypothesis: probe": [0.5]}),
        ("near_copies", {"example_id": ["row-0"], "part": ["x"], "kind": ["y"], "copy_id": ["row-1"], "label": [[1]],
                         "text": ["z"]}),
        ("checkpoints", {"checkpoint": [[1], [2]], "model": ["m"] * 2, "n_runs": [1] * 2, "measure": ["x"] * 2}),
    ],
)  # fmt: skip
def test_a_table_of_another_kind_is_named(tmp_path: Path, name: str, columns: dict[str, list[object]]) -> None:
    table = rows().with_columns(runs_over_checkpoints=pl.Series([[0.2, 0.4]] * 230, dtype=pl.List(pl.Float32)))
    folder = save_report(tmp_path / "report", table)
    pl.DataFrame(columns).write_parquet(folder / "tables" / f"{name}.parquet")
    with served(open_workbench(folder)) as address:
        status, told, _ = ask(address, "row/0")
    assert status == 400
    assert f"{name}.parquet" in told


def test_tables_that_lack_a_column_say_nothing(tmp_path: Path) -> None:
    folder = save_report(tmp_path / "report", rows())
    for name in ("words", "readers", "near_copies", "pattern_examples", "checkpoints"):
        pl.DataFrame({"strange": [1]}).write_parquet(folder / "tables" / f"{name}.parquet")
    with served(open_workbench(folder)) as address:
        assert (ask(address)[0], ask(address, "row/0")[0]) == (200, 200)
