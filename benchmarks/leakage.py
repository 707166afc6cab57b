"""How long cluster outliers (PECO) and the map take, with the same scores as a plain version checked in the same run.

    python benchmarks/leakage.py [--quick] [--large] [--map]

The plain version is scikit-learn's PCA and KMeans called once a repetition, and Python loops over clusters, classes and
permutations. --quick takes a tenth of the examples; --large a million embeddings of 384 numbers; --map lays out 10,000.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from goldassay.leakage import peco
from goldassay.questions.leakage.measures.peco import reduce_embeddings

if TYPE_CHECKING:
    from collections.abc import Callable

N_CLUSTERS, N_COMPONENTS, N_CLASSES = 50, 30, 3


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def say(what: str, seconds: float, note: str = "") -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what:<70}{seconds:>8.2f} s   peak {peak:>5.2f} GB   {note}", flush=True)


def embeddings(n: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Forty overlapping groups of sentences, some of which lean to a label."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((40, dimensions), dtype=np.float32)
    group = rng.integers(0, 40, n)
    values = np.empty((n, dimensions), np.float32)
    for start in range(0, n, 1 << 16):
        rows = group[start : start + (1 << 16)]
        values[start : start + (1 << 16)] = centers[rows]
        values[start : start + (1 << 16)] += 1.5 * rng.standard_normal((rows.size, dimensions), dtype=np.float32)
    leaning = rng.random((40, N_CLASSES)) + 0.5
    chances = np.cumsum(leaning / leaning.sum(axis=1, keepdims=True), axis=1)
    labels = (rng.random(n)[:, np.newaxis] > chances[group]).sum(axis=1)
    return values, np.minimum(labels, N_CLASSES - 1)


def plain_score(clusters: list[int], labels: list[int], n_permutations: int, seed: int) -> tuple[float, int]:
    """The recommended score, and how many permutations reach it, by loops over examples, clusters and classes."""
    n, sizes, shares = len(labels), Counter(clusters), Counter(labels)
    g = {label: count / n for label, count in shares.items()}

    def area(of: list[int]) -> float:
        cells = Counter(zip(clusters, of, strict=True))
        total = 0.0
        for cluster, size in sizes.items():
            d = sum((cells[cluster, label] / size - g[label]) ** 2 for label in g)
            total += size / n * min(d, 1.0)
        return total

    observed = area(labels)
    null = (1 - sum(share**2 for share in g.values())) * (len(sizes) - 1) / (n - 1)
    rng = np.random.default_rng(seed)
    shuffled = [area(rng.permutation(labels).tolist()) for _ in range(n_permutations)]
    return observed - null, sum(value >= observed - 1e-12 for value in shuffled)


def plain_peco(values: np.ndarray, labels: np.ndarray, repetitions: int, n_permutations: int) -> float:
    """PCA, k-means and loops, with the seeds that `peco` gives its repetitions."""
    with threadpool_limits(1):
        points = PCA(N_COMPONENTS, svd_solver="covariance_eigh").fit_transform(values)
        scores = []
        for child in np.random.SeedSequence(0).spawn(repetitions):
            kmeans_seed, permutation_seed = (int(word) for word in child.generate_state(2))
            model = KMeans(N_CLUSTERS, n_init=10, random_state=kmeans_seed % 2**32)
            clusters = model.fit_predict(points).tolist()
            scores.append(plain_score(clusters, labels.tolist(), n_permutations, permutation_seed)[0])
    return float(np.mean(scores))


def small(n: int) -> None:
    values, labels = embeddings(n, 768)
    peco(values[:500], labels[:500], n_repetitions=1, n_permutations=2)
    for repetitions, permutations in ((1, 0), (1, 200), (10, 200)):
        own, found = timed(
            lambda r=repetitions, p=permutations: peco(values, labels, n_repetitions=r, n_permutations=p)
        )
        other, expected = timed(lambda r=repetitions, p=permutations: plain_peco(values, labels, r, p))
        assert np.isclose(found.score, expected, rtol=1e-9), (found.score, expected)
        seeds = f"{repetitions} seed{'s' if repetitions > 1 else ''} of 10 restarts"
        say(f"{n:,} x 768, {seeds}, {permutations} permutations", own, f"plain {other:.2f} s, same score")


def large(n: int) -> None:
    seconds, (values, labels) = timed(lambda: embeddings(n, 384))
    say(f"(making {n:,} x 384 embeddings, float32)", seconds)
    seconds, found = timed(lambda: peco(values, labels, n_repetitions=1, n_restarts=1))
    say(f"{n:,} x 384, one start, 200 permutations", seconds, f"score {found.score:.4f}")


def plane(n: int) -> None:
    from goldassay.questions.leakage.clusters import lay_out

    values, _ = embeddings(n, 768)
    points = reduce_embeddings(values, N_COMPONENTS)
    seconds, _ = timed(lambda: lay_out(points))
    say(f"map of {n:,} points in {N_COMPONENTS} components", seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--map", action="store_true")
    given = parser.parse_args()
    if given.large:
        large(100_000 if given.quick else 1_000_000)
    elif given.map:
        plane(1_000 if given.quick else 10_000)
    else:
        small(1_000 if given.quick else 10_000)


if __name__ == "__main__":
    main()
