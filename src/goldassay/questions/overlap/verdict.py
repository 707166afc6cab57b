"""From the share of items that stand in the training data to a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.numbers import count, percent
from goldassay.core.verdicts import Headline, Verdict
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import judge_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import OverlapLimits
    from goldassay.stats.clusters import Clusters
    from goldassay.stats.intervals import Interval
    from goldassay.stats.verdicts import Doubt

_NEXT = {
    "sound": "Keep the report with the score; it holds for this corpus alone, and for copies, not for paraphrases.",
    "caution": "Report the score without the items that were found, beside the score on all.",
    "unsound": "Leave out the items that were found, or take another test set, before comparing scores.",
}

# Where nothing can be left out as found.
_IN_PARTS = "Read the items with most of their words in one document: are they copies?"


def judge_overlap(
    share: float,
    interval: Interval | None,
    said: Sequence[str],
    doubts: Sequence[Doubt],
    clusters: Clusters,
    limits: OverlapLimits,
    known: Interval | None = None,
    touched: Interval | None = None,
) -> Verdict:
    """Judge the share of items that stand in a document with their answers.

    Questions that stand there without their answers are no proof that these were seen, and none that they were not: the
    answer may stand further below, or be written otherwise. A part of a question may be of a copy that was cut or
    reworded. Where there are many of either, nothing is sound.

    Args:
        share: Of the items that could be searched.
        interval: Of the share over clusters of items; None where there are too few.
        said: Sentences on what was found, the share first.
        doubts: What forbids the word sound.
        clusters: Which items count as one.
        limits: When to say caution or unsound.
        known: Interval of the share of items whose question stands in a document, with its answer or without.
        touched: The same of items of which a document has 20 % of the question; or, where no other item shares a text
            with them, 20 % of all words, by itself or with others, or a whole text.
    """
    rule = (
        "By the share of items of which one document holds 80 % of the words of the question, with the answer within "
        "50 words after it (of items without an answer, 80 % of the whole item): unsound if the lower end is at least "
        f"{percent(limits.unsound)}, caution if at least {percent(limits.caution)}. Sound if the upper end lies below "
        f"{percent(limits.unsound)}, everything could be read and searched, and there are {LEAST_CLUSTERS} independent "
        "items; else unresolved. In place of sound it is caution where the questions of "
        f"{percent(limits.unsound)} of the items (lower end) stand there, with their answers or without, or 20 % of "
        "the words of so many questions, or 20 % of all words (also in several documents, or rows that follow each "
        "other) or one of several texts of so many items that share no text with another."
    )
    if interval is None:
        why = doubts[0].why if doubts else "There are too few items."
        return Verdict("not measurable", " ".join([*said, why]), None, doubts[0].mend if doubts else "", rule)
    word = judge_interval(interval.low, interval.high, limits.caution, limits.unsound)
    told = list(said)
    next_step = ""
    if word == "sound" and known is not None and known.low >= limits.unsound:
        word, next_step = "caution", _IN_PARTS
        told.append("So many questions are no accident: their answers may stand elsewhere, or be written otherwise.")
    if word == "sound" and touched is not None and touched.low >= limits.unsound:
        word, next_step = "caution", _IN_PARTS
        told.append(
            f"Of at least {percent(touched.low)} of the items one document, or all together, have 20 % of the words or "
            "more, or a whole text that no other item has: copies that were cut, also into rows, reworded, or written "
            "with other words between their parts look like this."
        )
    if word == "sound" and (doubts or clusters.effective < LEAST_CLUSTERS):
        word = "unresolved"
    if word == "unresolved":
        if interval.high >= limits.unsound:
            told.append(
                f"The upper end is {percent(interval.high)}, not below {percent(limits.unsound)}: the items are too "
                "few to rule it out."
            )
            next_step = "Search for more items."
        if clusters.effective < LEAST_CLUSTERS:
            told.append(f"The items form {count(clusters.effective)} clusters; {LEAST_CLUSTERS} are needed.")
            next_step = "Search for items from more sources."
    told += [each.why for each in doubts]
    if doubts and word == "unresolved":
        next_step = doubts[0].mend
    headline = Headline("items found with their answers", share, interval.low, interval.high, "share")
    at_most = max((interval.high, *(each.at_most for each in doubts)))
    return Verdict(word, " ".join(told), headline, next_step or _NEXT.get(word, ""), rule, at_most)
