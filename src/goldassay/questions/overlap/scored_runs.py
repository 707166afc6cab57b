"""Scores of models on the items that stand in the corpus, beside those on items that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count, points, signed_points
from goldassay.questions.board.reading import read_board
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.questions.overlap.measures import adjusted_difference
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.questions.run_sources import run_paths
from goldassay.stats.intervals import Interval, difference_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CAUTION = (
    "Items that stand in a corpus may be easier by themselves, such as well-known ones: a difference does not prove "
    "that a model knows them by heart. A model that was not trained on the corpus shows what it is without that."
)
OTHERS = (
    "Difficulty is what the other systems of the board score on an item on average. Where these have seen the items, "
    "too, it hides the difference."
)
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
                mend=f"choose one with {option('dataset', 'NAME')}",
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
            mend=f"name the items' column of the test set with {option('columns', 'id=NAME')}",
        )  # fmt: skip
    return found


def difficulty_by_model(
    board: Any, models: Sequence[str], ids: Sequence[str]
) -> dict[str, tuple[NDArray[np.float64], int]]:
    """What the other systems of a board score on each item, NaN where it lacks one, and how many there are.

    Args:
        board: A path or table of scores of systems on items.
        models: Those that are compared; a system of the same name is left out.
        ids: Names of the items, (N,).

    Raises:
        InputError: It cannot be read, has none of the items, or no other system.
    """
    scores = read_board(board, RunChoice())
    place = {str(name): at for at, name in enumerate(scores.items.tolist())}
    at = np.array([place.get(name, -1) for name in ids])
    if (at < 0).all():
        raise InputError(
            f"{option('board')}: it has none of the items; the first item is {ids[0]!r}, the first of the board "
            f"{str(scores.items[0])!r}",
            mend=f"name the items' column of the test set with {option('columns', 'id=NAME')}",
        )
    found = {}
    for model in models:
        others = [number for number, name in enumerate(scores.systems) if name.casefold() != model.casefold()]
        if not others:
            raise InputError(f"{option('board')}: it has no system but {model}", mend="give scores of other systems")
        mean = scores.values[others].mean(axis=0)
        found[model] = np.where(at >= 0, mean[at], np.nan), len(others)
    return found


def compare_scores(
    model: str,
    scores: NDArray[np.float64],
    is_dirty: NDArray[np.bool_],
    is_clean: NDArray[np.bool_],
    clusters: NDArray[np.int64],
    difficulty: tuple[NDArray[np.float64], int] | None = None,
) -> dict[str, Any]:
    """One model's score on all, dirty and clean items, and the difference of the last two, with intervals.

    The difference has the interval that follows from those of the two (Newcombe 1998; Zou and Donner 2008), as if no
    cluster had items of both kinds; where some do, it is wider than needed.

    Args:
        model: Its name.
        scores: Of each item, (N,), NaN where there is none.
        is_dirty: Items that stand in the corpus.
        is_clean: Items that do not.
        clusters: Of the items.
        difficulty: What others score on each item, NaN where that is not known, and how many they are.
    """
    answered = np.isfinite(scores)
    row: dict[str, Any] = {"model": model, "n_answered": int(answered.sum()), "n_lacking": int((~answered).sum())}
    of: dict[str, tuple[float, Interval]] = {}
    for name, chosen in (("all", answered), ("dirty", answered & is_dirty), ("clean", answered & is_clean)):
        row |= {f"n_{name}": int(chosen.sum()), name: None, f"{name}_low": None, f"{name}_high": None}
        if chosen.sum() and chosen.sum() >= _FEW and np.unique(clusters[chosen]).size >= _FEW:
            scored = score_one_run(scores[chosen], clusters[chosen])
            of[name] = scored.mean, scored.interval
            row |= {name: scored.mean, f"{name}_low": scored.interval.low, f"{name}_high": scored.interval.high}
    row |= {"difference": None, "difference_low": None, "difference_high": None, "reason": ""}
    if "dirty" in of and "clean" in of:
        between = difference_interval(*of["dirty"], *of["clean"])
        row |= {
            "difference": of["dirty"][0] - of["clean"][0],
            "difference_low": between.low,
            "difference_high": between.high,
        }
    else:
        lacking = "dirty" if "dirty" not in of else "clean"
        row["reason"] = f"fewer than {_FEW} clusters of {lacking} items were answered"
    if difficulty is not None:
        chosen = answered & (is_dirty | is_clean) & np.isfinite(difficulty[0])
        row |= _at_equal_difficulty(scores[chosen], is_dirty[chosen], difficulty[0][chosen], clusters[chosen])
        row["n_systems"] = difficulty[1]
    return row


def _at_equal_difficulty(
    scores: NDArray[np.float64],
    is_dirty: NDArray[np.bool_],
    difficulty: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> dict[str, Any]:
    found = adjusted_difference(scores, is_dirty, difficulty, clusters)
    is_defined = found.interval is not None
    reason = ""
    if not found.n_strata:
        reason = "no items of both kinds are equally hard for the other systems"
    elif not is_defined:
        reason = "the items of both kinds that are equally hard for the other systems are one cluster, or too few"
    return {
        "adjusted": found.value if is_defined else None,
        "adjusted_low": None if found.interval is None else found.interval.low,
        "adjusted_high": None if found.interval is None else found.interval.high,
        "n_strata": found.n_strata,
        "n_adjusted": found.n_items,
        "adjusted_reason": reason,
    }


def say_scores(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the scores say, a sentence a model, and the caution."""
    found = []
    for row in rows:
        if row["difference"] is None:
            found.append(f"{row['model']}: {row['reason']}, so that nothing can be compared.")
            continue
        low, high = (signed_points(row[f"difference_{end}"]) for end in ("low", "high"))
        found.append(
            f"{row['model']} scores {points(row['dirty'])} on {count(row['n_dirty'])} items in the corpus and "
            f"{points(row['clean'])} on {count(row['n_clean'])} outside: "
            f"{signed_points(row['difference'])} points ({low} to {high}). On all it scores {points(row['all'])}."
        )
        if row.get("adjusted") is not None:
            low, high = (signed_points(row[f"adjusted_{end}"]) for end in ("low", "high"))
            found.append(
                f"Among items that are equally hard for {count(row['n_systems'])} other systems: "
                f"{signed_points(row['adjusted'])} points ({low} to {high}; {count(row['n_adjusted'])} items in "
                f"{count(row['n_strata'])} steps of difficulty)."
            )
        elif row.get("adjusted_reason"):
            found.append(f"{row['model']} at equal difficulty: {row['adjusted_reason']}.")
        if row["n_lacking"]:
            found.append(f"{row['model']} has no answer to {count(row['n_lacking'])} items.")
    has_board = any("n_systems" in row for row in rows)
    return [*found, CAUTION, *([OTHERS] if has_board else [])] if found else []
