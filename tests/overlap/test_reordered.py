"""Items with their words in a row in another order, against all pairs compared one by one."""

from __future__ import annotations

import math
import random
from collections import Counter

import polars as pl
import pytest

from goldassay.kernels.words import words_of
from goldassay.questions.overlap.doubts import find_reordered
from goldassay.questions.overlap.items import Item
from tests.overlap.search.corpora import sentence


def pair(first: str, second: str) -> Item:
    return Item("", (("premise", first), ("hypothesis", second)), "hypothesis", "")


def shuffled(rng: random.Random, text: str) -> str:
    words = text.split()
    rng.shuffle(words)
    return " ".join(words)


def is_reordered(item: Item, row: str) -> bool:
    """Counts of words at cosine .95, of what is asked too, in another order."""
    one, two = (words_of(text) for text in ("\n".join(text for _, text in item.parts), row))
    a, b, asked = Counter(one), Counter(two), Counter(words_of(item.parts[1][1]))
    cosine = sum(a[word] * b[word] for word in a) / math.sqrt(
        sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    )
    left = b - (a - asked)
    same = [word for word in one if word in b] == [word for word in two if word in a]
    is_swapped = two == words_of(f"{item.parts[1][1]}\n{item.parts[0][1]}")
    return cosine >= 0.95 and not same and not is_swapped and (left & asked).total() >= 0.95 * asked.total()


def test_they_are_those_of_all_pairs_compared_one_by_one() -> None:
    rng = random.Random(0)
    items = [pair(sentence(rng, rng.randint(2, 25)), sentence(rng, rng.randint(2, 9))) for _ in range(120)]
    rows = ["\n".join(shuffled(rng, text) for _, text in item.parts) for item in items[:50]]
    rows += [f"{row} {sentence(rng, 1)}" for row in rows[:30]] + [" ".join(row.split()[1:]) for row in rows[:30]]
    rows += ["\n".join(text for _, text in item.parts) for item in items[50:60]]
    rows += [sentence(rng, rng.randint(5, 30)) for _ in range(60)]
    found = find_reordered(items, pl.Series(rows))
    assert found.is_found.tolist() == [any(is_reordered(item, row) for row in rows) for item in items]
    assert 45 <= found.is_found.sum() <= 60
    assert not (found.is_swapped | found.is_within).any()


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{b} {a}", "swapped"),
        ("{turned} {b}", "found"),
        ("{a} {b}", "none"),
        ("{a} x {b}", "none"),
        ("{turned} {other}", "none"),
    ],
)
def test_what_is_another_order(row: str, kind: str) -> None:
    """A text twice, one with a word put in, and a long premise with another question are none."""
    rng = random.Random(1)
    a, b, other = sentence(rng, 80), sentence(rng, 4), sentence(rng, 4)
    text = row.format(a=a, b=b, turned=shuffled(rng, a), other=other)
    found = find_reordered([pair(a, b), pair(sentence(rng, 9), "no")], pl.Series([sentence(rng, 20), text]))
    assert (found.is_swapped[0], found.is_found[0]) == (kind == "swapped", kind == "found")


def test_within_the_test_set() -> None:
    rng = random.Random(2)
    items = [pair("the doctor saw the lawyer", "it rained"), pair("the lawyer saw the doctor", "it rained")]
    items.append(pair(sentence(rng, 7), sentence(rng, 4)))
    assert find_reordered(items, pl.Series([], dtype=pl.String)).is_within.tolist() == [True, True, False]


@pytest.mark.parametrize(
    "word", ["cafe\N{COMBINING ACUTE ACCENT}", "soft\N{SOFT HYPHEN}ly", "ﬁne", "雨天", "\U0001f600 x"]
)
def test_characters_of_all_kinds(word: str) -> None:
    """Such as compiled loops leave to Python, and such as are words by themselves."""
    rng = random.Random(3)
    items = [pair(f"{sentence(rng, 6)} {word} {sentence(rng, 6)}", sentence(rng, 5)) for _ in range(20)]
    rows = ["\n".join(shuffled(rng, text) for _, text in item.parts) for item in items[:10]]
    found = find_reordered(items, pl.Series([*rows, *(sentence(rng, 17) for _ in range(20))]))
    assert found.is_found.tolist() == [True] * 10 + [False] * 10


@pytest.mark.parametrize(("n_others", "found"), [(0, True), (1, False), (5, False)])
def test_other_words_beside_the_question_make_no_copy(n_others: int, found: bool) -> None:
    """Of 12 words one differs: 11 of 12 have a cosine of .917."""
    premise, asked = "ant bee cow dog elk fox gnu hen", "oak pine fir elm"
    words = premise.split()
    row = "\n".join((" ".join([*"pqrst"[:n_others], *words[n_others:][::-1]]), asked))
    assert find_reordered([pair(premise, asked)], pl.Series([row])).is_found.tolist() == [found]
