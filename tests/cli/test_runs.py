"""`goldassay runs`: what it lists, shows, converts and refuses; once as a process."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.runs.reading import read_runs
from tests.cli.run_files import LABELS, goldassay, long_table, refused, write_checkpoints
from tests.end_to_end.conftest import Outcome
from tests.end_to_end.conftest import goldassay as process
from tests.stated import Fact, says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "process", "refused"]

EXPORT = ("--to", "every_eval_ever", "-o", "out")
HANS_LABELS = "0=contradiction,1=entailment,2=neutral"


def test_list_names_what_is_there(goldassay: Command, tmp_path: Path) -> None:
    write_checkpoints(tmp_path / "runs")
    (tmp_path / "runs" / "notes.txt").write_text("nothing of interest\n")
    listed = goldassay("runs", "list", "runs", "--json", "listed.json")
    assert listed.status == 0, listed.err
    head, *lines = listed.out.splitlines()
    assert head.split() == ["model", "dataset", "condition", "runs", "checkpoints", "examples", "format"]
    assert [line.split()[:2] for line in lines] == [
        ["bert", "probe"], ["bert", "standard"], ["roberta", "probe"], ["roberta", "standard"],
    ]  # fmt: skip
    assert lines[0].split()[3:] == ["5", "4", "60", "goldassay"]
    rows = json.loads((tmp_path / "listed.json").read_text())
    assert rows[0]["seeds"] == ["0", "1", "2", "3", "4"]


def test_list_says_that_a_run_is_there_twice(goldassay: Command, tmp_path: Path) -> None:
    """The number of runs is that of seeds, which alone would hide the second file."""
    table = "model,dataset,seed,id,label,prediction\n" + "".join(f"m,d,{seed},e1,a,a\n" for seed in (3, 4))
    (tmp_path / "runs").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "runs" / name).write_text(table)
    listed = goldassay("runs", "list", "runs")
    assert listed.status == 0, listed.err
    where = "(in runs/a.csv and runs/b.csv): remove one of the two."
    assert listed.out.splitlines()[-1] == says("2 runs of m on d", "twice", f"seed 3 {where}")
    (tmp_path / "runs" / "b.csv").write_text(table.replace("m,d,3", "m,d,5"))
    said = says("run of m on d", "twice", f"seed 4 {where}")
    assert goldassay("runs", "list", "runs").out.splitlines()[-1] == said
    (tmp_path / "runs" / "b.csv").unlink()
    assert "twice" not in goldassay("runs", "list", "runs").out


def test_show_scores_each_run(goldassay: Command, tmp_path: Path) -> None:
    table = long_table(seeds=(1, 2))
    table.write_csv(tmp_path / "mine.csv")
    shown = goldassay("runs", "show", "mine.csv", "--json", "shown.json")
    assert shown.status == 0, shown.err
    right = table.group_by("seed", maintain_order=True).agg((pl.col("label") == pl.col("prediction")).mean())
    one, two = right["label"].to_list()
    assert shown.out.splitlines()[0] == "m on toy, paired: 2 runs x 24 examples"
    assert f"by seed      1: {100 * one:.2f}, 2: {100 * two:.2f}" in shown.out
    assert "labels       entailment, neutral, contradiction" in shown.out
    (described,) = json.loads((tmp_path / "shown.json").read_text())
    assert described["run_means"] == [one, two]
    assert described["holds"] == ["gold", "predictions"]


def test_import_and_read_back(process: Command, tmp_path: Path) -> None:
    long_table(models=("a", "b"), steps=(10, 20)).write_ndjson(tmp_path / "mine.jsonl")
    done = process("runs", "import", "mine.jsonl", "-o", "store")
    assert done.status == 0, done.err
    assert done.out.splitlines() == ["a on toy: 6 files of 24 examples", "b on toy: 6 files of 24 examples", "store"]
    before, after = (read_runs(tmp_path / name, model="a") for name in ("mine.jsonl", "store"))
    assert np.array_equal(before.scores, after.scores)
    assert after.label_names == LABELS
    assert after.scores.shape == (3, 2, 24)
    one = process("runs", "import", "mine.jsonl", "-o", "few", "--model", "b", "--checkpoint", "last", "--quiet")
    assert (one.status, one.out, one.err) == (0, "", "")
    assert len(list((tmp_path / "few").iterdir())) == 3


def test_export_and_read_back(goldassay: Command, tmp_path: Path) -> None:
    long_table(models=("a", "b"), steps=(10, 20)).write_ndjson(tmp_path / "mine.jsonl")
    rows = [{"example_id": f"e{i}", "premise": f"p {i}", "hypothesis": "h", "label": LABELS[i % 3]} for i in range(24)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = goldassay("runs", "export", "mine.jsonl", *EXPORT, "--test", "gold.jsonl", "--developer", "me")
    assert done.status == 0, done.err
    assert done.out.splitlines() == ["a on toy: 6 runs of 24 examples", "b on toy: 6 runs of 24 examples", "out"]
    made = tmp_path / "out" / "data" / "toy" / "me"
    assert sorted(folder.name for folder in made.iterdir()) == ["a", "b"]
    line = json.loads(next(made.rglob("*_samples.jsonl")).read_text().splitlines()[0])
    assert line["input"] == {"raw": "premise: p 0\nhypothesis: h", "reference": ["entailment"], "choices": list(LABELS)}
    before, after = (read_runs(tmp_path / name, model="b") for name in ("mine.jsonl", "out"))
    assert np.array_equal(before.scores, after.scores)
    assert before.seeds.tolist() == after.seeds.tolist()


def test_export_without_texts_of_all_examples(goldassay: Command, tmp_path: Path) -> None:
    long_table(seeds=(1,)).write_csv(tmp_path / "mine.csv")
    gold = {f"e{i}": LABELS[i % 3] for i in range(24)}
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"{name},{label}\n" for name, label in gold.items()))
    done = goldassay("runs", "export", "mine.csv", *EXPORT, "--test", "labels.csv", "--organization", "us")
    assert (done.status, done.err) == (0, "")
    aggregate = json.loads(next(path for path in (tmp_path / "out").rglob("*.json")).read_text())
    assert aggregate["source_metadata"]["source_organization_name"] == "us"
    assert aggregate["model_info"]["developer"] == "unnamed"


def test_several_models_as_runs_of_one(goldassay: Command, tmp_path: Path) -> None:
    long_table(models=("bert-a", "bert-b", "esim"), seeds=(1,)).write_csv(tmp_path / "mine.csv")
    shown = goldassay("runs", "show", "mine.csv", "--model", "bert-*")
    assert shown.out.startswith("bert-* on toy, paired: 2 runs x 24 examples"), shown.err
    assert "bert-a: " in shown.out


def test_help_without_a_command(goldassay: Command) -> None:
    shown = goldassay("runs")
    assert shown.status == 0
    assert all(word in shown.out for word in ("list", "show", "import", "export"))


def test_published_predictions_with_gold_by_position(goldassay: Command, data_dir: Path, tmp_path: Path) -> None:
    path = data_dir / "predictions/instability_bert_base/hans.preds.tsv.gz"
    gold = data_dir / "hans/hans_gold_by_position.tsv.gz"
    reading = ("--test", gold, "--labels", HANS_LABELS, "--align", "position")
    done = goldassay("runs", "import", path, "-o", "store", *reading)
    assert done.status == 0, done.err
    shown = goldassay("runs", "show", "store")
    assert "score        62.31 points, SD 1.51 [1.04, 2.76]" in shown.out
    assert "groups       heuristic (3), subcase (30)" in shown.out


def damaged(tmp_path: Path, name: str) -> str:
    table = long_table()
    if name == "cut.parquet":
        table.write_parquet(tmp_path / name)
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-100])
    elif name == "old.pkl":
        (tmp_path / name).write_bytes(pickle.dumps([1, 2]))
    elif name == "unscored.csv":
        long_table(label=False).write_csv(tmp_path / name)
    elif name == "steps.csv":
        parts = [long_table(seeds=(1,), steps=(10, 20)), long_table(seeds=(2,), steps=(10,))]
        pl.concat(parts).write_csv(tmp_path / name)
    elif name == "uneven.csv":
        pl.concat([long_table(seeds=(1,)), long_table(seeds=(2,), n=20)]).write_csv(tmp_path / name)
    elif name == "texts.csv":
        (tmp_path / name).write_text("premise,hypothesis\na,b\nc,d\n")
    return name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cut.parquet", ("cut.parquet", "damaged or cut short")),
        ("old.pkl", ("old.pkl", "pickle", "refused")),
        ("unscored.csv", ("unscored.csv", "no gold labels", "--test FILE")),
        ("steps.csv", ("steps.csv", "seed 2 lacks 1 that others have: 20", "--checkpoint last")),
        ("uneven.csv", ("uneven.csv", "lacks 4 of the 24 examples", "e20", "--missing leave-out keeps 20")),
        ("texts.csv", ("texts.csv", "no runs were recognized")),
        ("nowhere", ("nowhere", "no such file or folder")),
    ],
)
def test_what_is_refused(refused: Callable[..., str], tmp_path: Path, name: str, said: tuple[str, ...]) -> None:
    line = refused("runs", "import", damaged(tmp_path, name), "-o", "store")
    for words in said:
        assert words in line
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "x"), ("no runs with model 'x'", "m on toy")),
        (("--format", "x"), ("no format 'x'", "goldassay")),
        (("--labels", "a=b,c"), ("'c' is not NAME=LABEL", "--labels 0=entailment")),
        (("--labels", "b,c"), ("classes in their order", "--label-names")),
        (("--label-names", "b,,c"), ("--label-names 'b,,c'", "twice, or none")),
        (("--test", "other=mine.csv"), "the dataset 'other', of which there are no runs"),
        (("--test", "mine.csv", "--test", "mine.csv"), ("two files of right labels",)),
        (("--columns", "prediction"), "is not ROLE=NAME"),
    ],
)
def test_options_that_do_not_fit(
    refused: Callable[..., str], tmp_path: Path, options: tuple[str, ...], said: Fact
) -> None:
    long_table().write_csv(tmp_path / "mine.csv")
    assert states(refused("runs", "show", "mine.csv", *options), said)


def test_several_broken_files_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from goldassay.cli.main import run

    pl.DataFrame({"example_id": ["a", "b"], "model": "m", "score": [1.0, 0.0]}).write_csv(tmp_path / "good.csv")
    for name in ("cut.eval", "short.eval"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 cut")
    assert run(["runs", "list", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "good" in told.out or "m " in told.out
    (line,) = [each for each in told.err.splitlines() if each.startswith("goldassay")]
    assert "cut.eval" in line
    assert "nor can short.eval be read" in line
