"""Easy and hard examples, by patterns or by a classifier, and what guessing by pattern is worth."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result, to_plain
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.stats.clusters import variance_of_mean
from goldassay.stats.intervals import Interval, normal_quantile, t_quantile, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.questions.artifacts.measures.pattern_table import PatternTable

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


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its 95 % interval."""

    value: float
    low: float
    high: float
    method: str = ""


@dataclass(frozen=True)
class Giveaway(Result):
    """The worth of a table of patterns on a test set.

    Attributes:
        giveaway: Accuracy gained over always naming the most frequent label, a fraction of the whole test set, with its
            interval. 0 where no example is decided: patterns that are nowhere give nothing away.
        precision: Share right of the examples for which the patterns name a single label, with its Wilson interval;
            NaN, from 0 to 1, where there is none.
        coverage: Share of the examples that hold a pattern.
        n_examples: N.
        n_decided: How many examples the patterns name a single label for.
    """

    giveaway: Estimate
    precision: Estimate
    coverage: float
    n_examples: int
    n_decided: int


def giveaway(
    assignment: DifficultyAssignment,
    labels: Sequence[Any] | NDArray[Any],
    train: DifficultyAssignment,
    train_labels: Sequence[Any] | NDArray[Any],
) -> Giveaway:
    """Accuracy that a guesser gains who reads nothing but the patterns.

    Where the patterns of a test example name a single label, the guesser says it, elsewhere a constant r. It is
    compared with always saying m, the most frequent label of all training examples: mean over the test set of x_i =
    1[guess_i = gold_i] - 1[m = gold_i], standard error sd(x)/sqrt(N), ddof 1.

    r is the most frequent label of the training examples that the patterns leave open if it is there more frequent
    than m beyond chance, (n_r - n_m)² > 3.84 (n_r + n_m); otherwise r = m. Without that test, balanced labels would
    make r another label than m by luck, and the noise of trading one constant for another would drown the gain. Of
    equally frequent labels the first counts. The test labels decide nothing.

    Where the guesser never departs from m to any effect, nothing is gained; the upper end of the interval is then the
    share of examples on which it could, 1 - .05^(1/N), below which that share lies with 95 % confidence.

    Args:
        assignment: Of the test set.
        labels: Gold labels of the test set, (N,); those left out of the assignment may be missing.
        train: Assignment of the training set, by the same patterns.
        train_labels: Its labels.

    Raises:
        InputError: There is no example, or the labels do not fit the assignment.

    Source: ours; precision as in Liu et al. 2020, but of all examples for which a single label is named.
    """
    codes, single, _ = _decided(train, train_labels)
    K = len(assignment.label_names)
    counts = (np.bincount(each, minlength=K) for each in (codes, codes[~single]))
    return giveaway_by_counts(assignment, labels, *counts)


def giveaway_by_counts(
    assignment: DifficultyAssignment,
    labels: Sequence[Any] | NDArray[Any],
    train_counts: NDArray[np.int64],
    left_open: NDArray[np.int64],
    clusters: NDArray[np.int64] | None = None,
) -> Giveaway:
    """As `giveaway`, of the counts that decide what the guesser says without a pattern.

    With G clusters of examples that depend on each other the standard error is that of their sums,
    sqrt(G/(G-1) sum_g (sum_i (x_i - mean))²)/N, and the quantile Student's (G - 1).

    Args:
        assignment: Of the test set.
        labels: Gold labels of the test set.
        train_counts: Training examples of each label, (K,).
        left_open: Those for which the patterns name none or several, (K,).
        clusters: Codes from 0 of the examples that are classed, (N,); None where each counts by itself.

    Raises:
        InputError: As there.

    Source: Liang and Zeger 1986 (sums over clusters).
    """
    constant = int(train_counts.argmax())
    return giveaway_of(assignment, labels, guess_by_patterns(assignment, constant, left_open), constant, clusters)


def giveaway_of(
    assignment: DifficultyAssignment,
    labels: Sequence[Any] | NDArray[Any],
    guess: NDArray[np.int64],
    constant: int,
    clusters: NDArray[np.int64] | None = None,
) -> Giveaway:
    """As `giveaway`, of what the guesser says of each example, (N,), and the constant that it is compared with.

    Raises:
        InputError: As there.
    """
    codes, single, named = _decided(assignment, labels)
    N, n_decided = codes.size, int(single.sum())
    x = (guess == codes).astype(np.float64) - (constant == codes)
    if x.any():
        value = float(x.mean())
        half, method = _half_width(x, clusters)
        gained = Estimate(value, value - half, value + half, method)
    else:
        gained = Estimate(0.0, 0.0, 1 - 0.05 ** (1 / N), "exact binomial")
    right = int((single & (named == codes)).sum())
    bounds = wilson_interval(right, n_decided)
    return Giveaway(
        giveaway=gained,
        precision=Estimate(right / n_decided if n_decided else float("nan"), bounds.low, bounds.high, bounds.method),
        coverage=1 - assignment.summary["uncovered"] / N,
        n_examples=N,
        n_decided=n_decided,
    )


def _half_width(x: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> tuple[float, str]:
    """Half of the 95 % interval of the mean of x, and how it was made."""
    if clusters is None:
        return normal_quantile(0.95) * math.sqrt(variance_of_mean(x)) if x.size > 1 else math.nan, "normal"
    variance = variance_of_mean(x, clusters)
    df = int(clusters.max())
    return t_quantile(df, 0.95) * math.sqrt(variance) if df else variance, "Student's t over clusters"


def guess_by_patterns(
    assignment: DifficultyAssignment, constant: int, left_open: NDArray[np.int64]
) -> NDArray[np.int64]:
    """What the guesser of `giveaway` says of each test example, (N,).

    Args:
        assignment: Of the test set.
        constant: The most frequent label, m, with which it is compared.
        left_open: Training examples for which the patterns name none or several, (K,).
    """
    r = int(left_open.argmax())
    if (left_open[r] - left_open[constant]) ** 2 <= 3.84 * (left_open[r] + left_open[constant]):
        r = constant
    single = assignment.label_sets.sum(axis=1) == 1
    return np.where(single, assignment.label_sets.argmax(axis=1), r)


def join_assignments(
    parts: Sequence[tuple[DifficultyAssignment, PatternTable]],
    places: Sequence[NDArray[np.int64]],
    shown: PatternTable,
) -> DifficultyAssignment:
    """Classes of all rows by patterns of several tables; of the patterns that each holds those that are shown.

    Args:
        parts: Of some rows each, with the patterns that decided.
        places: Of the rows of each part among all.
        shown: The table that `pattern_rows` is to count in; what it lacks is left out of these.
    """
    row_of = {key: row for row, key in enumerate(_keys(shown))}
    order = np.argsort(np.concatenate(places))
    at, rows = [], []
    for (assignment, patterns), own in zip(parts, places, strict=True):
        row = np.array([row_of.get(key, -1) for key in _keys(patterns)], np.int64)[assignment.pattern_rows]
        at.append(own[np.repeat(np.arange(len(assignment)), np.diff(assignment.pattern_offsets))][row >= 0])
        rows.append(row[row >= 0])
    every, held = np.concatenate(at), np.concatenate(rows)
    sorted_ = np.lexsort((held, every))
    first = parts[0][0]
    return DifficultyAssignment(
        classes=np.concatenate([each.classes for each, _ in parts])[order],
        label_sets=np.concatenate([each.label_sets for each, _ in parts])[order],
        pattern_rows=held[sorted_],
        pattern_offsets=np.searchsorted(every[sorted_], np.arange(order.size + 1)),
        rows=np.arange(order.size),
        label_names=first.label_names,
        threshold=first.threshold,
    )


def _keys(patterns: PatternTable) -> list[tuple[Any, ...]]:
    """Each pattern as its tokens and gaps, with its label."""
    frame = patterns.to_frame()
    columns = (map(tuple, frame[name].to_list()) for name in ("tokens", "gaps"))
    return list(zip(*columns, frame["label"].to_list(), strict=True))


def _decided(
    assignment: DifficultyAssignment, labels: Sequence[Any] | NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Gold codes, whether a single label is named, and which."""
    codes, _ = encode_labels(labels, assignment.label_names, len(labels))
    codes = codes[codes >= 0]
    if not len(assignment):
        raise InputError("there is no example to guess", mend="give a set with labels")
    if codes.size != len(assignment):
        raise InputError(
            f"{len(assignment)} examples were classed, {codes.size} labels given", mend="give the same examples"
        )
    return codes, assignment.label_sets.sum(axis=1) == 1, assignment.label_sets.argmax(axis=1)


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
