"""Sets with coarser labels: answers on the model's own distribution are counted in these labels too.

A model that tells three classes at home and is asked for two elsewhere would otherwise gain what it confuses between
the classes that count as one there, and a loss could hide behind that gain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.data.labels import NON_ENTAILMENT
from goldassay.runs.labels import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.groups import Group

_ENTAILMENT = "entailment"


def counted_alike(groups: Sequence[Group]) -> tuple[list[Group], list[str]]:
    """The groups, those sets apart that tell entailment from the rest only, with the own set counted likewise.

    Returns:
        The groups, and what was done, in sentences.

    Raises:
        InputError: Of the own set there are scores alone, which cannot be counted otherwise.
    """
    kept: list[Group] = []
    notes = []
    for group in groups:
        coarser = [each for each in group.others if _is_coarser(each, group.own)]
        if not coarser:
            kept.append(group)
            continue
        same = tuple(each for each in group.others if each not in coarser)
        if same:
            kept.append(replace(group, others=same))
        own = _in_two_classes(group.own)
        kept.append(replace(group, model=f"{group.model} (entailment or not)", own=own, others=tuple(coarser)))
        names = ", ".join(each.dataset for each in coarser)
        notes.append(
            f"{names} {'has' if len(coarser) == 1 else 'have'} two labels, entailment and non-entailment: for this "
            f"comparison answers of {group.model} are counted in these on {group.own.dataset} as well, all others than "
            "entailment as one."
        )
    return kept, list(dict.fromkeys(notes))


def _is_coarser(other: Answers, own: Answers) -> bool:
    names, own_names = (
        {canonical(name) for name in each.label_names} if each.gold is not None and not each.regression else set()
        for each in (other, own)
    )
    return NON_ENTAILMENT in names and _ENTAILMENT in own_names and NON_ENTAILMENT not in own_names


def _in_two_classes(answers: Answers) -> Answers:
    if answers.predictions is None or answers.gold is None:
        raise InputError(
            f"the runs of {answers.model} on {answers.dataset} have scores alone, which two labels cannot count",
            file=answers.file,
            mend="give their predictions, or leave out the set with two labels",
        )
    rest = np.array([canonical(name) != _ENTAILMENT for name in answers.label_names], dtype=np.int64)
    predictions, gold = rest[answers.predictions], rest[answers.gold]
    return replace(
        answers,
        predictions=predictions,
        gold=gold,
        scores=(predictions == gold).astype(np.float64),
        logits=None,
        label_names=(_ENTAILMENT, NON_ENTAILMENT),
    )
