"""What one command knows: read when it is used, once, and asked by the same checks as in an audit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.results import not_measurable
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions import evidence as module
from goldassay.questions import inputs
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.question import CHECK as ARTIFACTS
from goldassay.questions.artifacts.question import mine, report_of_mining
from goldassay.questions.evidence import Evidence
from goldassay.questions.leakage.partial_input import LeakageChoice
from goldassay.questions.leakage.question import CHECK as LEAKAGE
from goldassay.questions.leakage.question import study_leakage
from goldassay.questions.provenance import NO_TEST_PART
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from pathlib import Path


def rows(n: int, start: int = 0, split: str | None = None) -> list[dict[str, str]]:
    return [
        {
            "premise": f"A person number {i} walks along the street.",
            "hypothesis": f"Nobody {i} walks." if i % 2 else f"Somebody {i} has coins.",
            "label": ("entailment", "neutral")[i % 2],
            **({} if split is None else {"split": split}),
        }
        for i in range(start, start + n)
    ]


def known(train: Any, test: Any = None, **more: Any) -> Evidence:
    return Evidence(train, test, settings=Settings(), steps=Steps(), **more)


def test_nothing_is_read_before_it_is_used(tmp_path: Path) -> None:
    evidence = known(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match=r"missing\.jsonl"):
        evidence.load()


def test_data_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    load_inputs = module.load_inputs
    monkeypatch.setattr(module, "load_inputs", lambda *a, **k: read.append(a) or load_inputs(*a, **k))
    evidence = known(rows(60), rows(30, 100))
    assert read == []
    assert (len(evidence.train), len(evidence.test), evidence.run_sets) == (60, 30, [])
    assert [each.role for each in evidence.inputs] == ["train", "test"]
    assert len(read) == 1


def test_without_a_test_part_every_row_is_read_by_other_folds() -> None:
    evidence = known(rows(60))
    assert evidence.test is evidence.train is evidence.whole
    assert evidence.decisions[0].startswith(f"{NO_TEST_PART}: each of the 60 rows")
    assert [each.role for each in evidence.inputs] == ["train"]
    codes = evidence.split.fold_codes
    assert codes is not None
    assert np.bincount(codes).tolist() == [12] * 5
    # No row that shares a text with a row that is read teaches its reader.
    shared = known([{**row, "premise": f"{at // 3}"} for at, row in enumerate(rows(60))]).split.fold_codes
    assert shared is not None
    assert all(np.unique(part).size == 1 for part in shared.reshape(20, 3))


@pytest.mark.parametrize("why", ["rows", "network"])
def test_of_many_rows_and_for_a_network_a_share_is_set_apart(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "rows":
        monkeypatch.setattr(inputs, "MOST_BY_FOLDS", 59)
    settings = Settings.model_validate({"leakage": {"model": "bilstm"}} if why == "network" else {})
    evidence = Evidence(rows(60), settings=settings, steps=Steps())
    assert (len(evidence.train), len(evidence.test), len(evidence.whole)) == (48, 12, 60)
    assert evidence.split.fold_codes is None
    teaching, reading = (set(part.examples["premise"]) for part in (evidence.train, evidence.test))
    assert not teaching & reading
    # Patterns are shown of all rows and tried on those that did not teach them.
    (each,) = evidence.split.folds.rounds()
    assert evidence.whole.take(each.reading).examples.equals(evidence.test.examples)
    found = evidence.patterns.texts[0]
    assert sum(found.readings.train_counts) == 60
    assert len(found.readings.gold) == 12


def test_runs_of_each_path_and_the_texts_of_their_gold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for model in ("m", "o"):
        write_runs(Runs.from_arrays(scores=np.ones((2, 5)), model=model, dataset="d"), tmp_path / "runs")
    path = f"e={tmp_path / 'runs'}"
    evidence = Evidence(runs=[tmp_path / "runs", path], settings=Settings(), steps=Steps())
    assert [(place.path, place.name) for place in evidence.places] == [
        (str(tmp_path / "runs"), ""), (str(tmp_path / "runs"), "e"),
    ]  # fmt: skip
    assert {part.collection.model for part in evidence.runs_at(tmp_path / "runs", "o")} == {"o"}
    assert {part.collection.model for part in evidence.runs_at(tmp_path / "runs", None)} == {"m", "o"}
    assert [part.collection.dataset for part in evidence.named_runs].count("e") == len(evidence.named_runs) / 2

    gold = str(tmp_path / "test.jsonl")
    pl.DataFrame(rows(5)).write_ndjson(gold)
    texts = evidence.gold_texts(gold)
    assert texts is not None
    assert len(texts) == 5
    monkeypatch.setattr(module, "read_texts", None)
    assert evidence.gold_texts(gold) is texts


def test_of_a_test_set_with_parts_the_test_part_is_used() -> None:
    parts = Dataset.from_frame([*rows(30, 100, "train"), *rows(20, 200, "test")], name="parts")
    for split in (True, False):
        evidence = known(rows(60), parts, same_texts=split)
        assert len(evidence.test) == 20
        assert evidence.inputs[1].decisions[-1] == "Only the test part of the evaluation set is used."


def test_single_commands_answer_by_the_checks_of_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check answers is what its command reports: there is no second way to a verdict."""
    from dataclasses import replace

    said = not_measurable("The check said so.", "Nothing.")
    for check in (ARTIFACTS, LEAKAGE):
        measure = type(check).measure
        monkeypatch.setattr(
            type(check), "measure", lambda *a, measure=measure, **k: replace(measure(*a, **k), verdict=said)
        )
    evidence = known(rows(60), rows(30, 100), same_texts=False)
    document = report_of_mining(evidence, mine(evidence, Bounds(min_count=5)).searched).document
    assert document["verdicts"]["artifacts"]["evidence"] == "The check said so."
    choice = LeakageChoice(cluster=False, map=False)
    report = study_leakage(rows(60), rows(30, 100), choice=choice, seeds=1, conditions=("hypothesis_only",))
    assert json.loads(report.to_json())["verdicts"]["leakage"]["evidence"] == "The check said so."


@pytest.mark.usefixtures("pairs_planted")
@pytest.mark.parametrize("given", ["folds", "test"])
def test_an_audit_and_a_command_alone_say_the_same_of_artifacts(given: str) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]
    data = [
        {
            "premise": " ".join(rng.choice(words, 8)),
            "hypothesis": " ".join([*rng.choice(words, 6), *(["never"] if label == "no" and at % 2 else [])]),
            "label": label,
        }
        for at, label in enumerate(rng.choice(["yes", "no"], 360))
    ]
    parts = (data, None) if given == "folds" else (data[:260], data[260:])
    audited = goldassay.audit(*parts).to_dict()
    report = goldassay.measure_artifacts(*parts)
    alone = report.to_dict()
    assert [each.kind for each in report.issues or ()] == [
        each["kind"] for each in audited["issues"] if each["question"] == "artifacts"
    ]
    assert alone["verdicts"]["artifacts"] == {
        key: value for key, value in audited["verdicts"]["artifacts"].items() if key in alone["verdicts"]["artifacts"]
    }
    for name in ("effects", "n_selected", "strongest", "difficulty", "coverage", "giveaway", "others"):
        assert alone["artifacts"][name] == audited["artifacts"][name]
    measured = goldassay.measure_leakage(*parts, conditions=["hypothesis_only", "premise_only"])
    leakage = measured.to_dict()
    assert measured.issues is not None
    assert all(each.question == "leakage" for each in measured.issues)
    assert (measured.first is not None) == (leakage["verdicts"]["leakage"]["verdict"] != "sound")
    found = {each["condition"]: each["accuracy"] for each in leakage["leakage"]["conditions"]}
    assert found == {each["condition"]: each["accuracy"] for each in audited["leakage"]["conditions"]}
