"""Rules without training, as each kind of items has them, and those that hit beyond chance in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.kinds import PREFERENCES
from goldassay.questions.leakage.measures.choice_rules import measure_picks, measure_rules
from goldassay.questions.leakage.measures.preference_rules import measure_preference_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goldassay.data.kinds import ChoiceItems
    from goldassay.questions.leakage.measures.choice_rules import Picks, RuleEffect


def measure_item_rules(
    items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int
) -> tuple[list[RuleEffect], list[Picks]]:
    """Effect of every rule, and what each picks; of preferences also what the opposite of each rule picks, after all.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    measure = measure_preference_rules if items.kind is PREFERENCES else measure_rules
    return measure(items, clusters, seed)


def toward_right(items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int) -> list[tuple[RuleEffect, Picks]]:
    """Every rule that picks anywhere and what it picks; of preferences in the direction in which it gains more.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    effects, picks = measure_item_rules(items, clusters, seed)
    found = list(zip(effects, picks, strict=False))
    if opposite := picks[len(effects) :]:
        turned = zip(measure_picks(opposite, items, clusters, seed), opposite, strict=True)
        found = [max(both, key=lambda each: each[0].effect) for both in zip(found, turned, strict=True)]
    return [each for each in found if each[0].n_items]


def effects_by_rule(items: ChoiceItems, clusters: NDArray[np.int64] | None, seed: int) -> dict[str, float]:
    """The effect of every rule, of preferences in both directions.

    Args:
        items: N of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws.
    """
    _, picks = measure_item_rules(items, clusters, seed)
    return {each.rule: each.effect for each in measure_picks(picks, items, clusters, seed)}
