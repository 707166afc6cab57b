"""One hash for all compiled loops, and where keys lie in tables: open ones and sorted ones.

Figures depend on some of these numbers: which buckets the features of probes share, which examples are shown, which
sentences are taken for near copies, which examples a resample draws. They must stay as they are.

Numba keeps machine code by the file of the outer loop: after a change of what loops of other files call, here or in
`utf8`, `markup`, `splitting` and `ngram_search`, the caches of those files must be emptied.

Source: Steele, Lea and Flood 2014 (splitmix64); Fowler, Noll and Vo (FNV-1a).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import register_jitable

from goldassay.core.compiled import compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Odd constants of splitmix64: what is added a step, and what its finalizer multiplies by.
STEP, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
# Its multiples tell the kinds of features of probes apart.
SALT = np.uint64(0xD1B54A32D192ED03)
FNV_START, _FNV_PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
ONE = np.uint64(1)
_27, _29, _30, _31, _32 = (np.uint64(n) for n in (27, 29, 30, 31, 32))
_LOW_OF_STEP = np.uint64(0x7F4A7C15)
# What arrays of NumPy are hashed by, too.
_everywhere = register_jitable(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@_everywhere
def finalized(key: Any) -> Any:
    """A number in which all bits of a key have a part, of each key another one: the finalizer of splitmix64."""
    key = (key ^ (key >> _30)) * FIRST
    key = (key ^ (key >> _27)) * SECOND
    return key ^ (key >> _31)


@_everywhere
def absorbed(h: Any, value: Any) -> Any:
    """A hash of a hash and one more value."""
    h = (h ^ value) * FIRST
    return h ^ (h >> _29)


@compiled_within
def fnv(h: Any, value: Any) -> Any:
    """One step of FNV-1a, for values of few bits one after the other; `FNV_START` is the hash of none."""
    return (h ^ np.uint64(value)) * _FNV_PRIME


@compiled_within
def combined(one: Any, two: Any) -> Any:
    """Hash two hashes into one; the order counts."""
    mixed = one * STEP ^ (two + _LOW_OF_STEP)
    mixed = (mixed ^ (mixed >> _29)) * FIRST
    return mixed ^ (mixed >> _32)


@compiled_within
def hash_run(values: Any, begin: int, end: int) -> Any:
    """Hash of a run of values, such as code points; two different runs share one by chance 5e-20."""
    key = np.uint64(0)
    for i in range(begin, end):
        key = key * STEP + np.uint64(values[i] + 1)
    return finalized(key)


def odd_multipliers(n: int) -> NDArray[np.uint32]:
    """The first n of a fixed sequence of odd numbers, each of which makes a hash function of its own."""
    return np.random.default_rng(0).integers(0, 2**31, n, dtype=np.uint32) * np.uint32(2) + np.uint32(1)


@compiled_within
def table_size(n: int) -> int:
    """Places of an open table for n keys: a power of two, at most half of them taken."""
    places = 16
    while places < 2 * n:
        places *= 2
    return places


@compiled_within
def stamped_place(at: Any, key: Any, keys: Any, stamps: Any, stamp: Any) -> Any:
    """Where a key is in an open table, or would go, looking from a place on; entries of other stamps are empty."""
    mask = np.uint64(keys.size - 1)
    place = np.uint64(at) & mask
    while stamps[place] == stamp and keys[place] != key:
        place = (place + ONE) & mask
    return place


@compiled_within
def numbered_place(at: Any, key: Any, numbers: Any, keys: Any) -> Any:
    """Where the number of a key is in an open table, or would go; -1 is an empty place, number i that of keys[i]."""
    mask = np.uint64(numbers.size - 1)
    place = at & mask
    while numbers[place] >= 0 and keys[numbers[place]] != key:
        place = (place + ONE) & mask
    return place


@compiled_within
def hash_place(h: Any, slots: Any, shift: Any) -> Any:
    """Where a hash is in an open table of 2^(64 - shift) hashes, or would go; 0 is an empty place."""
    last = np.int64(slots.size - 1)
    at = np.int64((h * STEP) >> shift)
    while slots[at] != 0 and slots[at] != h:
        at = (at + 1) & last
    return at


def open_table(n: int) -> tuple[NDArray[np.uint64], np.uint64]:
    """An empty table for n hashes, and the shift that leads to a place; see `hash_place`."""
    bits = max(6, int(np.ceil(np.log2(max(1, n) * 2))))
    return np.zeros(1 << bits, np.uint64), np.uint64(64 - bits)


@compiled_within
def lower_bound(keys: Any, first: Any, past: Any, key: Any) -> Any:
    """Where a key stands, or would, among keys that ascend from `first` to `past`."""
    low, high = first, past
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
