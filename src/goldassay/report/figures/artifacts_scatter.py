"""Every frequent pattern: how often it occurs against how much it says about the label.

Thousands of marks as elements with a title each would weigh more than the rest of the page. So each label's cloud
is one path, and the page finds the pattern under the pointer in the list of values it carries anyway; only the
strongest patterns are marks of their own, which answer to the pointer without a script too.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, code_width, marker, shortened
from goldassay.report.numbers import count, number, percent
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Patterns that lean to a label"
CAPTION = (
    "Each mark is a pattern. To the right: in more examples. Up: says more about its label. Above the dotted curve "
    "it leans by more than chance, above the dashed line it is strong enough to be selected. # stands for any one "
    "token."
)

_MOST = 8
# More labels than these are not named one by one.
_MOST_NAMED = 12
_Box = tuple[float, float, float, float]


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A scatter of p(label | pattern) over support, with the threshold and the boundary of significance."""
    found = mapping(document, "artifacts")
    rows, labels = points_of(document)
    if not rows:
        return None
    height = 420 if width > 500 else 340
    canvas = Canvas(width, height, f"{TITLE}. {CAPTION}")
    top = legend(canvas, labels[:_MOST_NAMED], 0, 16, width) + 8
    if len(labels) > _MOST_NAMED:
        canvas.text(
            0, top + 6, f"and {len(labels) - _MOST_NAMED} labels more, by the same marks in turn", "quiet small"
        )
        top += 20
    left, right, bottom = 46.0, width - 14.0, height - 46.0
    supports = [row["support"] for row in rows]
    low = min(0.8, *(row["probability"] for row in rows))
    x = Scale(min(supports) / 1.08, max(max(supports), 2 * min(supports)) * 1.1, left, right, log=True)
    y = Scale(max(0.0, math.floor(low * 20) / 20 - 0.02), 1.02, bottom, top)
    horizontal_grid(canvas, y, left, right, lambda value: percent(value, 0))
    vertical_grid(canvas, x, top, bottom, count, 6 if width > 500 else 4)
    for series in range(len(labels)):
        cloud = [
            marker(series, x(row["support"]), y(row["probability"]), 2.4) for row in rows if row["series"] == series
        ]
        if cloud:
            canvas.path("".join(cloud), f"f{series % N_SERIES} cloud")
    _boundaries(canvas, found, x, y)
    threshold = number(mapping(found, "settings").get("threshold"))
    if threshold is not None and y.low < threshold < 1:
        canvas.line(left, y(threshold), right, y(threshold), "rule")
        canvas.text(right, y(threshold) - 6, f"selected above {percent(threshold, 0)}", "small strong", "end")
    _strongest(canvas, found, labels, x, y)
    canvas.text((left + right) / 2, height - 8, "support: training examples with the pattern", "quiet small", "middle")
    canvas.data = {
        "points": "pattern-points",
        "x": f"{x.low:.6g} {x.high:.6g} {x.start:g} {x.end:g}",
        "y": f"{y.low:.6g} {y.high:.6g} {y.start:g} {y.end:g}",
    }
    return canvas


def points_of(document: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The patterns to draw, each with the number of its label, and the labels in order.

    The order is that of the dataset; of many labels those with most patterns come first, since not all can be named.
    """
    found = mapping(document, "artifacts")
    labels = [str(label) for label in mapping(document, "dataset").get("label_names") or mapping(found, "prior")]
    if len(labels) > _MOST_NAMED:
        counts = Counter(str(row.get("label")) for row in records(found.get("scatter")))
        labels.sort(key=lambda label: -counts[label])
    rows = []
    for row in records(found.get("scatter")):
        label = str(row.get("label"))
        support, probability = number(row.get("support")), number(row.get("probability"))
        if support is None or support <= 0 or probability is None:
            continue
        if label not in labels:
            labels.append(label)
        rows.append(
            {
                "pattern": str(row.get("pattern")),
                "support": support,
                "probability": probability,
                "series": labels.index(label),
            }
        )
    return rows, labels


def _boundaries(canvas: Canvas, found: Mapping[str, Any], x: Scale, y: Scale) -> None:
    """For each distinct prior, the smallest share that is significant at a support.

    p0 + z sqrt(p0 (1 - p0) / n), z the one-sided normal quantile of the largest p-value that Benjamini-Hochberg
    lets pass, q times significant over mined, shared among the labels that the most probable is one of.
    """
    from scipy.special import ndtri

    q = number(mapping(found, "settings").get("q"))
    n_mined, n_significant = number(found.get("n_mined")), number(found.get("n_significant"))
    if not q or not n_mined or n_significant is None:
        return
    met = [p for p in map(number, mapping(found, "prior").values()) if p]
    z = -float(ndtri(q * max(n_significant, 1.0) / n_mined / max(len(met), 1)))
    # Labels of nearly the same share have one curve between them: two would be told apart by nobody.
    priors = {round(p / 0.04): p for p in map(number, mapping(found, "prior").values()) if p is not None and 0 < p < 1}
    for prior in priors.values():
        steps = [x.low * (x.high / x.low) ** (i / 60) for i in range(61)]
        curve = [(n, prior + z * math.sqrt(prior * (1 - prior) / n)) for n in steps]
        inside = [f"{x(n):.1f} {y(p):.1f}" for n, p in curve if y.low <= p <= 1]
        if len(inside) > 1:
            canvas.path("M" + "L".join(inside), "bound")


def _strongest(canvas: Canvas, found: Mapping[str, Any], labels: list[str], x: Scale, y: Scale) -> None:
    strongest = mapping(found, "strongest")
    taken: list[_Box] = []
    names: list[tuple[float, float, str]] = []
    for label in strongest:
        if label not in labels:
            continue
        series = labels.index(label)
        for row in records(strongest[label])[:_MOST]:
            support, p = number(row.get("support")), number(row.get("probability"))
            if support is None or p is None or not (x.low <= support <= x.high and y.low <= p <= y.high):
                continue
            title = f"{row.get('pattern')} → {label}: {percent(p)} of {count(support)} examples"
            canvas.path(marker(series, x(support), y(p), 4.5), f"f{series % N_SERIES} halo", title)
            taken.append((x(support) - 6, y(p) - 6, x(support) + 6, y(p) + 6))
            names.append((x(support), y(p), shortened(str(row.get("pattern")), 0.34 * canvas.width, code_width)))
    for at, level, name in names:
        for box in _places(at, level, code_width(name)):
            inside = x.start <= box[0] and box[2] <= x.end + 12
            if inside and not any(_overlap(box, other) for other in taken):
                canvas.text(box[0], box[1] + 12, name, "code lifted")
                taken.append(box)
                break


def _places(x: float, y: float, width: float) -> list[_Box]:
    """Where a mark's name may stand: to its right, or else to its left, above or below it."""
    corners = ((x + 9, y - 8), (x - 9 - width, y - 8), (x - width / 2, y - 22), (x - width / 2, y + 8))
    return [(left, top, left + width, top + 14) for left, top in corners]


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
