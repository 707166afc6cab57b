"""How sure models are of each gold label.

Gold labels that systems contradict: the odds of another label, and where all strong systems name the same one.

What scores would be if the most suspect labels were wrong.

One list of suspects out of what speaks against labels.

Keys that may be wrong: items of choices on which systems of unlike families agree on another answer.

Votes are weighed as a crowd's are by Nitzan and Paroush 1982: by the log odds that a system's answer is right, so that
one that guesses has no say. Systems of one family err alike and count as one: those of one name, and those that agree
far beyond what their accuracies explain (Goel et al. 2025). Chance is the agreement of systems of which none knows the
answer: a hard item looks no worse than that.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.stats.significance import benjamini_hochberg

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


# With fewer systems one error shared by two is a majority.
LEAST_SYSTEMS = 5
# Systems that share more than half of the agreement that their accuracies leave open are versions of one another:
# Llama 3 and 3.1 of one size .56, unlike systems of like strength at most .42 on MMLU-Pro.
_KIN = 0.5
# Steps of the distribution of weighed votes.
_STEPS = 4000


# What systems are called that says nothing of their families, beside single letters.
_ANY_SYSTEM = frozenset({"model", "system", "sys", "run", "agent", "team", "submission"})


def family_of(model: str) -> str:
    """The family of a model: the first word of its name, without its publisher, so that bert-base is bert's."""
    found = re.search(r"[a-z]+", model.rpartition("/")[2].lower())
    return found[0] if found else model


@dataclass(frozen=True)
class KeyVotes(Result):
    """What S systems say against the keys of N items; see `vote_on_keys`.

    Attributes:
        log_odds: Weighed votes for the best other choice less those for the key, natural logarithm, (N,).
        alternative: Code of that choice, (N,).
        n_for: Systems that choose it, (N,).
        n_against: Systems that choose the key, (N,).
        p: How likely so many agree if none knows the answer, (N,).
        q: The same of all items at once, Benjamini and Hochberg, (N,).
        families: Of each system, (S,): the name of its family's first system.
        alike: How often two families that are both wrong choose the same, the median over items of all others.
        least_p: p of an item on which all systems choose one other choice: where it is large, no key can be disputed.
    """

    log_odds: NDArray[np.float64]
    alternative: NDArray[np.int64]
    n_for: NDArray[np.int64]
    n_against: NDArray[np.int64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    families: tuple[str, ...]
    alike: float
    least_p: float


def vote_on_keys(
    answers: NDArray[np.integer], key: NDArray[np.integer], n_choices: int, systems: Sequence[str]
) -> KeyVotes | None:
    """How much systems speak against each key.

    System m weighs w_m = max(0, log[a_m (C - 1) / (1 - a_m)]) / (systems of its family), where a_m = (right + 1) /
    (answered + 2). The log odds of an item are the largest sum of weights on a choice other than the key, less the sum
    on the key.

    p is how likely so large a sum on any one choice is if no family knows the answer: each is then on a given wrong
    choice with probability r independently, r the share of pairs of families, both wrong, that choose the same, at
    least 1 / (C - 1); times 1 / r for the choices. With two choices all that are wrong agree, and p is 1: nothing
    tells a hard item from a wrong key.

    Args:
        answers: Codes, (S, N); -1 where a system does not answer.
        key: Codes, (N,).
        n_choices: C, from 2.
        systems: Their names, (S,).

    Returns:
        None with fewer than five systems, or without items.

    Raises:
        ValueError: Sizes do not fit, or a code is no choice.

    Source: Nitzan and Paroush 1982 for the weights.
    """
    given, right = np.asarray(answers), np.asarray(key)
    if given.shape != (len(systems), right.size):
        raise ValueError("answers must have a row a system and a column an item")
    if given.size and (given.max() >= n_choices or given.min() < -1 or right.min() < 0 or right.max() >= n_choices):
        raise ValueError("a code is no choice")
    if len(systems) < LEAST_SYSTEMS or not right.size:
        return None
    families = families_of(given, right, n_choices, systems)
    sizes = np.array([families.count(name) for name in families])
    accuracy = ((given == right).sum(axis=1) + 1) / ((given >= 0).sum(axis=1) + 2)
    weights = np.maximum(0.0, np.log(accuracy * (n_choices - 1) / (1 - accuracy)))
    votes, n_votes = np.zeros((n_choices, right.size)), np.zeros((n_choices, right.size), dtype=np.int64)
    for own, weight in zip(given, weights / sizes, strict=True):
        (asked,) = np.nonzero(own >= 0)
        votes[own[asked], asked] += weight
        n_votes[own[asked], asked] += 1
    items = np.arange(right.size)
    for_key = votes[right, items]
    votes[right, items] = -1.0
    alternative = votes.argmax(axis=0)
    log_odds = votes[alternative, items] - for_key
    same, pairs = _alike(given, right, n_choices, families)
    others = np.divide(same.sum() - same, pairs.sum() - pairs, out=np.zeros(right.size), where=pairs.sum() > pairs)
    alike = np.maximum(others, 1 / (n_choices - 1))
    of_families = [weights[[name == family for name in families]].mean() for family in dict.fromkeys(families)]
    p_values = _chance(log_odds, np.array(of_families), alike)
    least = _chance(np.array([sum(of_families)]), np.array(of_families), alike[[alike.argmin()]])
    return KeyVotes(
        log_odds, alternative, n_votes[alternative, items], n_votes[right, items],
        p_values, benjamini_hochberg(p_values), families, float(np.median(alike)), float(least[0]),
    )  # fmt: skip


def families_of(
    answers: NDArray[np.integer], key: NDArray[np.integer], n_choices: int, systems: Sequence[str]
) -> tuple[str, ...]:
    """Families of systems, (S,): of one name, or kin by how they agree.

    Names such as system-1 and m2 say nothing: of these only agreement tells.

    Two systems are kin where (o - e) / (1 - e) is at least one half on the items that both answer: o is how often they
    agree, and e = a b + (1 - a) (1 - b) / (C - 1) how often they would if their errors had nothing in common, by their
    accuracies a and b. Kin of kin are one family, called as its first system.

    Args:
        answers: Codes, (S, N); -1 where a system does not answer.
        key: Codes, (N,).
        n_choices: C.
        systems: Their names, (S,).

    Source: Goel et al. 2025, chance-adjusted agreement of single answers.
    """
    from scipy.sparse.csgraph import connected_components

    asked, hits = (answers >= 0).astype(np.float64), (answers == key).astype(np.float64)
    both = np.maximum(asked @ asked.T, 1)
    agreed = sum(np.asarray(chosen @ chosen.T) for chosen in (_chosen(answers, code) for code in range(n_choices)))
    of_one, of_other = hits @ asked.T / both, asked @ hits.T / both
    expected = of_one * of_other + (1 - of_one) * (1 - of_other) / (n_choices - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kin = (agreed / both - expected) / (1 - expected) >= _KIN
    words = [family_of(each) for each in systems]
    names = [each if len(word) == 1 or word in _ANY_SYSTEM else word for each, word in zip(systems, words, strict=True)]
    _, groups = connected_components(kin | (np.array(names)[:, np.newaxis] == np.array(names)), directed=False)
    first = {group: names[groups.tolist().index(group)] for group in set(groups.tolist())}
    return tuple(first[group] for group in groups.tolist())


def _chosen(answers: NDArray[np.integer], code: int) -> NDArray[np.float64]:
    return (answers == code).astype(np.float64)


def _alike(
    answers: NDArray[np.integer], key: NDArray[np.integer], n_choices: int, families: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of families on each item, (N,): that choose the same wrong answer, and that are both wrong.

    Systems of a family have equal parts in it.
    """
    names = list(dict.fromkeys(families))
    parts = np.array([[name == family for family in families] for name in names], dtype=np.float64)
    parts /= parts.sum(axis=1, keepdims=True)
    same, wrong = np.zeros(key.size), np.zeros((len(names), key.size))
    for code in range(n_choices):
        chosen = parts @ (_chosen(answers, code) * (key != code))
        same += chosen.sum(axis=0) ** 2 - (chosen**2).sum(axis=0)
        wrong += chosen
    return same, wrong.sum(axis=0) ** 2 - (wrong**2).sum(axis=0)


def _chance(
    log_odds: NDArray[np.float64], weights: NDArray[np.float64], alike: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How likely each sum is by chance, rounded up: weights are cut into steps, and cut steps count whole."""
    found, unit = np.ones_like(log_odds), float(weights.sum()) / _STEPS
    if not unit:
        return found
    steps = np.ceil(weights / unit).astype(np.int64).tolist()
    above = log_odds > 0
    # Of items whose share is nearly the same the distribution is made once, by the larger.
    shares = np.minimum(1.0, np.ceil(1000 * alike) / 1000)
    for share in np.unique(shares[above]).tolist():
        mass = np.zeros(sum(steps) + 1)
        mass[0] = 1.0
        for step in steps:
            mass = (1 - share) * mass + share * np.concatenate([np.zeros(step), mass[: mass.size - step]])
        at_least = np.cumsum(mass[::-1])[::-1]
        own = above & (shares == share)
        reached = np.clip(np.floor(log_odds[own] / unit).astype(np.int64), 0, mass.size - 1)
        found[own] = np.minimum(1.0, at_least[reached] / share)
    return found
