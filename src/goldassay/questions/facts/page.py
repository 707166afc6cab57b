"""The page of facts: labels, lengths, duplicates, overlap of the parts."""

from __future__ import annotations

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    by_name,
    numbered_series,
)
from goldassay.core.document import DatasetFacts
from goldassay.core.numbers import count, decimal, percent
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, table_of


def sections(facts: DatasetFacts, _: Around) -> tuple[Section, ...]:
    """The section "Facts"."""
    section = Section(
        key="facts",
        title=PAGE.title,
        lead=PAGE.heading(facts)[1],
        parts=(Part("facts_labels", _labels(facts)), Part("facts_lengths", _lengths(facts))),
        small=(_duplicates(facts), _overlap(facts), _premise_reuse(facts), _dropped(facts)),
    )
    return (section,)


def _labels(facts: DatasetFacts) -> Table:
    rows = []
    for split, by_label in facts.label_counts.items():
        total = sum(by_label.values())
        rows += [
            {"split": split, "label": label, "n": n, "share": n / total if total else None}
            for label, n in by_label.items()
        ]
    columns = (
        Column("split", "split"),
        Column("label", "label", "data"),
        Column("n", "examples", "count"),
        Column("share", "share", "percent"),
    )
    return Table("labels", "Labels", columns, tuple(rows), folded=True)


def _lengths(facts: DatasetFacts) -> Table:
    columns = (
        Column("split", "split"),
        Column("role", "text"),
        Column("label", "label", "data"),
        Column("n", "examples", "count"),
        Column("mean", "mean", "decimal", 1),
        Column("median", "median", "decimal", 0),
        Column("p95", "95th percentile", "decimal", 0),
    )
    return table_of("lengths", f"Lengths in {facts.length_unit}", columns, facts.lengths, folded=True)


def _duplicates(facts: DatasetFacts) -> Table:
    columns = (
        Column("split", "split"),
        Column("exact", "same input, same label", "count"),
        Column("conflicting", "same input, other label", "count"),
    )
    rows = tuple({"split": split, **vars(each)} for split, each in facts.duplicates.items())
    return Table("duplicates", "Duplicates", columns, rows)


def _overlap(facts: DatasetFacts) -> Table:
    columns = (
        Column("shared", "shared"),
        Column("n", "test examples", "count"),
        Column("share", "share of test", "percent"),
    )
    rows = tuple({"shared": what.replace("_", " "), **vars(each)} for what, each in facts.overlap.items())
    return Table("overlap", "Test examples also found in training", columns, rows)


def _premise_reuse(facts: DatasetFacts) -> Table:
    columns = (
        Column("split", "split"),
        Column("distinct", "distinct premises", "count"),
        Column("mean", "examples a premise", "decimal"),
        Column("max", "at most", "count"),
    )
    rows = tuple({"split": split, **vars(each)} for split, each in facts.premise_reuse.items())
    return Table("premise_reuse", "Premises used more than once", columns, rows)


def _dropped(facts: DatasetFacts) -> Table:
    columns = (Column("split", "split"), Column("reason", "reason"), Column("n", "rows", "count"))
    rows = tuple(
        {"split": split, "reason": reason, "n": n} for split, own in facts.dropped.items() for reason, n in own.items()
    )
    return Table("dropped", "Rows left out", columns, rows)


def charts(facts: DatasetFacts, _: Around) -> dict[str, Chart]:
    """Charts of label balance and of lengths."""
    return by_name(_label_bars(facts), _length_dots(facts))


def _label_bars(facts: DatasetFacts) -> Chart | None:
    """A bar a label and split."""
    splits = {split: labels for split, labels in facts.label_counts.items() if labels}
    order = list(dict.fromkeys(label for labels in splits.values() for label in labels))
    if not order:
        return None
    groups = []
    for split, labels in splits.items():
        total = sum(labels.values()) or 1
        bars = []
        for label, n in labels.items():
            text = f"{percent(n / total)}  ({count(n)})"
            bars.append(Bar(label, n / total, f"{split}, {label}: {text}", text, series=order.index(label)))
        groups.append(BarGroup(split, tuple(bars)))
    return Bars(
        name="facts_labels",
        title="Label balance",
        caption="Share of each label in each split.",
        groups=tuple(groups),
        axis=Axis(unit="percent", low=0.0),
        series=numbered_series(order),
        axis_of="none",
    )


def _length_dots(facts: DatasetFacts) -> Chart | None:
    """A dot for the mean length of each label, a group a split and text."""
    if not facts.lengths:
        return None
    labels = list(dict.fromkeys(str(each.label) for each in facts.lengths))
    groups: dict[str, list[DotRow]] = {}
    for each in facts.lengths:
        name, series = f"{each.split}, {each.role}", labels.index(str(each.label))
        text = f"mean {decimal(each.mean, 1)}, median {decimal(each.median, 0)}, 95 % below {count(each.p95)}"
        dot = Dot(each.mean, f"{name}, {each.label}: {text}", series)
        groups.setdefault(name, []).append(DotRow((dot,), (each.mean, each.p95), series))
    return Dots(
        name="facts_lengths",
        title="Length by label",
        caption="Mean length; the line reaches to the 95th percentile.",
        groups=tuple(DotGroup(name, tuple(rows)) for name, rows in groups.items()),
        axis=Axis(facts.length_unit, "count", low=0.0),
        series=numbered_series(labels),
    )


PAGE = Page(
    DatasetFacts,
    title="Facts",
    lead="What the data are before any question is put to them.",
    sections=sections,
    charts=charts,
)
