"""`goldassay leakage` as its users run it: from a dataset, from what others left, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.cli.run_files import goldassay as here
from tests.cli.run_files import refused
from tests.end_to_end.conftest import LABELS, Outcome, goldassay
from tests.stated import says, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "here", "refused"]

ACTS = {
    0: ("is outside", "is near a person"),
    1: ("is happy today", "waits for a friend"),
    2: ("is asleep", "is at home"),
}


def leaky_rows(n: int, seed: int = 0) -> list[dict[str, str]]:
    """Pairs whose hypothesis gives the label away in two of three rows."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        gold = int(rng.integers(3))
        act = ACTS[gold if rng.random() < 0.67 else int(rng.integers(3))][int(rng.integers(2))]
        rows.append(
            {
                "id": f"{seed}-{i}",
                "premise": f"A person in coat {rng.integers(60)} walks along street {rng.integers(9)}.",
                "hypothesis": f"Somebody with {rng.integers(50)} coins {act}.",
                "label": LABELS[gold],
            }
        )
    return rows


def given_away(rows: list[dict[str, str]]) -> float:
    """Share of rows of which the hypothesis names the label."""
    names = [any(act in row["hypothesis"] for act in ACTS[LABELS.index(row["label"])]) for row in rows]
    return sum(names) / len(names)


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write_jsonl(tmp_path / "train.jsonl", leaky_rows(400)),
        write_jsonl(tmp_path / "test.jsonl", leaky_rows(240, 1)),
    )


def write_evidence(folder: Path, n: int = 240, condition: str = "", ids: str = "1-{}") -> None:
    """Runs of the pair and the hypothesis alone on the test set's rows."""
    gold = np.array([LABELS.index(row["label"]) for row in leaky_rows(240, 1)])[:n]
    rng = np.random.default_rng(3)
    for name, share in (("paired", 0.8), ("hypothesis_only", 0.6)):
        if condition in ("", name):
            logits = 2.0 * np.eye(3)[np.where(rng.random((2, n)) < share, gold, (gold + 1) % 3)]
            runs = Runs.from_arrays(
                gold=gold, logits=logits + rng.normal(0, 0.1, logits.shape), seeds=[0, 1], label_names=LABELS,
                example_ids=[ids.format(i) for i in range(n)], model="net", dataset="test", condition=name,
            )  # fmt: skip
            write_runs(runs, folder)


def test_from_a_dataset(goldassay: Command, data: tuple[Path, Path], tmp_path: Path) -> None:
    done = goldassay(
        "leakage", "measure", "train.jsonl", "--test", "test.jsonl", "--seeds", "2", "--n-clusters", "8",
        "--conditions", "hypothesis_only", "--conditions", "length", "-o", "report", "--json", "copy.json",
        "--figures", "svg",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "UNSOUND" in done.out
    assert done.out.splitlines()[-1] == "report/report.html"
    document = json.loads((tmp_path / "report/report.json").read_text())
    assert document == json.loads((tmp_path / "copy.json").read_text())
    found = document["leakage"]
    rows = {row["condition"]: row for row in found["conditions"]}
    assert list(rows) == ["paired", "hypothesis_only", "length"]
    assert rows["hypothesis_only"]["improvement_low"] > 0.2 > rows["length"]["improvement"]
    bits = {row["condition"]: row["information"] for row in found["information"]}
    assert bits["hypothesis_only"] > 0.3 > bits["length"]
    assert {row["role"] for row in found["peco"]} == {"premise", "hypothesis"}
    hypothesis = found["peco"][0]
    assert (hypothesis["role"], hypothesis["p_value"] < 0.01) == ("hypothesis", True)
    card = found["clusters"][0]
    assert {"outside", "near", "happy", "waits", "asleep", "home", "at"} & {item["word"] for item in card["words"]}
    # Both readers found the rule that the rows were made by, and decide alike: there is no variance to share.
    assert (rows["paired"]["accuracy"], rows["paired"]["sd"]) == (pytest.approx(given_away(leaky_rows(240, 1))), 0)
    assert card["variance_share"] is None
    clusters = pl.read_parquet(tmp_path / "report/tables/clusters.parquet")
    assert clusters.filter(pl.col("role") == "hypothesis")["size"].sum() == 240
    examples = pl.read_parquet(tmp_path / "report/tables/examples.parquet")
    assert {"pvi_hypothesis_only", "hypothesis_cluster", "hypothesis_biased", "difficulty"} <= set(examples.columns)
    assert (tmp_path / "report/paper").is_dir()
    page = (tmp_path / "report/report.html").read_text()
    assert "Clusters that give their label away" in page
    assert "Map of the sentences" in page


def test_clusters_share_the_variance_of_readers_that_differ(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "few.jsonl", leaky_rows(60))
    arguments = ["few.jsonl", "--test", "test.jsonl", "--seeds", "4", "--conditions", "hypothesis_only"]
    assert run(["leakage", "measure", *arguments, "--n-clusters", "8", "--no-plane", "-q", "-o", "report"]) == 0
    found = json.loads((tmp_path / "report/report.json").read_text())["leakage"]
    assert {row["condition"]: row["sd"] for row in found["conditions"]}["paired"] > 0
    assert found["clusters"][0]["variance_share"] is not None
    table = pl.read_parquet(tmp_path / "report/tables/clusters.parquet")
    assert table.filter(role="hypothesis")["variance_share"].sum() == pytest.approx(1)


def test_rows_to_rewrite_first(data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["leakage", "suggest", "train.jsonl", "--shares", "0.1,0.4", "--test", "test.jsonl", "-q"]) == 0
    document = json.loads((tmp_path / "goldassay-suggest/report.json").read_text())
    found = document["leakage"]["suggestion"]
    after_dropping = {(row["rows"], row["share"]): row["improvement"] for row in found["after_dropping"]}
    before = found["before"]["improvement"]
    assert before - after_dropping["suggested", 0.4] > max(0.2, 2 * (before - after_dropping["random", 0.4]))
    assert after_dropping["suggested", 0.4] < after_dropping["suggested", 0.1] < before
    table = pl.read_parquet(tmp_path / "goldassay-suggest/tables/rows.parquet")
    assert table.height == 400
    assert table["bits"].is_sorted(descending=True)
    given_away = [
        any(act in text for act in ACTS[LABELS.index(label)])
        for text, label in table.head(100).select("hypothesis", "label").iter_rows()
    ]
    assert np.mean(given_away) == 1


def test_from_what_others_left(data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_evidence(tmp_path / "runs")
    np.save(tmp_path / "cls.npy", np.random.default_rng(0).standard_normal((240, 8)))
    arguments = ["leakage", "measure", "--runs", "runs", "--test", "test.jsonl", "--embeddings", "hypothesis=cls.npy"]
    assert run([*arguments, "--n-clusters", "6", "--no-plane", "-q", "-o", "report"]) == 0
    found = json.loads((tmp_path / "report/report.json").read_text())["leakage"]
    assert [row["condition"] for row in found["conditions"]] == ["paired", "hypothesis_only"]
    (agreement,) = found["agreement"]
    assert 0.4 < agreement["agreement"] < 0.7
    (score,) = found["peco"]
    assert abs(score["score"]) < 0.03
    assert "token relevance agreement" in found["undefined"]


def test_models_of_several_names_are_called_by_their_condition(
    data: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = leaky_rows(240, 1)
    correct = {name: (rng.random(240) < share).astype(int) for name, share in (("whole", 0.8), ("h_only", 0.6))}
    gold = [row["label"] for row in rows]
    pl.DataFrame({"row": range(240), "gold_label": gold, **correct}).write_csv("correct.tsv", separator="\t")
    arguments = ["leakage", "measure", "--runs", "correct.tsv", "--test", "test.jsonl", "--align", "position"]
    assert (
        run([*arguments, "--models", "paired=whole", "--models", "hypothesis_only=h_only", "-q", "-o", "report"]) == 0
    )
    document = json.loads((tmp_path / "report/report.json").read_text())
    # Not after the file of the runs, which name no dataset.
    assert document["title"] == "Leakage in test"
    assert document["leakage"]["probe"] == says(
        "Measured from the predictions", "whole (paired)", "h_only (hypothesis_only)"
    )
    verdict = document["verdicts"]["leakage"]
    assert verdict["evidence"].startswith("The hypothesis alone gives ")
    assert "There is one run" in stated_by(verdict)
    # Nothing was trained, mined or clustered.
    assert set(document["settings"]) == {"seed", "verdicts"}


@pytest.mark.slow
def test_several_datasets_side_by_side(here: Command, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 2)):
        write_jsonl(tmp_path / f"{name}.jsonl", leaky_rows(250, seed))
        write_jsonl(tmp_path / f"{name}-test.jsonl", leaky_rows(90, seed + 1))
    # Two test sets of one training set.
    sets = ("a=a.jsonl", "b=b.jsonl", "other=a.jsonl")
    tests = ("a=a-test.jsonl", "b=b-test.jsonl", "other=b-test.jsonl")
    done = here(
        "leakage", "measure", *sets, *(part for name in tests for part in ("--test", name)), "--seeds", "2",
        "--n-clusters", "4", "--no-plane", "--conditions", "hypothesis_only", "--figures", "svg", "--latex",
        "-o", "report",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert [line for line in done.err.splitlines() if "reading the data" in line] == [
        f"{name}: reading the data done" for name in ("a", "b", "other")
    ]
    found = json.loads((tmp_path / "report/report.json").read_text())["leakage"]
    families = {row["dataset"]: row["family"] for row in found["datasets"]}
    assert families["a"] == families["other"]
    assert len(set(families.values())) == 2
    assert {(row["n"], row["n_families"], row["low"]) for row in found["correlations"]} == {(3, 2, None)}
    assert found["uncorrelated"] == [{"x": "relevance", "y": "accuracy"}]
    paper = {path.name for path in (tmp_path / "report/paper").iterdir()}
    assert paper == {
        "datasets-paired-accuracy.svg", "datasets-agreement-recovered.svg", "datasets-peco-recovered.svg",
        "datasets-peco-improvement.svg", "leakage-datasets.tex",
    }  # fmt: skip
    for name in ("a", "b", "other"):
        assert {path.name for path in (tmp_path / "report" / name / "paper").iterdir()} == {
            "conditions.svg", "conditions.tex",
        }  # fmt: skip
    page = (tmp_path / "report/report.html").read_text()
    assert states(page, "Not correlated", "three parts", "token relevance agreement")


MEASURE = ("leakage", "measure", "-q", "--no-plane")


def test_evidence_of_another_dataset_is_refused(
    refused: Callable[..., str], data: tuple[Path, Path], tmp_path: Path
) -> None:
    write_evidence(tmp_path / "runs")
    given = (*MEASURE, "--runs", "runs", "--test", "test.jsonl")
    np.save(tmp_path / "short.npy", np.zeros((239, 4)))
    assert "shape (239, 4), and there are 240 examples" in refused(*given, "--embeddings", "hypothesis=short.npy")
    other = pl.DataFrame({"example_id": [f"x{i}" for i in range(240)], "embedding": [[1.0, 2.0]] * 240})
    other.write_parquet(tmp_path / "other.parquet")
    assert "of other examples" in refused(*given, "--embeddings", "hypothesis=other.parquet")
    holes = np.zeros((240, 4))
    holes[7, 1] = np.nan
    np.save(tmp_path / "nan.npy", holes)
    assert "NaN or infinity, first that of '1-7'" in refused(
        *given, "--embeddings", "hypothesis=nan.npy", "--n-clusters", "5"
    )
    np.save(tmp_path / "whole.npy", np.random.default_rng(0).normal(size=(240, 4)))
    assert "240 examples cannot make 300 clusters" in refused(
        *given, "--embeddings", "hypothesis=whole.npy", "--n-clusters", "300"
    )
    write_evidence(tmp_path / "apart", condition="paired")
    write_evidence(tmp_path / "apart", n=200, condition="hypothesis_only")
    line = refused(*MEASURE, "--runs", "apart")
    assert states(line, "hypothesis_only cover 200 examples", "--missing leave-out", "--align intersect")


def test_what_cannot_be_measured_is_refused(
    refused: Callable[..., str], data: tuple[Path, Path], tmp_path: Path
) -> None:
    single = [{"text": row["hypothesis"], "label": row["label"]} for row in leaky_rows(120)]
    write_jsonl(tmp_path / "single.jsonl", single)
    assert states(
        refused(*MEASURE, "single.jsonl", "--conditions", "hypothesis_only"), "'hypothesis_only'", "roles text"
    )
    assert "single texts" in refused("leakage", "suggest", "-q", "single.jsonl")
    unlabelled = [{key: value for key, value in row.items() if key != "label"} for row in leaky_rows(60, 2)]
    write_jsonl(tmp_path / "unlabelled.jsonl", unlabelled)
    assert "label" in refused(*MEASURE, "train.jsonl", "--test", "unlabelled.jsonl")
    assert "240 examples cannot make 500 clusters" in refused(
        *MEASURE, "train.jsonl", "--test", "test.jsonl", "--n-clusters", "500", "--seeds", "2",
        "--conditions", "hypothesis_only",
    )  # fmt: skip
    assert "neither training data nor evidence" in refused(*MEASURE)
    line = refused(*MEASURE, "train.jsonl", "--models", "paired=x")
    assert states(line, "--models goes with runs", "--runs")
    assert "ROLE=FILE" in refused(*MEASURE, "--runs", "train.jsonl", "--embeddings", "x.npy")
    assert "no such file" in refused(*MEASURE, "gone.jsonl")
    sets = (*MEASURE, "train.jsonl", "test.jsonl")
    assert "say of which set it is, as in --test train=FILE" in refused(*sets, "--test", "test.jsonl")
    assert "choose from train, test" in refused(*sets, "--test", "tset=test.jsonl")
    assert "name each with NAME=TRAIN and --test NAME=FILE" in refused(*sets[:-1], "--test", "a", "--test", "b")


def test_runs_of_several_models_ask_which(refused: Callable[..., str], tmp_path: Path) -> None:
    for model in ("a", "b"):
        runs = Runs.from_arrays(
            gold=[0, 1, 2] * 4, predictions=[[0, 1, 1] * 4], label_names=LABELS, model=model, dataset="toy"
        )
        write_runs(runs, tmp_path / "runs")
    line = refused(*MEASURE, "--runs", "runs")
    assert "runs of 2 models: a, b" in line
    assert "--model a" in line
    assert "--models" in line


@pytest.mark.slow
def test_a_network_leaves_embeddings_and_relevances(
    goldassay: Command, data: tuple[Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    given = (
        "leakage", "measure", "train.jsonl", "--test", "test.jsonl", "--model", "ngram_average", "--seeds", "2",
        "--conditions", "hypothesis_only", "--n-clusters", "6", "--no-plane", "-q",
    )  # fmt: skip
    (tmp_path / "goldassay.toml").write_text("[training]\nrows = 150\nchanges = {epochs = 2}\n")
    assert goldassay(*given, "-o", "report").status == 0
    made = [json.loads(path.read_text()) for path in (tmp_path / "report/runs/_jobs").rglob("settings.json")]
    assert len(made) == 6
    assert {(each["rows"], each["recipe"]["epochs"]) for each in made} == {(150, 2)}
    found = json.loads((tmp_path / "report/report.json").read_text())["leakage"]
    assert [row["condition"] for row in found["conditions"]] == ["paired", "hypothesis_only", "empty"]
    assert found["information"][0]["null"] == "a model trained on empty input"
    (relevance,) = found["relevance"]
    assert (relevance["n_runs"], relevance["condition"]) == (2, "hypothesis_only")
    assert 0 < relevance["agreement_recommended"] <= 1
    assert {row["role"] for row in found["peco"]} == {"premise", "hypothesis"}
    assert len(found["peco"][0]["other_models"]) == 1
    weights = {path: path.stat().st_mtime_ns for path in (tmp_path / "report/runs").rglob("*.safetensors")}
    again = goldassay(*given, "-o", "report")
    assert again.status == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "report/runs").rglob("*.safetensors")} == weights
    # Rows that share a text are one cluster only where the texts are given.
    stored = ("train.jsonl", "--test", "test.jsonl", "--runs", "report/runs", "--n-clusters", "6")
    by_folder = goldassay("leakage", "measure", *stored, "-q", "-o", "second")
    assert by_folder.status == 0, by_folder.err
    second = json.loads((tmp_path / "second/report.json").read_text())["leakage"]
    assert second["peco"][0]["score"] == pytest.approx(found["peco"][0]["score"])
