"""Which sentences give their label away, cluster by cluster: what a dataset's builders may rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, count, decimal, number, percent, points, small
from goldassay.report.outline import Bar, Card, Cell, Part, Section, Table, mapping, records
from goldassay.report.sections.leakage import divergence_table, grid_table, peco_table

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIFFICULTY = {"easy": "easy by its patterns", "hard": "hard by its patterns"}


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Clusters that give their label away"; None where nothing was clustered."""
    found = mapping(document, "leakage")
    if not records(found.get("peco")):
        return None
    cards = tuple(_card(row) for row in records(found.get("clusters")))
    return Section(
        key="clusters",
        title="Clusters that give their label away",
        question="Which sentences are alike and share a label, and what are they about?",
        notes=_notes(found, bool(cards)),
        parts=(
            Part("leakage_curve", peco_table(found)),
            Part(None, divergence_table(found), folded=True),
            Part(None, grid_table(found), folded=True),
            Part("leakage_map", Table("", (), ())),
            Part("leakage_confidence", Table("", (), ())),
        ),
        cards=cards,
        explained=True,
    )


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


def _card(row: Mapping[str, Any]) -> Card:
    shares, reference = mapping(row, "shares"), mapping(row, "reference")
    label, role = str(row.get("label")), str(row.get("role"))
    return Card(
        title=f"{percent(row.get('share'))} {label}, where {percent(row.get('expected'))} of all are",
        lead=f"Cluster {row.get('cluster')}: {count(row.get('size'))} {role} sentences"
        + (", biased" if row.get("biased") else ", leaning"),
        bars=tuple(
            Bar(name, number(share) or 0.0, number(reference.get(name)) or 0.0, series)
            for series, (name, share) in enumerate(shares.items())
        ),
        words=tuple(Cell(str(item.get("word")), code=True, aside=_counts(item)) for item in records(row.get("words"))),
        patterns=tuple(
            Cell(str(item.get("pattern")), code=True, aside=f"{_leaning(item)}; {_counts(item)}")
            for item in records(row.get("patterns"))
        ),
        facts=_facts(row),
        examples=tuple(
            Cell(str(each.get("text") or each.get("example_id")), prose=True, aside=str(each.get("label")))
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
