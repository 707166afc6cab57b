"""Folders with a list of solved items for each system, as SWE-bench publishes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.questions.board.tables import Cells

if TYPE_CHECKING:
    from pathlib import Path

_SOLVED = ("resolved", "resolved_ids", "solved", "solved_ids")
# Lists of items that were tried or not, beside those that were solved; all name items of the board.
_NAMES = (
    "submitted_ids", "completed_ids", "incomplete_ids", "unresolved_ids", "empty_patch_ids", "error_ids", "unresolved",
    "generated", "no_generation", "with_logs", "applied", "no_apply", "no_logs", "install_fail", "reset_failed",
    "test_errored", "test_timeout", "items",
)  # fmt: skip
_TOTALS = ("total_instances", "total", "n_items")
_LARGEST = 64 * 1024 * 1024


def read_solved(folder: Path) -> Cells | None:
    """The board of a folder that holds NAME.json, NAME/results.json or NAME/results/results.json for each system.

    A system solves what stands in its list "resolved" (or "resolved_ids", "solved", "solved_ids"). The items are those
    that any list of any system names; where a file gives a larger total, the rest was solved by none.

    Raises:
        InputError: A list cannot be read, or lists give different totals.
    """
    files = {
        name: file
        for place in sorted(folder.iterdir())
        for name, file in [_file_of(place)]
        if file is not None and file.is_file()
    }
    lists = {name: found for name, file in files.items() if (found := _read(file)) is not None}
    if len(lists) < 2:
        return None
    solved = {name: _ids(found, _SOLVED, files[name]) for name, found in lists.items()}
    named = dict.fromkeys(
        each for name, found in lists.items() for each in (*solved[name], *_ids(found, _NAMES, files[name]))
    )
    items = list(named)
    totals = {int(found[key]) for found in lists.values() for key in _TOTALS if isinstance(found.get(key), int)}
    if len(totals) > 1:
        raise InputError(
            f"the lists give different totals of items: {', '.join(map(str, sorted(totals)))}", file=folder,
            mend="give systems of one benchmark",
        )  # fmt: skip
    notes = []
    unnamed = max(totals, default=0) - len(items)
    if unnamed > 0:
        items += [f"(unnamed {at})" for at in range(1, unnamed + 1)]
        notes.append(f"{count(unnamed)} of {count(len(items))} items stand in no list: no system solved them.")
    elif not totals and all(len(_ids(found, _NAMES, files[name])) == 0 for name, found in lists.items()):
        notes.append("The lists name solved items alone: items that no system solved are not known, and not counted.")
    scores = [np.isin(items, sorted(own)).astype(np.float64)[np.newaxis] for own in solved.values()]
    return Cells(list(solved), scores, np.array(items, dtype=np.str_), None, notes)


def _file_of(place: Path) -> tuple[str, Path | None]:
    if place.is_file():
        return place.stem, place if place.suffix == ".json" else None
    candidates = (place / "results" / "results.json", place / "results.json")
    return place.name, next((file for file in candidates if file.is_file()), None)


def _read(file: Path) -> dict[str, Any] | None:
    """The object of a file, where it has a list of solved items."""
    if file.stat().st_size > _LARGEST:
        return None
    try:
        found = json.loads(file.read_text("utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", file=file, mend="mend or remove it") from error
    return found if isinstance(found, dict) and any(isinstance(found.get(key), list) for key in _SOLVED) else None


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
            names[each] = None
    return names
