"""Comparison: which of the models is better, what the noise in it is, and what would settle it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import (
    bounds,
    count,
    number,
    percent,
    points,
    points_cell,
    signed_points,
    small_cell,
    whole_cell,
)
from goldassay.report.outline import FURTHER_QUESTIONS, Cell, Part, Section, Table, data, mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping


# More pairs are read off the picture; their tables are to be opened.
_MOST_OPEN = 6


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Comparison"; None where nothing was compared."""
    found = mapping(document, "comparison")
    pairs = records(found.get("pairs"))
    if not pairs:
        return None
    title, question = FURTHER_QUESTIONS["comparison"]
    return Section(
        key="comparison",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "comparison"),
        findings=tuple(str(sentence) for sentence in found.get("sentences") or ()),
        notes=tuple(str(note) for note in found.get("notes") or ()),
        parts=(
            Part("instability_scores", _models(document, pairs)),
            Part(None, _groups(document, found) if len(pairs) > 1 else Table("", (), ())),
            Part("instability_differences", _differences(pairs), folded=len(pairs) > _MOST_OPEN),
            Part(None, _noise(pairs), folded=len(pairs) > _MOST_OPEN),
        ),
        explained=True,
    )


def _models(document: Mapping[str, Any], pairs: list[Mapping[str, Any]]) -> Table:
    rows = sorted(
        records(mapping(document, "instability").get("results")), key=lambda row: -(number(row.get("mean")) or 0)
    )
    several = any((number(row.get("n_runs")) or 0) > 1 for row in rows)
    table = []
    for row in rows:
        cells = [data(row_name(row)), whole_cell(row.get("n_runs")), points_cell(row.get("mean"), digits=2)]
        if several:
            cells += [
                points_cell(row.get("sd"), row.get("sd_low"), row.get("sd_high"), digits=2),
                points_cell(row.get("min"), digits=2),
                points_cell(row.get("max"), digits=2),
            ]
        table.append((*cells, whole_cell(sum(_is_better(pair, row_name(row)) for pair in pairs))))
    columns = ("model", "runs", "mean score", *(("SD over runs", "lowest", "highest") if several else ()))
    return Table("Scores of the models, in points", (*columns, "better than"), tuple(table), "models")


def _is_better(pair: Mapping[str, Any], name: str) -> bool:
    """Whether a pair says that this model is better than the other."""
    difference = number(pair.get("difference")) or 0
    better = pair.get("a") if difference > 0 else pair.get("b")
    return bool(pair.get("told_apart")) and str(better) == name


def _groups(document: Mapping[str, Any], found: Mapping[str, Any]) -> Table:
    means = {row_name(row): row.get("mean") for row in records(mapping(document, "instability").get("results"))}
    rows = []
    for rank, group in enumerate(found.get("groups") or (), 1):
        names = [str(name) for name in group] if isinstance(group, (list, tuple)) else []
        if names:
            span = [points(means.get(name), 2) for name in (names[0], names[-1])]
            rows.append(
                (
                    whole_cell(rank),
                    data(", ".join(names)),
                    Cell(span[0] if len(names) == 1 else f"{span[0]} to {span[1]}"),
                )
            )
    columns = ("group", "models that cannot be told apart", "mean score")
    caption = "Groups of models of which no two can be told apart; a model may stand in several"
    return Table(caption, columns, tuple(rows))


def _differences(pairs: list[Mapping[str, Any]]) -> Table:
    several = len(pairs) > 1
    runs = any(number(pair.get("var_runs")) is not None for pair in pairs)
    rows = []
    for pair in pairs:
        cells = [
            data(f"{pair.get('a')} − {pair.get('b')}"),
            Cell(
                signed_points(pair.get("difference")),
                number(pair.get("difference")),
                aside=bounds(pair.get("low"), pair.get("high"), 2),
            ),
            small_cell(pair.get("p_value")),
        ]
        cells += [small_cell(pair.get("adjusted_p"))] if several else []
        cells += [Cell(small_cell(pair.get("p_examples")).text, number(pair.get("p_examples")), aside=_test(pair))]
        cells += [_chance(pair)] if runs else []
        cells += [Cell("yes" if pair.get("told_apart") else "no")]
        rows.append(tuple(cells))
    columns = ["models", "difference", "p"]
    columns += ["p, Holm's correction"] if several else []
    columns += ["p, examples alone"]
    columns += ["P(first run higher)"] if runs else []
    columns += ["told apart"]
    over = str(pairs[0].get("interval_method") or "").rpartition("over ")[2]
    caption = f"Differences in points; interval and p over {over}"
    return Table(caption, tuple(columns), tuple(rows), "comparisons")


def _chance(pair: Mapping[str, Any]) -> Cell:
    share = pair.get("probability_better")
    return Cell(
        percent(share, 0), number(share), aside=bounds(pair.get("probability_low"), pair.get("probability_high"), 0)
    )


def _test(pair: Mapping[str, Any]) -> str:
    return str(pair.get("test") or "")


def _noise(pairs: list[Mapping[str, Any]]) -> Table:
    """The standard error of each difference by its sources, and what it would take to see more."""
    rows = []
    for pair in pairs:
        seeds = number(pair.get("seeds_needed"))
        span = bounds(pair.get("seeds_needed_low"), pair.get("seeds_needed_high"), 0, 1)
        share = number(pair.get("share_runs"))
        rows.append(
            (
                data(f"{pair.get('a')} − {pair.get('b')}"),
                _root(pair.get("var_total")),
                _root(pair.get("var_examples")),
                _root(pair.get("var_runs")),
                Cell(percent(share, 0) if share is not None else "one run: unknown", share),
                points_cell(pair.get("detectable_difference"), digits=2),
                Cell(count(seeds), seeds, aside=span),
            )
        )
    columns = (
        "models", "SD in all", "of examples", "of runs", "share of runs", "could be shown", "runs for this difference",
    )  # fmt: skip
    return Table("Noise of the differences, and what it takes to see more, in points", columns, tuple(rows))


def _root(variance: Any) -> Cell:
    x = number(variance)
    return points_cell(None if x is None else max(x, 0.0) ** 0.5, digits=2)
