"""Read runs from anywhere: find them by content, choose one model, dataset and condition, each run once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import numpy as np
import polars as pl

from goldassay.core.bounds import reading
from goldassay.core.errors import InputError, option
from goldassay.runs.answers import AnswerMetric, read_answers, score_columns
from goldassay.runs.assembly import Align, assemble, ordered, position_of, taken
from goldassay.runs.choosing import at_checkpoint, choose_slices
from goldassay.runs.configurations import digest
from goldassay.runs.finding import NoRunsError, RunsPath, find_slices
from goldassay.runs.grades import parse_grades
from goldassay.runs.labels import canonical
from goldassay.runs.loading import rule_of
from goldassay.runs.run_parts import Collection, Columns, Request, Slice, Traits
from goldassay.runs.statuses import Missing
from goldassay.runs.traits import dataset_of, read_gold, with_traits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.runs.runs import Runs


__all__ = ["NoRunsError", "RunsPath", "find_slices", "list_runs", "list_slices", "read_runs", "runs_of"]


def read_runs(
    path: RunsPath,
    format: str = "auto",  # noqa: A002
    model: str | None = None,
    dataset: str | None = None,
    condition: str | None = None,
    gold: Dataset | str | os.PathLike[str] | None = None,
    *,
    fallback_gold: Dataset | str | os.PathLike[str] | None = None,
    split: str | None = None,
    train_set: str | None = None,
    checkpoint: int | str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    label_names: Sequence[str] | None = None,
    align: Align = "exact",
    missing: Missing = "auto",
    answer_metric: AnswerMetric = "f1",
    pool_configurations: bool = False,
    grades: str | None = None,
) -> Runs:
    """Read the runs of one model, on one dataset, under one condition.

    Args:
        path: A file, a folder (searched to the bottom), or several of these.
        format: Name of an adapter, or "auto": each file is recognized by its content.
        model: Which model, where several are there; with * or ?, all that match, as runs of one.
        dataset: Which dataset.
        condition: Which condition: paired, premise_only, hypothesis_only.
        gold: A dataset, or the file of one, whose labels (or, for SQuAD, answers) the predictions are scored by;
            joined by example id. A table of ids and labels without texts will do.
        fallback_gold: Likewise, but used only where the files hold neither labels nor scores.
        split: Which part of the dataset.
        train_set: Which training data.
        checkpoint: One checkpoint of each run, or "last"; without it all of them.
        columns: {role: column name} for tables whose columns do not say what they are.
        labels: {name in the files: label}, for predictions that are named otherwise than the gold.
        label_names: All labels in order: which class each logit belongs to.
        align: "exact", "intersect" (keep the examples that all runs cover), or "position" (row for row).
        missing: What is done with answers without a score: "auto" counts them as wrong, and refuses examples that a
            run lacks; "refuse", "wrong" and "leave-out" do one with both. "bounds" is "wrong" here: `Runs.status`
            says which they are.
        answer_metric: "f1" or "exact_match", where the gold is a SQuAD file.
        pool_configurations: Take runs that were asked in different ways (prompt, shots, temperature) for repeats of
            one; without it each such configuration is a model of its own, "NAME [prompt=cot]".
        grades: The scale that scores are on, "LOW:HIGH": "1:5"; they are taken as shares of it.

    Raises:
        InputError: Nothing is there or cannot be read, several things are there and no choice was made (the
            line names them), runs do not cover the same examples, or labels do not match.
    """
    request = Request.of(
        columns or {},
        label_names=None if label_names is None else tuple(label_names),
        grades=parse_grades(grades),
        pool_configurations=pool_configurations,
    )
    try:
        found = runs_of(
            find_slices(path, format, request),
            {"model": model, "dataset": dataset, "split": split, "condition": condition, "train_set": train_set},
            gold,
            fallback_gold=fallback_gold,
            checkpoint=checkpoint,
            labels=labels,
            label_names=label_names,
            align=align,
            missing=missing,
            answer_metric=answer_metric,
            score=(columns or {}).get("score"),
        )
        return with_traits(found, Traits.of(columns or {}), dataset_of(gold))
    except InputError as error:
        # Of functions that are commands it is called as their option is.
        error.rename("test=", "gold=")
        raise


def runs_of(
    found: list[Slice],
    asked: Mapping[str, str | None],
    gold: Dataset | str | os.PathLike[str] | None = None,
    *,
    fallback_gold: Dataset | str | os.PathLike[str] | None = None,
    checkpoint: int | str | None = None,
    labels: Mapping[str, str] | None = None,
    label_names: Sequence[str] | None = None,
    align: Align = "exact",
    missing: Missing = "auto",
    answer_metric: AnswerMetric = "f1",
    score: str | None = None,
) -> Runs:
    """Put together the runs of one model, dataset and condition out of what `find_slices` found.

    Who reads many models from the same files finds once and calls this for each.

    Args:
        found: What is there.
        asked: What to take, by the names of `read_runs`: model, dataset, split, condition, train_set.
        gold: As for `read_runs`, and so are all others.
        fallback_gold: See there.
        checkpoint: See there.
        labels: See there.
        label_names: See there.
        align: See there.
        missing: See there.
        answer_metric: See there.
        score: The column of scores that was asked for; of answers, which have none, it names the metric.

    Raises:
        InputError: As for `read_runs`.
    """
    if align not in get_args(Align):
        raise InputError(f"there is no way {align!r} to align runs", mend=f"choose one of {', '.join(get_args(Align))}")
    if missing not in get_args(Missing):
        raise InputError(f"there is no rule {missing!r}", mend=f"choose one of {', '.join(get_args(Missing))}")
    if answer_metric not in get_args(AnswerMetric):
        raise InputError(
            f"there is no metric {answer_metric!r} of answers",
            mend=f"choose one of {', '.join(get_args(AnswerMetric))}",
        )
    chosen = at_checkpoint(choose_slices(found, asked), checkpoint)
    answers = None
    if isinstance(gold, (str, os.PathLike)):
        with reading(gold):
            answers = read_answers(Path(gold))
    if answers is not None:
        metric = answer_metric if score is None else _metric_named(score)
        chosen = [_scored(part, answers, metric, rule_of(missing, align)) for part in chosen]
        gold = None
    right, otherwise_right = (None if each is None else read_gold(each) for each in (gold, fallback_gold))
    with reading(chosen[0].file):
        return assemble(
            chosen,
            gold=right,
            fallback_gold=otherwise_right,
            labels=labels,
            label_names=None if label_names is None else tuple(label_names),
            align=align,
            missing=missing,
        )


def list_runs(path: RunsPath, format: str = "auto", *, columns: Mapping[str, str] | None = None) -> pl.DataFrame:  # noqa: A002
    """Say what is there to read: a row for each model, configuration, dataset, split, condition and training set.

    Where a model answered one dataset in several configurations, what differs stands with its name: "NAME [shots=5]".

    Returns:
        Columns model, configuration (first digits of its SHA-256, "" where no file tells it), dataset, condition,
        split, train_set, n_runs, n_checkpoints, n_examples (of the first run), seeds (a list of names), format.

    Raises:
        InputError: Nothing is there, or a file cannot be read.
    """
    return list_slices(find_slices(path, format, Request.of(columns or {}, listed=True)))


def list_slices(found: Iterable[Slice]) -> pl.DataFrame:
    """The table of `list_runs`, of what `find_slices` found."""
    grouped: dict[tuple[Collection, str], list[Slice]] = {}
    for part in found:
        grouped.setdefault((part.collection, part.format), []).append(part)
    rows = [
        {
            "model": key.model,
            "configuration": digest(parts[0].configuration),
            "dataset": key.dataset,
            "condition": key.condition,
            "split": key.split,
            "train_set": key.train_set,
            "n_runs": len({part.seed for part in parts}),
            "n_checkpoints": len({part.checkpoint for part in parts}),
            "n_examples": parts[0].n_examples,
            "seeds": [str(seed) for seed in ordered({part.seed for part in parts})],
            "format": name,
        }
        for (key, name), parts in sorted(grouped.items(), key=lambda item: item[0])
    ]
    return pl.DataFrame(rows)


def _metric_named(score: str) -> AnswerMetric:
    if score not in get_args(AnswerMetric):
        raise InputError(
            f"answers have no score {score!r}",
            mend=f"name one of {', '.join(get_args(AnswerMetric))} with {option('columns', 'score=NAME')}",
        )
    return cast("AnswerMetric", score)


def _scored(part: Slice, answers: dict[str, list[str]], metric: AnswerMetric, missing: Missing) -> Slice:
    """The slice with its predicted answers scored when it is loaded."""

    def load() -> Columns:
        columns = part.load()
        return score_columns(columns, answers, metric=metric, missing=missing, file=part.file)

    return replace(part, load=load)


class Joined(NamedTuple):
    """Slices without duplicates, and between which files how many were joined."""

    slices: list[Slice]
    pairs: dict[tuple[str, str], int]


def join_duplicates(found: Sequence[Slice]) -> Joined:
    """Count each run once that stands in several files of the same examples.

    Two slices are taken for the same run where model, condition, split, training set, seed and checkpoint are the same,
    and the dataset too, unless it is merely called by the name of its file. They must then hold the same examples and
    right labels, and agree on each: those of other examples or labels are runs on other data.

    Raises:
        InputError: One file says of an example that it is right, the other that it is wrong; or it cannot be told
            since neither has right labels.
    """
    kept: dict[tuple[object, ...], list[Slice]] = {}
    pairs: dict[tuple[str, str], int] = {}
    for part in found:
        places = kept.setdefault(_who(part), [])
        for i, other in enumerate(places):
            both = None if part.file == other.file else _joined(other, part)
            if both is not None:
                places[i] = both
                between = (Path(other.file).name, Path(part.file).name)
                pairs[between] = pairs.get(between, 0) + 1
                break
        else:
            places.append(part)
    return Joined([part for places in kept.values() for part in places], pairs)


def is_copy(one: Slice, other: Slice) -> bool:
    """Whether two slices hold the same examples in the same order, with the same answers, scores and logits."""
    if one.n_examples != other.n_examples:
        return False
    a, b = one.load(), other.load()
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("example_ids", "label", "prediction", "score")]
    if any((x is None) != (y is None) or (x is not None and not _same(x, y)) for x, y in pairs):
        return False
    if a.logits is None or b.logits is None:
        return a.logits is b.logits
    return np.array_equal(a.logits, b.logits, equal_nan=True)


def _who(part: Slice) -> tuple[object, ...]:
    by_file = part.collection.dataset == Path(part.file).name.split(".")[0]
    return part.collection._replace(dataset="" if by_file else part.collection.dataset), part.seed, part.checkpoint


def _joined(one: Slice, other: Slice) -> Slice | None:
    """Both as one, or None where they are of other examples, or are other runs."""
    if one.n_examples != other.n_examples:
        return None
    a, b = one.load(), other.load()
    rows = position_of(a.example_ids, b.example_ids)
    if rows.null_count():
        return None
    b = taken(b, rows)
    if a.label is not None and b.label is not None and not _same(a.label, b.label):
        return None
    kinds = [(each.score is not None, each.prediction is not None) for each in (a, b)]
    if kinds[0] == kinds[1]:
        # Of one kind, they are a run and its copy, or two runs.
        same = all(_same(x, y) for x, y in ((a.score, b.score), (a.prediction, b.prediction)) if x is not None)
        return one if same and a.logits is None and b.logits is None else None
    label = a.label if a.label is not None else b.label
    rights = [_right(each, label) for each in (a, b)]
    if rights[0] is None or rights[1] is None:
        raise InputError(
            f"{one.collection.model} is in {one.file} too, and no right labels say whether it is the same run",
            file=other.file,
            mend=f"name one of the two with {option('dataset')}, or give right labels in the file",
        )
    n_apart = int((rights[0] != rights[1]).sum())
    if n_apart:
        raise InputError(
            f"{one.collection.model} is in {one.file} too, of the same examples, but {n_apart} of "
            f"{one.n_examples} are right in one and wrong in the other",
            file=other.file,
            mend=f"name one of the two with {option('dataset')}, or remove the wrong one",
        )
    merged = replace(
        a,
        label=label,
        score=a.score if a.score is not None else b.score,
        prediction=a.prediction if a.prediction is not None else b.prediction,
        logits=a.logits if a.logits is not None else b.logits,
        label_names=a.label_names or b.label_names,
        groups=b.groups | a.groups,
    )
    return replace(one, load=lambda: merged)


def _same(a: pl.Series | None, b: pl.Series | None) -> bool:
    return a is not None and b is not None and bool(a.cast(pl.String).eq_missing(b.cast(pl.String)).all())


def _right(columns: Columns, label: pl.Series | None) -> pl.Series | None:
    """Whether each example is right, as 0 or 1; None where that cannot be told."""
    if columns.score is not None:
        return columns.score.cast(pl.Float64)
    if columns.prediction is None or label is None:
        return None
    spelled = [
        each.replace({name: canonical(name) for name in each.drop_nulls().unique()})
        for each in (columns.prediction, label)
    ]
    return (spelled[0] == spelled[1]).cast(pl.Float64)
