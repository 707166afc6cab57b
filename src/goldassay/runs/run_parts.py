"""What every adapter hands over: one run on one dataset at one checkpoint, named now and loaded when needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from goldassay.core.errors import InputError, has_half_pair, visible
from goldassay.core.results import Result

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from goldassay.runs.statuses import Status


# What a dataset is called where the files do not name it.
UNNAMED = "dataset"
# And a model.
UNNAMED_MODEL = "model"
# Beside the runs: copies of what models are trained on, and a folder for each training with its settings and its lock.
# Folders whose names begin like these are passed over by whoever looks for runs in the folder; pyarrow does so, too.
DATA, JOBS = "_data", "_jobs"


class Collection(NamedTuple):
    """What one `Runs` is of."""

    model: str
    dataset: str
    split: str
    condition: str
    train_set: str


@dataclass(frozen=True)
class BestThreshold(Result):
    """The highest mean score that leaving questions unanswered gives; see `best_threshold`.

    Attributes:
        score: In [0, 1].
        threshold: Questions with a higher no-answer probability are left unanswered; -inf leaves all.
    """

    score: float
    threshold: float


@dataclass(frozen=True)
class BestThresholds(Result):
    """The same for both metrics, each with its own threshold."""

    exact: BestThreshold
    f1: BestThreshold


@dataclass(frozen=True)
class Columns:
    """The rows of a slice, as columns of equal length.

    Attributes:
        example_ids: Strings.
        label: Names of the right labels, or None.
        prediction: Names of the predicted labels, or None.
        score: In [0, 1], or None. Null where an example was not scored.
        logits: (N, K), in the order of `label_names`, or None.
        label_names: The labels in order, where the file says so.
        features: (N, D), what the model made of each example before its classifier, or None.
        groups: Per-example group names.
        unscored: Why scores are null, where the file says so.
        no_answer: How probable it is that each question has no answer, or a score that grows with it; or None.
        thresholds: The best scores by such probabilities, once answers are scored; or None.
        status: Whether each answer has a score, and if not why, as far as the file tells; see `STATUSES`.
        recorded: Statuses that a column of the file tells, be there any such answers or not.
        outputs: What the model wrote, where it is at hand without reading more of the file.
        reported: The mean score that the log itself gives; None where it gives none, or one that is no mean.
    """

    example_ids: pl.Series
    label: pl.Series | None = None
    prediction: pl.Series | None = None
    score: pl.Series | None = None
    logits: NDArray[np.floating[Any]] | None = None
    label_names: tuple[str, ...] | None = None
    features: NDArray[np.floating[Any]] | None = None
    groups: dict[str, pl.Series] = field(default_factory=dict)
    unscored: str = ""
    no_answer: pl.Series | None = None
    thresholds: BestThresholds | None = None
    status: pl.Series | None = None
    recorded: tuple[Status, ...] = ()
    outputs: pl.Series | None = None
    reported: float | None = None


@dataclass(frozen=True)
class Outputs:
    """What a model wrote in one run, to be read anew.

    Attributes:
        example_ids: Strings.
        texts: Null where there is none.
        targets: The right answers as the file has them, or None.
        prompts: What was asked, or None.
        predictions: What the harness read out of each text; null where nothing, or None where it is not known.
    """

    example_ids: pl.Series
    texts: pl.Series
    targets: pl.Series | None = None
    prompts: pl.Series | None = None
    predictions: pl.Series | None = None


@dataclass(frozen=True)
class Slice:
    """One run on one dataset at one checkpoint.

    Attributes:
        collection: What it belongs to.
        seed: Of the run; a name where there is no number.
        checkpoint: Step or name, or None.
        n_examples: How many rows, where this is known without loading.
        file: Where it was found, for messages.
        format: Name of the adapter.
        load: Reads the rows.
        n_parameters: Weights of the model, where the file says so.
        configuration: How the model was asked, as far as the file says so; see `goldassay.runs.configurations`.
        grades: The scale that its scores are shares of, where it is not that of fractions.
        base_model: The model's own name, where its configuration was added to tell it from others; else "".
        unfinished: Why the run does not answer all that it was to answer, where its file says so; else "".
        unrecorded: Statuses of answers that a file of this form does not record.
        numbered: Whether the seed is a running number, such as that of a row of an array, and states no seed.
        is_trial: Whether it is one of several attempts at each example by one model, such as samples or epochs.
        is_dealt: Whether it is one of samples that the order of rows alone tells apart, dealt to runs at random.
        keyed: Whether a harness wrote example, right answer and score of each answer together, so that no right answer
            can be that of another row.
        outputs: Reads what the model wrote; None where its file does not hold it.
        condition_words: Where its file does not say the condition, what names say; see `condition_words`.
    """

    collection: Collection
    seed: int | str
    checkpoint: int | str | None
    n_examples: int
    file: str
    format: str
    load: Callable[[], Columns]
    n_parameters: int | None = None
    configuration: Mapping[str, Any] = field(default_factory=dict)
    grades: tuple[float, float] | None = None
    base_model: str = ""
    unfinished: str = ""
    unrecorded: tuple[Status, ...] = ("empty", "truncated", "error")
    numbered: bool = False
    is_trial: bool = False
    is_dealt: bool = False
    keyed: bool = False
    outputs: Callable[[], Outputs | None] | None = None
    condition_words: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        """Refuse what names no run, before it is sorted among others.

        Raises:
            InputError: A name is no text or holds half of a surrogate pair, or a seed, checkpoint or number is neither
                a number nor a text.
        """
        named = {**self.collection._asdict(), "seed": self.seed, "checkpoint": self.checkpoint}
        for what, value in named.items():
            allowed = (int, str) if what in ("seed", "checkpoint") else (str,)
            if not isinstance(value, allowed) and not (what == "checkpoint" and value is None):
                raise _misnamed(what, value, self.file)
        if not isinstance(self.configuration, Mapping) or not all(isinstance(name, str) for name in self.configuration):
            raise _misnamed("configuration", self.configuration, self.file)
        for what, number in (("n_examples", self.n_examples), ("n_parameters", self.n_parameters)):
            if not isinstance(number, int) and not (what == "n_parameters" and number is None):
                raise _misnamed(what, number, self.file)
        check_characters({**named, "configuration": self.configuration}, self.file)


def check_characters(named: Mapping[str, object], file: str) -> None:
    r"""Refuse names that no table or terminal can hold: JSON may spell half of a surrogate pair, as "\ud800".

    Raises:
        InputError: A name, or what a list or mapping of names holds, is no text of characters.
    """
    for what, value in named.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        if has_half_pair(text):
            raise InputError(
                f"the {what} of a run is {visible(text)[:60]}: half of a surrogate pair is no character",
                file=file,
                mend="write the character itself, or both halves of its escape",
            )


def _misnamed(what: str, value: object, file: str) -> InputError:
    problem = f"the {what} of a run is {str(value)[:60]!r}, which it cannot be"
    return InputError(problem, file=file, mend="write or copy it again")


# Roles of columns that say something of examples, and are no part of a run.
ASIDE = ("weight", "date")


@dataclass(frozen=True)
class Traits:
    """Which columns of examples are asked for.

    Attributes:
        weight: How much an example counts; "" where none was named.
        needed: Others that have to be there.
        known: Names of which the first that is there is taken, too.
    """

    weight: str = ""
    needed: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, str]) -> Traits:
        """Those that are named by their roles."""
        return cls(columns.get("weight", ""), tuple(columns[role] for role in ASIDE[1:] if role in columns))

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys(filter(None, (self.weight, *self.needed, *self.known))))


@dataclass(frozen=True)
class Request:
    """What the caller of `read_runs` said about the files, for adapters that need it.

    Attributes:
        columns: Role -> column name, for tables whose columns do not say what they are.
        label_names: Order of the classes in files that hold logits but no names.
        outright: Whether the file was named by the caller: what is merely found in a folder, and is of no use, is
            passed over, where this one is refused.
        listed: Whether the slices are only listed: large files are then not read into memory, and cannot be loaded.
        grades: Lowest and highest grade, where scores are on a scale of their own.
        pool_configurations: Whether runs of different configurations are taken for repeats of one, as was asked for.
        kept: Columns of examples that are to be among the groups, where a file has them.
    """

    columns: dict[str, str] = field(default_factory=dict)
    label_names: tuple[str, ...] | None = None
    outright: bool = False
    listed: bool = False
    grades: tuple[float, float] | None = None
    pool_configurations: bool = False
    kept: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, str], **others: Any) -> Request:
        """A request by roles of columns, of which some say something of examples and are no part of a run."""
        own = {role: name for role, name in columns.items() if role not in ASIDE}
        return cls(own, **{"kept": Traits.of(columns).names, **others})


def not_loaded() -> Columns:
    """In place of `load` where slices are only listed."""
    raise RuntimeError("this slice is listed, and has no rows")


@dataclass(frozen=True)
class Gold:
    """The right labels of a dataset, by example id.

    Attributes:
        example_ids: Strings, in the dataset's order.
        label: Names.
        label_names: In order.
        groups: Per-example group names.
        name: Of the dataset.
        left_out: How many of its rows are not among these, and why; "" where all are.
        end: The number after that of its last row, where rows are called by their numbers.
    """

    example_ids: pl.Series
    label: pl.Series
    label_names: tuple[str, ...]
    groups: dict[str, pl.Series]
    name: str
    left_out: str = ""
    end: int | None = None
