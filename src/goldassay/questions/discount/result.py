"""What scores are worth once a shortcut that an audit found is discounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.figures import Figure, Measure, declare, figure, result, role
from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHANGED = declare(Measure("discount.changed_places", "systems that change their place", "number", "neither", least=0))


@result
class OtherPart(Result):
    """What readers of a part tell that is not discounted, in bits."""

    part: str = role("part")
    bits: float = figure(
        Measure("discount.other_bits", "bits that readers of a part tell which is not discounted", "bits", "lower"),
        "bits_low", "bits_high", n="n_items",
    )  # fmt: skip
    bits_low: float
    bits_high: float


@result
class DiscountedSystem(Result):
    """One system.

    Attributes:
        system: Its name.
        place: By the score.
        discounted_place: By the score with the shortcut discounted.
        score: Mean over items; with its interval, as all below.
        score_low: Lower end.
        score_high: Upper end.
        discounted: The score with the shortcut discounted.
        discounted_low: Lower end.
        discounted_high: Upper end.
        ungiven: The score on the items whose label the shortcut does not point to.
        ungiven_low: Lower end.
        ungiven_high: Upper end.
        slope: Score gained per bit that the shortcut tells.
        slope_low: Lower end.
        slope_high: Upper end.
    """

    system: str = role("model")
    place: int
    discounted_place: int
    score: float
    score_low: float
    score_high: float
    discounted: float = figure(
        Measure("discount.score", "score with the shortcut discounted", "points", "higher", least=0, most=1),
        "discounted_low", "discounted_high", n="n_items", reason="reason",
    )  # fmt: skip
    discounted_low: float
    discounted_high: float
    ungiven: float = figure(
        Measure(
            "discount.ungiven", "score where the shortcut does not point to the label", "points", "higher",
            least=0, most=1,
        ),
        "ungiven_low", "ungiven_high", n="n_ungiven", why="the shortcut points to the label of nearly all rows",
    )  # fmt: skip
    ungiven_low: float
    ungiven_high: float
    slope: float = figure(
        Measure("discount.slope", "score gained per bit of the shortcut", "number", "lower"),
        "slope_low", "slope_high", n="n_items",
    )  # fmt: skip
    slope_low: float
    slope_high: float


@result
class DiscountedPair(Result):
    """The lead of one system over another, each pair by itself.

    Attributes:
        a: The system with the higher score.
        b: The other one.
        lead: Difference of their scores; with its interval, as the next one.
        lead_low: Lower end.
        lead_high: Upper end.
        discounted_lead: Of their discounted scores.
        discounted_lead_low: Lower end.
        discounted_lead_high: Upper end.
        earned_upper: Share of the lead that is earned on the third of the items that the shortcut tells most of.
        before: 1 where a is surely ahead, -1 where it is surely behind, 0 where neither is sure.
        after: The same of discounted scores.
    """

    a: str
    b: str
    lead: float
    lead_low: float
    lead_high: float
    discounted_lead: float
    discounted_lead_low: float
    discounted_lead_high: float
    earned_upper: float
    before: int
    after: int


@result
class DiscountResult(Result):
    """Scores of all systems with a shortcut discounted.

    Attributes:
        report: Title of the report that tells the shortcut.
        part: What its readers read.
        reason: Why discounted scores cannot be told; "" where they can.
        n_items: Rows that the report and all systems have.
        n_dropped: Rows of the systems that are not in the report.
        n_other_label: Rows that have another right label there.
        by_name_alone: Whether no right labels tell that the rows are those of the report.
        n_ungiven: Items with no bits.
        n_effective: As many rows as are left by weight.
        mean_weight: About 1 where the readers' probabilities fit.
        mean_bits: What the shortcut tells, mean over items.
        n_readers: How many readers there are.
        other_parts: What readers of other parts tell.
        systems: The best first.
        pairs: Every two systems.
    """

    report: str
    part: str
    reason: str
    n_items: int
    n_dropped: int
    n_other_label: int
    by_name_alone: bool
    n_ungiven: int
    n_effective: float
    mean_weight: float
    mean_bits: float
    n_readers: int
    other_parts: tuple[OtherPart, ...]
    systems: tuple[DiscountedSystem, ...]
    pairs: tuple[DiscountedPair, ...]

    @property
    def n_moved(self) -> int:
        """Systems that change their place."""
        return sum(each.place != each.discounted_place for each in self.systems)

    def more_figures(self) -> Iterable[Figure]:
        """How many systems change their place."""
        value = None if self.reason else self.n_moved
        return (_CHANGED.figure(value, n=self.n_items, reason=self.reason),)
