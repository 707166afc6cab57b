"""Training sets without patterns, against mining and down-sampling by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.artifacts import PatternTable, downsample, mine_patterns
from goldassay.lab.papers.artifacts.protocol import DEBIAS, RANDOM
from goldassay.lab.training.teachers import MinedPatterns, bias_source

if TYPE_CHECKING:
    from tests.lab.papers.artifacts.conftest import Made


@pytest.fixture(scope="module")
def mined(made: Made) -> PatternTable:
    whole = made.work.sets["SNLI train"]
    return mine_patterns(whole.texts("hypothesis"), whole.labels(), min_count=8, label_names=whole.label_names)


def test_patterns_lie_where_objectives_look_for_them(made: Made, mined: PatternTable):
    place = made.work.folder / made.corpus.mined
    assert isinstance(bias_source(place), MinedPatterns)
    assert PatternTable.read(place / "patterns.parquet").to_frame().equals(mined.to_frame())
    named = {key: each.get("bias") for training in made.work.scale.trainings for key, each in training.of.items()}
    assert named["InferSent+Guidance"] == named["dInferSent+Guidance+Reweight"] == made.corpus.mined
    assert named["dInferSent"] is None


def test_training_sets_are_those_of_downsampling(made: Made, mined: PatternTable):
    whole = made.work.sets["SNLI train"]
    for threshold in made.corpus.thresholds:
        kept = mined.select(threshold)
        expected = {made.corpus.part(DEBIAS, threshold): downsample(whole, kept, "debias", 0)}
        for sample in range(made.protocol.samples):
            expected[made.corpus.part(RANDOM, threshold, sample)] = downsample(whole, kept, "random", sample)
        for name, subset in expected.items():
            found = made.work.sets[name]
            assert found.name == name
            assert found.examples.equals(subset.examples)


def test_what_is_left_holds_no_pattern_and_is_balanced(made: Made, mined: PatternTable):
    threshold = made.corpus.thresholds[0]
    debias = made.work.sets[made.corpus.part(DEBIAS, threshold)]
    samples = [made.work.sets[made.corpus.part(RANDOM, threshold, at)] for at in range(made.protocol.samples)]
    at, _ = mined.select(threshold).matches(debias.texts("hypothesis"))
    assert at.size == 0
    for each in (debias, *samples):
        assert len(each) == len(debias)
        assert each.examples["label"].value_counts()["count"].n_unique() == 1
    ids = [set(each.examples["example_id"]) for each in samples]
    assert ids[0] != ids[1]


def test_every_training_has_its_set(made: Made):
    for training in made.work.scale.trainings:
        assert training.train in made.work.sets
        assert all(test in made.work.sets for test in training.tests)
    rows = {training.train: training.seeds for training in made.work.scale.trainings if RANDOM in training.train}
    seeds = [seed for each in rows.values() for seed in each]
    assert len(rows) == made.protocol.samples * len(made.corpus.thresholds)
    assert np.unique(seeds).size == len(seeds)
    assert pl.Series(seeds).is_sorted()
