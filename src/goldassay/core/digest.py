"""The digest that a report's document carries, by which a figure that was changed afterwards is noticed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# What differs between two equal runs, the files, which a document that was never saved does not have, and the digest.
_LEFT_OUT = ("timing", "digests", "digest")


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
