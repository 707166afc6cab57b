"""The page of scores before and after a date, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Series, by_name, first_of
from goldassay.core.numbers import bounds, count, points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.cutoff.result import CutoffResult, CutoffRow

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_SHOWN = 12
# Rows of the chart.
_MOST_DRAWN = 40


def sections(found: CutoffResult, _: Around) -> tuple[Section, ...]:
    """The section "Before and after a date"."""
    section = Section(
        key="cutoff",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=tuple(sentences(found)),
        parts=(Part("cutoff_periods", _table(found)),),
        how=explanation("goldassay.questions.cutoff", "how"),
    )
    return (section,)


def _table(found: CutoffResult) -> Table:
    several = len({row.dataset for row in found.rows}) > 1
    columns = [
        *([Column("dataset", "dataset", "data")] if several else []),
        Column("model", "model", "data"),
        Column("before", f"up to {found.date}", "points", 2),
        Column("after", "after it", "points", 2),
        with_bounds("drop", "drop", "difference", 2),
        *([with_bounds("within", "drop within equal difficulty", "difference", 2)] if found.difficulty else []),
        Column("n_before", "examples before", "count"),
        Column("n_after", "examples after", "count"),
    ]
    return table_of("cutoff", "Scores before and after the date, in points", columns, found.rows, file="cutoff")


def charts(found: CutoffResult, _: Around) -> dict[str, Chart]:
    """The score in each month, quarter or year, a color a model."""
    models = list(dict.fromkeys(each.model for each in found.periods))
    several = len({each.dataset for each in found.periods}) > 1
    rows: dict[str, list[Dot]] = {}
    sizes: dict[str, int] = {}
    for each in found.periods:
        name = f"{each.dataset}, {each.period}" if several else each.period
        name += " (after)" if each.late else ""
        hover = f"{each.model}, {name}: {points(each.score, 1)}, {count(each.n)} examples"
        rows.setdefault(name, []).append(Dot(each.score, hover, models.index(each.model), hollow=each.late))
        sizes[name] = each.n
    groups = [DotGroup(name, (DotRow(tuple(dots)),), f"n = {count(sizes[name])}") for name, dots in rows.items()]
    shown, omitted = first_of(groups, _MOST_DRAWN, "rows")
    series = tuple(Series(name, f"s{at}", at) for at, name in enumerate(models))
    return by_name(
        Dots(
            name="cutoff_periods",
            title="Scores by date",
            caption=f"Each mark is a mean score; outlined marks lie after {found.date}. A step there is another sign "
            "than a slow decline, as of items that get harder.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("score (points)"),
            series=series,
        )
    )


def sentences(found: CutoffResult) -> list[str]:
    """Which scores drop, the largest drop first."""
    rows = sorted(found.rows, key=lambda row: -_shown(row)[0])
    said = [_sentence(row, found, len({each.dataset for each in rows}) > 1) for row in rows[:_MOST_SHOWN]]
    undated = max(row.n_undated for row in rows)
    if undated:
        said.append(f"{count(undated)} examples have no date, and are left out of this.")
    one_sided = max(row.n_one_sided for row in rows)
    if one_sided:
        said.append(
            f"{count(one_sided)} examples have no difficulty, or one that one side lacks: the drop within leaves them "
            "out."
        )
    if not found.difficulty:
        said.append("There is no column of difficulties: later examples may be harder by themselves.")
    return said


def _shown(row: CutoffRow) -> tuple[float, float, float]:
    """The drop within equal difficulty where it is known, else the whole one, with its ends."""
    if row.within is None or row.within_low is None or row.within_high is None:
        return row.drop, row.drop_low, row.drop_high
    return row.within, row.within_low, row.within_high


def _sentence(row: CutoffRow, found: CutoffResult, several: bool) -> str:
    value, low, high = _shown(row)
    who = f"{row.model} on {row.dataset}" if several else row.model
    of = f" within equal {found.difficulty}" if row.within is not None else ""
    sure = "" if low > 0 or high < 0 else ", which is not significant"
    moved = "drops" if value >= 0 else "rises"
    # What the mix of difficulties hides may go the other way.
    opposed = "" if value * row.drop >= 0 else f" it {moved}"
    ends = bounds(low, high, 2) if value >= 0 else bounds(-high, -low, 2)
    return (
        f"{who} {'goes' if opposed else moved} from {points(row.before, 1)} to {points(row.after, 1)} points after "
        f"{found.date},{of}{opposed} by {points(abs(value), 2)} {ends}{sure}."
    )


def with_cutoff(result: Mapping[str, Any], found: CutoffResult | None) -> dict[str, Any]:
    """A plain result with that on the date under "cutoff", where one was given."""
    return dict(result) if found is None else {**result, "cutoff": PAGE.plain(found)}


def cutoff_lines(found: CutoffResult | None) -> list[str]:
    """What is said of scores before and after a date in a terminal; nothing where none was given."""
    if found is None:
        return []
    return [f"before and after {found.date} ({found.column}):", *(f"- {said}" for said in sentences(found))]


PAGE = Page(
    CutoffResult,
    title="Before and after a date",
    lead="Do models score less on examples that are newer than a date?",
    sections=sections,
    sentences=sentences,
    charts=charts,
)
