"""Classes of items by how much of them stands in one document, and kinds of hits by which part it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CLASSES = ("clean", "partial", "dirty")
# Below the first share an item is clean, from the second on dirty.
PARTIAL_FROM, DIRTY_FROM = 0.2, 0.8
# The worst first. Those that count hold all that is asked of a model, with its answer where it has one.
KINDS = (
    "question and answer", "whole item", "near copy", "question only", "answer only", "one part", "some words", "none",
)  # fmt: skip
COUNTED = KINDS[:3]


def classify(coverage: ArrayLike) -> NDArray[np.str_]:
    """Clean below 20 % of an item's words, dirty from 80 % on, else partial.

    Args:
        coverage: Share of each item's words that stand in matched n-grams of one document, (N,).

    Source: Touvron et al. 2023, "Llama 2: Open Foundation and Fine-Tuned Chat Models", section A.6; words here, and
    without skips.
    """
    shares = np.asarray(coverage, np.float64)
    return np.array(CLASSES)[(shares >= PARTIAL_FROM).astype(int) + (shares >= DIRTY_FROM)]


def kinds_of(
    coverage: ArrayLike,
    asked: ArrayLike,
    answer: ArrayLike,
    answered: ArrayLike,
    part: ArrayLike,
    has_answer: ArrayLike,
    near: ArrayLike = 0.0,
    near_asked: ArrayLike = 0.0,
    near_answer: ArrayLike = 0.0,
) -> NDArray[np.int64]:
    """The kind of hit of an item in a document, as an index into `KINDS`.

    An item with an answer is held where the question, or all of it, is covered to 80 % and the answer follows within 50
    words; one without where 80 % of it are covered, and of what is asked in it: a long premise alone is not the item.
    A document is a near copy of an item where its words are nearly the item's, and nearly all of the question is there,
    and of the answer: two pairs with the same long premise are no copies of each other.
    A question without its answer, an answer without its question (also where it is nearly all of the item), and one
    part of an item, such as a premise that many items share, are kinds of their own and do not count.

    Args:
        coverage: Shares of all of the item, (M,).
        asked: Of the question.
        answer: Of the answer.
        answered: Whether the answer follows the question.
        part: Of the part that is covered most.
        has_answer: Whether the item has an answer that can be looked for.
        near: Jaccard similarity of the item with the document, where it was measured and is .8 or more.
        near_asked: Share of the question's shingles that the document has.
        near_answer: Of the answer's.
    """
    whole, question, reply, single = (np.asarray(each) >= DIRTY_FROM for each in (coverage, asked, answer, part))
    follows, is_posed = np.asarray(answered, bool), np.asarray(has_answer, bool)
    some = np.maximum.reduce([np.asarray(each, np.float64) for each in (coverage, asked, answer, part)])
    close, close_asked, close_answer = (np.asarray(each) >= DIRTY_FROM for each in (near, near_asked, near_answer))
    is_near = close & close_asked
    conditions = [
        is_posed & (question | whole) & follows,
        ~is_posed & whole & question,
        is_near & (~is_posed | close_answer),
        # A long answer alone covers most of its item, and the question is not there.
        is_posed & (question | (whole & ~reply) | is_near),
        is_posed & reply,
        single,
        (some >= PARTIAL_FROM) | close,
    ]
    found: NDArray[np.int64] = np.select(conditions, range(len(conditions)), len(KINDS) - 1).astype(np.int64)
    return found


def worst_kinds(items: ArrayLike, kinds: ArrayLike, n_items: int) -> NDArray[np.int64]:
    """The worst kind of each item over the documents that have some of it, (N,).

    Args:
        items: Number of the item of each hit, (M,).
        kinds: Of each hit, as `kinds_of` gives them, (M,).
        n_items: N.
    """
    found = np.full(n_items, len(KINDS) - 1, np.int64)
    np.minimum.at(found, np.asarray(items, np.int64), np.asarray(kinds, np.int64))
    return found
