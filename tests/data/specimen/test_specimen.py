from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError, OutputError
from goldassay.core.intervals import wilson_interval
from goldassay.data.specimen import LEAST_SIZE, LEAST_SIZE_CLEAN, make_specimen, write_specimen

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["train.jsonl", "dev.jsonl", "test.jsonl", "certificate.json"]


@pytest.mark.parametrize("clean", [False, True])
def test_the_same_seed_writes_the_same_bytes(tmp_path: Path, clean: bool) -> None:
    first = write_specimen(tmp_path / "a", size=2000, seed=5, clean=clean)
    second = write_specimen(tmp_path / "b", size=2000, seed=5, clean=clean)
    assert [path.name for path in first] == NAMES
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_another_seed_makes_another_specimen() -> None:
    first, second = (make_specimen(2000, seed) for seed in (0, 1))
    assert not first.train.equals(second.train)
    assert [entry["probability"] for entry in first.certificate["patterns"]] == [
        entry["probability"] for entry in second.certificate["patterns"]
    ]


@settings(max_examples=8)
@given(st.integers(LEAST_SIZE, 4000), st.integers(0, 2**40))
def test_any_size_has_the_certified_figures(size: int, seed: int) -> None:
    specimen = make_specimen(size, seed)
    assert (len(specimen.train), len(specimen.dev), len(specimen.test)) == (size, size // 10, size // 10)
    for entry in specimen.certificate["patterns"]:
        hits = round(entry["probability_realized"] * entry["support"])
        assert entry["probability"] in wilson_interval(hits, entry["support"])
        assert entry["support_test"] > 0


def test_columns_and_ids(tmp_path: Path) -> None:
    specimen = make_specimen(2000, 0)
    for rows in (specimen.train, specimen.dev, specimen.test):
        assert rows.columns == ["id", "premise", "hypothesis", "label", "topic", "group"]
        assert rows["id"].n_unique() == len(rows)
        assert sum(rows.null_count().row(0)) == 0
    assert specimen.test["id"][0] == "test-001"


def test_the_files_hold_the_tables(tmp_path: Path) -> None:
    paths = write_specimen(tmp_path / "new" / "folder", size=500, seed=2, clean=True)
    specimen = make_specimen(500, 2, clean=True)
    lines = paths[0].read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == specimen.train.to_dicts()
    assert json.loads(paths[3].read_text(encoding="utf-8")) == specimen.certificate


def test_the_least_sizes_work() -> None:
    assert len(make_specimen(LEAST_SIZE).test) == LEAST_SIZE // 10
    assert len(make_specimen(LEAST_SIZE_CLEAN, clean=True).test) == LEAST_SIZE_CLEAN // 10


@pytest.mark.parametrize(
    ("size", "seed", "clean", "line"),
    [
        (1999, 0, False, "1999 rows are too few for a specimen with its flaws; ask for a size of at least 2000"),
        (-5, 0, True, "-5 rows are too few for a clean specimen; ask for a size of at least 360"),
        (2000, -1, False, "the seed -1 is negative; choose one from 0 upwards"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(size: int, seed: int, clean: bool, line: str) -> None:
    with pytest.raises(InputError, match="^" + line + "$"):
        make_specimen(size, seed, clean)


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    (tmp_path / "certificate.json").mkdir()
    (tmp_path / "certificate.json" / "keep").touch()
    with pytest.raises(OutputError):
        write_specimen(tmp_path, size=500, clean=True)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_refused_size_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_specimen(tmp_path / "out", size=10)
    assert not (tmp_path / "out").exists()


def test_a_size_that_memory_would_not_hold_is_refused():
    with pytest.raises(InputError, match="at most 1000000"):
        make_specimen(10**8)
