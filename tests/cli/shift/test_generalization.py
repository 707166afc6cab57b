"""`goldassay shift generalization`: what is written, what is printed, what is refused."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goldassay.cli.main import run
from tests.cli.run_files import refused
from tests.cli.shift.toys import answers, as_probabilities, numbers, texts
from tests.end_to_end.conftest import Outcome, goldassay
from tests.stated import says, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]


@pytest.fixture
def sets(tmp_path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    own, other = answers("own"), answers("other", n=70, accuracy=0.6, sureness=1.0)
    own.write_parquet(tmp_path / "own.parquet")
    other.write_parquet(tmp_path / "other.parquet")
    return own, other


@pytest.mark.slow
def test_runs_made_elsewhere(goldassay: Command, tmp_path: Path, sets: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    own, other = sets
    texts(tmp_path / "own.jsonl", own, "a plain tale of kings and ships")
    shared = texts(tmp_path / "other.jsonl", other, "the motor of this fridge is loud")
    # One text of the other set is made one of the own set's, in other case and spacing.
    lines = [json.loads(line) for line in shared.read_text().splitlines()]
    lines[3]["text"] = json.loads((tmp_path / "own.jsonl").read_text().splitlines()[0])["text"].upper() + "  "
    shared.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = goldassay(
        "shift", "generalization", "--runs", "own.parquet", "--runs", "other.parquet", "--in-distribution", "own",
        "--label-names", "negative,positive", "--test", "own=own.jsonl", "--test", "other=other.jsonl",
        "-o", "report", "--json", "copy.json", "--draws", "200", "--figures", "pdf", "--latex",
        "--parameters", "toy=1.5M",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "report/report.html"
    assert "Generalization of toy: own to other" in done.out
    document = json.loads((tmp_path / "copy.json").read_text())
    assert document == json.loads((tmp_path / "report/report.json").read_text())
    found = document["shift"]
    first, second = found["generalization"]
    kept = other.filter(pl.col("example_id") != lines[3]["example_id"])
    for row, frame in ((first, own), (second, kept)):
        assert row["value"] == pytest.approx((frame["label"] == frame["prediction"]).mean())
        assert row["low"] <= row["value"] <= row["high"]
    assert second["gap"] == pytest.approx(first["value"] - second["value"])
    assert second["relative_gap"] == pytest.approx(second["gap"] / first["value"])
    assert (first["own"], second["own"], first["n_runs"], second["n"]) == (True, False, 2, 69)
    assert second["size"] == 1_500_000
    assert [row["n_shared"] for row in found["overlaps"]] == [1]
    assert any(note.startswith("1 of the 70 texts of other is in own as well") for note in found["notes"])
    (domain,) = found["domains"]
    assert domain["auroc"] > 0.95
    assert {"fridge", "kings"} <= {word["word"] for word in domain["words"]}
    assert {row["dataset"] for row in found["calibration"]} == {"own", "other"}
    assert all(0 <= row["aurc_best"] <= row["aurc"] <= 1 for row in found["risk_coverage"])
    worst = found["confident_errors"][0]
    assert worst["label"] != worst["prediction"]
    assert worst["confidence"] >= found["confident_errors"][-1]["confidence"] - 0.5
    assert second["loss"] == pytest.approx(second["gap"] / first["excess"])
    assert first["excess"] == pytest.approx(first["value"] - first["floor"])
    assert any(" less above its floor" in sentence for sentence in found["sentences"])
    assert document["verdicts"]["shift"]["headline"]["value"] == second["loss"]
    report = tmp_path / "report"
    assert {path.name for path in (report / "paper").iterdir()} == {"gap-own-other.pdf", "generalization.tex"}
    assert {path.stem for path in (report / "figures").iterdir()} == {
        "shift_slopes", "shift_reliability", "shift_coverage",
    }  # fmt: skip
    table = pl.read_csv(report / "tables/generalization.csv")
    assert table["gap"].to_list() == pytest.approx([0, second["gap"]])
    for name in ("calibration", "reliability", "risk_coverage", "confident_errors", "domain_words"):
        assert (report / f"tables/{name}.parquet").exists()


def test_numbers_are_correlated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frames = {name: numbers(name, noise=noise) for name, noise in (("msrvid", 0.4), ("headlines", 2.0))}
    for name, frame in frames.items():
        frame.write_csv(f"{name}.csv")
    numbers("flat", constant=True).write_csv("flat.csv")
    arguments = ["shift", "generalization", "--in-distribution", "msrvid", "--draws", "100", "-o", "report", "-q"]
    for name in ("msrvid", "headlines", "flat"):
        arguments += ["--runs", f"{name}.csv"]
    assert run(arguments) == 0
    document = json.loads((tmp_path / "report/report.json").read_text())
    rows = {(row["test"], row["metric"]): row for row in document["shift"]["generalization"]}
    for name, frame in frames.items():
        pair = frame["prediction"].to_numpy(), frame["label"].to_numpy()
        assert rows[name, "pearson"]["value"] == pytest.approx(np.corrcoef(*pair)[0, 1])
        assert rows[name, "spearman"]["value"] == pytest.approx(stats.spearmanr(*pair).statistic)
    flat = rows["flat", "pearson"]
    assert (flat["value"], flat["gap"]) == (None, None)
    assert "a constant correlates with nothing" in flat["reason"]
    assert any("flat" in sentence for sentence in document["shift"]["sentences"])
    assert all(row["regression"] for row in document["shift"]["sets"])
    page = (tmp_path / "report/report.html").read_text()
    assert "Pearson&#39;s r" in page


def test_answers_to_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, said in (("cnn", ["The Nile", "rome", "x"]), ("mail", ["nile!", "y", "z"])):
        questions = [
            {"id": f"{name}{i}", "question": "?", "answers": [{"text": right, "answer_start": 0}]}
            for i, right in enumerate(["Nile", "Rome", "Oslo"])
        ]
        gold = {"data": [{"title": "", "paragraphs": [{"context": f"of {name}", "qas": questions}]}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(gold))
        rows = {"example_id": [f"{name}{i}" for i in range(3)], "prediction": said, "seed": 1, "dataset": name}
        pl.DataFrame({**rows, "model": "reader"}).write_csv(f"{name}.csv")
    arguments = ["shift", "generalization", "--runs", "cnn.csv", "--runs", "mail.csv", "--in-distribution", "cnn"]
    arguments += [
        "--test",
        "cnn=cnn.json",
        "--test",
        "mail=mail.json",
        "--metric",
        "exact_match",
        "-q",
        "--draws",
        "50",
    ]
    assert run([*arguments, "-o", "report"]) == 0
    found = json.loads((tmp_path / "report/report.json").read_text())["shift"]
    rows = found["generalization"]
    assert [row["value"] for row in rows] == pytest.approx([2 / 3, 1 / 3])
    assert {row["metric"] for row in rows} == {"exact_match"}
    # All questions of a set are one text: what no word can tell must not keep the gap from being told.
    assert found["domains"] == []
    assert states(found["notes"], "No words mark the shift", "cnn", "mail", "domain classifier")


def test_a_single_run_a_file_without_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("own", "other"):
        answers(name, seeds=(1,), model=None).drop("dataset", "seed", "logits").write_csv(f"{name}.csv")
    arguments = ["shift", "generalization", "--runs", "ID=own.csv", "--runs", "there=other.csv", "-o", "report", "-q"]
    assert run([*arguments, "--draws", "50"]) == 0
    document = json.loads((tmp_path / "report/report.json").read_text())
    assert [row["test"] for row in document["shift"]["generalization"]] == ["ID", "there"]
    assert "There is one run" in stated_by(document["verdicts"]["shift"])


def test_trained_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("train", 120), ("own", 40), ("other", 40)):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for i in range(n):
                label = i % 2
                mood = rng.choice(["good fine glad", "bad poor sad"][label].split(), 2)
                about = "film" if name != "other" else "fridge"
                text = "film good fine 0" if i == 0 and name != "other" else f"{about} {' '.join(mood)} {i}"
                file.write(json.dumps({"text": text, "label": ["yes", "no"][label]}) + "\n")
    (tmp_path / "foreign.jsonl").write_text(
        "".join(json.dumps({"premise": f"water {i}", "hypothesis": "stones", "label": "x"}) + "\n" for i in range(30))
    )
    arguments = ["shift", "generalization", "train.jsonl", "--test", "own=own.jsonl", "--test", "other=other.jsonl"]
    arguments += ["--texts", "nli=foreign.jsonl", "--model", "quick_probe", "--seeds", "2", "--draws", "50", "-q"]
    assert run([*arguments, "-o", "report"]) == 0
    document = json.loads((tmp_path / "report/report.json").read_text())
    rows = document["shift"]["generalization"]
    assert [(row["model"], row["test"], row["n_runs"]) for row in rows] == [
        ("quick_probe", "own", 2),
        ("quick_probe", "other", 2),
    ]
    assert rows[0]["value"] > 0.9
    assert any("joined by one space" in note for note in document["shift"]["notes"])
    assert (rows[0]["n"], rows[0]["n_known"]) == (36, 4)
    assert rows[0]["value_with_known"] is not None
    assert states(stated_by(document["verdicts"]["shift"]), "4 of the 40 texts of own", "training data")
    # Into the same folder with other sets: nothing of the first command is in the report.
    again = ["shift", "generalization", "train.jsonl", "--test", "own=own.jsonl", "--test", "third=other.jsonl"]
    again += ["--model", "quick_probe", "--seeds", "1", "--draws", "50", "-q"]
    (tmp_path / "used").mkdir()
    shutil.copytree("report/runs", "used/runs")
    assert [run([*again, "-o", folder]) for folder in ("used", "fresh")] == [0, 0]
    assert (tmp_path / "used/report.json").read_bytes() == (tmp_path / "fresh/report.json").read_bytes()
    # The texts without labels of the task were predicted, and not scored.
    assert run([
        "shift", "detection", "--inside", "own=report/runs", "--outside", "nli=report/runs", "-o", "detection", "-q",
        "--draws", "50",
    ]) == 0  # fmt: skip
    found = json.loads((tmp_path / "detection/report.json").read_text())["shift"]
    assert {row["score"] for row in found["detection"]} == {"max_softmax", "max_logit", "entropy"}
    assert found["detection"][0]["auroc"] > 0.9
    assert any("energy is the same for every example" in note for note in found["notes"])


def test_a_regression_trained_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = np.array(["a", "man", "plays", "cats", "dog", "runs", "green", "tree", "sky", "old"])
    for name, n in (("train", 80), ("own", 40), ("other", 40)):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for _ in range(n):
                one = rng.choice(words, 5, replace=False)
                kept = int(rng.integers(0, 6))
                two = [*one[:kept], *rng.choice(["x", "y", "z"], 5 - kept)]
                row = {"sentence1": " ".join(one), "sentence2": " ".join(two), "score": kept * 0.95 + 0.1}
                file.write(json.dumps(row) + "\n")
    arguments = ["shift", "generalization", "train.jsonl", "--test", "ID=own.jsonl", "--test", "other=other.jsonl"]
    assert run([*arguments, "--model", "bow,ridge", "--seeds", "2", "--draws", "50", "-q", "-o", "report"]) == 0
    rows = json.loads((tmp_path / "report/report.json").read_text())["shift"]["generalization"]
    own = {(row["model"], row["metric"]): row for row in rows if row["own"]}
    assert own["bow", "pearson"]["value"] > 0.8
    assert own["ridge", "pearson"]["value"] > 0.5
    assert (own["bow", "pearson"]["n_runs"], own["ridge", "pearson"]["n_runs"]) == (1, 2)


REFUSED = {
    "neither": ((), "neither training data nor runs were given; give TRAIN with --test, or predictions with --runs"),
    "one set": (
        ("--runs", "own.parquet"),
        "no model answered on two datasets, and a shift is from one to another (toy on own); give the predictions of "
        "the same model on both, NAME=PATH",
    ),
    "own set": (
        ("--runs", "own.parquet", "--runs", "other.parquet"),
        "which of 'other', 'own' is of the distribution that the model was trained on is not said; name it with "
        "--in-distribution NAME",
    ),
    "no such set": (
        ("--runs", "own.parquet", "--runs", "other.parquet", "--in-distribution", "othr"),
        "there are no runs on 'othr', which was to be the model's own distribution; did you mean 'other'?",
    ),
    "size": (
        ("--runs", "own.parquet", "--parameters", "toy=large"),
        "'toy=large' is no size of a model; write --parameters bert-base=110M",
    ),
    "endless size": (
        ("--runs", "own.parquet", "--parameters", "toy=1e400"),
        "'toy=1e400' is no size of a model; write --parameters bert-base=110M",
    ),
    "numbers": (
        ("--runs", "own.parquet", "--runs", "other.parquet", "--in-distribution", "own", "--metric", "pearson"),
        "own.parquet: the predictions of toy on other are not numbers, as a correlation needs; leave out --metric, or "
        "give numbers",
    ),
    "draws": (
        ("--runs", "own.parquet", "--runs", "other.parquet", "--in-distribution", "own", "--draws", "0"),
        "--draws is 0; give a whole number, at least 1 and at most 1000000",
    ),
    "no file": (("--runs", "nothing.csv"), "nothing.csv: there is no such file or folder; check the path"),
    "texts without training": (
        ("--runs", "own.parquet", "--texts", "own=own.jsonl"),
        "--texts is for training models; give the texts of datasets with --test NAME=FILE",
    ),
    "one test": (
        ("own.jsonl", "--test", "own.jsonl", "--model", "bow"),
        "one evaluation set was given, and a gap is between two; give --test ID=FILE for the model's own distribution "
        "and --test NAME=FILE for another",
    ),
    "no test": (
        ("own.jsonl", "--model", "bow"),
        "no evaluation sets were given, and a gap is between two; give --test ID=FILE for the model's own distribution "
        "and --test NAME=FILE for another",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, refused: Callable[..., str], tmp_path: Path, sets: object) -> None:
    arguments, said = REFUSED[case]
    line = refused("shift", "generalization", *arguments, "-o", "report")
    assert line.removeprefix("goldassay: ").replace("other.parquet: ", "own.parquet: ") == said
    assert not (tmp_path / "report").exists()


def test_each_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for train in ("films", "goods"):
        for name in ("films", "goods"):
            frame = answers(name, accuracy=0.95 if name == train else 0.7).with_columns(
                train_set=pl.lit(f"{train}_train")
            )
            frame.write_parquet(f"{train}-{name}.parquet")
    paths = [f"{train}-{name}.parquet" for train in ("films", "goods") for name in ("films", "goods")]
    arguments = [part for path in paths for part in ("--runs", path)]
    arguments = ["shift", "generalization", *arguments, "--label-names", "negative,positive", "-q", "--draws", "50"]
    # A set whose name the training set's begins with is the model's own; what was said goes before.
    assert run([*arguments, "-o", "report"]) == 0
    rows = json.loads((tmp_path / "report/report.json").read_text())["shift"]["generalization"]
    assert [(row["model"], row["test"]) for row in rows if row["own"]] == [
        ("toy@films_train", "films"), ("toy@goods_train", "goods"),
    ]  # fmt: skip
    swapped = ["--in-distribution", "films_train=goods", "--in-distribution", "films"]
    assert run([*arguments, *swapped, "-o", "swapped"]) == 0
    rows = json.loads((tmp_path / "swapped/report.json").read_text())["shift"]["generalization"]
    assert [row["test"] for row in rows if row["own"]] == ["goods", "films"]


def test_runs_that_did_not_answer_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers("own", seeds=(1, 2, 3)).write_parquet("own.parquet")
    answers("far", seeds=(2, 3, 4)).write_parquet("far.parquet")
    answers("bare", label=False).drop("prediction").write_parquet("bare.parquet")
    arguments = ["shift", "generalization", "--label-names", "negative,positive", "-q", "--draws", "50"]
    for name in ("own", "far", "bare"):
        arguments += ["--runs", f"{name}.parquet"]
    assert run([*arguments, "--in-distribution", "own", "-o", "report"]) == 0
    found = json.loads((tmp_path / "report/report.json").read_text())["shift"]
    assert [row["n_runs"] for row in found["generalization"]] == [2, 2]
    assert [each["seeds"] for each in found["sets"]] == [["2", "3"]] * 2
    assert any("only the 2 of 3 runs" in note for note in found["notes"])
    assert any("bare have no labels" in note for note in found["notes"])


def test_what_has_no_labels_is_named_where_nothing_else_is_left(tmp_path: Path, refused: Callable[..., str]) -> None:
    answers("own").write_parquet(tmp_path / "own.parquet")
    answers("bare", label=False).drop("prediction").write_parquet(tmp_path / "bare.parquet")
    paths = ("--runs", "own.parquet", "--runs", "bare.parquet", "--in-distribution", "own")
    assert refused("shift", "generalization", *paths, "-o", "report") == says(
        "goldassay:", "bare", "no labels", "two datasets", "--test bare=FILE"
    )


@pytest.mark.slow
def test_a_network_trained_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    for name, n in (("train", 200), ("own", 40), ("other", 40), ("foreign", 30)):
        rows = [
            {
                "text": f"{name} {['good', 'bad'][i % 2]} {i} {' '.join('abcdefg'[i % 7 :])}",
                "label": ["yes", "no"][i % 2],
            }
            # Sets that a network answers alike, row by row, would be taken for one.
            for i in range(name == "other", n + (name == "other"))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["shift", "generalization", "train.jsonl", "--test", "own=own.jsonl", "--test", "other=other.jsonl"]
    arguments += ["--texts", "foreign=foreign.jsonl", "--model", "average", "--seeds", "2", "--features", "-q"]
    assert run([*arguments, "-o", "report", "--draws", "50"]) == 0
    rows = json.loads((tmp_path / "report/report.json").read_text())["shift"]["generalization"]
    assert [(row["model"], row["test"], row["n_runs"]) for row in rows] == [
        ("average", "own", 2),
        ("average", "other", 2),
    ]
    for file in (tmp_path / "report/runs").glob("*foreign*.parquet"):
        assert not {"label", "score"} & set(pl.read_parquet_schema(file))
    sides = ["--inside", "own=report/runs", "--outside", "foreign=report/runs", "--train", "train=report/runs"]
    assert run(["shift", "detection", *sides, "-q", "--draws", "50", "-o", "detection"]) == 0
    found = json.loads((tmp_path / "detection/report.json").read_text())["shift"]["detection"]
    assert {row["score"] for row in found} >= {"mahalanobis", "knn"}


def test_a_model_that_has_learned_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers("ID", accuracy=0.5).write_parquet("own.parquet")
    answers("far", accuracy=0.5).write_parquet("far.parquet")
    arguments = ["shift", "generalization", "--runs", "own.parquet", "--runs", "far.parquet", "-q", "--draws", "50"]
    assert run([*arguments, "--label-names", "negative,positive", "-o", "report"]) == 0
    document = json.loads((tmp_path / "report/report.json").read_text())
    assert document["shift"]["sentences"][0].startswith("toy: The model may know nothing: accuracy is ")
    verdict = document["verdicts"]["shift"]
    assert verdict["verdict"] == "unresolved"
    assert verdict["evidence"] in document["shift"]["sentences"][0]


def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    kinds: dict[str, list[str] | list[float]] = {"classes": ["yes", "no"], "numbers": [2.5, 1.0], "constant": [2.5]}
    for name, labels in kinds.items():
        rows = [{"sentence1": f"a {i}", "sentence2": f"b {i}", "label": labels[i % len(labels)]} for i in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cases = {
        (
            "classes",
            "classes",
            "bilstn",
        ): "there is no model 'bilstn'; did you mean 'bilstm' or 'lstm'? (or a checkpoint's folder or name on the hub)",
        (
            "constant",
            "numbers",
            "average",
        ): "constant.jsonl: all labels are the same number; give a file with different ones",
        ("numbers", "classes", "ridge"): "classes.jsonl: its labels are classes, those of the training data are "
        "numbers; give a file of the same task",
        (
            "classes",
            "classes",
            "ridge",
        ): "ridge is a regression, and the labels are classes; choose --model quick_probe",
        ("numbers", "numbers", "quick_probe"): "quick_probe learns classes, and the labels are numbers; choose --model "
        "bow or ridge",
        ("classes", "numbers", "bow"): "numbers.jsonl: its labels are numbers, those of the training data are classes; "
        "give a file of the same task",
    }
    for (train, test, model), said in cases.items():
        tests = ["--test", f"ID={test}.jsonl", "--test", f"x={test}.jsonl"]
        line = refused("shift", "generalization", f"{train}.jsonl", *tests, "--model", model, "-q", "-o", "report")
        assert line.startswith(f"goldassay: {said}")
        assert not (tmp_path / "report").exists()


def test_probabilities_in_the_place_of_logits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers("ID").write_parquet("own.parquet")
    arguments = ["shift", "generalization", "--runs", "own.parquet", "--runs", "far.parquet", "-q", "--draws", "50"]
    frame = answers("far", sureness=1.0)
    tables = []
    for kept in (frame, as_probabilities(frame)):
        kept.write_parquet("far.parquet")
        assert run([*arguments, "--label-names", "negative,positive", "-o", "report"]) == 0
        tables.append(pl.read_parquet("report/tables/calibration.parquet"))
    notes = json.loads((tmp_path / "report/report.json").read_text())["shift"]["notes"]
    assert any(note.startswith("The logits of toy on far are probabilities") for note in notes)
    assert not any("ID" in note for note in notes if "probabilities" in note)
    for column in ("ece", "brier", "confidence"):
        assert tables[1][column].to_list() == pytest.approx(tables[0][column].to_list())


def test_logits_whose_classes_are_not_named_are_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ID", "far"):
        answers(name).write_parquet(f"{name}.parquet")
    arguments = ["shift", "generalization", "--runs", "ID.parquet", "--runs", "far.parquet", "-q", "--draws", "50"]
    for labels in ([], ["--label-names", "negative,positive"]):
        assert run([*arguments, *labels, "-o", "report"]) == 0
        found = json.loads((tmp_path / "report/report.json").read_text())["shift"]
        assert bool(found["calibration"]) == bool(labels)
        assert any("name the classes in their order with --label-names" in note for note in found["notes"]) != bool(
            labels
        )


def test_a_model_that_answered_on_one_set_alone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = [answers("ID", model=model) for model in ("one", "two")]
    pl.concat(both).write_parquet("own.parquet")
    answers("far", model="one").write_parquet("far.parquet")
    arguments = ["shift", "generalization", "--runs", "own.parquet", "--runs", "far.parquet", "-q", "--draws", "50"]
    assert run([*arguments, "-o", "report"]) == 0
    found = json.loads((tmp_path / "report/report.json").read_text())["shift"]
    assert {row["model"] for row in found["generalization"]} == {"one"}
    assert states(found["notes"], "two", "ID alone", "left out")
    sides = ["--inside", "own.parquet", "--outside", "far.parquet"]
    assert run(["shift", "detection", *sides, "-q", "--draws", "50", "-o", "detection"]) == 0
    notes = json.loads((tmp_path / "detection/report.json").read_text())["shift"]["notes"]
    assert states(notes, "two", "ID alone", "left out")


def test_the_same_answers_under_two_names_are_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    answers("own").drop("dataset").write_parquet(tmp_path / "own.parquet")
    sides = {"generalization": ("--runs", "ID=own.parquet", "--runs", "far=own.parquet"),
             "detection": ("--inside", "ID=own.parquet", "--outside", "far=own.parquet")}  # fmt: skip
    for command, paths in sides.items():
        assert refused("shift", command, *paths, "-q", "-o", "none") == says(
            "goldassay: own.parquet", "toy", "on far", "on ID", "another dataset"
        )


def test_the_training_data_is_no_other_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ID", "far", "train"):
        answers(name).with_columns(train_set=pl.lit("books")).write_parquet(f"{name}.parquet")
    arguments = ["shift", "generalization", "--runs", ".", "-q", "--draws", "50", "-o", "report"]
    note = ("train is the training data",)
    for more, tests in (([], ["ID", "far"]), (["--in-distribution", "train"], ["train", "ID", "far"])):
        assert run([*arguments, *more]) == 0
        found = json.loads((tmp_path / "report/report.json").read_text())["shift"]
        assert [row["test"] for row in found["generalization"]] == tests
        assert states(found["notes"], note) != bool(more)


def test_probabilities_of_a_class_are_no_regression(tmp_path: Path, refused: Callable[..., str]) -> None:
    for name in ("ID", "far"):
        frame = numbers(name).with_columns((pl.col("label") > 2.5).cast(pl.Int64), pl.col("prediction") / 5)
        frame.write_csv(tmp_path / f"{name}.csv")
    line = refused("shift", "generalization", "--runs", "ID.csv", "--runs", "far.csv", "-q", "-o", "report")
    assert line.startswith("goldassay: ")
    assert "0 and 1" in line or "label" in line
