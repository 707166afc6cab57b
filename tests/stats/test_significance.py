"""Tests and corrections for many of them, against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from goldassay.stats.significance import benjamini_hochberg, holm, t_p_value


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_benjamini_hochberg_equals_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12, atol=1e-300)


def test_no_tests_no_values() -> None:
    assert benjamini_hochberg([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("correct", [benjamini_hochberg, holm])
def test_what_is_no_number_is_no_test(correct) -> None:
    found = correct([0.04, math.nan, 0.01, math.nan, 0.5])
    assert np.flatnonzero(np.isnan(found)).tolist() == [1, 3]
    assert found[[0, 2, 4]] == pytest.approx(correct([0.04, 0.01, 0.5]))
    assert np.isnan(correct([math.nan])).all()


def test_p_of_a_difference() -> None:
    assert t_p_value(-0.03, 1e-4, 7.5) == pytest.approx(2 * stats.t.sf(3, 7.5))
    assert t_p_value(0.03, 1e-4, math.inf) == pytest.approx(2 * stats.norm.sf(3))
    assert (t_p_value(0.0, 0.0, 3), t_p_value(0.1, 0.0, 3)) == (1, 0)
    assert math.isnan(t_p_value(math.nan, 1.0, math.inf))
