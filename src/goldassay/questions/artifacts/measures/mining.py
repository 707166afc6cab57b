"""Every gapped pattern of a corpus that is frequent enough, and findings folded so that each takes one row."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole
from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, silent
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer, tokenize, tokenizer_name
from goldassay.questions.artifacts.measures.clusters import TESTED_UP_TO, allow_for_clusters
from goldassay.questions.artifacts.measures.matching import PatternTokens, PatternTree, encode_labels
from goldassay.questions.artifacts.measures.pattern_table import PatternTable, build_table, build_telling
from goldassay.questions.artifacts.measures.statistics import MinedPatterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

TASKS_PER_THREAD = 8
# Occurrences of frequent tokens from which on they are gathered in three parts.
_MANY_PLACES = 1 << 23


def mine_patterns(
    sentences: Sequence[str] | pl.Series | TokenizedCorpus,
    labels: Sequence[Any] | NDArray[Any],
    max_tokens: int = 3,
    max_gap: int = 3,
    min_count: int = 50,
    tokenizer: Tokenizer = "treebank",
    n_threads: int | None = None,
    *,
    label_names: Sequence[str] | None = None,
    clusters: Sequence[NDArray[np.int64]] = (),
    only_telling: bool = False,
    progress: Progress = silent,
) -> PatternTable:
    """Find all patterns of 1 to `max_tokens` tokens with exact gaps, and how often each goes with each label.

    A pattern is an ordered list of tokens, and between each two the exact number of tokens skipped; "A # outdoors"
    and "A # # outdoors" are different. count(b) is the number of sentences that contain b at least once, count(b,l)
    the same among those of label l, p(l|b) = count(b,l)/count(b). All with count(b) >= min_count are kept.

    Args:
        sentences: N strings, any single text of each example; or the corpus that the same tokenizer made of them.
        labels: N strings or whole numbers; rows without one (None, "-", "") are left out and counted in `.settings`.
        max_tokens: 1 to 5.
        max_gap: Most tokens skipped between two, 0 to 5.
        min_count: Fewest sentences.
        tokenizer: "treebank", "whitespace", "characters" or a function (`goldassay.data.tokenization.tokenize`).
        n_threads: None: as many as there are cores to use. The result does not depend on it.
        label_names: Order of the labels; None: sorted.
        clusters: Sentences that do not count by themselves: one or several ways to make clusters of them, codes from
            0, (N,) each. Counts stay as they are, p and q allow for it; see `allow_for_clusters`.
        only_telling: Keep the rows alone of which K q is at most .05 for some label; their q is that among all.
        progress: Told how many tasks of the count are done.

    Warns:
        UserWarning: No pattern is frequent enough; the message says which `min_count` would give some.

    Raises:
        InputError: The lengths differ, or a bound, a label or the tokenizer cannot be used.

    Source: Liu, Zheng, Chang and Sui 2020, "HypoNLI: Exploring the artificial patterns of hypothesis-only bias".
    """
    if clusters and not isinstance(sentences, (str, TokenizedCorpus)):
        # They are looked through twice.
        sentences = tokenize(sentences, tokenizer)
    found = _mine(sentences, labels, max_tokens, max_gap, min_count, tokenizer, n_threads, label_names, progress)
    numbers = (found.vocabulary, found.patterns, found.label_names, found.settings, tokenizer)
    others = np.empty(0)
    if only_telling:
        table, others = build_telling(*numbers, TESTED_UP_TO)
    else:
        table = build_table(*numbers)
    del found, numbers
    if not clusters:
        return table
    assert isinstance(sentences, TokenizedCorpus)
    codes, _ = encode_labels(labels, table.label_names, len(sentences))
    kept = codes >= 0
    ways = [np.asarray(each, np.int64) for each in clusters]
    for each in ways:
        if each.shape != kept.shape or each.min(initial=0) < 0:
            raise InputError(
                f"{kept.size} sentences have clusters of shape {each.shape}",
                mend="give each way one code from 0 for each sentence",
            )
    if not kept.all():
        sentences, codes, ways = sentences.take(kept), codes[kept], [each[kept] for each in ways]
    return allow_for_clusters(table, sentences, codes, ways, others)


class _Mined(NamedTuple):
    vocabulary: tuple[str, ...]
    patterns: MinedPatterns
    label_names: tuple[str, ...]
    settings: dict[str, Any]


def _mine(
    sentences: Sequence[str] | pl.Series | TokenizedCorpus,
    labels: Sequence[Any] | NDArray[Any],
    max_tokens: int,
    max_gap: int,
    min_count: int,
    tokenizer: Tokenizer,
    n_threads: int | None,
    label_names: Sequence[str] | None,
    progress: Progress,
) -> _Mined:
    check_bounds(max_tokens, max_gap, min_count, n_threads)
    if isinstance(sentences, str):
        raise InputError("one string was given where a list of sentences is needed", mend="put it into a list")
    codes, names = encode_labels(labels, label_names, len(sentences))
    if not names:
        raise InputError("there is no labelled sentence to mine", mend="give sentences with their labels")
    n_dropped = int((codes < 0).sum())
    if n_dropped:
        if isinstance(sentences, TokenizedCorpus):
            sentences = sentences.take(codes >= 0)
        else:
            sentences = [sentence for sentence, code in zip(sentences, codes, strict=True) if code >= 0]
        codes = codes[codes >= 0]
    codes = codes.astype(np.int32)
    threads = n_threads or cores()
    corpus = sentences if isinstance(sentences, TokenizedCorpus) else tokenize(sentences, tokenizer)
    if corpus.tokenizer != tokenizer_name(tokenizer):
        raise InputError(
            f"the corpus was made by the tokenizer {corpus.tokenizer}, not {tokenizer_name(tokenizer)}",
            mend="use the same for both",
        )
    vocabulary, tokenizer_used = corpus.vocabulary, corpus.tokenizer
    label_counts = np.bincount(codes, minlength=len(names))
    words = _words(corpus, codes, len(names), min_count, threads)
    # Each step gives its memory to the next.
    del corpus, codes, sentences
    mined, largest = _count_words(words, max_tokens, max_gap, min_count, progress), words.largest
    del words
    if not mined.counts.size:
        warnings.warn(nothing_found(min_count, largest), UserWarning, stacklevel=3)
    settings = {
        "max_tokens": max_tokens,
        "max_gap": max_gap,
        "min_count": min_count,
        "tokenizer": tokenizer_used,
        "n_sentences": int(label_counts.sum()),
        "n_dropped": n_dropped,
        "label_counts": label_counts.tolist(),
        "n_mined": int(mined.counts.shape[0]),
    }
    return _Mined(vocabulary, mined, names, settings)


def count_patterns(
    corpus: TokenizedCorpus,
    labels: NDArray[np.integer[Any]],
    n_labels: int,
    max_tokens: int,
    max_gap: int,
    min_count: int,
    n_threads: int | None = None,
    *,
    progress: Progress = silent,
) -> tuple[MinedPatterns, int]:
    """Count the patterns of a tokenized corpus: singles and pairs first, then what continues frequent pairs.

    Returns:
        The patterns with at least `min_count` sentences, in no particular order, and the largest count of any.
    """
    words = _words(corpus, labels, n_labels, min_count, n_threads or cores())
    return _count_words(words, max_tokens, max_gap, min_count, progress), words.largest


def _count_words(found: _Words, max_tokens: int, max_gap: int, min_count: int, progress: Progress) -> MinedPatterns:
    from goldassay.kernels.pattern_counts import count_longer, count_pairs

    n_labels, n_frequent, n_threads = found.n_labels, found.frequent.size, len(found.edges)
    if not n_frequent:
        return _collected([], max_tokens, n_labels)
    singles = np.zeros((n_frequent, n_labels), np.int32)
    results = [(np.arange(n_frequent, dtype=np.int32)[:, None], np.empty((n_frequent, 0), np.int8), singles)]
    n_distances = max_gap + 1 if max_tokens > 1 else 0
    shared = (found.label_bits, n_labels, n_distances, min_count)
    starts = np.concatenate(([0], np.cumsum(found.tallies.sum(axis=0))))
    # All places at once would be the largest object by far; in thirds they are less than the words.
    thirds = balanced(starts, 3 if starts[-1] > _MANY_PLACES else 1)
    n_tasks = n_threads * TASKS_PER_THREAD
    steps = _Steps(progress, (1 + (max_tokens > 2)) * len(thirds) * n_tasks)
    with ThreadPoolExecutor(n_threads) as pool:

        def counted(third: tuple[int, int], places: NDArray[Any], count: Callable[..., Any]) -> list[Any]:
            bounds = balanced(starts[third[0] : third[1] + 1] - starts[third[0]], n_tasks)
            tasks = [(third[0] + begin, third[0] + end) for begin, end in bounds]
            ahead = (found.words, places, starts - starts[third[0]], *shared)
            return [steps.done(part) for part in pool.map(lambda task: count(*task, *ahead), tasks)]

        pairs: list[Any] = []
        places = np.empty((0, 2), np.int32)
        for third in thirds:
            # One third goes before the next comes.
            del places
            places = _places(found, starts, third, pool)
            pairs += counted(third, places, lambda *task: count_pairs(*task, singles))
        if max_tokens > 1:
            results += [part[:3] for part in pairs]
        if max_tokens > 2:
            tokens, gaps, _, sizes = (np.concatenate(column) for column in zip(*pairs, strict=True))
            pair_starts = np.searchsorted(tokens[:, 0], np.arange(n_frequent + 1))
            known = (max_tokens, pair_starts, tokens, gaps, sizes)
            # The last third's places are still there.
            for third in thirds[::-1]:
                if third != thirds[-1]:
                    del places
                    places = _places(found, starts, third, pool)
                results += counted(third, places, lambda *task: count_longer(*task, *known))
    steps.finish()
    mined = _collected(results, max_tokens, n_labels)
    names = np.append(found.frequent, -1).astype(np.int32)
    return MinedPatterns(names[mined.tokens], mined.gaps, mined.counts)


class _Steps:
    """Counts what is done, of which there may be fewer than was foreseen."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._n_done = progress, total, 0

    def done(self, result: Any) -> Any:
        self._n_done += 1
        self._progress(self._n_done, max(self._n_done, self._total))
        return result

    def finish(self) -> None:
        self._progress(self._total, self._total)


@dataclass(frozen=True)
class _Words:
    """All sentences as frequent ranks, in an order of their own; see `pattern_counts`.

    `labels` are in that order; `edges` part the sentences among the threads, `begins` (threads,) is where theirs start
    in `words`, `tallies` (threads,F) how often they hold each frequent token. `largest` is the largest count of any
    token.
    """

    words: NDArray[np.int32]
    labels: NDArray[np.int32]
    n_labels: int
    edges: list[tuple[int, int]]
    begins: list[int]
    tallies: NDArray[np.int64]
    frequent: NDArray[np.int64]
    largest: int

    @property
    def label_bits(self) -> int:
        return max(1, (self.n_labels - 1).bit_length())


def _words(
    corpus: TokenizedCorpus, labels: NDArray[np.integer[Any]], n_labels: int, min_count: int, n_threads: int
) -> _Words:
    from goldassay.kernels.pattern_counts import END, RARE, beginnings, count_tokens, length_of, write_words

    ids, offsets = corpus.ids, corpus.offsets
    support, occurrences = count_tokens(ids, offsets, len(corpus.vocabulary))
    frequent = np.flatnonzero(support >= min_count)
    # The most frequent first, so that the busiest records lie together.
    frequent = frequent[np.argsort(-occurrences[frequent], kind="stable")]
    if frequent.size >= END:
        raise InputError(f"{frequent.size} tokens are frequent enough, too many", mend="raise min_count")
    rank = np.full(len(corpus.vocabulary), RARE, np.int32)
    rank[frequent] = np.arange(frequent.size, dtype=np.int32)
    # Sentences that begin alike are numbered one after the other, so that the occurrences of a pattern lie together:
    # counting mostly waits for memory, and in a large corpus this halves its time.
    order = np.argsort(beginnings(ids, offsets, rank))
    edges = list(pairwise(np.linspace(0, len(corpus), n_threads + 1).astype(np.int64).tolist()))
    ordered_labels = labels.astype(np.int32, copy=False)[order]
    words = np.empty(ids.size + len(corpus), np.int32)
    with ThreadPoolExecutor(n_threads) as pool:
        lengths = list(pool.map(lambda edge: length_of(*edge, order, offsets), edges))
        begins = [0, *np.cumsum(lengths)[:-1].tolist()]
        tallies = pool.map(
            lambda edge, at: write_words(*edge, at, order, ids, offsets, rank, frequent.size, words), edges, begins
        )
        return _Words(
            words,
            ordered_labels,
            n_labels,
            edges,
            begins,
            np.array(list(tallies)),
            frequent,
            int(support.max(initial=0)),
        )


def _places(found: _Words, starts: NDArray[np.int64], part: tuple[int, int], pool: ThreadPoolExecutor) -> NDArray[Any]:
    """Where the frequent tokens of one part occur; see `pattern_counts`."""
    from goldassay.kernels.pattern_counts import write_places

    begin, end = part
    kind = np.int32 if max(found.labels.size << found.label_bits, found.words.size) < 2**31 else np.int64
    places = np.empty((int(starts[end] - starts[begin]), 2), kind)
    tallies = found.tallies[:, begin:end]
    goals = starts[begin:end] - starts[begin] + np.cumsum(tallies, axis=0) - tallies
    filling = pool.map(
        lambda edge, at, goal: write_places(
            *edge, at, goal, begin, end, found.words, found.labels, found.label_bits, places
        ),
        found.edges,
        found.begins,
        goals,
    )
    list(filling)
    return places


def balanced(starts: NDArray[np.int64], n_tasks: int) -> list[tuple[int, int]]:
    """Ranges of tokens with about equally many occurrences each, at most `n_tasks` and none empty."""
    targets = np.linspace(0, starts[-1], n_tasks + 1)
    edges = np.unique(np.searchsorted(starts, targets))
    edges[-1] = starts.size - 1
    return list(pairwise(np.unique(edges).tolist()))


def _collected(
    parts: list[tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]], max_tokens: int, n_labels: int
) -> MinedPatterns:
    n = sum(counts.shape[0] for _, _, counts in parts)
    tokens = np.full((n, max_tokens), -1, np.int32)
    gaps = np.full((n, max_tokens - 1), -1, np.int8)
    all_counts = np.empty((n, n_labels), np.int32)
    row = 0
    for part_tokens, part_gaps, counts in parts:
        end = row + counts.shape[0]
        tokens[row:end, : part_tokens.shape[1]] = part_tokens
        gaps[row:end, : part_gaps.shape[1]] = part_gaps
        all_counts[row:end] = counts
        row = end
    return MinedPatterns(tokens, gaps, all_counts)


def check_bounds(max_tokens: int, max_gap: int, min_count: int, n_threads: int | None) -> None:
    """Refuse bounds that cannot be used.

    Raises:
        InputError: It names the bound and what may be chosen.
    """
    check_whole("max_tokens", max_tokens, 1, 5)
    check_whole("max_gap", max_gap, 0, 5)
    check_whole("min_count", min_count, 1)
    if n_threads is not None:
        check_whole("n_threads", n_threads, 1)


def nothing_found(min_count: int, largest: int) -> str:
    """What to say where no pattern is frequent enough and the largest count of any is this."""
    if not largest:
        return "no pattern was found: the sentences hold no tokens"
    return (
        f"no pattern occurs in min_count={min_count} sentences; the most frequent occurs in {largest}, "
        f"so min_count={largest} or less would give some"
    )


def fold_redundant(patterns: PatternTable, below: PatternTable | None = None) -> pl.DataFrame:
    """Say for each pattern which more frequent part of it already tells as much.

    A part of a pattern is what is left when some of its tokens are dropped (one dropped inside becomes a gap). A
    pattern adds nothing to a part of the same label where the lower end of its own Wilson interval does not exceed the
    part's probability: the tokens it adds are not shown to raise the probability of the label. It is then folded under
    that part. Where several parts qualify, the most frequent takes it. Parts that are themselves folded take none, so
    that every folded pattern stands under one that is shown.

    A part may fall just short of the threshold that the patterns exceed, and so not be shown: of "outside" (68 %) would
    stay a dozen variants like "man # outside" (74 %, at least 59 %). What adds nothing to such a part only is folded
    under the most frequent pattern that stands for itself and contains the same part; where there is none, it stands.

    Rows are judged from the most frequent down, the shorter first where equal.

    Args:
        patterns: Usually cut by `select` or `significant`.
        below: Parts that were cut away, as `parts_below` finds them; without them they play no part.

    Returns:
        The table's rows in polars with two more columns: `folded_under` (the part, for reading; null where the row
        stands for itself) and `n_folded` (how many rows are listed under this one).
    """
    from goldassay.kernels.pattern_trees import fold_rows

    frame = patterns.to_frame()
    tables = [frame] if below is None else [frame, below.to_frame()]
    cut_labels = np.empty(0, np.int64) if below is None else below.label_codes()
    columns = (pl.concat(table[name] for table in tables) for name in ("tokens", "gaps"))
    numbers = PatternTokens.of(*columns)
    tree = PatternTree.of(numbers)
    # Copies, since the kernel is compiled anew for an array that may not be written to.
    support, low = (frame[name].to_numpy(writable=True) for name in ("support", "wilson_low"))
    lengths = np.diff(numbers.starts[: len(patterns) + 1])
    head = fold_rows(
        np.lexsort((lengths, -support)),
        np.concatenate((patterns.label_codes(), cut_labels)),
        support,
        np.concatenate([table["probability"].to_numpy() for table in tables]),
        low,
        tree.row_starts,
        tree.rows,
        *_walked(numbers, tree),
    )
    folded = head >= 0
    under = pl.Series(head, dtype=pl.Int64).set(pl.Series(~folded), None)
    return frame.with_columns(
        folded_under=frame["pattern"].gather(under),
        n_folded=pl.Series(np.bincount(head[folded], minlength=len(patterns)), dtype=pl.Int64),
    )


def parts_below(patterns: PatternTable, among: Iterable[PatternTable]) -> PatternTable:
    """The parts of patterns that are not in their table but in a larger one.

    Args:
        patterns: Cut.
        among: What they were cut from, in one table or in several that make up one.
    """
    from goldassay.kernels.pattern_trees import mark_parts

    numbers = patterns.as_numbers()
    found = []
    for part in among:
        tree = part.tree
        marked = mark_parts(*_walked(numbers, tree))
        found.append(part.take(np.sort(tree.rows[np.repeat(marked, np.diff(tree.row_starts))])))
    return PatternTable.joined(found)


def _walked(numbers: PatternTokens, tree: PatternTree) -> tuple[Any, ...]:
    """Patterns, with the tree's numbers of their tokens, and the tree, as the kernels take them."""
    return (
        tree.numbers_of(numbers.words)[numbers.tokens],
        numbers.gaps,
        numbers.starts,
        tree.n_distances,
        len(tree.vocabulary),
        tree.roots,
        tree.keys,
        tree.child_starts,
    )
