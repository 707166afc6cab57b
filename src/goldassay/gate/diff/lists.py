"""Things that went and things that came, from the fullest list that both reports have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.listings import WORTH

if TYPE_CHECKING:
    from goldassay.core.listings import Listing
    from goldassay.gate.reading import StoredReport

CHANGES = ("gone", "new", "turned", "stayed")


@dataclass(frozen=True)
class ListChange:
    """What became of the things that two reports list, such as the patterns that give a label away.

    Attributes:
        source: What was compared, as a sentence.
        n_before: How many the first report has.
        n_after: How many the second has.
        gone: Only in the first: the listing's columns; what is worth most first.
        new: Only in the second.
        turned: In both, with another label: as in the second, with the earlier label.
        stayed: In both, with the same label: as in the second, with the earlier numbers.
    """

    source: str
    n_before: int
    n_after: int
    gone: pl.DataFrame
    new: pl.DataFrame
    turned: pl.DataFrame
    stayed: pl.DataFrame


def compare_lists(listing: Listing, before: StoredReport, after: StoredReport) -> ListChange | None:
    """Lay what two reports list side by side; None where one of them lists nothing.

    All things are taken where both reports have them; else those that the reports name themselves: what is gone then
    may just have lost its rank.
    """
    found = [listing.read(report.document, report.folder) for report in (before, after)]
    if found[0] is None or found[1] is None:
        return None
    if found[0].complete is not None and found[1].complete is not None:
        one, other = found[0].complete, found[1].complete
        source = f"All {listing.name} that were kept are compared."
    else:
        one, other = found[0].strongest, found[1].strongest
        source = (
            f"Only the strongest {listing.name} of each {listing.label} are compared: the tables of all are not beside "
            f"both reports. A {listing.one} that is gone may just rank lower."
        )
    label, earlier = pl.col(listing.label), pl.col(f"{listing.label}_before")
    both = other.join(one.drop(WORTH), on=listing.one, how="inner", suffix="_before")
    return ListChange(
        source=source,
        n_before=one.height,
        n_after=other.height,
        gone=_ranked(one.join(other, on=listing.one, how="anti"), listing),
        new=_ranked(other.join(one, on=listing.one, how="anti"), listing),
        turned=_ranked(both.filter(label != earlier), listing),
        stayed=_ranked(both.filter(label == earlier).drop(f"{listing.label}_before"), listing),
    )


def _ranked(table: pl.DataFrame, listing: Listing) -> pl.DataFrame:
    return table.sort(WORTH, listing.one, descending=[True, False]).drop(WORTH)
