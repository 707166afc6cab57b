"""Jobs on GPUs by free memory, without a GPU: the arithmetic is held to brute force, the workers to a made one."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from goldassay.lab.training import placement, workers
from goldassay.lab.training.placement import Gpus, place, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.lab.training.job import Job

SIZES = st.integers(1, 30)
GPUS = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@given(GPUS, st.data())
def test_a_place_is_one_with_the_most_room_among_those_that_fit(free: list[int], data: st.DataObject):
    promised = [data.draw(st.lists(st.integers(1, 20), max_size=3)) for _ in free]
    need = data.draw(st.none() | SIZES)
    found = place(need, free, promised)
    room = [memory - sum(jobs) for memory, jobs in zip(free, promised, strict=True)]
    if need is not None and any(need <= memory for memory in free):
        fitting = {gpu for gpu in range(len(free)) if need <= room[gpu]}
    else:
        fitting = {gpu for gpu in range(len(free)) if not promised[gpu] and (need is None or free[gpu] == max(free))}
    assert (found is None) == (not fitting)
    assert found is None or (found in fitting and room[found] == max(room[gpu] for gpu in fitting))


def test_without_gpus_there_is_no_place():
    assert place(3, [], []) is None
    assert place(None, [], []) is None


@given(GPUS, st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30), st.booleans(), st.data())
def test_promises_never_exceed_the_memory_and_every_job_has_its_turn(
    free: list[int], jobs: list[tuple[int, bool]], shared: bool, data: st.DataObject
):
    """Any order of what can happen: jobs begin, are measured, run out of memory, end."""
    needs = data.draw(st.lists(SIZES, min_size=4, max_size=4))
    gpus = Gpus(free, shared=shared)
    waiting = [made(f"m{kind}", on_cpu) for kind, on_cpu in jobs]
    seated: list[tuple[Any, Any]] = []
    failed = 0
    for _ in range(1000):
        for job in list(waiting):
            seat = gpus.seat(job)
            if seat is not None:
                waiting.remove(job)
                seated.append((job, seat))
        if not seated:
            break
        for gpu, seats in enumerate(gpus.seats):
            assert sum(seat.promised for seat in seats) <= free[gpu] or len(seats) == 1
            measured = [seat.kind for seat in seats if seat.weigh]
            assert len(set(measured)) == len(measured) <= 1 >= len(seats) * len(measured)
        at = data.draw(st.integers(0, len(seated) - 1))
        job, seat = seated[at]
        if seat.weigh and data.draw(st.booleans()):
            gpus.weighed(seat, needs[int(job.name[1])])
            continue
        del seated[at]
        gpus.leave(seat)
        if failed < 5 and data.draw(st.booleans()):
            failed += 1
            promised = seat.promised
            if gpus.ran_out(seat):
                assert gpus.needs[seat.kind] > promised or seat.promised > free[seat.gpu]
                waiting.append(job)
    assert not waiting
    assert not any(gpus.seats)


class made:  # noqa: N801
    """As much of a job as a seat looks at."""

    def __init__(self, model: str, on_cpu: bool = False) -> None:
        self.name, self.device = f"{model}/data/paired/seed=0", "cpu" if on_cpu else "auto"


def test_the_first_of_a_kind_is_measured_alone_and_the_others_follow():
    gpus = Gpus([100, 80], shared=True)
    first = gpus.seat(made("a"))
    assert first is not None
    assert (first.gpu, first.promised, first.weigh) == (0, 100, True)
    assert gpus.seat(made("a")) is None
    other = gpus.seat(made("b"))
    assert other is not None
    assert (other.gpu, other.weigh) == (1, True)
    assert gpus.seat(made("c")) is None
    gpus.weighed(first, 30)
    second, third = gpus.seat(made("a")), gpus.seat(made("a"))
    assert second is not None is not third
    assert [second.gpu, third.gpu] == [0, 0]
    assert not second.weigh
    assert gpus.seat(made("a")) is None
    gpus.weighed(other, 200)
    gpus.leave(other)
    assert gpus.seat(made("b")) is None, "larger than every GPU: it waits for the largest"
    on_cpu = gpus.seat(made("b", on_cpu=True))
    assert on_cpu is not None
    assert on_cpu.gpu is None


def test_jobs_that_need_not_share_are_not_measured():
    gpus = Gpus([100, 80], shared=False)
    seats = [gpus.seat(made("a")) for _ in range(3)]
    assert [seat and (seat.gpu, seat.weigh) for seat in seats] == [(0, False), (1, False), None]


@pytest.mark.parametrize(
    ("given", "names"), [("", ["0", "1"]), ("3,5", ["3", "5"]), ("GPU-a, GPU-b", ["GPU-a", "GPU-b"])]
)
def test_a_process_sees_one_of_the_gpus_that_the_command_sees(
    monkeypatch: pytest.MonkeyPatch, given: str, names: list[str]
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert [visible(gpu)["CUDA_VISIBLE_DEVICES"] for gpu in range(2)] == names
    assert visible(None) == {}


@pytest.fixture
def gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Run jobs on made GPUs, and give what they saw."""
    folder = tmp_path / "gpus"
    folder.mkdir()
    monkeypatch.setattr(workers, "WORKER", "tests.lab.training.made_gpu")
    monkeypatch.setenv("GPUS", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def run(jobs: list[Job], sizes: list[int], at_once: int, **needs: tuple[int, int]) -> list[dict[str, Any]]:
        monkeypatch.setattr(placement, "free_memory", lambda: sizes)
        (folder / "sizes").write_text(json.dumps(sizes))
        (folder / "needs").write_text(json.dumps(needs))
        outcomes = workers.run_jobs(jobs, at_once)
        assert [outcome.tries for outcome in outcomes] == [1] * len(jobs)
        assert all("on GPU" in outcome.line for outcome in outcomes), outcomes
        return [json.loads(line) for line in (folder / "history").read_text().splitlines()]

    return run


def test_small_jobs_share_gpus_while_memory_lasts(gpus: Callable[..., list[dict[str, Any]]], make_job: Any):
    jobs = [make_job(seed=seed, label="small") for seed in range(7)] + [make_job(label="large")]
    history = gpus(jobs, [100, 60], 6, small=(30, 30), large=(90, 90))
    small = [each for each in history if each["size"] == 30]
    assert len(small) == 7
    assert all(each["enough"] for each in small)
    assert {each["gpu"] for each in small} == {0, 1}
    assert [(each["gpu"], each["enough"]) for each in history if each["size"] == 90] == [(1, False), (0, True)]
    assert max(each["beside"] for each in history) >= 1


def test_one_that_needs_more_than_was_measured_is_done_again_with_more_room(
    gpus: Callable[..., list[dict[str, Any]]], make_job: Any
):
    jobs = [make_job(seed=seed, label="grows") for seed in range(3)]
    history = gpus(jobs, [100], 3, grows=(30, 60))
    assert sum(each["enough"] for each in history) == 3
    assert any(not each["enough"] and each["beside"] for each in history)
    assert all(each["beside"] == 0 for each in history if each["enough"])


def test_free_memory_is_asked_for_in_another_process(monkeypatch: pytest.MonkeyPatch):
    import torch

    from goldassay.core.errors import GoldassayError

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert placement.free_memory() == []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(placement, "_LIST", "print([5, 7])")
    assert placement.free_memory() == [5, 7]
    monkeypatch.setattr(placement, "_LIST", "raise RuntimeError('the driver is gone')")
    with pytest.raises(GoldassayError, match="the driver is gone"):
        placement.free_memory()


def test_every_gpu_is_listed_as_it_is_by_torch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gpu: (gpu * 10, 100))
    exec(placement._LIST, {})
    assert json.loads(capsys.readouterr().out) == [0, 10, 20]


def test_a_job_is_weighed_by_what_torch_had_reserved_at_most(monkeypatch: pytest.MonkeyPatch, make_job: Any):
    import torch

    from goldassay.lab.training import running
    from goldassay.lab.training.workers import _do

    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda: 1000)
    job = make_job()
    assert running.need_of(job) == 1150 + 700 * 2**20
    assert not job.folder.exists()
    said: list[str] = []

    class Out:
        write = said.append

        def flush(self) -> None:
            pass

    assert "done" in _do(job, Out(), weigh=True)
    assert json.loads(said[0]) == {"needs": 1150 + 700 * 2**20}
    assert {a == b for a, b in pairwise(json.loads(line)["total"] for line in said[1:])} <= {True}
