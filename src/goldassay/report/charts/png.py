"""A small PNG writer, for pictures of more points than shapes can be drawn for."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def png_address(rows: Sequence[bytes]) -> str:
    """Rows of pixels, four bytes each (red, green, blue, opacity), as an address that holds the picture itself."""
    width, height = len(rows[0]) // 4, len(rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    # Each row starts with the number of its filter: none.
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode("ascii")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
