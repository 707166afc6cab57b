"""Effects as figures and as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Better, Figure, Measure, declare
from goldassay.core.numbers import count, percent
from goldassay.core.sections import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.core.verdicts import Headline
    from goldassay.stats.effects import Effects

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
        "Words are twelve random letters. A flaw of a kind would have been found from the share in the second column "
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
        "Accuracy skill and balanced skill are shares of what naming one label leaves to be gained; information share "
        "is a share of the label's information. Lower ends hold for all effects of this question together at 95 %, so "
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
