"""What `report.json` holds around the answers, as far as programs may rely on it, and as far as this package reads it.

Every command that reports writes a document of this kind. What is not declared here may be there too and may change;
what is declared keeps its name, its place and its range within a schema version. `report.schema.json` says the same to
other languages, with the results of questions; `goldassay.questions.report_schema` makes it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "goldassay.report"
SCHEMA_VERSION = 2
FILE_NAME = "report.json"
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
    limits: str = ""
    question: str = ""


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


class Input(_Part):
    """A dataset, or a place with runs, that was read."""

    role: str
    name: str
    sha256: list[Sha256]
    files: list[str]
    n_rows: Count | None = None
    n_read: Count | None = None
    roles: dict[str, Any] = Field(default_factory=dict)


class StoredDataset(_Part):
    """What a report is about."""

    name: str | None = None
    label_names: list[str] | None = None
    text_columns: list[str] | None = None


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


class SettingsFile(_Part):
    """The file that settings were read from."""

    name: str
    sha256: Sha256


class Document(_Part):
    """What a report says. It holds no clock: the same input gives the same bytes."""

    kind: Literal["goldassay.report"] = Field(alias="schema")
    schema_version: Literal[2]
    goldassay_version: str
    command: str
    title: str
    questions: list[str] | None = None
    verdicts: dict[str, Verdict] | None = None
    figures: list[FigureRow]
    dataset: StoredDataset | None = None
    clusters: StoredClusters | None = None
    suspect: StoredSuspect | None = None
    artifacts: StoredPatterns | None = None
    judgments: dict[str, Any] | None = None
    inputs: list[Input]
    settings: dict[str, Any]
    settings_file: SettingsFile | None = None
    environment: dict[str, Any]
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
