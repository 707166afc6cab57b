"""The section on single examples: which of them change from run to run, and which change together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, row_name, texts
from goldassay.core.numbers import count, number
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

# The page shows examples and pairs of so many sets of runs; the tables of the report have all.
_MOST_SETS = 4
_PAIRS = 10


def example_sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Examples"; none where they were not measured."""
    measured = mapping(document, "instability")
    found = records(measured.get("examples"))
    if not found:
        return ()
    by_spread = {row_name(row): number(row.get("sd")) or 0 for row in records(measured.get("results"))}
    shown = sorted(found, key=lambda row: -by_spread.get(row_name(row), 0))[:_MOST_SETS]
    notes = []
    if len(found) > len(shown):
        notes.append(f"Single examples and pairs are shown for the {_MOST_SETS} least stable sets of runs.")
    section = Section(
        key="examples",
        title="Examples",
        lead="Which examples change from run to run, and which change together?",
        notes=tuple(notes),
        parts=(
            Part("instability_examples", _stability(found)),
            Part("instability_map", _maps(records(measured.get("maps")))),
            # The least stable set of runs is shown, the others are to be opened.
            *(Part(table=_least_stable(row, place)) for place, row in enumerate(shown)),
            *(Part(table=_always_wrong(row, place)) for place, row in enumerate(shown)),
            *(Part(table=_pairs(row, place)) for place, row in enumerate(shown)),
            *(Part(table=table) for place, row in enumerate(shown) for table in _pairs_by_group(row, place)),
        ),
        how=explanation("goldassay.questions.instability", "how_examples"),
    )
    return (section,)


def _stability(found: list[Mapping[str, Any]]) -> Table:
    flips = any(number(row.get("flips")) is not None for row in found)
    rows = []
    for row in found:
        n = number(row.get("n_examples")) or 0
        varying = n - (number(row.get("n_constant")) or 0)
        rows.append(
            {**row, "of": row_name(row), "n_examples": n, "varying": varying, "share": varying / n if n else None}
        )
    columns = (
        Column("of", "runs of", "data"),
        Column("n_examples", "examples", "count"),
        Column("n_always_right", "always right", "count"),
        Column("n_always_wrong", "always wrong", "count"),
        Column("varying", "depend on the run", "count"),
        Column("share", "share", "percent"),
        *((Column("flips", "changes in training", "decimal"),) if flips else ()),
    )
    return Table("stability", "How many examples depend on the run", columns, tuple(rows), file="examples")


def _maps(found: list[Mapping[str, Any]]) -> Table:
    rows = tuple({**group, "of": row_name(each)} for each in found for group in records(each.get("groups")))
    columns = (
        Column("of", "runs of", "data"),
        Column("group", "group", "data"),
        Column("n_examples", "examples drawn", "count"),
        Column("within", "mean correlation with each other", "decimal"),
        Column("with_others", "with the rest", "decimal"),
    )
    return Table("maps", "Correlation within groups and with the rest", columns, rows, folded=True)


def _least_stable(found: Mapping[str, Any], place: int) -> Table:
    columns, rows = _listed(found, "least_stable")
    many = number(found.get("n_least_stable")) or 0
    tied = f": the first of {count(many)} that are equally unstable" if many > len(rows) else ""
    caption = f"Least stable examples, {row_name(found)}{tied}"
    return Table(f"least_stable{place}", caption, columns, rows, file="examples", folded=place > 0)


def _always_wrong(found: Mapping[str, Any], place: int) -> Table:
    """Examples that no run gets right: hard ones, or ones with a wrong label."""
    columns, rows = _listed(found, "always_wrong")
    many = number(found.get("n_always_wrong")) or 0
    more = f": the first of {count(many)}" if many > len(rows) else ""
    caption = f"Examples wrong in every run, {row_name(found)}{more}"
    return Table(f"always_wrong{place}", caption, columns, rows, file="examples", folded=True)


def _listed(found: Mapping[str, Any], key: str) -> tuple[tuple[Column, ...], tuple[Mapping[str, Any], ...]]:
    """Examples with their texts, label and groups, and how stable they are."""
    examples = records(found.get(key))
    runs = number(found.get("n_runs")) or 0
    rows = []
    for row in examples:
        share = number(row.get("mean")) or 0
        rows.append({**row, "mean": share, "right_in": f"{round(share * runs)} of {round(runs)}"})
    columns = (
        Column("example_id", "example", "data"),
        *(Column(name, name, "prose") for name in texts(found.get("text_columns"))),
        *((Column("label", "label", "data"),) if examples and "label" in examples[0] else ()),
        *(Column(f"group_{name}", name, "data") for name in texts(found.get("group_columns"))),
        Column("right_in", "right in", sort="mean"),
        Column("disagreement", "runs that disagree", "percent"),
        *((Column("flips", "changes in training", "decimal", 1),) if any("flips" in row for row in examples) else ()),
    )
    return columns, tuple(rows)


def _pairs(found: Mapping[str, Any], place: int) -> Table:
    written, groups = texts(found.get("text_columns")), texts(found.get("group_columns"))
    rows = tuple(
        {
            **row,
            **_side(row, "_a", written),
            **_side(row, "_b", written),
            **{f"shared_{name}": _shared(row, name) for name in groups},
        }
        for row in records(found.get("pairs"))[:_PAIRS]
    )
    shown: Any = "prose" if written else "data"
    columns = (
        Column("example_a", "one example", shown, aside="named_a"),
        Column("example_b", "the other", shown, aside="named_b"),
        *(Column(f"shared_{name}", f"same {name}", "data", absent="no") for name in groups),
        Column("covariance", "covariance", "decimal", 4),
        Column("ties", "pairs with as much", "count"),
    )
    bound = ", the most that is possible" if found.get("pairs_reach_bound") else ""
    ties = number(found.get("n_pairs_at_most")) or 0
    tied = f": the first of {count(ties)} with the largest covariance{bound}" if ties > _PAIRS else ""
    caption = f"Pairs that change together, {row_name(found)}{tied}"
    return Table(f"pairs{place}", caption, columns, rows, file="covarying_pairs", folded=place > 0)


def _side(row: Mapping[str, Any], side: str, written: tuple[str, ...]) -> dict[str, str]:
    """One example of a pair: its texts, below each other, named by its id; the id alone where there are no texts."""
    name = str(row.get(f"example_id{side}"))
    parts = [str(row[key]) for text in written if row.get(key := f"{text}{side}") is not None]
    if not parts:
        return {f"example{side}": name}
    label = row.get(f"label{side}")
    return {f"example{side}": "\n→ ".join(parts), f"named{side}": name if label is None else f"{name} · {label}"}


def _shared(row: Mapping[str, Any], group: str) -> Any:
    """The group that both examples of a pair are in, or None."""
    one, other = row.get(f"group_{group}_a"), row.get(f"group_{group}_b")
    return one if one == other else None


def _pairs_by_group(found: Mapping[str, Any], place: int) -> list[Table]:
    """Where the pairs with the largest covariance lie, for each group column.

    Open is the last column, the finest as a rule, of the least stable set of runs.
    """
    groupings = records(found.get("pairs_by_group"))
    columns = (
        Column("a", "one example's", "data"),
        Column("b", "the other's", "data", absent="the same"),
        Column("n_pairs", "pairs", "count"),
        Column("share", "share", "percent"),
    )
    tables = []
    for at, each in enumerate(groupings):
        total = number(each.get("n_pairs")) or 0
        rows = tuple(
            {
                **row,
                "b": row.get("b") if row.get("a") != row.get("b") else None,
                "share": (number(row.get("n_pairs")) or 0) / total if total else None,
            }
            for row in records(each.get("rows"))
        )
        caption = (
            f"The {count(total)} pairs with the largest covariance by {each.get('column')}, {row_name(found)}: "
            f"{count(each.get('n_within'))} lie within one"
        )
        folded = place > 0 or at < len(groupings) - 1
        tables.append(Table(f"pairs_by_group{place}_{at}", caption, columns, rows, folded=folded))
    return tables
