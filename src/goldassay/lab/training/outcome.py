"""What comes of a job, and who is told how it goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
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
