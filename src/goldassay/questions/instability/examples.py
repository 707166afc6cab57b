"""Which examples make the score swing, and which of them swing together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.instability.measures.checkpoints import measure_stability
from goldassay.questions.instability.measures.covarying_pairs import top_covarying_pairs
from goldassay.questions.instability.texts import rows_of

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.runs import Runs

PAIRS = 20
LEAST_STABLE = 12
ALWAYS_WRONG = 12
# Pairs that share the largest covariance are counted by group where there are no more of them than this.
MOST_TIES = 50_000
# More rows of such a count are not read.
MOST_GROUP_PAIRS = 20
_NAMES = ("model", "dataset", "condition")


def measure_examples(runs: Runs, dataset: Dataset | None) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    """Stability of each example, and the pairs that covary most.

    Args:
        runs: (R, [T,] N), at least two runs.
        dataset: Holds the texts of the examples, if it is at hand.

    Returns:
        The document's entry, the table of all examples, and the table of pairs.
    """
    measured = measure_stability(runs.scores, runs.example_ids)
    names = {name: getattr(runs, name) for name in _NAMES}
    described = _described(runs, dataset)
    table = measured.to_frame().with_columns(pl.col("example_id").cast(pl.String))
    table = table.join(described, on="example_id", how="left", maintain_order="left")
    final = runs.final().scores
    pairs = _pairs(final, described)
    ties = int(pairs["ties"][0]) if pairs.height else 0
    largest = float(pairs["covariance"][0]) if pairs.height else 0.0
    entry = {
        **names,
        "n_runs": measured.n_runs,
        "n_examples": measured.n_examples,
        "n_always_right": measured.n_always_right,
        "n_always_wrong": measured.n_always_wrong,
        "n_constant": measured.n_constant,
        "flips": None if measured.flips is None else float(measured.flips.mean()),
        "histogram": _histogram(final),
        "text_columns": [] if dataset is None else list(dataset.text_columns),
        "group_columns": list(runs.groups),
        "least_stable": table.head(LEAST_STABLE).to_dicts(),
        "n_least_stable": int((measured.disagreement == measured.disagreement.max()).sum()),
        "always_wrong": table.filter(pl.col("status") == "always wrong").head(ALWAYS_WRONG).to_dicts(),
        "pairs": pairs.to_dicts(),
        "n_pairs_at_most": ties,
        "pairs_by_group": _by_group(final, ties, runs) if 0 < ties <= MOST_TIES else [],
        "pairs_reach_bound": bool(np.isclose(largest, largest_covariance(runs.n_runs))),
    }
    keyed = [pl.lit(value).alias(name) for name, value in names.items()]
    return entry, table.select(*keyed, pl.all()), pairs.select(*keyed, pl.all())


def largest_covariance(n_runs: int) -> float:
    """The most that two scores in [0, 1] can covary over R runs: both 1 in the same half of them, 0 in the others."""
    half = n_runs // 2
    return half * (n_runs - half) / (n_runs * (n_runs - 1))


def _described(runs: Runs, dataset: Dataset | None) -> pl.DataFrame:
    """One row an example: its id, right label, groups and texts, as far as they are known."""
    columns: dict[str, Any] = {"example_id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)}
    if runs.gold is not None and runs.label_names:
        columns["label"] = pl.Series(runs.label_names, dtype=pl.String).gather(runs.gold)
    columns |= {f"group_{name}": pl.Series(values.tolist(), dtype=pl.String) for name, values in runs.groups.items()}
    frame = pl.DataFrame(columns)
    if dataset is None:
        return frame
    return frame.hstack(rows_of(runs, dataset, dataset.text_columns).drop("example_id"))


def _pairs(scores: Any, described: pl.DataFrame) -> pl.DataFrame:
    pairs = top_covarying_pairs(scores, PAIRS)
    for side, column in (("_a", "i"), ("_b", "j")):
        members = described[pairs[column].to_list()]
        pairs = pairs.hstack(members.rename({name: name + side for name in members.columns}))
    return pairs


def _by_group(scores: Any, ties: int, runs: Runs) -> list[dict[str, Any]]:
    """Where the pairs with the largest covariance lie: within which groups, and between which."""
    if not runs.groups:
        return []
    pairs = top_covarying_pairs(scores, ties)
    found = []
    for column, names in runs.groups.items():
        one, other = (pl.Series(names.astype(str).tolist(), dtype=pl.String)[pairs[side].to_list()] for side in "ij")
        sides = pl.DataFrame({"one": one, "other": other}).select(
            a=pl.min_horizontal("one", "other"), b=pl.max_horizontal("one", "other")
        )
        counts = sides.group_by("a", "b").len("n_pairs").sort("n_pairs", "a", "b", descending=[True, False, False])
        found.append(
            {
                "column": column,
                "n_pairs": ties,
                "n_within": int(counts.filter(pl.col("a") == pl.col("b"))["n_pairs"].sum()),
                "n_rows": counts.height,
                "rows": counts.head(MOST_GROUP_PAIRS).to_dicts(),
            }
        )
    return found


def _histogram(scores: Any) -> list[int]:
    """How many examples are right in 0, 1, ..., R runs; empty for scores that are not right or wrong."""
    if not ((scores == 0) | (scores == 1)).all():
        return []
    counts: list[int] = np.bincount(scores.sum(axis=0).astype(np.int64), minlength=len(scores) + 1).tolist()
    return counts
