"""Tables on a comparison for papers: the models' scores, and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.tables import Column, Table
from goldassay.questions.instability.latex import paper_tables as tables_of_spread

if TYPE_CHECKING:
    from collections.abc import Mapping


def paper_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """The tables that the document has values for."""
    pairs = records(mapping(document, "comparison").get("pairs"))
    return (*tables_of_spread(document), *((_differences(pairs),) if pairs else ()))


def _differences(pairs: list[Mapping[str, Any]]) -> Table:
    """Differences of models with their intervals and p-values."""
    rows = tuple({**pair, "models": f"{pair.get('a')} − {pair.get('b')}"} for pair in pairs)
    columns = (
        Column("models", "Models", "data"),
        Column("difference", "Difference", "difference", 2),
        Column("", "95\N{NARROW NO-BREAK SPACE}% interval", "interval", 2, low="low", high="high", absent=""),
        Column("adjusted_p", "p", "probability"),
        Column("detectable_difference", "Could be shown", "points", 2),
    )
    over = str(pairs[0].get("interval_method") or "").rpartition("over ")[2]
    comment = (
        f"Differences of mean scores in points, over {over}; p after Holm's correction; the smallest true difference "
        "found with a chance of 80 %."
    )
    return Table("differences", comment, columns, rows)
