"""From a recipe to its findings: sets, trainings, measures; what was done is not done again.

Whether pretrained checkpoints are at hand: in a folder, in the cache of the hub's library, or on the hub.

The studies there are: every package of `papers/` but the printed tables.

What a study came to: a document, its tables, the reports behind them, and the page.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from goldassay.core.document import TIMING_NAME
from goldassay.core.errors import GoldassayError, InputError, option
from goldassay.core.extensions import extensions, names_of
from goldassay.core.files import written_together
from goldassay.core.naming import did_you_mean
from goldassay.core.report_seal import as_json, digest_of
from goldassay.core.results import to_plain
from goldassay.core.settings import TrainingSettings
from goldassay.data.hub import hub_endpoint, is_hub_reachable
from goldassay.lab.papers.pooling import hold_together
from goldassay.lab.papers.recipe import (
    OF_SET,
    PRECISION,
    PRETRAINED,
    UNASKED_PRECISION,
    USUAL_PRECISION,
    Choice,
    Findings,
    Recipe,
    ScaleName,
    SetUsed,
    Standing,
    Study,
    TrainedNetwork,
    Training,
    Workplace,
    check_settings,
    keep_settings,
    needed_by,
    noted_precisions,
    runnable,
)
from goldassay.lab.papers.sources import is_made_up, known_sources, lacking_sets, read_sets, with_reasons
from goldassay.lab.training.precision import AUTO, check_choice, choose_precision, unasked_precision
from goldassay.questions.report_frame import describe_environment
from goldassay.report.report import earlier_files, write_page
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.progress import Progress, Steps
    from goldassay.lab.training.job import Job, Watcher
    from goldassay.lab.training.pricing import Price
    from goldassay.report.report import Report


_TRIES = 3
_SHOWN = 5


@dataclass(frozen=True)
class PlannedStudy:
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
    grid: bool = False,
) -> PlannedStudy:
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
        grid: Whether to train with the other settings of the paper's search, too.

    Raises:
        InputError: There is no such study, device or precision, none of its sets is there, one cannot be read, a
            name of `choice` is unknown, there is no grid at this size, a checkpoint is given where none is fine-tuned,
            or the folder was made with other settings.
        MissingDependencyError: The extra `train` is not installed.
    """
    recipe = find_recipe(name)
    if scale not in recipe.SCALES:
        raise InputError(f"the study {name} has no {scale} scale", mend=f"it has {', '.join(recipe.SCALES)}")
    size = recipe.SCALES[scale]
    if grid and not size.grid:
        have = [each for each, one in recipe.SCALES.items() if one.grid]
        mend = f"choose {option('scale', have[-1])}" if have else f"leave out {option('grid')}"
        raise InputError(f"the study {name} has no grid of settings at {scale} scale", mend=mend)
    if grid:
        size = replace(size, trainings=(*size.trainings, *size.grid))
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
    work = Workplace(Path(out), choice.narrowed(size), scale, place, pretrained, seed, steps, absent=absent, grid=grid)
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
    work.narrowed = bool(choice.only)
    if work.narrowed:
        # What is not asked for is not missed.
        missed = needed_by(work.not_run)
        work.absent = {key: why for key, why in absent.items() if key in missed}
    return PlannedStudy(name, recipe, work, _jobs(work, device))


def _check_networks(pretrained: str | None) -> None:
    """Before anything is read or made: that networks can be trained here, and what is to be fine-tuned be one."""
    from goldassay.lab.models import load_network, require_extra

    require_extra()
    if pretrained is not None:
        try:
            load_network(pretrained)
            if Path(pretrained).is_dir():
                from transformers import AutoModelForSequenceClassification

                from goldassay.lab.models.checkpoint import check_kind, open_config, open_tokenizer

                # What is none would else be refused halfway, when the other networks are trained.
                open_tokenizer(pretrained)
                check_kind(AutoModelForSequenceClassification, pretrained, open_config(pretrained))
        except InputError as error:
            raise InputError(
                f"--pretrained {pretrained} is no checkpoint: {error.problem}",
                mend="name a folder that holds config.json, weights and tokenizer.json, or a name on the hub",
            ) from error


def price_study(study: PlannedStudy, workers: int | None, progress: Progress) -> Price:
    """What the trainings of a study will cost, from a short probe of each kind.

    Raises:
        InputError: The study trains nothing.
    """
    from goldassay.lab.training.pricing import price

    if not study.jobs:
        raise InputError(f"the study {study.name} trains nothing at this size", mend="run it")
    return price(study.jobs, workers, progress=progress)


def run_study(
    study: PlannedStudy, workers: int | None = None, scheduler: str | None = None, watcher: Watcher | None = None
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
            comparisons=tuple(with_reasons(each, study.work.missed) for each in found.comparisons),
        )
    return describe(study.name, study.recipe, study.work, study.jobs, findings)


def _check_measurable(study: PlannedStudy) -> None:
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


def _train(study: PlannedStudy, workers: int | None, scheduler: str | None, watcher: Watcher | None) -> None:
    from goldassay.lab.training.job import Failure
    from goldassay.lab.training.workers import run_jobs

    if scheduler is None:
        outcomes = run_jobs(study.jobs, workers, watcher, _TRIES)
    else:
        from goldassay.lab.training.cluster import run_on_cluster
        from goldassay.lab.training.job import Silent

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
    return chosen | {key: names for key, names in named.items() if names} | ({"grid": True} if work.grid else {})


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
    from goldassay.lab.training.many_seeds import plan_jobs
    from goldassay.lab.training.teachers import with_sources

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
    from goldassay.lab.models import full_name, load_network

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


_CONFIG = "config.json"


class Checkpoints:
    """Checkpoints by their folder or name on the hub; the hub is asked once whether it answers."""

    def has(self, name: str) -> bool:
        """Whether a checkpoint can be loaded; nothing is downloaded."""
        if Path(name).is_dir():
            return (Path(name) / _CONFIG).exists()
        from huggingface_hub import HfApi, try_to_load_from_cache
        from huggingface_hub.errors import HfHubHTTPError

        if isinstance(try_to_load_from_cache(name, _CONFIG), str):
            return True
        if not self._online:
            return False
        try:
            return bool(HfApi(endpoint=hub_endpoint()).file_exists(name, _CONFIG))
        except (HfHubHTTPError, OSError):
            return False

    @cached_property
    def _online(self) -> bool:
        return is_hub_reachable()


_PACKAGE = "goldassay.lab.papers"
_PRINTED = "printed"
_STUDIES = "goldassay.studies"


def list_recipes() -> tuple[str, ...]:
    """Names of all studies, those that other distributions add among them, in the order of the alphabet."""
    return tuple(sorted({*_own_recipes(), *names_of(_STUDIES)}))


def _own_recipes() -> tuple[str, ...]:
    path = importlib.import_module(_PACKAGE).__path__
    return tuple(sorted(each.name for each in pkgutil.iter_modules(path) if each.ispkg and each.name != _PRINTED))


def find_recipe(name: str) -> Recipe:
    """The study of this name.

    Raises:
        InputError: There is none; the nearest names are given.
    """
    names = list_recipes()
    if name not in names:
        raise InputError(f"there is no study {name!r}", mend=did_you_mean(name, names))
    own = _own_recipes()
    added = extensions(_STUDIES, taken=own)
    return cast("Recipe", added[name] if name in added else importlib.import_module(f"{_PACKAGE}.{name}"))


# What a claim is called that is held against data in which it was planted.
_AS_PLANTED: Mapping[Standing, Standing] = {"held": "found as planted", "did not hold": "not as planted"}
SCHEMA, SCHEMA_VERSION = "goldassay.study", 1


@dataclass(frozen=True)
class StudyReport:
    """What a study found, able to show itself as a page, as Markdown and as JSON.

    Attributes:
        document: Plain data under the schema "goldassay.study", version 1.
        study: The same, typed.
        tables: Every printed table beside ours, a row a cell, and further tables.
        reports: The reports behind them, by name.
    """

    document: Mapping[str, Any]
    study: Study
    tables: Mapping[str, pl.DataFrame]
    reports: Mapping[str, Report]

    def to_json(self) -> str:
        """The document as JSON, without its times: the same input always gives the same bytes."""
        return as_json({key: value for key, value in self.document.items() if key != "timing"})

    def to_html(self) -> str:
        """One page that needs nothing else."""
        from goldassay.lab.papers.page import render_page

        return render_page(self.study, self.document, self.charts, tuple(self.reports), tuple(self.tables))

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts of its comparisons, and those that it shows of its reports."""
        from goldassay.lab.papers.page import charts

        return charts(self.study, self.reports)

    def to_markdown(self) -> str:
        """Markdown that pastes into a pull request."""
        from goldassay.lab.papers.page import render_markdown

        return render_markdown(self.study)

    def summary(self) -> str:
        """A line a conclusion, for a terminal."""
        from goldassay.lab.papers.page import render_summary

        return render_summary(self.study)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write study.html, .json and .md, timing.json, tables/, figures/ and reports/; return the path of the page.

        Raises:
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        from goldassay.report.charts import draw_pictures

        for name, report in self.reports.items():
            report.save(Path(directory) / "reports" / name)
        texts = {"study.html": self.to_html(), "study.json": self.to_json(), "study.md": self.to_markdown()}
        texts[TIMING_NAME] = as_json(self.document["timing"])
        pictures = draw_pictures(self.charts)
        texts |= {f"figures/{name}.svg": picture.standalone for name, picture in pictures.items()}
        with written_together(directory, earlier_files(Path(directory))) as folder:
            write_page(texts, self.tables, folder)
        return Path(directory) / "study.html"


def describe(name: str, recipe: Recipe, work: Workplace, jobs: list[Job], findings: Findings) -> StudyReport:
    """The document of a study, from what it found."""
    steps, made_up = work.steps, any(map(is_made_up, work.scale.sets.values()))
    conclusions = tuple(
        replace(each, standing=_AS_PLANTED.get(each.standing, each.standing)) if made_up else each
        for each in findings.conclusions
    )
    study = Study(
        title=recipe.TITLE,
        study=name,
        paper=recipe.PAPER,
        scale=work.scale_name,
        scale_note=work.scale.note,
        unprinted=work.scale.unprinted,
        made_up=made_up,
        notes=tuple(findings.notes),
        absent=dict(work.absent),
        not_run=tuple(work.not_run),
        conclusions=conclusions,
        comparisons=findings.comparisons,
        shown=findings.shown,
        n_trainings=len(jobs),
        models=tuple(sorted({job.model_name for job in jobs})),
        networks=tuple(_networks(jobs)),
        inputs=tuple(
            SetUsed(key, len(each), tuple(file.name for file in files), tuple(file.sha256 for file in files))
            for key, each in work.used.items()
            for files in (each.provenance.files,)
        ),
    )
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        **study.to_dict(),
        "settings": {
            "seed": work.seed,
            "scale": work.scale_name,
            "pretrained": work.pretrained,
            "precision": work.precision,
        },
        "environment": describe_environment(trained=bool(jobs)),
        "timing": {
            "started": steps.started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": {step: round(seconds, 3) for step, seconds in steps.seconds.items()},
            "processor_seconds_of_networks": _processor_seconds(jobs),
        },
    }
    plain: dict[str, Any] = to_plain(document)
    tables = {each.name: each.cells for each in findings.comparisons} | dict(findings.tables)
    return StudyReport({**plain, "digest": digest_of(plain)}, study, tables, findings.reports)


def _networks(jobs: list[Job]) -> list[TrainedNetwork]:
    """What was trained, by what the runs call it."""
    of: dict[tuple[str, str, str, str], list[Job]] = {}
    for job in jobs:
        of.setdefault((job.model_name, job.model, job.configuration, job.precision), []).append(job)
    return [
        TrainedNetwork(*own, tuple(sorted({job.objective for job in same})), len({job.seed for job in same}), len(same))
        for own, same in of.items()
    ]


def _processor_seconds(jobs: list[Job]) -> dict[str, float]:
    """How long processors trained each network, by what the runs call it, whenever that was."""
    from goldassay.lab.training.job import DONE, read_json

    found = dict.fromkeys((job.model_name for job in jobs), 0.0)
    for job in jobs:
        found[job.model_name] += (read_json(job.folder / DONE) or {}).get("cpu_seconds", 0.0)
    return found
