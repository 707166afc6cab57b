"""Cells of a board: which hold no score, which hold one, and what is no score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.data.cells import cell_texts

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

_TRUE, _FALSE = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0")
# Cells that hold no score, as tables write them.
_MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")
# A column with so large a share of numbers, however they are written, is one of scores: what else it holds is a slip,
# and must not drop a system unseen.
_SOME = 0.1
_LIKE_A_NUMBER = r"^[+-]?\d*[.,]?\d+\s*%?$"
# A system may give answers that are right nowhere.
_MOSTLY_RIGHT_SOMEWHERE = 0.9


def holds_answers(values: pl.Series, valid: Collection[str]) -> bool:
    """Whether a column holds answers: 90 % or more of its cells that are not empty are valid ones."""
    own = known_texts(values, valid).drop_nulls()
    return own.len() > 0 and int(own.is_in(list(valid)).sum()) >= _MOSTLY_RIGHT_SOMEWHERE * own.len()


def is_score(values: pl.Series) -> bool:
    """Whether a column holds numbers or booleans and nothing else but empty cells."""
    if not (values.dtype in (pl.Boolean, pl.String) or values.dtype.is_numeric()):
        return False
    n_numbers = as_numbers(values).count()
    return n_numbers > 0 and (values.dtype != pl.String or n_numbers == known_texts(values).count())


def known_texts(values: pl.Series, valid: Collection[str] = ()) -> pl.Series:
    """Cells as stripped texts, null where one is blank, NA, NaN or null, and no valid answer."""
    text = cell_texts(values).str.strip_chars()
    return text.set(text.str.to_lowercase().is_in(_MISSING) & ~text.is_in(list(valid)), None)


def right_answers(values: pl.Series) -> pl.Series:
    """Right answers as stripped texts, null where one is blank: "none" may be an answer."""
    text = cell_texts(values).str.strip_chars()
    return text.set(text == "", None)


def refuse_slip(
    values: pl.Series, known: pl.Series, numbers: pl.Series, file: str, lines: NDArray[np.int64] | None
) -> None:
    """Refuse a column of scores that holds another text.

    Raises:
        InputError: A tenth of its cells are numbers, or written like 0,5 or 50 %, and some are neither numbers nor
            empty.
    """
    slips = known.is_not_null() & numbers.is_null()
    if values.dtype != pl.String or not slips.any():
        return
    if (numbers.is_not_null() | known.str.contains(_LIKE_A_NUMBER)).sum() < _SOME * known.count():
        return
    row = int(slips.arg_true()[0])
    line = None if lines is None or lines.size != values.len() else int(lines[row])
    raise InputError(
        f"{count(slips.sum())} of {count(known.count())} scores are no numbers, the first is {known[row][:40]!r}"
        + ("" if line else f" in row {row + 1}"),
        file=file, row=line, column=values.name,
        mend="give 0 or 1, true or false, a number, or an empty cell; what is no system is left out with "
        + option("columns", f"ignore={values.name}"),
    )  # fmt: skip


def scores_as_shares(values: pl.Series, scale: tuple[float, float] | None, file: str) -> pl.Series:
    """Scores as shares of their scale.

    Raises:
        InputError: A cell is no number, or lies outside the scale.
    """
    low, high = scale or (0.0, 1.0)
    found = as_numbers(values)
    wrong = found.is_null() & known_texts(values).is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{count(wrong.sum())} scores are no numbers, the first is {(cell_texts(values)[row] or '')[:40]!r}",
            file=file, column=values.name, mend="give 0 or 1, true or false, or a number",
        )  # fmt: skip
    outside = found.is_not_null() & ~found.is_between(low, high).fill_null(value=False)
    if outside.any():
        # An infinite one lies on no scale.
        endless = outside & found.is_infinite().fill_null(value=False)
        first = found.filter(endless if endless.any() else outside)[0]
        raise InputError(
            f"{count(outside.sum())} of {count(len(found))} scores lie outside {low:g} to {high:g}, the first is "
            f"{first:g}",
            file=file, column=values.name,
            mend="give a number, or leave the cell empty" if endless.any()
            else f"give the lowest and the highest score there can be with {option('grades', 'LOW:HIGH')}",
        )  # fmt: skip
    return (found - low) / (high - low)


def as_numbers(values: pl.Series) -> pl.Series:
    """Numbers, with true as 1 and false as 0; null where a cell is neither, or NaN."""
    if values.dtype == pl.Boolean:
        return values.cast(pl.Float64)
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).fill_nan(None)
    text = cell_texts(values).str.strip_chars().str.to_lowercase()
    frame = pl.DataFrame({"text": text})
    return frame.select(
        pl.when(pl.col("text").is_in(_TRUE)).then(1.0)
        .when(pl.col("text").is_in(_FALSE)).then(0.0)
        .otherwise(pl.col("text").cast(pl.Float64, strict=False))
    ).to_series().fill_nan(None)  # fmt: skip


def matches(predictions: pl.Series, answers: pl.Series) -> pl.Series:
    """1 where a prediction is the answer, 0 where not, null where there is none of the two."""
    right = right_answers(answers)
    return (known_texts(predictions, right.drop_nulls().unique().to_list()) == right).cast(pl.Float64)
