"""The report on a board: its page, `report.json`, figures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import count, percent, points
from goldassay.core.results import to_plain
from goldassay.questions.discount.study import discount_tables
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.board.scores import BoardScores
    from goldassay.questions.board.study import Board
    from goldassay.questions.run_choice import RunChoice
    from goldassay.report import Report

# Items on the page that decide the first place, and such as strong systems fail and weak ones solve.
_MOST_ITEMS = 30
_MOST_NAMES = 5
# Below this correlation with the rest an item is named, where it is surely not 0.
_SURE = 0.05


def report_board(
    found: Board,
    scores: BoardScores,
    choice: RunChoice,
    missing: str,
    settings: Settings,
    steps: Steps,
    discounted: dict[str, Any] | None = None,
) -> Report:
    """Write up what was found, and what scores are without a shortcut, where that was asked."""
    items = items_of(found, scores)
    against = items.filter((pl.col("q") < _SURE) & (pl.col("discrimination") < 0)).sort("discrimination")
    ranking = found.ranking
    section: dict[str, Any] = to_plain(
        {
            "systems": found.systems,
            "n_items": ranking.n_items,
            "n_clusters": ranking.n_clusters,
            "critical": ranking.critical,
            "level": ranking.level,
            "n_tiers": int(ranking.tiers.max()),
            "n_first": found.n_first,
            "first": found.first,
            "second": found.second,
            "first_stays": found.first_stays,
            "lead": None if found.lead is None else {**found.lead.to_dict(), "decisive": list(found.decisive)},
            "solved_by": found.solved_by,
            "reliability": found.reliability,
            "decisive": items.filter(pl.col("item").is_in(list(found.decisive))).head(_MOST_ITEMS),
            "against": against.head(_MOST_ITEMS),
            "n_against": against.height,
            "asked": list(scores.asked),
            "notes": list(found.notes),
        }
    )
    section["sentences"] = say_board(section)
    findings = {
        "questions": ["board", *(() if discounted is None else ("discount",))],
        "dataset": {"name": scores.name, "n_test": ranking.n_items, "n_systems": len(scores.systems)},
        "inputs": list(scores.inputs),
        "board": section,
        **({} if discounted is None else {"discount": discounted}),
        "settings": {
            "seed": settings.seed,
            "clusters": settings.data.clusters,
            "missing": missing,
            "reading": choice.said(),
        },
    }
    document = frame_findings(f"Board of {scores.name}", findings, steps, settings)
    tables = {"board": found.systems, "board_items": items}
    return compose_report(document, tables if discounted is None else tables | discount_tables(discounted))


def items_of(found: Board, scores: BoardScores) -> pl.DataFrame:
    """One row an item: item, mean score over systems, n_solved, discrimination, q, and whether it decides the lead."""
    of = found.items
    return pl.DataFrame(
        {
            "item": scores.items.tolist(),
            "mean": of.means,
            "n_solved": of.n_solved,
            "discrimination": of.discrimination,
            "q": of.q,
        }
    ).with_columns(pl.col("discrimination", "q").fill_nan(None), decides=pl.col("item").is_in(list(found.decisive)))


def say_board(section: dict[str, Any]) -> list[str]:
    """What the board says, the most important first."""
    systems = section["systems"]
    return [*_first(section, systems), *_lead(section), *_items(section, len(systems))]


def _first(section: dict[str, Any], systems: list[dict[str, Any]]) -> list[str]:
    first, n = section["first"], len(systems)
    others = [row["system"] for row in systems if row["rank_low"] == 1 and row["system"] != first]
    if not others:
        said = f"{first} is surely first of {count(n)} systems on {count(section['n_items'])} items like these."
    else:
        more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
        said = (
            f"{first} scores most of {count(n)} systems on {count(section['n_items'])} items, and is not surely first: "
            f"{', '.join(others[:_MOST_NAMES])}{more} may be."
        )
    found = [said, *section["asked"]]
    if section["n_tiers"] < n:
        found.append(
            f"{count(n)} systems fall into {count(section['n_tiers'])} groups; within a group none is surely worse "
            "than the group's best."
            if section["n_tiers"] > 1
            else f"None of the {count(n)} systems is surely worse than the first."
        )
    shared = [row["system"] for row in systems if row["place"] == 1]
    stays = first if len(shared) == 1 else f"one of the {count(len(shared))} systems that share the first place"
    found.append(f"In {percent(section['first_stays'])} of random halves of the items {stays} is first.")
    same = [row for row in systems if row["same_as"]]
    found += [f"{row['system']} scores as {row['same_as']} on every item." for row in same[:_MOST_NAMES]]
    return found


def _lead(section: dict[str, Any]) -> list[str]:
    lead = section["lead"]
    if lead is None:
        return ["All systems score alike on every item."]
    said = (
        f"{section['first']} is {points(lead['difference'], 2)} points ahead of {section['second']} "
        f"({points(lead['low'], 2)} to {points(lead['high'], 2)}): it scores more on {count(lead['n_for'])} items, and "
        f"less on {count(lead['n_against'])}."
    )
    if lead["n_decisive"]:
        items = "item" if lead["n_decisive"] == 1 else "items"
        said += f" Without {count(lead['n_decisive'])} {items} {section['second']} would be ahead."
    return [said]


def _items(section: dict[str, Any], n: int) -> list[str]:
    solved, found = section["solved_by"], section["reliability"]
    every = "Both" if n == 2 else f"All {count(n)} systems"
    said = [
        f"{every} solve {count(solved['all'])} items, none solves {count(solved['none'])}, and one alone "
        f"{count(solved['one'])}."
    ]
    if found["value"] is not None:
        needed = "" if found["items_needed"] is None else f"; .9 takes {count(round(found['items_needed']))} such items"
        said.append(
            f"Reliability of the totals (KR-20) is {found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
            f"{needed}."
        )
    if section["n_against"]:
        said.append(
            f"{count(section['n_against'])} items are solved by weaker systems and missed by stronger ones more often "
            "than by chance: their answers may be wrong."
        )
    return said
