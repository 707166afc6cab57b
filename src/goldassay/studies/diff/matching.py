"""Which figure of one report is which of another: by its names, or by those that a change of model leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.studies.diff.figures import Measured

# Names that may differ between two figures that are the same all the same, tried in this order.
_LOOSENED: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"model"}),
    frozenset({"dataset", "test"}),
    frozenset({"model", "dataset", "test"}),
)

Pair = tuple["Measured", "Measured"]


def match_figures(
    before: Sequence[Measured], after: Sequence[Measured]
) -> tuple[list[Pair], list[Measured], list[Measured]]:
    """Pair the figures of two reports; what is left of each has no counterpart.

    Where names differ, figures are paired without the model's name, then without the dataset's, and only where that
    leaves no choice: a report on one model goes with a report on another, one on three models with itself alone.

    Returns:
        Pairs, in the order of the first report; what only the first has; what only the second has.
    """
    left, right = list(before), list(after)
    pairs: list[Pair] = []
    for loosened in _LOOSENED:
        ours, theirs = _unique(left, loosened), _unique(right, loosened)
        met = [(ours[key], theirs[key]) for key in ours if key in theirs]
        pairs += met
        left = [figure for figure in left if not any(figure is one for one, _ in met)]
        right = [figure for figure in right if not any(figure is other for _, other in met)]
    order = {id(figure): i for i, figure in enumerate(before)}
    return sorted(pairs, key=lambda pair: order[id(pair[0])]), left, right


def _unique(figures: Sequence[Measured], loosened: frozenset[str]) -> dict[tuple[str, ...], Measured]:
    groups: dict[tuple[str, ...], list[Measured]] = {}
    for figure in figures:
        names = tuple(value for name, value in figure.of.items() if name not in loosened)
        groups.setdefault((figure.measure.place.at, figure.measure.place.value, *names), []).append(figure)
    return {key: members[0] for key, members in groups.items() if len(members) == 1}
