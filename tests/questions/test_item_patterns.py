"""Patterns over choices: what is planted is found, what is not there is not, and no item teaches its own answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldassay
from goldassay.core.settings import Settings
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.table import Table
from goldassay.questions.item_checks import _of_items, _pick, as_texts
from goldassay.questions.leakage.choices import order_doubts, untrained_doubts
from tests.stated import stated_by

WORDS = [f"w{i}" for i in range(300)]
QUICK = Settings.model_validate({"leakage": {"seeds": 2}})


def made(n: int, share: float, seed: int, sizes: tuple[int, ...] = (4,)) -> list[dict[str, Any]]:
    """Items of which a share has one of twenty words in the right choice that no wrong choice has."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        size = int(rng.choice(sizes))
        choices = [list(rng.choice(WORDS, 6)) for _ in range(size)]
        answer = int(rng.integers(size))
        if rng.random() < share:
            choices[answer][int(rng.integers(6))] = f"told{rng.integers(20)}"
        rows.append({"question": f"question {i}", "choices": [" ".join(each) for each in choices], "answer": answer})
    return rows


def items_of(rows: list[dict[str, Any]]) -> ChoiceItems:
    found = read_choices(Table(pl.DataFrame(rows), ""), "items")
    assert found is not None
    return found


def test_words_of_right_choices_are_a_caution() -> None:
    report = goldassay.audit(made(900, 0.3, 0), settings=QUICK)
    verdict = report.verdicts["artifacts"]
    assert verdict["verdict"] == "caution"
    assert verdict["headline"]["low"] > 0.15
    patterns = report.tables["patterns"]
    assert {"told0", "told19"} <= set(patterns.filter(pl.col("label") == "right")["pattern"])
    classes = dict(report.tables["difficulty"]["difficulty"].value_counts().iter_rows())
    assert classes["easy"] > 10 * classes.get("hard", 0)
    figures = {each["id"]: each["value"] for each in report.to_dict()["figures"] if each["question"] == "artifacts"}
    assert figures["artifacts.easy_share"] == pytest.approx(classes["easy"] / 900)


def test_items_to_learn_from_may_be_given_apart() -> None:
    verdict = goldassay.audit(made(900, 0.3, 0), made(500, 0.3, 1), settings=QUICK).verdicts["artifacts"]
    assert verdict["verdict"] == "caution"
    # What was told in the training items only tells nothing here.
    other = goldassay.audit(made(900, 0.3, 0), made(500, 0.0, 1), settings=QUICK).verdicts["artifacts"]
    assert other["verdict"] in ("sound", "unresolved")


def test_a_word_of_right_choices_is_found_by_limits_of_the_same_readers() -> None:
    """What a tenth of the items may hide, and what is worded as not seen."""
    report = goldassay.audit(made(900, 0.0, 0), settings=QUICK)
    for question in ("artifacts", "leakage"):
        limits = {each["kind"]: each for each in report.to_dict()[question]["effects"]["limits"]}
        assert limits["one word"]["limit"] < limits["fifty words"]["limit"]
        assert [each for each in limits if limits[each]["counts"]] == ["one word", "ten words", "form"]
        counted = max(limits[each]["limit"] for each in limits if limits[each]["counts"])
        assert report.verdicts[question]["at_most"] >= counted
    of_question = {each["kind"] for each in report.to_dict()["artifacts"]["effects"]["limits"]}
    assert {"one word of the question", "form of the question"} <= of_question
    assert report.document["artifacts"]["difficulty"]["uncovered"] == {"n": 900, "share": 1.0}


def test_what_the_question_gives_away_is_an_artifact() -> None:
    rng, rows = np.random.default_rng(0), made(700, 0.0, 0)
    for row in rows:
        told = row["answer"] if rng.random() < 0.6 else int(rng.integers(4))
        row["question"] += f" about key{told}"
    artifacts = goldassay.audit(rows, settings=QUICK).verdicts["artifacts"]
    assert artifacts["verdict"] == "caution"
    assert "of the question is right in" in artifacts["evidence"]
    assert artifacts["next_step"].startswith("Shuffle the choices")


@pytest.mark.parametrize(("period", "said"), [(4, "4 rows before"), (1, "of the row before")])
def test_keys_that_the_order_of_the_file_gives_away_are_a_doubt(period: int, said: str) -> None:
    """Keys A, B, C, D, A, ... and keys in blocks of fifty; keys in a random order are none."""
    rows = made(400, 0.0, 0)
    shuffled = [order_doubts(items_of(made(400, 0.0, seed))) for seed in range(20)]
    assert shuffled == [[]] * 20
    for at, row in enumerate(rows):
        right = row["choices"].pop(row["answer"])
        row["answer"] = at % 4 if period == 4 else at // 50 % 4
        row["choices"].insert(row["answer"], right)
    (doubt,) = order_doubts(items_of(rows))
    assert said in doubt.why
    # Of 399 rows the 392 within a block.
    share = 1.0 if period == 4 else 392 / 399
    assert doubt.at_most == pytest.approx((share - 0.25) / 0.75)
    assert goldassay.audit(rows, settings=QUICK).verdicts["leakage"]["verdict"] != "sound"


def test_what_would_settle_a_pick_names_it() -> None:
    """Choices are to be changed where it is shown to gain; where it may, more items are wanted."""
    items, name = items_of(made(200, 0.0, 0)), "the second longest choice"
    (doubt,) = untrained_doubts({name: items.right.astype(float)}, items, np.arange(200), 0.12)
    assert f"picking by “{name}” is right" in doubt.mend
    by_chance = np.random.default_rng(0).random(items.right.size)
    (doubt,) = untrained_doubts({name: by_chance}, items, np.arange(200), 0.02)
    assert doubt.mend.startswith("Audit with more items")
    assert name in doubt.mend


def test_artifacts_say_why_a_rule_that_is_unsound_in_leakage_is_a_caution() -> None:
    rows = made(300, 0.0, 0)
    for row in rows:
        row["choices"][row["answer"]] += " w1 w2 w3"
    verdicts = goldassay.audit(rows, settings=QUICK).verdicts
    artifacts, leakage = verdicts["artifacts"], verdicts["leakage"]
    assert (artifacts["verdict"], leakage["verdict"]) == ("caution", "unsound")
    assert artifacts["evidence"].endswith("Artifacts of choices are at most a caution.")
    assert not artifacts.get("not_seen")


def test_few_items_are_not_sound() -> None:
    verdict = goldassay.audit(made(60, 0.0, 0), settings=QUICK).verdicts["artifacts"]
    assert verdict["verdict"] == "unresolved"


def test_a_rule_that_may_gain_the_limit_forbids_sound() -> None:
    rows = made(1200, 0.0, 0)
    for row in rows[::8]:
        row["choices"][row["answer"]] += " w1 w2 w3"
    verdict = goldassay.audit(rows, settings=QUICK).verdicts["artifacts"]
    assert verdict["verdict"] != "sound"


@pytest.mark.slow
def test_clean_items_are_sound_in_every_question_of_items() -> None:
    report = goldassay.audit(made(6000, 0.0, 0), settings=QUICK)
    found = {name: report.verdicts[name]["verdict"] for name in ("artifacts", "leakage")}
    assert found == {"artifacts": "sound", "leakage": "sound"}


@pytest.mark.parametrize("sizes", [(4,), (2, 5)])
def test_answers_at_random_are_hit_by_chance(sizes: tuple[int, ...]) -> None:
    """Items of two choices have more right ones among their choices: no pattern may gain by that."""
    rows = made(600, 0.0, 3, sizes)
    for row in rows:
        if len(row["choices"]) == 2:
            row["choices"] = [f"{each} pair" for each in row["choices"]]
    items = items_of(rows)
    picked = _pick(None, items, np.arange(600), Settings())
    for each in picked.values():
        excess = (each.hits - 1 / items.sizes)[each.applies]
        assert abs(excess.sum()) < 4 * np.sqrt(max(excess.size, 1) * 0.25)
    # "pair" is in all choices of an item or in none.
    assert len(sizes) == 1 or not any(each.applies[items.sizes == 2].all() for each in picked.values())


def test_no_cluster_teaches_its_own_answers() -> None:
    """The right choices of each writer's twenty items have a word of their own, which no other writer uses."""
    rows = made(800, 0.0, 0)
    for at, row in enumerate(rows):
        row["choices"][row["answer"]] += f" own{at % 40}"
    items = items_of(rows)
    apart = _pick(None, items, np.tile(np.arange(40), 20), Settings())
    assert not apart["patterns by lift"].applies.any()
    alone = _pick(None, items, np.arange(800), Settings())
    assert alone["patterns by lift"].hits.mean() > 0.9


@given(st.integers(1, 12), st.randoms(use_true_random=False))
def test_picks_are_those_of_a_loop(n: int, random: Any) -> None:
    rows = made(n, 0.0, random.randrange(1000), (2, 3, 4))
    # Without a 0 answers may count from 1.
    rows[0]["answer"] = 0
    items = items_of(rows)
    scores = np.array([random.choice([-1.0, 0.0, 0.0, 2.0]) for _ in range(items.right.size)])
    found = _of_items(scores, items)
    for at in range(n):
        own = slice(items.offsets[at], items.offsets[at + 1])
        best = scores[own] == scores[own].max()
        if best.all():
            assert not found.applies[at]
            assert found.hits[at] == pytest.approx(1 / best.size)
        else:
            assert found.applies[at]
            assert found.hits[at] == pytest.approx((best & items.right[own]).sum() / best.sum())


def test_every_choice_is_a_text() -> None:
    rows = made(12, 0.0, 0)
    rows[0]["choices"][0] = ""
    texts = as_texts(items_of(rows), None)
    assert len(texts) == 48
    assert texts.examples["label"].value_counts().sort("label").rows() == [("right", 12), ("wrong", 36)]


@pytest.mark.parametrize(
    ("cue", "said"),
    [
        ("second longest", "The second longest choice may gain"),
        ("second in the alphabet", "The second choice in the alphabet may gain"),
        ("stem of the question", "Most sequences of characters shared may gain"),
        ("out of order", "The choice that is out of order by length may gain"),
    ],
)
def test_picks_without_training_that_are_no_rules_are_never_sound(cue: str, said: str) -> None:
    """No other reader finds them."""
    rng = np.random.default_rng(5)
    rows = made(1200, 0.0, 6)
    for at, row in enumerate(rows):
        choices, answer = row["choices"], row["answer"]
        row["question"] = f"{row['question']} stem{at + 3000}"
        if cue in ("second longest", "out of order"):
            lengths = rng.integers(3, 30, 4)
            choices[:] = [f"{choice} {'x' * length}" for choice, length in zip(choices, lengths, strict=True)]
        if cue == "stem of the question":
            stems = rng.integers(3000, 9000, 4)
            if rng.random() < 0.3:
                stems[answer] = at + 3000
            choices[:] = [f"{choice} stem{stem}ing" for choice, stem in zip(choices, stems, strict=True)]
        elif cue == "out of order":
            if rng.random() < 0.5:
                right = choices.pop(answer)
                choices.sort(key=len)
                choices.insert(answer, right)
        elif rng.random() < 0.3:
            measure = len if cue == "second longest" else str.lower
            ordered = sorted(choices, key=measure, reverse=cue == "second longest")
            if len({measure(choice) for choice in choices}) == 4:
                other = choices.index(ordered[1])
                choices[answer], choices[other] = choices[other], choices[answer]
    report = goldassay.audit(rows, settings=QUICK, quiet=True)
    assert report.verdicts["leakage"]["verdict"] == "unresolved"
    assert said in stated_by(report.verdicts["leakage"])
    assert report.verdicts["artifacts"]["verdict"] != "sound"
    if cue == "second in the alphabet":
        assert said in stated_by(report.verdicts["artifacts"])
