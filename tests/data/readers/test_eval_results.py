"""Scores of model repositories, made after the documentation of the hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.data.readers.eval_results import read_results

if TYPE_CHECKING:
    from pathlib import Path

# Every field of the documentation, and the required ones alone.
FULL = """\
- dataset:
    id: acme/exam          # the benchmark
    task_id: default
    revision: 0a1b2c
  value: 31.50
  verifyToken: abc.def
  date: 2026-03-01
  source:
    url: https://example.org/traces
    name: Traces
    user: someone
    org: acme
  notes: "no-tools"
- dataset:
    id: other/quiz
    task_id: quiz_hard
  value: 0.25
"""


def model(folder: Path, text: str) -> Path:
    (folder / ".eval_results").mkdir(parents=True)
    file = folder / ".eval_results" / "exam.yaml"
    file.write_text(text, "utf-8")
    return file


def test_every_field_is_read_and_comes_back_from_the_hubs_own_library(tmp_path: Path) -> None:
    file = model(tmp_path / "one", FULL)
    found = read_results(file)
    first, second = found.to_dicts()
    assert (first["model"], first["dataset"], first["task"], first["value"]) == ("one", "acme/exam", "default", 31.5)
    assert (first["date"], first["notes"], first["source_url"]) == (
        "2026-03-01",
        "no-tools",
        "https://example.org/traces",
    )
    assert (second["dataset"], second["value"], second["source_url"]) == ("other/quiz", 0.25, None)
    entries = eval_result_entries_to_yaml(parse_eval_result_entries(yaml.safe_load(FULL)))
    again = model(tmp_path / "two", yaml.safe_dump(entries))
    assert read_results(again).drop("model", "file").equals(found.drop("model", "file"))
    # A file, its folder, the repository, and the folder of several.
    assert found.equals(read_results(file.parent))
    assert found.equals(read_results(tmp_path / "one"))
    assert read_results(tmp_path)["model"].to_list() == ["one", "one", "two", "two"]


@pytest.mark.parametrize("command", ["audit", "board", "overlap", "runs scores", "instability"])
@pytest.mark.parametrize("inside", ["", "/.eval_results", "/.eval_results/exam.yaml"])
def test_as_data_and_as_runs_they_are_refused_with_what_they_hold(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, inside: str
) -> None:
    monkeypatch.chdir(tmp_path)
    model(tmp_path / "one", FULL)
    assert run([*command.split(), f"one{inside}", *(["--corpus", "one"] if command == "overlap" else [])]) == 2
    (said,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("goldassay: ")]
    assert "acme/exam default 31.5" in said
    assert "goldassay audit acme/exam" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- dataset: {id: a/b, config: c}\n  value: 1\n", "result 1 lacks dataset.task_id"),
        ("- value: 1\n", "result 1 lacks dataset.id"),
        ("- dataset: {id: a/b, task_id: c}\n", "the value of result 1 is None"),
        ("- dataset: {id: a/b, task_id: c}\n  value: {metric_value}\n", "the value of result 1 is {"),
        ("- dataset: {id: a/b, task_id: c}\n  value: .nan\n", "the value of result 1 is nan"),
        ("- dataset: {id: a/b, task_id: c}\n  value: 1\n  date: {date}\n", "date of result 1 is {"),
        ("- dataset: {id: a/b, task_id: c}\n  value: 1\n  source: {name: x}\n", "result 1 lacks source.url"),
        ("dataset: {id: a/b}\n", "is no list of results"),
        ("- dataset: [\n", "is no YAML"),
    ],
)
def test_what_the_hub_would_refuse_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = model(tmp_path / "one", text)
    with pytest.raises(InputError) as error:
        read_results(file)
    assert said in str(error.value)
    assert "exam.yaml" in str(error.value)
