"""Items with choices and preferences out of what a command was given, and which of them count as one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import BoundError, InputError
from goldassay.data import Dataset, parse_columns
from goldassay.data.frames import table_of
from goldassay.data.hub_names import is_hub_name
from goldassay.data.items import CHOICES, PREFERENCES, ChoiceItems, Kind
from goldassay.data.items.judgment_shapes import holds_both_orders
from goldassay.data.items.mixed import check_one_kind
from goldassay.data.items.reading import item_roles, read_items
from goldassay.data.near_copies import join_near_copies
from goldassay.data.reading import name_of, read_table
from goldassay.data.row_values import normalized_texts, value_codes
from goldassay.data.table import Table
from goldassay.questions.example_clusters import AUTO, NONE, named_columns
from goldassay.questions.leakage.condition_evidence import named_path
from goldassay.stats.clusters import Clusters, cluster_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COLUMNS_OF = {
    CHOICES.name: "choices=NAME,answer=NAME",
    PREFERENCES.name: "chosen=NAME,rejected=NAME",
}


# Who names one of these has said that the table holds choices or preferences.
_SAYS_KIND = frozenset(("choices", "answer", "chosen", "rejected", "responses", "winner"))
JUDGED = "the file holds judgments of pairs, of which no part gives a label away"
ASK_ABOUT_JUDGES = "ask goldassay audit FILE how far each judge follows the seat"


@dataclass(frozen=True)
class Posed:
    """The items of a command.

    Attributes:
        train: Those to learn from; None where each item is answered by probes of the others.
        test: Those to measure.
        inputs: What the report says of each file.
    """

    train: ChoiceItems | None
    test: ChoiceItems
    inputs: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class ItemReading:
    """How items are read, as a command was told.

    Attributes:
        columns: Which column plays which role.
        file_format: Of the files, where their content does not say it.
        clusters: Which items count as one: "auto", "none", or columns, separated by commas.
        split_by: Columns that keep labelled rows together where a part is set apart; None where none was named.
        label_names: Labels that may occur; None where none was named.
        judged: Whether judgments of pairs may be read as preferences, where nobody asks which side won.
    """

    columns: str | Mapping[str, str] | None = None
    file_format: str = "auto"
    clusters: str = AUTO
    split_by: str | None = None
    label_names: Sequence[str] | None = None
    judged: bool = False

    def roles(self) -> dict[str, str] | None:
        """The columns by role; None where roles of labelled texts are named, so that no items are meant."""
        named = dict(parse_columns(self.columns) if isinstance(self.columns, str) else self.columns or {})
        return item_roles(named)

    @property
    def dependent(self) -> tuple[str, ...]:
        """Columns whose equal values make items depend on each other."""
        return () if self.clusters in (AUTO, NONE) else named_columns(self.clusters)

    def check(self, file: str, kind: Kind) -> None:
        """Refuse what labelled texts have and items have not.

        Raises:
            InputError: An option is without effect on items.
        """
        if self.label_names is not None:
            raise InputError(
                f"{option('label_names')}: {kind.items} have no labels", file=file,
                mend=f"leave it out; {option('columns', _COLUMNS_OF[kind.name])} says where the answers stand",
            )  # fmt: skip
        if self.split_by is not None:
            raise InputError(
                f"{option('split_by')}: no part of {kind.items} is set apart", file=file,
                mend=f"leave it out; {option('clusters', 'NAME')} says which are answered by probes of others",
            )  # fmt: skip


def load_items(train: Any, test: Any, reading: ItemReading, *, refused: bool = False) -> Posed | None:
    """Training and evaluation items; None where the data hold no choices.

    Args:
        train: Those to learn from, or all.
        test: Those to measure.
        reading: How they are to be read.
        refused: The data were refused as labelled texts: what cannot be read at all is no items, and that error stands.

    Raises:
        InputError: One holds choices and the other does not, they cannot be used, or an option is not for items.
    """
    try:
        table = read_source(train, "train", reading.file_format)
    except BoundError:
        raise
    except InputError:
        if refused:
            return None
        raise
    source = _items(table, reading)
    if source is None:
        return None
    if test is None:
        return Posed(None, source, (_described("test", source),))
    tried = _items(read_source(test, "test", reading.file_format), reading)
    if tried is None or tried.kind is not source.kind:
        other = "none" if tried is None else tried.kind.items
        raise InputError(
            f"{source.name} holds {source.kind.items}, and this holds {other}", file=named_path(test)[0],
            mend="give two sets of one kind",
        )  # fmt: skip
    return Posed(source, tried, (_described("train", source), _described("test", tried)))


def read_source(data: Any, part: str, file_format: str) -> tuple[Table, str, str]:
    """The columns of a set as they are, its name, and what messages call it."""
    name, place = named_path(data)
    if isinstance(place, Dataset):
        return Table(place.examples, "frame"), name or place.name, place.source
    if not isinstance(place, (str, os.PathLike)):
        return table_of(place), name or part, name or part
    if is_hub_name(os.fspath(place)):
        from goldassay.data.hub import read_hub

        called = os.fspath(place).removeprefix("hf://datasets/")
        return read_hub(os.fspath(place)), name or called, os.fspath(place)
    return read_table(Path(place), file_format), name or name_of(Path(place)), os.fspath(place)


def _items(source: tuple[Table, str, str], reading: ItemReading) -> ChoiceItems | None:
    table, name, place = source
    roles = reading.roles()
    if roles is None:
        return None
    if not roles:
        check_one_kind(table.frame, place)
    if not reading.judged and not roles.keys() & _SAYS_KIND and holds_both_orders(table.frame):
        raise InputError(JUDGED, file=place, mend=ASK_ABOUT_JUDGES)
    found = read_items(table, name, roles, dependent=reading.dependent, source=place)
    if found is not None:
        reading.check(place, found.kind)
    return found


def _described(role: str, items: ChoiceItems) -> dict[str, Any]:
    unused = items.problems.filter(~pl.col("used"))
    return {
        "role": role,
        "name": items.name,
        "files": [file.name for file in items.files],
        "sha256": [file.sha256 for file in items.files],
        "n_rows": len(items),
        "n_read": len(items) + unused.height,
        "format": items.kind.name,
        "roles": {},
        "decisions": list(items.decisions),
        "dropped": dict(unused["reason"].value_counts(sort=True).iter_rows()),
    }


def item_clusters(items: ChoiceItems, by: str = AUTO) -> Clusters:
    """Items with the same passage, or without one with the same question, count as one cluster.

    Raises:
        InputError: All items are one cluster by the columns that were named.
    """
    if by == NONE:
        return Clusters(np.arange(len(items)), "Each item counts by itself, as chosen.", ())
    if by != AUTO:
        by_column = {values.name: value_codes(values) for values in items.dependent}
        return cluster_rows(by_column, len(items), chosen=True)
    name = "passage" if (items.passages != "").any() else items.kind.question
    texts = normalized_texts(
        pl.select(pl.when(items.passages != "").then(items.passages).otherwise(items.questions)).to_series()
    )
    distinct = texts.unique(maintain_order=True)
    codes = pl.DataFrame({"text": texts}).join(
        pl.DataFrame({"text": distinct, "code": np.arange(len(distinct))}), on="text", how="left", maintain_order="left"
    )["code"].to_numpy()  # fmt: skip
    joined = join_near_copies(distinct.to_list(), np.bincount(codes))[codes]
    # Nothing that is asked is nothing in common.
    joined = np.where((texts == "").to_numpy(), len(distinct) + np.arange(len(items)), joined)
    return cluster_rows({name: joined}, len(items))
