"""Where a dataset came from, and everything that was decided on the way in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class InputFile:
    """One file as it was found on disk, before any decompression."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Provenance:
    """What was read, how it was understood, and what was left out.

    Attributes:
        files: The files read; empty for data handed over in memory.
        format: Name of the reader, or of the kind of object handed over.
        roles: The column that plays each role: `{"premise": "sentence1", "label": "gold_label"}`.
        decisions: What was decided without being asked, in plain sentences.
        n_read: Rows read, before any was dropped.
        dropped: Rows dropped, counted by reason.
        kept_together: Of a part of a split: what is in one part only, besides equal sentences, such as near copies.
    """

    files: tuple[InputFile, ...] = ()
    format: str = "memory"
    roles: Mapping[str, str] = field(default_factory=dict)
    decisions: tuple[str, ...] = ()
    n_read: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    kept_together: tuple[str, ...] = ()
