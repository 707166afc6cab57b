"""Runs for mended rows: each answer stays with its text, whatever became of the rows around it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.data.decisions import Decision, append_decision
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import content_columns, keys_of
from goldassay.questions.matching import sort_by_dataset
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, unloaded_sets
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import in_order, states

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
N = 40


def rows(*, with_ids: bool) -> list[dict[str, Any]]:
    made = [
        # Rows 3 to 5 have no gold label and are dropped when the file is read.
        {"premise": f"Somebody number {i} is there.", "hypothesis": f"Person {i} is away.",
         "label": "-" if i in (3, 4, 5) else LABELS[i % 3]}
        for i in range(N)
    ]  # fmt: skip
    return [{"id": f"e{i}", **row} for i, row in enumerate(made)] if with_ids else made


def made(folder: Path, *, with_ids: bool, kind: str = "predictions") -> tuple[Path, dict[str, list[str]]]:
    """A dataset, runs of two seeds on its labelled rows, and {hypothesis: predictions of the runs}."""
    data = folder / "test.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(with_ids=with_ids)), "utf-8")
    dataset, rng = read_dataset(data), np.random.default_rng(0)
    codes = rng.integers(0, 3, (2, len(dataset)))
    given: dict[str, Any] = {"predictions": codes, "gold": dataset.labels()}
    if kind == "scores":
        given = {"scores": rng.integers(0, 2, (2, len(dataset))).astype(float)}
    if kind == "logits":
        given |= {"logits": 9.0 * np.eye(3)[codes]}
    runs = Runs.from_arrays(
        **given, label_names=dataset.label_names if kind != "scores" else None, dataset="test", model="bert",
        example_ids=dataset.examples["example_id"].to_list(), checkpoints=None,
    )  # fmt: skip
    write_runs(runs, folder / "runs")
    said = [[dataset.label_names[code] for code in column] for column in codes.T]
    return data, dict(zip(dataset.examples["hypothesis"].to_list(), said, strict=True))


def decide(data: Path, at: int, word: str, **more: Any) -> None:
    dataset = read_dataset(data)
    key = keys_of(dataset.examples, content_columns(dataset))[at]
    name = str(dataset.examples["example_id"][at])
    append_decision(data.with_name("test.decisions.jsonl"), Decision(key, name, word, **more))


def mended(tmp_path: Path, capsys: pytest.CaptureFixture[str] | None = None) -> str:
    at = ["mend", str(tmp_path / "test.jsonl"), "--runs", str(tmp_path / "runs"), "-o", str(tmp_path / "mended")]
    assert run(at) == 0
    return "" if capsys is None else capsys.readouterr().out


def other(label: str) -> str:
    return LABELS[(LABELS.index(label) + 1) % 3]


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("kind", ["predictions", "logits"])
def test_an_answer_stays_with_its_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], with_ids: bool, kind: str
) -> None:
    data, said = made(tmp_path, with_ids=with_ids, kind=kind)
    before = read_dataset(data).examples
    decide(data, 0, "drop")
    decide(data, 20, "drop")
    decide(data, 5, "relabel", label=other(before["label"][5]))
    decide(data, 30, "rewrite", texts={"hypothesis": "Nobody knows."})
    out = mended(tmp_path, capsys)
    assert states(out, "bert on test:", "34 of 37 answers", "1 changed row", "ask the model")
    after = read_dataset(tmp_path / "mended" / "test.jsonl").examples
    text_of = dict(zip(after["example_id"].to_list(), after["hypothesis"].to_list(), strict=True))
    label_of = dict(zip(after["hypothesis"].to_list(), after["label"].to_list(), strict=True))
    files = sorted((tmp_path / "mended" / "runs").glob("*.parquet"))
    assert len(files) == 2
    for seed, file in enumerate(files):
        table = pl.read_parquet(file)
        assert table.height == 34
        for row in table.iter_rows(named=True):
            text = text_of[row["example_id"]]
            assert row["prediction"] == said[text][seed]
            assert row["label"] == label_of[text]
            assert row["score"] == float(row["prediction"] == row["label"])
    assert "Nobody knows." in label_of
    assert before["hypothesis"][0] not in label_of


def test_scores_alone_do_not_say_what_they_are_by_another_label(tmp_path: Path) -> None:
    data, _ = made(tmp_path, with_ids=True, kind="scores")
    label = read_dataset(data).examples["label"][5]
    decide(data, 5, "relabel", label=other(label))
    decide(data, 6, "drop")
    mended(tmp_path)
    (first, _) = sorted((tmp_path / "mended" / "runs").glob("*.parquet"))
    assert pl.read_parquet(first).height == 35


@pytest.mark.parametrize("with_ids", [True, False])
def test_the_audit_scores_the_mended_rows_as_a_command_of_runs_does(tmp_path: Path, with_ids: bool) -> None:
    data, said = made(tmp_path, with_ids=with_ids)
    train = pl.DataFrame(
        {"premise": [f"Other {i}." for i in range(90)], "hypothesis": [f"It is {i % 7}." for i in range(90)],
         "label": [LABELS[i % 3] for i in range(90)]}
    )  # fmt: skip
    label = read_dataset(data).examples["label"][5]
    decide(data, 0, "drop")
    decide(data, 5, "relabel", label=other(label))
    mended(tmp_path)
    test, runs = tmp_path / "mended" / "test.jsonl", tmp_path / "mended" / "runs"
    after = read_dataset(test).examples
    wanted = np.mean(
        [[each == label for each in said[text]] for text, label in after.select("hypothesis", "label").iter_rows()],
        axis=0,
    ).mean()
    report = goldassay.audit(train, test, runs=runs)
    alone = goldassay.measure_instability(runs)
    found = [each.figures.filter(question="instability").select("id", "value", "n") for each in (report, alone)]
    assert found[0].equals(found[1])
    assert found[0].row(by_predicate=pl.col("id") == "instability.mean")[1:] == (
        pytest.approx(float(wanted), abs=1e-12),
        len(after),
    )


def test_runs_by_row_number_are_not_taken_for_those_of_a_shorter_file(tmp_path: Path) -> None:
    data, _ = made(tmp_path, with_ids=False)
    decide(data, 0, "drop")
    mended(tmp_path)
    sets = unloaded_sets(find_runs([str(tmp_path / "runs")], RunChoice()), RunChoice())
    shorter = read_dataset(tmp_path / "mended" / "test.jsonl")
    # Of the runs' numbers two are of no row that is left, and three rows have no label: but one is beyond the end.
    with pytest.raises(InputError, match=in_order("2 of their 37 examples", "test part", "goldassay mend --runs")):
        sort_by_dataset(sets, shorter.label_names, {shorter.name: shorter})


def test_runs_of_other_rows_stay_as_they_are_or_are_said_to_be_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = made(tmp_path, with_ids=True)
    decide(data, 0, "drop")
    far = Runs.from_arrays(predictions=[[0, 1, 1]], gold=[0, 1, 2], label_names=LABELS, dataset="far", model="bert",
                           example_ids=["f0", "f1", "f2"])  # fmt: skip
    (written,) = write_runs(far, tmp_path / "runs")
    (tmp_path / "runs" / "near.csv").write_text("example_id,dataset,prediction\nx,near,neutral\n")
    out = mended(tmp_path, capsys)
    assert states(out, "- bert on far:", "as they were")
    assert states(out, "- model on near:", "not written", "runs of model on near", "predictions")
    assert (tmp_path / "mended" / "runs" / written.name).read_bytes() == written.read_bytes()


def test_runs_that_lack_rewritten_rows_are_said_to(tmp_path: Path) -> None:
    data, _ = made(tmp_path, with_ids=True)
    decide(data, 7, "rewrite", texts={"premise": "Nobody."})
    mended(tmp_path)
    sets = unloaded_sets(find_runs([str(tmp_path / "mended" / "runs")], RunChoice()), RunChoice())
    test = read_dataset(tmp_path / "mended" / "test.jsonl")
    found = sort_by_dataset(sets, test.label_names, {test.name: test})
    assert [each.is_comparable for each in found.sets["test"]] == [False]
    assert states(found.remarks[0], "runs of bert on test", "36 of the 37 examples", "test;")


def test_what_cannot_be_mended_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, _ = made(tmp_path, with_ids=True)
    decide(data, 0, "drop")
    mended(tmp_path)
    out, again = str(tmp_path / "mended"), str(tmp_path / "mended" / "runs")
    kept = sorted((tmp_path / "mended").rglob("*"))
    assert run(["mend", str(data), "--runs", again, "-o", out]) == 2
    assert states(capsys.readouterr().err, "mended ones", "--out")
    (tmp_path / "other.csv").write_text("example_id,label,prediction\nx,neutral,neutral\n")
    assert run(["mend", str(data), "--runs", str(tmp_path / "other.csv"), "-o", str(tmp_path / "new")]) == 2
    assert "1 of their 1 examples are not in the test part" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert sorted((tmp_path / "mended").rglob("*")) == kept
    items = tmp_path / "items.jsonl"
    item = {"question": "Which?", "choices": ["one", "two"], "answer": "B"}
    items.write_text(json.dumps(item) + "\n" + json.dumps({**item, "question": "What?"}) + "\n", "utf-8")
    (tmp_path / "items.decisions.jsonl").write_text("")
    assert run(["mend", str(items), "--runs", str(tmp_path / "runs"), "-o", str(tmp_path / "new")]) == 2
    assert "--runs: runs of items are not written anew" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["instability", "compare", "board", "runs scores", "leakage measure", "artifacts gap"]
)
@pytest.mark.parametrize("align", ["exact", "intersect"])
def test_runs_by_row_number_are_not_held_against_a_shorter_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, align: str
) -> None:
    """Their common numbers are those of other texts: scores of nothing, where a few labels agree by chance."""
    data, said = made(tmp_path, with_ids=False)
    table = pl.DataFrame(
        [{"model": model, "prediction": each[0], "example_id": name}
         for model in ("one", "two")
         for name, each in zip(read_dataset(data).examples["example_id"].cast(pl.String), said.values(), strict=True)]
    )  # fmt: skip
    table.write_csv(tmp_path / "runs.csv")
    decide(data, 9, "drop")
    assert run(["mend", str(data), "-o", str(tmp_path / "mended")]) == 0
    shorter, runs = str(tmp_path / "mended" / "test.jsonl"), str(tmp_path / "runs.csv")
    given = [*command.split(), runs, "--test", shorter, "--align", align]
    if command == "leakage measure":
        given = [*command.split(), "--runs", runs, "--test", shorter, "--align", align]
    if command == "artifacts gap":
        pl.DataFrame(
            {"example_id": [str(at) for at in range(39)], "difficulty": ["easy", "hard", "uncovered"] * 13}
        ).write_csv(tmp_path / "classes.csv")
        given = [*command.split(), str(tmp_path / "classes.csv"), "--class", "difficulty", "--runs", *given[2:]]
    capsys.readouterr()
    assert run(given) == 2
    assert "names rows by numbers beyond the 39 rows of test" in capsys.readouterr().err


def test_numbers_from_one_are_told_from_those_from_nought(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    whole.write_text("".join(json.dumps({**row, "label": "neutral"}) + "\n" for row in rows(with_ids=False)), "utf-8")
    table = pl.DataFrame({"example_id": list(range(1, N + 1)), "prediction": ["neutral"] * N, "model": "m"})
    table.write_csv(tmp_path / "runs.csv")
    for align in ("exact", "intersect"):
        with pytest.raises(InputError, match=r"align='position' takes row for row"):
            goldassay.read_runs(tmp_path / "runs.csv", gold=whole, align=align)
    assert goldassay.read_runs(tmp_path / "runs.csv", gold=whole, align="position").scores.mean() == 1
