"""Which sets of runs belong together: one model, trained on one thing, on its own distribution and on others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.shift.answers import Answers

# What the training data are called where they are predicted too, for features of them.
TRAINING = "train"
# What a set may be called that is the model's own distribution by its name.
_OWN = ("id", "in-distribution", "in_distribution")


@dataclass(frozen=True)
class Group:
    """One model's answers.

    Attributes:
        model: What tells it apart.
        model_name: What the runs call it.
        train_set: What it was trained on, or "".
        own: On its own distribution.
        others: On others.
        n_parameters: Its weights, where its runs say it.
        notes: What was done to make them comparable, in sentences.
    """

    model: str
    model_name: str
    train_set: str
    own: Answers
    others: tuple[Answers, ...]
    n_parameters: int | None = None
    notes: tuple[str, ...] = ()


def own_set(train_set: str, names: Sequence[str], asked: Mapping[str, str]) -> str:
    """Which dataset is a model's own distribution.

    The one that was asked for, for its training set or for all; else one whose name says so ("ID"), or is that of the
    training set or begins with it.

    Args:
        train_set: What the model was trained on.
        names: The datasets that it was tried on.
        asked: {training set: dataset}; "" stands for all that are not named.

    Raises:
        InputError: It is not there, or nothing says which it is.
    """
    wanted = asked.get(train_set, asked.get(""))
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"there are no runs on {wanted!r}, which was to be the model's own distribution",
                mend=did_you_mean(wanted, list(names)),
            )
        return wanted
    named = [name for name in names if name.lower() in _OWN]
    stem = train_set.lower().removesuffix("train").rstrip("/_-. ")
    alike = [name for name in names if stem and name.lower().startswith(stem)]
    for found in (named, [name for name in names if name == train_set], alike):
        if len(found) == 1:
            return found[0]
    raise InputError(
        f"which of {', '.join(map(repr, names))} is of the distribution that the model was trained on is not said",
        mend=f"name it with {option('in-distribution', 'NAME')}",
    )


def with_common_seeds(group: Group) -> Group:
    """The group with the seeds that all its sets have, in one order.

    Raises:
        InputError: They have none in common.
    """
    sets = [group.own, *group.others]
    if all(each.seeds == group.own.seeds for each in sets):
        return group
    if all(len(each.seeds) == 1 for each in sets):
        # A single run a set, called after its file, is taken for the same.
        return replace(group, others=tuple(replace(each, seeds=group.own.seeds) for each in group.others))
    common = [seed for seed in group.own.seeds if all(seed in each.seeds for each in group.others)]
    if not common:
        raise InputError(
            f"the runs of {group.model} on {', '.join(each.dataset for each in sets)} have no seed in common",
            mend="give predictions of the same runs on every set",
        )
    most = max(len(each.seeds) for each in sets)
    note = (
        f"{group.model}: only the {len(common)} of {most} runs that answered on every set are compared, since a gap is "
        "one model's."
    )
    own, *others = (each.of_seeds(common) for each in sets)
    return replace(group, own=own, others=tuple(others), notes=(*group.notes, note))
