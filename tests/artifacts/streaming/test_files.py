"""Tables written a part at a time: whole, or nothing of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.files import written_whole
from goldassay.questions.artifacts.measures.streaming import write_in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_parts_follow_each_other(tmp_path: Path):
    frames = [pl.DataFrame({"a": [i, i + 1]}) for i in range(5)]
    write_in_parts(iter(frames), tmp_path / "p", {"k": "v"})
    assert pl.read_parquet(tmp_path / "p").equals(pl.concat(frames))
    assert pl.read_parquet_metadata(tmp_path / "p")["k"] == "v"


def test_what_failed_makes_no_file_later(tmp_path: Path):
    def rows() -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({"a": [1]})
        raise MemoryError("too much")

    # The thread that writes may be late: one try in a dozen, when the machine is busy.
    for _ in range(60):
        with pytest.raises(MemoryError, match="too much"), written_whole(tmp_path / "p") as aside:
            write_in_parts(rows(), aside, {})
    time.sleep(0.1)
    assert not list(tmp_path.iterdir())
