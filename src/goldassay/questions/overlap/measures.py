"""Classes of items by how much of them is in one document, and kinds of hits by which part it is.

The difference of dirty and clean items among items that are equally hard for other systems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.stats.clusters import dense_codes, effective_clusters, variance_of_mean
from goldassay.stats.intervals import Interval, difference_interval, t_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CLASSES = ("clean", "partial", "dirty")
# Below the first share an item is clean, from the second on dirty.
PARTIAL_FROM, DIRTY_FROM = 0.2, 0.8
# The worst first. Those that count hold all that is asked of a model, with its answer where it has one.
KINDS = (
    "question and answer", "whole item", "near copy", "choices without the right key", "words in another order",
    "texts swapped", "question only", "answer only", "one part", "some words", "none",
)  # fmt: skip
COUNTED = KINDS[:3]
# Of rows of the training part alone, see `find_reordered`.
MOVED = ("words in another order", "texts swapped")
# Hits below which a difference has Newcombe's interval; share of the control's answers from which answers say nothing.
LEAST_HITS, MOST_CONTROL = 5, 0.2
# What reports call the training part, where it is searched.
TRAINING = "training part"


def classify(coverage: ArrayLike) -> NDArray[np.str_]:
    """Clean below 20 % of an item's words, dirty from 80 % on, else partial.

    Args:
        coverage: Share of each item's words that are in matched n-grams of one document, (N,).

    Source: Touvron et al. 2023, "Llama 2: Open Foundation and Fine-Tuned Chat Models", section A.6; words here, and
    without skips.
    """
    shares = np.asarray(coverage, np.float64)
    return np.array(CLASSES)[(shares >= PARTIAL_FROM).astype(int) + (shares >= DIRTY_FROM)]


def kinds_of(
    coverage: ArrayLike,
    question: ArrayLike,
    answer: ArrayLike,
    answered: ArrayLike,
    part: ArrayLike,
    has_answer: ArrayLike,
    near: ArrayLike = 0.0,
    near_question: ArrayLike = 0.0,
    near_answer: ArrayLike = 0.0,
    listed: ArrayLike = False,
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
        question: Of the question.
        answer: Of the answer.
        answered: Whether the answer follows the question.
        part: Of the part that is covered most.
        has_answer: Whether the item has an answer that can be looked for.
        near: Jaccard similarity of the item with the document, where it was measured and is .8 or more.
        near_question: Share of the question's shingles that the document has.
        near_answer: Of the answer's.
        listed: Whether the document lists the choices without saying which is right.
    """
    whole, holds_question, reply, single = (
        np.asarray(each) >= DIRTY_FROM for each in (coverage, question, answer, part)
    )
    follows, is_posed = np.asarray(answered, bool), np.asarray(has_answer, bool)
    some = np.maximum.reduce([np.asarray(each, np.float64) for each in (coverage, question, answer, part)])
    close, close_question, close_answer = (
        np.asarray(each) >= DIRTY_FROM for each in (near, near_question, near_answer)
    )
    is_near = close & close_question
    is_list = np.asarray(listed, bool)
    conditions = [
        is_posed & (holds_question | whole) & follows,
        ~is_posed & whole & holds_question,
        is_near & (~is_posed | close_answer) & ~is_list,
        is_list & is_posed & (holds_question | whole | is_near),
        # A long answer alone covers most of its item, and the question is not there.
        is_posed & (holds_question | (whole & ~reply) | is_near),
        is_posed & reply,
        single,
        (some >= PARTIAL_FROM) | close,
    ]
    kinds = [at for at, kind in enumerate(KINDS[:-1]) if kind not in MOVED]
    found: NDArray[np.int64] = np.select(conditions, kinds, len(KINDS) - 1).astype(np.int64)
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


@dataclass(frozen=True)
class Excess(Result):
    """The share of items found with their answers beyond the control.

    Attributes:
        value: (a - q) / (1 - q) times the share of items whose question was found.
        interval: Its interval over clusters; None where there are fewer than two.
        found: a: among these, the share found with their answers.
        control: q: the share found with the control's; NaN where no question was found, or nothing has a control.
    """

    value: float
    interval: Interval | None
    found: float
    control: float


def excess_of(found: ArrayLike, control: ArrayLike, asked: ArrayLike, clusters: ArrayLike) -> Excess:
    """What is found of right answers beyond what is found of others in their place.

    E = (a - q) / (1 - q) P = X P / Y with the means X of found - control, P of asked and Y of asked - control. Without
    a control the interval is that of the share; else Student's over clusters, of the linear part
    (P/Y)(x - X) + (X/Y)(p - P) - (X P/Y²)(y - Y), and with fewer than 5 hits of either Newcombe's, of the two shares.

    Args:
        found: Items found with their answers, (N,), 0 or 1.
        control: The share of the control's answers that were found with the question, (N,); NaN without a control.
        asked: Items whose question was found, (N,).
        clusters: (N,).
    """
    a, q, p = (np.asarray(each, np.float64) for each in (found, control, asked))
    has_control = bool(np.isfinite(q).any()) and p.sum() > 0
    q = np.nan_to_num(q)
    share = float(a.mean()) if a.size else math.nan
    rates = (float(a.sum() / p.sum()), float(q.sum() / p.sum()) if has_control else math.nan) if p.sum() else None
    interval = _interval(a, clusters)
    if rates is None or not has_control or interval is None:
        return Excess(share, interval, *(rates or (math.nan, math.nan)))
    x, y = a - q, p - q
    means = x_mean, p_mean, y_mean = float(x.mean()), float(p.mean()), float(y.mean())
    if y_mean <= 0:
        return Excess(0.0, Interval(0.0, interval.high, interval.level, interval.method), *rates)
    value = max(x_mean * p_mean / y_mean, 0.0)
    if min(a.sum(), q.sum()) < LEAST_HITS:
        between = difference_interval(share, interval, float(q.mean()), _interval(q, clusters) or interval)
        bounds = [each * p_mean / y_mean for each in (between.low, between.high)]
        method = "Newcombe"
    else:
        linear = (
            p_mean * (x - means[0]) + x_mean * (p - means[1]) - x_mean * p_mean / y_mean * (y - means[2])
        ) / y_mean
        codes = dense_codes(clusters, a.size)
        made = t_interval(
            value, variance_of_mean(linear, codes), max(effective_clusters(codes) - 1, 1), 0.95, "Student t"
        )
        bounds, method = [made.low, made.high], made.method
    low, high = (min(max(each, 0.0), 1.0) for each in bounds)
    # Fewer hits than by chance bound copies by all that was found.
    high = high if value > 0 else max(high, interval.high)
    return Excess(value, Interval(min(low, value), max(high, value), 0.95, method), *rates)


def _interval(values: NDArray[np.float64], clusters: ArrayLike) -> Interval | None:
    try:
        return score_one_run(values, clusters).interval
    except InputError:
        return None


# Steps of difficulty at most.
MOST_STRATA = 10


@dataclass(frozen=True)
class AdjustedDifference(Result):
    """A difference at equal difficulty.

    Attributes:
        value: Mean difference within steps of difficulty; NaN where no step has items of both kinds.
        interval: Its interval; None likewise, or where there are fewer than two clusters or fewer than `n_strata` + 2
            items.
        n_strata: Steps that have items of both kinds.
        n_items: Items in these.
        n_dropped: Items in the other steps.
    """

    value: float
    interval: Interval | None
    n_strata: int
    n_items: int
    n_dropped: int


def strata_of(difficulty: ArrayLike, most: int = MOST_STRATA) -> NDArray[np.int64]:
    """Steps of difficulty of about as many items each, equal values in one, (N,)."""
    values = np.asarray(difficulty, np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, most) / most, method="higher")) if values.size else values
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def adjusted_difference(
    scores: ArrayLike, is_dirty: ArrayLike, difficulty: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> AdjustedDifference:
    """Least squares of the score on being dirty, with an intercept for each step of difficulty.

    b = sum(d y) / sum(d^2), with d and y less their means within each step; the variance is
    sum_g(sum_{i in g} d_i e_i)^2 / sum(d^2)^2 times G / (G - 1) times (N - 1) / (N - K - 1), and the interval takes
    Student's distribution with G - 1 degrees of freedom.

    Args:
        scores: Of each item, (N,).
        is_dirty: Which items are in the corpus, (N,).
        difficulty: What other systems score on each on average, (N,).
        clusters: Of the items, (N,).
        level: Of the interval.

    Source: Frisch and Waugh 1933 (partial regression); Liang and Zeger 1986 (clustered variance).
    """
    y, d = np.asarray(scores, np.float64), np.asarray(is_dirty, np.float64)
    strata = strata_of(difficulty)
    n_dirty, n_all = np.bincount(strata, d), np.bincount(strata)
    has_both = (n_dirty > 0) & (n_dirty < n_all)
    used = has_both[strata]
    n, n_strata = int(used.sum()), int(has_both.sum())
    if not n:
        return AdjustedDifference(math.nan, None, 0, 0, y.size)
    _, codes = np.unique(strata[used], return_inverse=True)
    sizes = np.bincount(codes)
    y, d = (each[used] - (np.bincount(codes, each[used]) / sizes)[codes] for each in (y, d))
    spread = float(d @ d)
    value = float(d @ y) / spread
    _, groups = np.unique(np.asarray(clusters)[used], return_inverse=True)
    n_groups = int(groups.max()) + 1
    interval = None
    if n_groups > 1 and n > n_strata + 1:
        sums = np.bincount(groups, d * (y - value * d))
        variance = float(sums @ sums) / spread**2 * n_groups / (n_groups - 1) * (n - 1) / (n - n_strata - 1)
        interval = t_interval(value, variance, n_groups - 1, level, "least squares, clustered")
    return AdjustedDifference(value, interval, n_strata, n, int((~used).sum()))
