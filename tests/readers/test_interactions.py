"""The reader of interactions against plain loops, and what it must and must not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.readers import interactions
from goldassay.readers.interactions import (
    LEAST_SQUARE,
    LEAST_TEXTS,
    WIDTH,
    InteractionReader,
    Machine,
    WordLists,
    drawn_rows,
    list_columns,
    placed_words,
    read_interactions,
    score_texts,
)
from goldassay.readers.naive_bayes import word_evidence
from goldassay.readers.quick_probe import deal_folds
from goldassay.stats.clusters import Folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Made = tuple[list[str], NDArray[np.int64]]


def lists(texts: Sequence[Sequence[int]], n_words: int) -> WordLists:
    starts = np.concatenate([[0], np.cumsum([len(each) for each in texts])]).astype(np.int64)
    ids = np.array([word for each in texts for word in each], np.int32)
    return WordLists(ids, starts, np.random.default_rng(5).permutation(n_words).astype(np.uint64))


def random_texts(n: int, n_words: int, seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_words, rng.integers(0, 7)).tolist() for _ in range(n)]


def learned_by_loops(
    reader: InteractionReader, texts: list[list[int]], ties: NDArray[np.uint64], y: NDArray[np.int64], k: int, seed: int
) -> tuple[float, dict[int, int], list[NDArray[np.float64]]]:
    """The same updates, one gradient and one word at a time; labels must appear in the order of their codes."""
    distinct = [sorted(set(each)) for each in texts]
    counts = {word: sum(word in each for each in distinct) for word in range(ties.size)}
    usual = sorted((word for word in counts if counts[word] >= LEAST_TEXTS), key=lambda w: (-counts[w], int(ties[w])))
    line = {word: at for at, word in enumerate(usual)}
    rows = [sorted(line[word] for word in each if word in line) for each in distinct]
    rng = np.random.default_rng(seed)
    part = deal_folds(np.arange(y.size), 5, rng)
    learning, judging = np.flatnonzero(part != 0), np.flatnonzero(part == 0)
    v0 = rng.normal(0, 0.1, (len(line), reader.n_factors))
    u0 = rng.normal(0, 0.3, (k, reader.n_factors))
    share = np.bincount(y[learning], minlength=k) + 0.5
    orders = [rng.permutation(learning) for _ in range(reader.n_epochs)]

    def probabilities(row: list[int], b: object, w: object, u: object, v: object) -> NDArray[np.float64]:
        x = np.zeros(len(line))
        x[row] = 1 / np.sqrt(max(len(row), 1))
        pairs = np.array([
            2 * sum(v[i, f] * v[j, f] * x[i] * x[j] for i in row for j in row if i < j) for f in range(reader.n_factors)
        ])  # fmt: skip
        score = b + x @ w + u @ pairs
        return np.asarray(np.exp(score - score.max()) / np.exp(score - score.max()).sum())

    best: tuple[float, list[NDArray[np.float64]]] = (np.inf, [])
    for penalty_w, penalty_v in reader.penalties:
        own = [np.log(share / share.sum()), np.zeros((len(line), k)), u0.copy(), v0.copy()]
        sums = [np.full_like(each, LEAST_SQUARE) for each in own]
        for order in orders:
            for row in order:
                has = rows[row]
                b, w, u, v = (each.copy() for each in own)
                wrong = probabilities(has, b, w, u, v) - np.eye(k)[y[row]]
                value = 1 / np.sqrt(max(len(has), 1))
                slopes = [wrong, np.zeros_like(w), np.zeros_like(u), np.zeros_like(v)]
                touched = [np.ones_like(b), np.zeros_like(w), np.ones_like(u), np.zeros_like(v)]
                for i in has:
                    slopes[1][i] = wrong * value + penalty_w * w[i]
                    others = sum((v[j] * value for j in has if j != i), np.zeros(reader.n_factors))
                    slopes[3][i] = (wrong @ u) * 2 * value * others + penalty_v * v[i]
                    touched[1][i] = touched[3][i] = 1
                for f in range(reader.n_factors):
                    both = sum(2 * v[i, f] * v[j, f] * value**2 for i in has for j in has if i < j)
                    slopes[2][:, f] = wrong * both
                for each, total, slope, at in zip(own, sums, slopes, touched, strict=True):
                    total += slope**2
                    each -= at * reader.rate * slope / np.sqrt(total)
            loss = -float(np.mean([np.log(probabilities(rows[row], *own)[y[row]]) for row in judging]))
            if loss < best[0]:
                best = loss, [each.copy() for each in own]
    return best[0], line, best[1]


@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_those_of_plain_loops(k: int) -> None:
    texts, reader = random_texts(60, 12, k), InteractionReader(n_factors=3, n_epochs=3)
    y = np.concatenate([np.arange(k), np.random.default_rng(k).integers(0, k, 60 - k)])
    given = lists(texts, 14)
    fitted = reader.fit(given, y, k, seed=4)
    loss, line, expected = learned_by_loops(reader, texts, given.ties, y, k, 4)
    assert fitted.loss == pytest.approx(loss, abs=1e-9)
    assert {word: int(at) for word, at in enumerate(fitted.columns) if at >= 0} == line
    for own, other in zip(fitted.machine.arrays[:2], expected[:2], strict=True):
        np.testing.assert_allclose(own, other, atol=1e-6)
    for own, other in zip(fitted.machine.arrays[2:], expected[2:], strict=True):
        np.testing.assert_allclose(own[:, :3], other, atol=1e-6)
        assert not own[:, 3:].any()


def test_scores_are_sums_over_pairs() -> None:
    rng = np.random.default_rng(0)
    machine = Machine(
        rng.normal(size=3), rng.normal(size=(9, 3)), rng.normal(size=(3, WIDTH)), rng.normal(size=(9, WIDTH))
    )
    texts = [[0, 3, 3, 8], [], [5], [1, 2, 4, 6, 7]]
    given = lists(texts, 9)
    words, ends = list_columns(given.ids, given.starts, np.arange(9, dtype=np.int32))
    found = score_texts(words, ends, np.arange(4), *machine.arrays)
    for text, scores in zip(texts, found, strict=True):
        own = sorted(set(text))
        x = 1 / np.sqrt(max(len(own), 1))
        expected = machine.biases + x * machine.linear[own].sum(axis=0)
        for i, j in ((i, j) for i in own for j in own if i != j):
            expected = expected + machine.mixing @ (machine.factors[i] * machine.factors[j]) * x**2
        np.testing.assert_allclose(scores, expected, atol=1e-12)


def filled(rng: np.random.Generator, n: int) -> list[list[str]]:
    weights = 1 / np.arange(1, 301)
    return [[f"w{word}" for word in rng.choice(300, 8, p=weights / weights.sum())] for _ in range(n)]


def xor(n: int, seed: int, share: float = 1.0) -> Made:
    """Red or blue at the beginning, two or three at the end, which together tell the label of a share of the texts."""
    rng = np.random.default_rng(seed)
    texts, one = filled(rng, n), rng.integers(0, 2, n)
    two = rng.integers(0, 2, n)
    label = np.where(rng.random(n) < share, one ^ two, rng.integers(0, 2, n))
    return [
        " ".join([("red", "blue")[a], *text, ("two", "three")[b]]) for text, a, b in zip(texts, one, two, strict=True)
    ], label


def point_and_capital(n: int, seed: int) -> Made:
    rng = np.random.default_rng(seed)
    joined = [" ".join(text) for text in filled(rng, n)]
    one, two = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return [
        (text.capitalize() if a else text) + "." * b for text, a, b in zip(joined, one, two, strict=True)
    ], one ^ two


def which_comes_first(n: int, seed: int) -> Made:
    rng = np.random.default_rng(seed)
    found, label = [], rng.integers(0, 2, n)
    for text, swapped in zip(filled(rng, n), label, strict=True):
        at = int(rng.integers(0, 5))
        pair = ("dog", "cat") if swapped else ("cat", "dog")
        found.append(" ".join([*text[:at], pair[0], *text[at : at + 3], pair[1], *text[at + 3 :]]))
    return found, label


def no_cue(n: int, seed: int) -> Made:
    rng = np.random.default_rng(seed)
    return [" ".join(text) for text in filled(rng, n)], rng.integers(0, 2, n)


def asked(made: Made, test: Made, seed: int = 0) -> NDArray[np.float64]:
    """Logits of the texts of the second set, learned from the first."""
    folds = Folds.of_parts(len(made[0]), len(test[0]))
    codes = np.concatenate([made[1], np.zeros(len(test[0]), np.int64)])
    return read_interactions(pl.Series([*made[0], *test[0]]), codes, 2, folds, seed)


def accuracy(made: Callable[[int, int], Made], n: int = 2500, seed: int = 0) -> float:
    train, test = made(n, seed), made(1000, seed + 1000)
    return float((asked(train, test, seed).argmax(axis=1) == test[1]).mean())


@pytest.mark.parametrize(("made", "least"), [(xor, 0.99), (point_and_capital, 0.99), (which_comes_first, 0.75)])
def test_two_cues_that_tell_together_are_read(made: Callable[[int, int], Made], least: float) -> None:
    assert accuracy(made) >= least
    # Words alone, added up, tell nothing.
    (texts, codes), (others, gold) = made(2500, 0), made(1000, 1000)
    assert (word_evidence(texts, codes, 2, others).argmax(axis=1) == gold).mean() == pytest.approx(0.5, abs=0.06)


def test_two_cues_in_a_part_of_the_rows_are_read() -> None:
    assert accuracy(lambda n, seed: xor(n, seed, 0.6)) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_no_cue_is_no_gain(seed: int) -> None:
    assert accuracy(no_cue, seed=seed) == pytest.approx(0.5, abs=0.05)


def test_without_factors_nothing_is_read_of_pairs() -> None:
    texts, codes = xor(2500, 0)
    words = [text.split() for text in texts]
    numbers = {word: at for at, word in enumerate(sorted({word for text in words for word in text}))}
    given = lists([[numbers[word] for word in text] for text in words], len(numbers))
    right = [
        (InteractionReader(n_factors=n).fit(given, codes, 2, 0).logits(given).argmax(axis=1) == codes).mean()
        for n in (0, 12)
    ]
    assert right[0] < 0.6
    assert right[1] > 0.99


def test_codes_of_labels_and_numbers_of_words_move_nothing() -> None:
    texts = random_texts(200, 30, 1)
    codes = np.random.default_rng(2).integers(0, 3, 200)
    given = lists(texts, 30)
    logits = InteractionReader().fit(given, codes, 3, 7).logits(given)
    swapped = np.array([2, 0, 1])
    np.testing.assert_allclose(
        InteractionReader().fit(given, swapped[codes], 3, 7).logits(given)[:, swapped], logits, atol=1e-12
    )
    numbers = np.random.default_rng(3).permutation(30).astype(np.int32)
    ties = np.empty_like(given.ties)
    ties[numbers] = given.ties
    renumbered = WordLists(numbers[given.ids], given.starts, ties)
    np.testing.assert_array_equal(InteractionReader().fit(renumbered, codes, 3, 7).logits(renumbered), logits)


def test_the_seed_decides() -> None:
    given = lists(random_texts(200, 30, 1), 30)
    codes = np.random.default_rng(2).integers(0, 2, 200)
    one, same, other = (InteractionReader().fit(given, codes, 2, seed) for seed in (1, 1, 2))
    for own, twin in zip(one.machine.arrays, same.machine.arrays, strict=True):
        np.testing.assert_array_equal(own, twin)
    assert not np.array_equal(one.machine.factors, other.machine.factors)


def test_no_cluster_both_teaches_and_chooses() -> None:
    """Each cluster has a word of its own and one label: a reader judged on its own clusters would learn them all."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(200), 5)
    texts, codes = [[int(each)] for each in clusters], rng.integers(0, 2, 200)[clusters]
    given = lists(texts, 200)
    apart = InteractionReader().fit(given, codes, 2, 0, clusters)
    together = InteractionReader().fit(given, codes, 2, 0)
    assert together.loss < 0.5 < np.log(2) - 0.05 < apart.loss


def test_texts_without_usual_words_get_the_shares() -> None:
    texts = pl.Series(["a b", "c", "", "d e", "x", None])
    logits = read_interactions(texts, np.array([0, 0, 0, 2, 0, 0]), 4, Folds.of_parts(4, 2), 0)
    assert logits.shape == (2, 4)
    np.testing.assert_allclose(np.exp(logits).sum(axis=1), 1)
    assert (logits.argmax(axis=1) == 0).all()


def test_words_are_placed_in_halves_beside_their_form() -> None:
    ids = np.array([4, 5, 6, 7, 0, 1, 2], np.int32)
    dull = np.arange(10) == 1
    found, ends = placed_words(ids, np.array([0, 3, 4]), np.array([4, 6, 7]), dull)
    assert found.tolist() == [4, 14, 5, 25, 6, 26, 30, 7, 27, 32]
    assert ends.tolist() == [0, 7, 10]


def test_whole_clusters_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactions, "MOST_TEXTS", 100)
    groups, short = np.random.default_rng(0).integers(0, 60, 300), np.ones(300, np.int64)
    every = np.arange(300)
    rows = drawn_rows(groups, short, every, 1)
    assert 80 < rows.size <= 100
    assert np.isin(groups, groups[rows]).sum() == rows.size
    assert drawn_rows(groups, short, every[200:], 1).tolist() == list(range(200, 300))
    assert drawn_rows(np.zeros(300, np.int64), short, every, 1).size == 300
    monkeypatch.setattr(interactions, "MOST_BYTES", 50)
    assert 30 < drawn_rows(groups, short, every[200:], 1).size <= 50


def test_each_fold_is_read_by_the_others() -> None:
    """A fold's own labels do not matter, and what the others teach is what a test part would be told."""
    texts, codes = xor(900, 0)
    fold = np.arange(900) % 3
    found = read_interactions(pl.Series(texts), codes, 2, Folds.of_all(fold), 0)
    assert (found.argmax(axis=1) == codes).mean() > 0.95
    changed = np.where(fold == 1, 1 - codes, codes)
    again = read_interactions(pl.Series(texts), changed, 2, Folds.of_all(fold), 0)
    np.testing.assert_array_equal(again[fold == 1], found[fold == 1])
    assert (again[fold != 1].argmax(axis=1) != found[fold != 1].argmax(axis=1)).mean() > 0.1
