"""The section on a comparison over several datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import records, texts
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

# More differences are read off the chart; their table is to be opened.
_MOST_OPEN = 24


def suite_section(found: Mapping[str, Any], title: str, lead: str) -> Section:
    """Totals first, then each dataset."""
    totals, pairs = records(found.get("totals")), records(found.get("pairs"))
    return Section(
        key="comparison",
        title=title,
        lead=lead,
        sentences=texts(found.get("sentences")),
        notes=texts(found.get("notes")),
        caveats=texts(found.get("caveats")),
        parts=(
            Part(table=_models(found)),
            Part("instability_differences", _totals(totals)),
            *((Part(table=equivalence_table(totals)),) if any(row.get("equivalence") for row in totals) else ()),
            Part(table=_datasets(pairs, len(totals) > 1)),
        ),
        how=explanation("goldassay.questions.comparison", "how"),
    )


def equivalence_table(pairs: list[Mapping[str, Any]]) -> Table:
    """Whether the differences of pairs lie within the margin."""
    columns = (
        Column("models", "models", "data"),
        Column("margin", "margin", "points", 2),
        Column("equivalence", "the difference is"),
        Column("equivalence_p", "p, two one-sided tests", "probability"),
        Column("equivalence_low", "90 % interval from", "difference", 2),
        Column("equivalence_high", "to", "difference", 2),
    )
    rows = tuple({**pair, "models": _named(pair)} for pair in pairs)
    caption = "Whether the models score the same as far as it matters, in points"
    return Table("equivalence", caption, columns, rows, folded=len(pairs) > _MOST_OPEN)


def _models(found: Mapping[str, Any]) -> Table:
    rows = sorted(records(found.get("models")), key=lambda row: -float(row.get("macro") or 0))
    columns = (
        Column("name", "model", "data"),
        Column("macro", "mean of the datasets", "points", 2),
        Column("micro", "mean of the examples", "points", 2),
    )
    return Table("models", "Scores of the models over all datasets, in points", columns, tuple(rows), file="models")


def _totals(totals: list[Mapping[str, Any]]) -> Table:
    rows = tuple(
        {
            **row, "models": _named(row), "told_apart": "yes" if row.get("told_apart") else "no",
            "differ": "yes" if row.get("differ") else "no",
        }
        for row in totals
    )  # fmt: skip
    of_models = all(row.get("told_apart") or not row.get("differ") for row in totals)
    columns = (
        Column("models", "models", "data"),
        Column("macro_difference", "mean of the datasets", "difference", 2, low="macro_low", high="macro_high"),
        Column("macro_p", "p", "probability"),
        *((Column("adjusted_p", "p, Holm's correction", "probability"),) if len(totals) > 1 else ()),
        Column("micro_difference", "mean of the examples", "difference", 2, low="micro_low", high="micro_high"),
        Column("micro_p", "p", "probability"),
        *((Column("micro_adjusted_p", "p, Holm's correction", "probability"),) if len(totals) > 1 else ()),
        *(() if of_models else (Column("differ", "runs differ"),)),
        Column("told_apart", "told apart"),
    )
    caption = "Differences over all datasets, in points"
    return Table("totals", caption, columns, rows, file="totals", folded=len(totals) > _MOST_OPEN)


def _datasets(pairs: list[Mapping[str, Any]], several: bool) -> Table:
    rows = tuple({**pair, "models": _named(pair), "differ": "yes" if pair.get("differ") else "no"} for pair in pairs)
    columns = (
        Column("dataset", "dataset", "data"),
        *((Column("models", "models", "data"),) if several else ()),
        Column("n_examples", "examples", "count"),
        Column("mean_a", "first", "points", 2),
        Column("mean_b", "second", "points", 2),
        Column("difference", "difference", "difference", 2, low="low", high="high"),
        Column("p_value", "p", "probability"),
        Column("adjusted_p", "p, Holm's correction over datasets", "probability"),
        Column("differ", "differ"),
    )
    which = "" if several or not pairs else f", {_named(pairs[0])}"
    caption = f"Differences on each dataset, in points{which}"
    return Table("differences", caption, columns, rows, file="comparisons", folded=len(pairs) > _MOST_OPEN)


def _named(pair: Mapping[str, Any]) -> str:
    return f"{pair.get('a')} − {pair.get('b')}"
