"""Which of several models can be told apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.multiple_testing import holm
from goldassay.core.results import Result
from goldassay.instability.comparison import Comparison, compare
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Comparisons(Result):
    """All pairs of several models compared, the better one first.

    Attributes:
        models: Names, best mean score first.
        means: Mean scores, in that order.
        pairs: Names (better, worse) of each pair.
        comparisons: For each pair.
        adjusted_p: For each pair, Holm's correction of `p_value` over all pairs.
        alpha: At or below it a pair differs: the models, or of models with one run these runs alone.
        groups: Sets of models of which no two differ, as large as can be, best first. A model may stand in several:
            A = B and B = C do not make A = C.
        n_examples: N.
        skipped: Reason -> count of what has no value.
    """

    models: tuple[str, ...]
    means: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    comparisons: tuple[Comparison, ...]
    adjusted_p: tuple[float, ...]
    alpha: float
    groups: tuple[tuple[str, ...], ...]
    n_examples: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a pair: better, worse, difference, low, high, p_value, adjusted_p, differ, told_apart.

        `differ` says that the runs differ on these and other examples; `told_apart` that the models do, which takes
        several runs of both.
        """
        rows = [
            {
                "better": better,
                "worse": worse,
                "difference": found.difference,
                "low": found.interval.low,
                "high": found.interval.high,
                "p_value": found.p_value,
                "adjusted_p": p,
                "differ": p <= self.alpha,
                "told_apart": found.of_models and p <= self.alpha,
            }
            for (better, worse), found, p in zip(self.pairs, self.comparisons, self.adjusted_p, strict=True)
        ]
        return pl.DataFrame(rows)


def compare_all(
    scores: Mapping[str, ArrayLike], clusters: ArrayLike | None = None, *, alpha: float = 0.05, **settings: Any
) -> Comparisons:
    """Compare each two of several models, with Holm's correction for the number of pairs.

    Args:
        scores: {name: (R, N)}, on the same examples in the same order.
        clusters: (N,) names of what examples share.
        alpha: Chance of telling apart any two models that do not differ.
        **settings: Of `compare`: matched, method, level, seed, n_draws.

    Raises:
        InputError: There are fewer than 2 models, alpha is not in (0, 1), or as for `compare`.

    Source: Holm 1979.
    """
    if len(scores) < 2:
        raise InputError(f"{len(scores)} model was given, and 2 are needed to compare")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}", mend="it must lie between 0 and 1")
    arrays = {name: as_scores(values) for name, values in scores.items()}
    models = sorted(arrays, key=lambda name: -arrays[name].mean())
    pairs = tuple(combinations(models, 2))
    found = tuple(compare(arrays[one], arrays[other], clusters, **settings) for one, other in pairs)
    adjusted = holm([comparison.p_value for comparison in found])
    apart = {frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= alpha}
    return Comparisons(
        models=tuple(models),
        means=tuple(float(arrays[name].mean()) for name in models),
        pairs=pairs,
        comparisons=found,
        adjusted_p=tuple(float(p) for p in np.asarray(adjusted)),
        alpha=alpha,
        groups=largest_groups(models, apart),
        n_examples=found[0].n_examples,
    )


def largest_groups(models: Sequence[str], apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Largest sets of models without two that are told apart, by growing them model by model."""
    groups: set[frozenset[str]] = set()
    for model in models:
        like = {other for other in models if frozenset((model, other)) not in apart and other != model}
        grown = {frozenset(group & like) | {model} for group in groups}
        groups |= grown | {frozenset((model,))}
        groups = {group for group in groups if not any(group < other for other in groups)}
    place = {model: position for position, model in enumerate(models)}
    ordered = sorted(sorted(place[model] for model in group) for group in groups)
    return tuple(tuple(models[position] for position in group) for group in ordered)
