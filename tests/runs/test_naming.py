"""Names of runs taken apart, and the conditions that they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.runs.reading import find_slices, list_runs, read_runs
from goldassay.runs.run_parts import Request, Slice
from goldassay.runs.runs import condition_of, condition_within, describe_conditions, renamed
from tests.stated import Fact, in_order

if TYPE_CHECKING:
    from pathlib import Path


def slices(tmp_path: Path, *names: str) -> list[Slice]:
    pl.DataFrame({"id": ["a", "b"], "label": ["x", "y"], **{name: [0, 1] for name in names}}).write_csv(
        tmp_path / "right.csv"
    )
    return find_slices(tmp_path, "auto", Request())


@pytest.mark.parametrize(
    ("word", "condition"),
    [
        ("std", "paired"),
        ("Hypothesis-only", "hypothesis_only"),
        ("premise", "premise_only"),
        ("paired", "paired"),
        ("shuffled", "shuffled"),
    ],
)
def test_words_for_conditions(word: str, condition: str) -> None:
    assert condition_of(word) == condition


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("bert_snli_hypothesis_test", "hypothesis_only"),
        ("bert-premise-only", "premise_only"),
        ("hypothesis", "hypothesis_only"),
        ("hypotheses_big", "paired"),
        ("bert_snli_shuffled_test", "shuffled"),
        ("bert_snli_length_test", "length"),
        ("bert_snli_raw_overlap_test", "raw_overlap"),
        ("bert_overlap", "overlap"),
        ("bert_max_length", "paired"),
        ("stress_length", "paired"),
        ("lexical_overlap", "paired"),
        ("bert_length_512", "paired"),
        ("bert_length_1", "length"),
        ("bert_length_seed42", "length"),
        ("bert_shuffled_42", "shuffled"),
        ("bert_hypo_only_1", "hypothesis_only"),
        ("negative_sampling", "paired"),
        ("bert", "paired"),
    ],
)
def test_a_name_says_its_condition_with_a_word_of_its_own(tmp_path: Path, name: str, condition: str) -> None:
    assert condition_within(name) == condition
    assert [part.collection.condition for part in slices(tmp_path, name)] == [condition]
    (tmp_path / "right.csv").unlink()
    pl.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "pred": ["x", "x"]}).write_csv(tmp_path / f"{name}.csv")
    assert [part.collection.condition for part in find_slices(tmp_path, "auto", Request())] == [condition]


@pytest.mark.parametrize(
    ("folder", "condition"),
    [
        ("length", "length"),
        ("bert/shuffled", "shuffled"),
        ("shuffled_input/bert", "shuffled"),
        ("bert_hypothesis-only", "hypothesis_only"),
        ("shuffled/hypothesis_only", "hypothesis_only"),
        ("stress/length", "paired"),
        ("max_length", "paired"),
        ("hypothesis-only-study", "paired"),
    ],
)
def test_a_folder_says_the_condition_of_its_files(tmp_path: Path, folder: str, condition: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    pl.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "prediction": ["x", "x"]}).write_csv(
        tmp_path / folder / "seed1.csv"
    )
    assert list_runs(tmp_path)["condition"].to_list() == [condition]
    assert list_runs(tmp_path / folder / "seed1.csv")["condition"].to_list() == [condition]


def test_a_version_in_a_name_is_part_of_it(tmp_path: Path) -> None:
    names = ["Llama-3.1-8b", "Llama-3.2-8b", "Mistral-7B-v0.1"]
    for name in names:
        pl.DataFrame({"id": ["a", "b"], "score": [0, 1]}).write_ndjson(tmp_path / f"{name}.jsonl")
    assert list_runs(tmp_path)["model"].to_list() == names
    # Numbers that count runs are none of a version.
    for name in names:
        (tmp_path / f"{name}.jsonl").rename(tmp_path / f"run.{names.index(name)}.jsonl")
    assert list_runs(tmp_path)["n_runs"].to_list() == [3]


def test_groups_replace_what_the_runs_had(tmp_path: Path) -> None:
    found = slices(tmp_path, "m_std_0.2", "m_std_0.2_7", "m_std_0.2_b", "m_hypothesis_0.2", "m_length", "m_std3_0.2")
    expression = r"(?P<model>m)_(?P<condition>[a-z]+)(?P<epochs>\d*)(?:_(?P<train_set>0\.\d))?(?:_(?P<seed>\w))?"
    told = {(*part.collection, part.seed) for part in renamed(found, expression)}
    assert told == {
        ("m", "right", "", "paired", "0.2", 0),
        ("m", "right", "", "paired", "0.2", 7),
        ("m", "right", "", "paired", "0.2", "b"),
        ("m", "right", "", "hypothesis_only", "0.2", 0),
        ("m", "right", "", "length", "", 0),
        ("m epochs=3", "right", "", "paired", "0.2", 0),
    }


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("(?P<model>", "is no regular expression"),
        ("(.+)", ("which part of the name is the model", "(?P<model>")),
        ("(?P<model>a+)", ("1 of 2 names of runs", ": b;", "expression")),
    ],
)
def test_refusals(tmp_path: Path, expression: str, says: Fact) -> None:
    with pytest.raises(InputError, match=in_order(says)):
        renamed(slices(tmp_path, "a", "b"), expression)


def test_published_runs_say_what_they_saw(data_dir: Path) -> None:
    path = data_dir / "predictions/snli_test_runs/correct.tsv.gz"
    if not path.exists():
        pytest.skip("no runs")
    by_condition = dict(list_runs(path)["condition"].value_counts().iter_rows())
    alike = ("hypothesis_only", "premise_only", "shuffled", "length", "overlap", "raw_overlap")
    assert by_condition == {**dict.fromkeys(alike, 3), "negative": 1, "paired": 36}


def test_files_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    """MODEL/preds.csv are models, seed_1/preds.csv are runs of one, and deeper folders of one name say nothing."""
    for folder in ("models/bert/out", "models/esim/out", "seeds/seed_1", "seeds/seed_2", "both/a/x", "both/b/y"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "preds.csv").write_text("id,label,prediction\n0,yes,yes\n1,no,yes\n2,no,no\n")
    assert list_runs(tmp_path / "models").select("model", "n_runs").rows() == [("bert", 1), ("esim", 1)]
    assert list_runs(tmp_path / "seeds").select("model", "n_runs").rows() == [("model", 2)]
    assert read_runs(tmp_path / "seeds").seeds.tolist() == ["seed_1", "seed_2"]
    files = [tmp_path / "models" / name / "out/preds.csv" for name in ("bert", "esim")]
    assert goldassay.compare_models(*files).result.names == ("bert", "esim")
    with pytest.raises(InputError, match="is there twice"):
        read_runs(tmp_path / "both")


@pytest.mark.parametrize(
    ("place", "column", "said"),
    [
        ("length_bert/1.csv", "", "call it 'bert_length'"),
        ("len/1.csv", "", "call it 'length'"),
        ("hyp_only_bert/1.csv", "", "call it 'bert_hypothesis'"),
        ("shuf_bert.csv", "", "call it 'bert_shuffled'"),
        ("length/seed1.csv", "", "condition length is taken from the name 'length'"),
        ("bert_hypothesis_test.csv", "", "hypothesis_only is taken from the name"),
        ("length_bert/1.csv", "paired", None),
        ("length/seed1.csv", "length", None),
        ("max_length/1.csv", "", None),
        ("length_512/bert.csv", "", None),
        ("lengths.csv", "", None),
    ],
)
def test_what_a_name_says_of_the_condition_is_said(tmp_path: Path, place: str, column: str, said: str | None) -> None:
    path = tmp_path / "runs" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pl.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "pred": ["x", "x"]})
    (table.with_columns(pl.lit(column).alias("condition")) if column else table).write_csv(path)
    found = describe_conditions(find_slices(tmp_path / "runs", "auto", Request()))
    assert [said in each for each in found] == ([True] if said else [])
    # The name that is proposed is understood.
    for instead in (part.condition_words[1] for part in find_slices(tmp_path / "runs", "auto", Request())):
        if instead:
            own = tmp_path / "runs" / place.partition("/")[0]
            own.rename(own.with_name(instead + own.suffix))
            (part,) = find_slices(tmp_path / "runs", "auto", Request())
            assert instead.endswith(part.collection.condition.removesuffix("_only"))
