"""Runs the entries on a source tree, each scenario in one process of a pool and in a folder of its own."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from .compare import ABSENT
from .entries import CALLS, command_lines
from .inputs import write_inputs
from .record import error_record, file_record, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLED = "python"
# 0 done, 1 a policy violated; else a line on standard error says what was wrong.
_NO_ERROR = (0, 1)
# Names of files that follow from the place and time of others.
# Names that an older source has in place of these.
_OLD_NAMES = {
    "--changes": "--set",
    "--conditions": "--condition",
    "--models": "--as",
    "--policy": "--config",
    "--scores": "--score",
    "--settings": "--config",
    "--source": "--from",
    "--test-share": "--share",
    "draws": "n_draws",
    "source": "files",
    "test": "gold",
}
_DIGEST = re.compile(r"\b[0-9a-f]{32}\b")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")


class MissingInputError(Exception):
    """Commands that no line runs."""


def run_all(source: Path, data: Path, only: str, jobs: int, folder: Path, *, complete: bool) -> dict[str, Any]:
    """The ledger of a source tree.

    Args:
        source: The folder that holds the package.
        data: The folder of real files, beside which made cases of published faults may lie.
        only: Entries whose scenario/name holds this.
        jobs: How many processes.
        folder: Where inputs and outputs are written.
        complete: Refuse commands that no line runs.

    Raises:
        MissingInputError: A command has no line.
    """
    # What a shell sets for the package is no input.
    for name in [each for each in os.environ if each.startswith("GOLDASSAY_")]:
        del os.environ[name]
    os.environ |= dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": str(source), "COLUMNS": "120"}
    digest = write_inputs(folder / "inputs", data)
    lines = command_lines()
    chosen = {
        scenario: [*own][: 1 + max(at for at, name in enumerate(own) if only in f"{scenario}/{name}")]
        for scenario, own in {**lines, CALLED: CALLS}.items()
        if any(only in f"{scenario}/{name}" for name in own)
    }
    entries: dict[str, Any] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_enter, initargs=(source,)) as pool:
        commands = pool.submit(command_names).result()
        run = {_command_of(words, commands) for own in lines.values() for words in own.values()}
        if complete and (unrun := set(commands) - run):
            raise MissingInputError(f"no line of commands.txt runs {', '.join(sorted(unrun))}: add one")
        left = {
            pool.submit(_run_scenario, scenario, names, commands, folder, data.parent / "cases"): scenario
            for scenario, names in chosen.items()
        }
        for done in as_completed(left):
            found, seconds = done.result()
            entries |= {name: record for name, record in found.items() if only in name}
            print(f"{left[done]}: {len(found)} runs in {seconds:.0f} s", file=sys.stderr)
    return {"inputs": digest, "commands": commands, "entries": entries}


def command_names() -> list[str]:
    """All commands of the app, found where its entry point starts it."""
    import typer.core

    found: list[Any] = []

    def caught(self: Any, *_arguments: Any, **_named: Any) -> None:
        found.append(self)
        raise SystemExit(0)

    with mock.patch.object(typer.core.TyperGroup, "main", caught):
        _run_command(["--help"])
    return sorted(_names(found[0], ""))


def _names(command: Any, words: str) -> Iterator[str]:
    below = getattr(command, "commands", None)
    if below is None:
        yield words
    else:
        for name, each in below.items():
            if not each.hidden:
                yield from _names(each, f"{words} {name}".strip())


def _enter(source: Path) -> None:
    sys.path.insert(0, str(source))
    place = Path(importlib.import_module("goldassay").__file__ or "")
    assert place.is_relative_to(source), f"{place} is not of {source}"


def _run_scenario(
    scenario: str, names: list[str], commands: list[str], folder: Path, cases: Path
) -> tuple[dict[str, Any], float]:
    started = time.monotonic()
    place = folder / scenario
    place.mkdir()
    (place / "in").symlink_to(folder / "inputs")
    if cases.is_dir():
        (place / "cases").symlink_to(cases)
    os.chdir(place)
    found: dict[str, Any] = {}
    lines = command_lines().get(scenario, {})
    for name in names:
        if scenario == CALLED:
            found[f"{scenario}/{name}"] = _call(CALLS[name], place)
        elif all(Path(word).exists() for word in lines[name] if word.startswith(("in/real/", "cases/"))):
            found[f"{scenario}/{name}"] = _run_line(lines[name], commands, place)
    return found, time.monotonic() - started


def _old(name: str) -> str:
    """An option or an argument as sources call it that have no `goldassay.core.commands`."""
    return name if importlib.util.find_spec("goldassay.core.commands") else _OLD_NAMES.get(name, name)


class _Package:
    """The package, whose functions take the names of arguments that their source knows."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module("goldassay"), name)
        if not inspect.isfunction(found):
            return found
        return lambda *given, **named: found(*given, **{_old(each): value for each, value in named.items()})


def _run_line(words: list[str], commands: list[str], place: Path) -> dict[str, Any]:
    words = [_old(word) if word.startswith("--") else word for word in words]
    if (command := _command_of(words, commands)) is None:
        return {ABSENT: f"command {words[0]}"}
    before = _stamps(place)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _captured(out.fileno(), err.fileno()):
            status = _run_command(words)
        err.seek(0)
        said = err.read().decode("utf-8", "replace")
        record: dict[str, Any] = {"command": command, "exit": status, "printed": bool(out.seek(0, os.SEEK_END))}
    if status not in _NO_ERROR:
        record["error"] = error_record(said, below=place)
    written = sorted(path for path, stamp in _stamps(place).items() if before.get(path) != stamp)
    names = (_DIGEST.sub("DIGEST", path.relative_to(place).as_posix()) for path in written)
    return {**record, "files": {name: file_record(path) for name, path in zip(names, written, strict=True)}}


def _command_of(words: list[str], commands: list[str]) -> str | None:
    return next((name for n in (2, 1) if (name := " ".join(words[:n])) in commands), None)


def _run_command(words: list[str]) -> int:
    """As `python -m goldassay`, in this process."""
    with mock.patch.object(sys, "argv", ["goldassay", *words]):
        try:
            runpy.run_module("goldassay", run_name="__main__", alter_sys=True)
        except SystemExit as left:
            return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def _call(function: Callable[[Any], Any], place: Path) -> dict[str, Any]:
    with (
        warnings.catch_warnings(record=True) as warned,
        _captured(*(os.open(os.devnull, os.O_WRONLY) for _ in range(2))),
    ):
        warnings.simplefilter("always")
        try:
            record = {"gave": plain(function(_Package()))}
        except AttributeError as error:
            if (lacking := re.match(r"module 'goldassay.* has no attribute '(\w+)'", str(error))) is None:
                raise
            return {ABSENT: f"function {lacking[1]}"}
        except Exception as error:
            record = {"raised": type(error).__name__, "error": error_record(str(error), below=place)}
    kinds = {each.category for each in warned if each.category.__module__.startswith("goldassay")}
    return {**record, "warned": sorted(kind.__name__ for kind in kinds)}


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    files = [Path(below, name) for below, _, names in os.walk(folder) for name in names]
    return {path: ((found := path.stat()).st_mtime_ns, found.st_size) for path in files if not path.is_symlink()}


@contextlib.contextmanager
def _captured(out: int, err: int) -> Iterator[None]:
    """Send what is written to standard output and error there, also by processes that are started."""
    kept = os.dup(1), os.dup(2)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(out, 1)
    os.dup2(err, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, stream in enumerate(kept, 1):
            os.dup2(stream, number)
            os.close(stream)
