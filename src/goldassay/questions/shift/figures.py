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
_FLOOR = declare(Measure("shift.best_constant", "best constant answer", "points", bounded=False, compared=False))
_EXCESS = declare(Measure("shift.excess", "score above the best constant answer", "points", "higher"))
_LOSS = declare(Measure("shift.loss", "loss relative to the floor", "number", "lower"))
_EXCESS_LOSS = declare(
    Measure("shift.excess_loss", "loss, each score above its own floor", "number", "lower", compared=False)
)
_KNOWN = declare(Measure("shift.known_share", "texts that stand in the training data", "share", "lower", bounded=False))
_SCORE_WITH_KNOWN = declare(
    Measure("shift.score_with_known", "score with texts of the training data", "points", "higher", compared=False)
)
_GAP_WITH_KNOWN = declare(
    Measure("shift.gap_with_known", "gap with texts of the training data", "points", "lower", compared=False)
)
_CLUSTERS = declare(Measure("shift.clusters", "effective clusters", "number", "higher", bounded=False, compared=False))
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
    # Reports of older versions have no floors.
    made += [figure for row in gaps if "loss" in row for figure in _above_floors(row)]
    made += [
        _bounded(_OVERCONFIDENCE, row, "overconfidence", n=row.get("n"), model=row["model"], dataset=row["dataset"])
        for row in found.get("calibration") or ()
    ]
    for measure, key in ((_FALSE_ALARMS, "false_alarm_rate"), (_AUROC, "auroc")):
        made += [_bounded(measure, row, key, n=_both_sides(row), **_of_detection(row)) for row in detected]
    made += [_RUNS.figure(row["n_runs"], model=row["model"], test=row["test"]) for row in gaps]
    made += [_RUNS.figure(row["n_runs"], **_of_detection(row)) for row in detected]
    return made


def _above_floors(row: Mapping[str, Any]) -> list[Figure]:
    """Floor, excess and clusters of a set; of another set the losses, and what is known of its texts."""
    whose = {"n": row.get("n"), **_of_gap(row)}
    made = [
        _FLOOR.figure(row["floor"], reason="the right labels are not at hand", **whose),
        _bounded(_EXCESS, row, "excess", **whose),
        _CLUSTERS.figure(row["effective_clusters"], **whose),
    ]
    if row["own"]:
        return made
    made += [_bounded(_LOSS, row, "loss", **whose), _bounded(_EXCESS_LOSS, row, "excess_loss", **whose)]
    if row.get("known_share") is not None:
        made.append(_KNOWN.figure(row["known_share"], **whose | {"n": row["n"] + row["n_known"]}))
    if row.get("gap_with_known") is not None:
        made += [
            _bounded(measure, row, key, **whose | {"n": row["n"] + row["n_known"]})
            for measure, key in ((_SCORE_WITH_KNOWN, "value_with_known"), (_GAP_WITH_KNOWN, "gap_with_known"))
        ]
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
