"""Whether two reports may be laid side by side at all, and what a reader must know of them before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.figures import measure_of
from goldassay.core.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.figures import Figure
    from goldassay.gate.reading import StoredReport

_MOST_SETTINGS = 8
# Of rows that were handed over in memory no report keeps a hash.
_UNKNOWN = "; whether they are the same is not known"
_ROLES = {
    "train": "training data",
    "test": "test data",
    "elsewhere": "data from elsewhere",
    "runs": "runs",
    "gold": "gold labels",
}
# What decides no figure: where and how fast it was computed.
_IDLE_SETTINGS = ("training", "reading")


def check_comparable(before: StoredReport, after: StoredReport) -> None:
    """Refuse reports that say nothing about the same thing.

    Raises:
        InputError: They ask different questions, or their datasets have other labels or other texts.
    """
    asked = [_asked(report) for report in (before, after)]
    if not set(asked[0]) & set(asked[1]):
        raise InputError(
            f"it asks {' and '.join(asked[1]) or 'nothing'}, the first report {' and '.join(asked[0]) or 'nothing'}: "
            "they have no measure in common",
            file=after.path,
            mend="compare two reports of the same command",
        )
    for key, what in (("label_names", "labels"), ("text_columns", "texts")):
        one, other = ((report.document.get("dataset") or {}).get(key) for report in (before, after))
        if one and other and set(one) != set(other):
            raise InputError(
                f"it is about another dataset: its {what} are {', '.join(map(str, other))}, those of the first report "
                f"{', '.join(map(str, one))}",
                file=after.path,
                mend="compare two reports on versions of one dataset",
            )


def warnings_of(before: StoredReport, after: StoredReport) -> list[str]:
    """What makes a change mean less than it seems: other commands, other versions, other data, other settings."""
    one, other = before.document, after.document
    found = []
    commands = [document["command"] for document in (one, other)]
    if commands[0] != commands[1]:
        found.append(
            f"The reports are of two commands, goldassay {commands[0]} and goldassay {commands[1]}: what both measure "
            "is compared, and each may measure it in its own way."
        )
    if one["digest"] == other["digest"]:
        found.append("Both reports say the same: their digests are equal.")
    if one["goldassay_version"] != other["goldassay_version"]:
        found.append(
            f"The reports are of two versions of goldassay, {one['goldassay_version']} and "
            f"{other['goldassay_version']}: a change may be one of method."
        )
    found += _data(one, other)
    changed = _settings(one, other)
    if changed:
        more = f" and {len(changed) - _MOST_SETTINGS} more" if len(changed) > _MOST_SETTINGS else ""
        found.append(f"The settings differ: {'; '.join(changed[:_MOST_SETTINGS])}{more}.")
    return found


def compared_figures(report: StoredReport) -> list[Figure]:
    """The defined figures of a report whose measures two reports are compared by, in the report's order."""
    found = []
    for figure in report.figures:
        measure = measure_of(figure.id)
        if figure.is_defined and measure is not None and measure.compared and measure.takes(figure):
            found.append(figure)
    return found


def same_test_set(before: StoredReport, after: StoredReport) -> bool | None:
    """Whether both evaluate on the same file; None where a report names none."""
    one, other = (_files(report.document, "test") for report in (before, after))
    return one == other if one and other else None


def _data(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    found = []
    for role, name in _ROLES.items():
        files = [_files(document, role) for document in (one, other)]
        named = [any(each["role"] == role for each in document["inputs"]) for document in (one, other)]
        if not any(named) or (files[0] == files[1] and all(files)):
            continue
        described = [_described(document, role) for document in (one, other)]
        if not all(named):
            which = named.index(True)
            found.append(f"Only the {('first', 'second')[which]} report names {name}: {described[which]}.")
        elif all(files):
            found.append(f"The {name} differ: {described[0]} and {described[1]}.")
        elif described[0] != described[1]:
            found.append(f"The {name} are {described[0]} and {described[1]}{_UNKNOWN}.")
        else:
            found.append(f"The {name} are {described[0]} in both reports{_UNKNOWN}.")
    shared = set().union(*(_files(one, role) for role in _ROLES)) & set().union(
        *(_files(other, role) for role in _ROLES)
    )
    both = all(any(_files(document, role) for role in _ROLES) for document in (one, other))
    if len(found) > 1 and both and not shared:
        found.append("No file is the same: are these two versions of one dataset, or two datasets?")
    return found


def _asked(report: StoredReport) -> list[str]:
    """The questions that a report has a figure to compare of."""
    measures = (measure_of(figure.id) for figure in compared_figures(report))
    return list(dict.fromkeys(each.question for each in measures if each is not None and not each.describes_data))


def _files(document: Mapping[str, Any], role: str) -> list[str]:
    return sorted(digest for each in document["inputs"] if each["role"] == role for digest in each["sha256"])


def _described(document: Mapping[str, Any], role: str) -> str:
    named = [each for each in document["inputs"] if each["role"] == role]
    rows = [each["n_rows"] for each in named if isinstance(each.get("n_rows"), int)]
    told = [f"{count(sum(rows))} rows"] if rows else []
    # Two versions of a dataset often have one name: the hash tells them apart.
    digests = [digest for each in named for digest in each["sha256"]]
    if not digests:
        told.append("in memory")
    else:
        told.append(f"sha256 {digests[0][:8]}…" + (f" and {len(digests) - 1} more" if len(digests) > 1 else ""))
    names = list(dict.fromkeys(str(each["name"]) for each in named))
    return (names[0] if len(names) == 1 else f"{len(names)} files") + (f" ({', '.join(told)})" if told else "")


def _settings(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What was set otherwise; of what a question made of its settings, where both reports say it."""
    used = [_used(document) for document in (one, other)]
    flat = [
        _flat(document["settings"]) | {key: value for key, value in mine.items() if key in others}
        for document, mine, others in zip((one, other), used, reversed(used), strict=True)
    ]
    keys = [key for key in flat[0] if key in flat[1] and key.partition(".")[0] not in _IDLE_SETTINGS]
    return [f"{key} {_shown(flat[0][key])} and {_shown(flat[1][key])}" for key in keys if flat[0][key] != flat[1][key]]


def _used(document: Mapping[str, Any]) -> dict[str, Any]:
    """Each question's own settings, under its key: defaults that follow the data are filled in there."""
    used: dict[str, Any] = {}
    for key, part in document.items():
        if isinstance(part, dict) and isinstance(part.get("settings"), dict):
            used |= _flat(part["settings"], f"{key}.")
    return used


def _shown(value: Any) -> str:
    """A setting as a settings file has it."""
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict):
            flat |= _flat(item, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = item
    return flat
