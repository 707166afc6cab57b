"""`goldassay train`: from a dataset and the name of a network to runs that every question can be asked of."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import Config, Quiet, say_settings
from goldassay.core.errors import GoldassayError, InputError, InterruptionError
from goldassay.core.naming import split_named_path

if TYPE_CHECKING:
    from goldassay.training import TrainingReport

_COMMAS = "Separated by commas."


@app.command(short_help="Train a network with several seeds, and keep what the measures need.")
def train(
    data: Annotated[
        str, typer.Argument(metavar="TRAIN", help="Training data: a file, a folder, or a name on the hub.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="bow, average, lstm, conv, ngram_average, bilstm, infersent, dam, esim, contextual_esim, or a "
            "transformers checkpoint: its folder or its name on the hub.",
        ),
    ] = None,
    tests: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="[NAME=]FILE", help="What to evaluate on. Repeatable."),
    ] = None,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="What to choose the best epoch by.  [default: train all epochs]")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="N|A,B,...", help="How many seeds, or which; 7, is seed 7 alone.  [default: 10]"),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE,...",
            help="What follows the seed: initialization, order, dropout, subset.  [default: all]",
        ),
    ] = None,
    conditions: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            metavar="NAME",
            help="What the model sees: paired, hypothesis_only, premise_only, shuffled, overlap, length, empty. "
            "Repeatable.  [default: all texts]",
        ),
    ] = None,
    configuration: Annotated[
        str | None, typer.Option("--sizes", metavar="NAME", help="desk or published.  [default: desk]")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A setting of the network or its recipe: epochs=5. Repeatable."
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is minimized: cross_entropy, guided_cross_entropy, adversarial, product_of_experts, "
            "learned_mixin, confidence_regularization.  [default: cross_entropy, for numbers squared_error]",
        ),
    ] = None,
    objective_changes: Annotated[
        list[str] | None,
        typer.Option("--objective-set", metavar="KEY=VALUE", help="A setting of the objective: gamma=1. Repeatable."),
    ] = None,
    bias: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="The bias model that the objective takes: quick_probe or a network, trained here on one text alone; "
            "what artifacts mine wrote; or runs that answer the training rows.",
        ),
    ] = None,
    bias_folds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Folds of a bias model trained here; 1 lets it judge the rows that it learnt.  [default: 5]",
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Runs that answer the training rows, for confidence_regularization.  [default: each run trains its "
            "own first]",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Word vectors to start from: word2vec's or GloVe's text, or word2vec's binary."
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(metavar="N", help="Draw so many training rows.  [default: all]")] = None,
    bootstrap: Annotated[
        bool | None, typer.Option("--bootstrap", help="Draw the training rows with replacement.")
    ] = None,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="A weight for each training row.")] = None,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(metavar="STEPS", help="Evaluate every so many steps, too.  [default: at the end only]"),
    ] = None,
    state_every: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="Write the state of a run so many minutes after the last, and at its end: as much work as a kill may "
            "cost.  [default: 10]",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT,...",
            help="predictions, logits, embeddings, relevance, dynamics.  [default: predictions,logits]",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="float32, bfloat16, or auto: bfloat16 where the device multiplies in it.  [default: float32]",
        ),
    ] = None,
    deterministic: Annotated[
        bool | None,
        typer.Option("--deterministic", help="The same bits each time on one GPU too, at some cost."),
    ] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="auto, cpu, cuda or mps.  [default: auto]")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Runs side by side.  [default: one a GPU, without GPUs one a core]")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What the runs call the model.  [default: its name]")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the runs.")] = Path("runs"),
    json_file: JsonFile = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE=NAME,...", help="Which column plays which role, where the names do not say it, in all files."
        ),
    ] = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Train a network with several seeds, and keep what the measures need.

    Each run is a model trained with a seed of its own under one condition, and evaluated on every test set. Runs go
    on side by side, one a core, or one a GPU. The folder can be handed to goldassay instability, compare and audit
    --runs.

    \b
      goldassay train train.jsonl --model ngram_average --seeds 10 --test test.jsonl -o runs
      goldassay instability runs

    A command that was stopped, or killed, goes on where it was when it is given again, and what is done is not done
    again. Options not given are taken from the section [training] of the settings.
    """
    from goldassay.questions.gating import load_settings
    from goldassay.training.team import leads

    # Of several processes that share a training one speaks.
    quiet, json_file = (quiet, json_file) if leads() else (True, None)
    given = {
        "model": model,
        "dev": dev,
        "seeds": _numbers(seeds),
        "vary": _names(vary),
        "conditions": tuple(conditions) if conditions else None,
        "configuration": configuration,
        "changes": _changes(changes, "--set epochs=5"),
        "objective": objective,
        "objective_changes": _changes(objective_changes, "--objective-set gamma=1"),
        "bias": bias,
        "bias_folds": bias_folds,
        "teacher": teacher,
        "vectors": vectors,
        "rows": rows,
        "bootstrap": bootstrap,
        "weights": weights,
        "checkpoint_every": checkpoint_every,
        "state_every": state_every,
        "record": _names(record),
        "precision": precision,
        "deterministic": deterministic,
        "device": device,
        "workers": workers,
        "label": label,
    }
    settings = load_settings(config)
    asked = settings.training.arguments() | {k: v for k, v in given.items() if v is not None}
    if "model" not in asked:
        raise InputError("no model is named", mend="name one with --model, such as --model ngram_average")
    report = _train(data, tests or [], out, columns, asked, quiet=quiet)
    if json_file is not None:
        write_json(json_file, json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        _show(report)
    if report.failures.height:
        first = report.failures.row(0, named=True)
        raise GoldassayError(
            f"{report.failures.height} of {report.n_jobs} runs failed, the first: {first['name']}: {first['reason']}"
        )


def _train(
    data: str, tests: list[str], out: Path, columns: str | None, asked: dict[str, Any], *, quiet: bool
) -> TrainingReport:
    from goldassay.cli.training_progress import bars, warn_of_precision
    from goldassay.questions.opinions import with_sources
    from goldassay.training import plan_jobs, run_plan
    from goldassay.training.many_seeds import check_workers

    workers = asked.pop("workers", None)
    check_workers(workers)
    asked = with_sources(asked, out)
    jobs = plan_jobs(data, asked.pop("model"), [_test_set(test) for test in tests], out=out, columns=columns, **asked)
    if not quiet:
        warn_of_precision(jobs)
    try:
        if quiet:
            return run_plan(jobs, workers)
        with bars(len(jobs)) as watcher:
            return run_plan(jobs, workers, watcher)
    except KeyboardInterrupt as interruption:
        raise InterruptionError(
            f"what is done is kept in {out}, and the same command goes on from there"
        ) from interruption


def _test_set(test: str) -> str | tuple[str, str]:
    name, path = split_named_path(test)
    return (name, path) if name else path


def _show(report: TrainingReport) -> None:
    from goldassay.cli.training_progress import over_runs

    for row in report.summary().iter_rows(named=True):
        each = "" if row["n_runs"] == 1 else " each"
        typer.echo(
            f"{report.model}, {row['condition']}, on {row['dataset']}: {over_runs(row)}, {row['seconds']:.0f} s{each}"
        )
    for line in report.remarks():
        typer.echo(line)
    typer.echo(report.out)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str | None) -> int | tuple[int, ...] | None:
    if text is None:
        return None
    try:
        # A comma at the end makes a number the seed itself: of a single one nothing else tells.
        numbers = tuple(int(part) for part in text.removesuffix(",").split(","))
    except ValueError as error:
        raise InputError(f"{text!r} are no seeds", mend="write --seeds 10, --seeds 0,1,2 or --seeds 7,") from error
    return numbers[0] if "," not in text else numbers


def _changes(pairs: list[str] | None, example: str) -> dict[str, Any] | None:
    """KEY=VALUE, the value as TOML writes it; what is no TOML is a word."""
    if not pairs:
        return None
    changes: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise InputError(f"{pair!r} is not KEY=VALUE", mend=f"write {example}")
        if key.strip() in changes:
            raise InputError(f"{key.strip()!r} is set twice", mend="set each key once")
        if value.strip().lower() == "none":
            changes[key.strip()] = None
            continue
        changes[key.strip()] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        # TOML wants a digit on both sides of the point: .5 is none of its numbers.
        return float(text)
    except ValueError:
        return text
