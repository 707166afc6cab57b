"""Parts in which words are planted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goldassay.stats.detection import control_parts, filling_word, planted_word


@given(
    clusters=st.lists(st.integers(0, 30), min_size=1, max_size=80),
    most=st.integers(1, 80),
    seed=st.integers(0, 3),
)
def test_a_part_is_of_whole_clusters_and_all_comes_last(clusters: list[int], most: int, seed: int) -> None:
    codes = np.array(clusters)
    *parts, every = control_parts(codes, seed, most)
    assert every.tolist() == list(range(len(clusters)))
    assert len(parts) == (len(clusters) > most)
    for part in parts:
        assert part.tolist() == sorted(set(part.tolist()))
        assert set(part.tolist()) == {at for at, code in enumerate(clusters) if code in set(codes[part].tolist())}
        sizes = np.bincount(codes[part])
        # One cluster fewer would be too few.
        assert most <= part.size < most + sizes.max()


def test_parts_differ_by_seed() -> None:
    first, again, other = (control_parts(np.arange(1000), seed, 100)[0] for seed in (0, 0, 1))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_words_are_of_twelve_letters_and_none_twice() -> None:
    words = [planted_word(0, at) for at in range(50)] + [filling_word(at) for at in range(1000)]
    assert len(set(words)) == len(words)
    assert all(len(word) == 12 and word.isascii() and word.isalpha() and word.islower() for word in words)
