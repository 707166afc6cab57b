"""Judges held against people: scores of all items corrected by those that people scored, and what follows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count, decimal, percent, points
from goldassay.core.results import Headline, Verdict, frame_of_records
from goldassay.core.sections import Finding
from goldassay.data.fields import value_codes
from goldassay.questions.example_clusters import AUTO, NONE, named_columns
from goldassay.questions.judgments.doubts import (
    LEAST_LABELLED,
    MOST_PAIRS,
    PAIR,
    labelled_pairs,
    listed,
    name_of_pair,
    score_doubts,
    spans_of,
)
from goldassay.questions.judgments.people import (
    LEVEL,
    NOT_AS_GIVEN,
    NOT_RANDOM,
    ONE_SCORE,
    SHARES,
    Corrected,
    correct_by_people,
    no_estimate,
    replaces_annotators,
    scale_of,
)
from goldassay.questions.judgments.result import JudgmentsResult
from goldassay.stats.clusters import cluster_rows
from goldassay.stats.effects import BIAS, LEAST_CLUSTERS, Effect, Effects
from goldassay.stats.intervals import t_quantile
from goldassay.stats.verdicts import Doubt, judge_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.settings import JudgmentLimits, Settings
    from goldassay.data.kinds.judged_scores import JudgedScores
    from goldassay.questions.judgments.people import AnnotatorTest

TOO_HIGH, TOO_LOW = "scores that are too high", "scores that are too low"
# Of what a judge is off.
MEAN_SCORE, WIN_RATE = "mean score", "win rate"
_NO_LABEL = "people scored no row of "
# What settles it, by the reason why nothing was measured.
_MENDS = {
    ONE_SCORE: "Write the scores as shares from 0 to 1, or audit rows with more than one score.",
    NOT_RANDOM: "Have people score rows drawn at random, or give the probabilities in a column sampling_probability.",
    NOT_AS_GIVEN: "Write the probability with which each row was really drawn into sampling_probability; if it is "
    "unknown, have people score rows drawn at random.",
}


def measure_scores(judged: JudgedScores, settings: Settings, steps: Steps) -> Finding:
    """Correct the mean scores of each judge by people, and say how far off it is.

    Args:
        judged: All of a file.
        settings: Hold the limits and the clusters.
        steps: What was done, and when.

    Raises:
        InputError: A column of clusters is not there.
    """
    scale = scale_of(judged.rows["score"].to_numpy(), judged.annotators)
    with steps.step("comparing with people"):
        clusters, taken = _clusters(judged, settings.data.clusters)
        corrected = _corrected(judged, clusters, scale)
        if (spans := spans_of(judged)).differ:
            corrected = tuple(
                replace(each, reason=each.reason or spans.said, low=math.nan, high=math.nan, bias_low=math.nan,
                        bias_high=math.nan)
                for each in corrected
            )  # fmt: skip
    with steps.step("testing whether the judge can replace annotators"):
        judges = judged.rows["judge"].to_numpy()
        replaces = tuple(
            replaces_annotators(
                str(name), judged.rows["score"].to_numpy()[judges == name], judged.annotators[:, judges == name],
                graded=judged.graded,
            )
            for name in dict.fromkeys(judges.tolist())
        )  # fmt: skip
    limits = settings.verdicts.judgments
    effects = bias_effects(corrected, scale, limits)
    drawn = judged.rows["probability"].null_count() == 0 or judged.rows["people"].null_count() == 0
    doubts = score_doubts(judged, clusters, corrected, scale, limits, drawn=drawn)
    verdict = judge_corrected(corrected, effects, scale, doubts, limits, replaces)
    if spans.differ:
        verdict = replace(verdict, next_step=spans.mend)
    lacking = dict.fromkeys(each.lacking for each in replaces if each.lacking)
    result = JudgmentsResult(
        results=(),
        effects=effects,
        agreement=(),
        models=(),
        remarks=(*judged.decisions, *filter(None, [taken]), *(f"{_CANNOT_TEST} {each}." for each in lacking)),
        n_judgments=len(judged),
        corrected=corrected,
        replaces=replaces,
        scale=scale,
        drawn=drawn,
    )
    tables = {
        "corrected_scores": frame_of_records(corrected),
        "judgment_problems": judged.problems,
        "judged_items": judged.rows.drop("at"),
    }
    return Finding("judgments", verdict, tables=tables, result=result)


_CANNOT_TEST = "Whether the judge can replace an annotator is not tested: that takes"


def _clusters(judged: JudgedScores, by: str) -> tuple[NDArray[np.int64], str]:
    """Codes of rows that depend on each other, and what was taken."""
    names = () if by in (AUTO, NONE) else named_columns(by)
    if missing := [name for name in names if name not in judged.frame.columns]:
        raise InputError(
            f"{option('clusters')}: there is no column {missing[0]!r}", file=judged.source,
            mend=f"the columns are {', '.join(map(repr, judged.frame.columns))}",
        )  # fmt: skip
    columns = {name: value_codes(judged.frame[name]) for name in names}
    if by == AUTO and judged.has_items and judged.rows["item"].n_unique() > 1:
        columns = {"item": value_codes(judged.rows["item"])}
    elif by in (AUTO, NONE):
        # The scores of several judges on one row of the file depend on each other.
        columns = {"row": judged.rows["row"].to_numpy()}
    found = cluster_rows(columns, len(judged), chosen=True)
    return found.codes, found.taken if found.codes_if_any is not None and columns.keys() != {"row"} else ""


def _corrected(judged: JudgedScores, clusters: NDArray[np.int64], scale: tuple[float, float]) -> tuple[Corrected, ...]:
    """By judge, and where there are several systems by system, too; of all only where people scored each system."""
    found = []
    rows = judged.rows.with_columns(cluster=clusters)
    for (judge,), own in rows.group_by("judge", maintain_order=True):
        n_labelled = own.group_by("system", maintain_order=True).agg(n=pl.col("people").count())
        without = [each for each, n in n_labelled.iter_rows() if not n]
        for system in ("", *n_labelled["system"]) if len(n_labelled) > 1 else ("",):
            of_system = own.filter(pl.col("system") == system) if system else own
            lacking = [each for each in without if system in ("", each)]
            one = (
                no_estimate(of_system["score"], of_system["people"].count(), f"{_NO_LABEL}{listed(lacking) or judge}")
                if lacking else correct_rows(of_system, scale)
            )  # fmt: skip
            found.append(replace(one, judge=str(judge), of=system))
    return tuple(found)


def correct_pairs(rows: pl.DataFrame) -> tuple[Corrected, ...]:
    """The win rates of each judge, corrected by people; by pair of systems where these have names.

    Of judges that are taken as one the interval is the wider of those over items and over judges.

    Args:
        rows: Columns item, judge, a, b, win, people and, if known, probability, as of `Judgments.rows`; and member, of
            `pool_judges`, if any.
    """
    rows = rows if "member" in rows.columns else rows.with_columns(member="judge")
    probability = [pl.col("probability").mean()] if "probability" in rows.columns else []
    both = rows.group_by(*PAIR, "member", "item", maintain_order=True).agg(
        pl.col("people").mean(), *probability, score=pl.col("win").mean()
    )
    both = both.with_columns(pl.col("item", "member").rank("dense").cast(pl.Int64) - 1)
    found = []
    most = labelled_pairs(rows).filter(pl.col("n") >= LEAST_LABELLED)
    for judge, a, b, _ in most.head(MOST_PAIRS).iter_rows():
        own = both.filter(judge=judge).filter(pl.col("a").eq_missing(a), pl.col("b").eq_missing(b))
        by = ["item", "member"] if own["member"].n_unique() > 1 else ["item"]
        several = [correct_rows(own.with_columns(cluster=each), SHARES) for each in by]
        one = max(several, key=lambda each: (bool(each.reason), each.bias_high - each.bias_low))
        found.append(replace(one, judge=judge, of=name_of_pair(a, b)))
    return tuple(found)


def correct_rows(rows: pl.DataFrame, scale: tuple[float, float] | None = None) -> Corrected:
    """`correct_by_people` of columns score, people, cluster and, where it is known, probability."""
    known = "probability" in rows.columns and rows["probability"].null_count() == 0
    return correct_by_people(
        rows["score"].to_numpy(), rows["people"].to_numpy(), rows["cluster"].to_numpy(),
        rows["probability"].to_numpy() if known else None, scale,
    )  # fmt: skip


def bias_effects(corrected: Sequence[Corrected], scale: tuple[float, float], limits: JudgmentLimits) -> Effects:
    """How far each judge's mean is too high, and too low, as shares of the scale; lower ends are Bonferroni's.

    Args:
        corrected: By judge and part.
        scale: The least and the largest score.
        limits: Of the verdict.
    """
    span, effects = (scale[1] - scale[0]) or math.nan, []
    for each in corrected:
        wide = t_quantile(each.df, 1 - (1 - LEVEL) / len(corrected)) if not each.reason else math.nan
        reach = wide * each.bias_error
        for word, sign in ((TOO_HIGH, 1), (TOO_LOW, -1)):
            ends = sorted((sign * each.bias_low, sign * each.bias_high))
            low, ordinary, high, error = (
                value / span for value in (min(sign * each.bias - reach, ends[0]), ends[0], ends[1], each.bias_error)
            )
            part = _named(each)
            effects.append(
                Effect(part, word, BIAS, sign * each.bias / span, low, high, ordinary, error,
                       limits.caution, limits.unsound, each.reason)
            )  # fmt: skip
    known = [each for each in corrected if not each.reason] or corrected
    fewest = min((each.df + 1 for each in known), default=math.nan)
    n, n_clusters = (min((getattr(each, name) for each in known), default=0) for name in ("n_labelled", "n_clusters"))
    return Effects(tuple(effects), n, n_clusters, fewest, math.nan, ())


def _named(each: Corrected) -> str:
    return f"{each.judge} on {each.of}" if each.of else each.judge


def amount(value: float, scale: tuple[float, float]) -> str:
    """A score: a percentage, or a grade."""
    return percent(value) if scale == SHARES else decimal(value)


def describe_corrected(each: Corrected, scale: tuple[float, float], what: str = MEAN_SCORE) -> str:
    """What people would score, or score, in a sentence."""
    judged = f"{_named(each)} gives {amount(each.judge_mean, scale)} on average"
    if what != MEAN_SCORE:
        judged = f"{each.judge} gives {each.of} a {what} of {amount(each.judge_mean, scale)}"
    if each.reason:
        return f"{judged}; no interval for people's mean is valid: {each.reason}."
    ends = f"{amount(each.low, scale)} to {amount(each.high, scale)}"
    would = "would give" if each.n_labelled < each.n_rows else "give"
    return f"{judged}; people {would} {amount(each.value, scale)} ({ends})."


def judge_corrected(
    corrected: Sequence[Corrected],
    effects: Effects,
    scale: tuple[float, float],
    doubts: Sequence[Doubt],
    limits: JudgmentLimits,
    replaces: Sequence[AnnotatorTest] = (),
    what: str = MEAN_SCORE,
) -> Verdict:
    """By the judge whose mean is furthest from people's.

    Args:
        corrected: By judge and part.
        effects: Of these, as of `bias_effects`.
        scale: The least and the largest score.
        doubts: What forbids the word sound; without effects why there are none.
        limits: When to say caution or unsound.
        replaces: Whether each judge can replace an annotator.
        what: Of which it is the mean.
    """
    tested = tuple(describe_test(each) for each in replaces if not each.lacking)
    rule = (
        f"By how far a judge's {what} is from people's, as a share of the scale: unsound if the lower end is at "
        f"least {percent(limits.unsound)}, caution if at least {percent(limits.caution)}. Lower ends hold for all "
        f"judges and systems at once. Sound if every upper end is below {percent(limits.unsound)}, people's rows were "
        f"drawn with known probabilities, and they form {LEAST_CLUSTERS} clusters; else unresolved."
    )
    if not any(each.measurable for each in effects.effects):
        reasons = dict.fromkeys(each.reason for each in effects.effects)
        said, mend = f"No interval is valid: {'; '.join(reasons)}.", _mend(next(iter(reasons), ""))
        if not reasons:
            said, mend = doubts[0].why, doubts[0].mend
        return Verdict("not measurable", said, None, mend, rule, notes=(*tested, *(each.why for each in doubts)))
    by_reason: dict[str, list[str]] = {}
    for each in effects.effects:
        if each.reason and each.part not in (parts := by_reason.setdefault(each.reason, [])):
            parts.append(each.part)
    lacking = [
        Doubt(f"Nothing could be measured of {listed(parts)}: {reason}.", _mend(reason))
        for reason, parts in by_reason.items()
    ]
    doubts = [*lacking, *doubts]
    judged = judge_effects(replace(effects, effects=tuple(e for e in effects.effects if e.measurable)), doubts)
    decisive = judged.decisive
    assert decisive is not None
    of = next(each for each in corrected if _named(each) == decisive.part)
    sign = 1 if of.bias >= 0 else -1
    shown = points if scale == SHARES else decimal
    low, high = sorted((sign * of.bias_low, sign * of.bias_high))
    off = f"{shown(abs(of.bias))}{' points' if scale == SHARES else ''} too {'high' if sign > 0 else 'low'}"
    evidence = f"The {what} of {decisive.part} is {off} ({shown(low)} to {shown(high)})."
    if judged.word == "sound":
        evidence = f"The {what} of {decisive.part} is at most {percent(judged.at_most)} of the scale off people's."
    next_step = {
        "sound": f"Report the corrected {_corrected_what(what)} with its interval.",
        "caution": f"Report the corrected {_corrected_what(what)} with its interval, not the judge's {_short(what)}.",
        "unsound": f"Do not report this judge's {_short(what)}; report the corrected {_corrected_what(what)} with its "
        "interval.",
    }.get(judged.word, judged.mend)
    if of.n_more and judged.word != "sound":
        tested = (*tested, f"About {count(of.n_more)} more labels would halve the interval.")
    span = scale[1] - scale[0]
    ends = (of.bias / span, of.bias_low / span, of.bias_high / span)
    of_scale = "" if scale == SHARES else ", share of the scale"
    headline = Headline(f"bias of {decisive.part}{of_scale}", *ends, "share" if of_scale else "points")
    notes = (describe_corrected(of, scale, what), *(each.why for each in judged.doubts), *tested)
    if judged.word in ("caution", "unsound"):
        notes = (*notes, *(each.why for each in doubts))
    return Verdict(judged.word, evidence, headline, next_step, rule, judged.bound, notes)


def _short(what: str) -> str:
    return "mean" if what == MEAN_SCORE else what


def _corrected_what(what: str) -> str:
    return "score" if what == MEAN_SCORE else what


def _mend(reason: str) -> str:
    """What settles it where nothing was measured."""
    if reason.startswith(_NO_LABEL):
        return f"Have people score rows of {reason.removeprefix(_NO_LABEL)}, too, drawn at random."
    return _MENDS.get(reason, "Have people score more rows, drawn at random.")


def describe_test(test: AnnotatorTest) -> str:
    """What the alternative annotator test says."""
    least = f"from epsilon {test.epsilon:g} on" if test.epsilon == test.epsilon else "at any epsilon up to 0.2"
    passed = "can replace an annotator" if test.epsilon == test.epsilon else "cannot replace an annotator"
    return f"{test.judge} {passed} {least} (alternative annotator test, {test.n_annotators} annotators)."
