"""Which of several scores of an example is meant, where a file holds more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.naming import listing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def choose_score(offered: Sequence[str], asked: str | None, there: Sequence[str], path: Path) -> str:
    """The score that was asked for, or the only one; never a guess among several.

    Args:
        offered: Names of those that can be scores: numbers within [0, 1].
        asked: What the caller named.
        there: All names in the file, of which any may be asked for.
        path: The file.

    Raises:
        InputError: It is not there, there is none, or there are several and none was asked for.
    """
    if asked is not None:
        if asked in there:
            return asked
        raise InputError(f"there is no score {asked!r}", file=path, mend=f"there are {listing(offered or there, 12)}")
    if len(offered) == 1:
        return offered[0]
    if not offered:
        raise InputError(
            f"none of {listing(there, 8) or 'its fields'} is a score within [0, 1]",
            file=path,
            mend=f"choose one with {option('columns', 'score=METRIC')}",
        )
    raise InputError(
        f"each example has {len(offered)} scores: {listing(offered, 12)}",
        file=path,
        mend=f"choose one with {option('columns', 'score=METRIC')}",
    )
