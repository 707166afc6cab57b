"""Judges held against people: scores of all items corrected by those that people scored, and what follows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count, decimal, percent, points
from goldassay.core.results import Headline, Verdict, frame_of_records
from goldassay.core.sections import Finding
from goldassay.data.fields import value_codes
from goldassay.questions.example_clusters import AUTO, NONE, named_columns
from goldassay.questions.judgments.people import (
    LEVEL,
    SHARES,
    Corrected,
    correct_by_people,
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

    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.settings import JudgmentLimits, Settings
    from goldassay.data.kinds.judged_scores import JudgedScores
    from goldassay.questions.judgments.people import AnnotatorTest

TOO_HIGH, TOO_LOW = "scores that are too high", "scores that are too low"
_OTHER_SCALE = "the judge and people use different scales"
_MOST_UNUSED = 0.05
_NOT_DRAWN = Doubt(
    "Nothing says how the rows that people scored were chosen; the intervals are valid only if at random.",
    "Have people score rows drawn at random, and add a column sampling_probability: for n of N rows n/N in each.",
)


def measure_scores(judged: JudgedScores, settings: Settings, steps: Steps) -> Finding:
    """Correct the mean scores of each judge by people, and say how far off it is.

    Args:
        judged: All of a file.
        settings: Hold the limits and the clusters.
        steps: What was done, and when.

    Raises:
        InputError: A column of clusters is not there.
    """
    with steps.step("comparing with people"):
        clusters, taken = _clusters(judged, settings.data.clusters)
        corrected = _corrected(judged, clusters)
    with steps.step("testing whether the judge can replace annotators"):
        judges = judged.rows["judge"].to_numpy()
        replaces = tuple(
            replaces_annotators(
                str(name), judged.rows["score"].to_numpy()[judges == name], judged.annotators[:, judges == name],
                graded=judged.graded,
            )
            for name in dict.fromkeys(judges.tolist())
        )  # fmt: skip
    scale = scale_of(judged.rows["score"].to_numpy(), judged.annotators)
    effects = _effects(corrected, scale, settings.verdicts.judgments, alike=_alike(judged))
    drawn = judged.rows["probability"].null_count() == 0
    verdict = _judge(corrected, effects, scale, _doubts(judged, drawn=drawn), replaces, settings.verdicts.judgments)
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


def _corrected(judged: JudgedScores, clusters: NDArray[np.int64]) -> tuple[Corrected, ...]:
    """By judge, and where there are several systems by system, too, where people scored any."""
    found = []
    rows = judged.rows.with_columns(cluster=clusters)
    for (judge,), own in rows.group_by("judge", maintain_order=True):
        systems = own["system"].unique(maintain_order=True).to_list()
        for system in ("", *systems) if len(systems) > 1 else ("",):
            of_system = own.filter(pl.col("system") == system) if system else own
            if of_system["people"].null_count() < of_system.height:
                found.append(replace(correct_rows(of_system), judge=str(judge), of=str(system)))
    return tuple(found)


# Pairs of systems with fewer labelled items, and further pairs, are not corrected by themselves.
_LEAST_LABELLED, _MOST_PAIRS = 30, 20


def correct_pairs(rows: pl.DataFrame) -> tuple[Corrected, ...]:
    """The win rates of each judge, corrected by people; by pair of systems where these have names.

    Args:
        rows: Columns item, judge, a, b, win, people, as of `Judgments.rows`.
    """
    key = ["judge", "a", "b"]
    both = rows.group_by(*key, "item", maintain_order=True).agg(
        score=pl.col("win").mean(), people=pl.col("people").mean()
    )
    both = both.with_columns(cluster=both["item"].rank("dense").cast(pl.Int64) - 1)
    n_labelled = both.group_by(key, maintain_order=True).agg(n=pl.col("people").count())
    most = n_labelled.filter(pl.col("n") >= _LEAST_LABELLED).sort("n", descending=True, maintain_order=True)
    found = []
    for judge, a, b, _ in most.head(_MOST_PAIRS).iter_rows():
        own = both.filter(judge=judge).filter(pl.col("a").eq_missing(a), pl.col("b").eq_missing(b))
        of = "the first response of the file" if a is None else f"{a} against {b}"
        found.append(replace(correct_rows(own), judge=judge, of=of))
    return tuple(found)


def correct_rows(rows: pl.DataFrame) -> Corrected:
    """`correct_by_people` of columns score, people, cluster and, where it is known, probability."""
    known = "probability" in rows.columns and rows["probability"].null_count() == 0
    return correct_by_people(
        rows["score"].to_numpy(), rows["people"].to_numpy(), rows["cluster"].to_numpy(),
        rows["probability"].to_numpy() if known else None,
    )  # fmt: skip


def _alike(judged: JudgedScores) -> bool:
    """Whether the judge and people use one scale, and not 1 to 10 beside yes and no, or 1 to 5."""
    people = judged.annotators[~np.isnan(judged.annotators)]
    low, high = sorted((float(judged.rows["score"].to_numpy().max()), float(people.max())))
    return not (low <= 1 < high or high >= 2 * low > 2)


def _effects(
    corrected: Sequence[Corrected], scale: tuple[float, float], limits: JudgmentLimits, *, alike: bool
) -> Effects:
    """How far each judge's mean is too high, and too low, as shares of the scale; lower ends are Bonferroni's."""
    span, effects = scale[1] - scale[0], []
    for each in corrected:
        reason = each.reason or ("" if alike else _OTHER_SCALE)
        wide = t_quantile(each.df, 1 - (1 - LEVEL) / len(corrected)) if not reason else math.nan
        reach = wide * each.bias_error
        for word, sign in ((TOO_HIGH, 1), (TOO_LOW, -1)):
            ends = sorted((sign * each.bias_low, sign * each.bias_high))
            low, ordinary, high, error = (
                value / span for value in (min(sign * each.bias - reach, ends[0]), ends[0], ends[1], each.bias_error)
            )
            part = _named(each)
            effects.append(
                Effect(part, word, BIAS, sign * each.bias / span, low, high, ordinary, error,
                       limits.caution, limits.unsound, reason)
            )  # fmt: skip
    fewest = min(each.df + 1 for each in corrected)
    n = min(each.n_labelled for each in corrected)
    return Effects(tuple(effects), n, min(each.n_clusters for each in corrected), fewest, math.nan, ())


def _named(each: Corrected) -> str:
    return f"{each.judge} on {each.of}" if each.of else each.judge


def _doubts(judged: JudgedScores, *, drawn: bool) -> list[Doubt]:
    found = [] if drawn else [_NOT_DRAWN]
    if judged.n_unused > _MOST_UNUSED * judged.n_read:
        found.append(
            Doubt(
                f"{count(judged.n_unused)} of {count(judged.n_read)} rows cannot be used: the rest may not be what "
                "they stand for.",
                "Mend the rows in the table of problems.",
            )
        )
    return found


def amount(value: float, scale: tuple[float, float]) -> str:
    """A score: a percentage, or a grade."""
    return percent(value) if scale == SHARES else decimal(value)


def describe_corrected(each: Corrected, scale: tuple[float, float]) -> str:
    """What people would score, in a sentence."""
    judged = f"{_named(each)} gives {amount(each.judge_mean, scale)} on average"
    if each.reason:
        return f"{judged}; no interval for people's mean is valid: {each.reason}."
    ends = f"{amount(each.low, scale)} to {amount(each.high, scale)}"
    return f"{judged}; people would give {amount(each.value, scale)} ({ends})."


def _judge(
    corrected: Sequence[Corrected],
    effects: Effects,
    scale: tuple[float, float],
    doubts: Sequence[Doubt],
    replaces: Sequence[AnnotatorTest],
    limits: JudgmentLimits,
) -> Verdict:
    """By the judge whose mean is furthest from people's."""
    tested = tuple(describe_test(each) for each in replaces if not each.lacking)
    rule = (
        "By how far a judge's mean score is from people's, as a share of the scale: unsound if the lower end is at "
        f"least {percent(limits.unsound)}, caution if at least {percent(limits.caution)}. Lower ends hold for all "
        f"judges and systems at once. Sound if every upper end is below {percent(limits.unsound)}, people's rows were "
        f"drawn with known probabilities, and they form {LEAST_CLUSTERS} clusters; else unresolved."
    )
    if not any(each.measurable for each in effects.effects):
        reasons = dict.fromkeys(each.reason for each in effects.effects)
        said = f"No interval is valid: {'; '.join(reasons)}."
        mend = "Have people score rows drawn at random, or give the probabilities in a column sampling_probability."
        return Verdict("not measurable", said, None, mend, rule, notes=tested)
    judged = judge_effects(effects, doubts)
    decisive = judged.decisive
    assert decisive is not None
    of = next(each for each in corrected if _named(each) == decisive.part)
    sign = 1 if of.bias >= 0 else -1
    shown = points if scale == SHARES else decimal
    low, high = sorted((sign * of.bias_low, sign * of.bias_high))
    off = f"{shown(abs(of.bias))}{' points' if scale == SHARES else ''} too {'high' if sign > 0 else 'low'}"
    evidence = f"The mean score of {decisive.part} is {off} ({shown(low)} to {shown(high)})."
    if judged.word == "sound":
        evidence = f"The mean score of {decisive.part} is at most {percent(judged.at_most)} of the scale off people's."
    next_step = {
        "sound": "Report the corrected score with its interval.",
        "caution": "Report the corrected score with its interval, not the judge's mean.",
        "unsound": "Do not report this judge's mean; report the corrected score with its interval.",
    }.get(judged.word, judged.mend)
    if of.n_more and judged.word != "sound":
        tested = (*tested, f"About {count(of.n_more)} more labels would halve the interval.")
    span = scale[1] - scale[0]
    ends = (of.bias / span, of.bias_low / span, of.bias_high / span)
    of_scale = "" if scale == SHARES else ", share of the scale"
    headline = Headline(f"bias of {decisive.part}{of_scale}", *ends, "share" if of_scale else "points")
    notes = (describe_corrected(of, scale), *(each.why for each in judged.doubts), *tested)
    if judged.word in ("caution", "unsound"):
        notes = (*notes, *(each.why for each in doubts))
    return Verdict(judged.word, evidence, headline, next_step, rule, judged.bound, notes)


def describe_test(test: AnnotatorTest) -> str:
    """What the alternative annotator test says."""
    least = f"from epsilon {test.epsilon:g} on" if test.epsilon == test.epsilon else "at no epsilon up to 0.2"
    passed = "can replace an annotator" if test.epsilon == test.epsilon else "cannot replace an annotator"
    return f"{test.judge} {passed} {least} (alternative annotator test, {test.n_annotators} annotators)."
