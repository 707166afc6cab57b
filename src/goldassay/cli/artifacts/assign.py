"""`goldassay artifacts assign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.artifacts.group import (
    artifacts_app,
    plain_warnings,
    say,
    say_dropped_of,
    say_paths,
)
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    Columns,
    Config,
    ExampleClusters,
    Format,
    MaxGap,
    MaxTokens,
    MinCount,
    Out,
    Patterns,
    Q,
    Quiet,
    RequiredTest,
    Text,
    Threshold,
    TokenizerOption,
    of_option,
    say_settings,
)


@artifacts_app.command(short_help="Part a test set into easy, hard, conflicting and uncovered examples.")
def assign(
    test: RequiredTest,
    train: Annotated[
        str | None, typer.Argument(metavar="[TRAIN]", help="Training data, to mine; not needed with --patterns.")
    ] = None,
    threshold: Threshold = None,
    patterns: Patterns = None,
    out: Out = Path("goldassay-subsets"),
    q: Q = None,
    by_classifier: Annotated[
        bool,
        of_option("by_classifier", group=METHOD),
    ] = False,
    max_tokens: MaxTokens = None,
    max_gap: MaxGap = None,
    min_count: MinCount = None,
    tokenizer: TokenizerOption = None,
    text: Text = None,
    columns: Columns = None,
    clusters: ExampleClusters = None,
    file_format: Format = "auto",
    json_file: JsonFile = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Part a test set into easy, hard, conflicting and uncovered examples.

    With L the labels of the patterns that an example holds, mined on training data: easy if L is its label alone,
    hard if its label is not in L, conflicting if it is one of several, uncovered if L is empty. Writes subsets (each
    example with its class and the patterns that decided it) and patterns, as Parquet and CSV, and a report with a
    sample of each class, the pattern marked that decided most.
    """
    from goldassay.core.numbers import count, percent
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data
    from goldassay.questions.artifacts.inputs import bounds_of, cut, load, patterns_for
    from goldassay.questions.artifacts.output import as_json
    from goldassay.questions.artifacts.reports import document_of_subsets
    from goldassay.questions.artifacts.subsets import assign as run
    from goldassay.questions.example_clusters import check_cluster_columns

    steps = Steps(quiet)
    settings = with_data(load_settings(config), clusters=clusters)
    threshold = settings.artifacts.threshold if threshold is None else threshold
    with plain_warnings():
        with steps.step("reading the data"):
            evaluation = load(test, file_format=file_format, columns=columns, part="test")
            training = None if train is None else load(train, file_format=file_format, columns=columns)
            check_cluster_columns(settings.data.clusters, training, evaluation)
        with steps.step("reading the patterns" if patterns else "mining patterns") as progress:
            bounds = bounds_of(settings, max_tokens, max_gap, min_count, tokenizer, text)
            kept = cut(patterns_for(evaluation, training, patterns, bounds, progress), threshold, q)
        with steps.step("classing the test set") as progress:
            result = run(evaluation, kept, train=training, by_classifier=by_classifier, progress=progress)
    document = document_of_subsets(result.to_dict(), result.assignment, kept, evaluation, training, steps, settings)
    paths = result.save(out, document)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if quiet:
        return
    say_settings(settings)
    say_dropped_of(training, evaluation)
    figures = result.to_dict()
    labels = result.assignment.label_names
    say(
        [["class", "examples", *labels]]
        + [[row["class"], *(count(row[name]) for name in ("n", *labels))] for row in figures["sizes"]]
    )
    typer.echo(
        f"{count(len(kept))} patterns at threshold {threshold}; coverage {percent(figures['coverage'])}, "
        f"easy/(easy + hard) {percent(figures['easy_share'])}"
    )
    if result.overlap is not None:
        typer.echo(f"by classifier, {result.judged}:")
        say(
            [["by patterns", "by classifier", "examples", "share of row"]]
            + [
                [row["by_patterns"], row["by_classifier"], count(row["n"]), percent(row["share"])]
                for row in result.overlap.to_frame().to_dicts()
            ],
            left=2,
        )
    say_paths(paths)
