"""Files that were read in silence as something else: read right, or refused by name."""

from __future__ import annotations

import ast
import csv
import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.labels import several_in_one
from goldassay.data.reading import open_source
from goldassay.questions.provenance import data_notes
from goldassay.questions.run_scores import score_runs

if TYPE_CHECKING:
    from pathlib import Path

PARTS = {"train": 6, "val": 2, "test": 4}


def lines(folder: Path, topic: str) -> Path:
    folder.mkdir(parents=True)
    for part, n in PARTS.items():
        texts = [f"{topic} {part} says {at}" for at in range(n)]
        (folder / f"{part}_text.txt").write_text("\n".join(texts) + "\n")
        (folder / f"{part}_labels.txt").write_text("".join(f"{at % 2}\n" for at in range(n)))
    return folder


def test_lines_of_texts_and_labels_are_rows(tmp_path: Path) -> None:
    folder = lines(tmp_path / "climate", "ice")
    (folder / "mapping.txt").write_text("0\tagainst\n1\tfavor\n")
    found = goldassay.read_dataset(folder)
    assert {part: len(rows) for part, rows in found.parts.items()} == {"train": 6, "dev": 2, "test": 4}
    assert found.label_names == ("against", "favor")
    assert found.parts["test"].examples["text"].to_list()[1] == "ice test says 1"


def test_folders_of_them_are_groups(tmp_path: Path) -> None:
    for topic in ("climate", "school"):
        lines(tmp_path / "stance" / topic, topic)
    (tmp_path / "stance" / "mapping.txt").write_text("0\tnone\n1\tfavor\n")
    found = goldassay.read_dataset(tmp_path / "stance")
    assert (len(found), found.groups, found.label_names) == (24, ("topic",), ("favor", "none"))


def test_other_numbers_of_labels_are_refused(tmp_path: Path) -> None:
    folder = lines(tmp_path / "climate", "ice")
    (folder / "val_labels.txt").write_text("0\n")
    with pytest.raises(InputError, match="1 labels for 2 texts") as refused:
        goldassay.read_dataset(folder)
    assert str(refused.value.file).endswith("val_labels.txt")


@pytest.mark.parametrize("start", ["", "## id-0\n", "-DOCSTART- -X- O\n\n"])
def test_labels_of_tokens_are_named(tmp_path: Path, start: str) -> None:
    path = tmp_path / "test.txt"
    path.write_text(start + "Ada\tB-PER\nruns\tO\n\nRome\tB-LOC\nis\tO\nold\tO\n\n")
    with pytest.raises(InputError, match="labels of tokens are not supported"):
        goldassay.read_dataset(path)


def test_a_first_row_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "bare.tsv"
    rows = [(f"this row tells of thing number {at}", "ab"[at % 2], f"id{at}") for at in range(30)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="'text': '#1', 'label': '#2'"):
        goldassay.audit(str(path))
    found = goldassay.read_dataset(path, columns="text=#1,label=#2,id=#3")
    assert len(found) == 30
    assert found.examples["example_id"][0] == "id0"


def test_a_long_name_of_a_column_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "form.csv"
    path.write_text("text,Which of the two do you prefer?\n" + "some words of a row,A\nother words of a row,B\n" * 5)
    found = goldassay.read_dataset(path, columns={"label": "Which of the two do you prefer?"})
    assert len(found) == 10


@pytest.mark.parametrize(
    "joined",
    [
        ["0;2", "2;0", "0"],
        ["a, b", "b, a"],
        ["x|y", "y|z", "x|z"],
        ["x;y", "x", "y"],
        ["joy/fear", "fear/joy", "n/a", "sad"],
        ["joy+fear", "fear + joy"],
        ["joy & fear", "fear & joy"],
        ["joy and fear", "fear and joy", "joy"],
        ["entailment neutral", "neutral entailment", "neutral"],
        ["joy/fear", "joy/anger", "joy", "fear", "anger"],
    ],
)
def test_labels_that_hold_several_are_refused(tmp_path: Path, joined: list[str]) -> None:
    assert several_in_one(joined) is not None
    path = tmp_path / "ml.tsv"
    path.write_text("text\tlabel\n" + "".join(f"words of row {at}\t{joined[at % len(joined)]}\n" for at in range(12)))
    with pytest.raises(InputError, match="holds several") as refused:
        goldassay.read_dataset(path)
    assert refused.value.column == "label"


@pytest.mark.parametrize(
    "labels",
    [
        ["Paris, France", "Lyon, France"],
        ["comp.sys", "rec.autos"],
        ["yes", "no"],
        ["a, b", "c"],
        [";", "a"],
        ["n/a", "yes", "no"],
        ["w/o", "w"],
        ["and/or", "and", "or"],
        ["us/news", "us/sport", "uk/news", "uk/sport"],
        ["A", "A+", "C++", "C"],
        ["dark red", "dark blue", "dark", "red", "blue"],
        ["R&D", "R", "sales"],
    ],
)
def test_names_with_a_separator_are_one_label(labels: list[str]) -> None:
    assert several_in_one(labels) is None


@given(st.lists(st.text("abc;,", max_size=4), max_size=6, unique=True))
def test_what_is_joined_is_made_of_parts_of_others(labels: list[str]) -> None:
    """By definition, with a loop for each part."""
    found = several_in_one(labels)
    if found is not None:
        label, parts = found
        assert label in labels
        assert len(parts) > 1
        assert all(any(part in other for other in labels if other != label) for part in parts)


def subjects(folder: Path, ending: str, header: list[str]) -> Path:
    folder.mkdir(parents=True)
    for subject in ("algebra", "law"):
        with (folder / f"{subject}{ending}.csv").open("w", newline="") as file:
            rows = [[f"{subject} asks {at}?", f"a{at}", f"b{at}", f"c{at}", "ABC"[at % 3]] for at in range(9)]
            csv.writer(file).writerows([header, *rows] if header else rows)
    return folder


HEADER = ["question", "A", "B", "C", "answer"]


@pytest.mark.parametrize(("ending", "header"), [("", HEADER), ("_test", HEADER), ("_test", [])])
def test_a_file_a_subject_is_a_group(tmp_path: Path, ending: str, header: list[str]) -> None:
    folder = subjects(tmp_path / "exam", ending, header)
    found = goldassay.look(str(folder))
    assert (found.kind, found.n_rows, found.roles["group"]) == ("choices", 18, "file")


def test_a_foreign_file_is_named_and_passed_over(tmp_path: Path) -> None:
    folder = subjects(tmp_path / "exam", "", HEADER)
    (folder / "notes.csv").write_text("who,when\nme,now\n")
    assert goldassay.look(str(folder)).n_rows == 18
    table = open_source(str(folder), "data").table
    assert any("notes" in said for said in table.decisions)


def test_ids_within_a_subject_are_keys_with_it(tmp_path: Path) -> None:
    rows = [("system,subject,row,correct\n")]
    rows += [f"{who},{of},{at},{int((at + (who == 'b')) % 3 > 0)}\n" for who in "ab" for of in "xy" for at in range(9)]
    (tmp_path / "board.csv").write_text("".join(rows))
    alone, named = (
        goldassay.rank_systems(str(tmp_path / "board.csv"), columns=columns)
        for columns in (None, {"item": "subject+row"})
    )
    assert alone.figures.equals(named.figures)
    assert alone.document["dataset"]["n_test"] == 18


def test_tokens_with_tags_in_lists_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ner.jsonl"
    path.write_text("".join(json.dumps({"tokens": ["a", "b"], "ner_tags": [0, at % 3]}) + "\n" for at in range(9)))
    with pytest.raises(InputError, match=r"goldassay\.measure_overlap"):
        goldassay.audit(str(path))


@pytest.mark.parametrize("ties", [0, 1.5])
def test_preferences_of_alpacaeval_are_shares(tmp_path: Path, ties: float) -> None:
    """1 is the other's win and 2 the system's; a tie is 1.5, and in the first version 0."""
    wins = {"a": [2, 2, 1, 1.5, ties], "b": [1, 1, 1, 1.3, ties]}
    rows = [
        {"item": at, "system": system, "preference": each}
        for system, own in wins.items()
        for at, each in enumerate(own)
    ]
    file = tmp_path / "board.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    found = goldassay.rank_systems(str(file)).result
    assert [each.score for each in found.systems] == pytest.approx([0.6, 0.16])


@pytest.mark.parametrize("name", ["graded_list", "score"])
def test_samples_in_a_cell_score_alike_in_all_commands(tmp_path: Path, name: str) -> None:
    """Samples have no order: sorted within items they are no run that gets all right and one that gets none."""
    right = {"a": 7, "b": 4}
    rows = [
        {"question_id": at, "model": model, name: [True] * n + [False] * (10 - n)}
        for model, n in right.items() for at in range(40)
    ]  # fmt: skip
    file = tmp_path / "samples.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    board = goldassay.rank_systems(str(file)).result
    assert {each.system: each.score for each in board.systems} == pytest.approx({"a": 0.7, "b": 0.4})
    stored = score_runs(str(file)).sets
    assert {each.model: each.mean for each in stored} == pytest.approx({"a": 0.7, "b": 0.4})
    assert [each.sd for each in stored] == [None, None]


def test_ids_given_anew_in_each_subject_are_no_trials(tmp_path: Path) -> None:
    rows = [
        {"subject": subject, "row": at, "model": model, "score": int((at + len(model)) % 3 > 0)}
        for model in ("m", "mm") for subject in ("law", "art") for at in range(30)
    ]  # fmt: skip
    file = tmp_path / "scores.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    found = score_runs(str(file)).sets
    assert [(each.n_runs, each.n_examples) for each in found] == [(1, 60), (1, 60)]
    board = goldassay.rank_systems(str(file)).result
    assert [each.score for each in board.systems] == pytest.approx(sorted((each.mean for each in found), reverse=True))


def test_preferences_of_two_readings_are_refused(tmp_path: Path) -> None:
    rows = [{"item": at, "system": system, "preference": at % 3} for system in "ab" for at in range(9)]
    file = tmp_path / "board.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match="6 of 18 preferences are 0") as refused:
        goldassay.rank_systems(str(file))
    assert "grades='0:2'" in str(refused.value)
    assert goldassay.rank_systems(str(file), grades="0:2").result.systems[0].score == pytest.approx(0.5)


def test_codes_of_several_columns_are_mapped_together(tmp_path: Path) -> None:
    rows = [
        {"question": f"q {at}", "response_a": f"a {at}", "response_b": f"b {at}", "verdict_ab": at % 3,
         "verdict_ba": (at + 1) % 3}
        for at in range(30)
    ]  # fmt: skip
    file = tmp_path / "seats.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError) as refused:
        goldassay.audit(str(file))
    mend = re.search(r"map=('.*?') or ", str(refused.value))
    assert mend is not None
    assert goldassay.audit(str(file), map=ast.literal_eval(mend[1])).document["dataset"]["n_test"] == 30


def test_columns_within_objects_are_guessed(tmp_path: Path) -> None:
    path = tmp_path / "nested.jsonl"
    rows = [
        {"example": {"one": f"this is row {at}", "two": f"and that is {at}"}, "said": "xy"[at % 2]} for at in range(20)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    roles = {"premise": "example.one", "hypothesis": "example.two", "label": "said"}
    with pytest.raises(InputError, match=str(roles)[1:-1]):
        goldassay.audit(str(path))


def test_a_part_whose_labels_are_hidden_is_named(tmp_path: Path) -> None:
    for part, label in (("train", 1), ("test", -1)):
        rows = [{"text": f"{part} words {at}", "label": label and at % 2 if label > 0 else label} for at in range(6)]
        (tmp_path / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = goldassay.read_dataset(tmp_path)
    assert len(found) == 6
    assert any("'test' has no labels (6 rows" in said for said in found.provenance.decisions)
    # The terminal says it, too.
    assert any("'test' has no labels (6 rows" in said for said in data_notes(found, None, None))


def runs_table(path: Path, **more: str) -> Path:
    rows = [
        {"model": "m", "prompt": prompt, "example_id": at, "label": at % 2, "prediction": at % 3 % 2, **more}
        for prompt in ("p0", "p1")
        for at in range(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("columns", [None, {"configuration": "prompt"}])
def test_a_column_that_parts_the_runs_of_a_model_is_its_configuration(
    tmp_path: Path, columns: dict[str, str] | None
) -> None:
    found = goldassay.list_runs(runs_table(tmp_path / "runs.jsonl"), columns=columns)
    assert found["model"].to_list() == ["m [prompt=p0]", "m [prompt=p1]"]


def test_texts_called_prompt_are_no_configuration(tmp_path: Path) -> None:
    rows = [{"example_id": at, "prompt": f"ask {at}", "label": "x", "prediction": "x"} for at in range(8)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(goldassay.list_runs(tmp_path / "runs.jsonl")) == 1


@pytest.mark.parametrize("name", ["preds.txt", "preds.json"])
def test_a_code_a_line_is_a_prediction(tmp_path: Path, name: str) -> None:
    codes = [str(at % 3) for at in range(12)]
    (tmp_path / name).write_text("\n".join(codes) + "\n" if name.endswith("txt") else json.dumps(codes))
    rows = [{"text": f"words {at}", "label": "abc"[(at + (at == 4)) % 3]} for at in range(12)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    gold = goldassay.read_dataset(tmp_path / "test.jsonl")
    runs = goldassay.read_runs(tmp_path / name, gold=gold, labels={"0": "a", "1": "b", "2": "c"})
    assert runs.scores.sum() == 11
    assert goldassay.look(str(tmp_path / name)).kind == "runs"


def test_lines_of_many_words_are_no_predictions(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("some words\nother words\n" * 6)
    assert goldassay.look(str(tmp_path / "texts.txt")).kind == "labelled texts"


def test_label_names_name_codes_and_order_logits(tmp_path: Path) -> None:
    rows = [{"id": at, "logits": [float(at % 3 == k) for k in range(3)], "label": at % 3} for at in range(9)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = goldassay.read_runs(tmp_path / "runs.jsonl", label_names=("c", "b", "a"))
    assert runs.scores.all()
    assert [runs.label_names[code] for code in runs.gold[:3]] == ["c", "b", "a"]
