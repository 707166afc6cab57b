"""Logs of the newest inspect_ai: every metric that it printed, of every scorer and reducer, from our scores."""

from __future__ import annotations

import json
import os
import subprocess
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.statuses import STATUSES
from tests.stated import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

PYTHON = Path(__file__).parents[2] / "build" / "foreign" / "inspect_ai" / "bin" / "python"

LEFT_OUT = [STATUSES.index(name) for name in ("truncated", "error", "unscored", "missing")]


def reduced(scores: NDArray[np.float64], reducer: str | None) -> NDArray[np.float64]:
    """The score of each sample over its epochs (R, N), as a reducer has it."""
    if reducer in (None, "mean"):
        return scores.mean(axis=0)
    if reducer in ("max", "median"):
        found: NDArray[np.float64] = getattr(np, reducer)(scores, axis=0)
        return found
    if reducer == "mode":
        # The first of the most frequent values.
        return np.array([max(own.tolist(), key=own.tolist().count) for own in scores.T])
    how, _, k = (reducer or "").rpartition("_")
    right = (scores >= 1).sum(axis=0)
    if how == "at_least":
        return (right >= int(k)).astype(np.float64)
    assert how == "pass_at"
    n = len(scores)
    return np.array([1 - comb(n - int(c), int(k)) / comb(n, int(k)) for c in right])


def test_every_metric(written: Path) -> None:
    n_checked = 0
    for log in json.loads((written / "printed.json").read_text()):
        for told in log["scores"]:
            name = told["scorer"] if told["name"] == told["scorer"] else f"{told['scorer']}/{told['name']}"
            own: dict[str, Any] = {"grades": "1:5"} if name == "rated" else {}
            runs = read_runs(written / log["file"], columns={"score": name}, missing="wrong", **own)
            # inspect_ai scores an empty output, and leaves out what failed or was not reached.
            codes = np.zeros(runs.scores.shape) if runs.status_codes is None else runs.status_codes
            kept = ~np.isin(codes, LEFT_OUT).any(axis=0)
            assert kept.sum() == told["scored"]
            scores = (1 + 4 * runs.scores if name == "rated" else runs.scores)[:, kept]
            for metric in {"accuracy", "mean"} & told["metrics"].keys():
                printed = told["metrics"][metric]
                ours = float(reduced(scores, told["reducer"]).mean())
                assert ours == pytest.approx(printed, abs=1e-9), (log["file"], name, told["reducer"])
                n_checked += 1
    assert n_checked >= 60


def test_configurations_models_and_eval_sets(written: Path) -> None:
    frame = list_runs(written / "models")
    assert frame.height == 4
    assert set(frame["n_runs"]) == {2}
    assert all("prompt=" in name for name in frame["model"])
    assert sorted(list_runs(written / "set")["model"]) == ["mockllm/large", "mockllm/small"]
    assert (written / "set" / "logs.json").is_file()


@pytest.mark.parametrize(("how", "unscored"), [("error", "2 of 10"), ("cancelled", "3 of 10"), ("started", "of 10")])
def test_evaluations_that_stopped_say_how_many_samples_are_missing(written: Path, how: str, unscored: str) -> None:
    with pytest.raises(InputError, match=in_order(f"{unscored} examples", f"status '{how}'")):
        read_runs(written / how)


def test_samples_that_failed_or_reached_a_limit(written: Path) -> None:
    holes = read_runs(written / "holes")
    assert holes.status_codes is not None
    failed = holes.example_ids[(holes.status_codes == STATUSES.index("error")).any(axis=0)]
    assert (failed.tolist(), holes.n_examples) == (["q3"], 10)
    assert read_runs(written / "limits").n_examples == 10


@pytest.mark.parametrize("place", ["models", "set"])
def test_the_extension_prints_what_the_command_prints(
    written: Path, tmp_path: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """In inspect_ai itself: its eval and its eval set, with our hook found by its entry point."""
    call = {"models": "models", "set": "together"}[place]
    code = f"import write_inspect_ai as w, pathlib; w.{call}(pathlib.Path({str(tmp_path)!r}))"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    silent = subprocess.run(
        [PYTHON, "-c", code], cwd=Path(__file__).parent, env=environment | {"GOLDASSAY_INSPECT": "0"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "goldassay" not in silent.stdout
    made = subprocess.run(
        [PYTHON, "-c", code], cwd=Path(__file__).parent, env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    folder = tmp_path / ("limited" if place == "models" else place)
    _, sign, shown = made.stdout.rpartition(f"goldassay runs scores {folder}\n")
    assert sign
    capfd.readouterr()
    assert run(["runs", "scores", str(folder), "--format", "inspect", "--quiet", "--json", str(tmp_path / "f")]) == 0
    capfd.readouterr()
    assert run(["runs", "scores", str(folder)]) == 0
    assert shown == capfd.readouterr().out
