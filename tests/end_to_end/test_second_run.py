"""A command run into a folder that holds its earlier result gives the bytes of a fresh folder."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.core.files import sha256_of
from tests.data.forms import said
from tests.data.test_mending import decide
from tests.hostile.cases import commands

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
QUIET = ("-q", "-o", "out")
DATA, TEST, RUNS = "train.jsonl", ("--test", "test.jsonl"), "test.csv"
BOTH = ("--test", "ID=test.jsonl", "--test", "far=far.jsonl")
EVERYDAY = {
    "instability": ("instability", RUNS),
    "answered": ("answered", RUNS),
    "sensitivity": ("sensitivity", RUNS),
    "board": ("board", RUNS),
    "compare": ("compare", RUNS, "--model", "m0", "--model", "m1", "--pool-configurations"),
    "split": ("split", DATA),
    "mend": ("mend", "set.jsonl"),
    "runs import": ("runs", "import", RUNS),
    "runs export": ("runs", "export", RUNS, "--to", "long"),
    "runs summarize": ("runs", "summarize", RUNS),
    "shift build": ("shift", "build", "--by", "genre", "--source", DATA, "--min-rows", "4"),
    "artifacts mine": ("artifacts", "mine", DATA, "--min-count", "3"),
    "artifacts downsample": ("artifacts", "downsample", DATA, "--min-count", "3"),
    "overlap": ("overlap", "test.jsonl", "--corpus", DATA, "--field", "premise"),
}
SLOW = {
    "specimen": ("specimen", "--size"),
    "audit": ("audit", DATA, *TEST, "--runs", RUNS, "--elsewhere", "far.jsonl"),
    "artifacts assign": ("artifacts", "assign", DATA, *TEST, "--min-count", "3"),
    "artifacts gap": ("artifacts", "gap", "subsets.csv", "--runs", "test-plain.csv"),
    "artifacts classify": ("artifacts", "classify", DATA, *TEST, "--seeds", "2", "--min-count", "3"),
    "leakage measure": ("leakage", "measure", DATA, *TEST),
    "leakage suggest": ("leakage", "suggest", DATA),
    "diff": ("diff", "before", "after"),
    "train": ("train", DATA, *TEST, "--model", "bow", "--seeds", "2"),
    "sweep": ("sweep", "plan.toml"),
    "shift generalization": ("shift", "generalization", DATA, *BOTH, "--model", "bow"),
    "shift detection": (
        "shift",
        "detection",
        "--inside",
        "test=test-logits.csv",
        "--outside",
        "far=far-logits.csv",
        "--label-names",
        ",".join(LABELS),
    ),
}
# Their inputs are published files.
ELSEWHERE = {"studies"}
# Training goes on where it was stopped, and refuses what was begun with other data.
RESUMING = {"train", "shift generalization", "sweep"}
# A store of runs takes further ones; what two imports share is written anew.
ADDING = {"runs import", "runs export"}
# Parts of a corpus that were searched, by their content: another search of the same parts goes on from there.
KEPT = "shards/"


def write(folder: Path, which: int) -> None:
    """Inputs of one of two studies, which share no row, no model and no group."""
    folder.mkdir(exist_ok=True)
    sizes = {"train": 90 - 30 * which, "test": 36 - 6 * which, "far": 30}
    for at, (name, n) in enumerate(sizes.items()):
        rows = [
            {
                "id": f"{name}{row}", "premise": said(500 * which + 100 * at + row, 8),
                "hypothesis": said(600 * which + 100 * at + row), "label": LABELS[row % 3],
                "genre": "pqrs"[2 * which + row % 2],
            }
            for row in range(n)
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        answers = [
            {
                "model": f"m{model}", "seed": seed, "config_prompt": f"p{prompt}", "example_id": row["id"],
                "label": row["label"], "prediction": LABELS[(at + (at * 7 + seed + prompt + model) % 5 // 4) % 3],
            }
            for model in range(2)
            for prompt in range(3 - which)
            for seed in range(2)
            for at, row in enumerate(rows)
        ]  # fmt: skip
        pl.DataFrame(answers).write_csv(folder / f"{name}.csv")
        plain = pl.DataFrame(answers).filter(pl.col("config_prompt") == "p0").drop("config_prompt")
        plain.write_csv(folder / f"{name}-plain.csv")
        logits = [
            {"seed": seed, "example_id": row["id"], "logits": f"[{at % 5}, {(at + seed) % 3}, {which}]"}
            for seed in range(2)
            for at, row in enumerate(rows)
        ]
        pl.DataFrame(logits).write_csv(folder / f"{name}-logits.csv")
    parts = [{"example_id": f"test{row}", "class": ("easy", "hard")[row % 2]} for row in range(sizes["test"])]
    pl.DataFrame(parts).write_csv(folder / "subsets.csv")


def made(folder: Path) -> dict[str, str]:
    """SHA-256 of every file, without the clock."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "timing.json"]
    found = {str(path.relative_to(folder)): sha256_of(path) for path in files}
    return {name: digest for name, digest in found.items() if not name.startswith(KEPT)}


def check(name: str, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for place, studies in (("twice", (0, 1)), ("fresh", (1,))):
        folder = tmp_path / place
        for which in studies:
            write(folder, which)
            monkeypatch.chdir(folder)
            prepare(arguments[0], folder, which)
            sized = (*arguments, str(3000 - 600 * which)) if arguments[0] == "specimen" else arguments
            refused = name in RESUMING and which == 1 and place == "twice"
            assert run([*sized, *QUIET]) == (2 if refused else 0)
            if refused:
                return
        found.append(made(folder / "out"))
        shutil.rmtree(folder / "out")
    again, fresh = found
    assert again.keys() >= fresh.keys() if name in ADDING else again.keys() == fresh.keys()
    assert [file for file in fresh if again[file] != fresh[file]] == []
    assert fresh


def prepare(command: str, folder: Path, which: int) -> None:
    """What one command alone needs."""
    if command == "mend":
        shutil.copy(folder / DATA, folder / "set.jsonl")
        (folder / "set.decisions.jsonl").unlink(missing_ok=True)
        decide(folder / "set.jsonl", f"train{which}", "drop")
    if command == "sweep":
        plan = (
            f"models = ['bow']\nevery.seeds = {2 - which}\ntrain = {{a = 'train.jsonl'}}\ntest = {{a = 'test.jsonl'}}\n"
        )
        (folder / "plan.toml").write_text(plan)
    if command == "diff":
        # The page says when each report was made: both places have the same ones.
        shared = folder.parent / f"reports-{which}"
        for name, model in (("before", "m0"), ("after", "m1")):
            if not (shared / name).exists():
                arguments = ["instability", "test-plain.csv", "--model", model, "-q", "-o", str(shared / name)]
                assert run(arguments) == 0
            shutil.copytree(shared / name, folder / name, dirs_exist_ok=True)


@pytest.mark.parametrize("name", EVERYDAY)
def test_a_second_run_leaves_nothing_of_the_first(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, EVERYDAY[name], tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_second_long_run_leaves_nothing_of_the_first(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(name, SLOW[name], tmp_path, monkeypatch)


def test_sets_of_an_earlier_command_enter_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of the same training data go on being used, with what they answered then in the same folder."""
    shift = ("shift", "generalization", DATA, "--test", "ID=test.jsonl", "--model", "quick_probe", "--seeds", "1")
    reports = []
    for place, names in (("twice", ("far", "other")), ("fresh", ("other",))):
        write(tmp_path / place, 0)
        monkeypatch.chdir(tmp_path / place)
        for name in names:
            assert run([*shift, "--test", f"{name}=far.jsonl", *QUIET]) == 0
        reports.append((tmp_path / place / "out/report.json").read_text())
    assert reports[0] == reports[1]


def test_every_command_that_writes_is_run_twice() -> None:
    writing = {" ".join(words) for words, made in commands() if any("--out" in each.opts for each in made.params)}
    assert writing == EVERYDAY.keys() | SLOW.keys() | ELSEWHERE
