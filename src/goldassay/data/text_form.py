"""The form of texts as words: length, capitals, punctuation, spaces, repeats, order; nothing of what they say.

A label can be read from how a text is written, such as capitals in the texts of one annotator or a missing full stop in
those of a generator. Readers of words do not see that, since they fold case and skip spaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Characters that are counted in each text; the name is the word's first letter.
_COUNTED = {
    "A": r"\p{Lu}",
    "D": r"\d",
    "E": r"[^\x00-\x7f]",
    "F": r"[\t\r\n]",
    "H": r",",
    "I": r"\.",
    "J": r"[!?]",
    "K": r"[;:]",
    "L": r"[-\u2013\u2014]",
    "M": r"[\"\u201c\u201d]",
    "N": r"['\u2019]",
    "O": r"[()\[\]{}]",
    "P": r"[/\\_*#@&%$<>=+~|^`]",
}
# Classes of characters that the words and phrases of a text are found by, in the order of `text_counts`.
_CLASSES = (r"\p{Lu}", r"\p{Ll}", r"\s", r"\w", r"[,;:()\u2013\u2014]")
_MOST = 9
_N_CHARACTERS = 0x110000
_TEXTS_AT_ONCE = 65_536


def form_words(texts: pl.Series) -> pl.Series:
    """The form of each text as a text of 26 words, each a feature and its value, (N,).

    Counts above 9 are rounded to powers of two; lengths in characters and in words to steps of about an eighth. The
    first and the last character are given by their class or, if they are punctuation, themselves. Order is the number
    of words before the first inner mark, and that of words that follow the one before in the alphabet.

    Args:
        texts: N texts; a missing one counts as empty.
    """
    from goldassay.kernels import text_counts as kernels

    found = _counts(texts.cast(pl.String).fill_null(""))
    singles = dict(zip(_COUNTED, found[:, kernels.N_COLUMNS :].T, strict=True))
    length, n_words = found[:, kernels.N_CHARACTERS], found[:, kernels.N_WORDS]
    # polars rounds halves up, NumPy to even numbers.
    mean_length = pl.Series(length / np.maximum(n_words, 1)).round(0).cast(pl.Int64).to_numpy()
    counted = singles | {
        "B": found[:, kernels.ALL_CAPITALS],
        "C": found[:, kernels.CAPITALIZED],
        "G": found[:, kernels.DOUBLE_SPACES],
    }
    features = [
        *(_words(name, counted[name], _step) for name in sorted(counted)),
        _words("Q", length, _log),
        _words("R", n_words, _log),
        _words("S", np.minimum(n_words, 60), _itself),
        _words("T", found[:, kernels.N_REPEATED], _step),
        *(
            _words(name, found[:, column], _class_of)
            for name, column in zip("UVW", (kernels.FIRST, kernels.LAST, kernels.LAST_BUT_ONE), strict=True)
        ),
        _words("X", np.minimum(mean_length, 20), _itself),
        _words("Y", found[:, kernels.BEFORE_MARK], _step_or_none),
        _words("Z", found[:, kernels.N_RISING], _step),
    ]
    return pl.select(pl.concat_str(features, separator=" ").alias("form")).to_series()


def _counts(texts: pl.Series) -> NDArray[np.int64]:
    """What `count_form` counts in each text, (N, columns)."""
    from goldassay.kernels.splitting import LETTER, OUTSIDE, code_points
    from goldassay.kernels.text_counts import N_COLUMNS, count_form

    classes = np.zeros(_N_CHARACTERS, dtype=np.uint32)
    known = np.zeros(_N_CHARACTERS, dtype=np.bool_)
    # Words are what spaces part.
    kinds = np.full(_N_CHARACTERS, LETTER, dtype=np.uint8)
    kinds[ord(" ")] = OUTSIDE
    parts = [np.empty((0, N_COLUMNS + len(_COUNTED)), dtype=np.int64)]
    for begin in range(0, len(texts), _TEXTS_AT_ONCE):
        characters, starts = code_points(texts.slice(begin, _TEXTS_AT_ONCE))
        here = np.bincount(characters, minlength=1) > 0
        new = np.flatnonzero(here & ~known[: here.size])
        known[new] = True
        written = pl.Series([chr(code) for code in new.tolist()], dtype=pl.String)
        for bit, pattern in enumerate((*_CLASSES, *_COUNTED.values())):
            classes[new] |= written.str.contains(pattern).to_numpy().astype(np.uint32) << bit
        parts.append(count_form(characters, starts, classes, kinds, len(_COUNTED)))
    return np.concatenate(parts)


def _words(name: str, values: NDArray[np.int64], said: Callable[[pl.Expr], pl.Expr]) -> pl.Series:
    """A feature of each text as a word, (N,), made once a distinct value."""
    distinct, places = np.unique(values, return_inverse=True)
    return pl.DataFrame({"value": distinct}).select(_word(name, said(pl.col("value")))).to_series().gather(places)


def _word(name: str, value: pl.Expr) -> pl.Expr:
    return pl.lit(f"form{name.lower()}x") + value.cast(pl.String)


def _step(count: pl.Expr) -> pl.Expr:
    """The count itself up to 9, above that 10 times the power of two that it reaches."""
    large = count.cast(pl.Float64).clip(lower_bound=1).log(2).floor().cast(pl.Int64) * 10
    return pl.when(count <= _MOST).then(count.cast(pl.Int64)).otherwise(large)


def _log(length: pl.Expr) -> pl.Expr:
    return ((length.cast(pl.Float64) + 1).log(2) * 6).round(0).cast(pl.Int64)


def _itself(value: pl.Expr) -> pl.Expr:
    return value


def _step_or_none(count: pl.Expr) -> pl.Expr:
    return pl.when(count < 0).then(pl.lit("none")).otherwise(_step(count).cast(pl.String))


def _class_of(code: pl.Expr) -> pl.Expr:
    """Capital, small, digit, space, none, or the code of any other character, given its code point."""
    character = code.map_elements(lambda each: chr(each) if each >= 0 else "", pl.String)
    return (
        pl.when(character == "")
        .then(pl.lit("none"))
        .when(character.str.contains(r"\p{Lu}"))
        .then(pl.lit("capital"))
        .when(character.str.contains(r"\p{L}"))
        .then(pl.lit("small"))
        .when(character.str.contains(r"\d"))
        .then(pl.lit("digit"))
        .when(character.str.contains(r"\s"))
        .then(pl.lit("space"))
        .otherwise(pl.lit("code") + character.str.encode("hex"))
    )
