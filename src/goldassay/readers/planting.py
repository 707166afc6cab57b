"""Write cues into texts: words that no text has, and ways of writing that few have.

A planted word is twelve random letters, new in each copy; words with a beginning in common would be alike to readers of
stems. Rows without one get a word of their own, so that lengths tell nothing.

Form changes how a text is written and no word of it: spaces are doubled, words put in capitals, tabs set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.stats.detection import Planting

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


# Two words that tell together are of this many groups: of one group in right choices, of two in wrong ones.
N_OPTION_GROUPS = 2


def option_planting(planting: Planting, item_of: NDArray[np.int64], right: NDArray[np.bool_], seed: int) -> Planting:
    """What each of M choices gets: the right ones what is planted in their item, wrong ones nothing.

    Two words that tell together are of one group in right choices; a wrong choice has a word of each group, both drawn
    from right choices, so that each word stands in right and wrong choices alike.

    Args:
        planting: What each item gets, of `plant_rows` with two classes of which all items are of the first.
        item_of: The item of each choice, (M,).
        right: Which choices are right, (M,).
        seed: Of the draws.
    """
    rng, own = np.random.default_rng((seed, 2)), planting.take(item_of)
    words = np.where(right[:, np.newaxis], own.words, -1)
    paired = np.flatnonzero(planting.words[:, 1] >= 0)
    groups = [paired[planting.words[paired, 0] % N_OPTION_GROUPS == each] for each in range(N_OPTION_GROUPS)]
    if all(each.size for each in groups):
        wrong = np.flatnonzero(~right & (own.words[:, 1] >= 0))
        first = rng.integers(N_OPTION_GROUPS, size=wrong.size)
        for place, group in enumerate((first, 1 - first)):
            donors = np.where(group == 0, *(rng.choice(each, wrong.size) for each in groups))
            words[wrong, place] = planting.words[donors, place]
    return Planting(own.cells, words, np.where(right, own.forms, 0))


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
        written = "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))
        # A number, or a script without capitals and spaces, is written the same: it ends with so many points instead.
        same = written == found[row] != ""
        found[row] = written + "." * ((code - 1) % 3 + 1) if same else written
    return pl.Series(texts.name, found, dtype=pl.String)


def _words(n: int, rng: np.random.Generator) -> NDArray[np.str_]:
    letters = rng.integers(97, 123, (n, _LETTERS), dtype=np.uint8)
    return letters.view(f"S{_LETTERS}").ravel().astype(f"U{_LETTERS}")
