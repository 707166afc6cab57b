import csv
import gzip
import random
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import PatternTable, mine_patterns, mine_stream
from goldassay.core.errors import InputError, OutputError
from tests.artifacts.conftest import LABELS, SENTENCES, as_dict, brute_force
from tests.artifacts.test_mining import corpora
from tests.stated import in_order

MEASURES = "goldassay.questions.artifacts.measures"


@pytest.fixture
def mined(tmp_path):
    """Mine sentences in batches of some size, and read the table that was written."""

    def mine(sentences, labels, *bounds, batch=5, **named):
        return mine_in_batches(tmp_path, sentences, labels, *bounds, batch=batch, **named)

    return mine


def mine_in_batches(folder, sentences, labels, *bounds, batch=5, **named):
    batches = [(sentences[i : i + batch], labels[i : i + batch]) for i in range(0, len(sentences), batch)]
    file = mine_stream(batches, folder / "patterns.parquet", *bounds, **{"memory": "8GB", **named})
    table = file.read()
    assert len(file) == len(table)
    assert file.settings == table.settings
    assert [path.name for path in folder.iterdir()] == ["patterns.parquet"]
    return table


def same(one, other):
    return (
        one.to_frame().equals(other.to_frame())
        and one.select(0.2).to_frame().equals(other.select(0.2).to_frame())
        and one.settings == other.settings
        and one.label_names == other.label_names
    )


@st.composite
def limits(draw):
    """Sizes at which one step goes on to the next, so small that little data needs all of them."""
    return {
        "spool.SHARD_SENTENCES": draw(st.sampled_from([1, 3, 100])),
        "spool.STEP": draw(st.sampled_from([1, 2, 50])),
        "counting.MOST_GATHERED": draw(st.sampled_from([0, 100, 300, 1000, 1 << 60])),
        "counting.MOST_SLOTS": draw(st.sampled_from([4, 16, 1 << 20])),
        "counting.PIECE": draw(st.sampled_from([3, 1 << 18])),
        "streaming.BUCKET": draw(st.sampled_from([1, 7, 1 << 18])),
        "spool.MOST_HELD": draw(st.sampled_from([1, 4, 1 << 20])),
    }


class TestAgainstMemory:
    @given(corpora(), limits(), st.integers(1, 5), st.integers(0, 5), st.integers(1, 5), st.integers(1, 3))
    @settings(max_examples=40)
    def test_any_bounds_and_sizes(self, corpus, sizes, max_tokens, max_gap, min_count, n_threads):
        bounds = (max_tokens, max_gap if max_tokens < 4 else min(max_gap, 2), min_count, "whitespace", n_threads)
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            for name, size in sizes.items():
                patch.setattr(f"{MEASURES}.{name}", size)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                streamed = mine_in_batches(Path(folder), *corpus, *bounds)
                assert same(streamed, mine_patterns(*corpus, *bounds))
        assert as_dict(streamed) == brute_force(*corpus, *bounds[:3])

    @pytest.mark.parametrize("gathered", [0, 1 << 19, 1 << 60])
    @pytest.mark.parametrize(
        ("file", "text", "bounds"),
        [
            ("snli/train_sample_18k.tsv.gz", "hypothesis", (3, 3, 12)),
            ("multinli/train_sample_10k.tsv.gz", "hypothesis", (4, 1, 12)),
            ("hans/heuristics_train_set.tsv.gz", "sentence2", (3, 3, 30)),
        ],
    )
    def test_real_data(self, data_dir, mined, monkeypatch, file, text, bounds, gathered):
        if not (data_dir / file).exists():
            pytest.skip(f"no {file}")
        with gzip.open(data_dir / file, "rt", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        sentences, labels = [row[text] for row in rows], [row["gold_label"] for row in rows]
        monkeypatch.setattr(f"{MEASURES}.spool.SHARD_SENTENCES", 3000)
        monkeypatch.setattr(f"{MEASURES}.spool.STEP", 500)
        monkeypatch.setattr(f"{MEASURES}.counting.MOST_GATHERED", gathered)
        monkeypatch.setattr(f"{MEASURES}.counting.MOST_SLOTS", 1 << 14)
        assert same(mined(sentences, labels, *bounds, batch=700), mine_patterns(sentences, labels, *bounds))


class TestEdges:
    def test_one_label(self, mined):
        assert same(mined(SENTENCES, ["x"] * 7, 3, 3, 2), mine_patterns(SENTENCES, ["x"] * 7, 3, 3, 2))

    def test_sentences_without_label_are_left_out_and_counted(self, mined):
        sentences, labels = [*SENTENCES, "A man", "A man", "B"], [*LABELS, "-", None, ""]
        assert same(mined(sentences, labels, min_count=2), mine_patterns(sentences, labels, min_count=2))

    def test_a_batch_without_label_and_an_empty_one(self, tmp_path):
        batches = [(["A man"], ["-"]), ([], []), (SENTENCES, LABELS)]
        table = mine_stream(batches, tmp_path / "p", min_count=2, memory="8GB").read()
        assert same(table, mine_patterns(["A man", *SENTENCES], ["-", *LABELS], min_count=2))

    def test_empty_texts_and_a_shard_without_a_frequent_token(self, mined, monkeypatch):
        monkeypatch.setattr(f"{MEASURES}.spool.SHARD_SENTENCES", 2)
        monkeypatch.setattr(f"{MEASURES}.spool.STEP", 2)
        sentences = ["", " ", "rare", "words only", *SENTENCES, ""]
        labels = ["e", "c", "e", "c", *LABELS, "n"]
        assert same(mined(sentences, labels, min_count=2), mine_patterns(sentences, labels, min_count=2))

    def test_labels_keep_the_order_given(self, mined):
        names = ["n", "e", "c", "unused"]
        assert same(
            mined(SENTENCES, LABELS, min_count=1, label_names=names),
            mine_patterns(SENTENCES, LABELS, min_count=1, label_names=names),
        )

    def test_whole_numbers_as_labels(self, mined):
        codes = np.array([10, 9, 10, 9, 9, 10, 9])
        assert same(mined(SENTENCES, codes, min_count=1), mine_patterns(SENTENCES, codes, min_count=1))

    @pytest.mark.parametrize("tokenizer", ["characters", "treebank", str.split])
    def test_tokenizers(self, mined, tokenizer):
        sentences = ["我很好", "我不好.", "Don't.", "Don't go."]
        named = {"min_count": 1, "tokenizer": tokenizer}
        assert same(mined(sentences, list("xyxy"), **named), mine_patterns(sentences, list("xyxy"), **named))

    def test_nothing_frequent_enough(self, mined):
        with pytest.warns(UserWarning, match="min_count=7 or less would give some"):
            table = mined(SENTENCES, LABELS, min_count=8)
        assert len(table) == 0
        with pytest.warns(UserWarning, match="the sentences hold no tokens"):
            assert len(mined(["", " "], ["x", "y"])) == 0

    def test_parts_are_the_table(self, tmp_path, monkeypatch):
        file = mine_stream([(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB")
        monkeypatch.setattr(f"{MEASURES}.pattern_table.PART", 7)
        parts = list(file.parts())
        assert max(map(len, parts)) == 7
        assert pl.concat(part.to_frame() for part in parts).equals(file.read().to_frame())

    def test_any_other_reader_opens_it(self, tmp_path):
        mine_stream([(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB")
        assert PatternTable.read(tmp_path / "p").top("e", 1).to_frame()["label"].to_list() == ["e"]


class TestRefusals:
    def test_too_little_memory_says_how_much_would_do(self, tmp_path):
        with pytest.raises(InputError, match=in_order("1 MB", "too small", "at least")):
            mine_stream([(SENTENCES, LABELS)], tmp_path / "p", memory="1MB")
        assert list(tmp_path.iterdir()) == []

    def test_too_little_for_what_was_found(self, tmp_path, monkeypatch):
        rooms = iter([1 << 30])
        monkeypatch.setattr(f"{MEASURES}.spool.MemoryBound.room", lambda bound: next(rooms, 1000))
        with pytest.raises(InputError, match=r"too small for \d+ frequent tokens; give at least"):
            mine_stream([(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("memory", ["two", "2XB", "-1GB", ""])
    def test_no_size(self, tmp_path, memory):
        with pytest.raises(InputError, match="is no number of bytes; write it like 2GB"):
            mine_stream([], tmp_path / "p", memory=memory)

    def test_what_mining_in_memory_refuses(self, tmp_path):
        out = tmp_path / "p"
        with pytest.raises(InputError, match="max_tokens is 6"):
            mine_stream([], out, 6)
        with pytest.raises(InputError, match="put it into a list"):
            mine_stream([("a b", ["x"])], out, memory="8GB")
        with pytest.raises(InputError, match="1 sentences and 2 labels do not match"):
            mine_stream([(["a"], ["x", "y"])], out, memory="8GB")
        with pytest.raises(InputError, match=r"label 0\.5 is float"):
            mine_stream([(["a"], [0.5])], out, memory="8GB")
        with pytest.raises(InputError, match="no labelled sentence"):
            mine_stream([(["a"], ["-"])], out, memory="8GB")
        with pytest.raises(InputError, match="'n' is not among the labels e, c"):
            mine_stream([(SENTENCES, LABELS)], out, label_names=["e", "c"], memory="8GB")
        with pytest.raises(InputError, match="unknown tokenizer"):
            mine_stream([(SENTENCES, LABELS)], out, tokenizer="moses", memory="8GB")
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_is_told_in_one_line(self, tmp_path):
        def full():
            yield SENTENCES, LABELS
            raise OSError(28, "No space left on device")

        with pytest.raises(OutputError, match=r"No space left on device.*free some space"):
            mine_stream(full(), tmp_path / "p", memory="8GB")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("step", ["write_shards", "Counter", "in_order", "write_in_parts"])
    def test_nothing_is_left_when_interrupted(self, tmp_path, monkeypatch, step):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(f"{MEASURES}.streaming.{step}", interrupted)
        (tmp_path / "p").write_text("old")
        with pytest.raises(KeyboardInterrupt):
            mine_stream([(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB")
        assert [path.name for path in tmp_path.iterdir()] == ["p"]
        assert (tmp_path / "p").read_text() == "old"

    def test_an_error_while_rows_are_made_is_told_as_it_is(self, tmp_path, monkeypatch):
        made = []

        def failing(*_):
            if made:
                raise MemoryError("too much")
            made.append(PatternTable.read(tmp_path / "good")._frame)
            return made[0]

        mine_stream([(SENTENCES, LABELS)], tmp_path / "good", min_count=1, memory="8GB")
        monkeypatch.setattr(f"{MEASURES}.streaming.rows_of", failing)
        monkeypatch.setattr(f"{MEASURES}.streaming.in_order", lambda *_: iter([None, None]))
        with pytest.raises(MemoryError, match="too much"):
            mine_stream([(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB")
        assert [path.name for path in tmp_path.iterdir()] == ["good"]


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2e9), ("1.5 GiB", 1.5 * 2**30), ("800mb", 8e8), ("123", 123), (5, 5), ("1k", 1000)]
)
def test_sizes(text, size):
    from goldassay.data.specimen.corpus_specimen import parse_size

    assert parse_size(text) == size


def test_progress_reaches_the_end(tmp_path):
    told = []
    mine_stream(
        [(SENTENCES, LABELS)], tmp_path / "p", min_count=1, memory="8GB", progress=lambda *step: told.append(step)
    )
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_random_corpus_under_a_tiny_bound_for_tables(tmp_path, monkeypatch):
    rng = random.Random(1)
    sentences = [" ".join(rng.choices("abcdefghijklmnop", k=rng.randint(0, 15))) for _ in range(400)]
    labels = rng.choices(["x", "y", "z"], k=400)
    monkeypatch.setattr(f"{MEASURES}.counting.MOST_GATHERED", 6000)
    monkeypatch.setattr(f"{MEASURES}.counting.MOST_SLOTS", 50)
    monkeypatch.setattr(f"{MEASURES}.spool.SHARD_SENTENCES", 90)
    monkeypatch.setattr(f"{MEASURES}.spool.STEP", 30)
    table = mine_in_batches(tmp_path, sentences, labels, 3, 3, 4, "whitespace")
    assert same(table, mine_patterns(sentences, labels, 3, 3, 4, "whitespace"))
