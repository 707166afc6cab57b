"""The bytes of a file: opened, decompressed by magic number, and checked to be text."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import shlex
import zlib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import zstandard

from goldassay.core.bounds import Unpacking, check_size
from goldassay.core.errors import SHELL, InputError, entry_point, no_such_file
from goldassay.core.files import is_pipe, seekable
from goldassay.data.table import InputFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
# Zip archives that spreadsheets and documents are.
_OFFICE = (b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis")
_ZSTD = b"\x28\xb5\x2f\xfd"
# Frames to skip, as pzstd writes before each other one: any of sixteen first bytes, then these.
_SKIPPED = b"\x2a\x4d\x18"
# That of zstd --long=31: by default the library refuses what zstd --long=28 has written.
_ZSTD_WINDOW = 1 << 31
_BOM = b"\xef\xbb\xbf"
_ENDINGS = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc"),
    *(".npz", ".npy", ".eval"),
)
# Compressions that are not read: their first bytes, their name, and what unpacks them.
_NOT_UNPACKED = (
    (re.compile(rb"\xfd7zXZ\0"), "xz", "xz -dk"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "bzip2", "bzip2 -dk"),
    (re.compile(rb"7z\xbc\xaf'\x1c"), "7-Zip", "7z x"),
)
# Files that hold no text: their first bytes, what they are, and what to do.
_NO_TEXT = (
    (re.compile(rb"\xd0\xcf\x11\xe0"), "a document of an office program", "save its table as CSV"),
    (re.compile(rb"SQLite format 3\0"), "a SQLite database", "export its table as CSV"),
    (re.compile(rb"\x80[\x02-\x05].*\.$", re.DOTALL), "a pickle, which may run code",
     "write its table with DataFrame.to_parquet"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array, not a dataset", "write its texts and labels as CSV"),
    (re.compile(rb"%PDF-"), "a PDF document", "save its table as CSV"),
    (re.compile(rb"\x89HDF"), "an HDF5 file", "write its table with DataFrame.to_parquet"),
)  # fmt: skip
_HEAD = 1 << 16
# Bytes of text read at once, and of a table made at once.
BLOCK = 1 << 23
# Four bytes of zstandard may stand for 128 kB, so that this much unpacks to at most 64 MB.
_ZSTD_PIECE = 1 << 11


def read_bytes(path: Path) -> tuple[bytes, InputFile]:
    """Read a file whole, decompressing gzip and zstandard, which are known by their first bytes.

    Raises:
        InputError: The file is missing, may not be read, is empty, or its compression is damaged.
    """
    raw = _open(path)
    entry = InputFile(path.name, hashlib.sha256(raw).hexdigest(), len(raw))
    data = _decompressed(raw, path)
    if not data.strip():
        raise InputError("the file is empty", file=path, mend="give a file with at least one example")
    return data, entry


def read_text(path: Path) -> tuple[bytes, InputFile]:
    """Read a file of UTF-8 text as bytes, without its byte order mark, checked by `check_text`."""
    data, entry = read_bytes(path)
    data = data.removeprefix(_BOM)
    check_text(data, path)
    return data, entry


class TextForm(NamedTuple):
    """How the bytes of a text file are put, apart from its text: its byte order mark, line breaks and compression."""

    has_mark: bool
    line_break: str
    ending: str

    def put(self, text: bytes) -> bytes:
        """A text with the mark and the compression; its line breaks stay."""
        whole = _BOM + text if self.has_mark else text
        if self.ending == ".gz":
            return gzip.compress(whole, mtime=0)
        return zstandard.ZstdCompressor().compress(whole) if self.ending == ".zst" else whole


def text_form(path: Path) -> TextForm:
    """The form of a file that was read.

    Raises:
        InputError: As `read_bytes`.
    """
    raw = _open(path)
    text = _decompressed(raw, path)
    ending = ".gz" if raw.startswith(_GZIP) else ".zst" if is_zstandard(raw) else ""
    return TextForm(text.startswith(_BOM), "\r\n" if text.partition(b"\n")[0].endswith(b"\r") else "\n", ending)


def read_head(path: Path, size: int = _HEAD) -> bytes:
    """Return the first bytes of a file after decompression; as many as can be had of a damaged one."""
    try:
        with seekable(path).open("rb") as file:
            raw = file.read(size)
    except OSError as error:
        raise _unreadable(error, path) from error
    if raw.startswith(_GZIP):
        try:
            return zlib.decompressobj(wbits=31).decompress(raw, size).removeprefix(_BOM)
        except zlib.error:
            return b""
    if is_zstandard(raw):
        return _zstd_head(raw, size).removeprefix(_BOM)
    return raw.removeprefix(_BOM)


def _zstd_head(raw: bytes, size: int) -> bytes:
    frame, head = zstd_frame(), b""
    try:
        for begin in range(0, len(raw), _ZSTD_PIECE):
            rest = raw[begin : begin + _ZSTD_PIECE]
            while rest and len(head) < size:
                if frame.eof:
                    frame = zstd_frame()
                head += frame.decompress(rest)
                rest = frame.unused_data if frame.eof else b""
    except zstandard.ZstdError:
        return b""
    return head[:size]


def is_zstandard(head: bytes) -> bool:
    """Whether a file that begins so is packed with zstandard, also where its first frame is to be skipped."""
    return head.startswith(_ZSTD) or (head[1:4] == _SKIPPED and head[0] >> 4 == 5)


def zstd_frame() -> zstandard.ZstdDecompressionObj:
    """What unpacks one frame, of any window that zstandard can write."""
    return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()


def bare_name(path: Path) -> str:
    """File name in lower case without the endings of compression: `train.tsv` for `Train.tsv.gz`."""
    name = path.name.lower()
    for ending in (".gz", ".zst", ".zstd"):
        name = name.removesuffix(ending)
    return name


def check_text(data: bytes, path: Path) -> None:
    """Refuse what is not UTF-8 text without NUL bytes.

    Raises:
        InputError: Names the line of the first bad byte and the command that mends the file.
    """
    if data.startswith(_ZIP):
        if any(mark in data[:2000] for mark in _OFFICE):
            mend = "save its table as CSV"
            raise InputError("is a document of an office program, not a dataset", file=path, mend=mend)
        folder = shlex.quote(path.stem)
        unpack = f"unpack it with: unzip {shlex.quote(str(path))} -d {folder}; and give {folder} in its place"
        raise InputError("is a zip archive, not a dataset", file=path, mend=unpack)
    if data.startswith(_GZIP) or is_zstandard(data):
        raise InputError("is compressed twice", file=path, mend=f"unpack it once with: {rewriting(path, '', '')}")
    if data[257:262] == b"ustar":
        problem, unpack = "is a tar archive, not a dataset", f"tar xf {shlex.quote(str(path))}"
        raise InputError(problem, file=path, mend=f"unpack it with: {unpack}")
    for first, called, mend in _NO_TEXT:
        if first.match(data):
            raise InputError(f"is {called}", file=path, mend=mend)
    for first, called, unpack in _NOT_UNPACKED:
        if first.match(data):
            mend = f"unpack it with: {unpack} {shlex.quote(str(path))}"
            raise InputError(f"is compressed with {called}, which is not read", file=path, mend=mend)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf16(data):
        raise InputError(
            "the text is UTF-16, not UTF-8",
            file=path,
            row=1,
            mend=f"convert it with: {rewriting(path, 'iconv -f UTF-16 -t UTF-8', 'utf8-')}",
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(
            "the text holds a NUL byte",
            file=path,
            row=data.count(b"\n", 0, nul) + 1,
            mend=f"remove such bytes with: {rewriting(path, TR_NUL, 'clean-')}",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the text is not UTF-8 (byte 0x{data[error.start]:02X}), perhaps Windows-1252 or latin-1",
            file=path,
            row=data.count(b"\n", 0, error.start) + 1,
            mend=f"convert it with: {rewriting(path, 'iconv -f WINDOWS-1252 -t UTF-8', 'utf8-')}",
        ) from error


# What `rewriting` runs: without it a NUL ends the text for most tools.
TR_NUL = "tr -d '\\000'"


def rewriting(path: Path, command: str, prefix: str) -> str:
    """What a shell writes a file anew with, beside it and unpacked: `tail -n +2 < data/a.csv > data/rows-a.csv`.

    Args:
        path: The file.
        command: What reads it and writes; "" only unpacks it.
        prefix: Of the name of the new file.
    """
    target = shlex.quote(str(path.with_name(prefix + without_packing(path.name))))
    given = shlex.quote(str(path))
    packed = _PACKED.search(path.name)
    if packed is None:
        return f"{command} < {given} > {target}"
    unpacked = f"{'zstd' if packed[1].lower() == 'zst' else 'gzip'} -dc {given}"
    return f"{unpacked} | {command} > {target}" if command else f"{unpacked} > {target}"


def _looks_like_utf16(data: bytes) -> bool:
    # Without a mark, UTF-16 of mostly Latin text has a NUL in nearly every second byte.
    head = data[:4096]
    return len(head) >= 4 and max(head[0::2].count(0), head[1::2].count(0)) > 0.4 * (len(head) / 2)


def _open(path: Path) -> bytes:
    try:
        place = seekable(path)
        check_size(path, place.stat().st_size)
        return place.read_bytes()
    except OSError as error:
        raise _unreadable(error, path) from error


def _unreadable(error: OSError, path: Path) -> InputError:
    if isinstance(error, FileNotFoundError):
        return no_such_file(path, "file")
    if isinstance(error, PermissionError):
        return InputError(
            "the file may not be read", file=path, mend=f"allow it with: chmod u+r {shlex.quote(str(path))}"
        )
    return InputError(f"the file cannot be read ({error.strerror or error})", file=path, mend="check the path")


def _decompressed(raw: bytes, path: Path) -> bytes:
    if raw.startswith(_GZIP):
        return b"".join(block for block, _ in _gzip(io.BytesIO(raw), path, held=True))
    if is_zstandard(raw):
        return b"".join(block for block, _ in _zstandard(io.BytesIO(raw), path, held=True))
    return raw


def name_of(path: Path) -> str:
    """What a dataset or a run is called after its file or folder: `Mistral-v0.1` for `Mistral-v0.1.jsonl.gz`."""
    if is_pipe(path):
        return "pipe"
    is_folder = path.is_dir()
    stem = path.resolve().name if is_folder else bare_name(path)
    shown = stem if is_folder else path.name[: len(stem)]
    ending = next((each for each in _ENDINGS if stem.endswith(each)), "")
    return shown[: len(shown) - len(ending)]


# Files of a folder among which one is sought.
_MOST_LOOKED_AT = 1000


def file_within(place: Path) -> str:
    """The advice to give a file, with the command for the first table within a folder, where there is one."""
    for at, file in enumerate(sorted(place.rglob("*")) if place.is_dir() else ()):
        if at >= _MOST_LOOKED_AT:
            break
        if file.is_file() and bare_name(file).endswith((".json", ".jsonl", ".csv", ".tsv", ".parquet")):
            look = (
                f"goldassay look {shlex.quote(str(file))}"
                if entry_point() == SHELL
                else f"goldassay.look({str(file)!r})"
            )
            return f"one of its files ({look} says what it holds)"
    return "a file"


_PACKED = re.compile(r"\.(gz|zst)$", re.IGNORECASE)


def without_packing(name: str) -> str:
    """A file's name without the ending that says how it is packed: "dev.json.gz" is "dev.json"."""
    return _PACKED.sub("", name)


def is_published_as(path: Path, pattern: str) -> bool:
    """Whether the last parts of a path are as a pattern says, in any case, packed or not.

    Args:
        path: Of a file or folder.
        pattern: "ocnli/dev.json" or "reviews_*.json"; `*` and `?` stand for parts of a name.
    """
    wanted = pattern.split("/")
    parts = [*path.resolve().parts[:-1], path.name][-len(wanted) :]
    return len(parts) == len(wanted) and all(map(_is_called, parts, wanted))


def find_published(folder: Path, patterns: Sequence[str]) -> Path | None:
    """The file or folder that the first of some patterns finds below a folder, or below a folder in it.

    A name that has the pattern's own case goes before one that has another, and an unpacked file before a packed one.
    """
    if not folder.is_dir():
        return None
    bases = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())]
    return next(
        (found for pattern in patterns for base in bases if (found := _below(base, pattern.split("/"))) is not None),
        None,
    )


def _below(folder: Path, wanted: Sequence[str]) -> Path | None:
    name, *rest = wanted
    called = [each for each in folder.iterdir() if _is_called(each.name, name) and (not rest or each.is_dir())]
    called.sort(key=lambda each: (not fnmatchcase(each.name, name), without_packing(each.name) != each.name, each.name))
    if not rest:
        return called[0] if called else None
    return next((found for each in called if (found := _below(each, rest)) is not None), None)


def _is_called(name: str, wanted: str) -> bool:
    return fnmatchcase(without_packing(name).lower(), without_packing(wanted).lower())


def decompressed(path: Path) -> Iterator[tuple[bytes, int]]:
    """Blocks of a file's bytes, and how far into the file each ends."""
    try:
        with seekable(path).open("rb") as file:
            magic = file.read(4)
            file.seek(0)
            if magic.startswith(_GZIP):
                yield from _gzip(file, path, held=False)
            elif is_zstandard(magic):
                yield from _zstandard(file, path, held=False)
            else:
                while block := file.read(BLOCK):
                    yield block, file.tell()
    except PermissionError as error:
        raise InputError(
            "the file may not be read", file=path, mend=f"allow it with: chmod u+r {shlex.quote(str(path))}"
        ) from error


def _gzip(file: BinaryIO, path: Path, *, held: bool) -> Iterator[tuple[bytes, int]]:
    counted = Unpacking(seekable(path), held=held)
    try:
        with gzip.GzipFile(fileobj=file) as stream:
            while block := stream.read(BLOCK):
                counted.add(len(block))
                yield block, file.tell()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            "the gzip file is damaged or cut short", file=path, mend="copy or download the file again"
        ) from error


def _zstandard(file: BinaryIO, path: Path, *, held: bool) -> Iterator[tuple[bytes, int]]:
    mend = "copy or download the file again"
    frame = zstd_frame()
    counted = Unpacking(seekable(path), held=held)
    parts: list[bytes] = []
    n_bytes = 0
    try:
        while raw := file.read(_ZSTD_PIECE):
            while raw:
                if frame.eof:
                    frame = zstd_frame()
                parts.append(frame.decompress(raw))
                n_bytes += len(parts[-1])
                counted.add(len(parts[-1]))
                raw = frame.unused_data if frame.eof else b""
            if n_bytes >= BLOCK:
                yield b"".join(parts), file.tell()
                parts, n_bytes = [], 0
    except zstandard.ZstdError as error:
        raise InputError("the zstandard file is damaged", file=path, mend=mend) from error
    if not frame.eof:
        raise InputError("the zstandard file is cut short", file=path, mend=mend)
    if parts:
        yield b"".join(parts), file.tell()
