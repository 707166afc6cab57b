"""`goldassay split`: part a dataset such that nothing of the test part was seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import Quiet, SplitBy


@app.command(short_help="Split a dataset such that no sentence is in both parts.")
def split(
    data: Annotated[
        str, typer.Argument(metavar="FILE", help="A dataset: a file, a folder, or a name on the Hugging Face hub.")
    ],
    disjoint: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE,...", help="Texts that may not be in both parts: premise,hypothesis.  [default: all]"
        ),
    ] = None,
    split_by: SplitBy = None,
    share: Annotated[float, typer.Option(metavar="S", help="Share of the rows that the test part gets.")] = 0.2,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw; of several the first.")] = 0,
    repeats: Annotated[
        int, typer.Option(metavar="R", help="How many splits to draw, with seeds one after the other.")
    ] = 1,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the files; made if it is not there.")
    ] = Path("goldassay-split"),
    columns: Annotated[
        str | None,
        typer.Option(metavar="ROLE=NAME,...", help="Which column plays which role, where the names do not say it."),
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help="The format of the data, where its content does not say it.")
    ] = "auto",
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Split a dataset into train.jsonl and test.jsonl such that no sentence and no group is in both.

    Sentences are compared without case and with single spaces, whatever their role, and near copies count as the same.
    A group is a value of a column given as group, or of --split-by: a writer, a batch of rewritten rows. Rows that hang
    together through shared sentences or groups stay together where they can; where they cannot, the rows that would
    bridge the parts are dropped, and counted. With --repeats the splits lie in seed_0, seed_1, ...: what a model scores
    on each shows how much of a score is luck in splitting.
    """
    from goldassay.core.errors import InputError
    from goldassay.core.numbers import count
    from goldassay.core.progress import Steps
    from goldassay.data import read_dataset
    from goldassay.data.splits import columns_to_split_by
    from goldassay.data.splitting import split as run
    from goldassay.questions.artifacts.output import as_json

    if repeats < 1:
        raise InputError(f"--repeats is {repeats}", mend="give 1 or more")
    roles = None if disjoint is None else [role.strip() for role in disjoint.split(",")]
    steps = Steps(quiet)
    with steps.step("reading the data"):
        dataset = read_dataset(data, format=file_format, columns=columns)
    with steps.step("splitting") as progress:
        result = run(dataset, roles, share, range(seed, seed + repeats), columns_to_split_by(split_by), progress)
    paths = result.save(out)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    for number, (train, test) in result.parts.items():
        lost = len(dataset) - len(train) - len(test)
        typer.echo(f"seed {number}: {count(len(train))} train, {count(len(test))} test, {count(lost)} dropped")
    for kept in dict.fromkeys(train.provenance.kept_together for train, _ in result.parts.values()):
        typer.echo(f"kept together: {', '.join(('rows with the same sentence', *kept))}")
    for path in paths:
        typer.echo(path)
