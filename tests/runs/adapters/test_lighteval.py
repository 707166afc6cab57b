"""The files in fixtures/lighteval were written by lighteval 0.13 itself; make_lighteval.py says how."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.finding import find_slices
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.run_parts import Request
from tests.stated import in_order

MADE = Path(__file__).parents[1] / "fixtures" / "lighteval"
CHOICE, BOTH = "made_up_choice|0", "made_up_both|0"


def reported(model: str, task: str) -> list[float]:
    """Accuracies by the tool's own account, by time."""
    files = sorted((MADE / "results" / model).glob("*.json"))
    return [json.loads(file.read_text())["results"][task]["acc"] for file in files]


def test_runs_are_named_by_the_seed_of_generation_else_by_time() -> None:
    listed = list_runs(MADE)
    assert set(listed["format"]) == {"lighteval"}
    assert listed["n_examples"].to_list() == [12] * 4
    seeds = {(row["model"], row["dataset"]): row["seeds"] for row in listed.to_dicts()}
    assert seeds["made-up/dummy", CHOICE] == ["1", "2"]
    assert seeds["made-up/unseeded", BOTH][0].startswith("20")


def test_scores_are_those_that_lighteval_reports() -> None:
    runs = read_runs(MADE, model="made-up/dummy", dataset=CHOICE)
    assert runs.scores.mean(axis=1).tolist() == pytest.approx(reported("made-up/dummy", CHOICE))
    assert sorted(runs.example_ids, key=int) == [str(i) for i in range(12)]
    assert runs.gold is not None
    assert runs.predictions is not None
    assert runs.gold.tolist() == [int(i) % 3 for i in runs.example_ids]
    assert np.array_equal(runs.predictions == runs.gold, runs.scores == 1)


def test_documents_asked_in_two_ways_count_once() -> None:
    with pytest.raises(InputError, match=in_order("2 scores: acc, em", "columns={'score'")):
        read_runs(MADE, model="made-up/dummy", dataset=BOTH)
    runs = read_runs(MADE, model="made-up/dummy", dataset=BOTH, columns={"score": "acc"})
    assert runs.scores.mean(axis=1).tolist() == pytest.approx(reported("made-up/dummy", BOTH))
    assert runs.logits is not None
    written = read_runs(MADE, model="made-up/dummy", dataset=BOTH, columns={"score": "em"})
    assert written.logits is None
    with pytest.raises(InputError, match="no score 'f1'; there are acc, em"):
        read_runs(MADE, model="made-up/dummy", dataset=BOTH, columns={"score": "f1"})


def one_file(folder: Path) -> Path:
    made = next(file for file in sorted(MADE.rglob("*choice*.parquet")) if "unseeded" in str(file))
    return Path(shutil.copy(made, folder / "details.parquet"))


def test_a_file_away_from_its_folders(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    (row,) = list_runs(path).to_dicts()
    assert (row["model"], row["dataset"], row["seeds"]) == (tmp_path.name, CHOICE, ["details"])


def test_columns_between_underscores_as_the_documentation_has_them(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    table = pl.read_parquet(path)
    table.rename({name: f"__{name}__" for name in table.columns}).write_parquet(path)
    assert read_runs(path).scores.mean() == pytest.approx(reported("made-up/unseeded", CHOICE)[0])


def test_scores_of_another_choice_than_the_likeliest_leave_out_logits(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    assert read_runs(path).logits is not None
    metric = pl.col("metric").struct
    pl.read_parquet(path).with_columns(metric.with_fields((1 - metric.field("acc")).alias("acc"))).write_parquet(path)
    runs = read_runs(path)
    assert (runs.logits, runs.predictions) == (None, None)
    assert runs.scores.mean() == pytest.approx(1 - reported("made-up/unseeded", CHOICE)[0])


def test_several_right_choices_leave_the_score(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    table = pl.read_parquet(path)
    document = pl.col("doc").struct
    right = pl.concat_list(document.field("gold_index"), pl.lit(0))
    table.with_columns(document.with_fields(right.alias("gold_index"))).write_parquet(path)
    runs = read_runs(path)
    assert runs.gold is None
    assert runs.scores.shape == (1, 12)


def test_damage(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    pl.read_parquet(path).head(0).write_parquet(tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="no documents in the details"):
        read_runs(tmp_path / "empty.parquet")
    table = pl.read_parquet(path)
    pl.concat([table, table.head(2)]).write_parquet(tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="2 example ids are there more than once"):
        read_runs(tmp_path / "twice.parquet")
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(path)
    shutil.copytree(MADE, tmp_path / "all")
    broken = next((tmp_path / "all" / "results").rglob("*.json"))
    broken.write_text("{")
    with pytest.raises(InputError, match=in_order(f"{broken.name}:", "details", "damaged")):
        list_runs(tmp_path / "all")


def test_texts_and_right_answers_of_what_was_written() -> None:
    (part, *_) = [
        each for each in find_slices(MADE, "auto", Request({"score": "em"})) if each.collection.dataset == BOTH
    ]
    assert part.outputs is not None
    written = part.outputs()
    assert written is not None
    assert written.targets is not None
    # The metric is whether the text is the right choice.
    exact = (written.texts.str.strip_chars() == written.targets).cast(pl.Float64)
    scores = part.load().score
    assert scores is not None
    assert exact.to_list() == scores.to_list()
    (choice, *_) = [each for each in find_slices(MADE, "auto", Request()) if each.collection.dataset == CHOICE]
    assert choice.outputs is not None
    assert choice.outputs() is None
