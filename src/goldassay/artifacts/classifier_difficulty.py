"""The other published rule for easy and hard: what a classifier gets right that sees only a part of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts.difficulty import CLASSES
from goldassay.core.errors import InputError
from goldassay.core.results import Result, to_plain
from goldassay.stats.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CLASSIFIER_CLASSES = ("easy", "hard")


@dataclass(frozen=True, eq=False)
class ClassifierDifficulty(Result):
    """Each example's class by classifier.

    Attributes:
        classes: "easy" or "hard", (N,).
        share_right: Share of the classifiers that are right, (N,).
        n_runs: R.
    """

    classes: NDArray[np.str_]
    share_right: NDArray[np.float64]
    n_runs: int

    @property
    def n_examples(self) -> int:
        """N."""
        return self.classes.size

    @property
    def summary(self) -> dict[str, int]:
        """How many examples each class has."""
        return {name: int((self.classes == name).sum()) for name in CLASSIFIER_CLASSES}

    @property
    def easy_share(self) -> float:
        """easy/N, the accuracy of the classifiers' majority."""
        return self.summary["easy"] / self.n_examples

    @property
    def easy_share_interval(self) -> Interval:
        """Wilson interval of `easy_share`."""
        return wilson_interval(self.summary["easy"], self.n_examples)

    def to_frame(self) -> pl.DataFrame:
        """One row an example: class, share_right."""
        return pl.DataFrame({"class": self.classes.tolist(), "share_right": self.share_right})

    def to_dict(self) -> dict[str, Any]:
        """The summary, without the examples."""
        return {
            "n_examples": self.n_examples,
            "n_runs": self.n_runs,
            "summary": self.summary,
            "easy_share": self.easy_share,
            "easy_share_interval": to_plain(self.easy_share_interval),
        }


def assign_by_classifier(predictions: ArrayLike, gold: ArrayLike) -> ClassifierDifficulty:
    """Class each example by whether a classifier that sees only the hypothesis gets it right.

    Easy is what it gets right, hard what it gets wrong. Of R classifiers that differ in their seed, more than half must
    be right for an example to be easy. No example may have been seen in training by the classifier that judges it:
    train on the training split and judge the test split, or cross-fit.

    Args:
        predictions: Codes, (R, N) or (N,).
        gold: Codes, (N,).

    Raises:
        InputError: The lengths differ, or there is nothing.

    Source: Gururangan et al. 2018, "Annotation artifacts in natural language inference data" (one classifier); the
    majority of several is ours.
    """
    predicted = np.atleast_2d(np.asarray(predictions))
    right_label = np.asarray(gold)
    if predicted.ndim != 2 or predicted.size == 0 or right_label.shape != predicted.shape[1:]:
        raise InputError(
            f"predictions have shape {predicted.shape}, gold {right_label.shape}",
            mend="give (runs, examples) and (examples,), one or more of each",
        )
    share = (predicted == right_label).mean(axis=0)
    return ClassifierDifficulty(np.where(share > 0.5, "easy", "hard"), share, len(predicted))


@dataclass(frozen=True, eq=False)
class DifficultyOverlap(Result):
    """How far the rule by patterns and the rule by classifier agree.

    Attributes:
        table: A row for each pair of classes: by_patterns, by_classifier, n, share (of the row's by_patterns class;
            NaN where that is empty).
        agreement: Share of equal classes among the examples that the patterns call easy or hard; NaN where none is.
        hard_jaccard: Examples that both call hard, of those that either does; NaN where none is.
        easy_jaccard: The same of easy.
        n_examples: N.
    """

    table: pl.DataFrame
    agreement: float
    hard_jaccard: float
    easy_jaccard: float
    n_examples: int

    def to_frame(self) -> pl.DataFrame:
        """The table."""
        return self.table


def compare_difficulty(by_patterns: ArrayLike, by_classifier: ArrayLike) -> DifficultyOverlap:
    """Cross the classes of the two rules.

    Args:
        by_patterns: "easy", "hard", "conflicting" or "uncovered", (N,).
        by_classifier: "easy" or "hard", (N,).

    Raises:
        InputError: The lengths differ.
    """
    first, second = np.asarray(by_patterns), np.asarray(by_classifier)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(
            f"{first.size} examples have a class by patterns, {second.size} by classifier",
            mend="give both for the same examples",
        )
    rows = []
    for name in CLASSES:
        total = int((first == name).sum())
        for other in CLASSIFIER_CLASSES:
            n = int(((first == name) & (second == other)).sum())
            share = n / total if total else float("nan")
            rows.append({"by_patterns": name, "by_classifier": other, "n": n, "share": share})
    decided = np.isin(first, CLASSIFIER_CLASSES)
    return DifficultyOverlap(
        table=pl.DataFrame(rows),
        agreement=float((first == second)[decided].mean()) if decided.any() else float("nan"),
        hard_jaccard=_jaccard(first == "hard", second == "hard"),
        easy_jaccard=_jaccard(first == "easy", second == "easy"),
        n_examples=first.size,
    )


def _jaccard(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    either = int((first | second).sum())
    return int((first & second).sum()) / either if either else float("nan")
