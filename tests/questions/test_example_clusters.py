"""Examples that share their first text are drawn together in every question."""

from __future__ import annotations

import numpy as np

from goldassay.core.progress import silent
from goldassay.data import Dataset
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.shift.answers import Answers
from goldassay.questions.shift.generalization import measure_gaps
from goldassay.questions.shift.groups import Group


def pairs(premises: list[str]) -> Dataset:
    rows = [
        {"id": f"e{i}", "premise": premise, "hypothesis": f"h{i}", "label": "yes" if i % 2 else "no"}
        for i, premise in enumerate(premises)
    ]
    return Dataset.from_frame(rows, name="pairs")


def test_examples_are_clustered_by_their_first_text() -> None:
    found = clusters_of(pairs(["a", "b", "a"]))
    assert found is not None
    assert found.tolist() == ["a", "b", "a"]


def test_the_order_is_that_of_the_examples_asked_for() -> None:
    dataset = pairs(["a", "b", "a", "c"])
    found = clusters_of(dataset, np.array(["e3", "e0", "e2"]))
    assert found is not None
    assert found.tolist() == ["c", "a", "a"]
    assert clusters_of(dataset, np.array(["e3", "elsewhere"])) is None


def test_where_nothing_recurs_or_all_is_one_there_are_none() -> None:
    assert clusters_of(None) is None
    assert clusters_of(pairs(["a", "b", "c"])) is None
    assert clusters_of(pairs(["a", "a", "a"])) is None
    single = Dataset.from_frame([{"text": "a", "label": "x"}, {"text": "a", "label": "y"}], name="single")
    assert clusters_of(single) is None


def test_the_interval_of_a_score_on_another_distribution_draws_premises() -> None:
    """Ten copies of each of 40 pairs tell no more than the 40: the interval is about sqrt(10) times as wide."""
    right = np.repeat(np.random.default_rng(0).random(40) < 0.7, 10).astype(float)
    dataset = pairs([f"p{i // 10}" for i in range(400)])

    def answers(name: str) -> Answers:
        return Answers(
            model="m", train_set="", dataset=name, seeds=(0, 1), example_ids=np.array([f"e{i}" for i in range(400)]),
            scores=np.stack([right, right]), predictions=None, gold=None, logits=None, label_names=("no", "yes"),
            regression=False, file="",
        )  # fmt: skip

    group = Group("m", "m", "", answers("ID"), (answers("other"),))

    def measured(texts: dict[str, Dataset]) -> tuple[float, str]:
        rows, _ = measure_gaps([group], None, {}, texts=texts, seed=0, n_draws=500, progress=silent)
        (own,) = (row for row in rows if row["own"])
        return own["high"] - own["low"], own["interval_method"]

    (plain, one), (clustered, other) = measured({}), measured({"ID": dataset, "other": dataset})
    assert one == "bootstrap over examples and runs"
    assert other == "bootstrap over clusters of examples and runs"
    assert 2.4 < clustered / plain < 4
