"""Settings: what can be changed, its defaults, and `goldassay.toml`.

Each field's description says what it does; the defaults are those of the report's text. A key that is not
known is refused with the nearest one that is, since a setting that is silently ignored is worse than none. What is
wrong with a value is said in our own words.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from goldassay.core import options
from goldassay.core.bounds import DEPTH, reason
from goldassay.core.errors import InputError
from goldassay.core.files import seekable, sha256_of
from goldassay.core.naming import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "goldassay.toml"
_KEYS, _NAME_ENDS = re.compile(r"[\r\n=,{}\[\]]"), re.compile(r"[\w-]\.(?=[\w-])")
Section = TypeVar("Section", bound=BaseModel)
# By the kind of error that pydantic tells; in braces what it says of the limit that was broken.
_NEEDED = {
    "int_type": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "float_type": "a number is needed",
    "finite_number": "a finite number is needed",
    "bool_type": "true or false is needed",
    "string_type": "a text is needed",
    "list_type": "a list is needed",
    "tuple_type": "a list is needed",
    "dict_type": "a table is needed",
    "model_type": "a table is needed",
    "model_attributes_type": "a table is needed",
    "literal_error": "it may be {expected}",
    "greater_than": "it must be above {gt}",
    "greater_than_equal": "it must be {ge} or more",
    "less_than": "it must be below {lt}",
    "less_than_equal": "it must be {le} or less",
    "too_short": "at least {min_length} must be named",
    "too_long": "at most {max_length} may be named",
    "string_too_short": "it must be {min_length} characters or longer",
    "string_pattern_mismatch": "it must match {pattern}",
    "missing": "it is missing",
}
_PLAIN = (str, int, float, bool)
_LONGEST = 40


def of_option(declared: Any) -> Any:
    """A field with the default, the bounds and the description of an option."""
    option = get_args(declared)[1]
    return Field(default=option.default, description=option.help, allow_inf_nan=option.finite, **option.bounds)


class StrictSection(BaseModel):
    """A part of a settings file: unknown keys are refused, and values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ArtifactSettings(StrictSection):
    """How patterns are mined and kept."""

    max_tokens: int = of_option(options.MaxTokens)
    max_gap: int = of_option(options.MaxGap)
    min_count: int | None = of_option(options.MinCount)
    tokenizer: Literal["auto", "treebank", "whitespace", "characters"] = of_option(options.Tokenizer)
    q: float = Field(
        default=0.01, gt=0, le=1, description="Largest Benjamini-Hochberg q-value of a pattern that is kept."
    )
    threshold: float = of_option(options.Threshold)


class LeakageSettings(StrictSection):
    """What judges how much a part of the input tells."""

    seeds: int | None = of_option(options.LeakageSeeds)
    model: str | None = Field(
        default=None,
        description="A network in place of the quick probes: its name, or the place of a checkpoint. Of [training] "
        "hold configuration, changes, rows, bootstrap, vectors, precision, device and workers.",
    )


_OF_NETWORK = ("configuration", "changes", "rows", "bootstrap", "vectors", "precision", "device")


class TrainingSettings(StrictSection):
    """What `goldassay train` does where an option is not given."""

    model: str | None = Field(default=None, description="Name of a network, or the place of a checkpoint.")
    dev: str | None = of_option(options.Dev)
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)] | list[int] = Field(
        default=10, description=get_args(options.TrainingSeeds)[1].help
    )
    vary: list[str] | None = of_option(options.Vary)
    conditions: list[str] | None = Field(default=None, description="What the model sees; by default all texts.")
    configuration: Literal["desk", "published"] | None = of_option(options.Configuration)
    changes: dict[str, bool | int | float | str] | None = of_option(options.Changes)
    objective: str | None = of_option(options.Objective)
    objective_changes: dict[str, bool | int | float | str] | None = of_option(options.ObjectiveChanges)
    bias: str | None = of_option(options.Bias)
    bias_folds: int | None = of_option(options.BiasFolds)
    teacher: str | None = of_option(options.Teacher)
    rows: int | None = of_option(options.Rows)
    bootstrap: bool | None = of_option(options.Bootstrap)
    vectors: str | None = of_option(options.Vectors)
    weights: str | None = of_option(options.Weights)
    checkpoint_every: int | None = of_option(options.CheckpointEvery)
    state_every: float | None = of_option(options.StateEvery)
    record: list[str] | None = of_option(options.Record)
    precision: Literal["float32", "bfloat16", "auto"] | None = of_option(options.Precision)
    device: Literal["auto", "cpu", "cuda", "mps"] | None = of_option(options.Device)
    deterministic: bool | None = of_option(options.Deterministic)
    workers: int | None = of_option(options.Workers)

    def arguments(self) -> dict[str, Any]:
        """What is set, as `goldassay.lab.training.train` takes it."""
        plain = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
            if value is not None
        }

    def of_network(self) -> dict[str, Any]:
        """What is set of how a network is made, for commands that choose data, conditions and seeds themselves."""
        given = self.arguments()
        return {name: given[name] for name in _OF_NETWORK if name in given}


class DataSettings(StrictSection):
    """Which rows belong together, and how data without a test part are split."""

    test_share: float = of_option(options.TestShare)
    clusters: str = of_option(options.Clusters)
    split_by: str | None = of_option(options.SplitBy)


class ArtifactLimits(StrictSection):
    """Accuracy or balanced skill of guessing by pattern: shares of what naming one label leaves to be gained."""

    caution: float = Field(default=0.015, ge=0, le=1)
    unsound: float = Field(default=0.075, ge=0, le=1)


class LeakageLimits(StrictSection):
    """Accuracy or balanced skill of a partial input: shares of what naming one label leaves to be gained."""

    caution: float = Field(default=0.03, ge=0, le=1)
    unsound: float = Field(default=0.12, ge=0, le=1)


class InstabilityLimits(StrictSection):
    """Standard deviation of accuracy over runs, a fraction, and design effect."""

    caution_sd: float = Field(default=0.003, ge=0, le=1)
    unsound_sd: float = Field(default=0.01, ge=0, le=1)
    caution_design_effect: float = Field(default=5.0, ge=1)


class SensitivityLimits(StrictSection):
    """Standard deviation of the score over configurations, without the noise of repeats, a fraction."""

    caution_sd: float = Field(default=0.01, ge=0, le=1)
    unsound_sd: float = Field(default=0.03, ge=0, le=1)


class AnsweredLimits(StrictSection):
    """Share of answers without a score (caution), and how far their rule moves a score (unsound), fractions."""

    caution: float = Field(default=0.005, ge=0, le=1)
    unsound: float = Field(default=0.05, ge=0, le=1)


class JudgmentLimits(StrictSection):
    """What a seat adds to a judge's win rate, and how far a judge's mean score is from people's, fractions."""

    caution: float = Field(default=0.02, ge=0, le=1)
    unsound: float = Field(default=0.1, ge=0, le=1)


class OverlapLimits(StrictSection):
    """Share of the items that stand in the corpus with their answers, a fraction."""

    caution: float = Field(default=0.005, ge=0, le=1)
    unsound: float = Field(default=0.05, ge=0, le=1)


class ShiftLimits(StrictSection):
    """Share lost elsewhere of what a metric has above its floor, and false alarm rate of telling texts apart."""

    caution: float = Field(default=0.02, ge=0, le=1)
    unsound: float = Field(default=0.1, ge=0, le=1)
    caution_false_alarms: float = Field(default=0.3, ge=0, le=1)
    unsound_false_alarms: float = Field(default=0.8, ge=0, le=1)


class VerdictSettings(StrictSection):
    """The limits from which verdicts follow."""

    artifacts: ArtifactLimits = ArtifactLimits()
    leakage: LeakageLimits = LeakageLimits()
    instability: InstabilityLimits = InstabilityLimits()
    shift: ShiftLimits = ShiftLimits()
    sensitivity: SensitivityLimits = SensitivityLimits()
    judgments: JudgmentLimits = JudgmentLimits()
    answered: AnsweredLimits = AnsweredLimits()
    overlap: OverlapLimits = OverlapLimits()

    @model_validator(mode="after")
    def _in_order(self) -> VerdictSettings:
        for name, low, high in (
            ("artifacts", self.artifacts.caution, self.artifacts.unsound),
            ("leakage", self.leakage.caution, self.leakage.unsound),
            ("instability", self.instability.caution_sd, self.instability.unsound_sd),
            ("sensitivity", self.sensitivity.caution_sd, self.sensitivity.unsound_sd),
            ("judgments", self.judgments.caution, self.judgments.unsound),
            ("answered", self.answered.caution, self.answered.unsound),
            ("overlap", self.overlap.caution, self.overlap.unsound),
            ("shift", self.shift.caution, self.shift.unsound),
            ("shift", self.shift.caution_false_alarms, self.shift.unsound_false_alarms),
        ):
            if low > high:
                raise ValueError(f"the limit for caution in {name} ({low}) is above that for unsound ({high})")
        return self


class Settings(StrictSection, options.AnySettings):
    """All settings of an audit."""

    seed: int = of_option(options.Seed)
    data: DataSettings = DataSettings()
    artifacts: ArtifactSettings = ArtifactSettings()
    leakage: LeakageSettings = LeakageSettings()
    training: TrainingSettings = TrainingSettings()
    verdicts: VerdictSettings = VerdictSettings()
    # It judges a report and makes no part of one. What its keys mean is known where reports are judged.
    policy: dict[str, Any] = Field(default_factory=dict, exclude=True)
    _file: Path | None = PrivateAttr(default=None)
    _sha256: str = PrivateAttr(default="")

    @property
    def file(self) -> Path | None:
        """The file that they were read from, if any."""
        return self._file

    @property
    def sha256(self) -> str:
        """SHA-256 of that file; "" where there is none."""
        return self._sha256


def load_settings(path: str | os.PathLike[str] | None = None) -> Settings:
    """Read settings from a TOML file; without a path, from ./goldassay.toml if it is there.

    Raises:
        InputError: The file is missing or no TOML, a key is not known, or a value is out of range.
    """
    file = Path(FILE_NAME if path is None else path)
    if path is None and not file.is_file():
        return Settings()
    settings = parse_settings(read_toml(file), file=file)
    settings._file, settings._sha256 = file, sha256_of(file)
    return settings


def read_toml(file: Path) -> dict[str, Any]:
    """What a TOML file holds.

    Raises:
        InputError: The file is missing or no TOML.
    """
    try:
        # Some editors begin a file with a byte order mark.
        return parse_toml(seekable(file).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=file, mend="name a settings file that exists"
        ) from error
    except RecursionError as error:
        raise InputError("is nested too deeply", file=file, mend="write tables of plain values") from error
    except InputError:
        raise
    # Of text that is no TOML, of bytes that are no text, and of numbers of thousands of digits.
    except ValueError as error:
        raise InputError(f"is not TOML: {reason(error)}", file=file, mend="correct it at that place") from error


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML holds.

    Raises:
        RecursionError: It is nested more than `GOLDASSAY_MAX_DEPTH` deep. The parser takes time and memory by the
            square of the parts of a dotted key.
        ValueError: It is no TOML.
    """
    # Spaces and quotation marks may lie between the parts of a key; a row of dots is a decoration.
    close = re.sub(r"[ \t\"']", "", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    if max(len(_NAME_ENDS.findall(key)) for key in _KEYS.split(close)) > DEPTH.limit():
        raise RecursionError
    return tomllib.loads(text)


def parse_settings(content: dict[str, Any], file: str | os.PathLike[str] | None = None) -> Settings:
    """Check plain settings, as a TOML file holds them.

    Raises:
        InputError: A key is not known (the nearest known one is named), or a value is out of range.
    """
    return validated(Settings, content, file=file)


def validated(kind: type[Section], content: dict[str, Any], file: str | os.PathLike[str] | None = None) -> Section:
    """Check plain content, as a TOML file holds it, against a kind of section.

    Raises:
        InputError: A key is not known (the nearest known one is named) or missing, or a value is out of range.
    """
    try:
        return kind.model_validate(content)
    except ValidationError as invalid:
        # A misspelled key is also a missing one; what stands in the file is to be named.
        first = min(invalid.errors(), key=lambda error: error["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"]) or "verdicts"
        if first["type"] == "extra_forbidden":
            problem, mend = f"unknown key {where!r}", _nearest(where, kind)
        elif first["type"] == "missing":
            problem, mend = f"there is no {where!r}", "add it"
        else:
            problem, mend = f"{_written(first['loc'], content) or where}: {in_words(first)}", "correct the value"
        raise InputError(problem, file=file, mend=mend) from invalid


def chosen(settings: options.SettingsOrFile, seed: int | None = None, **data: Any) -> Settings:
    """The settings that a caller gives, or those of a file, with the seed and keys of [data] where these are given.

    Raises:
        InputError: The file cannot be read, or a value is out of range.
    """
    if not isinstance(settings, (Settings, str, os.PathLike, type(None))):
        raise InputError(f"settings is a {type(settings).__name__}", mend="give load_settings(FILE), or the file")
    if not isinstance(settings, Settings):
        settings = Settings() if settings is None else load_settings(settings)
    return with_data(with_seed(settings, seed), **data)


def with_seed(settings: Settings, seed: int | None) -> Settings:
    """The settings with another seed, where one is given.

    Raises:
        InputError: The seed is no whole number from 0 to 2**32 - 1.
    """
    if seed is None:
        return settings
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InputError(f"the seed is {seed!r}", mend="give a whole number from 0 to 4294967295")
    return settings.model_copy(update={"seed": seed})


def with_data(settings: Settings, **given: Any) -> Settings:
    """The settings with other keys of [data], where a value is given.

    Raises:
        InputError: A value is out of range.
    """
    changed = {name: value for name, value in given.items() if value is not None}
    data = validated(DataSettings, {**settings.data.model_dump(), **changed})
    return settings.model_copy(update={"data": data})


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    """Every key that a settings file may hold, in dotted form."""
    keys = []
    for name, field in model.model_fields.items():
        keys.append(f"{prefix}{name}")
        for kind in get_args(field.annotation) or (field.annotation,):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                keys += known_keys(kind, f"{prefix}{name}.")
    return keys


def _written(place: tuple[str | int, ...], content: Any) -> str:
    """The place as far as the file goes: a plain limit is read as a table with one, of which the file says nothing."""
    parts: list[str] = []
    for part in place:
        if isinstance(part, str) and isinstance(content, dict):
            content = content.get(part)
        elif isinstance(part, int) and isinstance(content, list):
            content = content[part]
        else:
            break
        parts.append(str(part))
    return ".".join(parts)


def _nearest(key: str, kind: type[BaseModel]) -> str:
    """The nearest key of the same section, else of any, else all of the section."""
    known = known_keys(kind)
    section, dot, last = key.rpartition(".")
    siblings = [name for name in known if name.rpartition(".")[0] == section]
    # The name of a table may be free, as that of a model in a plan.
    siblings = siblings or [name for name in known if name.rpartition(".")[0] == section.rpartition(".")[0]]
    # A key of the top that stands in a section is misplaced; any other is more often misspelled.
    top = [name for name in known if "." not in name]
    for choices, cutoff in ((top, 1.0), (siblings, 0.5), (known, 0.6)):
        names = {name.rpartition(".")[2]: name for name in reversed(choices)}
        if near := difflib.get_close_matches(last, names, n=1, cutoff=cutoff):
            return f"did you mean {names[near[0]]!r}?"
    of = f" in {section!r}" if dot else ""
    return f"known{of} are {', '.join(name.rpartition('.')[2] for name in siblings)}"


def in_words(error: Mapping[str, Any]) -> str:
    """An error of pydantic's list as a clause: what is needed, and what is given instead.

    Args:
        error: One of `ValidationError.errors()`.
    """
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    needed = _NEEDED.get(error["type"], str(error["msg"])).format(**error.get("ctx", {}))
    shown = str(error["input"]).lower() if isinstance(error["input"], bool) else repr(error["input"])
    given = isinstance(error["input"], _PLAIN) and len(shown) <= _LONGEST
    return f"{needed}, not {shown}" if given else needed
