"""The crossing of the four questions against what each room says by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from goldassay.artifacts import mine_patterns
from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from goldassay.instability import decompose_by_group
from goldassay.leakage import score_clusters
from goldassay.questions.leakage.cluster_overlap import KnownOfExamples, overlap_clusters, typical_examples

NAMES = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    """Four clusters of 60 sentences: one sleeps and contradicts, one is outside and entails, two tell nothing."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(4), 60)
    gold = rng.integers(0, 3, 240)
    gold[:54], gold[60:110] = 2, 0
    acts = ("is sleeping", "is outside", "eats food", "sees a dog")
    texts = [f"Person number {i} {acts[c]}." for i, c in enumerate(clusters)]
    points = np.eye(4)[clusters] + 0.05 * rng.standard_normal((240, 4))
    return {
        "clusters": clusters, "gold": gold, "texts": texts, "points": points,
        "scores": (rng.random((5, 240)) < 0.6).astype(float), "probabilities": rng.random((3, 240)),
        "classes": np.array(["easy", "hard", "conflicting", "uncovered"])[rng.integers(0, 4, 240)],
    }  # fmt: skip


@pytest.fixture(scope="module")
def crossed(case: dict[str, Any]) -> Any:
    patterns = mine_patterns(case["texts"], case["gold"], min_count=8, label_names=NAMES).significant().select(0.7)
    known = KnownOfExamples(
        texts=case["texts"], corpus=tokenize(case["texts"]), classes=case["classes"],
        gold_probabilities=case["probabilities"], confidence="3 epochs", correct={"paired": case["scores"]},
        patterns=patterns,
    )  # fmt: skip
    return overlap_clusters(score_clusters(case["clusters"], case["gold"]), case["points"], NAMES, known)


def test_clusters_say_what_they_are_about(crossed: Any) -> None:
    first = crossed.table.row(0, named=True)
    assert (first["cluster"], first["label"], first["biased"]) == (0, "contradiction", True)
    assert crossed.words[0][0]["word"] == "sleeping"
    assert crossed.words[1][0]["word"] == "outside"
    assert any("sleeping" in item["pattern"] and item["count"] == 60 for item in crossed.patterns[0])
    assert crossed.patterns[2] == []
    assert crossed.biased_share == pytest.approx(0.5)


def test_each_column_is_what_its_room_says(case: dict[str, Any], crossed: Any) -> None:
    by_group = decompose_by_group(case["scores"], case["clusters"].astype(str))
    confidence = case["probabilities"].mean(axis=0)
    for row in crossed.table.iter_rows(named=True):
        inside = case["clusters"] == row["cluster"]
        assert row["variance_share"] == pytest.approx(by_group.shares_of_variance[row["cluster"]])
        assert row["accuracy_paired"] == pytest.approx(case["scores"][:, inside].mean())
        assert row["easy"] == pytest.approx(np.mean(case["classes"][inside] == "easy"))
        assert row["confidence"] == pytest.approx(confidence[inside].mean())
        assert row["others_confidence"] == pytest.approx(confidence[~inside].mean())
        assert row["variability"] == pytest.approx(case["probabilities"][:, inside].std(axis=0).mean())
    biased = case["clusters"] < 2
    for histogram, rows in ((crossed.biased_histogram, biased), (crossed.other_histogram, ~biased)):
        assert histogram.tolist() == [int(np.sum((confidence[rows] * 50).astype(int) == i)) for i in range(50)]
    divergences = score_clusters(case["clusters"], case["gold"]).example_divergences
    found = stats.pearsonr(confidence, divergences).statistic
    assert crossed.confidence_correlation == pytest.approx(found)
    clusters = np.unique(case["clusters"])
    left = np.arctanh(
        [
            stats.pearsonr(*(side[case["clusters"] != each] for side in (confidence, divergences)))[0]
            for each in clusters
        ]
    )
    reach = stats.t.ppf(0.975, left.size - 1) * np.sqrt((left.size - 1) * left.var())
    bounds = np.tanh([np.arctanh(found) - reach, np.arctanh(found) + reach])
    assert (crossed.confidence_low, crossed.confidence_high) == pytest.approx(bounds)


def test_typical_examples_are_nearest_and_distinct(case: dict[str, Any], crossed: Any) -> None:
    inside = np.flatnonzero(case["clusters"] == 2)
    distances = np.linalg.norm(case["points"][inside] - case["points"][inside].mean(axis=0), axis=1)
    assert crossed.examples[2] == inside[np.argsort(distances)][:5].tolist()
    assert typical_examples(np.zeros((4, 2)), [0, 0, 0, 1], 0, ["A dog", "a  dog", "A cat", "x"]) == [0, 2]
    assert typical_examples(np.zeros((1, 2)), [0], 3, ["x"]) == []


def test_what_was_not_asked_is_left_out(case: dict[str, Any]) -> None:
    scored = score_clusters(case["clusters"], case["gold"])
    found = overlap_clusters(scored, case["points"], NAMES, KnownOfExamples())
    assert found.words == found.patterns == found.examples == {}
    assert np.isnan(found.confidence_correlation)
    assert "easy" not in found.table.columns


def test_one_run_and_equal_runs_have_no_share_of_variance(case: dict[str, Any]) -> None:
    scored = score_clusters(case["clusters"], case["gold"])
    for scores, expected in ((case["scores"][:1], None), (np.repeat(case["scores"][:1], 2, axis=0), True)):
        table = overlap_clusters(scored, case["points"], NAMES, KnownOfExamples(correct={"paired": scores})).table
        assert ("variance_share" in table.columns) is (expected is not None)
        if expected:
            assert table["variance_share"].is_nan().all()


def test_other_examples_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="3 texts and 240"):
        overlap_clusters(
            score_clusters(case["clusters"], case["gold"]), case["points"], NAMES, KnownOfExamples(texts=["a"] * 3)
        )
