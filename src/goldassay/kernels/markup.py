"""Characters and markup in bytes: tags, comments and entities of HTML, links of Markdown, commands of LaTeX, escapes.

`next_character` stands here for speed: in a file of its own, a tenth of the scan of non-ASCII text was lost to calls.
All of it as `words.words_of` has it by an expression.
"""

from __future__ import annotations

from html.entities import name2codepoint
from typing import Any

import numpy as np

from goldassay.core.compiled import compiled_within
from goldassay.kernels.hashing import lower_bound
from goldassay.kernels.words import (
    FORMATS,
    LONGEST_NAME,
    MOST_IN_TAG,
    MOST_IN_TARGET,
    MOST_POINT,
    NO_ESCAPES,
    name_key,
)

_SPACE = 32
# Characters of a name of an entity, of a number, of one in hexadecimal digits; blanks before the title of a link.
_LEAST_IN_NAME, _MOST_IN_NAME, _MOST_DIGITS, _MOST_HEX = 2, 8, 7, 6
_MOST_BLANKS = 4
_NAMED = sorted((name_key(name), point) for name, point in name2codepoint.items() if name.isalpha())
_ENTITY_KEYS, _ENTITY_POINTS = np.array(_NAMED, np.int64).T.copy()
_FORMAT_KEYS = np.array(sorted(map(name_key, FORMATS)), np.int64)
_AMP = name_key("amp")
_NO_ESCAPE_KEYS = np.array(sorted(map(name_key, NO_ESCAPES)), np.int64)


@compiled_within
def begins_markup(c: Any) -> bool:
    """Whether a character may begin markup: an ampersand, a hyphen, <, a backslash, or a closing bracket."""
    return bool(c == 60 or c == 38 or c == 45 or (c | 1) == 93)


@compiled_within
def hex_digit(c: Any) -> Any:
    """Value of a hexadecimal digit; -1 of any other character."""
    if 48 <= c <= 57:
        return c - 48
    lower = c | 32
    return lower - 87 if 97 <= lower <= 102 else -1


@compiled_within
def _unit(data: Any, i: Any) -> Any:
    """Four hexadecimal digits of an escape of JSON, which was checked before."""
    value = np.int64(0)
    for j in range(i, i + 4):
        value = value * 16 + hex_digit(np.int64(data[j]))
    return value


@compiled_within
def next_character(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """The character at i, and where the next one begins; -1 for bytes that are no UTF-8."""
    c = np.int64(data[i])
    i += 1
    if c < 128:
        if c != 92 or not escaped:
            return c, i
        c = np.int64(data[i])
        i += 1
        if c == 117:
            c = _unit(data, i)
            i += 4
            if 0xD800 <= c < 0xDC00 and i + 5 < end and data[i] == 92 and data[i + 1] == 117:
                low = _unit(data, i + 2)
                if 0xDC00 <= low < 0xE000:
                    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00), i + 6
        elif c == 110:
            c = np.int64(10)
        elif c == 114:
            c = np.int64(13)
        elif c == 116:
            c = np.int64(9)
        elif c == 98 or c == 102:
            c = np.int64(8)
        return c, i
    more = 1 if 0xC2 <= c < 0xE0 else 2 if 0xE0 <= c < 0xF0 else 3 if 0xF0 <= c < 0xF5 else 0
    if more == 0 or i + more > end:
        return np.int64(-1), i
    least = 0x80 if more == 1 else 0x800 if more == 2 else 0x10000
    c &= 0x3F >> more
    for j in range(i, i + more):
        if data[j] & 0xC0 != 0x80:
            return np.int64(-1), i
        c = (c << 6) | np.int64(data[j] & 0x3F)
    if c < least or c > MOST_POINT or 0xD800 <= c < 0xE000:
        return np.int64(-1), i
    return c, i + more


@compiled_within
def _is_space(c: Any) -> bool:
    return bool(c == 32 or c == 9 or c == 10 or c == 13)


@compiled_within
def _is_letter(c: Any) -> bool:
    return bool(97 <= (c | 32) <= 122)


@compiled_within
def _place_among(keys: Any, key: Any) -> int:
    """Where a key stands among all that are sorted; -1 where it does not."""
    at = lower_bound(keys, 0, keys.size, key)
    return at if at < keys.size and keys[at] == key else -1


@compiled_within
def _entity(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """The character for which an entity stands that begins before i, and its end; -1 where there is none."""
    after = np.int64(-1)
    # Escaped twice or more, as in feeds: &amp;#39;
    while True:
        j, key, n, value, number, base = i, np.int64(0), 0, np.int64(0), False, 10
        closed = False
        while j < end:
            d, j = next_character(data, j, end, escaped)
            if d == 59:
                closed = True
                break
            if n == 0 and not number and d == 35:
                number = True
                continue
            if number:
                if n == 0 and base == 10 and (d | 32) == 120:
                    base = 16
                    continue
                digit = hex_digit(d)
                if digit < 0 or digit >= base or n >= (_MOST_DIGITS if base == 10 else _MOST_HEX):
                    break
                value = value * base + digit
            else:
                if not _is_letter(d) or n >= _MOST_IN_NAME:
                    break
                key = (key << 6) | (d & 63)
            n += 1
        if not closed or n < (1 if number else _LEAST_IN_NAME):
            return after, np.int64(_SPACE)
        if number:
            return j, value if value <= MOST_POINT else np.int64(_SPACE)
        if key != _AMP:
            at = _place_among(_ENTITY_KEYS, key)
            return j, _ENTITY_POINTS[at] if at >= 0 else np.int64(_SPACE)
        after = i = j


@compiled_within
def _comment_end(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """Where a comment ends that begins with <! before i; -1 where there is none."""
    j = i
    for _ in range(2):
        if j >= end:
            return np.int64(-1)
        d, j = next_character(data, j, end, escaped)
        if d != 45:
            return np.int64(-1)
    dashes = n = 0
    while j < end and n <= MOST_IN_TAG + 2:
        d, j = next_character(data, j, end, escaped)
        if d < 0:
            return np.int64(-1)
        if d == 62 and dashes >= 2:
            return j
        dashes = dashes + 1 if d == 45 else 0
        n += 1
    return np.int64(-1)


@compiled_within
def _tag_end(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """Where a tag or a comment ends that begins before i; -1 where there is none."""
    j = i
    if j >= end:
        return np.int64(-1)
    d, j = next_character(data, j, end, escaped)
    if d == 33:
        return _comment_end(data, j, end, escaped)
    if d == 47:
        if j >= end:
            return np.int64(-1)
        d, j = next_character(data, j, end, escaped)
    if not _is_letter(d):
        return np.int64(-1)
    n = 0
    # Of the word at hand: is it one behind a space, has it a sign in it, and what came before.
    behind = within = valued = slashed = False
    before = np.int64(0)
    bare, quoted = True, False
    while j < end:
        d, j = next_character(data, j, end, escaped)
        if d == 62 or _is_space(d):
            if within:
                bare &= slashed or (valued and before != 61)
            if d == 62:
                return j if bare or quoted else np.int64(-1)
            behind, within = True, False
        elif d == 60 or d < 0:
            return np.int64(-1)
        else:
            if behind and not within:
                within, valued, slashed = True, False, True
                bare &= d != 61
            valued |= d == 61
            slashed &= d == 47
            quoted |= before == 61 and (d == 34 or d == 39)
        before = d
        n += 1
        if n > MOST_IN_TAG:
            return np.int64(-1)
    return np.int64(-1)


@compiled_within
def _target_end(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """Where the address of a link of Markdown ends whose ] lies before i; -1 where there is none."""
    j = i
    if j >= end or data[j] != 40:
        return np.int64(-1)
    j += 1
    n = n_inner = 0
    marked = grouped = inner = False
    d = np.int64(0)
    while j < end:
        d, j = next_character(data, j, end, escaped)
        if d < 0:
            return np.int64(-1)
        if inner:
            if d == 41:
                inner = False
                continue
            if d == 40 or _is_space(d) or n_inner >= MOST_IN_TARGET:
                return np.int64(-1)
            n_inner += 1
            continue
        if d == 41:
            return j if marked and n > 0 else np.int64(-1)
        if _is_space(d):
            break
        n += 1
        if n > MOST_IN_TARGET:
            return np.int64(-1)
        if d == 40:
            inner, grouped, n_inner = True, True, 0
        else:
            marked |= not grouped and (d == 46 or d == 47 or d == 35 or d == 58)
    if not marked or not _is_space(d):
        return np.int64(-1)
    blanks = 1
    while j < end:
        d, j = next_character(data, j, end, escaped)
        if not _is_space(d):
            break
        blanks += 1
    if d != 34 or blanks > _MOST_BLANKS:
        return np.int64(-1)
    n = 0
    while j < end and n <= MOST_IN_TARGET:
        d, j = next_character(data, j, end, escaped)
        if d < 0:
            return np.int64(-1)
        if d == 34:
            if j >= end:
                return np.int64(-1)
            d, j = next_character(data, j, end, escaped)
            return j if d == 41 else np.int64(-1)
        n += 1
    return np.int64(-1)


@compiled_within
def _four_digits(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """Value of four hexadecimal digits from i on, and their end; -1 where there are none."""
    value = np.int64(0)
    for _ in range(4):
        if i >= end:
            return np.int64(-1), i
        d, i = next_character(data, i, end, escaped)
        digit = hex_digit(d)
        if digit < 0:
            return np.int64(-1), i
        value = value * 16 + digit
    return value, i


@compiled_within
def _command(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """What a backslash before i stands for together with what follows, and its end; -1 where it stands by itself."""
    nothing = np.int64(-1), np.int64(_SPACE)
    if i >= end:
        return nothing
    first, after_first = next_character(data, i, end, escaped)
    if not 97 <= first <= 122:
        return nothing
    j, key, n, d = i, np.int64(0), 0, np.int64(0)
    while j < end and n <= LONGEST_NAME:
        d, j = next_character(data, j, end, escaped)
        if not 97 <= d <= 122:
            break
        key = (key << 6) | (d & 63)
        n += 1
    if n > LONGEST_NAME:
        key = np.int64(0)
    elif d == 123 and _place_among(_FORMAT_KEYS, key) >= 0:
        return j, np.int64(_SPACE)
    if first == 117:
        point, j = _four_digits(data, after_first, end, escaped)
        if point < 0:
            return nothing
        if 0xD800 <= point < 0xDC00 and j < end:
            d, k = next_character(data, j, end, escaped)
            if d == 92 and k < end:
                d, k = next_character(data, k, end, escaped)
                if d == 117:
                    low, k = _four_digits(data, k, end, escaped)
                    if 0xDC00 <= low < 0xE000:
                        return k, 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
        return j, point
    if (first == 110 or first == 114 or first == 116) and _place_among(_NO_ESCAPE_KEYS, key) < 0:
        return after_first, np.int64(_SPACE)
    return nothing


@compiled_within
def _hyphen_end(data: Any, i: Any, end: int, escaped: bool) -> Any:
    """Where the line begins that follows a hyphen before i, behind its blanks; -1 where no line ends there."""
    if i >= end or not (data[i] == 10 or data[i] == 13 or data[i] == 92):
        return np.int64(-1)
    d, j = next_character(data, i, end, escaped)
    if d == 13 and j < end:
        d, j = next_character(data, j, end, escaped)
    if d != 10:
        return np.int64(-1)
    while j < end:
        d, k = next_character(data, j, end, escaped)
        if d != 32 and d != 9:
            break
        j = k
    return j


@compiled_within
def markup_at(data: Any, i: Any, end: int, escaped: bool, c: Any) -> Any:
    """The character for which markup stands that begins with c before i, where it ends, and whether it is a hyphen.

    Where there is none, c itself and i.
    """
    after, point = np.int64(-1), np.int64(_SPACE)
    if c == 45:
        after = _hyphen_end(data, i, end, escaped)
        # Its break and blanks separate words as it does.
        return c, (i if after < 0 else after), after >= 0
    if c == 60:
        after = _tag_end(data, i, end, escaped)
    elif c == 38:
        after, point = _entity(data, i, end, escaped)
    elif c == 93:
        after = _target_end(data, i, end, escaped)
    else:
        after, point = _command(data, i, end, escaped)
    return (c, i, False) if after < 0 else (point, after, False)
