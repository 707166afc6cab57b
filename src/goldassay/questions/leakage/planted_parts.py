"""Cues planted in one text of labelled rows, and what the readers of this text find of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.progress import silent
from goldassay.questions.detection_limits import PlantedRows, find_limits, largest_limits
from goldassay.questions.leakage.partial_input import (
    FORM,
    WORDS,
    form_readings,
    interaction_readings,
    part_name,
    spelled,
    word_reading,
)
from goldassay.readers.interactions import INTERACTIONS
from goldassay.readers.planting import planted_texts
from goldassay.stats.clusters import dense_codes
from goldassay.stats.detection import draw_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.data.data_split import DataSplit
    from goldassay.stats.detection import KindLimit, Planting, Shape
    from goldassay.stats.effects import Effects, ReaderPredictions

# The reader that finds cues of each shape. The quick probe finds words too, but what it recovers depends on what else
# is planted beside them.
_READERS: dict[Shape, str] = {"word": WORDS, "form": FORM, "together": INTERACTIONS}


def limits_of_parts(
    split: DataSplit,
    readings: Sequence[ReaderPredictions],
    effects: Effects,
    clusters: NDArray[np.int64] | None,
    seed: int,
    progress: Progress = silent,
) -> tuple[KindLimit, ...]:
    """The limit of detection of each kind of cue, the largest of the parts of the input.

    Args:
        split: Rows with their texts.
        readings: What the readers of each part name.
        effects: Of these.
        clusters: Of the rows that are read, (N,).
        seed: Of what is planted and of the readers.
        progress: Told after each part.
    """
    shown = {each.part for each in readings}
    roles = [role for role in split.test.text_columns if part_name(role) in shown]
    found = []
    for done, role in enumerate(roles, start=1):
        own = {each.reader: each for each in readings if each.part == part_name(role)}
        found.append(_limits_of_part(split, role, own, effects, clusters, seed))
        progress(done, len(roles))
    return largest_limits(found)


def _limits_of_part(
    split: DataSplit,
    role: str,
    readings: dict[str, ReaderPredictions],
    effects: Effects,
    clusters: NDArray[np.int64] | None,
    seed: int,
) -> tuple[KindLimit, ...]:
    folded, places = split.fold_codes is not None, split.folds.rows
    parts = np.zeros(split.codes.size, np.int64) if folded else split.folds.codes
    # Training rows are drawn one by one: each teaches by itself.
    groups = np.arange(split.codes.size)
    groups[places] = split.codes.size + dense_codes(clusters, places.size)
    rows = draw_rows(groups, parts, seed)
    small, kept = split.take(rows), np.flatnonzero(np.isin(places, rows))
    letters = spelled(small, small.texts(role))

    def read_copy(planting: Planting, shape: Shape, of_copy: int) -> ReaderPredictions:
        copy = small.with_texts(role, planted_texts(small.texts(role), planting, of_copy))
        if shape == "form":
            return form_readings(copy, [f"{role}_only"], seed)[0]
        if shape == "together":
            return interaction_readings(copy, [f"{role}_only"], seed)[0]
        return word_reading(copy, role, letters)

    here = {shape: readings[name].take(kept) for shape, name in _READERS.items() if name in readings}
    planted = PlantedRows(
        codes=small.codes,
        n_classes=small.label_counts.size,
        parts=parts[rows],
        read=small.folds.rows,
        here=here,
        read_copy=read_copy,
        clusters=None if clusters is None else dense_codes(clusters, places.size)[kept],
        n_independent=effects.n_clusters,
    )
    return find_limits(planted, effects.of(part_name(role)), seed)
