"""The page of a board: which ranks are significant, and which items decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.numbers import bounds, count, number, percent, points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of
from goldassay.questions.answered.degenerate import describe_degenerate
from goldassay.questions.board.result import BoardResult, Item, System, UndisputedScore
from goldassay.questions.rows import issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding

# Systems on the page; the table beside it has all.
_MOST_SYSTEMS = 30
_MOST_NAMES = 5


def sections(found: BoardResult, _: Around) -> tuple[Section, ...]:
    """The section "Board"."""
    section = Section(
        key="board",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=tuple(sentences(found)),
        notes=found.notes,
        parts=(
            Part("board_ranks", _systems(found)),
            *(Part(table=each(found)) for each in (_decisive, _disputed, _undisputed, _against)),
        ),
        how=explanation("goldassay.questions.board", "how"),
    )
    return (section,)


def _systems(found: BoardResult) -> Table:
    columns = (
        Column("place", "place", "count"),
        Column("system", "system", "data", aside="as"),
        Column("score", "weighted score" if found.weighted_by else "score", "points", 2, low="low", high="high"),
        *((Column("unweighted", "unweighted", "points", 2),) if found.weighted_by else ()),
        Column("ranks", "ranks it may have", sort="rank_low"),
        Column("tier", "group", "count"),
        *((Column("n_runs", "runs", "count"),) if any(each.n_runs != 1 for each in found.systems) else ()),
    )

    def more(system: System) -> Mapping[str, Any]:
        return {
            "ranks": ranks_of(system),
            "as": f"scores as {system.same_as} on every item" if system.same_as else None,
        }

    shown = found.systems[:_MOST_SYSTEMS]
    first = "Systems"
    if len(found.systems) > len(shown):
        first = f"The first {count(len(shown))} of {count(len(found.systems))} systems"
    return table_of("board", f"{first}, with the ranks that each may have", columns, shown, more, file="board")


def ranks_of(system: System) -> str:
    """The ranks that a system may have, in words."""
    if system.rank_low == system.rank_high:
        return str(system.rank_low)
    return f"{system.rank_low} to {system.rank_high}"


def _item_table(name: str, caption: str, items: tuple[Item, ...]) -> Table:
    columns = (
        Column("item", "item", "data"),
        Column("n_solved", "solved by", "count"),
        Column("mean", "mean score", "points"),
        Column("discrimination", "correlation with the rest", "decimal", 2),
        *((Column("q", "q", "probability"),) if any(each.q is not None for each in items) else ()),
    )
    return table_of(name, caption, columns, items, file="board_items")


def _decisive(found: BoardResult) -> Table:
    n = None if found.lead is None else found.lead.n_decisive
    caption = f"The {count(n)} items without which {found.second} would be ahead of {found.first}"
    return _item_table("decisive", caption, found.decisive)


def _disputed(found: BoardResult) -> Table:
    columns = (
        Column("item", "item", "data"),
        Column("key", "key", "data"),
        Column("answer", "systems say", "data"),
        Column("n_for", "systems for it", "count"),
        Column("n_against", "for the key", "count"),
        Column("log_odds", "weighed votes", "decimal", 1),
        Column("q", "q", "probability"),
    )
    rows = () if found.keys is None else found.keys.items
    return table_of(
        "disputed", "Items whose systems agree on another answer than the key", columns, rows, file="board_keys"
    )


def _undisputed(found: BoardResult) -> Table:
    columns = (
        Column("system", "system", "data"),
        Column("score", "score", "points", 2, low="low", high="high"),
    )
    rows = () if found.keys is None else found.keys.scores[:_MOST_SYSTEMS]
    return table_of("undisputed", "Scores without these items", columns, rows)


def _against(found: BoardResult) -> Table:
    caption = "Items that weaker systems solve and stronger ones miss"
    return _item_table("against", caption, found.against)


def charts(found: BoardResult, _: Around) -> dict[str, Chart]:
    """A line for each system from the best to the worst rank that it may have, a dot at its place."""
    shown, omitted = first_of([_group(each) for each in found.systems], _MOST_SYSTEMS, "systems")
    return by_name(
        Dots(
            name="board_ranks",
            title="Ranks that each system may have",
            caption="The dot is the place by mean score, the line joins the best and the worst rank that the system "
            "may have; all lines hold at once in 95 of 100 boards. To the right the score with its own 95 % interval.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("rank", unit="count", digits=0, low=1.0),
            headings="left",
        )
    )


def _group(each: System) -> DotGroup:
    hover = f"{each.system}: place {each.place}, rank {each.rank_low} to {each.rank_high}"
    row = DotRow((Dot(float(each.place), hover),), (float(each.rank_low), float(each.rank_high)))
    return DotGroup(each.system, (row,), points(each.score, 1), bounds(each.low, each.high, 1))


def sentences(found: BoardResult) -> list[str]:
    """What the board says, the most important first."""
    flaws = list(map(describe_degenerate, found.degenerate))
    return [*flaws, *_first(found), *_lead(found), *_items(found)]


def _first(found: BoardResult) -> list[str]:
    first, n = found.first, len(found.systems)
    others = found.rivals
    shared = [each.system for each in found.systems if each.place == 1]
    size = f"of {count(n)} systems on {count(found.n_items)} items"
    if not others:
        said = f"{first} is first {size}, and each lead is significant."
    elif len(shared) > 1:
        behind = [each for each in others if each not in shared]
        said = f"{_some(shared)} share the first place {size}"
        said += f"; the lead over {_some(behind)} is not significant." if behind else "."
    else:
        said = f"{first} is first {size}, but its lead is not significant over {_some(others)}."
    lines = [said, *found.asked]
    if found.weighted_by:
        top = found.systems[0]
        plain, best = max((each.unweighted, each.system) for each in found.systems if each.unweighted is not None)
        lines.append(
            f"Scores are weighted by {found.weighted_by}: {first} has {points(top.score, 2)} points, unweighted "
            f"{points(top.unweighted, 2)}. Without weights {best} scores most: {points(plain, 2)}."
        )
    top = found.systems[0]
    if not others and top.rank_high > 1:
        lines.append(
            f"Ranks and groups are corrected for all pairs of systems: by these, {first} has rank {ranks_of(top)}."
        )
    if 1 < found.n_tiers < n:
        lines.append(
            f"{count(n)} systems fall into {count(found.n_tiers)} groups; within a group none is significantly "
            "worse than the group's best."
        )
    elif found.n_tiers == 1 and others:
        lines.append(f"None of the {count(n)} systems is significantly worse than the first.")
    stays = first if len(shared) == 1 else f"one of the {count(len(shared))} systems that share the first place"
    lines.append(f"In {percent(found.first_stays)} of random halves of the items {stays} is first.")
    named = {each.system for each in found.degenerate}
    same = [each for each in found.systems if each.same_as and each.system not in named]
    return lines + [f"{each.system} scores as {each.same_as} on every item." for each in same[:_MOST_NAMES]]


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    if more > 0:
        return f"{', '.join(names[:_MOST_NAMES])} and {count(more)} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _lead(found: BoardResult) -> list[str]:
    lead = found.lead
    if lead is None:
        return ["All systems score alike on every item."]
    said = (
        f"{found.first} is {points(lead.difference, 2)} points ahead of {found.second} "
        f"({points(lead.low, 2)} to {points(lead.high, 2)}): it scores more on {count(lead.n_for)} items, and "
        f"less on {count(lead.n_against)}."
    )
    if lead.n_decisive:
        items = "item" if lead.n_decisive == 1 else "items"
        said += f" Without {count(lead.n_decisive)} {items} {found.second} would be ahead."
    return [said]


def _items(found: BoardResult) -> list[str]:
    n, solved, totals = len(found.systems), found.solved_by, found.reliability
    every = "Both" if n == 2 else f"All {count(n)} systems"
    said = [
        f"{every} solve {count(solved.all)} items, none solves {count(solved.none)}, and one alone {count(solved.one)}."
    ]
    if number(totals.value) is not None:
        needed = number(totals.items_needed)
        more = "" if needed is None else f"; .9 takes {count(round(needed))} such items"
        said.append(
            f"Reliability of the totals (KR-20) is {totals.value:.3f} ({totals.low:.3f} to {totals.high:.3f}){more}."
        )
    said += [*_saturated(found), *_keys(found)]
    if found.n_against and not (found.keys is not None and found.keys.n_disputed):
        said.append(
            f"{count(found.n_against)} items are solved by weaker systems and missed by stronger ones more often "
            "than by chance."
        )
    return said


def _scored(each: UndisputedScore) -> str:
    return f"{points(each.score, 2)} ({points(each.low, 2)} to {points(each.high, 2)})"


def _keys(found: BoardResult) -> list[str]:
    """On how many items the systems agree on another answer than the key; () where answers are not known."""
    keys = found.keys
    if keys is None:
        return []
    if keys.reason:
        return [f"{keys.reason[0].upper()}{keys.reason[1:]}."]
    if not keys.n_disputed:
        return [f"The systems dispute the key of none of {count(keys.n_keys)} items more than chance explains."]
    return [
        f"On {count(keys.n_disputed)} of {count(keys.n_keys)} items the systems agree on another answer than the key, "
        "more than chance explains (5 % false discoveries): read these first.",
        *(f"Without them {each.system} scores {_scored(each)}." for each in keys.scores[:1]),
    ]


def item_lines(found: BoardResult | None) -> list[str]:
    """What a terminal says of the items that systems answered: which part the first systems, and disputed keys."""
    if found is None:
        return []
    titled = (("Saturation", _saturated(found)), ("Keys", _keys(found)))
    return [f"{title:<12} {' '.join(said)}" for title, said in titled if said]


def _saturated(found: BoardResult) -> list[str]:
    """How many items still part the first systems, and whether a better one could be told from the first."""
    said = []
    if found.saturation:
        shares = [f"{percent(each.share)} of the first {each.first}" for each in found.saturation]
        n = count(found.n_items)
        said.append(f"Items that all or none of the first systems solve, of {n}: {', '.join(shares)}.")
    if found.perfect <= 0:
        missed = f"{count(found.n_missed)} item{'' if found.n_missed == 1 else 's'}"
        said.append(
            f"{found.first} misses {missed}: even a system that solves all items would not be significantly better."
        )
    return said


def issues(found: BoardResult, finding: Finding) -> Iterator[Issue]:
    """The systems that may be first as well."""
    if found.rivals:
        mend = "Report the range of ranks beside each place, or add items."
        kind, worst = "not distinguishable from the first", f"{found.rivals[0]} beside {found.first}"
        yield issue(finding, kind, len(found.rivals), worst, mend, of="systems", table="board")
    if found.keys is not None and found.keys.n_disputed and found.keys.items:
        first = found.keys.items[0]
        worst = f"{first.item}: key {first.key}, {count(first.n_for)} systems say {first.answer}"
        mend = "Read these items; correct the key or drop the item."
        yield issue(
            finding, "key disputed by the systems", found.keys.n_disputed, worst, mend, of="items", table="board_keys"
        )


PAGE = Page(
    BoardResult,
    title="Board",
    lead="Which system is first, and which ranks are significant?",
    sections=sections,
    sentences=sentences,
    charts=charts,
    issues=issues,
)
