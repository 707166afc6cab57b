"""Scores of models on the items that are in the corpus, beside those on items that are not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.questions.inputs import run_paths
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.questions.overlap.measures import adjusted_difference
from goldassay.questions.overlap.result import ModelScore
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.stats.intervals import Interval, difference_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.board.scores import BoardScores

_FEW = 2


def scores_by_model(runs: Any, choice: RunChoice, ids: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Mean score over runs of each model on the items, NaN where an item was not answered, {model: (N,)}.

    Args:
        runs: Paths, `Runs`, or tables of predictions.
        choice: How they are read.
        ids: Names of the items, (N,).

    Raises:
        InputError: They cannot be read, are on several datasets, or answer none of the items.
    """
    choice = replace(choice, checkpoint=choice.checkpoint or "last")
    place = {name: at for at, name in enumerate(ids)}
    found: dict[str, NDArray[np.float64]] = {}
    with run_paths(runs, named=False) as paths, placed(paths):
        sets = [each for each in unloaded_sets(find_runs(paths, choice), choice) if each.condition in (PAIRED, TEXT)]
        datasets = list(dict.fromkeys(each.dataset for each in sets))
        if len(datasets) > 1:
            raise InputError(
                f"there are runs on {len(datasets)} datasets: {', '.join(datasets[:8])}",
                mend=f"choose one, as in {option('dataset', datasets[0])}",
            )
        for each in sets:
            loaded = each.load().final()
            rows = np.array([place.get(str(example), -1) for example in loaded.example_ids.tolist()])
            known = rows >= 0
            scores = np.full(len(ids), np.nan)
            scores[rows[known]] = loaded.scores.mean(axis=0)[known]
            found[each.model] = scores
    if not any(np.isfinite(scores).any() for scores in found.values()):
        raise InputError(
            f"the runs answer none of the items; the first item is {ids[0]!r}", file=str(paths[0]),
            mend="give the runs of this test set, or name the column of its items' ids as id",
        )  # fmt: skip
    return found


def difficulty_by_model(
    board: BoardScores, models: Sequence[str], ids: Sequence[str]
) -> dict[str, tuple[NDArray[np.float64], int]]:
    """What the other systems of a board score on each item, NaN where it lacks one, and how many there are.

    Args:
        board: Scores of systems on items.
        models: Those that are compared; a system of the same name is left out.
        ids: Names of the items, (N,).

    Raises:
        InputError: It has none of the items, or no other system.
    """
    place = {str(name): at for at, name in enumerate(board.items.tolist())}
    at = np.array([place.get(name, -1) for name in ids])
    if (at < 0).all():
        raise InputError(
            f"{option('board')}: it has none of the items; the first item is {ids[0]!r}, the first of the board "
            f"{str(board.items[0])!r}",
            mend="give the runs of this test set, or name the column of its items' ids as id",
        )
    found = {}
    for model in models:
        others = [number for number, name in enumerate(board.systems) if name.casefold() != model.casefold()]
        if not others:
            raise InputError(f"{option('board')}: it has no system but {model}", mend="give scores of other systems")
        mean = board.values[others].mean(axis=0)
        found[model] = np.where(at >= 0, mean[at], np.nan), len(others)
    return found


def compare_scores(
    model: str,
    scores: NDArray[np.float64],
    is_dirty: NDArray[np.bool_],
    is_clean: NDArray[np.bool_],
    clusters: NDArray[np.int64],
    difficulty: tuple[NDArray[np.float64], int] | None = None,
) -> ModelScore:
    """One model's score on all, dirty and clean items, and the difference of the last two, with intervals.

    The difference has the interval that follows from those of the two (Newcombe 1998; Zou and Donner 2008), as if no
    cluster had items of both kinds; where some do, it is wider than needed.

    Args:
        model: Its name.
        scores: Of each item, (N,), NaN where there is none.
        is_dirty: Items that are in the corpus.
        is_clean: Items that do not.
        clusters: Of the items.
        difficulty: What others score on each item, NaN where that is not known, and how many they are.
    """
    answered = np.isfinite(scores)
    all_, dirty, clean = (
        _Part.of(scores, clusters, answered & chosen) for chosen in (np.ones_like(answered), is_dirty, is_clean)
    )
    value = between = None
    lacking = "dirty" if dirty.interval is None else "clean"
    if dirty.interval is not None and clean.interval is not None:
        value, lacking = dirty.mean - clean.mean, ""
        between = difference_interval(dirty.mean, dirty.interval, clean.mean, clean.interval)
    score = ModelScore(
        model=model,
        n_answered=all_.n,
        n_lacking=answered.size - all_.n,
        n_all=all_.n,
        all=all_.score,
        all_low=_low(all_.interval),
        all_high=_high(all_.interval),
        n_dirty=dirty.n,
        dirty=dirty.score,
        dirty_low=_low(dirty.interval),
        dirty_high=_high(dirty.interval),
        n_clean=clean.n,
        clean=clean.score,
        clean_low=_low(clean.interval),
        clean_high=_high(clean.interval),
        difference=value,
        difference_low=_low(between),
        difference_high=_high(between),
        reason=f"fewer than {_FEW} clusters of {lacking} items were answered" if lacking else "",
    )
    if difficulty is None:
        return score
    chosen = answered & (is_dirty | is_clean) & np.isfinite(difficulty[0])
    found = adjusted_difference(scores[chosen], is_dirty[chosen], difficulty[0][chosen], clusters[chosen])
    reason = ""
    if not found.n_strata:
        reason = "no items of both kinds are equally hard for the other systems"
    elif found.interval is None:
        reason = "the items of both kinds that are equally hard for the other systems are one cluster, or too few"
    return replace(
        score,
        adjusted=math.nan if found.interval is None else found.value,
        adjusted_low=math.nan if found.interval is None else found.interval.low,
        adjusted_high=math.nan if found.interval is None else found.interval.high,
        n_strata=found.n_strata,
        n_adjusted=found.n_items,
        adjusted_reason=reason,
        n_systems=difficulty[1],
    )


class _Part(NamedTuple):
    """Some of the items: how many, and the mean score on them with its interval where they are enough."""

    n: int
    mean: float = math.nan
    interval: Interval | None = None

    @classmethod
    def of(cls, scores: NDArray[np.float64], clusters: NDArray[np.int64], chosen: NDArray[np.bool_]) -> _Part:
        n = int(chosen.sum())
        if np.unique(clusters[chosen]).size < _FEW:
            return cls(n)
        scored = score_one_run(scores[chosen], clusters[chosen])
        return cls(n, scored.mean, scored.interval)

    @property
    def score(self) -> float | None:
        return None if self.interval is None else self.mean


def _low(interval: Interval | None) -> float | None:
    return None if interval is None else interval.low


def _high(interval: Interval | None) -> float | None:
    return None if interval is None else interval.high
