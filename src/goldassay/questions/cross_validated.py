"""Readers that learn from the test part itself, and see a flaw that the training part does not have.

All other readers learn from the training part: what only the test part shows makes no effect of theirs larger. Here the
test rows are dealt into folds of whole clusters, and each fold is read by what the others teach. These readers have no
say in the effects, since each further reader widens the intervals of all; they take back the word sound.

Source: Stone 1974, cross-validatory choice and assessment of statistical predictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.numbers import percent
from goldassay.data.text_form import spelled_with
from goldassay.questions.effect_sentences import skill_limits
from goldassay.readers.interactions import named_by_interactions, read_interactions
from goldassay.readers.naive_bayes import word_evidence_of_folds
from goldassay.stats.clusters import N_FOLDS, Folds
from goldassay.stats.effects import BALANCED, ReaderPredictions, measure_effects
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    # N texts, their labels (N,), K and folds -> the label that the texts of other folds name for each, (N,).
    Reader = Callable[[pl.Series, NDArray[np.int64], int, Folds], NDArray[np.int64]]

# Of a larger test part so many rows, in whole clusters, are read.
MOST_ROWS = 20_000
_N_DRAWS = 500


def read_words(texts: pl.Series, codes: NDArray[np.int64], n_classes: int, folds: Folds) -> NDArray[np.int64]:
    """The label that the words of a text and the spelling of its rare words stand for, by naive Bayes, (N,).

    The shares of the labels are left aside, so that a rare label is named as readily as a frequent one.
    """
    spelled, _ = spelled_with(texts, texts.clear())
    evidence = word_evidence_of_folds(texts + " " + spelled, codes, n_classes, folds)
    evidence[:, np.bincount(codes, minlength=n_classes) == 0] = -np.inf
    return evidence.argmax(axis=1)


def within_doubts(
    texts: Mapping[str, pl.Series],
    gold: NDArray[np.int64],
    n_classes: int,
    clusters: NDArray[np.int64] | None,
    limits: tuple[float, float],
    reader: Reader,
    seed: int,
) -> list[Doubt]:
    """Why a part of the input cannot be called sound: the test rows by themselves may tell as much as the limit.

    Args:
        texts: Of each part of the test rows, (N,) each.
        gold: Codes of their labels, (N,).
        n_classes: K.
        clusters: Codes of clusters, (N,); None where each row is its own.
        limits: Of skills, for caution and unsound.
        reader: Reads each fold by what the others teach. A reader of pairs of words does so beside it.
        seed: Of the folds and of the draws behind the intervals.
    """
    codes = np.arange(gold.size) if clusters is None else clusters
    rows, folds = _dealt(codes, seed)
    doubts = []
    for part, whole in texts.items():
        written, own_gold = whole.fill_null("")[rows], gold[rows]
        counts = np.bincount(own_gold, minlength=n_classes)
        logs = read_interactions(written, own_gold, n_classes, folds, seed, codes[rows])
        plain = ReaderPredictions(part, "words", reader(written, own_gold, n_classes, folds)[np.newaxis])
        for at, reading in enumerate((plain, named_by_interactions(part, logs, counts))):
            found = measure_effects(
                [reading],
                own_gold,
                n_classes,
                skill_limits(*limits),
                train_counts=counts,
                clusters=None if clusters is None else codes[rows],
                seed=seed,
                n_draws=_N_DRAWS,
            )
            # Of accuracy too few rows of a rare label can be gained for its upper end to be near.
            own = next((each for each in found.effects if each.measurable and each.measure == BALANCED), None)
            # Pairs of words are not sought in so few rows where nothing speaks for them.
            if own is not None and own.high >= limits[1] and (at == 0 or own.ordinary_low > 0):
                doubts.append(
                    Doubt(
                        f"The test rows by themselves may tell as much: what the {part} texts of other test rows teach "
                        f"gains {percent(own.value)} ({percent(own.ordinary_low)} to {percent(own.high)}, "
                        f"{own.measure}) on them, not significantly below {percent(limits[1])}, and readers that "
                        "learned from the training part do not see it.",
                        f"Audit the test file as the training part, and read what its {part} texts give away.",
                        own.high,
                    )
                )
                break
    return doubts


def _dealt(codes: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], Folds]:
    """Rows of drawn clusters, ascending, at most `MOST_ROWS`, and their folds."""
    _, members = np.unique(codes, return_inverse=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(int(members.max()) + 1)
    sizes = np.bincount(members)[order]
    kept = np.cumsum(sizes) <= max(MOST_ROWS, int(sizes[0]))
    fold = np.full(order.size, -1, np.int64)
    # By size in snake order would be more even; clusters are many and small where anything can be called sound.
    fold[order[kept]] = np.arange(int(kept.sum())) % N_FOLDS
    rows = np.flatnonzero(fold[members] >= 0)
    return rows, Folds.of_all(fold[members[rows]])
