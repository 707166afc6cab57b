"""Runs of the whole input on the test part, a row a test example."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs import Runs


def runs_on_test(evidence: Evidence, sets: Sequence[RunSet] | None = None) -> Iterator[Runs]:
    """Each set of runs of the whole input that answers every test example, in the order of these; or of some sets.

    Where they name the labels of the test part in another order, their codes are made those of the test part; where
    they name others, they keep their scores alone.
    """
    ids = evidence.test.examples["example_id"].cast(pl.String).to_list()
    for each in evidence.run_sets if sets is None else sets:
        if not each.is_comparable:
            continue
        runs = each.load()
        place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
        rows = [place[name] for name in ids if name in place]
        if len(rows) == len(ids):
            yield _with_labels(runs.take(rows), evidence.test.label_names)


def right_probabilities(runs: Runs) -> NDArray[np.float64] | None:
    """(R x T, N) probabilities of the right label; None without logits or labels."""
    if runs.logits is None or runs.gold is None:
        return None
    odds = np.exp(runs.logits.astype(np.float64) - runs.logits.max(axis=-1, keepdims=True))
    own = runs.gold.reshape((1,) * (odds.ndim - 2) + (runs.gold.size, 1))
    right = np.take_along_axis(odds / odds.sum(axis=-1, keepdims=True), own, axis=-1)
    return np.asarray(right.reshape(-1, runs.gold.size))


def _with_labels(runs: Runs, names: tuple[str, ...]) -> Runs:
    if runs.label_names == names:
        return runs
    if set(runs.label_names) != set(names):
        return replace(runs, predictions=None, logits=None)
    order = np.array([runs.label_names.index(name) for name in names])
    codes = np.argsort(order)
    return replace(
        runs,
        predictions=None if runs.predictions is None else codes[runs.predictions],
        gold=None if runs.gold is None else codes[runs.gold],
        logits=None if runs.logits is None else runs.logits[..., order],
        label_names=names,
    )
