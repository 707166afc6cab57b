"""The rows of slices, loaded: whole, and with the predictions that logits make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.core.numbers import count
from goldassay.runs.statuses import (
    MISSING,
    NO_ANSWER,
    STATUSES,
    Missing,
    is_scored,
    is_there,
    unlike_labels,
    with_no_answers,
    without_marks,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.run_parts import Columns, Gold, Slice

Align = Literal["exact", "intersect", "position"]


@dataclass(frozen=True)
class Loaded:
    """A slice with its rows, and the examples that its file has, be they left out or not."""

    slice: Slice
    columns: Columns
    asked: pl.Series


def rule_of(missing: Missing, align: Align) -> Missing:
    """The rule for answers without a score: examples in common, where these are asked for, leave such answers out."""
    return "leave-out" if missing == "auto" and align == "intersect" else missing


def load_all(
    parts: Sequence[Slice], label_names: tuple[str, ...] | None, missing: Missing, gold: Gold | None
) -> list[Loaded]:
    """The rows of all slices. What is the same in all, as ids and right labels mostly are, is held once.

    Args:
        parts: The slices.
        label_names: All labels in order, where the files do not say it.
        missing: What is done with answers without a score.
        gold: Right labels that were given, by which predictions are scored.

    Raises:
        InputError: An answer has no score and must have one, or none of a run has one.
    """
    labels = [] if gold is None else gold.label.unique().drop_nulls().cast(pl.String).to_list()
    loaded: list[Loaded] = []
    for part in parts:
        item = _load(part, label_names, missing, labels, by_gold=gold is not None)
        loaded.append(replace(item, columns=_sharing(item.columns, loaded[0].columns)) if loaded else item)
    return loaded


def _sharing(columns: Columns, first: Columns) -> Columns:
    def shared(own: pl.Series, other: pl.Series | None) -> pl.Series:
        return other if other is not None and own.equals(other, check_dtypes=True) else own

    return replace(
        columns,
        example_ids=shared(columns.example_ids, first.example_ids),
        label=None if columns.label is None else shared(columns.label, first.label),
        groups={name: shared(values, first.groups.get(name)) for name, values in columns.groups.items()},
    )


def _load(
    part: Slice, label_names: tuple[str, ...] | None, missing: Missing, labels: Sequence[str], *, by_gold: bool
) -> Loaded:
    """The rows of a slice, each with its status: those without a score count as wrong, or are left out or refused."""
    columns = part.load()
    own = (
        columns.label
        if columns.label is not None and columns.label.dtype == pl.String
        else pl.Series([], dtype=pl.String)
    )
    valid = {*own.drop_nulls().unique(), *labels, *(columns.label_names or ()), *(label_names or ())}
    if valid and columns.prediction is not None and columns.prediction.dtype == pl.String:
        columns = replace(columns, prediction=_read_answers(columns, columns.prediction, valid, by_gold=by_gold))
    if columns.score is not None:
        columns = replace(columns, score=columns.score.fill_nan(None))
    written = columns.outputs if columns.outputs is not None else columns.prediction
    if written is not None and written.dtype == pl.String and columns.score is not None:
        columns = replace(columns, status=with_no_answers(columns.status, written, columns.score, valid))
    status = resolved(columns, by_gold=by_gold)
    asked = columns.example_ids
    columns = replace(columns, status=status)
    scored = is_scored(status)
    if not scored.all() or part.unfinished or (columns.prediction is not None and columns.prediction.null_count()):
        columns = _without_gaps(part, columns, scored, missing)
    return Loaded(part, _withpredictions_of(_without_numbers(part, columns), label_names), asked)


def _read_answers(columns: Columns, given: pl.Series, valid: set[str], *, by_gold: bool) -> pl.Series:
    """Predictions, null where one is no answer: by what it says, or, where predictions are labels, by its form.

    Beside scores of the file's own, which may be of free texts, half of the predictions must be labels.
    """
    known = without_marks(given, valid)
    n_valid = int(known.is_in(list(valid)).sum())
    least = 1 if by_gold or columns.score is None else max(known.count() / 2, 1)
    return known.set(unlike_labels(known, valid), None) if n_valid >= least else known


def resolved(columns: Columns, *, by_gold: bool) -> pl.Series:
    """The status of each row: what the file tells, else by whether there is a prediction and a score.

    Args:
        columns: Of one run.
        by_gold: Whether predictions are scored by right labels, whatever scores the file holds.
    """
    n = columns.example_ids.len()
    frame = pl.DataFrame(
        {
            "status": pl.Series([None] * n, dtype=pl.String) if columns.status is None else columns.status,
            "read": is_there(columns.prediction, n),
            "score": is_there(None if by_gold and columns.prediction is not None else columns.score, n),
            "output": is_there(columns.outputs, n),
            # A blank answer that was given credit was read: a question may have no answer.
            "credit": pl.Series([False] * n) if columns.score is None else (columns.score > 0).fill_null(value=False),
            "full": pl.Series([False] * n) if columns.score is None else _has_full_credit(columns.score),
        }
    )
    told = pl.col("status").fill_null("scored")
    has_value = (pl.col("read") | pl.col("credit")) & pl.col("score")
    return frame.select(
        pl.when(told.is_in(["truncated", "scored, truncated"]))
        .then(pl.when(has_value).then(pl.lit("scored, truncated")).otherwise(pl.lit("truncated")))
        # What is told of a text alone; judges give some credit for a blank one, too.
        .when(told.is_in(["unparsed", "empty"]) & pl.col("full")).then(pl.lit("scored"))
        .when(told != "scored").then(told)
        .when(has_value & pl.col("credit")).then(pl.lit("scored"))
        .when(~pl.col("output")).then(pl.lit("empty"))
        .when(~pl.col("read")).then(pl.lit("unparsed"))
        .when(~pl.col("score")).then(pl.lit("unscored"))
        .otherwise(pl.lit("scored"))
        .alias("status")
    ).to_series()  # fmt: skip


def _has_full_credit(scores: pl.Series) -> pl.Series:
    """Where a score is 1, or the highest of a scale that goes beyond 1."""
    values = scores.cast(pl.Float64).to_numpy()
    return pl.Series(values == np.nanmax(values, initial=1.0))


def _without_gaps(part: Slice, columns: Columns, scored: pl.Series, missing: Missing) -> Columns:
    """The rows with a score and a prediction each: those without are wrong, left out or refused, by the rule.

    Raises:
        InputError: The rule refuses them, or no answer has a score.
    """
    assert columns.status is not None
    n, absent = columns.example_ids.len(), columns.status == STATUSES[MISSING]
    if missing == "auto" and n and not scored.any():
        raise _lacking(part, columns, ~scored, scored)
    refused = ~scored if missing == "refuse" else absent
    if missing in ("auto", "refuse") and (refused.any() or part.unfinished):
        raise _lacking(part, columns, refused, scored)
    if missing == "leave-out":
        return taken(columns, scored.arg_true())
    return replace(
        columns,
        score=None if columns.score is None else columns.score.set(~scored, 0.0).fill_null(0.0),
        prediction=None
        if columns.prediction is None
        else columns.prediction.set(~is_there(columns.prediction, n), NO_ANSWER),
        # Rows that no model was asked for have none.
        logits=None if absent.any() else columns.logits,
    )  # fmt: skip


def _lacking(part: Slice, columns: Columns, refused: pl.Series, scored: pl.Series) -> LackingError:
    ids, n = columns.example_ids.filter(refused), columns.example_ids.len()
    why = part.unfinished or columns.unscored
    told = f" ({why})" if why else ""
    what, values = ("score", columns.score) if columns.score is not None else ("prediction", columns.prediction)
    return LackingError(
        f"{ids.len()} of {n} examples of {who(part)} have no {what}{told}, first {listing(ids.head(6).to_list())}"
        if ids.len()
        else f"the run with {who(part)} is unfinished: {why}",
        file=part.file,
        column=None if values is None else values.name or None,
        mend=ways(own_scores(columns), scored, n),
    )


class LackingError(InputError):
    """Answers or examples have no score, and the rule is not to go on without one."""


def ways(score: pl.Series | None, scored: pl.Series, n: int) -> str:
    """The ways to go on without a score for each of n examples, and what each would give where that is known."""
    n_kept = int(scored.sum())
    wrong = left = ""
    if score is not None and n_kept:
        kept = float(score.filter(scored).fill_null(0.0).sum())
        wrong = f": {100 * float(score.fill_null(0.0).sum()) / n:.1f} points"
        left = f": {100 * kept / n_kept:.1f}"
    return (
        f"{option('missing', 'wrong')} counts them as wrong{wrong}; {option('missing', 'leave-out')} keeps "
        f"{count(n_kept)} of {count(n)} examples{left}; or give the missing ones"
    )


def own_scores(columns: Columns) -> pl.Series | None:
    """The scores of a file, or whether its predictions are its labels; None where it has neither."""
    if columns.score is not None or columns.label is None or columns.prediction is None:
        return columns.score
    return (columns.prediction == columns.label).cast(pl.Float64)


def _without_numbers(part: Slice, columns: Columns) -> Columns:
    """Where labels are numbers, as of a regression, what counts is the score of each answer: there are no codes.

    Raises:
        InputError: There is no score.
    """
    if columns.label_names != () or columns.label is None or not columns.label.dtype.is_float():
        return columns
    if columns.score is None:
        raise InputError(
            f"the labels of {who(part)} are numbers, and its answers have no score within [0, 1]",
            file=part.file,
            mend="correlations of such runs are measured by goldassay shift generalization",
        )
    return replace(columns, label=None, prediction=None)


def _withpredictions_of(columns: Columns, label_names: tuple[str, ...] | None) -> Columns:
    """Add the predictions that the logits make, by name, so that they can be mapped like any other."""
    order = columns.label_names or label_names
    if label_names is not None:
        columns = replace(
            columns,
            label=_by_code(columns.label, label_names),
            prediction=_by_code(columns.prediction, label_names),
        )
    if columns.prediction is not None or columns.logits is None or order is None:
        return columns
    if columns.logits.shape[-1] != len(order):
        raise InputError(
            f"logits have {columns.logits.shape[-1]} classes, but there are {len(order)} labels",
            mend=f"name the class of each of them, in order, with {option('label_names')}",
        )
    predicted = pl.Series(order, dtype=pl.String).gather(columns.logits.argmax(axis=-1))
    return replace(columns, prediction=predicted)


def _by_code(values: pl.Series | None, label_names: tuple[str, ...]) -> pl.Series | None:
    """Labels by the names that a user gives in order, where the file numbers them from 0."""
    codes = [str(code) for code in range(len(label_names))]
    met = set() if values is None or values.dtype != pl.String else set(values.drop_nulls().unique().to_list())
    if values is None or not met or not met <= set(codes) or met & set(label_names):
        return values
    return values.replace(codes, list(label_names))


def taken(columns: Columns, rows: pl.Series) -> Columns:
    """The rows at these positions, in this order."""

    def take(values: pl.Series | None) -> pl.Series | None:
        return None if values is None else values.gather(rows)

    return replace(
        columns,
        example_ids=columns.example_ids.gather(rows),
        label=take(columns.label),
        prediction=take(columns.prediction),
        score=take(columns.score),
        logits=None if columns.logits is None else columns.logits[rows.to_numpy()],
        features=None if columns.features is None else columns.features[rows.to_numpy()],
        groups={name: values.gather(rows) for name, values in columns.groups.items()},
        no_answer=take(columns.no_answer),
        status=take(columns.status),
        outputs=take(columns.outputs),
        # They are of all examples that were scored.
        thresholds=columns.thresholds if rows.len() == columns.example_ids.len() else None,
    )


def who(part: Slice) -> str:
    """A slice in the words of a message."""
    return f"seed {part.seed}" + ("" if part.checkpoint is None else f", checkpoint {part.checkpoint},")
