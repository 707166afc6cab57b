"""Models that know nothing, sets that were trained on and other bad input, through the command: none is sound."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.cli.main import run
from tests.cli.run_files import goldassay, refused
from tests.stated import Fact, says, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]
SIDES = ("--runs", "own.csv", "--runs", "other.csv", "--in-distribution", "own", "--draws", "200", "-o", "report")


def write(folder: Path, name: str, **columns: Any) -> None:
    """One run on a dataset."""
    n = len(next(iter(columns.values())))
    ids = [f"{name}{i}" for i in range(n)]
    common = {"model": "guesser", "dataset": name, "seed": 1}
    pl.DataFrame({"example_id": ids, **columns}).with_columns(
        **{key: pl.lit(value) for key, value in common.items()}
    ).write_csv(folder / f"{name}.csv")


def told(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document, and its verdict."""
    document = json.loads((folder / "report/report.json").read_text())
    return document, document["verdicts"]["shift"]


def assert_knows_nothing(done: Outcome, folder: Path, said: Fact) -> None:
    assert done.status == 0, done.err
    assert "Shift        UNRESOLVED" in done.out
    assert "SOUND" not in done.out
    assert states(done.out, said)
    document, verdict = told(folder)
    assert verdict["verdict"] == "unresolved"
    assert states(stated_by(verdict), said)
    assert verdict["headline"] is None
    for row in document["shift"]["generalization"]:
        assert row["loss"] is None
        assert row["relative_gap"] is None
    assert not any("above its floor" in sentence for sentence in document["shift"]["sentences"])
    figures = {row["id"]: row for row in document["figures"] if row["of"].get("test") == "other"}
    assert figures["shift.loss"]["value"] is None
    assert "not significantly above" in figures["shift.loss"]["reason"]
    assert states((folder / "report/report.html").read_text().replace("&#39;", "'"), said)


def test_random_numbers_that_are_correlated(goldassay: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in ("own", "other"):
        write(tmp_path, name, label=rng.uniform(0, 5, 300).round(2), prediction=rng.uniform(0, 5, 300).round(2))
    done = goldassay("shift", "generalization", *SIDES)
    assert_knows_nothing(done, tmp_path, "The model may know nothing: Pearson's r is ")
    assert states(done.out, "is not significantly above", 0)


def test_answers_that_are_never_right(goldassay: Command, tmp_path: Path) -> None:
    for name in ("own", "other"):
        asked = [
            {"id": f"{name}{i}", "question": "?", "answers": [{"text": f"right {i}", "answer_start": 0}]}
            for i in range(200)
        ]
        gold = {"data": [{"title": "", "paragraphs": [{"context": f"of {name}", "qas": asked}]}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(gold))
        write(tmp_path, name, prediction=[f"wrong {i}" for i in range(200)])
    gold_of = ("--test", "own=own.json", "--test", "other=other.json", "--metric", "exact_match")
    done = goldassay("shift", "generalization", *SIDES, *gold_of)
    assert_knows_nothing(done, tmp_path, ("know nothing", "exact match", "0.0", "on own", "best constant"))


def test_scores_that_are_all_zero(goldassay: Command, tmp_path: Path) -> None:
    for name in ("own", "other"):
        write(tmp_path, name, score=np.zeros(200))
    done = goldassay("shift", "generalization", *SIDES, "--metric", "mean", "--floor", "0")
    assert_knows_nothing(done, tmp_path, ("know nothing", "score", "0.0", "on own", "declared floor", "0.0"))


def test_a_mean_without_a_declared_floor_is_never_sound(goldassay: Command, refused: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("own", "other"):
        write(tmp_path, name, score=rng.uniform(0.6, 0.9, 400))
    undeclared = goldassay("shift", "generalization", *SIDES)
    assert "Shift        UNRESOLVED" in undeclared.out
    assert states(stated_by(told(tmp_path)[1]), "its floor", "was not declared", "0.0", "on own")
    assert told(tmp_path)[1]["next_step"].endswith("--floor 0.")
    declared = goldassay("shift", "generalization", *SIDES, "--floor", "0")
    assert "Shift        SOUND" in declared.out
    assert "its declared floor is 0.0 on own" in stated_by(told(tmp_path)[1])
    # Above half a point nearly nothing is known any more, and the same gap may be a large loss.
    higher = goldassay("shift", "generalization", *SIDES, "--floor", "0.7")
    assert "Shift        UNRESOLVED" in higher.out


def test_a_floor_is_declared_for_means_alone(refused: Command, tmp_path: Path) -> None:
    for name in ("own", "other"):
        write(tmp_path, name, label=["y", "n"] * 50, prediction=["y", "y"] * 50)
    assert "accuracy has one of its own" in refused("shift", "generalization", *SIDES, "--floor", "0.2", "-q")


def sentence(i: int, name: str) -> dict[str, str]:
    return {"example_id": f"{name}{i}", "text": f"{name} {'good' if i % 2 else 'bad'} tale {i}", "label": "yn"[i % 2]}


def write_known(folder: Path, n_known: int) -> None:
    """A training file, its own test set, and another of 249 texts of which some stand in the training file."""
    rng = np.random.default_rng(0)
    rows = {name: [sentence(i, name) for i in range(n)] for name, n in (("train", 300), ("own", 400), ("other", 249))}
    for i in range(n_known):
        rows["other"][i] |= {"text": f" {rows['train'][i]['text'].upper()}", "label": rows["train"][i]["label"]}
    for name, each in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each))
        gold = np.array([row["label"] for row in each])
        # Known texts are answered by heart, others of both sets by 9 in 10.
        right = (rng.random(len(each)) < 0.9) | ((np.arange(len(each)) < n_known) & (name == "other"))
        write(folder, name, label=gold, prediction=np.where(right, gold, np.where(gold == "y", "n", "y")))


def test_texts_of_the_training_file_are_left_out_and_said(goldassay: Command, tmp_path: Path) -> None:
    write_known(tmp_path, 186)
    texts = ("--test", "own=own.jsonl", "--test", "other=other.jsonl")
    done = goldassay("shift", "generalization", *SIDES, *texts, "--trained-on", "train.jsonl")
    assert done.status == 0, done.err
    said = ("186 of the 249", "other", "74.7 %", "training data", "left out; with them")
    document, verdict = told(tmp_path)
    row = document["shift"]["generalization"][1]
    frame = pl.read_csv(tmp_path / "other.csv")
    right = (frame["label"] == frame["prediction"]).to_numpy()
    assert (row["n"], row["n_known"], row["known_share"]) == (63, 186, pytest.approx(186 / 249))
    assert row["value"] == pytest.approx(right[186:].mean())
    assert row["value_with_known"] == pytest.approx(right.mean())
    own = document["shift"]["generalization"][0]["value"]
    assert (row["gap"], row["gap_with_known"]) == (pytest.approx(own - row["value"]), pytest.approx(own - right.mean()))
    page = (tmp_path / "report/report.html").read_text()
    for output in (done.out, page, stated_by(verdict)):
        assert states(output.replace("\N{NO-BREAK SPACE}", " "), said)
    assert "gap with them" in page
    assert verdict["verdict"] != "sound"
    figures = {row["id"]: row for row in document["figures"] if row["of"].get("test") == "other"}
    assert figures["shift.known_share"]["value"] == row["known_share"]
    for key in ("gap", "gap_with_known"):
        assert [figures[f"shift.{key}"][end] for end in ("value", "low", "high")] == [
            row[key], row[f"{key}_low"], row[f"{key}_high"],
        ]  # fmt: skip
    assert figures["shift.gap_with_known"]["n"] == 249
    assert not any("not looked up: give it with --trained-on" in note for note in document["shift"]["notes"])


@pytest.mark.parametrize(("n_known", "said"), [(49, False), (50, True)])
def test_more_than_a_fifth_forbids_sound(
    n_known: int, said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """49 of 249 are less than a fifth, 50 more."""
    monkeypatch.chdir(tmp_path)
    write_known(tmp_path, n_known)
    texts = ("--test", "own=own.jsonl", "--test", "other=other.jsonl", "--trained-on", "train.jsonl", "-q")
    assert run(["shift", "generalization", *SIDES, *texts]) == 0
    assert ("More than a fifth of the texts of other" in stated_by(told(tmp_path)[1])) == said


def test_without_the_training_file_it_is_said_that_nothing_was_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_known(tmp_path, 0)
    assert run(["shift", "generalization", *SIDES, "-q"]) == 0
    notes = told(tmp_path)[0]["shift"]["notes"]
    assert states(notes, "not looked up: give it with --trained-on")


def test_a_set_that_is_all_training_data_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    write_known(tmp_path, 249)
    texts = ("--test", "own=own.jsonl", "--test", "other=other.jsonl", "--trained-on", "train.jsonl")
    assert refused("shift", "generalization", *SIDES, *texts) == says(
        "goldassay: other.csv", "every text of other", "training data"
    )


def test_own_texts_of_the_training_file_are_left_out_too(goldassay: Command, tmp_path: Path) -> None:
    """A model that knows half of its own test set by heart, and is as good elsewhere as on the rest."""
    rng = np.random.default_rng(0)
    rows = {name: [sentence(i, name) for i in range(600)] for name in ("train", "own", "other")}
    for i in range(110):
        rows["own"][i] |= {"text": rows["train"][i]["text"], "label": rows["train"][i]["label"]}
    for name, each in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each))
        gold = np.array([row["label"] for row in each])
        right = (rng.random(600) < 0.8) | ((np.arange(600) < 110) & (name == "own"))
        write(tmp_path, name, label=gold, prediction=np.where(right, gold, np.where(gold == "y", "n", "y")))
    texts = ("--test", "own=own.jsonl", "--test", "other=other.jsonl")
    done = goldassay("shift", "generalization", *SIDES, *texts, "--trained-on", "train.jsonl")
    assert done.status == 0, done.err
    document, verdict = told(tmp_path)
    own, other = document["shift"]["generalization"]
    frame = pl.read_csv(tmp_path / "own.csv")
    right = (frame["label"] == frame["prediction"]).to_numpy()
    assert (own["n"], own["n_known"], own["known_share"]) == (490, 110, pytest.approx(110 / 600))
    assert (own["value"], own["value_with_known"]) == pytest.approx((right[110:].mean(), right.mean()))
    assert (other["n_known"], other["known_share"]) == (0, 0)
    assert (other["gap"], other["gap_with_known"]) == pytest.approx(
        (right[110:].mean() - other["value"], right.mean() - other["value"])
    )
    assert states(stated_by(verdict), "110 of the 600 texts of own", "left out; with them")
    figures = {row["id"]: row for row in document["figures"] if row["of"].get("test") == "own"}
    assert figures["shift.known_share"]["value"] == own["known_share"]
    assert figures["shift.score_with_known"]["value"] == own["value_with_known"]
    for row in rows["own"]:
        row["text"] = rows["train"][int(row["example_id"].removeprefix("own"))]["text"]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows["own"]))
    assert goldassay("shift", "generalization", *SIDES, *texts, "--trained-on", "train.jsonl").status == 0
    verdict = told(tmp_path)[1]
    assert verdict["verdict"] == "unresolved"
    assert states(stated_by(verdict), "All texts of own", "training data")


def test_what_is_trained_here_is_compared_with_its_training_file(goldassay: Command, tmp_path: Path) -> None:
    write_known(tmp_path, 186)
    tests = ("--test", "own=own.jsonl", "--test", "other=other.jsonl", "--model", "quick_probe", "--seeds", "2")
    done = goldassay("shift", "generalization", "train.jsonl", *tests, "--draws", "50", "-o", "report")
    assert done.status == 0, done.err
    assert "186 of the 249 texts of other" in done.out
    assert told(tmp_path)[0]["shift"]["generalization"][1]["n_known"] == 186


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "one label": (
        {"label": ["y"] * 60, "prediction": ["y"] * 59 + ["n"]},
        {"label": ["y", "n"] * 30, "prediction": ["y", "n"] * 30},
        "all labels of own are the same, so that always naming it gets 100",
    ),
    "one label elsewhere": (
        {"label": ["y", "n"] * 300, "prediction": ["y", "n"] * 300}, {"label": ["y"] * 600, "prediction": ["y"] * 600},
        "All labels of other are the same, so that always naming it gets 100 there.",
    ),
    "constant reader": (
        {"label": ["y", "n"] * 40, "prediction": ["y"] * 80},
        {"label": ["y", "n"] * 40, "prediction": ["y"] * 79 + ["n"]},
        "accuracy is 50.0 on own, always naming its most frequent label gets 50.0",
    ),
    "equal gold": (
        {"label": [2.5] * 60, "prediction": np.linspace(0, 5, 60)},
        {"label": np.linspace(0, 5, 60), "prediction": np.linspace(0, 5, 60)},
        "all targets of 'own' are equal, and nothing correlates with a constant",
    ),
    "constant numbers": (
        {"label": np.linspace(0, 5, 60), "prediction": [2.5] * 60},
        {"label": np.linspace(0, 5, 60), "prediction": np.linspace(0, 5, 60)},
        "the predictions on 'own' are all equal, and a constant correlates with nothing",
    ),
    "few clusters": (
        {"label": ["y", "n"] * 100, "prediction": ["y", "n"] * 100},
        {"label": ["y", "n"] * 9, "prediction": ["y", "n"] * 9},
        "The examples of other form 18.0 effective clusters; 20 are needed.",
    ),
    "no labels": (
        {"score": [1.0] * 90 + [0.0] * 10}, {"score": [0.0] * 10 + [1.0] * 90},
        "The right labels of own are missing: it is not known whether the model exceeds the accuracy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_has_its_sentence_and_is_never_sound(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, other, said = BAD[case]
    for name, columns in (("own", own), ("other", other)):
        write(tmp_path, name, **columns)
    more = ["--metric", "pearson"] if case in ("equal gold", "constant numbers") else []
    assert run(["shift", "generalization", *SIDES, "-q", *more]) == 0
    verdict = told(tmp_path)[1]
    # Without a spread of the right answers there is no score, and nothing to lose.
    undefined = case in ("equal gold", "constant numbers")
    assert verdict["verdict"] == ("not measurable" if undefined else "unresolved")
    assert said in stated_by(verdict)


def test_probabilities_that_are_no_numbers_are_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    for name in ("own", "other"):
        rows = {
            "example_id": [f"{name}{i}" for i in range(60)], "label": ["y", "n"] * 30, "prediction": ["y", "n"] * 30,
            "logits": [[0.2, float("nan") if (i, name) == (7, "own") else 0.8] for i in range(60)],
        }  # fmt: skip
        pl.DataFrame(rows).with_columns(model=pl.lit("m"), dataset=pl.lit(name), seed=1).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    sides = ("--runs", "own.parquet", "--runs", "other.parquet", "--in-distribution", "own", "-o", "report")
    assert refused("shift", "generalization", *sides, "--label-names", "n,y") == says(
        "goldassay: own.parquet", "logits", "not a number", "leave out"
    )


@pytest.mark.parametrize("changed", [True, False])
def test_near_copies_of_the_own_set_are_no_other_distribution(
    goldassay: Command, tmp_path: Path, changed: bool
) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnoprstuvw"), 6)) for _ in range(500)]
    texts = [" ".join(rng.choice(words, 15)) for _ in range(4000)]
    # Of each text one word is another one; or all are.
    copies = [f"{text.rsplit(' ', 1)[0]} {rng.choice(words)}" for text in texts]
    rows = {"own": texts, "other": copies if changed else [" ".join(rng.choice(words, 15)) for _ in texts]}
    gold = rng.choice(["y", "n"], len(texts))
    for name, each in rows.items():
        lines = [
            json.dumps({"example_id": f"{name}{i}", "text": text, "label": str(gold[i])}) for i, text in enumerate(each)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        right = rng.random(len(each)) < 0.9
        write(tmp_path, name, label=gold, prediction=np.where(right, gold, np.where(gold == "y", "n", "y")))
    done = goldassay("shift", "generalization", *SIDES, "--test", "own=own.jsonl", "--test", "other=other.jsonl")
    assert done.status == 0, done.err
    document, verdict = told(tmp_path)
    row = document["shift"]["generalization"][1]
    assert row["loss_high"] < 0.1
    assert verdict["verdict"] == ("unresolved" if changed else "sound")
    assert (row["near_share"] > 0.99) is changed
    assert ("nothing is known of another distribution" in stated_by(verdict)) is changed
    assert any("are near copies of texts of own" in note for note in document["shift"]["notes"]) is changed
