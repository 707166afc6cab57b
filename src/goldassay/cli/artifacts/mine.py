"""`goldassay artifacts mine`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.artifacts.group import (
    artifacts_app,
    plain_warnings,
    say,
    say_dropped,
    say_dropped_of,
    say_line,
    say_paths,
)
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    By,
    Columns,
    Config,
    ExampleClusters,
    Format,
    MaxGap,
    MaxTokens,
    MinCount,
    Out,
    Quiet,
    Seed,
    Test,
    Text,
    TokenizerOption,
    of_option,
    say_settings,
)
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from goldassay.questions.artifacts.mining import MinedArtifacts
    from goldassay.questions.artifacts.streamed import StreamedArtifacts

_HEADS = {
    "probability": "share, %",
    "q_value": "q",
    "n_folded": "folded",
    "test_support": "test support",
    "test_probability": "test share, %",
}


@artifacts_app.command(short_help="Count every pattern and how often it goes with each label.")
def mine(
    train: Annotated[
        list[str],
        typer.Argument(
            metavar="TRAIN...",
            help="Training data: a file, a folder, or a name on the Hugging Face hub; with --memory several files too, "
            "taken as one.",
        ),
    ],
    out: Out = Path("goldassay-artifacts"),
    max_tokens: MaxTokens = None,
    max_gap: MaxGap = None,
    min_count: MinCount = None,
    tokenizer: TokenizerOption = None,
    text: Text = None,
    test: Test = None,
    by: By = None,
    memory: Annotated[
        str | None,
        of_option("memory", metavar="SIZE", group=METHOD),
    ] = None,
    columns: Columns = None,
    clusters: ExampleClusters = None,
    file_format: Format = "auto",
    json_file: JsonFile = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Count every pattern of the training data and how often it goes with each label.

    Writes patterns (all that are frequent enough, with their statistics), findings (significant beyond q = .01, with
    a share above .7, unless the settings say otherwise; a pattern that adds nothing to a more frequent part of itself
    is listed under that part), and with --by patterns_by_value; each as Parquet and CSV. Writes a report too,
    with a sample of the examples behind each pattern. Prints the strongest findings of each label, and with --test how
    many of all are confirmed there.
    """
    from goldassay.core.progress import Steps
    from goldassay.core.settings import load_settings, with_data, with_seed
    from goldassay.questions.artifacts.inputs import bounds_of
    from goldassay.questions.artifacts.output import as_json
    from goldassay.questions.artifacts.study import study_artifacts
    from goldassay.questions.data_notes import data_notes

    steps = Steps(quiet)
    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    bounds = bounds_of(settings, max_tokens, max_gap, min_count, tokenizer, text)
    if memory is not None:
        from goldassay.questions.artifacts.streamed import mine_files

        with plain_warnings():
            streamed = mine_files(
                train, out, bounds, memory,
                file_format=file_format, columns=columns, condition=by, test=test, steps=steps,
                settings=settings,
            )  # fmt: skip
        if json_file is not None:
            write_json(json_file, as_json(streamed.to_dict()))
        if not quiet:
            say_settings(settings)
            say_dropped(streamed.name, streamed.n_read, streamed.dropped)
            say_dropped_of(streamed.test)
            _judge(streamed.document)
            _tell(streamed, test)
            say_paths(streamed.paths)
        return
    if len(train) > 1:
        raise InputError("several files are taken as one only part by part", mend="add --memory 2GB, or give one")
    with plain_warnings():
        study = study_artifacts(
            train[0], test, bounds,
            condition=by, columns=columns, file_format=file_format, settings=settings, steps=steps,
        )  # fmt: skip
    evidence, result = study.evidence, study.mined
    paths = result.save(out, study.document)
    if json_file is not None:
        write_json(json_file, as_json(result.to_dict()))
    if not quiet:
        say_settings(settings)
        say_dropped_of(evidence.train, evidence.held_out)
        for note in data_notes(evidence.train, evidence.held_out, None):
            say_line(note)
        _judge(study.document)
        _tell(result, test)
        say_paths(paths)


def _judge(document: dict[str, Any]) -> None:
    from goldassay.questions.report_frame import compose_report
    from goldassay.report.terminal import render_verdicts

    typer.echo(render_verdicts(compose_report(document, {})))


def _tell(result: MinedArtifacts | StreamedArtifacts, test: str | None) -> None:
    from goldassay.core.numbers import count, decimal, points, small

    shown = result.to_dict()
    typer.echo(
        f"{count(shown['n_patterns'])} patterns in at least {count(result.patterns.settings['min_count'])} of "
        f"{count(result.patterns.settings['n_sentences'])} examples; {count(shown['n_findings'])} findings, "
        f"{count(shown['n_unfolded'])} that stand for themselves"
        + (f" ({count(shown['n_not_folded'])} weaker ones were not folded)" if shown["n_not_folded"] else "")
    )
    if shown["strongest"]:
        cells: dict[str, Callable[[Any], str]] = {
            "label": str, "pattern": str, "support": count, "probability": points, "q_value": small, "n_folded": count,
            "test_support": count, "test_probability": points,
        }  # fmt: skip
        keys = [key for key in cells if key in shown["strongest"][0]]
        say(
            [[_HEADS.get(key, key) for key in keys]]
            + [[cells[key](row[key]) for key in keys] for row in shown["strongest"]],
            left=2,
        )
    if shown["by_lift"]:
        cells = {
            "label": str, "pattern": str, "support": count, "probability": points, "lift": lambda x: decimal(x, 1),
        }  # fmt: skip
        typer.echo("By lift: how many times its share of the label is at least the label's share of all (97.5 %)")
        say(
            [[_HEADS.get(key, key) for key in cells]]
            + [[each(row[key]) for key, each in cells.items()] for row in shown["by_lift"]],
            left=2,
        )
    if result.confirmation is not None:
        held = result.confirmation
        typer.echo(
            f"on {test}: {count(held.n_present)} of {count(held.n_patterns)} findings occur, "
            f"{count(held.n_confirmed)} are confirmed (q at most {held.q})"
        )
    for value, part in shown["by_value"].items():
        first = ", ".join(f"{r['pattern']} ({r['label']} {points(r['probability'])} %)" for r in part["strongest"][:3])
        say_line(
            f"{result.condition}={value}: {count(part['n_examples'])} examples, {count(part['n_patterns'])} patterns"
            + (f"; {first}" if first else "")
        )
    for value, reason in shown["skipped"].items():
        say_line(f"{result.condition}={value}: left out, {reason}")
