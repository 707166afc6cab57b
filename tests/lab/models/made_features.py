"""Features made of presence, for tests of the regression and the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.readers.probe_features import Block, ProbeFeatures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def features_of(blocks: Sequence[NDArray[np.bool_]], roles: Sequence[tuple[str, ...]] = ()) -> ProbeFeatures:
    """Features of N rows: of each block a table of what is present, (N, columns)."""
    n = blocks[0].shape[0]
    sizes = np.stack([block.sum(axis=1) for block in blocks], axis=1).astype(np.int32)
    columns = [np.flatnonzero(block[i]) for i in range(n) for block in blocks]
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))]).astype(np.int64)
    named = roles or [("text",)] * len(blocks)
    return ProbeFeatures(
        tuple(Block(f"block {b}", named[b], np.full(block.shape[1], 2, np.int32)) for b, block in enumerate(blocks)),
        np.concatenate([*columns, np.empty(0)]).astype(np.int32),
        starts,
        sizes,
    )


def made(n_classes: int = 3, n: int = 600, seed: int = 0, tell: float = 0.6) -> tuple[ProbeFeatures, NDArray[np.int64]]:
    """Rows in which each label is told by a feature of its own now and then, among others that tell nothing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    telling = rng.random((n, n_classes)) < 0.2 + tell * np.eye(n_classes)[labels]
    return features_of([telling, rng.random((n, 50)) < 0.1]), labels
