"""Words and traits of form that lean to right choices by themselves: what readers that weigh all words may miss.

As in pairs (`telling_readings`), a word that gives the right choice away in some items gets lost among thousands that
tell nothing. Here words that lean by 2, 2.5 and 3 standard errors alone are added up; each choice's score is what they
say for right, less what they say for wrong, learned from items of other folds of clusters. Likewise the form of the
choices (capitals, spaces, punctuation, length), which readers of words do not see. Picks that need no training but are
no rules (`untrained_picks`) are beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import workers
from goldassay.core.cores import cores
from goldassay.data.text_form import form_words
from goldassay.questions.leakage.item_readers import by_item, choice_hits
from goldassay.questions.leakage.measures.choice_rules import chance_of
from goldassay.questions.leakage.measures.choice_subjects import untrained_picks
from goldassay.questions.leakage.readings import LEANINGS
from goldassay.readers.naive_bayes import telling_evidence
from goldassay.stats.effects import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.data.kinds import ChoiceItems


def telling_choices(
    train: ChoiceItems | None,
    test: ChoiceItems,
    folds: NDArray[np.int64],
    untrained: Mapping[str, NDArray[np.float64]] | None = None,
) -> list[Reading]:
    """What words, and traits of form, that lean to right choices pick of each item, from three strengths of leaning on.

    Args:
        train: Items to learn from; None for those of other folds.
        test: Items to read.
        folds: Of the read items, whole clusters each, (N,).
        untrained: What `untrained_picks` finds of the items to read, where it is known.
    """
    source = test if train is None else train
    most, chance = int(test.sizes.max()), chance_of(test)

    def reading(name: str, scores: NDArray[np.float64]) -> Reading:
        hits = choice_hits([by_item(scores, test, most)], test)
        return Reading(test.kind.part, name, None, correct=hits, chance=chance)

    def lean(known: pl.Series, asked: pl.Series) -> NDArray[np.float64]:
        """What each choice's words say for right less what they say for wrong, (strengths, choices)."""
        scores = np.zeros((len(LEANINGS), test.right.size))

        def read_fold(fold: int) -> None:
            read = (folds == fold)[test.item_of]
            learned = np.ones(source.right.size, np.bool_) if train is not None else ~read
            if learned.any():
                marks = source.right[learned].astype(np.int64)
                told = telling_evidence(known.filter(learned), marks, 2, asked.filter(read), LEANINGS)
                scores[:, read] = told[:, :, 1] - told[:, :, 0]

        with workers(cores()) as pool:
            list(pool.map(read_fold, np.unique(folds).tolist()))
        return scores

    found = []
    for what, known, asked in (
        ("words", source.texts, test.texts),
        ("traits of form", form_words(source.texts), form_words(test.texts)),
    ):
        scores = lean(known, asked)
        found += [
            reading(f"{what} that lean by {least:g} standard errors", own)
            for least, own in zip(LEANINGS, scores, strict=True)
        ]
    return found + [reading(name, scores) for name, scores in (untrained or untrained_picks(test)).items()]
