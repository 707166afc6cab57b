"""From the name of an objective to the objective: its settings, what it needs, and what it says of itself."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.models.configuration import check_kind
from goldassay.training.coarser_labels import told_in
from goldassay.training.objectives import OBJECTIVES, load_objective
from goldassay.training.opinions import DEV, TRAIN, OpinionsOn, part_of_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.models.network import Encoded, Network
    from goldassay.training.evaluation_set import EvaluationSet
    from goldassay.training.job import Job
    from goldassay.training.loop import Loop
    from goldassay.training.objectives.objective import Objective


def settings_of(objective: str, changes: Mapping[str, Any]) -> Any:
    """All settings of an objective, some of them replaced.

    Raises:
        InputError: A name is no setting of it, or a value is of the wrong kind or out of range.
    """
    kind = load_objective(objective).settings
    known = [field.name for field in dataclasses.fields(kind)]
    for name, value in changes.items():
        if name not in known:
            raise InputError(f"{objective} has no setting {name!r}", mend=_mend(name, known))
        check_kind(kind, name, value)
    return kind(**changes)


def _mend(name: str, known: Sequence[str]) -> str:
    others = [
        each for each in OBJECTIVES if name in {f.name for f in dataclasses.fields(load_objective(each).settings)}
    ]
    if others:
        return f"it is one of {', '.join(others)}"
    return did_you_mean(name, sorted(known)) if known else "it has none: leave it out"


def _names(objective: str) -> set[str]:
    return {field.name for field in dataclasses.fields(load_objective(objective).settings)}


def check_objective(job: Job) -> None:
    """Refuse an objective that does not go with the network or with what is given.

    Raises:
        InputError: Says what is missing, or too much.
    """
    kind = load_objective(job.objective)
    needs = kind.requirements(settings_of(job.objective, job.objective_changes))
    name = job.objective
    if needs.bias == "required" and job.bias is None:
        raise InputError(
            f"{name} needs a bias model" + (" to reweight by" if needs.dev else ""),
            mend=f"name one with {option('bias')}: quick_probe, a network, a file of mined patterns, or runs",
        )
    if needs.bias == "none" and job.bias is not None:
        raise InputError(
            f"{name} takes no bias model", mend=f"leave out {option('bias')}, or choose another {option('objective')}"
        )
    if not needs.teacher and job.teacher is not None:
        raise InputError(
            f"{name} takes no teacher", mend=f"leave out {option('teacher')}, or choose confidence_regularization"
        )
    idle = sorted(job.objective_changes.keys() & kind.of_bias) if job.bias is None else []
    if idle:
        raise InputError(
            f"{idle[0]} has no effect without a bias", mend=f"name one with {option('bias')}, or leave it out"
        )
    if needs.dev and job.dev is None:
        raise InputError(
            "weights that follow the gap between easy and hard dev examples need a dev set",
            mend=f"give {option('dev', 'FILE')}",
        )
    if needs.sentences:
        _check_sentences(job)


def _check_sentences(job: Job) -> None:
    from goldassay.models.network import Network
    from goldassay.models.registry import NETWORKS, load_network

    if load_network(job.model).compare is Network.compare:
        able = [each for each in NETWORKS if load_network(each).compare is not Network.compare]
        raise InputError(
            f"{job.objective} debiases the vector of one text, and {job.model} has none: it reads its texts together",
            mend=f"choose {', '.join(able[:-1])} or {able[-1]}",
        )


def build_objective(
    job: Job,
    network: Network,
    encoded: Encoded,
    train: Dataset,
    label_names: Sequence[str],
    dev_gold: NDArray[Any] | None,
    teacher: NDArray[np.float32] | None,
) -> Objective:
    """The objective of a job, with fresh weights.

    Args:
        job: Whose.
        network: With fresh weights.
        encoded: Its training rows.
        train: The training rows.
        label_names: K labels.
        dev_gold: Codes of the dev examples, where there is a dev set.
        teacher: Probabilities of the labels on the training rows, where it learns from a teacher, (N, K).
    """
    from goldassay.training.objectives.objective import Surroundings

    opinions = None if job.bias is None else job.bias.load()
    dev: OpinionsOn | None = None if opinions is None else opinions.on.get(DEV)
    network.eval()
    surroundings = Surroundings(
        settings=settings_of(job.objective, job.objective_changes),
        network=network,
        example=network.collate(encoded, np.zeros(1, np.int64)).to(network.device),
        n_labels=len(label_names),
        bias=None if opinions is None else opinions.for_rows(TRAIN, train),
        dev_bias=dev,
        dev_gold=dev_gold,
        teacher=teacher,
    )
    return load_objective(job.objective).build(surroundings)


def describe_objective(job: Job, loop: Loop, tests: Sequence[EvaluationSet]) -> dict[str, Any]:
    """What a trained objective says of itself and of the models beside the network, as JSON holds it.

    `beside`: a row for each model and dataset: role (bias, discriminator), model, dataset, accuracy; the bias model's
    own, and of each discriminator that of its weights at the end, or at the best epoch. Further what the objective
    found in training.
    """
    return {"beside": [*_of_bias(job, tests), *_of_judges(job, loop, tests)], **loop.objective.findings()}


def _of_bias(job: Job, tests: Sequence[EvaluationSet]) -> list[dict[str, Any]]:
    if job.bias is None:
        return []
    opinions = job.bias.load()
    named = {TRAIN: job.train.name, **({} if job.dev is None else {DEV: job.dev.name})}
    named |= {part_of_test(test.dataset.name): test.dataset.name for test in tests}
    return [
        {
            "role": "bias",
            "model": opinions.source,
            "about": opinions.about,
            "dataset": name,
            "part": part.split(" ", 1)[0],
            "accuracy": opinions.accuracy[part],
        }
        for part, name in named.items()
        if part in opinions.accuracy
    ]


def _of_judges(job: Job, loop: Loop, tests: Sequence[EvaluationSet]) -> list[dict[str, Any]]:
    n_judges = loop.objective.n_judges
    rows = []
    for test in tests if n_judges else ():
        judged = loop.judge(test.encoded)
        _, told = told_in(job.train.load().label_names, test.dataset.label_names)
        for place, logits in enumerate(np.split(judged, n_judges, axis=1), 1):
            rows.append(
                {
                    "role": "discriminator",
                    "model": f"discriminator {place}",
                    "about": "",
                    "dataset": test.dataset.name,
                    "part": "test",
                    "accuracy": float(np.mean(told[logits.argmax(1)] == test.gold)),
                }
            )
    return rows
