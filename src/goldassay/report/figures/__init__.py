"""The pictures of a report, one module each: from the plain document to SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.report.figures import (
    artifacts_coverage,
    artifacts_difficulty,
    artifacts_scatter,
    artifacts_strongest,
    facts_labels,
    facts_lengths,
    instability_correlations,
    instability_decomposition,
    instability_differences,
    instability_examples,
    instability_groups,
    instability_map,
    instability_runs,
    instability_scores,
    instability_trajectories,
    leakage_conditions,
    leakage_confidence,
    leakage_curve,
    leakage_datasets,
    leakage_difficulty,
    leakage_falls,
    leakage_map,
    shift_confidence,
    shift_coverage,
    shift_false_alarms,
    shift_reliability,
    shift_sizes,
    shift_slopes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goldassay.report.figures.svg import Canvas

WIDE, NARROW = 720, 344

_DRAWERS = (
    facts_labels,
    facts_lengths,
    artifacts_scatter,
    artifacts_strongest,
    artifacts_difficulty,
    artifacts_coverage,
    leakage_conditions,
    leakage_difficulty,
    leakage_curve,
    leakage_confidence,
    leakage_map,
    leakage_falls,
    leakage_datasets,
    instability_runs,
    instability_scores,
    instability_differences,
    instability_decomposition,
    instability_groups,
    instability_trajectories,
    instability_correlations,
    instability_examples,
    instability_map,
    shift_slopes,
    shift_sizes,
    shift_false_alarms,
    shift_confidence,
    shift_reliability,
    shift_coverage,
)


@dataclass(frozen=True)
class Picture:
    """One picture: its title and caption, drawn for a screen and for a phone, and as a file that stands alone."""

    name: str
    title: str
    caption: str
    wide: str
    narrow: str
    standalone: str


def draw_figures(document: Mapping[str, Any]) -> dict[str, Picture]:
    """Draw every picture of a report that the document has values for."""
    return draw_with(_DRAWERS, document)


def draw_with(drawers: Iterable[Any], document: Mapping[str, Any]) -> dict[str, Picture]:
    """Draw what modules draw, by the modules' names; each has TITLE, CAPTION and draw(document, width)."""
    pictures = {}
    for drawer in drawers:
        wide: Canvas | None = drawer.draw(document, WIDE)
        narrow: Canvas | None = drawer.draw(document, NARROW)
        if wide is None or narrow is None:
            continue
        name = drawer.__name__.rpartition(".")[2]
        caption = f"{drawer.CAPTION}{wide.left_out}"
        pictures[name] = Picture(name, drawer.TITLE, caption, wide.inline(), narrow.inline(), wide.standalone())
    return pictures
