"""Artifacts: the patterns that give the label away, and what they make of the test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from goldassay.report.outline import QUESTIONS, Part, Section, Table, data, mapping, records, text, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        )
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
    rows = tuple(
        (
            data(row.get("pattern"), unfolds=tuple(str(example) for example in row.get("examples") or ())),
            data(label),
            whole_cell(row.get("support")),
            points_cell(row.get("probability"), row.get("wilson_low"), row.get("wilson_high")),
            decimal_cell(row.get("lift")),
            small_cell(row.get("q_value")),
            whole_cell(row.get("test_support")),
            points_cell(row.get("test_probability")),
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
        "support in test",
        "p in test",
        "variants folded in",
    )
    return Table(
        "Strongest patterns of each label; # stands for any one token", columns, rows, "patterns", grouped_by=1
    )


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
    )
    return Table("Coverage and precision by threshold", ("threshold", "coverage", "precision"), rows)
