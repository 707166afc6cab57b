"""What `--bias` and `--teacher` may name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.lab.models.registry import NETWORKS, full_name
from goldassay.questions.opinions.crossed import Crossed, CrossedNetworks, CrossedProbes
from goldassay.questions.opinions.patterns import MinedPatterns
from goldassay.questions.opinions.stored import StoredRuns

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from goldassay.lab.training.teacher_logits import OpinionSource

QUICK_PROBE = "quick_probe"
FOLDS = 5
_PATTERNS = "patterns.parquet"


def bias_source(
    what: str | os.PathLike[str], folder: str | os.PathLike[str] = "runs", folds: int = FOLDS
) -> OpinionSource:
    """A bias model by what names it.

    - "quick_probe", or a network of words by its name: trained here on one text alone, the last one; see `crossed`.
    - A file that `goldassay artifacts mine` wrote, or its folder: mined patterns; see `patterns`.
    - Any other file or folder: stored runs that answer the training rows; see `stored`.

    Args:
        what: One of these.
        folder: Of the runs, where networks that are trained here are kept.
        folds: For those that are trained here.

    Raises:
        InputError: There is nothing of that name, or `folds` is below 1.
    """
    if folds < 1:
        raise InputError(f"{folds} folds are asked for", mend="give 2 or more, or 1 to judge rows by what learnt them")
    name = full_name(str(what))
    if name == QUICK_PROBE:
        return CrossedProbes(folds)
    if name in NETWORKS:
        return CrossedNetworks(folds, name, Path(folder))
    place = Path(what)
    if not place.exists():
        known = (QUICK_PROBE, *NETWORKS)
        raise InputError(
            f"there is no bias {name!r}", mend=f"{did_you_mean(name, known)} (or a file of mined patterns, or runs)"
        )
    inside = place / _PATTERNS
    if place.is_dir() and inside.is_file():
        place = inside
    return MinedPatterns(place) if place.is_file() and _holds_patterns(place) else StoredRuns(place, "bias model")


def teacher_source(place: str | os.PathLike[str]) -> OpinionSource:
    """A teacher: stored runs that answer the training rows; see `stored`.

    Raises:
        InputError: There is no such file or folder.
    """
    if not Path(place).exists():
        raise InputError("there is no such file or folder", file=place, mend="name the runs of the teacher")
    return StoredRuns(Path(place), "teacher")


def _holds_patterns(file: Path) -> bool:
    try:
        return "goldassay.patterns" in pl.read_parquet_metadata(file)
    except (pl.exceptions.PolarsError, OSError):
        return False


def with_sources(asked: Mapping[str, Any], folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of `goldassay.lab.training.plan_jobs`, with sources in place of what settings name.

    Args:
        asked: As settings and options give them: `bias` and `bias_folds`, `teacher`.
        folder: Of the runs.

    Raises:
        InputError: See `bias_source` and `teacher_source`; or folds are given without a bias model trained here.
    """
    arguments = dict(asked)
    folds = arguments.pop("bias_folds", None)
    if "bias" in arguments:
        arguments["bias"] = bias_source(arguments["bias"], folder, FOLDS if folds is None else folds)
    if folds is not None and not isinstance(arguments.get("bias"), Crossed):
        raise InputError(
            "folds are of a bias model that is trained here",
            mend=f"name quick_probe or a network with {option('bias')}, or leave the folds out",
        )
    if "teacher" in arguments:
        arguments["teacher"] = teacher_source(arguments["teacher"])
    return arguments
