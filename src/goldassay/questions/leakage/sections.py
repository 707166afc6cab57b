"""Sections on leakage: what a model gets right from a part of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts, why_absent
from goldassay.core.numbers import bounds, count, number, points
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.questions.effect_tables import effects_of
from goldassay.questions.leakage.choices import LIKE_LENGTH, SUBSETS
from goldassay.questions.leakage.other_sections import cluster_sections, datasets_sections, suggestion_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Leakage", "How much of the label can be read from a part of the input?"


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "No reader of a part of the input tried here gains as much as the limit.",
        "caution": "A part of the input gives labels away: read a score beside this figure.",
        "unsound": "A part of the input gives labels away, enough to make a score misleading.",
    }


def has_joint_ends(document: Mapping[str, Any]) -> bool:
    """Whether the lower end next to the verdict holds for several figures at once."""
    return len(records(mapping(document, "leakage", "effects").get("effects"))) > 1


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Leakage", then clusters, rows to rewrite and several datasets, where they were measured.

    Rows to rewrite and several datasets have their own section in place of "Leakage".
    """
    found = mapping(document, "leakage")
    whole = () if found.get("suggestion") or found.get("datasets") else (_leakage(document),)
    return (*whole, *cluster_sections(found), *suggestion_sections(found), *datasets_sections(found))


def _leakage(document: Mapping[str, Any]) -> Section:
    found = mapping(document, "leakage")
    of_runs = ("how_agreement",) if found.get("information") or found.get("agreement") else ()
    return Section(
        key="leakage",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        notes=_notes(found),
        caveats=texts(found.get("caveats")),
        parts=(
            Part("leakage_rules", _rules(found)),
            Part(table=_subjects(found)),
            *preference_parts(found),
            Part(table=effects_of(found)),
            Part("leakage_conditions", _conditions(found)),
            Part(table=_information(found)),
            Part(table=_agreement(found)),
            Part(table=_relevance(found)),
            Part("leakage_difficulty", _difficulty(found)),
            Part(table=_splits(found)),
        ),
        reason=why_absent(document.get("leakage")),
        how=explanation("goldassay.questions.leakage", "how_conditions", *of_runs, "how_intervals"),
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


def _conditions(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("condition", "condition", aside="reason"),
        Column("n_runs", "runs", "count", aside="constant"),
        with_bounds("accuracy", "accuracy", "points"),
        Column("sd", "SD", "points", 2),
        Column("majority", "majority", "points"),
        with_bounds("improvement", "improvement over majority", "points"),
        with_bounds("recovered", "share recovered", "percent"),
        with_bounds("balanced_accuracy", "mean recall over labels", "points"),
    )
    rows = tuple({**row, "constant": _constant(row)} for row in records(found.get("conditions")))
    caption = "What each part of the input is worth, in accuracy points"
    return Table("conditions", caption, columns, rows, file="leakage")


def _rules(found: Mapping[str, Any]) -> Table:
    """What rules without training pick of the choices."""
    columns = (
        Column("rule", "rule"),
        Column("n_items", "items", "count"),
        Column("hits", "right", "percent"),
        Column("chance", "by guessing", "percent"),
        Column("effect", "gained over all items", "percent"),
        Column("z", "z", "decimal"),
        Column("p_adjusted", "p (Holm)", "decimal", 4),
    )
    caption = "What rules without training get right, of the items where they pick some choices and not all"
    return Table("choice_rules", caption, columns, tuple(records(found.get("rules"))), file="choice_rules")


def _subjects(found: Mapping[str, Any]) -> Table:
    """Where rules without training hit beyond chance."""
    columns = (
        Column("subject", "subject"),
        Column("rule", "rule"),
        Column("n_items", "items", "count"),
        Column("hits", "right", "percent"),
        Column("chance", "by guessing", "percent"),
        Column("effect", "gained over the subject", "percent"),
        Column("q", "q", "decimal", 4),
    )
    caption = "Subjects in which a rule without training hits beyond chance (Benjamini-Hochberg, q below .05)"
    return Table("choice_subjects", caption, columns, tuple(records(found.get("subjects"))), file="choice_subjects")


def _constant(row: Mapping[str, Any]) -> str:
    """How many of the runs decided nothing; where all did, the condition says it."""
    runs, constant = number(row.get("n_runs")) or 0, number(row.get("n_constant")) or 0
    if not 0 < constant < runs:
        return ""
    return f"of which {count(constant)} name{'s' if constant == 1 else ''} one label only"


def _information(found: Mapping[str, Any]) -> Table:
    rows = records(found.get("information"))
    columns = (
        Column("condition", "condition"),
        with_bounds("information", "usable information, bits", "decimal", 3),
        Column("h_yb", "bits without input", "decimal", 3),
        Column("h_yx", "bits left", "decimal", 3),
        Column("share_negative", "examples misled", "percent"),
        Column("information_right", "where right", "decimal"),
        Column("information_wrong", "where wrong", "decimal"),
    )
    nulls = {str(row.get("null")) for row in rows}
    of = f"; without input: {nulls.pop()}" if len(nulls) == 1 else ""
    caption = f"How many bits of the label each condition gives{of}"
    return Table("information", caption, columns, tuple(rows), file="examples")


def _agreement(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("condition", "condition", aside="why"),
        Column("decided", "decided like the whole", sort="decided_sort", aside="decided_aside"),
        Column("chance", "by chance", "points"),
        Column("kappa", "kappa", "decimal"),
        with_bounds("recovery", "right where alike", "points"),
        with_bounds("recovery_paper", "paper: of the whole's right answers", "points"),
    )
    rows = tuple(
        {**row, "why": "; ".join(map(str, mapping(row, "skipped").values())), **_decided(row)}
        for row in records(found.get("agreement"))
    )
    return Table("agreement", "Does a model of a part decide as one of the whole does?", columns, rows)


def _decided(row: Mapping[str, Any]) -> dict[str, Any]:
    """The agreement, or what it lies between where only right and wrong are known."""
    least, agreement = number(row.get("at_least")), number(row.get("agreement"))
    if least is not None and agreement is None:
        between = f"{points(least)} to {points(row.get('at_most'))}"
        return {"decided": between, "decided_sort": least, "decided_aside": "bounds"}
    interval = bounds(row.get("agreement_low"), row.get("agreement_high"))
    return {"decided": points(agreement), "decided_sort": agreement, "decided_aside": interval}


def _relevance(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("condition", "condition", aside="left_out"),
        Column("n_runs", "runs", "count"),
        Column("agreement_recommended", "agreement", "points", low="low", high="high"),
        Column("agreement_paper", "paper's convention", "points"),
        Column("shared_share", "relevance on the shared text", "points"),
        Column("n_used", "examples", "count"),
    )
    rows = tuple(
        {**row, "left_out": "; ".join(f"{count(n)} left out: {why}" for why, n in mapping(row, "skipped").items())}
        for row in records(found.get("relevance"))
    )
    caption = "Do they look at the same words? (token relevance agreement, x 100)"
    return Table("relevance", caption, columns, rows, file="relevance")


def _splits(found: Mapping[str, Any]) -> Table:
    rows = records(found.get("splits"))
    names = [key for key in (rows[0] if rows else {}) if key not in ("split", "n_train", "n_test")]
    columns = (
        Column("split", "split's seed"),
        Column("n_train", "train", "count"),
        Column("n_test", "test", "count"),
        *(
            Column(name, f"PECO {name[5:]}", "decimal", 3) if name.startswith("peco_") else Column(name, name, "points")
            for name in names
        ),
    )
    probed = found.get("source") == "probes"
    whose = "Other splits of the same data" if probed else "Quick probes on several splits of the same data"
    caption = f"{whose}: how much the luck of splitting moves the scores"
    return Table("splits", caption, columns, tuple(rows))


def _difficulty(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("condition", "condition"),
        Column("subset", "subset"),
        Column("n", "examples", "count"),
        Column("accuracy", "accuracy", "points", low="low", high="high"),
    )
    rows = tuple(records(found.get("difficulty")))
    caption = "Accuracy on easy and hard examples"
    return Table("difficulty", caption, columns, rows, file="leakage_by_difficulty", folded=True)


def preference_parts(found: Mapping[str, Any]) -> tuple[Part, ...]:
    """What rules and readers get right where length tells nothing, and on each subset; nothing of other kinds."""
    return tuple(
        Part(table=table) for table in (_like_length(found), _subsets(found)) if table.rows
    )  # fmt: skip


def _like_length(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("reader", "rule or reader"),
        Column("n_items", "pairs of like length", "count"),
        Column("accuracy", "right there", "percent"),
        Column("all_items", "of all pairs", "count"),
        Column("all_accuracy", "right there", "percent"),
    )
    caption = "What is left where length tells nothing: pairs whose lengths differ by less than a tenth"
    return Table("like_length", caption, columns, tuple(records(found.get(LIKE_LENGTH))), file=LIKE_LENGTH)


def _subsets(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("subset", "subset", "data"),
        Column("reader", "reader"),
        Column("n_items", "items", "count"),
        Column("accuracy", "right", "percent"),
        Column("effect", "gained", "percent"),
        Column("z", "z", "decimal"),
        Column("p_adjusted", "q (Benjamini-Hochberg)", "decimal", 4),
    )
    caption = "What readers gain on each subset"
    return Table("subsets", caption, columns, tuple(records(found.get(SUBSETS))), file=SUBSETS)
