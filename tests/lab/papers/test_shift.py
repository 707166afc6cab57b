"""Scores elsewhere: the study as a whole, the sets that it builds, and each conclusion from made-up rows."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.core.progress import Steps
from goldassay.core.results import to_plain
from goldassay.data.dataset import Dataset
from goldassay.lab.papers import shift
from goldassay.lab.papers.recipe import PRETRAINED, Scale, Training, Workplace
from goldassay.lab.papers.running import open_study, run_study
from goldassay.lab.papers.shift import CHANCE, SCALES, Evidence, compare_tables, conclude, measured_reports, prepare
from goldassay.lab.papers.shift.sets import cleaned, domains_of
from goldassay.questions.shift.result import GapRow
from goldassay.shift import auroc, score_max_softmax
from tests.lab.papers.written import check_written
from tests.lab.training.in_place import done_in_place
from tests.typed import compose, filled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goldassay.lab.papers.running import PlannedStudy, StudyReport


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlannedStudy]:
    """Fewer of everything: what is found is asked where what is planted is known."""
    size = SCALES["smoke"]
    (training,) = (each for each in size.trainings if each.train == "SST-2 train")
    models = {name: training.models[name] for name in ("average", "LSTM")}
    few = replace(
        size,
        trainings=(replace(training, tests=("SST-2", "IMDb", "RTE"), models=models, seeds=2),),
        chosen={**size.chosen, "planted": (120, 80, 60), "draws": 100},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shift, "SCALES", {**SCALES, "smoke": few})
        yield open_study("shift", "smoke", tmp_path_factory.mktemp("shift"), Steps())


@pytest.fixture(scope="module")
def report(study: PlannedStudy) -> StudyReport:
    # In processes of their own they are in the tests of the command.
    with done_in_place():
        return run_study(study)


def test_the_study_runs_as_a_whole(report: StudyReport, tmp_path: Path):
    assert set(report.reports) == {"SST-2", "detection"}
    page = report.save(tmp_path).read_text("utf-8")
    check_written(tmp_path, "shift")
    for title in ("Table 1: trained on MNLI Telephone", "Figure 4. False alarms", "Figure 5. Confidence"):
        assert title in page


def test_what_is_lost_is_the_difference_of_accuracies(report: StudyReport, study: PlannedStudy):
    runs = pl.concat([pl.read_parquet(file, columns=["model", "seed", "dataset", "score"])
                      for file in study.work.runs.glob("*.parquet")])  # fmt: skip
    accuracy = runs.filter(model="average").group_by("dataset").agg(pl.col("score").mean())
    of = dict(accuracy.iter_rows())
    lost = report.tables["gaps"].filter(model="average", dataset="IMDb")["ours"].item()
    assert lost == pytest.approx(100 * (of["SST-2"] - of["IMDb"]))
    # Labels of texts of another task mean nothing, and are scored nowhere.
    assert set(report.tables["values"]["dataset"]) == {"SST-2", "IMDb"}


def test_foreign_texts_are_told_by_confidence(report: StudyReport, study: PlannedStudy):
    areas = []
    for seed in (0, 1):
        sides = {}
        for name in ("SST-2", "RTE"):
            file = next(study.work.runs.glob(f"average__*{name}__*seed-{seed}__*.parquet"))
            sides[name] = -score_max_softmax(np.array(pl.read_parquet(file)["logits"].to_list()))
        areas.append(auroc(-sides["SST-2"], -sides["RTE"]))
    cells = report.tables["auroc"]
    assert cells.filter(model="average")["ours"].item() == pytest.approx(100 * np.mean(areas))
    assert cells.filter(model=CHANCE)["ours"].item() == 50
    n_out, n_in = len(study.work.sets["RTE"]), len(study.work.sets["SST-2"])
    chance = report.tables["aupr_out"].filter(model=CHANCE)["ours"].item()
    assert chance == pytest.approx(100 * n_out / (n_out + n_in))


def _gap(model: str, gap: float, train: str = "SST-2", test: str = "IMDb", **given: Any) -> dict[str, Any]:
    return {
        "model": model, "train": train, "test": test, "own": False, "value": 0.8 - gap, "low": 0.78 - gap,
        "high": 0.82 - gap, "gap": gap, "gap_low": gap - 0.02, "gap_high": gap + 0.02, "relative_gap": gap / 0.8,
        "relative_low": (gap - 0.02) / 0.8, "relative_high": (gap + 0.02) / 0.8, "n_runs": 3, "size": 10, **given,
    }  # fmt: skip


def _found(model: str, alarms: float, dataset: str = "20 Newsgroups") -> dict[str, Any]:
    return {
        "model": model, "dataset": dataset, "false_alarm_rate": alarms, "false_alarm_rate_low": alarms - 0.02,
        "false_alarm_rate_high": alarms + 0.02, "false_alarm_rate_chance": 0.95, "n_runs": 3,
    }  # fmt: skip


def _standings(gaps: tuple[dict[str, Any], ...] = (), detection: tuple[dict[str, Any], ...] = ()) -> dict[str, str]:
    return {each.name: each.standing for each in conclude(Evidence(gaps, detection))}


def test_without_runs_nothing_is_measured():
    assert set(_standings().values()) == {"not measured"}
    # Of what a claim is made is the paper's, whether or not there are runs to test it.
    said = {each.name: each.quantifier for each in conclude(Evidence((), ()))}
    assert said["Declines"] == said["Size"] == said["Distilled"] == "some"
    assert said["Detects"] == "all"


@pytest.mark.parametrize(("pretrained", "wanted"), [(0.02, "held"), (0.09, "not shown"), (0.2, "did not hold")])
def test_pretrained_models_lose_less(pretrained: float, wanted: str):
    gaps = (_gap("LSTM", 0.1), _gap(PRETRAINED, pretrained), _gap(PRETRAINED, 0.0, test="elsewhere"))
    assert _standings(gaps)["Smaller gaps"] == wanted
    found = next(each for each in conclude(Evidence(gaps, ())) if each.name == "Smaller gaps")
    width = 0.02 * 2**0.5
    wanted_ends = (0.1 - pretrained, 0.1 - pretrained - width, 0.1 - pretrained + width)
    assert (found.value, found.low, found.high) == pytest.approx(wanted_ends)


def test_what_is_not_trained_loses_nothing():
    """Its gap is how much harder one set is than another, whichever way round."""
    gaps = (_gap("bag of words", -0.5, trained=False), _gap(PRETRAINED, 0.02))
    assert _standings(gaps)["Smaller gaps"] == "not measured"
    assert _standings((*gaps, _gap("LSTM", 0.1)))["Smaller gaps"] == "held"
    noted = {table.name: table.note for table in compare_tables(Evidence(gaps, ()))}
    assert "nothing is trained" in noted["gaps"]
    assert "nothing is trained" not in {t.name: t.note for t in compare_tables(Evidence(gaps[1:], ()))}["gaps"]


@pytest.mark.parametrize(("gap", "wanted"), [(0.5, "held"), (0.28, "not shown"), (0.1, "did not hold")])
def test_an_lstm_loses_a_third_between_sources(gap: float, wanted: str):
    assert _standings((_gap("LSTM", gap, "STS-B Images", "STS-B MSRpar"),))["Declines"] == wanted
    assert _standings((_gap("average", gap, "STS-B Images", "STS-B MSRpar"),))["Declines"] == "not measured"
    # One shift is enough for the claim: eight without a loss do not undo it.
    others = [_gap("LSTM", 0.0, "STS-B Images", f"STS-B {at}") for at in range(8)]
    among = _standings((_gap("LSTM", gap, "STS-B Images", "STS-B MSRpar"), *others))["Declines"]
    assert among == ("held" if gap == 0.5 else wanted)


@pytest.mark.parametrize(
    ("large", "wanted"), [((0.2, 0.01), "held"), ((0.09, 0.01), "not shown"), ((0.02, 0.01), "did not hold")]
)
def test_size_is_not_robustness(large: tuple[float, float], wanted: str):
    gaps = tuple(
        row
        for test, gap in zip(("IMDb", "Yelp"), large, strict=True)
        for row in (_gap("BERT Base", 0.1, test=test), _gap("BERT Large", gap, test=test))
    )
    assert _standings(gaps)["Size"] == wanted


def test_one_pair_of_sizes_of_many_may_lie_beyond_zero_by_chance():
    """The claim needs one pair alone, so that its interval must hold for all of them: 2.3 errors are enough for 1."""
    error = 0.02 * 2**0.5 / 1.96

    def standing(n: int) -> str:
        gaps = []
        for at in range(n):
            more = 2.3 * error if at == 0 else 0.0
            gaps += [_gap("BERT Base", 0.1, test=str(at)), _gap("BERT Large", 0.1 + more, test=str(at))]
        return _standings(tuple(gaps))["Size"]

    assert standing(1) == "held"
    assert standing(12) == "not shown"
    (found,) = [each for each in conclude(Evidence((_gap("BERT Base", 0.1), _gap("BERT Large", 0.2)), ()))
                if each.name == "Size"]  # fmt: skip
    assert (found.value, found.low) == pytest.approx((0.1, 0.1 - 1.96 * error), abs=1e-4)


@pytest.mark.parametrize(("metric", "most"), [("accuracy", 2.0), ("pearson", 4.0)])
def test_no_interval_goes_beyond_what_differences_of_gaps_can_be(metric: str, most: float):
    given = {"metric": metric, "gap_low": -1.9, "gap_high": 1.9}
    gaps = tuple(
        _gap(model, gap, test=test, **given)
        for model, gap in (("LSTM", 0.6), ("BERT Base", 0.5), ("BERT Large", 0.9), ("DistilBERT", 0.7))
        for test in ("IMDb", "Yelp", "Amazon")
    )
    found = {each.name: each for each in conclude(Evidence(gaps, ()))}
    for name in ("Smaller gaps", "Size", "Distilled"):
        low, high = found[name].low, found[name].high
        assert low is not None
        assert high is not None
        assert -most <= low < high <= most
        assert ("correlation" in found[name].evidence) == (metric == "pearson")


@pytest.mark.parametrize(("teacher", "wanted"), [(0.02, "held"), (0.1, "not shown"), (0.2, "did not hold")])
def test_a_distilled_model_loses_more_than_its_teacher(teacher: float, wanted: str):
    shift = (_gap("DistilBERT", 0.1), _gap("BERT Base", teacher))
    assert _standings(shift)["Distilled"] == wanted
    # That it can be is said of one shift: others without a loss do not undo it.
    others = [_gap(model, 0.1, test=str(at)) for at in range(8) for model in ("DistilBERT", "BERT Base")]
    assert _standings((*shift, *others))["Distilled"] == ("held" if wanted == "held" else "not shown")
    # More data are asked of where both models are there.
    more = tuple({**row, "model": name} for row, name in zip(shift, ("BERT Large", "RoBERTa Large"), strict=True))
    assert "Diverse" not in _standings(shift)
    assert _standings(more)["Diverse"] == wanted


@pytest.mark.parametrize(("alarms", "wanted"), [(0.5, "held"), (0.94, "not shown"), (0.99, "did not hold")])
def test_pretrained_models_are_better_than_chance(alarms: float, wanted: str):
    detection = (_found(PRETRAINED, 0.3, "SNLI"), _found(PRETRAINED, alarms), _found("LSTM", 1.0))
    assert _standings((), detection)["Detects"] == wanted


@pytest.mark.parametrize(("alarms", "wanted"), [(0.99, "held"), (0.94, "held"), (0.5, "did not hold")])
def test_models_of_words_are_blind(alarms: float, wanted: str):
    detection = (_found("LSTM", alarms), _found("LSTM", 0.1, "SNLI"), _found(PRETRAINED, 0.1))
    assert _standings((), detection)["Blind"] == wanted
    # As many on one side as on the other say nothing.
    assert _standings((), (_found("LSTM", 0.5), _found("average", 0.99)))["Blind"] == "not shown"
    # And a cell does not vanish in a mean over models.
    mixed = _standings((), (_found("LSTM", 0.5), _found("bag of words", 1.0), _found(PRETRAINED, 0.1)))
    assert (mixed["Blind"], mixed["Bag of words"]) == ("not shown", "held")
    assert "Bag of words" not in _standings((), detection)


@pytest.mark.parametrize(("alarms", "wanted"), [(0.4, "held"), (0.71, "not shown"), (0.9, "did not hold")])
def test_pretrained_models_raise_fewer_alarms(alarms: float, wanted: str):
    assert _standings((), (_found("LSTM", 0.7), _found(PRETRAINED, alarms)))["Fewer alarms"] == wanted


def test_genres_stand_beside_what_is_printed():
    gaps = (
        _gap("BERT Base", 0.0, "MNLI Telephone", "MNLI Telephone", own=True),
        _gap("BERT Base", 0.01, "MNLI Telephone", "MNLI Letters"),
    )
    cells = compare_tables(Evidence(gaps, ()))[0].cells
    by_set = {row["dataset"]: (row["ours"], row["printed"]) for row in cells.to_dicts()}
    assert by_set["MNLI Telephone"] == pytest.approx((80.0, 81.4))
    assert by_set["MNLI Letters"] == pytest.approx((79.0, 82.3))
    assert by_set["MNLI Face-to-Face"] == (None, 80.8)


def test_of_two_correlations_the_papers_is_taken(report: StudyReport):
    document = report.reports["SST-2"].to_dict()
    written = [_gap("LSTM", 0.1, "STS-B Images train", "STS-B MSRpar", metric=name) for name in ("pearson", "spearman")]
    rows = [to_plain(filled(GapRow, row)) for row in written]
    similar = compose({**document, "shift": {**document["shift"], "generalization": rows}}, tables={})
    found = Evidence.of({"STS-B_Images": similar})
    assert [(row["train"], row["metric"]) for row in found.gaps] == [("STS-B Images", "pearson")]


def test_a_bag_of_words_is_called_so_on_similarities_too(tmp_path: Path):
    """Nothing is trained for it there, which its rows and the table's note say."""
    rng = np.random.default_rng(0)
    sets = {}
    for name in ("STS-B Images train", "STS-B Images", "STS-B MSRpar"):
        words = [[f"w{w}" for w in drawn] for drawn in rng.integers(0, 6, (40, 8))]
        rows = [{"premise": " ".join(drawn[:4]), "hypothesis": " ".join(drawn[4:]), "label": float(rng.uniform(0, 5))}
                for drawn in words]  # fmt: skip
        sets[name] = Dataset.from_frame(pl.DataFrame(rows), name=name)
    training = Training("STS-B Images train", ("STS-B Images", "STS-B MSRpar"), {"average": "word_average"}, seeds=1)
    scale = Scale(sets={}, trainings=(training,), note="", chosen={"draws": 20})
    work = Workplace(tmp_path, scale, "desk", None, None, 0, Steps())
    work.sets = sets
    found = Evidence.of(measured_reports(work))
    assert {(row["model"], row["trained"]) for row in found.gaps} == {("bag of words", False)}
    assert conclude(found)[0].standing == "not measured"
    assert "nothing is trained" in next(table.note for table in compare_tables(found) if table.name == "gaps")


def _messages(*texts: str) -> Dataset:
    return Dataset.from_frame(pl.DataFrame({"text": list(texts)}))


def test_messages_lose_quotations_and_signatures():
    kept = cleaned(
        _messages(
            "In article <1@x> someone@x writes:\n> a quoted line\nwhat I say myself\nand more\n--\nName of the sender",
            "what I say myself\nand more",
            "too short",
            "---\nall of it is below\nand stays where it is",
        )
    )
    assert kept.texts("text") == ["what I say myself and more", "--- all of it is below and stays where it is"]


def test_domains_name_their_own_test_set_first():
    assert dict(domains_of("mnli")) == {"MNLI Telephone": ("MNLI Telephone", "MNLI Letters", "MNLI Face-to-Face")}
    sources = dict(domains_of("stsb"))
    assert len(sources) == 4
    assert all(tests[0] == own and len(set(tests)) == 4 for own, tests in sources.items())


def _written(folder: Path, name: str, rows: list[tuple[str, ...]]) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines("\t".join(row) + "\n" for row in rows)


def test_sets_are_built_of_what_is_there(tmp_path: Path):
    """Sentiment from files in the layout in which they are published; Yelp is not there, nor is a kind of product."""
    data = tmp_path / "data"
    reviews = [("positive" if i % 2 else "negative", f"review number {i} of it") for i in range(40)]
    for part in ("train", "dev"):
        rows = [("label", "sentence"), *((str(i % 2), f"{part} sentence {i}") for i in range(60))]
        _written(data, f"sst2/{part}.tsv.gz", rows)
    for part in ("train", "test"):
        for label in ("pos", "neg"):
            _written(data, f"imdb/{part}_{label}.tsv.gz",
                     [("label", "text"), *((label, f"{part} {label} review {i}") for i in range(30))])  # fmt: skip
    for kind in ("books", "dvd", "electronics"):
        _written(data, f"amazon_multidomain/{kind}.tsv.gz", [
            ("domain", "polarity", "review_text"), *((kind, label, f"{kind} {text}") for label, text in reviews)
        ])  # fmt: skip
    benchmarks = ("sst2_imdb", "amazon_multidomain", "yelp")
    files = {name: SCALES["desk"].files[name] for name in ("SST-2 train", "SST-2 dev", "SST-2 test", "IMDb",
                                                           "Amazon multi-domain", "Yelp")}  # fmt: skip
    scale = Scale(
        sets={}, trainings=(), note="", files=files,
        chosen={"benchmarks": benchmarks, "most_tested": 10, "most_foreign": 2},
    )  # fmt: skip
    work = Workplace(tmp_path / "out", scale, "desk", data, None, 0, Steps(), absent={"Yelp": "", "SST-2 test": ""})
    pairs = {"premise": ["one", "two", "three"], "hypothesis": ["a", "b", "c"], "label": ["yes", "no", "yes"]}
    work.sets = {"RTE": Dataset.from_frame(pl.DataFrame(pairs))}
    made = prepare(work)
    assert len(made["SST-2"]) == len(made["IMDb"]) == 10
    assert set(made["IMDb train"].label_names) == {"negative", "positive"}
    assert not set(made["Amazon Books"].texts("text")) & set(made["Amazon Books train"].texts("text"))
    # Two texts are one for a model that takes one, and the label of the other task is none of this one's.
    assert set(made["RTE"].texts("text")) < {"one a", "two b", "three c"}
    assert made["RTE"].label_names == ("negative",)
    assert work.unmade["Amazon Kitchen"] == work.unmade["Amazon Kitchen train"] == ("Amazon Kitchen",)
    assert work.unmade["Yelp Chinese"] == work.unmade["Yelp Chinese train"] == ("Yelp",)
    assert not work.unmade.keys() & made.keys()
    told = json.loads((tmp_path / "out" / "sets" / "sst2_imdb" / "benchmark.json").read_text("utf-8"))
    assert told["experiments"]


@pytest.mark.parametrize("size", list(SCALES))
def test_every_size_tests_what_it_has_or_builds(size: str):
    scale = SCALES[size]
    built = {name for each in scale.chosen["benchmarks"] for own, tests in domains_of(each)
             for name in (f"{own} train", *tests)}  # fmt: skip
    asked = {name for each in scale.trainings for name in (each.train, *each.tests)}
    assert asked <= scale.sets.keys() | built
    assert {each["vectors"] for training in scale.trainings for each in training.of.values() if "vectors" in each} <= (
        scale.files.keys()
    )
