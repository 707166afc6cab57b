"""Scores of models on the items that stand in the corpus, beside those on items that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.intervals import Interval, difference_interval
from goldassay.core.numbers import count, points, signed_points
from goldassay.instability import score_one_run
from goldassay.leakage.single_sentence import PAIRED, TEXT
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.questions.run_sources import run_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.run_choice import RunChoice

CAUTION = (
    "Items that stand in a corpus may be easier by themselves, such as well-known ones: a difference does not prove "
    "that a model knows them by heart. A model that was not trained on the corpus shows what it is without that."
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


def compare_scores(
    model: str,
    scores: NDArray[np.float64],
    is_dirty: NDArray[np.bool_],
    is_clean: NDArray[np.bool_],
    clusters: NDArray[np.int64],
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
    return row


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
        if row["n_lacking"]:
            found.append(f"{row['model']} has no answer to {count(row['n_lacking'])} items.")
    return [*found, CAUTION] if found else []
