"""`goldassay studies`, with its trainings in this process; with the slow tests, as a process that starts others."""

from __future__ import annotations

import json
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.cli.main import run
from goldassay.lab.papers.running import list_recipes
from tests.cli.run_files import goldassay
from tests.end_to_end.conftest import COMMAND, Outcome
from tests.lab.papers.written import check_written
from tests.lab.training.in_place import done_in_place
from tests.stated import Fact, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay"]


def test_all_studies_are_listed(goldassay: Command):
    outcome = goldassay("studies")
    assert outcome.status == 0
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(list_recipes())


@dataclass(frozen=True)
class Ran:
    """A study that a command ran, how and where."""

    study: str
    chosen: tuple[str, ...]
    command: Callable[..., Outcome]
    folder: Path
    outcome: Outcome


def in_place(folder: Path, *arguments: str) -> Outcome:
    with chdir(folder), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, done_in_place():
        status = run(arguments)
    return Outcome(status, out.getvalue(), err.getvalue())


def process(folder: Path, *arguments: str) -> Outcome:
    done = subprocess.run([str(COMMAND), *arguments], cwd=folder, capture_output=True, text=True, timeout=240)
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    command, study, *chosen = request.param
    folder = tmp_path_factory.mktemp(study)
    outcome = command(folder, "studies", study, *chosen, "--scale", "smoke", "-o", "out")
    assert outcome.status == 0, outcome.err
    return Ran(study, tuple(chosen), command, folder, outcome)


# The others are run as a whole in the tests of papers.
EVERY_DAY = [
    pytest.param((in_place, "artifacts"), id="artifacts", marks=pytest.mark.slow),
    pytest.param((in_place, "shift", "--only", "average"), id="shift"),
]
AS_PROCESSES = [
    pytest.param((process, each), id=f"{each}, a process", marks=pytest.mark.slow) for each in list_recipes()
]


@pytest.mark.parametrize("ran", [*EVERY_DAY, *AS_PROCESSES], indirect=True)
def test_every_study_runs_small(ran: Ran):
    assert ran.outcome.out.strip().endswith("study.html")
    check_written(ran.folder / "out", ran.study)


# Each is measured anew, and all of them would take minutes.
@pytest.mark.parametrize("ran", [*EVERY_DAY[1:], *AS_PROCESSES], indirect=True)
def test_what_is_done_is_not_done_again_and_measures_the_same(ran: Ran):
    document = (ran.folder / "out" / "study.json").read_text()
    runs = {path: path.stat().st_mtime_ns for path in (ran.folder / "out" / "runs").rglob("*.parquet")}
    assert runs
    same = (ran.study, *ran.chosen, "--scale", "smoke", "-o", "out")
    again = ran.command(ran.folder, "studies", *same, "-q", "--json", "again.json")
    assert again.status == 0, again.err
    assert not again.out
    assert {path: path.stat().st_mtime_ns for path in (ran.folder / "out" / "runs").rglob("*.parquet")} == runs
    assert (ran.folder / "again.json").read_text() == document


def test_files_are_listed_with_where_they_come_from(goldassay: Command, tmp_path: Path):
    (tmp_path / "sick").mkdir()
    (tmp_path / "sick" / "SICK.txt").touch()
    outcome = goldassay("studies", "instability", "--files", "--data", ".")
    assert outcome.status == 0
    assert "hans/heuristics_evaluation_set.txt" in outcome.out
    assert "tommccoy1/hans on GitHub" in outcome.out
    assert "ANLI: not there, needs anli/test.jsonl or " in outcome.out
    assert "SICK: is sick/SICK.txt" in outcome.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("instabilty",), "did you mean 'instability'?"),
        (("instability", "--scale", "dsk"), "did you mean 'desk'"),
        (("instability",), "sets are not there"),
        (("instability", "--data", "nowhere"), "there is no such folder"),
        (("instability", "--data", "nowhere", "--files"), "there is no such folder"),
        (("instability", "--scale", "smoke", "--pretrained", "bilstm"), "fine-tunes nothing at smoke scale"),
        (("--scale", "smoke"), "no study is named; name one of artifacts, "),
        (("--seed", "0"), "no study is named"),
        (("shift", "--seed", str(2**32)), ("--seed is 4294967296; give a whole number",)),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(goldassay: Command, arguments: tuple[str, ...], said: Fact):
    outcome = goldassay("studies", *arguments)
    assert outcome.status == 2
    assert states(outcome.err.strip().splitlines()[-1], said)
    assert "Traceback" not in outcome.err


def test_a_study_is_not_resumed_with_other_settings(goldassay: Command, tmp_path: Path):
    (tmp_path / "out" / "runs" / "_jobs").mkdir(parents=True)
    settings = {"study": "instability", "scale": "desk", "seed": 0}
    (tmp_path / "out" / "study-settings.json").write_text(json.dumps(settings))
    outcome = goldassay("studies", "instability", "--scale", "smoke", "-o", "out", "-q")
    assert outcome.status == 2
    assert 'scale was "desk", is "smoke"' in outcome.line
    assert not (tmp_path / "out" / "study.html").exists()
