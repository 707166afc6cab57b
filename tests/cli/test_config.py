"""Limits of a settings file hold in every command that judges, and the file is named where they decided."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.main import get_command

from goldassay.cli.app import app
from goldassay.core.settings import Settings, load_settings
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.cli.run_files import goldassay
from tests.cli.test_leakage import leaky_rows, write_jsonl
from tests.cli.test_single_valued import commands
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay"]

# Limits that nothing reaches: what would be unsound is sound, or unresolved for another reason.
LOOSE = """
[verdicts.artifacts]
caution = 0.97
unsound = 0.98
[verdicts.leakage]
caution = 0.97
unsound = 0.98
[verdicts.instability]
caution_sd = 0.97
unsound_sd = 0.98
caution_design_effect = 99999.0
[verdicts.shift]
caution = 0.97
unsound = 0.98
"""
# What makes a verdict takes settings from a file; these make none, or read another kind of file.
JUDGE_NOTHING = {
    ("specimen",), ("look",), ("runs", "list"), ("runs", "show"), ("runs", "import"), ("runs", "export"),
    ("runs", "summarize"),
    ("sweep",), ("diff",), ("studies",), ("shift", "build"), ("view",), ("mend",), ("paste",),
}  # fmt: skip


def test_every_command_that_judges_takes_a_settings_file() -> None:
    without = {
        path
        for path, command in commands(get_command(app))
        if not {"settings", "policy"} & {p.name for p in command.params}
    }
    assert without == JUDGE_NOTHING


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Leaky pairs, and runs that swing and lose much elsewhere."""
    write_jsonl(tmp_path / "train.jsonl", leaky_rows(400))
    write_jsonl(tmp_path / "test.jsonl", leaky_rows(240, seed=1))
    # Too few for clusters of sentences, which take most of the time.
    write_jsonl(tmp_path / "few.jsonl", leaky_rows(48, seed=2))
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 200)
    for name, levels in (("own", (0.95, 0.8, 0.9, 0.7, 0.99)), ("far", (0.5, 0.52, 0.48, 0.51, 0.5))):
        right = np.stack([rng.random(200) < level for level in levels])
        predictions = np.where(right, gold, 1 - gold)
        made = Runs.from_arrays(predictions, gold, label_names=("no", "yes"), model="bert", dataset=name)
        write_runs(made, tmp_path / "runs")
    return tmp_path


MINE = ("artifacts", "mine", "train.jsonl", "--test", "test.jsonl", "-o", "out")
MEASURE = ("leakage", "measure", "train.jsonl", "--test", "few.jsonl", "--seeds", "2", "-o", "out")
INSTABILITY = ("instability", "runs", "--dataset", "own", "-o", "out")
SHIFT = ("shift", "generalization", "--runs", "runs", "--in-distribution", "own", "--draws", "200", "-o", "out")


@pytest.mark.parametrize(
    ("arguments", "question", "kept"),
    [(MINE, "artifacts", "caution"), (MEASURE, "leakage", "caution"), (INSTABILITY, "instability", "caution_sd"),
     (SHIFT, "shift", "caution")],
    ids=["mine", "measure", "instability", "shift"],
)  # fmt: skip
def test_limits_hold_and_are_named(
    goldassay: Command, folder: Path, arguments: tuple[str, ...], question: str, kept: str
) -> None:
    def verdict() -> tuple[dict[str, Any], dict[str, Any]]:
        document = json.loads((folder / "out/report.json").read_text())
        return document["verdicts"][question], document

    done = goldassay(*arguments)
    assert done.status == 0, done.err
    before, document = verdict()
    assert before["verdict"] == "unsound"
    # Every command that judges prints the verdict and its evidence.
    assert "UNSOUND" in done.out
    assert " ".join(before["evidence"].split()) in " ".join(done.out.split())
    assert before["limits"] == ""
    assert document["settings_file"] is None
    assert "goldassay.toml" not in done.out + (folder / "out/report.md").read_text()

    # That a file is found is tried with one command, that it is named with the others: all read it in one place.
    found = arguments == MINE
    for file, option in (("goldassay.toml", ()),) if found else (("mine.toml", ("--settings", "mine.toml")),):
        (folder / file).write_text(LOOSE)
        done = goldassay(*arguments, *option)
        assert done.status == 0, done.err
        after, document = verdict()
        assert after["verdict"] in ("sound", "unresolved")
        assert after["limits"].startswith(f"Limits set by {file}: {kept} = 0.97 (default ")
        assert document["settings_file"]["name"] == file
        assert file in done.out
        page, text = ((folder / "out" / name).read_text() for name in ("report.html", "report.md"))
        assert after["limits"] in page
        assert after["limits"].replace("_", r"\_") in text
        assert f"settings of {file}" in text


def test_patterns_are_kept_as_the_settings_say(goldassay: Command, folder: Path) -> None:
    (folder / "goldassay.toml").write_text(
        "seed = 3\n[artifacts]\nthreshold = 0.9\nq = 0.05\nmax_gap = 0\nmin_count = 20"
    )
    assert goldassay(*MINE).status == 0
    used = json.loads((folder / "out/report.json").read_text())["settings"]
    assert (used["threshold"], used["q"], used["max_gap"], used["min_count"], used["seed"]) == (0.9, 0.05, 0, 20, 3)
    assert goldassay(*MINE, "--max-gap", "2", "--min-count", "30").status == 0
    used = json.loads((folder / "out/report.json").read_text())["settings"]
    assert (used["max_gap"], used["min_count"], used["threshold"]) == (2, 30, 0.9)
    limits = json.loads((folder / "out/report.json").read_text())["verdicts"]["artifacts"]["limits"]
    changed = "max_gap = 2 (default 3), min_count = 30 (default automatic)"
    assert states(limits, f"settings that are not the default: {changed}")


def test_settings_know_their_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("seed = 3\n")
    settings = load_settings(tmp_path / "mine.toml")
    assert settings.file == tmp_path / "mine.toml"
    assert len(settings.sha256) == 64
    assert settings.model_copy(update={"seed": 4}).file == settings.file
    assert settings.model_dump().keys() == Settings().model_dump().keys()
    assert Settings().file is None
