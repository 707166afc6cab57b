"""Over training: how scores move from checkpoint to checkpoint, and which datasets move together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, count, decimal, number, points, points_cell, signed_points, whole_cell
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records, text
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Checkpoints and datasets"; None where there is nothing of the kind."""
    found = mapping(document, "instability")
    moves, correlations = records(found.get("trajectories")), records(found.get("correlations"))
    selections = records(found.get("selections"))
    if not moves and not correlations:
        return None
    title, question = "Over training", "How does the score move from checkpoint to checkpoint, and on which sets alike?"
    if not moves:
        title, question = "Between datasets", "Is a seed that is good on one dataset good on another?"
    return Section(
        key="training",
        title=title,
        question=question,
        findings=tuple(str(sentence) for sentence in found.get("selection_sentences") or ()),
        notes=(
            *(f"{_where(each)}: {each['reason']}." for each in correlations if each.get("reason")),
            *([_NO_SELECTION] if moves and found.get("selections") == [] and not found.get("reference") else []),
        ),
        parts=(
            Part("instability_trajectories", _moves(moves)),
            Part(None, _selections(selections, str(found.get("reference")))),
            Part("instability_correlations", _correlations(correlations), folded=True),
        ),
        explained=True,
    )


_NO_SELECTION = "Which dev set should choose the checkpoint is shown where --reference names the standard one."


def _selections(selections: list[Mapping[str, Any]], reference: str) -> Table:
    """Model selection on the standard dev set and on the analysis set itself, scored on its held-out fifth."""
    rows = tuple(
        (
            Cell(row_name(row), code=True, aside=str(row.get("reason") or "")),
            points_cell(row.get("standard_mean")),
            points_cell(row.get("analysis_mean")),
            points_cell(row.get("standard_sd"), digits=2),
            points_cell(row.get("analysis_sd"), digits=2),
            Cell(
                signed_points(row.get("gain"), 1),
                number(row.get("gain")),
                aside=bounds(row.get("gain_low"), row.get("gain_high")),
            ),
        )
        for row in selections
    )
    splits = next((number(row.get("n_splits")) for row in selections if number(row.get("n_splits"))), 0)
    columns = (
        "runs of",
        f"mean, by {reference}",
        "mean, by four fifths of itself",
        f"SD, by {reference}",
        "SD, by itself",
        "gain",
    )
    caption = f"Choosing the checkpoint: score on the held-out fifth, mean over {count(splits)} splits"
    return Table(caption, columns, rows, "model_selection")


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
        jump = "—" if size is None else f"{'+' if size > 0 else ''}{points(size)}"
        rows.append(
            (
                data(row_name(row)),
                whole_cell(len(steps)),
                points_cell(steps[-1].get("mean")),
                points_cell(best.get("mean")),
                data(best.get("t")),
                text(jump),
                data(f"seed {change.get('seed')}, {change.get('before')} to {change.get('after')}"),
            )
        )
    columns = ("runs of", "checkpoints", "last mean", "best mean", "at", "largest change in one step", "of")
    return Table("How far the score moves, in points", columns, tuple(rows), "trajectories")


def _at(matrix: Any, i: int, j: int) -> Any:
    """A value of a matrix, or None where it does not reach so far."""
    row = matrix[i] if isinstance(matrix, (list, tuple)) and i < len(matrix) else None
    return row[j] if isinstance(row, (list, tuple)) and j < len(row) else None


def _correlations(correlations: list[Mapping[str, Any]]) -> Table:
    rows = []
    for each in correlations:
        names = each.get("names") or ()
        for i, one in enumerate(names):
            rows += [
                (
                    data(_where(each)),
                    Cell("checkpoints" if each.get("over") == "checkpoints" else "final scores"),
                    data(one),
                    data(other),
                    Cell(
                        decimal(_at(each.get("values"), i, j)),
                        number(_at(each.get("values"), i, j)),
                        aside=bounds(_at(each.get("low"), i, j), _at(each.get("high"), i, j), 2, 1),
                    ),
                    whole_cell(_at(each.get("n_runs_used"), i, j)),
                )
                for j, other in enumerate(names)
                if j > i
            ]
    columns = ("model", "over", "dataset", "with", "rank correlation", "runs used")
    return Table("Rank correlation between datasets", columns, tuple(rows), "dataset_correlations")
