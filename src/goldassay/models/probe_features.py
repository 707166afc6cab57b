"""The features of the quick probes: hashed word n-grams, and for pairs overlap and crossed words.

Every feature is present or absent. Features come in blocks (words of the hypothesis, words that are new in it,
crossed words, ...), and each block of a row is scaled to Euclidean length 1, so that the hundreds of crossed words do
not drown the few that count overlap. Nothing here is learned from labels; only features that occur in two
training rows or more are kept, so the matrices stay narrow.

Tokens are found by a fast rule of our own, not by a Treebank tokenizer: runs of letters and digits in lower case, and
each punctuation mark by itself. In scripts that are written without spaces (Chinese, Japanese kana, Thai, Lao, Khmer,
Burmese) each character is a token, so that word n-grams become character n-grams there. The stem of a word is
its first four characters.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Vowel signs and points are no letters to `re`, yet part of the word.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
_TOKEN = re.compile(rf"[{_SPACELESS}]|(?:(?![{_SPACELESS}])[\w{_MARKS}])+|[^\w\s]")

STEM_LENGTH = 4
BUCKET_BITS = 22
MIN_ROWS = 2
MAX_CROSSED = 64
# Crossed words of all rows together: bounds memory where both texts are long.
CROSSED_BUDGET = 30_000_000
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class TokenIds:
    """Tokens of N texts as positions in a vocabulary: ids (tokens,), and where each text begins, offsets (N+1,)."""

    ids: Positions
    offsets: Positions

    def rows(self, start: int, stop: int) -> TokenIds:
        """The texts start to stop."""
        first, last = self.offsets[start], self.offsets[stop]
        return TokenIds(self.ids[first:last], self.offsets[start : stop + 1] - first)

    def owners(self) -> Positions:
        """The text each token belongs to, (tokens,)."""
        return np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class TokenizedTexts:
    """The texts of all roles, over one vocabulary of V words.

    Attributes:
        roles: Role name to its tokens; all of N texts.
        word_hashes: (V,), the same on every machine and in every process.
        stems: The stem of each word, positions in `stem_hashes`, (V,).
        stem_hashes: One for each stem.
    """

    roles: dict[str, TokenIds]
    word_hashes: Hashes
    stems: Positions
    stem_hashes: Hashes


def tokenize_roles(texts: Mapping[str, Sequence[str]]) -> TokenizedTexts:
    """Find the tokens of N texts in each role.

    Args:
        texts: Role name to its N texts.
    """
    vocabulary: dict[str, int] = {}
    roles = {role: _find_tokens(values, vocabulary) for role, values in texts.items()}
    stems: dict[str, int] = {}
    stem_of = [stems.setdefault(word[:STEM_LENGTH], len(stems)) for word in vocabulary]
    return TokenizedTexts(roles, _hash_words(vocabulary), np.array(stem_of, dtype=np.int64), _hash_words(stems))


def build_features(
    texts: TokenizedTexts,
    roles: Sequence[str],
    n_train: int,
    *,
    checkpoint: Callable[[], None] = lambda: None,
) -> sparse.csr_matrix:
    """Features of the texts in some roles; of two and more roles also what they share and how they differ.

    Args:
        texts: All N rows: the training rows first, then those to predict.
        roles: What the probe may see; ("hypothesis",) for hypothesis_only.
        n_train: How many of the rows are training rows; they alone decide which features are kept.
        checkpoint: Called every few thousand rows; what it raises ends the work.

    Returns:
        float32, (N, features).
    """
    n = texts.roles[roles[0]].offsets.size - 1
    caps = {pair: _crossing_cap(texts, *pair) for pair in _pairs(roles)}
    pieces: dict[str, list[_Piece]] = {}
    for start in range(0, n, ROWS_AT_ONCE):
        checkpoint()
        stop = min(n, start + ROWS_AT_ONCE)
        for name, piece in _blocks(texts, roles, caps, start, stop):
            pieces.setdefault(name, []).append(piece)
    blocks = [_to_matrix(pieces.pop(name), n_train) for name in list(pieces)]
    return sparse.csr_matrix(sparse.hstack(blocks, format="csr", dtype=np.float32))


@dataclass(frozen=True)
class _Piece:
    """Distinct buckets of some rows: how many each row has, and which, row after row."""

    counts: NDArray[np.int32]
    buckets: NDArray[np.int32]


@dataclass(frozen=True)
class _Bag:
    """Distinct ids of n rows, sorted by row and then id."""

    rows: Positions
    ids: Positions
    n: int

    def where(self, mask: NDArray[np.bool_]) -> _Bag:
        return _Bag(self.rows[mask], self.ids[mask], self.n)

    def sizes(self) -> Positions:
        return np.bincount(self.rows, minlength=self.n)

    def first(self, count: int) -> _Bag:
        sizes = self.sizes()
        rank = np.arange(self.rows.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.where(rank < count)


def _blocks(
    texts: TokenizedTexts,
    roles: Sequence[str],
    caps: Mapping[tuple[str, str], int],
    start: int,
    stop: int,
) -> Iterator[tuple[str, _Piece]]:
    n = stop - start
    counted: list[tuple[Positions, Hashes]] = []
    for role in roles:
        tokens = texts.roles[role].rows(start, stop)
        for size in (1, 2):
            rows, keys = _ngrams(tokens, texts.word_hashes, size)
            yield f"{role} {size}", _to_piece(rows, keys, n)
        counted.append(_category(f"{role} length", np.minimum(np.diff(tokens.offsets), 40)))
    for pair in _pairs(roles):
        first, second = (texts.roles[role].rows(start, stop) for role in pair)
        for level, of, hashes in (
            ("word", None, texts.word_hashes),
            ("stem", texts.stems, texts.stem_hashes),
        ):
            name = f"{' '.join(pair)} {level}"
            one, two = (_distinct(tokens, of, hashes.size) for tokens in (first, second))
            known = _is_in(two, one, hashes.size)
            new = two.where(~known)
            shared = two.where(known)
            yield f"{name} new", _to_piece(new.rows, hashes[new.ids], n)
            yield f"{name} shared", _to_piece(shared.rows, hashes[shared.ids], n)
            counted += _overlap_counts(name, one, two, new)
            if level == "stem":
                rows, keys = _cross(one.first(caps[pair]), new.first(caps[pair]), hashes)
                yield f"{name} crossed", _to_piece(rows, keys, n)
        counted += _bigram_counts(" ".join(pair), first, second, texts.word_hashes)
    rows = np.concatenate([part[0] for part in counted])
    keys = np.concatenate([part[1] for part in counted])
    yield "counted", _to_piece(rows, keys, n)


def _pairs(roles: Sequence[str]) -> list[tuple[str, str]]:
    return [(first, second) for i, first in enumerate(roles) for second in roles[i + 1 :]]


def _overlap_counts(name: str, one: _Bag, two: _Bag, new: _Bag) -> list[tuple[Positions, Hashes]]:
    n_one, n_two, n_new = one.sizes(), two.sizes(), new.sizes()
    share = 10 * (n_two - n_new) // np.maximum(n_two, 1)
    return [
        _category(f"{name} new", np.minimum(n_new, 12)),
        _category(f"{name} share", share),
        _category(f"{name} longer", np.clip(n_one - n_two, -10, 25) + 10),
    ]


def _bigram_counts(name: str, first: TokenIds, second: TokenIds, hashes: Hashes) -> list[tuple[Positions, Hashes]]:
    n = second.offsets.size - 1
    rows, keys = _ngrams(second, hashes, 2)
    other_rows, other_keys = _ngrams(first, hashes, 2)
    known = np.isin(_mix(rows.astype(np.uint64), keys), _mix(other_rows.astype(np.uint64), other_keys))
    n_all, n_known = np.bincount(rows, minlength=n), np.bincount(rows[known], minlength=n)
    return [
        _category(f"{name} new bigrams", np.minimum(n_all - n_known, 12)),
        _category(f"{name} share of bigrams", 10 * n_known // np.maximum(n_all, 1)),
    ]


def _category(name: str, values: Positions) -> tuple[Positions, Hashes]:
    salt = _hash_words([name])[0]
    return np.arange(values.size), _mix(values.astype(np.uint64), np.full(values.size, salt))


def _cross(one: _Bag, two: _Bag, hashes: Hashes) -> tuple[Positions, Hashes]:
    """Every id of `one` with every id of `two`, row by row."""
    n_one, n_two = one.sizes(), two.sizes()
    total = n_one * n_two
    rows = np.repeat(np.arange(one.n), total)
    within = np.arange(rows.size) - np.repeat(np.cumsum(total) - total, total)
    i = (np.cumsum(n_one) - n_one)[rows] + within // n_two[rows]
    j = (np.cumsum(n_two) - n_two)[rows] + within % n_two[rows]
    return rows, _mix(hashes[one.ids[i]], hashes[two.ids[j]])


def _crossing_cap(texts: TokenizedTexts, first: str, second: str) -> int:
    """How many stems of each text may be crossed, so that all rows together stay within the budget."""
    one, two = (np.diff(texts.roles[role].offsets) for role in (first, second))
    cap = MAX_CROSSED
    while cap > 1 and int((np.minimum(one, cap) * np.minimum(two, cap)).sum()) > CROSSED_BUDGET:
        cap //= 2
    return cap


def _find_tokens(texts: Sequence[str], vocabulary: dict[str, int]) -> TokenIds:
    ids: list[int] = []
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    for position, text in enumerate(texts, start=1):
        for token in _TOKEN.findall(text.lower()):
            ids.append(vocabulary.setdefault(token, len(vocabulary)))  # noqa: PERF401
        offsets[position] = len(ids)
    return TokenIds(np.array(ids, dtype=np.int64), offsets)


def _hash_words(words: Mapping[str, int] | Sequence[str]) -> Hashes:
    # Python's own hash of a string differs from process to process.
    digests = b"".join(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _mix(one: Hashes, two: Hashes) -> Hashes:
    """Hash two hashes into one; the order counts."""
    mixed = one * np.uint64(0x9E3779B97F4A7C15) ^ (two + np.uint64(0x7F4A7C15))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _ngrams(tokens: TokenIds, hashes: Hashes, size: int) -> tuple[Positions, Hashes]:
    owners = tokens.owners()
    single = hashes[tokens.ids]
    last = max(single.size - size + 1, 0)
    keys = single[:last]
    for step in range(1, size):
        keys = _mix(keys, single[step : step + last])
    inside = owners[:last] == owners[size - 1 : size - 1 + last]
    return owners[:last][inside], keys[inside]


def _distinct(tokens: TokenIds, names: Positions | None, size: int) -> _Bag:
    ids = tokens.ids if names is None else names[tokens.ids]
    codes = np.unique(tokens.owners() * size + ids)
    return _Bag(codes // max(size, 1), codes % max(size, 1), tokens.offsets.size - 1)


def _is_in(bag: _Bag, other: _Bag, size: int) -> NDArray[np.bool_]:
    return np.isin(bag.rows * size + bag.ids, other.rows * size + other.ids, assume_unique=True)


def _to_piece(rows: Positions, keys: Hashes, n: int) -> _Piece:
    buckets = (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)
    codes = np.unique((rows << BUCKET_BITS) | buckets)
    counts = np.bincount(codes >> BUCKET_BITS, minlength=n).astype(np.int32)
    return _Piece(counts, (codes & ((1 << BUCKET_BITS) - 1)).astype(np.int32))


def _to_matrix(pieces: Sequence[_Piece], n_train: int) -> sparse.csr_matrix:
    """Join the pieces of a block, keep what MIN_ROWS training rows have, scale each row to length 1."""
    counts = np.concatenate([piece.counts for piece in pieces])
    buckets = np.concatenate([piece.buckets for piece in pieces])
    n_trained = int(counts[:n_train].sum(dtype=np.int64))
    kept = np.flatnonzero(np.bincount(buckets[:n_trained], minlength=1 << BUCKET_BITS) >= MIN_ROWS)
    column = np.full(1 << BUCKET_BITS, -1, dtype=np.int32)
    column[kept] = np.arange(kept.size, dtype=np.int32)
    columns = column[buckets]
    owners = np.repeat(np.arange(counts.size), counts)[columns >= 0]
    columns = columns[columns >= 0]
    sizes = np.bincount(owners, minlength=counts.size)
    ends: NDArray[Any] = np.concatenate([[0], np.cumsum(sizes)])
    values = (1 / np.sqrt(np.maximum(sizes, 1))).astype(np.float32)
    return sparse.csr_matrix((np.repeat(values, sizes), columns, ends), shape=(counts.size, kept.size))
