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
class Saturation(Result):
    """Items that do not part the first systems, since all of them solve these or none does.

    Attributes:
        first: How many systems, from the best.
        n_all: Items that all of these solve.
        n_none: Items that none of them scores on.
        share: Of the items that are either.
    """

    first: int = role("first")
    n_all: int
    n_none: int
    share: float = figure(
        Measure("board.saturated", "items that do not part the first systems", "share", "lower"), n="n_items"
    )


@result
class DisputedKey(Result):
    """An item on which the systems agree on another answer than the key.

    Attributes:
        item: Its name.
        key: Its right answer.
        answer: The answer that the systems agree on.
        n_for: Systems that give that answer.
        n_against: Systems that give the key.
        log_odds: Weighed votes for that answer less those for the key.
        q: Of the test that so many would agree if none knew the answer.
    """

    item: str
    key: str
    answer: str
    n_for: int
    n_against: int
    log_odds: float
    q: float


@result
class UndisputedScore(Result):
    """The score of a system on the items whose key is not disputed.

    Attributes:
        system: Its name.
        score: Mean over these items and runs.
        low: Lower end of its interval.
        high: Upper end.
    """

    system: str = role("model")
    score: float = figure(
        Measure("board.undisputed", "mean score without items whose key is disputed", "points", "higher"),
        "low", "high", n="n_kept",
    )  # fmt: skip
    low: float
    high: float


@result
class DisputedKeys(Result):
    """What the systems' answers say against the keys; see `vote_on_keys`.

    Attributes:
        n_keys: Items that are looked at.
        n_families: Families of systems.
        n_disputed: Items on which more agree on another answer than chance explains; None where none could be.
        n_kept: The other items.
        alike: How often two families that are both wrong give the same answer.
        items: The most disputed, as many as a page shows.
        scores: Of the systems without these items, the best first; () where no key is disputed.
        reason: Why no key can be disputed; "" where one can.
    """

    n_keys: int
    n_families: int
    n_disputed: int | None = figure(
        Measure("board.disputed", "items whose systems agree on another answer than the key", "examples", "lower"),
        n="n_keys", reason="reason",
    )  # fmt: skip
    n_kept: int
    alike: float
    items: tuple[DisputedKey, ...]
    scores: tuple[UndisputedScore, ...]
    reason: str


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
        saturation: How many items still part the first systems.
        n_missed: Items that the first system does not solve.
        perfect: By how much a system that solves all items would lead the first, at least.
        keys: What the answers say against the keys; None where answers are not known, or of fewer than five systems.
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
    saturation: tuple[Saturation, ...]
    n_missed: int
    perfect: float = figure(
        Measure("board.headroom", "lead of a system without errors over the first, at least", "points", "higher"),
        n="n_items",
    )  # fmt: skip
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
    keys: DisputedKeys | None = left_out(default=None)
