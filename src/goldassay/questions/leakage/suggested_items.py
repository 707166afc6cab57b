"""The report on items to rewrite first, and on what rules and readers find once they are mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count, percent, points, signed_points
from goldassay.core.results import to_plain
from goldassay.data.kinds import PREFERENCES
from goldassay.questions.leakage.posed_items import item_clusters
from goldassay.questions.leakage.suggesting_items import ItemSuggestion, suggest_items
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.kinds import ItemKind
    from goldassay.questions.leakage.posed_items import Posed
    from goldassay.report.report import Report

# Items on the page; the table beside it has all.
MOST_ROWS = 60


def suggest_item_rewrites(
    posed: Posed, condition: str | None, shares: Sequence[float], settings: Settings, steps: Steps
) -> Report:
    """Rank items by how much their options give away, as `suggest_rewrites` ranks rows.

    Raises:
        InputError: A test set was given, another condition was asked for, or the items are too few.
    """
    kind = posed.test.kind
    if posed.train is not None:
        raise InputError(
            f"{option('test')}: {kind.items} are measured on themselves, in folds",
            mend="leave it out, and give the items that are to be rewritten",
        )
    if condition not in (None, kind.alone):
        raise InputError(
            f"{option('condition')} {condition}: items are ranked by their {kind.options} alone",
            mend=f"leave it out, or write {kind.alone}",
        )
    items = posed.test
    clusters = item_clusters(items, settings.data.clusters)
    with steps.step("measuring without items") as progress:
        found = suggest_items(items, clusters.codes_if_any, shares=shares, seed=settings.seed, progress=progress)
    section = to_plain(
        {
            "source": "suggestion",
            "of_items": True,
            "kind": kind.name,
            "condition": kind.alone,
            "n_rows": len(items),
            "before": found.before,
            "falls": found.falls,
            "mends": found.mends,
            "changed": found.changed,
            "n_seeds": found.n_seeds,
            "rows": found.table.head(MOST_ROWS).select(pl.exclude("row")),
        }
    )
    findings = {
        "questions": ["leakage"],
        "dataset": {
            "name": items.name,
            "kind": kind.name,
            "most_choices": int(items.sizes.max()),
            "n_test": len(items),
        },
        "inputs": list(posed.inputs),
        "leakage": {"sentences": _say(found, len(items), kind), "suggestion": section},
        "settings": {"seed": settings.seed, "condition": kind.alone, "shares": list(shares)},
    }
    title = f"Items of {items.name} to rewrite first"
    tables = {"rows": found.table, "falls": found.falls, "mends": found.mends}
    return compose_report(frame_findings(title, findings, steps, settings), tables)


def _say(found: ItemSuggestion, n: int, kind: ItemKind) -> list[str]:
    before, changed = found.before, found.changed
    said = [
        f"A quick probe of the {kind.options} alone is {signed_points(before['improvement'], 1)} points better than "
        f"guessing, which is right in {points(before['majority'])} %; the rule that gains most is {before['rule']}, "
        f"with {percent(before['rule_effect'])} of what guessing leaves to be gained."
    ]
    each = ", ".join(f"{row['rule']} {count(row['n_to_change'])}" for row in found.mends.to_dicts())
    said.append(
        f"Rules are at chance once so many of the {count(n)} items are changed: {each}."
        if each
        else "No rule without training hits beyond chance."
    )
    if made := _changes(changed, kind):
        said.append(
            f"In a copy {made}; there the probe is {signed_points(changed['improvement'], 1)} points better than "
            f"guessing, and the rule that gains most is {changed['rule']}, with {percent(changed['rule_effect'])}."
        )
    for share in found.falls["share"].unique(maintain_order=True).to_list():
        rows = {row["rows"]: row for row in found.falls.filter(pl.col("share") == share).iter_rows(named=True)}
        one, other = rows["suggested"], rows["random"]
        said.append(
            f"Without the first {one['n_dropped']:,} of {n:,} items the probe is "
            f"{signed_points(one['improvement'], 1)} points better than guessing (without as many at random "
            f"{signed_points(other['improvement'], 1)}), and {one['rule']} gains {percent(one['rule_effect'])} "
            f"({other['rule']} {percent(other['rule_effect'])})."
        )
    return said


def _changes(changed: dict[str, Any], kind: ItemKind) -> str:
    n = changed["n_lengthened"]
    items = f"{count(n)} {'item' if n == 1 else 'items'}"
    swapped = f"the {kind.options} of {items} swap their lengths"
    made = [swapped if kind is PREFERENCES else f"a wrong {kind.option} of {items} is the longest now"] if n else []
    if changed["positions_drawn"]:
        made.append("all positions are drawn anew")
    return " and ".join(made)
