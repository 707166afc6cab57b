"""Overlap end to end: test sets of every kind, planted copies, what may not be called sound, and both doors."""

from __future__ import annotations

import base64
import gzip
import html
import json
import random
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.settings import Settings, parse_settings
from goldassay.kernels import ngram_search
from goldassay.questions.overlap.items import read_items
from tests.conftest import DATA
from tests.overlap.search.corpora import sentence
from tests.stated import in_order, says, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.report.report import Report

CORPORA = DATA / "corpora"
N = 400


def questions(n: int = N) -> list[dict[str, str]]:
    rng = random.Random(0)
    return [
        {"question": f"{sentence(rng, rng.randint(12, 40))}?", "answer": f"{sentence(rng, rng.randint(2, 30))}."}
        for _ in range(n)
    ]


def written(path: Path, texts: Sequence[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def other_texts(n: int = 300) -> list[str]:
    rng = random.Random(99)
    return [sentence(rng, rng.randint(5, 200)) for _ in range(n)]


def measured(rows: Any, path: Path, **options: Any) -> tuple[dict[str, Any], Report]:
    report = goldassay.measure_overlap(rows, path, **options)
    return report.to_dict()["overlap"], report


def word(report: Report) -> str:
    return str(report.verdicts["overlap"]["verdict"])


def short_questions(n_asked: int, n_answer: int, n: int = 300) -> list[dict[str, str]]:
    rng = random.Random(5)
    return [{"question": f"{sentence(rng, n_asked)}?", "answer": f"{sentence(rng, n_answer)}."} for _ in range(n)]


class TestShortQuestions:
    """A copy may have words between a question and its answer, and then nothing of 8 words stands there."""

    FORMS = ("Question: {question}\nAnswer: {answer}", "<|user|>\n{question}\n<|assistant|>\nIt is {answer}")

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(("n_asked", "n_answer"), [(5, 3), (7, 1), (6, 6), (6, 25), (1, 8), (3, 30)])
    def test_are_found_with_their_answers(self, form: str, n_asked: int, n_answer: int, tmp_path: Path) -> None:
        rows = short_questions(n_asked, n_answer)
        path = written(tmp_path / "c.jsonl", [*other_texts(), *(form.format(**row) for row in rows[::2])])
        found, report = measured(rows, path)
        assert (found["n_found"], word(report)) == (150, "unsound")
        assert report.tables["overlap_items"]["kind"].to_list() == ["question and answer", "none"] * 150
        assert report.tables["overlap_items"]["class"].to_list() == ["dirty", "clean"] * 150
        assert report.tables["overlap_items"]["coverage"].to_list() == [1.0, 0.0] * 150

    @pytest.mark.parametrize(("n_asked", "n_answer"), [(5, 3), (6, 6), (6, 25), (3, 30)])
    def test_say_nothing_without_their_answers_or_behind_them(
        self, n_asked: int, n_answer: int, tmp_path: Path
    ) -> None:
        rows = short_questions(n_asked, n_answer)
        between = " ".join(map(str, range(51)))
        for form in ("{question}", "{question} {between} {answer}", "{answer} {between} {question} {between}",
                     "{answer} Why? {question}"):  # fmt: skip
            texts = [form.format(**row, between=between) for row in rows]
            found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *texts]))
            assert found["n_found"] == 0, form
            assert "question only" not in report.tables["overlap_items"]["kind"], form

    def test_the_page_marks_the_same_words_on_both_sides(self, tmp_path: Path) -> None:
        rows = [*short_questions(6, 6, 12), *short_questions(90, 60, 12)]
        texts = [f"said before: Question: {row['question']} Answer: {row['answer']} said after" for row in rows]
        found, _ = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert len({len(row["text"].split(" ")) for row in found["worst"]}) == 2
        for row in found["worst"]:
            sides = [
                [row[text][begin:end] for begin, end in row[marks]]
                for text, marks in (("text", "marks"), ("excerpt", "excerpt_marks"))
            ]
            assert " ".join(sides[0]) == " ".join(sides[1]) == row["text"]

    def test_answers_alone_are_called_so(self, tmp_path: Path) -> None:
        rows = short_questions(6, 25)
        found, report = measured(rows, written(tmp_path / "c.jsonl", [row["answer"] for row in rows]))
        assert set(report.tables["overlap_items"]["kind"]) == {"answer only"}
        assert "without its answer" not in report.to_markdown()
        assert found["n_found"] == 0

    @pytest.mark.parametrize(("n_asked", "n_answer"), [(4, 4), (5, 2), (2, 7)])
    def test_that_are_found_whole_alone_are_not_sound(self, n_asked: int, n_answer: int, tmp_path: Path) -> None:
        rng = random.Random(3)
        rows = [
            {**row, "choices": [row["answer"], *(sentence(rng, n_answer) for _ in range(3))], "answer": 0}
            for row in short_questions(n_asked, n_answer)
        ]
        path = written(tmp_path / "c.jsonl", other_texts())
        _, report = measured(rows, path)
        assert word(report) == "unresolved"
        assert states(report.to_markdown(), "300 of 300 items", "so short")
        rows[16:] = [{**row, "question": f"{row['question']} {sentence(rng, 9)}"} for row in rows[16:]]
        assert word(measured(rows, path)[1]) == "unresolved"
        rows[:2] = rows[-2:]
        assert word(measured(rows, path)[1]) == "sound"


class TestBlanks:
    @pytest.mark.parametrize(
        "blank",
        [
            "_",
            "____",
            "[MASK]",
            "<mask>",
            "[BLANK]",
            "@placeholder",
            "(1)____",
            "___1___",
            "\\_\\_\\_",
            "\uff3f\uff3f",
            "(  )",
            "......",
            "{{blank}}",
            "XXXXX",
            "----",
            "<extra_id_0>",
        ],
    )
    def test_that_are_filled_with_the_right_choice(self, blank: str, tmp_path: Path) -> None:
        rng = random.Random(8)
        rows: list[dict[str, Any]] = [
            {
                "question": f"{sentence(rng, 9)} {blank} {sentence(rng, 9)}.",
                "choices": [sentence(rng, 1), sentence(rng, 2)],
                "answer": at % 2,
            }
            for at in range(300)
        ]
        for wrong in (0, 1):
            texts = [row["question"].replace(blank, row["choices"][row["answer"] ^ wrong]) for row in rows]
            found, _ = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *texts]))
            assert found["n_found"] == (0 if wrong else 300)

    def test_of_free_answers(self, tmp_path: Path) -> None:
        rows = [
            {"question": f"{row['question']} ___ then {row['question']}", "answer": row["answer"]}
            for row in questions()
        ]
        texts = [row["question"].replace("___", row["answer"]) for row in rows]
        assert measured(rows, written(tmp_path / "c.jsonl", texts))[0]["n_found"] == N


class TestWhatIsAsked:
    def test_an_instruction_with_its_input(self, tmp_path: Path) -> None:
        rng = random.Random(4)
        for n_instruction, n_input, form in (
            (20, 15, "{input}\n{output}"),
            (20, 15, "### Instruction:\n{instruction}\n### Input:\n{input}\n### Response:\n{output}"),
            (20, 3, "### Instruction:\n{instruction}\n### Input:\n{input}\n### Response:\n{output}"),
            (4, 4, "### Instruction:\n{instruction} {input}\n### Response:\n{output}"),
            (10, 3, "### Instruction:\n{instruction}\n### Input:\n{input}\n### Response:\n{output}"),
            (3, 7, "### Input:\n{input}\n### Response:\n{output}"),
            (20, 0, "### Instruction:\n{instruction}\n### Response:\n{output}"),
        ):
            sizes = {"instruction": n_instruction, "input": n_input, "output": 10}
            rows = [{name: sentence(rng, n) for name, n in sizes.items()} for _ in range(N)]
            path = written(tmp_path / "c.jsonl", [form.format(**row) for row in rows[::2]])
            found, report = measured(rows, path)
            assert found["n_found"] == N // 2, (n_instruction, n_input)
            assert states(report.to_markdown(), "'instruction' and 'input'", "for the question")

    def test_several_columns_are_named(self, tmp_path: Path) -> None:
        rows = [{"head": row["question"], "tail": f"{row['answer']} b", "reply": row["answer"]} for row in questions()]
        frame = pl.DataFrame(rows)
        items = read_items(frame, "question=head+tail,answer=reply").items
        assert items[1].parts == (("instruction", rows[1]["head"]), ("question", rows[1]["tail"]))
        with pytest.raises(InputError, match="column 'nope': there is no such column"):
            read_items(frame, "question=head+nope,answer=reply")
        with pytest.raises(InputError, match="is named as the question, and it is the answer"):
            read_items(frame, "question=head+reply,answer=reply")

    def test_lists_of_texts_are_read(self, tmp_path: Path) -> None:
        rows = [{**row, "context": [row["answer"], "b"], "tags": ["x", row["question"]]} for row in questions(30)]
        items = read_items(pl.DataFrame(rows)).items
        assert items[2].parts == (("passage", f"{rows[2]['answer']}\nb"), ("question", rows[2]["question"]))
        items = read_items(pl.DataFrame(rows).drop("context"), "question=question+tags,answer=answer").items
        assert items[2].parts[1] == ("question", f"x\n{rows[2]['question']}")

    def test_a_short_question_is_found_without_its_passage(self, tmp_path: Path) -> None:
        rows = [
            {"passage": row["question"] * 3, **short}
            for row, short in zip(questions(300), short_questions(6, 3), strict=True)
        ]
        texts = [f"Question: {row['question']} Answer: {row['answer']}" for row in rows]
        found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *texts]))
        assert (found["n_found"], word(report)) == (300, "unsound")

    @pytest.mark.parametrize(("before", "verdict"), [("passage", "sound"), ("instruction", "unresolved")])
    def test_what_is_found_whole_alone_is_sound_with_a_passage_only(
        self, before: str, verdict: str, tmp_path: Path
    ) -> None:
        """A question without its passage asks something else; one without its instruction does not."""
        asked = "input" if before == "instruction" else "question"
        rows = [
            {before: f"{at} {sentence(random.Random(at), 20)}", asked: row["question"], "answer": row["answer"]}
            for at, row in enumerate(short_questions(4, 2))
        ]
        assert word(measured(rows, written(tmp_path / "c.jsonl", other_texts()))[1]) == verdict

    def test_answers_of_short_questions_alone_are_not_sound(self, tmp_path: Path) -> None:
        rows = short_questions(6, 10)
        path = written(tmp_path / "c.jsonl", [*other_texts(), *(row["answer"] for row in rows)])
        assert word(measured(rows, path)[1]) == "caution"

    @pytest.mark.parametrize(
        "form",
        [
            lambda answer: {"text": [answer, "other"], "answer_start": [1, 2]},
            lambda answer: [{"text": answer}],
            lambda answer: {"value": answer, "aliases": ["x"]},
            lambda answer: [answer, "x"],
            lambda answer: ["", answer],
        ],
    )
    def test_answers_within_lists_and_objects(self, form: Any, tmp_path: Path) -> None:
        rows = [{"question": row["question"], "answers": form(row["answer"])} for row in questions()]
        expected = [row["answer"] for row in questions()]
        assert [item.answer for item in read_items(pl.DataFrame(rows)).items] == expected
        path = tmp_path / "test.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert [item.answer for item in read_items(path).items] == expected


class TestVerdicts:
    @pytest.mark.parametrize(("n", "verdict"), [(0, "sound"), (2, "sound"), (8, "caution"), (60, "unsound")])
    def test_by_the_share_of_items_with_their_answers(self, n: int, verdict: str, tmp_path: Path) -> None:
        rows = questions()
        copies = [f"{row['question']} Answer: {row['answer']}" for row in rows[:n]]
        found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *copies]))
        assert (found["n_found"], found["share"], word(report)) == (n, n / N, verdict)
        for said in (report.to_markdown(), stated_by(report.verdicts["overlap"])):
            assert "other orders of words are not looked for" in said

    @pytest.mark.parametrize(("n", "verdict"), [(8, "sound"), (60, "caution"), (400, "caution")])
    def test_questions_without_their_answers_do_not_count_and_are_not_sound(
        self, n: int, verdict: str, tmp_path: Path
    ) -> None:
        rows = questions()
        texts = [*other_texts(), *(row["question"] for row in rows[:n])]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], word(report)) == (0, verdict)
        assert found["question_only"] == n / N
        assert f"{n} more" in stated_by(report.verdicts["overlap"])
        # A gate that accepts 5 % does not accept so many questions, whose answers may stand elsewhere.
        at_most = report.verdicts["overlap"]["at_most"]
        assert at_most >= n / N if verdict == "caution" else at_most < 0.05

    @pytest.mark.parametrize(("n", "verdict"), [(8, "sound"), (60, "caution")])
    def test_copies_that_were_cut_are_not_sound(self, n: int, verdict: str, tmp_path: Path) -> None:
        """No document has 80 % of a question: each has one half of it, or every second line is in other words."""
        rows = [{**row, "question": f"{row['question']} {row['answer']}"} for row in questions()]
        rows = [row for row in rows if len(row["question"].split()) >= 30]
        texts = list(other_texts())
        for row in rows[:n]:
            words = row["question"].split()
            texts += [" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], found["question_only"], word(report)) == (0, 0.0, verdict)
        assert ("copies that were cut" in stated_by(report.verdicts["overlap"])) == (verdict == "caution")

    @pytest.mark.parametrize("size", [5, 7, 12, 14])
    @pytest.mark.parametrize(("n", "verdict"), [(8, "sound"), (60, "caution")])
    def test_copies_that_were_cut_into_rows_are_not_sound(
        self, size: int, n: int, verdict: str, tmp_path: Path
    ) -> None:
        """Rows that are too short for an n-gram hold an item together."""
        rows = questions()
        words = [f"{row['question']} {row['answer']}".split() for row in rows[:n]]
        cut = [" ".join(each[at : at + size]) for each in words for at in range(0, len(each), size)]
        path = written(tmp_path / "c.jsonl", [*other_texts(), *cut])
        found, report = measured(rows, path)
        assert (found["n_found"], word(report)) == (0, verdict)
        assert (report.tables["overlap_items"]["union"] > 0.8).sum() == n

    def test_a_corpus_of_short_rows_without_copies_is_sound(self, tmp_path: Path) -> None:
        rng = random.Random(5)
        texts = [sentence(rng, rng.randint(1, 9)) for _ in range(3000)]
        assert word(measured(questions(), written(tmp_path / "c.jsonl", texts))[1]) == "sound"

    def test_parts_of_answers_are_not_sound(self, tmp_path: Path) -> None:
        """Lines of which some hold a part of the answer and none 20 % of the question."""
        rng = random.Random(7)
        rows = [{"question": sentence(rng, 14), "answer": sentence(rng, 40)} for _ in range(200)]
        texts = [" ".join(row["answer"].split()[:20]) for row in rows]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], found["question_only"], word(report)) == (0, 0.0, "caution")

    @pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.csv", "c.parquet"])
    def test_copies_in_a_column_that_is_not_read_are_not_sound(self, name: str, tmp_path: Path) -> None:
        rows, path = questions(), tmp_path / name
        notes = [f"{row['question']} {row['answer']}" for row in rows]
        frame = pl.DataFrame({"text": other_texts(len(rows)), "url": "a.example/1", "note": notes})
        if name.endswith(".parquet"):
            frame.write_parquet(path)
        elif name.endswith(".csv"):
            frame.write_csv(path)
        else:
            lines = frame.write_ndjson().encode()
            path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
        found, report = measured(rows, path)
        assert (found["n_found"], word(report)) == (0, "unresolved")
        assert "'note' were not read; field='text+note'" in stated_by(report.verdicts["overlap"])
        assert word(measured(rows, path, field="text+note")[1]) == "unsound"

    def test_nor_are_they_in_a_column_of_bytes(self, tmp_path: Path) -> None:
        rows, path = questions(), tmp_path / "c.parquet"
        notes = [f"{row['question']} {row['answer']}".encode() for row in rows]
        pl.DataFrame(
            {"text": other_texts(len(rows)), "note": notes, "picture": [b"\xff a b c d e f g h i"] * N}
        ).write_parquet(path)
        assert says(measured(rows, path)[1].verdicts["overlap"]["next_step"], "field='text+note': ")
        assert word(measured(rows, path, field="text+note")[1]) == "unsound"

    @pytest.mark.parametrize("name", ["c.csv", "c.jsonl"])
    def test_answers_are_read_behind_their_questions(self, name: str, tmp_path: Path) -> None:
        rows, path = questions(), tmp_path / name
        frame = pl.DataFrame(
            {
                "solution": [row["answer"] + " so it is, and no more of it" for row in rows],
                "problem": [row["question"] for row in rows],
            }
        )
        if name == "c.csv":
            frame.write_csv(path)
        else:
            frame.with_columns(text=pl.lit("a text")).write_ndjson(path)
            found, report = measured(rows, path)
            assert (found["n_found"], "field='text+problem+solution'" in str(report.verdicts)) == (0, True)
        fields = {} if name == "c.csv" else {"field": "text+problem+solution"}
        assert measured(rows, path, **fields)[0]["n_found"] == N

    def test_columns_without_a_usual_name_are_named(self, tmp_path: Path) -> None:
        path = tmp_path / "c.parquet"
        pl.DataFrame({"id": ["a"], "body": other_texts(1), "note": other_texts(1)}).write_parquet(path)
        with pytest.raises(InputError, match=r"field='body\+note'"):
            measured(questions(), path)

    @pytest.mark.parametrize(("n", "verdict"), [(2, "sound"), (30, "unresolved")])
    @pytest.mark.parametrize("name", ["c.jsonl", "c.csv", "c.parquet"])
    def test_nor_are_such_copies_far_behind_the_first_rows(
        self, n: int, verdict: str, name: str, tmp_path: Path
    ) -> None:
        """In a hundredth of the rows, as where files of other sources were put together."""
        notes = [f"{row['question']} {row['answer']}" for row in questions()[:n]]
        frame = pl.DataFrame({"text": other_texts(3000), "note": [*[""] * 2900, *notes, *[""] * (100 - n)]})
        (frame.write_ndjson if "json" in name else frame.write_csv if "csv" in name else frame.write_parquet)(
            tmp_path / name
        )
        _, report = measured(questions(), tmp_path / name)
        assert word(report) == verdict
        assert states(report.to_markdown(), "'note' were not read")

    @pytest.mark.parametrize("name", ["c.csv", "c.parquet", "c.jsonl", "c.txt"])
    def test_numbers_are_no_corpus(self, name: str, tmp_path: Path) -> None:
        for text in ("a", "text"):
            frame = pl.DataFrame({text: [str(each / 7) for each in range(50)], "b": range(50)})
            if name == "c.parquet":
                frame.write_parquet(tmp_path / name)
            elif name == "c.jsonl":
                frame.write_ndjson(tmp_path / name)
            else:
                frame.write_csv(tmp_path / name, include_header=name == "c.csv")
            with pytest.raises(InputError, match=r"c\.\w+: .*(has letters|no text in 'text')"):
                measured(questions(), tmp_path / name)
        # Letters within words count as well.
        coded = [{"question": " ".join(f"w{at + 7 * each}" for each in range(20)), "answer": "w1"} for at in range(60)]
        with pytest.raises(InputError, match=r"has letters|no text in"):
            measured(coded, tmp_path / name)
        sums = [
            {"question": f"{at} + {at * 7} * {at + 3} - {at * 11} + 1 - 2 + 3 =", "answer": str(at)} for at in range(60)
        ]
        texts = [f"{row['question']} {row['answer']}" for row in sums]
        assert word(measured(sums, written(tmp_path / "c.jsonl", texts))[1]) == "unsound"

    def test_numbers_beside_words_are_read(self, tmp_path: Path) -> None:
        rows = [{"question": row["question"], "answer": str(at)} for at, row in enumerate(questions())]
        pl.DataFrame(rows).rename({"question": "a", "answer": "b"}).write_csv(tmp_path / "c.csv")
        assert word(measured(rows, tmp_path / "c.csv")[1]) == "unsound"

    def test_what_the_text_holds_as_well_is_read(self, tmp_path: Path) -> None:
        """A prompt beside the conversation that begins with it, and words too few to hold an item."""
        texts = other_texts()
        rows = [
            {"text": text, "prompt": " ".join(text.split()[:10]), "title": "a title of five words"} for text in texts
        ]
        (tmp_path / "c.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        assert word(measured(questions(), tmp_path / "c.jsonl")[1]) == "sound"

    def test_one_is_not_many(self, tmp_path: Path) -> None:
        rows = questions()
        texts = [*other_texts(), f"{rows[0]['question']} {rows[0]['answer']}", ""]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert report.verdicts["overlap"]["evidence"].startswith("1 of 400 items is in the corpus")
        assert "1 document has no text, and is left out." in found["notes"]

    def test_mirrors_of_a_test_set_do_not_make_it_clean(self, tmp_path: Path) -> None:
        rows = questions(40)
        texts = [f"{row['question']} {row['answer']}" for row in rows] * 30
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], word(report)) == (40, "unsound")

    def test_a_frame_around_each_question_does_not_count(self, tmp_path: Path) -> None:
        rng = random.Random(5)
        frame = sentence(rng, 60)
        rows = [{"question": f"{frame} {row['question']}", "answer": row["answer"]} for row in questions(200)]
        found, report = measured(rows, written(tmp_path / "c.jsonl", [frame] * 5))
        # Documents that have the questions without the frame would not be found.
        assert (found["coverage"], word(report)) == (0.0, "unresolved")
        assert found["n_boilerplate"] > 0

    def test_a_corpus_of_shuffled_words_has_nothing(self, tmp_path: Path) -> None:
        """Negative control."""
        rng = random.Random(0)
        texts = []
        for row in questions() * 5:
            words = f"{row['question']} {row['answer']}".split()
            rng.shuffle(words)
            texts.append(" ".join(words))
        found, report = measured(questions(), written(tmp_path / "c.jsonl", texts), n=8)
        assert (found["coverage"], found["union"], word(report)) == (0.0, 0.0, "sound")

    def test_a_search_that_passes_over_its_own_items_cannot_be_called_sound(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Positive control: a filter that lets nothing pass finds no copy, and says no word of it."""
        monkeypatch.setattr(ngram_search, "fill_filter", lambda *_: None)
        rows = questions()
        texts = [f"{row['question']} {row['answer']}" for row in rows]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], word(report)) == (0, "unresolved")
        assert "does not find 100 of the items in themselves" in stated_by(report.verdicts["overlap"])

    def test_few_items_cannot_be_called_sound(self, tmp_path: Path) -> None:
        _, report = measured(questions(15), written(tmp_path / "c.jsonl", other_texts()))
        assert word(report) == "unresolved"

    def test_short_items_cannot_be_called_sound(self, tmp_path: Path) -> None:
        rows = [*questions(380), *({"question": f"what is {at}", "answer": f"{at}"} for at in range(21))]
        found, report = measured(rows, written(tmp_path / "c.jsonl", other_texts()))
        assert (found["n_searched"], word(report)) == (401, "unresolved")
        assert states(stated_by(report.verdicts["overlap"]), "21 of 401 items", "fewer than 8 words", "equal")

    def test_what_is_not_read_cannot_be_called_sound(self, tmp_path: Path) -> None:
        path = written(tmp_path / "c.jsonl", other_texts())
        path.write_bytes(path.read_bytes() + b"{broken\n")
        with pytest.raises(InputError, match=in_order("c.jsonl:", "1 line", "line 301", "skip_broken")) as raised:
            goldassay.measure_overlap(questions(), path)
        assert raised.value.report.to_dict()["overlap"]["n_broken_lines"] == 1
        found, report = measured(questions(), path, skip_broken=True)
        assert (found["n_broken_lines"], word(report)) == (1, "unresolved")
        path.write_text("".join(json.dumps({"text": text} if at % 5 else {"t": text}) + "\n"
                                for at, text in enumerate(other_texts())))  # fmt: skip
        _, report = measured(questions(), path)
        assert word(report) == "unresolved"
        rows = [{"text": text if at % 5 else "", "body": text} for at, text in enumerate(other_texts())]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        _, report = measured(questions(), path)
        assert word(report) == "unresolved"
        assert "have no text" in stated_by(report.verdicts["overlap"])
        path.write_text("".join(json.dumps({**row, "body": "none"}) + "\n" for row in rows))
        found, report = measured(questions(), path)
        assert (word(report), found["n_documents"]) == ("sound", 240)
        assert "60 documents have no text, and are left out." in found["notes"]

    def test_a_table_in_memory_is_a_corpus(self) -> None:
        rows = questions()
        found, report = measured(pl.DataFrame(rows), pl.DataFrame(rows[:40]))
        assert (found["n_found"], found["corpus"], word(report)) == (40, "corpus.arrow", "unsound")
        found, _ = measured(rows, [pl.DataFrame(rows[:10]), pl.DataFrame(rows[5:30])])
        assert (found["n_found"], found["corpus"]) == (30, "2 files")

    @pytest.mark.parametrize("name", ["c.jsonl", "c.txt", "c.txt.gz"])
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "noise"])
    def test_what_is_no_utf8_cannot_be_called_sound(self, name: str, encoding: str, tmp_path: Path) -> None:
        rows = questions()
        texts = [f"{row['question']} {row['answer']}" for row in rows]
        lines = [json.dumps({"text": text}) for text in texts] if name == "c.jsonl" else texts
        content = random.Random(0).randbytes(5000) if encoding == "noise" else "\n".join(lines).encode(encoding)
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(InputError, match=rf"{name}: .*it is no UTF-8"):
            goldassay.measure_overlap(rows, tmp_path / name)
        written(tmp_path / "other.jsonl", other_texts())
        _, report = measured(rows, tmp_path, skip_broken=True)
        assert word(report) == "unresolved"

    def test_accents_in_another_encoding_cannot_be_called_sound(self, tmp_path: Path) -> None:
        rows = [{key: value.replace("a", "à") for key, value in row.items()} for row in questions()]
        text = "\n".join(f"{row['question']} {row['answer']}" for row in rows)
        (tmp_path / "c.txt").write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=r"c.txt: .*it is no UTF-8"):
            goldassay.measure_overlap(rows, tmp_path / "c.txt")
        # A single byte of another encoding is passed over.
        (tmp_path / "c.txt").write_bytes(text.encode() + b" caf\xe9")
        _, report = measured(rows, tmp_path / "c.txt")
        assert word(report) == "unsound"

    def test_questions_that_are_mostly_common_words_cannot_be_called_sound(self, tmp_path: Path) -> None:
        """A harness logs each item behind the same instruction, and the corpus has the items alone."""
        rows = questions()
        written(tmp_path / "c.jsonl", [f"{row['question']} {row['answer']}" for row in rows])
        frame = " ".join(f"instruction{at}" for at in range(200))
        framed = [{**row, "question": f"{frame} {row['question']}"} for row in rows]
        _, report = measured(framed, tmp_path / "c.jsonl")
        assert word(report) != "sound"
        assert word(measured(rows, tmp_path / "c.jsonl")[1]) == "unsound"
        written(tmp_path / "other.jsonl", other_texts())
        _, report = measured(framed, tmp_path / "other.jsonl")
        assert word(report) == "unresolved"
        assert "are in many items, as an instruction" in stated_by(report.verdicts["overlap"])
        assert word(measured(rows, tmp_path / "other.jsonl")[1]) == "sound"

    def test_a_folder_of_other_files_cannot_be_called_sound(self, tmp_path: Path) -> None:
        (tmp_path / "corpus").mkdir()
        written(tmp_path / "corpus" / "a.jsonl", other_texts())
        (tmp_path / "corpus" / "b.html").write_text("text\n" + "word " * 10_000)
        _, report = measured(questions(), tmp_path / "corpus")
        assert word(report) == "unresolved"

    @pytest.mark.parametrize(("name", "n", "verdict"), [("a.csv", 400, "unsound"), ("a.csv", 2, "sound"),
        ("a.html", 400, "unresolved"), ("a.csv.gz", 400, "unsound"), ("a.png", 400, "sound"),
        ("a.jsonl.bak", 400, "unresolved"), ("a.txt~", 400, "unresolved"), ("a.log", 400, "unresolved"),
        ("a.lz4", 120, "unresolved"), ("a.db", 400, "unresolved"), ("a.rst", 2, "sound"),
        (".a.md5", 400, "sound")])  # fmt: skip
    def test_a_small_table_may_hold_the_test_set(self, name: str, n: int, verdict: str, tmp_path: Path) -> None:
        """It is less than 5 % of the folder, and more than 5 % of the test set."""
        folder = tmp_path / "corpus"
        folder.mkdir()
        written(folder / "a.jsonl", other_texts() * 30)
        rows = questions()
        table = "".join(f"{row['question']},{row['answer']}\n" for row in rows[:n]).encode()
        table = b"\x04\x22\x4d\x18\xff" + table[: len(table) // 4] if name.endswith("lz4") else table
        (folder / name).write_bytes(gzip.compress(table) if name.endswith(".gz") else table)
        report = measured(rows, folder)[1]
        assert word(report) == verdict
        assert (f"corpus/{name} is not searched" in stated_by(report.verdicts["overlap"])) == (verdict == "unresolved")

    def test_what_has_two_names_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "corpus").mkdir()
        written(tmp_path / "corpus" / "a.jsonl", other_texts())
        (tmp_path / "corpus" / "b.jsonl").symlink_to("a.jsonl")
        found, report = measured(questions(), tmp_path / "corpus")
        assert (found["n_documents"], word(report)) == (300, "sound")
        assert states(found["notes"], "corpus/b.jsonl", "another name", "not read again")

    @pytest.mark.parametrize(
        ("other", "n", "verdict"),
        [
            (lambda text: {"body": [{"content": text}]}, 400, "unresolved"),
            (lambda text: {"text": [1], "body": text}, 400, "unresolved"),
            (lambda text: {"text": "", "url": text}, 400, "unresolved"),
            (lambda text: {"body": text}, 2, "sound"),
        ],
        ids=["list", "numbers", "empty", "few"],
    )
    def test_lines_of_other_fields_may_hold_the_test_set(
        self, other: Any, n: int, verdict: str, tmp_path: Path
    ) -> None:
        """They are less than 5 % of the documents, and more than 5 % of the test set."""
        path = written(tmp_path / "a.jsonl", other_texts() * 30)
        rows = [json.dumps(other(f"{row['question']} {row['answer']}")) for row in questions()[:n]]
        path.write_text(path.read_text() + "".join(f"{row}\n" for row in rows))
        report = measured(questions(), path)[1]
        assert word(report) == verdict
        said = stated_by(report.verdicts["overlap"])
        reasons = f"{n} documents have no text in the fields", "'url' were not read"
        assert any(reason in said for reason in reasons) == (verdict != "sound")

    @pytest.mark.parametrize("form", ["jsonl", "parquet"])
    def test_a_field_that_no_document_has_is_refused(self, form: str, tmp_path: Path) -> None:
        """A slip in one of several names leaves out the field that has the copies."""
        rows = questions()
        path = tmp_path / f"c.{form}"
        frame = pl.DataFrame([{"text": text, **row} for text, row in zip(other_texts(), rows, strict=False)])
        frame.write_parquet(path) if form == "parquet" else frame.write_ndjson(path)
        for field, slip in (("text+qestion+anwser", "'qestion' or 'anwser'"), ("text+nothing", "'nothing'")):
            said = f"no document has {slip}; the fields are 'text', 'question', 'answer'"
            with pytest.raises(InputError, match=rf"field: {said}"):
                measured(rows, path, field=field)
            report = measured(rows, path, field=field, skip_broken=True)[1]
            assert word(report) == "unresolved"
            assert f"{said[1:]}." in stated_by(report.verdicts["overlap"])
        assert word(measured(rows, path, field="text+question+answer")[1]) == "unsound"

    def test_a_field_that_some_documents_have_is_read_there(self, tmp_path: Path) -> None:
        rows, folder = questions(), tmp_path / "corpus"
        folder.mkdir()
        written(folder / "a.jsonl", other_texts())
        pl.DataFrame(rows[:100]).write_parquet(folder / "b.parquet")
        (folder / "c.txt").write_text("No fields at all.")
        found, report = measured(rows, folder, field="text+question+answer")
        assert (found["n_found"], word(report)) == (100, "unsound")
        shares = "'text' 75.0\xa0%, 'question' 25.0\xa0%, 'answer' 25.0\xa0%"
        assert f"The share of documents that have a field: {shares}." in found["notes"]

    def test_rows_without_text_cannot_be_called_sound(self, tmp_path: Path) -> None:
        folder = tmp_path / "corpus"
        folder.mkdir()
        written(folder / "a.jsonl", other_texts() * 30)
        texts = [f"{row['question']} {row['answer']}" for row in questions()]
        frame = pl.DataFrame({"text": [None] * N, "content": texts}, schema={"text": pl.String, "content": pl.String})
        frame.write_parquet(folder / "b.parquet")
        with pytest.raises(InputError, match=r"b.parquet: no line has text in 'text'"):
            measured(questions(), folder)
        found, report = measured(questions(), folder, skip_broken=True)
        assert (found["n_documents"], word(report)) == (9000, "unresolved")
        assert "400 documents have no text, and are left out." in found["notes"]

    def test_limits_can_be_set(self, tmp_path: Path) -> None:
        rows = questions()
        path = written(tmp_path / "c.jsonl", [f"{row['question']} {row['answer']}" for row in rows[:8]])
        settings = parse_settings({"verdicts": {"overlap": {"unsound": 0.005}}})
        _, report = measured(rows, path, settings=settings)
        assert word(report) == "unsound"
        assert "unsound = 0.005" in report.verdicts["overlap"]["limits"]
        assert word(measured(rows, path, settings=Settings())[1]) == "caution"


def by_word(form: str) -> Any:
    return lambda text: " ".join(form.replace("X", each) for each in text.split())


def hyphened(text: str) -> str:
    """Lines of about six words, of which each ends within a word, as in a page that was printed."""
    words = text.split()
    words[5::6] = [f"{word[:2]}-\n{word[2:]}" if len(word) > 3 else word for word in words[5::6]]
    return " ".join(words)


class TestForms:
    """The whole test set stands in the corpus, as pages, feeds, repositories and printed pages have it."""

    @pytest.mark.parametrize(
        "form",
        [
            by_word("<span class=y id=z>X</span>"),
            by_word("<!-- no -->X<!-- yes -->"),
            by_word("[X](https://a.org/w/X_(y) \"X\")"),
            by_word("**_X_**"),
            by_word("\\textbf{X}"),
            lambda text: "\u200b".join(text.split()),
            lambda text: "\u200b".join(text),
            by_word("\u00adX\ufeff"),
            hyphened,
            lambda text: json.dumps({"a": "\n".join(text.split())}),
            lambda text: json.dumps({"a": json.dumps({"b": "\t".join(text.split())})}),
            lambda text: html.escape(html.escape("&nbsp;".join(text.split()))),
        ],
        ids=[
            "tags", "comments", "links", "emphasis", "latex", "zero width alone", "zero width within", "soft hyphens",
            "hyphens", "json", "json in json", "feed",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("near", [False, True])
    def test_are_found(self, form: Any, near: bool, tmp_path: Path) -> None:
        rows = questions(60)
        texts = [form(f"{row['question']} {row['answer']}") for row in rows]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts), near_copies=near)
        assert (found["n_found"], word(report)) == (60, "unsound")
        path = tmp_path / "c.parquet"
        pl.DataFrame({"text": texts}).write_parquet(path)
        assert measured(rows, path)[0]["n_found"] == 60

    def test_letters_as_entities(self, tmp_path: Path) -> None:
        rows = [{key: text.replace("o", "\u00e9") for key, text in row.items()} for row in questions(60)]
        for entity in ("&eacute;", "&#233;", "&#xE9;", "\\u00e9"):
            texts = [f"{row['question']} {row['answer']}".replace("\u00e9", entity) for row in rows]
            assert measured(rows, written(tmp_path / "c.jsonl", texts))[0]["n_found"] == 60

    def test_items_that_may_be_read_in_two_ways(self, tmp_path: Path) -> None:
        rows = questions(60)
        joined = [{key: "\u200b".join(text.split()) for key, text in row.items()} for row in rows]
        plain = [f"{row['question']} {row['answer']}" for row in rows]
        for texts in (plain, [f"{row['question']} {row['answer']}" for row in joined]):
            assert measured(joined, written(tmp_path / "c.jsonl", texts))[0]["n_found"] == 60

    @pytest.mark.parametrize("other", ['"text": "no"', '"text": null', '"te\\u0078t": "no"'])
    @pytest.mark.parametrize("is_first", [False, True])
    def test_a_key_that_stands_twice(self, other: str, is_first: bool, tmp_path: Path) -> None:
        """One reader takes the first, another one the last."""
        rows = questions(60)
        path = tmp_path / "c.jsonl"
        texts = [json.dumps(f"{row['question']} {row['answer']}") for row in rows]
        lines = [(f'"text": {text}', other) for text in texts]
        path.write_text("".join(f"{{{', '.join(pair[::-1] if is_first else pair)}}}\n" for pair in lines))
        assert measured(rows, path)[0]["n_found"] == 60

    @pytest.mark.parametrize(
        ("form", "verdict"),
        [
            (lambda text: "".join(text.split()), "sound"),
            (by_word("X 00:00:01"), "sound"),
            (by_word("\\mycommand{X}"), "sound"),
            (by_word("<a b c>X</a>"), "sound"),
            (by_word("&lt;b&gt;X&lt;/b&gt;"), "sound"),
            (by_word("[b]X[/b]"), "sound"),
            (by_word("\x1b[1mX\x1b[0m"), "sound"),
            (lambda text: " ".join("".join(text.split(" "))), "sound"),
            (lambda text: base64.b64encode(text.encode()).decode(), "sound"),
            (lambda text: " ".join(f"{'A: ' * (at % 11 == 0)}{each}" for at, each in enumerate(text.split())), "sound"),
        ],
        ids=[
            "no spaces", "times", "commands", "bare attributes", "escaped tags", "bbcode", "colors", "letters",
            "base64", "lines of 11 words",
        ],
    )  # fmt: skip
    def test_that_hide_a_copy_are_named(self, form: Any, verdict: str, tmp_path: Path) -> None:
        """The page on overlap says so."""
        rows = questions(100)
        texts = [form(f"{row['question']} {row['answer']}") for row in rows]
        assert word(measured(rows, written(tmp_path / "c.jsonl", texts))[1]) == verdict


def test_the_test_file_in_its_own_folder_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps({**row, "text": row["question"]}) + "\n" for row in questions()))
    written(tmp_path / "c.jsonl", other_texts())
    found, report = measured(path, tmp_path)
    assert (found["n_found"], word(report)) == (0, "sound")
    assert any("is the test set itself" in note for note in found["notes"])


class TestKindsOfSets:
    def test_items_with_choices(self, tmp_path: Path) -> None:
        rng = random.Random(3)
        rows = [
            {"question": sentence(rng, 20), "choices": [sentence(rng, 4) for _ in range(4)], "answer": at % 4}
            for at in range(60)
        ]
        lettered = [
            f"{row['question']}\n" + "\n".join(f"{'ABCD'[at]}. {text}" for at, text in enumerate(row["choices"]))
            for row in rows[:20]
        ]
        right = [f"{row['question']} {row['choices'][row['answer']]}" for row in rows[20:40]]
        wrong = [f"{row['question']} {row['choices'][(row['answer'] + 1) % 4]}" for row in rows[40:50]]
        found, _ = measured(rows, written(tmp_path / "c.jsonl", [*lettered, *right, *wrong]))
        kinds = {row["kind"]: row["n"] for row in found["kinds"] if row["n"]}
        assert kinds == {
            "question and answer": 20,
            "choices without the right key": 20,
            "question only": 10,
            "none": 10,
        }

    @pytest.mark.parametrize(
        ("asked", "right", "names"),
        [
            (("premise", "question"), "premise choice", "choice1 choice2"),
            (("premise", "ask-for"), "premise choice", "hypothesis1 hypothesis2"),
            (("context", "question"), "context choice", "choice1 choice2"),
            (("obs1", "obs2"), "obs1 choice obs2", "hyp1 hyp2"),
            (("obs1", "obs2"), "obs1 obs2 choice", "hyp1 hyp2"),
            (("ctx_a", "ctx_b"), "ctx_a ctx_b choice", "ending0 ending1"),
            (
                tuple(f"input_sentence_{number}" for number in range(1, 5)),
                " ".join(f"input_sentence_{number}" for number in range(1, 5)) + " choice",
                "sentence_quiz1 sentence_quiz2",
            ),
        ],
    )
    def test_copies_of_a_text_with_the_right_choice(
        self, asked: tuple[str, ...], right: str, names: str, tmp_path: Path
    ) -> None:
        """Where a column has the kind of question alone, the text of another one is sought."""
        rng = random.Random(8)
        first, second = names.split()
        n_first = 0 if first == "ending0" else 1
        rows = []
        for at in range(60):
            row: dict[str, Any] = {name: f"{sentence(rng, 8).capitalize()}." for name in asked}
            if asked[1] in ("question", "ask-for"):
                row[asked[1]] = ("cause", "effect")[at // 2 % 2]
            row |= {first: sentence(rng, 5), second: sentence(rng, 5)}
            answer = "answer_right_ending" if "quiz" in first else "label"
            rows.append(row | {answer: at % 2 + n_first})
        filled = [row | {"choice": row[(first, second)[at % 2]]} for at, row in enumerate(rows[:40])]
        copies = [" ".join([*other_texts(1), *(row[name] for name in right.split())]) for row in filled]
        found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *copies]))
        assert (found["n_found"], word(report)) == (40, "unsound")

    def test_pairs_count_as_a_whole(self, tmp_path: Path) -> None:
        rng = random.Random(4)
        rows = [
            {"premise": sentence(rng, 15), "hypothesis": sentence(rng, 9), "label": ("yes", "no")[at % 2]}
            for at in range(60)
        ]
        whole = [f"{row['premise']} {row['hypothesis']}" for row in rows[:20]]
        part = [row["premise"] for row in rows[20:40]]
        apart = [f"{row['hypothesis']} zz {row['premise']}" for row in rows[40:50]]
        found, _ = measured(rows, written(tmp_path / "c.jsonl", [*whole, *part, *apart]))
        kinds = {row["kind"]: row["n"] for row in found["kinds"] if row["n"]}
        assert kinds["whole item"] == 20
        assert kinds["one part"] == 30

    def test_pairs_written_with_words_between_are_not_sound(self, tmp_path: Path) -> None:
        rng = random.Random(5)
        rows = [
            {"premise": sentence(rng, 11), "hypothesis": sentence(rng, 7), "label": ("yes", "no")[at % 2]}
            for at in range(200)
        ]
        posed = [f"Premise: {row['premise']} Hypothesis: {row['hypothesis']}" for row in rows]
        report = measured(rows, written(tmp_path / "c.jsonl", posed))[1]
        assert word(report) == "caution"
        assert "between their parts" in stated_by(report.verdicts["overlap"])
        # Nothing was found that could be left out.
        assert report.verdicts["overlap"]["next_step"].startswith("Read the items")
        # A premise of five items says nothing of any one of them.
        shared = [row | {"premise": rows[at // 5]["premise"]} for at, row in enumerate(rows)]
        report = measured(shared, tmp_path / "c.jsonl")[1]
        assert "between their parts" not in stated_by(report.verdicts["overlap"])

    def test_a_long_premise_alone_is_not_the_item(self, tmp_path: Path) -> None:
        rng = random.Random(6)
        rows = [
            {"premise": sentence(rng, 90), "hypothesis": sentence(rng, 9), "label": ("yes", "no")[at % 2]}
            for at in range(60)
        ]
        texts = [*(row["premise"] for row in rows[:30]), *(f"{row['premise']} {row['hypothesis']}" for row in rows[:3])]
        found, _ = measured(rows, written(tmp_path / "c.jsonl", texts))
        kinds = {row["kind"]: row["n"] for row in found["kinds"] if row["n"]}
        assert kinds == {"whole item": 3, "one part": 27, "none": 30}
        posed = [{"passage": row["premise"], "question": row["hypothesis"], "answer": "yes"} for row in rows]
        found, _ = measured(posed, tmp_path / "c.jsonl")
        assert found["n_found"] == 3

    def test_empty_answers_are_said_to_be(self) -> None:
        items = read_items([{"question": row["question"], "answers": [""]} for row in questions(30)])
        assert items.decisions == (says("column 'question'", "for the question", "'answers' is empty"),)

    def test_roles_that_are_named(self) -> None:
        rows = [{"q": row["question"], "a": row["answer"], "about": f"x y z {at // 3}", "k": f"i{at}"}
                for at, row in enumerate(questions(30))]  # fmt: skip
        items = read_items(pl.DataFrame(rows), "question=q,answer=a,passage=about,id=k")
        assert items.items[3].id == "i3"
        assert items.items[3].parts == (("passage", "x y z 1"), ("question", rows[3]["q"]))
        assert items.items[3].answer == rows[3]["a"]
        assert items.clusters.n_clusters == 10
        with pytest.raises(InputError, match="column 'nope': there is no such column"):
            read_items(pl.DataFrame(rows), "question=nope")

    def test_classes_are_no_answers(self) -> None:
        rows = [{"question": row["question"], "answer": ["yes", "no"][at % 2]} for at, row in enumerate(questions(60))]
        assert {item.answer for item in read_items(rows).items} == {""}


def test_the_page_shows_the_worst_beside_the_place(tmp_path: Path) -> None:
    rows = questions(60)
    texts = [*other_texts(10), f"Before. {rows[7]['question'].upper()} {rows[7]['answer']} After."]
    found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
    (worst,) = found["worst"]
    assert (worst["item"], worst["place"], worst["coverage"]) == ("7", "c.jsonl, row 11", 1.0)
    begin, end = worst["excerpt_marks"][0]
    assert worst["excerpt"][begin:end] == worst["text"]
    assert worst["marks"] == [[0, len(worst["text"])]]
    report.save(tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "c.jsonl, row 11" in page
    assert "Was the test set seen in training?" in page
    assert pl.read_parquet(tmp_path / "report" / "tables" / "overlap_items.parquet").height == 60


def test_the_bars_are_the_classes(tmp_path: Path) -> None:
    """Clean, partial and dirty items lie between the same borders as the bars; those of no coverage have their own."""
    rows = questions()
    texts = [f"{row['question']} {row['answer']}" for row in rows[:30]]
    texts += [" ".join(row["question"].split()[:14]) for row in rows[30:90]]
    found, _ = measured(rows, written(tmp_path / "c.jsonl", texts))
    bars = {bar["of"]: bar["n"] for bar in found["histogram"]}
    assert list(bars) == ["nothing", "up to 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 to 100 %"]
    assert bars["nothing"] + bars["up to 20 %"] == round(found["clean"] * N)
    assert sum(list(bars.values())[2:5]) == round(found["partial"] * N) > 0
    assert bars["80 to 100 %"] == round(found["dirty"] * N) >= 30


def choices(n: int = 200) -> list[dict[str, Any]]:
    rng = random.Random(11)
    return [
        {"question": sentence(rng, 16), "choices": [sentence(rng, 1) for _ in range(4)], "answer": rng.randrange(4)}
        for _ in range(n)
    ]


def listed(row: dict[str, Any]) -> str:
    return f"{row['question']}\n" + "\n".join(f"{'ABCD'[at]}. {text}" for at, text in enumerate(row["choices"]))


class TestControl:
    """What is found of right answers counts beyond what is found of others in the same place."""

    @pytest.mark.parametrize("n_wrong", [0, 1, 3])
    def test_wrong_choices_behind_the_question(self, n_wrong: int, tmp_path: Path) -> None:
        rows = choices()
        texts = [
            f"{row['question']} Answer: {row['choices'][(row['answer'] + step) % 4]}"
            for row in rows for step in range(n_wrong + 1)
        ]  # fmt: skip
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        control = report.tables["overlap_items"]["control"].mean()
        assert (found["n_found"], found["control"]) == (200, pytest.approx(control))
        assert found["control"] == pytest.approx(n_wrong / 3, abs=0.05)
        assert word(report) == ("unsound" if n_wrong == 0 else "caution")
        figures = {row["id"]: row["value"] for row in report.to_dict()["figures"]}
        assert figures["overlap.control"] == found["control"]
        assert figures["overlap.excess"] == found["excess"] == pytest.approx(float(n_wrong < 3), abs=0.01)
        assert f"{found['control']:.1%}".rstrip("%") in stated_by(report.verdicts["overlap"])

    @pytest.mark.parametrize("key", ["Answer: {label}", "{label}", "The correct answer is ({label})", "Key: {text}"])
    def test_lists_of_choices_count_where_a_key_names_the_right_one(self, key: str, tmp_path: Path) -> None:
        rows = choices()
        for step, expected in ((0, (200, 0.0, "unsound")), (1, (0, 1 / 3, "unresolved"))):
            texts = []
            for row in rows:
                at = (row["answer"] + step) % 4
                texts.append(f"{listed(row)}\n" + key.format(label="ABCD"[at], text=row["choices"][at]))
            found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
            n_found, control, verdict = expected
            assert found["n_found"] == pytest.approx(n_found, abs=4)
            assert found["control"] == pytest.approx(control, abs=0.02)
            assert word(report) in (verdict, "caution") if step else word(report) == verdict

    @pytest.mark.parametrize(("n", "verdict"), [(0, "sound"), (8, "caution"), (200, "caution")])
    def test_lists_of_choices_without_a_key_are_a_caution(self, n: int, verdict: str, tmp_path: Path) -> None:
        rows = choices()
        found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *map(listed, rows[:n])]))
        assert (found["n_found"], found["listed"], word(report)) == (0, n / 200, verdict)
        assert report.verdicts["overlap"]["at_most"] >= n / 200

    def test_answers_of_other_items_behind_the_question(self, tmp_path: Path) -> None:
        """A page that has each question with a list of all answers identifies none."""
        rng = random.Random(12)
        words = [f"{a}{b}" for a in "bcdfg" for b in ("un", "in", "on", "an", "en", "ul", "il", "ol")]
        rows = [{"question": sentence(rng, 20), "answer": answer} for answer in words]
        texts = [f"{row['question']} {' '.join(words)}" for row in rows]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], found["control"], word(report)) == (40, 1.0, "caution")
        assert found["excess"] == 0.0

    def test_wrong_choices_in_a_blank(self, tmp_path: Path) -> None:
        rng = random.Random(8)
        rows = [
            {"question": f"{sentence(rng, 15)} _ {sentence(rng, 15)}.", "choices": [sentence(rng, 1), sentence(rng, 2)],
             "answer": at % 2}
            for at in range(60)
        ]  # fmt: skip
        texts = [row["question"].replace("_", text) for row in rows for text in row["choices"]]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], found["control"], word(report)) == (60, 1.0, "caution")


class TestPieces:
    """An answer of several steps, with other words between them."""

    @pytest.mark.parametrize(
        ("has_marks", "in_corpus", "others"),
        [(True, False, False), (False, False, False), (False, False, True), (True, True, False), (True, True, True)],
    )
    def test_the_calculator_of_an_answer_may_be_left_out(
        self, has_marks: bool, in_corpus: bool, others: bool, tmp_path: Path
    ) -> None:
        """In the corpus or in the test set, where GSM8K has it; answers of other items are none of theirs."""
        rng = random.Random(3)

        def step() -> str:
            a, b = rng.randint(2, 99), rng.randint(2, 99)
            return f"{sentence(rng, 3)} {a}*{b} = <<{a}*{b}={a * b}>>{a * b} {sentence(rng, 3)}."

        rows = [{"question": sentence(rng, 20), "answer": "\n".join(step() for _ in range(4))} for _ in range(100)]
        plain = [re.sub("<<.*?>>", "", row["answer"]) for row in rows]
        answers = [row["answer"] for row in rows] if has_marks else plain
        if in_corpus:
            rows = [{**row, "answer": answer} for row, answer in zip(rows, plain, strict=True)]
        answers = answers[1:] + answers[:1] if others else answers
        texts = [f"{row['question']}\n{answer}" for row, answer in zip(rows, answers, strict=True)]
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
        assert (found["n_found"], word(report)) == ((0, "caution") if others else (100, "unsound"))

    @staticmethod
    def rows(n: int = 60) -> list[dict[str, Any]]:
        rng = random.Random(13)
        return [
            {"question": f"{sentence(rng, 16)}?",
             "answer": "\n".join([*(f"{sentence(rng, 4)} is {at} + {step}." for step in range(4)), f"#### {at + 9}"])}
            for at in range(n)
        ]  # fmt: skip

    def test_are_found_in_their_order_behind_the_question(self, tmp_path: Path) -> None:
        rows, rng = self.rows(), random.Random(14)

        def told(row: dict[str, str], steps: Sequence[str]) -> str:
            return f"{row['question']}\n" + "\n".join(f"{sentence(rng, 7)}? ** {step}" for step in steps)

        for steps_of, n_found in (
            (lambda steps: steps, 60),
            (lambda steps: steps[:-1], 60),
            (lambda steps: steps[::-1], 0),
            (lambda steps: steps[-1:], 0),
            (lambda steps: [*steps[3:], *steps[:3]], 0),
        ):
            texts = [told(row, steps_of(row["answer"].split("\n"))) for row in rows]
            found, report = measured(rows, written(tmp_path / "c.jsonl", texts))
            assert found["n_found"] == n_found
            assert (word(report) == "unsound") == bool(n_found)
        texts = [told({"question": ""}, row["answer"].split("\n")) + f" {row['question']}" for row in rows]
        assert measured(rows, written(tmp_path / "c.jsonl", texts))[0]["n_found"] == 0


class TestShortItems:
    """Items of fewer than 8 words are found where a document has their words and no others."""

    @pytest.mark.parametrize("letters", ["ascii", "han"])
    def test_are_found_by_equality(self, letters: str, tmp_path: Path) -> None:
        rng = random.Random(15)
        han = [chr(point) for point in range(0x4E00, 0x5000)]
        rows = [
            {"question": sentence(rng, at % 5 + 1) if letters == "ascii" else "".join(rng.choices(han, k=at % 5 + 1)),
             "answer": f"{at}"}
            for at in range(100)
        ]  # fmt: skip
        same = [f"{row['question'].upper()}?!\n({row['answer']})" for row in rows[:50]]
        more = [f"{row['question']} {row['answer']} {row['answer']}" for row in rows[50:]]
        found, report = measured(rows, written(tmp_path / "c.jsonl", [*other_texts(), *same, *more]))
        assert (found["n_found"], found["n_searched"], word(report)) == (50, 100, "unsound")
        assert "in themselves" not in stated_by(report.verdicts["overlap"])


class TestRuns:
    @staticmethod
    def given(tmp_path: Path, n_runs: int = 2) -> tuple[list[dict[str, str]], Path, list[dict[str, Any]]]:
        rows = questions()
        path = written(tmp_path / "c.jsonl", [f"{row['question']} {row['answer']}" for row in rows[:100]])
        rng = random.Random(1)
        scores = [
            {"model": model, "dataset": "d", "example_id": str(at), "seed": seed,
             "score": int(rng.random() < (0.9 if at < 100 and model == "knows" else 0.6))}
            for model in ("knows", "does not") for seed in range(n_runs) for at in range(N)
        ]  # fmt: skip
        return rows, path, scores

    def test_scores_on_items_found_and_others(self, tmp_path: Path) -> None:
        rows, path, scores = self.given(tmp_path)
        found, report = measured(rows, path, runs=pl.DataFrame(scores))
        by_model = {row["model"]: row for row in found["scores"]}
        for model, row in by_model.items():
            own = pl.DataFrame(scores).filter(pl.col("model") == model)
            means = own.group_by("example_id").agg(pl.col("score").mean()).sort(pl.col("example_id").cast(pl.Int64))
            values = means["score"].to_numpy()
            assert (row["n_dirty"], row["n_clean"]) == (100, 300)
            assert row["dirty"] == pytest.approx(values[:100].mean())
            assert row["clean"] == pytest.approx(values[100:].mean())
            assert row["difference"] == pytest.approx(row["dirty"] - row["clean"])
            # Against the plain interval of the difference of two independent means.
            reach = 1.96 * (values[:100].var() / 100 + values[100:].var() / 300) ** 0.5
            assert row["difference_high"] - row["difference_low"] == pytest.approx(2 * reach, rel=0.15)
        assert by_model["knows"]["difference_low"] > 0.2
        assert by_model["does not"]["difference_low"] < 0 < by_model["does not"]["difference_high"]
        assert "easier by themselves" in found["sentences"][-1]
        figures = [row for row in report.to_dict()["figures"] if row["id"] == "overlap.score_difference"]
        assert [row["of"]["model"] for row in figures] == [row["model"] for row in found["scores"]]

    def test_items_that_are_easy_for_others_make_no_difference_at_equal_difficulty(self, tmp_path: Path) -> None:
        """The items in the corpus are easy, and the model is no better on them than other systems."""
        rows, path, _ = self.given(tmp_path)
        rng = random.Random(2)
        ease = [rng.uniform(0.5, 0.9) if at < 100 else rng.uniform(0.2, 0.7) for at in range(N)]
        runs = pl.DataFrame(
            [{"model": "m", "dataset": "d", "example_id": str(at), "score": int(rng.random() < ease[at])}
             for at in range(N)]
        )  # fmt: skip
        board = tmp_path / "board.csv"
        systems = [f"s{number}" for number in range(30)]
        lines = ["item," + ",".join([*systems, "M"])]
        lines += [f"{at}," + ",".join(str(int(rng.random() < ease[at])) for _ in systems) + ",1" for at in range(N)]
        board.write_text("\n".join(lines) + "\n")
        found, report = measured(rows, path, runs=runs, board=board)
        row = found["scores"][0]
        assert row["n_systems"] == 30
        assert row["difference_low"] > 0.05
        assert row["adjusted_low"] < 0 < row["adjusted_high"]
        assert any("equally hard for 30 other systems" in said for said in found["sentences"])
        assert "seen the items, too" in found["sentences"][-1]
        figures = {each["id"]: each["value"] for each in report.to_dict()["figures"]}
        assert figures["overlap.adjusted_difference"] == row["adjusted"]

    @pytest.mark.parametrize(("book", "why"), [("one", "are one cluster, or too few"), ("own", "")])
    def test_equally_hard_items_of_one_cluster_are_named_as_the_reason(
        self, book: str, why: str, tmp_path: Path
    ) -> None:
        """Others solve 0 to 19 half the time, 20 to 29 always and 30 to 39 never: 10 to 29 are not in the corpus."""
        rows = [
            {**row, "book": book if book == "one" and at < 20 else str(at)} for at, row in enumerate(questions()[:40])
        ]
        texts = [f"{row['question']} {row['answer']}" for at, row in enumerate(rows) if at < 10 or at >= 30]
        names = [str(at) for at in range(40)]
        right = [1] * 10 + [1, 0] * 15
        runs = pl.DataFrame({"model": "m", "dataset": "d", "example_id": names, "score": right})
        board = pl.DataFrame({"item": names, "s1": [1] * 30 + [0] * 10, "s2": [0] * 20 + [1] * 10 + [0] * 10})
        found, report = measured(rows, written(tmp_path / "c.jsonl", texts), runs=runs, board=board, clusters="book")
        (row,) = found["scores"]
        # (10 + 5) / 20 and 10 / 20; among the equally hard ones 10 / 10 and 5 / 10.
        assert (row["n_dirty"], row["n_clean"], row["difference"]) == (20, 20, pytest.approx(0.25))
        assert (row["n_strata"], row["n_adjusted"]) == (1, 20)
        assert row["adjusted"] == (None if why else pytest.approx(0.5))
        assert why in row["adjusted_reason"]
        assert bool(row["adjusted_reason"]) == bool(why)
        (figure,) = [each for each in report.to_dict()["figures"] if each["id"] == "overlap.adjusted_difference"]
        assert figure["reason"] == row["adjusted_reason"]
        assert any("m at equal difficulty: " in said for said in found["sentences"]) == bool(why)

    def test_a_board_needs_runs_and_the_same_items(self, tmp_path: Path) -> None:
        rows, path, scores = self.given(tmp_path, 1)
        board = pl.DataFrame({"item": ["a", "b"], "one": [1, 0], "two": [0, 1]})
        with pytest.raises(InputError, match="needs the runs of a model"):
            measured(rows, path, board=board)
        with pytest.raises(InputError, match="it has none of the items; the first item is '0'"):
            measured(rows, path, runs=pl.DataFrame(scores), board=board)

    def test_nothing_to_compare(self, tmp_path: Path) -> None:
        rows, _, scores = self.given(tmp_path, 1)
        found, report = measured(rows, written(tmp_path / "o.jsonl", other_texts()), runs=pl.DataFrame(scores))
        assert found["scores"][0]["difference"] is None
        assert "nothing can be compared" in found["sentences"][0]
        assert word(report) == "sound"

    def test_runs_on_other_items_are_refused(self, tmp_path: Path) -> None:
        rows, path, scores = self.given(tmp_path, 1)
        renamed = [{**row, "example_id": f"x{row['example_id']}"} for row in scores]
        with pytest.raises(InputError, match=in_order("none of the items", "'0'")):
            measured(rows, path, runs=pl.DataFrame(renamed))

    def test_items_that_were_not_answered_are_counted(self, tmp_path: Path) -> None:
        rows, path, scores = self.given(tmp_path, 1)
        found, _ = measured(rows, path, runs=pl.DataFrame([row for row in scores if int(row["example_id"]) >= 50]))
        assert [(row["n_dirty"], row["n_lacking"]) for row in found["scores"]] == [(50, 50)] * 2


def test_figures(tmp_path: Path) -> None:
    rows = questions()
    path = written(tmp_path / "c.jsonl", [f"{row['question']} {row['answer']}" for row in rows[:40]])
    figures = {row["id"]: row for row in measured(rows, path)[1].to_dict()["figures"]}
    assert figures["overlap.found"]["value"] == 0.1
    assert figures["overlap.found"]["low"] < 0.1 < figures["overlap.found"]["high"]
    assert figures["overlap.dirty"]["value"] == 0.1
    assert figures["overlap.searched"]["value"] == 1.0


@pytest.mark.skipif(not CORPORA.is_dir(), reason=f"no corpora at {CORPORA}: set GOLDASSAY_DATA")
class TestRealData:
    def test_gsm8k_shares_no_question_with_its_training_file(self) -> None:
        folder = CORPORA
        found, report = measured(
            folder / "gsm8k-test.jsonl.gz", folder / "gsm8k-train.jsonl.gz", field="question+answer"
        )
        assert (found["n_items"], found["n_documents"], found["n_found"]) == (1319, 7473, 0)
        assert word(report) == "sound"

    def test_its_rewrites_are_missed_and_its_copies_are_not(self, tmp_path: Path) -> None:
        folder = CORPORA
        rewritten = folder / "benbench-gsm8k-test-rewritten-1.jsonl.gz"
        found, _ = measured(folder / "gsm8k-test.jsonl.gz", rewritten, field="rewritten_question+rewritten_answer")
        assert found["n_found"] <= 2
        copy = tmp_path / "copy.jsonl"
        copy.write_bytes(gzip.decompress((folder / "gsm8k-test.jsonl.gz").read_bytes()))
        found, report = measured(folder / "gsm8k-test.jsonl.gz", copy, field="question+answer")
        assert (found["n_found"], word(report)) == (1319, "unsound")


@pytest.mark.parametrize(
    ("columns", "other"),
    [
        ("question=answer", "answer"),
        ("question=question,answer=question", "answer"),
        ("question=question,passage=question", "passage"),
    ],
)
def test_no_column_is_two_parts(columns: str, other: str, tmp_path: Path) -> None:
    """What is sought would be another text than is meant, and not to find it would be sound."""
    corpus = written(tmp_path / "c.jsonl", [row["question"] for row in questions()])
    with pytest.raises(InputError, match=rf"is named as the \w+, and it is the {other}, too"):
        measured(questions(), corpus, columns=columns)
