"""The features of the quick probes: hashed word n-grams, and for pairs overlap and crossed words.

Every feature is present or absent. Features come in blocks (words of the hypothesis, words that are new in it,
crossed words, ...), and each block of a row is scaled to Euclidean length 1, so that the hundreds of crossed words do
not drown the few that count overlap. A probe of some texts sees the blocks made of these texts alone, so that all
texts are hashed once for every condition, seed and fold. Nothing here is learned from labels; only features that
occur in two training rows or more are kept.

Tokens are found by a fast rule of our own, not by a Treebank tokenizer: runs of letters and digits in lower case, and
each punctuation mark by itself. In scripts that are written without spaces (Chinese, Japanese kana, Thai, Lao, Khmer,
Burmese) each character is a token, so that word n-grams become character n-grams there. The stem of a word is
its first four characters.

Source: Weinberger et al. 2009 for hashed features.

Families of training rows: rows that are a stretch of another, or repeat it.

Sets of phrases (every constituent of a sentence with a label of its own) have rows whose words stand in other rows,
too. A probe that is judged on rows left out of a draw then knows their words from rows that were drawn, and looks
better and surer than it is on texts that are new. Mere copies make no families: what a probe knows of copies it is to
show, since test rows may be copies likewise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.compiled import compiled, compiled_within, workers
from goldassay.core.cores import cores
from goldassay.kernels.hashing import SALT
from goldassay.kernels.splitting import LETTER, OUTSIDE, SINGLE, code_points, number_words
from goldassay.readers.probe_feature_kernels import (
    BLOCKS_OF_PAIR,
    BLOCKS_OF_TEXT,
    LONGEST_COUNT,
    N_COUNTS,
    count_rows,
    fill_rows,
    hash_stems,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray
    from scipy import sparse

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Vowel signs and points are no letters to `re`, yet part of the word.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
# What none of these is, such as punctuation, is a token by itself, too.
_KINDS = ((re.compile(f"[{_SPACELESS}]"), SINGLE), (re.compile(rf"[\w{_MARKS}]"), LETTER), (re.compile(r"\s"), OUTSIDE))
_UNKNOWN = 255
_N_CHARACTERS = 0x110000
_ASCII = np.arange(128, dtype=np.uint32)

MIN_ROWS = 2
MAX_CROSSED = 64
# Crossed words of all training rows together: bounds memory where both texts are long.
CROSSED_BUDGET = 100_000_000
ROWS_AT_ONCE = 8192
TEXTS_AT_ONCE = 65_536
# Bits of a bucket at least, and at most: of words and stems, of word pairs, of crossed stems.
LEAST_BITS, WORD_BITS, PAIR_BITS, CROSSED_BITS = 14, 20, 22, 24


@dataclass(frozen=True)
class TokenizedTexts:
    """The texts of R roles in N rows, over one vocabulary of V words.

    Attributes:
        roles: R names.
        ids: Word numbers, role by role and row by row, (tokens,).
        offsets: Where the tokens of each text begin, and where the last one's end, (R, N + 1).
        hashes: Of each word, the same on every machine and in every process, (V,).
        stems: The stem of each word, a position in `stem_hashes`, (V,).
        stem_hashes: Of each stem.
    """

    roles: tuple[str, ...]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    stems: NDArray[np.int32]
    stem_hashes: NDArray[np.uint64]


@dataclass(frozen=True)
class Block:
    """Features of one kind, made of one text or of two.

    Attributes:
        name: What they are.
        roles: The texts they are made of.
        column_rows: How many training rows have each column, descending, (columns,).
    """

    name: str
    roles: tuple[str, ...]
    column_rows: NDArray[np.int32]


@dataclass(frozen=True)
class ProbeFeatures:
    """Features of N rows in B blocks. A row's value in a column it has is 1 / sqrt(its columns of that block).

    Attributes:
        blocks: B kinds of features.
        columns: Row after row, and within a row block after block: the columns that it has, from 0 in each block,
            (entries,).
        starts: Where each row begins in `columns`, and where the last one ends, (N + 1,).
        sizes: How many columns each row has of each block, (N, B).
        families: Of each training row which rows it goes together with, (training rows,); see `find_families`.
    """

    blocks: tuple[Block, ...]
    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    families: NDArray[np.int64] | None = None

    @property
    def longest(self) -> int:
        """How many columns a row has at most."""
        return int(np.diff(self.starts).max(initial=0))

    def widths(self, roles: Sequence[str] | None = None, most: int | None = None) -> NDArray[np.int64]:
        """How many columns of each block a probe of some texts has, from each block's first, (B,); 0 for none.

        Args:
            roles: The texts; all of them if not given. Blocks of two texts are seen where both are.
            most: Columns at most. If there are more, those that most training rows have are kept, and of equals all or
                none.
        """
        shown = [block if roles is None or set(block.roles) <= set(roles) else None for block in self.blocks]
        widths = np.array([0 if block is None else block.column_rows.size for block in shown])
        if most is None or widths.sum() <= most:
            return widths
        rows = np.sort(np.concatenate([block.column_rows for block in shown if block is not None]))[::-1]
        least = rows[most]
        return np.array([0 if block is None else int((block.column_rows > least).sum()) for block in shown])

    def matrix(self, roles: Sequence[str] | None = None) -> sparse.csr_matrix:
        """The features of some texts as a sparse matrix, float32, (N, columns)."""
        from scipy import sparse

        widths = self.widths(roles)
        seen = np.repeat(np.tile(widths > 0, len(self.sizes)), self.sizes.ravel())
        first = np.repeat(np.tile(np.cumsum(widths) - widths, len(self.sizes)), self.sizes.ravel())
        values = np.repeat((1 / np.sqrt(np.maximum(self.sizes.ravel(), 1))).astype(np.float32), self.sizes.ravel())
        ends = np.concatenate([[0], np.cumsum(self.sizes[:, widths > 0].sum(axis=1))])
        entries = (values[seen], (self.columns + first)[seen], ends)
        return sparse.csr_matrix(entries, shape=(len(self.sizes), int(widths.sum())))


def tokenize_roles(texts: Mapping[str, Sequence[str] | pl.Series]) -> TokenizedTexts:
    """Find the tokens of N texts in each role.

    Args:
        texts: Role name to its N texts; of a column few are Python objects at a time.
    """
    kinds = np.full(_N_CHARACTERS, _UNKNOWN, dtype=np.uint8)
    _learn_kinds(kinds, _ASCII)
    slots = np.full(1 << 12, -1, dtype=np.int32)
    hashes, stem_of = np.empty(1 << 10, dtype=np.uint64), [np.empty(0, dtype=np.uint64)]
    n_words, n_tokens = 0, 0
    n = len(next(iter(texts.values())))
    offsets = np.zeros((len(texts), n + 1), dtype=np.int64)
    parts: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
    for role, values in enumerate(texts.values()):
        offsets[role, 0] = n_tokens
        for start in range(0, n, TEXTS_AT_ONCE):
            characters, starts = _lowered(values[start : start + TEXTS_AT_ONCE])
            if characters.max(initial=0) > _ASCII[-1]:
                _learn_kinds(kinds, characters)
            ids, ends, new, slots, hashes, n_words = number_words(characters, starts, kinds, slots, hashes, n_words)
            offsets[role, start + 1 : start + 1 + ends.size] = n_tokens + ends
            n_tokens += ids.size
            parts.append(ids)
            stem_of.append(hash_stems(characters, new))
    stem_hashes, stems = np.unique(np.concatenate(stem_of), return_inverse=True)
    return TokenizedTexts(
        tuple(texts), np.concatenate(parts), offsets, hashes[:n_words].copy(), stems.astype(np.int32), stem_hashes
    )


def _lowered(texts: Sequence[str] | pl.Series) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all texts in lower case, and where each text starts, (N + 1,)."""
    if isinstance(texts, pl.Series):
        # ASCII, as most texts are, needs no Python object each.
        together = texts.str.join("").item()
        if together.isascii():
            found = np.frombuffer(together.lower().encode("ascii"), np.uint8).astype(np.uint32)
            # As `code_points` gives them: loops are compiled once more for what may be written to.
            found.flags.writeable = False
            return found, np.concatenate(([0], np.cumsum(texts.str.len_bytes().to_numpy().astype(np.int64))))
    return code_points([text.lower() for text in texts])


def _learn_kinds(kinds: NDArray[np.uint8], characters: NDArray[np.uint32]) -> None:
    """Fill in the kind of each character that is new."""
    seen = np.zeros(_N_CHARACTERS, dtype=np.bool_)
    seen[characters] = True
    for code in np.flatnonzero(seen & (kinds == _UNKNOWN)):
        kinds[code] = next((kind for pattern, kind in _KINDS if pattern.match(chr(code))), SINGLE)


def build_features(
    texts: TokenizedTexts, n_train: int, *, checkpoint: Callable[[], None] = lambda: None
) -> ProbeFeatures:
    """Features of all texts; of two and more also what they share and how they differ.

    Args:
        texts: All N rows: the training rows first, then those to predict.
        n_train: How many of the rows are training rows; they alone decide which features are kept.
        checkpoint: Called every few thousand rows; what it raises ends the work.
    """
    plan = _Plan.of(texts, n_train)
    with workers(cores()) as pool:
        counts = plan.count(n_train, pool, checkpoint)
        blocks, column_of = plan.keep(counts)
        del counts
        n_entries = sum(int(block.column_rows.sum()) for block in blocks)
        columns, starts, sizes = plan.fill(column_of, n_entries, pool, checkpoint)
    return ProbeFeatures(tuple(blocks), columns, starts, sizes, find_families(texts, n_train))


@dataclass(frozen=True)
class _Plan:
    """Where the buckets of each block are, and how many entries a row may have."""

    texts: TokenizedTexts
    names: tuple[tuple[str, tuple[str, ...]], ...]
    starts: NDArray[np.int64]
    bits: NDArray[np.uint64]
    salts: NDArray[np.uint64]
    caps: NDArray[np.int64]
    most: int

    @classmethod
    def of(cls, texts: TokenizedTexts, n_train: int) -> _Plan:
        lengths = np.diff(texts.offsets, axis=1)
        # Test rows have no say: what a probe is must not depend on what it predicts.
        trained = lengths[:, :n_train]
        longest = lengths.max(axis=1, initial=0)
        names: list[tuple[str, tuple[str, ...]]] = []
        bits: list[int] = []
        caps: list[int] = []
        most = 0
        for at, role in enumerate(texts.roles):
            n_tokens = int(trained[at].sum())
            names += [(f"{role} {kind}", (role,)) for kind in ("words", "word pairs", "length")]
            bits += [_bits(n_tokens, WORD_BITS), _bits(n_tokens, PAIR_BITS), _bits(LONGEST_COUNT, WORD_BITS)]
            most += 2 * int(longest[at]) + 1
        for one, two in [(i, j) for i in range(len(texts.roles)) for j in range(i + 1, len(texts.roles))]:
            pair = (texts.roles[one], texts.roles[two])
            cap = _crossing_cap(trained[one], trained[two])
            n_crossed = int((np.minimum(trained[one], cap) * np.minimum(trained[two], cap)).sum())
            kinds = ("new words", "shared words", "new stems", "shared stems", "crossed stems", "counts")
            names += [(f"{' '.join(pair)} {kind}", pair) for kind in kinds]
            words = _bits(int(trained[two].sum()), WORD_BITS)
            bits += [words] * 4 + [_bits(n_crossed, CROSSED_BITS), _bits(N_COUNTS * LONGEST_COUNT, WORD_BITS)]
            caps.append(cap)
            most += 4 * int(longest[two]) + int(min(longest[one], cap) * min(longest[two], cap)) + N_COUNTS
        assert len(names) == BLOCKS_OF_TEXT * len(texts.roles) + BLOCKS_OF_PAIR * len(caps)
        spaces = np.array([1 << each for each in bits], dtype=np.int64)
        return cls(
            texts=texts,
            names=tuple(names),
            starts=np.cumsum(spaces) - spaces,
            bits=np.array(bits, dtype=np.uint64),
            salts=np.arange(1, len(bits) + 1, dtype=np.uint64) * SALT,
            caps=np.array(caps, dtype=np.int64),
            most=most,
        )

    @property
    def n_buckets(self) -> int:
        return int(self.starts[-1]) + (1 << int(self.bits[-1]))

    def arguments(self) -> tuple[Any, Any, Any, int]:
        """What the compiled loops take; a room to work in of its own for each call."""
        texts = self.texts
        n_slots = 1 << (2 * self.most).bit_length()
        longest = int(np.diff(texts.offsets, axis=1).max(initial=0))
        words = tuple(np.empty(longest, np.int32) for _ in range(3))
        room = (
            np.zeros(n_slots, np.int64),
            np.zeros(n_slots, np.int64),
            np.zeros(1, np.int64),
            *words,
            np.zeros(texts.hashes.size, np.int64),
            np.zeros(texts.stem_hashes.size, np.int64),
        )
        given = (texts.ids, texts.offsets, texts.hashes, texts.stems, texts.stem_hashes)
        return given, (self.starts, self.bits, self.salts, self.caps), room, self.most

    def count(self, n_train: int, pool: Executor, checkpoint: Callable[[], None]) -> NDArray[np.int32]:
        """In how many training rows each bucket is, (buckets,)."""

        def work(begin: int, end: int) -> NDArray[np.int32]:
            counts = np.zeros(self.n_buckets, dtype=np.int32)
            arguments = self.arguments()
            for start in range(begin, end, ROWS_AT_ONCE):
                checkpoint()
                count_rows(start, min(end, start + ROWS_AT_ONCE), *arguments, counts)
            return counts

        # Two parts at most: each has counts of its own, a hundred megabytes.
        middle = n_train // 2 if n_train > 2 * ROWS_AT_ONCE else n_train
        parts = [pool.submit(work, begin, end) for begin, end in ((0, middle), (middle, n_train)) if begin < end]
        total = parts[0].result()
        for part in parts[1:]:
            total += part.result()
        return total

    def keep(self, counts: NDArray[np.int32]) -> tuple[list[Block], NDArray[np.int32]]:
        """The blocks, and each bucket's column within its block: those of most rows first, so that they lie close."""
        column_of = np.full(self.n_buckets, -1, dtype=np.int32)
        blocks = []
        for (name, roles), start, bits in zip(self.names, self.starts, self.bits, strict=True):
            rows = counts[start : start + (1 << int(bits))]
            kept = np.flatnonzero(rows >= MIN_ROWS)
            kept = kept[np.argsort(-rows[kept], kind="stable")]
            column_of[start + kept] = np.arange(kept.size, dtype=np.int32)
            blocks.append(Block(name, roles, rows[kept]))
        return blocks, column_of

    def fill(
        self, column_of: NDArray[np.int32], n_entries: int, pool: Executor, checkpoint: Callable[[], None]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """Columns, starts and sizes of `ProbeFeatures`; `n_entries` are those of the training rows."""
        n = self.texts.offsets.shape[1] - 1
        sizes = np.zeros((n, len(self.names)), dtype=np.int32)

        def work(start: int) -> NDArray[np.int32]:
            checkpoint()
            end = min(n, start + ROWS_AT_ONCE)
            return np.asarray(fill_rows(start, end, *self.arguments(), column_of, sizes[start:end]))

        columns = np.empty(n_entries, dtype=np.int32)
        at = 0
        # Each part is copied as soon as it is there: two copies of all would be the peak of an audit's memory.
        for part in pool.map(work, range(0, n, ROWS_AT_ONCE)):
            if at + part.size > columns.size:
                # Of the rows to predict nothing is known before.
                columns.resize(at + part.size, refcheck=False)
            columns[at : at + part.size] = part
            at += part.size
        starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=1, dtype=np.int64))])
        return columns, starts, sizes


def _bits(n: int, most: int) -> int:
    """So many that n entries have 4 buckets each or more, within bounds."""
    return min(max((4 * n).bit_length(), LEAST_BITS), most)


def _crossing_cap(one: NDArray[np.int64], two: NDArray[np.int64]) -> int:
    """How many stems of each text may be crossed, so that all training rows together stay within the budget."""
    cap = MAX_CROSSED
    while cap > 1 and int((np.minimum(one, cap) * np.minimum(two, cap)).sum()) > CROSSED_BUDGET:
        cap //= 2
    return cap


# Of so many random rows, at least this share must be a stretch of a longer row, or there are no families.
SAMPLED_ROWS, LEAST_SHARE = 2_000, 0.5
# Rows that a row is looked for in at most, the longest first.
MOST_COMPARED = 2_000


def find_families(texts: TokenizedTexts, n_train: int) -> NDArray[np.int64] | None:
    """The family of each training row, codes from 0 up, (n,); none where fewer than half of the rows are stretches.

    A row belongs to the longest row that contains it: each of its texts is a stretch of consecutive words of the same
    text there, or equal to it. Of the rows that have the rarest word of a row the 2,000 longest are looked at.

    Args:
        texts: The training rows first.
        n_train: n.
    """
    lengths = np.diff(texts.offsets[:, : n_train + 1], axis=1).sum(axis=0)
    # Longest first; of equals the first.
    order = np.argsort(-lengths, kind="stable")
    place = np.empty(n_train, dtype=np.int64)
    place[order] = np.arange(n_train)
    counts = _count_rows(texts.ids, texts.offsets, n_train, texts.hashes.size)
    rows = np.arange(n_train)
    if n_train > SAMPLED_ROWS:
        sampled = np.sort(np.random.default_rng(0).choice(n_train, SAMPLED_ROWS, replace=False))
        within = _find_longest(texts, order, place, counts, sampled)
        if np.mean(lengths[within] > lengths[sampled]) < LEAST_SHARE:
            return None
    within = _find_longest(texts, order, place, counts, rows)
    if np.mean(lengths[within] > lengths) < LEAST_SHARE:
        return None
    # The longest row that contains a row is in no longer one, but may equal an earlier one.
    while (within[within] != within).any():
        within = within[within]
    return np.unique(within, return_inverse=True)[1].astype(np.int64)


def _find_longest(
    texts: TokenizedTexts,
    order: NDArray[np.int64],
    place: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    rarest = _find_rarest(texts.ids, texts.offsets, counts, rows)
    wanted = np.zeros(counts.size, dtype=np.bool_)
    wanted[rarest[rarest >= 0]] = True
    sizes = np.where(wanted, np.minimum(counts, MOST_COMPARED), 0)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    postings = _list_rows(texts.ids, texts.offsets, order, wanted, starts)
    found: NDArray[np.int64] = _find_containing(texts.ids, texts.offsets, place, rows, rarest, starts, postings)
    return found


@compiled
def _count_rows(ids: NDArray[np.int32], offsets: NDArray[np.int64], n: int, n_words: int) -> NDArray[np.int64]:
    """In how many of the first n rows each word is, (V,)."""
    counts = np.zeros(n_words, np.int64)
    last = np.full(n_words, -1, np.int64)
    for row in range(n):
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if last[word] != row:
                    last[word] = row
                    counts[word] += 1
    return counts


@compiled
def _find_rarest(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The word of each row that fewest rows have, -1 for a row without words."""
    rarest = np.full(rows.size, -1, np.int64)
    for number in range(rows.size):
        row = rows[number]
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if rarest[number] < 0 or counts[word] < counts[rarest[number]]:
                    rarest[number] = word
    return rarest


@compiled
def _list_rows(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    starts: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The rows that have each wanted word, in the given order, as many as there is room for."""
    postings = np.empty(starts[-1], np.int32)
    filled = np.zeros(wanted.size, np.int64)
    last = np.full(wanted.size, -1, np.int64)
    for row in order:
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if not wanted[word] or last[word] == row:
                    continue
                last[word] = row
                if starts[word] + filled[word] < starts[word + 1]:
                    postings[starts[word] + filled[word]] = row
                    filled[word] += 1
    return postings


@compiled
def _find_containing(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    rows: NDArray[np.int64],
    rarest: NDArray[np.int64],
    starts: NDArray[np.int64],
    postings: NDArray[np.int32],
) -> NDArray[np.int64]:
    """The first row in order that contains each row, or the row itself."""
    found = rows.copy()
    for number in range(rows.size):
        word = rarest[number]
        if word < 0:
            continue
        row = rows[number]
        for at in range(starts[word], starts[word + 1]):
            other = postings[at]
            if place[other] >= place[row]:
                break
            if _contains(ids, offsets, other, row):
                found[number] = other
                break
    return found


@compiled_within
def _contains(ids: NDArray[np.int32], offsets: NDArray[np.int64], longer: int, row: int) -> bool:
    for role in range(offsets.shape[0]):
        begin, end = offsets[role, row], offsets[role, row + 1]
        size = end - begin
        first = offsets[role, longer]
        last = offsets[role, longer + 1] - size
        inside = False
        while first <= last and not inside:
            x = 0
            while x < size and ids[first + x] == ids[begin + x]:
                x += 1
            inside = x == size
            first += 1
        if not inside:
            return False
    return True
