"""What rules without training get right; apart from the loops that count it, so that policies load it fast."""

from __future__ import annotations

from dataclasses import dataclass

from goldassay.core.numbers import percent
from goldassay.core.results import Result


@dataclass(frozen=True)
class RuleEffect(Result):
    """What one rule hits.

    Attributes:
        rule: Its name.
        n_items: Items that it picks from.
        hits: Mean of h over these, NaN where there are none.
        chance: Mean of p over these.
        effect: Over all items.
        z: Standardized excess over chance, over clusters.
        p: How often chance hits as much; of preferences also as little, twice the rarer of the two.
        p_adjusted: Holm's, over all rules that pick anywhere.
    """

    rule: str
    n_items: int
    hits: float
    chance: float
    effect: float
    z: float
    p: float
    p_adjusted: float


@dataclass(frozen=True)
class KeyPositions(Result):
    """Whether right choices stand at all places as often as chance has it, all places tested together.

    Attributes:
        position: The place that gains most, from 1.
        share: Share of the items whose right choice stands there.
        skill: What naming it gains over all items.
        to_move: Share of right choices that would have to move for every place to hold its part.
        chi_square: Of all places together; of clusters, corrected for what their items share.
        df: Its degrees of freedom, likewise.
        p: How often chance gives as much.
        n_items: N.
    """

    position: int
    share: float
    skill: float
    to_move: float
    chi_square: float
    df: float
    p: float
    n_items: int

    @property
    def sentence(self) -> str:
        """What all places together show."""
        return (
            f"Place {self.position} holds the right one in {percent(self.share)} of the items; all places together "
            f"differ from chance by p = {self.p:.1g} (chi-square {self.chi_square:.1f}, {self.df:.1f} degrees of "
            "freedom)."
        )


@dataclass(frozen=True)
class LikeLength(Result):
    """What a rule or a reader gets right among pairs of like length.

    Attributes:
        reader: Its name.
        n_items: Pairs of like length from which it picks.
        accuracy: Of these, NaN where there are none.
        all_items: Pairs from which it picks, whatever their lengths.
        all_accuracy: Of these.
    """

    reader: str
    n_items: int
    accuracy: float
    all_items: int
    all_accuracy: float


@dataclass(frozen=True)
class SubsetEffect(Result):
    """What a rule or a reader gains on one subset.

    Attributes:
        subset: Its name.
        reader: Of the rule or reader.
        n_items: Of the subset.
        accuracy: Guessing where it picks nothing.
        effect: As over all items.
        z: Standardized excess over chance, over clusters of items.
        p: Two-sided.
        p_adjusted: Benjamini and Hochberg's q over all subsets and readers.
    """

    subset: str
    reader: str
    n_items: int
    accuracy: float
    effect: float
    z: float
    p: float
    p_adjusted: float
