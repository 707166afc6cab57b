"""What all tests share: where real data may lie, and quick settings."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

# Measures are declared in the order of the questions, as by every command that reads reports, and not in the order in
# which tests import results.
import goldassay.questions.report_frame  # noqa: F401
from goldassay.questions import compiling, detection_limits
from goldassay.report.report import Report
from tests.invariants import broken

# Where a red run stops others, the same examples are tried each time; elsewhere new ones are sought.
# The slow tests try every property by more examples.
EXAMPLES = int(os.environ.get("GOLDASSAY_EXAMPLES", "30"))
settings.register_profile("default", deadline=None, max_examples=EXAMPLES, derandomize=bool(os.environ.get("CI")))
settings.load_profile("default")

# Threads that wait by spinning slow tests that run side by side, and the commands they start, as much as twentyfold.
# Read when torch or NumPy is loaded, which is after this file.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A shell that runs tests in the background has them ignore interrupts, and the commands they start would do the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Of two words that tell together no verdict speaks, and each copy in which they are planted is a machine to fit: a
# third of what an audit of few rows takes. They are planted where `pairs_planted` asks for it, and by commands that are
# processes of their own.
ALL_KINDS = detection_limits.KINDS
detection_limits.KINDS = tuple(kind for kind in ALL_KINDS if kind.shape != "together")

# Where nothing compiled is kept, tests that run side by side would each compile every loop, and so would the process
# that an audit begins on more than one core.
compiling.cores = lambda: 1
compile_anew = Dispatcher.compile


def compile_once(loop: Any, signature: Any) -> Any:
    """Compile a loop while no other process does, which finds it on disk then."""
    folder = getattr(loop._cache, "cache_path", None)
    if folder is None or global_compiler_lock.is_locked():
        return compile_anew(loop, signature)
    Path(folder).mkdir(parents=True, exist_ok=True)
    with global_compiler_lock, Path(folder, f"{loop.py_func.__qualname__}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return compile_anew(loop, signature)


Dispatcher.compile = compile_once

make_report = Report.__init__


def make_report_that_holds(self: Report, *arguments: Any, **named: Any) -> None:
    """Make a report, and hold it to what holds of every one."""
    make_report(self, *arguments, **named)
    assert not (found := list(broken(self))), found


Report.__init__ = make_report_that_holds  # type: ignore[method-assign]

PACKAGE = str(Path(detection_limits.__file__).parents[1]) + os.sep
DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_collection_finish() -> None:
    """Let the collector pass over the libraries, which stay: a million objects, looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def pairs_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant two words that tell together, too, as every command does."""
    monkeypatch.setattr(detection_limits, "KINDS", ALL_KINDS)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real datasets; tests that need it skip where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}: set GOLDASSAY_DATA to the folder that holds it")
    return DATA


@pytest.fixture(autouse=True)
def no_array_of_strings_is_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the package to lists of strings where each string is looked at.

    numpy drops an error that is raised while it makes a string of an array's element, and with it a Ctrl-C, which the
    interpreter may deliver just then: the command went on as if nothing had happened.
    """
    make = pl.Series.__init__

    def checked(self: pl.Series, *arguments: Any, **named: Any) -> None:
        given = [*arguments, named.get("values")]
        if any(isinstance(each, np.ndarray) and each.dtype.kind in "UT" for each in given):
            frame = sys._getframe(1)
            while frame.f_back is not None and "polars" in frame.f_code.co_filename:
                frame = frame.f_back
            assert PACKAGE not in frame.f_code.co_filename, "give polars strings.tolist()"
        make(self, *arguments, **named)

    monkeypatch.setattr(pl.Series, "__init__", checked)
