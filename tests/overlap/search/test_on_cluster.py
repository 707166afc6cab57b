"""Scans on the workers of a dask scheduler: the same result, also when a worker is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.core.errors import InputError
from goldassay.questions.overlap.search import scan
from goldassay.questions.overlap.search.corpus import find_corpus
from goldassay.questions.overlap.search.scan import scan_corpus
from tests.overlap.search.corpora import sought
from tests.overlap.search.test_scan import ITEMS, found_by, rows, same, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Workers = list["subprocess.Popen[bytes]"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, Workers]]:
    """A scheduler and two workers, each a process of its own on this machine."""
    pytest.importorskip("distributed")
    from distributed import Client

    place = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with (tmp_path / "cluster.log").open("wb") as log:

        def start(kind: str, *arguments: Any) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, arguments), "--no-dashboard"]
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

        started = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0",
                         "--scheduler-file", place)]  # fmt: skip
        until = time.monotonic() + 60
        while not (place.exists() and place.read_text()) and time.monotonic() < until:
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        own = (address, "--no-nanny", "--nthreads", "1", "--local-directory", tmp_path)
        started += [start("worker", *own), start("worker", *own)]
        try:
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=60)
            yield address, started[1:]
        finally:
            for process in started:
                process.kill()
                process.wait()


@pytest.mark.slow
def test_workers_find_the_same(tmp_path: Path, cluster: tuple[str, Workers]) -> None:
    known, path = sought(ITEMS), write_jsonl(tmp_path / "corpus.jsonl", rows())
    whole = found_by(known, path)
    assert same(found_by(known, path, scheduler=cluster[0], shard_size=3000), whole)
    assert same(found_by(known, path, scheduler=str(tmp_path / "scheduler.json"), keep_in=tmp_path / "kept"), whole)
    assert len(list((tmp_path / "kept").glob("*.parquet"))) == 1
    write_jsonl(tmp_path / "other.jsonl", rows(30))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    places = [path, tmp_path / "other.jsonl", tmp_path / "bad.parquet"]
    here, there = found_by(known, *places), found_by(known, *places, scheduler=cluster[0])
    assert same(there, here)
    assert there.broken == here.broken


@pytest.mark.slow
def test_what_a_killed_worker_had_is_done_by_the_other(tmp_path: Path, cluster: tuple[str, Workers]) -> None:
    address, workers = cluster
    known, path = sought(ITEMS), write_jsonl(tmp_path / "corpus.jsonl", rows(20_000))
    whole = found_by(known, path)
    kept = tmp_path / "kept"
    killed = []

    def kill() -> None:
        while len(list(kept.glob("*.parquet"))) < 5:
            time.sleep(0.01)
        workers[0].kill()
        killed.append(len(list(kept.glob("*.parquet"))))

    thread = threading.Thread(target=kill)
    thread.start()
    found = found_by(known, path, scheduler=address, shard_size=50_000, keep_in=kept)
    thread.join()
    n = len(find_corpus([path]).shards(50_000))
    assert killed
    assert killed[0] < n
    assert same(found, whole)
    assert found.broken == ()


@pytest.mark.slow
def test_all_workers_are_lost(tmp_path: Path, cluster: tuple[str, Workers], monkeypatch: pytest.MonkeyPatch) -> None:
    address, workers = cluster
    path = write_jsonl(tmp_path / "corpus.jsonl", rows(20_000))
    monkeypatch.setattr(scan, "PATIENCE", 1.0)
    kept = tmp_path / "kept"

    def kill() -> None:
        while not list(kept.glob("*.parquet")):
            time.sleep(0.01)
        for each in workers:
            each.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(InputError, match="lost all its workers"):
        found_by(sought(ITEMS), path, scheduler=address, shard_size=5_000, keep_in=kept)
    thread.join()
    # What was done is kept, and the search goes on without them.
    assert same(found_by(sought(ITEMS), path, shard_size=5_000, keep_in=kept), found_by(sought(ITEMS), path))


def test_a_scheduler_that_does_not_answer(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    path = write_jsonl(tmp_path / "corpus.jsonl", rows(3))
    for scheduler in ("tcp://127.0.0.1:1", "nowhere", str(path)):
        with pytest.raises(InputError, match="no scheduler answers"):
            scan_corpus(sought(ITEMS), find_corpus([path]), scheduler=scheduler)
