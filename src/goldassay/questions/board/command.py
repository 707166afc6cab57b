"""Boards, asked in Python and in a shell: `rank_systems` and `goldassay board`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.options import (
    Clusters,
    Cutoff,
    Discount,
    DiscountPart,
    Quiet,
    Seed,
    SettingsOrFile,
    ValueMap,
    place,
)
from goldassay.questions.run_choice import RunChoice, RunReading

if TYPE_CHECKING:
    from goldassay.report.report import Report

Table = Annotated[
    Any, place("A column a system, or a row a system and item; lists of solved items; runs.", "TABLE", repeat=True)
]


@command()
def rank_systems(
    table: Table,
    *,
    clusters: Clusters = None,
    discount: Discount = None,
    discount_part: DiscountPart = None,
    cutoff: Cutoff = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    map: ValueMap = None,  # noqa: A002
    quiet: Quiet = True,
    **reading: Unpack[RunReading],
) -> Report:
    """Rank systems on the same items, and say which ranks are significant.

    Gives the score of each system and the ranks that it may have, which hold for all systems at once; groups without a
    significant difference; how often the first is first in random halves of the items; the items that decide the first
    place, and items weaker systems solve but stronger ones miss.

    Note:
        The table is a path, a frame, an Arrow table or a list of dicts; a folder of lists of solved items; or runs of
        several models on one dataset. By default items of a table count each by itself, and those of runs by the texts
        they share, where `test` gives these.

    Returns:
        The report; its tables are `board`, a row a system, and `board_items`, a row an item.

    Raises:
        InputError: It is no board, systems have no items in common, or scores are of two scales.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_values
    from goldassay.questions.board.question import study_board

    settings = chosen(settings, seed, clusters=clusters)
    reading["columns"] = with_values(reading.get("columns"), map)
    choice = RunChoice.of(cutoff, **reading)
    report, found = study_board(table, choice, settings, quiet=quiet, discount=discount, discount_part=discount_part)
    return replace(report, result=found)
