"""Instability, asked in Python and in a shell: `measure_instability` and `goldassay instability`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.errors import Interrupted
from goldassay.core.options import Cutoff, Discount, DiscountPart, Groups, Quiet, Reference, Seed, SettingsOrFile, place
from goldassay.questions.run_choice import RunReading

if TYPE_CHECKING:
    from goldassay.report.report import Report

Runs = Annotated[
    Any, place("Predictions of several runs: files or folders in any known format.", "RUNS...", repeat=True)
]


@command()
def measure_instability(
    runs: Runs,
    *,
    reference: Reference = None,
    groups: Groups = None,
    discount: Discount = None,
    discount_part: DiscountPart = None,
    cutoff: Cutoff = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunReading],
) -> Report:
    """Say how far a score moves from seed to seed, and why.

    For each model and dataset: mean and spread over runs with their uncertainty; how much of it comes from single
    examples and how much from examples that flip together; which groups of examples it comes from; which examples
    are unstable and which go together; with checkpoints, how the score moves in training. Writes report.html,
    report.json, report.md, the tables and the figures, and prints a verdict and what it rests on.

    Note:
        Runs are a path, `Runs`, or a table with a row a prediction (a frame, Arrow table, `datasets.Dataset` or list of
        dicts), or several of these. One run of a model has a score with an interval over examples, and a spread that is
        not measurable. Sets of runs are read and measured one after the other: memory holds the largest of them.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The runs cannot be read, or the reference or a group column is not there.
        Interrupted: Ctrl-C after a first set of runs was finished; its `report` is that on what is finished.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.instability.measuring import InstabilityChoice
    from goldassay.questions.instability.question import study_instability

    asked = InstabilityChoice(reference, groups, keep_finished=True)
    report = study_instability(
        runs,
        asked,
        settings=chosen(settings, seed),
        quiet=quiet,
        discount=discount,
        discount_part=discount_part,
        cutoff=cutoff,
        **reading,
    )
    # Curves without predictions are read in one go.
    if left := report.document["instability"].get("interrupted"):
        raise Interrupted(
            f"the report on the {left['finished']} of {left['of']} sets of runs that were finished", report
        )
    return report
