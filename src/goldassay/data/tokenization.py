"""Sentences to tokens, exactly as the field's tokenizers do it, at the speed of a compiled scan.

Most words recur thousands of times. A compiled scan numbers the distinct chunks between spaces, and each is
tokenized once: words by a rule that is proven equal, the unusual by the library's own tokenizer.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tokenizer = str | Callable[[str], Sequence[str]]
TOKENIZERS = ("treebank", "whitespace", "characters")
# Sentences packed at once: enough to make the scan's start cheap, few enough to bound its memory.
_BLOCK = 1 << 17

# A word (hyphens inside), perhaps with a clitic, perhaps with one mark after it. What the Treebank rules do to
# these is known without running them; WORD_TO_SPLIT lists the words that they split although nothing shows it.
_SIMPLE = re.compile(
    r"(?P<word>[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*?)(?P<clitic>n't|N'T|'(?:[sSmMdD]|ll|LL|re|RE|ve|VE))?(?P<mark>[.,?!]?)"
)
_WORD_TO_SPLIT = re.compile(r"cannot|gimme|gonna|gotta|lemme|wanna", re.IGNORECASE)
_PARENTS = ("nltk", "nltk.tokenize")
_lock = threading.Lock()


def _splits(word: str) -> bool:
    return 5 <= len(word) <= 6 and _WORD_TO_SPLIT.fullmatch(word) is not None


@dataclass(frozen=True)
class TokenizedCorpus:
    """Sentences as token numbers.

    Attributes:
        ids: Token numbers of all sentences, one after the other, (total tokens,).
        offsets: Where each sentence starts in `ids`, and the end of the last, (N+1,).
        vocabulary: The token of each number, in the order of first appearance ("characters": of code point).
        tokenizer: Name of the tokenizer.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: tuple[str, ...]
    tokenizer: str

    def __len__(self) -> int:
        return self.offsets.size - 1

    def take(self, kept: NDArray[np.bool_]) -> TokenizedCorpus:
        """The sentences that a mask names, (N,)."""
        lengths = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
        return TokenizedCorpus(self.ids[np.repeat(kept, lengths)], offsets, self.vocabulary, self.tokenizer)

    def sentence(self, index: int) -> list[str]:
        """Tokens of one sentence."""
        return [self.vocabulary[i] for i in self.ids[self.offsets[index] : self.offsets[index + 1]]]


def tokenizer_name(tokenizer: Tokenizer) -> str:
    """The name under which a tokenizer stands in settings: its own, or a function's module and name.

    Raises:
        InputError: It is neither a known name nor a function.
    """
    if callable(tokenizer):
        name = getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__)
        return f"{getattr(tokenizer, '__module__', None) or type(tokenizer).__module__}.{name}"
    if tokenizer not in TOKENIZERS:
        raise InputError(f"unknown tokenizer {tokenizer!r}", mend=f"choose {', '.join(TOKENIZERS)} or pass a function")
    return tokenizer


def tokenize(sentences: Sequence[str] | pl.Series, tokenizer: Tokenizer = "treebank") -> TokenizedCorpus:
    """Split sentences into tokens.

    - "treebank": exactly what NLTK's TreebankWordTokenizer gives on the raw text. Case and punctuation are kept,
      contractions split, only a final period is split off.
    - "whitespace": `str.split()`, so that Unicode spaces separate too. For texts that are already tokenized.
    - "characters": every character that is not a space, for scripts without spaces between words.
    - a function: whatever list of strings it returns for each sentence.

    Args:
        sentences: N strings; a polars column of them is read a part at a time and never held as Python objects.
        tokenizer: One of the names above, or a function from a string to a list of strings.

    Raises:
        InputError: A sentence is not a string, the tokenizer is unknown, or the function fails or returns something
            else than a list of strings.

    Source: Marcus, Santorini and Marcinkiewicz 1993 (Penn Treebank); Bird, Klein and Loper 2009 (NLTK).
    """
    name = tokenizer_name(tokenizer)
    if isinstance(sentences, str):
        raise InputError("one string was given where a list of sentences is needed", mend="put it into a list")
    if isinstance(sentences, pl.Series) and name in ("treebank", "whitespace"):
        return _by_chunk(sentences, name)
    texts = sentences if isinstance(sentences, (list, tuple)) else list(sentences)
    if callable(tokenizer):
        return _by_function(texts, tokenizer, name)
    if name == "characters":
        return _by_character(texts)
    return _by_chunk(texts, name)


def _by_function(texts: Sequence[str], function: Callable[[str], Sequence[str]], name: str) -> TokenizedCorpus:
    numbers: dict[str, int] = {}
    ids: list[int] = []
    offsets = np.zeros(len(texts) + 1, np.int64)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise _not_a_string(texts)
        try:
            tokens: Any = function(text)
        except (Exception, SystemExit) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(
                f"the tokenizer {name} failed on sentence {row + 1} ({reason})",
                mend="mend it, or drop such rows",
            ) from error
        if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
            raise InputError(
                f"the tokenizer {name} returned {_kind(tokens)} for sentence {row + 1}, not a list of strings",
                mend="wrap it in a function that returns one",
            )
        ids.extend(numbers.setdefault(token, len(numbers)) for token in tokens)
        offsets[row + 1] = len(ids)
    return TokenizedCorpus(np.array(ids, np.int32), offsets, tuple(numbers), name)


def _kind(tokens: Any) -> str:
    if isinstance(tokens, (list, tuple)):
        strange = next(token for token in tokens if not isinstance(token, str))
        return f"a list that holds {type(strange).__name__}"
    return f"{type(tokens).__name__}"


def _not_a_string(texts: Sequence[Any] | pl.Series) -> InputError:
    row, text = next((row, text) for row, text in enumerate(texts) if not isinstance(text, str))
    return InputError(
        f"sentence {row + 1} is {type(text).__name__}, not a string", mend="drop such rows or fill them first"
    )


def _joined(texts: Sequence[str]) -> str:
    try:
        return "".join(texts)
    except TypeError:
        raise _not_a_string(texts) from None


def _by_character(texts: Sequence[str]) -> TokenizedCorpus:
    joined = _joined(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    present = np.flatnonzero(np.bincount(points, minlength=1))
    visible = np.array([point for point in present if points.size and not chr(point).isspace()], np.int64)
    number = np.full(0x110000, -1, np.int32)
    number[visible] = np.arange(visible.size, dtype=np.int32)
    ids = number[points]
    kept = np.concatenate(([0], np.cumsum(ids >= 0)))
    offsets = kept[np.concatenate(([0], ends))].astype(np.int64)
    return TokenizedCorpus(ids[ids >= 0], offsets, tuple(chr(point) for point in visible), "characters")


def _by_chunk(texts: Sequence[str] | pl.Series, name: str) -> TokenizedCorpus:
    from goldassay.kernels.splitting import expand_chunks

    chunks = _Chunks(name)
    parts: list[NDArray[np.int32]] = []
    offsets = np.zeros(len(texts) + 1, np.int64)
    for begin, text, scan in _scanned(texts):
        codes, code_offsets, distinct = scan
        starts, tokens = chunks.resolve(text, distinct)
        if chunks.whole:
            starts, tokens = chunks.redo_whole(texts, begin, codes, code_offsets, starts, tokens)
        ids, bounds = expand_chunks(codes, code_offsets, starts, tokens)
        parts.append(ids)
        offsets[begin + 1 : begin + bounds.size] = offsets[begin] + bounds[1:]
    ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
    return TokenizedCorpus(ids, offsets, tuple(chunks.numbers), name)


def _scanned(texts: Sequence[str] | pl.Series) -> Iterator[tuple[int, bytes, tuple[NDArray[Any], ...]]]:
    """Scan the blocks of sentences on all cores, at most one block a core ahead; give them in order."""
    n_threads = cores()
    waiting: deque[Future[tuple[int, bytes, tuple[NDArray[Any], ...]]]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for begin in range(0, len(texts), _BLOCK):
            waiting.append(pool.submit(_scan, texts, begin))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _scan(texts: Sequence[str] | pl.Series, begin: int) -> tuple[int, bytes, tuple[NDArray[Any], ...]]:
    from goldassay.kernels.splitting import intern_chunks
    from goldassay.kernels.words import byte_starts

    block = texts[begin : begin + _BLOCK]
    if isinstance(block, pl.Series):
        if block.dtype != pl.String or block.null_count():
            raise _not_a_string(texts)
        text = block.str.join("").item().encode()
        starts = np.concatenate(([0], np.cumsum(block.str.len_bytes().to_numpy().astype(np.int64))))
        return begin, text, intern_chunks(np.frombuffer(text, np.uint8), starts)
    joined = _joined(block)
    text = joined.encode("utf-8", "surrogatepass")
    data = np.frombuffer(text, np.uint8)
    starts = np.zeros(len(block) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, block), np.int64, len(block)), out=starts[1:])
    if len(text) != len(joined):
        starts = byte_starts(data, starts)
    return begin, text, intern_chunks(data, starts)


class _Chunks:
    """The distinct chunks met so far, each with its tokens, and the tokens' numbers."""

    def __init__(self, name: str) -> None:
        self.numbers: dict[str, int] = {}
        # Chunks of one block after which no chunk can be tokenized apart from its sentence.
        self.whole: list[int] = []
        self._known: dict[tuple[bytes, int], tuple[int, ...]] = {}
        self._split = _Treebank() if name == "treebank" else None

    def resolve(self, text: bytes, distinct: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Tokenize a block's distinct chunks: where each one's tokens start, and the tokens' numbers."""
        known = self._known
        self.whole = []
        starts = np.zeros(distinct.shape[0] + 1, np.int64)
        tokens: list[int] = []
        # By columns: a list for each chunk would make the garbage collector walk through all sentences again and again.
        for i, (begin, length, place) in enumerate(zip(*distinct.T.tolist(), strict=True)):
            key = (text[begin : begin + length], place)
            found = known.get(key)
            if found is None:
                found = known[key] = self._numbered(self._tokens(*key))
            if not found and self._split is not None and self._split.reaches_back(*key):
                self.whole.append(i)
            tokens += found
            starts[i + 1] = len(tokens)
        return starts, np.array(tokens, np.int32)

    def redo_whole(
        self,
        texts: Sequence[str] | pl.Series,
        begin: int,
        codes: NDArray[np.int32],
        offsets: NDArray[np.int64],
        starts: NDArray[np.int64],
        tokens: NDArray[np.int32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Tokenize the sentences that end in such a chunk as a whole; their first chunk stands for all tokens."""
        assert self._split is not None
        filled = np.flatnonzero(np.diff(offsets))
        rows = filled[np.isin(codes[offsets[filled + 1] - 1], self.whole)]
        # An empty chunk for all others of the sentence, then one new chunk a sentence.
        new_starts = [int(starts[-1])]
        new_tokens: list[int] = []
        for k, row in enumerate(rows.tolist()):
            new_tokens += self._numbered(self._split.library(texts[begin + row]))
            new_starts.append(int(starts[-1]) + len(new_tokens))
            codes[offsets[row] : offsets[row + 1]] = starts.size - 1
            codes[offsets[row]] = starts.size + k
        return (
            np.concatenate((starts, np.array(new_starts, np.int64))),
            np.concatenate((tokens, np.array(new_tokens, np.int32))),
        )

    def _tokens(self, chunk: bytes, place: int) -> list[str]:
        text = chunk.decode("utf-8", "surrogatepass")
        return text.split() if self._split is None else self._split(text, place)

    def _numbered(self, tokens: list[str]) -> tuple[int, ...]:
        numbers = self.numbers
        return tuple([numbers.setdefault(token, len(numbers)) for token in tokens])


class _Treebank:
    """Treebank tokens of one chunk between ASCII spaces.

    None of the library's rules looks further than one character across a space, so a chunk's tokens depend on no
    more than whether a space stands before and after it and whether it is the last. One rule reaches further: a
    final period may be followed by any white space; `reaches_back` names the chunks that this concerns.
    """

    def __init__(self) -> None:
        from goldassay.kernels.splitting import AT_END, AT_START, BEFORE_FINAL_SPACES

        self.library = treebank_tokenizer()
        self._at_start, self._before_spaces = AT_START, BEFORE_FINAL_SPACES
        self._last = AT_END | BEFORE_FINAL_SPACES

    def __call__(self, chunk: str, place: int) -> list[str]:
        if chunk.isalnum() and not _splits(chunk):
            return [chunk]
        last = bool(place & self._last)
        word, mark = chunk[:-1], chunk[-1]
        if mark in ".,?!" and word.isalnum() and not _splits(word):
            return [word, mark] if last or mark != "." else [chunk]
        simple = _SIMPLE.fullmatch(chunk)
        if simple and not any(map(_splits, simple["word"].split("-"))):
            if simple["mark"] == "." and not last:
                return [chunk]
            return [part for part in simple.groups() if part]
        before = "" if place & self._at_start else " "
        if last:
            return _by_library(before + chunk + (" " if place & self._before_spaces else ""))
        return _by_library(f"{before}{chunk} x")[:-1]

    def reaches_back(self, chunk: bytes, place: int) -> bool:
        """Whether a chunk, being white space other than the ASCII space, ends a sentence: its period comes before."""
        return bool(place & self._last) and chunk.decode("utf-8", "surrogatepass").isspace()


@lru_cache(1 << 16)
def _by_library(chunk: str) -> list[str]:
    """What the library gives, which takes 30 times as long as to remember: sets of one study share their words."""
    return treebank_tokenizer()(chunk)


@cache
def treebank_tokenizer() -> Callable[[str], list[str]]:
    """The `tokenize` of NLTK's TreebankWordTokenizer, without the rest of NLTK.

    Importing anything of NLTK runs its `__init__`, which loads every module of it and, through some of them, pandas,
    scikit-learn and scipy.stats: about a second and 150 MB for one class of regular expressions. Here the class is
    loaded beside empty stand-ins for its parent packages, which are taken away again, so that an import of NLTK by
    anybody else is the usual one.

    Raises:
        MissingDependencyError: NLTK is not installed.
    """
    with _lock:
        module = sys.modules.get("nltk.tokenize.treebank") or _alone() or import_module("nltk.tokenize.treebank")
    tokenize: Callable[[str], list[str]] = module.TreebankWordTokenizer().tokenize
    return tokenize


def _alone() -> ModuleType | None:
    """The module beside stand-ins for its packages; None where NLTK is laid out in another way."""
    spec = find_spec("nltk")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError("Treebank tokens need nltk; install it with: pip install nltk")
    if "nltk" in sys.modules:
        return None
    folder = list(spec.submodule_search_locations)
    try:
        for name in _PARENTS:
            parent = ModuleType(name)
            parent.__path__ = [f"{place}/{name.partition('.')[2]}" for place in folder]
            sys.modules[name] = parent
        return import_module("nltk.tokenize.treebank")
    except (ImportError, AttributeError):  # what another NLTK needs of its packages, the usual import gives
        return None
    finally:
        for name in [name for name in sys.modules if name == "nltk" or name.startswith("nltk.")]:
            del sys.modules[name]
