"""Texts split into words by compiled loops.

Three ways, since what is a word differs on purpose:

- Runs of code points of some kinds (`next_word`): what counts as a letter is the caller's table. The quick probes, the
  spelling and the form of texts read words so.
- The words that copies keep (`entry_of`), by the rules of `words`, from UTF-8 with markup. `ngram_search` hashes them
  as they pass by, `write_words` writes them out.
- Chunks between ASCII spaces (`intern_chunks`), which a tokenizer splits further, each once: for the Treebank tokens
  and those of `str.split`, which the figures of published work are made of. They are told apart byte for byte and by
  their place in the sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import FNV_START, ONE, combined, fnv, numbered_place
from goldassay.kernels.markup import begins_markup, markup_at, next_character
from goldassay.kernels.words import ALONE, DEPENDS, DROPPED, N_POINTS, SEVERAL, UNSEEN_FIRST, UNSEEN_LAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Kinds of code points: outside of words, words by themselves, letters of words, and marks, which are within words, too.
OUTSIDE, SINGLE, LETTER, MARK = range(4)
# What a chunk's place in its sentence can change; flags that add up: nothing before it, nothing after it, only spaces.
AT_START, AT_END, BEFORE_FINAL_SPACES = 1, 2, 4
_SPACE = 32


def code_points(texts: Sequence[str] | pl.Series) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all texts, one after the other, and where each starts, with one more at the end."""
    if isinstance(texts, pl.Series):
        lengths = texts.str.len_chars().to_numpy().astype(np.int64)
        joined = texts.str.join("").item()
    else:
        lengths, joined = np.fromiter(map(len, texts), np.int64, len(texts)), "".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)
    return points, np.concatenate(([0], np.cumsum(lengths)))


@compiled_within
def next_word(characters: Any, kinds: Any, at: int, end: int) -> Any:
    """The next word from a place on: where it begins, where it ends, and its FNV hash; an empty one at the end."""
    while at < end and kinds[characters[at]] == OUTSIDE:
        at += 1
    first, key = at, FNV_START
    if at < end:
        is_run = kinds[characters[at]] >= LETTER
        while True:
            key = fnv(key, characters[at])
            at += 1
            if not is_run or at == end or kinds[characters[at]] < LETTER:
                break
    return first, at, key


@compiled
def number_words(characters: Any, starts: Any, kinds: Any, slots: Any, hashes: Any, n_words: int) -> Any:
    """Number the words of texts in the order in which they are first seen.

    Args:
        characters: Code points of all texts, one after the other.
        starts: Where each text starts, one more at the end, (N + 1,).
        kinds: OUTSIDE, SINGLE, LETTER or MARK of each code point; words are runs of the last two, and each SINGLE.
        slots: A table from hash to word number, -1 where it is empty; a power of two long.
        hashes: Of each word so far, with room for more; two words share one by chance 5e-20.
        n_words: How many words there are so far.

    Returns:
        Word numbers of all words, (T,); how many there are up to the end of each text, (N,); where each word that is
        new begins and ends, (W, 2); slots, hashes and n_words as they are now.
    """
    ids = np.empty(characters.size, np.int32)
    ends = np.empty(starts.size - 1, np.int64)
    new = np.empty((1024, 2), np.int64)
    n_new = 0
    n = 0
    for text in range(starts.size - 1):
        at, end = starts[text], starts[text + 1]
        while True:
            first, at, key = next_word(characters, kinds, at, end)
            if first == at:
                break
            key = combined(key, ONE)
            slot = numbered_place(key, key, slots, hashes)
            if slots[slot] < 0:
                if n_words == hashes.size:
                    hashes = np.concatenate((hashes, np.empty_like(hashes)))
                if n_new == new.shape[0]:
                    new = np.concatenate((new, np.empty_like(new)))
                slots[slot] = n_words
                hashes[n_words] = key
                new[n_new, 0] = first
                new[n_new, 1] = at
                ids[n] = n_words
                n_new += 1
                n_words += 1
                if 2 * n_words > slots.size:
                    slots = np.full(2 * slots.size, -1, np.int32)
                    _enter(hashes, n_words, slots)
            else:
                ids[n] = slots[slot]
            n += 1
        ends[text] = n
    return ids[:n].copy(), ends, new[:n_new], slots, hashes, n_words


@compiled_within
def _enter(hashes: Any, n: int, slots: Any) -> None:
    """Put the numbers of n hashes, all different, into an empty table."""
    mask = np.uint64(slots.size - 1)
    for number in range(n):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + ONE) & mask
        slots[slot] = number


@compiled_within
def entry_of(points: Any, c: Any) -> Any:
    """What a code point is, beyond the table too."""
    if c < N_POINTS:
        return np.int64(points[c])
    return np.int64(DROPPED if UNSEEN_FIRST <= c <= UNSEEN_LAST else 0)


@compiled
def write_words(data: Any, begins: Any, ends: Any, letters: Any, points: Any, found: Any, starts: Any) -> Any:
    """The words of texts as characters: a space before, between and after, none beside what is a word by itself.

    Args:
        data: UTF-8.
        begins: Where each text begins, (D,).
        ends: Where it ends, (D,).
        letters: Letters and digits of ASCII by byte.
        points: What each code point is.
        found: Filled with code points, one text after the other.
        starts: Filled: where each begins in it, one more at the end, (D + 1,).

    Returns:
        Which texts are left to Python, (D,): they have characters that depend on their neighbours, no words, or may be
        read in two ways.
    """
    left = np.zeros(begins.size, np.bool_)
    n = 0
    for text in range(begins.size):
        starts[text] = n
        first = n
        found[n] = _SPACE
        n += 1
        apart, alone = True, False
        i, end = begins[text], ends[text]
        while i < end:
            c = np.int64(data[i])
            i += 1
            entry = np.int64(letters[c])
            if entry == 0:
                is_hyphen = False
                if c >= 128:
                    c, i = next_character(data, i - 1, end, False)
                elif begins_markup(c):
                    c, i, is_hyphen = markup_at(data, i, end, False, c)
                entry = entry_of(points, c) if c >= 0 else np.int64(DEPENDS)
                if entry == DROPPED and apart:
                    continue
                # A hyphen at the end of a line, and a character that is not seen in a word, may be read in two ways.
                if entry in (DROPPED, DEPENDS) or entry >= SEVERAL or is_hyphen:
                    left[text] = True
                    break
                if entry == 0:
                    apart = True
                    continue
            if entry >= ALONE:
                entry -= ALONE
                alone = True
            else:
                if apart and not alone and n > first + 1:
                    found[n] = _SPACE
                    n += 1
                alone = False
            apart = False
            found[n] = entry
            n += 1
        if n == first + 1:
            left[text] = True
        if left[text]:
            n = first
        else:
            found[n] = _SPACE
            n += 1
    starts[begins.size] = n
    return left


@compiled_within
def _intern(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    s: int,
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    table: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    chunks: NDArray[np.int64],
    n_distinct: int,
) -> tuple[int, int]:
    """Number chunks from sentence s on, until all are done or `chunks` is full.

    Returns:
        The first sentence that is not done, and how many distinct chunks there are.
    """
    mask = np.uint64(table.size - 1)
    filled = offsets[s]
    while s < starts.size - 1:
        begin_of_sentence = starts[s]
        stop = starts[s + 1]
        i = begin_of_sentence
        while i < stop and text[i] == _SPACE:
            i += 1
        while i < stop:
            begin = i
            code = FNV_START
            n_other = 0
            while i < stop and text[i] != _SPACE:
                byte = text[i]
                code = fnv(code, byte)
                letter = byte | 32
                n_other += not ((97 <= letter <= 122) or (48 <= byte <= 57))
                i += 1
            end = i
            while i < stop and text[i] == _SPACE:
                i += 1
            place = AT_START if begin == begin_of_sentence else 0
            if i == stop:
                place |= AT_END if end == stop else BEFORE_FINAL_SPACES
            # Forget what cannot matter: a word, or a word with one mark after it, is the same in any place.
            if n_other == 0:
                place = 0
            elif n_other == 1 and end - begin > 1:
                final = text[end - 1]
                if final == 44 or final == 33 or final == 63:
                    place = 0
                elif final == 46:
                    place = AT_END if place & (AT_END | BEFORE_FINAL_SPACES) else 0
            length = end - begin
            code = combined(code, np.uint64(place))
            slot = code & mask
            found = table[slot]
            while found >= 0:
                if hashes[found] == code and chunks[found, 1] == length and chunks[found, 2] == place:
                    other = chunks[found, 0]
                    same = 0
                    while same < length and text[other + same] == text[begin + same]:
                        same += 1
                    if same == length:
                        break
                slot = (slot + ONE) & mask
                found = table[slot]
            if found < 0:
                if n_distinct == hashes.size:
                    return s, n_distinct
                found = n_distinct
                hashes[found] = code
                chunks[found, 0] = begin
                chunks[found, 1] = length
                chunks[found, 2] = place
                table[slot] = found
                n_distinct += 1
            codes[filled] = found
            filled += 1
        s += 1
        offsets[s] = filled
    return s, n_distinct


@compiled
def intern_chunks(
    text: NDArray[np.uint8], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct chunks (what stands between ASCII spaces, with its place) by first appearance.

    Args:
        text: UTF-8 bytes of all sentences, one after the other.
        starts: Where each sentence starts, and the end of the last, (N+1,).

    Returns:
        For each occurrence its chunk's number; where each sentence's occurrences start (N+1,); and for each
        distinct chunk its first position, its length in bytes and its place (C,3).
    """
    n = starts.size - 1
    codes = np.empty((text.size + n) // 2 + 1, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    size = 1 << 13
    table = np.full(size, -1, np.int32)
    hashes = np.empty(size // 2, np.uint64)
    chunks = np.empty((size // 2, 3), np.int64)
    # Not 0 itself, for which numba would compile `_intern` once more.
    s = n_distinct = np.int64(0)
    while True:
        s, n_distinct = _intern(text, starts, s, codes, offsets, table, hashes, chunks, n_distinct)
        if s == n:
            break
        size *= 2
        table = np.full(size, -1, np.int32)
        hashes = np.concatenate((hashes, np.empty_like(hashes)))
        chunks = np.concatenate((chunks, np.empty_like(chunks)))
        _enter(hashes, n_distinct, table)
    return codes[: offsets[n]], offsets, chunks[:n_distinct]


@compiled
def expand_chunks(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    token_starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Write each occurrence's tokens one after the other.

    Args:
        codes: Chunk numbers, as from `intern_chunks`.
        offsets: Where each sentence's occurrences start (N+1,).
        token_starts: Where each distinct chunk's tokens start in `tokens` (C+1,).
        tokens: Token ids of the distinct chunks.

    Returns:
        Token ids of all sentences, and where each sentence's start (N+1,).
    """
    total = 0
    for i in range(codes.size):
        total += token_starts[codes[i] + 1] - token_starts[codes[i]]
    ids = np.empty(total, np.int32)
    bounds = np.zeros(offsets.size, np.int64)
    filled = 0
    for s in range(offsets.size - 1):
        for i in range(offsets[s], offsets[s + 1]):
            for j in range(token_starts[codes[i]], token_starts[codes[i] + 1]):
                ids[filled] = tokens[j]
                filled += 1
        bounds[s + 1] = filled
    return ids, bounds
