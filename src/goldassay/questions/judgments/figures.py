"""The figures on judges: what a seat adds, how often the order changes a verdict, agreement with people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, declare, declare_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

declare_verdict("judgments")

_POSITION = declare(
    Measure("judgments.position", "what the first seat adds to the win rate", "points", "lower", least=-1, most=1)
)
_CHANGED = declare(
    Measure(
        "judgments.changed", "items whose verdict changes with the order", "share", "lower", least=0, most=1,
    )
)  # fmt: skip
_FIRST = declare(
    Measure("judgments.first_share", "verdicts for the first seat", "share", least=0, most=1, bounded=False)
)
_LENGTH = declare(
    Measure("judgments.length", "log odds of a length e times as large", "number", compared=False,
            least=-math.inf, most=math.inf)
)  # fmt: skip
_OWN = declare(
    Measure("judgments.own", "log odds of the judge's own model", "number", compared=False,
            least=-math.inf, most=math.inf)
)  # fmt: skip
_ACCURACY = declare(Measure("judgments.accuracy", "verdicts that people share", "share", "higher", least=0, most=1))
_KAPPA = declare(Measure("judgments.kappa", "agreement with people beyond chance", "number", "higher", bounded=False))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Of each judge what the seat, the length and its own model add, and how far people agree."""
    found = document.get("judgments") or {}
    made = []
    for row in found.get("results") or ():
        of = {"model": row["judge"]}
        made.append(
            _POSITION.figure(
                row["effect"], row["low"], row["high"], n=row["n_items"],
                reason="" if row["effect"] is not None else "each pair was shown in one order", **of,
            )
        )  # fmt: skip
        if row["n_both"]:
            made.append(_CHANGED.figure(row["changed"], row["changed_low"], row["changed_high"], n=row["n_both"], **of))
        made.append(_FIRST.figure(row["first_share"], None, None, n=row["n_items"], **of))
    for row in found.get("models") or ():
        for measure, name in ((_LENGTH, "length"), (_OWN, "own")):
            if row[name] is not None:
                bounds = (row[f"{name}_low"], row[f"{name}_high"])
                made.append(measure.figure(row[name], *bounds, n=row["n"], model=row["judge"]))
    for row in found.get("agreement") or ():
        n = row["n_items"]
        made.append(_ACCURACY.figure(row["accuracy"], row["low"], row["high"], n=n, model=row["judge"]))
        made.append(
            _KAPPA.figure(
                row["kappa"], None, None, n=n, model=row["judge"],
                reason="" if row["kappa"] is not None else "one side always wins",
            )
        )  # fmt: skip
    return made
