"""Which rows a state selects, how many of each kind, and in which order.

What a view shows, as the query of its address: filters, order and page. An address can be sent.
"""

from __future__ import annotations

import io
import json
import math
import re
import signal
import subprocess
import sys
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean
from goldassay.data.decisions import WORDS
from goldassay.view.rows import DECISION, KINDS, RUN, UNDECIDED, Facet, RowTable, RunBits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray


_MOST_KEPT = 8
# The slowest expressions take 20 microseconds a byte, and nothing but the end of a process interrupts a search.
REGEX_SECONDS = 2.0
_FEW_BYTES = 1 << 14
_SEARCH = """
import json, signal, sys
import polars as pl
rows = pl.read_ipc(sys.stdin.buffer.read())
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
try:
    hits = rows.select(pl.any_horizontal(pl.all().str.contains(json.loads(sys.argv[1])).fill_null(value=False)))
except pl.exceptions.PolarsError as error:
    sys.exit(str(error))
sys.stdout.buffer.write(bytes(hits.to_series().cast(pl.UInt8).to_list()))
"""
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
                hits = _hits(rows, pattern, within=REGEX_SECONDS if is_regex else None)
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


def _hits(rows: pl.DataFrame, pattern: str, *, within: float | None) -> NDArray[np.bool_]:
    """Which rows a pattern is found in; (n_rows,).

    Args:
        rows: Texts, a column each.
        pattern: A regular expression.
        within: Seconds that it may take, which a process of its own is held to; None for any.

    Raises:
        InputError: It takes longer.
    """
    if within is None or rows.estimated_size() <= _FEW_BYTES:
        contains = pl.any_horizontal(pl.all().str.contains(pattern).fill_null(value=False)).alias("hit")
        return rows.select(contains)["hit"].to_numpy()
    rows.write_ipc(content := io.BytesIO())
    command = [sys.executable, "-c", _SEARCH, json.dumps(pattern), str(within)]
    done = subprocess.run(command, input=content.getvalue(), capture_output=True, check=False)
    if done.returncode == -signal.SIGALRM:
        raise InputError(
            f"the search {pattern!r} takes more than {within:g} seconds", mend="shorten it, or search for words"
        )
    if done.returncode:
        raise pl.exceptions.ComputeError(done.stderr.decode(errors="replace"))
    return np.frombuffer(done.stdout, np.uint8).astype(bool)


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
