from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.data import near_copies
from goldassay.data.fields import normalized_text
from goldassay.data.near_copies import join_near_copies
from goldassay.data.reading import read_dataset
from goldassay.kernels import minhash

if TYPE_CHECKING:
    from pathlib import Path


def shingles(text: str) -> set[str]:
    """The definition in plain Python, for texts of ASCII letters, digits and punctuation."""
    words = re.sub(r"[^a-z0-9_]+", " ", text.lower()).strip()
    padded = f" {words} " if words else text
    return {padded[i : i + 5] for i in range(max(len(padded) - 4, 1))}


def similarity(one: str, other: str) -> float:
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b)


def brute_force(texts: list[str], counts: list[int]) -> list[int]:
    """Each text with each representative before it."""
    order = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
    found, representatives = list(range(len(texts))), []
    for i in order:
        near = [(-similarity(texts[i], texts[j]), at, j) for at, j in enumerate(representatives)]
        best = min(near, default=(0.0, 0, i))
        if -best[0] >= 0.8:
            found[i] = best[2]
        else:
            representatives.append(i)
    return found


WORDS = ("a", "man", "woman", "sleeps", "in", "the", "park", "with", "two", "dogs", "outside", "sleeping", "!", "?")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=25, unique=True)


@given(TEXTS, st.randoms(use_true_random=False))
def test_representatives_are_near_and_no_chain_is_made(texts: list[str], random: object) -> None:
    found = join_near_copies(texts)
    for i, representative in enumerate(found.tolist()):
        assert found[representative] == representative
        assert i == representative or similarity(texts[i], texts[representative]) >= 0.8
    # The order of rows changes nothing.
    moved = list(range(len(texts)))
    random.shuffle(moved)  # type: ignore[attr-defined]
    again = join_near_copies([texts[i] for i in moved])
    assert {(texts[i], texts[int(r)]) for i, r in enumerate(found)} == {
        (texts[moved[i]], texts[moved[int(r)]]) for i, r in enumerate(again)
    }


def sentences(data_dir: Path, file: str) -> list[str]:
    dataset = read_dataset(data_dir / file)
    return sorted({normalized_text(text) for role in dataset.text_columns for text in dataset.texts(role)})


@pytest.mark.slow
def test_real_sentences_are_joined_as_by_comparing_each_with_each(data_dir: Path) -> None:
    texts = sentences(data_dir, "sick/SICK.txt.gz")[:500]
    found = join_near_copies(texts, np.ones(len(texts), np.int64)).tolist()
    exact = brute_force(texts, [1] * len(texts))
    assert sum(i != j for i, j in enumerate(exact)) > 5
    assert found == exact


def test_what_counts_as_a_near_copy() -> None:
    base = "a man in a blue shirt is standing on a ladder cleaning the large window of a house"
    near = {
        "A dog is sleeping": "a dog is sleeping.",
        base: f"{base} outside",
        "Two people are riding red bicycles next to a building.": "Two people are riding bicycles next to a building.",
    }
    for one, other in near.items():
        assert len(set(join_near_copies([one, other]).tolist())) == 1, (one, other)
    for one, other in (("a man sleeps", "a woman sleeps"), ("yes", "no"), ("", "a"), ("!!", "??")):
        assert join_near_copies([one, other]).tolist() == [0, 1]
    # Scripts without spaces and without the Latin alphabet.
    assert (
        len(
            set(
                join_near_copies(
                    ["这个男人正在公园里和他的两只狗一起睡觉", "这个男人正在公园里和他的两只狗一起睡觉。"]
                ).tolist()
            )
        )
        == 1
    )
    assert join_near_copies([]).tolist() == []


def test_the_most_frequent_text_represents() -> None:
    texts = ["a dog is sleeping outside the house!", "a dog is sleeping outside the house", "a cat"]
    assert join_near_copies(texts, np.array([1, 3, 9])).tolist() == [1, 1, 2]
    assert join_near_copies(texts, np.array([3, 1, 9])).tolist() == [0, 0, 2]


def test_one_core_gives_what_two_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    base = {" ".join(rng.choice(WORDS, 9)) for _ in range(1000)}
    texts = sorted(base | {f"{text}s" for text in base})
    monkeypatch.setattr(minhash, "CHUNK", 300)
    found = []
    for n_cores in (1, 2):
        monkeypatch.setattr(near_copies, "cores", lambda n=n_cores: n)
        found.append(join_near_copies(texts))
    assert found[0].tolist() == found[1].tolist()
    assert (found[0] != np.arange(len(texts))).sum() > 50
