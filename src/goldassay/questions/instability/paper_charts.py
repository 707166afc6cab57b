"""Charts of scores over runs for papers, after the figures of Zhou et al. 2020."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Panel,
    Plot,
    Series,
    by_name,
    numbered_series,
)
from goldassay.core.documents import mapping, records, row_name
from goldassay.core.files import file_slug
from goldassay.core.numbers import number
from goldassay.questions.instability.charts import (
    PARTS,
    checkpoint_traces,
    paper_correlations,
    paper_maps,
    scores_of,
    signed_root,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS = (Series("total", "s0"), *PARTS)
# Datasets in one figure: a line style each.
_MOST_LINES = 6


def paper_charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Scores (Figure 2), parts of the variance (Table 3), trajectories (Figure 1), correlations (Figures 3 and 4)."""
    found = mapping(document, "instability")
    charts = by_name(_scores(found), _decomposition(found))
    for chart in (*_trajectories(found), *_correlations(found), *_maps(found)):
        # Two models may have names that a file's name cannot tell apart.
        name = chart.name if chart.name not in charts else f"{chart.name}-{len(charts)}"
        charts[name] = replace(chart, name=name)
    return charts


def _ordered(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of results, those on the reference first."""
    reference = found.get("reference")
    return sorted(records(found.get("results")), key=lambda row: row.get("dataset") != reference)


def _scores(found: Mapping[str, Any]) -> Chart | None:
    rows = [(row, scores) for row in _ordered(found) if (scores := scores_of(row))]
    if not rows:
        return None
    models = list(dict.fromkeys(str(row.get("model")) for row, _ in rows))
    groups: dict[str, list[DotRow]] = {}
    for row, scores in rows:
        series = models.index(str(row.get("model")))
        strip = DotRow(tuple(Dot(score, series=series) for score in scores), (min(scores), max(scores)), series)
        groups.setdefault(str(row.get("dataset")), []).append(strip)
    return Dots(
        name="scores",
        groups=tuple(DotGroup(name, tuple(strips)) for name, strips in groups.items()),
        axis=Axis("score of a run (points)"),
        series=numbered_series(models),
        faint=True,
    )


def _decomposition(found: Mapping[str, Any]) -> Chart | None:
    """Three bars a set of runs, with their intervals over runs."""
    bounds = {
        (row_name(each), str(row.get("figure"))): (low, high)
        for each in records(found.get("intervals"))
        for row in records(each.get("figures"))
        if (low := number(row.get("runs_low"))) is not None and (high := number(row.get("runs_high"))) is not None
    }
    groups = []
    for row in _ordered(found):
        bars = []
        for i, series in enumerate(_PARTS):
            variance = number(row.get(series.name))
            low, high = bounds.get((row_name(row), series.name), (None, None))
            if variance is not None:
                ends = [None if end is None else signed_root(end) for end in (low, high)]
                bars.append(Bar(series.name, signed_root(variance), "", series=i, low=ends[0], high=ends[1]))
        if len(bars) == len(_PARTS):
            groups.append(BarGroup(row_name(row), tuple(bars)))
    if not groups:
        return None
    axis = Axis("signed standard deviation (points)")
    return Bars(name="decomposition", groups=tuple(groups), axis=axis, series=_PARTS)


def _trajectories(found: Mapping[str, Any]) -> list[Chart]:
    """One chart a model and condition; datasets beyond the first six go to further ones."""
    kin: dict[str, list[Mapping[str, Any]]] = {}
    for each in records(found.get("trajectories")):
        if len(steps_of(each)) > 1:
            kin.setdefault(f"{each.get('model')} {each.get('condition')}", []).append(each)
    charts: list[Chart] = []
    for model, entries in kin.items():
        name = "trajectories" if len(kin) == 1 else f"trajectories-{file_slug(model)}"
        for start in range(0, len(entries), _MOST_LINES):
            shown = entries[start : start + _MOST_LINES]
            pairs = [checkpoint_traces(steps_of(each), (i, i)) for i, each in enumerate(shown)]
            traces = tuple(trace for mean, run in pairs for trace in (run, mean))
            panel = Panel("", traces, Axis("checkpoint", "number"), Axis("score (points)"))
            charts.append(
                Plot(
                    name=name if start == 0 else f"{name}-{start // _MOST_LINES + 1}",
                    panels=(panel,),
                    series=numbered_series([str(each.get("dataset")) for each in shown]),
                    height=175,
                    legend="lines",
                )
            )
    return charts


def _correlations(found: Mapping[str, Any]) -> list[Chart]:
    grids = list(paper_correlations(found))
    several = len({model for model, _, _ in grids}) > 1
    return [
        replace(chart, name=f"dataset-correlations{f'-{file_slug(model)}' if several else ''}-over-{file_slug(over)}")
        for model, over, chart in grids
    ]


def _maps(found: Mapping[str, Any]) -> list[Chart]:
    return [replace(chart, name=f"example-map-{file_slug(name)}") for name, chart in paper_maps(found)]
