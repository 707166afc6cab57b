"""Effects as figures and as a table, read from a report's plain results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.figures import Figure, Measure, declare
from goldassay.core.numbers import count
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEASURES = {
    "accuracy skill": "accuracy_skill",
    "balanced skill": "balanced_skill",
    "information share": "information_share",
}


def declare_effects(question: str, *, information: bool = True) -> dict[str, Measure]:
    """Declare the measures of effects of a question, by name of the measure.

    Args:
        question: Its key.
        information: Whether its readers give probabilities.
    """
    return {
        label: declare(Measure(f"{question}.{name}", label, "share", "lower", least=-1, most=1))
        for label, name in _MEASURES.items()
        if information or label != "information share"
    }


def effect_figures(found: Mapping[str, Any], measures: Mapping[str, Measure], **of: str) -> list[Figure]:
    """A figure for each effect, of its part and its reader, and of what else is named."""
    effects = mapping(found, "effects")
    return [
        measures[row["measure"]].figure(
            row["value"],
            row["low"],
            row["high"],
            n=effects.get("n_examples"),
            reason=row["reason"] or None,
            **of,
            part=row["part"],
            reader=row["reader"],
        )
        for row in records(effects.get("effects"))
    ]


def effects_of(found: Mapping[str, Any]) -> Table:
    """All effects of a question, one row a part and reader."""
    effects = mapping(found, "effects")
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in records(effects.get("effects")):
        key = (str(row["part"]), str(row["reader"]))
        own = rows.setdefault(key, {"part": key[0], "reader": key[1]})
        name = _MEASURES[str(row["measure"])]
        own |= {name: row["value"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
        if row["reason"]:
            own[f"{name}_reason"] = row["reason"]
    measured = [name for name in _MEASURES.values() if any(name in row for row in rows.values())]
    titles = {name: label for label, name in _MEASURES.items()}
    columns = (
        Column("part", "part of the input"),
        Column("reader", "reader"),
        *(with_bounds(name, titles[name], "percent") for name in measured),
    )
    clusters = effects.get("effective_clusters")
    note = (
        "Accuracy skill and balanced skill are shares of what naming one label leaves to be gained; information share "
        "is a share of the label's information. Lower ends hold for all effects of this question together at 95 %, so "
        "that the same reader has another one under another question; upper ends each by itself (one-sided 97.5 %). "
        f"The test rows form {count(clusters)} effective clusters."
    )
    said = " ".join(str(each) for each in effects.get("skipped") or ())
    return Table(
        "effects",
        "What each reader gains: the numbers that the verdict rests on",
        columns,
        tuple(rows.values()),
        note=f"{note} {said}".strip() if rows else "",
    )
