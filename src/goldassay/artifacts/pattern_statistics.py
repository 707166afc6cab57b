"""The numbers of a pattern table, computed column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts.significance import binomial_tail, competency_z
from goldassay.stats.intervals import wilson_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def displayed(
    named: pl.Series, tokens: NDArray[np.int32], gaps: NDArray[np.int8], *, characters: bool = False
) -> pl.DataFrame:
    """The columns pattern, tokens and gaps.

    Args:
        named: Token strings of all patterns, M each, one pattern after the other.
        tokens: (V,M), -1 where a pattern has no further token.
        gaps: (V,M-1), -1 likewise.
        characters: Tokens are single characters: those that follow each other are shown joined, as they are written.
    """
    V, M = tokens.shape
    # Of longer tokens, joined ones could not be told from another token.
    together = "" if characters else " "
    between = pl.Series([" " + "# " * gap if gap else together for gap in range(int(gaps.max(initial=0)) + 1)])
    columns = {f"t{m}": named.gather(pl.int_range(m, V * M, M, eager=True)) for m in range(M)}
    columns |= {f"g{m}": pl.Series(gaps[:, m]) for m in range(M - 1)}
    frame = pl.DataFrame(columns)
    lengths = (tokens >= 0).sum(axis=1)
    parts = []
    for length in range(1, M + 1):
        part = frame.with_row_index("row").filter(pl.Series(lengths == length))
        pieces = [pl.col("t0")]
        for m in range(1, length):
            pieces += [pl.lit(between).gather(pl.col(f"g{m - 1}").cast(pl.UInt32)), pl.col(f"t{m}")]
        gap_list = [pl.col(f"g{m}") for m in range(length - 1)]
        parts.append(
            part.select(
                "row",
                pattern=pl.concat_str(pieces),
                tokens=pl.concat_list([f"t{m}" for m in range(length)]),
                gaps=pl.concat_list(gap_list) if gap_list else pl.lit([], dtype=pl.List(pl.Int8)),
            )
        )
    return pl.concat(parts).sort("row").drop("row")


def with_statistics(
    frame: pl.DataFrame,
    codes: NDArray[np.int64],
    label_names: tuple[str, ...],
    settings: dict[str, Any],
    effects: NDArray[np.float64] | float = 1.0,
) -> pl.DataFrame:
    """Add label, given by its position in `label_names` (V,), and what its count says; q_value is not among it.

    `effects` are the design effects of these labels, (V,), by which p is that of fewer sentences.
    """
    n = frame["support"].to_numpy().astype(np.float64)
    k = matrix(frame["counts"], len(label_names))[np.arange(len(codes)), codes].astype(np.float64)
    prior = _priors(settings)[codes]
    low, high = wilson_bounds(k, n)
    probability = k / n
    lift = probability / prior
    pmi = np.log2(lift)
    values = {
        "probability": probability,
        "lift": lift,
        "pmi": pmi,
        "lmi": k / max(float(sum(settings["label_counts"])), 1.0) * pmi,
        "wilson_low": low,
        "wilson_high": high,
        "z": competency_z(k, n, prior),
        "p_value": effective_tail(k, n, prior, effects),
    }
    names = pl.Series(label_names, dtype=pl.String).gather(codes)
    return frame.with_columns(
        label=names, **{name: pl.Series(value, dtype=pl.Float64) for name, value in values.items()}
    )


def p_values(counts: NDArray[np.int64], codes: NDArray[np.int64], settings: dict[str, Any]) -> NDArray[np.float64]:
    """The p of each row for the label of that position, (V,); the same numbers as in `with_statistics`."""
    n = counts.sum(axis=1).astype(np.float64)
    k = counts[np.arange(len(codes)), codes].astype(np.float64)
    return binomial_tail(k, n, _priors(settings)[codes])


def effective_tail(successes: ArrayLike, trials: ArrayLike, prior: ArrayLike, effect: ArrayLike) -> NDArray[np.float64]:
    """`binomial_tail` of counts that are worth fewer by the design effect: k/D of n/D, elementwise.

    The binomial tail is the incomplete beta function, which goes on between whole numbers. Where D is 1 it is the same.
    A label of fewer than one effective sentence is no surprise: 1.
    """
    by = np.asarray(effect, np.float64)
    k, n = np.asarray(successes, np.float64) / by, np.asarray(trials, np.float64) / by
    return np.where(k >= 1, binomial_tail(k, n, prior), 1.0)


def _priors(settings: dict[str, Any]) -> NDArray[np.float64]:
    label_counts = np.asarray(settings["label_counts"], np.float64)
    return label_counts / max(label_counts.sum(), 1.0)


def lists(values: NDArray[Any]) -> pl.Series:
    """Lists of one length, a row each, of whole numbers or floats (V,K)."""
    kind = pl.Float64 if values.dtype.kind == "f" else pl.Int64
    return pl.Series(values, dtype=pl.Array(kind, values.shape[1])).cast(pl.List(kind))


def matrix(rows: pl.Series, width: int) -> NDArray[Any]:
    """The array (V,K) whose rows such lists hold."""
    return rows.explode(empty_as_null=False).to_numpy().reshape(-1, width)
