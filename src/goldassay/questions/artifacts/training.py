"""Labelled texts that patterns are looked for in, in memory or on disk, and which rows do not count by themselves.

These are those of `example_clusters`, with texts compared exactly (without case, with single spaces), so that a
training set that passes by from disk has the same ones; and near copies of the text that is mined, where these are in
several clusters.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from goldassay.data.fields import normalized_texts
from goldassay.data.row_keys import text_codes
from goldassay.questions.artifacts.measures.clusters import BYTES_A_SENTENCE, near_sentences, sign_corpus
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.example_clusters import AUTO, NONE, example_clusters, text_clusters
from goldassay.stats.clusters import Clusters, cluster_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.artifacts.measures.spool import MemoryBound, Spool

# Bytes for each value while rows are joined: at most 115 were measured, of 1,500,000 pairs.
_PER_VALUE = 120
BY_ITSELF = "Each row counts by itself, as chosen."


@dataclass(frozen=True)
class DependentRows:
    """Ways to make clusters of N rows, as `mine_patterns` takes them, and a sentence that says what was taken."""

    ways: tuple[NDArray[np.int64], ...]
    taken: str


@dataclass(frozen=True)
class SharedTexts:
    """Which rows of a dataset share texts; found once, it serves each text that is mined.

    Attributes:
        clusters: Rows that depend on each other; None where each counts by itself, as chosen.
        roles: C texts of a row.
        codes: A code for each distinct text, (N, C).
    """

    clusters: Clusters | None
    roles: tuple[str, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, dataset: Dataset, by: str) -> SharedTexts:
        """Those of a dataset.

        Args:
            dataset: The training set.
            by: As for `example_clusters`; columns that the dataset lacks join nothing.
        """
        roles, names = dataset.text_columns, named_columns(by)
        if names is None:
            return cls(None, roles, np.empty((len(dataset), 0), np.int32))
        dataset = dataset.with_keys(names)
        present = tuple(name for name in names if name in dataset.examples.columns)
        codes = text_codes(dataset, roles)
        if names and not present:
            found = cluster_rows({}, len(dataset))
        else:
            of_role = dict(zip(roles, codes.T, strict=True))
            found = example_clusters(dataset, ",".join(present) or AUTO, near_copies=False, codes=of_role)
        return cls(found, roles, codes.astype(np.int32))

    def dependent(self, mined: tuple[str, ...], corpus: TokenizedCorpus) -> DependentRows:
        """The rows that count together where the texts of some roles are mined.

        Args:
            mined: The roles.
            corpus: What is mined, (N).
        """
        if self.clusters is None:
            return DependentRows((), BY_ITSELF)
        copies = _joint(self.codes[:, [self.roles.index(role) for role in mined]])
        return _with_copies(self.clusters, copies, near_sentences(sign_corpus(corpus), np.diff(corpus.offsets)))


class RowValues:
    """The texts and groups of rows that pass by, as hashes: 8 bytes each."""

    def __init__(self) -> None:
        self._texts: list[pl.DataFrame] = []
        self._groups: list[pl.DataFrame] = []
        self._codes: list[NDArray[np.int32]] = []

    def add(self, texts: pl.DataFrame, groups: pl.DataFrame, codes: NDArray[np.int32]) -> None:
        """Add some rows; a negative code leaves one out."""
        kept = pl.Series(codes >= 0)
        normal = texts.filter(kept).with_columns(
            normalized_texts(texts.filter(kept)[name]).hash().alias(name) for name in texts.columns
        )
        self._texts.append(normal)
        there = groups.filter(kept) if groups.width else groups
        self._groups.append(
            there.with_columns(
                pl.when(pl.col(name).is_not_null()).then(pl.col(name).hash()).alias(name) for name in there.columns
            )
        )
        self._codes.append(codes[codes >= 0])

    def dependent(
        self, labels: NDArray[np.int32], mined: tuple[str, ...], by: str, memory: MemoryBound, spool: Spool
    ) -> DependentRows:
        """As `SharedTexts.dependent`, of the rows whose code has a label.

        Args:
            labels: The label of each code, -1 where its rows are left out.
            mined: The roles whose texts are mined.
            by: The columns that join rows, as for `SharedTexts.of`.
            memory: What may be taken; where it does not suffice, each row counts by itself, and a warning says so.
            spool: What is mined.
        """
        names = named_columns(by)
        if names is None or not self._codes:
            return DependentRows((), BY_ITSELF)
        kept = np.flatnonzero(labels[np.concatenate(self._codes)] >= 0)
        width = self._texts[0].width + self._groups[0].width
        if memory.room() < _PER_VALUE * kept.size * width:
            why = "each row counts by itself, since the memory does not suffice to find rows that share a text"
            warnings.warn(f"patterns are tested as if rows were independent: {why}", UserWarning, stacklevel=2)
            return DependentRows((), f"{why[0].upper()}{why[1:]}.")
        of_text, columns = self._coded(kept)
        copies = _joint(np.stack([of_text[name] for name in mined], axis=1))
        near = copies
        if memory.room() >= BYTES_A_SENTENCE * copies.size:
            near = near_sentences(*_signed(spool, labels))
        else:
            warnings.warn(
                "near copies of a text count by themselves, since the memory does not suffice to find them",
                UserWarning,
                stacklevel=2,
            )
        chosen = {name: columns[name] for name in names if name in columns} if names else columns
        if names and chosen:
            return _with_copies(cluster_rows(chosen, copies.size, chosen=True), copies, near)
        return _with_copies(cluster_rows(chosen, copies.size, n_alike=len(of_text) if chosen else 1), copies, near)

    def clusters(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cluster of some rows, of those that share a text among them."""
        of_text, _ = self._coded(rows)
        return cluster_rows(of_text, rows.size, n_alike=len(of_text)).codes

    def _coded(self, rows: NDArray[np.int64]) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
        """Codes of each text of some rows, and of these and each group."""
        texts, groups = pl.concat(self._texts)[rows], pl.concat(self._groups)
        groups = groups[rows] if groups.width else groups
        together = _ranks(pl.concat([texts[name].alias("value") for name in texts.columns]))
        of_text = dict(zip(texts.columns, together.reshape(texts.width, -1), strict=True))
        return of_text, of_text | {name: _ranks(groups[name]) for name in groups.columns}


def _signed(spool: Spool, labels: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.integer]]:
    """Signatures and lengths of the sentences on disk whose code has a label."""
    signatures, lengths = [], []
    for corpus, codes in spool:
        kept = labels[codes] >= 0
        signatures.append(sign_corpus(corpus)[kept])
        lengths.append(np.diff(corpus.offsets)[kept])
    return np.concatenate(signatures), np.concatenate(lengths)


def _ranks(values: pl.Series) -> NDArray[np.int64]:
    """A code for each distinct value, -1 where it is missing."""
    return (values.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy().astype(np.int64, copy=False)


def named_columns(by: str) -> tuple[str, ...] | None:
    """The columns that a user named; none of them where the rows are joined by default, None where not at all."""
    if by == NONE:
        return None
    return () if by == AUTO else tuple(dict.fromkeys(each.strip() for each in by.split(",")))


def _joint(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """A code for each distinct row of codes, from 0 without gaps, (N,)."""
    distinct = codes[:, 0] if codes.shape[1] == 1 else codes
    return np.unique(distinct, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _with_copies(found: Clusters, copies: NDArray[np.int64], near: NDArray[np.int64]) -> DependentRows:
    """Rows of one cluster, and rows of nearly the same text where these are in several clusters.

    Args:
        found: The clusters, of N rows.
        copies: A code for each distinct text that is mined, (N,).
        near: A code for each group of texts of nearly the same words, (N,).
    """
    if not copies.size:
        return DependentRows((), found.taken)
    # Copies whose tokens differ, such as by the tokenizer's rules on capitals, count as one all the same.
    near = _of_each(copies, near)
    ways = [] if found.codes_if_any is None else [found.codes]
    # Each way by itself, even one within another: edited copies with opposite labels would hide exact ones.
    more = [each for each in (copies, near) if not _is_within(each, found.codes)]
    if len(more) == 2 and _is_within(near, copies):
        del more[1]
    if not more:
        return DependentRows(tuple(ways), found.taken)
    kind = "Copies" if more[-1] is copies else "Near copies"
    return DependentRows((*ways, *more), f"{found.taken} {kind} of the text that is mined count as one too.")


def _of_each(groups: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """One of the values of each group, for all its rows, (N,)."""
    one = np.empty(int(groups.max()) + 1, np.int64)
    one[groups] = values
    found: NDArray[np.int64] = one[groups]
    return found


def _is_within(groups: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Whether no group has rows in two of the others."""
    return np.array_equal(_of_each(groups, others), others)


class Shown(NamedTuple):
    """An example for the page, with its tokens."""

    example_id: str
    label: str
    text: str
    tokens: list[str]


class Training(Protocol):
    """What patterns were mined from, wherever it is."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Roles of the texts."""

    def corpora(self) -> Iterator[tuple[TokenizedCorpus, NDArray[np.integer[Any]]]]:
        """The texts as the patterns cut them, some at a time, with the codes of their labels; -1 where left out."""

    def examples(self, positions: Sequence[int]) -> list[Shown]:
        """The examples at ascending positions among all that `corpora` gives."""

    def written(self, most: int, seed: int) -> tuple[pl.Series, NDArray[np.int64]]:
        """The texts as they are written with the codes of their labels: all, or so many of them, drawn at random."""

    def clusters(self, most: int, seed: int) -> NDArray[np.int64]:
        """The cluster of each of the texts that `written` gives, of those that share a text among them."""


@dataclass(frozen=True)
class Searched:
    """A dataset and those of its texts that are searched for patterns, and their tokens where they were made before."""

    dataset: Dataset
    texts: Sequence[str] | pl.Series
    patterns: PatternTable
    cut: TokenizedCorpus | None = None

    @property
    def labels(self) -> list[str]:
        """Gold labels by name, (N,)."""
        return self.dataset.examples["label"].to_list()

    @property
    def name(self) -> str:
        """Of the dataset."""
        return self.dataset.name

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Of the dataset."""
        return self.dataset.text_columns

    def corpora(self) -> Iterator[tuple[TokenizedCorpus, NDArray[np.integer[Any]]]]:
        """All texts at once."""
        labels = self.dataset.examples["label"]
        codes, _ = encode_labels(labels, self.patterns.label_names, len(self.texts))
        yield self.corpus, codes

    def examples(self, positions: Sequence[int]) -> list[Shown]:
        """The examples at these rows."""
        rows = self.dataset.examples[list(positions)]
        return [
            Shown(name, label, self.texts[position], self.corpus.sentence(position))
            for position, name, label in zip(positions, rows["example_id"], rows["label"], strict=True)
        ]

    def written(self, most: int, seed: int) -> tuple[pl.Series, NDArray[np.int64]]:
        """Of the dataset."""
        codes, _ = encode_labels(self.labels, self.patterns.label_names, len(self.texts))
        rows = _drawn(codes, most, seed)
        texts = self.texts if isinstance(self.texts, pl.Series) else pl.Series(self.texts, dtype=pl.String)
        return texts[rows], codes[rows].astype(np.int64)

    def clusters(self, most: int, seed: int) -> NDArray[np.int64]:
        """Of the dataset."""
        codes, _ = encode_labels(self.labels, self.patterns.label_names, len(self.texts))
        return text_clusters(self.dataset.take(_drawn(codes, most, seed)))

    @cached_property
    def corpus(self) -> TokenizedCorpus:
        """The texts, cut as the patterns were mined."""
        return self.patterns.tokenized(self.texts if self.cut is None else self.cut)


@dataclass(frozen=True)
class Spooled:
    """A training set on disk.

    Attributes:
        spool: Its texts and tokens.
        labels: The label of each code of the spool, -1 where its rows are left out.
        label_names: K names.
        name: What the report calls it.
        text_columns: Roles of the texts.
        values: All texts and groups of its rows.
    """

    spool: Spool
    labels: NDArray[np.int32]
    label_names: tuple[str, ...]
    name: str
    text_columns: tuple[str, ...]
    values: RowValues

    def corpora(self) -> Iterator[tuple[TokenizedCorpus, NDArray[np.integer[Any]]]]:
        """A shard at a time."""
        for corpus, codes in self.spool:
            yield corpus, self.labels[codes]

    def examples(self, positions: Sequence[int]) -> list[Shown]:
        """Those of the spool."""
        return [
            Shown(each.example_id, self.label_names[self.labels[each.code]], each.text, each.tokens)
            for each in self.spool.examples(positions)
        ]

    def written(self, most: int, seed: int) -> tuple[pl.Series, NDArray[np.int64]]:
        """Those of the spool."""
        codes = self.labels[self.spool.codes()]
        rows = _drawn(codes, most, seed)
        return self.spool.texts(rows), codes[rows].astype(np.int64)

    def clusters(self, most: int, seed: int) -> NDArray[np.int64]:
        """Those of the rows on disk."""
        return self.values.clusters(_drawn(self.labels[self.spool.codes()], most, seed))


def _drawn(codes: NDArray[np.integer[Any]], most: int, seed: int) -> NDArray[np.int64]:
    """Positions, ascending, of texts with a label: all, or so many of them."""
    rows = np.flatnonzero(codes >= 0)
    return rows if rows.size <= most else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
