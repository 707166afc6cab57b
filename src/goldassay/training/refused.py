"""A training that is refused leaves nothing: neither its copies of the data nor folders of jobs that never began."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import GoldassayError
from goldassay.training.held_table import DATA
from goldassay.training.job import FOLDER
from goldassay.training.job_folder import LOCK, SETTINGS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


@contextmanager
def nothing_left_if_refused(out: str | os.PathLike[str]) -> Iterator[None]:
    """Remove what a command made in a folder that was not there, if it is refused before anything was trained."""
    folder = Path(out)
    was_there = folder.exists()
    try:
        yield
    except GoldassayError:
        if not was_there and not _has_begun(folder):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _has_begun(folder: Path) -> bool:
    """Whether a folder holds more than data to train on and settings of jobs."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return any(
        not (path.parts[0] == DATA or (path.parts[0] == FOLDER and path.name in (LOCK, SETTINGS))) for path in files
    )
