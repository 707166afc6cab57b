"""One pass over a corpus: shards are scanned here or on a cluster, kept, and merged to the same result in any order."""

from __future__ import annotations

import hashlib
import json
import os
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.compiled import workers
from goldassay.core.cores import connected, cores, require_cluster
from goldassay.core.errors import InputError, option
from goldassay.core.files import sweep, temporary_folder, write_parquet, written_whole
from goldassay.core.numbers import count
from goldassay.core.progress import Progress, silent
from goldassay.data.column_names import TEXTS
from goldassay.data.reading import open_source
from goldassay.kernels.words import RULES
from goldassay.questions.overlap.measures import TRAINING
from goldassay.questions.overlap.search.confirmation import Confirmation, union_of
from goldassay.questions.overlap.search.corpus import SHARD, Corpus, CorpusFile, Shard, find_corpus
from goldassay.questions.overlap.search.reading import TEXT_FIELD, describe_fields, fields_of
from goldassay.questions.overlap.search.shard import MATCHES, MOST_NAMED, MOST_PLACES, ShardResult, scan_shard
from goldassay.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from distributed import Client
    from numpy.typing import NDArray

    from goldassay.questions.overlap.search.sought import Sought


class CorpusChoice(NamedTuple):
    """A corpus beside the training part.

    Attributes:
        places: Files, folders and patterns.
        field: The field of its text.
    """

    places: tuple[str, ...]
    field: str = TEXT_FIELD

    def check(self) -> None:
        """Look for the corpus before hours are spent on other questions.

        Raises:
            InputError: There is nothing at a place.
        """
        if self.places:
            find_corpus(self.places)
            fields_of(self.field)


@contextmanager
def placed_corpus(corpus: Any) -> Iterator[list[str]]:
    """The paths of a corpus: of one path or several, of a table in memory, or of several.

    Raises:
        InputError: Something is neither a path nor a table.
    """
    given = [] if corpus is None else [corpus]
    if isinstance(corpus, (list, tuple)) and not (corpus and isinstance(corpus[0], Mapping)):
        given = list(corpus)
    with temporary_folder() as folder:
        places: list[str] = []
        for number, each in enumerate(given, start=1):
            if isinstance(each, (str, os.PathLike)):
                places.append(os.fspath(each))
                continue
            places.append(str(folder / ("corpus.arrow" if len(given) == 1 else f"corpus-{number}.arrow")))
            open_source(each, "corpus").table.frame.write_ipc(places[-1])
        yield places


@dataclass(frozen=True)
class ScanResult:
    """What a corpus has.

    Attributes:
        matches: The best places of each item, the best first; `row` from 1, -1 where a text has no rows.
        n_found: Of each item the documents with 20 % of it, (N,).
        n_holding: Those with 80 %, (N,).
        rivals: Of items whose question stands in documents with rivals of the answer a bit for each rival.
        union: Share of each item that n-grams of any documents cover, or of rows that follow each other, (N,).
        n_documents: Documents with text.
        n_without_text: Documents without any of the fields, or with empty ones.
        n_unread: Documents without any of the fields: their text is elsewhere.
        n_emptied: Documents whose fields are empty, and others hold texts.
        n_unread_bytes: Bytes of these.
        n_bytes: Bytes that were scanned, unpacked.
        n_broken_lines: Lines that are no JSON objects.
        broken: Files that were not read to their end, and lines that are no JSON, with the reason.
        by_file: Of each file documents with text, those without, and bytes that were scanned, (F, 3).
        fields: Those that hold the text.
        n_with: Of each file the lines or rows that have each of them, (F, K).
        names: Of each file the fields of its first line or row.
        unread: Fields with texts of 8 words that were not read, and the bytes of these.
        n_kept: Shards whose result an earlier search left, of `n_shards`.
    """

    matches: pl.DataFrame
    n_found: NDArray[np.int64]
    n_holding: NDArray[np.int64]
    rivals: Mapping[int, int]
    union: NDArray[np.float64]
    n_documents: int
    n_without_text: int
    n_unread: int
    n_emptied: int
    n_unread_bytes: int
    n_bytes: int
    n_broken_lines: int
    broken: tuple[tuple[str, str], ...]
    by_file: NDArray[np.int64]
    fields: tuple[str, ...]
    n_with: NDArray[np.int64]
    names: tuple[tuple[str, ...], ...]
    unread: Mapping[str, int]
    n_kept: int = 0
    n_shards: int = 0


def scan_corpus(
    sought: Sought,
    corpus: Corpus,
    fields: Sequence[str] = ("text",),
    *,
    keep_in: Path | None = None,
    n_workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = silent,
    shard_size: int = SHARD,
) -> ScanResult:
    """Search every document of a corpus, on all cores, or on the workers of a scheduler.

    Args:
        sought: What is sought.
        corpus: The files.
        fields: Of JSON and Parquet, those that hold the text.
        keep_in: Where the results of shards are kept, so that a scan that was killed goes on there.
        n_workers: Threads; by default one a core.
        scheduler: Address of a dask scheduler, whose workers then search; the result is the same.
        progress: Told of bytes as they lie.
        shard_size: Bytes of a shard; the result does not depend on it.

    Raises:
        InputError: Nothing of the corpus can be read.
    """
    shards = corpus.shards(shard_size)
    kept = KeptShards(keep_in, "" if keep_in is None else sought.digest, fields)
    total = sum(file.size for file in corpus.files)
    done: dict[int, int] = {}

    def report_place(number: int, place: int) -> None:
        done[number] = place - shards[number].begin
        progress(sum(done.values()), total)

    results: dict[int, ShardResult] = {}

    def finished(number: int, found: ShardResult) -> None:
        kept.save(corpus.files[shards[number].file], shards[number], found)
        results[number] = found
        report_place(number, shards[number].end)

    for number, shard in enumerate(shards):
        found = kept.load(corpus.files[shard.file], shard)
        if found is not None:
            results[number] = found
            report_place(number, shard.end)
    missing = [
        (number, corpus.files[shard.file], shard) for number, shard in enumerate(shards) if number not in results
    ]
    if missing and scheduler is not None:
        scan_on_cluster(sought, missing, fields, scheduler, finished)
    elif missing:
        confirmation = Confirmation(sought)
        _ = sought.tables
        with workers(n_workers or cores()) as pool:
            tasks = {
                pool.submit(scan_shard, confirmation, file, shard, fields, partial(report_place, number)): number
                for number, file, shard in missing
            }
            for task in as_completed(tasks):
                finished(tasks[task], task.result())
    merged = merge(sought, corpus, fields, [results[number] for number in range(len(shards))])
    return replace(merged, n_kept=len(shards) - len(missing), n_shards=len(shards))


def merge(sought: Sought, corpus: Corpus, fields: Sequence[str], results: Sequence[ShardResult]) -> ScanResult:
    """Put the results of all shards together, in the order of the shards.

    Raises:
        InputError: Nothing of the corpus could be read.
    """
    n_found, n_holding = np.zeros((2, sought.n_items), np.int64)
    rivals: dict[int, int] = {}
    is_found = np.zeros(sought.window_text.size, bool)
    lines = [0] * len(corpus.files)
    by_file, n_with = np.zeros((len(corpus.files), 3), np.int64), np.zeros((len(corpus.files), len(fields)), np.int64)
    names: list[list[str]] = [[] for _ in corpus.files]
    unread: dict[str, int] = {}
    matches = []
    for each in results:
        for name, n in each.unread.items():
            unread[name] = unread.get(name, 0) + n
        for counts, of in ((n_found, each.n_found), (n_holding, each.n_holding)):
            for item, n in of.items():
                counts[item] += n
        for item, bits in each.rivals.items():
            rivals[item] = rivals.get(item, 0) | bits
        is_found[each.windows] = True
        # Rows count from 1 in the whole file.
        row = pl.when(pl.col("row") >= 0).then(pl.col("row") + lines[each.file] + 1).otherwise(-1)
        matches.append(each.matches.with_columns(row=row))
        lines[each.file] += each.n_lines
        by_file[each.file] += (each.n_documents, each.n_without_text, each.n_bytes)
        n_with[each.file] += each.n_with or [0]
        names[each.file] = names[each.file] or each.fields
    broken = [*corpus.broken, *_broken(corpus, fields, results)]
    n_documents, n_without_text, n_bytes = by_file.sum(axis=0).tolist()
    own = [each for each in results if corpus.files[each.file].name != TRAINING]
    if (
        any(each.n_documents or each.n_unread for each in own)
        and not any(each.has_letters for each in own)
        and any(map(str.isalpha, chain.from_iterable(word for text in sought.texts for word in text.words)))
    ):
        name = corpus.files[own[0].file].name
        raise InputError("no document of the corpus has letters, as the items do", file=name, mend="give texts")
    if not n_documents:
        name, why = broken[0] if broken else (corpus.files[0].name, "it has no documents")
        mend = None if ": " in why else "give files that can be read"
        if " text in " in why and mend:
            known = next((own for own in names if own), ())
            text = next((field for field in known if field in TEXTS), known[-1] if known else "")
            # Several texts of a row, such as an instruction and its output, are one document.
            texts = next(("+".join(each.unread) for each in results if each.unread), text)
            named = option("field", texts or "COLUMN")
            mend = "its documents are empty: give others" if text in fields else f"name its text, as in {named}"
        raise InputError(f"nothing of the corpus could be read: {why}", file=name, mend=mend)
    union = np.zeros(sought.n_items)
    for item, share in union_of(sought, np.flatnonzero(is_found)).items():
        union[item] = share
    together = pl.concat([pl.DataFrame(schema=MATCHES), *matches]).sort(
        ["item", "rank", "file", "row", "offset"], descending=[False, True, False, False, False]
    )
    return ScanResult(
        matches=together.group_by("item", maintain_order=True).head(MOST_PLACES),
        n_found=n_found,
        n_holding=n_holding,
        rivals=rivals,
        union=union,
        n_documents=n_documents,
        n_without_text=n_without_text,
        n_unread=sum(each.n_unread for each in results),
        n_emptied=sum(each.n_emptied for each in results),
        n_unread_bytes=sum(each.n_unread_bytes for each in results),
        n_bytes=n_bytes,
        n_broken_lines=sum(each.n_broken for each in results),
        broken=tuple(broken),
        by_file=by_file,
        fields=tuple(fields),
        n_with=n_with,
        names=tuple(map(tuple, names)),
        unread=unread,
    )


def _broken(corpus: Corpus, fields: Sequence[str], results: Sequence[ShardResult]) -> list[tuple[str, str]]:
    """What of the files could not be read, in sentences' parts."""
    found = []
    for number, file in enumerate(corpus.files):
        own = [each for each in results if each.file == number]
        if error := next((each.error for each in own if each.error), ""):
            found.append((file.name, error))
        n_broken, lines, before = sum(each.n_broken for each in own), [], 0
        for each in own:
            lines += [before + line + 1 for line in each.broken]
            before += each.n_lines
        if n_broken:
            named = ", ".join(map(str, lines[:MOST_NAMED])) + (", ..." if n_broken > MOST_NAMED else "")
            said = "1 line is no JSON object" if n_broken == 1 else f"{count(n_broken)} lines are no JSON objects"
            found.append((file.name, f"{said} (line {named})"))
        without = sum(each.n_without_text for each in own)
        if without and not sum(each.n_documents for each in own):
            names = next((each.fields for each in own if each.fields), [])
            there = f"; the fields are {', '.join(map(repr, names))}" if names else ""
            found.append((file.name, f"no line has text in {describe_fields(fields)}{there}"))
    return found


# Of what a shard's result has, and of what is read: a kept "nothing" would come back where texts were passed over.
_FORM = 9
_COUNTS = (
    "n_documents",
    "n_without_text",
    "n_unread",
    "n_emptied",
    "n_unread_bytes",
    "n_lines",
    "n_bytes",
    "n_broken",
    "broken",
    "fields",
    "unread",
    "has_letters",
    "n_with",
    "error",
)


class KeptShards:
    """The folder of finished shards.

    A shard is known by what was sought, the rules for words, its file's place, size and times of change, and its range
    of bytes with a sample of them: some stores give every file one time, and a copy may take over the old one.

    Args:
        folder: Where they lie; None keeps nothing.
        digest: Of what is sought.
        fields: Those that hold the text.
    """

    def __init__(self, folder: Path | None, digest: str, fields: Sequence[str]) -> None:
        self._folder = folder
        if folder is not None:
            # Of a search that was killed while it wrote a shard, and that may go on at once.
            sweep(folder, age=0)
        self._common = [__version__, _FORM, RULES, digest, list(fields)]
        # As the file was before its scan: if it changes meanwhile, the result is of no later search.
        self._paths: dict[tuple[Path, int], Path] = {}

    def _path(self, file: CorpusFile, shard: Shard) -> Path:
        assert self._folder is not None
        if (file.path, shard.begin) not in self._paths:
            place, span = str(file.path.resolve()), (shard.begin, shard.end)
            key = [*self._common, place, file.size, *_times_of(file.path), *span, _sample_of(file.path, *span)]
            name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
            self._paths[file.path, shard.begin] = self._folder / f"{name}.parquet"
        return self._paths[file.path, shard.begin]

    def load(self, file: CorpusFile, shard: Shard) -> ShardResult | None:
        """The result of a shard that was finished before; None where there is none that can be read."""
        if self._folder is None:
            return None
        path = self._path(file, shard)
        if not path.is_file():
            return None
        try:
            said = json.loads(pl.read_parquet_metadata(path)["shard"])
            matches = pl.read_parquet(path)
            if matches.columns != list(MATCHES):
                return None
        except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):
            return None
        return ShardResult(
            shard.file,
            **{name: said[name] for name in _COUNTS},
            n_found={int(item): n for item, n in said["n_found"]},
            n_holding={int(item): n for item, n in said["n_holding"]},
            rivals={int(item): int(bits, 16) for item, bits in said["rivals"]},
            windows=np.array(said["windows"], np.int64),
            matches=matches.with_columns(file=pl.lit(shard.file, pl.Int64)),
        )

    def save(self, file: CorpusFile, shard: Shard, found: ShardResult) -> None:
        """Keep a shard's result, unless its file could not be read to the end."""
        if self._folder is None or found.error:
            return
        said = {name: getattr(found, name) for name in _COUNTS} | {
            "n_found": sorted(found.n_found.items()),
            "n_holding": sorted(found.n_holding.items()),
            "rivals": [(item, f"{bits:x}") for item, bits in sorted(found.rivals.items())],
            "windows": found.windows.tolist(),
        }
        with written_whole(self._path(file, shard)) as aside:
            write_parquet(found.matches, aside, metadata={"shard": json.dumps(said)})


def _times_of(path: Path) -> tuple[int, int]:
    known = path.stat()
    # A time of change can be set, that of the entry cannot.
    return known.st_mtime_ns, known.st_ctime_ns


_PIECE = 1 << 12
_PIECES = 256


def _sample_of(path: Path, begin: int, end: int) -> str:
    """SHA-256 of pieces at even distances from the first to the last of a range, and of what follows its end."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for at in np.linspace(begin, end, _PIECES).astype(np.int64).tolist():
            file.seek(at)
            digest.update(file.read(_PIECE))
    return digest.hexdigest()


# Lost workers that a shard outlives.
_TRIES = 3
# How long no worker may be there before the search ends; what is done is kept.
PATIENCE = 60.0
_POLL = 0.05
# The tables of one search take a second to make: a worker makes them once.
_made: dict[str, Confirmation] = {}


def scan_on_cluster(
    sought: Sought,
    shards: Sequence[tuple[int, CorpusFile, Shard]],
    fields: Sequence[str],
    scheduler: str,
    finished: Callable[[int, ShardResult], None],
) -> None:
    """Scan shards on the workers of a scheduler, which must see the files under the same paths.

    Args:
        sought: What is sought.
        shards: (number, file, range of bytes) of each.
        fields: Those that hold the text.
        scheduler: Its address, or the path of a scheduler file.
        finished: Told of each result as it comes, by the shard's number.

    Raises:
        InputError: The scheduler does not answer, has no workers, or has lost them all.
        MissingDependencyError: The extra `cluster` is not installed.
    """
    require_cluster()
    with connected(scheduler) as client:
        try:
            _hand_out(client, sought, shards, fields, finished)
        except OSError as error:
            raise _lost(scheduler) from error
        except _NoWorkersError as error:
            raise _lost(scheduler) from error


class _NoWorkersError(Exception):
    pass


def _lost(scheduler: str) -> InputError:
    return InputError(
        f"the scheduler at {scheduler} has lost all its workers",
        mend=f"start some, and search again; with {option('out', 'DIR')} what is done is kept",
    )


def _hand_out(
    client: Client,
    sought: Sought,
    shards: Sequence[tuple[int, CorpusFile, Shard]],
    fields: Sequence[str],
    finished: Callable[[int, ShardResult], None],
) -> None:
    """Hand all shards to workers, and take results as they come.

    Raises:
        OSError: The scheduler or the last worker went away.
        _NoWorkersError: No worker came back.
    """
    # Not part of each task's arguments: it is sent to each worker once.
    (handed,) = client.scatter([sought], broadcast=True)
    by_number = {number: (file, shard) for number, file, shard in shards}
    tries = dict.fromkeys(by_number, 0)

    def hand(number: int) -> Any:
        file, shard = by_number[number]
        tries[number] += 1
        there = replace(file, path=file.path.resolve())
        return client.submit(_scan, handed, there, shard, tuple(fields), retries=_TRIES, pure=False)

    waiting = {hand(number): number for number in by_number}
    again: list[int] = []
    alone_since: float | None = None
    try:
        while waiting or again:
            settled = [each for each in waiting if each.done()]
            for each in settled:
                number = waiting.pop(each)
                found, why = _result_of(each)
                if found is None and tries[number] < _TRIES:
                    again.append(number)
                else:
                    failed = ShardResult(by_number[number][1].file, error=f"its workers failed: {why}")
                    finished(number, found or failed)
            if client.scheduler_info()["workers"]:
                alone_since = None
                if again and handed.status != "finished":
                    (handed,) = client.scatter([sought], broadcast=True)
                waiting |= {hand(number): number for number in again}
                again = []
            else:
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > PATIENCE:
                    raise _NoWorkersError
            if not settled:
                time.sleep(_POLL)
    finally:
        client.cancel(list(waiting))


def _result_of(future: Any) -> tuple[ShardResult | None, str]:
    """The result of a task that is done, or why there is none, such as that its worker took it along."""
    if future.status != "finished":
        lost = future.status in ("cancelled", "lost")
        return None, "they were lost" if lost else " ".join(str(future.exception()).split())[:200]
    try:
        return future.result(), ""
    except (Exception, CancelledError) as error:
        return None, " ".join(str(error).split())[:200]


def _scan(sought: Sought, file: CorpusFile, shard: Shard, fields: tuple[str, ...]) -> ShardResult:
    """Scan one shard on a worker."""
    known = _made.get(sought.digest)
    if known is None:
        _made.clear()
        known = _made[sought.digest] = Confirmation(sought)
    return scan_shard(known, file, shard, fields)
