"""Bias models and teachers: what `--bias` and `--teacher` may name, and bias models that are trained here.

Those that exist already, mined patterns and stored runs, are in `stored_teachers`.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import GoldassayError, InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.lab.models.registry import NETWORKS, full_name
from goldassay.lab.training.many_seeds import plan_jobs, run_plan
from goldassay.lab.training.stored_teachers import MinedPatterns, StoredRuns
from goldassay.lab.training.teacher_logits import TRAIN, TeacherLogits, TeacherSource, softmax, teacher_logits_of
from goldassay.readers.probes import train_probes
from goldassay.runs.reading import read_runs
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset

    Judged = list[NDArray[np.floating[Any]]]

QUICK_PROBE = "quick_probe"
FOLDS = 5
_PATTERNS = "patterns.parquet"
_SEED = 0
# In the folder of the runs, where whoever looks for runs passes it over.
_FOLDER = "_bias"


def bias_source(
    what: str | os.PathLike[str], folder: str | os.PathLike[str] = "runs", folds: int = FOLDS
) -> TeacherSource:
    """A bias model by what names it.

    - "quick_probe", or a network of words by its name: trained here on one text alone, the last one; see `Crossed`.
    - A file that `goldassay artifacts mine` wrote, or its folder: mined patterns; see `MinedPatterns`.
    - Any other file or folder: stored runs that answer the training rows; see `StoredRuns`.

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


def teacher_source(place: str | os.PathLike[str]) -> TeacherSource:
    """A teacher: stored runs that answer the training rows; see `StoredRuns`.

    Raises:
        InputError: There is no such file or folder.
    """
    if not Path(place).exists():
        raise InputError("there is no such file or folder", file=place, mend="name the runs of the teacher")
    return StoredRuns(Path(place), "teacher")


def with_sources(asked: Mapping[str, Any], folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of `plan_jobs`, with sources in place of what settings name.

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


def _holds_patterns(file: Path) -> bool:
    try:
        return "goldassay.patterns" in pl.read_parquet_metadata(file)
    except (pl.exceptions.PolarsError, OSError):
        return False


@dataclass(frozen=True)
class Fit:
    """A model to be trained.

    Attributes:
        train: What it learns.
        judges: What it judges.
    """

    train: Dataset
    judges: Sequence[Dataset]


@dataclass(frozen=True)
class Crossed(ABC):
    """A model of the last text alone (of a pair, the hypothesis), fitted fold by fold.

    The training rows are dealt into folds at random; each fold is judged by a model that learnt the others, dev and
    test sets by one that learnt all. With one fold a row is judged by a model that learnt it, as published (Clark et
    al. 2019, He et al. 2019 and Utama et al. 2020 fit their bias models on all training rows and apply them there). On
    hundreds of thousands of rows a small model has little room to learn rows by heart; on fewer it does, and would seem
    sure and right on rows that no bias gives away: hence folds by default. Everything has seed 0, so that all runs have
    the same bias model.

    Attributes:
        folds: How many.
    """

    folds: int

    follows_seed: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Of the model."""

    @property
    def key(self) -> str:
        """See `TeacherSource`."""
        return f"{self.name} {self.folds} {__version__}"

    @abstractmethod
    def _judge(self, fits: Sequence[Fit], condition: str) -> list[Judged]:
        """For each fit the probabilities on what it judges, (N, K) each."""

    def on(self, parts: Mapping[str, Dataset], seed: int) -> TeacherLogits:  # noqa: ARG002
        """See `TeacherSource`."""
        training = parts[TRAIN]
        if self.folds > len(training):
            raise InputError(
                f"{self.folds:,} folds are asked for, and there are {len(training):,} training rows",
                mend=f"ask for fewer with {option('bias-folds')}",
            )
        roles = training.text_columns
        condition = f"{roles[-1]}_only" if len(roles) > 1 else "text"
        others = [part for part in parts if part != TRAIN]
        fold = np.random.default_rng(_SEED).permutation(len(training)) % self.folds
        dealt = [np.flatnonzero(fold == number) for number in range(self.folds)]
        every = np.arange(len(training))
        if self.folds == 1:
            fits = [Fit(training, [parts[part] for part in (TRAIN, *others)])]
        else:
            fits = [Fit(training.take(np.setdiff1d(every, held)), [training.take(held)]) for held in dealt]
            if others:
                fits.append(Fit(training, [parts[part] for part in others]))
        judged = self._judge(fits, condition)
        if self.folds == 1:
            found = dict(zip((TRAIN, *others), judged[0], strict=True))
        else:
            of_rows = np.zeros((len(training), len(training.label_names)))
            for held, (values,) in zip(dealt, judged[: self.folds], strict=True):
                of_rows[held] = values
            found = {TRAIN: of_rows, **dict(zip(others, judged[-1] if others else [], strict=True))}
        fitted = "fitted on the rows that it judges" if self.folds == 1 else f"fitted out of fold, {self.folds} folds"
        return teacher_logits_of(f"{self.name}/{condition}", fitted, parts, found)


@dataclass(frozen=True)
class CrossedProbes(Crossed):
    """Quick probes; see `readers.quick_probe`."""

    @property
    def name(self) -> str:
        """Of the probe."""
        return "quick_probe"

    def _judge(self, fits: Sequence[Fit], condition: str) -> list[Judged]:
        judged: list[Judged] = []
        for fit in fits:
            first, *more = fit.judges
            runs = train_probes(fit.train, first, extra_tests=more, conditions=[condition], seeds=[_SEED])
            judged.append([softmax(each.logits[0]) for each in runs if each.logits is not None])
        return judged


@dataclass(frozen=True)
class CrossedNetworks(Crossed):
    """Networks at desk size.

    Attributes:
        model: Name of the network.
        folder: Of the runs; what is trained here lies in a folder of it, and is trained once.
    """

    model: str
    folder: Path

    @property
    def name(self) -> str:
        """Of the network."""
        return self.model

    def _judge(self, fits: Sequence[Fit], condition: str) -> list[Judged]:
        home = self.folder / _FOLDER / f"{self.model}-{_digest(fits)}"
        places = [home / str(number) for number in range(len(fits))]
        jobs = [
            job
            for place, fit in zip(places, fits, strict=True)
            for job in plan_jobs(
                fit.train,
                self.model,
                {str(number): each for number, each in enumerate(fit.judges)},
                out=place,
                seeds=[_SEED],
                conditions=[condition],
            )
        ]
        report = run_plan(jobs)
        if report.failures.height:
            raise GoldassayError(f"the bias model could not be trained: {report.failures['reason'][0]}")
        return [
            [self._probabilities(place, str(number), fit.train) for number in range(len(fit.judges))]
            for place, fit in zip(places, fits, strict=True)
        ]

    def _probabilities(self, place: Path, dataset: str, train: Dataset) -> NDArray[np.float64]:
        runs = read_runs(place, dataset=dataset)
        if runs.logits is None:
            raise GoldassayError(f"{place}: the runs of the bias model hold no logits")
        return softmax(runs.logits[0][:, [runs.label_names.index(name) for name in train.label_names]])


def _digest(fits: Sequence[Fit]) -> str:
    """Of all the data, so that bias models on other data lie elsewhere."""
    digest = hashlib.sha256()
    for fit in fits:
        for dataset in (fit.train, *fit.judges):
            digest.update(dataset.examples.write_ndjson().encode())
    return digest.hexdigest()[:12]
