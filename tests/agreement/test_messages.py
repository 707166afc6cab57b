"""An error names arguments where a function was called, and options where a command was typed."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import GoldassayError
from tests.agreement.outputs import inside, write_input

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What a Python caller cannot write, and what a shell does not take.
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*\b")
_ARGUMENT = re.compile(
    r"(?<![\w-])(columns|gold|labels|label_names|align|checkpoint|format|draws|conditions|changes|settings|clusters"
    r"|test|train|runs|elsewhere|trained_on|train_set|in_distribution|model|dataset|tokenizer|metric|policy|source|name)="
)
ONE_TEXT = [{"text": f"word {number}", "label": "ab"[number % 2]} for number in range(60)]
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("audit", ("nowhere.jsonl",), {}),
    ("audit", ("train.jsonl", "test.jsonl"), {"columns": "label"}),
    ("audit", ("train.jsonl", "test.jsonl"), {"columns": {"label": "nothing"}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"columns": {"nothing": "label"}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"label_names": ["a", "b"]}),
    ("audit", ("train.jsonl", "test.jsonl"), {"clusters": "nothing"}),
    ("audit", ("train.jsonl",), {"split_by": "nothing"}),
    ("audit", ("train.jsonl", ONE_TEXT), {}),
    ("audit", ("train.jsonl", "test.jsonl"), {"elsewhere": {"far": "test.jsonl"}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"elsewhere": {"test": "far.jsonl"}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"elsewhere": {"far": "train.jsonl"}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"elsewhere": {"far": ONE_TEXT}}),
    ("audit", ("train.jsonl", "test.jsonl"), {"elsewhere": ["nowhere.jsonl"]}),
    ("audit", ("train.jsonl", "test.jsonl"), {"runs": "nowhere"}),
    ("audit", ("train.jsonl", "test.jsonl"), {"runs": "far"}),
    ("audit", ("train.jsonl", "test.jsonl"), {"runs": [{"prediction": "neutral"}] * 3}),
    ("audit", ([{"words": "a b", "kind": "x"}] * 20,), {}),
    ("audit", ([{"premise": "a b", "label": "x"}] * 20,), {}),
    ("audit", ([{"text": "a b", "label": "x"}] * 20,), {}),
    ("audit", ([{"text": "a b"}] * 20,), {}),
    ("audit", ([{**row, "gold": "x", "answer": "y"} for row in ONE_TEXT],), {}),
    ("audit", ([{**row, "choice1": row["text"], "choice2": row["text"]} for row in ONE_TEXT],), {}),
    ("audit", ([1, 2, 3],), {}),
    ("audit", (3,), {}),
    ("measure_artifacts", ("train.jsonl",), {"tokenizer": "nothing"}),
    ("measure_artifacts", ("train.jsonl",), {"text": "nothing"}),
    ("measure_artifacts", ("train.jsonl",), {"by": "nothing"}),
    ("measure_artifacts", ("train.jsonl", ONE_TEXT), {}),
    ("measure_artifacts", ([{"text": "a b", "label": "x"}] * 20,), {}),
    ("measure_leakage", (), {}),
    ("measure_leakage", ("train.jsonl", "test.jsonl"), {"conditions": ["nothing"]}),
    ("measure_leakage", ("train.jsonl", "test.jsonl"), {"model": "nothing"}),
    ("measure_leakage", ("train.jsonl", "test.jsonl"), {"seeds": 0}),
    ("measure_leakage", (None, "test.jsonl"), {"runs": "runs"}),
    ("measure_leakage", (None, "far.jsonl"), {"runs": "runs", "model": "a"}),
    ("measure_leakage", (None, None), {"runs": []}),
    ("suggest_rewrites", ("train.jsonl",), {"condition": "nothing"}),
    ("suggest_rewrites", ("train.jsonl",), {"shares": [2.0]}),
    ("suggest_rewrites", (ONE_TEXT[:8],), {}),
    ("measure_instability", ([],), {}),
    ("measure_instability", ("runs",), {"reference": "nothing"}),
    ("measure_instability", ("runs",), {"groups": ["nothing"]}),
    ("measure_instability", ("runs",), {"test": {"nothing": "test.jsonl"}}),
    ("measure_instability", ("runs",), {"test": "far.jsonl"}),
    ("measure_instability", ("runs",), {"test": [{"text": "a", "id": 1}]}),
    ("measure_instability", ("runs",), {"model": "nothing"}),
    ("measure_instability", ("runs",), {"checkpoint": "nothing"}),
    ("measure_instability", ("runs",), {"labels": {"entailment": "nothing"}}),
    ("measure_instability", ([{"example_id": "a", "prediction": "x", "seed": seed} for seed in (1, 2)],), {}),
    ("measure_instability", ([{"example_id": "a", "seed": seed} for seed in (1, 2)],), {}),
    ("measure_instability", ([{"prediction": "x", "label": "x", "seed": seed} for seed in (1, 2)],), {}),
    ("measure_instability",
     ([{"example_id": name, "prediction": "x", "label": "x", "seed": seed} for seed, name in ((1, "a"), (2, "b"))],),
     {}),
    ("measure_instability",
     ([{"example_id": "a", "prediction": "x", "label": "x", "seed": seed, "step": step}
       for seed, step in ((1, 1), (1, 2), (2, 1))],),
     {}),
    ("measure_instability", (3,), {}),
    ("measure_instability", ({"test": "runs"},), {}),
    ("measure_instability", ("runs",), {"columns": ["prediction"]}),
    ("measure_instability", ("runs",), {"align": "nothing"}),
    ("measure_instability", ("runs",), {"test": 3}),
    ("compare_models", (), {}),
    ("compare_models", ("runs",), {"method": "nothing"}),
    ("compare_models", ("runs",), {"model": "a"}),
    ("compare_models", ("runs",), {"model": ["a", "nothing"]}),
    ("compare_models", ("runs",), {"clusters": "nothing"}),
    ("compare_models", ("runs",), {"clusters": "auto"}),
    ("compare_models", ("runs", "far"), {"model_a": "a", "model": ["a", "b"]}),
    ("compare_models", ("runs", "far"), {"model_a": "a", "model_b": "b"}),
    ("compare_models", ("runs", "far"), {}),
    ("compare_models", ([{"example_id": "a", "prediction": "x", "label": "x", "seed": 1}],), {}),
    ("measure_shift", (), {}),
    ("measure_shift", ("train.jsonl",), {"runs": "runs"}),
    ("measure_shift", (), {"runs": "runs", "test": "test.jsonl"}),
    ("measure_shift", (), {"runs": "runs", "texts": "test.jsonl"}),
    ("measure_shift", ("train.jsonl",), {"trained_on": "train.jsonl"}),
    ("measure_shift", ("train.jsonl",), {"model": "quick_probe"}),
    ("measure_shift", ("train.jsonl", ["test.jsonl", "far.jsonl"]), {}),
    ("measure_shift", ("train.jsonl", ["test.jsonl", "test.jsonl"]), {"model": "quick_probe"}),
    ("measure_shift", ("train.jsonl", ["test.jsonl", "far.jsonl"]), {"model": "nothing"}),
    ("measure_shift", ("train.jsonl", ["test.jsonl", "far.jsonl"]), {"model": "ridge"}),
    ("measure_shift", (), {"runs": "runs"}),
    ("measure_shift", (), {"runs": ["runs", "far"]}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "nothing"}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "test", "metric": "nothing"}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "test", "floor": 0.1}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "test", "parameters": {"nothing": 1}}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "test", "draws": 0}),
    ("measure_shift", (), {"runs": ["runs", "far"], "test": {"nothing": "test.jsonl"}}),
    ("measure_shift", (), {"runs": ["runs", "far"], "trained_on": [{"label": "a"}]}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": ["test"]}),
    ("measure_shift", (), {"runs": ["runs", "far"], "in_distribution": "test", "parameters": {"a": "big"}}),
    ("measure_shift", ("train.jsonl", ["test.jsonl", "far.jsonl"]), {"model": 3}),
    ("build_shift", (), {}),
    ("build_shift", ("nothing",), {}),
    ("build_shift", ("stsb",), {}),
    ("build_shift", ("stsb", "runs"), {}),
    ("build_shift", ("stsb",), {"by": "label"}),
    ("build_shift", (), {"by": "label"}),
    ("build_shift", (), {"by": "nothing", "source": "train.jsonl"}),
    ("build_shift", (), {"by": "label", "source": "train.jsonl", "min_rows": 10_000}),
    ("train", ("train.jsonl", "test.jsonl"), {}),
    ("train", ("train.jsonl", None, "ngram_average"), {}),
    ("train", ("train.jsonl", "test.jsonl", "nothing"), {}),
    ("train", ("train.jsonl", "test.jsonl", "ngram_average"), {"seeds": []}),
    ("train", ("train.jsonl", "test.jsonl", "ngram_average"), {"objective": "cross_entropy", "bias": "quick_probe"}),
    ("train", ("train.jsonl", "test.jsonl", "ngram_average"), {"objective": "product_of_experts"}),
    ("train", ("train.jsonl", "test.jsonl", "ngram_average"), {"name": " "}),
    ("train", ("train.jsonl", "test.jsonl", "ngram_average"), {"device": "cuda", "precision": "nothing"}),
    ("train", ("train.jsonl", ["test.jsonl", "test.jsonl"], "ngram_average"), {}),
    ("train", ("train.jsonl", ONE_TEXT, "ngram_average"), {}),
    ("check", ("nowhere",), {}),
    ("check", ([],), {"policy": {"nothing": 1}}),
    ("diff", ("nowhere", "nowhere"), {}),
    ("read_dataset", ("train.jsonl",), {"format": "nothing"}),
    ("read_runs", ("runs",), {}),
    ("read_runs", ("runs",), {"model": "a", "gold": "far.jsonl"}),
]  # fmt: skip
LINES = [
    "audit train.jsonl --test test.jsonl --columns label",
    "audit train.jsonl --test test.jsonl --columns label=nothing",
    "audit train.jsonl --test test.jsonl --label-names a,b",
    "audit train.jsonl --test test.jsonl --clusters nothing",
    "audit train.jsonl --test test.jsonl --elsewhere test=far.jsonl",
    "audit train.jsonl --test test.jsonl --elsewhere far=test.jsonl",
    "audit train.jsonl --test test.jsonl --runs far",
    "artifacts mine train.jsonl --by nothing",
    "artifacts mine train.jsonl --tokenizer nothing",
    "leakage measure",
    "leakage measure --runs runs --test test.jsonl",
    "leakage measure --runs runs --model a --test far.jsonl",
    "leakage suggest train.jsonl --condition empty",
    "instability runs --groups nothing",
    "instability runs --test nothing=test.jsonl",
    "instability runs --test far.jsonl",
    "instability runs --labels entailment=nothing",
    "instability bare.csv",
    "instability steps.csv",
    "instability uneven.csv",
    "instability anonymous.csv",
    "instability one.csv --reference nothing",
    "compare runs --model a",
    "compare runs --clusters nothing",
    "compare runs --clusters auto",
    "compare runs far --model-a a --model-b b",
    "compare runs far --model-a a --model b",
    "compare one.csv",
    "runs show nowhere",
    "runs show runs --model a --test far.jsonl",
    "shift generalization",
    "shift generalization train.jsonl --runs runs",
    "shift generalization --runs runs --texts test.jsonl",
    "shift generalization train.jsonl --trained-on train.jsonl",
    "shift generalization train.jsonl --model quick_probe",
    "shift generalization train.jsonl --test test.jsonl --test test.jsonl --model quick_probe",
    "shift generalization train.jsonl --test test.jsonl --test far.jsonl",
    "shift generalization --runs runs",
    "shift generalization --runs runs --runs far",
    "shift generalization --runs runs --runs far --in-distribution test --floor 0.1",
    "shift generalization --runs runs --runs far --test nothing=test.jsonl",
    "shift build stsb",
    "shift build stsb --by label",
    "shift build --by label",
    "shift build --by label --source train.jsonl --min-rows 10000",
    "train train.jsonl --test test.jsonl",
    "train train.jsonl --model ngram_average",
    "train train.jsonl --test test.jsonl --model ngram_average --objective product_of_experts",
    "train train.jsonl --test test.jsonl --test test.jsonl --model ngram_average",
    "check runs --policy nowhere.toml",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("messages")
    write_input(place)
    tables = {
        "bare": [{"example_id": "a", "prediction": "x", "seed": seed} for seed in (1, 2)],
        "steps": [{"example_id": "a", "prediction": "x", "label": "x", "seed": seed, "step": step}
                  for seed, step in ((1, 1), (1, 2), (2, 1))],
        "uneven": [{"example_id": name, "prediction": "x", "label": "x", "seed": seed}
                   for seed, name in ((1, "a"), (1, "b"), (2, "b"))],
        "anonymous": [{"prediction": "x", "label": "x", "seed": seed} for seed in (1, 2)],
        "one": [{"example_id": "a", "prediction": "x", "label": "x", "seed": 1}],
    }  # fmt: skip
    for name, rows in tables.items():
        pl.DataFrame(rows).write_csv(place / f"{name}.csv")
    with inside(place):
        yield place


def called(call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> str:
    name, given, keywords = call
    shown = [each if isinstance(each, str) else type(each).__name__ for each in given]
    return f"{name}({', '.join([*shown, *keywords])})"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS, ids=called)
def test_python_is_told_of_arguments(folder: Path, call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    name, given, keywords = call
    with pytest.raises(GoldassayError) as raised:
        getattr(goldassay, name)(*given, **keywords)
    message = str(raised.value)
    assert "\n" not in message
    assert not _OPTION.findall(message), message
    assert not re.search(r"\b(TRAIN|RUNS)\b(?!=)", message), message


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("test", lambda: goldassay.audit("train.jsonl", ["test.jsonl"])),
        ("train", lambda: goldassay.measure_artifacts(["train.jsonl"])),
        ("test", lambda: goldassay.measure_leakage("train.jsonl", [3])),
        ("train", lambda: goldassay.suggest_rewrites(["train.jsonl"])),
        ("test", lambda: goldassay.measure_instability("runs", test=[3])),
        ("trained_on", lambda: goldassay.measure_shift(runs="runs", trained_on=["train.jsonl"])),
        ("train", lambda: goldassay.audit(None)),
        ("source", lambda: goldassay.build_shift(by="label", source=[3])),
    ],
)
def test_what_is_no_set_is_refused_by_the_name_of_its_argument(folder: Path, argument: str, call: Any) -> None:
    with pytest.raises(GoldassayError, match=rf"^{argument}( is a list of \d paths?, |: )"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: goldassay.measure_instability("runs", modle="a"),  # type: ignore[call-arg]
        lambda: goldassay.compare_models("runs", modle="a"),  # type: ignore[call-arg]
        lambda: goldassay.measure_shift(runs="runs", modle="a"),  # type: ignore[call-arg]
        lambda: goldassay.train("train.jsonl", "test.jsonl", "ngram_average", epoch=3),
    ],
)
def test_a_keyword_that_is_not_there_is_refused_as_python_does(folder: Path, call: Any) -> None:
    with pytest.raises(TypeError, match=r"^there is no argument '(modle|epoch)'; "):
        call()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_a_shell_is_told_of_options(folder: Path, line: str) -> None:
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        assert run([*line.split(), *([] if line.startswith(("check", "runs")) else ["--quiet"])]) == 2
    message = said.getvalue()
    assert message.count("\n") == 1, message
    assert not _ARGUMENT.findall(message), message


def test_what_is_looked_for_is_found() -> None:
    assert _OPTION.findall("choose with --columns label=NAME, or -o DIR") == ["--columns", "-o"]
    assert not _OPTION.findall("a-b, 0--1, the top-level one, hypothesis-only - and more")
    assert _ARGUMENT.findall("choose with columns={'label': NAME}, or --columns label=NAME") == ["columns"]
