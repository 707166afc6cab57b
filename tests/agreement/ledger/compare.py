"""What differs between two ledgers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# What stands in place of a run whose command or function the source lacks.
ABSENT = "absent"
# The words of an error, for the reader.
_NOT_COMPARED = "line"
_LONGEST = 160


@dataclass(frozen=True)
class Difference:
    """One place at which two ledgers differ.

    Attributes:
        entry: The run: its scenario and name.
        kind: "added", "removed" or "changed".
        place: Which figure, key, file or column.
        old: What was there.
        new: What is there.
    """

    entry: str
    kind: str
    place: str
    old: Any = None
    new: Any = None

    def __str__(self) -> str:
        shown = (f"{value}"[:_LONGEST] for value in (self.old, self.new) if value is not None)
        return ": ".join(filter(None, (self.place, " -> ".join(shown))))


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """All differences of two ledgers, by entry; a command or function that only one source has is one of them."""
    found = [
        Difference(f"command {name}", "added" if name in new["commands"] else "removed", "command")
        for name in sorted({*old["commands"]} ^ {*new["commands"]})
    ]
    before, after = (
        {name: run for name, run in ledger["entries"].items() if ABSENT not in run} for ledger in (old, new)
    )
    for entry in sorted({*before, *after}):
        if entry in before and entry in after:
            found += _between(entry, "", before[entry], after[entry])
        else:
            kind, word, other = ("added", "new", old) if entry in after else ("removed", "missing", new)
            found.append(Difference(entry, kind, f"{word} {other['entries'].get(entry, {}).get(ABSENT, 'run')}"))
    return found


def renamed(ledger: str, names: Sequence[str]) -> str:
    """The text of a ledger with each of the names, OLD=NEW, in place of the old one where it stands by itself."""
    for name in names:
        old, _, new = name.partition("=")
        ledger = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, ledger)
    return ledger


def _between(entry: str, place: str, old: Any, new: Any) -> Iterator[Difference]:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if old != new:
            yield Difference(entry, "changed", place, old, new)
        return
    passed = {_NOT_COMPARED}
    if "values" in old and old["values"] != new.get("values"):
        # Where the values of a column differ, its rows do.
        passed.add("rows")
    for key in sorted({*old, *new} - passed):
        below = f"{place} / {key}" if place else key
        if key in old and key in new:
            yield from _between(entry, below, old[key], new[key])
        elif key in new:
            yield Difference(entry, "added", below, new=new[key])
        else:
            yield Difference(entry, "removed", below, old=old[key])


def report(differences: Sequence[Difference], *, most: int) -> Iterator[str]:
    """The lines that show them, grouped by kind and entry; of one entry at most so many."""
    for kind in ("removed", "added", "changed"):
        by_entry: dict[str, list[Difference]] = {}
        for each in differences:
            if each.kind == kind:
                by_entry.setdefault(each.entry, []).append(each)
        if by_entry:
            yield f"{kind}: {sum(map(len, by_entry.values()))} in {len(by_entry)} runs"
        for entry, own in by_entry.items():
            yield f"  {entry}"
            yield from (f"    {each}" for each in own[:most])
            if len(own) > most:
                yield f"    and {len(own) - most} more"
    yield f"{len(differences)} differences"
