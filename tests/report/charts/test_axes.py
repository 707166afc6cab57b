from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.charts import Axis
from goldassay.report.charts.maps import Scale, printed_ticks


def test_linear_scale_and_ticks() -> None:
    scale = Scale(0, 1, 100, 300)
    assert (scale(0), scale(0.5), scale(1)) == (100, 200, 300)
    assert scale.ticks(5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Scale(-1, 1, 0, 1).ticks(4) == pytest.approx([-1, -0.5, 0, 0.5, 1])


def test_counts_are_named_once() -> None:
    ticks = printed_ticks(Axis("rank", unit="count"), Scale(1, 2, 0, 100), 5)
    assert [text for _, text in ticks] == ["1", "2"]


def test_log_scale_and_ticks() -> None:
    scale = Scale(10, 1000, 0, 200, log=True)
    assert scale(100) == pytest.approx(100)
    assert scale.ticks(4) == pytest.approx([10, 20, 50, 100, 200, 500, 1000])


@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e4), st.integers(2, 8))
def test_ticks_are_few_and_inside(low: float, width: float, n: int) -> None:
    ticks = Scale(low, low + width, 0, 100).ticks(n)
    assert len(ticks) <= n + 1
    slack = 1e-6 * (abs(low) + width)
    assert all(low - slack <= tick <= low + width + slack for tick in ticks)
