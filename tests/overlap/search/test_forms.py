"""How files are read by name and content, and which hold no text: what is neither is counted against the word sound."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from goldassay.core.errors import InputError
from goldassay.questions.overlap.search.corpus import find_corpus
from goldassay.questions.overlap.search.reading import USUAL_FIELDS
from tests.data.test_blocks import in_window, skipped
from tests.overlap.search.corpora import sought
from tests.overlap.search.test_scan import ITEMS, found_by, rows, same, write_jsonl
from tests.stated import in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = "".join(json.dumps({"text": text}) + "\n" for text in ITEMS).encode()
TEXT = "\n\n".join(ITEMS).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("part-00000", LINES),
        ("out.jsonl/part-00000", LINES),
        ("part-00000", TEXT),
        ("part-00000", b"\xef\xbb\xbf" + TEXT),
        ("a.gz", gzip.compress(LINES, mtime=0)),
        ("a.gz", gzip.compress(TEXT, mtime=0)),
        ("a.zst", zstandard.compress(LINES)),
        ("a.zst", skipped(4) + zstandard.compress(LINES)),
        ("a.jsonl.zst", skipped(4) + zstandard.compress(LINES)),
        ("a.jsonl.zst", in_window(LINES, 28)),
        ("a.jsonlines", LINES),
        ("a.JSONLINES.gz", gzip.compress(LINES, mtime=0)),
        ("README", TEXT),
    ],
)
def test_what_is_clearly_readable_is_read(name: str, content: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(content)
    assert (found_by(sought(ITEMS), folder).n_holding >= 1).all()


@pytest.mark.parametrize(
    "content", [TEXT.decode().encode("utf-16"), b"\x7fELF\0\0" + TEXT, gzip.compress(b"\0\xff" * 99, mtime=0)]
)
def test_what_has_no_name_and_is_no_text_is_not_read(content: bytes, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", rows(3))
    (tmp_path / "b").write_bytes(content)
    ((name, held),) = find_corpus([tmp_path]).unread
    assert (name.rpartition("/")[2], held) == ("b", 4 * len(content))


@pytest.mark.parametrize(
    "name",
    [
        ".gitattributes", "LICENSE", "a.jsonl.md5", ".part-00000.crc", "_committed_12", "picture.PNG",
        ".git/objects/ab/cd", ".cache/huggingface/download/a.jsonl.metadata",
    ],
)  # fmt: skip
def test_what_surely_holds_no_text(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(TEXT)
    write_jsonl(folder / "a.jsonl", rows(3))
    corpus = find_corpus([folder])
    assert [file.path.name for file in corpus.files] == ["a.jsonl"]
    assert (corpus.unread, corpus.n_other) == ((), 0)


def test_a_corpus_within_a_cache_or_a_folder_of_versions_is_read(tmp_path: Path) -> None:
    """What counts is where a file lies in the corpus, not where the corpus lies."""
    for name in (".cache/huggingface/download", ".git"):
        folder = tmp_path / name / "data"
        folder.mkdir(parents=True)
        (folder / "part-0").write_bytes(LINES)
        write_jsonl(folder / "a.jsonl", rows(3))
        assert len(find_corpus([folder]).files) == 2


def test_a_corpus_that_is_named_as_results_are(tmp_path: Path) -> None:
    """Results of shards are known by what is in them, not by their names alone."""
    folder = tmp_path / "shards"
    folder.mkdir()
    pl.DataFrame({"text": ITEMS}).write_parquet(folder / f"{'0a' * 16}.parquet")
    assert (found_by(sought(ITEMS), folder).n_holding == 1).all()
    kept = tmp_path / "out" / "shards"
    found_by(sought(ITEMS), folder, keep_in=kept)
    corpus = find_corpus([tmp_path])
    assert [why for _, why in corpus.left_out] == ["it is of a report"]
    assert len(corpus.files) == 1


def test_the_first_letters_of_parquet_before_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"PAR1" + json.dumps({"text": "first"}).encode() + b"\n" + LINES)
    found = found_by(sought(ITEMS), tmp_path / "a.jsonl")
    assert (found.n_holding == 1).all()
    assert found.broken == (("a.jsonl", "1 line is no JSON object (line 1)"),)


OBJECTS = [json.dumps({"text": text}).encode() for text in ITEMS]


@pytest.mark.parametrize(
    ("content", "said", "command"),
    [
        (b"\r".join(OBJECTS), "carriage returns alone", ["tr", "\\r", "\\n"]),
        (b"".join(b"\x1e" + each + b"\n" for each in OBJECTS), r"RFC 7464", ["tr", "-d", "\\036"]),
        (b"".join(OBJECTS), "several objects are written on one line: jq -c .", None),
        (b" ".join(OBJECTS), "several objects are written on one line: jq -c .", None),
        (json.dumps({"text": ITEMS[0]}, indent=1).encode(), "written over several lines: jq -c .", None),
        (LINES.decode().encode("utf-16"), "no UTF-8 but UTF-16", ["iconv", "-f", "UTF-16", "-t", "UTF-8"]),
        (LINES.decode().encode("utf-32"), "no UTF-8 but UTF-32", ["iconv", "-f", "UTF-32", "-t", "UTF-8"]),
        (gzip.compress(LINES, mtime=0)[:-30], "damaged or cut short: copy or download", None),
        (zstandard.compress(LINES)[:-30], "cut short: copy or download", None),
    ],
)
def test_what_is_no_lines_is_refused_with_a_command_that_mends_it(
    content: bytes, said: str, command: list[str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{said}.*") as refused:
        found_by(sought(ITEMS), path)
    assert "give files" not in str(refused.value)
    if command:
        assert " ".join(command) in str(refused.value).replace("'", "")
        path.write_bytes(subprocess.run(command, input=content, capture_output=True, check=True).stdout)
        assert (found_by(sought(ITEMS), path).n_holding == 1).all()


def test_lines_whose_first_is_broken_are_read(tmp_path: Path) -> None:
    for first in (b"{broken", b'{"text": "a"', b'{"text": "a"} more'):
        (tmp_path / "a.jsonl").write_bytes(first + b"\n" + LINES)
        found = found_by(sought(ITEMS), tmp_path / "a.jsonl")
        assert (found.n_holding == 1).all()
        assert found.broken == (("a.jsonl", "1 line is no JSON object (line 1)"),)


def test_parquet_with_two_columns_of_one_name(tmp_path: Path) -> None:
    """pyarrow writes and reads it; no table of polars can hold it."""
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table([pa.array(ITEMS), pa.array(["other"] * len(ITEMS))], names=["text", "text"]), path)
    with pytest.raises(InputError, match=in_order("two columns", "'text'", "a name of its own")) as said:
        found_by(sought(ITEMS), path)
    assert "damaged" not in str(said.value)
    parquet.write_table(parquet.ParquetFile(path).read().rename_columns(["text", "text_2"]), path)
    assert (found_by(sought(ITEMS), path).n_holding == 1).all()


@pytest.mark.parametrize(
    ("values", "command", "are_lines"),
    [
        ([{"text": text} for text in ITEMS], "jq -c '.[]'", True),
        (ITEMS, "jq -c '.[] | {text: .}'", False),
        ([None, *ITEMS], "jq -c '.[] | {text: .}'", True),
        ([[text, "reply"] for text in ITEMS], "jq -c '.[] | {text: .}'", False),
    ],
)
def test_arrays_are_refused_with_a_command_that_makes_objects_of_their_elements(
    values: list[object], command: str, are_lines: bool, tmp_path: Path
) -> None:
    arrays = [[], values[:1], values[1:]] if are_lines else [values]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(array) + "\n" for array in arrays))
    with pytest.raises(InputError, match=re.escape(f"a JSON array, not JSON lines: {command} makes lines of it")):
        found_by(sought(ITEMS), path)
    if shutil.which("jq"):
        run = subprocess.run(shlex.split(command), input=path.read_bytes(), capture_output=True, check=True)
        path.write_bytes(run.stdout)
        assert (found_by(sought(ITEMS), path).n_holding == 1).all()


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "json", "arrow", "squad", "named"])
def test_files_of_datasets_are_read_as_such(form: str, tmp_path: Path) -> None:
    """Without a field all of their texts are searched; a field that is named is read alone."""
    frame = pl.DataFrame({"asked": ITEMS, "reply": [f"reply {at}" for at in range(len(ITEMS))]})
    path = tmp_path / f"a.{'json' if form == 'squad' else 'csv' if form == 'named' else form}"
    if form == "json":
        path.write_text(json.dumps(frame.to_dicts(), indent=1))
    elif form == "arrow":
        frame.write_ipc(path)
    elif form == "squad":
        answers = [{"text": "x", "answer_start": 0}]
        asked = [{"context": text, "qas": [{"id": text, "question": "Why?", "answers": answers}]} for text in ITEMS]
        path.write_text(json.dumps({"data": [{"title": "a", "paragraphs": asked}], "version": "1.1"}))
    else:
        written = frame.write_csv(separator="\t" if form == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(written) if form.endswith("gz") else written)
    known = sought(ITEMS)
    found = found_by(known, path, fields=("reply",) if form == "named" else USUAL_FIELDS)
    assert (found.n_holding == (form != "named")).all()
    assert found.n_documents == len(ITEMS)
    if form == "named":
        with pytest.raises(InputError, match=in_order("'nothing'", "'asked'", "'reply'")):
            found_by(known, path, fields=("nothing",))


def test_what_nothing_is_known_to_mend(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("no JSON\n")
    with pytest.raises(InputError, match=in_order("1 line", "no JSON object", "line 1", "give files")):
        found_by(sought(ITEMS), tmp_path / "a.jsonl")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())])
def test_binary_that_is_text(kind: pa.DataType, tmp_path: Path) -> None:
    """Spark and older writers mark texts as plain bytes."""
    texts = [*rows(40), None, "", "é"]
    encoded = pa.array([None if text is None else text.encode() for text in texts], pa.binary())
    table = pa.table({"text": pa.array(texts), "raw": encoded.cast(kind)})
    parquet.write_table(table.select(["text"]), tmp_path / "text.parquet")
    parquet.write_table(table.select(["raw"]).rename_columns(["text"]), tmp_path / "raw.parquet")
    parquet.write_table(table, tmp_path / "both.parquet")
    known = sought(ITEMS)
    plain = found_by(known, tmp_path / "text.parquet")
    assert plain.matches.height > 3
    assert same(found_by(known, tmp_path / "raw.parquet"), plain)
    assert same(found_by(known, tmp_path / "both.parquet", fields=("raw",)), plain)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: (text + "é").encode("latin-1"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.encode()),
        lambda text: zstandard.compress(text.encode()),
    ],
)
@pytest.mark.parametrize("among", [0, 9000])
def test_binary_that_is_no_utf_8_is_refused(encode: Callable[[str], bytes], among: int, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [b"words"] * among + [encode(text) for text in ITEMS]
    pl.DataFrame({"text": texts, "other": ITEMS * (len(texts) // 8)}).write_parquet(path)
    said = "the binary of 'text' is no UTF-8: decode it and write it as text, or name another column"
    if among:
        assert found_by(sought(ITEMS), path, write_jsonl(tmp_path / "b.jsonl", rows(3))).broken == (
            ("a.parquet", said),
        )
    else:
        with pytest.raises(InputError, match=rf"{said}$"):
            found_by(sought(ITEMS), path)
    assert (found_by(sought(ITEMS), path, fields=("other",)).n_holding >= 1).all()


def test_binary_beside_texts_is_not_passed_over(tmp_path: Path) -> None:
    """The roles were read, the contents were not, and nothing was found."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"messages": [[{"role": "user", "content": text.encode()}] for text in ITEMS]}).write_parquet(path)
    with pytest.raises(InputError, match=in_order("'messages.content'", "binary or a map", "name")):
        found_by(sought(ITEMS), path, fields=USUAL_FIELDS)
    assert found_by(sought(ITEMS), path, fields=("messages.role",)).n_documents == len(ITEMS)
    pl.DataFrame({"messages": [[{"role": "user", "content": text}] for text in ITEMS]}).write_parquet(path)
    assert (found_by(sought(ITEMS), path, fields=USUAL_FIELDS).n_holding == 1).all()


def test_pictures_as_the_hub_keeps_them_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    picture = {"bytes": b"\x89PNG", "path": None}
    pl.DataFrame(
        {"messages": [[{"content": [{"text": text, "image": picture}]}] for text in ITEMS], "image": [picture] * 8}
    ).write_parquet(path)
    assert (found_by(sought(ITEMS), path, fields=USUAL_FIELDS).n_holding == 1).all()
