"""Easy and hard examples: what the patterns of the training data say about each test example's label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.artifacts.label_codes import encode_labels
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result, to_plain
from goldassay.data.tokenization import TokenizedCorpus
from goldassay.stats.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import Tokenizer

CLASSES = ("easy", "hard", "conflicting", "uncovered")


@dataclass(frozen=True, eq=False)
class DifficultyAssignment(Result):
    """Each example's class, and the patterns and labels that decided it.

    Attributes:
        classes: "easy", "hard", "conflicting" or "uncovered", (N,).
        label_sets: Whether each label is one that a pattern of the example points to, (N,K).
        pattern_rows: Rows of the pattern table, of all examples one after the other.
        pattern_offsets: Where each example's start in `pattern_rows`, (N+1,).
        rows: Position of each example among the sentences that were given; others had no label.
        label_names: K names.
        threshold: The threshold that the patterns were cut at; None where they were not.
    """

    classes: NDArray[np.str_]
    label_sets: NDArray[np.bool_]
    pattern_rows: NDArray[np.int64]
    pattern_offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    label_names: tuple[str, ...]
    threshold: float | None

    def __len__(self) -> int:
        return self.classes.size

    @property
    def n_examples(self) -> int:
        """How many examples have a class."""
        return self.classes.size

    @property
    def pattern_ids(self) -> list[NDArray[np.int64]]:
        """Rows of the pattern table that each example holds."""
        return np.split(self.pattern_rows, self.pattern_offsets[1:-1]) if len(self) else []

    def pattern_ids_of(self, at: int) -> NDArray[np.int64]:
        """Rows of the pattern table that the example at a position holds."""
        return self.pattern_rows[self.pattern_offsets[at] : self.pattern_offsets[at + 1]]

    @property
    def summary(self) -> dict[str, int]:
        """How many examples each class has."""
        return {name: int((self.classes == name).sum()) for name in CLASSES}

    @property
    def coverage(self) -> float:
        """Share of the examples that hold a pattern: 1 - uncovered/N. NaN without examples."""
        if not len(self):
            _undefined("coverage", "there is no example")
            return float("nan")
        return 1 - self.summary["uncovered"] / len(self)

    @property
    def easy_share(self) -> float:
        """easy/(easy + hard): how often the patterns' single verdict is right. NaN where there is neither."""
        easy, hard = self.summary["easy"], self.summary["hard"]
        if not easy + hard:
            _undefined("easy_share", "no example is easy or hard")
            return float("nan")
        return easy / (easy + hard)

    @property
    def easy_share_interval(self) -> Interval:
        """Wilson interval of `easy_share`; 0 to 1 where it is undefined."""
        return wilson_interval(self.summary["easy"], self.summary["easy"] + self.summary["hard"])

    def to_frame(self) -> pl.DataFrame:
        """One row an example: row, class, labels (the set L), pattern_ids."""
        codes = [np.flatnonzero(row) for row in np.unique(self.label_sets, axis=0)]
        sets = {tuple(code.tolist()): [self.label_names[i] for i in code] for code in codes}
        labels = [sets[tuple(np.flatnonzero(row).tolist())] for row in self.label_sets]
        return pl.DataFrame(
            {
                "row": self.rows,
                "class": self.classes.tolist(),
                "labels": pl.Series(labels, dtype=pl.List(pl.String)),
                "pattern_ids": self._listed_patterns(),
            },
            schema_overrides={"class": pl.String},
        )

    def _listed_patterns(self) -> pl.Series:
        """`pattern_ids` as a column of lists."""
        at = np.repeat(np.arange(len(self)), np.diff(self.pattern_offsets))
        held = pl.DataFrame({"at": at, "id": self.pattern_rows}).group_by("at", maintain_order=True).agg("id")
        every = pl.DataFrame({"at": np.arange(len(self))})
        lists = every.join(held, on="at", how="left", maintain_order="left")["id"]
        return lists.fill_null(pl.Series([[]], dtype=pl.List(pl.Int64)))

    def to_dict(self) -> dict[str, Any]:
        """The summary, without the examples."""
        summary = self.summary
        decided = summary["easy"] + summary["hard"]
        return {
            "n_examples": len(self),
            "threshold": self.threshold,
            "summary": summary,
            "coverage": self.coverage if len(self) else None,
            "easy_share": self.easy_share if decided else None,
            "easy_share_interval": to_plain(self.easy_share_interval) if decided else None,
        }


def assign_difficulty(
    sentences: Sequence[str] | TokenizedCorpus,
    labels: Sequence[Any] | NDArray[Any],
    patterns: PatternTable,
    *,
    missing: Literal["refuse", "drop"] = "refuse",
    tokenizer: Tokenizer | None = None,
) -> DifficultyAssignment:
    """Class each example by whether the patterns it holds point to its label.

    With L the set of labels of its patterns: "uncovered" where L is empty, "easy" where L = {gold}, "hard" where
    gold is not in L, "conflicting" where gold is one of several.

    Args:
        sentences: N strings, of the part that the patterns were mined from; or a corpus tokenized the same way.
        labels: N gold labels.
        patterns: Mined on the training data, and cut by `select`.
        missing: What to do with an example without a label (None, "-", ""): refuse it, or leave it out.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: The lengths differ, a label is missing (with "refuse") or unknown to the patterns, or the
            tokenizer is another one.

    Source: Liu et al. 2020.
    """
    codes, names = encode_labels(labels, patterns.label_names, len(sentences))
    if missing == "refuse" and (codes < 0).any():
        first = int(np.argmax(codes < 0))
        raise InputError(f"sentence {first + 1} has no label", mend='drop such rows, or pass missing="drop"')
    rows = np.flatnonzero(codes >= 0)
    if rows.size < codes.size:
        if isinstance(sentences, TokenizedCorpus):
            sentences = sentences.take(codes >= 0)
        else:
            sentences = [sentences[row] for row in rows.tolist()]
        codes = codes[rows]
    at, found = patterns.matches(sentences, tokenizer)
    sets = np.zeros((rows.size, len(names)), np.bool_)
    sets[at, patterns.label_codes()[found]] = True
    n_labels = sets.sum(axis=1)
    has_gold = sets[np.arange(rows.size), codes]
    number = np.select([n_labels == 0, ~has_gold, n_labels > 1], [3, 1, 2], 0)
    return DifficultyAssignment(
        classes=np.array(CLASSES)[number],
        label_sets=sets,
        pattern_rows=found,
        pattern_offsets=np.searchsorted(at, np.arange(rows.size + 1)),
        rows=rows,
        label_names=names,
        threshold=patterns.settings.get("threshold"),
    )


def _undefined(name: str, reason: str) -> None:
    warnings.warn(f"{name} is undefined: {reason}", UndefinedMeasureWarning, stacklevel=3)
