"""What goes wrong on the way, as who gives the commands sees it: one line, a status, and the same command goes on."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.cli.main import run
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import read_state
from goldassay.runs.reading import list_runs, read_runs
from tests.cli.run_files import goldassay
from tests.lab.training.made_data import made_pairs
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay"]

QUICK = (
    "--changes",
    "min_count=1",
    "--changes",
    "epochs=2",
    "--changes",
    "batch_size=8",
    "--seeds",
    "1",
    "--workers",
    "1",
)
PLAN = """
models = ["bilstm"]
train = { made = "train.jsonl" }
test = { made = "test.jsonl" }
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, seed in (("train", 0), ("test", 1)):
        made_pairs(64, seed, name).examples.drop("weight").write_ndjson(tmp_path / f"{name}.jsonl")
    return tmp_path


def train(*more: str) -> tuple[str, ...]:
    """The command with further options, which replace those of the same name or, of `--changes`, of the same key."""
    usual = [("--model", "ngram_average"), ("--test", "test.jsonl"), *zip(QUICK[::2], QUICK[1::2], strict=True)]
    given = [*zip(more[::2], more[1::2], strict=False)]
    replaced = {name for name, _ in given} - {"--changes", "--test"}
    keys = {value.partition("=")[0] for name, value in given if name == "--changes"}
    kept = [
        (name, value)
        for name, value in usual
        if name not in replaced and not (name == "--changes" and value.partition("=")[0] in keys)
    ]
    return ("train", "train.jsonl", *(part for pair in kept for part in pair), *more)


def test_a_loss_that_is_no_number_ends_its_run_alone_and_keeps_the_last_good_state(goldassay: Command, data: Path):
    # One step an epoch, so that there is a state after the first, whose loss is still a number.
    outcome = goldassay(
        *train("--rows", "8", "--changes", "optimizer=sgd", "--changes", "learning_rate=1e18", "--state-every", "0")
    )
    assert outcome.status == 2
    assert "the loss became" in outcome.err
    assert "at step 2" in outcome.err
    (state,) = (data / "runs").rglob("state.safetensors")
    kept = read_state(state)
    assert kept is not None
    assert all(tensor.isfinite().all() for name, tensor in kept[1].items() if name.startswith("network"))


MORE = {"example_id": "more-0", "premise": "there is a dog", "hypothesis": "a dog", "label": "a fourth"}
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown model": (("--model", "ngram_averge"), "there is no model 'ngram_averge'; did you mean 'ngram_average'"),
    "unknown setting": (("--changes", "epoch=2"), "there is no setting 'epoch'; did you mean 'epochs'"),
    "no seeds": (("--seeds", "0"), "--seeds is 0; give a whole number or a list of whole numbers, at least 1"),
    "seeds that are none": (("--seeds", "7,x"), "--seeds is '7,x'; give a whole number or a list of whole numbers"),
    "more seeds than are meant": (("--seeds", f"{'7,' * 1001}"), "--seeds names 1001 seeds; name 1000 at most"),
    "a setting out of range": (("--changes", "dropout=1.5"), "dropout is 1.5; give a share from 0 to below 1"),
    "a share without its 0": (("--changes", "dropout=-.5"), "dropout is -0.5; give a share from 0 to below 1"),
    "nobody at work": (("--workers", "0"), "--workers is 0; give a whole number, at least 1 and at most 1024"),
    "a name that is none": (("--name", ""), "the name of the runs is empty; leave out --name"),
    "one name twice": (("--test", "test=train.jsonl"), "two test sets have the name 'test'; name them with"),
    "ragged vectors": (("--vectors", "ragged.txt"), "ragged.txt, line 2: the line has 1 numbers"),
    "labels that the head lacks": (("--test", "more=more.jsonl"), "labels that the training set lacks (a fourth;"),
    "no GPU": (("--device", "cuda"), "a GPU was asked for, and torch finds none"),
    "other settings": (
        ("-o", "before", "--changes", "epochs=3"),
        "made with other settings: recipe.epochs was 2, now 3;",
    ),
}


def say(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that is refused says."""
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: str
):
    arguments, message = REFUSED[case]
    if case == "no GPU":
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.chdir(data)
    (data / "ragged.txt").write_text("some 0.1 0.2\nnever 0.3\n")
    (data / "more.jsonl").write_text((data / "test.jsonl").read_text() + json.dumps(MORE) + "\n")
    if case == "other settings":
        monkeypatch.setattr(
            "goldassay.lab.training.many_seeds.run_jobs", lambda jobs, *_: [run_job(job) for job in jobs]
        )
        assert run(train("-o", "before", "-q")) == 0
        monkeypatch.undo()
        monkeypatch.chdir(data)
    assert message in say(capsys, *train(*arguments))


def test_a_single_seed_is_named(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(data)
    monkeypatch.setattr("goldassay.lab.training.many_seeds.run_jobs", lambda jobs, *_: [run_job(job) for job in jobs])
    assert run(train("--seeds", "7,", "--quiet")) == 0
    assert list_runs(data / "runs")["n_runs"].to_list() == [1]
    assert read_runs(data / "runs").seeds.tolist() == [7]


def test_texts_that_are_too_long_are_cut_and_counted(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("transformers")
    from tests.lab.models.network_cases import tiny_checkpoint

    place = tiny_checkpoint(data, made_pairs(64), max_positions=8)
    monkeypatch.chdir(data)
    monkeypatch.setattr("goldassay.lab.training.many_seeds.run_jobs", lambda jobs, *_: [run_job(job) for job in jobs])
    settings = ("--changes", "epochs=1", "--seeds", "1")
    assert run(("train", "train.jsonl", "--model", str(place), "--test", "test.jsonl", *settings)) == 0
    told = capsys.readouterr().out
    assert states(told, "training rows of train", 64, place.name, "cut")
    assert states(told, "64 examples of test", 64, place.name, "cut")


@pytest.mark.parametrize("command", [train("--model", "bilstm"), ("sweep", "plan.toml")])
def test_without_the_extra_what_to_install_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
):
    monkeypatch.chdir(data)
    (data / "plan.toml").write_text(PLAN)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert states(say(capsys, *command), "torch", "pip install 'goldassay[train]'")
