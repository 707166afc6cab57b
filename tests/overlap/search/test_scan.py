"""Scans of files: any shards, any form, any packing give the same; what is broken is named; what is done is kept."""

from __future__ import annotations

import gzip
import json
import os
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.questions.overlap.search import reading, scan, shard
from goldassay.questions.overlap.search.confirmation import Confirmation
from goldassay.questions.overlap.search.corpus import PIECE, Shard, find_corpus
from goldassay.questions.overlap.search.scan import scan_corpus
from goldassay.questions.overlap.search.sought import Answer
from tests.overlap.search.corpora import sentence, sought
from tests.stated import in_order, says

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.questions.overlap.search.scan import ScanResult
    from goldassay.questions.overlap.search.sought import Sought

ITEMS = [sentence(random.Random(seed), 30) for seed in range(8)]


def rows(n: int = 120) -> list[str]:
    """Documents of many lengths; every seventh has an item or a part of one."""
    rng = random.Random(0)
    found = []
    for at in range(n):
        text = sentence(rng, rng.randint(1, 90))
        if at % 7 == 0:
            words = ITEMS[at % len(ITEMS)].split()
            text += "\n" + " ".join(words[: rng.randint(13, 30)]) + " é " + sentence(rng, 3)
        found.append(text)
    return found


def write_jsonl(path: Path, texts: Sequence[str]) -> Path:
    path.write_text("".join(json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)))
    return path


def found_by(sought_: Sought, *places: Path, **options: Any) -> ScanResult:
    return scan_corpus(sought_, find_corpus(places), **options)


def same(one: ScanResult, other: ScanResult, without: Sequence[str] = ()) -> bool:
    drop = [name for name in without if name in one.matches.columns]
    return (
        one.matches.drop(drop).equals(other.matches.drop(drop))
        and np.array_equal(one.n_found, other.n_found)
        and np.array_equal(one.n_holding, other.n_holding)
        and one.rivals == other.rivals
        and np.array_equal(one.union, other.union)
        and one.n_documents == other.n_documents
    )


@pytest.mark.parametrize("size", [37, 100, 333, 1000, 5000, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_belongs_to_the_range_where_it_begins(size: int, end: str, tmp_path: Path) -> None:
    """Shards of any size have each line once: neither lost nor counted twice at a border."""
    known, path = sought(ITEMS), write_jsonl(tmp_path / "corpus.jsonl", rows())
    path.write_bytes(path.read_bytes().replace(b"\n", end.encode()).rstrip(b"\r\n"))
    whole = found_by(known, path)
    assert whole.n_documents == 120
    assert same(found_by(known, path, shard_size=size), whole)


def test_a_line_that_ends_at_the_border(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "corpus.jsonl", rows(4))
    places = np.cumsum([len(line) for line in path.read_bytes().splitlines(keepends=True)])
    known = sought(ITEMS)
    for place in (*places.tolist(), *(places - 1).tolist(), *(places + 1).tolist()):
        assert same(found_by(known, path, shard_size=place), found_by(known, path))


@pytest.mark.parametrize("block", [64, 1000])
def test_blocks_of_any_size(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known, path = sought(ITEMS), write_jsonl(tmp_path / "corpus.jsonl", rows())
    whole = found_by(known, path)
    monkeypatch.setattr(reading, "BLOCK", block)
    assert same(found_by(known, path, shard_size=3000), whole)


@pytest.mark.parametrize("most", [1, 700])
def test_any_number_of_documents_may_wait_for_the_exact_look(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, path = sought(ITEMS), write_jsonl(tmp_path / "corpus.jsonl", rows())
    whole = found_by(known, path)
    monkeypatch.setattr(shard, "_MOST_WAITING", most)
    assert same(found_by(known, path), whole)


def test_every_form_has_the_same(tmp_path: Path) -> None:
    known, texts = sought(ITEMS), rows()
    plain = found_by(known, write_jsonl(tmp_path / "corpus.jsonl", texts))
    assert plain.matches.height > 8
    raw = (tmp_path / "corpus.jsonl").read_bytes()
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(raw))
    (tmp_path / "packed.jsonl.zst").write_bytes(zstandard.compress(raw[:999]) + zstandard.compress(raw[999:]))
    for name in ("packed.jsonl.gz", "packed.jsonl.zst"):
        assert same(found_by(known, tmp_path / name), plain)
    pl.DataFrame({"id": range(len(texts)), "text": texts}).write_parquet(tmp_path / "corpus.parquet", row_group_size=50)
    assert same(found_by(known, tmp_path / "corpus.parquet"), plain, without=["offset"])
    # Texts that are stored once each, as a categorical column of pandas is.
    once = pl.DataFrame({"text": pl.Series(texts).cast(pl.Categorical)})
    once.write_parquet(tmp_path / "corpus.parquet", row_group_size=50)
    assert same(found_by(known, tmp_path / "corpus.parquet"), plain, without=["offset"])
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + raw)
    assert same(found_by(known, tmp_path / "marked.jsonl"), plain, without=["offset"])
    unescaped = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    (tmp_path / "utf8.jsonl").write_text(unescaped, encoding="utf-8")
    assert same(found_by(known, tmp_path / "utf8.jsonl"), plain, without=["offset"])


def test_places_lead_to_the_text(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "corpus.jsonl", rows())
    raw, lines = path.read_bytes(), path.read_bytes().splitlines()
    for row in found_by(sought(ITEMS), path, shard_size=2000).matches.iter_rows(named=True):
        line = lines[row["row"] - 1]
        assert raw[row["offset"] :].startswith(line)
        assert row["excerpt"].split(" ")[row["marks"][0]] in json.loads(line)["text"]


def test_several_fields_are_one_text(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    words = ITEMS[0].split()
    record = {"answer": " ".join(words[15:]), "question": " ".join(words[:15]), "meta": {"question": "no"}}
    path.write_text(json.dumps(record) + "\n")
    found = found_by(sought(ITEMS), path, fields=("question", "answer"))
    assert found.matches["coverage"].to_list() == [1.0]
    pl.DataFrame([record]).write_parquet(tmp_path / "corpus.parquet")
    assert found_by(sought(ITEMS), tmp_path / "corpus.parquet", fields=("question", "answer")).n_holding.sum() == 1


@pytest.mark.parametrize("size", [1 << 20, 1 << 21, 1 << 26])
@pytest.mark.parametrize("lines", [True, False])
def test_a_long_text_is_read_in_pieces_that_overlap(size: int, lines: bool, tmp_path: Path) -> None:
    rng = random.Random(1)
    piece = ("\n" if lines else " ").join(sentence(rng, 12) for _ in range(900)).replace("a", "á").encode()
    raw = bytearray(piece * (7 * PIECE // (2 * len(piece))))
    for number, place in enumerate((0, PIECE - 100, 2 * PIECE, 3 * PIECE - 20, len(raw) - 300)):
        item = ITEMS[number].encode()
        while raw[place] & 0xC0 == 0x80:
            place += 1
        raw[place : place + len(item) + 2] = b" " + item + b" "
    path = tmp_path / "book.txt"
    path.write_bytes(raw)
    known = sought(ITEMS)
    found = found_by(known, path, shard_size=size)
    assert (found.n_holding[:5] >= 1).all()
    assert found.n_holding[5:].sum() == 0
    (tmp_path / "book.txt.gz").write_bytes(gzip.compress(bytes(raw), 1))
    assert same(found_by(known, tmp_path / "book.txt.gz"), found)


def test_memory_is_that_of_the_best_places(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "corpus.jsonl", [f"{at} {ITEMS[0]}" for at in range(50)])
    found = found_by(sought(ITEMS), path, shard_size=700)
    assert found.n_holding[0] == 50
    assert found.matches["row"].to_list() == [1, 2, 3, 4, 5]


def test_rivals_of_answers_are_the_same_for_any_parts_and_where_a_search_goes_on(tmp_path: Path) -> None:
    """Each rival stands in another document: their union does not depend on who found which."""
    rng = random.Random(6)
    rivals = [tuple((tuple(sentence(rng, 2).split()),) for _ in range(3)) for _ in ITEMS]
    answers = [sentence(rng, 2) for _ in ITEMS]
    controls = [Answer((tuple(right.split()),), own) for right, own in zip(answers, rivals, strict=True)]
    known = sought(ITEMS, answers, controls=controls)
    texts = [f"{item} {' '.join(own[at % 3][0])}" for at in range(2) for item, own in zip(ITEMS, rivals, strict=True)]
    texts += [f"{ITEMS[0]} {' '.join(rivals[0][2][0])} {sentence(rng, 60)} {' '.join(rivals[1][2][0])}"]
    path = write_jsonl(tmp_path / "corpus.jsonl", rows(20) + texts)
    found = found_by(known, path)
    assert found.rivals == {0: 0b111, **dict.fromkeys(range(1, len(ITEMS)), 0b011)}
    kept = tmp_path / "kept"
    for _ in range(2):
        assert same(found_by(known, path, shard_size=700, keep_in=kept, n_workers=2), found)
        for each in sorted(kept.iterdir())[::2]:
            each.unlink()


def test_shuffled_words_have_nothing(tmp_path: Path) -> None:
    """Negative control: the same words in another order."""
    rng = random.Random(0)
    texts = []
    for item in ITEMS * 20:
        words = item.split()
        rng.shuffle(words)
        texts.append(" ".join(words))
    found = found_by(sought(ITEMS, n=8), write_jsonl(tmp_path / "corpus.jsonl", texts))
    assert found.matches.height == 0
    assert found.union.max() == 0


class TestBroken:
    def test_lines_that_are_no_json_are_named(self, tmp_path: Path) -> None:
        path = write_jsonl(tmp_path / "corpus.jsonl", rows(30))
        lines = path.read_bytes().splitlines()
        for at in (3, 11, 12, 25):
            lines[at] = lines[at][:-1]
        path.write_bytes(b"\n".join(lines))
        for size in (200, 1 << 26):
            found = found_by(sought(ITEMS), path, shard_size=size)
            assert found.broken == (("corpus.jsonl", "4 lines are no JSON objects (line 4, 12, 13, ...)"),)
            assert found.n_documents == 26

    def test_a_damaged_file_is_named_and_the_rest_searched(self, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "a.jsonl", rows())
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes())[:-200])
        (tmp_path / "c.parquet").write_bytes(b"PAR1 nothing")
        (tmp_path / "d.parquet").write_bytes(b"nothing")
        (tmp_path / "e.jsonl").symlink_to(tmp_path / "nowhere")
        found = found_by(sought(ITEMS), tmp_path)
        names = [name.rpartition("/")[2] for name, _ in found.broken]
        assert names == ["c.parquet", "d.parquet", "e.jsonl", "b.jsonl.gz"]
        assert found.n_documents >= 120

    def test_a_missing_field_is_named_with_those_that_are_there(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text('{"content": "a", "id": 1}\n')
        with pytest.raises(InputError, match=in_order("text in 'text'", "'content', 'id'", "field")):
            found_by(sought(ITEMS), tmp_path / "a.jsonl")
        # Nobody looks at what is in fields that are not asked for, until they are named.
        (tmp_path / "a.jsonl").write_bytes(b'{"content": "\xff"}\n')
        with pytest.raises(InputError, match="no line has text in 'text'"):
            found_by(sought(ITEMS), tmp_path / "a.jsonl")
        pl.DataFrame({"content": ["a"]}).write_parquet(tmp_path / "a.parquet")
        with pytest.raises(InputError, match="the columns are 'content'"):
            found_by(sought(ITEMS), tmp_path / "a.parquet")
        pl.DataFrame(
            {"text": [None], "content": ["a"]}, schema={"text": pl.String, "content": pl.String}
        ).write_parquet(tmp_path / "a.parquet")
        with pytest.raises(InputError, match=in_order("text in 'text'", "'text', 'content'")):
            found_by(sought(ITEMS), tmp_path / "a.parquet")
        pl.DataFrame({"text": [[1]]}).write_parquet(tmp_path / "a.parquet")
        with pytest.raises(InputError, match=r"the column 'text' holds list\(int64\), and no text"):
            found_by(sought(ITEMS), tmp_path / "a.parquet")

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_an_empty_corpus(self, content: str, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text(content)
        with pytest.raises(InputError, match=r"nothing to search|it has no documents"):
            found_by(sought(ITEMS), tmp_path / "a.jsonl")

    def test_places_that_are_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such file"):
            find_corpus([tmp_path / "a.jsonl"])
        with pytest.raises(InputError, match="matches nothing"):
            find_corpus([tmp_path / "*.jsonl"])
        (tmp_path / "a.zip").write_text("text\na\n")
        with pytest.raises(InputError, match=r"nothing to search.*a.zip"):
            find_corpus([tmp_path])
        with pytest.raises(InputError, match="an archive is not read as a corpus"):
            found_by(sought(ITEMS), tmp_path / "a.zip")
        (tmp_path / "b.json").write_text("[1]")
        said = says("JSON array", "jq -c '.[]'")
        assert find_corpus([tmp_path]).broken[0][1] == said

    def test_the_test_set_itself_is_left_out(self, tmp_path: Path) -> None:
        path = write_jsonl(tmp_path / "a.jsonl", rows(3))
        write_jsonl(tmp_path / "b.jsonl", rows(3))
        (tmp_path / "c.jsonl").symlink_to(path)
        corpus = find_corpus([tmp_path, tmp_path / "b.jsonl", str(tmp_path / "*.jsonl")], [path])
        assert [file.path.name for file in corpus.files] == ["b.jsonl"]
        assert [why for _, why in corpus.left_out] == ["it is the test set itself"]


class TestKept:
    def test_a_scan_goes_on_where_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path, keep = write_jsonl(tmp_path / "corpus.jsonl", rows()), tmp_path / "kept"
        known = sought(ITEMS)
        whole = found_by(known, path)
        scanned = []
        plain = scan.scan_shard

        def stopping(*given: Any) -> Any:
            scanned.append(given[2])
            if len(scanned) == 4:
                raise KeyboardInterrupt
            return plain(*given)

        monkeypatch.setattr(scan, "scan_shard", stopping)
        with pytest.raises(KeyboardInterrupt):
            found_by(known, path, shard_size=2000, keep_in=keep, n_workers=1)
        n_kept = len(list(keep.glob("*.parquet")))
        # The threads end what they have begun.
        assert 3 <= n_kept <= 5
        scanned[:] = [None] * 10
        assert same(found_by(known, path, shard_size=2000, keep_in=keep), whole)
        n = len(find_corpus([path]).shards(2000))
        assert len(scanned) == 10 + n - n_kept

    def test_what_was_kept_of_another_search_is_not_taken(self, tmp_path: Path) -> None:
        path, keep = write_jsonl(tmp_path / "corpus.jsonl", rows()), tmp_path / "kept"
        found_by(sought(ITEMS[:4]), path, keep_in=keep)
        other = found_by(sought(ITEMS), path, keep_in=keep)
        assert same(other, found_by(sought(ITEMS), path))
        write_jsonl(path, rows(60))
        assert found_by(sought(ITEMS), path, keep_in=keep).n_documents == 60

    @pytest.mark.parametrize("times", ["of change", "all"])
    def test_what_was_kept_of_a_file_of_equal_size_and_time_is_not_taken(
        self, times: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, keep = tmp_path / "corpus.jsonl", tmp_path / "kept"
        if times == "all":
            # Of a store that gives every file one time.
            monkeypatch.setattr(scan, "_times_of", lambda _: (0, 0))
        else:
            monkeypatch.setattr(scan, "_sample_of", lambda *_: "")
        for text, n in ((ITEMS[0], 1), ("x" * len(ITEMS[0]), 0)):
            path.write_text(json.dumps({"text": text}) + "\n")
            os.utime(path, (1e9, 1e9))
            assert found_by(sought(ITEMS), path, keep_in=keep).n_holding.sum() == n

    def test_what_was_kept_of_other_rules_for_words_is_not_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, keep = write_jsonl(tmp_path / "corpus.jsonl", rows()), tmp_path / "kept"
        found_by(sought(ITEMS), path, keep_in=keep)
        found_by(sought(ITEMS), path, keep_in=keep)
        assert len(list(keep.iterdir())) == 1
        monkeypatch.setattr(scan, "RULES", "others")
        found_by(sought(ITEMS), path, keep_in=keep)
        assert len(list(keep.iterdir())) == 2

    def test_a_kept_file_that_is_damaged_is_scanned_again(self, tmp_path: Path) -> None:
        path, keep = write_jsonl(tmp_path / "corpus.jsonl", rows()), tmp_path / "kept"
        found_by(sought(ITEMS), path, keep_in=keep)
        for each in keep.glob("*.parquet"):
            each.write_bytes(each.read_bytes()[:50])
        assert same(found_by(sought(ITEMS), path, keep_in=keep), found_by(sought(ITEMS), path))


def cut(texts: Sequence[str], size: int) -> list[str]:
    """Rows of so many words, one text behind the other; some rows in between have none."""
    found = []
    for text in texts:
        words = text.split()
        found += [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
        found += ["", "..."]
    return found


@pytest.mark.parametrize("size", [1, 5, 7, 12, 14])
@pytest.mark.parametrize("letters", ["", "e\u0301 "])
def test_items_that_are_cut_into_rows_are_in_the_union(
    size: int, letters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By any shards and blocks, in every form; letters that are read by hand, too."""
    items = [" ".join(f"{letters.strip()}{word}" for word in item.split()) for item in ITEMS]
    rng = random.Random(100 + size)
    # What is read by hand takes ten times as long.
    n = 2 if letters else 4
    texts = [each for item in items[:n] for each in (sentence(rng, 40), item)]
    known, path = sought(items), write_jsonl(tmp_path / "corpus.jsonl", cut(texts, size))
    whole = found_by(known, path)
    assert whole.union.tolist() == [1.0] * n + [0.0] * (8 - n)
    assert size >= 13 or not whole.n_found.any()
    for shard_size in (37, 64, 333, 1000):
        assert same(found_by(known, path, shard_size=shard_size), whole)
    pl.DataFrame({"text": cut(texts, size)}).write_parquet(tmp_path / "corpus.parquet")
    assert same(found_by(known, tmp_path / "corpus.parquet"), whole, without=["offset"])
    monkeypatch.setattr(reading, "BLOCK", 100)
    monkeypatch.setattr(shard, "_AHEAD", 40)
    assert same(found_by(known, path, shard_size=700), whole)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert same(found_by(known, path), whole)


def test_rows_in_another_order_or_with_others_between_are_no_union(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows_ = cut(ITEMS, 6)
    known = sought(ITEMS)
    mixed = [each for row in rows_ for each in (row, sentence(rng, 3))]
    assert found_by(known, write_jsonl(tmp_path / "between.jsonl", mixed)).union.max() == 0
    assert found_by(known, write_jsonl(tmp_path / "back.jsonl", rows_[::-1])).union.max() == 0
    broken = tmp_path / "broken.jsonl"
    lines = [json.dumps({"text": row}) for row in rows_]
    broken.write_text("\n{\n".join(lines) + "\n")
    assert found_by(known, broken).union.max() == 0


def test_little_is_read_beyond_a_range_where_no_line_has_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each range of a file would be followed to the file's end, which takes the square of its size."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one two"}\n' + f'{{"other": "{"x" * 1000}"}}\n' * 4000)
    begins: list[int] = []
    read = shard.read_documents

    def watched(file: Any, shard: Any, fields: Any) -> Any:
        begins.append(shard.begin)
        return read(file, shard, fields)

    monkeypatch.setattr(shard, "read_documents", watched)
    corpus = find_corpus([path])
    shard.scan_shard(Confirmation(sought(ITEMS)), corpus.files[0], Shard(0, 0, 1000), ("text",))
    assert len(begins) > 1
    assert max(begins) < 1000 + (1 << 20)
