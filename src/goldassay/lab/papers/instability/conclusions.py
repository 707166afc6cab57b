"""What the paper concludes, and what became of it in our runs and in the released ones."""

from __future__ import annotations

import statistics
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds_in, decimal, signed_points
from goldassay.lab.papers.instability.evidence import REFERENCE, STANDARD
from goldassay.lab.papers.pooling import p_of, pool_claim
from goldassay.lab.papers.recipe import Conclusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.lab.papers.instability.evidence import Evidence
    from goldassay.lab.papers.pooling import Claim
    from goldassay.lab.papers.recipe import Standing
    from goldassay.stats.pooling import Pooled

_PAIRS = "pairs of model and analysis set"
# An interval of a ratio with as good as no width: its spread over pairs is all that is known of its noise.
_ALMOST_ONE = 1.001


def conclude(found: Sequence[Evidence]) -> tuple[Conclusion, ...]:
    """What became of each conclusion, as far as there are runs to say so."""
    return (
        _larger_spread(found),
        _covariance(found),
        *_correlation(found),
        *_selection(found),
    )


def _crossed(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[object]]:
    """Rows of one model share its runs, and those of one set its examples."""
    return {"models": [row["model"] for row in rows], "sets": [row["dataset"] for row in rows]}


def _larger_spread(found: Sequence[Evidence]) -> Conclusion:
    """The deviation of every model on every analysis set, pooled."""
    rows = [
        row
        for each in found
        for row in each.deviations
        if row["dataset"] not in STANDARD and row["recommended"] is not None and row["low"] is not None
    ]
    statement = "Analysis sets are far less stable over seeds than the standard set."
    claim = pool_claim(
        [(row["recommended"], row["low"], row["high"]) for row in rows],
        _crossed(rows),
        what=_PAIRS,
        unit="ratio",
        scale="log",
    )
    if claim is None:
        return Conclusion("Unstable", statement, "Table 1", "not measured", "No model has two runs on both.")
    widest = max(rows, key=lambda row: row["recommended"])
    return Conclusion(
        "Unstable",
        statement,
        "Table 1",
        claim.standing(1.0),
        f"How much more than {REFERENCE} an analysis set spreads for its size. {claim.said} Most {widest['model']} on "
        f"{widest['dataset']}: {decimal(widest['recommended'], 1)} times.",
        claim.value,
        claim.low,
        claim.high,
        "ratio",
        claim.p(1.0),
    )


def _covariance(found: Sequence[Evidence]) -> Conclusion:
    """Whether examples of analysis sets fall together, and those of standard sets do not."""
    rows = [row for each in found for row in each.results if row["design_effect"] is not None]
    bounds = {key: value for each in found for key, value in each.design_effects.items()}
    statement = "The instability comes from examples that are right or wrong together, not from single predictions."
    analysis = [row for row in rows if row["dataset"] not in STANDARD]
    standard = [row["design_effect"] for row in rows if row["dataset"] in STANDARD]
    ends = [bounds[row["model"], row["dataset"]] for row in analysis]
    claim = pool_claim(
        [(row["design_effect"], end["runs_low"], end["runs_high"]) for row, end in zip(analysis, ends, strict=True)],
        _crossed(analysis),
        what=_PAIRS,
        unit="ratio",
        scale="log",
    )
    if claim is None:
        why = "There is no analysis set." if not analysis else "No design effect has an interval."
        return Conclusion("Together", statement, "Tables 3, 4", "not measured", why)
    widest = max(analysis, key=lambda row: row["design_effect"])
    aside = f"; of the standard sets the median is {decimal(statistics.median(standard), 1)}" if standard else ""
    return Conclusion(
        "Together",
        statement,
        "Tables 3, 4",
        claim.standing(1.0),
        f"How many times the variance of independent examples there is. {claim.said} Most "
        f"{decimal(widest['design_effect'])} for {widest['model']} on {widest['dataset']}{aside}.",
        claim.value,
        claim.low,
        claim.high,
        "ratio",
        claim.p(1.0),
    )


def _correlation(found: Sequence[Evidence]) -> list[Conclusion]:
    """Over training, standard sets against each other, and against analysis sets."""
    statement = "Over training, standard sets rise and fall together; some analysis sets do not go with them."
    inside: list[dict[str, Any]] = []
    across: list[dict[str, Any]] = []
    for each in found:
        for matrix in each.correlations:
            names = matrix["names"]
            for i, j in combinations(range(len(names)), 2):
                together = (names[i] in STANDARD) + (names[j] in STANDARD)
                figure = tuple(matrix[key][i][j] for key in ("values", "low", "high"))
                if together and None not in figure:
                    sets = f"{names[i]} and {names[j]}"
                    row = {"model": matrix["model"], "dataset": sets, "figure": figure}
                    (inside if together == 2 else across).append(row)
    standard, other = (
        pool_claim(
            [row["figure"] for row in rows],
            _crossed(rows),
            what="pairs of sets of one model",
            unit="correlation",
            scale="fisher",
        )
        for rows in (inside, across)
    )
    if standard is None or other is None:
        return []
    standing: Standing = "not shown"
    if other.high < standard.low:
        standing = "held"
    elif other.low > standard.high:
        standing = "did not hold"
    least = min(across, key=lambda row: row["figure"][0])
    return [
        Conclusion(
            "Apart",
            statement,
            "Figure 3",
            standing,
            f"Spearman over checkpoints between a standard and an analysis set is the figure, and its interval must "
            f"lie apart from that between standard sets, {decimal(standard.value)} "
            f"{bounds_in(standard.low, standard.high, 'correlation')}. {other.said} Least {least['dataset']}, "
            f"{least['model']}: {decimal(least['figure'][0])}. The paper has above .95 between standard sets.",
            other.value,
            other.low,
            other.high,
            "correlation",
            _p_apart(standard.pooled, other.pooled),
        )
    ]


def _p_apart(one: Pooled, other: Pooled) -> float:
    """Of two pooled figures being one: below .05 where their intervals lie apart."""
    low, high = sorted((one, other), key=lambda each: each.value)
    reach = low.high - low.value + high.value - high.low
    between = high.value - low.value
    return p_of(between, between - reach, between + reach, 0.0, min(one.n_families, other.n_families) - 1)


def _selection(found: Sequence[Evidence]) -> list[Conclusion]:
    """Whether choosing the checkpoint on the analysis set itself helps."""
    rows = [row for each in found for row in each.selections if row["dataset"] not in STANDARD]
    claim = pool_claim(
        [(row["gain"], row["gain_low"], row["gain_high"]) for row in rows],
        _crossed(rows),
        what=_PAIRS,
        unit="difference",
    )
    if claim is None:
        return []
    best = max(rows, key=lambda row: row["gain"])
    calmer = _calmer(rows)
    standing = claim.standing()
    surely_calmer = calmer is not None and calmer.high < 1
    shown = "" if calmer is None else (
        f" The SD over seeds is {decimal(calmer.value)} times what it was "
        f"{bounds_in(calmer.low, calmer.high, 'ratio')}; for the claim to hold it must not be surely less."
    )  # fmt: skip
    return [
        Conclusion(
            "Selection",
            "Choosing the checkpoint on a part of the analysis set raises its mean, but does not make it stable.",
            "Table 6",
            "not shown" if standing == "held" and surely_calmer else standing,
            f"{claim.said} Most {signed_points(best['gain'], 1)} for {best['model']} on {best['dataset']}.{shown}",
            claim.value,
            claim.low,
            claim.high,
            "difference",
            claim.p(),
        )
    ]


def _calmer(rows: Sequence[Mapping[str, Any]]) -> Claim | None:
    """Ratio of the spreads over seeds with and without choosing on the analysis set, from how models differ in it.

    The ratio of one pair has no interval, so that models or sets, whichever differ more, give it.
    """
    known = [row for row in rows if row["analysis_sd"] > 0 and row["standard_sd"] > 0]
    ratios = [row["analysis_sd"] / row["standard_sd"] for row in known]
    if min(len(set(of)) for of in _crossed(known).values()) < 2:
        return None
    return pool_claim(
        [(ratio, ratio / _ALMOST_ONE, ratio * _ALMOST_ONE) for ratio in ratios], _crossed(known), what=_PAIRS,
        unit="ratio", scale="log",
    )  # fmt: skip
