"""Multiple-choice questions: a leak that was put in is found, where there is none nothing is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.settings import Settings
from goldassay.questions.leakage.choices import reading_doubts
from goldassay.questions.leakage.item_loading import ItemReading, load_items
from goldassay.questions.leakage.partial_input import LeakageChoice, PartialInputRuns
from goldassay.questions.leakage.probes import by_item, choice_hits, masked
from goldassay.questions.leakage.question import study_leakage
from goldassay.questions.leakage.verdict import judge_choices, limits_of
from goldassay.readers.rule_effects import KeyPositions
from goldassay.runs.runs import Runs
from goldassay.stats.effects import ReaderPredictions, measure_effects
from tests.stated import in_order, says, stated_by, states

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

WORDS = [f"w{i}" for i in range(40)]


def rows(n: int, leaky: bool, seed: int) -> list[dict[str, Any]]:
    """Questions whose right choice, if leaky, says "exactly" in four of five."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        answer = int(rng.integers(4))
        choices = [" ".join(rng.choice(WORDS, 3)) for _ in range(4)]
        if leaky and rng.random() < 0.8:
            choices[answer] += " exactly"
        question = f"What is number {i} of {rng.choice(WORDS)}?"
        made.append({"question": question, "choices": choices, "answer": "ABCD"[answer]})
    return made


def write(path: Path, content: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("leaky", [True, False])
def test_a_leak_in_the_choices_is_found_and_only_then(tmp_path: Path, leaky: bool) -> None:
    report = study_leakage(
        write(tmp_path / "train.jsonl", rows(400, leaky, 0)), write(tmp_path / "test.jsonl", rows(300, leaky, 1)),
        seeds=2, choice=LeakageChoice(map=False),
    )  # fmt: skip
    found = report.to_dict()["leakage"]
    by_condition = {row["condition"]: row for row in found["conditions"]}
    assert list(by_condition) == ["paired", "choices_only", "question_only", "longest_choice"]
    alone = by_condition["choices_only"]
    bits = {row["condition"]: row["information"] for row in found["information"]}
    if leaky:
        assert alone["improvement_low"] > 0.4
        assert bits["choices_only"] > 0.8
        assert by_condition["longest_choice"]["improvement_low"] > 0.2
        assert report.verdicts["leakage"]["verdict"] == "unsound"
    else:
        assert alone["accuracy_low"] < 0.25 < alone["accuracy_high"] + 0.05
        assert abs(bits["choices_only"]) < 0.05
    assert abs(by_condition["question_only"]["improvement"]) < 0.1
    agreement = {row["condition"]: row for row in found["agreement"]}
    assert 0 < agreement["choices_only"]["agreement"] <= 1


def test_questions_in_memory_are_measured_as_those_of_a_file(tmp_path: Path) -> None:
    parts = [rows(120, True, 0), rows(60, True, 1)]
    options: dict[str, Any] = {"seeds": 1, "choice": LeakageChoice(cluster=False, map=False)}
    files = [write(tmp_path / f"{name}.jsonl", part) for name, part in zip(("train", "test"), parts, strict=True)]
    expected = study_leakage(*files, **options).to_dict()
    assert "choices_only" in {row["condition"] for row in expected["leakage"]["conditions"]}
    for convert in (list, pl.DataFrame):
        found = study_leakage(*map(convert, parts), **options).to_dict()
        assert found["figures"] == expected["figures"]
        assert found["verdicts"] == expected["verdicts"]


def test_without_a_test_set_every_item_is_answered_by_probes_of_others(tmp_path: Path) -> None:
    """Each question stands twice, with random answers: a probe that knew the copy would name its answer."""
    report = study_leakage(write(tmp_path / "all.jsonl", rows(150, False, 0) * 2), seeds=1)
    found = report.to_dict()["leakage"]
    assert found["n_examples"] == 300
    assert "in 5 folds of whole clusters" in " ".join(found["remarks"])
    accuracy = {row["condition"]: row["accuracy"] for row in found["conditions"]}
    assert accuracy["paired"] < 0.4
    assert accuracy["question_only"] < 0.4


def items_with(cue: str, n: int, seed: int) -> list[dict[str, Any]]:
    """Items with a flaw in 24 of 100, twice the limit: a longer right choice, a word of one of five, or none."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(2000)])
    made = []
    for i in range(n):
        answer = int(rng.integers(4))
        choices = [" ".join(rng.choice(words, 6)) for _ in range(4)]
        if rng.random() < 0.24:
            if cue == "rule":
                choices[answer] += " and much more"
            elif cue == "reader":
                # Words of one length, of which one half is said of right choices and the other of wrong ones.
                for at in range(4):
                    head = choices[at].rsplit(" ", 1)[0]
                    choices[at] = f"{head} {'bdfhj'[i % 5] if at == answer else 'acegi'[int(rng.integers(5))]}{at}q"
        made.append(
            {"question": f"What is {' '.join(rng.choice(words, 6))} {i}?", "choices": choices, "answer": answer}
        )
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("cue", "word"), [("none", "sound"), ("rule", "unsound"), ("reader", "caution")])
def test_what_is_planted_decides_the_word(cue: str, word: str) -> None:
    report = study_leakage(items_with(cue, 5000, 0), seeds=2)
    verdict = report.verdicts["leakage"]
    assert verdict["verdict"] == word, verdict["evidence"]
    assert goldassay.audit(items_with(cue, 5000, 0)).verdicts["leakage"]["verdict"] == word


def test_what_only_a_trained_reader_finds_is_a_caution_at_most() -> None:
    rng = np.random.default_rng(0)
    chance = np.full(2000, 0.25)
    limits = Settings().verdicts.leakage

    def word(rule: float, reader: float) -> str:
        def reading(name: str, skill: float) -> ReaderPredictions:
            right = np.where(rng.random(2000) < skill, 1.0, rng.random(2000) < 0.25)
            return ReaderPredictions("choices", name, None, correct=right[None], chance=chance)

        readings = [reading("rule: longest", rule), reading("quick probe", reader)]
        effects = measure_effects(readings, np.zeros(2000, np.int64), 4, limits_of(limits))
        runs = Runs.from_arrays(scores=np.asarray(readings[1].correct), condition="choices_only")
        evidence = PartialInputRuns(
            "made", "quick_probe", "probes", tuple("ABCD"), np.zeros(2000, np.int64), np.arange(2000).astype(str),
            {"choices_only": runs}, {}, chance=chance, rules=(readings[0],),
        )  # fmt: skip
        return judge_choices(effects, (), evidence, limits).verdict

    assert word(0.0, 0.5) == "caution"
    assert word(0.5, 0.0) == "unsound"
    assert word(0.5, 0.6) == "unsound"
    assert word(0.09, 0.0) == "caution"
    assert word(0.0, 0.0) == "sound"


@pytest.mark.parametrize(
    ("p", "skill", "word"), [(5e-4, 0.05, "caution"), (5e-3, 0.05, "sound"), (5e-4, 0.02, "sound")]
)
def test_places_that_differ_together_are_a_caution(p: float, skill: float, word: str) -> None:
    chance, limits = np.full(2000, 0.25), Settings().verdicts.leakage
    right = np.where(np.arange(2000) % 4 == 0, 1.0, 0.0)
    right[:100] = 1 - right[:100]
    rules = (ReaderPredictions("choices", "rule: position 2", None, correct=right[None], chance=chance),)
    evidence = PartialInputRuns(
        "made", "quick_probe", "probes", tuple("ABCD"), np.zeros(2000, np.int64), np.arange(2000).astype(str), {}, {},
        chance=chance, rules=rules, positions=KeyPositions(2, 0.29, skill, 0.1, 30.0, 3.0, p, 2000),
    )  # fmt: skip
    effects = measure_effects(rules, np.zeros(2000, np.int64), 4, limits_of(limits))
    assert effects.effects[0].low < limits.caution
    verdict = judge_choices(effects, (), evidence, limits)
    assert verdict.verdict == word
    if word == "caution":
        assert verdict.headline is not None
        assert "position 2" in verdict.headline.label
        assert states(stated_by(verdict), "Place 2", "chi-square 30.0")


def test_a_reader_that_has_learned_the_last_place_is_not_the_culprit(tmp_path: Path) -> None:
    """Its items are alike but for their key, so that the best that a reader of the question learns is the place."""
    keys = np.random.default_rng(0).permutation(np.repeat(np.arange(4), (109, 122, 150, 270)))
    made = [
        {
            "question": f"Which is it, {WORDS[at % 3]}?",
            "choices": [f"{WORDS[at % 37]} {k}" for k in "pqrs"],
            "answer": "ABCD"[key],
        }
        for at, key in enumerate(keys.tolist())
    ]
    report = study_leakage(write(tmp_path / "keys.jsonl", made), seeds=2, clusters="none")
    effects = {(row["part"], row["reader"]): row for row in report.to_dict()["leakage"]["effects"]["effects"]}
    of_question = effects["question", "quick probe"]
    assert of_question["value"] < 0.01
    assert of_question["reason"] or of_question["low"] < 0
    assert report.verdicts["leakage"]["verdict"] == "unsound"
    assert "position 4" in report.verdicts["leakage"]["headline"]["label"]
    assert report.to_dict()["leakage"]["positions"]["position"] == 4
    (figure,) = (row for row in report.to_dict()["figures"] if row["id"] == "leakage.keys_to_move")
    assert figure["value"] == pytest.approx((270 - 651 / 4) / 651)


def test_few_items_are_not_sound_and_say_why() -> None:
    verdict = study_leakage(items_with("none", 200, 0), seeds=1).verdicts["leakage"]
    assert verdict["verdict"] == "unresolved"
    assert verdict["next_step"].startswith("State this bound")


def test_the_audit_of_items_says_what_leakage_measure_says(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", rows(400, True, 0))
    alone, whole = study_leakage(path), goldassay.audit(path)
    assert whole.verdicts["leakage"] == alone.verdicts["leakage"]
    assert whole.verdicts["leakage"]["verdict"] == "unsound"
    # "exactly" ends the right choice; a word that is learned from choices is a caution at most.
    assert whole.verdicts["artifacts"]["verdict"] == "caution"
    assert "exactly" in whole.tables["patterns"]["pattern"].to_list()
    assert [row["verdict"] for row in whole.verdicts.values()].count("not asked") == 3
    of_leakage = [row for row in whole.to_dict()["figures"] if row["question"] == "leakage"]
    assert of_leakage == alone.to_dict()["figures"]
    rules = whole.tables["choice_rules"]
    assert rules["rule"][0] in ("longest", "most words")
    assert whole.tables["choice_problems"].is_empty()


@pytest.mark.parametrize("options", [{"elsewhere": {"a": "x"}}, {"model": "bilstm"}])
def test_the_audit_of_items_takes_nothing_else(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write(tmp_path / "items.jsonl", rows(60, True, 0))
    with pytest.raises(InputError, match="items with choices"):
        goldassay.audit(path, **options)


def test_items_are_no_answers_to_items(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", rows(60, True, 0))
    with pytest.raises(InputError, match="neither runs nor a board"):
        goldassay.audit(path, runs=str(path))


def test_items_that_cannot_be_right_are_listed(tmp_path: Path) -> None:
    bad = [
        {"question": "q?", "choices": ["x", "y"], "answer": "E"},
        {"question": "p?", "choices": ["x"], "answer": "A"},
    ]
    report = study_leakage(write(tmp_path / "items.jsonl", rows(60, True, 0) + bad), seeds=1)
    problems = report.tables["choice_problems"]
    assert problems.select("row", "reason", "used").rows() == [
        (61, "the answer is not among the choices", False),
        (62, "there are fewer than two choices", False),
    ]
    remarks = " ".join(report.to_dict()["leakage"]["remarks"])
    assert states(remarks, "1 item of items", "left out", "fewer than two choices")
    assert report.to_dict()["inputs"][0]["dropped"] == {
        reason: 1 for _, reason, _ in problems.select("row", "reason", "used").rows()
    }


def test_one_set_of_items_and_one_of_pairs_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", rows(60, True, 0))
    pairs = [{"premise": "a b", "hypothesis": "c d", "label": "yes"}] * 4
    with pytest.raises(InputError, match="holds items with choices, and this holds none"):
        study_leakage(path, write(tmp_path / "pairs.jsonl", pairs))


def test_networks_and_conditions_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "train.jsonl", rows(20, True, 0))
    with pytest.raises(InputError, match="leave out model and conditions"):
        study_leakage(path, path, model="bilstm")


def test_answers_that_may_be_others_and_many_unused_items_are_not_sound() -> None:
    items = items_with("none", 600, 0)
    ambiguous = [{**row, "answer": 1 + row["answer"] % 2} for row in items]
    with pytest.raises(InputError, match="may be positions from 0 or from 1"):
        study_leakage(ambiguous, seeds=2)
    # In choices A to D, shuffled, a letter may be a text, too.
    ambiguous = [{**row, "choices": ["B", "A", "D", "C"], "answer": "ABCD"[row["answer"]]} for row in items]
    broken = [
        {**row, "answer": "E"} if at % 10 == 0 else {**row, "answer": "ABCD"[row["answer"]]}
        for at, row in enumerate(items)
    ]
    for rows_, said in ((ambiguous, "by its text or by its letter"), (broken, "60 of the 600 items")):
        verdict = study_leakage(rows_, seeds=2).verdicts["leakage"]
        assert verdict["verdict"] != "sound"
        if verdict["verdict"] == "unresolved":
            assert said in stated_by(verdict)


def test_positions_of_a_training_part_say_from_where_those_of_a_test_part_count() -> None:
    train = items_with("none", 40, 0)
    test = pl.DataFrame(
        [{**row, "question": f"new {row['question']}", "answer": 1 + at % 2} for at, row in enumerate(train)]
    )
    for first in (0, 1):
        moved = [{**row, "answer": row["answer"] + first} for row in train]
        posed = load_items(pl.DataFrame(moved), test, ItemReading())
        assert posed is not None
        assert posed.test.first_right.tolist() == [1 + at % 2 - first for at in range(40)]


def test_what_may_be_choices_and_is_not_read_forbids_sound() -> None:
    frame = pl.DataFrame(items_with("none", 40, 0)).with_columns(more=pl.Series([["one text", "another"]] * 40))
    posed = load_items(frame, None, ItemReading())
    assert posed is not None
    (doubt,) = reading_doubts(posed)
    assert doubt.why == says("column 'more' of train", "choices", "not read")
    assert "columns={'ignore': 'more'}" in doubt.mend
    ignored = load_items(frame, None, ItemReading(columns={"ignore": "more"}))
    assert ignored is not None
    assert not reading_doubts(ignored)


@pytest.mark.parametrize("place", [0, 2])
def test_answers_that_are_always_in_one_place_are_unsound(place: int) -> None:
    """No rule varies then: the interval of a share of 1 decides."""
    made = [{**row, "answer": "ABCD"[place]} for row in items_with("none", 300, 0)]
    verdict = study_leakage(made, seeds=2).verdicts["leakage"]
    assert verdict["verdict"] == "unsound"
    assert verdict["evidence"].startswith(f"Position {place + 1} is right")
    assert verdict["next_step"].startswith("Shuffle the choices")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([{"question": f"q{i}", "choices": ["a", "b"], "answer": i % 2} for i in range(4)], "too few for probes"),
        ([{"question": f"q{i}", "choices": ["a", "b"], "answer": 9} for i in range(30)], "no item has an answer"),
        ([{"question": f"q{i}", "choices": ["a", "b"], "answer": [0, 1]} for i in range(30)], "all choices are right"),
        ([{"question": f"q{i}", "sol1": "a x", "sol2": "b x"} for i in range(30)], "no column says which"),
    ],
)
def test_what_cannot_be_measured_is_one_line(made: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        goldassay.audit(made)


def test_items_of_which_nothing_can_be_told_apart_are_not_sound() -> None:
    made = [{"question": "", "choices": ["-", "-"], "answer": i % 2} for i in range(60)]
    assert goldassay.audit([{**row, "question": f"q{i}"} for i, row in enumerate(made)]).verdicts["leakage"][
        "verdict"
    ] == ("unresolved")


def test_options_of_labelled_texts_are_refused_or_work(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", rows(60, True, 0))
    for given, said in (
        ({"label_names": ["A", "B"]}, "label_names: items with choices have no labels"),
        ({"split_by": "question"}, in_order("split_by:", "choices", "split off")),
        ({"format": "csv"}, "."),
        ({"columns": "premise=question,label=answer"}, "none is known to be the hypothesis"),
        ({"columns": "answer=nothing"}, "column 'nothing': there is no such column"),
        ({"clusters": "nothing"}, "there is no column 'nothing'"),
    ):
        with pytest.raises(InputError, match=said):
            goldassay.audit(path, **given)


def test_columns_may_be_named_by_role() -> None:
    made = [
        {
            "stem": row["question"], "w": row["choices"][0], "x": row["choices"][1], "y": row["choices"][2],
            "z": row["choices"][3], "key": row["answer"], "about": "ab"[at % 2], "why": "a long remark on this item",
        }
        for at, row in enumerate(rows(60, True, 0))
    ]  # fmt: skip
    roles = {"question": "stem", "choices": "w+x+y+z", "answer": "key", "group": "about"}
    named, usual = goldassay.audit(made, columns=roles), goldassay.audit(rows(60, True, 0))
    own, other = (report.tables["choice_rules"] for report in (named, usual))
    assert own.select("rule", "hits").equals(other.select("rule", "hits"))
    assert any("Not read: the column 'why'" in note for note in named.to_dict()["data_notes"])
    ignored = goldassay.audit(made, columns={**roles, "ignore": "why"})
    assert not any("Not read" in note for note in ignored.to_dict()["data_notes"])
    # As the label of labelled texts is called.
    label = {"question": "stem", "choices": "w+x+y+z", "label": "key"}
    assert goldassay.audit(made, columns=label).tables["choice_rules"].equals(named.tables["choice_rules"])


def test_items_are_joined_by_columns() -> None:
    made = [{**row, "writer": f"writer {at // 6}"} for at, row in enumerate(rows(240, False, 0))]
    joined, alone = goldassay.audit(made, clusters="writer"), goldassay.audit(made)
    assert joined.to_dict()["clusters"]["n_clusters"] == 40
    assert alone.to_dict()["clusters"]["n_clusters"] == 240
    with pytest.raises(InputError, match="all rows are one cluster"):
        goldassay.audit([{**row, "writer": "one"} for row in made], clusters="writer")


def test_rules_that_cancel_each_other_over_subjects_are_a_caution(tmp_path: Path) -> None:
    content = rows(600, False, 3)
    for at, row in enumerate(content):
        row["subject"] = f"s{at % 4}"
        row["answer"] = "ABCD"[at % 4] if at % 3 else row["answer"]
    report = goldassay.audit(write(tmp_path / "set.jsonl", content))
    assert report.verdicts["leakage"]["verdict"] == "caution"
    assert report.verdicts["leakage"]["evidence"].startswith("In each subject, the rule")
    assert report.verdicts["artifacts"]["verdict"] != "sound"
    assert goldassay.measure_leakage(tmp_path / "set.jsonl").verdicts["leakage"] == report.verdicts["leakage"]


@hypothesis.given(st.lists(st.integers(2, 5), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_choices_that_a_reader_finds_equally_likely_share_the_hit(sizes: list[int], random: Random) -> None:
    right = [random.randrange(size) for size in sizes]
    rows_ = [
        {"question": f"q{at}", "choices": [f"c{at} {k}" for k in range(size)], "answer": f"c{at} {right[at]}"}
        for at, size in enumerate(sizes)
    ]
    posed = load_items(pl.DataFrame(rows_), None, ItemReading(columns={"answer": "answer"}))
    assert posed is not None
    items, most = posed.test, max(sizes)
    # Whoever finds all equally likely is right as often as guessing.
    (even,) = choice_hits([masked(np.zeros((len(sizes), most)), items)], items)
    assert even.tolist() == [1 / size for size in sizes]
    scores = [[random.randrange(3) for _ in range(size)] for size in sizes]
    (found,) = choice_hits([by_item(np.array([x for own in scores for x in own], np.float64), items, most)], items)
    for hit, own, place in zip(found.tolist(), scores, right, strict=True):
        best = [k for k, score in enumerate(own) if score == max(own)]
        assert hit == (place in best) / len(best)
