"""Shift as a study of its own: from runs on several sets, or from data to train on, to a report."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.arguments import check_whole
from goldassay.core.entry_point import option, place, right_labels
from goldassay.core.errors import InputError
from goldassay.data.reading import load_data
from goldassay.data.roles import naming
from goldassay.questions.inputs import named_sources
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import run_paths
from goldassay.questions.shift.question import report_generalization
from goldassay.questions.shift.training import report_trained

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.report.report import Report

__all__ = ["study_shift"]


def study_shift(
    train: Any,
    test: Any,
    runs: Any,
    choice: RunChoice,
    *,
    model: str | Sequence[str] | None,
    seeds: int,
    texts: Any,
    features: bool,
    in_distribution: str | Mapping[str, str] | None,
    parameters: Mapping[str, int] | None,
    trained_on: Any,
    out: str | os.PathLike[str] | None,
    **measuring: Any,
) -> Report:
    """Measure shift, as `measure_shift` does.

    Raises:
        InputError: As `measure_shift`.
    """
    check_parts(train, test, runs, texts, trained_on)
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
                sizes=parameters,
                **measuring,
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
            sizes=parameters,
            **measuring,
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
            mend=naming(found.examples, "text", besides=["example_id"]),
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
