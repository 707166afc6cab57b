"""Files of word vectors."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.lab.models.vocabulary import VectorFile

if TYPE_CHECKING:
    from pathlib import Path

GLOVE = "the 0.5 -1 2e-1\n. . . 1 2 3\ncafé 4 5 6\nthe 9 9 9\n"
VECTORS = {"the": [0.5, -1, 0.2], "...": [1, 2, 3], "café": [4, 5, 6]}


def binary(vectors: dict[str, list[float]], end: bytes = b"\n", header: str | None = None) -> bytes:
    """As word2vec writes it: an end of line behind each word's numbers; newer programs leave it out."""
    width = len(next(iter(vectors.values())))
    header = f"{len(vectors)} {width}\n" if header is None else header
    words = (word.encode() + b" " + np.array(values, "<f4").tobytes() + end for word, values in vectors.items())
    return header.encode() + b"".join(words)


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
        ("2 3\na 1 2 3\nb 1\n", 3, "the line has 1 numbers, the first line says 3"),
        ("1 2\na 1 2 3\n", 2, "the line has 3 numbers, the first line says 2"),
        ("3 3\na 1 2 3\nb 1 2 3", 3, "there are 2 words, and the first line says 3"),
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
    with pytest.raises(InputError, match="there is no such file"):
        VectorFile.check(tmp_path / "none.txt")
    with pytest.raises(InputError, match="the folder holds no vectors"):
        VectorFile.check(tmp_path)


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress])
def test_the_binary_holds_the_same_as_the_text(tmp_path: Path, end: bytes, compress):
    path = tmp_path / "vectors"
    path.write_bytes(compress(binary(VECTORS, end)))
    file = VectorFile.check(path)
    assert file.width == 3
    places, found = file.read({"café": 7, "the": 2, "nowhere": 3})
    assert places.tolist() == [2, 7]
    np.testing.assert_array_equal(found, np.array([VECTORS["the"], VECTORS["café"]], np.float32))
    path.write_bytes(compress(GLOVE.encode()))
    assert VectorFile.check(path).read({"café": 7})[1].tolist() == [[4, 5, 6]]


def test_a_binary_of_many_blocks_is_read_across_their_borders(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("goldassay.data.source.BLOCK", 37)
    rng = np.random.default_rng(0)
    vectors = {f"word{i}": rng.normal(size=5).astype(np.float32).tolist() for i in range(50)}
    (tmp_path / "v.bin").write_bytes(binary(vectors))
    text = "".join(f"{word} {' '.join(map(str, values))}\n" for word, values in vectors.items())
    (tmp_path / "v.txt").write_text(text)
    numbers = {word: place for place, word in enumerate(vectors)}
    of_binary, of_text = (VectorFile.check(tmp_path / name).read(numbers) for name in ("v.bin", "v.txt"))
    for one, two in zip(of_binary, of_text, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(of_binary[1], np.array(list(vectors.values()), np.float32))


WHOLE = binary(VECTORS)
DAMAGED = {
    "cut in the numbers": (WHOLE[:-6], "the file ends in word 3 of the 3 that its first line says"),
    "cut in a word": (WHOLE[:24], "the file ends in word 2 of the 3"),
    "more than promised": (binary(VECTORS, header="2 3\n"), "goes on after the 2 words"),
    "another width": (binary(VECTORS, header="3 4\n"), "word 2 is not text: .* or its words do not have 4 numbers"),
    "no header": (binary(VECTORS, header=""), "not text, and does not begin as word2vec's binary does"),
    "gzip cut short": (gzip.compress(WHOLE)[:-9], "gzip file is damaged or cut short"),
    "gzip of text cut short": (gzip.compress(GLOVE.encode() * 99)[:-9], "gzip file is damaged or cut short"),
    "gzip damaged": (gzip.compress(b"a 1 2 3\n" * 999)[:30] + b"xxxx", "gzip file is damaged or cut short"),
    "zstandard cut short": (zstandard.compress(WHOLE)[:-5], "zstandard file is"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_refused_in_one_line_with_their_name(tmp_path: Path, case: str):
    content, message = DAMAGED[case]
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as refusal:
        VectorFile.check(path)
    assert "vectors.bin" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_is_not_finite_in_a_binary_is_refused_where_it_is_wanted(tmp_path: Path):
    path = tmp_path / "vectors.bin"
    path.write_bytes(binary({"a": [1, 2], "b": [float("nan"), 1]}))
    file = VectorFile.check(path)
    assert file.read({"a": 0})[1].tolist() == [[1, 2]]
    with pytest.raises(InputError, match="a value of word 2 is not finite"):
        file.read({"b": 0})
