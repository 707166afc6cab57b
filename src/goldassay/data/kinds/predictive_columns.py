"""Columns that nobody reads and that tell the right choice: hints, rationales, the models that wrote two sides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from goldassay.data.unread import Unread

# So many items, evenly taken, say whether a column tells their answers.
_LOOKED_AT = 5000
_LEAST_ITEMS = 50
# A column tells by so much of what guessing leaves to be gained, and by so many errors; there may be many columns.
LEAST_SKILL = 0.075
_LEAST_ERRORS = 4.0
_MOST_KINDS = 50
_WORD = re.compile(r"\w+")
_OF_SIDES = (("chosen", "rejected"), ("preferred", "dispreferred"), ("preferred", "rejected"), ("better", "worse"),
             ("winning", "losing"), ("winner", "loser"))  # fmt: skip
_OF_PLACES = (("a", "b"), ("1", "2"), ("0", "1"))


@dataclass(frozen=True)
class PredictiveColumns:
    """Columns that tell the right choice: their names, and what picking by them gains of what guessing leaves."""

    columns: tuple[str, ...]
    skill: float


@dataclass(frozen=True)
class _Sample:
    """Some items: their choices, which are right, and the rows of the file."""

    rows: pl.DataFrame
    choices: list[list[str]]
    right: list[NDArray[np.bool_]]
    ordered: bool


def find_predictive(
    frame: pl.DataFrame,
    covered: Collection[str],
    texts: Sequence[Sequence[str]],
    right: Sequence[Sequence[int]],
    *,
    ordered: bool,
) -> tuple[PredictiveColumns, ...]:
    """The columns without a role by which the right choice of unseen items can be picked.

    A text tells by the words that it shares with a choice; a value that recurs, or the values of two columns named
    after the sides, by which choice is right where they occur in the other half of the items.

    Args:
        frame: The row of each item.
        covered: Columns that have a role, or are ignored.
        texts: The choices of each item, in the order of the file.
        right: The places of those that are right.
        ordered: Whether places mean something; if not, the first side of two columns is the preferred one.
    """
    usable = [at for at, (own, places) in enumerate(zip(texts, right, strict=True)) if 0 < len(places) < len(own)]
    at = usable[:: max(1, -(-len(usable) // _LOOKED_AT))]
    if len(at) < _LEAST_ITEMS:
        return ()
    marks = [np.isin(np.arange(len(texts[each])), right[each]) for each in at]
    sample = _Sample(frame[at], [list(texts[each]) for each in at], marks, ordered)
    open_ = [name for name in frame.columns if name not in covered]
    found = []
    for name in open_:
        gains = [_by_words(sample, name)]
        if ordered:
            gains.append(_by_places(sample, _codes(sample.rows[name])))
        if any(map(_is_predictive, gains)):
            found.append(PredictiveColumns((name,), max(gain[0] for gain in gains if _is_predictive(gain))))
    for one, other in _sides(open_):
        gain = _by_pairs(sample, one, other)
        if _is_predictive(gain):
            found.append(PredictiveColumns((one, other), gain[0]))
    return tuple(found)


def _is_predictive(gain: tuple[float, float]) -> bool:
    skill, errors = gain
    return skill >= LEAST_SKILL and errors >= _LEAST_ERRORS


def _skill(hits: NDArray[np.float64], chance: NDArray[np.float64]) -> tuple[float, float]:
    """What picks gain of what guessing leaves, and that in standard errors."""
    gained = hits - chance
    mean, error = float(gained.mean()), float(gained.std() / np.sqrt(gained.size))
    return mean / float(1 - chance.mean()), mean / error if error > 0 else (np.inf if mean > 0 else 0.0)


def _by_words(sample: _Sample, column: str) -> tuple[float, float]:
    """Picks the choice of which the largest share of words is in the column's text, as many as there are where tied."""
    values = sample.rows[column]
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return 0.0, 0.0
    hits, chance = [], []
    for value, choices, right in zip(cell_texts(values).to_list(), sample.choices, sample.right, strict=True):
        shared = set(_WORD.findall((value or "").casefold()))
        own = [set(_WORD.findall(choice.casefold())) for choice in choices]
        score = np.array([len(words & shared) / max(len(words), 1) for words in own])
        hits.append(float(right[score == score.max()].mean()))
        chance.append(float(right.mean()))
    return _skill(np.array(hits), np.array(chance))


def _codes(values: pl.Series) -> NDArray[np.int64] | None:
    """A number for each value, -1 where it is missing; None where there is one alone, or too many."""
    filled = cell_texts(values)
    if not 2 <= filled.drop_nulls().n_unique() <= _MOST_KINDS:
        return None
    return filled.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64) - 1


def _by_places(sample: _Sample, codes: NDArray[np.int64] | None) -> tuple[float, float]:
    """Picks the place that is right most often beside this value, in the other half of the items."""
    if codes is None:
        return 0.0, 0.0
    most = max(each.size for each in sample.right)
    counts = np.zeros((2, int(codes.max()) + 2, most))
    for at, (code, right) in enumerate(zip(codes, sample.right, strict=True)):
        counts[at % 2, code + 1, : right.size] += right
    hits, chance = [], []
    base = [max(1.0, counts[half].sum()) for half in (0, 1)]
    for at, (code, right) in enumerate(zip(codes, sample.right, strict=True)):
        other = counts[1 - at % 2]
        hits.append(float(right[int(np.argmax(other[code + 1, : right.size]))]))
        # Of what places tell by themselves the columns are innocent.
        chance.append(float(right[int(np.argmax(other.sum(axis=0)[: right.size] / base[1 - at % 2]))]))
    return _skill(np.array(hits), np.array(chance))


def _sides(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of columns named after two sides."""
    by_name = {normalized(name).replace(" ", "_"): name for name in names}
    found = []
    for name, column in by_name.items():
        parts = name.split("_")
        for one, other in (*_OF_SIDES, *_OF_PLACES):
            if one in parts and (mate := by_name.get("_".join(other if part == one else part for part in parts))):
                found.append((column, mate))
    return list(dict.fromkeys(found))


def _by_pairs(sample: _Sample, one: str, other: str) -> tuple[float, float]:
    """Picks the side whose value was preferred to the other's most often, in the other half of the items."""
    values = [sample.rows[name] for name in (one, other)]
    if any(each.dtype != pl.String for each in values) or any(each.size != 2 for each in sample.right):
        return 0.0, 0.0
    if pl.concat([each.alias("name") for each in values]).n_unique() > _MOST_KINDS:
        return 0.0, 0.0
    wins: list[dict[tuple[str, str], float]] = [{}, {}]
    rows = []
    for at, (first, second) in enumerate(zip(*(each.to_list() for each in values), strict=True)):
        # Of columns chosen and rejected the first is that of what was preferred, wherever it was put.
        won = not sample.ordered or bool(sample.right[at][0])
        key = (str(first), str(second)) if str(first) <= str(second) else (str(second), str(first))
        low_won = (won == (str(first) <= str(second))) if first != second else 0.5
        rows.append((key, float(low_won)))
        wins[at % 2][key] = wins[at % 2].get(key, 0.0) + float(low_won) - 0.5
    hits = []
    for at, (key, low_won) in enumerate(rows):
        lean = wins[1 - at % 2].get(key, 0.0)
        hits.append(0.5 if not lean else low_won if lean > 0 else 1 - low_won)
    return _skill(np.array(hits), np.full(len(hits), 0.5))


def named_unread(unread: Unread, telling: Sequence[PredictiveColumns]) -> tuple[str, ...]:
    """All columns that a reader has to know of: those without a role, whatever their names, and those that tell."""
    return tuple(dict.fromkeys([*(each for found in telling for each in found.columns), *unread.columns,
                                *unread.auxiliary]))  # fmt: skip
