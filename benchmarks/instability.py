"""How long the measures of instability take and what memory they need, with the same answers from a reference.

    python benchmarks/instability.py [PART...] [--runs 10 30 100] [--store FOLDER]

Parts: decomposition, reading, pairs, graded, resampling, correlations, store; all by default. Each is a process of its
own, so that the peak of memory printed with a line is that of the part up to there. `pairs` and `graded` take the
numbers of runs from --runs. `store` writes 175 million rows into FOLDER (or a temporary one) unless they are there,
which takes some minutes; `make-store` does only that. Every reference is computed in the same run and must agree, or
the run stops.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.instability import ExampleCorrelation

N = 30_000
TOP = 1000
KINDS = ("right and wrong", "probabilities")
LABELS = ("entailment", "neutral", "contradiction")


def peak() -> float:
    """The most memory this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work: Callable[[], Any], repeats: int = 5) -> tuple[float, float, Any]:
    """Median and longest of several times in seconds, after a run that compiles, and the last result."""
    work()
    seconds = []
    for _ in range(repeats):
        result = None
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), max(seconds), result


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def say(what: str, seconds: float, note: str = "") -> None:
    print(f"{what:<58}{seconds * 1000:>11,.1f} ms  peak {peak():>6,.0f} MB  {note}", flush=True)


def against(own: float, reference: float, name: str) -> str:
    return f"{name}: {reference * 1000:,.0f} ms, {reference / own:,.0f} times as long; same answer"


def correctness(n_runs: int, kind: str, n: int = N) -> np.ndarray:
    """Right and wrong of examples of some kind, (R, n)."""
    rng = np.random.default_rng(0)
    if kind == "like HANS":
        template = np.arange(n) // (n // 30)
        level, swing = rng.normal(0, 3, 30), rng.normal(0, 1.5, (n_runs, 30))
        chance = 1 / (1 + np.exp(-(level[template] + swing[:, template] + rng.normal(0, 1.5, n))))
    elif kind == "200 distinct":
        return (rng.random((n_runs, 200)) < 0.5).astype(np.float64)[:, rng.integers(0, 200, n)]
    else:
        chance = rng.random(n) if kind == "mixed" else np.full(n, float(kind))
    return (rng.random((n_runs, n)) < chance).astype(np.float64)


def decomposition() -> None:
    from goldassay.instability import decompose_variance

    small = correctness(100, "mixed", 3000)
    own, _, found = timed(lambda: decompose_variance(small))
    reference, matrix = once(lambda: np.cov(small.T) / 3000**2)
    assert np.isclose(found.total, matrix.sum(), rtol=1e-9)
    assert np.isclose(found.independent, np.trace(matrix), rtol=1e-9)
    say("decomposition, 100 x 3,000", own, against(own, reference, "numpy.cov"))
    large = correctness(100, "mixed")
    median, longest, _ = timed(lambda: decompose_variance(large), 20)
    say("decomposition, 100 x 30,000", median, f"longest of 20: {longest * 1000:.1f} ms")
    groups = np.repeat(np.arange(30), 1000).astype(str)
    median, longest, _ = timed(lambda: decompose_variance(large, groups), 20)
    say("decomposition in 30 groups, 100 x 30,000", median, f"longest of 20: {longest * 1000:.1f} ms")


def largest_pairs(scores: np.ndarray, k: int, block: int = 1000) -> pl.DataFrame:
    """The k largest covariances with their ties, by products of blocks in double precision.

    Right and wrong are multiplied as whole numbers, which is exact; other scores are centered, and their covariances
    rounded to 12 decimals.
    """
    n_runs, n = scores.shape
    whole = bool(((scores == 0) | (scores == 1)).all())
    right = scores.sum(axis=0)
    columns = np.ascontiguousarray((scores if whole else scores - scores.mean(axis=0)).T)
    kept, bound = np.empty((0, 3)), -np.inf
    ties: Counter[float] = Counter()
    for start in range(0, n, block):
        products = columns[start : start + block] @ columns[start:].T
        if whole:
            products = n_runs * products - right[start : start + block, np.newaxis] * right[start:]
            products /= n_runs * (n_runs - 1)
        else:
            products = np.round(products / (n_runs - 1), 12)
        # In ascending order of (i, j), which a stable sort keeps among equal values.
        i, j = np.nonzero(np.triu(products >= bound, 1))
        found = products[i, j]
        ties.update(dict(zip(*(each.tolist() for each in np.unique(found, return_counts=True)), strict=True)))
        first = np.argsort(-found, kind="stable")[:k]
        kept = np.concatenate([kept, np.column_stack([found, i + start, j + start])[first]])
        kept = kept[np.argsort(-kept[:, 0], kind="stable")][:k]
        if len(kept) == k:
            bound = kept[-1, 0]
    return pl.DataFrame(
        {
            "i": kept[:, 1].astype(np.int64),
            "j": kept[:, 2].astype(np.int64),
            "covariance": kept[:, 0],
            "ties": [ties[value] for value in kept[:, 0].tolist()],
        }
    )


def check_pairs(cases: dict[str, Callable[[], np.ndarray]]) -> None:
    """Time the search in all cases, then the reference, whose memory is not to be taken for the search's."""
    from goldassay.instability import top_covarying_pairs

    own: dict[str, tuple[float, pl.DataFrame]] = {}
    for what, make in cases.items():
        scores = make()
        median, longest, found = timed(lambda scores=scores: top_covarying_pairs(scores, TOP))
        own[what] = median, found
        say(what, median, f"longest of 5: {longest * 1000:,.0f} ms")
    for what, make in cases.items():
        seconds, found = own[what]
        reference, expected = once(lambda make=make: largest_pairs(make(), TOP))
        assert found.drop("covariance").equals(expected.drop("covariance"))
        assert np.allclose(found["covariance"], expected["covariance"], atol=1e-11)
        print(f"{what:<58}{against(seconds, reference, 'blocked product')}", flush=True)


def pairs(n_runs: int) -> None:
    kinds = ("0.5", "0.95", "0.99", "mixed", "like HANS", "200 distinct")
    check_pairs({name_pairs(n_runs, kind): partial(correctness, n_runs, kind) for kind in kinds})


def graded(n_runs: int) -> None:
    check_pairs({name_pairs(n_runs, kind): partial(grades, n_runs, kind) for kind in ("probabilities", "like F1")})


def name_pairs(n_runs: int, kind: str) -> str:
    return f"top {TOP:,} of {N * (N - 1) // 2:,} pairs, {n_runs} runs, {kind}"


def grades(n_runs: int, kind: str) -> np.ndarray:
    """Scores of other than right and wrong, (R, N)."""
    rng = np.random.default_rng(0)
    if kind == "probabilities":
        return rng.random((n_runs, N))
    certain = rng.random((n_runs, N)) < 0.6
    return np.where(certain, rng.random((n_runs, N)) < 0.8, rng.integers(0, 13, (n_runs, N)) / 12)


def resampling() -> None:
    from goldassay.instability import resample_scores

    scores = correctness(100, "mixed")
    few = 40
    own, longest, _ = timed(lambda: resample_scores(scores, "examples"), 3)
    say("intervals over examples, 100 x 30,000, 2,000 draws", own, f"longest of 3: {longest * 1000:,.0f} ms")
    found = resample_scores(scores, "examples", n_draws=few)
    reference, drawn = once(lambda: np.array([drawn_again(scores, each) for each in picks(few)]))
    for name, column in zip(("mean", "total", "independent"), drawn.T, strict=True):
        interval = getattr(found, name)
        assert np.allclose((interval.low, interval.high), np.quantile(column, (0.025, 0.975)), rtol=1e-9), name
    note = against(own / 2000, reference / few, "scores of each draw, one draw")
    print(f"{'  a draw':<58}{own / 2000 * 1000:>11,.2f} ms  {note}", flush=True)


def picks(n_draws: int) -> np.ndarray:
    """The examples that the package draws with seed 0."""
    return np.random.default_rng(0).integers(0, N, (n_draws, N))


def drawn_again(scores: np.ndarray, picked: np.ndarray) -> tuple[float, float, float]:
    """Mean, total and independent variance of a draw, from its scores written out."""
    drawn = scores[:, picked]
    means, own = drawn.mean(axis=1), drawn.var(axis=0, ddof=1)
    counts = np.bincount(picked, minlength=N)
    # An example drawn c times makes c (c - 1) pairs with itself that are no covariance.
    twice = ((counts[picked] - 1) * own).sum() / N**2
    return float(means.mean()), float(means.var(ddof=1) - twice), float(own.sum() / N**2)


def correlations(kind: str) -> None:
    from goldassay.instability import correlate_examples

    scores = np.random.default_rng(0).random((1, 117, 10_000))
    if kind == "right and wrong":
        np.round(scores, out=scores)

    def correlate(order: Literal["file", "clustering"] = "file") -> ExampleCorrelation:
        return correlate_examples(scores, max_examples=None, order=order)

    own = once(correlate)[0]
    later = sorted(once(correlate)[0] for _ in range(5))
    say(f"correlations of 10,000 examples, {kind}, first call", own)
    say("  later calls, median", later[2], f"longest of 5: {later[-1] * 1000:,.0f} ms")
    ordered, found = once(partial(correlate, "clustering"))
    say("  the same and an order for the eye", ordered, f"{found.values.dtype}, {found.values.nbytes >> 20} MB")
    from scipy import stats

    reference, expected = once(lambda: stats.spearmanr(scores[0]).statistic)
    for start in range(0, len(expected), 500):
        rows = slice(start, start + 500)
        assert np.abs(found.values[rows] - expected[rows]).max() < 1e-7
    note = f"{against(own, reference, 'scipy.stats.spearmanr')} to 1e-7"
    print(f"{'':<58}{note}; {reference / later[2]:,.0f} times later calls; peak {peak():,.0f} MB", flush=True)


def reading() -> None:
    from goldassay.runs.reading import read_runs
    from goldassay.runs.runs import Runs
    from goldassay.runs.store import write_runs

    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, N)
    predictions = np.where(rng.random((100, N)) < 0.8, gold, rng.integers(0, 3, (100, N)))
    runs = Runs.from_arrays(predictions, gold, label_names=LABELS)
    with tempfile.TemporaryDirectory() as folder:
        seconds, paths = once(lambda: write_runs(runs, folder))
        size = sum(path.stat().st_size for path in paths) / 2**20
        say("writing 100 runs x 30,000 examples", seconds, f"{size:.1f} MB")
        own, longest, back = timed(lambda: read_runs(folder))
        assert np.array_equal(back.scores, runs.scores)
        assert np.array_equal(back.predictions, runs.predictions)
        reference, plain = once(lambda: [pl.read_parquet(path) for path in paths])
        assert sorted(frame["score"].mean() for frame in plain) == sorted(back.scores.mean(axis=1).tolist())
        note = f"longest of 5: {longest * 1000:,.0f} ms; the bare tables by polars: {reference * 1000:,.0f} ms"
        say("reading 100 runs x 30,000 examples", own, note)


SEEDS, STEPS, SETS, EXAMPLES = 10, 117, 15, 10_000


def make_store(folder: Path) -> None:
    """15 datasets of 10,000 examples, 10 seeds and 117 checkpoints, one file each."""
    from goldassay.runs.runs import Runs
    from goldassay.runs.store import write_runs

    start = time.perf_counter()
    for position in range(SETS):
        rng = np.random.default_rng(position)
        gold, ease = rng.integers(0, 3, EXAMPLES), rng.random(EXAMPLES)
        for step in range(1, STEPS + 1):
            right = rng.random((SEEDS, EXAMPLES)) < ease * (0.5 + 0.5 * step / STEPS)
            predictions = np.where(right, gold, (gold + 1) % 3)
            runs = Runs.from_arrays(
                predictions, gold, label_names=LABELS, checkpoints=[500 * step], dataset=f"set{position:02}"
            )
            write_runs(runs, folder / f"set{position:02}")
    (folder / "complete").touch()
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 2**20
    say("writing 175,500,000 rows", time.perf_counter() - start, f"{size:,.0f} MB in {SEEDS * STEPS * SETS:,} files")


def summarize(folder: Path) -> tuple[float, float, list[dict[str, Any]]]:
    """Run the command as its user does: seconds, the most memory of any child so far, and what it wrote."""
    with tempfile.TemporaryDirectory() as out:
        command = [
            sys.executable,
            "-c",
            "from goldassay.cli import main; main()",
            "runs",
            "summarize",
            str(folder),
            "--quiet",
            "--json",
            f"{out}/all",
        ]
        seconds, _ = once(lambda: subprocess.run(command, check=True))
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        return seconds, memory, json.loads(Path(out, "all").read_text())["sets"]


def store(folder: Path) -> None:
    from goldassay.instability import decompose_variance
    from goldassay.runs.reading import read_runs

    with tempfile.TemporaryDirectory() as spare:
        if not (folder / "complete").exists():
            folder = Path(spare)
            make_store(folder)
        seconds, memory, sets = summarize(folder)
        rows = SEEDS * STEPS * SETS * EXAMPLES
        print(
            f"goldassay runs summarize: {rows:,} rows in {seconds:.1f} s, {rows / seconds / 1e6:.1f} million a second, "
            f"peak {memory:.0f} MB",
            flush=True,
        )
        own = np.array([each["scores"]["run_means"] for each in sets])
        scan = pl.scan_parquet(folder / "**/*.parquet").group_by("dataset", "seed", "checkpoint")
        reference, means = once(lambda: scan.agg(pl.col("score").mean()).collect(engine="streaming"))
        expected = means.sort("dataset", "seed", "checkpoint")["score"].to_numpy().reshape(own.shape)
        assert np.allclose(own, expected, atol=1e-12)
        say("the means alone by polars, streaming", reference, "same answer")
        runs = read_runs(folder / "set07")
        whole = [decompose_variance(runs.scores[:, step]).effective_size for step in range(STEPS)]
        assert np.allclose(sets[7]["scores"]["effective_size"], whole, rtol=1e-9)
        say("one dataset read whole, its effective sizes the same", 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--runs", type=int, nargs="+", default=[3, 10, 30, 100])
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help=argparse.SUPPRESS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, default=Path("no-store"), metavar="FOLDER")
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "decomposition": decomposition,
        "reading": reading,
        "pairs": lambda: pairs(arguments.runs[0]),
        "graded": lambda: graded(arguments.runs[0]),
        "resampling": resampling,
        "correlations": lambda: correlations(arguments.kind),
        "store": lambda: store(arguments.store),
        "make-store": lambda: make_store(arguments.store),
    }
    wanted = arguments.parts or [name for name in parts if name != "make-store"]
    if unknown := set(wanted) - set(parts):
        parser.error(f"there is no part {unknown.pop()}; there are {', '.join(parts)}")
    if arguments.here:
        parts[wanted[0]]()
        return
    print(f"numpy {np.__version__}, polars {pl.__version__}, {os.cpu_count()} cores", flush=True)
    each = {
        "pairs": [["--runs", str(n)] for n in arguments.runs],
        "graded": [["--runs", str(n)] for n in arguments.runs],
        "correlations": [["--kind", kind] for kind in KINDS],
    }
    for name in wanted:
        for options in each.get(name, [[]]):
            print(f"-- {' '.join([name, *options])}; load {os.getloadavg()[0]:.1f}", flush=True)
            # -P: a folder beside this script has the name of a package that numba looks for.
            command = [sys.executable, "-P", __file__, name, "--here", "--store", str(arguments.store), *options]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
