"""Patterns read each fold by what the other folds teach, as they would read a part of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.search import describe_search, read_role
from goldassay.readers.conditions import DataSplit
from goldassay.stats.clusters import deal_evenly

SETTINGS = Settings()


def made(n: int = 900) -> Dataset:
    """Hypotheses of which some words, and how many there are, tell the label in part."""
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "lmnrs"])
    codes = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    cues = ("some", "maybe", "never")
    texts = [
        " ".join([*rng.choice(words, 4 + 2 * (code == 1)), *([cues[code]] if rng.random() < 0.6 else [])])
        for code in codes
    ]
    frame = pl.DataFrame(
        {
            "example_id": [str(row) for row in range(n)],
            "premise": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "hypothesis": texts,
            "label": np.array(["a", "b", "c"])[codes],
        }
    )
    return Dataset(frame, ("premise", "hypothesis"), ("a", "b", "c"), "made")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return made()


@pytest.fixture(scope="module")
def folds(data: Dataset) -> np.ndarray:
    return deal_evenly(np.arange(len(data)), data.labels(), 5, 0)


def test_each_fold_is_read_as_a_test_part_of_the_other_folds(data: Dataset, folds: np.ndarray) -> None:
    _, whole = read_role(DataSplit(data, data, folds), "hypothesis", SETTINGS)
    assert whole.by_folds
    assert (whole.by_lift == data.labels()).mean() > 0.6
    for fold in range(5):
        inside = folds == fold
        _, part = read_role(DataSplit(data.take(~inside), data.take(inside)), "hypothesis", SETTINGS)
        np.testing.assert_array_equal(whole.by_share[inside], part.by_share)
        np.testing.assert_array_equal(whole.by_lift[inside], part.by_lift)
        np.testing.assert_array_equal(whole.assignment.classes[inside], part.assignment.classes)
        # Which words are rare is said by all rows there.
        assert (whole.form[inside] == part.form).mean() > 0.95


def test_labels_of_a_fold_have_no_part_in_what_is_read_of_it(data: Dataset, folds: np.ndarray) -> None:
    labels = data.examples["label"].to_numpy().copy()
    inside = folds == 3
    labels[inside] = np.random.default_rng(1).permutation(labels[inside])
    other = replace(data, examples=data.examples.with_columns(label=pl.Series(labels)))
    one, two = (read_role(DataSplit(each, each, folds), "hypothesis", SETTINGS)[1] for each in (data, other))
    for name in ("by_share", "by_lift", "form"):
        np.testing.assert_array_equal(getattr(one, name)[inside], getattr(two, name)[inside])
    np.testing.assert_array_equal(one.lifts[inside], two.lifts[inside])
    assert (one.lifts[~inside] != two.lifts[~inside]).any()


def test_shown_are_the_patterns_of_all_rows(data: Dataset, folds: np.ndarray) -> None:
    split = DataSplit(data, data, folds)
    found = describe_search(data, split, Bounds(text="hypothesis"), SETTINGS.artifacts, 0)
    alone = describe_search(data, None, Bounds(text="hypothesis"), SETTINGS.artifacts, 0)
    assert found.findings.equals(alone.findings)
    assert (found.section.n_mined, found.section.strongest) == (alone.section.n_mined, alone.section.strongest)
    assert found.assignment is not None
    names = found.findings["pattern"].to_list()
    texts = data.texts("hypothesis")
    held = 0
    for row, ids in zip(texts, found.assignment.pattern_ids, strict=True):
        held += len(ids)
        assert all(set(names[at].replace("#", " ").split()) <= set(row.split()) for at in ids)
    assert held > 0
    # The curve at the threshold that was used is what was read.
    (point,) = [each for each in found.section.coverage_curve if each.threshold == SETTINGS.artifacts.threshold]
    assert point.coverage == pytest.approx(found.section.coverage)
    assert point.precision == pytest.approx(found.section.precision.value)


@pytest.mark.parametrize("seed", range(3))
def test_labels_dealt_at_random_gain_nothing(data: Dataset, seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(data.examples["label"].to_numpy())
    dealt = replace(data, examples=data.examples.with_columns(label=pl.Series(labels)))
    split = DataSplit(dealt, dealt, deal_evenly(np.arange(len(dealt)), dealt.labels(), 5, seed))
    _, found = read_role(split, "hypothesis", SETTINGS)
    usual = np.bincount(dealt.labels()).max() / len(dealt)
    for named in (found.by_share, found.by_lift, found.form):
        assert (named == dealt.labels()).mean() - usual < 0.03
