"""Every option that more than one command has, declared once: one name, one meaning.

An option that is also a key of `goldassay.toml` takes its help, bounds and default from the field of the settings.
What differs from command to command is the default, and whether an option must be given or may be repeated.
"""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from goldassay.core.errors import InputError
from goldassay.core.setting_keys import ARTIFACTS, LEAKAGE, Key
from goldassay.core.setting_keys import DATA as DATA_KEYS
from goldassay.core.setting_keys import GENERAL as GENERAL_KEYS
from goldassay.core.setting_keys import TRAINING as TRAINING_KEYS
from goldassay.core.visible import one_line

if typing.TYPE_CHECKING:
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


# By option: the bounds of its value.
BOUNDS_OF: dict[str, Key] = {}
# By option: its key in `goldassay.toml`.
SETTING_OF: dict[str, str] = {}
_SECTIONS = {"": GENERAL_KEYS, "data": DATA_KEYS, "artifacts": ARTIFACTS, "leakage": LEAKAGE, "training": TRAINING_KEYS}


def of_setting(key: str, *names: str, group: str, also: str = "", default: str = "", **how: Any) -> Any:
    """An option that is a key of the settings: its help, bounds and default are those of the key.

    Args:
        key: The key, with its section: `artifacts.max_tokens`.
        *names: How the option is spelled; by default as the key.
        group: Group of the help.
        also: A sentence for the help that holds for the command line alone.
        default: What the help names as default in place of the key's.
        **how: Further arguments of `typer.Option`.

    Returns:
        What stands in `Annotated`. The option's own default is None, "take it from the settings".
    """
    section, _, name = key.rpartition(".")
    declared = _SECTIONS[section][name]
    spelled = names or (f"--{name.replace('_', '-')}",)
    SETTING_OF[spelled[0]] = key
    shown = default or ("" if declared.default is None else f"{declared.default}")
    said = " ".join(part for part in (declared.help, also) if part)
    return typer.Option(
        *spelled,
        help=said + (f"  [default: {shown}]" if shown else ""),
        rich_help_panel=group,
        callback=_within(spelled[0], declared),
        **how,
    )


def within(option: str, **bounds: float) -> Any:
    """What holds the value of an option that is no key of the settings to bounds, as those of a `Key`."""
    return _within(option, Key(**bounds))  # type: ignore[arg-type]


def _within(option: str, key: Key) -> Any:
    if key.bounds:
        BOUNDS_OF[option] = key

    def check(value: Any) -> Any:
        wrong = None if value is None or isinstance(value, list | tuple) else key.refusal(value)
        if wrong is not None:
            raise InputError(f"{option}: {wrong[0]}", mend=f"give {wrong[1]}")
        return value

    return check


# --- General -------------------------------------------------------------------------------------------------------

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=GENERAL)]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings; without it ./goldassay.toml is read if it is there.",
        rich_help_panel=GENERAL,
    ),
]
Seed = Annotated[int | None, of_setting("seed", metavar="N", group=GENERAL)]

# --- Output --------------------------------------------------------------------------------------------------------

_out = typer.Option(
    "--out", "-o", metavar="DIR", help="Folder for what is written; made if it is not there.", rich_help_panel=OUTPUT
)
Out = Annotated[Path, _out]
OptionalOut = Annotated[Path | None, _out]
Figures = Annotated[
    Literal["pdf", "svg", "png"] | None,
    typer.Option(
        "--figures",
        help="Draw the figures for a paper as well, one column wide, into DIR/paper.",
        rich_help_panel=OUTPUT,
    ),
]
Latex = Annotated[
    bool,
    typer.Option(
        "--latex",
        help="Write the tables for a paper as well, as LaTeX with booktabs, into DIR/paper.",
        rich_help_panel=OUTPUT,
    ),
]

# --- Data ----------------------------------------------------------------------------------------------------------

_TEST = "An evaluation set: its texts, right labels and groups. Runs that answer it are joined by example id."
_test = typer.Option("--test", metavar="FILE", help=_TEST, rich_help_panel=DATA)
Test = Annotated[str | None, _test]
RequiredTest = Annotated[str, _test]
NamedTest = Annotated[str | None, typer.Option("--test", metavar="[NAME=]FILE", help=_TEST, rich_help_panel=DATA)]
Tests = Annotated[
    list[str] | None,
    typer.Option("--test", metavar="[NAME=]FILE", help=f"{_TEST} Repeatable.", rich_help_panel=DATA),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="ROLE=NAME,...",
        help="Which column plays which role, where the names do not say it: premise=a,hypothesis=b,label=c (also text, "
        "id, group, split, ignore); of runs example_id, prediction, seed, score, logits, features, label, model, "
        "dataset, checkpoint.",
        rich_help_panel=DATA,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The format of the files, where their content does not say it.",
        rich_help_panel=DATA,
    ),
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        "--label-names",
        metavar="NAME,...",
        help="All labels that may occur, in the order of the classes where files number them or hold logits.",
        rich_help_panel=DATA,
    ),
]
ExampleClusters = Annotated[str | None, of_setting("data.clusters", metavar="COLUMN,...", group=DATA)]
# Of runs, whose groups are mostly kinds of examples: nothing is joined that was not named.
RunClusters = Annotated[str | None, of_setting("data.clusters", metavar="COLUMN,...", group=DATA, default="none")]
SplitBy = Annotated[str | None, of_setting("data.split_by", metavar="COLUMN,...", group=DATA)]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Take the rows of each value of this column apart: a genre, a source, an annotator.",
        rich_help_panel=DATA,
    ),
]

# --- Runs made elsewhere -------------------------------------------------------------------------------------------

_RUNS = "Predictions made elsewhere: files or folders in any known format (goldassay runs --help)."
_run_paths = typer.Option("--runs", metavar="PATH", help=f"{_RUNS} Repeatable.", rich_help_panel=RUNS)
RunPaths = Annotated[list[str] | None, _run_paths]
RequiredRunPaths = Annotated[list[str], _run_paths]
NamedRunPaths = Annotated[
    list[str] | None,
    typer.Option("--runs", metavar="[NAME=]PATH", help=f"{_RUNS} Repeatable.", rich_help_panel=RUNS),
]
_MODEL = (
    "Name of the model: a network to train, or of given runs the one to read (* and ? match several, as runs of one)."
)
Model = Annotated[str | None, typer.Option("--model", "-m", metavar="NAME", help=_MODEL, rich_help_panel=TRAINING)]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", metavar="NAME", help=f"{_MODEL} Repeatable.", rich_help_panel=TRAINING),
]
_CONDITION = (
    "What the model sees, in training or in given runs: paired, hypothesis_only, premise_only, shuffled, overlap, "
    "length or empty."
)
Condition = Annotated[
    str | None, typer.Option("--condition", metavar="NAME", help=_CONDITION, rich_help_panel=TRAINING)
]
Conditions = Annotated[
    list[str] | None,
    typer.Option("--condition", metavar="NAME", help=f"{_CONDITION} Repeatable.", rich_help_panel=TRAINING),
]
DatasetName = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Runs on this dataset only.", rich_help_panel=RUNS)
]
Split = Annotated[
    str | None,
    typer.Option("--split", metavar="NAME", help="Runs on this part of the dataset only.", rich_help_panel=RUNS),
]
TrainSet = Annotated[
    str | None, typer.Option("--train-set", metavar="NAME", help="Runs trained on this only.", rich_help_panel=RUNS)
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="NAME",
        help="One checkpoint of each run, or last.  [default: all]",
        rich_help_panel=RUNS,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="NAME=LABEL,...",
        help="What predictions stand for: 0=contradiction,1=entailment,2=neutral.",
        rich_help_panel=RUNS,
    ),
]
Align = Literal["exact", "intersect", "position"]
AlignOption = Annotated[
    Align,
    typer.Option(
        "--align",
        help="exact: all runs must cover the same examples; intersect: keep those that all cover; position: the i-th "
        "row is the i-th example of the evaluation set.",
        rich_help_panel=RUNS,
    ),
]

# --- Patterns ------------------------------------------------------------------------------------------------------

MaxTokens = Annotated[int | None, of_setting("artifacts.max_tokens", metavar="M", group=PATTERNS)]
MaxGap = Annotated[int | None, of_setting("artifacts.max_gap", metavar="T", group=PATTERNS)]
MinCount = Annotated[int | None, of_setting("artifacts.min_count", metavar="N", group=PATTERNS)]
TokenizerOption = Annotated[
    str | None,
    of_setting(
        "artifacts.tokenizer",
        metavar="NAME",
        group=PATTERNS,
        also="Or a function of yours that takes a text and returns its tokens, MODULE:FUNCTION or FILE.py:FUNCTION, "
        "which is imported and run.",
    ),
]
Threshold = Annotated[float | None, of_setting("artifacts.threshold", metavar="T", group=PATTERNS)]
Q = Annotated[
    float | None,
    typer.Option(
        "--q",
        metavar="Q",
        callback=within("--q", ge=0, le=1),
        help="Keep only patterns whose Benjamini-Hochberg q-value is at most this.  [default: keep all, as published]",
        rich_help_panel=PATTERNS,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="ROLE",
        help="The text to search: premise, hypothesis, ...; all: every text of an example, one after the other.  "
        "[default: the last, of a pair the hypothesis]",
        rich_help_panel=DATA,
    ),
]
Patterns = Annotated[
    Path | None,
    typer.Option(
        "--patterns",
        metavar="FILE",
        help="Patterns mined before (patterns.parquet), instead of mining TRAIN.",
        rich_help_panel=PATTERNS,
    ),
]

# --- Models and training -------------------------------------------------------------------------------------------

# No training of a thousand seeds is meant; a number of them is a mistake in typing.
MOST_SEEDS = 1000
_seeds_within = within("--seeds", ge=1, le=MOST_SEEDS)
_SEEDS = "How many seeds: models trained alike, each with a seed of its own."
Seeds = Annotated[
    int,
    typer.Option("--seeds", metavar="N", callback=_seeds_within, help=_SEEDS, rich_help_panel=TRAINING),
]


def optional_seeds(default: object) -> Any:
    """`--seeds` where it is a key of the settings, whose default the help names."""
    return typer.Option(
        "--seeds",
        metavar="N",
        callback=_seeds_within,
        help=f"{_SEEDS}  [default: {default}]",
        rich_help_panel=TRAINING,
    )


Precision = Annotated[
    str | None,
    of_setting("training.precision", metavar="NAME", group=TRAINING),
]
Device = Annotated[str | None, of_setting("training.device", metavar="NAME", group=TRAINING)]
Workers = Annotated[int | None, of_setting("training.workers", metavar="N", group=TRAINING)]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Hand the trainings to the workers of a dask scheduler instead: its address or its scheduler file.",
        rich_help_panel=TRAINING,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Train nothing: say how many trainings, how much time on this machine and how much disk it would take.",
        rich_help_panel=TRAINING,
    ),
]


def say_settings(settings: Settings) -> None:
    """Name the file of the settings, where the lines of a command are no report's summary."""
    if settings.file is not None:
        typer.echo(f"settings of {one_line(settings.file.name)}")
