"""From what readers recover of cues planted in copies of the rows to limits of detection.

Write cues into texts: words that no text has, and ways of writing that few have.

A planted word is twelve random letters, new in each copy; words with a beginning in common would be alike to readers of
stems. Rows without one get a word of their own, so that lengths tell nothing.

Form changes how a text is written and no word of it: spaces are doubled, words put in capitals, tabs set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.stats.clusters import Folds, dense_codes
from goldassay.stats.detection import (
    DOSES,
    FEW_ROWS,
    FIFTY_WORDS,
    KINDS,
    LARGE_DOSES,
    MOST_ROWS,
    N_COPIES,
    RARE_SHARE,
    ROWS_FOR_MANY_WORDS,
    ROWS_OF_ALL_FOLDS,
    Cell,
    CueKind,
    KindLimit,
    Planting,
    Shape,
    doses_for,
    draw_rows,
    limit_of_kind,
    plan_copies,
    plant_rows,
    rarest_label,
    recovered_share,
    skill_error,
)
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    Effect,
    Measure,
    ReaderPredictions,
    balanced_classes,
    find_contenders,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


# Of one measure one-sided 97.5 %; of the better of two each 98.75 %.
_Z = {1: 1.96, 2: 2.24}
# Rows read wrong unplanted, at a dose, with which one copy of two words that tell together is enough.
_ENOUGH_WRONG = 60


@dataclass(frozen=True)
class PlantedRows:
    """Rows in which cues are planted, and the readers that are to find them.

    Attributes:
        codes: Labels of the rows that teach and of those that are read, (L,).
        n_classes: K.
        parts: 1 for rows that are read and do not teach, else 0, (L,).
        read: Which of the rows are read, ascending, (N,).
        here: What the reader of each shape of cue names unplanted; a shape that no reader sees is missing.
        read_copy: What it names in a copy, given what is planted, the shape and a seed.
        clusters: Of the rows that are read, (N,); None where each is its own.
        n_independent: Clusters of all rows that were measured, of which these may be a part.
        uncounted: Kinds that are shown alone, and do not enter the limit of the question.
    """

    codes: NDArray[np.int64]
    n_classes: int
    parts: NDArray[np.int64]
    read: NDArray[np.int64]
    here: Mapping[Shape, ReaderPredictions]
    read_copy: Callable[[Planting, Shape, int], ReaderPredictions]
    clusters: NDArray[np.int64] | None
    n_independent: int
    uncounted: Sequence[CueKind] = ()

    @property
    def gold(self) -> NDArray[np.int64]:
        """Labels of the rows that are read, (N,)."""
        return self.codes[self.read]


@dataclass(frozen=True)
class ReadText:
    """One text of labelled rows, as readers have read it.

    Attributes:
        codes: Labels of the rows that teach and of those that are read, (L,).
        n_classes: K.
        folds: Which rows teach which.
        here: What the reader of each shape of cue names.
        read_rows: Given some of the rows, in an order of their own, and which of these teach which, what reads a copy
            of them; see `PlantedRows`.
        clusters: Of the N rows that are read, (N,); None where each is its own.
        n_independent: Clusters of all rows that were measured.
        uncounted: Kinds that are shown alone.
        word_rows: In so many rows at most words are planted.
    """

    codes: NDArray[np.int64]
    n_classes: int
    folds: Folds
    here: Mapping[Shape, ReaderPredictions]
    read_rows: Callable[[NDArray[np.int64], Folds], Callable[[Planting, Shape, int], ReaderPredictions]]
    clusters: NDArray[np.int64] | None
    n_independent: int
    uncounted: Sequence[CueKind] = ()
    word_rows: int = MOST_ROWS

    def limits(self, effects: Sequence[Effect], seed: int) -> tuple[KindLimit, ...]:
        """The limit of detection of each kind of cue in this text.

        Words are counted, and few texts need to be read anew for them. Form and two words that tell together are read
        in fewer rows, and of several folds in one; form in all of them where rows are few.

        Args:
            effects: Of all readers of this text.
            seed: Of what is planted and of the readers.
        """
        words = find_limits(self._planted(self.word_rows, seed, whole=True), effects, seed, ("word",))
        few = self.codes.size <= ROWS_OF_ALL_FOLDS
        forms = find_limits(self._planted(FEW_ROWS, seed, whole=few), effects, seed, ("form",))
        pairs = find_limits(self._planted(FEW_ROWS, seed, whole=False), effects, seed, ("together",))
        found = {each.kind: each for each in (*words, *forms, *pairs)}
        return tuple(found[kind.name] for kind in KINDS if kind.name in found)

    def _planted(self, most: int, seed: int, *, whole: bool) -> PlantedRows:
        """Some rows, of all folds or of one that is read by the others."""
        folds, places = self.folds, self.folds.rows
        is_read = np.isin(folds.codes, folds.read if whole else folds.read[:1])
        parts = (is_read & (not whole or not np.isin(folds.codes, folds.read).all())).astype(np.int64)
        # Rows that only teach are drawn one by one: each teaches by itself.
        groups = np.arange(self.codes.size)
        groups[places] = self.codes.size + dense_codes(self.clusters, places.size)
        rows = draw_rows(groups, parts, seed, most)
        if not whole:
            rows = rows[np.argsort(is_read[rows], kind="stable")]
            n_read = int(is_read[rows].sum())
            folds = Folds.of_parts(rows.size - n_read, n_read)
        else:
            folds = Folds(folds.codes[rows], folds.read)
        kept = np.searchsorted(places, rows[folds.rows])
        return PlantedRows(
            codes=self.codes[rows],
            n_classes=self.n_classes,
            parts=parts[rows],
            read=folds.rows,
            here={shape: reading.take(kept) for shape, reading in self.here.items()},
            read_copy=self.read_rows(rows, folds),
            clusters=None if self.clusters is None else dense_codes(self.clusters, places.size)[kept],
            n_independent=self.n_independent,
            uncounted=self.uncounted,
        )


def find_limits(
    rows: PlantedRows,
    effects: Sequence[Effect],
    seed: int,
    shapes: Sequence[Shape] = ("word", "form", "together"),
) -> tuple[KindLimit, ...]:
    """The limit of detection of each kind of cue in one part of the input.

    Larger shares are planted, too, of kinds that count and of which no smaller one is excluded.

    Args:
        rows: What is planted, and who reads it.
        effects: Of all readers of this part.
        seed: Of what is planted and of the readers.
        shapes: Of the cues.
    """
    of_shapes = [reading for shape, reading in rows.here.items() if shape in shapes]
    wrong = min((float((1 - each.right(rows.gold)).sum()) for each in of_shapes), default=0.0)
    sizes = np.bincount(rows.codes, minlength=rows.n_classes)
    is_rare = sizes[sizes > 0].min() < RARE_SHARE * sizes.sum()
    kinds = [each for each in KINDS if each.shape in shapes and (is_rare or not each.rarest)]
    found = {each.kind: each for each in _limits_from(rows, effects, kinds, doses_for(wrong), wrong, seed)}
    missed = [each for each in kinds if each.shape in rows.here and found[each.name].counts]
    missed = [each for each in missed if found[each.name].limit >= 1]
    if missed and doses_for(wrong) != LARGE_DOSES:
        larger = _limits_from(rows, effects, missed, LARGE_DOSES, wrong, seed)
        found |= {each.kind: each for each in larger if each.limit < 1}
    return tuple(found.values())


def _limits_from(
    rows: PlantedRows,
    effects: Sequence[Effect],
    kinds: Sequence[CueKind],
    doses: tuple[float, ...],
    wrong: float,
    seed: int,
) -> tuple[KindLimit, ...]:
    copies = _Copies(rows, kinds, doses, seed)
    scales = _scales(rows, effects)
    if not scales:
        return tuple(KindLimit(kind.name, 1.0, kind.counts, (math.nan,) * len(doses), doses) for kind in kinds)
    planned = [each for each in rows.here if each != "together"]
    together = copies.read_all(plan_copies(kinds, doses, planned))
    found = []
    for at, kind in enumerate(kinds):
        recovered = np.full((len(scales), len(doses)), np.nan)
        errors = np.zeros((len(scales), len(doses)))
        limits = [1.0] * len(scales)
        for dose in reversed(range(len(doses))) if kind.shape in rows.here else ():
            cell, read = Cell(at, dose), together
            if kind.shape == "together":
                n_copies = min(N_COPIES, math.ceil(_ENOUGH_WRONG / max(doses[dose] * wrong, 1)))
                read = copies.read_all([(cell,)] * n_copies)
            for number, scale in enumerate(scales):
                recovered[number, dose], errors[number, dose] = copies.recover(cell, read, scale)
                # What more of a cue shows less of is luck.
                own = np.minimum.accumulate(recovered[number, dose:][::-1])[::-1]
                weight = scale.rare if kind.rarest else 1.0
                limits[number] = limit_of_kind(
                    scale.value, _Z[len(scales)], doses[dose:], own * weight, errors[number, dose:]
                )
                recovered[number, dose:] = own
            # Where not even this much is excluded less is not, and each reading of pairs takes time.
            if kind.shape == "together" and (min(limits) > doses[dose] or doses[dose] <= DOSES[0]):
                break
        best = int(np.argmin(limits))
        counts = kind.counts and (kind is not FIFTY_WORDS or rows.gold.size >= ROWS_FOR_MANY_WORDS)
        counts = counts and kind not in rows.uncounted
        found.append(KindLimit(kind.name, limits[best], counts, tuple(recovered[best].tolist()), doses))
    return tuple(found)


def largest_limits(found: Iterable[Sequence[KindLimit]]) -> tuple[KindLimit, ...]:
    """Of each kind the largest limit, of all parts of the input."""
    largest: dict[str, KindLimit] = {}
    for limit in (limit for limits in found for limit in limits):
        known = largest.get(limit.kind)
        if known is None or limit.limit > known.limit:
            largest[limit.kind] = limit
    return tuple(largest.values())


@dataclass(frozen=True)
class _Scale:
    """One measure of what is right.

    Attributes:
        measure: Its name.
        value: The largest effect that was measured.
        errors: Standard error of each reader.
        labels: Codes of what the mean is taken over, -1 for rows that do not count, (N,).
        groups: The class of each label by which these count, (K,); None for labels as they are named.
        baseline: What guessing gets, (N,).
        rare: What a cue of the rarest label adds of what one of every label does.
    """

    measure: Measure
    value: float
    errors: Mapping[str, float]
    labels: NDArray[np.int64]
    groups: NDArray[np.int64] | None
    baseline: NDArray[np.float64]
    rare: float

    def right(self, reading: ReaderPredictions, gold: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each row gets, (N,)."""
        return reading.right(gold) if self.groups is None else reading.lifted_right(gold, self.groups)


def _scales(rows: PlantedRows, effects: Sequence[Effect]) -> list[_Scale]:
    gold, chance = rows.gold, next((each.chance for each in rows.here.values()), None)

    def scale(
        measure: Measure,
        labels: NDArray[np.int64],
        groups: NDArray[np.int64] | None,
        baseline: NDArray[np.float64],
        rare: float,
        luck: float = 0.0,
    ) -> _Scale:
        own = [each for each in effects if each.measure == measure and each.measurable]
        value = max((_likely_value(each, luck) for each in own), default=0.0)
        return _Scale(
            measure, max(value, 0.0), {each.reader: each.standard_error for each in own}, labels, groups, baseline, rare
        )

    every = np.zeros(gold.size, np.int64)
    if chance is not None:
        return [scale(ACCURACY, every, None, np.asarray(chance, np.float64), 0.0)]
    counts, rarest = np.bincount(gold, minlength=rows.n_classes), rarest_label(rows.codes, rows.n_classes)
    usual = (gold == counts.argmax()).astype(np.float64)
    found = []
    if not usual.all():
        shares = counts / gold.size
        contenders = find_contenders(gold, shares, dense_codes(rows.clusters, gold.size))
        luck = float(shares.max() - shares[list(contenders)].mean())
        found.append(scale(ACCURACY, every, None, usual, float(counts[rarest] / gold.size), luck))
    # Of places a balanced skill says nothing more.
    if any(each.of_places for each in rows.here.values()):
        return found
    groups, _ = balanced_classes(gold, rows.n_classes)
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups > 1:
        alike = counts[groups == groups[rarest]].sum() if groups[rarest] >= 0 else np.inf
        found.append(
            scale(
                BALANCED,
                groups[gold],
                groups,
                np.full(gold.size, 1 / n_groups),
                float(counts[rarest] / alike / n_groups),
            )
        )
    return found


def _likely_value(effect: Effect, luck: float) -> float:
    """The effect above the share that the most frequent label has elsewhere, which is less by this luck."""
    if not luck:
        return effect.value
    baseline = effect.baseline - luck
    return min((effect.score - baseline) / (1 - baseline), effect.high)


@dataclass(frozen=True)
class _ReadCopy:
    """A copy: what it holds, which cell each row that is read is of, and what the readers name."""

    cells: tuple[Cell, ...]
    planted: NDArray[np.int64]
    readings: Mapping[Shape, ReaderPredictions]


@dataclass(frozen=True)
class _Copies:
    """What is planted in copies of rows, and what is found there."""

    rows: PlantedRows
    kinds: Sequence[CueKind]
    doses: Sequence[float]
    seed: int

    def read_all(self, planned: Sequence[tuple[Cell, ...]]) -> list[_ReadCopy]:
        """Plant and read copies."""
        rows, found = self.rows, []
        for number, cells in enumerate(planned):
            seed = self.seed + number
            planting = plant_rows(rows.codes, rows.n_classes, rows.parts, self.kinds, self.doses, cells, seed)
            shapes = dict.fromkeys(self.kinds[each.kind].shape for each in cells)
            readings = {shape: rows.read_copy(planting, shape, seed) for shape in shapes}
            found.append(_ReadCopy(cells, planting.cells[rows.read], readings))
        return found

    def recover(self, cell: Cell, copies: Sequence[_ReadCopy], scale: _Scale) -> tuple[float, float]:
        """R of a cell, and the larger of the reader's standard errors here and in the copies."""
        rows, shape = self.rows, self.kinds[cell.kind].shape
        here = scale.right(rows.here[shape], rows.gold)
        read = [
            (each.planted == each.cells.index(cell), scale.right(each.readings[shape], rows.gold))
            for each in copies
            if cell in each.cells
        ]
        n = rows.gold.size if rows.clusters is None else np.unique(rows.clusters).size
        errors = [
            skill_error(np.where(planted, got, here), scale.labels, scale.baseline, rows.clusters)
            for planted, got in read
        ]
        measured = scale.errors.get(rows.here[shape].reader, 0.0)
        return recovered_share(here, read, scale.labels), max(measured, max(errors) * math.sqrt(n / rows.n_independent))


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
