"""Models, datasets and seeds that are told by the names of files and folders alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import goldassay
from goldassay import list_runs, read_runs
from goldassay.runs.finding import find_slices
from goldassay.runs.places import describe_numbers, models_named
from goldassay.runs.run_parts import Request

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["bert", "esim"], {"bert": ("bert", ""), "esim": ("esim", "")}),
        (["seed_1", "seed_2"], {}),
        (["1", "2"], {}),
        (["preds-1", "preds-2"], {}),
        (["gpt-4", "phi-3", "llama"], {"gpt-4": ("gpt-4", ""), "phi-3": ("phi-3", ""), "llama": ("llama", "")}),
        (
            ["gpt-4-0314", "gpt-4-0613", "qwen"],
            {"gpt-4-0314": ("gpt-4-0314", ""), "gpt-4-0613": ("gpt-4-0613", ""), "qwen": ("qwen", "")},
        ),
        (
            ["bert_seed1", "bert_seed2", "esim"],
            {"bert_seed1": ("bert", "1"), "bert_seed2": ("bert", "2"), "esim": ("esim", "")},
        ),
        (["a-1", "a-2", "b-1", "b-2"], {"a-1": ("a", "1"), "a-2": ("a", "2"), "b-1": ("b", "1"), "b-2": ("b", "2")}),
        (["a-1", "a-2", "b-1"], {"a-1": ("a-1", ""), "a-2": ("a-2", ""), "b-1": ("b-1", "")}),
        (["bert", "seed_1"], {}),
        (["preds-7", "preds-9"], {}),
        (["bert_seed3", "bert_seed7"], {}),
        (["bert-1", "bert-2", "bert-3"], {}),
        (["llama-2", "llama-3"], {"llama-2": ("llama-2", ""), "llama-3": ("llama-3", "")}),
        (["b-2402", "b-2407"], {"b-2402": ("b-2402", ""), "b-2407": ("b-2407", "")}),
        (["a-3", "a-4", "b-3", "b-4"], {each: (each, "") for each in ("a-3", "a-4", "b-3", "b-4")}),
    ],
)
def test_names_tell_models_and_seeds(names: list[str], told: dict[str, tuple[str, str]]) -> None:
    assert models_named(names) == told
    assert models_named(reversed(names)) == told


def _write(folder: Path, layout: str, seeds: tuple[int, ...] = (1, 2), *, with_gold: bool = True) -> Path:
    """Answers of two models to two datasets, whose examples differ."""
    for model in ("gpt-4", "phi-3"):
        for dataset in ("gsm8k", "mmlu"):
            for seed in seeds:
                dealt, drawn = random.Random(dataset), random.Random(f"{model}{dataset}{seed}")
                gold = [dealt.choice("ABCD") for _ in range(40)]
                rows = pl.DataFrame({"id": [f"{dataset}{i}" for i in range(40)], "gold": gold})
                rows = rows.with_columns(prediction=pl.Series([drawn.choice([each, "A"]) for each in gold]))
                place = folder / f"{layout.format(model=model, dataset=dataset, seed=seed)}.jsonl"
                place.parent.mkdir(parents=True, exist_ok=True)
                (rows if with_gold else rows.drop("gold")).write_ndjson(place)
    return folder


@pytest.mark.parametrize("layout", ["{model}/{dataset}", "{dataset}/{model}", "of/{dataset}/answers/{model}"])
def test_of_two_layers_the_examples_tell_which_is_of_datasets(tmp_path: Path, layout: str) -> None:
    listed = list_runs(_write(tmp_path, layout, (1,)))
    assert list(listed.select("model", "dataset", "n_runs").iter_rows()) == [
        ("gpt-4", "gsm8k", 1), ("gpt-4", "mmlu", 1), ("phi-3", "gsm8k", 1), ("phi-3", "mmlu", 1),
    ]  # fmt: skip
    read = read_runs(tmp_path, model="phi-3", dataset="mmlu")
    assert read.example_ids[0] == "mmlu0"
    assert {"Comparison", "Board"} <= {each.title for each in goldassay.look(tmp_path).questions if each.is_asked}


@pytest.mark.parametrize(
    "layout", ["{model}/{dataset}/seed_{seed}", "{dataset}/run{seed}/{model}", "{seed}/{model}/{dataset}"]
)
def test_a_layer_of_numbers_is_of_seeds(tmp_path: Path, layout: str) -> None:
    listed = list_runs(_write(tmp_path, layout))
    assert listed["model"].to_list() == ["gpt-4", "gpt-4", "phi-3", "phi-3"]
    assert listed["n_runs"].to_list() == [2, 2, 2, 2]
    assert read_runs(tmp_path, model="gpt-4", dataset="gsm8k").seeds.tolist() == [1, 2]


@pytest.mark.parametrize("layout", ["{model}/seed_{seed}", "seed_{seed}/{model}", "{model}/{seed}"])
def test_models_with_their_seeds_are_two_models_on_one_dataset(tmp_path: Path, layout: str) -> None:
    listed = list_runs(_write(tmp_path, layout))
    assert list(listed.select("model", "dataset", "n_runs").iter_rows()) == [
        ("gpt-4", "dataset", 2), ("phi-3", "dataset", 2),
    ]  # fmt: skip
    assert read_runs(tmp_path, model="phi-3").seeds.tolist() == [1, 2]


def test_where_all_files_are_of_the_same_examples_no_two_are_runs_of_one(tmp_path: Path) -> None:
    for way in ("few_shot", "zero_shot"):
        for model in ("gpt-4", "phi-3"):
            (tmp_path / way).mkdir(exist_ok=True)
            rows = pl.DataFrame({"id": ["x", "y"], "gold": ["a", "b"], "prediction": ["a", "a"]})
            rows.write_csv(tmp_path / way / f"{model}.csv")
    listed = list_runs(tmp_path)
    assert listed["model"].to_list() == ["few_shot/gpt-4", "few_shot/phi-3", "zero_shot/gpt-4", "zero_shot/phi-3"]
    assert listed["n_runs"].to_list() == [1, 1, 1, 1]


@pytest.mark.parametrize("layout", ["bert/{dataset}_seed{seed}", "bert/seed{seed}/{dataset}"])
def test_datasets_of_one_model_are_no_runs_of_one_dataset(tmp_path: Path, layout: str) -> None:
    for dataset in ("mnli", "snli"):
        for seed in (0, 1):
            place = tmp_path / f"{layout.format(dataset=dataset, seed=seed)}.csv"
            place.parent.mkdir(parents=True, exist_ok=True)
            gold = ["a", "b", "b"] if dataset == "mnli" else ["b", "a", "b"]
            pl.DataFrame({"id": [0, 1, 2], "gold": gold, "prediction": ["a", "a", "b"]}).write_csv(place)
    listed = list_runs(tmp_path)
    assert list(listed.select("dataset", "n_runs").iter_rows()) == [("mnli", 2), ("snli", 2)]
    assert read_runs(tmp_path, dataset="snli").seeds.tolist() == [0, 1]


def test_rows_that_are_only_numbered_do_not_make_one_dataset(tmp_path: Path) -> None:
    for model in ("gpt-4", "phi-3"):
        for dataset in ("gsm8k", "mmlu"):
            (tmp_path / model).mkdir(exist_ok=True)
            rows = pl.DataFrame({"id": ["0", "1"], "score": [0.0, 1.0]})
            rows.write_csv(tmp_path / model / f"{dataset}.csv")
    assert list_runs(tmp_path)["dataset"].to_list() == ["gsm8k", "mmlu", "gsm8k", "mmlu"]


def test_numbered_names_that_may_be_models_are_said(tmp_path: Path) -> None:
    rows = pl.DataFrame({"id": ["x", "y"], "gold": ["a", "b"], "prediction": ["a", "a"]})
    for name in ("phi-1", "phi-2"):
        rows.write_csv(tmp_path / f"{name}.csv")
    found = find_slices(tmp_path, "auto", Request())
    assert [each.partition(" are taken")[0] for each in describe_numbers(found)] == ["phi-1, phi-2"]
    (tmp_path / "plain").mkdir()
    for name in ("preds-1", "preds-2"):
        rows.write_csv(tmp_path / "plain" / f"{name}.csv")
    assert describe_numbers(find_slices(tmp_path / "plain", "auto", Request())) == []
    (tmp_path / "seeds").mkdir()
    for name in ("bert-42", "bert-123", "esim"):
        rows.write_csv(tmp_path / "seeds" / f"{name}.csv")
    (said,) = describe_numbers(find_slices(tmp_path / "seeds", "auto", Request()))
    assert said.startswith("bert-123, bert-42 are taken for models.")
    assert said.endswith("bert_seed1.")
