"""Which of a table's patterns are in which sentences, and where in them; labels as the same numbers everywhere."""

from __future__ import annotations

import numbers
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.data.tokenization import TokenizedCorpus

# What benchmarks write where annotators found no majority, or gave nothing.
_MISSING = (None, "-", "")


def encode_labels(
    labels: Sequence[Any] | NDArray[Any] | pl.Series, label_names: Sequence[str] | None, n_sentences: int
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Number the labels; -1 where there is none (None, "-" or "").

    Whole numbers that are not themselves names are taken as positions in `label_names`.

    Args:
        labels: N strings or whole numbers; of an array or column of them no Python object is made each.
        label_names: Names in order; None: the distinct labels, sorted.
        n_sentences: N, which `labels` must have too.

    Returns:
        Numbers (N,), and the names.

    Raises:
        InputError: The lengths differ, or a label is of another kind or not among the names.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "i":
        labels = pl.Series(labels)
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    # What is a list already is not copied: of millions of labels that would be the largest thing here.
    plain = labels if isinstance(labels, (list, tuple, pl.Series)) else list(labels)
    if len(plain) != n_sentences:
        raise InputError(
            f"{n_sentences} sentences and {len(plain)} labels do not match", mend="give one label for each sentence"
        )
    found = set(plain.unique().to_list() if isinstance(plain, pl.Series) else plain)
    distinct = {label for label in found if label not in _MISSING}
    for label in distinct:
        if isinstance(label, bool) or not isinstance(label, (str, numbers.Integral)):
            raise InputError(
                f"label {label!r} is {type(label).__name__}", mend="give labels as strings or whole numbers"
            )
    names = tuple(map(str, sorted(distinct, key=_order))) if label_names is None else tuple(label_names)
    codes = _numbers(distinct, names)
    codes.update(dict.fromkeys(_MISSING, -1))
    if isinstance(plain, pl.Series):
        known = list(found)
        numbered = [codes[label] for label in known]
        coded = plain.replace_strict(pl.Series(known, dtype=plain.dtype), numbered, return_dtype=pl.Int64)
        return coded.to_numpy(writable=True), names
    return np.fromiter(map(codes.__getitem__, plain), np.int64, len(plain)), names


def _order(label: Any) -> tuple[bool, Any]:
    return (isinstance(label, str), label)


def _numbers(distinct: set[Any], names: tuple[str, ...]) -> dict[Any, int]:
    numbered = {name: number for number, name in enumerate(names)}
    if all(str(label) in numbered for label in distinct):
        return {label: numbered[str(label)] for label in distinct}
    strange = [
        label
        for label in distinct
        if (label not in numbered if isinstance(label, str) else not 0 <= label < len(names))
    ]
    if strange:
        first = min(strange, key=_order)
        raise InputError(
            f"label {first!r} is not among the labels {', '.join(names)}", mend="rename it, or name all labels"
        )
    return {label: numbered[label] if isinstance(label, str) else int(label) for label in distinct}


# Sentences, and tokens, searched at once where only counts are wanted: bounds the memory for the matches.
_BLOCK = 1 << 16
_BLOCK_TOKENS = 1 << 18


@dataclass(frozen=True)
class PatternTokens:
    """Patterns as numbers, those of one row after those of the other.

    Attributes:
        words: The token of each number, in the order of first appearance.
        tokens: Token numbers of all V patterns.
        gaps: Tokens skipped after each token but a pattern's last.
        starts: Where each pattern starts in `tokens`; one more at the end, (V+1,).
    """

    words: pl.Series
    tokens: NDArray[np.int64]
    gaps: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, tokens: pl.Series, gaps: pl.Series) -> PatternTokens:
        """Number the tokens of lists of tokens and of gaps, one each a pattern."""
        lengths = tokens.list.len().to_numpy().astype(np.int64)
        flat = tokens.explode() if lengths.size else pl.Series([], dtype=pl.String)
        words = flat.unique(maintain_order=True)
        return cls(
            words=words,
            tokens=flat.cast(pl.Enum(words)).to_physical().to_numpy().astype(np.int64),
            gaps=gaps.filter(gaps.list.len() > 0).explode().to_numpy().astype(np.int64),
            starts=np.concatenate(([0], np.cumsum(lengths))),
        )

    def __len__(self) -> int:
        return self.starts.size - 1


@dataclass(frozen=True)
class PatternTree:
    """Patterns as a tree of their beginnings; nodes are numbered level by level, children next to each other.

    Attributes:
        vocabulary: Number of each token that any pattern has.
        n_distances: Largest gap + 1.
        n_rows: How many patterns there are.
        roots: Node of each token as a first one, -1 where none starts so.
        keys: gap times the vocabulary's size plus token, of each node.
        child_starts: Where each node's children start; one more at the end.
        row_starts: Where each node's patterns start in `rows`; one more at the end.
        rows: Patterns by node.
    """

    vocabulary: dict[str, int]
    n_distances: int
    n_rows: int
    roots: NDArray[np.int32]
    keys: NDArray[np.int32]
    child_starts: NDArray[np.int32]
    row_starts: NDArray[np.int32]
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, patterns: PatternTokens) -> PatternTree:
        """Build it from patterns as numbers."""
        starts, n_tokens = patterns.starts, len(patterns.words)
        lengths = np.diff(starts)
        gap_starts = starts[:-1] - np.arange(lengths.size)
        node = np.full(lengths.size, -1, np.int64)
        roots = np.full(n_tokens, -1, np.int32)
        keys, parents = [], []
        n_nodes = 0
        for level in range(int(lengths.max(initial=0))):
            reach = np.flatnonzero(lengths > level)
            key = patterns.tokens[starts[reach] + level]
            if level:
                key = key + patterns.gaps[gap_starts[reach] + level - 1] * n_tokens
            size = int(key.max()) + 1
            distinct, inverse = np.unique(node[reach] * size + key if level else key, return_inverse=True)
            if level:
                parents.append(distinct // size)
            else:
                roots[distinct] = np.arange(distinct.size)
            keys.append((distinct % size).astype(np.int32))
            node[reach] = n_nodes + inverse
            n_nodes += distinct.size
        n_roots = keys[0].size if keys else 0
        parent = np.concatenate(parents) if parents else np.empty(0, np.int64)
        child_counts = np.bincount(parent, minlength=n_nodes)
        return cls(
            vocabulary=dict(zip(patterns.words.to_list(), range(n_tokens), strict=True)),
            n_distances=int(patterns.gaps.max(initial=0)) + 1,
            n_rows=lengths.size,
            roots=roots,
            # Half as wide as they might be, since searching mostly waits for memory.
            keys=np.concatenate(keys) if keys else np.empty(0, np.int32),
            child_starts=(n_roots + np.concatenate(([0], np.cumsum(child_counts)))).astype(np.int32),
            row_starts=np.concatenate(([0], np.cumsum(np.bincount(node, minlength=n_nodes)))).astype(np.int32),
            rows=np.argsort(node, kind="stable").astype(np.int32),
        )

    def find(self, corpus: TokenizedCorpus) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sentence and pattern of each match, each once, sorted by sentence and then pattern."""
        return self._found(self.numbers_of(corpus.vocabulary)[corpus.ids], corpus.offsets)

    def find_in_blocks(
        self, corpus: TokenizedCorpus
    ) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.int64]]]:
        """Some sentences at a time, from `begin` to `end`, so that matches need little memory.

        Yields:
            begin, end, and as `find` the matches; their sentences are counted from `begin`.
        """
        numbers = self.numbers_of(corpus.vocabulary)
        begin = 0
        while begin < len(corpus):
            first = int(corpus.offsets[begin])
            end = int(np.searchsorted(corpus.offsets, first + _BLOCK_TOKENS, side="right")) - 1
            end = min(max(end, begin + 1), begin + _BLOCK, len(corpus))
            tokens = numbers[corpus.ids[first : corpus.offsets[end]]]
            yield begin, end, *self._found(tokens, corpus.offsets[begin : end + 1] - first)
            begin = end

    def add_squares(
        self,
        tokens: NDArray[np.int32],
        offsets: NDArray[np.int64],
        labels: NDArray[np.int64],
        clusters: NDArray[np.int64],
        sums: tuple[NDArray[np.int64], ...],
    ) -> None:
        """Add to the sums over clusters of each pattern; see `pattern_trees.add_squares`.

        Args:
            tokens: `numbers_of` the tokens of all sentences.
            offsets: Where each sentence starts, (N+1,).
            labels: Of each sentence, (N,).
            clusters: Of each sentence, ascending, (N,).
            sums: Four arrays, changed.
        """
        from goldassay.kernels.pattern_trees import add_squares, place_tokens

        starts, places = place_tokens(tokens, offsets, len(self.vocabulary))
        tree = (self.roots, self.keys, self.child_starts, self.row_starts, self.rows)
        given = (tokens, offsets, labels, clusters, starts, places, self.n_distances, tree, sums)
        # Tokens that occur about equally often: their patterns are independent of those that begin with others.
        edges = np.searchsorted(starts, np.linspace(0, starts[-1], 8 * cores() + 1))
        edges[-1] = starts.size - 1
        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(lambda bound: add_squares(*bound, *given), pairwise(np.unique(edges).tolist())))

    def numbers_of(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The number of each token here, -1 where no pattern has it."""
        return np.fromiter(map(self.vocabulary.get, words, repeat(-1)), np.int32)

    def _found(
        self, tokens: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from goldassay.kernels.pattern_trees import find_patterns

        if not self.n_rows or not tokens.size:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        tree = (self.n_distances, len(self.vocabulary), self.n_rows, self.roots, self.keys, self.child_starts)
        n_threads = cores()
        edges = np.unique(np.linspace(0, offsets.size - 1, 4 * n_threads + 1).astype(np.int64))
        with ThreadPoolExecutor(n_threads) as pool:
            parts = list(
                pool.map(
                    lambda bound: find_patterns(*bound, tokens, offsets, *tree, self.row_starts, self.rows),
                    pairwise(edges.tolist()),
                )
            )
        sentences = np.concatenate([part[0] for part in parts])
        rows = np.concatenate([part[1] for part in parts])
        both = np.sort(sentences * self.n_rows + rows)
        return both // self.n_rows, both % self.n_rows


# The Treebank scheme writes both for a plain quotation mark.
_QUOTES = ("``", "''")


@dataclass(frozen=True)
class Marked:
    """A text and the parts of it to mark, (begin, end) in characters, ascending and apart from each other."""

    text: str
    spans: tuple[tuple[int, int], ...]


def mark_pattern(text: str, tokens: Sequence[str], pattern: Sequence[str], gaps: Sequence[int]) -> Marked:
    """Mark a pattern where it first is in a sentence.

    A tokenizer may change what it cuts (stems, lower case), so that the tokens are not in the text; then the text is
    that of the tokens, with spaces between.

    Args:
        text: The sentence.
        tokens: Its tokens.
        pattern: The pattern's tokens.
        gaps: How many tokens it skips between each two.

    Returns:
        Without spans if the pattern is not there.
    """
    spans = token_spans(text, tokens)
    if spans is None:
        text = " ".join(tokens)
        ends = list(accumulate((len(token) + 1 for token in tokens), initial=0))
        spans = [(begin, begin + len(token)) for begin, token in zip(ends, tokens, strict=False)]
    joined: list[tuple[int, int]] = []
    for place in _places(tokens, pattern, gaps):
        begin, end = spans[place]
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]
        joined.append((begin, end))
    return Marked(text, tuple(joined))


def token_spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where each token is in its text, in order; None where one is not in it as it stands."""
    spans = []
    at = 0
    for token in tokens:
        spelled = (token, '"') if token in _QUOTES else (token,)
        found = [(begin, begin + len(each)) for each in spelled if (begin := text.find(each, at)) >= 0]
        if not found:
            return None
        spans.append(min(found))
        at = spans[-1][1]
    return spans


def _places(tokens: Sequence[str], pattern: Sequence[str], gaps: Sequence[int]) -> list[int]:
    steps = list(accumulate((gap + 1 for gap in gaps), initial=0))
    for start in range(len(tokens) - steps[-1]):
        if all(tokens[start + step] == token for step, token in zip(steps, pattern, strict=True)):
            return [start + step for step in steps]
    return []
