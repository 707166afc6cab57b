"""What cannot be read is refused in one line that names the place and the mend."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess

import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset
from tests.stated import states

PAIR = "premise\thypothesis\tlabel\n"
ROW = "A man.\tA woman.\tneutral\n"


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        read_dataset(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert caught.value.mend
    return line


def write(tmp_path, data, name="data.tsv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_missing(tmp_path):
    assert "there is no such file or folder" in refused(tmp_path / "absent.tsv")


def test_folder_without_dataset(tmp_path):
    (tmp_path / "notes.md").write_text("x")
    assert "the folder holds no dataset" in refused(tmp_path)


# A packed file holds the time at which it was packed; as part of a name it would differ from process to process.
@pytest.mark.parametrize("data", [b"", b"\n \n", gzip.compress(b"", mtime=0)])
@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.json", "a"])
def test_empty(tmp_path, data, name):
    assert "the file is empty" in refused(write(tmp_path, data, name))


@pytest.mark.parametrize("separator", ["\t", ","])
def test_only_a_header(tmp_path, separator):
    assert "a header but no row" in refused(write(tmp_path, PAIR.replace("\t", separator)))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_truncated(tmp_path, compress):
    data = compress((PAIR + "".join(f"{i} {ROW}" for i in range(3000))).encode())
    assert "cut short" in refused(write(tmp_path, data[: len(data) // 2], "a.tsv.gz"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16(tmp_path, encoding):
    line = refused(write(tmp_path, (PAIR + ROW).encode(encoding)))
    assert "UTF-16" in line
    assert "iconv -f UTF-16" in line


def test_latin1(tmp_path):
    line = refused(write(tmp_path, (PAIR + ROW + "Café\tb\tneutral\n").encode("latin-1")))
    assert states(line, "data.tsv, line 3:", "not UTF-8 (byte 0xE9)")
    assert "iconv -f WINDOWS-1252" in line


def test_nul(tmp_path):
    assert "line 2: the text holds a NUL byte" in refused(write(tmp_path, PAIR + "A\0\tb\tneutral\n"))


@pytest.mark.parametrize("bad", ['{"text": "b", ', "[1]", "oops", '{"text": "a"} {"text": "b"}'])
def test_broken_json_line(tmp_path, bad):
    good = '{"text": "a", "label": "x"}\n'
    line = refused(write(tmp_path, good + "\n" + good + bad + "\n" + good, "a.jsonl"))
    assert "line 4: the line" in line


def test_broken_first_json_line(tmp_path):
    assert "line 1: the line is not valid JSON" in refused(write(tmp_path, '{"text: 1}\n{"text": "a"}\n', "a.jsonl"))


def test_half_a_surrogate(tmp_path):
    data = '{"text": "a", "label": "x"}\n\n{"text": "\\ud83d", "label": "x"}\n'
    assert "line 3, column 'text': the text holds half" in refused(write(tmp_path, data, "a.jsonl"))


def test_broken_json(tmp_path):
    assert "line 2: the file is not valid JSON" in refused(write(tmp_path, '[{"text": "a"},\n{"text" "b"}]', "a.json"))


@pytest.mark.parametrize("value", [[{"text": "a"}, 3], [[1]]])
def test_array_of_anything_but_objects(tmp_path, value):
    assert "not an object" in refused(write(tmp_path, json.dumps(value), "a.json"))


def test_ragged_row(tmp_path):
    line = refused(write(tmp_path, 'text,label\n"a, b",x\nc, d,y\n', "a.csv"))
    assert states(line, "a.csv, line 3:", "3 fields", 2)


def test_damaged_binary(tmp_path):
    assert "Parquet file is damaged" in refused(write(tmp_path, b"PAR1" + b"x" * 50, "a.parquet"))
    assert "Arrow file is damaged" in refused(write(tmp_path, b"ARROW1" + b"x" * 50, "a.arrow"))


def test_labels_of_equal_rank(tmp_path):
    line = refused(write(tmp_path, "text\tLabel\tlabel\na\tx\ty\n"))
    assert "'Label' and 'label' could both be the label" in line
    assert "columns={'label': " in line


def test_all_dashes_and_empty_texts(tmp_path):
    assert "no row has a label" in refused(write(tmp_path, PAIR + "a\tb\t-\nc\td\t-\n"))
    assert "no row is left: premise is empty in 1" in refused(write(tmp_path, PAIR + " \tb\tneutral\n"))


def test_duplicate_ids(tmp_path):
    line = refused(write(tmp_path, "uid\ttext\tlabel\n1\ta\tx\n2\tb\ty\n1\tc\tx\n"))
    assert "line 4, column 'uid': the id '1' occurs twice" in line


def test_duplicate_header(tmp_path):
    assert "line 1: the header names the column 'text' twice" in refused(write(tmp_path, "text\ttext\na\tb\n"))


def test_column_settings(tmp_path):
    path = write(tmp_path, PAIR + ROW)
    assert "did you mean 'premise'?" in refused(path, columns="text=premisse")
    assert "is given twice" in refused(path, columns="premise=label,hypothesis=label")
    assert "no format 'jsonll'; did you mean 'jsonl'?" in refused(path, format="jsonll")


def test_no_text_column(tmp_path):
    line = refused(write(tmp_path, "a\tb\n1\t2\n"))
    assert "among 'a', 'b'" in line
    assert "NAME" not in line


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.txt"])
def test_a_line_of_a_megabyte_is_read(tmp_path, name):
    long = "word " * 200_000 + 'said "so", twice'
    data = {
        "a.tsv": f"text\tlabel\n{long}\tx\n",
        "a.csv": 'text,label\n"' + long.replace('"', '""') + '",x\n',
        "a.jsonl": json.dumps({"text": long, "label": "x"}) + "\n",
        "a.txt": long,
    }[name]
    assert read_dataset(write(tmp_path, data, name)).texts("text") == [long]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path):
    path = write(tmp_path, PAIR + ROW)
    path.chmod(0)
    assert "may not be read" in refused(path)


def test_unreadable_as_told_by_the_system(tmp_path, monkeypatch):
    path = write(tmp_path, PAIR + ROW)

    def forbid(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", forbid)
    line = refused(path)
    assert "may not be read" in line
    assert "chmod u+r" in line


@pytest.mark.parametrize(
    ("name", "shown"), [("a.b.tsv.gz", "a.b"), ("SNLI.jsonl", "SNLI"), ("news.en", "news.en"), ("x.txt.zst", "x")]
)
def test_name(tmp_path, name, shown):
    path = write(tmp_path, PAIR + ROW, name)
    assert read_dataset(path).name == shown
    assert read_dataset(path, name="mine").name == "mine"


TABLE = "text,label\n" + "".join(f"caf\u00e9 \u201cnumber\u201d {at},{'ab'[at % 2]}\n" for at in range(9))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a b.csv", TABLE.encode("utf-16")),
        ("w.csv", TABLE.encode("cp1252")),
        ("w.csv.gz", gzip.compress(TABLE.encode("utf-16"), mtime=0)),
        ("n.csv", TABLE.replace("number", "num\0ber").encode()),
        ("sep.csv", b"sep=,\n" + TABLE.encode()),
        ("c.csv", b"# one\n# two\n" + TABLE.encode()),
        ("t.csv", b"A title\n" + TABLE.encode()),
        ("twice.csv.gz.gz", gzip.compress(gzip.compress(TABLE.encode(), mtime=0), mtime=0)),
    ],
)
def test_what_a_shell_mends_is_read(tmp_path, name, content):
    """As printed, from a folder that does not hold the file."""
    path = write(tmp_path, content, name)
    command = refused(path).split(" with: ")[1]
    subprocess.run(["sh", "-c", command], cwd="/", check=True)
    (made,) = set(tmp_path.iterdir()) - {path}
    dataset = read_dataset(made)
    assert dataset.examples.height == 9
    assert dataset.examples["text"][0] == "caf\u00e9 \u201cnumber\u201d 0"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(600), "office program"),
        (b"SQLite format 3\0" + bytes(90), "SQLite"),
        (pickle.dumps([{"text": "a", "label": "b"}]), "pickle"),
        (bytes(257) + b"ustar" + bytes(300), "tar archive"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, said):
    assert said in refused(write(tmp_path, content, "a.csv"))


@pytest.mark.parametrize("between", ["", ",\n", "\n\n"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_objects_one_after_the_other(tmp_path, between, name):
    objects = [json.dumps({"text": f"number {at}", "label": "ab"[at % 2]}, indent=1) for at in range(9)]
    dataset = read_dataset(write(tmp_path, between.join(objects), name))
    assert dataset.examples["text"].to_list() == [f"number {at}" for at in range(9)]
    assert "number 8" not in refused(write(tmp_path, between.join(objects) + "x", name))


def test_parts_beside_what_is_said_of_them(tmp_path):
    rows = [{"text": f"number {at}", "label": "ab"[at % 2]} for at in range(9)]
    whole = {"meta": {"n": 9}, "data": {"train": rows[:6], "test": rows[6:]}}
    dataset = read_dataset(write(tmp_path, json.dumps(whole), "a.json"))
    assert {name: part.examples.height for name, part in dataset.parts.items()} == {"train": 6, "test": 3}


def test_a_key_that_stands_twice(tmp_path):
    assert "'label' occurs twice" in refused(write(tmp_path, '{"text": "a", "label": "x", "label": "y"}\n', "a.jsonl"))


def test_vertical_bars_separate_fields(tmp_path):
    dataset = read_dataset(write(tmp_path, "text|label\na, b|x\nc|y\n", "a.csv"))
    assert dataset.examples["text"].to_list() == ["a, b", "c"]
