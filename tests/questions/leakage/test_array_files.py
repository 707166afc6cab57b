"""Arrays made elsewhere: read in the examples' order, or refused in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.array_files import read_distribution, read_probabilities, read_vectors
from tests.stated import Fact, in_order, states

if TYPE_CHECKING:
    from pathlib import Path

IDS = np.array(["a", "b", "c"])
VECTORS = np.arange(6.0).reshape(3, 2)


def test_embeddings_of_every_layout(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    rows = [2, 0, 1]
    shuffled = pl.DataFrame({"example_id": IDS[rows], "embedding": VECTORS[rows].tolist()})
    shuffled.write_parquet(tmp_path / "lists.parquet")
    columns = pl.DataFrame({"id": IDS[rows], "d0": VECTORS[rows, 0], "d1": VECTORS[rows, 1]})
    columns.write_csv(tmp_path / "columns.csv")
    for name in ("v.npy", "lists.parquet", "columns.csv"):
        assert read_vectors(tmp_path / name, IDS, "hypothesis").tolist() == VECTORS.tolist()


def test_probabilities_and_bits(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", [[0.5, 0.25, 1.0], [0.5, 0.5, 0.5]])
    pl.DataFrame({"row": ["c", "a", "b"], "x": [0.0, 1.0, 2.0], "y": [9.0, 9.0, 9.0]}).write_csv(tmp_path / "b.csv")
    assert read_probabilities(str(tmp_path / "p.npy"), IDS, bits=False).shape == (2, 3)
    assert read_probabilities(f"{tmp_path}/b.csv:x", IDS, bits=True).tolist() == [[0.5, 0.25, 1.0]]


def refusal(tmp_path: Path, name: str, content: object, *, bits: bool | None = None) -> str:
    path = tmp_path / name
    if isinstance(content, pl.DataFrame):
        content.write_csv(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(InputError) as caught:
        if bits is None:
            read_vectors(path, IDS, "hypothesis")
        else:
            read_probabilities(str(path), IDS, bits=bits)
    return str(caught.value)


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    assert "shape (2, 2), and there are 3" in refusal(tmp_path, "v.npy", VECTORS[:2])
    some = pl.DataFrame({"example_id": ["a", "b", "z"], "d": [1.0, 2.0, 3.0]})
    assert "1 of the 3 are missing, first c" in refusal(tmp_path, "some.csv", some)
    none = pl.DataFrame({"example_id": ["x", "y", "z"], "d": [1.0, 2.0, 3.0]})
    assert "of other examples, first 'x'" in refusal(tmp_path, "none.csv", none)
    twice = pl.DataFrame({"example_id": ["a", "a", "b", "c"], "d": [1.0, 2.0, 3.0, 4.0]})
    assert "occurs twice" in refusal(tmp_path, "twice.csv", twice)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_embeddings_are_finite_and_the_example_that_is_not_is_named(tmp_path: Path, bad: float) -> None:
    values = VECTORS.astype(np.float64)
    values[1, 0] = bad
    said = refusal(tmp_path, "v.npy", values)
    assert states(said, "v.npy:", "1 of the 3 embeddings", "NaN or infinity", "'b'")
    assert "no column holds numbers" in refusal(tmp_path, "none.npy", np.zeros((3, 0)))
    assert "no real numbers" in refusal(tmp_path, "complex.npy", VECTORS + 1j)
    assert "no array of numbers" in refusal(tmp_path, "empty.npy", b"")
    assert "no arrays of numbers" in refusal(tmp_path, "empty.npz", b"")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[0.5, 0.5], [0.9, 0.9], [1.0, 0.0]], ("1 of the 3 rows", "no probabilities", "'b'")),
        ([[0.5, 0.5], [0.5, np.nan], [-0.1, 1.1]], ("2 of the 3 rows", "no probabilities")),
    ],
)
def test_probabilities_of_all_labels_add_up_to_1(tmp_path: Path, values: list[list[float]], said: Fact) -> None:
    np.save(tmp_path / "p.npy", values)
    with pytest.raises(InputError, match=in_order(said)):
        read_distribution(str(tmp_path / "p.npy"), IDS, ("x", "y"), ordered=True)
    pl.DataFrame(values, schema=["x", "y"], orient="row").write_csv(tmp_path / "p.csv")
    with pytest.raises(InputError, match=in_order(said)):
        read_distribution(str(tmp_path / "p.csv"), IDS, ("x", "y"), ordered=False)


@pytest.mark.parametrize("row", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]])
def test_logits_are_numbers(tmp_path: Path, row: list[float]) -> None:
    np.savez(tmp_path / "l.npz", logits=[[0.0, 1.0], [-np.inf, 2.0], row])
    with pytest.raises(InputError, match=in_order("l.npz:", "logits of 1 of the 3 examples", "'c'")):
        read_distribution(f"{tmp_path}/l.npz", IDS, ("x", "y"), ordered=True)


def test_columns_of_labels_hold_numbers_and_are_no_probability_of_the_right_one(tmp_path: Path) -> None:
    pl.DataFrame({"x": ["a"] * 3, "y": [0.5] * 3}).write_csv(tmp_path / "p.csv")
    with pytest.raises(InputError, match="column 'x': the column holds no numbers"):
        read_distribution(f"{tmp_path}/p.csv", IDS, ("x", "y"), ordered=False)
    with pytest.raises(InputError, match="'y' is called like a label"):
        read_distribution(f"{tmp_path}/p.csv:y", IDS, ("x", "y"), ordered=False)


def test_what_holds_no_such_numbers_is_refused(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path, "gone.npy", None)
    assert "no array of numbers" in refusal(tmp_path, "text.npy", b"hello")
    assert "no real numbers" in refusal(tmp_path, "names.npy", np.array(["a", "b", "c"]))
    assert "say so with bits" in refusal(tmp_path, "p.npy", np.array([0.5, 2.0, 0.1]), bits=False)
    two = pl.DataFrame({"example_id": ["a", "b", "c"], "x": [0.1] * 3, "y": [0.1] * 3})
    assert "FILE:COLUMN; there are x, y" in refusal(tmp_path, "two.csv", two, bits=False)
