"""What was found of each item, put together: classes, kinds, the share that counts, its verdict, the worst items."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.numbers import count, percent, percents_apart
from goldassay.core.results import Headline, Result, Verdict, frame_of_records
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.overlap.doubts import (
    corpus_counts,
    describe_control,
    describe_found,
    describe_reordered,
    find_doubts,
    notes_on,
)
from goldassay.questions.overlap.measures import (
    COUNTED,
    KINDS,
    MOST_CONTROL,
    MOVED,
    TRAINING,
    Excess,
    classify,
    excess_of,
    kinds_of,
    worst_kinds,
)
from goldassay.questions.overlap.page import describe_scores
from goldassay.questions.overlap.result import CoverageStep, FileCount, FoundItem, KindCount, ModelScore, OverlapResult
from goldassay.questions.overlap.scored_runs import compare_scores
from goldassay.questions.overlap.search.confirmation import KEPT
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import Doubt, judge_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import OverlapLimits, Settings
    from goldassay.questions.overlap.doubts import Reordered
    from goldassay.questions.overlap.items import TestItems
    from goldassay.questions.overlap.search.corpus import Corpus
    from goldassay.questions.overlap.search.scan import ScanResult
    from goldassay.questions.overlap.search.sought import Sought
    from goldassay.stats.clusters import Clusters
    from goldassay.stats.intervals import Interval

_REORDERED, _SWAPPED = map(KINDS.index, MOVED)
_QUESTION_ONLY, _NEAR_COPY, _ONE_PART, _ANSWER_ONLY, _SOME_WORDS, _LISTED = map(
    KINDS.index,
    ("question only", "near copy", "one part", "answer only", "some words", "choices without the right key"),
)
_NEXT = {
    "sound": "Keep the report with the score; it holds for this corpus alone, and for copies, not for paraphrases.",
    "caution": "Report the score without the items that were found, beside the score on all.",
    "unsound": "Leave out the items that were found, or take another test set, before comparing scores.",
}

# Where nothing can be left out as found.
_IN_PARTS = "Read the items with most of their words in one document: are they copies?"


@dataclass(frozen=True)
class Overlap(Result):
    """What a corpus has of a test set.

    Attributes:
        rows: One row an item: item, class, kind, coverage, union, question, answer, longest, similarity (to the nearest
            near copy), n_documents, n_holding.
        places: The best places of each item.
        share: Of the searched items, those found with their answers.
        interval: Its interval over clusters; None where there are too few.
        excess: The share beyond the control.
        beyond: Items with their words in another order, beyond those within the test set; None where not looked for.
        verdict: On that.
        scanned: Of the corpus.
        notes: On what was left out.
        scores: One row a model: its score on all, dirty and clean items.
    """

    rows: pl.DataFrame
    places: pl.DataFrame
    share: float
    interval: Interval | None
    excess: Excess
    beyond: Excess | None
    verdict: Verdict
    scanned: ScanResult
    corpus: Corpus
    notes: tuple[str, ...]
    scores: tuple[ModelScore, ...] = ()

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
    reordered: Reordered | None = None,
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
        reordered: Items with their words in another order; None where that was not looked for.
    """
    n = sought.n_items
    places, codes = scanned.matches, np.asarray(items.clusters.codes)
    has_answer = np.array([bool(words) for words in sought.answers])
    numbers = places["item"].to_numpy()
    shares = {
        name: places[name].to_numpy()
        for name in (
            "coverage", "question", "answer", "answered", "part", "near", "near_question", "near_answer", "listed",
        )
    }  # fmt: skip
    kinds = kinds_of(**shares, has_answer=has_answer[numbers])
    # What many items ask says nothing of any one of them.
    is_stock = sought.own_share() == 0
    kinds[(kinds == _QUESTION_ONLY) & is_stock[numbers]] = _SOME_WORDS
    worst = worst_kinds(numbers, kinds, n)
    if reordered is not None:
        # Sets of characters are alike where two texts are swapped.
        worst[reordered.is_swapped & (worst == _NEAR_COPY)] = _SWAPPED
    best = np.zeros((4, n))
    for values, name in zip(best, ("coverage", "question", "answer", "near"), strict=True):
        np.maximum.at(values, numbers, places[name].to_numpy())
    coverage, question, answer, near = best
    longest = np.zeros(n, np.int64)
    np.maximum.at(longest, numbers, places["longest"].to_numpy())
    # A near copy holds the item, though a changed word in each line leaves no n-gram.
    classes = np.where(worst == _NEAR_COPY, "dirty", classify(coverage))
    is_searched = sought.is_sought
    control = np.array([
        scanned.rivals.get(at, 0).bit_count() / len(each.rivals) if each.rivals else np.nan
        for at, each in enumerate(sought.controls)
    ])  # fmt: skip
    shown, beyond = worst.copy(), None
    if reordered is not None:
        for kind, is_kind in ((_REORDERED, reordered.is_found), (_SWAPPED, reordered.is_swapped)):
            shown[is_kind & (shown > _LISTED)] = kind
        is_moved, own = shown == _REORDERED, reordered.is_within
        chosen = np.flatnonzero(is_searched)
        everyone = np.ones(chosen.size, bool)
        beyond = excess_of(is_moved[chosen], own[chosen], everyone, np.asarray(codes)[chosen])
    files = [file.name for file in corpus.files]
    rows = pl.DataFrame(
        {
            "item": [item.id for item in items.items],
            "class": np.where(is_searched, classes, "not searched").tolist(),
            "kind": np.where(is_searched, np.array(KINDS)[shown], "not searched").tolist(),
            "coverage": coverage,
            "union": np.maximum(scanned.union, coverage),
            "question": question,
            "answer": answer,
            "longest": longest,
            "similarity": near,
            "control": control,
            "n_documents": scanned.n_found,
            "n_holding": scanned.n_holding,
        }
    )
    named = places.with_columns(
        kind=pl.Series([KINDS[kind] for kind in kinds.tolist()], dtype=pl.String),
        id=pl.Series([items.items[at].id for at in numbers.tolist()], dtype=pl.String),
        place=pl.Series([files[at] for at in places["file"].to_list()], dtype=pl.String),
    )
    counts = worst < len(COUNTED)
    searched = np.flatnonzero(is_searched)
    share, interval = _share(counts[searched], codes[searched])
    doubts = find_doubts(items, sought, scanned, corpus, is_searched)
    is_known = (worst <= _LISTED) | (worst == _QUESTION_ONLY)
    is_asked = counts | (worst == _QUESTION_ONLY) | (control > 0)
    excess = excess_of(counts[searched], control[searched], is_asked[searched], codes[searched])
    said = describe_found(items, counts, worst, is_searched, scanned, share, interval, corpus)
    control_said = describe_control(excess, items)
    # The first is all that a terminal and a card show of an audit's question; a control without hits moves nothing.
    first = [said[0], *([control_said] if excess.control > 0 else [])]
    said = [" ".join(first), *said[1:], *([control_said] if excess.control == 0 else [])]
    is_listed = worst == _LISTED
    _, known = _share(is_known[searched], codes[searched])
    # A text that several items share, such as a premise, says nothing of any one of them.
    is_alone = np.bincount(codes)[codes] == 1
    # Rows into which an item was cut hold it together, and none by itself.
    has_words = np.maximum(scanned.union, coverage) >= KEPT
    # The question of such an answer was not sought without it, and may be in another document.
    is_short = np.zeros(n, bool)
    is_short[list(sought.short_questions)] = True
    is_alone_answer = (worst == _ANSWER_ONLY) & is_short
    is_touched = is_known | is_alone_answer | (((worst == _ONE_PART) | has_words) & is_alone)
    is_touched |= (question >= KEPT) & ~is_stock
    touched, listed, found = (
        _share(each[searched], codes[searched])[1] for each in (is_touched, is_listed, counts | is_listed)
    )
    is_apart = {file.name for file in corpus.files} == {TRAINING} and bool((shown >= _SOME_WORDS).all())
    moved = describe_reordered(shown, beyond)
    shares_of = Shares(excess, known, touched, listed, found, beyond, moved, is_apart)
    verdict = judge_overlap(shares_of, said, doubts, items.clusters, settings.verdicts.overlap)
    is_dirty = is_searched & (counts | (classes == "dirty"))
    is_clean = is_searched & (classes == "clean") & ~counts
    compared = tuple(
        compare_scores(model, own, is_dirty, is_clean, codes, difficulty.get(model)) for model, own in scores.items()
    )
    notes = notes_on(corpus, scanned, items)
    return Overlap(rows, named, share, interval, excess, beyond, verdict, scanned, corpus, notes, compared)


def _share(counts: NDArray[np.bool_], clusters: NDArray[np.int64]) -> tuple[float, Interval | None]:
    try:
        scored = score_one_run(counts.astype(np.float64), clusters)
    except InputError:
        return (float(counts.mean()) if counts.size else float("nan")), None
    return scored.mean, scored.interval


# Items that the page shows beside the place where they stand, and files that it names.
MOST_SHOWN, _MOST_FILES = 30, 20
# Fewer words in a row that two texts share may be in any two.
_LEAST_RUN = 3
# Steps of coverage that are drawn, at whose borders items are clean, partial and dirty.
_STEPS = 5
_TABLE_COLUMNS = (
    "id", "kind", "place", "row", "offset", "coverage", "question", "answer", "answered", "part", "part_name",
    "longest", "near", "near_question", "near_answer",
)  # fmt: skip


def tables_of(found: Overlap) -> dict[str, pl.DataFrame]:
    """Full tables by name."""
    tables = {"overlap_items": found.rows, "overlap_places": found.places.select(_TABLE_COLUMNS)}
    if found.scores:
        tables["overlap_scores"] = frame_of_records(found.scores)
    return tables


def describe_overlap(found: Overlap, items: TestItems, sought: Sought) -> OverlapResult:
    """What was found, as reports have it."""
    searched = found.rows.filter(pl.col("class") != "not searched")
    n = searched.height
    classes = dict(searched["class"].value_counts().iter_rows())
    kinds = dict(searched["kind"].value_counts().iter_rows())
    coverage = searched["coverage"].to_numpy()

    def share(n_found: int) -> float | None:
        return n_found / n if n else None

    names = [file.name for file in found.corpus.files]
    n_documents, _, n_bytes = corpus_counts(found.corpus, found.scanned)
    return OverlapResult(
        corpus=_called(names),
        share=found.share,
        low=None if found.interval is None else found.interval.low,
        high=None if found.interval is None else found.interval.high,
        excess=found.excess.value,
        excess_low=None if found.excess.interval is None else found.excess.interval.low,
        excess_high=None if found.excess.interval is None else found.excess.interval.high,
        control=None if np.isnan(found.excess.control) else found.excess.control,
        control_reason="no question was found, or no item has an answer" if np.isnan(found.excess.control) else "",
        listed=share(kinds.get("choices without the right key", 0)),
        reordered=None if found.beyond is None else found.beyond.value,
        reordered_low=None if found.beyond is None or found.beyond.interval is None else found.beyond.interval.low,
        reordered_high=None if found.beyond is None or found.beyond.interval is None else found.beyond.interval.high,
        within=None if found.beyond is None else found.beyond.control,
        reordered_reason="" if found.beyond is not None else "only the rows of a training part are searched for it",
        reason="" if n else "no item has words",
        n_items=len(items.items),
        n_searched=n,
        n_found=sum(kinds.get(kind, 0) for kind in COUNTED),
        n=sought.n,
        clean=share(classes.get("clean", 0)),
        partial=share(classes.get("partial", 0)),
        dirty=share(classes.get("dirty", 0)),
        question_only=share(kinds.get("question only", 0)),
        coverage=float(coverage.mean()) if n else None,
        union=float(searched["union"].to_numpy().mean()) if n else None,
        kinds=tuple(KindCount(kind, kinds.get(kind, 0), share(kinds.get(kind, 0))) for kind in KINDS),
        histogram=_histogram(coverage),
        files=_files(found),
        worst=tuple(_worst(found, sought)),
        scores=found.scores,
        sentences=tuple(describe_scores(found.scores)),
        n_documents=n_documents,
        with_training=0 < names.count(TRAINING) < len(names),
        n_bytes=n_bytes,
        n_broken_lines=found.scanned.n_broken_lines,
        n_broken=len(found.scanned.broken),
        n_boilerplate=int(sought.is_common.sum()),
        near_copies=sought.near is not None,
        notes=(*items.decisions, *found.notes),
    )


def _called(names: list[str]) -> str:
    others = [name for name in names if name != TRAINING]
    said = [TRAINING] if len(others) < len(names) else []
    if others:
        said.append(others[0] if len(others) == 1 else f"{count(len(others))} files")
    return " and ".join(said)


def _histogram(coverage: NDArray[np.float64]) -> tuple[CoverageStep, ...]:
    fifth = np.minimum((coverage * _STEPS + 1e-9).astype(int), _STEPS - 1)
    counts = np.bincount(fifth, minlength=_STEPS)
    nothing = int((coverage == 0).sum())
    counts[0] -= nothing
    width = 100 // _STEPS
    names = [f"up to {width} %", *(f"{width * at} to {width * (at + 1)} %" for at in range(1, _STEPS))]
    return (CoverageStep("nothing", nothing), *map(CoverageStep, names, counts.tolist()))


def _files(found: Overlap) -> tuple[FileCount, ...]:
    """Files with most items that count, by the best places of each."""
    counted = (
        found.places.filter(pl.col("kind").is_in(COUNTED))
        .unique(["item", "place"], maintain_order=True)
        .group_by("place", maintain_order=True)
        .agg(n=pl.len())
        .sort(["n", "place"], descending=[True, False])
    )
    return tuple(FileCount(place, n) for place, n in counted.head(_MOST_FILES).iter_rows())


class _Place(NamedTuple):
    """A row of places, as far as the page shows it."""

    item: int
    id: str
    kind: str
    coverage: float
    near: float
    longest: int
    place: str
    row: int
    offset: int
    excerpt: str


def _worst(found: Overlap, sought: Sought) -> Iterator[FoundItem]:
    """The worst items, each beside its best place, with the matched words marked in both."""
    order = pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)}, return_dtype=pl.Int64)
    first = found.places.unique("item", keep="first", maintain_order=True)
    worst = first.sort([order, -pl.col("rank"), pl.col("item")]).head(MOST_SHOWN)
    for row in map(_Place._make, worst.select(_Place._fields).iter_rows()):
        text = max(
            (each for each in sought.texts if each.item == row.item and each.is_whole),
            key=lambda each: len(each.words),
            default=None,
        )
        if text is None:
            continue
        least = 1 if row.near > row.coverage else _LEAST_RUN
        is_marked, in_excerpt = _alike(text.words, row.excerpt.split(" "), least)
        yield FoundItem(
            item=row.id,
            kind=row.kind,
            coverage=row.coverage,
            near=row.near or None,
            longest=row.longest,
            place=f"{row.place}, row {row.row}" if row.row > 0 else f"{row.place}, byte {row.offset}",
            text=" ".join(text.words),
            marks=_spans(text.words, is_marked),
            excerpt=row.excerpt,
            excerpt_marks=_spans(tuple(row.excerpt.split(" ")), in_excerpt),
        )


def _alike(words: Sequence[str], others: Sequence[str], least: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which words of two texts are in both in the same order, in runs of so many at least."""
    found = np.zeros(len(words), bool), np.zeros(len(others), bool)
    for begin, other, size in difflib.SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks():
        if size < least:
            continue
        found[0][begin : begin + size] = True
        found[1][other : other + size] = True
    return found


def _spans(words: Sequence[str], is_marked: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Characters of marked words in their text joined by spaces; neighbors make one span."""
    found: list[tuple[int, int]] = []
    place = 0
    before = False
    for word, marked in zip(words, is_marked.tolist(), strict=True):
        end = place + len(word)
        if marked:
            found.append((found.pop()[0] if before else place, end))
        before = marked
        place = end + 1
    return tuple(found)


class Shares(NamedTuple):
    """What is judged, shares of the items that could be searched.

    Attributes:
        excess: Items found with their answers, beyond the control.
        known: Interval of those whose question is in a document, with its answer or without.
        touched: Of those of which a document has 20 % of the question; or, where no other item shares a text with them,
            20 % of all words, by itself or with others, or a whole text.
        listed: Of those whose choices a document lists without saying which is right.
        found: Of these and the items found with their answers.
        beyond: Items with their words in another order, beyond those that the test set has within itself.
        moved: What is said of these and of swapped texts, a sentence or "".
        is_apart: Whether only a training part was searched, and no row of it has a text of any item.
    """

    excess: Excess
    known: Interval | None = None
    touched: Interval | None = None
    listed: Interval | None = None
    found: Interval | None = None
    beyond: Excess | None = None
    moved: str = ""
    is_apart: bool = False


def judge_overlap(
    shares: Shares, said: Sequence[str], doubts: Sequence[Doubt], clusters: Clusters, limits: OverlapLimits
) -> Verdict:
    """Judge the share of items that are in a document with their answers, beyond the control.

    Questions that are there without their answers are no proof that these were seen, and none that they were not: the
    answer may stand further below, or be written otherwise. A part of a question may be of a copy that was cut or
    reworded. Where there are many of either, nothing is sound.

    Args:
        shares: What was found.
        said: Sentences on it, the share first.
        doubts: What forbids the word sound.
        clusters: Which items count as one.
        limits: When to say caution or unsound.
    """
    excess, known, touched, listed, found, beyond, said_of_moved, is_apart = shares
    # As `goldassay split` makes them: that nothing is shared was counted, however few clusters there are.
    is_counted = is_apart and not doubts
    interval = excess.interval
    rule = (
        "By the share of items of which one document holds 80 % of the words of the question, with the answer within "
        "50 words after it or in pieces in order (of items without an answer, 80 % of the whole item), beyond the "
        "share with wrong choices or the answers of other items in its place: unsound if the lower end is at least "
        f"{percent(limits.unsound)}, caution if at least {percent(limits.caution)}. Sound if the upper end lies below "
        f"{percent(limits.unsound)}, everything could be read and searched, and there are {LEAST_CLUSTERS} independent "
        "items; else unresolved. In place of sound it is caution where the questions of "
        f"{percent(limits.unsound)} of the items (lower end) are there, with their answers or without; or 20 % of "
        "the words of as many questions; or, of as many items that share no text with another, 20 % of all words "
        "(also spread over documents or rows that follow each other) or one of their texts."
    )
    if interval is None:
        why = doubts[0].why if doubts else "There are too few items."
        return Verdict("not measurable", why, None, doubts[0].mend if doubts else "", rule, notes=tuple(said))
    word = "sound" if is_counted else judge_interval(interval.low, interval.high, limits.caution, limits.unsound)
    told = list(said)
    next_step = ""
    moved = None if beyond is None else beyond.interval
    # An answer that is not found behind its question may stand elsewhere: what forbids "sound" bounds the flaw, too.
    others = ((known, limits.unsound), (touched, limits.unsound), (listed, limits.caution), (moved, limits.caution))
    bounds = [interval.high, *(each.at_most for each in doubts)]
    bounds += [each.high for each, least in others if each is not None and each.low >= least]
    if excess.control > MOST_CONTROL and known is not None and known.high >= limits.unsound:
        word, next_step = ("caution" if known.low >= limits.caution else "unresolved"), _IN_PARTS
        bounds.append(known.high)
        told.append(
            "So answers do not tell copies from chance, and the questions alone are judged: those of "
            f"{percent(known.low)} to {percent(known.high)} of the items are there."
        )
    if word in ("sound", "unresolved") and listed is not None and listed.low >= limits.caution:
        word, next_step = "caution", _NEXT["caution"]
        told.insert(
            0, f"Documents list the choices of at least {percent(listed.low)} of the items, without the right key."
        )
    if word in ("sound", "unresolved") and moved is not None and moved.low >= limits.caution:
        word, next_step = "caution", _IN_PARTS
        told.insert(0, said_of_moved)
    elif said_of_moved:
        told[0] = f"{told[0]} {said_of_moved}"
    if word == "sound" and not is_counted and found is not None and found.high >= limits.unsound:
        word = "unresolved"
        bounds.append(found.high)
    if word == "sound" and known is not None and known.low >= limits.unsound:
        word, next_step = "caution", _IN_PARTS
        told.insert(
            0,
            f"The questions of at least {percent(known.low)} of the items are in the corpus, few with their answers.",
        )
    if word == "sound" and touched is not None and touched.low >= limits.unsound:
        word, next_step = "caution", _IN_PARTS
        most = f"a fifth of the words, or a whole text, of at least {percent(touched.low)} of the items"
        told.insert(0, f"Documents of the corpus hold {most}.")
        told.append("They may be copies that were cut, also into rows, reworded, or with words between their parts.")
    if word == "sound" and not is_counted and (doubts or clusters.effective < LEAST_CLUSTERS):
        word = "unresolved"
    if word == "unresolved":
        if interval.high >= limits.unsound:
            high, limit = percents_apart(interval.high, limits.unsound)
            told.append(f"The upper end is {high}, not below {limit}: the items are too few to rule it out.")
            next_step = "Search for more items."
        if clusters.effective < LEAST_CLUSTERS:
            told.append(f"The items form {count(clusters.effective)} clusters; {LEAST_CLUSTERS} are needed.")
            next_step = "Search for items from more sources."
    told += [each.why for each in doubts]
    if doubts and word == "unresolved":
        next_step = doubts[0].mend
    headline = Headline("items found beyond the control", excess.value, interval.low, interval.high, "share")
    if is_counted and word == "sound":
        told.append("No training row holds a text of any item. All rows were compared, so that nothing is estimated.")
    at_most = 0.0 if is_counted and word == "sound" else max(bounds)
    return Verdict(word, told[0], headline, next_step or _NEXT.get(word, ""), rule, at_most, tuple(told[1:]))
