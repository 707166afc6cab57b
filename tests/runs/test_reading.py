from __future__ import annotations

import gzip
import json
import pickle
import shlex
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.table import Provenance
from goldassay.runs.finding import find_slices
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.run_parts import Request
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import in_order


def runs_of(model: str = "a", dataset: str = "d", condition: str = "paired", **more: Any) -> Runs:
    settings: dict[str, Any] = {
        "predictions": [["yes", "no", "no"], ["yes", "yes", "no"]],
        "gold": ["yes", "no", "yes"],
        "seeds": [1, 2],
    }
    return Runs.from_arrays(**(settings | more), model=model, dataset=dataset, condition=condition)


LONG = pl.DataFrame(
    {
        "seed": [1, 1, 1, 2, 2, 2],
        "example_id": ["x", "y", "z"] * 2,
        "label": ["yes", "no", "yes"] * 2,
        "prediction": ["yes", "no", "no", "yes", "yes", "no"],
    }
)


@dataclass
class GoldDataset:
    """What reading needs of a dataset."""

    examples: pl.DataFrame
    label_names: tuple[str, ...]
    groups: tuple[str, ...] = ()
    name: str = "gold"
    provenance: Provenance = Provenance()  # noqa: RUF009


def test_several_models_must_be_chosen_from(tmp_path: Path) -> None:
    for model in ("a", "b"):
        for dataset in ("d", "e"):
            write_runs(runs_of(model, dataset), tmp_path)
    with pytest.raises(InputError, match="2 models: a, b"):
        read_runs(tmp_path)
    with pytest.raises(InputError, match="2 datasets: d, e"):
        read_runs(tmp_path, model="a")
    with pytest.raises(InputError, match="there are a, b"):
        read_runs(tmp_path, model="c")
    runs = read_runs(tmp_path, model="b", dataset="e")
    assert (runs.model, runs.dataset) == ("b", "e")


def test_conditions_must_be_chosen_from(tmp_path: Path) -> None:
    write_runs(runs_of(), tmp_path)
    write_runs(runs_of(condition="premise_only"), tmp_path)
    with pytest.raises(InputError, match="2 conditions: paired, premise_only"):
        read_runs(tmp_path)
    assert read_runs(tmp_path, condition="premise_only").condition == "premise_only"


def test_list_says_what_is_there(tmp_path: Path) -> None:
    write_runs(runs_of(), tmp_path)
    LONG.write_csv(tmp_path / "other.csv")
    frame = list_runs(tmp_path)
    assert frame["format"].to_list() == ["goldassay", "long"]
    assert frame["n_runs"].to_list() == [2, 2]
    assert frame["n_examples"].to_list() == [3, 3]
    assert frame["seeds"].to_list() == [["1", "2"], ["1", "2"]]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "txt"])
def test_long_tables_of_each_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"runs.{suffix}"
    match suffix:
        case "csv" | "txt":
            LONG.write_csv(path)
        case "tsv":
            LONG.write_csv(path, separator="\t")
        case "jsonl":
            LONG.write_ndjson(path)
        case "parquet":
            LONG.write_parquet(path)
        case "csv.gz":
            path.write_bytes(gzip.compress(LONG.write_csv().encode()))
    runs = read_runs(path)
    assert runs.scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    assert runs.seeds.tolist() == [1, 2]
    assert runs.label_names == ("no", "yes")
    assert runs.example_ids.tolist() == ["x", "y", "z"]


def test_synonyms_and_given_columns(tmp_path: Path) -> None:
    table = LONG.rename({"prediction": "pred", "label": "gold_label", "example_id": "pairID", "seed": "random_seed"})
    table.write_csv(tmp_path / "a.csv")
    assert read_runs(tmp_path / "a.csv").scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    LONG.rename({"prediction": "guess"}).with_columns(prediction=pl.lit("no")).write_csv(tmp_path / "b.csv")
    runs = read_runs(tmp_path / "b.csv", columns={"prediction": "guess"})
    assert runs.scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    with pytest.raises(InputError, match="no such column"):
        read_runs(tmp_path / "b.csv", columns={"prediction": "nothing"})


def test_a_file_a_run_without_seed_column_is_named_by_the_file(tmp_path: Path) -> None:
    for name in ("run_1", "run_2"):
        LONG.head(3).drop("seed").write_csv(tmp_path / f"{name}.csv")
    assert read_runs(tmp_path).seeds.tolist() == ["run_1", "run_2"]


def test_files_that_name_neither_model_nor_run_are_models(tmp_path: Path) -> None:
    for name in ("bert", "esim"):
        LONG.head(3).drop("seed").write_csv(tmp_path / f"{name}.csv")
    assert list_runs(tmp_path)["model"].to_list() == ["bert", "esim"]
    assert read_runs(tmp_path, model="esim").model == "esim"
    assert read_runs(tmp_path / "esim.csv").model == "model"


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("id,gold_label,seed_1,seed_1\na,x,x,y\nb,y,x,y\n")
    with pytest.raises(InputError, match=r"column 'seed_1': the column is there twice"):
        read_runs(tmp_path / "wide.csv")


def test_a_seed_beyond_64_bits_is_a_name(tmp_path: Path) -> None:
    LONG.with_columns(seed=pl.col("seed").cast(pl.String) + "0" * 30).write_csv(tmp_path / "runs.csv")
    assert read_runs(tmp_path / "runs.csv").seeds.tolist() == ["1" + "0" * 30, "2" + "0" * 30]


def test_a_table_in_another_encoding_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_bytes("id,label,prediction\na,x,x\nb,é,x\n".encode("latin-1"))
    with pytest.raises(InputError, match=in_order("line 3:", "not UTF-8")):
        read_runs(tmp_path / "runs.csv")


def test_a_member_that_is_no_array_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "runs.npz", "w") as packed:
        packed.writestr("logits.npy", pickle.dumps([1, 2]))
    with pytest.raises(InputError, match=r"logits\.npy is not a NumPy array"):
        read_runs(tmp_path / "runs.npz")


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    LONG[[0, 1, 2, 5, 3, 4]].write_csv(tmp_path / "runs.csv")
    assert read_runs(tmp_path / "runs.csv").scores.tolist() == [[1, 1, 0], [1, 0, 0]]


def test_missing_examples_are_refused_or_intersected(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    LONG.head(5).write_csv(path)
    with pytest.raises(InputError, match=r"seed 2 lacks 1 of the 3 examples .* first z"):
        read_runs(path)
    assert read_runs(path, align="intersect").example_ids.tolist() == ["x", "y"]
    filled = read_runs(path, missing="wrong")
    assert filled.example_ids.tolist() == ["x", "y", "z"]
    assert filled.status.ravel().tolist() == ["scored"] * 5 + ["missing"]
    LONG[[0, 1, 3, 4, 5]].write_csv(path)
    with pytest.raises(InputError, match="seed 2 has 1 examples that seed 1 lacks, first z"):
        read_runs(path)
    assert read_runs(path, align="intersect").example_ids.tolist() == ["x", "y"]
    LONG[[0, 5]].write_csv(path)
    with pytest.raises(InputError, match="no example in common"):
        read_runs(path, align="intersect")


def test_gaps_are_refused_or_intersected(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("seed,id,label,prediction\n1,x,a,\n1,y,a,a\n1,z,b,a\n2,x,a,a\n2,y,a,b\n2,z,b,\n")
    with pytest.raises(InputError, match=in_order("column 'prediction':", "1 of 3 examples of seed 1", "first x")):
        read_runs(path, missing="refuse")
    assert read_runs(path, align="intersect").scores.tolist() == [[1], [0]]
    assert read_runs(path).scores.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert read_runs(path).status.ravel().tolist() == ["unparsed", "scored", "scored", "scored", "scored", "unparsed"]
    path.write_text("seed,id,score\n1,x,0.5\n1,y,\n2,x,true\n2,y,1\n")
    with pytest.raises(InputError, match=in_order("column 'score':", "1 of 2 examples of seed 1", "first y")):
        read_runs(path, missing="refuse")
    assert read_runs(path, align="intersect").scores.tolist() == [[0.5], [1]]
    assert read_runs(path).scores.tolist() == [[0.5, 0], [1, 1]]
    assert read_runs(path).status.ravel().tolist() == ["scored", "unscored", "scored", "scored"]


def test_duplicated_examples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    pl.concat([LONG, LONG.tail(1)]).write_csv(path)
    with pytest.raises(InputError, match="1 example ids are there more than once, first z"):
        read_runs(path)


def test_a_run_given_twice_is_refused(tmp_path: Path) -> None:
    LONG.write_csv(tmp_path / "a.csv")
    LONG.write_csv(tmp_path / "b.csv")
    with pytest.raises(InputError, match="seed 1 is there twice"):
        read_runs(tmp_path)


@pytest.mark.parametrize("checkpoint", [None, "last"])
def test_a_run_given_twice_with_other_answers_is_refused(tmp_path: Path, checkpoint: str | None) -> None:
    """The last checkpoint of each run is no leave to choose one of two runs."""
    LONG.write_csv(tmp_path / "a.csv")
    LONG.with_columns(prediction=pl.lit("no")).write_csv(tmp_path / "b.csv")
    with pytest.raises(InputError, match=in_order("b.csv:", "seed 1", "twice", "a.csv")):
        read_runs(tmp_path, checkpoint=checkpoint)


@pytest.mark.parametrize("checkpoint", [None, "last"])
def test_a_run_with_and_without_a_checkpoint_is_refused(tmp_path: Path, checkpoint: str | None) -> None:
    LONG.write_csv(tmp_path / "a.csv")
    LONG.with_columns(step=5, prediction=pl.lit("no")).write_csv(tmp_path / "b.csv")
    said = in_order("b.csv:", "seed 1", "with a checkpoint, 5", "a.csv", "without")
    with pytest.raises(InputError, match=said):
        read_runs(tmp_path, checkpoint=checkpoint)


def test_runs_with_other_checkpoints_are_refused_or_their_last_taken(tmp_path: Path) -> None:
    table = pl.concat([LONG.with_columns(step=pl.lit(5)), LONG.head(3).with_columns(step=pl.lit(10))])
    table.write_csv(tmp_path / "runs.csv")
    with pytest.raises(InputError, match="seed 2 lacks 1 that others have: 10"):
        read_runs(tmp_path)
    assert read_runs(tmp_path, checkpoint=5).n_runs == 2
    last = read_runs(tmp_path, checkpoint="last")
    assert last.scores.shape == (2, 3)
    with pytest.raises(InputError, match="no checkpoint 7"):
        read_runs(tmp_path, checkpoint=7)


def test_parts_of_a_benchmark_are_datasets_and_no_models(tmp_path: Path) -> None:
    """As BBQ's predictions: a file a category, none of which names a model; they are texts, and labels are places."""
    choices = {"ans0": ["An aunt", "He", "Not known."], "ans1": ["Not known."] * 2 + ["She"]}
    made = pl.DataFrame(choices | {"label": [0, 1, 1], "example_id": [1, 2, 3]})
    for part in ("Age", "Religion"):
        rows = made.with_columns(category=pl.lit(part), m_race=pl.Series(["an aunt", "he", "it"]))
        rows.write_ndjson(tmp_path / f"preds_{part}.jsonl")
    columns = {"prediction": "m_race"}
    listed = list_runs(tmp_path, columns=columns)
    assert (listed["model"].to_list(), listed["dataset"].to_list()) == (["model"] * 2, ["Age", "Religion"])
    runs = read_runs(tmp_path, columns=columns, dataset="Age")
    assert runs.scores.tolist() == [[1, 0, 0]]


def test_checkpoints_make_an_axis(tmp_path: Path) -> None:
    steps = [LONG.with_columns(epoch=pl.lit(step)) for step in (10, 9)]
    pl.concat(steps).write_parquet(tmp_path / "runs.parquet")
    runs = read_runs(tmp_path)
    assert runs.scores.shape == (2, 2, 3)
    assert runs.checkpoints is not None
    assert runs.checkpoints.tolist() == [9, 10]


def test_gold_is_joined_by_id_and_brings_its_groups(tmp_path: Path) -> None:
    LONG.drop("label").write_csv(tmp_path / "runs.csv")
    with pytest.raises(InputError, match=r"no gold.*give gold=FILE"):
        read_runs(tmp_path)
    examples = pl.DataFrame(
        {"example_id": ["z", "x", "y", "more"], "label": ["yes", "yes", "no", "no"], "genre": list("abca")}
    )
    gold: Any = GoldDataset(examples, ("no", "yes"), ("genre",))
    runs = read_runs(tmp_path, gold=gold)
    assert runs.scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    assert runs.groups["genre"].tolist() == ["b", "c", "a"]
    short: Any = GoldDataset(examples.head(2), ("no", "yes"))
    said = in_order("1 of 3 examples", "gold of gold", "first y", "missing='leave-out'", "align='intersect'")
    with pytest.raises(InputError, match=said):
        read_runs(tmp_path, gold=short)
    for way in ({"align": "intersect"}, {"missing": "leave-out"}):
        assert read_runs(tmp_path, gold=short, **way).example_ids.tolist() == ["x", "z"]  # type: ignore[arg-type]
    named: Any = GoldDataset(examples.head(3).with_columns(example_id=pl.Series(list("abc"))), ("no", "yes"))
    by_position = read_runs(tmp_path, gold=named, align="position")
    assert by_position.example_ids.tolist() == ["a", "b", "c"]
    assert by_position.scores.tolist() == [[1, 0, 1], [1, 1, 1]]


def test_labels_are_mapped_by_name(tmp_path: Path) -> None:
    table = LONG.with_columns(prediction=pl.Series(list("100110")))
    table.write_csv(tmp_path / "runs.csv")
    with pytest.raises(InputError, match="none in common"):
        read_runs(tmp_path)
    runs = read_runs(tmp_path, labels={"1": "yes", "0": "no"})
    assert runs.scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    with pytest.raises(InputError, match="does not cover 0"):
        read_runs(tmp_path, labels={"1": "yes"})
    with pytest.raises(InputError, match="leads to maybe"):
        read_runs(tmp_path, labels={"1": "yes", "0": "maybe"})


def test_three_way_predictions_are_collapsed_where_gold_has_two_classes(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "gold_label": ["non-entailment", "non-entailment", "entailment", "entailment"],
            "prediction": ["neutral", "contradiction", "entailment", "Neutral"],
        }
    )
    table.write_csv(tmp_path / "hans.csv")
    runs = read_runs(tmp_path)
    assert runs.label_names == ("entailment", "non-entailment")
    assert runs.scores.tolist() == [[1, 1, 1, 0]]


def test_runs_that_disagree_on_gold_are_refused(tmp_path: Path) -> None:
    LONG.with_columns(label=pl.Series(["yes", "no", "yes", "yes", "yes", "yes"])).write_csv(tmp_path / "runs.csv")
    with pytest.raises(InputError, match="disagree on the right label of 1 examples, first y"):
        read_runs(tmp_path)


def test_a_pickle_is_refused_unopened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    for name in ("runs.pkl", "runs.parquet"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap()))
        with pytest.raises(InputError, match="pickle"):
            read_runs(tmp_path / name)
    (tmp_path / "old.pickle").write_bytes(pickle.dumps(Trap(), protocol=0))
    with pytest.raises(InputError, match="pickle"):
        read_runs(tmp_path / "old.pickle")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("header.csv", b"seed,example_id,prediction,label\n", "no examples"),
        ("noid.csv", b"seed,prediction,label\n1,a,a\n", "which example"),
        ("text.txt", b"just some words\n", "no runs were recognized"),
        ("ragged.csv", b"seed,example_id,prediction,label\n1,x,a,a\n1,y,a,a,b,c\n", "cannot be read"),
        ("bad.jsonl", b'{"example_id": 1, "score": 1}\n{"example_id": 2,\n', "line 2"),
        ("list.jsonl", b'{"example_id": 1, "score": 1}\n[1]\n', "line 2.*not a JSON object"),
        ("nan.csv", b"seed,example_id,score\n1,x,nan\n", "1 of 1 examples of seed 1 have no score"),
        ("word.csv", b"seed,example_id,score\n1,x,good\n", "not numbers, the first is 'good'"),
        ("points.csv", b"seed,example_id,score\n1,x,84.5\n", "outside"),
        ("missing.csv", b"seed,example_id,prediction,label\n1,x,,a\n", "1 of 1 examples of seed 1 have no prediction"),
        ("cut.csv.gz", gzip.compress(b"seed,example_id,score\n" + b"1,x,1\n" * 9999)[:-40], "cut short"),
        ("cut.parquet", b"PAR1 and no more", "damaged or cut short"),
    ],
)
def test_bad_files_are_one_line_that_names_the_file(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_runs(path)
    assert "\n" not in str(caught.value)


def test_a_zipped_table_is_refused_with_a_command_that_unpacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "my outputs.zip", "w") as archive:
        archive.writestr("outputs.json", json.dumps([{"question_id": at, "answer": "A", "pred": "A"} for at in (1, 2)]))
    with pytest.raises(InputError, match="is a zip archive") as caught:
        read_runs(tmp_path / "my outputs.zip")
    if shutil.which("unzip") is None:
        pytest.skip("unzip is not installed")
    command = str(caught.value).partition("unpack it with: ")[2].split("; ")[0]
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    assert read_runs(shlex.split(command)[-1]).n_examples == 2


def test_a_truncated_file_of_ours_is_one_line(tmp_path: Path) -> None:
    path = write_runs(runs_of(), tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_runs(tmp_path / "none")
    with pytest.raises(InputError, match="no runs were recognized"):
        list_runs(tmp_path)
    with pytest.raises(InputError, match="no format 'nosuch'"):
        read_runs(tmp_path, format="nosuch")


def test_scores_in_the_file_are_kept(tmp_path: Path) -> None:
    pl.DataFrame({"qid": ["a", "b"], "f1": [0.5, 1.0], "prediction": ["Paris", "in Rome"]}).write_csv(
        tmp_path / "qa.csv"
    )
    assert read_runs(tmp_path).scores.tolist() == [[0.5, 1.0]]


def test_the_published_hans_predictions_of_one_model(data_dir: Path) -> None:
    gold = pl.read_csv(data_dir / "hans/hans_gold_by_position.tsv.gz", separator="\t", quote_char=None)
    examples = gold.rename({"pairID": "example_id", "gold_label": "label"})
    dataset: Any = GoldDataset(examples, ("entailment", "non-entailment"), ("heuristic", "subcase"))
    runs = read_runs(data_dir / "predictions/hans_four_models/bert.tsv.gz", gold=dataset)
    assert runs.n_examples == 30_000
    assert len(np.unique(runs.groups["subcase"])) == 30
    assert 0.5 < runs.scores.mean() < 0.7


def test_gold_may_be_a_table_without_texts(data_dir: Path) -> None:
    runs = read_runs(
        data_dir / "predictions/instability_bert_base/hans.preds.tsv.gz",
        gold=data_dir / "hans/hans_gold_by_position.tsv.gz",
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
        align="position",
    )
    assert runs.scores.mean() * 100 == pytest.approx(62.30733, abs=5e-6)
    assert sorted(runs.groups) == ["heuristic", "subcase"]
    assert runs.example_ids[0] == "ex0"


def test_gold_may_be_a_file(data_dir: Path) -> None:
    runs = read_runs(
        data_dir / "predictions/instability_bert_base/mnli.preds.tsv.gz",
        gold=data_dir / "multinli/dev_matched.tsv.gz",
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
    )
    assert runs.scores.mean() * 100 == pytest.approx(84.72033, abs=5e-6)


def test_what_lies_beside_runs_is_passed_over(tmp_path: Path) -> None:
    LONG.write_csv(tmp_path / "runs.csv")
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps([1]))
    (tmp_path / "train.log").write_text("step 1, loss 2\nstep 2, loss 1, and more\n")
    (tmp_path / "config.json").write_text('{"hidden": 12}\n')
    (tmp_path / "eval_results.txt").write_text("acc = 0.5\n")
    (tmp_path / ".hidden.csv").write_text("a,b\n1\n")
    assert read_runs(tmp_path).n_runs == 2
    with pytest.raises(InputError, match="pickle"):
        read_runs([tmp_path / "runs.csv", tmp_path / "pytorch_model.bin"])


def test_counts_of_right_answers(tmp_path: Path) -> None:
    rows = [("mbpp", "m", str(i), i / 4, i, 4) for i in range(5)]
    table = pl.DataFrame(
        rows, schema=["benchmark_id", "model", "example_id", "pass1", "correct", "count"], orient="row"
    )
    table.write_ndjson(tmp_path / "arena.jsonl")
    assert read_runs(tmp_path).scores.tolist() == [[0, 0.25, 0.5, 0.75, 1]]


def test_zstandard(tmp_path: Path) -> None:
    import zstandard

    packed = zstandard.compress(LONG.write_csv().encode())
    (tmp_path / "runs.csv.zst").write_bytes(packed)
    assert read_runs(tmp_path).n_runs == 2
    (tmp_path / "runs.csv.zst").write_bytes(packed[:8] + b"\xff" * 30)
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(tmp_path)


def test_zstandard_cut_short_is_not_taken_for_the_end(tmp_path: Path) -> None:
    import zstandard

    lines = "".join(f"1,e{i},{i * 7919 % 997 / 997}\n" for i in range(60_000))
    path = tmp_path / "runs.csv.zst"
    head = zstandard.compress(b"seed,example_id,score\n")
    packed = head + zstandard.compress(lines.encode())
    path.write_bytes(packed)
    assert read_runs(path).n_examples == 60_000
    for n_bytes in (len(head), len(packed) - 1, len(packed) // 2, len(packed) - 100_000):
        path.write_bytes(packed[:n_bytes])
        with pytest.raises(InputError, match=r"cut short|no examples"):
            read_runs(path)


def test_logits_must_have_one_class_a_label(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    two = LONG.with_columns(label=pl.Series(["yes", "no", "maybe"] * 2), logits=pl.Series([[1.0, 0.0]] * 6))
    two.write_parquet(path)
    for names in (None, ["yes", "no", "maybe"]):
        with pytest.raises(InputError, match="logits have 2 classes, but there are 3 labels"):
            read_runs(path, label_names=names)
    with pytest.raises(InputError, match=in_order("logits have 2 classes", "3 labels: yes, no, maybe")):
        read_runs(path, label_names=["yes", "no", "maybe"], labels={"yes": "yes", "no": "no"})
    np.savez(tmp_path / "runs.npz", logits=np.zeros((2, 4, 3)), gold=np.arange(4))
    with pytest.raises(InputError, match=in_order("logits have 3 classes", "4 labels: 0, 1, 2, 3")):
        read_runs(tmp_path / "runs.npz")
    table = LONG.with_columns(logits=pl.Series([[1.0, 0.0, float("nan")]] * 6)).drop("prediction")
    table.write_parquet(path)
    with pytest.raises(InputError, match="some logits are not a number"):
        read_runs(path, label_names=["yes", "no", "maybe"])


def test_what_is_wrong_with_logits_is_said_by_what_was_given(tmp_path: Path) -> None:
    rows = [
        {"id": i, "label": "abc"[i], "prediction": "abc"[i], "logits": [float(i == j) for j in range(3)]}
        for i in range(3)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=in_order("logits have 3 classes", "2 labels: a, b")):
        read_runs(tmp_path, label_names=["a", "b"])
    holed = pl.DataFrame(rows).with_columns(logits=pl.when(pl.col("id") > 0).then("logits"))
    holed.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="1 of 3 rows have no logits"):
        read_runs(tmp_path)


def test_features_are_read_where_they_are_lists(tmp_path: Path) -> None:
    rows = [{"id": i, "label": "a", "prediction": "a", "embedding": [1.0 * i, 2.0]} for i in range(3)]
    for values in (pl.DataFrame(rows), pl.DataFrame(rows).with_columns(pl.lit("glove").alias("embedding"))):
        values.write_parquet(tmp_path / "a.parquet")
        (part,) = find_slices(tmp_path, "auto", Request())
        features = part.load().features
        if values.schema["embedding"] == pl.String:
            assert features is None
        else:
            assert features is not None
            assert features.tolist() == [[0, 2], [1, 2], [2, 2]]
    short = pl.DataFrame(rows).with_columns(pl.col("embedding").list.head(pl.col("id")))
    short.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="rows have features of 0, 1, 2 dimensions"):
        find_slices(tmp_path, "auto", Request())[0].load()


def test_logits_follow_the_label_map(tmp_path: Path) -> None:
    np.savez(tmp_path / "runs.npz", logits=np.array([[[5.0, 1.0], [0.0, 2.0]]]), ids=["x", "y"])
    gold: Any = GoldDataset(pl.DataFrame({"example_id": ["x", "y"], "label": ["yes", "no"]}), ("no", "yes"))
    runs = read_runs(tmp_path, gold=gold, labels={"0": "yes", "1": "no"})
    assert runs.label_names == ("no", "yes")
    assert runs.scores.tolist() == [[1, 1]]
    assert runs.logits is not None
    assert runs.logits.tolist() == [[[1, 5], [2, 0]]]


def test_results_of_metrics_without_predictions_are_named(tmp_path: Path) -> None:
    """As evaluate.save writes them: what a metric returned, and where."""
    told = {"seed": 1, "accuracy": 0.75, "_timestamp": "2026-11-25T04:21:18", "_evaluate_version": "0.4.6"}
    (tmp_path / "seed_1.json").write_text(json.dumps(told))
    for path in (tmp_path, tmp_path / "seed_1.json"):
        with pytest.raises(InputError, match=in_order("metrics", "evaluate.save")):
            list_runs(path)
    (tmp_path / "seed_2.csv").write_text("id,prediction,label\na,1,1\nb,0,1\n")
    assert read_runs(tmp_path).scores.tolist() == [[1, 0]]
