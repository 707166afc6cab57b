"""How often chance is called significant: the share of sets of labels that know nothing in which something is found.

    python -m benchmarks.verdicts.significance [patterns|clusters] [--sets N]     # prints the tables

Patterns: words drawn with Zipf's frequencies, labels that have nothing to do with them; 300 texts in 10 copies each,
all of one label; texts of twelve words in 10 copies each with another word changed in each; or 300 writers of 10 rows
each, with words and a leaning to labels of their own. A set counts where any pattern has K q <= .01. Clusters of
sentences (PECO): labels dealt out whatever the cluster. A set counts where any cluster leans beyond chance.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from goldassay.artifacts import mine_patterns
from goldassay.data.tokenization import tokenize
from goldassay.leakage import score_clusters
from goldassay.questions.artifacts.measures.clusters import near_sentences, sign_corpus
from goldassay.stats.intervals import wilson_bounds

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


def patterns_found(kind: str, shares: tuple[float, ...], *, together: bool, seed: int) -> bool:
    """Whether any pattern is significant in a set of 3,000 rows.

    Args:
        kind: "copies", "near copies" or "writers".
        shares: Of each label.
        together: Whether the rows of a text or writer count together; near copies are found as an audit finds them.
        seed: Of everything drawn.
    """
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, 301)
    who = np.repeat(np.arange(300), 10)
    n_texts, length = {"copies": (300, 7), "near copies": (300, 12), "writers": (3000, 4)}[kind]
    drawn = rng.choice(300, (n_texts, length), p=chance / chance.sum())
    texts = [" ".join(f"w{word}" for word in words) for words in drawn]
    if kind == "near copies":
        drawn = drawn[who]
        drawn[np.arange(who.size), rng.integers(0, length, who.size)] = rng.choice(
            300, who.size, p=chance / chance.sum()
        )
        texts = [" ".join(f"w{word}" for word in words) for words in drawn]
        corpus = tokenize(texts, "whitespace")
        labels = rng.choice(len(shares), 300, p=shares)[who]
        who = near_sentences(sign_corpus(corpus), np.diff(corpus.offsets))
    elif kind == "copies":
        texts = [texts[text] for text in who]
        labels = rng.choice(len(shares), 300, p=shares)[who]
    else:
        own, leaning = rng.integers(0, 100, (300, 2)), rng.dirichlet(np.array(shares), 300)
        texts = [f"{text} own{own[w, 0]} own{own[w, 1]}" for text, w in zip(texts, who, strict=True)]
        labels = np.array([rng.choice(len(shares), p=leaning[w]) for w in who])
    mined = mine_patterns(
        texts, labels, min_count=8, tokenizer="whitespace", clusters=[who] if together else (),
        label_names=[str(label) for label in range(len(shares))],
    )  # fmt: skip
    return len(mined.significant(ALPHA)) > 0


PATTERNS: dict[str, tuple[str, tuple[float, ...], bool]] = {
    "copies x10, 3 labels": ("copies", (0.4, 0.3, 0.3), True),
    "copies x10, 95/5": ("copies", (0.95, 0.05), True),
    "copies x10, 98/2": ("copies", (0.98, 0.02), True),
    "near copies x10, 3 labels": ("near copies", (0.4, 0.3, 0.3), True),
    "near copies x10, 95/5": ("near copies", (0.95, 0.05), True),
    "near copies x10, 98/2": ("near copies", (0.98, 0.02), True),
    "writers, 3 labels": ("writers", (0.4, 0.3, 0.3), True),
    "writers, 95/5": ("writers", (0.95, 0.05), True),
    "writers, 98/2": ("writers", (0.98, 0.02), True),
    "copies x10 taken for single rows, 3 labels": ("copies", (0.4, 0.3, 0.3), False),
    "near copies x10 taken for single rows, 3 labels": ("near copies", (0.4, 0.3, 0.3), False),
    "writers' rows taken for single rows, 3 labels": ("writers", (0.4, 0.3, 0.3), False),
}


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
    parser.add_argument("what", nargs="*", default=["patterns", "clusters"])
    parser.add_argument("--sets", type=int, default=1000)
    given = parser.parse_args()
    if unknown := set(given.what) - {"patterns", "clusters"}:
        parser.error(f"there is no {unknown.pop()}: choose patterns or clusters")
    if "patterns" in given.what:
        print("| patterns | sets with a significant one | % |\n|---|---:|---:|")
        for name, (kind, shares, together) in PATTERNS.items():
            print(
                row(
                    name,
                    lambda seed, kind=kind, shares=shares, together=together: patterns_found(
                        kind, shares, together=together, seed=seed
                    ),
                    given.sets,
                ),
                flush=True,
            )
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
