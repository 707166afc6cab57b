"""Which networks there are, by name; known without importing torch.

A network is a file of this folder, named after it, that holds one class `Network` (see `network.py`) and is listed
here. Others add theirs by entry points "goldassay.models", called as their `name`, or give `module:Class` of what can
be imported. Anything that is a folder, or looks like a name on the Hugging Face hub, is a checkpoint for `transformer`.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from goldassay.core.errors import InputError, MissingDependencyError
from goldassay.core.extensions import extensions, names_of
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.models.network import Network


# Without "transformer", which needs a checkpoint's place rather than its own name.
NETWORKS = (
    "bag_of_words",
    "bilstm",
    "contextual_esim",
    "convnet",
    "dam",
    "esim",
    "infersent",
    "lstm",
    "ngram_average",
    "word_average",
)
# Those that name a stretch of a context instead of a label.
READERS = ("docqa",)
_GROUP, _TAKEN = "goldassay.models", (*NETWORKS, *READERS)
# What is minimized by networks that do not take what is usual for their kind of right answers.
OWN_OBJECTIVES = {"docqa": "shared_normalization"}
# What the field calls some of them, for every command alike.
ALIASES = {"average": "word_average", "bow": "bag_of_words", "conv": "convnet"}
_ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_EXTRA = ("torch", "safetensors", "accelerate")
_TRANSFORMERS = ("transformers", "tokenizers")
_ON_CHECKPOINTS = ("contextual_esim", "question_answering", "transformer")


def full_name(model: str) -> str:
    """A network's own name where a short one is given; anything else as it is."""
    return ALIASES.get(model, model)


def find_network(model: str, kind: Kind = "label") -> str:
    """The file that a model's name stands for: one of `NETWORKS`, or "transformer" for a folder or hub name.

    A network of others is called by its name or place, `module:Class`.

    Where answers are stretches of a text it is one of `READERS`, or "question_answering" for a folder or hub name.

    Raises:
        InputError: It is no network, no folder and no name on the hub; the nearest names are given.
    """
    model = full_name(model)
    if model in NETWORKS:
        if kind == "span":
            raise InputError(
                f"{model} cannot name a stretch of a text",
                mend=f"give {' or '.join(READERS)}, or a transformers checkpoint's folder or hub name",
            )
        return model
    if _PLACE.fullmatch(model) or model in added_networks():
        if kind == "span":
            raise InputError(f"{model} cannot name a stretch of a text", mend=f"give {' or '.join(READERS)}")
        return model
    if model in READERS:
        if kind != "span":
            raise InputError(
                f"{model} answers questions by a stretch of a text", mend="give SQuAD's or ReCoRD's JSON to train on"
            )
        return model
    place = Path(model)
    of_checkpoint = "question_answering" if kind == "span" else "transformer"
    if place.is_dir():
        if not (place / "config.json").exists():
            raise InputError("the folder holds no checkpoint", file=model, mend="name one that has a config.json")
        return of_checkpoint
    if _ON_HUB.fullmatch(model) and not place.parent.is_dir():
        return of_checkpoint
    if "/" in model or place.exists():
        raise InputError("is no folder with a checkpoint", file=model, mend="name a folder that holds config.json")
    nearest = did_you_mean(model.replace("-", "_"), (*NETWORKS, *READERS, *ALIASES, *added_networks()))
    raise InputError(f"there is no model {model!r}", mend=f"{nearest} (or a checkpoint's folder or name on the hub)")


def load_network(model: str, kind: Kind = "label") -> type[Network]:
    """The class of a model's network, for a kind of right answers.

    Raises:
        InputError: There is no such model.
        MissingDependencyError: The extra `train` is not installed.
    """
    name = find_network(model, kind)
    require_extra((*_EXTRA, *_TRANSFORMERS) if name in _ON_CHECKPOINTS else _EXTRA)
    if _PLACE.fullmatch(name):
        return _checked(_imported(name), name)
    if name in added_networks():
        return _checked(extensions(_GROUP, "name", _TAKEN)[name], name)
    module: Any = importlib.import_module(f"goldassay.lab.models.{name}")
    return cast("type[Network]", module.Network)


def added_networks() -> tuple[str, ...]:
    """Names of networks that other distributions add; none is imported."""
    return names_of(_GROUP)


def _imported(place: str) -> Any:
    """What `module:Class` names; the folder that one works in is looked into as well."""
    module, _, name = place.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), name)
    # A module of others can fail in any way as it is imported.
    except Exception as error:
        raise InputError(
            f"the model {place} cannot be loaded ({type(error).__name__}: {error})",
            mend="give module:Class of a module that can be imported here",
        ) from error


def _checked(found: Any, name: str) -> type[Network]:
    from goldassay.lab.models.network import Network

    if not (isinstance(found, type) and issubclass(found, Network)):
        raise InputError(
            f"the model {name} is no network", mend="derive its class from goldassay.lab.models.network.Network"
        )
    return found


def require_extra(libraries: tuple[str, ...] = _EXTRA) -> None:
    """Refuse to train where what it needs is not installed.

    Raises:
        MissingDependencyError: Says what to install.
    """
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingDependencyError(
            f"training networks needs {', '.join(missing)}; install it with: pip install 'goldassay[train]'"
        )
