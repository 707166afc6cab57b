"""The page of instability: the spread over runs, scores over training, and single examples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import UNDEFINED, bounds, count, decimal, number, points, ratio_digits, squared_points
from goldassay.core.sections import Around, Column, Kind, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.instability.charts import charts
from goldassay.questions.instability.paper import paper_charts, paper_tables, printed_tables
from goldassay.questions.instability.result import (
    DatasetCorrelations,
    ExampleMap,
    ExampleSpread,
    FigureInterval,
    Grouping,
    InstabilityResult,
    OfRuns,
    PairCount,
    RunScores,
    SeedPlan,
    Trajectory,
)
from goldassay.questions.rows import issue_of_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding

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


def sections(found: InstabilityResult, _: Around) -> tuple[Section, ...]:
    """The section "Instability", and where they were measured those on training and on single examples."""
    return (_spread(found), *_training(found), *_examples(found))


def _of(row: OfRuns) -> Mapping[str, Any]:
    return {"of": row.of}


def _of_part(row: RunScores) -> Mapping[str, Any]:
    """How the set is called, and on how many of all examples it is scored where these are fewer."""
    part = f"({count(row.n_examples)} of {count(row.n_asked)})" if row.n_asked else ""
    return {"of": row.of, "part": part}


def _spread(found: InstabilityResult) -> Section:
    notes = [*([found.note] if found.note else []), *found.caveats]
    if not found.sentences:
        notes += [_group_note(grouping) for grouping in found.groups]
    if (more := len(found.sentences) - _MOST_SENTENCES) > 0:
        notes.append(f"The least stable come first; report.json has {more} more.")
    done = found.interrupted
    interrupted = () if done is None else (
        f"Interrupted: {count(done.finished)} of {count(done.of)} sets of runs were measured.",
    )  # fmt: skip
    how = ("how_spread", *(("how_deviations",) if found.deviations else ()), "how_intervals")
    first, *others = _groups(found) or (None,)
    return Section(
        key="instability",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=(*interrupted, *found.sentences[:_MOST_SENTENCES]),
        notes=tuple(notes),
        caveats=found.caveats,
        parts=(
            Part("instability_runs", _scores(found)),
            Part(table=_one_run(found)),
            Part(table=_grades(found)),
            Part("instability_scores"),
            Part("instability_decomposition", _decomposition(found)),
            Part(table=_intervals(found)),
            *((Part(table=_deviations(found)),) if found.deviations else ()),
            Part(table=_plans(found)),
            Part(table=_plans_on_others(found)),
            *((Part(table=_within_and_between(found)),) if found.sentences else ()),
            Part("instability_groups", first),
            *(Part(table=table) for table in others),
        ),
        how=explanation("goldassay.questions.instability", *how),
    )


def _scores(found: InstabilityResult) -> Table:
    columns = (
        _RUNS_OF,
        Column("n_runs", "runs", "count"),
        Column("n_examples", "examples", "count"),
        Column("mean", "mean score", "points", aside="part"),
        with_bounds("sd", "SD", "points", 2),
        Column("min", "lowest", "points"),
        Column("max", "highest", "points"),
    )
    return table_of("scores", "Scores over runs, in points", columns, found.results, _of_part, file="instability")


def _one_run(found: InstabilityResult) -> Table:
    """What single runs score, and would score on other examples."""
    columns = (
        _RUNS_OF,
        Column("n_examples", "examples", "count"),
        Column("n_clusters", "clusters", "count"),
        replace(with_bounds("mean", "score", "points", 2), aside="part"),
    )
    alone = [row for row in found.results if row.n_runs == 1 and row.mean_low is not None]
    caption = "One run: its score, with the interval over other examples of the kind, 95 %, in points"
    return table_of("one_run", caption, columns, alone, _of_part, file="instability")


def _grades(found: InstabilityResult) -> Table:
    """Means on the scale of the grades."""

    def more(row: RunScores) -> Mapping[str, Any]:
        low, high = row.grades or (0.0, 1.0)
        ends = {"mean": row.mean, "mean_low": row.mean_low, "mean_high": row.mean_high, "min": row.min, "max": row.max}
        on_scale = {key: None if value is None else low + (high - low) * value for key, value in ends.items()}
        return {**_of(row), "scale": f"{low:g} to {high:g}", **on_scale}

    columns = (
        _RUNS_OF,
        Column("scale", "scale"),
        Column("mean", "mean grade", "decimal", low="mean_low", high="mean_high"),
        Column("min", "lowest run", "decimal"),
        Column("max", "highest run", "decimal"),
    )
    graded = [row for row in found.results if row.grades]
    return table_of("grades", "Mean grades, on their own scale", columns, graded, more, file="instability")


def _decomposition(found: InstabilityResult) -> Table:
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("total", "total", "variance"),
        Column("independent", "independent", "variance"),
        Column("covariance", "covariance", "variance"),
        Column("design_effect", "design effect", "ratio"),
        Column("effective_size", "effective size", "count"),
    )
    caption = "Where the variance comes from, in squared points"
    return table_of("decomposition", caption, columns, found.results, _of, file="instability")


def _intervals(found: InstabilityResult) -> Table:
    """Each figure with its bootstrap bounds over runs and over examples, of the first sets of runs."""
    shown = found.intervals
    rows = []
    for each in shown[:_MOST_INTERVALS]:
        for row in each.figures:
            name, scale, digits = _FIGURES[row.figure]
            value = number(row.value)
            fine = ratio_digits(value) if row.figure == "design_effect" and value is not None else digits
            rows.append(
                {
                    "of": each.of,
                    "figure": name,
                    "value": value,
                    "shown": decimal(None if value is None else scale * value, fine),
                    "runs": _bounds(row, row.runs_low, row.runs_high, scale, fine),
                    "examples": _bounds(row, row.examples_low, row.examples_high, scale, fine),
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


def _bounds(row: FigureInterval, low: float, high: float, scale: float, digits: int) -> str:
    """An interval; the effective size has no upper end where nothing of the spread is common to examples."""
    if number(low) is not None and number(high) is None and row.figure == "effective_size":
        return f"{decimal(low, 0)} or more"
    return bounds(low, high, digits, scale) or UNDEFINED


def _plans(found: InstabilityResult) -> Table:
    """What the runs could have shown, and how many it takes to see more."""
    steps = [decimal(100 * each.difference, 1) for each in (found.plans[0].seeds if found.plans else ())]

    def more(plan: SeedPlan) -> Mapping[str, Any]:
        ends = {
            f"seeds{place}{end}": getattr(each, f"n{end}")
            for place, each in enumerate(plan.seeds)
            for end in ("", "_low", "_high")
        }
        return {**_of(plan), **ends}

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
    return table_of("plans", caption, columns, found.plans, more, file="seeds_needed")


def _plans_on_others(found: InstabilityResult) -> Table:
    """The same for a conclusion about other examples, which have noise of their own."""
    steps = [decimal(100 * each.difference, 1) for each in (found.plans[0].seeds if found.plans else ())]

    def more(plan: SeedPlan) -> Mapping[str, Any]:
        runs = {
            f"others{place}": f"{count(each.n_examples)} examples or more"
            if each.n_others is None
            else f"{count(each.n_others)} runs"
            for place, each in enumerate(plan.seeds)
        }
        return {**_of(plan), **runs}

    columns = (
        _RUNS_OF,
        Column("n_examples", "examples", "count"),
        *(Column(f"others{place}", f"for {step} points") for place, step in enumerate(steps)),
    )
    caption = "What it takes at least, for a conclusion about other examples as well"
    return table_of("plans_on_others", caption, columns, found.plans, more, file="seeds_needed")


def _deviations(found: InstabilityResult) -> Table:
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("recommended", "recommended convention", "decimal", low="low", high="high"),
        Column("paper", "paper's convention", "decimal"),
    )
    caption = f"Normalized deviation against {found.reference} (holds for independent examples only)"
    rows = found.deviations.rows if found.deviations else ()
    return table_of("deviations", caption, columns, rows, _of, file="normalized_deviations")


def _within_and_between(found: InstabilityResult) -> Table:
    totals = {row.of: row.total for row in found.results}

    def more(grouping: Grouping) -> Mapping[str, Any]:
        total = totals[grouping.of]
        return {**_of(grouping), "share": grouping.between / total if total else None}

    columns = (
        _RUNS_OF,
        Column("column", "by", "data"),
        Column("n_groups", "groups", "count"),
        Column("within", "covariance within", "variance", low="within_runs_low", high="within_runs_high"),
        Column("between", "covariance between", "variance", low="between_runs_low", high="between_runs_high"),
        Column("share", "between, of the total", "percent", 0),
    )
    return table_of(
        "within_and_between", "Covariance within and between groups, in squared points", columns, found.groups, more
    )


def _group_note(grouping: Grouping) -> str:
    return (
        f"By {grouping.column}, {grouping.of}: of the covariance"
        f" {squared_points(grouping.within)} squared points lie within groups,"
        f" {squared_points(grouping.between)} between them."
    )


def _groups(found: InstabilityResult) -> tuple[Table, ...]:
    columns = (
        Column("group", "group", "data"),
        Column("n_examples", "examples", "count"),
        Column("mean", "mean score", "points"),
        Column("sd", "SD", "points", 2, low="sd_low_runs", high="sd_high_runs"),
        Column("share_of_variance", "share of variance", "percent", low="share_low_runs", high="share_high_runs"),
    )
    return tuple(
        table_of(
            f"groups{place}",
            f"By {grouping.column}: {grouping.of}",
            columns,
            grouping.rows,
            file="instability_groups",
            # Many tables of groups are read one at a time: the chart above them shows what matters.
            folded=len(found.groups) > 1,
        )
        for place, grouping in enumerate(found.groups)
    )


def _training(found: InstabilityResult) -> tuple[Section, ...]:
    """The section "Over training", or "Between datasets" without checkpoints; none where neither was measured."""
    moves, correlations = found.trajectories, found.correlations
    if not moves and not correlations:
        return ()
    title, lead = "Over training", "How does the score move from checkpoint to checkpoint, and on which sets alike?"
    if not moves:
        title, lead = "Between datasets", "Is a seed that is good on one dataset good on another?"
    # Of curves there are no examples on which a checkpoint could be chosen.
    unselected = moves and not found.reference and any(row.n_examples for row in found.results)
    section = Section(
        key="training",
        title=title,
        lead=lead,
        sentences=found.selection_sentences,
        notes=(
            *(f"{_model_of(each)}: {each.reason}." for each in correlations if each.reason),
            *([_NO_SELECTION] if unselected else []),
        ),
        parts=(
            Part("instability_trajectories", _moves(moves)),
            Part(table=_selections(found)),
            Part("instability_correlations", _correlations(correlations)),
        ),
        how=explanation("goldassay.questions.instability", "how_training"),
    )
    return (section,)


def _selections(found: InstabilityResult) -> Table:
    """Model selection on the standard dev set and on the analysis set itself, scored on its held-out fifth."""
    splits = next((row.n_splits for row in found.selections if row.n_splits), 0)
    columns = (
        Column("of", "runs of", "data", aside="reason"),
        Column("standard_mean", f"mean, by {found.reference}", "points"),
        Column("analysis_mean", "mean, by four fifths of itself", "points"),
        Column("standard_sd", f"SD, by {found.reference}", "points", 2),
        Column("analysis_sd", "SD, by itself", "points", 2),
        with_bounds("gain", "gain", "difference"),
    )
    caption = f"Choosing the checkpoint: score on the held-out fifth, mean over {count(splits)} splits"
    return table_of("selections", caption, columns, found.selections, _of, file="model_selection")


def _model_of(row: DatasetCorrelations) -> str:
    return " · ".join(filter(None, (row.model, row.condition)))


def _moves(moves: Sequence[Trajectory]) -> Table:
    def more(move: Trajectory) -> Mapping[str, Any]:
        best = max(move.points, key=lambda step: number(step.mean) or 0.0)
        change = move.largest_change
        return {
            **_of(move),
            "n_checkpoints": len(move.points),
            "last": move.points[-1].mean,
            "best": best.mean,
            "best_at": best.t,
            "jump": f"{'+' if change.change > 0 else ''}{points(change.change)}",
            "jump_of": f"seed {change.seed}, {change.before} to {change.after}",
        }

    columns = (
        _RUNS_OF,
        Column("n_checkpoints", "checkpoints", "count"),
        Column("last", "last mean", "points"),
        Column("best", "best mean", "points"),
        Column("best_at", "at", "data"),
        Column("jump", "largest change in one step"),
        Column("jump_of", "of", "data"),
    )
    return table_of(
        "trajectories", "How far the score moves, in points", columns, moves, more, file="trajectories"
    )  # fmt: skip


def _correlations(correlations: Sequence[DatasetCorrelations]) -> Table:
    rows = tuple(
        {
            "model": _model_of(each),
            "over": "checkpoints" if each.over == "checkpoints" else "final scores",
            "one": each.names[i],
            "other": each.names[j],
            "correlation": each.values[i][j],
            "correlation_low": each.low[i][j],
            "correlation_high": each.high[i][j],
            "n_runs_used": each.n_runs_used[i][j],
        }
        for each in correlations
        for i in range(len(each.names))
        for j in range(i + 1, len(each.names))
    )
    columns = (
        Column("model", "model", "data"),
        Column("over", "over"),
        Column("one", "dataset", "data"),
        Column("other", "with", "data"),
        with_bounds("correlation", "rank correlation", "decimal"),
        Column("n_runs_used", "runs used", "count"),
    )
    caption = "Rank correlation between datasets"
    return Table("correlations", caption, columns, rows, file="dataset_correlations", folded=True)


def _examples(found: InstabilityResult) -> tuple[Section, ...]:
    """The section "Examples"; none where they were not measured."""
    if not found.examples:
        return ()
    by_spread = {row.of: row.sd or 0.0 for row in found.results}
    shown = sorted(found.examples, key=lambda each: -by_spread[each.of])[:_MOST_SETS]
    notes = []
    if len(found.examples) > len(shown):
        notes.append(f"Single examples and pairs are shown for the {_MOST_SETS} least stable sets of runs.")
    section = Section(
        key="examples",
        title="Examples",
        lead="Which examples change from run to run, and which change together?",
        notes=tuple(notes),
        parts=(
            Part("instability_examples", _stability(found.examples)),
            Part("instability_map", _maps(found.maps)),
            # The least stable set of runs is shown, the others are to be opened.
            *(Part(table=_least_stable(each, place)) for place, each in enumerate(shown)),
            *(Part(table=_always_wrong(each, place)) for place, each in enumerate(shown)),
            *(Part(table=_pairs(each, place)) for place, each in enumerate(shown)),
            *(Part(table=table) for place, each in enumerate(shown) for table in _pairs_by_group(each, place)),
        ),
        how=explanation("goldassay.questions.instability", "how_examples"),
    )
    return (section,)


def _stability(found: Sequence[ExampleSpread]) -> Table:
    def more(each: ExampleSpread) -> Mapping[str, Any]:
        varying = each.n_examples - each.n_constant
        return {**_of(each), "varying": varying, "share": varying / each.n_examples}

    columns = (
        _RUNS_OF,
        Column("n_examples", "examples", "count"),
        Column("n_always_right", "always right", "count"),
        Column("n_always_wrong", "always wrong", "count"),
        Column("varying", "depend on the run", "count"),
        Column("share", "share", "percent"),
        *(
            (Column("flips", "changes in training", "decimal"),)
            if any(each.flips is not None for each in found)
            else ()
        ),
    )
    return table_of("stability", "How many examples depend on the run", columns, found, more, file="examples")


def _maps(found: Sequence[ExampleMap]) -> Table:
    rows = tuple({**vars(group), "of": each.of} for each in found for group in each.groups)
    columns = (
        _RUNS_OF,
        Column("group", "group", "data"),
        Column("n_examples", "examples drawn", "count"),
        Column("within", "mean correlation with each other", "decimal"),
        Column("with_others", "with the rest", "decimal"),
    )
    return Table("maps", "Correlation within groups and with the rest", columns, rows, folded=True)


def _least_stable(found: ExampleSpread, place: int) -> Table:
    columns, rows = _listed(found, found.least_stable)
    many = found.n_least_stable
    tied = f": the first of {count(many)} that are equally unstable" if many > len(rows) else ""
    caption = f"Least stable examples, {found.of}{tied}"
    return Table(f"least_stable{place}", caption, columns, rows, file="examples", folded=place > 0)


def _always_wrong(found: ExampleSpread, place: int) -> Table:
    """Examples that no run gets right: hard ones, or ones with a wrong label."""
    columns, rows = _listed(found, found.always_wrong)
    more = f": the first of {count(found.n_always_wrong)}" if found.n_always_wrong > len(rows) else ""
    caption = f"Examples wrong in every run, {found.of}{more}"
    return Table(f"always_wrong{place}", caption, columns, rows, file="examples", folded=True)


def _listed(
    found: ExampleSpread, examples: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Column, ...], tuple[Mapping[str, Any], ...]]:
    """Rows of the table of examples with their texts, label and groups, and how stable they are."""
    rows = tuple({**row, "right_in": f"{round(row['mean'] * found.n_runs)} of {found.n_runs}"} for row in examples)
    columns = (
        Column("example_id", "example", "data"),
        *(Column(name, name, "prose") for name in found.text_columns),
        *((Column("label", "label", "data"),) if examples and "label" in examples[0] else ()),
        *(Column(f"group_{name}", name, "data") for name in found.group_columns),
        Column("right_in", "right in", sort="mean"),
        Column("disagreement", "runs that disagree", "percent"),
        *((Column("flips", "changes in training", "decimal", 1),) if any("flips" in row for row in examples) else ()),
    )
    return columns, rows


def _pairs(found: ExampleSpread, place: int) -> Table:
    """Rows of the table of pairs."""
    written, groups = found.text_columns, found.group_columns
    rows = tuple(
        {
            **row,
            **_side(row, "_a", written),
            **_side(row, "_b", written),
            **{f"shared_{name}": _shared(row, name) for name in groups},
        }
        for row in found.pairs[:_PAIRS]
    )
    shown: Kind = "prose" if written else "data"
    columns = (
        Column("example_a", "one example", shown, aside="named_a"),
        Column("example_b", "the other", shown, aside="named_b"),
        *(Column(f"shared_{name}", f"same {name}", "data", absent="no") for name in groups),
        Column("covariance", "covariance", "decimal", 4),
        Column("ties", "pairs with as much", "count"),
    )
    bound = ", the most that is possible" if found.pairs_reach_bound else ""
    ties = found.n_pairs_at_most
    tied = f": the first of {count(ties)} with the largest covariance{bound}" if ties > _PAIRS else ""
    caption = f"Pairs that change together, {found.of}{tied}"
    return Table(f"pairs{place}", caption, columns, rows, file="covarying_pairs", folded=place > 0)


def _side(row: Mapping[str, Any], side: str, written: tuple[str, ...]) -> dict[str, str]:
    """One example of a pair: its texts, below each other, named by its id; the id alone where there are no texts."""
    name = str(row[f"example_id{side}"])
    parts = [str(row[key]) for text in written if row.get(key := f"{text}{side}") is not None]
    if not parts:
        return {f"example{side}": name}
    label = row.get(f"label{side}")
    return {f"example{side}": "\n→ ".join(parts), f"named{side}": name if label is None else f"{name} · {label}"}


def _shared(row: Mapping[str, Any], group: str) -> Any:
    """The group that both examples of a pair are in, or None."""
    one, other = row[f"group_{group}_a"], row[f"group_{group}_b"]
    return one if one == other else None


def _pairs_by_group(found: ExampleSpread, place: int) -> list[Table]:
    """Where the pairs with the largest covariance lie, for each group column.

    Open is the last column, the finest as a rule, of the least stable set of runs.
    """
    columns = (
        Column("a", "one example's", "data"),
        Column("b", "the other's", "data", absent="the same"),
        Column("n_pairs", "pairs", "count"),
        Column("share", "share", "percent"),
    )
    tables = []
    for at, each in enumerate(found.pairs_by_group):

        def more(row: PairCount, total: int = each.n_pairs) -> Mapping[str, Any]:
            return {"b": row.b if row.a != row.b else None, "share": row.n_pairs / total}

        caption = (
            f"The {count(each.n_pairs)} pairs with the largest covariance by {each.column}, {found.of}: "
            f"{count(each.n_within)} lie within one"
        )
        folded = place > 0 or at < len(found.pairs_by_group) - 1
        tables.append(table_of(f"pairs_by_group{place}_{at}", caption, columns, each.rows, more, folded=folded))
    return tables


def issues(_: InstabilityResult, finding: Finding) -> tuple[Issue, ...]:
    """The rows behind the verdict."""
    return issue_of_rows(finding, "answer changes with the seed")


PAGE = Page(
    InstabilityResult,
    title="Instability",
    lead="Would the score come out the same with another seed?",
    sections=sections,
    charts=charts,
    paper_charts=paper_charts,
    paper_tables=paper_tables,
    printed_tables=printed_tables,
    issues=issues,
)
