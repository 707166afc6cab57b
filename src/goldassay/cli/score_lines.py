"""What `goldassay runs scores` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.cli.aligned_lines import aligned
from goldassay.cli.compare_lines import lines_of as comparison_lines
from goldassay.core.numbers import UNDEFINED, count, points

if TYPE_CHECKING:
    from goldassay.questions.run_scores import ScoredRuns

# Beyond so many rows nobody reads a terminal; --json has all.
_MOST = 60


def lines_of(found: ScoredRuns) -> list[str]:
    """The scores for people, in points."""
    from goldassay.runs.grades import say_grades

    head = ["dataset", "model", "score", "95 % over examples", "95 % over runs", "SD", "runs", "examples"]
    rows = [
        [
            each.dataset if each.condition in ("paired", "") else f"{each.dataset} ({each.condition})",
            each.model,
            points(each.mean, 2),
            _interval(each.examples_low, each.examples_high),
            _interval(each.runs_low, each.runs_high),
            points(each.sd, 2),
            count(each.n_runs),
            count(each.n_examples),
        ]
        for each in found.sets
    ]
    lines = aligned([head, *rows[:_MOST]])
    if len(rows) > _MOST:
        lines.append(f"and {len(rows) - _MOST} more: --json FILE has all")
    lines += [
        f"left out  {each.model} on {each.dataset}: {each.reason}" if each.model else f"left out  {each.reason}"
        for each in found.unread
    ]
    if found.comparison is not None:
        return [*lines, "", *comparison_lines(found.comparison)]
    # A comparison says it of its models itself.
    for scale in dict.fromkeys(each.grades for each in found.sets if each.grades is not None):
        means = {f"{each.model} on {each.dataset}": each.mean for each in found.sets if each.grades == scale}
        lines.append(f"note  {say_grades(means, scale)}")
    return [*lines, "", f"no comparison: {found.uncompared}"]


def _interval(low: float | None, high: float | None) -> str:
    return UNDEFINED if low is None or high is None else f"[{points(low, 2)}, {points(high, 2)}]"
