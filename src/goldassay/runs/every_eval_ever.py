"""Records of Every Eval Ever, schema 0.3: how seeds and checkpoints are written, and the scores of whole datasets read.

`questions/every_eval_ever.py` writes them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError, no_such_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

SCHEMA_VERSION = "0.3.0"
# In the metadata of an answer without a score: why it has none.
STATUS = "status"


def as_text(value: int | str) -> str:
    """A seed or checkpoint as text; a name that would be read as a number is put in quotation marks."""
    if isinstance(value, int):
        return str(value)
    return value if isinstance(from_text(value), str) and not value.startswith('"') else json.dumps(value)


def from_text(text: str) -> int | str:
    """The seed or checkpoint that a text stands for: a whole number as Python writes it, else a name."""
    if re.fullmatch(r"0|-?[1-9]\d*", text):
        return int(text)
    return str(json.loads(text)) if re.fullmatch(r'"([^"\\]|\\.)*"', text) else text


def read_aggregates(path: str | os.PathLike[str]) -> pl.DataFrame:
    """The scores of whole datasets in aggregate records: a file, or all of a folder, which is searched to the bottom.

    Returns:
        A row an evaluation result: model, dataset, metric, score (as the record gives it), standard_error, n_examples,
        seed, checkpoint (as text), lower_is_better, evaluation_id, file; null where a record does not say it.

    Raises:
        InputError: There is no such file or no such record, or one lacks what the schema requires.
    """
    place = Path(path)
    if not place.exists():
        raise no_such_file(place)
    files = [place] if place.is_file() else sorted(place.rglob("*.json"))
    rows = [row for file in files if (record := aggregate_in(file)) is not None for row in _rows(record, file)]
    if not rows:
        raise InputError("no aggregate records of Every Eval Ever are here", file=place)
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    **dict.fromkeys(("model", "dataset", "metric"), pl.String),
    "score": pl.Float64,
    "standard_error": pl.Float64,
    "n_examples": pl.Int64,
    **dict.fromkeys(("seed", "checkpoint"), pl.String),
    "lower_is_better": pl.Boolean,
    **dict.fromkeys(("evaluation_id", "file"), pl.String),
}


def aggregate_in(file: Path) -> dict[str, Any] | None:
    """The aggregate record that a JSON file is, or None."""
    from goldassay.runs.tables import head_of, unpacked

    if not all(field in head_of(file) for field in (b'"schema_version"', b'"evaluation_id"')):
        return None
    try:
        record = json.loads(unpacked(file))
    except ValueError:
        return None
    return record if isinstance(record, dict) and "evaluation_results" in record else None


def _rows(record: dict[str, Any], file: Path) -> Iterator[dict[str, Any]]:
    try:
        details = record["model_info"].get("additional_details") or {}
        for result in record["evaluation_results"]:
            score = result["score_details"]
            uncertainty = score.get("uncertainty") or {}
            yield {
                "model": str(record["model_info"]["id"]),
                "dataset": str(result["evaluation_name"]),
                "metric": result["metric_config"].get("metric_id") or result.get("evaluation_result_id"),
                "score": float(score["score"]),
                "standard_error": (uncertainty.get("standard_error") or {}).get("value"),
                "n_examples": uncertainty.get("num_samples"),
                "seed": details.get("seed"),
                "checkpoint": details.get("checkpoint"),
                "lower_is_better": result["metric_config"]["lower_is_better"],
                "evaluation_id": str(record["evaluation_id"]),
                "file": str(file),
            }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the record is not of Every Eval Ever's schema {SCHEMA_VERSION} ({type(error).__name__}: {error})",
            file=file,
        ) from error
