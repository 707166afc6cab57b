from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize, stats

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import normalized_deviation, normalized_deviation_interval, summarize_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]

# Standard deviations (ddof 1, points) of the other sets, whose gold labels are not to be had.
SDS = {
    "SNLI-hard": (0.40297, 3261, 0.970, 0.95),
    "STR-L": (0.33782, 9815, 1.411, 1.39),
    "STR-S": (0.27701, 8243, 1.060, 1.04),
    "STR-NE": (0.65350, 9815, 2.729, 2.70),
    "STR-A": (0.88920, 1561, 1.481, 1.46),
    "STR-NU": (3.75839, 7596, 13.809, 13.65),
}


@pytest.mark.parametrize(
    ("name", "recommended", "paper"), [("snli", 0.469, 0.48), ("break", 1.439, 1.43), ("hans", 11.056, 10.95)]
)
def test_published_runs(bert_scores: Scores, name: str, recommended: float, paper: float) -> None:
    own, reference = bert_scores(name), bert_scores("mnli")
    sizes = own.shape[1], reference.shape[1]
    sds = [summarize_scores(scores).sd for scores in (own, reference)]
    assert normalized_deviation(sds[0], sizes[0], sds[1], sizes[1]) == pytest.approx(recommended, abs=5e-4)
    sds = [summarize_scores(scores, ddof=0).sd for scores in (own, reference)]
    assert normalized_deviation(sds[0], sizes[0], sds[1], sizes[1], "paper") == pytest.approx(paper, abs=5e-3)


@pytest.mark.parametrize("name", SDS)
def test_printed_table(name: str) -> None:
    sd, size, recommended, paper = SDS[name]
    found = normalized_deviation(sd / 100, size, 0.0023942583, 9815)
    assert found == pytest.approx(recommended, abs=6e-4)
    to_ddof_0 = math.sqrt(0.9) / 100
    found = normalized_deviation(sd * to_ddof_0, size, 0.23942583 * to_ddof_0, 9815, convention="paper")
    assert found == pytest.approx(paper, abs=5e-3)


def test_hundred_runs(data_dir: object, table: Callable[[str], object]) -> None:
    import polars as pl

    path = f"{data_dir}/predictions/berts_of_a_feather/accuracies_by_run.csv"
    frame = pl.read_csv(path, infer_schema=False).filter(pl.col("Run").str.starts_with("Run "))
    mnli = frame["MNLI dev acc."].cast(pl.Float64).to_numpy()
    hans = frame["Overall accuracy"].cast(pl.Float64).to_numpy()
    found = normalized_deviation(hans.std(ddof=1), 30_000, mnli.std(ddof=1), 9815)
    assert found == pytest.approx(17.018, abs=5e-4)


def test_the_reference_has_1() -> None:
    assert normalized_deviation(0.3, 100, 0.3, 100) == 1.0


def test_a_reference_without_spread_leaves_it_undefined() -> None:
    with pytest.warns(UndefinedMeasureWarning, match="reference"):
        assert math.isnan(normalized_deviation(0.3, 100, 0.0, 100))
    with pytest.warns(UndefinedMeasureWarning, match="reference"):
        assert math.isnan(normalized_deviation(0.3, 100, 0.00001, 100, convention="paper"))


@pytest.mark.parametrize(
    "arguments", [(-0.1, 10, 0.1, 10), (0.1, 0, 0.1, 10), (math.nan, 1, 0.1, 1), (0.1, 1, 0.1, 1, "other")]
)
def test_bad_input(arguments: tuple[float, int, float, int]) -> None:
    with pytest.raises(InputError):
        normalized_deviation(*arguments)


def test_matched_interval_is_where_the_test_of_correlated_variances_turns() -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(9, 1))
    one, other = common + rng.normal(size=(9, 4)), 2 * common + rng.normal(size=(9, 3))
    found = normalized_deviation_interval(one, other)
    x, y = one.mean(axis=1), other.mean(axis=1)

    def p(deviation: float) -> float:
        # With deviation true, the sum and the difference of the scores, brought to one size, do not correlate.
        scaled = x / (deviation / math.sqrt(4 / 3))
        return float(stats.pearsonr(scaled + y, scaled - y).pvalue) - 0.05

    value = normalized_deviation(float(x.std(ddof=1)), 4, float(y.std(ddof=1)), 3)
    assert found.low == pytest.approx(optimize.brentq(p, value / 50, value), rel=1e-6)
    assert found.high == pytest.approx(optimize.brentq(p, value, value * 50), rel=1e-6)


def test_interval_of_other_runs_is_that_of_the_f_distribution() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(5, 3)), rng.normal(size=(8, 3))
    found = normalized_deviation_interval(one, other, matched=False)
    ratio = one.mean(axis=1).var(ddof=1) / other.mean(axis=1).var(ddof=1)
    expected = np.sqrt(ratio / stats.f.ppf([0.975, 0.025], 4, 7))
    assert (found.low, found.high) == pytest.approx(expected)


def test_where_the_interval_of_a_ratio_is_undefined_or_refused() -> None:
    flat, other = np.ones((4, 3)), np.random.default_rng(0).random((4, 3))
    assert math.isnan(normalized_deviation_interval(other, flat).low)
    assert math.isnan(normalized_deviation_interval(other[:2], other[:2]).low)
    same = normalized_deviation_interval(other, other)
    assert (same.low, same.high) == pytest.approx((1, 1))
    with pytest.raises(InputError, match="cannot be matched"):
        normalized_deviation_interval(other, other[:3])
