"""`goldassay sweep`, with its trainings in this process; with the slow tests, as a process that starts others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.runs.reading import list_runs
from tests.cli.run_files import goldassay as here
from tests.end_to_end.conftest import Outcome, goldassay
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import made_pairs
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "here", "in_place"]

PLAN = """
models = ["ngram_average"]
train = { made = "train.jsonl" }
test = { test = "test.jsonl" }
[every]
seeds = 2
changes = { vectors = 8, hidden = 8, min_count = 1, epochs = 1 }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    for name, seed in (("train", 0), ("test", 1)):
        made_pairs(40, seed, name).examples.write_ndjson(tmp_path / f"{name}.jsonl")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


@pytest.fixture
def trains_here(in_place: None, here: Command) -> Command:
    return here


@pytest.mark.parametrize("command", ["trains_here", pytest.param("goldassay", marks=pytest.mark.slow)])
def test_prices_runs_and_goes_on(
    command: str, request: pytest.FixtureRequest, here: Command, plan: Path, tmp_path: Path
):
    sweep: Command = request.getfixturevalue(command)
    priced = here("sweep", plan, "--dry-run", "--json", "price.json")
    assert priced.status == 0, priced.err
    assert "2 jobs, 0 done; " in priced.out
    assert json.loads((tmp_path / "price.json").read_text())["n_jobs"] == 2
    first = sweep("sweep", plan, "--workers", "1")
    assert first.status == 0, first.err
    assert states(first.out, "ngram_average on made, paired", "test", "accuracy")
    assert "over 2 runs, " in first.out
    assert list_runs(tmp_path / "runs")["n_runs"].sum() == 2
    plan.write_text(PLAN.replace("seeds = 2", "seeds = 3"))
    more = sweep("sweep", plan, "--workers", "1", "--json", "done.json", "-q")
    assert more.status == 0, more.err
    assert not more.out
    report = json.loads((tmp_path / "done.json").read_text())
    assert (report["n_jobs"], report["n_skipped"]) == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.toml",), "name a settings file that exists"),
        (("plan.toml", "--workers", "0"), "--workers is 0; give a whole number"),
        (("plan.toml", "--scheduler", "nonsense"), "no scheduler answers at nonsense"),
    ],
)
def test_refusals_are_one_line(here: Command, plan: Path, arguments: tuple[str, ...], message: str):
    outcome = here("sweep", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epochs = 1", "epochs = 'x'", "epochs is 'x'"),
        ('["ngram_average"]', '["ngram_average", "nosuch"]', "there is no model 'nosuch'"),
    ],
)
def test_a_refused_plan_leaves_nothing(
    here: Command, plan: Path, tmp_path: Path, old: str, new: str, message: str, dry_run: tuple[str, ...]
):
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    outcome = here("sweep", plan, *dry_run, *([] if dry_run else ["-o", "out"]))
    assert outcome.status == 2
    assert message in outcome.err
    assert {path.name for path in tmp_path.iterdir()} == {"plan.toml", "train.jsonl", "test.jsonl"}
