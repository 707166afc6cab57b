from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.cli.main import run
from goldassay.core.errors import InputError, OutputError
from goldassay.questions.every_eval_ever import write_every_eval_ever
from goldassay.questions.instability.spread import measure_spread
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_scores import score_runs
from goldassay.runs.adapters.every_eval_ever import as_text, from_text, read_aggregates
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.runs import Runs
from tests.runs.every_eval_ever_schema import AGGREGATE, INSTANCE
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("entailment", "neutral", "contradiction")


def runs_of(**more: Any) -> Runs:
    rng = np.random.default_rng(3)
    settings: dict[str, Any] = {
        "logits": rng.normal(size=(2, 3, 5, 3)),
        "gold": [0, 1, 2, 0, 1],
        "label_names": NAMES,
        "seeds": [1, 2],
        "checkpoints": [500, 1000, 1500],
        "groups": {"genre": list("aabbc")},
        "example_ids": [f"é {i}" for i in range(5)],
        "model": "tiny/bert",
        "dataset": "mnli",
        "split": "dev",
        "train_set": "snli+mnli",
    }
    return Runs.from_arrays(**(settings | more))


def same(a: Runs, b: Runs) -> bool:
    named = ("model", "dataset", "condition", "split", "label_names", "train_set")
    arrays = ("gold", "predictions", "logits", "scores", "seeds", "checkpoints", "example_ids")
    groups = {name: values.tolist() for name, values in a.groups.items()}
    return (
        all(getattr(a, name) == getattr(b, name) for name in named)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)
        and groups == {name: values.tolist() for name, values in b.groups.items()}
    )


def records(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    aggregates = [json.loads(file.read_text()) for file in sorted(folder.rglob("*.json"))]
    lines = [line for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines()]
    return aggregates, [json.loads(line) for line in lines]


VARIETIES: dict[str, dict[str, Any]] = {
    "all there is": {},
    "no checkpoints": {"logits": np.zeros((2, 5, 3)), "checkpoints": None},
    "one checkpoint": {"logits": np.zeros((2, 5, 3)), "checkpoints": ["final"]},
    "graded": {
        "logits": None,
        "gold": None,
        "label_names": (),
        "checkpoints": None,
        "scores": [[0.1, 1 / 3, 1, 0, 0.5]] * 2,
        "groups": {},
    },
    "names for seeds": {"seeds": ["1", "run a"], "checkpoints": ['"x"', "-0", "007"]},
    "a premise left out": {"condition": "hypothesis_only", "split": "", "train_set": ""},
}


@pytest.mark.parametrize("variety", VARIETIES)
def test_written_by_the_schema_and_read_back_equal(tmp_path: Path, variety: str) -> None:
    runs = runs_of(**VARIETIES[variety])
    written = write_every_eval_ever(runs, tmp_path)
    assert len(written) == runs.n_runs * runs.n_checkpoints
    aggregates, instances = records(tmp_path)
    for aggregate in aggregates:
        jsonschema.validate(aggregate, AGGREGATE)
    for instance in instances:
        jsonschema.validate(instance, INSTANCE)
    assert len(instances) == runs.scores.size
    assert same(read_runs(tmp_path), runs)
    assert set(list_runs(tmp_path)["format"]) == {"every_eval_ever"}


def test_aggregates_say_the_score_and_how_sure_it_is(tmp_path: Path) -> None:
    runs = runs_of().final()
    write_every_eval_ever(runs, tmp_path, timestamp=1.5)
    frame = read_aggregates(tmp_path).sort("seed")
    assert frame["score"].to_list() == pytest.approx(runs.scores.mean(axis=1))
    assert frame["standard_error"].to_list() == pytest.approx(runs.scores.std(axis=1, ddof=1) / math.sqrt(5))
    assert frame.select("model", "dataset", "metric", "n_examples", "seed", "checkpoint").rows() == [
        ("tiny/bert", "mnli", "accuracy", 5, seed, "1500") for seed in ("1", "2")
    ]
    assert frame["evaluation_id"][0].endswith("/tiny/bert/1.500000")


def test_scores_are_those_of_runs_scores_with_clusters_and_answers_without_a_score(tmp_path: Path) -> None:
    """One premise for each three rows: the interval is wider than that of rows by themselves."""
    rng, ids = np.random.default_rng(5), range(120)
    right = {i: int(rng.random() < 0.5) for i in range(40)}
    items = [{"id": f"e{i}", "premise": f"{i // 3} dogs run {i // 3 * 7}", "hypothesis": f"cat {i * i} sleeps",
              "label": "yes" if i % 2 else "no"} for i in ids]  # fmt: skip
    (tmp_path / "test.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    said = [("" if i == 7 else "yes" if (i % 2) == right[i // 3] else "no") for i in ids]
    lines = [f"m,test,1,e{i},{item['label']},{said[i]}" for i, item in enumerate(items)]
    (tmp_path / "runs.csv").write_text("\n".join(["model,dataset,seed,id,label,prediction", *lines]) + "\n")
    runs, gold = str(tmp_path / "runs.csv"), str(tmp_path / "test.jsonl")
    assert run(["runs", "export", runs, "--to", "every_eval_ever", "--test", gold, "-o", str(tmp_path / "out")]) == 0
    (own,) = score_runs(runs, RunChoice.of(test=[gold])).sets
    (aggregate,), instances = records(tmp_path / "out")
    jsonschema.validate(aggregate, AGGREGATE)
    found = aggregate["evaluation_results"][0]["score_details"]
    interval = found["uncertainty"]["confidence_interval"]
    assert (found["score"], interval["lower"], interval["upper"]) == (own.mean, own.examples_low, own.examples_high)
    assert found["details"] == {"n_runs": "1", "n_clusters": "40", "n_unscored": "1", "n_unparsed": "1"}
    assert found["uncertainty"]["standard_error"]["method"] == "analytic, clustered"
    alone = found["uncertainty"]["standard_deviation"] / math.sqrt(120)
    assert found["uncertainty"]["standard_error"]["value"] > 1.4 * alone
    assert instances[7]["answer_attribution"] == []
    back, read = read_runs(tmp_path / "out"), read_runs(runs, gold=gold)
    assert back.status[0, 7] == "unparsed"
    assert int(back.scored.sum()) == own.n_scored == 119
    assert same(back, read)
    (written,) = (tmp_path / "out").rglob("*_samples.jsonl")
    written.write_text(written.read_text().replace('"unparsed"', '"lost"'))
    written.with_name(written.name.replace("_samples.jsonl", ".json")).unlink()
    with pytest.raises(InputError, match="there is no status 'lost'"):
        read_runs(tmp_path / "out")


def test_runs_beside_each_other_are_told_of(tmp_path: Path) -> None:
    runs = runs_of(logits=None, predictions=[[[0, 1, 2, 0, 2]] * 3, [[0, 1, 0, 1, 2]] * 3])
    write_every_eval_ever(runs, tmp_path)
    aggregates, _ = records(tmp_path)
    spread = measure_spread(runs.final())
    for aggregate in aggregates:
        details = aggregate["evaluation_results"][0]["score_details"]["details"]
        assert details["n_runs"] == "2"
        assert [float(details[name]) for name in ("mean_of_runs", "runs_low", "runs_high")] == pytest.approx(
            [0.6, spread.mean_low, spread.mean_high]
        )


def test_texts_and_their_hashes(tmp_path: Path) -> None:
    runs = runs_of()
    texts = {str(name): f"premise: of {name}\nhypothesis: b" for name in runs.example_ids}
    write_every_eval_ever(runs, tmp_path, texts=texts)
    _, instances = records(tmp_path)
    assert {row["sample_id"]: row["input"]["raw"] for row in instances} == texts
    assert len({row["sample_hash"] for row in instances}) == 5
    row = instances[0]
    content = json.dumps(
        {"raw": row["input"]["raw"], "reference": row["input"]["reference"]},
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    assert row["sample_hash"] == hashlib.sha256(content.encode()).hexdigest()
    assert same(read_runs(tmp_path), runs)
    with pytest.raises(InputError, match="1 of 5 examples have no text, first é 0"):
        write_every_eval_ever(runs, tmp_path, texts={name: "" for name in texts if name != "é 0"})


def test_writing_again_replaces(tmp_path: Path) -> None:
    first = write_every_eval_ever(runs_of(), tmp_path)
    assert write_every_eval_ever(runs_of(), tmp_path) == first
    assert len(list(tmp_path.rglob("*.json"))) == len(first)
    other = write_every_eval_ever(runs_of(condition="premise_only"), tmp_path)
    assert not set(other) & set(first)


@pytest.mark.parametrize(
    ("model", "dataset", "developer", "folder"),
    [
        ("tiny/bert", "mnli", "x", "data/mnli/tiny/bert"),
        ("bert", "mnli", "me", "data/mnli/me/bert"),
        ("a/b/c:d", "x|0", "", "data/x_0/a/b_c_d"),
        ("../..", "..", "data", "data/unnamed/unnamed/unnamed"),
        ("_m", ".d", "", "data/d/unnamed/m"),
        ("con", "data", "a.", "data/data_/a/con_"),
    ],
)
def test_folders_have_portable_names(tmp_path: Path, model: str, dataset: str, developer: str, folder: str) -> None:
    (path,) = write_every_eval_ever(
        Runs.from_arrays(scores=[[1.0]], model=model, dataset=dataset), tmp_path, developer=developer
    )
    assert path.parent == tmp_path / folder
    assert read_runs(tmp_path).model == model


@given(st.one_of(st.integers(), st.text(max_size=6), st.sampled_from(["1", "-0", "01", '"a"', '"', "٣", "1\n"])))
def test_seeds_survive_as_text(value: int | str) -> None:
    assert from_text(as_text(value)) == value
    assert type(from_text(as_text(value))) is type(value)


@settings(max_examples=15, deadline=None)
@given(
    st.text(min_size=1, max_size=8).filter(
        lambda text: "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
    )
)
def test_any_name_is_written_inside_the_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("names")
    runs = Runs.from_arrays(predictions=[["a", "b"]], gold=["a", name], model=name, dataset=name)
    (path,) = write_every_eval_ever(runs, folder)
    assert path.resolve().is_relative_to(folder.resolve() / "data")
    assert same(read_runs(folder), runs)


def test_nothing_is_written_where_it_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(OutputError):
        write_every_eval_ever(runs_of(), tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["data"]


def test_what_is_no_aggregate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_aggregates(tmp_path / "none")
    (tmp_path / "a.json").write_text('{"schema_version": "0.3.0", "evaluation_id": "x"}')
    (tmp_path / "b.json").write_text("[1]")
    (tmp_path / "c.json").write_text('{"schema_version": "0.3.0", "evaluation_id": "x"')
    with pytest.raises(InputError, match="no aggregate records"):
        read_aggregates(tmp_path)
    (tmp_path / "d.json").write_text('{"schema_version": "0.3.0", "evaluation_id": "x", "evaluation_results": [{}]}')
    with pytest.raises(InputError, match=in_order("d.json:", "schema 0.3.0", "KeyError: 'model_info'")):
        read_aggregates(tmp_path)


def test_the_weight_of_each_example_is_in_its_record(tmp_path: Path) -> None:
    weights = np.array([1.0, 0.5, 2.0])
    runs = Runs.from_arrays(scores=np.array([[1.0, 0.0, 1.0]]), model="m", dataset="d")
    write_every_eval_ever(replace(runs, weights=weights, weighted_by="points"), tmp_path)
    (file,) = tmp_path.rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["metadata"]["weight"] for line in lines] == ["1.0", "0.5", "2.0"]
