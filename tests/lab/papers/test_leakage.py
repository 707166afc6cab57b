"""Leakage over sets: the study as a whole, its tables beside the printed ones, conclusions from made-up rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from scipy.stats import t

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.data.dataset import Dataset
from goldassay.lab.papers import leakage
from goldassay.lab.papers.leakage import SCALES, conclude, prepare
from goldassay.lab.papers.leakage.evidence import clusters_of, compare_tables, is_printed_part
from goldassay.lab.papers.printed import printed_table
from goldassay.lab.papers.recipe import Scale, Training, Workplace
from goldassay.lab.papers.running import open_study, run_study
from goldassay.leakage import score_clusters
from goldassay.questions.leakage.measures.peco import cluster_embeddings
from goldassay.runs.sidecar import read_embeddings
from tests.lab.papers.written import check_written
from tests.lab.training.in_place import done_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goldassay.lab.papers.recipe import Conclusion
    from goldassay.lab.papers.running import PlannedStudy, StudyReport

PRINTED = ("saxon2023_table1_examples", "saxon2023_table2_accuracy", "saxon2023_table3", "saxon2023_table4",
           "saxon2023_table5_squared_l2", "saxon2023_table5_kl")  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlannedStudy]:
    """Fewer of everything: what is found is asked where what is planted is known."""
    size = SCALES["smoke"]
    conditions = ("paired", "hypothesis_only", "premise_only")
    trainings = (replace(each, seeds=2, conditions=conditions) for each in size.trainings
                 if each.train in ("SNLI train", "CAugNLI train"))  # fmt: skip
    few = replace(size, trainings=tuple(trainings), chosen={**size.chosen, "planted": (270, 180)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leakage, "SCALES", {**SCALES, "smoke": few})
        yield open_study("leakage", "smoke", tmp_path_factory.mktemp("leakage"), Steps())


@pytest.fixture(scope="module")
def report(study: PlannedStudy) -> StudyReport:
    # In processes of their own they are in the tests of the command.
    with done_in_place():
        return run_study(study)


def test_the_study_runs_as_a_whole(report: StudyReport, tmp_path: Path):
    assert tuple(report.tables) == PRINTED
    assert "Made-up data:" in report.summary()
    assert set(report.reports) == {"averaged_words", "averaged_words_SNLI", "averaged_words_CAugNLI"}
    page = report.save(tmp_path).read_text("utf-8")
    check_written(tmp_path, "leakage")
    for title in ("Table 3: models of a single sentence", "Figures 2, 5, 6 and 7", "Figure 1", "Figure 8"):
        assert title in page


def test_a_grid_adds_a_row_a_learning_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    size = SCALES["smoke"]

    def few(trainings: tuple[Training, ...]) -> tuple[Training, ...]:
        kept = (each for each in trainings if each.train == "SICK train")
        return tuple(replace(each, seeds=1, conditions=("paired", "hypothesis_only")) for each in kept)

    small = replace(size, trainings=few(size.trainings), grid=few(size.grid))
    small = replace(small, chosen={**size.chosen, "planted": (270, 180), "mapped": ""})
    monkeypatch.setattr(leakage, "SCALES", {**SCALES, "smoke": small})
    plan = open_study("leakage", "smoke", tmp_path, Steps(), grid=True)
    assert len(plan.jobs) == 4
    with done_in_place():
        found = run_study(plan)
    whole = found.tables["saxon2023_table2_accuracy"].filter(dataset="SICK", metric="paired")
    assert set(whole["model"]) == {"averaged words", "averaged words at 0.0005"}
    assert whole["ours"].n_unique() == 2
    # It is another study than the one without.
    with pytest.raises(InputError, match="grid was true"):
        open_study("leakage", "smoke", tmp_path, Steps())
    with pytest.raises(InputError, match="no grid of settings"):
        open_study("instability", "smoke", tmp_path / "other", Steps(), grid=True)


def test_figure_8_is_of_the_epochs_of_the_pairs_model(report: StudyReport):
    """Averaged words train for 6 epochs, after each of which the tested examples are predicted."""
    for name in ("averaged_words_SNLI", "averaged_words_CAugNLI"):
        found = report.reports[name].to_dict()["leakage"]["confidence"]
        assert found
        assert {row["n_checkpoints"] for row in found} == {6}
        assert {row["of"] for row in found} == {"the 6 checkpoints of 2 runs of the paired model"}
    (figure,) = [row for row in report.document["conclusions"] if row["name"] == "Unlike"]
    assert "training dynamics" in figure["statement"]


@pytest.mark.parametrize("scale", list(SCALES))
def test_every_network_is_tested_after_each_epoch(scale: Any):
    for training in SCALES[scale].trainings:
        assert training.checkpoint_epochs == dict.fromkeys(training.models, 1.0)


def test_tables_stand_beside_what_is_printed(report: StudyReport):
    cells = report.tables["saxon2023_table3"].filter(dataset="CAugNLI", condition="hypothesis_only")
    printed = dict(zip(cells["metric"], cells["printed"], strict=True))
    assert printed == {"single_accuracy": 39.0, "recovered": 46.0, "improvement": 5.1}
    found = report.reports["averaged_words_CAugNLI"].to_dict()["leakage"]["conditions"]
    ours = next(row for row in found if row["condition"] == "hypothesis_only")
    assert cells.filter(metric="improvement")["ours"].item() == pytest.approx(100 * ours["improvement"])
    # The printed table has no premise of SNLI, which ours shows all the same.
    premise = report.tables["saxon2023_table3"].filter(dataset="SNLI", condition="premise_only")
    assert premise["printed"].is_null().all()
    assert premise["ours"].is_not_null().all()


def test_cells_of_table_5_are_scored_clusters(report: StudyReport, study: PlannedStudy):
    """One cell again by the functions underneath: k-means, then the score of its clusters."""
    recorded = read_embeddings(study.work.runs, dataset="SNLI", condition="paired")[0]
    test = study.work.sets["SNLI"]
    assert recorded.example_ids.tolist() == test.examples["example_id"].cast(pl.String).to_list()
    seed, again = (int(word) for word in np.random.SeedSequence(0).spawn(1)[0].generate_state(2))
    clusters = cluster_embeddings(recorded.vectors["hypothesis"], 10, seed)
    wanted = score_clusters(clusters, test.labels(), "kl", "paper", n_clusters=10, seed=again).score
    cells = report.tables["saxon2023_table5_kl"].filter(dataset="SNLI", condition="hypothesis_only", k="10", pca="0")
    assert cells["ours"].item() == pytest.approx(100 * wanted)
    assert cells["printed"].item() == 8.5
    l2 = report.tables["saxon2023_table5_squared_l2"].drop_nulls("ours")
    assert l2["ours"].max() <= 1


def _row(dataset: str = "SNLI", part: str = "hypothesis", **given: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "model": "net", "dataset": dataset, "part": part, "family": dataset, "condition": f"{part}_only", "n_runs": 3,
        "chance": 0.33, "majority": 0.34, "paired": 0.8, "paired_low": 0.78, "paired_high": 0.82,
        "relevance": 0.6, "relevance_paper": 0.5, "relevance_paper_sd": 0.01, "peco_paper": 0.1,
    }  # fmt: skip
    usual = {"accuracy": 0.6, "improvement": 0.25, "recovered": 0.75, "agreement": 0.6, "recovery_paper": 0.6}
    for name, value in (usual | {"peco": 0.1} | given).items():
        row[name] = value
        row |= {f"{name}_low": value - 0.02, f"{name}_high": value + 0.02}
    return {"peco_of_runs": [row["peco"]], "peco_examples_error": 0.002} | row


def _standing(rows: list[dict[str, Any]], name: str, documents: dict[str, Any] | None = None) -> str:
    return next(each.standing for each in conclude(rows, documents or {}) if each.name == name)


@pytest.mark.parametrize(
    ("improvements", "wanted"),
    [
        ((0.2, 0.15, 0.18), "held"),
        ((0.2, 0.01, -0.01), "not shown"),
        ((-0.2, -0.15, -0.18), "did not hold"),
        ((), "not measured"),
    ],
)
def test_leaks_where_parts_are_above_the_majority_together(improvements: tuple[float, ...], wanted: str):
    rows = [_row(f"set {at}", improvement=value) for at, value in enumerate(improvements)]
    assert _standing(rows, "Leak") == wanted
    # Premises of sets of which the paper shows hypotheses do not count.
    assert _standing([*rows, *(_row(f"set {at}", "premise", improvement=9.0) for at in range(9))], "Leak") == wanted


@pytest.mark.parametrize(
    ("newer", "persists", "less"),
    [
        ((0.1, 0.12, 0.11), "held", "held"),
        ((0.25, 0.26, 0.24), "held", "not shown"),
        ((-0.1, 0.6, 0.2), "not shown", "not shown"),
        ((0.5, 0.6, 0.55), "held", "did not hold"),
        ((-0.2, -0.1, -0.15), "did not hold", "held"),
        ((), "not measured", "not measured"),
    ],
)
def test_newer_sets_leak_still_and_less(newer: tuple[float, ...], persists: str, less: str):
    rows = [_row(improvement=0.25), *(_row(f"A{at}", improvement=value) for at, value in enumerate(newer, 1))]
    assert (_standing(rows, "Persists"), _standing(rows, "Less")) == (persists, less)


def test_the_interval_of_a_difference_of_two_sets():
    """Ends add in quadrature: the sets are independent of each other."""
    rows = [_row(improvement=0.25), _row("A1", improvement=0.1)]
    found = next(each for each in conclude(rows, {}) if each.name == "Less")
    assert (found.value, found.low, found.high) == pytest.approx((0.15, 0.15 - 0.02 * 2**0.5, 0.15 + 0.02 * 2**0.5))


@pytest.mark.parametrize(("agreement", "wanted"), [(0.5, "held"), (0.34, "not shown"), (0.2, "did not hold")])
def test_alike_beyond_chance(agreement: float, wanted: str):
    assert _standing([_row(agreement=agreement)], "Alike") == wanted


@pytest.mark.parametrize(("score", "wanted"), [(0.1, "held"), (0.01, "not shown"), (-0.1, "did not hold")])
def test_clusters_lean(score: float, wanted: str):
    assert _standing([_row(peco=score)], "Lean") == wanted
    assert _standing([_row() | {"peco": None}], "Lean") == "not measured"


@pytest.mark.parametrize(
    ("runs", "error", "wanted"),
    [
        ((0.05, 0.06, 0.04), 0.01, "held"),
        ((0.05, 0.11, -0.01), 0.01, "not shown"),
        ((0.05, 0.06, 0.04), 0.03, "not shown"),
        ((0.05,), 0.03, "not shown"),
    ],
)
def test_clusters_lean_for_other_runs_and_other_examples(runs: tuple[float, ...], error: float, wanted: str):
    """That k-means finds the same clusters again says nothing of either."""
    sure = {"peco": 0.05, "peco_low": 0.0499, "peco_high": 0.0501}
    rows = [_row() | sure | {"peco_of_runs": list(runs), "peco_examples_error": error}]
    found = next(each for each in conclude(rows, {}) if each.name == "Lean")
    assert found.standing == wanted
    reach = t.ppf(0.975, len(runs) - 1) * np.std(runs, ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else 0.0001
    assert found.value == pytest.approx(0.05)
    assert found.high - found.value == pytest.approx(np.hypot(reach, 1.96 * error), rel=1e-3)


@pytest.mark.parametrize(
    ("x", "name"), [("agreement", "By agreement"), ("peco", "By clusters")]
)  # fmt: skip
@pytest.mark.parametrize(("slope", "wanted"), [(1, "held"), (-1, "did not hold"), (0, "not shown")])
def test_what_goes_together_over_sets(x: str, name: str, slope: int, wanted: str):
    noise = (0.0, 0.03, -0.03, 0.01, -0.02, 0.02, 0.0)
    rows = [_row(f"set {at}", **{x: 0.1 * slope * at + each, "recovered": 0.1 * at}) for at, each in enumerate(noise)]
    assert _standing(rows, name) == wanted
    assert _standing(rows[:2], name) == "not measured"
    found = next(each for each in conclude(rows, {}) if each.name == name)
    assert found.value == pytest.approx(np.corrcoef([row[x] for row in rows], [row["recovered"] for row in rows])[0, 1])


def test_what_best_models_find_hard():
    best = {"SNLI": 93.1, "SICK": 90.3, "XNLI": 83.7, "OCNLI": 78.2, "ANLI": 58.3, "A1": 75.5}
    rows = [_row(name, paired=value / 100 - 0.05) for name, value in best.items()]
    assert _standing(rows, "Best models") == "held"
    assert _standing([_row(name, paired=1 - value / 100) for name, value in best.items()], "Best models") == (
        "did not hold"
    )
    assert _standing(rows[:3], "Best models") == "not measured"


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(-0.1, 0.1, "held"), (0.3, 0.5, "did not hold"), (-0.5, -0.3, "did not hold"), (0.1, 0.4, "not shown")],
)
def test_biased_clusters_hold_examples_of_every_confidence(low: float, high: float, wanted: str):
    row = {"role": "hypothesis", "correlation": (low + high) / 2, "low": low, "high": high, "n_checkpoints": 3}
    documents = {"SNLI (net)": {"leakage": {"confidence": [row]}}}
    assert _standing([_row()], "Unlike", documents) == wanted
    assert _standing([_row()], "Unlike") == "not measured"


def test_figure_8_speaks_of_training_dynamics_only_where_epochs_were_recorded():
    final = {"role": "hypothesis", "correlation": 0.5, "low": 0.45, "high": 0.55, "n_checkpoints": 0}
    recorded = {"role": "hypothesis", "correlation": 0.0, "low": -0.05, "high": 0.05, "n_checkpoints": 3}

    def found(**documents: dict[str, Any]) -> Conclusion:
        given = {name: {"leakage": {"confidence": [row]}} for name, row in documents.items()}
        return next(each for each in conclude([_row()], given) if each.name == "Unlike")

    only_final = found(SNLI=final)
    assert only_final.standing == "did not hold"
    assert "training dynamics" not in only_final.statement
    assert "training dynamics were not measured" in only_final.evidence
    # What is no dynamics has no part in what is said of them.
    both = found(SNLI=final, SICK=recorded)
    assert (both.standing, both.value) == ("held", pytest.approx(0.0))
    assert both.statement.startswith("Biased clusters are not found by training dynamics")
    assert "over the 3 epochs of a training" in both.evidence
    assert "1 without recorded epochs are left out" in both.evidence


def test_tables_have_a_row_a_model():
    rows = [_row(), _row() | {"model": "other"}]
    sets = {"SNLI": _pairs(4), "SNLI train": _pairs(9)}
    tables = {each.name: each.cells for each in compare_tables(rows, [], sets)}
    printed = tables["saxon2023_table4"].filter(metric="recovery").select("model", "ours", "printed", "doubted")
    assert printed.rows() == [("net", 60.0, 71.8, True), ("other", 60.0, 71.8, True)]
    sizes = tables["saxon2023_table1_examples"]
    assert sizes.filter(split="train").select("ours", "printed").row(0) == (9.0, 550_000.0)
    # The paper's "ours" is not ours.
    whole = tables["saxon2023_table2_accuracy"].filter(model="net")
    assert dict(whole.select("metric", "printed").rows()) == {"paired": 90.6, "majority": 33.8, "best published": 93.1}
    assert dict(whole.select("metric", "ours").rows()) == {"paired": 80.0, "majority": 34.0, "best published": None}


def test_matched_mnli_has_two_names():
    tables = compare_tables([_row("MNLI-b")], [], {"MNLI-b": _pairs(4)})
    assert tables[0].cells.filter(split="test").select("dataset", "ours", "printed").row(0) == ("MNLI-m", 4.0, 10_000.0)
    assert tables[2].cells.filter(metric="recovered")["printed"].item() == 67.4


def test_the_parts_that_the_paper_shows():
    shown = [
        (name, part)
        for name in ("SNLI", "FEVER", "CAugNLI")
        for part in ("premise", "hypothesis")
        if is_printed_part({"dataset": name, "condition": f"{part}_only"})
    ]
    assert shown == [("SNLI", "hypothesis"), ("FEVER", "premise"), ("CAugNLI", "premise"), ("CAugNLI", "hypothesis")]


@pytest.mark.parametrize(("n", "wanted"), [(5_000, 50), (300, 30), (9, 1)])
def test_clusters_have_ten_examples_or_more(n: int, wanted: int):
    assert clusters_of(n, 50) == wanted


def _pairs(n: int, **columns: Any) -> Dataset:
    frame = {
        "premise": [f"premise {i}" for i in range(n)],
        "hypothesis": [f"hypothesis {i}" for i in range(n)],
        "label": [("entailment", "neutral")[i % 2] for i in range(n)],
    } | columns
    return Dataset.from_frame(pl.DataFrame(frame))


def test_parts_rounds_and_languages_become_sets(tmp_path: Path):
    rounds = _pairs(60, round=[("r1_test", "r2_test", "r3_test")[i % 3] for i in range(60)])
    parts = _pairs(30, split=[("train", "test", "test")[i % 3] for i in range(30)])
    tongues = _pairs(20, language=["en", "de"] * 10)
    tests = ("ANLI", "A1", "A3", "SICK", "XNLI")
    scale = Scale(
        sets={},
        trainings=(Training("ANLI train", tests, {}, 1),),
        note="",
        chosen={"split": {"ANLI": 0.5}, "most_tested": 15},
    )
    work = Workplace(tmp_path, scale, "desk", None, None, 0, Steps())
    work.sets = {"ANLI": rounds, "SICK": parts, "XNLI": tongues}
    made = prepare(work)
    assert (len(made["ANLI train"]), len(made["ANLI"]), len(made["SICK train"]), len(made["SICK"])) == (30, 15, 10, 15)
    assert not set(made["ANLI train"].texts("premise")) & set(made["ANLI"].texts("premise"))
    assert "A2" not in made
    assert made["A1"].examples["round"].unique().to_list() == ["r1_test"]
    assert made["A1"].name == "A1"
    assert made["XNLI"].examples["language"].unique().to_list() == ["de"]


def test_what_is_split_here_may_be_absent(tmp_path: Path):
    scale = Scale(sets={}, trainings=(), note="", chosen={"split": {"QNLI": 0.5}})
    work = Workplace(tmp_path, scale, "desk", None, None, 0, Steps(), absent={"QNLI": "not there"})
    assert prepare(work) == {}
    assert work.lacking == {"QNLI", "QNLI train"}


def test_rounds_that_are_files_are_joined(tmp_path: Path):
    scale = Scale(sets={}, trainings=(Training("ANLI train", ("ANLI",), {}, 1),), note="")
    work = Workplace(tmp_path, scale, "paper", None, None, 0, Steps())
    work.sets = {f"{name}{part}": _pairs(3) for name in ("A1", "A2", "A3") for part in (" train", "")}
    made = prepare(work)
    assert {name: len(each) for name, each in made.items()} == {"ANLI train": 9, "ANLI": 9}
    assert made["ANLI"].examples["example_id"].n_unique() == 9


def test_every_size_tests_what_it_has_or_makes():
    """Names of trainings are names of sets, or of what `prepare` makes of them."""
    for scale in SCALES.values():
        made = {f"{name} train" for name in (*scale.chosen.get("split", {}), "SICK")} | {"ANLI", "ANLI train"}
        made |= {"A1", "A2", "A3"}
        asked = {name for each in scale.trainings for name in (each.train, *each.tests)}
        assert asked <= scale.sets.keys() | made


def test_the_printed_protocol_trains_the_conditions_that_are_printed():
    """Of FEVER the premise alone, of three sets both sentences, of all others the hypothesis alone."""
    printed = printed_table("saxon2023_table3").select("dataset", "condition").unique().rows()
    trained = {
        (test, condition)
        for training in SCALES["paper"].trainings
        for test in training.tests
        for condition in training.conditions
        if condition != "paired"
    }
    assert trained == set(printed)
    assert all("paired" in training.conditions for training in SCALES["paper"].trainings)
