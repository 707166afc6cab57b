"""What one document has of the items: exact matches, how much they cover, and whether the answer follows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.kernels.ngram_matches import (
    cover,
    covered_in_order,
    densest,
    match_words,
    measure_match,
    places_in_texts,
    run_edges,
    stands_within,
)
from goldassay.kernels.ngram_search import MOST_EQUAL
from goldassay.kernels.words import readings_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.overlap.search.sought import Answer, NearCopy, Sought, SoughtText

# From this share of an item's words on a document is kept, and from this on it holds the item by itself.
KEPT, WHOLE = 0.2, 0.8
# Words after the question within which an answer is an answer to it.
ANSWER_WITHIN = 50
# What stands before the label of the right choice, and words between.
_MARKERS = frozenset(("answer", "answers", "ans", "correct", "key", "answerkey", "solution", "gold", "label", "target"))
_LABEL_WITHIN = 4
# Where a calculator was called, as in GSM8K; copies often leave these out.
CALCULATIONS = r"<<[^<>\n]*>>"
# An answer of fewer pieces stands there in one or not at all.
_LEAST_PIECES = 2
# Places of a question behind which pieces and choices are looked for.
_MOST_QUESTIONS = 4
# Words of an excerpt, of one of a long item at most, and those before the first match.
_EXCERPT, _MOST_EXCERPT, _BEFORE = 120, 480, 8


@dataclass(frozen=True)
class ItemMatch:
    """What one document has of one item; shares are of words.

    Attributes:
        item: From 0.
        coverage: Of all of the item; of a rendering with letters before the choices, or without, the larger one.
        question: Of the question.
        answer: Of the answer, where it is long enough to be sought.
        answered: Whether the answer follows the question within 50 words, or as much of it as is sought.
        part: Of the part that is covered most.
        part_name: What that part is called.
        longest: Most words that follow each other in both.
        excerpt: Words of the document about the matches.
        marks: Which of them matched: begin, end, begin, end, ... in words of the excerpt.
        near: Jaccard similarity with the document where that is a near copy, else 0.
        near_question: Share of the question's shingles that such a document has.
        near_answer: Of the answer's.
        counts: Whether the document has all that is asked, with its answer where it has one.
        listed: Whether it has the choices, right and wrong, and does not say which is right.
    """

    item: int
    coverage: float
    question: float
    answer: float
    answered: bool
    part: float
    part_name: str
    longest: int
    excerpt: str
    marks: tuple[int, ...]
    near: float = 0.0
    near_question: float = 0.0
    near_answer: float = 0.0
    counts: bool = False
    listed: bool = False

    @property
    def holds(self) -> bool:
        """Whether the question, or all of an item without one, stands in the document."""
        return max(self.question, self.coverage) >= WHOLE or min(self.near, self.near_question) >= WHOLE

    @property
    def rank(self) -> float:
        """The larger, the more of the item the document has; what counts weighs more than any share."""
        share = max(self.coverage, self.question, self.answer, self.part, self.near)
        return share + (2 if self.counts else self.holds)


@dataclass(frozen=True)
class Confirmed:
    """What one document has: matches from 20 % of an item on, and every n-gram that counts.

    Attributes:
        matches: By item.
        windows: Numbers of the n-grams' places in the sequences, as `Sought` counts them; some may be there twice.
        rivals: Of items whose question stands there with rivals of its answer: a bit for each that does.
    """

    matches: tuple[ItemMatch, ...]
    windows: NDArray[np.int64]
    rivals: Mapping[int, int] = field(default_factory=dict)


class _Reply(NamedTuple):
    """What stands behind a question: a bit for each rival, whether it is a list of choices, and has the key."""

    rivals: int = 0
    is_list: bool = False
    is_keyed: bool = False


_NO_REPLY = _Reply()


def _listing(document: NDArray[np.int32], choices: Sequence[NDArray[np.int32]], begin: int) -> int:
    """Where a list of choices behind a question ends; 0 where fewer than two wrong ones stand there with the right.

    Args:
        document: Numbers of its words.
        choices: The right one, and the wrong ones.
        begin: Where the question ends.
    """
    reach = ANSWER_WITHIN + sum(each.size + 2 for each in choices)
    window = document[begin : begin + reach].tolist()
    ends = []
    for number, choice in enumerate(choices):
        own = choice.tolist()
        first = next((at for at in range(len(window) - len(own) + 1) if window[at : at + len(own)] == own), -1)
        if own and first >= 0:
            ends.append(begin + first + len(own))
        elif number == 0:
            return 0
    return max(ends) if len(ends) > min(2, len(choices) - 1) else 0


def _named(words: Sequence[str], control: Answer) -> set[int]:
    """Which choices a text behind a list of all names, by their words or a label after a marker; 0 is the right one."""
    found = set()
    for number, pieces in enumerate((control.pieces, *control.rivals)):
        own = list(chain.from_iterable(pieces))
        if any(words[at : at + len(own)] == own for at in range(len(words) - len(own) + 1)):
            found.add(number)
    label_of = {label: number for number, labels in enumerate(control.labels) for label in labels}
    marked = [0, *(at + 1 for at, word in enumerate(words) if word in _MARKERS)]
    for begin in marked:
        reach = words[begin : begin + (_LABEL_WITHIN if begin else 1)]
        found |= {label_of[word] for word in [word for word in reach if word in label_of][:1]}
    return found


class Confirmation:
    """The exact look at documents in which a hash was found."""

    def __init__(self, sought: Sought) -> None:
        self.sought = sought
        self._slots, self._sizes = sought.exact

    def confirm(self, text: str) -> Confirmed | None:
        """What a document has; None where no n-gram that is sought stands in it."""
        texts = (text, re.sub(CALCULATIONS, " ", text)) if re.search(CALCULATIONS, text) else (text,)
        readings = chain.from_iterable(map(readings_of, texts))
        found = [each for words in readings if (each := self._confirm(words)) is not None]
        return _better(found) if len(found) > 1 else found[0] if found else None

    def _confirm(self, words: list[str]) -> Confirmed | None:
        places, grams, document = self._matched(words)
        found = [self._collect(words, document, places, grams)] if grams.size else []
        if equal := self.sought.equals.get(tuple(words)) if len(words) <= MOST_EQUAL else None:
            matches = {text.item: _equal_match(text) for text in equal}
            found.append(Confirmed(tuple(matches.values()), np.empty(0, np.int64)))
        return _better(found) if len(found) > 1 else found[0] if found else None

    def windows(self, words: list[str]) -> NDArray[np.int64]:
        """Numbers of the n-grams' places whose n-gram stands in words, and counts."""
        sought = self.sought
        grams = np.unique(self._matched(words)[1])
        windows = np.concatenate(
            [sought.posting_windows[slice(*sought.posting_offsets[each : each + 2])] for each in grams]
            or [np.empty(0, np.int64)]
        )
        return windows[~sought.is_common[windows]]

    def _matched(self, words: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Places and numbers of the n-grams of a document, and the numbers of its words."""
        sought = self.sought
        known = sought.vocabulary.get
        document = np.fromiter(map(known, words, repeat(-1)), np.int32, len(words))
        places, grams = np.empty((2, document.size * self._sizes.size), np.int64)
        n = match_words(
            document, sought.words, sought.gram_starts, sought.gram_lengths, sought.keep, self._slots, self._sizes,
            places, grams,
        )  # fmt: skip
        return places[:n], grams[:n], document

    def _collect(
        self, words: list[str], document: NDArray[np.int32], places: NDArray[np.int64], grams: NDArray[np.int64]
    ) -> Confirmed:
        sought = self.sought
        found = places_in_texts(
            places, grams, sought.posting_offsets, sought.posting_windows, sought.window_text, sought.window_start
        )
        order = np.lexsort((found[1], found[1] - found[2], found[0]))
        texts, begins, where, windows = found[:, order]
        counts = ~sought.is_common[windows]
        by_item: dict[int, list[_TextMatch]] = {}
        for begin, end in _spans_of_equals(texts):
            own = slice(begin, end)
            number = int(texts[begin])
            match = _TextMatch.of(sought, number, begins[own], where[own], counts[own])
            by_item.setdefault(int(sought.items[number]), []).append(match)
        matches, rivals = [], {}
        for item, all_parts in sorted(by_item.items()):
            reply = self._reply(item, all_parts, words, document)
            if reply.rivals:
                rivals[item] = reply.rivals
            parts = [
                part for part in all_parts if not part.text.needs_answer or self._is_answered(item, [part], document)
            ]
            if max((part.share for part in parts), default=0.0) >= KEPT:
                matches.append(self._item(item, parts, words, document, reply))
        return Confirmed(tuple(matches), windows[counts], rivals)

    def _item(
        self, item: int, parts: list[_TextMatch], words: list[str], document: NDArray[np.int32], reply: _Reply
    ) -> ItemMatch:
        asked, answer = max(part.question for part in parts), max(part.answer for part in parts)
        largest = max(parts, key=lambda part: part.share)
        whole = [part for part in parts if part.text.is_whole]
        single = [part for part in parts if not part.text.is_whole]
        most = max(single, key=lambda part: part.share, default=None)
        is_start, is_word = np.zeros((2, document.size), bool)
        is_start[largest.places] = True
        cover(is_start, largest.length, is_word)
        longest = max(len(part.text.words) for part in parts)
        excerpt, marks = _excerpt(words, is_word, max(_EXCERPT, min(longest + 2 * _BEFORE, _MOST_EXCERPT)))
        coverage = max((part.share for part in whole), default=0.0)
        answered = reply.is_keyed if reply.is_list else self._is_answered(item, parts, document)
        if not answered and asked >= WHOLE and (pieces := self._share_in_pieces(item, parts, document)) >= WHOLE:
            answered, n_own = True, len(self.sought.answers[item])
            size = max((part.text.asked[1] - part.text.asked[0] for part in whole), default=0)
            coverage = max(coverage, (asked * size + pieces * n_own) / (size + n_own))
        is_open = reply.is_list and not reply.is_keyed
        if not (is_open or (answered and asked >= WHOLE)) and self._is_asked_before(item, parts, document):
            asked, answered = 1.0, True
        n_asked, n_answer = len(self.sought.short_questions.get(item, ())), len(self.sought.answers[item])
        if n_asked and answered and asked >= WHOLE:
            # The item is there, with other words between its parts. An answer that was not sought was found as a whole.
            has = asked * n_asked + (answer if answer >= WHOLE else 1.0) * n_answer
            coverage = max(coverage, has / (n_asked + n_answer))
        is_posed = n_answer > 0
        return ItemMatch(
            item=item,
            coverage=coverage,
            question=asked,
            answer=answer,
            answered=answered,
            part=0.0 if most is None else most.share,
            part_name="" if most is None else most.text.part,
            longest=max(part.longest for part in parts),
            excerpt=excerpt,
            marks=marks,
            counts=max(asked, coverage) >= WHOLE and answered if is_posed else min(asked, coverage) >= WHOLE,
            listed=is_open,
        )

    def _reply(
        self, item: int, parts: list[_TextMatch], words: list[str], document: NDArray[np.int32]
    ) -> _Reply:  # fmt: skip
        """What stands behind the question of an item: its choices, and rivals of its answer."""
        control = self.sought.controls[item]
        after = self._ends_of_question(item, parts, document)
        if not control.rivals or not after.size:
            return _NO_REPLY
        if control.labels:
            found = [self._numbers(tuple(chain.from_iterable(each))) for each in (control.pieces, *control.rivals)]
            ends = (_listing(document, found, begin) for begin in after[:_MOST_QUESTIONS].tolist())
            if behind := next(filter(None, ends), 0):
                named = _named(words[behind : behind + ANSWER_WITHIN], control)
                rivals = sum(1 << at for at in range(len(control.rivals)) if at + 1 in named)
                # A list without a key says nothing of any choice.
                return _Reply(rivals, is_list=True, is_keyed=0 in named)
        rivals = 0
        for at, pieces in enumerate(control.rivals):
            own = self._numbers(tuple(chain.from_iterable(pieces)))
            is_there = own.size > 0 and (
                bool(stands_within(document, own, after, ANSWER_WITHIN))
                or self._share_behind(pieces, after, document) >= WHOLE
                or any(part.is_filled_with(document, own) for part in parts)
            )
            rivals |= is_there << at
        return _Reply(rivals)

    def _ends_of_question(
        self, item: int, parts: list[_TextMatch], document: NDArray[np.int32]
    ) -> NDArray[np.int64]:  # fmt: skip
        """Where the question ends in a document that has 80 % of it, sorted; all of it where it is short."""
        held = [part for part in parts if max(part.question, part.share) >= WHOLE or part.text.is_filled]
        ends = np.unique(np.concatenate([part.ends_of_asked for part in held] or [np.empty(0, np.int64)]))
        question = self._numbers(self.sought.short_questions.get(item, ()))
        if ends.size or not 0 < question.size <= document.size:
            return ends
        runs = np.lib.stride_tricks.sliding_window_view(document, question.size)
        return np.flatnonzero((runs == question).all(axis=1)) + question.size

    def _share_in_pieces(self, item: int, parts: list[_TextMatch], document: NDArray[np.int32]) -> float:
        """Most of the answer's words in pieces that stand behind the question in their order, as a share."""
        return self._share_behind(
            self.sought.controls[item].pieces, self._ends_of_question(item, parts, document), document
        )

    def _share_behind(
        self, pieces: tuple[tuple[str, ...], ...], after: NDArray[np.int64], document: NDArray[np.int32]
    ) -> float:
        if len(pieces) < _LEAST_PIECES:
            return 0.0
        known = self.sought.vocabulary
        words = np.array([known.get(word, -2) for piece in pieces for word in piece], np.int32)
        offsets = np.cumsum([0, *map(len, pieces)])
        reach = (len(pieces) + 1) * ANSWER_WITHIN + words.size
        found = (
            covered_in_order(document, words, offsets, begin, min(begin + reach, document.size))
            for begin in after[:_MOST_QUESTIONS].tolist()
            if begin <= document.size
        )
        return max(found, default=0) / words.size

    def _is_asked_before(self, item: int, parts: list[_TextMatch], document: NDArray[np.int32]) -> bool:
        """Whether a question that is too short to be sought stands before an answer that was found."""
        question = self._numbers(self.sought.short_questions.get(item, ()))
        begins = [part.begins_of_answer for part in parts if part.answer >= WHOLE and not part.text.asked[1]]
        if not question.size or not begins:
            return False
        # Room before the document's first word, so that each place is as far from the answer.
        room = np.full(ANSWER_WITHIN + question.size, -1, np.int32)
        return bool(stands_within(np.append(room, document), question, np.sort(np.concatenate(begins)), ANSWER_WITHIN))

    def _numbers(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of words; none where a document cannot have one of them."""
        known = [self.sought.vocabulary.get(word, -1) for word in words]
        return np.array([] if -1 in known else known, np.int32)

    def _is_answered(self, item: int, parts: list[_TextMatch], document: NDArray[np.int32]) -> bool:
        if any(part.text.is_filled and min(part.question, part.answer) >= WHOLE for part in parts):
            return True
        answer = self._numbers(self.sought.answers[item])
        after = np.sort(np.concatenate([part.ends_of_asked for part in parts]))
        if not answer.size or not after.size:
            return False
        begins = np.concatenate([part.begins_of_answer for part in parts if part.answer >= WHOLE] or [np.empty(0, int)])
        if begins.size and (_distances(after, begins) <= ANSWER_WITHIN).any():
            return True
        return bool(stands_within(document, answer, after, ANSWER_WITHIN))


def _equal_match(text: SoughtText) -> ItemMatch:
    """The match of a document that has the words of an item, in their order, and no others."""
    answered, size = text.answer[1] > 0, len(text.words)
    return ItemMatch(
        text.item, 1.0, 1.0, float(answered), answered, 0.0, "", size, " ".join(text.words), (0, size), counts=True
    )  # fmt: skip


def _better(found: Sequence[Confirmed]) -> Confirmed:
    """Of each item what the reading of a document has that has more of it, and the n-grams of all readings."""
    by_item: dict[int, ItemMatch] = {}
    for match in chain.from_iterable(each.matches for each in found):
        before = by_item.get(match.item)
        if before is None or match.rank > before.rank:
            by_item[match.item] = match
    windows = np.concatenate([each.windows for each in found])
    rivals: dict[int, int] = {}
    for item, bits in chain.from_iterable(each.rivals.items() for each in found):
        rivals[item] = rivals.get(item, 0) | bits
    return Confirmed(tuple(by_item[item] for item in sorted(by_item)), windows, rivals)


def with_near_copies(matches: Sequence[ItemMatch], copies: Sequence[NearCopy], text: str) -> list[ItemMatch]:
    """The matches of a document, together with the items of which it is a near copy."""
    by_item = {match.item: match for match in matches}
    excerpt = " ".join(words_of(text)[:_EXCERPT]) if copies else ""
    for copy in copies:
        match = by_item.get(copy.item) or ItemMatch(copy.item, 0.0, 0.0, 0.0, False, 0.0, "", 0, excerpt, ())
        by_item[copy.item] = replace(
            match,
            near=copy.similarity,
            near_question=copy.question,
            near_answer=copy.answer,
            counts=match.counts or (copy.counts and not match.listed),
        )
    return [by_item[item] for item in sorted(by_item)]


def _spans_of_equals(values: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where each of the values stands that are sorted: begin and end."""
    return list(pairwise(run_edges(values).tolist()))


def _distances(after: NDArray[np.int64], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words between each beginning and the last end before it; a large number where there is none."""
    at = np.searchsorted(after, begins, side="right") - 1
    return np.where(at >= 0, begins - after[np.maximum(at, 0)], np.iinfo(np.int64).max)


@dataclass(frozen=True)
class _TextMatch:
    """What a document has of one sequence."""

    text: SoughtText
    length: int
    begins: NDArray[np.int64]
    places: NDArray[np.int64]
    share: float
    question: float
    answer: float
    longest: int
    ends_of_asked: NDArray[np.int64]
    begins_of_answer: NDArray[np.int64]

    def is_filled_with(self, document: NDArray[np.int32], words: NDArray[np.int32]) -> bool:
        """Whether a document has other words in the place of a blank's answer, beside n-grams that do not reach it."""
        first, end = self.text.answer
        if not self.text.is_filled:
            return False
        before, behind = self.begins + self.length <= first, self.begins >= end
        starts = np.concatenate([
            (self.places - self.begins)[before] + first, (self.places - self.begins)[behind] + end - words.size
        ])  # fmt: skip
        return any(np.array_equal(document[at : at + words.size], words) for at in np.unique(starts[starts >= 0]))

    @classmethod
    def of(
        cls,
        sought: Sought,
        number: int,
        begins: NDArray[np.int64],
        places: NDArray[np.int64],
        counts: NDArray[np.bool_],
    ) -> _TextMatch:
        text, length = sought.texts[number], int(sought.lengths[number])
        size = len(text.words)
        first, end = sought.first_windows[number : number + 2].tolist()
        (asked, asked_end), (answer, answer_end) = text.asked, text.answer
        n, n_asked, n_answer, longest, all_count = measure_match(
            begins, places, counts, sought.is_common[first:end], length, size, WHOLE, asked, asked_end, answer,
            answer_end,
        )  # fmt: skip
        if not all_count:
            begins, places = begins[counts], places[counts]
        return cls(
            text=text,
            length=length,
            begins=begins,
            places=places,
            share=n / size,
            question=n_asked / (asked_end - asked) if asked_end > asked else 0.0,
            answer=n_answer / (answer_end - answer) if answer_end > answer else 0.0,
            longest=longest,
            # Where the question ends in the document, counted from any n-gram that touches it.
            ends_of_asked=(places + asked_end - begins)[begins < asked_end],
            begins_of_answer=np.maximum(places, places + answer - begins)[
                (begins + length > answer) & (answer_end > 0)
            ],
        )


def _excerpt(words: list[str], is_match: NDArray[np.bool_], size: int) -> tuple[str, tuple[int, ...]]:
    """So many words about the densest matches, and which of them matched."""
    first = densest(is_match, size - _BEFORE)
    if first < 0:
        return "", ()
    begin = max(0, first - _BEFORE)
    shown = is_match[begin : begin + size]
    edges = run_edges(shown).tolist()
    # Runs alternate, and the last one may be none.
    marks = edges[0 if shown[0] else 1 :]
    return " ".join(words[begin : begin + size]), tuple(marks[: len(marks) - len(marks) % 2])


def union_of(sought: Sought, windows: NDArray[np.int64]) -> dict[int, float]:
    """Of each item the share of its words that n-grams of any documents cover; items without any are left out.

    Args:
        sought: What was sought.
        windows: Numbers of the n-grams that were found, sorted.
    """
    texts = sought.window_text[windows]
    found: dict[int, float] = {}
    for begin, end in _spans_of_equals(texts):
        number = int(texts[begin])
        text: Any = sought.texts[number]
        if not text.is_whole:
            continue
        is_start, covered = np.zeros(len(text.words), bool), np.zeros(len(text.words), bool)
        is_start[sought.window_start[windows[begin:end]]] = True
        share = cover(is_start, int(sought.lengths[number]), covered) / len(text.words)
        found[text.item] = max(found.get(text.item, 0.0), share)
    return found
