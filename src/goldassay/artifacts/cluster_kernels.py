"""The compiled loop that sums, pattern by pattern, the squares of what clusters of sentences hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@compiled
def add_squares(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    last: NDArray[np.int64],
    held: NDArray[np.int64],
    sizes: NDArray[np.int64],
    squares: NDArray[np.int64],
    products: NDArray[np.int64],
) -> None:
    """Add matches to the sums; sentences come cluster by cluster.

    Of each pattern n_g sentences of cluster g hold it, n_gl of them with label l.

    Args:
        sentences: Of each match, sorted by sentence.
        rows: Pattern of each match.
        labels: Of each sentence.
        clusters: Of each sentence, ascending.
        last: The cluster that each pattern was last seen in, -1 for none, (V,).
        held: n_gl of that cluster, (V, K).
        sizes: Sum of n_g^2, (V,).
        squares: Sum of n_gl^2, (V, K).
        products: Sum of n_gl n_g, (V, K).
    """
    n_labels = held.shape[1]
    for i in range(sentences.size):
        row, cluster, label = rows[i], clusters[sentences[i]], labels[sentences[i]]
        if last[row] != cluster:
            last[row] = cluster
            held[row, :] = 0
        n = 0
        for other in range(n_labels):
            n += held[row, other]
            products[row, other] += held[row, other]
        # What one more sentence adds to (n_g)^2, (n_gl)^2 and n_gl n_g.
        sizes[row] += 2 * n + 1
        squares[row, label] += 2 * held[row, label] + 1
        products[row, label] += n + 1
        held[row, label] += 1
