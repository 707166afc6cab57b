"""What a corpus has of a test set: the share of items found with their answers, and what one document has of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict, figure, left_out, result, role
from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

declare_verdict("overlap")

_SEARCHED = declare(Measure("overlap.searched", "items long enough to be searched", "share", "higher", bounded=False))


@result
class KindCount(Result):
    """Items by the worst kind of hit in a document; `share` is of the searched items, None where there are none."""

    kind: str
    n: int
    share: float | None


@result
class CoverageStep(Result):
    """Items of which one document has a share of the words, such as "20 to 40 %"."""

    of: str
    n: int


@result
class FileCount(Result):
    """How many of the items that count are in one file."""

    place: str
    n: int


@result
class FoundItem(Result):
    """An item beside the best place where it stands.

    Attributes:
        item: Its name.
        kind: Of the hit.
        coverage: Share of its words that the document has.
        near: Similarity of a near copy; None of what is none.
        longest: Most words that follow each other in both.
        place: The file, with the row or the byte.
        text: The words that were sought.
        marks: Begin and end of the characters that are alike.
        excerpt: Words of the document.
        excerpt_marks: Likewise of these.
    """

    item: str
    kind: str
    coverage: float
    near: float | None
    longest: int
    place: str
    text: str
    marks: tuple[tuple[int, int], ...]
    excerpt: str
    excerpt_marks: tuple[tuple[int, int], ...]


@result
class ModelScore(Result):
    """A model's score on all items, on those in the corpus, and on others; None where too few were answered.

    Attributes:
        model: Its name.
        n_answered: Items that it answered.
        n_lacking: Items that it did not.
        n_all: Items of the score on all.
        all: That score; `all_low` and `all_high` are the ends of its interval.
        n_dirty: Answered items that are in the corpus, with their score and its interval.
        n_clean: Likewise such as do not.
        difference: Of the last two, with its interval.
        reason: Why it is undefined, or "".
        adjusted: The same at equal difficulty for other systems, NaN where undefined; None where no board was given,
            as all that follows.
        n_strata: Steps of difficulty that have items of both kinds.
        n_adjusted: Items in these.
        adjusted_reason: Why it is undefined, or "".
        n_systems: Other systems.
    """

    model: str = role("model")
    n_answered: int
    n_lacking: int
    n_all: int
    all: float | None
    all_low: float | None
    all_high: float | None
    n_dirty: int
    dirty: float | None
    dirty_low: float | None
    dirty_high: float | None
    n_clean: int
    clean: float | None
    clean_low: float | None
    clean_high: float | None
    difference: float | None = figure(
        Measure(
            "overlap.score_difference", "score on items in the corpus less that on others", "points", "neither",
            least=-1, most=1,
        ),
        "difference_low", "difference_high", n="n_compared", reason="reason",
    )  # fmt: skip
    difference_low: float | None
    difference_high: float | None
    reason: str
    adjusted: float | None = figure(
        Measure(
            "overlap.adjusted_difference", "the same at equal difficulty for other systems", "points", "neither",
            least=-1, most=1,
        ),
        "adjusted_low", "adjusted_high", n="n_adjusted", reason="adjusted_reason", default=None,
    )  # fmt: skip
    adjusted_low: float | None = left_out(default=None)
    adjusted_high: float | None = left_out(default=None)
    n_strata: int | None = left_out(default=None)
    n_adjusted: int | None = left_out(default=None)
    adjusted_reason: str | None = left_out(default=None)
    n_systems: int | None = left_out(default=None)

    @property
    def n_compared(self) -> int:
        """Items of the difference."""
        return self.n_dirty + self.n_clean


@result
class OverlapResult(Result):
    """What a corpus has of a test set; shares are of the items that were searched, None where there are none.

    Attributes:
        corpus: What the corpus is called.
        share: Items that are in one document with their answers.
        low: Lower end of its interval over clusters; None where there are too few.
        high: Upper end.
        excess: The same beyond the control, with `excess_low` and `excess_high`.
        control: Of items whose question was found, the share found with wrong choices or another item's answer; None
            where no question was found, or nothing has a control.
        control_reason: Why it is undefined.
        listed: Items whose choices a document lists without the right key.
        reordered: Items with their words in a training row in another order, beyond `within`, with `reordered_low` and
            `reordered_high`; None where only a corpus was searched.
        within: Items with the words of another item of the test set in another order.
        reordered_reason: Why both are undefined, or "".
        reason: Why the shares are undefined, or "".
        n_items: Items of the test set.
        n_searched: Of these, such as are long enough.
        n_found: Items that are in one document with their answers.
        n: Words of an n-gram.
        clean: Items of which no document has 20 % of the words.
        partial: Items of which one has 20 to 80 %.
        dirty: Items of which one has 80 %.
        question_only: Items whose question is in a document without the answer.
        coverage: Mean share of an item's words in one document.
        union: The same in all documents together.
        kinds: Items by the worst kind of hit.
        histogram: Items by the share of their words in one document.
        files: Files with most items that count.
        worst: The worst items, beside the place where they stand.
        scores: Of each model.
        sentences: What was found, beside the verdict.
        n_documents: Documents with text.
        with_training: Whether the training part was searched beside a corpus.
        n_bytes: Bytes that were searched, unpacked.
        n_broken_lines: Lines that are no JSON objects.
        n_broken: Files of which a part could not be read.
        n_boilerplate: Places of n-grams in items of more than three clusters.
        near_copies: Whether near copies were sought.
        notes: How the items were read, and what was left out.
    """

    corpus: str = role("corpus")
    share: float = figure(
        Measure("overlap.found", "items found with their answers", "share", "lower"),
        "low", "high", n="n_searched", reason="reason",
    )  # fmt: skip
    low: float | None
    high: float | None
    reason: str
    excess: float = figure(
        Measure("overlap.excess", "items found beyond the control", "share", "lower"),
        "excess_low", "excess_high", n="n_searched", reason="reason",
    )  # fmt: skip
    excess_low: float | None
    excess_high: float | None
    control: float | None = figure(
        Measure(
            "overlap.control", "questions found with another answer", "share", "lower", bounded=False,
            rule=Rule("max_overlap_control", "share of the questions found with another answer", "at most"),
        ),
        n="n_searched", reason="control_reason",
    )  # fmt: skip
    control_reason: str
    listed: float | None = figure(
        Measure("overlap.listed", "items whose choices are found but not the key", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    reordered: float | None = figure(
        Measure("overlap.reordered", "items with their words in another order", "share", "lower"),
        "reordered_low", "reordered_high", n="n_searched", reason="reordered_reason",
    )  # fmt: skip
    reordered_low: float | None
    reordered_high: float | None
    within: float | None = figure(
        Measure("overlap.reordered_within", "the same within the test set", "share", "lower", bounded=False),
        n="n_searched", reason="reordered_reason",
    )  # fmt: skip
    reordered_reason: str
    n_items: int
    n_searched: int
    n_found: int
    n: int
    clean: float | None
    partial: float | None = figure(
        Measure("overlap.partial", "items of which a document has 20 to 80 %", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    dirty: float | None = figure(
        Measure("overlap.dirty", "items of which a document has 80 %", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    question_only: float | None = figure(
        Measure("overlap.question_only", "items found without their answers", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    coverage: float | None = figure(
        Measure("overlap.coverage", "mean share of an item in one document", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    union: float | None = figure(
        Measure("overlap.union", "mean share of an item in all documents", "share", "lower", bounded=False),
        n="n_searched", reason="reason",
    )  # fmt: skip
    kinds: tuple[KindCount, ...]
    histogram: tuple[CoverageStep, ...]
    files: tuple[FileCount, ...]
    worst: tuple[FoundItem, ...]
    scores: tuple[ModelScore, ...]
    sentences: tuple[str, ...]
    n_documents: int
    with_training: bool
    n_bytes: int
    n_broken_lines: int
    n_broken: int
    n_boilerplate: int
    near_copies: bool
    notes: tuple[str, ...]

    def more_figures(self) -> Iterable[Figure]:
        """The share of all items that were searched."""
        return (_SEARCHED.figure(self.n_searched / self.n_items, n=self.n_items),)
