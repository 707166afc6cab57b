"""Sections on a comparison: which of the models is better, what the noise in it is, and what would settle it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, row_name, texts
from goldassay.core.numbers import count, number, points
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.questions.comparison.suite_sections import equivalence_table, suite_section

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Comparison", "Is one model better than the other, or was it luck?"

# More pairs are read off the chart; their tables are to be opened.
_MOST_OPEN = 6


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """None: what a comparison says is its evidence."""
    return {}


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Comparison"; none where nothing was compared."""
    found = mapping(document, "comparison")
    pairs = records(found.get("pairs"))
    if not pairs:
        return ()
    if found.get("totals"):
        return (suite_section(found, TITLE, LEAD),)
    section = Section(
        key="comparison",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        notes=texts(found.get("notes")),
        caveats=texts(found.get("caveats")),
        parts=(
            Part("instability_scores", _models(document, pairs)),
            *((Part(table=_groups(document, found)),) if len(pairs) > 1 else ()),
            Part("instability_differences", _differences(pairs)),
            *((Part(table=equivalence_table(pairs)),) if any(pair.get("equivalence") for pair in pairs) else ()),
            Part(table=_noise(pairs)),
        ),
        how=explanation("goldassay.questions.comparison", "how"),
    )
    return (section,)


def _models(document: Mapping[str, Any], pairs: list[Mapping[str, Any]]) -> Table:
    results = sorted(
        records(mapping(document, "instability").get("results")), key=lambda row: -(number(row.get("mean")) or 0)
    )
    rows = tuple(
        {**row, "of": row_name(row), "n_worse": sum(_is_ahead(pair, row_name(row)) for pair in pairs)}
        for row in results
    )
    several = any((number(row.get("n_runs")) or 0) > 1 for row in results)
    spread = (
        with_bounds("sd", "SD over runs", "points", 2),
        Column("min", "lowest", "points", 2),
        Column("max", "highest", "points", 2),
    )
    columns = (
        Column("of", "model", "data"),
        Column("n_runs", "runs", "count"),
        Column("mean", "mean score", "points", 2),
        *(spread if several else ()),
        Column("n_worse", "better than" if _of_models(pairs) else "run ahead of", "count"),
    )
    return Table("models", "Scores of the models, in points", columns, rows, file="models")


def _is_ahead(pair: Mapping[str, Any], name: str) -> bool:
    """Whether a pair says that this model, or of models with one run this run, is ahead of the other."""
    difference = number(pair.get("difference")) or 0
    better = pair.get("a") if difference > 0 else pair.get("b")
    return bool(pair.get("differ")) and str(better) == name


def _of_models(pairs: list[Mapping[str, Any]]) -> bool:
    """Whether each model has several runs, so that the noise of runs is known."""
    return all(number(pair.get("var_runs")) is not None for pair in pairs)


def _groups(document: Mapping[str, Any], found: Mapping[str, Any]) -> Table:
    means = {row_name(row): row.get("mean") for row in records(mapping(document, "instability").get("results"))}
    what = "models" if _of_models(records(found.get("pairs"))) else "runs"
    rows = []
    for rank, group in enumerate(found.get("groups") or (), 1):
        names = texts(group)
        if names:
            span = [points(means.get(name), 2) for name in (names[0], names[-1])]
            shown = span[0] if len(names) == 1 else f"{span[0]} to {span[1]}"
            rows.append({"rank": rank, "models": ", ".join(names), "means": shown})
    columns = (
        Column("rank", "group", "count"),
        Column("models", f"{what} that cannot be told apart", "data"),
        Column("means", "mean score"),
    )
    caption = f"Groups of {what} of which no two can be told apart; one may stand in several"
    return Table("groups", caption, columns, tuple(rows))


def _differences(pairs: list[Mapping[str, Any]]) -> Table:
    runs = any(number(pair.get("var_runs")) is not None for pair in pairs)
    rows = tuple(
        {
            **pair,
            "models": _named(pair),
            "told_apart": "yes" if pair.get("told_apart") else "no",
            "differ": "yes" if pair.get("differ") else "no",
        }
        for pair in pairs
    )
    chance = Column(
        "probability_better",
        "P(first run higher)",
        "percent",
        0,
        low="probability_low",
        high="probability_high",
    )
    columns = (
        Column("models", "models", "data"),
        Column("difference", "difference", "difference", 2, low="low", high="high"),
        Column("p_value", "p", "probability"),
        *((Column("adjusted_p", "p, Holm's correction", "probability"),) if len(pairs) > 1 else ()),
        Column("p_examples", "p, examples alone", "probability", aside="test"),
        *((chance,) if runs else ()),
        *(() if _of_models(pairs) else (Column("differ", "runs differ"),)),
        Column("told_apart", "told apart"),
    )
    over = str(pairs[0].get("interval_method") or "").rpartition("over ")[2]
    caption = f"Differences in points; interval and p over {over}"
    return Table("differences", caption, columns, rows, file="comparisons", folded=len(pairs) > _MOST_OPEN)


def _noise(pairs: list[Mapping[str, Any]]) -> Table:
    """The standard error of each difference by its sources, and what it would take to see more."""
    rows = tuple(
        {
            **pair,
            "models": _named(pair),
            "sd_total": _root(pair.get("var_total")),
            **_parts(pair),
            "together": _together(pair),
        }
        for pair in pairs
    )
    columns = (
        Column("models", "models", "data"),
        Column("sd_total", "SD in all", "points", 2),
        Column("sd_examples", "of examples", "points", 2),
        Column("sd_runs", "of runs", "points", 2),
        Column("share_runs", "share of runs", "percent", 0, absent="one run: unknown"),
        Column("detectable_difference", "could be shown", "points", 2),
        with_bounds("seeds_needed", "runs for this difference", "count"),
        Column("examples_needed", "or examples", "count"),
        *((Column("together", "or both"),) if any(row["together"] for row in rows) else ()),
    )
    caption = "Noise of the differences, and what it takes to see more, in points"
    return Table("noise", caption, columns, rows, folded=len(pairs) > _MOST_OPEN)


def _parts(pair: Mapping[str, Any]) -> dict[str, float | None]:
    """The noise of examples without that of runs, and that of runs, whose squares add to the whole."""
    of_examples, whole = number(pair.get("example_variance")), number(pair.get("var_total"))
    if of_examples is None or whole is None:
        return {"sd_examples": _root(pair.get("var_examples")), "sd_runs": None}
    return {"sd_examples": _root(of_examples), "sd_runs": _root(whole - of_examples)}


def _together(pair: Mapping[str, Any]) -> str:
    runs, examples = pair.get("together_runs"), pair.get("together_examples")
    return f"{count(runs)} runs on {count(examples)} examples" if runs and examples else ""


def _named(pair: Mapping[str, Any]) -> str:
    return f"{pair.get('a')} − {pair.get('b')}"


def _root(variance: Any) -> float | None:
    x = number(variance)
    return None if x is None else max(x, 0.0) ** 0.5
