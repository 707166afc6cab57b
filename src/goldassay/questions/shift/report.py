"""Shift as a study of its own: from runs on several sets, or from data to train on, to a report."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.arguments import check_whole
from goldassay.core.doors import option, place, right_labels
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.lab.training.many_seeds import load_data
from goldassay.questions.inputs import named_sources
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import run_paths
from goldassay.questions.shift.gap_report import report_generalization
from goldassay.questions.shift.training import report_trained

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.questions.run_choice import RunFormat
    from goldassay.questions.shift.measures.set_metrics import Metric
    from goldassay.questions.shift.training import Watched
    from goldassay.report.report import Report

__all__ = ["measure_shift", "study_shift"]


@takes("shift generalization")
def measure_shift(
    train: Any = None,
    test: Any = None,
    runs: Any = None,
    *,
    model: str | Sequence[str] | None = None,
    seeds: int = 3,
    texts: Any = None,
    features: bool = False,
    in_distribution: str | Mapping[str, str] | None = None,
    metric: Metric | None = None,
    floor: float | None = None,
    parameters: Mapping[str, int] | None = None,
    trained_on: Any = None,
    out: str | os.PathLike[str] | None = None,
    n_draws: int = 1000,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    **reading: Unpack[RunFormat],
) -> Report:
    """Measure what scores lose on other distributions: `goldassay shift generalization`.

    Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts.

    Args:
        train: Training data, to train models here; None with `runs`.
        test: With `train` what to evaluate on, {name: data} or a list, first the set of its own distribution.
        runs: Predictions of the same models on two datasets or more: paths, each of which may be NAME=PATH, `Runs`, or
            tables with a row a prediction; {name of the dataset: one of these}, or a list.
        model: With `train` which models, several as a list or separated by commas; with `runs` this model only, with
            * or ? all that match, as runs of one.
        seeds: With `train` how many runs of each model.
        texts: With `train` texts without labels of the task, as `test`, which are predicted for shift detection alone.
        features: With `train` and a network: predict the training data too, and keep the features of every text.
        in_distribution: The dataset of the models' own distribution, or {training set: its dataset}; by default the
            first `test`, with `runs` the one that is named ID or like the training set.
        metric: By default what the data hold: accuracy, the mean of graded scores, both correlations of numbers.
        floor: What knows nothing scores, for the mean of graded scores; without it no loss is called harmless.
        parameters: {model: how many it has}, for the gap against size.
        trained_on: With `runs` what the models were trained on: texts of other sets that stand there are left out.
        out: With `train` the folder in which runs are kept as they are made, in `out/runs`, and used again.
        n_draws: Of the intervals.
        seed: Of all draws; by default that of the settings.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.
        reading: How runs are read: `gold`, `columns`, `labels`, `label_names`, `align`, `checkpoint`, `split`,
            `condition`, `train_set`, `format`, `grades`,
            `pool_configurations`, as for `read_runs`; `gold` may be
            {dataset: data}, and gives texts too. `columns` holds for data as well.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: Neither or both of `train` and `runs` are given, or what is given cannot be read or measured.
    """
    return study_shift(
        train,
        test,
        runs,
        model=model,
        seeds=seeds,
        texts=texts,
        features=features,
        in_distribution=in_distribution,
        metric=metric,
        floor=floor,
        parameters=parameters,
        trained_on=trained_on,
        out=out,
        n_draws=n_draws,
        seed=seed,
        settings=settings,
        quiet=quiet,
        **reading,
    )


def study_shift(
    train: Any,
    test: Any,
    runs: Any,
    *,
    model: str | Sequence[str] | None,
    seeds: int,
    texts: Any,
    features: bool,
    in_distribution: str | Mapping[str, str] | None,
    metric: Metric | None,
    floor: float | None,
    parameters: Mapping[str, int] | None,
    trained_on: Any,
    out: str | os.PathLike[str] | None,
    n_draws: int,
    seed: int | None,
    settings: Settings | None,
    quiet: bool,
    watched: Watched | None = None,
    **reading: Unpack[RunFormat],
) -> Report:
    """Measure shift: what the command and `measure_shift`, whose arguments these are, have in common.

    `watched` opens, for a number of trainings of a network, what is told how they go.

    Raises:
        InputError: As `measure_shift`.
    """
    check_parts(train, test, runs, texts, trained_on)
    choice = RunChoice.of(**reading)
    options: dict[str, Any] = {
        "metric": metric,
        "floor": floor,
        "sizes": parameters,
        "n_draws": n_draws,
        "seed": seed,
        "settings": settings,
        "quiet": quiet,
    }
    if not isinstance(in_distribution, (str, Mapping, type(None))):
        raise InputError("what is in distribution has no name", mend=f"give {option('in_distribution', 'NAME')}")
    own = {"": in_distribution} if isinstance(in_distribution, str) else dict(in_distribution or {})
    for name, size in (parameters or {}).items():
        check_whole(f"the number of parameters of {name}", size, 1)
    if train is None:
        named = model if model is None or isinstance(model, str) else ",".join(model)
        with run_paths(runs) as paths:
            return report_generalization(
                paths,
                in_distribution=own,
                choice=replace(choice, model=named),
                trained_on=_training(trained_on, choice),
                **options,
            )
    models = _names(model)
    if not models:
        raise InputError("no model is named", mend=f"name some with {option('model', 'bow,average,lstm')}")
    with _workplace(out) as folder:
        return report_trained(
            train,
            named_sources(test),
            named_sources(texts),
            models=models,
            seeds=seeds,
            out=folder,
            in_distribution=own,
            columns=choice.columns,
            features=features,
            watched=watched,
            **options,
        )


def check_parts(train: Any, test: Any, runs: Any, texts: Any, trained_on: Any) -> None:
    """Refuse what does not go together: models are trained here, or their runs are given.

    Raises:
        InputError: The message names the parameters.
    """
    has_runs = runs is not None
    if (train is None) != has_runs:
        raise InputError(
            "training data and runs were both given" if has_runs else "neither training data nor runs were given",
            mend=f"give {place('train')} with {option('test')}, or predictions with {option('runs')}",
        )
    for name, value in (("test", test), ("texts", texts)):
        if value is not None and train is None:
            raise InputError(
                f"{option(name)} is for training models",
                mend=f"give the texts of datasets with {right_labels('NAME=FILE')}",
            )
    if trained_on is not None and train is not None:
        raise InputError(
            f"{option('trained-on')} is for runs made elsewhere",
            mend=f"leave it out: {place('train')} is what is trained on",
        )


def _names(model: str | Sequence[str] | None) -> list[str]:
    parts = (model or "").split(",") if model is None or isinstance(model, str) else model
    if not isinstance(parts, (list, tuple)):
        raise InputError("no model is named", mend=f"name some with {option('model', 'bow,average,lstm')}")
    return [part.strip() for part in parts if part.strip()]


def _training(data: Any, choice: RunChoice) -> Dataset | None:
    if data is None:
        return None
    found = load_data(data, "train", dict(choice.columns) or None, argument="trained_on")
    if not found.text_columns:
        raise InputError(
            "the training data have no texts",
            file=found.source,
            mend=f"name their column with {option('columns', 'text=NAME')}",
        )
    return found


@contextmanager
def _workplace(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder that was named, or one that is gone afterwards."""
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="goldassay-") as folder:
        yield Path(folder)
