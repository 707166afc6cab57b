"""`goldassay overlap`: which items of a test set stand in a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    DATA,
    METHOD,
    AlignOption,
    Columns,
    Config,
    DatasetName,
    ExampleClusters,
    Field,
    Format,
    OptionalOut,
    Quiet,
    RequiredCorpusPaths,
    RunPaths,
    Scheduler,
    Seed,
    of_option,
    say_settings,
)
from goldassay.cli.report_files import save_report

if TYPE_CHECKING:
    from collections.abc import Iterator


@app.command(short_help="Search training data for the items of a test set.")
def overlap(
    test: Annotated[str, typer.Argument(metavar="TEST", help="The test set: a file, a folder, or a name on the hub.")],
    corpus: RequiredCorpusPaths,
    field: Field = "text",
    n: Annotated[int, of_option("n", "--n", metavar="N", group=METHOD)] = 13,
    near_copies: Annotated[bool, of_option("near_copies", group=METHOD)] = False,
    runs: RunPaths = None,
    board: Annotated[str | None, of_option("board", metavar="TABLE", group=DATA)] = None,
    dataset: DatasetName = None,
    align: AlignOption = "exact",
    scheduler: Scheduler = None,
    skip_broken: Annotated[bool, of_option("skip_broken", group=DATA)] = False,
    columns: Columns = None,
    clusters: ExampleClusters = None,
    file_format: Format = "auto",
    out: OptionalOut = None,
    json_file: JsonFile = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Search training data for the items of a test set: was it seen in training?

    Reads the corpus once, from end to end, on all cores (with --scheduler on many machines), and says of each item how
    much of it stands in one document, and whether its answer follows. Memory is that of the test set, however large the
    corpus is. With -o the parts that are done are kept, so that a search that was interrupted goes on. Paraphrases and
    translations are not found.

    \b
      goldassay overlap test.jsonl --corpus train.jsonl --field question+answer
      goldassay overlap test.jsonl --corpus corpus/ -o overlap
    """
    import json

    from goldassay.core.settings import with_data, with_seed
    from goldassay.questions.gating import load_settings
    from goldassay.questions.overlap.study import SearchChoice, refuse_broken, study_overlap

    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    choice = SearchChoice(
        field, n, skip_broken, None if out is None else out / "shards", runs or None, dataset, scheduler, near_copies,
        board, align,
    )  # fmt: skip
    report, found = study_overlap(
        test, corpus, choice, settings, columns=columns, file_format=file_format, quiet=quiet
    )  # fmt: skip
    page = None if out is None else save_report(report, out, None, latex=False)
    document = report.to_dict()
    if json_file is not None:
        write_json(json_file, json.dumps(document["overlap"], ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        for line in _lines(document):
            typer.echo(line)
        if page is not None:
            typer.echo(page)
    refuse_broken(found, skip_broken=skip_broken)


def _lines(document: dict[str, Any]) -> Iterator[str]:
    found, verdict = document["overlap"], document["verdicts"]["overlap"]
    yield f"overlap: {verdict['verdict']}"
    yield f"- {verdict['evidence']}"
    for row in found["kinds"]:
        if row["n"]:
            yield f"{row['n']:>8,}  {row['kind']}"
    for said in (*found["sentences"], *found["notes"]):
        yield f"- {said}"
