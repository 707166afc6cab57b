"""Splitting a dataset into training and test parts that share no sentence, in memory or into files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.core.report_seal import as_json
from goldassay.core.results import to_plain
from goldassay.data.fields import value_codes
from goldassay.data.row_keys import text_codes
from goldassay.stats.clusters import connected_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset

# Share of rows above which near copies are not kept apart: too many would be lost.
MOST_DROPPED = 0.1
BRIDGES = "shares a sentence with the other part"
PARTS = ("train", "test")


def split_disjoint(
    dataset: Dataset,
    share: float = 0.2,
    seed: int = 0,
    *,
    roles: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    near_copies: bool = True,
) -> tuple[Dataset, Dataset]:
    """Split into a training and a test part with no sentence and no group in both.

    Rows that share a sentence (in whatever role, compared without case and with single spaces, near copies taken for
    the same) or a group, directly or through others, form a component and stay together. A component that is larger
    than the test part could never be placed in it, and in NLI data one such component holds most rows, because short
    hypotheses recur; it is broken up: first into the components of exact sentences, where these are still too large by
    group, or without groups by premise (the first text role). For each sentence that then stands on both sides, the
    rows on the side where it is rarer are dropped. What was dropped is counted in each part's provenance. Units are
    drawn at random, and each goes to the test part while that brings the test part's label counts nearer to `share` of
    the whole's.

    Args:
        dataset: What to split.
        share: Share of the rows that the test part should get, strictly between 0 and 1. Rows dropped are not made
            up for.
        seed: Of the order in which units are drawn.
        roles: The texts that may not be in both; all if not given.
        by: Columns or keys (see `fields.with_keys`) of which no value may be in both; by default `cluster_columns`,
            those given as group. A missing value is no group.
        near_copies: Take near copies for the same sentence, see `join_near_copies`; not where that would drop more
            than a tenth of the rows, as where all texts are of one template.

    Returns:
        The training part and the test part, rows in their old order.

    Raises:
        InputError: `share` is out of range, a role or column is not there, or one part would be empty.
    """
    if not 0 < share < 1:
        raise InputError(f"the share of the test part is {share}", mend="give a number between 0 and 1")
    known = _known_roles(dataset, roles)
    keyed = dataset.with_keys(by or ())
    columns = known_columns(keyed, by)
    exact, groups, strata = text_codes(dataset, known), _groups(keyed, columns), _strata(dataset)
    random = np.random.default_rng(seed)
    why = ""
    if near_copies:
        near = text_codes(dataset, known, near_copies=True)
        if (near == exact).all():
            near_copies = False
        else:
            in_test, bridge, n_large = _parted(near, exact, groups, strata, share, random)
            sizes = (in_test & ~bridge).sum(), (~in_test & ~bridge).sum()
            if bridge.mean() > MOST_DROPPED or not all(sizes):
                why = " Near copies are in both parts: nearly all rows are near copies of others."
                near_copies, random = False, np.random.default_rng(seed)
    if not near_copies:
        in_test, bridge, n_large = _parted(exact, exact, groups, strata, share, random)
    _check_filled(dataset, in_test & ~bridge, ~in_test & ~bridge)
    shared = "sentence" if roles is None else " or ".join(roles)
    decision = _decision(n_large, int(bridge.sum()), share, seed, [shared, *columns], near_copies) + why
    kept = (*(["near copies"] if near_copies else []), *(f"rows with the same {name}" for name in columns))
    train = _part(dataset, ~in_test, bridge, "train", decision, dataset.provenance.dropped, kept)
    return train, _part(dataset, in_test, bridge, "test", decision, {}, kept)


def _parted(
    texts: NDArray[np.int64],
    exact: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    strata: NDArray[np.int64],
    share: float,
    random: np.random.Generator,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Whether each row is in the test part, whether it is dropped, and how many rows were in too large components."""
    target = round(share * len(texts))
    units, n_large = _components(texts, groups), 0
    for finer in (_components(exact, groups), texts[:, 0] if groups is None else groups):
        sizes = np.bincount(units)
        large = sizes[units] > max(target, 1)
        n_large = int(large.sum())
        units = np.unique(np.where(large, finer + len(sizes), units), return_inverse=True)[1]
    in_test = _drawn(units, strata, share, random)
    return in_test, _bridges(texts, in_test), n_large


def columns_to_split_by(text: str | None) -> tuple[str, ...] | None:
    """Columns as an option names them, separated by commas: () for "none", None where nothing was said."""
    if text is None:
        return None
    return () if text == "none" else tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def _known_roles(dataset: Dataset, roles: Sequence[str] | None) -> tuple[str, ...]:
    wanted = dataset.text_columns if roles is None else tuple(dict.fromkeys(roles))
    strange = [role for role in wanted if role not in dataset.text_columns]
    if strange or not wanted:
        raise InputError(
            f"there is no text {strange[0]!r}" if strange else "no text was named that may not be in both parts",
            file=dataset.source,
            mend=f"choose from {', '.join(dataset.text_columns)}",
        )
    return wanted


def known_columns(dataset: Dataset, by: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to keep together by that are no texts; by default those given as group.

    Raises:
        InputError: A column is not there.
    """
    wanted = dataset.cluster_columns if by is None else tuple(by)
    strange = [column for column in wanted if column not in dataset.examples.columns]
    if strange:
        raise InputError(
            f"there is no column {strange[0]!r} to split by",
            file=dataset.source,
            mend=f"choose from {', '.join(name for name in dataset.examples.columns if name != 'example_id')}, or none",
        )
    return tuple(column for column in wanted if column not in dataset.text_columns)


def _groups(dataset: Dataset, columns: Sequence[str]) -> NDArray[np.int64] | None:
    """Rows that share a value in one of the columns, directly or through others, (N,); None without columns."""
    if not columns:
        return None
    return connected_rows(np.stack([value_codes(dataset.examples[column]) for column in columns], axis=1))


def _components(texts: NDArray[np.int64], groups: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Component of each row, where rows with a sentence or a group in common are linked, (N,)."""
    nodes = texts if groups is None else np.column_stack([texts, groups + texts.max() + 1])
    if nodes.shape[1] == 1:
        return np.unique(nodes[:, 0], return_inverse=True)[1].astype(np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = int(nodes.max()) + 1
    left = np.repeat(nodes[:, 0], nodes.shape[1] - 1)
    right = nodes[:, 1:].ravel()
    links = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(n, n))
    _, of_text = connected_components(links, directed=False)
    return np.unique(of_text[nodes[:, 0]], return_inverse=True)[1].astype(np.int64)


def _strata(dataset: Dataset) -> NDArray[np.int64]:
    return dataset.labels() if dataset.label_names else np.zeros(len(dataset), np.int64)


def _drawn(
    units: NDArray[np.int64], strata: NDArray[np.int64], share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether each row goes to the test part, (N,)."""
    n_units = int(units.max()) + 1
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(n_units + 1))
    grouped = strata[order].tolist()
    missing = (share * np.bincount(strata)).tolist()
    left = sum(missing)
    chosen = np.zeros(n_units, bool)
    bounds = starts.tolist()
    for unit in random.permutation(n_units).tolist():
        members = grouped[bounds[unit] : bounds[unit + 1]]
        gain = missing[members[0]] >= 0.5 if len(members) == 1 else _gain(members, missing) > 0
        if gain:
            chosen[unit] = True
            for stratum in members:
                missing[stratum] -= 1
            left -= len(members)
            if left < 0.5 and max(missing) < 0.5:
                break
    return chosen[units]


def _gain(members: list[int], missing: list[float]) -> float:
    """By how much taking a unit brings the counts nearer to what is wanted (L1)."""
    counts: dict[int, int] = {}
    for stratum in members:
        counts[stratum] = counts.get(stratum, 0) + 1
    return sum(abs(missing[stratum]) - abs(missing[stratum] - n) for stratum, n in counts.items())


def _bridges(texts: NDArray[np.int64], in_test: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows to drop: each sentence on both sides goes from the side where fewer rows hold it, (N,)."""
    n = int(texts.max()) + 1
    on_test = np.bincount(texts[in_test].ravel(), minlength=n)
    on_train = np.bincount(texts[~in_test].ravel(), minlength=n)
    shared = (on_test > 0) & (on_train > 0)
    from_test = shared & (on_test <= on_train)
    from_train = shared & ~from_test
    drop: NDArray[np.bool_] = np.where(in_test, from_test[texts].any(axis=1), from_train[texts].any(axis=1))
    return drop


def _check_filled(dataset: Dataset, test: NDArray[np.bool_], train: NDArray[np.bool_]) -> None:
    if not test.any() or not train.any():
        raise InputError(
            "it cannot be split such that no sentence is in both parts: shared sentences link all of its rows",
            file=dataset.source,
            mend="give more texts, or a test file of its own",
        )


def _decision(n_large: int, n_bridges: int, share: float, seed: int, shared: Sequence[str], near_copies: bool) -> str:
    kept = f"no {' and no '.join(shared)} being in both parts" + (" (near copies count as the same)" * near_copies)
    how = f"There was no test part: {share:.0%} of the rows were drawn for it (seed {seed}), {kept}"
    if not n_large and not n_bridges:
        return f"{how}."
    return (
        f"{how}; {n_large} rows that hang together through shared sentences were drawn by their first text or group, "
        f"and {n_bridges} rows that would have bridged the parts were dropped."
    )


def _part(
    dataset: Dataset,
    rows: NDArray[np.bool_],
    bridge: NDArray[np.bool_],
    part: str,
    decision: str,
    dropped: Mapping[str, int],
    kept: tuple[str, ...],
) -> Dataset:
    lost = int((rows & bridge).sum())
    provenance = replace(
        dataset.provenance,
        decisions=(*dataset.provenance.decisions, decision),
        kept_together=kept,
        dropped={**dropped, **({BRIDGES: lost} if lost else {})},
    )
    return replace(dataset.take(rows & ~bridge), name=f"{dataset.name}/{part}", provenance=provenance)


@dataclass(frozen=True)
class Splits:
    """One dataset, split by each of several seeds.

    Attributes:
        source: What was split.
        disjoint: The texts that no two parts share, near copies included.
        split_by: Columns of which no value is in two parts.
        share: Of the rows that the test part was to get.
        parts: By seed, the training and the test part.
    """

    source: Dataset
    disjoint: tuple[str, ...]
    split_by: tuple[str, ...]
    share: float
    parts: dict[int, tuple[Dataset, Dataset]]

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        provenance = self.source.provenance
        return {
            "files": [to_plain(file) for file in provenance.files],
            "n_examples": len(self.source),
            "disjoint": list(self.disjoint),
            "split_by": list(self.split_by),
            "share": self.share,
            "splits": [
                {"seed": seed, **{name: _described(part) for name, part in zip(PARTS, parts, strict=True)}}
                for seed, parts in self.parts.items()
            ],
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write train.jsonl and test.jsonl, of several seeds each into seed_N, and split.json that tells of them.

        Raises:
            OutputError: The folder cannot be written to.
            InputError: A column holds bytes, such as pictures, which JSON lines cannot hold.
        """
        for column in next(iter(self.parts.values()))[0].examples:
            # Also within lists and structs; the table engine panics at them.
            if "Binary" in str(column.dtype):
                raise InputError(
                    "it holds bytes, which JSON lines cannot hold",
                    column=column.name,
                    mend="leave the column out of the file, or write its text",
                )
        names = []
        with written_together(directory) as folder:
            for seed, parts in self.parts.items():
                place = Path(f"seed_{seed}") if len(self.parts) > 1 else Path()
                (folder / place).mkdir(exist_ok=True)
                for name, part in zip(PARTS, parts, strict=True):
                    names.append(place / f"{name}.jsonl")
                    part.examples.drop("split", strict=False).write_ndjson(folder / names[-1])
            (folder / "split.json").write_text(as_json(to_plain(self.to_dict())), encoding="utf-8")
        return [Path(directory) / name for name in (*names, Path("split.json"))]


def split(
    dataset: Dataset,
    disjoint: Sequence[str] | None = None,
    share: float = 0.2,
    seeds: Sequence[int] = (0,),
    by: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Splits:
    """Split a dataset such that no sentence and no group stands in both parts, once for each seed.

    A score moves with the luck of the split; several splits show by how much.

    Raises:
        InputError: A text is not there, the share is out of range, a seed is negative or given twice, the dataset has
            parts of its own, or it cannot be split.
    """
    if len(dataset.parts) > 1:
        raise InputError(
            f"it has parts of its own: {', '.join(dataset.parts)}",
            file=dataset.source,
            mend="use them, or give a file with one of them alone",
        )
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise InputError(f"the seeds are {list(seeds)}", mend="give whole numbers from 0, each once")
    parts = {}
    for done, seed in enumerate(seeds, 1):
        parts[seed] = split_disjoint(dataset, share, seed, roles=disjoint, by=by)
        progress(done, len(seeds))
    columns = tuple(dataset.cluster_columns if by is None else by)
    return Splits(dataset, tuple(disjoint or dataset.text_columns), columns, share, parts)


def _described(part: Dataset) -> dict[str, Any]:
    labels = part.examples["label"].cast(pl.String) if part.label_names else None
    return {
        "n_examples": len(part),
        "labels": {} if labels is None else {name: int((labels == name).sum()) for name in part.label_names},
        "dropped": dict(part.provenance.dropped),
        "kept_together": list(part.provenance.kept_together),
    }
