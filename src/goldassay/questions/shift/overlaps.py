"""Texts of another set that are also in the own set or in the training data: counted, and left out of the other set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, right_labels
from goldassay.data.fields import normalized_texts
from goldassay.data.near_copies import join_near_copies
from goldassay.questions.shift.answers import Answers, texts_of
from goldassay.questions.shift.measures.generalization import shared_texts
from goldassay.questions.shift.result import GapRow, OverlapRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.shift.groups import Group


def disjoint(groups: Sequence[Group], texts: Mapping[str, Dataset]) -> tuple[list[Group], list[OverlapRow]]:
    """The groups without texts that both sides have, and how many these were.

    Raises:
        InputError: All texts of a set are in-distribution as well.
    """
    kept, rows = [], []
    for group in groups:
        own, found = without_shared(group, texts)
        kept.append(own)
        rows += found
    return kept, rows


def without_shared(group: Group, texts: Mapping[str, Dataset]) -> tuple[Group, list[OverlapRow]]:
    """The group without those texts of the others that are in-distribution as well, and how many these were.

    Raises:
        InputError: All texts of a set are.
    """
    own = texts_of(group.own, texts.get(group.own.dataset))
    rows: list[OverlapRow] = []
    kept: list[Answers] = []
    for each in group.others:
        other = texts_of(each, texts.get(each.dataset))
        if own is None or other is None:
            rows.append(_overlap(group, each, None))
            kept.append(each)
            continue
        shared = shared_texts(own, other)
        if shared.all():
            raise InputError(
                f"every text of {each.dataset} is in {group.own.dataset} as well", file=each.file,
                mend="give texts of another distribution",
            )  # fmt: skip
        rest = [text for text, known in zip(other, shared.tolist(), strict=True) if not known]
        rows.append(_overlap(group, each, int(shared.sum()), near_copies(own, rest)))
        kept.append(each.take(~shared) if shared.any() else each)
    return replace(group, others=tuple(kept)), rows


def near_copies(own: Sequence[str], other: Sequence[str]) -> int:
    """How many of the other texts are near copies of an own one, see `join_near_copies`."""
    own_texts = set(normalized_texts(pl.Series(own, dtype=pl.String)).to_list())
    others = normalized_texts(pl.Series(other, dtype=pl.String)).to_list()
    distinct = sorted({*own_texts, *others})
    # Own texts are taken first, so that each text elsewhere is held against them.
    counts = np.array([2 if text in own_texts else 1 for text in distinct], np.int64)
    nearest = join_near_copies(distinct, counts)
    place = {text: at for at, text in enumerate(distinct)}
    return sum(bool(counts[nearest[place[text]]] == 2) for text in others)


def with_near(rows: Sequence[GapRow], overlaps: Sequence[OverlapRow]) -> list[GapRow]:
    """The rows of gaps with the share of a set's texts that are near copies of own ones; None where it is not known."""
    found = {
        (row.model, row.dataset): row.n_near / (row.n_examples - (row.n_shared or 0))
        for row in overlaps
        if row.n_near is not None
    }
    return [replace(row, near_share=found.get((row.model, row.test))) for row in rows]


def check_covered(answers: Answers, dataset: Dataset | None) -> None:
    """Refuse texts, where they are given, of other examples than were answered.

    Raises:
        InputError: The text of an example is not among them.
    """
    if dataset is None or not dataset.text_columns or texts_of(answers, dataset) is not None:
        return
    there = set(dataset.examples["example_id"].cast(pl.String).to_list())
    missing = [str(each) for each in answers.example_ids.tolist() if str(each) not in there]
    raise InputError(
        f"{len(missing):,} of the {answers.n_examples:,} examples of {answers.dataset} are not in it, the first is "
        f"{missing[0]!r}",
        file=dataset.source,
        mend=f"give the file that was predicted with {right_labels(f'{answers.dataset}=FILE')}",
    )


def _overlap(group: Group, other: Answers, shared: int | None, near: int | None = None) -> OverlapRow:
    return OverlapRow(group.model, group.own.dataset, other.dataset, other.n_examples, shared, near)


def describe_overlaps(rows: Sequence[OverlapRow]) -> list[str]:
    """What was left out, and where nothing could be looked up, in sentences; each pair of sets once."""
    said = []
    unknown = list(dict.fromkeys(row.dataset for row in rows if row.n_shared is None))
    for row in rows:
        if row.n_shared:
            one = row.n_shared == 1
            said.append(
                f"{row.n_shared:,} of the {row.n_examples:,} texts of {row.dataset} "
                f"{'is' if one else 'are'} in {row.in_distribution} as well and {'was' if one else 'were'} left out."
            )
        if row.n_near:
            said.append(
                f"{row.n_near:,} of the {row.n_examples - (row.n_shared or 0):,} other texts of {row.dataset} "
                f"{'is a near copy' if row.n_near == 1 else 'are near copies'} of texts of "
                f"{row.in_distribution}: on these the score says how a model takes the change."
            )
    if unknown:
        said.append(
            f"Whether texts of {', '.join(unknown)} are in-distribution as well was not looked up: give the texts with "
            "--test DATASET=FILE."
        )
    return list(dict.fromkeys(said))


def without_known(
    groups: Sequence[Group], texts: Mapping[str, Dataset], training: Dataset | None
) -> tuple[list[Group], dict[tuple[str, str], int]]:
    """The groups without those texts that are in the training data, of the own set and of the others.

    A model that knows its own test set by heart shows a loss that is none. An own set of which nothing would be left
    stays whole, and its share says so.

    Args:
        groups: One a model, all trained on the same data.
        texts: {dataset: its texts}.
        training: The training data; None where it is not at hand.

    Returns:
        The groups, and {(model, set): how many texts stand there} of the sets that could be looked up.

    Raises:
        InputError: All texts of another set do.
    """
    if training is None or not training.text_columns:
        return list(groups), {}
    known = training.joined_texts()
    kept, counts = [], {}
    for group in groups:
        sets: list[Answers] = []
        for each in (group.own, *group.others):
            found = texts_of(each, texts.get(each.dataset))
            if found is None:
                sets.append(each)
                continue
            if each is group.own and texts.get(each.dataset) is training:
                # Each fold was answered by readers of the others: no text was known.
                counts[group.model, each.dataset] = 0
                sets.append(each)
                continue
            shared = shared_texts(known, found)
            if each is not group.own and shared.all():
                raise InputError(
                    f"every text of {each.dataset} is in the training data", file=each.file,
                    mend="give texts that the model has not seen",
                )  # fmt: skip
            counts[group.model, each.dataset] = int(shared.sum())
            sets.append(each.take(~shared) if shared.any() and (~shared).sum() > 1 else each)
        kept.append(replace(group, own=sets[0], others=tuple(sets[1:])))
    return kept, counts


def with_known(
    rows: Sequence[GapRow], all_rows: Sequence[GapRow], counts: Mapping[tuple[str, str], int]
) -> list[GapRow]:
    """The rows of gaps with how many texts are in the training data, and what the gap is with these.

    Args:
        rows: As measured without these texts.
        all_rows: As measured with them, of those models and sets that have any.
        counts: {(model, set): how many texts are in the training data}.
    """
    found = {(row.model, row.test, row.metric): row for row in all_rows}
    of_own = {row.model: counts.get((row.model, row.test), 0) for row in rows if row.own}
    whole = {key: row.n for key, row in found.items()}
    extended = []
    for row in rows:
        known = counts.get((row.model, row.test))
        if known is not None:
            n = whole.get((row.model, row.test, row.metric), row.n)
            row = replace(row, n_known=n - row.n if n > row.n else 0, known_share=known / n)
        if (known or of_own[row.model]) and (same := found.get((row.model, row.test, row.metric))) is not None:
            row = replace(
                row,
                value_with_known=same.value,
                value_with_known_low=same.low,
                value_with_known_high=same.high,
                gap_with_known=same.gap,
                gap_with_known_low=same.gap_low,
                gap_with_known_high=same.gap_high,
            )
        extended.append(row)
    return extended


def describe_not_looked_up(groups: Sequence[Group], counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Which sets were not compared with the training data, in a sentence."""
    names = dict.fromkeys(
        each.dataset
        for group in groups
        for each in (group.own, *group.others)
        if (group.model, each.dataset) not in counts
    )
    if not names:
        return []
    return [
        f"Whether texts of {', '.join(names)} are in the training data was not looked up: give it with --trained-on "
        "FILE, and the texts with --test DATASET=FILE."
    ]
