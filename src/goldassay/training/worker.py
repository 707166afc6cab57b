"""The process that does jobs: one a line on standard input, as JSON; what becomes of them on standard output.

Lines in: {"job": {...}, "weigh": whether to measure first how much of the GPU it needs}. Lines out: {"needs": bytes} if
that was asked, {"step", "total"} while a job is under way, then {"done": {...}} or {"failed": {"kind", "line"}}. When
nobody reads them any more, the process ends: no worker outlives the command that started it by more than a step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import IO, TYPE_CHECKING, Any

from goldassay.core.errors import GoldassayError, InputError, MissingDependencyError, OutputError, TrainingError
from goldassay.training.memory import free_cache, is_out_of_memory, need_of
from goldassay.training.running import run_job

if TYPE_CHECKING:
    from goldassay.training.job import Job

# How often a job says where it is.
_SECONDS_BETWEEN_REPORTS = 0.2
INPUT, TRAINING, OUTPUT, DEPENDENCY, UNKNOWN = "input", "training", "output", "dependency", "unknown"
# What may go well another time, or where there is more memory.
PASSING, MEMORY = "passing", "memory"


class _Reporter:
    """Says where a job is, not more often than can be seen."""

    def __init__(self, out: IO[str]) -> None:
        self.out, self.last = out, 0.0

    def __call__(self, step: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= _SECONDS_BETWEEN_REPORTS:
            self.last = now
            say(self.out, {"step": step, "total": total})


def say(out: IO[str], message: dict[str, Any]) -> None:
    """Write one line."""
    out.write(json.dumps(message) + "\n")
    out.flush()


def do(job: Job, out: IO[str], *, weigh: bool = False) -> None:
    """Do one job and say what came of it."""
    said = _do(job, out, weigh=weigh)
    # Before it is said: who hears it gives the memory to others.
    free_cache()
    say(out, said)


def _do(job: Job, out: IO[str], *, weigh: bool) -> dict[str, Any]:
    try:
        if weigh:
            needs = need_of(job)
            free_cache()
            say(out, {"needs": needs})
        return {"done": vars(run_job(job, _Reporter(out)))}
    except GoldassayError as error:
        return {"failed": {"kind": kind_of(error), "line": str(error)}}
    except MemoryError:
        return {"failed": {"kind": MEMORY, "line": "out of memory; set a smaller batch_size"}}
    except RuntimeError as error:
        # Torch reports a full GPU, and much else, as a RuntimeError; a job that meets one fails, the others go on.
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        line = " ".join(str(error).split())[:400]
        if is_out_of_memory(error):
            return {"failed": {"kind": MEMORY, "line": f"the GPU is out of memory; set a smaller batch_size ({line})"}}
        return {"failed": {"kind": PASSING, "line": line}}


def kind_of(error: GoldassayError) -> str:
    """How a failure is named to the other process."""
    for kind, name in (
        (InputError, INPUT),
        (TrainingError, TRAINING),
        (OutputError, OUTPUT),
        (MissingDependencyError, DEPENDENCY),
    ):
        if isinstance(error, kind):
            return name
    return UNKNOWN


def main() -> None:
    """Do jobs until there are no more."""
    from goldassay.training.job import Job

    # Ctrl-C goes to all processes of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries that print must not break the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        asked = json.loads(line)
        do(Job.from_dict(asked["job"]), out, weigh=asked["weigh"])


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
