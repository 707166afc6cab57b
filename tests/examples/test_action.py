"""The action at the root: its steps are run as GitHub would, in four cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldassay.cli.main import run
from goldassay.runs.specimen import write_specimen
from tests.examples.test_workflow import program

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
RULES = (
    "max_single_sentence_improvement",
    "max_easy_share",
    "max_pattern_gain",
    "max_score_sd",
    "max_generalization_gap",
)
STRICT = "[policy]\nworst_verdict = 'caution'\nmin_runs = 2\n" + "".join(f"{name} = 0.001\n" for name in RULES)


class Job:
    """A job of a pull request that uses the action in a folder of its own."""

    def __init__(self, folder: Path, may_comment: bool = True) -> None:
        self.work, self.programs = folder / "work", folder / "programs"
        self.work.mkdir()
        self.programs.mkdir()
        program(self.programs / "python", f'exec "{sys.executable}" "$@"')
        program(self.programs / "pip", f'echo "$@" > "{self.programs}/pip.txt"')
        program(self.programs / "gh", f'cp "$5" "{self.programs}/comment.md"' if may_comment else "exit 1")
        self.said = ""

    def run(self, **inputs: str) -> int:
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
        expressions = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
        expressions |= {"${{ github.token }}": "token", "${{ github.event.pull_request.number }}": "7"}
        status = 0
        for step in STEPS:
            if "run" not in step or (status and not str(step.get("if", "")).startswith("always()")):
                continue
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.work, capture_output=True, text=True, check=False,
                env={**os.environ, **{name: expressions[value] for name, value in step.get("env", {}).items()},
                     "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT),
                     "PYTHONPATH": str(ROOT / "src"), "GITHUB_STEP_SUMMARY": str(self.programs / "summary.md"),
                     "GITHUB_OUTPUT": str(self.programs / "output.txt")},
            )  # fmt: skip
            self.said += done.stdout + done.stderr
            status = status or done.returncode
        return status

    def read(self, name: str) -> str:
        return (self.programs / name).read_text("utf-8")

    def summary(self, word: str) -> list[str]:
        """The lines of the summary, which are those of the comment."""
        assert self.read("summary.md") == self.read("comment.md")
        assert self.read("output.txt") == f"result={word}\n"
        lines = self.read("summary.md").splitlines()
        assert lines[0] == f"### goldassay: {word}"
        assert len(lines) <= 25
        return lines


def test_texts_of_others_never_become_commands() -> None:
    assert set(ACTION["inputs"]) == {"data", "test", "runs", "policy", "baseline", "no-texts"}
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_broken_data_fail_with_their_line(tmp_path: Path) -> None:
    job = Job(tmp_path)
    (job.work / "data.jsonl").write_text('{"premise": "a", "hypothesis": "b", "label": "c"}\n{"premise": \n')
    assert job.run(data="data.jsonl") == 2
    assert "data.jsonl" in job.summary("FAIL")[-1]
    assert job.read("pip.txt") == f"install {ROOT}\n"


def test_a_broken_cell_is_not_quoted_without_texts(tmp_path: Path) -> None:
    job = Job(tmp_path)
    (job.work / "data.jsonl").write_text('{"premise": "Kelmorit binds saluto.", "hypo')
    assert job.run(**{"data": "data.jsonl", "no-texts": "true"}) == 2
    assert "data.jsonl, line 1: " in job.summary("FAIL")[-1]
    assert "data.jsonl, line 1: " in job.said
    # These are runs, whose labels the message names.
    (job.work / "runs.csv").write_text("id,prediction,label\n1,a,Kelmorit binds\n1,b,c\n")
    assert job.run(**{"data": "runs.csv", "no-texts": "true"}) == 2
    assert "Kelmorit" not in job.said + job.read("summary.md") + job.read("comment.md")
    # What is no text is said.
    assert job.run(**{"data": "missing.csv", "no-texts": "true"}) == 2
    assert "missing.csv: there is no such file" in job.said


@pytest.mark.slow
def test_flawed_data_fail_and_pass_a_policy_that_allows_it(tmp_path: Path) -> None:
    job = Job(tmp_path)
    write_specimen(job.work, size=2000, test_size=200)
    (job.work / "goldassay.toml").write_text(STRICT)
    assert job.run(data="train.jsonl", test="test.jsonl") == 1
    shown = [line.partition(":")[0] for line in job.summary("FAIL") if line.startswith("- ")]
    assert shown == [*["- broken"] * 4, "- and 3 more"]
    (job.work / "loose.toml").write_text("[policy]\nmax_easy_share = 0.9\n")
    for name in ("summary.md", "output.txt"):
        (job.programs / name).unlink()
    # The same data as their own baseline.
    (job.work / "goldassay-report").rename(job.work / "earlier")
    assert job.run(data="train.jsonl", test="test.jsonl", policy="loose.toml", baseline="earlier") == 0
    assert any(line.endswith("nothing changed") for line in job.summary("PASS")[-3:])


@pytest.mark.slow
def test_inconclusive_passes_here_and_not_in_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(tmp_path)
    write_specimen(job.work, size=400, test_size=100, clean=True)
    assert job.run(data="train.jsonl", test="test.jsonl") == 0
    lines = job.summary("INCONCLUSIVE")
    assert lines[-2].startswith("- there is no goldassay.toml")
    assert lines[-1].startswith("- inconclusive: ")
    monkeypatch.chdir(job.work)
    Path("goldassay.toml").write_text("[policy]\nworst_verdict = 'caution'\n")
    assert run(["check", "goldassay-report"]) == 1


def test_a_comment_that_is_refused_is_a_warning(tmp_path: Path) -> None:
    job = Job(tmp_path, may_comment=False)
    assert job.run(data="nowhere.jsonl") == 2
    assert "::warning::" in job.said


def test_a_policy_that_is_not_there_is_refused(tmp_path: Path) -> None:
    job = Job(tmp_path)
    write_specimen(job.work, size=400, test_size=100, clean=True)
    assert job.run(data="train.jsonl", policy="typo.toml") == 2
    assert "typo.toml" in job.summary("FAIL")[-1]
