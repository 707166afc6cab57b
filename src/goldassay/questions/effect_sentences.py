"""Effects in words; every question that judges by effects uses these.

Effects as figures and as a table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.figures import Better, Figure, Measure, declare
from goldassay.core.numbers import count, percent, points, signed_points
from goldassay.core.results import Headline
from goldassay.core.sections import Column, Table, with_bounds
from goldassay.stats.detection import FIFTY_WORDS
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    INFORMATION,
    LEAST_CLUSTERS,
    LEAST_ROWS,
    Effect,
    Effects,
    Limits,
)
from goldassay.stats.effects import Measure as EffectMeasure
from goldassay.stats.verdicts import Doubt, Judged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds.kind import ItemKind
    from goldassay.stats.detection import KindLimit


def rewrite_part(part: str) -> str:
    """What to do about a text that gives the label away."""
    return f"Rewrite the {part} of the leaky examples, or report scores only next to a {part}-only baseline."


def skill_limits(caution: float, unsound: float) -> dict[EffectMeasure, Limits]:
    """Limits of the two skills; no share of the label's information decides anything."""
    skill = Limits(caution, unsound)
    return {ACCURACY: skill, BALANCED: skill, INFORMATION: Limits(1.0, 1.0)}


def describe_gain(effect: Effect, who: str, by: str = "") -> str:
    """What a reader gets, and how far that is above naming one label, or above chance.

    Args:
        effect: Its skill.
        who: The sentence up to the figure, such as "The hypothesis alone gives".
        by: The reader, where these words do not name it.
    """
    recall = effect.measure == BALANCED
    return (
        f"{who} {'a mean recall of ' if recall else ''}{percent(effect.score)}{by and f' ({by})'} where "
        f"{'chance' if recall else 'the most frequent label'} gives {percent(effect.baseline)}: "
        f"{signed_points(effect.score - effect.baseline, 1)} points ({points(effect.gain.low)} to "
        f"{points(effect.gain.high)})."
    )


def headline_of(effect: Effect) -> Headline:
    """The gain of the decisive effect as the number next to the verdict."""
    above = "mean recall above chance" if effect.measure == BALANCED else "accuracy above the most frequent label"
    label = f"{above}, {effect.reader} ({effect.part})"
    low, high = effect.gain.low, effect.gain.high
    return Headline(label, effect.score - effect.baseline, low, high, "points", effect.score, effect.baseline)


# What a small network reads and none of these readers does, whatever was planted.
_NOT_READ = (
    "Not looked for: three cues together, counts and parities, compared numbers, letters of words, places of words."
)


def describe_judged(
    judged: Judged, effects: Effects | None, said: str, kind: ItemKind | None = None
) -> tuple[str, tuple[str, ...]]:
    """The headline of a verdict by effects, and its notes.

    Args:
        judged: What the effects say together.
        effects: All of them; None where no reader separates any rows.
        said: What the decisive reader gets, in a sentence; "" without one.
        kind: Of items with choices what their parts are called; None of labelled texts.
    """
    of, rows = ("the label", "rows") if kind is None else (f"the {kind.right} {kind.option}", "items")
    reasons = [doubt.why for doubt in judged.doubts]
    if judged.word == "not measurable":
        return reasons[0], tuple(reasons[1:])
    left_out = [f"{each[0].upper()}{each[1:]}" for each in (() if effects is None else effects.skipped)]
    notes = tuple(each for each in (said, *reasons, *left_out) if each)
    if judged.word == "unresolved":
        # What bounds nothing says more than a range up to all rows.
        open_ = next((doubt.why for doubt in judged.doubts if doubt.at_most >= 1), None)
        if open_ is not None:
            return open_, tuple(each for each in notes if each != open_)
        return _describe_open(judged, effects, of, rows), notes
    if judged.word != "sound":
        return said, ()
    if effects is not None and any(each.counts for each in judged.limits):
        headline, few = _describe_limits(judged, effects.effects[0], of, rows, kind)
        return headline, (*few, *notes)
    return f"The readers tried gain at most {percent(judged.at_most)}.", notes


def _describe_open(judged: Judged, effects: Effects | None, of: str, rows: str) -> str:
    """Between which shares an unresolved flaw lies; where some kinds are bounded and others not, of which kinds."""
    low = percent(max(0.0, judged.low))
    counted = [each for each in judged.limits if each.counts]
    if judged.at_most < 1 or effects is None or not counted:
        return f"Cues give away {of} of {low} to {percent(judged.at_most)} of the {rows}."
    bounded = [each for each in counted if each.limit < 1]
    if not bounded:
        return f"The {effects.n_examples:,} {rows} are too few to exclude a flaw of any size."
    kinds, others = (
        " or ".join(each.kind for each in counted if (each in bounded) is known) for known in (True, False)
    )
    most = percent(max(each.limit for each in bounded))
    unbounded = f"those of {others} are not bounded at this size"
    return f"Cues of {kinds} give away {of} of {low} to {most} of the {rows}; {unbounded}."


def describe_unseen(judged: Judged, effects: Effects | None, kind: ItemKind | None = None) -> str | None:
    """The line under *sound*: the kinds of cue that the readers cannot see, and those that none looks for.

    Args:
        judged: What the effects say together.
        effects: All of them.
        kind: Of items with choices what their parts are called; None of labelled texts.
    """
    if judged.word != "sound" or effects is None:
        return None
    first = effects.effects[0]
    missed = [each for each in judged.limits if not each.counts and each.limit >= first.unsound]
    # Of two choices the second longest is the shortest, which a rule picks.
    ranks = kind is not None and first.baseline < 1 / 2
    not_read = f"{_NOT_READ[:-1]}, middle ranks such as the second longest." if ranks else _NOT_READ
    return f"Not seen: {', '.join(_by_name(missed, judged, kind))}. {not_read}" if missed else not_read


def _by_name(limits: Sequence[KindLimit], judged: Judged, kind: ItemKind | None) -> dict[str, float]:
    """The largest limit of each kind; two words together, planted in two sizes, are one kind where both are here."""
    names = [f"{cue}{where}" for cue, where in (_placed(each, judged, kind) for each in limits)]
    plain = [re.sub(r" \(\d+ and \d+\)", "", name) for name in names]
    sizes = Counter(plain)
    largest: dict[str, float] = {}
    for name, short, each in zip(names, plain, limits, strict=True):
        shown = short if sizes[short] > 1 else name
        largest[shown] = max(largest.get(shown, 0.0), each.limit)
    return largest


def _placed(limit: KindLimit, judged: Judged, kind: ItemKind | None) -> tuple[str, str]:
    """A kind of cue, and of items where it is planted: in a choice, in the question, or in either."""
    if kind is None:
        return limit.kind, ""
    of_question = f" of the {kind.question}"
    if limit.kind.endswith(of_question):
        return limit.kind.removesuffix(of_question), f" in the {kind.question}"
    names = {each.kind for each in judged.limits}
    reads_question = any(name.endswith(of_question) for name in names)
    alone = f"{limit.kind}{of_question}" in names if reads_question else True
    return limit.kind, f" in a {kind.option}" + ("" if alone else f" or the {kind.question}")


def _describe_limits(
    judged: Judged, effect: Effect, of: str, rows: str, kind: ItemKind | None
) -> tuple[str, list[str]]:
    """What planted cues show of a set that is sound: how large a flaw may be by kind, and what few rows hide."""
    counted = [each for each in judged.limits if each.counts]
    parts: dict[str, list[str]] = {}
    for each in counted:
        cue, where = _placed(each, judged, kind)
        parts.setdefault(where, []).append(cue)
    listed = [f"{_either(kinds)}{where}" for where, kinds in parts.items()]
    kinds = listed[0] if len(listed) == 1 else f"{', or of '.join(listed)},"
    negligible = ", which is negligible" if judged.at_most < effect.caution else ""
    others = [each for each in judged.limits if not each.counts]
    many = [each for each in others if each.kind == FIFTY_WORDS.name and each.limit < effect.unsound]
    others = [each for each in others if each not in many]
    found = [each for each in others if each.limit < effect.unsound]
    seen = "".join(f"; {name} of at most {percent(most)}" for name, most in _by_name(found, judged, kind).items())
    # Of few rows its limit differs too much from one set of words to the next.
    few = [f"Whether {each.kind} give labels away is not shown at this size." for each in many]
    return (
        f"Cues of {kinds} give away {of} of at most {percent(judged.at_most)} of the {rows}{negligible}{seen}.",
        few,
    )


def _either(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def scarce_doubts(gold: NDArray[np.integer], train_counts: NDArray[np.integer] | None) -> list[Doubt]:
    """Why readers could not learn some label that the effects count; empty where each has training rows enough.

    Planted cues are of all labels together: those of the frequent ones suffice to be found.

    Args:
        gold: Codes of the labels of the test rows, (N,).
        train_counts: Training rows of each label, (K,); None where they are not known.
    """
    if train_counts is None:
        return []
    known = np.asarray(train_counts)
    n = int(((np.bincount(gold, minlength=known.size) >= LEAST_ROWS) & (known < LEAST_ROWS)).sum())
    if not n:
        return []
    whose = "A label" if n == 1 else f"{n} labels"
    return [
        Doubt(
            f"{whose} with {LEAST_ROWS} test rows or more {'has' if n == 1 else 'have'} fewer than {LEAST_ROWS} "
            "training rows, too few for a reader to learn it.",
            "Audit with more training rows of every label.",
        )
    ]


def unheld_doubts(part: str, found: tuple[int, int] | None, threshold: float) -> list[Doubt]:
    """Why nothing can be called sound where the patterns of the training part do not hold in the test part.

    Args:
        part: Of the input.
        found: Test examples with such a pattern, and those where its label is right; None where they hold.
        threshold: The share of its training examples in which a pattern's label is right.
    """
    if found is None:
        return []
    n, right = found
    return [
        Doubt(
            f"Patterns of the {part} that are right in more than {percent(threshold)} of their training examples are "
            f"right in {percent(right / n)} of the {n:,} test examples that have them: the test labels may belong to "
            "other rows, or the two parts are of different kinds, so that training on the one shows nothing of the "
            "other.",
            "Check that each test label belongs to its row; then give training and test rows of one kind.",
        )
    ]


def effect_rule(quantity: str, caution: float, unsound: float) -> str:
    """The rule that a report states next to a verdict by effects and limits of detection."""
    return (
        f"By {quantity}: unsound if the lower end of some skill is at least {percent(unsound)}, caution if at least "
        f"{percent(caution)}. Lower ends are corrected for multiple comparisons. Sound if the readers would have found "
        "a flaw of the limit for unsound by each kind of cue that counts, as copies of the rows with such cues show, "
        f"each label that counts has {LEAST_ROWS} training rows, and there are at least {LEAST_CLUSTERS} effective "
        "clusters of test rows; else unresolved."
    )


_MEASURES = {
    "accuracy skill": "accuracy_skill",
    "balanced skill": "balanced_skill",
    "information share": "information_share",
}
_DECISIVE: tuple[tuple[str, str, Better, bool], ...] = (
    ("score", "accuracy or mean recall", "lower", False),
    ("baseline", "baseline", "neither", False),
    ("gain", "gain over the baseline", "lower", True),
)


def figures_of_headline(question: str) -> Callable[[Headline | None], list[Figure]]:
    """What makes figures of a gain that decides: the score, its baseline, and the difference with its interval.

    Args:
        question: Its key, under which the measures are declared.
    """
    score, baseline, gain = (
        declare(Measure(f"{question}.decisive_{name}", f"{label} of the verdict", "points", better, bounded=bounded))
        for name, label, better, bounded in _DECISIVE
    )

    def make(found: Headline | None) -> list[Figure]:
        if found is None or found.score is None:
            return []
        return [
            score.figure(found.score),
            baseline.figure(found.baseline),
            gain.figure(found.value, found.low, found.high, label=found.label),
        ]

    return make


def figures_of_effects(question: str, *, information: bool = True) -> Callable[[Effects], list[Figure]]:
    """What makes a figure for each effect, of its part and its reader: for `goldassay.core.figures.figures_by`.

    Args:
        question: Its key, under which the measures are declared.
        information: Whether its readers give probabilities.
    """
    measures = {
        label: declare(Measure(f"{question}.{name}", label, "share", "lower", least=-math.inf, most=1))
        for label, name in _MEASURES.items()
        if information or label != "information share"
    }

    def make(effects: Effects) -> list[Figure]:
        return [
            measures[each.measure].figure(
                each.value, each.low, each.high, n=effects.n_examples, reason=each.reason, part=each.part,
                reader=each.reader,
            )
            for each in effects.effects
        ]  # fmt: skip

    return make


def table_of_effects(effects: Effects) -> Table:
    """All effects of a question, one row a part and reader."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for each in effects.effects:
        own = rows.setdefault((each.part, each.reader), {"part": each.part, "reader": each.reader})
        name = _MEASURES[each.measure]
        own |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
        if each.reason:
            own[f"{name}_reason"] = each.reason
    return _table(rows, effects.effective_clusters, effects.skipped)


def table_of_limits(effects: Effects) -> Table:
    """What would have been found, one row a kind of cue."""
    doses = sorted({dose for each in effects.limits for dose in each.doses})
    names = [f"recovered_{place}" for place in range(len(doses))]
    rows = []
    for each in effects.limits:
        known = {at: share for at, share in zip(each.doses, each.recovered, strict=True) if not math.isnan(share)}
        of_doses = {name: known.get(dose) for name, dose in zip(names, doses, strict=True)}
        rows.append({"kind": each.kind, "limit": each.limit, **of_doses})
    columns = (
        Column("kind", "kind of cue"),
        Column("limit", "found from, of the rows", "percent"),
        *(Column(name, f"recovered of {percent(dose)}", "percent") for name, dose in zip(names, doses, strict=True)),
    )
    note = (
        "In copies of the rows, cues of a label are planted in these shares of its rows; in items, in the right choice "
        "or in the question. "
        "Words are twelve random letters. Two words together (3 and 3) are one of three words and one of three others, "
        "and only both give the label away. A flaw of a kind would have been found from the share in the second column "
        "on; 100 % where no planted share would be. Recovered is what readers gain in the copies of the planted rows "
        "that they read wrong without; empty where a share was not planted, or where a larger one would not "
        "have been found either."
    )
    return Table("limits", "What would have been found, by kind of cue", columns, tuple(rows), note=note)


def _table(
    rows: Mapping[tuple[str, str], Mapping[str, Any]], clusters: float | None, skipped: tuple[str, ...]
) -> Table:
    measured = [name for name in _MEASURES.values() if any(name in row for row in rows.values())]
    titles = {name: label for label, name in _MEASURES.items()}
    columns = (
        Column("part", "part of the input"),
        Column("reader", "reader"),
        *(with_bounds(name, titles[name], "percent") for name in measured),
    )
    note = (
        "Accuracy skill and balanced skill are shares of the gap between naming one label and a perfect score; "
        "information share is a share of the label's information. "
        "Lower ends hold for all effects of this question together at 95 %, so "
        "that the same reader has another one under another question; upper ends each by itself (one-sided 97.5 %). "
        f"The test rows form {count(clusters)} effective clusters."
    )
    said = " ".join(skipped)
    return Table(
        "effects",
        "What each reader gains: the numbers that the verdict rests on",
        columns,
        tuple(rows.values()),
        note=f"{note} {said}".strip() if rows else "",
    )
