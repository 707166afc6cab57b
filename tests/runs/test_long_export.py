"""Runs as one long table: what is in it, that it is read back, and that no spreadsheet executes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.data.readers.eval_results import read_results
from goldassay.questions.run_scores import score_runs
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import long_frame, write_long, write_runs
from tests.cli.run_files import goldassay, refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["goldassay", "refused"]


def made(model: str = "m", n_runs: int = 2, n: int = 12, seed: int = 0, **more: Any) -> Runs:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, n)
    predictions = np.where(rng.random((n_runs, n)) < 0.7, gold, 1 - gold)
    return Runs.from_arrays(
        predictions,
        gold,
        label_names=("no", "yes"),
        model=model,
        groups={"half": np.array(["a", "b"] * (n // 2))},
        **more,
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers(0, 1000))
def test_rows_are_those_of_a_loop(n_runs: int, n_steps: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    predictions, gold = rng.integers(0, 3, (n_runs, n_steps, n)), rng.integers(0, 3, n)
    runs = Runs.from_arrays(predictions, gold, label_names="abc", checkpoints=np.arange(n_steps) * 10)
    rows = long_frame(runs).select("seed", "checkpoint", "example_id", "label", "prediction", "score").rows()
    names = np.array(["a", "b", "c"])
    right = predictions == gold
    expected = [
        (str(r), str(10 * t), str(i), names[gold[i]], names[predictions[r, t, i]], float(right[r, t, i]))
        for r in range(n_runs)
        for t in range(n_steps)
        for i in range(n)
    ]
    assert rows == expected


def test_it_is_read_back(tmp_path: Path, goldassay: Callable[..., Any]) -> None:
    sets = [
        made("one", configuration={"prompt": "cot", "shots": 3}),
        made("one", seed=1, configuration={"prompt": "plain", "shots": 0}),
        made("two", seed=2),
    ]
    for runs in sets:
        write_runs(runs, tmp_path / "runs")
    done = goldassay("runs", "export", "runs", "--to", "long", "-o", "out")
    assert done.status == 0, done.err
    told = []
    for place in ("runs", "out/long.csv"):
        listed = json.loads(goldassay("runs", "list", place, "--json", "-").out)
        told.append([(row["model"], row["dataset"], row["n_runs"], row["n_examples"]) for row in listed])
    assert told[0] == told[1]
    assert len(told[0]) == 3
    back = read_runs(tmp_path / "out" / "long.csv", model="two")
    assert np.array_equal(back.scores, sets[2].scores)
    assert back.groups["half"].tolist() == sets[2].groups["half"].tolist()


def test_nothing_in_it_is_executed(tmp_path: Path) -> None:
    runs = Runs.from_arrays(
        ["-1", "=1+1"], ["-1", "-1"], label_names=("-1", "=1+1"), example_ids=["@cell", "-5"], model="+model"
    )
    table = pl.read_csv(write_long([runs], tmp_path), infer_schema=False)
    assert table["example_id"].to_list() == ["'@cell", "-5"]
    assert table["prediction"].to_list() == ["-1", "'=1+1"]
    assert table["model"].unique().to_list() == ["'+model"]
    assert "split" not in table.columns


def test_statsmodels_takes_it(tmp_path: Path) -> None:
    """A linear model of its rows gives the difference of the mean scores."""
    sets = [made("one", n_runs=3, n=40), made("two", n_runs=3, n=40, seed=5)]
    table = pl.read_csv(write_long(sets, tmp_path)).to_pandas()
    found = smf.ols("score ~ model", table).fit()
    assert found.params["model[T.two]"] == pytest.approx(sets[1].scores.mean() - sets[0].scores.mean())


def test_what_only_records_say_is_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    write_runs(made(), tmp_path / "runs")
    line = refused("runs", "export", "runs", "--to", "long", "-o", "out", "--developer", "me")
    assert "--developer is said with --to every_eval_ever" in line
    assert not (tmp_path / "out").exists()


def test_scores_for_model_repositories_are_those_of_runs_scores(
    tmp_path: Path, goldassay: Callable[..., Any], refused: Callable[..., str]
) -> None:
    """The fields and their kinds are those of the hub's documentation of .eval_results."""
    lines = [f"{model},mine,{seed},e{i},{'ab'[i % 2]},{'' if i == seed else 'ab'[i * step % 2]}"
             for model, seeds, step in (("acme/one", (1, 2), 1), ("two", (1,), 3)) for seed in seeds
             for i in range(30)]  # fmt: skip
    (tmp_path / "runs.csv").write_text("\n".join(["model,dataset,seed,id,label,prediction", *lines]) + "\n")
    command = ("runs", "export", "runs.csv", "--to", "eval_results", "-o", "out")
    url = "https://example.org/report: #1"
    made = goldassay(*command, "--benchmark", "acme/mine:default", "--source-url", url)
    assert made.status == 0, made.err
    files = sorted((tmp_path / "out").rglob("*.yaml"))
    assert [file.relative_to(tmp_path / "out").as_posix() for file in files] == [
        f"{model}/.eval_results/default.yaml" for model in ("acme__one", "two")
    ]
    for file, own in zip(files, score_runs(str(tmp_path / "runs.csv")).sets, strict=True):
        (entry,) = yaml.safe_load(file.read_text())
        # The hub's own library reads it, and writes the same.
        assert eval_result_entries_to_yaml(parse_eval_result_entries([entry])) == [entry]
        assert set(entry) == {"dataset", "value", "source", "notes"}
        assert entry["dataset"] == {"id": "acme/mine", "task_id": "default"}
        assert entry["source"] == {"url": url, "name": "goldassay"}
        assert entry["value"] == own.mean
        assert f"over examples {own.examples_low:.4f} to {own.examples_high:.4f}" in entry["notes"]
        over_runs = "" if own.runs_low is None else f"over 2 runs {own.runs_low:.4f} to {own.runs_high:.4f}"
        assert over_runs in entry["notes"]
        assert ("runs" in entry["notes"]) == (own.n_runs == 2)
        assert f"{own.n_runs} of {30 * own.n_runs} answers have no score" in entry["notes"]
        # What is written is read back equal.
        (row,) = read_results(file).to_dicts()
        assert (row["dataset"], row["task"], row["value"]) == ("acme/mine", "default", own.mean)
        assert (row["model"], row["notes"], row["source_url"]) == (file.parts[-3], entry["notes"], url)
    assert "--benchmark NAMESPACE/NAME:TASK" in refused(*command)
    assert "--benchmark NAMESPACE/NAME:TASK" in refused(*command, "--benchmark", "mine")
    assert "with --to eval_results" in refused(*command[:4], "long", *command[5:], "--source-url", url)
    with (tmp_path / "runs.csv").open("a") as file:
        file.write("two,other,1,e1,a,a\n")
    assert "--dataset NAME" in refused(*command, "--benchmark", "acme/mine:default")
