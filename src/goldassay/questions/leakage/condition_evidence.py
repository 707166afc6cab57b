"""What leakage is measured from, wherever it was made: predictions of conditions, embeddings, relevances."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path
from goldassay.questions.example_clusters import example_clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.data.kinds import ItemKind
    from goldassay.runs import Runs
    from goldassay.runs.beside import Relevances
    from goldassay.stats.clusters import Clusters
    from goldassay.stats.effects import Reading
    from goldassay.stats.verdicts import Doubt

PAIRED, TEXT, EMPTY = "paired", "text", "empty"
# Of multiple-choice questions: always naming the longest choice, for which nothing is trained.
LONGEST = "longest_choice"
# ConditionEvidence made by the quick probes, and made elsewhere.
PROBES, GIVEN = "probes", "runs"


@dataclass(frozen=True)
class ConditionEvidence:
    """Everything known of one dataset's test part, examples in one order throughout.

    Attributes:
        name: Of the dataset.
        model: What was trained.
        source: `PROBES`, "training" or `GIVEN`.
        label_names: K names.
        gold: Codes, (N,).
        example_ids: (N,).
        conditions: Condition to its runs.
        probabilities: Condition to the gold label's probability, (R, N); of conditions whose runs have logits, or
            that were given by themselves.
        null: The gold label's probability from a model that reads nothing, (1, N), where `probabilities` were scaled on
            test examples and an empty input's must have been too.
        null_is: What that is, in words.
        vectors: Role to embeddings of its sentences alone, one (N, D) a model.
        vectors_are: What these embeddings are, in a clause.
        relevances: Condition to the relevances of its runs, by seed.
        test: The test part with its texts, if at hand.
        train: The training part, if at hand.
        about: What was trained and how, in a sentence.
        remarks: What is not as one would expect, in sentences.
        notes: What a reader has to know of the data before the verdict, where no dataset tells it.
        inputs: What the report says of each input, where it was not data alone.
        splits: Where the test part was split off: what each further split scores.
        elsewhere: {set of another distribution: what the readers of the whole input answered there}.
        clusters_found: The clusters of the test part, where they are known already or were chosen.
        chance: What guessing gets of each example, (N,), where it differs: of items with choices.
        kind: Of the items, where these are no labelled texts.
        rules: What rules without parameters pick, likewise.
        planted: What the readers answer in copies with words planted in a share of the items, by share and seed, and
            which items are copied: of many a part, then all.
        telling: What words of choices pick that lean to right ones by themselves.
        tables: Further tables of the report, by name.
        doubts: Why nothing here can be called sound.
    """

    name: str
    model: str
    source: str
    label_names: tuple[str, ...]
    gold: NDArray[np.int64]
    example_ids: NDArray[Any]
    conditions: Mapping[str, Runs]
    probabilities: Mapping[str, NDArray[np.float64]]
    null: NDArray[np.float64] | None = None
    null_is: str = ""
    vectors: Mapping[str, Sequence[NDArray[np.floating[Any]]]] = field(default_factory=dict)
    vectors_are: str = ""
    relevances: Mapping[str, Mapping[int, Relevances]] = field(default_factory=dict)
    test: Dataset | None = None
    train: Dataset | None = None
    about: str = ""
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[Mapping[str, Any], ...] = ()
    splits: tuple[Mapping[str, Any], ...] = ()
    elsewhere: Mapping[str, Runs] = field(default_factory=dict)
    clusters_found: Clusters | None = None
    chance: NDArray[np.float64] | None = None
    kind: ItemKind | None = None
    rules: tuple[Reading, ...] = ()
    planted: Callable[[float, int], Iterator[tuple[NDArray[np.int64], list[Reading]]]] | None = None
    telling: Callable[[], list[Reading]] | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()

    @property
    def train_gold(self) -> NDArray[np.int64] | None:
        """Training labels in the codes of `label_names`; None without training data, or where it has other labels."""
        if self.train is None or not self.train.label_names or set(self.train.label_names) - set(self.label_names):
            return None
        codes = np.array([self.label_names.index(name) for name in self.train.label_names], np.int64)
        return np.asarray(codes[self.train.labels()])

    @cached_property
    def grouping(self) -> Clusters | None:
        """Clusters of the test examples, see `example_clusters`; None without their texts."""
        if self.clusters_found is not None or self.test is None:
            return self.clusters_found
        return example_clusters(self.test)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """Their codes, (N,); None where every example counts by itself."""
        return None if self.grouping is None else self.grouping.codes_if_any

    @property
    def train_counts(self) -> NDArray[np.int64] | None:
        """Training rows of each label, (K,), likewise."""
        known = self.train_gold
        return None if known is None else np.bincount(known, minlength=len(self.label_names)).astype(np.int64)


def named_path(source: Any) -> tuple[str | None, Any]:
    """NAME=FILE as name and file; a file whose own name holds the sign, and what is no path, as it is."""
    if not isinstance(source, str):
        return None, source
    name, path = split_named_path(source)
    return name or None, path


# Before the name of a part: the column of what each of its readers tells of an example, in bits.
READER_BITS = "reader_bits_"


def is_part(condition: str) -> bool:
    """Whether a condition shows a whole text of the input and leaves the others out."""
    return condition.endswith("_only")


def gold_probabilities(runs: Runs, gold: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Softmax of the final logits at the gold class, (R, N); None without logits."""
    final = runs.final()
    if final.logits is None:
        return None
    return softmax_at(np.asarray(final.logits, dtype=np.float64), gold)


def softmax_at(logits: NDArray[np.float64], gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(z_y) / sum_c exp(z_c) for the class y of each example, (..., N) of (..., N, K)."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chosen = np.take_along_axis(shifted, np.broadcast_to(gold, shifted.shape[:-1])[..., np.newaxis], axis=-1)[..., 0]
    return np.asarray(chosen / shifted.sum(axis=-1))


def aligned(values: NDArray[Any], ids: NDArray[Any], wanted: NDArray[Any], what: str, file: str | None) -> NDArray[Any]:
    """Rows of values in the order of the wanted examples.

    Raises:
        InputError: Some wanted example has no row, or the ids have nothing to do with each other.
    """
    place = {str(name): row for row, name in enumerate(ids)}
    rows = np.array([place.get(str(name), -1) for name in wanted])
    missing = int((rows < 0).sum())
    if missing:
        first = wanted[int((rows < 0).argmax())]
        raise InputError(
            f"{what} are of other examples: {missing:,} of the {wanted.size:,} are missing, first {first}",
            file=file,
            mend="give those of this dataset",
        )
    return values[rows]
