"""How often chance is called significant: the share of sets of labels that know nothing in which something is found.

    python -m benchmarks.verdicts.significance [clusters] [--sets N]     # prints the tables of docs/intervals.md

Clusters of sentences (PECO): labels dealt out whatever the cluster. A set counts where any cluster leans beyond chance.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.intervals import wilson_bounds
from goldassay.leakage import score_clusters

if TYPE_CHECKING:
    from collections.abc import Callable

ALPHA = 0.01


def clusters_found(n: int, k: int, shares: tuple[float, ...], copies: int, *, together: bool, seed: int) -> bool:
    """Whether any of k clusters leans beyond chance, of n texts in so many copies each, all of one label.

    Args:
        n: Rows.
        k: Clusters.
        shares: Of each label.
        copies: Rows of each text; they lie in one cluster.
        together: Whether copies count together.
        seed: Of labels and clusters.
    """
    rng = np.random.default_rng(seed)
    texts = n // copies
    labels = np.repeat(rng.choice(len(shares), texts, p=shares), copies)
    clusters = np.repeat(rng.integers(0, k, texts), copies)
    groups = np.repeat(np.arange(texts), copies) if together else None
    found = score_clusters(clusters, labels, n_clusters=k, seed=seed, together=groups, n_permutations=200)
    return bool((found.cluster_q <= ALPHA).any())


CLUSTERS: dict[str, tuple[int, int, tuple[float, ...], int, bool]] = {
    "95/5, N 400, k 50": (400, 50, (0.95, 0.05), 1, False),
    "98/2, N 2,000, k 50": (2000, 50, (0.98, 0.02), 1, False),
    "balanced, 3 labels, N 2,000, k 50": (2000, 50, (0.34, 0.33, 0.33), 1, False),
    "copies x10, balanced, N 2,000, k 20": (2000, 20, (0.5, 0.5), 10, True),
    "copies x10, 95/5, N 4,000, k 20": (4000, 20, (0.95, 0.05), 10, True),
    "copies x10 taken for single rows, balanced, N 2,000, k 20": (2000, 20, (0.5, 0.5), 10, False),
}


def row(name: str, found: Callable[[int], bool], n_sets: int) -> str:
    """A line of the table: the share of sets in which something was found, with Wilson's 99 % interval."""
    n_found = sum(found(seed) for seed in range(n_sets))
    low, high = wilson_bounds(n_found, n_sets, 0.99)
    return f"| {name} | {n_found} of {n_sets} | {100 * n_found / n_sets:.1f} ({100 * low:.1f} to {100 * high:.1f}) |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=["clusters"], default=["clusters"])
    parser.add_argument("--sets", type=int, default=1000)
    given = parser.parse_args()
    if "clusters" in given.what:
        print("| clusters of sentences | sets with one that leans | % |\n|---|---:|---:|")
        for name, (n, k, shares, copies, together) in CLUSTERS.items():
            print(
                row(
                    name,
                    lambda seed, n=n, k=k, shares=shares, copies=copies, together=together: clusters_found(
                        n, k, shares, copies, together=together, seed=seed
                    ),
                    given.sets,
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
