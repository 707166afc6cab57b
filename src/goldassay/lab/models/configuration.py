"""What a network is made of and how it is trained: named configurations, and settings that replace parts of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

DESK, PUBLISHED = "desk", "published"
# What is asked of a network: one of K labels, a number, or a stretch of a text. See `goldassay.lab.training.targets`.
Kind = Literal["label", "number", "span"]


@dataclass(frozen=True)
class Task:
    """What a network is to learn.

    Attributes:
        roles: Names of the texts an example shows, in order; one under a condition that shows one.
        label_names: The K labels, in the order of the logits; none for other kinds.
        tokenizer: Of `goldassay.data.tokenization`, for networks that have no tokenizer of their own: "characters"
            for scripts without spaces, else "treebank".
        kind: Of the right answers.
        center: Of numbers: what the network's 0 stands for.
        scale: Of numbers: what its 1 is more than its 0.
        range: Of numbers: the lowest and the highest in training.
        unanswerable: Of spans: whether some questions in training have no answer.
    """

    roles: tuple[str, ...]
    label_names: tuple[str, ...]
    tokenizer: str = "treebank"
    kind: Kind = "label"
    center: float = 0.0
    scale: float = 1.0
    range: tuple[float, float] = (0.0, 1.0)
    unanswerable: bool = False

    @property
    def n_outputs(self) -> int:
        """Width of a network's last layer: K for labels, 1 for a number, for a span a start and an end."""
        return {"label": len(self.label_names), "number": 1, "span": 2}[self.kind]


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes:
        epochs: Most passes over the training rows.
        batch_size: Examples a step.
        optimizer: "adam", "adagrad" or "sgd"; see `training.optimizers`.
        learning_rate: Peak.
        weight_decay: Decoupled from the gradient; not for biases and normalization layers.
        schedule: How the rate goes over the steps; see `training.schedules`.
        warmup: Share of all steps in which the rate rises from 0 to its peak.
        clip: Largest norm of the gradient, or None.
        patience: Stop after so many epochs without a better dev score; None trains all epochs.
        pool: Batches whose rows are sorted by length together, so that little is padded; 1 leaves lengths mixed.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    optimizer: str = "adam"
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup: float = 0.0
    clip: float | None = None
    patience: int | None = None
    pool: int = 50

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("patience", 1), ("pool", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}", mend=f"give {least} or more")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"{name} is {value}", mend="give a number above 0")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup}", mend="give a share of all steps, from 0 to below 1")
        if not 0 <= self.weight_decay < float("inf"):
            raise InputError(f"weight_decay is {self.weight_decay}", mend="give 0 or more")


@dataclass(frozen=True)
class Configuration:
    """A network's sizes and its recipe, under one name.

    Attributes:
        sizes: A frozen dataclass of the network's own: widths, dropout, limits.
        recipe: How it is trained.
    """

    sizes: Any
    recipe: Recipe

    def replaced(self, changes: Mapping[str, Any]) -> Configuration:
        """The same with some sizes or parts of the recipe replaced, each by its name.

        Raises:
            InputError: A name is neither a size nor part of the recipe, or a value is of the wrong kind or range.
        """
        known = {field.name: self.sizes for field in dataclasses.fields(self.sizes)}
        known |= {field.name: self.recipe for field in dataclasses.fields(self.recipe)}
        for name, value in changes.items():
            if name not in known:
                raise InputError(f"there is no setting {name!r}", mend=did_you_mean(name, sorted(known)))
            check_kind(known[name], name, value)
        own = {field.name for field in dataclasses.fields(self.recipe)}
        of_sizes = {name: value for name, value in changes.items() if name not in own}
        for name, value in of_sizes.items():
            _check_size(name, value)
        return Configuration(
            dataclasses.replace(self.sizes, **of_sizes),
            dataclasses.replace(self.recipe, **{name: value for name, value in changes.items() if name in own}),
        )

    def to_dict(self) -> dict[str, Any]:
        """All settings by name."""
        return {"sizes": dataclasses.asdict(self.sizes), "recipe": dataclasses.asdict(self.recipe)}


# Of sizes that are whole numbers, where 0 has a meaning.
_LEAST = {"stride": 0}


def _check_size(name: str, value: Any) -> None:
    """Refuse a width, a limit or a rate that no network can have."""
    if name == "dropout" and value is not None and not 0 <= value < 1:
        raise InputError(f"dropout is {value}", mend="give a share from 0 to below 1")
    least = _LEAST.get(name, 1)
    if isinstance(value, int) and not isinstance(value, bool) and name != "dropout" and value < least:
        raise InputError(f"{name} is {value}", mend=f"give {least} or more")


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "a word"),
}


def check_kind(settings: Any, name: str, value: Any) -> None:
    """Refuse a value that is not of the kind of a setting.

    Args:
        settings: A dataclass that has the setting, or an object of one; its annotations say the kinds.
        name: Of the setting.
        value: In place of its default.

    Raises:
        InputError: Says what kind it is.
    """
    field = next(each for each in dataclasses.fields(settings) if each.name == name)
    kind, *others = str(field.type).split(" | ")
    if value is None and "None" in others:
        return
    wanted, words = _KINDS[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        default = getattr(settings, name, None)
        such = " or none" if default is None else f", such as {str(default).lower()}" if default != "" else ""
        raise InputError(f"{name} is {value!r}", mend=f"give {words}{such}")
