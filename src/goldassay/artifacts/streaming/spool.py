"""A tokenized corpus on disk, in shards; only one shard at a time is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.artifacts.streaming.vocabulary import VocabularyCount
from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet
from goldassay.core.progress import Progress, silent
from goldassay.data.tokenization import TokenizedCorpus, Tokenizer, tokenize, tokenizer_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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
