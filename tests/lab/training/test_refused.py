"""A training that is refused exits with 2 and leaves nothing."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.cli.main import run
from goldassay.core.errors import GoldassayError
from goldassay.runs.store import nothing_left_if_refused
from tests.lab.models.tiny_checkpoints import family_checkpoint
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["in_place"]

DAMAGE = {
    "model.safetensors": (lambda content: content[:5000], "its weights cannot be loaded"),
    "config.json": (lambda content: content[:20], "cannot be loaded"),
    "tokenizer.json": (lambda _: b"{}", "its tokenizer cannot be loaded"),
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("test", 1)):
        made_pairs(64, seed, name).examples.drop("weight").write_ndjson(tmp_path / f"{name}.jsonl")
    return tmp_path


@pytest.mark.parametrize("damaged", DAMAGE)
def test_a_damaged_checkpoint(
    data: Path, damaged: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    # Once in a process of its own, whose error is handed over.
    if damaged != "model.safetensors":
        request.getfixturevalue("in_place")
    folder = family_checkpoint(data, "bert", ["a man walks", "the woman is outside"])
    shutil.move(folder, data / "checkpoint")
    file = data / "checkpoint" / damaged
    damage, said = DAMAGE[damaged]
    file.write_bytes(damage(file.read_bytes()))
    status = run(["train", "train.jsonl", "--model", "checkpoint", "--test", "test.jsonl", "--seeds", "1", "-o", "out"])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("goldassay: ")]
    assert status == 2
    assert len(lines) == 1
    assert lines[0].startswith("goldassay: checkpoint: ")
    assert said in lines[0]
    assert not (data / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--model", "nosuch"),
        ("--model", "bow", "--changes", "nosuch=3"),
        ("--model", "bow", "--test", "nope.jsonl"),
        ("--model", "bow", "--weights", "nosuch"),
        ("--model", "bow", "--vectors", "train.jsonl"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_trained_leaves_nothing(data: Path, arguments: tuple[str, ...]) -> None:
    assert run(["train", "train.jsonl", "--test", "far=test.jsonl", *arguments, "-q", "-o", "out"]) == 2
    assert not (data / "out").exists()


@pytest.mark.parametrize(
    ("left", "was_there", "stays"),
    [
        ((), False, False),
        (("_data/train-1.parquet", "_jobs/a/lock", "_jobs/a/settings.json"), False, False),
        (("_jobs/a/state.safetensors",), False, True),
        (("bow__seed-0.parquet",), False, True),
        (("_data/train-1.parquet",), True, True),
    ],
)
def test_what_was_begun_or_was_there_stays(tmp_path: Path, left: tuple[str, ...], was_there: bool, stays: bool) -> None:
    out = tmp_path / "out"
    if was_there:
        out.mkdir()
    with pytest.raises(GoldassayError), nothing_left_if_refused(out):
        for name in left:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text("")
        out.mkdir(exist_ok=True)
        raise GoldassayError
    assert out.exists() == stays
