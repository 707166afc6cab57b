"""The audit as a function: what goes in, what comes out, and that it is the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goldassay
from goldassay.core.settings import parse_settings
from goldassay.data.specimen import make_specimen
from goldassay.questions.artifacts.inputs import choose_tokenizer, least_count
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import in_order, stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

SMALL = parse_settings({"leakage": {"seeds": 2}})


@pytest.fixture(scope="module")
def specimen() -> Any:
    return make_specimen(size=2000, seed=0, test_size=200)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the audit of `report` keeps its runs."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def report(specimen: Any, kept: Path) -> goldassay.Report:
    return goldassay.audit(specimen.train, specimen.test, settings=SMALL, out=kept)


def stable(report: goldassay.Report) -> str:
    document = {key: value for key, value in report.to_dict().items() if key != "timing"}
    return json.dumps(document, sort_keys=True)


def test_every_question_has_a_verdict(report: goldassay.Report) -> None:
    assert set(report.verdicts) == {"artifacts", "leakage", "instability", "shift", "overlap"}
    for verdict in report.verdicts.values():
        assert verdict["verdict"] in {"sound", "caution", "unsound", "unresolved", "not asked"}
        assert verdict["evidence"].endswith((".", "!"))
        assert verdict["next_step"]
    assert report.verdicts["instability"]["verdict"] == "not asked"
    assert report.verdicts["shift"]["verdict"] == "not asked"


def test_numbers_in_the_report_are_those_of_the_data(report: goldassay.Report, specimen: Any) -> None:
    document = report.to_dict()
    test = specimen.test
    assert document["facts"]["n_train"] == specimen.train.height
    counts = dict(test["label"].value_counts().iter_rows())
    assert document["facts"]["label_counts"]["test"] == counts
    conditions = {row["condition"]: row for row in document["leakage"]["conditions"]}
    assert set(conditions) == {"paired", "premise_only", "hypothesis_only"}
    majority = max(counts.values()) / test.height
    for row in conditions.values():
        assert row["majority"] == pytest.approx(majority)
        assert row["improvement"] == pytest.approx(row["accuracy"] - majority)
    shares = document["artifacts"]["difficulty"]
    assert sum(each["n"] for each in shares.values()) == test.height
    examples = report.tables["examples"]
    assert examples.height == test.height
    assert examples["right_paired"].mean() == pytest.approx(conditions["paired"]["accuracy"])
    assert (examples["difficulty"] == "easy").sum() == shares["easy"]["n"]


def test_a_strong_pattern_counts_what_a_plain_search_counts(report: goldassay.Report, specimen: Any) -> None:
    strongest = report.to_dict()["artifacts"]["strongest"]
    single = [row for rows in strongest.values() for row in rows if " " not in row["pattern"]]
    assert single
    from nltk.tokenize import TreebankWordTokenizer

    cut = TreebankWordTokenizer().tokenize
    tokens = [set(cut(text)) for text in specimen.train["hypothesis"]]
    for row in single:
        assert sum(row["pattern"] in held for held in tokens) == row["support"]


def test_the_same_data_give_the_same_report_in_whatever_container(specimen: Any) -> None:
    parts = (specimen.train.head(500), specimen.test)
    report = goldassay.audit(*parts, settings=SMALL)
    for convert in (pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.to_dicts):
        again = goldassay.audit(*map(convert, parts), settings=SMALL)
        assert isinstance(convert(specimen.test), (pd.DataFrame, pa.Table, list))
        assert again.to_dict()["artifacts"] == report.to_dict()["artifacts"]
        assert again.to_dict()["leakage"] == report.to_dict()["leakage"]


def test_two_runs_differ_in_nothing_but_times(
    report: goldassay.Report, specimen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one core, too, where questions are answered one after the other."""
    assert stable(goldassay.audit(specimen.train, specimen.test, seed=1, settings=SMALL)) != stable(report)
    monkeypatch.setattr("goldassay.questions.audit.cores", lambda: 1)
    assert stable(goldassay.audit(specimen.train, specimen.test, settings=SMALL)) == stable(report)


def test_without_a_test_part_every_row_is_read_once_by_folds() -> None:
    clean = make_specimen(size=900, seed=1, clean=True, test_size=200).train
    report = goldassay.audit(clean, settings=SMALL)
    document = report.to_dict()
    assert (document["facts"]["n_train"], document["facts"]["n_test"]) == (clean.height, None)
    (given,) = document["inputs"]
    assert any("5 folds" in decision for decision in given["decisions"])
    assert document["leakage"]["n_examples"] == report.tables["examples"].height == clean.height
    assert sum(size["n"] for size in document["artifacts"]["difficulty"].values()) == clean.height
    assert {each["part"] for each in document["artifacts"]["effects"]["effects"]} == {"premise", "hypothesis"}


def test_the_text_that_decides_is_named_and_the_others_stand_beside_it() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(80)]
    rows = [
        {
            "context": " ".join(rng.choice(words, 9)),
            "question": " ".join([*rng.choice(words, 6), *(["not"] if label == "yes" and rng.random() < 0.7 else [])]),
            "passage": " ".join(rng.choice(words, 7)),
            "label": label,
        }
        for label in rng.choice(["yes", "no"], 500)
    ]
    for roles in (("context", "question", "passage"), ("question", "passage", "context")):
        columns = {"premise": roles[0], "hypothesis": roles[1], "text": roles[2]}
        data = [{role: row[name] for role, name in columns.items()} | {"label": row["label"]} for row in rows]
        told = next(role for role, name in columns.items() if name == "question")
        report = goldassay.audit(data, settings=SMALL)
        verdict, found = report.verdicts["artifacts"], report.to_dict()["artifacts"]
        assert verdict["verdict"] == "unsound"
        assert told in verdict["headline"]["label"]
        assert found["applies_to"] == told
        assert {each["applies_to"] for each in found["others"]} == set(report.to_dict()["dataset"]["text_columns"]) - {
            told
        }
        assert found["strongest"]["yes"][0]["pattern"] == "not"
        assert set(report.tables["difficulty"]["class"]) >= {"easy", "uncovered"}


def test_a_split_column_is_used(specimen: Any) -> None:
    whole = pl.concat(
        [specimen.train.with_columns(split=pl.lit("train")), specimen.test.with_columns(split=pl.lit("test"))]
    )
    document = goldassay.audit(whole, settings=SMALL).to_dict()
    assert document["facts"]["n_train"] == specimen.train.height
    assert document["facts"]["n_test"] == specimen.test.height


def test_a_single_text_says_what_does_not_apply() -> None:
    rng = np.random.default_rng(0)
    nouns = [f"noun{i}" for i in range(60)]
    rows = [
        {"text": f"a {rng.choice(nouns)} and a {rng.choice(nouns)} {mood}", "label": label}
        for i in range(1500)
        for label, mood in [rng.permutation([("good", "shine"), ("bad", "rot")])[0]]
    ]
    report = goldassay.audit(rows[:1200], rows[1200:], settings=SMALL)
    assert report.verdicts["leakage"]["verdict"] == "not asked"
    assert "single text" in stated_by(report.verdicts["leakage"])
    assert report.verdicts["artifacts"]["verdict"] == "caution"
    assert [row["condition"] for row in report.to_dict()["leakage"]["conditions"]] == ["text"]


def test_given_runs_are_measured(specimen: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = ("entailment", "neutral", "contradiction")
    gold = specimen.test["label"].replace_strict({name: code for code, name in enumerate(names)}).to_numpy()
    wrong = rng.random((6, gold.size)) < 0.2
    predictions = np.where(wrong, (gold + 1) % 3, gold)
    runs = Runs.from_arrays(
        predictions=predictions,
        gold=gold,
        label_names=names,
        seeds=np.arange(6),
        example_ids=specimen.test["id"].to_numpy(),
        model="mine",
        dataset="specimen",
    )
    write_runs(runs, tmp_path / "runs")
    report = goldassay.audit(specimen.train, specimen.test, runs=tmp_path / "runs", settings=SMALL)
    document = report.to_dict()
    (result,) = document["instability"]["results"]
    accuracies = 1 - wrong.mean(axis=1)
    assert result["mean"] == pytest.approx(accuracies.mean())
    assert result["sd"] == pytest.approx(accuracies.std(ddof=1))
    # 200 examples, each wrong by chance: two points of spread though no example follows another.
    assert report.verdicts["instability"]["verdict"] in {"caution", "unsound"}
    assert result["design_effect"] == pytest.approx(1, abs=0.8)
    assert document["inputs"][2]["role"] == "runs"
    assert len(document["inputs"][2]["sha256"]) == 6
    assert {group["column"] for group in document["instability"]["groups"]} == {"group", "topic"}


def test_probe_runs_are_kept_where_asked_and_open_without_us(report: goldassay.Report, kept: Path) -> None:
    files = sorted((kept / "runs").glob("*.parquet"))
    assert len(files) == 6
    frame = pd.read_parquet(files[0])
    assert {"seed", "condition", "example_id", "label", "prediction"} <= set(frame.columns)


def test_hostile_text_stays_text(specimen: Any, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    train = specimen.train.with_columns(
        hypothesis=pl.when(pl.col("label") == "neutral")
        .then(pl.lit(hostile + " & ") + pl.col("hypothesis"))
        .otherwise(pl.col("hypothesis"))
    )
    page = goldassay.audit(train, specimen.test, settings=SMALL).save(tmp_path)
    text = page.read_text()
    assert hostile not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(("rows", "least"), [(100, 8), (8_999, 8), (18_000, 18), (199_999, 199), (200_000, 50)])
def test_least_count(rows: int, least: int) -> None:
    assert least_count(rows) == least


def test_scripts_without_spaces_are_cut_by_characters() -> None:
    assert choose_tokenizer("characters", "auto") == "characters"
    assert choose_tokenizer("words", "auto") == "treebank"
    assert choose_tokenizer("characters", "whitespace") == "whitespace"


def test_the_core_needs_no_torch(specimen: Any, tmp_path: Path) -> None:
    specimen.train.head(400).write_ndjson(tmp_path / "train.jsonl")
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError('No module named torch', name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import goldassay\n"
        "from goldassay.core.settings import parse_settings\n"
        "settings = parse_settings({'leakage': {'seeds': 2}})\n"
        "print(goldassay.audit('train.jsonl', settings=settings).verdicts['shift']['verdict'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "not asked"


def runs_on(test: pl.DataFrame, **changes: Any) -> dict[str, Any]:
    """A long table of three runs that are always right."""
    rows = [
        {"seed": seed, "example_id": example, "prediction": label, "label": label}
        for seed in range(3)
        for example, label in zip(test["id"], test["label"], strict=True)
    ]
    return pl.DataFrame(rows).with_columns(**changes)


def test_given_runs_are_held_against_the_test_set(specimen: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"

    def audited(**changes: Any) -> goldassay.Report:
        runs_on(specimen.test, **changes).write_csv(path)
        return goldassay.audit(specimen.train, specimen.test, runs=path, settings=SMALL)

    with pytest.raises(goldassay.InputError, match=r"differ from those of .* in 200 of 200 examples"):
        turned = {"entailment": "neutral", "neutral": "contradiction", "contradiction": "entailment"}
        audited(label=pl.col("label").replace_strict(turned))
    with pytest.raises(goldassay.InputError, match=in_order("no runs answer test", "200 of their 200")):
        audited(example_id="other-" + pl.col("example_id"))
    one_run_astray = pl.when(pl.col("seed") == 0).then(pl.lit("zork")).otherwise(pl.col("prediction"))
    unknown = stated_by(audited(prediction=one_run_astray).verdicts["instability"])
    assert "'zork', no label of the test set, 200 times" in unknown


@pytest.mark.parametrize("seed", [-1, 2**32, 2**64, 1.5, True])
def test_a_seed_that_cannot_be_used_is_refused(specimen: Any, seed: Any) -> None:
    with pytest.raises(goldassay.InputError, match="seed is"):
        goldassay.audit(specimen.train, specimen.test, seed=seed)


def test_a_training_part_too_small_to_search_is_not_called_sound() -> None:
    rows = [
        {"premise": f"Premise {i}.", "hypothesis": f"{'Nobody' if i % 2 else 'Somebody'} is {i}.", "label": "ny"[i % 2]}
        for i in range(14)
    ]
    report = goldassay.audit(rows[:12], rows[12:], settings=SMALL)
    assert report.verdicts["artifacts"]["verdict"] == "unresolved"


def test_rows_known_by_heart_are_named(specimen: Any) -> None:
    report = goldassay.audit(specimen.train.head(500), specimen.train.head(500), settings=SMALL)
    assert states(stated_by(report.verdicts["leakage"]), "500 of the test rows", "training part")
