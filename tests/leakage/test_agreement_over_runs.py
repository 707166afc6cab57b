"""Agreement over runs against a loop over pairs of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.leakage import agreement_from_correctness, agreement_over_runs, agreement_report

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINGLE, PAIRED, GOLD = [0, 1, 1, 2, 2, 0, 0, 1], [0, 1, 2, 2, 0, 0, 1, 1], [0, 1, 2, 2, 2, 1, 2, 0]


def test_one_run_each_is_the_golden_example() -> None:
    found = agreement_over_runs(SINGLE, PAIRED, GOLD)
    assert (found.agreement, found.recovery, found.recovery_paper) == (0.625, 0.6, 0.75)
    alone = agreement_report(SINGLE, PAIRED, GOLD)
    assert found.kappa == pytest.approx(alone.kappa)
    assert found.chance == pytest.approx(alone.chance)
    assert found.agreement_low < 0.625 < found.agreement_high


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4), st.integers(2, 4))
def test_means_over_all_pairs_of_runs(seed: int, r: int, s: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    single, paired, gold = rng.integers(0, k, (r, 30)), rng.integers(0, k, (s, 30)), rng.integers(0, k, 30)
    found = agreement_over_runs(single, paired, gold, n_draws=2)
    same = [np.mean(a == b) for a in single for b in paired]
    both = [np.mean((a == b) & (a == gold)) for a in single for b in paired]
    right = [np.mean(b == gold) for b in paired]
    assert found.agreement == pytest.approx(np.mean(same))
    if np.mean(same):
        assert found.recovery == pytest.approx(np.mean(both) / np.mean(same))
    if np.mean(right):
        assert found.recovery_paper == pytest.approx(np.mean(both) / np.mean(right))
    chance = np.mean([np.mean(a == c) * np.mean(b == c) for a in single for b in paired for c in range(k)]) * k
    assert found.chance == pytest.approx(chance)
    bound = max(0.0, found.single_accuracy + found.paired_accuracy - 1)
    assert bound - 1e-12 <= found.both_correct <= min(found.single_accuracy, found.paired_accuracy) + 1e-12


def test_constant_predictions_are_undefined_with_a_reason() -> None:
    found = agreement_over_runs([0, 0, 0], [0, 0, 0], [1, 1, 2])
    assert np.isnan(found.kappa)
    assert np.isnan(found.recovery_paper)
    assert found.recovery == 0
    assert set(found.skipped) == {"kappa", "recovery_paper"}


def test_whole_clusters_are_drawn() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 400)
    wrong = np.repeat(rng.random(20) < 0.5, 20)
    single = np.where(wrong, (gold + 1) % 3, gold)
    alone = agreement_over_runs(single, gold, gold)
    together = agreement_over_runs(single, gold, gold, clusters=np.repeat(np.arange(20), 20))
    assert together.agreement_high - together.agreement_low > 2 * (alone.agreement_high - alone.agreement_low)


@pytest.mark.parametrize("n_runs", [3, 6])
def test_intervals_hold_the_mean_over_all_runs_and_not_only_of_those_at_hand(n_runs: int) -> None:
    """Each run gives each of nine kinds of texts a class, at random around a tendency of its condition."""

    def decided(rng: np.random.Generator, tendency: NDArray[np.float64], kinds: NDArray[np.int64]) -> NDArray[np.int64]:
        runs = [[rng.choice(3, p=tendency[kind]) for kind in range(9)] for _ in range(n_runs)]
        return np.array(runs)[:, kinds]

    covered, n = 0, 150
    for draw in range(n):
        rng = np.random.default_rng(draw)
        single, whole = rng.dirichlet(np.full(3, 2.0), (2, 9))
        kinds, gold = rng.integers(0, 9, 180), rng.integers(0, 3, 180)
        found = agreement_over_runs(
            decided(rng, single, kinds), decided(rng, whole, kinds), gold, n_draws=300, seed=draw
        )
        covered += found.agreement_low <= np.mean(np.sum(single * whole, axis=1)) <= found.agreement_high
    # With the runs held fixed it is a third.
    assert covered / n > 0.92


def test_runs_that_decide_alike_add_nothing_to_the_noise_of_the_examples() -> None:
    rng = np.random.default_rng(0)
    single, paired, gold = rng.integers(0, 3, (3, 300))
    one = agreement_over_runs(single, paired, gold)
    more = agreement_over_runs(np.tile(single, (3, 1)), np.tile(paired, (4, 1)), gold)
    for name in ("agreement", "recovery", "recovery_paper"):
        for end in ("low", "high"):
            assert getattr(more, f"{name}_{end}") == pytest.approx(getattr(one, f"{name}_{end}"))


@pytest.mark.parametrize("single", [[0, 1], [[0, 1, 2, 3]], [0.5, 1, 2], [-1, 0, 1], []])
def test_other_examples_and_no_codes_are_refused(single: list[int]) -> None:
    with pytest.raises(InputError):
        agreement_over_runs(single, [0, 1, 2], [0, 1, 2])


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_correctness_alone_bounds_the_agreement(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    single, paired, gold = rng.integers(0, k, (2, 40)), rng.integers(0, k, (3, 40)), rng.integers(0, k, 40)
    whole = agreement_over_runs(single, paired, gold, n_draws=2)
    found = agreement_from_correctness(single == gold, paired == gold, n_draws=2)
    assert found.at_least - 1e-12 <= whole.agreement <= found.at_most + 1e-12
    assert found.both_correct == pytest.approx(whole.both_correct)
    assert found.recovery_paper == pytest.approx(whole.recovery_paper, nan_ok=True)
    if k == 2:
        assert whole.agreement == pytest.approx(found.at_most)


def test_correctness_of_other_examples_is_refused() -> None:
    with pytest.raises(InputError, match="of 2 and 3"):
        agreement_from_correctness([0, 1], [0, 1, 1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"seed": -1}, "seed is -1"), ({"n_draws": 0}, "n_draws is 0"), ({"level": 1}, "level is")],
)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        agreement_over_runs([0, 1], [0, 1], [0, 1], **settings)
    with pytest.raises(InputError, match=message):
        agreement_from_correctness([0, 1], [0, 1], **settings)


def test_correctness_is_right_or_wrong():
    with pytest.raises(InputError, match="right or wrong"):
        agreement_from_correctness([0, 2], [0, 1])
