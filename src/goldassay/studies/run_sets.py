"""Every set of runs that some paths hold, read one by one, with names that tell them apart."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.errors import InputError
from goldassay.instability import summarize_scores
from goldassay.results import to_plain
from goldassay.runs import list_runs, read_runs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.runs import Runs
    from goldassay.runs.assembly import Align

_KEYS = ("dataset", "condition", "split", "train_set")


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
    sets = _chosen(list_runs(list(paths), choice.format, columns=choice.columns).to_dicts(), choice)
    datasets = sorted({row["dataset"] for row in sets})
    unknown = [name for name in choice.gold if name and name not in datasets]
    if unknown:
        raise InputError(
            f"right labels are given for the dataset {unknown[0]!r}, of which there are no runs",
            mend=f"there are runs on {', '.join(datasets)}",
        )
    for row in sets:
        yield read_runs(
            list(paths),
            choice.format,
            gold=choice.gold_of(row["dataset"]),
            checkpoint=choice.checkpoint,
            columns=choice.columns,
            labels=choice.labels,
            label_names=choice.label_names,
            align=choice.align,
            **row,
        )


def read_run_set(paths: Sequence[str | os.PathLike[str]], choice: RunChoice) -> Runs:
    """Read the runs of one model on one dataset.

    Raises:
        InputError: As for `read_run_sets`, or there are several sets (the line names them).
    """
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


def _chosen(found: list[dict[str, Any]], choice: RunChoice) -> list[dict[str, Any]]:
    """What tells the sets apart, of those that were asked for, each once."""
    wanted = {
        key: value
        for key in ("model", *_KEYS)
        if (value := getattr(choice, key)) is not None and not (key == "model" and _is_pattern(value))
    }
    kept = [row for row in found if all(row[key] == value for key, value in wanted.items())]
    pattern = choice.model if _is_pattern(choice.model) else None
    if pattern is not None:
        kept = [{**row, "model": pattern} for row in kept if fnmatchcase(row["model"], pattern)]
    if not kept:
        asked = ", ".join(f"{key.replace('_', ' ')} {value!r}" for key, value in _asked(choice).items())
        there = sorted({" on ".join((row["model"], row["dataset"])) for row in found})
        shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
        raise InputError(f"there are no runs with {asked}", mend=f"there are {shown}")
    return list(
        {tuple(row[k] for k in ("model", *_KEYS)): {k: row[k] for k in ("model", *_KEYS)} for row in kept}.values()
    )


def _asked(choice: RunChoice) -> dict[str, str]:
    return {key: getattr(choice, key) for key in ("model", *_KEYS) if getattr(choice, key) is not None}


def _is_pattern(name: str | None) -> bool:
    return name is not None and bool(set(name) & set("*?"))


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
