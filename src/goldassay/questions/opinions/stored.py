"""Stored runs as a bias model or a teacher: what they answered on the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.lab.training.teacher_logits import TRAIN, Opinions, opinions_of, softmax
from goldassay.runs.reading import find_slices, runs_of
from goldassay.runs.slices import Collection, Request, Slice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs import Runs


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

    def on(self, parts: Mapping[str, Dataset], seed: int) -> Opinions:
        """See `training.opinions.OpinionSource`.

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
        return opinions_of(name, about, parts, found)

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
