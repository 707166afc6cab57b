"""What was read, with which settings, on what machine, in what time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import count, decimal_cell, number, whole_cell
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records, text
from goldassay.report.sections.instability_inputs import runs_read

if TYPE_CHECKING:
    from collections.abc import Mapping


# Runs may come in hundreds of files.
_MOST_FINGERPRINTS = 3


def section(document: Mapping[str, Any]) -> Section:
    """The section "What was read"."""
    return Section(
        key="inputs",
        title="What was read",
        question="Inputs, decisions, settings and the machine: what it takes to get the same numbers again.",
        notes=_decisions(document),
        parts=(Part(None, _inputs(document)), Part(None, runs_read(document))),
        small=(_settings(document), _environment(document), _timing(document)),
    )


def _decisions(document: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{source.get('role')}: {decision}"
        for source in records(document.get("inputs"))
        for decision in source.get("decisions") or ()
    )


def _inputs(document: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(source.get("role")),
            data(source.get("name")),
            text(source.get("format")),
            whole_cell(source.get("n_read")),
            whole_cell(source.get("n_rows")),
            text("; ".join(f"{reason}: {count(n)}" for reason, n in mapping(source, "dropped").items())),
            data(", ".join(f"{role} = {column}" for role, column in mapping(source, "roles").items())),
            data(", ".join(_listed(source.get("sha256")))),
        )
        for source in records(document.get("inputs"))
    )
    columns = ("role", "file", "format", "rows read", "rows kept", "left out", "columns", "SHA-256")
    return Table("Inputs", columns, rows)


def _listed(value: Any) -> list[str]:
    """One fingerprint or several, as a list: a dataset may be read from more than one file."""
    if not isinstance(value, (list, tuple)):
        return [str(value or "—")]
    left = len(value) - _MOST_FINGERPRINTS
    more = [f"and {left} more in report.json"] if left > 0 else []
    return [*(str(item) for item in value[:_MOST_FINGERPRINTS]), *more]


def _settings(document: Mapping[str, Any]) -> Table:
    rows = tuple((Cell(name), data(value)) for name, value in _flat(mapping(document, "settings")))
    return Table("Settings", ("setting", "value"), rows)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in settings.items():
        if mapping(value):
            pairs += _flat(mapping(value), f"{prefix}{name}.")
        else:
            pairs.append((f"{prefix}{name}", "not set" if value is None else str(value)))
    return pairs


def _environment(document: Mapping[str, Any]) -> Table:
    environment = mapping(document, "environment")
    pairs = [("goldassay", document.get("goldassay_version"))]
    pairs += [(name, environment.get(name)) for name in ("python", "platform")]
    pairs += [(name, version) for name, version in mapping(environment, "packages").items() if name != "goldassay"]
    rows = tuple((Cell(name), text(value)) for name, value in pairs if value is not None)
    return Table("Environment", ("component", "version"), rows)


def _timing(document: Mapping[str, Any]) -> Table:
    timing = mapping(document, "timing")
    seconds = mapping(timing, "seconds")
    rows = [(Cell(name), decimal_cell(value, 2)) for name, value in seconds.items()]
    if len(rows) > 1:
        total = sum(number(value) or 0.0 for value in seconds.values())
        rows.append((Cell("all steps"), decimal_cell(total, 2)))
    span = [str(timing[key]) for key in ("started", "finished") if timing.get(key)]
    return Table(
        " to ".join(["Time taken, " + span[0], *span[1:]] if span else ["Time taken"]), ("step", "seconds"), tuple(rows)
    )
