"""The hash against published values, and the tables against dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from goldassay.kernels.hashing import (
    FNV_START,
    STEP,
    finalized,
    fnv,
    hash_place,
    lower_bound,
    numbered_place,
    open_table,
    stamped_place,
    table_size,
)


@njit  # type: ignore[misc]
def fnv_of(letters: Any) -> Any:
    key = FNV_START
    for letter in letters:
        key = fnv(key, letter)
    return key


@njit  # type: ignore[misc]
def distinct_ways(keys: Any, slots: Any, shift: Any) -> Any:
    """Number the distinct keys by each table, those of half of them in the stamped one; and say how many there are."""
    size = table_size(keys.size)
    numbers, firsts = np.full(size, -1, np.int32), np.empty(keys.size, np.uint64)
    entered, stamps = np.zeros(size, np.uint64), np.full(size, -1, np.int64)
    n = n_stamped = n_hashed = 0
    for i in range(keys.size):
        place = numbered_place(keys[i], keys[i], numbers, firsts)
        if numbers[place] < 0:
            numbers[place] = n
            firsts[n] = keys[i]
            n += 1
        stamp = np.int64(2 * i >= keys.size)
        place = stamped_place(keys[i], keys[i], entered, stamps, stamp)
        n_stamped += stamps[place] != stamp
        stamps[place] = stamp
        entered[place] = keys[i]
        place = hash_place(keys[i], slots, shift)
        n_hashed += slots[place] == 0
        slots[place] = keys[i]
    return n, n_stamped, n_hashed


@njit  # type: ignore[misc]
def places(keys: Any, sought: Any) -> Any:
    found = np.empty(sought.size, np.int64)
    for i in range(sought.size):
        found[i] = lower_bound(keys, 2, keys.size, sought[i])
    return found


def test_the_finalizer_is_that_of_splitmix64() -> None:
    steps = np.arange(1, 4, dtype=np.uint64) * STEP
    # The first numbers of the generator with the seeds 0 and 1234567, as others have published them.
    assert finalized(steps)[0] == 0xE220A8397B1DCDAF
    assert finalized(steps + np.uint64(1234567)).tolist()[:2] == [6457827717110365317, 3203168211198807973]


def test_fnv_is_fnv_1a() -> None:
    assert fnv_of(np.frombuffer(b"", np.uint8)) == 0xCBF29CE484222325
    assert fnv_of(np.frombuffer(b"a", np.uint8)) == 0xAF63DC4C8601EC8C
    assert fnv_of(np.frombuffer(b"foobar", np.uint8)) == 0x85944171F73967E8


def test_tables_hold_each_key_once() -> None:
    # Keys that are alike in their low bits lie in one run of places.
    keys = np.random.default_rng(0).integers(1, 60, 400).astype(np.uint64) << np.uint64(58)
    halves = [set(half.tolist()) for half in (keys[:200], keys[200:])]
    n = len(halves[0] | halves[1])
    stamped = len(halves[0]) + len(halves[1])
    first, by_stamp, by_hash = distinct_ways(keys, *open_table(keys.size))
    assert (first, by_hash) == (n, n)
    # What the second half enters may overwrite the places of the first: these count as empty.
    assert by_stamp == stamped


def test_places_in_sorted_keys() -> None:
    keys = np.array([9, 1, 1, 4, 7, 12], np.int32)
    assert places(keys, np.array([0, 1, 4, 5, 9, 12, 13])).tolist() == [2, 2, 3, 4, 5, 5, 6]
