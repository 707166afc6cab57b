"""Runs of several models on the same examples, by one rule for answers and examples that a run lacks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.core.numbers import count, points
from goldassay.runs.label_codes import best_targets, bound
from goldassay.runs.loading import LackingError, ways
from goldassay.runs.statuses import MISSING, N_SCORED, NO_ANSWER, NOT_TRIED, STATUSES, Missing
from goldassay.runs.traits import shared_traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.runs import Runs


def on_same_items(
    sets: Sequence[Runs], names: Sequence[str], missing: Missing, *, by_name: bool = False
) -> tuple[list[Runs], list[str]]:
    """All sets on the same examples in one order, and a sentence on examples that were left out.

    Args:
        sets: Runs (R, N), at their last checkpoint.
        names: What to call them in messages.
        missing: "wrong" and "bounds" give each set the examples of all, "leave-out" keeps those that all answered.
        by_name: Put the examples in the order of their names, so that it does not depend on a file's; else that of the
            first set.

    Raises:
        InputError: The examples differ, and the rule refuses that; or none is in common.
    """
    shared = SharedItems.of(sets, names, missing, by_name=by_name)
    return [shared.on(runs) for runs in sets], shared.notes


@dataclasses.dataclass(frozen=True)
class SharedItems:
    """The examples on which several sets of runs are measured by one rule for what is missing.

    Attributes:
        ids: Names of the examples, in order.
        left_out: Names of those that some set was asked and that do not count, and whether any run answered each.
        notes: A sentence on these; none where there are none.
        traits: Columns of the examples, {name: (N,)}.
        weights: Of the examples, (N,), if any.
        as_they_are: Whether the sets bring neither columns nor weights.
    """

    ids: pl.Series
    left_out: Mapping[str, bool]
    notes: list[str]
    traits: dict[str, NDArray[np.str_]]
    weights: NDArray[np.float64] | None
    as_they_are: bool

    @classmethod
    def of(cls, sets: Sequence[Runs], names: Sequence[str], missing: Missing, *, by_name: bool = False) -> SharedItems:
        """The examples of all sets, or those that all answered: arguments and errors as of `on_same_items`."""
        ids = [_ids(runs) for runs in sets]
        every = pl.concat(ids).unique(maintain_order=True)
        common = every
        for own, runs in zip(ids, sets, strict=True):
            there = own.filter(pl.Series(runs.scored.all(axis=0))) if missing == "leave-out" else own
            common = common.filter(common.is_in(there.implode()))
        if every.len() > common.len() and missing in ("auto", "refuse"):
            _refuse(sets, names, ids, every, common)
        kept = common if missing == "leave-out" else every
        if not kept.len():
            raise InputError(f"{', '.join(names)} have no example in common", mend="check that they are of one dataset")
        kept = kept.sort() if by_name else kept
        asked = dict.fromkeys([*every.to_list(), *(name for runs in sets for name in runs.left_out)])
        counted, answered = set(kept.to_list()), _answered(sets)
        bare = all(not runs.traits and runs.weights is None for runs in sets)
        traits, weights = ({}, None) if bare else shared_traits(sets, kept.to_list())
        return cls(
            ids=kept,
            left_out={name: name in answered for name in asked if name not in counted},
            notes=_describe_left_out(answered, kept.len(), len(asked)),
            traits=traits,
            weights=weights,
            as_they_are=bare,
        )

    def on(self, runs: Runs) -> Runs:
        """Runs of one of the sets on these examples."""
        aligned = on_items(runs, self.ids)
        if self.left_out:
            aligned = dataclasses.replace(aligned, left_out=self.left_out)
        if self.as_they_are:
            return aligned
        return dataclasses.replace(aligned, traits=self.traits, weights=self.weights)


def _ids(runs: Runs) -> pl.Series:
    # Of an array of texts: what numpy raises while it makes a text of an element is lost.
    return pl.Series(runs.example_ids.tolist(), dtype=pl.String)


def on_items(runs: Runs, ids: pl.Series) -> Runs:
    """The runs on these examples: those that they lack count as wrong, and are missing."""
    own = _ids(runs)
    if own.equals(ids):
        return runs
    table = pl.DataFrame({"id": own}).with_row_index("row")
    rows = pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["row"]
    lacks = rows.is_null().to_numpy()
    taken = rows.fill_null(0).to_numpy()
    if not lacks.any():
        return runs.take(taken)
    codes = np.zeros(runs.scores.shape, np.int8) if runs.status_codes is None else runs.status_codes
    # Labels, logits and groups of an example that a run lacks are not at hand.
    return dataclasses.replace(
        runs,
        scores=np.where(lacks, 0.0, runs.scores[..., taken]),
        status_codes=np.where(lacks, np.int8(MISSING), codes[..., taken]),
        predictions=None,
        logits=None,
        gold=None,
        groups={},
        traits={},
        weights=None,
        thresholds=(),
        example_ids=np.array(ids.to_list(), dtype=np.str_),
    )


def _refuse(
    sets: Sequence[Runs], names: Sequence[str], ids: Sequence[pl.Series], every: pl.Series, common: pl.Series
) -> None:
    lacking = {name: every.filter(~every.is_in(own.implode())) for name, own in zip(names, ids, strict=True)}
    said = ", ".join(f"{name} lacks {count(each.len())}" for name, each in list(lacking.items())[:4] if each.len())
    first = next(each for each in lacking.values() if each.len()).head(6).to_list()
    if not common.len():
        mend = "check that they are of one dataset"
    else:
        each_gives = [
            ways(pl.Series(runs.scores.mean(axis=0)), own.is_in(common.implode()), every.len())
            for runs, own in zip(sets[:2], ids[:2], strict=True)
        ]
        mend = "; ".join(
            f"{name}: {given.removesuffix('; or give the missing ones')}"
            for name, given in zip(names[:2], each_gives, strict=True)
        )
    raise LackingError(
        f"different examples of {sets[0].dataset} were scored: of {count(every.len())} examples, {count(common.len())} "
        f"in common, {said}, first {', '.join(first)}",
        mend=mend,
    )


def _answered(sets: Sequence[Runs]) -> set[str]:
    """Names of the examples that some run answered, be they left out or not."""
    answered = {name for runs in sets for name in runs.example_ids[runs.scored.any(axis=0)].tolist()}
    return answered | {name for runs in sets for name, is_answered in runs.left_out.items() if is_answered}


def _describe_left_out(answered: set[str], kept: int, asked: int) -> list[str]:
    if asked == kept:
        return []
    nobody = asked - len(answered)
    none = f", {count(nobody)} of which no run answered" if nobody else ""
    return [
        f"Scored on the {count(kept)} of {count(asked)} examples that all runs answered; left out are "
        f"{count(asked - kept)}{none}. This may flatter a run that leaves out what it finds hard."
    ]


def scored_only(runs: Runs) -> float:
    """The mean score of the answers that have one; NaN where none has."""
    weights = runs.scored if runs.weights is None else runs.scored * runs.weights
    total = float(weights.sum())
    return float((runs.scores * weights).sum()) / total if total else float("nan")


def count_statuses(codes: NDArray[np.int8]) -> dict[str, int]:
    """{status: answers with it} of those that do not count as scored."""
    numbers = np.bincount(codes.ravel(), minlength=len(STATUSES))
    return {name: int(n) for name, n in zip(STATUSES[N_SCORED:], numbers[N_SCORED:], strict=True) if n}


def describe_dealt(names: Sequence[str]) -> str:
    """Why the attempts of systems have no spread over runs: the order of rows alone tells them apart."""
    return (
        f"The samples of {listing(names)} have no number: their order is arbitrary. They are attempts at each "
        "example, dealt at random, and no runs that have a spread of their own."
    )


def describe_scores(runs: Runs, name: str = "") -> list[str]:
    """What a reader of scores must know: by what labels they were read, whether these are in order, what has no score.

    Args:
        runs: At their last checkpoint.
        name: What to call them, by default by their model and dataset.
    """
    return [*describe_labels(runs, name), *describe_unscored(runs, name)]


def describe_labels(runs: Runs, name: str = "") -> list[str]:
    """By what labels scores were read, and whether these may be in another order; as for `describe_scores`."""
    called = name or f"{runs.model} on {runs.dataset}"
    return [
        *(f"{called}: {each}." for each in runs.remarks),
        *_describe_beyond(runs, called),
        *describe_order(runs, name),
    ]


def _describe_beyond(runs: Runs, called: str) -> list[str]:
    """That more than a few predictions are no right label of any example, and count as wrong."""
    if runs.gold is None or runs.predictions is None or not (runs.predictions >= 0).all():
        return []
    n = np.bincount(runs.predictions.ravel(), minlength=len(runs.label_names))
    right = np.bincount(runs.gold, minlength=len(runs.label_names))
    beyond = [at for at in np.flatnonzero((n > 0) & (right == 0)) if runs.label_names[at] != NO_ANSWER]
    total = int(n[beyond].sum())
    # Free answers are mostly such that no example has them.
    if total <= _FEW_BEYOND * runs.predictions.size or (right > 0).sum() > _MOST_LABELS // 4:
        return []
    names = listing([repr(runs.label_names[at]) for at in beyond], 3)
    return [f"{called}: {count(total)} predictions are {names}, which no example has as its right label: wrong."]


def describe_order(runs: Runs, name: str = "") -> list[str]:
    """A doubt where a score shows no skill and another order of the labels would show much; else nothing.

    The order is doubted if the score is not significantly above the most frequent label, and the best one-to-one map of
    predicted labels scores significantly more than both: at 1 in 1,000, corrected for all K! orders (Chernoff's bound),
    with the examples as the only source of noise.

    Args:
        runs: At their last checkpoint, (R, N).
        name: What to call them, by default by their model and dataset.
    """
    gold, predicted = runs.gold, runs.predictions
    if gold is None or predicted is None or predicted.ndim != 2 or not 2 <= len(runs.label_names) <= _MOST_LABELS:
        return []
    right = predicted == gold
    if not np.array_equal(runs.scores, right):
        return []
    k = len(runs.label_names)
    counts = np.bincount((predicted * k + gold).ravel(), minlength=k * k).reshape(k, k).astype(np.float64)
    counts[[name == NO_ANSWER for name in runs.label_names]] = 0
    targets = best_targets(counts)
    n, n_all = runs.n_examples, predicted.size
    given, best = float(right.mean()), float(counts[np.arange(k), targets].sum() / n_all)
    most = float(np.bincount(gold).max() / n)
    without_skill = bound(given, n, 1, lower=True) <= most
    doubted = bound(best, n, k, lower=True) > max(most, bound(given, n, k, lower=False))
    if np.unique(gold).size < 2 or not (without_skill and doubted):
        return []
    answered = np.flatnonzero(counts.sum(axis=1))
    pairs = [f"{runs.label_names[at]} as {runs.label_names[targets[at]]}" for at in answered if targets[at] != at]
    return [
        f"{name or f'{runs.model} on {runs.dataset}'}: {points(given, 2)} points are not significantly above the "
        f"{points(most, 2)} of always answering the most frequent label. The labels may be in another order: "
        f"{points(best, 2)} points with {listing(pairs, 6)}."
    ]


def describe_unscored(runs: Runs, name: str = "") -> list[str]:
    """Sentences on answers without a score that count as wrong, and on items with fewer attempts; none without any.

    Args:
        runs: At their last checkpoint.
        name: What to call them, by default by their model and dataset.
    """
    if runs.status_codes is None:
        return []
    few = describe_attempts(runs, name)
    if (scored := runs.scored).all():
        return few
    n, lacks = runs.scores.size, int((~scored).sum())
    why = ", ".join(f"{count(n)} {status}" for status, n in count_statuses(runs.status_codes).items())
    wrong, only = float(runs.weighed.mean()), scored_only(runs)
    lacking = [str(runs.example_ids[at]) for at in np.flatnonzero(~scored.all(axis=0))]
    # Ids are texts, and 105 stands before 15 among them.
    ids = ", ".join(sorted(lacking, key=lambda each: (len(each) if each.isdigit() else 0, each))[:_MOST_IDS])
    said = (
        f"{name or f'{runs.model} on {runs.dataset}'}: {count(lacks)} of {count(n)} answers have no score ({why}, "
        f"first {ids}) and count as wrong: {points(wrong, 2)} points; the {count(n - lacks)} scored ones alone give "
        f"{points(only, 2)}"
    )
    own = [each for each in runs.reported if each is not None]
    if own and abs(sum(own) / len(own) - wrong) > ROUNDING:
        said += f", and the log itself gives {points(sum(own) / len(own), 2)}"
    return [f"{said}.", *few]


def describe_attempts(runs: Runs, name: str) -> list[str]:
    """A sentence on items with fewer attempts than others; none where there are none."""
    if runs.status_codes is None:
        return []
    not_tried = runs.status_codes == NOT_TRIED
    least, n_fewer = runs.n_runs - int(not_tried.sum(axis=0).max()), int(not_tried.any(axis=0).sum())
    if not n_fewer:
        return []
    return [
        f"{name or f'{runs.model} on {runs.dataset}'}: {count(n_fewer)} of {count(runs.n_examples)} items have fewer "
        f"than {runs.n_runs} attempts, at least {least}; the score of an item is the mean of its attempts."
    ]


# Examples named where answers have no score.
_MOST_IDS = 3
# How far rounding may take a log's own number from the mean of its scores.
ROUNDING = 0.0006
# The order of more labels is not doubted.
_MOST_LABELS = 100
# A share of predictions beyond the right labels of which nothing is said.
_FEW_BEYOND = 0.05
