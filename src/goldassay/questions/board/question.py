"""The question of a board: from scores of systems to which ranks are significant, and the report on that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import About
from goldassay.core.numbers import number, points
from goldassay.core.progress import Steps
from goldassay.core.results import Result, frame_of_records
from goldassay.core.sections import Finding
from goldassay.questions.answered.degenerate import find_degenerate
from goldassay.questions.board.measures import (
    Items,
    ItemStatistics,
    Lead,
    Ranking,
    Reliability,
    describe_items,
    first_in_halves,
    lead_of,
    pooled_spread,
    rank,
    reliability,
    rivals_of,
)
from goldassay.questions.board.reading import read_board, rows_answered
from goldassay.questions.board.result import (
    BoardLead,
    BoardResult,
    DisputedKey,
    DisputedKeys,
    Item,
    Saturation,
    SolvedBy,
    System,
    UndisputedScore,
)
from goldassay.questions.cutoff.question import Dated, cutoff_tables, measure_cutoff
from goldassay.questions.discount.question import discount_systems, discount_tables
from goldassay.questions.discount.reading import reported_bits
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import issues_of, ranked
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.suspect.measures import vote_on_keys
from goldassay.questions.suspect.question import Q
from goldassay.stats.bootstrap import score_interval
from goldassay.stats.clusters import cluster_codes, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.questions.answered.degenerate import Given
    from goldassay.questions.answered.result import Degenerate
    from goldassay.questions.board.scores import BoardScores
    from goldassay.questions.cutoff.result import CutoffResult
    from goldassay.questions.discount.result import DiscountResult
    from goldassay.report.report import Report

_MOST_NAMES = 5
# Items on the page that decide the first place, and such as strong systems fail and weak ones solve.
_MOST_ITEMS = 30
# Below this correlation with the rest an item is named, where it is surely not 0.
_SURE = 0.05
# The first systems between which items are held, each where there are as many.
_FIRST = (3, 5, 10)
# What is chosen among is few: of free answers every one is another choice.
_MOST_CHOICES = 26

__all__ = ["Board", "measure_board", "study_board"]


@dataclass(frozen=True)
class Board(Result):
    """What a board says.

    Attributes:
        systems: The systems, the best first.
        ranking: Ranks, in the order of the input.
        lead: What the first has over the next one that is not the same as it; None where all are the same.
        first: Name of the first.
        second: Name of that next one.
        first_stays: In which share of random halves of the items the first is first.
        rivals: Systems that may be first in its place, the best first; none where it is surely first.
        items: Of each item its statistics.
        solved_by: Items that all systems solve, none, and one alone.
        saturation: How many items still part the first systems.
        n_missed: Items that the first does not solve.
        perfect: By how much a system that solves all items would lead the first, at least.
        keys: What the answers say against the keys of all items, the most disputed first; None where that is not known.
        reliability: Of the totals.
        decisive: Names of the items without which the first two change places.
        notes: Of the input.
        degenerate: Systems whose scores are no measure of ability.
    """

    systems: tuple[System, ...]
    ranking: Ranking
    lead: Lead | None
    first: str
    second: str
    first_stays: float
    rivals: tuple[str, ...]
    items: ItemStatistics
    solved_by: SolvedBy
    saturation: tuple[Saturation, ...]
    n_missed: int
    perfect: float
    keys: DisputedKeys | None
    reliability: Reliability
    decisive: tuple[str, ...]
    notes: tuple[str, ...]
    degenerate: tuple[Degenerate, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row a system."""
        return frame_of_records(self.systems)


def study_board(
    table: Any,
    choice: RunChoice,
    settings: Settings,
    *,
    quiet: bool,
    discount: str | None = None,
    discount_part: str | None = None,
) -> tuple[Report, Board]:
    """Rank systems, as `rank_systems` does.

    Raises:
        InputError: As `rank_systems`.
    """
    told = reported_bits(discount, discount_part)
    steps = Steps(quiet)
    with steps.step("reading the board"):
        scores = read_board(table, choice, settings.data.clusters)
    with steps.step("ranking systems"):
        found = measure_board(scores, settings.seed)
    discounted = None
    if told is not None:
        with steps.step("discounting"):
            discounted = discount_systems(
                told, scores.systems, scores.scores, scores.items.tolist(), rows_answered(scores, choice), settings.seed
            )
    dated = Dated(
        scores.name, dict(zip(scores.systems, scores.scores, strict=True)), scores.traits.values, scores.clusters,
        scores.traits.weights,
    )  # fmt: skip
    parted = measure_cutoff([dated], choice)
    return report_board(found, scores, choice, settings, steps, discounted, parted), found


def measure_board(scores: BoardScores, seed: int = 0) -> Board:
    """Ranks with intervals, the lead of the first, and what items tell.

    Raises:
        InputError: There are too few items.
    """
    items = scores.of_items
    ranking = rank(*items[:2], weights=items.weights, also=scores.other_rule, seed=seed)
    values = scores.values
    order = np.lexsort((np.arange(len(scores.systems)), -ranking.means)).tolist()
    same = _same(values, order)
    first = order[0]
    second = next((at for at in order if (values[at] != values[first]).any()), None)
    lead = None
    if second is not None:
        lead = lead_of(scores.scores[first], scores.scores[second], scores.clusters, weights=items.weights)
    rivals = _rivals(scores, ranking, order)
    rows = []
    for at in order:
        runs = scores.scores[at]
        mean, low, high = _score(runs, items, seed)
        rows.append(
            System(
                place=int(ranking.places[at]),
                system=scores.systems[at],
                n_runs=len(runs),
                score=mean,
                low=low,
                high=high,
                rank_low=int(ranking.low[at]),
                rank_high=int(ranking.high[at]),
                tier=int(ranking.tiers[at]),
                same_as="" if same[at] == at else scores.systems[same[at]],
                unweighted=None if items.weights is None else float(runs.mean()),
            )
        )
    statistics = describe_items(values)
    n_solved, best = statistics.n_solved, scores.scores[first]
    missed = best.mean(axis=0) < 1
    return Board(
        systems=tuple(rows),
        ranking=ranking,
        lead=lead,
        first=scores.systems[first],
        second="" if second is None else scores.systems[second],
        first_stays=first_in_halves(*items[:2], weights=items.weights, seed=seed),
        rivals=tuple(scores.systems[at] for at in rivals),
        items=statistics,
        solved_by=SolvedBy(
            all=int((n_solved == len(values)).sum()),
            none=int((values.max(axis=0) <= 0).sum()),
            one=int((n_solved == 1).sum()),
        ),
        saturation=tuple(_saturation(values[order[:k]]) for k in _FIRST if k <= len(order)),
        n_missed=int(missed.sum()),
        perfect=lead_of(np.ones(missed.size), best, scores.clusters, weights=items.weights).low
        if missed.any()
        else 0.0,
        keys=_keys(scores, order, seed),
        reliability=reliability(values),
        decisive=() if lead is None else tuple(scores.items[lead.decisive].tolist()),
        notes=(
            *scores.notes,
            *_other_rule(scores, first),
            *_of_one_run(scores),
        ),
        degenerate=find_degenerate(scores.given, scores.name),
    )


def report_board(
    found: Board,
    scores: BoardScores,
    choice: RunChoice,
    settings: Settings,
    steps: Steps,
    discounted: DiscountResult | None = None,
    parted: CutoffResult | None = None,
) -> Report:
    """Write up what was found, and scores without a shortcut, before and after a date, where these were asked."""
    finding = find_board(found, scores)
    result = finding.result
    further = {name: each for name, each in (("discount", discounted), ("cutoff", parted)) if each is not None}
    findings = {
        "questions": ["board", *further],
        "issues": ranked(issues_of([finding])),
        "dataset": About(name=scores.name, n_test=found.ranking.n_items, n_systems=len(scores.systems)),
        "inputs": list(scores.inputs),
        "board": result,
        **further,
        "settings": {
            "seed": settings.seed,
            "clusters": settings.data.clusters,
            "missing": choice.rule,
            "reading": choice.describe(),
        },
    }
    document = frame_findings(f"Board of {scores.name}", findings, steps, settings)
    return compose_report(
        document,
        dict(finding.tables) | discount_tables(discounted) | cutoff_tables(parted),
        findings=[Finding(name, None, result=each) for name, each in {"board": result, **further}.items()],
    )


def find_board(found: Board, scores: BoardScores) -> Finding:
    """What a report on a board and an audit of it say: the result, and full tables of systems and items."""
    items = _items(found, scores)
    tables = {"board": found.to_frame(), "board_items": frame_of_records(items)}
    if found.keys is not None:
        tables["board_keys"] = frame_of_records(found.keys.items)
    return Finding("board", None, tables=tables, result=_result(found, items, scores.asked, scores.traits.weighted_by))


def _items(found: Board, scores: BoardScores) -> list[Item]:
    """Every item, in the order of the input."""
    of, decisive = found.items, set(found.decisive)
    columns = zip(
        scores.items.tolist(), of.means.tolist(), of.n_solved.tolist(), of.discrimination.tolist(), of.q.tolist(),
        strict=True,
    )  # fmt: skip
    return [
        Item(name, mean, n_solved, number(discrimination), number(q), name in decisive)
        for name, mean, n_solved, discrimination, q in columns
    ]


def _result(found: Board, items: list[Item], asked: tuple[str, ...], weighted_by: str) -> BoardResult:
    """The board as a report has it: without what is known of items that no page shows."""
    ranking, lead = found.ranking, found.lead
    against = [
        (each.discrimination, each)
        for each in items
        if each.q is not None and each.discrimination is not None and each.q < _SURE and each.discrimination < 0
    ]
    return BoardResult(
        systems=found.systems,
        n_items=ranking.n_items,
        n_clusters=ranking.n_clusters,
        critical=ranking.critical,
        level=ranking.level,
        n_tiers=int(ranking.tiers.max()),
        rivals=found.rivals,
        first=found.first,
        second=found.second,
        first_stays=found.first_stays,
        lead=None
        if lead is None
        else BoardLead(
            difference=lead.difference,
            low=lead.low,
            high=lead.high,
            n_for=lead.n_for,
            n_against=lead.n_against,
            effective_items=lead.effective_items,
            n_decisive=lead.n_decisive,
            decisive=found.decisive,
        ),
        solved_by=found.solved_by,
        saturation=found.saturation,
        n_missed=found.n_missed,
        perfect=found.perfect,
        keys=None if found.keys is None else _first_disputed(found.keys),
        reliability=found.reliability,
        decisive=tuple(each for each in items if each.decides)[:_MOST_ITEMS],
        against=tuple(each for _, each in sorted(against, key=itemgetter(0))[:_MOST_ITEMS]),
        n_against=len(against),
        asked=asked,
        degenerate=found.degenerate,
        notes=found.notes,
        weighted_by=weighted_by or None,
    )


def _rivals(scores: BoardScores, ranking: Ranking, order: Sequence[int]) -> list[int]:
    """Systems that may be first in the place of the first: by all comparisons at once, and none where it surely is."""
    first = order[0]
    items = scores.of_items
    ahead = ~rivals_of(first, *items[:2], weights=items.weights, also=scores.other_rule)
    if ahead.all():
        return []
    at_once = [at for at in order[1:] if ranking.low[at] == 1]
    return at_once or [at for at in order[1:] if not ahead[at]]


def _score(runs: NDArray[np.float64], items: Items, seed: int) -> tuple[float, float, float]:
    """Mean of a system with its interval over items, and over runs where it has several."""
    if len(runs) == 1:
        found = score_one_run(runs[0], items.clusters, weights=items.weights)
        return found.mean, found.interval.low, found.interval.high
    weighed = weigh(runs, items.weights)
    interval = score_interval(weighed, cluster_codes(items.clusters, runs.shape[1]), seed=seed)
    return float(weighed.mean()), interval.low, interval.high


def _saturation(values: NDArray[np.float64]) -> Saturation:
    """How many items some of the systems solve and others do not, given their scores, (K, N)."""
    n_all, n_none = int((values >= 1).all(axis=0).sum()), int((values <= 0).all(axis=0).sum())
    return Saturation(len(values), n_all, n_none, (n_all + n_none) / values.shape[1])


def _keys(scores: BoardScores, order: Sequence[int], seed: int) -> DisputedKeys | None:
    """The items on which the systems' answers agree on another one than the key, the most disputed first."""
    known = {name: key for of in scores.answered for name, key in zip(of.names, of.labels or (), strict=False)}
    key = pl.Series([known.get(name) for name in scores.items.tolist()], dtype=pl.String)
    chosen = [_choices(given, scores.items) for given in scores.given if given.choices is not None]
    if len(chosen) < len(scores.systems) or not 2 <= key.n_unique() - bool(key.null_count()) <= _MOST_CHOICES:
        return None
    rows = key.is_not_null().to_numpy()
    names = pl.concat([key, *chosen]).drop_nulls().unique().sort()
    codes = [each.replace_strict(names, range(len(names)), default=-1).to_numpy()[rows] for each in (key, *chosen)]
    votes = vote_on_keys(np.array(codes[1:]), codes[0], len(names), scores.systems)
    if votes is None:
        return None
    disputed = votes.q <= Q
    kept = np.ones(scores.items.size, dtype=np.bool_)
    kept[np.flatnonzero(rows)[disputed]] = False
    ids = scores.items[rows]
    all_keys = tuple(
        DisputedKey(
            str(ids[at]), names[int(codes[0][at])], names[int(votes.alternative[at])], int(votes.n_for[at]),
            int(votes.n_against[at]), float(votes.log_odds[at]), float(votes.q[at]),
        )
        for at in np.argsort(-votes.log_odds, kind="stable").tolist()
    )  # fmt: skip
    left = [each[:, kept] for each in scores.scores]
    clusters, weights = (None if each is None else each[kept] for each in (scores.clusters, scores.traits.weights))
    items, again = Items(left, clusters, weights), order if disputed.any() and kept.sum() > 1 else ()
    n_families, reason = len(set(votes.families)), ""
    if votes.least_p > Q:
        few = "all families of systems may agree on a wrong answer by chance"
        reason = f"no key can be disputed: {'of two choices all wrong answers agree' if len(names) == 2 else few}"
    return DisputedKeys(
        int(rows.sum()), n_families, None if reason else int(disputed.sum()), int(kept.sum()), votes.alike, all_keys,
        tuple(UndisputedScore(scores.systems[at], *_score(left[at], items, seed)) for at in again),
        reason,
    )  # fmt: skip


def _first_disputed(keys: DisputedKeys) -> DisputedKeys:
    return replace(keys, items=keys.items[: min(keys.n_disputed or 0, _MOST_ITEMS)])


def _choices(given: Given, items: NDArray[np.str_]) -> pl.Series:
    """What a system chose on the items, (N,), null where it did not."""
    assert given.choices is not None
    own = pl.DataFrame({"item": given.items, "choice": given.choices.cast(pl.String)}).unique("item", keep="first")
    asked = pl.DataFrame({"item": items.tolist()}, schema={"item": pl.String})
    return asked.join(own, on="item", how="left", maintain_order="left")["choice"]


def _other_rule(scores: BoardScores, first: int) -> list[str]:
    """What is first by the other rule for cells without a score."""
    if scores.other_rule is None:
        return []
    other = scores.other_rule
    means = [float(weigh(each, other.weights).mean()) for each in other.scores]
    best = int(np.argmax(means))
    held = (
        "A system is better only where it is so on the items in common, with empty cells as wrong, and by the mean of "
        "what each answered."
    )
    if means[best] <= means[first] + 1e-12:
        answered = other.scored_only
        if answered is None or not answered.any() or answered.max() <= answered[first] + 1e-12:
            return [held]
        best = int(answered.argmax())
        return [
            f"By the mean of what each answered {scores.systems[best]} scores most: {points(answered[best], 2)}, and "
            f"{scores.systems[first]} {points(answered[first], 2)}. {held}"
        ]
    n_common = np.shape(other.scores[0])[-1]
    by = "With empty cells as wrong" if scores.rule == "leave-out" else f"On the {n_common:,} items in common"
    return [
        f"{by} {scores.systems[best]} scores most: {points(means[best], 2)}, and {scores.systems[first]} "
        f"{points(means[first], 2)}. {held}"
    ]


def _of_one_run(scores: BoardScores) -> list[str]:
    """What ranks of single runs leave open."""
    single = [name for name, runs in zip(scores.systems, scores.scores, strict=True) if len(runs) == 1]
    if len(single) == len(scores.systems):
        return [
            "Each system has one run: how far another run would score otherwise is not known, nor part of the ranks."
        ]
    if not single:
        return []
    spread = 100 * pooled_spread(scores.scores, scores.traits.weights).variance ** 0.5
    more = f" and {len(single) - _MOST_NAMES} more" if len(single) > _MOST_NAMES else ""
    return [
        f"One run: {', '.join(single[:_MOST_NAMES])}{more}. It is taken to vary over runs as the other systems do, by "
        f"{spread:.2f} points (SD)."
    ]


def _same(values: np.ndarray[Any, Any], order: Sequence[int]) -> dict[int, int]:
    """Of each system the first in the order with the same score on every item."""
    seen: dict[bytes, int] = {}
    return {at: seen.setdefault(values[at].tobytes(), at) for at in order}
