"""The pairs of examples that a model gets right and wrong together, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goldassay.instability.equal_columns import Members

_SCHEMA = {"i": pl.Int64, "j": pl.Int64, "covariance": pl.Float64, "ties": pl.Int64}


def top_covarying_pairs(scores: ArrayLike, k: int = 20) -> pl.DataFrame:
    """The k pairs of examples i < j with the largest covariance over runs.

    cov_r(C_i, C_j) with ddof 1. For scores in [0, 1] it is at most R/(4(R-1)): 0.278 with 10 runs, which any two
    examples reach that are right in the same 5 runs. So the largest pair is seldom alone, and `ties` says how
    many pairs of the whole set share its covariance. Pairs of equal covariance come in ascending order of (i, j).

    The search is exact. Examples with equal scores are looked at once. Scores of two values, such as right and
    wrong, are counted in whole numbers, so their ties are exact too; covariances of other scores count as tied when
    they agree to 12 decimals.

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
    n_runs, n_examples = values.shape
    if n_examples < 2 or bool((values == values[0]).all()):
        return pl.DataFrame(schema=_SCHEMA)
    wanted = min(k, n_examples * (n_examples - 1) // 2)
    rows = _two_valued(values, wanted) if _takes_two_values(values, n_runs) else _any_valued(values, wanted)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _takes_two_values(values: NDArray[np.float64], n_runs: int) -> bool:
    from goldassay.instability.pattern_search import MOST_RUNS

    low, high = values.min(), values.max()
    return n_runs <= MOST_RUNS and bool(((values == low) | (values == high)).all())


def _two_valued(values: NDArray[np.float64], k: int) -> list[tuple[int, int, float, int]]:
    from goldassay.instability.pattern_search import find_largest, find_patterns, first_pairs_of_key

    low, high = float(values.min()), float(values.max())
    patterns = find_patterns(values, low)
    found = find_largest(patterns, k)
    scale = (high - low) ** 2 / (patterns.n_runs * (patterns.n_runs - 1))
    rows: list[tuple[int, int, float, int]] = []
    for key in np.flatnonzero(found.ties)[::-1] + found.last:
        tied = found.keys == key
        wanted = k - len(rows)
        if key > found.last or found.complete:
            pairs = _first_pairs(patterns.members, found.p[tied], found.q[tied], wanted)
        else:
            pairs = first_pairs_of_key(patterns, int(key), wanted)
        ties = int(found.ties[key - found.last])
        rows.extend((i, j, int(key) * scale, ties) for i, j in pairs)
    return rows


def _any_valued(values: NDArray[np.float64], k: int) -> list[tuple[int, int, float, int]]:
    from goldassay.instability.product_search import find_largest

    members, (p, q, covariances) = find_largest(values, k)
    counts = members.counts
    weights = np.where(p == q, counts[p] * (counts[p] - 1) // 2, counts[p] * counts[q])
    rows: list[tuple[int, int, float, int]] = []
    for covariance in np.unique(covariances)[::-1]:
        tied = covariances == covariance
        pairs = _first_pairs(members, p[tied], q[tied], k - len(rows))
        rows.extend((i, j, float(covariance), int(weights[tied].sum())) for i, j in pairs)
        if len(rows) == k:
            break
    return rows


def _first_pairs(members: Members, p: NDArray[np.int64], q: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """The first pairs of examples i < j, in ascending order, whose groups of equal examples are a pair (p, q)."""
    partners: dict[int, set[int]] = {}
    for one, other in zip(p.tolist(), q.tolist(), strict=True):
        partners.setdefault(one, set()).add(other)
        partners.setdefault(other, set()).add(one)
    involved = np.concatenate([members.of(group) for group in partners])
    group_of = np.repeat(list(partners), [len(members.of(group)) for group in partners])
    candidates: dict[int, NDArray[np.int64]] = {}
    pairs: list[tuple[int, int]] = []
    for position in np.argsort(involved):
        i, group = int(involved[position]), int(group_of[position])
        if group not in candidates:
            candidates[group] = np.sort(np.concatenate([members.of(other) for other in partners[group]]))
        others = candidates[group]
        later = others[np.searchsorted(others, i, side="right") :]
        pairs.extend((i, j) for j in later[: wanted - len(pairs)].tolist())
        if len(pairs) == wanted:
            break
    return pairs
