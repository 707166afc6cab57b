"""Models that exist already as bias models and teachers: mined patterns, and stored runs on the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.lab.training.teacher_logits import TRAIN, TeacherLogits, softmax, teacher_logits_of
from goldassay.questions.artifacts.inputs import read_patterns, texts_for
from goldassay.readers.conditions import tokenizer_of
from goldassay.runs.reading import find_slices, runs_of
from goldassay.runs.run_parts import Collection, Request, Slice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.runs.runs import Runs


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
