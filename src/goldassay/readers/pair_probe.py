"""The compiled loop of `pair_probe`: a pass of dual coordinate ascent over differences of pairs.

A reader of pairs: which of an item's texts is the right one, by the difference of their features.

The score of a text is w f(text), and of a right and a wrong text of one item the right one is likelier by
1 / (1 + exp(-w (f(right) - f(wrong)))): without an offset, so that swapping the two swaps the answer. Features are
those of the quick probes and a few given numbers. It is fitted by minimizing

    sum_i s_i log(1 + exp(-w d_i)) / sum_i s_i + penalty / 2 ||w||^2

over the differences d_i of pairs, where the pairs of one item have the weight of one together, with a penalty that
whole clusters kept apart choose. The solver is dual coordinate ascent: with
a_i = 1 / (1 + exp(w d_i)) at the optimum, w = sum_i s_i a_i d_i / (penalty sum_i s_i), and each visit of a pair solves
for its a_i. Penalties follow each other from the strongest on, each from the weights of the one before, until the
pairs that choose are predicted worse.

Source: Bradley and Terry 1952; Yu, Huang and Lin 2011 for dual coordinate ascent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, workers
from goldassay.core.cores import cores
from goldassay.data.tokenization import tokenize
from goldassay.readers.quick_probe import deal_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from scipy import sparse


# Newton's steps for one pair at most, and the change of its margin that ends them.
_N_NEWTON, _CLOSE_STEP = 20, 1e-9


@compiled
def ascend_pairs(
    begins: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    squares: NDArray[np.float64],
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    strengths: NDArray[np.float64],
    table: NDArray[np.float64],
    duals: NDArray[np.float64],
) -> float:
    """One pass; each visit solves for the dual variable of its pair: a = 1 / (1 + exp(m + c (a - a_before))).

    Args:
        begins: Where each difference begins among the columns, and where the last one's end.
        columns: Of the differences.
        values: In these columns.
        squares: The sum of each difference's squared values.
        rows: The differences that are visited, (n,).
        order: In which order, places among these, (n,).
        strengths: The weight of each over the penalty of the sum of losses, (n,).
        table: w = sum strengths a d, changed in place, (F,).
        duals: a, changed in place, (n,).

    Returns:
        The mean change of the dual variables.
    """
    moved = 0.0
    for at in range(order.size):
        r = order[at]
        begin, end = begins[rows[r]], begins[rows[r] + 1]
        margin = 0.0
        for x in range(begin, end):
            margin += values[x] * table[columns[x]]
        before, bend = duals[r], strengths[r] * squares[rows[r]]
        low, high, found, after = margin - bend * before, margin + bend * (1 - before), margin, before
        for _ in range(_N_NEWTON):
            after = 1 / (1 + np.exp(found))
            apart = found - margin - bend * (after - before)
            if apart > 0:
                high = found
            else:
                low = found
            tried = found - apart / (1 + bend * after * (1 - after))
            if not low < tried < high:
                tried = (low + high) / 2
            close = abs(tried - found) < _CLOSE_STEP
            found = tried
            if close:
                break
        after = 1 / (1 + np.exp(found))
        step = strengths[r] * (after - before)
        duals[r] = after
        moved += abs(after - before)
        for x in range(begin, end):
            table[columns[x]] += step * values[x]
    return moved / max(order.size, 1)


# Of the mean loss; the strongest first.
PENALTIES = (3e-2, 3e-3, 3e-4, 3e-5)
# Of more pairs so many are learned from, drawn at random.
MOST_PAIRS = 50_000
# Over the pairs at most, and the mean change of dual variables in one that ends them.
_PASSES, _CLOSE = 60, 1e-4
_N_JUDGING_PARTS = 4


def pair_features(hashed: sparse.csr_matrix, numbers: NDArray[np.floating] | None = None) -> sparse.csr_matrix:
    """Hashed features of M texts beside given numbers (M, R), each number divided by its root mean square.

    Numbers are divided by the square root of their spread over all texts, which knows nothing of right and wrong.
    """
    from scipy import sparse

    if numbers is None or not numbers.size:
        return hashed
    spread = np.sqrt((numbers**2).mean(axis=0))
    scaled = numbers / np.where(spread > 0, spread, 1.0)
    return sparse.hstack([hashed, sparse.csr_matrix(scaled.astype(np.float32))], format="csr")


def pairs_of(
    offsets: NDArray[np.int64], right: NDArray[np.bool_], items: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Every right text of some items with every wrong one of the same item.

    Returns:
        Right texts, wrong texts, weights (of an item's pairs together 1), and the item of each pair.
    """
    better, worse, weights, of = [], [], [], []
    for item in items.tolist():
        own = np.arange(offsets[item], offsets[item + 1])
        one, other = own[right[own]], own[~right[own]]
        n = one.size * other.size
        better.append(np.repeat(one, other.size))
        worse.append(np.tile(other, one.size))
        weights.append(np.full(n, 1 / max(n, 1)))
        of.append(np.full(n, item))
    if not better:
        empty = np.empty(0, np.int64)
        return empty, empty, np.empty(0), empty
    return np.concatenate(better), np.concatenate(worse), np.concatenate(weights), np.concatenate(of)


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts of which one is right.

    Attributes:
        differences: Features of the right text less those of the wrong one, (n, F).
        weights: Of an item's pairs together 1, (n,).
        items: The item of each, (n,).
        squares: The sum of each difference's squared values, (n,).
    """

    differences: sparse.csr_matrix
    weights: NDArray[np.float64]
    items: NDArray[np.int64]
    squares: NDArray[np.float64]


def make_pairs(
    features: sparse.csr_matrix,
    offsets: NDArray[np.int64],
    right: NDArray[np.bool_],
    items: NDArray[np.integer],
    rng: np.random.Generator,
) -> Pairs:
    """The pairs of some items; of more than 50,000 so many, drawn at random.

    Of a pair's features each takes 8 bytes.

    Args:
        features: Of all M texts, (M, F).
        offsets: Where the texts of each item begin, and where the last one's end, (N + 1,).
        right: Which texts are right, (M,).
        items: Which items.
        rng: Of the draw.
    """
    better, worse, weights, of = pairs_of(offsets, right, items)
    if better.size > MOST_PAIRS:
        kept = np.sort(rng.choice(better.size, MOST_PAIRS, replace=False))
        better, worse, weights, of = better[kept], worse[kept], weights[kept], of[kept]
    differences = (features[better] - features[worse]).tocsr().astype(np.float32)
    differences.eliminate_zeros()
    squares = np.asarray(differences.multiply(differences).sum(axis=1), dtype=np.float64).ravel()
    return Pairs(differences, weights, of, squares)


def fit_pairs(
    pairs: Pairs, own: NDArray[np.integer], clusters: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """The weights w, (F,), learned from some pairs; a quarter of their clusters chooses the penalty.

    Args:
        pairs: Of which some are learned from.
        own: Which, (n,).
        clusters: Of all items, (N,).
        rng: Of the clusters that choose and of the order in which pairs are seen.
    """
    own = np.asarray(own, dtype=np.int64)
    if not own.size:
        return np.zeros(pairs.differences.shape[1])
    parts = deal_folds(np.unique(clusters[pairs.items[own]], return_inverse=True)[1], _N_JUDGING_PARTS, rng)
    judging = parts == 0
    if not judging.any() or judging.all():
        return _Fit.of(pairs, own).minimized(PENALTIES[0], rng)
    learned, judged = np.flatnonzero(~judging), own[judging]
    fit = _Fit.of(pairs, own[learned])
    best, least = fit, np.inf
    for penalty in PENALTIES:
        weights = fit.minimized(penalty, rng)
        loss = _loss(pairs.differences[judged] @ weights, pairs.weights[judged])
        if loss >= least:
            break
        best, least = fit.copy(), loss
    whole = _Fit.of(pairs, own)
    whole.duals[learned] = best.duals
    return whole.minimized(best.penalty, rng)


def cross_fit_pairs(
    features: sparse.csr_matrix,
    offsets: NDArray[np.int64],
    right: NDArray[np.bool_],
    clusters: NDArray[np.integer],
    n_folds: int,
    seeds: Sequence[int],
    told: Callable[[], None] = lambda: None,
) -> list[NDArray[np.float64]]:
    """Scores of all texts by readers of other folds of clusters, (M,) a seed: no preference has a part in its own.

    Args:
        features: Of all M texts, (M, F).
        offsets: See `make_pairs`.
        right: See `make_pairs`.
        clusters: Of the items, (N,).
        n_folds: From 2 up, at most the number of clusters.
        seeds: Of the folds and of the order in which pairs are seen.
        told: Called after each seed.
    """
    codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    pairs = make_pairs(features, offsets, right, np.arange(offsets.size - 1), np.random.default_rng(seeds[0]))
    found = []
    with workers(min(cores(), n_folds)) as pool:
        for seed in seeds:
            folds = deal_folds(codes, n_folds, np.random.default_rng(seed))
            of_pair, of_text = folds[pairs.items], np.repeat(folds, np.diff(offsets))
            scores = np.zeros(right.size)
            filled = np.unique(folds).tolist()
            fits = [
                pool.submit(fit_pairs, pairs, np.flatnonzero(of_pair != fold), codes, rng)
                for fold, rng in ((fold, np.random.default_rng((seed, fold))) for fold in filled)
            ]
            for fold, fitted in zip(filled, fits, strict=True):
                own = np.flatnonzero(of_text == fold)
                scores[own] = features[own] @ fitted.result()
            found.append(scores)
            told()
    return found


def _loss(margins: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(weights @ np.logaddexp(0, -margins) / weights.sum())


@dataclass
class _Fit:
    """Dual variables of some pairs, (n,), and the penalty that they were last solved for."""

    pairs: Pairs
    own: NDArray[np.int64]
    duals: NDArray[np.float64]
    penalty: float = PENALTIES[0]

    @classmethod
    def of(cls, pairs: Pairs, own: NDArray[np.integer]) -> _Fit:
        return cls(pairs, own.astype(np.int64), np.zeros(own.size))

    def copy(self) -> _Fit:
        return _Fit(self.pairs, self.own, self.duals.copy(), self.penalty)

    def minimized(self, penalty: float, rng: np.random.Generator) -> NDArray[np.float64]:
        """The w of a penalty, (F,), from the dual variables as they are on."""
        self.penalty = penalty
        differences, weights = self.pairs.differences, self.pairs.weights[self.own]
        strengths = weights / (penalty * weights.sum())
        known = np.zeros(differences.shape[0])
        known[self.own] = strengths * self.duals
        table = np.asarray(known @ differences, dtype=np.float64)
        begins, columns, values = differences.indptr, differences.indices, differences.data
        for _ in range(_PASSES):
            order = rng.permutation(self.own.size)
            given = (begins, columns, values, self.pairs.squares, self.own, order, strengths, table, self.duals)
            if ascend_pairs(*given) < _CLOSE:
                break
        return table


N_DIMENSIONS = 100
# Fitted on at most so many training sentences: more hardly move the directions, and cost memory.
MOST_SENTENCES = 100_000
# A word or pair of words of one sentence alone says nothing of what sentences share.
_LEAST_SENTENCES = 2

DESCRIPTION = (
    f"TF-IDF of words and pairs of words, on their first {N_DIMENSIONS} singular directions (SVD), fitted on the "
    "training sentences; no network was trained, so clusters are of sentences with like words, not of what a trained "
    "model takes for alike"
)


def embed_texts(
    train: Sequence[str], test: Sequence[str], tokenizer: str = "treebank", seed: int = 0
) -> NDArray[np.float64]:
    """TF-IDF and SVD of test sentences, in the space of the training sentences, (N, D).

    (1 + log count) of words and of pairs of neighbours, times log((1 + n)/(1 + n_with)) + 1, rows of length 1, then
    the first 100 right singular vectors of the training sentences (fewer where there are fewer words). Neither labels
    nor test sentences decide anything.

    Args:
        train: Training sentences.
        test: Sentences to embed, N.
        tokenizer: See `tokenize`.
        seed: Of the randomized SVD.

    Source: Deerwester et al. 1990, latent semantic analysis; Halko, Martinsson and Tropp 2011 for the SVD.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from threadpoolctl import threadpool_limits

    if len(train) > MOST_SENTENCES:
        chosen = np.sort(np.random.default_rng(0).choice(len(train), MOST_SENTENCES, replace=False))
        train = [train[row] for row in chosen]
    counts = _counts([*(text.casefold() for text in train), *(text.casefold() for text in test)], tokenizer)
    fitted, shown = counts[: len(train)], counts[len(train) :]
    kept = np.flatnonzero(np.asarray((fitted > 0).sum(axis=0)).ravel() >= _LEAST_SENTENCES)
    if kept.size < 2:
        # Nothing recurs: every sentence is as far from every other.
        return np.zeros((len(test), 1))
    weighting = TfidfTransformer(sublinear_tf=True).fit(fitted[:, kept])
    size = min(N_DIMENSIONS, kept.size - 1, max(len(train) - 1, 1))
    with threadpool_limits(1):
        svd = TruncatedSVD(size, n_iter=3, random_state=seed % 2**32)
        svd.fit(weighting.transform(fitted[:, kept]))
        return np.asarray(svd.transform(weighting.transform(shown[:, kept])))


def _counts(texts: Sequence[str], tokenizer: str) -> sparse.csr_matrix:
    """How often each word and each pair of neighbours stands in each text."""
    from scipy.sparse import csr_matrix

    corpus = tokenize(texts, tokenizer)
    ids = corpus.ids.astype(np.int64)
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    inner = rows[1:] == rows[:-1]
    pairs = (ids[:-1] * len(corpus.vocabulary) + ids[1:])[inner]
    names, pair_ids = np.unique(pairs, return_inverse=True)
    columns = np.concatenate([ids, len(corpus.vocabulary) + pair_ids])
    places = np.concatenate([rows, rows[1:][inner]])
    shape = (len(corpus), len(corpus.vocabulary) + names.size)
    found: Any = csr_matrix((np.ones(columns.size), (places, columns)), shape=shape)
    return found
