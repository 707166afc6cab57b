"""Texts with a label each: one text, two of a pair, or questions on a context with the spans that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from goldassay.data.column_names import normalized
from goldassay.data.dataset import is_fractional, own_ids, part_names, unread_columns, whole_ids
from goldassay.data.kinds.kind import Match, Strength
from goldassay.data.labels import as_text, clean_labels
from goldassay.data.roles import ROLES, Roles, find_roles, holds_lists, holds_objects, several
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.data.table import Table


class LabelledTexts:
    """See `Kind`; `build_dataset` reads them."""

    name: ClassVar[str] = "labelled texts"
    rows: ClassVar[str] = "labelled texts"
    wants: ClassVar[str] = "text and label"
    roles: ClassVar[tuple[str, ...]] = ROLES
    aliases: ClassVar[Mapping[str, str]] = {}
    rank: ClassVar[int] = 0

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`: texts and labels by name; unread choices and repeated ids speak against it."""
        frame = table.frame
        # Of several columns, which other kinds join, no single text or label is made.
        if not frame.width or any(several(named, frame.columns, role) == (named,) and named not in frame.columns
                                  for role, named in columns.items()):  # fmt: skip
            return None
        roles, problems = find_roles(frame, columns, table.roles)
        if not roles.texts:
            return None
        unread = unread_columns(frame, roles)
        against = [problem.problem for problem in problems]
        if unread.choices:
            against.append(f"{', '.join(map(repr, unread.choices))} look like choices, responses or answers")
        if roles.id is not None and not _identifies_rows(frame, roles, roles.id):
            against.append(f"ids in {roles.id!r} are missing or repeat")
        lacking = () if roles.label is not None else ("label",)
        if roles.label is not None and (why := _no_classes(frame, roles.label, roles, table.class_names)):
            against.append(why)
        if roles.guessed and (against or unread.columns):
            return None
        core = {*roles.texts.values(), *([roles.label] if roles.label else [])}
        return Match(
            kind=self,
            strength=Strength.GUESSED if roles.guessed else Strength.PARTLY if lacking or against else Strength.FULL,
            roles=roles.as_dict(),
            core=frozenset(core),
            covered=frozenset(roles.covered()),
            unread=unread.columns,
            against=tuple(against),
            lacking=lacking,
            found=roles,
        )


def _identifies_rows(frame: pl.DataFrame, roles: Roles, column: str) -> bool:
    ids = own_ids(frame, column)
    if ids.null_count() or bool((ids == "").any()):
        return False
    if ids.n_unique() == len(ids):
        return True
    within = {group: as_text(frame[group]) for group in roles.groups}
    if roles.split is not None:
        within["split"] = part_names(frame[roles.split])
    return whole_ids(ids, within) is not None


def _no_classes(frame: pl.DataFrame, label: str, roles: Roles, names: Mapping[str, tuple[str, ...]]) -> str:
    """Why the label has no two classes; "" where it has."""
    values = frame[label]
    if values.dtype.is_nested() or holds_objects(values) or holds_lists(values):
        return f"{label!r} holds lists or objects, and not one label a row"
    if names.get(label):
        return ""
    if is_fractional(values):
        return f"{label!r} holds scores with fractions"
    is_pair = tuple(roles.texts) == ("premise", "hypothesis")
    n = clean_labels(values.unique(), is_pair).values.drop_nulls().n_unique()
    return "" if n > 1 else f"{label!r} has {n} class{'es' * (n != 1)}"


class ExtractiveAnswers:
    """See `Kind`; `build_dataset` reads them, without a label."""

    name: ClassVar[str] = "extractive answers"
    rows: ClassVar[str] = "extractive answers"
    wants: ClassVar[str] = "question, context and answers"
    roles: ClassVar[tuple[str, ...]] = ("question", "context", "id", "group", "split", "ignore")
    aliases: ClassVar[Mapping[str, str]] = {}
    rank: ClassVar[int] = 0

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`: a question and a context without a label, and a column of answers."""
        by_name = {normalized(column): column for column in reversed(table.frame.columns)}
        if "answers" not in by_name:
            return None
        roles, _ = find_roles(table.frame, columns, table.roles)
        if set(roles.texts) != {"question", "context"} or roles.label is not None:
            return None
        answers = {by_name[name] for name in ("answers", "answer_starts") if name in by_name}
        covered = roles.covered() | answers
        return Match(
            kind=self,
            strength=Strength.SHAPE,
            roles={**roles.as_dict(), "answers": by_name["answers"]},
            core=frozenset((*roles.texts.values(), by_name["answers"])),
            covered=frozenset(covered),
            unread=find_unread(table.frame, covered).columns,
            found=roles,
        )
