"""The page of a comparison: which of the models is better, what the noise in it is, and what would settle it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Rule, between, by_name, first_of
from goldassay.core.numbers import bounds, count, number, points, signed_points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.comparison.result import ComparisonResult, ModelScore, PairRow, TotalRow
from goldassay.questions.instability.paper import paper_tables as tables_of_spread
from goldassay.questions.instability.result import InstabilityResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# More pairs are read off the chart; their tables are to be opened.
_MOST_OPEN, _MOST_OPEN_OF_SUITE = 6, 24
_MOST_DRAWN = 40


def sections(found: ComparisonResult, _: Around) -> tuple[Section, ...]:
    """The section "Comparison"; of several datasets totals first, then each of them."""
    pairs, totals = found.pairs, found.totals
    of_margin = [row for row in (totals or pairs) if row.equivalence]
    equivalence = (Part(table=_equivalence(totals or pairs)),) if of_margin else ()
    if totals:
        parts = (
            Part(table=_suite_models(found)),
            Part("instability_differences", _totals(totals)),
            *equivalence,
            Part(table=_datasets(pairs, len(totals) > 1)),
        )
    else:
        parts = (
            Part("instability_scores", _models(found)),
            *((Part(table=_groups(found)),) if len(pairs) > 1 else ()),
            Part("instability_differences", _differences(pairs)),
            *equivalence,
            Part(table=_noise(pairs)),
        )
    section = Section(
        key="comparison",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=found.sentences,
        notes=found.notes,
        parts=parts,
        how=explanation("goldassay.questions.comparison", "how"),
    )
    return (section,)


def _cells_of(row: PairRow | TotalRow) -> Mapping[str, Any]:
    """What tables say of a pair in words."""
    return {
        "models": f"{row.a} − {row.b}",
        "distinguishable": "yes" if row.distinguishable else "no",
        "differ": "yes" if row.differ else "no",
    }


def _models(found: ComparisonResult) -> Table:
    def more(score: ModelScore) -> Mapping[str, Any]:
        return {"n_worse": sum(_is_ahead(pair, score.name) for pair in found.pairs)}

    spread = (
        with_bounds("sd", "SD over runs", "points", 2),
        Column("min", "lowest", "points", 2),
        Column("max", "highest", "points", 2),
    )
    columns = (
        Column("name", "model", "data"),
        Column("n_runs", "runs", "count"),
        Column("mean", "mean score", "points", 2),
        *(spread if any(each.n_runs > 1 for each in found.scores) else ()),
        Column("n_worse", "better than" if _of_models(found.pairs) else "run ahead of", "count"),
    )
    scores = sorted(found.scores, key=lambda each: -each.mean)
    return table_of("models", "Scores of the models, in points", columns, scores, more, file="models")


def _is_ahead(pair: PairRow, name: str) -> bool:
    """Whether a pair says that this model, or of models with one run this run, is ahead of the other."""
    return pair.differ and name == (pair.a if pair.difference > 0 else pair.b)


def _of_models(pairs: Sequence[PairRow]) -> bool:
    """Whether each model has several runs, so that the noise of runs is known."""
    return all(pair.of_models for pair in pairs)


def _groups(found: ComparisonResult) -> Table:
    means = {each.name: each.mean for each in found.scores}
    what = "models" if _of_models(found.pairs) else "runs"
    rows = []
    for rank, names in enumerate(found.groups, 1):
        first, last = (points(means[name], 2) for name in (names[0], names[-1]))
        shown = first if len(names) == 1 else f"{first} to {last}"
        rows.append({"rank": rank, "models": ", ".join(names), "means": shown})
    columns = (
        Column("rank", "group", "count"),
        Column("models", f"{what} that cannot be ranked", "data"),
        Column("means", "mean score"),
    )
    caption = f"Groups of {what} whose members cannot be ranked; one may be in several groups"
    return Table("groups", caption, columns, tuple(rows))


def _differences(pairs: Sequence[PairRow]) -> Table:
    chance = Column(
        "probability_better", "P(first run higher)", "percent", 0, low="probability_low", high="probability_high"
    )
    columns = (
        Column("models", "models", "data"),
        Column("difference", "difference", "difference", 2, low="low", high="high"),
        Column("p_value", "p", "probability"),
        *((Column("adjusted_p", "p, Holm's correction", "probability"),) if len(pairs) > 1 else ()),
        Column("p_examples", "p, examples alone", "probability", aside="test"),
        *((chance,) if any(pair.of_models for pair in pairs) else ()),
        *(() if _of_models(pairs) else (Column("differ", "runs differ"),)),
        Column("distinguishable", "significant"),
    )
    caption = f"Differences in points; interval and p over {_over(pairs)}"
    folded = len(pairs) > _MOST_OPEN
    return table_of("differences", caption, columns, pairs, _cells_of, file="comparisons", folded=folded)


def _over(pairs: Sequence[PairRow]) -> str:
    return pairs[0].interval_method.rpartition("over ")[2]


def _noise(pairs: Sequence[PairRow]) -> Table:
    """The standard error of each difference by its sources, and what it would take to see more."""

    def more(pair: PairRow) -> Mapping[str, Any]:
        # The squares of both parts add to the whole.
        examples, runs = pair.var_examples, None
        if pair.of_models:
            examples, runs = pair.example_variance, pair.var_total - pair.example_variance
        return {
            **_cells_of(pair),
            "sd_total": _root(pair.var_total),
            "sd_examples": _root(examples),
            "sd_runs": None if runs is None else _root(runs),
            "together": _together(pair),
        }

    columns = (
        Column("models", "models", "data"),
        Column("sd_total", "SD in all", "points", 2),
        Column("sd_examples", "of examples", "points", 2),
        Column("sd_runs", "of runs", "points", 2),
        Column("share_runs", "share of runs", "percent", 0, absent="one run: unknown"),
        Column("detectable_difference", "could be shown", "points", 2),
        with_bounds("seeds_needed", "runs for this difference", "count"),
        Column("examples_needed", "or examples", "count"),
        *((Column("together", "or both"),) if any(_together(pair) for pair in pairs) else ()),
    )
    caption = "Noise of the differences, and what it takes to see more, in points"
    return table_of("noise", caption, columns, pairs, more, folded=len(pairs) > _MOST_OPEN)


def _together(pair: PairRow) -> str:
    runs, examples = pair.joint_runs, pair.joint_examples
    return f"{count(runs)} runs on {count(examples)} examples" if runs and examples else ""


def _root(variance: float) -> float:
    return max(variance, 0.0) ** 0.5


def _equivalence(rows: Sequence[PairRow | TotalRow]) -> Table:
    """Whether the differences of pairs lie within the margin."""
    columns = (
        Column("models", "models", "data"),
        Column("margin", "margin", "points", 2),
        Column("equivalence", "the difference is"),
        Column("equivalence_p", "p, two one-sided tests", "probability"),
        Column("equivalence_low", "90 % interval from", "difference", 2),
        Column("equivalence_high", "to", "difference", 2),
    )
    caption = "Whether the models score the same as far as it matters, in points"
    return table_of("equivalence", caption, columns, rows, _cells_of, folded=len(rows) > _MOST_OPEN_OF_SUITE)


def _suite_models(found: ComparisonResult) -> Table:
    columns = (
        Column("name", "model", "data"),
        Column("macro", "mean of the datasets", "points", 2),
        Column("micro", "mean of the examples", "points", 2),
    )
    models = sorted(found.models, key=lambda each: -each.macro)
    return table_of("models", "Scores of the models over all datasets, in points", columns, models, file="models")


def _totals(totals: Sequence[TotalRow]) -> Table:
    of_models = all(row.distinguishable or not row.differ for row in totals)
    columns = (
        Column("models", "models", "data"),
        Column("macro_difference", "mean of the datasets", "difference", 2, low="macro_low", high="macro_high"),
        Column("macro_p", "p", "probability"),
        *((Column("adjusted_p", "p, Holm's correction", "probability"),) if len(totals) > 1 else ()),
        Column("micro_difference", "mean of the examples", "difference", 2, low="micro_low", high="micro_high"),
        Column("micro_p", "p", "probability"),
        *((Column("micro_adjusted_p", "p, Holm's correction", "probability"),) if len(totals) > 1 else ()),
        *(() if of_models else (Column("differ", "runs differ"),)),
        Column("distinguishable", "significant"),
    )
    caption = "Differences over all datasets, in points"
    folded = len(totals) > _MOST_OPEN_OF_SUITE
    return table_of("totals", caption, columns, totals, _cells_of, file="totals", folded=folded)


def _datasets(pairs: Sequence[PairRow], several: bool) -> Table:
    columns = (
        Column("dataset", "dataset", "data"),
        *((Column("models", "models", "data"),) if several else ()),
        Column("n_examples", "examples", "count"),
        Column("mean_a", "first", "points", 2),
        Column("mean_b", "second", "points", 2),
        Column("difference", "difference", "difference", 2, low="low", high="high"),
        Column("p_value", "p", "probability"),
        Column("adjusted_p", "p, Holm's correction over datasets", "probability"),
        Column("differ", "differ"),
    )
    which = "" if several or not pairs else f", {pairs[0].a} − {pairs[0].b}"
    caption = f"Differences on each dataset, in points{which}"
    folded = len(pairs) > _MOST_OPEN_OF_SUITE
    return table_of("differences", caption, columns, pairs, _cells_of, file="comparisons", folded=folded)


def charts(found: ComparisonResult, _: Around) -> dict[str, Chart]:
    """The differences with their intervals, against zero."""
    shown, omitted = first_of(_dots(found), _MOST_DRAWN, "pairs")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="instability_differences",
            title="Differences between models",
            caption="Each mark is the difference of two mean scores, the line its 95 % interval. Where the line "
            "crosses zero, luck alone can explain it. Filled marks are significant (of several models after Holm's "
            "correction); of models with one run it is these runs that differ, not the models.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("difference of mean scores (points)"),
            rules=(Rule(0.0, solid=True),),
            headings="above",
            capped=False,
        )
    )


def paper_charts(found: ComparisonResult, _: Around) -> dict[str, Chart]:
    """The same for papers, with all pairs."""
    groups = [replace(group, value="", interval="") for group in _dots(found)]
    if not groups:
        return {}
    axis = Axis("difference (points)")
    return by_name(
        Dots(name="differences", groups=tuple(groups), axis=axis, rules=(Rule(0.0, solid=True),), capped=False)
    )


def _dots(found: ComparisonResult) -> list[DotGroup]:
    rows: list[tuple[PairRow | TotalRow, str, tuple[float, float, float]]] = [
        (row, "mean of the datasets", (row.macro_difference, row.macro_low, row.macro_high)) for row in found.totals
    ]
    rows += [(row, row.dataset, (row.difference, row.low, row.high)) for row in found.pairs]
    groups = []
    for row, dataset, numbers in rows:
        known = between(*map(number, numbers))
        if known is None:
            continue
        difference, low, high = known
        name = f"{row.a} − {row.b}"
        if found.totals:
            name = f"{name}, {dataset}" if len(found.totals) > 1 else dataset
        shown, interval = signed_points(difference), bounds(low, high, 2)
        said = "significant" if row.distinguishable else "these runs differ" if row.differ else "not significant"
        hover = f"{name}: {shown} {interval} points, {said}"
        dot = Dot(difference, hover, low=low, high=high, hollow=not row.differ)
        groups.append(DotGroup(name, (DotRow((dot,)),), shown, interval))
    return groups


def paper_tables(found: ComparisonResult, around: Around) -> tuple[Table, ...]:
    """Tables for papers: the models' scores, and their differences."""
    columns = (
        Column("models", "Models", "data"),
        Column("difference", "Difference", "difference", 2),
        Column("none", "95\N{NARROW NO-BREAK SPACE}% interval", "interval", 2, low="low", high="high", absent=""),
        Column("adjusted_p", "p", "probability"),
        Column("detectable_difference", "Could be shown", "points", 2),
    )
    comment = (
        f"Differences of mean scores in points, over {_over(found.pairs)}; p after Holm's correction; the smallest "
        "true difference found with a chance of 80 %."
    )
    differences = table_of(
        "differences", comment, columns, found.pairs, lambda pair: {"none": None, "models": f"{pair.a} − {pair.b}"}
    )
    spread = around.answer(InstabilityResult)
    return (*(() if spread is None else tables_of_spread(spread, around)), differences)


PAGE = Page(
    ComparisonResult,
    title="Comparison",
    lead="Is one model better than the other, or was it luck?",
    sections=sections,
    charts=charts,
    paper_charts=paper_charts,
    paper_tables=paper_tables,
)
