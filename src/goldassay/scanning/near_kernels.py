"""The loops of the search for near copies: bytes to characters as words keep them, and sets of shingles that agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled
from goldassay.data.near_copy_kernels import enter_shingles
from goldassay.scanning.markup_kernels import begins_markup, markup_at, next_character
from goldassay.scanning.word_kernels import entry_of
from goldassay.scanning.words import ALONE, DEPENDS, DROPPED, SEVERAL

# A text whose words Python alone can find.
LEFT = -1
_SPACE = 32


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


@compiled
def distinct_shingles(points: Any, starts: Any, keys: Any, stamps: Any, found: Any, offsets: Any) -> None:
    """Keys of the distinct shingles of each text, in the order in which they come; none of an empty text.

    Args:
        points: Code points of all texts.
        starts: Where each begins, one more at the end, (M + 1,).
        keys: An open table of at least two places for each character of the longest.
        stamps: -1 for each place of it.
        found: Filled: keys, one text after the other.
        offsets: Filled: where each text's begin, (M + 1,).
    """
    n = 0
    offsets[0] = 0
    for text in range(starts.size - 1):
        begin, end = starts[text], starts[text + 1]
        if end > begin:
            n += enter_shingles(points, begin, end, keys, stamps, text, found[n:])
        offsets[text + 1] = n


@compiled
def chain_bands(bands: Any, slots: Any, heads: Any, following: Any) -> None:
    """Put the bands of the sought texts, (B, M), into one open table: a chain of texts for each value.

    Args:
        bands: Values, which tell the bands apart.
        slots: Filled: values, 0 is empty.
        heads: Filled: the first entry of each slot; an entry is text * B + band.
        following: Filled: the entry after each, -1 at the end, (M * B,).
    """
    mask = np.uint64(slots.size - 1)
    n_bands, n = bands.shape
    for text in range(n):
        for band in range(n_bands):
            key = bands[band, text]
            place = key & mask
            while slots[place] != 0 and slots[place] != key:
                place = (place + np.uint64(1)) & mask
            entry = text * n_bands + band
            following[entry] = heads[place] if slots[place] == key else -1
            slots[place] = key
            heads[place] = entry


@compiled
def _share(keys: Any, begin: int, end: int, of: Any, stamps: Any, stamp: int) -> float:
    """Share of some shingles that a text has, which lies in a table; 1 where there are none."""
    if end == begin:
        return 1.0
    mask = np.uint64(of.size - 1)
    n = 0
    for i in range(begin, end):
        place = keys[i] & mask
        while stamps[place] == stamp and of[place] != keys[i]:
            place = (place + np.uint64(1)) & mask
        n += stamps[place] == stamp
    return float(n / (end - begin))


@compiled
def seek_near(
    points: Any, starts: Any, bands: Any, sizes: Any, first: int,
    slots: Any, heads: Any, following: Any, shingles: Any, offsets: Any, at_least: float, numbers: Any, shares: Any,
) -> Any:  # fmt: skip
    """Documents whose set of shingles is nearly that of a text that is sought; every candidate is confirmed.

    Args:
        points: Code points of documents.
        starts: Where each begins, one more at the end, (D + 1,).
        bands: Of the documents, (B, D).
        sizes: Distinct shingles of the documents, (D,).
        first: The document to begin with.
        slots: See `chain_bands`.
        heads: Likewise.
        following: Likewise.
        shingles: Keys of the texts that are sought, three parts each: all of it, its question, its answer.
        offsets: Where each part begins, (3 * M + 1,).
        at_least: Least Jaccard similarity.
        numbers: Filled: document and text of each hit, (H, 2).
        shares: Filled: similarity, share of the question and of the answer that the document has, (H, 3).

    Returns:
        How many hits there are, and the document to go on with: fewer than D where there is no room for more.
    """
    n_bands, n = bands.shape
    n_texts = (offsets.size - 1) // 3
    mask = np.uint64(slots.size - 1)
    seen = np.full(n_texts, -1, np.int64)
    longest = 1
    for document in range(first, n):
        longest = max(longest, starts[document + 1] - starts[document])
    places = 16
    while places < 2 * longest:
        places *= 2
    keys = np.zeros(places, np.uint64)
    stamps = np.full(places, -1, np.int64)
    held = np.uint64(places - 1)
    found = 0
    for document in range(first, n):
        if found + n_texts > numbers.shape[0]:
            return found, document
        entered = False
        size = sizes[document]
        for band in range(n_bands):
            key = bands[band, document]
            place = key & mask
            while slots[place] != 0 and slots[place] != key:
                place = (place + np.uint64(1)) & mask
            if slots[place] == 0:
                continue
            entry = heads[place]
            while entry >= 0:
                text = entry // n_bands
                entry = following[entry]
                if seen[text] == document:
                    continue
                seen[text] = document
                begin, end = offsets[3 * text], offsets[3 * text + 1]
                other = end - begin
                # A similarity of s needs s / (1 + s) of both sizes in common.
                needed = at_least / (1 + at_least) * (size + other) - 1e-9
                if min(size, other) < needed:
                    continue
                if not entered:
                    enter_shingles(points, starts[document], starts[document + 1], keys, stamps, document, keys[:0])
                    entered = True
                common, spare = 0, other - needed
                for i in range(begin, end):
                    at = shingles[i] & held
                    while stamps[at] == document and keys[at] != shingles[i]:
                        at = (at + np.uint64(1)) & held
                    if stamps[at] == document:
                        common += 1
                    else:
                        spare -= 1
                        if spare < 0:
                            break
                if spare < 0 or common < needed:
                    continue
                numbers[found, 0], numbers[found, 1] = document, text
                shares[found, 0] = common / (size + other - common)
                for part in range(1, 3):
                    shares[found, part] = _share(
                        shingles, offsets[3 * text + part], offsets[3 * text + part + 1], keys, stamps, document
                    )
                found += 1
    return found, n
