"""What is counted in texts: words and parts of words once a text, and what can be counted without reading them.

Texts compared by how often each word is in them, whatever their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import ONE, combined, finalized, stamped_place, table_size
from goldassay.kernels.splitting import LETTER, next_word

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Classes of a character, as bits: capital, small, white space, part of a word, mark that ends a clause.
CAPITAL, SMALL, SPACE, IN_WORD, CLAUSE = (1 << bit for bit in range(5))
# What else is counted of single characters has a bit from this one on.
FIRST_COUNTED = 5
# Columns before those of single characters.
(
    N_CHARACTERS, N_WORDS, N_REPEATED, N_RISING, BEFORE_MARK, ALL_CAPITALS, CAPITALIZED, DOUBLE_SPACES,
    FIRST, LAST, LAST_BUT_ONE,
) = range(11)  # fmt: skip
N_COLUMNS = 11


@compiled
def count_words(
    ids: NDArray[np.int32], starts: NDArray[np.int64], codes: NDArray[np.int64], n_classes: int, n_words: int
) -> NDArray[np.int64]:
    """In how many texts of each label each word is, (K, W).

    Args:
        ids: Word numbers of all texts.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        codes: Label of each text, (N,).
        n_classes: K.
        n_words: W.
    """
    counts = np.zeros((n_classes, n_words), np.int64)
    last = np.full(n_words, -1, np.int64)
    for i in range(starts.size - 1):
        for at in range(starts[i], starts[i + 1]):
            word = ids[at]
            if last[word] != i:
                last[word] = i
                counts[codes[i], word] += 1
    return counts


@compiled
def add_evidence(
    ids: NDArray[np.int32], starts: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum of the weights of each text's distinct words, in the order of their numbers, (N, K).

    Args:
        ids: Word numbers of all texts.
        starts: As for `count_words`.
        weights: Of each word for each label, (W, K).
    """
    found = np.zeros((starts.size - 1, weights.shape[1]))
    for i in range(starts.size - 1):
        words = np.sort(ids[starts[i] : starts[i + 1]])
        for at in range(words.size):
            if at == 0 or words[at] != words[at - 1]:
                for label in range(weights.shape[1]):
                    found[i, label] += weights[words[at], label]
    return found


@compiled_within
def _collect(
    i: int, ids: Any, starts: Any, shape_starts: Any, shapes: Any, last: NDArray[np.int64], found: NDArray[np.int32]
) -> int:
    """Put the distinct shapes of the words of text i into `found`; how many there are."""
    n = 0
    for at in range(starts[i], starts[i + 1]):
        for place in range(shape_starts[ids[at]], shape_starts[ids[at] + 1]):
            shape = shapes[place]
            if last[shape] != i:
                last[shape] = i
                found[n] = shape
                n += 1
    return n


@compiled
def count_shapes(
    ids: NDArray[np.int32],
    starts: NDArray[np.int64],
    shape_starts: NDArray[np.int64],
    shapes: NDArray[np.int32],
    n_shapes: int,
) -> NDArray[np.int64]:
    """In how many texts each shape is, (S,).

    Args:
        ids: As for `count_words`.
        starts: As there.
        shape_starts: Where the shapes of each word begin, and where the last one's end, (W + 1,).
        shapes: Of all words.
        n_shapes: S.
    """
    counts = np.zeros(n_shapes, np.int64)
    last = np.full(n_shapes, -1, np.int64)
    found = np.empty(n_shapes, np.int32)
    for i in range(starts.size - 1):
        for x in range(_collect(i, ids, starts, shape_starts, shapes, last, found)):
            counts[found[x]] += 1
    return counts


@compiled
def list_shapes(
    ids: NDArray[np.int32],
    starts: NDArray[np.int64],
    shape_starts: NDArray[np.int64],
    shapes: NDArray[np.int32],
    n_shapes: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The distinct shapes of each text, ascending, text by text, and the text of each; see `count_shapes`."""
    last = np.full(n_shapes, -1, np.int64)
    found = np.empty(n_shapes, np.int32)
    listed = np.empty(1024, np.int32)
    texts = np.empty(1024, np.int64)
    n = 0
    for i in range(starts.size - 1):
        n_own = _collect(i, ids, starts, shape_starts, shapes, last, found)
        while n + n_own > listed.size:
            listed = np.concatenate((listed, np.empty_like(listed)))
            texts = np.concatenate((texts, np.empty_like(texts)))
        own = np.sort(found[:n_own])
        for x in range(n_own):
            listed[n] = own[x]
            texts[n] = i
            n += 1
    return listed[:n], texts[:n]


@compiled
def end_letters(
    characters: NDArray[np.uint32], starts: NDArray[np.int64], kinds: NDArray[np.uint8]
) -> NDArray[np.uint32]:
    """The first and the last LETTER of each text, 0 where it has none, (N, 2); arguments as for `number_words`."""
    found = np.zeros((starts.size - 1, 2), np.uint32)
    for text in range(starts.size - 1):
        at, last = starts[text], starts[text + 1] - 1
        while at <= last and kinds[characters[at]] != LETTER:
            at += 1
        if at > last:
            continue
        while kinds[characters[last]] != LETTER:
            last -= 1
        found[text, 0] = characters[at]
        found[text, 1] = characters[last]
    return found


@compiled_within
def _comes_before(characters: NDArray[np.uint32], one: int, one_end: int, other: int, other_end: int) -> bool:
    """Whether a word comes before another in the order of code points."""
    while one < one_end and other < other_end:
        if characters[one] != characters[other]:
            return bool(characters[one] < characters[other])
        one += 1
        other += 1
    return one == one_end and other < other_end


@compiled
def count_form(
    characters: NDArray[np.uint32],
    starts: NDArray[np.int64],
    classes: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    n_counted: int,
) -> NDArray[np.int64]:
    """Count what a text's form is made of.

    Args:
        characters: Code points of all texts, one after the other.
        starts: Where each text starts, one more at the end, (N + 1,).
        classes: Bits of each code point.
        kinds: Of each code point, see `next_word`: which of them part words.
        n_counted: How many kinds of single characters are counted.

    Returns:
        The columns named above, then those of single characters, (N, columns). BEFORE_MARK is -1 where there is none;
        FIRST, LAST and LAST_BUT_ONE are code points, -1 where the text is too short.
    """
    n_texts = starts.size - 1
    found = np.zeros((n_texts, N_COLUMNS + n_counted), np.int64)
    longest = 0
    for text in range(n_texts):
        longest = max(longest, starts[text + 1] - starts[text])
    # The words of a text, as hashes; a place is used where its turn is this text's.
    hashes = np.empty(table_size(longest // 2 + 1), np.uint64)
    turns = np.full(hashes.size, -1, np.int64)
    for text in range(n_texts):
        begin, end = starts[text], starts[text + 1]
        own = found[text]
        own[N_CHARACTERS] = end - begin
        own[FIRST] = characters[begin] if end > begin else -1
        own[LAST] = characters[end - 1] if end > begin else -1
        own[LAST_BUT_ONE] = characters[end - 2] if end > begin + 1 else -1
        own[BEFORE_MARK] = -1
        n_runs = 0
        n_spaces = 0
        # Where a run of capitals began that begins a word, -1 where there is none.
        capitals = -1
        before = 0
        for at in range(begin, end):
            here = classes[characters[at]]
            for kind in range(n_counted):
                own[N_COLUMNS + kind] += (here >> (FIRST_COUNTED + kind)) & 1
            if here & SPACE:
                n_spaces += 1
                if n_spaces % 2 == 0:
                    own[DOUBLE_SPACES] += 1
            else:
                n_spaces = 0
                if own[BEFORE_MARK] < 0 and not here & CLAUSE and (at == begin or before & SPACE):
                    n_runs += 1
            if here & CLAUSE and own[BEFORE_MARK] < 0:
                own[BEFORE_MARK] = n_runs
            if capitals >= 0 and not here & CAPITAL:
                if at - capitals >= 2 and not here & IN_WORD:
                    own[ALL_CAPITALS] += 1
                if at - capitals == 1 and here & SMALL:
                    own[CAPITALIZED] += 1
                capitals = -1
            if here & CAPITAL and not before & IN_WORD:
                capitals = at
            before = here
        if capitals >= 0 and end - capitals >= 2:
            own[ALL_CAPITALS] += 1
        at = begin
        last_begin = last_end = -1
        while True:
            first, at, key = next_word(characters, kinds, at, end)
            if first == at:
                break
            own[N_WORDS] += 1
            if last_end >= 0 and _comes_before(characters, last_begin, last_end, first, at):
                own[N_RISING] += 1
            last_begin = first
            last_end = at
            key = combined(key, ONE)
            place = stamped_place(key, key, hashes, turns, text)
            if turns[place] == text:
                own[N_REPEATED] += 1
            turns[place] = text
            hashes[place] = key
    return found


@compiled_within
def _counted(ids: Any, begin: Any, end: Any, words: Any, counts: Any) -> Any:
    """The distinct words of a text, sorted, and how often each is there: how many, and a hash of them all."""
    n, key = 0, np.uint64(0)
    ordered = np.sort(ids[begin:end])
    for at in range(ordered.size):
        # A sum: the order of the words is forgotten.
        key += finalized(np.uint64(ordered[at] + 1))
        if n and words[n - 1] == ordered[at]:
            counts[n - 1] += 1
        else:
            words[n], counts[n] = ordered[at], 1
            n += 1
    return n, key


@compiled
def tally_words(ids: Any, offsets: Any, words: Any, counts: Any, starts: Any, keys: Any) -> None:
    """Count the words of texts.

    Args:
        ids: Numbers of the words of all texts, (T,).
        offsets: Where each text begins, one more at the end, (N + 1,).
        words: Filled with the distinct words of each text, sorted, at most (T,).
        counts: Filled with how often each is there.
        starts: Filled with where each text begins in these, (N + 1,).
        keys: Filled with a hash of the words of each text in any order, (N,).
    """
    starts[0] = 0
    for text in range(keys.size):
        n, keys[text] = _counted(ids, offsets[text], offsets[text + 1], words[starts[text] :], counts[starts[text] :])
        starts[text + 1] = starts[text] + n


@compiled
def like_counts(
    ids: Any, offsets: Any, words: Any, counts: Any, starts: Any, sizes: Any, norms: Any, rare_offsets: Any,
    rare_texts: Any, n_rare: Any, longer: float, least: float, keys: Any,
) -> NDArray[np.int64]:  # fmt: skip
    """Find pairs of a row and a text with similar word counts.

    The row has at least half of the text's rare words, and the cosine of their counts is at least `least`.

    Args:
        ids: Numbers of the words of M rows, those of the texts first.
        offsets: Where each row begins, one more at the end, (M + 1,).
        words: Of N texts, as `tally_words` fills them; likewise counts and starts.
        counts: Likewise.
        starts: Likewise.
        sizes: Words of each text, (N,).
        norms: Sum of the squares of its counts, (N,).
        rare_offsets: Where the texts of each rare word begin, (V + 1,).
        rare_texts: Texts by rare word.
        n_rare: Rare words of each text, (N,).
        longer: The share by which a row may be longer or shorter.
        least: The least cosine of counts.
        keys: Filled with a hash of the words of each row in any order, (M,).

    Returns:
        Pairs (P, 2) of a row and a text, by row.
    """
    found = np.empty((1024, 2), np.int64)
    n_found = 0
    hits, touched = np.zeros(sizes.size, np.int64), np.empty(sizes.size, np.int64)
    most = 1
    for row in range(keys.size):
        most = max(most, offsets[row + 1] - offsets[row])
    own, own_counts = np.empty(most, ids.dtype), np.empty(most, np.int64)
    for row in range(keys.size):
        size = offsets[row + 1] - offsets[row]
        n, keys[row] = _counted(ids, offsets[row], offsets[row + 1], own, own_counts)
        n_touched = norm = 0
        for at in range(n):
            norm += own_counts[at] ** 2
            if own[at] < rare_offsets.size - 1:
                for place in range(rare_offsets[own[at]], rare_offsets[own[at] + 1]):
                    text = rare_texts[place]
                    if hits[text] == 0:
                        touched[n_touched] = text
                        n_touched += 1
                    hits[text] += 1
        for text in touched[:n_touched]:
            is_near = 2 * hits[text] >= n_rare[text] and abs(sizes[text] - size) <= longer * sizes[text]
            hits[text] = 0
            if not is_near:
                continue
            dot, at = 0, 0
            for place in range(starts[text], starts[text + 1]):
                while at < n and own[at] < words[place]:
                    at += 1
                if at < n and own[at] == words[place]:
                    dot += own_counts[at] * counts[place]
            if dot * dot < least * least * norm * norms[text]:
                continue
            if n_found == found.shape[0]:
                found = np.concatenate((found, np.empty_like(found)))
            found[n_found, 0], found[n_found, 1] = row, text
            n_found += 1
    return found[:n_found]
