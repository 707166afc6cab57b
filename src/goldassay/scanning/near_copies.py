"""Near copies of whole items among documents: MinHash finds candidates, and their sets of shingles decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.data.near_copies import SHINGLE, SIMILARITY
from goldassay.kernels.minhash import NearIndex, Shingles
from goldassay.kernels.splitting import code_points, write_words
from goldassay.kernels.words import ascii_letters, is_alone, point_table, readings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from goldassay.scanning.sought import SoughtText

N_BANDS, N_ROWS = 25, 5
# A document longer than twice the longest item, and a page, has too many shingles to be a near copy, unless it says
# the same again and again.
_LONGER, _PAGE = 2, 4096


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
    of 25 bands of 5 minima: a pair at the threshold is missed with (1 - .8^5)^25 = .00005, one at .9 with
    7e-10. Each candidate is confirmed by its sets. Equal texts are always found.

    Attributes:
        texts: The sequences that are sought: all of each item, in each of its renderings.
        index: The shingles of all of each text, of its question, and of its answer.
        longest: Characters of the longest text.

    Source: see `kernels.minhash`.
    """

    texts: tuple[SoughtText, ...]
    index: NearIndex
    longest: int

    @classmethod
    def of(cls, texts: Iterable[SoughtText], answers: Sequence[tuple[str, ...]]) -> NearTable:
        """The table of all that is a whole item and has words.

        Args:
            texts: Sequences of words.
            answers: Of each item, for such as do not end in it.
        """
        chosen = tuple(each for each in texts if each.is_whole and each.words)
        parts = [
            (each.words, each.words[slice(*each.asked)], each.words[slice(*each.answer)] or answers[each.item])
            for each in chosen
        ]
        points, starts = code_points([joined(part) if part else "" for each in parts for part in each])
        index = NearIndex.of(Shingles.of_characters(points, starts[:-1], starts[1:], SHINGLE), 3, N_BANDS, N_ROWS)
        return cls(chosen, index, int(np.diff(starts)[::3].max(initial=0)))

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
        documents = np.flatnonzero((ends > begins) & (ends - begins <= self.most_bytes))
        if not documents.size or not self.texts:
            return {}
        begins, ends = begins[documents], ends[documents]
        points = np.empty(int((ends - begins).sum()) + 2 * documents.size, np.uint32)
        starts = np.empty(documents.size + 1, np.int64)
        left = write_words(data, begins, ends, ascii_letters(), point_table(), points, starts)
        found = self._search(documents[~left], points, starts[:-1][~left], starts[1:][~left])
        by_hand = [
            (number, words)
            for number in documents[left].tolist()
            for words in readings_of(text_of(number) or "")
            if words
        ]
        if by_hand:
            points, starts = code_points([joined(words) for _, words in by_hand])
            found |= self._search(np.array([number for number, _ in by_hand]), points, starts[:-1], starts[1:])
        return found

    def _search(
        self,
        documents: NDArray[np.int64],
        points: NDArray[np.uint32],
        begins: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> dict[int, list[NearCopy]]:
        best: dict[int, dict[int, NearCopy]] = {}
        shingles = Shingles.of_characters(points, begins, ends, SHINGLE)
        for hits, shares in self.index.search(shingles, SIMILARITY):
            for (document, text), row in zip(hits.tolist(), shares.tolist(), strict=True):
                copy = NearCopy(self.texts[text].item, *row)
                own = best.setdefault(int(documents[document]), {})
                before = own.get(copy.item)
                if before is None or (copy.counts, copy.similarity) > (before.counts, before.similarity):
                    own[copy.item] = copy
        return {document: list(own.values()) for document, own in best.items()}
