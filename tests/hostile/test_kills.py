"""Killed at random moments, a command leaves no report that can be mistaken for whole, and run again ends the same."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from goldassay.core.errors import InputError
from goldassay.core.files import sha256_of
from goldassay.gate.reading import read_report
from tests.end_to_end.conftest import COMMAND

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")]

# Those that train take longer.
KILLS, KILLS_OF_TRAININGS, TRAININGS = 6, 2, ("studies", "train", "sweep")
PLAN = """
models = ["bow", "ngram_average"]
train = {{ {0} = "specimen/{0}.jsonl" }}
test = {{ a = "specimen/dev.jsonl" }}
[every]
changes = {{ epochs = 2 }}
"""
OLDER = "specimen/dev.jsonl"
# Each on two inputs: what is written, and what lay in the folder before.
COMMANDS = {
    "audit": lambda data: ("audit", data, "-q", "-o", "out"),
    "mine in little memory": lambda data: ("artifacts", "mine", data, "--memory", "1GB", "-q", "-o", "out"),
    "leakage measure": lambda data: ("leakage", "measure", data, "-q", "-o", "out"),
    "instability": lambda data: ("instability", *("--seed", "1")[: 2 * (data == OLDER)], "specimen/runs", "-q",
                                 "-o", "out"),
    "import": lambda data: ("runs", "import", "specimen/runs", "-q", "-o", "out"),
    "train": lambda data: ("train", data, "--model", "bow", "--seeds", "2", "--test", "t=specimen/dev.jsonl",
                           "--changes", "epochs=2", "-q", "-o", "out"),
    "sweep": lambda data: ("sweep", f"{Path(data).stem}.toml", "-q", "-o", "out"),
    "study": lambda data: ("studies", "shift", "--scale", "smoke", "--only", "SST-2 train", "--only", "average",
                           "--only", "BERT Base", "-q", "-o", "out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kills")
    size = ("--size", "4000", "--test-size", "600")
    subprocess.run([COMMAND, "specimen", *size, "-q", "-o", "specimen"], cwd=folder, check=True, timeout=120)
    return folder


def started(folder: Path, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def finished(folder: Path, arguments: tuple[str, ...]) -> dict[str, str]:
    """Run to the end; SHA-256 of what it leaves, without clocks and what was put aside by killed ones."""
    process = started(folder, arguments)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()
    return files(folder / "out")


def files(out: Path) -> dict[str, str]:
    found = {path.relative_to(out).as_posix(): path for path in sorted(out.rglob("*")) if path.is_file()}
    return {
        name: sha256_of(path)
        for name, path in found.items()
        if not any(part.startswith((".goldassay-", "_jobs")) for part in path.parts) and path.name != "timing.json"
    }


def digest(out: Path) -> str | None:
    """Of the report in a folder, as far as `check` takes it; None where it refuses."""
    try:
        return str(read_report(out).document["digest"])
    except InputError:
        return None


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_sigkill_at_random_moments(specimen: Path, tmp_path: Path, command) -> None:
    now = command("specimen/test.jsonl")
    draws = random.Random(str(now))
    shutil.copytree(specimen / "specimen", tmp_path / "specimen")
    for part in ("test", "dev"):
        (tmp_path / f"{part}.toml").write_text(PLAN.format(part))
    out = tmp_path / "out"
    finished(tmp_path, command(OLDER))
    shutil.move(out, tmp_path / "older")
    begun = time.monotonic()
    whole = finished(tmp_path, now)
    lasts = time.monotonic() - begun
    wanted = digest(out), digest(tmp_path / "older")
    shutil.move(out, tmp_path / "whole")
    killed = 0
    for number in range(KILLS_OF_TRAININGS if now[0] in TRAININGS else KILLS):
        over_older = number % 2 == 0
        if over_older:
            shutil.copytree(tmp_path / "older", out)
        process = started(tmp_path, now)
        time.sleep(draws.uniform(0.2, 1.05) * lasts)
        killed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.communicate()
        if (out / "report.json").exists():
            assert digest(out) in (None, *wanted)
        if not over_older:
            assert finished(tmp_path, now) == whole
        else:
            left = finished(tmp_path, now)
            # Runs of the older data stay, since they took long to make.
            stays = (lambda name: True) if now[0] in ("train", "sweep") else (lambda name: name.startswith("runs/"))
            assert {name: sha for name, sha in left.items() if name in whole or not stays(name)} == whole
        shutil.rmtree(out)
    assert killed
