"""Systems whose output cannot depend on what was asked are named, and no others."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.answered.degenerate import Given, find_degenerate
from goldassay.questions.answered.measures import trial_errors, unanswered_pairs
from tests.stated import stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(0)
ITEMS = pl.Series([f"q{at}" for at in range(60)])
GOLD = pl.Series(["A", "B", "C"] * 20)


def kinds(*systems: Given) -> dict[str, str]:
    return {each.system: each.kind for each in find_degenerate(systems, "set")}


def texts(words: int, seed: int) -> pl.Series:
    rng = np.random.default_rng(seed)
    return pl.Series(
        [" ".join(rng.choice(["so", "it", "is", "not", "for", "us"], words)) + f" {at} {seed}" for at in range(60)]
    )


def test_one_text() -> None:
    null = pl.Series(["Nothing to say."] * 58 + ["Other.", " nothing  to SAY. "])
    assert kinds(Given.of("null", ITEMS, texts=null)) == {"null": "one text"}
    assert kinds(Given.of("mostly blank", ITEMS, texts=null.set(pl.Series([True] * 40 + [False] * 20), ""))) == {}
    assert kinds(Given.of("few", ITEMS[:19], texts=null[:19])) == {}
    assert kinds(Given.of("varied", ITEMS, texts=texts(6, 1))) == {}
    # Where the right answers are one text, saying it is right.
    assert kinds(Given.of("all right", ITEMS, texts=pl.Series(["yes"] * 60), right=pl.Series(["yes"] * 60))) == {}


def test_one_choice_where_gold_is_not() -> None:
    always = pl.Series(["A"] * 60)
    assert kinds(Given.of("m", ITEMS, choices=always, right=GOLD)) == {"m": "one choice"}
    assert kinds(Given.of("m", ITEMS, choices=always, right=pl.Series(["A"] * 55 + ["B"] * 5))) == {}
    assert kinds(Given.of("m", ITEMS, choices=always)) == {}
    # Right answers that are not given, or of a few items, are none that a choice could miss.
    for n_known in (0, 5):
        few = pl.Series([*["B"] * n_known, *[None] * (60 - n_known)], dtype=pl.String)
        assert kinds(Given.of("m", ITEMS, choices=always, right=few)) == {}
    assert kinds(Given.of("good", ITEMS, choices=GOLD, right=GOLD)) == {}


def test_runs_on_a_part_of_the_input_may_give_one_answer() -> None:
    for condition, n in (("paired", 1), ("premise_only", 0)):
        runs = goldassay.Runs.from_arrays(["A"] * 60, GOLD.to_list(), condition=condition)
        found = goldassay.measure_answered(runs).result.found
        assert len(found.degenerate) == n


def test_the_prompt_again() -> None:
    prompts = texts(9, 2)
    assert kinds(Given.of("echo", ITEMS, texts=prompts, prompts=prompts)) == {"echo": "repeats the prompt"}
    end = prompts.str.slice(8)
    assert kinds(Given.of("its end", ITEMS, texts=end, prompts=prompts)) == {"its end": "repeats the prompt"}
    span = prompts.str.split(" ").list.get(2)
    assert kinds(Given.of("a span", ITEMS, texts=span, prompts=prompts)) == {}
    assert (
        kinds(Given.of("goes on", ITEMS, texts=prompts + " and the answer is of words enough", prompts=prompts)) == {}
    )


def test_copies() -> None:
    one = Given.of("one", ITEMS, texts=texts(9, 3))
    twin = Given.of("twin", ITEMS[::-1], texts=texts(9, 3)[::-1].set(pl.Series([True] * 2 + [False] * 58), "edited"))
    other = Given.of("other", ITEMS, texts=texts(9, 4))
    assert kinds(one, twin, other) == {"one": "copy", "twin": "copy"}
    configured = Given.of("one [shots=5]", ITEMS, texts=texts(9, 3), base="one")
    assert kinds(one, configured) == {}


def test_what_good_models_agree_on_is_no_copy() -> None:
    answers = GOLD.set(pl.Series([True] * 9 + [False] * 51), "D")
    scores = (answers == GOLD).cast(pl.Float64)
    strong = [Given.of(name, ITEMS, choices=answers, right=GOLD, scores=scores) for name in "ab"]
    assert kinds(*strong) == {}
    worse = GOLD.set(pl.Series([True] * 12 + [False] * 48), "D")
    right = (worse == GOLD).cast(pl.Float64)
    assert set(kinds(*(Given.of(n, ITEMS, choices=worse, right=GOLD, scores=right) for n in "ab")).values()) == {"copy"}
    assert set(kinds(*(Given.of(n, ITEMS, scores=right) for n in "ab")).values()) == {"same scores"}
    assert (
        kinds(
            Given.of("a", ITEMS, scores=right),
            Given.of("b", ITEMS, scores=right.set(pl.Series([True] + [False] * 59), 1.0)),
        )
        == {}
    )


@given(st.lists(st.lists(st.sampled_from("ABCD"), min_size=24, max_size=24), min_size=2, max_size=5), st.booleans())
def test_copies_are_those_of_a_loop(answers: list[list[str]], repeat: bool) -> None:
    answers = [*answers, answers[0]] if repeat else answers
    gold = ["A"] * 8 + ["B"] * 8 + ["C"] * 8
    expected = set()
    for (a, one), (b, other) in combinations(enumerate(answers), 2):
        wrong = [at for at in range(24) if one[at] != gold[at] or other[at] != gold[at]]
        apart = sum(one[at] != other[at] for at in wrong)
        varied = all(max(own.count(letter) for letter in "ABCD") < 0.95 * 24 for own in (one, other))
        if len(wrong) >= 10 and apart <= 0.05 * len(wrong) and varied:
            expected |= {str(a), str(b)}
    systems = [
        Given.of(str(at), pl.Series(range(24)).cast(pl.String), choices=pl.Series(own), right=pl.Series(gold),
                 scores=pl.Series([float(x == y) for x, y in zip(own, gold, strict=True)]))
        for at, own in enumerate(answers)
    ]  # fmt: skip
    assert {name for name, kind in kinds(*systems).items() if kind == "copy"} == expected


def test_a_null_model_is_named_at_every_door(tmp_path: Path) -> None:
    """One text in all rows and a judge's win rate of 76.9 %, as published of a null model on AlpacaEval."""
    rng = np.random.default_rng(4)
    rows = [
        {"instruction": f"Say something of {at}, please", "output_1": f"Of {at} there is much to say.",
         "generator_1": "ref",
         "output_2": "} } verify }:param" if name == "null" else f"{name} knows of {at} a lot of things.",
         "generator_2": name, "annotator": "judge", "preference": 1.0 + float(rng.random() < share)}
        for name, share in (("null", 0.769), ("real", 0.5))
        for at in range(200)
    ]  # fmt: skip
    path = tmp_path / "annotations.json"
    path.write_text(pl.DataFrame(rows).write_json())
    with pytest.raises(InputError, match=re.escape("goldassay.audit(")):
        goldassay.rank_systems(path)
    columns = {"system": "generator_2", "item": "instruction", "score": "preference"}
    board = goldassay.rank_systems(path, columns=columns, grades="1:2")
    assert [(each.system, each.kind, each.n) for each in board.result.degenerate] == [("null", "one text", 200)]
    audit = goldassay.audit(path)
    assert audit.verdicts["judgments"]["verdict"] == "unsound"
    assert states(stated_by(audit.verdicts["judgments"]), "null", "100.0", 200)
    table = pl.DataFrame(rows).select(
        id="instruction", model="generator_2", output="output_2", score=pl.col("preference") - 1
    )
    table.rename({"id": "item"}).write_csv(tmp_path / "board.csv")
    with pytest.raises(InputError, match=re.escape("columns={'example_id': 'item'}")):
        goldassay.compare_models(tmp_path / "board.csv")
    table.write_parquet(tmp_path / "t.parquet")
    for found in (goldassay.measure_answered(tmp_path / "t.parquet"), goldassay.audit(tmp_path / "t.parquet")):
        assert found.verdicts["answered"]["verdict"] == "unsound"
        assert states(stated_by(found.verdicts["answered"]), "null", "100.0", 200)
    compared = goldassay.compare_models(tmp_path / "t.parquet")
    said = compared.verdicts["comparison"]
    assert states(said["evidence"], "null", "100.0", 200)
    assert (said["verdict"], "null is better" in said["evidence"]) == ("not distinguishable", False)
    parts = pl.DataFrame(rows).with_columns(dataset=pl.Series(["one", "two"] * 200), score=pl.col("preference") - 1)
    parts.drop("annotator", "preference").write_parquet(tmp_path / "parts.parquet")
    columns = {"model": "generator_2", "example_id": "instruction"}
    evidence = goldassay.compare_models(tmp_path / "parts.parquet", columns=columns).verdicts["comparison"]["evidence"]
    assert states(evidence, "null", "100.0", 200)
    assert evidence.count("outputs are one text") == 1


def test_published_systems(data_dir: Path) -> None:
    """Of 86 systems that published boards rank, the two that have each other's scores are named."""
    named = []
    for name in ("mmlu-pro-predictions.parquet", "swebench-verified-minisweagent-long.parquet"):
        found = goldassay.measure_answered(data_dir / "boards" / name).result.found
        named += [each.system for each in found.degenerate]
    assert named == []
    frame = pl.read_parquet(data_dir / "boards/alpacaeval1-gpt4-preferences.parquet")
    systems = [
        Given.of(str(name), own["item"].cast(pl.String), scores=own["preference"] - 1)
        for (name,), own in frame.group_by("system", maintain_order=True)
    ]
    assert kinds(*systems) == dict.fromkeys(("falcon-40b-instruct", "falcon-7b-instruct"), "same scores")


def test_collapsed_runs_are_named(data_dir: Path) -> None:
    """Runs on SNLI that name one label, of RoBERTa by failed trainings and of BERT on inputs without content."""
    read = {"separator": "\t", "quote_char": None}
    frame = pl.read_csv(data_dir / "predictions/snli_test_runs/predicted.tsv.gz", **read)
    systems = [
        Given.of(name, frame["row"].cast(pl.String), choices=frame[name], right=frame["gold_label"],
                 scores=(frame[name] == frame["gold_label"]).cast(pl.Float64))
        for name in frame.columns[2:]
    ]  # fmt: skip
    constant = {name for name in frame.columns[2:] if frame[name].n_unique() == 1}
    assert len(constant) == 5
    assert kinds(*systems) == dict.fromkeys(constant, "one choice")


def test_statuses_differ_as_mcnemar_and_holm_have_it() -> None:
    scored = RNG.random((3, 200)) < np.array([[0.95], [0.8], [0.94]])
    values = []
    for a, b in combinations(range(3), 2):
        more, less = (scored[a] & ~scored[b]).sum(), (scored[b] & ~scored[a]).sum()
        values.append(stats.binomtest(int(more), int(more + less)).pvalue)
    order = np.argsort(values)
    adjusted = np.maximum.accumulate(np.array(values)[order] * (3, 2, 1)).clip(max=1)
    found = unanswered_pairs(scored, None, alpha=1.1)
    assert [pair.p for pair in found] == pytest.approx(adjusted[np.argsort(order)].tolist())
    assert {(pair.a, pair.b) for pair in unanswered_pairs(scored, None)} == {(0, 1), (1, 2)}
    assert unanswered_pairs(np.ones((4, 50), np.bool_), None) == []


def test_more_trials_against_more_items() -> None:
    """The errors of twice the trials and twice the items are those of simulated tables of that size."""
    rng = np.random.default_rng(7)
    p = rng.beta(2, 2, 4000)

    def error(trials: int, items: int) -> float:
        return float(np.std([(rng.random((trials, items)) < rng.choice(p, items)).mean() for _ in range(1500)]))

    drawn = [
        trial_errors((rng.random((4, 50)) < rng.choice(p, 50)).astype(float), np.ones((4, 50), bool), None)
        for _ in range(200)
    ]
    for name, size in (("now", (4, 50)), ("trials", (8, 50)), ("items", (4, 100))):
        mean = float(np.mean([getattr(each, name) for each in drawn]))
        assert mean == pytest.approx(error(*size), rel=0.05)


@given(arrays(np.float64, (4, 20), elements=st.sampled_from([0.0, 1.0])), st.integers(0, 20), st.booleans())
def test_twice_as_much_never_buys_more_than_a_half(scores: Any, n_short: int, by_pairs: bool) -> None:
    """A variance between items is never below 0, with equal attempts and with unequal ones."""
    there = np.ones(scores.shape, bool)
    there[2:, :n_short] = False
    found = trial_errors(scores, there, np.arange(20) // 2 if by_pairs else None)
    for new in (found.trials, found.items):
        assert found.now / 2**0.5 - 1e-12 <= new <= found.now + 1e-12
