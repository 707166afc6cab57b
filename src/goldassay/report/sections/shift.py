"""Shift: what a score loses elsewhere, whether confidence follows, and whether it tells texts from elsewhere apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import (
    bounds,
    decimal,
    decimal_cell,
    number,
    percent,
    percent_cell,
    points,
    points_cell,
    signed_points,
    whole_cell,
)
from goldassay.report.outline import (
    Cell,
    Part,
    Section,
    Table,
    data,
    mapping,
    marked,
    questions_of,
    records,
    why_absent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

METRICS = {
    "accuracy": "accuracy",
    "exact_match": "exact match",
    "f1": "F1",
    "mean": "score",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
}
SCORES = {
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
_COVERAGES = ("0.5", "0.8", "0.9", "1.0")


def section(document: Mapping[str, Any]) -> Section:
    """The section "Shift"."""
    title, question = questions_of({**document, "questions": ["shift"]})["shift"]
    found = mapping(document, "shift")
    gaps, detection = records(found.get("generalization")), records(found.get("detection"))
    calibration, coverage = (
        _calibration(records(found.get("calibration"))),
        _coverage(records(found.get("risk_coverage"))),
    )
    errors, domains = _errors(records(found.get("confident_errors"))), records(found.get("domains"))
    return Section(
        key="shift",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "shift"),
        findings=tuple(str(sentence) for sentence in (found.get("sentences") or ())[:_MOST_FINDINGS]),
        notes=tuple(str(note) for note in found.get("notes") or ()),
        parts=(
            Part("shift_slopes", _gaps(gaps), folded=len(gaps) > _MOST_OPEN),
            Part("shift_sizes", Table("", (), ())),
            Part("shift_false_alarms", _detection(detection), folded=len(detection) > _MOST_OPEN),
            Part(None, _orientations(detection), folded=True),
            Part("shift_confidence", Table("", (), ())),
            Part("shift_reliability", calibration, folded=len(calibration.rows) > _MOST_OPEN),
            Part("shift_coverage", coverage, folded=len(coverage.rows) > _MOST_OPEN),
            Part(None, errors, folded=len(errors.rows) > _MOST_OPEN),
            *(Part(None, _words(row), folded=len(domains) > _MOST_DOMAINS) for row in domains),
        ),
        reason="" if gaps or detection else str(found.get("reason") or why_absent(document.get("shift"))),
        explained=True,
    )


def _gaps(rows: list[Mapping[str, Any]]) -> Table:
    several = len({row.get("metric") for row in rows}) > 1
    trained = len({row.get("train") for row in rows}) > 1
    table = []
    for row in rows:
        own = row.get("own") is True
        cells = [data(row.get("model"))]
        cells += [data(row.get("train") or None)] if trained else []
        cells += [Cell(str(row.get("test")), code=True, aside="own" if own else "")]
        cells += [Cell(METRICS.get(str(row.get("metric")), str(row.get("metric"))))] if several else []
        cells += [
            whole_cell(row.get("n_runs")),
            whole_cell(row.get("n")),
            points_cell(row.get("value"), row.get("low"), row.get("high")),
            points_cell(row.get("sd"), digits=2),
            Cell("—") if own else _signed(row, "gap"),
            Cell("—") if own else _relative(row),
        ]
        table.append(tuple(cells))
    columns = ["model", *(["trained on"] if trained else []), "set", *(["metric"] if several else [])]
    name = METRICS.get(str(rows[0].get("metric")), "score") if rows and not several else "value"
    columns += ["runs", "examples", name, "SD over runs", "gap", "relative gap"]
    caption = "Each model on its own distribution and on others, in points; gap = in-distribution − other"
    return Table(caption, tuple(columns), tuple(table), "generalization")


def _signed(row: Mapping[str, Any], key: str) -> Cell:
    value = number(row.get(key))
    aside = bounds(row.get(f"{key}_low"), row.get(f"{key}_high")) or str(row.get("reason") or "")
    return Cell(signed_points(value, 1), value, aside=aside)


def _relative(row: Mapping[str, Any]) -> Cell:
    value = number(row.get("relative_gap"))
    return Cell(percent(value), value, aside=bounds(row.get("relative_low"), row.get("relative_high")))


def _detection(rows: list[Mapping[str, Any]]) -> Table:
    table = tuple(
        (
            data(row.get("model")),
            data(row.get("in_distribution")),
            data(row.get("dataset")),
            Cell(SCORES.get(str(row.get("score")), str(row.get("score")))),
            _with_chance(row, "false_alarm_rate"),
            decimal_cell_with(row, "auroc"),
            decimal_cell_with(row, "aupr_out"),
            decimal_cell(row.get("aupr_out_chance"), 3),
            percent_cell(row.get("tied_share")),
        )
        for row in rows
    )
    share = percent(rows[0].get("recall"), 0) if rows else ""
    rule = str(rows[0].get("rule")).replace("_", " ") if rows else ""
    columns = (
        "model", "own set", "other set", "score", f"false alarms at {share} recall", "AUROC", "AUPR", "chance of AUPR",
        "tied",
    )  # fmt: skip
    caption = (
        f"Telling the other set's texts (positive) from the model's own; threshold: {rule}; chance of false alarms is "
        f"{share}, of AUROC 0.5"
    )
    return Table(caption, columns, table, "detection", grouped_by=2)


def _with_chance(row: Mapping[str, Any], key: str) -> Cell:
    low, high = number(row.get(f"{key}_low")), number(row.get(f"{key}_high"))
    return Cell(percent(row.get(key)), number(row.get(key)), aside=bounds(low, high))


def decimal_cell_with(row: Mapping[str, Any], key: str) -> Cell:
    """A cell with a fraction of three digits and its interval."""
    return Cell(
        decimal(row.get(key), 3),
        number(row.get(key)),
        aside=bounds(row.get(f"{key}_low"), row.get(f"{key}_high"), 3, 1),
    )


def _orientations(rows: list[Mapping[str, Any]]) -> Table:
    """Two rates go by the name FPR95: both, each with what it counts."""
    table = tuple(
        (
            data(row.get("model")),
            data(row.get("dataset")),
            Cell(SCORES.get(str(row.get("score")), str(row.get("score")))),
            _with_chance(row, "false_alarm_rate"),
            _with_chance(row, "fpr_id_positive"),
            decimal_cell_with(row, "aupr_in"),
            decimal_cell(row.get("aupr_in_chance"), 3),
            whole_cell(row.get("n_in")),
            whole_cell(row.get("n_out")),
        )
        for row in rows
    )
    columns = (
        "model", "other set", "score", "own texts flagged (other set positive)", "other texts accepted (own positive)",
        "AUPR, own positive", "its chance", "own texts", "other texts",
    )  # fmt: skip
    return Table("Both rates that are called FPR95, and AUPR the other way round", columns, table, "detection")


def _calibration(rows: list[Mapping[str, Any]]) -> Table:
    table = tuple(
        (
            data(row.get("model")),
            Cell(str(row.get("dataset")), code=True, aside="own" if row.get("own") is True else ""),
            points_cell(row.get("accuracy")),
            points_cell(row.get("confidence")),
            _signed(row, "overconfidence"),
            Cell(points(row.get("ece")), number(row.get("ece"))),
            Cell(bounds(row.get("ece_if_calibrated_low"), row.get("ece_if_calibrated_high"))),
            Cell(decimal(row.get("brier"), 3), number(row.get("brier")), aside=_brier(row)),
        )
        for row in rows
    )
    columns = (
        "model", "set", "accuracy", "confidence", "overconfidence", "ECE", "ECE if calibrated", "Brier score",
    )  # fmt: skip
    caption = "Does confidence mean what it says? In points; ECE in 15 bins of equal mass"
    return Table(caption, columns, table, "calibration")


def _brier(row: Mapping[str, Any]) -> str:
    return bounds(row.get("brier_low"), row.get("brier_high"), 3, 1)


def _coverage(rows: list[Mapping[str, Any]]) -> Table:
    table = tuple(
        (
            data(row.get("model")),
            Cell(str(row.get("dataset")), code=True, aside="own" if row.get("own") is True else ""),
            Cell(
                points(row.get("aurc"), 2),
                number(row.get("aurc")),
                aside=bounds(row.get("aurc_low"), row.get("aurc_high"), 2),
            ),
            points_cell(row.get("aurc_random"), digits=2),
            points_cell(row.get("aurc_best"), digits=2),
            *(points_cell(mapping(row, "selective_accuracy").get(share)) for share in _COVERAGES),
        )
        for row in rows
    )
    columns = ("model", "set", "AURC", "if random", "if perfect", *(f"accuracy on {float(s):.0%}" for s in _COVERAGES))
    caption = "What is gained by answering only what the model is surest of, in points"
    return Table(caption, columns, table, "risk_coverage")


def _errors(rows: list[Mapping[str, Any]]) -> Table:
    """The first of each model and set, so that several models do not fill the page with them; the files have all."""
    texts = any(row.get("text") for row in rows)
    lists: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        lists.setdefault((row.get("model"), row.get("dataset")), []).append(row)
    most = max(_FEWEST_ERRORS, _MOST_ERRORS // max(1, len(lists)))
    table = tuple(
        (
            data(row.get("model")),
            data(row.get("dataset")),
            marked(_cut(row.get("text")), ()) if texts else data(row.get("example_id")),
            data(row.get("label")),
            data(row.get("prediction")),
            percent_cell(row.get("confidence")),
            percent_cell(row.get("share_wrong"), 0),
        )
        for each in lists.values()
        for row in each[:most]
    )
    columns = ("model", "set", "text" if texts else "example", "label", "predicted", "confidence", "runs wrong")
    caption = "Which examples cross over: the most confident errors out of distribution"
    return Table(caption, columns, table, "confident_errors", grouped_by=1)


def _cut(text: Any) -> str:
    """The beginning of a long text; the table beside the report has all of it."""
    whole = str(text or "—")
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST].rstrip()}…"


def _words(row: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            data(word.get("word")),
            Cell(str(row.get("dataset") if word.get("side") == "out" else row.get("in_distribution")), code=True),
            percent_cell(word.get("share_in")),
            percent_cell(word.get("share_out")),
            decimal_cell(word.get("z"), 1),
        )
        for word in records(row.get("words"))
    )
    caption = (
        f"Words that tell {row.get('dataset')} from {row.get('in_distribution')}: together they do so with an AUROC of "
        f"{decimal(row.get('auroc'), 3)} {bounds(row.get('low'), row.get('high'), 3, 1)}"
    )
    columns = ("word", "commoner in", f"texts of {row.get('in_distribution')}", f"texts of {row.get('dataset')}", "z")
    return Table(caption, columns, rows, "domain_words")
