"""Every verdict names the examples behind it, beside the user's own columns."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.questions.rows import beside_data, first_to_read
from tests.agreement.outputs import inside, write_input
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

NAMED = ("artifacts", "leakage", "instability", "shift")


def measured(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["dataset", "example_id", "worth"], orient="row")


def made(name: str, **columns: list[Any]) -> Dataset:
    return Dataset.from_frame({"id": ["1", "2"], "text": ["a b", "c d"], "label": ["x", "y"], **columns}, name=name)


def test_what_was_measured_stands_beside_the_data_in_its_own_order() -> None:
    found = measured(("far", "2", 0.9), ("near", "1", 0.8), ("far", "1", 0.7), ("lost", "1", 0.6))
    rows = beside_data(found, {"far": made("far", source=["p", "q"]), "near": made("near"), "idle": made("idle")})
    assert rows.columns[:3] == ["dataset", "example_id", "worth"]
    assert rows["worth"].to_list() == [0.9, 0.8, 0.7, 0.6]
    assert rows["text"].to_list() == ["c d", "a b", "a b", None]
    assert rows["source"].to_list() == ["q", None, "p", None]
    assert beside_data(found, {}).equals(found)


def test_a_column_of_both_is_that_of_the_data() -> None:
    found = measured(("far", "1", 0.9)).with_columns(pl.lit("wrong").alias("label"))
    assert beside_data(found, {"far": made("far")})["label"].to_list() == ["x"]


def test_the_first_to_read_are_those_whose_texts_are_at_hand_each_once() -> None:
    far = made("far")
    found = measured(("lost", "1", 1.0), ("far", "2", 0.9), ("far", "2", 0.8), ("far", "1", 0.7))
    rows = first_to_read(beside_data(found, {"far": far}), {"far": far}, lambda row: f"worth {row['worth']}", 5)
    assert [(row.example_id, row.text, row.label, row.why) for row in rows] == [
        ("2", "c d", "y", "worth 0.9"), ("1", "a b", "x", "worth 0.7"),
    ]  # fmt: skip
    assert len(first_to_read(beside_data(found, {"far": far}), {"far": far}, str, 1)) == 1


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> goldassay.Report:
    folder: Path = tmp_path_factory.mktemp("rows")
    write_input(folder)
    with inside(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A column that nothing reads, under which a user finds the rows again.
        parts = {
            name: pl.read_ndjson(f"{name}.jsonl").with_row_index("line").with_columns(pl.lit(name).alias("file"))
            for name in ("train", "test", "far")
        }
        return goldassay.audit(parts["train"], parts["test"], ["runs", "far"], {"far": parts["far"]})


@pytest.mark.parametrize("question", NAMED)
def test_rows_are_the_users_own(report: goldassay.Report, question: str) -> None:
    rows = report.rows(question)
    assert rows.height
    assert rows.columns[:2] == ["dataset", "example_id"]
    assert rows["line"].null_count() == 0
    assert set(rows["file"].to_list()) == ({"far"} if question == "shift" else {"test"})
    # The ids of the made data end in the number of their line.
    for row in rows.iter_rows(named=True):
        assert row["example_id"] == f"{row['file']}-{row['line']}"


def test_rows_are_those_that_the_verdicts_count(report: goldassay.Report) -> None:
    examples = report.tables["examples"]
    easy = examples.filter(pl.col("difficulty") == "easy")["example_id"]
    assert sorted(report.rows("artifacts")["example_id"]) == sorted(easy)
    assert all(report.rows("artifacts")["patterns"].list.len() > 0)
    assert report.rows("leakage")["bits"].is_sorted(descending=True)
    unsteady = report.rows("instability")
    assert ((unsteady["mean"] > 0) & (unsteady["mean"] < 1)).all()
    assert set(unsteady["model"].to_list()) == {"a", "b"}
    wrong = report.rows("shift")
    (row,) = [each for each in report.tables["generalization"].to_dicts() if each["model"] == "a" and not each["own"]]
    # Examples that every run gets right are no loss; texts of the training part were left out of the gap.
    assert wrong.filter(pl.col("model") == "a")["share_wrong"].sum() == pytest.approx((1 - row["value"]) * row["n"])


def test_the_list_of_first_rows_has_each_question(report: goldassay.Report) -> None:
    assert report.first is not None
    whys = " ".join(str(row["why"]) for row in report.first.rows)
    for said in ("has the pattern", "is predictable from the", "runs of a are right", "On far "):
        assert said in whys


def test_other_questions_are_refused(report: goldassay.Report) -> None:
    with pytest.raises(InputError, match=in_order("question 'board'", "artifacts, leakage")):
        report.rows("board")
    with pytest.raises(InputError, match=in_order("question 'shift'", "test part")):
        goldassay.Report({}).rows("shift")


def test_a_comparison_names_the_examples_on_which_its_models_differ(tmp_path: Path) -> None:
    write_input(tmp_path)
    with inside(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = {model: goldassay.read_runs("runs", model=model, gold="test.jsonl").final() for model in ("a", "b")}
        rows = goldassay.compare_models("runs", test="test.jsonl").rows("comparison")
        bare = goldassay.compare_models("runs").rows("comparison")
    means = {model: dict(zip(map(str, each.example_ids), each.scores.mean(axis=0), strict=True))
             for model, each in runs.items()}  # fmt: skip
    expected = {name: means["a"][name] - means["b"][name] for name in means["a"]}
    assert {name: gap for name, gap in expected.items() if gap} == dict(
        rows.select("example_id", "difference").iter_rows()
    )
    sizes = rows["difference"].abs().to_list()
    assert sizes == sorted(sizes, reverse=True)
    data = pl.read_ndjson(tmp_path / "test.jsonl")
    texts = dict(data.select(pl.col("id").cast(pl.String), "hypothesis").iter_rows())
    assert rows["hypothesis"].to_list() == [texts[name] for name in rows["example_id"]]
    assert bare.columns == ["dataset", "example_id", "a", "b", "mean_a", "mean_b", "difference"]
