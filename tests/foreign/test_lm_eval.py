"""Samples of the newest lm-evaluation-harness: what it printed for tasks, filters and groups, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path

# What is of the task as a whole (label and choice of each sample), or no score within [0, 1].
NO_SCORES = {"f1", "mcc", "perplexity", "word_perplexity", "bits_per_byte"}


def results(folder: Path) -> list[tuple[Path, dict[str, dict[str, float]]]]:
    return [(file, json.loads(file.read_text())) for file in sorted(folder.rglob("results_*.json"))]


def test_every_metric_of_every_filter(written: Path) -> None:
    n_checked, refused = 0, set()
    for file, told in results(written):
        time = file.stem.removeprefix("results_")
        for task, metrics in told["results"].items():
            samples = file.with_name(f"samples_{task}_{time}.jsonl")
            if not samples.is_file():
                assert task in told["groups"]
                continue
            datasets = list_runs(samples)["dataset"].to_list()
            for key, printed in metrics.items():
                metric, comma, filtered = key.partition(",")
                if not comma or metric.endswith("_stderr"):
                    continue
                dataset = task if len(datasets) == 1 else f"{task}/{filtered}"
                if metric in NO_SCORES:
                    with pytest.raises(InputError, match=r"not a number for each sample|outside"):
                        read_runs(samples, dataset=dataset, columns={"score": metric})
                    refused.add(metric)
                    continue
                runs = read_runs(samples, dataset=dataset, columns={"score": metric})
                assert runs.scores.mean() == pytest.approx(printed, abs=1e-12), (task, key)
                n_checked += 1
    assert n_checked >= 30
    assert refused == NO_SCORES


def test_a_suite_adds_up_to_the_groups_that_the_harness_prints(written: Path) -> None:
    """Its group weights tasks by their size, and once more does not."""
    report = goldassay.compare_models(written / "suite")
    ours = {(row["a"], row["b"]): row for row in report.tables["totals"].to_dicts()}
    ((pair, row),) = ours.items()
    for key, folder, group in (("micro", "suite", "by_size"), ("macro", "unweighted", "by_task")):
        printed = {told["model_name"]: told["groups"][group]["acc,none"] for _, told in results(written / folder)}
        assert row[f"{key}_difference"] == pytest.approx(printed[pair[0]] - printed[pair[1]], abs=1e-12)


def test_seeds_are_runs_and_shots_configurations(written: Path) -> None:
    """The folder of a model that is given by its path begins with two underscores."""
    frame = list_runs(written / "written")
    assert set(frame["n_runs"]) == {2}
    assert set(frame["seeds"].to_list()[0]) == {"7", "8"}
    assert sorted(frame["dataset"]) == ["binary", "likely", "rolling", "write/first", "write/last-word"]
    shots = list_runs(written / "shots")
    assert shots.height == 2
    assert all("n_shot=" in name for name in shots["model"])
