"""What rules hit in each subject: a flaw of one subject is small in all items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.multiple_testing import benjamini_hochberg
from goldassay.leakage.choice_rules import Picks, chance_of, rule_effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.items import ChoiceItems

# Of a larger p by the normal approximation nothing is drawn: there is one for each subject and rule.
_DRAWN_BELOW = 0.05
# Standardized excess over chance from which on a rule is followed, where some forty are tried.
_FOLLOWED = 3.0
_SCHEMA: dict[str, type[pl.DataType]] = {
    "subject": pl.String, "rule": pl.String, "n_items": pl.Int64, "hits": pl.Float64, "chance": pl.Float64,
    "effect": pl.Float64, "z": pl.Float64, "p": pl.Float64, "q": pl.Float64,
}  # fmt: skip


def rules_by_subject(
    items: ChoiceItems, picks: Sequence[Picks], clusters: NDArray[np.integer] | None = None, seed: int = 0
) -> pl.DataFrame:
    """Effect of every rule in every subject, as `measure_rules` measures it in all items.

    Args:
        items: N of them, with subjects.
        picks: What each rule picks from all of them.
        clusters: Codes of items that do not vary independently, (N,).
        seed: Of the draws for p.

    Returns:
        A row a subject and rule that picks there: subject, rule, n_items (that it picks from), hits, chance, effect, z,
        p (one-sided) and q, by which false discoveries are controlled over all rows; the least q first. Without
        subjects, or with a single one, there is no row.

    Source: Benjamini and Hochberg 1995.
    """
    if items.subjects is None or items.subjects.n_unique() < 2:
        return pl.DataFrame(schema=pl.Schema(_SCHEMA))
    names, of_item = np.unique(items.subjects.to_list(), return_inverse=True)
    p, sizes, n_right = chance_of(items), items.sizes, items.n_right
    rng = np.random.default_rng(seed)
    rows = []
    for code, name in enumerate(names.tolist()):
        own = np.flatnonzero(of_item == code)
        for each in picks:
            among = None if clusters is None else clusters[own]
            found = rule_effect(each.take(own), p[own], sizes[own], n_right[own], among, rng, _DRAWN_BELOW)
            if found.n_items and not math.isnan(found.p):
                rows.append((name, *found.to_dict().values()))
    frame = pl.DataFrame(rows, schema=[*list(_SCHEMA)[:-1], "p_adjusted"], orient="row").drop("p_adjusted")
    q = benjamini_hochberg(frame["p"].to_numpy())
    return frame.with_columns(q=pl.Series(q)).cast(pl.Schema(_SCHEMA)).sort("q", -pl.col("z"), "subject", "rule")


def pick_by_subject(
    items: ChoiceItems, picks: Sequence[Picks], rule: str, folds: NDArray[np.integer], clusters: NDArray[np.integer]
) -> Picks | None:
    """What the rule picks that gains most on the other folds of the same subject; None without several subjects.

    Rules that point to different choices in different subjects gain nothing over all items, and whoever knows the
    subject gains by each. A rule is followed where z = sum of excess / sqrt(sum of squares of the clusters' sums) is at
    least 3 on the other folds; else nothing is picked.

    Args:
        items: N of them.
        picks: What each rule picks from all of them.
        rule: What to call it.
        folds: Of the items, whole clusters together, (N,).
        clusters: Codes of items that do not vary independently, from 0, (N,).
    """
    if items.subjects is None or items.subjects.n_unique() < 2:
        return None
    of_item = np.unique(items.subjects.to_list(), return_inverse=True)[1]
    chance = chance_of(items)
    hits, applies, sizes = chance.copy(), np.zeros(len(items), np.bool_), np.zeros(len(items), np.int64)
    for subject in range(int(of_item.max()) + 1):
        own = of_item == subject
        for fold in np.unique(folds[own]).tolist():
            inside, outside = np.flatnonzero(own & (folds == fold)), np.flatnonzero(own & (folds != fold))
            codes = np.unique(clusters[outside], return_inverse=True)[1]
            sums = [np.bincount(codes, (each.hits - chance)[outside]) for each in picks]
            gained = [float(each.sum() / math.sqrt(spread)) if (spread := (each**2).sum()) else 0.0 for each in sums]
            best = int(np.argmax(gained)) if gained else 0
            if gained and gained[best] >= _FOLLOWED:
                hits[inside] = picks[best].hits[inside]
                applies[inside] = picks[best].applies[inside]
                sizes[inside] = picks[best].sizes[inside]
    return Picks(rule, hits, applies, sizes)
