"""Sweeps: a plan's jobs, done here or by the workers of a scheduler, whatever dies on the way."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError
from goldassay.lab.training.job import STATE, Failure, Silent
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.pricing import price
from goldassay.lab.training.running import run_job
from goldassay.lab.training.train import SweepReport, read_plan, sweep_jobs
from goldassay.lab.training.workers import run_jobs
from goldassay.runs.reading import list_runs
from tests.lab.training.made_data import made_pairs
from tests.stated import Fact, in_order, states

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goldassay.lab.training.job import Job

PLAN = """
models = ["ngram_average", "long"]
train = { made = "train.jsonl" }
test = { made = "test.jsonl", other = "other.jsonl" }
[every]
seeds = 2
conditions = ["paired", "hypothesis_only"]
changes = { vectors = 8, hidden = 8, min_count = 1, epochs = 2, batch_size = 8 }
[of.long]
model = "ngram_average"
seeds = [0]
changes = { epochs = 3 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, n, seed in (("train", 64, 0), ("test", 30, 1), ("other", 20, 2)):
        made_pairs(n, seed, name).examples.write_ndjson(tmp_path / f"{name}.jsonl")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def jobs_of(folder: Path, text: str = PLAN) -> list[Job]:
    (folder / "plan.toml").write_text(text)
    return sweep_jobs(read_plan(folder / "plan.toml"), folder)


def test_jobs_are_the_product_seed_by_seed(folder: Path):
    jobs = jobs_of(folder)
    assert [job.name for job in jobs] == [
        "ngram_average/made/paired/seed=0",
        "ngram_average/made/hypothesis_only/seed=0",
        "long/made/paired/seed=0",
        "long/made/hypothesis_only/seed=0",
        "ngram_average/made/paired/seed=1",
        "ngram_average/made/hypothesis_only/seed=1",
    ]
    assert {job.changes["epochs"] for job in jobs if job.model_name == "long"} == {3}
    assert {job.changes["batch_size"] for job in jobs} == {8}
    assert [test.name for test in jobs[0].tests] == ["made", "other"]
    assert jobs[0].out == str(folder / "runs")


def test_a_plan_says_precision_device_and_how_often_states_are_written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for found, usual in ((False, "float32"), (True, "bfloat16")):
        monkeypatch.setattr(
            "goldassay.lab.training.precision.has_gpu", lambda kind, found=found: found and kind == "cuda"
        )
        monkeypatch.setattr(
            "goldassay.lab.training.precision.multiplies_bfloat16",
            lambda device, found=found: found and device != "cpu",
        )
        assert {(job.precision, job.device, job.state_every) for job in jobs_of(folder)} == {(usual, "auto", 10.0)}
        said = PLAN.replace("seeds = 2", 'seeds = 2\ndevice = "cpu"\nstate_every = 2.5').replace(
            "seeds = [0]", 'seeds = [0]\ndevice = "auto"\nprecision = "auto"'
        )
        assert {(job.model_name, job.precision, job.device, job.state_every) for job in jobs_of(folder, said)} == {
            ("ngram_average", "float32", "cpu", 2.5),
            ("long", usual, "auto", 2.5),
        }


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"long"]', '"ngram_average"]', "named twice"),
        ('{ made = "train.jsonl" }', '"train.jsonl"', 'write train = { NAME = "train.jsonl" }'),
        ("[of.long]", "[of.lang]", "no model of the plan; did you mean 'long'"),
        ("seeds = 2", "sedes = 2", ("unknown key 'every.sedes'", "'every.seeds'")),
        ("seeds = [0]", "sedes = [0]", ("unknown key 'of.long.sedes'", "'of.seeds'")),
        ("seeds = [0]", 'qqq = "x"', "known in 'of.long' are model"),
        ("seeds = 2", 'model = "bilstm"', "every.model cannot hold for all"),
        ("seeds = 2", "workers = 2", "every.workers is not of a plan"),
        ("seeds = 2", 'precision = "float16"', "every.precision: "),
        ("seeds = 2", "state_every = -1", "every.state_every: "),
        ('models = ["ngram_average", "long"]', "", "there is no 'models'"),
        ('"long"]', '"long", "bilstn"]', "there is no model 'bilstn'; did you mean 'bilstm'"),
        ("train.jsonl", "nowhere.jsonl", "nowhere.jsonl"),
        ('"train.jsonl"', '"train.jsonl', "is not TOML"),
    ],
)
def test_plans_that_cannot_be_meant(folder: Path, before: str, after: str, message: Fact):
    assert before in PLAN
    with pytest.raises(InputError) as refusal:
        jobs_of(folder, PLAN.replace(before, after))
    assert states(str(refusal.value), message)
    assert "\n" not in str(refusal.value)


def test_jobs_that_collide_are_refused(folder: Path):
    with pytest.raises(InputError, match=in_order("2 jobs", "same run", "long/made/paired/seed=0")):
        sweep_jobs(read_plan(folder / "plan.toml").model_copy(update={"models": ["long", "long"]}), folder)


def test_done_here_and_only_once(folder: Path):
    jobs = jobs_of(folder)
    run_job(jobs[2])
    outcomes = run_jobs(jobs, 1, tries=3)
    report = SweepReport.of(jobs, outcomes)
    assert (report.n_jobs, report.n_skipped, report.failures.height) == (6, 1, 0)
    assert report.runs.height == 12
    assert report.summary().height == 8
    assert list_runs(folder / "runs").height == 8
    assert price(jobs, 2).n_done == 6
    assert json.loads(json.dumps(report.to_dict()))["n_jobs"] == 6


def test_a_price_is_near_what_it_costs(folder: Path):
    jobs = jobs_of(folder, PLAN.replace("epochs = 3", "epochs = 3, vectors = 16"))
    found = price(jobs, 2, seconds=0.1)
    assert (found.n_jobs, found.n_done, found.n_begun) == (6, 0, 0)
    assert found.kinds["steps"].to_list() == [16, 16, 24, 24]
    assert found.kinds["n_jobs"].to_list() == [2, 2, 1, 1]
    assert 0 < found.wall_seconds < found.seconds < 120
    assert not (folder / "runs" / "_jobs").exists()
    for job in jobs:
        run_job(job)
    files = [*(folder / "runs").rglob("*.parquet"), *(folder / "runs").rglob("weights.safetensors")]
    written = sum(each.stat().st_size for each in files if each.parent.name != "_data")
    assert found.bytes == pytest.approx(written, rel=0.1)


def test_training_sets_of_one_size_are_priced_by_one_probe(folder: Path, monkeypatch: pytest.MonkeyPatch):
    from goldassay.lab.training import pricing

    data = [made_pairs(64, seed, name) for seed, name in ((0, "one"), (1, "another"))]
    data.append(made_pairs(96, 2, "larger"))
    jobs = [job for train in data for job in plan_jobs(train, "ngram_average", data[:1], out=folder / "runs", seeds=2)]
    probed = []
    real = pricing._probe
    monkeypatch.setattr(pricing, "_probe", lambda job, *given: probed.append(job.train.name) or real(job, *given))
    found = price(jobs, 1, seconds=0.01)
    assert probed == ["one", "larger"]
    assert found.kinds["train_set"].to_list() == ["one", "another", "larger"]
    assert found.kinds["n_jobs"].to_list() == [2, 2, 2]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each evaluation is of."""
    from goldassay.lab.training.running import Running

    sizes: list[int] = []
    real = Running.evaluate_into
    monkeypatch.setattr(
        Running, "evaluate_into", lambda self, test, place: sizes.append(len(test.dataset)) or real(self, test, place)
    )
    return sizes


def test_evaluations_that_take_long_are_priced_by_the_smaller_sets(folder: Path, evaluated: list[int]):
    tests = [made_pairs(n, seed, f"of {n}") for seed, n in ((1, 400), (2, 100))]
    (job,) = plan_jobs(made_pairs(64), "ngram_average", tests, out=folder / "runs", seeds=1, record=("predictions",))
    all_of_them = price([job], 1, seconds=math.inf)
    assert evaluated == [100, 400]
    evaluated.clear()
    smallest = price([job], 1, seconds=0)
    assert evaluated == [100]
    assert smallest.bytes == pytest.approx(all_of_them.bytes, rel=0.5)


def test_evaluations_that_take_very_long_are_priced_by_some_rows(folder: Path, evaluated: list[int]):
    """On a machine without what a network was made for a whole set may take an hour."""
    tests = [made_pairs(n, seed, f"of {n}") for seed, n in ((1, 800), (2, 600))]
    (job,) = plan_jobs(made_pairs(64), "ngram_average", tests, out=folder / "runs", seeds=1, record=("predictions",))
    all_of_them = price([job], 1, seconds=math.inf)
    assert evaluated == [256, 600, 800]
    evaluated.clear()
    some = price([job], 1, seconds=0)
    assert evaluated == [256]
    assert some.bytes == pytest.approx(all_of_them.bytes, rel=0.5)


class Killer(Silent):
    """Kills the process that does a job of a model, so many times, once it is under way."""

    def __init__(self, **times: int) -> None:
        self.left = times

    def going(self, job: Job, step: int, total: int) -> None:
        if self.left.get(job.model_name):
            self.left[job.model_name] -= 1
            os.kill(_worker_at(job), signal.SIGKILL)


def _worker_at(job: Job) -> int:
    """The process that holds a job's lock."""
    inode = (job.folder / "lock").stat().st_ino
    for line in open("/proc/locks").read().splitlines():  # noqa: PTH123, SIM115
        fields = line.split()
        if fields[5].endswith(f":{inode}"):
            return int(fields[4])
    raise AssertionError("nobody is at work on the job")


_LONG = 'model = "ngram_average"\nchanges = { epochs = 60 }\n'
DOOMED = PLAN[: PLAN.index("[of.long]")].replace('"long"]', '"long", "doomed"]').replace("seeds = 2", "seeds = 1")
DOOMED = DOOMED.replace(', "hypothesis_only"', "") + f"[of.long]\n{_LONG}[of.doomed]\n{_LONG}"

# Takes the place of a process that trains: dies at "long" twice, at "doomed" each time, and loads no torch.
_DIES = """
import json, os, signal, sys
from pathlib import Path

for line in sys.stdin:
    job = json.loads(line)["job"]
    tries = Path(job["out"], f"tries of {job['label']}")
    with tries.open("a") as file:
        file.write("x")
    print(json.dumps({"step": 1, "total": 2}), flush=True)
    if tries.stat().st_size <= {"long": 2, "doomed": 9}.get(job["label"], 0):
        os.kill(os.getpid(), signal.SIGKILL)
    scores = {each["name"]: {"accuracy": 0.5} for each in job["tests"]}
    done = {"name": "a job", "scores": scores, "n_examples": dict.fromkeys(scores, 1), "cut": dict.fromkeys(scores, 0),
            "n_parameters": 1, "steps": 2, "selected_step": 2, "seconds": 1.0, "cpu_seconds": 1.0}
    print(json.dumps({"done": done}), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process is killed by a signal")
def test_a_job_whose_process_dies_is_tried_three_times(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "dying_worker.py").write_text(_DIES)
    monkeypatch.setattr("goldassay.lab.training.workers.WORKER", "dying_worker")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    jobs = jobs_of(folder, DOOMED)
    said: list[str] = []

    class Notes(Silent):
        def again(self, job: Job, failure: Failure) -> None:
            said.append(job.model_name)

    outcomes = run_jobs(jobs, 2, Notes(), tries=3)
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, False, True]
    assert sorted(said) == ["doomed", "doomed", "long", "long"]
    for name, tries in (("long", 3), ("doomed", 3)):
        assert (folder / "runs" / f"tries of {name}").stat().st_size == tries
    assert outcomes[2].tries == 3
    assert "killed (signal 9)" in outcomes[2].line
    assert SweepReport.of(jobs, outcomes).failures["tries"].to_list() == [3]


# Each process that is killed is followed by another, which takes seconds to load torch.
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes by /proc")
def test_a_job_whose_process_is_killed_goes_on_from_its_state(folder: Path):
    jobs = jobs_of(folder, DOOMED)
    killer = Killer(long=2, doomed=3)
    outcomes = run_jobs(jobs, 2, killer, tries=3)
    assert killer.left == {"long": 0, "doomed": 0}
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, False, True]
    assert outcomes[2].tries == 3
    assert "killed (signal 9)" in outcomes[2].line
    assert SweepReport.of(jobs, outcomes).failures["tries"].to_list() == [3]
    elsewhere = jobs_of(folder, DOOMED.replace("models", 'out = "calm"\nmodels', 1))[1]
    run_job(elsewhere)
    weights = [(each.folder / "model" / "weights.safetensors").read_bytes() for each in (jobs[1], elsewhere)]
    assert weights[0] == weights[1]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each a process of its own on this machine."""
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    log = (tmp_path / "cluster.log").open("wb")
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]

    def start(*arguments: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([str(each) for each in arguments], stdout=log, stderr=log, env=environment)

    started = [
        start(*command, "--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0", "--no-dashboard",
              "--scheduler-file", place)
    ]  # fmt: skip
    until = time.monotonic() + 60
    # It is there before anything is in it.
    while not (place.exists() and place.read_text()) and time.monotonic() < until:
        time.sleep(0.1)
    address = json.loads(place.read_text())["address"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1",
              "--no-dashboard", "--local-directory", tmp_path / "scratch"]  # fmt: skip
    started += [start(*worker), start(*worker)]
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    try:
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()
        log.close()


@pytest.mark.slow
def test_a_job_whose_worker_is_killed_is_done_elsewhere(folder: Path, cluster):
    from goldassay.lab.training.cluster import run_on_cluster

    address, workers = cluster
    plan = (
        PLAN.replace("epochs = 3", "epochs = 150")
        .replace("seeds = 2", "seeds = 1\nstate_every = 0.005")
        .replace('["paired", "hypothesis_only"]', '["paired"]')
    )
    jobs = jobs_of(folder, plan)

    class LosesOne(Silent):
        lost = 0

        def going(self, job: Job, step: int, total: int) -> None:
            if not self.lost and job.model_name == "long" and (job.folder / STATE).exists():
                holder = _worker_at(job)
                parent = int(open(f"/proc/{holder}/stat").read().split()[3])  # noqa: PTH123, SIM115
                (self.killed,) = [each for each in workers if each.pid == parent]
                self.killed.kill()
                self.lost += 1

    watcher = LosesOne()
    outcomes = run_on_cluster(jobs, address, watcher)
    assert watcher.lost == 1
    assert watcher.killed.wait(10) == -signal.SIGKILL
    assert not [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert list_runs(folder / "runs").height == 4
    again = run_on_cluster(jobs, address)
    assert all(outcome.skipped for outcome in again)


def test_a_scheduler_that_does_not_answer_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    from goldassay.core import cores
    from goldassay.lab.training import cluster

    monkeypatch.setattr(cores, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match="no scheduler answers at"):
        cluster.run_on_cluster(jobs_of(folder), "tcp://127.0.0.1:9")
