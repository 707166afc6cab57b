"""What Arrow files claim is checked before anything is set aside for it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest

from goldassay.core.errors import InputError
from goldassay.data.readers.arrow import check_arrow
from goldassay.data.reading import read_dataset
from tests.stated import in_order

TABLE = pl.DataFrame(
    {"text": ["word " * (i % 9) for i in range(60)], "number": range(60), "lists": [[1, 2], [], None] * 20,
     "label": pl.Series(["yes", "no"] * 30, dtype=pl.Categorical), "nothing": [None] * 60,
     "parts": [{"a": 1, "b": "x" * 30}] * 60}
)  # fmt: skip
PATH = Path("some.arrow")


def written(table: pl.DataFrame, write: str, **options: Any) -> bytes:
    file = io.BytesIO()
    getattr(table, write)(file, **options)
    return file.getvalue()


def in_arrow(table: pa.Table, new: Any, n_rows: int = 25, **options: Any) -> bytes:
    file = io.BytesIO()
    with new(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=n_rows)
    return file.getvalue()


@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream"])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("level", [pl.CompatLevel.oldest(), pl.CompatLevel.newest()])
@pytest.mark.parametrize("n_rows", [0, 1, 60])
def test_what_polars_writes_passes(write: str, compression: str, level: Any, n_rows: int) -> None:
    check_arrow(PATH, written(TABLE.head(n_rows), write, compression=compression, compat_level=level))


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_what_pyarrow_writes_passes(new: Any, compression: str | None) -> None:
    check_arrow(PATH, in_arrow(TABLE.to_arrow(), new, compression=compression))


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_buffers_that_unpack_to_too_much_are_refused(new: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    content = in_arrow(pa.table({"a": pa.array([0] * 100_000, pa.int64())}), new, 10**6, compression="zstd")
    assert len(content) < 20_000
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "2MB")
    # A cell and its buffer, 8 bytes each.
    check_arrow(PATH, content)
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "1MB")
    with pytest.raises(InputError, match=r"it takes 1\.53 MB of memory, more than 1 MB"):
        check_arrow(PATH, content)


def test_rows_without_bytes_are_counted(tmp_path: Path) -> None:
    file, table = io.BytesIO(), pa.table({"a": pa.nulls(10**9)})
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert len(file.getvalue()) < 1000
    (tmp_path / "a.arrow").write_bytes(file.getvalue())
    with pytest.raises(InputError, match=in_order("a.arrow:", "7.45 GB of memory", "4 GB")):
        read_dataset(tmp_path / "a.arrow")


def test_what_is_cut_is_damaged() -> None:
    for write in ("write_ipc", "write_ipc_stream"):
        content = written(TABLE, write)
        for end in range(12, len(content) - 16, 97):
            with pytest.raises(InputError, match="damaged or cut short"):
                check_arrow(PATH, content[:end])
