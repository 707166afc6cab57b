import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.subsets import predict_unseen
from tests.stated import says


def dataset(n=300, repeats=3):
    """Hypotheses of a word each that tells nothing but itself: who saw it knows its label, others must guess."""
    labels = np.random.default_rng(0).choice(["entailment", "neutral", "contradiction"], n)
    rows = [{"premise": f"row {i}", "hypothesis": f"word{i % n}", "label": labels[i % n]} for i in range(n * repeats)]
    return Dataset.from_frame(pl.DataFrame(rows))


def accuracy(found):
    return (found.predictions == found.gold).mean()


def test_who_saw_a_text_knows_it():
    data = dataset()
    twins = Dataset.from_frame(data.examples.drop("example_id").with_columns(premise=pl.lit("another")))
    assert accuracy(predict_unseen(data, twins, None, [0])) > 0.8


def test_cross_fitting_judges_no_text_that_was_seen():
    found = predict_unseen(dataset(), None, None, [0])
    assert accuracy(found) < 0.5
    assert "cross-fitted" in found.how


def test_training_rows_that_are_in_the_test_set_are_left_out():
    data = dataset()
    of_test = np.arange(len(data)) % 300 < 100
    found = predict_unseen(data.take(of_test), data, None, [0, 1])
    assert found.predictions.shape == (2, 300)
    assert accuracy(found) < 0.5
    assert found.how == says("600 training rows", "without the 300", "test set")


def test_other_texts_are_refused():
    single = Dataset.from_frame(pl.DataFrame({"text": ["a", "b"], "label": ["neutral", "entailment"]}))
    with pytest.raises(InputError, match="make the roles equal"):
        predict_unseen(dataset(), single, None, [0])


def test_too_few_texts_to_cross_fit():
    few = Dataset.from_frame(pl.DataFrame({"text": ["a", "a"], "label": ["x", "y"]}))
    with pytest.raises(InputError, match="too few different texts"):
        predict_unseen(few, None, None, [0])
