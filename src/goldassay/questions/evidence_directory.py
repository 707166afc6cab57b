"""Where runs are kept while they are made; tried before the long work starts."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.files import output_error

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


@contextmanager
def evidence_directory(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder `out/runs`, or one that is gone afterwards where no folder is given.

    Raises:
        OutputError: It cannot be made or written to.
        KeyboardInterrupt: It was interrupted; the message says how many runs are kept.
    """
    if out is None:
        with tempfile.TemporaryDirectory(prefix="goldassay-") as place:
            yield Path(place)
        return
    directory = Path(out) / "runs"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise output_error(error, Path(out)) from error
    try:
        yield directory
    except KeyboardInterrupt:
        kept = len(list(directory.glob("*.parquet")))
        note = f"{kept} finished runs are kept in {directory}" if kept else ""
        raise KeyboardInterrupt(note) from None
