"""The figures that say what the data are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRAIN = declare(Measure("facts.train_examples", "training examples", "examples", bounded=False, describes_data=True))
_TEST = declare(Measure("facts.test_examples", "test examples", "examples", bounded=False, describes_data=True))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """How many training and test examples an audit counted."""
    facts = document.get("facts") or {}
    sizes = ((_TRAIN, facts.get("n_train")), (_TEST, facts.get("n_test")))
    return [measure.figure(n, n=n) for measure, n in sizes if n is not None]
