"""`goldassay train` with objectives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.runs.reading import list_runs
from tests.cli.run_files import goldassay
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import made_pairs
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "in_place"]

SMALL = ("--changes", "vectors=8", "--changes", "hidden=8", "--changes", "min_count=1", "--changes", "epochs=1")
SETTINGS = """
[training]
model = "ngram_average"
seeds = 1
objective = "adversarial"
objective_changes = { hidden = 8, reweight = true }
bias = "mined"
dev = "dev.jsonl"
changes = { vectors = 8, hidden = 8, min_count = 1, epochs = 1 }
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, seed in (("train", 0), ("test", 1), ("dev", 2)):
        made_pairs(60, seed, name).examples.write_ndjson(tmp_path / f"{name}.jsonl")
    return tmp_path


@pytest.mark.slow
def test_a_bias_run_then_an_objective_that_takes_it(goldassay: Command, data: Path):
    common = ("train", "train.jsonl", "--model", "ngram_average", "--seeds", "1", "--test", "test.jsonl", *SMALL)
    bias = goldassay(*common, "--conditions", "hypothesis_only", "--test", "train.jsonl", "-o", "bias")
    assert bias.status == 0, bias.err
    told = goldassay(
        *common,
        "--objective",
        "learned_mixin",
        "--objective-changes",
        "penalty=0.1",
        "--bias",
        "bias",
        "--json",
        "r.json",
    )
    assert told.status == 0, told.err
    assert "over 1 run, " in told.out
    assert states(told.out, "bias model ngram_average/hypothesis_only", "accuracy")
    rows = json.loads((data / "r.json").read_text())["beside"]
    assert {row["part"] for row in rows} == {"train", "test"}
    assert list_runs(data / "runs")["model"].to_list() == ["ngram_average+learned_mixin"]
    (done,) = (data / "runs" / "_jobs").glob("*/done.json")
    described = json.loads(done.read_text())["objective"]
    assert len(described["trust"]) == 1
    assert {row["role"] for row in described["beside"]} == {"bias"}


def test_mined_patterns_guide_by_settings(in_place: None, goldassay: Command, data: Path):
    mined = goldassay("artifacts", "mine", "train.jsonl", "-o", "mined", "-q")
    assert mined.status == 0, mined.err
    (data / "goldassay.toml").write_text(SETTINGS)
    told = goldassay("train", "train.jsonl", "--test", "test.jsonl")
    assert told.status == 0, told.err
    assert "patterns mined from the hypothesis" in told.out
    assert "After training, discriminator 2 has accuracy" in told.out
    (data / "goldassay.toml").write_text(SETTINGS.replace("reweight = true", "reweight = false"))
    other = goldassay("train", "train.jsonl", "--test", "test.jsonl")
    assert other.status == 2
    assert "objective_settings.reweight was true, now false" in other.line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "adversarial", "--model", "dam"), "dam has none: it reads its texts together"),
        (("--objective", "adversarial", "--objective-changes", "gamma=-1.0"), "gamma is -1.0"),
        (("--objective", "adversarial", "--objective-changes", "gamma"), "write --objective-changes gamma=1"),
        (("--objective", "product_of_experts", "--bias", "nowhere"), "there is no bias 'nowhere'"),
    ],
)
def test_refusals_are_one_line(goldassay: Command, data: Path, arguments: tuple[str, ...], message: str):
    model = () if "--model" in arguments else ("--model", "ngram_average")
    outcome = goldassay("train", "train.jsonl", "--test", "test.jsonl", *model, *arguments)
    assert outcome.status == 2
    assert message in outcome.line
    assert not list(data.glob("runs/_jobs/*"))
