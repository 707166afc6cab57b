"""The zip archives that inspect_ai writes: members are unpacked in memory, up to a limit, and never to disk.

Members may be packed with zstandard, which Python's zipfile reads only from 3.14 on.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from goldassay.core.bounds import ARCHIVE_DAMAGE, check_members
from goldassay.core.errors import InputError
from goldassay.runs.tables import ZIP, parse_json, take

if TYPE_CHECKING:
    from pathlib import Path

_ZSTANDARD = 93
# The bit of a member's flags.
_ENCRYPTED = 1
# The end of an archive's directory: its mark, two numbers of disks, entries here and in all, length, start, comment.
_END = struct.Struct("<4s4H2LH")
# An entry of the directory before its name: mark, (versions,) flags, packing, (time,) CRC, sizes, lengths, place.
_ENTRY = struct.Struct("<4s4x2H4x3L3H8xL")
# What stands for a size or place of more than 32 bits.
_LARGE = 0xFFFFFFFF
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


def last_member(path: Path, name: str, among: str) -> zipfile.ZipInfo | None:
    """A member that is the last of an archive, without parsing the others' entries, of which a log has one a sample.

    Args:
        path: The archive.
        name: The member's name.
        among: A name that must stand in the directory, too.

    Returns:
        The member; None where it is not the last, or the directory is not of the plain form that inspect_ai writes.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _END.size, 0))
        end = file.read(_END.size)
        if len(end) < _END.size:
            return None
        mark, disk, first_disk, here, n_members, length, start, comment = _END.unpack(end)
        plain = (disk, first_disk, comment) == (0, 0, 0) and here == n_members and start + length + _END.size == size
        if mark != b"PK\x05\x06" or not plain:
            return None
        check_members(path, n_members)
        file.seek(start)
        directory = file.read(length)
    encoded = name.encode()
    at = len(directory) - len(encoded) - _ENTRY.size
    # A name with dots may lead out of the archive, which the other way of reading refuses.
    if at < 0 or not directory.endswith(encoded) or among.encode() not in directory or b".." in directory:
        return None
    mark, flags, kind, check, packed, unpacked, n_name, n_extra, n_comment, place = _ENTRY.unpack_from(directory, at)
    if (
        mark != b"PK\x01\x02"
        or (n_name, n_extra, n_comment) != (len(encoded), 0, 0)
        or _LARGE in (packed, unpacked, place)
    ):
        return None
    member = zipfile.ZipInfo(name)
    member.flag_bits, member.compress_type, member.CRC = flags, kind, check
    member.compress_size, member.file_size, member.header_offset = packed, unpacked, place
    return member


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
