"""The section on training: how scores move from checkpoint to checkpoint, and which datasets move together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, row_name, texts
from goldassay.core.numbers import count, number, points
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_SELECTION = "Which dev set should choose the checkpoint is shown where --reference names the standard one."


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
            Part("instability_correlations", _correlations(correlations)),
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


def _correlations(correlations: list[Mapping[str, Any]]) -> Table:
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
