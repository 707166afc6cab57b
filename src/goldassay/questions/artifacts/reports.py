"""The reports of `artifacts mine` and `artifacts assign`, as plain documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.highlighting import mark_pattern
from goldassay.core.verdicts import Headline, Verdict
from goldassay.questions.artifacts.check import CHECK
from goldassay.questions.artifacts.inputs import texts_for
from goldassay.questions.artifacts.section import ranked_by_gain, shares
from goldassay.questions.artifacts.segmenters import SEPARATOR
from goldassay.questions.artifacts.shortlist import of_table
from goldassay.questions.data_notes import data_notes
from goldassay.questions.inputs import describe_input
from goldassay.questions.report_frame import frame_findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from goldassay.artifacts import DifficultyAssignment, PatternFile, PatternTable
    from goldassay.core.finding import Finding
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.questions.artifacts.search import PatternSearch
    from goldassay.questions.evidence import Evidence

SAMPLE_PER_CLASS = 12
STRONGEST_PER_VALUE = 3


def document_of_mining(
    evidence: Evidence,
    search: PatternSearch,
    condition: str | None = None,
    by_value: Mapping[str, PatternTable] | None = None,
    finding: Finding | None = None,
) -> dict[str, Any]:
    """The report on patterns mined in memory: as in the audit, with a verdict where they were tried on a test set.

    Args:
        evidence: What they were mined from and tried on.
        search: The patterns, and what was measured of them.
        condition: The column that the rows were also parted by, or None.
        by_value: Patterns of each of its values.
        finding: What the check found of them; None lets it be asked now.
    """
    keeping, test = evidence.settings.artifacts, evidence.held_out
    rows: list[dict[str, Any]] = []
    for value, table in (by_value or {}).items():
        rows += rows_of_value(value, table, of_table(table, keeping.q, keeping.threshold).findings())
    return document_of_finding(
        finding or CHECK.measure(evidence, search.described),
        {**_dataset(evidence.train), "label_names": list(search.mined.label_names)},
        evidence.inputs,
        None if test is None else test.name,
        evidence.steps,
        evidence.settings,
        condition,
        rows,
        data_notes(evidence.train, test, None),
    )


def document_of_finding(
    finding: Finding,
    dataset: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    test: str | None,
    steps: Steps,
    settings: Settings,
    condition: str | None = None,
    by_value: Sequence[dict[str, Any]] = (),
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The report on mined patterns, wherever they and what they were mined from are.

    Args:
        finding: Figures and verdict, from `search.answer`.
        dataset: Name, labels and text columns of what they were mined from.
        inputs: Where the data came from, as `describe_input` says it.
        test: Name of what they were tried on, or None.
        steps: What was done, and when.
        settings: Hold the limits of the verdict.
        condition: The column that the rows were also parted by, or None.
        by_value: The rows of each of its values, as `rows_of_value` gives them.
        notes: What a reader has to know of the data, from `data_notes`.
    """
    assert finding.verdict is not None
    section = {**finding.results, "table": "findings"}
    if by_value:
        section |= {"condition": condition, "by_value": list(by_value)}
    document = {
        "questions": ["artifacts"],
        "verdicts": {"artifacts": finding.verdict.to_dict()},
        "dataset": dict(dataset),
        "inputs": list(inputs),
        **({"data_notes": list(notes)} if notes else {}),
        "artifacts": section,
        "settings": {
            **finding.results["settings"],
            "seed": settings.seed,
            "verdicts": settings.verdicts.artifacts.model_dump(mode="json"),
        },
    }
    title = f"Artifacts of {dataset['name']}" + ("" if test is None else f", tried on {test}")
    return frame_findings(title, document, steps, settings)


def rows_of_value(value: str, patterns: PatternTable | PatternFile, findings: pl.DataFrame) -> list[dict[str, Any]]:
    """The sizes of one value's patterns, and a row for each of its strongest folded findings."""
    sizes = {
        "value": value,
        "n_examples": patterns.settings["n_sentences"],
        "n_patterns": len(patterns),
        "n_findings": findings.height,
    }
    strongest = ranked_by_gain(findings, shares(patterns)).head(STRONGEST_PER_VALUE)
    rows = strongest.select("pattern", "label", "support", "probability", "wilson_low", "wilson_high").to_dicts()
    return [{**sizes, **row} for row in rows] or [sizes]


def document_of_subsets(
    figures: Mapping[str, Any],
    assignment: DifficultyAssignment,
    patterns: PatternTable,
    test: Dataset,
    train: Dataset | None,
    steps: Steps,
    settings: Settings,
) -> dict[str, Any]:
    """The report on the classes of a test set: their sizes, and a sample of each with what decided.

    Args:
        figures: Those of `Subsets.to_dict`.
        assignment: The classes.
        patterns: What decided.
        test: The examples.
        train: What the patterns were mined from, if it is at hand.
        steps: What was done, and when.
        settings: Hold the seed of the sample.
    """
    mined_with = patterns.settings
    n = len(assignment)
    overlap = figures["overlap"]
    section = {
        "applies_to": mined_with.get("text", test.text_columns[-1]),
        "difficulty": {name: {"n": count, "share": count / n} for name, count in assignment.summary.items()},
        "sizes": figures["sizes"],
        "overlap": overlap,
        "judged": figures["judged"],
        "sample": _sample(assignment, patterns, test, settings.seed),
        "settings": {"threshold": mined_with.get("threshold"), "min_count": mined_with["min_count"]},
    }
    findings = {
        "questions": ["artifacts"],
        "verdicts": {"artifacts": _classed(figures).to_dict()},
        "dataset": _dataset(test),
        "inputs": [*([] if train is None else [describe_input("train", train)]), describe_input("test", test)],
        "artifacts": section,
        "settings": {"patterns": {**mined_with, "label_counts": dict(_counted(patterns))}},
    }
    return frame_findings(f"Easy and hard examples of {test.name}", findings, steps, settings)


def _classed(figures: Mapping[str, Any]) -> Verdict:
    """What stands in the place of a verdict: classing examples judges nothing."""
    summary = figures["summary"]
    decided = summary["easy"] + summary["hard"]
    evidence = (
        f"{figures['patterns']['n_patterns']:,} patterns class {decided:,} of {figures['n_examples']:,} test examples: "
        f"{summary['easy']:,} easy, {summary['hard']:,} hard. This page judges nothing: goldassay audit does."
    )
    next_step = "Measure models on both: goldassay artifacts gap subsets.parquet --runs RUNS."
    if not decided:
        return Verdict("not measurable", evidence, None, "Lower the threshold, or mine more training data.", "")
    bounds = figures["easy_share_interval"]
    headline = Headline("easy of easy and hard", figures["easy_share"], bounds["low"], bounds["high"], "share")
    return Verdict("not measurable", evidence, headline, next_step, "")


def _sample(assignment: DifficultyAssignment, patterns: PatternTable, test: Dataset, seed: int) -> list[dict[str, Any]]:
    """Some examples of each class that hold a pattern, drawn at random, with the pattern of highest probability."""
    texts = texts_for(test, patterns)
    frame = patterns.to_frame()
    probability = frame["probability"].to_numpy()
    ids, labels = (test.examples[name].to_list() for name in ("example_id", "label"))
    rng = np.random.default_rng(seed)
    rows = []
    for name in ("hard", "conflicting", "easy"):
        members = np.flatnonzero(assignment.classes == name)
        drawn = np.sort(rng.choice(members, min(SAMPLE_PER_CLASS, members.size), replace=False)).tolist()
        places = assignment.rows[drawn].tolist()
        cut = patterns.tokenized([texts[place] for place in places])
        for k, (at, place) in enumerate(zip(drawn, places, strict=True)):
            held = assignment.pattern_ids_of(at)
            decisive = frame.row(int(held[probability[held].argmax()]), named=True)
            marked = mark_pattern(texts[place], cut.sentence(k), decisive["tokens"], decisive["gaps"])
            rows.append(
                {
                    "class": name,
                    "example_id": ids[place],
                    "text": marked.text.replace(SEPARATOR, "\n"),
                    "marks": [list(span) for span in marked.spans],
                    "label": labels[place],
                    "pattern": decisive["pattern"],
                    "pattern_label": decisive["label"],
                    "probability": decisive["probability"],
                    "n_patterns": len(held),
                }
            )
    return rows


def _dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "label_names": list(dataset.label_names),
        "text_columns": list(dataset.text_columns),
    }


def _counted(patterns: PatternTable) -> list[tuple[str, int]]:
    return list(zip(patterns.label_names, patterns.settings["label_counts"], strict=True))
