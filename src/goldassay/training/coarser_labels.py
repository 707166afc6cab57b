"""Test sets that tell entailment from the rest only, for networks that tell three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.runs.labels import INFERENCE, TWO_CLASS, canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def coarsening(label_names: Sequence[str], coarser: Sequence[str]) -> NDArray[np.int64] | None:
    """Which label of a test set each label of a network stands for, (K,): neutral and contradiction are non-entailment.

    An answer is given among three classes and counted as one of two after that, as the authors of HANS do; adding the
    probabilities of both classes first would be another rule, and gives other answers.

    Args:
        label_names: Of the network.
        coarser: Of the test set.

    Returns:
        None unless the network's labels are the three of inference, and the set's are entailment and non-entailment.

    Source: McCoy, Pavlick and Linzen 2019.
    """
    names = {canonical(name): place for place, name in enumerate(coarser)}
    if set(names) != TWO_CLASS or {canonical(name) for name in label_names} != set(INFERENCE):
        return None
    return np.array([names.get(canonical(name), names["non-entailment"]) for name in label_names], dtype=np.int64)


def told_in(label_names: tuple[str, ...], of_test: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The labels in which a network's answers on a test set are told, and which of them each of its own stands for.

    These are the network's own K labels, and 0 to K - 1, unless the set has coarser ones.
    """
    merged = coarsening(label_names, of_test)
    return (label_names, np.arange(len(label_names))) if merged is None else (of_test, merged)
