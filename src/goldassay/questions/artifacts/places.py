"""The first and the last word of a text as a reader: what stands there may tell the label though each word is rare.

A pattern must be frequent and significant by itself. Where each label has a few hundred words of its own that stand
first, none is, and where these words stand elsewhere too, naive Bayes adds up nothing. Here each distinct word of a
place is a category, and whether the place tells anything is decided once for all its words, on training texts that the
categories were not counted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.row_values import normalized_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLACES = {"first": r"^[^\w]*(\w+)", "last": r"(\w+)[^\w]*$"}
# Fewest training texts of a word that says something, and as how many texts the labels' usual shares count beside them.
_LEAST, _WEIGHT = 2, 10.0
# Parts of the training texts for the trial.
_FOLDS = 5
# Standard errors by which the trial must exceed naming one label: 2 of 720 made sets do by chance, and 14 by three.
_SURE = 4.0


@dataclass(frozen=True)
class PlaceReading:
    """What the places of test texts stand for.

    Attributes:
        labels: The label with the largest lift, -1 where nothing is known, (M,).
        lifts: The label's share of the training texts with that word over its share of all; 0 where nothing is known,
            (M,).
    """

    labels: NDArray[np.int64]
    lifts: NDArray[np.float64]


def read_places(texts: pl.Series, codes: NDArray[np.integer], test_texts: pl.Series, n_labels: int) -> PlaceReading:
    """Read the first and the last word of each test text, as far as these tell the labels of training texts.

    A place is tried by itself: in five parts of the training texts, equal texts in one part, the label of each text is
    named by the words of the other parts. The place counts if accuracy exceeds that of the most frequent label, or mean
    recall 1/K, by four standard errors. Where both places count, the larger lift does.

    Args:
        texts: Training texts, (N,).
        codes: Of their labels, (N,).
        test_texts: M texts.
        n_labels: K.
    """
    y = np.asarray(codes, np.int64)
    reading = PlaceReading(np.full(len(test_texts), -1, np.int64), np.zeros(len(test_texts)))
    if np.unique(y).size < 2:
        return reading
    same = normalized_texts(texts).rank("dense").to_numpy().astype(np.int64) - 1
    part = np.random.default_rng(0).permutation(int(same.max()) + 1)[same] % _FOLDS
    for pattern in PLACES.values():
        words = pl.concat([texts, test_texts]).cast(pl.String).fill_null("").str.to_lowercase().str.extract(pattern)
        values = words.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
        own, asked = values[: y.size], values[y.size :]
        counts = _counts(own, y, int(values.max(initial=0)) + 1, n_labels)
        if not _tells(own, y, part, counts):
            continue
        labels, lifts = _strongest(counts)
        better = lifts[asked] > reading.lifts
        reading.labels[better], reading.lifts[better] = labels[asked][better], lifts[asked][better]
    return reading


def _counts(values: NDArray[np.int64], y: NDArray[np.int64], n_values: int, n_labels: int) -> NDArray[np.int64]:
    found = np.bincount(values * n_labels + y, minlength=n_values * n_labels)
    return found.reshape(n_values, n_labels).astype(np.int64)


def _strongest(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The label with the largest lift of each word, (V,), and the lift; -1 and 0 where none exceeds 1.

    A label's share among the n texts of a word is (count + 10 p)/(n + 10), with p its share of all texts.
    """
    prior = counts.sum(axis=0) / counts.sum()
    n = counts.sum(axis=1)
    shares = (counts + _WEIGHT * prior) / (n + _WEIGHT)[:, np.newaxis]
    lifts = np.where(prior > 0, shares / np.where(prior > 0, prior, 1.0), 0.0)
    best = lifts.argmax(axis=1)
    largest = lifts[np.arange(n.size), best]
    known = (n >= _LEAST) & (largest > 1)
    return np.where(known, best, -1), np.where(known, largest, 0.0)


def _tells(values: NDArray[np.int64], y: NDArray[np.int64], part: NDArray[np.int64], counts: NDArray[np.int64]) -> bool:
    """Whether the words of a place name the labels of texts that they were not counted on better than one label."""
    usual = int(counts.sum(axis=0).argmax())
    named = np.full(y.size, usual)
    for fold in range(_FOLDS):
        out = part == fold
        if out.all():
            return False
        labels, _ = _strongest(counts - _counts(values[out], y[out], *counts.shape))
        said = labels[values[out]]
        named[out] = np.where(said < 0, usual, said)
    gains = (named == y).astype(np.float64) - (y == usual)
    rows = np.bincount(y, minlength=counts.shape[1]).astype(np.float64)
    there = rows > 0
    recall = np.bincount(y, weights=named == y, minlength=rows.size)[there] / rows[there]
    error = np.sqrt(float((recall * (1 - recall) / rows[there]).sum())) / recall.size
    by_accuracy = float(gains.mean()) > _SURE * float(gains.std()) / np.sqrt(y.size)
    return by_accuracy or float(recall.mean()) - 1 / recall.size > _SURE * error
