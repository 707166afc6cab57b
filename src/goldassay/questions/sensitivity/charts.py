"""The chart of scores over configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, number, points

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 12


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A strip of dots for each model and dataset, a dot a configuration."""
    found = mapping(document, "sensitivity")
    groups = [group for row in records(found.get("results")) if (group := _group(row, found)) is not None]
    shown, omitted = first_of(groups, _MOST, "models")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="sensitivity_configurations",
            title="Scores by configuration",
            caption="Each dot is the mean score of one configuration over its repeats; the line joins the lowest and "
            "the highest. To the right the SD over configurations, with its 95 % interval.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("mean score (points)"),
            headings="above",
        )
    )


def _group(row: Mapping[str, Any], found: Mapping[str, Any]) -> DotGroup | None:
    own = [
        (str(each.get("configuration")), mean)
        for each in records(found.get("configurations"))
        if (each.get("model"), each.get("dataset"), each.get("condition")) == tuple(
            row.get(key) for key in ("model", "dataset", "condition")
        ) and (mean := number(each.get("mean"))) is not None
    ]  # fmt: skip
    if not own:
        return None
    dots = tuple(Dot(mean, f"{name}: {points(mean, 2)} points") for name, mean in own)
    means = [mean for _, mean in own]
    sd, low, high = (number(row.get(key)) for key in ("sd", "sd_low", "sd_high"))
    return DotGroup(
        f"{row.get('model')} on {row.get('dataset')}",
        (DotRow(dots, (min(means), max(means))),),
        "" if sd is None else f"SD {points(sd, 2)}",
        "" if sd is None else bounds(low, high, 2),
    )
