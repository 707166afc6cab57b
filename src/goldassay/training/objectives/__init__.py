"""Objectives: one a file, known by name without importing torch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from goldassay.models.configuration import Kind
    from goldassay.training.objectives.objective import Objective

_CLASSES = {
    "adversarial": "Adversarial",
    "confidence_regularization": "ConfidenceRegularization",
    "cross_entropy": "CrossEntropy",
    "guided_cross_entropy": "GuidedCrossEntropy",
    "learned_mixin": "LearnedMixin",
    "product_of_experts": "ProductOfExperts",
    "shared_normalization": "SharedNormalization",
    "span_cross_entropy": "SpanCrossEntropy",
    "squared_error": "SquaredError",
}
OBJECTIVES = tuple(_CLASSES)


def load_objective(name: str) -> type[Objective]:
    """The class of an objective.

    Raises:
        InputError: There is no such objective; the nearest one is named.
    """
    if name not in _CLASSES:
        raise InputError(f"there is no objective {name!r}", mend=did_you_mean(name, OBJECTIVES))
    module: Any = importlib.import_module(f"goldassay.training.objectives.{name}")
    return cast("type[Objective]", getattr(module, _CLASSES[name]))


def objectives_of(kind: Kind) -> list[str]:
    """The objectives that take a kind of right answers; see `training.targets`."""
    return [name for name in OBJECTIVES if load_objective(name).kind == kind]
