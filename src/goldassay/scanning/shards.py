"""Which files a corpus is made of, and the shards of them that are scanned one by one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.scanning.forms import form_of, held_by, said_of
from goldassay.scanning.kept_shards import is_kept
from goldassay.scanning.walking import identity_of, walk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.scanning.forms import Form

# Bytes of a shard; a multiple of a text's pieces.
SHARD = 1 << 26
# A text is read in documents of 1 MiB, which overlap, so that no copy of an item is cut in two.
PIECE, OVERLAP = 1 << 20, 1 << 16
# What a report's folder has, and the results of a search that are kept there.
_REPORT = ("report.html", "report.json", "report.md", "timing.json")
_EMPTY = "it is empty"
_KEPT = re.compile(r"[0-9a-f]{32}\.parquet")


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus.

    Attributes:
        path: Where it lies.
        name: What reports call it: its path from the place that was given.
        form: How it is read.
        is_packed: Whether it is gzip or zstandard.
        size: In bytes, as it lies.
    """

    path: Path
    name: str
    form: Form
    is_packed: bool
    size: int


@dataclass(frozen=True)
class Shard:
    """A part of a file that is scanned by itself: the documents that begin in a range of its bytes.

    Attributes:
        file: Number of the file, from 0.
        begin: First byte.
        end: The byte after the last; the file's size where it is read whole.
    """

    file: int
    begin: int
    end: int


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus, and what was left out.

    Attributes:
        files: In the order of their names within each place that was given.
        left_out: Files that are no part of it, with the reason.
        broken: Files that cannot be read, with the reason.
        n_other: Bytes of files in folders that are of no form that is read, but for such as surely hold no text.
        unread: These files, with the bytes of text that each may hold.
        again: What links or further names lead to a second time: it is read once.
    """

    files: tuple[CorpusFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    n_other: int = 0
    unread: tuple[tuple[str, int], ...] = ()
    again: tuple[str, ...] = ()

    def shards(self, size: int = SHARD) -> list[Shard]:
        """All shards, in the order of their documents. Packed files and Parquet are read whole."""
        found = []
        for number, file in enumerate(self.files):
            step = file.size if file.is_packed or file.form == "parquet" else size
            if file.form == "text" and not file.is_packed:
                step = -(-size // PIECE) * PIECE
            found += [Shard(number, begin, min(begin + step, file.size)) for begin in range(0, file.size, max(step, 1))]
        return found


def find_corpus(places: Sequence[str | os.PathLike[str]], test_files: Sequence[Path] = ()) -> Corpus:
    """The files at paths, in folders and of patterns.

    A file of the test set itself is left out, wherever it lies; a copy of it is not. So are files of reports.

    Args:
        places: Files, folders (with all that lies in them, also behind links), and patterns with * ? and **.
        test_files: Those of the test set.

    Raises:
        InputError: There is nothing at a place, or nothing that can be read as a corpus.
    """
    known = {identity for path in test_files if (identity := identity_of(path))}
    files: list[CorpusFile] = []
    left_out: list[tuple[str, str]] = []
    broken: list[tuple[str, str]] = []
    n_other = 0
    unread: list[tuple[str, int]] = []
    again: list[str] = []
    seen: dict[tuple[int, int] | str, str] = {}
    for place in [os.fspath(each) for each in places]:
        if not place.strip():
            # As a path it would be the folder at hand.
            raise InputError(
                f"{option('corpus', repr(place))} names nothing", mend=f"name files with {option('corpus', 'PATH')}"
            )
        at_place = walk(place)
        broken += at_place.closed
        again += at_place.again
        for path, name in at_place.paths:
            identity, own = identity_of(path), os.path.abspath(path)  # noqa: PTH100 (a link keeps its name)
            if (before := seen.get(identity or own)) is not None:
                again += [name] if before != own else []
                continue
            seen[identity or own] = own
            if identity in known:
                left_out.append((name, "it is the test set itself"))
                continue
            if _is_of_report(path):
                left_out.append((name, "it is of a report"))
                continue
            try:
                file = _file_of(path, name, given="/" not in name)
            except (InputError, OSError) as error:
                broken.append((name, said_of(error)))
                continue
            if isinstance(file, str):
                left_out.append((name, file))
                held = 0 if file == _EMPTY else held_by(path, name)
                if held:
                    n_other += path.stat().st_size
                    unread.append((name, held))
            else:
                files.append(file)
    if not files and not broken:
        why = f"{left_out[0][0]}: {left_out[0][1]}" if left_out else "the folder is empty"
        raise InputError(
            f"there is nothing to search in the corpus ({why})",
            file=os.fspath(places[0]),
            mend="give JSON lines, Parquet or text files, also as .gz or .zst",
        )
    return Corpus(
        tuple(files), tuple(left_out), tuple(dict.fromkeys(broken)), n_other, tuple(unread), tuple(dict.fromkeys(again))
    )


def _is_of_report(path: Path) -> bool:
    """Whether a file was written by an earlier search, whose report lies in the corpus: it quotes the test set."""
    folder = path.parent
    if folder.name == "shards" and _KEPT.fullmatch(path.name):
        # A corpus may be called so, too.
        return is_kept(path)
    if folder.name in ("figures", "tables") and path.suffix in (".svg", ".csv", ".parquet"):
        folder = folder.parent
    elif path.name not in _REPORT:
        return False
    return all((folder / name).is_file() for name in _REPORT)


def _file_of(path: Path, name: str, *, given: bool) -> CorpusFile | str:
    """The file, or why it is no part of a corpus.

    Raises:
        InputError: It is of no form that is read.
        OSError: It cannot be read.
    """
    size = path.stat().st_size
    if size == 0:
        return _EMPTY
    form = form_of(path, name, given=given)
    return "it is of no form that is read" if form is None else CorpusFile(path, name, *form, size)
