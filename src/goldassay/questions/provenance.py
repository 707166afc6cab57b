"""The section of provenance: what was read, with which settings, on what machine.

The clock is in timing.json alone, so that two equal runs give the same page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import count
from goldassay.core.sections import Part, Section
from goldassay.core.tables import Column, Table
from goldassay.questions.instability.result import InstabilityResult
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.document import Environment, Framed, Input
    from goldassay.core.sections import Around


# Runs may come in hundreds of files, and with hundreds of seeds.
_MOST_FINGERPRINTS = 3
_MOST_NAMES = 10


def sections(framed: Framed, around: Around) -> tuple[Section, ...]:
    """The section "What was read"."""
    section = Section(
        key="inputs",
        title="What was read",
        lead="Inputs, decisions, settings and the machine: what it takes to get the same numbers again.",
        notes=tuple(f"{source.role}: {decision}" for source in framed.inputs for decision in source.decisions or ()),
        parts=(Part(table=_inputs(framed.inputs)), Part(table=_runs(around.answer(InstabilityResult)))),
        small=(_settings(framed), _environment(framed.environment)),
        appendix=True,
    )
    return (section,)


def _inputs(inputs: Sequence[Input]) -> Table:
    rows = tuple(
        {
            **source.to_dict(),
            "dropped": "; ".join(f"{reason}: {count(n)}" for reason, n in (source.dropped or {}).items()),
            "columns": ", ".join(f"{role} = {column}" for role, column in (source.roles or {}).items()),
            "fingerprints": ", ".join(_fingerprints(source.sha256)),
        }
        for source in inputs
    )
    columns = (
        Column("role", "role"),
        Column("name", "file", "data"),
        Column("format", "format"),
        Column("n_read", "rows read", "count"),
        Column("n_rows", "rows kept", "count"),
        Column("dropped", "left out"),
        Column("columns", "columns", "data"),
        Column("fingerprints", "SHA-256", "data"),
    )
    return Table("inputs", "Inputs", columns, rows)


def _fingerprints(found: Sequence[str]) -> list[str]:
    """A dataset may be read from more than one file."""
    left = len(found) - _MOST_FINGERPRINTS
    more = [f"and {left} more in report.json"] if left > 0 else []
    return [*found[:_MOST_FINGERPRINTS], *more]


def _runs(found: InstabilityResult | None) -> Table:
    """A row a set of runs; no rows where nothing says how they were read."""
    rows = tuple(
        {
            **row.to_dict(),
            "seeds": _few(row.seeds),
            "label_names": _few(row.label_names),
            "group_columns": _few(row.group_columns),
        }
        for row in (() if found is None else found.results)
        if row.format
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


def _few(names: Sequence[str] | None) -> str | None:
    """The first of some names, and how many more there are."""
    if not names:
        return None
    more = f" and {count(len(names) - _MOST_NAMES)} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _settings(framed: Framed) -> Table:
    file = framed.settings_file
    read = [] if file is None else [("settings file", f"{file.name} (SHA-256 {file.sha256})")]
    rows = tuple({"setting": name, "value": value} for name, value in (*read, *_flat(framed.settings)))
    columns = (Column("setting", "setting"), Column("value", "value", "data"))
    # Nearly a hundred lines, of which the verdicts' rules name those that decided.
    return Table("settings", "Settings", columns, rows, folded=True)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            pairs += _flat(value, f"{prefix}{name}.")
        else:
            pairs.append((f"{prefix}{name}", "not set" if value is None else str(value)))
    return pairs


def _environment(own: Environment | None) -> Table:
    pairs = [("goldassay", __version__)]
    if own is not None:
        others = ((name, version) for name, version in own.packages.items() if name != "goldassay")
        pairs += [("python", own.python), ("platform", own.platform), *others]
    rows = tuple({"component": name, "version": value} for name, value in pairs)
    return Table("environment", "Environment", (Column("component", "component"), Column("version", "version")), rows)
