"""Sections on shift: what a score loses elsewhere, and whether confidence tells texts from elsewhere apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts, why_absent
from goldassay.core.numbers import bounds, decimal, percent
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Shift", "Does the score hold on another distribution?"
_LEAD_OF_DETECTION = "Does the model know when it has left its own distribution?"

_METRICS = {
    "accuracy": "accuracy",
    "exact_match": "exact match",
    "f1": "F1",
    "mean": "score",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
}
_SCORES = {
    "max_softmax": "max softmax",
    "max_logit": "max logit",
    "energy": "energy",
    "entropy": "entropy",
    "mahalanobis": "Mahalanobis",
    "knn": "k-th neighbor",
}
_MOST_OPEN, _MOST_FINDINGS, _MOST_DOMAINS = 24, 10, 2
_MOST_ERRORS, _FEWEST_ERRORS = 20, 3
# Of a text in a table, in characters.
_LONGEST = 280
_GAP = (
    "gap", "gap_low", "gap_high", "relative_gap", "relative_low", "relative_high", "loss", "loss_low", "loss_high",
    "excess_loss", "excess_loss_low", "excess_loss_high", "reason",
)  # fmt: skip
_COVERAGES = ("0.5", "0.8", "0.9", "1.0")


def heading(document: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card, by what was measured."""
    return TITLE, _LEAD_OF_DETECTION if mapping(document, "shift").get("kind") == "detection" else LEAD


def meanings(document: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    if mapping(document, "shift").get("kind") == "detection":
        return {
            "sound": "The model's confidence tells texts from elsewhere from its own.",
            "caution": "To flag texts from elsewhere by confidence, some of the model's own are flagged too.",
            "unsound": "To flag texts from elsewhere by confidence, most of the model's own are flagged too.",
        }
    return {
        "sound": "On the other distributions tried here the score loses less than the limit.",
        "caution": "The score loses a part of what it is worth on another distribution.",
        "unsound": "The score loses much of what it is worth on another distribution.",
    }


def has_joint_ends(document: Mapping[str, Any]) -> bool:
    """Whether the lower end next to the verdict holds for several figures at once."""
    gaps = records(mapping(document, "shift").get("generalization"))
    return sum(not row.get("own") for row in gaps) > 1


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Shift"."""
    title, lead = heading(document)
    found = mapping(document, "shift")
    gaps, detection, domains = (records(found.get(key)) for key in ("generalization", "detection", "domains"))
    section = Section(
        key="shift",
        title=title,
        lead=lead,
        sentences=texts(found.get("sentences"))[:_MOST_FINDINGS],
        notes=texts(found.get("notes")),
        caveats=texts(found.get("caveats")),
        parts=(
            Part("shift_slopes", _gaps(gaps)),
            Part(table=_floors(gaps)),
            Part(table=_known(gaps)),
            Part("shift_sizes"),
            Part("shift_false_alarms", _detection(detection)),
            Part(table=_orientations(detection)),
            Part("shift_confidence"),
            Part("shift_reliability", _calibration(records(found.get("calibration")))),
            Part("shift_coverage", _coverage(records(found.get("risk_coverage")))),
            Part(table=_errors(records(found.get("confident_errors")))),
            *(Part(table=_words(row, place, len(domains) > _MOST_DOMAINS)) for place, row in enumerate(domains)),
        ),
        reason="" if gaps or detection else str(found.get("reason") or why_absent(document.get("shift"))),
        how=explanation("goldassay.questions.shift", "how"),
    )
    return (section,)


def _gaps(gaps: list[Mapping[str, Any]]) -> Table:
    several = len({row.get("metric") for row in gaps}) > 1
    trained = len({row.get("train") for row in gaps}) > 1
    rows = tuple(
        {
            **row,
            "train": row.get("train") or None,
            "own": _own(row),
            "metric": _METRICS.get(str(row.get("metric")), str(row.get("metric"))),
            # On its own distribution a model has no gap.
            **(dict.fromkeys(_GAP) if row.get("own") is True else {}),
        }
        for row in gaps
    )
    columns = (
        Column("model", "model", "data"),
        *((Column("train", "trained on", "data"),) if trained else ()),
        Column("test", "set", "data", aside="own"),
        *((Column("metric", "metric"),) if several else ()),
        Column("n_runs", "runs", "count"),
        Column("n", "examples", "count"),
        Column("value", str(rows[0]["metric"]) if rows and not several else "value", "points", low="low", high="high"),
        Column("sd", "SD over runs", "points", 2),
        Column("gap", "gap", "difference", low="gap_low", high="gap_high", aside="reason"),
        Column("loss", "lost above the floor", "percent", low="loss_low", high="loss_high"),
        Column("relative_gap", "relative gap", "percent", low="relative_low", high="relative_high"),
    )
    caption = "Each model on its own distribution and on others, in points; gap = in-distribution − other"
    return Table("gaps", caption, columns, rows, file="generalization", folded=len(rows) > _MOST_OPEN)


def _floors(gaps: list[Mapping[str, Any]]) -> Table:
    """What each score has above the best constant answer, and what of that is lost."""
    several = len({row.get("metric") for row in gaps}) > 1
    rows = tuple(
        {
            **row,
            "own": _own(row),
            "metric": _METRICS.get(str(row.get("metric")), str(row.get("metric"))),
            **(dict.fromkeys(_GAP) if row.get("own") is True else {}),
        }
        for row in gaps
        if "floor" in row
    )
    columns = (
        Column("model", "model", "data"),
        Column("test", "set", "data", aside="own"),
        *((Column("metric", "metric"),) if several else ()),
        Column("floor", "floor", "points"),
        Column("excess", "score above it", "difference", low="excess_low", high="excess_high"),
        Column(
            "excess_loss", "lost, each above its own floor", "percent", low="excess_loss_low", high="excess_loss_high"
        ),
        Column("effective_clusters", "effective clusters", "decimal", 1),
    )
    caption = "What scores have above their floor, the best answer that is the same for every example, in points"
    return Table("floors", caption, columns, rows, file="generalization", folded=len(rows) > _MOST_OPEN)


def _known(gaps: list[Mapping[str, Any]]) -> Table:
    """Both gaps of the sets that have texts of the training data."""
    rows = tuple(
        {
            **row,
            "n_all": row["n"] + row["n_known"],
            "metric": _METRICS.get(str(row.get("metric")), str(row.get("metric"))),
        }
        for row in gaps
        if row.get("n_known")
    )
    columns = (
        Column("model", "model", "data"),
        Column("test", "set", "data"),
        Column("metric", "metric"),
        Column("n_known", "texts in the training data", "count"),
        Column("n_all", "of", "count"),
        Column("known_share", "share", "percent"),
        Column("gap", "gap without them", "difference", low="gap_low", high="gap_high"),
        Column(
            "value_with_known", "score with them", "points", low="value_with_known_low", high="value_with_known_high"
        ),
        Column("gap_with_known", "gap with them", "difference", low="gap_with_known_low", high="gap_with_known_high"),
    )
    caption = "Texts that stand in the training data are left out of the gap; both gaps, in points"
    return Table("known_texts", caption, columns, rows, file="generalization")


def _own(row: Mapping[str, Any]) -> str:
    return "own" if row.get("own") is True else ""


def _detection(found: list[Mapping[str, Any]]) -> Table:
    share = percent(found[0].get("recall"), 0) if found else ""
    rule = str(found[0].get("rule")).replace("_", " ") if found else ""
    columns = (
        Column("model", "model", "data"),
        Column("in_distribution", "own set", "data"),
        Column("dataset", "other set", "data"),
        Column("score", "score"),
        with_bounds("false_alarm_rate", f"false alarms at {share} recall", "percent"),
        with_bounds("auroc", "AUROC", "decimal", 3),
        with_bounds("aupr_out", "AUPR", "decimal", 3),
        Column("aupr_out_chance", "chance of AUPR", "decimal", 3),
        Column("tied_share", "tied", "percent"),
    )
    caption = (
        f"Telling the other set's texts (positive) from the model's own; threshold: {rule}; chance of false alarms is "
        f"{share}, of AUROC 0.5"
    )
    rows = _scored(found)
    folded = len(rows) > _MOST_OPEN
    return Table("detection", caption, columns, rows, file="detection", grouped_by="dataset", folded=folded)


def _scored(found: list[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**row, "score": _SCORES.get(str(row.get("score")), str(row.get("score")))} for row in found)


def _orientations(found: list[Mapping[str, Any]]) -> Table:
    """Two rates go by the name FPR95: both, each with what it counts."""
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "other set", "data"),
        Column("score", "score"),
        with_bounds("false_alarm_rate", "own texts flagged (other set positive)", "percent"),
        with_bounds("fpr_id_positive", "other texts accepted (own positive)", "percent"),
        with_bounds("aupr_in", "AUPR, own positive", "decimal", 3),
        Column("aupr_in_chance", "its chance", "decimal", 3),
        Column("n_in", "own texts", "count"),
        Column("n_out", "other texts", "count"),
    )
    caption = "Both rates that are called FPR95, and AUPR the other way round"
    return Table("orientations", caption, columns, _scored(found), file="detection", folded=True)


def _calibration(found: list[Mapping[str, Any]]) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data", aside="own"),
        Column("accuracy", "accuracy", "points"),
        Column("confidence", "confidence", "points"),
        Column(
            "overconfidence",
            "overconfidence",
            "difference",
            low="overconfidence_low",
            high="overconfidence_high",
            aside="reason",
        ),
        Column("ece", "ECE", "points"),
        with_bounds("ece_if_calibrated", "ECE if calibrated", "interval"),
        with_bounds("brier", "Brier score", "decimal", 3),
    )
    rows = tuple({**row, "own": _own(row)} for row in found)
    caption = "Does confidence mean what it says? In points; ECE in 15 bins of equal mass"
    return Table("calibration", caption, columns, rows, file="calibration", folded=len(rows) > _MOST_OPEN)


def _coverage(found: list[Mapping[str, Any]]) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data", aside="own"),
        with_bounds("aurc", "AURC", "points", 2),
        Column("aurc_random", "if random", "points", 2),
        Column("aurc_best", "if perfect", "points", 2),
        *(Column(share, f"accuracy on {float(share):.0%}", "points") for share in _COVERAGES),
    )
    rows = tuple({**row, "own": _own(row), **mapping(row, "selective_accuracy")} for row in found)
    caption = "What is gained by answering only what the model is surest of, in points"
    return Table("risk_coverage", caption, columns, rows, file="risk_coverage", folded=len(rows) > _MOST_OPEN)


def _errors(found: list[Mapping[str, Any]]) -> Table:
    """The first of each model and set, so that several models do not fill the page with them; the files have all."""
    written = any(row.get("text") for row in found)
    lists: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in found:
        lists.setdefault((row.get("model"), row.get("dataset")), []).append(row)
    most = max(_FEWEST_ERRORS, _MOST_ERRORS // max(1, len(lists)))
    rows = tuple({**row, "text": _cut(row.get("text"))} for each in lists.values() for row in each[:most])
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data"),
        Column("text", "text", "prose") if written else Column("example_id", "example", "data"),
        Column("label", "label", "data"),
        Column("prediction", "predicted", "data"),
        Column("confidence", "confidence", "percent"),
        Column("share_wrong", "runs wrong", "percent", 0),
    )
    return Table(
        "confident_errors",
        "Which examples cross over: the most confident errors out of distribution",
        columns,
        rows,
        file="confident_errors",
        grouped_by="dataset",
        folded=len(rows) > _MOST_OPEN,
    )


def _cut(text: Any) -> str:
    """The beginning of a long text; the table of the report has all of it."""
    whole = str(text or "—")
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST].rstrip()}…"


def _words(domain: Mapping[str, Any], place: int, folded: bool) -> Table:
    own, other = domain.get("in_distribution"), domain.get("dataset")
    columns = (
        Column("word", "word", "data"),
        Column("commoner", "commoner in", "data"),
        Column("share_in", f"texts of {own}", "percent"),
        Column("share_out", f"texts of {other}", "percent"),
        Column("z", "z", "decimal", 1),
    )
    rows = tuple(
        {**word, "commoner": str(other if word.get("side") == "out" else own)} for word in records(domain.get("words"))
    )
    caption = (
        f"Words that tell {other} from {own}: together they do so with an AUROC of "
        f"{decimal(domain.get('auroc'), 3)} {bounds(domain.get('low'), domain.get('high'), 3, 1)}"
    )
    return Table(f"domain_words{place}", caption, columns, rows, file="domain_words", folded=folded)
