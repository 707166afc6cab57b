"""Objectives, known by name without importing torch; those of one family share a file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.training.objectives.objective import Objective

_CLASSES = {
    "adversarial": ("guidance", "Adversarial"),
    "confidence_regularization": ("experts", "ConfidenceRegularization"),
    "cross_entropy": ("plain", "CrossEntropy"),
    "guided_cross_entropy": ("guidance", "GuidedCrossEntropy"),
    "learned_mixin": ("experts", "LearnedMixin"),
    "product_of_experts": ("experts", "ProductOfExperts"),
    "shared_normalization": ("plain", "SharedNormalization"),
    "span_cross_entropy": ("plain", "SpanCrossEntropy"),
    "squared_error": ("plain", "SquaredError"),
}
OBJECTIVES = tuple(_CLASSES)


def load_objective(name: str) -> type[Objective]:
    """The class of an objective.

    Raises:
        InputError: There is no such objective; the nearest one is named.
    """
    if name not in _CLASSES:
        raise InputError(f"there is no objective {name!r}", mend=did_you_mean(name, OBJECTIVES))
    file, class_name = _CLASSES[name]
    module: Any = importlib.import_module(f"goldassay.lab.training.objectives.{file}")
    return cast("type[Objective]", getattr(module, class_name))


def objectives_of(kind: Kind) -> list[str]:
    """The objectives that take a kind of right answers; see `training.targets`."""
    return [name for name in OBJECTIVES if load_objective(name).kind == kind]
