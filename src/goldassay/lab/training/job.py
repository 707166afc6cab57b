"""Seeds: one for each source of randomness, so that each can be varied alone.

One training: what it is, in plain values that JSON holds, so that any process can do it.

The folder of one job: whose it is, what it was made with, what is done.

What comes of a job, and who is told how it goes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.files import output_error, written_whole
from goldassay.core.naming import did_you_mean
from goldassay.lab.models import OWN_OBJECTIVES
from goldassay.lab.models.configuration import DESK
from goldassay.lab.models.vocabulary import VectorFile
from goldassay.lab.training.snapshots import Snapshot, TeacherSnapshot
from goldassay.runs.run_parts import JOBS
from goldassay.runs.store import LOCK, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.progress import Progress, TaskID


SOURCES = ("initialization", "order", "dropout", "subset")


@dataclass(frozen=True)
class Seeds:
    """The seeds of one run.

    Attributes:
        initialization: Of fresh weights.
        order: Of the training rows, in each epoch anew.
        dropout: Of what dropout leaves out, in each step anew.
        subset: Of which training rows are used, where not all are.

    Source: Bouthillier et al. 2021, who show that the sources differ in how much they move a score.
    """

    initialization: int
    order: int
    dropout: int
    subset: int

    @classmethod
    def varying(cls, seed: int, sources: Sequence[str] = SOURCES) -> Seeds:
        """One seed for the sources that vary; all others have seed 0, whatever the run.

        Raises:
            InputError: A source is not known, none is given, or the seed is no whole number from 0 to 2**32 - 1.
        """
        if not sources:
            raise InputError("nothing varies from run to run", mend=f"choose from {', '.join(SOURCES)}")
        for source in sources:
            if source not in SOURCES:
                raise InputError(f"there is no source of randomness {source!r}", mend=did_you_mean(source, SOURCES))
        if not 0 <= seed < 2**32:
            raise InputError(f"the seed is {seed}", mend="give a whole number from 0 to 2**32 - 1")
        return cls(**{source: seed if source in sources else 0 for source in SOURCES})

    def generator(self, source: str, *counters: int) -> np.random.Generator:
        """A generator for one source, and within it for one epoch or step."""
        return np.random.default_rng(self._sequence(source, counters))

    def number(self, source: str, *counters: int) -> int:
        """A number for torch's generator, likewise.

        What is drawn at a step depends on the seed and the step alone, not on what was drawn before. So a run that
        goes on from a checkpoint needs no saved state of any generator, and one source never disturbs another.
        """
        return int(self._sequence(source, counters).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _sequence(self, source: str, counters: tuple[int, ...]) -> np.random.SeedSequence:
        return np.random.SeedSequence([getattr(self, source), zlib.crc32(source.encode()), *counters])

    def to_dict(self) -> dict[str, int]:
        """By source."""
        return dataclasses.asdict(self)


RECORDS = ("predictions", "logits", "embeddings", "relevance", "dynamics")
PLAIN = "cross_entropy"
# What is minimized where nothing else is asked for; all other objectives are part of the name of a run.
_UNNAMED = (PLAIN, "squared_error", "span_cross_entropy")


@dataclass(frozen=True)
class Job:
    """One model, trained once on one dataset under one condition, and evaluated.

    Attributes:
        model: Name of a network, or a checkpoint's folder or name on the hub.
        train: What to train on.
        tests: What to evaluate on.
        out: Folder of the runs.
        seed: Of this run.
        condition: Which part of its input the model sees.
        dev: What to choose the best epoch by, or None to train all epochs.
        configuration: "desk" or "published".
        changes: Settings of the network or its recipe that replace those of the configuration, by name.
        vectors: Word vectors to start from, or None.
        objective: What is minimized.
        objective_changes: Settings of the objective that replace its defaults, by name.
        bias: What a bias model says of the examples, for objectives that take it, or None.
        teacher: What a teacher says of the training rows, for objectives that learn from one; None has each run train
            its own.
        vary: Sources of randomness that follow the seed; the others have seed 0.
        rows: Draw so many training rows, without replacement; None takes all.
        bootstrap: Draw as many rows as there are, with replacement.
        weights: Column of the training data with a weight for each example, or None.
        checkpoint_every: Evaluate after so many steps, too; None evaluates at the end only.
        record: Some of `RECORDS`.
        precision: "float32" or "bfloat16", of training and evaluation.
        deterministic: The same bits each time on one GPU too, at some cost; on a CPU they are the same anyway.
        device: "auto", "cpu", "cuda" or "mps".
        threads: Of torch, on CPU.
        state_every: Minutes after which the state of the training is written again; 0 writes it after each step.
        label: What the runs call the model; by default its name.
    """

    model: str
    train: Snapshot
    tests: tuple[Snapshot, ...]
    out: str
    seed: int = 0
    condition: str = "paired"
    dev: Snapshot | None = None
    configuration: str = DESK
    changes: Mapping[str, Any] = field(default_factory=dict)
    vectors: VectorFile | None = None
    objective: str = PLAIN
    objective_changes: Mapping[str, Any] = field(default_factory=dict)
    bias: TeacherSnapshot | None = None
    teacher: TeacherSnapshot | None = None
    vary: tuple[str, ...] = SOURCES
    rows: int | None = None
    bootstrap: bool = False
    weights: str | None = None
    checkpoint_every: int | None = None
    record: tuple[str, ...] = ("predictions", "logits")
    precision: str = "float32"
    deterministic: bool = False
    device: str = "auto"
    threads: int = 1
    state_every: float = 10.0
    label: str | None = None

    @property
    def model_name(self) -> str:
        """What the runs call the model."""
        if self.label:
            return self.label
        place = Path(self.model)
        name = place.resolve().name if place.is_dir() else self.model
        if self.configuration != DESK:
            name = f"{name}-{self.configuration}"
        usual = (OWN_OBJECTIVES[self.model],) if self.model in OWN_OBJECTIVES else _UNNAMED
        return name if self.objective in usual else f"{name}+{self.objective}"

    @property
    def seeds(self) -> Seeds:
        """One for each source of randomness."""
        return Seeds.varying(self.seed, self.vary)

    @property
    def name(self) -> str:
        """What tells this run from others in the same folder: model, training set, condition, seed."""
        return "/".join((self.model_name, self.train.name, self.condition, f"seed={self.seed}"))

    @property
    def folder(self) -> Path:
        """Where its checkpoints, weights and records lie."""
        readable = re.sub(r"[^\w.-]+", "-", self.name.replace("/", "__").replace("=", "-")).strip("-.")
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
        return Path(self.out) / JOBS / f"{readable[:120]}__{digest}"

    def settings(self) -> dict[str, Any]:
        """What decides the result, given by the user; where it is computed, and how often that is kept, does not.

        Two jobs of the same name with different settings cannot share a folder.
        """
        plain = self.to_dict()
        for name in ("out", "device", "threads", "state_every", "deterministic"):
            del plain[name]
        for name in ("train", "dev", "tests", "vectors", "bias", "teacher"):
            plain[name] = _without_paths(plain[name])
        return plain | {"seeds": self.seeds.to_dict()}

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Job:
        """From what `to_dict` gave."""
        plain = dict(content)
        plain["train"] = Snapshot(**plain["train"])
        plain["dev"] = None if plain["dev"] is None else Snapshot(**plain["dev"])
        plain["vectors"] = None if plain["vectors"] is None else VectorFile(**plain["vectors"])
        for name in ("bias", "teacher"):
            plain[name] = None if plain[name] is None else TeacherSnapshot(**plain[name])
        plain["tests"] = tuple(Snapshot(**test) for test in plain["tests"])
        for name in ("vary", "record"):
            plain[name] = tuple(plain[name])
        return cls(**plain)


def _without_paths(held: Any) -> Any:
    if isinstance(held, list):
        return [_without_paths(each) for each in held]
    return None if held is None else {"name": held["name"], "sha256": held["sha256"]}


DONE, STATE = "done.json", "state.safetensors"
MODEL, WEIGHTS = "model", "weights.safetensors"
# In DONE: {path below the folder of the runs: how many bytes it has}.
FILES = "files"
# Of a digest, where it is shown.
_DIGITS = 12


def read_json(path: Path) -> dict[str, Any] | None:
    """What a JSON file holds; None where there is none.

    Raises:
        InputError: The file is damaged.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise InputError("the file is damaged", file=path, mend="delete its folder, and the run begins anew") from error
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON whole or not at all."""
    with written_whole(path) as aside:
        aside.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def claim(folder: Path, settings: Mapping[str, Any]) -> None:
    """Say what a folder's run is made with; a run begun with anything else is refused.

    A folder whose run was refused, or failed before anything of it was kept, is nobody's yet.

    Raises:
        InputError: The run was begun with other settings; the first differences are shown.
    """
    before = read_json(folder / SETTINGS)
    different = [] if before is None else list(_differences(_decisive(before), _decisive(settings)))
    if before is None or (different and not _begun(folder, before)):
        write_json(folder / SETTINGS, settings)
    elif different:
        shown = ", ".join(different[:3]) + (f" and {len(different) - 3} more" if len(different) > 3 else "")
        raise InputError(
            f"the run was made with other settings: {shown}",
            file=folder,
            mend=f"choose another folder with {option('out')} or another name with {option('name')}, or delete "
            f"this one",
        )


def _begun(folder: Path, settings: Mapping[str, Any]) -> bool:
    """Whether anything of a run may be kept."""
    # Answers at a checkpoint are written before the state is, and outside the folder.
    return settings.get("checkpoint_every") is not None or any(
        each.name not in (SETTINGS, LOCK) for each in folder.iterdir()
    )


def _decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON holds them, without the changes that led to sizes, recipe and settings of the objective."""
    plain = json.loads(json.dumps(settings))
    return {name: value for name, value in plain.items() if name not in ("changes", "objective_changes")}


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    before, now = _by_name(before), _by_name(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name} was {_short(before)}, now {_short(now)}"


def _by_name(value: Any) -> Any:
    """Data sets, each a name and a digest, as digests by name; else the value."""
    if isinstance(value, list) and all(isinstance(each, dict) and each.keys() == {"name", "sha256"} for each in value):
        return {each["name"]: each["sha256"][:_DIGITS] for each in value}
    return value


def _short(value: Any) -> str:
    text = "none" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the folder to this process until left; the lock of a process that dies is gone with it.

    Raises:
        InputError: Another process is at work on the same run.
        OutputError: The folder cannot be written to.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; there two commands on one folder are the user's to avoid.
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise output_error(error, folder) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                "another process is at work on this run", file=folder, mend="wait for it, or end it first"
            ) from error
        yield


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
