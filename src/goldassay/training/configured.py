"""A job with all its settings: those of its network, its recipe and its objective, and whether they go together."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.models.registry import load_network
from goldassay.training.conditions import roles_of
from goldassay.training.objective_choice import check_objective, settings_of
from goldassay.training.target_choice import target_of

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.models.configuration import Configuration
    from goldassay.models.network import Network
    from goldassay.training.job import Job

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
            raise InputError(
                "vectors that nobody learnt would be frozen", mend=f"give some with {option('vectors', 'FILE')}"
            )
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
    from goldassay.training.objectives import load_objective, objectives_of
    from goldassay.training.optimizers import check_optimizer
    from goldassay.training.schedules import check_schedule

    network.check_sizes(configuration.sizes)
    network.check_texts(configuration.sizes, roles_of(job.condition, train.text_columns))
    recipe = configuration.recipe
    check_optimizer(recipe)
    check_schedule(recipe.schedule)
    objective = load_objective(job.objective)
    if kind == "span":
        from goldassay.training.span_target import check_use

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
