"""Which figure of one report is which of another: by its names, or by those that a change of model leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.figures import Figure

# Names that may differ between two figures that are the same all the same, tried in this order.
_LOOSENED: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"model"}),
    frozenset({"dataset", "test"}),
    frozenset({"model", "dataset", "test"}),
)

Pair = tuple["Figure", "Figure"]


def match_figures(before: Sequence[Figure], after: Sequence[Figure]) -> tuple[list[Pair], list[Figure], list[Figure]]:
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


def _unique(figures: Sequence[Figure], loosened: frozenset[str]) -> dict[tuple[object, ...], Figure]:
    groups: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        names = frozenset(name for name in figure.of.items() if name[0] not in loosened)
        groups.setdefault((figure.id, names), []).append(figure)
    return {key: members[0] for key, members in groups.items() if len(members) == 1}
