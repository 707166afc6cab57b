"""Temporary files of killed commands are removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from goldassay.core import files as core_files
from goldassay.core.files import own_prefix, sweep, temporary_file, temporary_folder, written_together, written_whole

if TYPE_CHECKING:
    from pathlib import Path

MINUTES = 60


@pytest.fixture
def gone() -> str:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return str(process.pid)


def aged(path: Path, minutes: float) -> Path:
    for each in (*path.rglob("*"), path):
        os.utime(each, (time.time() - minutes * 60,) * 2)
    return path


def left(folder: Path, process: str, minutes: float, machine: str = "") -> Path:
    """A folder and a file as a command leaves them that is killed."""
    prefix = own_prefix().replace(f"-{os.getpid()}-", f"-{process}-")
    if machine:
        prefix = f".goldassay-{machine}-{process}-"
    (folder / f"{prefix}aaaa").mkdir()
    (folder / f"{prefix}aaaa" / "table.parquet").write_text("half")
    (folder / f"{prefix}bbbb.part").write_text("half")
    aged(folder / f"{prefix}bbbb.part", minutes)
    return aged(folder / f"{prefix}aaaa", minutes)


def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path: Path, gone: str) -> None:
    left(tmp_path, gone, 61)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("running", "machine", "n"), [(False, "", 0), (True, "", 2), (False, "0" * 8, 2)])
def test_who_alone_writes_there_need_not_wait(tmp_path: Path, gone: str, running: bool, machine: str, n: int) -> None:
    left(tmp_path, str(os.getppid()) if running else gone, 0, machine)
    sweep(tmp_path, age=0)
    assert len(list(tmp_path.iterdir())) == n


@pytest.mark.parametrize(("running", "minutes", "machine"), [(True, 999, ""), (False, 59, ""), (False, 999, "0" * 8)])
def test_what_may_be_in_use_stays(tmp_path: Path, gone: str, running: bool, minutes: float, machine: str) -> None:
    """Of a process that runs, made lately, or of another machine, the processes of which cannot be seen."""
    left(tmp_path, str(os.getppid()) if running else gone, minutes, machine)
    sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_what_another_machine_left_is_removed_after_a_day(tmp_path: Path, gone: str) -> None:
    left(tmp_path, gone, 25 * MINUTES, "0" * 8)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_as_old_as_the_newest_file_in_it(tmp_path: Path, gone: str) -> None:
    folder = left(tmp_path, gone, 61)
    (folder / "new").write_text("")
    aged(folder / "table.parquet", 61)
    os.utime(folder, (0, 0))
    sweep(tmp_path)
    assert folder.is_dir()


def test_names_of_others_stay(tmp_path: Path, gone: str) -> None:
    names = ["mine.part", ".goldassay-", f".goldassay-{gone}", f".goldassay-notes-{gone}-x", "report.json"]
    for name in names:
        (tmp_path / name).write_text("")
        aged(tmp_path / name, 99 * MINUTES)
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_the_next_writer_sweeps(tmp_path: Path, gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path, gone, 61)
    with written_together(tmp_path) as folder:
        (folder / "a").write_text("")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    left(tmp_path, gone, 61)
    monkeypatch.setattr(core_files, "_swept", set())
    with written_whole(tmp_path / "b") as aside:
        aside.write_text("")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_next_report_leaves_nothing_of_one_that_was_killed(tmp_path: Path, gone: str) -> None:
    left(tmp_path, gone, 0)
    running = left(tmp_path, str(os.getppid()), 0)
    with written_together(tmp_path) as folder:
        (folder / "report.json").write_text("{}")
    assert {path.name for path in tmp_path.iterdir() if f"-{gone}-" in path.name} == set()
    assert running.is_dir()


def test_our_own_are_recognized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that are made are those that are swept."""
    monkeypatch.setattr(core_files, "_is_running", lambda process: False)
    with temporary_folder(tmp_path) as folder:
        assert aged(folder, 61).is_dir()
        assert aged(temporary_file(tmp_path), 61).is_file()
        sweep(tmp_path)
        assert list(tmp_path.iterdir()) == []
