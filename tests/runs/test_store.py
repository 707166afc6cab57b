from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError, OutputError
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from pathlib import Path

NLI = ("entailment", "neutral", "contradiction")


def example_runs(**changes: Any) -> Runs:
    rng = np.random.default_rng(0)
    settings: dict[str, Any] = {
        "logits": rng.normal(size=(2, 3, 5, 3)).astype(np.float32),
        "gold": rng.integers(0, 3, 5),
        "label_names": NLI,
        "seeds": [11, 12],
        "checkpoints": [500, 1000, 1500],
        "example_ids": [f"ex{i}" for i in range(5)],
        "groups": {"genre": list("aabbc")},
        "model": "bert/base",
        "dataset": "mnli",
        "condition": "hypothesis_only",
        "split": "dev",
        "train_set": "mnli-train",
    }
    return Runs.from_arrays(**(settings | changes))


def assert_same(a: Runs, b: Runs) -> None:
    for name in ("model", "dataset", "condition", "split", "train_set", "label_names"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("gold", "predictions", "logits", "scores", "seeds", "checkpoints", "example_ids"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.groups.keys() == b.groups.keys()
    for name, values in a.groups.items():
        np.testing.assert_array_equal(values, b.groups[name])


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    runs = example_runs()
    paths = write_runs(runs, tmp_path)
    assert len(paths) == len(set(paths)) == 6
    assert_same(runs, read_runs(tmp_path))
    assert_same(runs, read_runs(reversed(paths)))


def test_scores_alone_are_enough(tmp_path: Path) -> None:
    runs = Runs.from_arrays(scores=[[0.25, 1.0], [0.5, 0.0]], seeds=["a", "b"])
    write_runs(runs, tmp_path)
    assert_same(runs, read_runs(tmp_path))


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    first = write_runs(example_runs(), tmp_path / "a")
    second = write_runs(example_runs(), tmp_path / "b")
    assert [path.name for path in first] == [path.name for path in second]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_others_open_the_files_without_us(tmp_path: Path) -> None:
    path = write_runs(example_runs(), tmp_path)[0]
    columns = ["run_id", "model", "seed", "train_set", "condition", "checkpoint", "dataset", "split"]
    columns += ["example_id", "label", "prediction", "score", "logits", "group_genre"]
    assert pl.read_parquet(path).columns == columns
    frame = pd.read_parquet(path)
    assert list(frame.columns) == columns
    assert set(frame["prediction"]) <= set(NLI)
    assert frame["seed"].unique().tolist() == [11]
    assert (frame["score"] == (frame["label"] == frame["prediction"])).all()


def test_absent_columns_are_left_out(tmp_path: Path) -> None:
    path = write_runs(Runs.from_arrays(scores=[[0.5, 1]]), tmp_path)[0]
    names = pl.read_parquet(path).columns
    assert not {"label", "prediction", "logits", "checkpoint", "split", "train_set"} & set(names)


def test_constant_columns_cost_nothing(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).integers(0, 2, (1, 20_000))
    short = write_runs(Runs.from_arrays(scores=scores, model="m"), tmp_path)[0].stat().st_size
    long = write_runs(Runs.from_arrays(scores=scores, model="m" * 100), tmp_path)[0].stat().st_size
    assert long < short + 1000


def test_names_that_read_alike_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for model in ("a/b", "a b", "a-b", "../../a-b"):
        write_runs(Runs.from_arrays(scores=[[1.0]], model=model), tmp_path / "runs")
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert list_runs(tmp_path)["model"].to_list() == ["../../a-b", "a b", "a-b", "a/b"]


@pytest.mark.parametrize("field", ["model", "condition", "seed", "checkpoint", "label_names", "configuration"])
def test_half_of_a_surrogate_pair_is_no_name(tmp_path: Path, field: str) -> None:
    """JSON spells half of a pair as an escape; neither a table nor UTF-8 can hold it."""
    write_runs(example_runs(seeds=[1], checkpoints=[2], logits=np.zeros((1, 1, 5, 3))), tmp_path)
    (file,) = tmp_path.rglob("*.parquet")
    metadata = pl.read_parquet_metadata(file)
    key = next(key for key, value in metadata.items() if '"version"' in value)
    half = {"label_names": ["a", "b", "c\ud800"], "configuration": {"shots\udfff": 1}}.get(field, "a\ud800")
    changed = json.dumps(json.loads(metadata[key]) | {field: half})
    pl.read_parquet(file).write_parquet(file, metadata={key: changed})
    for read in (list_runs, read_runs):
        with pytest.raises(InputError, match="half of a surrogate pair") as refused:
            read(tmp_path)
        assert refused.value.file == str(file)
        assert str(refused.value).encode()


def test_writing_the_same_run_again_replaces_it(tmp_path: Path) -> None:
    write_runs(Runs.from_arrays(scores=[[1.0, 0.0]]), tmp_path)
    write_runs(Runs.from_arrays(scores=[[0.0, 0.0]]), tmp_path)
    assert read_runs(tmp_path).scores.tolist() == [[0, 0]]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError) as caught:
        write_runs(example_runs(), tmp_path / "file" / "runs")
    assert "\n" not in str(caught.value)


@given(model=st.text(max_size=30), seed=st.text(max_size=300), group=st.text(max_size=5))
def test_any_name_survives(tmp_path_factory: pytest.TempPathFactory, model: str, seed: str, group: str) -> None:
    folder = tmp_path_factory.mktemp("runs")
    seed = f"s{seed}".replace("\0", "")
    runs = Runs.from_arrays(scores=[[1.0, 0.0]], model=model, seeds=[seed], groups={"g": [f"g{group}", "h"]})
    write_runs(runs, folder)
    back = read_runs(folder)
    assert back.model == model
    assert back.seeds.tolist() == runs.seeds.tolist()
    assert back.groups["g"].tolist() == runs.groups["g"].tolist()
