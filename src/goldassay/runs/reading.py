"""Read runs from anywhere: find them by content, choose one model, dataset and condition, put them together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.errors import InputError
from goldassay.runs.adapters import adapters
from goldassay.runs.answers import AnswerMetric, read_answers, score_columns
from goldassay.runs.assembly import Align, assemble, ordered
from goldassay.runs.curves import kind_of_scores
from goldassay.runs.gold import read_gold
from goldassay.runs.slices import UNNAMED_MODEL, Collection, Columns, Request, Slice
from goldassay.runs.tables import refuse_pickle
from goldassay.runs.validation import listing

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.runs.runs import Runs

_SUFFIX = re.compile(r"\.(parquet|pq|csv|tsv|txt|jsonl|ndjson|json|np[yz]|eval)(\.gz|\.zst)?$", re.IGNORECASE)


# A file of this name is a run of something: seed_3, run3, preds-12, 7.
_RUN = re.compile(r"(^|[_\-. ]|seed|run|rep|trial|fold)[0-9]+$", re.IGNORECASE)


class NoRunsError(InputError):
    """Nothing at a path is of a known format."""


RunsPath = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


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
    answer_metric: AnswerMetric = "f1",
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
        answer_metric: "f1" or "exact_match", where the gold is a SQuAD file.

    Raises:
        InputError: Nothing is there or cannot be read, several things are there and no choice was made (the
            line names them), runs do not cover the same examples, or labels do not match.
    """
    request = Request(dict(columns or {}), None if label_names is None else tuple(label_names))
    return runs_of(
        find_slices(path, format, request),
        {"model": model, "dataset": dataset, "split": split, "condition": condition, "train_set": train_set},
        gold,
        fallback_gold=fallback_gold,
        checkpoint=checkpoint,
        labels=labels,
        label_names=label_names,
        align=align,
        answer_metric=answer_metric,
    )


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
    answer_metric: AnswerMetric = "f1",
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
        answer_metric: See there.

    Raises:
        InputError: As for `read_runs`.
    """
    chosen = _at_checkpoint(_choose(found, asked), checkpoint)
    answers = read_answers(Path(gold)) if isinstance(gold, (str, os.PathLike)) else None
    if answers is not None:
        chosen = [_scored(part, answers, answer_metric, align) for part in chosen]
        gold = None
    return assemble(
        chosen,
        gold=None if gold is None else read_gold(gold),
        fallback_gold=None if fallback_gold is None else read_gold(fallback_gold),
        labels=labels,
        label_names=None if label_names is None else tuple(label_names),
        align=align,
    )


def list_runs(path: RunsPath, format: str = "auto", *, columns: Mapping[str, str] | None = None) -> pl.DataFrame:  # noqa: A002
    """Say what is there to read: a row for each model, dataset, split, condition and training set.

    Returns:
        Columns model, dataset, condition, split, train_set, n_runs, n_checkpoints, n_examples (of the first
        run), seeds (a list of names), format.

    Raises:
        InputError: Nothing is there, or a file cannot be read.
    """
    return list_slices(find_slices(path, format, Request(dict(columns or {}))))


def list_slices(found: Iterable[Slice]) -> pl.DataFrame:
    """The table of `list_runs`, of what `find_slices` found."""
    grouped: dict[tuple[Collection, str], list[Slice]] = {}
    for part in found:
        grouped.setdefault((part.collection, part.format), []).append(part)
    rows = [
        {
            "model": key.model,
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


def find_slices(path: RunsPath, format: str, request: Request) -> list[Slice]:  # noqa: A002
    """All runs at a path, named but not loaded.

    Raises:
        InputError: There is no such file, none is of a known format, or a file is damaged.
    """
    offered = adapters()
    if format != "auto":
        offered = tuple(adapter for adapter in offered if format == adapter.NAME)
        if not offered:
            names = ", ".join(adapter.NAME for adapter in adapters())
            raise InputError(f"there is no format {format!r} of runs", mend=f"known are {names}")
    paths = [Path(path)] if isinstance(path, (str, os.PathLike)) else [Path(item) for item in path]
    if not paths:
        raise InputError("no file or folder of runs was given")
    found: list[Slice] = []
    for place in paths:
        if not place.exists():
            raise InputError("there is no such file or folder", file=place, mend="check the path")
        if place.is_file():
            refuse_pickle(place)
        parts = _find(place, offered, replace(request, outright=place.is_file()), set())
        if not parts and (scores := kind_of_scores(place)):
            raise NoRunsError(
                f"{scores} here, but no predictions",
                file=place,
                mend="goldassay instability and runs show take scores alone; for all else save what Trainer.predict "
                "returns, predictions and label_ids, with numpy.savez"
                if "Trainer" in scores
                else "goldassay instability and runs show take scores alone; all else needs each run's predictions",
            )
        if not parts:
            raise NoRunsError(
                "no runs were recognized here",
                file=place,
                mend="name the column of predictions, scores or logits with columns={'prediction': NAME}"
                if place.is_file() or any(place.iterdir())
                else "it is empty: name the folder that holds them",
            )
        found.extend(parts)
    return _named_by_files(found)


def _named_by_files(found: list[Slice]) -> list[Slice]:
    """Take files that name neither model nor run, and whose own names hold no number, for as many models.

    bert.csv and esim.csv are two models; seed_1.csv and seed_2.csv are two runs of one, and so is a file alone.
    """
    by_collection: dict[Collection, set[int | str]] = {}
    for part in found:
        if part.collection.model == UNNAMED_MODEL and _is_named_by_file(part):
            by_collection.setdefault(part.collection, set()).add(part.seed)
    return [
        replace(part, collection=part.collection._replace(model=str(part.seed)))
        if len(by_collection.get(part.collection, ())) > 1 and _is_named_by_file(part)
        else part
        for part in found
    ]


def _is_named_by_file(part: Slice) -> bool:
    return isinstance(part.seed, str) and Path(part.file).name.startswith(part.seed) and not _RUN.search(part.seed)


def _find(place: Path, offered: Iterable[Any], request: Request, seen: set[Path]) -> list[Slice]:
    for adapter in offered:
        parts: list[Slice] | None = adapter.find(place, request)
        if parts is not None:
            return parts
    # A link may lead back to a folder above it, and two such make endlessly many paths: each folder is read once.
    if not place.is_dir() or (real := place.resolve()) in seen:
        return []
    seen.add(real)
    # What lies beside runs (weights, settings, logs) is passed over; a file named outright is not.
    inside = sorted(item for item in place.iterdir() if item.is_dir() or _SUFFIX.search(item.name))
    inside = [item for item in inside if not item.name.startswith((".", "_") if item.is_dir() else ".")]
    return [part for item in inside for part in _find(item, offered, request, seen)]


def _choose(found: list[Slice], asked: Mapping[str, str | None]) -> list[Slice]:
    chosen = found
    for field, want in asked.items():
        choices = sorted({getattr(part.collection, field) for part in chosen})
        word = field.replace("_", " ")
        if want is not None and field == "model" and set(want) & set("*?"):
            chosen = _as_one_model(chosen, want)
        elif want is not None:
            chosen = [part for part in chosen if getattr(part.collection, field) == want]
            if not chosen:
                raise InputError(f"there are no runs with {word} {want!r}", mend=f"there are {listing(choices, 8)}")
        elif len(choices) > 1:
            raise InputError(
                f"there are runs of {len(choices)} {word}s: {listing(choices, 12)}",
                mend=f"choose one with {field}=NAME",
            )
    return chosen


def _scored(part: Slice, answers: dict[str, list[str]], metric: AnswerMetric, align: Align) -> Slice:
    """The slice with its predicted answers scored when it is loaded."""

    def load() -> Columns:
        columns = part.load()
        return score_columns(columns, answers, metric=metric, skip_missing=align == "intersect", file=part.file)

    return replace(part, load=load)


def _as_one_model(slices: list[Slice], pattern: str) -> list[Slice]:
    """Take all models whose names match as runs of one, which is called by the pattern."""
    kept = [part for part in slices if fnmatchcase(part.collection.model, pattern)]
    if not kept:
        models = sorted({part.collection.model for part in slices})
        raise InputError(f"no model is called {pattern!r}", mend=f"there are {listing(models, 8)}")
    one_each = len({(part.collection, part.checkpoint) for part in kept}) == len(kept)
    return [
        replace(
            part,
            collection=part.collection._replace(model=pattern),
            seed=part.collection.model if one_each else f"{part.collection.model}/{part.seed}",
        )
        for part in kept
    ]


def _at_checkpoint(slices: list[Slice], checkpoint: int | str | None) -> list[Slice]:
    if checkpoint is None:
        return slices
    if checkpoint != "last":
        kept = [part for part in slices if str(part.checkpoint) == str(checkpoint)]
        if not kept:
            steps = list(dict.fromkeys(str(part.checkpoint) for part in slices))
            raise InputError(f"there is no checkpoint {checkpoint!r}", mend=f"there are {listing(steps, 8)}")
        return kept
    last: dict[int | str, Slice] = {}
    for part in slices:
        before = last.get(part.seed)
        if before is None or _later(part.checkpoint, before.checkpoint):
            last[part.seed] = part
    # Last checkpoints of runs that stopped at different steps are one checkpoint, "last".
    return [replace(part, checkpoint="last") for part in last.values()]


def _later(step: int | str | None, other: int | str | None) -> bool:
    if isinstance(step, int) and isinstance(other, int):
        return step > other
    return str(step) > str(other)
