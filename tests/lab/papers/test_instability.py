"""Scores that come out otherwise: the study as a whole, its test sets of several parts, and each conclusion."""

from __future__ import annotations

import statistics
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from goldassay import Dataset
from goldassay.core.progress import Steps
from goldassay.lab.papers import instability
from goldassay.lab.papers.instability import SCALES, conclude, prepare
from goldassay.lab.papers.instability.evidence import RELEASED, Evidence, compare_tables, released_scores
from goldassay.lab.papers.recipe import Workplace
from goldassay.lab.papers.running import open_study, run_study
from tests.lab.papers.test_reproduction import LISTED
from tests.lab.papers.written import check_written
from tests.lab.training.in_place import done_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.lab.papers.recipe import Comparison, Conclusion


def test_the_study_runs_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Fewer of everything: what is found is asked where what is planted is known.
    size = SCALES["smoke"]
    (training,) = size.trainings
    few = {name: training.models[name] for name in ("wide bag of words", "averaged words")}
    training = replace(training, models=few, of={name: training.of[name] for name in few}, seeds=3)
    scales = {**SCALES, "smoke": replace(size, trainings=(training,), chosen={"planted": (400, 100, 60)})}
    monkeypatch.setattr(instability, "SCALES", scales)
    # In processes of their own they are in the tests of the command.
    with done_in_place():
        report = run_study(open_study("instability", "smoke", tmp_path, Steps()))
    assert set(report.reports) == {"ours"}
    page = report.save(tmp_path / "written").read_text("utf-8")
    check_written(tmp_path / "written", "instability")
    for title in ("Table 9: accuracy", "Table 5: the two examples", "Figure 1. Accuracy over training"):
        assert title in page
    assert "reading comprehension" not in page


def made(name: str, *labels: str) -> Dataset:
    return Dataset.from_frame(
        [{"premise": f"p{i}", "hypothesis": f"{name} {i}", "label": label} for i, label in enumerate(labels)], name=name
    )


def place(tmp_path: Path, **sets: Dataset) -> Workplace:
    work = Workplace(tmp_path, SCALES["paper"], "paper", None, None, 0, Steps())
    work.sets = {name.replace("_", "-"): dataset for name, dataset in sets.items()}
    return work


def test_test_sets_are_made_of_their_parts(tmp_path: Path):
    three = ("entailment", "neutral", "contradiction")
    work = place(
        tmp_path,
        NewsNLI=made("news", "entailment", "neutral"),
        RedditNLI=made("reddit", *three),
        RTE_Quant=made("rte", "neutral", "entailment"),
        AWPNLI=made("problems", "entailment", "contradiction"),
    )
    found = prepare(work)
    assert list(found) == ["EQU-NAT"]
    assert len(found["EQU-NAT"]) == 7
    assert set(found["EQU-NAT"].label_names) == set(three)
    # What lacks a part is not tested on; what is absent anyhow is said where sets are looked for.
    assert "EQU-SYN" in work.unmade
    assert "EQU-NAT" not in work.unmade


def deviation(model: str, dataset: str, low: float, high: float) -> dict[str, Any]:
    return {
        "model": model,
        "dataset": dataset,
        "recommended": (low + high) / 2,
        "paper": round((low + high) / 2, 2),
        "low": low,
        "high": high,
        "n_runs": 10,
    }


def selection(dataset: str, gain: float, *, calmer: bool = False) -> dict[str, Any]:
    return {
        "model": "ESIM", "dataset": dataset, "gain": gain, "gain_low": gain - 0.02, "gain_high": gain + 0.02,
        "standard_mean": 0.5, "standard_sd": 0.02, "analysis_mean": 0.5 + gain,
        "analysis_sd": 0.01 if calmer else 0.03,
    }  # fmt: skip


def result(dataset: str, effect: float, low: float) -> tuple[dict[str, Any], dict[str, Any]]:
    row = {
        "model": "ESIM", "dataset": dataset, "design_effect": effect, "mean": 0.6, "sd": 0.01, "n_runs": 5,
        "total": 1e-4, "independent": 1e-4 / effect, "covariance": 1e-4 - 1e-4 / effect,
    }  # fmt: skip
    return row, {"runs_low": low, "runs_high": 2 * effect}


def evidence(
    deviations: tuple[dict[str, Any], ...] = (),
    selections: tuple[dict[str, Any], ...] = (),
    results: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (),
    correlations: tuple[dict[str, Any], ...] = (),
    printed: dict[str, Any] | None = None,
) -> Any:
    return SimpleNamespace(
        deviations=deviations, selections=selections, correlations=correlations, examples=[],
        results=[row for row, _ in results], printed=printed or {},
        design_effects={(row["model"], row["dataset"]): ends for row, ends in results},
    )  # fmt: skip


def concluded(name: str, **given: Any) -> Conclusion | None:
    return next((each for each in conclude([evidence(**given)]) if each.name == name), None)


@pytest.mark.parametrize(
    ("lows", "standing"),
    [
        ((1.5, 1.6, 1.4), "held"),
        ((0.8, 0.7, 5.0), "held"),
        ((0.9, 1.05, 0.3), "not shown"),
        ((0.1, 0.1, 0.12), "did not hold"),
    ],
)
def test_some_analysis_set_must_spread_more(lows: tuple[float, ...], standing: str):
    rows = tuple(deviation("ESIM", f"set {i}", low, 2 * low) for i, low in enumerate(lows))
    found = concluded("Unstable", deviations=(*rows, deviation("ESIM", "SNLI", 9, 10)))
    assert found is not None
    assert (found.quantifier, found.standing) == ("some", standing)
    assert found.value == pytest.approx(max(row["recommended"] for row in rows))


def test_one_unstable_set_among_stable_ones_is_some():
    """Pooled with the others it would vanish: HANS of the paper, beside sets of which it says nothing."""
    rows = tuple(deviation("BERT-B", f"set {i}", 0.6, 1.5) for i in range(8))
    hans = {**deviation("BERT-B", "HANS", 5.74, 21.29), "recommended": 11.06}
    found = concluded("Unstable", deviations=(*rows, hans))
    assert found is not None
    assert (found.standing, found.value) == ("held", pytest.approx(11.06))
    assert "HANS" in found.evidence
    # What one of many sets has by chance is none.
    lucky = {**deviation("BERT-B", "HANS", 1.02, 2.5), "recommended": 1.6}
    alone, among = (concluded("Unstable", deviations=given) for given in ((lucky,), (*rows, lucky)))
    assert alone is not None
    assert among is not None
    assert (alone.standing, among.standing) == ("held", "not shown")


@pytest.mark.parametrize(("high", "standing"), [(1.5, "held"), (2.4, "not shown")])
def test_the_set_that_is_called_stable_must_be_so_for_every_model(high: float, standing: str):
    named = [{**deviation(model, "SNLI-hard", 0.6, 1.5), "recommended": 1.0} for model in ("ESIM", "BERT-B")]
    named[1]["high"] = high
    found = concluded("Stable", deviations=tuple(named))
    assert found is not None
    assert (found.quantifier, found.standing) == ("all", standing)
    assert concluded("Stable", deviations=(deviation("ESIM", "HANS", 1, 2),)) is None


def test_many_that_are_uncertain_show_what_none_shows_alone():
    """Votes would say that none of twelve does; one model's runs are common to its sets, so that models are pooled."""
    results = tuple(
        ({**row, "model": f"net {i}"}, ends)
        for i in range(12)
        for row, ends in (result(f"set {j}", 1.6, 0.95) for j in range(12))
    )
    found = concluded("Together", results=results)
    assert found is not None
    assert found.standing == "held"
    assert "in 12 models" in found.evidence or "in 12 sets" in found.evidence


def test_without_analysis_sets_nothing_is_measured():
    found = [each.standing for each in conclude([evidence()])]
    assert found == ["not measured", "not measured"]


@pytest.mark.parametrize(("low", "standing"), [(1.5, "held"), (0.9, "not shown")])
def test_examples_of_analysis_sets_must_move_together(low: float, standing: str):
    found = concluded("Together", results=(result("HANS", 9, low), result("SNLI", 2, 0.5)))
    assert found is not None
    assert (found.standing, found.value) == (standing, pytest.approx(9))


@pytest.mark.parametrize(
    ("gains", "calmer", "standing"),
    [
        ((0.05, 0.04, 0.06), False, "held"),
        ((0.05, 0.01, -0.03), False, "not shown"),
        ((-0.05, -0.04, -0.06), False, "did not hold"),
        ((0.05, 0.04, 0.06), True, "not shown"),
    ],
)
def test_selection_must_help_and_leave_sets_unstable(gains: tuple[float, ...], calmer: bool, standing: str):
    rows = tuple(
        selection(f"set {i}", gain, calmer=calmer) | {"model": model}
        for i, gain in enumerate(gains)
        for model in ("ESIM", "DAM", "BiLSTM")
    )
    found = concluded("Selection", selections=rows)
    assert found is not None
    assert found.standing == standing
    assert found.value == pytest.approx(statistics.mean(gains))
    assert ("The SD over seeds is 0.50 times" in found.evidence) == calmer


@pytest.mark.parametrize(("reach", "standing"), [(0.05, "held"), (0.9, "not shown")])
def test_standard_sets_go_together_and_analysis_sets_do_not(reach: float, standing: str):
    names = ("MNLI-m", "SNLI", "HANS")
    values = np.array([[1, 0.9, 0.2], [0.9, 1, 0.2], [0.2, 0.2, 1]])
    low, high = (np.clip(values + side * reach, -0.99, 0.99).tolist() for side in (-1, 1))
    matrix = {"model": "ESIM", "names": names, "values": values.tolist(), "low": low, "high": high, "n_runs": 10}
    found = concluded("Not together", correlations=(matrix,))
    assert found is not None
    assert (found.standing, found.value) == (standing, pytest.approx(0.2))
    assert "that between standard sets, 0.90 [" in found.evidence


def cell(comparisons: tuple[Comparison, ...], name: str, **keys: str) -> dict[str, Any]:
    table = next(each for each in comparisons if each.name.startswith(name))
    return table.cells.filter(**keys).row(0, named=True)


def test_reading_comprehension_has_tables_of_its_own():
    of = {"model": "BERT-B", "dataset": "AddSent"}
    reading = evidence(
        printed={
            "zhou2020_table9": [{**of, "ours": 60, "sd": 1}],
            "zhou2020_table1": [{**of, "ours": 2.5}],
            "zhou2020_table3": [{**of, "statistic": "sqrt_total_variance", "ours": 1}],
        }
    )
    found = compare_tables([evidence()], reading, {"HANS": made("hans", "entailment", "non-entailment")})
    assert [each.title.split(":")[0] for each in found] == [f"Table {n}" for n in (9, 1, 3, 5, 6, 7, 10, 2, 4)]
    assert cell(found, "zhou2020_table7", dataset="HANS", statistic="classes")["ours"] == 2
    score = cell(found, "zhou2020_table10", **of)
    assert (score["printed"], score["printed_sd"], score["ours"], score["sd"]) == (63.70, 0.57, 60, 1)
    ratio = cell(found, "zhou2020_table2", **of)
    assert (ratio["printed"], ratio["ours"]) == (2.61, 2.5)
    part = cell(found, "zhou2020_table4", **of, statistic="sqrt_total_variance")
    assert (part["printed"], part["ours"]) == (0.57, 1)


def test_the_pair_that_moves_together_most_is_shown_with_how_many_do():
    found = evidence()
    found.examples = [{"model": "BERT-B", "dataset": "HANS", "pairs": [{"covariance": 0.25}], "n_pairs_at_most": 7}]
    tables = compare_tables([found], None, {})
    assert len(tables) == 6
    table = next(each for each in tables if each.name == "zhou2020_table5")
    assert table.cells["ours"].to_list() == [250, 7]


# Of BERT-B in Tables 9 and 1: mean, SD and normalized deviation.
SIX = {
    "SNLI-hard": (81.30, 0.40, 0.95), "STR-A": (64.96, 0.89, 1.46), "STR-L": (81.79, 0.34, 1.39),
    "STR-NE": (55.37, 0.65, 2.70), "STR-NU": (39.02, 3.76, 13.65), "STR-S": (76.91, 0.28, 1.04),
}  # fmt: skip


def test_accuracies_alone_make_six_printed_columns(data_dir: Path, tmp_path: Path):
    work = Workplace(tmp_path, SCALES["paper"], "paper", data_dir, None, 0, Steps())
    scores = released_scores(work)
    assert scores is not None
    found = Evidence(scores, RELEASED, without=("MNLI-m", "SNLI", "BREAK-NLI", "HANS"))
    tables = compare_tables([found], None, {})
    for name, (mean, sd, ratio) in SIX.items():
        score = cell(tables, "zhou2020_table9", model=RELEASED, dataset=name)
        assert (round(score["ours"], 2), round(score["sd"], 2)) == (mean, sd) == (score["printed"], score["printed_sd"])
        normalized = cell(tables, "zhou2020_table1", model=RELEASED, dataset=name)
        assert round(normalized["ours"], 2) == ratio == normalized["printed"]
    # Parts of the variance need answers.
    assert not next(each for each in tables if each.name == "zhou2020_table3").cells.height


@pytest.mark.slow
def test_released_predictions_alone_make_the_printed_cells(data_dir: Path, tmp_path: Path):
    """Nothing can be trained, and the cells of BERT-B on four sets are those that are printed, to the last digit."""
    study = open_study("instability", "paper", tmp_path, Steps(), data=data_dir)
    assert not study.jobs
    report = run_study(study)
    spread = report.tables["zhou2020_table9"].drop_nulls("ours")
    assert spread.height == 10
    for row in spread.to_dicts():
        assert (round(row["ours"], 2), round(row["sd"], 2)) == (row["printed"], row["printed_sd"]), row
    parts = report.tables["zhou2020_table3"].drop_nulls("ours")
    assert parts.height == 12
    for row in parts.to_dicts():
        assert round(row["ours"], 2) == row["printed"], row
    # What these runs decide is what the page of reproductions says of them.
    states = LISTED.of_runs(report.study.conclusions, report.reports["released"].to_dict()["instability"]["examples"])
    listed = LISTED.kept(LISTED.PAGE.read_text("utf-8"))
    assert {name: listed[name] for name in states} == states
    missing = report.tables["zhou2020_table9"].filter(model="BERT-B", dataset="STR-O")
    assert missing["not_run"].item() == "needs SNLI train and 2 more"
    sizes = report.tables["zhou2020_table7"].drop_nulls("ours").filter(statistic="examples", dataset="SNLI")
    assert sizes.select("ours", "printed").row(0) == (9842, 9842)
