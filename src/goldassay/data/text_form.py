"""The form of texts as words: length, capitals, punctuation, spaces, repeats, order; nothing of what they say.

A label can be read from how a text is written, such as capitals in the texts of one annotator or a missing full stop in
those of a generator. Readers of words do not see that, since they fold case and skip spaces.
"""

from __future__ import annotations

import math
from functools import cache
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
_PATTERNS = (*_CLASSES, *_COUNTED.values(), r"\p{L}")
# The bit of a character whose classes are known.
_KNOWN = 1 << 31
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

    found, classes = _counts(texts.cast(pl.String).fill_null(""))
    singles = dict(zip(_COUNTED, found[:, kernels.N_COLUMNS :].T, strict=True))
    length, n_words = found[:, kernels.N_CHARACTERS], found[:, kernels.N_WORDS]
    mean_length = np.rint(length / np.maximum(n_words, 1)).astype(np.int64)
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
            _words(name, found[:, column], lambda code: _class_of(code, classes))
            for name, column in zip("UVW", (kernels.FIRST, kernels.LAST, kernels.LAST_BUT_ONE), strict=True)
        ),
        _words("X", np.minimum(mean_length, 20), _itself),
        _words("Y", found[:, kernels.BEFORE_MARK], _step_or_none),
        _words("Z", found[:, kernels.N_RISING], _step),
    ]
    return pl.select(pl.concat_str(features, separator=" ").alias("form")).to_series()


def _counts(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """What `count_form` counts in each text, (N, columns), and the classes of the characters that occur."""
    from goldassay.kernels.splitting import LETTER, OUTSIDE, code_points
    from goldassay.kernels.text_counts import N_COLUMNS, count_form

    # Words are what spaces part.
    kinds = np.full(_N_CHARACTERS, LETTER, dtype=np.uint8)
    kinds[ord(" ")] = OUTSIDE
    classes = _classes()
    parts = [np.empty((0, N_COLUMNS + len(_COUNTED)), dtype=np.int64)]
    for begin in range(0, len(texts), _TEXTS_AT_ONCE):
        characters, starts = code_points(texts.slice(begin, _TEXTS_AT_ONCE))
        here = np.flatnonzero(np.bincount(characters, minlength=1))
        new = here[classes[here] == 0]
        if new.size:
            written = pl.Series([chr(code) for code in new.tolist()], dtype=pl.String)
            found = np.full(new.size, _KNOWN, dtype=np.uint32)
            for bit, pattern in enumerate(_PATTERNS):
                found |= written.str.contains(pattern).to_numpy().astype(np.uint32) << bit
            classes[new] = found
        parts.append(count_form(characters, starts, classes, kinds, len(_COUNTED)))
    return np.concatenate(parts), classes


@cache
def _classes() -> NDArray[np.uint32]:
    """Bits of each code point: the patterns that it matches, and whether they were tried, filled as texts are met."""
    return np.zeros(_N_CHARACTERS, dtype=np.uint32)


def _words(name: str, values: NDArray[np.int64], said: Callable[[int], int | str]) -> pl.Expr:
    """A feature of each text as a word, (N,), made once a distinct value."""
    least = int(values.min(initial=0))
    if int(values.max(initial=0)) - least < 4 * len(values) + 1000:
        # Counts are small: to mark those that occur is several times faster than to sort.
        occurs = np.bincount(values - least) > 0
        distinct, places = np.flatnonzero(occurs) + least, (np.cumsum(occurs) - 1)[values - least]
    else:
        distinct, places = np.unique(values, return_inverse=True)
    words = [f"form{name.lower()}x{said(value)}" for value in distinct.tolist()]
    return pl.lit(pl.Series(words, dtype=pl.String)).gather(pl.lit(pl.Series(places)))


def _step(count: int) -> int:
    """The count itself up to 9, above that 10 times the power of two that it reaches."""
    return count if count <= _MOST else 10 * (count.bit_length() - 1)


def _log(length: int) -> int:
    return round(6 * math.log2(length + 1))


def _itself(value: int) -> int:
    return value


def _step_or_none(count: int) -> int | str:
    return "none" if count < 0 else _step(count)


def _class_of(code: int, classes: NDArray[np.uint32]) -> str:
    """Capital, small, digit, space, none, or the code of any other character, given its code point."""
    if code < 0:
        return "none"
    own = int(classes[code])
    named = {r"\p{Lu}": "capital", r"\p{L}": "small", r"\d": "digit", r"\s": "space"}
    found = (name for pattern, name in named.items() if own >> _PATTERNS.index(pattern) & 1)
    return next(found, f"code{chr(code).encode().hex()}")
