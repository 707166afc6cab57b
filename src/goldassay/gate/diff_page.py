"""Each change between two reports in a line: its figures in their unit, and what may be said of it.

The chart of what changed between two reports, measure by measure, around no change.

Cards, sections and terminal lines of a comparison of two reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Rule, Series, between, by_name, first_of
from goldassay.core.documents import evidence_of, mapping, records
from goldassay.core.numbers import bounds, bounds_in, count, decimal, number, percent, points, signed_points, with_unit
from goldassay.core.sections import Part, Section, VerdictCard
from goldassay.core.tables import Column, Table
from goldassay.core.verdicts import ICONS
from goldassay.core.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_SMALL = 0.02
_LINE_UNITS = {"points": " points", "share": " points", "bits": " bits"}
_SHOWN = ("better", "worse", "changed")


class Shown(NamedTuple):
    """A figure in its unit, the number it sorts by, and its interval."""

    text: str
    sort: float | None
    interval: str


def changes_shown(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What changed for certain, as a word and a sentence each, in the order of the measures.

    That is every measure whose interval leaves 0 out, and how many examples there are: what a mend has cost.
    """
    return [
        (str(row["change"]), sentence_of(row))
        for row in records(document.get("measures"))
        if row.get("change") in _SHOWN or (row.get("describes_data") and row.get("difference"))
    ]


def left_open(document: Mapping[str, Any]) -> list[str]:
    """How many measures are not shown to have changed, and which moved with no interval to judge by."""
    measures = records(document.get("measures"))
    still = sum(row.get("change") == "not shown" for row in measures)
    lines = [f"{still} measure{'s' if still > 1 else ''} cannot be said to have changed."] if still else []
    moved = [row for row in measures if row.get("change") in ("fewer", "more") and not row.get("describes_data")]
    if moved:
        names = list(dict.fromkeys(str(row.get("measure")) for row in moved))
        lines.append(f"Moved, with no interval to judge by: {', '.join(names)}.")
    return lines


def sides_named(document: Mapping[str, Any]) -> tuple[str, str]:
    """What the two reports are called: their titles, with their files where these are the same."""
    before, after = (mapping(document, side) for side in ("before", "after"))
    titles = [one_line(side.get("title")) for side in (before, after)]
    if titles[0] != titles[1]:
        return titles[0], titles[1]
    first, second = (f"{side.get('title')} ({side.get('path')})" for side in (before, after))
    return one_line(first), one_line(second)


def sentence_of(row: Mapping[str, Any]) -> str:
    """A measure's change with its figures."""
    of = f" ({one_line(row['of'])})" if row.get("of") else ""
    unit = _LINE_UNITS.get(str(row.get("unit")), "")
    before, after = value_shown(row, "before").text, value_shown(row, "after").text
    change = f"{change_shown(row).text}{unit} {change_shown(row).interval}".rstrip()
    return f"{row.get('measure')}{of} {before} → {after}, {change}"


def value_shown(row: Mapping[str, Any], key: str = "value") -> Shown:
    """A figure of a measure in its unit, with its interval; `key` says which of the row's."""
    prefix = "" if key == "value" else f"{key}_"
    low, high = row.get(f"{prefix}low"), row.get(f"{prefix}high")
    unit, value = row.get("unit"), row.get(key)
    if unit == "examples":
        return Shown(count(value), number(value), bounds(low, high, 0, 1.0))
    if unit in ("points", "share"):
        shown = percent(value, _digits(row)) if unit == "share" else points(value, _digits(row))
        return Shown(shown, number(value), bounds(low, high, _digits(row)))
    return Shown(decimal(value, 3), number(value), bounds(low, high, 3, 1.0))


def change_shown(row: Mapping[str, Any]) -> Shown:
    """The difference of a measure with its sign, and its interval."""
    value, unit = row.get("difference"), row.get("unit")
    if unit in ("points", "share"):
        shown, interval = signed_points(value, _digits(row)), bounds(row.get("low"), row.get("high"), _digits(row))
    else:
        digits = 0 if unit == "examples" else 3
        shown, interval = decimal(value, digits), bounds(row.get("low"), row.get("high"), digits, 1.0)
        shown = f"+{shown}" if (number(value) or 0.0) > 0 else shown
    return Shown(shown, number(value), interval)


def _digits(row: Mapping[str, Any]) -> int:
    """Decimals of points: what is smaller than two of them needs a second one."""
    sizes = [abs(number(row.get(key)) or 0.0) for key in ("value", "before", "after")]
    return 2 if max(sizes) < _SMALL else 1


_SERIES = (
    Series("better", "s3", 3),
    Series("worse", "s2", 2),
    Series("changed", "s0", 0),
    Series("not shown", "s5", 5),
)
_MOST = 40


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A dot with an interval for each measure in points or shares whose change has one."""
    rows = [
        (row, known)
        for row in records(document.get("measures"))
        if row.get("unit") in ("points", "share")
        and (known := between(*(number(row.get(key)) for key in ("difference", "low", "high")))) is not None
    ]
    shown, omitted = first_of(rows, _MOST, "changes")
    if not shown:
        return {}
    words = [str(row.get("change")) for row, _ in shown]
    series = [each for each in _SERIES if each.name in words]
    names = [each.name for each in series]
    groups = []
    for (row, (difference, low, high)), word in zip(shown, words, strict=True):
        name = _name(row)
        hover = f"{name}: {signed_points(difference)} {bounds(low, high, 2)} points, {word}"
        dot = Dot(difference, hover, names.index(word), low, high)
        groups.append(DotGroup(name, (DotRow((dot,)),), signed_points(difference, 1), bounds(low, high)))
    return by_name(
        Dots(
            name="diff_changes",
            title="What changed",
            caption="The second report's figure minus the first's, in points, with its 95 % interval. An interval that "
            "holds 0, the dashed line, shows no change.",
            omitted=omitted,
            groups=tuple(groups),
            axis=Axis("change (points)", "signed points"),
            series=tuple(series),
            rules=(Rule(0.0),),
        )
    )


def _name(row: Mapping[str, Any]) -> str:
    of, measure = str(row.get("of") or "").replace("_only", ""), str(row.get("measure"))
    return f"{measure}, {of}" if of and of != "paired" else measure


_MOVES = {
    "same": "The verdict is as before",
    "better": "The verdict is better than before",
    "worse": "The verdict is worse than before",
    "now measured": "Before, it was not measurable",
    "no longer measurable": "Before, it was measured",
    "changed": "The verdict is another one than before",
}
# Both figures with their unit are wider than a card.
_UNITS = (" points", " examples")
_MOST_PATTERNS = 20
_MOST_LINES = 12


def summarize(document: Mapping[str, Any]) -> str:
    """The verdicts, the changes that are shown, and what limits them."""
    before, after = sides_named(document)
    lines = [f"before  {before}", f"after   {after}"]
    for row in records(document.get("verdicts")):
        first, second = (str(mapping(row, key).get("verdict")) for key in ("before", "after"))
        moved = first if first == second else f"{first} → {second}"
        lines.append(f"{_question(row):<13} {moved}")
    shown = changes_shown(document)
    lines += [f"  {word:<8} {sentence}" for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        lines.append(f"  and {len(shown) - _MOST_LINES} more")
    if not shown:
        lines.append("  no measure is shown to have changed")
    patterns = mapping(document, "patterns")
    if patterns:
        lines.append(f"patterns: {_pattern_counts(patterns)}")
    lines += [f"warning: {one_line(warning)}" for warning in document.get("warnings") or ()]
    return "\n".join(lines)


def cards(document: Mapping[str, Any]) -> list[VerdictCard]:
    """A card for each verdict, with both words and figures."""
    made = []
    for row in records(document.get("verdicts")):
        before, after = mapping(row, "before"), mapping(row, "after")
        words = [str(verdict.get("verdict")) for verdict in (before, after)]
        headline = mapping(after, "headline")
        value, unit, label = _headlines(mapping(before, "headline"), headline)
        interval = bounds_in(headline.get("low"), headline.get("high"), str(headline.get("unit"))) if value else ""
        now = "after: " if interval and " → " in value else ""
        moved, evidence = _MOVES[str(row.get("moved"))], evidence_of(after)
        made.append(
            VerdictCard(
                key=str(row.get("question")),
                title=_question(row),
                lead=str(after.get("question") or ""),
                verdict=words[0] if words[0] == words[1] else " → ".join(words),
                icon=ICONS.get(words[1], "none"),
                value=value,
                interval=f"{now}{interval} {unit}".strip(),
                label=label,
                # Its figures are those of the second report, also where the verdict is as before.
                evidence=moved + (f"; what follows is of the second report. {evidence}" if evidence else "."),
                rule=str(after.get("rule") or ""),
                anchor="changes",
            )
        )
    return made


def _headlines(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str, str]:
    """The deciding figure then and now, where both reports have one; its unit where it stands apart; what it is."""
    if not after:
        return "", "", ""
    unit, label = str(after.get("unit")), str(after.get("label"))
    now = with_unit(after.get("value"), unit)
    if not before or before.get("unit") != after.get("unit"):
        return now, "", label
    then = with_unit(before.get("value"), unit)
    if before.get("label") != after.get("label"):
        label = f"{label}; before {before.get('label')}"
    apart = next((word for word in _UNITS if now.endswith(word)), "")
    return f"{then.removesuffix(apart)} → {now.removesuffix(apart)}", apart.strip(), label


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """What changed, and which patterns."""
    found = [_changes(document)]
    if mapping(document, "patterns"):
        found.append(_patterns(mapping(document, "patterns")))
    return (*found, _inputs(document))


def verdict_section(document: Mapping[str, Any]) -> Section:
    """Both verdicts of each question, for Markdown, which has no cards."""
    rows = []
    for row in records(document.get("verdicts")):
        before, after = mapping(row, "before"), mapping(row, "after")
        value, unit, label = _headlines(mapping(before, "headline"), mapping(after, "headline"))
        rows.append(
            {
                "question": _question(row),
                "before": before.get("verdict"),
                "after": after.get("verdict"),
                "measured": f"{label}: {value} {unit}".rstrip() if value else None,
            }
        )
    columns = (
        Column("question", "question"),
        Column("before", "before"),
        Column("after", "after"),
        Column("measured", "measured"),
    )
    return Section(
        key="verdicts",
        title="Verdicts",
        lead=" → ".join(sides_named(document)),
        parts=(Part(table=Table("verdicts", "Verdicts", columns, tuple(rows))),),
        reason="" if rows else "the reports have no verdict in common",
    )


def _changes(document: Mapping[str, Any]) -> Section:
    measures = records(document.get("measures"))
    shown = changes_shown(document)
    sentences = [f"{word.capitalize()}: {sentence}." for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        sentences.append(f"{len(shown) - _MOST_LINES} more have changed; the table has them all.")
    sentences += left_open(document)
    alone = _measured_alone(document)
    return Section(
        key="changes",
        title="Changes",
        lead="Which measures moved, and by how much?",
        sentences=tuple(sentences),
        notes=tuple(str(note) for key in ("warnings", "notes") for note in document.get(key) or ()),
        parts=(Part("diff_changes", _measures(measures)), Part(table=alone)),
        reason="" if measures or alone.rows else "the reports have no measure in common",
    )


def _shown(row: Mapping[str, Any], key: str, of: str = "value") -> dict[str, Any]:
    """A figure of a row as the fields of one column."""
    text, sort, interval = change_shown(row) if of == "change" else value_shown(row, of)
    return {key: text, f"{key}_sort": sort, f"{key}_interval": interval}


def _figure_column(key: str) -> Column:
    return Column(key, key, sort=f"{key}_sort", aside=f"{key}_interval")


def _measures(measures: list[Mapping[str, Any]]) -> Table:
    rows = tuple(
        {
            **row,
            "question": _question(row),
            **_shown(row, "before", "before"),
            **_shown(row, "after", "after"),
            **_shown(row, "difference", "change"),
        }
        for row in measures
    )
    columns = (
        Column("question", "question"),
        Column("measure", "measure", aside="of"),
        _figure_column("before"),
        _figure_column("after"),
        Column("difference", "change", sort="difference_sort", aside="difference_interval"),
        Column("change", "reading"),
        Column("method", "interval"),
    )
    return Table("measures", "All measures", columns, rows, file="measures")


def _measured_alone(document: Mapping[str, Any]) -> Table:
    rows = tuple(
        {"question": _question(row), "measure": row.get("measure"), "of": row.get("of"), **_shown(row, side)}
        for side in ("before", "after")
        for row in records(document.get(f"only_{side}"))
    )
    columns = (
        Column("question", "question"),
        Column("measure", "measure", aside="of"),
        _figure_column("before"),
        _figure_column("after"),
    )
    return Table("measured_alone", "Measured in one of the reports alone", columns, rows)


def _question(row: Mapping[str, Any]) -> str:
    return str(row.get("question")).capitalize()


def _patterns(found: Mapping[str, Any]) -> Section:
    tables = [
        _pattern_table("Gone", "patterns_gone", records(found.get("gone")), ""),
        _pattern_table("New", "patterns_new", records(found.get("new")), ""),
        _pattern_table("With another label", "patterns_turned", records(found.get("turned")), "before"),
        _pattern_table("Stayed", "patterns_stayed", records(found.get("stayed")), "before"),
    ]
    return Section(
        key="patterns",
        title="Patterns",
        lead="Which patterns that give a label away are gone, and which are new?",
        sentences=(f"{_pattern_counts(found)[0].upper()}{_pattern_counts(found)[1:]}.",),
        notes=(str(found.get("source")),),
        parts=tuple(Part(table=table) for table in tables),
    )


def _pattern_counts(found: Mapping[str, Any]) -> str:
    sizes = {key: len(records(found.get(key))) for key in ("gone", "new", "turned", "stayed")}
    turned = f", {count(sizes['turned'])} give another label away" if sizes["turned"] else ""
    return (
        f"{count(found.get('n_before'))} before and {count(found.get('n_after'))} after: {count(sizes['gone'])} gone, "
        f"{count(sizes['new'])} new, {count(sizes['stayed'])} stayed{turned}"
    )


def _pattern_table(caption: str, file: str, rows: list[Mapping[str, Any]], compared: str) -> Table:
    shown = _first_of_each_label(rows)
    more = f": {len(shown)} of {count(len(rows))}, the first of each label" if len(rows) > len(shown) else ""
    columns = (
        Column("pattern", "pattern", "data"),
        Column("label", "label", "data"),
        Column("support", "training examples", "count"),
        Column("probability", "share with the label", "percent"),
        *((Column("probability_before", "share before", "percent"),) if compared else ()),
    )
    return Table(file, f"{caption}{more}", columns, tuple(shown), file=file, grouped_by="label", folded=True)


def _first_of_each_label(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As many rows of each label as there is room for, label by label: the most telling are often all of one."""
    labels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        labels.setdefault(str(row.get("label")), []).append(row)
    each = max(1, _MOST_PATTERNS // max(1, len(labels)))
    return [row for found in labels.values() for row in found[:each]][:_MOST_PATTERNS]


def _inputs(document: Mapping[str, Any]) -> Section:
    rows = tuple(
        {**side, "report": key, "digest": str(side.get("digest"))[:19]}
        for key in ("before", "after")
        for side in (mapping(document, key),)
    )
    columns = (
        Column("report", "report"),
        Column("title", "title"),
        Column("path", "file", "data"),
        Column("goldassay_version", "goldassay"),
        Column("finished", "finished"),
        Column("digest", "digest"),
    )
    return Section(
        key="inputs",
        title="What was compared",
        lead="Two reports as they lie on disk.",
        parts=(Part(table=Table("reports", "The two reports", columns, rows)),),
        appendix=True,
    )
