"""Charts of what moves together: datasets as a matrix, examples as pixels."""

from __future__ import annotations

import base64
import binascii
import math
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Block, Chart, Grid, Matrix, MatrixCell, PixelGrid, PixelMatrix, first_of
from goldassay.core.documents import records, row_name
from goldassay.core.numbers import count, decimal, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MEASURED = "rank correlation"


def correlations(found: Mapping[str, Any], most: int) -> Chart | None:
    """A grid of correlations for each model, below its name."""
    grids = [correlation_grid(each) for each in _correlations_of(found)]
    if not grids:
        return None
    shown, omitted = first_of(grids, most, "grids")
    return Matrix(
        name="instability_correlations",
        title="Datasets that move together",
        caption="Rank correlation between the scores on two datasets, over the checkpoints of a run and averaged over "
        "runs, or over the final scores of the runs. Blue rise and fall together, red against each other, pale hardly "
        "at all.",
        omitted=omitted,
        grids=tuple(shown),
        measured=_MEASURED,
    )


def paper_correlations(found: Mapping[str, Any]) -> Iterator[tuple[str, str, Chart]]:
    """(model, what the correlation is over, chart) of each grid."""
    for each in _correlations_of(found):
        chart = Matrix(name="", grids=(correlation_grid(each),), measured=_MEASURED)
        yield str(each.get("model")), str(each.get("over")), chart


def _correlations_of(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in records(found.get("correlations")) if _has_values(each)]


def _has_values(each: Mapping[str, Any]) -> bool:
    """Whether there are two names or more, and a value for each pair of them."""
    names, values = each.get("names"), each.get("values")
    if not isinstance(names, (list, tuple)) or not isinstance(values, (list, tuple)) or len(names) < 2:
        return False
    rows = [row for row in values if isinstance(row, (list, tuple)) and len(row) == len(names)]
    return len(rows) == len(values) == len(names)


def correlation_grid(each: Mapping[str, Any]) -> Grid:
    """The correlations between datasets of one model."""
    names = tuple(str(name) for name in each["names"])
    over = f"{each.get('n_points')} checkpoints, {each.get('n_runs')} runs"
    if each.get("over") == "runs":
        over = f"final scores of {each.get('n_runs')} runs"
    # A model that no file names is called "model".
    of = "" if each.get("model") in (None, "model") else f"{each['model']}, "
    cells = []
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            value = number(each["values"][i][j])
            shown = "not defined" if value is None else decimal(value, 3)
            cells.append(MatrixCell(i, j, value, decimal(value, 2), f"{name}, {other}: {shown}"))
    return Grid(f"{of}over {over}", names, names, tuple(cells))


def maps(found: Mapping[str, Any]) -> Chart | None:
    """A square of pixels for each set of runs."""
    grids = [pixel_grid(each, size) for each, size in _maps_of(found)]
    if not grids:
        return None
    return PixelMatrix(
        name="instability_map",
        title="Examples that go together",
        caption="Rank correlation between examples that change (in brackets how many are drawn), over the checkpoints "
        "of a run or over runs. Blue go right and wrong together, red against each other. Examples lie group by group, "
        "those that go together side by side; blue blocks on the diagonal are groups that the model gets right or "
        "wrong as a whole.",
        grids=tuple(grids),
        measured=_MEASURED,
    )


def paper_maps(found: Mapping[str, Any]) -> Iterator[tuple[str, Chart]]:
    """(set of runs, chart) of each map."""
    for each, size in _maps_of(found):
        yield row_name(each), PixelMatrix(name="", grids=(pixel_grid(each, size),), measured=_MEASURED)


def _maps_of(found: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int]]:
    return [(each, size) for each in records(found.get("maps")) if (size := _map_size(each))]


def _map_size(each: Mapping[str, Any]) -> int:
    """How many examples a map has; 0 where its values are no square."""
    try:
        size = math.isqrt(len(values := base64.b64decode(str(each.get("values")), validate=True)))
    except (binascii.Error, ValueError):
        return 0
    return size if size > 1 and size * size == len(values) else 0


def pixel_grid(each: Mapping[str, Any], size: int) -> PixelGrid:
    """The correlations between examples of one set of runs."""
    by = f", by {each['column']}" if each.get("column") else ""
    title = f"{row_name(each)}{by} ({count(size)} of {count(each.get('n_varying'))})"
    return PixelGrid(title, size, str(each["values"]), tuple(_block(group) for group in records(each.get("groups"))))


def _block(group: Mapping[str, Any]) -> Block:
    within, others = decimal(group.get("within")), decimal(group.get("with_others"))
    hover = (
        f"{group.get('group')}: {count(group.get('n_examples'))} examples, mean correlation {within} with each "
        f"other, {others} with the rest"
    )
    return Block(str(group.get("group")), int(number(group.get("n_examples")) or 0), hover)
