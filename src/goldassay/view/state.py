"""What a view shows, as the query of its address: filters, order and page. An address can be sent."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean
from goldassay.view.rows import RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PAGE_SIZE = 50
LONGEST_SEARCH = 500
# No report has as many; a number with more digits is the same page.
_LAST_PAGE = 10**9
_MEND = "change the address, or remove its part after the question mark"


@dataclass(frozen=True)
class State:
    """A selection of rows, its order and the page of it.

    Attributes:
        words: Words that all must occur, in any case and as whole words; or a regular expression.
        is_regex: Whether `words` is a regular expression.
        chosen: {facet: values}, any of which a row has; a run's facet is "run.NAME".
        ranges: {column of numbers: (low, high)}, both ends included.
        sort: A column; "" for the order of the file.
        descending: The order.
        page: From 1.
    """

    words: str = ""
    is_regex: bool = False
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranges: tuple[tuple[str, tuple[float, float]], ...] = ()
    sort: str = ""
    descending: bool = False
    page: int = 1

    @property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """The chosen values by facet."""
        return dict(self.chosen)

    @property
    def runs(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The chosen kinds of answers by run: (name, kinds)."""
        return tuple((name.removeprefix(RUN), kinds) for name, kinds in self.chosen if name.startswith(RUN))

    @property
    def filters(self) -> tuple[Any, ...]:
        """What decides which rows are shown."""
        return self.words, self.is_regex, self.chosen, self.ranges

    def query(self) -> str:
        """The part of the address after its question mark; equal states give equal texts."""
        pairs = [("q", self.words)] if self.words else []
        pairs += [("re", "1")] if self.is_regex and self.words else []
        pairs += self.beside_search()
        pairs += [("page", str(self.page))] if self.page > 1 else []
        return urlencode(pairs)

    def beside_search(self) -> list[tuple[str, str]]:
        """The parts of the address that another search leaves: (name, value)."""
        pairs = [
            (name if name.startswith(RUN) else f"f.{name}", value) for name, values in self.chosen for value in values
        ]
        pairs += [(f"n.{name}", f"{_exact(low)}..{_exact(high)}") for name, (low, high) in self.ranges]
        return [*pairs, *([("sort", f"{'-' if self.descending else ''}{self.sort}")] if self.sort else [])]

    def toggled(self, facet: str, value: str) -> State:
        """The same with a value of a facet chosen, or no longer."""
        chosen = {name: list(values) for name, values in self.chosen}
        own = chosen.setdefault(facet, [])
        if value in own:
            own.remove(value)
        else:
            own.append(value)
        return replace(self, chosen=_frozen(chosen), page=1)

    def sorted_by(self, column: str) -> State:
        """The same ordered by a column, largest first; asked again, smallest first, then in the file's order."""
        if self.sort != column:
            return replace(self, sort=column, descending=True, page=1)
        return replace(self, sort=column if self.descending else "", descending=False, page=1)

    def at(self, page: int) -> State:
        """The same on another page."""
        return replace(self, page=page)

    def outside(self, *columns: str) -> State:
        """The same, on the first page, without the ranges of some columns."""
        return replace(self, ranges=tuple(each for each in self.ranges if each[0] not in columns), page=1)

    def without_runs(self) -> State:
        """The same whatever single runs answer."""
        return replace(self, chosen=tuple(each for each in self.chosen if not each[0].startswith(RUN)), page=1)

    def without_ranges(self) -> State:
        """The same without ranges."""
        return replace(self, ranges=(), page=1)


def parse_state(
    query: str,
    facets: Mapping[str, Collection[str]],
    numbers: Collection[str],
    sortable: Collection[str],
    missing: Mapping[str, str] = MappingProxyType({}),
) -> State:
    """Read the part of an address after its question mark.

    Args:
        query: As it is in the address.
        facets: The values of each facet.
        numbers: Columns that hold numbers.
        sortable: Columns to sort by.
        missing: {column: why it, or some of its values, are not there, in a sentence}; of all runs under `RUN`.

    A page behind the last one is the last one, since decisions may leave fewer rows; see `Selector.select`.

    Raises:
        InputError: It names a column or a value that is not there, a page that is no number from 1 on, or a search that
            cannot be read.
    """
    words, is_regex, sort, page = "", False, "", 1
    chosen: dict[str, list[str]] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for name, value in parse_qsl(query.removeprefix("?"), keep_blank_values=True):
        kind, _, column = name.partition(".")
        if name == "q":
            words = value.strip()
        elif name == "re":
            is_regex = value not in ("", "0")
        elif name == "sort":
            sort = value
        elif name == "page":
            page = _page(value)
        elif (kind == "f" and column and not column.startswith(RUN)) or (name.startswith(RUN) and name != RUN):
            column = name if name.startswith(RUN) else column
            _check(column, facets, "filter", missing)
            if value not in facets[column]:
                raise InputError(
                    f"the view's state: {column} is never {value!r}{_why(missing, column)}",
                    mend=did_you_mean(value, list(facets[column])),
                )
            chosen.setdefault(column, []).append(value)
        elif kind == "n" and column:
            _check(column, numbers, "range", missing)
            ranges[column] = _range(column, value)
        else:
            raise InputError(f"the view's state has an unknown part {name!r}", mend=_MEND)
    if len(words) > LONGEST_SEARCH:
        raise InputError(f"the view's state: a search has at most {LONGEST_SEARCH} characters", mend=_MEND)
    column = sort.removeprefix("-")
    if column:
        _check(column, sortable, "order", missing)
    return State(words, is_regex, _frozen(chosen), tuple(sorted(ranges.items())), column, sort.startswith("-"), page)


def _page(value: str) -> int:
    if not re.fullmatch(r"0*[1-9]\d*", value, re.ASCII):
        raise InputError(f"the view's state: the page {value!r} is no number from 1 on", mend=_MEND)
    digits = value.lstrip("0")
    return int(digits) if len(digits) <= len(str(_LAST_PAGE)) else _LAST_PAGE


def _why(missing: Mapping[str, str], column: str) -> str:
    why = missing.get(RUN if column.startswith(RUN) else column, "").rstrip(".")
    return f": {why[0].lower()}{why[1:]}" if why else ""


def _check(column: str, known: Collection[str], what: str, missing: Mapping[str, str]) -> None:
    if column not in known:
        raise InputError(
            f"the view's state: there is no {what} {column!r}{_why(missing, column)}",
            mend=did_you_mean(column, list(known)) if known else _MEND,
        )


def _range(column: str, value: str) -> tuple[float, float]:
    low, _, high = value.partition("..")
    try:
        ends = (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        ends = (math.nan, math.nan)
    if not ends[0] <= ends[1]:
        raise InputError(f"the view's state: {column} has the range {value!r}, which is not LOW..HIGH", mend=_MEND)
    return ends


def _frozen(chosen: Mapping[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(sorted(set(values)))) for name, values in sorted(chosen.items()) if values)


def _exact(number: float) -> str:
    """A number in the fewest digits that give it back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
