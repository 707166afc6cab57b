"""Options of more than one command, made of their declarations in `goldassay.core.options`.

What differs from command to command is the default, and whether an option must be given or may be repeated.
"""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from goldassay.core.errors import InputError
from goldassay.core.files import check_folder
from goldassay.core.options import COMMANDS, Command
from goldassay.core.visible import one_line

if typing.TYPE_CHECKING:
    from goldassay.core.setting_keys import Key
    from goldassay.core.settings import Settings

# The groups of a command's help, in this order.
DATA = "Data"
RUNS = "Runs made elsewhere"
PATTERNS = "Patterns"
TRAINING = "Models and training"
METHOD = "Method"
OUTPUT = "Output"
GENERAL = "General"
GROUPS = (DATA, RUNS, PATTERNS, TRAINING, METHOD, OUTPUT, GENERAL)


def of_option(
    name: str, *spelled: str, group: str, command: str = "", also: str = "", default: str = "", **how: Any
) -> Any:
    """An option as `goldassay.core.options` declares it: its help, default and bounds.

    Args:
        name: Of the option: `max_tokens` for `--max-tokens`.
        *spelled: How it is spelled, where not by its name alone.
        group: Group of the help.
        command: Whose declaration it is, where the command has one of its own.
        also: A sentence for the help that holds for the command line alone.
        default: What the help names as default in place of the declared one.
        **how: Further arguments of `typer.Option`.

    Returns:
        What stands in `Annotated`. The default of an option that is a key of the settings is None, "take it from the
        settings", which the help names.
    """
    taken_by = COMMANDS.get(command, Command({}))
    declared = taken_by.key(name)
    option = f"--{name.replace('_', '-')}"
    help_text, mark, tail = declared.help.partition("  [default: ")
    said = " ".join(part for part in (help_text, also) if part) + mark + tail
    from_settings = declared.default if taken_by.is_setting(name) else None
    shown = default or ("" if from_settings is None else f"{from_settings}")
    if declared.bounds:
        how["callback"] = _within(option, declared)
    return typer.Option(
        *(spelled or (option,)), help=said + (f"  [default: {shown}]" if shown else ""), rich_help_panel=group, **how
    )


def _within(option: str, key: Key) -> Any:
    def check(value: Any) -> Any:
        wrong = None if value is None or isinstance(value, list | tuple) else key.refusal(value)
        if wrong is not None:
            raise InputError(f"{option}: {wrong[0]}", mend=f"give {wrong[1]}")
        return value

    return check


# --- General -------------------------------------------------------------------------------------------------------

Quiet = Annotated[bool, of_option("quiet", "--quiet", "-q", group=GENERAL)]
Config = Annotated[
    Path | None,
    of_option("config", metavar="FILE", group=GENERAL),
]
Seed = Annotated[int | None, of_option("seed", metavar="N", group=GENERAL)]

# --- Output --------------------------------------------------------------------------------------------------------


def _checked_folder(path: Path | None) -> Path | None:
    if path is not None:
        check_folder(path, "-o")
    return path


_out = of_option("out", "--out", "-o", metavar="DIR", group=OUTPUT, callback=_checked_folder)
Out = Annotated[Path, _out]
OptionalOut = Annotated[Path | None, _out]
Figures = Annotated[
    Literal["pdf", "svg", "png"] | None,
    of_option("figures", group=OUTPUT),
]
Latex = Annotated[
    bool,
    of_option("latex", group=OUTPUT),
]

# --- Data ----------------------------------------------------------------------------------------------------------

_test = of_option("test", metavar="FILE", group=DATA)
Test = Annotated[str | None, _test]
RequiredTest = Annotated[str, _test]
NamedTest = Annotated[str | None, of_option("test", metavar="[NAME=]FILE", group=DATA)]
Tests = Annotated[
    list[str] | None,
    of_option("test", metavar="[NAME=]FILE", group=DATA, also="Repeatable."),
]
Columns = Annotated[
    str | None,
    of_option("columns", metavar="ROLE=NAME,...", group=DATA),
]
Format = Annotated[
    str,
    of_option("format", metavar="NAME", group=DATA),
]
_corpus = of_option("corpus", metavar="PATH", group=DATA, also="Repeatable.")
CorpusPaths = Annotated[list[str] | None, _corpus]
RequiredCorpusPaths = Annotated[list[str], _corpus]
Field = Annotated[str, of_option("field", metavar="NAME", group=DATA)]
LabelNames = Annotated[
    str | None,
    of_option("label_names", metavar="NAME,...", group=DATA),
]
ExampleClusters = Annotated[str | None, of_option("clusters", metavar="COLUMN,...", group=DATA)]
# Of runs, whose groups are mostly kinds of examples: nothing is joined that was not named.
RunClusters = Annotated[str | None, of_option("clusters", metavar="COLUMN,...", group=DATA, default="none")]
SplitBy = Annotated[str | None, of_option("split_by", metavar="COLUMN,...", group=DATA)]
By = Annotated[
    str | None,
    of_option("by", metavar="COLUMN", group=DATA),
]

# --- Runs made elsewhere -------------------------------------------------------------------------------------------

_run_paths = of_option("runs", metavar="PATH", group=RUNS, also="Repeatable.")
RunPaths = Annotated[list[str] | None, _run_paths]
RequiredRunPaths = Annotated[list[str], _run_paths]
NamedRunPaths = Annotated[
    list[str] | None,
    of_option("runs", metavar="[NAME=]PATH", group=RUNS, also="Repeatable."),
]
Model = Annotated[str | None, of_option("model", "--model", "-m", metavar="NAME", group=TRAINING)]
Models = Annotated[
    list[str] | None,
    of_option("model", "--model", "-m", metavar="NAME", group=TRAINING, also="Repeatable."),
]
Condition = Annotated[str | None, of_option("condition", metavar="NAME", group=TRAINING)]
Conditions = Annotated[
    list[str] | None,
    of_option("condition", metavar="NAME", group=TRAINING, also="Repeatable."),
]
DatasetName = Annotated[str | None, of_option("dataset", metavar="NAME", group=RUNS)]
Split = Annotated[
    str | None,
    of_option("split", metavar="NAME", group=RUNS),
]
TrainSet = Annotated[str | None, of_option("train_set", metavar="NAME", group=RUNS)]
Checkpoint = Annotated[
    str | None,
    of_option("checkpoint", metavar="NAME", group=RUNS),
]
Labels = Annotated[
    str | None,
    of_option("labels", metavar="NAME=LABEL,...", group=RUNS),
]
Align = Literal["exact", "intersect", "position"]
AlignOption = Annotated[
    Align,
    of_option("align", group=RUNS),
]
Grades = Annotated[str | None, of_option("grades", metavar="LOW:HIGH", group=RUNS)]
PoolConfigurations = Annotated[bool, of_option("pool_configurations", group=RUNS)]

Discount = Annotated[str | None, of_option("discount", metavar="REPORT", group=METHOD)]
DiscountPart = Annotated[str | None, of_option("discount_part", metavar="PART", group=METHOD)]

# --- Patterns ------------------------------------------------------------------------------------------------------

MaxTokens = Annotated[int | None, of_option("max_tokens", metavar="M", group=PATTERNS)]
MaxGap = Annotated[int | None, of_option("max_gap", metavar="T", group=PATTERNS)]
MinCount = Annotated[int | None, of_option("min_count", metavar="N", group=PATTERNS)]
TokenizerOption = Annotated[
    str | None,
    of_option(
        "tokenizer",
        metavar="NAME",
        group=PATTERNS,
        also="Or a function of yours that takes a text and returns its tokens, MODULE:FUNCTION or FILE.py:FUNCTION, "
        "which is imported and run.",
    ),
]
Threshold = Annotated[float | None, of_option("threshold", metavar="T", group=PATTERNS)]
Q = Annotated[
    float | None,
    of_option("q", metavar="Q", group=PATTERNS),
]
Text = Annotated[
    str | None,
    of_option("text", metavar="ROLE", group=DATA),
]
Patterns = Annotated[
    Path | None,
    of_option("patterns", metavar="FILE", group=PATTERNS),
]

# --- Models and training -------------------------------------------------------------------------------------------

Seeds = Annotated[
    int,
    of_option("seeds", metavar="N", group=TRAINING),
]


Precision = Annotated[
    str | None,
    of_option("precision", metavar="NAME", group=TRAINING),
]
Device = Annotated[str | None, of_option("device", metavar="NAME", group=TRAINING)]
Workers = Annotated[int | None, of_option("workers", metavar="N", group=TRAINING)]
Scheduler = Annotated[
    str | None,
    of_option("scheduler", metavar="ADDRESS", group=TRAINING),
]
DryRun = Annotated[
    bool,
    of_option("dry_run", group=TRAINING),
]


def say_settings(settings: Settings) -> None:
    """Name the file of the settings, where the lines of a command are no report's summary."""
    if settings.file is not None:
        typer.echo(f"settings of {one_line(settings.file.name)}")
