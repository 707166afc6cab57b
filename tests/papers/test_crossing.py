"""The crossing of the four questions, run small, and its claims from made-up figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.core.progress import Steps
from goldassay.instability import compare
from goldassay.papers import open_study, run_study
from goldassay.papers.crossing.conclusions import conclude
from goldassay.papers.crossing.debiasing import FULL, HARD, MISLED, UNSTABLE
from goldassay.papers.crossing.examples import CLASSES, TOGETHER, Examples
from goldassay.papers.crossing.variance import measure_variance, variance_table
from goldassay.runs import read_runs
from tests.papers.written import check_written
from tests.training.in_place import done_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.papers.outcome import StudyReport


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyReport, Path]:
    folder = tmp_path_factory.mktemp("crossing")
    # In processes of their own they are in the tests of the command.
    with done_in_place():
        return run_study(open_study("crossing", "smoke", folder, Steps())), folder


def test_the_study_runs_as_a_whole(study: tuple[StudyReport, Path], tmp_path: Path):
    study[0].save(tmp_path)
    check_written(tmp_path, "crossing")


def test_examples_are_classed_as_their_runs_say(study: tuple[StudyReport, Path]):
    report, folder = study
    examples = report.tables["examples"]
    runs = read_runs(folder / "runs", model="plain", dataset="SNLI", condition="paired")
    final = runs.final()
    assert examples["example_id"].to_list() == final.example_ids.tolist()
    half = final.scores[: final.n_runs // 2]
    unstable = [len(set(half[:, i])) > 1 for i in range(final.n_examples)]
    assert examples["unstable"].to_list() == unstable
    logits, gold = np.asarray(runs.logits, float)[final.n_runs // 2 :], np.asarray(runs.gold)
    confidence = np.array(
        [
            np.mean([np.exp(z[gold[i]]) / np.exp(z).sum() for z in logits[:, :, i].reshape(-1, logits.shape[-1])])
            for i in range(final.n_examples)
        ]
    )
    late = examples["late"].to_numpy()
    assert late.sum() == final.n_examples // 3
    assert confidence[late].max() <= confidence[~late].min() + 1e-6
    assert examples["accuracy_over_runs"].to_numpy() == pytest.approx(final.scores.mean(axis=0))
    assert set(examples.filter("easy")["difficulty"]) == {"easy"}
    assert examples["leaky"].any()


def test_a_leaky_cluster_leans_to_a_label(study: tuple[StudyReport, Path]):
    examples = study[0].tables["examples"]
    share = examples["gold"].value_counts(normalize=True)
    general = {row["gold"]: row["proportion"] for row in share.iter_rows(named=True)}
    for _, inside in examples.group_by("cluster"):
        own = {gold: (inside["gold"] == gold).mean() for gold in general}
        divergence = sum((own[gold] - general[gold]) ** 2 for gold in general)
        assert (divergence > 0.25) == inside["leaky"].all() == inside["leaky"].any()


def test_no_two_classes_of_the_same_runs_are_compared(study: tuple[StudyReport, Path]):
    pairs = {frozenset(pair) for pair in study[0].tables["overlaps"].select("first", "second").iter_rows()}
    assert not any(pair <= TOGETHER for pair in pairs)
    assert frozenset({"easy", "hard"}) not in pairs
    assert len(pairs) == len(CLASSES) * (len(CLASSES) - 1) // 2 - 3 - 1
    matrix = study[0].tables["overlap"]
    there = {(row["class"], row["with"]): row["ours"] for row in matrix.to_dicts()}
    assert all(there[second, first] == pytest.approx(value, nan_ok=True) for (first, second), value in there.items())


def test_objectives_are_held_against_plain_training(study: tuple[StudyReport, Path]):
    report, folder = study
    own, plain = (
        read_runs(folder / "runs", model=model, dataset="SNLI", condition="paired", checkpoint="last").scores
        for model in ("product of experts", "plain")
    )
    row = report.tables["debiasing"].filter(pl.col("measure") == FULL).row(0, named=True)
    found = compare(own, plain)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx(
        (own.mean() - plain.mean(), found.interval.low, found.interval.high)
    )
    mixed = [np.mean([0 < column.mean() < 1 for column in scores[: len(own)].T]) for scores in (own, plain)]
    row = report.tables["debiasing"].filter(pl.col("measure") == UNSTABLE).row(0, named=True)
    assert (row["own"], row["plain"]) == pytest.approx(tuple(mixed))


def pair(first: str, second: str, ratio: float | None, q: float) -> dict[str, Any]:
    return {
        "first": first, "second": second, "ratio": ratio, "low": 0.5, "high": 2.0, "q_value": q, "observed": 3,
        "expected": 2.0, "reason": "" if ratio is not None else "nothing has both",
    }  # fmt: skip


def made(ratio: float | None, q: float) -> pl.DataFrame:
    names = [("easy", "leaky"), ("easy", "given away"), ("hard", "unstable"), ("leaky", "unstable"), ("hard", "late")]
    rows = [pair(*each, ratio, q) for each in (*names, ("hard", "unfamiliar"))]
    return pl.DataFrame(rows, infer_schema_length=None)


def shares(low: float, high: float) -> pl.DataFrame:
    row = {"class": "leaky", "share_of_examples": 0.3, "share_of_variance": 0.5, "low": low, "high": high}
    return pl.DataFrame([row])


def test_runs_that_do_not_differ_on_a_class_give_no_interval():
    scores = np.zeros((4, 8))
    scores[[0, 2], 5] = scores[3, 5:7] = scores[:2, 3] = 1.0
    names = dict.fromkeys(CLASSES, np.zeros(8, bool)) | {"easy": np.arange(8) > 4, "leaky": np.arange(8) < 2}
    ids, codes = np.arange(8).astype(str), np.zeros(8, int)
    table = measure_variance(Examples(ids, codes, names, ids, codes, scores, codes[None], ()), 0)
    easy, leaky = table.to_dicts()
    assert easy["class"] == "easy"
    part, whole = scores[:, 5:].sum(axis=1), scores.sum(axis=1)
    assert easy["share_of_variance"] == pytest.approx(np.cov(part, whole)[0, 1] / whole.var(ddof=1))
    assert easy["low"] < easy["share_of_variance"] < easy["high"]
    assert (leaky["share_of_examples"], leaky["share_of_variance"]) == (0.25, 0.0)
    assert (leaky["low"], leaky["high"]) == (None, None)
    found = conclude(made(1.0, 1.0), table, pl.DataFrame([change(HARD, 0, 1)]))
    variance = next(each for each in found if each.name == "Variance")
    assert variance.standing == "not shown"
    assert "Leaky examples are 25.0\N{NO-BREAK SPACE}% of all" in variance.evidence
    assert "too few runs differ there" in variance.evidence
    cells = variance_table(table).cells.filter(pl.col("class") == "leaky", pl.col("measure") == "% of the variance")
    assert cells.row(0, named=True)["low"] is None


def test_runs_that_score_alike_have_no_variance_to_share():
    alike = shares(0.4, 0.6).with_columns(share_of_variance=pl.lit(float("nan")))
    found = conclude(made(1.0, 1.0), alike, pl.DataFrame([change(HARD, 0, 1)]))
    variance = next(each for each in found if each.name == "Variance")
    assert (variance.standing, variance.value) == ("not measured", None)


@pytest.mark.parametrize(
    ("observed", "expected", "said"),
    [(1, 0.3, "1 example is easy and leaky, where chance within labels would give 0.3 ("),
     (12, 469.99, "12 examples are easy and leaky, where chance within labels would give 470 (")],
)  # fmt: skip
def test_the_evidence_of_two_classes_reads_well(observed: int, expected: float, said: str):
    pairs = made(2.0, 0.01).with_columns(observed=pl.lit(observed), expected=pl.lit(expected))
    assert conclude(pairs, shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))[0].evidence.startswith(said)


def change(measure: str, low: float, high: float) -> dict[str, Any]:
    return {"objective": "o", "measure": measure, "difference": (low + high) / 2, "low": low, "high": high}


@pytest.mark.parametrize(
    ("ratio", "q", "standing"),
    [(2.0, 0.01, "held"), (0.5, 0.01, "did not hold"), (2.0, 0.2, "not shown"), (None, 1.0, "not measured")],
)
def test_a_claim_on_two_classes_stands_by_its_ratio(ratio: float | None, q: float, standing: str):
    found = conclude(made(ratio, q), shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))
    assert {each.standing for each in found[:6]} == {standing}


@pytest.mark.parametrize(
    ("ends", "standing"), [((0.4, 0.6), "held"), ((0.1, 0.2), "did not hold"), ((0.2, 0.6), "not shown")]
)
def test_the_claim_on_variance_stands_by_its_interval(ends: tuple[float, float], standing: str):
    found = conclude(made(1.0, 1.0), shares(*ends), pl.DataFrame([change(HARD, 0, 1)]))
    assert next(each for each in found if each.name == "Variance").standing == standing


@pytest.mark.parametrize(
    ("hard", "misled", "standing"),
    [
        ((0.1, 0.2), (-0.2, -0.1), "held"),
        ((0.1, 0.2), (-0.2, 0.1), "not shown"),
        ((-0.2, -0.1), (-0.2, -0.1), "did not hold"),
        ((0.1, 0.2), (0.1, 0.2), "did not hold"),
    ],
)
def test_a_claim_on_an_objective_needs_both_its_sides(
    hard: tuple[float, float], misled: tuple[float, float], standing: str
):
    rows = pl.DataFrame([change(HARD, *hard), change(MISLED, *misled), change(FULL, -0.1, 0.0)])
    found = conclude(made(1.0, 1.0), shares(0.2, 0.6), rows)
    assert found[-1].standing == standing
    assert "accuracy" in found[-1].evidence
