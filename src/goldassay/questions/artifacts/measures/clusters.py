"""How sure a pattern is where rows do not count by themselves, and whether it holds on other data.

Ten copies of a sentence say as much as one, as do sentences of nearly the same words: templates that were filled in,
texts that were copied with a word changed. All patterns in them would be called significant ten times over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import is_number
from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.artifacts.measures.statistics import (
    DESIGN_EFFECTS,
    Q_OF_LABELS,
    QValues,
    effective_tail,
    lists,
    matrix,
)
from goldassay.stats.intervals import wilson_bounds
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.artifacts.measures.pattern_table import PatternTable

# Rows whose K q exceeds this as if each sentence counted by itself are not looked at: p only grows.
TESTED_UP_TO = 0.05
# Numbers held at once for each pattern and label.
_CELLS = 1 << 23
# Tokens looked through at once: bounds the memory for where each of them occurs.
_TOKENS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class ClusteredSentences:
    """The sentences that share a cluster with another, cluster by cluster, and what all sentences say of clusters.

    Attributes:
        corpus: Those sentences.
        labels: Of each, (M,).
        clusters: Of each, ascending, (M,).
        correlation: Of two sentences of one cluster, for each label, (K,): see `label_correlation`.
    """

    corpus: TokenizedCorpus
    labels: NDArray[np.int64]
    clusters: NDArray[np.int64]
    correlation: NDArray[np.float64]

    @classmethod
    def of(
        cls, corpus: TokenizedCorpus, labels: NDArray[np.int64], clusters: NDArray[np.int64], n_labels: int
    ) -> ClusteredSentences:
        """Sort them out of all N sentences; clusters are numbered anew, those that begin alike one after the other.

        The occurrences of a pattern then lie close to each other, which saves half of the time to look through them.
        """
        shared = np.bincount(clusters)[clusters] > 1
        own = corpus.take(shared)
        of_cluster = np.unique(clusters[shared], return_index=True, return_inverse=True)
        place = np.empty(of_cluster[1].size, np.int64)
        place[np.argsort(_beginnings(own)[of_cluster[1]], kind="stable")] = np.arange(place.size)
        codes = place[of_cluster[2]]
        order = np.argsort(codes, kind="stable")
        return cls(
            reordered(own, order), labels[shared][order], codes[order], label_correlation(labels, clusters, n_labels)
        )


@dataclass(frozen=True)
class HeldOut:
    """How often patterns occur in sentences that they were not mined from.

    Attributes:
        counts: Of each pattern and label, (V, K).
        priors: Share of each label among these sentences, (K,).
    """

    counts: NDArray[np.int64]
    priors: NDArray[np.float64]


def _beginnings(corpus: TokenizedCorpus) -> NDArray[np.int64]:
    """The first tokens of each sentence as one number, (N,), frequent ones apart."""
    from goldassay.kernels.pattern_counts import beginnings

    rank = np.empty(len(corpus.vocabulary), np.int32)
    counts = np.bincount(corpus.ids, minlength=rank.size)
    rank[np.argsort(-counts, kind="stable")] = np.arange(rank.size, dtype=np.int32)
    return np.asarray(beginnings(corpus.ids, corpus.offsets, rank))


def label_correlation(labels: NDArray[np.int64], clusters: NDArray[np.int64], n_labels: int) -> NDArray[np.float64]:
    """How alike the labels of two sentences of one cluster are: for each label the correlation of having it, (K,).

    rho_l = sum_g [(sum_i r_i)^2 - sum_i r_i^2] / [p (1 - p) sum_g n_g (n_g - 1)], r_i = [y_i = l] - p, not below 0.

    Args:
        labels: Codes, (N,).
        clusters: Codes, (N,).
        n_labels: K.

    Source: the intraclass correlation in its form over pairs, Fisher 1925; Kish 1965, *Survey Sampling*, section 5.6.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    counts = np.bincount(labels, minlength=n_labels)
    pairs = float(sizes @ (sizes - 1))
    found = np.zeros(n_labels)
    for label in np.flatnonzero(counts):
        share = counts[label] / labels.size
        if share == 1 or pairs == 0:
            continue
        inside = np.bincount(clusters, weights=labels == label) - sizes * share
        alone = counts[label] * (1 - share) ** 2 + (labels.size - counts[label]) * share**2
        # No product of the matrix library, whose last bits depend on the number of threads.
        found[label] = max(0.0, float(np.square(inside).sum() - alone) / (share * (1 - share) * pairs))
    return np.minimum(found, 1.0)


def allow_for_clusters(
    table: PatternTable,
    corpus: TokenizedCorpus,
    labels: NDArray[np.int64],
    clusters: Sequence[NDArray[np.int64]],
    others: NDArray[np.float64] | None = None,
) -> PatternTable:
    """Test patterns anew where sentences come in clusters; their counts, shares and intervals stay what they are.

    Whether pattern b goes with label l is tested by the score U = sum over g of r_g, r_g = n_gl - n_g p: of the n_g
    sentences of cluster g that hold b, n_gl have label l, and p is the label's share. Sentences that were independent
    would give U the variance S = k (1 - p)^2 + (n - k) p^2, clusters give it sum_g r_g^2. The design effect is

        D = max(1, sum_g r_g^2 / S, 1 + (sum_g n_g^2 / n - 1) rho_l)

    and the test is the exact binomial one at the effective counts k/D of n/D. With rho_l, the correlation within
    clusters over all sentences, a pattern of few clusters, whose own squares say little, borrows from the others.
    Sentences that share no cluster give the same p as without clusters.

    Only patterns with K q <= .05 without clusters are tested again, as their p can only grow.

    Args:
        table: All mined patterns, not cut.
        corpus: The sentences that they were mined from, (N).
        labels: Their codes in the order of the table's labels, (N,).
        clusters: One or several ways to make clusters, codes from 0, (N,) each; the largest D counts.
        others: The p of mined patterns that the table lacks.

    Raises:
        InputError: The number of codes is not that of the sentences.

    Source: Rao and Scott 1992, "A simple method for the analysis of clustered binary data"; the squares are those of
    Liang and Zeger 1986.
    """
    for codes in (labels, *clusters):
        if codes.shape != (len(corpus),):
            raise InputError(f"there are {len(corpus)} sentences, and codes of shape {codes.shape}")
    ways = [codes for codes in clusters if int(codes.max(initial=-1)) + 1 < codes.size]
    if not ways or not len(table):
        return table
    rows, n_labels = rows_to_test(table), len(table.label_names)
    effects = np.ones((len(table), n_labels))
    for codes in ways:
        sentences = ClusteredSentences.of(corpus, labels, codes, n_labels)
        effects[rows] = np.maximum(effects[rows], design_effects(table, rows, sentences))
    p = p_with_effects(table, effects)
    return with_effects(table, effects, QValues(p if others is None else np.concatenate([p, others])))


def design_effects(
    table: PatternTable,
    rows: NDArray[np.int64],
    sentences: ClusteredSentences,
    held_out: HeldOut | None = None,
) -> NDArray[np.float64]:
    """D of some rows of a table for each label, (rows, K); see `allow_for_clusters`.

    Args:
        table: The patterns.
        rows: Which of them.
        sentences: That share clusters.
        held_out: How often they occur, where the sentences are not those that they were mined from.
    """
    found = np.empty((rows.size, len(table.label_names)))
    for at, sums in sums_of(table, rows, held_out):
        sums.add(sentences.corpus, sentences.labels, sentences.clusters)
        found[at] = sums.effects(sentences.correlation)
    return found


def sums_of(
    table: PatternTable, rows: NDArray[np.int64], held_out: HeldOut | None = None
) -> Iterator[tuple[slice, ClusterSums]]:
    """Empty sums for some rows of a table, so many at a time that they can be held."""
    at_once = max(1, _CELLS // len(table.label_names))
    for begin in range(0, rows.size, at_once):
        at = slice(begin, begin + at_once)
        of_rows = None if held_out is None else HeldOut(held_out.counts[rows[at]], held_out.priors)
        yield at, ClusterSums(table.take(rows[at]), of_rows)


class ClusterSums:
    """Sums over clusters for the patterns of a table; whole clusters may be added one after the other.

    Of each pattern n_g of the sentences of cluster g hold it, n_gl of them with label l.

    Attributes:
        inside: Sum of n_gl, (V, K).
        sizes: Sum of n_g^2, (V,).
        squares: Sum of n_gl^2, (V, K).
        products: Sum of n_gl n_g, (V, K).
    """

    def __init__(self, table: PatternTable, held_out: HeldOut | None = None) -> None:
        self._table = table
        self._counts = table.counts_and_q()[0] if held_out is None else held_out.counts
        self._p = _priors(table) if held_out is None else held_out.priors
        shape = self._counts.shape
        self.sizes = np.zeros(shape[0], np.int64)
        self.inside, self.squares, self.products = (np.zeros(shape, np.int64) for _ in range(3))

    def add(self, corpus: TokenizedCorpus, labels: NDArray[np.int64], clusters: NDArray[np.int64]) -> None:
        """Add sentences that share clusters; all of a cluster at once, clusters ascending.

        Raises:
            InputError: The tokenizer is not the one that the patterns were mined with.
        """
        self._table.tokenized(corpus)
        sums = (self.inside, self.sizes, self.squares, self.products)
        tree = self._table.tree
        tokens = tree.numbers_of(corpus.vocabulary)[corpus.ids]
        for begin, end in _whole_clusters(corpus.offsets, clusters):
            first, past = corpus.offsets[[begin, end]].tolist()
            offsets = corpus.offsets[begin : end + 1] - first
            tree.add_squares(tokens[first:past], offsets, labels[begin:end], clusters[begin:end], sums)

    def effects(self, correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """D of each pattern and label, (V, K)."""
        # A sentence that shares no cluster adds 1 to each sum that it is counted in.
        alone = self._counts - self.inside
        support = self._counts.sum(axis=1).astype(np.float64)
        sizes = self.sizes + alone.sum(axis=1)
        p = self._p
        of_clusters = self.squares + alone - 2 * p * (self.products + alone) + p**2 * sizes[:, np.newaxis]
        of_sentences = self._counts * (1 - p) ** 2 + (support[:, np.newaxis] - self._counts) * p**2
        own = of_clusters / np.where(of_sentences > 0, of_sentences, 1.0)
        pooled = 1 + (sizes / np.maximum(support, 1.0) - 1)[:, np.newaxis] * correlation
        return np.maximum(np.maximum(own, pooled), 1.0)


def _whole_clusters(offsets: NDArray[np.int64], clusters: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of sentences that hold whole clusters, and no more tokens than are looked through at once if possible."""
    edges = np.append(np.flatnonzero(np.diff(clusters, prepend=-1)), clusters.size)
    begin = 0
    while begin < clusters.size:
        most = int(np.searchsorted(offsets, offsets[begin] + _TOKENS_AT_ONCE, side="right")) - 1
        at = int(np.searchsorted(edges, most, side="right")) - 1
        end = int(edges[at]) if edges[at] > begin else int(edges[np.searchsorted(edges, begin, side="right")])
        yield begin, end
        begin = end


def rows_to_test(table: PatternTable) -> NDArray[np.int64]:
    """The rows that clusters can make insignificant: of the others no label is significant without clusters."""
    _, q_of_labels = table.counts_and_q()
    return np.flatnonzero(q_of_labels.min(axis=1) * table.n_labels_met <= TESTED_UP_TO)


def p_with_effects(table: PatternTable, effects: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p of each row for its label, (V,), given D of each label, (V, K)."""
    counts, _ = table.counts_and_q()
    codes, each = table.label_codes(), np.arange(len(table))
    return effective_tail(counts[each, codes], counts.sum(axis=1), _priors(table)[codes], effects[each, codes])


def with_effects(table: PatternTable, effects: NDArray[np.float64], q: QValues) -> PatternTable:
    """The rows with the p and q that design effects (V, K) give; `q` is of all rows of the whole table."""
    counts, _ = table.counts_and_q()
    prior, support = _priors(table), counts.sum(axis=1)
    p = p_with_effects(table, effects)
    of_labels = np.ones(counts.shape)
    rows, labels = np.nonzero(counts > support[:, np.newaxis] * prior)
    of_labels[rows, labels] = q.of(
        effective_tail(counts[rows, labels], support[rows], prior[labels], effects[rows, labels])
    )
    own = q.of(p)
    of_labels[np.arange(len(table)), table.label_codes()] = own
    frame = table.all_columns().with_columns(
        p_value=pl.Series(p, dtype=pl.Float64),
        q_value=pl.Series(own, dtype=pl.Float64),
        **{Q_OF_LABELS: lists(of_labels), DESIGN_EFFECTS: lists(effects)},
    )
    return replace(table, _frame=frame)


def _priors(table: PatternTable) -> NDArray[np.float64]:
    label_counts = np.asarray(table.settings["label_counts"], np.float64)
    return label_counts / max(float(label_counts.sum()), 1.0)


def reordered(corpus: TokenizedCorpus, order: NDArray[np.int64]) -> TokenizedCorpus:
    """The sentences in another order."""
    lengths = np.diff(corpus.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(corpus.offsets[:-1][order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return TokenizedCorpus(corpus.ids[places], offsets, corpus.vocabulary, corpus.tokenizer)


@dataclass(frozen=True, eq=False)
class Confirmation(Result):
    """Each pattern on held-out data beside where it was found.

    Attributes:
        n_patterns: Rows of the table.
        n_present: Those found in a held-out sentence at all; only these are tested.
        n_confirmed: Those whose excess of their label is significant there.
        q: Largest q_value that confirms.
        table: pattern, label, support, probability (where it was mined); test_support, test_probability,
            test_low, test_high (held out; Wilson, 95 %), p_value, q_value (NaN where the pattern is absent), confirmed.
    """

    n_patterns: int
    n_present: int
    n_confirmed: int
    q: float
    table: pl.DataFrame

    @property
    def share_confirmed(self) -> float:
        """Confirmed among those present; NaN where none is."""
        return self.n_confirmed / self.n_present if self.n_present else float("nan")

    def to_frame(self) -> pl.DataFrame:
        """The table, in the order of the patterns."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The numbers, without the table."""
        share = self.share_confirmed if self.n_present else None
        return {
            "n_patterns": self.n_patterns,
            "n_present": self.n_present,
            "n_confirmed": self.n_confirmed,
            "share_confirmed": share,
            "q": self.q,
        }


def confirm_patterns(
    patterns: PatternTable,
    sentences: Sequence[str] | TokenizedCorpus,
    labels: Sequence[Any] | NDArray[Any],
    q: float = 0.05,
    tokenizer: Tokenizer | None = None,
    *,
    clusters: NDArray[np.int64] | None = None,
) -> Confirmation:
    """Test on held-out data whether each pattern still goes with its label.

    A pattern is confirmed where P(X >= k), X binomial with n trials at the label's held-out share, has a
    Benjamini-Hochberg q_value <= q among the patterns present: n held-out sentences hold it, k of them with its
    label. The label's share and not the mining threshold is what it is tested against, since a threshold is exceeded
    by half of the patterns that lie on it. A pattern too rare to be tested well is not confirmed; the table shows
    its interval.

    Args:
        patterns: Mined on other data, cut by `select` or `significant`.
        sentences: Held-out strings, or a corpus tokenized the same way.
        labels: Their labels; sentences without one are left out.
        q: Share of chance finds to accept among the confirmed.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.
        clusters: Codes from 0 of sentences that do not count by themselves, (N,): p is then that of fewer sentences by
            the design effect, as where patterns are mined (`allow_for_clusters`).

    Raises:
        InputError: q is not between 0 and 1, or labels or tokenizer do not fit the patterns.
    """
    if not is_number(q) or not 0 < q < 1:
        raise InputError(f"q is {q!r}", mend="choose a share between 0 and 1")
    names = patterns.label_names
    held_out = patterns.count_in(sentences, labels, tokenizer)
    codes, _ = encode_labels(labels, names, len(sentences))
    label_counts = np.bincount(codes[codes >= 0], minlength=len(names))
    prior = label_counts / max(int(label_counts.sum()), 1)
    n = held_out["support"].to_numpy()
    counts = matrix(held_out["counts"], len(names))
    own = patterns.label_codes()
    k = counts[np.arange(len(patterns)), own]
    present = n > 0
    p_values = np.full(len(patterns), np.nan)

    effects: NDArray[np.float64] | float = 1.0
    if clusters is not None:
        kept = codes >= 0
        corpus = patterns.tokenized(sentences, tokenizer)
        together = ClusteredSentences.of(corpus.take(kept), codes[kept], clusters[kept], len(names))
        at = np.flatnonzero(present)
        found = design_effects(patterns, at, together, HeldOut(counts.astype(np.int64), prior))
        effects = found[np.arange(at.size), own[at]]
    p_values[present] = effective_tail(k[present], n[present], prior[own[present]], effects)
    q_values = benjamini_hochberg(p_values)
    low, high = wilson_bounds(k, n)
    confirmed = present & (np.nan_to_num(q_values, nan=1.0) <= q)
    table = (
        patterns.to_frame()
        .select("pattern", "label", "support", "probability")
        .with_columns(
            test_support=held_out["support"],
            test_probability=held_out["probability"],
            test_low=pl.Series(low),
            test_high=pl.Series(high),
            p_value=pl.Series(p_values),
            q_value=pl.Series(q_values),
            confirmed=pl.Series(confirmed),
        )
    )
    return Confirmation(len(patterns), int(present.sum()), int(confirmed.sum()), q, table)


N_BANDS, N_ROWS = 8, 4
# Of 32 minima so many are equal where .56 of the words are shared. Made sets of 300 texts in ten copies each (twelve
# words of which another one is changed in each, labels 95/5) have a significant pattern in 12 % with 22, in 2 % with 20
# and in .4 % with 18.
EQUAL_MINIMA = 18
# Shorter sentences are near copies by chance: many people write "A man is sleeping outside."
SHORTEST = 12
# Representatives that are looked at in one band: bounds the time where many sentences are alike.
MOST_COMPARED = 4
# Bytes that `near_sentences` takes a sentence, at most.
BYTES_A_SENTENCE = 420


def sign_corpus(corpus: TokenizedCorpus) -> NDArray[np.uint64]:
    """MinHash the words of each sentence, (N, 8): each number is four minima of 16 bits.

    Words are compared without case. A sentence of fewer than twelve tokens has signatures that are equal to those of
    sentences of the same words, and near to none.

    Source: see `kernels.minhash`.
    """
    from goldassay.kernels.minhash import Shingles, sign
    from goldassay.kernels.splitting import code_points

    spelled = code_points(pl.Series(corpus.vocabulary, dtype=pl.String).str.to_lowercase())
    return sign(
        Shingles.of_words(corpus.ids, corpus.offsets, *spelled), N_BANDS, N_ROWS, n_threads=cores(), packed=True
    )[0]


def near_sentences(signatures: NDArray[np.uint64], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """A code for each group of sentences of nearly the same words, from 0 without gaps, (N,).

    Two sentences of twelve tokens or more are near copies where 18 of the 32 minima of their words are equal, which are
    expected where the words that they share are .56 of the distinct words of both. Sentences are taken by falling
    count; each is joined to the representative with the most equal minima before it, else it becomes one. Copies of
    copies are thus never chained, and the order of rows changes nothing. Shorter sentences are joined where all minima
    are equal: they have the same words.

    Not `join_near_copies`, which asks for .8 of the runs of five letters: two sentences of twelve words, each with
    another word changed, share .57 of these. It also takes some twenty times as long, and needs the texts.

    Args:
        signatures: Of `sign_corpus`, (N, 8).
        lengths: Tokens of each sentence, (N,).
    """
    if not len(signatures):
        return np.empty(0, np.int64)
    from goldassay.kernels.hashing import absorbed
    from goldassay.kernels.minhash import join

    # One number for all bands of a sentence.
    mixed = np.zeros(len(signatures), np.uint64)
    for band in signatures.T:
        mixed = absorbed(mixed, band)
    _, first, inverse, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
    # Sentences of the same words may differ in length, by words that are repeated.
    longest = np.zeros(first.size, np.int64)
    np.maximum.at(longest, inverse, lengths)
    own = np.flatnonzero(longest >= SHORTEST)
    own = own[np.argsort(-counts[own], kind="stable")]
    found = np.arange(first.size)
    found[own] = own[join(signatures[first[own]], EQUAL_MINIMA / (N_BANDS * N_ROWS), MOST_COMPARED, n_threads=cores())]
    used = np.cumsum(np.bincount(found, minlength=first.size) > 0) - 1
    return used[found[inverse]].astype(np.int64)
