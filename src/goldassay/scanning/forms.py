"""How a file of a corpus is read, by its name and its first bytes; and what a file that is not read may hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import IO, Literal

from goldassay.core.errors import InputError
from goldassay.data.source import bare_name, is_zstandard, read_head

Form = Literal["jsonl", "text", "parquet"]
_ENDINGS: dict[str, Form] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".jsonlines": "jsonl", ".json": "jsonl", ".parquet": "parquet",
    ".txt": "text", ".text": "text", ".md": "text",
}  # fmt: skip
# As plain text their columns would run into each other.
_TABLES = (".csv", ".tsv", ".tab", ".zip", ".tar", ".tgz", ".7z", ".bz2", ".xz", ".xlsx")
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
_ARRAY_OF_TEXTS = re.compile(rf"(?:\[{_NULLS}\]\s*)*\[{_NULLS}[\"\[]")


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
    if bare.suffix in _TABLES and given:
        raise InputError("a table is not read as a corpus: write its texts as JSON lines or Parquet")
    if form is None:
        if not given and bare.suffix:
            return None
        head = read_head(path)
        if not given and not _is_text(head):
            return None
        form = "jsonl" if _OBJECT.match(head) else "text"
    if form == "jsonl":
        _refuse_other_json(read_head(path))
    return form, is_packed


def said_of(error: InputError | OSError) -> str:
    """What is wrong with a file, and how to mend it."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{error.problem}: {error.mend}" if error.mend else error.problem


def _refuse_other_json(head: bytes) -> None:
    """Refuse JSON of which no line would be an object.

    Raises:
        InputError: It is an array, or its objects are set apart in another way; with the command that mends it.
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
