"""What lies in a folder of runs, scored: each set with its intervals, and how the models compare."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.files import temporary_folder
from goldassay.core.progress import Steps
from goldassay.core.results import Result, to_plain
from goldassay.core.settings import Settings
from goldassay.questions.comparison.report import study_comparison
from goldassay.questions.evidence import Evidence
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.instability.measures.intervals import resample_scores
from goldassay.questions.instability.spread import (
    N_DRAWS,
    describe_contradicted,
    describe_misplaced,
    measure_spread,
)
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import beside_each_other
from goldassay.runs.answers import read_answers
from goldassay.runs.choosing import retried
from goldassay.runs.missing import describe_scores, scored_only
from goldassay.runs.reading import is_copy
from goldassay.runs.run_parts import ASIDE, Slice
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.questions.comparison.suites import SuiteComparison
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs.assembly import Align
    from goldassay.runs.runs import Runs

__all__ = ["ScoredRuns", "ScoredSet", "UnreadSet", "score_runs"]


@dataclass(frozen=True)
class ScoredSet(Result):
    """The mean score of the runs of one model on one dataset.

    Attributes:
        model: Name of the model, with its configuration where it has several.
        dataset: Name of the dataset.
        condition: What the model saw.
        n_runs: R.
        n_examples: N.
        n_asked: Examples that any model has on the dataset.
        n_scored: Answers of all runs that have a score; the others count as wrong.
        scored_only: The mean of these alone; None where all have one.
        mean: Over runs and examples, in [0, 1].
        examples_low: Lower end of the 95 % interval over other examples of the kind; None where there is none.
        examples_high: Upper end.
        runs_low: Lower end of the 95 % interval over other runs; None for one run.
        runs_high: Upper end.
        sd: Over runs; None for one run.
        grades: Lowest and highest grade of the scale that the mean is a share of; None where it is a fraction.
        weighted_by: The column of weights of the examples; "" where all count alike.
        unweighted: Of a weighted mean that without weights.
        notes: On answers without a score, in sentences.
    """

    model: str
    dataset: str
    condition: str
    n_runs: int
    n_examples: int
    n_asked: int
    n_scored: int
    scored_only: float | None
    mean: float
    examples_low: float | None
    examples_high: float | None
    runs_low: float | None
    runs_high: float | None
    sd: float | None
    grades: tuple[float, float] | None = None
    weighted_by: str = ""
    unweighted: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadSet(Result):
    """Runs that are left out, and why; model, dataset and condition are "" for a file that says none of them."""

    model: str
    dataset: str
    condition: str
    reason: str


@dataclass(frozen=True)
class ScoredRuns(Result):
    """All that lies in a folder of runs.

    Attributes:
        sets: A model on a dataset each, by dataset and then by model.
        unread: What is left out, and is in no comparison: sets and files that cannot be read, unfinished runs of which
            there is a finished one, and copies of a run.
        comparison: Of the models, on each dataset that all of them answered; None where there is none.
        uncompared: Why there is none, or "".
    """

    sets: tuple[ScoredSet, ...]
    unread: tuple[UnreadSet, ...]
    comparison: ModelComparisons | SuiteComparison | None
    uncompared: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The sets, those unread, and the comparison as `goldassay compare` gives it."""
        return {
            "sets": to_plain(self.sets),
            "unread": to_plain(self.unread),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "uncompared": self.uncompared,
        }


def score_runs(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    choice: RunChoice | None = None,
    settings: Settings | None = None,
    *,
    quiet: bool = True,
) -> ScoredRuns:
    """Score every set of runs at a path, and compare the models.

    Scores and intervals are those of `measure_instability`, differences those of `compare_models`. A set that cannot be
    read (a log that was cancelled, say) is named with the reason, and the others are scored. So is a file that is
    broken, an unfinished run next to finished ones of its model and dataset, and a copy of a run under another name.

    Args:
        path: A file, a folder (searched to the bottom), or several of these.
        choice: Which runs to take, and how to read them; by default all.
        settings: Hold the seed of all draws, and what makes clusters of examples.
        quiet: Show no progress.

    Raises:
        InputError: Nothing is there, or no set of runs can be read.
    """
    paths = [os.fspath(each) for each in ([path] if isinstance(path, (str, os.PathLike)) else path)]
    settings = settings or Settings()
    broken: list[InputError] = []
    evidence = Evidence(
        runs=paths, choice=choice or RunChoice(), settings=settings, steps=Steps(quiet), broken_runs=broken
    )
    scored: list[ScoredSet] = []
    unread: list[UnreadSet] = []
    read: list[Runs] = []
    first: InputError | None = None
    sets: list[RunSet] = []
    for found in evidence.run_sets:
        each, left_out = _counted_once(*_finished(found, evidence.choice.align))
        unread += left_out
        sets.append(each)
    for each in beside_each_other(sets):
        try:
            runs = each.load().final()
        except InputError as error:
            first = first or error
            unread.append(UnreadSet(each.model, each.dataset, each.condition, str(error)))
            continue
        scored.append(_score(evidence, each, runs))
        read.append(runs)
    if not scored:
        assert first is not None
        raise first
    unread += [UnreadSet("", "", "", str(error)) for error in broken]
    compared, why = _compare(paths, read, evidence, bool(unread))
    asked: dict[tuple[str, str], set[str]] = {}
    for runs in read:
        asked.setdefault((runs.dataset, runs.condition), set()).update((*runs.example_ids.tolist(), *runs.left_out))
    scored = [replace(each, n_asked=len(asked[each.dataset, each.condition])) for each in scored]
    in_order = sorted(scored, key=lambda found: (found.dataset, found.condition, found.model))
    return ScoredRuns(tuple(in_order), tuple(unread), compared, why)


def _finished(found: RunSet, align: Align) -> tuple[RunSet, list[UnreadSet]]:
    """The set without its unfinished runs, if it has finished ones.

    Where the examples in common were asked for, only those go of which another file has a finished one: the others are
    what was asked for.
    """
    again = retried(found.slices)
    out = [
        part
        for part in found.slices
        if part.unfinished and (part.file in again if align == "intersect" else _has_finished(found))
    ]
    return _without(found, out, {part.file: f"{part.unfinished}; finished runs of it count" for part in out})


def _has_finished(found: RunSet) -> bool:
    return not all(part.unfinished for part in found.slices)


def _counted_once(found: RunSet, left_out: list[UnreadSet]) -> tuple[RunSet, list[UnreadSet]]:
    """The set without exact copies of its runs; runs of one name with other answers stay, and are refused later."""
    firsts: dict[tuple[object, ...], Slice] = {}
    copies: dict[str, str] = {}
    out = []
    for part in found.slices:
        first = firsts.setdefault((part.collection, part.seed, part.checkpoint), part)
        if first is not part and first.file != part.file and is_copy(first, part):
            out.append(part)
            copies[part.file] = f"a copy of {first.file}, with the same answers, which counts once"
    once, more = _without(found, out, copies)
    return once, [*left_out, *more]


def _without(found: RunSet, out: Sequence[Slice], why: Mapping[str, str]) -> tuple[RunSet, list[UnreadSet]]:
    if not out:
        return found, []
    kept = tuple(part for part in found.slices if not any(part is other for other in out))
    runs = {(part.collection.model, part.seed) for part in kept}
    return (
        replace(found, slices=kept, n_runs=len(runs)),
        [UnreadSet(found.model, found.dataset, found.condition, f"{file}: {said}") for file, said in why.items()],
    )


def _score(evidence: Evidence, found: RunSet, runs: Runs) -> ScoredSet:
    by = evidence.settings.data.clusters
    together = clusters_of(evidence.texts_of(found), runs.example_ids, by)
    row = measure_spread(runs, evidence.choice.align == "position", together if runs.n_runs == 1 else None)
    over_examples = row.mean_low, row.mean_high
    over_runs: tuple[float | None, float | None] = (None, None)
    if runs.n_runs > 1:
        over_runs = over_examples
        several = together if together is not None and np.unique(together).size > 1 else None
        drawn = resample_scores(
            runs.weighed, "examples", clusters=several, n_draws=N_DRAWS, seed=evidence.settings.seed
        ).mean
        # Student's interval of a few examples goes beyond what a score can be.
        over_examples = max(drawn.low, 0.0), min(drawn.high, 1.0)
    return ScoredSet(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        n_runs=runs.n_runs,
        n_examples=runs.n_examples,
        n_asked=runs.n_examples,
        n_scored=int(runs.scored.sum()),
        scored_only=None if runs.scored.all() else scored_only(runs),
        mean=row.mean,
        examples_low=over_examples[0],
        examples_high=over_examples[1],
        runs_low=None if runs.dealt else over_runs[0],
        runs_high=None if runs.dealt else over_runs[1],
        sd=None if runs.dealt else row.sd,
        grades=runs.grades,
        weighted_by=runs.weighted_by,
        unweighted=row.unweighted,
        notes=(
            *describe_scores(runs),
            *describe_misplaced(runs.model, runs.dataset, row.mean, row),
            *(
                [describe_contradicted(runs.model, runs.dataset, runs.contradicted, runs.n_examples)]
                if runs.contradicted
                else []
            ),
        ),
    )


def _compare(
    paths: Sequence[str], read: Sequence[Runs], evidence: Evidence, is_part: bool
) -> tuple[ModelComparisons | SuiteComparison | None, str]:
    """The comparison, or why there is none: one model, or no dataset that all answered."""
    with temporary_folder() as folder:
        places: Sequence[str] = paths
        choice = evidence.choice
        if is_part:
            # What could be read is written down and compared from there: one file a run, as `runs import` does.
            for number, runs in enumerate(read):
                write_runs(runs, folder / str(number))
            gold = {name: each for name, each in choice.gold.items() if not _holds_answers(each)}
            places = [str(folder)]
            kept = {role: name for role, name in choice.columns.items() if role in ASIDE}
            choice = replace(choice, format="auto", columns=kept, labels=None, grades=None, gold=gold)
        names = sorted({runs.model for runs in read}) if len(places) > 1 else ()
        if len({runs.model for runs in read}) < 2:
            return None, f"the runs are all of one model, {read[0].model}"
        try:
            _, compared = study_comparison(
                list(places), choice, models=names, named=(None, None), clusters=None, matched=False,
                method="normal", equivalent_within=None, settings=evidence.settings, quiet=True,
            )  # fmt: skip
        except InputError as error:
            if error.file is None or str(folder) in str(error.file):
                return None, "; ".join(each for each in (error.problem, error.mend) if each)
            return None, str(error)
    return compared, ""


def _holds_answers(gold: str | Dataset) -> bool:
    """Whether it scores texts, which is done by now, and the store has scores alone."""
    return isinstance(gold, str) and read_answers(Path(gold)) is not None
