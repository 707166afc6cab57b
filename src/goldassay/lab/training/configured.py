"""From the name of an objective to the objective: its settings, what it needs, and what it says of itself.

A job with all its settings: those of its network, its recipe and its objective, and whether they go together.

The teacher of a run: the same network, trained plainly on the same rows with the same seeds.

What a network leaves behind: predictions, logits, embeddings, token relevance, training dynamics.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch

from goldassay.core.errors import InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Configuration, check_kind
from goldassay.lab.training.loop import Loop, sorted_batches
from goldassay.lab.training.objectives import (
    DEV,
    OBJECTIVES,
    TRAIN,
    Objective,
    TeacherLogitsOn,
    load_objective,
    part_of_test,
    softmax,
)
from goldassay.lab.training.targets import target_of
from goldassay.readers.conditions import labels_named_in, roles_of
from goldassay.runs.reading import read_runs
from goldassay.runs.sidecar import Embeddings, Origin, Relevances, RoleRelevance, write_embeddings, write_relevances
from goldassay.runs.store import identity_of, run_file, write_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.network import Batch, Encoded, Network, Stream
    from goldassay.lab.training.job import Job
    from goldassay.lab.training.targets import Answered, EvaluationSet


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
    from goldassay.lab.models import NETWORKS, load_network
    from goldassay.lab.models.network import Network

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
    from goldassay.lab.training.objectives import Surroundings

    teacher_logits = None if job.bias is None else job.bias.load()
    dev: TeacherLogitsOn | None = None if teacher_logits is None else teacher_logits.on.get(DEV)
    network.eval()
    surroundings = Surroundings(
        settings=settings_of(job.objective, job.objective_changes),
        network=network,
        example=network.collate(encoded, np.zeros(1, np.int64)).to(network.device),
        n_labels=len(label_names),
        bias=None if teacher_logits is None else teacher_logits.for_rows(TRAIN, train),
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
    teacher_logits = job.bias.load()
    named = {TRAIN: job.train.name, **({} if job.dev is None else {DEV: job.dev.name})}
    named |= {part_of_test(test.dataset.name): test.dataset.name for test in tests}
    return [
        {
            "role": "bias",
            "model": teacher_logits.source,
            "about": teacher_logits.about,
            "dataset": name,
            "part": part.split(" ", 1)[0],
            "accuracy": teacher_logits.accuracy[part],
        }
        for part, name in named.items()
        if part in teacher_logits.accuracy
    ]


def _of_judges(job: Job, loop: Loop, tests: Sequence[EvaluationSet]) -> list[dict[str, Any]]:
    n_judges = loop.objective.n_judges
    rows = []
    for test in tests if n_judges else ():
        judged = loop.judge(test.encoded)
        _, told = labels_named_in(job.train.load().label_names, test.dataset.label_names)
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


_LEARNT = {"label": "classes", "number": "numbers", "span": "spans of a text"}


def network_of(job: Job) -> type[Network]:
    """The class of a job's network, which is another one for the same checkpoint where answers are spans.

    Raises:
        InputError: There is no such model, or none for the job's data.
        MissingDependencyError: The extra `train` is not installed.
    """
    return load_network(job.model, target_of(job.train.load()).kind)


def configuration_of(job: Job) -> Configuration:
    """All settings of a job's network and recipe.

    Raises:
        InputError: A model, configuration or setting is not known.
        MissingDependencyError: The extra `train` is not installed.
    """
    return _configuration(job, network_of(job))


def _configuration(job: Job, network: type[Network]) -> Configuration:
    known = network.configurations
    if job.configuration not in known:
        raise InputError(
            f"{job.model} has no configuration {job.configuration!r}",
            mend=did_you_mean(job.configuration, sorted(known)),
        )
    return known[job.configuration].replaced({**job.changes, **_of_vectors(job, known[job.configuration].sizes)})


def _of_vectors(job: Job, sizes: Any) -> dict[str, Any]:
    """What a file of word vectors, or none, decides: their width, and that fresh ones are learnt."""
    if job.vectors is None:
        if job.changes.get("frozen"):
            raise InputError("the frozen vectors would be random", mend=f"give some with {option('vectors', 'FILE')}")
        return {"frozen": False} if hasattr(sizes, "frozen") else {}
    asked = job.changes.get("vectors", job.vectors.width)
    if asked != job.vectors.width:
        raise InputError(
            f"its vectors have {job.vectors.width} numbers, and vectors={asked} was asked for",
            file=job.vectors.path,
            mend="leave out vectors=, or give another file",
        )
    return {"vectors": job.vectors.width}


def check_job(job: Job, train: Dataset) -> None:
    """Refuse what can be seen before anything is trained or written.

    Args:
        job: Its own data are not looked at, and need not be there yet.
        train: What it is to learn.

    Raises:
        InputError: A setting is not known or does not fit the data.
    """
    kind = target_of(train).kind
    # First: without the extra, what follows cannot be imported.
    network = load_network(job.model, kind)
    configuration = _configuration(job, network)
    from goldassay.lab.training.objectives import load_objective, objectives_of
    from goldassay.lab.training.optimizers import check_optimizer, check_schedule

    network.check_sizes(configuration.sizes)
    network.check_texts(configuration.sizes, roles_of(job.condition, train.text_columns))
    recipe = configuration.recipe
    check_optimizer(recipe)
    check_schedule(recipe.schedule)
    objective = load_objective(job.objective)
    if kind == "span":
        from goldassay.lab.training.targets import check_use

        check_use(job.condition, job.record)
    if objective.kind != kind:
        raise InputError(
            f"the objective {job.objective} learns {_LEARNT[objective.kind]}, and the labels are {_LEARNT[kind]}",
            mend=f"leave it out, or choose {' or '.join(objectives_of(kind))}",
        )
    check_objective(job)
    if job.dev is None and (recipe.patience or recipe.schedule == "dev_drops"):
        raise InputError("stopping by a dev score needs a dev set", mend=f"give one with {option('dev', 'FILE')}")
    if job.rows is not None and job.rows > len(train):
        raise InputError(
            f"{job.rows:,} training rows are asked for, and there are {len(train):,}",
            mend=f"ask for fewer with {option('rows')}",
        )


def made_with(job: Job) -> dict[str, Any]:
    """All settings that decide a job's result, as JSON holds them.

    Raises:
        InputError: See `configuration_of`.
    """
    return job.settings() | {
        "network": network_of(job).name,
        **configuration_of(job).to_dict(),
        "objective_settings": asdict(settings_of(job.objective, job.objective_changes)),
    }


FOLDER = "teacher"


def has_own_teacher(job: Job) -> bool:
    """Whether a job's objective learns from a teacher, and none is given."""
    from goldassay.lab.training.objectives import load_objective

    needs = load_objective(job.objective).requirements(settings_of(job.objective, job.objective_changes))
    return needs.teacher and job.teacher is None


def teacher_of(job: Job) -> Job:
    """The job of a run's own teacher: a run like any other, in the run's folder, that answers the training rows."""
    return replace(
        job,
        objective="cross_entropy",
        objective_changes={},
        bias=None,
        teacher=None,
        tests=(job.train,),
        out=str(job.folder / FOLDER),
        label=FOLDER,
        record=("predictions", "logits"),
        checkpoint_every=None,
    )


def taught(job: Job, train: Dataset, label_names: Sequence[str]) -> NDArray[np.float32]:
    """Probabilities that a run's teacher gives its training rows, (N, K)."""
    if job.teacher is not None:
        return job.teacher.load().for_rows(TRAIN, train).probabilities
    return _answers(job.folder / FOLDER, train, label_names)


def _answers(folder: Path, train: Dataset, label_names: Sequence[str]) -> NDArray[np.float32]:
    runs = read_runs(folder)
    if runs.logits is None:
        raise ValueError("the run of a teacher records logits")
    place = {name: row for row, name in enumerate(runs.example_ids.tolist())}
    rows = [place[name] for name in train.examples["example_id"].cast(str).to_list()]
    columns = [runs.label_names.index(name) for name in label_names]
    return softmax(runs.logits[0][rows][:, columns]).astype(np.float32)


def uniform(n_rows: int, n_labels: int) -> NDArray[np.float32]:
    """What stands for a teacher where a run is only tried out: it knows nothing, (N, K)."""
    return np.full((n_rows, n_labels), 1 / n_labels, np.float32)


_RELEVANCE_BATCH = 64


def write_predictions(
    answered: Answered,
    on: EvaluationSet,
    of: Origin,
    folder: Path,
    *,
    checkpoint: int | None,
    n_parameters: int | None = None,
) -> Path:
    """Write what a network answered on a dataset as a file of the runs store, and return its path."""
    dataset = on.dataset
    groups = {f"group_{name}": dataset.examples[name].cast(str).fill_null("") for name in dataset.groups}
    identity = _identity(of, checkpoint, label_names=answered.label_names, n_parameters=n_parameters)
    columns = {"example_id": pl.Series(on.example_ids.tolist(), dtype=pl.String), **answered.columns, **groups}
    return write_answers(columns, identity, folder)


def predictions_file(of: Origin, folder: Path, checkpoint: int | None) -> Path:
    """Where `write_predictions` writes."""
    return run_file(_identity(of, checkpoint), folder)


def _identity(of: Origin, checkpoint: int | None, **known: Any) -> dict[str, Any]:
    return identity_of(
        model=of.model,
        seed=of.seed,
        train_set=of.train_set,
        condition=of.condition,
        checkpoint=checkpoint,
        dataset=of.dataset,
        split=of.split,
        **known,
    )


def record_embeddings(loop: Loop, on: EvaluationSet, of: Origin, path: Path) -> None:
    """Write the layer before the classifier for all texts together and, where there are several, for each alone."""
    roles = list(on.texts)
    vectors = {}
    if len(roles) > 1:
        vectors["paired"] = loop.represent(on.encoded)
        for role in roles:
            alone = [on.texts[other] if other == role else None for other in roles]
            vectors[role] = loop.represent(loop.network.encode(alone))
    else:
        vectors[roles[0]] = loop.represent(on.encoded)
    write_embeddings(Embeddings(of, on.example_ids, vectors), path)


def record_relevance(loop: Loop, on: EvaluationSet, of: Origin, path: Path) -> None:
    """Write the relevance of each token; see `relevances`."""
    roles = relevances(loop.network, on.encoded, list(on.texts), loop.accelerator.device)
    write_relevances(Relevances(of, on.example_ids, roles), path)


def relevances(
    network: Network, encoded: Encoded, roles: Sequence[str], device: torch.device
) -> dict[str, RoleRelevance]:
    """How much each token's embedding moves the prediction.

    r_j = || d log p(y_hat | x) / d e_j ||_2, y_hat the predicted class; of a predicted number y, || d y / d e_j ||_2.
    Special tokens and padding are left out.

    Source: Saxon, Wang, Xu and Wang 2023, section 3.3, with the gradient of the predicted class alone.
    """
    names = np.array(network.token_names(), dtype=object)
    n = len(encoded)
    values: list[list[Any]] = [[None] * n for _ in roles]
    tokens: list[list[Any]] = [[None] * n for _ in roles]
    network.eval()
    for rows in sorted_batches(encoded.costs, _RELEVANCE_BATCH):
        batch = network.collate(encoded, rows).to(device)
        for stream, norms in _gradient_norms(network, batch):
            places, numbers = stream.roles.cpu().numpy(), stream.tokens.cpu().numpy()
            for role in range(len(roles)):
                inside = places == role
                if not inside.any():
                    continue
                for at, row in enumerate(rows):
                    values[role][row] = norms[at, inside[at]]
                    tokens[role][row] = names[numbers[at, inside[at]]].tolist()
    nothing = np.zeros(0, np.float32)
    return {
        name: RoleRelevance(
            [nothing if each is None else each for each in values[role]],
            [each or [] for each in tokens[role]],
            encoded.cut[role],
        )
        for role, name in enumerate(roles)
    }


def _gradient_norms(network: Network, batch: Batch) -> list[tuple[Stream, NDArray[np.float32]]]:
    streams = [replace(each, vectors=each.vectors.detach().requires_grad_()) for each in network.embed(batch)]
    # The GPU library's recurrent layers refuse to go backwards outside training mode.
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():
        logits = network.classify(network.represent_streams(streams, batch))
        logits = logits.float()
        # Of a single number there is no class, and the number itself is what moves.
        best = logits.sum() if logits.shape[1] == 1 else torch.log_softmax(logits, dim=1).amax(1).sum()
        gradients: tuple[Tensor, ...] = torch.autograd.grad(best, [stream.vectors for stream in streams])
    return [
        (stream, torch.linalg.vector_norm(gradient, dim=2).float().cpu().numpy())
        for stream, gradient in zip(streams, gradients, strict=True)
    ]
