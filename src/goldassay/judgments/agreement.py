"""How far a judge agrees with people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from goldassay.core.intervals import wilson_bounds
from goldassay.core.results import Result


@dataclass(frozen=True)
class PeopleAgreement(Result):
    """Agreement of one judge with people.

    Attributes:
        judge: Its name.
        n_items: Items with a verdict and a preference of people.
        accuracy: Share of verdicts that are theirs, over orders; NaN without items.
        low: Wilson's lower bound at 95 %, of as many items.
        high: The upper one.
        accuracy_first: The same of verdicts with side a first, and of those with side b first below.
        accuracy_second: See there.
        right_in_both: Share of items judged in both orders whose two verdicts are both theirs; NaN without such items.
        kappa: Cohen's, of verdicts a, b and tie, over orders.
        n_agreed: Items on which all people agree.
        accuracy_agreed: Share of verdicts on these that are theirs.
    """

    judge: str
    n_items: int
    accuracy: float
    low: float
    high: float
    accuracy_first: float
    accuracy_second: float
    right_in_both: float
    kappa: float
    n_agreed: int
    accuracy_agreed: float


def agree_with_people(rows: pl.DataFrame) -> list[PeopleAgreement]:
    """Agreement of every judge with people; nothing where no people were asked.

    Args:
        rows: Columns item, judge, a, b, a_first, win, people, agreed, as of `Judgments.rows`.

    Source: Cohen 1960.
    """
    asked = rows.drop_nulls("people").with_columns(right=(pl.col("win") == pl.col("people")).cast(pl.Float64))
    return [
        _of_judge(judge, asked.filter(pl.col("judge") == judge))
        for judge in asked["judge"].unique(maintain_order=True).to_list()
    ]


def _of_judge(judge: str, rows: pl.DataFrame) -> PeopleAgreement:
    n = rows["item"].n_unique()
    accuracy = _mean(rows["right"])
    low, high = wilson_bounds(accuracy * n, n)
    orders = rows.group_by("item", "a", "b").agg(
        n_orders=pl.col("a_first").n_unique(), both=(pl.col("right") == 1).all()
    )
    both = orders.filter(pl.col("n_orders") == 2)
    agreed = rows.filter(pl.col("agreed"))
    return PeopleAgreement(
        judge=judge,
        n_items=n,
        accuracy=accuracy,
        low=float(low),
        high=float(high),
        accuracy_first=_mean(rows.filter(pl.col("a_first"))["right"]),
        accuracy_second=_mean(rows.filter(~pl.col("a_first"))["right"]),
        right_in_both=_mean(both["both"].cast(pl.Float64)),
        kappa=kappa(rows["win"].to_numpy(), rows["people"].to_numpy()),
        n_agreed=agreed["item"].n_unique(),
        accuracy_agreed=_mean(agreed["right"]),
    )


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa of two verdicts on the same items, (n,): (observed - expected)/(1 - expected) agreement.

    NaN where both always say the same one thing.
    """
    values = np.unique(np.concatenate([one, other]))
    observed = float((one == other).mean()) if one.size else math.nan
    expected = float(sum((one == value).mean() * (other == value).mean() for value in values)) if one.size else math.nan
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan


def _mean(values: pl.Series) -> float:
    return float(np.mean(values.to_numpy())) if len(values) else math.nan
