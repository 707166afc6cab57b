"""Sets that are made of others: parts of one file, rounds, and test parts of sets that have none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.splits import split_disjoint
from goldassay.papers.joining import join_sets

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.papers.workplace import Workplace

TRAIN = " train"
_ROUNDS = {"A1": "r1", "A2": "r2", "A3": "r3"}


def made_sets(work: Workplace) -> dict[str, Dataset]:
    """Training and test parts of what is one file, and of what has rounds or languages those that are asked for.

    Of `chosen` count `split`, shares of the test part by set, and `most_tested`, rows of a test set.
    """
    asked = {name for training in work.scale.trainings for name in (training.train, *training.tests)}
    made: dict[str, Dataset] = {}
    for name, share in work.scale.chosen.get("split", {}).items():
        if name in work.sets:
            made |= _parted(work.sets[name], name, share, work.seed)
        else:
            work.unmade[f"{name}{TRAIN}"] = work.roots(name)
    for name, dataset in work.sets.items():
        parts = dataset.parts
        if {"train", "test"} <= parts.keys():
            made |= {f"{name}{TRAIN}": parts["train"], name: parts["test"]}
        if "language" in dataset.groups:
            # English is what the models are trained on.
            made[name] = dataset.take((dataset.examples["language"] != "en").to_numpy())
    made |= _rounds(work.sets | made, asked)
    work.unmade |= {
        name: _lacking_parts(name, work) for name in asked if name not in made and name not in work.sets
        and name not in work.absent and name not in work.unmade
    }  # fmt: skip
    most = work.scale.chosen.get("most_tested")
    tested = {name for training in work.scale.trainings for name in training.tests}
    for name, dataset in (work.sets | made).items():
        if name in tested and most is not None and len(dataset) > most:
            drawn = np.random.default_rng(work.seed).choice(len(dataset), most, replace=False)
            made[name] = (made.get(name) or dataset).take(np.sort(drawn))
    return {name: replace(dataset, name=name) for name, dataset in made.items()}


def _parted(dataset: Dataset, name: str, share: float, seed: int) -> dict[str, Dataset]:
    train, test = split_disjoint(dataset, share, seed, by=(), near_copies=False)
    return {f"{name}{TRAIN}": train, name: test}


def _rounds(sets: dict[str, Dataset], asked: set[str]) -> dict[str, Dataset]:
    """ANLI's rounds where they are a column of one set, and the set of all rounds where they are files."""
    whole = sets.get("ANLI")
    if whole is not None and "round" in whole.groups:
        of_round = whole.examples["round"].cast(pl.String)
        return {
            name: whole.take(of_round.str.starts_with(prefix).to_numpy())
            for name, prefix in _ROUNDS.items()
            if name in asked
        }
    if whole is None and "ANLI" in asked:
        return {
            f"ANLI{part}": join_sets(f"ANLI{part}", {name: sets[f"{name}{part}"] for name in _ROUNDS})
            for part in (TRAIN, "")
            if all(f"{name}{part}" in sets for name in _ROUNDS)
        }
    return {}


def _lacking_parts(name: str, work: Workplace) -> tuple[str, ...]:
    """Of what a set is made of those that are absent: its rounds, or the file that it is a part of."""
    whole, part = name.removesuffix(TRAIN), TRAIN if name.endswith(TRAIN) else ""
    others = [f"{each}{part}" for each in _ROUNDS] if whole == "ANLI" else ["ANLI"] if whole in _ROUNDS else []
    return tuple(each for each in (whole, *others) if each in work.absent)
