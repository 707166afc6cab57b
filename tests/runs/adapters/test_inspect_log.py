from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from goldassay.errors import InputError
from goldassay.runs import list_runs, read_runs

HEADER = {"version": 2, "status": "success", "eval": {"eval_id": "E1", "task": "trivia", "model": "mock/one"}}


def summaries(epochs: int = 2) -> list[dict[str, Any]]:
    values = ["C", "P", "I"]
    return [
        {"id": f"s{i}", "epoch": epoch, "scores": {"match": {"value": values[(i + epoch) % 3]}, "f1": {"value": 0.25}}}
        for epoch in range(1, epochs + 1)
        for i in range(3)
    ]


def write(path: Path, samples: Any, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        if samples is not None:
            archive.writestr("summaries.json", json.dumps(samples))
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_epochs_are_runs(tmp_path: Path) -> None:
    path = write(tmp_path / "log.eval", summaries())
    assert list_runs(path).select("model", "dataset", "n_runs").rows() == [("mock/one", "trivia", 2)]
    runs = read_runs(path)
    assert runs.scores.tolist() == [[0.5, 0, 1], [0, 1, 0.5]]
    assert runs.example_ids.tolist() == ["s0", "s1", "s2"]
    assert runs.seeds.tolist() == ["E1-1", "E1-2"]
    assert read_runs(path, columns={"score": "f1"}).scores.tolist() == [[0.25] * 3] * 2


def test_members_packed_with_zstandard(tmp_path: Path) -> None:
    """Written by hand, since Python writes such members only from 3.14 on: stored data, then the method changed."""
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, value in (("header.json", HEADER), ("summaries.json", summaries())):
            archive.writestr(name, zstandard.compress(json.dumps(value).encode()))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data[start + offset : start + offset + 2] = (93).to_bytes(2, "little")
            start = data.find(signature, start + 4)
    path.write_bytes(data)
    assert read_runs(path).scores.tolist() == [[0.5, 0, 1], [0, 1, 0.5]]


def test_samples_without_score_are_refused(tmp_path: Path) -> None:
    samples = summaries(1)
    samples[1]["scores"] = None
    with pytest.raises(InputError, match="1 of 3 samples have no score, first s1"):
        read_runs(write(tmp_path / "log.eval", samples))


def test_unfinished_damaged_and_hostile_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.eval"
    with pytest.raises(InputError, match="did not finish"):
        read_runs(write(path, None))
    with pytest.raises(InputError, match="no samples"):
        read_runs(write(path, []))
    write(path, summaries())
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(path)
    # Members that point out of the folder are never unpacked to disk.
    assert read_runs(write(path, summaries(), **{"../../outside.json": "{}"})).n_runs == 2
    assert not (tmp_path.parent.parent / "outside.json").exists()
    monkeypatch.setattr("goldassay.runs.adapters.inspect_log._MAX_MEMBER", 100)
    with pytest.raises(InputError, match="unpacks to more"):
        read_runs(path)


def test_a_log_that_the_tool_wrote() -> None:
    runs = read_runs(Path(__file__).parent / "fixtures" / "inspect_trivia.eval")
    assert (runs.model, runs.dataset) == ("mockllm/model", "trivia")
    assert runs.scores.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert runs.example_ids.tolist() == ["s0", "s1", "s2"]
