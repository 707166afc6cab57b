"""Options of every command that reads runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

from goldassay.cli.options import (
    AlignOption,
    Checkpoint,
    Columns,
    Condition,
    DatasetName,
    Format,
    Grades,
    LabelNames,
    Labels,
    Model,
    PoolConfigurations,
    Split,
    Tests,
    TrainSet,
)
from goldassay.core.errors import InputError
from goldassay.questions.run_choice import RunChoice, parse_gold


def choose(
    *,
    file_format: Format = "auto",
    model: Model = None,
    dataset: DatasetName = None,
    condition: Condition = None,
    split: Split = None,
    train_set: TrainSet = None,
    checkpoint: Checkpoint = None,
    gold: Tests = None,
    columns: Columns = None,
    labels: Labels = None,
    label_names: LabelNames = None,
    align: AlignOption = "exact",
    grades: Grades = None,
    pool_configurations: PoolConfigurations = False,
) -> RunChoice:
    """What the options say, as the rooms take it. Its parameters are the options themselves."""
    from goldassay.data import parse_columns

    return RunChoice(
        format=file_format,
        model=model,
        dataset=dataset,
        condition=condition,
        split=split,
        train_set=train_set,
        checkpoint=checkpoint,
        columns=parse_columns(columns) if columns else {},
        labels=parse_labels(labels),
        label_names=parse_names(label_names),
        align=align,
        grades=grades,
        pool_configurations=pool_configurations,
        gold=parse_gold(gold or []),
    )


def reads_runs(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of reading runs where it takes `choice`.

    Args:
        without: Options, by their parameter of `choose`, that the command does not have.
    """
    options = [
        option for name, option in inspect.signature(choose, eval_str=True).parameters.items() if name not in without
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(command, eval_str=True).parameters.values()
        ]
        at = [parameter.name for parameter in own].index("choice")

        @functools.wraps(command)
        def called(**values: Any) -> None:
            choice = choose(**{option.name: values.pop(option.name) for option in options})
            command(choice=choice, **values)

        # typer reads the options off the signature.
        called.__dict__["__signature__"] = inspect.Signature([*own[:at], *options, *own[at + 1 :]])
        return called

    return decorate


def parse_labels(text: str | None) -> dict[str, str] | None:
    """`--labels` as a map from names in the files to labels.

    Raises:
        InputError: A part is not NAME=LABEL, or a name stands twice.
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals and name.strip() and label.strip() for name, equals, label in pairs):
        raise InputError(
            f"{text!r} does not say what each prediction stands for",
            mend="write --labels 0=entailment,1=neutral, or name the classes in their order with --label-names",
        )
    named = {name.strip(): label.strip() for name, _, label in pairs}
    if len(named) < len(pairs):
        raise InputError(f"{text!r} names a prediction twice", mend="give each prediction one label")
    return named


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """`--label-names` as names in order.

    Raises:
        InputError: A name is empty.
    """
    if text is None:
        return None
    names = tuple(part.strip() for part in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{text!r} names a label twice, or none", mend="write --label-names entailment,neutral")
    return names
