"""Which runs a command was asked for, and how it is to read them. Light, so that the command line may import it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.runs.assembly import Align


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

    def said(self) -> dict[str, Any]:
        """What was asked for, for the report's settings; of files the names alone, as elsewhere in it."""
        said = {key: value for key, value in asdict(self).items() if value}
        if self.gold:
            said["gold"] = {name or "all": Path(path).name for name, path in self.gold.items()}
        return said


def parse_gold(values: Sequence[str]) -> dict[str, str]:
    """Take `FILE` or `DATASET=FILE`, each any number of times, apart.

    Raises:
        InputError: A dataset is given two files.
    """
    gold: dict[str, str] = {}
    for value in values:
        name, path = split_named_path(value)
        if name in gold:
            raise InputError(
                f"two files of right labels are given for {f'the dataset {name}' if name else 'all datasets'}",
                mend="name the dataset of each: --test DATASET=FILE",
            )
        gold[name] = path
    return gold
