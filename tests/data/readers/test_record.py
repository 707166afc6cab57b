"""ReCoRD's queries, in its own JSON and in SuperGLUE's lines."""

from __future__ import annotations

import json

import pytest

from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset
from goldassay.runs.answers import score_answer
from tests.lab.models.made_reading import PEOPLE, made_record, write_record
from tests.stated import in_order


def test_queries_have_their_answers_and_all_mentions_of_entities(tmp_path):
    data = read_dataset(write_record(tmp_path / "dev.json", n=4))
    assert (data.provenance.format, data.text_columns, data.groups) == ("record", ("question", "context"), ("source",))
    assert data.examples["example_id"].to_list() == ["q0", "q1", "q2", "q3"]
    for row in data.examples.iter_rows(named=True):
        spans = list(zip(row["candidate_starts"], row["candidate_ends"], strict=True))
        assert {row["context"][begin:end] for begin, end in spans} == set(PEOPLE)
        # The one who is right is mentioned twice.
        assert len(spans) == 7
        assert len(row["answers"]) == 2
        for text, start in zip(row["answers"], row["answer_starts"], strict=True):
            assert (start, start + len(text)) in spans
            assert row["context"][start : start + len(text)] == text
        assert "@placeholder" in row["question"]


def test_superglues_lines_are_the_same_queries(tmp_path):
    articles = made_record(4)["data"]
    for number, article in enumerate(articles):
        article["idx"] = number
        article.pop("id")
        for query in article["qas"]:
            query.pop("id")
            query["idx"] = 10 + number
    place = tmp_path / "val.jsonl"
    place.write_text("".join(json.dumps(each) + "\n" for each in articles))
    lines, whole = read_dataset(place), read_dataset(write_record(tmp_path / "dev.json", n=4))
    assert lines.provenance.format == "record"
    assert lines.examples["example_id"].to_list() == ["0-10", "1-11", "2-12", "3-13"]
    for column in ("question", "context", "answers", "candidate_starts"):
        assert lines.examples[column].to_list() == whole.examples[column].to_list()


def test_an_answer_is_as_right_as_the_nearest_of_its_names():
    """By ReCoRD's rules: SQuAD's normalization, and the best over all answers of a query."""
    names = ["the United States", "U.S."]
    assert score_answer("United States", names, "exact_match") == 1
    assert score_answer("us", names, "exact_match") == 1
    assert score_answer("States", names, "exact_match") == 0
    assert score_answer("States", names, "f1") == pytest.approx(2 / 3)


def damaged(change):
    content = made_record(2)
    change(content["data"][1])
    return content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a["qas"][0].update(query="who"), ("query q1", "@placeholder")),
        (lambda a: a["qas"][0]["answers"][0].update(start=1), ("answer '", "' to q1", "at 1")),
        (
            lambda a: a["passage"]["entities"][0].update(end=9999),
            ("entity from", "to 9999", "outside"),
        ),
        (lambda a: a["qas"][0].pop("answers"), ("ReCoRD's field 'answers'", "data[]")),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, message):
    place = tmp_path / "dev.json"
    place.write_text(json.dumps(damaged(change)))
    with pytest.raises(InputError, match=in_order(message)) as error:
        read_dataset(place)
    assert error.value.file == str(place) or str(place) in str(error.value)


def test_an_answer_that_is_no_entity_is_counted_and_cannot_be_given(tmp_path):
    place = tmp_path / "dev.json"
    place.write_text(json.dumps(damaged(lambda article: article["passage"].update(entities=[]))))
    data = read_dataset(place)
    assert any("2 answers are none of their passage's entities" in said for said in data.provenance.decisions)
    assert data.examples["candidate_starts"][1].to_list() == []
