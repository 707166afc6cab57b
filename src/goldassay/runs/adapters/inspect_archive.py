"""The zip archives that inspect_ai writes: members are unpacked in memory, up to a limit, and never to disk.

Members may be packed with zstandard, which Python's zipfile reads only from 3.14 on.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from goldassay.core.bounds import check_members
from goldassay.core.errors import InputError
from goldassay.runs.adapters.damage import ARCHIVE_DAMAGE
from goldassay.runs.tables import take

if TYPE_CHECKING:
    from pathlib import Path

_ZSTANDARD = 93
# A summary has about 1 kB, so that this holds those of some 200,000 samples.
_MAX_MEMBER = 1 << 28


def members_of(path: Path) -> dict[str, zipfile.ZipInfo]:
    """What an archive holds, by name.

    Raises:
        InputError: It is damaged or cut short, or a member's name points out of it, which no log's does.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(path, len(archive.infolist()))
            members = {member.filename: member for member in archive.infolist()}
    except InputError:
        raise
    except ARCHIVE_DAMAGE as error:
        raise InputError("the archive is damaged or cut short", file=path, mend="copy it again") from error
    outside = [name for name in members if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name)]
    if outside:
        raise InputError(
            f"a member of the archive points out of it, {outside[0]!r}: this is no log, or one that was tampered with",
            file=path,
            mend="get it from where it was made",
        )
    return members


def read_member(path: Path, member: zipfile.ZipInfo) -> Any:
    """A JSON member.

    Raises:
        InputError: It is damaged, unpacks to more than it may, or is not JSON.
    """
    too_large = InputError(f"{member.filename} unpacks to more than {_MAX_MEMBER >> 20} MB", file=path)
    if member.file_size > _MAX_MEMBER:
        raise too_large
    try:
        if member.compress_type == _ZSTANDARD:
            data = _unpack_zstandard(path, member)
        else:
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                data = take(file, _MAX_MEMBER + 1)
    except ARCHIVE_DAMAGE as error:
        raise InputError(f"{member.filename} in the archive is damaged", file=path, mend="copy it again") from error
    if len(data) > _MAX_MEMBER:
        raise too_large
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{member.filename} in the archive is not JSON", file=path) from error


def _unpack_zstandard(path: Path, member: zipfile.ZipInfo) -> bytes:
    import zstandard

    with path.open("rb") as file:
        # The header before the data has 30 bytes, then a name and extra fields whose lengths it holds.
        file.seek(member.header_offset)
        header = file.read(30)
        if header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no header before the member")
        skip = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        file.seek(skip, 1)
        packed = file.read(member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            data = take(reader, _MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
    if len(data) <= _MAX_MEMBER and zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile("not what was packed")
    return data
