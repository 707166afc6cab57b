"""Predictions of the quick probe that sees one text only, for examples that it has not seen in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, silent
from goldassay.readers.probes import train_probes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs import Runs

N_FOLDS = 5


@dataclass(frozen=True)
class Unseen:
    """Predictions of examples that the classifier had not seen.

    Attributes:
        predictions: Codes (R, N).
        gold: Codes (N,).
        how: In a clause.
    """

    predictions: NDArray[np.int64]
    gold: NDArray[np.int64]
    how: str


def predict_unseen(
    test: Dataset, train: Dataset | None, text: str | None, seeds: Sequence[int], progress: Progress = silent
) -> Unseen:
    """Train on the training set without what is also in the test set; or, without one, cross-fit the test set.

    Args:
        test: What to predict.
        train: What to train on; None: in each of five folds, the rest of the test set. Equal texts are in one fold.
        text: The role that the classifier sees, by default the last; "all": all.
        seeds: R of them.
        progress: Told after each classifier.

    Raises:
        InputError: The two sets do not fit, or too little is left to train on.
    """
    condition = condition_of(test, text)
    if train is None:
        return _cross_fitted(test, condition, text, seeds, progress)
    texts = list(test.text_columns)
    if train.text_columns != test.text_columns:
        raise InputError(
            f"the texts of {train.source} are {', '.join(train.text_columns)}, those of {test.source} "
            f"{', '.join(texts)}",
            mend=f"make the roles equal with {option('columns')}",
        )
    seen = train.examples.select(texts).with_row_index().join(test.examples.select(texts), on=texts, how="semi")
    unseen = np.ones(len(train), np.bool_)
    unseen[seen["index"].to_numpy()] = False
    runs = list(train_probes(train.take(unseen), test, conditions=[condition], seeds=seeds, progress=progress))
    dropped = f", without the {seen.height:,} that are in the test set too" if seen.height else ""
    return _collected(runs, f"trained on the {int(unseen.sum()):,} training rows{dropped}")


def _cross_fitted(
    dataset: Dataset, condition: str, text: str | None, seeds: Sequence[int], progress: Progress
) -> Unseen:
    roles = dataset.text_columns if text == "all" else (text or dataset.text_columns[-1],)
    group = dataset.examples.select(pl.struct(roles).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    # A fixed draw: the seeds differ in their classifiers, not in what these are trained on.
    fold = np.random.default_rng(0).permutation(np.arange(group.max() + 1) % N_FOLDS)[group]
    total = N_FOLDS * len(seeds)
    predictions = np.empty((len(seeds), len(dataset)), np.int64)
    gold = dataset.labels()
    done = 0
    for k in np.unique(fold):
        rest, held_out = dataset.take(fold != k), dataset.take(fold == k)
        if rest.examples.height == 0 or rest.examples["label"].n_unique() < 2:
            raise InputError(
                "there are too few different texts to cross-fit a classifier",
                file=dataset.source,
                mend="give training data",
            )
        for r, run in enumerate(train_probes(rest, held_out, conditions=[condition], seeds=seeds)):
            assert run.predictions is not None
            predictions[r, fold == k] = run.predictions[0]
            done += 1
            progress(done, total)
    return Unseen(predictions, gold, f"cross-fitted on the test set in {N_FOLDS} folds, equal texts in one fold")


def _collected(runs: Sequence[Runs], how: str) -> Unseen:
    predictions = np.concatenate([run.predictions for run in runs if run.predictions is not None])
    gold = runs[0].gold
    assert gold is not None
    return Unseen(predictions, gold, how)


def condition_of(dataset: Dataset, text: str | None) -> str:
    """The condition that shows one text, as `training.conditions` names it."""
    if len(dataset.text_columns) == 1:
        return "text"
    return "paired" if text == "all" else f"{text or dataset.text_columns[-1]}_only"
