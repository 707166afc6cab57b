"""Exact matches: coverage against a plain loop, boilerplate, answers, and hashes that many n-grams share."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.kernels.ngram_matches import covered_in_order, densest, run_edges, stands_within
from goldassay.kernels.words import words_of
from goldassay.questions.overlap.search.confirmation import Confirmation
from tests.overlap.search.corpora import sentence, sought


def plain_coverage(item: list[str], document: list[str], n: int) -> float:
    """Share of words in n-grams that stand in the document, by comparing each with each."""
    n = min(n, len(item))
    grams = {tuple(document[at : at + n]) for at in range(len(document) - n + 1)}
    covered = set()
    for at in range(len(item) - n + 1):
        if tuple(item[at : at + n]) in grams:
            covered |= set(range(at, at + n))
    return len(covered) / len(item)


def plain_longest(item: list[str], document: list[str]) -> int:
    best = 0
    for i in range(len(item)):
        for j in range(len(document)):
            size = 0
            while i + size < len(item) and j + size < len(document) and item[i + size] == document[j + size]:
                size += 1
            best = max(best, size)
    return best


@pytest.mark.parametrize("n", [5, 8, 13])
@pytest.mark.parametrize("keep", [2**64 - 1, 0b1111], ids=["whole hashes", "four bits"])
def test_coverage_is_that_of_comparing_each_with_each(n: int, keep: int) -> None:
    """With four bits of a hash nearly every n-gram is a candidate: only the exact look keeps these from counting."""
    rng = random.Random(n)
    items = [sentence(rng, rng.randint(8, 40)) for _ in range(12)]
    known = sought(items, n=n, keep=keep)
    confirmation = Confirmation(known)
    for _ in range(60):
        words = words_of(" ".join(rng.sample(items, 3)))
        for at in range(len(words)):
            if rng.random() < 0.04:
                words[at] = rng.choice(["zz", words[at - 1]])
        document = " ".join(words)
        confirmed = confirmation.confirm(document)
        found = {} if confirmed is None else {match.item: match for match in confirmed.matches}
        for number, item in enumerate(items):
            share = plain_coverage(words_of(item), words, n)
            if share >= 0.2:
                assert found[number].coverage == pytest.approx(share)
                assert found[number].longest == plain_longest(words_of(item), words)
            else:
                assert number not in found


def test_boilerplate_does_not_count_unless_the_whole_item_stands_there() -> None:
    rng = random.Random(0)
    frame = sentence(rng, 30)
    items = [f"{frame} {sentence(rng, 20)}" for _ in range(5)]
    confirmation = Confirmation(sought(items))
    assert confirmation.confirm(frame) is not None
    assert confirmation.confirm(frame).matches == ()  # type: ignore[union-attr]
    found = confirmation.confirm(items[2])
    assert found is not None
    assert [(match.item, match.coverage) for match in found.matches] == [(2, 1.0)]
    # In three clusters it is no boilerplate: items of one cluster share their text by construction.
    together = Confirmation(sought(items, clusters=[0, 0, 0, 1, 2])).confirm(frame)
    assert together is not None
    assert [match.item for match in together.matches] == [0, 1, 2, 3, 4]


@given(st.lists(st.tuples(st.text("ab", min_size=5, max_size=12), st.integers(0, 9)), min_size=1, max_size=12))
def test_boilerplate_is_what_more_than_three_clusters_have(items: list[tuple[str, int]]) -> None:
    texts, clusters = [" ".join(text) for text, _ in items], [cluster for _, cluster in items]
    known = sought(texts, n=5, clusters=clusters)
    expected = []
    for text in known.texts:
        for begin in range(len(text.words) - 4):
            ngram = f" {' '.join(text.words[begin : begin + 5])} "
            expected.append(len({own for other, own in zip(texts, clusters, strict=True) if ngram in f" {other} "}) > 3)
    assert known.is_common.tolist() == expected


def test_an_item_that_is_all_boilerplate_is_found_as_a_whole() -> None:
    rng = random.Random(1)
    text = sentence(rng, 25)
    found = Confirmation(sought([text] * 6)).confirm(f"{sentence(rng, 5)} {text}")
    assert found is not None
    assert [match.coverage for match in found.matches] == [1.0] * 6


@pytest.mark.parametrize(("between", "answered"), [(0, True), (49, True), (51, False)])
def test_an_answer_follows_within_50_words(between: int, answered: bool) -> None:
    rng = random.Random(2)
    question = sentence(rng, 30)
    confirmation = Confirmation(sought([question], ["forty two"]))
    document = f"{question} {' '.join(['so'] * between)} Forty-two."
    (match,) = confirmation.confirm(document).matches  # type: ignore[union-attr]
    assert match.question == 1.0
    assert match.answered is answered
    before = confirmation.confirm(f"forty two {question}").matches  # type: ignore[union-attr]
    assert not before[0].answered


def test_a_long_answer_may_differ_in_a_word() -> None:
    rng = random.Random(3)
    question, answer = sentence(rng, 30), sentence(rng, 60)
    confirmation = Confirmation(sought([question], [answer]))
    (match,) = confirmation.confirm(f"{question} {answer.rsplit(' ', 1)[0]} zz").matches  # type: ignore[union-attr]
    assert match.answered
    (other,) = confirmation.confirm(f"{question} zz").matches  # type: ignore[union-attr]
    assert not other.answered


WORDS = st.lists(st.integers(-1, 2), max_size=14)


@given(
    WORDS,
    st.lists(st.integers(0, 2), min_size=1, max_size=3),
    st.lists(st.integers(0, 14), max_size=4),
    st.integers(0, 6),
)
def test_a_sequence_stands_within_so_many_words_after_the_last_place_before_it(
    document: list[int], sequence: list[int], after: list[int], most: int
) -> None:
    size = len(sequence)
    begins = [at for at in range(len(document) - size + 1) if document[at : at + size] == sequence]
    expected = any(
        begin - max(place for place in after if place <= begin) <= most
        for begin in begins
        if begin >= min(after, default=99)
    )
    arrays = (np.array(document, np.int32), np.array(sequence, np.int32), np.array(sorted(after), np.int64))
    assert stands_within(*arrays, most) is expected


@given(st.lists(st.booleans(), max_size=20), st.integers(1, 25))
def test_the_densest_window_and_the_runs_in_it(values: list[bool], size: int) -> None:
    n = [sum(values[at : at + size]) if value else 0 for at, value in enumerate(values)]
    assert densest(np.array(values, bool), size) == (n.index(max(n)) if any(values) else -1)
    edges = [at for at in range(len(values)) if at == 0 or values[at] != values[at - 1]]
    assert run_edges(np.array(values, bool)).tolist() == ([*edges, len(values)] if values else [])


def test_short_texts_are_sought_whole_or_not_at_all() -> None:
    rng = random.Random(4)
    short, shorter = sentence(rng, 9), sentence(rng, 7)
    known = sought([short, shorter])
    assert (known.is_sought.tolist(), known.has_ngrams.tolist()) == ([True, True], [True, False])
    found = Confirmation(known).confirm(f"zz {short} zz {shorter}")
    assert found is not None
    assert [(match.item, match.coverage) for match in found.matches] == [(0, 1.0)]


def test_the_excerpt_shows_the_match() -> None:
    rng = random.Random(5)
    item = sentence(rng, 20)
    (match,) = Confirmation(sought([item])).confirm(f"{'zz ' * 300}{item}{' zz' * 300}").matches  # type: ignore[union-attr]
    words = match.excerpt.split(" ")
    assert np.array_equal(match.marks, [8, 28])
    assert words[8:28] == words_of(item)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=14), min_size=1, max_size=9), st.integers(0, 4))
def test_own_words_stand_in_no_ngram_of_many_clusters(texts: list[list[str]], n_framed: int) -> None:
    frame = ["one", "two", "three", "four", "five"]
    texts = [frame + own if at < n_framed + 1 else own for at, own in enumerate(texts)]
    made = sought([" ".join(own) for own in texts], n=4)
    clusters_of: dict[tuple[str, ...], set[int]] = {}
    for at, own in enumerate(texts):
        for begin in range(len(own) - 3):
            clusters_of.setdefault(tuple(own[begin : begin + 4]), set()).add(at)
    for at, own in enumerate(texts):
        covered = {
            place
            for begin in range(len(own) - 3)
            if len(clusters_of[tuple(own[begin : begin + 4])]) > 3
            for place in range(begin, begin + 4)
        }
        wanted = 1 - len(covered) / len(own) if len(own) >= 4 else 1.0
        assert made.own_share()[at] == pytest.approx(wanted)


def most_in_order(document: list[int], pieces: list[list[int]]) -> int:
    """By trying each place of each piece."""
    if not pieces:
        return 0
    first, rest = pieces[0], pieces[1:]
    best = most_in_order(document, rest)
    for at in range(len(document) - len(first) + 1):
        if first and document[at : at + len(first)] == first:
            best = max(best, len(first) + most_in_order(document[at + len(first) :], rest))
    return best


@given(
    st.lists(st.integers(0, 2), max_size=12), st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=4)
)
def test_pieces_in_order_are_those_of_all_ways_to_choose_them(document: list[int], pieces: list[list[int]]) -> None:
    words = np.array([word for piece in pieces for word in piece], np.int32)
    offsets = np.cumsum([0, *map(len, pieces)])
    found = covered_in_order(np.array(document, np.int32), words, offsets, 0, len(document))
    assert found == most_in_order(document, pieces)
