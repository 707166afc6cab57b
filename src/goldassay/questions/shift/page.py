"""The page of shift: what a score loses on other distributions, and whether confidence separates their texts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, count, decimal, in_points, number, percent, points, signed_points
from goldassay.core.sections import (
    Around,
    Column,
    Page,
    Part,
    PrintedTable,
    Section,
    Table,
    explanation,
    table_of,
    with_bounds,
)
from goldassay.questions.rows import issue_of_rows
from goldassay.questions.shift.charts import charts, paper_charts
from goldassay.questions.shift.result import (
    SCORE_NAMES,
    CalibrationRow,
    ConfidentError,
    CoverageRow,
    DetectionResult,
    DetectionRow,
    DomainRow,
    GapRow,
    GeneralizationResult,
    MarkingWord,
    ShiftResult,
)
from goldassay.questions.shift.verdict import describe_left_out, doubt_of_skill, judged_gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding
    from goldassay.core.settings import ShiftLimits

_MOST_OPEN, _MOST_FINDINGS, _MOST_DOMAINS = 24, 10, 2
_MOST_ERRORS, _FEWEST_ERRORS = 20, 3
# Of a text in a table, in characters.
_LONGEST = 280
# AUROC of a score that knows nothing.
_CHANCE = 0.5
_MOST_WORDS, _MOST_GAPS, _MOST_EXCESSES = 6, 4, 4
# On its own distribution a model has no gap.
_NO_GAP: Mapping[str, None] = dict.fromkeys((
    "gap", "gap_low", "gap_high", "relative_gap", "relative_low", "relative_high", "loss", "loss_low", "loss_high",
    "excess_loss", "excess_loss_low", "excess_loss_high", "reason",
))  # fmt: skip
_COVERAGES = ("0.5", "0.8", "0.9", "1.0")
# Narrow, so that the number and its sign stay together.
_INTERVAL = "95\N{NARROW NO-BREAK SPACE}% interval"


def sections(found: ShiftResult, _: Around) -> tuple[Section, ...]:
    """The section "Shift"."""
    section = Section(
        key="shift",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=found.sentences[:_MOST_FINDINGS],
        notes=found.notes,
        caveats=found.caveats if isinstance(found, GeneralizationResult) else (),
        parts=_parts(found),
        how=explanation("goldassay.questions.shift", "how"),
    )
    return (section,)


def _parts(found: ShiftResult) -> tuple[Part, ...]:
    if isinstance(found, DetectionResult):
        return (
            Part("shift_false_alarms", _detection(found.detection)),
            Part(table=_orientations(found.detection)),
            Part("shift_confidence"),
        )
    if not isinstance(found, GeneralizationResult):
        return ()
    gaps, folded = found.generalization, len(found.domains) > _MOST_DOMAINS
    return (
        Part("shift_slopes", _gaps(gaps)),
        Part(table=_floors(gaps)),
        Part(table=_known(gaps)),
        Part("shift_sizes"),
        Part("shift_reliability", _calibration(found.calibration)),
        Part("shift_coverage", _coverage(found.risk_coverage)),
        Part(table=_errors(found.confident_errors)),
        *(Part(table=_words(row, place, folded)) for place, row in enumerate(found.domains)),
    )


def _gaps(rows: Sequence[GapRow]) -> Table:
    several = len({row.metric for row in rows}) > 1
    columns = (
        Column("model", "model", "data"),
        *((Column("train", "trained on", "data"),) if len({row.train for row in rows}) > 1 else ()),
        Column("test", "set", "data", aside="own"),
        *((Column("metric", "metric"),) if several else ()),
        Column("n_runs", "runs", "count"),
        Column("n", "examples", "count"),
        Column("value", rows[0].metric_name if rows and not several else "value", "points", low="low", high="high"),
        Column("sd", "SD over runs", "points", 2),
        Column("gap", "gap", "difference", low="gap_low", high="gap_high", aside="reason"),
        Column("loss", "lost above the floor", "percent", low="loss_low", high="loss_high"),
        Column("relative_gap", "relative gap", "percent", low="relative_low", high="relative_high"),
    )
    caption = "Each model on its own distribution and on others, in points; gap = in-distribution − other"
    return table_of("gaps", caption, columns, rows, _gap_cells, file="generalization", folded=len(rows) > _MOST_OPEN)


def _gap_cells(row: GapRow) -> Mapping[str, Any]:
    no_gap = _NO_GAP if row.own else {}
    return {"train": row.train or None, "own": _own(row), "metric": row.metric_name, **no_gap}


def _floors(rows: Sequence[GapRow]) -> Table:
    """What each score has above the best constant answer, and what of that is lost."""
    columns = (
        Column("model", "model", "data"),
        Column("test", "set", "data", aside="own"),
        *((Column("metric", "metric"),) if len({row.metric for row in rows}) > 1 else ()),
        Column("floor", "floor", "points"),
        Column("excess", "score above it", "difference", low="excess_low", high="excess_high"),
        Column(
            "excess_loss", "lost, each above its own floor", "percent", low="excess_loss_low", high="excess_loss_high"
        ),
        Column("effective_clusters", "effective clusters", "decimal", 1),
    )
    caption = "What scores have above their floor, the best answer that is the same for every example, in points"
    return table_of("floors", caption, columns, rows, _gap_cells, file="generalization", folded=len(rows) > _MOST_OPEN)


def _known(gaps: Sequence[GapRow]) -> Table:
    """Both gaps of the sets that have texts of the training data."""
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
    rows = [row for row in gaps if row.n_known or row.gap_with_known is not None]
    caption = "Texts that stand in the training data are left out of the gap; both gaps, in points"

    def more(row: GapRow) -> Mapping[str, Any]:
        no_gap = {**_NO_GAP, "gap_with_known": None} if row.own else {}
        return {"n_all": row.n_all, "metric": row.metric_name, **no_gap}

    return table_of("known_texts", caption, columns, rows, more, file="generalization")


def _own(row: GapRow | CalibrationRow | CoverageRow) -> str:
    return "own" if row.own else ""


def _detection(rows: Sequence[DetectionRow]) -> Table:
    share = percent(rows[0].recall, 0) if rows else ""
    rule = rows[0].rule.replace("_", " ") if rows else ""
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
    folded = len(rows) > _MOST_OPEN
    return table_of(
        "detection", caption, columns, rows, _score_cell, file="detection", grouped_by="dataset", folded=folded
    )


def _score_cell(row: DetectionRow) -> Mapping[str, Any]:
    return {"score": SCORE_NAMES[row.score]}


def _orientations(rows: Sequence[DetectionRow]) -> Table:
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
    return table_of("orientations", caption, columns, rows, _score_cell, file="detection", folded=True)


def _calibration(rows: Sequence[CalibrationRow]) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data", aside="own"),
        Column("accuracy", "accuracy", "points"),
        Column("confidence", "confidence", "points"),
        with_bounds("overconfidence", "overconfidence", "difference"),
        Column("ece", "ECE", "points"),
        with_bounds("ece_if_calibrated", "ECE if calibrated", "interval"),
        with_bounds("brier", "Brier score", "decimal", 3),
    )
    caption = "Does confidence mean what it says? In points; ECE in 15 bins of equal mass"

    def more(row: CalibrationRow) -> Mapping[str, Any]:
        return {"own": _own(row), "ece_if_calibrated": None}

    return table_of("calibration", caption, columns, rows, more, file="calibration", folded=len(rows) > _MOST_OPEN)


def _coverage(rows: Sequence[CoverageRow]) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data", aside="own"),
        with_bounds("aurc", "AURC", "points", 2),
        Column("aurc_random", "if random", "points", 2),
        Column("aurc_best", "if perfect", "points", 2),
        *(Column(share, f"accuracy on {float(share):.0%}", "points") for share in _COVERAGES),
    )
    caption = "What is gained by answering only what the model is surest of, in points"
    return table_of(
        "risk_coverage", caption, columns, rows, lambda row: {"own": _own(row), **row.selective_accuracy},
        file="risk_coverage", folded=len(rows) > _MOST_OPEN,
    )  # fmt: skip


def _errors(found: Sequence[ConfidentError]) -> Table:
    """The first of each model and set, so that several models do not fill the page with them; the files have all."""
    written = any(row.text for row in found)
    lists: dict[tuple[str, str], list[ConfidentError]] = {}
    for row in found:
        lists.setdefault((row.model, row.dataset), []).append(row)
    most = max(_FEWEST_ERRORS, _MOST_ERRORS // max(1, len(lists)))
    rows = [row for each in lists.values() for row in each[:most]]
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "set", "data"),
        Column("text", "text", "prose") if written else Column("example_id", "example", "data"),
        Column("label", "label", "data"),
        Column("prediction", "predicted", "data"),
        Column("confidence", "confidence", "percent"),
        Column("share_wrong", "runs wrong", "percent", 0),
    )
    caption = "Which examples cross over: the most confident errors out of distribution"
    return table_of(
        "confident_errors", caption, columns, rows, lambda row: {"text": _cut(row.text)}, file="confident_errors",
        grouped_by="dataset", folded=len(rows) > _MOST_OPEN,
    )  # fmt: skip


def _cut(text: str | None) -> str:
    """The beginning of a long text; the table of the report has all of it."""
    whole = text or "—"
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST].rstrip()}…"


def _words(domain: DomainRow, place: int, folded: bool) -> Table:
    own, other = domain.in_distribution, domain.dataset
    columns = (
        Column("word", "word", "data"),
        Column("commoner", "commoner in", "data"),
        Column("share_in", f"texts of {own}", "percent"),
        Column("share_out", f"texts of {other}", "percent"),
        Column("z", "z", "decimal", 1),
    )
    with_auroc = f"AUROC {decimal(domain.auroc, 3)} {bounds(domain.low, domain.high, 3, 1)}"
    caption = (
        f"Words that separate {other} from {own}, together with an {with_auroc}"
        if domain.low > _CHANCE
        else f"Words that are commoner in {other} or in {own}; together they do not separate the two ({with_auroc})"
    )

    def more(word: MarkingWord) -> Mapping[str, Any]:
        return {"commoner": other if word.side == "out" else own}

    return table_of(f"domain_words{place}", caption, columns, domain.words, more, file="domain_words", folded=folded)


def describe_generalization(
    gaps: Sequence[GapRow],
    calibration: Sequence[CalibrationRow],
    domains: Sequence[DomainRow],
    limits: ShiftLimits,
) -> list[str]:
    """What was found about gaps, the most important first.

    The gap that the evidence of the verdict is about is left to the verdict. Of two correlations the first is
    described; the table has both.
    """
    first = {row.model: row.metric for row in reversed(gaps)}
    rows = [row for row in gaps if row.metric == first[row.model]]
    unlearned = [f"{row.model}: {doubt.why}" for row in rows if row.own and (doubt := doubt_of_skill(row)) is not None]
    own_of = {row.model: row for row in rows if row.own}
    judged = judged_gap(gaps, limits)
    others = [row for row in rows if not row.own and row is not judged]
    left_out = [(row.model, describe_left_out(own_of[row.model], row)) for row in others]
    known = [f"{model}: {said}" for model, said in left_out if said]
    undefined = [f"{row.model} on {row.test}: {row.reason}." for row in gaps if not row.own and number(row.gap) is None]
    said = dict.fromkeys([*_describe_gaps(rows, judged), *undefined])
    return [*unlearned, *known, *said, *describe_overconfidence(calibration), *map(_describe_domain, domains)]


def _describe_gaps(rows: Sequence[GapRow], judged: GapRow | None) -> list[str]:
    """The largest gaps."""
    own_of = {row.model: row for row in reversed(rows) if row.own}
    largest = sorted((row for row in rows if not row.own and number(row.gap) is not None), key=lambda row: -row.gap)
    said = []
    for row in largest[:_MOST_GAPS]:
        if row is judged:
            continue
        own = own_of[row.model]
        crosses = row.gap_low <= 0 <= row.gap_high
        less = "less" if row.gap > 0 else "more"
        lost = f", {percent(abs(row.loss))} {less} above its floor" if number(row.loss) is not None else ""
        said.append(
            f"{row.model}: {row.metric_name} {points(own.value)} on {own.test} ({count(own.n)}), "
            f"{points(row.value)} on {row.test} ({count(row.n)}): a gap of {signed_points(row.gap, 1)} points "
            f"{bounds(row.gap_low, row.gap_high)}{lost}{'; it may be none' if crosses else ''}."
        )
    return said


def describe_overconfidence(calibration: Sequence[CalibrationRow]) -> list[str]:
    """Where confidence exceeds accuracy by more than its interval, out of distribution, the farthest first."""
    own_of = {row.model: row for row in reversed(calibration) if row.own}
    surest = sorted(calibration, key=lambda row: -row.overconfidence)
    shown = [row for row in surest if not row.own and row.model in own_of and row.overconfidence_low > 0]
    return [
        f"{row.model} is overconfident on {row.dataset}: mean confidence {points(row.confidence)}, "
        f"accuracy {points(row.accuracy)}, {signed_points(row.overconfidence, 1)} points "
        f"{bounds(row.overconfidence_low, row.overconfidence_high)}; on {own_of[row.model].dataset} "
        f"{signed_points(own_of[row.model].overconfidence, 1)}."
        for row in shown[:_MOST_EXCESSES]
    ]


def _describe_domain(row: DomainRow) -> str:
    """How far two sets are from each other, and by which words."""
    words = {side: [each.word for each in row.words if each.side == side] for side in ("in", "out")}
    marking = "; ".join(
        f"{name} has more of {', '.join(words[side][:_MOST_WORDS])}"
        for side, name in (("out", row.dataset), ("in", row.in_distribution))
        if words[side]
    )
    with_auroc = f"AUROC {decimal(row.auroc, 3)} {bounds(row.low, row.high, 3, 1)}"
    if not row.low > _CHANCE:
        sets = f"{row.dataset} from {row.in_distribution}"
        return f"Words do not separate {sets}: {with_auroc}, not significantly above .5."
    return f"Words separate {row.dataset} from {row.in_distribution}: {with_auroc}{f'; {marking}' if marking else ''}."


def describe_detection(rows: Sequence[DetectionRow]) -> list[str]:
    """For each model and other set: false alarms by the first score, and the best one where it is clearly another."""
    said = []
    first_score = rows[0].score if rows else ""
    worst_first = sorted(rows, key=lambda row: (row.score != first_score, -row.false_alarm_rate))
    for model, own, other in dict.fromkeys((row.model, row.in_distribution, row.dataset) for row in worst_first):
        here = [row for row in rows if (row.model, row.in_distribution, row.dataset) == (model, own, other)]
        first, best = here[0], min(here, key=lambda row: row.false_alarm_rate)
        low, high, chance = first.false_alarm_rate_low, first.false_alarm_rate_high, first.false_alarm_rate_chance
        against = "worse than chance" if low > chance else "better than chance" if high < chance else "about chance"
        line = (
            f"{model}, {own} against {other}: false alarms {percent(first.false_alarm_rate)} {bounds(low, high)} at "
            f"{percent(first.recall, 0)} recall by {SCORE_NAMES[first.score]}, {against}; AUROC "
            f"{decimal(first.auroc, 3)}"
        )
        if best.false_alarm_rate_high < low:
            line += f"; least by {SCORE_NAMES[best.score]}: {percent(best.false_alarm_rate)}"
        said.append(f"{line}.")
    return said


def paper_tables(found: ShiftResult, _: Around) -> tuple[Table, ...]:
    """The tables for papers: gaps of each model and set, or detection by each model, set and score."""
    if isinstance(found, GeneralizationResult) and found.generalization:
        return (_paper_gaps(found.generalization),)
    if isinstance(found, DetectionResult) and found.detection:
        return (_paper_detection(found.detection),)
    return ()


_TABLE_1 = PrintedTable(
    "hendrycks2020_table1", "Table 1: scores at home and elsewhere", ("train", "model"), ("dataset",),
    note="in points; a correlation is of numbers.",
)  # fmt: skip
_FIGURE_4 = PrintedTable(
    "hendrycks2020_figure4", "Figure 4: false alarms, by the model's confidence", ("dataset",), ("model",),
    note="in points, at the recall of the report.", needs="logits or probabilities of the runs",
)  # fmt: skip
CHANCE = "chance"
# Of the scores that can tell a foreign text, the paper's; of two correlations that which the paper has not.
CONFIDENCE, BESIDE = "max_softmax", "spearman"


def printed_tables(found: ShiftResult, _: Around) -> tuple[PrintedTable, ...]:
    """Table 1 of Hendrycks et al. 2020, or what its Figure 4 draws."""
    if isinstance(found, GeneralizationResult):
        rows = [vars(row) for row in found.generalization if row.metric != BESIDE]
        return (replace(_TABLE_1, cells=tuple(value_cells(rows, "value", "low", "high"))),)
    if isinstance(found, DetectionResult):
        rows = [vars(row) for row in found.detection if row.score == CONFIDENCE]
        return (replace(_FIGURE_4, cells=tuple(detection_cells(rows, "false_alarm_rate"))),)
    return ()


def value_cells(rows: Iterable[Mapping[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """A cell for each row of a generalization, with the fields of a figure, its lower and its upper end, in points."""
    return [
        {"train": row["train"], "dataset": row["test"], "model": row["model"], **_points_of(row, keys),
         "n_runs": row["n_runs"]}
        for row in rows
    ]  # fmt: skip


def detection_cells(rows: Sequence[Mapping[str, Any]], metric: str) -> list[dict[str, Any]]:
    """A cell for each row of a detection, in points, and what chance gives on each set."""
    cells: list[dict[str, Any]] = [
        {"dataset": row["dataset"], "model": row["model"],
         **_points_of(row, (metric, f"{metric}_low", f"{metric}_high")), "n_runs": row["n_runs"]}
        for row in rows
    ]  # fmt: skip
    chance = {row["dataset"]: 100 * row[f"{metric}_chance"] for row in rows}
    return [*cells, *({"dataset": name, "model": CHANCE, "ours": value} for name, value in chance.items())]


def _points_of(row: Mapping[str, Any], keys: Iterable[str]) -> dict[str, float | None]:
    return {name: in_points(number(row[key])) for name, key in zip(("ours", "low", "high"), keys, strict=True)}


def _paper_gaps(found: Sequence[GapRow]) -> Table:
    rows = [row for model in dict.fromkeys(row.model for row in found) for row in found if row.model == model]
    # In the first row of each model is its name.
    heads = {id(row) for above, row in zip((None, *rows), rows, strict=False) if not above or above.model != row.model}
    columns = (
        Column("named", "Model", "data"),
        Column("test", "Set", "data"),
        Column("metric", "Metric", "data"),
        Column("value", "Value", "points", low="low", high="high"),
        Column("gap", "Gap", "difference"),
        Column("", _INTERVAL, "interval", low="gap_low", high="gap_high", absent=""),
        Column("relative_gap", "Relative", "percent"),
    )

    def more(row: GapRow) -> Mapping[str, Any]:
        return {**(_NO_GAP if row.own else {}), "named": row.model if id(row) in heads else "", "": None}

    comment = "Metric in points with its 95 % interval; gap = in-distribution (first row of a model) - other."
    return table_of("generalization", comment, columns, rows, more, grouped_by="model")


def _paper_detection(rows: Sequence[DetectionRow]) -> Table:
    share = decimal(100 * rows[0].recall, 0)
    columns = (
        Column("model", "Model", "data"),
        Column("dataset", "Other set", "data"),
        Column("score", "Score"),
        Column("false_alarm_rate", f"FAR{share}", "points"),
        with_bounds("false_alarm_rate", _INTERVAL, "interval"),
        Column("auroc", "AUROC", "points"),
        Column("aupr_out", "AUPR", "points"),
        Column("aupr_out_chance", "chance", "points"),
    )
    comment = (
        f"False alarm rate at {share} % recall (other set positive; threshold: {rows[0].rule}; chance {share}), "
        "AUROC (chance 50), AUPR and its chance, in points."
    )
    return table_of("detection", comment, columns, rows, lambda row: {"score": row.score.replace("_", " ")})


def _lead(found: ShiftResult) -> str:
    if found.kind == "detection":
        return "Does the model know when it has left its own distribution?"
    return "Does the score hold on another distribution?"


def issues(_: ShiftResult, finding: Finding) -> tuple[Issue, ...]:
    """The rows behind the verdict."""
    return issue_of_rows(finding, "wrong on other data")


PAGE = Page(
    ShiftResult,
    title="Shift",
    lead=_lead,
    sections=sections,
    charts=charts,
    paper_charts=paper_charts,
    paper_tables=paper_tables,
    printed_tables=printed_tables,
    issues=issues,
)
