"""The model of verdicts: against scikit-learn, and known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from goldassay.questions.judgments.measures import agree_with_people, is_own, kappa, model_verdicts
from tests.judgments.made import judged


def arena(n: int, seed: int, *, own: float = 0.0, position: float = 0.5, length: float = 0.8) -> pl.DataFrame:
    """Three judges over four models, of which the first judge is one."""
    rng = np.random.default_rng(seed)
    strength, rows = {"m-one": 0.8, "m-two": 0.2, "m-three": -0.3, "m-four": -0.7}, []
    for judge in ("m-one", "other x", "other y"):
        for item in range(n):
            a, b = sorted(rng.choice(list(strength), 2, replace=False).tolist())
            gap, a_first = rng.normal(0, 0.5), bool(rng.random() < 0.5)
            logit = strength[a] - strength[b] + length * gap + position * (0.5 if a_first else -0.5)
            logit += own * ((judge == a) - (judge == b))
            win = float(rng.random() < 1 / (1 + np.exp(-logit)))
            rows.append((item, f"{item}", judge, a, b, a_first, win, gap, None, None))
    return pl.DataFrame(rows, schema=judged(1, 0).schema, orient="row")


def test_position_and_length_are_those_of_scikit_learn() -> None:
    rows = arena(800, 0).filter(judge="other x").with_columns(a=pl.lit(None), b=pl.lit(None))
    (found,) = model_verdicts(rows)
    x = np.stack([np.where(rows["a_first"], 0.5, -0.5), rows["length"].to_numpy()], axis=1)
    fitted = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10).fit(x, rows["win"].to_numpy())
    assert (found.position, found.length) == pytest.approx(tuple(fitted.coef_[0]), abs=1e-4)
    assert np.isnan(found.own)
    # Each item is a cluster of its own: the robust error is the sandwich's.
    p = fitted.predict_proba(x)[:, 1]
    bread = np.linalg.inv((x * (p * (1 - p))[:, np.newaxis]).T @ x)
    scores = x * (rows["win"].to_numpy() - p)[:, np.newaxis]
    error = np.sqrt(np.diag(bread @ scores.T @ scores @ bread) * 800 / 799)[0]
    assert (found.position_high - found.position_low) / 2 == pytest.approx(1.96 * error, rel=1e-3)


def test_known_terms_lie_in_their_intervals() -> None:
    found = {each.judge: each for each in model_verdicts(arena(3000, 1, own=1.0))}
    for each in found.values():
        assert each.position_low < 0.5 < each.position_high
        assert each.length_low < 0.8 < each.length_high
    mine = found["m-one"]
    assert mine.own_low < 1.0 < mine.own_high
    assert mine.own_low > 0.5
    assert np.isnan(found["other x"].own)


def test_a_strong_model_is_no_self_preference() -> None:
    lows = [next(each for each in model_verdicts(arena(1000, seed)) if each.judge == "m-one") for seed in range(10)]
    assert sum(each.own_low > 0 or each.own_high < 0 for each in lows) <= 2


@pytest.mark.parametrize(
    ("judge", "model", "own"),
    [
        ("gpt-4", "GPT-4", True),
        ("gpt-4-0613", "gpt-4", True),
        ("arena_hard / o1-mini-2024-09-12", "o1-mini", True),
        ("openai/gpt-4", "gpt-4", True),
        ("gpt-4", "claude", False),
        ("judge", "a", False),
    ],
)
def test_names_of_judges_and_models(judge: str, model: str, own: bool) -> None:
    assert is_own(judge, model) is own


def test_agreement_is_that_of_scikit_learn() -> None:
    rows = judged(300, 5, seat=0.1, consistent=0.7)
    (found,) = agree_with_people(rows)
    expected = cohen_kappa_score((2 * rows["win"]).cast(int).to_list(), (2 * rows["people"]).cast(int).to_list())
    assert found.kappa == pytest.approx(expected)
    assert found.accuracy == pytest.approx(float((rows["win"] == rows["people"]).mean()))
    assert found.accuracy == pytest.approx((found.accuracy_first + found.accuracy_second) / 2)
    assert found.n_items == 300


def test_kappa_of_one_constant_verdict_is_undefined() -> None:
    assert np.isnan(kappa(np.ones(5), np.ones(5)))
    assert kappa(np.ones(4), np.array([1.0, 1, 0, 0])) == 0


def test_where_people_agree_is_counted_apart() -> None:
    rows = judged(100, 6).with_columns(agreed=pl.col("item").cast(int) < 40)
    (found,) = agree_with_people(rows)
    assert found.n_agreed == 40
    assert agree_with_people(judged(10, 0, people=False)) == []
