"""Charts of word patterns: how telling they are, which are strongest, and which examples they reach."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Cloud,
    Named,
    Panel,
    Part,
    Plot,
    Point,
    Rule,
    Series,
    Stack,
    Stacks,
    Trace,
    by_name,
    numbered_series,
)
from goldassay.core.numbers import bounds, count, decimal, number, percent, points
from goldassay.questions.artifacts.result import ArtifactsResult, PatternsResult, StrongPattern

if TYPE_CHECKING:
    from goldassay.core.sections import Around

# More labels than these are not named one by one.
_MOST_NAMED = 12
_MOST_OF_A_LABEL = 8
_CURVES = ("coverage", "precision")


def charts(found: ArtifactsResult, around: Around) -> dict[str, Chart]:
    """Charts of the patterns, of the strongest, of difficulty and of coverage."""
    if not isinstance(found, PatternsResult):
        return by_name(_difficulty(found))
    rows, labels = _points_of(found, around.label_names)
    return by_name(_scatter(found, rows, labels), _strongest(found, labels), _difficulty(found), _coverage(found))


def _points_of(
    found: PatternsResult, label_names: tuple[str, ...]
) -> tuple[list[tuple[float, float, int, str]], list[str]]:
    """(support, probability, number of its label, pattern) of each pattern, and the labels in order.

    The order is that of the dataset; of many labels those with most patterns come first, since not all can be named.
    """
    # Of items the labels of choices, right and wrong, are none of the dataset's.
    labels = list((not found.of_items and label_names) or found.prior)
    if len(labels) > _MOST_NAMED:
        counts = Counter(row.label for row in found.scatter)
        labels.sort(key=lambda label: -counts[label])
    labels += dict.fromkeys(row.label for row in found.scatter if row.label not in labels)
    numbers = {label: at for at, label in enumerate(labels)}
    return [(row.support, row.probability, numbers[row.label], row.pattern) for row in found.scatter], labels


def _scatter(found: PatternsResult, rows: list[tuple[float, float, int, str]], labels: list[str]) -> Chart | None:
    """A cloud of p(label | pattern) over support, with the threshold and the boundary of significance."""
    if not rows:
        return None
    supports = [row[0] for row in rows]
    low, high = min(supports) / 1.08, max(max(supports), 2 * min(supports)) * 1.1
    least = min(0.8, *(row[1] for row in rows))
    threshold = found.settings.threshold
    rules = (Rule(threshold, f"selected above {percent(threshold, 0)}", "y"),) if 0 < threshold < 1 else ()
    return Cloud(
        name="artifacts_scatter",
        title="Patterns that lean to a label",
        caption="Each mark is a pattern. To the right: in more examples. Up: says more about its label. Above the "
        "dotted curve it leans by more than chance, above the dashed line it is strong enough to be selected. # is any "
        "one token.",
        points=tuple(rows),
        x=Axis("support: training examples with the pattern", "count", low=low, high=high, log=True),
        y=Axis("", "percent", 0, low=max(0.0, math.floor(least * 20) / 20 - 0.02), high=1.02),
        series=numbered_series(labels),
        n_named=_MOST_NAMED,
        series_are="labels",
        strongest=tuple(
            Named(row.support, row.probability, labels.index(label), row.pattern)
            for label, patterns in found.strongest.items()
            if label in labels
            for row in patterns[:_MOST_OF_A_LABEL]
        ),
        bounds=_boundaries(found, low, high),
        rules=rules,
        hover="{name} → {series}: {y} of {x} examples",
    )


def _boundaries(found: PatternsResult, low: float, high: float) -> tuple[tuple[tuple[float, float], ...], ...]:
    """For each distinct prior, the smallest share that is significant at a support.

    p0 + z sqrt(p0 (1 - p0) / n), z the one-sided normal quantile of the largest p-value that Benjamini-Hochberg
    lets pass, q times significant over mined, shared among the labels that the most probable is one of.
    """
    from scipy.special import ndtri

    q, n_mined = found.settings.q, found.n_mined
    if not q or not n_mined:
        return ()
    shares = list(found.prior.values())
    z = -float(ndtri(q * max(found.n_significant, 1.0) / n_mined / max(sum(p != 0 for p in shares), 1)))
    steps = [low * (high / low) ** (i / 60) for i in range(61)]
    # Labels of nearly the same share have one curve: two could not be told from each other.
    priors = {round(p / 0.04): p for p in shares if 0 < p < 1}
    curves = [[(n, prior + z * math.sqrt(prior * (1 - prior) / n)) for n in steps] for prior in priors.values()]
    return tuple(tuple((n, p) for n, p in curve if p <= 1) for curve in curves)


def _strongest(found: PatternsResult, labels: list[str]) -> Chart | None:
    """A bar with an interval a pattern, a group a label."""
    groups = []
    for position, (label, patterns) in enumerate(found.strongest.items()):
        series = labels.index(label) if label in labels else position
        bars = tuple(_pattern_bar(row, label, series) for row in patterns[:_MOST_OF_A_LABEL])
        if bars:
            groups.append(BarGroup(label, bars, found.prior.get(label)))
    if not groups:
        return None
    most = 1 + max(bar.series for group in groups for bar in group.bars)
    return Bars(
        name="artifacts_strongest",
        title="Strongest patterns",
        caption="Share of the training examples with the pattern that carry the label; whiskers are 95 % Wilson "
        "intervals, the dashed line is the label's share in all examples. # is any one token.",
        groups=tuple(groups),
        axis=Axis(unit="percent", digits=0, low=0.0, high=1.0),
        series=numbered_series([*labels, *[""] * most][: max(most, len(labels))]),
        axis_of="each",
        data_names=True,
        aligned=True,
    )


def _pattern_bar(row: StrongPattern, label: str, series: int) -> Bar:
    p, low, high = row.probability, row.wilson_low, row.wilson_high
    hover = f"{row.pattern} → {label}: {percent(p)} {bounds(low, high)} of {count(row.support)} examples"
    return Bar(row.pattern, p, hover, points(p), series=series, low=low, high=high)


def _difficulty(found: ArtifactsResult) -> Chart | None:
    """One stack over the whole test set."""
    classes = found.difficulty or {}
    shares = {name: number(each.share) or 0.0 for name, each in classes.items()}
    if not any(shares.values()):
        return None
    texts = {name: f"{percent(share)} ({count(classes[name].n)})" for name, share in shares.items()}
    return Stacks(
        name="artifacts_difficulty",
        title="Easy and hard test examples",
        caption="Easy: the strongest patterns pick the right choice. Hard: they pick wrong ones. "
        "Conflicting: both alike. Uncovered: no pattern prefers a choice."
        if isinstance(found, PatternsResult) and found.of_items
        else "Easy: every pattern in the example points to its label. Hard: every one points to another label. "
        "Conflicting: both kinds. Uncovered: no pattern in it.",
        stacks=(
            Stack(
                tuple(
                    Part(share, i, f"{name}: {texts[name]}", percent(share))
                    for i, (name, share) in enumerate(shares.items())
                )
            ),
        ),
        series=tuple(Series(f"{name} {texts[name]}", name) for name in classes),
    )


def _coverage(found: PatternsResult) -> Chart | None:
    """Coverage and precision over the threshold."""
    rows = found.coverage_curve
    if len(rows) < 2 or not any(row.coverage for row in rows):
        return None
    curves = ([row.coverage for row in rows], [row.precision for row in rows])
    traces = tuple(
        Trace(
            tuple(
                Point(row.threshold, value, f"threshold {decimal(row.threshold)}: {name} {percent(value)}")
                for row, value in zip(rows, curve, strict=True)
                if value is not None
            ),
            series,
            "curve",
        )
        for series, (name, curve) in enumerate(zip(_CURVES, curves, strict=True))
    )
    panel = Panel(
        "",
        traces,
        Axis("threshold on p(label | pattern)", "number", 2),
        Axis("", "percent", 0, low=0.0, high=1.0),
        (Rule(found.settings.threshold, "used here"),),
    )
    return Plot(
        name="artifacts_coverage",
        title="Coverage and precision by threshold",
        caption="How many examples the significant patterns reach, and how often they are right where they name one "
        "label, as the threshold on p rises. Measured on the test set or, without one, on the training set, which "
        "flatters the patterns.",
        panels=(panel,),
        series=numbered_series(_CURVES),
        height=215,
    )
