"""The command that measures and proves training on an accelerator, run on the processor at its small size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from benchmarks import gpu
from tests.lab.training.in_place import in_place
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["in_place"]

ROOT = Path(__file__).parents[2]
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_FLAG = {"type": "boolean"}
# The processor's memory is shared with all else, and its utilization is not the driver's to tell.
_MEASURED = {
    "examples": {"type": "integer", "minimum": 1},
    "seconds": _POSITIVE,
    "examples_per_second": _POSITIVE,
    "peak_memory": {"type": "null"},
    "utilization": {"type": "null"},
}
_LOSSES = {"type": "array", "items": _POSITIVE, "minItems": 21, "maxItems": 21}


def each(names: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    """An object with an entry for each name, each with exactly these properties."""
    entry = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "object", "properties": dict.fromkeys(names, entry), "required": list(names),
            "additionalProperties": False}  # fmt: skip


MODELS = tuple(model.name for model in gpu.SMALL.models)
TRAINED = {**_MEASURED, "accuracy": _SHARE}
RESULTS = {
    "agreement": each(
        tuple(model.name for model in gpu.SMALL.compared),
        seed={"type": "integer", "minimum": 0, "maximum": 4}, losses=_LOSSES, cpu_losses=_LOSSES,
        first_difference={"type": "number", "minimum": 0}, largest_difference={"type": "number", "minimum": 0},
        accuracy=_SHARE, cpu_accuracies={"type": "array", "items": _SHARE, "minItems": 5, "maxItems": 5},
        first_agrees=_FLAG, others_agree=_FLAG, accuracy_agrees=_FLAG, agrees=_FLAG,
    ),
    "determinism": each(
        tuple(model.name for model in gpu.SMALL.repeated), files={"type": "integer", "minimum": 2}, equal=_FLAG
    ),
    "checkpoints": each(
        MODELS, bytes={"type": "integer", "minimum": 1}, parameters={"type": "integer", "minimum": 1},
        write_seconds=_POSITIVE, read_seconds=_POSITIVE,
    ),
    "seeds": each(MODELS[:1], one=_POSITIVE, several=_POSITIVE, n_seeds={"const": 2}, ratio=_POSITIVE),
}  # fmt: skip


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], in_place: None
) -> Callable[..., tuple[int, str]]:
    """Run the command in this process, which trains here too, and give its status and what it prints."""
    import torch

    n_threads = torch.get_num_threads()

    def running(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["gpu.py", *arguments])
        try:
            return gpu.main(), capfd.readouterr().out
        finally:
            torch.set_num_threads(n_threads)

    return running


@pytest.fixture
def apart(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The same as a process, which starts others to train."""

    def running(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, ROOT / "benchmarks" / "gpu.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        return done.returncode, done.stdout

    return running


@pytest.mark.timeout(1500)
@pytest.mark.slow
@pytest.mark.parametrize("command", ["here", "apart"])
def test_it_runs_without_an_accelerator_and_says_so(command: str, request: pytest.FixtureRequest, tmp_path: Path):
    run = request.getfixturevalue(command)
    status, said = run("--results", str(tmp_path), "--device", "cpu", "--minutes", "60")
    found = json.loads((tmp_path / "gpu.json").read_text())
    failed = [section for section in found["sections"] if not section["ok"]]
    assert not failed, failed[0]["traceback"]
    assert status == 0
    assert said.startswith("There is no accelerator, or none is asked for")
    assert (found["version"], found["accelerator"], found["scale"]) == (gpu.VERSION, False, "small")
    assert [section["name"] for section in found["sections"]] == list(gpu.SECTIONS)
    results = {section["name"]: section["result"] for section in found["sections"]}
    for name, schema in RESULTS.items():
        jsonschema.validate(results[name], schema)
    precisions = {name.partition(", ")[2] for name in results["training"]}
    assert "float32" in precisions
    both = tuple(f"{model}, {precision}" for model in MODELS for precision in precisions)
    one = {"type": "object", "properties": TRAINED, "required": list(TRAINED), "additionalProperties": False}
    jsonschema.validate(results["training"], each(both, ours=one, trainer=one, ratio=_POSITIVE))
    jsonschema.validate(
        results["evaluation"], each(tuple(results["evaluation"]), **_MEASURED, batch={"type": "integer", "minimum": 1})
    )
    for comparison in results["training"].values():
        speeds = [comparison[whose]["examples_per_second"] for whose in ("ours", "trainer")]
        assert comparison["ratio"] == pytest.approx(speeds[0] / speeds[1])
        assert comparison["ours"]["examples"] == comparison["trainer"]["examples"] == 240 - 2 * 16
    for comparison in results["agreement"].values():
        check_of_agreement(comparison)
    table = (tmp_path / "gpu.md").read_text()
    assert table in said
    assert all(f"| {name} |" in table for name in (*both, *results["agreement"]))


def check_of_agreement(found: dict[str, Any]) -> None:
    """What the command says against what it measured."""
    far = [abs(a - b) / b for a, b in zip(found["losses"], found["cpu_losses"], strict=True)]
    assert len(set(found["losses"])) > 15, "losses of a training differ from step to step"
    assert found["first_difference"] == pytest.approx(far[0], abs=1e-12)
    assert found["largest_difference"] == pytest.approx(max(far[1:]), abs=1e-12)
    assert found["first_agrees"] == (far[0] <= 1e-5)
    assert found["others_agree"] == (max(far[1:]) <= 1e-3)
    assert sorted(found["cpu_accuracies"])[2] == found["cpu_accuracies"][found["seed"]]
    assert found["agrees"]


LOSSES = [1.1 - 0.01 * step for step in range(21)]


@pytest.mark.parametrize(
    ("step", "factor", "accuracy", "agrees"),
    [
        (0, 1 + 0.9e-5, 0.6, True),
        (0, 1 + 1.1e-5, 0.6, False),
        (20, 1 - 0.9e-3, 0.6, True),
        (20, 1 - 1.1e-3, 0.6, False),
        (0, float("nan"), 0.6, False),
        (7, float("nan"), 0.6, False),
        (0, 1.0, 0.5, True),
        (0, 1.0, 0.7, True),
        (0, 1.0, 0.499, False),
        (0, 1.0, 0.701, False),
    ],
)
def test_what_does_not_agree_is_seen(step: int, factor: float, accuracy: float, agrees: bool):
    losses = [loss * factor if place == step else loss for place, loss in enumerate(LOSSES)]
    assert gpu.agreement_of(losses, LOSSES, accuracy, [0.6, 0.5, 0.7, 0.55, 0.65])["agrees"] is agrees


def test_a_section_that_fails_is_told_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def fails(_: Any) -> None:
        raise RuntimeError("CUDA error:\n an illegal memory access")

    def differs(_: Any) -> None:
        raise gpu.CheckError("bilstm: two runs of one seed are not equal", {"bilstm": {"files": 2, "equal": False}})

    monkeypatch.setattr(gpu, "training", fails)
    monkeypatch.setattr(gpu, "determinism", differs)
    monkeypatch.setattr(gpu, "seeds", lambda _: {"bilstm": {"one": 1.0, "several": 4.0, "n_seeds": 10, "ratio": 4.0}})
    arguments = ["gpu.py", "--device", "cpu", "--results", str(tmp_path), "--only", "training", "determinism", "seeds"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert gpu.main() == 1
    said = capfd.readouterr().out
    assert states(said, "training: RuntimeError: CUDA error")
    found = {section["name"]: section for section in json.loads((tmp_path / "gpu.json").read_text())["sections"]}
    assert [found[name]["ok"] for name in ("determinism", "training", "seeds")] == [False, False, True]
    assert "in fails" in found["training"]["traceback"]
    assert found["determinism"]["result"]["bilstm"]["equal"] is False
    table = (tmp_path / "gpu.md").read_text()
    assert "| bilstm | no |" in table
    assert "| bilstm | 1.0 s | 4.0 s | 10 | 4.00 |" in table
    assert "- failed: training: RuntimeError" in table


def test_when_its_time_is_over_it_begins_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--device", "cpu", "--results", str(tmp_path), "--minutes", "0"])
    assert gpu.main() == 1
    sections = json.loads((tmp_path / "gpu.json").read_text())["sections"]
    assert {section["error"] for section in sections} == {"not begun: 0 minutes are over"}
