"""Copies with planted cues are read as if they were mined, and what is found there bounds what may be called sound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.readings import FORM_BY_LIFT, PatternReadings, WrittenTexts
from goldassay.questions.artifacts.search import read_role
from goldassay.questions.artifacts.verdict import measure_patterns
from goldassay.questions.detection_limits import formed_texts, planted_texts
from goldassay.questions.public import audit
from goldassay.readers.conditions import DataSplit
from goldassay.stats.clusters import deal_evenly
from goldassay.stats.detection import DOSES, FORM, ONE_WORD, TEN_WORDS, Cell, CueKind, Planting, plant_rows

SETTINGS = Settings()
WORDS = np.array([f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "lmnrs"])


def clean(n: int, seed: int = 0, n_words: int = 6) -> Dataset:
    """Pairs of random words that tell nothing."""
    rng = np.random.default_rng(seed)
    texts = {role: [" ".join(rng.choice(WORDS, n_words)) for _ in range(n)] for role in ("premise", "hypothesis")}
    return Dataset.from_frame(pl.DataFrame({**texts, "label": rng.choice(["a", "b", "c"], n)}))


@pytest.fixture(scope="module", params=["folds", "parts"])
def split(request: pytest.FixtureRequest) -> DataSplit:
    data = clean(1800)
    if request.param == "folds":
        return DataSplit(data, data, deal_evenly(np.arange(len(data)), data.labels(), 3, 0))
    return DataSplit(data.take(np.arange(1200)), data.take(np.arange(1200, 1800)))


def readings_of(split: DataSplit) -> PatternReadings:
    return read_role(split, "hypothesis", SETTINGS, interactions=False)[1]


def planting_of(split: DataSplit, kind: CueKind, dose: float) -> Planting:
    parts = np.zeros(split.codes.size, np.int64) if split.whole is not None else split.folds.codes
    return plant_rows(split.codes, 3, parts, [kind], (dose,), [Cell(0, 0)], 1)


@pytest.mark.parametrize(("kind", "dose", "found"), [(ONE_WORD, DOSES[0], 1.0), (TEN_WORDS, DOSES[0], 0.0)])
def test_planted_words_are_found_as_by_mining(split: DataSplit, kind: CueKind, dose: float, found: float) -> None:
    planting = planting_of(split, kind, dose)
    read = readings_of(split)._read_copies(np.arange(split.codes.size), split.folds)(planting, "word", 0)
    mined = readings_of(split.with_texts("hypothesis", planted_texts(split.texts("hypothesis"), planting, 0)))
    planted = planting.cells[split.folds.rows] >= 0
    right, by_mining = (np.ravel(each)[planted] == mined.gold[planted] for each in (read.predictions, mined.by_lift))
    assert right.mean() == pytest.approx(by_mining.mean(), abs=0.1)
    if found:
        assert right.all()
    else:
        assert right.mean() < 0.5


def test_planted_form_is_read_as_if_it_were_written(split: DataSplit) -> None:
    planting, texts = planting_of(split, FORM, 0.2), split.texts("hypothesis")
    readings = readings_of(split)
    read = readings._read_copies(np.arange(split.codes.size), split.folds)(planting, "form", 0)
    written = WrittenTexts(formed_texts(texts, planting.forms), split.codes, split.folds, readings.label_names)
    expected = written.read(readings.min_count, readings.q)
    assert read.reader == FORM_BY_LIFT
    np.testing.assert_array_equal(np.ravel(read.predictions), expected)
    planted = planting.cells[split.folds.rows] >= 0
    assert (expected == readings.gold)[planted].mean() > 0.8


def test_limits_are_those_of_the_worst_text() -> None:
    """Premises of few words have no room for forms, and are not the last text."""
    data = clean(1500)
    data = replace(data, examples=data.examples.with_columns(premise=pl.Series(WORDS[np.arange(1500) % WORDS.size])))
    split = DataSplit(data, data, deal_evenly(np.arange(1500), data.labels(), 5, 0))
    readings = [read_role(split, role, SETTINGS)[1] for role in split.train.text_columns]
    effects = measure_patterns(readings, None, SETTINGS.verdicts.artifacts, 0)
    found = {each.kind: each for each in effects.limits}
    of_last = {each.kind: each for each in readings[-1].limits(effects, None)}
    assert found["form"].limit > of_last["form"].limit
    assert not found["fifty words"].counts
    assert [each.counts for each in effects.limits[:2]] == [True, True]


def test_texts_without_a_frequent_pattern_are_judged_by_form() -> None:
    """No word of 400 rows is in eight."""
    labels = np.random.default_rng(0).choice(["a", "b"], 400).tolist()
    shouted = [
        {"text": f"v{at} {'LOUD' if label == 'a' else 'soft'}{at}", "label": label} for at, label in enumerate(labels)
    ]
    found = audit(shouted).verdicts["artifacts"]
    assert found["verdict"] == "caution"
    assert found["evidence"].startswith("Reading form by lift")
    quiet = [{"text": f"v{at} u{at}", "label": label} for at, label in enumerate(labels)]
    found = audit(quiet).verdicts["artifacts"]
    assert found["verdict"] == "unresolved"
    assert found["at_most"] > 0
