"""What the study of leakage can be asked for. Light, so that the command line may import it."""

from __future__ import annotations

from dataclasses import dataclass

N_CLUSTERS = 50
N_COMPONENTS = 30


@dataclass(frozen=True)
class LeakageChoice:
    """How leakage is measured.

    Attributes:
        n_clusters: k of the k-means; None for 50, and then a test part with fewer examples has no score instead of
            being refused.
        n_components: Of the PCA before it; 0 for none.
        n_repetitions: Clusterings with seeds of their own, of which the score is the mean.
        threshold: A cluster whose divergence is above it is called biased.
        grid: Score every combination of several k and numbers of components, too.
        cluster: Cluster the sentences of each role.
        map: Lay the sentences out on the plane.
        n_splits: Where the data have no test part: how many times they are split anew.
    """

    n_clusters: int | None = None
    n_components: int = N_COMPONENTS
    n_repetitions: int = 10
    threshold: float = 0.25
    grid: bool = False
    cluster: bool = True
    map: bool = True
    n_splits: int = 5

    @property
    def k(self) -> int:
        """Number of clusters."""
        return N_CLUSTERS if self.n_clusters is None else self.n_clusters
