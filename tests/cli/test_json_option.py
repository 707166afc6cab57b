"""`--json`: the same option in every command, a file or standard output."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any, get_args

import pytest
import typer

from goldassay.cli.app import app
from goldassay.core.options import Json
from tests.cli.run_files import goldassay, long_table, refused
from tests.end_to_end.conftest import COMMAND, pairs
from tests.gate.test_diff import audit, examples_of, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

__all__ = ["goldassay", "refused"]


def options(command: Any, name: str = "goldassay") -> dict[str, Any]:
    """The option of every command that has one, by the command's name."""
    found = {name: next((each for each in command.params if "--json" in each.opts), None)}
    for each, inner in getattr(command, "commands", {}).items():
        found |= options(inner, f"{name} {each}")
    return {each: option for each, option in found.items() if option is not None}


def test_every_command_has_the_same() -> None:
    found = options(typer.main.get_command(app))
    assert len(found) >= 18
    told = get_args(Json)[1].help
    assert {name for name, option in found.items() if option.help != told} == set()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two reports, predictions and a dataset."""
    tables = examples_of(1, 0.6, 0.5), examples_of(2, 0.5, 0.4)
    write(audit(tables[0]), tmp_path / "before", tables[0])
    write(audit(tables[1], "sound", "2"), tmp_path / "after", tables[1])
    (tmp_path / "goldassay.toml").write_text("[policy]\nmax_easy_share = 0.1\n")
    long_table().write_csv(tmp_path / "runs.csv")
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs(300)))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "key", "said"),
    [
        ("check before", "outcomes", "broken       max_easy_share"),
        ("diff before after", "measures", "Artifacts     unsound → sound"),
        ("instability runs.csv", "verdicts", "goldassay-instability/report.html"),
        ("split train.jsonl -o parts", "splits", "parts"),
        ("artifacts mine train.jsonl", "n_patterns", "goldassay-artifacts/report.html"),
        ("runs show runs.csv", "n_runs", "toy"),
    ],
)
def test_a_dash_is_standard_output_and_nothing_else_is_there(
    goldassay: Callable[..., Outcome], files: Path, line: str, key: str, said: str
) -> None:
    found = goldassay(*line.split(), "--json", "-")
    assert found.status == (1 if line.startswith("check") else 0)
    assert f'"{key}":' in json.dumps(json.loads(found.out))
    assert said in found.err
    assert not (files / "-").exists()
    # The next command's own words are where they belong.
    assert "before" in goldassay("diff", "before", "after").out


def test_as_a_process_in_a_pipe_and_on_a_device(files: Path) -> None:
    """What a program reads is UTF-8, whatever the locale; and a device is not replaced by a file."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [COMMAND, "check", "before", "-q", "--json", "-"], cwd=files, env=environment, capture_output=True
    )
    assert done.returncode == 1
    (outcome,) = json.loads(done.stdout.decode("utf-8"))["outcomes"]
    assert "\N{NO-BREAK SPACE}%" in outcome["line"]
    done = subprocess.run([COMMAND, "check", "before", "-q", "--json", "/dev/null"], cwd=files, capture_output=True)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.startswith(b"broken ")
    assert not os.path.isfile("/dev/null")  # noqa: PTH113


def test_bad_input_says_nothing_on_standard_output(refused: Callable[..., str], files: Path) -> None:
    assert refused("check", "nowhere", "--json", "-").startswith("goldassay: nowhere: there is no such report")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (".", "Is a directory"),
        ("runs.csv/x.json", "Not a directory"),
        (f"{'x' * 300}.json", "File name too long"),
        ("new/x.json", None),
    ],
)
def test_a_place_where_nothing_can_be_written_is_refused_before_anything_is_read(
    refused: Callable[..., str], files: Path, place: str, said: str | None
) -> None:
    line = refused("instability", "nowhere", "--json", place)
    assert line.startswith(f"goldassay: {place}: cannot be written ({said})" if said else "goldassay: nowhere")
    assert not (files / "new").exists()
