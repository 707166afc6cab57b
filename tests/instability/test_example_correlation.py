from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import correlate_examples
from goldassay.questions.instability.measures import correlation

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]


def test_binary_series_have_phi() -> None:
    scores = np.array([[1, 0, 1, 1, 0], [1, 0, 0, 1, 0]]).T[np.newaxis]
    assert correlate_examples(scores).values[0, 1] == pytest.approx(2 / 3)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(2, 6), st.integers(2, 5)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    st.sampled_from(["mean", "pooled", "final"]),
)
@pytest.mark.filterwarnings("ignore::goldassay.core.errors.UndefinedMeasureWarning")
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@pytest.mark.filterwarnings("ignore::scipy.stats.NearConstantInputWarning")
def test_agrees_with_scipy(scores: np.ndarray, pooling: str) -> None:
    found = correlate_examples(scores, pooling=pooling)
    series = {"mean": scores, "pooled": scores.reshape(1, -1, scores.shape[2]), "final": scores[:, -1][np.newaxis]}
    runs = series[pooling]
    assert found.n_constant == scores.shape[2] - len(found.examples)
    for a, i in enumerate(found.examples):
        for b, j in enumerate(found.examples):
            per_run = [stats.spearmanr(run[:, i], run[:, j]).statistic for run in runs] if runs.shape[1] > 1 else []
            defined = [value for value in per_run if not np.isnan(value)]
            if defined:
                assert found.values[a, b] == pytest.approx(np.mean(defined), abs=1e-12)
            elif a != b:
                assert np.isnan(found.values[a, b])


@pytest.mark.parametrize(("name", "constant"), [("mnli", 8194), ("snli", 8954), ("break", 7652), ("hans", 24871)])
def test_examples_that_never_change(bert_scores: Scores, name: str, constant: int) -> None:
    scores = bert_scores(name)
    found = correlate_examples(scores[:, :], pooling="final", max_examples=None, order="file")
    assert found.n_constant == constant
    assert len(found.examples) == scores.shape[1] - constant


@pytest.mark.parametrize("tile", [1, 2, 512])
def test_what_is_left_out_by_hand(monkeypatch: pytest.MonkeyPatch, tile: int) -> None:
    """Two runs of three checkpoints: 0 and 1 change in the first run only, 2 in the second only, 4 in both, 3 never."""
    monkeypatch.setattr(correlation, "_TILE", tile)
    scores = np.array(
        [
            [[0, 1, 1, 0, 0], [1, 1, 1, 0, 1], [1, 0, 1, 0, 1]],
            [[0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 1]],
        ]
    )
    found = correlate_examples(scores, order="file")
    assert found.examples.tolist() == [0, 1, 2, 4]
    assert found.skipped == {
        "the example never changes": 1,
        # (0, 2) and (1, 2).
        "the two examples never change in the same run": 2,
    }
    nan = np.nan
    # Phi of 011 and 110 is -1/2, as that of 110 and 011; of 011 and 001 it is 1/2.
    wanted = [[1, -0.5, nan, 1], [-0.5, 1, nan, -0.5], [nan, nan, 1, 0.5], [1, -0.5, 0.5, 1]]
    assert found.values == pytest.approx(np.array(wanted), nan_ok=True)
    assert found.to_frame()["correlation"].is_nan().sum() == 2


def test_nothing_is_left_out_where_all_examples_change() -> None:
    found = correlate_examples([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 1], [0, 0]]], order="file")
    assert (found.skipped, found.n_constant) == ({}, 0)
    # Against each other in the first run, together in the third; in the second one of them does not change.
    assert found.values[0, 1] == pytest.approx((-1 + 1) / 2)


def test_order_puts_related_examples_side_by_side() -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, (1, 40, 2))
    scores = np.stack([base[..., i % 2] for i in range(10)], axis=-1)
    found = correlate_examples(scores)
    kinds = [int(found.examples[i]) % 2 for i in found.order]
    assert kinds in ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5)
    by_group = correlate_examples(scores, groups=list("aabbaabbaa"), order="file")
    assert by_group.order.tolist() == [0, 1, 4, 5, 8, 9, 2, 3, 6, 7]


def test_a_draw_is_fixed_by_its_seed() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (2, 9, 50))
    one, same, other = (correlate_examples(scores, max_examples=20, seed=seed) for seed in (1, 1, 2))
    assert one.examples.tolist() == same.examples.tolist() != other.examples.tolist()
    assert len(one.examples) <= 20
    assert np.array_equal(one.values, same.values)


def test_single_precision_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).random((3, 20, 30))
    double = correlate_examples(scores, order="file").values
    monkeypatch.setattr(correlation, "SINGLE_PRECISION_FROM", 0)
    single = correlate_examples(scores, order="file").values
    assert single.dtype == np.float32
    # Computed in double precision and rounded once.
    assert np.array_equal(single, double.astype(np.float32))


def test_blocks_of_rows_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).integers(0, 2, (3, 6, 40)).astype(np.float64)
    whole = correlate_examples(scores)
    monkeypatch.setattr(correlation, "_TILE", 7)
    in_blocks = correlate_examples(scores)
    assert in_blocks.values == pytest.approx(whole.values, abs=1e-14, nan_ok=True)
    assert in_blocks.skipped == whole.skipped
    assert np.array_equal(in_blocks.values, in_blocks.values.T, equal_nan=True)


def test_nothing_ever_changes() -> None:
    with pytest.warns(UndefinedMeasureWarning, match="no example"):
        found = correlate_examples(np.ones((2, 3, 4)))
    assert found.values.shape == (0, 0)
    assert found.to_frame().height == 0


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).random((1, 4, 5))
    with pytest.raises(InputError, match="pooling"):
        correlate_examples(scores, pooling="other")
    with pytest.raises(InputError, match="order"):
        correlate_examples(scores, order="other")
    with pytest.raises(InputError, match="groups"):
        correlate_examples(scores, groups=["a"])
    monkeypatch.setattr(correlation, "MAX_CLUSTERED", 3)
    with pytest.raises(InputError, match="too many"):
        correlate_examples(scores)
