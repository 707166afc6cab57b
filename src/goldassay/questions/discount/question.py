"""Scores of anybody's runs with a shortcut discounted: the part of a report that three commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count
from goldassay.core.results import frame_of_records
from goldassay.questions.discount.measures import discount_scores, mean_bits
from goldassay.questions.discount.reading import Answered, ShortcutBits, match_rows
from goldassay.questions.discount.result import DiscountedPair, DiscountedSystem, DiscountResult, OtherPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.runs.runs import Runs

# With fewer rows in common the scores would be those of another set.
_LEAST_COMMON = 0.5


def discount_systems(
    told: ShortcutBits,
    names: Sequence[str],
    scores: Sequence[NDArray[np.float64]],
    ids: Sequence[str],
    answered: Sequence[Answered],
    seed: int,
) -> DiscountResult:
    """Scores of systems on the same rows, with what a report tells discounted.

    Args:
        told: Of the report of an audit of the same rows.
        names: Of the systems.
        scores: Of each system its runs on the same rows, (R, N).
        ids: Of the rows, (N,).
        answered: What tells of each system that these are rows of the report.
        seed: Of the bootstrap.

    Raises:
        InputError: The report is of other rows; see `match_rows`.
    """
    place = {name: at for at, name in enumerate(told.ids)}
    # In the report's order, and systems by name: the same draws whichever command asks.
    kept = sorted((at for at, name in enumerate(ids) if name in place), key=lambda at: place[ids[at]])
    by_name = sorted(range(len(names)), key=lambda at: names[at])
    names, scores = [names[at] for at in by_name], [scores[at] for at in by_name]
    if len(kept) < max(2, _LEAST_COMMON * len(ids)):
        raise InputError(
            f"{option('discount')}: {count(len(kept))} of the {count(len(ids))} example ids of the runs are in the "
            "report",
            file=told.path,
            mend="name the report of an audit whose evaluation part the runs answer",
        )
    matched = match_rows(told, answered)
    kept = [at for at in kept if ids[at] not in matched.other]
    rows = [place[ids[at]] for at in kept]
    clusters = None if told.clusters is None else np.unique(told.clusters[rows], return_inverse=True)[1]
    found = discount_scores([each[:, kept] for each in scores], told.bits[:, rows], clusters, seed=seed)
    others = [
        OtherPart(part, value, low, high)
        for part, (value, low, high) in (
            (part, mean_bits(bits[:, rows], clusters, seed=seed)) for part, bits in sorted(told.others.items())
        )
    ]
    order = np.argsort(-found.scores, kind="stable").tolist()
    after = np.argsort(np.argsort(-found.discounted, kind="stable"), kind="stable") + 1
    systems = [
        DiscountedSystem(
            names[at],
            rank,
            int(after[at]),
            *_bounded(found.scores, found.scores_within, at),
            *_bounded(found.discounted, found.discounted_within, at),
            *_bounded(found.ungiven, found.ungiven_within, at),
            *_bounded(found.slopes, found.slopes_within, at),
        )
        for rank, at in enumerate(order, start=1)
    ]
    pairs = [
        DiscountedPair(
            names[a],
            names[b],
            *_bounded(found.leads, found.leads_within, at),
            *_bounded(found.discounted_leads, found.discounted_leads_within, at),
            float(found.earned_upper[at]),
            _count_distinguished(found.leads_within[at]),
            _count_distinguished(found.discounted_leads_within[at]),
        )
        for at, (a, b) in enumerate(found.pairs.tolist())
    ]
    return DiscountResult(
        report=told.title,
        part=told.part,
        reason=found.reason,
        n_items=found.n_items,
        n_dropped=sum(name not in place for name in ids),
        n_other_label=len(matched.other & set(ids)),
        by_name_alone=matched.by_name_alone,
        n_ungiven=found.n_ungiven,
        n_effective=found.n_effective,
        mean_weight=found.mean_weight,
        mean_bits=found.mean_bits,
        n_readers=found.n_readers,
        other_parts=tuple(others),
        systems=tuple(systems),
        pairs=tuple(pairs),
    )


def discount_runs(told: ShortcutBits, named: Sequence[tuple[str, Runs]], seed: int) -> DiscountResult:
    """The same of runs: of those that answer rows of the report, on the rows that all of these answer.

    Raises:
        InputError: As `discount_systems`; no runs answer rows of the report, or their rows are not those of the report.
    """
    known = set(told.ids)
    places = [{str(name): at for at, name in enumerate(runs.example_ids.tolist())} for _, runs in named]
    answering = [at for at, place in enumerate(places) if 2 * len(known & place.keys()) >= len(place)]
    if not answering:
        raise InputError(
            f"{option('discount')}: the runs answer other rows than those of the report", file=told.path,
            mend="name the report of an audit whose evaluation part the runs answer",
        )  # fmt: skip
    answered = [answered_by(named[at][1]) for at in answering]
    common = [name for name in places[answering[0]] if all(name in places[at] for at in answering)]
    scores = [named[at][1].final().scores[:, [places[at][name] for name in common]] for at in answering]
    return discount_systems(told, [named[at][0] for at in answering], scores, common, answered, seed)


def answered_by(runs: Runs) -> Answered:
    """The rows that runs answer, and their right labels."""
    names = tuple(map(str, runs.example_ids.tolist()))
    if runs.gold is None:
        return Answered(names, None)
    return Answered(names, tuple(runs.label_names[code] for code in runs.gold.tolist()))


def discount_tables(found: DiscountResult | None) -> dict[str, pl.DataFrame]:
    """The tables behind a section, by name; none where nothing was discounted."""
    if found is None:
        return {}
    tables = {"discount": frame_of_records(found.systems)}
    return tables | ({"discounted_leads": frame_of_records(found.pairs)} if found.pairs else {})


def _bounded(values: NDArray[np.float64], within: NDArray[np.float64], at: int) -> tuple[float, float, float]:
    """A value with its ends."""
    return float(values[at]), float(within[at, 0]), float(within[at, 1])


def _count_distinguished(within: NDArray[np.float64]) -> int:
    """1 where the first is surely ahead, -1 where it is surely behind, 0 where neither is sure; each pair by itself."""
    return int(within[0] > 0) - int(within[1] < 0)
