"""Mining of corpora that do not fit in memory: tokens go to disk in shards, counting passes over these."""

from __future__ import annotations

import errno
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.label_codes import encode_labels
from goldassay.artifacts.mining import check_bounds, nothing_found
from goldassay.artifacts.pattern_rows import QValues, Words, p_of, rows_of
from goldassay.artifacts.pattern_table import description
from goldassay.artifacts.streaming.clusters import tested_anew
from goldassay.artifacts.streaming.counting import Counter
from goldassay.artifacts.streaming.files import PatternFile, write_in_parts
from goldassay.artifacts.streaming.memory import MemoryBound
from goldassay.artifacts.streaming.sorting import in_order
from goldassay.artifacts.streaming.spool import Spool, write_shards
from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.core.files import output_error, written_whole
from goldassay.core.leftovers import temporary_folder
from goldassay.core.progress import Progress, silent

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.data.tokenization import Tokenizer

_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
__all__ = ["MemoryBound", "PatternFile", "Spool", "mine_spool", "mine_stream", "scratch_beside"]


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
