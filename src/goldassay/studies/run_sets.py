"""Every set of runs that some paths hold, read one by one, with names that tell them apart."""

from __future__ import annotations

import dataclasses
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.errors import InputError
from goldassay.instability import summarize_scores
from goldassay.results import to_plain
from goldassay.runs import read_runs
from goldassay.runs.adapters import stored
from goldassay.runs.reading import find_slices
from goldassay.runs.slices import Collection, Request

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.runs import Runs
    from goldassay.runs.assembly import Align
    from goldassay.runs.slices import Slice


@dataclass(frozen=True)
class RunChoice:
    """Which runs to take, and how to read them; the fields mean what they mean for `read_runs`.

    Attributes:
        format: Name of an adapter, or "auto".
        model: Take this model only; with * or ?, all that match, as runs of one.
        dataset: Take this dataset only.
        condition: Take this condition only.
        split: Take this part only.
        train_set: Take runs trained on this only.
        checkpoint: One checkpoint of each run, or "last"; None takes all.
        columns: {role: column name}.
        labels: {name in the files: label}.
        label_names: All labels in order.
        align: "exact", "intersect" or "position".
        gold: {dataset: path of its right labels}; "" stands for every dataset that is not named.
    """

    format: str = "auto"
    model: str | None = None
    dataset: str | None = None
    condition: str | None = None
    split: str | None = None
    train_set: str | None = None
    checkpoint: int | str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    label_names: Sequence[str] | None = None
    align: Align = "exact"
    gold: Mapping[str, str] = field(default_factory=dict)

    def gold_of(self, dataset: str) -> str | None:
        """The file of right labels for a dataset, if one was given."""
        return self.gold.get(dataset, self.gold.get(""))


def parse_gold(values: Sequence[str]) -> dict[str, str]:
    """Take `FILE` or `DATASET=FILE`, each any number of times, apart.

    Raises:
        InputError: A dataset is given two files.
    """
    gold: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or Path(value).exists():
            name, path = "", value
        if name in gold:
            raise InputError(
                f"two files of right labels are given for {f'the dataset {name}' if name else 'all datasets'}",
                mend="name the dataset of each: --gold DATASET=FILE",
            )
        gold[name] = path
    return gold


def read_run_sets(paths: Sequence[str | os.PathLike[str]], choice: RunChoice) -> Iterator[Runs]:
    """Read the runs of every model, dataset and condition at the paths, one after the other.

    Paths are taken together: the files of one run each make one set.

    Raises:
        InputError: Nothing is there or cannot be read, nothing there is what was asked for, or the runs of a set do
            not fit together.
    """
    with _placed(paths):
        slices = find_slices(list(paths), choice.format, Request(dict(choice.columns)))
        sets = _chosen([part.collection for part in slices], choice)
        _check_gold(choice, {key.dataset for key in sets})
        for key in sets:
            yield read_runs(
                _files_of(slices, key) or list(paths),
                choice.format,
                gold=choice.gold_of(key.dataset),
                checkpoint=choice.checkpoint,
                columns=choice.columns,
                labels=choice.labels,
                label_names=choice.label_names,
                align=choice.align,
                model=key.model,
                dataset=key.dataset,
                condition=key.condition,
                split=key.split,
                train_set=key.train_set,
            )


def read_run_set(paths: Sequence[str | os.PathLike[str]], choice: RunChoice) -> Runs:
    """Read the runs of one model on one dataset.

    Raises:
        InputError: As for `read_run_sets`, or there are several sets (the line names them).
    """
    with _placed(paths):
        return read_runs(
            list(paths),
            choice.format,
            choice.model,
            choice.dataset,
            choice.condition,
            choice.gold_of(choice.dataset or ""),
            split=choice.split,
            train_set=choice.train_set,
            checkpoint=choice.checkpoint,
            columns=choice.columns,
            labels=choice.labels,
            label_names=choice.label_names,
            align=choice.align,
        )


@contextmanager
def _placed(paths: Sequence[str | os.PathLike[str]]) -> Iterator[None]:
    """Name the paths in an error that names no file: it is of what was read from them together."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        shown = ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
        raise InputError(error.problem, file=shown, row=error.row, column=error.column, mend=error.mend) from error


def _check_gold(choice: RunChoice, datasets: set[str]) -> None:
    unknown = [name for name in choice.gold if name and name not in datasets]
    if unknown:
        raise InputError(
            f"right labels are given for the dataset {unknown[0]!r}, of which there are no runs",
            mend=f"there are runs on {', '.join(sorted(datasets))}",
        )


def _files_of(slices: Sequence[Slice], key: Collection) -> list[str]:
    """The files of a set in the store's own format, so that it alone is opened; none for other formats."""
    if any(part.format != stored.NAME for part in slices):
        return []
    return list(dict.fromkeys(part.file for part in slices if _matches(part.collection, key._asdict())))


def _chosen(found: Sequence[Collection], choice: RunChoice) -> list[Collection]:
    """What tells the sets apart, of those that were asked for, each once."""
    asked = _asked(choice)
    rows = sorted(set(found))
    kept = [row for row in rows if _matches(row, asked)]
    if not kept:
        wanted = ", ".join(f"{key.replace('_', ' ')} {value!r}" for key, value in asked.items())
        there = sorted({f"{row.model} on {row.dataset}" for row in rows})
        shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
        raise InputError(f"there are no runs with {wanted}", mend=f"there are {shown}")
    if "model" in asked:
        kept = [row._replace(model=asked["model"]) for row in kept]
    return list(dict.fromkeys(kept))


def _matches(row: Collection, asked: Mapping[str, str]) -> bool:
    """Whether a set is what was asked for; the model may be asked for by a pattern."""
    return all(
        _is_like(row.model, value) if key == "model" else getattr(row, key) == value for key, value in asked.items()
    )


def _is_like(model: str, asked: str) -> bool:
    return fnmatchcase(model, asked) if set(asked) & set("*?") else model == asked


def _asked(choice: RunChoice) -> dict[str, str]:
    return {key: value for key in Collection._fields if (value := getattr(choice, key)) is not None}


def told_apart(sets: Sequence[Runs]) -> list[Runs]:
    """Add the split to a dataset's name, and the training set to a model's, where there are several of them."""
    splits = Counter(name for name, _ in {(runs.dataset, runs.split) for runs in sets})
    trained = Counter(name for name, _ in {(runs.model, runs.train_set) for runs in sets})
    return [
        dataclasses.replace(
            runs,
            dataset=f"{runs.dataset}/{runs.split}" if splits[runs.dataset] > 1 and runs.split else runs.dataset,
            model=f"{runs.model}@{runs.train_set}" if trained[runs.model] > 1 and runs.train_set else runs.model,
        )
        for runs in sets
    ]


def short_names(sets: Sequence[Runs]) -> dict[tuple[str, str, str], str]:
    """What to call each set among the others, by (model, dataset, condition): its dataset, and what else differs."""
    keys = [(runs.model, runs.dataset, runs.condition) for runs in sets]
    differs = [len({key[i] for key in keys}) > 1 for i in range(3)]
    shown = (differs[0], True, differs[2])
    return {key: " · ".join(part for part, show in zip(key, shown, strict=True) if show) for key in keys}


def describe_set(runs: Runs) -> dict[str, Any]:
    """What a set of runs holds, and its scores, as plain data. Scores are those of the last checkpoint."""
    final = runs.final().scores
    summary = summarize_scores(final) if runs.n_runs > 1 else None
    return to_plain(
        {
            "model": runs.model,
            "dataset": runs.dataset,
            "condition": runs.condition,
            "split": runs.split,
            "train_set": runs.train_set,
            "n_runs": runs.n_runs,
            "n_checkpoints": runs.n_checkpoints,
            "n_examples": runs.n_examples,
            "seeds": runs.seeds,
            "checkpoints": runs.checkpoints,
            "label_names": runs.label_names,
            "groups": {name: len(set(values.tolist())) for name, values in runs.groups.items()},
            "holds": [name for name in ("gold", "predictions", "logits") if getattr(runs, name) is not None],
            "run_means": final.mean(axis=1),
            "mean": final.mean(),
            "sd": None if summary is None else summary.sd,
            "sd_interval": None if summary is None else summary.sd_interval,
        }
    )
