"""Multiple-choice items: one planted truth in every published shape, real files against their own figures, problems."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.cells import cells_of
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.kinds.recognition import recognize
from goldassay.data.reading import read_table
from goldassay.data.roles import with_values
from goldassay.data.table import Table
from goldassay.readers.choice_rules import pick_all
from tests.stated import in_order, says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LETTERS = "ABCD"
WORDS = ["red", "blue", "stone", "river", "lamp", "code", "idea", "horse", "field", "wave", "cloud", "paper"]


def made(n: int = 60) -> list[dict[str, Any]]:
    """Questions of which the right choice has one word more than the others."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        answer = int(rng.integers(4))
        words = [" ".join(rng.choice(WORDS, 3 if at == answer else 2, replace=False)) for at in range(4)]
        choices = [f"{text} n{at}" for at, text in enumerate(words)]
        rows.append({"q": f"Question {i} about {rng.choice(WORDS)}?", "choices": choices, "answer": answer})
    return rows


def wrong(row: dict[str, Any]) -> list[str]:
    return [text for at, text in enumerate(row["choices"]) if at != row["answer"]]


def named(row: dict[str, Any]) -> list[dict[str, str]]:
    return [{"text": text, "label": letter} for text, letter in zip(row["choices"], LETTERS, strict=True)]


# Of a row the published form; the groups of columns are those of the publications.
SHAPES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "MMLU": lambda x: {"question": x["q"], "subject": "law", "choices": x["choices"], "answer": x["answer"]},
    "MMLU-Pro": lambda x: {
        "question_id": 1, "question": x["q"], "options": x["choices"], "answer": LETTERS[x["answer"]],
        "answer_index": x["answer"], "cot_content": "", "category": "law", "src": "s",
    },
    "ARC": lambda x: {
        "id": x["q"], "question": x["q"], "choices": {"text": x["choices"], "label": list(LETTERS)},
        "answerKey": LETTERS[x["answer"]],
    },
    "ARC by numbers": lambda x: {
        "id": x["q"], "question": x["q"], "choices": {"text": x["choices"], "label": list("1234")},
        "answerKey": str(x["answer"] + 1),
    },
    "ARC, nested": lambda x: {
        "id": x["q"], "question": {"stem": x["q"], "choices": named(x)}, "answerKey": LETTERS[x["answer"]],
    },
    "HellaSwag": lambda x: {
        "ind": 1, "activity_label": "law", "ctx_a": x["q"], "ctx_b": "", "ctx": x["q"], "endings": x["choices"],
        "label": str(x["answer"]), "split": "val",
    },
    "SWAG": lambda x: {
        "sent1": x["q"], "sent2": "He", **{f"ending{at}": text for at, text in enumerate(x["choices"])},
        "label": x["answer"],
    },
    "RACE": lambda x: {
        "example_id": x["q"], "article": f"An article: {x['q']}", "question": x["q"], "options": x["choices"],
        "answer": LETTERS[x["answer"]],
    },
    "AGIEval": lambda x: {
        "passage": f"A passage: {x['q']}", "question": x["q"], "label": LETTERS[x["answer"]], "answer": None,
        "options": [f"({letter}){text}" for letter, text in zip(LETTERS, x["choices"], strict=True)],
    },
    "MedQA": lambda x: {
        "question": x["q"], "answer": x["choices"][x["answer"]], "meta_info": "step1",
        "options": dict(zip(LETTERS, x["choices"], strict=True)), "answer_idx": LETTERS[x["answer"]],
    },
    "MedQA, lists": lambda x: {
        "question": x["q"], "answer": [x["choices"][x["answer"]]],
        "options": [{"key": letter, "value": text} for letter, text in zip(LETTERS, x["choices"], strict=True)],
    },
    "an object in a text": lambda x: {
        "question": x["q"], "answer": LETTERS[x["answer"]],
        "options": json.dumps({f"option_{at}": x["choices"]["abcd".index(at)] for at in "dbca"}),
    },
    "marks": lambda x: {
        "question": x["q"], "choices": x["choices"], "labels": [int(at == x["answer"]) for at in range(4)],
    },
    "marks, true": lambda x: {
        "question": x["q"], "choices": x["choices"], "answer": [at == x["answer"] for at in range(4)],
    },
    "marks in a text": lambda x: {
        "question": x["q"], "choices": x["choices"], "answer": str([float(at == x["answer"]) for at in range(4)]),
    },
    "filled up": lambda x: {
        "question": x["q"], **{f"op{'abcd'[at]}": text for at, text in enumerate(x["choices"])}, "ope": "",
        "answer": f"{x['answer']}.0",
    },
    "filled up, lists": lambda x: {
        "question": x["q"], "choices": [*x["choices"], None], "answer": [int(at == x["answer"]) for at in range(5)],
    },
    "Open Trivia DB": lambda x: {
        "question": x["q"], "correct_answer": x["choices"][x["answer"]], "incorrect_answers": wrong(x),
    },
    "MedMCQA": lambda x: {
        "id": x["q"], "question": x["q"], **{f"op{'abcd'[at]}": text for at, text in enumerate(x["choices"])},
        "cop": x["answer"], "subject_name": "law",
    },
    "GPQA": lambda x: {
        "Question": x["q"], "Correct Answer": x["choices"][x["answer"]],
        **{f"Incorrect Answer {at + 1}": text for at, text in enumerate(wrong(x))},
    },
    "TruthfulQA": lambda x: {
        "question": x["q"],
        "mc1_targets": {"choices": x["choices"], "labels": [int(at == x["answer"]) for at in range(4)]},
    },
    "BIG-bench": lambda x: {
        "input": x["q"], "target_scores": {text: int(at == x["answer"]) for at, text in enumerate(x["choices"])},
    },
    "TruthfulQA, table": lambda x: {
        "Type": "t", "Category": "law", "Question": x["q"], "Best Answer": x["choices"][x["answer"]],
        "Correct Answers": x["choices"][x["answer"]], "Incorrect Answers": "; ".join(wrong(x)), "Source": "s",
    },
    "SciQ": lambda x: {
        "question": x["q"], **{f"distractor{at + 1}": text for at, text in enumerate(wrong(x))},
        "correct_answer": x["choices"][x["answer"]], "support": "s",
    },
    "SocialIQa": lambda x: {
        "context": f"A context: {x['q']}", "question": x["q"], "options": x["choices"],
        "answer": x["choices"][x["answer"]],
    },
    "SocialIQa, columns": lambda x: {
        "context": f"A context: {x['q']}", "question": x["q"],
        **{f"answer{letter}": text for letter, text in zip(LETTERS, x["choices"], strict=True)},
        "label": str(x["answer"] + 1),
    },
    # Published with two choices each; here with four, as all others.
    "COPA": lambda x: {
        "premise": x["q"], **{f"choice{at + 1}": text for at, text in enumerate(x["choices"])},
        "question": "cause" if "n" in x["q"][:12] else "effect", "idx": 1, "label": x["answer"],
    },
    "COPA, without its question": lambda x: {
        "premise": x["q"], **{f"choice{at + 1}": text for at, text in enumerate(x["choices"])}, "label": x["answer"],
    },
    "COPA, a list": lambda x: {
        "context": x["q"], "question": "effect", "choices": x["choices"], "label": x["answer"],
    },
    "e-CARE": lambda x: {
        "index": "train-0", "premise": x["q"], "ask-for": "cause",
        **{f"hypothesis{at + 1}": text for at, text in enumerate(x["choices"])}, "label": x["answer"],
    },
    "StoryCloze": lambda x: {
        "story_id": "s", **{f"input_sentence_{at}": x["q"] if at == 4 else "It was so." for at in range(1, 5)},
        **{f"sentence_quiz{at + 1}": text for at, text in enumerate(x["choices"])},
        "answer_right_ending": x["answer"] + 1,
    },
    "StoryCloze, as first published": lambda x: {
        "InputStoryid": "s", **{f"InputSentence{at}": x["q"] if at == 1 else "It was so." for at in range(1, 5)},
        **{f"RandomFifthSentenceQuiz{at + 1}": text for at, text in enumerate(x["choices"])},
        "AnswerRightEnding": x["answer"] + 1,
    },
    "aNLI": lambda x: {
        "story_id": "s", "obs1": x["q"], "obs2": "It was so.",
        **{f"hyp{at + 1}": text for at, text in enumerate(x["choices"])}, "label": str(x["answer"] + 1),
    },
    "aNLI, long names": lambda x: {
        "observation_1": x["q"], "observation_2": "It was so.",
        **{f"hypothesis_{at + 1}": text for at, text in enumerate(x["choices"])}, "label": x["answer"] + 1,
    },
    "HellaSwag, two parts": lambda x: {
        "activity_label": "law", "ctx_a": x["q"], "ctx_b": "He", "ctx": None, "endings": x["choices"],
        "label": str(x["answer"]),
    },
    "LogiQA": lambda x: {
        "context": f"A context: {x['q']}", "query": x["q"], "options": x["choices"], "correct_option": x["answer"],
    },
}  # fmt: skip


def as_gold(items: ChoiceItems) -> list[list[str]]:
    """The texts of the right choices of each item."""
    return [items.texts.gather(np.flatnonzero(items.right & (items.item_of == i))).to_list() for i in range(len(items))]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet"])
def test_every_published_shape_is_read_unaided(tmp_path: Path, shape: str, kind: str) -> None:
    rows = made()
    written = [SHAPES[shape](row) for row in rows]
    path = tmp_path / f"items.{kind}"
    text = "".join(json.dumps(row) + "\n" for row in written)
    if kind == "parquet":
        pl.DataFrame(written, infer_schema_length=None).write_parquet(path)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    items = read_choices(read_table(path), "items")
    assert items is not None
    assert items.sizes.tolist() == [4] * len(rows)
    assert as_gold(items) == [[row["choices"][row["answer"]]] for row in rows]
    assert all(row["q"] in question for row, question in zip(rows, items.questions, strict=True))
    assert items.problems.is_empty()
    first = shape in ("GPQA", "SciQ", "TruthfulQA, table", "Open Trivia DB")
    assert items.ordered is not first
    # Of a file that lists the right choice first, positions are drawn; of others they are those of the file. Parquet
    # keeps the fields of all rows' objects in one order.
    if (shape, kind) != ("BIG-bench", "parquet"):
        assert (items.places[items.right].tolist() == [row["answer"] for row in rows]) is not first
    assert set(items.places[items.right].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("header", [True, False])
def test_a_table_of_mmlu_is_read_with_and_without_header(tmp_path: Path, header: bool) -> None:
    rows = made()
    frame = pl.DataFrame(
        [(row["q"], *row["choices"], LETTERS[row["answer"]]) for row in rows],
        schema=["question", *LETTERS, "answer"], orient="row",
    )  # fmt: skip
    path = tmp_path / "items.csv"
    frame.write_csv(path, include_header=header)
    table = read_table(path)
    items = read_choices(table, "items")
    assert items is not None
    assert as_gold(items) == [[row["choices"][row["answer"]]] for row in rows]
    assert table.line_of(0) == (2 if header else 1)


def test_numbered_options_are_named_by_their_numbers_and_positions_count_from_0() -> None:
    frame = {"sentence": ["a _", "b _"] * 20, "option1": ["x y", "p"] * 20, "option2": ["y z", "q"] * 20}
    text = read_choices(Table(pl.DataFrame({**frame, "answer": ["2", "1"] * 20}), ""), "w")
    assert text is not None
    assert as_gold(text)[:2] == [["y z"], ["p"]]
    frame = {"goal": ["a", "b"] * 20, "sol1": ["x y", "p"] * 20, "sol2": ["y z", "q"] * 20}
    whole = read_choices(Table(pl.DataFrame({**frame, "label": [1, 0] * 20}), ""), "p")
    assert whole is not None
    assert as_gold(whole)[:2] == [["y z"], ["p"]]
    with pytest.raises(InputError, match="no column says which of them is right"):
        read_choices(Table(pl.DataFrame(frame), ""), "p")


def _asked(**columns: Any) -> ChoiceItems:
    n = 24
    rows = {"choice1": ["x y"] * n, "choice2": ["p q"] * n, "label": [0, 1] * (n // 2), **columns}
    items = read_choices(Table(pl.DataFrame(rows), ""), "items")
    assert items is not None
    return items


TEXTS = [f"It rained on day number {at}." for at in range(24)]


@pytest.mark.parametrize("column", ["premise", "context", "story", "sentence", "sentence1", "text"])
def test_a_kind_of_question_is_not_what_is_asked(column: str) -> None:
    items = _asked(question=["cause", "effect", "Effect "] * 8, **{column: TEXTS})
    assert items.questions.to_list() == TEXTS
    assert set(items.passages) == {""}
    assert items.subjects is not None
    assert set(items.subjects) == {"cause", "effect", "Effect "}
    said = (f"column {column!r}", "for the question", "'question'")
    assert states(items.decisions, said)
    assert items.unread == ()


def test_what_is_wanted_is_a_part_of_the_question() -> None:
    # Of one premise the cause and the effect are two questions, and may have two answers.
    apart = _asked(question=["cause", "effect"] * 12, premise=["It rained on that day."] * 24)
    assert apart.problems.is_empty()
    one = _asked(question=["cause", "cause"] * 12, premise=["It rained on that day."] * 24)
    assert one.problems["reason"].unique().to_list() == [says("same question", "another answer")]


def test_other_questions_are_what_is_asked() -> None:
    whole = ["Why did it rain?", "Who got wet?", "Where was it?"] * 8
    for column in ("premise", "context"):
        items = _asked(question=whole, **{column: TEXTS})
        assert (items.questions.to_list(), items.passages.to_list()) == (whole, TEXTS)
    words = [f"word{at}" for at in range(24)]
    items = _asked(question=words, context=TEXTS)
    assert (items.questions.to_list(), items.passages.to_list()) == (words, TEXTS)
    chinese = ["天下雨了。", "我很累。", "他笑了。"] * 8
    assert _asked(question=["cause", "effect"] * 12, premise=chinese).questions.to_list() == chinese
    # Nothing else could be asked.
    kinds = ["cause", "effect"] * 12
    assert _asked(question=kinds).questions.to_list() == kinds
    assert _asked(question=kinds, premise=["yes", "no"] * 12).questions.to_list() == kinds
    rows = pl.DataFrame({"question": kinds, "premise": TEXTS, "choice1": ["x"] * 24, "choice2": ["y"] * 24,
                         "label": [0, 1] * 12})  # fmt: skip
    named = read_choices(Table(rows, ""), "items", roles={"question": "question"})
    assert named is not None
    assert (named.questions.to_list(), named.passages.to_list()) == (kinds, TEXTS)


def test_hypotheses_are_choices_only_where_something_is_asked() -> None:
    rows = {"premise": TEXTS, "hypothesis1": ["x"] * 24, "hypothesis2": ["y"] * 24, "label": [0, 1] * 12}
    assert read_choices(Table(pl.DataFrame(rows), ""), "pairs") is None
    pairs = {"premise": TEXTS, "hypothesis": ["x"] * 24, "answer1": ["a"] * 24, "answer2": ["b"] * 24,
             "label": [0, 1] * 12}  # fmt: skip
    assert read_choices(Table(pl.DataFrame(pairs), ""), "pairs") is None


def test_pairs_preferences_and_judgments_are_no_items() -> None:
    for columns in (
        {"premise": ["a b"], "hypothesis": ["c d"], "label": ["yes"]},
        {"a": ["some text"], "b": ["other text"], "label": ["yes"]},
        {"prompt": ["p"], "chosen": ["c"], "rejected": ["r"]},
        {"input": ["p"], "output_1": ["c"], "output_2": ["r"], "label": [1]},
        {"question": ["p"], "response_A": ["c"], "response_B": ["r"], "label": ["A>B"]},
        {"question": ["p"], "context": ["c"], "answers": [["a", "b"]]},
    ):
        assert read_choices(Table(pl.DataFrame(columns), ""), "none") is None


def test_what_cannot_be_right_is_listed_by_row_and_reason() -> None:
    rows = [
        ("fine?", ["x", "y"], "A"),
        ("one?", ["x"], "A"),
        ("none?", ["x", "y"], None),
        ("far?", ["x", "y"], "E"),
        ("empty?", ["x", " ", "y"], "A"),
        ("twice?", ["x", "x", "y"], "C"),
        ("gold twice?", ["x", "X", "y"], "A"),
        ("other?", ["p", "q"], "A"),
        ("Other?", ["p", "q"], "B"),
    ]
    frame = pl.DataFrame(rows, schema=["question", "choices", "answer"], orient="row")
    items = read_choices(Table(frame, ""), "items")
    assert items is not None
    assert [row[0] for row in items.problems.select("row").iter_rows()] == [2, 3, 4, 5, 6, 7, 7, 9]
    assert items.problems.select("reason", "used").rows() == [
        ("there are fewer than two choices", False),
        ("there is no answer", False),
        ("the answer is not among the choices", False),
        ("a choice is empty", True),
        ("two choices are the same", True),
        ("the right choice's text is also a wrong choice", True),
        ("two choices are the same", True),
        (says("same question", "another answer"), True),
    ]
    assert items.rows.tolist() == [1, 5, 6, 7, 8, 9]
    with pytest.raises(InputError, match="no item has an answer among its choices"):
        read_choices(Table(frame[[1, 2, 3]], ""), "items")


def test_letters_are_removed_only_where_all_choices_have_their_own() -> None:
    frame = pl.DataFrame(
        {
            "question": ["a?", "b?", "c?"],
            "choices": [["(A) x", "(B) y"], ["A. x", "C. y"], ["A) x", "B) y"]],
            "answer": ["A", "B", "B"],
        }
    )
    items = read_choices(Table(frame, ""), "items")
    assert items is not None
    assert items.texts.to_list() == ["x", "y", "A. x", "C. y", "x", "y"]


def test_several_right_answers_are_a_set() -> None:
    frame = pl.DataFrame({"question": ["a?", "b?"], "options": [["x", "y", "z"]] * 2, "label": [["A", "C"], ["B"]]})
    items = read_choices(Table(frame, ""), "items")
    assert items is not None
    assert items.n_right.tolist() == [2, 1]
    assert as_gold(items) == [["x", "z"], ["y"]]


@given(st.lists(st.tuples(st.integers(2, 6), st.integers(0, 99)), min_size=1, max_size=8), st.randoms())
def test_taking_items_takes_their_choices(sizes, random) -> None:
    frame = pl.DataFrame(
        {
            "question": [f"q{i}" for i in range(len(sizes))],
            "choices": [[f"{i} {at}" for at in range(size)] for i, (size, _) in enumerate(sizes)],
            "answer": [at % size for size, at in sizes],
        }
    )
    items = read_choices(Table(frame, ""), "items", first=0)
    assert items is not None
    wanted = np.array(random.sample(range(len(sizes)), random.randint(1, len(sizes))))
    part = items.take(wanted)
    assert part.sizes.tolist() == items.sizes[wanted].tolist()
    assert as_gold(part) == [as_gold(items)[i] for i in wanted]


# Of the published files: items, and in how many per cent the longest choice is right, ties shared.
REAL = [
    ("choices/openbookqa-test.jsonl.gz", 500, 36.4),
    ("choices/ARC-Challenge-Test.jsonl.gz", 1172, 27.4),
    ("choices/ARC-Challenge-Dev.jsonl.gz", 299, 28.3),
    ("choices/csqa-dev_rand_split.jsonl.gz", 1221, 22.2),
    ("choices/logiqa-Test.txt.gz", 651, 31.9),
    ("choices/socialiqa-dev.jsonl.gz", 1954, 35.5),
    ("choices/TruthfulQA.csv.gz", 817, 38.2),
    ("choices/winogrande-validation.parquet", 1267, None),
]


@pytest.mark.parametrize(("file", "n", "longest"), REAL)
def test_real_files_have_their_own_figures(data_dir, file: str, n: int, longest: float | None) -> None:
    items = read_choices(read_table(data_dir / file), file)
    assert items is not None
    assert len(items) == n
    if longest is not None:
        lengths = items.texts.str.len_chars().to_numpy()
        hits = []
        for first, end in zip(items.offsets[:-1], items.offsets[1:], strict=True):
            best = lengths[first:end] == lengths[first:end].max()
            hits.append((best & items.right[first:end]).sum() / best.sum())
        assert 100 * float(np.mean(hits)) == pytest.approx(longest, abs=0.06)


def test_real_archives_have_their_own_figures(data_dir, tmp_path: Path) -> None:
    import tarfile

    wanted = {"aqua-rat.jsonl": (254, 7, 4), "sat-en.jsonl": (206, 0, 0), "dream.json": (2041, None, None)}
    with tarfile.open(data_dir / "choices/agieval-v1-en.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    with tarfile.open(data_dir / "choices/dream.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "data" / "test.json").rename(tmp_path / "dream.json")
    for name, (n, duplicates, twice) in wanted.items():
        path = next(tmp_path.rglob(name))
        items = read_choices(read_table(path), name)
        assert items is not None
        assert len(items) == n
        reasons = dict(items.problems["reason"].value_counts().iter_rows())
        if duplicates is not None:
            assert reasons.get("two choices are the same", 0) == duplicates
            assert reasons.get("the right choice's text is also a wrong choice", 0) == twice


def test_positions_that_may_count_from_0_or_1_are_asked_for() -> None:
    def read(answers: list[Any], first: int | None = None, way: str = "", **more: list[str]) -> ChoiceItems:
        rows = {"question": [f"q{at}" for at in range(4)], "choices": [["w", "x", "y", "z"]] * 4, "answer": answers}
        roles = with_values({}, way)
        assert isinstance(roles, dict)
        found = read_choices(Table(pl.DataFrame({**rows, **more}), ""), "items", roles=roles, first=first)
        assert found is not None
        return found

    with pytest.raises(InputError, match="from 0 or from 1") as refused:
        read([1, 2, 3, 1])
    ways = re.findall(r"map='(answer=\S+)'", str(refused.value))
    for way, right in zip(ways, (["w", "x", "y", "w"], ["x", "y", "z", "x"]), strict=True):
        assert as_gold(read([1, 2, 3, 1], way=way)) == [[each] for each in right]
    with pytest.raises(InputError, match=r"from 0 or from 1.*write the letters"):
        read([[1], [2], [3], [1]])
    # A 0, a number as large as that of the choices, another part, and another column decide.
    assert as_gold(read([0, 2, 3, 1])) == [["w"], ["y"], ["z"], ["x"]]
    assert as_gold(read([4, 2, 3, 1])) == [["z"], ["x"], ["y"], ["w"]]
    assert (read([0, 2, 3, 1]).first, read([4, 2, 3, 1]).first, read(["A", "B", "C", "A"]).first) == (0, 1, None)
    assert as_gold(read([1, 2, 3, 1], first=1)) == [["w"], ["x"], ["y"], ["w"]]
    assert as_gold(read([1, 2, 3, 1], first=0)) == [["x"], ["y"], ["z"], ["x"]]
    beside = read([1, 2, 3, 1], correct_answer=["w", "x", "y", "w"])
    assert (as_gold(beside), beside.doubtful) == ([["w"], ["x"], ["y"], ["w"]], "")


def test_columns_that_are_numbered_from_0_name_their_choices_so() -> None:
    frame = {"question": [f"q{at}" for at in range(3)], **{f"answer{at}": [f"text {at}"] * 3 for at in range(4)}}
    found = read_choices(Table(pl.DataFrame({**frame, "label": [1, 2, 3]}), ""), "items")
    assert found is not None
    assert as_gold(found) == [["text 1"], ["text 2"], ["text 3"]]


def read_rows(choices: list[str], n: int = 40, **columns: list[Any]) -> ChoiceItems:
    """Items that all have these choices."""
    frame = {"question": [f"q{at}" for at in range(n)], "choices": [choices] * n, **columns}
    found = read_choices(Table(pl.DataFrame(frame), ""), "items")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("choices", "answers", "said"),
    [
        (["B", "A", "D", "C"], ["A", "C"], "by its text or by its letter"),
        (["2", "0", "3", "1"], ["2", "1"], "by its text or by its position from 0"),
        # Where both say the same there is nothing to doubt.
        (["A", "B", "C", "D"], ["A", "C"], ""),
        (["red", "blue", "green", "grey"], ["A", "C"], ""),
    ],
)
def test_answers_that_fit_in_two_ways_are_doubtful(choices: list[str], answers: list[str], said: str) -> None:
    doubtful = read_rows(choices, answer=answers * 20).doubtful
    assert said in doubtful
    assert bool(doubtful) is bool(said)


def test_columns_that_name_different_choices_are_doubtful() -> None:
    choices = ["red", "blue", "green", "grey"]
    places = [0, 1, 2, 3] * 10
    letters = [LETTERS[at] for at in places]
    assert not read_rows(choices, answer=letters, answer_index=places).doubtful
    assert not read_rows(choices, answer=letters, answer_index=[at + 1 for at in places]).doubtful
    assert not read_rows(choices, answer=letters, label=["easy", "hard"] * 20).doubtful
    wrong = [*letters[:37], "A", "A", "A"]
    said = read_rows(choices, answer=wrong, answer_index=places).doubtful
    assert said == says("'answer_index' and 'answer'", "different choices", "3 of 40 items")
    frame = pl.DataFrame({"question": ["q"] * 40, "choices": [choices] * 40, "answer": wrong, "answer_index": places})
    for roles in ({"answer": "answer"}, {"ignore": "answer"}):
        chosen = read_choices(Table(frame, ""), "items", roles=roles)
        assert chosen is not None
        assert not chosen.doubtful


def test_columns_that_look_like_further_choices_are_named_apart() -> None:
    choices = ["red", "blue", "green", "grey"]
    items = read_rows(
        choices, answer=["A", "B"] * 20, hint=["a hint of four words"] * 40, second_options=[["one", "two"]] * 40
    )
    assert items.unread == ("hint", "second_options")
    assert items.overlooked == ("second_options",)


def test_lists_as_pandas_writes_them_into_csv(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    rows = ["question,choices,answer"]
    for i in range(4):
        listed = str([f"it is {i}", f"don't know {i}", 'say "no"']).replace('"', '""')
        rows.append(f'What is {i}?,"{listed}",{i % 3}')
    file.write_text("\n".join(rows) + "\n", "utf-8")
    items = read_choices(read_table(file), "items")
    assert items is not None
    assert items.texts[:3].to_list() == ["it is 0", "don't know 0", 'say "no"']
    assert items.first_right.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("text", ["[__import__('os')]", "['a', 'b'", "['a'] * 3", "[" * 3000, "[1 for _ in 'ab']"])
def test_code_in_a_list_is_no_list(text: str) -> None:
    frame = pl.DataFrame({"question": ["a", "b"], "choices": [text, text], "answer": [0, 1]})
    assert read_choices(Table(frame, "frame"), "items") is None


def test_white_space_around_choices_is_read_as_a_trait_of_its_own() -> None:
    frame = pl.DataFrame({"question": ["q", "r"], "choices": [["a ", "b"], ["c", "d"]], "answer": [0, 1]})
    found = read_choices(Table(frame, ""), "made")
    assert found is not None
    assert found.texts.to_list() == ["a", "b", "c", "d"]
    assert found.padded is not None
    assert found.padded.tolist() == [True, False, False, False]
    picked = {each.rule: each for each in pick_all(found)}
    assert picked["white space at an end"].hits.tolist() == [1.0, 0.5]
    assert picked["no white space at an end"].hits.tolist() == [0.0, 0.5]
    taken = found.take(np.array([0])).padded
    assert taken is not None
    assert taken.tolist() == [True, False]
    plain = read_choices(Table(frame.with_columns(choices=pl.Series([["a", "b"], ["c", "d"]])), ""), "made")
    assert plain is not None
    assert plain.padded is None
    assert "white space at an end" not in {each.rule for each in pick_all(plain)}


def test_items_of_one_choice_are_refused_for_that() -> None:
    frame = pl.DataFrame({"question": ["q", "r"], "choices": [["a"], ["b"]], "answer": [0, 0]})
    with pytest.raises(InputError, match="fewer than two choices"):
        read_choices(Table(frame, ""), "made")


def test_a_text_in_place_of_a_list_is_said_to_be_no_list() -> None:
    choices = [json.dumps(["one", "two"])] * 30
    choices[3:5] = ["one; two", json.dumps(["one"])]
    frame = pl.DataFrame({"question": [f"What is {at}?" for at in range(30)], "choices": choices, "answer": [0] * 30})
    items = read_choices(Table(frame, ""), "made")
    assert items is not None
    assert items.problems.select("row", "reason").rows() == [
        (4, "the choices are one text and no list"), (5, "there are fewer than two choices"),
    ]  # fmt: skip


def read_frame(roles: dict[str, str] | None = None, **columns: list[Any]) -> ChoiceItems:
    n = len(next(iter(columns.values())))
    frame = pl.DataFrame({"question": [f"q{at}" for at in range(n)], **columns}, strict=False)
    found = read_choices(Table(frame, ""), "items", roles=roles)
    assert found is not None
    return found


def reasons(items: ChoiceItems) -> list[tuple[int, str]]:
    return [*items.problems.select("row", "reason").iter_rows()]


def test_a_list_of_0_and_1_for_each_choice_marks_the_right_one() -> None:
    answers = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1], [2], [0, 1, 0], [0, 0, 0, 0], [0, 2, 0, 0]]
    items = read_frame(choices=[["w", "x", "y", "z"]] * 8, labels=answers)
    assert as_gold(items) == [["y"], ["w"], ["x", "z"], ["z"]]
    unlike = says("some answers", "by 0 or 1", "not written as most")
    assert reasons(items) == [(5, unlike), (6, unlike), (7, "there is no answer"), (8, unlike)]
    assert items.decisions[0] == says("column 'labels'", "marks each choice", "1 or true")


def test_a_list_of_0_and_1_among_positions_is_no_set_of_positions() -> None:
    items = read_frame(choices=[["w", "x", "y", "z"]] * 4, answer=[[3], [0, 1], [0, 0, 1, 0], [2]])
    assert as_gold(items) == [["z"], ["w", "x"], ["y"]]
    assert [row for row, _ in reasons(items)] == [3]


def test_two_choices_that_are_marked_are_no_positions() -> None:
    assert as_gold(read_frame(choices=[["x", "y"]] * 3, answer=[[0, 1], [1, 0], [0, 1]])) == [["y"], ["x"], ["y"]]
    # Where each row has the same list, both choices may be meant.
    with pytest.raises(InputError, match="all choices are right"):
        read_frame(choices=[["x", "y"]] * 3, answer=[[0, 1]] * 3)
    assert as_gold(read_frame(choices=[["x", "y"]] * 3, answer=[[False, True]] * 3)) == [["y"]] * 3


def test_a_mark_at_an_empty_choice_is_no_choice() -> None:
    items = read_frame(choices=[["x", "y", ""], ["x", "y", None]], labels=[[0, 1, 0], [0, 0, 1]])
    assert as_gold(items) == [["y"]]
    assert reasons(items) == [(2, "the answer is not among the choices")]


def test_targets_whose_marks_are_not_those_of_the_choices_are_listed() -> None:
    targets = [{"choices": ["x", "y"], "labels": labels} for labels in ([0, 1], [0, 0, 1], [1])]
    items = read_frame(mc1_targets=targets)
    assert as_gold(items) == [["y"]]
    assert [row for row, _ in reasons(items)] == [2, 3]


def test_empty_choices_at_the_end_are_none_and_in_the_middle_a_problem() -> None:
    items = read_frame(
        A=["a", "b", "c", "d", "e"], B=["a2", "b2", None, "d2", ""], C=["a3", None, "c3", "d3", " "],
        D=["a4", "", "c4", None, ""], answer=["D", "B", "C", "D", "A"],
    )  # fmt: skip
    assert items.sizes.tolist() == [4, 2, 4]
    assert as_gold(items) == [["a4"], ["b2"], ["c3"]]
    assert reasons(items) == [
        (3, "a choice is empty"), (4, "the answer is not among the choices"), (5, "there are fewer than two choices"),
    ]  # fmt: skip
    assert states(items.decisions, "Empty choices", "none", "1 of 3 items")


def test_an_empty_choice_is_never_right() -> None:
    items = read_frame(choices=[["a", "", "c"], ["a", " ", "c"]], answer=["A", "B"])
    assert reasons(items) == [(1, "a choice is empty"), (2, "the right choice is empty")]
    columns = {"distractor1": ["b", "b", "b"], "distractor2": ["c", "c", "c"]}
    items = read_frame(correct_answer=["a", " ", None], **columns)
    assert as_gold(items) == [["a"]]
    assert reasons(items) == [(2, "there is no answer"), (3, "there is no answer")]


@pytest.mark.parametrize("marks", [True, False])
def test_an_item_of_marks_or_objects_is_relabelled_as_its_file_writes_answers(marks: bool) -> None:
    options = [json.dumps({"A": "w", "B": "x", "C": "y"})] * 4
    answers = ["[0, 0, 1]", "[0, 1, 0]", "[0, 1, 0]", "[1, 0, 0]"] if marks else ["c", "b", "B", "A"]
    table = Table(pl.DataFrame({"question": [*"pqrs"], "options": options, "answer": answers}), "")
    items = read_choices(table, "items")
    assert items is not None
    assert as_gold(items) == [["y"], ["x"], ["x"], ["w"]]
    assert cells_of(items, table, {}).answered(0, "B") == {"answer": "[0, 1, 0]" if marks else "B"}


def test_objects_have_a_choice_a_letter_in_the_order_of_the_letters() -> None:
    options = [{"C": "z", "A": "x", "B": "y"}, {"C": None, "A": "x", "B": "y"}]
    items = read_frame(options=[json.dumps(each) for each in options], answer=["c", "B"])
    assert items.texts.to_list() == ["x", "y", "z", "x", "y"]
    assert as_gold(items) == [["z"], ["y"]]
    numbered = [json.dumps({str(at): f"t{at}" for at in range(12, 0, -1)})] * 2
    items = read_frame(options=numbered, answer=[10, 2])
    assert items.texts[:12].to_list() == [f"t{at}" for at in range(1, 13)]
    assert as_gold(items) == [["t10"], ["t2"]]
    # A letter is the key and no place.
    assert as_gold(read_frame(options=['{"B": "x", "C": "y", "D": "z"}'] * 2, answer=["B", "d"])) == [["x"], ["z"]]


def test_objects_and_lists_that_are_no_choices_are_refused_for_what_they_are() -> None:
    with pytest.raises(InputError, match="a choice is a list or an object and no text"):
        read_frame(choices=[[["a", "b"], ["c", "d"]]] * 3, answer=[0, 1, 0])
    with pytest.raises(InputError, match="without letters or numbers as keys"):
        read_frame(choices=[{"first": "a", "second": "b"}] * 3, answer=["a"] * 3)
    mixed = ['["a", "b"]', '["a", ["b"]]', '{"A": "a", "other": "b"}']
    assert [row for row, _ in reasons(read_frame(choices=mixed, answer=["a"] * 3))] == [2, 3]


@pytest.mark.parametrize("answer", ["④", "²", "½"])
def test_digits_that_are_no_numbers_are_no_answers(answer: str) -> None:
    with pytest.raises(InputError, match="no item has an answer among its choices"):
        read_frame(choices=[["a", "b", "c", "d"]] * 3, answer=[answer] * 3)


def test_an_answer_that_names_several_choices_is_said_to() -> None:
    answers = ["A", "B", "A,C", "CD", "1 and 3", "A; E", "none"]
    items = read_frame(choices=[["w", "x", "y", "z"]] * 7, answer=answers)
    several, unknown = "the answer names several choices in one text", "the answer is not among the choices"
    assert reasons(items) == [(3, several), (4, several), (5, several), (6, unknown), (7, unknown)]
    with pytest.raises(InputError, match=in_order("several choices in one text", "list")):
        read_frame(choices=[["w", "x", "y", "z"]] * 2, answer=["A,C", "BD"])


def test_lists_in_a_column_that_was_named_are_spread() -> None:
    columns: dict[str, list[Any]] = {
        "right": ["a", "2", " ", "[0, 1]"], "wrong": [["b", "c"], ["0", "1"], ["x", "y"], ["[0, 2]", "[1]"]],
    }  # fmt: skip
    for joined in ("right+wrong", "wrong+right"):
        items = read_frame({"choices": joined, "answer": "right"}, **columns)
        assert items.sizes.tolist() == [3, 3, 3]
        assert as_gold(items) == [["a"], ["2"], ["[0, 1]"]]
        assert not items.ordered
        assert len(reasons(items)) == 1
        own = ("right choice", "column of its own", "not read")
        assert states(items.decisions, own)
    texts = {"right": ["a"] * 2, "wrong": ['["b", "c"]'] * 2}
    assert read_frame({"choices": "right+wrong", "answer": "right"}, **texts).sizes.tolist() == [3, 3]
    assert read_frame({"choices": "right+wrong"}, right=["a"] * 2, wrong=[["b"]] * 2, answer=[0, 1]).ordered


def test_wrong_answers_in_a_text_are_split_only_where_they_are_known_to_be_joined() -> None:
    columns = {"question": ["q"] * 3, "correct_answer": ["a; b"] * 3, "incorrect_answers": ["c; d"] * 3}
    assert read_choices(Table(pl.DataFrame(columns), ""), "items") is None


def test_a_second_answer_is_named_wherever_it_disagrees() -> None:
    n = 40
    choices, own = [["v w", "x y", "z"]] * n, [at % 3 for at in range(n)]
    said = "The columns 'answer' and 'label' name different choices in 1 of 40 items."
    items = read_frame(choices=choices, answer=own, label=[2, *own[1:]])
    assert said in items.decisions
    assert items.doubtful == said
    # Corrections are few, and written in several ways: letters, positions, texts, and remarks.
    corrected: list[str | None] = [None] * n
    corrected[:6] = ["1", "B", "z", "C", "none of them", "2"]
    said = "The columns 'answer' and 'correct_answer' name different choices in 2 of the 6 items in which "
    items = read_frame(choices=choices, answer=own, correct_answer=corrected)
    assert items.doubtful == f"{said}'correct_answer' is filled."
    assert items.doubtful in items.decisions
    agreeing = [LETTERS[at] if row < 9 else None for row, at in enumerate(own)]
    assert not read_frame(choices=choices, answer=own, correct_answer=agreeing).doubtful


def test_a_column_of_choices_that_is_not_there_is_named() -> None:
    frame = pl.DataFrame({"question": ["a", "b"], "choices": [["x", "y"]] * 2, "answer": [0, 1]})
    for named in ("nope", "choices+nope"):
        with pytest.raises(InputError, match=in_order("column 'nope'", "question, choices")):
            recognize(Table(frame, ""), {"choices": named}, DATA_KINDS)
    with pytest.raises(InputError, match=in_order("column 'question'", "neither lists nor objects")):
        recognize(Table(frame, ""), {"choices": "question"}, DATA_KINDS)


@pytest.mark.parametrize(("asked", "other"), [("choices", "choices"), ("answer", "answer")])
def test_no_column_is_the_question_and_another_part(asked: str, other: str) -> None:
    frame = pl.DataFrame({"question": ["a", "b"], "choices": [["c", "d"], ["e", "f"]], "answer": [0, 1]})
    with pytest.raises(InputError, match=f"is named as the question, and it is the {other}, too"):
        read_choices(Table(frame, ""), "made", roles={"question": asked})
