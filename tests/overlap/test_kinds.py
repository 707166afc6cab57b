"""Classes and kinds of hits, against plain rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.overlap.measures import COUNTED, KINDS, classify, excess_of, kinds_of, worst_kinds

SHARE = st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.8, 1.0])


def plain_kind(coverage: float, asked: float, answer: float, answered: bool, part: float, has_answer: bool) -> str:
    if has_answer:
        if answered and max(coverage, asked) >= 0.8:
            return "question and answer"
        if asked >= 0.8 or (coverage >= 0.8 and answer < 0.8):
            return "question only"
        if answer >= 0.8:
            return "answer only"
    elif coverage >= 0.8 and asked >= 0.8:
        return "whole item"
    if part >= 0.8:
        return "one part"
    return "some words" if max(coverage, asked, answer, part) >= 0.2 else "none"


@given(st.lists(st.tuples(SHARE, SHARE, SHARE, st.booleans(), SHARE, st.booleans()), min_size=1, max_size=30))
def test_kinds_are_those_of_the_plain_rules(rows: list[tuple[float, float, float, bool, float, bool]]) -> None:
    columns = [np.array(values) for values in zip(*rows, strict=True)]
    assert [KINDS[kind] for kind in kinds_of(*columns)] == [plain_kind(*row) for row in rows]


def test_classes() -> None:
    shares = [0.0, 0.199, 0.2, 0.799, 0.8, 1.0]
    assert classify(shares).tolist() == ["clean", "clean", "partial", "partial", "dirty", "dirty"]


def test_the_worst_kind_of_each_item() -> None:
    kinds = [KINDS.index(kind) for kind in ("question only", "question and answer", "some words")]
    worst = worst_kinds([1, 1, 2], kinds, 4)
    assert [KINDS[kind] for kind in worst] == ["none", "question and answer", "some words", "none"]


@pytest.mark.parametrize("kind", COUNTED)
def test_what_counts_is_the_worst(kind: str) -> None:
    assert KINDS.index(kind) < len(COUNTED)


def drawn(leaked: float, by_chance: float, rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, ...]:
    """Items of clusters of two, of which questions of 60 % were found, and answers by chance, too."""
    clusters = np.arange(n) // 2
    asked = rng.random(n) < 0.6
    is_leaked = (rng.random(n // 2) < leaked / 0.6)[clusters] & asked
    found = is_leaked | (asked & (rng.random(n) < by_chance))
    return found, asked & (rng.random(n) < by_chance), asked, clusters


def test_without_hits_of_the_control_the_excess_is_the_share() -> None:
    found, _, asked, clusters = drawn(0.3, 0.0, np.random.default_rng(0))
    scored = score_one_run(found.astype(float), clusters)
    without = excess_of(found, np.full(400, np.nan), asked, clusters)
    assert (without.value, without.interval) == (scored.mean, scored.interval)
    assert np.isnan(without.control)
    excess = excess_of(found, np.zeros(400), asked, clusters)
    assert (excess.value, excess.control) == (scored.mean, 0.0)
    # That none was found does not say that there is none.
    assert excess.interval is not None
    assert excess.interval.high == pytest.approx(scored.interval.high)
    room = score_one_run(np.zeros(400), clusters).interval.high
    assert excess.interval.low == pytest.approx(scored.mean - np.hypot(scored.mean - scored.interval.low, room))


def test_the_excess_is_that_of_the_formula_with_the_error_of_a_jackknife() -> None:
    found, control, asked, clusters = drawn(0.2, 0.15, np.random.default_rng(1))

    def value(chosen: np.ndarray) -> float:
        a, q = found[chosen & asked].mean(), control[chosen & asked].mean()
        return float((a - q) / (1 - q) * asked[chosen].mean())

    excess = excess_of(found, control, asked, clusters)
    assert excess.value == pytest.approx(value(np.ones(400, bool)))
    assert (excess.found, excess.control) == pytest.approx((found[asked].mean(), control[asked].mean()))
    without = np.array([value(clusters != cluster) for cluster in range(200)])
    error = np.sqrt(199 / 200 * ((without - without.mean()) ** 2).sum())
    assert excess.interval is not None
    assert excess.interval.high - excess.interval.low == pytest.approx(2 * 1.972 * error, rel=0.02)


@pytest.mark.parametrize(("leaked", "by_chance"), [(0.0, 0.15), (0.2, 0.15), (0.3, 0.02), (0.0, 0.005)])
def test_the_interval_holds_the_share_that_leaked(leaked: float, by_chance: float) -> None:
    rng = np.random.default_rng(2)
    held = []
    for _ in range(400):
        interval = excess_of(*drawn(leaked, by_chance, rng)).interval
        assert interval is not None
        held.append(interval.low <= leaked <= interval.high)
    assert np.mean(held) > 0.92


def test_more_hits_of_the_control_bound_nothing_below_what_was_found() -> None:
    asked, control = np.ones(60, bool), np.ones(60)
    excess = excess_of(np.zeros(60), control, asked, np.arange(60))
    assert excess.interval is not None
    assert (excess.value, excess.control) == (0.0, 1.0)
    assert excess.interval.high == pytest.approx(score_one_run(np.zeros(60)).interval.high)
