from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.runs.reading import read_runs


def test_arrays_of_runs(tmp_path: Path) -> None:
    logits = np.random.default_rng(0).normal(size=(2, 3, 4, 3))
    np.savez(
        tmp_path / "dev.npz",
        logits=logits,
        gold=np.array([0, 1, 2, 0]),
        seeds=[5, 6],
        checkpoints=[10, 20, 30],
        label_names=["x", "y", "z"],
        example_ids=list("abcd"),
    )
    runs = read_runs(tmp_path)
    assert runs.dataset == "dev"
    np.testing.assert_array_equal(runs.logits, logits)
    assert runs.label_names == ("x", "y", "z")
    assert runs.seeds.tolist() == [5, 6]
    assert runs.checkpoints is not None
    assert runs.checkpoints.tolist() == [10, 20, 30]
    np.testing.assert_array_equal(runs.scores, (logits.argmax(-1) == [0, 1, 2, 0]).astype(float))


def test_one_run_without_its_axis(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", preds=[0, 1, 1], labels=[0, 1, 0])
    assert read_runs(tmp_path).scores.tolist() == [[1, 1, 0]]
    np.savez(tmp_path / "a.npz", scores=[[0.5, 1.0], [0.25, 0.0]])
    assert read_runs(tmp_path).scores.tolist() == [[0.5, 1], [0.25, 0]]


def test_objects_are_refused_unopened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> object:
            return (Path.touch, (tmp_path / "sprung",))

    np.savez(tmp_path / "a.npz", scores=np.array([Trap()], dtype=object))
    with pytest.raises(InputError, match="pickles"):
        read_runs(tmp_path / "a.npz")
    assert not (tmp_path / "sprung").exists()


def test_damage_and_misfits(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, scores=np.zeros((2, 50)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(path)
    np.savez(path, scores=np.zeros((2, 5)), seeds=[1])
    with pytest.raises(InputError, match="seeds have shape"):
        read_runs(path)
    np.savez(path, scores=np.zeros((2, 5)), gold=[1])
    with pytest.raises(InputError, match="gold has shape"):
        read_runs(path)
    np.savez(path, logits=np.zeros((1, 5, 3)), gold=[0] * 5)
    with pytest.raises(InputError, match="3 classes, but there are 2"):
        read_runs(path, label_names=["a", "b"])


@pytest.mark.parametrize(
    ("name", "gold"), [("mnli", "multinli/dev_matched.tsv.gz"), ("hans", "hans/hans_gold_by_position.tsv.gz")]
)
def test_published_logits(data_dir: Path, name: str, gold: str) -> None:
    table = pl.read_csv(data_dir / gold, separator="\t", quote_char=None, infer_schema=False)
    table = table.select(example_id=pl.int_range(pl.len()).cast(pl.String), label="gold_label")
    runs = read_runs(
        data_dir / f"predictions/instability_bert_base/{name}.logits.npz",
        gold=Dataset(table, (), tuple(table["label"].unique().sort()), name),
        label_names=["contradiction", "entailment", "neutral"],
    )
    expected = {"mnli": 84.72033, "hans": 62.30733}[name]
    assert runs.scores.mean() * 100 == pytest.approx(expected, abs=5e-6)
    # HANS is collapsed to two classes after the argmax, for which there are no logits.
    assert (runs.logits is None) == (name == "hans")
    if runs.logits is not None:
        np.testing.assert_array_equal(runs.logits.argmax(-1), runs.predictions)
