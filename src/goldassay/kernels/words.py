"""The words of a text as copies keep them: without case, punctuation, line breaks, and the ways to write a character.

A text is brought to Unicode's form NFKC and lower case; letters, digits and marks make words, everything else separates
them, and each character of a script that is written without spaces is a word of its own.

Bytes are scanned by a table of code points. Most characters mean the same wherever they are; a text with others, such
as marks that join the letter before them, is left to `words_of`, which both ways must agree with.

UTF-8 eight bytes at a time, to find the first that is no letter or ends a string, and where sentences start in it.

Of eight bytes, one that is met has its highest bit set in the result. Bytes above the first one that is met may be
wrong where a sum has carried; the first one never is, and no other is asked for.

Source: Lamport 1975 (multiple byte processing with full-word instructions).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from html.entities import name2codepoint
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What the table says of a code point: separates words; is dropped; depends on its neighbours; else the character that
# stands for it, with a bit for such as are words by themselves. Where several stand for it: a bit, and where they begin
# behind all code points, up to the end.
SEPARATES, DROPPED, DEPENDS, END = 0, -1, -2, -3
ALONE, SEVERAL = 1 << 22, 1 << 23
N_POINTS = 0x40000
MOST_POINT = 0x10FFFF
# Thai, Lao, Myanmar, Khmer, kana, bopomofo, Han.
_ALONE = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x312F), (0x31A0, 0x31BF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
# Characters that are not seen: those of category Cf (soft hyphens, joiners, spaces without width, marks of direction,
# byte order marks), variation selectors, fillers and the like (Unicode's Default_Ignorable_Code_Point).
_FILLERS = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, *range(0xFE00, 0xFE10), 0xFFA0)
_DROPPED = frozenset(point for point in range(N_POINTS) if unicodedata.category(chr(point)) == "Cf").union(_FILLERS)
# The same beyond the table: tags, and the other variation selectors.
UNSEEN_FIRST, UNSEEN_LAST = 0xE0000, 0xE0FFF
# Vowel points of Arabic and Hebrew, and the line that stretches Arabic words: most texts are written without them.
# Hamzas stay, which tell letters apart; so do marks of scripts that cannot be read without theirs.
_POINTS = frozenset(
    point
    for first, last in (
        (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x0652), (0x0656, 0x065F), (0x0670, 0x0670), (0x06D6, 0x06ED),
        (0x08D3, 0x08FF),
    )
    for point in range(first, last + 1)
    if unicodedata.category(chr(point)) == "Mn"
) | {0x0640}  # fmt: skip
_POINTED = re.compile(f"[{''.join(map(chr, sorted(_POINTS)))}]+")
# Markup separates words: a copy of a page has it where the item has none.
MOST_IN_TAG = MOST_IN_TARGET = 256
# Commands of LaTeX that say how their words look; others may mean something, as \\sqrt does.
FORMATS = (
    "boldsymbol", "bm", "emph", "hl", "mathbf", "mathit", "mathrm", "mathsf", "mathtt", "mbox", "text", "textbf",
    "textit", "textmd", "textnormal", "textrm", "textsc", "textsf", "textsl", "texttt", "textup", "ul", "uline",
    "underline",
)  # fmt: skip
# Commands of LaTeX that begin as an escape of a line break or a tab does, and are none.
NO_ESCAPES = (
    "nabla", "ncong", "ne", "nearrow", "neg", "neq", "newcommand", "newline", "nleq", "noindent", "nonumber", "not",
    "notag", "notin", "nsubseteq", "nu", "nwarrow", "raise", "rangle", "rbrace", "rceil", "ref", "rfloor", "rho",
    "right", "rightarrow", "rm", "rtimes", "rule", "rvert", "table", "tag", "tan", "tanh", "tau", "tbinom", "text",
    "textcolor", "textstyle", "textwidth", "tfrac", "therefore", "theta", "thinspace", "tilde", "times", "tiny",
    "title", "to", "top", "triangle", "triangleq",
)  # fmt: skip
# Letters of a name that has a key.
LONGEST_NAME = 10
# What has words behind a space is a tag only where each of them has a value, a=b, or one has a quoted one: a <b and c =
# d> e has none. An address has one of ./#: in it, and no f[i](x) is one.
_SPACES = r" \t\n\r"
_MARKUP = (
    rf"<!--[\s\S]{{0,{MOST_IN_TAG}}}?-->"
    rf"|</?[A-Za-z](?=[^<>]{{0,{MOST_IN_TAG}}}>)"
    rf"(?:[^<>{_SPACES}]*(?:[{_SPACES}]+(?:/+|[^<>={_SPACES}]+=[^<>{_SPACES}]*[^<>={_SPACES}]))*[{_SPACES}/]*"
    rf"|[^<>]*=[\"'][^<>]*)>"
    r"|&(?:amp;)*(?:#(?P<decimal>[0-9]{1,7})|#[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<name>[A-Za-z]{2,8}));"
    rf"|\]\((?=[^(){_SPACES}]*[./#:])(?:[^(){_SPACES}]|\([^(){_SPACES}]{{0,{MOST_IN_TARGET}}}\)){{1,{MOST_IN_TARGET}}}"
    rf"(?:[{_SPACES}]{{1,4}}\"[^\"]{{0,{MOST_IN_TARGET}}}\")?\)"
    rf"|\\(?:{'|'.join(FORMATS)})\{{"
    r"|\\u(?P<first>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<second>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<unit>[0-9a-fA-F]{4})"
    rf"|\\(?!(?:{'|'.join(NO_ESCAPES)})(?![a-z]))[nrt]"
)
_ONE_LINE = re.compile(_MARKUP)
# What decides which words a text has, and may be another with the next version, or the next Python.
RULES = f"{_MARKUP} {sorted(_DROPPED)} {sorted(_POINTS)} {_ALONE} {unicodedata.unidata_version}"
# In the other reading a hyphen at the end of a line is of the way in which lines were broken.
_JOINED = re.compile(rf"{_MARKUP}|(?P<hyphen>-\r?\n[ \t]*)")
_HYPHENS = ("-\n", "-\r\n")
_INSIDE, _ALONE_KIND, _UNSEEN = 1, 2, 3
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in order.

    Args:
        text: Any text; lone surrogates separate words.
    """
    return _split(_without_markup(text, _ONE_LINE))[0]


def readings_of(text: str) -> tuple[list[str], ...]:
    """The words of a text in each way in which they may be meant: one, or two that differ.

    Characters that nobody sees are within words, or are all that separates them; a hyphen at the end of a line
    separates words, or was put where a word was broken. The second reading takes the other way of both.
    """
    plain = _without_markup(text, _ONE_LINE)
    first, has_unseen = _split(plain)
    is_broken = any(each in text for each in _HYPHENS)
    if not has_unseen and not is_broken:
        return (first,)
    second = _split(_without_markup(text, _JOINED) if is_broken else plain, apart=True)[0]
    return (first,) if second == first else (first, second)


def _without_markup(text: str, markup: re.Pattern[str]) -> str:
    if "<" in text or "&" in text or "\\" in text or "](" in text or markup is _JOINED:
        return markup.sub(_stands_for, text)
    return text


def _stands_for(match: re.Match[str]) -> str:
    """The character that an entity or an escape stands for, nothing for a hyphen, a space for other markup."""
    kind = match.lastgroup
    if kind is None:
        return " "
    if kind == "name":
        return chr(name2codepoint.get(match["name"], 32))
    if kind == "hyphen":
        return ""
    if kind == "second":
        return chr(0x10000 + ((int(match["first"], 16) - 0xD800) << 10) + int(match["second"], 16) - 0xDC00)
    point = int(match[kind], 10 if kind == "decimal" else 16)
    return chr(point) if point <= MOST_POINT else " "


def name_key(name: str) -> int:
    """A number for up to ten letters of ASCII, which no other such name has."""
    key = 0
    for letter in name:
        key = key << 6 | ord(letter) & 63
    return key


def _split(text: str, *, apart: bool = False) -> tuple[list[str], bool]:
    """The words of a text without markup, and whether it has characters that nobody sees, which may set words apart."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower()), False
    normal = _POINTED.sub("", _lower(unicodedata.normalize("NFKC", text)))
    points = _points(normal)
    kinds = _kinds()[np.minimum(points, N_POINTS)]
    kinds[(points >= UNSEEN_FIRST) & (points <= UNSEEN_LAST)] = _UNSEEN
    is_seen = kinds != _UNSEEN
    has_unseen = not is_seen.all()
    if has_unseen and not apart:
        # No array of characters: one of NumPy's loses those that are zero.
        normal, kinds = "".join(compress(normal, is_seen)), kinds[is_seen]
    inside = (kinds == _INSIDE).astype(np.int8)
    edges = np.diff(inside, prepend=0, append=0)
    alone = np.flatnonzero(kinds == _ALONE_KIND)
    begins = np.concatenate([np.flatnonzero(edges == 1), alone])
    ends = np.concatenate([np.flatnonzero(edges == -1), alone + 1])
    order = np.argsort(begins) if alone.size else slice(None)
    words = [normal[begin:end] for begin, end in zip(begins[order].tolist(), ends[order].tolist(), strict=True)]
    return words, has_unseen


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _lower(text: str) -> str:
    # A sigma's form depends on its place in the word.
    return text.lower().replace("\u03c2", "\u03c3")


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM" and ord(character) not in _DROPPED


@cache
def alone_points() -> NDArray[np.bool_]:
    """Which code points are words by themselves, (N_POINTS,)."""
    found = np.zeros(N_POINTS, bool)
    for first, last in _ALONE:
        found[first : last + 1] = True
    return found


@cache
def _kinds() -> NDArray[np.uint8]:
    """What each character of the normal form is, with one more for all beyond the table."""
    alone = alone_points()
    found = np.zeros(N_POINTS + 1, np.uint8)
    for point in range(N_POINTS):
        if point in _DROPPED:
            found[point] = _UNSEEN
        elif _in_word(chr(point)):
            found[point] = _ALONE_KIND if alone[point] else _INSIDE
    return found


def is_alone(word: str) -> bool:
    """Whether a word is a character of a script without spaces."""
    return len(word) == 1 and ord(word) < N_POINTS and bool(alone_points()[ord(word)])


@cache
def _seconds() -> frozenset[str]:
    """Characters without a combining class that may join the one before them."""
    found = {chr(point) for point in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for point in range(N_POINTS):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)


@cache
def point_table() -> NDArray[np.int32]:
    """What each code point is, from 262144 on what stands for such as several do: one half is 1, a space, and 2."""
    table: list[int] = [SEPARATES] * N_POINTS
    alone, seconds = alone_points().tolist(), _seconds()
    for point, character in enumerate(map(chr, range(N_POINTS))):
        kind = unicodedata.category(character)
        if point in _DROPPED:
            table[point] = DROPPED
            continue
        if kind in ("Cn", "Co", "Cs"):
            continue
        # Most letters without case, such as all of Han, stand for themselves, and are not looked at further.
        if kind == "Lo" and character not in seconds and not unicodedata.decomposition(character):
            table[point] = point | ALONE if alone[point] else point
            continue
        entries = _entries(character, alone)
        table[point] = entries[0] if len(entries) == 1 else SEVERAL | len(table)
        if len(entries) > 1:
            table += [*entries, END]
    found = np.array(table, np.int32)
    found.flags.writeable = False
    return found


@cache
def ascii_letters() -> NDArray[np.uint8]:
    """Of each byte the letter or digit of ASCII that stands for it, 0 for all others, (256,)."""
    found = np.zeros(256, np.uint8)
    found[:128] = point_table()[:128]
    return found


def _entries(character: str, alone: list[bool]) -> list[int]:
    point = ord(character)
    if point < 0x80:
        return [ord(character.lower()) if character.isalnum() else SEPARATES]
    if point in _POINTS:
        return [DEPENDS]
    # What joins its neighbours behind it is read by hand itself, so that the first character alone decides.
    first = unicodedata.normalize("NFKD", character)[0]
    if unicodedata.combining(first) or first in _seconds():
        return [DEPENDS]
    normal = _lower(unicodedata.normalize("NFKC", character))
    if not any(map(_in_word, normal)):
        return [SEPARATES]
    points = list(map(ord, normal))
    if max(points) >= N_POINTS or not _DROPPED.union(_POINTS).isdisjoint(points):
        return [DEPENDS]
    return [
        SEPARATES if not _in_word(each) else ord(each) | ALONE if alone[ord(each)] else ord(each) for each in normal
    ]


# Numba asks for these arguments by their number.
# ruff: noqa: ARG001


SIZE = 8
# The lower case of letters; digits have this bit already.
LOWER = np.uint64(0x2020202020202020)
_LOWS, _HIGHS, _REST = (
    np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
)  # fmt: skip
# What is added to seven bits, so that the eighth is set from a character on: a, {, 0 and :.
_FROM_A, _AFTER_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _AFTER_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_QUOTES, _ESCAPES = np.uint64(0x2222222222222222), np.uint64(0x5C5C5C5C5C5C5C5C)
_BREAKS = np.uint64(0x0A0A0A0A0A0A0A0A)
_ONE, _EIGHT = np.uint64(1), np.uint64(8)


@intrinsic
def load(typing: Any, data: Any, place: Any) -> Any:
    """The eight bytes from a place on, the first one lowest; the array must reach so far, nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, given[0])
        address = builder.bitcast(builder.gep(array.data, [given[1]]), ir.IntType(64).as_pointer())
        value = builder.load(address, align=1)
        return builder.bswap(value) if sys.byteorder == "big" else value

    return types.uint64(data, types.int64), generate


@intrinsic
def _trailing_zeros(typing: Any, value: Any) -> Any:
    """Zeros below the lowest bit of a number that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@compiled_within
def other_than_letters(eight: Any) -> Any:
    """Bytes that are no letter or digit of ASCII; exact for each byte."""
    low = eight & _REST
    lower = (low | LOWER) & _REST
    is_letter = (lower + _FROM_A) & ~(lower + _AFTER_Z)
    is_digit = (low + _FROM_0) & ~(low + _AFTER_9)
    return ~((is_letter | is_digit) & ~eight) & _HIGHS


@compiled_within
def ends_of_string(eight: Any) -> Any:
    """Quotation marks, backslashes and control characters."""
    quotes, escapes = eight ^ _QUOTES, eight ^ _ESCAPES
    return (
        ((quotes - _LOWS) & ~quotes) | ((escapes - _LOWS) & ~escapes) | ((eight - LOWER) & ~eight)
    ) & _HIGHS  # fmt: skip


@compiled_within
def breaks_of_line(eight: Any) -> Any:
    """Line breaks."""
    breaks = eight ^ _BREAKS
    return (breaks - _LOWS) & ~breaks & _HIGHS


@compiled_within
def first_met(met: Any) -> Any:
    """Number of the first byte that is met, from 0; at least one must be."""
    return np.int64(_trailing_zeros(met) >> np.uint64(3))


@compiled_within
def before_first(met: Any) -> Any:
    """A mask of the bytes before the first that is met."""
    return (met ^ (met - _ONE)) >> _EIGHT


@compiled
def byte_starts(text: Any, starts: Any) -> Any:
    """Where sentences start in UTF-8 bytes, given where they start in characters, (N+1,) both."""
    found = np.empty_like(starts)
    at = 0
    character = 0
    for s in range(starts.size):
        while character < starts[s] or (at < text.size and text[at] & 192 == 128):
            character += text[at] & 192 != 128
            at += 1
        found[s] = at
    return found
