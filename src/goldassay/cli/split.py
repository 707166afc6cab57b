"""`goldassay split`: part a dataset such that nothing of the test part was seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    Columns,
    Config,
    Format,
    Out,
    Quiet,
    Seed,
    SplitBy,
    of_option,
    say_settings,
)


@app.command(short_help="Split a dataset such that no sentence is in both parts.")
def split(
    data: Annotated[
        str, typer.Argument(metavar="FILE", help="A dataset: a file, a folder, or a name on the Hugging Face hub.")
    ],
    disjoint: Annotated[
        str | None,
        of_option("disjoint", metavar="ROLE,...", group=METHOD),
    ] = None,
    split_by: SplitBy = None,
    share: Annotated[float | None, of_option("share", metavar="S", group=METHOD)] = None,
    seed: Seed = None,
    repeats: Annotated[
        int,
        of_option("repeats", metavar="R", group=METHOD),
    ] = 1,
    out: Out = Path("goldassay-split"),
    columns: Columns = None,
    file_format: Format = "auto",
    json_file: JsonFile = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Split a dataset into train.jsonl and test.jsonl such that no sentence and no group is in both.

    Sentences are compared without case and with single spaces, whatever their role, and near copies count as the same.
    A group is a value of a column given as group, or of --split-by: a writer, a batch of rewritten rows. Rows that hang
    together through shared sentences or groups stay together where they can; where they cannot, the rows that would
    bridge the parts are dropped, and counted. With --repeats the splits lie in seed_0, seed_1, ...: what a model scores
    on each shows how much of a score is luck in splitting.
    """
    from goldassay.core.numbers import count
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data, with_seed
    from goldassay.data import read_dataset
    from goldassay.data.splits import columns_to_split_by
    from goldassay.data.splitting import split as run
    from goldassay.questions.artifacts.output import as_json

    settings = with_data(with_seed(load_settings(config), seed), split_by=split_by, test_share=share)
    roles = None if disjoint is None else [role.strip() for role in disjoint.split(",")]
    steps = Steps(quiet)
    with steps.step("reading the data"):
        dataset = read_dataset(data, format=file_format, columns=columns)
    with steps.step("splitting") as progress:
        result = run(
            dataset,
            roles,
            settings.data.test_share,
            range(settings.seed, settings.seed + repeats),
            columns_to_split_by(settings.data.split_by),
            progress,
        )
    paths = result.save(out)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    say_settings(settings)
    for number, (train, test) in result.parts.items():
        lost = len(dataset) - len(train) - len(test)
        typer.echo(f"seed {number}: {count(len(train))} train, {count(len(test))} test, {count(lost)} dropped")
    for kept in dict.fromkeys(train.provenance.kept_together for train, _ in result.parts.values()):
        typer.echo(f"kept together: {', '.join(('rows with the same sentence', *kept))}")
    for path in paths:
        typer.echo(path)
