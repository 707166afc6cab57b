"""The law of verdicts: from intervals and stated limits to a word.

A flaw is called when the lower end of an interval reaches a limit, soundness when the upper end stays below the limit
for "unsound". Where the interval spans both, the examples or runs are too few to tell, and the verdict says so.

Of several effects the worst lower end decides. Soundness requires more than upper ends: the same readers must have
found words that were planted in a copy of the rows at twice the limit for "unsound", and there must be enough
independent clusters of rows. A reader that could not have found a flaw does not show that there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.stats.effects import LEAST_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.verdicts import Word
    from goldassay.stats.effects import Effect, Effects

# With fewer effective clusters a share of the rows, the rows are not counted as independent ones.
_NEARLY_ALL = 0.9


def judge_interval(low: float, high: float, caution: float, unsound: float) -> Word:
    """Judge a harmful quantity by its interval.

    unsound if low >= `unsound`; caution if low >= `caution`; sound if high < `unsound`; otherwise the interval
    spans from harmless to unsound and nothing can be said.
    """
    if math.isnan(low) or math.isnan(high):
        return "not measurable"
    if low >= unsound:
        return "unsound"
    if low >= caution:
        return "caution"
    return "sound" if high < unsound else "not measurable"


@dataclass(frozen=True)
class Doubt:
    """Why something cannot be called sound, and what would tell more."""

    why: str
    mend: str


@dataclass(frozen=True)
class Judged:
    """What effects say together.

    Attributes:
        word: Of the verdict.
        decisive: The effect with the largest end by its limit: the lower end of a flaw, else the upper end.
        doubts: Why the word is not sound, where no lower end decides.
    """

    word: Word
    decisive: Effect | None
    doubts: tuple[Doubt, ...] = ()


def judge_effects(effects: Effects, doubts: Sequence[Doubt] = ()) -> Judged:
    """Judge effects that were measured together.

    unsound: some lower end reaches its limit for "unsound"; caution: some lower end reaches that for "caution"; sound:
    every upper end lies below its limit for "unsound", there is no doubt, and there are 20 effective clusters;
    otherwise not measurable.

    Args:
        effects: Of one question.
        doubts: What else forbids the word sound, such as planted words that were not found.
    """
    known = [each for each in effects.effects if each.measurable]
    silent = [each for each in effects.effects if each.tells_nothing]
    if not known and not silent:
        reasons = dict.fromkeys(each.reason for each in effects.effects)
        why = f"No effect has an interval: {'; '.join(reasons)}."
        return Judged("not measurable", None, (Doubt(why, "Audit with more rows of at least two labels."),))
    worst = max(known, key=_severity_of, default=None)
    if worst is not None and worst.low >= worst.caution:
        return Judged("unsound" if worst.low >= worst.unsound else "caution", worst)
    highest = max(known, key=lambda each: each.upper / each.unsound if each.unsound > 0 else math.inf, default=None)
    found = list(doubts)
    if highest is not None and highest.upper >= highest.unsound:
        found.insert(0, _too_wide(highest, effects.n_examples, effects.effective_clusters))
    found += [
        Doubt(f"Of the {part} nothing could be measured.", "Audit with more rows.")
        for part in dict.fromkeys(each.part for each in effects.effects)
        if not any(each.measurable or each.tells_nothing for each in effects.of(part))
    ]
    if effects.effective_clusters < LEAST_CLUSTERS:
        found.append(
            Doubt(
                f"The test rows form {effects.effective_clusters:.1f} effective clusters; {LEAST_CLUSTERS} are needed.",
                "Audit on test rows from more sources.",
            )
        )
    return Judged("not measurable" if found else "sound", highest, tuple(found))


def _severity_of(effect: Effect) -> tuple[float, ...]:
    """Unsound before caution before neither; of equals the lower end that exceeds its limit by the larger factor."""

    def ratio(limit: float) -> float:
        return effect.low / limit if limit > 0 else math.inf if effect.low >= 0 else -math.inf

    return (effect.low >= effect.unsound, effect.low >= effect.caution, ratio(effect.unsound))


def _too_wide(effect: Effect, n_examples: int, effective_clusters: float) -> Doubt:
    """That an interval spans harmless and unsound, and how many rows would settle it.

    Rows that depend on each other count as fewer: more of the same kind of copies would not narrow the interval.
    """
    why = (
        f"The upper end of the {effect.measure} of {effect.reader} ({effect.part}) is {effect.high:.1%}, not below "
        f"{effect.unsound:.1%}."
    )
    independent = math.isfinite(effective_clusters) and effective_clusters < _NEARLY_ALL * n_examples
    counted = max(1, round(effective_clusters)) if independent else n_examples
    rows = rows_to_settle(effect, counted)
    kind = "test rows"
    if independent:
        kind = f"independent test rows (these {n_examples:,} count as {counted:,})"
    mend = (
        f"Audit on about {rows:,} {kind}: with as many the interval would decide, if the value stays."
        if rows is not None
        else "Audit on a larger test set: the value lies so near a limit that no number of rows can be named."
    )
    return Doubt(why, mend)


def rows_to_settle(effect: Effect, n_examples: int) -> int | None:
    """Test rows with which an undecided effect would be decided, if its value stays; None where it lies on a limit.

    Ends approach the value as 1/sqrt(N): N ((end - value)/(limit - value))², towards sound where the value is below the
    limit for "unsound", towards caution where it is above that for "caution"; the smaller of the two, rounded up to
    two digits.
    """
    wanted = []
    if effect.value < effect.unsound:
        wanted.append((effect.high - effect.value) / (effect.unsound - effect.value))
    if effect.value > effect.caution:
        wanted.append((effect.value - effect.low) / (effect.value - effect.caution))
    if not wanted:
        return None
    rows = n_examples * min(wanted) ** 2
    if not math.isfinite(rows) or rows > 1e9:
        return None
    step = 10 ** max(0, math.floor(math.log10(max(rows, 1))) - 1)
    return max(math.ceil(rows / step) * step, n_examples + 1)
