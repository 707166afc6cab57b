"""Disputed keys and saturation: against loops, simulation and planted errors, and what must not be disputed."""

from __future__ import annotations

import json
from itertools import combinations
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

import goldassay
from benchmarks.suspects import known_errors
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.data.decisions import Decision, append_decision
from goldassay.questions import audit
from goldassay.questions.suspect.measures import KeyVotes, families_of, vote_on_keys
from goldassay.view.opening import open_workbench

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIXTURES = Path(__file__).parents[1] / "runs" / "fixtures"
Answers = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def answered(n_items: int, n_systems: int, n_choices: int, seed: int, attractive: float = 0.0) -> Answers:
    """Systems that err independently given an item's difficulty, and keys that are right, as codes.

    Args:
        n_items: N.
        n_systems: S.
        n_choices: C.
        seed: Of the draw.
        attractive: How often, at most, who errs falls for the same wrong choice.
    """
    rng = np.random.default_rng(seed)
    key = rng.integers(0, n_choices, n_items)
    solves = rng.normal(0.5, 0.7, (n_systems, 1)) - rng.normal(0, 1.5, n_items)
    wrong = (key + rng.integers(1, n_choices, (n_systems, n_items))) % n_choices
    bait, pull = (key + rng.integers(1, n_choices, n_items)) % n_choices, attractive * rng.beta(1, 3, n_items)
    wrong = np.where(rng.random(wrong.shape) < pull, bait, wrong)
    return np.where(rng.random(wrong.shape) < 1 / (1 + np.exp(-solves)), key, wrong), key


def voted(answers: NDArray[np.int64], key: NDArray[np.int64], n_choices: int, names: Any = None) -> KeyVotes:
    found = vote_on_keys(answers, key, n_choices, names or [f"s{at}" for at in range(len(answers))])
    assert found is not None
    return found


def disputed(found: KeyVotes) -> NDArray[np.bool_]:
    return found.q <= 0.05


def auroc(score: NDArray[np.float64], wrong: NDArray[np.bool_]) -> float:
    n = int(wrong.sum())
    return float((rankdata(score)[wrong].sum() - n * (n + 1) / 2) / (n * (wrong.size - n)))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(5, 9), st.integers(1, 12))
def test_votes_are_those_of_a_loop(seed: int, n_choices: int, n_systems: int, n_items: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(-1, n_choices, (n_systems, n_items))
    key = rng.integers(0, n_choices, n_items)
    found = voted(answers, key, n_choices, [f"kind{at % 4} {at}" for at in range(n_systems)])
    for item in range(n_items):
        votes = [0.0] * n_choices
        for own, family in zip(answers, found.families, strict=True):
            if own[item] >= 0:
                share = (sum(own == key) + 1) / (sum(own >= 0) + 2)
                weight = max(0.0, log(share * (n_choices - 1) / (1 - share)))
                votes[own[item]] += weight / found.families.count(family)
        others = [vote for code, vote in enumerate(votes) if code != key[item]]
        assert found.log_odds[item] == pytest.approx(max(others) - votes[key[item]])
        assert votes[found.alternative[item]] == pytest.approx(max(others))
        assert found.alternative[item] != key[item]
        assert found.n_for[item] == (answers[:, item] == found.alternative[item]).sum()
        assert found.n_against[item] == (answers[:, item] == key[item]).sum()


def test_families_are_kin_by_name_or_by_agreement_beyond_accuracy() -> None:
    answers, key = answered(400, 6, 4, 1)
    rng = np.random.default_rng(2)
    # The fifth answers as the first on four of five items, and the sixth not at all.
    answers[4] = np.where(rng.random(400) < 0.8, answers[0], answers[4])
    answers[5] = -1
    assert families_of(answers, key, 4, ["m1", "bert-base", "m2", "bert-large", "m3", "m4"]) == (
        "m1",
        "bert",
        "m2",
        "bert",
        "m1",
        "m4",
    )
    for one, other in combinations(range(5), 2):
        hits = [(answers[at] == key).mean() for at in (one, other)]
        expected = hits[0] * hits[1] + (1 - hits[0]) * (1 - hits[1]) / 3
        agreed = ((answers[one] == answers[other]).mean() - expected) / (1 - expected)
        assert (agreed >= 0.5) == ((one, other) == (0, 4))
    # Kin by agreement of one that is kin by name.
    names = ["m1", "bert-large", "m2", "bert-base"]
    assert families_of(answers[[4, 3, 1, 0]], key, 4, names) == ("m1", "m1", "m2", "m1")


def test_chance_is_that_of_systems_of_which_none_knows_the_answer() -> None:
    rng = np.random.default_rng(3)
    answers, key = answered(600, 8, 5, 4)
    found = voted(answers, key, 5)
    accuracy = ((answers == key).sum(axis=1) + 1) / 602
    weights = np.maximum(0, np.log(accuracy * 4 / (1 - accuracy)))
    assert found.alike == pytest.approx(0.25, abs=0.03)
    guessed = rng.integers(0, 4, (8, 200_000))
    top = np.max([weights @ (guessed == code) for code in range(4)], axis=0)
    for value, p in zip(found.log_odds, found.p, strict=True):
        simulated = (top >= value).mean()
        assert simulated <= 1.1 * p + 1e-4
        # At most the number of choices times as much: what two choices reach at once is counted twice.
        assert p <= 1.5 * simulated + 1e-3 or simulated > 0.25


@pytest.mark.parametrize("n_choices", [3, 4, 10])
def test_right_keys_of_hard_items_are_not_disputed(n_choices: int) -> None:
    n = [int(disputed(voted(*answered(1000, 10, n_choices, seed), n_choices)).sum()) for seed in range(20)]
    assert sum(n) <= 2


@pytest.mark.parametrize(("attractive", "most"), [(1.0, 3), (3.0, 1)])
def test_few_right_keys_with_an_attractive_wrong_choice_are(attractive: float, most: float) -> None:
    n = [int(disputed(voted(*answered(1000, 10, 10, seed, attractive), 10)).sum()) for seed in range(10)]
    assert np.mean(n) <= most


@pytest.mark.parametrize("n_choices", [4, 10])
def test_wrong_keys_that_all_would_solve_are(n_choices: int) -> None:
    answers, key = answered(1000, 12, n_choices, 5)
    easy = np.flatnonzero((answers == key).sum(axis=0) >= 11)[:30]
    key[easy] = (key[easy] + 1) % n_choices
    found = voted(answers, key, n_choices)
    assert set(np.flatnonzero(disputed(found))) <= set(easy)
    assert disputed(found)[easy].mean() >= 0.9


def test_of_two_choices_nothing_tells_a_hard_item_from_a_wrong_key() -> None:
    answers, key = answered(500, 20, 2, 6)
    key[:20] = 1 - key[:20]
    assert (voted(answers, key, 2).q == 1).all()


def test_a_family_votes_once() -> None:
    answers, key = answered(400, 6, 4, 7)
    copied = np.concatenate([answers, np.repeat(answers[:1], 20, axis=0)])
    names = [f"s{at}" for at in range(26)]
    one, many = voted(answers, key, 4), voted(copied, key, 4, names)
    assert set(many.families[6:]) == {"s0"}
    assert many.log_odds == pytest.approx(one.log_odds)
    assert many.q == pytest.approx(one.q, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_order_of_items_systems_and_choices_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, key = answered(60, 6, 4, seed)
    items, systems, choices = (rng.permutation(n) for n in (60, 6, 4))
    one = voted(answers, key, 4)
    other = voted(choices[answers][systems][:, items], choices[key][items], 4)
    assert other.log_odds == pytest.approx(one.log_odds[items])
    assert other.q == pytest.approx(one.q[items])


def test_fewer_systems_and_no_items_say_nothing() -> None:
    answers, key = answered(50, 4, 4, 8)
    assert vote_on_keys(answers, key, 4, list("abcd")) is None
    assert vote_on_keys(np.zeros((5, 0), dtype=int), np.zeros(0, dtype=int), 4, list("abcde")) is None
    with pytest.raises(ValueError, match="no choice"):
        vote_on_keys(answers, key, 3, list("abcd"))


def board(answers: NDArray[np.int64], key: NDArray[np.int64]) -> pl.DataFrame:
    letters = np.array(list("ABCDEFGHIJ"))
    systems = {f"s{at}": letters[own] for at, own in enumerate(answers)}
    return pl.DataFrame({"item": [f"i{at}" for at in range(key.size)], "answer": letters[key], **systems})


def test_a_board_says_which_keys_are_disputed_and_what_scores_are_without() -> None:
    answers, key = answered(300, 8, 4, 9)
    easy = np.flatnonzero((answers == key).all(axis=0))[:4]
    key[easy] = (key[easy] + 1) % 4
    report = goldassay.rank_systems(board(answers, key))
    keys: dict[str, Any] = report.to_dict()["board"]["keys"]
    assert keys["n_disputed"] == 4
    assert keys["n_kept"] == 296
    assert {each["item"] for each in keys["items"]} == {f"i{at}" for at in easy}
    assert all((each["n_for"], each["n_against"]) == (8, 0) for each in keys["items"])
    left = np.delete(answers == key, easy, axis=1).mean(axis=1)
    assert {each["system"]: each["score"] for each in keys["scores"]} == pytest.approx(
        {f"s{at}": score for at, score in enumerate(left)}
    )
    table = report.tables["board_keys"]
    assert table.height == 300
    assert table["log_odds"].is_sorted(descending=True)


def test_scores_alone_or_right_keys_dispute_nothing() -> None:
    answers, key = answered(300, 8, 4, 9)
    found = goldassay.rank_systems(board(answers, key)).to_dict()["board"]["keys"]
    assert (found["n_disputed"], found["items"], found["scores"]) == (0, [], [])
    # Small letters are the same answers.
    small = board(answers, key).with_columns(pl.exclude("item", "answer").str.to_lowercase())
    assert goldassay.rank_systems(small).to_dict()["board"]["keys"] == found
    scores = pl.DataFrame({"item": range(300), **{f"s{at}": own for at, own in enumerate((answers == key) * 1)}})
    assert "keys" not in goldassay.rank_systems(scores).to_dict()["board"]


@pytest.mark.parametrize(("n_choices", "names"), [(2, None), (4, [f"bert-{at}" for at in range(8)])])
def test_where_no_key_can_be_disputed_the_number_is_undefined(
    tmp_path: Path, n_choices: int, names: list[str] | None
) -> None:
    """With two choices, or systems of one family, a policy on the number is not kept."""
    answers, key = answered(300, 8, n_choices, 9)
    table = board(answers, key)
    report = goldassay.rank_systems(table.rename({f"s{at}": each for at, each in enumerate(names or [])}))
    keys = report.to_dict()["board"]["keys"]
    assert keys["n_disputed"] is None
    assert keys["reason"].startswith("no key can be disputed")
    assert "No key can be disputed" in report.to_html()
    assert "No key can be disputed" in report.to_markdown()
    report.save(tmp_path / "report")
    assert goldassay.check(tmp_path / "report", {"board.disputed": {"max": 3}}).broken


def items_of(key: NDArray[np.int64]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    words = np.array([f"word{at}" for at in range(40)])
    return [
        {
            "id": f"i{at}", "question": " ".join(rng.choice(words, 6)) + f" {at}?",
            "choices": [" ".join(rng.choice(words, 3)) + f" {each}" for each in range(4)], "answer": int(right),
        }
        for at, right in enumerate(key)
    ]  # fmt: skip


def test_an_audit_of_items_takes_the_answers_of_systems() -> None:
    answers, key = answered(300, 14, 4, 9)
    easy = np.flatnonzero((answers == key).all(axis=0))[:4]
    key[easy] = (key[easy] + 1) % 4
    items = items_of(key)
    report = goldassay.audit(items, runs=board(answers, key))
    alone = goldassay.rank_systems(board(answers, key)).to_dict()["board"]
    assert report.to_dict()["board"] == alone
    assert report.verdicts["answered"]["verdict"] == "sound"
    disputed = report.tables["examples"].filter(pl.col("suspect") == "disputed key")
    assert set(disputed["example_id"]) == {f"i{at}" for at in easy}
    without = goldassay.audit(items)
    assert report.verdicts["leakage"] == without.verdicts["leakage"]
    assert "board" not in without.to_dict()


def test_disputed_keys_are_looked_at_decided_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the systems agree on is proposed; relabelled so, the same answers dispute nothing, and score more."""
    answers, key = answered(120, 14, 4, 9)
    easy = np.flatnonzero((answers == key).all(axis=0))[:3]
    wrong = key.copy()
    wrong[easy] = (key[easy] + 1) % 4
    data, runs = tmp_path / "items.jsonl", tmp_path / "answers.csv"
    data.write_text("".join(f"{json.dumps(each)}\n" for each in items_of(wrong)))
    board(answers, wrong).write_csv(runs)
    goldassay.audit(data, runs=runs).save(tmp_path / "report")
    bench = open_workbench(tmp_path / "report", str(data))
    assert not bench.missing.keys() & {"suspect", "suspicion"}
    chosen = bench.selector.select(bench.state("f.suspect=disputed+key&sort=-suspicion")).rows
    found = bench.table.rows(chosen)
    assert {each["example_id"] for each in found} == {f"i{at}" for at in easy}
    assert all(each["suspicion"] > 0 for each in found)
    for each in found:
        decision = Decision(bench.table.key(each), each["example_id"], "relabel", each["suggested"])
        append_decision(data.with_name("items.decisions.jsonl"), decision)
    assert run(["mend", str(data), "-o", str(tmp_path / "mended")]) == 0
    mended = [json.loads(line) for line in (tmp_path / "mended" / "items.jsonl").read_text().splitlines()]
    assert [each["answer"] for each in mended] == key.tolist()
    assert run(["mend", str(data), "--runs", str(runs), "-o", str(tmp_path / "other")]) == 2
    assert "scores the same answers by their keys" in capsys.readouterr().err
    again = goldassay.audit(tmp_path / "mended" / "items.jsonl", runs=runs).to_dict()
    assert again["board"]["keys"]["n_disputed"] == 0
    assert again["answered"]["items"]["n_other_keys"] == 3
    assert scores_of(again["board"]) == pytest.approx(scores_of(of_keys(answers, key)))


def scores_of(found: dict[str, Any]) -> dict[str, float]:
    return {each["system"]: each["score"] for each in found["systems"]}


def of_keys(answers: NDArray[np.int64], key: NDArray[np.int64]) -> dict[str, Any]:
    found: dict[str, Any] = goldassay.rank_systems(board(answers, key)).to_dict()["board"]
    return found


@pytest.fixture
def only_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask nothing of the items but which keys are suspect."""
    monkeypatch.setattr(audit, "ITEM_CHECKS", audit.ITEM_CHECKS[-1:])


def written(answers: NDArray[np.int64], key: NDArray[np.int64], items: list[dict[str, Any]], form: str) -> pl.DataFrame:
    """The answers as a table, by the name of a form."""
    table = board(answers, key)
    if "position" in form:
        numbers = {letter: at + ("1" in form) for at, letter in enumerate("ABCD")}
        table = table.with_columns(pl.exclude("item").replace_strict(numbers))
    if "text" in form:
        texts = {name: [items[at]["choices"][code] for at, code in enumerate(own)]
                 for name, own in zip(table.columns[2:], answers, strict=True)}  # fmt: skip
        table = table.with_columns(pl.Series(name, own) for name, own in texts.items())
    if "lower" in form:
        table = table.with_columns(pl.exclude("item").str.to_lowercase())
    if "(A)" in form:
        table = table.with_columns(pl.format("({})", pl.col(name)).alias(name) for name in table.columns[1:])
    if "more" in form:
        table = table.with_columns(n_choices=4, difficulty=1, subject=pl.lit("history of art"))
    if "bare" in form:
        table = table.drop("answer")
    if "long" in form:
        others = [name for name in ("item", "answer") if name in table.columns]
        table = table.unpivot(index=others, variable_name="system", value_name="prediction")
    if "runs" in form:
        return table.rename(
            {"item": "example_id", "system": "model", **({} if "bare" in form else {"answer": "label"})}
        )
    return table.rename({"prediction": "answer"}) if form == "bare long answer" else table


@pytest.mark.usefixtures("only_answers")
@pytest.mark.parametrize(
    "form",
    ["letters", "position 0", "position 1", "bare", "bare position 0", "bare position 1", "bare text", "long",
     "bare long", "bare long answer", "long runs", "bare long runs", "bare position 1 long runs",
     "lower", "bare (A)", "(A) long runs", "more", "bare more"],
)  # fmt: skip
def test_answers_are_scored_by_the_keys_of_the_items(tmp_path: Path, form: str) -> None:
    """However they are written, with a key of their own for 5 items or without a key."""
    answers, key = answered(120, 6, 4, 9)
    other = key.copy()
    other[:5] = (key[:5] + 1) % 4
    items, runs = items_of(key), tmp_path / "answers.csv"
    written(answers, other, items, form).write_csv(runs)
    report = goldassay.audit(items, runs=runs)
    found = report.to_dict()
    assert scores_of(found["board"]) == pytest.approx(scores_of(of_keys(answers, key)))
    figures = {each["id"]: each["value"] for each in found["figures"]}
    assert (figures["answered.items"], figures["answered.other_keys"]) == (120, 0 if "bare" in form else 5)
    fit = found["answered"]["items"]
    assert (fit["n_answered"], fit["n_unknown"], fit["is_rescored"]) == (120, 0, True)
    assert fit["n_other_keys"] == (0 if "bare" in form else 5)
    for said in (report.summary(), report.to_markdown()):
        assert ("For 5 items the answers state another key" in said) == ("bare" not in form)
    wrong = {row["model"]: row["wrong"] for row in found["answered"]["runs"]}
    assert wrong == pytest.approx(scores_of(found["board"]))


@pytest.mark.usefixtures("only_answers")
@pytest.mark.parametrize("form", ["long", "long runs"])
def test_scores_by_another_key_are_made_anew_where_answers_are_there(tmp_path: Path, form: str) -> None:
    """Other scores stay: half a point for each wrong answer."""
    answers, key = answered(120, 6, 4, 9)
    other = key.copy()
    other[:5] = (key[:5] + 1) % 4
    items, runs = items_of(key), tmp_path / "answers.csv"
    table = written(answers, other, items, form)
    right = pl.col("prediction") == pl.col("label" if "label" in table.columns else "answer")
    table.with_columns(score=pl.when(right).then(1.0).otherwise(0.5)).write_csv(runs)
    found = goldassay.audit(items, runs=runs).to_dict()
    expected = np.where(answers == key, 1.0, np.where(np.arange(120) < 5, 0.0, 0.5)).mean(axis=1)
    assert scores_of(found["board"]) == pytest.approx({f"s{at}": own for at, own in enumerate(expected)})
    wrong = {row["model"]: row["wrong"] for row in found["answered"]["runs"]}
    assert wrong == pytest.approx(scores_of(found["board"]))


@pytest.mark.usefixtures("only_answers")
def test_logs_are_scored_by_the_keys_of_the_items() -> None:
    """A log of lm-evaluation-harness has likelihoods of both choices: another key makes another score."""
    files = sorted((FIXTURES / "lm_eval_suite").glob("*/samples_made_up_large_*.jsonl"))
    runs = [goldassay.read_runs(file) for file in files]
    assert runs[0].gold is not None
    items = [
        {"id": name, "question": f"What is {at}?", "choices": [f"a{at} x", f"b{at} y"], "answer": int(key ^ (at < 3))}
        for at, (name, key) in enumerate(zip(runs[0].example_ids.tolist(), runs[0].gold, strict=True))
    ]
    found = goldassay.audit(items, runs=files).to_dict()
    key = runs[0].gold ^ (np.arange(len(items)) < 3)
    expected = {each.model: (each.predictions[0] == key).mean() for each in runs if each.predictions is not None}
    assert scores_of(found["board"]) == pytest.approx(expected)
    assert found["answered"]["items"]["n_other_keys"] == 3


@pytest.mark.usefixtures("only_answers")
def test_keys_that_cannot_be_read_and_answers_by_chance_are_named() -> None:
    """Where the right choice has a column of its own letters mean nothing; ids from 1 are those of the next items."""
    answers, key = answered(120, 6, 4, 9)
    items = items_of(key)
    apart = [
        {"id": each["id"], "question": each["question"], "correct_answer": each["choices"][right],
         "incorrect_answers": [text for at, text in enumerate(each["choices"]) if at != right]}
        for each, right in zip(items, key, strict=True)
    ]  # fmt: skip
    report = goldassay.audit(apart, runs=board(answers, key))
    assert "own keys score them" in report.verdicts["answered"]["evidence"]
    assert scores_of(report.to_dict()["board"]) == pytest.approx(scores_of(of_keys(answers, key)))
    moved = board(answers, key).drop("answer").with_columns(item=pl.format("i{}", pl.int_range(1, 121)))
    evidence = goldassay.audit(items, runs=moved).verdicts["answered"]["evidence"]
    assert "No system is right more often than by guessing" in evidence
    assert "1 name in the answers is no item's" in evidence


@pytest.mark.usefixtures("only_answers")
def test_answers_that_name_no_items_are_refused() -> None:
    answers, key = answered(120, 6, 4, 9)
    with pytest.raises(InputError, match="no column says which items"):
        goldassay.audit(items_of(key), runs=board(answers, key).drop("item"))


@pytest.mark.usefixtures("only_answers")
def test_of_several_right_choices_the_answers_say_which_is_wanted() -> None:
    """Their own key stays if it is one of them; without one the item is left out."""
    answers, key = answered(120, 6, 4, 9)
    items = [{**each, "answer": [int(right), int(right + 1) % 4]} if at < 3 else {**each, "answer": [int(right)]}
             for at, (each, right) in enumerate(zip(items_of(key), key, strict=True))]  # fmt: skip
    found = goldassay.audit(items, runs=board(answers, key)).to_dict()
    assert scores_of(found["board"]) == pytest.approx(scores_of(of_keys(answers, key)))
    assert found["answered"]["items"]["n_other_keys"] == 0
    bare = goldassay.audit(items, runs=board(answers, key).drop("answer")).to_dict()
    assert bare["board"]["n_items"] == 117


@pytest.mark.usefixtures("only_answers")
def test_scores_of_other_keys_are_named_and_stay() -> None:
    answers, key = answered(120, 6, 4, 9)
    letters = pl.Series("answer", np.array(list("ABCD"))[(key + (np.arange(120) < 5)) % 4])
    scores = {f"s{at}": own * 1 for at, own in enumerate(answers == key)}
    report = goldassay.audit(
        items_of(key), runs=pl.DataFrame({"item": [f"i{at}" for at in range(120)], **scores, "answer": letters})
    )
    assert "no answers are there to score anew" in report.summary()
    assert scores_of(report.to_dict()["board"]) == pytest.approx({name: own.mean() for name, own in scores.items()})


@pytest.mark.usefixtures("only_answers")
@pytest.mark.parametrize("form", ["letters", "long runs"])
def test_items_without_answers_and_answers_without_items_are_counted(tmp_path: Path, form: str) -> None:
    answers, key = answered(120, 6, 4, 9)
    items, runs = items_of(key), tmp_path / "answers.csv"
    table = written(answers, key, items, form)
    table.write_csv(runs)
    rest = [*items[:60], *({**each, "id": f"x{each['id']}"} for each in items[60:])]
    report = goldassay.audit(rest, runs=runs)
    assert report.verdicts["answered"]["verdict"] == "unsound"
    for said in ("60 of 120 items have answers", "60 names in the answers are no item's"):
        assert said in report.verdicts["answered"]["evidence"]
        assert said in report.summary()
        assert said in report.to_markdown()
    found = report.to_dict()
    assert found["board"]["n_items"] == 60
    assert {(row["n_items"], row["missing"]) for row in found["answered"]["runs"]} == {(120, 60)}
    assert {each["value"] for each in found["figures"] if each["id"] == "answered.items"} == {60}
    kinds = report.tables["examples"]["suspect"].to_list()
    assert kinds[60:] == ["not answered"] * 60
    assert "not answered" not in kinds[:60]


@pytest.mark.usefixtures("only_answers")
@pytest.mark.parametrize("form", ["letters", "bare", "long runs", "bare long runs"])
def test_answers_to_other_items_are_refused(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The line has the command that takes the answers alone, or the items' own column of the ids."""
    answers, key = answered(120, 6, 4, 9)
    items, runs = items_of(key), tmp_path / "answers.csv"
    written(answers, key, items, form).write_csv(runs)
    for column in ("", "uid"):
        data = tmp_path / f"items{column}.jsonl"
        rest = [{**each, "id": f"x{each['id']}", **({column: each["id"]} if column else {})} for each in items]
        data.write_text("".join(f"{json.dumps(each)}\n" for each in rest))
        command = ["audit", str(data), "--runs", str(runs), "-o", str(tmp_path / "report")]
        assert run(command) == 2
        (line,) = [each for each in capsys.readouterr().err.splitlines() if each.startswith("goldassay:")]
        assert "no answer is to any of the 120 items" in line
        assert (f"goldassay audit {runs}" in line) == (not column and "bare" not in form)
        assert ("--columns id=uid" in line) == bool(column)
        if column:
            assert run([*command, "--columns", "id=uid"]) == 0
    if "bare" not in form:
        assert run(["audit", str(runs), "-o", str(tmp_path / "alone")]) == 0


@pytest.mark.usefixtures("only_answers")
def test_answers_with_most_keys_unlike_are_refused() -> None:
    answers, key = answered(120, 6, 4, 9)
    with pytest.raises(InputError, match="another key for 119 of 120"):
        goldassay.audit(items_of((key + (np.arange(120) > 0)) % 4), runs=board(answers, key))


def test_a_board_has_no_texts_to_look_through(tmp_path: Path) -> None:
    goldassay.rank_systems(board(*answered(120, 8, 4, 9))).save(tmp_path / "report")
    with pytest.raises(InputError, match="no texts to look through"):
        open_workbench(tmp_path / "report")


def test_saturation_is_counted() -> None:
    scores = pl.DataFrame({
        "item": list("abcdefgh"),
        "one": [1, 1, 1, 1, 1, 1, 1, 0],
        "two": [1, 1, 1, 1, 1, 1, 0, 0],
        "three": [1, 1, 1, 1, 1, 0, 1, 0],
        "four": [0, 0, 0, 0, 0, 0, 0, 1],
    })  # fmt: skip
    found = goldassay.rank_systems(scores).to_dict()["board"]
    assert found["saturation"] == [{"first": 3, "n_all": 5, "n_none": 1, "share": 0.75}]
    assert found["n_missed"] == 1
    assert found["perfect"] <= 0


def test_a_perfect_system_is_told_from_one_that_misses_many() -> None:
    answers, key = answered(300, 3, 4, 10)
    found = goldassay.rank_systems(board(answers, key)).to_dict()["board"]
    best = max((answers == key).mean(axis=1))
    assert found["n_missed"] == round(300 * (1 - best))
    assert 0 < found["perfect"] < 1 - best


def test_planted_and_published_keys_of_mmlu_pro(data_dir: Path) -> None:
    file = data_dir / "boards" / "mmlu-pro-predictions.parquet"
    found = goldassay.rank_systems(file).to_dict()["board"]
    assert [round(100 * each["share"], 1) for each in found["saturation"]] == [64.2, 45.6, 26.3]
    frame = pl.read_parquet(file)
    systems = frame.columns[5:]
    code = {letter: at for at, letter in enumerate("ABCDEFGHIJ")}
    answers = np.array([[code.get(each or "", -1) for each in frame[name]] for name in systems])
    key, n_choices = np.array([code[each] for each in frame["answer"]]), frame["n_options"].to_numpy()
    rng = np.random.default_rng(0)
    for least, figure in ((0, 0.87), (25, 0.80)):
        wrong = np.zeros(key.size, dtype=bool)
        wrong[rng.choice(np.flatnonzero((answers == key).sum(axis=0) >= least), 373, replace=False)] = True
        planted = np.where(wrong, (key + rng.integers(1, n_choices)) % n_choices, key)
        score = voted(answers, planted, 10, systems).log_odds
        if least:
            assert wrong[np.argsort(-score, kind="stable")[:100]].mean() >= figure
        else:
            assert auroc(score, wrong) >= figure


@pytest.mark.usefixtures("only_answers")
@pytest.mark.parametrize(("n_choices", "said"), [(4, "On 4 of 120 items"), (2, "No key can be disputed"), (0, "")])
def test_a_terminal_says_what_answers_say_of_items(
    tmp_path: Path, n_choices: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on saturation and one on keys; scores alone say nothing of keys."""
    answers, key = answered(120, 14, n_choices or 4, 9)
    easy = np.flatnonzero((answers == key).all(axis=0))[:4]
    key[easy] = (key[easy] + 1) % (n_choices or 4)
    items, data, runs = items_of(key), tmp_path / "items.jsonl", tmp_path / "answers.csv"
    if n_choices == 2:
        items = [{**each, "choices": each["choices"][:2]} for each in items]
    data.write_text("".join(f"{json.dumps(each)}\n" for each in items))
    scores = {f"s{at}": own * 1 for at, own in enumerate(answers == key)}
    table = board(answers, key) if n_choices else pl.DataFrame({"item": [f"i{at}" for at in range(120)], **scores})
    table.write_csv(runs)
    assert run(["audit", str(data), "--runs", str(runs), "-o", str(tmp_path / "report")]) == 0
    shown = capsys.readouterr().out.splitlines()
    (saturated,) = [line for line in shown if line.startswith("Saturation")]
    assert "% of the first 10" in saturated
    keys = [line for line in shown if line.startswith("Keys")]
    assert len(keys) == bool(n_choices)
    assert said in "".join(keys)
    assert run(["board", str(runs), "-o", str(tmp_path / "board")]) == 0
    assert said in capsys.readouterr().out


def test_right_keys_are_said_to_be_undisputed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board(*answered(300, 8, 4, 9)).write_csv(tmp_path / "answers.csv")
    assert run(["board", str(tmp_path / "answers.csv"), "-o", str(tmp_path / "board")]) == 0
    assert "dispute the key of none of 300 items" in capsys.readouterr().out


def test_the_benchmark_takes_any_answers_and_known_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers, key = answered(300, 8, 4, 9)
    easy = np.flatnonzero((answers == key).all(axis=0))[:10]
    key[easy] = (key[easy] + 1) % 4
    runs, errors = tmp_path / "answers.csv", tmp_path / "errors.txt"
    board(answers, key).write_csv(runs)
    errors.write_text("".join(f"i{at} \r\n" for at in easy))
    known_errors(str(runs), str(errors))
    shown = capsys.readouterr().out
    assert "10 of" in shown
    assert "AUROC 1.000  precision at 10, 20, 50, 100: 1.00, 0.50, 0.20, 0.10" in shown
    errors.write_text("j1\n")
    with pytest.raises(SystemExit, match="1 of 1 names are no item"):
        known_errors(str(runs), str(errors))
    board(answers[:4], key).write_csv(runs)
    with pytest.raises(SystemExit, match="five systems or more"):
        known_errors(str(runs), str(errors))
