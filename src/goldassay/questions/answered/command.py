"""Whether every answer was scored, asked in Python and in a shell: `measure_answered` and `goldassay answered`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.options import Quiet, Reparse, Seed, SettingsOrFile, place
from goldassay.questions.run_choice import RunChoice, RunReading

if TYPE_CHECKING:
    from goldassay.report.report import Report


@command(without=("missing",))
def measure_answered(
    runs: Annotated[Any, place("Predictions or logs: files or folders; or a board.", "RUNS...", repeat=True)],
    *,
    seed: Seed = None,
    reparse: Reparse = False,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunReading],
) -> Report:
    """Say whether every answer was scored, and by which rule.

    Of each run how many answers are unparsed, empty, truncated, in error, unscored or missing; its score with these as
    wrong, without them, and as right, beside the number that its log gives; whether they are harder for other systems;
    and which systems change their order with the rule.

    Note:
        Runs are a path, `Runs`, a table with a row a prediction, or several of these; or the path of a board. Nothing
        is refused for what is missing.

    Returns:
        The report; its tables are `answered`, a row a run; `answered_pairs`, a row for two systems whose order depends
        on the rule; `answered_statuses`, one for two of which one leaves out more; `readings`, a run's texts read anew;
        and with `reparse` `examples`, a row an answer to look through, which `goldassay view` opens.

    Raises:
        InputError: The runs cannot be read, or have no texts that `reparse` could read.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.answered.question import study_answered

    report, found = study_answered(runs, RunChoice.of(**reading), chosen(settings, seed), quiet=quiet, reparse=reparse)
    return replace(report, result=found)
