"""The figures on how far a score moves with the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

declare_verdict("sensitivity")

_SD = declare(
    Measure(
        "sensitivity.sd", "SD over configurations", "points", "lower", least=0,
        rule=Rule("max_configuration_sd", "SD of the score over configurations", "at most"),
    )
)  # fmt: skip
_RANGE = declare(Measure("sensitivity.range", "range over configurations", "points", "lower", least=0))
_REPEATS = declare(Measure("sensitivity.repeat_sd", "SD over repeats", "points", "lower", least=0, compared=False))
_BEST = declare(Measure("sensitivity.best", "score of the best configuration, picked elsewhere", "points", "higher"))
_WORST = declare(Measure("sensitivity.worst", "score of the worst configuration, picked elsewhere", "points", "higher"))
_ORDER = declare(
    Measure("sensitivity.order_changes", "pairs of models whose order changes", "share", "lower", least=0, most=1)
)


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Of each model and dataset the spread over configurations and repeats, the range, the best and the worst."""
    found = document.get("sensitivity") or {}
    made = []
    for row in found.get("results") or ():
        of = {key: row.get(key) for key in ("model", "dataset", "condition")}
        n = row["n_examples"]
        made += [
            _SD.figure(
                row["sd"], row["sd_low"], row["sd_high"], n=n,
                reason="" if row["sd"] is not None else "it takes five configurations", **of,
            ),
            _RANGE.figure(row["range"], row["range_low"], row["range_high"], n=n, **of),
            _REPEATS.figure(
                row["repeat_sd"], None, None, n=n,
                reason="" if row["repeat_sd"] is not None else "no configuration was repeated", **of,
            ),
            *(
                measure.figure(row[f"{name}_elsewhere"], row[f"{name}_low"], row[f"{name}_high"], n=n, **of)
                for name, measure in (("best", _BEST), ("worst", _WORST))
            ),
        ]  # fmt: skip
    if n_pairs := found.get("n_pairs"):
        made.append(_ORDER.figure(found["n_changed"] / n_pairs))
    return made
