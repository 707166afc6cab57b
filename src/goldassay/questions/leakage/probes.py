"""Runs of the quick probes, where there is a dataset and no network: seconds to a minute, and a lower bound.

Sentences are embedded without a network, too: weighted word counts on their first singular directions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.progress import silent
from goldassay.data.tokenization import tokenize
from goldassay.questions.leakage.measures.peco import peco
from goldassay.questions.leakage.partial_input import PROBES, PartialInputRuns
from goldassay.readers.conditions import (
    PAIRED,
    TEXT,
    conditions_of,
    roles_of,
    shown_texts,
    tokenizer_of,
    transformations_of,
)
from goldassay.readers.probes import describe_probe, train_probes
from goldassay.runs import read_runs, write_runs
from goldassay.stats.calibration import cross_calibrate, cross_null

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy import sparse

    from goldassay.core.progress import Progress
    from goldassay.data import Dataset
    from goldassay.runs import Runs

# How scores of a linear probe become probabilities; said in the report.
CALIBRATION = (
    "For usable information the probes' scores are made probabilities by one scale and an offset a class, found on the "
    "other half of the test examples; decisions are not touched by it. What is known without reading is found on the "
    "same half, so that label shares which differ between training and test count for nothing."
)
NULL = "label shares of the other half of the test examples, on which the probes' scores are scaled, too"


def default_conditions(text_columns: Sequence[str]) -> tuple[str, ...]:
    """All that shows a part, and all that destroys one property; the empty input is left to label shares."""
    changed = (name for name in transformations_of(text_columns) if name != "empty")
    return (*conditions_of(text_columns), *changed)


def check_conditions(wanted: Sequence[str], text_columns: Sequence[str]) -> tuple[str, ...]:
    """The conditions asked for, the whole input first; all of them where none is named.

    Raises:
        InputError: One does not apply to these texts, such as hypothesis_only to single texts.
    """
    if not wanted:
        return default_conditions(text_columns)
    for name in wanted:
        roles_of(name, text_columns)
    whole = TEXT if len(text_columns) == 1 else PAIRED
    return tuple(dict.fromkeys((whole, *wanted)))


def with_words(conditions: Sequence[str], *parts: Dataset) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of conditions that nobody asked for those that leave words to read in every part, and what is said of the others.

    Texts of which no two share a word have no overlap to be shown.
    """
    empty = [name for name in conditions if not all(_has_words(shown_texts(part, name)) for part in parts)]
    said = tuple(f"The condition {name!r} was left out: it leaves no word of any text." for name in empty)
    return tuple(name for name in conditions if name not in empty), said


def _has_words(shown: Mapping[str, Sequence[str]]) -> bool:
    return any(text for column in shown.values() for text in column)


def probe_evidence(
    train: Dataset,
    test: Dataset,
    conditions: Sequence[str],
    seeds: Sequence[int],
    directory: Path,
    progress: Progress,
    *,
    embed: bool = True,
    elsewhere: Sequence[Dataset] = (),
) -> PartialInputRuns:
    """Train the quick probes of every condition and seed, keep their runs, and embed each sentence by its words.

    Args:
        train: To train on.
        test: To measure on.
        conditions: Of `check_conditions`.
        seeds: One probe each.
        directory: Where runs are written as they are made.
        progress: Told after each probe.
        embed: Embed each sentence, too, for clusters.
        elsewhere: Sets of other distributions, which the probes of the whole input answer too.

    Raises:
        InputError: The data do not fit each other.
    """
    whole = conditions[0]
    written: dict[tuple[str, str], list[Path]] = {}
    for run in _trained(train, test, conditions, seeds, progress, elsewhere):
        if run.dataset == test.name or run.condition == whole:
            written.setdefault((run.dataset, run.condition), []).extend(write_runs(run, directory))
    runs = {name: read_runs(written[test.name, name], condition=name) for name in conditions}
    first = runs[whole]
    assert first.gold is not None
    gold = first.gold
    probabilities = {name: _calibrated(each, gold) for name, each in runs.items()}
    return PartialInputRuns(
        name=test.name,
        model=first.model,
        source=PROBES,
        label_names=first.label_names,
        gold=gold,
        example_ids=first.example_ids,
        conditions=runs,
        probabilities=probabilities,
        null=np.exp(cross_null(gold, len(first.label_names))[np.arange(gold.size), gold])[np.newaxis],
        null_is=NULL,
        vectors={role: [embed_role(train, test, role, seeds[0])] for role in train.text_columns} if embed else {},
        vectors_are=DESCRIPTION,
        test=test,
        train=train,
        about=f"The quick probe is {describe_probe(train)}.",
        remarks=(CALIBRATION,),
        elsewhere={each.name: read_runs(written[each.name, whole]) for each in elsewhere},
    )


def _calibrated(runs: Runs, gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """The gold label's probability by each run, (R, N)."""
    assert runs.logits is not None
    rows = np.arange(gold.size)
    return np.stack([np.exp(cross_calibrate(each, gold)[rows, gold]) for each in runs.logits])


def embed_role(train: Dataset, test: Dataset, role: str, seed: int) -> NDArray[np.float64]:
    """TF-IDF and SVD of one role's test sentences, (N, D)."""
    return embed_texts(train.texts(role), test.texts(role), tokenizer_of(train), seed)


def measure_split(
    train: Dataset, test: Dataset, conditions: Sequence[str], seeds: Sequence[int], n_clusters: int
) -> dict[str, Any]:
    """What one more split of the same data scores: accuracy of each condition, and PECO of each role."""
    accuracies: dict[str, list[float]] = {name: [] for name in conditions}
    for run in _trained(train, test, conditions, seeds, silent):
        accuracies[run.condition].append(float(run.scores.mean()))
    found: dict[str, Any] = {name: sum(values) / len(values) for name, values in accuracies.items()}
    gold = test.labels()
    found["majority"] = float(max((gold == code).mean() for code in set(gold.tolist())))
    for role in train.text_columns:
        points = embed_role(train, test, role, seeds[0])
        if len(test) >= n_clusters and np.ptp(points, axis=0).any():
            found[f"peco_{role}"] = peco(points, gold, n_clusters, min(30, points.shape[1]), n_repetitions=1).score
    return {"n_train": len(train), "n_test": len(test), **found}


def _trained(
    train: Dataset,
    test: Dataset,
    conditions: Sequence[str],
    seeds: Sequence[int],
    progress: Progress,
    elsewhere: Sequence[Dataset] = (),
) -> Iterator[Runs]:
    """The runs of all conditions: those that leave texts out together, of those that change texts one by one."""
    known = conditions_of(train.text_columns)
    plain = [name for name in conditions if name in known]
    changed = [name for name in conditions if name not in known]
    total = len(seeds) * len(conditions)

    def from_here(done: int) -> Progress:
        return lambda step, _: progress(done + step, total)

    if plain:
        yield from train_probes(
            train, test, conditions=plain, seeds=seeds, progress=from_here(0), extra_tests=elsewhere
        )
    for at, condition in enumerate(changed, start=len(plain)):
        parts = [_changed(part, condition) for part in (train, test)]
        for run in train_probes(*parts, conditions=known[:1], seeds=seeds, progress=from_here(at * len(seeds))):
            yield replace(run, condition=condition)


def _changed(dataset: Dataset, condition: str) -> Dataset:
    shown = shown_texts(dataset, condition)
    if not _has_words(shown):
        raise InputError(
            f"the condition {condition!r} leaves no word of any text", file=dataset.source, mend="leave it out"
        )
    columns = [pl.Series(role, texts, dtype=pl.String) for role, texts in shown.items()]
    return replace(dataset, examples=dataset.examples.with_columns(columns))


N_DIMENSIONS = 100
# Fitted on at most so many training sentences: more hardly move the directions, and cost memory.
MOST_SENTENCES = 100_000
# A word or pair of words of one sentence alone says nothing of what sentences share.
_LEAST_SENTENCES = 2

DESCRIPTION = (
    f"TF-IDF of words and pairs of words, on their first {N_DIMENSIONS} singular directions (SVD), fitted on the "
    "training sentences; no network was trained, so clusters are of sentences with like words, not of what a trained "
    "model takes for alike"
)


def embed_texts(
    train: Sequence[str], test: Sequence[str], tokenizer: str = "treebank", seed: int = 0
) -> NDArray[np.float64]:
    """TF-IDF and SVD of test sentences, in the space of the training sentences, (N, D).

    (1 + log count) of words and of pairs of neighbours, times log((1 + n)/(1 + n_with)) + 1, rows of length 1, then
    the first 100 right singular vectors of the training sentences (fewer where there are fewer words). Neither labels
    nor test sentences decide anything.

    Args:
        train: Training sentences.
        test: Sentences to embed, N.
        tokenizer: See `tokenize`.
        seed: Of the randomized SVD.

    Source: Deerwester et al. 1990, latent semantic analysis; Halko, Martinsson and Tropp 2011 for the SVD.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from threadpoolctl import threadpool_limits

    if len(train) > MOST_SENTENCES:
        chosen = np.sort(np.random.default_rng(0).choice(len(train), MOST_SENTENCES, replace=False))
        train = [train[row] for row in chosen]
    counts = _counts([*(text.casefold() for text in train), *(text.casefold() for text in test)], tokenizer)
    fitted, shown = counts[: len(train)], counts[len(train) :]
    kept = np.flatnonzero(np.asarray((fitted > 0).sum(axis=0)).ravel() >= _LEAST_SENTENCES)
    if kept.size < 2:
        # Nothing recurs: every sentence is as far from every other.
        return np.zeros((len(test), 1))
    weighting = TfidfTransformer(sublinear_tf=True).fit(fitted[:, kept])
    size = min(N_DIMENSIONS, kept.size - 1, max(len(train) - 1, 1))
    with threadpool_limits(1):
        svd = TruncatedSVD(size, n_iter=3, random_state=seed % 2**32)
        svd.fit(weighting.transform(fitted[:, kept]))
        return np.asarray(svd.transform(weighting.transform(shown[:, kept])))


def _counts(texts: Sequence[str], tokenizer: str) -> sparse.csr_matrix:
    """How often each word and each pair of neighbours stands in each text."""
    from scipy.sparse import csr_matrix

    corpus = tokenize(texts, tokenizer)
    ids = corpus.ids.astype(np.int64)
    rows = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    inner = rows[1:] == rows[:-1]
    pairs = (ids[:-1] * len(corpus.vocabulary) + ids[1:])[inner]
    names, pair_ids = np.unique(pairs, return_inverse=True)
    columns = np.concatenate([ids, len(corpus.vocabulary) + pair_ids])
    places = np.concatenate([rows, rows[1:][inner]])
    shape = (len(corpus), len(corpus.vocabulary) + names.size)
    found: Any = csr_matrix((np.ones(columns.size), (places, columns)), shape=shape)
    return found
