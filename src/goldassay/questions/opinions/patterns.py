"""Mined patterns as a bias model: how strongly those that a sentence holds point to each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.lab.training.teacher_logits import TRAIN, Opinions, opinions_of
from goldassay.questions.artifacts.inputs import read_patterns, texts_for
from goldassay.readers.conditions import tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.data import Dataset


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

    def on(self, parts: Mapping[str, Dataset], seed: int) -> Opinions:  # noqa: ARG002
        """See `training.opinions.OpinionSource`.

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
            found[part] = matches.opinions(counts, of_all, own)
        text = patterns.settings.get("text") or training.text_columns[-1]
        return opinions_of(
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

    def opinions(
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
