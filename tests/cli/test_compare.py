"""`goldassay compare`: what it prints, writes and refuses; once as a process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.instability import Comparison, compare, seeds_needed
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.cli.run_files import goldassay, long_table, refused, write_checkpoints
from tests.end_to_end.conftest import Outcome
from tests.end_to_end.conftest import goldassay as process
from tests.stated import says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "process", "refused"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_checkpoints(tmp_path / "runs")
    return tmp_path / "runs"


def test_two_models_of_a_folder(goldassay: Command, folder: Path, tmp_path: Path) -> None:
    arguments = ("compare", "runs", "runs", "--model-a", "bert", "--model-b", "roberta", "--dataset", "probe")
    done = goldassay(*arguments, "--json", "result.json")
    assert done.status == 0, done.err
    a, b = (read_runs(folder, model=name, dataset="probe").final().scores for name in ("bert", "roberta"))
    expected = compare(a, b)
    found = json.loads((tmp_path / "result.json").read_text())
    assert set(Comparison.__dataclass_fields__) <= found.keys()
    for name in ("difference", "var_examples", "var_runs", "var_total", "p_value", "p_examples", "probability_better"):
        assert found[name] == pytest.approx(getattr(expected, name)), name
    pooled = float(np.sqrt((a.mean(1).var(ddof=1) + b.mean(1).var(ddof=1)) / 2))
    with pytest.warns(UndefinedMeasureWarning):
        assert seeds_needed(pooled, expected.difference, 0.8, 0.05, expected.example_variance, 60) is None
    assert [found[f"seeds_needed{end}"] for end in ("", "_low", "_high")] == [None] * 3
    assert (found["a"], found["b"], found["dataset"]) == ("bert", "roberta", "probe")
    for words in ("difference A - B", "noise", "p-values", "P(A > B)", "seeds", "settle it", "note"):
        assert f"\n{words} " in done.out

    # There are two templates: a group, and no clusters unless that is asked for.
    assert "--clusters" not in done.out

    clustered = goldassay(*arguments, "--clusters", "template", "--matched", "--json", "other.json", "--quiet")
    assert (clustered.status, clustered.out) == (0, "")
    other = json.loads((tmp_path / "other.json").read_text())
    assert (other["n_clusters"], other["matched"], other["clusters"]) == (2, True, "template")
    assert other["notes"] == []


def test_order_of_examples_does_not_matter(process: Command, folder: Path, tmp_path: Path) -> None:
    runs = read_runs(folder, model="bert", dataset="probe").final()
    write_runs(runs.take(np.arange(60)[::-1]), tmp_path / "reversed")
    done = process("compare", "runs", "reversed", "--model-a", "bert", "--dataset", "probe", "--json", "r.json")
    assert done.status == 0, done.err
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["difference"] == 0
    assert found["var_examples"] == 0
    assert found["a"] == "runs"
    assert found["b"] == "reversed"


def test_single_published_models(goldassay: Command, data_dir: Path, tmp_path: Path) -> None:
    path = data_dir / "predictions/snli_test_other_models.tsv.gz"
    done = goldassay("compare", path, path, "--model-a", "deberta", "--model-b", "bert", "--json", "r.json")
    assert done.status == 0, done.err
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["difference"] == pytest.approx(0.9174 - 0.9049, abs=1e-4)
    assert found["test"] == "score test"
    assert found["p_value"] == found["p_examples"]
    assert found["var_runs"] is None
    assert found["seeds_needed"] is None
    assert "is better than" not in done.out
    # 120 more examples right than wrong, where the two differ.
    higher = found["n_higher_a"], found["n_higher_b"]
    assert higher[0] - higher[1] == round(9824 * found["difference"])
    assert states(done.out, "deberta", "higher", higher[0], "bert", higher[1], "of 9,824 examples")
    assert "the interval is over examples alone" in done.out
    assert states(done.out, "settle it", "1.25", f"{found['examples_needed']:,} examples", ..., "5 runs", "each model")
    assert "P(A > B)" not in done.out


def test_models_are_told_by_name_among_others_of_another_condition(goldassay: Command, tmp_path: Path) -> None:
    table: dict[str, Any] = {"id": range(6), "label": ["a", "b"] * 3}
    for name in ("bert", "esim", "bert_hypothesis_only"):
        table[f"correct_{name}"] = [1, 0, 1, 1, 0, len(name) % 2]
    pl.DataFrame(table).write_csv(tmp_path / "test.csv")
    done = goldassay("compare", "test.csv", "--model", "bert", "--model", "esim")
    assert (done.status, "on 6 examples of test" in done.out) == (0, True), done.err
    assert "there are runs of 2 conditions" in goldassay("compare", "test.csv").line


def test_what_is_refused(goldassay: Command, folder: Path, tmp_path: Path) -> None:
    shown = goldassay("compare", "runs", "runs", "--dataset", "probe", "--model-a", "bert")
    assert shown.status == 2
    assert shown.line == says("goldassay: runs:", "2 models: bert, roberta", "--model-b bert")

    long_table().write_csv(tmp_path / "a.csv")
    long_table(first=3).write_csv(tmp_path / "b.csv")
    shown = goldassay("compare", "a.csv", "b.csv")
    assert shown.status == 2
    assert states(shown.line, "27 examples, 21 in common", "a lacks 3", "b lacks 3", "e24, e25, e26")
    assert states(shown.line, "--missing wrong", "--missing leave-out", "21 of 27")
    shown = goldassay("compare", "a.csv", "b.csv", "--align", "intersect")
    assert shown.status == 0
    assert states(shown.out, "21 of 27 examples", "left out", 6)

    shown = goldassay("compare", "runs", "--model", "bert", "--model", "gpt")
    assert shown.status == 2
    assert shown.line == says("goldassay: runs:", "no model is called 'gpt'", "bert, roberta")


def test_clusters_and_seeds_that_are_not_there(refused: Callable[..., str], tmp_path: Path) -> None:
    long_table().write_csv(tmp_path / "a.csv")
    assert "a group 'x'" in refused("compare", "a.csv", "a.csv", "--clusters", "x")
    long_table(seeds=(1, 2, 4)).write_csv(tmp_path / "c.csv")
    line = refused("compare", "a.csv", "c.csv", "--matched")
    assert states(line, "2 seeds", "one side", "3, 4", "--matched")


def test_other_right_labels_are_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        gold, predictions = rng.integers(0, 2, 40), rng.integers(0, 2, (2, 40))
        write_runs(Runs.from_arrays(predictions, gold, label_names=("no", "yes"), model=name), tmp_path / name)
    line = refused("compare", "a", "b")
    assert "the right labels of " in line
    assert "--test FILE" in line


def test_all_models_of_a_folder(goldassay: Command, tmp_path: Path) -> None:
    write_checkpoints(tmp_path / "runs", ("bert", "roberta", "xlnet"))
    arguments = ("compare", "runs", "--dataset", "probe")
    done = goldassay(*arguments, "--json", "result.json", "-o", "report", "--figures", "svg", "--latex")
    assert done.status == 0, done.err
    assert "3 models on 60 examples of probe" in done.out
    assert "\nsettle it  " in done.out
    assert states(done.out, "cannot be ranked", "Holm's correction at 0.05")
    assert done.out.splitlines()[-1] == "report/report.html"
    found = json.loads((tmp_path / "result.json").read_text())
    assert len(found["pairs"]) == 3
    assert {"adjusted_p", "distinguishable", "var_total", "detectable_difference"} <= found["pairs"][0].keys()
    document = json.loads((tmp_path / "report/report.json").read_text())
    assert [pair["adjusted_p"] for pair in document["comparison"]["pairs"]] == [
        pytest.approx(pair["adjusted_p"]) for pair in found["pairs"]
    ]
    assert {path.name for path in (tmp_path / "report/paper").iterdir()} == {
        "scores.svg", "decomposition.svg", "differences.svg", "scores.tex", "decomposition.tex", "differences.tex",
    }  # fmt: skip

    two = goldassay(*arguments, "--model", "xlnet", "--model", "*ert*", "--quiet", "--json", "two.json")
    assert (two.status, two.out) == (0, "")
    pair = json.loads((tmp_path / "two.json").read_text())
    assert (pair["a"], pair["b"], pair["n_runs_a"], pair["n_runs_b"]) == ("xlnet", "*ert*", 5, 10)


def test_options_that_do_not_go_together(refused: Callable[..., str], tmp_path: Path) -> None:
    long_table(models=("x", "y")).write_csv(tmp_path / "a.csv")
    assert states(
        refused("compare", "a.csv", "--model", "x", "--model-a", "y"),
        "--model-a",
        "--model-b",
        "two RUNS",
        "--model",
    )
    assert states(refused("compare", "a.csv", "--model", "x"), "one model", "two", "--model")
    assert "need a place; name a folder with -o DIR" in refused("compare", "a.csv", "--latex")
    assert states(refused("compare", "a.csv", "a.csv", "a.csv"), "2 models: x, y", "--model x")
