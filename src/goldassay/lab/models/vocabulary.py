"""A vocabulary of words, and of runs of words, learnt from the training texts.

Word vectors from a file, as word2vec and GloVe write them: text, or word2vec's binary; also gzip or zstandard.

Text has a word and its numbers on each line, with or without a first line that says how many words and how many
numbers; the binary begins with that line, and each word is followed by its numbers as 32-bit floats, the lowest byte
first. Which of them a file is, is known by its bytes, whatever it is called.

Source: Mikolov, Sutskever, Chen, Corrado and Dean 2013; Pennington, Socher and Manning 2014.

Rows of different lengths in one flat array.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.data.source import decompressed, read_head
from goldassay.data.tokenization import tokenize

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray


PADDING, UNKNOWN = 0, 1
_FIRST_WORD = 2


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of words; 0 is padding and 1 every word that is not known.

    Words seen less than `min_count` times in training are not known, so that the number for the unknown is trained
    on something.

    Attributes:
        words: In the order of their numbers, from 2 on.
        tokenizer: Of `goldassay.data.tokenization`.
        lowercase: Whether case is ignored.
    """

    words: tuple[str, ...]
    tokenizer: str = "treebank"
    lowercase: bool = True
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words, _FIRST_WORD)})

    @classmethod
    def learn(
        cls,
        columns: Iterable[Sequence[str]],
        tokenizer: str = "treebank",
        *,
        lowercase: bool = True,
        min_count: int = 2,
    ) -> Vocabulary:
        """Number the words of some columns of texts, the frequent ones first; of equals in alphabetical order."""
        counts: dict[str, int] = {}
        for texts in columns:
            corpus = tokenize(texts, tokenizer)
            found = np.bincount(corpus.ids, minlength=len(corpus.vocabulary))
            for word, count in zip(corpus.vocabulary, found.tolist(), strict=True):
                word = word.lower() if lowercase else word
                counts[word] = counts.get(word, 0) + count
        kept = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
        return cls(tuple(kept), tokenizer, lowercase)

    def __len__(self) -> int:
        return len(self.words) + _FIRST_WORD

    def encode(self, texts: Sequence[str]) -> Ragged:
        """Numbers of the words of each text."""
        corpus = tokenize(texts, self.tokenizer)
        known = self._numbers
        words = (word.lower() for word in corpus.vocabulary) if self.lowercase else corpus.vocabulary
        numbers = np.fromiter((known.get(word, UNKNOWN) for word in words), np.int64, len(corpus.vocabulary))
        return Ragged(numbers[corpus.ids] if corpus.ids.size else np.zeros(0, np.int64), corpus.offsets)

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each known word."""
        return self._numbers

    def word(self, number: int) -> str:
        """The word of a number."""
        return self.words[number - _FIRST_WORD] if number >= _FIRST_WORD else ("", "<unknown>")[number]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"words": list(self.words), "tokenizer": self.tokenizer, "lowercase": self.lowercase}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Vocabulary:
        """From what `to_dict` gave."""
        return cls(tuple(content["words"]), content["tokenizer"], content["lowercase"])


@dataclass(frozen=True)
class Grams:
    """Numbers of runs of n neighboring words, n from 2 up; a run that is not known has none.

    Attributes:
        keys: For each n from 2, the known runs as one number each, ascending.
        n_words: Of the vocabulary: the base in which words are digits of a key.
    """

    keys: tuple[NDArray[np.int64], ...]
    n_words: int

    @classmethod
    def learn(cls, columns: Iterable[Ragged], n_words: int, longest: int, min_count: int = 2) -> Grams:
        """The runs that occur `min_count` times or more in some columns of encoded texts."""
        found: list[list[NDArray[np.int64]]] = [[] for _ in range(2, longest + 1)]
        for texts in columns:
            for n in range(2, longest + 1):
                found[n - 2].append(_keys(texts, n, n_words)[0])
        kept = []
        for parts in found:
            keys, counts = np.unique(np.concatenate(parts), return_counts=True)
            kept.append(keys[counts >= min_count])
        return cls(tuple(kept), n_words)

    def __len__(self) -> int:
        return sum(keys.size for keys in self.keys)

    def encode(self, texts: Ragged) -> Ragged:
        """Numbers from 0 of the known runs of each text, the shorter ones first."""
        numbers, rows, first = [], [], 0
        for n, known in enumerate(self.keys, start=2):
            keys, row = _keys(texts, n, self.n_words)
            at = np.minimum(np.searchsorted(known, keys), max(known.size - 1, 0))
            is_known = known[at] == keys if known.size else np.zeros(keys.size, np.bool_)
            numbers.append(at[is_known] + first)
            rows.append(row[is_known])
            first += known.size
        if not numbers:
            return Ragged.empty(len(texts))
        row = np.concatenate(rows)
        flat = np.concatenate(numbers)[np.argsort(row, kind="stable")]
        counts = np.bincount(row, minlength=len(texts))
        return Ragged(flat, np.concatenate(([0], np.cumsum(counts))))


def _keys(texts: Ragged, n: int, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every run of n words as one number, and the text it stands in."""
    row = np.repeat(np.arange(len(texts)), texts.lengths)
    n_runs = max(texts.flat.size - n + 1, 0)
    inside = row[:n_runs] == row[n - 1 : n - 1 + n_runs]
    keys = np.zeros(n_runs, np.int64)
    for position in range(n):
        keys = keys * n_words + texts.flat[position : position + n_runs]
    return keys[inside], row[:n_runs][inside]


_FLOAT, _BOM = 4, b"\xef\xbb\xbf"
# No word of a binary is as long; where none ends in so many bytes, the bytes are not what they should be.
_LONGEST_WORD = 1 << 14
_CUT_SHORT = "copy or download the file again"


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors that was looked through.

    Attributes:
        name: Of the file.
        sha256: Of its content, decompressed.
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
            InputError: It cannot be read, its compression is damaged, a line has another number of numbers than the
                first, or there are fewer words than its first line says; the row is named.
        """
        place = Path(path)
        if not place.is_file():
            problem = "the folder holds no vectors as such" if place.is_dir() else "there is no such file"
            raise InputError(problem, file=path, mend="name the file of word vectors")
        digest, width = hashlib.sha256(), 0
        for _, _, found in _records(place, digest.update):
            width = found
        if not width:
            raise InputError(
                "there are no word vectors", file=path, mend="give a file with a word and its numbers a line"
            )
        return cls(place.name, digest.hexdigest(), str(place.absolute()), width)

    def read(self, numbers: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The vectors of some words.

        Args:
            numbers: A number for each word that is wanted.

        Returns:
            The numbers of the words that are in the file, (n,), and their vectors, (n, width). Of a word that stands
            there twice the first counts.

        Raises:
            InputError: A value is no number, or the file is no longer what was looked through; the row is named.
        """
        wanted = {word.encode(): number for word, number in numbers.items()}
        found: dict[int, NDArray[np.float32]] = {}
        for word, values, width in _records(Path(self.path)):
            number = wanted.get(word)
            if number is not None and number not in found:
                if width != self.width:
                    raise InputError("the file was changed meanwhile", file=self.path, mend="give the command again")
                found[number] = values()
        places = np.fromiter(found, np.int64, len(found))
        return places, np.array(list(found.values()), np.float32).reshape(len(found), self.width)


# A word, its numbers when they are asked for, and how many each word has.
Record = tuple[bytes, Callable[[], "NDArray[np.float32]"], int]


def _records(path: Path, seen: Callable[[bytes], object] = lambda _: None) -> Iterator[Record]:
    head = read_head(path)
    return _binary(path, seen) if _is_binary(head) else _text(path, seen)


def _is_binary(head: bytes) -> bool:
    """Whether there are bytes that no text holds; numbers in binary hold some before long."""
    return any(byte < 32 and byte not in b"\t\n\v\f\r\x1c\x1d\x1e\x1f" for byte in set(head))


def _header(line: bytes) -> tuple[int, int] | None:
    """How many words and how many numbers, if a line says that."""
    parts = line.split()
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(map(bytes.isdigit, parts)) else None


def _text(path: Path, seen: Callable[[bytes], object]) -> Iterator[Record]:
    promised: tuple[int, int] | None = None
    width = n_words = row = 0
    for row, line in _lines(path, seen):
        if row == 1 and (promised := _header(line)):
            width = promised[1]
            continue
        width = width or _width_of(path, row, line)
        word, values = _parts(path, row, line, width, by_header=promised is not None)
        n_words += 1
        yield word, partial(_values, path, row, values), width
    if promised and n_words < promised[0]:
        raise InputError(
            f"there are {n_words:,} words, and the first line says {promised[0]:,}", file=path, row=row, mend=_CUT_SHORT
        )


def _lines(path: Path, seen: Callable[[bytes], object]) -> Iterator[tuple[int, bytes]]:
    """Row numbers from 1 and the lines that are not blank, parted by single spaces."""
    row, rest = 0, b""
    for block, _ in decompressed(path):
        seen(block)
        *lines, rest = (rest + block).split(b"\n")
        if not row and lines:
            lines[0] = lines[0].removeprefix(_BOM)
        for line in lines:
            row += 1
            if content := line.strip(b" \t\r"):
                yield row, content.replace(b"\t", b" ")
    if content := rest.strip(b" \t\r"):
        yield row + 1, content.replace(b"\t", b" ")


def _width_of(path: Path, row: int, line: bytes) -> int:
    width = 0
    for value in reversed(line.split(b" ")[1:]):
        if not _is_number(value):
            break
        width += 1
    if width < 2:
        raise InputError(
            "there is no word with its numbers", file=path, row=row, mend="give word2vec's or GloVe's vectors"
        )
    return width


def _parts(path: Path, row: int, line: bytes, width: int, *, by_header: bool) -> tuple[bytes, bytes]:
    """The word and its numbers; a word may hold spaces, as some of GloVe's do, but no number follows it."""
    extra = line.count(b" ") - width
    head = line.split(b" ", extra + 1) if extra >= 0 else []
    if not head or (extra and _is_number(head[-2])):
        n = line.count(b" ")
        before = f"the first line says {width}" if by_header else f"those before have {width}"
        raise InputError(f"the line has {n} numbers, {before}", file=path, row=row, mend="correct or drop the line")
    return b" ".join(head[:-1]), head[-1]


def _values(path: Path, row: int, values: bytes) -> NDArray[np.float32]:
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


def _binary(path: Path, seen: Callable[[bytes], object]) -> Iterator[Record]:
    source = _Bytes(path, seen)
    promised = _header(source.until(b"\n", 64) or b"")
    if promised is None or promised[1] < 2:
        raise InputError(
            "the file is not text, and does not begin as word2vec's binary does",
            file=path,
            row=1,
            mend="give word2vec's or GloVe's vectors",
        )
    n_words, width = promised
    for place in range(1, n_words + 1):
        word = source.until(b" ", _LONGEST_WORD)
        word = None if word is None else word.lstrip(b"\r\n")
        if word is not None and (not word or any(byte < 32 for byte in word)):
            raise InputError(
                f"word {place:,} is not text: the file is damaged, or its words do not have {width} numbers each",
                file=path,
                mend=_CUT_SHORT,
            )
        values = None if word is None else source.take(_FLOAT * width)
        if word is None or values is None:
            raise InputError(
                f"the file ends in word {place:,} of the {n_words:,} that its first line says",
                file=path,
                mend=_CUT_SHORT,
            )
        yield word, partial(_numbers, path, place, values), width
    if not source.only_blank():
        raise InputError(
            f"the file goes on after the {n_words:,} words that its first line says", file=path, mend=_CUT_SHORT
        )


def _numbers(path: Path, place: int, values: bytes) -> NDArray[np.float32]:
    vector = np.frombuffer(values, "<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise InputError(f"a value of word {place:,} is not finite", file=path, mend=_CUT_SHORT)
    return vector


class _Bytes:
    """The bytes of a file, taken piece by piece.

    Args:
        path: Of the file.
        seen: Told each block.
    """

    def __init__(self, path: Path, seen: Callable[[bytes], object]) -> None:
        self._blocks, self._seen = decompressed(path), seen
        self._held, self._at = b"", 0

    def _more(self) -> bool:
        for block, _ in self._blocks:
            self._seen(block)
            self._held, self._at = self._held[self._at :] + block, 0
            return True
        return False

    def until(self, end: bytes, longest: int) -> bytes | None:
        """All before a byte, which is passed over; None where there is none, or not within `longest` bytes."""
        while (found := self._held.find(end, self._at)) < 0:
            if len(self._held) - self._at > longest or not self._more():
                return None
        taken, self._at = self._held[self._at : found], found + 1
        return taken

    def take(self, n: int) -> bytes | None:
        """So many bytes; None where there are fewer."""
        while len(self._held) - self._at < n:
            if not self._more():
                return None
        self._at += n
        return self._held[self._at - n : self._at]

    def only_blank(self) -> bool:
        """Whether nothing is left but ends of lines; reads to the end."""
        blank = True
        while True:
            blank &= not self._held[self._at :].strip(b"\r\n \t")
            self._at = len(self._held)
            if not self._more():
                return blank


@dataclass(frozen=True)
class Ragged:
    """N rows of whole numbers.

    Attributes:
        flat: All rows one after the other, (total,).
        offsets: Where each row starts, and the end of the last, (N+1,).
    """

    flat: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """Join rows."""
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        flat = np.fromiter((value for row in rows for value in row), np.int64, int(lengths.sum()))
        return cls(flat, np.concatenate(([0], np.cumsum(lengths))))

    @classmethod
    def empty(cls, n_rows: int) -> Ragged:
        """Rows without anything in them."""
        return cls(np.zeros(0, np.int64), np.zeros(n_rows + 1, np.int64))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Of each row, (N,)."""
        return np.diff(self.offsets)

    def row(self, index: int) -> NDArray[np.int64]:
        """One row."""
        return self.flat[self.offsets[index] : self.offsets[index + 1]]

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Some rows, in the order given."""
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        # Position in the result, shifted by how far its row lies from where it lay.
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.flat[places], offsets)

    def beside(self, other: Ragged) -> Ragged:
        """Each row followed by the other's."""
        if not other.flat.size:
            return self
        offsets = self.offsets + other.offsets
        flat = np.empty(offsets[-1], np.int64)
        flat[np.arange(self.flat.size) + np.repeat(other.offsets[:-1], self.lengths)] = self.flat
        flat[np.arange(other.flat.size) + np.repeat(self.offsets[1:], other.lengths)] = other.flat
        return Ragged(flat, offsets)

    def padded(self, fill: int = 0, width: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """As a rectangle (N, L) filled up behind each row, with what is not filling, (N, L); L is at least 1."""
        lengths = self.lengths
        longest = max(1, int(lengths.max(initial=0)) if width is None else width)
        real = np.arange(longest) < lengths[:, None]
        table = np.full(real.shape, fill, np.int64)
        table[real] = self.flat
        return table, real

    def cut(self, width: int) -> tuple[Ragged, NDArray[np.bool_]]:
        """Rows of at most `width`, and which were longer, (N,)."""
        lengths = self.lengths
        longer = lengths > width
        if not longer.any():
            return self, longer
        kept = np.minimum(lengths, width)
        places = np.arange(self.flat.size) - np.repeat(self.offsets[:-1], lengths) < np.repeat(kept, lengths)
        return Ragged(self.flat[places], np.concatenate(([0], np.cumsum(kept)))), longer
