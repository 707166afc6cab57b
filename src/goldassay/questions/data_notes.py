"""What a reader has to know of the data before any verdict: what counts as one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.clusters import Clusters


def data_notes(clusters: Clusters | None, decisions: Sequence[str] = ()) -> list[str]:
    """Sentences for the terminal and the top of the page.

    Args:
        clusters: Of the evaluation part, if its texts are known.
        decisions: How the evaluation part came about.
    """
    notes = [said for said in decisions if "were set apart" in said]
    if clusters is not None:
        notes.append(clusters.taken)
    return notes


def describe_clusters(clusters: Clusters | None) -> dict[str, Any] | None:
    """What the report's document says of the clusters."""
    if clusters is None:
        return None
    return {
        "taken": clusters.taken,
        "columns": list(clusters.columns),
        "n_rows": clusters.n_rows,
        "n_clusters": clusters.n_clusters,
        "effective": clusters.effective,
    }
