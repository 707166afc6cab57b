"""Read plain documents, of which any part may be missing or of another kind, and the digest that a report carries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

# What differs between two equal runs, the files, which a document that was never saved does not have, and the digest.
_LEFT_OUT = ("timing", "digests", "digest")


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


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of what a document says but its times and files, however its JSON is indented or ordered or 1.0 spelled.

    It guards against slips, not against forgery: who changes a figure on purpose can compute the digest anew. Two equal
    runs have equal digests.
    """
    kept = {key: value for key, value in document.items() if key not in _LEFT_OUT}
    text = json.dumps(_canonical(kept), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    """Whole numbers as integers: some programs write 1.0 as 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return [_canonical(item) for item in value] if isinstance(value, list) else value
