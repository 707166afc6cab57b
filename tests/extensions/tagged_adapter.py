"""A format of runs: a line "#run MODEL SEED DATASET", then a line "ID GOLD PREDICTION" an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.runs.run_parts import Collection, Columns, Request, Slice

if TYPE_CHECKING:
    from pathlib import Path

NAME, PRIORITY = "tagged", 10


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by how it begins."""
    if not path.is_file() or path.open("rb").read(5) != b"#run ":
        return None
    first, *lines = path.read_text("utf-8").splitlines()
    _, model, seed, dataset = first.split()

    def load() -> Columns:
        return Columns(*pl.DataFrame([line.split() for line in lines], ["id", "gold", "said"], orient="row"))

    run = Collection(model, dataset, "test", "paired", "")
    return [Slice(run, int(seed), None, len(lines), str(path), NAME, load)]
