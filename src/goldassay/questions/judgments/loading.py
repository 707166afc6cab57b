"""Judgments out of what a command was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.data.kinds.judgments import Judgments, read_judgments
from goldassay.questions.example_clusters import AUTO

if TYPE_CHECKING:
    from goldassay.data.reading import Source
    from goldassay.questions.leakage.item_loading import ItemReading

JUDGMENTS = "judgments"


def load_judgments(source: Source, test: Any, reading: ItemReading) -> Judgments:
    """The judgments of a source that holds such.

    Args:
        source: All rows.
        test: A second set, which judgments have not.
        reading: How the set is to be read.

    Raises:
        InputError: An option is without effect on judgments, or they cannot be used.
    """
    found = read_judgments(source.table, source.name, roles=reading.roles(), source=source.place)
    if found is None:
        raise InputError("there are no rows", file=source.place, mend="give a file with at least one verdict")
    place = source.place
    for given, of in ((test, "test"), (reading.label_names, "label_names"), (reading.split_by, "split_by")):
        if given is not None:
            raise InputError(f"{option(of)}: an audit of judgments does not use it", file=place, mend="leave it out")
    if reading.clusters != AUTO:
        raise InputError(
            f"{option('clusters')}: judgments of one item count as one", file=place,
            mend="leave it out; the role item says what an item is",
        )  # fmt: skip
    return found
