"""Each change between two reports in a line: its figures in their unit, and what may be said of it.

The chart of what changed between two reports, measure by measure, around no change.

Cards, sections and terminal lines of a comparison of two reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Rule, Series, between, by_name, first_of
from goldassay.core.errors import one_line
from goldassay.core.numbers import bounds, bounds_in, count, decimal, number, percent, points, signed_points, with_unit
from goldassay.core.results import ICONS
from goldassay.core.sections import Column, Part, Section, Table, VerdictCard, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from goldassay.core.document import Headline
    from goldassay.core.figures import Unit
    from goldassay.gate.reading import Alone, Change, DiffResult, ListChange, VerdictMove

_SMALL = 0.02
_LINE_UNITS = {"points": " points", "share": " points", "bits": " bits"}
_SHOWN = ("better", "worse", "changed")


class Shown(NamedTuple):
    """A figure in its unit, the number it sorts by, and its interval."""

    text: str
    sort: float | None
    interval: str


def changes_shown(found: DiffResult) -> list[tuple[str, str]]:
    """What changed for certain, as a word and a sentence each, in the order of the measures.

    That is every measure whose interval leaves 0 out, and how many examples there are: what a mend has cost.
    """
    return [
        (row.change, sentence_of(row))
        for row in found.measures
        if row.change in _SHOWN or (row.describes_data and row.difference)
    ]


def left_open(found: DiffResult) -> list[str]:
    """How many measures are not shown to have changed, and which moved with no interval to judge by."""
    still = sum(row.change == "not shown" for row in found.measures)
    lines = [f"{still} measure{'s' if still > 1 else ''} cannot be said to have changed."] if still else []
    moved = [row for row in found.measures if row.change in ("fewer", "more") and not row.describes_data]
    if moved:
        names = list(dict.fromkeys(row.measure for row in moved))
        lines.append(f"Moved, with no interval to judge by: {', '.join(names)}.")
    return lines


def sides_named(found: DiffResult) -> tuple[str, str]:
    """What the two reports are called: their titles, with their files where these are the same."""
    titles = [one_line(side.title) for side in (found.before, found.after)]
    if titles[0] != titles[1]:
        return titles[0], titles[1]
    first, second = (f"{side.title} ({side.path})" for side in (found.before, found.after))
    return one_line(first), one_line(second)


def sentence_of(row: Change) -> str:
    """A measure's change with its figures."""
    of = f" ({one_line(row.of)})" if row.of else ""
    unit = _LINE_UNITS.get(row.unit, "")
    change = f"{change_shown(row).text}{unit} {change_shown(row).interval}".rstrip()
    return f"{row.measure}{of} {before_shown(row).text} → {after_shown(row).text}, {change}"


def before_shown(row: Change) -> Shown:
    """The figure of the first report."""
    return _shown(row.unit, row.before, row.before_low, row.before_high, _digits(row.before, row.after))


def after_shown(row: Change) -> Shown:
    """The figure of the second report."""
    return _shown(row.unit, row.after, row.after_low, row.after_high, _digits(row.before, row.after))


def alone_shown(row: Alone) -> Shown:
    """The figure of the only report that has one."""
    return _shown(row.unit, row.value, row.low, row.high, _digits(row.value))


def _shown(unit: Unit, value: float, low: float, high: float, digits: int) -> Shown:
    """A figure in its unit, with its interval."""
    if unit == "examples":
        return Shown(count(value), number(value), bounds(low, high, 0, 1.0))
    if unit in ("points", "share"):
        shown = percent(value, digits) if unit == "share" else points(value, digits)
        return Shown(shown, number(value), bounds(low, high, digits))
    return Shown(decimal(value, 3), number(value), bounds(low, high, 3, 1.0))


def change_shown(row: Change) -> Shown:
    """The difference of a measure with its sign, and its interval."""
    value, low, high = row.difference, row.low, row.high
    if row.unit in ("points", "share"):
        digits = _digits(row.before, row.after)
        return Shown(signed_points(value, digits), number(value), bounds(low, high, digits))
    digits = 0 if row.unit == "examples" else 3
    shown = decimal(value, digits)
    return Shown(f"+{shown}" if value > 0 else shown, number(value), bounds(low, high, digits, 1.0))


def _digits(*values: float) -> int:
    """Decimals of points: what is smaller than two of them needs a second one."""
    return 2 if max(abs(number(value) or 0.0) for value in values) < _SMALL else 1


_SERIES = (
    Series("better", "s3", 3),
    Series("worse", "s2", 2),
    Series("changed", "s0", 0),
    Series("not shown", "s5", 5),
)
_MOST = 40


def charts(found: DiffResult) -> dict[str, Chart]:
    """A dot with an interval for each measure in points or shares whose change has one."""
    rows = [
        (row, known)
        for row in found.measures
        if row.unit in ("points", "share")
        and (known := between(*map(number, (row.difference, row.low, row.high)))) is not None
    ]
    shown, omitted = first_of(rows, _MOST, "changes")
    if not shown:
        return {}
    words = [row.change for row, _ in shown]
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


def _name(row: Change) -> str:
    of = row.of.replace("_only", "")
    return f"{row.measure}, {of}" if of and of != "paired" else row.measure


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


def summarize(found: DiffResult) -> str:
    """The verdicts, the changes that are shown, and what limits them."""
    before, after = sides_named(found)
    lines = [f"before  {before}", f"after   {after}"]
    for row in found.verdicts:
        first, second = row.before.verdict, row.after.verdict
        moved = first if first == second else f"{first} → {second}"
        value, unit, _ = _headlines(row.before.headline, row.after.headline)
        figures = f", {value} {unit}".rstrip() if " → " in value and row.what.startswith("the figure") else ""
        lines.append(f"{row.question.capitalize():<13} {moved}: {row.what}{figures}")
    shown = changes_shown(found)
    lines += [f"  {word:<8} {sentence}" for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        lines.append(f"  and {len(shown) - _MOST_LINES} more")
    if not shown:
        lines.append("  no change of a measure is significant")
    if (patterns := found.lists.get("patterns")) is not None:
        lines.append(f"patterns: {_pattern_counts(patterns)}")
    lines += [f"warning: {one_line(warning)}" for warning in found.warnings]
    return "\n".join(lines)


def cards(found: DiffResult) -> list[VerdictCard]:
    """A card for each verdict, with both words and figures."""
    made = []
    for row in found.verdicts:
        before, after = row.before, row.after
        words = [before.verdict, after.verdict]
        value, unit, label = _headlines(before.headline, after.headline)
        headline = after.headline
        interval = "" if headline is None else bounds_in(headline.low, headline.high, headline.unit)
        now = "after: " if interval and " → " in value else ""
        moved, evidence = f"{_MOVES[row.moved]}: {row.what}", after.evidence
        made.append(
            VerdictCard(
                key=row.question,
                title=row.question.capitalize(),
                lead=after.question,
                verdict=words[0] if words[0] == words[1] else " → ".join(words),
                icon=ICONS.get(words[1], "none"),
                value=value,
                interval=f"{now}{interval} {unit}".strip(),
                label=label,
                # Its figures are those of the second report, also where the verdict is as before.
                evidence=moved + (f"; what follows is of the second report. {evidence}" if evidence else "."),
                beneath=tuple(filter(None, (after.not_seen, after.limits))),
                rule=after.rule,
                anchor="changes",
            )
        )
    return made


def _headlines(before: Headline | None, after: Headline | None) -> tuple[str, str, str]:
    """The deciding figure then and now, where both reports have one; its unit where it stands apart; what it is."""
    if after is None:
        return "", "", ""
    now, label = with_unit(after.value, after.unit), after.label
    if before is None or before.unit != after.unit:
        return now, "", label
    then = with_unit(before.value, after.unit)
    if before.label != after.label:
        label = f"{label}; before {before.label}"
    apart = next((word for word in _UNITS if now.endswith(word)), "")
    return f"{then.removesuffix(apart)} → {now.removesuffix(apart)}", apart.strip(), label


def sections(found: DiffResult) -> tuple[Section, ...]:
    """What changed, and which patterns."""
    patterns = found.lists.get("patterns")
    return (_changes(found), *(() if patterns is None else (_patterns(patterns),)), _inputs(found))


def verdict_section(found: DiffResult) -> Section:
    """Both verdicts of each question, for Markdown, which has no cards."""

    def cells_of(row: VerdictMove) -> Mapping[str, Any]:
        value, unit, label = _headlines(row.before.headline, row.after.headline)
        return {
            "question": row.question.capitalize(),
            "before": row.before.verdict,
            "after": row.after.verdict,
            "changed": row.what,
            "measured": f"{label}: {value} {unit}".rstrip() if value else None,
        }

    columns = (
        Column("question", "question"),
        Column("before", "before"),
        Column("after", "after"),
        Column("changed", "what changed"),
        Column("measured", "measured"),
    )
    return Section(
        key="verdicts",
        title="Verdicts",
        lead=" → ".join(sides_named(found)),
        parts=(Part(table=table_of("verdicts", "Verdicts", columns, found.verdicts, cells_of)),),
        reason="" if found.verdicts else "the reports have no verdict in common",
    )


def _changes(found: DiffResult) -> Section:
    shown = changes_shown(found)
    sentences = [f"{word.capitalize()}: {sentence}." for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        sentences.append(f"{len(shown) - _MOST_LINES} more have changed; the table has them all.")
    sentences += left_open(found)
    alone = _measured_alone(found)
    return Section(
        key="changes",
        title="Changes",
        lead="Which measures moved, and by how much?",
        sentences=tuple(sentences),
        notes=(*found.warnings, *found.notes),
        parts=(Part("diff_changes", _measures(found.measures)), Part(table=alone)),
        reason="" if found.measures or alone.rows else "the reports have no measure in common",
    )


def _cells(key: str, shown: Shown | None) -> dict[str, Any]:
    """A figure of a row as the fields of one column; None where the row has none."""
    text, sort, interval = shown or (None, None, None)
    return {key: text, f"{key}_sort": sort, f"{key}_interval": interval}


def _figure_column(key: str) -> Column:
    return Column(key, key, sort=f"{key}_sort", aside=f"{key}_interval")


def _measures(measures: Sequence[Change]) -> Table:
    def cells_of(row: Change) -> Mapping[str, Any]:
        return {
            "question": row.question.capitalize(),
            **_cells("before", before_shown(row)),
            **_cells("after", after_shown(row)),
            **_cells("difference", change_shown(row)),
        }

    columns = (
        Column("question", "question"),
        Column("measure", "measure", aside="of"),
        _figure_column("before"),
        _figure_column("after"),
        Column("difference", "change", sort="difference_sort", aside="difference_interval"),
        Column("change", "reading"),
        Column("method", "interval"),
    )
    return table_of("measures", "All measures", columns, measures, cells_of, file="measures")


def _measured_alone(found: DiffResult) -> Table:
    gone = set(map(id, found.only_before))

    def cells_of(row: Alone) -> Mapping[str, Any]:
        before, after = (alone_shown(row), None) if id(row) in gone else (None, alone_shown(row))
        return {"question": row.question.capitalize(), **_cells("before", before), **_cells("after", after)}

    columns = (
        Column("question", "question"),
        Column("measure", "measure", aside="of"),
        _figure_column("before"),
        _figure_column("after"),
    )
    rows = (*found.only_before, *found.only_after)
    return table_of("measured_alone", "Measured in one of the reports alone", columns, rows, cells_of)


def _patterns(found: ListChange) -> Section:
    tables = [
        _pattern_table("Gone", "patterns_gone", found.gone),
        _pattern_table("New", "patterns_new", found.new),
        _pattern_table("With another label", "patterns_turned", found.turned, compared=True),
        _pattern_table("Stayed", "patterns_stayed", found.stayed, compared=True),
    ]
    return Section(
        key="patterns",
        title="Patterns",
        lead="Which patterns that give a label away are gone, and which are new?",
        sentences=(f"{_pattern_counts(found)[0].upper()}{_pattern_counts(found)[1:]}.",),
        notes=(found.source,),
        parts=tuple(Part(table=table) for table in tables),
    )


def _pattern_counts(found: ListChange) -> str:
    turned = f", {count(found.turned.height)} give another label away" if found.turned.height else ""
    return (
        f"{count(found.n_before)} before and {count(found.n_after)} after: {count(found.gone.height)} gone, "
        f"{count(found.new.height)} new, {count(found.stayed.height)} stayed{turned}"
    )


def _pattern_table(caption: str, file: str, patterns: pl.DataFrame, *, compared: bool = False) -> Table:
    rows = patterns.to_dicts()
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


def _first_of_each_label(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As many rows of each label as there is room for, label by label: the most telling are often all of one."""
    labels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        labels.setdefault(str(row["label"]), []).append(row)
    each = max(1, _MOST_PATTERNS // max(1, len(labels)))
    return [row for found in labels.values() for row in found[:each]][:_MOST_PATTERNS]


def _inputs(found: DiffResult) -> Section:
    sides = (("before", found.before), ("after", found.after))
    rows = tuple({**vars(side), "report": name, "digest": side.digest[:19]} for name, side in sides)
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
