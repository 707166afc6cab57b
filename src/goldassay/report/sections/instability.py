"""Instability: how far a score moves from seed to seed, and which examples move together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import (
    UNDEFINED,
    bounds,
    count,
    decimal,
    decimal_cell,
    number,
    percent,
    percent_cell,
    points_cell,
    ratio_digits,
    whole_cell,
)
from goldassay.report.outline import QUESTIONS, Cell, Part, Section, Table, data, mapping, records, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section:
    """The section "Instability"."""
    found = mapping(document, "instability")
    sentences = [str(sentence) for sentence in found.get("sentences") or ()]
    deviations = mapping(found, "deviations")
    notes = [str(found["note"])] if found.get("note") else []
    if interrupted := mapping(found, "interrupted"):
        notes.insert(0, _interrupted(interrupted))
    notes += [str(caveat) for caveat in found.get("caveats") or ()]
    if not sentences:
        notes += [_group_note(grouping) for grouping in records(found.get("groups"))]
    if len(sentences) > _MOST_SENTENCES:
        notes.append(f"Said of the least stable first; {len(sentences) - _MOST_SENTENCES} more stand in report.json.")
    groups = _groups(found)
    # Many tables of groups are read one at a time: the picture above them shows what matters.
    folded = len(groups) > 1
    first, *others = groups or (Table("", (), ()),)
    title, question = QUESTIONS["instability"]
    return Section(
        key="instability",
        title=title,
        question=question + (" (of the probe)" if found.get("source") == "probe" else ""),
        verdict=mapping(document, "verdicts", "instability"),
        findings=tuple(sentences[:_MOST_SENTENCES]),
        notes=tuple(notes),
        parts=(
            Part("instability_runs", _scores(found)),
            Part("instability_scores", Table("", (), ())),
            Part("instability_decomposition", _decomposition(found)),
            Part(None, _intervals(found), folded=True),
            Part(None, _deviations(deviations)),
            Part(None, _plans(found)),
            Part(None, _within_and_between(found) if sentences else Table("", (), ())),
            Part("instability_groups", first, folded=folded),
            *(Part(None, table, folded=folded) for table in others),
        ),
        reason=why_absent(document.get("instability")),
        explained=True,
    )


# As many as are read; the least stable runs come first.
_MOST_SENTENCES = 9
_MOST_INTERVALS = 12
# What each figure is called, what it is multiplied by to be printed, and with how many decimals.
_FIGURES = {
    "mean": ("mean score", 100.0, 2),
    "sd": ("SD", 100.0, 2),
    "total": ("total variance", 10_000.0, 4),
    "independent": ("independent part", 10_000.0, 4),
    "covariance": ("covariance", 10_000.0, 4),
    "design_effect": ("design effect", 1.0, 2),
    "effective_size": ("effective size", 1.0, 0),
}


def row_name(row: Mapping[str, Any]) -> str:
    """What a row of results is of: its name, else model, dataset and condition."""
    return str(row.get("name") or "") or " · ".join(
        str(row[key]) for key in ("model", "dataset", "condition") if row.get(key)
    )


def square_points(variance: Any) -> Cell:
    """A variance in squared points."""
    x = number(variance)
    return Cell(UNDEFINED if x is None else decimal(10_000 * x, 4), sort=x)


def _scores(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            data(row_name(row)),
            whole_cell(row.get("n_runs")),
            whole_cell(row.get("n_examples")),
            points_cell(row.get("mean")),
            points_cell(row.get("sd"), row.get("sd_low"), row.get("sd_high"), digits=2),
            points_cell(row.get("min")),
            points_cell(row.get("max")),
        )
        for row in records(found.get("results"))
    )
    columns = ("runs of", "runs", "examples", "mean score", "SD", "lowest", "highest")
    return Table("Scores over runs, in points", columns, rows, "instability")


def _decomposition(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(row_name(row), code=True, aside=str(row.get("reason") or "")),
            square_points(row.get("total")),
            square_points(row.get("independent")),
            square_points(row.get("covariance")),
            decimal_cell(row.get("design_effect"), ratio_digits(row.get("design_effect"))),
            Cell(count(row.get("effective_size")), number(row.get("effective_size"))),
        )
        for row in records(found.get("results"))
    )
    columns = ("runs of", "total", "independent", "covariance", "design effect", "effective size")
    return Table("Where the variance comes from, in squared points", columns, rows, "instability")


def _interrupted(found: Mapping[str, Any]) -> str:
    """What is missing from a report that was interrupted."""
    return f"Interrupted: {count(found.get('finished'))} of {count(found.get('of'))} sets of runs were measured."


def _intervals(found: Mapping[str, Any]) -> Table:
    """Each figure with its bootstrap bounds over runs and over examples, of the first sets of runs."""
    shown = records(found.get("intervals"))
    rows = []
    for each in shown[:_MOST_INTERVALS]:
        for row in records(each.get("figures")):
            figure = str(row.get("figure"))
            name, scale, digits = _FIGURES.get(figure, (figure, 1.0, 3))
            value = number(row.get("value"))
            size = value if figure in ("design_effect", "effective_size") else None
            fine = digits if size is None else 0 if figure == "effective_size" else ratio_digits(size)
            rows.append(
                (
                    data(row_name(each)),
                    Cell(name),
                    Cell(decimal(None if value is None else scale * value, fine), value),
                    *(_bounds(row, over, scale, fine) for over in ("runs", "examples")),
                )
            )
    more = f", the first {_MOST_INTERVALS} of {len(shown)} sets" if len(shown) > _MOST_INTERVALS else ""
    columns = ("runs of", "figure", "value", "over runs", "over examples")
    caption = f"Intervals of every figure, 95 %, over other runs and over other examples{more}"
    return Table(caption, columns, tuple(rows), "intervals")


def _bounds(row: Mapping[str, Any], over: str, scale: float, digits: int) -> Cell:
    """An interval; the effective size has no upper end where nothing of the spread is common to examples."""
    low, high = row.get(f"{over}_low"), row.get(f"{over}_high")
    if number(low) is not None and number(high) is None and row.get("figure") == "effective_size":
        return Cell(f"{decimal(low, 0)} or more")
    return Cell(bounds(low, high, digits, scale) or UNDEFINED)


def _plans(found: Mapping[str, Any]) -> Table:
    """What the runs could have shown, and how many it takes to see more."""
    rows = []
    plans = records(found.get("plans"))
    for row in plans:
        least, low, high = (row.get(f"smallest_difference{end}") for end in ("", "_low", "_high"))
        seeds = [
            Cell(count(each.get("n")), number(each.get("n")), aside=bounds(each.get("n_low"), each.get("n_high"), 0, 1))
            for each in records(row.get("seeds"))
        ]
        rows.append((data(row_name(row)), whole_cell(row.get("n_runs")), points_cell(least, low, high, 2), *seeds))
    steps = (
        [decimal(100 * (number(each.get("difference")) or 0), 1) for each in records(plans[0].get("seeds"))]
        if plans
        else []
    )
    rows = [row for row in rows if len(row) == 3 + len(steps)]
    columns = ("runs of", "runs", "smallest difference found", *(f"runs for {step} points" for step in steps))
    caption = "How many runs of each of two such models it takes, to find a true difference four times out of five"
    return Table(caption, columns, tuple(rows), "seeds_needed")


def _deviations(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(row_name(row), code=True, aside=str(row.get("reason") or "")),
            Cell(
                decimal(row.get("recommended")),
                number(row.get("recommended")),
                aside=bounds(row.get("low"), row.get("high"), 2, 1),
            ),
            decimal_cell(row.get("paper")),
        )
        for row in records(found.get("rows"))
    )
    caption = f"Normalized deviation against {found.get('reference')} (holds for independent examples only)"
    columns = ("runs of", "recommended convention", "paper's convention")
    return Table(caption, columns, rows, "normalized_deviations")


def _within_and_between(found: Mapping[str, Any]) -> Table:
    totals = {row_name(row): number(row.get("total")) for row in records(found.get("results"))}
    rows = []
    for grouping in records(found.get("groups")):
        total, between = totals.get(row_name(grouping)), number(grouping.get("between"))
        rows.append(
            (
                data(row_name(grouping)),
                data(grouping.get("column")),
                whole_cell(grouping.get("n_groups")),
                _with_bounds(grouping, "within"),
                _with_bounds(grouping, "between"),
                percent_cell(between / total if total and between is not None else None, 0),
            )
        )
    columns = ("runs of", "by", "groups", "covariance within", "covariance between", "between, of the total")
    return Table("Covariance within and between groups, in squared points", columns, tuple(rows))


def _with_bounds(grouping: Mapping[str, Any], part: str) -> Cell:
    cell = square_points(grouping.get(part))
    low, high = grouping.get(f"{part}_runs_low"), grouping.get(f"{part}_runs_high")
    return Cell(cell.text, cell.sort, aside=bounds(low, high, 4, 10_000))


def _group_note(grouping: Mapping[str, Any]) -> str:
    return (
        f"By {grouping.get('column')}, {row_name(grouping)}: of the covariance"
        f" {square_points(grouping.get('within')).text} squared points lie within groups,"
        f" {square_points(grouping.get('between')).text} between them."
    )


def _groups(found: Mapping[str, Any]) -> tuple[Table, ...]:
    tables = []
    for grouping in records(found.get("groups")):
        rows = tuple(
            (
                data(row.get("group")),
                whole_cell(row.get("n_examples")),
                points_cell(row.get("mean")),
                points_cell(row.get("sd"), row.get("sd_low_runs"), row.get("sd_high_runs"), digits=2),
                Cell(
                    percent(row.get("share_of_variance")),
                    number(row.get("share_of_variance")),
                    aside=bounds(row.get("share_low_runs"), row.get("share_high_runs")),
                ),
            )
            for row in records(grouping.get("rows"))
        )
        caption = f"By {grouping.get('column')}: {row_name(grouping)}"
        columns = ("group", "examples", "mean score", "SD", "share of variance")
        tables.append(Table(caption, columns, rows, "instability_groups"))
    return tuple(tables)
