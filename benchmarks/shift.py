"""How long the measures of shift take, with the same answers as a reference checked in the same run.

    python benchmarks/shift.py [--quick] [--only PART ...] [--features N] [--rows N]

--quick takes a tenth of the scores and of the features (a hundredth of the products). --only takes some of the parts
detection, confidence, gaps, domains, mahalanobis, neighbors. --features says how many there are a side for neighbors,
--rows how many of them are searched for, of the product and of the search alike: a part of what takes minutes.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import NearestNeighbors

from goldassay.shift import (
    auroc,
    false_alarm_rate,
    fit_mahalanobis,
    generalization_gap,
    measure_calibration,
    measure_detection,
    measure_domain_shift,
    risk_coverage,
    score_entropy,
    score_knn,
    score_max_softmax,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Best of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def say(what: str, seconds: float, note: str = "") -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<66}{seconds:>9.3f} s   peak {peak:>6.0f} MB   {note}", flush=True)


def far_by_loop(inside: np.ndarray, outside: np.ndarray, recall: float = 0.95) -> float:
    """The highest threshold of enough recall, by walking down the scores one by one."""
    needed = int(np.ceil(recall * len(outside) - 1e-9))
    threshold = sorted(outside.tolist(), reverse=True)[needed - 1]
    return sum(score >= threshold for score in inside.tolist()) / len(inside)


def detection(n: int) -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(size=n), rng.normal(1, 1, n)
    labels, scores = np.repeat([0, 1], n), np.concatenate([inside, outside])
    measure_detection(inside[:100], outside[:100], n_draws=2)

    own, found = timed(lambda: auroc(inside, outside))
    peer, expected = timed(lambda: roc_auc_score(labels, scores), repeats=1)
    assert np.isclose(found, expected, rtol=1e-12)
    say(f"AUROC, {n:,} a side", own, f"same as scikit-learn, which takes {peer:.3f} s")
    own, found = timed(lambda: false_alarm_rate(inside, outside))
    loop, expected = timed(lambda: far_by_loop(inside, outside), repeats=1)
    assert found == expected
    say(f"false alarm rate, {n:,} a side", own, f"same as a plain loop, which takes {loop:.3f} s")

    seconds, result = timed(lambda: measure_detection(inside, outside), repeats=1)
    assert np.isclose(result.aupr_out, average_precision_score(labels, scores), rtol=1e-9)
    assert np.isclose(result.aupr_in, average_precision_score(1 - labels, -scores), rtol=1e-9)
    say(f"all five measures with 1,000 draws, {n:,} a side", seconds)

    def one_draw() -> None:
        drawn = np.concatenate([rng.choice(inside, n), rng.choice(outside, n)])
        roc_auc_score(labels, drawn)
        average_precision_score(labels, drawn)
        average_precision_score(1 - labels, -drawn)

    peer, _ = timed(one_draw, repeats=1)
    say(
        "  three of them by scikit-learn, 1,000 times one draw",
        1000 * peer,
        f"{1000 * peer / seconds:.0f} times as long",
    )


def neighbors(n: int, d: int = 768, rows: int | None = None) -> None:
    rng = np.random.default_rng(0)
    train = rng.normal(size=(n, d)).astype(np.float32)
    rows = rows or n
    tested = rng.normal(size=(rows, d)).astype(np.float32)
    score_knn(tested[:10], train[:100])

    def product_alone() -> None:
        room = np.empty((1024, 4096), dtype=np.float32)
        for row in range(0, rows - 1023, 1024):
            for column in range(0, n - 4095, 4096):
                np.matmul(tested[row : row + 1024], train[column : column + 4096].T, out=room)

    share = (rows // 1024 * 1024) * (n // 4096 * 4096) / (rows * n)
    product, _ = timed(product_alone, repeats=1)
    product /= share
    say(f"matrix product alone, {rows:,} x {d} by {n:,}, in blocks", product)
    own, found = timed(lambda: score_knn(tested, train), repeats=1)
    say(f"10th neighbor, {rows:,} x {d} among {n:,}", own, f"{own / product:.2f} times its product")
    some = slice(0, 200)
    lengths = [np.linalg.norm(values.astype(np.float64), axis=1, keepdims=True) for values in (train, tested[some])]
    peer = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(train / lengths[0])
    seconds, (distances, _) = timed(lambda: peer.kneighbors(tested[some] / lengths[1]), repeats=1)
    assert np.allclose(found[some], distances[:, -1], rtol=1e-9)
    say("  200 of them by scikit-learn", seconds, f"equal; {seconds * rows / 200 / own:.1f} times as long for all")


def mahalanobis(n: int, d: int = 768) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n)
    train = rng.normal(size=(n, d)) + labels[:, np.newaxis]
    seconds, fitted = timed(lambda: fit_mahalanobis(train, labels), repeats=1)
    own, found = timed(lambda: fitted.score(train), repeats=1)
    centered = train - fitted.means[labels]
    reference = EmpiricalCovariance(assume_centered=True).fit(centered)
    expected = np.min([reference.mahalanobis(train[:500] - center) for center in fitted.means], axis=0)
    assert np.allclose(found[:500], expected, rtol=1e-8)
    say(f"Mahalanobis, {n:,} x {d}, 3 classes", seconds + own, "same as scikit-learn's covariance")


def confidence(n: int) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (n, 3))
    say(f"max softmax of {n:,} x 3", timed(lambda: score_max_softmax(logits, scale="log"))[0])
    say(f"entropy of {n:,} x 3", timed(lambda: score_entropy(logits))[0])
    some = logits[: n // 10]
    probabilities = np.exp(some - np.log(np.exp(some).sum(axis=1, keepdims=True)))
    gold = rng.integers(0, 3, len(some))
    say(
        f"calibration with 1,000 draws, {len(some):,}",
        timed(lambda: measure_calibration(probabilities, gold), repeats=1)[0],
    )
    scores, correct = rng.random(len(some)), rng.random(len(some)) < 0.8
    seconds, found = timed(lambda: risk_coverage(scores, correct), repeats=1)
    errors, total = 0, 0.0
    for answered, example in enumerate(np.argsort(scores), 1):
        errors += not correct[example]
        total += errors / answered
    assert np.isclose(found.aurc, total / len(some))
    say(f"risk against coverage with 1,000 draws, {len(some):,}", seconds, "same as a plain loop")


def gaps(n: int) -> None:
    rng = np.random.default_rng(0)
    sets = {name: (rng.random((5, n)) < rate).astype(float) for name, rate in (("own", 0.9), ("other", 0.8))}
    say(f"gap of 5 runs x {n:,}, 1,000 draws", timed(lambda: generalization_gap(sets), repeats=1)[0])
    gold = {name: rng.random(1500) for name in sets}
    predictions = {name: values + rng.normal(0, 0.3, (5, 1500)) for name, values in gold.items()}
    for metric in ("pearson", "spearman"):
        seconds, _ = timed(lambda m=metric: generalization_gap(predictions, gold=gold, metric=m), repeats=1)
        say(f"gap in {metric} of 5 runs x 1,500, 1,000 draws", seconds)


def domains(n: int) -> None:
    rng = np.random.default_rng(0)
    pool = np.array([f"w{i}" for i in range(20_000)])
    shares = 1 / np.arange(1, len(pool) + 1)
    sides = [
        [" ".join(row) for row in rng.choice(pool, (n, 20), p=share / share.sum())]
        for share in (shares, shares * np.exp(rng.normal(0, 0.3, len(pool))))
    ]
    seconds, found = timed(lambda: measure_domain_shift(*sides), repeats=1)
    say(f"domain classifier, {n:,} texts a side", seconds, f"AUROC {found.auroc:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the scores and of the features")
    parser.add_argument("--features", type=int, help="for neighbors, a side")
    parser.add_argument("--rows", type=int, help="for neighbors, how many are searched for; all by default")
    parts: dict[str, Callable[[bool], None]] = {
        "detection": lambda quick: detection(100_000 if quick else 1_000_000),
        "confidence": lambda quick: confidence(100_000 if quick else 1_000_000),
        "gaps": lambda _: gaps(10_000),
        "domains": lambda quick: domains(500 if quick else 5_000),
        "mahalanobis": lambda quick: mahalanobis(5_000 if quick else 50_000),
        "neighbors": lambda quick: neighbors(asked.features or (10_000 if quick else 100_000), rows=asked.rows),
    }
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), help="some of the parts")
    asked = parser.parse_args()
    print(f"numpy {np.__version__}")
    for name in asked.only:
        parts[name](asked.quick)


if __name__ == "__main__":
    main()
