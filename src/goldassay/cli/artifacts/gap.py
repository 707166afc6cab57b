"""`goldassay artifacts gap`."""

from __future__ import annotations

from typing import Annotated

import typer

from goldassay.cli.artifacts.group import artifacts_app, plain_warnings, say, say_paths
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    RUNS,
    AlignOption,
    Columns,
    Condition,
    Config,
    DatasetName,
    ExampleClusters,
    Grades,
    Labels,
    Models,
    OptionalOut,
    Quiet,
    RequiredRunPaths,
    Seed,
    Test,
    of_option,
    say_settings,
)
from goldassay.cli.run_options import parse_labels


@artifacts_app.command(short_help="Accuracy of any runs on full, easy and hard, and the gap.")
def gap(
    subsets: Annotated[
        list[str],
        typer.Argument(
            metavar="SUBSETS",
            help="The classes: subsets.parquet of artifacts assign, or any table with example_id; or files of rows "
            "without ids, as subsets are published: easy=FILE hard=FILE --test FILE.",
        ),
    ],
    runs: RequiredRunPaths,
    model: Models = None,
    condition: Condition = None,
    dataset: DatasetName = None,
    names: Annotated[
        str | None,
        of_option("names", metavar="REGEX", group=RUNS),
    ] = None,
    test: Test = None,
    columns: Columns = None,
    labels: Labels = None,
    align: AlignOption = "exact",
    grades: Grades = None,
    clusters: ExampleClusters = None,
    class_column: Annotated[
        str,
        of_option("class", metavar="COLUMN", group=METHOD),
    ] = "class",
    out: OptionalOut = None,
    json_file: JsonFile = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Accuracy of any runs on full, easy and hard examples, and the gap between the last two.

    A row a model, condition and training set, with 95 % intervals over examples and runs. A model that reads more than
    patterns has a small gap; hypothesis-only models have the largest. A run that stands in two files, as correctness
    and as predictions, is counted once. Rows that were published without ids are found in --test, which also has the
    right labels, or SQuAD's answers, of runs without their own.
    """
    from goldassay.core.numbers import bounds, count, points
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data, with_seed
    from goldassay.questions.artifacts.gaps import measure_gaps
    from goldassay.questions.artifacts.output import as_json

    steps = Steps(quiet)
    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    with plain_warnings(), steps.step("measuring gaps") as progress:
        result = measure_gaps(
            _files(subsets),
            runs,
            test=test,
            columns=columns,
            names=names,
            models=model or (),
            condition=condition,
            dataset=dataset,
            class_column=class_column,
            clusters=settings.data.clusters,
            labels=parse_labels(labels),
            align=align,
            grades=grades,
            seed=settings.seed,
            progress=progress,
        )
    paths = [] if out is None else result.save(out)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    say_settings(settings)
    rows = result.table.to_dicts()
    sizes = result.to_dict()["n_examples"]
    typer.echo(", ".join(f"{count(n)} {name}" for name, n in sizes.items()))
    figures = ("full", "easy", "hard", "gap")
    # Named only where they tell rows apart.
    keys = ["model", "condition"] + [key for key in ("dataset", "train_set") if len({row[key] for row in rows}) > 1]
    table = [[*(key.replace("_", " ") for key in keys), "runs", *figures]]
    for row in rows:
        cells = [f"{points(row[key])} {bounds(row[f'{key}_low'], row[f'{key}_high'])}".rstrip() for key in figures]
        table.append([*(row[key] for key in keys), count(row["n_runs"]), *cells])
    say(table, left=len(keys))
    for note in result.notes:
        typer.echo(f"— {note}")
    for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"]):
        typer.echo(f"— {reason}")
    say_paths(paths)


def _files(subsets: list[str]) -> str | dict[str, str]:
    """One table, or the file of each class."""
    from goldassay.core.errors import InputError

    pairs = [each.partition("=") for each in subsets]
    if len(subsets) == 1 and not (pairs[0][1] and pairs[0][0] in ("easy", "hard")):
        return subsets[0]
    unnamed = next((each for each, (_, equals, path) in zip(subsets, pairs, strict=True) if not (equals and path)), "")
    named = {name: path for name, _, path in pairs}
    if unnamed or len(named) < len(pairs):
        raise InputError(
            f"{unnamed!r} does not say which class it holds" if unnamed else "a class is named twice",
            mend="give one table with example_id and class, or easy=FILE hard=FILE",
        )
    return named
