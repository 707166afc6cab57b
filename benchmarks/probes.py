"""Quick probes against a plain scikit-learn pipeline: accuracy and time, both in the same run.

    GOLDASSAY_DATA=DIR python benchmarks/probes.py [--seeds 5] [--peer-seeds 1] [--jobs 2] [--sets snli,sick,...]

The peer makes its features anew for every fit, as a pipeline does: word n-grams of each text by a FeatureUnion of
HashingVectorizers, and for pairs also each premise word with each hypothesis word; then LogisticRegression (L-BFGS). It
draws the same bootstrap; being slow, it does so for one seed unless told otherwise. Seconds are of processor time (user
and system, all threads) and of the wall clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from goldassay.data import Dataset, read_dataset
from goldassay.models.probe_features import build_features, tokenize_roles
from goldassay.models.quick_probe import QuickProbe, _stratified_bootstrap
from goldassay.training import conditions_of, roles_of, train_probes

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = {
    "snli": ("snli/train_sample_18k.tsv.gz", "snli/test_9824.tsv.gz"),
    "sick": ("sick/SICK.txt.gz", None),
    "counterfactual_nli": (
        "counterfactual_nli/all_combined_train.tsv.gz",
        "counterfactual_nli/all_combined_test.tsv.gz",
    ),
    "add_one_rte": ("small_nli/add_one_rte_train.tsv.gz", "small_nli/add_one_rte_dev.tsv.gz"),
    "sst2": ("sst2/train.tsv.gz", "sst2/dev.tsv.gz"),
}


def read_set(name: str) -> tuple[Dataset, Dataset]:
    train, test = SETS[name]
    found = read_dataset(DATA / train)
    if test is None:
        return found.parts["train"], found.parts["test"]
    return found, read_dataset(DATA / test)


def timed(work: Callable[[], dict[str, list[float]]]) -> tuple[dict[str, list[float]], float, float]:
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = work()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    return result, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(train: Dataset, test: Dataset, seeds: int, jobs: int) -> dict[str, list[float]]:
    accuracy: dict[str, list[float]] = {}
    for run in train_probes(train, test, seeds=range(seeds), n_jobs=jobs):
        accuracy.setdefault(run.condition, []).append(float(run.scores.mean()))
    return accuracy


def crossed(pairs: list[tuple[str, ...]]) -> list[list[str]]:
    return [[f"{p}|{h}" for p in set(pair[0].lower().split()) for h in set(pair[-1].lower().split())] for pair in pairs]


def plain(train: Dataset, test: Dataset, seeds: int) -> dict[str, list[float]]:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import FeatureUnion, make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def column(i: int) -> FunctionTransformer:
        return FunctionTransformer(lambda pairs: [pair[i] for pair in pairs])

    labels, gold = train.labels(), test.labels()
    accuracy: dict[str, list[float]] = {}
    for condition in conditions_of(train.text_columns):
        roles = roles_of(condition, train.text_columns)
        rows = list(zip(*(train.texts(role) for role in roles), strict=True))
        unseen = list(zip(*(test.texts(role) for role in roles), strict=True))
        for seed in range(seeds):
            parts = [
                (role, make_pipeline(column(i), HashingVectorizer(ngram_range=(1, 2), binary=True, n_features=2**18)))
                for i, role in enumerate(roles)
            ]
            if len(roles) > 1:
                hashed = HashingVectorizer(analyzer=lambda tokens: tokens, binary=True, n_features=2**18)
                parts.append(("crossed", make_pipeline(FunctionTransformer(crossed), hashed)))
            model = make_pipeline(FeatureUnion(parts), LogisticRegression(max_iter=200))
            drawn = _stratified_bootstrap(labels, np.random.default_rng(seed))
            model.fit([rows[i] for i in drawn], labels[drawn])
            accuracy.setdefault(condition, []).append(float(np.mean(model.predict(unseen) == gold)))
    return accuracy


def show(name: str, who: str, accuracy: dict[str, list[float]], wall: float, cpu: float) -> None:
    means = "  ".join(f"{condition} {100 * np.mean(values):.1f}" for condition, values in accuracy.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n_fits = sum(len(values) for values in accuracy.values())
    print(
        f"{name:20} {who:14} {n_fits:3} fits {wall:7.1f} s wall {cpu:7.1f} s processor, "
        f"peak so far {peak:.0f} MiB   {means}",
        flush=True,
    )


def show_parts(name: str, train: Dataset, test: Dataset) -> None:
    import sklearn.linear_model  # noqa: F401  so that the first fit does not pay for it

    start = time.process_time()
    texts = tokenize_roles(
        {role: [*train.texts(role), *test.texts(role)] for role in train.text_columns},
    )
    tokens = time.process_time() - start
    features = build_features(texts, train.text_columns, len(train))
    built = time.process_time() - start - tokens
    QuickProbe().fit(features[: len(train)], train.labels(), len(train.label_names), 0)
    fitted = time.process_time() - start - tokens - built
    print(
        f"{name:20} parts: tokens {tokens:.2f} s, features of the whole input {built:.2f} s "
        f"({features.shape[1]:,} columns, {features.nnz:,} entries), one fit {fitted:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--peer-seeds", type=int, default=1, help="the plain pipeline is slow; 0 leaves it out")
    arguments = parser.parse_args()
    for name in arguments.sets.split(","):
        train, test = read_set(name)
        majority = np.bincount(test.labels()).max() / len(test)
        print(f"{name:20} {len(train):,} train, {len(test):,} test, majority {100 * majority:.1f}")
        show_parts(name, train, test)
        show(name, "goldassay", *timed(lambda: ours(train, test, arguments.seeds, arguments.jobs)))  # noqa: B023
        if arguments.peer_seeds:
            show(name, "plain pipeline", *timed(lambda: plain(train, test, arguments.peer_seeds)))  # noqa: B023


if __name__ == "__main__":
    main()
