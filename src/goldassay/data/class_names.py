"""The names of integer labels, from the metadata that the `datasets` library writes beside its columns."""

from __future__ import annotations

import json
from typing import Any


def class_names_in(metadata: str) -> dict[str, tuple[str, ...]]:
    """Names by column from the JSON `{"info": {"features": ...}}`, which other text may follow."""
    if not metadata:
        return {}
    try:
        value, _ = json.JSONDecoder().raw_decode(metadata)
    except ValueError:
        return {}
    return class_names_of(value.get("info", {})) if isinstance(value, dict) else {}


def class_names_of(info: Any) -> dict[str, tuple[str, ...]]:
    """Names by column from a dataset's info, `{"features": {"label": {"names": [...], "_type": "ClassLabel"}}}`."""
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return {}
    return {
        column: tuple(str(name) for name in feature["names"])
        for column, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
    }
