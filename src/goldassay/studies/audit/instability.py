"""The audit's third question: would the score come out the same with another seed?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.errors import UndefinedMeasureWarning
from goldassay.instability import decompose_by_group, decompose_variance, summarize_scores
from goldassay.intervals import few_runs_caveat
from goldassay.results import to_plain
from goldassay.studies.audit.verdicts import Spread, Verdict, judge_instability, not_measurable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.runs import Runs
    from goldassay.settings import Settings

# A group's share of the variance is read off a table; beyond this many rows nobody does.
MOST_GROUPS = 200


@dataclass(frozen=True)
class InstabilityFindings:
    """The section of the report, its tables, and the verdict."""

    section: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    verdict: Verdict


def audit_instability(
    runs: Sequence[Runs], source: str, settings: Settings, remarks: Sequence[str] = (), judge: str = "A quick probe"
) -> InstabilityFindings:
    """Measure spread and its causes for each of the runs.

    Args:
        runs: One entry a model, dataset and condition.
        source: "runs" for predictions that were handed in, "probe" for those of the quick probes; the latter tell
            how steady the probe is, not how steady a real model would be, so that no verdict follows.
        settings: Holds the limits.
        remarks: What the reader must know of these runs.
        judge: What the probe is called.
    """
    results = [measure_spread(each) for each in runs]
    groups = [group for each in runs for group in measure_groups(each)]
    if source == "probe":
        note = (
            f"No runs of a real model were given. {judge} made the table, stored as runs and read back: it "
            "shows how such a table reads, and how steady the probe is, not how steady your model is."
        )
        verdict = not_measurable(
            "No runs of a trained model were given: only they can tell how far its score moves with the seed.",
            "Give the predictions of at least 5 seeds with --runs PATH.",
        )
    else:
        note = " ".join(["Measured on the runs that were handed in.", *remarks])
        measurable = [spread_of(result) for result in results if result["n_runs"] >= 2]
        verdict = (
            judge_instability(measurable, settings.verdicts.instability)
            if measurable
            else not_measurable(
                "Only one run of each model was given: a spread needs at least two, better ten.",
                "Give the predictions of at least 5 seeds with --runs PATH.",
            )
        )
    if remarks:
        verdict = replace(verdict, evidence=" ".join([verdict.evidence, *remarks]))
    tables = {"instability": _table(results)}
    if groups:
        tables["instability_groups"] = pl.concat(
            [
                pl.DataFrame(group["rows"]).select(
                    *(pl.lit(group[key]).alias(key) for key in ("model", "dataset", "condition", "column")), pl.all()
                )
                for group in groups
            ],
            how="vertical_relaxed",
        )
    shown = [{**group, "rows": group["rows"][:MOST_GROUPS], "n_groups": len(group["rows"])} for group in groups]
    section = {
        "source": source,
        "note": note,
        "caveats": [] if source == "probe" else caveats_of(results),
        "results": results,
        "groups": shown,
    }
    return InstabilityFindings(to_plain(section), tables, verdict)


def caveats_of(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """What few runs do not tell, once for each number of runs."""
    return list(dict.fromkeys(said for row in results for said in few_runs_caveat(row["n_runs"])))


def measure_spread(runs: Runs) -> dict[str, Any]:
    """A row of the section's results: mean, spread and decomposition of runs (R, N), or why there is none."""
    scores = runs.scores
    row: dict[str, Any] = {
        "model": runs.model,
        "dataset": runs.dataset,
        "condition": runs.condition,
        "n_runs": scores.shape[0],
        "n_examples": scores.shape[1],
        "accuracies": scores.mean(axis=1).tolist(),
    }
    if scores.shape[0] < 2:
        mean = float(scores.mean())
        return {**row, "mean": mean, "min": mean, "max": mean, "reason": "one run has no spread; give at least two"}
    summary = summarize_scores(scores)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        parts = decompose_variance(scores)
    reason = "; ".join(str(each.message) for each in caught if issubclass(each.category, UndefinedMeasureWarning))
    return {
        **row,
        "mean": summary.mean,
        "sd": summary.sd,
        "sd_low": summary.sd_interval.low,
        "sd_high": summary.sd_interval.high,
        "min": summary.min,
        "max": summary.max,
        "total": parts.total,
        "independent": parts.independent,
        "covariance": parts.covariance,
        "design_effect": parts.design_effect,
        "effective_size": parts.effective_size,
        "reason": reason or None,
    }


def measure_groups(runs: Runs) -> list[dict[str, Any]]:
    """An entry of the section's groups for each group column of runs (R, N)."""
    scores = runs.scores
    if scores.shape[0] < 2:
        return []
    found = []
    for column, names in runs.groups.items():
        if len(np.unique(names)) < 2:
            continue
        with warnings.catch_warnings():
            # The reason stands beside the same runs' result above; here the column is empty.
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            parts = decompose_by_group(scores, names)
        rows = parts.to_frame().sort("share_of_variance", descending=True, nulls_last=True).to_dicts()
        found.append(
            {
                "model": runs.model,
                "dataset": runs.dataset,
                "condition": runs.condition,
                "column": column,
                "within": parts.within,
                "between": parts.between,
                "rows": rows,
            }
        )
    return found


def spread_of(result: Mapping[str, Any]) -> Spread:
    """What the verdict needs of a row of results."""
    condition = "" if result["condition"] in {"paired", "text"} else f" ({result['condition']})"
    return Spread(
        name=f"{result['model']} on {result['dataset']}{condition}",
        n_runs=result["n_runs"],
        n_examples=result["n_examples"],
        sd=result["sd"],
        sd_low=result["sd_low"],
        sd_high=result["sd_high"],
        design_effect=result["design_effect"],
        effective_size=result["effective_size"],
    )


def _table(results: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([dict(result) for result in results], infer_schema_length=None)
