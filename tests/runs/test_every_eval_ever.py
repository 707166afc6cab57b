from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError, OutputError
from goldassay.runs.every_eval_ever import as_text, from_text, read_aggregates, write_every_eval_ever
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
