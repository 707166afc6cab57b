"""Words that tell a rare label by themselves: nothing is sound where they may give as much as the limit."""

from __future__ import annotations

import numpy as np
import pytest

import goldassay
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.leakage.partial_input import LEANINGS, leaning_word_readings
from goldassay.questions.leakage.verdict import limits_of
from goldassay.readers.conditions import DataSplit
from goldassay.stats.effects import BALANCED, measure_effects


def rows(n: int, skill: float, seed: int) -> Dataset:
    """Labels 90/10; a word of the label ends each hypothesis in a share of the rows, and any of two in the others."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(2000)])
    weights = 1 / np.arange(10, 2010)
    texts = words[rng.choice(2000, (n, 8), p=weights / weights.sum())]
    gold = (rng.random(n) < 0.1).astype(int)
    ends = np.where(rng.random(n) < skill, gold, rng.integers(0, 2, n))
    return Dataset.from_frame(
        {
            "premise": [f"p{i}" for i in range(n)],
            "hypothesis": [f"{' '.join(text)} m{end}" for text, end in zip(texts.tolist(), ends.tolist(), strict=True)],
            "label": [f"l{code}" for code in gold],
        }
    )


@pytest.mark.parametrize(("skill", "above"), [(0.12, True), (0.0, False)])
def test_an_upper_end_reaches_the_limit_where_one_word_tells_as_much(skill: float, above: bool) -> None:
    limits = Settings().verdicts.leakage
    found = []
    for seed in range(5):
        train, test = rows(5000, skill, 2 * seed), rows(5000, skill, 2 * seed + 1)
        readings = leaning_word_readings(DataSplit(train, test), ["hypothesis_only"])
        assert len(readings) == len(LEANINGS)
        effects = measure_effects(readings, test.labels(), 2, limits_of(limits), n_draws=300).effects
        found.append(max(each.high for each in effects if each.measure == BALANCED) >= limits.unsound)
    assert sum(found) >= 4 if above else not any(found)


@pytest.mark.slow
def test_a_word_at_the_limit_is_seldom_called_sound_and_none_is() -> None:
    """Before these readers had a say, 11 of 100 such sets came out as sound."""
    words = [goldassay.audit(rows(5000, 0.12, 2 * i), rows(5000, 0.12, 2 * i + 1)).verdicts for i in range(6)]
    assert sum(each["leakage"]["verdict"] == "sound" for each in words) <= 1
    assert goldassay.audit(rows(5000, 0.0, 100), rows(5000, 0.0, 101)).verdicts["leakage"]["verdict"] == "sound"
