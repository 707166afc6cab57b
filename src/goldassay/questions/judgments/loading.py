"""Judgments out of what a command was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.data import parse_columns
from goldassay.data.items.judgment_shapes import JUDGMENT_ROLES
from goldassay.data.items.judgments import Judgments, read_judgments
from goldassay.data.items.mixed import check_one_kind
from goldassay.questions.example_clusters import AUTO
from goldassay.questions.leakage.posed_items import ASK_ABOUT_JUDGES, JUDGED, ItemReading, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

JUDGMENTS = "judgments"


def load_judgments(data: Any, test: Any, reading: ItemReading) -> Judgments | None:
    """The judgments of a set that was refused as labelled texts; None where it holds none.

    Args:
        data: A path or a table.
        test: A second set, which judgments have not.
        reading: How the set is to be read.

    Raises:
        InputError: An option is without effect on judgments, or they cannot be used.
    """
    roles = _roles(reading.columns)
    if roles is None:
        return None
    try:
        table, name, place = read_source(data, "train", reading.file_format)
    except InputError:
        return None
    if not roles:
        check_one_kind(table.frame, place)
    found = read_judgments(table, name, roles=roles, source=place)
    if found is None:
        return None
    for given, of in ((test, "test"), (reading.label_names, "label_names"), (reading.split_by, "split_by")):
        if given is not None:
            raise InputError(f"{option(of)}: an audit of judgments does not use it", file=place, mend="leave it out")
    if reading.clusters != AUTO:
        raise InputError(
            f"{option('clusters')}: judgments of one item count as one", file=place,
            mend=f"leave it out; {option('columns', 'item=NAME')} says what an item is",
        )  # fmt: skip
    return found


def refuse_judgments(data: Any, columns: str | Mapping[str, str] | None) -> None:
    """Refuse judgments where a part of labelled texts is to be measured.

    Args:
        data: A set that was refused as labelled texts.
        columns: Which column plays which role.

    Raises:
        InputError: It holds judgments.
    """
    found = load_judgments(data, None, ItemReading(columns))
    if found is not None:
        raise InputError(JUDGED, file=found.source, mend=ASK_ABOUT_JUDGES)


def _roles(columns: str | Mapping[str, str] | None) -> dict[str, str] | None:
    """The columns by role; None where roles of other data are named."""
    named = dict(parse_columns(columns) if isinstance(columns, str) else columns or {})
    return named if named.keys() <= {*JUDGMENT_ROLES, "ignore"} else None
