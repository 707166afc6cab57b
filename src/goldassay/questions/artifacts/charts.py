"""Charts of word patterns: how telling they are, which are strongest, and which examples they reach."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

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
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, count, decimal, number, percent, points

if TYPE_CHECKING:
    from collections.abc import Mapping

# More labels than these are not named one by one.
_MOST_NAMED = 12
_MOST_OF_A_LABEL = 8
_CLASSES = ("easy", "hard", "conflicting", "uncovered")
_CURVES = ("coverage", "precision")


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts of the patterns, of the strongest, of difficulty and of coverage."""
    found = mapping(document, "artifacts")
    rows, labels = _points_of(document)
    return by_name(_scatter(found, rows, labels), _strongest(found, labels), _difficulty(found), _coverage(found))


def _points_of(document: Mapping[str, Any]) -> tuple[list[tuple[float, float, int, str]], list[str]]:
    """(support, probability, number of its label, pattern) of each pattern, and the labels in order.

    The order is that of the dataset; of many labels those with most patterns come first, since not all can be named.
    """
    found = mapping(document, "artifacts")
    # Of items the labels of choices, right and wrong, are none of the dataset's.
    of_dataset = [] if found.get("of_items") else mapping(document, "dataset").get("label_names")
    labels = [str(label) for label in of_dataset or mapping(found, "prior")]
    scatter = records(found.get("scatter"))
    if len(labels) > _MOST_NAMED:
        counts = Counter(str(row.get("label")) for row in scatter)
        labels.sort(key=lambda label: -counts[label])
    rows = []
    for row in scatter:
        label = str(row.get("label"))
        support, probability = number(row.get("support")), number(row.get("probability"))
        if support is None or support <= 0 or probability is None:
            continue
        if label not in labels:
            labels.append(label)
        rows.append((support, probability, labels.index(label), str(row.get("pattern"))))
    return rows, labels


def _scatter(found: Mapping[str, Any], rows: list[tuple[float, float, int, str]], labels: list[str]) -> Chart | None:
    """A cloud of p(label | pattern) over support, with the threshold and the boundary of significance."""
    if not rows:
        return None
    supports = [row[0] for row in rows]
    low, high = min(supports) / 1.08, max(max(supports), 2 * min(supports)) * 1.1
    least = min(0.8, *(row[1] for row in rows))
    threshold = number(mapping(found, "settings").get("threshold"))
    rules = (Rule(threshold, f"selected above {percent(threshold, 0)}", "y"),) if threshold and threshold < 1 else ()
    strongest = mapping(found, "strongest")
    return Cloud(
        name="artifacts_scatter",
        title="Patterns that lean to a label",
        caption="Each mark is a pattern. To the right: in more examples. Up: says more about its label. Above the "
        "dotted curve it leans by more than chance, above the dashed line it is strong enough to be selected. # stands "
        "for any one token.",
        points=tuple(rows),
        x=Axis("support: training examples with the pattern", "count", low=low, high=high, log=True),
        y=Axis("", "percent", 0, low=max(0.0, math.floor(least * 20) / 20 - 0.02), high=1.02),
        series=numbered_series(labels),
        n_named=_MOST_NAMED,
        series_are="labels",
        strongest=tuple(
            Named(support, p, labels.index(label), str(row.get("pattern")))
            for label in strongest
            if label in labels
            for row in records(strongest[label])[:_MOST_OF_A_LABEL]
            if (support := number(row.get("support"))) is not None and (p := number(row.get("probability"))) is not None
        ),
        bounds=_boundaries(found, low, high),
        rules=rules,
        hover="{name} → {series}: {y} of {x} examples",
    )


def _boundaries(found: Mapping[str, Any], low: float, high: float) -> tuple[tuple[tuple[float, float], ...], ...]:
    """For each distinct prior, the smallest share that is significant at a support.

    p0 + z sqrt(p0 (1 - p0) / n), z the one-sided normal quantile of the largest p-value that Benjamini-Hochberg
    lets pass, q times significant over mined, shared among the labels that the most probable is one of.
    """
    from scipy.special import ndtri

    q = number(mapping(found, "settings").get("q"))
    n_mined, n_significant = number(found.get("n_mined")), number(found.get("n_significant"))
    if not q or not n_mined or n_significant is None:
        return ()
    shares = [p for p in map(number, mapping(found, "prior").values()) if p is not None]
    z = -float(ndtri(q * max(n_significant, 1.0) / n_mined / max(sum(p != 0 for p in shares), 1)))
    steps = [low * (high / low) ** (i / 60) for i in range(61)]
    # Labels of nearly the same share have one curve: two could not be told from each other.
    priors = {round(p / 0.04): p for p in shares if 0 < p < 1}
    curves = [[(n, prior + z * math.sqrt(prior * (1 - prior) / n)) for n in steps] for prior in priors.values()]
    return tuple(tuple((n, p) for n, p in curve if p <= 1) for curve in curves)


def _strongest(found: Mapping[str, Any], labels: list[str]) -> Chart | None:
    """A bar with an interval a pattern, a group a label."""
    strongest = mapping(found, "strongest")
    groups = []
    for position, label in enumerate(strongest):
        series = labels.index(label) if label in labels else position
        bars = tuple(
            _pattern_bar(row, p, label, series)
            for row in records(strongest[label])
            if (p := number(row.get("probability"))) is not None
        )[:_MOST_OF_A_LABEL]
        if bars:
            groups.append(BarGroup(label, bars, number(mapping(found, "prior").get(label))))
    if not groups:
        return None
    most = 1 + max(bar.series for group in groups for bar in group.bars)
    return Bars(
        name="artifacts_strongest",
        title="Strongest patterns",
        caption="Share of the training examples with the pattern that carry the label; whiskers are 95 % Wilson "
        "intervals, the dashed line is the label's share in all examples. # stands for any one token.",
        groups=tuple(groups),
        axis=Axis(unit="percent", digits=0, low=0.0, high=1.0),
        series=numbered_series([*labels, *[""] * most][: max(most, len(labels))]),
        axis_of="each",
        data_names=True,
        aligned=True,
    )


def _pattern_bar(row: Mapping[str, Any], p: float, label: str, series: int) -> Bar:
    low, high, pattern = number(row.get("wilson_low")), number(row.get("wilson_high")), str(row.get("pattern"))
    hover = f"{pattern} → {label}: {percent(p)} {bounds(low, high)} of {count(row.get('support'))} examples"
    return Bar(pattern, p, hover, points(p), series=series, low=low, high=high)


def _difficulty(found: Mapping[str, Any]) -> Chart | None:
    """One stack over the whole test set."""
    difficulty = mapping(found, "difficulty")
    shares = {name: number(mapping(difficulty, name).get("share")) or 0.0 for name in _CLASSES}
    if not any(shares.values()):
        return None
    texts = {name: f"{percent(share)} ({count(mapping(difficulty, name).get('n'))})" for name, share in shares.items()}
    return Stacks(
        name="artifacts_difficulty",
        title="Easy and hard test examples",
        caption="Easy: the strongest patterns pick the right choice. Hard: they pick wrong ones. "
        "Conflicting: both alike. Uncovered: none tells the choices apart."
        if found.get("of_items")
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
        series=tuple(Series(f"{name} {texts[name]}", name) for name in _CLASSES),
    )


def _coverage(found: Mapping[str, Any]) -> Chart | None:
    """Coverage and precision over the threshold."""
    rows = [row for row in records(found.get("coverage_curve")) if number(row.get("threshold")) is not None]
    if len(rows) < 2 or not any(number(row.get("coverage")) for row in rows):
        return None
    traces = tuple(
        Trace(
            tuple(
                Point(
                    float(row["threshold"]),
                    float(row[name]),
                    f"threshold {decimal(row['threshold'])}: {name} {percent(row[name])}",
                )
                for row in rows
                if number(row.get(name)) is not None
            ),
            series,
            "curve",
        )
        for series, name in enumerate(_CURVES)
    )
    chosen = number(mapping(found, "settings").get("threshold"))
    panel = Panel(
        "",
        traces,
        Axis("threshold on p(label | pattern)", "number", 2),
        Axis("", "percent", 0, low=0.0, high=1.0),
        () if chosen is None else (Rule(chosen, "used here"),),
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
