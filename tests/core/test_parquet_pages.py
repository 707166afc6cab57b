"""Counts of values in the headers of Parquet pages are held against the columns before the table engine reads them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
import pytest

from goldassay.cli.main import run
from goldassay.core.bounds import check_pages
from goldassay.core.errors import InputError
from tests.hostile.seeds import written

if TYPE_CHECKING:
    from pathlib import Path

N = 40
TABLE = pl.DataFrame(
    {
        "example_id": [f"e{i}" for i in range(N)],
        "label": ["a", "b"] * (N // 2),
        "prediction": ["a", None, "b", "b"] * (N // 4),
        "seed": [0, 1] * (N // 2),
        "words": [["w"] * (i % 3) for i in range(N)],
        "about": [{"a": i, "b": [{"c": "x"}]} for i in range(N)],
    }
)
PLAIN = TABLE.select("example_id", "label", "prediction", "seed")
# Type, unpacked and packed size, then the header of a page with data: 40 values, as a number between -64 and 63 in one
# byte, which is even where the number is not negative.
VALUES = bytes([0x15, 2 * N])


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("rows", [7, N])
def test_values_of_all_columns_are_counted(tmp_path: Path, version: str, compression: str, rows: int) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(
        TABLE.to_arrow(), file, compression=compression, data_page_version=version, row_group_size=rows,
        data_page_size=64, write_page_index=True,
    )  # fmt: skip
    lists = sum(max(i % 3, 1) for i in range(N))
    assert check_pages(file, file) == check_pages(file, io.BytesIO(file.read_bytes())) == 4 * N + lists + 2 * N


def test_an_empty_file_and_a_table_without_rows_hold_no_values(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert check_pages(tmp_path / "empty", tmp_path / "empty") == 0
    assert check_pages(tmp_path, io.BytesIO(written(TABLE.head(0).write_parquet))) == 0


@pytest.mark.parametrize("command", [["instability"], ["runs", "list"], ["board"], ["split"]], ids=" ".join)
def test_a_negative_count_is_refused_by_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """The table engine would set 2^61 bytes aside, and end the process without a line."""
    content = written(PLAIN.write_parquet)
    places = [at for at in range(len(content)) if content[at : at + 2] == VALUES]
    assert places
    (tmp_path / "a.parquet").write_bytes(content[: places[0] + 1] + bytes([2 * N - 1]) + content[places[0] + 2 :])
    out = [] if command == ["runs", "list"] else ["-o", str(tmp_path / "out")]
    assert run([*command, str(tmp_path / "a.parquet"), *out]) == 2
    assert "a.parquet: the Parquet file is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("at", [-1, -5, -9])
def test_a_footer_that_cannot_be_read_is_damaged(tmp_path: Path, at: int) -> None:
    content = bytearray(written(PLAIN.write_parquet))
    if at == -1:
        # Encrypted, or no end: the table engine says it.
        content[at] ^= 1
        assert check_pages(tmp_path, io.BytesIO(bytes(content))) == 0
        return
    content[at] ^= 255
    with pytest.raises(InputError, match="damaged"):
        check_pages(tmp_path, io.BytesIO(bytes(content)))
