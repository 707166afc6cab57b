"""Sensitivity, asked in Python and in a shell: `measure_sensitivity` and `goldassay sensitivity`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.options import Claim, Quiet, Seed, SettingsOrFile, place
from goldassay.questions.run_choice import RunChoice, RunReading

if TYPE_CHECKING:
    from goldassay.report.report import Report


@command(without=("pool_configurations",))
def measure_sensitivity(
    runs: Annotated[Any, place("Predictions in several configurations: files or folders.", "RUNS...", repeat=True)],
    *,
    claim: Claim = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunReading],
) -> Report:
    """Say how far a score moves with the configuration: prompt, shots, temperature, solver.

    For each model and dataset: the spread over configurations without that over repeats, the best and the worst
    with what picking them gives on examples that they were not picked on, and how many pairs of models change their
    order. Fewer than five configurations are never sound; without repeats chance and configuration cannot be
    separated. Examples are the same in all configurations.

    Note:
        Runs are a path, `Runs`, or a table with a row a prediction, whose settings stand in columns config_NAME, or
        several of these. `model` is a model's own name.

    Returns:
        The report; its table `configurations` has a row a configuration, and `.save(directory)` writes its files.

    Raises:
        InputError: The runs cannot be read, no model has two configurations, or these cover different examples.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.inputs import run_paths
    from goldassay.questions.sensitivity.question import study_sensitivity

    settings = chosen(settings, seed)
    with run_paths(runs, named=False) as paths:
        report, found = study_sensitivity(paths, RunChoice.of(**reading), claim, settings, quiet=quiet)
    return replace(report, result=found)
