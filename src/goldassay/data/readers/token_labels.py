"""A token and its tag a line, a blank line after each sentence (CoNLL): named and refused, as no text has a label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO

if TYPE_CHECKING:
    from pathlib import Path

name = "token-labels"

_TAG = re.compile(rb"^(O|[BIESLUM]-\S+)$")
_LOOKED_AT = 200


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Short lines that end in a tag (O, B-PER), and blank lines between them."""
    lines = [line.strip() for line in head.split(b"\n")[:_LOOKED_AT]]
    rows = [line.split() for line in lines if line and not line.startswith(b"#")]
    if len(rows) < 2 or b"" not in lines[:-1]:
        return NO
    tagged = sum(2 <= len(row) <= 12 and bool(_TAG.match(row[-1])) for row in rows)
    begun = any(row[-1] != b"O" and _TAG.match(row[-1]) for row in rows)
    return CERTAIN if begun and tagged >= 0.95 * len(rows) else NO


def read(path: Path) -> NoReturn:
    """Refuse it.

    Raises:
        InputError: Always.
    """
    raise InputError(
        "each token has a label, and no text has one; labels of tokens are not supported", file=path,
        mend="join the tokens of a sentence, one text per line, to search it with goldassay overlap",
    )  # fmt: skip
