"""A reader of pairs: which of an item's texts is the right one, by the difference of their features.

The score of a text is w f(text), and of a right and a wrong text of one item the right one is likelier by
1 / (1 + exp(-w (f(right) - f(wrong)))): without an offset, so that swapping the two swaps the answer. Features are
those of the quick probes and a few given numbers. It is fitted by minimizing the mean logistic loss over pairs, each
item with the weight of one, with a penalty on w that whole clusters kept apart choose.

Source: Bradley and Terry 1952.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.models.quick_probe import deal_folds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from scipy import sparse

# Of the mean loss; the strongest first.
PENALTIES = (3e-2, 3e-3, 3e-4, 3e-5)
# Of more pairs so many are learned from, drawn at random.
MOST_PAIRS = 50_000
_STEPS = 60
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


def fit_pairs(
    features: sparse.csr_matrix,
    offsets: NDArray[np.int64],
    right: NDArray[np.bool_],
    items: NDArray[np.integer],
    clusters: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The weights w, (F,), learned from some items; a quarter of their clusters chooses the penalty.

    Peak memory is that of the features of the pairs: of 50,000 pairs of 300 words about 500 MB.

    Args:
        features: Of all M texts, (M, F).
        offsets: Where the texts of each item begin, and where the last one's end, (N + 1,).
        right: Which texts are right, (M,).
        items: The items to learn from.
        clusters: Of all items, (N,).
        rng: Of the draw and of the clusters that choose.
    """
    better, worse, weights, of = pairs_of(offsets, right, items)
    if better.size > MOST_PAIRS:
        kept = np.sort(rng.choice(better.size, MOST_PAIRS, replace=False))
        better, worse, weights, of = better[kept], worse[kept], weights[kept], of[kept]
    if not better.size:
        return np.zeros(features.shape[1])
    differences = (features[better] - features[worse]).tocsr()
    parts = deal_folds(np.unique(clusters[of], return_inverse=True)[1], _N_JUDGING_PARTS, rng)
    judging = parts == 0
    start = np.zeros(features.shape[1])
    if not judging.any() or judging.all():
        return _minimized(differences, weights, PENALTIES[0], start)
    losses = []
    learned = differences[~judging]
    for penalty in PENALTIES:
        start = _minimized(learned, weights[~judging], penalty, start)
        losses.append(_loss(differences[judging] @ start, weights[judging]))
    return _minimized(differences, weights, PENALTIES[int(np.argmin(losses))], start)


def cross_fit_pairs(
    features: sparse.csr_matrix,
    offsets: NDArray[np.int64],
    right: NDArray[np.bool_],
    clusters: NDArray[np.integer],
    n_folds: int,
    seed: int,
    checkpoint: Callable[[], None] = lambda: None,
) -> NDArray[np.float64]:
    """Scores of all texts by readers of other folds of clusters, (M,): no item's preference has a part in its own.

    Args:
        features: See `fit_pairs`.
        offsets: See `fit_pairs`.
        right: See `fit_pairs`.
        clusters: Of the items, (N,).
        n_folds: From 2 up, at most the number of clusters.
        seed: Of the folds.
        checkpoint: Called before each fold; what it raises ends the work.
    """
    codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    folds = deal_folds(codes, n_folds, np.random.default_rng(seed))
    of_text = np.repeat(folds, np.diff(offsets))
    scores = np.zeros(right.size)
    for fold in np.unique(folds).tolist():
        checkpoint()
        rng = np.random.default_rng((seed, fold))
        weights = fit_pairs(features, offsets, right, np.flatnonzero(folds != fold), codes, rng)
        scores[of_text == fold] = features[of_text == fold] @ weights
    return scores


def _loss(margins: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(weights @ np.logaddexp(0, -margins) / weights.sum())


def _minimized(
    differences: sparse.csr_matrix, weights: NDArray[np.float64], penalty: float, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.optimize import minimize
    from scipy.special import expit

    turned = differences.T.tocsr()
    shares = weights / weights.sum()

    def objective(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = differences @ w
        slope = turned @ (-shares * expit(-margins))
        return float(shares @ np.logaddexp(0, -margins) + penalty / 2 * (w @ w)), slope + penalty * w

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return np.asarray(found.x, dtype=np.float64)
