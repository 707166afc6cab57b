"""Distances from the training features, of the examples of a detection: Mahalanobis and the k-th neighbor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.questions.shift.measures.nearest_neighbors import score_knn
from goldassay.questions.shift.measures.scores import fit_mahalanobis
from goldassay.runs.adapters.stored import NAME as STORED
from goldassay.runs.assembly import position_of
from goldassay.runs.beside import read_embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.shift.answers import Answers
    from goldassay.runs.beside import Embeddings
    from goldassay.runs.slices import Slice


@dataclass(frozen=True)
class TrainingFeatures:
    """What one run made of the data that it was trained on.

    Attributes:
        vectors: (N, D).
        labels: Names, (N,).
    """

    vectors: NDArray[np.floating[Any]]
    labels: NDArray[Any]


def read_training(path: str, parts: Sequence[Slice], model: str, seed: Any, *, alone: bool = False) -> TrainingFeatures:
    """The training features of one run, with the labels of its examples: in its own file, or of embeddings beside.

    Args:
        path: Where the runs on training data are.
        parts: These.
        model: Of the run.
        seed: Of the run.
        alone: Whether the model has this run only, which may be called after its file.

    Raises:
        InputError: There are no features of this run, or no labels of its examples.
    """
    of_model = [part for part in parts if part.collection.model == model]
    own = [part for part in of_model if part.seed == seed]
    if not own and alone and len({part.seed for part in of_model}) == 1:
        # A single run a file is called after its file.
        own = of_model
    if not own:
        raise InputError(f"there is no run of {model} with seed {seed} on its training data", file=path)
    part = own[-1]
    columns = part.load()
    if columns.label is None:
        raise InputError("the training examples have no labels", file=part.file, mend="give runs with labels")
    labels = columns.label.cast(pl.String).to_numpy().astype(np.str_)
    if columns.features is not None:
        return TrainingFeatures(columns.features, labels)
    if part.format != STORED:
        raise InputError(
            "there are no features",
            file=part.file,
            mend="give them as lists in a column, or as an array, called features",
        )
    found = _one(read_embeddings(path, model=model, dataset=part.collection.dataset, seed=seed), path)
    return TrainingFeatures(_rows(found, columns.example_ids, path), labels)


def read_features(path: str, answers: Answers, model: str, seed: Any) -> NDArray[np.floating[Any]]:
    """What one run made of the examples of a dataset, (N, D), in their order.

    Raises:
        InputError: There are no embeddings of this run and dataset, or they lack an example.
    """
    if answers.features is not None:
        return answers.features[answers.seeds.index(seed)]
    found = _one(read_embeddings(path, model=model, dataset=answers.dataset, seed=seed), path)
    return _rows(found, pl.Series([str(each) for each in answers.example_ids.tolist()], dtype=pl.String), path)


def feature_scores(
    training: TrainingFeatures, sides: Sequence[NDArray[np.floating[Any]]], k: int
) -> tuple[dict[str, list[NDArray[np.float64]]], str]:
    """Both distances of each side, and what was done about a singular covariance, in a sentence, or "".

    Raises:
        InputError: k is larger than the training set.
    """
    fitted = fit_mahalanobis(training.vectors, training.labels)
    return {
        "mahalanobis": [fitted.score(side) for side in sides],
        "knn": [score_knn(side, training.vectors, k) for side in sides],
    }, fitted.note


def _one(found: Sequence[Embeddings], path: str) -> Embeddings:
    if len(found) > 1:
        raise InputError("there are embeddings of several conditions or training sets of the run", file=path)
    return found[0]


def _rows(found: Embeddings, ids: pl.Series, path: str) -> NDArray[np.float32]:
    """The vectors of these examples: of all texts together where these are there, else of the only one."""
    if "paired" in found.vectors:
        vectors = found.vectors["paired"]
    elif len(found.vectors) == 1:
        vectors = next(iter(found.vectors.values()))
    else:
        raise InputError(f"there are embeddings of {', '.join(found.vectors)}, and of no pair", file=path)
    places = position_of(ids.cast(pl.String), pl.Series(found.example_ids.tolist(), dtype=pl.String))
    if places.null_count():
        raise InputError(f"the embeddings lack {places.null_count()} of {len(ids)} examples", file=path)
    return vectors[places.to_numpy()]
