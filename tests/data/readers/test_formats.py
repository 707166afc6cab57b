"""Each format, written by others and read back."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.reading import formats, read_dataset

ROWS = [
    {"premise": 'A "man" sleeps.', "hypothesis": "He is\u2028awake, no?", "label": "contradiction"},
    {"premise": "NA", "hypothesis": "1.0", "label": "neutral"},
    {"premise": "\x85 odd \x0b", "hypothesis": "ünï 😀 ", "label": "entailment"},
]


def text_of(rows):
    return [(row["premise"], row["hypothesis"]) for row in rows]


def read_back(path, **options):
    dataset = read_dataset(path, **options)
    return list(zip(dataset.texts("premise"), dataset.texts("hypothesis"), strict=True)), dataset


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def json_array(rows):
    return json.dumps(rows, indent=1, ensure_ascii=False).encode()


def json_under_a_key(rows):
    return json.dumps({"version": 1, "data": rows}).encode()


def json_columns(rows):
    return json.dumps({key: [row[key] for row in rows] for key in rows[0]}, indent=2).encode()


def csv_text(rows):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def semicolons(rows):
    return pl.DataFrame(rows).write_csv(separator=";").encode()


def tsv_quoted(rows):
    return pl.DataFrame(rows).write_csv(separator="\t").encode()


def tsv_plain(rows):
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def parquet(rows):
    out = io.BytesIO()
    pl.DataFrame(rows).write_parquet(out)
    return out.getvalue()


def feather(rows):
    out = io.BytesIO()
    pl.DataFrame(rows).write_ipc(out)
    return out.getvalue()


def arrow_stream(rows):
    table = pa.Table.from_pylist(rows)
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


WRITERS = {
    jsonl: "jsonl",
    json_array: "json",
    json_under_a_key: "json",
    json_columns: "json",
    csv_text: "csv",
    semicolons: "csv",
    tsv_quoted: "tsv",
    tsv_plain: "tsv",
    parquet: "parquet",
    feather: "arrow",
    arrow_stream: "arrow",
}
TEXTUAL = [writer for writer, kind in WRITERS.items() if kind not in {"parquet", "arrow"}]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("write", WRITERS)
def test_content_tells_the_format_whatever_the_name(tmp_path, write, compress):
    path = tmp_path / "data.bin"
    path.write_bytes(compress(write(ROWS)))
    texts, dataset = read_back(path)
    assert texts == text_of(ROWS)
    assert dataset.examples["label"].to_list() == [row["label"] for row in ROWS]
    assert dataset.label_names == ("entailment", "neutral", "contradiction")
    assert dataset.provenance.format == WRITERS[write]
    assert read_back(path, format=WRITERS[write])[0] == texts
    entry = dataset.provenance.files[0]
    assert (entry.name, entry.bytes) == ("data.bin", path.stat().st_size)
    assert len(entry.sha256) == 64


@pytest.mark.parametrize("write", TEXTUAL)
def test_byte_order_mark(tmp_path, write):
    path = tmp_path / "data"
    path.write_bytes(b"\xef\xbb\xbf" + write(ROWS))
    assert read_back(path)[0] == text_of(ROWS)


line = st.text(st.characters(exclude_characters="\0\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=15)
lines = line.filter(lambda text: text.strip() != "")
anything = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=15).filter(
    lambda text: text.strip() != ""
)


def rows_of(texts):
    return st.lists(
        st.fixed_dictionaries({"premise": texts, "hypothesis": texts, "label": st.sampled_from(["x", "y"])}),
        min_size=1,
        max_size=6,
    )


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (jsonl, anything),
        (json_array, anything),
        (parquet, anything),
        (feather, anything),
        (arrow_stream, anything),
        (csv_text, anything),
        (tsv_quoted, lines),
        (semicolons, lines),
    ],
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_what_goes_in_comes_out(tmp_path, write, texts, data):
    rows = data.draw(rows_of(texts))
    path = tmp_path / "data.txt"
    path.write_bytes(write(rows))
    assert read_back(path)[0] == text_of(rows)


def test_json_lines_of_mixed_kinds(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"pairID": 1, "text": "a", "label": 0}\n\n  \n'
        '{"pairID": "x", "text": "b", "label": 1, "late": {"k": [1]}}\r\n'
        '{"text": "\\ud83d\\ude00", "pairID": 2.5, "label": 1}'
    )
    dataset = read_dataset(path)
    assert dataset.examples["example_id"].to_list() == ["1", "x", "2.5"]
    assert dataset.texts("text") == ["a", "b", "😀"]
    assert dataset.examples["late"].to_list() == [None, '{"k": [1]}', None]


def test_one_line_of_json(tmp_path):
    path = tmp_path / "a"
    path.write_text('{"text": "a", "label": "x"}')
    assert read_dataset(path).texts("text") == ["a"]


def test_plain_text_ends_lines_at_line_feeds_only(tmp_path):
    path = tmp_path / "news.en"
    path.write_bytes("One, two.\r\nA\u2028B\x85C\n\nlast".encode())
    dataset = read_dataset(path)
    assert dataset.texts("text") == ["One, two.", "A\u2028B\x85C", "last"]
    assert dataset.provenance.dropped == {"text is empty": 1}
    assert dataset.examples["example_id"].to_list() == ["0", "1", "3"]


def test_snli_text_file(tmp_path):
    path = tmp_path / "snli.txt"
    path.write_text(
        "gold_label\tsentence1_parse\tsentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\n"
        'neutral\t(x)\tA "b\tC\t1\t1e\tneutral\tentailment\tneutral\n'
        "-\t(x)\tA\tD\t1\t1n\tneutral\tentailment\t\n"
    )
    dataset = read_dataset(path)
    assert dataset.texts("premise") == ['A "b']
    assert dataset.examples["annotator_labels"].to_list() == [["neutral", "entailment", "neutral"]]
    assert dataset.examples["example_id"].to_list() == ["1e"]


def test_cola(tmp_path):
    path = tmp_path / "in_domain_train.tsv"
    path.write_text('gj04\t1\t\tOur friends won\'t buy this.\ngj04\t0\t*\tThe more "pseudos".\n')
    dataset = read_dataset(path)
    assert dataset.provenance.format == "cola"
    assert dataset.examples["label"].to_list() == ["1", "0"]


def test_stsb(tmp_path):
    path = tmp_path / "sts-train.csv"
    row = 'main-news\tMSRpar\t2012test\t0001\t4.400\tSome "text.\tOther text.\n'
    path.write_text(row + row.replace("\n", "\tlicence\tlicence\n"))
    dataset = read_dataset(path)
    assert dataset.provenance.format == "stsb"
    assert dataset.groups == ("genre", "file")
    assert dataset.examples["label"].to_list() == [4.4, 4.4]


def test_bare_pairs(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text('A man.\tNo "man.\tcontradiction\nB.\tC.\tneutral\n')
    dataset = read_dataset(path)
    assert dataset.provenance.format == "bare-pairs"
    assert dataset.texts("hypothesis") == ['No "man.', "C."]


def squad(ids):
    qas = [
        {"id": i, "question": f"q {i}?", "answers": [{"text": "a", "answer_start": 0}], "is_impossible": False}
        for i in ids
    ]
    return json.dumps({"version": "1", "data": [{"title": "T", "paragraphs": [{"context": "a b", "qas": qas}]}]})


def test_squad(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(squad(["1", "2"]))
    dataset = read_dataset(path)
    assert dataset.text_columns == ("question", "context")
    assert dataset.groups == ("title",)
    assert dataset.examples["answers"].to_list() == [["a"], ["a"]]
    assert dataset.examples["answer_starts"].to_list() == [[0], [0]]


def test_adversarial_squad(tmp_path):
    path = tmp_path / "adversarial.json"
    path.write_text(squad(["56bea5f53aeaaa14008c91a1", "56bea5f53aeaaa14008c91a1-high-conf-turk0"]))
    dataset = read_dataset(path)
    assert dataset.groups == ("change",)
    assert dataset.examples["change"].to_list() == ["none", "high-conf-turk0"]
    assert dataset.examples["original_id"].to_list()[1] == "56bea5f53aeaaa14008c91a1"


@pytest.mark.parametrize("parts", [["train", "test"], ["."]])
def test_label_folders(tmp_path, parts):
    for part in parts:
        for label in ("pos", "neg", "unsup"):
            folder = tmp_path / part / label
            folder.mkdir(parents=True)
            for k in (10, 2):
                (folder / f"{k}_{k % 7}.txt").write_text(f"{part} {label} {k}\n")
    dataset = read_dataset(tmp_path)
    assert dataset.provenance.format == "label-folders"
    assert len(dataset) == 4 * len(parts)
    assert dataset.label_names == ("neg", "pos")
    assert dataset.examples["rating"].to_list()[:2] == ["2", "3"]
    assert set(dataset.parts) == ({"train", "test"} if len(parts) == 2 else set())
    first = dataset.parts["train"] if dataset.parts else dataset
    assert first.examples["example_id"].to_list()[0] == "neg/2_2"


def hub_schema():
    info = {
        "info": {"features": {"text": {"dtype": "string"}, "label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}}
    }
    schema = pa.schema([("text", pa.string()), ("label", pa.int64())])
    return schema.with_metadata({"huggingface": json.dumps(info)})


def save_dataset(folder, labels):
    folder.mkdir(parents=True)
    table = pa.table({"text": [f"t {i}" for i in range(len(labels))], "label": labels}, schema=hub_schema())
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as writer:
        writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))


def test_saved_dataset(tmp_path):
    save_dataset(tmp_path / "one", [1, 0, -1])
    dataset = read_dataset(tmp_path / "one")
    assert dataset.provenance.format == "saved-dataset"
    assert dataset.label_names == ("neg", "pos")
    assert dataset.provenance.dropped == {"label is -1 (hidden)": 1}
    with pytest.raises(InputError, match="lacks this file"):
        (tmp_path / "dict").mkdir()
        (tmp_path / "dict/dataset_dict.json").write_text('{"splits": ["train"]}')
        read_dataset(tmp_path / "dict")


def test_saved_parts(tmp_path):
    save_dataset(tmp_path / "train", [1, 0])
    save_dataset(tmp_path / "validation", [0])
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "validation"]}')
    parts = read_dataset(tmp_path).parts
    assert {name: part.examples["example_id"].to_list() for name, part in parts.items()} == {
        "train": ["0", "1"],
        "dev": ["0"],
    }


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_class_names_of_the_hub(tmp_path, ending):
    table = pa.table({"text": ["a", "b"], "label": [1, 0]}, schema=hub_schema())
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    dataset = read_dataset(path)
    assert dataset.examples["label"].to_list() == ["pos", "neg"]


def test_folder_of_parts(tmp_path):
    (tmp_path / "README.txt").write_text("about")
    for name, n in (("snli_1.0_train", 4), ("snli_1.0_dev", 3), ("snli_1.0_test", 2)):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl((ROWS * 2)[:n]))
        (tmp_path / f"{name}.txt").write_text("other")
    dataset = read_dataset(tmp_path)
    assert dataset.provenance.format == "split-folder"
    assert {name: len(part) for name, part in dataset.parts.items()} == {"train": 4, "dev": 3, "test": 2}
    assert dataset.parts["test"].examples["example_id"].to_list() == ["0", "1"]
    assert [file.name for file in dataset.provenance.files] == [f"snli_1.0_{p}.jsonl" for p in ("train", "dev", "test")]
    said = " ".join(dataset.provenance.decisions)
    assert "passed over: README.txt, snli_1.0_dev.txt" in said
    assert "train.jsonl" not in said.partition("passed over")[2]


def test_folder_of_shards_and_matched_parts(tmp_path):
    (tmp_path / "data").mkdir()
    for k in range(2):
        (tmp_path / f"data/train-0000{k}-of-00002.parquet").write_bytes(parquet(ROWS))
    for part in ("dev_matched", "dev_mismatched"):
        (tmp_path / f"data/{part}.parquet").write_bytes(parquet(ROWS))
    parts = read_dataset(tmp_path).parts
    assert {name: len(part) for name, part in parts.items()} == {"train": 6, "dev_matched": 3, "dev_mismatched": 3}


def test_readers_are_found_by_being_there():
    package = Path(sys.modules["goldassay.data.readers"].__file__).parent
    modules = [file for file in package.glob("*.py") if file.name != "__init__.py"]
    assert len(formats()) == len(modules)
    assert {"csv", "jsonl", "squad", "text"} <= set(formats())


def test_import_is_light():
    code = (
        "import sys, goldassay.data.reading; "
        "print([m for m in ('scipy', 'sklearn', 'pandas', 'pyarrow', 'numba', 'nltk') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert out.stdout.strip() == "[]"


def test_a_column_of_objects_by_row_is_read_as_a_column(tmp_path):
    columns = {key: {str(i): row[key] for i, row in enumerate(ROWS)} for key in ROWS[0]}
    (tmp_path / "cols.json").write_text(json.dumps(columns))
    assert len(read_dataset(tmp_path / "cols.json")) == len(ROWS)
