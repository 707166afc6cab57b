"""Labelled texts that patterns are looked for in, all held in memory or passing by from disk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from goldassay.artifacts.label_codes import encode_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.artifacts.streaming import Spool
    from goldassay.data import Dataset
    from goldassay.data.tokenization import TokenizedCorpus


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
    """

    spool: Spool
    labels: NDArray[np.int32]
    label_names: tuple[str, ...]
    name: str
    text_columns: tuple[str, ...]

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


def _drawn(codes: NDArray[np.integer[Any]], most: int, seed: int) -> NDArray[np.int64]:
    """Positions, ascending, of texts with a label: all, or so many of them."""
    rows = np.flatnonzero(codes >= 0)
    return rows if rows.size <= most else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
