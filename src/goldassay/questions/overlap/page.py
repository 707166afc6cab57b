"""The page of overlap: kinds of hits, files, the worst items beside the place where they stand, scores of models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goldassay.core.charts import Axis, Bar, BarGroup, Bars, Chart, by_name
from goldassay.core.numbers import count, points, signed_points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.overlap.measures import TRAINING
from goldassay.questions.overlap.result import ModelScore, OverlapResult
from goldassay.questions.rows import issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding

LEAD = "Was the test set seen in training?"
CAUTION = (
    "Items that are in a corpus may be easier by themselves, such as well-known ones: a difference does not prove "
    "that a model memorized them. A model that was not trained on the corpus shows what it is without that."
)
OTHERS = (
    "Difficulty is what the other systems of the board score on an item on average. Where these have seen the items, "
    "too, it hides the difference."
)


def sections(found: OverlapResult, _: Around) -> tuple[Section, ...]:
    """The section "Overlap"."""
    others = (_scores(found), _worst(found), _files(found))
    section = Section(
        key="overlap",
        title=PAGE.title,
        lead=LEAD,
        sentences=found.sentences,
        notes=found.notes,
        parts=(Part("overlap_coverage", _kinds(found)), *(Part(table=each) for each in others if each.rows)),
        how=explanation("goldassay.questions.overlap", "how"),
    )
    return (section,)


def _kinds(found: OverlapResult) -> Table:
    columns = (
        Column("kind", "what one document has of an item"),
        Column("n", "items", "count"),
        Column("share", "share", "percent"),
    )
    caption = f"{count(found.n_searched)} items by the worst kind of hit in {count(found.n_documents)} "
    caption += "document" if found.n_documents == 1 else "documents"
    if found.with_training:
        caption += " and the training part"
    return table_of(
        "overlap_kinds", caption, columns, [each for each in found.kinds if each.n], file="overlap_items"
    )  # fmt: skip


def _scores(found: OverlapResult) -> Table:
    columns = (
        Column("model", "model", "data"),
        with_bounds("all", "all items", "points"),
        with_bounds("dirty", "in the corpus", "points"),
        Column("n_dirty", "items", "count"),
        with_bounds("clean", "not in it", "points"),
        Column("n_clean", "items", "count"),
        with_bounds("difference", "difference", "difference"),
        *([with_bounds("adjusted", "at equal difficulty", "difference")] if _has_board(found.scores) else []),
    )
    caption = "Scores on items that are in the corpus (80 % or more), and on such of which it has less than 20 %"
    return table_of("overlap_scores", caption, columns, found.scores, file="overlap_scores")


def _has_board(scores: Sequence[ModelScore]) -> bool:
    return any(each.n_systems is not None for each in scores)


def _worst(found: OverlapResult) -> Table:
    columns = (
        Column("item", "item", "data", aside="kind"),
        Column("text", "in the test set", "prose", marks="marks"),
        Column("excerpt", "in the corpus", "prose", marks="excerpt_marks", aside="place"),
        Column("coverage", "coverage", "percent"),
        *([Column("near", "similarity of a near copy", "percent")] if found.near_copies else []),
        Column("longest", "longest match, words", "count"),
    )
    caption = "The items of which most is in one document, as they are compared; matched words are marked"
    return table_of("overlap_worst", caption, columns, found.worst, file="overlap_places")


def _files(found: OverlapResult) -> Table:
    columns = (Column("place", "file", "data"), Column("n", "items found with their answers", "count"))
    return table_of("overlap_files", "Files in which most items stand", columns, found.files)


def charts(found: OverlapResult, _: Around) -> dict[str, Chart]:
    """A bar for each fifth of coverage."""
    bars = (Bar(each.of, float(each.n), f"{each.of}: {count(each.n)} items", count(each.n)) for each in found.histogram)
    return by_name(
        Bars(
            name="overlap_coverage",
            title="Items by the share of their words that one document has",
            caption="Each item by its best document. From 80 % on an item is dirty, below 20 % clean.",
            groups=(BarGroup("", tuple(bars)),),
            axis=Axis("items", unit="count", digits=0, low=0.0),
        )
    )


def describe_scores(scores: Sequence[ModelScore]) -> list[str]:
    """What the scores say, a sentence a model, and the caution."""
    found = []
    for each in scores:
        if each.difference is None:
            found.append(f"{each.model}: {each.reason}, so that nothing can be compared.")
            continue
        low, high = signed_points(each.difference_low), signed_points(each.difference_high)
        found.append(
            f"{each.model} scores {points(each.dirty)} on {count(each.n_dirty)} items in the corpus and "
            f"{points(each.clean)} on {count(each.n_clean)} outside: "
            f"{signed_points(each.difference)} points ({low} to {high}). On all it scores {points(each.all)}."
        )
        if each.adjusted_reason:
            found.append(f"{each.model} at equal difficulty: {each.adjusted_reason}.")
        elif each.adjusted is not None and not math.isnan(each.adjusted):
            low, high = signed_points(each.adjusted_low), signed_points(each.adjusted_high)
            found.append(
                f"Among items that are equally hard for {count(each.n_systems)} other systems: "
                f"{signed_points(each.adjusted)} points ({low} to {high}; {count(each.n_adjusted)} items in "
                f"{count(each.n_strata)} steps of difficulty)."
            )
        if each.n_lacking:
            found.append(f"{each.model} has no answer to {count(each.n_lacking)} items.")
    return [*found, CAUTION, *([OTHERS] if _has_board(scores) else [])] if found else []


def issues(found: OverlapResult, finding: Finding) -> Iterator[Issue]:
    """The items that were found."""
    if found.n_found:
        alone = "training part" if found.corpus == TRAINING else "corpus"
        kind = f"test item in the {'training part or corpus' if found.with_training else alone}"
        worst = found.worst[0].text if found.worst else ""
        yield issue(finding, kind, found.n_found, worst, of="items", table="overlap_places")


PAGE = Page(
    OverlapResult,
    title="Overlap",
    lead=LEAD,
    sections=sections,
    charts=charts,
    issues=issues,
)
