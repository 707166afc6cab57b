"""Write cues into texts: words that no text has, and ways of writing that few have.

A planted word is twelve random letters, new in each copy; words with a beginning in common would be alike to readers of
stems. Rows without one get a word of their own, so that lengths tell nothing.

Form changes how a text is written and no word of it: spaces are doubled, words put in capitals, tabs set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.stats.detection import Planting

_LETTERS = 12
# Each way of writing is so many words in capitals, so many double spaces and so many tabs, 0 to 2 of each.
N_FORMS = 26


def planted_texts(texts: pl.Series, planting: Planting, seed: int) -> pl.Series:
    """The texts with their words, the first before and the second after the text, in their forms, (N,).

    Args:
        texts: N texts; a missing one counts as empty.
        planting: What each gets.
        seed: Of the words.
    """
    rng, n = np.random.default_rng(seed), len(texts)
    vocabulary = _words(int(planting.words.max(initial=-1)) + 2, rng)
    ends = [
        pl.Series(np.where(numbers < 0, _words(n, rng), vocabulary[np.maximum(numbers, 0)]).tolist(), dtype=pl.String)
        for numbers in planting.words.T
    ]
    written = formed_texts(texts, planting.forms)
    return pl.select(pl.format("{} {} {}", ends[1], written, ends[0])).to_series().rename(texts.name)


def formed_texts(texts: pl.Series, forms: NDArray[np.int64]) -> pl.Series:
    """The texts in their forms, 0 for as it is, (N,)."""
    found = texts.cast(pl.String).fill_null("").to_list()
    for row in np.flatnonzero(forms).tolist():
        code = (int(forms[row]) - 1) % N_FORMS + 1
        n_capitals, n_double, n_tabs = code % 3, code // 3 % 3, code // 9
        words = found[row].split(" ")
        gaps = [" "] * (len(words) - 1) + ["  "] * n_double + ["\t"] * n_tabs
        # A text of few words has only the last of them.
        gaps = gaps[len(gaps) - len(words) + 1 :]
        for place in range(min(n_capitals, len(words))):
            words[-1 - place] = words[-1 - place].upper()
        found[row] = "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))
    return pl.Series(texts.name, found, dtype=pl.String)


def _words(n: int, rng: np.random.Generator) -> NDArray[np.str_]:
    letters = rng.integers(97, 123, (n, _LETTERS), dtype=np.uint8)
    return letters.view(f"S{_LETTERS}").ravel().astype(f"U{_LETTERS}")
