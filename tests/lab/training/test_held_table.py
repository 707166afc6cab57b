"""Tables that jobs share: written once, written again where what lies there is none of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.lab.training.snapshots import read_snapshot, write_snapshot

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pl.DataFrame({"text": ["a dog", "a cat"]})
ABOUT = '{"name": "made"}'


def test_what_is_there_is_not_written_again(tmp_path: Path):
    path = tmp_path / "_data" / "made.parquet"
    write_snapshot(path, lambda: TABLE, ABOUT)
    write_snapshot(path, lambda: pytest.fail("written twice"), ABOUT)
    about, table = read_snapshot(str(path), "damaged")
    assert about == {"name": "made"}
    assert table.equals(TABLE)


@pytest.mark.parametrize("there", ["no table", "half a table", "a table of something else"])
def test_what_does_not_tell_what_it_is_is_written_anew(tmp_path: Path, there: str):
    path = tmp_path / "made.parquet"
    TABLE.write_parquet(path)
    if there == "no table":
        path.write_text("text\n")
    elif there == "half a table":
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged; remove this file"):
        read_snapshot(str(path), "damaged")
    write_snapshot(path, lambda: TABLE, ABOUT)
    assert read_snapshot(str(path), "damaged")[1].equals(TABLE)
