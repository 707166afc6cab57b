"""Sections on artifacts: the patterns that give the label away, and what they make of the test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldassay.core.documents import mapping, records, why_absent
from goldassay.core.numbers import bounds_in, count, number, percent, with_unit
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table
from goldassay.questions.effect_tables import effects_of

TITLE, LEAD = "Artifacts", "Which surface patterns give the label away?"

_CLASSES = {
    "easy": "every pattern in it points to its label",
    "hard": "every pattern in it points to another label",
    "conflicting": "patterns in it point to its label and to others",
    "uncovered": "no pattern in it",
}
_CLASSES_OF_ITEMS = {
    "easy": "patterns pick its right choice",
    "hard": "patterns pick wrong choices",
    "conflicting": "patterns pick the right choice and others alike",
    "uncovered": "patterns tell none of its choices from the others",
}


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "No reader of word patterns tried here gains as much as the limit.",
        "caution": "Word patterns alone give labels away: read a score beside this figure.",
        "unsound": "Word patterns alone give labels away, enough to make a score misleading.",
    }


def has_joint_ends(document: Mapping[str, Any]) -> bool:
    """Whether the lower end next to the verdict holds for several figures at once."""
    return len(records(mapping(document, "artifacts", "effects").get("effects"))) > 1


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Artifacts"."""
    found = mapping(document, "artifacts")
    section = Section(
        key="artifacts",
        title=TITLE,
        lead=LEAD,
        notes=_notes(found),
        parts=(
            Part(table=effects_of(found)),
            Part("artifacts_scatter"),
            Part("artifacts_strongest", _strongest(found)),
            Part(table=_by_lift(found)),
            Part("artifacts_difficulty", _difficulty(found)),
            Part("artifacts_coverage", _coverage_curve(found)),
            Part(table=_sizes(found)),
            Part(table=_overlap(found)),
            Part(table=_misled(found)),
            Part(table=_by_value(found)),
        ),
        reason=why_absent(document.get("artifacts")),
        how=explanation("goldassay.questions.artifacts", "how"),
    )
    return (section,)


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
                _standing(found)
                if (number(found.get("n_standing")) or 0) < (number(found.get("n_selected")) or 0)
                and number(found.get("n_standing")) is not None
                else ""
            )
        )
    if found.get("counted_together"):
        notes.append(f"What more than chance is allows for rows that depend on each other. {found['counted_together']}")
    if found.get("tokenizer_reason"):
        notes.append(str(found["tokenizer_reason"]))
    precision, giveaway = mapping(found, "precision"), mapping(found, "giveaway")
    if number(found.get("coverage")) and number(precision.get("value")) is not None:
        notes.append(
            f"The selected patterns occur in {percent(found['coverage'])} of the test examples. Where they name"
            f" a single label, it is right in {with_unit(precision.get('value'), 'share')}; guessing by"
            f" them gains {with_unit(giveaway.get('value'), 'points')}"
            f" {bounds_in(giveaway.get('low'), giveaway.get('high'), 'points')} of accuracy over always naming the"
            " most frequent training label."
        )
    control = mapping(found, "control")
    if control:
        notes.append(
            f"As a control, the same search in the {control.get('applies_to')} finds"
            f" {count(control.get('n_significant'))} significant patterns among {count(control.get('n_mined'))},"
            f" {count(control.get('n_selected'))} of them above the threshold."
        )
    return tuple(notes)


def _standing(found: Mapping[str, Any]) -> str:
    """How many findings are left after folding, and how many were not folded."""
    n_left = number(found.get("n_not_folded")) or 0
    of_strongest = f" of the strongest {count((number(found['n_selected']) or 0) - n_left)}" if n_left else ""
    return (
        f" {count(found['n_standing'])}{of_strongest} stand for themselves; the others add nothing to a part of"
        " themselves and are listed under it."
        + (f" {count(n_left)} weaker ones were not folded: they are only in the table." if n_left else "")
    )


def _strongest(found: Mapping[str, Any]) -> Table:
    by_label = mapping(found, "strongest")
    tested = any("test_support" in row for rows in by_label.values() for row in records(rows))
    rows = tuple(
        {**row, "label": label, "examples": _examples(row.get("examples"), label), "variants": _variants(row)}
        for label, patterns in by_label.items()
        for row in records(patterns)
    )
    on_test = (Column("test_support", "support in test", "count"), Column("test_probability", "p in test", "points"))
    columns = (
        Column("pattern", "pattern", "data", unfolds="examples", variants="variants"),
        Column("label", "label", "data"),
        Column("support", "support", "count"),
        Column("probability", "p(label | pattern)", "points", low="wilson_low", high="wilson_high"),
        Column("lift", "lift", "decimal"),
        Column("q_value", "q", "probability"),
        *(on_test if tested else ()),
        Column("n_folded", "variants folded in", "count"),
    )
    caption = "Strongest patterns of each label, with a sample of their training examples; # stands for any one token"
    return Table("strongest", caption, columns, rows, file=found.get("table") or "patterns", grouped_by="label")


def _by_lift(found: Mapping[str, Any]) -> Table:
    rows = tuple({**row, "listed": "yes" if row.get("by_share") else "no"} for row in records(found.get("by_lift")))
    columns = (
        Column("pattern", "pattern", "data"),
        Column("label", "label", "data"),
        Column("support", "support", "count"),
        Column("probability", "p(label | pattern)", "points"),
        Column("lift", "lift, at least", "decimal"),
        Column("listed", "above the threshold"),
    )
    caption = "Strongest patterns of each label by lift: p(label | pattern), at its lower Wilson bound, over p(label)"
    # Where all are above the threshold the table above says the same in another order.
    return Table("by_lift", caption, columns, rows, folded=all(row.get("by_share") for row in rows), grouped_by="label")


def _examples(examples: Any, label: str) -> list[dict[str, Any]]:
    """Example sentences, the pattern marked, each with its label; those that speak against the pattern say so."""
    shown = []
    for each in examples if isinstance(examples, (list, tuple)) else ():
        if isinstance(each, Mapping):
            own = each.get("label")
            aside = "" if own is None else f"{own}" if own == label else f"{own}, against the pattern"
            shown.append({"text": each.get("text"), "marks": each.get("marks"), "aside": aside})
        else:
            shown.append({"text": each})
    return shown


def _variants(row: Mapping[str, Any]) -> tuple[str, ...]:
    shown = [str(each.get("pattern")) for each in records(row.get("variants"))]
    left = int(number(row.get("n_folded")) or 0) - len(shown)
    return (*shown, f"{count(left)} more") if shown and left > 0 else tuple(shown)


def _difficulty(found: Mapping[str, Any]) -> Table:
    difficulty = mapping(found, "difficulty")
    rows = tuple(
        {"class": name, "meaning": meaning, **mapping(difficulty, name)}
        for name, meaning in (_CLASSES_OF_ITEMS if found.get("of_items") else _CLASSES).items()
        if mapping(difficulty, name)
    )
    columns = (
        Column("class", "class"),
        Column("meaning", "meaning"),
        Column("n", "examples", "count"),
        Column("share", "share", "percent"),
    )
    return Table("difficulty", "Test examples by difficulty", columns, rows, file="difficulty", folded=True)


def _coverage_curve(found: Mapping[str, Any]) -> Table:
    rows = records(found.get("coverage_curve")) if found.get("n_significant") != 0 else []
    columns = (
        Column("threshold", "threshold", "decimal"),
        Column("coverage", "coverage", "percent"),
        Column("precision", "precision", "percent"),
    )
    return Table("coverage", "Coverage and precision by threshold", columns, tuple(rows), folded=True)


def _sizes(found: Mapping[str, Any]) -> Table:
    """Examples of each class by label, where the document has them."""
    sizes = records(found.get("sizes"))
    labels = [key for key in (sizes[0] if sizes else {}) if key not in ("class", "n")]
    columns = (
        Column("class", "class"),
        Column("n", "examples", "count"),
        *(Column(label, label, "count") for label in labels),
    )
    return Table("sizes", "Test examples by difficulty and label", columns, tuple(sizes))


def _overlap(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("by_patterns", "by patterns"),
        Column("by_classifier", "by classifier"),
        Column("n", "examples", "count"),
        Column("share", "share of the class", "percent"),
    )
    caption = "By patterns and by a classifier that sees only the same text"
    if found.get("judged"):
        caption += f", {found['judged']}"
    return Table("overlap", caption, columns, tuple(records(mapping(found, "overlap").get("table"))), file="overlap")


def _misled(found: Mapping[str, Any]) -> Table:
    """Examples of each class with the pattern that decided most."""
    columns = (
        Column("class", "class"),
        Column("text", "example", "prose", marks="marks"),
        Column("label", "label"),
        Column("pattern", "strongest pattern", "data"),
        Column("pattern_label", "its label"),
        Column("probability", "its p", "points"),
        Column("n_patterns", "patterns in it", "count"),
    )
    caption = "A sample of each class, the strongest pattern marked"
    return Table("sample", caption, columns, tuple(records(found.get("sample"))), file="subsets", grouped_by="class")


def _by_value(found: Mapping[str, Any]) -> Table:
    name = str(found.get("condition") or "value")
    columns = (
        Column("value", name, "data"),
        Column("n_examples", "examples", "count"),
        Column("n_patterns", "patterns", "count"),
        Column("n_findings", "findings", "count"),
        Column("pattern", "strongest", "data"),
        Column("label", "label"),
        Column("support", "support", "count"),
        Column("probability", "p(label | pattern)", "points", low="wilson_low", high="wilson_high"),
    )
    rows = tuple(records(found.get("by_value")))
    return Table(
        "by_value", f"Patterns of each {name} apart", columns, rows, file="patterns_by_value", grouped_by="value"
    )
