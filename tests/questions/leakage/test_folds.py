"""Every reader of a part reads each fold by what the other folds teach, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.core.progress import silent
from goldassay.data.dataset import Dataset
from goldassay.questions.detection_limits import ReadText
from goldassay.questions.leakage.partial_input import (
    _read_copies,
    form_readings,
    interaction_readings,
    leaning_word_readings,
    limits_of_parts,
    quick_readings,
    word_readings,
)
from goldassay.readers.conditions import DataSplit
from goldassay.stats.clusters import Folds, deal_evenly
from goldassay.stats.detection import KindLimit, Planting
from goldassay.stats.effects import ACCURACY, BALANCED, INFORMATION, Limits, measure_effects

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.stats.detection import Shape
    from goldassay.stats.effects import ReaderPredictions

    Readers = Callable[[DataSplit], list[ReaderPredictions]]

PARTS = ("premise_only", "hypothesis_only")
READERS: dict[str, Readers] = {
    "quick": lambda split: quick_readings(split, PARTS, 0, silent),
    "form": lambda split: form_readings(split, PARTS, 0),
    "words": lambda split: word_readings(split, PARTS),
    "interactions": lambda split: interaction_readings(split, PARTS, 0),
    "telling": lambda split: leaning_word_readings(split, PARTS),
}


def made(n: int = 500) -> Dataset:
    """Pairs of which a word of the hypothesis, and its length, tell the label in part."""
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}" for a in "bcdfg" for b in "aeiou"])
    codes = rng.integers(0, 2, n)
    hypotheses = [
        " ".join([*rng.choice(words, 3 + code), *(["never"] if rng.random() < 0.2 + 0.5 * code else [])])
        for code in codes
    ]
    frame = pl.DataFrame(
        {
            "example_id": [str(row) for row in range(n)],
            "premise": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "hypothesis": hypotheses,
            "label": np.array(["no", "yes"])[codes],
        }
    )
    return Dataset(frame, ("premise", "hypothesis"), ("no", "yes"), "made")


@pytest.mark.parametrize("name", READERS)
def test_labels_of_a_fold_have_no_part_in_what_is_read_of_it(name: str) -> None:
    data = made()
    folds = deal_evenly(np.arange(len(data)), data.labels(), 5, 0)
    before = READERS[name](DataSplit(data, data, folds))
    labels = data.examples["label"].to_numpy().copy()
    inside = folds == 2
    labels[inside] = np.random.default_rng(1).permutation(labels[inside])
    other = replace(data, examples=data.examples.with_columns(label=pl.Series(labels)))
    after = READERS[name](DataSplit(other, other, folds))
    assert len(before) == len(after) > 0
    assert all(np.shape(each.predictions) == (1, len(data)) for each in before)
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.predictions[:, inside], two.predictions[:, inside])
        np.testing.assert_array_equal(one.lifted[:, inside], two.lifted[:, inside])
    assert any((one.predictions != two.predictions).any() for one, two in zip(before, after, strict=True))
    hypothesis = [each for each in before if each.part == "hypothesis"]
    assert max((each.predictions == data.labels()).mean() for each in hypothesis) > 0.53


@pytest.mark.parametrize("name", READERS)
def test_folds_of_labels_dealt_at_random_tell_nothing(name: str) -> None:
    data = made(1500)
    labels = np.random.default_rng(5).permutation(data.examples["label"].to_numpy())
    data = replace(data, examples=data.examples.with_columns(label=pl.Series(labels)))
    folds = deal_evenly(np.arange(len(data)), data.labels(), 5, 0)
    for each in READERS[name](DataSplit(data, data, folds)):
        assert abs((each.predictions == data.labels()).mean() - 0.5) < 0.06


@pytest.mark.parametrize("shape", ["word", "form"])
def test_a_copy_is_read_by_folds_as_well(shape: Shape) -> None:
    data = made()
    of_rows = deal_evenly(np.arange(len(data)), data.labels(), 5, 0)
    labels, inside = data.examples["label"].to_numpy().copy(), of_rows == 2
    labels[inside] = np.random.default_rng(1).permutation(labels[inside])
    other = replace(data, examples=data.examples.with_columns(label=pl.Series(labels)))
    nothing = Planting(np.full(len(data), -1), np.full((len(data), 2), -1), np.zeros(len(data), np.int64))
    found = [
        _read_copies(
            DataSplit(each, each, of_rows), "hypothesis", 0, None, np.arange(len(data)), Folds.of_all(of_rows)
        )(nothing, shape, 0)
        for each in (data, other)
    ]
    one, two = (np.ravel(each.predictions) for each in found)
    np.testing.assert_array_equal(one[inside], two[inside])
    assert np.unique(one).size == 2


def test_cues_are_planted_in_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit_of_part(text: ReadText, effects: object, seed: int) -> tuple[KindLimit, ...]:
        return (KindLimit(text.here["word"].part, 0.1, True, (1.0,), (0.1,)),)

    monkeypatch.setattr(ReadText, "limits", limit_of_part)
    data = made()
    split = DataSplit(data, data, deal_evenly(np.arange(len(data)), data.labels(), 5, 0))
    readings = word_readings(split, PARTS)
    limits = dict.fromkeys((ACCURACY, BALANCED, INFORMATION), Limits(0.03, 0.12))
    effects = measure_effects(
        readings,
        data.labels(),
        2,
        limits,
        train_counts=split.label_counts,
        clusters=None,
        seed=0,
    )
    found = limits_of_parts(split, {}, readings, effects, None, 0)
    assert {each.kind for each in found} == {"premise", "hypothesis"}
