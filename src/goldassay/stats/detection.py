"""Limits of detection: how small a flaw may be that the readers would have missed, by kind of cue.

In copies of the rows cues are planted that stand for a label, of each kind in three shares of the rows. What a reader
recovers of them there says what it would have found here. Recovery of a kind t in a share f of the rows is

    r_t(f) = sum (right in the copy - right here) / sum (1 - right here)

over the planted rows of all copies, of a balanced skill the mean of this over the labels; it is cut to [0, 1], and
where a larger share has a smaller r, that counts. A flaw f is excluded where it would stand out,

    f r_t(f) - z SE > value,

with the largest effect that was measured, and the larger of the reader's standard errors here and in the copy. S_t is
the least flaw from which on all are excluded, by either measure; between two shares r is that of the smaller one, and
below the smallest 0.

What a tuned reader recovers depends on what else is planted: of ten words in 4 % of 3,000 rows the quick probe, which
chooses its penalty, finds 49 % where other cues are in most other rows and 14 % where they are alone; of two words that
tell together a factorization machine finds 48 and 4 %. Naive Bayes, which chooses nothing, finds 81 and 83 %. So words
are read by naive Bayes, many in one copy, and two words that tell together alone, one share a copy.

Source: Currie 1968, "Limits for qualitative detection and quantitative determination".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.results import Result
from goldassay.stats.clusters import variance_of_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Shape = Literal["word", "form", "together"]


@dataclass(frozen=True)
class CueKind:
    """A kind of cue.

    Attributes:
        name: In words.
        shape: A word that tells alone, how words are written, or two words that tell only together.
        n_words: Words of each label; of two words that tell together, in each of the two places.
        counts: Whether it enters the limit of a question.
        rarest: Whether only the rarest label has it.
    """

    name: str
    shape: Shape
    n_words: int = 1
    counts: bool = True
    rarest: bool = False


ONE_WORD = CueKind("one word", "word")
TEN_WORDS = CueKind("ten words", "word", 10)
FIFTY_WORDS = CueKind("fifty words", "word", 50)
FORM = CueKind("form", "form")
FEW_TOGETHER = CueKind("two words together (3 and 3)", "together", 3, counts=False)
MANY_TOGETHER = CueKind("two words together (10 and 10)", "together", 10, counts=False)
RAREST_LABEL = CueKind("one word of the rarest label", "word", counts=False, rarest=True)
KINDS = (ONE_WORD, TEN_WORDS, FIFTY_WORDS, FORM, FEW_TOGETHER, MANY_TOGETHER, RAREST_LABEL)

# Planted shares of the rows of each label. Smaller ones where one copy has rows enough of them, larger ones where the
# least is too few rows in all copies.
DOSES, SMALL_DOSES, LARGE_DOSES = (0.04, 0.07, 0.11), (0.01, 0.02), (0.12, 0.18, 0.24)
# Planted rows that are read wrong unplanted.
LEAST_WRONG = 20
N_COPIES = 3
# A label of a smaller share of the rows is planted by itself, too.
RARE_SHARE = 0.1
# With fewer rows what many words tell is not shown: their recovery differs too much from one set of words to the next.
ROWS_FOR_MANY_WORDS = 1_000
# Recovery is measured on so many rows at most, of which at least a quarter is read; where texts must be read anew for
# each copy, on fewer.
MOST_ROWS, FEW_ROWS = 20_000, 12_000
# Of more rows one fold of five has enough that show a form.
ROWS_OF_ALL_FOLDS = 3_000


@dataclass(frozen=True)
class KindLimit(Result):
    """The limit of detection of one kind of cue.

    Attributes:
        kind: Of cue, in words, such as "ten words".
        limit: The smallest flaw of this kind from which on all are excluded, a share of the rows in [0, 1]; 1 where no
            planted dose is excluded.
        counts: Whether it enters the limit of the whole question: single words, ten words, fifty words and form do.
        recovered: How much of each dose the readers recover, in [0, 1].
        doses: Planted shares of the rows of each label, rising.
    """

    kind: str
    limit: float
    counts: bool
    recovered: tuple[float, ...]
    doses: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """A kind in one of its shares of the rows, both by number."""

    kind: int
    dose: int


@dataclass(frozen=True)
class Planting:
    """What each of N rows of a copy gets.

    Attributes:
        cells: Number of the cell among those of the copy, -1 where nothing is planted, (N,).
        words: Numbers of the planted words of each row, -1 for a word of this row alone, (N, 2).
        forms: How the row is written, 0 for as it is, (N,).
    """

    cells: NDArray[np.int64]
    words: NDArray[np.int64]
    forms: NDArray[np.int64]

    def take(self, rows: NDArray[np.integer]) -> Planting:
        """What some of the rows get."""
        return Planting(*(getattr(self, each.name)[rows] for each in fields(self)))


def doses_for(wrong: float) -> tuple[float, ...]:
    """The shares to plant, rising, given how many rows are read wrong unplanted.

    A limit is never below the least share that was planted. 1 and 2 % are planted where one copy has 20 such rows: of a
    cue that is recovered in 15 %, five rows show 40 % and more in 16 of 100 draws, 20 rows in one.
    """
    small = tuple(dose for dose in SMALL_DOSES if dose * wrong >= LEAST_WRONG)
    return (*small, *DOSES) if N_COPIES * DOSES[0] * wrong >= LEAST_WRONG else LARGE_DOSES


def plan_copies(kinds: Sequence[CueKind], doses: Sequence[float], shapes: Sequence[Shape]) -> list[tuple[Cell, ...]]:
    """Which cells each copy holds that others share; two words that tell together are alone in theirs.

    Words of all kinds and shares stand in disjoint rows of one copy, or of several where they do not fit; form, of
    which there are few, in one share a copy. Words are made three times, form at least once a share.

    Args:
        kinds: All that are planted.
        doses: Shares of the rows of each label.
        shapes: Those that are read in such copies.
    """
    plans: list[list[int]] = [[]]
    n_fitting = max(1, int((1 - max(doses)) / sum(doses) + 1e-9))
    for at, kind in enumerate(kinds):
        if kind.shape == "word" and kind.shape in shapes:
            if len(plans[-1]) == n_fitting:
                plans.append([])
            plans[-1].append(at)
    together = []
    forms = [at for at, kind in enumerate(kinds) if kind.shape == "form" and kind.shape in shapes]
    for copy in range(max(N_COPIES, len(doses) if forms else 0)):
        for number, plan in enumerate(plans if copy < N_COPIES else [[]]):
            cells = [Cell(at, dose) for at in plan for dose in range(len(doses))]
            cells += [Cell(at, (copy + number) % len(doses)) for at in forms]
            if cells:
                together.append(tuple(cells))
    return together


def plant_rows(
    codes: NDArray[np.integer],
    n_classes: int,
    parts: NDArray[np.integer],
    kinds: Sequence[CueKind],
    doses: Sequence[float],
    cells: Sequence[Cell],
    seed: int,
) -> Planting:
    """What each row of a copy gets: of each label, in each part, random disjoint rows for each cell.

    The words of a label are dealt out in turn. Of two words that tell together the first is of a random group u of K
    and the second of the group (label - u) mod K, so that each by itself tells nothing.

    Args:
        codes: Labels of the rows, (N,).
        n_classes: K.
        parts: Codes of parts that are planted alike, such as training rows and test rows, (N,).
        kinds: All kinds.
        doses: All shares.
        cells: What this copy holds.
        seed: Of the draws.
    """
    # A stream of its own: rows that are dealt into folds by the same one would be planted fold by fold.
    y, rng = np.asarray(codes, np.int64), np.random.default_rng((seed, 1))
    found = Planting(np.full(y.size, -1), np.full((y.size, 2), -1), np.zeros(y.size, np.int64))
    rarest = rarest_label(y, n_classes)
    # Words of a group are those whose number leaves it as remainder.
    sizes = [max(kinds[cell.kind].n_words, n_classes) for cell in cells]
    room = [
        2 * size if kinds[cell.kind].shape == "together" else n_classes * kinds[cell.kind].n_words
        for cell, size in zip(cells, sizes, strict=True)
    ]
    starts = np.cumsum([0, *room])
    for label in range(n_classes):
        for part in np.unique(parts):
            rows = rng.permutation(np.flatnonzero((y == label) & (parts == part)))
            shares = [doses[each.dose] if label == rarest or not kinds[each.kind].rarest else 0.0 for each in cells]
            ends = np.round(np.cumsum([0.0, *shares]) * rows.size).astype(np.int64)
            for at, cell in enumerate(cells):
                kind, here = kinds[cell.kind], rows[ends[at] : ends[at + 1]]
                found.cells[here] = at
                if kind.shape == "form":
                    found.forms[here] = 1 + label
                elif kind.shape == "word":
                    turn = (np.arange(here.size) + rng.integers(kind.n_words)) % kind.n_words
                    found.words[here, 0] = starts[at] + label * kind.n_words + turn
                else:
                    one = rng.integers(n_classes, size=here.size)
                    for place, group in enumerate((one, (label - one) % n_classes)):
                        of_group = (sizes[at] - 1 - group) // n_classes + 1
                        word = group + n_classes * rng.integers(of_group)
                        found.words[here, place] = starts[at] + place * sizes[at] + word
    return found


def rarest_label(codes: NDArray[np.integer], n_classes: int) -> int:
    """The label that fewest rows have, of those that occur."""
    counts = np.bincount(codes, minlength=n_classes)
    return int(np.where(counts > 0, counts, counts.sum() + 1).argmin())


def draw_rows(
    clusters: NDArray[np.integer], parts: NDArray[np.integer], seed: int, most: int = MOST_ROWS
) -> NDArray[np.int64]:
    """Rows to measure recovery on, ascending, at most so many: whole clusters, drawn by part.

    Args:
        clusters: Of the rows, any codes, (N,).
        parts: 1 for rows that are read and do not teach, else 0, (N,).
        seed: Of the draw.
        most: Rows.
    """
    if clusters.size <= most:
        return np.arange(clusters.size)
    n_read = int((parts == 1).sum())
    wanted = min(n_read, max(most // 4, most - (clusters.size - n_read)))
    found = []
    for part, room in ((0, most - wanted), (1, wanted)):
        rows = np.flatnonzero(parts == part)
        codes = np.unique(clusters[rows], return_inverse=True)[1]
        sizes = np.bincount(codes)
        order = np.random.default_rng(seed).permutation(sizes.size)
        inside = np.zeros(sizes.size, np.bool_)
        inside[order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), room, side="right")))]] = True
        found.append(rows[inside[codes]] if rows.size else rows)
    return np.sort(np.concatenate(found))


def recovered_share(
    here: NDArray[np.float64],
    copies: Sequence[tuple[NDArray[np.bool_], NDArray[np.float64]]],
    labels: NDArray[np.int64],
) -> float:
    """r: what is gained in planted rows of what there was to gain, in [0, 1]; the mean over the labels.

    Args:
        here: What each row got unplanted, (N,).
        copies: Of each copy which rows are planted, (N,), and what each row got there, (N,).
        labels: Codes of the labels of which the mean is taken, all 0 for one share of all rows, -1 for rows that do not
            count, (N,).
    """
    n_labels = int(labels.max(initial=-1)) + 1
    gained, there = np.zeros(n_labels), np.zeros(n_labels)
    for planted, got in copies:
        rows = planted & (labels >= 0)
        gained += np.bincount(labels[rows], (got - here)[rows], n_labels)
        there += np.bincount(labels[rows], (1 - here)[rows], n_labels)
    known = there > 0
    return float(np.clip((gained[known] / there[known]).mean(), 0, 1)) if known.any() else 0.0


def skill_error(
    right: NDArray[np.float64],
    labels: NDArray[np.int64],
    baseline: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
) -> float:
    """Standard error of a skill: the mean over labels of the share that is right, over what a baseline leaves to gain.

    Args:
        right: What each row got, (N,).
        labels: As for `recovered_share`.
        baseline: What guessing gets of each row, (N,).
        codes: Clusters of the rows, (N,).
    """
    rows = labels >= 0
    counts = np.bincount(labels[rows])
    weights = np.zeros(right.size)
    weights[rows] = (1 / counts / counts.size)[labels[rows]]
    means = np.bincount(labels[rows], (right - baseline)[rows]) / counts
    parts = np.where(rows, (right - baseline - means[labels]) * weights, 0.0) * right.size
    return math.sqrt(variance_of_mean(parts, codes)) / float(((1 - baseline) * weights).sum())


def limit_of_kind(
    value: float, z: float, doses: Sequence[float], recovered: NDArray[np.float64], errors: NDArray[np.float64]
) -> float:
    """S_t: the least flaw from which on all are excluded, in [0, 1]; 1 where none is.

    Args:
        value: The largest effect that was measured.
        z: Of the normal distribution.
        doses: D shares, rising.
        recovered: r at each, not falling, (D,).
        errors: Standard errors at each, (D,).
    """
    found = 1.0
    for dose, share, error in reversed(list(zip(doses, recovered.tolist(), errors.tolist(), strict=True))):
        # From here to where the next larger share takes over.
        least = (value + z * error) / share if share > 0 else math.inf
        if least >= found:
            break
        found = max(dose, least)
        if found > dose:
            break
    return found
