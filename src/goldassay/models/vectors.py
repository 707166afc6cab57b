"""Word vectors from a text file, as word2vec and GloVe write them: a word and its numbers on each line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors that was looked through.

    Attributes:
        name: Of the file.
        sha256: Of its content.
        path: Where it is.
        width: Numbers a word.
    """

    name: str
    sha256: str
    path: str
    width: int

    @classmethod
    def check(cls, path: str | os.PathLike[str]) -> VectorFile:
        """Look through a file once, before anything is trained.

        Raises:
            InputError: It cannot be read, or a line has another number of numbers than the first; the row is named.
        """
        digest, width = hashlib.sha256(), 0
        for row, line in _lines(path, digest):
            width = width or _width_of(path, row, line)
            _parts(path, row, line, width)
        if not width:
            raise InputError(
                "there are no word vectors", file=path, mend="give a file with a word and its numbers a line"
            )
        return cls(Path(path).name, digest.hexdigest(), str(Path(path).absolute()), width)

    def read(self, numbers: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The vectors of some words.

        Args:
            numbers: A number for each word that is wanted.

        Returns:
            The numbers of the words that are in the file, (n,), and their vectors, (n, width). Of a word that stands
            there twice the first counts.

        Raises:
            InputError: A value is no number; the row is named.
        """
        found: dict[int, NDArray[np.float32]] = {}
        for row, line in _lines(self.path):
            word, values = _parts(self.path, row, line, self.width)
            number = numbers.get(word)
            if number is not None and number not in found:
                found[number] = _values(self.path, row, values)
        places = np.fromiter(found, np.int64, len(found))
        return places, np.array(list(found.values()), np.float32).reshape(len(found), self.width)


def _lines(path: str | os.PathLike[str], digest: Any = None) -> Iterator[tuple[int, bytes]]:
    """Row numbers from 1 and lines, without word2vec's first one (how many words, how many numbers)."""
    try:
        with Path(path).open("rb") as file:
            for row, line in enumerate(file, 1):
                if digest is not None:
                    digest.update(line)
                content = line.strip(b" \t\r\n")
                if content and not (row == 1 and len(parts := content.split()) == 2 and all(map(bytes.isdigit, parts))):
                    yield row, content.replace(b"\t", b" ")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, mend="check the path") from error


def _width_of(path: str | os.PathLike[str], row: int, line: bytes) -> int:
    width = 0
    for value in reversed(line.split(b" ")[1:]):
        if not _is_number(value):
            break
        width += 1
    if width < 2:
        raise InputError(
            "there is no word with its numbers", file=path, row=row, mend="give word2vec's or GloVe's text"
        )
    return width


def _parts(path: str | os.PathLike[str], row: int, line: bytes, width: int) -> tuple[str, bytes]:
    """The word and its numbers; a word may hold spaces, as some of GloVe's do, but no number follows it."""
    extra = line.count(b" ") - width
    head = line.split(b" ", extra + 1) if extra >= 0 else []
    if not head or (extra and _is_number(head[-2])):
        n = line.count(b" ")
        raise InputError(
            f"the line has {n} numbers, those before have {width}", file=path, row=row, mend="correct or drop the line"
        )
    return b" ".join(head[:-1]).decode("utf-8", "replace"), head[-1]


def _values(path: str | os.PathLike[str], row: int, values: bytes) -> NDArray[np.float32]:
    try:
        vector = np.array(values.split(b" "), np.float32)
    except ValueError as error:
        raise InputError("a value is no number", file=path, row=row, mend="correct or drop the line") from error
    if not np.isfinite(vector).all():
        raise InputError("a value is not finite", file=path, row=row, mend="correct or drop the line")
    return vector


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
