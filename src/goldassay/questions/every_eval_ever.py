"""Runs as records of Every Eval Ever, schema 0.3, written for others; `runs/adapters/every_eval_ever.py` reads them.

A run at one checkpoint is two files, as the project's datastore lays them out:

    data/DATASET/DEVELOPER/MODEL/UUID.json             the aggregate: one score, how sure it is
    data/DATASET/DEVELOPER/MODEL/UUID_samples.jsonl    a line an example

The schema knows neither seeds nor checkpoints nor all settings. They stand, as text, in each line's `metadata`, with
condition, split, training set, configuration and logits (as JSON), groups (`group_NAME`), `status` of an answer without
a score and the scale that scores are shares of (`shares_of_grades`), and in the aggregate's
`model_info.additional_details`. What the schema has no field for on a score (clusters, runs, answers without a score)
is in `score_details.details`.
What the runs do not say (who ran them, how the model is served) is named as unknown, never made up.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.files import sha256_of, written_together
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.instability.spread import measure_spread
from goldassay.runs.adapters.every_eval_ever import SCHEMA_VERSION, STATUS, as_text
from goldassay.runs.configurations import canonical, digest
from goldassay.runs.grades import SHARES_OF, write_grades
from goldassay.runs.missing import count_statuses
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from goldassay.questions.instability.result import RunScores
    from goldassay.runs.runs import Runs

NOT_NAMED = "unnamed"
# What the datastore takes as a folder's name on any system.
_NOT_PORTABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_RESERVED = {"CON", "PRN", "AUX", "NUL", "DATA", *(f"{port}{i}" for port in ("COM", "LPT") for i in range(1, 10))}


def write_every_eval_ever(
    runs: Runs,
    directory: str | os.PathLike[str],
    *,
    texts: Mapping[str, str] | None = None,
    clusters: NDArray[np.int64] | None = None,
    developer: str = NOT_NAMED,
    organization: str = NOT_NAMED,
    timestamp: float | None = None,
) -> list[Path]:
    """Write an aggregate and a samples file a run and checkpoint, all of them or none.

    Files of the same runs are replaced. A score is taken as correct if it is 1. Scores, standard errors and intervals
    are those of `score_one_run`, and over runs of `measure_spread`, as `goldassay runs scores` has them.

    Args:
        runs: What to write.
        directory: Where `data/` is, or is made.
        texts: What the model was given, by example id; without it `input.raw` is empty and no hash is written.
        clusters: Which examples count together, (N,), see `clusters_of`; None where each counts by itself.
        developer: Who made the model, where its name does not begin with it ("developer/model").
        organization: Who hands on the scores.
        timestamp: Seconds since 1970 that the records are dated with; without it, now.

    Returns:
        The aggregates, run by run, then checkpoint by checkpoint.

    Raises:
        InputError: Texts were given, but not of all examples.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    inputs = _inputs(runs, texts)
    written, now = [], time.time() if timestamp is None else timestamp
    # Trials that were dealt to runs by their order are no runs of a training.
    several = runs.n_runs > 1 and not runs.dealt
    spreads = [measure_spread(runs.at(step)) for step in range(runs.n_checkpoints)] if several else []
    with written_together(directory) as aside:
        for run in range(runs.n_runs):
            for step in range(runs.n_checkpoints):
                about = _Identity(runs, run, step, developer, now)
                samples = aside / about.folder / f"{about.uuid}_samples.jsonl"
                samples.parent.mkdir(parents=True, exist_ok=True)
                with samples.open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(f"{json.dumps(r, ensure_ascii=False)}\n" for r in _samples(runs, about, inputs))
                score = _score_details(runs, about, clusters, spreads[step] if several else None)
                aggregate = _aggregate(runs, about, organization, sha256_of(samples), score)
                place = about.folder / f"{about.uuid}.json"
                (aside / place).write_text(
                    json.dumps(aggregate, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n"
                )
                written.append(Path(directory) / place)
    return written


class _Identity:
    """What one run at one checkpoint is called."""

    def __init__(self, runs: Runs, run: int, step: int, developer: str, timestamp: float) -> None:
        seed = runs.seeds[run].item()
        checkpoint = None if runs.checkpoints is None else runs.checkpoints[step].item()
        self.model = runs.base_model or runs.model
        self.at = (run, step) if runs.scores.ndim == 3 else (run,)
        self.metadata = {"seed": as_text(seed)}
        if checkpoint is not None:
            self.metadata["checkpoint"] = as_text(checkpoint)
        for name in ("condition", "split", "train_set"):
            if getattr(runs, name):
                self.metadata[name] = getattr(runs, name)
        said = dict(self.metadata)
        if runs.grades is not None:
            self.metadata[SHARES_OF] = write_grades(runs.grades)
        if runs.configuration:
            self.metadata["configuration"] = canonical(runs.configuration)
            said["configuration"] = digest(runs.configuration)
        name = f"{runs.dataset}," + ",".join(f"{key}={value}" for key, value in said.items())
        self.timestamp = f"{timestamp:.6f}"
        self.evaluation_id = f"{name.replace('/', '_')}/{self.model}/{self.timestamp}"
        # The same run gets the same files again, so that writing it twice does not double it.
        hashed = hashlib.sha256(f"{name}\0{self.model}".encode()).digest()
        self.uuid = str(uuid.UUID(bytes=hashed[:16], version=4))
        prefix, _, rest = self.model.partition("/")
        self.developer = prefix if rest else developer
        self.folder = Path("data", *(portable(part) for part in (runs.dataset, self.developer, rest or prefix)))


def portable(name: str) -> str:
    """The name as a folder may be called on any system."""
    # Folders with a dot or an underscore before their name are hidden from many readers, ours among them.
    plain = _NOT_PORTABLE.sub("_", name).lstrip("._ ").rstrip(". ") or NOT_NAMED
    return f"{plain}_" if plain.split(".")[0].upper() in _RESERVED else plain


def _inputs(runs: Runs, texts: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """`input` and, where the text is known, `sample_hash` of each example."""
    ids = runs.example_ids.tolist()
    lacking = [] if texts is None else [identifier for identifier in ids if identifier not in texts]
    if lacking:
        raise InputError(f"{len(lacking)} of {len(ids)} examples have no text, first {lacking[0]}")
    golds = [[]] * len(ids) if runs.gold is None else [[runs.label_names[code]] for code in runs.gold.tolist()]
    inputs = []
    for identifier, gold in zip(ids, golds, strict=True):
        raw = "" if texts is None else texts[identifier]
        about: dict[str, Any] = {"input": {"raw": raw, "reference": gold}}
        if texts is not None:
            content = json.dumps(about["input"], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            about["sample_hash"] = hashlib.sha256(content.encode()).hexdigest()
        if runs.label_names:
            about["input"]["choices"] = list(runs.label_names)
        inputs.append(about)
    return inputs


def _samples(runs: Runs, about: _Identity, inputs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    predicted = None if runs.predictions is None else runs.predictions[about.at].tolist()
    logits = None if runs.logits is None else runs.logits[about.at].tolist()
    groups = {f"group_{name}": values.tolist() for name, values in runs.groups.items()}
    metric = _metric(runs)
    scored, status = runs.scored[about.at].tolist(), runs.status[about.at].tolist()
    rows = zip(runs.example_ids.tolist(), runs.scores[about.at].tolist(), inputs, strict=True)
    for i, (identifier, score, given) in enumerate(rows):
        answers = [] if predicted is None or not scored[i] else [runs.label_names[predicted[i]]]
        metadata = about.metadata | {name: str(values[i]) for name, values in groups.items()}
        if status[i] != "scored":
            metadata[STATUS] = status[i]
        if runs.weights is not None:
            metadata["weight"] = repr(float(runs.weights[i]))
        if logits is not None:
            metadata["logits"] = json.dumps(logits[i])
        yield {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": about.evaluation_id,
            "model_id": about.model,
            "evaluation_name": runs.dataset,
            "evaluation_result_id": metric,
            "sample_id": str(identifier),
            "interaction_type": "single_turn",
            **given,
            "output": {"raw": answers},
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": answer,
                    "extraction_method": "none",
                    "is_terminal": True,
                }
                for answer in answers
            ],
            "evaluation": {"score": score, "is_correct": score == 1.0},
            "metadata": metadata,
        }


def _metric(runs: Runs) -> str:
    return "accuracy" if np.isin(runs.scores, (0.0, 1.0)).all() else "score"


def _score_details(
    runs: Runs, about: _Identity, clusters: NDArray[np.int64] | None, spread: RunScores | None
) -> dict[str, Any]:
    """`score_details` of one run: its score, how sure it is, and in text what the schema has no field for."""
    values = runs.weighed[about.at]
    uncertainty: dict[str, Any] = {"num_samples": values.size}
    details: dict[str, Any] = {"n_runs": runs.n_runs}
    if values.size > 1:
        found = score_one_run(runs.scores[about.at], clusters, weights=runs.weights)
        method = "analytic" if clusters is None else "analytic, clustered"
        uncertainty["standard_deviation"] = float(values.std(ddof=1))
        uncertainty["standard_error"] = {"value": found.standard_error, "method": method}
        uncertainty["confidence_interval"] = {
            "lower": found.interval.low,
            "upper": found.interval.high,
            "confidence_level": found.interval.level,
            "method": found.interval.method,
        }
        details["n_clusters"] = found.n_clusters
    if spread is not None:
        details |= {"mean_of_runs": spread.mean, "runs_low": spread.mean_low, "runs_high": spread.mean_high}
    if not runs.scored[about.at].all():
        assert runs.status_codes is not None
        lacking = count_statuses(runs.status_codes[about.at])
        details["n_unscored"] = sum(lacking.values())
        details |= {f"n_{status}": n for status, n in lacking.items()}
    if runs.weighted_by:
        details |= {"weighted_by": runs.weighted_by, "unweighted": float(runs.scores[about.at].mean())}
    return {
        "score": float(values.mean()),
        "details": {name: str(value) for name, value in details.items() if value is not None},
        "uncertainty": uncertainty,
    }


def _aggregate(runs: Runs, about: _Identity, organization: str, checksum: str, score: dict[str, Any]) -> dict[str, Any]:
    metric = _metric(runs)
    details = {name: value for name, value in about.metadata.items() if name != "split"}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": about.evaluation_id,
        "retrieved_timestamp": about.timestamp,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "goldassay", "version": __version__},
        "model_info": {
            "name": about.model,
            "id": about.model,
            "developer": about.developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown", **details},
        },
        "evaluation_results": [
            {
                "evaluation_result_id": metric,
                "evaluation_name": runs.dataset,
                "source_data": {
                    "dataset_name": runs.dataset,
                    "source_type": "other",
                    **({"additional_details": {"split": runs.split}} if runs.split else {}),
                },
                "metric_config": {
                    "metric_id": metric,
                    "metric_unit": "proportion",
                    "lower_is_better": False,
                    "score_type": "continuous",
                    "min_score": 0.0,
                    "max_score": 1.0,
                    **({} if runs.grades is None else {"additional_details": {SHARES_OF: write_grades(runs.grades)}}),
                },
                "score_details": score,
            }
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": (about.folder / f"{about.uuid}_samples.jsonl").as_posix(),
            "hash_algorithm": "sha256",
            "checksum": checksum,
            "total_rows": runs.n_examples,
        },
    }
