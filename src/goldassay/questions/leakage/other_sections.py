"""Sections on clusters that give their label away, on what to rewrite first, and on several datasets side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, count, decimal, number, percent, points, signed_points, small
from goldassay.core.sections import Bar, Column, GroupCard, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.data.kinds.kind import CHOICES, PREFERENCES, ItemKind
from goldassay.questions.effect_sentences import table_of_effects
from goldassay.questions.leakage.result import (
    ChangedItems,
    ComparedDatasets,
    Correlated,
    Correlation,
    Dropped,
    MeasuredLeakage,
    Refit,
    SuggestedItem,
    SuggestedItems,
    SuggestedRewrites,
    SuggestedRow,
    SuggestedRows,
)
from goldassay.readers.conditions import PAIRED, TEXT, is_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goldassay.questions.leakage.cluster_result import (
        Cluster,
        ClusterScores,
        DivergenceScore,
        GridScore,
        HeldPattern,
        Word,
    )
    from goldassay.stats.effects import Effects

_DIVERGENCES = {"squared_l2": "squared L2", "l2": "L2", "kl": "KL, bits"}
NAMES = {
    "paired": "accuracy of the whole",
    "accuracy": "accuracy of the part",
    "recovered": "share recovered",
    "improvement": "improvement over majority",
    "agreement": "decided like the whole",
    "relevance": "token relevance agreement",
    "peco": "outlier score",
}


def cluster_sections(found: MeasuredLeakage) -> tuple[Section, ...]:
    """The section "Clusters that give their label away"; none where nothing was clustered."""
    if not found.peco:
        return ()
    section = Section(
        key="clusters",
        title="Clusters that give their label away",
        lead="Which sentences are alike and share a label, and what are they about?",
        notes=_cluster_notes(found),
        parts=(
            Part("leakage_curve", _scores(found)),
            Part(table=_by_divergence(found)),
            Part(table=_grid(found)),
            Part("leakage_map"),
            Part("leakage_confidence"),
        ),
        cards=tuple(_card(each) for each in found.clusters),
        how=explanation("goldassay.questions.leakage", "how_clusters"),
    )
    return (section,)


def _scores(found: MeasuredLeakage) -> Table:
    columns = (
        Column("role", "sentences"),
        Column("score", "outlier score", "decimal", 4, low="score_low", high="score_high"),
        Column("sd", "SD over clusterings", "decimal", 4),
        Column("p_value", "p", "probability"),
        Column("null_mean", "chance, taken off", "decimal", 4),
        Column("paper_score", "paper's convention", "decimal", 4),
        Column("leaning", "lean beyond chance", sort="n_significant"),
        Column("n_biased", "biased clusters", "count", aside="examples"),
    )

    def more(row: ClusterScores) -> Mapping[str, Any]:
        return {
            "leaning": f"{count(row.n_significant)} of {count(row.n_clusters)}",
            "examples": f"with {percent(row.biased_share)} of examples",
        }

    caption = "Do clusters of like sentences give the label away? (PECO)"
    return table_of("clusters", caption, columns, found.peco, more, file="clusters")


def _by_divergence(found: MeasuredLeakage) -> Table:
    columns = (
        Column("role", "sentences"),
        Column("divergence", "divergence"),
        Column("convention", "convention"),
        Column("score", "score", "decimal", 4),
        Column("null_mean", "by chance", "decimal", 4),
        Column("p_value", "p", "probability"),
        Column("largest", "largest of a cluster", "decimal", 3),
    )

    def more(row: DivergenceScore) -> Mapping[str, Any]:
        return {"divergence": _DIVERGENCES[row.divergence]}

    caption = "The first clustering by every divergence and convention"
    return table_of("divergences", caption, columns, found.divergences, more, file="divergences", folded=True)


def _grid(found: MeasuredLeakage) -> Table:
    columns = (
        Column("role", "sentences"),
        Column("divergence", "divergence"),
        Column("n_components", "components", "count", absent="none"),
        Column("n_clusters", "clusters", "count"),
        Column("score", "score", "decimal", 4),
        Column("sd", "SD", "decimal", 4),
        Column("p_value", "p", "probability"),
    )

    def more(row: GridScore) -> Mapping[str, Any]:
        return {"divergence": _DIVERGENCES[row.divergence], "n_components": row.n_components or None}

    caption = "Scores for other numbers of clusters and components"
    return table_of("grid", caption, columns, found.grid, more, file="grid", folded=True)


def _cluster_notes(found: MeasuredLeakage) -> tuple[str, ...]:
    notes = [f"Embeddings: {found.vectors}."] if found.vectors else []
    if not found.clusters:
        notes.append("No cluster leans to a label beyond chance.")
    notes += [
        f"Confidence (mean probability of the gold label over {row.of}) and divergence of the {row.role} clusters "
        f"correlate by {decimal(row.correlation)} {bounds(row.low, row.high, 2, 1.0)} over examples."
        for row in found.confidence
        if number(row.correlation) is not None
    ]
    return tuple(notes)


def _card(row: Cluster) -> GroupCard:
    return GroupCard(
        title=f"{percent(row.share)} {row.label}, where {percent(row.expected)} of all are",
        lead=f"Cluster {row.cluster}: {count(row.size)} {row.role} sentences"
        + (", biased" if row.biased else ", leaning"),
        bars=tuple(
            Bar(name, share, row.reference[name], series) for series, (name, share) in enumerate(row.shares.items())
        ),
        words=tuple((each.word, _counts(each)) for each in row.words),
        patterns=tuple(
            (each.pattern, f"→ {each.label} {percent(each.probability, 0)} in training; {_counts(each)}")
            for each in row.patterns
        ),
        facts=tuple(_facts(row)),
        examples=tuple((each.text or each.example_id, each.label) for each in row.examples),
    )


def _counts(item: Word | HeldPattern) -> str:
    return f"{count(item.count)} here, {count(item.elsewhere)} elsewhere"


def _facts(row: Cluster) -> Iterator[tuple[str, str]]:
    yield "divergence", f"{decimal(row.divergence, 3)} (q {small(row.q_value)})"
    for name, share in (("easy", row.easy), ("hard", row.hard)):
        if number(share) is not None:
            yield f"{name} by its patterns", percent(share)
    if number(row.confidence) is not None:
        yield "mean confidence", f"{decimal(row.confidence)} (others {decimal(row.others_confidence)})"
    for condition, accuracy in row.accuracies.items():
        if is_part(condition) or condition in (PAIRED, TEXT):
            yield f"{condition.replace('_', ' ')} model right", f"{points(accuracy)} %"
    if (varies := number(row.variance_share)) is not None:
        against = ", moving against it" if varies < 0 else ""
        yield "share of the score's variance over seeds", f"{percent(varies)}{against}"


def suggestion_section(found: SuggestedRewrites) -> Section:
    """The section "Rows to rewrite first", or that on items."""
    of = found.suggestion
    said = tuple(suggestion_sentences(of))
    if isinstance(of, SuggestedItems):
        kind = _kind(of)
        return Section(
            key="suggestion",
            title="Items to rewrite first",
            lead=f"Which items are given away most by their {kind.options}, what is to be changed, and how far does "
            "leakage fall?",
            sentences=said,
            parts=(
                Part(table=_mends(of)),
                Part("leakage_falls", _item_falls(of, kind)),
                Part(table=_items(of, kind)),
            ),
            how=explanation("goldassay.questions.leakage", "how_item_suggestion"),
        )
    part = of.condition.removesuffix("_only")
    return Section(
        key="suggestion",
        title="Rows to rewrite first",
        lead=f"Which rows are given away most by their {part}, and how far does leakage fall without them?",
        sentences=said,
        parts=(Part("leakage_falls", _row_falls(of)), Part(table=_rows(of, part))),
        small=(_labels(of),),
        how=explanation("goldassay.questions.leakage", "how_suggestion"),
    )


def _kind(found: SuggestedItems) -> ItemKind:
    return PREFERENCES if found.kind == PREFERENCES.name else CHOICES


def suggestion_sentences(found: SuggestedRows | SuggestedItems) -> list[str]:
    """What leakage is before anything is dropped, and what it falls to."""
    return _sentences_on_items(found) if isinstance(found, SuggestedItems) else _sentences_on_rows(found)


def _sentences_on_rows(found: SuggestedRows) -> list[str]:
    part = found.condition.removesuffix("_only")
    said = [
        f"Before, a quick probe of the {part} alone is {signed_points(found.before.improvement, 1)} points better than "
        f"always naming the most frequent label of these rows, among rows it was not trained on."
    ]
    # Falls come in pairs of one share: the suggested rows, and as many at random.
    for one, other in zip(found.after_dropping[::2], found.after_dropping[1::2], strict=True):
        tested = ""
        if one.test_improvement is not None:
            tested = (
                f"; on the unchanged test set {signed_points(one.test_improvement, 1)} "
                f"({signed_points(other.test_improvement, 1)})"
            )
        said.append(
            f"Without the first {one.n_dropped:,} of {found.n_rows:,} rows it is {signed_points(one.improvement, 1)} "
            f"points (without as many at random {signed_points(other.improvement, 1)}){tested}."
        )
    return said


def _sentences_on_items(found: SuggestedItems) -> list[str]:
    before, changed, kind = found.before, found.changed, _kind(found)
    said = [
        f"A quick probe of the {kind.options} alone is {signed_points(before.improvement, 1)} points better than "
        f"guessing, which is right in {points(before.majority)} %; the rule that gains most is {before.rule}, "
        f"with {percent(before.rule_effect)} of the gap between guessing and a perfect score."
    ]
    each = ", ".join(f"{row.rule} {count(row.n_to_change)}" for row in found.mends)
    said.append(
        f"Rules are at chance once so many of the {count(found.n_rows)} items are changed: {each}."
        if each
        else "No rule without training hits beyond chance."
    )
    if changed.is_changed:
        said.append(
            f"In a copy {_changes(changed, kind)}; there the probe is {signed_points(changed.improvement, 1)} points "
            f"better than guessing, and the rule that gains most is {changed.rule}, with "
            f"{percent(changed.rule_effect)}."
        )
    said += [
        f"Without the first {one.n_dropped:,} of {found.n_rows:,} items the probe is "
        f"{signed_points(one.improvement, 1)} points better than guessing (without as many at random "
        f"{signed_points(other.improvement, 1)}), and {one.rule} gains {percent(one.rule_effect)} "
        f"({other.rule} {percent(other.rule_effect)})."
        for one, other in zip(found.after_dropping[::2], found.after_dropping[1::2], strict=True)
    ]
    return said


def _changes(changed: ChangedItems, kind: ItemKind) -> str:
    n = changed.n_lengthened
    items = f"{count(n)} {'item' if n == 1 else 'items'}"
    swapped = f"the {kind.options} of {items} swap their lengths"
    made = [swapped if kind is PREFERENCES else f"a wrong {kind.option} of {items} is the longest now"] if n else []
    return " and ".join([*made, *(["all positions are drawn anew"] if changed.positions_drawn else [])])


def _mends(found: SuggestedItems) -> Table:
    columns = (
        Column("rule", "rule that hits beyond chance"),
        Column("effect", "gained over all items", "percent"),
        Column("n_to_change", "items to change", "count"),
        Column("after", "gained in the changed copy", "percent"),
    )
    caption = "How many items are to be changed until a rule is at chance"
    return table_of("mends", caption, columns, found.mends, file="mends")


def _item_falls(found: SuggestedItems, kind: ItemKind) -> Table:
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "items", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "guessing", "points"),
        with_bounds("improvement", f"reader of the {kind.options} over guessing", "difference"),
        Column("rule", "rule that gains most"),
        Column("rule_effect", "its gain", "percent"),
    )
    caption = f"Rules and reader measured anew, the reader by {count(found.n_seeds)} refits, in accuracy points"
    changed = (found.changed,) if found.changed.is_changed else ()

    def more(row: Refit) -> Mapping[str, Any]:
        none = "none, items changed" if row is found.changed else "none"
        return {} if isinstance(row, Dropped) else {"rows": none, "n_dropped": 0, "n_left": found.n_rows}

    return table_of(
        "after_dropping", caption, columns, (found.before, *changed, *found.after_dropping), more, file="after_dropping"
    )


def _items(found: SuggestedItems, kind: ItemKind) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column("question", kind.question, "prose"),
        Column("choices", kind.options, "prose"),
        Column("answer", kind.right, "data"),
        Column("bits", "bits given away", "decimal"),
        Column("change", "what to change"),
    )

    def more(row: SuggestedItem) -> Mapping[str, Any]:
        return {"change": row.change or None}

    caption = "The first items; all are in the table in this folder"
    return table_of("rows", caption, columns, found.rows, more, file="rows")


def _row_falls(found: SuggestedRows) -> Table:
    on_test = Column("test_improvement", "improvement on the test set", "difference")
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "rows", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "majority of what is left", "points"),
        with_bounds("improvement", "improvement among what is left", "difference"),
        *((on_test,) if found.before.test_improvement is not None else ()),
    )

    def more(row: Refit) -> Mapping[str, Any]:
        return {} if isinstance(row, Dropped) else {"rows": "none", "n_dropped": 0, "n_left": found.n_rows}

    caption = f"Leakage measured anew by {count(found.n_seeds)} refits, in accuracy points over the majority"
    return table_of(
        "after_dropping", caption, columns, (found.before, *found.after_dropping), more, file="after_dropping"
    )


def _rows(found: SuggestedRows, part: str) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column(part, part, "prose"),
        Column("label", "label"),
        Column("bits", "bits given away", "decimal"),
        Column("patterns", "patterns of its label", "data"),
        Column("example_id", "id"),
    )

    def more(row: SuggestedRow) -> Mapping[str, Any]:
        return {part: row.texts[part], "patterns": row.patterns or None}

    caption = "The first rows; all are in the table in this folder"
    return table_of("rows", caption, columns, found.rows, more, file="rows")


def _labels(found: SuggestedRows) -> Table:
    columns = (
        Column("label", "label"),
        Column("share", "of all rows", "percent"),
        Column("share_of_first", "of the first tenth", "percent"),
    )
    return table_of("labels", "Labels of the first tenth", columns, found.labels)


def datasets_section(found: ComparedDatasets) -> Section:
    """The section "Datasets side by side"."""
    return Section(
        key="datasets",
        title="Datasets side by side",
        lead="Which dataset gives most away by a part of its input, and do the measures agree?",
        sentences=tuple(datasets_sentences(found)),
        notes=_notes_on_datasets(found),
        parts=(
            Part("leakage_datasets", _accuracies(found)),
            Part(table=_agreements(found)),
            Part(table=_correlations(found)),
            *(
                Part(table=_effects(name, effects))
                for name, effects in found.effects_by_dataset.items()
                if effects is not None
            ),
        ),
    )


def datasets_sentences(found: ComparedDatasets) -> list[str]:
    """Which part of which dataset gives most away, and which least."""
    if not found.datasets:
        return []
    ranked = sorted(found.datasets, key=lambda part: -part.improvement)
    first, last = ranked[0], ranked[-1]
    most, least = (signed_points(part.improvement, 1) for part in (first, last))
    return [
        f"Most is given away by the {first.part} of {first.dataset}: {most} points over the most frequent test label; "
        f"least by the {last.part} of {last.dataset}: {least}."
    ]


def _effects(name: str, effects: Effects) -> Table:
    table = table_of_effects(effects)
    return replace(table, name=f"effects of {name}", caption=f"{name}: {table.caption}", folded=True)


def _notes_on_datasets(found: ComparedDatasets) -> tuple[str, ...]:
    notes = ["Each dataset has a page of its own in the folder of its name."]
    if found.correlations:
        notes.append(
            "Parts of one dataset, and datasets whose models were trained on the same file, are one family: the "
            "intervals of correlations leave out whole families, one after the other."
        )
    if missing := "; ".join(map(_pair, found.uncorrelated)):
        notes.append(f"Not correlated, since fewer than three parts have both: {missing}.")
    return tuple(notes)


def _pair(of: Correlated) -> str:
    return f"{NAMES[of.x]} and {NAMES[of.y]}"


def _accuracies(found: ComparedDatasets) -> Table:
    columns = (
        Column("dataset", "dataset"),
        Column("part", "part"),
        Column("n_examples", "examples", "count"),
        Column("paired", "whole", "points"),
        Column("majority", "majority", "points"),
        with_bounds("accuracy", "part alone", "points"),
        with_bounds("improvement", "improvement", "points"),
        with_bounds("recovered", "recovered", "percent"),
        with_bounds("information", "bits", "decimal", 3),
    )
    caption = "What a part of each dataset's input gives away, in accuracy points and bits"
    return table_of("accuracies", caption, columns, found.datasets, file="datasets")


def _agreements(found: ComparedDatasets) -> Table:
    columns = (
        Column("dataset", "dataset"),
        Column("part", "part"),
        with_bounds("agreement", "decided like the whole", "points"),
        Column("kappa", "kappa", "decimal"),
        Column("recovery", "right where alike", "points"),
        Column("recovery_paper", "paper: of the whole's right", "points"),
        Column("relevance", "token relevance", "points"),
        with_bounds("peco", "outlier score", "decimal", 4),
        Column("peco_p", "p", "probability"),
        Column("peco_paper", "outlier score, paper", "decimal", 4),
    )
    caption = "Do models of the part decide and look as those of the whole do?"
    return table_of("agreements", caption, columns, found.datasets, file="datasets")


def _correlations(found: ComparedDatasets) -> Table:
    columns = (
        Column("of", "of"),
        Column("r", "correlation", "decimal", low="low", high="high"),
        Column("n", "parts", "count"),
        Column("n_families", "families", "count"),
        Column("printed", "printed in the paper", "decimal"),
        Column("recomputed", "by the paper's tables", "decimal", 3),
    )

    def more(row: Correlation) -> Mapping[str, Any]:
        return {"of": _pair(row)}

    return table_of("correlations", "What goes together over datasets (Pearson)", columns, found.correlations, more)
