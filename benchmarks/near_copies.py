"""Near copies: against comparing each with each, against datasketch, and the time for 550,000 sentences.

    GOLDASSAY_DATA=DIR python benchmarks/near_copies.py [--sample 5000] [--texts 550000] [--seed 0]

The sample is of SICK and SNLI, half each. "Exact" compares each text with each by the product of their sparse matrices
of shingles and then gives representatives in the same order; datasketch, where it is installed, gets the same shingles
and the same 20 bands of 5, and its candidates are confirmed in the same way. The large set is SNLI with one word of
each sentence replaced, so that many texts have near copies. Prints one line of JSON a measurement.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from goldassay.data import near_copies
from goldassay.data.fields import normalized_text
from goldassay.data.near_copies import N_BANDS, N_ROWS, SIMILARITY, join_near_copies, shingled_text
from goldassay.data.reading import read_dataset

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
SNLI = ("snli/train_sample_18k.tsv.gz", "snli/dev.tsv.gz", "snli/test_9824.tsv.gz")


def sentences(names: tuple[str, ...]) -> list[str]:
    parts = [read_dataset(DATA / name) for name in names]
    return sorted({normalized_text(text) for part in parts for role in part.text_columns for text in part.texts(role)})


def shingles(texts: list[str]) -> list[set[str]]:
    return [{text[i : i + 5] for i in range(max(len(text) - 4, 1))} for text in shingled_text(pl.Series(texts))]


def near_pairs(sets: list[set[str]]) -> set[tuple[int, int]]:
    """All pairs at the threshold, 500 texts with all at a time."""
    names: dict[str, int] = {}
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    columns = [names.setdefault(one, len(names)) for each in sets for one in each]
    matrix = csr_array((np.ones(len(columns), np.float32), (rows, columns)), shape=(len(sets), len(names)))
    sizes = np.array([len(each) for each in sets])
    found = set()
    for begin in range(0, len(sets), 500):
        block = (matrix[begin : begin + 500] @ matrix.T).tocoo()
        left, right = begin + block.coords[0], block.coords[1]
        near = block.data / (sizes[left] + sizes[right] - block.data) >= SIMILARITY - 1e-7
        found |= {(i, j) for i, j in zip(left[near].tolist(), right[near].tolist(), strict=True) if i < j}
    return found


def representatives(texts: list[str], pairs: set[tuple[int, int]], sets: list[set[str]]) -> list[int]:
    """Texts are sorted, so that their order is that of `join_near_copies` with equal counts."""
    earlier: dict[int, list[int]] = {}
    for i, j in pairs:
        earlier.setdefault(j, []).append(i)
    found = list(range(len(texts)))
    for j in range(len(texts)):
        near = [i for i in sorted(earlier.get(j, [])) if found[i] == i]
        if near:
            found[j] = max(near, key=lambda i: (len(sets[i] & sets[j]) / len(sets[i] | sets[j]), -i))
    return found


def peer_pairs(sets: list[set[str]]) -> set[tuple[int, int]] | None:
    """Confirmed candidates of datasketch; None where it is not installed."""
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        return None
    index: Any = MinHashLSH(num_perm=N_BANDS * N_ROWS, params=(N_BANDS, N_ROWS))
    found = set()
    for j, each in enumerate(sets):
        signed = MinHash(num_perm=N_BANDS * N_ROWS, seed=1)
        signed.update_batch([one.encode() for one in each])
        found |= {(i, j) for i in index.query(signed) if len(sets[i] & each) / len(sets[i] | each) >= SIMILARITY}
        index.insert(j, signed)
    return found


def changed(source: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """Sentences of which one word is replaced, until there are n different ones."""
    words = [word for text in source for word in text.split()]
    found: set[str] = set()
    while len(found) < n:
        for at, place, other in zip(
            rng.integers(0, len(source), n).tolist(), rng.random(n).tolist(), rng.integers(0, len(words), n).tolist(),
            strict=True,
        ):  # fmt: skip
            tokens = source[at].split()
            tokens[int(place * len(tokens))] = words[other]
            found.add(" ".join(tokens))
    return sorted(found)[:n]


def report(**row: Any) -> None:
    print(json.dumps(row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=5000)
    parser.add_argument("--texts", type=int, default=550_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    snli, sick = sentences(SNLI), sentences(("sick/SICK.txt.gz",))
    half = given.sample // 2
    drawn = {*rng.choice(sick, half, replace=False).tolist(), *rng.choice(snli, half, replace=False).tolist()}
    sample = sorted(drawn)
    # Compiled code is loaded before a clock runs.
    join_near_copies(sample[:10])

    start = time.perf_counter()
    found = join_near_copies(sample).tolist()
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    sets = shingles(sample)
    pairs = near_pairs(sets)
    exact = representatives(sample, pairs, sets)
    report(
        what="sample", texts=len(sample), joined=sum(i != j for i, j in enumerate(found)),
        joined_exactly=sum(i != j for i, j in enumerate(exact)),
        different=sum(i != j for i, j in zip(found, exact, strict=True)),
        seconds=round(seconds, 3), seconds_exact=round(time.perf_counter() - start, 2),
    )  # fmt: skip
    start = time.perf_counter()
    peers = peer_pairs(sets)
    if peers is not None:
        seconds = round(time.perf_counter() - start, 2)
        report(what="datasketch", pairs=len(pairs), pairs_found=len(peers & pairs), seconds=seconds)

    large = changed(snli, given.texts, rng)
    for n_cores in (1, 2):
        near_copies.cores = lambda n=n_cores: n  # type: ignore[assignment]
        start, processor = time.perf_counter(), time.process_time()
        result = join_near_copies(large)
        report(
            what="large", texts=len(large), cores=n_cores, joined=int((result != np.arange(len(large))).sum()),
            seconds=round(time.perf_counter() - start, 2), processor_seconds=round(time.process_time() - processor, 2),
            sha256=hashlib.sha256(result.tobytes()).hexdigest()[:16],
        )  # fmt: skip


if __name__ == "__main__":
    main()
