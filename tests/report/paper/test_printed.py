"""Anybody's figures in the tables of the papers: cells again by pandas, and printed cells from released runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from goldassay.leakage import peco
from goldassay.shift import false_alarm_rate
from tests.cli.run_files import goldassay, refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]

LABELS = ("entailment", "neutral", "contradiction")
# Of BERT-B in Tables 9 and 1 of Zhou et al. 2020.
SIX = {
    "snli-hard": ("81.30 ± 0.40", 0.95), "stress-antonymy": ("64.96 ± 0.89", 1.46),
    "stress-length": ("81.79 ± 0.34", 1.39), "stress-negation": ("55.37 ± 0.65", 2.70),
    "stress-numerical": ("39.02 ± 3.76", 13.65), "stress-spell": ("76.91 ± 0.28", 1.04),
}  # fmt: skip


def grid(path: Path) -> pd.DataFrame:
    """The table of a Markdown file, as texts."""
    lines = [line.strip("|").split("|") for line in path.read_text("utf-8").splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip().replace("\\", "") for cell in line] for line in lines]
    return pd.DataFrame(rows, columns=head)


def laid(folder: Path, name: str, **keys: str) -> pd.DataFrame:
    """The cells of a table with these keys."""
    cells = pd.read_csv(folder / "paper" / f"{name}.csv", dtype={"k": str, "pca": str})
    for key, value in keys.items():
        cells = cells[cells[key] == value]
    return cells


def value(folder: Path, name: str, **keys: str) -> float:
    return float(laid(folder, name, **keys)["value"].item())


def predictions(seed: int, rights: dict[str, float], n: int, runs: int, **named: Any) -> pd.DataFrame:
    """A row a prediction of each set, right with some probability."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, right in rights.items():
        for run in range(runs):
            for at in range(n):
                label = LABELS[at % 3]
                said = label if rng.random() < right else LABELS[int(rng.integers(3))]
                rows.append({"model": "net", "seed": run, "dataset": dataset, "example_id": f"{dataset}{at}",
                             "label": label, "prediction": said, **named})  # fmt: skip
    return pd.DataFrame(rows)


def test_six_released_rows_are_those_of_the_paper(goldassay: Command, data_dir: Path, tmp_path: Path) -> None:
    table = data_dir / "predictions/instability_bert_base/eval_results.tsv"
    done = goldassay("instability", table, "--reference", "mnli", "--paper-tables", "-o", "report", "--quiet")
    assert done.status == 0, done.err
    folder = tmp_path / "report"
    spread = grid(folder / "paper/zhou2020_table9.md").iloc[0]
    for name, (printed, ratio) in SIX.items():
        assert spread[name] == printed
        assert round(value(folder, "zhou2020_table1", dataset=name), 2) == ratio
    # Accuracies by seed have no parts of a variance: the file says so, and there is no table.
    assert "it needs predictions" in (folder / "paper/zhou2020_table3.md").read_text("utf-8")
    assert not (folder / "paper/zhou2020_table3.csv").exists()


def test_runs_as_the_tables_of_zhou(goldassay: Command, tmp_path: Path) -> None:
    given = predictions(1, {"std": 0.8, "an_alysis": 0.5}, 60, 5)
    given.to_csv(tmp_path / "runs.csv", index=False)
    done = goldassay("instability", "runs.csv", "--reference", "std", "--paper-tables", "-o", "report", "--quiet")
    assert done.status == 0, done.err
    folder = tmp_path / "report"
    right = given.assign(score=(given["label"] == given["prediction"]).astype(float))
    scores = right.groupby(["dataset", "seed"])["score"].mean().unstack("dataset")
    rounded = (100 * scores.std(ddof=0)).round(2)
    for name in ("std", "an_alysis"):
        of = {"model": "net", "dataset": name}
        cell = laid(folder, "zhou2020_table9", **of).iloc[0]
        assert cell[["value", "sd", "n_runs"]].tolist() == pytest.approx(
            [100 * scores[name].mean(), 100 * scores[name].std(), 5]
        )
        assert value(folder, "zhou2020_table1", **of) == pytest.approx(rounded[name] / rounded["std"], abs=1e-9)
        single = right[right["dataset"] == name].pivot_table(index="seed", columns="example_id", values="score")
        total, alone = scores[name].var(), (single.var() / 60**2).sum()
        parts = {
            "sqrt_total_variance": total,
            "sqrt_independent_variance": alone,
            "sqrt_abs_covariance": abs(total - alone),
        }
        for part, variance in parts.items():
            found = value(folder, "zhou2020_table3", **of, statistic=part)
            assert found == pytest.approx(100 * variance**0.5)
    # Names are theirs, words of the table ours.
    shown = grid(folder / "paper/zhou2020_table3.md")
    assert set(shown["dataset"]) == {"std", "an_alysis"}
    assert "sqrt total variance" in shown


def test_runs_without_a_reference_have_no_table_1(goldassay: Command, tmp_path: Path) -> None:
    predictions(1, {"std": 0.8}, 30, 3).to_csv(tmp_path / "runs.csv", index=False)
    assert goldassay("instability", "runs.csv", "--paper-tables", "-o", "report", "--quiet").status == 0
    assert "as the reference" in (tmp_path / "report/paper/zhou2020_table1.md").read_text("utf-8")
    assert sorted(path.name for path in (tmp_path / "report/paper").glob("*.csv")) == [
        "zhou2020_table3.csv", "zhou2020_table9.csv",
    ]  # fmt: skip


def test_runs_as_the_tables_of_saxon(goldassay: Command, tmp_path: Path) -> None:
    n = 150
    given = pd.concat(
        predictions(seed, {"toy": right}, n, 2, condition=condition)
        for seed, (condition, right) in enumerate({"paired": 0.9, "hypothesis_only": 0.5}.items())
    )
    given.to_csv(tmp_path / "runs.csv", index=False)
    vectors = np.random.default_rng(0).normal(size=(n, 8))
    np.save(tmp_path / "cls.npy", vectors)
    columns = {"example_id": [f"toy{at}" for at in range(n)], "label": [LABELS[at % 3] for at in range(n)]}
    texts = pd.DataFrame({**columns, "premise": "a man runs", "hypothesis": [f"he moves {at}" for at in range(n)]})
    texts.to_json(tmp_path / "toy.jsonl", orient="records", lines=True)
    done = goldassay("leakage", "measure", "--runs", "runs.csv", "--test", "toy.jsonl", "--embeddings",
                     "hypothesis=cls.npy", "--n-clusters", "10", "--components", "0", "--grid", "--no-plane",
                     "--paper-tables", "-o", "report", "--quiet")  # fmt: skip
    assert done.status == 0, done.err
    folder = tmp_path / "report"
    wide = given.pivot_table(index=["example_id", "label", "seed"], columns="condition", values="prediction",
                             aggfunc="first").reset_index()  # fmt: skip
    whole, part = ((wide[name] == wide["label"]) for name in ("paired", "hypothesis_only"))
    assert value(folder, "saxon2023_table2", metric="paired") == pytest.approx(100 * whole.mean())
    assert value(folder, "saxon2023_table2", metric="majority") == pytest.approx(100 / 3)
    wanted = {
        "single_accuracy": part.mean(),
        "recovered": part.mean() / whole.mean(),
        "improvement": part.mean() - 1 / 3,
    }
    for metric, share in wanted.items():
        assert value(folder, "saxon2023_table3", metric=metric) == pytest.approx(100 * share), metric
    # Every run of the part beside every run of the whole.
    crossed = [
        (one == other).mean()
        for one in (wide.loc[wide["seed"] == seed, "hypothesis_only"].to_numpy() for seed in (0, 1))
        for other in (wide.loc[wide["seed"] == seed, "paired"].to_numpy() for seed in (0, 1))
    ]
    assert value(folder, "saxon2023_table4", metric="agreement") == pytest.approx(100 * np.mean(crossed))
    codes = np.array([at % 3 for at in range(n)])
    for divergence, times in (("squared_l2", 1), ("kl", 100)):
        score = peco(vectors, codes, 25, 0, divergence=divergence, convention="paper", seed=0).score
        cell = value(folder, f"saxon2023_table5_{divergence}", k="25", pca="0")
        assert cell == pytest.approx(times * score)


def test_runs_as_the_tables_of_hendrycks(goldassay: Command, tmp_path: Path) -> None:
    rights = {"own": 0.9, "far": 0.6}
    for at, (name, right) in enumerate(rights.items()):
        predictions(at, {name: right}, 80, 3).to_csv(tmp_path / f"{name}.csv", index=False)
    done = goldassay("shift", "generalization", "--runs", "own=own.csv", "--runs", "far=far.csv", "--in-distribution",
                     "own", "--paper-tables", "-o", "gap", "--quiet")  # fmt: skip
    assert done.status == 0, done.err
    for name in rights:
        given = pd.read_csv(tmp_path / f"{name}.csv")
        share = (given["label"] == given["prediction"]).mean()
        assert value(tmp_path / "gap", "hendrycks2020_table1", dataset=name, model="net") == pytest.approx(100 * share)


def test_detection_as_figure_4_of_hendrycks(goldassay: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    sure = {"own": rng.beta(6, 2, 90), "far": rng.beta(3, 3, 90)}
    for name, confidence in sure.items():
        logits = np.log(np.stack([confidence, 1 - confidence], axis=1)).tolist()
        rows = {"model": "net", "seed": 0, "dataset": name, "label": "a", "logits": logits}
        table = pd.DataFrame({**rows, "prediction": ["ab"[first < second] for first, second in logits]})
        table["example_id"] = [f"{name}{at}" for at in range(90)]
        table.to_parquet(tmp_path / f"{name}.parquet")
    sides = ("--inside", "own.parquet", "--outside", "far.parquet")
    done = goldassay("shift", "detection", *sides, "--paper-tables", "-o", "report", "--quiet")
    assert done.status == 0, done.err
    anomalous = {name: -np.maximum(confidence, 1 - confidence) for name, confidence in sure.items()}
    folder = tmp_path / "report"
    rate = false_alarm_rate(anomalous["own"], anomalous["far"])
    assert value(folder, "hendrycks2020_figure4", model="net") == pytest.approx(100 * rate)
    assert value(folder, "hendrycks2020_figure4", model="chance") == pytest.approx(95, abs=1)


def test_a_dataset_as_the_tables_of_liu(goldassay: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    given_away = dict(zip(LABELS, ("outdoors", "sad", "nobody"), strict=True))

    def made(n: int, first: int) -> pd.DataFrame:
        rows = []
        for at in range(first, first + n):
            label = LABELS[at % 3]
            word = given_away[label] if rng.random() < 0.5 else given_away[LABELS[int(rng.integers(3))]]
            filler = " ".join(f"w{int(each)}" for each in rng.integers(40, size=4))
            rows.append({"premise": f"p{at} {filler}", "hypothesis": f"{filler} {word}", "label": label})
        return pd.DataFrame(rows)

    train, test = made(600, 0), made(150, 600)
    for name, part in (("train", train), ("test", test)):
        part.to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    asked = ("artifacts", "mine", "train.jsonl", "--test", "test.jsonl", "--paper-tables", "-o", "mined")
    done = goldassay(*asked)
    assert done.status == 0, done.err
    assert "mined/paper/liu2020_table1.md" in done.out
    folder = tmp_path / "mined"
    held = train[train["hypothesis"].str.split().map(lambda words: "nobody" in words)]
    share = (held["label"] == "contradiction").mean()
    cell = laid(folder, "liu2020_table1", pattern="nobody", pattern_type="unigram").iloc[0]
    assert cell["statistic"] == "p_label_given_pattern"
    assert (cell["label"], cell["value"]) == ("contradiction", pytest.approx(100 * share))
    majority = (test["label"] == train["label"].mode()[0]).mean()
    assert value(folder, "liu2020_table2", model="majority class") == pytest.approx(100 * majority)
    assert value(folder, "liu2020_table2", model="Pattern") > 50
    easy, hard = (laid(folder, "liu2020_table3", example=kind) for kind in ("easy", "hard"))
    assert set(easy["label"]) == set(easy["gold label"])
    assert not set(hard["label"]) & set(hard["gold label"])
    assert "leave out --memory" in refused(*asked, "--memory", "1GB")
