"""Measure every set of runs, one after the other, then what runs have in common across checkpoints and datasets."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.instability.examples import FEWEST_RUNS, measure_examples, measure_map, unsteady_rows
from goldassay.questions.instability.measures.checkpoints import trajectories
from goldassay.questions.instability.measures.correlation import correlate_datasets, correlate_final_scores
from goldassay.questions.instability.paper import (
    fields_of,
    frame_of_rows,
    names_of,
    pairs_of_datasets,
    score_table,
    trajectory_table,
)
from goldassay.questions.instability.result import (
    DatasetCorrelations,
    Deviation,
    Deviations,
    ExampleMap,
    ExampleSpread,
    Grouping,
    InstabilityResult,
    Interruption,
    LargestChange,
    OfRuns,
    RunIntervals,
    RunScores,
    SeedPlan,
    Selection,
    Step,
    Trajectory,
)
from goldassay.questions.instability.spread import (
    MOST_GROUPS,
    NOTE,
    RunMeans,
    caveats_of,
    measure_deviation,
    measure_groups,
    measure_intervals,
    measure_selection,
    measure_spread,
    plan_runs,
    with_reading,
)
from goldassay.questions.instability.verdict import WHOLE, describe_selection, describe_set, judged_name
from goldassay.questions.matching import describe_unknown_labels
from goldassay.questions.run_sets import RunSet, beside_each_other, short_names
from goldassay.runs.configurations import describe_configurations
from goldassay.runs.missing import SharedItems, describe_dealt, describe_unscored
from goldassay.runs.places import describe_numbers
from goldassay.runs.runs import describe_conditions
from goldassay.runs.traits import group_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.core.settings import InstabilityLimits
    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.runs.curves import Curves
    from goldassay.runs.runs import Runs


# A map takes a screen of the page.
MOST_MAPS = 2

R = TypeVar("R", bound=OfRuns)


@dataclass(frozen=True)
class InstabilityChoice:
    """What is measured beyond the spread of each set of runs.

    Attributes:
        reference: The dataset whose spread the others' are held against, or None.
        groups: Group columns to take the variance apart by; None for all that the runs have.
        keep_finished: Stop at an interruption with what is finished, instead of losing it.
        deep: Measure single examples, intervals of every figure, plans and maps as well, which takes minutes.
    """

    reference: str | None = None
    groups: Sequence[str] | None = None
    keep_finished: bool = False
    deep: bool = True


@dataclass(frozen=True)
class _Measured:
    """What was measured of one set of runs, whose predictions are then let go of."""

    row: RunScores
    means: RunMeans
    groups: tuple[Grouping, ...]
    intervals: tuple[RunIntervals, ...]
    plans: tuple[SeedPlan, ...]
    deviation: Deviation | None
    selection: Selection | None
    examples: tuple[tuple[ExampleSpread, pl.DataFrame, pl.DataFrame], ...]
    name: str
    unsteady: pl.DataFrame | None
    asked: tuple[NDArray[np.str_], Mapping[str, bool]]
    remarks: tuple[str, ...] = ()

    def place(self) -> tuple[bool, float]:
        """By which sentences are ordered: the whole input first, then the least stable."""
        return self.row.condition not in WHOLE, -(self.row.sd or -math.inf)

    def sentences(self, is_judged: bool) -> list[str]:
        """What was found, but for what the evidence of the verdict says if it is about this set."""
        examples = self.examples[0][0] if self.examples else None
        return describe_set(self.row, self.groups, examples, self.name, judged=is_judged)


def measure(
    evidence: Evidence, choice: InstabilityChoice, progress: Progress
) -> tuple[InstabilityResult, dict[str, pl.DataFrame], pl.DataFrame | None]:
    """What is measured of every set of runs, its tables, and the examples on which runs differ.

    One set of runs is in memory at a time, and beside it the last scores of the reference: the measures across
    datasets take means alone.

    Args:
        evidence: Its sets of runs are measured.
        choice: How deep.
        progress: Told after each set.

    Raises:
        InputError: The runs of a set cannot be read or do not fit together.
        KeyboardInterrupt: It was stopped before anything was finished, or nothing is to be kept.
    """
    by_position: dict[int, _Measured] = {}
    maps = _Maps()
    references = _References()
    sets = beside_each_other(evidence.run_sets)
    # Others are held against the reference, so that it goes first.
    order = sorted(range(len(sets)), key=lambda i: sets[i].dataset != choice.reference)
    stopped = False
    try:
        for n_done, position in enumerate(order):
            progress(n_done, len(order))
            by_position[position] = _measure_set(evidence, choice, sets[position], references, maps)
    except KeyboardInterrupt:
        if not choice.keep_finished or not by_position:
            raise
        stopped = True
    done = _with_asked([by_position[position] for position in sorted(by_position)])
    names = short_names([sets[position] for position in sorted(by_position)])
    found = _result(choice.reference, done, maps.kept, names, evidence.settings.verdicts.instability)
    slices = [part for runs in sets for part in runs.slices]
    named = [*describe_configurations(slices), *describe_conditions(slices), *describe_numbers(slices)]
    remarks = dict.fromkeys([*evidence.remarks, *named, *(said for each in done for said in each.remarks)])
    found = replace(
        found,
        note=" ".join(filter(None, remarks)) or None,
        interrupted=Interruption(finished=len(done), of=len(sets)) if stopped else None,
    )
    unsteady = [each.unsteady for each in done if each.unsteady is not None]
    return found, _tables(found, done), pl.concat(unsteady) if unsteady else None


def _result(
    reference: str | None,
    done: Sequence[_Measured],
    maps: Sequence[ExampleMap],
    names: Mapping[tuple[str, str, str], str],
    limits: InstabilityLimits,
) -> InstabilityResult:
    def named(records: Iterable[R | None]) -> tuple[R, ...]:
        kept = [each for each in records if each is not None]
        return tuple(replace(each, name=names[each.model, each.dataset, each.condition]) for each in kept)

    means = [each.means for each in done]
    results = named(each.row for each in done)
    judged = judged_name(results, limits)
    deviations = named(each.deviation for each in done)
    selections = named(each.selection for each in done)
    chosen = [describe_selection(row, str(reference)) for row in selections]
    by_place = sorted(zip(results, done, strict=True), key=lambda each: each[1].place())
    groups = named(grouping for each in done for grouping in each.groups)
    return InstabilityResult(
        results=results,
        sentences=tuple(said for row, each in by_place for said in each.sentences(row.name == judged)),
        caveats=caveats_of(results),
        intervals=named(entry for each in done for entry in each.intervals),
        plans=named(entry for each in done for entry in each.plans),
        groups=tuple(replace(each, rows=each.rows[:MOST_GROUPS]) for each in groups),
        deviations=None if reference is None else Deviations(reference, NOTE, deviations),
        trajectories=named(measure_trajectories(means)),
        correlations=measure_correlations(means),
        reference=reference,
        selections=selections,
        selection_sentences=tuple(sentence for sentence in chosen if sentence),
        examples=named(entry for each in done for entry, *_ in each.examples),
        maps=named(maps),
    )


def _with_asked(done: Sequence[_Measured]) -> list[_Measured]:
    """The same with the number of examples that any model was asked on each dataset, where a set has fewer."""
    asked: dict[tuple[str, str], set[str]] = {}
    for each in done:
        names, left_out = each.asked
        asked.setdefault((each.row.dataset, each.row.condition), set()).update(names.tolist(), left_out)
    numbers = [len(asked[each.row.dataset, each.row.condition]) for each in done]
    return [
        replace(each, row=replace(each.row, n_asked=n)) if n > each.asked[0].size else each
        for each, n in zip(done, numbers, strict=True)
    ]


@dataclass
class _References:
    """Each model's runs on the reference: last scores of each example, and means at all checkpoints."""

    finals: dict[tuple[str, str], Runs] = field(default_factory=dict)
    means: dict[tuple[str, str, str], RunMeans] = field(default_factory=dict)


@dataclass
class _Maps:
    """The maps of the least stable sets so far."""

    kept: list[ExampleMap] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)

    def offer(self, runs: Runs, spread: float, seed: int) -> None:
        """Draw the map of a set, if it is among the least stable."""
        at = sum(spread <= other for other in self.spreads)
        if at >= MOST_MAPS or (drawn := measure_map(runs, seed)) is None:
            return
        self.spreads = [*self.spreads[:at], spread, *self.spreads[at:]][:MOST_MAPS]
        self.kept = [*self.kept[:at], drawn, *self.kept[at:]][:MOST_MAPS]


def _measure_set(
    evidence: Evidence, choice: InstabilityChoice, runs_set: RunSet, references: _References, maps: _Maps
) -> _Measured:
    """Load one set of runs and measure all of it."""
    texts, seed = evidence.texts_of(runs_set), evidence.settings.seed
    attempts = _with_groups(runs_set.load(), choice.groups, texts)
    runs = _one_run_of(attempts) if attempts.dealt else attempts
    final, means = runs.final(), RunMeans.of(runs)
    by_position = evidence.choice.align == "position"
    together = clusters_of(texts, final.example_ids, evidence.settings.data.clusters)
    of_one = together if final.n_runs == 1 else None
    row = with_reading(measure_spread(final, by_position, of_one), runs, runs_set.slices)
    if attempts.dealt:
        row = replace(row, unscored=" ".join(describe_unscored(attempts)) or None)
    own, kin = (runs.model, runs.condition), (runs.model, runs.condition, runs.train_set)
    is_reference = runs.dataset == choice.reference
    if is_reference:
        # A view of the last predictions would keep those of all checkpoints.
        references.finals[own] = replace(final, predictions=None, logits=None)
        references.means[kin] = means
    deviation = None if choice.reference is None else measure_deviation(final, references.finals.get(own))
    selection = None
    if choice.reference is not None and not is_reference:
        selection = measure_selection(runs, references.means.get(kin), seed)
    deep = choice.deep and runs.n_runs > 1
    groups = measure_groups(final, seed, deep=deep)
    examples = (measure_examples(runs, texts),) if deep else ()
    # A map that was drawn is kept even if what follows is interrupted, so that it comes last.
    intervals = (measure_intervals(final, row, seed, together),) if deep else ()
    plans = (plan_runs(final, row.sd),) if deep else ()
    if deep:
        maps.offer(runs, row.sd or 0.0, seed)
    several = len({each.model for each in evidence.run_sets}) > 1
    aside = [runs.model] if several else []
    aside += [] if runs.condition in WHOLE else [runs.condition]
    name = f"{runs.dataset} ({', '.join(aside)})" if aside else runs.dataset
    return _Measured(
        row=row,
        means=means,
        groups=groups,
        intervals=intervals,
        plans=plans,
        deviation=deviation,
        selection=selection,
        examples=examples,
        name=name,
        unsteady=unsteady_rows(final) if runs.n_runs > 1 else None,
        asked=(final.example_ids, final.left_out),
        remarks=(
            describe_dealt([runs.model]) if attempts.dealt else "",
            *SharedItems.of([final], [final.model], runs_set.rule).notes,
            "" if runs_set.fallback is None else describe_unknown_labels(final, runs_set.fallback.label_names),
        ),
    )


def _one_run_of(attempts: Runs) -> Runs:
    """Attempts that the order of rows alone tells apart as one run, which scores each example by their mean."""
    means = attempts.scores.mean(axis=0, keepdims=True)
    return replace(attempts.of_runs([0]), scores=means, status_codes=None, trials=False, dealt=False)


def _with_groups(runs: Runs, wanted: Sequence[str] | None, dataset: Dataset | None) -> Runs:
    if wanted is None:
        return runs
    found = {column: group_names(runs, column, dataset) for column in wanted}
    return replace(runs, groups={name: values for name, values in found.items() if values is not None})


def add_curves(
    found: InstabilityResult, tables: Mapping[str, pl.DataFrame], curves: Sequence[Curves]
) -> tuple[InstabilityResult, dict[str, pl.DataFrame]]:
    """Put the curves of sets whose predictions were not given at several checkpoints beside what was measured."""
    drawn = {(move.model, move.dataset) for move in found.trajectories}
    moves, _ = measure_steps([curve for curve in curves if (curve.model, curve.dataset) not in drawn])
    if not moves:
        return found, dict(tables)
    found = replace(found, trajectories=(*found.trajectories, *moves))
    return found, {**tables, "trajectories": trajectory_table(found.trajectories)}


def measure_steps(curves: Sequence[Curves]) -> tuple[tuple[Trajectory, ...], tuple[DatasetCorrelations, ...]]:
    """Trajectories of the sets that have several steps in common, and correlations between a model's datasets."""
    together = [_means_of_curve(curve) for curve in curves]
    several = len({curve.model for curve in curves}) > 1
    metrics = {(curve.model, curve.dataset): curve.metric for curve in curves}
    moves = tuple(
        replace(
            move,
            name=f"{move.model} · " * several + f"{move.dataset}, {metrics[move.model, move.dataset]} as logged",
        )
        for move in measure_trajectories(together)
    )
    return moves, measure_correlations(together)


def _means_of_curve(curve: Curves) -> RunMeans:
    several = len(curve.checkpoints) > 1
    return RunMeans(
        model=curve.model,
        dataset=curve.dataset,
        condition="",
        train_set=curve.metric,
        seeds=np.asarray(curve.seeds),
        checkpoints=np.asarray(curve.checkpoints) if several else None,
        values=curve.scores if several else curve.final,
    )


def measure_trajectories(sets: Sequence[RunMeans]) -> tuple[Trajectory, ...]:
    """Mean, band and one run over the checkpoints of each set of runs that has any; the run shown is the first."""
    found = []
    for runs in sets:
        if runs.steps is None:
            continue
        measured = trajectories(runs.values, runs.steps)
        widest = int(np.abs(measured.largest_changes).argmax())
        at = int(measured.largest_change_at[widest])
        found.append(
            Trajectory(
                model=runs.model,
                dataset=runs.dataset,
                condition=runs.condition,
                name="",
                seed=runs.seeds[measured.run_index].item(),
                points=tuple(Step(*row) for row in measured.to_frame().iter_rows()),
                largest_change=LargestChange(
                    seed=runs.seeds[widest].item(),
                    change=float(measured.largest_changes[widest]),
                    before=measured.checkpoints[at - 1],
                    after=measured.checkpoints[at],
                ),
            )
        )
    return tuple(found)


def measure_correlations(sets: Sequence[RunMeans]) -> tuple[DatasetCorrelations, ...]:
    """Rank correlation of a model's scores on its datasets, as many of them as share runs and checkpoints.

    Over the checkpoints of each run, averaged over runs, where there are checkpoints; and over the final scores of
    the runs, if there are at least five.
    """
    kin: dict[tuple[Any, ...], list[RunMeans]] = {}
    for runs in sets:
        key = (runs.model, runs.condition, runs.train_set, tuple(runs.seeds.tolist()), runs.steps)
        kin.setdefault(key, []).append(runs)
    found = []
    for (*_, seeds, steps), together in kin.items():
        if len(together) > 1 and steps is not None:
            found.append(_correlate(together, over_checkpoints=True))
        if len(together) > 1 and len(seeds) >= FEWEST_RUNS:
            found.append(_correlate(together, over_checkpoints=False))
    return tuple(found)


def _correlate(sets: Sequence[RunMeans], over_checkpoints: bool) -> DatasetCorrelations:
    means = {runs.dataset: runs.values if over_checkpoints else runs.final for runs in sets}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        measured = correlate_datasets(means) if over_checkpoints else correlate_final_scores(means)
    return DatasetCorrelations(
        model=sets[0].model,
        condition=sets[0].condition,
        over="checkpoints" if over_checkpoints else "runs",
        names=tuple(measured.names),
        values=_rows(measured.values),
        low=_rows(measured.low),
        high=_rows(measured.high),
        n_runs_used=_rows(measured.n_runs_used),
        n_runs=measured.n_runs,
        n_points=measured.n_points,
        reason="; ".join(str(each.message) for each in caught) or None,
    )


def _rows(matrix: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _tables(found: InstabilityResult, done: Sequence[_Measured]) -> dict[str, pl.DataFrame]:
    plans = [
        {
            **{key: value for key, value in vars(plan).items() if key != "seeds"},
            **{
                f"seeds_for_{1000 * each.difference / 10:g}_points{end}": getattr(each, f"n{end}")
                for each in plan.seeds
                for end in ("", "_low", "_high")
            },
        }
        for plan in found.plans
    ]
    groupings = [grouping for each in done for grouping in each.groups]
    tables = {
        "instability": score_table(found.results),
        "intervals": frame_of_rows(
            [{**names_of(each), **vars(row)} for each in found.intervals for row in each.figures]
        ),
        "seeds_needed": frame_of_rows(plans),
        "instability_groups": frame_of_rows(
            [{**names_of(each), "column": each.column, **fields_of(row)} for each in groupings for row in each.rows]
        ),
        "normalized_deviations": frame_of_rows(
            [vars(row) for row in found.deviations.rows] if found.deviations else []
        ),
        "model_selection": frame_of_rows(list(map(fields_of, found.selections))),
        "trajectories": trajectory_table(found.trajectories),
        "dataset_correlations": frame_of_rows([row for each in found.correlations for row in pairs_of_datasets(each)]),
    }
    examples = [each for measured in done for each in measured.examples]
    if examples:
        tables["examples"] = pl.concat([table for _, table, _ in examples], how="diagonal_relaxed")
        tables["covarying_pairs"] = pl.concat([pairs for *_, pairs in examples], how="diagonal_relaxed")
    return {name: table for name, table in tables.items() if table.height}
