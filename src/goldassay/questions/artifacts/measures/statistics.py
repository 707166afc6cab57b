"""The numbers of a pattern table: how sure a pattern is, and its rows, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.stats.intervals import wilson_bounds
from goldassay.stats.significance import adjusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


def competency_z(successes: ArrayLike, trials: ArrayLike, prior: ArrayLike) -> NDArray[np.float64]:
    """Standard deviations by which a pattern's share of a label exceeds the prior, elementwise.

    z = (k/n - p0) / sqrt(p0 (1 - p0)/n). NaN where n is 0; 0 where p0 is 0 or 1 and nothing else can be.

    The published statistic has p0 = 1/K and counts every occurrence. Here n counts sentences, since occurrences in
    one sentence are not independent, and p0 is meant to be the label's share, so that an unbalanced corpus alone
    makes nothing significant.

    Args:
        successes: k, sentences with the pattern and the label.
        trials: n, sentences with the pattern.
        prior: p0, the label's share among all sentences.

    Source: Gardner et al. 2021, "Competency problems: on finding and removing artifacts in language data".
    """
    k, n, p0 = (np.asarray(value, dtype=np.float64) for value in (successes, trials, prior))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = k / n - p0
        z = difference / np.sqrt(p0 * (1 - p0) / n)
    return np.where((difference == 0) & (n > 0), 0.0, z)


def binomial_tail(successes: ArrayLike, trials: ArrayLike, prior: ArrayLike) -> NDArray[np.float64]:
    """Chance of at least k successes in n trials at probability p0 (exact, one-sided), elementwise.

    Exact, since the normal tail of z is wrong where n p0 is small, which is where rare patterns are. 1 where k is 0.

    Args:
        successes: k.
        trials: n >= k.
        prior: p0.
    """
    from scipy.special import betainc

    k, n, p0 = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (successes, trials, prior)))
    safe = np.maximum(k, 1.0)
    tail: NDArray[np.float64] = np.where(k > 0, betainc(safe, np.maximum(n - safe + 1, 1.0), p0), 1.0)
    return tail


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


COLUMNS = (
    "pattern", "tokens", "gaps", "support", "counts", "label", "probability", "lift", "pmi", "lmi",
    "wilson_low", "wilson_high", "z", "p_value", "q_value",
)  # fmt: skip
# q of every label, so that a row for a second label can be made after the table was cut.
Q_OF_LABELS = "q_of_labels"
# Design effect of every label where sentences came in clusters, for the same; see `pattern_clusters`.
DESIGN_EFFECTS = "effect_of_labels"
# Rows made at once: enough for speed, few enough to bound what stands beside the finished table.
PART = 1 << 17


@dataclass(frozen=True)
class MinedPatterns:
    """Patterns as numbers: tokens (V,M) and gaps (V,M-1), -1 where a pattern has none, and counts (V,K)."""

    tokens: NDArray[np.int32]
    gaps: NDArray[np.int8]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return self.counts.shape[0]

    def take(self, rows: NDArray[np.int64] | slice) -> MinedPatterns:
        """Some of them, in that order."""
        return MinedPatterns(self.tokens[rows], self.gaps[rows], self.counts[rows])


class Words:
    """The tokens that patterns are made of, and their alphabetical order.

    Args:
        vocabulary: The token of each number.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        by_name = np.array(sorted(range(len(vocabulary)), key=vocabulary.__getitem__), np.int32)
        self._rank = np.empty(len(vocabulary) + 1, np.int32)
        self._rank[by_name] = np.arange(len(vocabulary), dtype=np.int32)
        # No token, numbered -1, is the last entry of both: it goes before all others and is shown as nothing.
        self._rank[-1] = -1
        self._names = pl.Series([*vocabulary, ""], dtype=pl.String)

    def order(self, mined: MinedPatterns) -> NDArray[np.int64]:
        """The order of rows: by support, descending, then by tokens and gaps, (V,)."""
        support = mined.counts.sum(axis=1, dtype=np.int64)
        by_token = (self._rank[column] for column in mined.tokens.T[::-1])
        return np.lexsort((*mined.gaps.T[::-1], *by_token, -support))

    def coarse_order(self, mined: MinedPatterns) -> NDArray[np.int64]:
        """Numbers, (V,), that ascend with the order of rows but are equal where it rests on more than first tokens."""
        support = mined.counts.sum(axis=1, dtype=np.int64)
        return -support * len(self._rank) + self._rank[mined.tokens[:, 0]]

    def named(self, tokens: NDArray[np.int32]) -> pl.Series:
        """The tokens themselves, those of one row after those of the other."""
        return self._names.gather(np.where(tokens < 0, len(self._names) - 1, tokens).ravel())


class QValues:
    """Benjamini-Hochberg q of any p among those tested.

    Args:
        p: Of all patterns, (V,), in any order; it is sorted in place.
    """

    def __init__(self, p: NDArray[np.float64]) -> None:
        p.sort()
        self._p, self._q = p, adjusted(p)

    def of(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """The q of a tested p, and of one that was not tested that of the next larger, 1 where there is none."""
        place = np.searchsorted(self._p, p)
        beyond = place == self._p.size
        return np.where(beyond, 1.0, self._q[np.where(beyond, 0, place)]) if self._p.size else np.ones(np.shape(p))


def rows_of(
    part: MinedPatterns, words: Words, q: QValues, label_names: tuple[str, ...], settings: dict[str, Any]
) -> pl.DataFrame:
    """The finished rows of one part of the patterns, in its order.

    Args:
        part: Patterns as numbers.
        words: The tokens by number.
        q: Of all parts together.
        label_names: K names.
        settings: As described for `PatternTable`.
    """
    counts = part.counts.astype(np.int64)
    codes = counts.argmax(axis=1).astype(np.int64)
    characters = settings["tokenizer"] == "characters"
    frame = displayed(words.named(part.tokens), part.tokens, part.gaps, characters=characters).with_columns(
        support=pl.Series(counts.sum(axis=1)), counts=lists(counts)
    )
    frame = with_statistics(frame, codes, label_names, settings)
    own = q.of(frame["p_value"].to_numpy())
    return frame.with_columns(
        q_value=pl.Series(own, dtype=pl.Float64),
        **{Q_OF_LABELS: lists(_q_of_all_labels(counts, codes, own, q, settings))},
    ).select(*COLUMNS, Q_OF_LABELS)


def in_slices(mined: MinedPatterns) -> Iterator[MinedPatterns]:
    """The patterns in parts of at most `PART`; one empty part where there are none."""
    for begin in range(0, max(len(mined), 1), PART):
        yield mined.take(slice(begin, begin + PART))


def p_of(part: MinedPatterns, settings: dict[str, Any]) -> NDArray[np.float64]:
    """The p-values of one part of the patterns, each for its most probable label, (V,)."""
    return p_values(part.counts.astype(np.int64), part.counts.argmax(axis=1).astype(np.int64), settings)


def least_q(part: MinedPatterns, q: QValues, settings: dict[str, Any]) -> NDArray[np.float64]:
    """The least q of any label of each of one part of the patterns, (V,)."""
    counts = part.counts.astype(np.int64)
    codes = counts.argmax(axis=1).astype(np.int64)
    return _q_of_all_labels(counts, codes, q.of(p_values(counts, codes, settings)), q, settings).min(axis=1)


def _q_of_all_labels(
    counts: NDArray[np.int64], codes: NDArray[np.int64], own: NDArray[np.float64], q: QValues, settings: dict[str, Any]
) -> NDArray[np.float64]:
    """The q that each label would have beside those tested: that of the next larger p; 1 where p <= the prior."""
    label_counts = np.asarray(settings["label_counts"], np.float64)
    prior = label_counts / max(label_counts.sum(), 1.0)
    support = counts.sum(axis=1)
    values = np.ones(counts.shape)
    rows, labels = np.nonzero(counts > support[:, None] * prior)
    other = labels != codes[rows]
    rows, labels = rows[other], labels[other]
    values[rows, labels] = q.of(binomial_tail(counts[rows, labels], support[rows], prior[labels]))
    values[np.arange(len(codes)), codes] = own
    return values
