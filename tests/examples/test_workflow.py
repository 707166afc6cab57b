"""The workflow for other repositories: its steps are run as GitHub would, in a repository with the specimen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from goldassay.runs.specimen import write_specimen
from tests.docs.test_commands import check_words

ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"
WORKFLOW = yaml.safe_load((CI / "goldassay.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["gate"]["steps"]
# What a runner puts in the place of `${{ ... }}`, and makes of a condition.
EXPRESSIONS = {"${{ github.token }}": "token", "${{ github.event.pull_request.number }}": "7"}
ON_PULL_REQUEST = "github.event_name == 'pull_request'"
FROM_HERE = "github.event.pull_request.head.repo.full_name == github.repository"


@dataclass
class Runner:
    """A runner on this machine: steps in order, until one fails.

    Attributes:
        folder: Where the repository is checked out.
        programs: Folder of the programs that stand in for GitHub's.
        event: What started the workflow.
        fork: The pull request comes from another repository.
    """

    folder: Path
    programs: Path
    event: str = "pull_request"
    fork: bool = False
    ran: list[str] = field(default_factory=list)
    failed: str = ""

    def applies(self, condition: str) -> bool:
        values = {ON_PULL_REQUEST: self.event == "pull_request", FROM_HERE: not self.fork}
        parts = condition.split(" && ") if condition else []
        assert set(parts) <= {*values, "always()"}, f"the runner does not know {condition!r}"
        return (not self.failed or "always()" in parts) and all(values.get(part, True) for part in parts)

    def run(self) -> Runner:
        for step in STEPS:
            if "run" not in step or not self.applies(str(step.get("if", ""))):
                continue
            self.ran.append(step["name"])
            given = {name: EXPRESSIONS.get(value, value) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder, env={**self.environment(), **given}, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                self.failed = step["name"]
                (self.programs / "failed.txt").write_text(done.stdout + done.stderr)
        return self

    def environment(self) -> dict[str, str]:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        python_path = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
        base = {"GITHUB_BASE_REF": "main"} if self.event == "pull_request" else {"GITHUB_BASE_REF": ""}
        return {
            **os.environ, **WORKFLOW["env"], **base, "PATH": path, "PYTHONPATH": python_path,
            "GITHUB_STEP_SUMMARY": str(self.programs / "summary.md"), "GITHUB_EVENT_NAME": self.event,
        }  # fmt: skip

    @property
    def said(self) -> str:
        return (self.programs / "failed.txt").read_text()

    @property
    def comment(self) -> str:
        return (self.programs / "comment.md").read_text()


def program(place: Path, lines: str) -> None:
    place.write_text(f"#!/bin/sh\n{lines}\n")
    place.chmod(0o755)


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A benchmark's repository with a flawed dataset on main, and a branch checked out that changes nothing yet."""
    origin, work, programs = tmp_path / "origin", tmp_path / "work" / "repository", tmp_path / "programs"
    programs.mkdir()
    origin.mkdir()
    write_specimen(origin / "data", size=2000, test_size=200)
    shutil.rmtree(origin / "data" / "runs")
    shutil.copy(CI / "goldassay.toml", origin)
    git(origin, "init")
    git(origin, "add", "-A")
    git(origin, "commit", "-m", "data")
    work.parent.mkdir()
    git(tmp_path, "clone", str(origin), str(work))
    git(work, "checkout", "-b", "change")
    program(programs / "goldassay", f'exec "{sys.executable}" -m goldassay "$@"')
    program(programs / "pip", f'echo "$@" > "{programs}/pip.txt"')
    # gh pr comment NUMBER --body-file FILE ...
    program(programs / "gh", f'echo "$GH_TOKEN $@" > "{programs}/gh.txt"; cp "$5" "{programs}/comment.md"')
    return Runner(work, programs)


def test_every_step_is_known() -> None:
    for step in STEPS:
        assert "run" in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
        Runner(Path(), Path()).applies(str(step.get("if", "")))
        assert set(step.get("env", {}).values()) <= set(EXPRESSIONS)
        # Texts of others must not become commands: expressions are handed over in the environment.
        assert "${{" not in step.get("run", "")


def test_commands_and_options_are_there() -> None:
    lines = [line.strip() for step in STEPS for line in step.get("run", "").splitlines()]
    found = [match[1] for line in lines if (match := re.search(r"\bgoldassay (\w.*)", line))]
    used = {words.split()[0] for words in found}
    assert {"audit", "diff", "check"} <= used
    for words in found:
        if words.split()[0] in ("audit", "diff", "check"):
            check_words([re.sub(r"[;\"]", "", word) for word in words.split()], "examples/ci/goldassay.yml")


def test_it_may_only_read_and_comment() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read", "pull-requests": "write"}
    # PyYAML takes `on` for the word true. `pull_request_target` would run others' data with our rights.
    assert set(WORKFLOW[True]) == {"push", "pull_request"}


@pytest.mark.slow
def test_a_pull_request_that_mends_the_data_passes(runner: Runner) -> None:
    write_specimen(runner.folder / "data", size=2000, test_size=200, clean=True)
    # What a few rows cannot rule out is no matter of the workflow.
    (runner.folder / "goldassay.toml").write_text("[policy]\nmax_easy_share = 0.1\nmax_pattern_gain = 0.05\n")
    runner.run()
    assert runner.failed == "", runner.said
    assert runner.ran == [
        "Install", "Audit", "Audit the branch that the pull request goes to", "Compare", "Summary", "Comment", "Gate",
    ]  # fmt: skip
    assert runner.comment.startswith("# What changed between two reports")
    assert re.search(r"^\| Artifacts \| (unsound|caution) \|", runner.comment, re.MULTILINE)
    assert "# Audit of train, evaluated on test" in runner.comment
    assert "pretty_name" not in runner.comment
    assert len(runner.comment) <= 60_100
    assert (runner.programs / "gh.txt").read_text().startswith("token pr comment 7 --body-file comment.md")
    assert (runner.programs / "summary.md").read_text() == (runner.folder / "summary.md").read_text()
    assert json.loads((runner.folder / "check.json").read_text())["passed"] is True


@pytest.mark.slow
def test_a_pull_request_that_breaks_the_policy_fails_and_says_why(runner: Runner) -> None:
    # The data of main are flawed already: they stay so.
    runner.run()
    assert runner.failed == "Gate"
    assert "broken       max_easy_share" in runner.said
    assert "Both reports say the same" in runner.comment
    assert "failures=" in (runner.folder / "junit.xml").read_text()


@pytest.mark.slow
def test_data_that_cannot_be_compared_are_said_to_be_so(runner: Runner) -> None:
    rows = pl.read_ndjson(runner.folder / "data" / "train.jsonl")
    for name in ("train", "test"):
        place = runner.folder / "data" / f"{name}.jsonl"
        rows = pl.read_ndjson(place).with_columns(pl.col("label").replace("neutral", "contradiction"))
        rows.write_ndjson(place)
    runner.run()
    assert "Compare" in runner.ran
    assert runner.failed in ("", "Gate"), runner.said
    assert runner.comment.startswith("The two reports cannot be compared: goldassay: ")


@pytest.mark.slow
def test_first_data_and_forks(runner: Runner) -> None:
    origin = runner.folder.parents[1] / "origin"
    git(origin, "mv", "data", "moved")
    git(origin, "commit", "-m", "move")
    git(runner.folder, "fetch")
    runner.fork = True
    runner.run()
    assert "Comment" not in runner.ran
    assert (runner.folder / "changes.md").read_text().startswith("The branch main has no such data")
