"""From the spread of scores over runs to a verdict, and sentences on each set of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import count, percent, points, signed_points
from goldassay.core.results import Headline, Result, Verdict, Word, not_measurable, severity
from goldassay.questions.instability.measures.power import seeds_needed, smallest_difference
from goldassay.questions.instability.measures.scores import LEAST_WRONG, FamiliesOpen
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.runs.grades import grade_of
from goldassay.stats.intervals import score_sd_interval, sd_interval
from goldassay.stats.verdicts import judge_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import InstabilityLimits
    from goldassay.questions.instability.result import ExampleSpread, Grouping, RunScores, Selection

# Conditions under which a model sees all of its input.
WHOLE = (PAIRED, TEXT)
# Fewer runs are never called steady.
LEAST_RUNS = 5
# Share of the examples with another right label in the runs' own files from which on a score is of unknown labels.
MOST_CONTRADICTED = 0.01
# Scores of single runs that the evidence names; the others stand in the table.
_MOST_SCORES = 3
# More runs than these are no plan.
MOST_RUNS = 10_000
# A difference of one point is what papers commonly report as progress.
DIFFERENCE = 0.01
# A group is named if it accounts for at least this share of the variance.
DOMINANT = 0.2


@dataclass(frozen=True)
class Spread(Result):
    """What `judge_instability` needs to know of one model on one dataset."""

    name: str
    n_runs: int
    n_examples: int
    sd: float
    sd_low: float
    sd_high: float
    design_effect: float
    effective_size: float
    design_effect_low: float = math.nan
    design_effect_high: float = math.nan
    score: float = math.nan
    constant: str | None = None
    constant_score: float = 0.0
    above_constant_low: float = math.nan
    examples_to_exceed: int | None = None
    n_distinct: int | None = None
    families_open: FamiliesOpen = ""
    contradicted: int = 0
    graded: bool = False
    grades: tuple[float, float] | None = None

    @property
    def distinct(self) -> int:
        """How many trainings the runs come from; the others may be copies or checkpoints of these."""
        return self.n_runs if self.n_distinct is None else self.n_distinct

    @property
    def right_labels(self) -> bool:
        """Whether the runs' own right labels, if they have any, are nearly all those that they were scored by."""
        return self.contradicted <= MOST_CONTRADICTED * self.n_examples


def judge(results: Sequence[RunScores], limits: InstabilityLimits) -> Verdict:
    """The verdict on sets of runs: of the whole input, which is what a reported model sees.

    Models of a part of the input are listed and never decide.
    """
    whole = [row for row in results if row.condition in WHOLE]
    if not whole:
        shown = ", ".join(dict.fromkeys(row.condition for row in results))
        return not_measurable(
            f"No runs of the whole input were given, only of {shown}: such models are not reported.",
            "Give the predictions of at least 5 seeds of a model of the whole input.",
        )
    spreads = [spread_of(row) for row in whole if row.n_runs > 1]
    if not spreads:
        alone = not_measurable(
            f"Only one run of each model was given: a spread needs at least two, better ten.{_scores_of_one(whole)}",
            "Give the predictions of at least 5 seeds with --runs PATH.",
        )
        return _with_labels(alone, whole)
    verdict = _with_labels(judge_instability(spreads, limits), whole)
    single = [_name_of(row) for row in whole if row.n_runs < 2]
    if single:
        # Nothing bounds the spread of a model of one run.
        verdict = replace(verdict, at_most=None)
    if not single or severity(verdict.verdict) > severity("unresolved"):
        return verdict
    return replace(
        verdict,
        verdict="unresolved",
        notes=(*verdict.notes, f"Only one run was given of {', '.join(single)}: a spread needs at least two."),
        next_step=f"Give the predictions of at least 5 seeds of {', '.join(single)}.",
    )


def _with_labels(verdict: Verdict, rows: Sequence[RunScores]) -> Verdict:
    """The verdict, whose evidence says by what labels scores were read where that is no matter of course."""
    said = [row.labels_read for row in rows if row.labels_read]
    more = f" The caveats say the same of {len(said) - 1} more models." if len(said) > 1 else ""
    return replace(verdict, evidence=f"{verdict.evidence} {said[0]}{more}") if said else verdict


def _scores_of_one(rows: Sequence[RunScores]) -> str:
    """What single runs score, as long as these are few."""
    shown = [row for row in rows if row.mean_low is not None]
    if len(shown) > _MOST_SCORES:
        return " The table has each score."
    said = [
        f" {_name_of(row)} scores {points(row.mean, 2)} points, {points(row.mean_low, 2)} to "
        f"{points(row.mean_high, 2)} on other examples of the kind."
        + (f" {_on_grades(row.mean, row.grades)}" if row.grades else "")
        for row in shown
    ]
    return "".join(said)


def _on_grades(mean: float, grades: Sequence[float]) -> str:
    low, high = grades
    return f"The mean grade is {grade_of(mean, grades)} on {low:g} to {high:g}, of which a point is a hundredth."


def flips_together(low: float, high: float) -> bool | None:
    """Whether examples flip together, by the interval of their design effect; None where it leaves that open."""
    if low > 1:
        return True
    return False if high < 2 else None


def judge_instability(spreads: Sequence[Spread], limits: InstabilityLimits) -> Verdict:
    """Judge whether the score would come out the same with another seed, by the least stable of the results.

    A standard deviation of one point over seeds makes a difference of two points a matter of luck; a large design
    effect says that the examples do not count as independent ones. Intervals alone decide, so that two runs that happen
    to agree are not taken for a steady score. Fewer than `LEAST_RUNS` runs are never sound, nor is a model that may
    know nothing: one that always gives the same answer is steady, too. Runs that score every example alike may be one
    run several times: the upper end is that of as many runs as differ.
    """
    worst = least_stable(spreads, limits)
    word = _word_of(worst, limits)
    notes = [_on_grades(worst.score, worst.grades)] if worst.grades is not None else []
    if worst.sd == 0 and worst.n_examples:
        notes.append(f"Equal scores may hide a true SD of up to {100 * _highest(worst):.2f} points.")
    if worst.n_runs < LEAST_RUNS:
        notes.append(f"An SD from {worst.n_runs} runs is hardly known.")
    if worst.distinct < worst.n_runs or worst.families_open:
        notes.append(_copies(worst))
    if worst.contradicted:
        notes.append(
            f"The right labels in the runs' own files differ from those given in {worst.contradicted:,} of "
            f"{worst.n_examples:,} examples; those given count."
        )
    if not worst.above_constant_low > 0:
        notes.append(_no_skill(worst))
    if word == "sound":
        notes.append(
            f"None of {worst.distinct} runs failed, but up to {percent(highest_failure_rate(worst.distinct), 0)} of "
            "all runs may fail."
        )
    groups = flips_together(worst.design_effect_low, worst.design_effect_high)
    if groups is not None and math.isfinite(worst.effective_size):
        notes.append(_design_effect(worst) if groups else "The examples show no tendency to flip together.")
    next_step = {
        "sound": "Report the mean and standard deviation over seeds as here.",
        "caution": "Report the mean and SD over at least 5 seeds, and no difference smaller than their noise.",
        "unresolved": _settle(worst, limits),
        "unsound": "Do not compare models by single runs here: report means over many runs"
        + (", and find the groups of examples that flip together." if groups else "."),
    }[word]
    rule = (
        f"By the SD over runs of the least stable model of the whole input: unsound if the lower end of its interval "
        f"is at least {100 * limits.unsound_sd:.2f} points, caution if at least {100 * limits.caution_sd:.2f} or the "
        f"lower end of the design effect is at least {limits.caution_design_effect:g}, sound if the upper end is below "
        f"{100 * limits.unsound_sd:.2f} in at least {LEAST_RUNS} runs that score significantly more than a constant "
        "answer, else unresolved."
    )
    headline = Headline("SD of the score over runs", worst.sd, worst.sd_low, worst.sd_high, "points")
    # A model that knows nothing is steady, too: its spread bounds nothing.
    bounded = all(each.above_constant_low > 0 and each.right_labels for each in spreads)
    at_most = max(map(_highest, spreads)) if bounded else None
    return Verdict(
        word, _headline(worst, limits, named=len(spreads) > 1), headline, next_step, rule, at_most, tuple(notes)
    )


def _headline(worst: Spread, limits: InstabilityLimits, *, named: bool) -> str:
    """What another seed does to the score, or how few independent examples there are where that decides."""
    word = _word_of(worst, limits)
    of = f" of {worst.name}" if named else ""
    if word == "caution" and worst.sd_low < limits.caution_sd:
        return _design_effect(worst, of)
    said = (
        f"Another seed moves the score{of} by {100 * worst.sd:.2f} points (SD; {100 * worst.sd_low:.2f} to "
        f"{100 * worst.sd_high:.2f})"
    )
    return f"{said}: ordinary spread only." if word == "sound" else f"{said}."


def _design_effect(spread: Spread, of: str = "") -> str:
    return (
        f"The {spread.n_examples:,} examples{of} vary like {max(1, round(spread.effective_size)):,} independent ones "
        f"(design effect {spread.design_effect:.1f}; {spread.design_effect_low:.1f} to "
        f"{spread.design_effect_high:.1f})."
    )


def least_stable(spreads: Sequence[Spread], limits: InstabilityLimits) -> Spread:
    """The result that decides: that of the most severe word, then of the largest spread."""
    return max(spreads, key=lambda spread: (severity(_word_of(spread, limits)), spread.sd))


def judged_name(results: Sequence[RunScores], limits: InstabilityLimits) -> str | None:
    """Name of the set that the evidence of the verdict is about; None for none."""
    spreads = [spread_of(row) for row in results if row.condition in WHOLE and row.n_runs > 1]
    return least_stable(spreads, limits).name if spreads else None


def highest_failure_rate(n_runs: int) -> float:
    """Upper end (one-sided 95 %) of the share of runs that fail, where none of `n_runs` did: 1 - .05^(1/R).

    Source: Clopper and Pearson 1934.
    """
    return float(1 - 0.05 ** (1 / n_runs))


def runs_to_settle(spread: Spread, limits: InstabilityLimits) -> int | None:
    """How many runs decide if the standard deviation stays as it is; None if no number up to 10,000 does."""
    sd = spread.sd if spread.sd > 0 or spread.n_examples == 0 else 1 / spread.n_examples
    low, high = LEAST_RUNS, MOST_RUNS

    def decides(n_runs: int) -> bool:
        interval = sd_interval(sd, n_runs)
        word = judge_interval(interval.low, interval.high, limits.caution_sd, limits.unsound_sd)
        return word != "unresolved"

    # Intervals shrink with every run: what decides once decides with more.
    if not decides(high):
        return None
    while high > low:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle + 1, high)
    return high


def _word_of(spread: Spread, limits: InstabilityLimits) -> Word:
    word = judge_interval(spread.sd_low, _highest(spread), limits.caution_sd, limits.unsound_sd)
    if word in ("unsound", "caution"):
        return word
    if spread.design_effect_low >= limits.caution_design_effect:
        return "caution"
    counted = spread.distinct >= LEAST_RUNS and not spread.families_open
    trusted = counted and spread.above_constant_low > 0 and spread.right_labels
    return word if trusted else "unresolved"


def _no_skill(spread: Spread) -> str:
    if math.isnan(spread.above_constant_low):
        return "Nothing shows that the model knows anything."
    score = f"The score of {100 * spread.score:.1f} points"
    if spread.constant is None:
        return f"{score} is not significantly above 0: the model may know nothing."
    return (
        f"{score} is not significantly above the {100 * spread.constant_score:.1f} of always answering "
        f"“{spread.constant}”: the model may know nothing."
    )


def _settle(spread: Spread, limits: InstabilityLimits) -> str:
    """How many runs or examples would settle it."""
    steps = []
    if spread.families_open and spread.distinct > 1:
        steps.append("State the seeds: in a column `seed`, or in the names of columns or files, as in `seed_3`.")
    elif spread.distinct < spread.n_runs:
        steps.append("Check that these are runs of different seeds, and that the seed changes something.")
    if not spread.right_labels:
        steps.append("Give the right labels that belong to these runs, or leave the labels out of the runs' files.")
    interval_open = judge_interval(spread.sd_low, _highest(spread), limits.caution_sd, limits.unsound_sd)
    # With the seeds stated the interval may decide.
    if (interval_open == "unresolved" and not spread.families_open) or spread.n_runs < LEAST_RUNS:
        needed = runs_to_settle(spread, limits)
        shown = f"{100 * spread.sd:.2f} points"
        if spread.sd == 0 and spread.n_examples:
            shown = f"0 (counted as one example, {100 / spread.n_examples:.2f} points)"
        # Copies do not count: as many as differ are needed, however many there are.
        what = "runs in all" if spread.distinct == spread.n_runs else "runs that differ from each other"
        steps.append(
            f"Give {needed:,} {what}: they settle it if the SD stays at {shown}."
            if needed is not None
            else f"Give more runs: an SD of {shown} lies too near a limit for any number that could be had."
        )
    if not spread.above_constant_low > 0:
        steps.append(
            f"Give {spread.examples_to_exceed:,} examples: they show that the score exceeds the constant if it stays "
            "as it is."
            if spread.examples_to_exceed is not None
            else "Check that the right labels belong to these rows, and that the model was trained: more runs do not "
            "help a score that is no better than a constant answer."
        )
    return " ".join(steps)


def spread_of(row: RunScores) -> Spread:
    """What the verdict needs of the scores of several runs."""
    return Spread(
        name=_name_of(row),
        n_runs=row.n_runs,
        n_examples=row.n_examples or 0,
        sd=_known(row.sd),
        sd_low=_known(row.sd_low),
        sd_high=_known(row.sd_high),
        design_effect=_known(row.design_effect),
        effective_size=_known(row.effective_size),
        design_effect_low=_known(row.design_effect_low),
        design_effect_high=_known(row.design_effect_high),
        score=row.mean,
        constant=row.constant,
        constant_score=row.constant_score or 0.0,
        above_constant_low=row.above_constant_low,
        examples_to_exceed=row.examples_to_exceed,
        n_distinct=row.n_distinct,
        families_open=row.families_open,
        contradicted=row.contradicted,
        graded=bool(row.graded),
        grades=row.grades,
    )


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _name_of(row: RunScores) -> str:
    return row.name or f"{row.model} on {row.dataset}"


def _highest(spread: Spread) -> float:
    """The upper end of the SD's interval.

    Of equal scores that would be 0: they may lie one example's worth apart unseen.
    """
    if spread.sd > 0 or spread.n_examples == 0:
        return spread.sd_high
    count = 2 if spread.families_open else max(spread.distinct, 2)
    return score_sd_interval(1 / spread.n_examples, count).high


def _copies(spread: Spread) -> str:
    if spread.distinct == 1:
        alike = "every example" if spread.sd == 0 else "nearly every example"
        return f"All runs score {alike} alike: they may be copies of one run."
    if spread.families_open == "few wrong":
        return (
            f"Some run has fewer than {LEAST_WRONG} items wrong: too few to tell other seeds from checkpoints of one."
        )
    if spread.families_open == "unstated":
        return "The runs state no seed, so they may be checkpoints of fewer trainings."
    if spread.families_open:
        return "Runs are nearly as alike as checkpoints of one training are, and state no seed."
    return (
        f"Only {spread.distinct} of the {spread.n_runs} runs differ as runs of other seeds do: the others may be "
        "copies or checkpoints of them, and do not count."
    )


def describe_set(
    row: RunScores,
    groups: Sequence[Grouping],
    examples: ExampleSpread | None,
    name: str,
    *,
    judged: bool = False,
) -> list[str]:
    """Sentences on one set of runs.

    Args:
        row: Its scores.
        groups: By each group column.
        examples: Its single examples.
        name: What to call it: the dataset, with the model where there are several.
        judged: The evidence of the verdict is about this set: what it says already is not said again.
    """
    unanswered = _unanswered(row, name)
    if row.n_runs < 2:
        return [f"{name}: {_one_run(row)}, so nothing can be said of its spread.", *unanswered]
    sentences = [_size(row, groups, name, judged=judged)]
    if examples is not None:
        sentences.append(_stability(examples, name, graded=bool(row.graded)))
    sentences += [_seeds(row, name), *unanswered]
    return [sentence for sentence in sentences if sentence]


def _unanswered(row: RunScores, name: str) -> list[str]:
    """What leaving questions unanswered by their no-answer probability would have given at best."""
    if row.best_f1 is None:
        return []
    at = f" (above {row.best_f1_threshold:.4g})" if row.best_f1_threshold is not None else ""
    return [
        f"{name}: F1 is {points(row.best_f1, 2)} points where questions are left unanswered from the best "
        f"no-answer probability on{at}, and exact match {points(row.best_exact, 2)}; both were chosen on these "
        "questions, and are upper bounds."
    ]


def _one_run(row: RunScores) -> str:
    if row.mean_low is None:
        return "one run"
    of = f"{count(row.n_examples)}{f' of {count(row.n_asked)}' if row.n_asked else ''} examples"
    if row.n_clusters != row.n_examples:
        of += f" in {count(row.n_clusters)} clusters"
    return (
        f"one run scores {points(row.mean, 2)} points on {of}, and {points(row.mean_low, 2)} to "
        f"{points(row.mean_high, 2)} on others of the kind"
    )


def _size(row: RunScores, groups: Sequence[Grouping], name: str, *, judged: bool) -> str:
    effective, n = _known(row.effective_size), count(row.n_examples)
    if math.isnan(effective):
        return f"All runs score every one of the {n} {name} examples alike."
    if math.isinf(effective):
        return f"Single {name} examples change from run to run, and their changes cancel out exactly."
    together = flips_together(_known(row.design_effect_low), _known(row.design_effect_high))
    if together:
        size = max(1, round(effective))
        ones = "one" if size == 1 else "ones"
        sentence = f"{n} {name} examples carry as much information as {size:,} independent {ones}"
    elif together is None:
        sentence = f"{row.n_runs} runs leave open whether the {n} {name} examples flip together"
    else:
        sentence = f"The {n} {name} examples vary about as much as so many independent ones would"
    causes = [cause for grouping in groups if (cause := _cause(grouping, _known(row.total)))]
    if judged:
        return f"On {name} {'; '.join(causes)}." if causes else ""
    return "; ".join([sentence, *causes]) + "."


def _cause(grouping: Grouping, total: float) -> str:
    share = grouping.between / total if total > 0 else math.nan
    several = plural(grouping.column)
    if math.isnan(share):
        return ""
    if share < 0:
        return f"the {several} offset each other in part"
    return f"{100 * share:.0f} % of the variance is between {several}{_largest(grouping)}"


def _largest(grouping: Grouping) -> str:
    """The group that accounts for much more of the variance than its size lets expect."""
    rows = grouping.rows
    top = max(rows, key=lambda row: row.share_of_variance)
    expected = top.n_examples / sum(row.n_examples for row in rows)
    if len(rows) < 3 or top.share_of_variance < max(DOMINANT, 3 * expected):
        return ""
    return f", and {100 * top.share_of_variance:.0f} % comes from {top.group} alone"


def describe_selection(row: Selection, reference: str) -> str:
    """What choosing the checkpoint on the analysis set itself would have changed."""
    if row.reason:
        return ""
    return (
        f"Choosing the checkpoint on four fifths of {row.name} instead of on {reference} moves the mean score on the "
        f"rest by {signed_points(row.gain, 1)} points ({signed_points(row.gain_low, 1)} to "
        f"{signed_points(row.gain_high, 1)}), to {points(row.analysis_mean)}."
    )


def _stability(examples: ExampleSpread, name: str, *, graded: bool) -> str:
    n = examples.n_examples
    varying = n - examples.n_constant
    right, wrong = ("have the full score", "have none") if graded else ("are right", "wrong")
    return (
        f"Of the {name} examples {examples.n_always_right:,} {right} in all {examples.n_runs} runs, "
        f"{examples.n_always_wrong:,} {wrong} in all; {varying:,} ({100 * varying / n:.1f} %) depend on the run."
    )


def _seeds(row: RunScores, name: str) -> str:
    sd, runs = _known(row.sd), row.n_runs
    if sd == 0:
        return ""
    least = float(f"{100 * smallest_difference(sd, runs):.2g}")
    sentence = (
        f"With {runs} runs of each of two such models, a true difference of {least:g} points on these {name} "
        "examples is found four times out of five"
    )
    needed = seeds_needed(sd, DIFFERENCE)
    if needed is None or needed <= runs:
        return f"{sentence}."
    low, high = (seeds_needed(_known(end), DIFFERENCE) for end in (row.sd_low, row.sd_high))
    return f"{sentence}; one of 1 point takes {needed:,} runs of each ({low:,} to {high:,}, for the SD is uncertain)."


def plural(column: str) -> str:
    """A group column's name in the plural, where it is a plain word."""
    word = column.replace("_", " ")
    if not word.replace(" ", "").isalpha():
        return f"groups by {column}"
    if word.endswith("s"):
        return word if not word.endswith("ss") else f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
