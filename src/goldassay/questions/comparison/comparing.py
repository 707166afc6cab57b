"""Models on the same examples: which is better, what the difference rests on, how many seeds it would take."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.naming import matches
from goldassay.core.numbers import points
from goldassay.core.results import Result, to_plain
from goldassay.questions.answered.degenerate import describe_degenerate, find_degenerate, given_by
from goldassay.questions.comparison.alignment import (
    SHARED_TEXTS,
    by_seed,
    cluster_names,
    related_examples,
    side_by_side,
)
from goldassay.questions.comparison.settling import OtherRules, Plan, describe_rules, other_rules, plan_comparison
from goldassay.questions.example_clusters import AUTO, NONE
from goldassay.questions.instability.measures.comparison import Comparison, compare
from goldassay.questions.instability.measures.scores import run_families, summarize_scores, training_of_runs
from goldassay.questions.instability.measures.suites import (
    Comparisons,
    Equivalence,
    TotalComparison,
    compare_all,
    equivalent_within,
    largest_groups,
)
from goldassay.questions.instability.spread import above_constant, describe_contradicted, describe_misplaced
from goldassay.runs.configurations import asked_apart, is_greedy
from goldassay.runs.grades import describe_grades
from goldassay.runs.missing import describe_dealt, describe_scores
from goldassay.runs.places import describe_numbers
from goldassay.runs.runs import describe_conditions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.answered.result import Degenerate
    from goldassay.runs.run_parts import Outputs, Slice
    from goldassay.runs.runs import Runs
    from goldassay.runs.statuses import Missing
    from goldassay.stats.intervals import Interval

# Pairs whose lead depends on a rule and that are named; the table has all.
_MOST_DEPENDING = 5

__all__ = ["ModelComparison", "ModelComparisons", "compare_runs", "compare_sides"]


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
        plan: Seeds needed, and differences that could have been seen.
        clusters: What examples were taken together by; None where each counts by itself.
        notes: How the runs were put side by side, and what was taken for granted, in sentences.
        equivalence: Whether the difference lies within a margin; None where none was given.
        rules: The difference by other rules for answers without a score; None where all have one.
        degenerate: Those of the two whose output cannot depend on what was asked.
        greedy: Whether the settings of both say that more runs would repeat those at hand.
        dealt: Whether the order of rows alone tells the attempts of one of them apart; these have no SD of runs.
        weighted_by: The column of weights of the examples; "" where all count alike.
        unweighted: Of a weighted comparison the scores of A and B without weights.
    """

    a: str
    b: str
    dataset: str
    comparison: Comparison
    sd_a: float
    sd_b: float
    plan: Plan
    clusters: str | None
    notes: tuple[str, ...] = field(default=())
    equivalence: Equivalence | None = None
    rules: OtherRules | None = None
    degenerate: tuple[Degenerate, ...] = ()
    greedy: bool = False
    dealt: bool = False
    weighted_by: str = ""
    unweighted: tuple[float, float] | None = None

    @property
    def depends(self) -> bool:
        """Whether who is better is another one by another rule for what is missing; then none is."""
        return self.rules is not None and self.rules.depends

    def to_dict(self) -> dict[str, Any]:
        """Fields of the comparison and of the plan."""
        plain = super().to_dict()
        comparison, plan = plain.pop("comparison"), plain.pop("plan")
        optional = ("equivalence", "rules", "degenerate", "greedy", "dealt", "weighted_by", "unweighted")
        known = {name: found for name in optional if (found := plain.pop(name))}
        return to_plain({**comparison, **plan, **plain, **known})


@dataclass(frozen=True)
class ModelComparisons(Result):
    """Several models compared, each with each.

    Attributes:
        models: Runs (R, N) of each, on the same examples in the same order, as they were given.
        names: Of the models, as they were given.
        pairs: For two models (A, B) as they were given; for more (better, worse), the best models first.
        adjusted_p: For each pair, Holm's correction of its p-value over all pairs.
        alpha: At or below it a pair differs: the models, or of models with one run these runs alone.
        groups: Largest sets of models of which no two differ, best first.
        clusters: What examples were taken together by; None where each counts by itself.
        notes: How the runs were put side by side, and what was taken for granted, in sentences.
    """

    models: tuple[Runs, ...]
    names: tuple[str, ...]
    pairs: tuple[ModelComparison, ...]
    adjusted_p: tuple[float, ...]
    alpha: float
    groups: tuple[tuple[str, ...], ...]
    clusters: str | None
    notes: tuple[str, ...] = field(default=())

    @property
    def means(self) -> tuple[float, ...]:
        """The mean score of each model over its runs and examples."""
        return tuple(float(runs.weighed.mean()) for runs in self.models)

    @property
    def unweighted(self) -> tuple[float, ...]:
        """The same without weights of examples."""
        return tuple(float(runs.scores.mean()) for runs in self.models)

    @property
    def sds(self) -> tuple[float, ...]:
        """The standard deviation of each model's score over its runs (ddof 1); NaN for one run, or dealt attempts."""
        return tuple(map(_sd, self.models))

    @property
    def of_models(self) -> bool:
        """Whether each model has several runs; else what differs are runs."""
        return all(pair.comparison.of_models for pair in self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; of the models the names, means and numbers of runs alone."""
        return to_plain(
            {
                "dataset": self.models[0].dataset,
                "models": [
                    {"name": name, "n_runs": runs.n_runs, "mean": mean}
                    for name, runs, mean in zip(self.names, self.models, self.means, strict=True)
                ],
                "pairs": [
                    {
                        **pair.to_dict(),
                        "adjusted_p": p,
                        "differ": p <= self.alpha,
                        "distinguishable": pair.comparison.of_models and p <= self.alpha,
                    }
                    for pair, p in zip(self.pairs, self.adjusted_p, strict=True)
                ],
                "groups": self.groups,
                "alpha": self.alpha,
                "n_examples": self.models[0].n_examples,
                "clusters": self.clusters,
                "notes": self.notes,
            }
        )


def compare_runs(
    a: Runs,
    b: Runs,
    *,
    names: tuple[str, str] | None = None,
    clusters: str | None = None,
    texts: Dataset | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    missing: Missing = "auto",
    seed: int = 0,
) -> ModelComparison:
    """Compare two models, each by its last checkpoint, example by example.

    Args:
        a: Runs of the one.
        b: Runs of the other.
        names: What to call them where their models have the same name.
        clusters: Take examples together by these groups of the runs or columns of the dataset, separated by commas: a
            shared premise, a template. Or `auto`, by texts that they share, the default where texts are at hand; or
            `none`, each by itself.
        texts: The dataset, for a cluster column that the runs lack, and for texts that examples share.
        matched: Runs of the same seed belong together.
        method: Of the interval.
        missing: What is done with examples that a model lacks.
        seed: Of all draws.

    Raises:
        InputError: The examples, their right labels or the matched seeds differ, or there is no such group.
    """
    return compare_sides(
        (a, b),
        names=names,
        clusters=clusters,
        texts=texts,
        matched=matched,
        method=method,
        missing=missing,
        seed=seed,
    ).pairs[0]


@dataclass(frozen=True)
class AlignedSides:
    """Models on one dataset, side by side.

    Attributes:
        sets: Runs (R, N) of each, on the same examples in the same order.
        names: What to call them.
        clusters: What examples are taken together by; None where each counts by itself.
        together: The cluster of each example, (N,); None where each stands for itself.
        notes: How the runs were put side by side, and what was taken for granted, in sentences.
        whole: The runs on all examples, what is missing as wrong, and the cluster of each of these.
        missing: What was done with what is missing in `sets`.
        degenerate: Models whose output cannot depend on what was asked.
    """

    sets: tuple[Runs, ...]
    names: tuple[str, ...]
    clusters: str | None
    together: NDArray[Any] | None
    notes: tuple[str, ...]
    whole: tuple[tuple[Runs, ...], NDArray[Any] | None]
    missing: Missing
    degenerate: tuple[Degenerate, ...] = ()

    def rules(self, a: str, b: str, found: Comparison, **how: Any) -> OtherRules | None:
        """The difference of two of them by other rules for what is missing; `how` as it was measured."""
        sets, together = self.whole
        weights = sets[0].weights

        def measure(
            one: Sequence[NDArray[np.float64]], other: Sequence[NDArray[np.float64]], rows: Sequence[NDArray[np.bool_]]
        ) -> Comparison:
            at = rows[0]
            own, weighed = (None if each is None else each[at] for each in (together, weights))
            return compare(one[0][:, at], other[0][:, at], own, weights=weighed, **how)

        one, other = (sets[self.names.index(name)] for name in (a, b))
        return other_rules([one], [other], found, measure, by_range=self.missing == "bounds")

    def compared(
        self,
        a: str,
        b: str,
        comparison: Comparison,
        margin: float | None,
        rules: OtherRules | None = None,
        *,
        apart: bool = False,
    ) -> ModelComparison:
        """What is told of two of them, given the measured difference and, for a margin, whether they are told apart."""
        of = dict(zip(self.names, self.sets, strict=True))
        sds = [summarize_scores(of[name].weighed).sd if of[name].n_runs > 1 else math.nan for name in (a, b)]
        return ModelComparison(
            a=a,
            b=b,
            dataset=self.sets[0].dataset,
            comparison=of_attempts(comparison) if of[a].dealt or of[b].dealt else comparison,
            sd_a=_sd(of[a]),
            sd_b=_sd(of[b]),
            plan=plan_comparison(comparison, sds, of_attempts=all(of[name].trials for name in (a, b))),
            clusters=self.clusters,
            notes=self.notes,
            equivalence=None if margin is None else within(comparison, margin, apart),
            rules=rules,
            degenerate=tuple(each for each in self.degenerate if each.system in (a, b)),
            greedy=all(is_greedy(of[name].configuration) for name in (a, b)),
            dealt=of[a].dealt or of[b].dealt,
            weighted_by=of[a].weighted_by,
            unweighted=(float(of[a].scores.mean()), float(of[b].scores.mean())) if of[a].weighted_by else None,
        )


def of_attempts(found: Comparison) -> Comparison:
    """The same of attempts: what its caveats say of runs, they say of attempts."""
    said = tuple(re.sub(r"\bruns\b", "attempts", caveat) for caveat in found.caveats)
    return dataclasses.replace(found, caveats=said)


def _sd(runs: Runs) -> float:
    return summarize_scores(runs.weighed).sd if runs.n_runs > 1 and not runs.dealt else math.nan


def align_sides(
    models: Sequence[Runs],
    *,
    names: Sequence[str] | None = None,
    clusters: str | None = None,
    texts: Dataset | None = None,
    matched: bool = False,
    missing: Missing = "auto",
    by_position: bool = False,
    sources: Sequence[Sequence[Slice]] = (),
) -> AlignedSides:
    """Put the last checkpoints of models side by side, example by example; arguments as for `compare_sides`.

    Raises:
        InputError: As for `compare_sides`.
    """
    if len(models) < 2:
        raise InputError("one model is there, and a comparison needs two", mend="give the runs of another")
    called = _names(models, names)
    final = [runs.final() for runs in models]
    whole, notes = side_by_side(final, called, "wrong" if missing == "leave-out" else missing)
    sets = whole
    if missing == "leave-out":
        sets, notes = side_by_side(final, called, missing)
    read_from = sources or [()] * len(final)
    given = [given_by(runs, _first_outputs(runs, own)) for runs, own in zip(final, read_from, strict=True)]
    given = [dataclasses.replace(each, system=name) for each, name in zip(given, called, strict=True)]
    degenerate = find_degenerate(given, models[0].dataset)
    slices = [part for parts in read_from for part in parts]
    notes = [*describe_conditions(slices), *describe_numbers(slices), *notes]
    notes = [*map(describe_degenerate, degenerate), *asked_apart(runs.configuration for runs in models), *notes]
    dealt = [name for name, runs in zip(called, final, strict=True) if runs.dealt]
    if dealt:
        notes.append(describe_dealt(dealt))
    notes += [said for name, runs in zip(called, sets, strict=True) for said in describe_scores(runs, name)]
    families = [training_of_runs(runs.scores, runs.predictions, runs.stated_seeds) for runs in sets]
    notes += _describe_families(called, sets, families)
    every = whole if whole is not sets else None
    sets = [_by_training(runs, own) for runs, own in zip(sets, families, strict=True)]
    whole = sets if every is None else [_by_training(runs, own) for runs, own in zip(every, families, strict=True)]
    if matched:
        sets, whole = by_seed(sets, called), by_seed(whole, called)
    by = clusters or (NONE if texts is None else AUTO)
    together = cluster_names(sets, by, texts)
    if clusters is None and together is None:
        notes += related_examples(sets)
    for name, runs in zip(called, sets, strict=True):
        mean = float(runs.scores.mean())
        notes += describe_misplaced(name, runs.dataset, mean, above_constant(runs, by_position))
    notes += [
        describe_contradicted(name, runs.dataset, runs.contradicted, runs.n_examples)
        for name, runs in zip(called, sets, strict=True)
        if runs.contradicted
    ]
    scales = dict.fromkeys(runs.grades for runs in sets if runs.grades is not None)
    notes += [
        describe_grades(
            {name: float(runs.weighed.mean()) for name, runs in zip(called, sets, strict=True) if runs.grades == scale},
            scale,
        )
        for scale in scales
    ]
    of_whole = together if sets is whole else cluster_names(whole, by, texts)
    shown = None if together is None else SHARED_TEXTS if by == AUTO else by
    return AlignedSides(
        tuple(sets), tuple(called), shown, together, tuple(notes), (tuple(whole), of_whole), missing, degenerate
    )


def _first_outputs(runs: Runs, sources: Sequence[Slice]) -> Outputs | None:
    """What a model wrote in its first run, where one file alone holds that."""
    own = [
        part for part in sources
        if part.outputs is not None and str(part.seed) == str(runs.seeds[0]) and part.collection.dataset == runs.dataset
        and matches(part.collection.model, runs.model)
    ]  # fmt: skip
    return own[0].outputs() if len(own) == 1 and own[0].outputs is not None else None


def _by_training(runs: Runs, of_run: NDArray[np.int64]) -> Runs:
    """One run for each training, with the mean score of its runs, and no score where one of these has none."""
    codes, first = np.unique(of_run, return_index=True)
    if codes.size == runs.n_runs:
        return runs
    means = np.array([runs.scores[of_run == code].mean(axis=0) for code in codes])
    found = dataclasses.replace(runs.of_runs(first), scores=means)
    if runs.status_codes is None:
        return found
    # Codes of answers without a score are the larger ones.
    lacking = np.array([runs.status_codes[of_run == code].max(axis=0) for code in codes])
    return dataclasses.replace(found, status_codes=lacking)


def _describe_families(names: Sequence[str], sets: Sequence[Runs], found: Sequence[NDArray[np.int64]]) -> list[str]:
    """How many trainings runs come from, where these are fewer, or what to state where that is not known."""
    said, unstated = [], []
    for name, runs, of_run in zip(names, sets, found, strict=True):
        families = run_families(runs.scores, runs.predictions, runs.stated_seeds)
        n = np.unique(of_run).size
        if n < runs.n_runs:
            said.append(
                f"The {runs.n_runs} runs of {name} come from {n} training{'s' if n > 1 else ''} by their seeds or "
                "outputs: runs of one training count as one run, with their mean score."
            )
        elif families.n < runs.n_runs:
            said.append(
                f"Of the {runs.n_runs} runs of {name} only {families.n} differ, and each counts as one run, so the "
                "interval may be too narrow: check that all are trainings of their own."
            )
        elif families.open:
            unstated.append(name)
    if unstated:
        said.append(
            f"Each run of {', '.join(unstated)} counts as a training of its own. No seeds are stated: state them if "
            "some are checkpoints of one training."
        )
    return said


def compare_sides(
    models: Sequence[Runs],
    *,
    names: Sequence[str] | None = None,
    clusters: str | None = None,
    texts: Dataset | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    missing: Missing = "auto",
    by_position: bool = False,
    alpha: float = 0.05,
    margin: float | None = None,
    seed: int = 0,
    sources: Sequence[Sequence[Slice]] = (),
) -> ModelComparisons:
    """Compare two models or more, each with each, with Holm's correction for the number of pairs.

    Args:
        models: Runs of each.
        names: As for `compare_runs`, and so are all others but one.
        clusters: See there.
        texts: See there.
        matched: See there.
        method: See there.
        missing: See there.
        by_position: Whether runs and right labels were put together row by row; then a score that is no better than a
            constant answer gives a warning.
        alpha: Chance of telling apart any two models that do not differ.
        margin: The largest difference that does not matter, in the unit of the scores; None if nothing is asked.
        seed: See there.
        sources: What each was read from, for what it wrote.

    Raises:
        InputError: As for `compare_runs`, or there are fewer than two models.
    """
    sides = align_sides(
        models,
        names=names,
        clusters=clusters,
        texts=texts,
        matched=matched,
        missing=missing,
        by_position=by_position,
        sources=sources,
    )
    sets, called, together = sides.sets, sides.names, sides.together
    how: dict[str, Any] = {"matched": matched, "method": method, "seed": seed}
    if len(sets) == 2:
        # Two models stay in the order in which they were given.
        found = compare(sets[0].scores, sets[1].scores, together, weights=sets[0].weights, **how)
        pairs: tuple[tuple[str, str], ...] = ((called[0], called[1]),)
        comparisons: tuple[Comparison, ...] = (found,)
        adjusted: tuple[float, ...] = (found.p_value,)
        best_first = tuple(called if found.difference >= 0 else reversed(called))
    else:
        every = _compare_all(sets, called, together, alpha=alpha, **how)
        pairs, comparisons, adjusted, best_first = every.pairs, every.comparisons, every.adjusted_p, every.models
    rules = [sides.rules(a, b, found, **how) for (a, b), found in zip(pairs, comparisons, strict=True)]
    # Whose lead depends on the rule for what is missing is not told apart.
    adjusted = tuple(1.0 if rule is not None and rule.depends else p for p, rule in zip(adjusted, rules, strict=True))
    groups = largest_groups(
        best_first, {frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= alpha}
    )
    return ModelComparisons(
        models=tuple(dataclasses.replace(runs, predictions=None, logits=None) for runs in sets),
        names=tuple(called),
        pairs=tuple(
            sides.compared(
                a,
                b,
                comparison,
                margin,
                rule,
                apart=p <= alpha if len(pairs) > 1 else leaves_out_zero(comparison.interval) and p < 1,
            )
            for (a, b), comparison, p, rule in zip(pairs, comparisons, adjusted, rules, strict=True)
        ),
        adjusted_p=adjusted,
        alpha=alpha,
        groups=groups,
        clusters=sides.clusters,
        notes=(*sides.notes, *_describe_dependence(pairs, comparisons, rules)),
    )


def _describe_dependence(
    pairs: Sequence[tuple[str, str]], comparisons: Sequence[Comparison], rules: Sequence[OtherRules | None]
) -> list[str]:
    """Pairs but the first, which the verdict is about, whose lead depends on the rule for what is missing."""
    said = [
        f"{a} and {b} differ by {points(found.difference, 2)} points{describe_rules(rule, a, b, found.difference)}."
        for (a, b), found, rule in zip(pairs[1:], comparisons[1:], rules[1:], strict=True)
        if rule is not None and rule.depends
    ]
    more = len(said) - _MOST_DEPENDING
    return [*said[:_MOST_DEPENDING], *([f"So it is with {more} more pairs."] if more > 0 else [])]


def within(found: Comparison | TotalComparison, margin: float, apart: bool) -> Equivalence:
    """Whether a measured difference lies within a margin; `apart` is what the comparison says of it."""
    counts = found.counts if isinstance(found, Comparison) else None
    return equivalent_within(
        found.difference, found.var_total, found.degrees_of_freedom, margin, apart=apart, counts=counts
    )


def leaves_out_zero(interval: Interval) -> bool:
    """Whether the interval of a difference leaves out zero."""
    return interval.low > 0 or interval.high < 0


def _compare_all(sets: Sequence[Runs], names: Sequence[str], together: NDArray[Any] | None, **how: Any) -> Comparisons:
    scores = {name: runs.scores for name, runs in zip(names, sets, strict=True)}
    return compare_all(scores, together, weights=sets[0].weights, **how)


def _names(models: Sequence[Runs], given: Sequence[str] | None) -> list[str]:
    """What tells the models apart: the model, else the training set, else the names given, else a letter."""
    for names in ([runs.model for runs in models], [runs.train_set for runs in models], list(given or ())):
        if len(set(names)) == len(models) and all(names):
            return names
    return [f"{runs.model} ({chr(ord('A') + position)})" for position, runs in enumerate(models)]
