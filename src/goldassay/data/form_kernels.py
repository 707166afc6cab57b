"""The compiled loop of `text_form`: what can be counted in texts without reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled, compiled_within

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
_BLANK = 32
_START, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
_SHIFT, _SPREAD = np.uint64(32), np.uint64(0x9E3779B97F4A7C15)


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
    characters: NDArray[np.uint32], lengths: NDArray[np.int64], classes: NDArray[np.uint32], n_counted: int
) -> NDArray[np.int64]:
    """Count what a text's form is made of.

    Args:
        characters: Code points of all texts, one after the other.
        lengths: Of each text, in characters, (N,).
        classes: Bits of each code point.
        n_counted: How many kinds of single characters are counted.

    Returns:
        The columns named above, then those of single characters, (N, columns). BEFORE_MARK is -1 where there is none;
        FIRST, LAST and LAST_BUT_ONE are code points, -1 where the text is too short.
    """
    found = np.zeros((lengths.size, N_COLUMNS + n_counted), np.int64)
    longest = 0
    for text in range(lengths.size):
        longest = max(longest, lengths[text])
    n_slots = 16
    while n_slots < longest + 2:
        n_slots *= 2
    # The words of a text, as hashes; a slot is used where its turn is this text's.
    hashes = np.empty(n_slots, np.uint64)
    turns = np.full(n_slots, -1, np.int64)
    mask = np.uint64(n_slots - 1)
    begin = 0
    for text in range(lengths.size):
        end = begin + lengths[text]
        own = found[text]
        own[N_CHARACTERS] = lengths[text]
        own[FIRST] = characters[begin] if lengths[text] > 0 else -1
        own[LAST] = characters[end - 1] if lengths[text] > 0 else -1
        own[LAST_BUT_ONE] = characters[end - 2] if lengths[text] > 1 else -1
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
        while at < end:
            if characters[at] == _BLANK:
                at += 1
                continue
            first = at
            key = _START
            while at < end and characters[at] != _BLANK:
                key = (key ^ np.uint64(characters[at])) * _PRIME
                at += 1
            own[N_WORDS] += 1
            if last_end >= 0 and _comes_before(characters, last_begin, last_end, first, at):
                own[N_RISING] += 1
            last_begin = first
            last_end = at
            key = (key ^ (key >> _SHIFT)) * _SPREAD
            slot = (key >> _SHIFT) & mask
            while turns[slot] == text and hashes[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            if turns[slot] == text:
                own[N_REPEATED] += 1
            turns[slot] = text
            hashes[slot] = key
        begin = end
    return found
