"""The section on sensitivity: how far scores move with the way of asking, and what picking the best way gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Sensitivity", "Would the score come out the same if the model were asked otherwise?"
_OF = Column("of", "runs of", "data")


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "Asked in another of these ways, the model scores about the same.",
        "caution": "The way of asking moves the score.",
        "unsound": "Asked in another way, the model scores clearly differently.",
    }


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Sensitivity"; none where it was not measured."""
    found = mapping(document, "sensitivity")
    if not found.get("results"):
        return ()
    section = Section(
        key="sensitivity",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        notes=texts(found.get("notes")),
        parts=(
            Part("sensitivity_configurations", _spreads(found)),
            Part(table=_picked(found)),
            Part(table=_scores(found)),
        ),
        how=explanation("goldassay.questions.sensitivity", "how"),
    )
    return (section,)


def _name(row: Mapping[str, Any]) -> str:
    return f"{row.get('model')} on {row.get('dataset')}"


def _spreads(found: Mapping[str, Any]) -> Table:
    columns = (
        _OF,
        Column("n_configurations", "configurations", "count"),
        Column("repeats", "repeats"),
        Column("n_examples", "examples", "count"),
        with_bounds("sd", "SD over configurations", "points", 2),
        Column("repeat_sd", "SD over repeats", "points", 2),
        with_bounds("range", "range", "points", 2),
    )
    rows = tuple({**row, "of": _name(row), "repeats": _repeats(row)} for row in records(found.get("results")))
    return Table(
        "sensitivity", "How far scores move with the way of asking, in points", columns, rows, file="sensitivity"
    )


def _repeats(row: Mapping[str, Any]) -> str:
    least, most = row.get("n_repeats_least"), row.get("n_repeats_most")
    return count(most) if least == most else f"{count(least)} to {count(most)}"


def _picked(found: Mapping[str, Any]) -> Table:
    columns = (
        _OF,
        Column("which", "picked"),
        Column("configuration", "configuration", "data"),
        Column("mean", "score", "points", 2),
        with_bounds("elsewhere", "picked on other examples", "points", 2),
    )
    rows = tuple(
        {
            "of": _name(row),
            "which": which,
            "configuration": row.get(which),
            "mean": row.get(f"{which}_mean"),
            "elsewhere": row.get(f"{which}_elsewhere"),
            "elsewhere_low": row.get(f"{which}_low"),
            "elsewhere_high": row.get(f"{which}_high"),
        }
        for row in records(found.get("results"))
        for which in ("best", "worst")
    )
    caption = "The best and the worst configuration, and what picking so gives on examples that it was not picked on"
    return Table("picked", caption, columns, rows, file="sensitivity")


def _scores(found: Mapping[str, Any]) -> Table:
    columns = (
        _OF,
        Column("configuration", "configuration", "data"),
        Column("n_repeats", "repeats", "count"),
        Column("mean", "mean score", "points", 2),
    )
    rows = tuple({**row, "of": _name(row)} for row in records(found.get("configurations")))
    return Table("configurations", "Scores by configuration, in points", columns, rows, file="configurations")
