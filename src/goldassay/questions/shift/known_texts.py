"""Texts of other sets that stand in the training data: counted, and left out of the gap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.questions.shift.answers import texts_of
from goldassay.questions.shift.measures.domains import shared_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.groups import Group

# A set of which more than this share is known by heart cannot show that a score holds elsewhere.
MOST_KNOWN = 0.2
# What is shown with known texts too: new name, and that of the measured column.
_WITH_KNOWN = {
    "value_with_known": "value",
    "value_with_known_low": "low",
    "value_with_known_high": "high",
    "gap_with_known": "gap",
    "gap_with_known_low": "gap_low",
    "gap_with_known_high": "gap_high",
}


def without_known(
    groups: Sequence[Group], texts: Mapping[str, Dataset], training: Dataset | None
) -> tuple[list[Group], dict[tuple[str, str], int]]:
    """The groups without those texts of other sets that stand in the training data.

    Args:
        groups: One a model, all trained on the same data.
        texts: {dataset: its texts}.
        training: The training data; None where it is not at hand.

    Returns:
        The groups, and {(model, other set): how many texts were left out} of the sets that could be looked up.

    Raises:
        InputError: All texts of a set are.
    """
    if training is None or not training.text_columns:
        return list(groups), {}
    known = training.joined_texts()
    kept, counts = [], {}
    for group in groups:
        others: list[Answers] = []
        for each in group.others:
            own = texts_of(each, texts.get(each.dataset))
            if own is None:
                others.append(each)
                continue
            shared = shared_texts(known, own)
            if shared.all():
                raise InputError(
                    f"every text of {each.dataset} stands in the training data", file=each.file,
                    mend="give texts that the model has not seen",
                )  # fmt: skip
            counts[group.model, each.dataset] = int(shared.sum())
            others.append(each.take(~shared) if shared.any() else each)
        kept.append(replace(group, others=tuple(others)))
    return kept, counts


def with_known(
    rows: Sequence[dict[str, Any]], all_rows: Sequence[Mapping[str, Any]], counts: Mapping[tuple[str, str], int]
) -> list[dict[str, Any]]:
    """The rows of gaps with how many texts are known by heart, and what the gap is with these.

    Args:
        rows: As measured without known texts.
        all_rows: As measured with them, of those models and sets that have any.
        counts: {(model, other set): how many texts stand in the training data}.
    """
    found = {(row["model"], row["test"], row["metric"]): row for row in all_rows}
    extended = []
    for row in rows:
        known = counts.get((row["model"], row["test"]))
        n_all = row["n"] + (known or 0)
        same = found.get((row["model"], row["test"], row["metric"])) if known else None
        extended.append(
            {
                **row,
                "n_known": known,
                "known_share": None if known is None else known / n_all,
                **{name: None if same is None else same[source] for name, source in _WITH_KNOWN.items()},
            }
        )
    return extended


def is_mostly_known(row: Mapping[str, Any]) -> bool:
    """Whether more than a fifth of a set's texts stand in the training data."""
    return (row.get("known_share") or 0.0) > MOST_KNOWN


def say_not_looked_up(groups: Sequence[Group], counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Which other sets were not compared with the training data, in a sentence."""
    names = dict.fromkeys(
        each.dataset for group in groups for each in group.others if (group.model, each.dataset) not in counts
    )
    if not names:
        return []
    return [
        f"Whether texts of {', '.join(names)} stand in the training data was not looked up: give it with --trained-on "
        "FILE, and the texts with --test DATASET=FILE."
    ]
