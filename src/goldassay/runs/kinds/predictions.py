"""Runs: what models predicted or scored of each example, in logs of evaluations or in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goldassay.data.kinds.kind import Match, Strength, joined
from goldassay.data.unread import find_unread
from goldassay.runs.adapters.long_table import with_right_answers, with_settings
from goldassay.runs.adapters.wide_table import run_columns
from goldassay.runs.finding import find_in_own_format
from goldassay.runs.key_columns import SYNONYMS, find_roles
from goldassay.runs.run_parts import ASIDE
from goldassay.runs.tables import are_codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data.table import Table

_ANSWERS = ("prediction", "score", "logits")


class Predictions:
    """See `Kind`; `read_runs` reads them."""

    name: ClassVar[str] = "runs"
    rows: ClassVar[str] = "runs"
    wants: ClassVar[str] = "example_id and prediction or score"
    roles: ClassVar[tuple[str, ...]] = (*SYNONYMS, "group", "configuration", *ASIDE)
    aliases: ClassVar[Mapping[str, str]] = {}
    rank: ClassVar[int] = 1

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`: the format of a tool, or a table with ids and predictions or scores."""
        is_data = table.frame.height > 0
        if table.path is not None and (found := find_in_own_format(table.path, is_data=is_data)):
            formats = ", ".join(dict.fromkeys(part.format for part in found))
            return Match(self, Strength.OWN_FORMAT, {}, found=(formats, tuple(found)))
        frame = table.frame
        if not frame.height:
            return None
        aside = [columns[role] for role in ASIDE if role in columns]
        frame, columns = with_settings(frame, {role: name for role, name in columns.items() if role not in ASIDE})
        if frame.columns == ["text"] and frame.schema["text"] == pl.String and are_codes(frame["text"]):
            core = frozenset(frame.columns)
            return Match(
                self, Strength.TABLE, {"prediction": "text"}, core, core, lacking=("label",), found=("table", ())
            )
        known = with_right_answers(find_roles(frame.columns, dict(columns), table.path), frame)
        answers = [known[role] for role in _ANSWERS if role in known]
        wide = run_columns(frame)
        unread = find_unread(frame, {*known.values(), *wide, *aside}).columns
        # A score beside a text is what the text was given by people, unless something says whose it is, or which try.
        if unread and not known.keys() & {"model", "seed", "prediction", "logits", "trial"}:
            return None
        if not wide and (not answers or "example_id" not in known):
            return None
        lacking = () if wide or "score" in known or "label" in known else ("label",)
        settings = [name for name in frame.columns if name.lower().startswith("config_")]
        # Those that were found to be settings have other names in the table.
        asked = tuple(name for name in table.frame.columns if name not in frame.columns) or tuple(settings)
        return Match(
            kind=self,
            strength=Strength.PARTLY if lacking else Strength.TABLE,
            roles=joined({**known, "configuration": asked}),
            core=frozenset(wide or answers),
            covered=frozenset((*known.values(), *settings, *asked, *wide, *aside)),
            unread=unread,
            lacking=lacking,
            found=("table", ()),
        )
