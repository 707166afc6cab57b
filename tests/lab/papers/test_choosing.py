"""Some of a study's sets and models: which trainings are left, and what of the others would need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay import Dataset
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.data.table import InputFile, Provenance
from goldassay.lab.papers.leakage.sets import SETS
from goldassay.lab.papers.printed import compare_cells
from goldassay.lab.papers.recipe import (
    PRETRAINED,
    Choice,
    NotRun,
    Scale,
    Training,
    Workplace,
    names_of,
    needed_by,
    runnable,
)
from goldassay.lab.papers.running import find_recipe, list_recipes, open_study, run_study
from goldassay.lab.papers.sources import with_reasons
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

SCALE = Scale(
    sets={"A train": "specimen/train", "A": "specimen/test", "B": "anli", "C": "hans"},
    trainings=(
        Training("A train", ("A", "B"), {"small": "ngram_average", "large": PRETRAINED}, 1),
        Training("D train", ("C",), {"small": "ngram_average", "wide": "some/checkpoint"}, 1, of={"small": {
            "vectors": "GloVe"}}),
    ),
    note="",
    files={"GloVe": "glove"},
)  # fmt: skip


def trained(scale: Scale) -> set[tuple[str, str, str]]:
    return {(label, each.train, test) for each in scale.trainings for label in each.models for test in each.tests}


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (Choice(), trained(SCALE)),
        (Choice(only=("B",)), {("small", "A train", "B"), ("large", "A train", "B")}),
        (Choice(only=("B", "small")), {("small", "A train", "B")}),
        (Choice(only=("D train",)), {("small", "D train", "C"), ("wide", "D train", "C")}),
        (Choice(only=("small",)), {each for each in trained(SCALE) if each[0] == "small"}),
        (Choice(without=("A train", "wide")), {("small", "D train", "C")}),
        (Choice(without=("A",)), trained(SCALE) - {("small", "A train", "A"), ("large", "A train", "A")}),
        (Choice(only=("B",), without=("large",)), {("small", "A train", "B")}),
    ],
)
def test_trainings_that_are_asked_for(choice: Choice, left: set[tuple[str, str, str]]):
    choice.check(SCALE)
    assert trained(choice.narrowed(SCALE)) == left


@pytest.mark.parametrize("key", ["only", "without"])
def test_unknown_names_are_refused_with_those_that_exist(key: str):
    with pytest.raises(InputError, match=in_order(key, "Aa", "A train, A, B, C, Glo")):
        Choice(**{key: ("A", "Aa")}).check(SCALE)


def lacking(work: Workplace, scale: Scale = SCALE, *, there: bool = False) -> dict[tuple[str, str, str], str]:
    work.scale, not_run = runnable(scale, work, lambda name: there)
    assert {(each.model, each.train, each.test) for each in not_run} == trained(scale) - trained(work.scale)
    return {(each.model, each.train, each.test): each.why for each in not_run}


def test_each_thing_that_is_not_run_says_what_it_needs(tmp_path: Path):
    work = Workplace(tmp_path, SCALE, "paper", None, None, 0, Steps(), absent={"B": "needs a file"})
    work.unmade["D train"] = ()
    assert lacking(work)["small", "A train", "B"] == "needs B"
    work = Workplace(tmp_path, SCALE, "paper", None, None, 0, Steps(), absent={"B": "x", "GloVe": "y", "A train": "z"})
    assert lacking(work) == {
        ("small", "A train", "A"): "needs A train", ("small", "A train", "B"): "needs A train and B",
        ("large", "A train", "A"): "needs A train and pretrained", ("large", "A train", "B"):
        "needs A train and 2 more", ("small", "D train", "C"): "needs GloVe",
        ("wide", "D train", "C"): "needs some/checkpoint",
    }  # fmt: skip
    work = Workplace(tmp_path, SCALE, "paper", None, "here", 0, Steps())
    assert lacking(work, there=True) == {}


def test_made_sets_need_what_they_are_made_of(tmp_path: Path):
    work = Workplace(tmp_path, SCALE, "paper", None, "here", 0, Steps(), absent={"E": "x"}, unmade={"C": ("E",)})
    not_run = runnable(SCALE, work, lambda name: True)[1]
    assert {each.why for each in not_run} == {"needs E"}
    assert list(needed_by(not_run)) == ["E"]


def test_what_is_not_asked_for_is_left_out_and_needs_nothing(tmp_path: Path):
    work = Workplace(tmp_path, Choice(only=("A",)).narrowed(SCALE), "paper", None, "here", 0, Steps(), absent={"C": ""})
    work.scale, not_run = runnable(SCALE, work, lambda name: True)
    assert {each.why for each in not_run} == {"left out"}
    assert needed_by(not_run) == {}
    work.not_run = not_run
    assert work.missed == not_run
    work.narrowed = True
    assert work.missed == []


def test_a_page_of_some_sets_lists_these_and_what_they_are_made_of(tmp_path: Path):
    def made(name: str, *digests: str) -> Dataset:
        rows = [{"premise": "a", "hypothesis": "b", "label": label} for label in ("x", "y")]
        files = tuple(InputFile(f"{name}.tsv", digest, 1) for digest in digests)
        return replace(Dataset.from_frame(rows, name=name), provenance=Provenance(files=files))

    work = Workplace(tmp_path, Choice(only=("A", "small")).narrowed(SCALE), "paper", None, None, 0, Steps())
    work.sets = {
        "part": made("part", "1"),
        "A train": made("A train", "1", "2"),
        "A": made("A", "3"),
        "B": made("B", "4"),
    }
    assert list(work.used) == ["part", "A train", "A", "B"]
    work.narrowed = True
    assert list(work.used) == ["part", "A train", "A"]


NOT_RUN = [
    NotRun("net", "A1 train", "A1", "needs A1 train", ("A1 train",)),
    NotRun("net", "SNLI train", "SNLI", "left out"),
]


def test_printed_cells_without_ours_say_what_they_need():
    ours = [{"model": "net", "dataset": "OCNLI", "condition": "hypothesis_only", "metric": "recovered", "ours": 5.0}]
    table = compare_cells("saxon2023_table3", "t", ours, rows=("dataset", "condition"), columns=("metric",))
    assert set(table.cells["dataset"]) == {"OCNLI"}
    found = with_reasons(table, NOT_RUN).cells
    assert set(found["dataset"]) == {"OCNLI", "A1", "SNLI"}
    reasons = dict(found.drop_nulls("not_run").select("dataset", "not_run").unique().rows())
    assert reasons == {"A1": "needs A1 train", "SNLI": "left out"}
    # What was run, and has a figure or none for another reason, is left alone.
    assert found.filter(dataset="OCNLI")["not_run"].is_null().all()
    assert with_reasons(table, []).cells.equals(table.cells)


def test_a_model_that_was_run_elsewhere_is_told_by_its_set():
    not_run = [NotRun("ESIM", "SNLI+MNLI", "HANS", "needs GloVe", ("GloVe",))]
    table = compare_cells("zhou2020_table9", "t", [], rows=("model",), columns=("dataset",), keep_unmatched=True)
    found = with_reasons(table, not_run).cells.drop_nulls("not_run")
    assert found.select("model", "dataset", "not_run").rows() == [("ESIM", "HANS", "needs GloVe")]


def test_sizes_need_their_file_and_no_training():
    not_run = [
        NotRun("net", "A1 train", "A1", "needs A1 train and --pretrained", ("A1 train", "--pretrained")),
        NotRun("net", "SNLI train", "SNLI", "needs --pretrained", ("--pretrained",)),
        NotRun("net", "MNLI train", "XNLI", "needs XNLI", ("XNLI",)),
    ]
    ours = [{"dataset": "SNLI", "split": "train", "ours": 18_000.0}]
    table = compare_cells(
        "saxon2023_table1", "t", ours, rows=("dataset",), columns=("split",), where={"metric": "examples"}
    )
    found = with_reasons(table, not_run).cells.drop_nulls("not_run")
    assert sorted(found.select("dataset", "split", "not_run").rows()) == [
        ("A1", "train", "needs A1 train"), ("XNLI", "test", "needs XNLI"),
    ]  # fmt: skip


def test_columns_have_one_name_where_rows_were_not_run():
    from goldassay.lab.papers.leakage.evidence import compare_tables

    not_run = [NotRun("net", "MNLI train", "XNLI", "needs XNLI", ("XNLI",))]
    row = {"model": "net", "dataset": "SNLI", "n_runs": 3, "paired": 0.8, "majority": 0.3, "condition": "premise_only"}
    names = ("accuracy", "recovered", "improvement", "agreement", "recovery_paper")
    row |= {f"{name}{end}": 0.5 for name in names for end in ("", "_low", "_high")}
    row |= {"relevance_paper": 0.5, "peco_paper": 0.5}
    found = {each.name: with_reasons(each, not_run).cells for each in compare_tables([row], [], {})}
    two = found["saxon2023_table2_accuracy"]
    assert set(two.filter(dataset="XNLI")["metric"]) == {"paired", "majority", "best published"}
    assert set(two["metric"]) == {"paired", "majority", "best published"}


@pytest.mark.parametrize("study", list_recipes())
def test_names_of_a_study_tell_sets_and_models_apart(study: str):
    """One name for a set and for a model could not be chosen."""
    for scale in find_recipe(study).SCALES.values():
        models = {label for training in scale.trainings for label in training.models}
        sets = {*scale.sets, *scale.files, *(n for each in scale.trainings for n in (each.train, *each.tests))}
        assert not models & sets
        assert set(names_of(scale)) == models | sets


def test_nothing_is_measured_of_nothing(tmp_path: Path):
    trained = tuple(each.train for each in find_recipe("leakage").SCALES["smoke"].trainings)
    study = open_study("leakage", "smoke", tmp_path, Steps(), choice=Choice(without=trained))
    assert not study.jobs
    with pytest.raises(InputError, match=in_order("without", "study leakage")):
        run_study(study)


def test_another_choice_is_another_study(tmp_path: Path):
    choice = Choice(without=("CAugNLI",))
    jobs = open_study("leakage", "smoke", tmp_path, Steps(), choice=choice).jobs
    assert {test.name for job in jobs for test in job.tests} == SETS.keys() - {"CAugNLI"}
    (tmp_path / "runs" / "_jobs").mkdir(parents=True)
    open_study("leakage", "smoke", tmp_path, Steps(), choice=choice)
    with pytest.raises(InputError, match=r'without was \["CAugNLI"\], is nothing'):
        open_study("leakage", "smoke", tmp_path, Steps())


def test_a_cell_that_is_not_run_is_shown_on_the_page():
    from goldassay.lab.papers.page import _Cell, _shown

    cell = _Cell({}, printed=3.0, not_run="needs GloVe")
    assert _shown(cell, 1)[:2] == ("not run: needs GloVe", "3.0")
