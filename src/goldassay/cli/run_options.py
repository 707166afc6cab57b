"""Options of every command that reads runs, and errors said in terms of them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import typer

from goldassay.core.errors import InputError
from goldassay.questions.run_choice import RunChoice, parse_gold

Align = Literal["exact", "intersect", "position"]

Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="The format of the runs, where their content does not say it.")
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="This model only; with * or ? all models that match, as runs of one."),
]
DatasetName = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Runs on this dataset only.")]
Condition = Annotated[
    str | None, typer.Option(metavar="NAME", help="This condition only: paired, premise_only, hypothesis_only.")
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="This part of the dataset only.")]
TrainSet = Annotated[str | None, typer.Option(metavar="NAME", help="Runs trained on this only.")]
Checkpoint = Annotated[
    str | None, typer.Option(metavar="NAME", help="One checkpoint of each run, or last.  [default: all]")
]
Gold = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[DATASET=]FILE",
        help="The dataset that was predicted: its right labels, texts and groups, joined by example id. Repeatable.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE=NAME,...",
        help="Which column plays which role, where the names do not say it: example_id=a,prediction=b,seed=c "
        "(also score, logits, features, label, model, dataset, checkpoint).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=LABEL,...",
        help="What predictions stand for: 0=contradiction,1=entailment,2=neutral; or the names of the logits' "
        "classes in order.",
    ),
]
AlignOption = Annotated[
    Align,
    typer.Option(
        "--align",
        help="exact: all runs must cover the same examples; intersect: keep those that all cover; position: the i-th "
        "row is the i-th example of the gold.",
    ),
]

Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of everything that draws at random.  [default: 0]")]

# What the rooms call their arguments, and what the command line calls them.
_SPOKEN = (
    (r"columns=\{'(\w+)': (\w+)\}", r"--columns \1=\2"),
    (r"labels=\{'(\w+)': '(\w+)', \.\.\.\}", r"--labels \1=\2,..."),
    (r"\blabel_names=\[\.\.\.\]", "--labels NAME,NAME,..."),
    (r"\blabel_names\b", "--labels NAME,NAME,..."),
    (r"`labels`", "--labels NAME=LABEL,..."),
    (r"\b(align|checkpoint|format)='([\w-]+)'", r"--\1 \2"),
    (r"\bgive gold\b", "give --gold FILE"),
    (r"\bgold=DATASET", "--gold FILE"),
    (r"\bset matched=False", "leave out --matched"),
    (r"\b(model|dataset|condition|split|train_set|checkpoint)=NAME", lambda m: f"--{m[1].replace('_', '-')} NAME"),
)


@contextmanager
def spoken() -> Iterator[None]:
    """Turn the mend of an error, which names a function's arguments, into one that names options."""
    try:
        yield
    except InputError as error:
        raise InputError(
            as_options(error.problem), file=error.file, row=error.row, column=error.column,
            mend=None if error.mend is None else as_options(error.mend),
        ) from error  # fmt: skip


def as_options(mend: str) -> str:
    """A mend in terms of options."""
    for pattern, replacement in _SPOKEN:
        mend = re.sub(pattern, replacement, mend)
    return mend


def choose(
    *,
    file_format: Format = "auto",
    model: Model = None,
    dataset: DatasetName = None,
    condition: Condition = None,
    split: Split = None,
    train_set: TrainSet = None,
    checkpoint: Checkpoint = None,
    gold: Gold = None,
    columns: Columns = None,
    labels: Labels = None,
    align: AlignOption = "exact",
) -> RunChoice:
    """What the options say, as the rooms take it. Its parameters are the options themselves."""
    from goldassay.data import parse_columns

    names, order = parse_labels(labels)
    return RunChoice(
        format=file_format,
        model=model,
        dataset=dataset,
        condition=condition,
        split=split,
        train_set=train_set,
        checkpoint=checkpoint,
        columns=parse_columns(columns) if columns else {},
        labels=names,
        label_names=order,
        align=align,
        gold=parse_gold(gold or []),
    )


def reads_runs(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of reading runs where it takes `choice`, and say its errors in their terms.

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
            with spoken():
                choice = choose(**{option.name: values.pop(option.name) for option in options})
                command(choice=choice, **values)

        # typer reads the options off the signature.
        called.__dict__["__signature__"] = inspect.Signature([*own[:at], *options, *own[at + 1 :]])
        return called

    return decorate


def parse_labels(text: str | None) -> tuple[dict[str, str] | None, tuple[str, ...] | None]:
    """`--labels` as a map from names in the files, or as names in order.

    Raises:
        InputError: Some parts are NAME=LABEL and others are not.
    """
    if text is None:
        return None, None
    parts = [part.strip() for part in text.split(",")]
    pairs = [part.partition("=") for part in parts]
    if all(equals for _, equals, _ in pairs):
        named = {name.strip(): label.strip() for name, _, label in pairs}
        if len(named) < len(pairs):
            raise InputError(f"{text!r} names a prediction twice", mend="give each prediction one label")
        return named, None
    if any(equals for _, equals, _ in pairs) or not all(parts):
        raise InputError(
            f"{text!r} names the labels neither in order nor one by one",
            mend="write --labels 0=entailment,1=neutral or --labels entailment,neutral",
        )
    return None, tuple(parts)
