"""Whether a delimited file too large for memory is quoted: the rule of `delimited`, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_QUOTE, _NEWLINE, _RETURN, _TAB = 34, 10, 13, 9
_MOST_COLUMNS = 1 << 12

# What a survey keeps between blocks.
_BEFORE, _N_QUOTES, _BAD, _CLOSED, _DOUBLED = 0, 1, 2, 3, 4
_BREAKS_WITHIN, _SEPARATORS_WITHIN, _RETURNS_WITHIN, _RETURN_BEFORE = 5, 6, 7, 8
# Of the reading without quotation: separators in the record, its bytes, fields of the first record, records, and
# whether fields differ in number.
_PLAIN = 9
# The same of the reading with quotation.
_STRICT = 14
_SIZE = 19


def is_quoted(blocks: Iterable[bytes], separator: str) -> bool:
    """Decide as `parse_delimited` does of the whole text.

    Args:
        blocks: The text, in order; no more of it is read than it takes to decide.
        separator: One ASCII character.
    """
    state = np.zeros(_SIZE, np.int64)
    state[_BEFORE] = _NEWLINE
    openings = np.zeros(_MOST_COLUMNS, np.int64)
    for block in blocks:
        _survey(np.frombuffer(block, np.uint8), ord(separator), state, openings)
        if state[_BAD]:
            return False
    # A carriage return at the very end is no line end, but whatever ends without a line feed is a record.
    _survey(np.array([0, _NEWLINE] if state[_RETURN_BEFORE] else [_NEWLINE], np.uint8), ord(separator), state, openings)
    if not state[_N_QUOTES] or state[_N_QUOTES] % 2 or state[_BAD]:
        return False
    if state[_PLAIN + 4]:
        return True
    if state[_STRICT + 4] or separator != "\t":
        return not state[_STRICT + 4]
    if state[_DOUBLED]:
        return True
    same_width = state[_PLAIN + 2] == state[_STRICT + 2]
    within = bool(state[_BREAKS_WITHIN]), bool(state[_SEPARATORS_WITHIN])
    if same_width and separator == "\t" and all(within):
        return False
    if not same_width or any(within) or state[_RETURNS_WITHIN]:
        return True
    n_records = state[_STRICT + 3]
    return bool(n_records > 1 and (openings == n_records - 1).any())


@compiled
def _survey(text: NDArray[np.uint8], separator: int, state: NDArray[np.int64], openings: NDArray[np.int64]) -> None:
    for byte in text:
        if state[_RETURN_BEFORE]:
            state[_RETURN_BEFORE] = 0
            if byte != _NEWLINE:
                state[_PLAIN + 1] += 1
                state[_STRICT + 1] += 1
                if state[_CLOSED]:
                    state[_BAD] = 1
                    return
                state[_BEFORE] = _RETURN
        if byte == _RETURN:
            # Before a line feed it is part of the line end, unless a quoted field holds both.
            if state[_N_QUOTES] % 2:
                state[_RETURNS_WITHIN] = 1
                state[_BEFORE] = byte
            else:
                state[_RETURN_BEFORE] = 1
            continue
        if state[_CLOSED]:
            # After a closing mark a field ends, or a second mark follows.
            if byte != separator and byte != _NEWLINE and byte != _QUOTE:
                state[_BAD] = 1
                return
            state[_CLOSED] = 0
        within = state[_N_QUOTES] % 2 == 1
        if byte == _QUOTE:
            if state[_BEFORE] == _QUOTE and state[_N_QUOTES] > 0:
                state[_DOUBLED] = 1
            if within:
                state[_CLOSED] = 1
            else:
                if state[_BEFORE] != separator and state[_BEFORE] != _NEWLINE and state[_BEFORE] != _QUOTE:
                    state[_BAD] = 1
                    return
                if state[_STRICT + 3] > 0 and state[_PLAIN] < openings.size:
                    openings[state[_PLAIN]] += 1
            state[_N_QUOTES] += 1
        elif byte == separator:
            state[_PLAIN] += 1
            if within:
                state[_SEPARATORS_WITHIN] = 1
            else:
                state[_STRICT] += 1
        elif byte == _NEWLINE:
            _end(state, _PLAIN)
            if within:
                state[_BREAKS_WITHIN] = 1
            else:
                _end(state, _STRICT)
        if byte != _NEWLINE:
            state[_PLAIN + 1] += 1
        if byte != _NEWLINE or within:
            state[_STRICT + 1] += 1
        state[_BEFORE] = byte


@compiled
def _end(state: NDArray[np.int64], at: int) -> None:
    """End a record; one without a byte is none."""
    if state[at + 1]:
        fields = state[at] + 1
        if state[at + 3] == 0:
            state[at + 2] = fields
        elif fields != state[at + 2]:
            state[at + 4] = 1
        state[at + 3] += 1
    state[at] = 0
    state[at + 1] = 0
