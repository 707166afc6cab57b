"""Models that are trained in moments: a linear one on words, and for numbers a cosine or a ridge regression.

- "bow" on classes: the quick probe, a linear classifier on hashed words and word pairs.
- "bow" on numbers: the cosine of the two texts' word counts, which nothing is trained for (the paper's bag of words).
- "ridge" on numbers: ridge regression on the quick probe's features of a pair, overlap and crossed words among them.

Source: Hendrycks et al. 2020, section 2, for the bag of words; Hoerl and Kennard 1970 for ridge regression.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.files import write_parquet, written_whole
from goldassay.runs.store import FORMAT_VERSION, METADATA_KEY
from goldassay.training.conditions import conditions_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data import Dataset

QUICK = ("bow", "ridge")
_PENALTY = 1.0
_WORD = r"(?u)\b\w+\b"


def predict_quick(
    model: str,
    train: Dataset,
    sets: Sequence[Dataset],
    foreign: Sequence[Dataset],
    seeds: Sequence[int],
    folder: Path,
) -> str:
    """Train a quick model with every seed, write what it predicts on every set, and say what it is.

    Args:
        model: One of `QUICK`.
        train: To train on.
        sets: To predict and to score.
        foreign: To predict, without labels.
        seeds: Of the bootstraps.
        folder: Where the runs go.

    Raises:
        InputError: The model does not take such labels or texts, or a set has others.
    """
    numbers = not train.label_names
    for each in sets:
        if numbers != (not each.label_names) or "label" not in each.examples.columns:
            kind = "numbers" if numbers else "classes"
            raise InputError(f"its labels are not {kind}, as those of the training data are", file=each.source)
    if not numbers:
        if model != "bow":
            raise InputError(f"{model} is a regression, and the labels are classes", mend="choose --model bow")
        return _classify(model, train, sets, foreign, seeds, folder)
    if foreign:
        raise InputError("a regression has no confidence to detect texts by", mend="leave out --texts")
    if len(train.text_columns) != 2:
        raise InputError(f"{model} on numbers compares two texts", file=train.source)
    if model == "bow":
        return _cosine(model, train, sets, folder)
    return _regress(model, train, sets, seeds, folder)


def _classify(
    model: str,
    train: Dataset,
    sets: Sequence[Dataset],
    foreign: Sequence[Dataset],
    seeds: Sequence[int],
    folder: Path,
) -> str:
    from goldassay.models.quick_probe import QuickProbe
    from goldassay.training.targets import gold_codes

    probe = QuickProbe()
    features = _features(train, [*sets, *foreign])
    labels = train.labels()
    gold = [gold_codes(each, train.label_names) for each in sets]
    for seed in seeds:
        logits = probe.fit(features[: len(train)], labels, len(train.label_names), seed).logits(features[len(train) :])
        start = 0
        for place, each in enumerate((*sets, *foreign)):
            own = logits[start : start + len(each)]
            names = pl.Series(train.label_names, dtype=pl.String)
            columns: dict[str, Any] = {}
            if place < len(sets):
                columns["label"] = names.gather(gold[place])
            predicted = own.argmax(axis=1)
            columns["prediction"] = names.gather(predicted)
            if place < len(sets):
                columns["score"] = (predicted == gold[place]).astype(np.float64)
            columns["logits"] = pl.Series(own).reshape((-1, own.shape[1])).arr.to_list()
            _write(folder, model, train, each, seed, columns, list(train.label_names))
            start += len(each)
    return (
        f"bow is {probe.describe(len(train.text_columns) > 1)}, each run trained on a bootstrap of the training rows."
    )


def _cosine(model: str, train: Dataset, sets: Sequence[Dataset], folder: Path) -> str:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    zeros = 0
    for each in sets:
        texts = [each.texts(role) for role in each.text_columns]
        counts = CountVectorizer(token_pattern=_WORD).fit([*texts[0], *texts[1]])
        a, b = (normalize(counts.transform(side).astype(np.float64)) for side in texts)
        cosine = np.asarray(a.multiply(b).sum(axis=1)).ravel()
        zeros += int(((a.getnnz(axis=1) == 0) | (b.getnnz(axis=1) == 0)).sum())
        _write(folder, model, train, each, 0, {"label": each.examples["label"], "prediction": cosine}, [])
    note = "bow is the cosine of the two texts' word counts; nothing is trained, so that there is one run"
    return f"{note}, and {zeros} pairs with a text without words have cosine 0." if zeros else f"{note}."


def _regress(model: str, train: Dataset, sets: Sequence[Dataset], seeds: Sequence[int], folder: Path) -> str:
    from sklearn.linear_model import Ridge

    features = _features(train, sets)
    targets = train.examples["label"].to_numpy()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, len(train), len(train))
        fitted = Ridge(_PENALTY, solver="sparse_cg").fit(features[: len(train)][drawn], targets[drawn])
        values = fitted.predict(features[len(train) :])
        start = 0
        for each in sets:
            own = values[start : start + len(each)]
            _write(folder, model, train, each, seed, {"label": each.examples["label"], "prediction": own}, [])
            start += len(each)
    return (
        "ridge is a ridge regression on hashed words, overlap and crossed words of the pair, each run trained on a "
        "bootstrap of the training rows."
    )


def _features(train: Dataset, sets: Sequence[Dataset]) -> Any:
    """Features of the training rows and of all sets, one below the other."""
    from goldassay.models.probe_features import build_features, tokenize_roles
    from goldassay.training.conditions import roles_of

    texts = tokenize_roles(
        {role: [text for part in (train, *sets) for text in part.texts(role)] for role in train.text_columns}
    )
    whole = conditions_of(train.text_columns)[0]
    return build_features(texts, roles_of(whole, train.text_columns), len(train))


def _write(
    folder: Path,
    model: str,
    train: Dataset,
    dataset: Dataset,
    seed: int,
    columns: dict[str, pl.Series | NDArray[Any]],
    label_names: list[str],
) -> None:
    """Write a run as the store does, which takes no numbers for labels and no runs without a score."""
    condition = conditions_of(train.text_columns)[0]
    identity = {
        "version": FORMAT_VERSION,
        "run_id": f"{model}/{train.name}/{condition}/seed={seed}",
        "model": model,
        "seed": seed,
        "train_set": train.name,
        "condition": condition,
        "checkpoint": None,
        "dataset": dataset.name,
        "split": "test",
        "label_names": label_names,
        "n_examples": len(dataset),
    }
    constants = ("run_id", "model", "seed", "train_set", "condition", "dataset", "split")
    ids = {"example_id": dataset.examples["example_id"].cast(pl.String)}
    frame = pl.DataFrame({**ids, **columns}).select(
        *[pl.lit(identity[name]).alias(name) for name in constants], pl.all()
    )
    name = "__".join(re.sub(r"[^\w.-]+", "-", part) for part in (model, train.name, dataset.name, f"seed-{seed}"))
    metadata = {METADATA_KEY: json.dumps(identity, ensure_ascii=False, sort_keys=True)}
    with written_whole(folder / f"{name}.parquet") as aside:
        write_parquet(frame, aside, compression="zstd", statistics=False, metadata=metadata)
