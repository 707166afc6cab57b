"""The zip archives that inspect_ai writes: members are unpacked in memory, up to a limit, and never to disk.

Members may be packed with zstandard, which Python's zipfile reads only from 3.14 on.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from goldassay.core.bounds import check_members
from goldassay.core.errors import InputError
from goldassay.runs.adapters.damage import ARCHIVE_DAMAGE
from goldassay.runs.json_values import parse_json
from goldassay.runs.tables import ZIP, take

if TYPE_CHECKING:
    from pathlib import Path

_ZSTANDARD = 93
# The bit of a member's flags.
_ENCRYPTED = 1
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
    outside = [
        name for name in members if name.startswith(("/", "\\")) or (".." in name and ".." in re.split(r"[/\\]", name))
    ]
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
            data = _unpack_zstandard(_packed(path, member))
        elif member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not member.flag_bits & _ENCRYPTED:
            data = _unpack_plain(_packed(path, member), member.compress_type)
        else:
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                data = take(file, _MAX_MEMBER + 1)
        if len(data) <= _MAX_MEMBER and zlib.crc32(data) != member.CRC:
            raise zipfile.BadZipFile("not what was packed")
    except ARCHIVE_DAMAGE as error:
        raise InputError(f"{member.filename} in the archive is damaged", file=path, mend="copy it again") from error
    if len(data) > _MAX_MEMBER:
        raise too_large
    try:
        return parse_json(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{member.filename} in the archive is not JSON", file=path) from error


def _packed(path: Path, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member as they are packed, without parsing the archive's directory once more.

    Raises:
        BadZipFile: The member does not begin where the directory says.
    """
    with path.open("rb") as file:
        # The header before the data has 30 bytes, then a name and extra fields whose lengths it holds.
        file.seek(member.header_offset)
        header = file.read(30)
        if header[:4] != ZIP:
            raise zipfile.BadZipFile("no header before the member")
        skip = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        file.seek(skip, 1)
        packed = file.read(member.compress_size)
    if len(packed) < member.compress_size:
        raise zipfile.BadZipFile("the archive ends within the member")
    return packed


def _unpack_plain(packed: bytes, kind: int) -> bytes:
    """What was stored as it is, or deflated; at most a byte more than a member may have."""
    if kind == zipfile.ZIP_STORED:
        return packed
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    data = unpacking.decompress(packed, _MAX_MEMBER + 1)
    if len(data) <= _MAX_MEMBER and not unpacking.eof:
        raise zipfile.BadZipFile("the member ends too early")
    return data


def _unpack_zstandard(packed: bytes) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            return take(reader, _MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
