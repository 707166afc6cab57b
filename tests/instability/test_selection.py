from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.instability import select_checkpoints


def scores(n_runs: int = 3, n_checkpoints: int = 4, n_examples: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random((n_runs, n_checkpoints)), rng.integers(0, 2, (n_runs, n_checkpoints, n_examples))


def test_with_one_checkpoint_both_rules_agree() -> None:
    standard, analysis = scores(n_checkpoints=1)
    found = select_checkpoints(standard, analysis, n_splits=3)
    assert found.standard_scores.tolist() == found.analysis_scores.tolist()
    assert (found.standard_mean, found.standard_sd) == (found.analysis_mean, found.analysis_sd)
    assert "3 of 3 runs" in found.caveats[-1]


def test_the_rule_of_the_analysis_set_is_never_worse_on_its_dev_part() -> None:
    found = select_checkpoints(*scores(), n_splits=20)
    assert (found.analysis_dev_scores >= found.standard_dev_scores).all()
    assert found.analysis_scores.shape == (20, 3)
    assert found.n_dev == 40
    assert found.to_frame()["mean"].to_list() == [found.standard_mean, found.analysis_mean]


def test_equal_scores_take_the_earliest_checkpoint() -> None:
    found = select_checkpoints(np.full((2, 3), 0.5), np.ones((2, 3, 10)))
    assert found.standard_choices.tolist() == [[0, 0]]
    assert found.analysis_choices.tolist() == [[0, 0]]


def test_the_best_checkpoint_is_chosen() -> None:
    standard = np.array([[0.1, 0.9, 0.2], [0.3, 0.1, 0.2]])
    analysis = np.zeros((2, 3, 20))
    analysis[:, 2] = 1
    found = select_checkpoints(standard, analysis)
    assert found.standard_choices.tolist() == [[1, 0]]
    assert found.analysis_choices.tolist() == [[2, 2]]
    assert (found.standard_mean, found.analysis_mean) == (0.0, 1.0)


def test_the_split_keeps_the_shares_of_groups() -> None:
    standard, _ = scores()
    groups = np.repeat(["a", "b", "c"], [30, 15, 5])
    # A score that is the membership in a group shows which share of it is in the dev part.
    for group, size in (("a", 24), ("b", 12), ("c", 4)):
        analysis = np.broadcast_to(groups == group, (3, 4, 50)).astype(float)
        found = select_checkpoints(standard, analysis, groups=groups, n_splits=5)
        assert found.analysis_dev_scores == pytest.approx(np.full((5, 3), size / 40))


def test_a_split_is_fixed_by_its_seed() -> None:
    one, same, other = (select_checkpoints(*scores(), seed=seed) for seed in (1, 1, 2))
    assert one.analysis_scores.tolist() == same.analysis_scores.tolist() != other.analysis_scores.tolist()


def test_standard_scores_may_be_of_examples() -> None:
    standard, analysis = np.random.default_rng(1).integers(0, 2, (2, 3, 4, 50))[:, :, :, :]
    by_example = select_checkpoints(standard, analysis)
    assert (
        by_example.standard_scores.tolist() == select_checkpoints(standard.mean(2), analysis).standard_scores.tolist()
    )


def test_bad_input() -> None:
    standard, analysis = scores()
    with pytest.raises(InputError, match="same runs"):
        select_checkpoints(standard[:2], analysis)
    with pytest.raises(InputError, match="share"):
        select_checkpoints(standard, analysis, dev_share=1.0)
    with pytest.raises(InputError, match="leaves one part empty"):
        select_checkpoints(standard, analysis[:, :, :1])
    with pytest.raises(InputError, match="stratify"):
        select_checkpoints(standard, analysis, gold=[0, 1])


def test_intervals_are_students_over_the_runs_means_of_all_splits() -> None:
    found = select_checkpoints(*scores(5), n_splits=7)
    on_standard, on_analysis = found.standard_scores.mean(axis=0), found.analysis_scores.mean(axis=0)
    for interval, values in (
        (found.standard_interval, on_standard),
        (found.analysis_interval, on_analysis),
        (found.gain_interval, on_analysis - on_standard),
    ):
        expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
        assert (interval.low, interval.high) == pytest.approx(expected)
    assert found.gain == pytest.approx(found.analysis_mean - found.standard_mean)
    assert "5 runs" in found.caveats[0]
