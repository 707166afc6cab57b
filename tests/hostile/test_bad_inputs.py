"""No bad input ends in a traceback, a hang, an error of our own or half-written files."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goldassay.cli.main import INTERNAL_ERROR, run
from goldassay.core import files as core_files
from tests.end_to_end.conftest import COMMAND

from .cases import Case, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYDAY, AS_PROCESSES = 60, 500
MEMORY = 4 << 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def bad(folder: Path) -> list[Case]:
    return cases(folder)


def left_behind(folder: Path) -> list[str]:
    """Files that a refused command began to write."""
    made = folder / "out"
    return [str(path) for path in (made.rglob("*") if made.exists() else []) if path.name.endswith(".part")]


def fault(case: Case, status: int, err: str, folder: Path) -> str:
    """What is wrong with how a bad input was met; "" if nothing is."""
    lines = [line for line in err.splitlines() if line.startswith("goldassay: ")]
    found = ""
    if "Traceback" in err:
        found = "traceback"
    elif status == INTERNAL_ERROR:
        found = "internal error"
    elif status not in ({0, 1, 2} if case.accepted else {2}):
        found = f"exit status {status}"
    elif status == 2 and (
        len(lines) != 1 or len(lines[0]) > 700 or ("; " not in lines[0] and ": " not in lines[0][11:])
    ):
        found = f"{len(lines)} lines"
    elif left_behind(folder):
        found = "left half a file"
    shutil.rmtree(folder / "out", ignore_errors=True)
    return f"{found}: {lines[-1] if lines else err[-300:]}" if found else ""


def test_names_of_cases_are_unique(bad: list[Case]) -> None:
    assert not [name for name, n in Counter(case.name for case in bad).items() if n > 1]
    assert len(bad) >= 500


def met(case: Case, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Status and standard error of the command's entry point."""
    capsys.readouterr()
    try:
        status = run(case.arguments)
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    return status, capsys.readouterr().err


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let a command that fills the memory fail by itself, before it takes that of others."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def faults(
    chosen: list[Case], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GOLDASSAY_DEBUG", raising=False)
    monkeypatch.setattr(core_files, "_PATIENCE_MS", 20)
    with limited_memory():
        found = [(case, fault(case, *met(case, capsys), folder)) for case in chosen]
    return [f"{case.name}: {what}" for case, what in found if what]


def test_some_bad_inputs_are_met_by_one_line(
    bad: list[Case], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = random.Random(0).sample(bad, EVERYDAY)
    assert faults(chosen, folder, monkeypatch, capsys) == []


@pytest.mark.slow
def test_all_bad_inputs_are_met_by_one_line(
    bad: list[Case], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert faults(bad, folder, monkeypatch, capsys) == []


@pytest.mark.slow
def test_bad_inputs_of_a_process(bad: list[Case], folder: Path) -> None:
    """Many of them through the installed command, where a hang, a panic or a crash of the interpreter would show."""
    environment = {key: value for key, value in os.environ.items() if key != "GOLDASSAY_DEBUG"}
    found = []
    for case in random.Random(1).sample(bad, AS_PROCESSES):
        done = subprocess.run(
            [COMMAND, *case.arguments], cwd=folder, capture_output=True, text=True, timeout=300, env=environment,
            check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY)),
        )  # fmt: skip
        if what := fault(case, done.returncode, done.stderr, folder):
            found.append(f"{case.name}: {what}")
    assert found == []
