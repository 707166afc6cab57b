"""Weights that follow the gap between easy and hard dev examples."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from goldassay.lab.training.objectives import TeacherLogitsOn
from goldassay.lab.training.objectives.guidance import Guidance, GuidanceSettings, next_alpha


def on(strengths) -> TeacherLogitsOn:
    values = np.array(strengths, np.float32)
    return TeacherLogitsOn(values, values)


def followed(gaps, start=5.0, **settings):
    alphas = []
    alpha = start
    for gap in gaps:
        alpha = next_alpha(alpha, start, gap, GuidanceSettings(**settings))
        alphas.append(alpha)
    return alphas


def test_the_published_rule():
    assert followed([0.2, 0.2, 0.1, 0.1, 0.1]) == [5.5, 6, 5.5, 5, 5]
    assert followed([0.15], phi=0.15) == [5.5]


def test_an_undefined_gap_changes_nothing_and_a_cap_ends_growth():
    assert followed([0.2, math.nan, 0.2]) == [5.5, 5.5, 6]
    assert followed([1.0] * 50)[-1] == 20
    assert followed([1.0] * 50, cap=math.inf)[-1] == 30
    # A start above the cap is kept.
    assert followed([1.0, 0.0], start=30.0) == [30, 30]


@given(st.lists(st.floats(-1, 1), max_size=40), st.floats(1, 40))
def test_never_below_its_start(gaps, start):
    assert all(start <= alpha <= max(20, start) for alpha in followed(gaps, start))


def test_follows_the_gap_on_dev_and_goes_on_from_its_memory():
    dev = on([[0.9, 0, 0], [0.9, 0, 0], [0.8, 0.9, 0], [0, 0, 0], [0, 0.8, 0]])
    gold = np.array([0, 1, 0, 2, 1])
    settings = GuidanceSettings(reweight=True)
    guidance = Guidance(settings, {"alpha1": 5.0, "alpha2": 3.0}, on([[1, 0, 0]]), dev, gold)
    assert guidance.easy.tolist() == [True, False, False, False, True]
    assert guidance.hard.tolist() == [False, True, False, False, False]
    always_first = np.tile([1.0, 0, 0], (5, 1)).astype(np.float32)
    guidance.end_epoch(always_first)
    # Easy: one of two right; hard: none.
    assert guidance.history == [{"gap": 0.5, "alpha1": 5.5, "alpha2": 3.5}]
    other = Guidance(settings, {"alpha1": 5.0, "alpha2": 3.0}, on([[1, 0, 0]]), dev, gold)
    other.recall(json.loads(json.dumps(guidance.memory())))
    guidance.end_epoch(always_first)
    other.end_epoch(always_first)
    assert other.alphas == guidance.alphas == {"alpha1": 6.0, "alpha2": 4.0}


def test_without_hard_examples_weights_stay_and_json_has_no_nan():
    guidance = Guidance(GuidanceSettings(reweight=True), {"alpha2": 5.0}, on([[1, 0]]), on([[0.9, 0]]), np.array([0]))
    guidance.end_epoch(np.array([[1.0, 0]], np.float32))
    assert guidance.findings() == {"biased": 1.0, "reweighting": [{"gap": None, "alpha2": 5.0}]}


def test_without_reweighting_nothing_follows():
    guidance = Guidance(GuidanceSettings(), {"alpha2": 5.0}, on([[1, 0], [0.5, 0]]))
    guidance.end_epoch(None)
    assert guidance.alphas == {"alpha2": 5.0}
    assert guidance.findings() == {"biased": 0.5}
