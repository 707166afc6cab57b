"""What the paper concludes, and what became of it in our runs and in the released ones."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import decimal, signed_points
from goldassay.papers.instability.evidence import REFERENCE, STANDARD
from goldassay.papers.majority import middle_of
from goldassay.papers.recipe import Conclusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.papers.instability.evidence import Evidence


def conclude(found: Sequence[Evidence]) -> tuple[Conclusion, ...]:
    """What became of each conclusion, as far as there are runs to say so."""
    return (
        _larger_spread(found),
        _covariance(found),
        *_correlation(found),
        *_selection(found),
    )


def _larger_spread(found: Sequence[Evidence]) -> Conclusion:
    """Of every model and analysis set the deviation and its interval; the median decides."""
    rows = [
        row
        for each in found
        for row in each.deviations
        if row["dataset"] not in STANDARD and row["recommended"] is not None and row["low"] is not None
    ]
    statement = "Analysis sets are far less stable over seeds than the standard set."
    if not rows:
        return Conclusion("Unstable", statement, "Table 1", "not measured", "No model has two runs on both.")
    above = sum(row["low"] > 1 for row in rows)
    below = sum(row["high"] < 1 for row in rows)
    middle, called = _middle(rows, "recommended")
    widest = max(rows, key=lambda row: row["recommended"])
    return Conclusion(
        "Unstable",
        statement,
        "Table 1",
        "held" if above > len(rows) / 2 else "did not hold" if below > len(rows) / 2 else "not shown",
        f"Of {len(rows)} pairs of model and analysis set {above} spread more than {REFERENCE} for their size beyond "
        f"doubt, {below} less; most {widest['model']} on {widest['dataset']}: {decimal(widest['recommended'], 1)} "
        "times. "
        f"The figure is of {called}, {middle['model']} on {middle['dataset']}.",
        middle["recommended"],
        middle["low"],
        middle["high"],
        "ratio",
    )


def _covariance(found: Sequence[Evidence]) -> Conclusion:
    """Whether examples of analysis sets fall together, and those of standard sets do not."""
    rows = [row for each in found for row in each.results if row["design_effect"] is not None]
    bounds = {key: value for each in found for key, value in each.design_effects.items()}
    statement = "The instability comes from examples that are right or wrong together, not from single predictions."
    analysis = [row for row in rows if row["dataset"] not in STANDARD]
    standard = [row["design_effect"] for row in rows if row["dataset"] in STANDARD]
    if not analysis:
        return Conclusion("Together", statement, "Tables 3, 4", "not measured", "There is no analysis set.")
    sure = [row for row in analysis if (bounds[row["model"], row["dataset"]]["runs_low"] or 0) > 1]
    widest = max(analysis, key=lambda row: row["design_effect"])
    middle, called = _middle(analysis, "design_effect")
    ends = bounds[middle["model"], middle["dataset"]]
    aside = f", of the standard sets {decimal(statistics.median(standard), 1)}" if standard else ""
    return Conclusion(
        "Together",
        statement,
        "Tables 3, 4",
        "held" if len(sure) > len(analysis) / 2 else "not shown",
        f"The variance is more than independent examples would give in {len(sure)} of {len(analysis)} pairs of model "
        f"and analysis set beyond doubt; the median design effect is "
        f"{decimal(statistics.median(row['design_effect'] for row in analysis), 1)}{aside}; most "
        f"{decimal(widest['design_effect'])} for {widest['model']} on {widest['dataset']}. The figure is of "
        f"{called}, {middle['model']} on {middle['dataset']}.",
        middle["design_effect"],
        ends["runs_low"],
        ends["runs_high"],
        "ratio",
    )


def _correlation(found: Sequence[Evidence]) -> list[Conclusion]:
    """Over training, standard sets against each other, and against analysis sets."""
    statement = "Over training, standard sets rise and fall together; some analysis sets do not go with them."
    inside: list[tuple[float, str]] = []
    across: list[tuple[float, str]] = []
    for each in found:
        for matrix in each.correlations:
            names = matrix["names"]
            for i, first in enumerate(names):
                for j in range(i + 1, len(names)):
                    if matrix["values"][i][j] is None:
                        continue
                    together = (first in STANDARD) + (names[j] in STANDARD)
                    pair = (matrix["values"][i][j], f"{first} and {names[j]}, {matrix['model']}")
                    if together:
                        (inside if together == 2 else across).append(pair)
    if not inside or not across:
        return []
    least = min(across)
    lower = sum(value < min(inside)[0] for value, _ in across)
    return [
        Conclusion(
            "Apart",
            statement,
            "Figure 3",
            "held" if statistics.median(value for value, _ in inside) > statistics.median(v for v, _ in across)
            else "did not hold",
            f"Spearman over checkpoints is {decimal(statistics.median(v for v, _ in inside))} in the median between "
            f"standard sets, {decimal(statistics.median(v for v, _ in across))} between a standard and an analysis "
            f"set; {lower} of {len(across)} of the latter are below all of the former, least {least[1]}: "
            f"{decimal(least[0])}. The medians decide. The paper has above .95 between "
            "standard sets.",
            statistics.median(v for v, _ in across),
            unit="correlation",
        )
    ]  # fmt: skip


def _selection(found: Sequence[Evidence]) -> list[Conclusion]:
    """Whether choosing the checkpoint on the analysis set itself helps."""
    rows = [row for each in found for row in each.selections if row["dataset"] not in STANDARD]
    if not rows:
        return []
    gained = [row for row in rows if row["gain_low"] > 0]
    calmer = sum(row["analysis_sd"] < row["standard_sd"] for row in rows)
    best = max(rows, key=lambda row: row["gain"])
    middle, called = _middle(rows, "gain")
    return [
        Conclusion(
            "Selection",
            "Choosing the checkpoint on a part of the analysis set raises its mean, but does not make it stable.",
            "Table 6",
            "held" if len(gained) > len(rows) / 2 and calmer <= len(rows) * 0.75 else "not shown",
            f"It raises the mean beyond doubt in {len(gained)} of {len(rows)} pairs of model and analysis set, most "
            f"{signed_points(best['gain'], 1)} for {best['model']} on {best['dataset']}; the SD over seeds is smaller "
            f"in {calmer}, and for the claim to hold it may be so in at most three quarters. The figure is of "
            f"{called}, {middle['model']} on {middle['dataset']}.",
            middle["gain"],
            middle["gain_low"],
            middle["gain_high"],
            "difference",
        )
    ]


def _middle(rows: Sequence[Mapping[str, Any]], key: str) -> tuple[Mapping[str, Any], str]:
    return middle_of(sorted(rows, key=lambda row: row[key]), "pair")
