"""Several datasets side by side: the tables of the paper, and what goes together over datasets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import TypeAdapter

from goldassay.core.document import About, Input, SettingsFile
from goldassay.core.numbers import number
from goldassay.core.progress import Steps
from goldassay.core.results import severity
from goldassay.core.sections import Finding
from goldassay.questions.leakage.result import (
    Agreement,
    ComparedDatasets,
    Correlated,
    Correlation,
    DatasetPart,
    MeasuredLeakage,
)
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.readers.conditions import PAIRED, is_part
from goldassay.stats.intervals import correlation_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.sections import PrintedTable
    from goldassay.report.report import Report

# Two measures of a dataset's part, what the paper prints for them, and what its own tables give.
PAIRS = (
    ("paired", "accuracy", None, None),
    ("agreement", "recovered", 0.69, 0.539),
    ("relevance", "accuracy", 0.57, 0.544),
    ("peco", "recovered", 0.64, 0.637),
    ("peco", "improvement", None, 0.335),
)
_FEWEST = 3


def compare_datasets(reports: Mapping[str, Report], steps: Steps | None = None) -> Report:
    """One report over the reports of several datasets, each of `measure_leakage`.

    Correlations are Pearson's over the parts of all datasets. Parts of one dataset, and datasets whose models were
    trained on the same file, are not independent: they count as one family, and intervals leave out whole families.
    The verdict is that of the worst dataset.

    Args:
        reports: Name to report.
        steps: Whose times the report tells.

    Source: Saxon, Wang, Xu and Wang 2023, Tables 2 to 4 and Figures 2 and 5 to 7.
    """
    parts = tuple(part for name, report in reports.items() for part in parts_of(name, report))
    rows = [part.to_dict() for part in parts]
    found = correlations(rows)
    result = ComparedDatasets(
        datasets=parts,
        effects_by_dataset={name: _measured(report).effects for name, report in reports.items()},
        correlations=found,
        uncorrelated=tuple(
            Correlated(x, y) for x, y, *_ in PAIRS if (x, y) not in {(each.x, each.y) for each in found}
        ),
    )
    documents = {name: report.to_dict() for name, report in reports.items()}
    inputs = [each for document in documents.values() for each in document["inputs"]]
    worst = max(reports, key=lambda name: _harm(reports[name]))
    verdict = reports[worst].judged["leakage"]
    verdict = replace(verdict, evidence=f"{worst}: {verdict.evidence}")
    first = next(iter(documents.values()))
    findings = {
        "questions": ["leakage"],
        "dataset": About(name=", ".join(documents)),
        "settings_file": TypeAdapter(SettingsFile | None).validate_python(first.get("settings_file")),
        "inputs": TypeAdapter(list[Input]).validate_python(inputs),
        "leakage": result,
        "settings": first["settings"],
    }
    tables = {"datasets": pl.DataFrame(rows, infer_schema_length=None)} if rows else {}
    title = f"Leakage in {len(documents)} datasets"
    framed = frame_findings(title, findings, steps or Steps(), verdicts={"leakage": verdict})
    report = compose_report(framed, tables, findings=[Finding("leakage", None, result=result)])
    return replace(report, printed_tables=_laid_together(reports))


def _laid_together(reports: Mapping[str, Report]) -> tuple[PrintedTable, ...]:
    """The paper's tables with the cells of all datasets, under the names that these have here."""
    laid: dict[str, PrintedTable] = {}
    for name, report in reports.items():
        for table in report.printed_tables:
            cells = tuple({**cell, "dataset": name} for cell in table.cells)
            before = laid[table.name].cells if table.name in laid else ()
            laid[table.name] = replace(table, cells=(*before, *cells))
    return tuple(laid.values())


def _harm(report: Report) -> tuple[int, float]:
    verdict = report.judged["leakage"]
    return severity(verdict.verdict), 0.0 if verdict.headline is None else verdict.headline.value


def _measured(report: Report) -> MeasuredLeakage:
    found = report.answer(MeasuredLeakage)
    assert found is not None
    return found


def parts_of(name: str, report: Report) -> tuple[DatasetPart, ...]:
    """Everything measured of each part of one dataset."""
    found = _measured(report)
    whole = next((each for each in found.conditions if each.condition == PAIRED), None)
    information = {each.condition: each for each in found.information}
    agreement = {each.condition: each for each in found.agreement}
    relevance = {each.condition: each for each in found.relevance}
    scores = {each.role: each for each in found.peco}
    family = _family(name, report)
    parts = []
    for row in (each for each in found.conditions if is_part(each.condition)):
        role = row.condition.removesuffix("_only")
        bits, alike, looks, score = (
            information.get(row.condition),
            agreement.get(row.condition),
            relevance.get(row.condition),
            scores.get(role),
        )
        decided = alike if isinstance(alike, Agreement) else None
        parts.append(
            DatasetPart(
                dataset=name,
                part=role,
                family=family,
                n_examples=found.n_examples,
                majority=row.majority,
                paired=whole.accuracy if whole else None,
                paired_low=whole.accuracy_low if whole else None,
                paired_high=whole.accuracy_high if whole else None,
                accuracy=row.accuracy,
                accuracy_low=row.accuracy_low,
                accuracy_high=row.accuracy_high,
                improvement=row.improvement,
                improvement_low=row.improvement_low,
                improvement_high=row.improvement_high,
                recovered=row.recovered,
                recovered_low=row.recovered_low,
                recovered_high=row.recovered_high,
                information=bits.information if bits else None,
                information_low=bits.information_low if bits else None,
                information_high=bits.information_high if bits else None,
                agreement=decided.agreement if decided else None,
                agreement_low=decided.agreement_low if decided else None,
                agreement_high=decided.agreement_high if decided else None,
                kappa=decided.kappa if decided else None,
                recovery=decided.recovery if decided else None,
                recovery_paper=alike.recovery_paper if alike else None,
                relevance=looks.agreement_recommended if looks else None,
                peco=score.score if score else None,
                peco_low=score.score_low if score else None,
                peco_high=score.score_high if score else None,
                peco_p=score.p_value if score else None,
                peco_paper=score.paper_score if score else None,
            )
        )
    return tuple(parts)


def _family(name: str, report: Report) -> str:
    """What a dataset shares with others: the file that models were trained on, by its fingerprint; or its own name."""
    trained = (each for each in report.to_dict().get("inputs") or () if each.get("role") == "train")
    fingerprints = [digest for each in trained for digest in each.get("sha256") or ()]
    return "+".join(digest[:12] for digest in fingerprints) or name


def correlations(rows: Sequence[Mapping[str, Any]]) -> tuple[Correlation, ...]:
    """Pearson's correlations of `PAIRS` over the rows that have both, with intervals over families of rows.

    Args:
        rows: Parts of datasets in their plain form.
    """
    found = []
    for x, y, printed, recomputed in PAIRS:
        both = [
            (first, second, row["family"])
            for row in rows
            if (first := number(row[x])) is not None and (second := number(row[y])) is not None
        ]
        if len(both) < _FEWEST:
            continue
        xs, ys, families = zip(*both, strict=True)
        r, low, high = correlation_interval(xs, ys, clusters=families)
        found.append(
            Correlation(
                x=x, y=y, r=r, low=low, high=high, n=len(both), n_families=len(set(families)), printed=printed,
                recomputed=recomputed,
            )
        )  # fmt: skip
    return tuple(found)
