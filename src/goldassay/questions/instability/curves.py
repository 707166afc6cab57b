"""Curves: what scores from step to step tell where predictions are not at hand, and what they add where they are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import sha256_of
from goldassay.questions.instability.means import RunMeans
from goldassay.questions.instability.spread import caveats_of
from goldassay.questions.instability.training import measure_correlations, measure_trajectories, trajectory_table
from goldassay.questions.instability.verdict import Spread, judge_instability
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_curves import measure_curve
from goldassay.runs.curves import UNNAMED_METRIC
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.report.report import Report
    from goldassay.runs.curves import Curves

_NOTE = (
    "Scores of each run were given, and no predictions: they tell how far the score moves, not which examples move it, "
    "nor how many independent ones they count for."
)


def add_curves(section: dict[str, Any], tables: dict[str, pl.DataFrame], curves: Sequence[Curves]) -> None:
    """Put the curves of sets whose predictions were not given at several checkpoints beside what was measured."""
    drawn = {(move["model"], move["dataset"]) for move in section["trajectories"]}
    moves, _ = measure_steps([curve for curve in curves if (curve.model, curve.dataset) not in drawn])
    if moves:
        section["trajectories"] = [*section["trajectories"], *moves]
        tables["trajectories"] = trajectory_table(section["trajectories"])


def measure_steps(curves: Sequence[Curves]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Trajectories of the sets that have several steps in common, and correlations between a model's datasets."""
    together = [_means(curve) for curve in curves]
    moves = measure_trajectories(together)
    several = len({curve.model for curve in curves}) > 1
    metrics = {(curve.model, curve.dataset): curve.metric for curve in curves}
    for move in moves:
        model, dataset = move["model"], move["dataset"]
        move["name"] = f"{model} · " * several + f"{dataset}, {metrics[model, dataset]} as logged"
    return moves, measure_correlations(together)


def _means(curve: Curves) -> RunMeans:
    several = len(curve.checkpoints) > 1
    return RunMeans(
        model=curve.model,
        dataset=curve.dataset,
        condition="",
        train_set=curve.metric,
        seeds=np.asarray(curve.seeds),
        checkpoints=np.asarray(curve.checkpoints) if several else None,
        values=curve.scores if several else curve.final,
    )


def report_curves(
    curves: Sequence[Curves],
    paths: Sequence[str | os.PathLike[str]],
    settings: Settings,
    steps: Steps,
    said: Mapping[str, Any],
) -> Report:
    """The report on instability where there are scores by step, and no predictions.

    Args:
        curves: At least one set.
        paths: Where they were found.
        settings: Hold the limits from which the verdict follows.
        steps: Times.
        said: What the caller said about the runs, for the report's settings.

    Raises:
        InputError: No model has two runs.
    """
    several = len({curve.model for curve in curves}) > 1
    results = [{**measure_curve(curve), "name": f"{curve.model} · " * several + _scored(curve)} for curve in curves]
    measurable = [row for row in results if row["n_runs"] > 1]
    if not measurable:
        raise InputError(
            "one run is there, and a spread needs at least two, better ten",
            file=curves[0].files[0],
            mend="give the folders of other seeds of the same model",
        )
    moves, correlations = measure_steps(curves)
    lost = [
        f"{curve.model}{' on ' + curve.dataset if curve.checkpoints else ''}: {n} {why} are left out."
        for curve in curves
        for why, n in curve.skipped.items()
    ]
    section = {
        "source": "runs",
        "note": " ".join([_NOTE, *dict.fromkeys(lost)]),
        "interrupted": None,
        "sentences": [],
        "caveats": caveats_of(results),
        "results": results,
        "groups": [],
        "trajectories": moves,
        "correlations": correlations,
    }
    spreads = [_spread(row) for row in measurable]
    findings = {
        "questions": ["instability"],
        "verdicts": {"instability": judge_instability(spreads, settings.verdicts.instability).to_dict()},
        "inputs": [_describe(path, curves) for path in paths],
        "instability": section,
        "settings": {
            "seed": settings.seed,
            "reading": dict(said),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    models = list(dict.fromkeys(curve.model for curve in curves))
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    tables = {"instability": pl.DataFrame(results, infer_schema_length=None), "trajectories": trajectory_table(moves)}
    return compose_report(
        frame_findings(f"Instability of {of}, by its scores alone", findings, steps, settings),
        {name: table for name, table in tables.items() if table.height},
    )


def _scored(curve: Curves) -> str:
    """The dataset, with the metric where the files name it."""
    return curve.dataset if curve.metric == UNNAMED_METRIC else f"{curve.dataset}, {curve.metric}"


def _spread(row: Mapping[str, Any]) -> Spread:
    return Spread(
        name=f"{row['model']} on {row['dataset']}",
        n_runs=row["n_runs"],
        n_examples=0,
        sd=row["sd"],
        sd_low=row["sd_low"],
        sd_high=row["sd_high"],
        design_effect=math.nan,
        effective_size=math.nan,
        score=row["mean"],
        # Without examples there is no constant answer to hold the score against, but 0.
        above_constant_low=mean_interval(row["accuracies"]).low,
    )


def _describe(path: str | os.PathLike[str], curves: Sequence[Curves]) -> dict[str, Any]:
    place = Path(path)
    files = sorted({Path(file) for curve in curves for file in curve.files})
    own = [file for file in files if file == place or place in file.parents]
    return {
        "role": "runs",
        "name": place.name,
        "sha256": [sha256_of(file) for file in own],
        "files": [file.name if file == place else str(file.relative_to(place)) for file in own],
        "format": ", ".join(sorted({curve.format for curve in curves})),
    }
