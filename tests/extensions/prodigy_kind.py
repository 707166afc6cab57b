"""A kind of rows: what Prodigy's choices export, of which the option that a person accepted is the label."""

from collections.abc import Mapping

import polars as pl

from goldassay.data.kinds.kind import Match, Strength
from goldassay.data.table import Table


class Prodigy:
    """Texts with options, and the ids of those that were accepted."""

    name, rows, wants = "prodigy", "annotations", "text, options and accept"
    roles, aliases, rank = ("text", "options", "accept"), {}, 0

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """Recognize all three columns."""
        found = {role: role for role in self.roles if role in table.frame.columns}
        return Match(self, Strength.OWN_FORMAT, found) if len(found) == 3 else None

    def read(self, table: Table, match: Match) -> pl.DataFrame:
        """The first id that was accepted as the label; a row without one has no label."""
        return table.frame.drop("options", "accept").with_columns(label=table.frame["accept"].list.first())


PRODIGY = Prodigy()
