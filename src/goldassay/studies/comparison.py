"""Two models on the same examples: which is better, what the difference rests on, how many seeds it would take."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.instability import compare, seeds_needed, smallest_difference, summarize_scores
from goldassay.intervals import sd_interval
from goldassay.results import Result, to_plain
from goldassay.studies.instability.texts import group_names, known_groups, read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.instability import Comparison
    from goldassay.runs import Runs


@dataclass(frozen=True)
class ModelComparison(Result):
    """A comparison of two models, and what it would take to settle it.

    Attributes:
        a: Name of the first model.
        b: Name of the second.
        dataset: Both were scored on it.
        comparison: The difference and its noise.
        sd_a: Standard deviation of A's scores over runs; NaN for one run.
        sd_b: Of B's.
        seeds_needed: Runs of each model to see a difference as large as this one (power 0.8, level 0.05), as far as
            runs are the noise; None where a model has one run, or the difference is 0.
        seeds_needed_low: The same from the lower end of the deviation's interval.
        seeds_needed_high: From its upper end.
        smallest_difference: What the smaller number of runs at hand could have shown; NaN for one run.
        clusters: The group column that examples were taken together by; None without.
        notes: How the runs were put side by side, in sentences.
    """

    a: str
    b: str
    dataset: str
    comparison: Comparison
    sd_a: float
    sd_b: float
    seeds_needed: int | None
    seeds_needed_low: int | None
    seeds_needed_high: int | None
    smallest_difference: float
    clusters: str | None
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The comparison's fields, and beside them those of the plan."""
        plain = super().to_dict()
        comparison = plain.pop("comparison")
        return to_plain({**comparison, **plain})


def compare_runs(
    a: Runs,
    b: Runs,
    *,
    names: tuple[str, str] | None = None,
    clusters: str | None = None,
    gold: str | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    intersect: bool = False,
    seed: int = 0,
) -> ModelComparison:
    """Compare two models, each by its last checkpoint, example by example.

    Args:
        a: Runs of the one.
        b: Runs of the other.
        names: What to call them where their models have the same name.
        clusters: Take examples together by this group of the runs or column of the dataset: a shared premise, a
            template.
        gold: The dataset, for a cluster column that the runs lack.
        matched: Runs of the same seed belong together.
        method: Of the interval.
        intersect: Compare on the examples that both cover; else they must cover the same.
        seed: Of all draws.

    Raises:
        InputError: The examples, their right labels or the matched seeds differ, or there is no such group.
    """
    a, b = a.final(), b.final()
    a, b, notes = _side_by_side(a, b, intersect)
    if matched:
        a, b = _by_seed(a, b)
    together = None if clusters is None else _clusters(a, b, clusters, read_texts(gold))
    found = compare(a.scores, b.scores, together, matched=matched, method=method, seed=seed)
    sds = [summarize_scores(runs.scores).sd if runs.n_runs > 1 else math.nan for runs in (a, b)]
    plan = _plan(found.difference, sds, a.n_runs, b.n_runs)
    return ModelComparison(
        *_names(a, b, names),
        dataset=a.dataset,
        comparison=found,
        sd_a=sds[0],
        sd_b=sds[1],
        seeds_needed=plan[0],
        seeds_needed_low=plan[1],
        seeds_needed_high=plan[2],
        smallest_difference=smallest_difference(_pooled(sds), min(a.n_runs, b.n_runs)) if plan[3] else math.nan,
        clusters=clusters,
        notes=tuple(notes),
    )


def _names(a: Runs, b: Runs, given: tuple[str, str] | None) -> tuple[str, str]:
    """What tells the two apart: the model, else the training set, else the name given."""
    for one, other in ((a.model, b.model), (a.train_set, b.train_set), given or ("", "")):
        if one != other and one and other:
            return one, other
    return f"{a.model} (A)", f"{b.model} (B)"


def _side_by_side(a: Runs, b: Runs, intersect: bool) -> tuple[Runs, Runs, list[str]]:
    """Both on the same examples, in A's order."""
    ids = pl.DataFrame({"id": a.example_ids.tolist()}).with_row_index("a")
    others = pl.DataFrame({"id": b.example_ids.tolist()}).with_row_index("b")
    both = ids.join(others, on="id", how="inner", maintain_order="left")
    notes = []
    missing = (a.n_examples - both.height, b.n_examples - both.height)
    if any(missing):
        lacking = ids.join(others, on="id", how="anti") if missing[0] else others.join(ids, on="id", how="anti")
        first = ", ".join(lacking["id"].head(6).to_list())
        if not intersect or both.height == 0:
            raise InputError(
                f"the models were scored on different examples: B lacks {missing[0]:,} of A's {a.n_examples:,}, "
                f"A lacks {missing[1]:,} of B's {b.n_examples:,}, first {first}",
                mend="give the missing ones, or keep the common ones with align='intersect'"
                if both.height
                else "check that both are of one dataset",
            )
        notes.append(f"Compared on the {both.height:,} examples that both cover; left out are {sum(missing):,}.")
    if any(missing) or not np.array_equal(a.example_ids, b.example_ids):
        a, b = a.take(both["a"].to_numpy()), b.take(both["b"].to_numpy())
    differ = _gold_differs(a, b)
    if differ:
        raise InputError(
            f"the right labels of {differ:,} of the {a.n_examples:,} examples differ between A and B",
            mend="give runs on one dataset, or its labels with gold=DATASET",
        )
    return a, b, notes


def _gold_differs(a: Runs, b: Runs) -> int:
    if a.gold is None or b.gold is None or not a.label_names or not b.label_names:
        return 0
    labels = [np.array(runs.label_names)[gold] for runs, gold in ((a, a.gold), (b, b.gold))]
    return int((labels[0] != labels[1]).sum())


def _by_seed(a: Runs, b: Runs) -> tuple[Runs, Runs]:
    seeds_a, seeds_b = a.seeds.tolist(), b.seeds.tolist()
    if set(seeds_a) != set(seeds_b):
        only = sorted(map(str, set(seeds_a) ^ set(seeds_b)))
        raise InputError(
            f"runs cannot be matched by seed: {len(only)} seeds are only on one side, first {', '.join(only[:6])}",
            mend="set matched=False",
        )
    rows = [seeds_b.index(seed) for seed in seeds_a]
    # Only scores and seeds are looked at from here on.
    return a, dataclasses.replace(b, scores=b.scores[rows], seeds=b.seeds[rows], predictions=None, logits=None)


def _clusters(a: Runs, b: Runs, column: str, dataset: Dataset | None) -> NDArray[np.str_]:
    for runs in (a, b):
        names = group_names(runs, column, dataset)
        if names is not None:
            return names
    known = list(dict.fromkeys([*known_groups(a, dataset), *known_groups(b, dataset)]))
    there = f"there are {', '.join(known)}" if known else "give the dataset that has it with --gold"
    raise InputError(f"neither the runs nor the dataset have a group {column!r} for each example", mend=there)


def _pooled(sds: Sequence[float]) -> float:
    return math.sqrt(sum(sd**2 for sd in sds) / len(sds))


def _plan(
    difference: float, sds: Sequence[float], n_a: int, n_b: int
) -> tuple[int | None, int | None, int | None, bool]:
    """Seeds needed, from the deviation pooled over both models and the ends of its interval."""
    pooled = _pooled(sds)
    if math.isnan(pooled):
        return None, None, None, False
    if difference == 0:
        return None, None, None, True
    # Two models give (n_a - 1) + (n_b - 1) degrees of freedom.
    interval = sd_interval(pooled, n_a + n_b - 1)
    needed = [seeds_needed(sd, difference) for sd in (pooled, interval.low, interval.high)]
    return needed[0], needed[1], needed[2], True
