"""Whose a job's folder is, and what came of a job that is done."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from goldassay.training.configured import made_with
from goldassay.training.job_folder import DONE, claim, read_json
from goldassay.training.outcome import Done

if TYPE_CHECKING:
    from goldassay.training.job import Job


def begin(job: Job) -> Done | None:
    """Claim a job's folder; what came of it, if it is done.

    Raises:
        InputError: Its folder was made with other settings.
    """
    claim(job.folder, made_with(job))
    return finished(job)


def finished(job: Job) -> Done | None:
    """What came of a job that is done; None if it is not.

    Raises:
        InputError: Its folder was made with other settings.
    """
    done = read_json(job.folder / DONE)
    if done is None or done.keys() != {each.name for each in fields(Done)} - {"skipped"}:
        # Not there, or by an earlier version that said other things of a job: done again, it comes out the same.
        return None
    claim(job.folder, made_with(job))
    return replace(Done(**done), skipped=True)
