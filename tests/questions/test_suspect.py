"""Suspect labels in an audit: planted ones come first, clean data have none beyond chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.figures import figures_of
from goldassay.core.progress import Steps
from goldassay.core.sections import Around
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import run_paths
from goldassay.questions.suspect.measures import family_of
from goldassay.questions.suspect.page import PAGE, sentences
from goldassay.questions.suspect.question import (
    ANNOTATORS,
    OTHER_LABEL,
    Suspects,
    find_defects,
    find_suspects,
    first_suspects,
)
from goldassay.questions.suspect.result import RankedLabels, SuspectResult
from goldassay.runs.runs import Runs
from goldassay.view.opening import open_workbench
from goldassay.view.page import render_list
from tests.stated import in_order, says, states

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
MODELS = ("albert", "bert-base", "bert-large", "deberta", "t5", "org/gpt-2", "mistral")


def pairs(gold: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [f"e{i}" for i in range(gold.size)],
            "premise": [f"Somebody number {i} is there." for i in range(gold.size)],
            "hypothesis": [f"A person of {i} is not {i % 7} away." for i in range(gold.size)],
            "label": [LABELS[i] for i in gold],
        }
    )


def answers(rng: np.random.Generator, truth: np.ndarray, gold: np.ndarray, accuracy: float = 0.8) -> pl.DataFrame:
    frames = []
    for model in MODELS:
        right = rng.random(truth.size) < accuracy
        named = np.where(right, truth, (truth + rng.integers(1, 3, truth.size)) % 3)
        frames.append(
            pl.DataFrame(
                {
                    "model": model,
                    "example_id": [f"e{i}" for i in range(truth.size)],
                    "label": [LABELS[i] for i in gold],
                    "prediction": [LABELS[i] for i in named],
                }
            )
        )
    return pl.concat(frames)


def suspects(train: Any, test: Any, runs: Any) -> Suspects:
    with run_paths(runs) as paths:
        evidence = Evidence(train, test, paths, settings=Settings(), steps=Steps(quiet=True))
        evidence.load()
        return find_suspects(evidence)


def ranked(found: Suspects) -> RankedLabels:
    assert isinstance(found.result, RankedLabels)
    return found.result


def made(seed: int, share: float, accuracy: float = 0.8) -> tuple[Suspects, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 900)
    wrong = rng.random(900) < share
    gold = np.where(wrong, (truth + rng.integers(1, 3, 900)) % 3, truth)
    train = pairs(rng.integers(0, 3, 60)).with_columns(premise="Other " + pl.col("premise"))
    return suspects(train, pairs(gold), answers(rng, truth, gold, accuracy)), wrong


def test_planted_errors_are_found() -> None:
    found, wrong = made(0, 0.065)
    assert found.rows is not None
    first = [int(name[1:]) for name in found.rows["example_id"].head(int(wrong.sum())).to_list()]
    assert wrong[first].mean() > 0.9
    assert (ranked(found).n_unanimous or 0) > 5 * (ranked(found).n_expected or 0)
    assert found.scores is not None
    row = found.scores.filter(pl.col("share") == 0.065, pl.col("model") == "t5").to_dicts()[0]
    assert row["dropped"] > row["as_is"]
    assert row["relabelled"] > row["as_is"]


def test_the_list_has_the_rows_that_something_speaks_against() -> None:
    found, _ = made(0, 0.065)
    assert found.rows is not None
    rows = found.rows.to_dicts()
    for row in rows:
        # Whatever all strong families say together is likelier than the label.
        assert (row["suspect"] == "no") == (row["log_odds"] <= 0)
    listed = first_suspects(found.rows, 1000)["example_id"].to_list()
    assert listed == [row["example_id"] for row in rows if row["suspect"] != "no"]
    assert 0 < len(listed) < len(rows)
    assert [row.example_id for row in ranked(found).rows] == listed[:20]


def test_by_confidence_the_list_has_the_rows_whose_label_is_less_than_half_likely() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 200)
    logits = rng.normal(size=(1, 200, 3)) + np.eye(3)[gold]
    runs = Runs.from_arrays(logits=logits, gold=gold, label_names=LABELS, model="bert",
                            example_ids=[f"e{i}" for i in range(200)])  # fmt: skip
    train = pairs(rng.integers(0, 3, 60)).with_columns(premise="Other " + pl.col("premise"))
    found = suspects(train, pairs(gold), runs)
    assert found.rows is not None
    odds = np.exp(logits[0])
    right = odds[np.arange(200), gold] / odds.sum(axis=1)
    kinds = dict(found.rows.select("example_id", "suspect").iter_rows())
    assert kinds == {f"e{i}": "low confidence" if right[i] < 0.5 else "no" for i in range(200)}


def partly(missing: int) -> tuple[Suspects, Suspects, pl.DataFrame]:
    """Suspects by runs that lack the first rows, those among the other rows alone, and accuracies on these."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 400)
    gold = np.where(rng.random(400) < 0.065, (truth + 1) % 3, truth)
    train = pairs(rng.integers(0, 3, 60)).with_columns(premise="Other " + pl.col("premise"))
    runs = answers(rng, truth, gold).filter(~pl.col("example_id").is_in([f"e{i}" for i in range(missing)]))
    right = runs.group_by("model", maintain_order=True).agg((pl.col("label") == pl.col("prediction")).mean())
    return suspects(train, pairs(gold), runs), suspects(train, pairs(gold)[missing:], runs), right


def test_rows_without_answers_come_last_and_change_nothing_else() -> None:
    found, alone, right = partly(40)
    assert found.rows is not None
    assert alone.rows is not None
    own = found.rows.filter(pl.col("suspect") != "not answered")
    measured = ("example_id", "suspect", "suggested", "log_odds")
    assert own.select(measured).equals(alone.rows.select(measured))
    last = found.rows.tail(40)
    assert sorted(last["example_id"].to_list()) == sorted(f"e{i}" for i in range(40))
    assert last.select("suggested", "log_odds").null_count().row(0) == (40, 40)
    assert set(last["suspect"].to_list()) == {"not answered"}
    assert found.scores is not None
    for row in right.iter_rows():
        # The score is that of the rows that are answered, as everywhere.
        assert found.scores.filter(pl.col("model") == row[0])["as_is"][0] == pytest.approx(row[1], abs=1e-12)
    one, other = ranked(found), ranked(alone)
    assert (one.n_unanimous, one.n_expected) == (other.n_unanimous, other.n_expected)
    assert [each.n for each in figures_of(one)] == [400, 360, 360]
    assert states(sentences(found.result), "40 rows", "not answered", "last")


def test_runs_that_lack_more_rows_are_not_held_against_labels() -> None:
    found, _, _ = partly(41)
    assert found.rows is None
    assert states(found.result.why_not, "No runs predict", "test part")


def test_clean_labels_have_no_suspects_beyond_chance() -> None:
    observed, expected = 0, 0.0
    for seed in range(6):
        found, _ = made(seed, 0.0, accuracy=0.7)
        observed, expected = observed + (ranked(found).n_unanimous or 0), expected + (ranked(found).n_expected or 0)
    # The expectation is an upper bound where families have several models.
    assert observed < expected + 3 * math.sqrt(expected)


def test_few_families_are_said_and_mark_nothing() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    few = answers(rng, truth, truth).filter(pl.col("model").is_in(["albert", "bert-base", "bert-large", "t5"]))
    found = suspects(pairs(rng.integers(0, 3, 60)).with_columns(premise="x " + pl.col("premise")), pairs(truth), few)
    said = ("4 models", "3 families", "5 families", "3 of them strong")
    assert states(found.result.why_not, said)
    assert sentences(found.result) == [found.result.why_not]
    assert found.examples == {}


def test_confidence_of_one_model_says_that_no_answers_are_held_against_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 200)
    runs = Runs.from_arrays(
        logits=rng.normal(size=(1, 200, 3)) + 3 * np.eye(3)[gold], gold=gold, label_names=LABELS, model="bert",
        example_ids=[f"e{i}" for i in range(200)],
    )  # fmt: skip
    train = pairs(rng.integers(0, 3, 60)).with_columns(premise="Other " + pl.col("premise"))
    found = suspects(train, pairs(gold), runs)
    said = found.result.why_not
    assert states(said, "of 1 family", "5 families")
    assert said in sentences(found.result)
    assert found.rows is not None


def test_an_audit_without_runs_says_what_it_takes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    found = suspects(pairs(rng.integers(0, 3, 60)).with_columns(premise="x " + pl.col("premise")),
                     pairs(rng.integers(0, 3, 90)), None)  # fmt: skip
    assert found.result == SuspectResult(found.result.why_not)
    assert found.result.why_not == says("No runs", "5 families", "3 of them strong")
    assert (PAGE.sections(found.result, Around({})), figures_of(found.result)) == ((), ())


def test_many_models_of_one_family_say_why_nothing_is_marked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    train = pairs(rng.integers(0, 3, 120)).with_columns(premise="Other " + pl.col("premise"))
    numbered = answers(rng, truth, truth).with_columns(model="model-" + pl.col("model").rank("dense").cast(pl.String))
    report = goldassay.audit(train, pairs(truth), runs=numbered)
    (said,) = report.document["suspect"]["sentences"]
    assert states(said, "7 models", "1 family", "5 families")
    assert said in report.save(tmp_path / "report").read_text("utf-8")
    assert report.figures.filter(pl.col("id") == "suspect.unison")["reason"][0] == said
    # Each place where people look for suspects says the same.
    clause = said[0].lower() + said[1:-1]
    with pytest.raises(InputError, match=in_order(f"question 'suspect': {clause}", "rows of")):
        report.rows("suspect")
    bench = open_workbench(tmp_path / "report")
    for query in ("f.suspect=contradicted in unison", "sort=-suspicion", "n.suspicion=0.9..1"):
        with pytest.raises(InputError, match=clause):
            bench.state(query)
    state = bench.state("")
    page = render_list(bench, state, bench.selector.select(state), base="/t/")
    assert (
        f'<section class="facet" aria-label="suspect">\n<h2>suspect</h2>\n<ul>\n</ul>\n<p class="why"><bdi>{said}'
        in page
    )


@pytest.mark.parametrize(
    ("model", "family"),
    [("bert-base", "bert"), ("org/RoBERTa-large", "roberta"), ("t5_full", "t"), ("7", "7"), ("GPT2", "gpt")],
)
def test_families_are_told_by_the_first_word(model: str, family: str) -> None:
    assert family_of(model) == family


def test_rows_that_cannot_all_be_right() -> None:
    rows = {
        "text": ["One  Thing", "one thing", "other", "third", "fourth"],
        "label": ["a", "b", "a", "b", "a"],
        "annotator_labels": [["a"], ["b"], ["b", "b", "a"], ["a", "b"], []],
    }
    dataset = Dataset.from_frame(pl.DataFrame(rows), columns={"annotator_labels": "annotator_labels"})
    assert find_defects(dataset).to_list() == [OTHER_LABEL, OTHER_LABEL, ANNOTATORS, None, None]


def test_an_audit_shows_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 300)
    gold = truth.copy()
    gold[:15] = (gold[:15] + 1) % 3
    train = pairs(rng.integers(0, 3, 120)).with_columns(premise="Other " + pl.col("premise"))
    report = goldassay.audit(train, pairs(gold), runs=answers(rng, truth, gold, 0.9))
    rows = report.rows("suspect")
    assert rows.columns[:4] == ["dataset", "example_id", "suspicion", "suspect"]
    assert set(rows["example_id"].head(12)) <= {f"e{i}" for i in range(15)}
    assert {"premise", "hypothesis", "label", "suggested"} <= set(rows.columns)
    assert "suspect" not in report.verdicts
    assert report.figures.filter(pl.col("id") == "suspect.unison")["value"][0] >= 10
    page = report.save(tmp_path / "report").read_text("utf-8")
    assert "Which labels may be wrong?" in page
    assert page.count('<article class="card') == 5
    assert run(["view", str(tmp_path / "report"), "--export", str(tmp_path / "p.html"), "--state",
                "f.suspect=contradicted+in+unison&sort=-suspicion", "-q"]) == 0  # fmt: skip
    shown = (tmp_path / "p.html").read_text("utf-8")
    assert "contradicted in unison" in shown


def test_the_clean_specimen_has_none(tmp_path: Path) -> None:
    folder = tmp_path / "specimen"
    assert run(["specimen", "--clean", "-o", str(folder), "--size", "2000", "--test-size", "500", "-q"]) == 0
    found = suspects(str(folder / "train.jsonl"), str(folder / "test.jsonl"), None)
    assert found.rows is None
