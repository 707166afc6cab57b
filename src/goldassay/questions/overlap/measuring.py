"""What was found of each item, put together: classes, kinds, the share that counts, and what is doubted."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count, percent
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.overlap.measures import COUNTED, KINDS, classify, kinds_of, worst_kinds
from goldassay.questions.overlap.scored_runs import compare_scores
from goldassay.questions.overlap.verdict import judge_overlap
from goldassay.scanning.confirmation import KEPT, WHOLE, Confirmation
from goldassay.scanning.fields import TEXT_FIELD, USUAL_FIELDS
from goldassay.scanning.scan import notices
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.core.verdicts import Verdict
    from goldassay.questions.overlap.items import TestItems
    from goldassay.scanning import Corpus, ScanResult, Sought
    from goldassay.scanning.near_copies import NearTable
    from goldassay.stats.intervals import Interval

# From this share of the items or documents on, those that cannot be searched leave the rest no sample.
_MOST_UNSEARCHED = 0.05
# Items that are looked for in themselves, to see that the search finds what is there.
_MOST_CONTROLS = 100
_QUESTION_ONLY, _NEAR_COPY, _ONE_PART, _ANSWER_ONLY = map(
    KINDS.index, ("question only", "near copy", "one part", "answer only")
)
# Fields that are named beside one that is not there.
_MOST_NAMED = 12
# What reports call the training part, where it is searched.
TRAINING = "training part"


@dataclass(frozen=True)
class Overlap(Result):
    """What a corpus has of a test set.

    Attributes:
        rows: One row an item: item, class, kind, coverage, union, asked, answer, longest, similarity (to the nearest
            near copy), n_documents, n_holding.
        places: The best places of each item.
        share: Of the searched items, those found with their answers.
        interval: Its interval over clusters; None where there are too few.
        verdict: On the share.
        scanned: Of the corpus.
        notes: On what was left out.
        scores: One row a model: its score on all, dirty and clean items.
    """

    rows: pl.DataFrame
    places: pl.DataFrame
    share: float
    interval: Interval | None
    verdict: Verdict
    scanned: ScanResult
    corpus: Corpus
    notes: tuple[str, ...]
    scores: tuple[dict[str, Any], ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """One row an item."""
        return self.rows


def measure_items(
    items: TestItems,
    sought: Sought,
    scanned: ScanResult,
    corpus: Corpus,
    settings: Settings,
    scores: Mapping[str, NDArray[np.float64]] = MappingProxyType({}),
    difficulty: Mapping[str, tuple[NDArray[np.float64], int]] = MappingProxyType({}),
) -> Overlap:
    """Classes, kinds and the share that counts, from the places of a scan.

    Args:
        items: Of the test set.
        sought: Made of them.
        scanned: What was found.
        corpus: Where.
        settings: Hold the limits.
        scores: Of each model on each item, (N,), NaN where there is none.
        difficulty: For each model what others score on each item, and how many they are.
    """
    n = sought.n_items
    places = scanned.matches
    has_answer = np.array([bool(words) for words in sought.answers])
    numbers = places["item"].to_numpy()
    shares = {
        name: places[name].to_numpy()
        for name in ("coverage", "asked", "answer", "answered", "part", "near", "near_asked", "near_answer")
    }
    kinds = kinds_of(**shares, has_answer=has_answer[numbers])
    worst = worst_kinds(numbers, kinds, n)
    best = {name: np.zeros(n) for name in ("coverage", "asked", "answer", "near")}
    longest = np.zeros(n, np.int64)
    for name, values in best.items():
        np.maximum.at(values, numbers, places[name].to_numpy())
    np.maximum.at(longest, numbers, places["longest"].to_numpy())
    # A near copy holds the item, though a changed word in each line leaves no n-gram.
    classes = np.where(worst == _NEAR_COPY, "dirty", classify(best["coverage"]))
    is_searched = sought.is_sought
    files = [file.name for file in corpus.files]
    rows = pl.DataFrame(
        {
            "item": [item.id for item in items.items],
            "class": np.where(is_searched, classes, "not searched").tolist(),
            "kind": np.where(is_searched, np.array(KINDS)[worst], "not searched").tolist(),
            "coverage": best["coverage"],
            "union": np.maximum(scanned.union, best["coverage"]),
            "asked": best["asked"],
            "answer": best["answer"],
            "longest": longest,
            "similarity": best["near"],
            "n_documents": scanned.n_found,
            "n_holding": scanned.n_holding,
        }
    )
    named = places.with_columns(
        kind=pl.Series([KINDS[kind] for kind in kinds.tolist()], dtype=pl.String),
        id=pl.Series([items.items[at].id for at in numbers.tolist()], dtype=pl.String),
        place=pl.Series([files[at] for at in places["file"].to_list()], dtype=pl.String),
    )
    codes = np.asarray(items.clusters.codes)
    counts = worst < len(COUNTED)
    searched = np.flatnonzero(is_searched)
    share, interval = _share(counts[searched], codes[searched])
    doubts = _doubts(items, sought, scanned, corpus, is_searched)
    said = _said(items, counts, worst, is_searched, scanned, share, interval, corpus)
    is_known = worst <= _QUESTION_ONLY
    _, known = _share(is_known[searched], codes[searched])
    # A text that several items share, such as a premise, says nothing of any one of them.
    is_alone = np.bincount(codes)[codes] == 1
    # Rows into which an item was cut hold it together, and none by itself.
    has_words = np.maximum(scanned.union, best["coverage"]) >= KEPT
    # The question of such an answer was not sought without it, and may stand in another document.
    is_short = np.zeros(n, bool)
    is_short[list(sought.short_questions)] = True
    is_alone_answer = (worst == _ANSWER_ONLY) & is_short
    is_touched = is_known | is_alone_answer | (best["asked"] >= KEPT) | (((worst == _ONE_PART) | has_words) & is_alone)
    _, touched = _share(is_touched[searched], codes[searched])
    verdict = judge_overlap(share, interval, said, doubts, items.clusters, settings.verdicts.overlap, known, touched)
    is_dirty = is_searched & (counts | (classes == "dirty"))
    is_clean = is_searched & (classes == "clean") & ~counts
    compared = tuple(
        compare_scores(model, own, is_dirty, is_clean, codes, difficulty.get(model)) for model, own in scores.items()
    )
    return Overlap(rows, named, share, interval, verdict, scanned, corpus, _notes(corpus, scanned), compared)


def _share(counts: NDArray[np.bool_], clusters: NDArray[np.int64]) -> tuple[float, Interval | None]:
    try:
        scored = score_one_run(counts.astype(np.float64), clusters)
    except InputError:
        return (float(counts.mean()) if counts.size else float("nan")), None
    return scored.mean, scored.interval


def _said(
    items: TestItems,
    counts: NDArray[np.bool_],
    worst: NDArray[np.int64],
    is_searched: NDArray[np.bool_],
    scanned: ScanResult,
    share: float,
    interval: Interval | None,
    corpus: Corpus,
) -> list[str]:
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
    found = [
        f"{count(n)} of {count(n_searched)} items {'stands' if n == 1 else 'stand'} in {where}{answers}: "
        f"{percent(share)}{between}."
        if n
        else f"None of {count(n_searched)} items stands in {rows}{answers}: {percent(share)}{between}."
    ]
    near = int((worst[is_searched] == _NEAR_COPY).sum())
    if near:
        what = "is a near copy" if near == 1 else "are near copies"
        found.append(f"{count(near)} of these {what}, with some letters or words changed.")
    only = int((worst[is_searched] == _QUESTION_ONLY).sum())
    if only:
        found.append(f"Of {count(only)} more the question stands there without its answer.")
    return found


def corpus_counts(corpus: Corpus, scanned: ScanResult) -> tuple[int, int, int]:
    """Documents with text, those without, and bytes scanned: of the corpus without the training part searched with it.

    Where nothing else was searched, of the training part.
    """
    is_training = np.array([file.name == TRAINING for file in corpus.files])
    n_documents, n_without, n_bytes = scanned.by_file[~is_training if not is_training.all() else is_training].sum(0)
    return int(n_documents), int(n_without), int(n_bytes)


def say_lacking(scanned: ScanResult, corpus: Corpus) -> str:
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


def _say_shares(scanned: ScanResult, corpus: Corpus) -> list[str]:
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


def _is_training(corpus: Corpus) -> bool:
    return {file.name for file in corpus.files} == {TRAINING}


def _doubts(
    items: TestItems, sought: Sought, scanned: ScanResult, corpus: Corpus, is_searched: NDArray[np.bool_]
) -> list[Doubt]:
    found = []
    # Rows of the training part are compared as a whole, documents of a corpus are longer than an item.
    alone = _is_training(corpus)
    short = int((~(is_searched if alone else sought.has_ngrams)).sum())
    if short > _MOST_UNSEARCHED * is_searched.size:
        has = "has" if short == 1 else "have"
        why = f"{has} no words" if alone else f"{has} fewer than 8 words"
        found.append(
            Doubt(
                f"{count(short)} of {count(is_searched.size)} items {why} and cannot be searched"
                + ("." if alone or sought.near is None else ", except as near copies of whole documents."),
                "Ask the question of a test set with longer items.",
            )
        )
    whole = 0 if alone else int((sought.only_whole & sought.has_ngrams).sum())
    if whole > _MOST_UNSEARCHED * is_searched.size:
        found.append(
            Doubt(
                f"{count(whole)} of {count(is_searched.size)} items have so short a question and answer that they are "
                "found only where all of the item stands without other words in between.",
                "Ask the question of a test set with longer items.",
            )
        )
    framed = 0 if alone else int((sought.own_share() < WHOLE).sum())
    if framed > _MOST_UNSEARCHED * is_searched.size:
        found.append(
            Doubt(
                f"Of {count(framed)} of {count(is_searched.size)} questions a fifth of the words or more stand in many "
                "items, as an instruction or examples do: a document that has the rest alone may not be found.",
                "Give the items without what they share.",
            )
        )
    if lacking := say_lacking(scanned, corpus):
        found.append(
            Doubt(f"{lacking[0].upper()}{lacking[1:]}.", f"Name fields that are there with {option('field')}.")
        )
    if scanned.broken:
        found.append(
            Doubt(
                f"A part of the corpus could not be read: {scanned.broken[0][0]} ({scanned.broken[0][1]})"
                + (f", and {len(scanned.broken) - 1} more." if len(scanned.broken) > 1 else "."),
                "Mend it, and search again.",
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
    if n_without > _MOST_UNSEARCHED * total:
        found.append(
            Doubt(
                f"{count(n_without)} of {count(total)} documents "
                f"{'has' if n_without == 1 else 'have'} no text in the field that is read.",
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
    wholes = [text for text in sought.texts if text.is_whole]
    tried = wholes[:: max(1, len(wholes) // _MOST_CONTROLS)]
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
    tried = near.texts[:: max(1, len(near.texts) // _MOST_CONTROLS)]
    said = [" ".join(text.words) for text in tried]
    ends = np.cumsum([len(text.encode()) for text in said])
    data = np.frombuffer("".join(said).encode() + b"\0", np.uint8)
    found = near.search(data, np.append(0, ends[:-1]), ends, said.__getitem__)
    return sum(
        not any(copy.item == text.item and copy.counts for copy in found.get(at, ())) for at, text in enumerate(tried)
    )


def _notes(corpus: Corpus, scanned: ScanResult) -> tuple[str, ...]:
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
    found += _say_shares(scanned, corpus)
    found += [f"{name}: {why}." for name, why in scanned.broken]
    n = corpus_counts(corpus, scanned)[1]
    if n:
        found.append(f"{count(n)} document{' has no text, and is' if n == 1 else 's have no text, and are'} left out.")
    return tuple(found)
