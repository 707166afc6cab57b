"""MinHash against each text compared with each, for all three ways in which it is used."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.kernels import minhash
from goldassay.kernels.hashing import odd_multipliers
from goldassay.kernels.minhash import NearIndex, Shingles, join, sign
from goldassay.kernels.splitting import code_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

ALL = 2**64 - 1


def made_texts(seed: int, n: int, length: int = 9, n_words: int = 60) -> list[str]:
    """Texts of which most are another one with a word changed."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n_words, (n // 6, length)).repeat(6, 0)
    for _ in range(2):
        at = np.flatnonzero(rng.random(len(rows)) < 0.6)
        rows[at, rng.integers(0, length, at.size)] = rng.integers(0, n_words, at.size)
    texts = [" ".join(f"{'abc'[word % 3]}{word:02d}" for word in row) for row in rows]
    return [texts[at] for at in rng.permutation(len(texts))]


def characters(texts: Sequence[str]) -> Shingles:
    points, starts = code_points(texts)
    return Shingles.of_characters(points, starts[:-1], starts[1:], 5)


def words(texts: Sequence[str]) -> Shingles:
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(word, len(numbers)) for word in text.split()] for text in texts]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Shingles.of_words(np.array(list(chain.from_iterable(rows)), np.int32), offsets, *code_points(list(numbers)))


def runs(text: str) -> set[str]:
    return {text[at : at + 5] for at in range(max(len(text) - 4, 1))}


def jaccard(one: str, other: str) -> float:
    return len(runs(one) & runs(other)) / len(runs(one) | runs(other))


def joined_by_loops(n: int, similarity: Callable[[int, int], float], at_least: float) -> list[int]:
    """Each text with each representative before it, the most similar one, of equal ones the first."""
    found: list[int] = []
    for text in range(n):
        near = [(-similarity(text, other), other) for other in range(text) if found[other] == other]
        near = [each for each in near if -each[0] >= at_least]
        found.append(min(near)[1] if near else text)
    return found


def key_of(values: Sequence[int]) -> int:
    """`hash_run` in plain Python."""
    key = 0
    for value in values:
        key = (key * 0x9E3779B97F4A7C15 + value + 1) & ALL
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & ALL
    key = (key ^ key >> 27) * 0x94D049BB133111EB & ALL
    return key ^ key >> 31


def minima_of(keys: set[int], n: int) -> list[int]:
    multipliers = odd_multipliers(n).tolist()
    return [min((key * odd & 0xFFFFFFFF) ^ key >> 32 for key in keys) for odd in multipliers]


@pytest.mark.parametrize("seed", range(3))
def test_texts_are_joined_as_by_comparing_each_with_each(seed: int) -> None:
    texts = [*made_texts(seed, 240), "", "a", "abcd", "abcde"]
    shingles = characters(texts)
    bands, sizes = sign(shingles, 20, 5)
    expected = joined_by_loops(len(texts), lambda one, other: jaccard(texts[one], texts[other]), 0.8)
    assert join(bands, 0.8, 200, shingles, sizes, 2).tolist() == expected
    assert sum(at != found for at, found in enumerate(expected)) > 20
    assert sizes.tolist() == [len(runs(text)) for text in texts]


def test_the_index_finds_all_pairs_and_the_share_of_each_part() -> None:
    texts = [*made_texts(3, 180), "a01", "b02 a"]
    halves = [(text[: len(text) // 2], text[len(text) // 2 :] if at % 5 else "") for at, text in enumerate(texts)]
    points, starts = code_points([part for text, both in zip(texts, halves, strict=True) for part in (text, *both)])
    index = NearIndex.of(Shingles.of_characters(points, starts[:-1], starts[1:], 5), 3, 25, 5)
    others = [*made_texts(3, 240), *texts[:40], *(text + "x" for text in texts), "", "a"]
    found = {}
    for hits, shares in index.search(characters(others), 0.8):
        found |= dict(zip(map(tuple, hits.tolist()), shares.tolist(), strict=True))
    expected = {}
    for at, other in enumerate(others):
        for number, text in enumerate(texts):
            if jaccard(text, other) >= 0.8:
                parts = [len(runs(part) & runs(other)) / len(runs(part)) if part else 1.0 for part in halves[number]]
                expected[at, number] = [jaccard(text, other), *parts]
    assert found.keys() == expected.keys()
    assert len(found) > 200
    assert np.array(list(found.values())) == pytest.approx(np.array([expected[pair] for pair in found]))


def test_a_search_goes_on_where_there_is_no_room_for_more_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = made_texts(4, 60)
    index = NearIndex.of(characters(texts), 1, 25, 5)
    at_once = [hits.tolist() for hits, _ in index.search(characters(texts * 3), 0.8)]
    monkeypatch.setattr(minhash, "_ROOM", 0)
    in_parts = [hits.tolist() for hits, _ in index.search(characters(texts * 3), 0.8)]
    assert (len(at_once), len(in_parts) > 10) == (1, True)
    assert list(chain.from_iterable(in_parts)) == at_once[0]


def test_packed_bands_are_the_low_halves_of_the_minima_of_words() -> None:
    texts = ["a man sleeps", "a man is a man", "", "sleeps"]
    bands, sizes = sign(words(texts), 8, 4, packed=True)
    assert sizes.size == 0
    for row, text in zip(bands, texts, strict=True):
        keys = {key_of([ord(letter) for letter in word]) for word in text.split()}
        minima = minima_of(keys, 32) if keys else [0xFFFF] * 32
        own = [int(band) >> shift & 0xFFFF for band in row for shift in (0, 16, 32, 48)]
        assert own == [least & 0xFFFF for least in minima]


def halves_of(bands: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.concatenate([bands >> np.uint64(shift) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)], axis=1)


@pytest.mark.parametrize("at_least", [18 / 32, 26 / 32])
def test_signatures_are_joined_by_their_equal_minima(at_least: float) -> None:
    bands = sign(words(made_texts(5, 300, 14)), 8, 4, packed=True)[0]
    minima = halves_of(bands)

    def similarity(one: int, other: int) -> float:
        # Texts without a band in common are not compared.
        return float((bands[one] == bands[other]).any()) * (minima[one] == minima[other]).mean()

    expected = joined_by_loops(len(bands), similarity, at_least)
    assert join(bands, at_least, 200).tolist() == expected
    assert sum(at != found for at, found in enumerate(expected)) > 20


def test_the_share_of_equal_minima_is_near_the_share_of_words() -> None:
    texts = made_texts(6, 300, 14)
    minima = halves_of(sign(words(texts), 8, 4, packed=True)[0])
    errors = []
    for one in range(200):
        for other in range(one + 1, one + 20):
            a, b = set(texts[one].split()), set(texts[other].split())
            errors.append((minima[one] == minima[other]).mean() - len(a & b) / len(a | b))
    assert abs(np.mean(errors)) < 0.02
    assert np.std(errors) < 0.5 / np.sqrt(32)


def test_threads_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shingles = characters(made_texts(7, 200))
    bands, sizes = sign(shingles, 20, 5)
    monkeypatch.setattr(minhash, "CHUNK", 30)
    for n_threads in (1, 2):
        again = sign(shingles, 20, 5, n_threads=n_threads)
        assert (again[0] == bands).all()
        assert (again[1] == sizes).all()


def test_nothing_is_joined_to_nothing() -> None:
    empty = characters([])
    bands, sizes = sign(empty, 20, 5)
    assert join(bands, 0.8, 200, empty, sizes).tolist() == []
    assert list(NearIndex.of(characters(["abc"]), 1, 25, 5).search(empty, 0.8)) == []
