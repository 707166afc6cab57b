"""From a recipe to its findings: sets, trainings, measures; what was done is not done again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import GoldassayError, InputError
from goldassay.core.settings import TrainingSettings
from goldassay.papers.checkpoints import Checkpoints
from goldassay.papers.choosing import Choice, needed_by, runnable
from goldassay.papers.finding import find_recipe
from goldassay.papers.missing import with_reasons
from goldassay.papers.outcome import StudyReport, describe
from goldassay.papers.pooling import hold_together
from goldassay.papers.recipe import PRETRAINED
from goldassay.papers.sources import known_sources, lacking_sets, read_sets
from goldassay.papers.workplace import (
    OF_SET,
    PRECISION,
    UNASKED_PRECISION,
    USUAL_PRECISION,
    Workplace,
    check_settings,
    keep_settings,
    noted_precisions,
)
from goldassay.training.precision import AUTO, check_choice, choose_precision, unasked_precision

if TYPE_CHECKING:
    import os

    from goldassay.core.progress import Progress, Steps
    from goldassay.papers.recipe import Recipe, ScaleName, Training
    from goldassay.training import Job
    from goldassay.training.outcome import Watcher
    from goldassay.training.pricing import Price

_TRIES = 3
_SHOWN = 5


@dataclass(frozen=True)
class Study:
    """A study about to be run.

    Attributes:
        name: Of its recipe.
        recipe: What it declares.
        work: Where it happens.
        jobs: What it trains, in the order in which it is done.
    """

    name: str
    recipe: Recipe
    work: Workplace
    jobs: list[Job]


def open_study(
    name: str,
    scale: ScaleName,
    out: str | os.PathLike[str],
    steps: Steps,
    *,
    data: str | os.PathLike[str] | None = None,
    pretrained: str | None = None,
    seed: int = 0,
    precision: str = AUTO,
    device: str = AUTO,
    choice: Choice | None = None,
) -> Study:
    """Read a study's sets and plan its trainings; nothing is trained yet.

    Args:
        name: Of the study.
        scale: Its size.
        out: Its folder.
        steps: Progress.
        data: Folder with the datasets.
        pretrained: Checkpoint to fine-tune where the recipe has a pretrained model; without it these are left out.
        seed: Of what is drawn but for trainings, whose seeds are counted from 0.
        precision: Of all trainings. "auto" leaves it to the machine on which the study is begun: 16 bits on a GPU that
            multiplies in them; on a processor 32, but for trainings whose recipe asks for what it multiplies fastest.
        device: Where to train; "auto" is a GPU if there is one.
        choice: Sets and models that are run, where not all are.

    Raises:
        InputError: There is no such study, device or precision, none of its sets is there, one cannot be read, a
            name of `choice` is unknown, a checkpoint is given where none is fine-tuned, or the folder was made with
            other settings.
        MissingDependencyError: The extra `train` is not installed.
    """
    recipe = find_recipe(name)
    size = recipe.SCALES[scale]
    if pretrained is not None and not any(PRETRAINED in each.models.values() for each in size.trainings):
        raise InputError(f"the study {name} fine-tunes nothing at {scale} scale", mend="leave out --pretrained")
    if size.trainings:
        _check_networks(pretrained)
        check_choice(device, precision)
    place = None if data is None else Path(data)
    choice = choice or Choice()
    choice.check(size)
    absent = lacking_sets(size, place, choice.without)
    if size.sets and not any(name not in absent for name in size.sets):
        first, names = next(iter(absent)), list(size.sets)
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        raise InputError(
            f"all {len(size.sets)} of its sets are not there: {shown}; {first} {absent[first]}",
            file=place,
            mend=f"`goldassay studies {name} --scale {scale} --files` lists all of them; give their folder with --data",
        )
    work = Workplace(Path(out), choice.narrowed(size), scale, place, pretrained, seed, steps, absent=absent)
    # Before anything is written: a specimen with another seed would take the place of the one that was trained on.
    check_settings(work.folder, _choices(name, work, choice))
    work.precision, work.unasked_precision = _precisions(work, precision, device)
    with steps.step("reading the sets"):
        work.sets = read_sets(size, place, work.folder, seed, absent)
    keep_settings(work.folder, _settings(name, work, choice))
    with steps.step("preparing sets"):
        work.sets |= recipe.prepare(work)
    at_hand = Checkpoints()
    work.scale, work.not_run = runnable(size, work, lambda name: name in work.checkpoints or at_hand.has(name))
    if choice.only:
        # What is not asked for is not missed.
        missed = needed_by(work.not_run)
        work.absent = {key: why for key, why in absent.items() if key in missed}
    return Study(name, recipe, work, _jobs(work, device))


def _check_networks(pretrained: str | None) -> None:
    """Before anything is read or made: that networks can be trained here, and what is to be fine-tuned be one."""
    from goldassay.models.registry import load_network, require_extra

    require_extra()
    if pretrained is not None:
        try:
            load_network(pretrained)
            if Path(pretrained).is_dir():
                from transformers import AutoModelForSequenceClassification

                from goldassay.models.checkpoint import check_kind, open_config, open_tokenizer

                # What is none would else be refused halfway, when the other networks are trained.
                open_tokenizer(pretrained)
                check_kind(AutoModelForSequenceClassification, pretrained, open_config(pretrained))
        except InputError as error:
            raise InputError(
                f"--pretrained {pretrained} is no checkpoint: {error.problem}",
                mend="name a folder that holds config.json, weights and tokenizer.json, or a name on the hub",
            ) from error


def price_study(study: Study, workers: int | None, progress: Progress) -> Price:
    """What the trainings of a study will cost, from a short probe of each kind.

    Raises:
        InputError: The study trains nothing.
    """
    from goldassay.training.pricing import price

    if not study.jobs:
        raise InputError(f"the study {study.name} trains nothing at this size", mend="run it")
    return price(study.jobs, workers, progress=progress)


def run_study(
    study: Study, workers: int | None = None, scheduler: str | None = None, watcher: Watcher | None = None
) -> StudyReport:
    """Train what is not trained yet, and measure.

    Args:
        study: As `open_study` gives it.
        workers: Trainings side by side; if not given one a GPU, or where there is none one a core.
        scheduler: Address of a dask scheduler that does the trainings instead.
        watcher: Told how they go.

    Raises:
        GoldassayError: A training failed three times; the others are done, and kept.
        KeyboardInterrupt: Interrupted; what is trained is kept.
    """
    _check_measurable(study)
    if study.jobs:
        with study.work.steps.step("training"):
            _train(study, workers, scheduler, watcher)
    with study.work.steps.step("measuring"):
        found = study.recipe.measure(study.work)
        findings = replace(
            found,
            conclusions=hold_together(found.conclusions),
            comparisons=tuple(with_reasons(each, study.work.not_run) for each in found.comparisons),
        )
    return describe(study.name, study.recipe, study.work, study.jobs, findings)


def _check_measurable(study: Study) -> None:
    """Refuse to begin where nothing could be measured in the end."""
    work = study.work
    models = {label for training in work.scale.trainings for label in training.models}
    lacking = [name for name in study.recipe.NEEDED if name not in work.sets and name not in models]
    if lacking or (not study.jobs and not study.recipe.has_released(work)):
        missed = [name for name in needed_by(work.not_run) if not lacking or name in lacking] or lacking
        first = missed[0] if missed else ""
        said = f"; {first} {work.absent.get(first, 'is left out')}" if first else ""
        raise InputError(
            f"without {', '.join(missed[:_SHOWN]) or 'any training'} nothing of the study {study.name} can be "
            f"measured{said}",
            file=work.data,
            mend=f"`goldassay studies {study.name} --scale {work.scale_name} --files` lists what it needs",
        )


def _train(study: Study, workers: int | None, scheduler: str | None, watcher: Watcher | None) -> None:
    from goldassay.training.outcome import Failure
    from goldassay.training.workers import run_jobs

    if scheduler is None:
        outcomes = run_jobs(study.jobs, workers, watcher, _TRIES)
    else:
        from goldassay.training.cluster import run_on_cluster
        from goldassay.training.outcome import Silent

        outcomes = run_on_cluster(study.jobs, scheduler, watcher or Silent(), _TRIES)
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    if failures:
        raise GoldassayError(
            f"{len(failures)} of {len(study.jobs)} trainings failed, the rest are done and kept; the first: "
            f"{failures[0].name}: {failures[0].line}"
        )


def _choices(name: str, work: Workplace, choice: Choice) -> dict[str, Any]:
    """What whoever runs the study chose, by which it is told from others first."""
    chosen = {"study": name, "scale": work.scale_name, "seed": work.seed, "pretrained": work.pretrained}
    named = {"only": sorted(choice.only), "without": sorted(choice.without)}
    return chosen | {key: names for key, names in named.items() if names}


def _settings(name: str, work: Workplace, choice: Choice) -> dict[str, Any]:
    return {
        **_choices(name, work, choice),
        PRECISION: work.precision,
        **({} if work.unasked_precision == USUAL_PRECISION else {UNASKED_PRECISION: work.unasked_precision}),
        **{
            f"{OF_SET}{key}": [file.sha256 for file in dataset.provenance.files]
            for key, dataset in sorted(work.sets.items())
        },
    }


def _precisions(work: Workplace, asked: str, device: str) -> tuple[str | None, str]:
    """Of trainings that leave it to the machine, None where there are none, and of those that say nothing of it."""
    leave = any(AUTO in (each.get("precision") for each in (t.options, *t.of.values())) for t in work.scale.trainings)
    if asked != AUTO:
        return asked if leave else None, asked
    noted = noted_precisions(work.folder)
    chosen = choose_precision(AUTO, device) if leave else None
    return (chosen, unasked_precision(device)) if noted is None else (noted[0] or chosen, noted[1])


def _jobs(work: Workplace, device: str) -> list[Job]:
    jobs = [job for training in work.scale.trainings for job in _jobs_of(training, work, device)]
    # Seed by seed, so that a study that is stopped has something of every model.
    return sorted(jobs, key=lambda job: job.seed)


def _jobs_of(training: Training, work: Workplace, device: str) -> list[Job]:
    from goldassay.questions.opinions import with_sources
    from goldassay.training.many_seeds import plan_jobs

    tests = {name: work.sets[name] for name in training.tests if name not in work.lacking}
    if training.train in work.lacking or not tests:
        return []
    jobs = []
    for label, network in training.models.items():
        model = work.pretrained if network == PRETRAINED else str(work.checkpoints.get(network, network))
        if model is None:
            continue
        given = TrainingSettings.model_validate({**training.options, **training.of.get(label, {})})
        precision = work.precision if given.precision == AUTO else given.precision or work.unasked_precision
        given = given.model_copy(update={"precision": precision, "device": device})
        share = training.checkpoint_epochs.get(label)
        if share is not None:
            rows = min(given.rows or len(work.sets[training.train]), len(work.sets[training.train]))
            given = given.model_copy(update={"checkpoint_every": checkpoint_steps(model, given, rows, share)})
        unset = ("seeds", "model", "conditions", "workers")
        options = {key: value for key, value in given.arguments().items() if key not in unset}
        if options.get("rows", 0) >= len(work.sets[training.train]):
            del options["rows"]
        options = with_sources(_found(options, work), work.runs)
        jobs += plan_jobs(
            work.sets[training.train], model, tests, out=work.runs, seeds=training.seeds,
            conditions=training.conditions or None, label=label, **options,
        )  # fmt: skip
    return jobs


def checkpoint_steps(model: str, given: TrainingSettings, rows: int, share: float) -> int:
    """Steps in a share of an epoch.

    Args:
        model: A network or checkpoint.
        given: Its settings.
        rows: That it is trained on.
        share: Of an epoch.
    """
    from goldassay.models.registry import full_name, load_network

    known = load_network(full_name(model)).configurations[given.configuration or "desk"]
    batch = known.replaced(given.changes or {}).recipe.batch_size
    return max(1, round(math.ceil(rows / batch) * share))


def _found(options: dict[str, Any], work: Workplace) -> dict[str, Any]:
    """The options, what they name being looked for among the study's sets and files, then in its folder."""
    found = dict(options)
    for key in ("dev", "bias", "teacher", "vectors"):
        name = found.get(key)
        if name is None:
            continue
        if name in work.sets:
            found[key] = work.sets[name]
        elif name in work.scale.files:
            found[key] = known_sources()[work.scale.files[name]].find(work.data)
        elif (work.folder / name).exists():
            found[key] = work.folder / name
    return found
