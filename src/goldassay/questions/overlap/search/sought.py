"""What is sought in a corpus: sequences of words with the tables that find their n-grams, and items as near copies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.data.near_copies import SHINGLE, SIMILARITY
from goldassay.kernels import ngram_search
from goldassay.kernels.hashing import open_table
from goldassay.kernels.minhash import NearIndex, Shingles
from goldassay.kernels.ngram_matches import fill_exact, number_ngrams
from goldassay.kernels.splitting import code_points, write_words
from goldassay.kernels.words import ascii_letters, is_alone, point_table, readings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

# Parts with fewer words are not sought by themselves.
LEAST_WORDS = 8
# A question of so many words is sought together with its answer, where both have 8.
LEAST_QUESTION = 5
# The table keeps so many n-grams before the one at hand.
MOST_N = ngram_search.RING - 1
# n-grams in more clusters of items are boilerplate.
MOST_CLUSTERS = 3
ALL_BITS = 2**64 - 1
# Bits of the filter for each anchor: at 32 one in 250 other runs passes, and is refused by the table.
_BITS = 32
# Words of an anchor, where n-grams and sequences have as many: two thirds of an n-gram.
_LEAST_ANCHOR = 5


@dataclass(frozen=True)
class SoughtText:
    """One sequence of words that is sought.

    Attributes:
        words: In order.
        item: The item that it is of, from 0.
        asked: Which of the words are the question, begin and end.
        answer: Which are the answer.
        is_whole: Whether it is all of the item, and not a part by itself.
        part: What the part is called.
        is_filled: Whether the answer stands within the question, in place of a blank.
        needs_answer: Whether it says nothing where the answer does not follow.
        has_passage: Whether a passage stands before the question, without which a copy asks something else.
    """

    words: tuple[str, ...]
    item: int
    asked: tuple[int, int] = (0, 0)
    answer: tuple[int, int] = (0, 0)
    is_whole: bool = True
    part: str = "item"
    is_filled: bool = False
    needs_answer: bool = False
    has_passage: bool = False


@dataclass(frozen=True)
class Answer:
    """The answer of an item, and others that a document may have in its place.

    Attributes:
        pieces: The words of its lines, steps or sentences, in order.
        rivals: The same of wrong choices, or of the answer of another item: how often these are found is the control.
        labels: What names the answer among the choices, and each of the rivals, such as a letter; () without choices.
    """

    pieces: tuple[tuple[str, ...], ...] = ()
    rivals: tuple[tuple[tuple[str, ...], ...], ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()


class Sought:
    """Sequences of words, their n-grams, and the tables that find them in bytes.

    A sequence is sought by its n-grams, one of 8 to n - 1 words as a whole, and a whole item of fewer words where a
    document has these words and no others. But a question of
    5 to 7 words is, where it has 8 words with its answer, and counts where that follows: between them a copy may have
    other words, such as `Answer:` or the name of who speaks. Where an answer of 8 words is found, a shorter question
    is looked for before it. An n-gram in items of more than three clusters is boilerplate.

    Args:
        texts: What is sought.
        answers: Of each item the words of its answer; () where it has none.
        clusters: Of each item, (N,); items of one cluster share a text by construction.
        n: Words of an n-gram.
        keep: Bits of the hashes that are kept: with few of them many n-grams share a hash, and nothing else may change.
        near: Whether near copies of whole items are sought, too: documents as short as an item, and items that are too
            short for n-grams.
        controls: Of each item its answer in pieces, and what stands in the place of it as a control.
    """

    def __init__(
        self,
        texts: Sequence[SoughtText],
        answers: Sequence[tuple[str, ...]],
        clusters: NDArray[np.int64],
        n: int = 13,
        keep: int = ALL_BITS,
        near: bool = False,
        controls: Sequence[Answer] = (),
    ) -> None:
        self.n = n
        self.near = NearTable.of(texts, answers) if near else None
        self.answers = tuple(answers)
        self.controls = tuple(controls) or tuple(Answer((words,) if words else ()) for words in answers)
        self.clusters = clusters
        least = min(LEAST_WORDS, n)
        self.short_questions = _short_questions(texts, least)
        short = [
            SoughtText(words, item, (0, len(words)), is_whole=False, part="question", needs_answer=True)
            for item, words in self.short_questions.items()
            if len(words) >= LEAST_QUESTION and len(words) + len(self.answers[item]) >= least
        ]
        self.texts = (*(each for each in texts if len(each.words) >= least), *short)
        self.equals = _equals(texts, self.answers, least)
        found = {each.item for each in short} | {
            item for item in self.short_questions if len(self.answers[item]) >= least
        }
        self.only_whole: NDArray[np.bool_] = np.zeros(len(self.answers), bool)
        self.only_whole[
            list(self.short_questions.keys() - found - {each.item for each in texts if each.has_passage})
        ] = True
        rivals = (words for each in self.controls for pieces in each.rivals for words in pieces)
        sequences = (*(each.words for each in self.texts), *self.equals, *self.answers, *rivals)
        words = dict.fromkeys(chain.from_iterable(sequences))
        self.vocabulary: dict[str, int] = dict(zip(words, range(len(words)), strict=True))
        self.keep = np.uint64(keep)
        sizes = np.array([len(each.words) for each in self.texts], np.int64)
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.lengths: NDArray[np.int64] = np.minimum(sizes, n)
        all_words = chain.from_iterable(each.words for each in self.texts)
        self.words: NDArray[np.int32] = np.fromiter(
            map(self.vocabulary.__getitem__, all_words), np.int32, int(self.offsets[-1])
        )
        self.items: NDArray[np.int64] = np.array([each.item for each in self.texts], np.int64)
        windows = sizes - self.lengths + 1
        # Every n-gram: of which sequence, and where it begins in it.
        self.window_text: NDArray[np.int64] = np.repeat(np.arange(len(self.texts)), windows)
        firsts = np.concatenate([[0], np.cumsum(windows)]).astype(np.int64)
        self.first_windows = firsts
        self.window_start: NDArray[np.int64] = np.arange(firsts[-1]) - firsts[self.window_text]
        self._index()

    def _index(self) -> None:
        """Number distinct n-grams, and list where each begins."""
        starts = self.offsets[self.window_text] + self.window_start
        lengths = self.lengths[self.window_text]

        grams = np.empty(starts.size, np.int64)
        slots = np.zeros(1 << max(6, int(np.ceil(np.log2(max(1, starts.size) * 2)))), np.int64)
        n_grams = number_ngrams(self.words, starts, lengths, slots, grams)
        self.grams = grams
        order = np.argsort(grams, kind="stable")
        self.posting_windows: NDArray[np.int64] = order
        self.posting_offsets: NDArray[np.int64] = np.searchsorted(grams[order], np.arange(n_grams + 1))
        first = order[self.posting_offsets[:-1]] if n_grams else np.empty(0, np.int64)
        self.gram_starts: NDArray[np.int64] = starts[first]
        self.gram_lengths: NDArray[np.int64] = lengths[first]
        self.is_common: NDArray[np.bool_] = self._in_clusters(n_grams) > MOST_CLUSTERS

    def _in_clusters(self, n_grams: int) -> NDArray[np.int64]:
        """Of each n-gram's place in how many clusters the n-gram is, or fewer places than are too many."""
        places = np.diff(self.posting_offsets)
        # Nearly all are in one place, and sorting millions of them took most of the time.
        windows = np.flatnonzero((places > MOST_CLUSTERS)[self.grams])
        n_clusters = int(self.clusters.max(initial=0)) + 1
        own = self.grams[windows] * n_clusters + self.clusters[self.items[self.window_text[windows]]]
        n_found = np.bincount(np.unique(own) // n_clusters, minlength=n_grams)
        return np.where(places > MOST_CLUSTERS, n_found, places)[self.grams]

    @property
    def n_items(self) -> int:
        """Items, sought or not."""
        return len(self.answers)

    @property
    def is_sought(self) -> NDArray[np.bool_]:
        """Items of which something is sought, (N,)."""
        found = self.has_ngrams
        found[[text.item for texts in self.equals.values() for text in texts]] = True
        if self.near is not None:
            found[[text.item for text in self.near.texts]] = True
        return found

    @property
    def has_ngrams(self) -> NDArray[np.bool_]:
        """Items of which something is long enough for n-grams, (N,)."""
        found = np.zeros(self.n_items, bool)
        found[self.items] = True
        return found

    def own_share(self) -> NDArray[np.float64]:
        """Of the words of each item's question the share that stands in no boilerplate, (N,); 1 without n-grams.

        A document that has the question without an instruction or examples that all items share can hold no more of it.
        """
        is_frame = np.zeros(self.words.size + 1, np.int64)
        common = np.flatnonzero(self.is_common)
        starts = self.offsets[self.window_text[common]] + self.window_start[common]
        np.add.at(is_frame, starts, 1)
        np.add.at(is_frame, starts + self.lengths[self.window_text[common]], -1)
        own = np.concatenate([[0], np.cumsum(np.cumsum(is_frame[:-1]) == 0)])
        asked = np.array([each.asked if each.is_whole else (0, 0) for each in self.texts], np.int64).reshape(-1, 2)
        begin, end = (self.offsets[:-1] + asked.T).astype(np.int64)
        found = np.ones(self.n_items)
        is_asked = end > begin
        share = (own[end] - own[begin])[is_asked] / (end - begin)[is_asked]
        np.minimum.at(found, self.items[is_asked], share)
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that decides what is found."""
        said: dict[str, Any] = {
            "n": self.n,
            "texts": [
                [
                    each.words,
                    each.item,
                    each.asked,
                    each.answer,
                    each.is_whole,
                    each.part,
                    each.is_filled,
                    each.needs_answer,
                ]
                for each in self.texts
            ],
            "equals": [[each.words, each.item] for texts in self.equals.values() for each in texts],
            "questions": list(self.short_questions.items()),
            "answers": self.answers,
            "controls": [[each.pieces, each.rivals, each.labels] for each in self.controls],
            "clusters": self.clusters.tolist(),
        }
        if self.near is not None:
            said["near"] = [[each.words, each.item, each.asked, each.answer] for each in self.near.texts]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    @cached_property
    def tables(self) -> Tables:
        """The filter and the table of hashes; small enough for a processor's cache with 10,000 items."""
        names = list(self.vocabulary)
        points, starts = code_points(names)
        hashes = np.empty(len(names), np.uint64)
        # Characters that are words by themselves are hashed as such: their entry lacks the bit.
        ngram_search.hash_words(points, starts, hashes)
        of_words, n = hashes[self.words], self.gram_starts.size
        lengths = np.unique(self.gram_lengths) if n else np.array([self.n])
        size = min(int(lengths[0]), max(_LEAST_ANCHOR, 2 * self.n // 3))
        anchors, anchor_shift = self._anchors(of_words, size)
        slots, slot_shift = open_table(n + len(self.equals))
        short = np.array([self.vocabulary[word] for words in self.equals for word in words], np.int64)
        sizes_of_short = np.array(list(map(len, self.equals)), np.int64)
        for of, starts, sizes in (
            (of_words, self.gram_starts, self.gram_lengths),
            (hashes[short], np.cumsum(sizes_of_short) - sizes_of_short, sizes_of_short),
        ):
            found = np.empty(sizes.size, np.uint64)
            ngram_search.hash_ngrams(of, starts, sizes, self.keep, found)
            ngram_search.fill_table(found, slots, slot_shift)
        bits = max(6, int(np.ceil(np.log2(max(1, int(np.count_nonzero(anchors))) * _BITS / 64))))
        bloom, shift = np.zeros(1 << bits, np.uint64), np.uint64(64 - bits)
        ngram_search.fill_filter(anchors, bloom, shift)
        sizes = np.append(size, lengths)
        powers = np.array([pow(int(ngram_search.BASE), int(each), 2**64) for each in sizes], np.uint64)
        return Tables(
            ascii_letters(), point_table(), sizes, powers, self.keep, bloom, shift, anchors, anchor_shift, slots,
            slot_shift,
        )  # fmt: skip

    def _anchors(self, of_words: NDArray[np.uint64], size: int) -> tuple[NDArray[np.uint64], np.uint64]:
        """A table of runs of `size` words, of which every n-gram has one."""
        reach = self.lengths - size
        most = int((np.diff(self.offsets) // (reach + 1) + 1).sum())
        anchors, shift = open_table(most)
        ngram_search.choose_anchors(of_words, self.offsets, reach, size, self.keep, anchors, shift)
        return anchors, shift

    @cached_property
    def exact(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of the n-gram, plus 1, in each slot of an open table over numbers of words; lengths of n-grams."""
        slots = np.zeros(1 << max(6, int(np.ceil(np.log2(max(1, self.gram_starts.size) * 2)))), np.int64)
        fill_exact(self.words, self.gram_starts, self.gram_lengths, self.keep, slots)
        return slots, np.unique(self.gram_lengths) if self.gram_lengths.size else np.array([self.n])


def _equals(
    texts: Iterable[SoughtText], answers: Sequence[tuple[str, ...]], least: int
) -> dict[tuple[str, ...], list[SoughtText]]:
    """Whole items that are too short for n-grams, with their answers where they have any, by their words."""
    found: dict[tuple[str, ...], list[SoughtText]] = {}
    for text in texts:
        if text.is_whole and 0 < len(text.words) < least and (text.answer[1] or not answers[text.item]):
            found.setdefault(text.words, []).append(text)
    return found


def _short_questions(texts: Sequence[SoughtText], least: int) -> dict[int, tuple[str, ...]]:
    """Of items with an answer the words of the question, where these are too few to be sought by themselves."""
    found: dict[int, tuple[str, ...]] = {}
    for text in texts:
        first, last = text.answer
        asked = text.words[slice(*text.asked)]
        if text.is_whole and not text.is_filled and 0 < len(asked) < least and last > first:
            found.setdefault(text.item, asked)
    return found


@dataclass(frozen=True)
class Tables:
    """What the loops over bytes take, in their order; the first of the lengths is that of an anchor."""

    letters: NDArray[np.uint8]
    points: NDArray[np.int32]
    lengths: NDArray[np.int64]
    powers: NDArray[np.uint64]
    keep: np.uint64
    bloom: NDArray[np.uint64]
    shift: np.uint64
    anchors: NDArray[np.uint64]
    anchor_shift: np.uint64
    slots: NDArray[np.uint64]
    slot_shift: np.uint64

    def arguments(self) -> tuple[Any, ...]:
        """The last arguments of the loops."""
        return (
            self.letters, self.points, self.lengths, self.powers, self.keep, self.bloom, self.shift, self.anchors,
            self.anchor_shift, self.slots, self.slot_shift,
        )  # fmt: skip


N_BANDS, N_ROWS = 25, 5
# A document longer than twice the longest item, and a page, has too many shingles to be a near copy, unless it says
# the same again and again.
_LONGER, _PAGE = 2, 4096


class NearCopy(NamedTuple):
    """An item of which a document is a near copy.

    Attributes:
        item: From 0.
        similarity: Jaccard similarity of all of the item with the document.
        question: Share of the question's shingles that the document has.
        answer: Of those of the answer; 1 where there is none.
    """

    item: int
    similarity: float
    question: float
    answer: float

    @property
    def counts(self) -> bool:
        """Whether question and answer are there, too, and not only a long premise that both share."""
        return min(self.question, self.answer) >= SIMILARITY


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


def _joined_part(words: Sequence[str], part: tuple[int, int]) -> str:
    """Words as they stand within a text: no space is beside what is a word by itself."""
    first, end = part
    if first == end:
        return ""
    found = joined(words[first:end])
    is_cut = [is_alone(words[at]) for at in (max(first - 1, 0), first, end - 1, min(end, len(words) - 1))]
    return found[is_cut[0] or is_cut[1] : len(found) - (is_cut[2] or is_cut[3])]


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
        parts = []
        for each in chosen:
            reply, (_, asked_end) = answers[each.item], each.asked
            # Among choices the answer stands behind the question.
            starts_of = range(asked_end, len(each.words) - len(reply) + 1)
            first = next((at for at in starts_of if each.words[at : at + len(reply)] == reply), -1)
            span = each.answer if each.answer[1] else (first, first + len(reply))
            text, span = (each.words, span) if span[0] >= 0 else (reply, (0, len(reply)))
            parts += [joined(each.words), _joined_part(each.words, each.asked), _joined_part(text, span)]
        points, starts = code_points(parts)
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
