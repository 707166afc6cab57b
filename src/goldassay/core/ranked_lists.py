"""Lists of things that a report names one by one, such as patterns, which two reports can be compared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

WORTH = "worth"


@dataclass(frozen=True)
class Listed:
    """What one report lists: a row a thing, with the listing's columns and `worth`, by which rows are ranked.

    Attributes:
        complete: All that there are; None where neither the report nor its tables hold them.
        strongest: Those that the report itself names.
    """

    complete: pl.DataFrame | None
    strongest: pl.DataFrame


@dataclass(frozen=True)
class Listing:
    """A list that reports have.

    Attributes:
        name: What is listed, in the plural: a key of a comparison's document.
        one: The column that tells one thing from another, and the word for one.
        label: The column whose change is worth a list of its own.
        numbers: Further columns, of which a comparison keeps the earlier value, too.
        read: Reads it from a report's document and folder; None where the report has none.
    """

    name: str
    one: str
    label: str
    numbers: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Path], Listed | None]


_LISTINGS: dict[str, Listing] = {}


def declare_listing(listing: Listing) -> Listing:
    """Make a list known to comparisons, and return it.

    Raises:
        ValueError: Another list has its name.
    """
    if _LISTINGS.setdefault(listing.name, listing) != listing:
        raise ValueError(f"the list {listing.name!r} is declared twice")
    return listing


def listings() -> tuple[Listing, ...]:
    """Every list, in the order of declaration."""
    return tuple(_LISTINGS.values())
