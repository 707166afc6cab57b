"""What a search leaves open, and what is said of it: doubts, notes, and the control that it finds what is there.

Items whose words stand in a row of the training part in another order.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import option
from goldassay.core.numbers import count, percent
from goldassay.core.results import Result
from goldassay.kernels.splitting import LETTER, OUTSIDE, SINGLE, code_points, number_words, write_words
from goldassay.kernels.text_counts import like_counts, tally_words
from goldassay.kernels.words import N_POINTS, alone_points, ascii_letters, point_table, words_of
from goldassay.questions.overlap.measures import KINDS, MOVED, TRAINING, Excess
from goldassay.questions.overlap.search.confirmation import WHOLE, Confirmation
from goldassay.questions.overlap.search.reading import TEXT_FIELD, USUAL_FIELDS
from goldassay.questions.overlap.search.shard import notices
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.questions.overlap.items import Item, TestItems
    from goldassay.questions.overlap.search.corpus import Corpus
    from goldassay.questions.overlap.search.scan import ScanResult
    from goldassay.questions.overlap.search.sought import NearTable, Sought, SoughtText
    from goldassay.stats.intervals import Interval


_QUESTION_ONLY, _NEAR_COPY = map(KINDS.index, ("question only", "near copy"))
# From this share of the items or documents on, those that cannot be searched leave the rest no sample.
_MOST_UNSEARCHED = 0.05
# Items that are looked for in themselves, to see that the search finds what is there.
_MOST_CONTROLS = 100
# Fields that are named beside one that is not there.
_MOST_NAMED = 12


def describe_found(
    items: TestItems,
    counts: NDArray[np.bool_],
    worst: NDArray[np.int64],
    is_searched: NDArray[np.bool_],
    scanned: ScanResult,
    share: float,
    interval: Interval | None,
    corpus: Corpus,
) -> list[str]:
    """How many items are in the corpus, the share that decides first."""
    n, n_searched = int(counts.sum()), int(is_searched.sum())
    between = "" if interval is None else f" ({percent(interval.low)} to {percent(interval.high)})"
    answers = " with their answers" if any(item.answer for item in items.items) else ""
    is_training = _is_training(corpus)
    has_training = any(file.name == TRAINING for file in corpus.files)
    before = f"the {TRAINING} and " if has_training else ""
    where = f"the {TRAINING}" if is_training else f"{before}the corpus"
    n_documents = corpus_counts(corpus, scanned)[0]
    documents = "the only document" if n_documents == 1 else f"the {count(n_documents)} documents"
    rows = where if is_training else f"{before}{documents} of the corpus"
    # Rows of the training part alone are compared for another order of words.
    others = "Paraphrases and translations" if is_training else "Paraphrases, translations and other orders of words"
    if has_training and not is_training:
        others = "Paraphrases and translations, and other orders of words in the corpus,"
    unsought = f"{others} are not looked for."
    found = [
        f"{count(n)} of {count(n_searched)} items {'is' if n == 1 else 'are'} in {where}{answers}: "
        f"{percent(share)}{between}."
        if n
        else f"None of {count(n_searched)} items is in {rows}{answers}, word for word or nearly so: "
        f"{percent(share)}{between}. {unsought}"
    ]
    near = int((worst[is_searched] == _NEAR_COPY).sum())
    if near:
        what = "is a near copy" if near == 1 else "are near copies"
        found.append(f"{count(near)} of these {what}, with some letters or words changed.")
    only = int((worst[is_searched] == _QUESTION_ONLY).sum())
    if only:
        found.append(f"Of {count(only)} more the question is there without its answer.")
    return [*found, unsought] if n else found


def describe_control(excess: Excess, items: TestItems) -> str:
    """How often other answers stand behind the questions, and what is found beyond that; "" without a control."""
    if math.isnan(excess.control):
        return ""
    others = "a wrong choice" if any(item.rivals for item in items.items) else "the answer of another item"
    said = f"Control: {others} follows {percent(excess.control)} of the questions found"
    said += " (mean over the wrong choices)" if others == "a wrong choice" else ""
    if excess.control and excess.interval is not None:
        between = f"{percent(excess.interval.low)} to {percent(excess.interval.high)}"
        said += f"; beyond the control {percent(excess.value)} of the items are found ({between})"
    return f"{said}."


def describe_reordered(shown: NDArray[np.int64], beyond: Excess | None) -> str:
    """How many items have their words in another order, beyond the rate within the test set, or swapped; "" if none."""
    n, n_swapped = (int((shown == KINDS.index(kind)).sum()) for kind in MOVED)
    said = []
    if beyond is not None and n:
        said.append(f"{count(n)} items have their words in a training row in another order")
        if beyond.interval is not None:
            between = f"{percent(beyond.interval.low)} to {percent(beyond.interval.high)}"
            said[0] += f": {percent(beyond.value)} ({between}) beyond the rate within the test set"
    if beyond is not None and n_swapped:
        said.append(f"{count(n_swapped)} pairs are there with their texts swapped")
    return f"{'; '.join(said)}." if said else ""


def corpus_counts(corpus: Corpus, scanned: ScanResult) -> tuple[int, int, int]:
    """Documents with text, those without, and bytes scanned: of the corpus without the training part searched with it.

    Where nothing else was searched, of the training part.
    """
    is_training = np.array([file.name == TRAINING for file in corpus.files])
    n_documents, n_without, n_bytes = scanned.by_file[~is_training if not is_training.all() else is_training].sum(0)
    return int(n_documents), int(n_without), int(n_bytes)


def describe_lacking(scanned: ScanResult, corpus: Corpus) -> str:
    """That no document has a field that was named, with those that are there; "" where some have each."""
    n_rows, shares = _shares_with(scanned, corpus)
    lacking = [name for name, share in shares.items() if share == 0]
    if not n_rows or not lacking or scanned.fields == USUAL_FIELDS:
        return ""
    own = [names for names, file in zip(scanned.names, corpus.files, strict=True) if file.name != TRAINING]
    there = list(dict.fromkeys(name for names in own for name in names))[:_MOST_NAMED]
    return f"no document has {' or '.join(map(repr, lacking))}; the fields are {', '.join(map(repr, there))}"


def _shares_with(scanned: ScanResult, corpus: Corpus) -> tuple[int, dict[str, float]]:
    """Lines of JSON and rows of the corpus, and the share of them that has each field."""
    own = [file.name != TRAINING and file.form != "text" for file in corpus.files]
    n_rows = int(scanned.by_file[own, :2].sum())
    return n_rows, dict(zip(scanned.fields, (scanned.n_with[own].sum(0) / max(n_rows, 1)).tolist(), strict=True))


def _describe_shares(scanned: ScanResult, corpus: Corpus) -> list[str]:
    """Which fields were read, where not each document has them, or where none was named."""
    n_rows, shares = _shares_with(scanned, corpus)
    if scanned.fields == USUAL_FIELDS:
        shares = {name: share for name, share in shares.items() if share > 0 and name != TEXT_FIELD}
    elif len(shares) == 1 or min(shares.values()) == 1:
        return []
    if not n_rows or not shares:
        return []
    said = ", ".join(f"{name!r} {percent(share)}" for name, share in shares.items())
    return [f"The share of documents that have a field: {said}."]


def _describe_unread(scanned: ScanResult) -> str:
    return f"The corpus' texts in {' and '.join(map(repr, list(scanned.unread)[:_MOST_NAMED]))}"


def _may_hold_items(scanned: ScanResult, items: TestItems) -> bool:
    """Whether fields that nobody named are unread, and as large as the items that would not be sound."""
    n_bytes = sum(scanned.unread.values())
    return 0 < n_bytes >= _MOST_UNSEARCHED * items.n_bytes and scanned.fields == USUAL_FIELDS


def _is_training(corpus: Corpus) -> bool:
    return {file.name for file in corpus.files} == {TRAINING}


def find_doubts(
    items: TestItems, sought: Sought, scanned: ScanResult, corpus: Corpus, is_searched: NDArray[np.bool_]
) -> list[Doubt]:
    """What of the items or of the corpus could not be searched, so that little that was found shows nothing."""
    found = []
    # Rows of the training part are compared as a whole, documents of a corpus are longer than an item.
    alone = _is_training(corpus)
    short = int((~(is_searched if alone else sought.has_ngrams)).sum())
    if short > _MOST_UNSEARCHED * is_searched.size:
        has = "has" if short == 1 else "have"
        said = (
            f"{has} no words." if alone else f"{has} fewer than 8 words: only documents that are equal to them count."
        )
        texts = any(file.form == "text" for file in corpus.files)
        found.append(
            Doubt(
                f"{count(short)} of {count(is_searched.size)} items {said}"
                + (" A text file is one document, however many lines it has." if texts else ""),
                "Give a corpus of texts as short, each a JSON line, or a test set with longer items.",
            )
        )
    whole = 0 if alone else int((sought.only_whole & sought.has_ngrams).sum())
    if whole > _MOST_UNSEARCHED * is_searched.size:
        found.append(
            Doubt(
                f"{count(whole)} of {count(is_searched.size)} items have so short a question and answer that they are "
                "found only where the whole item is there without other words in between.",
                "Ask the question of a test set with longer items.",
            )
        )
    framed = 0 if alone else int((sought.own_share() < WHOLE).sum())
    if framed > _MOST_UNSEARCHED * is_searched.size:
        found.append(
            Doubt(
                f"Of {count(framed)} of {count(is_searched.size)} questions a fifth of the words or more are in many "
                "items, as an instruction or examples do: a document that has the rest alone may not be found.",
                "Give the items without what they share.",
            )
        )
    if lacking := describe_lacking(scanned, corpus):
        found.append(
            Doubt(f"{lacking[0].upper()}{lacking[1:]}.", f"Name fields that are there with {option('field')}.")
        )
    if _may_hold_items(scanned, items):
        read = [name for name, share in _shares_with(scanned, corpus)[1].items() if share]
        named = option("field", "+".join([*read, *scanned.unread]))
        unread = f"{_describe_unread(scanned)} were not read"
        found.append(Doubt(f"{unread}; {named} reads them, too.", f"Add {named}: {unread[0].lower()}{unread[1:]}."))
    if scanned.broken:
        found.append(
            Doubt(
                f"{count(len(scanned.broken))} of the corpus' files could not be read to the end.",
                "Mend what is named below, and search again.",
            )
        )
    n_bytes = corpus.n_other + sum(file.size for file in corpus.files if file.name != TRAINING)
    if corpus.n_other > _MOST_UNSEARCHED * n_bytes:
        found.append(
            Doubt(
                f"{percent(corpus.n_other / n_bytes)} of the folders' bytes lie in files of other kinds, which are "
                "not searched.",
                "Give their texts as JSON lines, Parquet or text, or name the files to search.",
            )
        )
    elif sum(held for _, held in corpus.unread) >= _MOST_UNSEARCHED * items.n_bytes:
        # As large as the items that would not be sound: a copy of the test set as a table is a small file of a corpus.
        n = len(corpus.unread)
        found.append(
            Doubt(
                f"{corpus.unread[0][0]} {'is' if n == 1 else f'and {count(n - 1)} more are'} not searched, and may "
                f"hold {percent(_MOST_UNSEARCHED)} of the items.",
                "Give their texts as JSON lines, Parquet or text, or name the files to search.",
            )
        )
    n_documents, n_without, _ = corpus_counts(corpus, scanned)
    total = n_documents + n_without
    n_elsewhere = scanned.n_unread + scanned.n_emptied
    if n_elsewhere > _MOST_UNSEARCHED * total:
        found.append(
            Doubt(
                f"{count(n_elsewhere)} of {count(total)} documents "
                f"{'has' if n_elsewhere == 1 else 'have'} no text in the field that is read, but in others.",
                f"Name the fields with {option('field', 'NAME+NAME')}.",
            )
        )
    elif scanned.n_unread_bytes >= _MOST_UNSEARCHED * items.n_bytes:
        n = scanned.n_unread
        found.append(
            Doubt(
                f"{count(n)} document{' has' if n == 1 else 's have'} no text in the fields that are read, but in "
                f"others, and may hold {percent(_MOST_UNSEARCHED)} of the items.",
                f"Name the fields with {option('field', 'NAME+NAME')}.",
            )
        )
    missed = _missed(sought)
    if missed:
        found.append(
            Doubt(f"The search does not find {count(missed)} of the items in themselves.", "Report it as an error.")
        )
    return found


def _missed(sought: Sought) -> int:
    """Of up to 100 items, those that are not found in a document that is the item: the positive control.

    Both looks are tried: the one at bytes, which passes over all that has no n-gram, and the exact one.
    """
    confirmation = Confirmation(sought)
    by_item: dict[int, SoughtText] = {}
    for text in chain(sought.texts, *sought.equals.values()):
        if text.is_whole:
            by_item.setdefault(text.item, text)
    tried = list(by_item.values())[:: max(1, len(by_item) // _MOST_CONTROLS)]
    said = [" ".join(text.words) for text in tried]
    missed = 0
    for text, document, is_noticed in zip(tried, said, notices(sought, said), strict=True):
        confirmed = confirmation.confirm(document)
        found = () if confirmed is None else confirmed.matches
        missed += not (is_noticed and any(match.item == text.item and match.coverage == 1 for match in found))
    if sought.near is not None:
        missed += _missed_near(sought.near)
    return missed


def _missed_near(near: NearTable) -> int:
    """The same of the search for near copies."""
    # What has a part that is shorter than a shingle is found where it is equal.
    is_long = (near.index.sizes.reshape(len(near.texts), -1) != 1).all(axis=1)
    texts = list(compress(near.texts, is_long))
    tried = texts[:: max(1, len(texts) // _MOST_CONTROLS)]
    said = [" ".join(text.words) for text in tried]
    ends = np.cumsum([len(text.encode()) for text in said])
    data = np.frombuffer("".join(said).encode() + b"\0", np.uint8)
    found = near.search(data, np.append(0, ends[:-1]), ends, said.__getitem__)
    return sum(
        not any(copy.item == text.item and copy.counts for copy in found.get(at, ())) for at, text in enumerate(tried)
    )


def notes_on(corpus: Corpus, scanned: ScanResult, items: TestItems) -> tuple[str, ...]:
    """What of the corpus was left out, and which fields were read."""
    found = []
    own = [name for name, why in corpus.left_out if why == "it is the test set itself"]
    if own:
        found.append(f"{own[0]} is the test set itself, and is left out of the corpus.")
    others = [name for name, why in corpus.left_out if why != "it is the test set itself"]
    if others:
        found.append(
            f"{others[0]} is no part of the corpus."
            if len(others) == 1
            else f"{count(len(others))} files of the folders are no part of the corpus, the first is {others[0]}."
        )
    if corpus.again:
        n = len(corpus.again) - 1
        found.append(
            f"{corpus.again[0]} leads to what is read under another name, and is not read again."
            if not n
            else f"{corpus.again[0]} and {count(n)} more lead to what is read under other names: it is read once."
        )
    found += _describe_shares(scanned, corpus)
    if scanned.unread and not _may_hold_items(scanned, items):
        found.append(f"{_describe_unread(scanned)} were not read.")
    found += [f"{name}: {why}." for name, why in scanned.broken]
    n = corpus_counts(corpus, scanned)[1]
    if n:
        found.append(f"{count(n)} document{' has no text, and is' if n == 1 else 's have no text, and are'} left out.")
    return tuple(found)


# Of the counts of words, and of what is asked.
SIMILARITY = 0.95
# Fewer words have hardly another order; a row may be longer or shorter by this share.
_LEAST_WORDS, _MOST_LONGER = 3, 0.1
# A row is looked at where it has the same words, or half of an item's rarest words, up to four that are in ten items at
# most. What consists of frequent words alone is found where the counts are equal.
_RARE, _MOST_RARE = 10, 4
_SAME, _REORDERED, _SWAPPED = range(3)
# Rows that are numbered at a time, and what a cosine of the same counts may differ by.
_BLOCK, _ROUNDING = 1 << 14, 1e-9


@dataclass(frozen=True)
class Reordered(Result):
    """Which items have their words in a row in another order.

    Attributes:
        is_found: In a row of the training part, (N,).
        is_swapped: In one that has the two texts of a pair the other way around, (N,).
        is_within: In another item of the test set, (N,): what happens without any copy.
    """

    is_found: NDArray[np.bool_]
    is_swapped: NDArray[np.bool_]
    is_within: NDArray[np.bool_]


def find_reordered(items: Sequence[Item], training: pl.Series) -> Reordered:
    """Compare the counts of words of items and rows: cosine .95, in the question alone, too.

    Args:
        items: Of the test set.
        training: The text of each row.
    """
    texts = _Texts([_Text.of(item) for item in items])
    found, within = texts.compare(training), texts.compare_each_other()
    return Reordered(found == _REORDERED, found == _SWAPPED, within != _SAME)


@dataclass(frozen=True)
class _Text:
    """An item: its words, those that are asked, and those of a pair the other way around."""

    words: list[str]
    asked: list[str]
    swapped: list[str]

    @classmethod
    def of(cls, item: Item) -> _Text:
        parts = [words_of(text) for _, text in item.parts]
        asked = next((own for own, (name, _) in zip(parts, item.parts, strict=True) if name == item.asked), [])
        words = [word for part in (*parts, words_of(item.answer)) for word in part]
        is_pair = len(parts) == 2 and not item.answer
        return cls(words, asked, [*parts[1], *parts[0]] if is_pair else [])

    def compare(self, other: list[str]) -> int:
        """What a row is to the item; what has the same words in the same order is no case of this."""
        n = len(self.words)
        if other == self.words or n < _LEAST_WORDS or abs(n - len(other)) > _MOST_LONGER * n:
            return _SAME
        if self.swapped and other == self.swapped:
            return _SWAPPED
        one, two = Counter(self.words), Counter(other)
        in_order = [word for word in self.words if word in two] == [word for word in other if word in one]
        if in_order or _cosine(one, two) < SIMILARITY:
            return _SAME
        asked = Counter(self.asked)
        # What the row has beside the rest of the item: a long premise alone makes no copy.
        left = two - (one - asked)
        return _REORDERED if (left & asked).total() >= SIMILARITY * len(self.asked) else _SAME


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    dot = sum(n * other[word] for word, n in one.items())
    return dot / math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()) or 1)


class _Texts:
    """The items, numbered by their words, and where each of their rare words is."""

    def __init__(self, texts: Sequence[_Text]) -> None:
        self.texts = texts
        vocabulary = sorted({word for text in texts for word in text.words})
        points, starts = code_points(vocabulary)
        slots, hashes = np.full(1 << 12, -1, np.int32), np.empty(1 << 10, np.uint64)
        # As one text a word: the numbers are places in the vocabulary, so that rare words are taken by their spelling.
        *_, self._slots, self._hashes, self._n_words = number_words(points, starts, _kinds(), slots, hashes, 0)
        number = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self.sizes = np.array([len(text.words) for text in texts], np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        every = (number[word] for text in texts for word in text.words)
        self.ids = np.fromiter(every, np.int32, int(self.offsets[-1]))
        words, counts = np.empty(self.ids.size, np.int32), np.empty(self.ids.size, np.int64)
        starts, self.keys = np.empty(len(texts) + 1, np.int64), np.empty(len(texts), np.uint64)
        tally_words(self.ids, self.offsets, words, counts, starts, self.keys)
        self._counted = words[: starts[-1]], counts[: starts[-1]], starts
        of = np.repeat(np.arange(len(texts)), np.diff(starts))
        norms = np.bincount(of, counts[: starts[-1]] ** 2, len(texts)).astype(np.int64)
        n_texts = np.bincount(words[: starts[-1]], minlength=len(vocabulary))
        # Of each text the rarest words, of equally rare ones the first by spelling.
        rare = np.flatnonzero(n_texts[words[: starts[-1]]] <= _RARE)
        rare = rare[np.lexsort((words[rare], n_texts[words[rare]], of[rare]))]
        begins = np.searchsorted(of[rare], of[rare])
        rare = rare[np.arange(rare.size) - begins < _MOST_RARE]
        rare = rare[np.argsort(words[rare], kind="stable")]
        rare_offsets = np.searchsorted(words[rare], np.arange(len(vocabulary) + 1))
        n_rare = np.bincount(of[rare], minlength=len(texts))
        self._rare = self.sizes, norms, rare_offsets, of[rare], n_rare, _MOST_LONGER, SIMILARITY - _ROUNDING

    def compare(self, texts: pl.Series) -> NDArray[np.int64]:
        """Of each item whether some row has its words in another order, or the other way around."""
        found = np.full(len(self.texts), _SAME)
        for begin in range(0, texts.len(), _BLOCK):
            block = texts.slice(begin, _BLOCK)
            data = np.frombuffer(block.str.join("").item().encode() + b"\0", np.uint8)
            ends = np.cumsum(block.str.len_bytes().to_numpy().astype(np.int64))
            points = np.empty(data.size + 2 * ends.size, np.uint32)
            starts = np.empty(ends.size + 1, np.int64)
            begins = np.concatenate([[0], ends[:-1]])
            left = write_words(data, begins, ends, ascii_letters(), point_table(), points, starts)
            # Python reads what compiled loops leave to it.
            spelled = [" ".join(words_of(block[at])) for at in np.flatnonzero(left).tolist()]
            by_hand, more = code_points(spelled)
            starts = np.concatenate([starts, starts[-1] + more[1:]])
            rows = [*range(ends.size), *np.flatnonzero(left).tolist()]
            ids, offsets = self._numbered(np.concatenate([points[: starts[ends.size]], by_hand]), starts)
            self._compare(ids, offsets, rows, partial(_words_in, block), found)
        return found

    def compare_each_other(self) -> NDArray[np.int64]:
        """The same of each item with all items."""
        found = np.full(len(self.texts), _SAME)
        numbers = range(len(self.texts))
        self._compare(self.ids, self.offsets, numbers, lambda at: self.texts[at].words, found)
        return found

    def _numbered(
        self, points: NDArray[np.uint32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        # Else the loop would be compiled once more, for what may be written to.
        points.flags.writeable = False
        found = number_words(points, starts, _kinds(), self._slots, self._hashes, self._n_words)
        ids, ends, _, self._slots, self._hashes, self._n_words = found
        return ids, np.concatenate([[0], ends])

    def _compare(
        self,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        rows: Sequence[int],
        words_at: Callable[[int], list[str]],
        found: NDArray[np.int64],
    ) -> None:
        keys = np.empty(offsets.size - 1, np.uint64)
        near = like_counts(ids, offsets, *self._counted, *self._rare, keys)
        order = np.argsort(self.keys, kind="stable")
        first, last = (np.searchsorted(self.keys[order], keys, side) for side in ("left", "right"))
        equal = np.flatnonzero((last > first) & (np.diff(offsets) > 0))
        pairs = {(rows[row], text) for row, text in near.tolist()}
        pairs |= {(rows[row], text) for row in equal.tolist() for text in order[first[row] : last[row]].tolist()}
        for row, text in sorted(pairs):
            if found[text] == _SAME:
                found[text] = self.texts[text].compare(words_at(row))


def _words_in(texts: pl.Series, at: int) -> list[str]:
    return words_of(texts[at])


@cache
def _kinds() -> NDArray[np.uint8]:
    """Kinds of the characters of words that are written out: a space parts them, and some are words by themselves."""
    found = np.full(sys.maxunicode + 1, LETTER, np.uint8)
    found[:N_POINTS][alone_points()] = SINGLE
    found[ord(" ")] = OUTSIDE
    return found
