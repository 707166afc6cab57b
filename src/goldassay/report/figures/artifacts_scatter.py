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
from goldassay.report.figures.svg import Canvas, code_width, marker, shortened, text_width
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
# Marks of the cloud that a name may cover.
_MOST_COVERED = 2
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
    taken: list[_Box] = []
    if threshold is not None and y.low < threshold < 1:
        at, said = y(threshold), f"selected above {percent(threshold, 0)}"
        canvas.line(left, at, right, at, "rule")
        canvas.text(right, at - 6, said, "small strong", "end")
        taken += [(left, at - 1, right, at + 1), (right - 1.1 * text_width(said), at - 20, right, at)]
    _strongest(canvas, found, labels, (x, y), taken, [(x(row["support"]), y(row["probability"])) for row in rows])
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


def _strongest(
    canvas: Canvas,
    found: Mapping[str, Any],
    labels: list[str],
    scales: tuple[Scale, Scale],
    taken: list[_Box],
    cloud: list[tuple[float, float]],
) -> None:
    """Large marks for the strongest, with the names that find room: one that would cover much stays away.

    The name of every mark is its title, and stands in the bars and the table below.
    """
    x, y = scales
    strongest = mapping(found, "strongest")
    names: list[tuple[float, float, str]] = []
    marks: list[_Box] = []
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
            marks.append((x(support) - 6, y(p) - 6, x(support) + 6, y(p) + 6))
            names.append((x(support), y(p), shortened(str(row.get("pattern")), 0.34 * canvas.width, code_width)))
    for (at, level, name), own in zip(names, marks, strict=True):
        # A name right beside another mark would be read as that one's.
        others = [(a - 4, b - 4, c + 4, d + 4) for a, b, c, d in marks if (a, b, c, d) != own]
        free = [
            (sum(_holds(box, point) for point in cloud), place, box)
            for place, box in enumerate(_places(at, level, code_width(name)))
            if x.start <= box[0] and box[2] <= x.end + 12 and y.end - 6 <= box[1] and box[3] <= y.start
            if not any(_overlap(box, other) for other in (*taken, *others))
        ]
        if free and min(free)[0] <= _MOST_COVERED:
            box = min(free)[2]
            canvas.text(box[0], box[1] + 12, name, "code lifted")
            taken.append(box)


def _places(x: float, y: float, width: float) -> list[_Box]:
    """Where a mark's name may stand, the best place first: beside it, above or below it, or at one of its corners."""
    right, middle, left = x + 9, x - width / 2, x - 9 - width
    corners = (
        (right, y - 8), (left, y - 8), (middle, y - 22), (middle, y + 8),
        (right - 4, y - 19), (right - 4, y + 4), (left + 4, y - 19), (left + 4, y + 4),
    )  # fmt: skip
    return [(begin, top, begin + width, top + 14) for begin, top in corners]


def _holds(box: _Box, point: tuple[float, float]) -> bool:
    return box[0] - 2 < point[0] < box[2] + 2 and box[1] - 1 < point[1] < box[3] + 1


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
