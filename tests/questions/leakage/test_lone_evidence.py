"""Embeddings and probabilities without runs: the same in every file, joined by id, by two doors; else one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from tests.stated import in_order, says, stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("contradiction", "entailment", "neutral")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """test.jsonl, and what a model of the hypothesis would leave: rows of tables are in another order."""
    base = tmp_path_factory.mktemp("lone")
    rng = np.random.default_rng(0)
    n = 300
    gold = rng.integers(0, 3, n)
    frame = pl.DataFrame(
        {
            "id": [f"e{at}" for at in range(n)],
            "premise": [f"premise {at} {rng.integers(1e6)}" for at in range(n)],
            "hypothesis": [f"claim {at} {rng.integers(1e6)}" for at in range(n)],
            "label": [NAMES[code] for code in gold],
        }
    )
    frame.write_ndjson(base / "test.jsonl")
    vectors = rng.normal(size=(n, 8))
    vectors[:, 0] += 4 * (gold == 1)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), gold] += 1.5
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    order = rng.permutation(n)
    ids = frame["id"].to_numpy().astype(str)
    np.save(base / "v.npy", vectors)
    np.savez(base / "v.npz", hypothesis=vectors[order], premise=vectors[order] * 0, example_id=ids[order])
    table = pl.DataFrame(vectors[order]).with_columns(example_id=pl.Series(ids[order]))
    table.write_csv(base / "v.csv")
    table.write_parquet(base / "v.parquet")
    np.save(base / "p.npy", p)
    np.savez(base / "p.npz", probabilities=p[order], example_id=ids[order])
    np.savez(base / "logits.npz", logits=logits + 7)
    pl.DataFrame({"id": ids[order], **{name: p[order, at] for at, name in enumerate(NAMES)}}).write_csv(base / "p.csv")
    np.save(base / "gold.npy", p[np.arange(n), gold])
    np.savez(base / "gold.npz", probability=p[order, gold[order]], example_id=ids[order])
    return base


def measured(folder: Path, **given: Any) -> dict[str, Any]:
    return goldassay.measure_leakage(None, folder / "test.jsonl", plane=False, **given).to_dict()


@pytest.mark.parametrize("name", ["v.npz", "v.csv", "v.parquet"])
def test_embeddings_of_every_file_are_the_same(folder: Path, name: str) -> None:
    one, other = (measured(folder, embeddings={"hypothesis": str(folder / each)}) for each in ("v.npy", name))
    assert one["leakage"]["peco"] == other["leakage"]["peco"]
    assert one["leakage"]["peco"][0]["role"] == "hypothesis"
    assert one["leakage"]["peco"][0]["score"] > 0.1
    assert other["verdicts"]["leakage"]["verdict"] == "not measurable"


@pytest.mark.parametrize("name", ["p.npy", "p.npz", "logits.npz", "p.csv"])
def test_probabilities_of_all_labels_are_predictions(folder: Path, name: str) -> None:
    named = {} if name == "p.csv" else {"label_names": NAMES}
    found = measured(folder, probabilities={"hypothesis_only": str(folder / name)}, **named)
    (row,) = found["leakage"]["conditions"]
    p, labels = np.load(folder / "p.npy"), pl.read_ndjson(folder / "test.jsonl")["label"].to_list()
    hits = [NAMES[at] == own for at, own in zip(p.argmax(1).tolist(), labels, strict=True)]
    assert row["accuracy"] == pytest.approx(np.mean(hits))
    # One run is never sound; what it surely reads is a flaw.
    assert found["verdicts"]["leakage"]["verdict"] == "unsound"
    (bits,) = found["leakage"]["information"]
    gold = measured(folder, probabilities={"hypothesis_only": str(folder / "gold.npy")})["leakage"]["information"][0]
    assert bits["information"] == pytest.approx(gold["information"])


@pytest.mark.parametrize("name", ["gold.npy", "gold.npz"])
def test_the_right_labels_probability_tells_bits_and_gives_no_verdict(folder: Path, name: str) -> None:
    found = measured(folder, probabilities={"hypothesis_only": str(folder / name)})
    verdict, told = found["verdicts"]["leakage"], found["leakage"]["information"][0]
    assert verdict["verdict"] == "not measurable"
    assert told["information"] > 0.2
    # What was measured is said, and why it decides nothing.
    assert states(stated_by(verdict), "hypothesis", f"{told['information']:.3f} of {told['h_yb']:.3f} bits")
    assert not found["leakage"]["conditions"]


def test_columns_without_names_are_no_labels(folder: Path) -> None:
    for name in ("p.npy", "p.npz"):
        with pytest.raises(InputError, match=in_order("which of the labels", "3 columns")) as caught:
            measured(folder, probabilities={"hypothesis_only": str(folder / name)})
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="give the labels of the test set, each once"):
        measured(folder, probabilities={"hypothesis_only": str(folder / "p.npy")}, label_names=("a", "b", "c"))


def test_what_does_not_fit_is_one_line(folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=np.zeros((300, 2)), b=np.zeros((300, 2)))
    np.save(tmp_path / "off.npy", np.full((300, 3), 0.9))
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"embeddings": {"hypothesis": str(tmp_path / "two.npz")}}, "several arrays could be meant"),
        ({"embeddings": {"hypothesis": f"{tmp_path}/two.npz:c"}}, "there is no array 'c'"),
        ({"embeddings": {"hypothesis": str(tmp_path / "none.npz")}}, "there is no such file"),
        ({"embeddings": {"hypothesis": str(tmp_path / "broken.npz")}}, "holds no arrays of numbers"),
        ({"embeddings": {"claim": str(folder / "v.npy")}}, "the test set has no claim"),
        ({"probabilities": {"claim_only": str(folder / "p.csv")}}, "the test set has no claim_only"),
        (
            {"probabilities": {"hypothesis_only": str(tmp_path / "off.npy")}, "label_names": NAMES},
            "no probabilities of",
        ),
        ({"embeddings": {"hypothesis": str(folder / "v.npy")}, "model": "bert"}, "model goes with runs"),
    ]
    for given, wanted in cases:
        with pytest.raises(InputError, match=wanted) as caught:
            measured(folder, **given)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="by themselves hold no labels; give the set"):
        goldassay.measure_leakage(embeddings={"hypothesis": str(folder / "v.npy")})


def test_both_doors_say_the_same(folder: Path, tmp_path: Path) -> None:
    given = f"hypothesis_only={folder / 'p.csv'}"
    words = ["leakage", "measure", "--test", str(folder / "test.jsonl"), "--probabilities", given, "--no-plane", "-q"]
    assert run([*words, "-o", str(tmp_path / "out")]) == 0
    document = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    found = measured(folder, probabilities={"hypothesis_only": str(folder / "p.csv")})
    assert document["verdicts"] == found["verdicts"]
    assert document["figures"] == found["figures"]


def test_runs_options_are_refused_without_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "leakage",
        "measure",
        "--test",
        str(folder / "test.jsonl"),
        "--embeddings",
        f"hypothesis={folder / 'v.npy'}",
    ]
    assert run([*words, "--model", "bert"]) == 2
    line = capsys.readouterr().err.strip()
    assert line == says("goldassay: --model goes with runs", "--runs")
