"""The figures of overlap: how many items stand in the corpus, and how much of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

declare_verdict("overlap")

_FOUND = declare(
    Measure(
        "overlap.found",
        "items found with their answers",
        "share",
        "lower",
        rule=Rule("max_overlap", "items that stand in the corpus with their answers", "at most"),
    )
)
_DIRTY = declare(Measure("overlap.dirty", "items of which a document has 80 %", "share", "lower", bounded=False))
_PARTIAL = declare(
    Measure("overlap.partial", "items of which a document has 20 to 80 %", "share", "lower", bounded=False)
)
_QUESTION = declare(
    Measure("overlap.question_only", "items found without their answers", "share", "lower", bounded=False)
)
_COVERAGE = declare(
    Measure("overlap.coverage", "mean share of an item in one document", "share", "lower", bounded=False)
)
_UNION = declare(Measure("overlap.union", "mean share of an item in all documents", "share", "lower", bounded=False))
_SEARCHED = declare(Measure("overlap.searched", "items long enough to be searched", "share", "higher", bounded=False))


_DIFFERENCE = declare(
    Measure(
        "overlap.score_difference",
        "score on items in the corpus less that on others",
        "points",
        "neither",
        least=-1,
        most=1,
    )
)


_ADJUSTED = declare(
    Measure(
        "overlap.adjusted_difference",
        "the same at equal difficulty for other systems",
        "points",
        "neither",
        least=-1,
        most=1,
    )
)


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """The share of items found, by class, and mean coverage."""
    found = document.get("overlap") or {}
    if not found:
        return []
    n, n_items = found["n_searched"], found["n_items"]
    of = {"corpus": found["corpus"]}
    low, high = found["low"], found["high"]
    compared = [
        _DIFFERENCE.figure(
            row["difference"], row["difference_low"], row["difference_high"],
            n=row["n_dirty"] + row["n_clean"], reason=row["reason"], model=row["model"], **of,
        )
        for row in found.get("scores") or ()
    ]  # fmt: skip
    compared += [
        _ADJUSTED.figure(
            row["adjusted"], row["adjusted_low"], row["adjusted_high"],
            n=row["n_adjusted"], reason=row["adjusted_reason"], model=row["model"], **of,
        )
        for row in found.get("scores") or ()
        if "n_systems" in row
    ]  # fmt: skip
    return [
        _FOUND.figure(found["share"], low, high, n=n, reason=found["reason"], **of),
        *(
            measure.figure(found[key], n=n, reason=found["reason"], **of)
            for measure, key in (
                (_DIRTY, "dirty"), (_PARTIAL, "partial"), (_QUESTION, "question_only"), (_COVERAGE, "coverage"),
                (_UNION, "union"),
            )
        ),
        _SEARCHED.figure(n / n_items, n=n_items, **of),
        *compared,
    ]  # fmt: skip
