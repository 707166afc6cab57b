from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError, OutputError
from goldassay.data.specimen import make_specimen
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.specimen import write_specimen

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["train.jsonl", "dev.jsonl", "test.jsonl", "elsewhere.jsonl", "runs", "certificate.json"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("clean", [False, True])
def test_the_same_seed_writes_the_same_bytes(tmp_path: Path, clean: bool) -> None:
    for name in ("a", "b"):
        paths = write_specimen(tmp_path / name, size=2000, seed=5, clean=clean)
        assert paths == [tmp_path / name / each for each in NAMES]
    written = contents(tmp_path / "a")
    assert written == contents(tmp_path / "b")
    assert len(written) == 5 + 2 * 10


def test_the_files_hold_the_tables(tmp_path: Path) -> None:
    paths = write_specimen(tmp_path / "new" / "folder", size=500, seed=2, clean=True)
    specimen = make_specimen(500, 2, clean=True)
    for path, table in zip(paths, (specimen.train, specimen.dev, specimen.test, specimen.elsewhere), strict=False):
        assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == table.to_dicts()
    assert json.loads(paths[-1].read_text(encoding="utf-8")) == specimen.certificate


def test_the_store_holds_the_answers(tmp_path: Path) -> None:
    write_specimen(tmp_path, size=2000, seed=1)
    specimen = make_specimen(2000, 1)
    listed = list_runs(tmp_path / "runs")
    assert sorted(listed["dataset"].unique()) == ["elsewhere", "test"]
    for name, table in (("test", specimen.test), ("elsewhere", specimen.elsewhere)):
        runs = read_runs(tmp_path / "runs", dataset=name)
        assert runs.example_ids.tolist() == table["id"].to_list()
        assert runs.groups["group"].tolist() == table["group"].to_list()
        assert runs.groups["topic"].tolist() == table["topic"].to_list()
        names = pl.Series(runs.label_names)
        for run, predicted in enumerate(specimen.answers[name].predictions):
            assert names.gather(runs.predictions[run]).to_list() == predicted
            right = [label == gold for label, gold in zip(predicted, table["label"], strict=True)]
            assert runs.scores[run].tolist() == right


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
