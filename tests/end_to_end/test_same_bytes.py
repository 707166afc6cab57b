"""The same input and seed give the same bytes: on one core and two, in another folder, locale and order of hashes."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from goldassay.core.files import sha256_of

from .conftest import COMMAND

if TYPE_CHECKING:
    from pathlib import Path

# What differs between the two: cores, threads that libraries may start, hash seed, locale, time zone, folder.
PLACES = {
    "a": {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC", "threads": "1"},
    "another folder": {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "threads": "2"},
}
DATA = "specimen/train.jsonl"
TEST = ("--test", "specimen/test.jsonl")
QUIET = ("-q", "-o", "out")
AUDIT = ("audit", DATA, *TEST, "--runs", "specimen/runs", "--elsewhere", "specimen/elsewhere.jsonl")
COMMANDS = {
    "mine": [("artifacts", "mine", DATA, *TEST, *QUIET)],
    "mine in little memory": [("artifacts", "mine", DATA, "--memory", "1GB", *QUIET)],
    "assign": [("artifacts", "assign", DATA, *TEST, *QUIET)],
    "classify": [("artifacts", "classify", DATA, *TEST, "--seeds", "2", *QUIET)],
    "downsample": [("artifacts", "downsample", DATA, *QUIET)],
    "leakage": [("leakage", "measure", DATA, *TEST, *QUIET)],
    "suggest": [("leakage", "suggest", DATA, *TEST, *QUIET)],
    "instability": [("instability", "specimen/runs", *QUIET)],
    "generalization": [
        ("shift", "generalization", DATA, "--test", "ID=specimen/test.jsonl", "--test", "far=specimen/elsewhere.jsonl",
         "--model", "bow", *QUIET),
    ],
    "import": [("runs", "import", "specimen/runs", *QUIET)],
    "split": [("split", DATA, *QUIET)],
    "diff": [("audit", DATA, *TEST, "-q", "-o", "one"), ("audit", "specimen/dev.jsonl", *TEST, "-q", "-o", "two"),
             ("diff", "one", "two", *QUIET)],
    "study": [("studies", "shift", "--scale", "smoke", "--only", "SST-2 train", "--only", "average",
               "--only", "BERT Base", *QUIET)],
}  # fmt: skip


def made(tmp_path: Path, commands: list[tuple[str, ...]], size: int) -> list[dict[str, str]]:
    """SHA-256 of every file that commands leave, in each of the two places; without the clock."""
    found = []
    n_cores = len(os.sched_getaffinity(0))
    for name, given in PLACES.items():
        folder = tmp_path / name
        folder.mkdir()
        threads = given["threads"]
        cores = sorted(os.sched_getaffinity(0))[: min(n_cores, int(threads))]
        environment = {
            **{key: value for key, value in os.environ.items() if key != "GOLDASSAY_DEBUG"},
            **{key: value for key, value in given.items() if key != "threads"},
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), threads),
        }
        first = ("specimen", "--size", str(size), "--test-size", str(size // 5), "-q", "-o", "specimen")
        for command in (first, *commands):
            done = subprocess.run(
                [COMMAND, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False,
                timeout=1200, preexec_fn=lambda cores=cores: os.sched_setaffinity(0, cores),
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            # A comparison of two reports says when they were made: their clocks are its input.
            for clock in folder.rglob("timing.json"):
                clock.unlink()
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        found.append({path.relative_to(folder).as_posix(): sha256_of(path) for path in files})
        shutil.rmtree(folder)
    return found


def check(found: list[dict[str, str]], wanted: str) -> None:
    one, other = found
    assert wanted in one
    # Of trainings a clock is kept with each job, by which later ones are priced.
    differing = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    assert {name for name in differing if "/_jobs/" not in name} == set()


def test_an_audit(tmp_path: Path) -> None:
    command = (*AUDIT, "-q", "-o", "out", "--json", "copy.json")
    found = made(tmp_path, [command], 2000)
    check(found, "out/report.json")
    assert found[0]["copy.json"] == found[0]["out/report.json"]


@pytest.mark.slow
# Two places after one another, in each up to six trainings in processes of their own: minutes where others work, too.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("commands", COMMANDS.values(), ids=COMMANDS)
def test_each_command(commands: list[tuple[str, ...]], tmp_path: Path) -> None:
    check(made(tmp_path, commands, 6000), DATA)


@pytest.mark.slow
def test_an_audit_of_many_rows(tmp_path: Path) -> None:
    check(made(tmp_path, [(*AUDIT, "-q", "-o", "out")], 25_000), "out/report.json")
