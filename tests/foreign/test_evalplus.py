"""Results of the newest EvalPlus: pass@1 that it printed, by base and by all tests, from our scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from goldassay.runs.reading import read_runs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("metric", "place"), [("base", 0), ("plus", 1)])
def test_pass_at_1(written: Path, metric: str, place: int) -> None:
    (file,) = written.glob("*eval_results.json")
    printed = re.findall(r"pass@1:\s*([\d.]+)", (written / "printed.txt").read_text())
    runs = read_runs(file, columns={"score": metric})
    assert runs.scores.shape == (2, 3)
    assert runs.scores.mean() == pytest.approx(float(printed[place]), abs=5e-4)
    assert (runs.model, runs.dataset, runs.trials) == ("made-up", "humaneval", True)
    assert dict(runs.configuration) == {"backend": "mock", "temperature": 0.2}
