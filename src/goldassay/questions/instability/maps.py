"""A map of the correlations between examples, small enough to be looked at."""

from __future__ import annotations

import base64
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.instability.measures.correlation import correlate_examples
from goldassay.questions.instability.training import FEWEST_RUNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.runs import Runs

# More examples than this are thinner than a pixel of the picture.
MOST_EXAMPLES = 240
# More groups than this cannot be named beside it.
MOST_GROUPS = 40
UNDEFINED = -128


def measure_map(runs: Runs, seed: int) -> dict[str, Any] | None:
    """Correlations between examples that change, drawn at random where they are many, group by group.

    Over the checkpoints of each run, averaged over runs; with one checkpoint over the final scores of the runs, if
    there are at least five. Within a group, examples that go together stand side by side.

    Args:
        runs: (R, [T,] N).
        seed: Of the draw.

    Returns:
        The document's entry; None where there are too few runs, or fewer than two examples change. Its `values` are
        correlations in hundredths, one signed byte each, row by row, in base64; -128 stands for no value.
    """
    over_checkpoints = runs.scores.ndim == 3
    if not over_checkpoints and runs.n_runs < FEWEST_RUNS:
        return None
    varying = np.flatnonzero(_varies(runs.scores))
    if len(varying) < 2:
        return None
    chosen = varying
    if len(varying) > MOST_EXAMPLES:
        chosen = np.sort(np.random.default_rng(seed).choice(varying, MOST_EXAMPLES, replace=False))
    column = _column(runs)
    groups = None if column is None else runs.groups[column][chosen]
    with warnings.catch_warnings():
        # Pairs without a value are shown as such.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = correlate_examples(
            runs.scores[..., chosen], pooling="mean" if over_checkpoints else "final", max_examples=None, groups=groups
        )
    if len(found.examples) < 2:
        return None
    values = found.values[np.ix_(found.order, found.order)]
    shown = chosen[found.examples[found.order]]
    named = None if column is None else runs.groups[column][shown]
    return {
        "model": runs.model,
        "dataset": runs.dataset,
        "condition": runs.condition,
        "over": "checkpoints" if over_checkpoints else "runs",
        "n_runs": found.n_runs,
        "n_checkpoints": found.n_checkpoints,
        "n_varying": len(varying),
        "example_ids": runs.example_ids[shown].tolist(),
        "column": column,
        "groups": [] if named is None else _blocks(values, named),
        "values": base64.b64encode(_bytes(values)).decode("ascii"),
    }


def _varies(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which examples have a correlation at all: those that change between checkpoints of a run, or between runs."""
    if scores.ndim == 3:
        return (scores != scores[:, :1]).any(axis=(0, 1))
    return (scores != scores[:1]).any(axis=0)


def _column(runs: Runs) -> str | None:
    """The finest group column that can be named beside the picture."""
    sizes = {name: len(np.unique(values)) for name, values in runs.groups.items()}
    fitting = {name: size for name, size in sizes.items() if 1 < size <= MOST_GROUPS}
    return max(fitting, key=lambda name: fitting[name]) if fitting else None


def _blocks(values: NDArray[Any], named: NDArray[Any]) -> list[dict[str, Any]]:
    """Each group's stretch of the map, and the mean correlation between its examples and with those of others."""
    blocks = []
    for name in dict.fromkeys(named.tolist()):
        rows = np.flatnonzero(named == name)
        inside = values[np.ix_(rows, rows)][np.triu_indices(len(rows), 1)]
        outside = values[rows][:, named != name]
        blocks.append({"group": name, "n_examples": len(rows), "within": _mean(inside), "with_others": _mean(outside)})
    return blocks


def _mean(values: NDArray[Any]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _bytes(values: NDArray[Any]) -> bytes:
    hundredths = np.where(np.isnan(values), UNDEFINED, np.round(100 * np.nan_to_num(values)))
    return hundredths.astype(np.int8).tobytes()
