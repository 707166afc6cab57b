"""JSON lines as bytes: where the texts of the wanted fields lie, and which lines are no JSON objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.markup import next_character
from goldassay.kernels.ngram_search import (
    BY_HAND,
    CANDIDATE,
    HAS_OTHER,
    INVALID,
    N_STATES,
    NOTHING,
    RING,
    end_text,
    equals_sought,
    keep_all,
    next_text,
    seek_span,
    start_text,
)
from goldassay.kernels.words import SIZE, breaks_of_line, ends_of_string, first_met, load

# Further states of a line: nothing but white space; no wanted field is there; those that are there are empty.
BLANK, NO_FIELD, EMPTY = 4, 5, 6
_DEEPEST = 256
_OBJECT, _ARRAY = 1, 0
# Texts of a line for which there is room at first.
_SPANS = 64
# Words of a text that may hold an item, and its least bytes.
_LONG, _LEAST_BYTES = 8, 15
# What is expected next.
_VALUE, _FIRST_KEY, _KEY, _FIRST_ELEMENT, _AFTER = 0, 1, 2, 3, 4


@compiled_within
def _skip_space(data: Any, i: int, end: int) -> int:
    while i < end and (data[i] == 32 or data[i] == 9 or data[i] == 13 or data[i] == 10):
        i += 1
    return i


@compiled_within
def _string_end(data: Any, i: int, end: int) -> int:
    """Place of the closing quotation mark of a string that begins at i; -1 - place where it has escapes; 0: no string.

    A string never begins at the first byte of a line, so that no mark lies at 0.
    """
    escaped = False
    while i < end:
        if i + SIZE <= end:
            met = ends_of_string(load(data, i))
            if met == 0:
                i += SIZE
                continue
            i += first_met(met)
        c = data[i]
        if c == 34:
            return -1 - i if escaped else i
        if c == 92:
            escaped = True
            i += 1
            if i >= end:
                return 0
            e = data[i]
            if e == 117:
                if i + 4 >= end:
                    return 0
                for j in range(i + 1, i + 5):
                    x = data[j]
                    if not (48 <= x <= 57 or 65 <= x <= 70 or 97 <= x <= 102):
                        return 0
                i += 4
            elif not (e == 34 or e == 92 or e == 47 or e == 98 or e == 102 or e == 110 or e == 114 or e == 116):
                return 0
        elif c < 32:
            return 0
        i += 1
    return 0


@compiled_within
def _digits(data: Any, i: int, end: int) -> int:
    while i < end and 48 <= data[i] <= 57:
        i += 1
    return i


@compiled_within
def _number_end(data: Any, i: int, end: int) -> int:
    """Where a number ends that begins at i; -1 where there is none."""
    if i < end and data[i] == 45:
        i += 1
        if i < end and data[i] == 73:
            return _literal_end(data, i, end)
    if i >= end or not 48 <= data[i] <= 57:
        return -1
    i = i + 1 if data[i] == 48 else _digits(data, i, end)
    if i < end and data[i] == 46:
        if i + 1 >= end or not 48 <= data[i + 1] <= 57:
            return -1
        i = _digits(data, i + 1, end)
    if i < end and (data[i] | 32) == 101:
        i += 1
        if i < end and (data[i] == 43 or data[i] == 45):
            i += 1
        if i >= end or not 48 <= data[i] <= 57:
            return -1
        i = _digits(data, i, end)
    return i


@compiled_within
def _literal_end(data: Any, i: int, end: int) -> int:
    """Where true, false, null, NaN or Infinity ends that begins at i; -1 where there is none of them."""
    for word in (b"true", b"false", b"null", b"NaN", b"Infinity"):
        size = len(word)
        if i + size <= end:
            same = True
            for j in range(size):
                if data[i + j] != word[j]:
                    same = False
                    break
            if same:
                return i + size
    return -1


@compiled_within
def _is_name(data: Any, begin: int, end: int, escaped: bool, names: Any, first: int, last: int) -> bool:
    """Whether a key is the name that lies from `first` to `last`."""
    if not escaped:
        if end - begin != last - first:
            return False
        same = 0
        while begin + same < end and data[begin + same] == names[first + same]:
            same += 1
        return begin + same == end
    i, j = np.int64(begin), np.int64(first)
    while i < end and j < last:
        one, i = next_character(data, i, end, True)
        other, j = next_character(names, j, last, False)
        if one != other:
            return False
    return bool(i == end and j == last)


@compiled_within
def _is_long(data: Any, i: int, end: int) -> bool:
    """Whether a string has 8 words by its white space; two characters of three bytes, or escaped, may be one."""
    halves, spaced = 0, True
    while i < end:
        c = data[i]
        is_space = c == 32
        if c == 92:
            i += 1
            is_space = data[i] == 110 or data[i] == 114 or data[i] == 116
            halves += data[i] == 117
        elif 224 <= c < 240:
            halves += 1
        if spaced and not is_space:
            halves += 2
            if halves >= 2 * _LONG:
                return True
        spaced = is_space
        i += 1
    return halves >= 2 * _LONG


@compiled_within
def parse_line(
    data: Any, begin: int, end: int, names: Any, starts: Any, paths: Any, fields: Any, spans: Any, has: Any, stack: Any,
    active: Any, child: Any,
) -> Any:  # fmt: skip
    """Check one line, and note where the wanted texts lie, in order.

    A text is wanted where the keys above it are those of a path, as far as both reach, so that below a path's end all
    are, and lists count for nothing. Each of several values of one name is.

    Args:
        data: Bytes.
        begin: Of the line.
        end: Of it.
        names: As of `Wanted`, and so are the next three.
        starts: Where each name begins.
        paths: Which names each path has.
        fields: The number of the field that each path belongs to.
        spans: Filled: begin, end, 1 where it has escapes, and field of each text; further ones are only counted.
        has: Filled: 1 where the line has the field: a name of its own, whatever it holds, or a text at a path.
        stack: Whether each level is an object or an array.
        active: Of each level and path, how many names were met above it, or -1 where one was another.
        child: The same of the value of the key at hand.

    Returns:
        NOTHING where all is well; BLANK; INVALID; BY_HAND where Python has to read it; NO_FIELD where no wanted field
        is there, or none with a text below it; EMPTY where all that are have no text. And the number of wanted texts,
        and the bytes of others that have 8 words.
    """
    n_paths = fields.size
    n_beside = 0
    has[:] = 0
    i = _skip_space(data, begin, end)
    if i >= end:
        return BLANK, 0, 0
    if data[i] != 123:
        return INVALID, 0, 0
    has_field = has_text = is_nested = False
    n = 0
    depth, wanted = 1, True
    stack[0] = _OBJECT
    active[0, :n_paths] = 0
    active[0, n_paths] = 1
    expected = _FIRST_KEY
    i += 1
    while depth > 0:
        i = _skip_space(data, i, end)
        if i >= end:
            return INVALID, 0, 0
        c = data[i]
        if expected == _AFTER:
            if c == 44:
                expected = _KEY if stack[depth - 1] == _OBJECT else _VALUE
            elif c == (125 if stack[depth - 1] == _OBJECT else 93):
                depth -= 1
            else:
                return INVALID, 0, 0
            i += 1
            continue
        if expected in (_FIRST_KEY, _KEY):
            if c == 125 and expected == _FIRST_KEY:
                depth -= 1
                expected = _AFTER
                i += 1
                continue
            if c != 34:
                return INVALID, 0, 0
            close = _string_end(data, i + 1, end)
            if close == 0:
                return INVALID, 0, 0
            escaped = close < 0
            if escaped:
                close = -1 - close
            wanted = False
            if active[depth - 1, n_paths]:
                for w in range(n_paths):
                    met = active[depth - 1, w]
                    at = paths[w] + met
                    if met >= 0 and at < paths[w + 1]:
                        if _is_name(data, i + 1, close, escaped, names, starts[at], starts[at + 1]):
                            met += 1
                            if depth == 1 and paths[w + 1] == paths[w] + 1:
                                has[fields[w]] = 1
                        else:
                            met = -1
                    child[w] = met
                    wanted |= met >= 0
                has_field |= wanted
            i = _skip_space(data, close + 1, end)
            if i >= end or data[i] != 58:
                return INVALID, 0, 0
            i += 1
            expected = _VALUE
            continue
        if c == 93 and expected == _FIRST_ELEMENT:
            depth -= 1
            expected = _AFTER
            i += 1
            continue
        if stack[depth - 1] == _ARRAY:
            wanted = active[depth - 1, n_paths] == 1
            if wanted:
                keep_all(active[depth - 1, :n_paths], child)
        if c == 34:
            close = _string_end(data, i + 1, end)
            if close == 0:
                return INVALID, 0, 0
            escaped = close < 0
            if escaped:
                close = -1 - close
            # An empty text is none: what the document says may stand in another field.
            if not wanted and close > i + _LEAST_BYTES and _is_long(data, i + 1, close):
                n_beside += close - i - 1
            if wanted and close > i + 1:
                has_text = True
                for w in range(n_paths):
                    if child[w] >= 0:
                        if n < spans.shape[0]:
                            spans[n, 0], spans[n, 1], spans[n, 2], spans[n, 3] = i + 1, close, escaped, fields[w]
                        has[fields[w]] = 1
                        n += 1
            i = close + 1
        elif c == 123 or c == 91:
            is_nested |= wanted
            if depth >= _DEEPEST:
                return BY_HAND, 0, 0
            stack[depth] = _OBJECT if c == 123 else _ARRAY
            active[depth, n_paths] = wanted
            if wanted:
                keep_all(child[:n_paths], active[depth])
            depth += 1
            i += 1
            expected = _FIRST_KEY if c == 123 else _FIRST_ELEMENT
            continue
        else:
            i = _number_end(data, i, end) if c == 45 or 48 <= c <= 57 else _literal_end(data, i, end)
            if i < 0:
                return INVALID, 0, 0
        expected = _AFTER
    if _skip_space(data, i, end) < end:
        return INVALID, 0, 0
    if has_text:
        return NOTHING, n, n_beside
    return (EMPTY if has_field and not is_nested else NO_FIELD), 0, n_beside


@compiled_within
def _seek_fields(
    data: Any, spans: Any, n_spans: int, n_fields: int, apart: bool, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, ring: Any, state: Any,
) -> int:  # fmt: skip
    """What the wanted texts of a line are, field by field, in one reading."""
    status = NOTHING
    for k in range(n_fields):
        for s in range(n_spans):
            if spans[s, 3] != k:
                continue
            own = seek_span(
                data, spans[s, 0], spans[s, 1], spans[s, 2] == 1, apart, letters, points,
                lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
            )  # fmt: skip
            if own in (BY_HAND, INVALID):
                return own
            if own == CANDIDATE:
                status = CANDIDATE
    return status


@compiled
def seek_lines(
    data: Any, ends: Any, names: Any, starts: Any, paths: Any, fields: Any, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, ring: Any, state: Any, found: Any, rows: Any, n_with: Any, beside: Any,
) -> None:  # fmt: skip
    """What each line is; line i ends before ends[i], where its break is.

    The last arguments are as of `seek_texts`; the number of lines that have each field, (K,), which is added to; and
    filled, of each line the bytes of texts of 8 words in other fields.
    """
    spare, before = np.empty(RING, np.uint64), np.empty(N_STATES, np.uint64)
    spans, stack = np.empty((_SPANS, 4), np.int64), np.zeros(_DEEPEST, np.uint8)
    active, child = np.zeros((_DEEPEST, fields.size + 1), np.int64), np.zeros(fields.size, np.int64)
    has = np.zeros(n_with.size, np.int64)
    longest = lengths[lengths.size - 1]
    # Not 0 itself, for which numba would compile `parse_line` once more.
    begin = np.int64(0)
    for i in range(ends.size):
        status, n, beside[i] = parse_line(
            data, begin, ends[i], names, starts, paths, fields, spans, has, stack, active, child
        )
        if n > spans.shape[0]:
            spans = np.empty((2 * n, 4), np.int64)
            status, n, _ = parse_line(
                data, begin, ends[i], names, starts, paths, fields, spans, has, stack, active, child
            )
        if status != INVALID:
            for k in range(n_with.size):
                n_with[k] += has[k]
        next_text(state)
        if status == NOTHING:
            status = _seek_fields(
                data, spans, n, n_with.size, False, letters, points,
                lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
            )  # fmt: skip
        end_text(ring, state, status, ends[i] - begin, longest, rows[i])
        if status == NOTHING and equals_sought(ring, state, keep, slots, slot_shift):
            status = CANDIDATE
        if status == NOTHING and state[HAS_OTHER]:
            keep_all(ring, spare)
            keep_all(state, before)
            start_text(ring, state)
            status = _seek_fields(
                data, spans, n, n_with.size, True, letters, points,
                lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
            )  # fmt: skip
            if status == NOTHING and equals_sought(ring, state, keep, slots, slot_shift):
                status = CANDIDATE
            keep_all(spare, ring)
            keep_all(before, state)
        found[i] = status
        begin = ends[i] + 1


@compiled
def check_lines(data: Any, ends: Any, names: Any, starts: Any, paths: Any, fields: Any, found: Any) -> None:
    """What each line is as JSON, without a look at its words: how fast the scan could be at most."""
    spans, stack = np.empty((_SPANS, 4), np.int64), np.zeros(_DEEPEST, np.uint8)
    active, child = np.zeros((_DEEPEST, fields.size + 1), np.int64), np.zeros(fields.size, np.int64)
    has = np.zeros(fields.size, np.int64)
    begin = np.int64(0)
    for i in range(ends.size):
        found[i] = parse_line(
            data, begin, ends[i], names, starts, paths, fields, spans, has, stack, active, child
        )[0]  # fmt: skip
        begin = ends[i] + 1


@compiled
def line_ends(data: Any, begin: int, end: int, found: Any) -> int:
    """Places of the line breaks from `begin` to `end`, and how many there are."""
    n = 0
    i = begin
    while i < end:
        if i + SIZE <= end:
            met = breaks_of_line(load(data, i))
            if met == 0:
                i += SIZE
                continue
            i += first_met(met)
        if data[i] == 10:
            found[n] = i
            n += 1
        i += 1
    return n
