"""Mining of corpora that do not fit in memory: from shards on disk to a table in a file, a part at a time."""

from __future__ import annotations

import errno
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.core.files import output_error, sink_parquet, temporary_folder, written_whole
from goldassay.core.progress import Progress, silent
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer
from goldassay.questions.artifacts.measures.clusters import (
    label_correlation,
    p_with_effects,
    reordered,
    rows_to_test,
    sums_of,
    with_effects,
)
from goldassay.questions.artifacts.measures.counting import Counter
from goldassay.questions.artifacts.measures.matching import encode_labels
from goldassay.questions.artifacts.measures.mining import check_bounds, nothing_found
from goldassay.questions.artifacts.measures.pattern_table import PatternFile, description
from goldassay.questions.artifacts.measures.spool import MemoryBound, MinedRows, Spool, write_array, write_shards
from goldassay.questions.artifacts.measures.statistics import PART, MinedPatterns, QValues, Words, p_of, rows_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray


def write_in_parts(parts: Iterator[pl.DataFrame], path: Path, metadata: dict[str, str]) -> None:
    """Write frames of one schema, one after the other, as one Parquet file; at least one is needed.

    polars pulls the frames in a thread of its own while this one waits in Python, so that Ctrl-C is heard.

    Raises:
        OSError: The disk is full or fails.
    """
    from polars.io.plugins import register_io_source

    first = next(parts)
    stop = threading.Event()
    failed: list[BaseException] = []

    def frames(*_: Any) -> Iterator[pl.DataFrame]:
        yield first
        try:
            for frame in parts:
                if stop.is_set():
                    raise InterruptedError
                yield frame
        except BaseException as error:
            failed.append(error)
            raise

    source = register_io_source(frames, schema=first.schema)
    with path.open("wb") as file, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(sink_parquet, source, file, metadata=metadata, row_group_size=PART, maintain_order=True)
        try:
            writing.result()
        except BaseException as error:
            stop.set()
            # polars wraps what was raised while it pulled; the reason itself says more.
            raise (failed[0] if failed else error) from None


_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


def mine_stream(
    batches: Iterable[tuple[Sequence[str], Sequence[Any] | NDArray[Any]]],
    out: str | os.PathLike[str],
    max_tokens: int = 3,
    max_gap: int = 3,
    min_count: int = 50,
    tokenizer: Tokenizer = "treebank",
    n_threads: int | None = None,
    *,
    memory: int | str = "2GB",
    label_names: Sequence[str] | None = None,
    progress: Progress = silent,
) -> PatternFile:
    """Mine a corpus of any size in bounded memory, giving exactly what `mine_patterns` gives of all batches together.

    Tokens go to disk (about 8 bytes each, beside `out`, removed at the end); counting passes over them as often as
    memory makes it necessary. Slower than in memory, so use it for what does not fit.

    Args:
        batches: Sentences with their labels, a manageable number at a time: see `mine_patterns`.
        out: The file to write the table to; `PatternTable.read` reads it, as does anything that opens Parquet.
        max_tokens: 1 to 5.
        max_gap: Most tokens skipped between two, 0 to 5.
        min_count: Fewest sentences.
        tokenizer: As for `mine_patterns`.
        n_threads: None: as many as there are cores to use.
        memory: The most that the process may take in all, what it holds now included: "2GB", or bytes.
        label_names: Order of the labels; None: sorted.
        progress: Told how much is counted.

    Warns:
        UserWarning: No pattern is frequent enough.

    Raises:
        InputError: As `mine_patterns`; or the memory is too small, with the least that would do.
        OutputError: The table, or what is put aside, cannot be written.

    Source: Liu, Zheng, Chang and Sui 2020, "HypoNLI: Exploring the artificial patterns of hypothesis-only bias".
    """
    check_bounds(max_tokens, max_gap, min_count, n_threads)
    bound = MemoryBound(memory)
    target = Path(out)
    codes: dict[tuple[type, Any], int] = {}
    n_of_code: list[int] = []
    with scratch_beside(target) as scratch:
        spool = Spool(_made(scratch / "spool"), tokenizer)
        for sentences, labels in batches:
            if isinstance(sentences, str):
                raise InputError("one string was given where a list of sentences is needed", mend="put it into a list")
            plain = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
            if len(plain) != len(sentences):
                raise InputError(
                    f"{len(sentences)} sentences and {len(plain)} labels do not match",
                    mend="give one label for each sentence",
                )
            # With its type, since True equals 1.
            own = np.array([codes.setdefault((type(label), label), len(codes)) for label in plain], np.int32)
            n_of_code += [0] * (len(codes) - len(n_of_code))
            for code, n in enumerate(np.bincount(own, minlength=len(codes)).tolist()):
                n_of_code[code] += n
            spool.add(sentences, own)
        spool.close_shard()
        numbers, names = encode_labels([label for _, label in codes], label_names, len(codes))
        if not names:
            raise InputError("there is no labelled sentence to mine", mend="give sentences with their labels")
        n_dropped = sum(n for n, number in zip(n_of_code, numbers.tolist(), strict=True) if number < 0)
        return mine_spool(
            spool,
            target,
            numbers.astype(np.int32),
            names,
            (max_tokens, max_gap, min_count),
            bound,
            {"n_dropped": n_dropped},
            n_threads,
            progress,
        )


def mine_spool(
    spool: Spool,
    out: Path,
    labels: NDArray[np.int32],
    label_names: tuple[str, ...],
    bounds: tuple[int, int, int],
    memory: MemoryBound,
    about: dict[str, Any],
    n_threads: int | None = None,
    progress: Progress = silent,
    clusters: Sequence[NDArray[np.int64]] = (),
) -> PatternFile:
    """Mine what a spool holds; it can be mined again, with other labels.

    Args:
        spool: The corpus, its last shard closed.
        out: The file to write the table to.
        labels: The label of each code of the spool, -1 where its sentences are left out.
        label_names: K names.
        bounds: max_tokens, max_gap and min_count.
        memory: What may be taken.
        about: Further settings to keep with the table.
        n_threads: None: as many as there are cores to use.
        progress: Told how much is counted.
        clusters: Ways to make clusters of the sentences with a label, (N,) each, in the order of the spool; see
            `allow_for_clusters`.

    Raises:
        InputError: Memory is too small, with the least that would do.
        OutputError: Something cannot be written.
    """
    max_tokens, max_gap, min_count = bounds
    with scratch_beside(out) as scratch:
        shards = write_shards(spool, _made(scratch / "words"), labels, len(label_names), min_count)
        found = Counter(shards, max_tokens, max_gap, min_count, memory, n_threads or cores(), progress).count()
        # Of every pattern its place in the order, its p and its q, once more while they are sorted.
        memory.need(40 * len(found), f"for a table of {len(found):,} patterns", ", or raise min_count")
        words = Words(shards.frequent)
        settings = {
            "max_tokens": max_tokens,
            "max_gap": max_gap,
            "min_count": min_count,
            "tokenizer": spool.tokenizer,
            "n_sentences": int(shards.label_counts.sum()),
            "n_dropped": 0,
            "label_counts": shards.label_counts.tolist(),
            "n_mined": len(found),
        } | about
        if not len(found):
            warnings.warn(nothing_found(min_count, shards.largest), UserWarning, stacklevel=3)
        unordered = (found.unpacked(rows) for rows in found.parts())
        q = QValues(_joined((p_of(part, settings) for part in unordered), len(found)))
        ordered = in_order(found, words, _made(scratch / "sorted"))
        rows: Iterator[pl.DataFrame] = (rows_of(part, words, q, label_names, settings) for part in ordered)
        about_file = description(label_names, settings)
        if clusters and len(found):
            plain = PatternFile(scratch / "plain.parquet", label_names, settings)
            write_in_parts(rows, plain.path, about_file)
            rows = tested_anew(plain, spool, labels, clusters, memory, _made(scratch / "effects"))
        with written_whole(out) as aside:
            write_in_parts(rows, aside, about_file)
    return PatternFile(out, label_names, settings)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Give an empty folder beside a file, for what is put aside while it is made; gone at the end, however that comes.

    Raises:
        OutputError: It cannot be made, or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(path.parent) as folder:
            yield folder
    except OSError as error:
        if error.errno in _DISK_TROUBLE:
            raise output_error(error, path) from error
        raise


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _joined(parts: Iterator[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    joined = np.empty(n)
    at = 0
    for part in parts:
        joined[at : at + part.size] = part
        at += part.size
    return joined


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


# Rows of one bucket, unless there would be more buckets than that.
BUCKET = 2 * PART
_MOST_BUCKETS = 1000


def in_order(found: MinedRows, words: Words, folder: Path) -> Iterator[MinedPatterns]:
    """Give patterns by support, descending, then by tokens and gaps, at most `PART` at once; an empty part if none.

    Two passes over what was found: the first sees how supports (and, among equal ones, first tokens) are distributed,
    and so where to part the rows into buckets of about equal size; the second puts each row into its bucket on disk.

    Args:
        found: The patterns in any order.
        words: The tokens by number.
        folder: An empty folder of its own.
    """
    if not len(found):
        yield found.read()
        return
    buckets = _buckets(found, words, folder)
    for bucket in buckets:
        mined = bucket.read()
        order = words.order(mined)
        for begin in range(0, len(mined), PART):
            yield mined.take(order[begin : begin + PART])


def _buckets(found: MinedRows, words: Words, folder: Path) -> list[MinedRows]:
    keys = np.empty(len(found), np.int64)
    at = 0
    for rows in found.parts():
        keys[at : at + len(rows)] = words.coarse_order(found.unpacked(rows))
        at += len(rows)
    keys.sort()
    n_rows = max(BUCKET, -(-len(found) // _MOST_BUCKETS))
    edges = np.unique(keys[n_rows::n_rows])
    del keys
    buckets = [MinedRows(folder / f"{b}.rows", found.max_tokens, found.n_labels) for b in range(edges.size + 1)]
    for rows in found.parts():
        bucket_of = np.searchsorted(edges, words.coarse_order(found.unpacked(rows)), side="right")
        order = np.argsort(bucket_of, kind="stable")
        numbers, starts = np.unique(bucket_of[order], return_index=True)
        for number, part in zip(numbers.tolist(), np.split(rows[order], starts[1:]), strict=True):
            buckets[number].extend(part)
    return buckets
