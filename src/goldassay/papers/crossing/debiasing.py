"""What each objective takes away, and what it costs or moves elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.intervals import difference_interval
from goldassay.instability import compare, summarize_scores
from goldassay.papers.cells import show_cells
from goldassay.runs import read_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.papers.crossing.examples import Examples
    from goldassay.papers.recipe import Comparison
    from goldassay.papers.workplace import Workplace
    from goldassay.runs import Runs

# Measures in the order in which they are shown: accuracy on parts of the test set and elsewhere, then what is wrong.
FULL, EASY, HARD, LEAKY, REST = "accuracy", "on easy", "on hard", "in leaky clusters", "in other clusters"
FOLLOWS, MISLED = "decides as hypothesis only", "errs as hypothesis only"
SPREAD, UNSTABLE = "SD over seeds", "unstable examples"


def measure_debiasing(
    work: Workplace, examples: Examples, objectives: Sequence[str], tests: Sequence[str], plain: str
) -> pl.DataFrame:
    """Each measure of plain training and of each objective, and the difference with an interval.

    Accuracies, and how often a decision is that of models of the hypothesis alone (on all examples; on those that most
    of these get wrong, where both err alike), are compared over runs and examples; see `goldassay.instability.compare`.
    Which examples are unstable depends on the number of runs, and is compared on equally many, over examples. Of the
    spreads over seeds the interval is made of those of both (chi-square; Zou and Donner 2008).
    """
    rows: list[dict[str, Any]] = []
    first = tests[0]
    base = {test: _runs(work, plain, test) for test in tests}
    masks = {
        FULL: np.ones(examples.gold.size, np.bool_),
        EASY: examples.classes["easy"],
        HARD: examples.classes["hard"],
        LEAKY: examples.classes["leaky"],
        REST: ~examples.classes["leaky"],
    }
    for name in objectives:
        own = {test: _runs(work, name, test) for test in tests}
        for measure, mask in masks.items():
            if mask.sum() > 1:
                rows.append(
                    _accuracy(name, measure, own[first].scores[:, mask], base[first].scores[:, mask], work.seed)
                )
        rows += [_accuracy(name, f"on {test}", own[test].scores, base[test].scores, work.seed) for test in tests[1:]]
        rows += _others(name, own[first], base[first], examples, work.seed)
    return pl.DataFrame(rows, infer_schema_length=None)


def objectives_table(debiasing: pl.DataFrame) -> Comparison:
    """Differences from plain training, in points."""
    cells = [
        {
            "measure": row["measure"], "objective": row["objective"], "n_runs": row["n_runs"],
            **{name: 100 * row[key] for name, key in (("ours", "difference"), ("low", "low"), ("high", "high"))},
        }
        for row in debiasing.iter_rows(named=True)
    ]  # fmt: skip
    return show_cells(
        "debiasing_differences",
        "What each objective changes against plain training, in points",
        cells,
        rows=("measure",),
        columns=("objective",),
        note="an objective that works errs less as hypothesis only and gains on hard; what it costs shows elsewhere.",
        drawn="differences",
    )


def _runs(work: Workplace, model: str, test: str) -> Runs:
    return read_runs(work.runs, model=model, dataset=test, condition="paired", checkpoint="last")


def _accuracy(name: str, measure: str, own: NDArray[Any], base: NDArray[Any], seed: int) -> dict[str, Any]:
    found = compare(own, base, seed=seed, n_draws=1)
    return {
        "objective": name, "measure": measure, "plain": found.mean_b, "own": found.mean_a,
        "difference": found.difference, "low": found.interval.low, "high": found.interval.high, "n_runs": own.shape[0],
    }  # fmt: skip


def _others(name: str, own: Runs, base: Runs, examples: Examples, seed: int) -> list[dict[str, Any]]:
    """How far decisions are those of the hypothesis alone, and how far they change with the seed."""
    alike, alike_base = (_alike(each, examples.hypothesis_only) for each in (own, base))
    fooled = ~examples.classes["given away"]
    found = [_accuracy(name, FOLLOWS, alike, alike_base, seed)]
    if fooled.sum() > 1:
        wrong, wrong_base = (
            values[:, fooled] * (1 - np.asarray(each.scores)[:, fooled])
            for values, each in ((alike, own), (alike_base, base))
        )
        found.append(_accuracy(name, MISLED, wrong, wrong_base, seed))
    n_runs = min(own.n_runs, base.n_runs)
    if n_runs < 2:
        return found
    few, few_base = (np.asarray(each.scores)[:n_runs] for each in (own, base))
    mixed, mixed_base = (((each.mean(axis=0) > 0) & (each.mean(axis=0) < 1))[None] * 1.0 for each in (few, few_base))
    spread, spread_base = (summarize_scores(np.asarray(each.scores)) for each in (own, base))
    ends = difference_interval(spread.sd, spread.sd_interval, spread_base.sd, spread_base.sd_interval)
    sd_row = {
        "objective": name, "measure": SPREAD, "plain": spread_base.sd, "own": spread.sd,
        "difference": spread.sd - spread_base.sd, "low": ends.low, "high": ends.high, "n_runs": own.n_runs,
    }  # fmt: skip
    return [*found, {**_accuracy(name, UNSTABLE, mixed, mixed_base, seed), "n_runs": n_runs}, sd_row]


def _alike(runs: Runs, hypothesis_only: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of the models of the hypothesis alone that decide as each run does on each example, (R, N)."""
    predictions = np.asarray(runs.predictions)
    return np.asarray((predictions[:, None, :] == hypothesis_only[None]).mean(axis=1))
