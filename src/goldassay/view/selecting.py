"""Which rows a state selects, how many of each kind, and in which order."""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.decisions import WORDS
from goldassay.view.rows import DECISION, KINDS, RUN, UNDECIDED, Facet, RowTable, RunBits
from goldassay.view.state import PAGE_SIZE, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


_MOST_KEPT = 8
# Some expressions take a millisecond a row, and the rows of a block are searched without a look at the clock.
REGEX_SECONDS = 2.0
_BLOCK = 500
# Squares of the map of confidence and variability, each way.
SQUARES = 20
# The undecided first: they are what is left to look at.
_DECISIONS = (UNDECIDED, *(word for word in WORDS if word != UNDECIDED))


@dataclass(frozen=True)
class Selection:
    """Rows that a state selects.

    Attributes:
        rows: Their numbers in the order asked for, (n,).
        counts: {facet: {value: rows}} among the rows that all other filters select; of runs the kinds that occur.
        page: The page's number, at most that of the last page.
        n_pages: How many pages there are, at least one.
    """

    rows: NDArray[np.int64]
    counts: Mapping[str, Mapping[str, int]]
    page: int
    n_pages: int

    @property
    def shown(self) -> NDArray[np.int64]:
        """The rows of the page."""
        return self.rows[(self.page - 1) * PAGE_SIZE : self.page * PAGE_SIZE]


@dataclass
class Selector:
    """Selects rows of one table; keeps the masks of the last searches and the orders of columns."""

    table: RowTable
    _searches: OrderedDict[tuple[str, bool], NDArray[np.bool_]] = field(default_factory=OrderedDict)
    _orders: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def sortable(self) -> tuple[str, ...]:
        """The columns that rows can be sorted by."""
        return (*self.table.facets, *self.table.numbers, *self.table.texts, "example_id", DECISION)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each facet, those of decisions and of single runs included."""
        runs = dict.fromkeys((f"{RUN}{name}" for names in self.table.run_names for name in names), KINDS)
        facets = {**self.table.facets, **self.table.rules}
        return {**{name: facet.values for name, facet in facets.items()}, DECISION: _DECISIONS, **runs}

    @cached_property
    def squares(self) -> NDArray[np.uint16] | None:
        """The square of each row in the map of confidence and variability, (N,); `SQUARES`² where it has none.

        Found once: to count a selection is then to count numbers. None where the table has no such columns.
        """
        numbers = self.table.numbers
        if "confidence" not in numbers or "variability" not in numbers:
            return None
        # A spread of values in [0, 1] is at most a half.
        x, y = (
            np.floor(numbers[name].astype(np.float64) * scale * SQUARES)
            for name, scale in (("variability", 2), ("confidence", 1))
        )
        inside = (x >= 0) & (x <= SQUARES) & (y >= 0) & (y <= SQUARES)
        at = np.minimum(x[inside], SQUARES - 1) * SQUARES + np.minimum(y[inside], SQUARES - 1)
        found = np.full(inside.size, SQUARES**2, np.uint16)
        found[inside] = at.astype(np.uint16)
        return found

    def select(self, state: State) -> Selection:
        """The rows of a state.

        Raises:
            InputError: The search is no regular expression.
        """
        facets = {**self.table.facets, **self.table.rules, DECISION: self._decisions()}
        others = self._others(state)
        runs = self.table.runs
        masks = {}
        for name, values in state.chosen:
            if runs is not None and name.startswith(RUN):
                masks[name] = runs.where(name.removeprefix(RUN), values)
            else:
                masks[name] = _chosen(facets[name], values)
        counts = {}
        for name, facet in facets.items():
            kept = _all([others, *(mask for own, mask in masks.items() if own != name)])
            codes = facet.codes if kept is None else facet.codes[kept]
            found = np.bincount(codes, minlength=len(facet.values)).tolist()
            counts[name] = dict(zip(facet.values, found, strict=True))
        mask = _all([others, *masks.values()])
        if runs is not None:
            counts |= _counts_of_runs(runs, others, masks, mask)
        rows = self._ordered(state, mask)
        n_pages = max(1, -(-rows.size // PAGE_SIZE))
        return Selection(rows, counts, min(state.page, n_pages), n_pages)

    def _decisions(self) -> Facet:
        codes = np.zeros(self.table.n_rows, np.uint8)
        for row, decision in self.table.decided.items():
            codes[row] = _DECISIONS.index(decision.decision)
        return Facet(_DECISIONS, codes)

    def _others(self, state: State) -> NDArray[np.bool_] | None:
        """Where the search and the ranges hold; None where there are none."""
        masks = []
        if state.words:
            masks.append(self._search(state.words, state.is_regex))
        for name, (low, high) in state.ranges:
            values = self.table.numbers[name]
            masks.append((values >= np.float32(low)) & (values <= np.float32(high)))
        return _all(masks)

    def _search(self, words: str, is_regex: bool) -> NDArray[np.bool_]:
        key = (words, is_regex)
        if key in self._searches:
            self._searches.move_to_end(key)
            return self._searches[key]
        patterns = [words] if is_regex else [_whole_word(word) for word in dict.fromkeys(words.split())]
        texts = [_as_text(name, self.table.schema[name]) for name in self.table.texts]
        # A long word is in few rows, and only these are searched for the next one.
        patterns.sort(key=len, reverse=True)
        rows = self.table.load().select(texts)
        at = np.arange(rows.height)
        try:
            for pattern in patterns:
                hits = _hits(rows, pattern, REGEX_SECONDS if is_regex else math.inf)
                rows, at = rows.filter(hits), at[hits]
        except pl.exceptions.PolarsError as error:
            told = re.search(r"^error: (.+)$", str(error), re.MULTILINE)
            why = told[1] if told else "it cannot be read"
            raise InputError(
                f"the search {words!r} is no regular expression: {why}", mend="mend it, or search for words"
            ) from error
        found = np.zeros(self.table.n_rows, bool)
        found[at] = True
        self._searches[key] = found
        while len(self._searches) > _MOST_KEPT:
            self._searches.popitem(last=False)
        return self._searches[key]

    def _ordered(self, state: State, mask: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        if not state.sort:
            return np.arange(self.table.n_rows) if mask is None else np.flatnonzero(mask)
        if state.sort == DECISION:
            # Made anew: they change.
            codes = self._decisions().codes
            order = np.argsort(codes.max() - codes if state.descending else codes, kind="stable")
        else:
            order = self._order(state.sort, state.descending)
        return order if mask is None else order[mask[order]]

    def _order(self, column: str, descending: bool) -> NDArray[np.int64]:
        """All rows by a column; rows of equal values stay in the file's order, and those without one come last."""
        key = f"{'-' if descending else ''}{column}"
        if key not in self._orders:
            if column in self.table.numbers:
                values = pl.Series(self.table.numbers[column]).fill_nan(None)
            elif column in self.table.facets:
                values = pl.Series(self.table.facets[column].codes)
            else:
                values = self.table.load().select(_as_text(column, self.table.schema[column])).to_series()
                if column == "example_id":
                    # Numbers in the order of numbers, and not of their first digits.
                    counted = values.cast(pl.Int64, strict=False)
                    values = values if counted.has_nulls() else counted
            found = pl.DataFrame({"value": values}).with_row_index("row").sort(
                "value", descending=descending, nulls_last=True, maintain_order=True
            )  # fmt: skip
            if len(self._orders) >= _MOST_KEPT:
                self._orders.pop(next(iter(self._orders)))
            self._orders[key] = found["row"].to_numpy().astype(np.int64)
        return self._orders[key]


def _hits(rows: pl.DataFrame, pattern: str, seconds: float) -> NDArray[np.bool_]:
    """Which rows a pattern is found in; (n_rows,).

    A search cannot be interrupted, and requests wait for each other: it goes on block by block while there is time.

    Raises:
        InputError: It takes longer.
    """
    contains = pl.any_horizontal(pl.all().str.contains(pattern).fill_null(value=False)).alias("hit")
    end, found = time.monotonic() + seconds, []
    for block in rows.iter_slices(_BLOCK):
        if time.monotonic() > end:
            raise InputError(
                f"the search {pattern!r} takes more than {seconds:g} seconds", mend="shorten it, or search for words"
            )
        found.append(block.select(contains)["hit"].to_numpy())
    return np.concatenate(found) if found else np.zeros(0, bool)


def _as_text(name: str, kind: pl.DataType) -> pl.Expr:
    return pl.col(name).list.join("\n") if isinstance(kind, pl.List) else pl.col(name).cast(pl.String)


def _whole_word(word: str) -> str:
    begin = r"\b" if re.match(r"\w", word) else ""
    end = r"\b" if re.search(r"\w$", word) else ""
    return f"(?i){begin}{pl.escape_regex(word)}{end}"


def _chosen(facet: Facet, values: tuple[str, ...]) -> NDArray[np.bool_]:
    wanted = np.isin(np.array(facet.values, dtype=object), list(values))
    return np.asarray(wanted[facet.codes])


def _counts_of_runs(
    runs: RunBits,
    others: NDArray[np.bool_] | None,
    masks: Mapping[str, NDArray[np.bool_]],
    mask: NDArray[np.bool_] | None,
) -> dict[str, dict[str, int]]:
    """How many rows each run has of each kind, among those that all other filters leave."""
    found = {kind: n.tolist() for kind, n in runs.counts(mask).items()}
    counts = {f"{RUN}{name}": {kind: n[at] for kind, n in found.items()} for at, name in enumerate(runs.names)}
    for chosen in masks:
        if chosen.startswith(RUN):
            kept = _all([others, *(own for name, own in masks.items() if name != chosen)])
            left = runs.counts(kept, chosen.removeprefix(RUN))
            counts[chosen] = {kind: int(n[0]) for kind, n in left.items()}
    return counts


def _all(masks: Sequence[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    found = given[0]
    for mask in given[1:]:
        found = found & mask
    return found
