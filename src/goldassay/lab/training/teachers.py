"""Bias models and teachers: what `--bias` and `--teacher` may name, and bias models that are trained here.

Those that exist already, mined patterns and stored runs, are in `stored_teachers`.

Models that exist already as bias models and teachers: mined patterns, and stored runs on the training rows.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import GoldassayError, InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.lab.models import NETWORKS, full_name
from goldassay.lab.training.many_seeds import plan_jobs, run_plan
from goldassay.lab.training.objectives import TRAIN, TeacherLogits, TeacherSource, softmax, teacher_logits_of
from goldassay.questions.artifacts.inputs import read_patterns, texts_for
from goldassay.readers.conditions import tokenizer_of
from goldassay.readers.probes import train_probes
from goldassay.runs.reading import find_slices, read_runs, runs_of
from goldassay.runs.run_parts import Collection, Request, Slice
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.runs.runs import Runs

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


@dataclass(frozen=True)
class MinedPatterns:
    """What patterns mined from the training set say.

    `strengths` of a label: the largest p(label|pattern) over the patterns that the sentence holds, 0 where it holds
    none. `probabilities`: those of the pattern whose share of some label is largest, (c_l + 1)/(n + K) from its counts;
    where no pattern is held, from the counts of all rows. A training row's own label is taken out of the counts first:
    else every pattern would know it a little.

    Attributes:
        file: That `PatternTable.write` wrote.

    Source: Liu et al. 2020 for strengths; that patterns serve as an expert is ours.
    """

    file: Path

    # Looking for them takes little longer than reading the file to see whether it is the same.
    key: ClassVar[None] = None
    follows_seed: ClassVar[bool] = False

    def on(self, parts: Mapping[str, Dataset], seed: int) -> TeacherLogits:  # noqa: ARG002
        """See `TeacherSource`.

        Raises:
            InputError: They were mined from other rows, with another tokenizer, or cut by a share before.
        """
        training = parts[TRAIN]
        patterns = read_patterns(self.file, training)
        self._check(patterns, training)
        order = [patterns.label_names.index(name) for name in training.label_names]
        table = patterns.to_frame()
        counts = np.array(table["counts"].to_list(), np.float64).reshape(len(patterns), -1)[:, order]
        of_all = np.bincount(training.labels(), minlength=len(order)).astype(np.float64)
        found = {}
        for part, dataset in parts.items():
            matches = _Matches.of(patterns, dataset)
            own = training.labels() if part == TRAIN else None
            if own is not None:
                self._recount(patterns, matches, counts, own)
            found[part] = matches.teacher_logits(counts, of_all, own)
        text = patterns.settings.get("text") or training.text_columns[-1]
        return teacher_logits_of(
            "patterns",
            f"{len(patterns):,} patterns mined from the {text}, each row's own label left out of their counts",
            parts,
            {part: probabilities for part, (probabilities, _) in found.items()},
            {part: strengths for part, (_, strengths) in found.items()},
        )

    def _check(self, patterns: PatternTable, training: Dataset) -> None:
        wanted = tokenizer_of(training)
        mined_with = patterns.settings.get("cut_with", patterns.settings["tokenizer"])
        if mined_with != wanted:
            raise InputError(
                f"the patterns were mined with the tokenizer {mined_with}, and the training texts are cut by {wanted}",
                file=self.file,
                mend=f"mine them with {option('tokenizer', wanted)}",
            )
        if "threshold" in patterns.settings:
            raise InputError(
                f"the patterns were cut at a share of {patterns.settings['threshold']}",
                file=self.file,
                mend="give patterns.parquet, all of them: the objective has a threshold of its own",
            )
        n_mined = patterns.settings["n_sentences"]
        if n_mined != len(training):
            raise self._of_other(f"they are of {n_mined:,} rows, and it has {len(training):,}", training)

    def _recount(
        self, patterns: PatternTable, matches: _Matches, counts: NDArray[np.float64], gold: NDArray[np.int64]
    ) -> None:
        """Counting anew tells another training set more surely than a name would, for files of any age."""
        K = counts.shape[1]
        cells = np.bincount(matches.rows * K + gold[matches.at], minlength=counts.size).reshape(counts.shape)
        wrong = np.flatnonzero((cells != counts).any(axis=1))
        if wrong.size:
            first = int(wrong[0])
            pattern, support = patterns.to_frame()["pattern"][first], int(counts[first].sum())
            raise self._of_other(
                f"{pattern!r} was in {support:,} rows with labels that are not those of the "
                f"{int(cells[first].sum()):,} rows that it is in here",
                training=None,
            )

    def _of_other(self, reason: str, training: Dataset | None) -> InputError:
        name = "" if training is None else f" {training.name}"
        return InputError(
            f"the patterns were mined from another training set than{name or ' this one'}: {reason}",
            file=self.file,
            mend="mine them from the same file with goldassay artifacts mine",
        )


@dataclass(frozen=True)
class _Matches:
    """Which patterns N sentences hold.

    Attributes:
        at: Sentence of each match, ascending.
        rows: Pattern of each match.
        n: N.
    """

    at: NDArray[np.int64]
    rows: NDArray[np.int64]
    n: int

    @classmethod
    def of(cls, patterns: PatternTable, dataset: Dataset) -> _Matches:
        texts = texts_for(dataset, patterns)
        at, rows = patterns.matches(texts)
        return cls(at, rows, len(texts))

    def teacher_logits(
        self, counts: NDArray[np.float64], of_all: NDArray[np.float64], own: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Probabilities and strengths of the labels, (N, K) each; see `MinedPatterns`."""
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        strengths = np.zeros((self.n, counts.shape[1]))
        used = np.tile(of_all, (self.n, 1))
        held, starts = np.unique(self.at, return_index=True)
        if held.size:
            strengths[held] = np.maximum.reduceat(shares[self.rows], starts, axis=0)
            # Of a sentence's matches the strongest comes last, of equals the most frequent pattern, which has the
            # lowest row.
            by_strength = np.lexsort((-self.rows, shares.max(axis=1)[self.rows], self.at))
            last = by_strength[np.append(starts[1:], self.at.size) - 1]
            used[held] = counts[self.rows[last]]
        if own is not None:
            used[np.arange(self.n), own] -= 1
        smoothed = used + 1
        return smoothed / smoothed.sum(axis=1, keepdims=True), strengths


@dataclass(frozen=True)
class StoredRuns:
    """What the runs of one model answered; the probabilities are the softmax of their logits.

    The runs are found by content: example ids and labels must be those of the training set. Of several runs the one of
    the same seed is taken; a single run serves all seeds. Where several models answered the training rows, those that
    saw one text only are taken for bias models, and those that saw all for teachers.

    Attributes:
        place: A file or folder of runs.
        role: What they are for, in messages: "bias model" or "teacher".
    """

    place: Path
    role: str

    # What they answered may change under the same name, so it is read each time.
    key: ClassVar[None] = None
    follows_seed: ClassVar[bool] = True

    def on(self, parts: Mapping[str, Dataset], seed: int) -> TeacherLogits:
        """See `TeacherSource`.

        Raises:
            InputError: No runs answer all training rows, several models do, they have other labels or no logits, or
                there are several runs and none of the seed.
        """
        training = parts[TRAIN]
        key = self._choose(training)
        found = {}
        for part, dataset in parts.items():
            runs = self._answers(key, part, dataset)
            if runs is not None:
                found[part] = self._probabilities(runs, dataset, seed)
        name = "/".join(each for each in (key.model, key.condition) if each)
        own = key.train_set == training.name
        about = "runs trained on the same rows" if own else f"runs trained on {key.train_set or 'other data'}"
        return teacher_logits_of(name, about, parts, found)

    @cached_property
    def _found(self) -> dict[Collection, list[Slice]]:
        grouped: dict[Collection, list[Slice]] = {}
        for part in find_slices(self.place, "auto", Request()):
            grouped.setdefault(part.collection, []).append(part)
        return grouped

    def _runs(self, key: Collection) -> Runs:
        return runs_of(self._found[key], {}, checkpoint="last")

    def _choose(self, training: Dataset) -> Collection:
        lacking = {key: self._lacks(key, training) for key in self._found}
        fitting = [key for key, n in lacking.items() if n == 0]
        partial = self.role == "bias model"
        preferred = [key for key in fitting if key.condition.endswith("_only") == partial] or fitting
        if len(preferred) == 1:
            return preferred[0]
        if preferred:
            names = ", ".join(sorted("/".join(filter(None, key)) for key in preferred))
            raise InputError(
                f"several runs could be the {self.role}: {names}", file=self.place, mend="name a file or folder of one"
            )
        nearest = min(lacking, key=lambda key: lacking[key])
        raise InputError(
            f"no run answers all {len(training):,} training rows; the nearest, {nearest.model} on {nearest.dataset}, "
            f"lacks {lacking[nearest]:,}, or has other labels there",
            file=self.place,
            mend=f"let it answer them: train with {option('test', 'TRAIN')}",
        )

    def _lacks(self, key: Collection, dataset: Dataset) -> int:
        """How many examples of a dataset are not answered, at least; without reading runs that are too small."""
        short = len(dataset) - self._found[key][0].n_examples
        return short if short > 0 else _n_lacking(self._runs(key), dataset)

    def _answers(self, key: Collection, part: str, dataset: Dataset) -> Runs | None:
        """The same model's runs on a part, where there are any."""
        if part == TRAIN:
            return self._runs(key)
        of_model = [
            other
            for other in self._found
            if (other.model, other.condition, other.train_set) == (key.model, key.condition, key.train_set)
        ]
        fitting = next((other for other in of_model if self._lacks(other, dataset) == 0), None)
        return None if fitting is None else self._runs(fitting)

    def _probabilities(self, runs: Runs, dataset: Dataset, seed: int) -> NDArray[np.float64]:
        if set(runs.label_names) != set(dataset.label_names):
            raise InputError(
                f"the {self.role} has the labels {', '.join(runs.label_names)}; the training set has "
                f"{', '.join(dataset.label_names)}",
                file=self.place,
                mend="name runs of the same task",
            )
        if runs.logits is None:
            raise InputError(
                f"the runs of the {self.role} hold no logits",
                file=self.place,
                mend=f"record them: {option('record', 'logits')}",
            )
        seeds = [str(each) for each in runs.seeds]
        if len(seeds) > 1 and str(seed) not in seeds:
            raise InputError(
                f"the {self.role} has runs with the seeds {', '.join(seeds)}, and none with {seed}",
                file=self.place,
                mend="train it with the same seeds, or name the file of a single run",
            )
        logits = runs.logits[seeds.index(str(seed)) if len(seeds) > 1 else 0].astype(np.float64)
        logits = logits[-1] if logits.ndim == 3 else logits
        place = {name: row for row, name in enumerate(runs.example_ids.tolist())}
        rows = [place[name] for name in dataset.examples["example_id"].cast(str).to_list()]
        ordered = logits[rows][:, [runs.label_names.index(name) for name in dataset.label_names]]
        return softmax(ordered)


def _n_lacking(runs: Runs, dataset: Dataset) -> int:
    """How many examples of a dataset the runs do not answer, or have another label for."""
    ids = dataset.examples["example_id"].cast(str).to_list()
    names = [dataset.label_names[code] for code in dataset.labels()]
    if runs.gold is None:
        known = set(runs.example_ids.tolist())
        return sum(each not in known for each in ids)
    gold = {each: runs.label_names[code] for each, code in zip(runs.example_ids.tolist(), runs.gold, strict=True)}
    return sum(gold.get(each) != name for each, name in zip(ids, names, strict=True))
