"""Which sets of runs are one model on one dataset in several configurations, and which have but one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.run_sets import RunSet


class ByConfiguration(NamedTuple):
    """Sets of runs by how their model was asked.

    Attributes:
        several: For each model, dataset and condition with several configurations its sets, one a configuration.
        alone: The sets of models that have one configuration.
    """

    several: list[list[RunSet]]
    alone: list[RunSet]


def by_configuration(sets: Sequence[RunSet]) -> ByConfiguration:
    """Sort sets of runs by model, dataset and condition."""
    found: dict[tuple[str, ...], list[RunSet]] = defaultdict(list)
    for each in sets:
        train_set = each.slices[0].collection.train_set
        found[own_name(each), each.dataset, each.condition, train_set].append(each)
    several = [of_model for of_model in found.values() if len(of_model) > 1]
    return ByConfiguration(several, [of_model[0] for of_model in found.values() if len(of_model) < 2])


def own_name(runs: RunSet) -> str:
    """The model's own name, without that of the configuration."""
    return runs.slices[0].base_model or runs.model
