"""NLTK's Treebank tokenizer without the rest of NLTK.

Importing anything of NLTK runs its `__init__`, which loads every module of it and, through some of them, pandas,
scikit-learn and scipy.stats: about a second and 150 MB for one class of regular expressions. Here the class is
loaded beside empty stand-ins for its parent packages, which are taken away again, so that an import of NLTK by
anybody else is the usual one.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from goldassay.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable

_PARENTS = ("nltk", "nltk.tokenize")
_lock = threading.Lock()


@cache
def treebank_tokenizer() -> Callable[[str], list[str]]:
    """The `tokenize` of NLTK's TreebankWordTokenizer.

    Raises:
        MissingDependencyError: NLTK is not installed.
    """
    with _lock:
        module = sys.modules.get("nltk.tokenize.treebank") or _alone() or import_module("nltk.tokenize.treebank")
    tokenize: Callable[[str], list[str]] = module.TreebankWordTokenizer().tokenize
    return tokenize


def _alone() -> ModuleType | None:
    """The module beside stand-ins for its packages; None where NLTK is laid out in another way."""
    spec = find_spec("nltk")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError("Treebank tokens need nltk; install it with: pip install nltk")
    if "nltk" in sys.modules:
        return None
    folder = list(spec.submodule_search_locations)
    try:
        for name in _PARENTS:
            parent = ModuleType(name)
            parent.__path__ = [f"{place}/{name.partition('.')[2]}" for place in folder]
            sys.modules[name] = parent
        return import_module("nltk.tokenize.treebank")
    except (ImportError, AttributeError):  # what another NLTK needs of its packages, the usual import gives
        return None
    finally:
        for name in [name for name in sys.modules if name == "nltk" or name.startswith("nltk.")]:
            del sys.modules[name]
