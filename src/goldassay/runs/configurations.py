"""How a run was made: the configuration that its log tells, and which runs share one.

A run is (model, configuration, repeat). Repeats differ in nothing but chance: seed, epoch, sampling. All else that a
log tells (task arguments, prompt, shots, solver, scorer, generation settings, version of the harness) is the
configuration. Runs of different configurations are never taken for repeats of each other, unless that was asked for.

A configuration is flat: {dotted name: number, text, truth or list}. What is empty counts as not told. Left out is what
tells repeats apart (seeds, times, names of runs), where and how fast it ran (folders, devices, batches), and the
last digits of versions.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError, is_inert, option, visible

if TYPE_CHECKING:
    from goldassay.runs.run_parts import Collection, Slice

Configuration = Mapping[str, Any]

# The last part of a name says what a value is of. A model's name stands elsewhere: it is not how it was asked.
_REPEAT = re.compile(
    r"(.*_)?(seed|seeds|epoch|epochs|timestamp|timestamps|date|time_started|created|started|completed|start_time"
    r"|end_time|run_id|eval_id|job_id|task_id|uuid|hostname|user|git_hash)"
)
_PLACE = re.compile(
    r"(.*_)?(device|devices|device_map|batch_size|batch_sizes|max_batch_size|eval_batch_size|max_connections|max_retries"
    r"|timeout|attempt_timeout|max_tasks|max_samples|max_subprocesses|cache|cache_dir|cache_prompt|use_cache|log_dir"
    r"|log_level|num_workers|num_proc|workers|threads|parallelize|tensor_parallel_size|data_parallel_size"
    r"|pipeline_parallel_size|gpu_memory_utilization|max_eval_instances|api_key|base_url|output_dir|output_path)|limit"
)
# Objects that were written down by their place in memory, which is another in each process.
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
_FILE = re.compile(r"(?:[A-Za-z]:)?[^\n]*[/\\](?P<name>[^/\\\n]+\.[A-Za-z0-9]{1,6})")
_FOLDER = re.compile(r"(?:/|[A-Za-z]:[/\\])[^\n]*?(?P<name>[^/\\\n]+)[/\\]?")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_VERSION = re.compile(r"v?([0-9]+\.[0-9]+)\b.*")
_BRACKETS = re.compile(r"[\[\]*?\s]+")
_LONGEST_NAME = 60
# And so many settings are named before digits that stand for them.
_MOST_SETTINGS = 2
_DIGITS = 8


def flat(told: Mapping[str, Any], without: Iterable[str] = ()) -> dict[str, Any]:
    """A configuration of what a log tells, by dotted names in ascending order.

    Args:
        told: As the log has it, nested or not.
        without: Names (their last part) that are no configuration in this format: those that name the model, say.
    """
    found: dict[str, Any] = {}
    _flatten(told, "", frozenset(without), found)
    return dict(sorted(found.items()))


def _flatten(value: Any, name: str, without: frozenset[str], found: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            last = str(key).rpartition(".")[2]
            if last not in without and not _REPEAT.fullmatch(last.lower()) and not _PLACE.fullmatch(last.lower()):
                _flatten(inner, f"{name}.{key}" if name else str(key), without, found)
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(v, Mapping) for v in value):
        for place, inner in enumerate(value):
            _flatten(inner, f"{name}.{place}", without, found)
    else:
        plain = _plain(value)
        if plain not in (None, "", []):
            found[name] = plain


def _plain(value: Any) -> Any:
    """A value by which equal settings are equal: 1.0 is 1, and a file has the name it has in any folder."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() else value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain for each in value if (plain := _plain(each)) is not None]
    text = str(value)
    if _ADDRESS.search(text):
        return None
    place = _FILE.fullmatch(text) or _FOLDER.fullmatch(text)
    return place["name"] if place else text


def number_or_text(text: Any) -> Any:
    """A cell of a table as the number that it is, so that a table says the same in any format."""
    if not isinstance(text, str):
        return text
    plain = text.strip()
    number = _NUMBER.fullmatch(plain)
    if number is None:
        return plain
    try:
        # A large whole number has more digits than a float.
        return float(plain) if number[1] or number[2] else int(plain)
    except ValueError:
        return plain


def to_cell(value: Any) -> str:
    """A setting as a cell of a table, which `from_cell` reads as the same; texts stand as they are where they can."""
    if isinstance(value, str) and is_inert(value) and _is_same(from_cell(value), value):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text if visible(text) == text else json.dumps(value)


def from_cell(cell: Any) -> Any:
    """The setting that a cell of a table is: a number, true or false, a JSON text or list, or the text itself."""
    if not isinstance(cell, str):
        return cell
    plain = cell.strip()
    if plain in ("true", "false"):
        return plain == "true"
    if plain.startswith(('"', "[")):
        try:
            return json.loads(plain)
        except (ValueError, RecursionError):
            return plain
    return number_or_text(plain)


def _is_same(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def version_of(text: Any) -> str:
    """The first two numbers of a version; later ones tell nothing that matters."""
    found = _VERSION.fullmatch(str(text))
    return found[1] if found else ""


def arguments_of(text: Any) -> dict[str, Any]:
    """Arguments that stand in one text, a=1,b=x, or are a mapping already."""
    if isinstance(text, Mapping):
        return dict(text)
    pairs = (part.partition("=") for part in str(text or "").split(","))
    return {name.strip(): number_or_text(value) for name, sign, value in pairs if sign}


def canonical(configuration: Configuration) -> str:
    """The configuration as JSON that is the same for the same settings."""
    return json.dumps(dict(configuration), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(configuration: Configuration) -> str:
    """The first 8 hexadecimal digits of the SHA-256 of the canonical JSON; "" where nothing was told."""
    return hashlib.sha256(canonical(configuration).encode()).hexdigest()[:_DIGITS] if configuration else ""


def is_greedy(configuration: Configuration) -> bool:
    """Whether the settings say that another run gives the same answers: nothing is drawn at random."""
    told = {name.lower().rpartition(".")[2]: value for name, value in configuration.items()}
    if told.get("do_sample") is True or told.get("temperature", 0) not in (0, "0", "0.0"):
        return False
    likelihoods = str(told.get("output_type", "")).startswith(("loglikelihood", "multiple_choice"))
    return "temperature" in told or told.get("do_sample") is False or likelihoods


def differing(configurations: Iterable[Configuration]) -> list[str]:
    """Names in which configurations differ; one that some lack differs, too."""
    every = list(configurations)
    names = dict.fromkeys(name for each in every for name in each)
    return sorted(name for name in names if len({_shown(each.get(name)) for each in every}) > 1)


def asked_apart(configurations: Iterable[Configuration]) -> list[str]:
    """Say that models were asked in different ways, where their files tell it; [] where they do not, or were not."""
    told = [each for each in configurations if each]
    names = differing(told)
    if not names:
        return []
    return [
        f"The models have different prompts or settings: {_listed(names)} differ{'s' if len(names) == 1 else ''}. That "
        "may be why their scores differ."
    ]


def name_by_configuration(found: list[Slice]) -> list[Slice]:
    """Name models by their configuration, where a model answered one dataset in several.

    "small" becomes "small [prompt=cot]" and "small [prompt=plain]", on all datasets: the names are of what differs on
    any of them, so that the runs of one configuration on several datasets keep one name. What was told apart already is
    told apart anew, so that slices of several places may be put together.
    """
    by_model: dict[tuple[str, ...], list[Slice]] = defaultdict(list)
    plain = [
        replace(part, collection=part.collection._replace(model=part.base_model), base_model="")
        if part.base_model
        else part
        for part in found
    ]
    for part in plain:
        by_model[_of_model(part.collection)].append(part)
    named = {id(part): name for parts in by_model.values() for part, name in _names(parts)}
    return [
        replace(part, collection=part.collection._replace(model=name), base_model=part.collection.model)
        if (name := named.get(id(part)))
        else part
        for part in plain
    ]


def _of_model(key: Collection) -> tuple[str, ...]:
    return key.model, key.condition, key.train_set


def _names(parts: list[Slice]) -> list[tuple[Slice, str]]:
    """Each of one model's slices with the name that its configuration gives the model; none where it has but one."""
    names = differing_in(parts)
    if not names:
        return []
    short = _short(names)
    readable = [_describe(part.configuration, names, short) for part in parts]
    alike: dict[str, set[str]] = defaultdict(set)
    for part, said in zip(parts, readable, strict=True):
        alike[said].add(_picked(part.configuration, names))
    unclear = any(len(said) > _LONGEST_NAME for said in readable) or any(len(each) > 1 for each in alike.values())
    # Called by the settings, since the list of runs shows the digits of the whole configuration beside this name.
    more = ", ..." if len(names) > _MOST_SETTINGS else ""
    what = ", ".join(short[name] for name in names[:_MOST_SETTINGS]) + more
    shown = [f"{what}: {_key(part.configuration, names)}" for part in parts] if unclear else readable
    return [(part, f"{part.collection.model} [{said}]") for part, said in zip(parts, shown, strict=True)]


def _picked(configuration: Configuration, names: Sequence[str]) -> str:
    return canonical({name: configuration[name] for name in names if name in configuration})


def _key(configuration: Configuration, names: Sequence[str]) -> str:
    """Digits by what differs alone, so that they are the same on all datasets."""
    return hashlib.sha256(_picked(configuration, names).encode()).hexdigest()[:_DIGITS]


def _short(names: Sequence[str]) -> dict[str, str]:
    """The last part of each name, where no other ends in it."""
    last = [name.rpartition(".")[2] for name in names]
    return {name: end if last.count(end) == 1 else name for name, end in zip(names, last, strict=True)}


def _describe(configuration: Configuration, names: Sequence[str], short: Mapping[str, str]) -> str:
    return ", ".join(
        f"{short[name]}={_BRACKETS.sub(' ', _text(configuration[name])).strip()}"
        if name in configuration
        else f"no {short[name]}"
        for name in names
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _shown(value)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def pooled(found: list[Slice]) -> list[Slice]:
    """The slices as runs of one configuration each model, as asked for: what they were told is let go of.

    Runs that have one seed in several configurations are named by both.
    """
    told: dict[tuple[Collection, Any, Any], set[str]] = defaultdict(set)
    for part in found:
        told[part.collection, part.seed, part.checkpoint].add(digest(part.configuration))
    clashes = {(key, seed) for (key, seed, _), digests in told.items() if len(digests) > 1}
    return [
        replace(
            part,
            seed=f"{part.seed}@{digest(part.configuration) or 'unrecorded'}"
            if (part.collection, part.seed) in clashes
            else part.seed,
            configuration={},
        )
        for part in found
    ]


def check_one(parts: Sequence[Slice]) -> None:
    """Refuse to take runs of several configurations for repeats of one, however they came together.

    Raises:
        InputError: There are several; the line names the settings that differ.
    """
    several = {digest(part.configuration): part for part in parts}
    if len(several) < 2:
        return
    first, second = list(several.values())[:2]
    raise InputError(
        f"the runs of {first.collection.model} have {len(several)} configurations, which differ in "
        f"{_listed(differing(each.configuration for each in several.values()))}: they are no repeats",
        file=second.file,
        mend=f"give those of one, or pool them deliberately with {option('pool_configurations')}",
    )


def refuse_base_name(found: Iterable[Slice], wanted: str) -> None:
    """Refuse a model's own name where its runs have several configurations, of which one must be named.

    Raises:
        InputError: That is so; the line names the settings that differ, and the models to choose from.
    """
    parts = [part for part in found if part.base_model == wanted] if wanted else []
    if not parts:
        return
    names = sorted({part.collection.model for part in parts})
    raise InputError(
        f"the runs of {wanted} have {len(names)} configurations, which differ in {_listed(differing_in(parts))}",
        mend=f"choose one, as in {option('model', shlex.quote(names[0]))}, of {_listed(names)}, or pool them "
        f"deliberately with {option('pool_configurations')}",
    )


def differing_in(parts: Iterable[Slice]) -> list[str]:
    """Settings in which the runs of one model differ on some dataset."""
    on_dataset: dict[tuple[str, str], list[Configuration]] = defaultdict(list)
    for part in parts:
        on_dataset[part.collection.dataset, part.collection.split].append(part.configuration)
    return sorted({name for each in on_dataset.values() for name in differing(each)})


def describe_configurations(found: Iterable[Slice]) -> list[str]:
    """A sentence for each model whose runs have several configurations: how many, and in what they differ."""
    by_model: dict[str, list[Slice]] = defaultdict(list)
    for part in found:
        if part.base_model:
            by_model[part.base_model].append(part)
    return [
        f"{model} was run in {len(names)} configurations, which differ in {_listed(differing_in(parts))}: these are "
        "different sets of runs."
        for model, parts in sorted(by_model.items())
        if len(names := {part.collection.model for part in parts}) > 1
    ]


def _listed(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f", and {len(names) - most} more" if len(names) > most else "")
