"""One job: what it leaves behind, that it is the same each time, and that nothing is lost when it is killed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError, TrainingError
from goldassay.lab.training import running
from goldassay.lab.training.job import Job
from goldassay.lab.training.loop import Loop
from goldassay.lab.training.running import Running, _weights, run_job
from goldassay.lab.training.snapshots import read_state, read_tensors, take_snapshot
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.sidecar import read_embeddings, read_relevances
from tests.lab.training.made_data import made_pairs, made_singles

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = ("predictions", "logits", "embeddings", "relevance", "dynamics")
# 5 milliseconds: a few steps, and fewer than there are between two checkpoints.
OFTEN = 0.005 / 60


def digests(folder: Path) -> dict[str, str]:
    """Of all evidence and weights; states and what says how long it took are not evidence."""
    found = [*folder.rglob("*.parquet"), *folder.rglob("weights.safetensors")]
    files = [file for file in found if file.parent.name != "_data"]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_leaves_what_was_asked_for(make_job):
    job = make_job(record=ALL, checkpoint_every=10)
    done = run_job(job)
    assert done.steps == 24
    runs = read_runs(job.out)
    assert (runs.model, runs.train_set, runs.condition, runs.split) == ("ngram_average", "made", "paired", "test")
    assert runs.checkpoints.tolist() == [10, 20, 24]
    assert runs.logits.shape == (1, 3, 30, 3)
    assert runs.groups.keys() == {"topic"}
    assert done.accuracy["test"] == runs.scores[0, -1].mean()
    dynamics = read_runs(job.folder / "dynamics")
    assert dynamics.logits.shape == (1, 3, 64, 3)
    assert dynamics.dataset == "made"
    (embeddings,) = read_embeddings(job.out)
    assert {name: vectors.shape for name, vectors in embeddings.vectors.items()} == {
        "paired": (30, 8), "premise": (30, 8), "hypothesis": (30, 8),
    }  # fmt: skip
    assert embeddings.example_ids.tolist() == runs.example_ids.tolist()
    (relevances,) = read_relevances(job.out, seed=0)
    assert list(relevances.roles) == ["premise", "hypothesis"]
    first = made_pairs(30, 1, "test").examples.row(0, named=True)
    assert relevances.roles["hypothesis"].tokens[0] == first["hypothesis"].split()
    assert all(values.shape == (len(tokens),) for values, tokens in
               zip(relevances.roles["premise"].values, relevances.roles["premise"].tokens, strict=True))  # fmt: skip


def test_what_is_done_is_not_done_again(make_job):
    job = make_job()
    first = run_job(job)
    before = digests(Path(job.out))
    again = run_job(job, lambda step, total: pytest.fail("it trains again"))
    assert again.skipped
    assert again.accuracy == first.accuracy
    assert digests(Path(job.out)) == before


@pytest.mark.parametrize("lost", ["checkpoint-7__*", "checkpoint-8__*", "checkpoint-16__*", "_jobs/*/embeddings/*",
                                  "_jobs/*/dynamics/*", "_jobs/*/model/weights*"])  # fmt: skip
@pytest.mark.parametrize("cut", [True, False], ids=["cut short", "gone"])
def test_what_lost_a_file_is_done_again(make_job, tmp_path, lost, cut):
    """Else a study would go on with the answers that are left, as if these were all."""
    options = {"record": ALL, "checkpoint_every": 7, "more": {"epochs": 2, "batch_size": 5}, "rows": 40}
    options["dev"] = take_snapshot(made_pairs(24, 2, "dev"), tmp_path)
    job = make_job(**options)
    run_job(job)
    before = digests(Path(job.out))
    file = next(Path(job.out).glob(lost if lost.startswith("_") else f"*{lost}"))
    if cut:
        file.write_bytes(file.read_bytes()[:-9])
    else:
        file.unlink()
    assert not run_job(job).skipped
    assert digests(Path(job.out)) == before
    assert run_job(job).skipped


@pytest.mark.parametrize("model", ["ngram_average", "bilstm"])
def test_the_same_seed_gives_the_same_bits(make_job, tmp_path, model):
    more = {"model": model, "record": ALL, "more": {"units": 8} if model == "bilstm" else {}}
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        run_job(make_job(folder, **more))
    assert digests(folders[0]) == digests(folders[1])


def test_each_source_of_randomness_varies_alone(make_job, tmp_path):
    def weights(seed: int, *sources: str) -> bytes:
        job = make_job(tmp_path / f"{seed}{'-'.join(sources)}", seed=seed, vary=sources, rows=50, more={"epochs": 1})
        run_job(job)
        return (job.folder / "model" / "weights.safetensors").read_bytes()

    seeds = {source: make_job(seed=3, vary=(source,)).seeds.to_dict() for source in ("order", "subset")}
    assert seeds["order"] == {"initialization": 0, "order": 3, "dropout": 0, "subset": 0}
    base = weights(0, "order")
    assert len({base, *(weights(3, source) for source in ("initialization", "order", "dropout", "subset"))}) == 5
    assert weights(0, "subset") == base


@pytest.mark.parametrize(
    ("epochs", "at_least"), [(5, 3), pytest.param(60, 100, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_killed_at_random_steps_it_ends_with_the_same_bits(make_job, tmp_path, epochs, at_least):
    """The process is killed again and again, each time somewhere else, until the job is done."""
    options = {"record": ALL, "checkpoint_every": 7, "more": {"epochs": epochs, "patience": epochs}}
    options["dev"] = take_snapshot(made_pairs(24, 2, "dev"), tmp_path / "undisturbed")
    calm = make_job(tmp_path / "undisturbed", **options)
    run_job(calm)
    job = make_job(tmp_path / "killed", state_every=OFTEN, **options)
    killing = subprocess.run(
        [sys.executable, "-c", _KILLING], input=json.dumps(job.to_dict()), capture_output=True, text=True, timeout=1500
    )
    assert killing.returncode == 0, killing.stderr
    print(f"killed {int(killing.stdout)} times")
    assert int(killing.stdout) >= at_least
    assert digests(tmp_path / "killed") == digests(tmp_path / "undisturbed")
    done = [json.loads((each.folder / "done.json").read_text()) for each in (calm, job)]
    assert all(done[0][name] == done[1][name] for name in ("scores", "steps", "selected_step"))
    assert not list((tmp_path / "killed").rglob("state.safetensors"))


# A process that has torch loaded and has done nothing yet starts one after the other, each of which kills itself from
# a second thread some moments after some steps: in the middle of a step, an evaluation or a write.
_KILLING = """
import json, os, random, signal, sys, threading
import accelerate, safetensors.torch, torch
from goldassay.lab.training import running
from goldassay.lab.training.job import Job
import goldassay.lab.training.optimizers, goldassay.lab.training.configured
from goldassay.lab.training import loop, objectives, precision, snapshots, targets
from goldassay.lab.models import ngram_average

from goldassay.data.tokenization import tokenize
tokenize(["compiled once for all"])
job = Job.from_dict(json.load(sys.stdin))
rng = random.Random(0)
kills = 0

def run(steps, seconds):
    def count(step, total):
        nonlocal steps
        steps -= 1
        if steps == 0:
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
    running.run_job(job, count)

while not (job.folder / "done.json").exists():
    steps, seconds = rng.randrange(1, 9), rng.random() * 0.02
    child = os.fork()
    if child == 0:
        run(steps, seconds)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    kills += status != 0
    kept = snapshots.read_state(job.folder / "state.safetensors")
    assert kept is None or kept[0].step > 0
print(kills)
"""


class _StoppedError(Exception):
    pass


def stop_at(last: int) -> Callable[[int, int], None]:
    """What a job reports to, which ends at a step."""

    def heard(step: int, total: int) -> None:
        if step == last:
            raise _StoppedError

    return heard


def test_what_was_written_since_the_last_state_is_written_again_with_the_same_bits(make_job, tmp_path):
    options = {"record": ALL, "checkpoint_every": 3, "more": {"epochs": 4}}
    calm = make_job(tmp_path / "calm", **options)
    run_job(calm)
    job = make_job(tmp_path / "stopped", **options)
    state = job.folder / "state.safetensors"
    with pytest.raises(_StoppedError):
        run_job(dataclasses.replace(job, state_every=0), stop_at(5))
    assert read_state(state)[0].step == 4
    with pytest.raises(_StoppedError):
        run_job(job, stop_at(17))
    assert read_state(state)[0].step == 4
    written = {path: digest for path, digest in digests(tmp_path / "stopped").items() if "checkpoint" in path}
    # Of the test set every 3 steps, and of the training rows after each of two epochs.
    assert len(written) == 5 + 2
    for path in written:
        if "checkpoint-3_" not in path:
            (tmp_path / "stopped" / path).write_bytes(b"from after the state")
    run_job(job)
    assert digests(tmp_path / "stopped") == digests(tmp_path / "calm")
    assert written.items() <= digests(tmp_path / "calm").items()


@pytest.mark.parametrize(
    ("minutes", "steps"),
    [(0, list(range(1, 25))), (1, [6, 12, 18, 24]), (1.5, [9, 18, 24]), (10, [24])],
)
def test_states_are_written_by_time_and_at_the_end(make_job, monkeypatch, minutes, steps):
    """By a clock on which each step takes 10 seconds."""
    written, now = [], [0.0]
    monkeypatch.setattr(running.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(Running, "_save", lambda self: written.append(self.loop.position.step))

    def tick(step, total):
        now[0] += 10.0

    run_job(make_job(state_every=minutes, checkpoint_every=5), tick)
    assert written == steps


def test_how_often_states_are_written_is_no_setting_of_the_run(make_job):
    run_job(make_job(state_every=0))
    assert run_job(make_job(state_every=3)).skipped


def test_conditions_and_single_texts(make_job, tmp_path):
    for condition in ("hypothesis_only", "shuffled", "overlap", "length", "empty"):
        run_job(make_job(condition=condition, record=ALL, more={"epochs": 1}))
    assert sorted(list_runs(tmp_path / "runs")["condition"]) == sorted(
        ["hypothesis_only", "shuffled", "overlap", "length", "empty"]
    )
    empty = read_runs(tmp_path / "runs", condition="empty")
    assert len({tuple(row) for row in empty.logits[0].tolist()}) == 1
    (alone,) = read_embeddings(tmp_path / "runs", condition="hypothesis_only")
    assert list(alone.vectors) == ["hypothesis"]
    films = tmp_path / "films"
    job = make_job(
        films,
        condition="text",
        train=take_snapshot(made_singles(), films),
        tests=(take_snapshot(made_singles(20, 1, "test"), films),),
    )
    assert run_job(job).n_examples == {"test": 20}


def test_weights_of_examples_count(make_job, tmp_path):
    plain, weighted = make_job(tmp_path / "plain"), make_job(tmp_path / "weighted", weights="weight")
    run_job(plain)
    run_job(weighted)
    assert not np.array_equal(read_runs(plain.out).logits, read_runs(weighted.out).logits)


@pytest.mark.parametrize(
    ("weights", "said"),
    [([1.0, None], "the weight of example '"), ([1.0, -1.0], "below 0"), ([0.0, 0.0], "all weights are 0")],
)
def test_weights_that_weigh_nothing_are_refused(weights: list[float | None], said: str):
    data = made_pairs(2)
    examples = data.examples.with_columns(pl.Series("weight", weights, dtype=pl.Float64))
    with pytest.raises(InputError, match=said):
        _weights(dataclasses.replace(data, examples=examples), "weight")


def test_a_bootstrap_draws_rows_twice(make_job):
    job = make_job(bootstrap=True, record=("dynamics",), more={"epochs": 1})
    run_job(job)
    dynamics = read_runs(job.folder / "dynamics")
    assert 30 < dynamics.n_examples < 55


def test_stops_early_and_keeps_the_best(make_job, tmp_path):
    dev = take_snapshot(made_pairs(24, 2, "dev"), tmp_path / "runs")
    done = run_job(make_job(dev=dev, more={"epochs": 40, "patience": 2, "learning_rate": 0.05}))
    assert done.steps < 40 * 8
    assert done.selected_step == done.steps - 2 * 8


@pytest.mark.parametrize("patience", [None, 2])
def test_a_checkpoint_just_evaluated_is_not_evaluated_again(make_job, tmp_path, monkeypatch, patience):
    evaluated = []
    evaluate = Loop.evaluate
    monkeypatch.setattr(Loop, "evaluate", lambda loop, encoded: evaluated.append(1) or evaluate(loop, encoded))
    dev = take_snapshot(made_pairs(24, 2, "dev"), tmp_path / "runs") if patience else None
    more = {"epochs": 40, "patience": 2, "learning_rate": 0.05} if patience else {}
    job = make_job(dev=dev, more=more, checkpoint_every=8, record=("predictions", "logits"))
    done = run_job(job)
    runs = read_runs(job.out)
    n_checkpoints = done.steps // 8
    # With a dev set, one evaluation of it an epoch, and the best of them is not the last.
    assert len(evaluated) == (2 * n_checkpoints + 1 if patience else n_checkpoints)
    assert done.accuracy["test"] == runs.scores[0, runs.checkpoints.tolist().index(done.selected_step)].mean()


def test_other_settings_are_refused_with_the_difference(make_job):
    run_job(make_job(more={"epochs": 1}))
    with pytest.raises(InputError, match=r"settings: recipe.epochs was 1, now 2;"):
        run_job(make_job(more={"epochs": 2}))
    run_job(make_job(more={"epochs": 2}, label="another"))


def test_a_loss_that_is_no_number_is_named_with_its_step_and_the_last_state_stays(make_job):
    job = make_job(more={"optimizer": "sgd", "learning_rate": 1e30, "epochs": 40})
    with pytest.raises(TrainingError, match=r"the loss became (nan|inf) at step \d+"):
        run_job(job)
    assert not (job.folder / "done.json").exists()


def test_two_processes_never_share_a_run(make_job):
    job = make_job()
    process = subprocess.Popen([sys.executable, "-c", _HOLDS, str(job.folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another process"):
            run_job(job)
    finally:
        process.kill()
        process.wait()
    run_job(job)


_HOLDS = """
import sys, time
from pathlib import Path
from goldassay.lab.training.job import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_damaged_state_is_refused(make_job):
    job = make_job()
    job.folder.mkdir(parents=True)
    (job.folder / "state.safetensors").write_bytes(b"half")
    with pytest.raises(InputError, match="damaged"):
        run_job(job)


def test_weights_are_kept_without_pickle(make_job):
    job = make_job()
    run_job(job)
    tensors, content = read_tensors(job.folder / "model" / "weights.safetensors")
    assert content["task"]["label_names"] == ["entailment", "neutral", "contradiction"]
    assert {"vectors.weight", "classifier.weight"} <= tensors.keys()
    assert not [file for file in Path(job.out).rglob("*") if file.suffix in (".pt", ".bin", ".pkl")]


def test_a_job_goes_through_json(make_job):
    job = make_job(vary=("order",), dev=None)
    assert Job.from_dict(json.loads(json.dumps(job.to_dict()))) == job
