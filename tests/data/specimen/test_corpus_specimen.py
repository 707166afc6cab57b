"""The specimen of a corpus: what its certificate says stands there, as it says, and nothing else is like an item."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.specimen.corpus_specimen import (
    COPY_KINDS,
    N_COPIES,
    documents_of,
    make_corpus_specimen,
    parse_size,
    write_corpus_specimen,
)
from goldassay.kernels.words import words_of

if TYPE_CHECKING:
    from pathlib import Path


def longest_run(one: list[str], other: list[str]) -> int:
    """Most words in a row that two texts share."""
    row, best = [0] * (len(other) + 1), 0
    for word in one:
        row = [0, *(row[at] + 1 if word == each else 0 for at, each in enumerate(other))]
        best = max(best, *row)
    return best


def test_copies_are_what_the_certificate_says() -> None:
    specimen = make_corpus_specimen(2000, 3)
    documents = list(specimen.documents())
    assert len(documents) == 2000
    certificate = specimen.certificate()
    assert Counter(copy["kind"] for copy in certificate["copies"]) == dict.fromkeys(COPY_KINDS, N_COPIES)
    for copy in certificate["copies"]:
        text = documents[copy["row"] - 1]
        question, answer = specimen.items[copy["item"]]
        item = words_of(f"{question} {answer}")
        words = words_of(text)
        if copy["kind"] == "exact":
            assert question in text
        if copy["kind"] in ("exact", "re-wrapped", "re-punctuated"):
            assert longest_run(item, words) == len(item)
        elif copy["kind"] == "changed":
            kept = Counter(item) & Counter(words)
            assert 0.85 * len(item) <= kept.total() < len(item)
        else:
            assert longest_run(item, words) < 8


def test_the_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        paths = write_corpus_specimen(tmp_path / name, 1000, 1)
        assert [path.relative_to(tmp_path / name).as_posix() for path in paths] == [
            "test.jsonl", "corpus/part-0.jsonl", "certificate.json",
        ]  # fmt: skip
    one, other = ((tmp_path / name / "corpus" / "part-0.jsonl").read_bytes() for name in ("one", "other"))
    assert one == other
    with pytest.raises(InputError, match="give at least 1000 documents"):
        make_corpus_specimen(999)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_finds_what_is_planted(seed: int, tmp_path: Path) -> None:
    """Every copy in the same words, none in others, and nothing that was not planted."""
    write_corpus_specimen(tmp_path, 2000, seed)
    report = goldassay.measure_overlap(tmp_path / "test.jsonl", tmp_path / "corpus")
    rows = report.tables["overlap_items"]
    found = set(rows.filter(rows["kind"] == "question and answer")["item"].to_list())
    copies = json.loads((tmp_path / "certificate.json").read_text())["copies"]
    expected = {str(copy["item"]) for copy in copies if copy["kind"] in COPY_KINDS[:3]}
    assert found == expected
    places = {row["id"]: row["row"] for row in report.tables["overlap_places"].iter_rows(named=True)}
    assert all(places[str(copy["item"])] == copy["row"] for copy in copies if str(copy["item"]) in found)


def test_a_clean_one_is_sound(tmp_path: Path) -> None:
    write_corpus_specimen(tmp_path, 2000, clean=True)
    report = goldassay.measure_overlap(tmp_path / "test.jsonl", tmp_path / "corpus")
    assert report.verdicts["overlap"]["verdict"] == "sound"
    assert report.to_dict()["overlap"]["n_found"] == 0


@pytest.mark.parametrize("size", ["20MB", "7.5 MiB"])
def test_a_size_in_bytes_is_met_to_within_a_fiftieth(tmp_path: Path, size: str) -> None:
    n = documents_of(size)
    write_corpus_specimen(tmp_path / "out", n, seed=1)
    taken = sum(file.stat().st_size for file in (tmp_path / "out/corpus").iterdir())
    assert taken == pytest.approx(parse_size(size), rel=0.02)
