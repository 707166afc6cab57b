"""What a board says: scores, ranks, and how far the first place is sure."""

from __future__ import annotations

from goldassay.core.figures import Measure, figure, left_out, result, role
from goldassay.core.results import Result
from goldassay.questions.answered.result import Degenerate
from goldassay.questions.board.measures import Reliability


@result
class System(Result):
    """One system.

    Attributes:
        place: 1 and how many have a higher score.
        system: Its name.
        n_runs: Its runs, of which the score is the mean.
        score: Mean over items and runs.
        low: Lower end of the interval of the score.
        high: Upper end.
        rank_low: The best rank that it may have.
        rank_high: The worst.
        tier: Its group, from the top.
        same_as: A system before it with the same score on every item, or "".
        unweighted: The score without the weights of items; None where all count alike.
    """

    place: int = figure(
        Measure("board.rank", "rank of the system", "number", "lower", least=1), "rank_low", "rank_high", n="n_items"
    )
    system: str = role("model")
    n_runs: int
    score: float = figure(
        Measure("board.score", "mean score of the system", "points", "higher", least=0, most=1),
        "low", "high", n="n_items",
    )  # fmt: skip
    low: float
    high: float
    rank_low: int
    rank_high: int
    tier: int
    same_as: str
    unweighted: float | None = figure(
        Measure("board.unweighted", "score of the system without weights of items", "points", "higher"),
        n="n_items", default=None,
    )  # fmt: skip


@result
class BoardLead(Result):
    """What the first system has over the next one that is not the same as it.

    Attributes:
        difference: Of the mean scores.
        low: Lower end of its interval.
        high: Upper end.
        n_for: Items on which the first scores more.
        n_against: Items on which it scores less.
        effective_items: How many items tell the two apart.
        n_decisive: The fewest items without which the order is another one.
        decisive: Names of these.
    """

    difference: float = figure(
        Measure("board.lead", "lead of the first system", "points", "neither"), "low", "high", n="n_items"
    )
    low: float
    high: float
    n_for: int
    n_against: int
    effective_items: float
    n_decisive: int
    decisive: tuple[str, ...]


@result
class SolvedBy(Result):
    """Items that all systems solve, none, and one alone."""

    all: int
    none: int
    one: int


@result
class Item(Result):
    """One item.

    Attributes:
        item: Its name.
        mean: Mean score over systems.
        n_solved: Systems with a full score.
        discrimination: Correlation with the total of all other items, over systems; None where all score alike.
        q: Of the test that this is not 0; None below twenty systems.
        decides: Whether it is one of those without which the first place is another's.
    """

    item: str
    mean: float
    n_solved: int
    discrimination: float | None
    q: float | None
    decides: bool


@result
class BoardResult(Result):
    """The whole board.

    Attributes:
        systems: The best first.
        n_items: Items that are measured.
        n_clusters: Groups of items that count as one.
        critical: A difference of so many standard errors is sure.
        level: Of all statements on ranks at once.
        n_tiers: Groups of systems.
        rivals: Systems that may be first in the place of the first; none where it is surely first.
        first: Name of the first system.
        second: Name of the next one that is not the same as it; "" where all are the same.
        first_stays: In which share of random halves of the items the first is first.
        lead: What the first has over the second; None where all systems are the same.
        solved_by: How many systems solve how many items.
        reliability: Of the totals.
        decisive: The items that decide the first place, as many as a page shows.
        against: Items that weaker systems solve and stronger ones miss, likewise.
        n_against: How many of these there are.
        asked: Sentences on what systems were asked in different ways.
        degenerate: Systems whose scores are no measure of ability.
        notes: Of the input.
        weighted_by: The column of weights of the items; None where all count alike.
    """

    systems: tuple[System, ...]
    n_items: int
    n_clusters: int
    critical: float
    level: float
    n_tiers: int
    rivals: tuple[str, ...]
    first: str
    second: str
    first_stays: float = figure(
        Measure("board.first_stays", "halves of the items with the same first", "share", "higher"), n="n_items"
    )
    lead: BoardLead | None
    solved_by: SolvedBy
    reliability: Reliability = figure(
        Measure("board.reliability", "reliability of the totals (KR-20)", "number", "higher"),
        "low", "high", at="value", n="n_items", reason="reason",
    )  # fmt: skip
    decisive: tuple[Item, ...]
    against: tuple[Item, ...]
    n_against: int
    asked: tuple[str, ...]
    degenerate: tuple[Degenerate, ...]
    notes: tuple[str, ...]
    weighted_by: str | None = left_out(default=None)
