"""The study's tables beside the printed ones, from runs that are made up, by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

from goldassay.artifacts import assign_difficulty, sizes_by_threshold
from goldassay.lab.papers.artifacts.protocol import BESIDE, OF_THE_PAPER, Trained, mined_patterns
from goldassay.lab.papers.artifacts.tables import coverage
from goldassay.lab.papers.printed import printed_table
from goldassay.questions.artifacts.inputs import mine_dataset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.lab.papers.recipe import Comparison
    from tests.lab.papers.artifacts.conftest import Made


@pytest.fixture(scope="module")
def masks(made: Made) -> dict[str, NDArray[np.bool_]]:
    test = made.work.sets[made.corpus.test]
    patterns = mined_patterns(made.corpus, made.work).select(made.corpus.threshold)
    classes = assign_difficulty(test.texts("hypothesis"), test.examples["label"].to_list(), patterns).classes
    return {"full": np.ones(len(test), bool), "easy": classes == "easy", "hard": classes == "hard"}


def table(made: Made, name: str) -> Comparison:
    return next(each for each in made.findings.comparisons if each.name == name)


def cell(comparison: Comparison, **keys: str) -> dict[str, Any]:
    chosen = comparison.cells.filter(*(pl.col(key) == value for key, value in keys.items()))
    assert chosen.height == 1, (comparison.name, keys)
    return chosen.row(0, named=True)


def printed(name: str, **keys: str) -> float:
    chosen = printed_table(name).filter(*(pl.col(key) == value for key, value in keys.items()))
    assert chosen.height == 1
    return float(chosen["value"][0])


def test_accuracies_are_means_of_the_runs(made: Made, masks: dict[str, NDArray[np.bool_]]):
    for name, keys, model in (
        ("liu2020_table4_SNLI_test", {}, Trained("InferSent")),
        ("liu2020_table5_SNLI_test", {"lambda": "0.8", "mode": "debias"}, Trained("InferSent", "0.8", "debias")),
        ("liu2020_table5_SNLI_test", {"lambda": "0.8", "mode": "rand"}, Trained("InferSent", "0.8", "rand")),
        ("liu2020_table5_SNLI_test", {"lambda": "1.0", "mode": "all"}, Trained("InferSent")),
        ("liu2020_table7_SNLI_test", {}, Trained("dInferSent+Guidance")),
    ):
        keys = {"model": model.model, **keys}
        rows = made.rows(model)
        for subset, mask in masks.items():
            found = cell(table(made, name), subset=subset, **keys)
            assert found["ours"] == pytest.approx(100 * rows[:, mask].mean())
            assert found["low"] <= found["ours"] <= found["high"]
            assert found["n_runs"] == len(rows) == 3
            assert found["printed"] == printed(
                name.removesuffix("_SNLI_test"), subset=subset, dataset="SNLI test", **keys
            )
        if "table4" not in name:
            gap = rows[:, masks["easy"]].mean() - rows[:, masks["hard"]].mean()
            assert cell(table(made, name), subset="easy-hard", **keys)["ours"] == pytest.approx(100 * gap)


def test_rows_of_the_table_of_debiasing(made: Made):
    rows = table(made, "liu2020_table7_SNLI_test").cells["model"].unique(maintain_order=True).to_list()
    assert rows == ["InferSent", "InferSent+DS", *OF_THE_PAPER, *BESIDE]
    without = cell(table(made, "liu2020_table7_SNLI_test"), model="InferSent+DS", subset="hard")
    assert without["ours"] == cell(
        table(made, "liu2020_table5_SNLI_test"), model="InferSent", mode="debias", subset="hard"
    )["ours"]  # fmt: skip
    assert without["printed"] == 60.0
    assert cell(table(made, "liu2020_table7_SNLI_test"), model=BESIDE[0], subset="hard")["printed"] is None


def test_what_debiasing_wins_and_costs(made: Made, masks: dict[str, NDArray[np.bool_]]):
    changes = table(made, "changes_SNLI")
    plain, mixin = made.rows(Trained("InferSent")), made.rows(Trained("InferSent+learned mixin"))
    for subset, mask in masks.items():
        found = cell(changes, model="InferSent+learned mixin", subset=subset)
        assert found["ours"] == pytest.approx(100 * (mixin[:, mask].mean() - plain[:, mask].mean()))
        assert found["printed"] is None
    of_paper = cell(changes, model="dInferSent+Guidance+Reweight", subset="hard")
    assert of_paper["printed"] == pytest.approx(67.3 - 58.9)
    assert cell(changes, model="InferSent+DS", subset="full")["printed"] == pytest.approx(82.9 - 84.5)
    assert "InferSent" not in changes.cells["model"].to_list()


def test_what_removal_wins_and_costs(made: Made, masks: dict[str, NDArray[np.bool_]]):
    found = cell(table(made, "removal_SNLI"), model="InferSent", subset="hard")
    debias, random = (made.rows(Trained("InferSent", "0.8", mode)) for mode in ("debias", "rand"))
    assert found["ours"] == pytest.approx(100 * (debias[:, masks["hard"]].mean() - random[:, masks["hard"]].mean()))
    assert found["printed"] == pytest.approx(60.0 - 56.6)
    assert not found["doubted"]


def test_patterns_and_sizes(made: Made):
    patterns = mined_patterns(made.corpus, made.work)
    strongest = table(made, "liu2020_table1_SNLI").cells
    frame = patterns.to_frame()
    known = strongest.filter(pl.col("ours").is_not_null(), pl.col("pattern").is_in(frame["pattern"].to_list()))
    assert known.height >= 25
    for row in known.to_dicts():
        mined = frame.filter(pl.col("pattern") == row["pattern"]).row(0, named=True)
        share = mined["counts"][patterns.label_names.index(row["label"])] / mined["support"]
        assert row["ours"] == pytest.approx(100 * share)
    assert set(printed_table("liu2020_table1").filter(pl.col("dataset") == "SNLI")["pattern"]) <= set(
        strongest["pattern"]
    )
    left = table(made, "liu2020_sizes_down-sampled")
    sizes = sizes_by_threshold(made.work.sets["SNLI train"], patterns)
    ours = dict(left.cells.filter(pl.col("ours").is_not_null()).select("lambda", "ours").iter_rows())
    assert ours == pytest.approx({str(t): 100 * share for t, share in sizes.select("threshold", "share").iter_rows()})
    assert cell(left, dataset="SNLI", **{"lambda": "0.5"})["printed"] == 4.0
    assigned = made.work.sets[made.corpus.test]
    classes = assign_difficulty(
        assigned.texts("hypothesis"), assigned.examples["label"].to_list(), patterns.select(made.corpus.threshold)
    ).summary
    for subset, of_paper in (("hard", 327), ("easy", 1760)):
        found = cell(table(made, "liu2020_sizes"), split="test", subset=subset)
        assert (found["ours"], found["printed"]) == (classes[subset], of_paper)


def test_classifiers_stand_beside_their_printed_ones(made: Made):
    cells = table(made, "liu2020_table2").cells.filter(pl.col("dataset") == "SNLI")
    test = made.work.sets[made.corpus.test]
    majority = made.work.sets["SNLI train"].examples["label"].mode(maintain_order=True)[0]
    found = {row["model"]: row for row in cells.to_dicts()}
    assert set(found) == {"majority class", "fasttext", "Unigram", "Pattern"}
    assert found["Pattern"]["printed"] == 64.4
    assert found["majority class"]["ours"] == pytest.approx(100 * (test.examples["label"] == majority).mean(), abs=0.6)


def test_every_row_of_runs_is_in_the_table_of_gaps(made: Made):
    gaps = made.findings.tables["gaps"]
    assert gaps.height == len({(model, train.split(" rand")[0]) for train, model, _ in made.correct}) + 1
    row = gaps.filter(pl.col("model") == "InferSent", pl.col("mode") == "rand").row(0, named=True)
    assert row["gap"] == pytest.approx(row["easy"] - row["hard"])


def test_how_many_longer_patterns_hold_a_shorter_one(made: Made):
    """Pattern by pattern and place by place, a skipped token being any."""
    train = made.work.sets[made.corpus.train]
    shorter = mined_patterns(made.corpus, made.work)
    sides = {"train": train, "patterns": shorter, "corpus": made.corpus}
    cells = coverage(cast("Any", SimpleNamespace(**sides))).cells
    found = dict(cells.select("statistic", "ours").iter_rows())
    longer = mine_dataset(train, replace(made.corpus.bounds, clusters="none", max_tokens=5, max_gap=5)).select(0.5)
    known = [each.split() for each in shorter.select(0.5).to_frame()["pattern"]]

    def holds(pattern: list[str], part: list[str]) -> bool:
        return any(
            all(token in ("#", pattern[start + at]) for at, token in enumerate(part))
            for start in range(len(pattern) - len(part) + 1)
        )

    held = [any(holds(each.split(), part) for part in known) for each in longer.to_frame()["pattern"]]
    assert found == {"patterns": len(held), "covered": pytest.approx(100 * sum(held) / len(held))}
    assert len(held) > len(known)
    assert sum(held) > 0
