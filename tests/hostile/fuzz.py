"""Mutation fuzzing through the command's entry point: `make fuzz MINUTES=10`.

Small valid files of every kind are made, and Hypothesis draws which is changed how, and which command reads it.
Whatever is neither accepted nor refused by one line with exit status 2 is a finding: named by the error and the
innermost line of goldassay that it passed, counted, and kept with its smallest input in build/fuzz. Seeds are made and
not stored.

The commands run within one process, which is a child of the one that was started: a crash of the interpreter, or a
hang in compiled code, is a finding as well, and the search goes on in the next child.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.main
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import goldassay
from goldassay.cli.main import run

from .mutations import CHANGES, Change, applied
from .row_pages import COMMAND, show_rows
from .seeds import Seed, made_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

# Of the processor: a machine that does much else is no hang. What waits for something that never comes takes none, so
# that the clock ends it.
SECONDS_A_CASE = 30
CLOCK_A_CASE = 10 * SECONDS_A_CASE
EXAMPLES_A_ROUND = 1000
# Of addresses: what fills the memory fails by itself, before it takes that of others.
MEMORY = 12 << 30
KEPT = Path("build/fuzz")
PACKAGE = Path(goldassay.__file__).parent
# `goldassay.cli` has a function of the same name.
entry: Any = importlib.import_module("goldassay.cli.main")


def site_of(frames: Sequence[tuple[str, int]]) -> str:
    """The innermost line of goldassay among files and lines, outermost first."""
    own = [(Path(file), line) for file, line in frames if Path(file).is_relative_to(PACKAGE)]
    place, line = own[-1] if own else (Path(frames[-1][0]), frames[-1][1])
    return f"{place.relative_to(PACKAGE) if own else place.name}:{line}"


def raised_at(error: BaseException) -> str:
    """Kind of an error, and where it left goldassay."""
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {site_of(frames)}"


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        yield err


@contextlib.contextmanager
def command_built_once() -> Iterator[None]:
    """Build the command line from its functions once, and not for each case: that takes longer than most cases."""
    build = typer.main.get_command
    typer.main.get_command = functools.cache(build)
    try:
        yield
    finally:
        typer.main.get_command = build


@contextlib.contextmanager
def errors_kept() -> Iterator[list[BaseException | None]]:
    """The errors that the entry point turns into its last line."""
    errors: list[BaseException | None] = []
    fail = entry._fail

    def noted(line: str, status: int) -> int:
        errors.append(sys.exc_info()[1])
        return fail(line, status)

    entry._fail = noted
    try:
        yield errors
    finally:
        entry._fail = fail


def fault(arguments: list[str]) -> str:
    """What is wrong with how a command met its input; "" where nothing is."""
    hung: list[str] = []

    def too_long(_number: int, frame: FrameType | None) -> None:
        hung.append(site_of([(each.f_code.co_filename, line) for each, line in traceback.walk_stack(frame)][::-1]))
        # No reader takes this for an error of its file, as it would take any other.
        raise KeyboardInterrupt

    before = [(each, signal.signal(each, too_long)) for each in (signal.SIGALRM, signal.SIGPROF)]
    signal.setitimer(signal.ITIMER_REAL, CLOCK_A_CASE)
    signal.setitimer(signal.ITIMER_PROF, SECONDS_A_CASE)
    error: BaseException | None = None
    status: Any = None
    try:
        with quiet() as err, errors_kept() as errors:
            status = show_rows(arguments[1]) if arguments[0] == COMMAND else run(arguments)
    except SystemExit as left:
        status = left.code
    except BaseException as raised:
        error = raised
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)
    if hung:
        return f"hang at {hung[0]}"
    if error is not None:
        return f"traceback: {raised_at(error)}"
    lines = [line for line in err.getvalue().splitlines() if line.startswith("goldassay: ")]
    if status in (0, 1):
        return ""
    if status != 2:
        where = raised_at(errors[-1]) if errors and errors[-1] is not None else " ".join(lines)[:200]
        return f"exit status {status}: {where}"
    return "" if len(lines) == 1 else f"{len(lines)} lines: {arguments[:2]}"


class Findings:
    """What was found, in a folder: a line for each time in findings.jsonl, and the smallest input of each kind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._smallest: dict[str, int] = {}

    def add(self, kind: str, arguments: Sequence[str], name: str, content: bytes, seconds: float) -> None:
        with (self.folder / "findings.jsonl").open("a") as file:
            found = {"kind": kind, "seconds": round(seconds), "command": " ".join(arguments), "file": name}
            file.write(json.dumps(found) + "\n")
        if len(content) >= self._smallest.get(kind, sys.maxsize):
            return
        self._smallest[kind] = len(content)
        place = self.folder / re.sub(r"[^\w.:]+", "-", kind)[:120]
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / (Path(name).name or "nothing")).write_bytes(content)
        (place / "command").write_text(f"{' '.join(arguments)}\n{name}\n{kind}\n")

    def counted(self) -> Counter[str]:
        """How often each kind was met."""
        file = self.folder / "findings.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return Counter(json.loads(line)["kind"] for line in lines)


def search(seconds: float, first_seed: int = 0, kept: Path = KEPT) -> Counter[str]:
    """Look for findings for some time, within this process; how often each was met, by its kind."""
    kept = kept.absolute()
    (kept / "running").mkdir(parents=True, exist_ok=True)
    findings = Findings(kept)
    os.environ.pop("GOLDASSAY_DEBUG", None)
    n_cases = 0
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), command_built_once():
        folder = Path(place)
        seeds = made_seeds(folder)
        drawn = st.sampled_from([each for each in seeds for _ in range(each.weight)])
        report = (folder / "report" / "report.json").read_bytes()
        begun = time.monotonic()

        @settings(
            max_examples=EXAMPLES_A_ROUND, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(drawn, st.integers(0, 99), st.integers(0, 99), CHANGES)
        def one(chosen: Seed, command: int, which: int, changes: list[Change]) -> None:
            nonlocal n_cases
            if n_cases and time.monotonic() - begun > seconds:
                return
            n_cases += 1
            name = list(chosen.files)[which % len(chosen.files)]
            content = applied(changes, chosen.files[name])
            work = folder / "work"
            shutil.rmtree(work, ignore_errors=True)
            for file, good in {"report.json": report, **chosen.beside, **chosen.files, name: content}.items():
                (work / file).parent.mkdir(parents=True, exist_ok=True)
                (work / file).write_bytes(good)
            if chosen.is_sealed:
                chosen.reseal(work)
            arguments = chosen.arguments(command, content)
            (kept / "running" / "input").write_bytes(content)
            (kept / "running" / "case").write_text(json.dumps([arguments, name, n_cases]))
            with contextlib.chdir(work):
                what = fault(arguments)
            if what:
                findings.add(what, arguments, name, content, time.monotonic() - begun)

        number = first_seed
        while time.monotonic() - begun < seconds:
            seed(number)(one)()
            number += 1
    (kept / "running" / "case").write_text(json.dumps([[], "", n_cases]))
    return findings.counted()


def supervise(minutes: float, worker: Sequence[str], kept: Path = KEPT) -> int:
    """Run children that search, the next one where one dies or hangs; how many cases were tried.

    Args:
        minutes: How long.
        worker: The child's command, which is given the seconds that are left and the first seed of its draws.
        kept: Folder of the findings.
    """
    shutil.rmtree(kept, ignore_errors=True)
    (kept / "running").mkdir(parents=True)
    begun, n_cases, number = time.monotonic(), 0, 0
    while (left := 60 * minutes - (time.monotonic() - begun)) > 0:
        case = kept / "running" / "case"
        case.unlink(missing_ok=True)
        with (kept / "stderr.txt").open("ab") as err:
            environment = {**os.environ, "RUST_BACKTRACE": "0"}
            child = subprocess.Popen([*worker, str(left), str(number)], stderr=err, env=environment)
        stuck = False
        while not stuck and child.poll() is None:
            time.sleep(0.2)
            stuck = case.exists() and time.time() - case.stat().st_mtime > 3 * CLOCK_A_CASE
        if stuck:
            child.kill()
        status = child.wait()
        arguments, name, tried = json.loads(case.read_text()) if case.exists() else ([], "", 0)
        n_cases += tried
        if status != 0:
            what = "hang in compiled code" if stuck else f"the interpreter ended with status {status}"
            content = (kept / "running" / "input").read_bytes() if arguments else b""
            kind = f"{what}: {' '.join(arguments[:2])} {Path(name).suffix}"
            Findings(kept).add(kind, arguments, name, content, time.monotonic() - begun)
        if not arguments and status != 0:
            # It does not even begin.
            break
        number += 1_000_000
    return n_cases


def main(arguments: Sequence[str]) -> int:
    """Minutes; or "worker", seconds and a first seed."""
    if arguments[0] == "worker":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        search(float(arguments[1]), int(arguments[2]))
        return 0
    n_cases = supervise(float(arguments[0]), [sys.executable, "-m", "tests.hostile.fuzz", "worker"])
    found = Findings(KEPT).counted()
    print(f"{n_cases} cases, {len(found)} kinds of findings")
    for kind, times in found.most_common():
        print(f"{times:6}  {kind}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
