"""Quick probes that see a part of the input, where no network is trained: of labelled texts, and of items with choices.

Of texts they make runs in seconds to a minute, a lower bound. Of items they see each choice as a row that is right or
wrong, and the choice that they find likeliest is their answer; of preferences they see the difference of two
responses. The question alone can give only the position of the answer away.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, silent
from goldassay.data.kinds.kind import PREFERENCES
from goldassay.questions.leakage.measures.peco import peco
from goldassay.questions.leakage.partial_input import PROBES, PartialInputRuns
from goldassay.questions.leakage.result import Split
from goldassay.readers.conditions import (
    PAIRED,
    TEXT,
    DataSplit,
    conditions_of,
    roles_of,
    shown_texts,
    tokenizer_of,
    transformations_of,
)
from goldassay.readers.pair_probe import DESCRIPTION, cross_fit_pairs, embed_texts, fit_pairs, make_pairs, pair_features
from goldassay.readers.preference_rules import traits
from goldassay.readers.probe_features import ProbeFeatures, build_features, tokenize_roles
from goldassay.readers.probes import describe_probe, train_probes
from goldassay.readers.quick_probe import OneLabelError, QuickProbe
from goldassay.runs.reading import read_runs
from goldassay.runs.store import write_runs
from goldassay.stats.calibration import cross_calibrate, cross_null

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.questions.leakage.item_loading import Posed
    from goldassay.runs.runs import Runs

# How scores of a linear probe become probabilities; said in the report.
CALIBRATION = (
    "For usable information the probes' scores are made probabilities by one scale and an offset a class, found on the "
    "other half of the test examples; decisions are not touched by it. What is known without reading is found on the "
    "same half, so that label shares which differ between training and test count for nothing."
)
NULL = "label shares of the other half of the test examples, on which the probes' scores are scaled, too"
N_FOLDS = 5
_QUESTION, _CHOICE = "question", "choice"
# What a rule goes by that the response alone does not hold.
_BESIDE = ("first", "more of its words in the prompt", "white space at an end")


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


def n_trainings(seeds: int | None, split: DataSplit | None = None) -> int:
    """How many runs of each condition: as many as asked for, else 5, or of folds 1, which has a probe for each fold."""
    return seeds or (5 if split is None or split.fold_codes is None else 1)


def probe_evidence(
    split: DataSplit,
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
        split: What to train on and to measure.
        conditions: Of `check_conditions`.
        seeds: One probe each, or one for each fold.
        directory: Where runs are written as they are made.
        progress: Told after each probe.
        embed: Embed each sentence, too, for clusters.
        elsewhere: Sets of other distributions, which the probes of the whole input answer too.

    Raises:
        InputError: The data do not fit each other.
    """
    whole, train, test = conditions[0], split.train, split.test
    written: dict[tuple[str, str], list[Path]] = {}
    for run in _trained(split, conditions, seeds, progress, elsewhere):
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
        fold_codes=split.fold_codes,
        about=f"The quick probe is {describe_probe(train, by_folds=split.fold_codes is not None)}.",
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
    train: Dataset, test: Dataset, conditions: Sequence[str], seeds: Sequence[int], n_clusters: int, split: int
) -> Split:
    """What one more split of the same data scores: accuracy of each condition, and PECO of each role."""
    accuracies: dict[str, list[float]] = {name: [] for name in conditions}
    for run in _trained(DataSplit(train, test), conditions, seeds, silent):
        accuracies[run.condition].append(float(run.scores.mean()))
    gold, scores = test.labels(), {}
    for role in train.text_columns:
        points = embed_role(train, test, role, seeds[0])
        if len(test) >= n_clusters and np.ptp(points, axis=0).any():
            scores[role] = peco(points, gold, n_clusters, min(30, points.shape[1]), n_repetitions=1).score
    return Split(
        split=split,
        n_train=len(train),
        n_test=len(test),
        accuracies={name: sum(values) / len(values) for name, values in accuracies.items()},
        majority=float(np.bincount(gold).max() / gold.size),
        peco=scores,
    )


def _trained(
    split: DataSplit,
    conditions: Sequence[str],
    seeds: Sequence[int],
    progress: Progress,
    elsewhere: Sequence[Dataset] = (),
) -> Iterator[Runs]:
    """The runs of all conditions: those that leave texts out together, of those that change texts one by one."""
    known, folds = conditions_of(split.train.text_columns), split.fold_codes
    plain = [name for name in conditions if name in known]
    changed = [name for name in conditions if name not in known]
    total = len(seeds) * len(conditions)

    def from_here(done: int) -> Progress:
        return lambda step, _: progress(done + step, total)

    if plain:
        yield from train_probes(
            split.train, split.test, conditions=plain, seeds=seeds, progress=from_here(0), extra_tests=elsewhere,
            folds=folds,
        )  # fmt: skip
    for at, condition in enumerate(changed, start=len(plain)):
        own = split.changed(partial(_changed, condition=condition))
        told = from_here(at * len(seeds))
        for run in train_probes(own.train, own.test, conditions=known[:1], seeds=seeds, progress=told, folds=folds):
            yield replace(run, condition=condition)


def _changed(dataset: Dataset, condition: str) -> Dataset:
    shown = shown_texts(dataset, condition)
    if not _has_words(shown):
        raise InputError(
            f"the condition {condition!r} leaves no word of any text", file=dataset.source, mend="leave it out"
        )
    columns = [pl.Series(role, texts, dtype=pl.String) for role, texts in shown.items()]
    return replace(dataset, examples=dataset.examples.with_columns(columns))


def read_parts(
    posed: Posed,
    codes: NDArray[np.int64] | None,
    seeds: Sequence[int],
    most: int,
    progress: Progress,
    wanted: Sequence[str] | None = None,
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the choices of each item by each part of it and seed, (N, most); -inf where there is no choice.

    Args:
        posed: Items to learn from, if there are any apart, and those to read.
        codes: Clusters of the items to read, (N,); kept together where they are read by others of themselves.
        seeds: Of the probes.
        most: The most choices of an item.
        progress: Told after each probe.
        wanted: The parts, all if not given; the question alone is left out where positions mean nothing.
    """
    train, test, parts = posed.train, posed.test, posed.parts
    groups = np.arange(len(test)) if codes is None else codes
    kind = test.kind
    wanted = (PAIRED, kind.alone, kind.asked) if wanted is None else wanted
    conditions = [each for each in wanted if each != kind.asked or test.ordered]
    total = len(conditions) * len(seeds)
    if kind is PREFERENCES:
        done = itertools.count(1)
        asked = ask_pairs(
            train, test, groups, _folds(groups), seeds, lambda: progress(next(done), total), whole=PAIRED in conditions
        )
        found = {name: [by_item(scores, test, most) for scores in each] for name, each in asked.items()}
    else:
        found = ask_choices(posed, groups, seeds, most, conditions, lambda n: progress(n, total))
    if kind.asked in conditions:
        found[kind.asked] = []
        features = build_features(
            tokenize_roles({_QUESTION: pl.concat([context_of(each) for each in parts])}), len(parts[0])
        )
        for seed in seeds:
            logits = read_positions(features, parts[0].first_right, most, seed, None if train else groups)
            rows = logits[-len(test) :].astype(np.float64)
            found[kind.asked].append(masked(rows, test))
            progress(sum(map(len, found.values())), total)
    return found


def ask_choices(
    posed: Posed,
    groups: NDArray[np.int64],
    seeds: Sequence[int],
    most: int,
    conditions: Sequence[str],
    told: Callable[[int], None],
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the choices of each item by probes that see each choice as a row that is right or wrong."""
    train, test, parts = posed.train, posed.test, posed.parts
    n_known = len(parts[0].texts)
    found: dict[str, list[NDArray[np.float64]]] = {}
    texts = {_CHOICE: pl.concat([each.texts for each in parts])}
    if PAIRED in conditions:
        texts = {_QUESTION: pl.concat([context_of(each).gather(each.item_of) for each in parts]), **texts}
    features = build_features(tokenize_roles(texts), n_known)
    right = parts[0].right.astype(np.int64)
    for condition in (each for each in conditions if each != test.kind.asked):
        roles = None if condition == PAIRED else (_CHOICE,)
        for seed in seeds:
            if train is None:
                logits = QuickProbe().cross_fit(
                    features, right, 2, seed, clusters=groups[test.item_of], n_folds=_folds(groups), roles=roles
                ).logits  # fmt: skip
            else:
                fitted = QuickProbe().fit(features, right, 2, seed, roles=roles, clusters=train.item_of)
                logits = fitted.logits(features, np.arange(n_known, len(features.sizes)))
            margin = (logits[:, 1] - logits[:, 0]).astype(np.float64)
            found.setdefault(condition, []).append(by_item(margin, test, most))
            told(sum(map(len, found.values())))
    return found


def read_positions(
    features: ProbeFeatures, places: NDArray[np.int64], most: int, seed: int, groups: NDArray[np.int64] | None
) -> NDArray[np.float32]:
    """Scores of each position by the question: of folds of clusters, or of all rows by the first, (rows, most)."""
    try:
        if groups is not None:
            return QuickProbe().cross_fit(features, places, most, seed, clusters=groups, n_folds=_folds(groups)).logits
        return QuickProbe().fit(features, places, most, seed).logits(features, np.arange(len(features.sizes)))
    except OneLabelError:
        # The answers to learn from are all in one position, so that questions cannot tell it.
        return np.zeros((len(features.sizes), most), np.float32)


def _folds(groups: NDArray[np.int64]) -> int:
    return max(2, min(N_FOLDS, np.unique(groups).size))


def context_of(items: ChoiceItems) -> pl.Series:
    """Passage and question of each item, (N,)."""
    return items.passages + " " + items.questions


def by_item(values: NDArray[np.float64], items: ChoiceItems, most: int) -> NDArray[np.float64]:
    """Values of all choices, one after the other, as a row an item; -inf where there is no choice, (N, most)."""
    table = np.full((len(items), most), -np.inf)
    table[items.item_of, items.places] = values
    return table


def masked(table: NDArray[np.float64], items: ChoiceItems) -> NDArray[np.float64]:
    """A row an item with -inf where there is no choice, (N, most)."""
    return np.where(np.arange(table.shape[1]) < items.sizes[:, np.newaxis], table, -np.inf)


def choice_hits(logits: Sequence[NDArray[np.float64]], items: ChoiceItems) -> NDArray[np.float64]:
    """What each run hits, (R, N): of choices that it finds equally likely the share that is right."""
    marks = by_item(items.right.astype(np.float64), items, logits[0].shape[1]) > 0
    best = [each == each.max(axis=1, keepdims=True) for each in logits]
    return np.stack([(marks & each).sum(axis=1) / each.sum(axis=1) for each in best])


def ask_pairs(
    train: ChoiceItems | None,
    test: ChoiceItems,
    groups: NDArray[np.int64],
    n_folds: int,
    seeds: Sequence[int],
    told: Callable[[], None],
    *,
    whole: bool = True,
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the responses under each condition and seed, (M,) each; swapping two responses swaps their scores.

    Args:
        train: Items to learn from; None where each is answered by readers of other folds.
        test: Items to measure.
        groups: Cluster of each of these, (N,).
        n_folds: Of the clusters.
        seeds: A reader each.
        told: Called after each reader.
        whole: Ask with the prompt, too.
    """
    parts = (test,) if train is None else (train, test)
    texts = {
        _QUESTION: pl.concat([each.questions.gather(each.item_of) for each in parts]),
        _CHOICE: pl.concat([each.texts for each in parts]),
    }
    if not whole:
        texts.pop(_QUESTION)
    n_known = len(parts[0].texts)
    features = build_features(tokenize_roles(texts), n_known)
    numbers, overlap = (np.concatenate(each) for each in zip(*map(_numbers, parts), strict=True))
    found: dict[str, list[NDArray[np.float64]]] = {}
    for condition in (*([PAIRED] if whole else []), test.kind.alone):
        alone = condition != PAIRED
        hashed = features.matrix((_CHOICE,) if alone else None)
        matrix = pair_features(hashed, numbers if alone else np.hstack([numbers, overlap]))
        if train is None:
            scores = cross_fit_pairs(matrix, test.offsets, test.right, groups, n_folds, seeds, told)
        else:
            scores = []
            for seed in seeds:
                rng, items = np.random.default_rng(seed), np.arange(len(train))
                pairs = make_pairs(matrix[:n_known], train.offsets, train.right, items, rng)
                scores.append(matrix[n_known:] @ fit_pairs(pairs, np.arange(pairs.items.size), items, rng))
                told()
        # Sums in another order differ in their last digits, and equal responses would not tie.
        found[condition] = [np.round(each, 9) for each in scores]
    return found


def _numbers(items: ChoiceItems) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the rules go by, of each response alone (M, R) and together with its prompt (M, 1); counts as logarithms."""
    found = traits(items)
    own = [np.log1p(each.values) for each in found if each.more not in _BESIDE]
    shared = [each.values for each in found if each.more == _BESIDE[1]]
    return np.stack(own, axis=1), np.stack(shared, axis=1)
