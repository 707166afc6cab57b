"""A tokenized corpus on disk in shards, the vocabulary and the patterns mined beside it, and the memory left."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet
from goldassay.core.progress import Progress, silent
from goldassay.data.specimen.corpus_specimen import parse_size
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer, tokenize, tokenizer_name
from goldassay.questions.artifacts.measures.statistics import PART, MinedPatterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

# What a step takes beside what it accounts for: shards in hand, sorted copies, memory that allocators hold back.
MARGIN = 150 * 10**6
# What the process takes once all libraries and loops are loaded, and what the steps need at the very least.
_LOADED = 330 * 10**6
_LEAST_ROOM = 100 * 10**6


class MemoryBound:
    """The most that the whole process may take, interpreter and libraries included.

    Args:
        bound: Bytes, or a number with a unit: "2GB" (10^9 bytes each), "1.5 GiB" (2^30).

    Raises:
        InputError: It is no size, or leaves nothing to work with; the message says what would.
    """

    def __init__(self, bound: int | str) -> None:
        self.bytes = parse_size(bound)
        # At once and not after hours: what is still to be loaded counts as well.
        self.need(_LEAST_ROOM + max(_LOADED - resident(), 0))

    def room(self) -> int:
        """Bytes that may still be taken by arrays of known size."""
        return self.bytes - resident() - MARGIN

    def need(self, size: int, what: str = "to start with", mend: str = "") -> None:
        """Refuse to go on where there is no room for so many bytes.

        Raises:
            InputError: It says the least bound that would do.
        """
        if self.room() < size:
            least = resident() + MARGIN + size
            raise InputError(
                f"a memory of {shown(self.bytes)} is too small {what}",
                mend=f"give at least {shown(least, up=True)}{mend}",
            )


def shown(size: int, up: bool = False) -> str:
    """Bytes for reading; with `up` rounded up, so that what is shown does suffice."""
    unit = 10**7 if size >= 10**8 else 10**6
    size = (-(-size // unit) if up else size // unit) * unit
    return f"{size // 10**6} MB" if size < 10**9 else f"{size / 10**9:g} GB"


def resident() -> int:
    """Bytes of memory that the process holds; where the system does not tell, the most that it has held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return _most_held()
    import os

    return pages * os.sysconf("SC_PAGE_SIZE")


def _most_held() -> int:
    if sys.platform == "win32":
        # Windows tells it by libraries only: what is usual after loading ours.
        return 350 * 10**6
    import resource

    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024


class MinedRows:
    """A file of patterns as numbers: M tokens, M-1 gaps and K counts each.

    Args:
        path: Where to write it.
        max_tokens: M.
        n_labels: K.
    """

    def __init__(self, path: Path, max_tokens: int, n_labels: int) -> None:
        self.max_tokens, self.n_labels = max_tokens, n_labels
        self._path = path
        self._lock = threading.Lock()
        self._n = 0
        path.write_bytes(b"")

    def __len__(self) -> int:
        return self._n

    def append(self, tokens: NDArray[np.int32], gaps: NDArray[np.int8], counts: NDArray[np.int32]) -> None:
        """Add patterns of any one length up to M: tokens (V,L), gaps (V,L-1), counts (V,K)."""
        length = tokens.shape[1]
        rows = np.full((tokens.shape[0], self._width), -1, np.int32)
        rows[:, :length] = tokens
        rows[:, self.max_tokens : self.max_tokens + length - 1] = gaps
        rows[:, 2 * self.max_tokens - 1 :] = counts
        self.extend(rows)

    def extend(self, rows: NDArray[np.int32]) -> None:
        """Add rows as they stand in the file."""
        with self._lock, self._path.open("ab") as file:
            file.write(np.ascontiguousarray(rows).data)
            self._n += rows.shape[0]

    def parts(self) -> Iterator[NDArray[np.int32]]:
        """The rows as they stand, at most `PART` at once."""
        for begin in range(0, self._n, PART):
            n = min(PART, self._n - begin) * self._width
            yield np.fromfile(self._path, np.int32, n, offset=4 * begin * self._width).reshape(-1, self._width)

    def read(self) -> MinedPatterns:
        """All of them at once."""
        return self.unpacked(np.fromfile(self._path, np.int32).reshape(-1, self._width))

    def unpacked(self, rows: NDArray[np.int32]) -> MinedPatterns:
        """Rows as tokens, gaps and counts."""
        M = self.max_tokens
        return MinedPatterns(rows[:, :M], rows[:, M : 2 * M - 1].astype(np.int8), rows[:, 2 * M - 1 :])

    @property
    def _width(self) -> int:
        return 2 * self.max_tokens - 1 + self.n_labels


# Distinct tokens held in memory; more go to disk.
MOST_HELD = 1 << 20


class VocabularyCount:
    """Adds up the counts of tokens shard by shard.

    Counts are kept in memory until there are too many distinct tokens, then put aside on disk. What was put aside is
    added up by parts of the vocabulary, so that a part fits in memory.

    Args:
        folder: Where to put counts aside.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[pl.DataFrame] = []
        self._n_held = 0
        self._aside: list[Path] = []
        self._n_aside = 0

    def add(self, tokens: Sequence[str], support: NDArray[np.int64]) -> None:
        """Add one shard's distinct tokens with their counts."""
        frame = pl.DataFrame({"token": pl.Series(tokens, dtype=pl.String), "support": support})
        self._held.append(frame.filter(pl.col("support") > 0))
        self._n_held += self._held[-1].height
        if self._n_held <= MOST_HELD:
            return
        self._held = [_added(self._held)]
        self._n_held = self._held[0].height
        # Where most tokens are new, adding up anew for each shard would take quadratic time.
        if self._n_held > MOST_HELD // 2:
            path = self._folder / f"vocabulary-{len(self._aside)}"
            write_parquet(self._held[0], path)
            self._aside.append(path)
            self._n_aside += self._n_held
            self._held, self._n_held = [], 0

    def frequent(self, min_count: int) -> tuple[list[str], int]:
        """The tokens in at least `min_count` sentences, the most frequent first, and the largest count of any."""
        parts = []
        largest = 0
        for part in self._parts():
            largest = max(largest, int(part["support"].to_numpy().max(initial=0)))
            parts.append(part.filter(pl.col("support") >= min_count))
        found = pl.concat(parts).sort("support", "token", descending=[True, False])
        return found["token"].to_list(), largest

    def _parts(self) -> Iterator[pl.DataFrame]:
        if not self._aside:
            yield _added(self._held)
            return
        n_parts = 1 + 2 * self._n_aside // MOST_HELD
        for number in range(n_parts):
            mine = pl.col("token").hash() % n_parts == number
            yield _added(
                [frame.filter(mine) for frame in self._held]
                + [pl.scan_parquet(path).filter(mine).collect() for path in self._aside]
            )


def _added(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    if not frames:
        return pl.DataFrame(schema={"token": pl.String, "support": pl.Int64})
    return pl.concat(frames).group_by("token").agg(pl.col("support").sum())


# Sentences, and characters of text, from which on a shard is full.
SHARD_SENTENCES = 1 << 18
SHARD_CHARACTERS = 1 << 24
# Sentences taken in at once, so that a long list of long texts also becomes several shards.
STEP = 1 << 13


class SpooledExample(NamedTuple):
    """A sentence as it was added, its code and its tokens."""

    example_id: str
    text: str
    code: int
    tokens: list[str]


class Spool:
    """Sentences as token numbers, each with a code (of its label, say), written to a folder as they come.

    Each shard numbers its tokens by itself, so that no vocabulary of the whole corpus is ever in memory; which tokens
    are frequent, and their numbers, is found by merging the shards' counts afterwards.

    Args:
        folder: An empty folder of its own.
        tokenizer: As for `tokenize`.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer_name(tokenizer)
        self.n_sentences = 0
        self._tokenizer = tokenizer
        self._folder = folder
        self._n_shards = 0
        self._texts: list[str] = []
        self._ids: list[str] = []
        self._codes: list[NDArray[np.int32]] = []
        self._n_characters = 0
        self._sizes: list[int] = []

    def add(self, texts: Sequence[str], codes: NDArray[np.int32], ids: Sequence[str] | None = None) -> None:
        """Add sentences with their codes; a negative code leaves a sentence out.

        With ids (all or none) the texts are kept as well, so that `examples` can show some.
        """
        for begin in range(0, len(texts), STEP):
            part, own = texts[begin : begin + STEP], codes[begin : begin + STEP]
            kept = [text for text, code in zip(part, own.tolist(), strict=True) if code >= 0]
            if ids is not None:
                named = zip(ids[begin : begin + STEP], own.tolist(), strict=True)
                self._ids += [name for name, code in named if code >= 0]
            self._codes.append(own[own >= 0])
            self._texts += kept
            self._n_characters += sum(map(len, kept))
            if len(self._texts) >= SHARD_SENTENCES or self._n_characters >= SHARD_CHARACTERS:
                self.close_shard()

    def close_shard(self) -> None:
        """Write what was added since the last shard."""
        if not self._texts:
            return
        corpus = tokenize(self._texts, self._tokenizer)
        codes = np.concatenate(self._codes).astype(np.int32)
        shard = self._folder / f"{self._n_shards}"
        if self._ids:
            shown = pl.DataFrame({"id": self._ids, "text": self._texts}, schema={"id": pl.String, "text": pl.String})
            write_parquet(shown, shard.with_suffix(".texts"), compression="lz4")
            del shown
        self._texts, self._ids, self._codes, self._n_characters = [], [], [], 0
        write_array(shard.with_suffix(".ids"), corpus.ids)
        write_array(shard.with_suffix(".ends"), corpus.offsets[1:].astype(np.int32))
        write_array(shard.with_suffix(".codes"), codes)
        write_parquet(
            pl.DataFrame({"token": pl.Series(corpus.vocabulary, dtype=pl.String)}), shard.with_suffix(".tokens")
        )
        self._n_shards += 1
        self._sizes.append(len(codes))
        self.n_sentences += len(codes)
        if self.n_sentences >= 2**31 - 1:
            raise InputError(f"{self.n_sentences:,} sentences are too many", mend="mine a part of them")

    def __iter__(self) -> Iterator[tuple[TokenizedCorpus, NDArray[np.int32]]]:
        """The shards, each with its codes."""
        for number in range(self._n_shards):
            yield self._shard(number)

    def codes(self) -> NDArray[np.int32]:
        """The codes of all sentences."""
        found = [read_array((self._folder / f"{at}").with_suffix(".codes"), np.int32) for at in range(self._n_shards)]
        return np.concatenate(found) if found else np.empty(0, np.int32)

    def texts(self, positions: NDArray[np.int64]) -> pl.Series:
        """The texts at ascending positions as they were added, which must have been with ids."""
        starts = np.concatenate(([0], np.cumsum(self._sizes)))
        shards = np.searchsorted(starts, positions, side="right") - 1
        parts = [pl.Series("text", [], dtype=pl.String)]
        for number in np.unique(shards).tolist():
            own = positions[shards == number] - int(starts[number])
            frame = pl.scan_parquet(self._folder / f"{number}.texts").select(pl.col("text").gather(own)).collect()
            parts.append(frame["text"])
        return pl.concat(parts)

    def examples(self, positions: Sequence[int]) -> Iterator[SpooledExample]:
        """Sentences at ascending positions among all that were kept; they must have been added with ids."""
        starts = np.concatenate(([0], np.cumsum(self._sizes)))
        shards = np.searchsorted(starts, positions, side="right") - 1
        for number in np.unique(shards).tolist():
            own = [position - int(starts[number]) for position in np.asarray(positions)[shards == number].tolist()]
            corpus, codes = self._shard(number)
            shown = pl.scan_parquet(self._folder / f"{number}.texts").select(pl.all().gather(own)).collect()
            for at, (name, text) in zip(own, shown.iter_rows(), strict=True):
                yield SpooledExample(name, text, int(codes[at]), corpus.sentence(at))

    def _shard(self, number: int) -> tuple[TokenizedCorpus, NDArray[np.int32]]:
        shard = self._folder / f"{number}"
        ends = read_array(shard.with_suffix(".ends"), np.int32)
        corpus = TokenizedCorpus(
            read_array(shard.with_suffix(".ids"), np.int32),
            np.concatenate(([0], ends)).astype(np.int64),
            tuple(pl.read_parquet(shard.with_suffix(".tokens"))["token"].to_list()),
            self.tokenizer,
        )
        return corpus, read_array(shard.with_suffix(".codes"), np.int32)

    def __len__(self) -> int:
        return self._n_shards


@dataclass(frozen=True)
class Shards:
    """The sentences as `words` of frequent tokens only, in shards on disk; see `pattern_counts`.

    Attributes:
        folder: Where they are.
        sizes: Sentences of each.
        frequent: Token of each frequent rank.
        occurrences: How often each occurs (F,).
        n_labels: K.
        label_counts: Sentences of each label, those without a frequent token included (K,).
        largest: The largest count of any token.
    """

    folder: Path
    sizes: list[int]
    frequent: list[str]
    occurrences: NDArray[np.int64]
    n_labels: int
    label_counts: NDArray[np.int64]
    largest: int

    @property
    def label_bits(self) -> int:
        """Bits that a label takes."""
        return max(1, (self.n_labels - 1).bit_length())

    def words(self, shard: int) -> NDArray[np.int32]:
        """Of one shard."""
        return read_array(self.folder / f"{shard}.words", np.int32)

    def labels(self, shard: int) -> NDArray[np.int32]:
        """Of one shard's sentences."""
        return read_array(self.folder / f"{shard}.labels", np.int32)

    def rewrite(self, shard: int, words: NDArray[np.int32]) -> None:
        """Put other words of the same shape in their place."""
        write_array(self.folder / f"{shard}.words", words)


def write_shards(
    spool: Spool, folder: Path, labels: NDArray[np.int32], n_labels: int, min_count: int, progress: Progress = silent
) -> Shards:
    """Find the frequent tokens of the sentences that have a label, and write these as words.

    Args:
        spool: The corpus.
        folder: An empty folder of its own.
        labels: The label of each code of the spool, -1 where its sentences are left out.
        n_labels: K.
        min_count: Fewest sentences.
        progress: Told how many shards are done.

    Raises:
        InputError: There are too many frequent tokens.
    """
    from goldassay.kernels.pattern_counts import END, RARE, beginnings, count_tokens, length_of, write_words

    counted = VocabularyCount(folder)
    for number, (corpus, codes) in enumerate(spool, start=1):
        chosen = _with_label(corpus, labels[codes] >= 0)
        counted.add(corpus.vocabulary, count_tokens(chosen.ids, chosen.offsets, len(corpus.vocabulary))[0])
        progress(number, 2 * len(spool))
    frequent, largest = counted.frequent(min_count)
    if len(frequent) >= END:
        raise InputError(f"{len(frequent):,} tokens are frequent enough, too many", mend="raise min_count")
    ranks = {token: rank for rank, token in enumerate(frequent)}
    sizes, label_counts = [], np.zeros(n_labels, np.int64)
    occurrences = np.zeros(len(frequent), np.int64)
    for number, (corpus, codes) in enumerate(spool):
        own = labels[codes]
        label_counts += np.bincount(own[own >= 0], minlength=n_labels)
        rank = np.array([ranks.get(token, RARE) for token in corpus.vocabulary], np.int32)
        # Sentences that begin alike stand together, as when all are in memory: counting mostly waits for memory.
        order = np.argsort(beginnings(corpus.ids, corpus.offsets, rank))
        order = order[own[order] >= 0]
        words = np.empty(length_of(0, order.size, order, corpus.offsets), np.int32)
        occurrences += write_words(0, order.size, 0, order, corpus.ids, corpus.offsets, rank, len(frequent), words)
        write_array(folder / f"{number}.words", words)
        write_array(folder / f"{number}.labels", own[order])
        sizes.append(order.size)
        progress(len(spool) + number + 1, 2 * len(spool))
    return Shards(folder, sizes, frequent, occurrences, n_labels, label_counts, largest)


def _with_label(corpus: TokenizedCorpus, kept: NDArray[np.bool_]) -> TokenizedCorpus:
    if bool(kept.all()):
        return corpus
    lengths = np.diff(corpus.offsets)
    offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
    return TokenizedCorpus(corpus.ids[np.repeat(kept, lengths)], offsets, corpus.vocabulary, corpus.tokenizer)


def write_array(path: Path, values: NDArray[np.generic]) -> None:
    """Write the bytes of an array; unlike `tofile`, a full disk is told as such."""
    with path.open("wb") as file:
        file.write(np.ascontiguousarray(values).data)


def read_array(path: Path, kind: type[np.generic]) -> NDArray[np.int32]:
    """Read what `write_array` wrote."""
    return np.fromfile(path, kind)
