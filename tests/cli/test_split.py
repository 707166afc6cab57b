"""`goldassay split`, once as a process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.data.reading import read_dataset
from goldassay.data.splits import split_disjoint
from goldassay.runs.specimen import write_specimen
from tests.cli.run_files import goldassay
from tests.end_to_end.conftest import Outcome
from tests.end_to_end.conftest import goldassay as process
from tests.stated import Fact, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "process"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specimen")
    write_specimen(folder, size=2000, seed=1, test_size=200)
    return folder / "train.jsonl"


def test_parts_are_those_of_the_library(process: Command, data: Path, tmp_path: Path):
    outcome = process("split", data, "--disjoint", "premise,hypothesis", "--seed", "3", "-o", "out")
    assert outcome.status == 0, outcome.err
    dataset = read_dataset(data)
    for name, part in zip(("train", "test"), split_disjoint(dataset, 0.2, 3), strict=True):
        written = read_dataset(tmp_path / f"out/{name}.jsonl")
        assert written.examples.select("premise", "hypothesis", "label").equals(
            part.examples.select("premise", "hypothesis", "label")
        )
        assert written.label_names == dataset.label_names
    told = json.loads((tmp_path / "out/split.json").read_text())
    assert told["disjoint"] == ["premise", "hypothesis"]
    (first,) = told["splits"]
    lost = sum(sum(first[part]["dropped"].values()) for part in ("train", "test"))
    n_dropped = sum(dataset.provenance.dropped.values())
    assert first["train"]["n_examples"] + first["test"]["n_examples"] + lost - n_dropped == len(dataset)
    assert f"{first['test']['n_examples']} test" in outcome.out


def test_repeated_splits_lie_apart(goldassay: Command, data: Path, tmp_path: Path):
    outcome = goldassay("split", data, "--repeats", "2", "--test-share", ".3", "-o", "out", "--json", "told.json", "-q")
    assert outcome.status == 0, outcome.err
    assert not outcome.out
    tests = [(tmp_path / f"out/seed_{seed}/test.jsonl").read_text() for seed in (0, 1)]
    assert tests[0] != tests[1]
    assert [each["seed"] for each in json.loads((tmp_path / "told.json").read_text())["splits"]] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--disjoint", "context"], "there is no text 'context'"),
        (["--disjoint", ""], ("--disjoint ''", "twice, or none")),
        (["--test-share", "1"], ("--test-share is 1.0; give a number", "less than 1")),
        (
            ["--repeats", "100000000"],
            ("--repeats is 100000000; give", "at most 1000"),
        ),
        (
            ["--repeats", "0"],
            "--repeats is 0; give a whole number",
        ),
        (["--seed", "-1"], "--seed is -1; give a whole number"),
    ],
)
def test_refusals_are_one_line(goldassay: Command, data: Path, tmp_path: Path, arguments: list[str], message: Fact):
    outcome = goldassay("split", data, *arguments, "-o", "out")
    assert outcome.status == 2
    assert states(outcome.err, message)
    assert len([line for line in outcome.err.splitlines() if not line.endswith("done")]) == 1
    assert not (tmp_path / "out").exists()


def test_data_with_parts_of_their_own_are_refused(goldassay: Command, data: Path):
    outcome = goldassay("split", data.parent, "-o", "out")
    assert outcome.status == 2
    assert "it has parts of its own" in outcome.err


def test_rows_that_hang_together_are_not_sent_to_an_option_that_is_not_there(goldassay: Command, tmp_path: Path):
    rows = [{"premise": "One for all.", "hypothesis": "All for one.", "label": name} for name in ("yes", "no") * 5]
    (tmp_path / "same.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = goldassay("split", "same.jsonl")
    assert outcome.status == 2
    assert states(outcome.err, "both parts", "shared sentences")
    assert "--test" not in outcome.err


def test_columns_of_the_split_are_named(goldassay: Command, tmp_path: Path):
    rows = [{"text": f"row {i} of many", "label": "ab"[i % 2], "writer": f"w{i % 25}"} for i in range(200)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    outcome = goldassay("split", "rows.jsonl", "--split-by", "writer", "-o", "out")
    assert outcome.status == 0, outcome.err
    assert states(outcome.out, "kept together:", "same sentence", "same writer")
    parts = [read_dataset(tmp_path / f"out/{name}.jsonl").examples["writer"] for name in ("train", "test")]
    assert not set(parts[0]) & set(parts[1])
    assert json.loads((tmp_path / "out/split.json").read_text())["split_by"] == ["writer"]
    refused = goldassay("split", "rows.jsonl", "--split-by", "writr")
    assert refused.status == 2
    assert "no column 'writr' to split by" in refused.err
