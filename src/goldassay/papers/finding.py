"""The studies there are: every package of `papers/` but the printed tables."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, cast

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from goldassay.papers.recipe import Recipe


_PACKAGE = "goldassay.papers"
_PRINTED = "printed"


def list_recipes() -> tuple[str, ...]:
    """Names of all studies, in the order of the alphabet."""
    path = importlib.import_module(_PACKAGE).__path__
    return tuple(sorted(each.name for each in pkgutil.iter_modules(path) if each.ispkg and each.name != _PRINTED))


def find_recipe(name: str) -> Recipe:
    """The study of this name.

    Raises:
        InputError: There is none; the nearest names are given.
    """
    names = list_recipes()
    if name not in names:
        raise InputError(f"there is no study {name!r}", mend=did_you_mean(name, names))
    return cast("Recipe", importlib.import_module(f"{_PACKAGE}.{name}"))
