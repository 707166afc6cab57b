"""Whose a job's folder is, and what came of a job that is done."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.training.configured import made_with
from goldassay.training.job_folder import DONE, FILES, claim, read_json
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
    """What came of a job that is done; None if it is not, or if a file that it left is lost or cut short.

    Raises:
        InputError: Its folder was made with other settings.
    """
    done = read_json(job.folder / DONE) or {}
    files = done.pop(FILES, {})
    if done.keys() != {each.name for each in fields(Done)} - {"skipped"}:
        # Not there, or by an earlier version that said other things of a job: done again, it comes out the same.
        return None
    if any(_size(Path(job.out) / path) != size for path, size in files.items()):
        # Half of its answers would pass for all of them; done again, it comes out the same.
        return None
    claim(job.folder, made_with(job))
    return replace(Done(**done), skipped=True)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
