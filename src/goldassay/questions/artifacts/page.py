"""The page of artifacts: the patterns that give the label away, and what they make of the test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds_in, count, number, percent, with_unit
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of
from goldassay.questions.artifacts.charts import charts
from goldassay.questions.artifacts.result import (
    ArtifactsResult,
    ClassedExamples,
    MarkedExample,
    PatternsResult,
    StrongPattern,
)
from goldassay.questions.effect_sentences import table_of_effects, table_of_limits
from goldassay.questions.rows import EXAMPLES, is_flaw, issue, row_saying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding

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


def sections(found: ArtifactsResult, _: Around) -> tuple[Section, ...]:
    """The section "Artifacts"."""
    section = Section(
        key="artifacts",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        notes=_notes(found) if isinstance(found, PatternsResult) else (),
        parts=_parts(found),
        how=explanation("goldassay.questions.artifacts", "how"),
    )
    return (section,)


def _parts(found: ArtifactsResult) -> tuple[Part, ...]:
    if isinstance(found, ClassedExamples):
        return (Part("artifacts_difficulty", _difficulty(found)), *map(_shown, _of_classes(found)))
    assert isinstance(found, PatternsResult)
    return (
        *(
            ()
            if found.effects is None
            else map(_shown, (table_of_effects(found.effects), table_of_limits(found.effects)))
        ),
        Part("artifacts_scatter"),
        Part("artifacts_strongest", _strongest(found)),
        _shown(_by_lift(found)),
        Part("artifacts_difficulty", _difficulty(found)),
        Part("artifacts_coverage", _coverage_curve(found)),
        _shown(_others(found)),
        _shown(_by_value(found)),
    )


def _shown(table: Table) -> Part:
    return Part(table=table)


def _notes(found: PatternsResult) -> tuple[str, ...]:
    where = found.applies_to or "text"
    notes = [
        f"{count(found.n_mined)} patterns of the {where} were frequent enough to count"
        f" (at least {count(found.settings.min_count)} examples); {count(found.n_significant)} of them"
        f" lean to a label by more than chance, {count(found.n_selected)} with a probability above"
        f" {found.settings.threshold}"
        + (
            "."
            if found.n_confirmed is None
            else f", and {count(found.n_confirmed)} of these significantly so in the test set too."
        )
        + (_standing(found) if found.n_unfolded < found.n_selected else "")
    ]
    if found.cluster_rule:
        notes.append(f"Significance accounts for dependent rows. {found.cluster_rule}")
    if found.tokenizer_reason:
        notes.append(found.tokenizer_reason)
    right, gained = found.precision, found.giveaway
    if found.coverage and right is not None and gained is not None and number(right.value) is not None:
        notes.append(
            f"The selected patterns occur in {percent(found.coverage)} of the test examples. Where they name"
            f" a single label, it is right in {with_unit(right.value, 'share')}; guessing by"
            f" them gains {with_unit(gained.value, 'points')}"
            f" {bounds_in(gained.low, gained.high, 'points')} of accuracy over always naming the"
            " most frequent training label."
        )
    return tuple(notes)


def _standing(found: PatternsResult) -> str:
    """How many findings are left after folding, and how many were not folded."""
    n_left = found.n_not_folded
    of_strongest = f" of the strongest {count(found.n_selected - n_left)}" if n_left else ""
    return (
        f" {count(found.n_unfolded)}{of_strongest} are distinct; each of the others only adds words to one of"
        " these and is listed under it."
        + (f" {count(n_left)} weaker ones were not folded: they are only in the table." if n_left else "")
    )


def _strongest(found: PatternsResult) -> Table:
    rows = tuple(
        {
            **vars(row),
            "label": label,
            "examples": [_example(each, label) for each in row.examples],
            "variants": _variants(row),
        }
        for label, patterns in found.strongest.items()
        for row in patterns
    )
    on_test = (Column("test_support", "support in test", "count"), Column("test_probability", "p in test", "points"))
    columns = (
        Column("pattern", "pattern", "data", unfolds="examples", variants="variants"),
        Column("label", "label", "data"),
        Column("support", "support", "count"),
        Column("probability", "p(label | pattern)", "points", low="wilson_low", high="wilson_high"),
        Column("lift", "lift", "decimal"),
        Column("q_value", "q", "probability"),
        *(on_test if any("test_support" in row for row in rows) else ()),
        Column("n_folded", "variants folded in", "count"),
    )
    caption = "Strongest patterns of each label, with a sample of their training examples; # is any one token"
    file = found.table or "patterns"
    return Table("strongest", caption, columns, rows, file=file, grouped_by="label")


def _example(example: MarkedExample, label: str) -> dict[str, Any]:
    """A sentence, the pattern marked, with its label; one that speaks against the pattern says so."""
    aside = example.label if example.label == label else f"{example.label}, against the pattern"
    return {"text": example.text, "marks": [list(mark) for mark in example.marks], "aside": aside}


def _variants(row: StrongPattern) -> tuple[str, ...]:
    shown = tuple(each.pattern for each in row.variants)
    left = (row.n_folded or 0) - len(shown)
    return (*shown, f"{count(left)} more") if shown and left > 0 else shown


def _by_lift(found: PatternsResult) -> Table:
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
    return table_of(
        "by_lift", caption, columns, found.by_lift, lambda row: {"listed": "yes" if row.by_share else "no"},
        folded=all(row.by_share for row in found.by_lift), grouped_by="label",
    )  # fmt: skip


def _difficulty(found: ArtifactsResult) -> Table:
    of_items = isinstance(found, PatternsResult) and found.of_items
    meanings = _CLASSES_OF_ITEMS if of_items else _CLASSES
    rows = tuple(
        {"class": name, "meaning": meanings[name], "n": size.n, "share": size.share}
        for name, size in (found.difficulty or {}).items()
    )
    columns = (
        Column("class", "class"),
        Column("meaning", "meaning"),
        Column("n", "examples", "count"),
        Column("share", "share", "percent"),
    )
    return Table("difficulty", "Test examples by difficulty", columns, rows, file="difficulty", folded=True)


def _coverage_curve(found: PatternsResult) -> Table:
    columns = (
        Column("threshold", "threshold", "decimal"),
        Column("coverage", "coverage", "percent"),
        Column("precision", "precision", "percent"),
    )
    rows = found.coverage_curve if found.n_significant else ()
    return table_of("coverage", "Coverage and precision by threshold", columns, rows, folded=True)


def _others(found: PatternsResult) -> Table:
    rows = tuple(
        {
            **vars(row),
            "precision": None if row.precision is None else row.precision.value,
            "gain": None if row.giveaway is None else row.giveaway.value,
            "low": None if row.giveaway is None else row.giveaway.low,
            "high": None if row.giveaway is None else row.giveaway.high,
            "patterns": ", ".join(f"{each.pattern} ({each.label})" for each in row.strongest),
        }
        for row in found.others
    )
    columns = (
        Column("applies_to", "text"),
        Column("n_mined", "frequent", "count"),
        Column("n_significant", "beyond chance", "count"),
        Column("n_selected", "kept", "count"),
        Column("coverage", "coverage", "percent"),
        Column("precision", "precision", "percent"),
        Column("gain", "accuracy gained", "difference", low="low", high="high"),
        Column("patterns", "strongest", "data"),
    )
    return Table("other_texts", f"Patterns of the texts beside the {found.applies_to}", columns, rows)


def _by_value(found: PatternsResult) -> Table:
    name = found.condition or "value"
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
    caption = f"Patterns of each {name} separately"
    return table_of("by_value", caption, columns, found.by_value, file="patterns_by_value", grouped_by="value")


def _of_classes(found: ClassedExamples) -> tuple[Table, ...]:
    """The classes by label, against those by classifier, and a sample of each with the pattern that decided most."""
    labels = [key for key in (found.sizes[0] if found.sizes else {}) if key not in ("class", "n")]
    sizes = (
        Column("class", "class"),
        Column("n", "examples", "count"),
        *(Column(label, label, "count") for label in labels),
    )
    overlap = (
        Column("by_patterns", "by patterns"),
        Column("by_classifier", "by classifier"),
        Column("n", "examples", "count"),
        Column("share", "share of the class", "percent"),
    )
    sample = (
        Column("class", "class"),
        Column("text", "example", "prose", marks="marks"),
        Column("label", "label"),
        Column("pattern", "strongest pattern", "data"),
        Column("pattern_label", "its label"),
        Column("probability", "its p", "points"),
        Column("n_patterns", "patterns in it", "count"),
    )
    against = "By patterns and by a classifier that sees only the same text"
    against += f", {found.judged}" if found.judged else ""
    crossed = () if found.overlap is None else tuple(found.overlap["table"])
    drawn = "A sample of each class, the strongest pattern marked"
    return (
        Table("sizes", "Test examples by difficulty and label", sizes, found.sizes),
        Table("overlap", against, overlap, crossed, file="overlap"),
        Table("sample", drawn, sample, found.sample, file="subsets", grouped_by="class"),
    )


def issues(found: ArtifactsResult, finding: Finding) -> Iterator[Issue]:
    """The rows whose patterns name the label."""
    if not isinstance(found, PatternsResult) or not is_flaw(finding):
        return
    easy = (found.difficulty or {}).get("easy")
    if easy is not None and easy.n:
        kind = f"pattern names the {'right choice' if found.of_items else 'label'}"
        worst = row_saying(finding, "attern")
        yield issue(finding, kind, easy.n, worst, table=EXAMPLES, filter="difficulty=easy")


PAGE = Page(
    ArtifactsResult,
    title="Artifacts",
    lead="Which surface patterns give the label away?",
    sections=sections,
    charts=charts,
    issues=issues,
)
