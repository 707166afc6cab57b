"""Exact matches of n-grams in one document, by the numbers of its words."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import ONE, absorbed

_ALL = np.uint64(2**64 - 1)


@compiled_within
def _hash(words: Any, begin: int, length: int, keep: Any) -> Any:
    h = np.uint64(0)
    for j in range(begin, begin + length):
        h = absorbed(h, np.uint64(words[j] + 1))
    return h & keep


@compiled
def number_ngrams(words: Any, starts: Any, lengths: Any, slots: Any, grams: Any) -> int:
    """Number the n-grams that begin at starts[i], equal ones alike, in the order in which they come.

    Args:
        words: Numbers of words.
        starts: Where each n-gram begins, (W,).
        lengths: Its words, (W,).
        slots: An open table of zeros, of at least 2 W places.
        grams: Filled: the number of each, (W,).

    Returns:
        How many distinct ones there are.
    """
    last = np.uint64(slots.size - 1)
    n = 0
    for i in range(starts.size):
        at = _hash(words, starts[i], lengths[i], _ALL) & last
        number = -1
        while slots[at] != 0:
            other = slots[at] - 1
            same = lengths[other] == lengths[i]
            j = 0
            while same and j < lengths[i]:
                same = words[starts[other] + j] == words[starts[i] + j]
                j += 1
            if same:
                number = grams[other]
                break
            at = (at + ONE) & last
        if number < 0:
            slots[at] = i + 1
            number = n
            n += 1
        grams[i] = number
    return n


@compiled
def fill_exact(words: Any, starts: Any, lengths: Any, keep: Any, slots: Any) -> None:
    """Put distinct n-grams into an open table: slots hold their number plus 1."""
    last = np.uint64(slots.size - 1)
    for i in range(starts.size):
        at = _hash(words, starts[i], lengths[i], keep) & last
        while slots[at] != 0:
            at = (at + ONE) & last
        slots[at] = i + 1


@compiled
def match_words(
    document: Any, words: Any, starts: Any, lengths: Any, keep: Any, slots: Any, sizes: Any, places: Any, grams: Any
) -> int:
    """Every n-gram of a document that is sought: where it begins, and its number; returns how many there are.

    Words are compared one by one: a hash only says where to look. `sizes` are sorted.
    """
    last = np.uint64(slots.size - 1)
    longest = sizes[sizes.size - 1]
    found = 0
    for begin in range(document.size):
        h = np.uint64(0)
        k = 0
        # The hash of a longer n-gram goes on from that of a shorter one.
        for place in range(begin, min(begin + longest, document.size)):
            if document[place] < 0:
                break
            h = absorbed(h, np.uint64(document[place] + 1))
            size = sizes[k]
            if place - begin + 1 < size:
                continue
            k += 1
            at = (h & keep) & last
            while slots[at] != 0:
                gram = slots[at] - 1
                same = lengths[gram] == size
                j = 0
                while same and j < size:
                    same = words[starts[gram] + j] == document[begin + j]
                    j += 1
                if same:
                    places[found] = begin
                    grams[found] = gram
                    found += 1
                    break
                at = (at + ONE) & last
    return found


@compiled
def places_in_texts(
    places: Any, grams: Any, offsets: Any, postings: Any, texts: Any, starts: Any
) -> Any:  # fmt: skip
    """Of each match of an n-gram all places of the n-gram in the sequences.

    Args:
        places: Where each match begins in the document, (M,).
        grams: Numbers of the n-grams, (M,).
        offsets: Where the places of each n-gram begin among all, (G + 1,).
        postings: Those places, (W,).
        texts: Of each place the sequence, (W,).
        starts: Of each place where it begins in that, (W,).

    Returns:
        Sequence, place in it, place in the document and number of the place, (4, n).
    """
    n = 0
    for i in range(grams.size):
        n += offsets[grams[i] + 1] - offsets[grams[i]]
    found = np.empty((4, n), np.int64)
    n = 0
    for i in range(grams.size):
        for at in range(offsets[grams[i]], offsets[grams[i] + 1]):
            window = postings[at]
            found[0, n], found[1, n], found[2, n], found[3, n] = texts[window], starts[window], places[i], window
            n += 1
    return found


@compiled
def run_edges(values: Any) -> Any:
    """Where each run of equal values begins, and the end of the last; none where there are no values."""
    found = np.empty(values.size + 1, np.int64)
    n = 0
    for i in range(values.size):
        if i == 0 or values[i] != values[i - 1]:
            found[n] = i
            n += 1
    if values.size:
        found[n] = values.size
        n += 1
    return found[:n]


@compiled
def cover(is_start: Any, size: int, covered: Any) -> int:
    """Mark the words that lie in n-grams beginning where `is_start`; returns how many."""
    n = 0
    left = 0
    for i in range(covered.size):
        if i < is_start.size and is_start[i]:
            left = size
        covered[i] = left > 0
        if left > 0:
            n += 1
            left -= 1
    return n


@compiled_within
def _longest_run(begins: Any, places: Any, counts: Any, all_count: bool, size: int) -> int:
    """Most words that follow each other in both: n-grams at (begins[i], places[i]), sorted by their difference."""
    best = run = 0
    before = -1
    for i in range(begins.size):
        if not (all_count or counts[i]):
            continue
        if before >= 0 and begins[i] == begins[before] + 1 and places[i] == places[before] + 1:
            run += 1
        else:
            run = 0
        before = i
        best = max(best, size + run)
    return best


@compiled_within
def _n_within(covered: Any, begin: int, end: int) -> int:
    n = 0
    for i in range(begin, end):
        n += covered[i]
    return n


@compiled
def measure_match(
    begins: Any, places: Any, counts: Any, is_common: Any, length: int, size: int, whole: float,
    asked_begin: int, asked_end: int, answer_begin: int, answer_end: int,
) -> Any:  # fmt: skip
    """How much of a sequence n-grams cover that stand in a document.

    N-grams that are boilerplate count only where the document has 80 % of the words of the sequence, and of those that
    are no boilerplate: a document that has the item by itself has it no less for its frame.

    Args:
        begins: Where each n-gram begins in the sequence, (M,).
        places: Where it begins in the document, (M,); sorted by the difference.
        counts: Which are no boilerplate, (M,).
        is_common: Which of all n-grams of the sequence are.
        length: Words of an n-gram.
        size: Of the sequence.
        whole: The 80 %.
        asked_begin: First word of the question.
        asked_end: Behind its last.
        answer_begin: Likewise of the answer.
        answer_end: Likewise.

    Returns:
        Words that are covered, of the question, of the answer, most that follow each other, whether boilerplate counts.
    """
    covered, is_start = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    own, others = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    for i in range(begins.size):
        is_start[begins[i]] = True
        if counts[i]:
            own[begins[i]] = True
    n = cover(is_start, length, covered)
    all_count = n >= whole * size and cover(own, length, others) >= whole * cover(~is_common, length, others)
    if not all_count:
        n = cover(own, length, covered)
    asked, answer = _n_within(covered, asked_begin, asked_end), _n_within(covered, answer_begin, answer_end)
    return n, asked, answer, _longest_run(begins, places, counts, all_count, length), all_count


@compiled
def stands_within(document: Any, sequence: Any, after: Any, most: int) -> bool:
    """Whether a sequence of words stands in a document, at most so many words after the last of the places before it.

    Args:
        document: Numbers of words.
        sequence: Likewise.
        after: Places, sorted.
        most: Words between.
    """
    last = -1
    for begin in range(document.size - sequence.size + 1):
        while last + 1 < after.size and after[last + 1] <= begin:
            last += 1
        if last < 0 or begin - after[last] > most:
            continue
        same = True
        j = 0
        while same and j < sequence.size:
            same = document[begin + j] == sequence[j]
            j += 1
        if same:
            return True
    return False


@compiled
def covered_in_order(document: Any, words: Any, offsets: Any, begin: int, end: int) -> int:
    """Most words of pieces that stand in a part of a document in their order, whatever is between them.

    Args:
        document: Numbers of words.
        words: Of all pieces, one after the other.
        offsets: Where each piece begins in them, one more at the end, (P + 1,).
        begin: The first word of the document that is looked at.
        end: Behind the last.
    """
    # Of each place the most words in pieces that end there or before it.
    best = np.zeros(end - begin + 1, np.int64)
    for piece in range(offsets.size - 1):
        first, size = offsets[piece], offsets[piece + 1] - offsets[piece]
        if size == 0:
            continue
        reached = best.copy()
        for at in range(begin, end - size + 1):
            j = 0
            while j < size and document[at + j] == words[first + j]:
                j += 1
            if j == size:
                place = at - begin + size
                reached[place] = max(reached[place], best[at - begin] + size)
        for place in range(1, best.size):
            reached[place] = max(reached[place], reached[place - 1])
        best = reached
    return best[best.size - 1]


@compiled
def densest(is_match: Any, size: int) -> int:
    """The first of the matches from which on a window of a size has most of them; -1 where there are none."""
    best = -1
    most = n = 0
    end = 0
    for begin in range(is_match.size):
        while end < min(begin + size, is_match.size):
            n += is_match[end]
            end += 1
        if is_match[begin]:
            if n > most:
                best, most = begin, n
            n -= 1
    return best
