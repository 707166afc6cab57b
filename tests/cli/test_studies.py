"""`goldassay studies` as a process."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.papers import list_recipes
from tests.end_to_end.conftest import Outcome, goldassay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay"]


def test_all_studies_are_listed(goldassay: Command):
    outcome = goldassay("studies")
    assert outcome.status == 0
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(list_recipes())


@pytest.mark.parametrize("study", list_recipes())
def test_every_study_runs_small(study: str, goldassay: Command, tmp_path: Path):
    outcome = goldassay("studies", study, "--scale", "smoke", "-o", "out")
    assert outcome.status == 0, outcome.err
    assert outcome.out.strip().endswith("study.html")
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    assert document["schema"] == "goldassay.study"
    assert (document["study"], document["scale"]) == (study, "smoke")
    assert document["conclusions"]
    networks = document["networks"]
    assert sum(each["n_trainings"] for each in networks) == document["n_trainings"] > 0
    assert all(each["cpu_seconds"] > 0 for each in networks)
    assert "torch" in document["environment"]["packages"]
    standings = {"held", "did not hold", "not shown", "not measured"}
    assert {each["standing"] for each in document["conclusions"]} <= standings
    for comparison in document["comparisons"]:
        assert pl.read_parquet(tmp_path / "out" / "tables" / f"{comparison['name']}.parquet").height
    page = (tmp_path / "out" / "study.html").read_text()
    assert all(each["network"] in page for each in networks)
    for href in re.findall(r'href="((?:tables|figures)/[^"]+)"', page):
        assert (tmp_path / "out" / href).exists(), href


# Each is measured anew, and all of them would take minutes.
@pytest.mark.parametrize(
    "study", [pytest.param(each, marks=() if each == "shift" else pytest.mark.slow) for each in list_recipes()]
)
def test_what_is_done_is_not_done_again_and_measures_the_same(study: str, goldassay: Command, tmp_path: Path):
    assert goldassay("studies", study, "--scale", "smoke", "-o", "out", "-q").status == 0
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    runs = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("*.parquet")}
    again = goldassay("studies", study, "--scale", "smoke", "-o", "out", "-q", "--json", "again.json")
    assert again.status == 0, again.err
    assert not again.out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("*.parquet")} == runs
    second = json.loads((tmp_path / "again.json").read_text())
    for each in (document, second):
        del each["timing"], each["digest"]
    assert second == document


def test_files_are_listed_with_where_they_come_from(goldassay: Command, tmp_path: Path):
    (tmp_path / "sick").mkdir()
    (tmp_path / "sick" / "SICK.txt").touch()
    outcome = goldassay("studies", "instability", "--files", "--data", ".")
    assert outcome.status == 0
    assert "hans/heuristics_evaluation_set.txt" in outcome.out
    assert "tommccoy1/hans on GitHub" in outcome.out
    assert "ANLI, optional: not there" in outcome.out
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
        (("shift", "--seed", str(2**32)), "see goldassay studies --help"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(goldassay: Command, arguments: tuple[str, ...], said: str):
    outcome = goldassay("studies", *arguments)
    assert outcome.status == 2
    assert said in outcome.err.strip().splitlines()[-1]
    assert "Traceback" not in outcome.err


def test_a_study_is_not_resumed_with_other_settings(goldassay: Command, tmp_path: Path):
    (tmp_path / "out" / "runs" / "_jobs").mkdir(parents=True)
    settings = {"study": "instability", "scale": "desk", "seed": 0}
    (tmp_path / "out" / "study-settings.json").write_text(json.dumps(settings))
    outcome = goldassay("studies", "instability", "--scale", "smoke", "-o", "out", "-q")
    assert outcome.status == 2
    assert 'scale was "desk", is "smoke"' in outcome.line
    assert not (tmp_path / "out" / "study.html").exists()
