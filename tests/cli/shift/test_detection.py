"""`goldassay shift detection`: what is written, what is printed, what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import NearestNeighbors

from goldassay.cli.main import run
from goldassay.runs.runs import Runs
from goldassay.runs.sidecar import Embeddings, Origin, read_embeddings, write_embeddings
from goldassay.runs.store import write_runs
from goldassay.shift import auroc, false_alarm_rate, score_knn, score_max_softmax
from tests.cli.run_files import goldassay, refused
from tests.cli.shift.toys import answers, as_probabilities, texts
from tests.stated import says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]


def scored(frame: pl.DataFrame, seed: int) -> np.ndarray:
    own = frame.filter(pl.col("seed") == seed)
    return score_max_softmax(np.array(own["logits"].to_list()), scale="log")


def test_both_sides_made_elsewhere(goldassay: Command, tmp_path: Path) -> None:
    own, other = answers("own", n=120), answers("far", n=90, sureness=1.0, label=False)
    own.write_parquet(tmp_path / "own.parquet")
    other.write_parquet(tmp_path / "far.parquet")
    done = goldassay(
        "shift", "detection", "--inside", "own.parquet", "--outside", "far.parquet", "-o", "report",
        "--json", "copy.json", "--draws", "200", "--figures", "png", "--latex",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "also flags" in done.out
    assert done.out.splitlines()[-1] == "report/report.html"
    document = json.loads((tmp_path / "copy.json").read_text())
    found = document["shift"]
    assert [row["score"] for row in found["detection"]] == ["max_softmax", "max_logit", "energy", "entropy"]
    row = found["detection"][0]
    sides = [(scored(own, seed), scored(other, seed)) for seed in (1, 2)]
    gold = np.repeat([0, 1], [120, 90])
    assert row["auroc"] == pytest.approx(np.mean([roc_auc_score(gold, np.concatenate(pair)) for pair in sides]))
    assert row["aupr_out"] == pytest.approx(
        np.mean([average_precision_score(gold, np.concatenate(pair)) for pair in sides])
    )
    assert row["false_alarm_rate"] == pytest.approx(np.mean([false_alarm_rate(*pair) for pair in sides]))
    assert row["fpr_id_positive"] == pytest.approx(np.mean([false_alarm_rate(-b, -a) for a, b in sides]))
    assert (row["auroc_chance"], row["false_alarm_rate_chance"]) == (0.5, 0.95)
    assert row["aupr_out_chance"] == pytest.approx(90 / 210)
    assert (row["n_in"], row["n_out"], row["n_runs"], row["rule"]) == (120, 90, 2, "at_least")
    (histogram,) = found["histograms"]
    assert sum(histogram["share_in"]) == pytest.approx(1)
    assert histogram["edges"][0] == 0.5
    page = (tmp_path / "report/report.html").read_text()
    assert "own texts flagged (other set positive)" in page
    assert "other texts accepted (own positive)" in page
    assert {path.name for path in (tmp_path / "report/paper").iterdir()} == {
        "confidence-toy-far.png", "detection.tex", "false-alarms.png",
    }  # fmt: skip


def test_labels_of_the_other_side_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers("own").write_parquet("own.parquet")
    rows = []
    for label in (True, False):
        answers("far", label=label).write_parquet("far.parquet")
        arguments = ["shift", "detection", "--inside", "own.parquet", "--outside", "far.parquet", "-o", "out", "-q"]
        assert run([*arguments, "--draws", "50", "--rule", "closest", "--scores", "energy"]) == 0
        found = json.loads((tmp_path / "out/report.json").read_text())["shift"]
        rows.append(found["detection"])
        assert any("labels of far were ignored" in note for note in found["notes"]) == label
    assert rows[0] == rows[1]
    assert [row["score"] for row in rows[0]] == ["energy"]


def test_files_that_name_no_dataset_are_called_after_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, sureness in (("own", 3.0), ("far", 0.5)):
        frame = answers(name, sureness=sureness).drop("dataset")
        as_text = frame["logits"].map_elements(lambda row: str(row.to_list()), return_dtype=pl.String)
        frame.with_columns(as_text.alias("logits")).write_csv(f"{name}.csv")
    arguments = ["shift", "detection", "--inside", "own.csv", "--outside"]
    assert run([*arguments, "far.csv", "-o", "out", "-q", "--draws", "50"]) == 0
    rows = json.loads((tmp_path / "out/report.json").read_text())["shift"]["detection"]
    assert {(row["in_distribution"], row["dataset"]) for row in rows} == {("own", "far")}
    for value in ("nan", "inf", "one"):
        spoilt = frame.with_columns(pl.lit(f"[{value}, 1.0]").alias("logits"))
        pl.concat([frame.with_columns(as_text.alias("logits")).head(3), spoilt.tail(-3)]).write_csv("spoilt.csv")
        assert refused(*arguments, "spoilt.csv", "-o", "none") == says(
            "goldassay: spoilt.csv, column 'logits'", f"'[{value}, 1.0]'", "finite numbers", "[0.5, -1.2]"
        )


@pytest.mark.parametrize("sides", ["own", "far", "both"])
def test_probabilities_in_the_place_of_logits(sides: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frames = {"own": answers("own"), "far": answers("far", sureness=1.0)}
    rows = []
    for spoilt in (False, True):
        for name, frame in frames.items():
            kept = as_probabilities(frame) if spoilt and sides in (name, "both") else frame
            kept.write_parquet(f"{name}.parquet")
        arguments = ["shift", "detection", "--inside", "own.parquet", "--outside", "far.parquet", "-o", "out", "-q"]
        assert run([*arguments, "--draws", "50"]) == 0
        found = json.loads((tmp_path / "out/report.json").read_text())["shift"]
        rows.append({row["score"]: row for row in found["detection"]})
    assert list(rows[1]) == ["max_softmax", "entropy"]
    for score, row in rows[1].items():
        for figure in ("auroc", "false_alarm_rate", "aupr_in"):
            assert row[figure] == pytest.approx(rows[0][score][figure])
    names = ["own", "far"] if sides == "both" else [sides]
    for name in names:
        assert states(found["notes"], "logits of toy on", name, "probabilities", "0 to 1", "sum of 1", "logarithms")
    missing = ("toy:", "max logit and energy", "logits", "probabilities", " and ".join(names))
    assert states(found["notes"], missing)


def store(folder: Path, dataset: str, n: int, center: float, d: int = 6, model: str = "net") -> None:
    """Runs in the store with features beside, whose last dimension follows from the first."""
    rng = np.random.default_rng([n, 3])
    gold = rng.integers(0, 2, n)
    features = rng.normal(center, 1, (n, d)).astype(np.float32)
    features[:, 0] += 3 * gold
    features[:, -1] = 2 * features[:, 0]
    logits = np.stack([-features[:, 0], features[:, 0]], axis=1)[np.newaxis]
    ids = np.array([f"{dataset}{i}" for i in range(n)])
    runs = Runs.from_arrays(
        gold=gold, logits=logits, seeds=[0], model=model, dataset=dataset, train_set="train", example_ids=ids,
        label_names=("no", "yes"),
    )  # fmt: skip
    write_runs(runs, folder)
    origin = Origin(model, "train", "paired", dataset, "", 0, 10)
    write_embeddings(Embeddings(origin, ids, {"text": features}), folder / "_jobs" / f"{dataset}.parquet")


def test_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name, n, center in (("train", 80, 0.0), ("own", 50, 0.0), ("far", 40, 6.0)):
        store(tmp_path / "runs", name, n, center)
    arguments = ["shift", "detection", "--inside", "own=runs", "--outside", "far=runs", "--train", "train=runs", "-q"]
    assert run([*arguments, "-o", "out", "--draws", "50"]) == 0
    found = json.loads((tmp_path / "out/report.json").read_text())["shift"]
    scores = {row["score"]: row for row in found["detection"]}
    assert scores["mahalanobis"]["auroc"] > 0.95
    train, own, far = (read_embeddings("runs", dataset=name)[0].vectors["text"] for name in ("train", "own", "far"))
    assert scores["knn"]["auroc"] == pytest.approx(auroc(score_knn(own, train), score_knn(far, train)))
    assert any("covariance is singular" in note and "shrunk" in note for note in found["notes"])
    for side in ("own", "far"):
        assert states(
            refused(*arguments[:-3], "--train", f"{side}=runs", "-q", "-o", "none"),
            "on training data",
            side,
            "--train NAME=RUNS",
        )
    # A folder's other runs are those on far alone.
    whole = [
        "shift",
        "detection",
        "--inside",
        "own=runs",
        "--outside",
        "runs",
        "--train",
        "train=runs",
        "-q",
        "--draws",
        "50",
    ]
    assert run([*whole, "-o", "whole"]) == 0
    again = json.loads((tmp_path / "whole/report.json").read_text())["shift"]
    assert [row["dataset"] for row in again["detection"]] == ["far"] * 6
    assert again["detection"] == found["detection"]
    assert states(again["notes"], "train is the training data")
    line = refused(*arguments, "--k", "81", "-o", "none")
    assert line == says("goldassay: k is", 81, 80, "training features", 1)


def test_texts_of_other_examples_are_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    for name in ("own", "far"):
        answers(name).write_parquet(tmp_path / f"{name}.parquet")
    texts(tmp_path / "gold.jsonl", answers("else"), "king and ship")
    sides = ("shift", "detection", "--inside", "own.parquet", "--outside", "far.parquet", "-q", "-o", "none")
    assert refused(*sides, "--test", "own=gold.jsonl") == says(
        "goldassay: gold.jsonl", "80 of the 80", "own", "'own-0'", "--test own=FILE"
    )


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz"])
def test_features_made_elsewhere(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    made = {}
    for name, n, center in (("train", 90, 0.0), ("own", 60, 0.0), ("far", 50, 0.7)):
        gold = rng.integers(0, 2, n)
        features = rng.normal(center, 1, (n, 5)) + 3 * np.eye(5)[gold]
        made[name] = features, gold
        if kind == "npz":
            np.savez(f"{name}.npz", logits=features[:, :2], features=features, gold=gold)
            continue
        frame = pl.DataFrame({"example_id": range(n), "label": gold, "logits": features[:, :2], "features": features})
        frame = frame.with_columns(pl.col("logits", "features").arr.to_list())
        if kind == "csv":
            text = [pl.Series(each, [str(row) for row in frame[each].to_list()]) for each in ("logits", "features")]
            frame.with_columns(text).write_csv(f"{name}.csv")
        else:
            frame.write_parquet(f"{name}.parquet")
    sides = ["--inside", f"own=own.{kind}", "--outside", f"far=far.{kind}"]
    arguments = ["shift", "detection", *sides, "-q", "--draws", "20", "-o", "out"]
    assert run([*arguments, "--train", f"train=train.{kind}", "--k", "3"]) == 0
    rows = json.loads((tmp_path / "out/report.json").read_text())["shift"]["detection"]
    found = {row["score"]: row["auroc"] for row in rows}
    train, gold = made["train"]
    lengths = {name: values / np.linalg.norm(values, axis=1, keepdims=True) for name, (values, _) in made.items()}
    nearest = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(lengths["train"])
    centers = np.stack([train[gold == code].mean(axis=0) for code in (0, 1)])
    inverse = np.linalg.inv(np.cov((train - centers[gold]).T, bias=True))
    plain: dict[str, list[np.ndarray]] = {"knn": [], "mahalanobis": []}
    for name in ("own", "far"):
        plain["knn"].append(nearest.kneighbors(lengths[name])[0][:, -1])
        apart = made[name][0][:, np.newaxis] - centers
        plain["mahalanobis"].append(np.einsum("nci,ij,ncj->nc", apart, inverse, apart).min(axis=1))
    for score, (inside, outside) in plain.items():
        assert found[score] == pytest.approx(roc_auc_score(np.repeat([0, 1], [60, 50]), np.r_[inside, outside]))
    line = refused(*arguments, "--train", f"own.{kind}")
    assert states(line, "on training data", "own", "judged")


def test_what_is_called_features_and_holds_none_is_passed_over(tmp_path: Path, refused: Callable[..., str]) -> None:
    for name in ("own", "far", "train"):
        answers(name).with_columns(features=pl.lit("long, negated")).write_parquet(tmp_path / f"{name}.parquet")
    sides = ("shift", "detection", "--inside", "own.parquet", "--outside", "far.parquet", "-q")
    assert refused(*sides, "--train", "train.parquet", "-o", "none") == says(
        "goldassay: train.parquet", "no features", "column", "array", "features"
    )


def test_models_that_lie_in_different_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, n, center in (("train", 80, 0.0), ("own", 50, 0.0), ("far", 40, 6.0)):
        store(tmp_path / "a", name, n, center)
        if name != "train":
            store(tmp_path / "b", name, n, center, model="bare")
    sides = ["--inside", "own=a", "--inside", "own=b", "--outside", "far=a", "--outside", "far=b"]
    arguments = ["shift", "detection", *sides, "-q", "--draws", "50", "--train"]
    assert run([*arguments, "train=a", "-o", "out"]) == 0
    found = json.loads((tmp_path / "out/report.json").read_text())["shift"]
    assert {row["model"] for row in found["detection"] if row["score"] == "knn"} == {"net"}
    assert {row["model"] for row in found["detection"]} == {"net", "bare"}
    assert states(found["notes"], "bare:", "no runs on its training data", "no distances")
    store(tmp_path / "c", "train", 80, 0.0, model="other")
    assert refused(*arguments, "train=c", "-o", "none") == says(
        "goldassay: c:", "training data", "of other", "none of bare, net", "--train"
    )


def test_bad_sides(tmp_path: Path, refused: Callable[..., str]) -> None:
    answers("own").write_parquet(tmp_path / "own.parquet")
    far = answers("far")
    far.write_parquet(tmp_path / "far.parquet")
    far.drop("logits").write_parquet(tmp_path / "bare.parquet")
    far.head(0).write_parquet(tmp_path / "empty.parquet")
    three = far.with_columns(pl.col("logits").list.concat(pl.lit([0.0])))
    three.write_parquet(tmp_path / "three.parquet")
    holed = far.with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(pl.lit([float("nan"), 1.0])).otherwise("logits").alias("logits")
    )
    holed.write_parquet(tmp_path / "holed.parquet")
    cases = {
        ("far.parquet", "--recall", "0"): "--recall is 0.0; give a number, more than 0 and at most 1",
        (
            "far.parquet",
            "--recall",
            "1.2",
        ): "--recall is 1.2; give a number, more than 0 and at most 1",
        ("far.parquet", "--scores", "knn"): "knn needs features of the training data; give the runs on it, with "
        "embeddings, with --train",
        (
            "far.parquet",
            "--scores",
            "odin",
        ): "there is no score 'odin'; choose of max_softmax, max_logit, energy, entropy, mahalanobis, knn",
        (
            "bare.parquet",
        ): "bare.parquet: the runs of toy on far have no logits or probabilities; detection needs them: "
        "keep them when the predictions are made",
        ("empty.parquet",): "empty.parquet: there are no examples in the table; give it at least one row",
        ("three.parquet",): "three.parquet: toy has logits of 2 classes on own and of 3 on far; give the logits of the "
        "same classifier for both",
        (
            "own.parquet",
        ): "own.parquet: the out-of-distribution runs are on own, as the others are; give runs on another "
        "dataset, or name it with --outside NAME=RUNS",
        ("far=own.parquet", "--draws", "0"): "--draws is 0; give a whole number, at least 1 and at most 1000000",
    }
    for (path, *options), said in cases.items():
        line = refused("shift", "detection", "--inside", "own.parquet", "--outside", path, *options, "-o", "report")
        assert line == f"goldassay: {said}"
        assert not (tmp_path / "report").exists()
    line = refused("shift", "detection", "--inside", "own.parquet", "--outside", "holed.parquet", "-o", "report")
    assert "holed.parquet" in line
    assert "not finite" in line or "NaN" in line
