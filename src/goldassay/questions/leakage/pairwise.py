"""Readers of preferences: which response was preferred, by the response alone and with its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.questions.leakage.condition_evidence import PAIRED
from goldassay.questions.leakage.measures.preference_rules import traits
from goldassay.readers.pair_probe import cross_fit_pairs, fit_pairs, make_pairs, pair_features
from goldassay.readers.probe_features import build_features, tokenize_roles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds import ChoiceItems

_PROMPT, _RESPONSE = "question", "choice"
# What a rule goes by that the response alone does not hold.
_BESIDE = ("first", "more of its words in the prompt", "white space at an end")


def ask_pairs(
    train: ChoiceItems | None,
    test: ChoiceItems,
    groups: NDArray[np.int64],
    n_folds: int,
    seeds: Sequence[int],
    told: Callable[[], None],
    *,
    whole: bool = True,
) -> dict[str, list[NDArray[np.float64]]]:
    """Scores of the responses under each condition and seed, (M,) each; swapping two responses swaps their scores.

    Args:
        train: Items to learn from; None where each is answered by readers of other folds.
        test: Items to measure.
        groups: Cluster of each of these, (N,).
        n_folds: Of the clusters.
        seeds: A reader each.
        told: Called after each reader.
        whole: Ask with the prompt, too.
    """
    parts = (test,) if train is None else (train, test)
    texts = {
        _PROMPT: pl.concat([each.questions.gather(each.item_of) for each in parts]),
        _RESPONSE: pl.concat([each.texts for each in parts]),
    }
    if not whole:
        texts.pop(_PROMPT)
    n_known = len(parts[0].texts)
    features = build_features(tokenize_roles(texts), n_known)
    numbers, overlap = (np.concatenate(each) for each in zip(*map(_numbers, parts), strict=True))
    found: dict[str, list[NDArray[np.float64]]] = {}
    for condition in (*([PAIRED] if whole else []), test.kind.alone):
        alone = condition != PAIRED
        hashed = features.matrix((_RESPONSE,) if alone else None)
        matrix = pair_features(hashed, numbers if alone else np.hstack([numbers, overlap]))
        if train is None:
            scores = cross_fit_pairs(matrix, test.offsets, test.right, groups, n_folds, seeds, told)
        else:
            scores = []
            for seed in seeds:
                rng, items = np.random.default_rng(seed), np.arange(len(train))
                pairs = make_pairs(matrix[:n_known], train.offsets, train.right, items, rng)
                scores.append(matrix[n_known:] @ fit_pairs(pairs, np.arange(pairs.items.size), items, rng))
                told()
        # Sums in another order differ in their last digits, and equal responses would not tie.
        found[condition] = [np.round(each, 9) for each in scores]
    return found


def _numbers(items: ChoiceItems) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the rules go by, of each response alone (M, R) and together with its prompt (M, 1); counts as logarithms."""
    found = traits(items)
    own = [np.log1p(each.values) for each in found if each.more not in _BESIDE]
    shared = [each.values for each in found if each.more == _BESIDE[1]]
    return np.stack(own, axis=1), np.stack(shared, axis=1)
