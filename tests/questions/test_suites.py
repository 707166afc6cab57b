"""Models on several datasets and differences that do not matter, by every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.instability import compare, compare_totals, equivalent_within
from tests.cli.run_files import goldassay as shell
from tests.cli.run_files import refused
from tests.markdown_tables import table_of
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["refused", "shell"]

SIZES = {"small": 60, "middle": 150, "large": 300}


def answers(models: dict[str, float], n_runs: int = 3, seed: int = 0, luck: float = 0.0) -> pl.DataFrame:
    """A row a prediction: models of known skill on three datasets, each run of which has the same luck on all."""
    rng = np.random.default_rng(seed)
    lucks = {(name, run): rng.normal(0, luck) for name in models for run in range(n_runs)}
    tables = []
    for dataset, n in SIZES.items():
        ease = rng.random(n)
        for name, skill in models.items():
            for run in range(n_runs):
                right = (rng.random(n) + ease) / 2 < skill + lucks[name, run]
                tables.append(
                    pl.DataFrame(
                        {"example_id": [f"{dataset}{i}" for i in range(n)], "dataset": dataset, "model": name,
                         "seed": run, "score": right.astype(int)}
                    )
                )  # fmt: skip
    return pl.concat(tables)


def scores_of(table: pl.DataFrame, model: str) -> list[np.ndarray[Any, Any]]:
    return [
        table.filter((pl.col("model") == model) & (pl.col("dataset") == dataset))["score"].to_numpy().reshape(-1, n)
        for dataset, n in SIZES.items()
    ]


def test_totals_are_those_of_the_measure() -> None:
    table = answers({"alpha": 0.6, "beta": 0.5}, luck=0.02)
    report = goldassay.compare_models(table)
    a, b = scores_of(table, "alpha"), scores_of(table, "beta")
    pairs = list(zip(a, b, strict=True))
    (row,) = report.tables["totals"].to_dicts()
    for kind, weights in (("macro", [1, 1, 1]), ("micro", list(SIZES.values()))):
        wanted = compare_totals(pairs, weights, joint=True)
        assert row[f"{kind}_difference"] == pytest.approx(wanted.difference)
        assert (row[f"{kind}_low"], row[f"{kind}_high"]) == pytest.approx((wanted.interval.low, wanted.interval.high))
        assert row[f"{kind}_p"] == pytest.approx(wanted.p_value)
    assert row["joint"]
    # By the example, as the share over all of them.
    assert row["micro_a"] == pytest.approx(np.concatenate(a, axis=1).mean())
    by_dataset = report.tables["comparisons"]
    assert by_dataset["dataset"].to_list() == list(SIZES)
    for each, (one, other) in zip(by_dataset.to_dicts(), pairs, strict=True):
        assert each["difference"] == pytest.approx(compare(one, other).difference)
    figures = report.figures.filter(pl.col("id").str.contains("(macro|micro)_difference"))
    assert figures["value"].to_list() == pytest.approx([row["macro_difference"], row["micro_difference"]])
    assert report.verdicts["comparison"]["verdict"] == "distinguishable"


def test_rows_have_the_texts_of_the_datasets_that_were_given() -> None:
    table = answers({"alpha": 0.6, "beta": 0.5}, n_runs=2)
    gold = {
        name: Dataset.from_frame(
            {
                "id": [f"{name}{i}" for i in range(SIZES[name])],
                "premise": [f"premise of {name}{i}" for i in range(SIZES[name])],
                "hypothesis": [f"claim of {name}{i}" for i in range(SIZES[name])],
                "label": ["yes", "no"] * (SIZES[name] // 2),
            },
            name=name,
        )
        for name in ("small", "middle")
    }
    rows = goldassay.compare_models(table, test=gold).rows("comparison")
    # Exactly the examples on which the two differ, each with its own texts.
    means = table.group_by("dataset", "example_id", "model").agg(pl.col("score").mean())
    sides = means.pivot(on="model", index=["dataset", "example_id"]).filter(pl.col("alpha") != pl.col("beta"))
    assert set(rows["example_id"]) == set(sides["example_id"])
    for row in rows.iter_rows(named=True):
        known = row["dataset"] in gold
        assert row["premise"] == (f"premise of {row['example_id']}" if known else None)
        assert row["hypothesis"] == (f"claim of {row['example_id']}" if known else None)


def test_totals_are_those_that_the_harness_prints() -> None:
    """Groups by size are the mean of the examples, groups that are not the mean of the datasets."""
    folder = Path(__file__).parents[1] / "runs" / "fixtures" / "lm_eval_suite"
    report = goldassay.compare_models(folder)
    (row,) = report.tables["totals"].to_dicts()
    unweighted = json.loads((folder / "UNWEIGHTED.txt").read_text())
    for side in ("a", "b"):
        (results,) = (folder / row[side].replace("/", "__")).glob("results_*.json")
        group = json.loads(results.read_text())["groups"]["by_size"]
        assert row[f"micro_{side}"] == pytest.approx(group["acc,none"], abs=1e-12)
        assert row[f"macro_{side}"] == pytest.approx(unweighted[row[side]], abs=1e-12)
    assert row["n_examples"] == 47


def test_a_dataset_under_two_names_counts_once() -> None:
    """Counted twice, it would narrow the interval of the total by a third."""
    table = answers({"alpha": 0.6, "beta": 0.5})
    again = table.filter(pl.col("dataset") == "large").with_columns(dataset=pl.lit("large again"))
    once, twice = goldassay.compare_models(table), goldassay.compare_models(pl.concat([table, again]))
    assert twice.tables["totals"].to_dicts() == once.tables["totals"].to_dicts()
    assert any("large again has the scores of large" in note for note in twice.to_dict()["comparison"]["notes"])


def test_one_filter_of_a_task_is_compared_and_the_same_one_everywhere(tmp_path: Path) -> None:
    """A task that two filters read would count twice, and files may list them in either order."""
    fixture = Path(__file__).parents[1] / "runs" / "fixtures" / "lm_eval"
    for place, model in enumerate(("one", "two")):
        for file in fixture.glob("made-up__tiny/samples_*.jsonl"):
            lines = file.read_text().splitlines()
            target = tmp_path / f"made-up__{model}" / file.name
            target.parent.mkdir(exist_ok=True)
            target.write_text("\n".join(lines[::-1] if place else lines) + "\n")
    report = goldassay.compare_models(tmp_path)
    found = report.to_dict()["comparison"]
    datasets = found["datasets"]
    assert len(datasets) == 2
    assert sorted(name.split("/")[0] for name in datasets) == ["made_up_answer", "made_up_choice"]
    assert (
        sum("scores the same answers as made_up_answer/" in note for note in report.to_dict()["comparison"]["notes"])
        == 1
    )


def test_seeds_that_differ_by_dataset_are_not_one_run() -> None:
    table = answers({"alpha": 0.6, "beta": 0.5}).with_columns(
        pl.when(pl.col("dataset") == "small").then(pl.col("seed") + 10).otherwise("seed").alias("seed")
    )
    assert not goldassay.compare_models(table).tables["totals"]["joint"].item()


def test_the_order_of_seeds_in_files_does_not_matter() -> None:
    """The first run of one dataset is not the first of another because it stands there."""
    table = answers({"alpha": 0.6, "beta": 0.55}, luck=0.1, n_runs=4)
    (wanted,) = goldassay.compare_models(table).tables["totals"].to_dicts()
    is_large = pl.col("dataset") == "large"
    turned = pl.concat([table.filter(~is_large), table.filter(is_large).sort("seed", descending=True)])
    (found,) = goldassay.compare_models(turned).tables["totals"].to_dicts()
    assert found == pytest.approx(wanted)


def test_one_run_never_says_that_a_model_is_better() -> None:
    report = goldassay.compare_models(answers({"alpha": 0.8, "beta": 0.4}, n_runs=1))
    verdict = report.verdicts["comparison"]
    assert verdict["verdict"] == "not distinguishable"
    assert "Which model is better stays open" in verdict["evidence"]
    assert report.tables["totals"]["differ"].item()


def test_several_models_are_ranked_over_all_datasets(shell: Callable[..., Any], tmp_path: Path) -> None:
    answers({"alpha": 0.7, "beta": 0.69, "gamma": 0.4}, luck=0.01).write_parquet(tmp_path / "runs.parquet")
    done = shell("compare", "runs.parquet", "--json", "found.json", "-o", "out")
    assert done.status == 0, done.err
    found = json.loads((tmp_path / "found.json").read_text())
    assert [sorted(group) for group in found["groups"]] == [["alpha", "beta"], ["gamma"]]
    assert len(found["totals"]) == 3
    assert len(found["pairs"]) == 9
    assert "3 models on 3 datasets, 510 examples" in done.out
    assert "better than 0; place 3" in done.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "mean of the datasets" in page


def test_what_not_all_answered_is_left_out_and_said(shell: Callable[..., Any], tmp_path: Path) -> None:
    table = answers({"alpha": 0.7, "beta": 0.5})
    table = table.filter(~((pl.col("model") == "beta") & (pl.col("dataset") == "middle")))
    for name in ("alpha", "beta"):
        table.filter(pl.col("model") == name).write_csv(tmp_path / f"{name}.csv")
    table.write_csv(tmp_path / "both.csv")
    for places in (("both.csv",), ("alpha.csv", "beta.csv")):
        done = shell("compare", *places)
        assert done.status == 0, done.err
        assert "2 models on 2 datasets, 360 examples" in done.out
        assert states(done.out, "note", "Left out", "not all models", "middle")


def test_one_dataset_that_all_answered_is_compared_alone(shell: Callable[..., Any], tmp_path: Path) -> None:
    table = answers({"alpha": 0.7, "beta": 0.5})
    table = table.filter((pl.col("model") == "alpha") | (pl.col("dataset") == "large"))
    table.write_csv(tmp_path / "runs.csv")
    done = shell("compare", "runs.csv")
    assert done.status == 0, done.err
    assert "difference A - B" in done.out
    report = goldassay.compare_models(table)
    assert any(
        "not all models answered them: small, middle" in note for note in report.to_dict()["comparison"]["notes"]
    )


def test_no_dataset_in_common_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    table = answers({"alpha": 0.7, "beta": 0.5})
    table.filter((pl.col("model") == "alpha") == (pl.col("dataset") == "small")).write_csv(tmp_path / "runs.csv")
    line = refused("compare", "runs.csv")
    assert states(line, "all 2 models", "alpha answered small; beta answered")
    assert "--model" in line


def test_more_models_than_anybody_reads_are_refused() -> None:
    with pytest.raises(InputError, match="13 models on 3 datasets"):
        goldassay.compare_models(answers({f"m{i}": 0.5 for i in range(13)}, n_runs=1))


@pytest.mark.parametrize(("other", "margin", "word"), [(0.595, 20.0, "equivalent"), (0.3, 1.0, "beyond the margin")])
def test_a_difference_that_does_not_matter(other: float, margin: float, word: str) -> None:
    table = answers({"alpha": 0.6, "beta": other}).filter(pl.col("dataset") == "large")
    report = goldassay.compare_models(table, equivalent_within=margin)
    (row,) = report.tables["comparisons"].to_dicts()
    assert row["equivalence"].endswith(word)
    found = compare(*(scores_of(table, name)[-1] for name in ("alpha", "beta")))
    wanted = equivalent_within(found.difference, found.var_total, found.degrees_of_freedom, margin / 100)
    assert row["equivalence_p"] == pytest.approx(wanted.p_value)
    (shown,) = table_of(report, "Whether the models score the same")
    ends = [float(shown[name].replace("\N{MINUS SIGN}", "-")) for name in ("90 % interval from", "to")]
    assert shown["margin"] == f"{margin:.2f}"
    assert ends == pytest.approx([100 * wanted.interval.low, 100 * wanted.interval.high], abs=0.0051)
    said = " ".join(report.to_dict()["comparison"]["sentences"])
    assert (
        "they score within 20.00 points" if word == "equivalent" else "they differ by more than 1.00 points"
    ) in said


def test_equivalence_of_one_run_each_is_of_these_runs() -> None:
    table = answers({"alpha": 0.6, "beta": 0.6}, n_runs=1)
    for chosen in ("large", None):
        report = goldassay.compare_models(table, dataset=chosen, equivalent_within=30)
        said = " ".join(report.to_dict()["comparison"]["sentences"])
        assert states(said, "alpha and beta: equivalent", "30.00 points")


def scored(path: Path, right: dict[tuple[str, str, int], int], n: dict[str, int]) -> None:
    """The first so many examples of each model, dataset and seed are right, from another one on for each seed."""
    pl.DataFrame(
        {"model": model, "dataset": dataset, "seed": seed, "example_id": f"{dataset}{(i + 7 * seed) % n[dataset]}",
         "score": int(i < many)}
        for (model, dataset, seed), many in right.items() for i in range(n[dataset])
    ).write_csv(path)  # fmt: skip


def test_every_door_says_the_same_of_a_margin(shell: Callable[..., Any], tmp_path: Path) -> None:
    """One run each, far apart: the terminal had "worse" where the page had "open"."""
    scored(tmp_path / "runs.csv", {("A", "x", 0): 40, ("B", "x", 0): 160}, {"x": 200})
    done = shell("compare", "runs.csv", "--equivalent-within", "3", "-o", "out", "--json", "found.json")
    assert done.status == 0, done.err
    said = "these runs differ by more than 3.00 points (two one-sided tests, p "
    assert f"equivalence        {said}" in done.out
    assert f"A and B: {said}" in (tmp_path / "out" / "report.html").read_text()
    assert f"A and B: {said}" in (tmp_path / "out" / "report.md").read_text()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["comparison"]["pairs"][0]["equivalence"] == "beyond the margin"
    assert json.loads((tmp_path / "found.json").read_text())["equivalence"]["word"] == "beyond the margin"


def test_a_margin_is_exceeded_only_where_the_correction_leaves_a_difference(
    shell: Callable[..., Any], tmp_path: Path
) -> None:
    """By itself A is 5 points and more from B, and of three models the correction takes that back."""
    right = {("A", "x", seed): many for seed, many in enumerate((95, 107, 119))}
    right |= {("B", "x", seed): many for seed, many in enumerate((128, 129, 129))}
    right |= {("C", "x", seed): many for seed, many in enumerate((106, 110, 116))}
    scored(tmp_path / "runs.csv", right, {"x": 200})
    found = goldassay.compare_models(str(tmp_path / "runs.csv"), equivalent_within=1e-3).tables["comparisons"]
    assert any(p > 0.05 and (low > 0 or high < 0) for p, low, high in found.select(
        "adjusted_p", "equivalence_low", "equivalence_high"
    ).iter_rows())  # fmt: skip
    assert not found.filter((pl.col("adjusted_p") > 0.05) & (pl.col("equivalence") == "beyond the margin")).height
    done = shell("compare", "runs.csv", "--equivalent-within", "0.001")
    assert "is open, since the two cannot be ranked" in done.out
    assert "better" not in "".join(line for line in done.out.splitlines() if "one-sided" in line)


SIMPSON = {("A", "big", seed): 860 + seed for seed in range(3)} | {("B", "big", seed): 1020 + seed for seed in range(3)}
SIMPSON |= {("A", "small", seed): 80 + seed for seed in range(3)} | {
    ("B", "small", seed): 50 + seed for seed in range(3)
}


def test_a_headline_says_where_the_examples_surely_disagree(shell: Callable[..., Any], tmp_path: Path) -> None:
    scored(tmp_path / "runs.csv", SIMPSON, {"big": 2000, "small": 100})
    done = shell("compare", "runs.csv", "-o", "out", "--json", "found.json")
    assert done.status == 0, done.err
    (headline,) = [line for line in done.out.splitlines() if "is better than" in line]
    assert headline.startswith("A is better than B by ")
    assert states(headline, "mean of 2 datasets", "B is better", "over the examples, by")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["verdicts"]["comparison"]["evidence"] == headline
    assert headline in report["comparison"]["sentences"]
    assert headline in (tmp_path / "out" / "report.html").read_text()
    assert report["comparison"]["totals"][0]["disagree"] is True
    assert json.loads((tmp_path / "found.json").read_text())["totals"][0]["disagree"] is True


def test_pairs_behind_the_first_disagree_too(tmp_path: Path) -> None:
    """C is far ahead of both on both datasets; A and B are the pair of the test above."""
    right = {**SIMPSON} | {("C", "big", seed): 1900 + seed for seed in range(3)}
    right |= {("C", "small", seed): 95 + seed for seed in range(3)}
    scored(tmp_path / "runs.csv", right, {"big": 2000, "small": 100})
    evidence = goldassay.compare_models(str(tmp_path / "runs.csv")).verdicts["comparison"]["evidence"]
    assert evidence.startswith("C is better than all others.")
    assert states(evidence, "A is ahead of B", "mean of the datasets", "B is better", "over the examples, by")


def test_a_headline_does_not_cry_disagreement(tmp_path: Path) -> None:
    report = goldassay.compare_models(answers({"alpha": 0.7, "beta": 0.5}))
    assert "over the examples, by" not in report.verdicts["comparison"]["evidence"]
    assert report.tables["totals"]["disagree"].to_list() == [False]


def test_both_totals_are_corrected_alike(shell: Callable[..., Any], tmp_path: Path) -> None:
    """Of datasets of one size both totals are one number, and so are their p-values."""
    firsts = {"A": 100, "B": 108, "C": 125}
    right = {(name, "x", seed): firsts[name] + 3 * seed for name in firsts for seed in range(3)}
    right |= {(name, "y", seed): firsts[name] + 6 - 3 * seed for name in firsts for seed in range(3)}
    scored(tmp_path / "runs.csv", right, {"x": 200, "y": 200})
    done = shell("compare", "runs.csv")
    totals = [line.split("  ")[-1] for line in done.out.splitlines() if line.startswith("  mean of the")]
    assert len(totals) == 6
    assert totals[::2] == totals[1::2]
    assert "of means over 3 pairs, of datasets over 2 datasets" in done.out
    for row in goldassay.compare_models(str(tmp_path / "runs.csv")).tables["totals"].to_dicts():
        assert row["micro_adjusted_p"] == pytest.approx(row["adjusted_p"])
        assert row["micro_adjusted_p"] >= row["micro_p"]


def test_a_margin_is_above_zero(refused: Callable[..., str], tmp_path: Path) -> None:
    answers({"alpha": 0.7, "beta": 0.5}).write_csv(tmp_path / "runs.csv")
    assert "--equivalent-within" in refused("compare", "runs.csv", "--equivalent-within", "0")


def test_forty_models_are_ranked_and_not_paired(shell: Callable[..., Any], tmp_path: Path) -> None:
    table = answers({f"m{i:02}": 0.3 + i / 100 for i in range(20)}, n_runs=2).filter(pl.col("dataset") == "small")
    table.write_parquet(tmp_path / "runs.parquet")
    done = shell("compare", "runs.parquet")
    assert done.status == 0, done.err
    assert "of 190; all of them with --json FILE or -o DIR" in done.out
    assert len(done.out.splitlines()) < 80
