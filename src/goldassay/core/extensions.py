"""What other distributions add to the package, by entry points; tests/extensions has an example of each that is added.

- "goldassay.readers": formats of datasets, called as their `name`; see `data.readers.Reader`.
- "goldassay.kinds": what the rows of data are, called as their `name`; see `data.kinds.AddedKind`.
- "goldassay.adapters": formats of runs, called as their `NAME`; see `runs.adapters.Adapter`.
- "goldassay.questions": questions of every audit, called as their `question`; see `questions.checks.Check`.
- "goldassay.models": networks to train, called as their `name`; see `lab.models.network.Network`.
- "goldassay.studies": studies for `goldassay studies`, modules with what `lab.papers.recipe.Recipe` has.
- "goldassay.sources": sets of studies; see `lab.papers.sources.Source`.
- "goldassay.trainers": what trains the networks that questions ask for; see `questions.networks.Trainer`.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import GoldassayError

if TYPE_CHECKING:
    from collections.abc import Collection


def extensions(group: str, called: str = "", taken: Collection[str] = ()) -> dict[str, Any]:
    """What is registered in a group of entry points: name to object, by name.

    Args:
        group: See the list above.
        called: The attribute that holds what each calls itself, if it has one.
        taken: Names of the package's own.

    Raises:
        GoldassayError: One cannot be imported, calls itself otherwise, or has a name that is taken.
    """
    found: dict[str, Any] = {}
    for point in sorted(_entry_points(group), key=lambda point: point.name):
        place = f"the entry point {point.name!r} of {group} ({point.value}{_distribution(point.dist)})"
        if point.name in found or point.name in taken:
            raise GoldassayError(f"{place}: the name is taken; rename it, or uninstall its distribution")
        try:
            found[point.name] = point.load()
        # A module of others can fail in any way as it is imported.
        except Exception as error:
            raise GoldassayError(
                f"{place} cannot be loaded ({type(error).__name__}: {error}); mend or uninstall its distribution"
            ) from error
        own = getattr(found[point.name], called, None) if called else point.name
        if own != point.name:
            raise GoldassayError(f"{place}: its {called} is {own!r}; register it under the same name")
    return found


def names_of(group: str) -> tuple[str, ...]:
    """Names that are registered in a group; nothing is imported."""
    return tuple(sorted({point.name for point in _entry_points(group)}))


def _distribution(found: Any) -> str:
    return "" if found is None else f", of {found.name}"


@cache
def _entry_points(group: str) -> EntryPoints:
    # The metadata of every distribution are read.
    return entry_points(group=group)
