"""Our own Parquet files, as `write_runs` writes them."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_parquet, panics_unprinted
from goldassay.core.errors import InputError
from goldassay.runs.run_parts import (
    BestThreshold,
    BestThresholds,
    Collection,
    Columns,
    Request,
    Slice,
    check_characters,
)
from goldassay.runs.store import FORMAT_VERSION, METADATA_KEY
from goldassay.runs.tables import is_parquet, logits_array

if TYPE_CHECKING:
    from pathlib import Path

NAME = "goldassay"
PRIORITY = 0


def find(path: Path, request: Request) -> list[Slice] | None:  # noqa: ARG001
    """Recognize a file by the metadata that we put into it; no row is read."""
    if not path.is_file() or not is_parquet(path):
        return None
    try:
        metadata = pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(path) from error
    if METADATA_KEY not in metadata:
        return None
    identity: dict[str, Any] = json.loads(metadata[METADATA_KEY])
    if identity["version"] > FORMAT_VERSION:
        raise InputError(
            f"the file was written by a newer goldassay (format {identity['version']})", file=path, mend="upgrade"
        )
    check_characters({"label_names": identity["label_names"]}, str(path))
    return [
        Slice(
            collection=Collection(*(identity[name] for name in Collection._fields)),
            seed=identity["seed"],
            checkpoint=identity["checkpoint"],
            n_examples=identity["n_examples"],
            file=str(path),
            format=NAME,
            load=partial(_load, path, identity, _thresholds(identity.get("thresholds"), path)),
            n_parameters=identity.get("n_parameters"),
            configuration=identity.get("configuration") or {},
            grades=_scale(identity.get("grades"), path),
            unrecorded=tuple(identity.get("unrecorded", ())),
            numbered=identity.get("numbered") is True,
            is_trial=bool(identity.get("is_trial")),
            keyed=bool(identity.get("keyed")),
        )
    ]


def _scale(told: Any, path: Path) -> tuple[float, float] | None:
    if told is None:
        return None
    try:
        low, high = map(float, told)
    except (TypeError, ValueError) as error:
        raise _broken(path) from error
    return low, high


def _thresholds(told: Any, path: Path) -> BestThresholds | None:
    if told is None:
        return None
    try:
        return BestThresholds(
            *(
                # JSON has no infinity: without a threshold everything is left unanswered.
                BestThreshold(
                    float(told[name]["score"]),
                    -math.inf if told[name]["threshold"] is None else float(told[name]["threshold"]),
                )
                for name in ("exact", "f1")
            )
        )
    except (TypeError, ValueError, KeyError) as error:
        raise _broken(path) from error


def _load(path: Path, identity: dict[str, Any], thresholds: BestThresholds | None) -> Columns:
    try:
        names = pl.read_parquet_schema(path)
        columns = [name for name in names if name in _ROWS or name.startswith("group_")]
        with panics_unprinted():
            check_parquet(path, path)
            frame = pl.read_parquet(path, columns=columns)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(path) from error
    present = set(columns)
    return Columns(
        example_ids=frame["example_id"],
        label=frame["label"] if "label" in present else None,
        prediction=frame["prediction"] if "prediction" in present else None,
        score=frame["score"] if "score" in present else None,
        logits=logits_array(frame["logits"], path) if "logits" in present else None,
        label_names=tuple(identity["label_names"]),
        groups={name[6:]: frame[name] for name in columns if name.startswith("group_")},
        thresholds=thresholds,
        status=frame["status"].cast(pl.String) if "status" in present else None,
        reported=identity.get("reported"),
    )


_ROWS = frozenset({"example_id", "label", "prediction", "score", "logits", "status"})


def _broken(path: Path) -> InputError:
    return InputError("the Parquet file is damaged or cut short", file=path, mend="write or copy it again")
