"""Benchmark repositories, made after the documentation of the hub and of inspect_ai's tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

HLE = """\
name: An exam
description: >
  A benchmark of closed-ended questions.
evaluation_framework: "inspect-ai"

tasks:
  - id: exam
    config: default
    split: test

    field_spec:
      input: question
      input_image: image
      target: answer

    solvers:
      - name: system_message
        args:
          template: |
            Answer: {your chosen answer}
      - name: generate

    scorers:
      - name: model_graded_fact
        args:
          model: openai/o3-mini
"""
GPQA = """\
name: Hard questions
evaluation_framework: inspect-ai
tasks:
  - id: diamond
    config: hard_diamond
    split: train
    epochs: 4
    epoch_reducer: pass_at_1
    shuffle_choices: true
    field_spec:
      input: Question
      target: "literal:D"
      choices: ["Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Correct Answer"]
    solvers: [{name: multiple_choice}]
    scorers: [{name: choice}]
  - {id: main, config: hard_main, split: train, field_spec: {input: Question, target: Answer}}
"""
PRO = """\
name: Many options
evaluation_framework: inspect-ai
tasks:
  - id: pro
    field_spec: {input: problem, target: key, choices: options, metadata: [category]}
    solvers: [{name: multiple_choice}]
    scorers: [{name: choice}]
"""
CARD = """\
---
configs:
  - config_name: hard_main
    data_files: main.csv
  - config_name: hard_diamond
    data_files:
      - split: train
        path: ["d*.csv"]
---
# A card
"""
MINIMAL = "name: A contest\nevaluation_framework: math-arena\n\ntasks:\n  - id: contest/2026\n"


def repository(folder: Path, text: str, **files: Any) -> Path:
    folder.mkdir()
    (folder / "eval.yaml").write_text(text, "utf-8")
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path = path.with_name(path.name.replace("_dot_", "."))
        path.parent.mkdir(exist_ok=True, parents=True)
        if isinstance(content, str):
            path.write_text(content, "utf-8")
        elif path.suffix == ".parquet":
            pl.DataFrame(content).write_parquet(path)
        else:
            pl.DataFrame(content).write_csv(path)
    return folder


def hard(n: int = 60) -> list[dict[str, str]]:
    wrong = {f"Incorrect Answer {at}": f"wrong {at}" for at in (1, 2, 3)}
    return [
        {"Question": f"Which of four is number {at}?", "Correct Answer": f"right {at}", "Subdomain": "math"}
        | {name: f"{each} {at}" for name, each in wrong.items()}
        for at in range(n)
    ]


def test_the_literal_target_follows_its_choice(tmp_path: Path) -> None:
    place = repository(tmp_path / "hard", GPQA, README_dot_md=CARD, diamond_dot_csv=hard(), main_dot_csv=hard(3))
    table = read_table(place)
    assert table.frame.columns == ["question", "choices", "answer", "Subdomain"]
    assert [each.name for each in table.files] == ["diamond.csv"]
    for at, row in enumerate(table.frame.iter_rows(named=True)):
        assert row["choices"]["ABCD".index(row["answer"])] == f"right {at}"
        assert sorted(row["choices"]) == [f"right {at}", *(f"wrong {of} {at}" for of in (1, 2, 3))]
    # shuffle_choices draws the order, so that the position of the right one says nothing.
    assert table.frame["answer"].n_unique() == 4
    assert any("main" in each for each in table.decisions)


def test_without_shuffling_positions_are_those_of_the_file(tmp_path: Path) -> None:
    place = repository(
        tmp_path / "hard", GPQA.replace("shuffle_choices: true", ""), README_dot_md=CARD, diamond_dot_csv=hard()
    )
    assert read_table(place).frame["answer"].unique().to_list() == ["D"]


@pytest.mark.parametrize("key", [[0, 2, 1], ["A", "C", "B"]])
def test_choices_of_one_column_and_numbers_from_zero(tmp_path: Path, key: list[Any]) -> None:
    rows = [
        {"problem": f"p{at}", "options": [f"o{at}{place}" for place in range(3)], "key": own, "category": "law"}
        for at, own in enumerate(key)
    ]
    # The default configuration and split are those of the documentation.
    place = repository(tmp_path / "pro", PRO, **{"data__test-00000-of-00001_dot_parquet": rows,
                                                 "data__train-00000-of-00001_dot_parquet": rows[:1]})  # fmt: skip
    assert read_table(place).frame.rows() == [
        ("p0", ["o00", "o01", "o02"], "A", "law"),
        ("p1", ["o10", "o11", "o12"], "C", "law"),
        ("p2", ["o20", "o21", "o22"], "B", "law"),
    ]
    assert read_table(place / "eval.yaml").frame.equals(read_table(place).frame)


def test_open_questions_and_classes(tmp_path: Path) -> None:
    rows = [{"question": f"q{at}", "image": "", "answer": f"a{at}"} for at in range(20)]
    exam = read_table(repository(tmp_path / "exam", HLE, test_dot_csv=rows))
    assert exam.frame.columns == ["question", "answer", "image"]
    rows = [{"said": f"q{at}", "verdict": "yes" if at % 2 else "no"} for at in range(20)]
    spec = HLE.replace("input: question", "input: said").replace("target: answer", "target: verdict")
    assert read_table(repository(tmp_path / "two", spec, test_dot_csv=rows)).frame.columns == ["text", "label"]


def test_a_task_without_columns_and_a_file_that_is_none(tmp_path: Path) -> None:
    rows = [{"text": f"q{at}", "label": str(at % 2)} for at in range(20)]
    contest = read_table(repository(tmp_path / "contest", MINIMAL, test_dot_csv=rows))
    assert contest.frame.cast(pl.String).to_dicts() == rows
    other = repository(tmp_path / "other", "seed: 1\n", test_dot_csv=rows)
    assert read_table(other).format == "split-folder"


@pytest.mark.parametrize(
    ("text", "files", "said"),
    [
        ("tasks:\n  - id: [\n", {}, "eval.yaml, line 3: is no YAML"),
        ("tasks: 3\n", {}, "lists no tasks"),
        (MINIMAL, {}, "configuration default, split test"),
        # An id that is a name on the hub, as the documentation has it, says where the data are.
        (MINIMAL, {}, "give contest/2026:default/test instead, or"),
        (MINIMAL.replace("contest/2026", "contest"), {}, "; put the files of the dataset beside it"),
        (HLE, {"test_dot_csv": [{"question": "q", "key": "a"}]}, "names the column 'answer'"),
        (GPQA, {"README_dot_md": CARD.replace('"d*.csv"', '"../d*.csv"')}, "configuration hard_diamond, split train"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, files: dict[str, Any], said: str) -> None:
    place = repository(tmp_path / "made", text, **files)
    (tmp_path / "data.csv").write_text("Question\nq\n")
    with pytest.raises(InputError) as error:
        read_table(place)
    assert said in str(error.value)


@pytest.mark.parametrize("text", [HLE, GPQA, MINIMAL])
def test_what_another_writes_again_is_read_as_before(tmp_path: Path, text: str) -> None:
    again = yaml.safe_dump(yaml.safe_load(text), sort_keys=False)
    rows = [row | {"question": row["Question"], "answer": str(at), "image": ""} for at, row in enumerate(hard(6))]
    files = {"README_dot_md": CARD, "diamond_dot_csv": rows, "test_dot_csv": rows}
    one, two = (read_table(repository(tmp_path / name, each, **files)) for name, each in (("a", text), ("b", again)))
    assert one.frame.equals(two.frame)
    assert one.decisions == two.decisions


def test_a_repository_is_audited_unaided(tmp_path: Path) -> None:
    place = repository(tmp_path / "hard", GPQA, README_dot_md=CARD, diamond_dot_csv=hard(300))
    report = goldassay.audit(str(place))
    about = report.document["dataset"]
    assert (about["kind"], about["n_test"], about["most_choices"]) == ("choices", 300, 4)
    # What gives the answer away is its word, and not its place.
    assert report.verdicts["leakage"]["verdict"] == "unsound"
    effects = {each["reader"]: each["value"] for each in report.document["leakage"]["effects"]["effects"]}
    assert max(effects[f"rule: position {at}"] for at in range(1, 5)) < 0.1
    assert any("task diamond" in said for said in report.document["inputs"][0]["decisions"])


@pytest.mark.parametrize("other", ["answer_index", "answerKey", "correct_answer", "correct", "label", "answer_letter"])
def test_another_column_of_answers_decides_nothing(tmp_path: Path, other: str) -> None:
    """The target is right, whatever else looks like an answer; and the benchmark is no run."""
    rows = [
        {"question": f"Which of four is number {at}?", "options": [f"{each} {at}" for each in "wxyz"],
         "gold": "ABCD"[at % 4], other: (at + 1) % 4 if other == "answer_index" else "ABCD"[(at + 1) % 4], "id": at}
        for at in range(60)
    ]  # fmt: skip
    spec = {"input": "question", "target": "gold", "choices": "options"}
    tasks = [{"id": "t", "split": "test", "field_spec": spec}]
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump({"name": "t", "tasks": tasks}))
    pl.DataFrame(rows).write_ndjson(tmp_path / "test.jsonl")
    found = goldassay.look(tmp_path)
    assert (found.kind, found.roles["answer"]) == ("choices", "answer")
    assert any(other in each for each in found.decisions)
    assert read_table(tmp_path).frame["answer"].to_list() == [row["gold"] for row in rows]
