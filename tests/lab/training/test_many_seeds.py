"""The command's function: several seeds in several processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError, OutputError
from goldassay.lab.training.many_seeds import plan_jobs, run_plan, train
from goldassay.lab.training.pricing import find_places
from goldassay.lab.training.running import run_job
from goldassay.lab.training.workers import run_jobs
from goldassay.runs.reading import read_runs
from tests.lab.training.in_place import done_in_place
from tests.lab.training.made_data import made_pairs, made_singles
from tests.stated import in_order

QUICK = {"vectors": 8, "hidden": 8, "min_count": 1, "epochs": 1, "batch_size": 16}


def test_several_seeds_side_by_side_are_those_one_after_the_other(tmp_path):
    data = made_pairs(), "ngram_average", made_pairs(20, 1, "test")
    report = train(*data, out=tmp_path / "two", seeds=2, workers=2, changes=QUICK, conditions=("paired", "empty"))
    assert report.runs.height == 4
    assert report.failures.height == 0
    assert report.summary()["n_runs"].to_list() == [2, 2]
    for job in plan_jobs(*data, out=tmp_path / "one", seeds=2, changes=QUICK):
        run_job(job)
    both = [read_runs(tmp_path / name, condition="paired").logits for name in ("two", "one")]
    np.testing.assert_array_equal(both[0], both[1])
    again = run_plan(plan_jobs(*data, out=tmp_path / "one", seeds=2, changes=QUICK))
    assert again.runs["skipped"].all()
    assert again.runs["seed"].to_list() == [0, 1]
    assert "accuracy" in str(report.to_dict()["runs"][0])


class _KillsFirst:
    """Kills the process of the first job that says where it is."""

    def __init__(self) -> None:
        self.killed = False

    def going(self, job, step, total):
        if not self.killed:
            self.killed = True
            for pid in Path("/proc").glob("[0-9]*"):
                try:
                    command = (pid / "cmdline").read_bytes()
                    mine = int((pid / "stat").read_text().split()[3]) == os.getpid()
                except (OSError, ValueError):
                    continue
                if mine and b"goldassay.lab.training.workers" in command:
                    os.kill(int(pid.name), signal.SIGKILL)

    def done(self, job, done):
        pass

    def failed(self, job, failure):
        pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes by /proc")
def test_no_more_processes_than_cores_that_may_be_used(monkeypatch, make_job):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 6, 7, 9}, raising=False)
    assert [find_places([make_job(device="cpu", threads=threads)], None)[1] for threads in (1, 2, 8)] == [5, 2, 1]


@pytest.mark.slow
def test_a_worker_that_is_killed_fails_its_job_alone_and_the_same_plan_ends_it(tmp_path):
    jobs = plan_jobs(
        made_pairs(200), "ngram_average", made_pairs(20, 1, "test"), out=tmp_path, seeds=2,
        changes=QUICK | {"epochs": 8, "batch_size": 4},
    )  # fmt: skip
    outcomes = run_jobs(jobs, 1, _KillsFirst())
    assert "signal 9" in outcomes[0].line
    assert outcomes[1].accuracy.keys() == {"test"}
    with done_in_place():
        assert run_plan(jobs).failures.height == 0


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"model": "bilstmm"}, "did you mean 'bilstm'"),
        ({"changes": {"epoch": 3}}, "did you mean .epochs"),
        ({"changes": {"epochs": 0}}, "epochs is 0"),
        ({"changes": {"optimizer": "adm"}}, "did you mean 'adam'"),
        ({"changes": {"schedule": "linaer"}}, "did you mean 'linear'"),
        ({"configuration": "publishd"}, "did you mean 'published'"),
        ({"objective": "cross_entropi"}, "did you mean 'cross_entropy'"),
        ({"conditions": ("premise",)}, "does not apply"),
        ({"conditions": ("paired", "paired")}, "given twice"),
        ({"seeds": ()}, "no seed"),
        ({"seeds": (1, 1)}, "given twice"),
        ({"seeds": (-1,)}, "the seed is -1"),
        ({"vary": ("ordr",)}, "did you mean 'order'"),
        ({"record": ("logit",)}, "did you mean 'logits'"),
        ({"precision": "float16"}, "did you mean"),
        ({"device": "cdua"}, "did you mean 'cuda'"),
        ({"rows": 0}, "rows is 0"),
        ({"state_every": -1}, "state_every is -1"),
        ({"state_every": float("nan")}, "state_every is nan"),
        ({"rows": 1000}, "1,000 training rows are asked for"),
        ({"weights": "wieght"}, "did you mean 'weight'"),
        ({"changes": {"patience": 2}}, "needs a dev set"),
        ({"tests": []}, "nothing to evaluate on"),
        ({"tests": [("t", made_singles()), ("t", made_singles())]}, "its texts are text"),
        ({"tests": {"t": "no-such-file.jsonl"}}, "no such file"),
    ],
)
def test_bad_input_is_one_line(tmp_path, change, line):
    options = {"model": "ngram_average", "tests": made_pairs(20, 1, "test"), "out": tmp_path, "seeds": 1, **change}
    with pytest.raises(InputError, match=line):
        train(made_pairs(), options.pop("model"), options.pop("tests"), workers=1, **options)


def test_labels_beyond_the_head_are_refused(tmp_path):
    two = made_pairs()
    two = two.take(two.labels() < 2)
    from dataclasses import replace

    with pytest.raises(InputError, match="contradiction"):
        train(replace(two, label_names=two.label_names[:2]), "ngram_average", made_pairs(20, 1, "test"), out=tmp_path)


def test_no_gpu_where_one_was_asked_for(tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(InputError, match="torch finds none"):
        train(made_pairs(), "ngram_average", made_pairs(20, 1, "test"), out=tmp_path, device="cuda")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_is_one_line(tmp_path, monkeypatch, make_job):
    from goldassay.lab.training import snapshots
    from goldassay.lab.training.running import run_job

    job = make_job()
    real = snapshots.written_whole

    def full(path):
        return real(path) if path.name != "state.safetensors" else real(Path("/proc/nowhere/state.safetensors"))

    monkeypatch.setattr(snapshots, "written_whole", full)
    with pytest.raises(OutputError, match="cannot be written"):
        run_job(job)


@pytest.mark.parametrize("seeds", [-1, 10**20])
def test_no_more_seeds_than_anybody_means(seeds: int, tmp_path: Path):
    with pytest.raises(InputError, match=in_order(f"{seeds} seeds", "at most 100,000")):
        plan_jobs(made_pairs(12), "ngram_average", made_pairs(6, 1, "test"), out=tmp_path, seeds=seeds)


@pytest.mark.parametrize(
    "options",
    [{"objective": "learned_mixin"}, {"changes": {"patience": 2}}, {"rows": 10_000}, {"changes": {"epochs": 0}}],
)
def test_what_is_refused_leaves_nothing_behind(tmp_path, options):
    with pytest.raises(InputError):
        plan_jobs(made_pairs(), "ngram_average", made_pairs(20, 1, "test"), out=tmp_path / "runs", seeds=1, **options)
    assert not list(tmp_path.iterdir())
