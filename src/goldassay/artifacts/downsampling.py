"""A training set without its patterns, and a random one of the same size to compare it with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl

from goldassay.artifacts.pattern_presence import strongest_probability
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data import Dataset
    from goldassay.data.tokenization import Tokenizer

Mode = Literal["debias", "random"]
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)


def downsample(
    dataset: Dataset,
    patterns: PatternTable,
    mode: Mode = "debias",
    seed: int = 0,
    *,
    texts: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Dataset:
    """Keep a balanced subset without patterns ("debias"), or its random control of the same size ("random").

    "debias" drops every example that holds any of the patterns, whatever its label. With n_l what is left of label l
    and m = min_l n_l, it then draws m examples a label without replacement. "random" draws the same m a label from the
    full dataset. Both have K m examples, in their order in the dataset.

    Args:
        dataset: N labelled examples, usually those that the patterns were mined from.
        patterns: Cut by `select`.
        mode: "debias" or "random".
        seed: Of the draw; the same seed gives the same subset.
        texts: What to look for patterns in, (N,); by default the last text, which of a pair is the hypothesis.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: Nothing is left of a label, the mode is unknown, the dataset has no labels, or the
            tokenizer is another one.

    Source: Liu et al. 2020.
    """
    if mode not in get_args(Mode):
        raise InputError(f"there is no mode {mode!r}", mend=f"choose {' or '.join(get_args(Mode))}")
    codes = dataset.labels()
    covered = _strongest(dataset, patterns, texts, tokenizer) > 0
    left = np.bincount(codes[~covered], minlength=len(dataset.label_names))
    m = int(left.min())
    if m == 0:
        empty = dataset.label_names[int(left.argmin())]
        raise InputError(
            f"no example of {empty} is without a pattern, so that nothing is left to balance",
            file=dataset.source,
            mend="raise the threshold",
        )
    pool = ~covered if mode == "debias" else np.ones(len(dataset), np.bool_)
    rows = _balanced_draw(codes, pool, m, np.random.default_rng(seed))
    return _with_provenance(dataset.take(rows), dataset, mode, seed, int(covered.sum()), m)


def sizes_by_threshold(
    dataset: Dataset,
    patterns: PatternTable,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    texts: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> pl.DataFrame:
    """How much `downsample` would keep at each threshold.

    Args:
        dataset: N labelled examples.
        patterns: Not cut yet, or at no more than the lowest threshold.
        thresholds: Shares; from 1 on no pattern is kept, so that nothing is removed.
        texts: As for `downsample`.
        tokenizer: As for `downsample`.

    Returns:
        A row a threshold: threshold, n_patterns (rows of the cut table), n_removed, n_left (removed + left = N),
        smallest (the label with the fewest left), per_label (m), size (K m), share (of N).

    Raises:
        InputError: A threshold is negative or below the one that the patterns were already cut at.

    Source: Liu et al. 2020.
    """
    cut_at = patterns.settings.get("threshold", 0.0)
    for threshold in thresholds:
        if not threshold >= cut_at:
            raise InputError(
                f"the threshold is {threshold}, below {cut_at}", mend="give patterns that were cut lower, or not yet"
            )
    codes = dataset.labels()
    K = len(dataset.label_names)
    useful = [threshold for threshold in thresholds if threshold < 1]
    strongest = np.zeros(len(dataset))
    if useful:
        strongest = _strongest(dataset, patterns.select(min(useful)), texts, tokenizer)
    rows = []
    for threshold in thresholds:
        left = np.bincount(codes[strongest <= threshold], minlength=K)
        m = int(left.min())
        rows.append(
            {
                "threshold": float(threshold),
                "n_patterns": len(patterns.select(threshold)) if threshold < 1 else 0,
                "n_removed": len(dataset) - int(left.sum()),
                "n_left": int(left.sum()),
                "smallest": dataset.label_names[int(left.argmin())],
                "per_label": m,
                "size": K * m,
                "share": K * m / len(dataset),
            }
        )
    return pl.DataFrame(rows)


def _strongest(
    dataset: Dataset, patterns: PatternTable, texts: Sequence[str] | None, tokenizer: Tokenizer | None
) -> NDArray[np.float64]:
    searched = dataset.texts(dataset.text_columns[-1]) if texts is None else texts
    if len(searched) != len(dataset):
        raise InputError(
            f"there are {len(searched)} texts for {len(dataset)} examples", mend="give one for each example"
        )
    return strongest_probability(searched, patterns, tokenizer)


def _balanced_draw(
    codes: NDArray[np.int64], pool: NDArray[np.bool_], m: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Rows of the pool, m of each label without replacement, ascending."""
    draws = [rng.choice(np.flatnonzero(pool & (codes == label)), m, replace=False) for label in np.unique(codes)]
    return np.sort(np.concatenate(draws))


def _with_provenance(subset: Dataset, dataset: Dataset, mode: Mode, seed: int, n_covered: int, m: int) -> Dataset:
    dropped = {"holds a pattern": n_covered} if mode == "debias" else {}
    drawn_from = len(dataset) - sum(dropped.values())
    dropped["not drawn"] = drawn_from - len(subset)
    what = "what holds no pattern" if mode == "debias" else "the full data"
    sentence = f"{m:,} examples a label were drawn from {what} (seed {seed})."
    provenance = dataset.provenance
    return replace(
        subset,
        name=f"{dataset.name}-{mode}",
        provenance=replace(
            provenance, decisions=(*provenance.decisions, sentence), dropped={**provenance.dropped, **dropped}
        ),
    )
