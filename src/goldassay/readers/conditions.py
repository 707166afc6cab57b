"""Conditions: which parts of its input a model may see, in training and in test alike.

Two kinds. Those of `conditions_of` leave whole texts out. Those of `transformations_of` keep one property of the texts
and destroy the rest, so that what a model still learns comes from that property; usable information of such an input
is how much of the label that property gives away.

Test sets that tell entailment from the rest only, for networks that tell three classes.

What readers learn from and what they read: a training part and a test part, or the folds of one dataset.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.runs.labels import INFERENCE, TWO_CLASS, canonical
from goldassay.stats.clusters import Folds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset


PAIRED = "paired"
TEXT = "text"
SHUFFLED, OVERLAP, LENGTH, EMPTY = "shuffled", "overlap", "length", "empty"


def conditions_of(text_columns: Sequence[str]) -> tuple[str, ...]:
    """The conditions that a dataset's text roles allow.

    Of several roles: "paired", which is all of them, then "<role>_only" for each; of ("premise", "hypothesis")
    thus paired, premise_only, hypothesis_only. A single text has no parts: its one condition is "text".
    """
    if len(text_columns) == 1:
        return (TEXT,)
    return (PAIRED, *(f"{role}_only" for role in text_columns))


def is_part(condition: str) -> bool:
    """Whether a condition shows a whole text of the input and leaves the others out."""
    return condition.endswith("_only")


def transformations_of(text_columns: Sequence[str]) -> tuple[str, ...]:
    """The conditions that change the texts.

    - "shuffled": the words of each text in random order.
    - "overlap": of each text only the words that all others have too; needs two texts or more.
    - "length": each word replaced by the same sign.
    - "empty": no word at all. What is left is how frequent each label is.

    Source: Ethayarajh, Choi and Swayamdipta 2022, section 4.
    """
    return (SHUFFLED, *((OVERLAP,) if len(text_columns) > 1 else ()), LENGTH, EMPTY)


def roles_of(condition: str, text_columns: Sequence[str]) -> tuple[str, ...]:
    """The text roles that a condition shows.

    Raises:
        InputError: The dataset has no such condition.
    """
    allowed = (*conditions_of(text_columns), *transformations_of(text_columns))
    if condition not in allowed:
        raise InputError(
            f"condition {condition!r} does not apply to texts with the roles {', '.join(text_columns)}",
            mend=f"choose from {', '.join(allowed)}",
        )
    if condition.endswith("_only"):
        return (condition.removesuffix("_only"),)
    return tuple(text_columns)


def shown_texts(dataset: Dataset, condition: str, seed: int = 0) -> dict[str, list[str]]:
    """What a model sees of a dataset under a condition: a column of texts for each role that is shown.

    Args:
        dataset: N examples.
        condition: Of `conditions_of` or `transformations_of`.
        seed: Of the order of shuffled words; the order is that of the example's id, role and this seed, whatever
            other examples there are.

    Raises:
        InputError: The dataset has no such condition.
    """
    texts = {role: dataset.texts(role) for role in roles_of(condition, dataset.text_columns)}
    change = _CHANGES.get(condition)
    if change is None:
        return texts
    words = {role: _words(column, dataset) for role, column in texts.items()}
    return change(words, dataset.examples["example_id"].cast(str).to_list(), seed)


def tokenizer_of(dataset: Dataset) -> str:
    """How a dataset's texts are cut into words: "characters" for scripts without spaces, else "treebank"."""
    from goldassay.data.facts import length_unit_of

    return "characters" if length_unit_of(dataset) == "characters" else "treebank"


Words = dict[str, list[list[str]]]


def _words(texts: list[str], dataset: Dataset) -> list[list[str]]:
    from goldassay.data.tokenization import tokenize

    corpus = tokenize(texts, tokenizer_of(dataset))
    return [corpus.sentence(row) for row in range(len(corpus))]


def _shuffled(words: Words, ids: Sequence[str], seed: int) -> dict[str, list[str]]:
    return {
        role: [" ".join(_in_random_order(row, f"{seed}\0{role}\0{name}")) for row, name in zip(rows, ids, strict=True)]
        for role, rows in words.items()
    }


def _in_random_order(words: list[str], key: str) -> list[str]:
    # Keys from a hash, not from a generator: the same order in every version of every library.
    keys = np.frombuffer(hashlib.shake_128(key.encode()).digest(8 * len(words)), np.uint64)
    return [words[place] for place in np.argsort(keys, kind="stable")]


def _overlap(words: Words, ids: Sequence[str], seed: int) -> dict[str, list[str]]:  # noqa: ARG001
    shared = [
        set.intersection(*({word.lower() for word in row if _is_word(word)} for row in rows))
        for rows in zip(*words.values(), strict=True)
    ]
    return {
        role: [" ".join(word for word in row if word.lower() in both) for row, both in zip(rows, shared, strict=True)]
        for role, rows in words.items()
    }


def _is_word(token: str) -> bool:
    return any(unicodedata.category(character)[0] in "LN" for character in token)


def _length(words: Words, ids: Sequence[str], seed: int) -> dict[str, list[str]]:  # noqa: ARG001
    return {role: [" ".join("#" * len(row)) for row in rows] for role, rows in words.items()}


def _empty(words: Words, ids: Sequence[str], seed: int) -> dict[str, list[str]]:  # noqa: ARG001
    return {role: [""] * len(rows) for role, rows in words.items()}


_CHANGES: Mapping[str, Callable[[Words, Sequence[str], int], dict[str, list[str]]]] = {
    SHUFFLED: _shuffled,
    OVERLAP: _overlap,
    LENGTH: _length,
    EMPTY: _empty,
}


def coarsening(label_names: Sequence[str], coarser: Sequence[str]) -> NDArray[np.int64] | None:
    """Which label of a test set each label of a network stands for, (K,): neutral and contradiction are non-entailment.

    An answer is given among three classes and counted as one of two after that, as the authors of HANS do; adding the
    probabilities of both classes first would be another rule, and gives other answers.

    Args:
        label_names: Of the network.
        coarser: Of the test set.

    Returns:
        None unless the network's labels are the three of inference, and the set's are entailment and non-entailment.

    Source: McCoy, Pavlick and Linzen 2019.
    """
    names = {canonical(name): place for place, name in enumerate(coarser)}
    if set(names) != TWO_CLASS or {canonical(name) for name in label_names} != set(INFERENCE):
        return None
    return np.array([names.get(canonical(name), names["non-entailment"]) for name in label_names], dtype=np.int64)


def labels_named_in(
    label_names: tuple[str, ...], of_test: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The labels in which a network's answers on a test set are told, and which of them each of its own stands for.

    These are the network's own K labels, and 0 to K - 1, unless the set has coarser ones.
    """
    merged = coarsening(label_names, of_test)
    return (label_names, np.arange(len(label_names))) if merged is None else (of_test, merged)


@dataclass(frozen=True)
class DataSplit:
    """Two parts, of which the first teaches and the second is read; or one, of which each fold is read by the others.

    Attributes:
        train: Rows that teach.
        test: Rows that are read, (N,).
        fold_codes: Fold of each row, (N,), where both are the same dataset; None for two parts.
        apart: Where the second part was set apart of a dataset without one: all rows, those that teach first.
    """

    train: Dataset
    test: Dataset
    fold_codes: NDArray[np.int64] | None = None
    apart: Dataset | None = None

    @property
    def whole(self) -> Dataset | None:
        """All rows of a dataset without a test part, in the order of `folds`; None where a test part was given."""
        return self.apart if self.fold_codes is None else self.train

    @cached_property
    def folds(self) -> Folds:
        """Which rows teach which: the training rows and after them the test rows, or the rows of all folds, (L,)."""
        if self.fold_codes is None:
            return Folds.of_parts(len(self.train), len(self.test))
        return Folds.of_all(self.fold_codes)

    def texts(self, role: str) -> pl.Series:
        """One text of each row, (L,); a missing one is empty."""
        parts = (self.train, self.test) if self.fold_codes is None else (self.test,)
        return pl.concat([part.examples[role].cast(pl.String).fill_null("") for part in parts])

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Labels in the codes of the training part, (L,)."""
        return self.train.labels() if self.fold_codes is not None else np.concatenate([self.train.labels(), self.gold])

    @property
    def gold(self) -> NDArray[np.int64]:
        """Labels of the rows that are read in the codes of the training part, (N,)."""
        order = np.array([self.train.label_names.index(name) for name in self.test.label_names], np.int64)
        found: NDArray[np.int64] = order[self.test.labels()]
        return found

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """Training rows of each label, (K,); of folds all rows."""
        return np.bincount(self.train.labels(), minlength=len(self.train.label_names)).astype(np.int64)

    def changed(self, change: Callable[[Dataset], Dataset]) -> DataSplit:
        """The same with each part changed, rows staying where they are."""
        train = change(self.train)
        return replace(self, train=train, test=train if self.fold_codes is not None else change(self.test))

    def parted(self, rows: NDArray[np.int64], folds: Folds) -> DataSplit:
        """Some rows, by their places in `texts`: all of them as folds, or those that teach and others that are read.

        Args:
            rows: In the order of the folds.
            folds: Which of these teach which.
        """
        if self.fold_codes is not None and folds.rows.size == rows.size:
            part = self.test.take(rows)
            return DataSplit(part, part, folds.codes)
        start = 0 if self.fold_codes is not None else len(self.train)
        return DataSplit(self.train.take(rows[folds.teaching]), self.test.take(rows[folds.rows] - start))

    def with_texts(self, role: str, texts: pl.Series) -> DataSplit:
        """The same with other texts of one role, in the order of `texts`."""
        starts = iter((0, len(self.train)))

        def change(part: Dataset) -> Dataset:
            own = texts.slice(next(starts), len(part)).alias(role)
            return replace(part, examples=part.examples.with_columns(own))

        return self.changed(change)
