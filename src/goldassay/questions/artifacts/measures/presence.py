"""Which sentences hold which patterns: lift, features, coverage, examples, and a training set without its patterns.

A word in 95 % of the examples of a label that makes up a tenth, and in 10 % of the others, names that label in half of
its examples: by share it falls below any threshold, by lift it tells all that a reader needs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer
from goldassay.questions.artifacts.measures.statistics import PART
from goldassay.stats.intervals import wilson_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable

# Of more, those with the largest lift are kept: a reader of a sentence takes the strongest alone.
LIFTED_AT_MOST = 200_000


@dataclass(frozen=True)
class LiftedPatterns:
    """Patterns, each with the label for which it is the strongest evidence.

    Attributes:
        patterns: V rows.
        labels: Code of that label, (V,).
        lifts: Lower Wilson bound of p(l|b), over p(l), (V,); above 1.
    """

    patterns: PatternTable
    labels: NDArray[np.int64]
    lifts: NDArray[np.float64]

    def __len__(self) -> int:
        return self.labels.size

    def strongest_in(self, corpus: TokenizedCorpus) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The label and lift of the strongest pattern of each sentence, (N,) and (N,); -1 and 0 where it holds none."""
        found = np.full(len(corpus), -1, dtype=np.int64)
        lifts = np.zeros(len(corpus))
        if not len(self):
            return found, lifts
        # By lift, of equal ones the more frequent, which is the first row.
        order = np.lexsort((-np.arange(len(self)), self.lifts))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        for begin, _, at, rows in self.patterns.match_blocks(corpus):
            if not at.size:
                continue
            starts = np.flatnonzero(np.diff(at, prepend=-1))
            best = order[np.maximum.reduceat(rank[rows], starts)]
            found[begin + at[starts]] = self.labels[best]
            lifts[begin + at[starts]] = self.lifts[best]
        return found, lifts


@dataclass(frozen=True)
class PredictivePatterns:
    """The mined patterns that a label can be guessed by, and how many there are.

    Attributes:
        selected: The significant ones whose share exceeds the threshold.
        lifted: Those that tell some label beyond chance, by lift.
        n_significant: How many are significant.
        n_mined: How many were mined.
        q: Largest q of a significant one.
        threshold: The share that the selected exceed.
    """

    selected: PatternTable
    lifted: LiftedPatterns
    n_significant: int
    n_mined: int
    q: float
    threshold: float

    @property
    def settings(self) -> dict[str, Any]:
        """What was mined with."""
        return self.selected.settings

    @property
    def label_names(self) -> tuple[str, ...]:
        """K names."""
        return self.selected.label_names


def lifted_patterns(parts: Iterable[PatternTable], q: float) -> LiftedPatterns:
    """Of each pattern the label with the largest lift among those that it goes with beyond chance.

    Lift here is the lower Wilson bound of p(l|b) over p(l), so that a rare pattern does not outrank a frequent one by
    luck. A label counts where K q_value <= q and the bound exceeds 1.

    Args:
        parts: Of one table of mined patterns, not cut.
        q: Largest q of a significant pattern.

    Source: lift as in Brin, Motwani, Ullman and Tsur 1997; the bound is Wilson's (1927).
    """
    kept: list[PatternTable] = []
    labels: list[NDArray[np.int64]] = []
    lifts: list[NDArray[np.float64]] = []
    for part in parts:
        rows, codes, lift = _predicted(part, q)
        # No more than could be kept of all: a copy of most rows of a large table would be hundreds of megabytes.
        best = _largest(lift)
        kept.append(part.take(rows[best]))
        labels.append(codes[best])
        lifts.append(lift[best])
    table, code, lift = type(kept[0]).joined(kept), np.concatenate(labels), np.concatenate(lifts)
    if len(kept) > 1:
        best = _largest(lift)
        table, code, lift = table.take(best), code[best], lift[best]
    return LiftedPatterns(table, code, lift)


def _largest(lifts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions, ascending, of the lifts that are kept; of equal ones the first."""
    return np.sort(np.argsort(-lifts, kind="stable")[:LIFTED_AT_MOST])


def label_without_pattern(sampled: NDArray[np.integer], left: NDArray[np.integer], constant: int) -> int:
    """The label to name where a sentence holds no pattern.

    The label whose share among the training sentences without a pattern exceeds its share among all by the largest
    factor, if it does so beyond chance (Wilson's lower bound exceeds that share); else the constant one.

    Args:
        sampled: Training sentences of each label, all or a sample, (K,).
        left: Those of them without a pattern, (K,).
        constant: The most frequent label.
    """
    counts = np.asarray(sampled, dtype=np.float64)
    share = counts / max(counts.sum(), 1.0)
    low = wilson_bounds(left, np.sum(left))[0]
    lift = np.where(share > 0, low / np.where(share > 0, share, 1.0), 0.0)
    return int(lift.argmax()) if lift.max() > 1 else constant


def _predicted(part: PatternTable, q: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows with a label that they tell beyond chance, that label, and its lift."""
    label_counts = np.asarray(part.settings["label_counts"], dtype=np.float64)
    prior = label_counts / max(label_counts.sum(), 1.0)
    codes, best = np.zeros(len(part), dtype=np.int64), np.zeros(len(part))
    # So many rows at a time: of millions each array of all labels takes tens of megabytes.
    for begin in range(0, len(part), PART):
        counts, q_values = part.slice(begin, PART).counts_and_q()
        lift = np.zeros(counts.shape)
        rows, labels = np.nonzero((q_values * part.n_labels_met <= q) & (prior > 0))
        low = wilson_bounds(counts[rows, labels], np.maximum(counts.sum(axis=1), 1)[rows])[0]
        lift[rows, labels] = low / prior[labels]
        codes[begin : begin + PART], best[begin : begin + PART] = lift.argmax(axis=1), lift.max(axis=1)
    found = np.flatnonzero(best > 1)
    return found, codes[found], best[found]


# Sentences matched at once: bounds the memory for the matches.
_BLOCK = 1 << 16


def pattern_features(
    sentences: Sequence[str], patterns: PatternTable, tokenizer: Tokenizer | None = None
) -> sparse.csr_matrix:
    """The binary matrix (N, V): 1 where sentence n holds the pattern of row v.

    Args:
        sentences: N strings.
        patterns: V rows, usually cut by `select`.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: The tokenizer is not the one that the patterns were mined with.

    Source: Liu et al. 2020, the features of their pattern classifiers.
    """
    from scipy.sparse import csr_matrix

    corpus = patterns.tokenized(sentences, tokenizer)
    found = [(begin + at, rows) for begin, at, rows in _matches_by_block(corpus, patterns)]
    at = np.concatenate([part for part, _ in found]) if found else np.empty(0, np.int64)
    rows = np.concatenate([part for _, part in found]) if found else np.empty(0, np.int64)
    starts = np.searchsorted(at, np.arange(len(corpus) + 1))
    return csr_matrix((np.ones(rows.size, np.float32), rows, starts), shape=(len(corpus), len(patterns)))


def strongest_probability(
    sentences: Sequence[str], patterns: PatternTable, tokenizer: Tokenizer | None = None
) -> NDArray[np.float64]:
    """Largest p(label|pattern) of the patterns that each sentence holds, (N,); 0 where it holds none.

    Args:
        sentences: N strings.
        patterns: What to look for.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: The tokenizer is not the one that the patterns were mined with.
    """
    corpus = patterns.tokenized(sentences, tokenizer)
    probability = patterns.to_frame()["probability"].to_numpy()
    strongest = np.zeros(len(corpus))
    for begin, at, rows in _matches_by_block(corpus, patterns):
        np.maximum.at(strongest, begin + at, probability[rows])
    return strongest


def _matches_by_block(
    corpus: TokenizedCorpus, patterns: PatternTable
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """The first sentence of each block, and its matches as `PatternTable.matches` gives them."""
    for begin in range(0, len(corpus), _BLOCK):
        offsets = corpus.offsets[begin : begin + _BLOCK + 1]
        ids = corpus.ids[offsets[0] : offsets[-1]]
        part = TokenizedCorpus(ids, offsets - offsets[0], corpus.vocabulary, corpus.tokenizer)
        yield begin, *patterns.matches(part)


Mode = Literal["debias", "random"]
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)


def downsample(
    dataset: Dataset,
    patterns: PatternTable,
    mode: Mode = "debias",
    seed: int = 0,
    *,
    texts: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Dataset:
    """Keep a balanced subset without patterns ("debias"), or its random control of the same size ("random").

    "debias" drops every example that holds any of the patterns, whatever its label. With n_l what is left of label l
    and m = min_l n_l, it then draws m examples a label without replacement. "random" draws the same m a label from the
    full dataset. Both have K m examples, in their order in the dataset.

    Args:
        dataset: N labelled examples, usually those that the patterns were mined from.
        patterns: Cut by `select`.
        mode: "debias" or "random".
        seed: Of the draw; the same seed gives the same subset.
        texts: What to look for patterns in, (N,); by default the last text, which of a pair is the hypothesis.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: Nothing is left of a label, the mode is unknown, the dataset has no labels, or the
            tokenizer is another one.

    Source: Liu et al. 2020.
    """
    if mode not in get_args(Mode):
        raise InputError(f"there is no mode {mode!r}", mend=f"choose {' or '.join(get_args(Mode))}")
    codes = dataset.labels()
    covered = _strongest(dataset, patterns, texts, tokenizer) > 0
    left = np.bincount(codes[~covered], minlength=len(dataset.label_names))
    m = int(left.min())
    if m == 0:
        empty = dataset.label_names[int(left.argmin())]
        raise InputError(
            f"no example of {empty} is without a pattern, so that nothing is left to balance",
            file=dataset.source,
            mend="raise the threshold",
        )
    pool = ~covered if mode == "debias" else np.ones(len(dataset), np.bool_)
    rows = _balanced_draw(codes, pool, m, np.random.default_rng(seed))
    return _with_provenance(dataset.take(rows), dataset, mode, seed, int(covered.sum()), m)


def sizes_by_threshold(
    dataset: Dataset,
    patterns: PatternTable,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    texts: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> pl.DataFrame:
    """How much `downsample` would keep at each threshold.

    Args:
        dataset: N labelled examples.
        patterns: Not cut yet, or at no more than the lowest threshold.
        thresholds: Shares; from 1 on no pattern is kept, so that nothing is removed.
        texts: As for `downsample`.
        tokenizer: As for `downsample`.

    Returns:
        A row a threshold: threshold, n_patterns (rows of the cut table), n_removed, n_left (removed + left = N),
        smallest (the label with the fewest left), per_label (m), size (K m), share (of N).

    Raises:
        InputError: A threshold is negative or below the one that the patterns were already cut at.

    Source: Liu et al. 2020.
    """
    cut_at = patterns.settings.get("threshold", 0.0)
    for threshold in thresholds:
        if not threshold >= cut_at:
            raise InputError(
                f"the threshold is {threshold}, below {cut_at}", mend="give patterns that were cut lower, or not yet"
            )
    codes = dataset.labels()
    K = len(dataset.label_names)
    useful = [threshold for threshold in thresholds if threshold < 1]
    strongest = np.zeros(len(dataset))
    if useful:
        strongest = _strongest(dataset, patterns.select(min(useful)), texts, tokenizer)
    rows = []
    for threshold in thresholds:
        left = np.bincount(codes[strongest <= threshold], minlength=K)
        m = int(left.min())
        rows.append(
            {
                "threshold": float(threshold),
                "n_patterns": len(patterns.select(threshold)) if threshold < 1 else 0,
                "n_removed": len(dataset) - int(left.sum()),
                "n_left": int(left.sum()),
                "smallest": dataset.label_names[int(left.argmin())],
                "per_label": m,
                "size": K * m,
                "share": K * m / len(dataset),
            }
        )
    return pl.DataFrame(rows)


def _strongest(
    dataset: Dataset, patterns: PatternTable, texts: Sequence[str] | None, tokenizer: Tokenizer | None
) -> NDArray[np.float64]:
    searched = dataset.texts(dataset.text_columns[-1]) if texts is None else texts
    if len(searched) != len(dataset):
        raise InputError(
            f"there are {len(searched)} texts for {len(dataset)} examples", mend="give one for each example"
        )
    return strongest_probability(searched, patterns, tokenizer)


def _balanced_draw(
    codes: NDArray[np.int64], pool: NDArray[np.bool_], m: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Rows of the pool, m of each label without replacement, ascending."""
    draws = [rng.choice(np.flatnonzero(pool & (codes == label)), m, replace=False) for label in np.unique(codes)]
    return np.sort(np.concatenate(draws))


def _with_provenance(subset: Dataset, dataset: Dataset, mode: Mode, seed: int, n_covered: int, m: int) -> Dataset:
    dropped = {"holds a pattern": n_covered} if mode == "debias" else {}
    drawn_from = len(dataset) - sum(dropped.values())
    dropped["not drawn"] = drawn_from - len(subset)
    what = "what holds no pattern" if mode == "debias" else "the full data"
    sentence = f"{m:,} examples a label were drawn from {what} (seed {seed})."
    provenance = dataset.provenance
    return replace(
        subset,
        name=f"{dataset.name}-{mode}",
        provenance=replace(
            provenance, decisions=(*provenance.decisions, sentence), dropped={**provenance.dropped, **dropped}
        ),
    )


class CoverageCount:
    """Counts, at each of T thresholds, what `assign_difficulty` would find with the patterns whose share exceeds it.

    Args:
        patterns: Cut already at or below the lowest threshold.
        thresholds: T shares, ascending.

    At each threshold only the two labels matter whose patterns exceed the highest thresholds, so that a sentence's
    search ends where no pattern left could change these. Counts are whole numbers: they do not depend on the cores.

    Attributes:
        label_counts: Sentences of each label, (K,).
        covered: Sentences that hold a pattern, (T,).
        decided: Those whose patterns name a single label, (T,).
        easy: Those of them whose label it is, (T,).
        left_open: Sentences of each label whose patterns name none or several, (T,K).
    """

    def __init__(self, patterns: PatternTable, thresholds: Sequence[float]) -> None:
        from goldassay.kernels.pattern_trees import highest_below

        K, T = len(patterns.label_names), len(thresholds)
        self._patterns, self._tree = patterns, patterns.tree
        rows = self._tree.rows
        # How many thresholds each row's share exceeds.
        self._levels = np.searchsorted(thresholds, patterns.to_frame()["probability"].to_numpy())[rows].astype(np.int32)
        self._row_labels = patterns.label_codes()[rows].astype(np.int32)
        self._highest = highest_below(self._tree.child_starts, self._tree.row_starts, self._row_labels, self._levels)
        self.label_counts = np.zeros(K, np.int64)
        self.covered, self.decided, self.easy = (np.zeros(T, np.int64) for _ in range(3))
        self.left_open = np.zeros((T, K), np.int64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer]) -> None:
        """Count sentences with the codes of their labels, (N,); those below 0 are left out.

        Raises:
            InputError: The tokenizer is not the one that the patterns were mined with.
        """
        from goldassay.kernels.pattern_counts import beginnings
        from goldassay.kernels.pattern_trees import count_coverage

        self._patterns.tokenized(corpus)
        self.label_counts += np.bincount(codes[codes >= 0], minlength=self.label_counts.size)
        numbers = self._tree.numbers_of(corpus.vocabulary)
        # Sentences that begin alike walk the same branches: one after the other, they find them in the cache.
        order = np.argsort(beginnings(corpus.ids, corpus.offsets, numbers))
        n_threads = cores()
        edges = np.unique(np.linspace(0, len(corpus), 4 * n_threads + 1).astype(np.int64)).tolist()
        with ThreadPoolExecutor(n_threads) as pool:
            counted = pool.map(
                lambda edge: count_coverage(
                    *edge,
                    order,
                    corpus.ids,
                    corpus.offsets,
                    codes,
                    numbers,
                    *self.left_open.shape,
                    self._tree.n_distances,
                    self._tree.roots,
                    self._tree.keys,
                    self._tree.child_starts,
                    self._tree.row_starts,
                    self._row_labels,
                    self._levels,
                    *self._highest,
                ),
                pairwise(edges),
            )
            for covered, decided, easy, left_open in counted:
                self.covered += covered
                self.decided += decided
                self.easy += easy
                self.left_open += left_open


class RowSignatures:
    """A number for each of V patterns that is the same for patterns of the same sentences.

    It is the sum of a 64-bit hash of the position of each sentence that holds the pattern, which takes one pass and
    eight bytes a pattern; different sets of sentences agree with a probability of 2^-64.

    Args:
        patterns: V rows.
    """

    def __init__(self, patterns: PatternTable) -> None:
        self._patterns = patterns
        self._n_seen = 0
        self.values = np.zeros(len(patterns), np.uint64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer[Any]]) -> None:
        """Let sentences pass by with the codes of their labels, (N,); those below 0 do not count."""
        from goldassay.kernels.hashing import finalized

        for begin, _, at, rows in self._patterns.match_blocks(corpus):
            counted = codes[begin + at] >= 0
            positions = (self._n_seen + begin + at[counted]).astype(np.uint64)
            np.add.at(self.values, rows[counted], finalized(positions + np.uint64(1)))
        self._n_seen += len(corpus)


class ExampleSample:
    """The `size` sentences with the smallest keys of those that hold each of V patterns.

    A key is a hash of the sentence's tokens and the seed, so that this is a random draw without replacement among
    different sentences, which needs one pass, little memory, and no count of them beforehand; and the same draw however
    the sentences are parted. Of equal sentences the first stands for all.

    Args:
        patterns: V rows.
        size: Most sentences a pattern.
        seed: Of the draw.
    """

    def __init__(self, patterns: PatternTable, size: int, seed: int) -> None:
        self._patterns, self._size, self._seed = patterns, size, seed
        self._n_seen = 0
        self._row = np.empty(0, np.int64)
        self._key = np.empty(0, np.uint64)
        self._position = np.empty(0, np.int64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer]) -> None:
        """Let sentences pass by with the codes of their labels, (N,); those below 0 are not drawn."""
        tokens = _token_keys(corpus.vocabulary)
        for begin, end, at, rows in self._patterns.match_blocks(corpus):
            labelled = codes[begin + at] >= 0
            at, rows = at[labelled], rows[labelled]
            low, high = corpus.offsets[begin], corpus.offsets[end]
            keys = _keys(tokens[corpus.ids[low:high]], corpus.offsets[begin : end + 1] - low, self._seed)
            self._keep(rows, keys[at], self._n_seen + begin + at)
        self._n_seen += len(corpus)

    def positions(self) -> list[list[int]]:
        """For each pattern the positions of its sentences among all that passed by, ascending."""
        parts: list[list[int]] = [[] for _ in range(len(self._patterns))]
        for row, position in zip(self._row.tolist(), self._position.tolist(), strict=True):
            parts[row].append(position)
        return [sorted(part) for part in parts]

    def _keep(self, rows: NDArray[np.int64], keys: NDArray[np.uint64], positions: NDArray[np.int64]) -> None:
        row = np.concatenate((self._row, rows))
        key = np.concatenate((self._key, keys))
        position = np.concatenate((self._position, positions))
        order = np.lexsort((position, key, row))
        row, key, position = row[order], key[order], position[order]
        fresh = np.ones(row.size, np.bool_)
        fresh[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        row, key, position = row[fresh], key[fresh], position[fresh]
        place = np.arange(row.size) - np.searchsorted(row, row)
        kept = place < self._size
        self._row, self._key, self._position = row[kept], key[kept], position[kept]


def _token_keys(vocabulary: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of each token, the same in every corpus."""
    lengths = pl.Series(vocabulary, dtype=pl.String).str.len_bytes().to_numpy().astype(np.int64)
    letters = np.frombuffer("".join(vocabulary).encode("utf-8", "surrogatepass"), np.uint8)
    return _keys(letters.astype(np.uint64) + np.uint64(1), np.concatenate(([0], np.cumsum(lengths))), 0)


def _keys(values: NDArray[np.uint64], offsets: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A hash of each stretch of values: the sum of value x odd constant to the power of its place, then mixed."""
    from goldassay.kernels.hashing import STEP, finalized

    lengths = np.diff(offsets)
    powers = np.multiply.accumulate(np.full(max(int(lengths.max(initial=0)), 1), STEP))
    place = np.arange(values.size) - np.repeat(offsets[:-1], lengths)
    keys = np.zeros(lengths.size, np.uint64)
    filled = lengths > 0
    if values.size:
        keys[filled] = np.add.reduceat(values * powers[place], offsets[:-1][filled])
    return finalized(keys + np.uint64((seed + 1) * int(STEP) & 0xFFFFFFFFFFFFFFFF))
