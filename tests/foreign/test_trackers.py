"""The lines of the documentation log figures and report in MLflow and Weights & Biases, without a network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_figures_and_report_are_logged(written: Path) -> None:
    (metric,) = written.glob("mlruns/*/*/metrics/*")
    assert (metric.name, float(metric.read_text().split()[1])) == ("leakage", 0.174)
    assert [file.parent.name for file in written.glob("mlruns/*/*/artifacts/*/report.json")] == ["goldassay"]
    assert json.loads((written / "wandb.json").read_text())["leakage"] == 0.174
    (run,) = written.glob("wandb/offline-run-*/run-*.wandb")
    # The digest of what is logged as an artifact, by name.
    assert b"goldassay" in run.read_bytes()
