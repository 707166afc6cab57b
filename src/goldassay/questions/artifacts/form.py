"""How texts are written, as surface patterns: a reader of form that says nothing where form tells nothing.

A word pattern sees neither capitals nor double spaces, lengths or repeats, nor what rare words have in common. Here
each of these is a pattern of one word (`form_words`, `spelled_with`), and the strongest of a text by lift names its
label, as among word patterns; so do the first and the last word where these places tell anything (`read_places`). A
trained probe would find weaker combinations too, but where there is nothing to find it guesses, and its interval is
wide.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from goldassay.artifacts import mine_patterns
from goldassay.artifacts.pattern_lift import label_without_pattern, lifted_patterns
from goldassay.data.text_form import form_words
from goldassay.data.tokenization import tokenize
from goldassay.data.word_shapes import spelled_with
from goldassay.questions.artifacts.places import read_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

# Training texts from which the form is learned: it has a few hundred words.
FORM_ROWS = 100_000


def read_form_by_lift(
    texts: pl.Series,
    codes: NDArray[np.integer],
    test_texts: pl.Series,
    label_names: Sequence[str],
    *,
    min_count: int,
    q: float,
) -> NDArray[np.int64]:
    """The label that the form of each test text stands for most, (M,); the usual one where its form is usual.

    Args:
        texts: Training texts as they are written, (N,).
        codes: Of their labels, (N,).
        test_texts: M texts.
        label_names: K names.
        min_count: Fewest training texts of a feature.
        q: Largest q of a feature that counts.
    """
    of_known, of_asked = spelled_with(texts, test_texts, min_count)
    corpus = tokenize((form_words(texts) + " " + of_known).to_list(), "whitespace")
    with warnings.catch_warnings():
        # Texts so few that no feature is frequent tell nothing.
        warnings.simplefilter("ignore", UserWarning)
        mined = mine_patterns(corpus, codes, 1, 0, min_count, "whitespace", label_names=label_names)
    lifted = lifted_patterns([mined], q)
    counts = np.bincount(codes, minlength=len(label_names))
    empty = lifted.strongest_in(mined.tokenized(corpus))[0] < 0
    left = np.bincount(codes[empty], minlength=len(label_names))
    default = label_without_pattern(counts, left, int(counts.argmax()))
    found, lifts = lifted.strongest_in(mined.tokenized((form_words(test_texts) + " " + of_asked).to_list()))
    places = read_places(texts, codes, test_texts, len(label_names))
    found = np.where(places.lifts > lifts, places.labels, found)
    return np.where(found < 0, default, found)
