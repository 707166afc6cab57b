"""What comes of a job, and who is told how it goes."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from goldassay.core.errors import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from goldassay.lab.training.job import Job


# How many training rows a network did not see to their end is kept under this name, which no dataset has.
TRAINING_ROWS = "/training rows"


@dataclass(frozen=True)
class Done:
    """What came of a job.

    Attributes:
        name: Of the job.
        scores: By test set, then by metric; NaN where one is undefined.
        n_examples: By test set.
        n_parameters: Weights of the network, word vectors among them.
        steps: That the network was trained for.
        selected_step: Whose weights the final evaluation and the records are of.
        seconds: That the training and the evaluations took, over all processes that worked on it.
        cpu_seconds: Of processors, of all its threads; what it costs however busy the machine is.
        cut: By test set, how many examples have a text that the network did not see to its end; of the training rows
            under the name `TRAINING_ROWS`.
        objective: What it says of itself, and of the models beside the network; see `describe_objective`.
        words: Where there is a file of word vectors: how many words the network knows, and how many are found in it.
        skipped: Whether it was already there.
    """

    name: str
    scores: dict[str, dict[str, float]]
    n_examples: dict[str, int]
    n_parameters: int
    steps: int
    selected_step: int
    seconds: float
    cpu_seconds: float
    cut: dict[str, int] = field(default_factory=dict)
    objective: dict[str, Any] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    skipped: bool = False

    @property
    def accuracy(self) -> dict[str, float]:
        """By test set, of those whose answers are labels."""
        return {name: found["accuracy"] for name, found in self.scores.items() if "accuracy" in found}


@dataclass(frozen=True)
class Failure:
    """A job that could not be done.

    Attributes:
        name: Of the job.
        line: Why.
        passing: Whether it may go well another time: its process died, or there was no memory.
        memory: Whether there was no memory.
        tries: How often it was tried.
    """

    name: str
    line: str
    passing: bool = False
    memory: bool = False
    tries: int = 1


class Watcher(Protocol):
    """Who is told how jobs go; called from one thread at a time."""

    def going(self, job: Job, step: int, total: int) -> None:
        """A job is at a step."""

    def done(self, job: Job, done: Done) -> None:
        """A job is done."""

    def again(self, job: Job, failure: Failure) -> None:
        """A try failed, and the job is tried again."""

    def failed(self, job: Job, failure: Failure) -> None:
        """A job failed; the others go on."""


class Silent:
    """A watcher that does nothing."""

    def going(self, job: Job, step: int, total: int) -> None:
        """See `Watcher`."""

    def done(self, job: Job, done: Done) -> None:
        """See `Watcher`."""

    def again(self, job: Job, failure: Failure) -> None:
        """See `Watcher`."""

    def failed(self, job: Job, failure: Failure) -> None:
        """See `Watcher`."""


class Report(Protocol):
    """Where a job says how far it is."""

    def __call__(self, step: int, total: int) -> None:
        """Say that `step` of `total` steps are done."""


def unheard(step: int, total: int) -> None:
    """Say nothing."""


class Bars:
    """A bar for all jobs and one for each that is under way; a line for each that is done.

    Args:
        bars: To draw with.
        console: To write lines to.
        n_jobs: How many there will be.
    """

    def __init__(self, bars: Progress, console: Console, n_jobs: int) -> None:
        self.bars, self.console, self.n_jobs = bars, console, n_jobs
        self.finished = 0
        self.all = bars.add_task("runs", total=n_jobs)
        self.tasks: dict[str, TaskID] = {}

    def going(self, job: Job, step: int, total: int) -> None:
        """Move a job's bar."""
        if job.name not in self.tasks:
            self.tasks[job.name] = self.bars.add_task(job.name, total=total)
        self.bars.update(self.tasks[job.name], completed=step)
        self._advance()

    def done(self, job: Job, done: Done) -> None:
        """Say what a job came to."""
        scores = ", ".join(f"{name} {_points(found)}" for name, found in done.scores.items())
        self._end(job, f"{scores}{' (was there)' if done.skipped else _cost(done)}")

    def again(self, job: Job, failure: Failure) -> None:
        """Say why a job begins again."""
        if job.name in self.tasks:
            self.bars.remove_task(self.tasks.pop(job.name))
        self._print(f"{job.name} is tried again: {failure.line}")

    def failed(self, job: Job, failure: Failure) -> None:
        """Say why a job failed."""
        self._end(job, f"failed: {failure.line}")

    def _end(self, job: Job, outcome: str) -> None:
        if job.name in self.tasks:
            self.bars.remove_task(self.tasks.pop(job.name))
        self.finished += 1
        self._advance()
        self._print(f"[{self.finished}/{self.n_jobs}] {job.name}: {outcome}")

    def _advance(self) -> None:
        # Parts of jobs count too: else the time left would stand still until the first one is done.
        begun = {task.id: task.percentage / 100 for task in self.bars.tasks}
        self.bars.update(self.all, completed=self.finished + sum(begun[task] for task in self.tasks.values()))

    def _print(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False)


def over_runs(row: Mapping[str, Any]) -> str:
    """Mean and standard deviation of a metric, of a row of `many_seeds.summarize`."""
    spread = "" if row["sd"] is None else f" (SD {100 * row['sd']:.2f})"
    return f"{row['metric'].replace('_', ' ')} {100 * row['mean']:.2f}{spread} over {several(row['n_runs'], 'run')}"


def several(number: int, noun: str) -> str:
    """So many of something, one of it in the singular."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cost(done: Done) -> str:
    return f" in {done.seconds:.0f} s, {done.cpu_seconds:.1f} s of a processor"


def _points(scores: dict[str, float]) -> str:
    """Accuracy as the bare number that it is taken for, other metrics with their names."""
    return " ".join(
        f"{100 * value:.2f}" if name == "accuracy" else f"{name.replace('_', ' ')} {100 * value:.2f}"
        for name, value in scores.items()
    )


def warn_of_precision(jobs: Sequence[Job]) -> None:
    """Say of jobs in 16 bits that this machine does them more slowly than in 32, if it does."""
    from goldassay.lab.training.precision import multiplies_bfloat16

    devices = {job.device for job in jobs if job.precision == "bfloat16"}
    if not all(multiplies_bfloat16(device) for device in devices):
        sys.stderr.write(
            "goldassay: warning: this machine has no instructions for products of 16 bits: bfloat16 can take many "
            f"times as long as float32, which {option('precision', 'auto')} takes here\n"
        )


@contextmanager
def bars(n_jobs: int) -> Iterator[Bars]:
    """Bars while the jobs are under way; where standard error is no terminal, lines alone."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
    console = Console(file=sys.stderr, soft_wrap=True)
    with RichProgress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        yield Bars(drawn, console, n_jobs)
