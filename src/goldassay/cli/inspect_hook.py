"""An extension of inspect_ai: after an evaluation, print how many answers have a score, and the scores with intervals.

inspect_ai finds this module by the entry point of its own group, and nothing else needs it. With
`GOLDASSAY_INSPECT=0` nothing is registered: a hook that is registered, even if not enabled, is announced at each start.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from inspect_ai.hooks import EvalSetEnd, RunEnd

__all__ = ["VARIABLE", "folder_of", "report_folder"]

VARIABLE = "GOLDASSAY_INSPECT"
_OFF = ("", "0", "false", "no", "off")


def folder_of(place: str) -> str | None:
    """A folder of logs as a path; None where it is not on this machine, as s3:// is not."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return unquote(parts.path)
    # A drive of Windows looks like a scheme of one letter.
    return place if len(parts.scheme) < 2 else None


def report_folder(place: str) -> list[str]:
    """How many answers of a folder of logs have a score, and what `goldassay runs scores` says; or why not."""
    from goldassay.cli.lines import denominator_lines, score_lines
    from goldassay.core.errors import SHELL, GoldassayError, entered, one_line
    from goldassay.questions.answered.question import study_answered
    from goldassay.questions.gating import load_settings
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.run_scores import score_runs

    folder = folder_of(place)
    if folder is None:
        return [f"goldassay: {place} is not on this machine: copy the logs, and give goldassay runs scores the folder"]
    with entered(SHELL):
        choice, settings = RunChoice(format="inspect"), load_settings(None)
        try:
            found = score_runs(folder, choice, settings)
        except GoldassayError as error:
            return [one_line(f"goldassay: {error}")]
        try:
            answers = denominator_lines(study_answered(folder, choice, settings, quiet=True)[1].found.runs)
        except GoldassayError as error:
            # One log that is broken is named among the scores, too, and the others are scored.
            answers = [one_line(f"answers  are not counted: {error}")]
        return [*answers, f"goldassay runs scores {folder}", *score_lines(found)]


def _show(place: str) -> None:
    for line in report_folder(place):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _register() -> None:
    from inspect_ai.hooks import Hooks, hooks
    from inspect_ai.util import display_type

    def show(place: str) -> None:
        # The full display has the terminal until the evaluation has returned.
        if display_type() == "full":
            atexit.register(_show, place)
        else:
            _show(place)

    @hooks(
        name="goldassay_scores",
        description="answers without a score, scores with intervals, and comparisons, of the log folder",
    )
    class Scores(Hooks):  # type: ignore[misc, unused-ignore]  # inspect_ai is not installed where types are checked
        """Prints what a log folder says when an evaluation, or a set of them, has ended."""

        async def on_run_end(self, data: RunEnd) -> None:
            """After `inspect eval`; of an eval set the folder is shown once, at its end."""
            logs: Any = data.logs
            if data.eval_set_id is None and data.exception is None and logs:
                for folder in dict.fromkeys(log.location.rpartition("/")[0] or "." for log in logs):
                    show(folder)

        async def on_eval_set_end(self, data: EvalSetEnd) -> None:
            """After `inspect eval-set`."""
            show(data.log_dir)


# Whoever imports it without inspect_ai, to document it say, has nothing to register with.
if sys.modules.get("inspect_ai") is not None and os.environ.get(VARIABLE, "1").strip().lower() not in _OFF:
    _register()
