"""`goldassay split`: a dataset without a test part, parted as often as seeds are given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.core.report_seal import as_json
from goldassay.core.results import to_plain
from goldassay.data.splits import split_disjoint

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from goldassay.data import Dataset

PARTS = ("train", "test")


@dataclass(frozen=True)
class Splits:
    """One dataset, split by each of several seeds.

    Attributes:
        source: What was split.
        disjoint: The texts that no two parts share, near copies included.
        split_by: Columns of which no value is in two parts.
        share: Of the rows that the test part was to get.
        parts: By seed, the training and the test part.
    """

    source: Dataset
    disjoint: tuple[str, ...]
    split_by: tuple[str, ...]
    share: float
    parts: dict[int, tuple[Dataset, Dataset]]

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        provenance = self.source.provenance
        return {
            "files": [to_plain(file) for file in provenance.files],
            "n_examples": len(self.source),
            "disjoint": list(self.disjoint),
            "split_by": list(self.split_by),
            "share": self.share,
            "splits": [
                {"seed": seed, **{name: _described(part) for name, part in zip(PARTS, parts, strict=True)}}
                for seed, parts in self.parts.items()
            ],
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write train.jsonl and test.jsonl, of several seeds each into seed_N, and split.json that tells of them.

        Raises:
            OutputError: The folder cannot be written to.
            InputError: A column holds bytes, such as pictures, which JSON lines cannot hold.
        """
        for column in next(iter(self.parts.values()))[0].examples:
            # Also within lists and structs; the table engine panics at them.
            if "Binary" in str(column.dtype):
                raise InputError(
                    "it holds bytes, which JSON lines cannot hold",
                    column=column.name,
                    mend="leave the column out of the file, or write its text",
                )
        names = []
        with written_together(directory) as folder:
            for seed, parts in self.parts.items():
                place = Path(f"seed_{seed}") if len(self.parts) > 1 else Path()
                (folder / place).mkdir(exist_ok=True)
                for name, part in zip(PARTS, parts, strict=True):
                    names.append(place / f"{name}.jsonl")
                    part.examples.drop("split", strict=False).write_ndjson(folder / names[-1])
            (folder / "split.json").write_text(as_json(to_plain(self.to_dict())), encoding="utf-8")
        return [Path(directory) / name for name in (*names, Path("split.json"))]


def split(
    dataset: Dataset,
    disjoint: Sequence[str] | None = None,
    share: float = 0.2,
    seeds: Sequence[int] = (0,),
    by: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Splits:
    """Split a dataset such that no sentence and no group stands in both parts, once for each seed.

    A score moves with the luck of the split; several splits show by how much.

    Raises:
        InputError: A text is not there, the share is out of range, a seed is negative or given twice, the dataset has
            parts of its own, or it cannot be split.
    """
    if len(dataset.parts) > 1:
        raise InputError(
            f"it has parts of its own: {', '.join(dataset.parts)}",
            file=dataset.source,
            mend="use them, or give a file with one of them alone",
        )
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise InputError(f"the seeds are {list(seeds)}", mend="give whole numbers from 0, each once")
    parts = {}
    for done, seed in enumerate(seeds, 1):
        parts[seed] = split_disjoint(dataset, share, seed, roles=disjoint, by=by)
        progress(done, len(seeds))
    columns = tuple(dataset.cluster_columns if by is None else by)
    return Splits(dataset, tuple(disjoint or dataset.text_columns), columns, share, parts)


def _described(part: Dataset) -> dict[str, Any]:
    labels = part.examples["label"].cast(pl.String) if part.label_names else None
    return {
        "n_examples": len(part),
        "labels": {} if labels is None else {name: int((labels == name).sum()) for name in part.label_names},
        "dropped": dict(part.provenance.dropped),
        "kept_together": list(part.provenance.kept_together),
    }
