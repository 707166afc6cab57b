"""One small input, and everything that the commands say about it: each command is run once."""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.cli.main import run
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LABELS = ("contradiction", "entailment", "neutral")
_ACTS = {
    0: ("is asleep", "is at home"),
    1: ("is outside", "is near a person"),
    2: ("is happy today", "waits for a friend"),
}
# Limits that differ from the defaults for every question: a door that ignores the file gives another verdict.
SETTINGS = """
seed = 5
[artifacts]
min_count = 10
[leakage]
seeds = 2
[verdicts.artifacts]
caution = 0.01
unsound = 0.97
[verdicts.leakage]
caution = 0.01
unsound = 0.97
[verdicts.instability]
caution_sd = 0.001
unsound_sd = 0.97
[verdicts.shift]
caution = 0.01
unsound = 0.97
"""
# Fewer test examples than the usual clusters of sentences, which would take most of the time.
N_TRAIN, N_TEST = 400, 48

# Each command by the folder of its report.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "audit": ("audit", "train.jsonl", "--test", "test.jsonl", "--runs", "runs", "--runs", "far",
              "--elsewhere", "far=far.jsonl"),
    "mine": ("artifacts", "mine", "train.jsonl", "--test", "test.jsonl"),
    "measure": ("leakage", "measure", "train.jsonl", "--test", "test.jsonl"),
    "instability": ("instability", "runs"),
    "compare": ("compare", "runs"),
    "shift": ("shift", "generalization", "--runs", "test=runs", "--runs", "far=far", "--in-distribution", "test",
              "--test", "test=test.jsonl", "--test", "far=far.jsonl", "--trained-on", "train.jsonl"),
}  # fmt: skip


@dataclass(frozen=True)
class Output:
    """What one command said, in every form."""

    document: dict[str, Any]
    terminal: str
    markdown: str
    page: str
    path: Path


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def make_outputs(folder: Path) -> dict[str, Output]:
    """Write the input, and run every command on it."""
    write_input(folder)
    found = {}
    with inside(folder):
        for name, arguments in COMMANDS.items():
            said, warned = io.StringIO(), io.StringIO()
            with redirect_stdout(said), redirect_stderr(warned):
                status = run([*arguments, "-o", name])
            assert status == 0, f"{name}: {warned.getvalue()}"
            texts = [(folder / name / f"report.{kind}").read_text(encoding="utf-8") for kind in ("json", "md", "html")]
            found[name] = Output(json.loads(texts[0]), said.getvalue(), texts[1], texts[2], folder / name)
    return found


def write_input(folder: Path) -> None:
    """Data with texts that give labels away, runs of two models on two sets, and settings that change every limit."""
    rng = np.random.default_rng(0)
    train, rows = ([_row(f"{name}-{i}", rng) for i in range(n)] for name, n in (("train", N_TRAIN), ("test", N_TEST)))
    _write(folder / "train.jsonl", train)
    _write(folder / "test.jsonl", rows)
    far = [
        {**row, "id": f"far-{i}", "premise": row["premise"].replace("street", "river")} for i, row in enumerate(rows)
    ]
    # Some texts of the other distribution stand in the training part.
    far[:3] = [{**known, "id": f"far-{i}", "label": far[i]["label"]} for i, known in enumerate(train[:3])]
    _write(folder / "far.jsonl", far)
    gold = np.array([LABELS.index(row["label"]) for row in rows])
    for model, level in (("a", 0.8), ("b", 0.6)):
        for dataset, place, lost in (("test", "runs", 0.0), ("far", "far", 0.3)):
            # Runs that move together, so that there is a spread.
            levels = level - lost + rng.normal(0, 0.05, 4)
            right = rng.random((4, N_TEST)) < levels[:, np.newaxis]
            made = Runs.from_arrays(
                np.where(right, gold, (gold + 1) % 3), gold, label_names=LABELS, seeds=range(4), model=model,
                dataset=dataset, example_ids=[f"{dataset}-{i}" for i in range(N_TEST)],
            )  # fmt: skip
            write_runs(made, folder / place)
    (folder / "goldassay.toml").write_text(SETTINGS, encoding="utf-8")


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _row(name: str, rng: np.random.Generator) -> dict[str, str]:
    """A pair whose hypothesis gives the label away in two of three rows, of a premise that others share."""
    gold = int(rng.integers(3))
    act = _ACTS[gold if rng.random() < 0.67 else int(rng.integers(3))][int(rng.integers(2))]
    return {
        "id": name,
        "premise": f"A person in coat {rng.integers(20)} walks along the street.",
        "hypothesis": f"Somebody with {rng.integers(50)} coins {act}.",
        "label": LABELS[gold],
    }
