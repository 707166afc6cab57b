"""What `report.json` holds, as far as programs may rely on it; `report.schema.json` says the same to other languages.

Every command that reports writes a document of this kind. What is not declared here may be there too and may change;
what is declared keeps its name, its place and its range within a schema version.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)] | None
Difference = Annotated[float, Field(ge=-1, le=1)] | None
Number = float | None
Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Question = Literal["artifacts", "leakage", "instability", "shift", "comparison"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Headline(_Part):
    """The figure that decided a verdict."""

    label: str
    value: Number
    low: Number
    high: Number
    unit: Literal["points", "difference", "share", "examples", "ratio"]


class _Answer(_Part):
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str


class Verdict(_Answer):
    """The answer to one question."""

    verdict: Literal["sound", "caution", "unsound", "not measurable"]


class Ruling(_Answer):
    """The answer of a comparison."""

    verdict: Literal["told apart", "not told apart", "not measurable"]


class Verdicts(_Part):
    """The verdict on each question that was asked."""

    artifacts: Verdict | None = None
    leakage: Verdict | None = None
    instability: Verdict | None = None
    shift: Verdict | None = None
    comparison: Ruling | None = None


class Input(_Part):
    """A dataset, or a place with runs, that was read."""

    role: str
    name: str
    sha256: list[Sha256]
    files: list[str]
    n_rows: Count | None = None
    n_read: Count | None = None


class Estimate(_Part):
    """A figure with its interval."""

    value: Number
    low: Number
    high: Number


class Subset(_Part):
    """How many examples are in a class."""

    n: Count
    share: Share


class Difficulty(_Part):
    """The classes of the test examples."""

    easy: Subset
    hard: Subset
    conflicting: Subset
    uncovered: Subset


class Pattern(_Part):
    """A pattern among the strongest of its label."""

    pattern: str
    support: Count
    probability: Share


class Artifacts(_Part):
    """Which surface patterns give the label away."""

    n_mined: Count | None = None
    n_selected: Count | None = None
    strongest: dict[str, list[Pattern]] | None = None
    coverage: Share = None
    precision: Estimate | None = None
    giveaway: Estimate | None = None
    difficulty: Difficulty | None = None


class Condition(_Part):
    """What a model makes of a part of the input."""

    condition: str
    n_runs: Count
    accuracy: Share
    majority: Share
    improvement: Difference
    improvement_low: Difference
    improvement_high: Difference


class Clusters(_Part):
    """How clusters of embeddings go with labels."""

    role: str
    score: Number
    biased_share: Share


class DatasetPart(_Part):
    """A part of one of several datasets."""

    dataset: str
    part: str
    improvement: Difference


class Leakage(_Part):
    """How much of the label can be read from a part of the input."""

    source: str | None = None
    conditions: list[Condition] | None = None
    peco: list[Clusters] | None = None
    datasets: list[DatasetPart] | None = None


class Result(_Part):
    """A model on a dataset: its score over runs."""

    model: str
    dataset: str
    condition: str
    n_runs: Count
    n_examples: Count
    mean: Number
    sd: Annotated[float, Field(ge=0)] | None = None
    effective_size: Number = None
    design_effect: Number = None


class Instability(_Part):
    """Whether the score would come out the same with another seed."""

    source: Literal["runs", "probe"]
    results: list[Result]


class Gap(_Part):
    """A model's metric on one set, and what it loses there."""

    model: str
    test: str
    metric: str
    own: bool
    n_runs: Count
    value: Number
    gap: Number


class Detection(_Part):
    """How well a score tells other texts from the model's own."""

    model: str
    dataset: str
    score: str
    n_runs: Count
    auroc: Share
    false_alarm_rate: Share


class Shift(_Part):
    """Whether the score holds on another distribution."""

    reason: str | None = None
    generalization: list[Gap] | None = None
    detection: list[Detection] | None = None


class Timing(_Part):
    """When it was made; nothing else differs between two equal runs."""

    started: str
    finished: str


class Document(_Part):
    """What a report says."""

    kind: Literal["goldassay.report"] = Field(alias="schema")
    schema_version: Literal[1]
    goldassay_version: str
    title: str
    questions: list[Question] | None = None
    verdicts: Verdicts | None = None
    dataset: dict[str, Any] | None = None
    inputs: list[Input]
    facts: dict[str, Any] | None = None
    artifacts: Artifacts | None = None
    leakage: Leakage | None = None
    instability: Instability | None = None
    comparison: dict[str, Any] | None = None
    shift: Shift | None = None
    settings: dict[str, Any]
    environment: dict[str, Any]
    timing: Timing
    digest: Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


def json_schema() -> dict[str, Any]:
    """The same as JSON Schema, draft 2020-12."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema(by_alias=True)}
