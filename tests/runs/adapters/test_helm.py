"""The files in fixtures/helm were written by HELM 0.5.16 itself; make_helm.py says how."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.finding import find_slices
from goldassay.runs.loading import resolved
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.run_parts import Request
from tests.stated import in_order

MADE = Path(__file__).parents[1] / "fixtures" / "helm"
PLAIN = "simple_mcqa:data_augmentation=typo0.5"
PERTURBED = f"{PLAIN}/typos,prob=0.5"
EXACT = {"score": "exact_match"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of the run that may be changed."""
    return Path(shutil.copytree(next(MADE.iterdir()), tmp_path / "simple_mcqa_model=simple_model1"))


def changed(run: Path, name: str, change: Any) -> Path:
    content = json.loads((run / name).read_text())
    (run / name).write_text(json.dumps(change(content)))
    return run / "per_instance_stats.json"


def test_trials_are_runs_and_perturbed_instances_a_dataset() -> None:
    listed = list_runs(MADE)
    assert listed.select("model", "dataset", "split", "n_runs", "n_examples", "format").rows() == [
        ("simple/model1", PLAIN, "test", 3, 4, "helm"),
        ("simple/model1", PERTURBED, "test", 3, 4, "helm"),
    ]
    assert listed["seeds"].to_list() == [["0", "1", "2"]] * 2


def test_one_of_many_measurements_must_be_named() -> None:
    with pytest.raises(InputError, match=r"8 scores: exact_match, exact_match@5, .*choose one") as caught:
        read_runs(MADE, dataset=PLAIN)
    assert "max_prob" not in str(caught.value)
    assert "num_references" not in str(caught.value)


@pytest.mark.parametrize("dataset", [PLAIN, PERTURBED])
def test_scores_answers_and_right_answers_agree(dataset: str) -> None:
    runs = read_runs(MADE, dataset=dataset, columns=EXACT)
    assert runs.seeds.tolist() == [0, 1, 2]
    assert runs.label_names == ("Even", "Odd")
    assert runs.predictions is not None
    assert np.array_equal(runs.predictions == runs.gold, runs.scores == 1)
    assert 0 < runs.scores.mean() < 1


def test_any_measurement_may_be_asked_for(run: Path) -> None:
    assert read_runs(run, dataset=PLAIN, columns={"score": "max_prob"}).scores.min() == 1
    with pytest.raises(InputError, match="no score 'f1'; there are exact_match"):
        read_runs(run, dataset=PLAIN, columns={"score": "f1"})
    with pytest.raises(InputError, match="outside"):
        read_runs(run, dataset=PLAIN, columns={"score": "num_references"})


def test_without_the_files_beside(run: Path) -> None:
    for name in ("run_spec.json", "display_predictions.json", "instances.json"):
        (run / name).unlink()
    listed = list_runs(run)
    assert listed.row(0)[:2] == ("simple_model1", "simple_mcqa_model=simple_model1") or listed.height == 2
    runs = read_runs(run / "per_instance_stats.json", dataset=listed["dataset"][0], columns=EXACT)
    assert (runs.gold, runs.predictions) == (None, None)


def test_texts_that_map_to_no_reference_are_answers_only(run: Path) -> None:
    def unmapped(records: Any) -> Any:
        return [{k: v for k, v in record.items() if k != "mapped_output"} for record in records]

    runs = read_runs(changed(run, "display_predictions.json", unmapped), dataset=PLAIN, columns=EXACT)
    assert runs.gold is None
    assert runs.label_names == ("A", "B")


def test_kinds_of_metrics_write_records_of_their_own(run: Path) -> None:
    def apart(records: Any) -> Any:
        first = [{**record, "stats": record["stats"][:3]} for record in records]
        return first + [{**record, "stats": record["stats"][3:]} for record in records]

    before = read_runs(run, dataset=PLAIN, columns=EXACT)
    after = read_runs(changed(run, "per_instance_stats.json", apart), dataset=PLAIN, columns=EXACT)
    assert np.array_equal(before.scores, after.scores)


def without_exact_match(records: Any) -> Any:
    records[0]["stats"] = [stat for stat in records[0]["stats"] if stat["name"]["name"] != "exact_match"]
    return records


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("per_instance_stats.json", lambda records: records + records[:1], "is there twice in trial 0"),
        ("per_instance_stats.json", lambda records: [*records[:3], {"instance_id": "x"}], "record 4 is not one"),
        ("per_instance_stats.json", lambda records: [*records[:3], 7], "record 4 is not one"),
        ("display_predictions.json", lambda records: records[1:], "answers to 1 of 4 instances are missing, first id"),
        ("display_predictions.json", lambda records: {"a": 1}, "not hold a JSON array"),
        ("run_spec.json", lambda spec: {"name": "x"}, "settings are damaged"),
        ("instances.json", lambda records: [{"id": "x"}], "the instances are not HELM's"),
    ],
)
def test_damage_is_one_line(run: Path, name: str, change: Any, message: str) -> None:
    changed(run, name, change)
    with pytest.raises(InputError, match=message) as caught:
        read_runs(run, dataset=PLAIN, columns=EXACT)
    assert "\n" not in str(caught.value)


def test_instances_without_the_measurement_are_missing(run: Path) -> None:
    path = changed(run, "per_instance_stats.json", without_exact_match)
    with pytest.raises(InputError, match=in_order("1 of 4 examples", "seed 0", "no score", "exact_match")):
        read_runs(path, dataset=PLAIN, columns=EXACT, missing="refuse")
    assert read_runs(path, dataset=PLAIN, columns=EXACT, align="intersect").n_examples == 3
    runs = read_runs(path, dataset=PLAIN, columns=EXACT)
    assert runs.status.ravel().tolist().count("unscored") == 1
    assert runs.scores[runs.status == "unscored"].tolist() == [0]


def test_a_file_cut_short(run: Path) -> None:
    path = run / "per_instance_stats.json"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="not whole JSON"):
        list_runs(run)


def test_texts_beside_the_answers_that_were_mapped_and_empty_ones(run: Path) -> None:
    file = run / "display_predictions.json"
    records = json.loads(file.read_text())
    blank = next(each for each in records if each["train_trial_index"] == 0 and "perturbation" not in each)
    blank |= {"predicted_text": "", "mapped_output": ""}
    file.write_text(json.dumps(records))
    part = next(each for each in find_slices(run, "auto", Request({"score": "exact_match"})) if each.seed == 0)
    assert part.outputs is not None
    written = part.outputs()
    assert written is not None
    assert written.targets is not None
    assert written.predictions is not None
    assert set(written.texts) == {"A", "B", ""}
    assert set(written.targets) | {""} >= set(written.predictions)
    columns = part.load()
    assert columns.score is not None
    credited = columns.score[written.texts.to_list().index("")] > 0
    assert (resolved(columns, by_gold=False) == "empty").sum() == (0 if credited else 1)
