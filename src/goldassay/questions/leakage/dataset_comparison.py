"""Several datasets side by side: the tables of the paper, and what goes together over datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import signed_points
from goldassay.core.progress import Steps
from goldassay.core.results import to_plain
from goldassay.core.verdicts import severity
from goldassay.questions.leakage.partial_input import is_part
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.stats.intervals import correlation_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def _harm(document: Mapping[str, Any]) -> tuple[int, float]:
    verdict = document["verdicts"]["leakage"]
    headline = verdict.get("headline") or {}
    return severity(verdict["verdict"]), headline.get("value") or 0.0


def compare_datasets(reports: Mapping[str, Report], steps: Steps | None = None) -> Report:
    """One report over the reports of several datasets, each of `measure_leakage`.

    Correlations are Pearson's over the parts of all datasets. Parts of one dataset, and datasets whose models were
    trained on the same file, are not independent: they count as one family, and intervals leave out whole families.

    Args:
        reports: Name to report.
        steps: Whose times the report tells.

    Source: Saxon, Wang, Xu and Wang 2023, Tables 2 to 4 and Figures 2 and 5 to 7.
    """
    documents = {name: report.to_dict() for name, report in reports.items()}
    rows = [row for name, document in documents.items() for row in rows_of(name, document)]
    section = {
        "datasets": rows,
        # What the verdict rests on, which is that of the worst dataset.
        "effects_by_dataset": {name: document["leakage"].get("effects") for name, document in documents.items()},
        "correlations": (found := correlations(rows)),
        "uncorrelated": [
            {"x": x, "y": y} for x, y, *_ in PAIRS if (x, y) not in {(row["x"], row["y"]) for row in found}
        ],
        "sentences": _say(rows),
    }
    worst = max(documents, key=lambda name: _harm(documents[name]))
    verdict = dict(documents[worst]["verdicts"]["leakage"])
    verdict["evidence"] = f"{worst}: {verdict['evidence']}"
    findings = {
        "questions": ["leakage"],
        "verdicts": {"leakage": verdict},
        "dataset": {"name": ", ".join(documents)},
        "settings_file": next(iter(documents.values())).get("settings_file"),
        "inputs": [each for document in documents.values() for each in document["inputs"]],
        "leakage": to_plain(section),
        "settings": next(iter(documents.values()))["settings"],
    }
    tables = {"datasets": pl.DataFrame(rows, infer_schema_length=None)} if rows else {}
    title = f"Leakage in {len(documents)} datasets"
    return compose_report(frame_findings(title, findings, steps or Steps()), tables)


def rows_of(name: str, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row a part of one dataset: everything measured of it."""
    found = document["leakage"]
    conditions = {row["condition"]: row for row in found["conditions"]}
    whole = conditions.get("paired", {})
    by_condition = {
        key: {row["condition"]: row for row in found[key]} for key in ("information", "agreement", "relevance")
    }
    scores = {row["role"]: row for row in found["peco"]}
    family = _family(name, document)
    rows = []
    for condition, row in conditions.items():
        if not is_part(condition):
            continue
        role = condition.removesuffix("_only")
        information, agreement, relevance = (by_condition[key].get(condition, {}) for key in by_condition)
        score = scores.get(role, {})
        rows.append(
            {
                "dataset": name,
                "part": role,
                "family": family,
                "n_examples": found["n_examples"],
                "majority": row["majority"],
                "paired": whole.get("accuracy"),
                "paired_low": whole.get("accuracy_low"),
                "paired_high": whole.get("accuracy_high"),
                **{
                    key: row[key]
                    for measure in ("accuracy", "improvement", "recovered")
                    for key in (measure, f"{measure}_low", f"{measure}_high")
                },
                "information": information.get("information"),
                "information_low": information.get("information_low"),
                "information_high": information.get("information_high"),
                "agreement": agreement.get("agreement"),
                "agreement_low": agreement.get("agreement_low"),
                "agreement_high": agreement.get("agreement_high"),
                "kappa": agreement.get("kappa"),
                "recovery": agreement.get("recovery"),
                "recovery_paper": agreement.get("recovery_paper"),
                "relevance": relevance.get("agreement_recommended"),
                "peco": score.get("score"),
                "peco_low": score.get("score_low"),
                "peco_high": score.get("score_high"),
                "peco_p": score.get("p_value"),
                "peco_paper": score.get("paper_score"),
            }
        )
    return rows


def _family(name: str, document: Mapping[str, Any]) -> str:
    """What a dataset shares with others: the file that models were trained on, by its fingerprint; or its own name."""
    trained = (each for each in document.get("inputs") or () if each.get("role") == "train")
    fingerprints = [digest for each in trained for digest in each.get("sha256") or ()]
    return "+".join(digest[:12] for digest in fingerprints) or name


def correlations(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pearson's correlations of `PAIRS` over the rows that have both, with intervals over families of rows."""
    found = []
    for x, y, printed, recomputed in PAIRS:
        both = [row for row in rows if row[x] is not None and row[y] is not None]
        if len(both) < _FEWEST:
            continue
        families = [row["family"] for row in both]
        r, low, high = correlation_interval([row[x] for row in both], [row[y] for row in both], clusters=families)
        found.append(
            {"x": x, "y": y, "r": r, "low": low, "high": high, "n": len(both), "n_families": len(set(families)),
             "printed": printed, "recomputed": recomputed}
        )  # fmt: skip
    return found


def _say(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    ranked = sorted(rows, key=lambda row: -row["improvement"])
    if not ranked:
        return []
    first, last = ranked[0], ranked[-1]
    most, least = (signed_points(row["improvement"], 1) for row in (first, last))
    return [
        f"Most is given away by the {first['part']} of {first['dataset']}: {most} points over the most frequent test "
        f"label; least by the {last['part']} of {last['dataset']}: {least}."
    ]
