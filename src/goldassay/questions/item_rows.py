"""Items with choices that are worth reading first: what cannot be right, and what is given away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.finding import RowToRead
from goldassay.data.kinds.item_kinds import CHOICES, ItemKind
from goldassay.questions.rows import examples_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.stats.effects import Effect, ReaderPredictions

# Of a long passage its beginning tells which it is.
_LONGEST_PASSAGE = 300
_LONGEST_CHOICE = 320
# Defects of a kind: the others are in the table of problems.
_MOST_DEFECTS = 2


def items_to_read(items: ChoiceItems, reasons: Iterable[tuple[int, str]]) -> tuple[RowToRead, ...]:
    """The items at some positions, each with why it is worth reading."""
    return tuple(_row(items, at, why) for at, why in reasons)


def defects(items: ChoiceItems) -> list[tuple[int, str]]:
    """(position, why) of items that are measured although they cannot be right, some of each kind."""
    place = {row: at for at, row in enumerate(items.rows.tolist())}
    listed = items.problems.filter("used").group_by("reason", maintain_order=True).head(_MOST_DEFECTS)
    return [
        (place[row], f"{reason[:1].upper()}{reason[1:]}.")
        for row, reason in listed.select("row", "reason").iter_rows()
        if row in place
    ]


def found_by_rule(
    readings: Sequence[ReaderPredictions], effects: Sequence[Effect], kind: ItemKind = CHOICES
) -> list[tuple[int, str]]:
    """(position, why) of items whose right choice is picked alone by the rule that surely gains most.

    Args:
        readings: What each rule without parameters picks.
        effects: What each gains.
        kind: Of the items.
    """
    gained = {each.reader: each.low for each in effects if each.low > 0}
    if not gained:
        return []
    best = max(gained, key=lambda reader: gained[reader])
    hits = next(np.asarray(each.correct)[0] * each.applies for each in readings if each.reader == best)
    why = f"Picking by the {best} (no training) finds the {kind.right} {kind.option}."
    return [(at, why) for at in np.flatnonzero(hits == 1).tolist()]


def mentioned_by_part(examples: pl.DataFrame, kind: ItemKind = CHOICES) -> list[tuple[int, str]]:
    """(position, why) of items of which every reader of a part names the right choice, most bits first."""
    return [
        (at, f"The {kind.right} {kind.option} is predictable from the {part} alone (all runs of the reader).")
        for at, _, part in examples_read(examples)
    ]


def _row(items: ChoiceItems, at: int, why: str) -> RowToRead:
    begin, end = items.offsets[at : at + 2].tolist()
    # Whole responses would fill the page; the files have them.
    choices = [_cut(text, _LONGEST_CHOICE) for text in items.texts[begin:end].to_list()]
    right = items.right[begin:end].tolist()
    lines = [_cut(part, _LONGEST_PASSAGE) for part in (items.passages[at], items.questions[at]) if part]
    lines += [f"– {text}" for text in choices]
    named = " / ".join(text for text, is_right in zip(choices, right, strict=True) if is_right)
    return RowToRead(f"row {items.rows[at]}", "\n".join(lines), named, why)


def _cut(text: str, most: int) -> str:
    """The first lines of a long text, up to so many characters; a line counts as eighty."""
    lines = text.split("\n")
    kept = "\n".join(lines[: most // 80])[:most].rstrip()
    return text if kept == text.rstrip() else f"{kept}…"
