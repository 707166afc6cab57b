"""Judgments with a known seat, length and strength."""

from __future__ import annotations

import numpy as np
import polars as pl


def judged(
    n: int,
    seed: int,
    *,
    seat: float = 0.0,
    consistent: float = 0.8,
    judge: str = "judge",
    orders: int = 2,
    people: bool = True,
) -> pl.DataFrame:
    """Rows as of `Judgments.rows`: the first seat wins a share of the verdicts, else merit does, else chance."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        better = float(rng.random() < 0.5)
        for a_first in (True, False) if orders == 2 else (bool(rng.random() < 0.5),):
            drawn = rng.random()
            if drawn < abs(seat):
                win = float(a_first if seat > 0 else not a_first)
            else:
                win = better if rng.random() < consistent else float(rng.random() < 0.5)
            rows.append((item, str(item), judge, None, None, a_first, win, None, better if people else None, people))
    schema = {"row": pl.Int64, "item": pl.String, "judge": pl.String, "a": pl.String, "b": pl.String,
              "a_first": pl.Boolean, "win": pl.Float64, "length": pl.Float64, "people": pl.Float64,
              "agreed": pl.Boolean}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
