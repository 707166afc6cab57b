from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.leakage import (
    agreement,
    agreement_report,
    broken_identities,
    chance_agreement,
    cohen_kappa,
    recovery,
)

SINGLE = [0, 1, 1, 2, 2, 0, 0, 1]
PAIRED = [0, 1, 2, 2, 0, 0, 1, 1]
GOLD = [0, 1, 2, 2, 2, 1, 2, 0]

# Printed agreement, recovery, corrected accuracy of the single-sentence and of the paired model (x 100).
PRINTED = {
    "SICK": (48.8, 49.7, 60.0, 87.8),
    "SNLI": (70.0, 71.8, 71.6, 90.6),
    "MNLI-b": (32.5, 33.4, 59.8, 88.7),
    "MNLI-u": (47.5, 48.6, 60.9, 88.3),
    "XNLI": (52.3, 54.0, 55.0, 73.7),
    "FEVER": (39.4, 38.0, 63.5, 74.7),
    "ANLI": (37.6, 53.4, 48.2, 54.0),
    "A1": (53.8, 57.9, 51.0, 61.9),
    "A2": (53.9, 60.3, 48.1, 50.0),
    "A3": (52.1, 58.5, 48.1, 49.8),
    "OCNLI": (69.0, 74.1, 61.5, 71.8),
    "CAugNLI P": (32.9, 32.7, 41.9, 84.7),
    "CAugNLI H": (43.4, 42.5, 39.0, 84.7),
    "SNLI-debiased P": (32.0, 31.8, 43.3, 95.6),
    "SNLI-debiased H": (60.9, 61.4, 65.3, 95.6),
    "MNLI-debiased P": (34.7, 34.0, 34.0, 96.9),
    "MNLI-debiased H": (42.2, 42.0, 57.1, 96.9),
}


def predictions(n_classes: int):
    codes = st.integers(0, n_classes - 1)
    return st.integers(1, 40).flatmap(lambda n: st.tuples(*[hnp.arrays(np.int64, n, elements=codes)] * 3))


def test_golden_values():
    assert agreement(SINGLE, PAIRED) == 0.625
    assert recovery(SINGLE, PAIRED, GOLD) == pytest.approx(0.6)
    assert recovery(SINGLE, PAIRED, GOLD, "paper") == recovery(SINGLE, PAIRED, GOLD, convention="code") == 0.75
    report = agreement_report(SINGLE, PAIRED, GOLD)
    assert report.single_accuracy == report.paired_accuracy == 0.5
    assert report.both_correct == 0.375
    assert report.single_only == report.paired_only == 0.125


@given(predictions(3))
def test_identities(arrays):
    single, paired, gold = arrays
    report = agreement_report(single, paired, gold)
    s, p, c, a = report.single_accuracy, report.paired_accuracy, report.both_correct, report.agreement
    assert max(0, p + s - 1) <= c + 1e-12
    assert c <= min(p, s) + 1e-12
    assert c <= a + 1e-12
    assert a <= 1 - abs(p - s) + 1e-12
    assert a <= 1 - p - s + 2 * c + 1e-12
    assert a >= p + s - 1 - 1e-12
    for value, convention in ((report.recovery, "recommended"), (report.recovery_paper, "paper")):
        if not math.isnan(value):
            assert not broken_identities(a, value, s, p, convention=convention, tolerance=1e-9)


@given(predictions(2))
def test_two_classes_agree_where_both_are_right_or_both_wrong(arrays):
    report = agreement_report(*arrays)
    s, p, c = report.single_accuracy, report.paired_accuracy, report.both_correct
    assert report.agreement == pytest.approx(1 - p - s + 2 * c)


@given(predictions(4), st.randoms(use_true_random=False))
def test_symmetric_and_blind_to_order_and_names(arrays, random):
    single, paired, _ = arrays
    order = np.array(random.sample(range(single.size), single.size))
    names = np.array(random.sample(range(4), 4))
    before, after = agreement_report(*arrays), agreement_report(*(names[array[order]] for array in arrays))
    for name, value in before.to_dict().items():
        if name != "skipped":
            assert after.to_dict()[name] == pytest.approx(value), name
    assert agreement(single, paired) == agreement(paired, single)
    assert agreement(single, single) == 1


@given(predictions(3))
def test_kappa_is_scikit_learns(arrays):
    single, paired, _ = arrays
    if chance_agreement(single, paired) < 1:
        assert cohen_kappa(single, paired) == pytest.approx(cohen_kappa_score(single, paired))


def test_undefined_is_nan_with_a_reason():
    with pytest.warns(UndefinedMeasureWarning, match="agree on no example"):
        assert math.isnan(recovery([0, 1], [1, 0], [0, 0]))
    with pytest.warns(UndefinedMeasureWarning, match="right on no example"):
        assert math.isnan(recovery([0, 1], [1, 0], [2, 2], "code"))
    with pytest.warns(UndefinedMeasureWarning, match="one class"):
        assert math.isnan(cohen_kappa([1, 1], [1, 1]))
    report = agreement_report([0, 0], [0, 0], [1, 1])
    assert set(report.skipped) == {"kappa", "recovery_paper"}
    assert "one class" in report.skipped["kappa"]
    assert report.recovery == 0
    assert report.to_frame().height == 1


@pytest.mark.parametrize(("convention", "feasible"), [("code", 7), ("recommended", 4)])
def test_most_printed_rows_cannot_be(convention, feasible):
    broken = {
        name: broken_identities(*(value / 100 for value in row), convention=convention, tolerance=0.003)
        for name, row in PRINTED.items()
    }
    assert sum(not found for found in broken.values()) == feasible
    assert broken["MNLI-b"]


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (([0, 1], [0]), "lengths differ: single 2, paired 1"),
        (([], []), "at least one"),
        (([0.5], [0.5]), "whole numbers"),
        (([[0]], [[0]]), "whole numbers"),
        (([-1], [0]), "negative"),
    ],
)
def test_refuses(arrays, problem):
    with pytest.raises(InputError, match=problem):
        agreement(*arrays)


def test_refuses_an_unknown_convention():
    with pytest.raises(InputError, match="convention"):
        recovery(SINGLE, PAIRED, GOLD, "percent")
