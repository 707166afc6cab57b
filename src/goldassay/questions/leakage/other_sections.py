"""Sections on clusters that give their label away, on rows to rewrite first, and on several datasets side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import bounds, count, decimal, number, percent, points, small
from goldassay.core.sections import Bar, GroupCard, Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.data.kinds import CHOICES, PREFERENCES
from goldassay.questions.effect_tables import effects_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data.kinds import ItemKind

_DIFFICULTY = {"easy": "easy by its patterns", "hard": "hard by its patterns"}
_DIVERGENCES = {"squared_l2": "squared L2", "l2": "L2", "kl": "KL, bits"}


def cluster_sections(found: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Clusters that give their label away"; none where nothing was clustered."""
    if not records(found.get("peco")):
        return ()
    cards = tuple(_card(row) for row in records(found.get("clusters")))
    section = Section(
        key="clusters",
        title="Clusters that give their label away",
        lead="Which sentences are alike and share a label, and what are they about?",
        notes=_notes(found, bool(cards)),
        parts=(
            Part("leakage_curve", _scores(found)),
            Part(table=_by_divergence(found)),
            Part(table=_grid(found)),
            Part("leakage_map"),
            Part("leakage_confidence"),
        ),
        cards=cards,
        how=explanation("goldassay.questions.leakage", "how_clusters"),
    )
    return (section,)


def _scores(found: Mapping[str, Any]) -> Table:
    """The scores of each role's clusters."""
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
    rows = tuple(
        {
            **row,
            "leaning": f"{count(row.get('n_significant'))} of {count(row.get('n_clusters'))}",
            "examples": f"with {percent(row.get('biased_share'))} of examples",
        }
        for row in records(found.get("peco"))
    )
    caption = "Do clusters of like sentences give the label away? (PECO)"
    return Table("clusters", caption, columns, rows, file="clusters")


def _by_divergence(found: Mapping[str, Any]) -> Table:
    """The same clusters by every divergence, in both conventions."""
    columns = (
        Column("role", "sentences"),
        Column("divergence", "divergence"),
        Column("convention", "convention"),
        Column("score", "score", "decimal", 4),
        Column("null_mean", "by chance", "decimal", 4),
        Column("p_value", "p", "probability"),
        Column("largest", "largest of a cluster", "decimal", 3),
    )
    rows = tuple({**row, "divergence": _divergence(row)} for row in records(found.get("divergences")))
    caption = "The first clustering by every divergence and convention"
    return Table("divergences", caption, columns, rows, file="divergences", folded=True)


def _grid(found: Mapping[str, Any]) -> Table:
    """Scores over numbers of clusters and components."""
    columns = (
        Column("role", "sentences"),
        Column("divergence", "divergence"),
        Column("n_components", "components", "count", absent="none"),
        Column("n_clusters", "clusters", "count"),
        Column("score", "score", "decimal", 4),
        Column("sd", "SD", "decimal", 4),
        Column("p_value", "p", "probability"),
    )
    rows = tuple(
        {**row, "divergence": _divergence(row), "n_components": row.get("n_components") or None}
        for row in records(found.get("grid"))
    )
    caption = "Scores for other numbers of clusters and components"
    return Table("grid", caption, columns, rows, file="grid", folded=True)


def _divergence(row: Mapping[str, Any]) -> str:
    return _DIVERGENCES.get(str(row.get("divergence")), str(row.get("divergence")))


def _notes(found: Mapping[str, Any], has_cards: bool) -> tuple[str, ...]:
    notes = [f"Embeddings: {found['vectors']}."] if found.get("vectors") else []
    if not has_cards:
        notes.append("No cluster leans to a label beyond chance.")
    for row in records(found.get("confidence")):
        r = number(row.get("correlation"))
        if r is None:
            continue
        where = bounds(row.get("low"), row.get("high"), 2, 1.0)
        notes.append(
            f"Confidence (mean probability of the gold label over {row.get('of')}) and divergence of the "
            f"{row.get('role')} clusters correlate by {decimal(r)} {where} over examples."
        )
    return tuple(notes)


def _card(row: Mapping[str, Any]) -> GroupCard:
    shares, reference = mapping(row, "shares"), mapping(row, "reference")
    label, role = str(row.get("label")), str(row.get("role"))
    return GroupCard(
        title=f"{percent(row.get('share'))} {label}, where {percent(row.get('expected'))} of all are",
        lead=f"Cluster {row.get('cluster')}: {count(row.get('size'))} {role} sentences"
        + (", biased" if row.get("biased") else ", leaning"),
        bars=tuple(
            Bar(name, number(share) or 0.0, number(reference.get(name)) or 0.0, series)
            for series, (name, share) in enumerate(shares.items())
        ),
        words=tuple((str(item.get("word")), _counts(item)) for item in records(row.get("words"))),
        patterns=tuple(
            (str(item.get("pattern")), f"{_leaning(item)}; {_counts(item)}") for item in records(row.get("patterns"))
        ),
        facts=_facts(row),
        examples=tuple(
            (str(each.get("text") or each.get("example_id")), str(each.get("label")))
            for each in records(row.get("examples"))
        ),
    )


def _counts(item: Mapping[str, Any]) -> str:
    return f"{count(item.get('count'))} here, {count(item.get('elsewhere'))} elsewhere"


def _leaning(item: Mapping[str, Any]) -> str:
    return f"→ {item.get('label')} {percent(item.get('probability'), 0)} in training"


def _facts(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [("divergence", f"{decimal(row.get('divergence'), 3)} (q {small(row.get('q_value'))})")]
    facts += [(name, percent(row.get(key))) for key, name in _DIFFICULTY.items() if number(row.get(key)) is not None]
    if number(row.get("confidence")) is not None:
        other = decimal(row.get("others_confidence"))
        facts.append(("mean confidence", f"{decimal(row.get('confidence'))} (others {other})"))
    facts += [
        (f"{key.removeprefix('accuracy_').replace('_', ' ')} model right", f"{points(value)} %")
        for key, value in row.items()
        if key.startswith("accuracy_") and (key.endswith("_only") or key in ("accuracy_paired", "accuracy_text"))
    ]
    if number(row.get("variance_share")) is not None:
        share = percent(row.get("variance_share"))
        against = (number(row.get("variance_share")) or 0.0) < 0
        facts.append(("share of the score's variance over seeds", f"{share}, moving against it" if against else share))
    return tuple(facts)


def suggestion_sections(leakage: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Rows to rewrite first"; none where none were ranked."""
    found = mapping(leakage, "suggestion")
    if not found:
        return ()
    if found.get("of_items"):
        return (_of_items(leakage, found),)
    part = str(found.get("condition")).removesuffix("_only")
    section = Section(
        key="suggestion",
        title="Rows to rewrite first",
        lead=f"Which rows are given away most by their {part}, and what is dropping them worth?",
        sentences=texts(leakage.get("sentences")),
        caveats=texts(leakage.get("caveats")),
        parts=(Part("leakage_falls", _falls(found)), Part(table=_rows(found, part))),
        small=(_labels(found),),
        how=explanation("goldassay.questions.leakage", "how_suggestion"),
    )
    return (section,)


def _of_items(leakage: Mapping[str, Any], found: Mapping[str, Any]) -> Section:
    kind = PREFERENCES if found.get("kind") == PREFERENCES.name else CHOICES
    return Section(
        key="suggestion",
        title="Items to rewrite first",
        lead=f"Which items are given away most by their {kind.options}, what is to be changed, and what is that worth?",
        sentences=texts(leakage.get("sentences")),
        caveats=texts(leakage.get("caveats")),
        parts=(
            Part(table=_mends(found)),
            Part("leakage_falls", _item_falls(found, kind)),
            Part(table=_items(found, kind)),
        ),
        how=explanation("goldassay.questions.leakage", "how_item_suggestion"),
    )


def _mends(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("rule", "rule that hits beyond chance"),
        Column("effect", "gained over all items", "percent"),
        Column("n_to_change", "items to change", "count"),
        Column("after", "gained in the changed copy", "percent"),
    )
    caption = "How many items are to be changed until a rule is at chance"
    return Table("mends", caption, columns, tuple(records(found.get("mends"))), file="mends")


def _item_falls(found: Mapping[str, Any], kind: ItemKind) -> Table:
    total = {"n_dropped": 0, "n_left": found.get("n_rows")}
    rows = (
        {"rows": "none", **total, **mapping(found, "before")},
        *(
            {"rows": "none, items changed", **total, **each}
            for each in [mapping(found, "changed")]
            if _is_changed(each)
        ),
        *records(found.get("falls")),
    )
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "items", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "guessing", "points"),
        with_bounds("improvement", f"reader of the {kind.options} over guessing", "difference"),
        Column("rule", "rule that gains most"),
        Column("rule_effect", "its gain", "percent"),
    )
    caption = f"Rules and reader measured anew, the reader by {count(found.get('n_seeds'))} refits, in accuracy points"
    return Table("falls", caption, columns, rows, file="falls")


def _is_changed(changed: Mapping[str, Any]) -> bool:
    return bool(changed.get("n_lengthened") or changed.get("positions_drawn"))


def _items(found: Mapping[str, Any], kind: ItemKind) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column("question", kind.question, "prose"),
        Column("choices", kind.options, "prose"),
        Column("answer", kind.right, "data"),
        Column("bits", "bits given away", "decimal"),
        Column("change", "what to change"),
    )
    rows = tuple({**row, "change": row.get("change") or None} for row in records(found.get("rows")))
    return Table("rows", "The first items; all are in the table beside this page", columns, rows, file="rows")


def _falls(found: Mapping[str, Any]) -> Table:
    before = {"rows": "none", "n_dropped": 0, "n_left": found.get("n_rows"), **mapping(found, "before")}
    rows = (before, *records(found.get("falls")))
    on_test = Column("test_improvement", "improvement on the test set", "difference")
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "rows", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "majority of what is left", "points"),
        with_bounds("improvement", "improvement among what is left", "difference"),
        *((on_test,) if "test_improvement" in before else ()),
    )
    caption = f"Leakage measured anew by {count(found.get('n_seeds'))} refits, in accuracy points over the majority"
    return Table("falls", caption, columns, rows, file="falls")


def _rows(found: Mapping[str, Any], part: str) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column(part, part, "prose"),
        Column("label", "label"),
        Column("bits", "bits given away", "decimal"),
        Column("patterns", "patterns of its label", "data"),
        Column("example_id", "id"),
    )
    rows = tuple({**row, "patterns": row.get("patterns") or None} for row in records(found.get("rows")))
    return Table("rows", "The first rows; all are in the table beside this page", columns, rows, file="rows")


def _labels(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("label", "label"),
        Column("share", "of all rows", "percent"),
        Column("share_of_first", "of the first tenth", "percent"),
    )
    return Table("labels", "Labels of the first tenth", columns, tuple(records(found.get("labels"))))


NAMES = {
    "paired": "accuracy of the whole",
    "accuracy": "accuracy of the part",
    "recovered": "share recovered",
    "improvement": "improvement over majority",
    "agreement": "decided like the whole",
    "relevance": "token relevance agreement",
    "peco": "outlier score",
}


def datasets_sections(found: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Datasets side by side"; none where one dataset was measured."""
    rows = tuple(records(found.get("datasets")))
    if not rows:
        return ()
    section = Section(
        key="datasets",
        title="Datasets side by side",
        lead="Which dataset gives most away by a part of its input, and do the measures agree?",
        sentences=texts(found.get("sentences")),
        notes=_notes_on_datasets(found),
        caveats=texts(found.get("caveats")),
        parts=(
            Part("leakage_datasets", _accuracies(rows)),
            Part(table=_agreements(rows)),
            Part(table=_correlations(found)),
            *(Part(table=_effects(name, effects)) for name, effects in mapping(found, "effects_by_dataset").items()),
        ),
    )
    return (section,)


def _effects(name: str, effects: Mapping[str, Any]) -> Table:
    table = effects_of({"effects": effects})
    return replace(table, name=f"effects of {name}", caption=f"{name}: {table.caption}", folded=True)


def _notes_on_datasets(found: Mapping[str, Any]) -> tuple[str, ...]:
    notes = ["Each dataset has a page of its own in the folder of its name, beside this one."]
    if records(found.get("correlations")):
        notes.append(
            "Parts of one dataset, and datasets whose models were trained on the same file, are one family: the "
            "intervals of correlations leave out whole families, one after the other."
        )
    if missing := [_pair(row) for row in records(found.get("uncorrelated"))]:
        notes.append(f"Not correlated, since fewer than three parts have both: {'; '.join(missing)}.")
    return tuple(notes)


def _pair(row: Mapping[str, Any]) -> str:
    return f"{NAMES.get(str(row.get('x')))} and {NAMES.get(str(row.get('y')))}"


def _accuracies(rows: tuple[Mapping[str, Any], ...]) -> Table:
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
    return Table("accuracies", caption, columns, rows, file="datasets")


def _agreements(rows: tuple[Mapping[str, Any], ...]) -> Table:
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
    return Table("agreements", caption, columns, rows, file="datasets")


def _correlations(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "of"),
        Column("r", "correlation", "decimal", low="low", high="high"),
        Column("n", "parts", "count"),
        Column("n_families", "families", "count"),
        Column("printed", "printed in the paper", "decimal"),
        Column("recomputed", "by the paper's tables", "decimal", 3),
    )
    rows = tuple({**row, "of": _pair(row)} for row in records(found.get("correlations")))
    return Table("correlations", "What goes together over datasets (Pearson)", columns, rows)
