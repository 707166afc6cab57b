"""Results of `evaluate` hold no predictions, and are refused in one line that says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_a_result_without_predictions_is_named(written: Path, tmp_path: Path) -> None:
    files = sorted(written.glob("seed_*.json"))
    assert len(files) == 2
    for path in (written, files[0]):
        with pytest.raises(InputError, match=r"results of metrics .* hold no predictions"):
            list_runs(path)
    # The predictions that it was given, one table a run, have its accuracy.
    for file in files:
        told = json.loads(file.read_text())
        rows = zip([0, 1, told["seed"], 0], [0, 1, 1, 1], strict=True)
        (tmp_path / f"seed_{told['seed']}.csv").write_text(
            "example_id,prediction,label\n" + "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(rows))
        )
    means = read_runs(tmp_path).scores.mean(axis=1).tolist()
    assert means == [json.loads(file.read_text())["accuracy"] for file in files]
