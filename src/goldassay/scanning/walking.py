"""Which paths lie at a place that was given as a corpus: a file, a folder with all that lies in it, or a pattern."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field
from pathlib import Path

from goldassay.core.errors import InputError, no_such_file
from goldassay.core.leftovers import is_temporary


@dataclass
class Walk:
    """What lies at a place.

    Attributes:
        paths: (path, what reports call it) of each file, and of each link that leads nowhere.
        closed: Folders that cannot be read, with the reason.
        again: Links to folders that were walked under another name.
    """

    paths: list[tuple[Path, str]] = field(default_factory=list)
    closed: list[tuple[str, str]] = field(default_factory=list)
    again: list[str] = field(default_factory=list)


def walk(place: str) -> Walk:
    """All files at a place, each once, in the order of their names.

    Raises:
        InputError: There is nothing.
    """
    path = Path(place)
    if path.is_dir():
        return _walk_folder(path)
    if path.exists():
        return Walk([(path, path.name)])
    if not glob.has_magic(place):
        raise no_such_file(place)
    matched = sorted(map(Path, glob.glob(place, recursive=True)))  # noqa: PTH207 (a pattern may be absolute)
    if not matched:
        raise InputError("the pattern matches nothing", file=place, mend="check it, and quote it for the shell")
    found = Walk()
    for each in matched:
        if is_temporary(Path(each.name)):
            continue
        own = Walk([(each, each.name)]) if is_dangling(each) else walk(os.fspath(each))
        found.paths += own.paths
        found.closed += own.closed
        found.again += own.again
    return found


def is_dangling(path: Path) -> bool:
    """Whether a path is a link that leads nowhere: a file that cannot be read, and no reason to read no other."""
    return path.is_symlink() and not path.exists()


def identity_of(path: Path) -> tuple[int, int] | None:
    """What two names of one file have in common; None where it cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _walk_folder(top: Path) -> Walk:
    """A folder, and the folders to which links in it lead, each once: links may lead round in circles.

    Links are followed last, so that what lies within the folder is called by its own name.
    """
    found, walked = Walk(), set()
    name = top.resolve().name

    def called(path: Path) -> str:
        return f"{name}/{path.relative_to(top).as_posix()}"

    def close(error: OSError) -> None:
        where = Path(error.filename or top)
        found.closed.append((name if where == top else called(where), error.strerror or str(error)))

    waiting = [top]
    while waiting:
        start = waiting.pop(0)
        if identity_of(start) in walked:
            found.again.append(called(start))
            continue
        for folder, folders, files in os.walk(start, onerror=close):
            here = Path(folder)
            walked.add(identity_of(here))
            waiting += sorted(here / each for each in folders if (here / each).is_symlink())
            for each in map(here.joinpath, files):
                # Half a file of a search that was killed, or that still runs, is no part of any corpus.
                if (each.is_file() or is_dangling(each)) and not is_temporary(each.relative_to(top)):
                    found.paths.append((each, called(each)))
            folders[:] = [
                each for each in folders if not (here / each).is_symlink() and identity_of(here / each) not in walked
            ]
    found.paths.sort()
    return found
