"""Examples: which of them change from run to run, and which change together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import count, decimal_cell, number, percent_cell, whole_cell
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

# The page shows examples and pairs of so many sets of runs; the tables beside it hold all.
_MOST_SETS = 4
_PAIRS = 10


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Examples"; None where they were not measured."""
    found = records(mapping(document, "instability").get("examples"))
    if not found:
        return None
    by_spread = {row_name(row): number(row.get("sd")) or 0 for row in records(document["instability"].get("results"))}
    shown = sorted(found, key=lambda row: -by_spread.get(row_name(row), 0))[:_MOST_SETS]
    notes = []
    if len(found) > len(shown):
        notes.append(f"Single examples and pairs are shown for the {_MOST_SETS} least stable sets of runs.")
    return Section(
        key="examples",
        title="Examples",
        question="Which examples change from run to run, and which change together?",
        notes=tuple(notes),
        parts=(
            Part("instability_examples", _stability(found)),
            Part("instability_map", _maps(records(mapping(document, "instability").get("maps"))), folded=True),
            # The least stable set of runs is shown, the others are to be opened.
            *(Part(None, _least_stable(row), folded=row is not shown[0]) for row in shown),
            *(Part(None, _always_wrong(row), folded=True) for row in shown),
            *(Part(None, _pairs(row), folded=row is not shown[0]) for row in shown),
            *_by_group(shown),
        ),
        explained=True,
    )


def _by_group(shown: list[Mapping[str, Any]]) -> list[Part]:
    """Where tied pairs lie; open is the last column, the finest as a rule, of the least stable set of runs."""
    tables = [_pairs_by_group(row) for row in shown]
    return [
        Part(None, table, folded=position > 0 or table is not each[-1])
        for position, each in enumerate(tables)
        for table in each
    ]


def _stability(found: list[Mapping[str, Any]]) -> Table:
    flips = any(number(row.get("flips")) is not None for row in found)
    rows = []
    for row in found:
        n = number(row.get("n_examples")) or 0
        varying = n - (number(row.get("n_constant")) or 0)
        cells = [
            data(row_name(row)),
            whole_cell(n),
            whole_cell(row.get("n_always_right")),
            whole_cell(row.get("n_always_wrong")),
            whole_cell(varying),
            percent_cell(varying / n if n else None),
        ]
        rows.append((*cells, decimal_cell(row.get("flips"))) if flips else tuple(cells))
    columns = ["runs of", "examples", "always right", "always wrong", "depend on the run", "share"]
    columns += ["changes in training"] if flips else []
    return Table("How many examples depend on the run", tuple(columns), tuple(rows), "examples")


def _maps(found: list[Mapping[str, Any]]) -> Table:
    rows = [
        (
            data(row_name(each)),
            data(group.get("group")),
            whole_cell(group.get("n_examples")),
            decimal_cell(group.get("within")),
            decimal_cell(group.get("with_others")),
        )
        for each in found
        for group in records(each.get("groups"))
    ]
    columns = ("runs of", "group", "examples drawn", "mean correlation with each other", "with the rest")
    return Table("Correlation within groups and with the rest", columns, tuple(rows))


def _least_stable(found: Mapping[str, Any]) -> Table:
    columns, rows = _listed(found, "least_stable")
    many = number(found.get("n_least_stable")) or 0
    tied = f": the first of {count(many)} that are equally unstable" if many > len(rows) else ""
    return Table(f"Least stable examples, {row_name(found)}{tied}", columns, rows, "examples")


def _always_wrong(found: Mapping[str, Any]) -> Table:
    """Examples that no run gets right: hard ones, or ones with a wrong label."""
    columns, rows = _listed(found, "always_wrong")
    many = number(found.get("n_always_wrong")) or 0
    more = f": the first of {count(many)}" if many > len(rows) else ""
    return Table(f"Examples wrong in every run, {row_name(found)}{more}", columns, rows, "examples")


def _listed(found: Mapping[str, Any], key: str) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Examples with their texts, label and groups, and how stable they are."""
    groups = [str(name) for name in found.get("group_columns") or ()]
    texts = [str(name) for name in found.get("text_columns") or ()]
    examples = records(found.get(key))
    flips = any("flips" in row for row in examples)
    runs = number(found.get("n_runs")) or 0
    rows = []
    for row in examples:
        cells = [data(row.get("example_id"))]
        cells += [Cell(str(row.get(name) or "—"), code=True, prose=True) for name in texts]
        cells += [data(row.get("label"))] if "label" in row else []
        cells += [data(row.get(f"group_{name}")) for name in groups]
        share = number(row.get("mean")) or 0
        cells += [Cell(f"{round(share * runs)} of {round(runs)}", share), percent_cell(row.get("disagreement"))]
        cells += [decimal_cell(row.get("flips"), 1)] if flips else []
        rows.append(tuple(cells))
    columns = ["example", *texts]
    columns += ["label"] if examples and "label" in examples[0] else []
    columns += [*groups, "right in", "runs that disagree"]
    columns += ["changes in training"] if flips else []
    return tuple(columns), tuple(rows)


def _pairs_caption(found: Mapping[str, Any]) -> str:
    bound = ", the most that is possible" if found.get("pairs_reach_bound") else ""
    ties = number(found.get("n_pairs_at_most")) or 0
    tied = f": the first of {count(ties)} with the largest covariance{bound}" if ties > _PAIRS else ""
    return f"Pairs that change together, {row_name(found)}{tied}"


def _pairs(found: Mapping[str, Any]) -> Table:
    texts = [str(name) for name in found.get("text_columns") or ()]
    groups = [str(name) for name in found.get("group_columns") or ()]
    rows = tuple(
        (
            _side(row, "_a", texts),
            _side(row, "_b", texts),
            *(_shared(row, name) for name in groups),
            decimal_cell(row.get("covariance"), 4),
            whole_cell(row.get("ties")),
        )
        for row in records(found.get("pairs"))[:_PAIRS]
    )
    columns = ("one example", "the other", *(f"same {name}" for name in groups), "covariance", "pairs with as much")
    return Table(_pairs_caption(found) if rows else "", columns, rows, "covarying_pairs")


def _side(row: Mapping[str, Any], side: str, texts: list[str]) -> Cell:
    """One example of a pair: its texts, below each other, and its id; the id alone where there are no texts."""
    name = str(row.get(f"example_id{side}"))
    written = [str(row[key]) for text in texts if row.get(key := f"{text}{side}") is not None]
    if not written:
        return data(name)
    label = row.get(f"label{side}")
    aside = name if label is None else f"{name} · {label}"
    return Cell("\n→ ".join(written), code=True, aside=aside, prose=True)


def _shared(row: Mapping[str, Any], group: str) -> Cell:
    one, other = row.get(f"group_{group}_a"), row.get(f"group_{group}_b")
    return data(one) if one == other else Cell("no")


def _pairs_by_group(found: Mapping[str, Any]) -> list[Table]:
    """Where the pairs with the largest covariance lie, for each group column."""
    tables = []
    for each in records(found.get("pairs_by_group")):
        total = number(each.get("n_pairs")) or 0
        rows = tuple(
            (
                data(row.get("a")),
                data(row.get("b")) if row.get("a") != row.get("b") else Cell("the same"),
                whole_cell(row.get("n_pairs")),
                percent_cell((number(row.get("n_pairs")) or 0) / total if total else None),
            )
            for row in records(each.get("rows"))
        )
        caption = (
            f"The {count(total)} pairs with the largest covariance by {each.get('column')}, {row_name(found)}: "
            f"{count(each.get('n_within'))} lie within one"
        )
        tables.append(Table(caption, ("one example's", "the other's", "pairs", "share"), rows))
    return tables
