"""What models answered on several datasets, as shift asks for it: labels may be missing, or be numbers.

`Runs` are scored by definition. Here a model's logits on texts that have no label of its task are evidence too, and so
are the numbers that a regression predicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.data import Dataset


@dataclass(frozen=True)
class Answers:
    """What R runs of a model answered on the N examples of a dataset.

    Attributes:
        model: What tells the model apart: its name, and where several differ its training set and condition.
        train_set: What it was trained on, or "".
        dataset: Name of the dataset.
        seeds: (R,).
        example_ids: (N,).
        scores: Correctness or a graded score, (R, N), or None for numbers and where there are no labels.
        predictions: Codes of labels, or numbers, (R, N), or None.
        gold: Codes of labels, or numbers, (N,), or None.
        logits: (R, N, K), or None.
        label_names: The K labels in order; () for numbers.
        regression: Whether labels are numbers.
        file: Where it was read, for messages.
        ignored: Whether there were labels that were not asked for.
        probabilities: Whether the logits are logarithms of the probabilities that were found in their place.
        unnamed_logits: Whether there are logits that go unused, since nothing says which class each is of.
        features: What the runs made of the examples before their classifier, (R, N, D), where the runs' files hold it.
        constants: What constant answers to questions score on each example, (C, N), where right answers are at hand.
    """

    model: str
    train_set: str
    dataset: str
    seeds: tuple[Any, ...]
    example_ids: NDArray[Any]
    scores: NDArray[np.float64] | None
    predictions: NDArray[Any] | None
    gold: NDArray[Any] | None
    logits: NDArray[np.floating[Any]] | None
    label_names: tuple[str, ...]
    regression: bool
    file: str
    ignored: bool = False
    probabilities: bool = False
    unnamed_logits: bool = False
    features: NDArray[np.floating[Any]] | None = None
    constants: NDArray[np.float64] | None = None

    @property
    def n_examples(self) -> int:
        """N."""
        return len(self.example_ids)

    def take(self, rows: NDArray[np.bool_]) -> Answers:
        """The same runs on some of the examples, by a mask (N,)."""

        def among(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[:, rows]

        return replace(
            self,
            example_ids=self.example_ids[rows],
            scores=among(self.scores),
            predictions=among(self.predictions),
            logits=among(self.logits),
            features=among(self.features),
            constants=among(self.constants),
            gold=None if self.gold is None else self.gold[rows],
        )

    def of_seeds(self, seeds: Sequence[Any]) -> Answers:
        """Some of the runs, in this order."""
        places = [self.seeds.index(seed) for seed in seeds]

        def among(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[places]

        return replace(
            self,
            seeds=tuple(seeds),
            scores=among(self.scores),
            predictions=among(self.predictions),
            logits=among(self.logits),
            features=among(self.features),
        )


def texts_of(answers: Answers, dataset: Dataset | None) -> list[str] | None:
    """The text of each example, all roles joined by one space; None where not all are at hand."""
    if dataset is None or not dataset.text_columns:
        return None
    joined = dataset.examples.select(
        pl.col("example_id").cast(pl.String).alias("id"),
        pl.concat_str(list(dataset.text_columns), separator=" ", ignore_nulls=True).alias("text"),
    ).unique("id", maintain_order=True)
    ids = pl.DataFrame({"id": pl.Series([str(each) for each in answers.example_ids.tolist()], dtype=pl.String)})
    column = ids.join(joined, on="id", how="left", maintain_order="left")["text"]
    return None if column.null_count() else column.to_list()
