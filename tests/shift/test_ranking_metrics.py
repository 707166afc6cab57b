from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from goldassay.core.errors import InputError
from goldassay.shift import aupr, auroc, subsampled_aupr
from tests.shift.test_false_alarms import GOLDEN, few_values

# AUROC, then average precision with either side as positive.
EXPECTED = {
    "B": (0.96, 0.990978, 0.852857),
    "C": (0.75, 0.747024, 0.767857),
    "D": (0.875, 0.973333, 0.5),
    "E": (0.666667, 0.722222, 0.770833),
    "interleaved": (0.525, 0.561992, 0.561992),
    "all tied": (0.5, 5 / 12, 0.583333),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_golden_values(case: str) -> None:
    outside, inside = GOLDEN[case][:2]
    found = auroc(inside, outside), aupr(inside, outside), aupr(inside, outside, "in")
    assert found == pytest.approx(EXPECTED[case], abs=1e-6)


@given(few_values, few_values)
def test_equals_scikit_learn_and_scipy(inside, outside) -> None:
    scores = np.r_[inside, outside]
    is_out = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    assert auroc(inside, outside) == pytest.approx(roc_auc_score(is_out, scores))
    assert aupr(inside, outside) == pytest.approx(average_precision_score(is_out, scores))
    assert aupr(inside, outside, "in") == pytest.approx(average_precision_score(1 - is_out, -scores))
    u = stats.mannwhitneyu(outside, inside).statistic
    assert auroc(inside, outside) == pytest.approx(u / (len(inside) * len(outside)))


@given(few_values, few_values)
def test_swapping_sides_and_increasing_transforms(inside, outside) -> None:
    assert auroc(outside, inside) == pytest.approx(1 - auroc(inside, outside))
    assert auroc(np.exp(inside), np.exp(outside)) == auroc(inside, outside)
    assert aupr(np.exp(inside), np.exp(outside)) == aupr(inside, outside)


@given(few_values, few_values, st.integers(2, 4))
def test_a_base_rate_weighs_like_repeated_examples(inside, outside, times) -> None:
    repeated = np.repeat(inside, times)
    share = len(outside) / (len(outside) + len(repeated))
    assert aupr(inside, outside, base_rate=share) == pytest.approx(aupr(repeated, outside))
    assert aupr(inside, outside, "in", base_rate=1 - share) == pytest.approx(aupr(repeated, outside, "in"))


def test_a_random_score_reaches_the_base_rate() -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.random(40_000), rng.random(10_000)
    assert aupr(inside, outside) == pytest.approx(0.2, abs=0.01)
    assert aupr(inside, outside, base_rate=0.5) == pytest.approx(0.5, abs=0.01)
    assert auroc(inside, outside) == pytest.approx(0.5, abs=0.01)


def test_drawing_to_a_ratio() -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(size=1000), rng.normal(1, 1, 3000)
    found = subsampled_aupr(inside, outside, 0.2, seed=3)
    assert (found.n_in, found.n_out, len(found.values)) == (1000, 200, 10)
    assert found.chance == pytest.approx(1 / 6)
    assert (found.mean, found.sd) == pytest.approx((np.mean(found.values), np.std(found.values)))
    assert found.mean == pytest.approx(aupr(inside, outside, base_rate=1 / 6), abs=3 * found.sd)
    assert aupr(inside, outside, ood_ratio=0.2, repeats=10, seed=3) == found.mean
    assert subsampled_aupr(inside, outside, 0.2, seed=3) == found != subsampled_aupr(inside, outside, 0.2, seed=4)
    assert found.to_frame().columns == ["draw", "aupr"]
    assert subsampled_aupr(inside, outside, 3.0, repeats=1).values == (pytest.approx(aupr(inside, outside)),)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"positive": "id"}, "no side 'id'"),
        ({"base_rate": 0.0}, "base rate is 0.0"),
        ({"ood_ratio": 2.0}, "drawn from 2; give an ood_ratio of at most 0.667"),
        ({"ood_ratio": -1.0}, "must be above 0"),
        ({"ood_ratio": 0.5, "base_rate": 0.5}, "give one of them"),
    ],
)
def test_bad_settings(settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        aupr([1, 2, 3], [2, 3], **settings)


def test_bad_scores() -> None:
    with pytest.raises(InputError, match="no scores"):
        auroc([], [1])
    with pytest.raises(InputError, match="not finite"):
        aupr([1], [np.nan])
