"""Numbers of bytes, as people write them."""

from __future__ import annotations

import re

from goldassay.core.errors import InputError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def parse_size(text: int | str) -> int:
    """Bytes from "2GB" (10^9 each), "800 MB", "1.5GiB" (2^30) or a plain number.

    Raises:
        InputError: It is no size.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?\s*", str(text).upper())
    if match is None:
        raise InputError(f"{text!r} is no number of bytes", mend="write it like 2GB or 800MB")
    return int(float(match[1]) * _UNITS[match[2]])
