"""The studies there are: every module of `recipes/`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, cast

from goldassay.errors import InputError
from goldassay.nearest import did_you_mean
from goldassay.studies.experiments import recipes

if TYPE_CHECKING:
    from goldassay.studies.experiments.recipes import Recipe


def list_recipes() -> tuple[str, ...]:
    """Names of all studies, in the order of the alphabet."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(recipes.__path__)))


def find_recipe(name: str) -> Recipe:
    """The study of this name.

    Raises:
        InputError: There is none; the nearest names are given.
    """
    names = list_recipes()
    if name not in names:
        raise InputError(f"there is no study {name!r}", mend=did_you_mean(name, names))
    return cast("Recipe", importlib.import_module(f"{recipes.__name__}.{name}"))
