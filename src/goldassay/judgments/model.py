"""What verdicts follow besides merit: seat, length, and whether a side is the judge's own model.

logit P(a wins) = position s + length (log length of a - log length of b) + own (a is the judge's - b is)
+ strength_a - strength_b, with s = 1/2 where a was shown first and -1/2 where b was, so that the position's
coefficient is the log odds that the first seat adds. Ties count half for each side. Errors are robust to items.

Source: Bradley and Terry 1952; Dubois et al. 2024, "Length-controlled AlpacaEval", for the length; Liang and Zeger 1986
for errors over clusters.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

# A slight penalty on strengths: one side that wins always would have none that is finite.
_RIDGE = 1e-2
_STEPS, _TOLERANCE = 100, 1e-9
_LEAST_ITEMS = 10


@dataclass(frozen=True)
class VerdictModel(Result):
    """The coefficients of one judge, in log odds, with 95 % intervals; NaN where a term has nothing to go by.

    Attributes:
        judge: Its name.
        n: Verdicts.
        n_models: Sides with a strength.
        position: Of the first seat.
        position_low: Lower end.
        position_high: Upper end.
        length: Of a length e times as large.
        length_low: Lower end.
        length_high: Upper end.
        own: Of being the judge's own model.
        own_low: Lower end.
        own_high: Upper end.
    """

    judge: str
    n: int
    n_models: int
    position: float
    position_low: float
    position_high: float
    length: float
    length_low: float
    length_high: float
    own: float
    own_low: float
    own_high: float


def model_verdicts(rows: pl.DataFrame) -> list[VerdictModel]:
    """The model of every judge.

    Being the judge's own and a strength cannot be told apart by one judge: where sides have names, strengths are those
    that all judges share, and own is what this judge adds to its own; with a single judge it has nothing to go by.

    Args:
        rows: Columns item, judge, a, b, a_first, win, length, as of `Judgments.rows`.
    """
    judges: list[str] = rows["judge"].unique(maintain_order=True).to_list()
    strengths = _shared_strengths(rows) if rows["a"].null_count() == 0 and len(judges) > 1 else None
    return [_of_judge(rows.filter(rows["judge"] == judge), judge, strengths) for judge in judges]


def is_own(judge: str, model: str) -> bool:
    """Whether a judge's name is that of the model: equal but for case, signs and what is added to it."""
    parts = [_plain(part) for part in judge.split(" / ")]
    wanted = _plain(model)
    return bool(wanted) and any(part == wanted or (len(wanted) > 3 and part.startswith(wanted)) for part in parts)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.rsplit("/", 1)[-1].casefold())


def _shared_strengths(rows: pl.DataFrame) -> dict[str, float]:
    """Strengths of the sides by the verdicts of judges that are not one of the two.

    Seat and length have a coefficient for each of these judges: what a judge follows besides would draw strengths to 0.
    """
    apart = [not (is_own(judge, a) or is_own(judge, b)) for judge, a, b in rows.select("judge", "a", "b").iter_rows()]
    others = rows.filter(np.array(apart))
    if not others.height:
        return {}
    names = sorted({*others["a"].to_list(), *others["b"].to_list()})
    judge = np.unique(others["judge"].to_list(), return_inverse=True)[1]
    of_judge = np.eye(int(judge.max()) + 1)[judge]
    length = np.nan_to_num(others["length"].to_numpy().astype(np.float64))[:, np.newaxis] * of_judge
    besides = np.hstack([_seat(others) * of_judge, length[:, length.any(axis=0)]])
    x = np.hstack([besides, _sides(others, names)])
    w, _ = _fitted(x, others["win"].to_numpy(), np.full(x.shape[1], _RIDGE), np.arange(others.height))
    return dict(zip(names, w[besides.shape[1] :].tolist(), strict=True))


def _of_judge(rows: pl.DataFrame, judge: str, strengths: dict[str, float] | None) -> VerdictModel:
    terms: dict[str, NDArray[np.float64]] = {}
    seat = _seat(rows)[:, 0]
    if np.unique(seat).size > 1:
        terms["position"] = seat
    length = rows["length"].to_numpy().astype(np.float64)
    usable = ~np.isnan(length)
    if usable.sum() >= _LEAST_ITEMS and np.ptp(length[usable]) > 0:
        terms["length"] = np.where(usable, length, 0.0)
    names: list[str] = []
    fixed = np.zeros(rows.height)
    if rows["a"].null_count() == 0:
        names = sorted({*rows["a"].to_list(), *rows["b"].to_list()})
        own = np.array([
            float(is_own(judge, a)) - float(is_own(judge, b)) for a, b in rows.select("a", "b").iter_rows()
        ])  # fmt: skip
        if strengths is not None and own.any() and all(name in strengths for name in names):
            terms["own"] = own
            fixed = np.array([strengths[a] - strengths[b] for a, b in rows.select("a", "b").iter_rows()])
    found = dict.fromkeys(("position", "length", "own"), (math.nan,) * 3)
    if terms and rows["item"].n_unique() >= _LEAST_ITEMS:
        free = names if "own" not in terms else []
        x = np.hstack([np.stack(list(terms.values()), axis=1), _sides(rows, free)])
        penalty = np.concatenate([np.zeros(len(terms)), np.full(len(free), _RIDGE)])
        codes = np.unique(rows["item"].to_list(), return_inverse=True)[1]
        w, errors = _fitted(x, rows["win"].to_numpy(), penalty, codes, fixed)
        for at, name in enumerate(terms):
            reach = 1.959963984540054 * errors[at]
            found[name] = (float(w[at]), float(w[at] - reach), float(w[at] + reach))
    return VerdictModel(judge, rows.height, len(names), *found["position"], *found["length"], *found["own"])


def _seat(rows: pl.DataFrame) -> NDArray[np.float64]:
    return np.where(rows["a_first"].to_numpy(), 0.5, -0.5)[:, np.newaxis]


def _sides(rows: pl.DataFrame, names: list[str]) -> NDArray[np.float64]:
    """1 where a name is side a, -1 where it is side b, (n, names)."""
    place = {name: at for at, name in enumerate(names)}
    found = np.zeros((rows.height, len(names)))
    if names:
        at = np.arange(rows.height)
        found[at, [place[name] for name in rows["a"].to_list()]] += 1
        found[at, [place[name] for name in rows["b"].to_list()]] -= 1
    return found


def _fitted(
    x: NDArray[np.float64],
    win: NDArray[np.float64],
    penalty: NDArray[np.float64],
    codes: NDArray[np.int64],
    fixed: NDArray[np.float64] | float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients by Newton's steps, and their errors over clusters; NaN where a side always wins."""
    from scipy.special import expit

    w = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = expit(x @ w + fixed)
        slope = x.T @ (win - p) - penalty * w
        curve = (x * (p * (1 - p))[:, np.newaxis]).T @ x + np.diag(penalty)
        step = np.linalg.lstsq(curve, slope, rcond=None)[0]
        size = float(np.abs(step).max(initial=0.0))
        w += step * min(1.0, 2.0 / size) if size > 0 else 0.0
        if size < _TOLERANCE:
            break
    else:
        return np.full(w.size, math.nan), np.full(w.size, math.nan)
    p = expit(x @ w + fixed)
    curve = (x * (p * (1 - p))[:, np.newaxis]).T @ x + np.diag(penalty)
    scores = np.zeros((int(codes.max()) + 1, w.size))
    np.add.at(scores, codes, x * (win - p)[:, np.newaxis])
    inverse = np.linalg.pinv(curve)
    n = len(scores)
    errors = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse) * n / max(n - 1, 1))
    return w, errors
