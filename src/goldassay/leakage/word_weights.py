"""Which words tell a group of texts from all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.data.tokenization import TokenizedCorpus

# Words of all examples together that count as much as one cluster's: how firmly the prior holds rare words back.
_PRIOR_WORDS = 500.0


@dataclass(frozen=True)
class WordWeights(Result):
    """How much each word belongs to each cluster; see `weighted_log_odds`.

    Attributes:
        words: V words.
        log_odds: Difference of the logarithms of the odds, natural, (k, V).
        z: `log_odds` over its standard deviation, (k, V).
        counts: Of each word in each cluster, (k, V).
    """

    words: tuple[str, ...]
    log_odds: NDArray[np.float64]
    z: NDArray[np.float64]
    counts: NDArray[np.int64]

    def top(self, cluster: int, n: int = 8, least_z: float = 1.96, least_count: int = 3) -> list[dict[str, Any]]:
        """The n words with the largest z of a cluster, none below `least_z` or `least_count`.

        Each with word, z, count and elsewhere, its count in all other clusters.
        """
        usable = np.where(self.counts[cluster] >= least_count, self.z[cluster], -np.inf)
        order = np.argsort(-usable, kind="stable")[:n]
        totals = self.counts.sum(axis=0)
        return [
            {
                "word": self.words[v],
                "z": float(self.z[cluster, v]),
                "count": int(self.counts[cluster, v]),
                "elsewhere": int(totals[v] - self.counts[cluster, v]),
            }
            for v in order
            if usable[v] >= least_z
        ]


def weighted_log_odds(
    counts: ArrayLike, words: Sequence[str], prior: ArrayLike | None = None, prior_size: float = _PRIOR_WORDS
) -> WordWeights:
    """Which words tell each cluster from all others, rare words held back by a prior.

    With y_w and n the count of word w and of all words in a cluster, and a_w a Dirichlet prior with sum a:
    log_odds = log((y_w + a_w)/(n + a - y_w - a_w)) - the same of all other clusters together,
    z = log_odds / sqrt(1/(y_w + a_w) + 1/(y'_w + a_w)).

    Args:
        counts: (k, V).
        words: V names.
        prior: a_w up to a factor, (V,), all above 0; counts of all clusters together if not given.
        prior_size: a.

    Raises:
        InputError: Shapes do not fit, or the prior is not above 0.

    Source: Monroe, Colaresi and Quinn 2008, "Fightin' Words", with an informative prior.
    """
    y = np.asarray(counts, dtype=np.float64)
    if y.ndim != 2 or y.shape[1] != len(words):
        raise InputError(f"counts have shape {y.shape}, and there are {len(words)} words")
    weights = y.sum(axis=0) if prior is None else np.asarray(prior, dtype=np.float64)
    if weights.shape != (y.shape[1],) or not np.all(weights > 0):
        raise InputError("the prior of a word is not above 0", mend="leave out words that never occur")
    a = prior_size * weights / weights.sum()
    others = y.sum(axis=0) - y
    inside, outside = y + a, others + a
    rest_inside = y.sum(axis=1, keepdims=True) + prior_size - inside
    rest_outside = others.sum(axis=1, keepdims=True) + prior_size - outside
    log_odds = np.log(inside / rest_inside) - np.log(outside / rest_outside)
    z = log_odds / np.sqrt(1 / inside + 1 / outside)
    return WordWeights(tuple(words), log_odds, z, y.astype(np.int64))


def word_counts(
    corpus: TokenizedCorpus, clusters: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], list[str]]:
    """In how many examples of each cluster each word occurs, (k, V), and the V words.

    Examples are counted, not occurrences: a word said five times in one sentence is one example to rewrite. Words
    are told apart without case; signs without a letter or digit are no words.
    """
    folded = [word.casefold() for word in corpus.vocabulary]
    names = sorted({word for word in folded if any(character.isalnum() for character in word)})
    code = {name: i for i, name in enumerate(names)}
    codes = np.array([code.get(word, -1) for word in folded], np.int64)[corpus.ids]
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))[codes >= 0]
    pairs = np.unique(rows * max(len(names), 1) + codes[codes >= 0])
    cells = clusters[pairs // max(len(names), 1)] * len(names) + pairs % max(len(names), 1)
    return np.bincount(cells, minlength=n_clusters * len(names)).reshape(n_clusters, len(names)), names
