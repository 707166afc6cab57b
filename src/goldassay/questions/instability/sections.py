"""Sections on instability: how far a score moves from seed to seed, and which examples move together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, row_name, texts, why_absent
from goldassay.core.numbers import UNDEFINED, bounds, count, decimal, number, ratio_digits, squared_points
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.questions.instability.example_sections import example_sections
from goldassay.questions.instability.training_section import training_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Instability", "Would the score come out the same with another seed?"

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
_RUNS_OF = Column("of", "runs of", "data")


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "Another seed gives about the same score: ordinary spread only.",
        "caution": "Another seed moves the score, or examples flip together.",
        "unsound": "Another seed gives a clearly different score.",
    }


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Instability", and where they were measured those on training and on single examples."""
    return (_spread(document), *training_sections(document), *example_sections(document))


def _spread(document: Mapping[str, Any]) -> Section:
    found = mapping(document, "instability")
    sentences, caveats = texts(found.get("sentences")), texts(found.get("caveats"))
    deviations = mapping(found, "deviations")
    notes = [str(found["note"])] if found.get("note") else []
    notes += caveats
    if not sentences:
        notes += [_group_note(grouping) for grouping in records(found.get("groups"))]
    if len(sentences) > _MOST_SENTENCES:
        notes.append(f"Said of the least stable first; {len(sentences) - _MOST_SENTENCES} more stand in report.json.")
    stopped = mapping(found, "interrupted")
    interrupted = (_interrupted(stopped),) if stopped else ()
    how = ("how_spread", *(("how_deviations",) if deviations else ()), "how_intervals")
    first, *others = _groups(found) or (None,)
    return Section(
        key="instability",
        title=TITLE,
        lead=LEAD,
        sentences=(*interrupted, *sentences[:_MOST_SENTENCES]),
        notes=tuple(notes),
        caveats=caveats,
        parts=(
            Part("instability_runs", _scores(found)),
            Part(table=_one_run(found)),
            Part(table=_grades(found)),
            Part("instability_scores"),
            Part("instability_decomposition", _decomposition(found)),
            Part(table=_intervals(found)),
            Part(table=_deviations(deviations)),
            Part(table=_plans(found)),
            Part(table=_plans_on_others(found)),
            *((Part(table=_within_and_between(found)),) if sentences else ()),
            Part("instability_groups", first),
            *(Part(table=table) for table in others),
        ),
        reason=why_absent(document.get("instability")),
        how=explanation("goldassay.questions.instability", *how),
    )


def _scores(found: Mapping[str, Any]) -> Table:
    columns = (
        _RUNS_OF,
        Column("n_runs", "runs", "count"),
        Column("n_examples", "examples", "count"),
        Column("mean", "mean score", "points"),
        with_bounds("sd", "SD", "points", 2),
        Column("min", "lowest", "points"),
        Column("max", "highest", "points"),
    )
    rows = tuple({**row, "of": row_name(row)} for row in records(found.get("results")))
    return Table("scores", "Scores over runs, in points", columns, rows, file="instability")


def _one_run(found: Mapping[str, Any]) -> Table:
    """What single runs score, and would score on other examples."""
    columns = (
        _RUNS_OF,
        Column("n_examples", "examples", "count"),
        Column("n_clusters", "clusters", "count"),
        with_bounds("mean", "score", "points", 2),
    )
    alone = [row for row in records(found.get("results")) if row.get("n_runs") == 1 and "mean_low" in row]
    caption = "One run: its score, with the interval over other examples of the kind, 95 %, in points"
    rows = tuple({**row, "of": row_name(row)} for row in alone)
    return Table("one_run", caption, columns, rows, file="instability")


def _grades(found: Mapping[str, Any]) -> Table:
    """Means on the scale of the grades."""
    rows = []
    for row in records(found.get("results")):
        scale = row.get("grades")
        if isinstance(scale, list) and len(scale) == 2:
            low, width = scale[0], scale[1] - scale[0]
            on_scale = {
                key: low + width * value
                for key in ("mean", "mean_low", "mean_high", "min", "max")
                if (value := number(row.get(key))) is not None
            }
            rows.append({"of": row_name(row), "scale": f"{scale[0]:g} to {scale[1]:g}", **on_scale})
    columns = (
        _RUNS_OF,
        Column("scale", "scale"),
        Column("mean", "mean grade", "decimal", low="mean_low", high="mean_high"),
        Column("min", "lowest run", "decimal"),
        Column("max", "highest run", "decimal"),
    )
    return Table("grades", "Mean grades, on their own scale", columns, tuple(rows), file="instability")


def _decomposition(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("total", "total", "variance"),
        Column("independent", "independent", "variance"),
        Column("covariance", "covariance", "variance"),
        Column("design_effect", "design effect", "ratio"),
        Column("effective_size", "effective size", "count"),
    )
    rows = tuple({**row, "of": row_name(row)} for row in records(found.get("results")))
    caption = "Where the variance comes from, in squared points"
    return Table("decomposition", caption, columns, rows, file="instability")


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
                {
                    "of": row_name(each),
                    "figure": name,
                    "value": value,
                    "shown": decimal(None if value is None else scale * value, fine),
                    **{over: _bounds(row, over, scale, fine) for over in ("runs", "examples")},
                }
            )
    more = f", the first {_MOST_INTERVALS} of {len(shown)} sets" if len(shown) > _MOST_INTERVALS else ""
    columns = (
        _RUNS_OF,
        Column("figure", "figure"),
        Column("shown", "value", sort="value"),
        Column("runs", "over runs"),
        Column("examples", "over examples"),
    )
    caption = f"Intervals of every figure, 95 %, over other runs and over other examples{more}"
    return Table("intervals", caption, columns, tuple(rows), file="intervals", folded=True)


def _bounds(row: Mapping[str, Any], over: str, scale: float, digits: int) -> str:
    """An interval; the effective size has no upper end where nothing of the spread is common to examples."""
    low, high = row.get(f"{over}_low"), row.get(f"{over}_high")
    if number(low) is not None and number(high) is None and row.get("figure") == "effective_size":
        return f"{decimal(low, 0)} or more"
    return bounds(low, high, digits, scale) or UNDEFINED


def _plans(found: Mapping[str, Any]) -> Table:
    """What the runs could have shown, and how many it takes to see more."""
    plans = records(found.get("plans"))
    steps = [
        decimal(100 * (number(each.get("difference")) or 0), 1)
        for each in records(plans[0].get("seeds") if plans else None)
    ]
    rows = []
    for plan in plans:
        row = {**plan, "of": row_name(plan)}
        seeds = records(plan.get("seeds"))
        for place, each in enumerate(seeds):
            row |= {f"seeds{place}{end}": each.get(f"n{end}") for end in ("", "_low", "_high")}
        if len(seeds) == len(steps):
            rows.append(row)
    columns = (
        _RUNS_OF,
        Column("n_runs", "runs", "count"),
        with_bounds("smallest_difference", "smallest difference found", "points", 2),
        *(with_bounds(f"seeds{place}", f"runs for {step} points", "count") for place, step in enumerate(steps)),
    )
    caption = (
        "How many runs of each of two such models it takes, to find a true difference on these examples four times out "
        "of five"
    )
    return Table("plans", caption, columns, tuple(rows), file="seeds_needed")


def _plans_on_others(found: Mapping[str, Any]) -> Table:
    """The same for a conclusion about other examples, which have noise of their own."""
    plans = records(found.get("plans"))
    steps: dict[str, str] = {}
    rows = []
    for plan in plans:
        row = {**plan, "of": row_name(plan)}
        for place, each in enumerate(records(plan.get("seeds"))):
            steps[f"others{place}"] = decimal(100 * (number(each.get("difference")) or 0), 1)
            runs = number(each.get("n_others"))
            row[f"others{place}"] = (
                f"{count(each.get('n_examples'))} examples or more" if runs is None else f"{count(runs)} runs"
            )
        rows.append(row)
    columns = (
        _RUNS_OF,
        Column("n_examples", "examples", "count"),
        *(Column(key, f"for {step} points") for key, step in steps.items()),
    )
    caption = "What it takes at least, for a conclusion about other examples as well"
    return Table("plans_on_others", caption, columns, tuple(rows), file="seeds_needed")


def _deviations(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("recommended", "recommended convention", "decimal", low="low", high="high"),
        Column("paper", "paper's convention", "decimal"),
    )
    rows = tuple({**row, "of": row_name(row)} for row in records(found.get("rows")))
    caption = f"Normalized deviation against {found.get('reference')} (holds for independent examples only)"
    return Table("deviations", caption, columns, rows, file="normalized_deviations")


def _within_and_between(found: Mapping[str, Any]) -> Table:
    totals = {row_name(row): number(row.get("total")) for row in records(found.get("results"))}
    rows = []
    for grouping in records(found.get("groups")):
        total, between = totals.get(row_name(grouping)), number(grouping.get("between"))
        share = between / total if total and between is not None else None
        rows.append({**grouping, "of": row_name(grouping), "share": share})
    columns = (
        _RUNS_OF,
        Column("column", "by", "data"),
        Column("n_groups", "groups", "count"),
        Column("within", "covariance within", "variance", low="within_runs_low", high="within_runs_high"),
        Column("between", "covariance between", "variance", low="between_runs_low", high="between_runs_high"),
        Column("share", "between, of the total", "percent", 0),
    )
    caption = "Covariance within and between groups, in squared points"
    return Table("within_and_between", caption, columns, tuple(rows))


def _group_note(grouping: Mapping[str, Any]) -> str:
    return (
        f"By {grouping.get('column')}, {row_name(grouping)}: of the covariance"
        f" {squared_points(grouping.get('within'))} squared points lie within groups,"
        f" {squared_points(grouping.get('between'))} between them."
    )


def _groups(found: Mapping[str, Any]) -> tuple[Table, ...]:
    groupings = records(found.get("groups"))
    columns = (
        Column("group", "group", "data"),
        Column("n_examples", "examples", "count"),
        Column("mean", "mean score", "points"),
        Column("sd", "SD", "points", 2, low="sd_low_runs", high="sd_high_runs"),
        Column("share_of_variance", "share of variance", "percent", low="share_low_runs", high="share_high_runs"),
    )
    return tuple(
        Table(
            f"groups{place}",
            f"By {grouping.get('column')}: {row_name(grouping)}",
            columns,
            tuple(records(grouping.get("rows"))),
            file="instability_groups",
            # Many tables of groups are read one at a time: the chart above them shows what matters.
            folded=len(groupings) > 1,
        )
        for place, grouping in enumerate(groupings)
    )
