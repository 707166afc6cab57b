"""Leakage: what a model gets right from a part of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import (
    bounds,
    count,
    decimal,
    decimal_cell,
    number,
    percent,
    percent_cell,
    points,
    points_cell,
    small_cell,
    whole_cell,
)
from goldassay.report.outline import QUESTIONS, Cell, Part, Section, Table, mapping, records, text, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIVERGENCES = {"squared_l2": "squared L2", "l2": "L2", "kl": "KL, bits"}


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Leakage"; None where rows to rewrite or several datasets have a section of their own."""
    found = mapping(document, "leakage")
    if found.get("suggestion") or found.get("datasets"):
        return None
    title, question = QUESTIONS["leakage"]
    return Section(
        key="leakage",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "leakage"),
        findings=tuple(str(sentence) for sentence in found.get("sentences") or ()),
        notes=_notes(found),
        parts=(
            Part("leakage_conditions", _conditions(found)),
            Part(None, _information(found)),
            Part(None, _agreement(found)),
            Part(None, _relevance(found)),
            Part("leakage_difficulty", _difficulty(found), folded=True),
            Part(None, _splits(found)),
        ),
        reason=why_absent(document.get("leakage")),
        explained=True,
    )


def _notes(found: Mapping[str, Any]) -> tuple[str, ...]:
    seeds = found.get("seeds") or ()
    notes = []
    if found.get("probe"):
        times = (
            f" It was trained with {len(seeds)} {'seed' if len(seeds) == 1 else 'seeds'} a condition."
            if seeds and found.get("source") != "runs"
            else ""
        )
        notes.append(f"{str(found['probe']).rstrip('.')}.{times}")
    if found.get("note"):
        notes.append(str(found["note"]))
    notes += [str(said) for key in ("caveats", "remarks") for said in found.get(key) or ()]
    notes += [f"Not measured: {name}, since {reason}." for name, reason in mapping(found, "undefined").items()]
    return tuple(notes)


def _runs(row: Mapping[str, Any]) -> Cell:
    """How many, and how many of them decided nothing; of all the condition says it."""
    runs, constant = number(row.get("n_runs")) or 0, number(row.get("n_constant")) or 0
    aside = f"of which {count(constant)} name{'s' if constant == 1 else ''} one label only" if constant < runs else ""
    return Cell(count(row.get("n_runs")), sort=number(row.get("n_runs")), aside=aside if constant else "")


def _conditions(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(str(row.get("condition")), aside=str(row.get("reason") or "")),
            _runs(row),
            points_cell(row.get("accuracy"), row.get("accuracy_low"), row.get("accuracy_high")),
            points_cell(row.get("sd"), digits=2),
            points_cell(row.get("majority")),
            points_cell(row.get("improvement"), row.get("improvement_low"), row.get("improvement_high")),
            Cell(
                percent(row.get("recovered")),
                sort=number(row.get("recovered")),
                aside=bounds(row.get("recovered_low"), row.get("recovered_high")),
            ),
        )
        for row in records(found.get("conditions"))
    )
    columns = ("condition", "runs", "accuracy", "SD", "majority", "improvement over majority", "share recovered")
    return Table("What each part of the input is worth, in accuracy points", columns, rows, "leakage")


def _information(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("condition")),
            Cell(
                decimal(row.get("information"), 3),
                sort=number(row.get("information")),
                aside=bounds(row.get("information_low"), row.get("information_high"), 3, 1.0),
            ),
            decimal_cell(row.get("h_yb"), 3),
            decimal_cell(row.get("h_yx"), 3),
            percent_cell(row.get("share_negative")),
            Cell(decimal(row.get("information_right"), 2), sort=number(row.get("information_right"))),
            Cell(decimal(row.get("information_wrong"), 2), sort=number(row.get("information_wrong"))),
        )
        for row in records(found.get("information"))
    )
    columns = (
        "condition",
        "usable information, bits",
        "bits without input",
        "bits left",
        "examples misled",
        "where right",
        "where wrong",
    )
    nulls = {str(row.get("null")) for row in records(found.get("information"))}
    of = f"; without input: {nulls.pop()}" if len(nulls) == 1 else ""
    return Table(f"How many bits of the label each condition gives{of}", columns, rows, "examples")


def _agreement(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(str(row.get("condition")), aside="; ".join(map(str, mapping(row, "skipped").values()))),
            _agreed(row),
            points_cell(row.get("chance")),
            decimal_cell(row.get("kappa")),
            points_cell(row.get("recovery"), row.get("recovery_low"), row.get("recovery_high")),
            points_cell(row.get("recovery_paper"), row.get("recovery_paper_low"), row.get("recovery_paper_high")),
        )
        for row in records(found.get("agreement"))
    )
    columns = (
        "condition",
        "decided like the whole",
        "by chance",
        "kappa",
        "right where alike",
        "paper: of the whole's right answers",
    )
    return Table("Does a model of a part decide as one of the whole does?", columns, rows)


def _agreed(row: Mapping[str, Any]) -> Cell:
    """The agreement, or what it lies between where only right and wrong are known."""
    if number(row.get("at_least")) is not None and number(row.get("agreement")) is None:
        between = f"{points(row.get('at_least'))} to {points(row.get('at_most'))}"
        return Cell(between, sort=number(row.get("at_least")), aside="bounds")
    return points_cell(row.get("agreement"), row.get("agreement_low"), row.get("agreement_high"))


def _relevance(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(
                str(row.get("condition")),
                aside="; ".join(f"{count(n)} left out: {why}" for why, n in mapping(row, "skipped").items()),
            ),
            whole_cell(row.get("n_runs")),
            points_cell(row.get("agreement_recommended"), row.get("low"), row.get("high")),
            points_cell(row.get("agreement_paper")),
            points_cell(row.get("shared_share")),
            whole_cell(row.get("n_used")),
        )
        for row in records(found.get("relevance"))
    )
    columns = (
        "condition",
        "runs",
        "agreement",
        "paper's convention",
        "relevance on the shared text",
        "examples",
    )
    return Table("Do they look at the same words? (token relevance agreement, x 100)", columns, rows, "relevance")


def _splits(found: Mapping[str, Any]) -> Table:
    kept = records(found.get("splits"))
    names = [key for key in (kept[0] if kept else {}) if key not in ("split", "n_train", "n_test")]
    rows = tuple(
        (
            Cell(str(row.get("split"))),
            whole_cell(row.get("n_train")),
            whole_cell(row.get("n_test")),
            *(
                decimal_cell(row.get(name), 3) if name.startswith("peco_") else points_cell(row.get(name))
                for name in names
            ),
        )
        for row in kept
    )
    shown = tuple(f"PECO {name[5:]}" if name.startswith("peco_") else name for name in names)
    probed = found.get("source") == "probes"
    whose = "Other splits of the same data" if probed else "Quick probes on several splits of the same data"
    return Table(
        f"{whose}: how much the luck of splitting moves the scores",
        ("split's seed", "train", "test", *shown),
        rows,
    )


def _difficulty(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("condition")),
            text(row.get("subset")),
            whole_cell(row.get("n")),
            points_cell(row.get("accuracy"), row.get("low"), row.get("high")),
        )
        for row in records(found.get("difficulty"))
    )
    columns = ("condition", "subset", "examples", "accuracy")
    return Table("Accuracy on easy and hard examples", columns, rows, "leakage_by_difficulty")


def peco_table(found: Mapping[str, Any]) -> Table:
    """The scores of each role's clusters."""
    rows = tuple(
        (
            text(row.get("role")),
            Cell(
                decimal(row.get("score"), 4),
                sort=number(row.get("score")),
                aside=bounds(row.get("score_low"), row.get("score_high"), 4, 1.0),
            ),
            decimal_cell(row.get("sd"), 4),
            small_cell(row.get("p_value")),
            decimal_cell(row.get("null_mean"), 4),
            decimal_cell(row.get("paper_score"), 4),
            Cell(
                f"{count(row.get('n_significant'))} of {count(row.get('n_clusters'))}", number(row.get("n_significant"))
            ),
            Cell(
                count(row.get("n_biased")),
                number(row.get("n_biased")),
                aside=f"with {percent(row.get('biased_share'))} of examples",
            ),
        )
        for row in records(found.get("peco"))
    )
    columns = (
        "sentences",
        "outlier score",
        "SD over clusterings",
        "p",
        "chance, taken off",
        "paper's convention",
        "lean beyond chance",
        "biased clusters",
    )
    return Table("Do clusters of like sentences give the label away? (PECO)", columns, rows, "clusters")


def divergence_table(found: Mapping[str, Any]) -> Table:
    """The same clusters by every divergence, in both conventions."""
    rows = tuple(
        (
            text(row.get("role")),
            Cell(_DIVERGENCES.get(str(row.get("divergence")), str(row.get("divergence")))),
            text(row.get("convention")),
            decimal_cell(row.get("score"), 4),
            decimal_cell(row.get("null_mean"), 4),
            small_cell(row.get("p_value")),
            decimal_cell(row.get("largest"), 3),
        )
        for row in records(found.get("divergences"))
    )
    columns = ("sentences", "divergence", "convention", "score", "by chance", "p", "largest of a cluster")
    return Table("The first clustering by every divergence and convention", columns, rows, "divergences")


def grid_table(found: Mapping[str, Any]) -> Table:
    """Scores over numbers of clusters and components."""
    rows = tuple(
        (
            text(row.get("role")),
            Cell(_DIVERGENCES.get(str(row.get("divergence")), str(row.get("divergence")))),
            Cell(
                count(row.get("n_components")) if row.get("n_components") else "none", number(row.get("n_components"))
            ),
            whole_cell(row.get("n_clusters")),
            decimal_cell(row.get("score"), 4),
            decimal_cell(row.get("sd"), 4),
            small_cell(row.get("p_value")),
        )
        for row in records(found.get("grid"))
    )
    columns = ("sentences", "divergence", "components", "clusters", "score", "SD", "p")
    return Table("Scores for other numbers of clusters and components", columns, rows, "grid")
