"""The pairs of examples that a model gets right and wrong together, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_SCHEMA = {"i": pl.Int64, "j": pl.Int64, "covariance": pl.Float64, "ties": pl.Int64}
# Covariances of other than binary scores count as tied when they agree to so many decimals.
_DECIMALS = 12


def top_covarying_pairs(scores: ArrayLike, k: int = 20) -> pl.DataFrame:
    """The k pairs of examples i < j with the largest covariance over runs.

    cov_r(C_i, C_j) with ddof 1. For scores in [0, 1] it is at most R/(4(R-1)): 0.278 with 10 runs, which any two
    examples reach that are right in the same 5 runs. So the largest pair is seldom alone, and `ties` says how
    many pairs of the whole set share its covariance. Pairs of equal covariance come in ascending order of (i, j).
    Examples with equal scores are looked at once, which makes the search exact and short.

    Args:
        scores: (R, N).
        k: How many pairs.

    Returns:
        Columns i, j (positions in the input), covariance, ties; empty where no example ever changes.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or k is below 1.

    Source: Zhou, Nie, Tan and Bansal 2020, Tables 5 and 11.
    """
    values = as_scores(scores, min_runs=2)
    if k < 1:
        raise InputError(f"k is {k}", mend="ask for at least 1 pair")
    if values.shape[1] < 2 or bool((values == values[0]).all()):
        return pl.DataFrame(schema=_SCHEMA)
    if bool(((values == 0) | (values == 1)).all()):
        return _binary(values, k)
    return _general(values, k)


def _binary(values: NDArray[np.float64], k: int) -> pl.DataFrame:
    from goldassay.instability.pattern_search import count_keys, find_patterns, pairs_from

    patterns = find_patterns(values)
    bound, histogram, best = count_keys(patterns, k)
    n_runs = patterns.n_runs
    # The key of the k-th pair: those below it need not be found one by one.
    above = histogram[::-1].cumsum()
    last = bound + len(histogram) - 1 - min(int(np.searchsorted(above, k)), len(histogram) - 1)
    p, q, keys = pairs_from(patterns, best, last)
    rows: list[tuple[int, int, float, int]] = []
    for key in np.unique(keys)[::-1]:
        tied = keys == key
        pairs = _first_pairs(patterns.members, p[tied], q[tied], k - len(rows))
        covariance, ties = int(key) / (n_runs * (n_runs - 1)), int(histogram[key - bound])
        rows.extend((i, j, covariance, ties) for i, j in pairs)
    return pl.DataFrame(rows[:k], schema=_SCHEMA, orient="row")


def _first_pairs(
    members: list[NDArray[np.int64]], p: NDArray[np.int64], q: NDArray[np.int64], wanted: int
) -> list[tuple[int, int]]:
    """The first pairs of examples i < j, in ascending order, whose patterns are a pair (p, q)."""
    if wanted <= 0:
        return []
    partners: dict[int, set[int]] = {}
    for one, other in zip(p.tolist(), q.tolist(), strict=True):
        partners.setdefault(one, set()).add(other)
        partners.setdefault(other, set()).add(one)
    involved = np.concatenate([members[pattern] for pattern in partners])
    pattern_of = np.repeat(list(partners), [len(members[pattern]) for pattern in partners])
    candidates: dict[int, NDArray[np.int64]] = {}
    pairs: list[tuple[int, int]] = []
    for position in np.argsort(involved):
        i, pattern = int(involved[position]), int(pattern_of[position])
        if pattern not in candidates:
            candidates[pattern] = np.sort(np.concatenate([members[other] for other in partners[pattern]]))
        others = candidates[pattern]
        later = others[np.searchsorted(others, i, side="right") :]
        pairs.extend((i, int(j)) for j in later[: wanted - len(pairs)])
        if len(pairs) == wanted:
            break
    return pairs


def _general(values: NDArray[np.float64], k: int) -> pl.DataFrame:
    """The search for scores of any kind: products of blocks, pruned by |cov| <= sd sd."""
    n_runs = values.shape[0]
    patterns, inverse, counts = np.unique(values, axis=1, return_inverse=True, return_counts=True)
    centered = (patterns - patterns.mean(axis=0)) / np.sqrt(n_runs - 1)
    sd = np.sqrt((centered**2).sum(axis=0))
    order = np.argsort(-sd, kind="stable")
    centered, sd, counts = np.ascontiguousarray(centered[:, order].T), sd[order], counts[order]
    found: list[NDArray[np.float64]] = []
    bound = -np.inf
    for start in range(0, len(sd), 256):
        rows = slice(start, start + 256)
        if sd[start] ** 2 < bound:
            break
        stop = len(sd) if bound <= 0 else int(np.searchsorted(-sd, -bound / sd[start], side="right"))
        products = np.round(centered[rows] @ centered[:stop].T, _DECIMALS)
        products[np.arange(stop)[np.newaxis] < np.arange(start, start + len(products))[:, np.newaxis]] = -np.inf
        alone = np.arange(min(len(products), stop - start))
        alone = alone[counts[start + alone] < 2]
        products[alone, start + alone] = -np.inf
        p, q = np.nonzero((products >= bound) & np.isfinite(products))
        new = np.column_stack([p + start, q, products[p, q], _n_pairs(counts, p + start, q)])
        bound = _raise_bound(found, new, k)
    kept = np.concatenate(found)
    kept = kept[kept[:, 2] >= bound]
    return _expand(kept, order, inverse.ravel(), k)


def _n_pairs(counts: NDArray[np.int64], p: NDArray[np.int64], q: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(p == q, counts[p] * (counts[p] - 1) // 2, counts[p] * counts[q])


def _raise_bound(found: list[NDArray[np.float64]], new: NDArray[np.float64], k: int) -> float:
    """Add what was found, drop what can no longer be among the first k, and return the new bound."""
    merged = np.concatenate([*found, new])
    merged = merged[np.argsort(-merged[:, 2], kind="stable")]
    reached = np.cumsum(merged[:, 3]) >= k
    bound = float(merged[int(reached.argmax()), 2]) if reached.any() else -np.inf
    found[:] = [merged[merged[:, 2] >= bound]]
    return bound


def _expand(kept: NDArray[np.float64], order: NDArray[np.int64], inverse: NDArray[np.int64], k: int) -> pl.DataFrame:
    """Pairs of examples from pairs of patterns, the largest first."""
    by_pattern = np.argsort(inverse, kind="stable")
    members = np.split(by_pattern, np.cumsum(np.bincount(inverse))[:-1])
    rows: list[tuple[int, int, float, int]] = []
    for covariance in np.unique(kept[:, 2])[::-1]:
        tied = kept[kept[:, 2] == covariance]
        p, q = order[tied[:, 0].astype(np.int64)], order[tied[:, 1].astype(np.int64)]
        pairs = _first_pairs(members, p, q, k - len(rows))
        rows.extend((i, j, float(covariance), int(tied[:, 3].sum())) for i, j in pairs)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
