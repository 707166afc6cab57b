"""Keys that may be wrong: items of choices on which systems of unlike families agree on another answer.

Votes are weighed as a crowd's are by Nitzan and Paroush 1982: by the log odds that a system's answer is right, so that
one that guesses has no say. Systems of one family err alike and count as one: those of one name, and those that agree
far beyond what their accuracies explain (Goel et al. 2025). Chance is the agreement of systems of which none knows the
answer: a hard item looks no worse than that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
