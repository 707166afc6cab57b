"""The figures on which of two models is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

# A difference of scores has the unit of the scores, which need not be fractions.
_DIFFERENCE = declare(Measure("comparison.difference", "difference of models", "points"))
_MACRO = declare(Measure("comparison.macro_difference", "difference over the mean of datasets", "points"))
_MICRO = declare(Measure("comparison.micro_difference", "difference over all examples", "points"))
_BETTER = declare(Measure("comparison.probability_better", "chance that a run is better", "share", compared=False))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """The difference of every two models, a minus b, and the chance that a run of a is better than one of b.

    Of several datasets the differences over all of them come first.
    """
    found = document.get("comparison") or {}
    pairs, totals = found.get("pairs") or (), found.get("totals") or ()
    made = [
        measure.figure(
            row[f"{kind}_difference"], row[f"{kind}_low"], row[f"{kind}_high"], n=row["n_examples"],
            a=row["a"], b=row["b"], dataset=found["dataset"],
        )
        for row in totals
        for kind, measure in (("macro", _MACRO), ("micro", _MICRO))
    ]  # fmt: skip
    made += [
        _DIFFERENCE.figure(row["difference"], row["low"], row["high"], n=row.get("n_examples"), **_of(row))
        for row in pairs
    ]
    made += [
        _BETTER.figure(
            row["probability_better"], row["probability_low"], row["probability_high"], n=row.get("n_examples"),
            reason="" if row["probability_better"] is not None else "it takes several runs of both", **_of(row),
        )
        for row in pairs
        if "probability_better" in row
    ]  # fmt: skip
    return made


def _of(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"a": row["a"], "b": row["b"], "dataset": row["dataset"]}
