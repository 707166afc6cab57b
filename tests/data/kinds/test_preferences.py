"""Preferences, recognized in each published shape; what cannot be used is listed and counted."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.data.kinds.choices import ChoiceItems, read_choices
from goldassay.data.kinds.kind import PREFERENCES
from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.kinds.sides import say_sides
from goldassay.data.reading import read_table
from goldassay.data.table import Table
from goldassay.readers.preference_rules import traits
from tests.stated import says

DATA = Path(os.environ.get("GOLDASSAY_DATA", "../shared/data")) / "preferences"


def read(rows: list[dict[str, Any]], **more: Any) -> ChoiceItems:
    items = read_preferences(Table(pl.DataFrame(rows, infer_schema_length=None), ""), "items", **more)
    assert items is not None
    assert items.kind is PREFERENCES
    return items


def told(items: ChoiceItems) -> list[tuple[str, str, str]]:
    """(prompt, preferred, rejected) of items of two responses."""
    found = []
    for at in range(len(items)):
        own = slice(*items.offsets[[at, at + 1]])
        texts, right = items.texts[own].to_list(), items.right[own]
        found.append((items.questions[at], texts[int(right.argmax())], texts[int((~right).argmax())]))
    return found


def messages(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


SHAPES: dict[str, list[dict[str, Any]]] = {
    "three texts": [{"prompt": "p one", "chosen": "good one", "rejected": "bad one"}],
    "chat lists": [
        {"prompt": "p one", "chosen": messages("p one", "good one"), "rejected": messages("p one", "bad one")}
    ],
    "chat lists alone": [
        {"chosen": messages("a", "b", "p one", "good one"), "rejected": messages("a", "b", "p one", "bad one")}
    ],
    "last messages": [
        {
            "prompt": messages("p one"),
            "chosen": [{"role": "assistant", "content": "good one"}],
            "rejected": [{"role": "assistant", "content": "bad one"}],
        }
    ],
    "joined dialogues": [
        {"chosen": "\n\nHuman: p one\n\nAssistant: good one", "rejected": "\n\nHuman: p one\n\nAssistant: bad one"}
    ],
    "prompt repeated": [{"prompt": "p one", "chosen": "p one good one", "rejected": "p one bad one"}],
    "other names": [{"question": "p one", "chosen_response": "good one", "rejected_response": "bad one",
                     "chosen_score": 5.0, "rejected_score": 1.0, "chosen_model": "m", "rejected_model": "n"}],
    "two answers to one question": [{"question": "p one", "response_j": "good one", "response_k": "bad one"}],
    "LLMBar": [{"input": "p one", "output_1": "good one", "output_2": "bad one", "label": 1},
               {"input": "p one", "output_1": "bad one", "output_2": "good one", "label": 2}],
    "JudgeBench": [{"pair_id": "x", "question": "p one", "response_model": "m", "response_A": "bad one",
                    "response_B": "good one", "label": "B>A"}],
    "arena": [{"model_a": "m", "model_b": "n", "winner": "model_b", "conversation_a": messages("p one", "bad one"),
               "conversation_b": messages("p one", "good one")}],
    "a column for each winner": [
        {"model_a": "m", "model_b": "n", "prompt": '["p one"]', "response_a": '["bad one"]',
         "response_b": '["good one"]', "winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0},
        {"model_a": "m", "model_b": "n", "prompt": '["p one"]', "response_a": '["good one"]',
         "response_b": '["bad one"]', "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0}],
    "human references": [{"history": "p one", "human_ref_A": "good one", "human_ref_B": "bad one", "labels": 1},
                         {"history": "p one", "human_ref_A": "bad one", "human_ref_B": "good one", "labels": 0}],
    "safety": [{"prompt": "p one", "response_0": "bad one", "response_1": "good one", "better_response_id": 1},
               {"prompt": "p one", "response_0": "good one", "response_1": "bad one", "better_response_id": 0}],
    "scores": [{"question": "p one", "answer_0": "bad one", "answer_1": "good one", "score_0": -0.5, "score_1": 0.5}],
    "annotators": [{"instruction": "p", "input": "one", "response1": "good one", "response2": "bad one",
                    "annotator1": 1, "annotator2": 1, "annotator3": 2}],
    "wrapped": [
        {
            f"{side}_instruction": f"###Task Description:\nRead.\n\n###The instruction to evaluate:\np one\n\n"
            f"###Response to evaluate:\n{text} one\n\n###Score Rubrics:\n[Is it?]"
            for side, text in (("chosen", "good"), ("rejected", "bad"))
        }
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_recognized_unaided(shape: str) -> None:
    for prompt, preferred, rejected in told(read(SHAPES[shape])):
        assert prompt.replace("\n", " ").removeprefix("user: a assistant: b user: ").split(": ")[-1] == "p one"
        assert (preferred, rejected) == ("good one", "bad one")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "jsonl.gz", "jsonl.zst", "json"])
def test_files_are_read_unaided(ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"prompt": ["p, one", 'p "two"'], "chosen": ["good\none", "good two"], "rejected": ["bad one", "bad two"]}
    )
    path, lines = tmp_path / f"set.{ending}", "".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True))
    match ending:
        case "jsonl":
            path.write_text(lines)
        case "csv":
            frame.write_csv(path)
        case "parquet":
            frame.write_parquet(path)
        case "jsonl.gz":
            path.write_bytes(gzip.compress(lines.encode()))
        case "jsonl.zst":
            path.write_bytes(zstandard.compress(lines.encode()))
        case "json":
            path.write_text(json.dumps(frame.to_dicts()))
    items = read_preferences(read_table(path, "auto"), "set")
    assert items is not None
    assert told(items) == [("p, one", "good\none", "bad one"), ('p "two"', "good two", "bad two")]


def test_of_several_rejected_ones_each_stands_beside_the_preferred() -> None:
    items = read([{"prompt": "p", "chosen": ["good"], "rejected": ["bad", "worse", "worst"]}])
    assert items.sizes.tolist() == [4]
    assert items.texts.filter(items.right).to_list() == ["good"]
    one = read([{"prompt": "p", "chosen": "good", "rejected": ["bad", "worse"]}])
    assert sorted(one.texts) == ["bad", "good", "worse"]


def test_what_cannot_be_used_is_listed_by_row_and_reason() -> None:
    rows = [
        {"prompt": "p", "chosen": "good", "rejected": "bad"},
        {"prompt": "p", "chosen": "Same  text", "rejected": "same text"},
        {"prompt": "p", "chosen": None, "rejected": "bad"},
        {"prompt": "p", "chosen": "good", "rejected": ""},
        {"prompt": "P", "chosen": "bad", "rejected": "good"},
    ]
    items = read(rows)
    assert len(items) == 3
    assert items.n_unused == 2
    assert items.problems.select("row", "reason", "used").rows() == [
        (2, says("preferred", "rejected", "same"), False),
        (3, "a response is missing", False),
        (4, "a response is empty", True),
        (5, says("same pair", "the other way round"), True),
    ]
    other = read(
        [
            {"chosen": "\n\nHuman: one\n\nAssistant: x", "rejected": "\n\nHuman: two\n\nAssistant: y"},
            {"chosen": "\n\nHuman: one\n\nAssistant: z", "rejected": "\n\nHuman: one\n\nAssistant: w"},
        ]
    )
    assert other.problems["reason"].to_list() == ["the two sides answer other prompts"]


def test_ties_are_left_out_and_are_no_flaw() -> None:
    rows = [
        {"question": f"q {at}", "response_A": f"x {at}", "response_B": f"y {at}", "winner": winner}
        for at, winner in enumerate(["A", "B", "tie", "garbage", None])
    ]
    items = read(rows)
    assert len(items) == 2
    assert items.n_unused == 2
    assert items.problems["reason"].to_list() == [
        "neither response was preferred",
        says("names the preferred", "neither side"),
        "nothing says which response was preferred",
    ]


def test_verdicts_that_name_neither_side_are_refused_in_one_line() -> None:
    rows = [{"question": f"q {at}", "response_A": "x", "response_B": "y", "winner": "maybe"} for at in range(5)]
    with pytest.raises(InputError, match="names neither side") as caught:
        read(rows)
    assert "\n" not in str(caught.value)


def test_positions_are_real_only_where_two_responses_stand_beside_each_other() -> None:
    assert read(SHAPES["LLMBar"]).ordered
    many = [{"prompt": f"p {at}", "chosen": "good", "rejected": "bad"} for at in range(400)]
    drawn = read(many)
    assert not drawn.ordered
    first = int(drawn.right[::2].sum())
    assert 150 < first < 250


def test_roles_that_are_named_are_taken() -> None:
    rows = [{"ask": "p one", "left": "bad one", "rght": "good one", "who": "B", "kind": "x", "more": "a b c d e"}]
    items = read(rows, roles={"responses": "left+rght", "winner": "who", "prompt": "ask", "ignore": "more"})
    assert told(items) == [("p one", "good one", "bad one")]
    assert items.unread == ()
    with pytest.raises(InputError, match="there is no column 'nothing'"):
        read(rows, roles={"responses": "left+rght", "winner": "nothing"})


def test_labelled_pairs_and_choices_are_no_preferences() -> None:
    for columns in (
        {"premise": ["a b"], "hypothesis": ["c d"], "label": ["yes"]},
        {"text_a": ["some text"], "text_b": ["other text"], "label": [1]},
        {"sentence1": ["some text"], "sentence2": ["other text"], "label": [1]},
        {"question": ["p"], "answer_1": ["c"], "answer_2": ["r"], "label": [1]},
        {"goal": ["p"], "sol1": ["c"], "sol2": ["r"], "label": [1]},
        {"question": ["p"], "choices": [["a", "b"]], "answer": [1]},
        {"prompt": ["p"], "chosen_score": [1.0], "rejected_score": [0.5]},
    ):
        assert read_preferences(Table(pl.DataFrame(columns), ""), "none") is None


def test_preferences_are_no_choices() -> None:
    for shape in ("three texts", "LLMBar", "JudgeBench", "annotators"):
        assert read_choices(Table(pl.DataFrame(SHAPES[shape]), ""), "none") is None


@pytest.mark.parametrize(
    ("file", "n_items", "n_ties", "longer", "n_unlike"),
    [
        ("hh-harmless-test.jsonl.gz", 2312, 0, 0.442 * 2312 / 2301, 2301),
        ("judgebench-gpt4o.jsonl.gz", 350, 0, 0.460, 350),
        ("pandalm-testset-v1.json.gz", 894, 105, None, None),
        ("hhh_alignment_eval.json.gz", 221, 0, None, None),
    ],
)
def test_real_sets(file: str, n_items: int, n_ties: int, longer: float | None, n_unlike: int | None) -> None:
    path = DATA / file
    if not path.exists():
        pytest.skip(f"{path} is not here")
    items = read_preferences(read_table(path, "auto"), "set")
    assert items is not None
    assert len(items) == n_items
    assert (items.problems["reason"] == "neither response was preferred").sum() == n_ties
    if longer is not None:
        lengths = items.texts.str.len_chars().to_numpy().reshape(-1, 2)
        right = items.right.reshape(-1, 2)
        unlike = lengths[:, 0] != lengths[:, 1]
        assert int(unlike.sum()) == n_unlike
        found = float(((lengths[:, 0] > lengths[:, 1]) == right[:, 0])[unlike].mean())
        assert found == pytest.approx(longer, abs=6e-4)


def test_llmbar_has_its_published_sizes() -> None:
    path = DATA / "llmbar.tar.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    sizes, longer, unlike = {}, 0, 0
    with tarfile.open(path) as bundle:
        for member in bundle.getmembers():
            content = bundle.extractfile(member)
            assert content is not None
            items = read(json.load(content))
            sizes[member.name.split("/")[-2]] = len(items) + items.n_unused
            if member.name.startswith("LLMBar"):
                lengths, right = items.texts.str.len_chars().to_numpy().reshape(-1, 2), items.right.reshape(-1, 2)
                apart = lengths[:, 0] != lengths[:, 1]
                unlike += int(apart.sum())
                longer += int(((lengths[:, 0] > lengths[:, 1]) == right[:, 0])[apart].sum())
    assert sizes == {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "FairEval": 66, "Base_9": 54, "Base_10": 54,
                     "Normal": 59}  # fmt: skip
    assert (longer, unlike) == (84, 325)


def test_white_space_around_responses_is_read_as_a_trait_of_its_own() -> None:
    rows = [{"prompt": "p", "chosen": "a b ", "rejected": "c d"}, {"prompt": "q", "chosen": "e f", "rejected": "g h"}]
    found = read_preferences(Table(pl.DataFrame(rows), ""), "made")
    assert found is not None
    assert found.padded is not None
    assert found.texts.filter(pl.Series(found.padded)).to_list() == ["a b"]
    picked = {each.more: each.values for each in traits(found)}
    assert picked["white space at an end"].tolist() == found.padded.tolist()


def test_codes_of_several_annotators_are_said() -> None:
    """PandaLM's files, which name two models, are read with 0 as the tie; of any other the code must be said."""
    rows = [
        {"instruction": f"ask {at}", "response1": f"one {at}", "response2": f"two {at}",
         "annotator1": at % 3, "annotator2": at % 3, "annotator3": at % 3, "cmp_key": "one_other"}
        for at in range(6)
    ]  # fmt: skip
    for named in ({}, {"winner": "annotator1+annotator2"}):
        with pytest.raises(InputError, match="0, 1 and 2 may mean") as refused:
            read_preferences(Table(pl.DataFrame(rows).drop("cmp_key"), "frame"), "set", roles=named)
        assert "annotator2" in refused.value.mend
        assert "=0:tie,1:first,2:second" in refused.value.mend
    found = read_preferences(Table(pl.DataFrame(rows), "frame"), "set")
    assert found is not None
    assert (len(found), found.first_right.tolist()) == (4, [0, 1, 0, 1])
    assert any(said.startswith("0 counts as a tie") for said in found.decisions)


@pytest.mark.parametrize(
    ("column", "yes", "no"), [("tie", True, False), ("is_tie", 1, 0), ("Tied", "yes", "no"), ("tie", "maybe", "no")]
)
def test_a_column_that_is_called_a_tie_says_which_rows_are(column: str, yes: Any, no: Any) -> None:
    rows = [
        {"prompt": f"p {at}", "response_a": f"one {at}", "response_b": f"two {at}", "winner": "ab"[at % 2],
         column: yes if at % 3 == 0 else no}
        for at in range(9)
    ]  # fmt: skip
    items = read(rows)
    is_read = yes != "maybe"
    assert (len(items), items.n_unused) == (6 if is_read else 9, 0)
    assert any(f"{column!r} is true" in said for said in items.decisions) is is_read


def test_a_column_of_ties_goes_before_the_winner() -> None:
    rows = [
        {
            "prompt": f"p {at}",
            "response_a": f"one {at}",
            "response_b": f"two {at}",
            "winner": "ab"[at % 2],
            "even": at == 3,
        }
        for at in range(8)
    ]
    items = read(rows, roles={"tie": "even", "date": "prompt", "prompt": "prompt"})
    assert (len(items), items.n_unused) == (7, 0)
    assert items.unread == ()


@pytest.mark.parametrize("values", [(-3, -2, -1, 0, 1, 2, 3), ("left one", "right one")])
def test_sides_that_are_not_known_are_said_in_both_directions(values: tuple[Any, ...]) -> None:
    mend = say_sides("winner", values)
    one, other = mend.split(" or ")
    assert one != other
    assert one.count("first") == other.count("second") > 0
    assert one.count("tie") == other.count("tie") == values.count(0)


def test_a_winner_is_named_by_who_responded_on_either_side() -> None:
    """A name stands on either side, so that no map of names to sides is right."""
    pairs = [("gpt", "llama", "gpt"), ("llama", "gpt", "gpt"), ("gpt", "llama", "llama"), ("llama", "gpt", "tie")] * 3
    rows = [
        {"prompt": f"p {at}", "model_a": one, "model_b": other, "response_a": f"one {at}", "response_b": f"two {at}",
         "winner": who}
        for at, (one, other, who) in enumerate(pairs)
    ]  # fmt: skip
    items = read(rows)
    assert items.first_right.tolist() == [0, 1, 1] * 3
    assert any("'model_a' and 'model_b'" in said for said in items.decisions)
