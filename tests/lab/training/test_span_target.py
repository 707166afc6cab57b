"""SQuAD's questions as a target: where answers stand, how they are scored, and a training from file to runs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

pytest.importorskip("transformers")

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.reading import read_dataset
from goldassay.lab.models.configuration import Task
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from goldassay.lab.training.targets import EvaluationSet, LabelTarget, SpanTarget, target_of
from goldassay.runs.reading import read_runs
from tests.lab.models.network_cases import tiny_checkpoint
from tests.lab.models.test_question_answering import made_questions, words_of
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order


def as_squad(data):
    """As SQuAD's own JSON has it."""
    paragraphs = [
        {
            "context": row["context"],
            "qas": [
                {
                    "id": row["example_id"],
                    "question": row["question"],
                    "answers": [
                        {"text": text, "answer_start": start}
                        for text, start in zip(row["answers"], row["answer_starts"], strict=True)
                    ],
                    "is_impossible": not row["answers"],
                }
            ],
        }
        for row in data.examples.iter_rows(named=True)
    ]
    return json.dumps({"data": [{"title": "held", "paragraphs": paragraphs}]})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("squad")
    for name, data in (("train", made_questions(12, fillers=16)), ("test", made_questions(9, seed=1, fillers=16))):
        (folder / f"{name}.json").write_text(as_squad(data))
    tiny_checkpoint(folder, words_of(made_questions(none=0.5)))
    return folder


CHANGES = {"epochs": 2, "max_tokens": 40, "stride": 8, "max_question": 12, "batch_size": 4}


def planned(place, out, **options):
    options = {"seeds": 1, "changes": CHANGES, **options}
    return plan_jobs(place / "train.json", str(place / "tiny-bert"), {"test": place / "test.json"}, out=out, **options)


def test_a_training_leaves_answers_and_their_scores(place, tmp_path):
    jobs = planned(place, tmp_path, seeds=2, checkpoint_every=3, record=("predictions", "dynamics"))
    done = [run_job(job) for job in jobs]
    runs = read_runs(tmp_path)
    assert runs.scores.shape == (2, 2, 9)
    assert (runs.model, runs.train_set, runs.dataset, runs.condition) == ("tiny-bert", "train", "test", "paired")
    # What is stored are the answers: they can be scored again by the file, by either metric.
    for metric in ("f1", "exact_match"):
        again = read_runs(tmp_path, gold=place / "test.json", answer_metric=metric)
        np.testing.assert_allclose(again.scores[:, -1].mean(-1), [each.scores["test"][metric] for each in done])
    np.testing.assert_allclose(runs.scores[:, -1].mean(-1), [each.scores["test"]["f1"] for each in done])
    dynamics = read_runs(jobs[0].folder / "dynamics")
    assert dynamics.scores.shape == (1, 2, 12)


def test_a_dev_set_chooses_the_epoch_and_the_question_may_be_withheld(place, tmp_path):
    (job,) = planned(place, tmp_path, dev=place / "test.json", conditions=["context_only"])
    assert run_job(job).selected_step in (3, 6)
    assert read_runs(tmp_path).condition == "context_only"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"conditions": ["question_only"]}, ("condition question_only", "no answer")),
        ({"conditions": ["shuffled"]}, "choose paired or context_only"),
        ({"record": ("predictions", "embeddings")}, ("embeddings", "question", "no one vector")),
        ({"objective": "cross_entropy"}, ("classes", "labels are spans")),
        ({"changes": {"strides": 3}}, ("no setting 'strides'", "'stride'")),
    ],
)
def test_what_does_not_fit_questions_is_refused_before_anything_is_trained(place, tmp_path, options, message):
    with pytest.raises(InputError, match=in_order(message)):
        planned(place, tmp_path, **options)


def test_other_models_and_other_data_are_refused(place, tmp_path):
    with pytest.raises(InputError, match="bilstm cannot name a stretch of a text"):
        plan_jobs(place / "train.json", "bilstm", {"test": place / "test.json"}, out=tmp_path, seeds=1)
    labelled = made_questions(3).examples.drop("answers", "answer_starts").with_columns(label=pl.lit("yes"))
    with pytest.raises(InputError, match="these are no questions with answers in a context"):
        SpanTarget.check(made_questions(3), [Dataset.from_frame(labelled)])


def test_answers_are_found_in_their_contexts():
    rows = [
        {"context": "no cat, a cat", "answers": ["cat"], "answer_starts": [10]},
        {"context": "no cat, a cat", "answers": ["cat"], "answer_starts": [9]},
        {"context": "no cat, a cat", "answers": [" cat", "no"], "answer_starts": [9, 0]},
        {"context": "no cat, a cat", "answers": [], "answer_starts": []},
    ]
    rows = [{"example_id": str(i), "question": "what", **row} for i, row in enumerate(rows)]
    data = replace(made_questions(1), examples=pl.DataFrame(rows))
    task = SpanTarget.task(data, ("question", "context"), "treebank")
    assert task == Task(("question", "context"), (), kind="span", unanswerable=True)
    nowhere = [-1, -1]
    wanted = [[[10, 13], nowhere], [[3, 6], nowhere], [[10, 13], [0, 2]], [nowhere, nowhere]]
    assert SpanTarget.labels(data, task).tolist() == wanted
    without = replace(data, examples=data.examples.drop("answer_starts"))
    assert SpanTarget.labels(without, task)[:, 0].tolist() == [[3, 6], [3, 6], [3, 6], nowhere]
    on = EvaluationSet(data, "test", {}, SpanTarget.labels(data, task), None)
    outputs = np.array([[10, 13, 1, 0], [8, 13, 1, 0], [3, 6, 0, 1], [3, 6, 0, 1]], np.float32)
    answered = SpanTarget.answers(outputs, on, task, keep_logits=True)
    assert answered.columns["prediction"].to_list() == ["cat", "a cat", "", ""]
    # The article does not count; an empty answer is right where there is none.
    assert answered.columns["score"].to_list() == [1.0, 1.0, 0.0, 1.0]
    assert answered.scores == {"f1": 0.75, "exact_match": 0.75}
    # A network that never saw a question without an answer always gives one.
    always = SpanTarget.answers(outputs, on, replace(task, unanswerable=False), keep_logits=False)
    assert always.columns["prediction"].to_list() == ["cat", "a cat", "cat", "cat"]
    shared = [1.0, 0.0, 0.0, 1.0]
    assert SpanTarget.dev_score(outputs, SpanTarget.labels(data, task)) == pytest.approx(np.mean(shared))


def test_what_cannot_be_learnt_is_refused():
    data = made_questions(3)
    nowhere = pl.Series("answers", [["a red door"], ["gold"], ["salt"]])
    with pytest.raises(InputError, match=in_order("answer 'gold'", "1 question", "q1", "context")):
        SpanTarget.check(replace(data, examples=data.examples.with_columns(nowhere)))
    none = pl.Series("answers", [[], [], []], dtype=pl.List(pl.String))
    with pytest.raises(InputError, match="no question has an answer"):
        SpanTarget.check(replace(data, examples=data.examples.with_columns(none)))
    SpanTarget.check(data, [data])


def test_a_dataset_says_which_target_it_is(place):
    assert target_of(read_dataset(place / "train.json")) is SpanTarget
    assert target_of(made_pairs()) is LabelTarget


def test_every_answer_of_squads_dev_set_is_found(data_dir):
    data = read_dataset(data_dir / "squad" / "dev-v1.1-rebuilt.json.gz")
    SpanTarget.check(data)
    spans = SpanTarget.labels(data, SpanTarget.task(data, ("question", "context"), "treebank"))
    contexts, answers = data.texts("context"), data.examples["answers"].to_list()
    assert len(spans) == 10570
    for found, context, wanted in zip(spans.tolist(), contexts, answers, strict=True):
        given = [context[begin:end] for begin, end in found if begin >= 0]
        assert given[0] == wanted[0].strip()
        assert {answer.strip() for answer in wanted} == set(given)
