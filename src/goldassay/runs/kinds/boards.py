"""Boards: a score for each system and item, in a table or in lists of solved items.

Folders with a list of solved items for each system, as SWE-bench publishes them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, has_half_pair
from goldassay.core.numbers import count
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
    Cells,
    columns_of,
    find_column,
    measures_in,
    with_scores,
)
from goldassay.runs.kinds.cell_values import as_numbers
from goldassay.runs.run_parts import ASIDE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


_SOLVED = ("resolved", "resolved_ids", "solved", "solved_ids")
# Lists of items that were tried or not, beside those that were solved; all name items of the board.
_NAMES = (
    "submitted_ids", "completed_ids", "incomplete_ids", "unresolved_ids", "empty_patch_ids", "error_ids", "unresolved",
    "generated", "no_generation", "with_logs", "applied", "no_apply", "no_logs", "install_fail", "reset_failed",
    "test_errored", "test_timeout", "items",
)  # fmt: skip
_FAILED = ("unresolved_ids", "unresolved", "incomplete_ids", "empty_patch_ids")
_MOST_NAMES = 8
_TOTALS = ("total_instances", "total", "n_items")
_LARGEST = 64 * 1024 * 1024


def read_solved(folder: Path) -> Cells | None:
    """The board of a folder that holds NAME.json, NAME/results.json or NAME/results/results.json for each system.

    A system solves what stands in its list "resolved" (or "resolved_ids", "solved", "solved_ids"). The items are those
    that any list of any system names; where a file gives a larger total, the rest was solved by none.

    Raises:
        InputError: A list cannot be read, or lists give different totals.
    """
    named = _named_files(folder)
    files = dict(named)
    every = {name: found for name, file in files.items() if (found := _read(file)) is not None}
    lists = {name: found for name, found in every.items() if _lists_solved(found)}
    if not lists:
        return None
    for name, file in named:
        if name in lists and file != files[name]:
            raise InputError(f"the system {name!r} has a second file", file=file, mend="remove one of them")
    _check_systems(folder, files, every, lists)
    solved = {name: _ids(found, _SOLVED, files[name]) for name, found in lists.items()}
    of_lists = dict.fromkeys(
        each for name, found in lists.items() for each in (*solved[name], *_ids(found, _NAMES, files[name]))
    )
    items = list(of_lists)
    alike: dict[str, str] = {}
    for each in items:
        first = alike.setdefault(each.strip().casefold(), each)
        if first != each:
            raise InputError(
                f"the lists name {first!r} and {each!r}, which differ in case or spaces alone", file=folder,
                mend="spell items alike in all lists",
            )  # fmt: skip
    totals = {int(found[key]) for found in lists.values() for key in _TOTALS if isinstance(found.get(key), int)}
    if len(totals) > 1:
        raise InputError(
            f"the lists give different totals of items: {', '.join(map(str, sorted(totals)))}", file=folder,
            mend="give systems of one benchmark",
        )  # fmt: skip
    places = [place for place in sorted(folder.iterdir()) if place.is_dir() and not place.name.startswith((".", "_"))]
    without = [place.name for place in places if place.name not in lists]
    notes = [f"Folders without a list of solved items are left out: {_listed(without)}."] if without else []
    unnamed = max(totals, default=0) - len(items)
    if unnamed > 0:
        items += [f"(unnamed {at})" for at in range(1, unnamed + 1)]
        notes.append(f"{count(unnamed)} of {count(len(items))} items stand in no list: no system solved them.")
    elif not totals and all(len(_ids(found, _NAMES, files[name])) == 0 for name, found in lists.items()):
        notes.append("The lists name solved items alone: items that no system solved are not known, and not counted.")
    scores = [np.isin(items, sorted(own)).astype(np.float64)[np.newaxis] for own in solved.values()]
    return Cells(list(solved), scores, np.array(items, dtype=np.str_), None, notes)


def holds_solved(folder: Path) -> bool:
    """Whether a folder holds a list of solved items at all.

    Raises:
        InputError: A file where such lists lie is no JSON.
    """
    return any(_lists_solved(_read(file) or {}) for _, file in _named_files(folder))


def _named_files(folder: Path) -> list[tuple[str, Path]]:
    return [(name, file) for name, file in map(_file_of, sorted(folder.iterdir())) if file is not None]


def _lists_solved(found: dict[str, Any]) -> bool:
    return any(isinstance(found.get(key), list) for key in _SOLVED)


def _check_systems(
    folder: Path, files: dict[str, Path], every: dict[str, dict[str, Any]], lists: dict[str, dict[str, Any]]
) -> None:
    """Refuse what would be left out or taken one way in silence.

    Raises:
        InputError: A system has two files, something else than a list of solved items, or an item that is solved and
            not; or there is one system.
    """
    for name, found in every.items():
        key = next((key for key in _SOLVED if key in found), None)
        if name not in lists and key is not None:
            raise InputError(
                f"{key!r} is {str(found[key])[:40]!r}, and no list of items", file=files[name],
                mend="give the list, or remove the file",
            )  # fmt: skip
    for name, found in lists.items():
        file = files[name]
        both = _ids(found, _SOLVED, file).keys() & _ids(found, _FAILED, file).keys()
        if both:
            raise InputError(
                f"{min(both)!r} is among the solved items and among others, as are {count(len(both) - 1)} more"
                if len(both) > 1
                else f"{min(both)!r} is among the solved items and among others", file=file,
                mend="leave them in one of the lists",
            )  # fmt: skip
    if len(lists) == 1:
        raise InputError(
            f"there is one system, {next(iter(lists))!r}", file=folder,
            mend="give a list of solved items for two systems or more",
        )  # fmt: skip


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _file_of(place: Path) -> tuple[str, Path | None]:
    if place.is_file():
        return place.stem, place if place.suffix == ".json" else None
    candidates = (place / "results" / "results.json", place / "results.json")
    return place.name, next((file for file in candidates if file.is_file()), None)


def _read(file: Path) -> dict[str, Any] | None:
    """The object of a file; None where it is none, or too large."""
    if file.stat().st_size > _LARGEST:
        return None
    try:
        found = json.loads(file.read_text("utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", file=file, mend="mend or remove it") from error
    return found if isinstance(found, dict) else None


def _ids(found: dict[str, Any], keys: tuple[str, ...], file: Path) -> dict[str, None]:
    """Names that stand in the lists of these keys.

    Raises:
        InputError: One is no text.
    """
    names: dict[str, None] = {}
    for key in keys:
        for each in found[key] if isinstance(found.get(key), list) else ():
            if not isinstance(each, str):
                raise InputError(
                    f"the list {key!r} holds {str(each)[:40]!r}, which is no text",
                    file=file,
                    mend="give names of items",
                )
            if has_half_pair(each):
                problem = f"the list {key!r} holds half of a surrogate pair, which is no character"
                raise InputError(problem, file=file, mend="write the file again as UTF-8")
            names[each] = None
    return names
