"""Cells of a board: which hold no score, which hold one, and what is no score."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.core.numbers import count
from goldassay.data.fields import RIGHT_WORDS, WRONG_WORDS, cell_texts
from goldassay.runs.labels import canonical
from goldassay.runs.statuses import unlike_labels, without_marks

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

_TRUE, _FALSE = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0")
# So many words are named with the option that says what each scores.
_MOST_WORDS = 24
# A column with so large a share of numbers, however they are written, is one of scores: what else it holds is a slip,
# and must not drop a system unseen.
_SOME = 0.1
_LIKE_A_NUMBER = r"^[+-]?\d*[.,]?\d+\s*%?$"
# Half of the cells make a column one of answers.
_MOSTLY = 0.5
# A system may give answers that are right nowhere.
_MOSTLY_RIGHT_SOMEWHERE = 0.9


def holds_answers(values: pl.Series, valid: Collection[str]) -> bool:
    """Whether a column holds answers: 90 % or more of its cells that are not empty are valid ones."""
    own = spelled_as(known_texts(values, valid), valid).drop_nulls()
    return own.len() > 0 and int(own.is_in(list(valid)).sum()) >= _MOSTLY_RIGHT_SOMEWHERE * own.len()


def refuse_foreign(values: pl.Series, valid: Collection[str], file: str) -> None:
    """Refuse a column of answers too many of which are right nowhere: its system would be left out unseen.

    Raises:
        InputError: Of its cells that are not empty half are valid answers, and fewer than 90 %.
    """
    own = spelled_as(known_texts(values, valid), valid).drop_nulls()
    astray = own.filter(~own.is_in(list(valid)))
    if astray.len() and _MOSTLY * own.len() <= own.len() - astray.len() < _MOSTLY_RIGHT_SOMEWHERE * own.len():
        raise InputError(
            f"{count(astray.len())} of {count(own.len())} answers are right nowhere, the first is {astray[0][:40]!r}",
            file=file, column=values.name,
            mend="write them as the right answers are written; what is no system is left out with "
            + option("columns", f"ignore={values.name}"),
        )  # fmt: skip


def spelled_as(texts: pl.Series, valid: Collection[str]) -> pl.Series:
    """Texts in the spelling of the valid ones, as runs are compared: case, "_" and "-" make no other answer."""
    known = set(valid)
    by_spelling = {canonical(each): each for each in sorted(known)}
    other = {
        each: by_spelling[plain]
        for each in texts.drop_nulls().unique().to_list()
        if each not in known and (plain := canonical(each)) in by_spelling
    }
    return texts.replace(other) if other else texts


def is_score(values: pl.Series, *, words: bool = False) -> bool:
    """Whether a column holds numbers or booleans, or such words as "passed", and nothing else but empty cells."""
    if not (values.dtype in (pl.Boolean, pl.String) or values.dtype.is_numeric()):
        return False
    n_numbers = as_numbers(values, words=words).count()
    return n_numbers > 0 and (values.dtype != pl.String or n_numbers == known_texts(values).count())


def known_texts(values: pl.Series, valid: Collection[str] = ()) -> pl.Series:
    """Cells as stripped texts, null where one is blank, NA, NaN or null, and no valid answer."""
    return without_marks(cell_texts(values).str.strip_chars(), valid)


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
    found = as_numbers(values, words=True)
    wrong = found.is_null() & known_texts(values).is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{count(wrong.sum())} scores are no numbers, the first is {(cell_texts(values)[row] or '')[:40]!r}",
            file=file, column=values.name,
            mend=f"give 0 or 1, true or false, a number{_by_map(values.filter(wrong), is_all=not found.count())}",
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


def _by_map(values: pl.Series, *, is_all: bool) -> str:
    """The option that says what the words of a column score: some beside scores none, of two alone either all."""
    words = known_texts(values).drop_nulls().unique(maintain_order=True).to_list()
    if len(words) > _MOST_WORDS or any(set(",\n") & set(word) for word in words) or (is_all and len(words) != 2):
        return f", or what each word scores with {option('map')}, once for each column"
    # "True: fact" begins with what is right.
    begun = [int(re.split(r"\W", word.lower(), maxsplit=1)[0] in RIGHT_WORDS) for word in words]
    either = [[1, 0], [0, 1]] if is_all else [begun]
    named = [",".join(f"{word}:{each}" for word, each in zip(words, scores, strict=True)) for scores in either]
    return f", or what the words score, as in {' or '.join(option('map', f'{values.name}={pairs}') for pairs in named)}"


def as_numbers(values: pl.Series, *, words: bool = False) -> pl.Series:
    """Numbers, with true as 1 and false as 0, or also "passed" and "failed"; null where a cell is neither, or NaN."""
    if values.dtype == pl.Boolean:
        return values.cast(pl.Float64)
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).fill_nan(None)
    text = cell_texts(values).str.strip_chars().str.to_lowercase()
    frame = pl.DataFrame({"text": text})
    return frame.select(
        pl.when(pl.col("text").is_in([*_TRUE, *(RIGHT_WORDS if words else ())])).then(1.0)
        .when(pl.col("text").is_in([*_FALSE, *(WRONG_WORDS if words else ())])).then(0.0)
        .otherwise(pl.col("text").cast(pl.Float64, strict=False))
    ).to_series().fill_nan(None)  # fmt: skip


def matches(predictions: pl.Series, answers: pl.Series, systems: pl.Series | None = None, file: str = "") -> pl.Series:
    """1 where a prediction is the answer, 0 where not, null where there is none of the two.

    Args:
        predictions: Of one system, or of several.
        answers: The right ones.
        systems: Of each prediction who made it, if several did.
        file: For messages.

    Raises:
        InputError: No prediction of a system is any right answer: they are named otherwise.
    """
    right = right_answers(answers)
    valid = right.drop_nulls().unique().to_list()
    given = spelled_as(known_texts(predictions, valid), valid)
    if systems is not None:
        made = pl.DataFrame({"system": systems, "given": given}).drop_nulls()
        known = made.with_columns(pl.col("given").is_in(valid).alias("valid"))
        astray = known.group_by("system", maintain_order=True).agg(pl.col("valid").any()).filter(~pl.col("valid"))
        if astray.height:
            name = astray["system"][0]
            own = made.filter(pl.col("system") == name)["given"].unique().sort().to_list()
            raise InputError(
                f"the predictions of {name!r} are {listing(own, 6)}, the right answers {listing(sorted(valid), 6)}: "
                "none in common",
                file=file, mend="write them as the right answers are written, or leave these rows out",
            )  # fmt: skip
    given = given.set(unlike_labels(given, valid), None)
    return (given == right).cast(pl.Float64)
