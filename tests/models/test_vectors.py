"""Files of word vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.errors import InputError
from goldassay.models.vectors import VectorFile

if TYPE_CHECKING:
    from pathlib import Path

GLOVE = "the 0.5 -1 2e-1\n. . . 1 2 3\ncafé 4 5 6\nthe 9 9 9\n"


@pytest.mark.parametrize("text", [GLOVE, f"4 3\n{GLOVE}", GLOVE.replace(" ", "\t"), GLOVE.replace("\n", " \r\n")])
def test_reads_what_is_wanted(tmp_path: Path, text: str):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8", newline="")
    file = VectorFile.check(path)
    assert (file.name, file.width) == ("vectors.txt", 3)
    places, found = file.read({"café": 7, "the": 2, "nowhere": 3, ". . .": 5})
    order = np.argsort(places)
    assert places[order].tolist() == [2, 5, 7]
    np.testing.assert_allclose(found[order], [[0.5, -1, 0.2], [1, 2, 3], [4, 5, 6]])
    assert file.read({"nowhere": 3})[1].shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("a 1 2 3\nb 1 2\n", 2, "the line has 2 numbers, those before have 3"),
        ("a 1 2 3\nb 1 2 3\nc 1 2 3 4\n", 3, "the line has 4 numbers, those before have 3"),
        ("2 3\na 1 2 3\nb 1\n", 3, "those before have 3"),
        ("just words\n", 1, "no word with its numbers"),
        ("", None, "no word vectors"),
    ],
)
def test_ragged_lines_are_refused_with_their_row(tmp_path: Path, text: str, row: int | None, message: str):
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as refusal:
        VectorFile.check(path)
    assert row is None or f"line {row}" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_values_that_are_no_numbers_are_refused(tmp_path: Path):
    path = tmp_path / "vectors.txt"
    for value in ("x", "nan", "inf"):
        path.write_text(f"a 1 2 3\nb 1 {value} 3\n")
        with pytest.raises(InputError, match="line 2"):
            VectorFile.check(path).read({"b": 1})
    with pytest.raises(InputError, match="cannot be read"):
        VectorFile.check(tmp_path / "none.txt")
