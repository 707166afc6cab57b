"""The entry point: every failure is one line on standard error and an exit status.

0 done, 1 a policy violated, 2 bad input, 70 an error of our own, 130 interrupted. `GOLDASSAY_DEBUG=1` shows the
traceback instead.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from goldassay.core.boundary import described
from goldassay.core.doors import SHELL, entered
from goldassay.core.errors import GoldassayError, InterruptionError
from goldassay.core.folder_lock import locks_kept
from goldassay.core.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence


# EX_SOFTWARE of sysexits.h. 1 means that a policy is violated, and is what a traceback would leave with.
INTERNAL_ERROR = 70


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit status."""
    _open_closed_streams()
    # A service manager or a scheduler ends jobs with SIGTERM: clean up just as for Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    # What a shell starts in the background ignores Ctrl-C, and goes on to.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    # What is not set by the user is set here, before any library starts threads: a busy neighbour makes the
    # default of spinning threads many times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # The last bits of a sum depend on how many threads share it, and the same input has to give the same bytes.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    import typer.exceptions

    from goldassay.cli.app import app

    try:
        with entered(SHELL), locks_kept():
            status = app(arguments, prog_name="goldassay", standalone_mode=False)
    except typer.exceptions.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "goldassay"
        return _fail(f"{error.format_message().rstrip('.')}; see {command} --help", 2)
    except GoldassayError as error:
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        return _fail(str(error), error.exit_status)
    except (KeyboardInterrupt, typer.exceptions.Abort):
        return _fail(str(InterruptionError()), InterruptionError.exit_status)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; Python must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory; audit a sample of the rows, or use a machine with more memory", 2)
    except OSError as error:
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        place = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{place}it cannot be read or written ({described(error)}); check the path", 2)
    except SystemExit:
        raise
    # Panics of the table engine are no `Exception`.
    except BaseException as error:
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        return _fail(f"internal error: {described(error)}; set GOLDASSAY_DEBUG=1 for the traceback", INTERNAL_ERROR)
    return status if isinstance(status, int) else 0


def _interrupt(_number: int, _frame: object) -> NoReturn:
    # A library's object that is interrupted while it is made may fail as it is deleted, and Python would print that.
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt


def _fail(line: str, status: int) -> int:
    try:
        sys.stderr.write(f"goldassay: {one_line(line)}\n")
        sys.stderr.flush()
    except OSError:
        # Nobody can read it; Python must not complain again at exit, and the status says enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return status


def _open_closed_streams() -> None:
    """Open what the caller closed, as `2>&-` does: the next file opened would take its number, and its lines."""
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            # The lowest free number is taken.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
