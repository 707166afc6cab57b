"""Judgments of pairs: what is measured of them, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count, percent, points
from goldassay.core.results import Headline, Verdict, frame_of_records, severity
from goldassay.core.sections import Finding
from goldassay.data.kinds.judged_scores import JudgedScores, ScoreShape, read_judged_scores
from goldassay.data.kinds.judgments import LENGTH, LONGER, Judgments, read_judgments
from goldassay.questions.answered.degenerate import Given, describe_degenerate, find_degenerate
from goldassay.questions.example_clusters import AUTO
from goldassay.questions.judgments.doubts import pair_doubts
from goldassay.questions.judgments.measures import (
    LEAST_VERDICTS,
    PositionEffect,
    VerdictModel,
    agree_with_people,
    is_own,
    measure_position,
    model_verdicts,
    pool_judges,
    verdicts_by_order,
    without_few,
)
from goldassay.questions.judgments.people import SHARES
from goldassay.questions.judgments.result import JudgmentsResult
from goldassay.questions.judgments.scores import (
    WIN_RATE,
    bias_effects,
    correct_pairs,
    describe_corrected,
    judge_corrected,
)
from goldassay.stats.effects import LEAST_CLUSTERS, Effects, Limits
from goldassay.stats.verdicts import Doubt, judge_effects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import JudgmentLimits, Settings
    from goldassay.data.kinds.kind import Match
    from goldassay.data.reading import Source
    from goldassay.questions.answered.result import Degenerate
    from goldassay.questions.judgments.people import Corrected
    from goldassay.questions.leakage.item_loading import ItemReading


# From this share of the verdicts on, those that cannot be used leave the rest no sample of the file.
_MOST_UNUSED = 0.05
# In the positive control so many times the limit of the items are won by the first seat.
_TIMES_LIMIT = 2
_CHANGING = 0.5
# From this share of ties on, a judge judges nothing.
_ALL_TIES = 0.95
# Judges by kinds of items that are looked at apart.
_MOST_GROUPS = 300


@dataclass(frozen=True)
class _Measured:
    """The effects of all judges, and what is doubted."""

    judges: list[PositionEffect]
    effects: Effects
    doubts: tuple[Doubt, ...]


def measure_judgments(judgments: Judgments, settings: Settings, steps: Steps) -> Finding:
    """Say how far each judge follows the seat.

    Args:
        judgments: All of a file.
        settings: Hold the limits and the seed.
        steps: What was done, and when.
    """
    limits = settings.verdicts.judgments
    by_judge = judgments.rows
    judgments = replace(judgments, rows=pool_judges(by_judge))
    with steps.step("measuring what a seat adds"):
        measured = _measure(judgments, limits, settings.seed)
    with steps.step("comparing with people"):
        people = agree_with_people(judgments.rows)
        corrected = correct_pairs(judgments.rows)
    with steps.step("modelling verdicts"):
        models = model_verdicts(judgments.rows)
    verdict = judge_judges(
        measured.effects,
        measured.doubts,
        {each.judge: each for each in measured.judges},
        limits,
        [*_preferring(models), *_own_alone(judgments.rows)],
    )
    doubts = pair_doubts(judgments.rows, corrected, judgments.kinds, limits)
    if doubts or corrected:
        of_bias = bias_effects(corrected, SHARES, limits)
        by_people = judge_corrected(corrected, of_bias, SHARES, doubts, limits, what=WIN_RATE)
        verdict = with_people(verdict, by_people, corrected)
    with steps.step("looking at what systems wrote"):
        degenerate = _degenerate(judgments)
    verdict = with_degenerate(verdict, [(each, _win_rate(judgments.rows, each.system)) for each in degenerate])
    result = JudgmentsResult(
        results=tuple(measured.judges),
        effects=measured.effects,
        agreement=tuple(people),
        models=tuple(models),
        remarks=(*map(describe_degenerate, degenerate), *_remarks(judgments), *_pooled(judgments.rows)),
        n_judgments=len(judgments),
        degenerate=degenerate,
        corrected=corrected,
        drawn="probability" in judgments.rows.columns or judgments.rows["people"].null_count() == 0,
    )
    tables = {
        "judges": frame_of_records(result.results),
        "verdict_models": frame_of_records(result.models),
        "judgment_problems": judgments.problems,
        "judged_items": verdicts_by_order(by_judge),
    }
    if people:
        tables["agreement"] = frame_of_records(people)
    if corrected:
        tables["corrected_scores"] = frame_of_records(corrected)
    return Finding("judgments", verdict, tables=tables, result=result)


def _degenerate(judgments: Judgments) -> tuple[Degenerate, ...]:
    """The systems whose output cannot depend on what was asked."""
    given = [
        Given.of(str(name), own["item"], texts=own["text"], prompts=own["prompt"])
        for (name,), own in (
            judgments.written.group_by("system", maintain_order=True) if judgments.written.height else ()
        )
    ]
    return find_degenerate(given, judgments.name)


def _win_rate(rows: pl.DataFrame, system: str) -> float | None:
    """The share of its pairs that a system wins; None where verdicts do not name it."""
    found = rows.select(
        pl.when(pl.col("a") == system).then(pl.col("win")).when(pl.col("b") == system).then(1 - pl.col("win")).mean()
    ).item()
    return None if found is None else float(found)


def _measure(judgments: Judgments, limits: JudgmentLimits, seed: int) -> _Measured:
    given = Limits(limits.caution, limits.unsound)
    judges, effects = measure_position(judgments.rows, given, seed)
    effects = without_few(effects, judges, judgments.rows)
    doubts = [*_reading_doubts(judgments, judges), *_other_doubts(judgments, given, seed)]
    # Where a seat is found already, nothing is called sound.
    if not any(each.measurable and each.low >= each.caution for each in effects.effects):
        doubts += _group_doubts(judgments, given, seed)
    _, found = measure_position(_planted(judgments.rows, limits.unsound, seed), given, seed)
    blind = [each.part for each in found.effects[::2] if each.measurable and not each.ordinary_low > 0]
    if blind:
        doubts.append(
            Doubt(
                f"Were {percent(_TIMES_LIMIT * limits.unsound)} of the items won by the first seat, it would not be "
                f"seen of {', '.join(blind[:3])}, so that these items cannot show that nothing is there.",
                "Judge more items in both orders.",
            )
        )
    return _Measured(judges, effects, tuple(doubts))


def _preferring(models: Sequence[VerdictModel]) -> list[str]:
    """Which judges surely prefer long or short texts, or their own model: what no seat shows."""
    found = []
    for value, low, high, more, less in (
        ("length", "length_low", "length_high", "longer texts", "shorter texts"),
        ("own", "own_low", "own_high", "its own model", "other models to its own"),
    ):
        sure = [each for each in models if getattr(each, low) > 0 or getattr(each, high) < 0]
        if not sure:
            continue
        most = max(sure, key=lambda each: min(abs(getattr(each, low)), abs(getattr(each, high))))
        what = more if getattr(most, value) > 0 else less
        others = f"; {len(sure) - 1} more of {len(models)} judges depend on it, too" if len(sure) > 1 else ""
        found.append(
            f"{most.judge} prefers {what}: log odds {getattr(most, value):.2f} ({getattr(most, low):.2f} to "
            f"{getattr(most, high):.2f}){others}."
        )
    return found


def _own_alone(rows: pl.DataFrame) -> list[str]:
    """That a single judge is of one of the models it judges: whether it prefers its own, no verdict shows."""
    names = {name for column in ("a", "b") for name in rows[column].drop_nulls().unique()}
    judges = rows["judge"].unique().to_list()
    own = sorted(name for name in names if is_own(judges[0], name)) if len(judges) == 1 else []
    if not own:
        return []
    return [f"No other judge judged {own[0]}: whether {judges[0]} prefers its own model is not known."]


def _planted(rows: pl.DataFrame, limit: float, seed: int) -> pl.DataFrame:
    """A copy in which the first seat wins a share of the items: the positive control."""
    items = rows["item"].unique(maintain_order=True)
    n = min(len(items), max(1, round(_TIMES_LIMIT * limit * len(items))))
    chosen = items.gather(np.random.default_rng(seed).choice(len(items), n, replace=False))
    won = pl.when(pl.col("item").is_in(chosen.implode())).then(pl.col("a_first").cast(pl.Float64))
    return rows.with_columns(win=won.otherwise(pl.col("win")))


def _other_doubts(judgments: Judgments, limits: Limits, seed: int) -> list[Doubt]:
    """Whether verdicts that nobody said to name sides, or seats, would show a flaw if they named the other."""
    if judgments.named:
        return []
    rows = judgments.rows.with_columns(win="otherwise")
    if rows["win"].equals(judgments.rows["win"]):
        return []
    _, found = measure_position(rows, limits, seed)
    flawed = [each.part for each in found.effects if each.measurable and each.low >= each.caution]
    if not flawed:
        return []
    kind, other = ("seats", "sides") if judgments.names_seats else ("sides", "seats")
    return [
        Doubt(
            f"The verdicts are taken to name {kind}; if they named {other}, {flawed[0]} would follow a seat.",
            f"Say what they name: {option('columns', f'winner={judgments.verdicts}')} for sides, "
            f"{option('columns', f'seat={judgments.verdicts}')} for seats.",
        )
    ]


def _group_doubts(judgments: Judgments, limits: Limits, seed: int) -> list[Doubt]:
    """Whether a judge follows one seat in some kind of items, which another kind may cancel; the 300 largest count.

    Lower ends hold for all kinds of all columns at once, so that columns that say nothing raise no doubt.
    """
    parts = [
        judgments.rows.with_columns(column=pl.lit(name), kind=values) for name, values in _by_column(judgments).items()
    ]
    if not parts:
        return []
    rows = pl.concat(parts).filter(pl.col("kind").is_not_null())
    key = ["judge", "column", "kind"]
    rows = rows.filter(pl.col("item").n_unique().over(key) >= LEAST_CLUSTERS)
    if not rows.height:
        return []
    sizes = rows.group_by(key, maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    keys = sizes.head(_MOST_GROUPS).with_row_index("key")
    by_key = rows.join(keys, on=key, maintain_order="left").with_columns(pl.col("key").cast(pl.String))
    _, found = measure_position(by_key.with_columns(judge="key"), limits, seed)
    flawed = [each for each in found.effects if each.measurable and each.low >= each.caution]
    if not flawed:
        return []
    worst = max(flawed, key=lambda each: each.low)
    judge, column, kind = keys.row(int(worst.part))[1:4]
    more = f", and so in {len(flawed) - 1} more" if len(flawed) > 1 else ""
    where = kind if column in (LENGTH, LONGER) else f"{kind} ({column})"
    return [
        Doubt(
            f"In {where} {worst.reader} adds {points(worst.value)} points to the win rate by {judge} "
            f"({points(worst.low)} to {points(worst.high)}){more}: over all items such effects may cancel each other.",
            "Judge each kind of items by itself.",
        )
    ]


def _by_column(judgments: Judgments) -> dict[str, pl.Series]:
    """The kinds of each column that tells several apart."""
    return {each.name: each for each in judgments.kinds if each.drop_nulls().n_unique() > 1}


def _reading_doubts(judgments: Judgments, judges: list[PositionEffect]) -> list[Doubt]:
    """Why nothing can be called sound, whatever is measured."""
    found = []
    if judgments.n_unused > _MOST_UNUSED * judgments.n_read:
        found.append(
            Doubt(
                f"{count(judgments.n_unused)} of the {count(judgments.n_read)} verdicts cannot be used: the rest may "
                "not be what they stand for.",
                "Mend the verdicts in the table of problems.",
            )
        )
    tied = judgments.rows.group_by("judge", maintain_order=True).agg(pl.col("win").eq(0.5).mean())
    for judge, share in tied.filter(pl.col("win") >= _ALL_TIES).iter_rows():
        why = f"{judge} calls {percent(share)} of its pairs ties: nothing shows what the order does to other verdicts."
        found.append(Doubt(why, "Ask for a verdict other than a tie."))
    turning = [each for each in judges if each.n_both and each.changed > _CHANGING]
    if turning and not judgments.named:
        kind, other = ("seats", "sides") if judgments.names_seats else ("sides", "seats")
        role = "winner" if judgments.names_seats else "seat"
        found.append(
            Doubt(
                f"More than half of the verdicts of {turning[0].judge} change with the order if they name {kind}: they "
                f"may name {other}.",
                f"Say what they name: {option('columns', f'winner={judgments.verdicts}')} for sides, "
                f"{option('columns', f'seat={judgments.verdicts}')} for seats (here perhaps {role}).",
            )
        )
    if not judgments.knows_order:
        found.append(
            Doubt(
                "Nothing says which side was shown first.",
                "Add a column of the order (ab or ba), or name the one that has it as order.",
            )
        )
    return found


def _remarks(judgments: Judgments) -> list[str]:
    """What is not as one would expect of the verdicts, and what was decided."""
    counted = judgments.problems.group_by("reason", maintain_order=True).len()
    found = [f"{count(n)} verdict{'' if n == 1 else 's'} left out: {reason}." for reason, n in counted.iter_rows()]
    return [*judgments.decisions, *found]


def _pooled(rows: pl.DataFrame) -> list[str]:
    """Which judges are taken as one."""
    return [
        f"{judge} are taken as one, since {'most' if n == rows['member'].n_unique() else 'these'} have fewer than "
        f"{LEAST_VERDICTS} verdicts; the interval allows for how judges differ."
        for judge, n in rows.group_by("judge", maintain_order=True).agg(pl.col("member").n_unique()).iter_rows()
        if n > 1
    ]


# From this share on, a system wins.
_WON = 0.5


def judge_judges(
    effects: Effects,
    doubts: Sequence[Doubt],
    judges: Mapping[str, PositionEffect],
    limits: JudgmentLimits,
    besides: Sequence[str] = (),
) -> Verdict:
    """Judge by the judge that follows a seat most.

    Args:
        effects: Of each judge, in both directions.
        doubts: What forbids the word sound.
        judges: What was counted, by name.
        limits: When to say caution or unsound.
        besides: Sentences on what judges follow that is no seat, which have no say in the word.
    """
    if not any(each.measurable for each in effects.effects):
        reason = next(iter(each.reason for each in effects.effects), "there are no verdicts")
        why, ask = f"No effect of the order is measurable: {reason}.", "Ask the judge about each pair in both orders."
        return Verdict("not measurable", why, None, ask, _rule(limits), notes=tuple(each.why for each in doubts))
    judged = judge_effects(effects, doubts)
    decisive = judged.decisive
    assert decisive is not None
    of = judges[decisive.part]
    seat = f"{decisive.reader} adds {points(decisive.value)} points to the win rate"
    seat += f" ({points(decisive.ordinary_low)} to {points(decisive.high)})"
    whose = f" of {decisive.part}" if len(judges) > 1 else ""
    notes = [*(each.why for each in judged.doubts), *besides]
    if judged.word == "sound":
        evidence = f"The order moves the win rate by at most {points(judged.at_most)} points."
    elif of.n_both:
        evidence = (
            f"{percent(of.changed, 0)} of the verdicts{whose} change when the order does "
            f"({points(of.changed_low, 0)} to {points(of.changed_high, 0)})."
        )
        notes.insert(0, f"{seat[:1].upper()}{seat[1:]}.")
    else:
        evidence = f"{f'For {decisive.part}, ' if whose else ''}{seat}."
        evidence = f"{evidence[:1].upper()}{evidence[1:]}"
    next_step = {
        "sound": "Keep the report with the judgments.",
        "caution": "Ask in both orders, and count a pair as a win where both verdicts agree.",
        "unsound": "Do not use this judge in one order; ask in both, and report how often they agree.",
    }.get(judged.word, judged.mend)
    headline = Headline(f"{decisive.reader}, {decisive.part}", decisive.value, decisive.low, decisive.high, "points")
    if of.n_both:
        label = f"verdicts that change with the order, {decisive.part}"
        headline = Headline(label, of.changed, of.changed_low, of.changed_high, "share")
    return Verdict(judged.word, evidence, headline, next_step, _rule(limits), judged.bound, tuple(notes))


def with_people(verdict: Verdict, by_people: Verdict, corrected: Sequence[Corrected]) -> Verdict:
    """The verdict with how far win rates are from people's: the graver word counts, and of equals that on seats.

    Args:
        verdict: On what seats add.
        by_people: On win rates beside people's.
        corrected: The win rates.
    """
    rule = f"{verdict.rule} By people, too. {by_people.rule}"
    known = [each for each in corrected if not each.reason]
    worst = max(known, key=lambda each: abs(each.bias), default=None)
    said = () if worst is None else (describe_corrected(worst, SHARES, WIN_RATE),)
    bounds = [verdict.at_most, by_people.at_most]
    at_most = max((each for each in bounds if each is not None), default=None) if all(
        each is not None for each in bounds) else None  # fmt: skip
    if severity(by_people.verdict) <= severity(verdict.verdict):
        flaw = (by_people.evidence,) if severity(by_people.verdict) > severity("unresolved") else ()
        notes = dict.fromkeys((*verdict.notes, *flaw, *said, *by_people.notes))
        return replace(verdict, rule=rule, at_most=at_most, notes=tuple(notes))
    word = "unresolved" if by_people.verdict == "not measurable" else by_people.verdict
    notes = dict.fromkeys((*said, *by_people.notes, verdict.evidence, *verdict.notes))
    return replace(by_people, verdict=word, rule=rule, at_most=at_most, notes=tuple(notes))


def with_degenerate(verdict: Verdict, named: Sequence[tuple[Degenerate, float | None]]) -> Verdict:
    """The verdict with the systems whose output cannot depend on what was asked: unsound where one wins.

    Args:
        verdict: On what seats add.
        named: The systems, and the share of its pairs that each wins.
    """
    if not named:
        return verdict
    most = max(named, key=lambda each: each[1] or 0.0)
    said = tuple(describe_degenerate(each) for each, _ in named)
    won = most[1] or 0.0
    if won < _WON:
        return replace(verdict, notes=(*said, *verdict.notes))
    return replace(
        verdict,
        verdict="unsound",
        evidence=f"{most[0].system} wins {percent(won)} of its pairs, and its output cannot depend on what was asked.",
        notes=(*said, verdict.evidence, *verdict.notes),
        next_step=f"Leave {most[0].system} out, and do not use this judge for what it was asked.",
    )


def _rule(limits: JudgmentLimits) -> str:
    return (
        "By what a seat adds to the win rate, of the judge that follows it most: unsound if the lower end is at least "
        f"{points(limits.unsound)} points, caution if at least {points(limits.caution)}. Lower ends are "
        f"simultaneous over judges and seats. Sound if every upper end lies below {points(limits.unsound)}, the same "
        f"measure sees a seat that wins twice as many of the items, and every judge has "
        f"{LEAST_CLUSTERS} items; else unresolved. Unsound, too, if a system wins half of its pairs and its output is "
        "one text, the prompt, or another system's."
    )


JUDGMENTS = "judgments"


def load_judgments(source: Source, match: Match, test: Any, reading: ItemReading) -> Judgments | JudgedScores:
    """The judgments of a source that holds such: of pairs, or scores.

    Args:
        source: All rows.
        match: What they were recognized as.
        test: A second set, which judgments have not.
        reading: How the set is to be read.

    Raises:
        InputError: An option is without effect on judgments, or they cannot be used.
    """
    place = source.place
    is_scored = isinstance(match.found, ScoreShape)
    for given, of in ((test, "test"), (reading.label_names, "label_names"), (reading.split_by, "split_by")):
        if given is not None:
            raise InputError(f"{option(of)}: an audit of judgments does not use it", file=place, mend="leave it out")
    if reading.clusters != AUTO and not is_scored:
        raise InputError(
            f"{option('clusters')}: judgments of one item count as one", file=place,
            mend="leave it out; the role item says what an item is",
        )  # fmt: skip
    if is_scored:
        return read_judged_scores(source.table, source.name, match.found, reading.roles(), place)
    found = read_judgments(source.table, source.name, roles=reading.roles(), source=place)
    if found is None:
        raise InputError("there are no rows", file=place, mend="give a file with at least one verdict")
    return found
