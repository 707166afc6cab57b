"""What a reader hands on: rows and columns as they stand in the source, before roles are given out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldassay.data.provenance import InputFile


@dataclass(frozen=True)
class Table:
    """The rows of a source, uninterpreted.

    Attributes:
        frame: The columns under their own names.
        format: Name of the reader, or of the kind of object handed over.
        files: The files read.
        decisions: What the reader decided without being asked, in plain sentences.
        class_names: For columns of integer codes whose names the source gives: the names in order of code.
        roles: Columns whose role the format itself fixes.
        lines: The line on which each row starts, counted from 1; None where the source has no lines.
    """

    frame: pl.DataFrame
    format: str
    files: tuple[InputFile, ...] = ()
    decisions: tuple[str, ...] = ()
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None

    def line_of(self, row: int) -> int:
        """Line of a row (both as the reader of an error message counts, from 1)."""
        return row + 1 if self.lines is None else int(self.lines[row])
