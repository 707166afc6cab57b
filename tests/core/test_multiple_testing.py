"""Corrections for many tests, against statsmodels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from goldassay.core.multiple_testing import benjamini_hochberg


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_benjamini_hochberg_equals_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12, atol=1e-300)


def test_no_tests_no_values() -> None:
    assert benjamini_hochberg([]).size == 0
