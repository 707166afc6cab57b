"""The crossing of the four questions, run small, and its claims from made-up figures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.core.progress import Steps
from goldassay.instability import compare
from goldassay.lab.papers.crossing import (
    FULL,
    HARD,
    MISLED,
    UNSTABLE,
    conclude,
    measure_overlaps,
    measure_variance,
    variance_table,
)
from goldassay.lab.papers.crossing.examples import CLASSES, MNLI, SNLI, Examples, class_released
from goldassay.lab.papers.running import open_study, run_study
from goldassay.runs.reading import read_runs
from tests.lab.papers.written import check_written
from tests.lab.training.in_place import done_in_place
from tests.stated import states

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.lab.papers.running import StudyReport


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
    unstable = [len(set(final.scores[:, i])) > 1 for i in range(final.n_examples)]
    assert examples["unstable"].to_list() == unstable
    logits, gold = np.asarray(runs.logits, float), np.asarray(runs.gold)
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
    assert not any(pair <= {"late", "wavering", "unfamiliar"} for pair in pairs)
    assert frozenset({"easy", "hard"}) not in pairs
    assert len(pairs) == len(CLASSES) * (len(CLASSES) - 1) // 2 - 3 - 1
    for name, column in (("overlap", "ratio"), ("overlap_at_equal_difficulty", "equal_ratio")):
        there = {(row["class"], row["with"]): row["ours"] for row in study[0].tables[name].to_dicts()}
        for row in study[0].tables["overlaps"].to_dicts():
            for pair in ((row["first"], row["second"]), (row["second"], row["first"])):
                assert there[pair] == pytest.approx(row[column], nan_ok=True)


def test_difficulty_takes_runs_that_define_neither_class(study: tuple[StudyReport, Path]):
    rows = {(row["first"], row["second"]): row for row in study[0].tables["overlaps"].to_dicts()}
    # Of five seeds two say what is unstable and two what is late.
    held_out = {("easy", "leaky"): 5, ("hard", "unstable"): 3, ("unstable", "late"): 1}
    assert {pair: rows[pair]["n_held_out"] for pair in held_out} == held_out
    assert rows["unstable", "late"]["equal_reason"].startswith("it takes 5 runs")


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


def pair(first: str, second: str, equal: tuple[float, float, float] | None) -> dict[str, Any]:
    ratio, low, high = equal or (None, None, None)
    return {
        "runs": "here", "first": first, "second": second, "observed": 3.0, "expected": 2.0, "ratio": 1.5, "low": 0.5,
        "high": 2.0, "equal_ratio": ratio, "equal_low": low, "equal_high": high, "n_held_out": 7,
        "reason": "" if equal else "no example is in both classes",
        "equal_reason": "" if equal else "no example is in both classes",
    }  # fmt: skip


ONCE = (1.0, 0.5, 2.0)


def made(equal: tuple[float, float, float] | None) -> pl.DataFrame:
    names = [("easy", "leaky"), ("easy", "given away"), ("hard", "unstable"), ("leaky", "unstable"), ("hard", "late")]
    rows = [pair(*each, equal) for each in (*names, ("hard", "unfamiliar"))]
    return pl.DataFrame(rows, infer_schema_length=None)


def shares(low: float, high: float) -> pl.DataFrame:
    row = {"class": "leaky", "share_of_examples": 0.3, "share_of_variance": 0.5, "low": low, "high": high}
    return pl.DataFrame([row])


def test_runs_that_do_not_differ_on_a_class_give_no_interval():
    scores = np.zeros((4, 8))
    scores[[0, 2], 5] = scores[3, 5:7] = scores[:2, 3] = 1.0
    names = dict.fromkeys(CLASSES, np.zeros(8, bool)) | {"easy": np.arange(8) > 4, "leaky": np.arange(8) < 2}
    ids, codes = np.arange(8).astype(str), np.zeros(8, int)
    table = measure_variance(Examples(codes, names, {}, ids, scores, ids, ids, codes, codes[None], ()), 0)
    easy, leaky = table.to_dicts()
    assert easy["class"] == "easy"
    part, whole = scores[:, 5:].sum(axis=1), scores.sum(axis=1)
    assert easy["share_of_variance"] == pytest.approx(np.cov(part, whole)[0, 1] / whole.var(ddof=1))
    assert easy["low"] < easy["share_of_variance"] < easy["high"]
    assert (leaky["share_of_examples"], leaky["share_of_variance"]) == (0.25, 0.0)
    assert (leaky["low"], leaky["high"]) == (None, None)
    found = conclude(made(ONCE), table, pl.DataFrame([change(HARD, 0, 1)]))
    variance = next(each for each in found if each.name == "Variance")
    assert variance.standing == "not shown"
    assert "Leaky examples are 25.0\N{NO-BREAK SPACE}% of all" in variance.evidence
    assert "too few runs differ there" in variance.evidence
    cells = variance_table(table).cells.filter(pl.col("class") == "leaky", pl.col("measure") == "% of the variance")
    assert cells.row(0, named=True)["low"] is None


def test_runs_that_score_alike_have_no_variance_to_share():
    alike = shares(0.4, 0.6).with_columns(share_of_variance=pl.lit(float("nan")))
    found = conclude(made(ONCE), alike, pl.DataFrame([change(HARD, 0, 1)]))
    variance = next(each for each in found if each.name == "Variance")
    assert (variance.standing, variance.value) == ("not measured", None)


@pytest.mark.parametrize(
    ("observed", "said"),
    [(1.0, "1 example is easy and leaky, 1.50 times"), (3.25, "3.2 examples are"), (12.25, "12 examples are")],
)
def test_the_evidence_of_two_classes_has_both_ratios(observed: float, said: str):
    pairs = made((1.1, 0.9, 1.3)).with_columns(observed=pl.lit(observed))
    found = conclude(pairs, shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))[0]
    assert found.evidence.startswith(said)
    assert states(found.evidence, "[0.50, 2.00].", ..., "equal difficulty", "7 runs")
    assert (found.value, found.low, found.high) == (1.1, 0.9, 1.3)


def test_what_difficulty_is_not_told_for_is_not_measured():
    """However far the ratio to chance lies from one: it may be difficulty alone."""
    pairs = made((3.0, 2.5, 3.5)).with_columns(low=pl.lit(1.4), equal_reason=pl.lit("it takes 5 runs"))
    found = conclude(pairs, shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))[0]
    assert (found.standing, found.value) == ("not measured", None)
    assert "it takes 5 runs" in found.evidence


def test_released_runs_have_conclusions_of_their_own():
    pairs = pl.concat([made((2.0, 1.5, 2.5)), made(ONCE).with_columns(runs=pl.lit("BERT"))])
    found = {each.name: each.standing for each in conclude(pairs, shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))}
    assert (found["Unstable where hard"], found["Unstable where hard, BERT"]) == ("held", "not shown")


def change(measure: str, low: float, high: float) -> dict[str, Any]:
    return {"objective": "o", "measure": measure, "difference": (low + high) / 2, "low": low, "high": high}


@pytest.mark.parametrize(
    ("equal", "standing"),
    [
        ((2.0, 1.1, 3.0), "held"),
        ((0.5, 0.4, 0.9), "did not hold"),
        ((2.0, 0.9, 3.0), "not shown"),
        (None, "not measured"),
    ],
)
def test_a_claim_on_two_classes_stands_by_its_ratio(equal: tuple[float, float, float] | None, standing: str):
    found = conclude(made(equal), shares(0.4, 0.6), pl.DataFrame([change(HARD, 0, 1)]))
    assert {each.standing for each in found[:6]} == {standing}


@pytest.mark.parametrize(
    ("ends", "standing"), [((0.4, 0.6), "held"), ((0.1, 0.2), "did not hold"), ((0.2, 0.6), "not shown")]
)
def test_the_claim_on_variance_stands_by_its_interval(ends: tuple[float, float], standing: str):
    found = conclude(made(ONCE), shares(*ends), pl.DataFrame([change(HARD, 0, 1)]))
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
    found = conclude(made(ONCE), shares(0.2, 0.6), rows)
    assert found[-1].standing == standing
    assert "accuracy" in found[-1].evidence


@pytest.fixture(scope="module")
def released(data_dir: Path) -> dict[str, Any]:
    work: Any = SimpleNamespace(
        file=lambda *names: next((data_dir / name for name in names if (data_dir / name).exists()), None)
    )
    found = class_released(work)
    if set(found) != {SNLI, MNLI}:
        pytest.skip("no released runs")
    return found


def test_released_runs_are_classed(released: dict[str, Any]):
    assert released[SNLI].scores.shape == (9, 9824)
    assert released[MNLI].scores.shape == (10, 9815)
    sizes = {name: {each: int(of.sum()) for each, of in found.classes.items()} for name, found in released.items()}
    assert sizes[SNLI] == {"easy": 3056, "hard": 886, "given away": 6884}
    assert sizes[MNLI] == {"easy": 1032, "hard": 410}
    # The replicas differ in accuracy by less than a point.
    accuracies = released[SNLI].scores.mean(axis=1)
    assert 0.895 < accuracies.min() < accuracies.max() < 0.901


@pytest.mark.slow
def test_hard_examples_are_unstable_because_they_are_difficult(released: dict[str, Any]):
    rows = measure_overlaps(released, 0).filter(pl.col("second") == "unstable")
    hard = rows.filter(runs=SNLI, first="hard").row(0, named=True)
    assert 1.4 < hard["low"] < 1.85 < hard["high"]
    assert 1.0 < hard["stratified"] < 1.15
    # Strata make easy examples look stable beyond their difficulty, which runs that are alike cannot be.
    assert (rows.filter(first="easy")["stratified"] < 0.85).all()
    assert ((rows["equal_low"] < 1) & (rows["equal_high"] > 1)).all()
