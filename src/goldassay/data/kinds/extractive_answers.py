"""Extractive answers: questions on a context, and the spans of it that answer them, as SQuAD has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from goldassay.data.column_names import normalized
from goldassay.data.kinds.kind import Match, Strength
from goldassay.data.roles import find_roles
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data.table import Table


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
