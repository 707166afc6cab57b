"""UTF-8 eight bytes at a time, to find the first that is no letter or ends a string, and where sentences start in it.

Of eight bytes, one that is met has its highest bit set in the result. Bytes above the first one that is met may be
wrong where a sum has carried; the first one never is, and no other is asked for.

Source: Lamport 1975 (multiple byte processing with full-word instructions).
"""

# Numba asks for these arguments by their number.
# ruff: noqa: ARG001

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from goldassay.core.compiled import compiled, compiled_within

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
