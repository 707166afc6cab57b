"""The figures for papers, by name: each as the bytes of a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.paper import (
    dataset_correlations,
    decomposition,
    differences,
    example_map,
    leakage_conditions,
    leakage_datasets,
    leakage_map,
    score_dots,
    shift,
    trajectories,
)
from goldassay.report.paper.style import rendered

if TYPE_CHECKING:
    from collections.abc import Mapping

_DRAWERS = (
    score_dots,
    decomposition,
    trajectories,
    dataset_correlations,
    example_map,
    leakage_conditions,
    leakage_map,
    leakage_datasets,
    differences,
    shift,
)


def draw_figures(document: Mapping[str, Any], kind: str) -> dict[str, bytes]:
    """Draw every figure that the document has values for.

    Args:
        document: The report's document, as plain data.
        kind: "pdf", "svg" or "png".
    """
    found: dict[str, bytes] = {}
    for drawer in _DRAWERS:
        for name, draw in drawer.figures_of(document):
            # Two models may have names that a file's name cannot tell apart.
            own = name if name not in found else f"{name}-{len(found)}"
            found[own] = rendered(partial(draw), kind)
    return found
