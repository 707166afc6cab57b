"""Two processes, as a launcher starts them, train one network on the processor: they learn what one alone learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from goldassay.lab.training.job import STATE
from goldassay.lab.training.many_seeds import with_teacher
from goldassay.lab.training.precision import Team
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import read_state, read_tensors, take_snapshot
from goldassay.runs.reading import list_runs, read_runs
from tests.cli.run_files import refused
from tests.lab.training.made_data import made_pairs
from tests.lab.training.test_objectives_in_jobs import Guesses
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.lab.training.job import Job

__all__ = ["refused"]

# Does jobs as the commands do; at a given step the first process is killed, as a machine that goes down would.
_DOES = """
import json, os, signal, sys
from goldassay.lab.training.job import Job
from goldassay.lab.training.job import Failure, Silent
from goldassay.lab.training.workers import run_jobs

class Ends(Silent):
    steps = 0

    def going(self, job, step, total):
        self.steps += 1
        if self.steps == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

jobs = [Job.from_dict(each) for each in json.loads(sys.argv[1])]
outcomes = run_jobs(jobs[:1], 1, Ends()) + run_jobs(jobs[1:], 1)
with open(sys.argv[0] + os.environ["RANK"], "w") as file:
    json.dump([getattr(each, "line", "") for each in outcomes], file)
"""


def launch(jobs: list[Job], kill_at: int = 0) -> subprocess.CompletedProcess[str]:
    """Two processes that share the processor."""
    script = Path(jobs[0].out).parent / "does.py"
    script.write_text(_DOES)
    plain = json.dumps([job.to_dict() for job in jobs])
    return launched(str(script), plain, str(kill_at), folder=script.parent)


def launched(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # The launcher leaves a folder of logs behind, which else lies with those of the whole machine.
    options = ("--standalone", "--nproc-per-node", "2", "--log-dir", str(folder / "logs"))
    command = [sys.executable, "-m", "torch.distributed.run", *options, *arguments]
    # Not by the machine's outer address, which a firewall may keep from itself.
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else None
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)


def weights(job: Job) -> dict[str, Any]:
    tensors, _ = read_tensors(job.folder / "model" / "weights.safetensors")
    return {name: tensor.numpy() for name, tensor in tensors.items()}


@pytest.mark.slow
def test_two_processes_learn_what_one_does_and_go_on_when_killed(make_job: Any, tmp_path: Path):
    def jobs(name: str) -> list[Job]:
        out = tmp_path / name / "runs"
        dev = take_snapshot(made_pairs(24, 2, "dev"), out)
        # A batch of 9 and a last one of 1: parts of different sizes, and of none.
        more = {"dropout": 0.0, "epochs": 4, "batch_size": 9, "patience": 4}
        plain = make_job(out, record=("logits", "dynamics"), dev=dev, weights="weight", more=more, state_every=0)
        broken = make_job(out, label="broken", more={"optimizer": "sgd", "learning_rate": 1e30, "epochs": 40})
        sentences = make_job(out, model="bilstm", more=more | {"units": 8, "optimizer": "adam"}, dev=dev)
        # Both processes train its teacher, too.
        distilled = make_job(out, objective="confidence_regularization", more={"dropout": 0.0, "batch_size": 9})
        return [plain, broken, sentences, *with_teacher([distilled], Guesses(), None)]

    together, alone = jobs("together"), jobs("alone")
    for job in (alone[0], *alone[2:]):
        run_job(job)
    killed = launch(together, kill_at=20)
    assert killed.returncode != 0
    kept = read_state(together[0].folder / STATE)
    assert kept is not None
    assert kept[0].step == 19
    done = launch(together)
    assert done.returncode == 0, done.stderr[:3000]
    said = [json.loads((tmp_path / "together" / f"does.py{rank}").read_text()) for rank in range(2)]
    assert said[0] == said[1]
    assert said[0][0] == said[0][2] == said[0][3] == ""
    assert "the loss became" in said[0][1]
    for one, two in ((alone[at], together[at]) for at in (0, 2, 3)):
        expected, found = weights(one), weights(two)
        assert expected.keys() == found.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=2e-5, err_msg=name)
        files = [
            sorted(str(file.relative_to(job.folder)) for file in job.folder.rglob("*") if file.is_file())
            for job in (one, two)
        ]
        assert files[0] == files[1]
        expected_done, found_done = (json.loads((job.folder / "done.json").read_text()) for job in (one, two))
        for name in ("steps", "selected_step", "n_examples"):
            assert expected_done[name] == found_done[name]
    for place in ("", "dynamics"):
        both = [
            read_runs(job.folder / place if place else job.out, **({} if place else {"model": "ngram_average"}))
            for job in (alone[0], together[0])
        ]
        np.testing.assert_allclose(both[0].logits, both[1].logits, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_of_a_command_one_process_speaks(tmp_path: Path):
    for name, seed in (("train", 0), ("test", 1)):
        made_pairs(24, seed, name).examples.drop("weight").write_ndjson(tmp_path / f"{name}.jsonl")
    settings = ("--changes", "min_count=1", "--changes", "epochs=1", "--changes", "batch_size=8", "--seeds", "1")
    command = ("-m", "goldassay", "train", "train.jsonl", "--model", "ngram_average", "--test", "test.jsonl", *settings)
    done = launched(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ngram_average, paired, on test: accuracy") == 1
    assert list_runs(tmp_path / "runs")["n_runs"].to_list() == [1]


def test_what_is_for_one_process_alone_is_refused(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch):
    # As a launcher sets them.
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    said = refused("sweep", "plan.toml", "--dry-run")
    assert states(said, "launcher's processes", "single process")


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("n", range(1, 10))
def test_what_each_process_has_of_a_batch_comes_together_in_its_order(
    size: int, n: int, monkeypatch: pytest.MonkeyPatch
):
    import torch

    rows = np.random.default_rng(n).permutation(100)[:n]
    teams = [Team(SimpleNamespace(num_processes=size, process_index=place)) for place in range(size)]
    given: list[torch.Tensor] = []
    monkeypatch.setattr("accelerate.utils.gather", lambda part: given.append(part) or torch.cat([part] * size))
    of_parts = [torch.from_numpy(team.part(rows)[0]).float().unsqueeze(1) * torch.ones(2) for team in teams]
    for team, values in zip(teams, of_parts, strict=True):
        team.gathered(rows, values)
    monkeypatch.setattr("accelerate.utils.gather", lambda part: torch.cat(given))
    for team, values in zip(teams, of_parts, strict=True):
        assert team.gathered(rows, values).tolist() == [[row, row] for row in rows.tolist()]
