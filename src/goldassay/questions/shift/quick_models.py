"""Models that are trained in moments: a linear one on words, and for numbers a cosine or a ridge regression.

- "quick_probe" on classes: a linear classifier on hashed words and word pairs; it needs no torch.
- "bow" on numbers: the cosine of the two texts' word counts, which nothing is trained for (the paper's bag of words),
  stretched over the range of the training labels, which changes no correlation; on classes "bow" is the network
  `bag_of_words`, as it is everywhere.
- "ridge" on numbers: ridge regression on the quick probe's features of a pair, overlap and crossed words among them.

Source: Hendrycks et al. 2020, section 2, for the bag of words; Hoerl and Kennard 1970 for ridge regression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.readers.conditions import conditions_of
from goldassay.readers.probes import closeness, gold_codes, numbers_of
from goldassay.runs.store import identity_of, write_answers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.readers.probe_features import ProbeFeatures

QUICK = ("bow", "quick_probe", "ridge")
_PENALTY = 1.0
_WORD = r"(?u)\b\w+\b"


def is_quick(model: str, train: Dataset) -> bool:
    """Whether a model of these data is one of those here; a bag of words on classes is a network."""
    return model in QUICK and not (model == "bow" and train.label_names)


def predict_quick(
    model: str,
    train: Dataset,
    sets: Sequence[Dataset],
    foreign: Sequence[Dataset],
    seeds: Sequence[int],
    folder: Path,
    *,
    name: str = "",
) -> str:
    """Train a quick model with every seed, write what it predicts on every set, and say what it is.

    Args:
        model: One of `QUICK`.
        train: To train on.
        sets: To predict and to score, with labels like those of the training data.
        foreign: To predict, without labels.
        seeds: Of the bootstraps.
        folder: Where the runs go.
        name: What the runs call the model; without one, what it is called here.

    Raises:
        InputError: The model does not take such labels or texts.
    """
    if train.label_names:
        if model != "quick_probe":
            raise InputError(
                f"{model} is a regression, and the labels are classes", mend=f"choose {option('model', 'quick_probe')}"
            )
        return _classify(name or model, train, sets, foreign, seeds, folder)
    if foreign:
        raise no_confidence()
    if len(train.text_columns) != 2:
        raise InputError(f"{model} on numbers compares two texts", file=train.source)
    if model == "quick_probe":
        raise InputError(
            "quick_probe learns classes, and the labels are numbers", mend=f"choose {option('model', 'bow')} or ridge"
        )
    if model == "bow":
        return _cosine(name or model, train, sets, folder)
    return _regress(name or model, train, sets, seeds, folder)


def _classify(
    model: str,
    train: Dataset,
    sets: Sequence[Dataset],
    foreign: Sequence[Dataset],
    seeds: Sequence[int],
    folder: Path,
) -> str:
    from goldassay.readers.conditions import labels_named_in
    from goldassay.readers.quick_probe import QuickProbe

    probe = QuickProbe()
    features = _features(train, [*sets, *foreign])
    labels = train.labels()
    told = [labels_named_in(train.label_names, each.label_names) for each in sets]
    gold = [gold_codes(each, names) for each, (names, _) in zip(sets, told, strict=True)]
    for seed in seeds:
        fitted = probe.fit(features, labels, len(train.label_names), seed)
        logits = fitted.logits(features, np.arange(len(train), len(features.sizes)))
        start = 0
        for place, each in enumerate((*sets, *foreign)):
            own = logits[start : start + len(each)]
            label_names, codes = told[place] if place < len(sets) else labels_named_in(train.label_names, ())
            names = pl.Series(label_names, dtype=pl.String)
            columns: dict[str, pl.Series] = {}
            if place < len(sets):
                columns["label"] = names.gather(gold[place])
            predicted = codes[own.argmax(axis=1)]
            columns["prediction"] = names.gather(predicted)
            if place < len(sets):
                columns["score"] = pl.Series((predicted == gold[place]).astype(np.float64))
            if label_names == train.label_names:
                columns["logits"] = pl.Series(own).reshape((-1, own.shape[1])).arr.to_list()
            _write(folder, model, train, each, seed, columns, label_names)
            start += len(each)
    described = probe.describe(len(train.text_columns) > 1)
    return f"{model} is {described}, each run trained on a bootstrap of the training rows."


def _cosine(model: str, train: Dataset, sets: Sequence[Dataset], folder: Path) -> str:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    zeros = 0
    low, high = _range(train)
    for each in sets:
        texts = [each.texts(role) for role in each.text_columns]
        counts = CountVectorizer(token_pattern=_WORD).fit([*texts[0], *texts[1]])
        a, b = (normalize(counts.transform(side).astype(np.float64)) for side in texts)
        cosine = np.asarray(a.multiply(b).sum(axis=1)).ravel()
        zeros += int(((a.getnnz(axis=1) == 0) | (b.getnnz(axis=1) == 0)).sum())
        _write(folder, model, train, each, 0, _numbers(train, each, low + (high - low) * cosine))
    note = f"{model} is the cosine of the two texts' word counts; nothing is trained, so that there is one run"
    return f"{note}, and {zeros} pairs with a text without words have cosine 0." if zeros else f"{note}."


def _regress(model: str, train: Dataset, sets: Sequence[Dataset], seeds: Sequence[int], folder: Path) -> str:
    from sklearn.linear_model import Ridge

    features = _features(train, sets).matrix()
    targets = train.examples["label"].to_numpy()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, len(train), len(train))
        fitted = Ridge(_PENALTY, solver="sparse_cg").fit(features[: len(train)][drawn], targets[drawn])
        values = fitted.predict(features[len(train) :])
        start = 0
        for each in sets:
            own = values[start : start + len(each)]
            _write(folder, model, train, each, seed, _numbers(train, each, own))
            start += len(each)
    return (
        f"{model} is a ridge regression on hashed words, overlap and crossed words of the pair, each run trained on a "
        "bootstrap of the training rows."
    )


def _features(train: Dataset, sets: Sequence[Dataset]) -> ProbeFeatures:
    """Features of the training rows and of all sets, one below the other."""
    from goldassay.readers.probe_features import build_features, tokenize_roles

    texts = tokenize_roles(
        {role: [text for part in (train, *sets) for text in part.texts(role)] for role in train.text_columns}
    )
    return build_features(texts, len(train))


def _write(
    folder: Path,
    model: str,
    train: Dataset,
    dataset: Dataset,
    seed: int,
    columns: dict[str, pl.Series],
    label_names: Sequence[str] = (),
) -> None:
    """Write a run: answers to texts without labels have no score, which `write_runs` asks for."""
    identity = identity_of(
        model=model,
        seed=seed,
        train_set=train.name,
        condition=conditions_of(train.text_columns)[0],
        checkpoint=None,
        dataset=dataset.name,
        split="test",
        label_names=label_names,
    )
    write_answers({"example_id": dataset.examples["example_id"].cast(pl.String), **columns}, identity, folder)


def _numbers(train: Dataset, dataset: Dataset, predicted: NDArray[np.float64]) -> dict[str, pl.Series]:
    """Right and predicted numbers, and how close they are, as the training room has it."""
    right = numbers_of(dataset)
    score = closeness(predicted, right, _range(train))
    return {"label": pl.Series(right), "prediction": pl.Series(predicted), "score": pl.Series(score)}


def _range(train: Dataset) -> tuple[float, float]:
    values = numbers_of(train)
    return float(values.min()), float(values.max())


def no_confidence() -> InputError:
    """That numbers cannot be asked how sure they are."""
    return InputError("a regression has no confidence to detect texts by", mend=f"leave out {option('texts')}")
