"""Where a report goes: its folder, with what is for papers. An interruption loses nothing that is finished."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import InterruptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.report.report import Report


def save_report(report: Report, out: Path, figures: str | None, latex: bool) -> Path:
    """Write the report and what was asked for papers, and return the path of the page.

    Interrupted while figures are drawn, the report is written without them; interrupted while it is written, it is
    written to the end.

    Raises:
        InterruptionError: It was interrupted; the message says what is kept.
    """
    from goldassay.report.paper import paper_files

    kept = f"the report is in {out}"
    interrupted = False
    try:
        also = paper_files(report.paper_charts, figures, report.paper_tables if latex else ())
    except KeyboardInterrupt:
        also, interrupted, kept = {}, True, f"{kept}, without what is for papers"
    with _put_off() as signals:
        page = report.save(out, also)
    if interrupted or signals:
        raise InterruptionError(kept)
    return page


@contextmanager
def _put_off() -> Iterator[list[int]]:
    """Note a first Ctrl-C or request to end instead of obeying it; a second one is obeyed."""
    noted: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def note(number: int, _frame: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    for number in numbers:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
