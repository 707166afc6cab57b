"""Objectives in whole runs: refused in time, named apart, taken up again bit by bit, their helpers reported."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError
from goldassay.lab.training.job import Job
from goldassay.lab.training.many_seeds import plan_jobs, train, with_teacher
from goldassay.lab.training.objectives import TRAIN, teacher_logits_of
from goldassay.lab.training.running import open_job, run_job
from goldassay.lab.training.snapshots import take_snapshot
from goldassay.runs.reading import list_runs, read_runs
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import made_pairs
from tests.lab.training.test_running import _KILLING, OFTEN, digests

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["in_place"]

QUICK = {"vectors": 8, "hidden": 8, "min_count": 1, "epochs": 2, "batch_size": 16}
GUIDED = {"reweight": True, "hidden": 8, "phi": -1.0, "gamma": 0.5}
CHANGES = {"adversarial": GUIDED, "learned_mixin": {"penalty": 0.1}}
OBJECTIVES = (
    "adversarial", "confidence_regularization", "guided_cross_entropy", "learned_mixin", "product_of_experts",
)  # fmt: skip


class Guesses:
    """A bias model that guesses, by a generator of the seed."""

    key = None
    follows_seed = True

    def on(self, parts, seed):
        rng = np.random.default_rng(seed)
        return teacher_logits_of(
            "guesses", "drawn", parts, {part: rng.dirichlet(np.ones(3), len(parts[part])) for part in parts}
        )


def job_with(make_job, out, objective, **options) -> Job:
    job = make_job(
        out, objective=objective, objective_changes=CHANGES.get(objective, {}),
        dev=take_snapshot(made_pairs(24, 2, "dev"), out), **options,
    )  # fmt: skip
    return with_teacher([job], Guesses(), None)[0]


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_run_taken_up_again_ends_with_the_same_bits(make_job, tmp_path, objective):
    calm = job_with(make_job, tmp_path / "calm", objective)
    run_job(calm)
    job = job_with(make_job, tmp_path / "stopped", objective, state_every=0)
    # A run with a teacher has twice as many steps, the first half of them the teacher's.
    for stop in (5, 13, 30 if objective == "confidence_regularization" else 20):

        def stopping(step, total, stop=stop):
            if step == stop:
                raise _StoppedError

        with pytest.raises(_StoppedError):
            run_job(job, stopping)
    run_job(job)
    assert digests(tmp_path / "stopped") == digests(tmp_path / "calm")
    done = [json.loads((each.folder / "done.json").read_text()) for each in (calm, job)]
    assert done[0]["objective"] == done[1]["objective"]


# What one objective keeps is also in the test above, which stops runs without killing them.
@pytest.mark.parametrize(
    "objective",
    [pytest.param(each, marks=pytest.mark.slow) for each in ("confidence_regularization", "adversarial")],
)
def test_a_run_that_is_killed_ends_with_the_same_bits(make_job, tmp_path, objective):
    calm = job_with(make_job, tmp_path / "calm", objective)
    run_job(calm)
    job = job_with(make_job, tmp_path / "killed", objective, state_every=OFTEN)
    killing = subprocess.run(
        [sys.executable, "-c", _KILLING], input=json.dumps(job.to_dict()), capture_output=True, text=True, timeout=600
    )
    assert killing.returncode == 0, killing.stderr
    assert int(killing.stdout) >= 2
    assert digests(tmp_path / "killed") == digests(tmp_path / "calm")


def test_objectives_are_named_apart_and_report_their_helpers(in_place: None, tmp_path: Path):
    data = made_pairs(), "ngram_average", {"test": made_pairs(20, 1, "test")}
    (plain,) = plan_jobs(*data, out=tmp_path, seeds=1, changes=QUICK)
    run_job(plain)
    report = train(
        *data, out=tmp_path, seeds=2, workers=1, changes=QUICK, objective="adversarial", bias=Guesses(),
        objective_changes={"hidden": 8},
    )  # fmt: skip
    assert sorted(list_runs(tmp_path)["model"]) == ["ngram_average", "ngram_average+adversarial"]
    beside = report.beside
    assert beside.filter(role="bias")["part"].to_list() == ["train", "test"] * 2
    assert beside.filter(role="discriminator")["model"].to_list() == ["discriminator 1", "discriminator 2"] * 2
    expected = Guesses().on({TRAIN: made_pairs()}, 0).accuracy[TRAIN]
    assert beside.filter(role="bias", part="train", seed=0)["accuracy"].item() == expected
    told = report.remarks()
    assert any(line.startswith("The bias model guesses, drawn, has accuracy") for line in told)
    assert any(line.startswith("After training, discriminator 2 has accuracy") for line in told)
    assert "beside" in report.to_dict()


def test_settings_of_an_objective_and_its_bias_are_settings_of_the_run(tmp_path: Path):
    data = made_pairs(), "ngram_average", made_pairs(20, 1, "test")
    options = {"out": tmp_path, "seeds": 1, "changes": QUICK, "objective": "learned_mixin", "bias": Guesses()}
    (job,) = plan_jobs(*data, **options)
    assert Job.from_dict(json.loads(json.dumps(job.to_dict()))) == job
    run_job(job)
    with pytest.raises(InputError, match=r"objective_settings.penalty was 0.03, now 0.5"):
        run_job(plan_jobs(*data, **options, objective_changes={"penalty": 0.5})[0])

    class Others(Guesses):
        def on(self, parts, seed):
            return super().on(parts, seed + 1)

    with pytest.raises(InputError, match=r"bias.sha256 was"):
        run_job(plan_jobs(*data, **{**options, "bias": Others()})[0])


def test_a_teacher_of_its_own_is_the_plain_run_of_the_same_seed(make_job, tmp_path):
    job = job_with(make_job, tmp_path / "runs", "confidence_regularization", seed=3)
    done = run_job(job)
    plain = make_job(tmp_path / "plain", seed=3, dev=job.dev, tests=(job.train,))
    run_job(plain)
    of_teacher = read_runs(job.folder / "teacher")
    np.testing.assert_array_equal(of_teacher.logits, read_runs(plain.out).logits)
    assert of_teacher.n_examples == 64
    # What the teacher took is part of what the run took.
    taken = json.loads(next((job.folder / "teacher").rglob("done.json")).read_text())["seconds"]
    assert done.seconds > taken


def test_rows_drawn_twice_keep_their_own_opinions(make_job, tmp_path):
    for objective in ("confidence_regularization", "product_of_experts"):
        job = job_with(make_job, tmp_path / objective, objective, bootstrap=True, more={"epochs": 1})
        running = open_job(job)
        expert = running.loop.objective.bias if objective.startswith("conf") else running.loop.objective.expert
        teacher_logits = job.bias.load()
        ids = running.train.examples["example_id"].to_list()
        place = {name: row for row, name in enumerate(teacher_logits.example_ids[TRAIN])}
        expected = np.log(teacher_logits.on[TRAIN].probabilities[[place[name] for name in ids]])
        np.testing.assert_allclose(expert.logs.numpy(), np.maximum(expected, np.log(1e-6)), rtol=1e-5)
        run_job(job)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "adversarial", "model": "dam"}, "dam has none: it reads its texts together"),
        ({"objective": "product_of_experts"}, "product_of_experts needs a bias model"),
        ({"objective": "cross_entropy", "bias": Guesses()}, "cross_entropy takes no bias model"),
        ({"objective": "product_of_experts", "bias": Guesses(), "teacher": Guesses()}, "takes no teacher"),
        ({"objective": "adversarial", "objective_changes": {"alpha1": 2.0}}, "alpha1 has no effect without a bias"),
        ({"objective": "adversarial", "objective_changes": {"reweight": True}}, "needs a bias model to reweight by"),
        (
            {"objective": "adversarial", "objective_changes": {"reweight": True}, "bias": Guesses()},
            "need a dev set; give dev=FILE",
        ),
        ({"objective": "learned_mixin", "objective_changes": {"gamma": 1.0}, "bias": Guesses()}, "one of adversarial"),
        ({"objective": "product_of_expert"}, "did you mean 'product_of_experts'"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_trained(tmp_path, options, message):
    arguments = {"model": "ngram_average", "out": tmp_path, "seeds": 1} | options
    if arguments["model"] == "ngram_average":
        arguments["changes"] = QUICK
    with pytest.raises(InputError, match=message):
        plan_jobs(made_pairs(), tests=made_pairs(20, 1, "test"), **arguments)
    assert not list(tmp_path.rglob("opinions-*"))
