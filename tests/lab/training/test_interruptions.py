"""Training that is stopped from outside: what is done stays, and the same command ends with the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import read_state
from goldassay.runs.reading import list_runs
from tests.cli.run_files import goldassay as here
from tests.end_to_end.conftest import COMMAND, Outcome, goldassay
from tests.lab.training.in_place import done_in_place
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "here"]

CHANGES = {"min_count": 1, "batch_size": 8}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, seed in (("train", 0), ("test", 1)):
        made_pairs(64, seed, name).examples.drop("weight").write_ndjson(tmp_path / f"{name}.jsonl")
    return tmp_path


def command(out: Path, epochs: int, seeds: int, *more: str) -> tuple[str, ...]:
    settings = [
        part for name, value in (CHANGES | {"epochs": epochs}).items() for part in ("--changes", f"{name}={value}")
    ]
    return (
        "train", "train.jsonl", "--model", "ngram_average", "--test", "test.jsonl", "--seeds", str(seeds),
        "--workers", "1", "--quiet", "-o", str(out), *settings, *more,
    )  # fmt: skip


def undisturbed(data: Path, out: Path, epochs: int, seed: int) -> bytes:
    """The weights that a run has at its end."""
    (job,) = plan_jobs(
        data / "train.jsonl", "ngram_average", data / "test.jsonl", out=out, seeds=[seed],
        changes=CHANGES | {"epochs": epochs},
    )  # fmt: skip
    run_job(job)
    return weights(out, seed)


def weights(out: Path, seed: int) -> bytes:
    (file,) = out.glob(f"_jobs/*seed-{seed}__*/model/weights.safetensors")
    return file.read_bytes()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB, room for two states but not for many evaluations."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.slow
def test_a_full_disk_stops_it_and_with_more_room_it_goes_on(goldassay: Command, here: Command, data: Path, disk: Path):
    out, epochs = disk / "runs", 30
    often = ("--checkpoint-every", "1", "--state-every", "0.001")
    stopped = goldassay(*command(out, epochs, 1, *often))
    assert stopped.status == 2
    assert "space" in stopped.line
    assert not [path for path in out.rglob("*") if path.name.endswith(".part") or ".goldassay-" in path.name]
    (place,) = out.rglob("state.safetensors")
    kept = read_state(place)
    assert kept is not None
    assert 0 < kept[0].step < 8 * epochs
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    with done_in_place():
        ended = here(*command(out, epochs, 1, *often))
    assert ended.status == 0, ended.err
    assert list_runs(out)["n_checkpoints"].to_list() == [8 * epochs]
    assert weights(out, 0) == undisturbed(data, data / "calm", epochs, 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's Ctrl-C is a signal to a group of processes")
def test_interrupted_it_keeps_what_is_finished_and_goes_on(here: Command, data: Path):
    # Some states in a run of a second or two, and not one a step where a disk is slow.
    out, epochs, often = data / "runs", 75, ("--state-every", "0.0025")
    process = subprocess.Popen(
        [str(COMMAND), *command(out, epochs, 2, *often)], cwd=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 240
    while not list(out.glob("_jobs/*seed-1__*/state.safetensors")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "the second run was not begun"
        time.sleep(0.01)
    # As a terminal does it: to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    told, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert not told
    assert "interrupted" in Outcome(130, told, error).line
    assert "the same command goes on from there" in error
    first = weights(out, 0)
    assert list_runs(out)["n_runs"].to_list() == [1]
    (place,) = out.rglob("state.safetensors")
    kept = read_state(place)
    assert kept is not None
    with done_in_place():
        ended = here(*command(out, epochs, 2, *often))
    assert ended.status == 0, ended.err
    assert weights(out, 0) == first
    assert weights(out, 1) == undisturbed(data, data / "calm", epochs, 1)
