"""The entry point: every failure is one line on standard error and an exit status.

0 done, 1 a policy violated, 2 bad input, 70 an error of our own, 130 interrupted. `GOLDASSAY_DEBUG=1` shows the
traceback instead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from goldassay.core.bounds import closed, described, standard_error_kept
from goldassay.core.errors import SHELL, GoldassayError, InterruptionError, entered, one_line
from goldassay.core.files import locks_kept

if TYPE_CHECKING:
    from collections.abc import Sequence


# EX_SOFTWARE of sysexits.h. 1 means that a policy is violated, and is what a traceback would leave with.
INTERNAL_ERROR = 70
_LONGEST_COMMAND = 120


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


def _of_one_input(arguments: Sequence[str] | None) -> list[str]:
    """The arguments with what follows --columns-of, an input and its columns, as one."""
    found = list(sys.argv[1:] if arguments is None else arguments)
    for at in range(len(found) - 3, -1, -1):
        if found[at] == "--columns-of" and "=" not in found[at + 1] and "=" in found[at + 2]:
            found[at + 1 : at + 3] = [f"{found[at + 1]} {found[at + 2]}"]
    return found


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    import typer.exceptions

    from goldassay.cli.app import root

    try:
        with entered(SHELL), locks_kept(), standard_error_kept():
            status = root(_of_one_input(arguments), prog_name="goldassay", standalone_mode=False)
    except typer.exceptions.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "goldassay"
        return _fail(f"{error.format_message().rstrip('.')}; see {command} --help", 2)
    except GoldassayError as error:
        if _shows_traceback():
            return error.exit_status
        return _fail(str(error), error.exit_status)
    except (KeyboardInterrupt, typer.exceptions.Abort):
        return _fail(str(InterruptionError()), InterruptionError.exit_status)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; Python must not complain again at exit.
        _give_up(sys.stdout)
        return 0
    except MemoryError:
        return _fail("out of memory; audit a sample of the rows, or use a machine with more memory", 2)
    except OSError as error:
        if _shows_traceback():
            return 2
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO):
            # Files that are written name themselves.
            _give_up(sys.stdout)
            return _fail(f"standard output: cannot be written ({described(error)}); send it elsewhere", 2)
        if error.errno == errno.EACCES and (folder := closed(place := Path(str(error.filename)))) != place:
            # What was looked for in it is nothing that the user named.
            return _fail(f"{folder}: it may not be read; allow it with: chmod u+rX {shlex.quote(str(folder))}", 2)
        named = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{named}it cannot be read or written ({described(error)}); check the path", 2)
    except SystemExit:
        raise
    # Panics of the table engine are no `Exception`.
    except BaseException as error:
        if _shows_traceback():
            return INTERNAL_ERROR
        words = " ".join(sys.argv[1:] if arguments is None else arguments)
        line = f"internal error in {words[:_LONGEST_COMMAND]}: {described(error)}"
        return _fail(f"{line}; set GOLDASSAY_DEBUG=1 for the traceback", INTERNAL_ERROR)
    if status == InterruptionError.exit_status:
        # Where Ctrl-C strikes as a command is entered or left, Typer returns this status in silence.
        return _fail(str(InterruptionError()), status)
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
        _give_up(sys.stderr)
    return status


def _give_up(stream: TextIO) -> None:
    """Send the rest of a stream that nobody can read to nowhere, so that Python does not fail at it once more."""
    with contextlib.suppress(OSError):
        # Within another program it may be no file.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _shows_traceback() -> bool:
    """Print the traceback of the error at hand where the user asked for tracebacks; whether it did."""
    asked = bool(os.environ.get("GOLDASSAY_DEBUG"))
    if asked:
        traceback.print_exc()
    return asked


def _open_closed_streams() -> None:
    """Open what the caller closed, as `2>&-` does: the next file opened would take its number, and its lines."""
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            # The lowest free number is taken.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
