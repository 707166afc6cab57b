"""The figures on other distributions: what a score loses there, and how well they are told from the own one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict
from goldassay.questions.policy_rules import MIN_RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping

declare_verdict("shift")

# A metric may be a correlation or any number, so that its scale is not declared: intervals are cut where it is known.
_SCORE = declare(Measure("shift.score", "score", "points", "higher"))
_GAP = declare(
    Measure(
        "shift.gap", "generalization gap", "points", "lower",
        rule=Rule("max_generalization_gap", "generalization gap", "at most"),
    )
)  # fmt: skip
_RELATIVE_GAP = declare(Measure("shift.relative_gap", "relative gap", "number", "lower", compared=False))
_OVERCONFIDENCE = declare(Measure("shift.overconfidence", "surer than right", "points", "lower"))
_FALSE_ALARMS = declare(
    Measure(
        "shift.false_alarm_rate", "false alarm rate", "share", "lower",
        rule=Rule("max_false_alarm_rate", "false alarm rate of detection", "at most"),
    )
)  # fmt: skip
_AUROC = declare(Measure("shift.auroc", "AUROC of detection", "share", "higher"))
_RUNS = declare(Measure("shift.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """The metric and the gap of each model and set, its overconfidence, and how well each score detects a set."""
    found = document.get("shift") or {}
    gaps, detected = found.get("generalization") or (), found.get("detection") or ()
    made = [
        _SCORE.figure(
            row["value"], row.get("low"), row.get("high"), n=row.get("n"), reason=row.get("reason"), **_of_gap(row)
        )
        for row in gaps
    ]
    others = [row for row in gaps if not row["own"]]
    made += [_bounded(_GAP, row, "gap", n=row.get("n"), **_of_gap(row)) for row in others]
    made += [
        _RELATIVE_GAP.figure(
            row["relative_gap"], row["relative_low"], row["relative_high"], n=row.get("n"), reason=row.get("reason"),
            **_of_gap(row),
        )
        for row in others
        if "relative_gap" in row
    ]  # fmt: skip
    made += [
        _bounded(_OVERCONFIDENCE, row, "overconfidence", n=row.get("n"), model=row["model"], dataset=row["dataset"])
        for row in found.get("calibration") or ()
    ]
    for measure, key in ((_FALSE_ALARMS, "false_alarm_rate"), (_AUROC, "auroc")):
        made += [_bounded(measure, row, key, n=_both_sides(row), **_of_detection(row)) for row in detected]
    made += [_RUNS.figure(row["n_runs"], model=row["model"], test=row["test"]) for row in gaps]
    made += [_RUNS.figure(row["n_runs"], **_of_detection(row)) for row in detected]
    return made


def _of_gap(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": row["model"], "test": row["test"], "metric": row["metric"]}


def _of_detection(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": row["model"], "dataset": row["dataset"], "score": row["score"]}


def _both_sides(row: Mapping[str, Any]) -> int | None:
    return row["n_in"] + row["n_out"] if "n_in" in row and "n_out" in row else None


def _bounded(measure: Measure, row: Mapping[str, Any], key: str, **more: Any) -> Figure:
    """A figure with the bounds that lie next to it, under its key with "_low" and "_high"."""
    return measure.figure(row[key], row.get(f"{key}_low"), row.get(f"{key}_high"), reason=row.get("reason"), **more)
