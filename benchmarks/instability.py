"""How long the measures of instability take, with the same answers as a reference checked in the same run.

    python benchmarks/instability.py [--quick]

--quick leaves out the 175 million rows of the last step.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats

from goldassay.instability import (
    correlate_examples,
    decompose_variance,
    summarize_scores,
    top_covarying_pairs,
    trajectories,
)
from goldassay.runs import Runs, read_runs, write_runs

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Best of several runs, after one that compiles and warms the caches."""
    result = work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def say(what: str, seconds: float, note: str = "") -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<66}{seconds * 1000:>11.1f} ms   peak {peak:>6.0f} MB   {note}", flush=True)


def correctness(n_runs: int, n_examples: int, accuracy: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ease = {"half": np.full(n_examples, 0.5), "high": np.full(n_examples, 0.95), "mixed": rng.random(n_examples)}
    return (rng.random((n_runs, n_examples)) < ease[accuracy]).astype(np.float64)


def decomposition() -> None:
    small = correctness(100, 3000, "mixed")
    own, found = timed(lambda: decompose_variance(small))
    peer, matrix = timed(lambda: np.cov(small.T) / 3000**2, repeats=1)
    assert np.isclose(found.total, matrix.sum(), rtol=1e-9)
    assert np.isclose(found.independent, np.trace(matrix), rtol=1e-9)
    say("decomposition, 100 x 3,000", own, f"same as numpy.cov, which takes {peer * 1000:.0f} ms")
    large = correctness(100, 30_000, "mixed")
    say("decomposition, 100 x 30,000", timed(lambda: decompose_variance(large))[0])
    groups = np.repeat(np.arange(30), 1000).astype(str)
    say("decomposition in 30 groups, 100 x 30,000", timed(lambda: decompose_variance(large, groups))[0])


def blocked_product(scores: np.ndarray, k: int, block: int = 2000) -> list[float]:
    """The k largest covariances by products of blocks in double precision."""
    centered = np.ascontiguousarray((scores - scores.mean(axis=0)).T / np.sqrt(len(scores) - 1))
    best = np.empty(0)
    for start in range(0, len(centered), block):
        products = centered[start : start + block] @ centered[start:].T
        upper = products[np.triu_indices(*products.shape[:1], 1, products.shape[1])]
        best = np.concatenate([best, np.partition(upper, max(0, upper.size - k))[-k:]])
        best = np.sort(best)[-k:]
    return sorted(best.tolist(), reverse=True)


def pairs() -> None:
    small = correctness(100, 4000, "mixed")
    peer, expected = timed(lambda: blocked_product(small, 1000), repeats=1)
    own, found = timed(lambda: top_covarying_pairs(small, 1000))
    assert np.allclose(found["covariance"], expected, atol=1e-9)
    say("top 1,000 pairs, 100 x 4,000", own, f"same as a blocked product, which takes {peer * 1000:.0f} ms")
    for n_runs in (10, 100):
        for accuracy in ("half", "high", "mixed"):
            scores = correctness(n_runs, 30_000, accuracy)
            seconds, _ = timed(lambda scores=scores: top_covarying_pairs(scores, 1000))
            say(f"top 1,000 of 450 million pairs, {n_runs} x 30,000, {accuracy}", seconds)


def examples() -> None:
    small = np.random.default_rng(0).random((1, 117, 1500))
    own, found = timed(lambda: correlate_examples(small, max_examples=None, order="file"))
    peer, expected = timed(lambda: stats.spearmanr(small[0]).statistic, repeats=1)
    assert np.allclose(found.values, expected, atol=1e-9)
    say("correlation of 1,500 examples, 117 checkpoints", own, f"same as scipy, which takes {peer * 1000:.0f} ms")
    large = np.random.default_rng(0).integers(0, 2, (1, 117, 10_000)).astype(np.float64)
    seconds, _ = timed(lambda: correlate_examples(large, max_examples=None, order="file"), repeats=1)
    say("correlation of 10,000 examples, 117 checkpoints", seconds)
    start = time.perf_counter()
    stats.spearmanr(large[0])
    peer = time.perf_counter() - start
    say("  the same by scipy.stats.spearmanr", peer, f"{peer / seconds:.1f} times as long")


def reading() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 30_000)
    predictions = np.where(rng.random((100, 30_000)) < 0.8, gold, rng.integers(0, 3, (100, 30_000)))
    runs = Runs.from_arrays(predictions, gold, label_names=["entailment", "neutral", "contradiction"])
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        paths = write_runs(runs, folder)
        size = sum(path.stat().st_size for path in paths) / 2**20
        say("writing 100 runs x 30,000 examples", time.perf_counter() - start, f"{size:.1f} MB")
        seconds, back = timed(lambda: read_runs(folder))
        assert np.array_equal(back.scores, runs.scores)
        say("reading 100 runs x 30,000 examples", seconds)


def many_checkpoints(
    n_runs: int = 10, n_checkpoints: int = 117, n_datasets: int = 15, n_examples: int = 10_000
) -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for dataset in range(n_datasets):
            scores = rng.integers(0, 2, (n_runs, n_checkpoints, n_examples)).astype(np.float64)
            runs = Runs.from_arrays(
                scores=scores, checkpoints=500 * np.arange(1, n_checkpoints + 1), dataset=f"set{dataset:02}"
            )
            write_runs(runs, Path(folder) / runs.dataset)
        start = time.perf_counter()
        rows = 0
        for dataset in sorted(Path(folder).iterdir()):
            runs = read_runs(dataset)
            trajectories(runs.scores)
            summarize_scores(runs.final().scores)
            decompose_variance(runs.final().scores)
            rows += runs.scores.size
        say(f"{rows / 1e6:.0f} million rows read and summarized", time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="leave out the 175 million rows")
    quick = parser.parse_args().quick
    print(f"numpy {np.__version__}, polars {pl.__version__}, {pl.thread_pool_size()} threads")
    decomposition()
    reading()
    pairs()
    examples()
    if not quick:
        many_checkpoints()


if __name__ == "__main__":
    main()
