"""A sweep that an earlier version of the package left half finished goes on where it stopped.

`fixtures/half_finished_sweep.tar.gz` was made by version 0.1 before its rooms were renamed: a plan of two seeds on made
texts, the first trained to its end, the second killed after step 18 of 32 with the state of step 16 on disk.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

pytest.importorskip("torch")

from goldassay.lab.training.running import run_job
from goldassay.lab.training.train import read_plan, sweep_jobs
from goldassay.runs.reading import read_runs

FIXTURE = Path(__file__).parent / "fixtures" / "half_finished_sweep.tar.gz"


def test_it_goes_on_from_its_last_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    before = {file: file.read_bytes() for file in Path("runs").glob("*.parquet")}
    assert len(before) == 8 + 4
    jobs = sweep_jobs(read_plan("plan.toml"), Path())
    steps: list[list[int]] = [[], []]
    for job, done in zip(jobs, steps, strict=True):
        run_job(job, lambda step, _, done=done: done.append(step))
    assert set(steps[0]) <= {32}
    assert min(steps[1]) > 16
    assert max(steps[1]) == 32
    assert {file: file.read_bytes() for file in before} == before
    runs = read_runs(Path("runs"), dataset="toy_test")
    assert runs.scores.shape == (2, 8, 24)
    # Sums may differ by processor in the last bit; a decision then may, too.
    assert runs.scores[:, -1].mean(axis=1) == pytest.approx([15 / 24, 10 / 24], abs=1.5 / 24)
