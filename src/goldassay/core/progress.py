"""Progress bars on standard error, for steps that take longer than a moment."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from goldassay.core.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator


class Progress(Protocol):
    """Where a long step says how far it is; a measure never sees more than this."""

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` parts are finished."""


def silent(done: int, total: int) -> None:
    """Say nothing: the progress of library calls and of `--quiet`."""


class Steps:
    """The named steps of a job: shows a bar for each, and keeps when it began and the seconds each took.

    Args:
        quiet: Show nothing. Seconds are kept all the same.
        of: What the steps are of, said before each where there are several such jobs.
    """

    def __init__(self, quiet: bool = True, of: str = "") -> None:
        self.quiet = quiet
        self.of = of
        self._thread = threading.get_ident()
        self._is_stopped = False
        self.started = datetime.now(UTC)
        self.seconds: dict[str, float] = {}

    def stop(self) -> None:
        """End the steps of other threads where they next say how far they are: nothing else can interrupt them."""
        self._is_stopped = True

    def _said(self, progress: Progress) -> Progress:
        def say(done: int, total: int) -> None:
            if self._is_stopped and threading.get_ident() != self._thread:
                raise KeyboardInterrupt
            progress(done, total)

        return say

    def note(self, line: str) -> None:
        """Say a line of what was done otherwise than asked for; with `--quiet` nothing."""
        if not self.quiet:
            sys.stderr.write(f"{one_line(line)}\n")

    @contextmanager
    def step(self, name: str, *, of_bytes: bool = False) -> Iterator[Progress]:
        """Run one step; the value given is the `Progress` to hand to the work.

        Args:
            name: Of the step.
            of_bytes: Whether its parts are bytes: the bar then says how fast they are read, and the time left.
        """
        start = time.perf_counter()
        try:
            if self.quiet:
                yield self._said(silent)
            else:
                # A terminal has room for one bar: that of the thread which others work for.
                is_shown = threading.get_ident() == self._thread
                with _bar(f"{self.of}: {name}" if self.of else name, of_bytes, is_shown) as progress:
                    yield self._said(progress)
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@contextmanager
def _bar(name: str, of_bytes: bool, is_shown: bool) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as RichProgress

    columns: tuple[ProgressColumn, ...] = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    if of_bytes:
        columns += (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    columns += (TimeElapsedColumn(),)
    console = Console(file=sys.stderr)
    with RichProgress(
        *columns, console=console, transient=True, disable=not (is_shown and console.is_terminal)
    ) as bars:
        task = bars.add_task(name, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        yield advance
    if not console.is_terminal:
        console.print(f"{name} done", highlight=False)
