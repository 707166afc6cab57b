"""How far scores drop after a date."""

from __future__ import annotations

from goldassay.core.figures import Measure, figure, result, role
from goldassay.core.results import Result


@result
class CutoffRow(Result):
    """One model, or two of which the second's scores are taken off, on one dataset; see `measures.Drop`.

    Attributes:
        model: Its name, or "A - B".
        dataset: Name of the dataset.
        before: Mean score up to the date.
        after: Mean score after it.
        drop: before - after; with its interval.
        drop_low: Lower end.
        drop_high: Upper end.
        within: The same within examples of one difficulty; with its interval. None without difficulties.
        within_low: Lower end.
        within_high: Upper end.
        n_before: Examples up to the date.
        n_after: Examples after it.
        n_strata: Difficulties with examples on both sides.
        n_one_sided: Examples of other difficulties, or of none.
        n_undated: Examples without a date, which are left out.
        n_examples: All others.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    before: float
    after: float
    drop: float = figure(
        Measure("cutoff.drop", "score up to the date less that after it", "points", "neither"),
        "drop_low", "drop_high", n="n_examples",
    )  # fmt: skip
    drop_low: float
    drop_high: float
    within: float | None = figure(
        Measure("cutoff.within", "drop after the date within equal difficulty", "points", "neither"),
        "within_low", "within_high", n="n_examples",
        why="no difficulty has examples on both sides of the date, or there is no column of difficulties",
    )  # fmt: skip
    within_low: float | None
    within_high: float | None
    n_before: int
    n_after: int
    n_strata: int
    n_one_sided: int
    n_undated: int
    n_examples: int


@result
class CutoffPeriod(Result):
    """A model's examples of one month, quarter or year, up to the date or after it.

    Attributes:
        model: Its name.
        dataset: Name of the dataset.
        period: Such as 2023-10, 2023 Q4 or 2023.
        late: Whether the examples lie after the date.
        score: Their mean.
        n: How many there are.
    """

    model: str
    dataset: str
    period: str
    late: bool
    score: float
    n: int


@result
class CutoffResult(Result):
    """Scores before and after a date.

    Attributes:
        column: Of the examples' dates.
        date: The last that counts as before; a month or year counts to its end.
        difficulty: The column of difficulties; "" where there is none.
        rows: Of each model and dataset.
        periods: Of the first models of each dataset, in the order of time.
    """

    column: str
    date: str
    difficulty: str
    rows: tuple[CutoffRow, ...]
    periods: tuple[CutoffPeriod, ...]
