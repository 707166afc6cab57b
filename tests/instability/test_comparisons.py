from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from goldassay.core.errors import InputError
from goldassay.instability import compare_all


def models() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    ease = rng.random(2000) - 0.5
    return {
        name: (rng.random((6, 2000)) < np.clip(level + ease / 2, 0, 1)).astype(float)
        for name, level in (("bad", 0.55), ("good", 0.8), ("good too", 0.801), ("middle", 0.7))
    }


def test_models_that_cannot_be_told_apart_stand_together() -> None:
    found = compare_all(models())
    assert found.models[-2:] == ("middle", "bad")
    assert set(found.groups[0]) == {"good", "good too"}
    assert found.groups[1:] == (("middle",), ("bad",))
    raw = [comparison.p_value for comparison in found.comparisons]
    assert found.adjusted_p == pytest.approx(multipletests(raw, method="holm")[1])
    frame = found.to_frame()
    assert frame.height == 6
    assert (frame["difference"] >= 0).all()


def test_groups_may_overlap() -> None:
    rng = np.random.default_rng(2)
    scores = {name: (rng.random((5, 900)) < p).astype(float) for name, p in (("a", 0.6), ("b", 0.63), ("c", 0.66))}
    found = compare_all(scores, alpha=0.02)
    apart = {pair for pair, p in zip(found.pairs, found.adjusted_p, strict=True) if p <= 0.02}
    for group in found.groups:
        assert not any(one in group and other in group for one, other in apart)
    together = {(a, b) for group in found.groups for a in group for b in group}
    assert all(pair in together for pair in found.pairs if pair not in apart)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        compare_all({"a": [[1, 0], [0, 1]]})
    with pytest.raises(InputError, match="alpha"):
        compare_all(models(), alpha=0)
