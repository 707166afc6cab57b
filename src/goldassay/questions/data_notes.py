"""What a reader has to know of the data before any verdict: what counts as one row, what was not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# A label with fewer rows is named: no rate on it is known to better than 30 points.
FEW_ROWS = 10
_MOST_NAMES = 5
# How sentences on what was read in the place of an evaluation part begin.
NO_TEST_PART = "The data have no test part"

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.data import Dataset
    from goldassay.stats.clusters import Clusters


def data_notes(
    train: Dataset | None,
    test: Dataset | None,
    clusters: Clusters | None,
    decisions: Sequence[str] = (),
    elsewhere: Sequence[Dataset] = (),
) -> list[str]:
    """Sentences for the terminal and the top of the page.

    Args:
        train: The training part, if there is one.
        test: The evaluation part, if its texts are known.
        clusters: Of the evaluation part, if its texts are known.
        decisions: How the evaluation part came about.
        elsewhere: Sets of other distributions.
    """
    notes = [said for said in decisions if said.startswith(NO_TEST_PART)]
    if clusters is not None:
        notes.append(clusters.taken)
    parts = [part for part in (train, test, *elsewhere) if part is not None]
    notes += unread_notes(name for part in parts for name in part.unread.columns)
    named = {"the data": test} if test is train else {"the training part": train, "the evaluation part": test}
    for name, part in named.items():
        if part is not None and (said := _rare_labels(part)):
            notes.append(f"In {name} {said}.")
    return notes


def unread_notes(columns: Iterable[str]) -> list[str]:
    """What is said of columns that hold texts or lists and have no role; nothing where there are none."""
    unread = list(dict.fromkeys(columns))
    if not unread:
        return []
    several = len(unread) > 1
    return [
        f"Not read: the column{'s' * several} {', '.join(map(repr, unread[:_MOST_NAMES]))}"
        + (f" and {len(unread) - _MOST_NAMES} more" if len(unread) > _MOST_NAMES else "")
        + f", which {'have' if several else 'has'} no role. --columns gives one, or ignore={unread[0]}."
    ]


def _rare_labels(part: Dataset) -> str:
    """What is said of labels with too few rows to be measured; "" where there are none."""
    if not part.label_names:
        return ""
    counts = dict(part.examples["label"].value_counts().iter_rows())
    present = [name for name in part.label_names if counts.get(name)]
    if len(present) == 1:
        return f"all rows have the label {present[0]!r}: nothing can be measured on it"
    rare = [f"{name!r} ({counts[name]})" for name in present if counts[name] < FEW_ROWS]
    if not rare:
        return ""
    shown = ", ".join(rare[:_MOST_NAMES]) + (f" and {len(rare) - _MOST_NAMES} more" if len(rare) > _MOST_NAMES else "")
    several = len(rare) > 1
    who = f"{len(rare)} label{'s' * several} {'have' if several else 'has'}"
    return f"{who} fewer than {FEW_ROWS} rows, too few to be measured: {shown}"


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
