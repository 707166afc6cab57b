"""Scores before and after a date: the part of a report that three commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import number
from goldassay.core.results import frame_of_records
from goldassay.questions.cutoff.measures import measure_drop
from goldassay.questions.cutoff.result import CutoffPeriod, CutoffResult, CutoffRow
from goldassay.questions.run_choice import DIFFICULTIES, date_of, sides_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.questions.run_choice import Cutoff, RunChoice
    from goldassay.runs.runs import Runs

# More numbers than these are cut into as many parts of like size.
_STRATA, _MOST_LEVELS = 5, 10
# More months are drawn as quarters, and more quarters as years, of so many models.
_MOST_PERIODS, _MOST_MODELS = 18, 5


@dataclass(frozen=True)
class Dated:
    """Models on the same examples of a dataset.

    Attributes:
        dataset: Its name.
        scores: Of each model by name, (R, N).
        traits: Columns of the examples, (N,) texts: dates and difficulties.
        clusters: What examples share, (N,); None where each counts by itself.
        weights: How much each example counts; None where all count alike.
    """

    dataset: str
    scores: Mapping[str, NDArray[np.float64]]
    traits: Mapping[str, NDArray[np.str_]]
    clusters: NDArray[np.int64] | NDArray[np.str_] | None
    weights: NDArray[np.float64] | None

    @classmethod
    def of(cls, named: Mapping[str, Runs], clusters: NDArray[np.int64] | NDArray[np.str_] | None) -> Dated:
        """Runs on the same examples, at their last checkpoint."""
        first = next(iter(named.values()))
        scores = {name: runs.scores for name, runs in named.items()}
        return cls(first.dataset, scores, first.traits, clusters, first.weights)


def measure_cutoff(sets: Sequence[Dated], choice: RunChoice) -> CutoffResult | None:
    """The drop of each model after the date of the choice; of two models also by how much more one drops.

    None where no date was given.

    Raises:
        InputError: A date cannot be read, or all examples of a dataset lie on one side.
    """
    if choice.cutoff is None:
        return None
    column = choice.cutoff.column_of(choice.columns)
    by = next((name for name in DIFFICULTIES if any(name in each.traits for each in sets)), "")
    rows = tuple(row for each in sets for row in _rows(each, choice.cutoff, column, by))
    periods = tuple(period for each in sets for period in _periods(each, choice.cutoff, column))
    return CutoffResult(column, choice.cutoff.date, by, rows, periods)


def _rows(given: Dated, cutoff: Cutoff, column: str, by: str) -> list[CutoffRow]:
    sides = sides_of(given.traits[column].tolist(), cutoff, column)
    dated = np.array([side is not None for side in sides])
    late = np.array([side is True for side in sides])[dated]
    if late.all() or not late.any():
        known = sorted(filter(None, given.traits[column].tolist()))
        if not known:
            raise InputError(
                f"no example of {given.dataset} has a date", column=column,
                mend=f"name the column that has dates, as in {option('cutoff', f'contest_date={cutoff.date}')}",
            )  # fmt: skip
        side = "after" if late.any() else "up to"
        raise InputError(
            f"all {late.size:,} dated examples of {given.dataset} lie {side} {cutoff.date}: their dates go from "
            f"{known[0]} to {known[-1]}",
            column=column,
            mend=f"choose a date between these, as in {option('cutoff', f'{column}={known[len(known) // 2][:10]}')}",
        )
    strata = _strata(given.traits[by][dated], late) if by in given.traits else None
    clusters, weights = (None if each is None else each[dated] for each in (given.clusters, given.weights))
    names = list(given.scores)
    tasks = [(name, given.scores[name], None) for name in names]
    pair = [(f"{names[0]} - {names[1]}", given.scores[names[0]], given.scores[names[1]])] if len(names) == 2 else []
    rows = []
    for name, scores, less in (*tasks, *pair):
        other = None if less is None else less[:, dated]
        found = measure_drop(scores[:, dated], late, strata, clusters, less=other, weights=weights)
        ends = found.within_interval
        rows.append(
            CutoffRow(
                model=name,
                dataset=given.dataset,
                before=found.before,
                after=found.after,
                drop=found.drop,
                drop_low=found.interval.low,
                drop_high=found.interval.high,
                within=number(found.within),
                within_low=None if ends is None else ends.low,
                within_high=None if ends is None else ends.high,
                n_before=found.n_before,
                n_after=found.n_after,
                n_strata=found.n_strata,
                n_one_sided=found.n_one_sided,
                n_undated=int((~dated).sum()),
                n_examples=int(dated.sum()),
            )
        )
    return rows


def _periods(given: Dated, cutoff: Cutoff, column: str) -> list[CutoffPeriod]:
    dates = given.traits[column].tolist()
    known = [(at, side) for at, side in enumerate(sides_of(dates, cutoff, column)) if side is not None]
    names = _period_names([date_of(dates[at].strip()) or () for at, _ in known])
    parts: dict[tuple[str, bool], list[int]] = {}
    for name, (at, side) in zip(names, known, strict=True):
        parts.setdefault((name, side), []).append(at)
    weights = np.ones(len(dates)) if given.weights is None else given.weights
    return [
        CutoffPeriod(model, given.dataset, name, side, float(np.average(mean[rows], weights=weights[rows])), len(rows))
        for model, mean in [(model, own.mean(axis=0)) for model, own in [*given.scores.items()][:_MOST_MODELS]]
        for (name, side), rows in sorted(parts.items())
    ]


def _period_names(dates: list[tuple[int, ...]]) -> list[str]:
    """The month of each date; its quarter or year where there are many months, or dates without one."""
    if all(len(date) > 1 for date in dates):
        for names in (
            [f"{year}-{month:02}" for year, month, *_ in dates],
            [f"{year} Q{(month + 2) // 3}" for year, month, *_ in dates],
        ):
            if len(set(names)) <= _MOST_PERIODS:
                return names
    return [str(date[0]) for date in dates]


def _strata(values: NDArray[np.str_], late: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Codes of difficulties: names as they are, many numbers by fifths."""
    known = np.char.strip(values) != ""
    # An unknown difficulty equals no other: a stratum on one side alone is left out of the drop within.
    codes = -1 - late.astype(np.int64)
    names, codes[known] = np.unique(values[known], return_inverse=True)
    if len(names) <= _MOST_LEVELS:
        return codes
    try:
        numbers = values[known].astype(np.float64)
    except ValueError:
        return codes
    codes[known] = np.digitize(numbers, np.quantile(numbers, np.linspace(0, 1, _STRATA + 1)[1:-1]))
    return codes


def cutoff_tables(found: CutoffResult | None) -> dict[str, pl.DataFrame]:
    """The table behind the section, by name; none where no date was given."""
    return {} if found is None else {"cutoff": frame_of_records(found.rows)}
