"""Schedules: against a heap of free processes, and against what is true of any order."""

from __future__ import annotations

import heapq
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.lab.training import pricing
from goldassay.lab.training.pricing import Gpus, Turn, list_schedule

LENGTHS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 20)), min_size=1, max_size=25)


class made:  # noqa: N801
    """As much of a job as a schedule looks at."""

    def __init__(self, model: int, seed: int = 0, device: str = "auto", threads: int = 1) -> None:
        self.name, self.device, self.threads = f"{model}/data/paired/seed={seed}", device, threads


def greedy(seconds: list[int], places: int) -> list[Turn]:
    """Each job to the place that is free first."""
    free = [0.0] * places
    turns = []
    for each in seconds:
        begin = heapq.heappop(free)
        heapq.heappush(free, begin + each)
        turns.append(Turn(begin, begin + each))
    return turns


def approx(turns: list[Turn]) -> list[tuple[float, float]]:
    return [(pytest.approx(turn.begin), pytest.approx(turn.end)) for turn in turns]


@given(LENGTHS, st.integers(1, 5))
def test_places_of_one_s_own_are_taken_by_whoever_is_next(lengths: list[tuple[int, int]], places: int):
    jobs = [made(model, seed) for seed, (model, _) in enumerate(lengths)]
    seconds = [each for _, each in lengths]
    gpus = Gpus([10 + gpu for gpu in range(places)], shared=False)
    found = list_schedule(jobs, seconds, gpus, places, {})
    assert [(turn.begin, turn.end) for turn in found] == approx(greedy(seconds, places))
    assert not any(gpus.seats)


@given(LENGTHS, st.integers(1, 8), st.integers(1, 5))
def test_processes_beyond_the_cores_gain_nothing(lengths: list[tuple[int, int]], workers: int, n_cores: int):
    jobs = [made(model, seed, "cpu") for seed, (model, _) in enumerate(lengths)]
    seconds = [each for _, each in lengths]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pricing, "cores", lambda: n_cores)
        found = list_schedule(jobs, seconds, Gpus((), shared=True), workers, {})
    if workers <= n_cores:
        assert [(turn.begin, turn.end) for turn in found] == approx(greedy(seconds, workers))
    total, end = sum(seconds), max(turn.end for turn in found)
    assert end >= max(total / min(workers, n_cores), max(seconds)) - 1e-9
    # As of any list schedule: while somebody waits, all cores are at work.
    assert end <= total / min(workers, n_cores) + max(seconds) * max(1, workers / n_cores) + 1e-9


@given(LENGTHS, st.integers(1, 6), st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_a_gpu_does_one_second_of_work_a_second_however_many_share_it(
    lengths: list[tuple[int, int]], workers: int, needs: list[int]
):
    jobs = [made(model, seed) for seed, (model, _) in enumerate(lengths)]
    seconds = [each for _, each in lengths]
    by_kind = {f"{model}/data/paired": need for model, need in enumerate(needs)}
    found = list_schedule(jobs, seconds, Gpus([50], shared=workers > 1), workers, by_kind)
    assert max(turn.end for turn in found) == pytest.approx(sum(seconds))
    for moment in {turn.begin for turn in found}:
        beside = [job for job, turn in zip(jobs, found, strict=True) if turn.begin <= moment < turn.end - 1e-9]
        assert len(beside) <= workers
        assert sum(by_kind[job.name.rpartition("/")[0]] for job in beside) <= 50


def test_three_share_a_gpu_whose_memory_lasts_for_three():
    jobs = [made(0, seed) for seed in range(5)]
    found = list_schedule(jobs, [6.0] * 5, Gpus([100], shared=True), 8, {"0/data/paired": 30})
    assert [(turn.begin, turn.end) for turn in found] == [
        (0, pytest.approx(18)), (0, pytest.approx(18)), (0, pytest.approx(18)),
        (pytest.approx(18), pytest.approx(30)), (pytest.approx(18), pytest.approx(30)),
    ]  # fmt: skip


def test_jobs_of_processors_do_not_wait_for_a_gpu():
    jobs = [made(0, 0), made(0, 1), made(1, 0, "cpu")]
    found = list_schedule(jobs, [5.0, 5.0, 4.0], Gpus([100], shared=False), 2, {})
    assert found == [Turn(0, 5), Turn(5, 10), Turn(0, 4)]


def test_threads_are_cores(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pricing, "cores", lambda: 4)
    jobs = [made(0, seed, "cpu", threads=4) for seed in range(2)]
    assert Counter(list_schedule(jobs, [3.0, 3.0], Gpus((), shared=False), 2, {})) == {Turn(0, 6): 2}
    assert list_schedule(jobs, [3.0, 3.0], Gpus((), shared=False), 1, {}) == [Turn(0, 3), Turn(3, 6)]


def test_nothing_takes_no_time():
    assert list_schedule([], [], Gpus([100], shared=False), 1, {}) == []
    assert list_schedule([made(0)], [0.0], Gpus([100], shared=False), 1, {}) == [Turn(0, 0)]
