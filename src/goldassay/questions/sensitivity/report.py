"""Sensitivity as a report: how far scores move with the way of asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy
    from goldassay.report import Report
    from goldassay.runs.slices import Slice

_MOST = 8
# In points; less is rounded away.
_LEAST_GAP = 0.05


def report_sensitivity(
    found: SensitivityStudy,
    paths: Sequence[str],
    slices: Sequence[Slice],
    choice: RunChoice,
    claim: float | None,
    settings: Settings,
    steps: Steps,
) -> Report:
    """Write up what was found.

    Args:
        found: The figures and the verdict.
        paths: Of the runs, as they were given.
        slices: What was found there.
        choice: How the runs were read.
        claim: The difference in points that was held against configurations, if any.
        settings: Hold the limits.
        steps: What was done, and when.
    """
    findings = {
        "questions": ["sensitivity"],
        "verdicts": {"sensitivity": found.verdict.to_dict()},
        "inputs": describe_inputs(paths, slices, choice),
        "sensitivity": section_of(found, claim),
        "settings": {
            "seed": settings.seed,
            "claim": claim,
            "reading": choice.said(),
            "verdicts": settings.verdicts.sensitivity.model_dump(mode="json"),
        },
    }
    models = list(dict.fromkeys(each.model for each in found.models))
    datasets = list(dict.fromkeys(each.dataset for each in found.models))
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    document = frame_findings(f"Sensitivity of {of} on {on}", findings, steps, settings)
    return compose_report(document, tables_of(found))


def section_of(found: SensitivityStudy, claim: float | None) -> dict[str, Any]:
    """What report.json holds under "sensitivity"; `claim` in points."""
    return {
        "results": [_row(each) for each in found.models],
        "configurations": found.to_frame().to_dicts(),
        "n_pairs": found.n_pairs,
        "n_changed": found.n_changed,
        "alone": list(found.alone),
        "left_out": list(found.left_out),
        "sentences": say_sensitivity(found, claim),
        "notes": _notes(found),
    }


def tables_of(found: SensitivityStudy) -> dict[str, pl.DataFrame]:
    """Full tables: a row a model and dataset, and a row a configuration."""
    results = [_row(each) for each in found.models]
    return {"sensitivity": pl.DataFrame(results, infer_schema_length=None), "configurations": found.to_frame()}


def _row(each: ModelSensitivity) -> dict[str, Any]:
    """A model on a dataset as one flat row."""
    spread = each.spread
    interval = spread.sd_interval
    return {
        "model": each.model,
        "dataset": each.dataset,
        "condition": each.condition,
        "settings": ", ".join(each.settings),
        "n_configurations": len(spread.means),
        "n_repeats_least": min(spread.n_repeats),
        "n_repeats_most": max(spread.n_repeats),
        "n_examples": spread.n_examples,
        "sd": spread.sd,
        "sd_low": None if interval is None else interval.low,
        "sd_high": None if interval is None else interval.high,
        "separable": spread.separable,
        "repeat_sd": spread.repeat_sd,
        "range": spread.range,
        "range_low": spread.range_interval.low,
        "range_high": spread.range_interval.high,
        **{
            name: value
            for which, at, score in (
                ("best", spread.best, spread.best_score),
                ("worst", spread.worst, spread.worst_score),
            )
            for name, value in {
                which: each.configurations[at],
                f"{which}_mean": spread.means[at],
                f"{which}_elsewhere": score.mean,
                f"{which}_low": score.interval.low,
                f"{which}_high": score.interval.high,
            }.items()
        },
        "claim": each.claim,
        "claim_open": each.claim_open,
    }


CLAIMS = {
    "exceeds": "more than another configuration does",
    "does not exceed": "no more than another configuration does",
    "undecided": "more or less than another configuration does, which these runs leave open",
}


def say_claim(each: ModelSensitivity, to: str = "") -> str:
    """Whether the claimed difference exceeds what configurations do, with what leaves it open; "" without a claim.

    Args:
        each: The model on a dataset.
        to: What is said of the model after the verb, with a space before it.
    """
    if each.claim is None:
        return ""
    return " ".join(part for part in (f"{CLAIMS[each.claim]}{to}.", each.claim_open) if part)


def say_sensitivity(found: SensitivityStudy, claim: float | None) -> list[str]:
    """What the page says beside the verdict."""
    said = []
    for each in found.models[:_MOST]:
        spread = each.spread
        gap = 100 * (spread.means[spread.best] - spread.best_score.mean)
        flattered = f" Picking the best one flatters it by {gap:.1f} points." if gap >= _LEAST_GAP else ""
        said.append(
            f"{each.model} on {each.dataset} scores {100 * min(spread.means):.1f} to {100 * max(spread.means):.1f} "
            f"points in {len(spread.means)} configurations, which differ in {', '.join(each.settings[:8])}.{flattered}"
        )
        if claim is not None and (held := say_claim(each, f" to {each.model}")):
            said.append(f"A difference of {claim:g} points is {held}")
    if found.n_pairs:
        said.append(f"{found.n_changed} of {found.n_pairs} pairs of models change their order with the configuration.")
    return said


def _notes(found: SensitivityStudy) -> list[str]:
    notes = [f"Left out: {why}" for why in found.left_out]
    if found.alone:
        more = f" and {len(found.alone) - _MOST} more" if len(found.alone) > _MOST else ""
        notes.append(f"Left out, with one configuration: {', '.join(found.alone[:_MOST])}{more}.")
    if any(not each.spread.separable for each in found.models):
        notes.append("Where no configuration was repeated, its SD holds the noise of repeats as well.")
    return notes
