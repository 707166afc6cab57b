"""The section on clusters: sentences that are alike and share a label, for a dataset's builders to rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, count, decimal, number, percent, points, small
from goldassay.core.sections import Bar, GroupCard, Part, Section, explanation
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

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
