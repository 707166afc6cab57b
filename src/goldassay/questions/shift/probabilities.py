"""Probabilities where logits are expected: many tools store what comes after the softmax under the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.questions.shift.measures.scores import logits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.shift.groups import Group

# Of the sum of a row: probabilities written with two or three digits do not quite sum to 1.
_TOLERANCE = 0.02


def are_probabilities(logits: NDArray[Any]) -> bool:
    """Whether all rows, (N, K), lie in [0, 1] and sum to 1, as logits of two classes or more never all do."""
    if logits.shape[-1] < 2 or not ((logits >= 0) & (logits <= 1)).all():
        return False
    return bool((np.abs(logits.sum(axis=-1, dtype=np.float64) - 1) <= _TOLERANCE).all())


def as_logits(outputs: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """The logits of R runs, (R, N, K), with logarithms for those runs that hold probabilities, and whether any does."""
    held = [are_probabilities(run) for run in outputs]
    if not any(held):
        return outputs, False
    runs = [
        logits_of(run / run.sum(axis=-1, keepdims=True)) if found else run
        for run, found in zip(outputs.astype(np.float64), held, strict=True)
    ]
    return np.stack(runs), True


def say_probabilities(groups: Sequence[Group]) -> list[str]:
    """Where probabilities were found, in sentences, one a dataset."""
    models: dict[str, list[str]] = {}
    for group in groups:
        for each in (group.own, *group.others):
            if each.probabilities:
                models.setdefault(each.dataset, []).append(group.model)
    return [
        f"The logits of {', '.join(names)} on {dataset} are probabilities, from 0 to 1 and with a sum of 1: their "
        "logarithms were taken."
        for dataset, names in models.items()
    ]
