"""What jobs will cost: against jobs of known length that are really done on a made GPU, and against states on disk."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.cli.main import run
from goldassay.data.dataset import Dataset
from goldassay.lab.models.bag_of_words import Network
from goldassay.lab.training import placement, pricing, running, workers
from goldassay.lab.training.job import Done
from goldassay.lab.training.loop import Loop
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.pricing import price
from goldassay.lab.training.running import Running, run_job
from goldassay.lab.training.snapshots import take_snapshot
from goldassay.lab.training.train import read_plan, sweep_jobs
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goldassay.lab.training.job import Job
    from goldassay.lab.training.loop import Reached

MOMENT = 0.02
PLAN = """
models = ["short", "long"]
train = { made = "train.jsonl" }
test = { test = "test.jsonl" }
[every]
seeds = 4
changes = { vectors = 8, hidden = 8, min_count = 1, epochs = 2, batch_size = 8 }
[of.short]
model = "ngram_average"
[of.long]
model = "ngram_average"
changes = { epochs = 4 }
"""
MOMENTS = {"short": 18, "long": 34}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    for name, n, seed in (("train", 64, 0), ("test", 30, 1)):
        made_pairs(n, seed, name).examples.write_ndjson(tmp_path / f"{name}.jsonl")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One GPU on which a step, an evaluation and what comes before the first step take a moment each; its folder.

    To dry runs the time is told by its own clock, so that they do not measure how busy this machine is; the workers of
    `timed_gpu` take as many moments by the real one.
    """
    folder = tmp_path / "gpu"
    folder.mkdir()
    now = [0.0]

    def steps(loop: Loop, real: Callable[[Loop], Iterator[Reached]] = Loop.run) -> Iterator[Reached]:
        for reached in real(loop):
            now[0] += MOMENT
            yield reached

    def taking_a_moment(real: Callable[..., Any]) -> Callable[..., Any]:
        def does(*arguments: Any) -> Any:
            now[0] += MOMENT
            return real(*arguments)

        return does

    monkeypatch.setattr(pricing, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(Loop, "run", steps)
    monkeypatch.setattr(Running, "evaluate_into", taking_a_moment(Running.evaluate_into))
    monkeypatch.setattr(pricing, "open_job", taking_a_moment(pricing.open_job))
    monkeypatch.setattr(placement, "free_memory", lambda: [100])
    monkeypatch.setattr(pricing, "need_of", lambda job: 30)
    monkeypatch.setattr(workers, "WORKER", "tests.lab.training.timed_gpu")
    monkeypatch.setenv("GPUS", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (folder / "lengths").write_text(json.dumps({"moments": MOMENTS, "seconds": MOMENT, "need": 30}))
    return folder


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(None, id="seeds queue", marks=pytest.mark.slow),
        pytest.param(3, id="three share it", marks=pytest.mark.slow),
    ],
)
def test_a_gpu_is_priced_as_jobs_of_known_length_take_it(
    plan: Path, gpu: Path, asked: int | None, capsys: pytest.CaptureFixture[str]
):
    """However many cores there are: a GPU does one thing at a time."""
    more = [] if asked is None else ["--workers", str(asked)]
    result = plan.parent / "price.json"
    assert run(["sweep", str(plan), "--dry-run", "--json", str(result), *more]) == 0
    found = json.loads(result.read_text())
    assert (found["n_jobs"], found["gpus"], found["workers"]) == (8, 1, asked or 1)
    assert f"with {asked or 1} side by side on 1 GPU, " in capsys.readouterr().out
    jobs = sweep_jobs(read_plan(plan), plan.parent)
    outcomes = workers.run_jobs(jobs, asked)
    assert all(isinstance(outcome, Done) for outcome in outcomes), outcomes
    turns = sorted((json.loads(line) for line in (gpu / "turns").read_text().splitlines()), key=lambda it: it["began"])
    assert len(turns) == 8
    # Each job has the GPU for itself, in one process; or up to three have it at a time.
    at_once = max(sum(one["began"] <= each["began"] < one["ended"] for one in turns) for each in turns)
    assert at_once == 1 == len({turn["process"] for turn in turns}) if asked is None else 1 < at_once <= asked
    took = max(turn["ended"] for turn in turns) - turns[0]["began"]
    assert took >= 4 * sum(MOMENTS.values()) * MOMENT == pytest.approx(found["seconds"])
    print(f"priced at {found['wall_seconds']:.2f} s, took {took:.2f} s")
    assert took / 1.5 < found["wall_seconds"] < 1.5 * took


def test_two_gpus_take_half_as_long_as_one(plan: Path, gpu: Path, monkeypatch: pytest.MonkeyPatch):
    jobs = sweep_jobs(read_plan(plan), plan.parent)
    one = price(jobs, None)
    monkeypatch.setattr(placement, "free_memory", lambda: [100, 80])
    two = price(jobs, None)
    assert (one.gpus, one.workers, two.gpus, two.workers) == (1, 1, 2, 2)
    assert one.wall_seconds == pytest.approx(one.seconds)
    # Short and long in turn, each on the GPU that is free first, in moments: 18, 36, 54 and 88 on the one, 34, 68, 86
    # and 120 on the other.
    assert two.wall_seconds == pytest.approx(120 * MOMENT)


def test_a_teacher_of_its_own_is_part_of_a_job_s_price(make_job: Any):
    from goldassay.lab.training.many_seeds import with_teacher
    from tests.lab.training.test_objectives_in_jobs import Guesses

    job = with_teacher([make_job(objective="confidence_regularization", more={"epochs": 1})], Guesses(), None)[0]
    found = price([job], 1, seconds=0.1)
    assert not job.folder.exists()
    run_job(job)
    files = [*Path(job.out).rglob("*.parquet"), *Path(job.out).rglob("weights.safetensors")]
    written = sum(each.stat().st_size for each in files if each.parent.name != "_data")
    assert found.bytes == pytest.approx(written, rel=0.1)


@pytest.mark.parametrize("with_dev", [False, True])
def test_states_are_priced_by_their_size_and_by_how_many_there_will_be(
    make_job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_dev: bool
):
    dev = take_snapshot(made_pairs(24, 2, "dev"), tmp_path / "runs") if with_dev else None
    jobs: list[Job] = [make_job(seed=seed, dev=dev, state_every=0, record=("logits", "dynamics")) for seed in range(3)]
    each_step = price(jobs, 2, seconds=0.1)
    written: list[int] = []
    real = Running._save

    def save(running: Running) -> None:
        real(running)
        written.append((running.job.folder / "state.safetensors").stat().st_size)

    monkeypatch.setattr(Running, "_save", save)
    run_job(jobs[0])
    assert len(written) == 24
    assert each_step.kinds["state_bytes"].item() == pytest.approx(max(written), rel=0.01)
    # After the first epoch a dev set's best weights are part of it.
    assert each_step.states_written == pytest.approx(3 * sum(written), rel=0.15 if with_dev else 0.01)
    # Two jobs at a time, and of each the state and the one that is to take its place.
    assert each_step.states_at_once == 4 * each_step.kinds["state_bytes"].item()
    at_the_end = price([replace(job, state_every=10) for job in jobs[1:]], 2, seconds=0.1)
    size = at_the_end.kinds["state_bytes"].item()
    assert (at_the_end.states_written, at_the_end.states_at_once) == (2 * size, 2 * size)


def test_a_job_of_half_an_hour_writes_three_states_and_one_at_its_end(make_job: Any, monkeypatch: pytest.MonkeyPatch):
    probe = pricing._probe
    monkeypatch.setattr(pricing, "_probe", lambda *given: replace(probe(*given), job_seconds=1900.0))
    found = price([make_job(seed=seed) for seed in range(2)], 1, seconds=0.05)
    size = found.kinds["state_bytes"].item()
    assert found.wall_seconds == 3800
    assert (found.states_written, found.states_at_once) == (8 * size, 2 * size)


def made_reviews(n: int, seed: int, name: str) -> Dataset:
    """Texts of 5 to 60 words, of which there are the more the longer one reads."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 60, n)
    words = np.minimum(rng.zipf(1.3, int(lengths.sum())), 200_000).astype(str)
    ends = np.cumsum(lengths)
    texts = [f"It says w{', w'.join(words[end - length : end])}." for end, length in zip(ends, lengths, strict=True)]
    labels = [("bad", "good")[row % 2] for row in range(n)]
    ids = [f"{name}-{row}" for row in range(n)]
    return Dataset.from_frame(pl.DataFrame({"example_id": ids, "text": texts, "label": labels}), name=name)


@pytest.fixture
def clock_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which a word that is read takes a moment, one that is trained on three, one that is answered two."""
    now = [0.0]

    def taking(real: Callable[..., Any], words: Callable[..., float]) -> Callable[..., Any]:
        def does(*given: Any) -> Any:
            now[0] += words(*given)
            return real(*given)

        return does

    clock = SimpleNamespace(perf_counter=lambda: now[0], process_time=lambda: now[0])
    monkeypatch.setattr(pricing, "time", clock)
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(Network, "encode", taking(Network.encode, lambda _, texts: sum(map(len, texts[0])) / 1e6))
    monkeypatch.setattr(Loop, "_step", taking(Loop._step, lambda _, each: 3e-6 * float(each.batch["rows"].numel())))
    monkeypatch.setattr(Loop, "evaluate", taking(Loop.evaluate, lambda _, encoded: 2e-6 * int(encoded.costs.sum())))


@pytest.mark.parametrize("min_count", [1, 2])
def test_the_price_of_a_sample_is_that_of_all_rows_within_15_percent(
    tmp_path: Path, clock_of_words: None, min_count: int
):
    tests = [made_reviews(n, seed, f"of {n}") for seed, n in ((1, 3_000), (2, 300))]
    changes = {"projection": 16, "min_count": min_count, "epochs": 3, "batch_size": 32}
    jobs = plan_jobs(
        made_reviews(6_000, 0, "train"), "bag_of_words", tests, out=tmp_path / "runs", seeds=2, changes=changes,
        dev=made_reviews(1_500, 3, "dev"), record=("logits", "dynamics"),
    )  # fmt: skip
    some, whole = price(jobs, 1, seconds=1e9), price(jobs, 1, seconds=1e9, sample=None)
    assert some.kinds["steps"].item() == whole.kinds["steps"].item() == 3 * 188
    for key in ("step_seconds", "job_seconds", "job_bytes", "state_bytes"):
        assert some.kinds[key].item() == pytest.approx(whole.kinds[key].item(), rel=0.15), key
    assert whole.kinds["state_bytes"].item() > 5e5
    print({key: some.kinds[key].item() / whole.kinds[key].item() for key in some.kinds.columns[4:]})


def test_a_price_does_not_turn_all_texts_into_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    real = Network.encode
    monkeypatch.setattr(Network, "encode", lambda self, texts: read.append(len(texts[0])) or real(self, texts))
    jobs = plan_jobs(
        made_reviews(2_000, 0, "train"), "bag_of_words", [made_reviews(1_500, 1, "test"), made_reviews(90, 2, "few")],
        out=tmp_path / "runs", seeds=1, changes={"projection": 8, "batch_size": 8, "epochs": 1},
    )  # fmt: skip
    price(jobs, 1, seconds=0.01)
    assert sum(read) < 1_000
    assert max(read) == 256
    price(jobs, 1, seconds=0.01, sample=None)
    assert max(read) == 2_000
