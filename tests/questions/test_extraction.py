"""Answers read out of texts by several rules, and scores that depend on them."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.answered.extraction import RULES, answers_of, form_of, target_value
from goldassay.view.opening import open_workbench
from tests.runs.test_statuses import log, samples

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS, LETTERS, LABELS = form_of(["1", "$1,200"]), form_of(["A", "C"]), form_of(["yes", "no", "not sure"])


@pytest.mark.parametrize(
    ("text", "first", "last", "anchored", "after"),
    [
        ("3 + 4 = <<3+4=7>>7, so 7 eggs. #### 1,007.00", "3", "1007", "1007", None),
        ("It is $5. The answer is -12.5.\nQuestion: the answer is 9", "5", "9", "-12.5", None),
        (r"A step: \boxed{2}. Finally \boxed{ 40 } of 50", "2", "50", "40", None),
        ("First 1 and 2.\nA: 18", "1", "18", "18", None),
        ("<think>the answer is 4, no, 5</think>It is 6 of 7.", "4", "7", "4", "7"),
        ("<think>4</think> Answer: 8 (of 9)", "4", "9", "8", "8"),
        ("<think>never closed, 4", "4", "4", None, None),
        ("no number at all", None, None, None, None),
    ],
)
def test_numbers(text: str, first: str, last: str, anchored: str, after: str) -> None:
    assert NUMBERS is not None
    assert answers_of(text, NUMBERS) == dict(zip(RULES, (first, last, anchored, after), strict=True))


@pytest.mark.parametrize(
    ("text", "first", "last", "anchored"),
    [
        ("A good idea is B. The answer is (C). Question: D", "B", "D", "C"),
        ("I think **B** fits, so Answer: D", "B", "D", "D"),
        ("A is right.", "A", "A", None),
        ("A: Paris B: Rome", "A", "B", None),
        ("It's E-mail, DNA or Bonn's", None, None, None),
    ],
)
def test_letters(text: str, first: str, last: str, anchored: str) -> None:
    assert LETTERS is not None
    assert list(answers_of(text, LETTERS).values()) == [first, last, anchored, None]


def test_labels_and_what_has_no_form() -> None:
    assert LABELS is not None
    assert list(answers_of("No, I am Not Sure: the answer is Yes", LABELS).values()) == ["no", "yes", "yes", None]
    assert form_of(["a long answer of its own that goes on and on", *map(str, "abcdefghijklmnopqrstu")]) is None
    assert form_of([]) is None


@pytest.mark.parametrize(
    ("text", "first", "last", "anchored", "after"),
    [
        ("First answer: Pierre. No: the answer is **Marie Curie**.", "pierre", "marie curie", "pierre", None),
        ("The answer is the Beatles\nQ: who else? Answer: Wings", "beatles", "wings", "beatles", None),
        ("<think>answer: Rome</think>I say: #### Paris", "rome", "paris", "paris", "paris"),
        (r"So \\boxed{Paris}, not Rome", "paris", "paris", "paris", None),
        ("Paris", None, None, None, None),
        ("Answer: U.S. cents, 3.5 or 1/2", *["us cents 3.5 or 1/2"] * 3, None),
    ],
)  # fmt: skip
def test_open_answers_stand_behind_anchors(text: str, first: str, last: str, anchored: str, after: str) -> None:
    form = form_of([*(f"person {at}" for at in range(30)), "Marie Curie"])
    assert form is not None
    assert form.name == "text"
    assert answers_of(text, form) == dict(zip(RULES, (first, last, anchored, after), strict=True))


@pytest.mark.parametrize(
    ("text", "target", "same"),
    [
        (r"so \boxed{\dfrac{1}{2}}.", r"\frac12", True),
        (r"Final answer: $\left( 3, \frac{\pi}{2} \right)$.", r"\left(3,\frac{\pi}{2}\right)", True),
        (r"\boxed{x^{2} + \sqrt{2}} \text{cm}", r"x^{2}+\sqrt{2}", True),
        (r"a step \boxed{1}, then \boxed{\{1, \{2\}\}}", r"\{1,\{2\}\}", True),
        (r"\boxed{12\text{ cm}}", r"12\ \text{cm}", False),
        (r"\boxed{0.5}", r"\frac{1}{2}", True),
        (r"\boxed{-1/2}", r"-\dfrac{2}{4}", True),
        (r"\boxed{1/0}", r"\frac{1}{0}", False),
        (r"\boxed{1.2.3}", r"\frac{1}{2}", False),
        (r"\boxed{unclosed", r"\frac{1}{2}", False),
    ],
)
def test_formulas_are_compared_by_their_notation(text: str, target: str, same: bool) -> None:
    form = form_of([target, r"\sqrt{3}", *(f"x^{at}" for at in range(30))])
    assert form is not None
    assert form.name == "formula"
    assert (answers_of(text, form)["anchored"] == target_value(target, form)) is same
    assert target_value(rf"A long solution, at its end \boxed{{{target}}}.", form) == target_value(target, form)


@given(st.text("ab {}\\^$.#", max_size=30), st.sampled_from([r"\boxed{", "answer is ", "####", ""]))
def test_any_text_has_answers_of_both_kinds(text: str, anchor: str) -> None:
    for targets in ([r"\frac{1}{2}", *(f"x^{at}" for at in range(30))], [f"word {at}" for at in range(30)]):
        form = form_of(targets)
        assert form is not None
        found = answers_of(anchor + text, form)
        assert (found["first"] is None) == (found["last"] is None) == (found["anchored"] is None)


@given(
    st.decimals(-(10**9), 10**9, places=3),
    st.sampled_from(["{}", "{:,}", "${:,}", "{}.", "**{}**"]),
    st.text("xyz \n."),
)
def test_every_spelling_of_a_number_is_that_number(value: Any, spelled: str, around: str) -> None:
    assert NUMBERS is not None
    shown = spelled.format(value)
    if "$" in shown and value < 0:
        shown = f"-${-value:,}"
    found = answers_of(f"{around} the answer is {shown} {around}", NUMBERS)
    assert {found["first"], found["last"], found["anchored"]} == {target_value(str(value), NUMBERS)}


@given(st.lists(st.sampled_from(["1", "22", "-3", "4.5", "word", "of", "#", "answer"]), max_size=12))
def test_first_and_last_are_those_of_a_loop(words: list[str]) -> None:
    assert NUMBERS is not None
    numbers = [word for word in words if re.fullmatch(r"-?\d+(\.\d+)?", word)]
    found = answers_of(" ".join(words), NUMBERS)
    assert (found["first"], found["last"]) == ((numbers[0], numbers[-1]) if numbers else (None, None))


def test_solutions_give_what_their_authors_scored(data_dir: Path) -> None:
    """GSM8K: 1,319 solutions of four systems each, 286, 515, 458 and 742 right ones."""
    path = data_dir / "boards/gsm8k-example_model_solutions.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    form = form_of(row["ground_truth"] for row in rows)
    assert form is not None
    systems = [name for name in rows[0] if isinstance(rows[0][name], dict)]
    right = dict.fromkeys(systems, 0)
    for row in rows:
        target = target_value(row["ground_truth"], form)
        for name in systems:
            found = answers_of(row[name]["solution"], form)["anchored"] == target
            assert found is row[name]["is_correct"]
            right[name] += found
    assert list(right.values()) == [286, 515, 458, 742]
    report = goldassay.measure_answered(path)
    assert [round(row.anchored * row.n_items) for row in report.result.found.readings] == [286, 515, 458, 742]
    assert all(row.disagree == 0 for row in report.result.found.readings)


def test_outputs_give_what_their_authors_read(data_dir: Path) -> None:
    """MMLU-Pro: of 24,064 texts one is read otherwise, whose letter stands in backticks."""
    form, apart = form_of("ABCDEFGHIJ"), 0
    assert form is not None
    for name in ("Llama-2-7b-hf", "Mistral-7B-v0.1"):
        with zipfile.ZipFile(data_dir / f"answers/mmlu-pro-outputs-{name}.zip") as archive:
            rows = json.loads(archive.read(archive.namelist()[0]))
        apart += sum(answers_of(row["generated_text"], form)["anchored"] != row["pred"] for row in rows)
    assert apart == 1


def test_the_order_of_two_systems_turns_with_the_rule(tmp_path: Path) -> None:
    """B loses 109 answers to a filter: .5875 by the harness, .8075 by the last number, and A .7075 by both."""

    def line(at: int, right: bool, read: bool) -> str:
        text = f"So the result is {at + (not right)}." if not read else f"... #### {at + (not right)}"
        return json.dumps(
            {"doc_id": at, "doc": {}, "target": f"#### {at}", "resps": [[text]], "filter": "strict-match",
             "filtered_resps": [str(at) if read else "[invalid]"], "metrics": ["exact_match"],
             "exact_match": float(right and read)}
        )  # fmt: skip

    log(tmp_path, "a", "\n".join(line(at, at >= 117, True) for at in range(400)))
    log(tmp_path, "b", "\n".join(line(at, at >= 77, not 77 <= at < 165 and at >= 21) for at in range(400)))
    report = goldassay.measure_answered(tmp_path, reparse=True)
    a, b = report.result.found.readings
    assert (a.harness, a.last, a.anchored, a.disagree) == (0.7075, 0.7075, 0.7075, 0)
    assert (b.harness, b.last, b.anchored, b.after_think) == (0.5875, 0.8075, 0.5875, None)
    assert b.disagree == 88 / 400
    (pair,) = report.result.found.reading_pairs
    assert (pair.rule, pair.harness, pair.other) == ("last", pytest.approx(0.12), pytest.approx(-0.1))
    (apart,) = report.result.found.statuses
    assert (apart.a_share, apart.b_share) == pytest.approx((0, 109 / 400))
    table = report.tables["examples"]
    assert table.height == 109
    assert table.filter(pl.col("last") == pl.col("label").str.slice(5)).height == 88
    assert set(table["status"]) == {"unparsed"}
    assert report.verdicts["answered"]["verdict"] == "unsound"
    # It changes no score by itself.
    assert "examples" not in goldassay.measure_answered(tmp_path).tables
    assert goldassay.measure_answered(tmp_path).verdicts == report.verdicts


def test_rules_that_agree_say_nothing(tmp_path: Path) -> None:
    log(tmp_path, "a", samples([1.0] * 40))
    (row,) = goldassay.measure_answered(tmp_path).result.found.readings
    assert (row.harness, row.last, row.anchored, row.disagree) == (1, 1, None, 0)
    log(tmp_path, "none", samples([1.0] * 4).replace('"target": "1"', '"target": "words"'))
    with pytest.raises(InputError, match="no texts to read"):
        goldassay.measure_answered(tmp_path / "none", reparse=True)


def test_a_table_of_predictions_beside_texts_is_read_anew(tmp_path: Path) -> None:
    rows = [
        {"id": f"i{at}", "label": "AB"[at % 2], "prediction": None if at < 10 else "AB"[at % 2],
         "output": f"Let me see. {'AB'[at % 2]}" if at < 10 else f"The answer is ({'AB'[at % 2]})."}
        for at in range(50)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    report = goldassay.measure_answered(tmp_path / "t.parquet", reparse=True)
    (row,) = report.result.found.readings
    assert (row.form, row.harness, row.anchored, row.last, row.disagree) == ("letter", 0.8, 0.8, 1, 0.2)
    assert report.tables["examples"]["example_id"].to_list() == [f"i{at}" for at in range(10)]
    report.save(tmp_path / "report")
    assert open_workbench(tmp_path / "report").table.n_rows == 10
