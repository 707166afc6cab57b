"""The section of provenance: what was read, with which settings, on what machine.

The clock is in timing.json alone, so that two equal runs give the same page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count
from goldassay.core.sections import Part, Section
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping


# Runs may come in hundreds of files, and with hundreds of seeds.
_MOST_FINGERPRINTS = 3
_MOST_NAMES = 10


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "What was read"."""
    section = Section(
        key="inputs",
        title="What was read",
        lead="Inputs, decisions, settings and the machine: what it takes to get the same numbers again.",
        notes=_decisions(document),
        parts=(Part(table=_inputs(document)), Part(table=_runs(document))),
        small=(_settings(document), _environment(document)),
        appendix=True,
    )
    return (section,)


def _decisions(document: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{source.get('role')}: {decision}"
        for source in records(document.get("inputs"))
        for decision in source.get("decisions") or ()
    )


def _inputs(document: Mapping[str, Any]) -> Table:
    rows = tuple(
        {
            **source,
            "left_out": "; ".join(f"{reason}: {count(n)}" for reason, n in mapping(source, "dropped").items()),
            "columns": ", ".join(f"{role} = {column}" for role, column in mapping(source, "roles").items()),
            "fingerprints": ", ".join(_fingerprints(source.get("sha256"))),
        }
        for source in records(document.get("inputs"))
    )
    columns = (
        Column("role", "role"),
        Column("name", "file", "data"),
        Column("format", "format"),
        Column("n_read", "rows read", "count"),
        Column("n_rows", "rows kept", "count"),
        Column("left_out", "left out"),
        Column("columns", "columns", "data"),
        Column("fingerprints", "SHA-256", "data"),
    )
    return Table("inputs", "Inputs", columns, rows)


def _fingerprints(value: Any) -> list[str]:
    """One fingerprint or several, as a list: a dataset may be read from more than one file."""
    if not isinstance(value, (list, tuple)):
        return [str(value or "—")]
    left = len(value) - _MOST_FINGERPRINTS
    more = [f"and {left} more in report.json"] if left > 0 else []
    return [*(str(item) for item in value[:_MOST_FINGERPRINTS]), *more]


def _runs(document: Mapping[str, Any]) -> Table:
    """A row a set of runs; no rows where the document does not say how they were read."""
    rows = tuple(
        {**row, **{key: _few(row.get(key)) for key in ("seeds", "label_names", "group_columns")}}
        for row in records(mapping(document, "instability").get("results"))
        if row.get("format")
    )
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "dataset", "data"),
        Column("condition", "condition", "data"),
        Column("format", "format"),
        Column("n_runs", "runs", "count"),
        Column("n_checkpoints", "checkpoints", "count"),
        Column("n_examples", "examples", "count"),
        Column("seeds", "seeds", "data"),
        Column("label_names", "labels", "data"),
        Column("group_columns", "groups", "data"),
    )
    return Table("runs", "Runs", columns, rows)


def _few(values: Any) -> str | None:
    """The first of some names, and how many more there are."""
    names = texts(values)
    if not names:
        return None
    more = f" and {count(len(names) - _MOST_NAMES)} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _settings(document: Mapping[str, Any]) -> Table:
    file = mapping(document, "settings_file")
    read = [("settings file", f"{file.get('name')} (SHA-256 {file.get('sha256')})")] if file else []
    pairs = (*read, *_flat(mapping(document, "settings")))
    rows = tuple({"setting": name, "value": value} for name, value in pairs)
    columns = (Column("setting", "setting"), Column("value", "value", "data"))
    # Nearly a hundred lines, of which the verdicts' rules name those that decided.
    return Table("settings", "Settings", columns, rows, folded=True)


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
    rows = tuple({"component": name, "version": value} for name, value in pairs if value is not None)
    return Table("environment", "Environment", (Column("component", "component"), Column("version", "version")), rows)
