"""What people would score: against loops written anew, against simulated truth, and through the audit."""

from __future__ import annotations

import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.kinds.judgments import read_judgments
from goldassay.data.reading import read_table
from goldassay.questions.judgments.people import (
    FEW,
    LEAST_ITEMS,
    NOT_AS_GIVEN,
    NOT_RANDOM,
    ONE_SCORE,
    correct_by_people,
    correlate,
    replaces_annotators,
)
from goldassay.questions.judgments.scores import correct_pairs, describe_test
from tests.judgments.made import judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.report.report import Report

DATA = Path(os.environ.get("GOLDASSAY_DATA", "../shared/data")) / "preferences"
TRUTH, JUDGED, SENSITIVITY = 0.714, 0.838, 0.95


def world(
    rng: np.random.Generator, n: int = 4000, size: int = 1, *, biased: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """People's labels with mean .714, the judge's with mean .838 (or .714), and clusters of `size` that are alike."""
    clusters = np.repeat(np.arange(n // size), size)
    share = np.full(n, TRUTH) if size == 1 else rng.beta(3 * TRUTH, 3 * (1 - TRUTH), n // size)[clusters]
    people = (rng.random(n) < share).astype(float)
    false = (JUDGED - TRUTH * SENSITIVITY) / (1 - TRUTH) if biased else TRUTH * (1 - SENSITIVITY) / (1 - TRUTH)
    judge = (rng.random(n) < np.where(people == 1, SENSITIVITY, false)).astype(float)
    return judge, people, clusters


def hide(people: NDArray[np.float64], known: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """People's labels of some rows alone."""
    found = np.full(people.size, np.nan)
    found[known] = people[known]
    return found


def by_loops(
    judge: NDArray[np.float64], people: NDArray[np.float64], clusters: NDArray[np.int64]
) -> tuple[float, float, float, float]:
    """Lambda, the estimate and its interval as PPI++ states them, of labelled and unlabelled rows apart."""
    labelled = [at for at in range(people.size) if not np.isnan(people[at])]
    others = [at for at in range(people.size) if np.isnan(people[at])]
    n, m = len(labelled), len(others)
    y, f, g = people[labelled], judge[labelled], judge[others]
    weight = np.cov(y, f)[0, 1] / ((1 + n / m) * np.var(judge, ddof=1))
    weight = min(1.0, max(0.0, weight))
    value = y.mean() + weight * (g.mean() - f.mean())
    sums = dict.fromkeys(clusters.tolist(), 0.0)
    # Of unlabelled rows the mean of all is the center, as the estimate's own derivative has it.
    share = weight * (n + m) / m
    for at in range(people.size):
        sums[clusters[at]] += share * (judge[at] - judge.mean()) / (n + m)
    for at in labelled:
        sums[clusters[at]] += (people[at] - y.mean() - share * (judge[at] - f.mean())) / n
    sizes = np.unique(clusters[labelled], return_counts=True)[1]
    variance = sum(each**2 for each in sums.values()) * sizes.size / (sizes.size - 1)
    half = stats.t.ppf(0.975, n**2 / (sizes**2).sum() - 1) * np.sqrt(variance)
    size = value * (1 - value) / variance
    low, high = proportion_confint(value * size, size, method="wilson")
    return weight, value, min(low, value - half), max(high, min(1.0, value + half))


@pytest.mark.parametrize("size", [1, 20])
def test_the_estimate_is_that_of_ppi_written_anew(size: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        judge, people, clusters = world(rng, 400, size)
        known = np.flatnonzero(np.isin(clusters, rng.choice(400 // size, 120 // size, replace=False)))
        given = hide(people, known)
        found = correct_by_people(judge, given, clusters)
        assert (found.weight, found.value, found.low, found.high) == pytest.approx(by_loops(judge, given, clusters))
        assert found.bias == pytest.approx(judge.mean() - found.value)


def test_the_two_part_variance_of_ppi_is_the_same_to_first_order() -> None:
    rng = np.random.default_rng(2)
    judge, people, _ = world(rng)
    known = rng.choice(people.size, 600, replace=False)
    found = correct_by_people(judge, hide(people, known))
    others = np.setdiff1d(np.arange(people.size), known)
    rest = people[known] - found.weight * judge[known]
    plain = rest.var(ddof=1) / 600 + found.weight**2 * judge[others].var(ddof=1) / others.size
    half = stats.t.ppf(0.975, 599) * np.sqrt(plain)
    assert found.high - found.value == pytest.approx(half, rel=0.01)


def coverage(n_sets: int, size: int, *, by_cluster: bool, twice: bool = False) -> tuple[float, float]:
    """Share of intervals that hold the truth, of those that are valid; and the share that are not."""
    rng, held, invalid = np.random.default_rng(3), 0, 0
    for _ in range(n_sets):
        judge, people, clusters = world(rng, size=size)
        if size > 1:
            known = np.flatnonzero(np.isin(clusters, rng.choice(4000 // size, 600 // size, replace=False)))
        else:
            odds = np.where(people == 0, 2.0 if twice else 1.0, 1.0)
            known = rng.choice(4000, 600, replace=False, p=odds / odds.sum())
        found = correct_by_people(judge, hide(people, known), clusters if by_cluster else None)
        invalid += bool(found.reason)
        held += found.low <= TRUTH <= found.high
    return held / max(n_sets - invalid, 1), invalid / n_sets


def test_intervals_cover_people_by_rows_and_by_clusters() -> None:
    for size, by_cluster in ((1, False), (20, True)):
        covered, invalid = coverage(300, size, by_cluster=by_cluster)
        assert 0.92 <= covered <= 0.98
        assert invalid <= 0.04
    # Whole clusters taken for single rows are much too sure.
    assert coverage(300, 20, by_cluster=False)[0] < 0.8


def test_intervals_near_one_cover_as_well() -> None:
    rng, held = np.random.default_rng(14), 0
    for _ in range(300):
        people = (rng.random(2000) < 0.95).astype(float)
        judge = np.where(rng.random(2000) < 0.9, people, 1 - people)
        found = correct_by_people(judge, hide(people, rng.choice(2000, 100, replace=False)))
        held += bool(found.reason) or found.low <= 0.95 <= found.high
    assert held >= 0.92 * 300


def test_failures_that_are_labelled_twice_as_often_are_no_random_sample() -> None:
    covered, invalid = coverage(200, 1, by_cluster=False, twice=True)
    assert covered < 0.05
    assert invalid > 0.75


def test_given_probabilities_undo_the_choice() -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(200):
        judge, people, _ = world(rng)
        odds = np.where(judge == 0, 0.3, 0.12)
        found = correct_by_people(judge, hide(people, np.flatnonzero(rng.random(4000) < odds)), None, odds)
        held += found.low <= TRUTH <= found.high
    assert held >= 0.91 * 200


def test_a_judge_without_bias_is_corrected_by_nothing_but_noise() -> None:
    rng, moved, ratio = np.random.default_rng(5), [], []
    for _ in range(200):
        judge, people, _ = world(rng, biased=False)
        found = correct_by_people(judge, hide(people, rng.choice(4000, 600, replace=False)))
        moved.append((found.value - judge.mean()) / found.bias_error)
        ratio.append((found.high - found.low) / (2 * 1.96 * np.sqrt(TRUTH * (1 - TRUTH) / 600)))
    assert abs(np.mean(moved)) < 0.25
    assert np.std(moved) == pytest.approx(1, abs=0.2)
    # The judge's rows narrow the interval of people alone.
    assert np.nanmean(ratio) < 0.75


def test_what_a_judge_is_off_by_hand() -> None:
    judge = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1]
    people = [1, 1, 0, 0, 1, 0, *[np.nan] * 4]
    found = correct_by_people(judge, people)
    assert (found.sensitivity, found.specificity) == (1.0, pytest.approx(2 / 3))
    assert found.rogan_gladen == pytest.approx((0.7 + 2 / 3 - 1) / (2 / 3))
    assert (found.people_mean, found.judge_mean, found.n_labelled) == (0.5, 0.7, 6)


def test_all_labelled_is_the_mean_of_people_and_one_cluster_is_none() -> None:
    judge, people, _ = world(np.random.default_rng(6), 200)
    found = correct_by_people(judge, people)
    assert (found.value, found.weight) == (pytest.approx(people.mean()), 0.0)
    half = stats.t.ppf(0.975, 199) * people.std(ddof=1) / np.sqrt(200)
    assert found.high - found.value == pytest.approx(half, rel=0.01)
    assert correct_by_people(judge, hide(people, np.arange(20)), np.arange(200) // 20).reason == FEW


def test_labels_that_do_not_vary_leave_an_interval_and_nothing_sound() -> None:
    """Of thirty rows without a failure the upper 97.5 % bound of its share is 11.6 %."""
    judge, people = np.ones(1000), hide(np.ones(1000), np.arange(30))
    found = correct_by_people(judge, people)
    least = 1 - 0.025 ** (1 / 30)
    assert (found.low, found.high) == (pytest.approx(1 - least), 1.0)
    assert (found.bias_low, found.bias_high) == pytest.approx((-least, least))
    frame = pl.DataFrame({"judge": judge, "human": pl.Series(people).fill_nan(None), "sampling_probability": 0.03})
    assert goldassay.audit(frame).document["verdicts"]["judgments"]["verdict"] == "unresolved"


def test_odd_tables_have_an_answer_or_a_reason() -> None:
    judge = np.arange(60.0) % 2
    people = hide(judge, np.arange(0, 60, 3))
    known = {"judge": judge, "human": pl.Series(people).fill_nan(None)}
    two = goldassay.audit(pl.DataFrame({**known, "human": [1.0, 0.0, *[None] * 58]}))
    bias = figure(two, "bias")
    assert (bias["low"], bias["high"]) == (-1.0, 1.0)
    assert correct_by_people(judge, people).bias_high == pytest.approx(1 - 0.025 ** (1 / 20))
    same = correct_by_people(judge, judge)
    assert same.bias_high == pytest.approx(1 - 0.025 ** (1 / 60))
    for odd in ({"judge": [np.inf, *judge[1:]]}, {"judge": judge * 1e300}, {"item": [1] * 60}):
        report = goldassay.audit(pl.DataFrame({**known, **odd}), columns="score=judge,people=human")
        assert report.document["verdicts"]["judgments"]["verdict"] == "unresolved"


def test_so_many_more_labels_halve_the_interval() -> None:
    rng, ratio = np.random.default_rng(7), []
    judge, people, _ = world(rng, 20000)
    for _ in range(20):
        order = rng.permutation(20000)
        few = correct_by_people(judge, hide(people, order[:300]))
        assert few.n_more is not None
        more = correct_by_people(judge, hide(people, order[: 300 + few.n_more]))
        ratio.append((more.high - more.low) / (few.high - few.low))
    assert np.nanmean(ratio) == pytest.approx(0.5, abs=0.03)
    # Of 400 rows too few are left to label.
    assert correct_by_people(judge[:400], hide(people, np.arange(300))[:400]).n_more is None


def annotated(seed: int, n: int = 60, *, noise: float = 0.3, n_people: int = 4) -> tuple[Any, NDArray[np.float64]]:
    """The truth, and what annotators say who err at random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n).astype(float)
    said = np.stack([np.where(rng.random(n) < noise, 1 - truth, truth) for _ in range(n_people)])
    said[rng.random(said.shape) < 0.1] = np.nan
    return truth, said


def alternative_by_loops(
    judge: NDArray[np.float64], said: NDArray[np.float64], epsilon: float, *, graded: bool
) -> tuple[float, float]:
    """Winning rate and advantage, item by item."""
    p_values, advantages = [], []
    for j in range(len(said)):
        wins, differences = [], []
        for i in range(judge.size):
            others = [said[k, i] for k in range(len(said)) if k != j and not np.isnan(said[k, i])]
            if np.isnan(said[j, i]) or len(others) < 2:
                continue

            def near(label: float, others: list[float] = others) -> float:
                if graded:
                    return -float(np.sqrt(np.mean([(label - each) ** 2 for each in others])))
                return float(np.mean([label == each for each in others]))

            own, his = near(judge[i]), near(said[j, i])
            wins.append(own >= his)
            differences.append(float(his >= own) - float(own >= his))
        p_values.append(stats.ttest_1samp(differences, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    rejected = stats.false_discovery_control(p_values, method="by") <= 0.05
    return float(rejected.mean()), float(np.mean(advantages))


@pytest.mark.parametrize("graded", [False, True])
def test_the_alternative_annotator_test_is_that_of_loops(graded: bool) -> None:
    for seed in range(4):
        truth, said = annotated(seed)
        judge = np.where(np.random.default_rng(seed).random(60) < 0.2, 1 - truth, truth)
        if graded:
            said, judge = said * 2 + np.random.default_rng(seed).integers(0, 2, said.shape), judge * 2
        found = replaces_annotators("judge", judge, said, graded=graded)
        for epsilon, rate in zip((0.1, 0.15, 0.2), found.wins, strict=True):
            assert (rate, found.advantage) == pytest.approx(alternative_by_loops(judge, said, epsilon, graded=graded))


def test_who_can_replace_an_annotator() -> None:
    truth, said = annotated(9, 200)
    good, bad = (replaces_annotators("j", each, said, graded=False) for each in (truth, 1 - truth))
    assert good.epsilon == 0.1
    assert good.wins == (1.0, 1.0, 1.0)
    assert np.isnan(bad.epsilon)
    assert replaces_annotators("j", truth, said[:2], graded=False).lacking
    assert replaces_annotators("j", truth[: LEAST_ITEMS - 1], said[:, : LEAST_ITEMS - 1], graded=False).lacking


def table(seed: int = 0, n: int = 2000, n_known: int = 400, *, drawn: bool = True, **given: Any) -> pl.DataFrame:
    """A judge's scores with a column of people's, most of which is empty."""
    rng = np.random.default_rng(seed)
    judge, people, _ = world(rng, n, **given)
    known = rng.choice(n, n_known, replace=False)
    label = pl.Series(hide(people, known)).fill_nan(None)
    frame = pl.DataFrame({"item": np.arange(n), "judge": judge, "human_label": label})
    return frame.with_columns(sampling_probability=pl.lit(n_known / n)) if drawn else frame


def figure(report: Report, name: str) -> dict[str, Any]:
    """The only figure of a measure."""
    (found,) = (each for each in report.document["figures"] if each["id"] == f"judgments.{name}")
    return dict(found)


def test_a_biased_judge_is_found_and_corrected(tmp_path: Path) -> None:
    report = goldassay.audit(table(n=4000, n_known=1200))
    stated = report.document["verdicts"]["judgments"]
    assert stated["verdict"] == "unsound" if figure(report, "bias")["low"] >= 0.1 else "caution"
    assert stated["headline"]["value"] == figure(report, "bias")["value"]
    assert figure(report, "corrected")["low"] <= TRUTH <= figure(report, "corrected")["high"]
    report.save(tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "How far off the judge is" in page
    rows = pl.read_csv(tmp_path / "report" / "tables" / "corrected_scores.csv")
    assert rows["value"][0] == pytest.approx(figure(report, "corrected")["value"])


def test_sound_takes_a_known_draw() -> None:
    unbiased = {"biased": False, "n": 8000, "n_known": 2000}
    assert goldassay.audit(table(**unbiased)).document["verdicts"]["judgments"]["verdict"] == "sound"
    undrawn = goldassay.audit(table(**unbiased, drawn=False)).document["verdicts"]["judgments"]
    assert (undrawn["verdict"], undrawn["at_most"]) == ("unresolved", 1.0)
    assert "sampling_probability" in undrawn["next_step"]


def test_a_choice_of_failures_leaves_no_interval() -> None:
    rng = np.random.default_rng(8)
    judge, people, _ = world(rng)
    odds = np.where(people == 0, 4.0, 1.0)
    known = rng.choice(4000, 600, replace=False, p=odds / odds.sum())
    frame = pl.DataFrame({"judge_score": judge, "human": pl.Series(hide(people, known)).fill_nan(None)})
    report = goldassay.audit(frame)
    stated = report.document["verdicts"]["judgments"]
    assert stated["verdict"] == "not measurable"
    assert NOT_RANDOM in stated["evidence"]
    assert figure(report, "corrected")["value"] is None


def test_words_grades_systems_and_annotators_are_read() -> None:
    rng = np.random.default_rng(10)
    truth, said = annotated(11, 300)
    annotators = {
        f"annotator_{at}": [None if np.isnan(each) else "yes" if each else "no" for each in own]
        for at, own in enumerate(said)
    }
    report = goldassay.audit(
        pl.DataFrame({"id": np.arange(300), "llm_judge": np.where(truth == 1, "PASS", "fail"), **annotators})
    )
    assert report.document["judgments"]["replaces"][0]["epsilon"] == 0.1
    assert figure(report, "advantage")["value"] > 0.8
    quality = rng.integers(1, 5, 400)
    human = np.where(rng.random(400) < 0.4, quality, np.nan)
    grades = pl.DataFrame({"model": np.repeat(["x", "y"], 200), "score": np.minimum(quality + 1, 5),
                           "human_score": pl.Series(human).fill_nan(None)})  # fmt: skip
    report = goldassay.audit(grades)
    assert report.document["judgments"]["scale"] == [1.0, 5.0]
    found = {each["of"].get("part"): each for each in report.document["figures"] if each["id"] == "judgments.bias"}
    assert found.keys() == {None, "x", "y"}
    assert all(each["value"] == pytest.approx(1.0, abs=0.1) for each in found.values())


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    frame = table(n=200, n_known=50)
    named = "score=judge,people=human_label"
    with pytest.raises(InputError, match="people scored no row"):
        goldassay.audit(frame.with_columns(judge=pl.when(pl.col("human_label").is_null()).then("judge")), columns=named)
    with pytest.raises(InputError, match="probabilities"):
        goldassay.audit(frame.with_columns(sampling_probability=pl.lit(0.0)))
    label = pl.col("human_label")
    words = pl.when(label == 0).then(pl.lit("unsure")).when(label == 1).then(pl.lit("yes"))
    few = frame.with_columns(human_label=pl.when(pl.col("item") < 190).then(words))
    problems = goldassay.audit(few, columns=named).tables["judgment_problems"]
    assert problems.height == few.filter(pl.col("human_label") == "unsure").height > 0


def test_policies_hold_what_people_would_score(tmp_path: Path) -> None:
    goldassay.audit(table(n=4000, n_known=1200)).save(tmp_path / "report")
    for least, broken in ((0.6, False), (0.8, True)):
        policy = {"min_corrected_score": {"limit": least, "by": "low"}}
        assert bool(goldassay.check(tmp_path / "report", policy).broken) is broken


def test_the_interval_holds_what_hidden_labels_of_llmbar_say() -> None:
    path = DATA / "llmbar-judgments.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    table = read_table(path)
    judged = pl.col("subset").str.starts_with("LLMBar") & (pl.col("evaluator") == "Falcon")
    found = read_judgments(replace(table, frame=table.frame.filter(judged, strategy="Vanilla")), "llmbar")
    assert found is not None
    # Asked in one order, it says the first in 77 % of the pairs, and people in 50 %.
    rows, rng, held, n_sets = found.rows.filter("a_first"), np.random.default_rng(12), 0, 200
    full = correct_pairs(rows)[0]
    items = rows["item"].unique(maintain_order=True)
    for _ in range(n_sets):
        known = items.gather(rng.choice(len(items), round(0.15 * len(items)), replace=False))
        hidden = rows.with_columns(people=pl.when(pl.col("item").is_in(known.implode())).then("people"))
        (own,) = correct_pairs(hidden)
        held += own.low <= full.value <= own.high
    assert full.n_labelled == full.n_rows == len(items)
    assert full.bias > 0.25
    assert held >= 0.93 * n_sets


def test_the_interval_holds_what_hidden_labels_of_chaosnli_say() -> None:
    """The judge is the label as published; people are the hundred who looked again."""
    path = DATA.parent / "known_errors" / "chaosnli-snli-mnli.tar.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with tarfile.open(path) as packed:
        file = next(packed.extractfile(each) for each in packed if each.name.endswith("chaosNLI_snli.jsonl"))
        assert file is not None
        rows = [json.loads(line) for line in file.read().decode().splitlines()]
    judge = np.array([float(each["old_label"] == "n") for each in rows])
    people = np.array([float(each["majority_label"] == "n") for each in rows])
    assert people.mean() - judge.mean() > 0.08
    rng, held, n_sets = np.random.default_rng(13), 0, 300
    for _ in range(n_sets):
        found = correct_by_people(judge, hide(people, rng.choice(people.size, 200, replace=False)))
        held += found.low <= people.mean() <= found.high
    assert held >= 0.93 * n_sets
    # Five of the hundred, drawn for each item: their majority may replace one of them, one drawn at random as well.
    counts = np.array([[each["label_counter"].get(label, 0) for label in "enc"] for each in rows])
    drawn = [rng.multivariate_hypergeometric(each, 6) for each in counts]
    said = np.stack([rng.permutation(np.repeat(np.arange(3), each)) for each in drawn]).T.astype(float)
    old = np.array(["enc".index(each["old_label"]) for each in rows], float)
    again = replaces_annotators("old label", old, said[:5], graded=False)
    peer = replaces_annotators("a sixth", said[5], said[:5], graded=False)
    assert peer.epsilon == 0.1
    assert again.advantage < peer.advantage


CHECKED = "score=prediction,people=label"


@pytest.mark.parametrize(
    ("judge", "people", "columns"),
    [
        ("judge", "human", None),
        ("gpt4", "human", None),
        ("judge_label", "label", None),
        ("score", "people", None),
        ("prediction", "label", CHECKED),
    ],
)
def test_unlabelled_rows_are_no_error(judge: str, people: str, columns: str | None) -> None:
    frame = table(n=1000, n_known=200, drawn=False).rename({"judge": judge, "human_label": people})
    report = goldassay.audit(frame, columns=columns)
    assert report.document["judgments"]["corrected"][0]["n_labelled"] == 200


def test_predictions_with_gaps_in_the_label_name_the_way() -> None:
    names = {"item": "example_id", "judge": "prediction", "human_label": "label"}
    frame = table(n=1000, n_known=200, drawn=False).rename(names)
    with pytest.raises(InputError, match="800 values are missing") as raised:
        goldassay.audit(frame)
    assert "people" in raised.value.mend


def stated(report: Report) -> dict[str, Any]:
    """The verdict on judgments."""
    return dict(report.document["verdicts"]["judgments"])


def pairs(known: NDArray[np.bool_], n: int = 1000) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """A judge that hardly minds the order and prefers alpha in 80 % of the items, people in 30 %; and its verdicts."""
    rng = np.random.default_rng(7)
    judge, people = rng.random(n) < 0.8, rng.random(n) < 0.3
    names = np.array(["model_b", "model_a"])
    frame = pl.DataFrame(
        {"item": np.arange(n), "model_a": "alpha", "model_b": "beta", "judge": "J", "winner": names[judge.astype(int)],
         "human": pl.Series(names[people.astype(int)]).set(~pl.Series(known), None)}
    )  # fmt: skip
    turned = pl.Series(names[(judge ^ (rng.random(n) < 0.03)).astype(int)])
    swapped = frame.with_columns(order=pl.lit("swapped"), winner=turned)
    return pl.concat([frame.with_columns(order=pl.lit("original")), swapped], how="diagonal"), judge


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_win_rates_that_people_would_not_give_are_not_sound(share: float) -> None:
    known = np.random.default_rng(0).random(1000) < share
    report = goldassay.audit(pairs(known)[0], columns="winner=winner")
    said = stated(report)
    assert (said["verdict"], said["headline"]["value"]) == ("unsound", pytest.approx(0.5, abs=0.07))
    assert ("drawn at random" in report.to_markdown()) is (share < 1)
    assert any("only if these" in each for each in said["notes"]) is (share < 1)
    assert not any("order" in each["kind"] for each in report.document.get("issues", ()))
    # The seat stays measured.
    assert figure(report, "changed")["value"] == pytest.approx(0.03, abs=0.02)


def test_pairs_use_the_given_probabilities() -> None:
    judge = pairs(np.ones(1000, np.bool_))[1]
    odds = np.where(judge, 0.1, 0.6)
    frame, _ = pairs(np.random.default_rng(1).random(1000) < odds)
    chosen = figure(goldassay.audit(frame, columns="winner=winner"), "corrected")
    given = frame.with_columns(sampling_probability=pl.Series(np.tile(odds, 2)))
    found = figure(goldassay.audit(given, columns="winner=winner"), "corrected")
    assert chosen["value"] is None
    assert found["low"] <= 0.3 <= found["high"]
    with pytest.raises(InputError, match="probabilities"):
        goldassay.audit(given.with_columns(sampling_probability=pl.lit(2.0)), columns="winner=winner")


def test_few_preferences_of_people_leave_pairs_open() -> None:
    said = stated(goldassay.audit(pairs(np.arange(1000) < 20)[0], columns="winner=winner"))
    assert said["verdict"] == "unresolved"
    assert "alpha against beta" in said["next_step"]


def test_a_crowd_beside_people_has_the_wider_interval() -> None:
    own = judged(1000, 0).with_columns(member=pl.col("row") % 5)
    own = own.with_columns(win=(pl.col("member") < 2).cast(pl.Float64))
    crowd, single = (correct_pairs(each)[0] for each in (own, own.drop("member")))
    assert crowd.df == pytest.approx(4)
    assert crowd.bias_high - crowd.bias_low > single.bias_high - single.bias_low


def test_a_system_that_nobody_labelled_is_named() -> None:
    """Of it the judge's 95 % is far from people's 40 %, and nothing shows that."""
    rng = np.random.default_rng(3)
    system = np.array(["A", "B", "C"])[rng.integers(0, 3, 6000)]
    people = (rng.random(6000) < np.where(system == "C", 0.4, 0.7)).astype(float)
    judge = np.where(system == "C", rng.random(6000) < 0.7, people)
    known = (rng.random(6000) < 0.5) & (system != "C")
    frame = pl.DataFrame(
        {"system": system, "judge_score": judge, "human": pl.Series(np.where(known, people, np.nan)).fill_nan(None),
         "sampling_probability": 0.333}
    )  # fmt: skip
    report = goldassay.audit(frame)
    said = stated(report)
    assert said["verdict"] == "unresolved"
    assert "rows of C" in said["next_step"]
    rows = {each["of"]: each for each in report.tables["corrected_scores"].to_dicts()}
    assert rows.keys() == {"", "A", "B", "C"}
    assert all(rows[each]["value"] is None and rows[each]["reason"].endswith("C") for each in ("", "C"))
    assert rows["C"]["n_rows"] == (system == "C").sum()
    everyone = frame.with_columns(human=pl.Series(people), sampling_probability=pl.lit(1.0))
    assert stated(goldassay.audit(everyone))["verdict"] == "unsound"


def test_one_system_of_one_grade_has_the_scale_of_all() -> None:
    """Ten grades of 5 from people say little of a system with grades of 1 to 5."""
    grades = np.array([5.0] * 200 + [1.0, 5.0] * 100)
    human = np.where(np.arange(400) % 20 == 0, grades, np.nan)
    frame = pl.DataFrame(
        {"system": np.repeat(["x", "y"], 200), "score": grades, "human": pl.Series(human).fill_nan(None)}
    )
    rows = {each["of"]: each for each in goldassay.audit(frame).tables["corrected_scores"].to_dicts()}
    assert rows["x"]["bias_high"] == pytest.approx(4 * (1 - 0.025 ** (1 / 10)))


def test_rows_of_which_the_judge_is_unsure_are_no_sample() -> None:
    rng = np.random.default_rng(5)
    grades, shares = rng.integers(1, 6, 2000).astype(float), rng.beta(0.8, 0.8, 2000)
    for judge, chosen in ((grades, grades == 3), (shares, np.abs(shares - 0.5) < 0.15)):
        known = rng.choice(np.flatnonzero(chosen), 250, replace=False)
        label = pl.Series(hide(judge, known)).fill_nan(None)
        said = stated(goldassay.audit(pl.DataFrame({"judge": judge, "human": label, "sampling_probability": 0.125})))
        assert (said["verdict"], NOT_AS_GIVEN in said["evidence"]) == ("not measurable", True)
        assert "really drawn" in said["next_step"]
        assert abs(judge[known].mean() - judge.mean()) < 0.1


@pytest.mark.parametrize("how", ["rows", "clusters", "unequal"])
def test_random_labels_are_refused_in_one_of_a_hundred_draws(how: str) -> None:
    rng, refused = np.random.default_rng(6), 0
    for _ in range(300):
        clusters = np.arange(2000) // 20
        latent = rng.normal(size=100)[clusters] + rng.normal(size=2000)
        judge = np.digitize(latent, [-2.5, -1, 0, 1.2]).astype(float)
        odds = np.where(judge < 2, 0.3, 0.1)
        known = {
            "rows": np.isin(np.arange(2000), rng.choice(2000, 300, replace=False)),
            "clusters": np.isin(clusters, rng.choice(100, 15, replace=False)),
            "unequal": rng.random(2000) < odds,
        }[how]
        found = correct_by_people(
            judge, hide(judge, np.flatnonzero(known)), clusters if how == "clusters" else None,
            odds if how == "unequal" else None,
        )  # fmt: skip
        refused += bool(found.reason)
    assert refused <= 9


def test_probabilities_that_the_count_of_labels_excludes_are_not_sound() -> None:
    frame = table(n=8000, n_known=2000, biased=False)
    for wrong in (1.0, 0.01, 0.2):
        said = stated(goldassay.audit(frame.with_columns(sampling_probability=pl.lit(wrong))))
        assert said["verdict"] == "unresolved"
        assert "write 0.25 into" in said["next_step"]
    assert stated(goldassay.audit(frame))["verdict"] == "sound"
    for rounded in (0.24, 0.26):
        assert stated(goldassay.audit(frame.with_columns(sampling_probability=pl.lit(rounded))))["verdict"] == "sound"


def test_labels_of_whole_conversations_need_clusters() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(800), 10)
    people = (rng.random(8000) < 0.7).astype(float)
    judge = np.where(rng.random(8000) < 0.97, people, 1 - people)
    known = np.flatnonzero(np.isin(clusters, rng.choice(800, 200, replace=False)))
    frame = pl.DataFrame(
        {"judge": judge, "human": pl.Series(hide(people, known)).fill_nan(None), "sampling_probability": 0.25,
         "conversation": clusters, "half": np.arange(8000) % 2}
    )  # fmt: skip
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert "conversation" in said["next_step"]
    assert stated(goldassay.audit(frame, clusters="conversation"))["verdict"] == "sound"
    # Pairs of rows that are alike by chance explain nothing.
    label = pl.Series(hide(people, rng.choice(8000, 2000, replace=False))).fill_nan(None)
    by_row = frame.with_columns(human=label, conversation=np.arange(8000) // 2)
    assert stated(goldassay.audit(by_row))["verdict"] == "sound"


def test_what_has_no_scale_or_two_says_so() -> None:
    frame = table().with_columns(judge=pl.lit(5), human_label=pl.when(pl.col("human_label") >= 0).then(5))
    said = stated(goldassay.audit(frame))
    assert (said["verdict"], ONE_SCORE in said["evidence"]) == ("not measurable", True)
    two = table().with_columns(judge=1 + 9 * pl.col("judge"))
    report = goldassay.audit(two)
    said = stated(report)
    assert said["verdict"] == "not measurable"
    assert all(figure(report, each)["value"] is None for each in ("corrected", "bias"))
    assert "from 1 to 10, and people's from 0 to 1" in said["evidence"]
    assert "the judge's as (score - 1)/9 if" in said["next_step"]
    mended = stated(goldassay.audit(two.with_columns(judge=(pl.col("judge") - 1) / 9)))
    assert mended == stated(goldassay.audit(table()))


@pytest.mark.parametrize("scale", [(-1, 1), (1, 9), (1, 7)])
def test_equal_means_of_two_scales_are_not_sound(scale: tuple[int, int]) -> None:
    """Scores of -1 and 1, 1 to 9 and 1 to 7 beside yes and no, and 1 to 5."""
    rng = np.random.default_rng(21)
    merit = rng.normal(size=6000)
    if scale[0] < 0:
        people, judge = (merit > 0).astype(float), np.where(merit > -0.67, 1.0, -1.0)
    else:
        people = np.clip(np.round(3 + merit + rng.normal(0, 0.3, 6000)), 1, 5)
        judge = np.clip(np.round(3 + merit), 1, 5)
        judge[:20] = scale[1]
    frame = pl.DataFrame({"judge": judge, "human": people})
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == ("not measurable" if scale[0] < 0 else "unresolved")
    assert "Write both from 0 to 1" in said["next_step"]
    same = frame.with_columns(judge=pl.when(pl.col("judge").is_between(0, 5)).then("judge").otherwise(5))
    if scale[0] > 0:
        assert stated(goldassay.audit(same))["verdict"] == "sound"


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_people_s_scores_that_cannot_be_read_are_not_sound(share: float) -> None:
    """Of those that can they may be the easy ones; 40 % are still read beside a column that is called a judge's."""
    frame = table(n=8000, n_known=2000, biased=False)
    skipped = pl.Series(np.random.default_rng(22).random(8000) < share)
    label = pl.when(pl.col("human_label").is_not_null() & skipped).then(pl.lit("skip")).otherwise(
        pl.col("human_label").cast(pl.Int64).cast(pl.String))  # fmt: skip
    frame = frame.with_columns(human_label=label, sampling_probability=0.25 * (1 - share))
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert any("scores of people cannot be read" in each for each in said["notes"])


def test_who_cannot_replace_an_annotator_is_said_plainly() -> None:
    truth, said = annotated(9, 200)
    bad = replaces_annotators("j", 1 - truth, said, graded=False)
    assert "cannot replace an annotator at any epsilon" in describe_test(bad)


def undrawn(people: NDArray[np.float64], n_known: int, seed: int = 0) -> tuple[pl.Series, NDArray[np.int64]]:
    """People's labels of rows drawn at random, and which."""
    known = np.random.default_rng(seed).choice(people.size, n_known, replace=False)
    return pl.Series(hide(people, known)).fill_nan(None), known


def test_the_correlation_of_rows_is_pearson_s_and_covers_by_clusters() -> None:
    rng, held = np.random.default_rng(12), 0
    weights = np.ones(400)
    for _ in range(200):
        shared = rng.normal(size=(40, 2))[np.repeat(np.arange(40), 10)]
        x = rng.normal(size=400) + shared[:, 0]
        y = 0.5 * x + rng.normal(size=400) + shared[:, 1]
        r, low, high = correlate(x, y, weights, np.repeat(np.arange(40), 10))
        assert r == pytest.approx(np.corrcoef(x, y)[0, 1])
        held += low <= 0.5 / np.sqrt(0.5**2 + 1) <= high
    assert 0.89 * 200 <= held <= 0.99 * 200
    same = correlate(x, x, weights, np.arange(400))
    assert same == pytest.approx((1, 1, 1))
    assert np.isnan(correlate(x, weights, weights, np.arange(400))).all()


@pytest.mark.parametrize("how", ["at random", "the other way", "one score"])
def test_a_judge_that_does_not_agree_with_people_is_not_sound(how: str) -> None:
    """Its mean is people's, by luck."""
    rng = np.random.default_rng(13)
    people = (rng.random(6000) < (0.98 if how == "one score" else 0.5)).astype(float)
    judge = {"at random": rng.permutation(people), "the other way": 1 - people, "one score": np.ones(6000)}[how]
    label, _ = undrawn(people, 3000)
    report = goldassay.audit(pl.DataFrame({"judge": judge, "human": label, "sampling_probability": 0.5}))
    said = stated(report)
    assert said["verdict"] == ("caution" if how == "one score" and said["headline"]["low"] > 0.02 else "unresolved")
    assert any("agrees with people" in each for each in said["notes"])
    assert (figure(report, "correlation")["value"] is None) is (how == "one score")


def test_a_judge_that_agrees_with_people_on_some_systems_alone_is_not_sound() -> None:
    rng = np.random.default_rng(14)
    people = (rng.random(8000) < 0.7).astype(float)
    judge = np.where(rng.random(8000) < 0.97, people, 1 - people)
    judge[4000:] = rng.permutation(judge[4000:])
    frame = pl.DataFrame({"system": np.repeat(["A", "B"], 4000), "judge": judge, "human": people})
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert any("judge on B agrees" in each for each in said["notes"])


@pytest.mark.parametrize("column", ["human", "annotator_2"])
def test_people_s_scores_that_equal_the_judge_s_may_be_copies(column: str) -> None:
    rng = np.random.default_rng(15)
    grades = rng.integers(1, 6, 4000).astype(float)
    frame = pl.DataFrame({"judge": grades, column: undrawn(grades, 1000)[0], "sampling_probability": 0.25})
    if column != "human":
        frame = frame.with_columns(annotator_1=undrawn(np.clip(grades + rng.integers(-1, 2, 4000), 1, 5), 1000)[0])
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert any(repr(column) in each and "copies" in each for each in said["notes"])


def test_labels_of_some_kinds_of_rows_alone_are_not_as_given() -> None:
    """Nothing shows what the judge does where people scored no row, or fewer than the probabilities say."""
    rng = np.random.default_rng(16)
    people = (rng.random(8000) < 0.7).astype(float)
    judge = np.where(rng.random(8000) < 0.97, people, 1 - people)
    language, length = np.where(rng.random(8000) < 0.5, "en", "de"), rng.lognormal(3, 1, 8000)

    def audited(
        share: NDArray[np.float64], given: NDArray[np.float64] | float = 0.25, **columns: Any
    ) -> dict[str, Any]:
        label = pl.Series(np.where(rng.random(8000) < share, people, np.nan)).fill_nan(None)
        frame = pl.DataFrame({"judge": judge, "human": label, "sampling_probability": given, **columns})
        return stated(goldassay.audit(frame))

    for share, columns, word in (
        (np.where(language == "en", 0.5, 0.0), {"language": language}, "'de'"),
        (np.where(language == "en", 0.3, 0.2), {"language": language}, "language"),
        (np.where(length < np.median(length), 0.5, 0.0), {"length": length}, "length"),
    ):
        said = audited(share, **columns)
        assert said["verdict"] == "unresolved"
        assert any(word in each and "expected" in each for each in said["notes"])
    # The given probabilities are those of the other language.
    share = np.where(language == "en", 0.05, 0.45)
    assert audited(0.5 - share, share)["verdict"] == "unresolved"
    assert audited(share, share, language=language, length=length)["verdict"] == "sound"
    # What was written down of scored rows alone, or says which they are, is no kind of rows.
    label, known = undrawn(people, 2000)
    drawn = np.isin(np.arange(8000), known)
    frame = pl.DataFrame({"judge": judge, "human": label, "sampling_probability": 0.25, "seconds": label + 5,
                          "checked": drawn, "part": np.where(drawn, "labelled", "unlabelled")})  # fmt: skip
    assert stated(goldassay.audit(frame))["verdict"] == "sound"


def test_annotators_who_do_not_agree_are_not_sound() -> None:
    rng = np.random.default_rng(17)
    people = (rng.random(6000) < 0.7).astype(float)
    strict, mild = people * (rng.random(6000) < 0.7), np.maximum(people, rng.random(6000) < 0.7)
    judge = np.where(rng.random(6000) < 0.97, people, 1 - people)
    for one, other, word in ((strict, mild, "unresolved"), (people, judge[::-1], "unresolved")):
        frame = pl.DataFrame({"judge": judge, "annotator_1": one, "annotator_2": other})
        assert stated(goldassay.audit(frame))["verdict"] == word
    said = stated(goldassay.audit(pl.DataFrame({"judge": judge, "annotator_1": strict, "annotator_2": mild})))
    assert any("other annotators" in each for each in said["notes"])
    alike = pl.DataFrame({"judge": judge, "annotator_1": people, "annotator_2": np.maximum(people, judge)})
    assert stated(goldassay.audit(alike))["verdict"] == "sound"


def test_a_second_column_of_people_s_is_read_or_named() -> None:
    rng = np.random.default_rng(18)
    people = (rng.random(6000) < 0.7).astype(float)
    judge = np.where(rng.random(6000) < 0.97, people, 1 - people)
    frame = pl.DataFrame({"judge": judge, "human": np.where(rng.random(6000) < 0.98, people, 1 - people),
                          "expert": rng.permutation(people)})  # fmt: skip
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert all(each in said["next_step"] for each in ("'people': 'human+expert'", "'ignore': 'expert'"))
    assert stated(goldassay.audit(frame, columns="ignore=expert"))["verdict"] == "sound"
    both = goldassay.audit(frame, columns="people=human+expert")
    assert not any("not read" in each for each in stated(both)["notes"])


@pytest.mark.parametrize("how", ["at random", "a copy", "ties"])
def test_pairs_on_which_a_judge_does_not_agree_are_not_sound(how: str) -> None:
    """Sides without names win half of their pairs, whoever judges."""
    rng, n = np.random.default_rng(19), 2000
    people = np.where(rng.random(n) < 0.5, "model_a", "model_b")
    winner = {"at random": rng.permutation(people), "a copy": people, "ties": np.full(n, "tie")}[how]
    frame = pl.DataFrame({"item": np.arange(n), "judge": "J", "winner": winner, "human": people})
    both = pl.concat([frame.with_columns(order=pl.lit(each)) for each in ("original", "swapped")])
    said = stated(goldassay.audit(both, columns="winner=winner"))
    assert said["verdict"] == "unresolved"
    assert any(("copies" if how == "a copy" else "agrees with people") in each for each in said["notes"])
    noisy = np.where(rng.random(n) < 0.9, people, winner if how == "at random" else np.flip(people))
    agreed = both.with_columns(winner=pl.Series(np.tile(noisy, 2)))
    assert stated(goldassay.audit(agreed, columns="winner=winner"))["verdict"] == "sound"


def test_kinds_of_rows_whose_biases_cancel_are_not_sound() -> None:
    rng = np.random.default_rng(23)
    people, kind = (rng.random(6000) < 0.5).astype(float), rng.integers(0, 3, 6000)
    off = rng.random(6000) < 0.2
    judge = np.where(off & (kind == 0), 1.0, np.where(off & (kind == 1), 0.0, people))
    frame = pl.DataFrame({"judge": judge, "human": people, "topic": np.array(["a", "b", "c"])[kind]})
    said = stated(goldassay.audit(frame))
    assert said["verdict"] == "unresolved"
    assert "'system': 'topic'" in said["next_step"]
    assert stated(goldassay.audit(frame, columns="system=topic"))["verdict"] == "caution"
    # What follows from the score is no kind of rows.
    named = frame.drop("topic").with_columns(judge_text=pl.col("judge").cast(pl.String))
    assert stated(goldassay.audit(named))["verdict"] == "sound"


def test_judges_without_bias_stay_sound_beside_columns_of_all_kinds() -> None:
    """Of 40 draws at most three meet a doubt; labels were drawn by rows, by items, or with given probabilities."""
    words = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(2000), 3)
        people = (rng.random(6000) < 0.7).astype(float)
        judge = np.where(rng.random(6000) < np.where(people == 1, 0.03, 0.07), 1 - people, people)
        topic, odds = rng.integers(0, 12, 2000)[item], np.full(6000, 0.3)
        known = rng.random(6000) < odds
        if seed % 3 == 1:
            known = np.isin(item, rng.choice(2000, 600, replace=False))
        elif seed % 3 == 2:
            odds = np.where(topic < 4, 0.6, 0.15)
            known = rng.random(6000) < odds
        frame = pl.DataFrame(
            {"item": item, "system": np.tile(["A", "B", "C"], 2000), "judge": judge, "topic": topic,
             "length": rng.lognormal(3, 1, 6000), "turn": rng.random(6000) < 0.4,
             "human": pl.Series(np.where(known, people, np.nan)).fill_nan(None), "sampling_probability": odds}
        )  # fmt: skip
        words.append(stated(goldassay.audit(frame))["verdict"])
    assert words.count("sound") >= 37


def test_win_rates_whose_biases_cancel_over_kinds_of_items_are_not_sound() -> None:
    rng, n = np.random.default_rng(24), 2000
    people, kind, off = rng.random(n) < 0.5, rng.random(n) < 0.5, rng.random(n) < 0.4
    wins = np.where(off, kind, people)
    names = np.array(["model_b", "model_a"])
    frame = pl.DataFrame(
        {"item": np.arange(n), "judge": "J", "model_a": "alpha", "model_b": "beta", "winner": names[wins.astype(int)],
         "human": names[people.astype(int)], "category": np.where(kind, "math", "chat")}
    )  # fmt: skip
    both = pl.concat([frame.with_columns(order=pl.lit(each)) for each in ("original", "swapped")])
    said = stated(goldassay.audit(both, columns="winner=winner"))
    assert said["verdict"] == "unresolved"
    assert any("'math'" in each and "'chat'" in each for each in said["notes"])


def test_a_judge_that_nobody_checked_is_named() -> None:
    rng = np.random.default_rng(25)
    people = (rng.random(6000) < 0.7).astype(float)
    judge = np.where(rng.random(6000) < 0.97, people, 1 - people)
    who = np.where(np.arange(6000) % 2, "one", "other")
    human = pl.Series(np.where(who == "one", people, np.nan)).fill_nan(None)
    said = stated(goldassay.audit(pl.DataFrame({"evaluator": who, "judge_score": judge, "human": human})))
    assert said["verdict"] == "unresolved"
    assert "rows of other" in said["next_step"]
    two = pl.DataFrame({"judge_score": judge, "llm_score": rng.permutation(judge), "human": people})
    remarks = goldassay.audit(two).document["judgments"]["remarks"]
    assert any("'score': 'judge_score+llm_score', 'people': 'human'" in each for each in remarks)
    said = stated(goldassay.audit(two, columns={"score": "judge_score+llm_score", "people": "human"}))
    assert said["verdict"] == "unresolved"
