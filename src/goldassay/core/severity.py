"""The words of a verdict and their severity: the only place where they are ordered."""

from __future__ import annotations

from typing import Literal

Word = Literal["sound", "not measurable", "caution", "unsound"]

# From the mildest to the most severe. What could not be measured may be as bad as anything, so that it outranks sound.
WORDS: tuple[Word, ...] = ("sound", "not measurable", "caution", "unsound")

# What stands in place of a word where nothing was given for a question; it has no rank.
NOT_ASKED = "not asked"

# The picture beside each word, also of a comparison of two models; others have none.
ICONS = {"sound": "check", "caution": "alert", "unsound": "stop", "told apart": "check"}


def severity(word: Word) -> int:
    """Rank of a word, 0 for sound: several parts, models or datasets are as their most severe one."""
    return WORDS.index(word)
