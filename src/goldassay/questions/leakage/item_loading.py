"""Items with choices and preferences out of what a command was given, and which of them count as one."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import Input
from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.data.fields import normalized_texts, value_codes
from goldassay.data.kinds import DATA_KINDS, read_items
from goldassay.data.kinds.choices import ChoiceItems, Choices
from goldassay.data.kinds.judgments import JudgedPairs
from goldassay.data.kinds.kind import CHOICES, PREFERENCES, ItemKind
from goldassay.data.kinds.labelled_texts import LabelledTexts
from goldassay.data.kinds.preferences import Preferences
from goldassay.data.kinds.recognition import Recognition, recognize
from goldassay.data.near_copies import join_near_copies
from goldassay.data.reading import Source, open_source
from goldassay.data.roles import columns_named, own_roles
from goldassay.questions.example_clusters import AUTO, NONE, named_columns
from goldassay.stats.clusters import Clusters, cluster_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.kinds.kind import Match

_COLUMNS_OF = {
    CHOICES.name: "choices=NAME,answer=NAME",
    PREFERENCES.name: "chosen=NAME,rejected=NAME",
}


# Who names one of these has said that the table holds choices or preferences.
_SAYS_KIND = frozenset(("choices", "answer", "chosen", "rejected", "responses", "winner"))
JUDGED = "the file holds judgments of pairs, of which no part gives a label away"


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
    inputs: tuple[Input, ...]

    @property
    def parts(self) -> tuple[ChoiceItems, ...]:
        """Items to learn from, if there are any apart, and those to measure."""
        return (self.test,) if self.train is None else (self.train, self.test)


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

    def roles(self, name: str = "train") -> dict[str, str]:
        """The columns of one input by role."""
        return own_roles(self.columns, name)

    @property
    def dependent(self) -> tuple[str, ...]:
        """Columns whose equal values make items depend on each other."""
        return () if self.clusters in (AUTO, NONE) else named_columns(self.clusters)

    def check(self, file: str, kind: ItemKind) -> None:
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
                f"{option('split_by')}: no part of {kind.items} is split off", file=file,
                mend=f"leave it out; {option('clusters', 'NAME')} says which are answered by probes of others",
            )  # fmt: skip


def load_items(train: Any, test: Any, reading: ItemReading) -> Posed | None:
    """Training and evaluation items; None where the data hold none.

    Args:
        train: Those to learn from, or all; a `Source`, or what `open_source` takes.
        test: Those to measure.
        reading: How they are to be read.

    Raises:
        InputError: One holds choices and the other does not, they cannot be used, or an option is not for items.
    """
    of = reading.roles()
    opened = train if isinstance(train, Source) else open_source(train, "train", reading.file_format, columns=of)
    found = recognize(opened.table, reading.roles(), DATA_KINDS, opened.place)
    match = _best(found, reading)
    return None if match is None else pose_items(opened, match, test, reading)


def pose_items(source: Source, match: Match, test: Any, reading: ItemReading) -> Posed:
    """Training and evaluation items of a source of which the kind is known.

    Raises:
        InputError: As for `load_items`.
    """
    items = _read(source, match, reading)
    if test is None:
        return Posed(None, items, (_described("test", items),))
    reading = replace(reading, columns=reading.roles("test"))
    with columns_named("test"):
        opened = open_source(test, "test", reading.file_format, columns=reading.columns)
        other = _best(recognize(opened.table, reading.roles(), DATA_KINDS, opened.place), reading)
    if other is None or other.kind is not match.kind:
        holds = "none" if other is None else other.kind.rows
        raise InputError(
            f"{items.name} holds {match.kind.rows}, and this holds {holds}", file=opened.place,
            mend="give two sets of one kind",
        )  # fmt: skip
    tried = _read(opened, other, reading, items.first)
    return Posed(items, tried, (_described("train", items), _described("test", tried)))


def _best(found: Recognition, reading: ItemReading) -> Match | None:
    """The match of items; None where labelled texts or nothing is more likely.

    Raises:
        InputError: The table holds judgments in both orders, of which nobody asks which side won.
    """
    judged = found.matches[JudgedPairs.name]
    found.check_one_kind()
    if not reading.judged and judged and judged.found.has_both_orders and not reading.roles().keys() & _SAYS_KIND:
        raise _judged(found.source)
    wanted = [name for name in (Preferences.name, Choices.name) if found.matches[name]]
    if wanted:
        match = found.best([*wanted, LabelledTexts.name])
        return match if match.kind.name in wanted else None
    if judged and not reading.judged and found.best([JudgedPairs.name, LabelledTexts.name]) is judged:
        raise _judged(found.source)
    return None


def _judged(source: str) -> InputError:
    write = f"goldassay audit {shlex.quote(source)}" if entry_point() == SHELL else f"goldassay.audit({source!r})"
    return InputError(JUDGED, file=source, mend=f"{write} says how far each judge follows the seat")


def _read(source: Source, match: Match, reading: ItemReading, first: int | None = None) -> ChoiceItems:
    items = read_items(match, source.table, source.name, reading.roles(), reading.dependent, source.place, first)
    reading.check(source.place, items.kind)
    # What the reader of the files decided comes first.
    return replace(items, decisions=tuple(dict.fromkeys((*source.table.decisions, *items.decisions))))


def _described(role: str, items: ChoiceItems) -> Input:
    unused = items.problems.filter(~pl.col("used"))
    return Input(
        role=role,
        name=items.name,
        files=tuple(file.name for file in items.files),
        sha256=tuple(file.sha256 for file in items.files),
        n_rows=len(items),
        n_read=len(items) + unused.height,
        format=items.kind.name,
        roles={},
        decisions=tuple(items.decisions),
        dropped=dict(unused["reason"].value_counts(sort=True).iter_rows()),
    )


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
