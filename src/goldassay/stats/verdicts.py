"""The law of verdicts: from intervals and stated limits to a word.

Three numbers decide. L is the lower end of the worst effect. U is the largest upper end. S, the limit of detection, is
how large a flaw may be that was not found: the largest over the kinds of cue that were planted in copies of the rows,
and U where nothing is planted.

unsound: L reaches the limit for "unsound"; caution: L reaches that for "caution"; sound: S lies below the limit for
"unsound", there is no doubt, and there are 20 effective clusters; not measurable: nothing was measured; else
unresolved, between L and S. Information shares are figures beside these and decide nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.numbers import percents_apart
from goldassay.stats.effects import ACCURACY, BIAS, INFORMATION, LEAST_CLUSTERS, Effect, Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.core.results import Word
    from goldassay.stats.detection import KindLimit

# With fewer effective clusters a share of the rows, the rows are not counted as independent ones.
_NEARLY_ALL = 0.9
# More rows than so many times those at hand are no advice.
_MOST_TIMES = 4
_MORE_ROWS = "State this bound beside each score; more rows lower it where this set can grow."
# Standard errors by which another sample's value is less favorable in one of five cases.
_MARGIN = 0.84


def judge_interval(low: float, high: float, caution: float, unsound: float) -> Word:
    """Judge a harmful quantity by its interval.

    unsound if low >= `unsound`; caution if low >= `caution`; sound if high < `unsound`; unresolved where the interval
    spans from harmless to unsound; not measurable without an interval.
    """
    if math.isnan(low) or math.isnan(high):
        return "not measurable"
    if low >= unsound:
        return "unsound"
    if low >= caution:
        return "caution"
    return "sound" if high < unsound else "unresolved"


@dataclass(frozen=True)
class Doubt:
    """Why something cannot be called sound, and what would settle it.

    Attributes:
        why: The reason.
        mend: What would settle it.
        at_most: How large a flaw it may hide: 1 where nothing bounds it, 0 where it leaves the measured bound as it is.
    """

    why: str
    mend: str
    at_most: float = 1.0


@dataclass(frozen=True)
class Judged:
    """What effects say together.

    Attributes:
        word: Of the verdict.
        decisive: Of a flaw an effect that shows it, of accuracy where one does; else that with the largest upper end.
        doubts: Why the word is not sound, where no lower end decides.
        low: L; NaN where nothing was measured.
        at_most: S; NaN where nothing was measured.
        limits: Of the kinds of cue that were planted.
    """

    word: Word
    decisive: Effect | None
    doubts: tuple[Doubt, ...] = ()
    low: float = math.nan
    at_most: float = math.nan
    limits: tuple[KindLimit, ...] = ()

    @property
    def mend(self) -> str:
        """What would settle it: of the doubt that may hide most; "" where there is none."""
        return max(self.doubts, key=lambda each: each.at_most).mend if self.doubts else ""

    @property
    def bound(self) -> float | None:
        """S as a verdict holds it: None where nothing was measured."""
        return None if math.isnan(self.at_most) else self.at_most


def judge_effects(effects: Effects, doubts: Sequence[Doubt] = (), prefer: str = "") -> Judged:
    """Judge effects that were measured together.

    Args:
        effects: Of one question, with their limits of detection where cues were planted.
        doubts: What else forbids the word sound, such as columns that were not read.
        prefer: A reader that is decisive where it gives the same word as others.
    """
    limits = effects.limits
    known = [each for each in effects.effects if each.measurable and each.measure != INFORMATION]
    silent = [each for each in effects.effects if each.is_constant]
    if not known and not silent:
        reasons = dict.fromkeys(each.reason for each in effects.effects)
        why = f"No effect has an interval: {'; '.join(reasons)}."
        return Judged("not measurable", None, (Doubt(why, "Audit with more rows of at least two labels."),))
    worst = max(known, key=lambda each: _severity_of(each, prefer), default=None)
    low = max((each.low for each in known), default=0.0)
    at_most = limit_of_detection(known, doubts, limits)
    if worst is not None and worst.low >= worst.caution:
        word: Word = "unsound" if worst.low >= worst.unsound else "caution"
        return Judged(word, worst, (), low, at_most, limits)
    highest = max(known, key=lambda each: each.upper / each.unsound if each.unsound > 0 else math.inf, default=None)
    unsound = effects.effects[0].unsound if highest is None else highest.unsound
    found = list(doubts)
    if limit_of_detection(known, (), limits) >= unsound:
        hidden = [each for each in limits if each.counts and each.limit >= unsound]
        if highest is not None and highest.upper >= unsound:
            found.insert(0, _too_wide(highest, effects.n_examples, effects.effective_clusters, bool(hidden)))
        elif hidden:
            found.insert(0, _too_little_recovered(hidden, unsound))
        elif not known:
            why = "Every reader gives all rows one answer, and nothing shows what it would have found."
            found.insert(0, Doubt(why, "Read the rows with other readers, or give more of them."))
    found += [
        Doubt(f"Of the {part} nothing could be measured.", "Audit with more rows.")
        for part in dict.fromkeys(each.part for each in effects.effects)
        if not any(each.measurable or each.is_constant for each in effects.of(part))
    ]
    if effects.effective_clusters < LEAST_CLUSTERS:
        found.append(
            Doubt(
                f"The {_kind_of_rows(highest)} form {effects.effective_clusters:.1f} effective clusters; "
                f"{LEAST_CLUSTERS} are needed.",
                f"Audit on {_kind_of_rows(highest)} from more sources.",
                at_most=0.0,
            )
        )
    at_most = max((at_most, *(each.at_most for each in found)))
    return Judged("unresolved" if found else "sound", highest, tuple(found), low, at_most, limits)


def limit_of_detection(
    effects: Iterable[Effect], doubts: Iterable[Doubt] = (), limits: Sequence[KindLimit] = ()
) -> float:
    """S, how large a flaw may be that was not found, in [0, 1].

    The largest limit of a kind that counts; without planted kinds U, the largest upper end, and 1 where all readers
    give all rows one answer. A doubt raises it to what it may hide. Where kinds were planted S is not less than the
    least U over the measures, as no kind's limit can be.
    """
    highest: dict[str, float] = {}
    for each in effects:
        highest[each.measure] = max(highest.get(each.measure, 0.0), each.upper)
    counted = [each.limit for each in limits if each.counts]
    of_readers = min(highest.values(), default=0.0) if counted else max(highest.values(), default=1.0)
    return min(1.0, max((of_readers, *counted, *(each.at_most for each in doubts))))


def _severity_of(effect: Effect, prefer: str) -> tuple[float, ...]:
    """Unsound before caution before neither; of equals the preferred reader, then accuracy, then the larger factor.

    The same measure is decisive wherever it can be, so that the headlines of two sets compare.
    """

    def ratio(limit: float) -> float:
        return effect.low / limit if limit > 0 else math.inf if effect.low >= 0 else -math.inf

    flaw = effect.low >= effect.caution
    of_first = (flaw and effect.reader == prefer, flaw and effect.measure == ACCURACY)
    return (effect.low >= effect.unsound, flaw, *of_first, ratio(effect.unsound))


def _too_wide(effect: Effect, n_examples: int, effective_clusters: float, is_hidden: bool) -> Doubt:
    """That an interval spans harmless and unsound, and how many rows would settle it.

    Rows that depend on each other count as fewer: more of the same kind of copies would not narrow the interval. Where
    some kind of cue would not be found either, how many rows show it is not known.
    """
    upper = effect.upper
    high, limit = percents_apart(upper, effect.unsound)
    why = f"The upper end of the {effect.measure} of {effect.reader} ({effect.part}) is {high}, not below {limit}."
    independent = math.isfinite(effective_clusters) and effective_clusters < _NEARLY_ALL * n_examples
    counted = max(1, round(effective_clusters)) if independent else n_examples
    rows = rows_to_settle(effect, counted)
    kind = f"{'independent ' if independent else ''}{_kind_of_rows(effect)}"
    alike = (
        f" The {n_examples:,} here depend on each other, and carry as much information as {counted:,}."
        if independent
        else ""
    )
    mend = (
        "State this bound beside each score: no number of rows within reach settles it."
        if rows is None or rows > _MOST_TIMES * counted
        else _MORE_ROWS if is_hidden
        else f"About {rows:,} {kind} settle it in four of five cases, if the value stays and this set can grow.{alike}"
    )  # fmt: skip
    return Doubt(why, mend, at_most=0.0)


def _kind_of_rows(effect: Effect | None) -> str:
    """What more of would narrow the interval."""
    return "labelled rows" if effect is not None and effect.measure == BIAS else "test rows"


def _too_little_recovered(hidden: Sequence[KindLimit], unsound: float) -> Doubt:
    """That readers find too little of what is planted to exclude a flaw at the limit for unsound."""
    most = max(hidden, key=lambda each: each.limit)
    least, limit = percents_apart(most.limit, unsound)
    said = "at no planted share" if most.limit >= 1 else f"only from {least} of the rows on"
    return Doubt(
        f"A flaw of the kind “{most.kind}” is excluded {said}; {limit} would be unsound.",
        _MORE_ROWS,
        at_most=0.0,
    )


def rows_to_settle(effect: Effect, n_examples: int) -> int | None:
    """Test rows with which an undecided effect would be decided, if its value stays; None where it lies on a limit.

    Ends approach the value as 1/sqrt(N): N ((end - value + m)/(limit - value))², towards sound where the value is below
    the limit for "unsound", towards caution where it is above that for "caution"; the smaller of the two, rounded up to
    two digits. The margin m is .84 standard errors: 204 of 250 sets that were drawn anew with so many rows were
    decided, and without it 217 of 393.
    """
    wanted, margin = [], _MARGIN * effect.standard_error
    if effect.value < effect.unsound:
        wanted.append((effect.upper - effect.value + margin) / (effect.unsound - effect.value))
    if effect.value > effect.caution:
        wanted.append((effect.value - effect.low + margin) / (effect.value - effect.caution))
    if not wanted:
        return None
    rows = n_examples * min(wanted) ** 2
    if not math.isfinite(rows) or rows > 1e9:
        return None
    step = 10 ** max(0, math.floor(math.log10(max(rows, 1))) - 1)
    return max(math.ceil(rows / step) * step, n_examples + 1)
