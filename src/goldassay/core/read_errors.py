"""The boundary around readers: whatever an engine raises at a file that is not what it claims becomes one line.

Parsers of foreign formats fail in ways that nobody can list: polars panics (an exception outside `Exception`), JSON
overruns the stack, numbers overflow. A file is at fault far more often than we are, so that each such failure is an
`InputError` that names the file. `GOLDASSAY_DEBUG=1` lets the engine's own error through.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.bounds import DEPTH
from goldassay.core.errors import GoldassayError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Those that no file causes: they end the command or the generator.
_NOT_OF_THE_FILE = (GoldassayError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, BrokenPipeError)
_LONGEST = 200


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what an engine raises while it reads a file into an `InputError` that names the file.

    Args:
        path: The file or folder.

    Raises:
        InputError: Anything but our own errors, an interruption and a lack of memory was raised.
    """
    try:
        yield
    except _NOT_OF_THE_FILE:
        raise
    except PermissionError as error:
        mend = f"allow it with: chmod u+rX {Path(path).name}"
        raise InputError("it may not be read", file=path, mend=mend) from error
    except OSError as error:
        raise InputError(f"it cannot be read ({described(error)})", file=path, mend="check the path") from error
    except RecursionError as error:
        mend = f"write it flatter, see {DEPTH.variable} in the settings"
        raise InputError("it cannot be read (nested too deeply)", file=path, mend=mend) from error
    except BaseException as error:
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        raise InputError(
            f"it cannot be read ({described(error)})",
            file=path,
            mend="write or copy it again, or name its format if it is another",
        ) from error


@contextmanager
def panics_unprinted() -> Iterator[None]:
    """Drop what a compiled engine prints to standard error before it raises: pages of its own stack.

    What is printed meanwhile by others, such as a progress bar, is printed afterwards if nothing is raised.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as kept:
        screen = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.truncate(0)
            raise
        finally:
            os.dup2(screen, 2)
            kept.seek(0)
            os.write(screen, kept.read())
            os.close(screen)


@contextmanager
def standard_error_kept() -> Iterator[None]:
    """Give standard error back at the end: Ctrl-C may strike after `panics_unprinted` took it, before its own end."""
    screen = os.dup(2)
    try:
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)


def described(error: BaseException) -> str:
    """Kind and message of an error, in one line."""
    told = _in_words(error)
    if told is not None:
        return told
    message = reason(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def reason(error: BaseException) -> str:
    """The message of an error alone, in one line."""
    told = _in_words(error)
    if told is not None:
        return told
    message = " ".join(str(error).split())
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"


def _in_words(error: BaseException) -> str | None:
    """What is wrong, where Python's own words name no bound that a user can lift; None for all other errors."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if "set_int_max_str_digits" in str(error):
        return f"a number has more than {sys.get_int_max_str_digits()} digits, which PYTHONINTMAXSTRDIGITS bounds"
    return None
