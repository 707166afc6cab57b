"""Models on several datasets: which is better on each, and over all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.results import Result, to_plain
from goldassay.questions.comparison.comparing import AlignedSides, ModelComparison, within
from goldassay.questions.comparison.settling import OtherRules, other_rules
from goldassay.questions.instability.measures.comparison import compare
from goldassay.questions.instability.measures.suites import Equivalence, TotalComparison, compare_totals, largest_groups
from goldassay.stats.clusters import weigh
from goldassay.stats.significance import holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.runs import Runs

__all__ = ["SuiteComparison", "SuitePair", "compare_suite"]

# Every pair is compared on every dataset; of more models a ranking says more than all of them.
MOST_MODELS = 12
# Fewer examples may be scored alike by chance.
_FEW_EXAMPLES = 30


@dataclass(frozen=True)
class SuitePair(Result):
    """Two models on several datasets.

    Attributes:
        a: Name of the first model; of three or more models the one with the higher mean.
        b: Name of the second.
        macro: The difference of the means over datasets, each of which counts alike.
        micro: The difference over all examples, each of which counts alike.
        adjusted_p: Holm's correction of the macro difference's p-value over all pairs.
        micro_adjusted_p: Likewise of the micro difference's.
        on: The two on each dataset, a minus b.
        dataset_p: Holm's correction over the datasets.
        equivalence: Whether the macro difference lies within a margin; None where none was given.
        rules: The macro difference by other rules for answers without a score; None where all have one.
        micro_rules: The micro difference likewise.
    """

    a: str
    b: str
    macro: TotalComparison
    micro: TotalComparison
    adjusted_p: float
    micro_adjusted_p: float
    on: tuple[ModelComparison, ...]
    dataset_p: tuple[float, ...]
    equivalence: Equivalence | None = None
    rules: OtherRules | None = None
    micro_rules: OtherRules | None = None

    @property
    def depends(self) -> bool:
        """Whether who is ahead over the datasets is another one by another rule for what is missing."""
        return self.rules is not None and self.rules.depends

    def disagree(self, alpha: float) -> bool:
        """Whether the one that is ahead over the datasets is surely behind over the examples."""
        return self.micro_adjusted_p <= alpha and self.macro.difference * self.micro.difference < 0


@dataclass(frozen=True)
class SuiteComparison(Result):
    """Several models on several datasets.

    Attributes:
        datasets: The models side by side on each dataset.
        names: Of the models.
        pairs: Of two models (A, B) as they were given; of more the better one first.
        alpha: At or below it a pair differs.
        groups: Largest sets of models of which no two differ over all datasets, best first.
        notes: What was left out and taken for granted, in sentences.
    """

    datasets: tuple[AlignedSides, ...]
    names: tuple[str, ...]
    pairs: tuple[SuitePair, ...]
    alpha: float
    groups: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def of_models(self) -> bool:
        """Whether each model has several runs on every dataset; else what differs are runs."""
        return all(pair.macro.of_models for pair in self.pairs)

    @property
    def weighted_by(self) -> str:
        """The column of weights of the examples; "" where all count alike."""
        return self.datasets[0].sets[0].weighted_by

    @property
    def n_examples(self) -> int:
        """Of all datasets."""
        return sum(each.sets[0].n_examples for each in self.datasets)

    @property
    def means(self) -> dict[str, tuple[float, float]]:
        """The mean over datasets and the mean over examples of each model."""
        sizes = [each.sets[0].size for each in self.datasets]
        means = np.array([[runs.weighed.mean() for runs in _in_order(each, self.names)] for each in self.datasets])
        macro, micro = means.mean(axis=0), np.average(means, axis=0, weights=sizes)
        return {name: (float(macro[at]), float(micro[at])) for at, name in enumerate(self.names)}

    def to_dict(self) -> dict[str, Any]:
        """As plain data: the totals of each pair, and the pairs on each dataset."""
        return to_plain(
            {
                "datasets": [each.sets[0].dataset for each in self.datasets],
                "n_examples": self.n_examples,
                "models": [
                    {"name": name, "macro": macro, "micro": micro} for name, (macro, micro) in self.means.items()
                ],
                "totals": [
                    {
                        "a": pair.a,
                        "b": pair.b,
                        "macro": pair.macro.to_dict(),
                        "micro": pair.micro.to_dict(),
                        "adjusted_p": pair.adjusted_p,
                        "micro_adjusted_p": pair.micro_adjusted_p,
                        "disagree": pair.disagree(self.alpha),
                        "differ": pair.adjusted_p <= self.alpha,
                        "distinguishable": pair.macro.of_models and pair.adjusted_p <= self.alpha,
                        **({"equivalence": pair.equivalence.to_dict()} if pair.equivalence else {}),
                    }
                    for pair in self.pairs
                ],
                "pairs": [
                    {**found.to_dict(), "adjusted_p": p, "differ": p <= self.alpha}
                    for pair in self.pairs
                    for found, p in zip(pair.on, pair.dataset_p, strict=True)
                ],
                "groups": self.groups,
                "alpha": self.alpha,
                "notes": self.notes,
            }
        )


def compare_suite(
    datasets: Sequence[AlignedSides],
    *,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    alpha: float = 0.05,
    margin: float | None = None,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> SuiteComparison:
    """Compare two models or more on each of several datasets and over all of them.

    Runs of the same seeds on all datasets are one run each: what is luck of a run is the same on all of them.

    Args:
        datasets: The same models under the same names, side by side on each.
        matched: Runs of the same seed belong together.
        method: How the intervals are made.
        alpha: Chance of telling apart any two models that do not differ.
        margin: The largest macro difference that does not matter, in the unit of the scores; None if nothing is asked.
        seed: Of all draws.
        notes: What else is to be said.

    Raises:
        InputError: There are too many models, or they have other names on another dataset.
    """
    names = datasets[0].names
    if len(names) > MOST_MODELS:
        raise InputError(
            f"each two of {len(names)} models on {len(datasets)} datasets would be compared, and that is done for up "
            f"to {MOST_MODELS}",
            mend=f"choose some with {option('model')}, or rank all of them: write goldassay board in place of compare",
        )
    for other in datasets[1:]:
        if set(other.names) != set(names):
            raise InputError(
                f"the models are called {', '.join(names)} on {datasets[0].sets[0].dataset} and "
                f"{', '.join(other.names)} on {other.sets[0].dataset}",
                mend=f"choose the same ones with {option('model')}",
            )
    datasets, copies = _without_copies(datasets)
    means = {name: np.mean([_of(each, name).weighed.mean() for each in datasets]) for name in names}
    best_first = sorted(names, key=lambda name: -means[name])
    made = [
        _pair(a, b, datasets, matched=matched, method=method, seed=seed)
        for a, b in combinations(names if len(names) == 2 else best_first, 2)
    ]
    adjusted, of_micro = (
        holm([each.p_value for each in kind]) for kind in zip(*((pair.macro, pair.micro) for pair in made), strict=True)
    )
    pairs = tuple(
        replace(
            pair,
            adjusted_p=1.0 if pair.depends else float(p),
            micro_adjusted_p=1.0 if pair.micro_rules is not None and pair.micro_rules.depends else float(micro_p),
            equivalence=None if margin is None else within(pair.macro, margin, bool(p <= alpha)),
        )
        for pair, p, micro_p in zip(made, adjusted, of_micro, strict=True)
    )
    apart = {frozenset((pair.a, pair.b)) for pair in pairs if pair.adjusted_p <= alpha}
    said = (note for each in datasets for note in _notes_of(each))
    caveats = (note for pair in pairs for found in pair.on for note in found.comparison.caveats)
    return SuiteComparison(
        datasets=tuple(datasets),
        names=tuple(names),
        pairs=pairs,
        alpha=alpha,
        groups=largest_groups(best_first, apart),
        notes=tuple(dict.fromkeys((*notes, *copies, *said, *caveats))),
    )


def _without_copies(datasets: Sequence[AlignedSides]) -> tuple[list[AlignedSides], list[str]]:
    """The datasets without those on which all models score as on an earlier one, example by example: they are one."""
    kept: dict[bytes, str] = {}
    first, notes = [], []
    for each in datasets:
        scores = b"".join(_of(each, name).scores.tobytes() for name in sorted(each.names))
        name = each.sets[0].dataset
        same = kept.setdefault(scores, name) if each.sets[0].n_examples >= _FEW_EXAMPLES else name
        if same == name:
            first.append(each)
        else:
            notes.append(f"{name} has the scores of {same}, example by example: it is the same dataset, and left out.")
    return first, notes


def _pair(
    a: str,
    b: str,
    datasets: Sequence[AlignedSides],
    *,
    matched: bool,
    method: Literal["normal", "bootstrap"],
    seed: int,
) -> SuitePair:
    """Two models, before the correction for several pairs."""
    sides = [(_of(each, a), _of(each, b)) for each in datasets]
    orders = [_one_order([pair[side] for pair in sides]) for side in (0, 1)]
    joint = all(order is not None for order in orders)
    if joint:
        datasets = [_reordered(each, {a: orders[0], b: orders[1]}, at) for at, each in enumerate(datasets)]
        sides = [(_of(each, a), _of(each, b)) for each in datasets]
    scores = [(one.weighed, other.weighed) for one, other in sides]
    together = [each.together for each in datasets]
    how: dict[str, Any] = {"matched": matched, "method": method, "seed": seed}
    found = [
        compare(one.scores, other.scores, own, weights=one.weights, **how)
        for (one, other), own in zip(sides, together, strict=True)
    ]
    rules = [each.rules(a, b, own, **how) for each, own in zip(datasets, found, strict=True)]

    def total(weights: Sequence[float]) -> TotalComparison:
        return compare_totals(scores, weights, together, joint=joint, compared=found, **how)

    def measure(
        one: Sequence[NDArray[np.float64]],
        other: Sequence[NDArray[np.float64]],
        rows: Sequence[NDArray[np.bool_]],
        *,
        by_size: bool,
    ) -> TotalComparison:
        of = [each.whole[0][0].weights for each in datasets]
        own_weights = [None if w is None else w[at] for w, at in zip(of, rows, strict=True)]
        kept = [
            (weigh(x[:, at], w), weigh(y[:, at], w)) for x, y, at, w in zip(one, other, rows, own_weights, strict=True)
        ]
        own = [None if each.whole[1] is None else each.whole[1][at] for each, at in zip(datasets, rows, strict=True)]
        sizes = [at.sum() if w is None else w.sum() for at, w in zip(rows, own_weights, strict=True)]
        weights = sizes if by_size else [1] * len(rows)
        return compare_totals(kept, weights, own, joint=joint, **how)

    def rules_of(total: TotalComparison, *, by_size: bool) -> OtherRules | None:
        own = partial(measure, by_size=by_size)
        return other_rules(whole[0], whole[1], total, own, by_range=by_range, by_size=by_size)

    macro, micro = total([1] * len(found)), total([one.size for one, _ in sides])
    whole = [[each.whole[0][each.names.index(name)] for each in datasets] for name in (a, b)]
    by_range = any(each.missing == "bounds" for each in datasets)
    return SuitePair(
        a=a,
        b=b,
        macro=macro,
        micro=micro,
        adjusted_p=macro.p_value,
        micro_adjusted_p=micro.p_value,
        on=tuple(each.compared(a, b, own, None, rule) for each, own, rule in zip(datasets, found, rules, strict=True)),
        dataset_p=tuple(
            1.0 if rule is not None and rule.depends else float(p)
            for p, rule in zip(holm([each.p_value for each in found]), rules, strict=True)
        ),
        rules=rules_of(macro, by_size=False),
        micro_rules=rules_of(micro, by_size=True),
    )


def _reordered(sides: AlignedSides, orders: Mapping[str, list[NDArray[np.int64]] | None], at: int) -> AlignedSides:
    """The runs of some models in the order by which they are the same runs on each dataset."""

    def of(sets: Sequence[Runs]) -> tuple[Runs, ...]:
        return tuple(
            runs if (order := orders.get(name)) is None else runs.of_runs(order[at])
            for name, runs in zip(sides.names, sets, strict=True)
        )

    return replace(sides, sets=of(sides.sets), whole=(of(sides.whole[0]), sides.whole[1]))


def _of(sides: AlignedSides, name: str) -> Runs:
    return sides.sets[sides.names.index(name)]


def _in_order(sides: AlignedSides, names: Sequence[str]) -> list[Runs]:
    return [_of(sides, name) for name in names]


def _one_order(sets: Sequence[Runs]) -> list[NDArray[np.int64]] | None:
    """Orders of the runs on each dataset by which they are the same runs; None where they are not, or there is one."""
    seeds = [[str(each) for each in runs.seeds.tolist()] for runs in sets]
    if len(seeds[0]) < 2 or len({tuple(sorted(each)) for each in seeds}) > 1:
        return None
    return [np.argsort(np.array(each)) for each in seeds]


def _notes_of(sides: AlignedSides) -> list[str]:
    """What was taken for granted on a dataset, with its name."""
    name = sides.sets[0].dataset
    return [note if name in note else f"{name}: {note}" for note in sides.notes]
