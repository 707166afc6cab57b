"""What a reader has to know of the data before any verdict: what counts as one row, what was not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import count, percent
from goldassay.data.delimited import QUOTATION
from goldassay.data.roles import GUESSED, TEXT_ROLES
from goldassay.stats.effects import LEAST_ROWS
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset


# A label with fewer rows is named: no rate on it is known to better than 30 points.
FEW_ROWS = 10
_MOST_NAMES = 5
# How sentences on what was read in the place of an evaluation part begin.
NO_TEST_PART = "The data have no test part"

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.data.dataset import Dataset
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
    decided = [said for part in parts for said in part.provenance.decisions]
    notes += dict.fromkeys(said for said in decided if said.startswith((QUOTATION, GUESSED)))
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


# Of the rows read; fewer cannot give away as much as a limit for "unsound" where labels are balanced.
MOST_LEFT_OUT = 0.01
# Of the rarest label with as many rows as effects count, if all of them were its own.
MOST_OF_LABEL = 0.05


def left_out_doubts(*parts: Dataset | None) -> list[Doubt]:
    """Why parts of which many rows lack a text are not sound; empty where they do not."""
    found = [
        doubt
        for part in parts
        if part is not None
        for doubt in doubts_of_dropped(
            part.name,
            part.provenance.n_read,
            part.provenance.dropped,
            part.examples["label"].value_counts()["count"].to_list() if part.label_names else [],
        )
    ]
    return list(dict.fromkeys(found))


def doubts_of_dropped(
    name: str, n_read: int, dropped: Mapping[str, int], label_counts: Sequence[int] = ()
) -> list[Doubt]:
    """The same, of what was dropped of `n_read` rows, counted by reason.

    Which label a row without a text had is not kept: all of them may be of the rarest label, which a reader of what is
    missing would then tell by the share n/(n + its rows).

    Args:
        name: Of the part.
        n_read: Rows read.
        dropped: Rows dropped, by reason.
        label_counts: Rows kept of each label.
    """
    n = sum(rows for reason, rows in dropped.items() if reason in {f"{role} is empty" for role in TEXT_ROLES})
    rarest = min((rows for rows in label_counts if rows + n >= LEAST_ROWS), default=None)
    of_rarest = 0.0 if rarest is None else n / (n + rarest)
    if n <= MOST_LEFT_OUT * n_read and of_rarest < MOST_OF_LABEL:
        return []
    rare = "" if n > MOST_LEFT_OUT * n_read else f"; of the rarest label they may be {percent(of_rarest)}"
    return [
        Doubt(
            f"{count(n)} of the {count(n_read)} rows of {name} ({percent(n / n_read)}) lack a text and were left out: "
            f"which rows these are may tell the label{rare}.",
            "Fill in the missing texts, or take these rows out of the benchmark.",
        )
    ]
