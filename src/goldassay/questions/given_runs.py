"""Runs that were handed in, held against the test set that is audited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.runs import list_runs, read_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.data import Dataset
    from goldassay.runs import Runs


def read_given_runs(paths: Sequence[str | Path], test: Dataset) -> tuple[list[Runs], tuple[str, ...]]:
    """Read every model, dataset and condition that the paths hold, and check it against the test set.

    Runs on the test set's examples get its groups, and its labels where they bring none. Runs on other examples are
    measured by their own labels.

    Returns:
        The runs, and sentences for the reader on what is not as one would expect.

    Raises:
        InputError: A path cannot be read, its examples do not fit together, or runs on the test set's examples
            bring labels that differ from the test set's.
    """
    found: list[Runs] = []
    remarks: list[str] = []
    for path in paths:
        for row in list_runs(path).iter_rows(named=True):
            choice = {key: row[key] for key in ("model", "dataset", "condition", "split", "train_set")}
            runs = read_runs(path, fallback_gold=test, checkpoint="last", **choice)
            held, remark = _held_against(runs, test, path)
            found.append(held)
            remarks += [each for each in (remark, _unknown_labels(held, test)) if each]
    return found, tuple(dict.fromkeys(remarks))


def _held_against(runs: Runs, test: Dataset, path: str | Path) -> tuple[Runs, str]:
    place = {str(example): row for row, example in enumerate(test.examples["example_id"].to_list())}
    rows = np.array([place.get(str(example), -1) for example in runs.example_ids.tolist()])
    if (rows < 0).any():
        n = int((rows < 0).sum())
        return runs, (
            f"{n:,} of the {rows.size:,} examples of {runs.model} on {runs.dataset} are not in the test set: these "
            f"runs are measured by labels of their own."
        )
    if runs.gold is not None:
        own = np.array(runs.label_names)[runs.gold]
        differ = own != test.examples["label"].to_numpy()[rows]
        if differ.any():
            first = runs.example_ids[int(differ.argmax())]
            raise InputError(
                f"the labels of {runs.model} on {runs.dataset} differ from the test set's in {int(differ.sum()):,} of "
                f"{rows.size:,} examples, first {first}",
                file=path,
                mend="give runs on the test set, or leave their label column out",
            )
    groups = {name: test.examples[name].cast(str).to_numpy()[rows].astype(np.str_) for name in test.groups}
    return replace(runs, groups={**groups, **runs.groups}), ""


def _unknown_labels(runs: Runs, test: Dataset) -> str:
    if runs.predictions is None:
        return ""
    unknown = [code for code, name in enumerate(runs.label_names) if name not in test.label_names]
    n = int(np.isin(runs.predictions, unknown).sum())
    if not n:
        return ""
    names = ", ".join(repr(runs.label_names[code]) for code in unknown[:3])
    return f"{runs.model} predicts {names}, no label of the test set, {n:,} times: counted as wrong."
