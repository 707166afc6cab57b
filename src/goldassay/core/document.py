"""What `report.json` holds around the answers, as far as programs may rely on it, and as far as this package reads it.

Every command that reports writes a document of this kind. What is not declared here may be there too and may change;
what is declared keeps its name, its place and its range within a schema version. `report.schema.json` says the same to
other languages, with the results of questions; `goldassay.questions.report_schema` makes it.

The plain facts of a dataset, as records: what a gate compares without reading data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from goldassay.core.figures import Figure, Measure, declare, figure, left_out, result
from goldassay.core.results import Result, frame_of_records

if TYPE_CHECKING:
    import polars as pl

    from goldassay.core.results import Verdict as Judged


SCHEMA = "goldassay.report"
SCHEMA_VERSION = 2
FILE_NAME = "report.json"
# Where answers state another key for more of the items, they answer other items.
_MOST_OTHER = 0.5
# The clock of a report: when it was made, and the seconds of each step.
TIMING_NAME = "timing.json"

Number = float | None
Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Headline(_Part):
    """The figure that decided a verdict."""

    label: str
    value: Number
    low: Number
    high: Number
    unit: Literal["points", "difference", "share", "examples", "ratio"]


class Verdict(_Part):
    """The answer to one question, or that it was not asked; of two models, whether they can be distinguished."""

    verdict: Literal[
        "sound", "caution", "unsound", "unresolved", "not measurable", "not asked", "distinguishable",
        "not distinguishable",
    ]  # fmt: skip
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str
    at_most: Annotated[float, Field(ge=0)] | None = None
    not_seen: str = ""
    limits: str = ""
    question: str = ""
    notes: list[str] = Field(default_factory=list)


class FigureRow(BaseModel):
    """One number: what it is, what it belongs to, its value with a 95 % interval, or why it is undefined."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Annotated[str, Field(pattern=r"^[a-z_]+\.[a-z_]+$")]
    question: str
    of: dict[str, str]
    label: str
    unit: Literal["points", "share", "examples", "runs", "bits", "number"]
    better: Literal["lower", "higher", "neither"]
    value: Number
    low: Number
    high: Number
    n: Count | None
    reason: str


# What is read back may hold more; numbers are numbers, as in the parts above.
_READ = ConfigDict(extra="allow", strict=False, frozen=True)
Whole = Annotated[int, Field(ge=0, strict=True)]


@result
class Input(Result):
    """A dataset, or a place with runs, that was read.

    Attributes:
        role: "train", "test", "elsewhere", "runs", "gold", "board" or "corpus".
        name: Of the dataset, the file or the folder.
        sha256: Of each file.
        files: Their names.
        n_rows: Rows that were kept.
        n_read: Rows that were read.
        format: Name of the reader.
        roles: {role: column}.
        decisions: How it was read, in sentences.
        dropped: {reason: number of rows}.
        align: How runs were aligned, where not exactly.
        grades: The scale of grades, as it was given.
    """

    __pydantic_config__ = _READ

    role: str
    name: str
    sha256: tuple[Sha256, ...]
    files: tuple[str, ...]
    n_rows: Whole | None = left_out(default=None)
    n_read: Whole | None = left_out(default=None)
    format: str | None = left_out(default=None)
    roles: Mapping[str, Any] | None = left_out(default=None)
    decisions: tuple[str, ...] | None = left_out(default=None)
    dropped: Mapping[str, int] | None = left_out(default=None)
    align: str | None = left_out(default=None)
    grades: str | None = left_out(default=None)


@dataclass(frozen=True)
class Issue(Result):
    """One kind of thing that is wrong with the data or the scores.

    Attributes:
        question: Key of the question that found it.
        kind: What is wrong.
        n_rows: How many are affected; None where it is not of rows.
        of: What is counted: "rows", "items", "answers", "systems".
        worst: The worst example, in short.
        mend: What to do, in one line.
        verdict: The question's verdict; "" where it judges nothing.
        table: The table beside the report that holds the rows; "" where there is none.
        filter: The filter of `goldassay view` that shows them, as FACET=VALUE; "" where there is none.
    """

    __pydantic_config__ = _READ

    question: str
    kind: str
    n_rows: Whole | None
    of: str
    worst: str
    mend: str
    verdict: str = ""
    table: str = ""
    filter: str = ""


@result
class About(Result):
    """What a report is about.

    Attributes:
        name: Of the dataset, or of the board.
        label_names: Its labels, or the choices' positions.
        kind: Of items: "choice", "preference" or "judgment".
        most_choices: The largest number of choices of an item.
        n_train: Rows of the training part.
        n_test: Rows of the evaluation part, or items.
        n_systems: Of a board.
        text_columns: The texts of an example by role.
        conditions: Parts of the input that were read.
    """

    __pydantic_config__ = _READ

    name: str | None = None
    label_names: tuple[str, ...] | None = left_out(default=None)
    kind: str | None = left_out(default=None)
    most_choices: Whole | None = left_out(default=None)
    n_train: Whole | None = left_out(default=None)
    n_test: Whole | None = left_out(default=None)
    n_systems: Whole | None = left_out(default=None)
    text_columns: tuple[str, ...] | None = left_out(default=None)
    conditions: tuple[str, ...] | None = left_out(default=None)


@result
class Environment(Result):
    """What computed the figures.

    Attributes:
        python: Its version.
        platform: System and machine.
        packages: {library: version}.
    """

    __pydantic_config__ = _READ

    python: str
    platform: str
    packages: Mapping[str, str]


@result
class SettingsFile(Result):
    """The file that settings were read from."""

    __pydantic_config__ = _READ

    name: str
    sha256: Sha256


class StoredClusters(_Part):
    """Which rows count as one."""

    columns: list[str] | None = None


class StoredSuspect(_Part):
    """Why answers of models were not held against the labels; "" where they were."""

    why_not: str = ""


class PatternSettings(_Part):
    """How patterns were mined."""

    tokenizer: str | None = None


class StoredPatterns(_Part):
    """Which text patterns were mined in, and how."""

    applies_to: str | None = None
    settings: PatternSettings | None = None


class Document(_Part):
    """What a report says. It holds no clock: the same input gives the same bytes."""

    kind: Literal["goldassay.report"] = Field(alias="schema")
    schema_version: Literal[2]
    goldassay_version: str
    command: str
    title: str
    questions: list[str] | None = None
    verdicts: dict[str, Verdict] | None = None
    issues: list[Issue] | None = None
    figures: list[FigureRow]
    dataset: About | None = None
    clusters: StoredClusters | None = None
    suspect: StoredSuspect | None = None
    artifacts: StoredPatterns | None = None
    has_texts: bool = Field(default=True, description="Whether texts of the data may be in it.")
    judgments: dict[str, Any] | None = None
    board: dict[str, Any] | None = None
    inputs: list[Input]
    settings: dict[str, Any]
    settings_file: SettingsFile | None = None
    environment: Environment
    digests: dict[str, Sha256] = Field(
        default_factory=dict, description="SHA-256 of the other files of the report by path, but timing.json."
    )
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of the dataset; none where it has none."""
        return tuple((self.dataset and self.dataset.label_names) or ())

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The texts of the dataset by role."""
        return tuple((self.dataset and self.dataset.text_columns) or ())

    @property
    def cluster_columns(self) -> tuple[str, ...]:
        """The columns whose equal values make rows count as one."""
        return tuple((self.clusters and self.clusters.columns) or ())

    def inputs_of(self, role: str) -> tuple[Input, ...]:
        """The inputs of a role, such as "test"."""
        return tuple(each for each in self.inputs if each.role == role)


@dataclass(frozen=True, kw_only=True)
class Framed:
    """A report's document, and the parts around its answers as they were before they became plain.

    Attributes:
        document: What `report.json` holds, as plain data; under "timing" what `timing.json` holds.
        about: What the report is about; None where it does not say.
        inputs: What was read.
        settings: What was set, by name.
        settings_file: Where from; None without a file.
        notes: What a reader has to know of the data, in sentences.
        environment: What computed it.
        verdicts: By question; None where it judges nothing.
        issues: What is wrong, the gravest first; None where it was not listed.
    """

    document: Mapping[str, Any]
    about: About | None = None
    inputs: tuple[Input, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    settings_file: SettingsFile | None = None
    notes: tuple[str, ...] = ()
    environment: Environment | None = None
    verdicts: Mapping[str, Judged] | None = None
    issues: tuple[Issue, ...] | None = None


_TRAIN = declare(Measure("facts.train_examples", "training examples", "examples", bounded=False, describes_data=True))
_TEST = declare(Measure("facts.test_examples", "test examples", "examples", bounded=False, describes_data=True))


@result
class TextLengths(Result):
    """Lengths of the texts of one role and label in a split; `label` is None of data without classes."""

    split: str
    role: str
    label: str | None
    n: int
    mean: float
    median: float
    p95: float


@result
class Duplicates(Result):
    """Rows that repeat an earlier row's texts and label, and rows whose texts also occur with another label."""

    exact: int
    conflicting: int


@result
class Shared(Result):
    """Test rows that stand in the training part, too, and their share of all test rows."""

    n: int
    share: float


@result
class PremiseReuse(Result):
    """Distinct premises, and the mean and the largest number of rows of one."""

    distinct: int
    mean: float
    max: int


@result
class DatasetFacts(Result):
    """Counts and shares of a training set and, where there is one, a test set.

    Texts are compared as they stand, letter by letter.

    Attributes:
        n_train: Rows of the training set.
        n_test: Rows of the test set, or None.
        label_counts: Split to label to rows; empty for data without classes.
        lengths: For each split, role and label.
        length_unit: "words" (between white space), or "characters" for scripts without spaces.
        duplicates: Of each split.
        overlap: `rows`, test rows whose texts all stand together in a training row; and for each role, test rows
            whose text occurs in that role in training. Empty without a test set.
        premise_reuse: Of each split of pairs.
        dropped: Split to reason to rows left out.
    """

    n_train: int
    n_test: int | None
    label_counts: Mapping[str, Mapping[str, int]]
    lengths: tuple[TextLengths, ...]
    length_unit: str
    duplicates: Mapping[str, Duplicates]
    overlap: Mapping[str, Shared]
    premise_reuse: Mapping[str, PremiseReuse]
    dropped: Mapping[str, Mapping[str, int]]

    def to_frame(self) -> pl.DataFrame:
        """The lengths, one row a split, role and label."""
        return frame_of_records(self.lengths, TextLengths)

    def more_figures(self) -> tuple[Figure, ...]:
        """How many training and test examples there are."""
        sizes = ((_TRAIN, self.n_train), (_TEST, self.n_test))
        return tuple(measure.figure(n, n=n) for measure, n in sizes if n is not None)


@result
class AnswerFit(Result):
    """How answers fit the items of an audit.

    Attributes:
        n_items: Of the audit.
        n_answered: Those that some system answers.
        n_unknown: Names in the answers that are no item's.
        n_other_keys: Items for which the answers state a key that is not right by the items.
        is_rescored: Whether the answers are scored by the items' keys.
        has_unread_keys: Whether the answers state keys that are no choices of the items.
        is_chance: Whether no system is right more often than by guessing.
        unknown: The first names that are no item's.
    """

    n_items: int
    n_answered: int = figure(
        Measure("answered.items", "items that have answers", "examples", "higher", least=0), n="n_items"
    )
    n_unknown: int
    n_other_keys: int = figure(
        Measure("answered.other_keys", "items for which the answers state another key", "examples", "lower", least=0),
        n="n_answered",
    )  # fmt: skip
    is_rescored: bool
    has_unread_keys: bool
    is_chance: bool
    unknown: tuple[str, ...]

    @property
    def answers_others(self) -> bool:
        """Whether the answers seem to be to other items: none is to one of these, or most keys are others."""
        return not self.n_answered or self.n_other_keys > _MOST_OTHER * self.n_answered
