"""Read plain documents: JSON-like data of which any part may be missing or of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object found under `keys`, or an empty one where there is none, or where it does not apply."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or value.get("applies") is False:
        return {}
    return value


def records(value: Any) -> list[Mapping[str, Any]]:
    """The list of objects, or an empty list where there is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def texts(value: Any) -> tuple[str, ...]:
    """The items of a list as texts; none where there is no list."""
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def why_absent(value: Any, default: str = "not measured") -> str:
    """Why a part of the document has nothing to show; empty where it has."""
    if isinstance(value, Mapping) and value and value.get("applies") is not False:
        return ""
    return str(value.get("reason") or default) if isinstance(value, Mapping) else default


def row_name(row: Mapping[str, Any]) -> str:
    """Name of a row of results: its own, else its model, dataset and condition."""
    return str(row.get("name") or "") or " · ".join(
        str(row[key]) for key in ("model", "dataset", "condition") if row.get(key)
    )


def evidence_of(verdict: Mapping[str, Any]) -> str:
    """The sentence that supports a verdict, with the limits that were changed for it."""
    return " ".join(str(verdict[key]) for key in ("evidence", "limits") if verdict.get(key))
