"""The files of a corpus: what lies at the places that were given, how each is read, and the shards of them."""

from __future__ import annotations

import glob
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import polars as pl

from goldassay.core.errors import InputError, no_such_file, option
from goldassay.core.files import is_temporary, matching
from goldassay.data.readers import squad
from goldassay.data.source import bare_name, is_zstandard, read_head

if TYPE_CHECKING:
    from collections.abc import Sequence

Form = Literal["jsonl", "text", "parquet", "table"]
# Bytes of a shard; a multiple of a text's pieces.
SHARD = 1 << 26
# A text is read in documents of 1 MiB, which overlap, so that no copy of an item is cut in two.
PIECE, OVERLAP = 1 << 20, 1 << 16
# What a report's folder has, and the results of a search that are kept there.
_REPORT = ("report.html", "report.json", "report.md", "timing.json")
_EMPTY = "it is empty"
_KEPT = re.compile(r"[0-9a-f]{32}\.parquet")
_ENDINGS: dict[str, Form] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".jsonlines": "jsonl", ".json": "jsonl", ".parquet": "parquet",
    ".txt": "text", ".text": "text", ".md": "text",
    ".csv": "table", ".tsv": "table", ".tab": "table", ".arrow": "table", ".feather": "table", ".ipc": "table",
}  # fmt: skip
# As plain text their columns would run into each other.
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".bz2", ".xz", ".xlsx")
# What is no text may be packed text, which is about a quarter as long.
_PACKING = 4
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
# Files that hold no text, by their names: pictures, sound, films, fonts, checksums, and what stores, versions and
# downloads leave. Of all others nobody knows.
_WITHOUT_TEXT = re.compile(
    r".*\.(?:png|jpe?g|gif|webp|bmp|ico|tiff?|mp3|wav|flac|ogg|m4a|mp4|webm|avi|mov|mkv|ttf|otf|woff2?"
    r"|md5|sha1|sha256|sha512|crc|crc32|sig|asc|etag)"
    r"|\.git(?:attributes|ignore|modules|keep)|\.ds_store|thumbs\.db|desktop\.ini|licen[cs]e|copying"
    r"|_success|_committed_\d+|_started_\d+|_(?:common_)?metadata"
)
_OF_A_STORE = re.compile(r"/\.git/|/\.cache/huggingface/download/.*\.(?:metadata|lock)$")
_OBJECT = re.compile(rb"\s*\{\s*[\"}]")
# Its elements are texts or arrays: no objects, as lines have to be. Arrays may be empty, and elements null.
_NULLS = r"\s*(?:null\s*(?:,\s*)?)*"
_ARRAY_OF_OBJECTS = re.compile(rf"\[{_NULLS}\{{")
_ARRAY_OF_TEXTS = re.compile(rf"(?:\[{_NULLS}\]\s*)*\[{_NULLS}[\"\[]")


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
        """All shards, in the order of their documents. Packed files, Parquet and tables are read whole."""
        found = []
        for number, file in enumerate(self.files):
            step = file.size if file.is_packed or file.form in ("parquet", "table") else size
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
                f"{option('corpus')} {place!r} names nothing", mend=f"name files with {option('corpus', 'PATH')}"
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
                broken.append((name, reason_of(error)))
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
            mend="give JSON lines, Parquet, text or tables, also as .gz or .zst",
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


def is_kept(path: Path) -> bool:
    """Whether a file is the result of a shard, and no text."""
    try:
        return "shard" in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        return False


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
    found = Walk()
    for each in map(Path, matching(place)):
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


def form_of(path: Path, name: str, *, given: bool) -> tuple[Form, bool] | None:
    """How a file is read, and whether it is packed; None where it lies in a folder and is of no form that is read.

    Args:
        path: The file, which is not empty.
        name: Its path within the corpus.
        given: Whether it was named by itself, so that its content decides where its name says nothing.

    Raises:
        InputError: It cannot be read part by part.
        OSError: It cannot be opened.
    """
    bare = Path(bare_name(path))
    form = _ENDINGS.get(bare.suffix)
    if form is None and not given and holds_no_text(name):
        return None
    with path.open("rb") as stream:
        magic = stream.read(4)
        # Lines of JSON may begin with these four letters.
        is_parquet = magic == _PARQUET and _end_of(stream) == _PARQUET
    is_packed = magic.startswith(_GZIP) or is_zstandard(magic)
    if form == "parquet" and is_packed:
        raise InputError("a packed Parquet file cannot be read part by part", mend="unpack it")
    if is_parquet:
        form = "parquet"
    elif form == "parquet":
        is_cut = magic == _PARQUET
        raise InputError(
            "the Parquet file is cut short" if is_cut else "the file is no Parquet", mend="copy or download it again"
        )
    if bare.suffix in _ARCHIVES and given:
        raise InputError("an archive is not read as a corpus", mend="unpack it, and give its files")
    if form is None:
        if not given and bare.suffix:
            return None
        head = read_head(path)
        if not given and not _is_text(head):
            return None
        form = "jsonl" if _OBJECT.match(head) else "text"
    if form == "jsonl":
        head = read_head(path)
        if _ARRAY_OF_OBJECTS.match(head.decode("utf-8", "replace").lstrip()) or squad.recognizes(head, path):
            return "table", is_packed
        _refuse_other_json(head)
    return form, is_packed


def reason_of(error: InputError | OSError) -> str:
    """What is wrong with a file, and how to mend it."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{error.problem}: {error.mend}" if error.mend else error.problem


def _refuse_other_json(head: bytes) -> None:
    """Refuse JSON of which no line would be an object.

    Raises:
        InputError: It is an array of texts, or objects are set apart in another way; with the command that mends it.
    """
    # Without an argument a record separator would be stripped, too.
    text = head.decode("utf-8", "replace").strip(" \t\r\n")
    if text.startswith("["):
        command = "jq -c '.[] | {text: .}'" if _ARRAY_OF_TEXTS.match(text) else "jq -c '.[]'"
        raise InputError("the file is a JSON array, not JSON lines", mend=f"{command} makes lines of it")
    if text.startswith("\x1e"):
        raise InputError("each object follows a record separator (RFC 7464)", mend="tr -d '\\036' makes lines of it")
    if "\n" not in text and re.search(r"\}\r+\s*\{", text):
        raise InputError("lines end with carriage returns alone", mend="tr '\\r' '\\n' makes lines of it")
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        # The first object is longer than what was read, or the lines are looked at one by one.
        return
    if "\n" in text[:end]:
        raise InputError("objects are written over several lines", mend="jq -c . makes lines of it")
    if re.match(r"[ \t]*[{\[]", text[end:]):
        raise InputError("several objects are written on one line", mend="jq -c . makes lines of it")


def held_by(path: Path, name: str) -> int:
    """Bytes of text that a file may hold which is not read; 0 where it surely holds none."""
    if holds_no_text(name):
        return 0
    size = path.stat().st_size
    with path.open("rb") as stream:
        return size if _is_text(stream.read(1 << 12)) else size * _PACKING


def holds_no_text(name: str) -> bool:
    """Whether a file holds no text, by its path within the corpus."""
    return bool(_WITHOUT_TEXT.fullmatch(name.rpartition("/")[2].lower()) or _OF_A_STORE.search(name))


def _end_of(stream: IO[bytes]) -> bytes:
    size = stream.seek(0, 2)
    stream.seek(max(size - len(_PARQUET), 0))
    return stream.read()


def _is_text(head: bytes) -> bool:
    """Whether the beginning of a file is UTF-8, but for a character that is cut at its end."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
    return bool(head) and b"\0" not in head
