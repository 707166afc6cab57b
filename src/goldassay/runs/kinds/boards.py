"""Boards: a score for each system and item, in a table or in lists of solved items."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goldassay.data.column_names import normalized
from goldassay.data.kinds.kind import Match, Strength, joined
from goldassay.data.unread import find_unread
from goldassay.runs.kinds.board_tables import (
    ALIASES,
    ANSWERS,
    ITEMS,
    PREDICTIONS,
    ROLES,
    RUNS,
    SCORES,
    SYSTEMS,
    columns_of,
    find_column,
    measures_in,
    with_scores,
)
from goldassay.runs.kinds.cell_values import as_numbers
from goldassay.runs.kinds.solved_lists import holds_solved
from goldassay.runs.run_parts import ASIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data.table import Table

# So many rows, evenly taken, tell what columns hold; `read_cells` looks at all.
_LOOKED_AT = 2000


class Boards:
    """See `Kind`; `read_cells` and `read_solved` read them."""

    name: ClassVar[str] = "board"
    rows: ClassVar[str] = "boards"
    wants: ClassVar[str] = "system, item and score"
    roles: ClassVar[tuple[str, ...]] = ROLES
    aliases: ClassVar[Mapping[str, str]] = ALIASES
    rank: ClassVar[int] = 0
    has_scale: ClassVar[bool] = False
    """Whether scores lie beyond 0 and 1, on a scale of their own."""

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`: a row a system and item, or a column a system; unread texts speak against the latter."""
        if table.path is not None and table.path.is_dir():
            is_board = not self.has_scale and holds_solved(table.path)
            return Match(self, Strength.OWN_FORMAT, {}, found=()) if is_board else None
        every = max(1, table.frame.height // _LOOKED_AT)
        frame, columns = with_scores(table.frame.gather_every(every), columns)
        aside = ("ignore", *ASIDE)
        ignored = {name for role in aside for name in columns.get(role, "").split("+")} - {""}
        roles = {role: column for role, column in columns.items() if role not in aside}
        frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
        is_of_runs = any(normalized(name).startswith("config") for name in frame.columns)
        if not frame.height or (is_of_runs and "system" not in roles):
            return None
        known = {
            role: find_column(frame, roles, role, names, ignored)
            for role, names in (("system", SYSTEMS), ("item", ITEMS), ("score", SCORES), ("answer", ANSWERS),
                                ("prediction", PREDICTIONS), ("run", RUNS))
        }  # fmt: skip
        systems: tuple[str, ...] = ()
        against: tuple[str, ...] = ()
        if known["system"] and known["item"]:
            scored = ("score",) if known["score"] else ("prediction", "answer")
            if not all(known[role] for role in scored):
                return None
            found = joined({role: known[role] for role in ("system", "item", *scored, "run")})
            values = [known["score"]] if known["score"] else []
        else:
            item, answer, named, of_answers, numeric = columns_of(frame, roles, ignored)
            values = [] if len(of_answers) > 1 else numeric
            systems = tuple(of_answers if len(of_answers) > 1 else numeric)
            # One row is no board of systems: it may be an object with a value for each id.
            if len(systems) < 2 or frame.height < 2:
                return None
            found = joined({"item": item, "answer": answer if of_answers else None, "system": named})
            if item is None and named is not None:
                against = (f"{named!r} names a system a row, and averages cannot be compared item by item",)
            if measures_in(systems):
                against = (*against, f"{', '.join(map(repr, systems[:3]))} are measures, and no systems")
        covered = {*found.values(), *systems, *ignored}
        unread = find_unread(frame, covered).columns
        if systems and unread:
            against = (*against, f"{', '.join(map(repr, unread))} hold texts or lists")
        beyond = any(not as_numbers(frame[name]).drop_nulls().is_between(0, 1).all() for name in values)
        if beyond is not self.has_scale or (beyond and "item" not in found):
            return None
        return Match(
            kind=self,
            strength=Strength.PARTLY if against else Strength.TABLE,
            roles=found,
            core=frozenset(systems or [known["system"] or "", known["item"] or ""]),
            covered=frozenset(covered),
            unread=unread,
            against=against,
            found=systems,
        )


class Grades(Boards):
    """Grades on a scale of their own, such as 1 to 5: a board once the scale is known."""

    name: ClassVar[str] = "grades"
    rows: ClassVar[str] = "grades"
    wants: ClassVar[str] = "system, item and score on a scale"
    has_scale: ClassVar[bool] = True
