"""Rows of a pattern table made of mined numbers, a part at a time, so that a long table needs little memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts.pattern_statistics import displayed, lists, p_values, with_statistics
from goldassay.artifacts.significance import binomial_tail
from goldassay.stats.significance import adjusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

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
