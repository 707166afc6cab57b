import gzip
import json

import polars as pl
import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.data import blocks
from goldassay.data.blocks import read_blocks
from goldassay.data.reading import read_table
from tests.stated import in_order

ROWS = [
    {"premise": f"A man is {word}.", "hypothesis": text, "label": "neutral"}
    for word, text in [
        ("here", "Nobody, really"), ("there", 'He said "no"'), ("out", "Ünï\u2028code"), ("in", "two\nlines"),
        ("up", ""), ("down", "tab\there"),
    ]
]  # fmt: skip
PLAIN = [{key: value.replace("\n", " ").replace("\t", " ") for key, value in row.items()} for row in ROWS]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr("goldassay.data.source.BLOCK", 64)


def same(path, at_least=2):
    parts = list(read_blocks(path))
    assert len(parts) >= at_least
    assert [part.done for part in parts] == sorted(part.done for part in parts)
    assert 0 < parts[-1].done <= 1
    assert pl.concat(part.frame for part in parts).equals(read_table(path).frame)


def csv_of(rows, separator):
    return pl.DataFrame(rows).write_csv(separator=separator).encode()


def plain_of(rows):
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


CONTENTS = {
    "rows.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "blank.jsonl": "\r\n\r\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode(),
    "surrogates.jsonl": "\n".join(json.dumps(row | {"hypothesis": "\U0001f600"}) for row in ROWS).encode(),
    "bom.jsonl": b"\xef\xbb\xbf" + "\n".join(json.dumps(row) for row in ROWS).encode(),
    "rows.csv": csv_of(ROWS, ","),
    "semicolons.csv": csv_of(ROWS, ";"),
    "quoted.tsv": csv_of(ROWS, "\t"),
    "plain.tsv": plain_of(PLAIN),
    "crlf.tsv": plain_of(PLAIN).replace(b"\n", b"\r\n"),
    "no_end.tsv": plain_of(PLAIN).rstrip(b"\n"),
    "blank_lines.tsv": plain_of(PLAIN).replace(b"\n", b"\n\n"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_blocks_are_the_whole(tmp_path, name):
    (tmp_path / name).write_bytes(CONTENTS[name])
    same(tmp_path / name)


def skipped(size):
    """A frame of zstandard that readers skip, as pzstd writes."""
    return b"\x50\x2a\x4d\x18" + size.to_bytes(4, "little") + bytes(size)


def in_window(data, log):
    """Build a zstandard frame with a window of 2 ** log bytes (RFC 8878), as `zstd --long` does."""
    header = b"\x28\xb5\x2f\xfd\0" + bytes([log - 10 << 3])
    return header + (len(data) << 3 | 1).to_bytes(3, "little") + data


@pytest.mark.parametrize(
    "compressed",
    [
        gzip.compress,
        lambda data: zstandard.compress(data[:99]) + zstandard.compress(data[99:]),
        lambda data: skipped(4) + zstandard.compress(data[:99]) + skipped(5000) + zstandard.compress(data[99:]),
        lambda data: skipped(5000) + zstandard.compress(data) + skipped(0),
        lambda data: in_window(data, 28),
        lambda data: in_window(data, 31),
    ],
)
@pytest.mark.parametrize("name", ["rows.jsonl", "quoted.tsv"])
def test_compressed(tmp_path, name, compressed):
    (tmp_path / f"{name}.z").write_bytes(compressed(CONTENTS[name]))
    same(tmp_path / f"{name}.z", at_least=1)


def test_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MOST_ROWS", 2)
    pl.DataFrame(ROWS * 2000).write_parquet(tmp_path / "rows.parquet")
    same(tmp_path / "rows.parquet")


def test_errors_count_lines_from_the_start(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(CONTENTS["rows.jsonl"] + b"{no json\n")
    with pytest.raises(InputError, match=r"line 7: the line is not valid JSON"):
        list(read_blocks(path))
    path.write_bytes(CONTENTS["rows.jsonl"] + b'{"premise": "\xff"}\n')
    with pytest.raises(InputError, match=r"line 7: the text is not UTF-8"):
        list(read_blocks(path))
    path = tmp_path / "rows.tsv"
    path.write_bytes(CONTENTS["plain.tsv"] + b"a\tb\n")
    with pytest.raises(InputError, match=r"line 8: the row has 2 fields where 3 are expected"):
        list(read_blocks(path))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rows.json", b'[{"text": "a", "label": "b"}]', ("format json", "part by part", "convert")),
        ("rows.jsonl.gz", gzip.compress(CONTENTS["rows.jsonl"])[:-9], "gzip file is damaged or cut short"),
        ("rows.jsonl.zst", zstandard.compress(CONTENTS["rows.jsonl"])[:-9], "zstandard file is cut short"),
        ("rows.jsonl.zst", zstandard.compress(CONTENTS["rows.jsonl"]) + skipped(9)[:-1], "zstandard file is cut short"),
        ("rows.parquet", b"PAR1 nothing", "Parquet file is damaged"),
        ("rows.tsv", b"a\tb\r" * 20, "carriage returns only"),
    ],
)
def test_refusals(tmp_path, name, content, problem):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=in_order(problem)):
        list(read_blocks(tmp_path / name))


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(read_blocks(tmp_path / "none.jsonl"))
    with pytest.raises(InputError, match="a folder cannot be read part by part"):
        list(read_blocks(tmp_path))


def test_a_record_longer_than_can_be_meant(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST_RECORD", 200)
    (tmp_path / "rows.jsonl").write_bytes(CONTENTS["rows.jsonl"] + b'{"premise": "' + b"a" * 900)
    with pytest.raises(InputError, match="line 7: a record is longer than"):
        list(read_blocks(tmp_path / "rows.jsonl"))
