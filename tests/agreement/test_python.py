"""What a command gives, its Python function gives: of files, frames, Arrow tables, rows and runs in memory."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.settings import load_settings
from goldassay.runs.store import write_runs
from tests.agreement.outputs import inside, write_input
from tests.lab.training.in_place import in_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["in_place"]

FORMS: dict[str, Callable[[str], Any]] = {
    "path": Path,
    "polars": pl.read_ndjson,
    "pandas": lambda file: pytest.importorskip("pandas").read_json(file, lines=True),
    "arrow": lambda file: pl.read_ndjson(file).to_arrow(),
    "datasets": lambda file: importlib.import_module("datasets").Dataset.from_list(pl.read_ndjson(file).to_dicts()),
    "rows": lambda file: pl.read_ndjson(file).to_dicts(),
    "dataset": goldassay.read_dataset,
}
every_form = pytest.mark.parametrize("form", FORMS)


def stored(place: str) -> pl.DataFrame:
    """All runs in a folder as one table, a row a prediction."""
    return pl.concat(pl.read_parquet(file) for file in sorted(Path(place).glob("*.parquet")))


# How the runs in a folder are handed over.
RUN_FORMS: dict[str, Callable[[str], Any]] = {
    "path": Path,
    "runs": lambda place: [goldassay.read_runs(place, model=model) for model in ("a", "b")],
    "polars": stored,
    "pandas": lambda place: pytest.importorskip("pandas").DataFrame(stored(place).to_dicts()),
    "arrow": lambda place: stored(place).to_arrow(),
    "rows": lambda place: stored(place).to_dicts(),
}
every_form_of_runs = pytest.mark.parametrize("form", RUN_FORMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("python")
    write_input(place)
    with inside(place):
        yield place


def of_command(*arguments: str) -> dict[str, Any]:
    """The report of a command, made once."""
    out = Path("-".join(arguments).replace("/", "_"))
    if not out.exists():
        assert run([*arguments, "-o", str(out), "--quiet"]) == 0
    found: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert found["figures"]
    return found


def assert_alike(report: goldassay.Report, expected: dict[str, Any], *, form: str) -> None:
    found = report.to_dict()
    assert found["figures"] == expected["figures"]
    assert found.get("verdicts") == expected.get("verdicts")
    if form == "path":
        assert found["digest"] == expected["digest"]


SHIFT = ("shift", "generalization", "--runs", "test=runs", "--runs", "far=far", "--in-distribution", "test",
         "--test", "test=test.jsonl", "--test", "far=far.jsonl", "--trained-on", "train.jsonl")  # fmt: skip


@every_form
def test_shift_of_given_runs(folder: Path, form: str) -> None:
    of = FORMS[form]
    report = goldassay.measure_shift(
        runs={"test": "runs", "far": "far"},
        in_distribution="test",
        test={"test": of("test.jsonl"), "far": of("far.jsonl")},
        trained_on=of("train.jsonl"),
        settings=load_settings(),
    )
    assert_alike(report, of_command(*SHIFT), form=form)


@every_form_of_runs
def test_shift_of_runs_in_memory(folder: Path, form: str) -> None:
    of = RUN_FORMS[form]
    runs = {"test": of("runs"), "far": of("far")}
    # Several in a list are of one dataset each, which they name themselves.
    given = [*runs["test"], *runs["far"]] if form == "runs" else runs
    report = goldassay.measure_shift(
        runs=given,
        in_distribution="test",
        test={"test": "test.jsonl", "far": "far.jsonl"},
        trained_on="train.jsonl",
        settings=load_settings(),
    )
    assert_alike(report, of_command(*SHIFT), form=form)


@every_form
def test_shift_of_models_trained_here(folder: Path, form: str) -> None:
    arguments = ("shift", "generalization", "train.jsonl", "--test", "test=test.jsonl", "--test", "far=far.jsonl",
                 "--model", "quick_probe", "--seeds", "2")  # fmt: skip
    of = FORMS[form]
    report = goldassay.measure_shift(
        of("train.jsonl"),
        {"test": of("test.jsonl"), "far": of("far.jsonl")},
        model="quick_probe",
        seeds=2,
        settings=load_settings(),
    )
    assert_alike(report, of_command(*arguments), form=form)


@every_form_of_runs
def test_a_comparison(folder: Path, form: str) -> None:
    report = goldassay.compare_models(RUN_FORMS[form]("runs"), clusters="premise", test="test.jsonl",
                                      settings=load_settings())  # fmt: skip
    expected = of_command("compare", "runs", "--clusters", "premise", "--test", "test.jsonl")
    assert_alike(report, expected, form=form)
    (row,) = report.tables["comparisons"].to_dicts()
    assert row["difference"] == expected["comparison"]["pairs"][0]["difference"]


def test_a_comparison_of_two_runs(folder: Path) -> None:
    both = [goldassay.read_runs("runs", model=model) for model in ("a", "b")]
    report = goldassay.compare_models(*both, settings=load_settings())
    assert_alike(report, of_command("compare", "runs"), form="runs")


@every_form
def test_a_comparison_with_right_labels_in_memory(folder: Path, form: str) -> None:
    report = goldassay.compare_models(
        "runs", clusters="premise", test=FORMS[form]("test.jsonl"), settings=load_settings()
    )
    expected = of_command("compare", "runs", "--clusters", "premise", "--test", "test.jsonl")
    assert_alike(report, expected, form=form)


@every_form_of_runs
def test_instability(folder: Path, form: str) -> None:
    report = goldassay.measure_instability(RUN_FORMS[form]("runs"), settings=load_settings())
    assert_alike(report, of_command("instability", "runs"), form=form)


@every_form
def test_rows_to_rewrite(folder: Path, form: str) -> None:
    of = FORMS[form]
    report = goldassay.suggest_rewrites(of("train.jsonl"), of("test.jsonl"), shares=[0.1], settings=load_settings())
    expected = of_command("leakage", "suggest", "train.jsonl", "--test", "test.jsonl", "--shares", "0.1")
    assert_alike(report, expected, form=form)
    ranked = pl.read_parquet(Path("leakage-suggest-train.jsonl---test-test.jsonl---shares-0.1/tables/rows.parquet"))
    assert report.tables["rows"]["example_id"].to_list() == ranked["example_id"].to_list()


@pytest.mark.parametrize("form", ["polars", "rows"])
def test_an_audit_of_runs_in_memory(folder: Path, form: str) -> None:
    of, runs = FORMS[form], RUN_FORMS["runs" if form == "rows" else form]
    given = [*runs("runs"), *runs("far")] if form == "rows" else [runs("runs"), runs("far")]
    report = goldassay.audit(
        of("train.jsonl"), of("test.jsonl"), given, {"far": of("far.jsonl")}, settings=load_settings()
    )
    arguments = ("audit", "train.jsonl", "--test", "test.jsonl", "--runs", "runs", "--runs", "far",
                 "--elsewhere", "far=far.jsonl")  # fmt: skip
    expected = of_command(*arguments)
    assert report.to_dict()["verdicts"].keys() == expected["verdicts"].keys()
    assert report.to_dict()["figures"] == expected["figures"]


@every_form
def test_a_benchmark_by_a_column(folder: Path, form: str) -> None:
    rows = [
        {**row, "kind": f"kind {number % 2}"} for number, row in enumerate(pl.read_ndjson("train.jsonl").to_dicts())
    ]
    pl.DataFrame(rows).write_ndjson("kinds.jsonl")
    if not Path("built").exists():
        assert run(["shift", "build", "--by", "kind", "--source", "kinds.jsonl", "-o", "built", "--quiet"]) == 0
    built = goldassay.build_shift(by="kind", source=FORMS[form]("kinds.jsonl"))
    built.save("again")
    written = sorted(path.relative_to("built") for path in Path("built").rglob("*.jsonl"))
    assert len(written) == 6
    for file in written:
        assert (
            pl.read_ndjson("again" / file).drop("example_id").equals(pl.read_ndjson("built" / file).drop("example_id"))
        )
    assert built.to_dict()["sets"] == json.loads(Path("built/benchmark.json").read_text(encoding="utf-8"))["sets"]


@pytest.mark.parametrize("form", ["path", "polars", "rows", "dataset"])
def test_training(folder: Path, form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("torch")
    # Of paths in processes of their own, as a command trains.
    if form != "path":
        request.getfixturevalue("in_place")
    arguments = ("--model", "ngram_average", "--seeds", "1", "--changes", "epochs=1", "--workers", "1")
    if not Path("trained").exists():
        assert run(["train", "train.jsonl", "--test", "test=test.jsonl", *arguments, "-o", "trained", "--quiet"]) == 0
    of = FORMS[form]
    report = goldassay.train(
        of("train.jsonl"), {"test": of("test.jsonl")}, "ngram_average", seeds=1, changes={"epochs": 1}, workers=1,
        out=tmp_path, settings=load_settings(),
    )  # fmt: skip
    assert report.failures.height == 0
    one, other = (goldassay.read_runs(place) for place in ("trained", tmp_path))
    assert (one.logits == other.logits).all()
    assert (one.predictions == other.predictions).all()


def scored(name: str, sure: float) -> goldassay.Runs:
    """Runs of two seeds with logits, as sure of themselves as that."""
    rng = np.random.default_rng(len(name))
    gold = np.arange(90) % 3
    logits = rng.normal(0, 1, (2, 90, 3)) + sure * np.eye(3)[gold]
    return goldassay.Runs.from_arrays(
        logits=logits, gold=gold, seeds=[1, 2], label_names=["a", "b", "c"], model="m", dataset=name,
        example_ids=[f"{name}-{row}" for row in range(90)],
    )  # fmt: skip


@pytest.mark.parametrize("form", ["path", "runs", "polars"])
def test_shift_detection(folder: Path, form: str) -> None:
    runs = {"own": scored("own", 3.0), "away": scored("away", 0.5)}
    for name, each in runs.items():
        if not Path(f"{name}-scored").exists():
            write_runs(each, Path(f"{name}-scored"))
    arguments = ("shift", "detection", "--inside", "own=own-scored", "--outside", "away=away-scored", "--draws", "50",
                 "--recall", "0.9", "--scores", "max_softmax", "--scores", "energy")  # fmt: skip
    of = {"path": lambda name: f"{name}-scored", "runs": runs.__getitem__,
          "polars": lambda name: stored(f"{name}-scored")}[form]  # fmt: skip
    report = goldassay.detect_shift(
        {"own": of("own")}, {"away": of("away")}, scores=["max_softmax", "energy"], recall=0.9, draws=50,
        settings=load_settings(),
    )  # fmt: skip
    assert_alike(report, of_command(*arguments), form=form)
