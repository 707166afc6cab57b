"""What reading a damaged archive raises."""

from __future__ import annotations

import zipfile
import zlib

# Of a zip that is cut short or changed, of a member that is encrypted (RuntimeError) or packed in a way that is not
# known (NotImplementedError), and of what stands in a member (ValueError, EOFError).
ARCHIVE_DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
