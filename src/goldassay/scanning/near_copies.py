"""Near copies of whole items among documents: MinHash finds candidates, and their sets of shingles decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.scanning.words import ascii_letters, is_alone, point_table, readings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from goldassay.scanning.sought import SoughtText

SIMILARITY = 0.8
N_HASHES, N_BANDS = 128, 25
# A document longer than twice the longest item, and a page, has too many shingles to be a near copy, unless it says
# the same again and again.
_LONGER, _PAGE = 2, 4096
_ROOM = 1 << 14


class NearCopy(NamedTuple):
    """An item of which a document is a near copy.

    Attributes:
        item: From 0.
        similarity: Jaccard similarity of all of the item with the document.
        asked: Share of the question's shingles that the document has.
        answer: Of those of the answer; 1 where there is none.
    """

    item: int
    similarity: float
    asked: float
    answer: float

    @property
    def counts(self) -> bool:
        """Whether question and answer are there, too, and not only a long premise that both share."""
        return min(self.asked, self.answer) >= SIMILARITY


def joined(words: Sequence[str]) -> str:
    """Words as shingles are made of: a space before, between and after, none beside what is a word by itself."""
    plain = " ".join(words)
    if plain.isascii() or not any(map(is_alone, {word for word in words if len(word) == 1})):
        return f" {plain} "
    parts = [" "]
    alone = True
    for word in words:
        is_single = is_alone(word)
        if not alone and not is_single:
            parts.append(" ")
        parts.append(word)
        alone = is_single
    return "".join([*parts, " "])


@dataclass(frozen=True)
class NearTable:
    """Texts of items, by MinHash and by their shingles.

    Two texts are near copies if the sets of their shingles have |A and B| / |A or B| >= 0.8. Shingles are all runs of
    five characters of the words, spaces between them too: a sentence of n words has only n - 4 runs of five words, so
    that one changed word would leave .8 from 45 words on only (see `goldassay.data.near_copies`). Candidates share one
    of 25 bands of 5 minima of 128 hashes: a pair at the threshold is missed with (1 - .8^5)^25 = .00005, one at .9 with
    7e-10. Each candidate is confirmed by its sets. Equal texts are always found.

    Attributes:
        texts: The sequences that are sought: all of each item, in each of its renderings.
        shingles: Keys of all of a text, of its question, of its answer.
        offsets: Where each of these begins, (3 * M + 1,).
        slots: Values of bands.
        heads: First text with each.
        following: The next.
        longest: Characters of the longest text.

    Source: Broder 1997 (resemblance and shingles); Indyk and Motwani 1998 (bands).
    """

    texts: tuple[SoughtText, ...]
    shingles: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    slots: NDArray[np.uint64]
    heads: NDArray[np.int64]
    following: NDArray[np.int64]
    longest: int

    @classmethod
    def of(cls, texts: Iterable[SoughtText], answers: Sequence[tuple[str, ...]]) -> NearTable:
        """The table of all that is a whole item and has words.

        Args:
            texts: Sequences of words.
            answers: Of each item, for such as do not end in it.
        """
        from goldassay.scanning.near_kernels import chain_bands

        chosen = tuple(each for each in texts if each.is_whole and each.words)
        parts = [
            (each.words, each.words[slice(*each.asked)], each.words[slice(*each.answer)] or answers[each.item])
            for each in chosen
        ]
        points, starts = _points_of([joined(part) if part else "" for each in parts for part in each])
        shingles, offsets = _distinct(points, starts)
        bands = _sign(points, starts, np.arange(0, 3 * len(chosen), 3))[0]
        size = max(6, int(np.ceil(np.log2(max(1, bands.size) * 2))))
        slots, heads = np.zeros(1 << size, np.uint64), np.full(1 << size, -1, np.int64)
        following = np.empty(bands.size, np.int64)
        chain_bands(bands, slots, heads, following)
        longest = int(np.diff(starts)[::3].max(initial=0))
        return cls(chosen, shingles, offsets, slots, heads, following, longest)

    @property
    def most_bytes(self) -> int:
        """Bytes of a document from which on it is too long for a near copy; characters have up to four."""
        return 4 * (_LONGER * self.longest + _PAGE)

    def search(
        self,
        data: NDArray[np.uint8],
        begins: NDArray[np.int64],
        ends: NDArray[np.int64],
        text_of: Callable[[int], str | None],
    ) -> dict[int, list[NearCopy]]:
        """Of which items documents are near copies, {document: items}; the nearest rendering of each item.

        Args:
            data: UTF-8.
            begins: Where each document begins, (D,).
            ends: Where it ends, (D,).
            text_of: A document as Python reads it.
        """
        from goldassay.scanning.near_kernels import seek_near, write_words

        documents = np.flatnonzero((ends > begins) & (ends - begins <= self.most_bytes))
        if not documents.size or not self.texts:
            return {}
        begins, ends = begins[documents], ends[documents]
        points = np.empty(int((ends - begins).sum()) + 2 * documents.size, np.uint32)
        starts = np.empty(documents.size + 1, np.int64)
        left = write_words(data, begins, ends, ascii_letters(), point_table(), points, starts)
        found = self._search(documents[~left], points, np.append(starts[:-1][~left], starts[-1]), seek_near)
        by_hand = [
            (number, words)
            for number in documents[left].tolist()
            for words in readings_of(text_of(number) or "")
            if words
        ]
        if by_hand:
            numbers = np.array([number for number, _ in by_hand])
            found |= self._search(numbers, *_points_of([joined(words) for _, words in by_hand]), seek_near)
        return found

    def _search(
        self, documents: NDArray[np.int64], points: NDArray[np.uint32], starts: NDArray[np.int64], seek: Any
    ) -> dict[int, list[NearCopy]]:
        if not documents.size:
            return {}
        bands, sizes = _sign(points, starts)
        room = len(self.texts) + _ROOM
        numbers, shares = np.empty((room, 2), np.int64), np.empty((room, 3))
        best: dict[int, dict[int, NearCopy]] = {}
        first = 0
        while first < documents.size:
            n, first = seek(
                points, starts, bands, sizes, first, self.slots, self.heads, self.following, self.shingles,
                self.offsets, SIMILARITY, numbers, shares,
            )  # fmt: skip
            for (document, text), row in zip(numbers[:n].tolist(), shares[:n].tolist(), strict=True):
                copy = NearCopy(self.texts[text].item, *row)
                own = best.setdefault(int(documents[document]), {})
                before = own.get(copy.item)
                if before is None or (copy.counts, copy.similarity) > (before.counts, before.similarity):
                    own[copy.item] = copy
        return {document: list(own.values()) for document, own in best.items()}


def _points_of(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32), starts


def _distinct(points: NDArray[np.uint32], starts: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Keys of the distinct shingles of each text, and where they begin; none of an empty text."""
    from goldassay.scanning.near_kernels import distinct_shingles

    lengths = np.diff(starts)
    places = 1 << max(4, int(np.ceil(np.log2(2 * max(1, int(lengths.max(initial=1)))))))
    keys, stamps = np.zeros(places, np.uint64), np.full(places, -1, np.int64)
    found = np.empty(int(lengths.sum()), np.uint64)
    offsets = np.zeros(starts.size, np.int64)
    distinct_shingles(points, starts, keys, stamps, found, offsets)
    return found[: offsets[-1]].copy(), offsets


def _sign(
    points: NDArray[np.uint32], starts: NDArray[np.int64], chosen: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Bands (B, M) and numbers of distinct shingles (M,) of all texts, or of some."""
    from goldassay.data.near_copy_kernels import sign_texts

    if chosen is not None:
        lengths = np.diff(starts)[chosen]
        points = np.concatenate([points[starts[at] : starts[at + 1]] for at in chosen] or [points[:0]])
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    points.flags.writeable = False
    n = starts.size - 1
    odd = np.random.default_rng(0).integers(0, 2**31, N_HASHES, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    bands, sizes = np.empty((N_BANDS, n), np.uint64), np.empty(n, np.int64)
    sign_texts(points, starts, odd, N_BANDS, bands, sizes)
    return bands, sizes
