from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.instability import decompose_by_group

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]
    Table = Callable[[str], pl.DataFrame]


def test_groups_of_hans(bert_scores: Scores, table: Table) -> None:
    scores = bert_scores("hans")
    gold = table("hans/hans_gold_by_position.tsv.gz")
    found = decompose_by_group(scores, gold["subcase"].to_numpy())
    frame = found.to_frame()
    assert frame.columns == ["group", "n_examples", "mean", "sd", "share_of_variance"]
    assert frame["n_examples"].to_list() == [1000] * 30
    assert frame["share_of_variance"].sum() == pytest.approx(1)
    assert frame["mean"].mean() == pytest.approx(scores.mean())
    assert found.within * 1e4 == pytest.approx(0.955284, abs=1e-6)
    assert found.between * 1e4 == pytest.approx(1.326768, abs=1e-6)
    one = gold["subcase"][0]
    own = scores[:, (gold["subcase"] == one).to_numpy()].mean(axis=1)
    row = frame.row(by_predicate=pl.col("group") == one, named=True)
    assert row["sd"] == pytest.approx(own.std(ddof=1))
    expected = np.cov(own / 30, scores.mean(axis=1))[0, 1] / scores.mean(axis=1).var(ddof=1)
    assert row["share_of_variance"] == pytest.approx(expected)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.just(6)), elements=st.sampled_from([0.0, 1.0])),
    st.lists(st.sampled_from("abc"), min_size=6, max_size=6),
)
def test_shares_add_to_one_where_there_is_variance(scores: np.ndarray, groups: list[str]) -> None:
    if np.ptp(scores.sum(axis=1)) == 0:
        with pytest.warns(UndefinedMeasureWarning):
            found = decompose_by_group(scores, groups)
        assert np.isnan(found.shares_of_variance).all()
        assert found.skipped
    else:
        found = decompose_by_group(scores, groups)
        assert sum(found.shares_of_variance) == pytest.approx(1)
    assert found.groups == tuple(sorted(set(groups)))
    assert np.dot(found.sizes, found.means) == pytest.approx(scores.mean(axis=0).sum())


def test_a_group_that_runs_against_the_whole_has_a_negative_share() -> None:
    scores = np.array([[1, 1, 1, 0], [0, 0, 0, 1]])
    found = decompose_by_group(scores, ["up", "up", "up", "down"])
    assert dict(zip(found.groups, found.shares_of_variance, strict=True)) == pytest.approx({"up": 1.5, "down": -0.5})
