"""The instability study as a function: the document, its sentences, its tables and its page."""

from __future__ import annotations

import base64
import dataclasses
import gc
import json
import weakref
import xml.etree.ElementTree as ET
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import TTestPower

from goldassay.core.errors import InputError, Interrupted
from goldassay.core.naming import named_files
from goldassay.core.settings import parse_settings
from goldassay.instability import (
    decompose_by_group,
    normalized_deviation,
    plan_seeds,
    resample_groups,
    resample_scores,
    score_above_constant,
    select_checkpoints,
    summarize_scores,
    top_covarying_pairs,
)
from goldassay.questions import run_sets
from goldassay.questions.comparison.comparing import compare_runs
from goldassay.questions.instability.command import measure_instability
from goldassay.questions.instability.examples import MOST_EXAMPLES, largest_covariance, measure_map
from goldassay.questions.instability.measuring import InstabilityChoice
from goldassay.questions.instability.question import study_instability
from goldassay.questions.instability.spread import caveats_of, measure_spread, plan_runs
from goldassay.questions.instability.verdict import flips_together, plural
from goldassay.questions.leakage.command import measure_leakage
from goldassay.questions.run_sets import distinguishable
from goldassay.report.charts import NARROW, WIDE, draw_pictures
from goldassay.report.charts.svg import png_address
from goldassay.report.content import rows_of
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.cli.run_files import write_checkpoints
from tests.markdown_tables import table_of, tables_of
from tests.stated import in_order, says, stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_checkpoints(folder)
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return measure_instability([folder], reference="standard")


def found(report: Report) -> dict[str, Any]:
    section = report.to_dict()["instability"]
    assert isinstance(section, dict)
    return section


def test_numbers_are_those_of_the_measures(report: Report, folder: Path) -> None:
    section = found(report)
    assert [row["name"] for row in section["results"]] == [
        "bert · probe", "bert · standard", "roberta · probe", "roberta · standard",
    ]  # fmt: skip
    probe, standard = (read_runs(folder, model="bert", dataset=name).final() for name in ("probe", "standard"))
    row = section["results"][0]
    summary = summarize_scores(probe.scores)
    assert (row["mean"], row["sd"]) == (pytest.approx(summary.mean), pytest.approx(summary.sd))
    grouped = decompose_by_group(probe.scores, probe.groups["template"])
    assert section["groups"][0]["between"] == pytest.approx(grouped.between)
    deviation = section["deviations"]["rows"][0]
    other = summarize_scores(standard.scores)
    assert deviation["recommended"] == pytest.approx(normalized_deviation(summary.sd, 60, other.sd, 60))
    assert section["deviations"]["rows"][1]["recommended"] == 1
    pairs = top_covarying_pairs(probe.scores, 20)
    assert [pair["covariance"] for pair in section["examples"][0]["pairs"]] == pairs["covariance"].to_list()
    first = section["examples"][0]["pairs"][0]
    assert first["example_id_a"] == str(probe.example_ids[pairs["i"][0]])


def test_every_derived_column_by_hand() -> None:
    """Ten examples and two runs: four are always right, three always wrong, and the last three right in one run only.

    The runs score .7 and .4. One example that varies has the variance .5, and two of them have the covariance .5.
    """
    right = [[1] * 4 + [0] * 3 + [1] * 3, [1] * 4 + [0] * 6]
    half = ["a"] * 8 + ["b"] * 2
    runs = Runs.from_arrays(scores=right, seeds=[1, 2], model="m", dataset="d", groups={"half": half})
    report = measure_instability(runs)
    (scores,) = table_of(report, "Scores over runs")
    # (.7 + .4) / 2, and .3 / sqrt(2).
    assert (scores["mean score"], scores["lowest"], scores["highest"]) == ("55.0", "40.0", "70.0")
    assert scores["SD"].startswith("21.21 ")
    (parts,) = table_of(report, "Where the variance")
    # .045; 3 x .5 / 10² = .015; 6 x .5 / 10² = .03; .045 / .015 = 3; 10 / 3.
    assert list(parts.values()) == ["d", "450.0000", "150.0000", "300.0000", "3.00", "3"]
    (varying,) = table_of(report, "How many examples depend")
    assert list(varying.values()) == ["d", "10", "4", "3", "3", "30.0 %"]
    (covariance,) = table_of(report, "Covariance within")
    # Of the six ordered pairs two are within b: 2 x .5 / 10² and 4 x .5 / 10²; the latter of .045.
    assert covariance["covariance within"].startswith("100.0000")
    assert covariance["covariance between"].startswith("200.0000")
    assert covariance["between, of the total"] == "44 %"
    groups = {row["group"]: row for row in table_of(report, "By half")}
    # a: 4.5 of 8 on average, and 1 of 8 more in one run than in the other; its .1 of the .3 that the runs differ by.
    assert [groups["a"][key] for key in ("examples", "mean score", "share of variance")] == ["8", "56.2", "33.3 %"]
    assert [groups["b"][key] for key in ("examples", "mean score", "share of variance")] == ["2", "50.0", "66.7 %"]
    assert (groups["a"]["SD"].split()[0], groups["b"]["SD"].split()[0]) == ("8.84", "70.71")
    pairs = table_of(report, "The 3 pairs")
    assert [list(row.values()) for row in pairs] == [["a", "b", "2", "66.7 %"], ["b", "the same", "1", "33.3 %"]]
    assert [row["right in"] for row in table_of(report, "Least stable")[:4]] == ["1 of 2"] * 3 + ["2 of 2"]
    assert [row["example"] for row in table_of(report, "Examples wrong in every run")] == ["4", "5", "6"]


def test_the_tables_of_a_report_are_there(report: Report) -> None:
    stems = {
        "Scores over runs": 4, "Where the variance": 4, "Intervals of every figure": 15, "Normalized deviation": 4,
        "How many runs": 4, "What it takes at least": 4, "Covariance within": 4, "By template: bert · probe": 2,
        "By template: roberta · standard": 2, "How far the score moves": 4, "Choosing the checkpoint": 2,
        "Rank correlation between datasets": 4, "How many examples depend": 4, "Correlation within groups": 4,
        "Least stable examples, bert · probe": 12, "Examples wrong in every run, roberta · probe": 3,
        "Pairs that change together, bert · probe": 10, "Inputs": 1, "Runs": 4,
    }  # fmt: skip
    assert {stem: len(table_of(report, stem)) for stem in stems} == stems
    assert not any(caption.startswith(("One run", "Mean grades")) for caption in tables_of(report))
    steps = ["0.5", "1.0", "2.0"]
    assert list(table_of(report, "How many runs")[0])[3:] == [f"runs for {step} points" for step in steps]
    assert list(table_of(report, "What it takes at least")[0])[2:] == [f"for {step} points" for step in steps]
    normalized = table_of(report, "Normalized deviation")
    assert [row["runs of"] for row in normalized if row["recommended convention"].startswith("1.00")] == [
        "bert · standard", "roberta · standard",
    ]  # fmt: skip


def test_the_tables_of_one_run_are_there_and_those_of_several_are_not() -> None:
    runs = Runs.from_arrays(scores=[[1, 1, 1, 0, 0]], seeds=[1], model="m", dataset="d")
    report = measure_instability(runs)
    captions = list(tables_of(report))
    assert [caption.split(",")[0] for caption in captions[:3]] == [
        "Scores over runs", "One run: its score", "Where the variance comes from",
    ]  # fmt: skip
    assert captions[3:5] == ["Inputs", "Runs"]
    (alone,) = table_of(report, "One run")
    # 3 of 5 examples, each by itself.
    assert (alone["examples"], alone["clusters"], alone["score"].split()[0]) == ("5", "5", "60.00")
    (scores,) = table_of(report, "Scores over runs")
    assert (scores["mean score"], scores["SD"]) == ("60.0", "—")


def test_grades_have_a_table_on_their_own_scale(tmp_path: Path) -> None:
    grades = [[1, 2, 3, 4], [2, 3, 4, 5]]
    rows = [
        {"id": f"e{at}", "model": "judge", "seed": seed, "score": grade}
        for seed, run in enumerate(grades)
        for at, grade in enumerate(run)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "grades.csv")
    (row,) = table_of(measure_instability(tmp_path / "grades.csv", grades="1:5"), "Mean grades")
    # (1 + 2 + 3 + 4) / 4 and one more; their mean.
    assert (row["scale"], row["lowest run"], row["highest run"]) == ("1 to 5", "2.50", "3.50")
    assert row["mean grade"].startswith("3.00")


def test_training_is_measured_where_there_are_checkpoints(report: Report) -> None:
    section = found(report)
    assert [len(each["points"]) for each in section["trajectories"]] == [4] * 4
    assert [each["over"] for each in section["correlations"]] == ["checkpoints", "runs"] * 2
    assert section["correlations"][0]["names"] == ["probe", "standard"]
    assert report.tables["trajectories"].height == 16
    assert "flips" in report.tables["examples"].columns
    keys = [section.key for section in report.sections]
    assert keys == ["instability", "training", "examples", "inputs"]


def test_final_scores_are_correlated_without_checkpoints(folder: Path) -> None:
    last = measure_instability([folder], checkpoint="last", model="bert")
    section = found(last)
    assert section["trajectories"] == []
    (correlation,) = section["correlations"]
    assert (correlation["over"], correlation["n_points"]) == ("runs", 5)
    assert [row["name"] for row in section["results"]] == ["probe", "standard"]
    assert [each.title for each in last.sections][1] == "Between datasets"


def test_the_verdict_follows_the_limits(folder: Path) -> None:
    lenient = parse_settings({"verdicts": {"instability": {
        "caution_sd": 0.5, "unsound_sd": 0.6, "caution_design_effect": 1000.0,
    }}})  # fmt: skip
    assert measure_instability([folder], settings=lenient).verdicts["instability"]["verdict"] == "sound"
    verdict = measure_instability([folder]).verdicts["instability"]
    assert verdict["verdict"] == "unsound"
    assert "at least 1.00 points" in verdict["rule"]


def test_page_markdown_and_summary_answer_one_question(report: Report) -> None:
    page = report.to_html()
    assert 'id="instability"' in page
    assert 'id="training"' in page
    for absent in ('id="artifacts"', 'id="leakage"', 'id="shift"', 'id="facts"'):
        assert absent not in page
    assert page.count('<article class="card') == 1
    assert "paper's convention" in page or "paper&#39;s convention" in page
    written = report.to_markdown()
    assert "## Over training" in written
    assert "## Artifacts" not in written
    lines = report.summary().splitlines()
    assert len(lines) <= 15
    assert any("independent ones" in line for line in lines)
    assert report.to_html() == page


def test_pictures_hold_their_marks(report: Report) -> None:
    pictures = draw_pictures(report.charts)
    assert {
        "instability_runs", "instability_scores", "instability_decomposition", "instability_groups",
        "instability_trajectories", "instability_correlations", "instability_examples", "instability_map",
    } == pictures.keys()  # fmt: skip
    for name, picture in pictures.items():
        for source, width in ((picture.wide, WIDE), (picture.narrow, NARROW)):
            root = ET.fromstring(source)
            height = float(root.get("height", 0))
            for element in root.iter():
                if element.tag in ("text", "rect"):
                    assert -1 <= float(element.get("x", 0)) <= width + 1, (name, element.attrib)
                    assert -1 <= float(element.get("y", 0)) <= height + 1, (name, element.attrib)
    titles = [
        title.text or "" for title in ET.fromstring(pictures["instability_scores"].standalone).iter(f"{SVG}title")
    ]
    assert len(titles) == 20
    assert titles[0].startswith("bert on probe, run 1: ")


def test_the_map_holds_correlations_group_by_group(report: Report, folder: Path) -> None:
    first, second = found(report)["maps"]
    spread = {row["name"]: row["sd"] for row in found(report)["results"]}
    assert spread[first["name"]] >= spread[second["name"]] >= sorted(spread.values())[-2]
    values = np.frombuffer(base64.b64decode(first["values"]), np.int8)
    size = len(first["example_ids"])
    matrix = values.reshape(size, size)
    assert (matrix == matrix.T).all()
    assert (matrix.diagonal() == 100).all()
    assert sum(group["n_examples"] for group in first["groups"]) == size == first["n_varying"]
    runs = read_runs(folder, model=first["model"], dataset=first["dataset"])
    rows = [runs.example_ids.tolist().index(name) for name in first["example_ids"]]
    assert runs.groups["template"][rows].tolist() == sorted(runs.groups["template"][rows].tolist())
    one, other = runs.scores[:, :, rows[0]], runs.scores[:, :, rows[1]]
    phi = [np.corrcoef(a, b)[0, 1] for a, b in zip(one, other, strict=True) if np.ptp(a) > 0 and np.ptp(b) > 0]
    assert matrix[0, 1] == (round(100 * np.mean(phi)) if phi else -128)


def test_the_map_draws_examples_by_its_seed() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (6, 900)).astype(float)
    runs = Runs.from_arrays(scores=scores)
    one, same, other = (measure_map(runs, seed) for seed in (0, 0, 1))
    assert one is not None
    assert other is not None
    assert one == same
    assert one.example_ids != other.example_ids
    assert len(one.example_ids) == MOST_EXAMPLES
    assert measure_map(Runs.from_arrays(scores=scores[:4]), 0) is None
    assert measure_map(Runs.from_arrays(scores=np.ones((6, 5))), 0) is None


def test_pixels_survive_as_png() -> None:
    rows = [bytes([255, 0, 0, 255, 0, 255, 0, 128]), bytes([0, 0, 255, 0, 9, 8, 7, 6])]
    content = base64.b64decode(png_address(rows).removeprefix("data:image/png;base64,"))
    assert content.startswith(b"\x89PNG")
    start = content.index(b"IDAT") + 4
    assert zlib.decompress(content[start:]) == b"\0" + rows[0] + b"\0" + rows[1]


def test_constant_runs_are_undefined_with_a_reason(tmp_path: Path) -> None:
    write_runs(Runs.from_arrays(scores=np.ones((3, 8)), dataset="easy"), tmp_path)
    write_runs(Runs.from_arrays(scores=np.eye(3, 8), dataset="flat"), tmp_path)
    section = found(measure_instability([tmp_path], reference="easy"))
    easy, flat = section["results"]
    assert easy["design_effect"] is None
    assert "design effect is undefined" in easy["reason"]
    # Runs of equal score whose examples differ: their changes cancel out.
    assert (flat["design_effect"], flat["effective_size"]) == (0, None)
    assert all(row["recommended"] is None and "nothing can be measured" in row["reason"]
               for row in section["deviations"]["rows"])  # fmt: skip
    assert states(section["sentences"], "8 easy examples", "alike")
    assert any("cancel out" in sentence for sentence in section["sentences"])
    json.dumps(section, allow_nan=False)


def test_a_model_with_one_run_is_listed_with_the_reason(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for model, runs in (("many", 4), ("one", 1)):
        write_runs(Runs.from_arrays(scores=rng.integers(0, 2, (runs, 30)), dataset="d", model=model), tmp_path)
    report = measure_instability([tmp_path])
    one = found(report)["results"][1]
    assert (one["n_runs"], one.get("sd")) == (1, None)
    assert "one run has no spread" in one["reason"]
    assert "one · d" not in {row["name"] for row in found(report)["examples"]}
    assert report.to_html()


def test_groups_may_be_a_column_of_the_dataset(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": f"text {i}", "label": str(i % 2), "source": "ab"[i % 3 == 0]} for i in range(30)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "data.jsonl")
    predictions = np.random.default_rng(1).integers(0, 2, (4, 30))
    names = [row["label"] for row in rows]
    write_runs(Runs.from_arrays(predictions, np.array(names), label_names=("0", "1"), dataset="d"), tmp_path / "runs")
    gold = tmp_path / "data.jsonl"
    report = measure_instability([tmp_path / "runs"], groups=["source"], test=gold)
    (groups,) = found(report)["groups"]
    assert {row["group"] for row in groups["rows"]} == {"a", "b"}
    assert sum(row["share_of_variance"] for row in groups["rows"]) == pytest.approx(1)
    assert found(report)["examples"][0]["text_columns"] == ["text"]
    with pytest.raises(InputError, match=r"there are .*source"):
        measure_instability([tmp_path / "runs"], groups=["nothing"], test=gold)


def test_splits_and_training_sets_are_told_apart() -> None:
    def runs(split: str, train_set: str) -> Runs:
        return Runs.from_arrays(scores=np.ones((2, 3)), split=split, train_set=train_set, model="m", dataset="d")

    named = distinguishable([runs("dev", "all"), runs("test", "all"), runs("dev", "half")])
    assert [(each.model, each.dataset) for each in named] == [
        ("m@all", "d/dev"),
        ("m@all", "d/test"),
        ("m@half", "d/dev"),
    ]
    (alone,) = distinguishable([runs("dev", "all")])
    assert (alone.model, alone.dataset) == ("m", "d")


@pytest.mark.parametrize("n_runs", [2, 3, 4, 5, 10])
def test_the_bound_on_a_covariance(n_runs: int) -> None:
    series = [np.array([(code >> run) & 1 for run in range(n_runs)]) for code in range(2**n_runs)]
    assert max(np.var(each, ddof=1) for each in series) == pytest.approx(largest_covariance(n_runs))


def test_words() -> None:
    assert [plural(word) for word in ("subcase", "category", "class", "genre", "key", "type_2")] == [
        "subcases", "categories", "classes", "genres", "keys", "groups by type_2",
    ]  # fmt: skip
    assert named_files(["a=x.csv", "y.csv"]) == {"a": "x.csv", "": "y.csv"}


def test_comparison_names_what_differs() -> None:
    rng = np.random.default_rng(0)
    one, other = (
        Runs.from_arrays(scores=rng.integers(0, 2, (3, 20)), model="m", train_set=name) for name in ("half", "all")
    )
    assert (compare_runs(one, other).a, compare_runs(one, other).b) == ("half", "all")
    assert compare_runs(one, one, names=("x", "y")).a == "x"
    swapped = compare_runs(other, one)
    assert swapped.comparison.difference == -compare_runs(one, other).comparison.difference
    assert swapped.plan == compare_runs(one, other).plan
    assert compare_runs(one, one).plan.seeds_needed is None


def test_the_published_sets(data_dir: Path) -> None:
    sets = {"mnli": "multinli/dev_matched.tsv.gz", "break": "breaking_nli/dataset.jsonl.gz"}
    paths = [data_dir / f"predictions/instability_bert_base/{name}.preds.tsv.gz" for name in sets]
    report = measure_instability(
        paths,
        reference="mnli",
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
        align="position",
        test={name: data_dir / path for name, path in sets.items()},
    )
    section = found(report)
    rows = {row["dataset"]: row for row in section["results"]}
    assert 100 * rows["break"]["mean"] == pytest.approx(95.52911, abs=5e-6)
    assert rows["break"]["design_effect"] == pytest.approx(10.4285, abs=5e-5)
    assert rows["mnli"]["design_effect"] == pytest.approx(1.8603, abs=5e-5)
    deviations = {row["dataset"]: row for row in section["deviations"]["rows"]}
    assert deviations["break"]["recommended"] == pytest.approx(1.439, abs=5e-4)
    assert deviations["break"]["paper"] == pytest.approx(1.43, abs=5e-3)
    examples = {row["dataset"]: row for row in section["examples"]}
    assert [examples["mnli"][key] for key in ("n_always_right", "n_always_wrong", "n_pairs_at_most")] == [7387, 807, 32]
    assert examples["break"]["n_pairs_at_most"] == 5
    assert examples["break"]["pairs_reach_bound"]


def test_figures_have_intervals_over_runs_and_over_examples(report: Report, folder: Path) -> None:
    section = found(report)
    probe = read_runs(folder, model="bert", dataset="probe").final()
    for over in ("runs", "examples"):
        drawn = resample_scores(probe.scores, over, n_draws=1000)
        for row in section["intervals"][0]["figures"]:
            interval = getattr(drawn, row["figure"])
            assert row[f"{over}_low"] == pytest.approx(interval.low)
            if np.isfinite(interval.high):
                assert row[f"{over}_high"] == pytest.approx(interval.high)
    shares = resample_groups(probe.scores, probe.groups["template"])
    rows = {row["group"]: row for row in section["groups"][0]["rows"]}
    for name, interval in zip(shares.groups, shares.shares_of_variance, strict=True):
        assert rows[name]["share_low_runs"] == pytest.approx(interval.low)
    assert report.tables["intervals"].height == 4 * 7
    assert section["caveats"] == list(summarize_scores(probe.scores).caveats)


def test_runs_needed_are_those_of_the_plan(report: Report, folder: Path) -> None:
    probe = read_runs(folder, model="bert", dataset="probe").final()
    plan = plan_seeds(probe.scores, 0.01)
    row = found(report)["plans"][0]
    assert row["smallest_difference"] == pytest.approx(plan.smallest_difference)
    # 60 examples have more noise than a point, however alike two models are.
    assert row["seeds"][1] == {
        "difference": 0.01, "n": plan.n_seeds, "n_low": plan.n_seeds_low, "n_high": plan.n_seeds_high,
        "n_others": None, "n_examples": 779,
    }  # fmt: skip
    page = report.to_html()
    assert states(page, "at least", "other examples as well")
    assert "779 examples or more" in page
    assert report.tables["seeds_needed"]["seeds_for_1_points"][0] == plan.n_seeds


def test_runs_for_other_examples_have_the_least_noise_that_these_can_have() -> None:
    scores = np.random.default_rng(1).random((10, 2000)) < 0.8
    row = plan_runs(Runs.from_arrays(scores=scores), None)
    plan = plan_seeds(scores, 0.01, example_variance=0.01 * 0.99 / 2000, clusters=2000)
    half, one, _ = row.seeds
    assert one.n is not None
    assert one.n_others == plan.n_seeds > one.n
    assert [each.n_others is None for each in row.seeds] == [each.n_examples > 2000 for each in row.seeds]
    # A t test of paired differences on so many examples finds half a point.
    power = TTestPower().power(0.005 / (0.005 * 0.995) ** 0.5, nobs=half.n_examples, alpha=0.05)
    assert power == pytest.approx(0.8, abs=1e-3)


def guessing(by_name: bool) -> Runs:
    """Runs of a good model whose labels belong to other rows."""
    rng = np.random.default_rng(0)
    # Of labels that take turns, those of the row before would be the same in another order.
    gold = np.random.default_rng(7).permutation(np.arange(600) % 3)
    right = rng.random((6, 600)) < 0.9
    predictions = np.where(right, gold, (gold + 1) % 3)
    ids = [f"e{row}" for row in range(600)] if by_name else None
    return Runs.from_arrays(predictions, np.roll(gold, 1), label_names=("a", "b", "c"), dataset="d", example_ids=ids)


def test_labels_of_other_rows_are_never_sound_and_give_a_warning(tmp_path: Path) -> None:
    lenient = parse_settings({"verdicts": {"instability": {"caution_sd": 0.1, "unsound_sd": 0.2}}})
    for by_name in (False, True):
        write_runs(guessing(by_name), tmp_path / str(by_name))
        report = measure_instability([tmp_path / str(by_name)], settings=lenient)
        verdict = report.verdicts["instability"]
        assert verdict["verdict"] == "unresolved"
        assert "not significantly above the 33.3" in stated_by(verdict)
        warned = [said for said in found(report)["caveats"] if "The labels may belong to other rows" in said]
        assert len(warned) == (not by_name)
        assert ("check the order" in report.summary()) == (not by_name)
        assert "Check that the right labels belong to these rows" in report.summary()
    row = found(report)["results"][0]
    expected = score_above_constant(guessing(True).scores, guessing(True).gold)
    assert row["above_constant_low"] == pytest.approx(expected.low)
    keyed = dataclasses.replace(guessing(False), keyed=True)
    (path, *_) = write_runs(keyed, tmp_path / "keyed")
    assert read_runs(path).keyed
    assert caveats_of([measure_spread(keyed)]) == ()
    # Names that were lined up by position are no surer.
    study = measure_spread(guessing(True), by_position=True)
    assert "The labels may belong to other rows" in caveats_of([study])[0]
    whole = dataclasses.replace(guessing(False), scores=np.ones((6, 600)))
    assert caveats_of([measure_spread(whole)]) == ()


def test_runs_that_differ_are_counted() -> None:
    right = np.random.default_rng(0).random((3, 600)) < 0.9
    gold = np.arange(600) % 3
    predictions = np.where(right, gold, (gold + 1) % 3)[[0, 0, 0, 0, 1, 2]]
    row = measure_spread(Runs.from_arrays(predictions, gold, label_names=("a", "b", "c"), dataset="d"))
    assert (row.n_runs, row.n_distinct) == (6, 3)


def steady(n_runs: int = 10, n: int = 3000) -> Runs:
    """Runs that are right on nine examples of ten, most of them the same, and differ by a few tenths of a point."""
    rng = np.random.default_rng(4)
    gold, easy = rng.integers(0, 3, n), rng.random(n) < 0.85
    right = np.array([easy | (rng.random(n) < 0.4) for _ in range(n_runs)])
    ids = [f"e{row}" for row in range(n)]
    labels = ("entailment", "neutral", "contradiction")
    return Runs.from_arrays(
        np.where(right, gold, (gold + 1) % 3), gold, label_names=labels, example_ids=ids, dataset="d", model="m",
        seeds=range(len(right)),
    )  # fmt: skip


def test_runs_with_an_answer_or_two_changed_are_copies(tmp_path: Path) -> None:
    """Ten runs of one file were sound once an answer was changed in each of them."""
    runs = steady()
    write_runs(runs, tmp_path / "seeds")
    assert measure_instability([tmp_path / "seeds"]).verdicts["instability"]["verdict"] == "sound"
    predictions = np.repeat(runs.predictions[:1], 10, axis=0)
    for run in range(10):
        predictions[run, 7 * run : 7 * run + 2] = 0
    copied = Runs.from_arrays(
        predictions, runs.gold, label_names=runs.label_names, example_ids=runs.example_ids, dataset="d", model="m"
    )
    write_runs(copied, tmp_path / "copies")
    report = measure_instability([tmp_path / "copies"])
    assert found(report)["results"][0]["sd"] > 0
    verdict = report.verdicts["instability"]
    assert verdict["verdict"] == "unresolved"
    assert states(stated_by(verdict), "nearly every example alike", "copies of one run")
    assert verdict["next_step"].startswith("Check that these are runs of different seeds")


@pytest.mark.parametrize(("share", "word"), [(0.0, "sound"), (0.008, "sound"), (0.05, "unresolved")])
def test_right_labels_that_contradict_those_of_the_runs_are_said(tmp_path: Path, share: float, word: str) -> None:
    runs = steady()
    write_runs(runs, tmp_path / "runs")
    assert runs.gold is not None
    n = round(share * runs.n_examples)
    other = np.where(np.arange(runs.n_examples) < n, (runs.gold + 1) % 3, runs.gold)
    names = np.array(runs.label_names)
    pl.DataFrame({"example_id": runs.example_ids, "label": names[other]}).write_csv(tmp_path / "gold.csv")
    report = measure_instability([tmp_path / "runs"], test=str(tmp_path / "gold.csv"))
    verdict = report.verdicts["instability"]
    assert verdict["verdict"] == word
    assert found(report)["results"][0]["contradicted"] == n
    said = ("right labels", f"{n} of 3,000 examples", "those given count")
    assert states(stated_by(verdict), said) is (n > 0)
    assert any(f"in {n} of 3,000 examples; those given count" in each for each in found(report)["caveats"]) is (n > 0)
    assert ("Give the right labels that belong to these runs" in verdict["next_step"]) is (word != "sound")


def test_labels_in_other_words_are_no_contradiction(tmp_path: Path) -> None:
    runs = steady(3)
    write_runs(runs, tmp_path / "runs")
    assert runs.gold is not None
    # Entailment against the rest, as HANS has it.
    names = np.array(["entailment", "non-entailment", "non-entailment"])
    pl.DataFrame({"example_id": runs.example_ids, "label": names[runs.gold]}).write_csv(tmp_path / "gold.csv")
    read = read_runs(tmp_path / "runs", gold=tmp_path / "gold.csv")
    assert (read.contradicted, read.scores.mean() > runs.scores.mean()) == (0, True)


def test_a_comparison_says_that_right_labels_contradict_those_of_the_runs() -> None:
    runs = steady(3)
    contradicted = dataclasses.replace(runs, contradicted=12)
    notes = compare_runs(runs, contradicted, names=("a", "b")).notes
    assert sum("in 12 of 3,000 examples; those given count" in note for note in notes) == 1
    assert not any("those given count" in note for note in compare_runs(runs, runs, names=("a", "b")).notes)


def test_scores_of_zero_are_never_sound(tmp_path: Path) -> None:
    write_runs(Runs.from_arrays(scores=np.zeros((8, 3000)), dataset="d"), tmp_path)
    verdict = measure_instability([tmp_path]).verdicts["instability"]
    assert verdict["verdict"] == "unresolved"
    assert "not significantly above 0" in stated_by(verdict)


def test_no_tendency_to_flip_together_is_seldom_said_where_pairs_always_do() -> None:
    rng, said = np.random.default_rng(5), 0
    for _ in range(400):
        half = (rng.random((3, 400)) < 0.8).astype(float)
        row = measure_spread(Runs.from_arrays(scores=np.repeat(half, 2, axis=1)))
        said += flips_together(row.design_effect_low, row.design_effect_high) is False
    # The upper end lies below the true 2 in 2.5 % of draws, and three standard errors.
    assert said <= 20


def test_checkpoints_are_chosen_on_the_reference_and_on_the_set_itself(report: Report, folder: Path) -> None:
    standard, probe = (read_runs(folder, model="bert", dataset=name) for name in ("standard", "probe"))
    expected = select_checkpoints(standard.scores, probe.scores, None, probe.groups["template"], n_splits=20)
    row = found(report)["selections"][0]
    assert (row["name"], row["standard_mean"]) == ("bert · probe", pytest.approx(expected.standard_mean))
    assert (row["analysis_mean"], row["gain"]) == (pytest.approx(expected.analysis_mean), pytest.approx(expected.gain))
    assert states(report.to_markdown(), "Choosing the checkpoint", "four fifths", "bert · probe")
    without = measure_instability([folder])
    assert found(without)["selections"] == []
    assert "--reference names the standard one" in without.to_html()


def test_other_seeds_on_the_reference_leave_no_selection(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for dataset, first in (("standard", 0), ("probe", 1)):
        write_runs(
            Runs.from_arrays(
                scores=rng.integers(0, 2, (3, 2, 20)), seeds=np.arange(first, first + 3), checkpoints=np.array([1, 2]),
                dataset=dataset,
            ),
            tmp_path,
        )  # fmt: skip
    (row,) = found(measure_instability([tmp_path], reference="standard"))["selections"]
    assert row["reason"] == says("reference", "other seeds or checkpoints")


def test_tied_pairs_are_counted_by_group(tmp_path: Path) -> None:
    scores = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 1]])
    write_runs(Runs.from_arrays(scores=scores, groups={"g": np.array(["a", "a", "b", "b", "b"])}), tmp_path)
    report = measure_instability([tmp_path])
    (ties,) = found(report)["examples"][0]["pairs_by_group"]
    assert (ties["n_pairs"], ties["n_within"]) == (3, 1)
    assert ties["rows"] == [{"a": "a", "b": "b", "n_pairs": 2}, {"a": "a", "b": "a", "n_pairs": 1}]
    assert "The 3 pairs with the largest covariance by g" in report.to_html()


def test_examples_that_are_always_wrong_are_listed(report: Report) -> None:
    for entry in found(report)["examples"]:
        assert len(entry["always_wrong"]) == min(12, entry["n_always_wrong"])
        assert all(row["mean"] == 0 for row in entry["always_wrong"])


def test_the_page_says_what_was_read(report: Report, folder: Path) -> None:
    (source,) = report.to_dict()["inputs"]
    assert (source["format"], source["n_rows"]) == ("goldassay", 2 * 2 * 5 * 4 * 60)
    assert len(source["files"]) == len(source["sha256"]) == len(list(folder.iterdir()))
    inputs = report.sections[-1]
    runs = next(table for table in inputs.tables if table.caption == "Runs")
    assert [cell.text for cell in rows_of(runs)[0]][:7] == ["bert", "probe", "paired", "goldassay", "5", "4", "60"]


def test_an_interruption_keeps_the_sets_that_are_finished(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import goldassay.questions.instability.measuring as measuring

    plain = measuring.measure_examples
    calls: list[str] = []

    def interrupting(runs: Runs, dataset: Any) -> Any:
        calls.append(runs.dataset)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(runs, dataset)

    monkeypatch.setattr(measuring, "measure_examples", interrupting)
    kept = study_instability([folder], InstabilityChoice(keep_finished=True))
    section = found(kept)
    assert (section["interrupted"]["finished"], section["interrupted"]["of"]) == (2, 4)
    assert [row["name"] for row in section["results"]] == ["probe", "standard"]
    assert "Interrupted: 2 of 4 sets of runs were measured" in kept.to_html()
    calls.clear()
    with pytest.raises(KeyboardInterrupt, match="the report on the 2 of 4 sets of runs") as raised:
        measure_instability([folder])
    assert isinstance(raised.value, Interrupted)
    assert found(raised.value.report) == section


@pytest.mark.parametrize("measure", [measure_instability, lambda runs: measure_leakage(runs=runs)])
def test_no_runs_at_all_are_refused_in_one_line(measure: Any) -> None:
    with pytest.raises(InputError, match=in_order("no file or folder of runs")):
        measure([])


def test_one_set_of_runs_is_held_at_a_time(folder: Path, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays: list[Any] = []
    alive = []
    load = run_sets.RunSet.load

    def counting(own: run_sets.RunSet) -> Runs:
        gc.collect()
        alive.append(sum(array() is not None for array in arrays))
        runs = load(own)
        arrays.append(weakref.ref(runs.scores))
        return runs

    monkeypatch.setattr(run_sets.RunSet, "load", counting)
    again = measure_instability([folder], reference="standard")
    assert alive == [0] * 4
    assert found(again) == found(report)
