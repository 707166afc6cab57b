"""Data that the page's script reads, as JSON inside a script element."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goldassay.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping


def data_id(name: str) -> str:
    """The id of the element that holds a chart's data."""
    return f"{name}-data"


def as_page_data(content: Mapping[str, Any]) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(_shown(content), separators=(",", ":"), ensure_ascii=False)
    # Inside a script element only these three could end it or be taken for markup.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _shown(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_shown(value) for value in content]
    return visible(content) if isinstance(content, str) else content
