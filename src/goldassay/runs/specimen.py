"""A specimen on disk: its tables, what runs of a made-up model answered on them, and its certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.files import written_together
from goldassay.data.specimen import Specimen, make_specimen
from goldassay.data.specimen.rows import LABELS, PARTS
from goldassay.runs.store import identity_of, write_answers

if TYPE_CHECKING:
    import os


MODEL = "made-up"


def write_specimen(
    directory: str | os.PathLike[str],
    size: int = 20_000,
    seed: int = 0,
    clean: bool = False,
    *,
    test_size: int | None = None,
) -> list[Path]:
    """Write train.jsonl, dev.jsonl, test.jsonl, elsewhere.jsonl, runs/ and certificate.json, all or none.

    The folder `runs` is a store (`goldassay.runs.store`) of what ten runs answered on test and elsewhere. The same
    arguments write the same bytes; see `goldassay.data.specimen.make_specimen` for what they mean.

    Returns:
        The paths of the files and of the folder.

    Raises:
        InputError: A size is too small for the flaws or too large to make, or the seed is negative.
        OutputError: The folder cannot be written to.
    """
    specimen = make_specimen(size, seed, clean, test_size=test_size)
    with written_together(directory) as aside:
        for part in PARTS:
            table: pl.DataFrame = getattr(specimen, part)
            table.write_ndjson(aside / f"{part}.jsonl")
        write_specimen_runs(specimen, aside / "runs")
        text = json.dumps(specimen.certificate, indent=2)
        (aside / "certificate.json").write_text(text + "\n", encoding="utf-8")
    return [Path(directory) / name for name in (*(f"{part}.jsonl" for part in PARTS), "runs", "certificate.json")]


def write_specimen_runs(specimen: Specimen, directory: str | os.PathLike[str]) -> None:
    """Write what the runs answered on test and elsewhere, a file a run and dataset.

    Raises:
        OutputError: The folder cannot be written to.
    """
    for part, answers in specimen.answers.items():
        table: pl.DataFrame = getattr(specimen, part)
        shared = table.select(
            pl.col("id").alias("example_id"),
            "label",
            pl.col("topic").alias("group_topic"),
            pl.col("group").alias("group_group"),
        )
        for run, predicted in enumerate(answers.predictions):
            identity = identity_of(
                model=MODEL,
                seed=run,
                train_set="train",
                condition="paired",
                checkpoint=None,
                dataset=part,
                split="",
                label_names=LABELS,
            )
            columns = {**shared.to_dict(), "prediction": pl.Series(predicted, dtype=pl.String)}
            write_answers(columns, identity, directory)
