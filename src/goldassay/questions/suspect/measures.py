"""How sure models are of each gold label.

Gold labels that systems contradict: the odds of another label, and where all strong systems name the same one.

What scores would be if the most suspect labels were wrong.

One list of suspects out of what speaks against labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# Errors of fewer families may well be one family's errors.
LEAST_FAMILIES = 5
# As many families as are strong, at least: three that agree on another label say more than a majority of weak ones.
LEAST_STRONG = 3


@dataclass(frozen=True)
class Contradiction(Result):
    """What systems say against the gold label of each of N items; see `contradict_gold`.

    Attributes:
        log_odds: Of the best other label against the gold label, natural logarithm, (N,).
        alternative: That label's code, (N,).
        unison: Whether all strong families name the same other label, (N,).
        n_expected: How many such items are expected where all labels are right and families err independently.
        strong: The strong families, by name.
        families: All families, by name.
    """

    log_odds: NDArray[np.float64]
    alternative: NDArray[np.int64]
    unison: NDArray[np.bool_]
    n_expected: float
    strong: tuple[str, ...]
    families: tuple[str, ...]


def contradict_gold(
    predictions: NDArray[np.integer], gold: NDArray[np.integer], n_labels: int, families: Sequence[str]
) -> Contradiction | None:
    """How much systems speak against each gold label.

    With C_s[t, k] = (count of items with gold t to which system s answers k, plus 1) / (count of gold t, plus K), the
    log odds of label t against gold g are the sum over families of the mean over their systems of
    log C_s[t, p] / C_s[g, p], where p is what the system answers, plus the log of the ratio of the labels' shares. An
    item's own answer is left out of the counts. Gold is mostly right, so that it tells how systems confuse labels, and
    a system that knows nothing says nothing. Systems err on the same hard items: the odds order items, and are no
    probabilities.

    Strong families: those whose mean accuracy is at least the median of all families and above the largest label's
    share, three or more. An item is contradicted in unison where every system of every strong family names the same
    label other than gold.

    Args:
        predictions: Codes, (S, N); -1 where a system does not answer.
        gold: Codes, (N,).
        n_labels: K.
        families: Of each system, (S,): systems of one family count as one.

    Returns:
        None with fewer than five families.

    Raises:
        ValueError: Sizes do not fit, or a code is no label.

    Source: Dawid and Skene 1979, one step from the gold labels.
    """
    answers, right = np.asarray(predictions), np.asarray(gold)
    if answers.shape != (len(families), right.size):
        raise ValueError("predictions must have a row a family's system and a column an item")
    if answers.size and (answers.max() >= n_labels or answers.min() < -1 or right.min() < 0 or right.max() >= n_labels):
        raise ValueError("a code is no label")
    names = tuple(dict.fromkeys(families))
    if len(names) < LEAST_FAMILIES or not right.size:
        return None
    n, counts = right.size, np.bincount(right, minlength=n_labels)
    evidence = np.zeros((n_labels, n))
    accuracy, independent = {}, {}
    for family in names:
        own = [at for at, name in enumerate(families) if name == family]
        told = [_evidence(answers[at], right, n_labels, counts) for at in own]
        evidence += np.mean([each for each, _ in told], axis=0)
        accuracy[family] = float(np.mean([(answers[at] == right).mean() for at in own]))
        # Systems of one family err together: the family names a label as its most careful system does.
        independent[family] = np.min([confusion for _, confusion in told], axis=0)
    # The smallest count keeps a label that no other item has from odds without end.
    evidence += np.log((counts + 1) / (n + n_labels))[:, np.newaxis]
    items = np.arange(n)
    of_gold = evidence[right, items]
    others = evidence.copy()
    others[right, items] = -math.inf
    alternative = others.argmax(axis=0)
    strong = _strong(accuracy, float(counts.max() / n))
    unison = np.zeros(n, bool)
    expected = 0.0
    if strong:
        theirs = answers[[at for at, name in enumerate(families) if name in strong]]
        unison = (theirs == theirs[0]).all(axis=0) & (theirs[0] >= 0) & (theirs[0] != right)
        together = np.prod([independent[name] for name in strong], axis=0)
        np.fill_diagonal(together, 0.0)
        expected = float((counts[:, np.newaxis] * together).sum())
    return Contradiction(others[alternative, items] - of_gold, alternative, unison, expected, strong, names)


def _evidence(
    answers: NDArray[np.integer], gold: NDArray[np.integer], n_labels: int, counts: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(K, N) log probabilities of a system's answers under each label, own answers left out, and its confusions."""
    asked = answers >= 0
    joint = np.zeros((n_labels, n_labels))
    np.add.at(joint, (gold[asked], answers[asked]), 1)
    totals = joint.sum(axis=1)
    named = np.where(asked, answers, 0)
    seen, of = joint[:, named], np.repeat(totals[:, np.newaxis], answers.size, axis=1)
    own = np.flatnonzero(asked)
    seen[gold[own], own] -= 1
    of[gold[own], own] -= 1
    logs = np.log((seen + 1) / (of + n_labels))
    logs[:, ~asked] = 0
    return logs, joint / np.maximum(counts, 1)[:, np.newaxis]


def _strong(accuracy: dict[str, float], majority: float) -> tuple[str, ...]:
    middle = float(np.median(list(accuracy.values())))
    strong = tuple(name for name, value in accuracy.items() if value >= middle and value > majority)
    return strong if len(strong) >= LEAST_STRONG else ()


def corrected_scores(
    predictions: NDArray[np.integer],
    gold: NDArray[np.integer],
    alternative: NDArray[np.integer],
    suspicion: NDArray[np.float64],
    n_first: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Accuracies of S systems as they are, without the k most suspect items, and with these relabelled.

    Args:
        predictions: Codes, (S, N).
        gold: Codes, (N,).
        alternative: The label that each item would have if its gold label were wrong, (N,).
        suspicion: By which items are ordered, (N,).
        n_first: k, from 0 to N - 1.

    Returns:
        Three arrays, (S,).

    Raises:
        ValueError: k is out of range.
    """
    answers, right = np.asarray(predictions), np.asarray(gold)
    if not 0 <= n_first < right.size:
        raise ValueError("n_first must be from 0 to one less than the items")
    first = np.argsort(-np.asarray(suspicion), kind="stable")[:n_first]
    left = np.ones(right.size, bool)
    left[first] = False
    changed = right.copy()
    changed[first] = np.asarray(alternative)[first]
    hits = answers == right
    return hits.mean(axis=1), hits[:, left].mean(axis=1), (answers == changed).mean(axis=1)


def rank_suspects(
    defects: NDArray[np.bool_],
    log_odds: NDArray[np.float64] | None = None,
    confidence: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """How suspect each item is, from 0 to 1: its place among all, the most suspect 1.

    Items with a defect come first, whatever models say. The others, and those with a defect among themselves, come by
    the mean of their places by log odds and by confidence, of those that are given; equal values share their place.

    Args:
        defects: Items that cannot be right as they are, (N,).
        log_odds: Of another label, (N,).
        confidence: Of models in the gold label, (N,).

    Raises:
        ValueError: Sizes do not fit.
    """
    from scipy.stats import rankdata

    flawed = np.asarray(defects, bool)
    signals = [each for each in (log_odds, None if confidence is None else -np.asarray(confidence)) if each is not None]
    if any(np.shape(each) != flawed.shape for each in signals):
        raise ValueError("defects, log odds and confidence must be of the same items")
    if not flawed.size:
        return np.empty(0)
    places = np.mean([rankdata(each) for each in signals], axis=0) if signals else np.zeros(flawed.size)
    return np.asarray(rankdata(places + (flawed.size + 1) * flawed, method="average") / flawed.size)
