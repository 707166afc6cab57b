"""Artifacts: the patterns that give the label away, and what they make of the test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldassay.report.numbers import (
    count,
    decimal_cell,
    number,
    percent,
    percent_cell,
    points_cell,
    small_cell,
    whole_cell,
    with_unit,
)
from goldassay.report.outline import (
    QUESTIONS,
    Cell,
    Part,
    Section,
    Table,
    data,
    mapping,
    marked,
    records,
    text,
    why_absent,
)

_CLASSES = {
    "easy": "every pattern in it points to its label",
    "hard": "every pattern in it points to another label",
    "conflicting": "patterns in it point to its label and to others",
    "uncovered": "no pattern in it",
}


def section(document: Mapping[str, Any]) -> Section:
    """The section "Artifacts"."""
    found = mapping(document, "artifacts")
    title, question = QUESTIONS["artifacts"]
    return Section(
        key="artifacts",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "artifacts"),
        notes=_notes(found),
        parts=(
            Part("artifacts_scatter", Table("", (), ())),
            Part("artifacts_strongest", _strongest(found)),
            Part("artifacts_difficulty", _difficulty(found), folded=True),
            Part("artifacts_coverage", _coverage_curve(found), folded=True),
            Part(None, _sizes(found)),
            Part(None, _overlap(found)),
            Part(None, _misled(found)),
            Part(None, _by_value(found)),
        ),
        reason=why_absent(document.get("artifacts")),
        explained=True,
    )


def _notes(found: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    settings = mapping(found, "settings")
    where = found.get("applies_to") or "text"
    if number(found.get("n_mined")) is not None:
        notes.append(
            f"{count(found['n_mined'])} patterns of the {where} were frequent enough to count"
            f" (at least {count(settings.get('min_count'))} examples); {count(found.get('n_significant'))} of them"
            f" lean to a label by more than chance, {count(found.get('n_selected'))} with a probability above"
            f" {settings.get('threshold')}"
            + (
                f", and {count(found['n_confirmed'])} of these significantly so in the test set too."
                if number(found.get("n_confirmed")) is not None
                else "."
            )
            + (
                f" {count(found['n_standing'])} stand for themselves; the others add nothing to a part of themselves"
                " and are listed under it."
                if (number(found.get("n_standing")) or 0) < (number(found.get("n_selected")) or 0)
                and number(found.get("n_standing")) is not None
                else ""
            )
        )
    if found.get("tokenizer_reason"):
        notes.append(str(found["tokenizer_reason"]))
    precision, giveaway = mapping(found, "precision"), mapping(found, "giveaway")
    if number(found.get("coverage")) and number(precision.get("value")) is not None:
        notes.append(
            f"The selected patterns occur in {percent(found['coverage'])} of the test examples. Where they name"
            f" a single label, it is right in {with_unit(precision.get('value'), 'share')}; guessing by"
            f" them gains {with_unit(giveaway.get('value'), 'points')} of accuracy over always naming the"
            " most frequent label."
        )
    control = mapping(found, "control")
    if control:
        notes.append(
            f"As a control, the same search in the {control.get('applies_to')} finds"
            f" {count(control.get('n_significant'))} significant patterns among {count(control.get('n_mined'))},"
            f" {count(control.get('n_selected'))} of them above the threshold."
        )
    return tuple(notes)


def _strongest(found: Mapping[str, Any]) -> Table:
    by_label = mapping(found, "strongest")
    tested = any("test_support" in row for rows in by_label.values() for row in records(rows))
    rows = tuple(
        (
            data(row.get("pattern"), _examples(row.get("examples"), label), _variants(row)),
            data(label),
            whole_cell(row.get("support")),
            points_cell(row.get("probability"), row.get("wilson_low"), row.get("wilson_high")),
            decimal_cell(row.get("lift")),
            small_cell(row.get("q_value")),
            *((whole_cell(row.get("test_support")), points_cell(row.get("test_probability"))) if tested else ()),
            whole_cell(row.get("n_folded")),
        )
        for label, patterns in by_label.items()
        for row in records(patterns)
    )
    columns = (
        "pattern",
        "label",
        "support",
        "p(label | pattern)",
        "lift",
        "q",
        *(("support in test", "p in test") if tested else ()),
        "variants folded in",
    )
    caption = "Strongest patterns of each label, with a sample of their training examples; # stands for any one token"
    return Table(caption, columns, rows, found.get("table") or "patterns", grouped_by=1)


def _examples(examples: Any, label: str) -> tuple[Cell, ...]:
    """Example sentences, the pattern marked, each with its label; those that speak against the pattern say so."""
    cells = []
    for each in examples if isinstance(examples, (list, tuple)) else ():
        if isinstance(each, Mapping):
            own = each.get("label")
            aside = "" if own is None else f"{own}" if own == label else f"{own}, against the pattern"
            cells.append(marked(each.get("text"), each.get("marks"), aside))
        else:
            cells.append(marked(each, ()))
    return tuple(cells)


def _variants(row: Mapping[str, Any]) -> tuple[str, ...]:
    shown = [str(each.get("pattern")) for each in records(row.get("variants"))]
    left = int(number(row.get("n_folded")) or 0) - len(shown)
    return (*shown, f"{count(left)} more") if shown and left > 0 else tuple(shown)


def _difficulty(found: Mapping[str, Any]) -> Table:
    difficulty = mapping(found, "difficulty")
    rows = tuple(
        (
            text(name),
            text(meaning),
            whole_cell(mapping(difficulty, name).get("n")),
            percent_cell(mapping(difficulty, name).get("share")),
        )
        for name, meaning in _CLASSES.items()
        if mapping(difficulty, name)
    )
    return Table("Test examples by difficulty", ("class", "meaning", "examples", "share"), rows, "difficulty")


def _coverage_curve(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            decimal_cell(row.get("threshold")),
            percent_cell(row.get("coverage")),
            percent_cell(row.get("precision")),
        )
        for row in records(found.get("coverage_curve"))
        if found.get("n_significant") != 0
    )
    return Table("Coverage and precision by threshold", ("threshold", "coverage", "precision"), rows)


def _sizes(found: Mapping[str, Any]) -> Table:
    """Examples of each class by label, where the document has them."""
    sizes = records(found.get("sizes"))
    labels = [key for key in (sizes[0] if sizes else {}) if key not in ("class", "n")]
    rows = tuple((text(row.get("class")), *(whole_cell(row.get(key)) for key in ("n", *labels))) for row in sizes)
    return Table("Test examples by difficulty and label", ("class", "examples", *labels), rows)


def _overlap(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("by_patterns")),
            text(row.get("by_classifier")),
            whole_cell(row.get("n")),
            percent_cell(row.get("share")),
        )
        for row in records(mapping(found, "overlap").get("table"))
    )
    caption = "By patterns and by a classifier that sees only the same text"
    if found.get("judged"):
        caption += f", {found['judged']}"
    return Table(caption, ("by patterns", "by classifier", "examples", "share of the class"), rows, "overlap")


def _misled(found: Mapping[str, Any]) -> Table:
    """Examples of each class with the pattern that decided most."""
    rows = tuple(
        (
            text(row.get("class")),
            marked(row.get("text"), row.get("marks")),
            text(row.get("label")),
            data(row.get("pattern")),
            text(row.get("pattern_label")),
            points_cell(row.get("probability")),
            whole_cell(row.get("n_patterns")),
        )
        for row in records(found.get("sample"))
    )
    columns = ("class", "example", "label", "strongest pattern", "its label", "its p", "patterns in it")
    return Table("A sample of each class, the strongest pattern marked", columns, rows, "subsets", grouped_by=0)


def _by_value(found: Mapping[str, Any]) -> Table:
    column = str(found.get("condition") or "value")
    rows = tuple(
        (
            data(row.get("value")),
            whole_cell(row.get("n_examples")),
            whole_cell(row.get("n_patterns")),
            whole_cell(row.get("n_findings")),
            data(row.get("pattern")),
            text(row.get("label")),
            whole_cell(row.get("support")),
            points_cell(row.get("probability"), row.get("wilson_low"), row.get("wilson_high")),
        )
        for row in records(found.get("by_value"))
    )
    columns = (column, "examples", "patterns", "findings", "strongest", "label", "support", "p(label | pattern)")
    return Table(f"Patterns of each {column} apart", columns, rows, "patterns_by_value", grouped_by=0)
