"""Patterns of a corpus on disk tested anew where its sentences come in clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.pattern_clusters import (
    label_correlation,
    p_with_effects,
    reordered,
    rows_to_test,
    sums_of,
    with_effects,
)
from goldassay.artifacts.pattern_rows import QValues
from goldassay.artifacts.streaming.spool import write_array
from goldassay.data.tokenization import TokenizedCorpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.artifacts.streaming.files import PatternFile
    from goldassay.artifacts.streaming.memory import MemoryBound
    from goldassay.artifacts.streaming.spool import Spool

# Bytes for each token of the sentences that are looked through at once, with what matching takes.
_PER_TOKEN = 64


def tested_anew(
    patterns: PatternFile,
    spool: Spool,
    labels: NDArray[np.int32],
    clusters: Sequence[NDArray[np.int64]],
    memory: MemoryBound,
    folder: Path,
) -> Iterator[pl.DataFrame]:
    """The rows of a file of patterns as `allow_for_clusters` makes them of a table in memory.

    Args:
        patterns: All that were mined.
        spool: What they were mined from.
        labels: The label of each code of the spool, -1 where its sentences were left out.
        clusters: Ways to make clusters of the sentences with a label, (N,) each, in the order of the spool.
        memory: What may be taken.
        folder: Empty, for what is put aside.
    """
    n_labels = len(patterns.label_names)
    own = np.concatenate([labels[codes][labels[codes] >= 0] for _, codes in spool]).astype(np.int64)
    correlations = [label_correlation(own, way, n_labels) for way in clusters]
    p: list[NDArray[np.float64]] = []
    for number, part in enumerate(patterns.parts()):
        rows = rows_to_test(part)
        effects = np.ones((len(part), n_labels))
        for way, correlation in zip(clusters, correlations, strict=True):
            for at, sums in sums_of(part, rows):
                for each in _cluster_by_cluster(spool, labels, way, memory):
                    sums.add(*each)
                effects[rows[at]] = np.maximum(effects[rows[at]], sums.effects(correlation))
        p.append(p_with_effects(part, effects))
        write_array(folder / f"{number}.effects", effects)
    q = QValues(np.concatenate(p))
    del p
    for number, part in enumerate(patterns.parts()):
        kept = np.fromfile(folder / f"{number}.effects", np.float64)
        yield with_effects(part, kept.reshape(len(part), n_labels), q).all_columns()


def _cluster_by_cluster(
    spool: Spool, labels: NDArray[np.int32], clusters: NDArray[np.int64], memory: MemoryBound
) -> Iterator[tuple[TokenizedCorpus, NDArray[np.int64], NDArray[np.int64]]]:
    """The sentences that share a cluster, whole clusters at a time: the sentences, their labels and clusters."""
    sizes = np.bincount(clusters)
    n_parts = max(1, -(-_shared_tokens(spool, labels, sizes[clusters] > 1) * _PER_TOKEN // max(memory.room(), 1)))
    for part in range(n_parts):
        numbers: dict[str, int] = {}
        ids: list[NDArray[np.int32]] = []
        lengths: list[NDArray[np.int64]] = []
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        at = 0
        for corpus, codes in spool:
            own = labels[codes]
            of_shard = np.full(own.size, -1, np.int64)
            n_kept = int((own >= 0).sum())
            of_shard[own >= 0] = clusters[at : at + n_kept]
            at += n_kept
            chosen = (of_shard >= 0) & (of_shard % n_parts == part)
            chosen[chosen] = sizes[of_shard[chosen]] > 1
            taken = corpus.take(chosen)
            used = np.unique(taken.ids)
            renumbered = np.zeros(len(corpus.vocabulary), np.int32)
            renumbered[used] = [numbers.setdefault(corpus.vocabulary[word], len(numbers)) for word in used.tolist()]
            ids.append(renumbered[taken.ids])
            lengths.append(np.diff(taken.offsets))
            found.append((own[chosen].astype(np.int64), of_shard[chosen]))
        offsets = np.concatenate([[0], *lengths]).cumsum().astype(np.int64)
        joined = TokenizedCorpus(np.concatenate(ids), offsets, tuple(numbers), spool.tokenizer)
        own_labels, own_clusters = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(own_clusters, kind="stable")
        yield reordered(joined, order), own_labels[order], own_clusters[order]


def _shared_tokens(spool: Spool, labels: NDArray[np.int32], shared: NDArray[Any]) -> int:
    """How many tokens the sentences that share a cluster have."""
    n, at = 0, 0
    for corpus, codes in spool:
        kept = labels[codes] >= 0
        n_kept = int(kept.sum())
        n += int(np.diff(corpus.offsets)[kept][shared[at : at + n_kept]].sum())
        at += n_kept
    return n
