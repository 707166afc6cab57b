"""Sections on instability: the spread over runs, training, and single examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, row_name, texts, why_absent
from goldassay.core.numbers import UNDEFINED, bounds, count, decimal, number, points, ratio_digits, squared_points
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

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
# The page shows examples and pairs of so many sets of runs; the tables of the report have all.
_MOST_SETS = 4
_PAIRS = 10
_NO_SELECTION = "Which dev set should choose the checkpoint is shown where --reference names the standard one."
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


def training_sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Over training", or "Between datasets" without checkpoints; none where neither was measured."""
    found = mapping(document, "instability")
    moves, correlations = records(found.get("trajectories")), records(found.get("correlations"))
    if not moves and not correlations:
        return ()
    title, lead = "Over training", "How does the score move from checkpoint to checkpoint, and on which sets alike?"
    if not moves:
        title, lead = "Between datasets", "Is a seed that is good on one dataset good on another?"
    section = Section(
        key="training",
        title=title,
        lead=lead,
        sentences=texts(found.get("selection_sentences")),
        notes=(
            *(f"{_where(each)}: {each['reason']}." for each in correlations if each.get("reason")),
            *([_NO_SELECTION] if moves and found.get("selections") == [] and not found.get("reference") else []),
        ),
        parts=(
            Part("instability_trajectories", _moves(moves)),
            Part(table=_selections(records(found.get("selections")), str(found.get("reference")))),
            Part("instability_correlations", _correlation_table(correlations)),
        ),
        how=explanation("goldassay.questions.instability", "how_training"),
    )
    return (section,)


def _selections(selections: list[Mapping[str, Any]], reference: str) -> Table:
    """Model selection on the standard dev set and on the analysis set itself, scored on its held-out fifth."""
    splits = next((number(row.get("n_splits")) for row in selections if number(row.get("n_splits"))), 0)
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("standard_mean", f"mean, by {reference}", "points"),
        Column("analysis_mean", "mean, by four fifths of itself", "points"),
        Column("standard_sd", f"SD, by {reference}", "points", 2),
        Column("analysis_sd", "SD, by itself", "points", 2),
        with_bounds("gain", "gain", "difference"),
    )
    rows = tuple({**row, "of": row_name(row)} for row in selections)
    caption = f"Choosing the checkpoint: score on the held-out fifth, mean over {count(splits)} splits"
    return Table("selections", caption, columns, rows, file="model_selection")


def _where(row: Mapping[str, Any]) -> str:
    return str(row.get("name") or "") or " · ".join(str(row[key]) for key in ("model", "condition") if row.get(key))


def _moves(moves: list[Mapping[str, Any]]) -> Table:
    rows = []
    for row in moves:
        steps = records(row.get("points"))
        if not steps:
            continue
        best = max(steps, key=lambda step: number(step.get("mean")) or 0.0)
        change = mapping(row, "largest_change")
        size = number(change.get("change"))
        rows.append(
            {
                "of": row_name(row),
                "n_checkpoints": len(steps),
                "last": steps[-1].get("mean"),
                "best": best.get("mean"),
                "best_at": best.get("t"),
                "jump": None if size is None else f"{'+' if size > 0 else ''}{points(size)}",
                "jump_of": f"seed {change.get('seed')}, {change.get('before')} to {change.get('after')}",
            }
        )
    columns = (
        Column("of", "runs of", "data"),
        Column("n_checkpoints", "checkpoints", "count"),
        Column("last", "last mean", "points"),
        Column("best", "best mean", "points"),
        Column("best_at", "at", "data"),
        Column("jump", "largest change in one step"),
        Column("jump_of", "of", "data"),
    )
    return Table("trajectories", "How far the score moves, in points", columns, tuple(rows), file="trajectories")


def _at(matrix: Any, i: int, j: int) -> Any:
    """A value of a matrix, or None where it does not reach so far."""
    row = matrix[i] if isinstance(matrix, (list, tuple)) and i < len(matrix) else None
    return row[j] if isinstance(row, (list, tuple)) and j < len(row) else None


def _correlation_table(correlations: list[Mapping[str, Any]]) -> Table:
    rows = []
    for each in correlations:
        names = each.get("names") or ()
        for i, one in enumerate(names):
            rows += [
                {
                    "model": _where(each),
                    "over": "checkpoints" if each.get("over") == "checkpoints" else "final scores",
                    "one": one,
                    "other": other,
                    "correlation": _at(each.get("values"), i, j),
                    "correlation_low": _at(each.get("low"), i, j),
                    "correlation_high": _at(each.get("high"), i, j),
                    "n_runs_used": _at(each.get("n_runs_used"), i, j),
                }
                for j, other in enumerate(names)
                if j > i
            ]
    columns = (
        Column("model", "model", "data"),
        Column("over", "over"),
        Column("one", "dataset", "data"),
        Column("other", "with", "data"),
        with_bounds("correlation", "rank correlation", "decimal"),
        Column("n_runs_used", "runs used", "count"),
    )
    caption = "Rank correlation between datasets"
    return Table("correlations", caption, columns, tuple(rows), file="dataset_correlations", folded=True)


def example_sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Examples"; none where they were not measured."""
    measured = mapping(document, "instability")
    found = records(measured.get("examples"))
    if not found:
        return ()
    by_spread = {row_name(row): number(row.get("sd")) or 0 for row in records(measured.get("results"))}
    shown = sorted(found, key=lambda row: -by_spread.get(row_name(row), 0))[:_MOST_SETS]
    notes = []
    if len(found) > len(shown):
        notes.append(f"Single examples and pairs are shown for the {_MOST_SETS} least stable sets of runs.")
    section = Section(
        key="examples",
        title="Examples",
        lead="Which examples change from run to run, and which change together?",
        notes=tuple(notes),
        parts=(
            Part("instability_examples", _stability(found)),
            Part("instability_map", _maps(records(measured.get("maps")))),
            # The least stable set of runs is shown, the others are to be opened.
            *(Part(table=_least_stable(row, place)) for place, row in enumerate(shown)),
            *(Part(table=_always_wrong(row, place)) for place, row in enumerate(shown)),
            *(Part(table=_pairs(row, place)) for place, row in enumerate(shown)),
            *(Part(table=table) for place, row in enumerate(shown) for table in _pairs_by_group(row, place)),
        ),
        how=explanation("goldassay.questions.instability", "how_examples"),
    )
    return (section,)


def _stability(found: list[Mapping[str, Any]]) -> Table:
    flips = any(number(row.get("flips")) is not None for row in found)
    rows = []
    for row in found:
        n = number(row.get("n_examples")) or 0
        varying = n - (number(row.get("n_constant")) or 0)
        rows.append(
            {**row, "of": row_name(row), "n_examples": n, "varying": varying, "share": varying / n if n else None}
        )
    columns = (
        Column("of", "runs of", "data"),
        Column("n_examples", "examples", "count"),
        Column("n_always_right", "always right", "count"),
        Column("n_always_wrong", "always wrong", "count"),
        Column("varying", "depend on the run", "count"),
        Column("share", "share", "percent"),
        *((Column("flips", "changes in training", "decimal"),) if flips else ()),
    )
    return Table("stability", "How many examples depend on the run", columns, tuple(rows), file="examples")


def _maps(found: list[Mapping[str, Any]]) -> Table:
    rows = tuple({**group, "of": row_name(each)} for each in found for group in records(each.get("groups")))
    columns = (
        Column("of", "runs of", "data"),
        Column("group", "group", "data"),
        Column("n_examples", "examples drawn", "count"),
        Column("within", "mean correlation with each other", "decimal"),
        Column("with_others", "with the rest", "decimal"),
    )
    return Table("maps", "Correlation within groups and with the rest", columns, rows, folded=True)


def _least_stable(found: Mapping[str, Any], place: int) -> Table:
    columns, rows = _listed(found, "least_stable")
    many = number(found.get("n_least_stable")) or 0
    tied = f": the first of {count(many)} that are equally unstable" if many > len(rows) else ""
    caption = f"Least stable examples, {row_name(found)}{tied}"
    return Table(f"least_stable{place}", caption, columns, rows, file="examples", folded=place > 0)


def _always_wrong(found: Mapping[str, Any], place: int) -> Table:
    """Examples that no run gets right: hard ones, or ones with a wrong label."""
    columns, rows = _listed(found, "always_wrong")
    many = number(found.get("n_always_wrong")) or 0
    more = f": the first of {count(many)}" if many > len(rows) else ""
    caption = f"Examples wrong in every run, {row_name(found)}{more}"
    return Table(f"always_wrong{place}", caption, columns, rows, file="examples", folded=True)


def _listed(found: Mapping[str, Any], key: str) -> tuple[tuple[Column, ...], tuple[Mapping[str, Any], ...]]:
    """Examples with their texts, label and groups, and how stable they are."""
    examples = records(found.get(key))
    runs = number(found.get("n_runs")) or 0
    rows = []
    for row in examples:
        share = number(row.get("mean")) or 0
        rows.append({**row, "mean": share, "right_in": f"{round(share * runs)} of {round(runs)}"})
    columns = (
        Column("example_id", "example", "data"),
        *(Column(name, name, "prose") for name in texts(found.get("text_columns"))),
        *((Column("label", "label", "data"),) if examples and "label" in examples[0] else ()),
        *(Column(f"group_{name}", name, "data") for name in texts(found.get("group_columns"))),
        Column("right_in", "right in", sort="mean"),
        Column("disagreement", "runs that disagree", "percent"),
        *((Column("flips", "changes in training", "decimal", 1),) if any("flips" in row for row in examples) else ()),
    )
    return columns, tuple(rows)


def _pairs(found: Mapping[str, Any], place: int) -> Table:
    written, groups = texts(found.get("text_columns")), texts(found.get("group_columns"))
    rows = tuple(
        {
            **row,
            **_side(row, "_a", written),
            **_side(row, "_b", written),
            **{f"shared_{name}": _shared(row, name) for name in groups},
        }
        for row in records(found.get("pairs"))[:_PAIRS]
    )
    shown: Any = "prose" if written else "data"
    columns = (
        Column("example_a", "one example", shown, aside="named_a"),
        Column("example_b", "the other", shown, aside="named_b"),
        *(Column(f"shared_{name}", f"same {name}", "data", absent="no") for name in groups),
        Column("covariance", "covariance", "decimal", 4),
        Column("ties", "pairs with as much", "count"),
    )
    bound = ", the most that is possible" if found.get("pairs_reach_bound") else ""
    ties = number(found.get("n_pairs_at_most")) or 0
    tied = f": the first of {count(ties)} with the largest covariance{bound}" if ties > _PAIRS else ""
    caption = f"Pairs that change together, {row_name(found)}{tied}"
    return Table(f"pairs{place}", caption, columns, rows, file="covarying_pairs", folded=place > 0)


def _side(row: Mapping[str, Any], side: str, written: tuple[str, ...]) -> dict[str, str]:
    """One example of a pair: its texts, below each other, named by its id; the id alone where there are no texts."""
    name = str(row.get(f"example_id{side}"))
    parts = [str(row[key]) for text in written if row.get(key := f"{text}{side}") is not None]
    if not parts:
        return {f"example{side}": name}
    label = row.get(f"label{side}")
    return {f"example{side}": "\n→ ".join(parts), f"named{side}": name if label is None else f"{name} · {label}"}


def _shared(row: Mapping[str, Any], group: str) -> Any:
    """The group that both examples of a pair are in, or None."""
    one, other = row.get(f"group_{group}_a"), row.get(f"group_{group}_b")
    return one if one == other else None


def _pairs_by_group(found: Mapping[str, Any], place: int) -> list[Table]:
    """Where the pairs with the largest covariance lie, for each group column.

    Open is the last column, the finest as a rule, of the least stable set of runs.
    """
    groupings = records(found.get("pairs_by_group"))
    columns = (
        Column("a", "one example's", "data"),
        Column("b", "the other's", "data", absent="the same"),
        Column("n_pairs", "pairs", "count"),
        Column("share", "share", "percent"),
    )
    tables = []
    for at, each in enumerate(groupings):
        total = number(each.get("n_pairs")) or 0
        rows = tuple(
            {
                **row,
                "b": row.get("b") if row.get("a") != row.get("b") else None,
                "share": (number(row.get("n_pairs")) or 0) / total if total else None,
            }
            for row in records(each.get("rows"))
        )
        caption = (
            f"The {count(total)} pairs with the largest covariance by {each.get('column')}, {row_name(found)}: "
            f"{count(each.get('n_within'))} lie within one"
        )
        folded = place > 0 or at < len(groupings) - 1
        tables.append(Table(f"pairs_by_group{place}_{at}", caption, columns, rows, folded=folded))
    return tables
