"""`goldassay train`: from a dataset and the name of a network to runs that every question can be asked of."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    DATA,
    TRAINING,
    Columns,
    Conditions,
    Config,
    Device,
    Model,
    Out,
    Precision,
    Quiet,
    Tests,
    Workers,
    of_option,
    say_settings,
)
from goldassay.core.errors import GoldassayError, InputError, InterruptionError
from goldassay.core.naming import split_named_path
from goldassay.core.setting_keys import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from goldassay.core.settings import Settings
    from goldassay.lab.training.job import Job
    from goldassay.lab.training.many_seeds import TrainingReport
    from goldassay.lab.training.outcome import Watcher


@app.command(short_help="Train a network with several seeds, and keep what the measures need.")
def train(
    data: Annotated[
        str, typer.Argument(metavar="TRAIN", help="Training data: a file, a folder, or a name on the hub.")
    ],
    model: Model = None,
    tests: Tests = None,
    dev: Annotated[str | None, of_option("dev", metavar="FILE", group=DATA)] = None,
    seeds: Annotated[int | None, of_option("seeds", metavar="N", group=TRAINING, command="train")] = None,
    seed_list: Annotated[
        str | None,
        of_option("seed_list", metavar="A,B,...", group=TRAINING),
    ] = None,
    vary: Annotated[str | None, of_option("vary", metavar="SOURCE,...", group=TRAINING)] = None,
    conditions: Conditions = None,
    configuration: Annotated[str | None, of_option("configuration", metavar="NAME", group=TRAINING)] = None,
    changes: Annotated[
        list[str] | None,
        of_option("set", metavar="KEY=VALUE", group=TRAINING, also="Such as epochs=5. Repeatable."),
    ] = None,
    objective: Annotated[str | None, of_option("objective", metavar="NAME", group=TRAINING)] = None,
    objective_changes: Annotated[
        list[str] | None,
        of_option("objective_set", metavar="KEY=VALUE", group=TRAINING, also="Such as gamma=1. Repeatable."),
    ] = None,
    bias: Annotated[str | None, of_option("bias", metavar="WHAT", group=TRAINING)] = None,
    bias_folds: Annotated[int | None, of_option("bias_folds", metavar="N", group=TRAINING)] = None,
    teacher: Annotated[str | None, of_option("teacher", metavar="PATH", group=TRAINING)] = None,
    vectors: Annotated[str | None, of_option("vectors", metavar="FILE", group=TRAINING)] = None,
    rows: Annotated[int | None, of_option("rows", metavar="N", group=DATA)] = None,
    bootstrap: Annotated[bool | None, of_option("bootstrap", group=DATA)] = None,
    weights: Annotated[str | None, of_option("weights", metavar="COLUMN", group=DATA)] = None,
    checkpoint_every: Annotated[int | None, of_option("checkpoint_every", metavar="STEPS", group=TRAINING)] = None,
    state_every: Annotated[float | None, of_option("state_every", metavar="MINUTES", group=TRAINING)] = None,
    record: Annotated[str | None, of_option("record", metavar="WHAT,...", group=TRAINING)] = None,
    precision: Precision = None,
    deterministic: Annotated[bool | None, of_option("deterministic", group=TRAINING)] = None,
    device: Device = None,
    workers: Workers = None,
    label: Annotated[
        str | None,
        of_option("name", metavar="NAME", group=TRAINING),
    ] = None,
    out: Out = Path("runs"),
    json_file: JsonFile = None,
    columns: Columns = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Train a network with several seeds, and keep what the measures need.

    Each run is a model trained with a seed of its own under one condition, and evaluated on every test set. Runs go
    on side by side, one a core, or one a GPU. The folder can be handed to goldassay instability, compare and audit
    --runs. Networks: bow, average, lstm, conv, ngram_average, bilstm, infersent, dam, esim, contextual_esim, and
    transformers checkpoints, by their folder or their name on the hub.

    \b
      goldassay train train.jsonl --model ngram_average --seeds 10 --test test.jsonl -o runs
      goldassay instability runs

    A command that was stopped, or killed, goes on where it was when it is given again, and what is done is not done
    again. Options not given are taken from the section [training] of the settings.
    """
    from goldassay.lab.training.distributed import leads
    from goldassay.questions.gating import load_settings

    # Of several processes that share a training one speaks.
    quiet, json_file = (quiet, json_file) if leads() else (True, None)
    given = {
        "model": model,
        "dev": dev,
        "seeds": _which_seeds(seeds, seed_list),
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
    report = _train(data, tests or [], out, given, columns=columns, settings=settings, quiet=quiet)
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
    data: str,
    tests: list[str],
    out: Path,
    asked: dict[str, Any],
    *,
    columns: str | None,
    settings: Settings,
    quiet: bool,
) -> TrainingReport:
    from goldassay.cli.training_progress import bars, warn_of_precision
    from goldassay.questions.trained_runs import train_runs

    def watching(jobs: Sequence[Job]) -> AbstractContextManager[Watcher]:
        warn_of_precision(jobs)
        return bars(len(jobs))

    try:
        return train_runs(
            data,
            [_test_set(test) for test in tests],
            asked,
            out=out,
            columns=columns,
            settings=settings,
            watching=None if quiet else watching,
        )
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


def _which_seeds(seeds: int | None, seed_list: str | None) -> int | tuple[int, ...] | None:
    if seed_list is None:
        return seeds
    if seeds is not None:
        raise InputError("--seeds and --seed-list are both given", mend="say how many, or which")
    try:
        numbers = tuple(int(part) for part in seed_list.split(","))
    except ValueError as error:
        raise InputError(f"{seed_list!r} are no seeds", mend="write --seed-list 0,1,2") from error
    if len(numbers) > MOST_SEEDS:
        raise InputError(f"--seed-list names {len(numbers)} seeds", mend=f"name {MOST_SEEDS} at most")
    return numbers


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
